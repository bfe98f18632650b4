//! Fingerprints of a change that outlive its commit.

use chronicle_core::{Change, Lines, patch_id};
use chronicle_git::{Commit, FileChange, Repository};

use crate::error::Result;

/// The fingerprints of `commit`, whose changes against its first parent are `changes` (renames not told).
pub(crate) fn of(repository: &Repository, commit: &Commit, changes: &[FileChange]) -> Result<Change> {
    let mut patch = patch_id::PatchId::default();
    let mut sorted: Vec<&FileChange> = changes.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    for change in sorted {
        let content = |id: Option<chronicle_git::ObjectId>| id.map(|id| repository.blob(id)).transpose();
        let (old, new) = (content(change.old)?.unwrap_or_default(), content(change.new)?.unwrap_or_default());
        patch.add(&change.path, &Lines::new(&old), &Lines::new(&new));
    }
    Ok(Change { tree: Some(commit.tree.to_string()), patch: Some(patch.finish()) })
}
