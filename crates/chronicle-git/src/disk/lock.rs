//! Locks between processes of ours.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use snafu::ResultExt;

use crate::{
    disk::sharing::{create_dir_like_parent, open_or_create},
    error::{GitError, IoSnafu, Result},
    open::state::is_link,
};

/// A file that one process at a time holds; the system lets go of it when the process ends, however it ends.
///
/// The file stays where it is. What its holder writes into it is read by the
/// next one: text that was not cleared tells that the holder died at work.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
}

/// How long is waited for a lock, and what is done meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long each lock is waited for.
    pub limit: Duration,
    /// When nothing is waited for any more.
    pub deadline: Option<Instant>,
    /// Called once when waiting takes long, with the lock and the process that holds it.
    pub on_wait: fn(&Path, Option<u32>),
}

impl Patience {
    /// For git's hooks and agents' hooks, from now on: git and the agent wait for them, and the next run can do
    /// their work.
    #[must_use]
    pub fn of_hooks() -> Self {
        Self { deadline: Some(Instant::now() + OF_HOOKS), ..Self::default() }
    }

    /// Whether nothing is waited for any more.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline < Instant::now())
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { limit: PATIENCE, deadline: None, on_wait: |_, _| {} }
    }
}

/// A holder is done within milliseconds; one that takes this long is stopped or stuck.
const PATIENCE: Duration = Duration::from_secs(30);
/// A hook waits for all its locks together so long.
const OF_HOOKS: Duration = Duration::from_millis(1_700);
/// People want to know what goes on when a command takes longer.
const LONG_WAIT: Duration = Duration::from_secs(1);
/// A lock's text is not longer.
const MAX_TEXT: u64 = 16 << 20;

fn open(path: &Path) -> Result<File> {
    open_or_create(path).map_err(|source| match is_link(&source) {
        true => GitError::Linked { path: path.to_owned() },
        false => GitError::Io { path: path.to_owned(), source },
    })
}

impl FileLock {
    /// Takes the lock at `path`, which is created if it is not there; `None` when another process holds it.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(source)) => {
                Err(GitError::NoLocks { path: path.to_owned(), source })
            }
        }
    }

    /// Waits for the lock at `path`, which is created, with its directory, if it is not there.
    ///
    /// # Errors
    /// When the file cannot be created, or another process holds it for half a minute.
    pub fn acquire(path: &Path) -> Result<Self> {
        if let Some(directory) = path.parent() {
            create_dir_like_parent(directory).context(IoSnafu { path: directory })?;
        }
        Self::acquire_with(path, Patience::default())
    }

    /// Waits for the lock at `path` as long as `patience` lasts.
    pub(crate) fn acquire_with(path: &Path, patience: Patience) -> Result<Self> {
        let file = open(path)?;
        let begun = Instant::now();
        let mut pause = Duration::from_micros(500);
        let mut is_told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, path: path.to_owned() }),
                Err(std::fs::TryLockError::WouldBlock)
                    if begun.elapsed() < patience.limit && !patience.is_over() =>
                {
                    if !is_told && LONG_WAIT < begun.elapsed() {
                        is_told = true;
                        (patience.on_wait)(path, holder(&file));
                    }
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(8));
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    return Err(GitError::Locked { path: path.to_owned(), holder: holder(&file) });
                }
                Err(std::fs::TryLockError::Error(source)) => {
                    return Err(GitError::NoLocks { path: path.to_owned(), source });
                }
            }
        }
    }

    /// Says by the time of the file when its holder began, where that can be written.
    #[expect(clippy::disallowed_methods, reason = "the system's own time, as that of every other file")]
    pub fn touch(&self) {
        let _touched = self.file.set_modified(SystemTime::now());
    }

    /// What the last holder left written.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&mut self) -> Result<String> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(0)).context(IoSnafu { path: &self.path })?;
        // Not UTF-8 would be foreign scribbling: nothing to learn from it.
        let _length = (&self.file).take(MAX_TEXT).read_to_string(&mut text);
        Ok(text)
    }

    /// Replaces what is written in the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_text(&mut self, text: &str) -> Result<()> {
        let mut write = || {
            // One write, and never an empty file: some file systems go to the disk when a file is cut to
            // nothing. What is left of a longer text becomes empty lines.
            let len = usize::try_from(self.file.metadata()?.len()).unwrap_or_default();
            let padded = format!("{text}{}", "\n".repeat(len.saturating_sub(text.len())));
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(padded.as_bytes())
        };
        write().context(IoSnafu { path: &self.path })
    }
}

/// The id of the process that holds the lock, where the system lists its locks.
fn holder(file: &File) -> Option<u32> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let ours = locks.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let mut ours = ours.filter(|words| words.contains(&"FLOCK") && !words.contains(&"->"));
    let holds = |words: &Vec<&str>| words.get(5).is_some_and(|file| file.ends_with(&inode));
    ours.find(holds)?.get(4)?.parse().ok()
}
