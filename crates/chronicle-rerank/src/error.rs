//! What can go wrong with a model.

use std::path::PathBuf;

use snafu::Snafu;

/// Why nothing was ranked again.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
#[non_exhaustive]
pub enum RerankError {
    /// A build without it.
    #[snafu(display("this build of Chronicle runs no models (feature `rerank`)"))]
    NotBuilt,
    /// A file that is not there, or cannot be read.
    #[snafu(display("cannot read `{}`: {source}", path.display()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file that would take too much memory.
    #[snafu(display("`{}` is larger than {} MB", path.display(), most >> 20))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        most: u64,
    },
    /// A file that holds no tokenizer, or one of a kind that is not known.
    #[snafu(display("`{}` isn't a tokenizer for it: {reason}", path.display()))]
    BadTokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file that holds no model, or one that takes or gives something else.
    #[snafu(display("`{}` isn't a model for it: {reason}", path.display()))]
    BadModel {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}
