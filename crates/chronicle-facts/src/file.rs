//! The file: opening it, and doing without it.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, Transaction};

use crate::error::Result;

/// The version of what rows mean: tables, rules of renames and of placing. A file of another version is left alone.
pub const FORMAT: u32 = 1;

/// Says in the head of the file whose it is.
const APPLICATION_ID: i32 = 0x6368_7266;

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// How many prepared statements are kept.
const STATEMENTS: usize = 48;

/// The facts of one repository.
#[derive(Debug)]
pub struct Facts {
    pub(crate) connection: Connection,
    is_kept: bool,
}

impl Facts {
    /// Opens the file at `path`, and makes it where there is none. One that is damaged or not ours is made again.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::try_open(path) {
            Ok(facts) => Ok(facts),
            Err(error) if error.is_damage() => {
                // Nothing in it is anybody's work.
                let _gone = std::fs::remove_file(path);
                Self::try_open(path)
            }
            Err(error) => Err(error),
        }
    }

    fn try_open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        Self::set_up(Connection::open_with_flags(path, flags)?, true)
    }

    /// Facts that are kept in memory, as long as this value lives.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn in_memory() -> Result<Self> {
        Self::set_up(Connection::open_in_memory()?, false)
    }

    fn set_up(connection: Connection, is_kept: bool) -> Result<Self> {
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let facts = Self { connection, is_kept };
        let found: i32 = facts.connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if found != APPLICATION_ID {
            facts.connection.execute_batch("PRAGMA secure_delete = ON; PRAGMA journal_mode = DELETE")?;
            let change = facts.change()?;
            // Another process may have made it meanwhile.
            let found: i32 = change.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            if found != APPLICATION_ID {
                change.execute_batch(include_str!("schema.sql"))?;
                change.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
            }
            change.commit()?;
        }
        Ok(facts)
    }

    /// Whether others find what is stored here.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// One transaction that writes.
    pub(crate) fn change(&self) -> Result<Transaction<'_>> {
        let begin = rusqlite::TransactionBehavior::Immediate;
        Ok(Transaction::new_unchecked(&self.connection, begin)?)
    }
}
