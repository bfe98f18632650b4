//! What the repository's own configuration says about whose notes are trusted.

use std::path::Path;

use gix::bstr::ByteSlice;

use crate::{
    Repository,
    files::{self, MAX_BYTES},
};

/// The remotes that this clone shares its notes with, each by its name.
const SHARED_WITH: &str = "chronicle.sync.remotes";

/// The lines of a configuration file, in lower case, that may say whose notes are trusted.
///
/// Too many are no harm: they only tell one state of the repository from another.
pub(crate) fn settings(config: &[u8]) -> Vec<u8> {
    if !config.contains_str("[chronicle") {
        return Vec::new();
    }
    let mut is_ours = false;
    let mut lines = Vec::new();
    for line in config.lines() {
        if line.trim_start().starts_with(b"[") {
            is_ours = line.trim_start().starts_with(b"[chronicle");
        }
        if is_ours {
            lines.extend_from_slice(line);
            lines.push(b'\n');
        }
    }
    lines
}

/// What `Glance::trust` is for the repository with this common directory.
#[must_use]
pub fn trust_of(common_dir: &Path) -> Vec<u8> {
    settings(&files::read(&common_dir.join("config"), MAX_BYTES).unwrap_or_default().to_ascii_lowercase())
}

impl Repository {
    /// The remotes that this clone shares its notes with, as its own configuration says.
    ///
    /// What the user, the system or a file of the working tree says does not count: it speaks of
    /// other repositories, or comes with the very notes that are to be judged.
    #[must_use]
    pub fn shared_remotes(&self) -> Vec<String> {
        let config = self.inner.config_snapshot();
        let is_own = |metadata: &gix::config::file::Metadata| metadata.source == gix::config::Source::Local;
        let values = config.plumbing().strings_filter(SHARED_WITH, is_own).unwrap_or_default();
        let names = values.iter().flat_map(|value| value.split(|byte| b", \t".contains(byte)));
        names.filter(|name| !name.is_empty()).map(|name| name.to_str_lossy().into_owned()).collect()
    }
}
