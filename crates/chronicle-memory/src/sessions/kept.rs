//! A transcript, wherever an agent keeps it: as a file, or in `OpenCode`'s database.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chronicle_git::files;
use chronicle_search::OpenCodeSessions;
use chronicle_sessions::unpacking;

/// The name of `OpenCode`'s database. The path of a session in it is that of the database, and its id.
pub(super) const DATABASE: &str = "opencode.db";

/// Where a transcript is.
enum Place<'p> {
    File(&'p Path),
    /// The database, and the id of the session.
    OpenCode(&'p Path, String),
}

impl<'p> Place<'p> {
    fn of(path: &'p Path) -> Self {
        match (path.parent(), path.file_name()) {
            (Some(database), Some(id)) if database.file_name().is_some_and(|name| name == DATABASE) => {
                Self::OpenCode(database, id.to_string_lossy().into_owned())
            }
            _ => Self::File(path),
        }
    }
}

/// Whether there is a transcript at `path`, as far as can be seen without reading.
#[must_use]
pub(crate) fn is_there(path: &Path) -> bool {
    match Place::of(path) {
        Place::File(path) => path.is_file(),
        Place::OpenCode(database, _) => database.is_file(),
    }
}

/// How large a transcript is, and when it was written last, in nanoseconds since 1970: a pipe would never end, and a
/// folder is none.
pub(crate) fn look(path: &Path) -> io::Result<(u64, i64)> {
    match Place::of(path) {
        Place::File(path) => {
            let meta = fs::metadata(path)?;
            if !meta.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
            }
            let modified = meta.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            Ok((meta.len(), i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX)))
        }
        Place::OpenCode(database, id) => {
            let sessions = open(database)?;
            let looked = sessions.look(&id).map_err(|error| other_form(&error))?;
            looked.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "OpenCode has no such session"))
        }
    }
}

/// When a transcript came to be, as far as that is known.
pub(super) fn born(path: &Path) -> Option<SystemTime> {
    match Place::of(path) {
        Place::File(path) => {
            let meta = fs::metadata(path).ok()?;
            meta.created().or_else(|_| meta.modified()).ok()
        }
        Place::OpenCode(database, id) => open(database).ok()?.created(&id).ok()?.map(at),
    }
}

/// When it was written last.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    let (_, nanoseconds) = look(path).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
}

/// Reads a transcript.
pub(crate) fn read(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(match Place::of(path) {
        Place::File(path) if is_packed(path) => unpacking(files::open(path)?)?,
        Place::File(path) => Box::new(files::open(path)?),
        Place::OpenCode(database, id) => Box::new(open(database)?.export(&id)),
    })
}

/// Whether a transcript is compressed: Codex does that with rollouts of more than a week.
pub(super) fn is_packed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".jsonl.zst"))
}

/// The sessions in the database in that folder of `OpenCode`, if it has one.
pub(super) fn in_database(folder: &Path) -> Vec<PathBuf> {
    let database = folder.join(DATABASE);
    let Ok(sessions) = open(&database) else { return Vec::new() };
    let ids = sessions.all().unwrap_or_default();
    ids.into_iter().map(|id| database.join(id)).collect()
}

/// The session of that id in the database in that folder.
#[must_use]
pub fn opencode_session(folder: &Path, id: &str) -> PathBuf {
    folder.join(DATABASE).join(id)
}

fn open(database: &Path) -> io::Result<OpenCodeSessions> {
    drop(files::open(database)?);
    OpenCodeSessions::open(database).map_err(|error| other_form(&error))
}

fn other_form(error: &chronicle_search::SqlError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("OpenCode's database cannot be read: {error}"))
}

fn at(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default())
}
