//! A session of another program's database, as one document that is read message by message.

use std::{
    fs,
    io::{self, Cursor, Read},
    path::Path,
    time::Duration,
};

use rusqlite::{Connection, Error, OpenFlags, config::DbConfig, ffi, limits::Limit};

/// Whether one of the tables that are read computes what it holds: that can take any time and memory.
const COMPUTES: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_master AS made \
     WHERE made.name IN ('sessions', 'messages', 'session', 'message', 'part', 'cursorDiskKV', 'ItemTable', \
     'threads') \
     AND (made.type <> 'table' OR made.sql LIKE 'CREATE VIRTUAL%' \
     OR EXISTS (SELECT 1 FROM pragma_table_xinfo(made.name) WHERE hidden = 2)))";

/// No agent writes a larger row.
const LARGEST_ROW: i32 = 64 << 20;

/// Opens the database of another program, which has to be there: to read, and waiting for that program no longer than
/// `patience`. Anybody may have made it.
///
/// # Errors
/// When it is none, or cannot be read, or its tables are none that a program fills.
pub(crate) fn opened_to_read(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // A pipe in place of a file has no end, and a device is none that SQLite makes.
    for ending in ["-wal", "-journal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        if fs::symlink_metadata(&beside).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(refused("its log is not a regular file"));
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_ROW)?;
    match connection.query_row(COMPUTES, [], |row| row.get(0))? {
        true => Err(refused("its tables compute what they hold")),
        false => Ok(connection),
    }
}

/// The error for a database or row that is not read.
pub(crate) fn refused(reason: &str) -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOTADB), Some(reason.to_owned()))
}

/// What gives the messages: each call the next one, and none at the end.
type Next = Box<dyn FnMut() -> rusqlite::Result<Option<Vec<u8>>>>;

/// The text `{…, "messages": […]}`.
pub struct SessionDocument {
    next: Option<Next>,
    is_first: bool,
    buffer: Cursor<Vec<u8>>,
}

impl SessionDocument {
    /// The document that begins with the member `head`, a whole one.
    pub(crate) fn new(head: &str, next: impl FnMut() -> rusqlite::Result<Option<Vec<u8>>> + 'static) -> Self {
        let buffer = Cursor::new(format!("{{{head},\"messages\":[\n").into_bytes());
        Self { next: Some(Box::new(next)), is_first: true, buffer }
    }

    /// The document of a session that is not there: nothing.
    pub(crate) fn nothing() -> Self {
        Self { next: None, is_first: true, buffer: Cursor::default() }
    }
}

impl Read for SessionDocument {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n_read = self.buffer.read(into)?;
            if 0 < n_read || into.is_empty() {
                return Ok(n_read);
            }
            let Some(next) = &mut self.next else { return Ok(0) };
            let text = match next().map_err(io::Error::other)? {
                Some(message) if std::mem::take(&mut self.is_first) => message,
                Some(message) => [&b",\n"[..], &message].concat(),
                None => {
                    self.next = None;
                    b"\n]}\n".to_vec()
                }
            };
            self.buffer = Cursor::new(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the database that `sql` makes is read.
    fn is_read(sql: &str) -> bool {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sessions.db");
        Connection::open(&path).expect("it is made").execute_batch(sql).expect("it is filled");
        opened_to_read(&path, Duration::from_millis(10)).is_ok()
    }

    #[test]
    fn tables_that_compute_are_not_read() {
        assert!(is_read("CREATE TABLE sessions (id TEXT); CREATE VIEW names AS SELECT id FROM sessions"));
        assert!(is_read("CREATE TABLE other (a, b AS (a))"));
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n";
        assert!(!is_read(&format!("CREATE VIEW sessions AS {endless}")));
        assert!(!is_read("CREATE TABLE message (id TEXT, data AS (zeroblob(1000000000)))"));
    }

    #[test]
    fn a_row_that_no_agent_writes_takes_no_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sessions.db");
        let made = "CREATE TABLE message (id INTEGER, data); \
            INSERT INTO message VALUES (1, zeroblob(1 << 20)), (2, zeroblob(65 << 20))";
        Connection::open(&path).expect("it is made").execute_batch(made).expect("it is filled");
        let connection = opened_to_read(&path, Duration::from_millis(10)).expect("it is read");
        let size = |id: i64| {
            let find = "SELECT data FROM message WHERE id = ?1";
            connection.query_row(find, [id], |row| row.get::<_, Vec<u8>>(0)).map(|data| data.len()).ok()
        };
        assert_eq!((size(1), size(2)), (Some(1 << 20), None));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_beside_a_database_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sessions.db");
        Connection::open(&path)
            .expect("it is made")
            .execute_batch("CREATE TABLE a (b)")
            .expect("it is filled");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("sessions.db-wal")).expect("it is made");
        assert!(opened_to_read(&path, Duration::from_millis(10)).is_err());
    }
}
