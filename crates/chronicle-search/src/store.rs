//! The file, and the transactions on it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};
use snafu::{ResultExt, ensure};

use crate::error::{FolderSnafu, StoreError, TooNewSnafu};
use crate::index::{self, words::Words};

mod blocks;
mod checkpoints;
mod edits;
mod handoffs;
pub(crate) mod ids;
mod jobs;
pub(crate) mod learned;
mod projects;
mod sessions;
mod sources;
mod synced;
mod threads;
mod turns;
mod vectors;
mod wordings;

pub use blocks::{BlockVersion, OwnBlock};
pub use checkpoints::StoredCheckpoint;
pub use edits::StoredEdit;
pub use handoffs::StoredHandoff;
pub use ids::{ProjectId, SessionId, TurnKind, Written};
pub use jobs::{Job, KeptTranscript, Used};
pub use learned::{Feedback, Learned};
pub use projects::Project;
pub use sessions::{NamedSession, SessionRecord};
pub use sources::Source;
pub use synced::{Synced, all_events, has_own_turns, remove_event};
pub use threads::{
    KnownThread, KnownThreads, ListedThread, OpenThreads, add_events, events_with_agents, forget_events,
    thread_ids, threads,
};
pub use turns::{Elsewhere, StoredTurn, TurnRecord};
pub use vectors::{Unembedded, Vector};
pub use wordings::{SessionState, StoredWording};

/// What brings a file from one version of the format to the next; their number is the version.
const MIGRATIONS: [Step; 16] = [
    Step::Sql(include_str!("store/schema.sql")),
    Step::Sql(include_str!("store/edits.sql")),
    Step::Sql(include_str!("store/wordings.sql")),
    Step::Sql(include_str!("store/blocks.sql")),
    Step::Sql(include_str!("store/learned.sql")),
    Step::Work(index::mark_turns),
    Step::Sql(include_str!("store/vectors.sql")),
    Step::Sql(include_str!("store/forgotten.sql")),
    Step::Sql(include_str!("store/titles.sql")),
    Step::Work(index::mark_turns),
    Step::Sql(include_str!("store/handoffs.sql")),
    Step::Sql(include_str!("store/synced.sql")),
    Step::Sql(include_str!("store/checkpoints.sql")),
    Step::Sql(include_str!("store/copies.sql")),
    Step::Sql(include_str!("store/names.sql")),
    Step::Sql(include_str!("store/roots.sql")),
];

/// A step from one version of the format to the next.
enum Step {
    Sql(&'static str),
    Work(fn(&Transaction<'_>) -> rusqlite::Result<()>),
}

/// How many statements are kept for the next time: more than taking in a session needs.
const STATEMENTS: usize = 64;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a writer that waits looks whether it is its turn; `SQLite` alone would come to look ten times a second.
const LOOK: Duration = Duration::from_millis(2);

/// How long a writer with more to write stands back: longer than another one takes to look.
const GAP: Duration = Duration::from_millis(5);

/// Says in the head of the file whose it is.
const APPLICATION_ID: i32 = 0x6368_726e;

/// The store of session memory.
///
/// Any number of processes may have it open. Writers take turns, readers see
/// what was complete when they began to read (`SQLite`'s write-ahead log).
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    is_read_only: bool,
    /// Takes text apart for the index; made when it is first needed.
    words: Option<Words>,
}

/// A transaction that can be written piece by piece.
pub struct Pieces<'s> {
    tx: Transaction<'s>,
    words: RefCell<&'s mut Option<Words>>,
    is_in_part: Cell<bool>,
}

impl<'s> Pieces<'s> {
    /// The transaction.
    #[must_use]
    pub fn tx(&self) -> &Transaction<'s> {
        &self.tx
    }

    /// Does all of `work`, or nothing of it when it thinks better of it and says why; what was written while it
    /// went on stays.
    ///
    /// # Errors
    /// When `work` fails: then the whole piece is to fail.
    pub fn part<T, W>(
        &self,
        work: impl FnOnce() -> rusqlite::Result<Result<T, W>>,
    ) -> rusqlite::Result<Result<T, W>> {
        self.tx.execute_batch("SAVEPOINT part")?;
        self.is_in_part.set(true);
        let done = work()?;
        self.is_in_part.set(false);
        if done.is_err() {
            self.tx.execute_batch("ROLLBACK TO part")?;
        }
        self.tx.execute_batch("RELEASE part")?;
        Ok(done)
    }

    /// Writes what was done so far for good, and lets others write before it goes on.
    ///
    /// # Errors
    /// When it cannot be written: then `work` has to end.
    pub fn go_on(&self) -> rusqlite::Result<()> {
        let sessions = index::settle(&self.tx, &mut self.words.borrow_mut())?;
        self.tx.execute_batch("COMMIT")?;
        std::thread::sleep(GAP);
        self.tx.execute_batch("BEGIN IMMEDIATE")?;
        // They are told of still: who stores a turn marks its session only once.
        sessions.into_iter().try_for_each(|session| index::mark(&self.tx, session))?;
        if self.is_in_part.get() {
            self.tx.execute_batch("SAVEPOINT part")?;
        }
        Ok(())
    }
}

