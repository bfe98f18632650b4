//! Writes notes: read the tip, build the tree, swap the ref if it has not moved, or begin again.
//!
//! `git notes add` reads, then writes whatever it read, and so loses what others
//! wrote in between; this never does. Processes of ours queue at a lock to save
//! work; against everyone else the compare-and-swap decides.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use gix::ObjectId;
use snafu::ResultExt;

use crate::{
    FileLock, Repository,
    error::{GitError, ReadRefSnafu, Result, WriteObjectSnafu},
    last_words::LastWords,
    refs::UpdateFailed,
};

/// Left-over files of dead processes that were removed on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// What was removed.
    pub files: Vec<PathBuf>,
    /// Whether a foreign writer dropped notes of ours from the ref; [`Repository::lost_notes`] says which.
    pub has_lost_notes: bool,
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
        let blob = self.state.get(&key, &self.repository.inner).context(ReadRefSnafu { name: self.name })?;
        blob.map(|id| self.repository.blob(id)).transpose()
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
/// A lock file that nobody touched for so long has no living owner.
const STALE_AFTER: Duration = Duration::from_secs(60);

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
            let mut notes = NotesEdit {
                repository: self,
                state: self.notes_state(name, tip)?,
                name,
                changed: BTreeMap::new(),
            };
            let value = edit(&mut notes)?;
            match notes.changed.is_empty() {
                true => Ok((value, None)),
                false => Ok((value, Some(self.commit_notes(notes, tip, message)?))),
            }
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
        let mut lock = FileLock::acquire(&self.write_lock())?;
        let mut words = LastWords::parse(&lock.text()?);
        let mut recovered = self.recover(name, words.swapping.take().as_ref());
        let mut reason = String::new();
        for attempt in 0..MAX_ATTEMPTS {
            pause(attempt);
            let tip = self.ref_target(name)?;
            if let (Some(tip), Some(written)) = (tip, words.written.get(name).copied())
                && self.is_dropped(written, tip)
            {
                words.lost.insert((name.to_owned(), written));
                recovered.has_lost_notes = true;
            }
            let (value, commit) = next(tip)?;
            let Some(commit) = commit else {
                lock.set_text(&words.to_text())?;
                return Ok((value, recovered));
            };
            // Should we die while holding the ref's own lock, the next writer knows it by this.
            words.swapping = Some((name.to_owned(), commit));
            lock.set_text(&words.to_text())?;
            match self.compare_and_swap(name, tip, commit, message) {
                Ok(()) => {
                    words.swapping = None;
                    words.written.insert(name.to_owned(), commit);
                    words
                        .lost
                        .retain(|(lost_from, lost)| lost_from != name || self.is_dropped(*lost, commit));
                    lock.set_text(&words.to_text())?;
                    return Ok((value, recovered));
                }
                Err(UpdateFailed::Fatal(error)) => return Err(error.into()),
                Err(UpdateFailed::Contended(why)) => reason = why,
            }
            if attempt == MAX_ATTEMPTS / 2 {
                self.recover(name, None);
            }
        }
        Err(GitError::UpdateRef { name: name.to_owned(), reason }.into())
    }

    fn notes_state(&self, name: &str, tip: Option<ObjectId>) -> Result<gix::note::plumbing::State> {
        let tree = match tip {
            Some(tip) => {
                let commit = self
                    .inner
                    .find_commit(tip)
                    .map_err(|_| GitError::NotANotesRef { name: name.to_owned() })?;
                commit.tree_id().context(ReadRefSnafu { name })?.detach()
            }
            None => self.inner.write_object(gix::objs::Tree::empty()).context(WriteObjectSnafu)?.detach(),
        };
        gix::note::plumbing::State::new(tree, &self.inner).context(ReadRefSnafu { name })
    }

    fn commit_notes(
        &self,
        mut notes: NotesEdit<'_>,
        parent: Option<ObjectId>,
        message: &str,
    ) -> Result<ObjectId> {
        for (key, content) in &notes.changed {
            let blob = content.as_ref().map(|content| self.write_blob(content)).transpose()?;
            notes.state.edit(*key, blob, &self.inner).context(WriteObjectSnafu)?;
        }
        let tree = notes.state.write(&self.inner).context(WriteObjectSnafu)?;
        self.commit_tree_of_notes(tree, parent.into_iter().collect(), message)
    }

    pub(crate) fn write_blob(&self, content: &[u8]) -> Result<ObjectId> {
        Ok(self.inner.write_blob(content).context(WriteObjectSnafu)?.detach())
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
        Ok(self.inner.write_object(commit).context(WriteObjectSnafu)?.detach())
    }

    /// Removes what dead processes left: a lock on the ref, temporary objects. We hold the write lock.
    pub(crate) fn recover(&self, name: &str, swapping: Option<&(String, ObjectId)>) -> Recovered {
        let mut files = Vec::new();
        let lock_of = |name: &str| self.common_dir().join(format!("{name}.lock"));
        // Who died may have been at another ref than the one that is written now.
        if let Some((other, commit)) = swapping
            && other.starts_with("refs/notes/")
            && !other.contains("..")
            && is_ours(&lock_of(other), *commit)
        {
            remove(lock_of(other), &mut files);
        }
        if is_stale(&lock_of(name)) {
            remove(lock_of(name), &mut files);
        }
        let objects = self.inner.objects.store_ref().path().to_owned();
        let leftovers = std::fs::read_dir(objects).into_iter().flatten().filter_map(std::result::Result::ok);
        for file in leftovers.filter(|file| file.file_name().as_encoded_bytes().starts_with(b".tmp")) {
            if is_stale(&file.path()) {
                remove(file.path(), &mut files);
            }
        }
        Recovered { files, has_lost_notes: false }
    }
}

fn remove(path: PathBuf, removed: &mut Vec<PathBuf>) {
    if std::fs::remove_file(&path).is_ok() {
        removed.push(path);
    }
}

/// Whether a file was last changed so long ago that nobody is working with it.
fn is_stale(path: &Path) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    #[expect(
        clippy::disallowed_methods,
        reason = "compared with the file system's own clock, not with the user's time"
    )]
    let now = SystemTime::now();
    modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| STALE_AFTER < age))
}

/// Whether a ref's lock belongs to the process of ours that died while it put `commit` there.
///
/// Such a lock holds that commit. An empty one was either just
/// made by us, or just now by someone else, who will fill it in the next moments.
fn is_ours(ref_lock: &Path, commit: ObjectId) -> bool {
    let commit = commit.to_string();
    let content = || std::fs::read_to_string(ref_lock).ok();
    match content() {
        Some(held) if held.trim() == commit => true,
        Some(held) if held.is_empty() => {
            std::thread::sleep(Duration::from_millis(500));
            content().is_some_and(|held| held.is_empty())
        }
        _ => false,
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
