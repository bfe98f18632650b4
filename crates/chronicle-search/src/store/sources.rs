//! Transcripts that were read, and how far.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::ids::SessionId;

/// A transcript that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it lies.
    pub path: String,
    /// The session it tells of; none where nothing of it is kept.
    pub session: Option<SessionId>,
    /// How many bytes it had.
    pub size: u64,
    /// When it was written last, in nanoseconds.
    pub modified: i64,
    /// When it was read.
    pub read_at: Timestamp,
    /// What became of its lines, as JSON.
    pub tally: String,
}

impl Source {
    /// What is said of the lines of a file in no form that is known.
    pub const UNKNOWN: &str = r#"{"form":"unknown"}"#;

    /// The paths of the files that were read and are in no form that is known.
    pub fn unknown(connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare("SELECT path FROM source WHERE tally = ?1 ORDER BY path")?
            .query_map([Self::UNKNOWN], |row| row.get(0))?
            .collect()
    }

    /// What is known of the transcript at `path`.
    pub fn by_path(connection: &Connection, path: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT path, session, size, modified, read_at, tally FROM source WHERE path = ?1",
            )?
            .query_row([path], Self::of_row)
            .optional()
    }

    /// The transcripts that a session was read from.
    pub fn of_session(connection: &Connection, session: SessionId) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(
                "SELECT path, session, size, modified, read_at, tally FROM source WHERE session = ?1 ORDER BY path",
            )?
            .query_map([session.0], Self::of_row)?
            .collect()
    }

    /// Whether a file of this size and age was read to its end already.
    #[must_use]
    pub fn is(&self, size: u64, modified: i64) -> bool {
        self.size == size && self.modified == modified
    }

    /// Stores it, in the place of what was known of the same path.
    pub fn put(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO source (path, session, size, modified, read_at, tally) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            self.path,
            self.session.map(|session| session.0),
            i64::try_from(self.size).unwrap_or(i64::MAX),
            self.modified,
            self.read_at.as_millisecond(),
            self.tally
        ])
        .map(drop)
    }

    fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            path: row.get(0)?,
            session: row.get::<_, Option<i64>>(1)?.map(SessionId),
            size: row.get::<_, i64>(2).map(|size| u64::try_from(size).unwrap_or_default())?,
            modified: row.get(3)?,
            read_at: Timestamp::from_millisecond(row.get(4)?).unwrap_or_default(),
            tally: row.get(5)?,
        })
    }
}
