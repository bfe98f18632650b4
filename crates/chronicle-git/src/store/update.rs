//! Writes notes: read the tip, build the tree, swap the ref if it has not moved, or begin again.
//!
//! `git notes add` reads, then writes whatever it read, and so loses what others
//! wrote in between; this never does. Processes of ours queue at a lock to save
//! work; against everyone else the compare-and-swap decides.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use gix::ObjectId;
use snafu::{OptionExt, ResultExt};

use crate::{
    Repository, Whom,
    error::{GitError, NotANotesRefSnafu, ReadRefSnafu, Result, WriteObjectSnafu},
    store::{genuine::Genuine, notes::BETWEEN, refs::UpdateFailed, write_guard::WriteGuard},
};

/// Left-over files of dead processes that were removed on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// What was removed.
    pub files: Vec<PathBuf>,
    /// Whether another program wrote to the ref, and may have dropped notes of ours: they are to be looked for.
    pub is_unchecked: bool,
}

/// The notes of one ref while they are edited.
pub struct NotesEdit<'a> {
    repository: &'a Repository,
    state: gix::note::plumbing::State,
    name: &'a str,
    /// New contents; `None` takes the note away.
    changed: BTreeMap<ObjectId, Option<Vec<u8>>>,
}

impl NotesEdit<'_> {
    /// The note of `key` as it is now.
    ///
    /// # Errors
    /// When a tree or the blob cannot be read.
    pub fn get(&mut self, key: ObjectId) -> Result<Option<Vec<u8>>> {
        if let Some(changed) = self.changed.get(&key) {
            return Ok(changed.clone());
        }
        let blob = self
            .state
            .get(&key, &Genuine(self.repository.plain()))
            .context(ReadRefSnafu { name: self.name })?;
        blob.map(|id| self.repository.note_blob(id)).transpose()
    }

    /// Makes `content` the note of `key`.
    pub fn set(&mut self, key: ObjectId, content: Vec<u8>) {
        self.changed.insert(key, Some(content));
    }

    /// Takes the note of `key` away.
    pub fn remove(&mut self, key: ObjectId) {
        self.changed.insert(key, None);
    }
}

/// Attempts before giving up; each waits longer than the one before.
const MAX_ATTEMPTS: u32 = 60;

