//! The database that Zed keeps the threads of its agent in: read here, and never written.
//!
//! After `crates/agent/src/db.rs` (`ThreadsDatabase`, `DataType`) and `crates/util/src/path_list.rs` of
//! `github.com/zed-industries/zed` at `0642ec7`. A row has the whole thread in one value, which is compressed in all later
//! versions; the columns for folders, parent and begin came one after the other.

use std::{path::Path, time::Duration};

use chronicle_core::parse_time;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::document::{opened_to_read, refused};

/// How long is waited for Zed itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The threads of Zed's agent on this machine.
#[derive(Debug)]
pub struct ZedSessions {
    connection: Connection,
}

/// A thread as its row has it.
#[derive(Debug, PartialEq, Eq)]
pub struct ZedThread {
    /// What the columns say of it: `id`, `parent_id`, `title`, `folders`, `created_at` and `updated_at`.
    pub about: Value,
    /// The thread: a JSON object, or one that is compressed.
    pub data: Vec<u8>,
    /// Whether it is compressed.
    pub is_packed: bool,
}

impl ZedSessions {
    /// Opens the database, which has to be there.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: opened_to_read(path, PATIENCE)? })
    }

    /// The ids of all threads, the oldest first.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn all(&self) -> rusqlite::Result<Vec<String>> {
        // An id becomes a part of a path.
        let find = format!(
            "SELECT id FROM threads WHERE typeof(id) = 'text' AND id <> '' AND instr(id, '/') = 0 \
             AND typeof(data) IN ('blob', 'text') ORDER BY {}, id",
            self.begin()
        );
        self.connection.prepare(&find)?.query_map([], |row| row.get(0))?.collect()
    }

    /// When a thread began, in milliseconds since 1970; none when it is not there, or does not say it.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn created(&self, id: &str) -> rusqlite::Result<Option<i64>> {
        let find = format!("SELECT {} FROM threads WHERE id = ?1", self.begin());
        let at: Option<Option<String>> =
            self.connection.query_row(&find, [id], |row| row.get(0)).optional()?;
        Ok(at.flatten().and_then(|at| parse_time(&at)).map(Timestamp::as_millisecond))
    }

    /// How many bytes a thread has, and when it changed last, in nanoseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn look(&self, id: &str) -> rusqlite::Result<Option<(u64, i64)>> {
        let find =
            "SELECT length(data) + length(CAST(summary AS BLOB)), updated_at FROM threads WHERE id = ?1";
        let looked = self.connection.query_row(find, [id], |row| {
            Ok((row.get::<_, Option<i64>>(0)?.unwrap_or_default(), row.get::<_, Option<String>>(1)?))
        });
        Ok(looked.optional()?.map(|(size, at)| {
            let at = at.and_then(|at| parse_time(&at)).map(|at| i64::try_from(at.as_nanosecond()));
            (u64::try_from(size).unwrap_or_default(), at.and_then(Result::ok).unwrap_or_default())
        }))
    }

    /// A thread; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form, or the row one that is not known.
    pub fn thread(&self, id: &str) -> rusqlite::Result<Option<ZedThread>> {
        let find = format!(
            "SELECT {}, {}, {}, summary, {}, updated_at, data_type, CAST(data AS BLOB) FROM threads WHERE id = ?1",
            self.column("parent_id"),
            self.column("folder_paths"),
            self.column("folder_paths_order"),
            self.column("created_at"),
        );
        let thread = self.connection.query_row(&find, [id], |row| {
            let text = |index| row.get::<_, Option<String>>(index);
            let is_packed = match text(6)?.as_deref() {
                Some("zstd") => true,
                Some("json") => false,
                _ => return Err(refused("the kind of its data is not known")),
            };
            let about = json!({
                "id": id,
                "parent_id": text(0)?,
                "folders": in_order(&text(1)?.unwrap_or_default(), &text(2)?.unwrap_or_default()),
                "title": text(3)?,
                "created_at": text(4)?,
                "updated_at": text(5)?,
            });
            Ok(ZedThread { about, data: row.get(7)?, is_packed })
        });
        thread.optional()
    }

    /// When a thread began, as far as this version of the table has it.
    fn begin(&self) -> String {
        format!("coalesce({}, updated_at)", self.column("created_at"))
    }

    /// The column, or nothing in its place where the table has none of that name.
    fn column(&self, name: &'static str) -> &'static str {
        let find = format!("SELECT {name} FROM threads LIMIT 0");
        if self.connection.prepare(&find).is_ok() { name } else { "NULL" }
    }
}

