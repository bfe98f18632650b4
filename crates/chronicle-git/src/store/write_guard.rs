//! The write lock of the notes refs, and what its last holder left if it died.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use gix::ObjectId;

use crate::{
    FileLock, Repository,
    disk::{
        files,
        temporary::{age, sweep},
    },
    error::Result,
    store::{
        lock_file::{SCRATCH, lock_of},
        lock_journal::LockJournal,
        objects::files_beginning,
        refs::UpdateFailed,
    },
};

/// What the repository's configuration is called among the refs that are swapped.
pub(crate) const CONFIG: &str = "config";
/// A lock file that nobody touched for so long has no living owner.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// The write lock, held, and what its holders leave each other.
pub(crate) struct WriteGuard<'a> {
    repository: &'a Repository,
    lock: FileLock,
    pub(crate) journal: LockJournal,
    /// Left-over files that were removed.
    pub(crate) removed: Vec<PathBuf>,
}

impl<'a> WriteGuard<'a> {
    /// Waits for the write lock; then removes what whoever died left, and a very old lock of the ref `name`.
    pub(crate) fn take(repository: &'a Repository, name: &str) -> Result<Self> {
        let mut lock = repository.lock(&repository.write_lock())?;
        let mut journal = LockJournal::parse(&lock.text()?);
        let mut removed = Vec::new();
        for (name, id) in std::mem::take(&mut journal.swapping) {
            repository.remove_lock_of_dead(&name, id, &mut removed);
        }
        // Only the holder of the lock writes such files.
        let directory = repository.shared_state_dir();
        for path in repository.unfinished_objects().into_iter().chain(files_beginning(&directory, SCRATCH)) {
            remove(path, &mut removed);
        }
        let mut guard = Self { repository, lock, journal, removed };
        guard.remove_stale(name);
        Ok(guard)
    }

    /// Removes what nobody has touched for long: a lock of the ref `name`, temporary files.
    pub(crate) fn remove_stale(&mut self, name: &str) {
        let directories = [self.repository.shared_state(""), self.repository.worktree_state("")];
        self.removed.extend(directories.iter().flatten().flat_map(|directory| sweep(directory)));
        let mut remove_if_stale = |path: PathBuf| {
            if is_stale(&path) {
                remove(path, &mut self.removed);
            }
        };
        remove_if_stale(self.repository.lock_file_of(name));
        // Released versions left these, and did not make sure that one at a time wrote them.
        let objects = self.repository.inner.objects.store_ref().path().to_owned();
        for directory in [objects, self.repository.shared_state_dir()] {
            files_beginning(&directory, ".tmp").into_iter().for_each(&mut remove_if_stale);
        }
    }

    /// Points the ref `name` at `new`, but only if it still points at `old`.
    pub(crate) fn swap(
        &mut self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
        reflog: &str,
    ) -> Result<(), UpdateFailed> {
        // Should we die while holding the ref's own lock, the next writer knows it by this.
        self.journal.swapping.insert((name.to_owned(), new));
        self.store_journal().map_err(UpdateFailed::Fatal)?;
        let swapped = self.repository.compare_and_swap(name, old, new, reflog);
        self.journal.swapping.clear();
        swapped
    }

    /// Leaves the journal for the next one.
    pub(crate) fn store_journal(&mut self) -> Result<()> {
        self.lock.set_text(&self.journal.to_text())
    }
}

impl Repository {
    /// Removes the lock of the ref `name` if it holds `id`, as that of a process of ours that died does.
    pub(crate) fn remove_lock_of_dead(&self, name: &str, id: ObjectId, removed: &mut Vec<PathBuf>) {
        if self.is_lock_of(name, id) {
            remove(self.lock_file_of(name), removed);
        }
    }

    /// Whether the ref `name` is locked by who puts `id` there; of the configuration, a blob.
    pub(crate) fn is_lock_of(&self, name: &str, id: ObjectId) -> bool {
        let is_ref = name.starts_with("refs/") && !name.contains("..");
        let held = || files::read(&self.lock_file_of(name), files::MAX_BYTES).ok();
        match name {
            CONFIG => held().is_some_and(|held| self.id_of_blob(&held) == id),
            _ => is_ref && held().is_some_and(|held| held.trim_ascii() == id.to_string().as_bytes()),
        }
    }

    /// Whether the ref `name` is locked by who has not written into the lock yet.
    pub(crate) fn is_empty_lock(&self, name: &str) -> bool {
        let is_ref = name.starts_with("refs/") && !name.contains("..");
        let lock = fs::symlink_metadata(self.lock_file_of(name));
        is_ref && lock.is_ok_and(|lock| lock.is_file() && lock.len() == 0)
    }

    /// Removes such a lock.
    pub(crate) fn remove_empty_lock(&self, name: &str) {
        if self.is_empty_lock(name) {
            remove(self.lock_file_of(name), &mut Vec::new());
        }
    }

    /// The lock of a ref, or of the configuration.
    fn lock_file_of(&self, name: &str) -> PathBuf {
        let path = self.common_dir().join(name);
        lock_of(&if name == CONFIG { path.canonicalize().unwrap_or(path) } else { path })
    }

    /// The id that a blob has, stored or not.
    pub(crate) fn id_of_blob(&self, content: &[u8]) -> ObjectId {
        gix::objs::compute_hash(self.inner.object_hash(), gix::objs::Kind::Blob, content)
            .expect("only SHA-1 collisions that were made on purpose cannot be hashed")
    }
}

fn remove(path: PathBuf, removed: &mut Vec<PathBuf>) {
    if fs::remove_file(&path).is_ok() {
        removed.push(path);
    }
}

/// Whether a file was last changed so long ago that nobody is working with it.
fn is_stale(path: &Path) -> bool {
    age(path).is_some_and(|age| STALE_AFTER < age)
}
