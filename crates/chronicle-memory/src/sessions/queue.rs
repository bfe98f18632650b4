//! Transcripts that wait to be taken in.
//!
//! What a hook does has to take no time and must not fail, so it only leaves a
//! small file; one process at a time works the queue off behind it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use chronicle_git::{FileLock, sweep, temporary_in};
use chronicle_workplace::Error;

use super::{
    ingest::{IngestReply, Intake},
    kept::is_there,
};
use crate::{Memory, memory::OpenMemory};

/// How long a transcript has to be left alone before it is read: agents tell of every turn.
const QUIET: Duration = Duration::from_secs(2);

/// How long one is waited for that is not there yet: Copilot writes a short session when its hooks have answered.
const AWAITED: Duration = Duration::from_secs(10);

/// How often is looked.
const LOOK: Duration = Duration::from_millis(200);

/// Held by who reads what waits.
pub(super) const QUEUE_LOCK: &str = "queue.lock";

/// The files of the queue.
struct Queue {
    folder: PathBuf,
}

impl Queue {
    fn of(home: &Path) -> Self {
        Self { folder: home.join("queue") }
    }

    /// Adds a transcript. The same one again only says that it changed again.
    fn add(&self, transcript: &Path) -> io::Result<()> {
        let text = transcript.to_string_lossy();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)?;
        let mut file = temporary_in(&self.folder)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        file.persist(self.folder.join(name(&text)))?;
        Ok(())
    }

    /// What waits, with the time at which it was said last.
    fn waiting(&self) -> BTreeMap<PathBuf, Option<SystemTime>> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return BTreeMap::new() };
        entries
            .flatten()
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .map(|entry| (entry.path(), entry.metadata().and_then(|meta| meta.modified()).ok()))
            .collect()
    }

    /// Takes an entry out to work on it; if that fails or dies, it is found again.
    fn take(entry: &Path) -> io::Result<(PathBuf, PathBuf)> {
        let transcript = told(entry)?;
        let taken =
            if entry.extension().is_some() { entry.to_owned() } else { entry.with_extension("taken") };
        if taken != entry {
            fs::rename(entry, &taken)?;
        }
        Ok((taken, transcript))
    }
}

/// The transcript that an entry names.
fn told(entry: &Path) -> io::Result<PathBuf> {
    if !fs::symlink_metadata(entry)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    fs::read_to_string(entry).map(PathBuf::from)
}

/// What waits to be taken in.
pub(super) struct Waiting {
    /// How many transcripts.
    pub(super) n_transcripts: usize,
    /// Entries that name none, and that nobody will ever take in.
    pub(super) unusable: Vec<PathBuf>,
}

/// What waits to be taken in.
pub(super) fn waiting(home: &Path) -> Waiting {
    let entries = Queue::of(home).waiting().into_keys();
    let (usable, unusable): (Vec<_>, _) = entries.partition(|entry| told(entry).is_ok());
    Waiting { n_transcripts: usable.len(), unusable }
}

/// Says for a path what its entry is called.
fn name(path: &str) -> String {
    chronicle_search::fingerprint(path.as_bytes())
}

impl Memory<'_> {
    /// Leaves word that these transcripts changed, for [`Memory::work_queue`]. Whether somebody is at work on the
    /// queue already comes back.
    ///
    /// # Errors
    /// When it cannot be written down: the next sweep finds them all the same.
    pub fn queue_transcripts(&self, transcripts: &[PathBuf]) -> Result<bool, Error> {
        let home = self.workplace.memory_home()?;
        let queue = Queue::of(&home);
        for transcript in transcripts.iter().filter(|path| self.may_be_of_user(path)) {
            let path = self.workplace.directory().join(transcript);
            queue.add(&path).map_err(|source| Error::WriteOutput { path: queue.folder.clone(), source })?;
        }
        let lock = FileLock::try_acquire(&home.join(QUEUE_LOCK));
        Ok(matches!(lock, Ok(None)))
    }

    /// Takes in what waits, until nothing does; `is_at_once` does not wait until transcripts are left alone.
    ///
    /// # Errors
    /// When the store cannot be written; what waits goes on waiting.
    pub fn work_queue(&self, is_at_once: bool) -> Result<IngestReply, Error> {
        let home = self.workplace.memory_home()?;
        let queue = Queue::of(&home);
        let mut reply = IngestReply::default();
        let mut memory: Option<OpenMemory> = None;
        let mut passed_over = BTreeSet::new();
        let left = |passed_over: &BTreeSet<PathBuf>| {
            let mut waiting = queue.waiting();
            waiting.retain(|entry, _| !passed_over.contains(entry));
            waiting
        };
        // Who came while the lock was held went away again: look once more after it is free.
        while !left(&passed_over).is_empty() {
            let Some(_lock) = FileLock::try_acquire(&home.join(QUEUE_LOCK))? else { break };
            for folder in [&home, &queue.folder] {
                let _left_by_the_dead = sweep(folder);
            }
            let mut seen: BTreeMap<PathBuf, (Option<SystemTime>, Instant)> = BTreeMap::new();
            loop {
                let waiting = left(&passed_over);
                if waiting.is_empty() {
                    break;
                }
                let mut n_taken = 0;
                for (entry, said) in waiting {
                    let first = seen.entry(entry.clone()).or_insert((said, Instant::now()));
                    if first.0 != said {
                        *first = (said, Instant::now());
                    }
                    let is_there = || told(&entry).is_ok_and(|transcript| is_there(&transcript));
                    let since = first.1.elapsed();
                    if !is_at_once && (since < QUIET || since < AWAITED && !is_there()) {
                        continue;
                    }
                    let (taken, transcript) = match Queue::take(&entry) {
                        Ok(taken) => taken,
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(error) => {
                            Intake::new(*self, &mut reply).unusable(&entry, &error);
                            passed_over.insert(entry);
                            continue;
                        }
                    };
                    let memory = match &mut memory {
                        Some(memory) => memory,
                        None => memory.insert(self.open_to_write()?),
                    };
                    Intake::new(*self, &mut reply).file(memory, &transcript)?;
                    let _removed = fs::remove_file(taken);
                    n_taken += 1;
                }
                if n_taken == 0 {
                    thread::sleep(LOOK);
                }
            }
        }
        Ok(reply)
    }
}
