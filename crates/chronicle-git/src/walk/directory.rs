//! One directory of a tree, for what walks through few of many.

use gix::{ObjectId, bstr::BString};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
};

/// What is in a directory of a tree: a file or another directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name in the directory.
    pub name: BString,
    /// Its blob or tree.
    pub id: ObjectId,
    /// Whether it is a directory.
    pub is_directory: bool,
}

impl Repository {
    /// The files and directories that are directly in `tree`; links and submodules are left out. A tree that has more bytes
    /// than a file may have is empty: nobody keeps so many names.
    ///
    /// # Errors
    /// When the tree is missing or broken.
    pub fn directory(&self, tree: ObjectId) -> Result<Vec<DirectoryEntry>> {
        if self.is_too_large(tree) {
            return Ok(Vec::new());
        }
        let object = self.inner.find_tree(tree).context(ObjectSnafu { id: tree })?;
        let entries = object.iter().filter_map(std::result::Result::ok);
        let known = entries.filter(|entry| entry.mode().is_tree() || entry.mode().is_blob());
        Ok(known
            .map(|entry| DirectoryEntry {
                name: entry.filename().to_owned(),
                id: entry.object_id(),
                is_directory: entry.mode().is_tree(),
            })
            .collect())
    }
}
