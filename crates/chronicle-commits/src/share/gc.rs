//! Notes on commits that nobody reaches any more, and taking away those that are carried.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use chronicle_git::{NOTES_REF, NotesEdit, ObjectId, Repository, is_knowledge_key};

use crate::{
    error::{Result, if_notes},
    rewrite::reachable::Reachable,
    share::merging::carried,
};

/// Notes on commits that nobody reaches any more.
#[derive(Debug, Clone, Default)]
pub struct Orphans {
    /// Those whose every claim stands on a commit that is reached, with their blobs.
    pub carried: BTreeMap<ObjectId, ObjectId>,
    /// The others: nothing else says what they say.
    pub only_here: Vec<ObjectId>,
}

/// Finds the notes of our ref on commits that nobody reaches any more.
///
/// # Errors
/// When refs, notes or commits cannot be read.
pub fn orphans(repository: &Repository) -> Result<Orphans> {
    let reachable = Reachable::of(repository)?;
    let notes = if_notes(repository.notes(NOTES_REF), &mut Vec::new())?.into_iter().flatten();
    let orphans: BTreeMap<ObjectId, ObjectId> = notes
        .filter(|note| !is_knowledge_key(note.key) && !reachable.has(note.key))
        .map(|note| (note.key, note.blob))
        .collect();
    let carried: HashSet<ObjectId> = carried(repository, &reachable, &orphans)?;
    let (carried, only_here): (BTreeMap<_, _>, BTreeMap<_, _>) =
        orphans.into_iter().partition(|(key, _)| carried.contains(key));
    Ok(Orphans { carried, only_here: only_here.into_keys().collect() })
}

/// Takes away those of `notes` that still hold what they held; how many those were.
///
/// All notes as they are lie in a bundle at `backup` before.
///
/// # Errors
/// When the bundle cannot be written, or the notes cannot be.
pub fn take_away(
    repository: &Repository,
    notes: &BTreeMap<ObjectId, ObjectId>,
    backup: &Path,
) -> Result<(usize, Vec<PathBuf>)> {
    repository.bundle(backup, NOTES_REF)?;
    let message = format!("chronicle: remove {} notes of rewritten commits", notes.len());
    let (n_gone, recovered) = repository.edit_notes(NOTES_REF, &message, |edit: &mut NotesEdit<'_>| {
        let mut n_gone = 0;
        for (key, blob) in notes {
            if edit.get(*key)? == Some(repository.note_blob(*blob)?) {
                edit.remove(*key);
                n_gone += 1;
            }
        }
        Ok::<_, chronicle_git::GitError>(n_gone)
    })?;
    Ok((n_gone, recovered.files))
}
