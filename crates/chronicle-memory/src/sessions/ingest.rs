//! Takes transcripts in.

use std::{
    error::Error as _,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chronicle_search::{KnownThreads, SessionId, Source};
use chronicle_sessions::Ingested;
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    agents,
    changed::ChangedFile,
    kept::{born, look, modified},
    made,
    place::Placer,
};
use crate::{Memory, memory::OpenMemory};

/// How many bytes of transcripts, and how many files, are taken in together at most: after that, others may write.
pub(super) const MOST_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 100;

/// What to take in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// These files, and those in these folders.
    Files(Vec<PathBuf>),
    /// Whatever the agents on this machine keep, written in the last so many days.
    Days(u32),
    /// Whatever they keep.
    Everything,
}

/// A request to take transcripts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestCommand {
    /// Which.
    pub what: What,
}

/// How far it is: called before each file with how many are done and how many there are.
pub type Progress<'p> = dyn FnMut(usize, usize) + 'p;

/// What became of the transcripts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IngestReply {
    /// Always `chronicle-ingested/v1`.
    pub schema: &'static str,
    /// Files that were looked at.
    pub files: usize,
    /// Files that were read to their end before, and are as they were.
    pub unchanged: usize,
    /// Files that no agent wrote.
    pub not_transcripts: usize,
    /// Of these, the ones that are not empty, and so may be of an agent or version that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Sessions that were taken in, or grew.
    pub sessions: usize,
    /// Sessions that were left out: excluded, forgotten, or with the id of another one.
    pub left_out: usize,
    /// Turns that are new.
    pub new_turns: usize,
    /// Turns that are different from now on.
    pub changed_turns: usize,
    /// New events of threads.
    pub thread_events: usize,
    /// Rows of transcripts that could not be read.
    pub unreadable_rows: u64,
    /// Secrets that were taken out.
    pub secrets: u64,
    /// Private spans that were taken out.
    pub private_spans: u64,
    /// Files that could not be read.
    pub unread: Vec<UnreadFile>,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadFile {
    /// Where it lies.
    pub path: String,
    /// Why not.
    pub reason: String,
}

impl UnreadFile {
    /// A folder in which no file has the name of a transcript.
    fn of_nothing(path: &Path) -> Self {
        Self {
            path: chronicle_core::plain(&path.to_string_lossy()).into_owned(),
            reason: "no file in it is called like a transcript (.jsonl, .json, .jsonl.zst, or an agent's database)"
                .to_owned(),
        }
    }

    /// One that an agent asked for, and only a person can.
    pub(crate) fn of_repository(path: &Path) -> Self {
        Self {
            path: chronicle_core::plain(&path.to_string_lossy()).into_owned(),
            reason: "it is in a repository, which may have brought it; only a person can import it"
                .to_owned(),
        }
    }
}

impl Default for IngestReply {
    fn default() -> Self {
        Self {
            schema: "chronicle-ingested/v1",
            files: 0,
            unchanged: 0,
            not_transcripts: 0,
            unknown: Vec::new(),
            sessions: 0,
            left_out: 0,
            new_turns: 0,
            changed_turns: 0,
            thread_events: 0,
            unreadable_rows: 0,
            secrets: 0,
            private_spans: 0,
            unread: Vec::new(),
        }
    }
}

impl Memory<'_> {
    /// Takes transcripts into session memory. What is there already stays as it is, so that it can be stopped at any
    /// moment and begun again.
    ///
    /// # Errors
    /// When the store cannot be written; what was taken in before stays.
    pub fn ingest(&self, command: &IngestCommand, progress: &mut Progress<'_>) -> Result<IngestReply, Error> {
        let mut reply = IngestReply::default();
        let mut files = Vec::new();
        match &command.what {
            What::Files(named) => {
                for path in named {
                    if self.may_be_of_user(path) {
                        let below = agents::below(&self.workplace.directory().join(path));
                        if below.is_empty() {
                            reply.files += 1;
                            reply.unread.push(UnreadFile::of_nothing(path));
                        }
                        files.extend(below);
                    } else {
                        reply.files += 1;
                        reply.unread.push(UnreadFile::of_repository(path));
                    }
                }
            }
            What::Everything => files = self.kept_transcripts(),
            What::Days(days) => {
                let oldest = Duration::from_secs(u64::from(*days) * 24 * 60 * 60);
                let now: SystemTime = self.workplace.now().into();
                files = self.kept_transcripts();
                files.retain(|path| {
                    modified(path)
                        .is_some_and(|at| now.duration_since(at).is_ok_and(|age| age <= oldest) || now < at)
                });
            }
        }
        // A fork comes after the session that it repeats the beginning of.
        files.sort_by_cached_key(|path| (born(path), path.clone()));
        let mut memory = self.open_to_write()?;
        let mut intake = Intake::new(*self, &mut reply);
        let mut batch = Batch::default();
        for (n_done, path) in files.iter().enumerate() {
            if let Some(file) = intake.changed(&memory, path)? {
                batch.n_bytes += file.size;
                batch.files.push(file);
            }
            if batch.is_full() {
                progress(n_done, files.len());
                intake.take(&mut memory, std::mem::take(&mut batch).files)?;
                memory.store.give_way();
            }
        }
        intake.take(&mut memory, batch.files)?;
        progress(files.len(), files.len());
        Ok(reply)
    }
}

