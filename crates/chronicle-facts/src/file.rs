//! The file: opening it, and doing without it.

use std::{cell::Cell, ops::Deref, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, Transaction, config::DbConfig};

use crate::error::{InTheWaySnafu, OtherTablesSnafu, Result};

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
    /// Whether all that is read is read in one transaction: to lock the file for each row takes longer than the row.
    is_held: Cell<bool>,
}

/// A transaction that writes.
pub(crate) struct Change<'f> {
    facts: &'f Facts,
    tx: Transaction<'f>,
}

impl<'f> Deref for Change<'f> {
    type Target = Transaction<'f>;

    fn deref(&self) -> &Transaction<'f> {
        &self.tx
    }
}

impl Change<'_> {
    pub(crate) fn commit(self) -> Result<()> {
        self.tx.commit()?;
        self.facts.begin_if_held()
    }
}

/// A number for the tables that a file has, and for what runs by itself when they change.
fn tables(connection: &Connection) -> Result<i32> {
    let mut statement = connection
        .prepare("SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut hash: u32 = 0x811c_9dc5;
    while let Some(row) = rows.next()? {
        for byte in row.get_ref(0)?.as_bytes().unwrap_or_default() {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
    Ok(hash.cast_signed())
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
        // SQLite would wait for a pipe.
        let beside = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            std::fs::symlink_metadata(name)
        };
        let is_odd = |end: &&str| beside(end).is_ok_and(|found| !found.is_file());
        if let Some(end) = ["-journal", "-wal", "-shm"].into_iter().find(is_odd) {
            return InTheWaySnafu { end }.fail();
        }
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
        // What a question is about says nothing of how to answer it: no statement is planned again for each value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // What is filled at once is written once. The size is in kilobytes.
        connection.execute_batch("PRAGMA cache_size = -24000; PRAGMA temp_store = MEMORY")?;
        let facts = Self { connection, is_kept, is_held: Cell::new(false) };
        let found: i32 = facts.connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if found != APPLICATION_ID {
            let change = facts.change()?;
            // Another process may have made it meanwhile.
            let found: i32 = change.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            if found != APPLICATION_ID {
                change.execute_batch(include_str!("schema.sql"))?;
                let tables = tables(&change)?;
                change.execute_batch(&format!(
                    "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {tables}"
                ))?;
            }
            change.commit()?;
        } else if is_kept {
            let made: i32 = facts.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            snafu::ensure!(made == tables(&facts.connection)?, OtherTablesSnafu);
        }
        Ok(facts)
    }

    /// Whether others find what is stored here.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// From now on, whatever is read is read in one transaction, as far as nothing is written in between.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn hold(&self) -> Result<()> {
        self.is_held.set(true);
        self.begin_if_held()
    }

    /// Ends what [`Self::hold`] began: others may write from now on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn release(&self) -> Result<()> {
        self.is_held.set(false);
        self.end()
    }

    fn begin_if_held(&self) -> Result<()> {
        if self.is_held.get() && self.connection.is_autocommit() {
            self.connection.execute_batch("BEGIN")?;
        }
        Ok(())
    }

    fn end(&self) -> Result<()> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }

    /// One transaction that writes.
    pub(crate) fn change(&self) -> Result<Change<'_>> {
        self.end()?;
        let begin = rusqlite::TransactionBehavior::Immediate;
        Ok(Change { facts: self, tx: Transaction::new_unchecked(&self.connection, begin)? })
    }
}
