//! One transcript, taken in: by and by, and before the forks of its session.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Read},
    path::{Path, PathBuf},
};

use chronicle_search::{KnownThreads, NamedSession, Pieces, Source, SqlError, SqlResult, Transaction};
use chronicle_sessions::{Ingested, IngestedSession, Transcript, ingest};
use jiff::Timestamp;

use super::{
    companions::begun,
    goes_on::GoesOn,
    ingest::MOST_BYTES,
    kept::{is_there, look, name_of, read},
    place::Placer,
};

/// A file that is to be read.
pub(super) struct ChangedFile<'p> {
    pub(super) path: &'p Path,
    pub(super) size: u64,
    pub(super) modified: i64,
}

impl ChangedFile<'_> {
    /// Takes it in; where forks of its session were taken in before, they are read again after it.
    pub(super) fn take(
        &self,
        pieces: &Pieces<'_>,
        now: Timestamp,
        (placer, known): (&mut Placer, &mut KnownThreads),
    ) -> SqlResult<Result<Ingested, io::Error>> {
        let mut first = take_in(self, pieces, now, (placer, known))?;
        let Ok(Ingested::Read { sessions, .. }) = &mut first else { return Ok(first) };
        let Some(mut waiting) = give_back(pieces.tx(), self.path, sessions)? else { return Ok(first) };
        let mut n_read = 0;
        while let Some(path) = waiting.pop_front() {
            n_read += 1;
            let (size, modified) = match look(&path) {
                Ok(looked) => looked,
                Err(error) => return Ok(Err(error)),
            };
            let again = ChangedFile { path: &path, size, modified };
            let mut ingested = match take_in(&again, pieces, now, (placer, known))? {
                Ok(Ingested::Read { sessions, .. }) => sessions,
                Ok(Ingested::NoTranscript) => continue,
                Err(error) => return Ok(Err(error)),
            };
            if n_read < MOST_READ_AGAIN
                && let Some(more) = give_back(pieces.tx(), &path, &ingested)?
            {
                waiting.extend(more);
            }
            if path == self.path {
                sessions.append(&mut ingested);
            }
        }
        unite(sessions);
        Ok(first)
    }
}

/// How many files are read again at most because one was read: more would be going round in circles.
const MOST_READ_AGAIN: usize = 64;

/// The forks of sessions that were read, as long as all their transcripts can be read again.
fn forks(tx: &Transaction<'_>, sessions: &[IngestedSession]) -> SqlResult<Vec<NamedSession>> {
    let mut found = Vec::new();
    for id in sessions.iter().flat_map(|session| &session.forks) {
        let sources = Source::of_session(tx, *id)?;
        let is_there = !sources.is_empty() && sources.iter().all(|source| is_there(Path::new(&source.path)));
        // What nobody can read any more stays as it is.
        if is_there && let Some(fork) = NamedSession::by_id(tx, *id)? {
            found.push(fork);
        }
    }
    Ok(found)
}

/// Takes back what was read of forks, so that the session that they come from gets its turns; the files that are to
/// be read for it, in their order, come back.
fn give_back(
    tx: &Transaction<'_>,
    path: &Path,
    sessions: &[IngestedSession],
) -> SqlResult<Option<VecDeque<PathBuf>>> {
    let forks = forks(tx, sessions)?;
    if forks.is_empty() {
        return Ok(None);
    }
    let mut paths = VecDeque::from([path.to_owned()]);
    for fork in &forks {
        paths.extend(Source::of_session(tx, fork.id)?.into_iter().map(|source| PathBuf::from(source.path)));
        fork.begin_anew(tx)?;
    }
    for session in sessions {
        // Its threads, too, are told as if it had been the first to be read.
        if let Some(session) = NamedSession::by_id(tx, session.id)? {
            session.begin_anew(tx)?;
        }
    }
    Ok(Some(paths))
}

/// One entry for each session, though it was read twice: all its turns are new, however often.
fn unite(sessions: &mut Vec<IngestedSession>) {
    let latest: BTreeMap<_, _> = sessions.drain(..).map(|session| (session.id, session)).collect();
    sessions.extend(latest.into_values());
}

fn take_in(
    file: &ChangedFile<'_>,
    pieces: &Pieces<'_>,
    now: Timestamp,
    (placer, known): (&mut Placer, &mut KnownThreads),
) -> SqlResult<Result<Ingested, io::Error>> {
    let name = file.path.to_string_lossy();
    let stem = name_of(file.path);
    let mut placing = |tx: &Transaction<'_>, folder: &str| placer.place(tx, folder, file.path);
    let mut goes_on = GoesOn::of(file);
    let (resumed, from) = match &mut goes_on {
        Some(goes_on) => goes_on.resume(pieces.tx(), &name, &mut placing)?,
        None => (None, None),
    };
    let opened = match &mut goes_on {
        Some(goes_on) => goes_on.open(resumed.is_some()),
        None => read(file.path),
    };
    let mut source = match opened {
        Ok(opened) => InPieces { file: opened, n_read: 0, pieces, failed: None },
        Err(error) => return Ok(Err(error)),
    };
    let transcript = Transcript {
        path: &name,
        stem: &stem,
        size: file.size,
        modified: file.modified,
        begun: begun(file.path),
        format: None,
        checkpoint_from: from,
    };
    let ingested = ingest(pieces.tx(), &mut source, &transcript, resumed, now, &mut placing, known);
    if let Some(error) = source.failed {
        return Err(error);
    }
    if let (Ok(Ok(Ingested::Read { checkpoint: Some(checkpoint), .. })), Some(goes_on)) = (&ingested, goes_on)
    {
        goes_on.keep(pieces.tx(), &name, checkpoint)?;
    }
    ingested
}

/// A file that is taken in piece by piece, so that a large one does not keep others from writing.
///
/// Who stops in between, for whatever reason, has taken in a part of it: reading it again from its beginning finds
/// that part as it is and adds the rest.
struct InPieces<'p, 's> {
    file: Box<dyn Read>,
    /// How much of the file was read since others could write last.
    n_read: u64,
    pieces: &'p Pieces<'s>,
    failed: Option<SqlError>,
}

impl Read for InPieces<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if MOST_BYTES <= self.n_read {
            self.n_read = 0;
            if let Err(error) = self.pieces.go_on() {
                self.failed = Some(error);
                return Err(io::Error::other("the store cannot be written"));
            }
        }
        let n_read = self.file.read(buffer)?;
        self.n_read += n_read as u64;
        Ok(n_read)
    }
}