impl Repository {
    /// Edits the notes of the ref `name` under compare-and-swap.
    ///
    /// `edit` runs again whenever someone else was faster, so it must start from what it is given.
    /// When it sets nothing, nothing is written.
    ///
    /// # Errors
    /// Whatever `edit` returns; that objects cannot be read or written; that the ref stays contended.
    pub fn edit_notes<T, E: From<GitError>>(
        &self,
        name: &str,
        message: &str,
        mut edit: impl FnMut(&mut NotesEdit<'_>) -> Result<T, E>,
    ) -> Result<(T, Recovered), E> {
        self.move_ref(name, message, |tip| {
            let tree = match tip {
                Some(tip) => self.tree_of_notes(name, tip)?,
                None => self.write_object(&gix::objs::Tree::empty()).map_err(E::from)?,
            };
            let mut attempt = |tree: ObjectId| -> Result<(T, Option<ObjectId>), E> {
                let state = gix::note::plumbing::State::new(tree, &Genuine(self.plain()));
                let state = state.context(ReadRefSnafu { name })?;
                let mut notes = NotesEdit { repository: self, state, name, changed: BTreeMap::new() };
                let value = edit(&mut notes)?;
                match notes.changed.is_empty() {
                    true => Ok((value, None)),
                    false => Ok((value, Some(self.commit_notes(notes, tip, message)?))),
                }
            };
            // The library gives up on a tree with two notes on one object.
            attempt(tree).or_else(|error| match self.united(name, tree) {
                Ok(Some(united)) => attempt(united),
                _ => Err(error),
            })
        })
    }

    /// Points the ref `name` at the commit that `next` makes of the present one, under the write lock and
    /// compare-and-swap; `None` leaves the ref as it is.
    ///
    /// `next` runs again whenever someone else was faster.
    pub(crate) fn move_ref<T, E: From<GitError>>(
        &self,
        name: &str,
        message: &str,
        mut next: impl FnMut(Option<ObjectId>) -> Result<(T, Option<ObjectId>), E>,
    ) -> Result<(T, Recovered), E> {
        let mut guard = WriteGuard::take(self, name)?;
        let mut is_unchecked = false;
        let mut contended = None;
        for attempt in 0..MAX_ATTEMPTS {
            pause(attempt);
            let tip = self.notes_tip(name)?;
            if tip.is_none() && self.ref_target(name)?.is_some() {
                // It leads to no commit: another program overwrote ours, or it never was a ref of notes.
                let written = guard.journal.written.get(name).copied().context(NotANotesRefSnafu { name })?;
                guard.journal.lost.insert((name.to_owned(), written));
                is_unchecked = true;
            }
            if let (Some(tip), Some(written)) = (tip, guard.journal.written.get(name).copied())
                && self.is_dropped(written, tip)
            {
                guard.journal.lost.insert((name.to_owned(), written));
                is_unchecked = true;
            }
            if tip.is_none()
                && let Some(written) = guard.journal.written.get(name).copied()
                && self.inner.has_object(written)
            {
                guard.journal.lost.insert((name.to_owned(), written));
                is_unchecked = true;
            }
            let is_checked = tip.is_none() || tip == guard.journal.checked.get(name).copied();
            is_unchecked |= !is_checked;
            let (value, commit) = next(tip)?;
            let Some(commit) = commit else {
                guard.store_journal()?;
                return Ok((value, Recovered { files: guard.removed, is_unchecked }));
            };
            match guard.swap(name, tip, commit, message) {
                Ok(()) => {
                    guard.journal.written.insert(name.to_owned(), commit);
                    if is_checked && self.adds_to(commit, tip) {
                        guard.journal.checked.insert(name.to_owned(), commit);
                    }
                    guard
                        .journal
                        .lost
                        .retain(|(lost_from, lost)| lost_from != name || self.is_dropped(*lost, commit));
                    // The notes are stored now; what the next writer is told is only a hint.
                    let _stored = guard.store_journal();
                    return Ok((value, Recovered { files: guard.removed, is_unchecked }));
                }
                Err(UpdateFailed::Fatal(error)) => return Err(error.into()),
                Err(UpdateFailed::Contended(why)) => contended = Some(why),
            }
            if attempt == MAX_ATTEMPTS / 2 {
                guard.remove_stale(name);
            }
            if self.patience.is_over() {
                break;
            }
        }
        Err(contended.expect("the last attempt failed").into())
    }

    /// Whether the user's Chronicle made a commit of notes.
    pub(crate) fn is_own_commit(&self, commit: ObjectId) -> bool {
        let commit = commit.to_string();
        let records = self.trust_records.as_ref();
        records.is_some_and(|records| records.recorded(Whom::User, &commit).contains(&commit))
    }

    /// Records that the user's Chronicle made a commit of notes: what it takes away is meant to go.
    pub(crate) fn record_commit(&self, commit: ObjectId) {
        if let Some(records) = &self.trust_records {
            // Without it, what the commit takes away of the user's comes back, and that is said.
            let _recorded = records.record(Whom::User, &[commit.to_string()]);
        }
    }

    /// Whether `commit` was made from `tip` and nothing else.
    fn adds_to(&self, commit: ObjectId, tip: Option<ObjectId>) -> bool {
        let parents = |commit: gix::Commit<'_>| commit.parent_ids().map(gix::Id::detach).collect::<Vec<_>>();
        self.inner.find_commit(commit).is_ok_and(|commit| parents(commit) == Vec::from_iter(tip))
    }

    /// A tree with the same notes, those on one object united as git does; `None` where there are no two on one.
    fn united(&self, name: &str, tree: ObjectId) -> Result<Option<ObjectId>> {
        let by_key = self.all_blobs(Some(tree))?;
        if by_key.values().all(|blobs| blobs.len() == 1) {
            return Ok(None);
        }
        let empty = self.write_object(&gix::objs::Tree::empty())?;
        let state = gix::note::plumbing::State::new(empty, &Genuine(self.plain()));
        let mut state = state.context(ReadRefSnafu { name })?;
        for (key, blobs) in by_key {
            let blob = match blobs[..] {
                [one] => one,
                _ => {
                    let notes = blobs.into_iter().map(|blob| self.note_blob(blob));
                    self.write_blob(&notes.collect::<Result<Vec<_>>>()?.join(BETWEEN))?
                }
            };
            state.edit(key, Some(blob), self).context(WriteObjectSnafu)?;
        }
        state.write(self).context(WriteObjectSnafu).map(Some)
    }

    fn commit_notes(
        &self,
        mut notes: NotesEdit<'_>,
        parent: Option<ObjectId>,
        message: &str,
    ) -> Result<ObjectId> {
        for (key, content) in &notes.changed {
            let blob = content.as_ref().map(|content| self.write_blob(content)).transpose()?;
            notes.state.edit(*key, blob, self).context(WriteObjectSnafu)?;
        }
        let tree = notes.state.write(self).context(WriteObjectSnafu)?;
        self.commit_tree_of_notes(tree, parent.into_iter().collect(), message)
    }

    /// Commits a tree of notes under the user's name.
    pub(crate) fn commit_tree_of_notes(
        &self,
        tree: ObjectId,
        parents: Vec<ObjectId>,
        message: &str,
    ) -> Result<ObjectId> {
        let committer = self.signature();
        let commit = gix::objs::Commit {
            message: format!("{message}\n").into(),
            tree,
            author: committer.clone(),
            committer,
            encoding: None,
            parents: parents.into(),
            extra_headers: Vec::new(),
        };
        let id = self.write_object(&commit)?;
        self.record_commit(id);
        Ok(id)
    }
}

/// Waits a little before an attempt that is not the first, and not in step with others.
pub fn pause(attempt: u32) {
    if attempt == 0 {
        return;
    }
    use std::hash::{BuildHasher, Hasher};
    let jitter = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let most = (1_u64 << attempt.min(7)) * 1_000;
    std::thread::sleep(Duration::from_micros(most / 2 + jitter % most));
}