/// Folders as the user has them: they are stored by name, one in a line, with the place of each in a second list.
fn in_order(folders: &str, order: &str) -> Vec<String> {
    let mut folders: Vec<(usize, &str)> =
        folders.split('\n').filter(|folder| !folder.is_empty()).map(|folder| (0, folder)).collect();
    let places: Vec<usize> = order.split(',').filter_map(|place| place.parse().ok()).collect();
    if places.len() == folders.len() {
        folders.iter_mut().zip(places).for_each(|((at, _), place)| *at = place);
        folders.sort_by_key(|(place, _)| *place);
    }
    folders.into_iter().map(|(_, folder)| folder.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, \
        data_type TEXT NOT NULL, data BLOB NOT NULL";
    const LATER: &str = ", parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT, created_at TEXT";

    fn opened(folder: &tempfile::TempDir, sql: &str) -> ZedSessions {
        let path = folder.path().join("threads.db");
        Connection::open(&path).expect("it is made").execute_batch(sql).expect("it is filled");
        ZedSessions::open(&path).expect("it opens")
    }

    #[test]
    fn a_thread_of_either_version_says_what_its_row_knows() {
        let folder = tempfile::tempdir().expect("a folder");
        let later = opened(
            &folder,
            &format!(
                "CREATE TABLE threads ({COLUMNS}{LATER}); INSERT INTO threads VALUES \
                 ('t2', 'Sub', '2026-03-01T12:05:00+00:00', 'zstd', x'28b5', 't1', NULL, NULL, '2026-03-01T12:04:00+00:00'), \
                 ('t1', 'Bound', '2026-03-01T12:06:00.5+00:00', 'json', '{{}}', NULL, '/a' || char(10) || '/w', '1,0', '2026-03-01T12:00:00+00:00'), \
                 ('../x', '', '', 'json', '{{}}', NULL, NULL, NULL, NULL), (NULL, '', '', 'json', '{{}}', NULL, NULL, NULL, NULL)"
            ),
        );
        assert_eq!(later.all().expect("they are listed"), ["t1", "t2"]);
        assert_eq!(later.created("t1").expect("it is found"), Some(1_772_366_400_000));
        assert_eq!(later.look("t1").expect("it is looked at"), Some((7, 1_772_366_760_500_000_000)));
        assert_eq!(later.look("none").expect("it is looked at"), None);
        assert_eq!(later.thread("none").expect("it is looked for"), None);
        let thread = later.thread("t1").expect("it is read").expect("it is there");
        assert_eq!(
            thread.about,
            json!({"id": "t1", "parent_id": null, "folders": ["/w", "/a"], "title": "Bound",
                "created_at": "2026-03-01T12:00:00+00:00", "updated_at": "2026-03-01T12:06:00.5+00:00"})
        );
        assert_eq!((thread.data, thread.is_packed), (b"{}".to_vec(), false));
        let sub = later.thread("t2").expect("it is read").expect("it is there");
        assert_eq!((&sub.about["parent_id"], sub.is_packed), (&json!("t1"), true));

        let folder = tempfile::tempdir().expect("a folder");
        let row = "INSERT INTO threads VALUES ('t1', 'Bound', '2026-03-01T12:06:00Z', 'json', '{}')";
        let older = opened(&folder, &format!("CREATE TABLE threads ({COLUMNS}); {row}"));
        assert_eq!(older.created("t1").expect("it is found"), Some(1_772_366_760_000));
        let thread = older.thread("t1").expect("it is read").expect("it is there");
        assert_eq!((&thread.about["folders"], &thread.about["created_at"]), (&json!([]), &Value::Null));
    }

    #[test]
    fn a_row_that_zed_does_not_write_is_refused_and_the_others_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = opened(
            &folder,
            &format!(
                "CREATE TABLE threads ({COLUMNS}); INSERT INTO threads VALUES ('huge', '', '1', 'json', zeroblob(65 << 20)), \
                 ('odd', '', '2', 'gzip', '{{}}'), ('t1', '', '3', 'json', '{{}}')"
            ),
        );
        assert_eq!(sessions.all().expect("they are listed"), ["huge", "odd", "t1"]);
        assert!(sessions.thread("huge").is_err() && sessions.thread("odd").is_err());
        assert!(sessions.look("huge").expect("its size is known").is_some());
        assert!(sessions.thread("t1").expect("it is read").is_some());
    }

    #[test]
    fn a_locked_database_is_an_error_and_zed_is_not_kept_from_writing() {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = opened(&folder, &format!("CREATE TABLE threads ({COLUMNS})"));
        sessions.connection.busy_timeout(Duration::ZERO).expect("it does not wait");
        let writer = Connection::open(folder.path().join("threads.db")).expect("it opens");
        writer.execute_batch("BEGIN EXCLUSIVE").expect("it is locked");
        assert!(sessions.all().is_err());
        writer.execute_batch("COMMIT").expect("it is free");
        assert_eq!(sessions.all().expect("they are listed"), [""; 0]);
        writer
            .execute_batch("INSERT INTO threads VALUES ('t1', '', '1', 'json', '{}')")
            .expect("it is not kept");
    }
}
