//! Rewrites that put all files into another directory, or keep those of one directory alone.
//!
//! The change of a commit is the same then but for what its paths begin with.

use std::collections::{BTreeSet, HashSet};

use chronicle_core::{Note, patch_id::Moved};
use chronicle_git::{ByteSlice, FileChange, ObjectId, Repository};

use super::lost::Lost;
use crate::{error::Result, note::change};

/// Directories that are tried.
const MAX_PLACES: usize = 8;

/// What is known of lost commits whose files may be elsewhere.
pub(super) struct Relocated {
    pub(super) patches: HashSet<String>,
    pub(super) trees: HashSet<ObjectId>,
    /// Directories that their files were in.
    directories: BTreeSet<Vec<u8>>,
}

impl Relocated {
    pub(super) fn of(lost: &[Lost]) -> Self {
        let orphans = lost.iter().filter(|one| one.is_orphan);
        Self {
            patches: orphans.clone().flat_map(|one| one.patches.iter().cloned()).collect(),
            trees: orphans.clone().flat_map(|one| one.trees.iter().copied()).collect(),
            directories: orphans.flat_map(|one| directories(&one.note)).take(MAX_PLACES).collect(),
        }
    }

    /// Where the files of a change may have been whose directories are `above`.
    pub(super) fn places(&self, above: &[Vec<u8>]) -> Vec<Moved> {
        if self.patches.is_empty() {
            return Vec::new();
        }
        let into = self.directories.iter().cloned().map(Moved::Into);
        into.chain(above.iter().cloned().map(Moved::OutOf)).collect()
    }
}

/// The directories that the files are in of which `note` says something.
fn directories(note: &Note) -> BTreeSet<Vec<u8>> {
    let regions = note.documents().into_iter().flat_map(|document| &document.regions);
    let regions = regions.map(|region| region.file.clone());
    let files = note.entries().into_iter().filter_map(|(_, entry)| entry.file.clone()).chain(regions);
    files.flat_map(|file| ancestors(file.trim_start_matches("./").as_bytes())).collect()
}

/// The directories that a file is in, but for the root.
fn ancestors(path: &[u8]) -> Vec<Vec<u8>> {
    path.find_iter(b"/").map(|end| path[..end].to_vec()).take(MAX_PLACES).collect()
}

/// The directories that all changed files are in, but for the root.
pub(super) fn above(changes: &[FileChange]) -> Vec<Vec<u8>> {
    let Some(first) = changes.first() else { return Vec::new() };
    let mut above = ancestors(&first.path);
    above.retain(|directory| {
        let mut rests = changes.iter().map(|change| change.path.strip_prefix(&directory[..]));
        rests.all(|rest| rest.is_some_and(|rest| rest.starts_with(b"/")))
    });
    above
}

/// The fingerprints that the change of the commit `key` has when only the files of one directory are kept.
pub(super) fn patches_within(repository: &Repository, key: ObjectId, note: &Note) -> Result<Vec<String>> {
    let Ok(commit) = repository.commit(key) else { return Ok(Vec::new()) };
    let parent = commit.parents.first().and_then(|parent| repository.commit_tree(*parent).ok());
    let Ok(changes) = repository.plain_changes(parent, commit.tree) else { return Ok(Vec::new()) };
    let mut patches = Vec::new();
    for directory in directories(note).into_iter().take(MAX_PLACES) {
        let inside = changes.iter().filter_map(|change| {
            let path = change.path.strip_prefix(&directory[..])?.strip_prefix(b"/")?;
            Some(FileChange { path: path.into(), ..change.clone() })
        });
        let inside: Vec<FileChange> = inside.collect();
        if !inside.is_empty()
            && let Some(print) = change::print(repository, &inside, |_| {})?
        {
            patches.push(print.finish());
        }
    }
    Ok(patches)
}
