//! A transcript, wherever an agent keeps it: as a file, or in a database.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chronicle_git::files;
use chronicle_search::{CursorSessions, GooseSessions, OpenCodeSessions, SqlResult, ZedSessions, ZedThread};
use chronicle_sessions::{thread_document, unpacked_document, unpacking};

/// A database that an agent keeps its sessions in. The path of a session in it is that of the database, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Database {
    OpenCode,
    Cursor,
    Goose,
    Zed,
}

impl Database {
    const ALL: [Self; 4] = [Self::OpenCode, Self::Cursor, Self::Goose, Self::Zed];

    /// The name of its file.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::OpenCode => "opencode.db",
            Self::Cursor => "state.vscdb",
            Self::Goose => "sessions.db",
            Self::Zed => "threads.db",
        }
    }

    /// The one whose file is called like that at the end of `path`.
    pub(super) fn called(path: &Path) -> Option<Self> {
        let name = path.file_name()?;
        Self::ALL.into_iter().find(|database| name == database.file())
    }

    fn open(self, path: &Path) -> io::Result<Opened> {
        drop(files::open(path)?);
        let opened = match self {
            Self::OpenCode => OpenCodeSessions::open(path).map(Opened::OpenCode),
            Self::Cursor => CursorSessions::open(path).map(Opened::Cursor),
            Self::Goose => GooseSessions::open(path).map(Opened::Goose),
            Self::Zed => ZedSessions::open(path).map(Opened::Zed),
        };
        opened.map_err(|error| other_form(&error))
    }
}

/// A database that was opened.
enum Opened {
    OpenCode(OpenCodeSessions),
    Cursor(CursorSessions),
    Goose(GooseSessions),
    Zed(ZedSessions),
}

impl Opened {
    fn all(&self) -> SqlResult<Vec<String>> {
        match self {
            Self::OpenCode(sessions) => sessions.all(),
            Self::Cursor(sessions) => sessions.all(),
            Self::Goose(sessions) => sessions.all(),
            Self::Zed(sessions) => sessions.all(),
        }
    }

    fn created(&self, id: &str) -> SqlResult<Option<i64>> {
        match self {
            Self::OpenCode(sessions) => sessions.created(id),
            Self::Cursor(sessions) => sessions.created(id),
            Self::Goose(sessions) => sessions.created(id),
            Self::Zed(sessions) => sessions.created(id),
        }
    }

    fn look(&self, id: &str) -> SqlResult<Option<(u64, i64)>> {
        match self {
            Self::OpenCode(sessions) => sessions.look(id),
            Self::Cursor(sessions) => sessions.look(id),
            Self::Goose(sessions) => sessions.look(id),
            Self::Zed(sessions) => sessions.look(id),
        }
    }

    /// A session as one document; an empty one if it is not there.
    fn export(self, id: &str) -> io::Result<Box<dyn Read>> {
        let document = match self {
            Self::OpenCode(sessions) => sessions.export(id),
            Self::Cursor(sessions) => sessions.export(id),
            Self::Goose(sessions) => sessions.export(id),
            Self::Zed(sessions) => {
                let thread = sessions.thread(id).map_err(|error| other_form(&error))?;
                let Some(ZedThread { about, data, is_packed }) = thread else {
                    return Ok(Box::new(io::empty()));
                };
                let data = if is_packed { unpacked_document(data)? } else { data };
                return Ok(Box::new(thread_document(about, data)));
            }
        };
        Ok(Box::new(document.map_err(|error| other_form(&error))?))
    }
}

