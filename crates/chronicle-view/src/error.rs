//! What can go wrong with a page.

use std::{net::SocketAddr, path::PathBuf};

use chronicle_workplace::Code;
use snafu::Snafu;

/// What can go wrong with a page.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum ViewError {
    /// The application says no.
    #[snafu(transparent)]
    Chronicle {
        /// What it is.
        source: chronicle_workplace::Error,
    },
    /// Nothing to be shown.
    #[snafu(display("{reason}"))]
    Nothing {
        /// What there is nothing of.
        reason: &'static str,
    },
    /// A file of someone else in the place of the page.
    #[snafu(display("`{}` is there already, and Chronicle did not write it", path.display()))]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
    /// A page that cannot be written.
    #[snafu(display("cannot write `{}`", path.display()))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// An address that nothing can be served at.
    #[snafu(display("cannot serve at {address}"))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// A terminal that does not answer.
    #[snafu(display("cannot use the terminal"))]
    Terminal {
        /// What the system says.
        source: std::io::Error,
    },
}

impl ViewError {
    /// Its short, lasting name.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Chronicle { source } => source.code(),
            Self::Nothing { .. } => Code::NothingToShow,
            Self::InTheWay { .. } => Code::FileInTheWay,
            Self::Listen { .. } => Code::CannotListen,
            Self::Write { .. } | Self::Terminal { .. } => Code::Io,
        }
    }
}