/// Takes in one file after the other.
pub(super) struct Intake<'a> {
    memory: Memory<'a>,
    reply: &'a mut IngestReply,
    placer: Placer,
    known: KnownThreads,
    /// Sessions whose commits are to be looked for.
    made: Vec<SessionId>,
    moves: made::Moves,
}

impl<'a> Intake<'a> {
    pub(super) fn new(memory: Memory<'a>, reply: &'a mut IngestReply) -> Self {
        let (placer, known) = (Placer::default(), KnownThreads::default());
        Self { memory, reply, placer, known, made: Vec::new(), moves: made::Moves::default() }
    }

    /// Takes in the transcript at `path`; what is wrong with the file alone is only told.
    pub(super) fn file(&mut self, memory: &mut OpenMemory, path: &Path) -> Result<(), Error> {
        match self.changed(memory, path)? {
            Some(file) => self.take(memory, vec![file]),
            None => Ok(()),
        }
    }

    /// Tells of an entry of the queue that names no transcript.
    pub(super) fn unusable(&mut self, entry: &Path, error: &io::Error) {
        self.reply.files += 1;
        self.unread(entry, error.to_string());
    }

    /// The file at `path`, if it is not as it was when it was read before.
    fn changed<'p>(&mut self, memory: &OpenMemory, path: &'p Path) -> Result<Option<ChangedFile<'p>>, Error> {
        self.reply.files += 1;
        let (size, modified) = match look(path) {
            Ok(looked) => looked,
            Err(error) => {
                self.unread(path, error.to_string());
                return Ok(None);
            }
        };
        let name = path.to_string_lossy();
        let known = memory.store.read(|connection| Source::by_path(connection, &name))?;
        if known.is_some_and(|known| known.is(size, modified)) {
            self.reply.unchanged += 1;
            return Ok(None);
        }
        Ok(Some(ChangedFile { path, size, modified }))
    }

    /// Takes in files, together where that goes well; of one that cannot be taken in, it is told.
    fn take(&mut self, memory: &mut OpenMemory, mut files: Vec<ChangedFile<'_>>) -> Result<(), Error> {
        let error = match self.take_together(memory, &files) {
            Ok(()) => {
                for session in std::mem::take(&mut self.made) {
                    made::add_commits(self.memory.workplace, memory, &mut self.moves, session)?;
                }
                return Ok(());
            }
            Err(error) if error.is_about_data() => error,
            Err(error) => return Err(error.into()),
        };
        match files.pop() {
            Some(only) if files.is_empty() => {
                let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                self.unread(only.path, format!("{error}{cause}"));
            }
            // One of them it was: the others are none the worse.
            last => {
                for file in files.into_iter().chain(last) {
                    self.take(memory, vec![file])?;
                }
            }
        }
        Ok(())
    }

    /// Takes in files in one transaction; of one that cannot be read, nothing stays.
    fn take_together(
        &mut self,
        memory: &mut OpenMemory,
        files: &[ChangedFile<'_>],
    ) -> Result<(), chronicle_search::StoreError> {
        if files.is_empty() {
            return Ok(());
        }
        let (placer, known, now) = (&mut self.placer, &mut self.known, self.memory.workplace.now());
        let taken = memory.store.write_in_pieces(|pieces| {
            let mut taken = Vec::new();
            for file in files {
                taken.push((file.path, pieces.part(|| file.take(pieces, now, (placer, known)))?));
            }
            Ok(taken)
        })?;
        for (path, ingested) in taken {
            match ingested {
                Ok(ingested) => {
                    self.made.extend(ingested.sessions().map(|session| session.id));
                    self.count(path, ingested);
                }
                Err(error) => self.unread(path, error.to_string()),
            }
        }
        Ok(())
    }

    fn count(&mut self, path: &Path, ingested: Ingested) {
        let reply = &mut *self.reply;
        let Ingested::Read { sessions, n_left_out, tally, removed, .. } = ingested else {
            reply.not_transcripts += 1;
            if look(path).is_ok_and(|(size, _)| 0 < size) {
                reply.unknown.push(chronicle_core::plain(&path.to_string_lossy()).into_owned());
            }
            return;
        };
        reply.sessions += sessions.len();
        reply.left_out += n_left_out;
        for session in sessions {
            reply.new_turns += session.written.n_new;
            reply.changed_turns += session.written.n_changed;
            reply.thread_events += session.n_events;
        }
        reply.unreadable_rows += tally.n_unreadable;
        reply.secrets += removed.n_secrets();
        reply.private_spans += removed.n_private;
    }

    fn unread(&mut self, path: &Path, reason: String) {
        let path = path.to_string_lossy().into_owned();
        self.reply.unread.push(UnreadFile { path, reason });
    }
}

/// Files that are taken in together, so that the disk has less to do.
#[derive(Default)]
struct Batch<'p> {
    files: Vec<ChangedFile<'p>>,
    n_bytes: u64,
}

impl Batch<'_> {
    /// Whether others have waited for long enough.
    fn is_full(&self) -> bool {
        MOST_BYTES <= self.n_bytes || MOST_FILES <= self.files.len()
    }
}
