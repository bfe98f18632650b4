//! Makes fingerprints anew that an earlier version took for secrets and replaced.

use std::collections::HashMap;

use chronicle_core::{Change, Entry, LineRange, Note, Sketch, read_note};
use chronicle_git::{NOTES_REF, NotesEdit, ObjectId, Repository};

use crate::{
    error::Result,
    note::{
        change,
        stored::parse,
        trust::{Trust, keep_own, marks},
    },
    share::merging::MAX_NOTE_BYTES,
    write::{anchoring, derive::Facts},
};

/// What became of damaged notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mended {
    /// Notes whose fingerprints are whole again.
    pub n_mended: usize,
    /// Notes whose commits or files are not here.
    pub n_left: usize,
}

/// Whether fingerprints are damaged in the note with these bytes.
#[must_use]
pub fn is_damaged(content: &[u8]) -> bool {
    memchr::memmem::find(content, b"[redacted:").is_some() && read_note(content).note.is_damaged()
}

/// The commits whose notes hold damaged fingerprints.
///
/// # Errors
/// When the notes cannot be listed.
pub fn damaged(repository: &Repository) -> Result<Vec<ObjectId>> {
    let mut notes = repository.notes(NOTES_REF)?;
    notes.retain(|note| repository.blob_size(note.blob).is_ok_and(|size| size <= MAX_NOTE_BYTES));
    let blobs = notes.iter().map(|note| note.blob).collect();
    let found: HashMap<ObjectId, ()> =
        repository.read_many(blobs, |_, content| is_damaged(content).then_some(())).into_iter().collect();
    Ok(notes.iter().filter(|note| found.contains_key(&note.blob)).map(|note| note.key).collect())
}

/// Mends every note whose commit is here.
///
/// # Errors
/// When the notes cannot be read or written.
pub fn mend(repository: &Repository) -> Result<Mended> {
    let damaged = damaged(repository)?;
    if damaged.is_empty() {
        return Ok(Mended::default());
    }
    let (mended, _) = repository.edit_notes(NOTES_REF, "chronicle: add missing fingerprints", |notes| {
        mend_each(repository, notes, &damaged)
    })?;
    Ok(mended)
}

fn mend_each(repository: &Repository, notes: &mut NotesEdit<'_>, damaged: &[ObjectId]) -> Result<Mended> {
    let mut report = Mended::default();
    for key in damaged {
        let Some(content) = notes.get(*key)? else { continue };
        let stored = parse(std::slice::from_ref(&content));
        if !stored.note.is_damaged() {
            continue;
        }
        let note = mended(repository, *key, stored.note)?;
        report.n_left += usize::from(note.is_damaged());
        report.n_mended += usize::from(!note.is_damaged());
        // Knowledge is no part of a line of ours; it is on no commit of its own.
        if let (Some(line), None) = (note.to_line(&key.to_string()), &stored.knowledge) {
            notes.set(*key, line.into_bytes());
        }
    }
    Ok(report)
}

/// The note on `key` with its fingerprints made anew, as far as what they are made of is here.
pub(crate) fn mended(repository: &Repository, key: ObjectId, note: Note) -> Result<Note> {
    if !note.is_damaged() {
        return Ok(note);
    }
    let own = change_of(repository, key)?;
    let mut failure = None;
    let before = marks(&note);
    let note = note.mended(
        |damaged| own.as_ref().filter(|own| is_same(own, damaged))?.wrote.clone(),
        |entry| {
            around(repository, key, entry).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        },
    );
    keep_own(&Trust::of(repository), &before, &marks(&note))?;
    failure.map_or(Ok(note), Err)
}

/// The fingerprints of the commit `key`; `None` where it is not here.
fn change_of(repository: &Repository, key: ObjectId) -> Result<Option<Change>> {
    let Ok(commit) = repository.commit(key) else { return Ok(None) };
    let parent = commit.parents.first().and_then(|parent| repository.commit_tree(*parent).ok());
    let Ok(changes) = repository.plain_changes(parent, commit.tree) else { return Ok(None) };
    change::of(repository, &commit, &changes).map(Some)
}

/// Whether both are of one change, by what is left of the damaged one: git copies notes to other commits.
fn is_same(own: &Change, damaged: &Change) -> bool {
    match (&damaged.patch, &damaged.tree) {
        (Some(patch), _) => own.patch.as_ref() == Some(patch),
        (None, tree) => tree.is_some() && own.tree == *tree,
    }
}

/// The sketch of the lines around a lesson, made anew where it was first written, or else where it is now; `None` where
/// neither is here.
fn around(repository: &Repository, key: ObjectId, entry: &Entry) -> Result<Option<Option<Sketch>>> {
    let recorded = entry.recorded.as_ref().and_then(|recorded| {
        let commit = ObjectId::from_hex(recorded.commit.as_bytes()).ok()?;
        Some((commit, recorded.file.as_deref()?, recorded.lines?))
    });
    let here = entry.file.as_deref().zip(entry.lines).map(|(file, lines)| (key, file, lines));
    for (commit, file, lines) in recorded.into_iter().chain(here) {
        if let Some(around) = around_at(repository, commit, file, lines)? {
            return Ok(Some(around));
        }
    }
    Ok(None)
}

fn around_at(
    repository: &Repository,
    commit: ObjectId,
    file: &str,
    lines: LineRange,
) -> Result<Option<Option<Sketch>>> {
    if repository.commit(commit).is_err() {
        return Ok(None);
    }
    let mut facts = Facts::of(repository, commit)?;
    if facts.content(file)?.is_none() {
        return Ok(None);
    }
    let sketch = anchoring::sketch(&mut facts, file, Some(lines))?;
    anchoring::around(&mut facts, file, Some(lines), sketch.as_ref()).map(Some)
}
