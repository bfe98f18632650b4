//! Fingerprints of a change that outlive its commit.

use chronicle_core::{
    Change, Lines, Note,
    patch_id::{Moved, PatchId, Written, Wrote},
};
use chronicle_git::{Commit, FileChange, ObjectId, Repository};
use serde_json::Map;

use crate::error::Result;

/// The fingerprints of `commit`, whose changes against its first parent are `changes` (renames not told).
///
/// Where a changed file is not at hand (partial clones), only the tree is known.
pub(crate) fn of(repository: &Repository, commit: &Commit, changes: &[FileChange]) -> Result<Change> {
    let mut wrote = Wrote::default();
    let print = print(repository, changes, |written| wrote.add(written.word()))?;
    Ok(Change {
        tree: Some(commit.tree.to_string()),
        patch: print.as_ref().map(PatchId::finish),
        parent: commit.parents.first().map(ToString::to_string),
        // Against its first parent, a merge wrote all that others had written before.
        wrote: print.as_ref().filter(|_| commit.parents.len() < 2).and_then(|_| wrote.sketch()),
        extra: Map::new(),
    })
}

/// What documents of `note` about the commit `key` say of its change; a copied one is about another.
pub(crate) fn changes_of(note: &Note, key: ObjectId) -> impl Iterator<Item = &Change> {
    let name = key.to_string();
    let own =
        note.documents().into_iter().filter(move |document| document.commit.eq_ignore_ascii_case(&name));
    own.filter_map(|document| document.change.as_ref())
}

/// The tree that the commit `key` has, as `note` says.
pub(crate) fn named_tree(note: &Note, key: ObjectId) -> Option<ObjectId> {
    changes_of(note, key).find_map(|change| ObjectId::from_hex(change.tree.as_ref()?.as_bytes()).ok())
}

/// The commit that the commit `key` was made on, as `note` says.
pub(crate) fn named_parent(note: &Note, key: ObjectId) -> Option<ObjectId> {
    changes_of(note, key).find_map(|change| ObjectId::from_hex(change.parent.as_ref()?.as_bytes()).ok())
}

/// The fingerprint of `changes` (renames not told); `None` where a changed file is not at hand.
/// `wrote` is given the lines they wrote.
pub(crate) fn print(
    repository: &Repository,
    changes: &[FileChange],
    wrote: impl FnMut(Written<'_>),
) -> Result<Option<PatchId>> {
    print_moved(repository, changes, Vec::new(), wrote)
}

/// The same, with the fingerprints that the changes have elsewhere.
pub(crate) fn print_moved(
    repository: &Repository,
    changes: &[FileChange],
    moved: Vec<Moved>,
    mut wrote: impl FnMut(Written<'_>),
) -> Result<Option<PatchId>> {
    let mut patch = PatchId::with_moved(moved);
    let mut sorted: Vec<&FileChange> = changes.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    for change in sorted {
        let content =
            |id: Option<ObjectId>| id.map_or_else(|| Ok(Some(Vec::new())), |id| repository.blob_if_here(id));
        let (Some(old), Some(new)) = (content(change.old)?, content(change.new)?) else { return Ok(None) };
        patch.add(&change.path, &Lines::new(&old), &Lines::new(&new), &mut wrote);
    }
    Ok(Some(patch))
}
