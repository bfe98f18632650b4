//! Fingerprints of a change that outlive its commit.

use chronicle_core::{Change, Lines, patch_id};
use chronicle_git::{Commit, FileChange, ObjectId, Repository};
use serde_json::Map;

use crate::error::Result;

/// The fingerprints of `commit`, whose changes against its first parent are `changes` (renames not told).
///
/// Where a changed file is not at hand (partial clones), the patch has no fingerprint.
pub(crate) fn of(repository: &Repository, commit: &Commit, changes: &[FileChange]) -> Result<Change> {
    let mut patch = patch_id::PatchId::default();
    let mut sorted: Vec<&FileChange> = changes.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    for change in sorted {
        let content =
            |id: Option<ObjectId>| id.map_or_else(|| Ok(Some(Vec::new())), |id| repository.blob_if_here(id));
        let (Some(old), Some(new)) = (content(change.old)?, content(change.new)?) else {
            return Ok(Change { tree: Some(commit.tree.to_string()), patch: None, extra: Map::new() });
        };
        patch.add(&change.path, &Lines::new(&old), &Lines::new(&new));
    }
    Ok(Change { tree: Some(commit.tree.to_string()), patch: Some(patch.finish()), extra: Map::new() })
}
