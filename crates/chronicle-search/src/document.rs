//! A session of another program's database, as one document that is read message by message.

use std::{
    io::{self, Cursor, Read},
    path::Path,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

/// Opens the database of another program, which has to be there: to read, and waiting for that program no longer than
/// `patience`.
///
/// # Errors
/// When it is none, or cannot be read.
pub(crate) fn opened_to_read(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
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
