//! What is known of the beginning of large transcripts.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// What is known of the beginning of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCheckpoint {
    /// How many bytes it is about.
    pub end: u64,
    /// A number that stands for these bytes.
    pub print: i64,
    /// A number that stands for the file on its disk.
    pub file: i64,
    /// What is known.
    pub state: Vec<u8>,
}

impl StoredCheckpoint {
    /// That of the transcript at `path`, if this `build` made it.
    pub fn of(connection: &Connection, path: &str, build: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT end, print, file, state FROM checkpoint WHERE path = ?1 AND build = ?2")?
            .query_row([path, build], |row| {
                let end: i64 = row.get(0)?;
                Ok(Self {
                    end: u64::try_from(end).unwrap_or_default(),
                    print: row.get(1)?,
                    file: row.get(2)?,
                    state: row.get(3)?,
                })
            })
            .optional()
    }

    /// Stores it for the transcript at `path`, in the place of an earlier one.
    pub fn put(&self, tx: &Transaction<'_>, path: &str, build: &str) -> rusqlite::Result<()> {
        let Self { end, print, file, state } = self;
        tx.prepare_cached(
            "INSERT OR REPLACE INTO checkpoint (path, build, end, print, file, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![path, build, i64::try_from(*end).unwrap_or(i64::MAX), print, file, state])
        .map(drop)
    }

    /// Removes that of the transcript at `path`.
    pub fn remove(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<()> {
        tx.prepare_cached("DELETE FROM checkpoint WHERE path = ?1")?.execute([path]).map(drop)
    }

    /// Removes all: what was stored of some session is no longer what they know.
    pub(super) fn remove_all(tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM checkpoint", []).map(drop)
    }
}