/// Where a transcript is.
enum Place<'p> {
    File(&'p Path),
    /// The database, and the id of the session.
    Session(Database, &'p Path, String),
    /// A whole database: it could not be looked into.
    Whole(Database, &'p Path),
}

impl<'p> Place<'p> {
    fn of(path: &'p Path) -> Self {
        if let (Some(parent), Some(id)) = (path.parent(), path.file_name())
            && let Some(database) = Database::called(parent)
        {
            return Self::Session(database, parent, id.to_string_lossy().into_owned());
        }
        Database::called(path).map_or(Self::File(path), |database| Self::Whole(database, path))
    }
}

/// Whether there is a transcript at `path`, as far as can be seen without reading.
#[must_use]
pub(crate) fn is_there(path: &Path) -> bool {
    match Place::of(path) {
        Place::File(path) | Place::Session(_, path, _) | Place::Whole(_, path) => path.is_file(),
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
        Place::Session(database, path, id) => {
            let looked = database.open(path)?.look(&id).map_err(|error| other_form(&error))?;
            looked.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the database has no such session"))
        }
        // It is only here where its sessions could not be listed; now they may be.
        Place::Whole(database, path) => {
            database.open(path)?.all().map_err(|error| other_form(&error))?;
            Err(io::Error::new(io::ErrorKind::InvalidInput, "its sessions are read one by one"))
        }
    }
}

/// When a transcript came to be, as far as that is known.
pub(super) fn born(path: &Path) -> Option<SystemTime> {
    match Place::of(path) {
        Place::File(path) | Place::Whole(_, path) => {
            let meta = fs::metadata(path).ok()?;
            meta.created().or_else(|_| meta.modified()).ok()
        }
        Place::Session(database, path, id) => database.open(path).ok()?.created(&id).ok()?.map(at),
    }
}

/// When it was written last.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    if let Place::Whole(_, path) = Place::of(path) {
        return fs::metadata(path).ok()?.modified().ok();
    }
    let (_, nanoseconds) = look(path).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
}

/// Reads a transcript.
pub(crate) fn read(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(match Place::of(path) {
        Place::File(path) if is_packed(path) => unpacking(files::open(path)?)?,
        Place::File(path) | Place::Whole(_, path) => Box::new(files::open(path)?),
        Place::Session(database, path, id) => database.open(path)?.export(&id)?,
    })
}

/// The path of a transcript that is a file, and whose bytes are its rows.
pub(super) fn file_of(path: &Path) -> Option<&Path> {
    matches!(Place::of(path), Place::File(_)).then_some(path).filter(|path| !is_packed(path))
}

/// Whether a transcript is compressed: Codex does that with rollouts of more than a week.
pub(super) fn is_packed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".jsonl.zst"))
}

/// What a session is called that does not say it: mostly like its file.
pub(super) fn name_of(path: &Path) -> String {
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    match &*name(Some(path)) {
        // All files of Cline's tasks, and of Kimi's sessions, are called alike.
        "ui_messages.json" => name(path.parent()),
        "wire.jsonl" => {
            let folder = path.parent();
            let agents = folder.and_then(Path::parent).filter(|agents| name(Some(agents)) == "agents");
            name(agents.map_or(folder, Path::parent))
        }
        _ => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            stem.trim_end_matches(".jsonl").to_owned()
        }
    }
}

/// The sessions in a database in that folder, if it has one; the database itself where they cannot be listed.
pub(super) fn in_database(database: Database, folder: &Path) -> Vec<PathBuf> {
    let path = folder.join(database.file());
    if !path.is_file() {
        return Vec::new();
    }
    match database.open(&path).and_then(|opened| opened.all().map_err(|error| other_form(&error))) {
        Ok(ids) => ids.into_iter().map(|id| path.join(id)).collect(),
        Err(_) => vec![path],
    }
}

/// The session of that id in `OpenCode`'s database in that folder.
#[must_use]
pub fn opencode_session(folder: &Path, id: &str) -> PathBuf {
    folder.join(Database::OpenCode.file()).join(id)
}

fn other_form(error: &chronicle_search::SqlError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the database cannot be read: {error}"))
}

fn at(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_has_no_name_is_called_like_its_file_or_folder() {
        let check = |path: &str, expected: &str| assert_eq!(name_of(Path::new(path)), expected, "{path}");
        check("/h/.claude/projects/-w/5e55.jsonl", "5e55");
        check("/h/.codex/sessions/rollout-1.jsonl.zst", "rollout-1");
        check("/h/tasks/1772366400000/ui_messages.json", "1772366400000");
        check("/h/.kimi/sessions/a1b2/sess-1/wire.jsonl", "sess-1");
        check("/h/.kimi-code/sessions/wd/sess-2/agents/main/wire.jsonl", "sess-2");
        check("/h/goose/sessions/sessions.db/20260301_1", "20260301_1");
        check("/h/zed/threads/threads.db/5e55", "5e55");
    }
}
