//! Fingerprints of a change that outlive its commit.

use chronicle_core::{
    Change, LineRange, Lines, Note, Sketch,
    patch_id::{Moved, PatchId, Written, Wrote},
};
use chronicle_git::{Commit, FileChange, ObjectId, Repository};
use serde_json::Map;

use crate::{error::Result, place::introduced};

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
        let (old, new) = (content(repository, change.old)?, content(repository, change.new)?);
        let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
        patch.add(&change.path, &Lines::new(&old), &Lines::new(&new), &mut wrote);
    }
    Ok(Some(patch))
}

fn content(repository: &Repository, blob: Option<ObjectId>) -> Result<Option<Vec<u8>>> {
    let Some(blob) = blob else { return Ok(Some(Vec::new())) };
    Ok(repository.blob_if_here(blob)?)
}

/// What was sketched of a range.
#[derive(Clone, Copy)]
pub(crate) struct Sketches<'a> {
    pub(crate) own: Option<&'a Sketch>,
    /// Its lines together with some around them, where they are few.
    pub(crate) around: Option<&'a Sketch>,
}

impl<'a> Sketches<'a> {
    pub(crate) fn only(own: Option<&'a Sketch>) -> Self {
        Self { own, around: None }
    }

    /// The very lines that were sketched, among those that came with the version `new` of a file that was `old`, however
    /// common they are; `None` where that may be several.
    pub(crate) fn written_in(
        self,
        repository: &Repository,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Option<LineRange>> {
        let Some(sketch) = self.own else { return Ok(None) };
        let runs = repository.with_blob(new, |content| {
            let lines = Lines::new(content);
            (sketch.runs_in(&lines), self.around.map(|around| around.runs_in(&lines)))
        })?;
        let Some((mut runs, around)) = runs.filter(|(runs, _)| !runs.is_empty()) else { return Ok(None) };
        let Some(written) = introduced::between(&[old], new, repository)? else { return Ok(None) };
        runs.retain(|run| written.hunks.iter().any(|hunk| hunk.overlaps(*run)));
        if let (Some(around), true) = (around, 1 < runs.len()) {
            runs.retain(|run| around.iter().any(|around| around.overlaps(*run)));
        }
        Ok(runs.first().copied().filter(|_| runs.len() == 1))
    }
}
