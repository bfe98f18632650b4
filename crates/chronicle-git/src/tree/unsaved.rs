//! The text of a file as an editor holds it, which takes the place of the file in the working tree.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The text of one file as an editor holds it: it may not be saved yet.
#[derive(Debug, Clone)]
pub struct UnsavedText {
    path: PathBuf,
    text: Arc<String>,
}

impl UnsavedText {
    /// That of the file at an absolute path.
    #[must_use]
    pub fn new(path: &Path, text: Arc<String>) -> Self {
        Self { path: real(path).unwrap_or_else(|| path.to_owned()), text }
    }

    /// The bytes, if `full` is where the file is: the folders on the way may be links.
    pub(crate) fn at(&self, full: &Path) -> Option<&[u8]> {
        let is_same = full == self.path
            || full.file_name() == self.path.file_name() && real(full).is_some_and(|full| full == self.path);
        is_same.then(|| self.text.as_bytes())
    }
}

/// A path without links among its folders.
fn real(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
