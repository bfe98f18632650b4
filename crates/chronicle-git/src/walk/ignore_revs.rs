//! The files of commits that blame ignores.

use std::path::PathBuf;

/// The files of commits that blame ignores.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRevs {
    /// Those that git can read.
    pub(crate) readable: Vec<PathBuf>,
    /// Those for which git would refuse to blame, as they are configured.
    pub(crate) unreadable: Vec<String>,
}
