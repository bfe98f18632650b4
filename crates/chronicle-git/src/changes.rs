//! Which files a commit changed.

use gix::{
    ObjectId,
    bstr::BString,
    diff::{
        Rewrites,
        tree::{Recorder, State, recorder::Change},
    },
    object::tree::diff::ChangeDetached,
    objs::{TreeRefIter, tree::EntryMode},
};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
};

/// One file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path in the newer tree; in the older one when it was deleted.
    pub path: BString,
    /// Its path in the older tree, when it was renamed.
    pub renamed_from: Option<BString>,
    /// The older blob; `None` when the file was added.
    pub old: Option<ObjectId>,
    /// The newer blob; `None` when the file was deleted.
    pub new: Option<ObjectId>,
}

impl Repository {
    /// The files that differ between `old` (the empty tree for `None`) and `new`, with renames told.
    ///
    /// Renames are found by likeness, as git does; where blobs are absent (partial clones), by identity only.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn changes(&self, old: Option<ObjectId>, new: ObjectId) -> Result<Vec<FileChange>> {
        changes_in(&self.inner, old, new)
    }

    /// [`Repository::changes`] without looking for renames: a rename is a deletion and an addition.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn plain_changes(&self, old: Option<ObjectId>, new: ObjectId) -> Result<Vec<FileChange>> {
        plain_diff(&self.inner, old, new)
    }
}

/// The files that differ between two trees of `inner`, with renames told.
pub(crate) fn changes_in(
    inner: &gix::Repository,
    old: Option<ObjectId>,
    new: ObjectId,
) -> Result<Vec<FileChange>> {
    let by_likeness = Rewrites { copies: None, percentage: Some(0.5), limit: 1000, track_empty: false };
    let by_identity = Rewrites { percentage: None, ..by_likeness };
    tree_diff(inner, old, new, by_likeness).or_else(|_| tree_diff(inner, old, new, by_identity))
}

fn tree_diff(
    inner: &gix::Repository,
    old: Option<ObjectId>,
    new: ObjectId,
    rewrites: Rewrites,
) -> Result<Vec<FileChange>> {
    let tree = |id: ObjectId| inner.find_tree(id).context(ObjectSnafu { id });
    let (old, new_tree) = (old.map(tree).transpose()?, tree(new)?);
    let options = gix::diff::Options::default().with_rewrites(Some(rewrites));
    let changes =
        inner.diff_tree_to_tree(old.as_ref(), &new_tree, options).context(ObjectSnafu { id: new })?;
    Ok(changes.into_iter().filter_map(file_change).collect())
}

/// The same without renames, for which nothing has to be set up.
fn plain_diff(inner: &gix::Repository, old: Option<ObjectId>, new: ObjectId) -> Result<Vec<FileChange>> {
    let tree = |id: ObjectId| inner.find_tree(id).context(ObjectSnafu { id });
    let (old, new_tree) = (old.map(tree).transpose()?, tree(new)?);
    let old = old.as_ref().map_or(&[][..], |tree| &tree.data);
    let entries = |data| TreeRefIter::from_bytes(data, new.kind());
    let mut recorder = Recorder::default();
    gix::diff::tree(entries(old), entries(&new_tree.data), State::default(), &inner.objects, &mut recorder)
        .map_err(gix::Error::from_error)
        .context(ObjectSnafu { id: new })?;
    Ok(recorder.records.into_iter().filter_map(plain_change).collect())
}

fn plain_change(change: Change) -> Option<FileChange> {
    let file = |mode: EntryMode, id: ObjectId| mode.is_blob_or_symlink().then_some(id);
    let (path, old, new) = match change {
        Change::Addition { entry_mode, oid, path, .. } => (path, None, file(entry_mode, oid)),
        Change::Deletion { entry_mode, oid, path, .. } => (path, file(entry_mode, oid), None),
        Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
            (path, file(previous_entry_mode, previous_oid), file(entry_mode, oid))
        }
    };
    (old.is_some() || new.is_some()).then_some(FileChange { path, renamed_from: None, old, new })
}

fn file_change(change: ChangeDetached) -> Option<FileChange> {
    let (path, renamed_from, old, new) = match change {
        ChangeDetached::Addition { location, entry_mode, id, .. } => {
            (location, None, None, entry_mode.is_blob_or_symlink().then_some(id))
        }
        ChangeDetached::Deletion { location, entry_mode, id, .. } => {
            (location, None, entry_mode.is_blob_or_symlink().then_some(id), None)
        }
        ChangeDetached::Modification { location, previous_entry_mode, previous_id, entry_mode, id } => (
            location,
            None,
            previous_entry_mode.is_blob_or_symlink().then_some(previous_id),
            entry_mode.is_blob_or_symlink().then_some(id),
        ),
        ChangeDetached::Rewrite { source_location, source_id, location, id, .. } => {
            (location, Some(source_location), Some(source_id), Some(id))
        }
    };
    // Directories and submodules have no lines.
    (old.is_some() || new.is_some()).then_some(FileChange { path, renamed_from, old, new })
}
