//! Puts a file in the place of another as git does: under the lock `FILE.lock`, which becomes the file.
//!
//! gix would do this for refs, but it holds `packed-refs.lock` meanwhile, which is empty. Whoever dies then
//! leaves a lock that looks like that of a living git and stops all others: nobody can delete a branch. So
//! refs are swapped here, under their own lock only. A lock of ours appears with its content, never empty,
//! so that the next of us knows it by what it holds (`turn`).

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use gix::{ObjectId, refs::Target};
use snafu::ResultExt;

use crate::{
    Repository,
    disk::sharing::NOT_ELSEWHERE,
    error::{GitError, ReadRefSnafu, RefLockedSnafu, RefMovedSnafu, WriteRefSnafu},
    store::refs::UpdateFailed,
};

/// The lock of a file, which goes away unless it is committed.
#[derive(Debug)]
pub(crate) struct FileSwap {
    lock: Option<PathBuf>,
    target: PathBuf,
}

/// How the names of files begin that are about to become locks.
pub(crate) const SCRATCH: &str = "tmp_swap_";

/// The name of the lock of the file at `path`.
pub(crate) fn lock_of(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// Directories of refs come and go with the refs in them.
const MAX_ATTEMPTS: u32 = 5;

impl FileSwap {
    /// Locks the file at `target`, to put `content` there; fails with `AlreadyExists` when it is locked.
    ///
    /// The content is written in `scratch`, a directory of ours on the same file system.
    pub(crate) fn begin(
        scratch: &Path,
        target: &Path,
        content: &[u8],
        permissions: Permissions,
        is_synced: bool,
    ) -> io::Result<Self> {
        let lock = lock_of(target);
        let mut file =
            tempfile::Builder::new().prefix(SCRATCH).permissions(permissions).tempfile_in(scratch)?;
        file.write_all(content)?;
        if is_synced {
            file.as_file().sync_all()?;
        }
        let mut written = file.into_temp_path();
        for _ in 0..MAX_ATTEMPTS {
            match written.persist_noclobber(&lock) {
                Ok(()) => return Ok(Self { lock: Some(lock), target: target.to_owned() }),
                Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => return Err(failed.error),
                Err(failed) if failed.error.kind() == ErrorKind::NotFound => {
                    fs::create_dir_all(target.parent().unwrap_or(scratch))?;
                    written = failed.path;
                }
                // Some file systems can neither link nor rename without replacing.
                Err(_) => return Self::begin_in_place(lock, target, content, is_synced),
            }
        }
        Err(ErrorKind::NotFound.into())
    }

    fn begin_in_place(lock: PathBuf, target: &Path, content: &[u8], is_synced: bool) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&lock)?;
        let begun = Self { lock: Some(lock), target: target.to_owned() };
        file.write_all(content)?;
        if is_synced {
            file.sync_all()?;
        }
        Ok(begun)
    }

    /// Makes the lock the file.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        let lock = self.lock.as_ref().expect("it is there until it is committed");
        let mut renamed = fs::rename(lock, &self.target);
        if renamed.as_ref().is_err_and(|error| error.kind() == ErrorKind::IsADirectory) {
            // What is left of refs that lay below it.
            fs::remove_dir(&self.target)?;
            renamed = fs::rename(lock, &self.target);
        }
        renamed?;
        self.lock = None;
        Ok(())
    }
}

impl Drop for FileSwap {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            // What is left of a failed attempt would lock everyone out.
            let _removed = fs::remove_file(lock);
        }
    }
}

impl Repository {
    /// Points the ref `name`, which is kept in a file, at `new`, but only if it still points at `old`.
    pub(crate) fn swap_file_of_ref(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
        reflog: &str,
    ) -> Result<(), UpdateFailed> {
        let path = self.common_dir().join(name);
        let content = format!("{new}\n");
        let (scratch, usual) = (self.shared_state_dir(), Permissions::from_mode(0o666));
        self.ensure_unlinked_ref(name).map_err(UpdateFailed::Fatal)?;
        let begun = match path.parent() {
            Some(directory) => self.sharing.create_dir_all(directory),
            None => Ok(()),
        };
        let begin = || FileSwap::begin(&scratch, &path, content.as_bytes(), usual, self.fsync.references);
        let swap = match begun.and_then(|()| begin()) {
            Ok(swap) => swap,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let locked = RefLockedSnafu { name, path: lock_of(&path) };
                return Err(UpdateFailed::Contended(locked.build()));
            }
            Err(source) => {
                return Err(UpdateFailed::Fatal(GitError::WriteRef { name: name.to_owned(), source }));
            }
        };
        match self.target_under_lock(name, &path).map_err(UpdateFailed::Fatal)? {
            // A ref that stands for another is followed, as git does.
            Some(Target::Symbolic(_)) => {
                drop(swap);
                return self.swap_with_git(name, old, new, reflog);
            }
            Some(Target::Object(present)) if Some(present) == old || self.commit_at(present) == old => {}
            None if old.is_none() => {}
            _ => return Err(UpdateFailed::Contended(RefMovedSnafu { name }.build())),
        }
        let write = || {
            self.sharing.adjust(&lock_of(&path))?;
            self.append_to_reflog(name, old, new, reflog)?;
            swap.commit()
        };
        write().context(WriteRefSnafu { name }).map_err(UpdateFailed::Fatal)
    }

    /// What the ref points at now that nobody else can change it.
    fn target_under_lock(&self, name: &str, path: &Path) -> Result<Option<Target>, GitError> {
        if !path.is_file() {
            // It may just have been packed, and times of files are too coarse to tell; there may be no pack.
            let _refreshed = self.inner.refs.force_refresh_packed_buffer();
        }
        let found = self.inner.try_find_reference(name).context(ReadRefSnafu { name })?;
        Ok(found.map(|found| found.target().into_owned()))
    }

    fn append_to_reflog(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
        message: &str,
    ) -> io::Result<()> {
        let old = old.unwrap_or_else(|| ObjectId::null(new.kind()));
        let mut line = format!("{old} {new} ").into_bytes();
        let mut time = gix::date::parse::TimeBuf::default();
        self.signature().to_ref(&mut time).write_to(&mut line).map_err(io::Error::other)?;
        line.extend_from_slice(format!("\t{message}\n").as_bytes());
        let path = self.common_dir().join("logs").join(name);
        self.sharing.create_dir_all(path.parent().expect("it is in the repository"))?;
        let is_new = !path.exists();
        // One write: what others append stays whole.
        let mut options = OpenOptions::new();
        options.create(true).append(true).custom_flags(NOT_ELSEWHERE);
        options.open(&path)?.write_all(&line)?;
        if is_new { self.sharing.adjust(&path) } else { Ok(()) }
    }
}