/// How much is in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Projects.
    pub projects: u64,
    /// Sessions, those of sub-agents included.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Threads that are open.
    pub open_threads: u64,
    /// Bytes of the text of turns.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

impl Store {
    /// Opens the store at `path`, and makes it where there is none, readable by its owner only.
    ///
    /// # Errors
    /// When the folder cannot be made, and when the file cannot be read, is no store, or is too new.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            make_private(folder).context(FolderSnafu { path: folder })?;
        }
        if !path.exists() {
            make_private_file(path).context(FolderSnafu { path })?;
        }
        let store = Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Pages that change again and again are written once and not read again, and what may be taken back is not
        // written at all. The size is in kilobytes.
        store.run("PRAGMA cache_size = -24000; PRAGMA temp_store = memory")?;
        Ok(store)
    }

    /// Opens the store at `path`; none where there is none.
    ///
    /// Where it may not be written, it can be read all the same.
    ///
    /// # Errors
    /// When the file cannot be read, is no store, or is too new.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        match Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(StoreError::ReadOnly { .. }) => Self::open_read_only(path).map(Some),
            opened => opened.map(Some),
        }
    }

    /// Opens the file, also while another process makes it or closes it as the last one: `SQLite` does not wait then.
    fn open_with(path: &Path, mode: OpenFlags) -> Result<Self, StoreError> {
        const PAUSE: Duration = Duration::from_millis(20);
        let mut waited = Duration::ZERO;
        loop {
            match Self::try_open(path, mode) {
                Err(StoreError::Busy { .. }) if waited < PATIENCE => {
                    std::thread::sleep(PAUSE);
                    waited += PAUSE;
                }
                opened => return opened,
            }
        }
    }

    fn try_open(path: &Path, mode: OpenFlags) -> Result<Self, StoreError> {
        let fails = |source| StoreError::of(path, source);
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(fails)?;
        connection.busy_handler(Some(waits)).map_err(fails)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise statements are made anew when other values are bound to them.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fails)?;
        let mut store = Self { connection, path: path.to_owned(), is_read_only: false, words: None };
        store.is_read_only = store.connection.is_readonly("main").map_err(fails)?;
        store.set_up()?;
        Ok(store)
    }

    /// Opens a file in a folder that may not be written: `SQLite` could not keep its locks there.
    fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let fails = |source| StoreError::of(path, source);
        let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection =
            Connection::open_with_flags(format!("file:{name}?immutable=1"), flags).map_err(fails)?;
        let store = Self { connection, path: path.to_owned(), is_read_only: true, words: None };
        store.check_version()?;
        Ok(store)
    }

    fn set_up(&mut self) -> Result<(), StoreError> {
        // What was acknowledged outlasts a power cut: each transaction is synced. The log may grow to 16 MB before it goes into the file. What was deleted is really gone.
        self.run(
            "PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 4000; \
             PRAGMA foreign_keys = on; PRAGMA secure_delete = on",
        )?;
        let version = self.check_version()?;
        if version < known_version() && !self.is_read_only {
            // A property of the file.
            self.run("PRAGMA journal_mode = wal")?;
            self.migrate()?;
        }
        Ok(())
    }

    fn check_version(&self) -> Result<i64, StoreError> {
        let found = self.pragma("user_version")?;
        let known = known_version();
        ensure!(found <= known, TooNewSnafu { path: &self.path, found, known });
        Ok(found)
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.write(|tx| {
            // Another process may have done it while this one waited.
            let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
                match step {
                    Step::Sql(sql) => tx.execute_batch(sql)?,
                    Step::Work(work) => work(tx)?,
                }
            }
            tx.pragma_update(None, "application_id", APPLICATION_ID)?;
            tx.pragma_update(None, "user_version", known_version())
        })
        .map_err(|error| match error {
            StoreError::Failed { source, .. } => StoreError::Damaged { path, source },
            other => other,
        })
    }

    /// Does all of `work`, or nothing of it, and brings the search index up to date.
    ///
    /// # Errors
    /// When `work` fails, and when it cannot be written.
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let done = self.write_unless(|tx| work(tx).map(Ok::<T, std::convert::Infallible>))?;
        Ok(done.unwrap_or_else(|never| match never {}))
    }

    /// Does all of `work`, or nothing of it when `work` itself thinks better of it and says why.
    ///
    /// # Errors
    /// When `work` fails, and when it cannot be written.
    pub fn write_unless<T, W>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, W>>,
    ) -> Result<Result<T, W>, StoreError> {
        let path = &self.path;
        let fails = |source| StoreError::of(path, source);
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fails)?;
        let done = work(&tx).map_err(fails)?;
        if done.is_ok() {
            index::settle(&tx, &mut self.words).map_err(fails)?;
            tx.commit().map_err(fails)?;
        }
        Ok(done)
    }

    /// Does `work`, which can write what it did so far for good and go on.
    ///
    /// # Errors
    /// When `work` fails, and when it cannot be written: then what it did since it went on last is undone.
    pub fn write_in_pieces<T>(
        &mut self,
        work: impl FnOnce(&Pieces<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let fails = |source| StoreError::of(path, source);
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fails)?;
        let pieces = Pieces { tx, words: RefCell::new(&mut self.words), is_in_part: Cell::new(false) };
        let done = work(&pieces).map_err(fails)?;
        let Pieces { tx, words, .. } = pieces;
        index::settle(&tx, words.into_inner()).map_err(fails)?;
        tx.commit().map_err(fails)?;
        Ok(done)
    }

    /// Stands back for a moment, so that others can write; for who writes again at once.
    pub fn give_way(&self) {
        std::thread::sleep(GAP);
    }

    /// Asks the store something.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question(&self.connection).map_err(|source| StoreError::of(&self.path, source))
    }

    /// Whether nothing can be stored.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks for damage: what `SQLite` says of each, and which tables and indexes are not there.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn damages(&self) -> Result<Vec<String>, StoreError> {
        let said: Vec<String> = self.read(|connection| {
            connection.prepare("PRAGMA integrity_check(20)")?.query_map([], |row| row.get(0))?.collect()
        })?;
        let mut damages: Vec<String> = said.into_iter().filter(|line| line != "ok").collect();
        // A file of an older version that cannot be written stays as it is, and lacks what came later.
        if self.check_version()? == known_version() {
            let found = self.names()?;
            let lacks = Self::in_memory()?.names()?.into_iter().filter(|name| !found.contains(name));
            damages.extend(lacks.map(|(kind, name)| format!("the {kind} `{name}` is missing")));
        }
        Ok(damages)
    }

    /// The kinds and names of all tables and indexes.
    fn names(&self) -> Result<BTreeSet<(String, String)>, StoreError> {
        self.read(|connection| {
            let sql =
                "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL";
            connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// An empty store that no file holds, to compare others with.
    fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(|source| StoreError::of(path, source))?;
        let mut store = Self { connection, path: path.to_owned(), is_read_only: false, words: None };
        store.set_up()?;
        Ok(store)
    }

    /// The sessions that the search index does not know as they are: their turns are counted, not read.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn misindexed(&self) -> Result<Vec<SessionId>, StoreError> {
        self.read(index::differing)
    }

    /// Indexes sessions anew.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn reindex(&mut self, sessions: &[SessionId]) -> Result<(), StoreError> {
        self.write(|tx| index::anew(tx, sessions))
    }

    /// How much is in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let count = |sql: &str| -> Result<u64, StoreError> {
            self.read(|connection| connection.query_row(sql, [], |row| row.get::<_, i64>(0)))
                .map(|count| u64::try_from(count).unwrap_or_default())
        };
        Ok(Totals {
            projects: count("SELECT count(*) FROM project")?,
            sessions: count("SELECT count(*) FROM session")?,
            turns: count("SELECT count(*) FROM turn")?,
            open_threads: count("SELECT count(*) FROM thread WHERE is_open")?,
            text_bytes: count(
                "SELECT coalesce(sum(octet_length(text) + octet_length(coalesce(answer, ''))), 0) FROM turn",
            )?,
            file_bytes: count("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?,
        })
    }

    /// Moves everything from the log into the file, so that nothing that was deleted is left in it. Readers of an
    /// older state are waited for.
    ///
    /// # Errors
    /// When it cannot be written, or others read all the time.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if self.pragma("wal_checkpoint(truncate)")? == 0 {
            return Ok(());
        }
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        Err(StoreError::of(self.path(), rusqlite::Error::SqliteFailure(busy, None)))
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        self.read(|connection| connection.execute_batch(sql))
    }

    fn pragma(&self, name: &str) -> Result<i64, StoreError> {
        self.read(|connection| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)))
    }
}

/// Whether it is the first time that something is told; it is not any more afterwards.
pub fn tell_once(tx: &Transaction<'_>, what: &str) -> rusqlite::Result<bool> {
    tx.execute("INSERT OR IGNORE INTO told (what) VALUES (?1)", [what]).map(|count| 0 < count)
}

/// Waits for another writer, `n_waited` times before; says whether it is worth it.
fn waits(n_waited: i32) -> bool {
    std::thread::sleep(LOOK);
    LOOK * n_waited.unsigned_abs() < PATIENCE
}

fn known_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Makes a folder that only its owner can look into.
fn make_private(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes an empty file that only its owner can read; `SQLite` gives the files beside it the same rights.
fn make_private_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
