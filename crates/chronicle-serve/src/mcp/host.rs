//! What a server needs of whoever runs it, and why it stops.

use std::{
    borrow::Cow,
    ffi::OsString,
    path::{Path, PathBuf},
};

use chronicle::Chronicle;
use chronicle_render::View;
use chronicle_workplace::{Code, Workplace};
use jiff::Timestamp;
use rmcp::service::ServerInitializeError;
use snafu::{ResultExt, Snafu};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::choice::Choice;

/// What a server needs of whoever runs it: this crate looks nothing up.
#[derive(Debug, Clone)]
pub struct Host {
    /// Where an agent works, unless a call names another place.
    pub directory: PathBuf,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Whether facts are kept for the next question.
    pub keeps_facts: bool,
    /// The tools that the client is given.
    pub tools: Choice,
    /// Looks up variables of the environment.
    pub environment: fn(&str) -> Option<OsString>,
    /// Starts work that takes long and that no call waits for.
    pub behind: chronicle_workplace::StartBehind,
    /// Says in words what went wrong, as the command line does.
    pub explain: fn(chronicle_workplace::Error) -> Explained,
}

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its short, lasting name.
    pub code: Code,
    /// What went wrong, with its causes.
    pub message: String,
    /// What to do about it.
    pub hint: Option<Cow<'static, str>>,
}

/// Why a server stopped before its client wanted it to.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(super)))]
pub enum ServeError {
    /// No runtime to serve with.
    #[snafu(display("cannot serve"))]
    Runtime {
        /// The cause.
        source: std::io::Error,
    },
    /// A client that does not begin as the protocol says.
    #[snafu(display("the client did not begin a conversation"))]
    Begin {
        /// The cause.
        #[snafu(source(from(ServerInitializeError, Box::new)))]
        source: Box<ServerInitializeError>,
    },
    /// An address that others can reach.
    #[cfg(feature = "http")]
    #[snafu(display("`{address}` is not of the loopback interface"))]
    NotLoopback {
        /// The address.
        address: std::net::SocketAddr,
    },
}

impl ServeError {
    /// Its short, lasting name.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Runtime { .. } | Self::Begin { .. } => Code::Io,
            #[cfg(feature = "http")]
            Self::NotLoopback { .. } => Code::Usage,
        }
    }
}

impl Host {
    /// The application for `directory`, as of now.
    pub(super) fn chronicle(&self, directory: &Path) -> Chronicle {
        let workplace = Workplace::new(directory, (self.now)(), self.keeps_facts)
            .with_environment(self.environment)
            .with_behind(self.behind);
        Chronicle::new(workplace)
    }

    /// How a model sees an answer.
    pub(super) fn view(&self, verbose: bool) -> View {
        View { now: (self.now)(), colour: false, width: chronicle_render::DEFAULT_WIDTH, verbose }
    }
}

/// One thread answers: a host asks one question after another.
pub(super) fn runtime() -> Result<LocalRuntime, ServeError> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).context(RuntimeSnafu)
}
