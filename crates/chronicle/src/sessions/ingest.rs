//! Takes transcripts in.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chronicle_search::Source;
use chronicle_sessions::{IngestError, Ingested, Transcript, ingest};
use schemars::JsonSchema;
use serde::Serialize;

use super::{agents, place::Placer};
use crate::{Chronicle, Error, memory::Memory};

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
    /// Sessions that were taken in, or grew.
    pub sessions: usize,
    /// Sessions that were left out, as they are excluded or forgotten.
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

impl Default for IngestReply {
    fn default() -> Self {
        Self {
            schema: "chronicle-ingested/v1",
            files: 0,
            unchanged: 0,
            not_transcripts: 0,
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

impl Chronicle {
    /// Takes transcripts into session memory. What is there already stays as it is, so that it can be stopped at any
    /// moment and begun again.
    ///
    /// # Errors
    /// When the store cannot be written; each file is taken in as a whole or not at all.
    pub fn ingest(&self, command: &IngestCommand, progress: &mut Progress<'_>) -> Result<IngestReply, Error> {
        let mut reply = IngestReply::default();
        let mut files = Vec::new();
        match &command.what {
            What::Files(named) => {
                for path in named {
                    files.extend(agents::below(&self.directory.join(path)));
                }
            }
            What::Everything => files = agents::transcripts(self.environment),
            What::Days(days) => {
                let oldest = Duration::from_secs(u64::from(*days) * 24 * 60 * 60);
                let now: SystemTime = self.now.into();
                files = agents::transcripts(self.environment);
                files.retain(|path| {
                    let modified = fs::metadata(path).and_then(|meta| meta.modified());
                    modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age <= oldest) || now < at)
                });
            }
        }
        // A fork comes after the session that it repeats the beginning of.
        files.sort_by_cached_key(|path| (born(path), path.clone()));
        let mut memory = self.memory_to_write()?;
        let mut intake = Intake::new(self, &mut reply);
        for (n_done, file) in files.iter().enumerate() {
            progress(n_done, files.len());
            intake.file(&mut memory, file)?;
        }
        progress(files.len(), files.len());
        Ok(reply)
    }
}

/// When a file came to be, as far as the system tells.
fn born(path: &Path) -> Option<SystemTime> {
    let meta = fs::metadata(path).ok()?;
    meta.created().or_else(|_| meta.modified()).ok()
}

/// Takes in one file after the other.
pub(super) struct Intake<'a> {
    chronicle: &'a Chronicle,
    reply: &'a mut IngestReply,
    placer: Placer,
}

impl<'a> Intake<'a> {
    pub(super) fn new(chronicle: &'a Chronicle, reply: &'a mut IngestReply) -> Self {
        Self { chronicle, reply, placer: Placer::default() }
    }

    /// Takes in the transcript at `path`; what is wrong with the file alone is only told.
    pub(super) fn file(&mut self, memory: &mut Memory, path: &Path) -> Result<(), Error> {
        self.reply.files += 1;
        let opened = open(path);
        let (file, size, modified) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.unread(path, &error);
                return Ok(());
            }
        };
        let name = path.to_string_lossy();
        let known = memory.store.read(|connection| Source::by_path(connection, &name))?;
        if known.is_some_and(|known| known.is(size, modified)) {
            self.reply.unchanged += 1;
            return Ok(());
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let transcript = Transcript { path: &name, stem: &stem, size, modified, format: None };
        let placer = &mut self.placer;
        let mut placing =
            |tx: &chronicle_search::Transaction<'_>, folder: &str| placer.place(tx, folder, path);
        match ingest(&mut memory.store, file, &transcript, self.chronicle.now, &mut placing) {
            Ok(ingested) => self.count(ingested),
            Err(IngestError::Read(error)) => self.unread(path, &error),
            Err(IngestError::Store(error)) => return Err(error.into()),
        }
        Ok(())
    }

    fn count(&mut self, ingested: Ingested) {
        let reply = &mut *self.reply;
        let Ingested::Read { sessions, n_left_out, tally, removed, .. } = ingested else {
            reply.not_transcripts += 1;
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

    fn unread(&mut self, path: &Path, error: &io::Error) {
        let path = path.to_string_lossy().into_owned();
        self.reply.unread.push(UnreadFile { path, reason: error.to_string() });
    }
}

/// Opens a plain file: a pipe would never end, and a folder is none.
fn open(path: &Path) -> io::Result<(File, u64, i64)> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    let modified = meta.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let modified = i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX);
    Ok((File::open(path)?, meta.len(), modified))
}
