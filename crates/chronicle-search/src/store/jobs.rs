//! What is done while nobody works: what was made of what, what was used, and which transcripts are kept.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::ids::SessionId;

/// Something that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// A hash of what it was made of.
    pub input: i64,
    /// When.
    pub done_at: Timestamp,
}

impl Job {
    /// What is known of a job, for a period or as a whole.
    pub fn find(connection: &Connection, kind: &str, period: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT input, done_at FROM job WHERE kind = ?1 AND period = ?2")?
            .query_row([kind, period], |row| {
                let done_at = Timestamp::from_millisecond(row.get(1)?).unwrap_or_default();
                Ok(Self { input: row.get(0)?, done_at })
            })
            .optional()
    }

    /// The periods for which a job was done, with what they were made of.
    pub fn periods(connection: &Connection, kind: &str) -> rusqlite::Result<Vec<(String, i64)>> {
        connection
            .prepare_cached("SELECT period, input FROM job WHERE kind = ?1 AND period <> '' ORDER BY period")?
            .query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    }

    /// Says that it is done.
    pub fn put(&self, tx: &Transaction<'_>, kind: &str, period: &str) -> rusqlite::Result<()> {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO job (kind, period, input, done_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![kind, period, self.input, self.done_at.as_millisecond()])
        .map(drop)
    }

    /// Says that it is not done any more.
    pub fn remove(tx: &Transaction<'_>, kind: &str, period: &str) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM job WHERE kind = ?1 AND period = ?2", [kind, period]).map(drop)
    }
}

/// Something that an agent was shown and then used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// A session, a thread, a commit or a lesson.
    pub what: String,
    /// The session that used it.
    pub by: String,
    /// When it was shown.
    pub at: Timestamp,
}

impl Used {
    /// Stores it; whether it is news comes back.
    pub fn add(&self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        tx.prepare_cached("INSERT OR IGNORE INTO used (what, by, at) VALUES (?1, ?2, ?3)")?
            .execute(params![self.what, self.by, self.at.as_millisecond()])
            .map(|n_added| 0 < n_added)
    }

    /// Everything that was used.
    pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached("SELECT what, by, at FROM used ORDER BY what, at")?
            .query_map([], |row| {
                let at = Timestamp::from_millisecond(row.get(2)?).unwrap_or_default();
                Ok(Self { what: row.get(0)?, by: row.get(1)?, at })
            })?
            .collect()
    }

    /// Forgets what a session used, and that it was used itself.
    pub fn forget(tx: &Transaction<'_>, session: &str) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM used WHERE by = ?1 OR what = ?1", [session]).map(drop)
    }
}

/// A transcript that is kept, whatever its agent does with its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTranscript {
    /// The session.
    pub session: SessionId,
    /// Where it is, below the home of session memory.
    pub file: String,
    /// How long it is.
    pub n_bytes: u64,
    /// How long it was before it was compressed.
    pub n_whole: u64,
    /// The transcript that it was made of.
    pub source: String,
    /// How long that was.
    pub source_size: u64,
    /// When that was written last, in nanoseconds.
    pub source_modified: i64,
}

impl KeptTranscript {
    /// All of them.
    pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(
                "SELECT session, file, n_bytes, n_whole, source, source_size, source_modified FROM kept \
                 ORDER BY session",
            )?
            .query_map([], |row| {
                let size =
                    |index| row.get::<_, i64>(index).map(|size| u64::try_from(size).unwrap_or_default());
                Ok(Self {
                    session: SessionId(row.get(0)?),
                    file: row.get(1)?,
                    n_bytes: size(2)?,
                    n_whole: size(3)?,
                    source: row.get(4)?,
                    source_size: size(5)?,
                    source_modified: row.get(6)?,
                })
            })?
            .collect()
    }

    /// Stores it, in the place of what was kept of the session before.
    pub fn put(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let size = |size: u64| i64::try_from(size).unwrap_or(i64::MAX);
        tx.prepare_cached(
            "INSERT OR REPLACE INTO kept (session, file, n_bytes, n_whole, source, source_size, source_modified) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            self.session.0,
            self.file,
            size(self.n_bytes),
            size(self.n_whole),
            self.source,
            size(self.source_size),
            self.source_modified
        ])
        .map(drop)
    }

    /// Says that it is kept no longer.
    pub fn remove(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM kept WHERE session = ?1", [self.session.0]).map(drop)
    }
}
