//! Projects, and the folders that belong to them.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::ids::ProjectId;

/// What sessions, threads and questions belong to: a repository with all its worktrees, or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Names it here.
    pub id: ProjectId,
    /// What it is known by for good.
    pub key: String,
    /// How it is called: no two have one name.
    pub name: String,
}

impl Project {
    /// The project with this key, which is made where it is new. Where another one has the name, this one is called
    /// `name@apart`.
    pub fn obtain(tx: &Transaction<'_>, key: &str, name: &str, apart: &str) -> rusqlite::Result<Self> {
        if let Some(known) = Self::by_key(tx, key)? {
            return Ok(known);
        }
        let mut name = name.to_owned();
        if Self::by_name(tx, &name)?.is_some() {
            let base = name;
            let numbers = (2..).map(|number| format!("{base}@{number}"));
            let with_apart = (!apart.is_empty()).then(|| format!("{base}@{apart}"));
            let mut names = with_apart.into_iter().chain(numbers);
            name = loop {
                let next = names.next().expect("there is always another number");
                if Self::by_name(tx, &next)?.is_none() {
                    break next;
                }
            };
        }
        tx.prepare_cached("INSERT INTO project (key, name) VALUES (?1, ?2)")?.execute([key, &name])?;
        Ok(Self { id: ProjectId(tx.last_insert_rowid()), key: key.to_owned(), name })
    }

    /// The project with this name.
    pub fn by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT id, key, name FROM project WHERE name = ?1 ORDER BY id")?
            .query_row([name], Self::of_row)
            .optional()
    }

    /// The project with this key.
    pub fn by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT id, key, name FROM project WHERE key = ?1")?
            .query_row([key], Self::of_row)
            .optional()
    }

    /// The project with this id in the store.
    pub fn by_id(connection: &Connection, id: ProjectId) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT id, key, name FROM project WHERE id = ?1")?
            .query_row([id.0], Self::of_row)
            .optional()
    }

    /// The project that a folder belongs to, as far as a session or command told.
    pub fn by_folder(connection: &Connection, folder: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT project.id, key, name FROM folder JOIN project ON project.id = project WHERE path = ?1",
            )?
            .query_row([folder], Self::of_row)
            .optional()
    }

    /// All projects, by name.
    pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare("SELECT id, key, name FROM project ORDER BY name, id")?
            .query_map([], Self::of_row)?
            .collect()
    }

    /// The folders that belong to it.
    pub fn folders(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare_cached("SELECT path FROM folder WHERE project = ?1 ORDER BY path")?
            .query_map([self.id.0], |row| row.get(0))?
            .collect()
    }

    /// Says that `folder` belongs to this project from now on.
    pub fn take_folder(&self, tx: &Transaction<'_>, folder: &str) -> rusqlite::Result<()> {
        tx.prepare_cached("INSERT OR REPLACE INTO folder (path, project) VALUES (?1, ?2)")?
            .execute(params![folder, self.id.0])
            .map(drop)
    }

    /// Says that `other` is this project, and always was.
    pub fn absorb(&self, tx: &Transaction<'_>, other: ProjectId) -> rusqlite::Result<()> {
        if other == self.id {
            return Ok(());
        }
        for table in ["folder", "session", "thread"] {
            tx.execute(&format!("UPDATE {table} SET project = ?1 WHERE project = ?2"), [self.id.0, other.0])?;
        }
        tx.execute("DELETE FROM root WHERE project = ?1", [other.0])?;
        tx.execute("DELETE FROM project WHERE id = ?1", [other.0]).map(drop)
    }

    /// The commit that its repository began with, as far as that is known.
    pub fn first_commit(&self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        connection
            .prepare_cached("SELECT first_commit FROM root WHERE project = ?1")?
            .query_row([self.id.0], |row| row.get(0))
            .optional()
    }

    /// Remembers the commit that its repository began with.
    pub fn set_first_commit(&self, tx: &Transaction<'_>, commit: &str) -> rusqlite::Result<()> {
        tx.execute("INSERT OR IGNORE INTO root VALUES (?1, ?2)", params![self.id.0, commit]).map(drop)
    }

    /// Says whether the sessions of `folder`, and of what is below it, are left out from now on.
    pub fn set_excluded(tx: &Transaction<'_>, folder: &str, is_excluded: bool) -> rusqlite::Result<()> {
        let sql = if is_excluded {
            "INSERT OR IGNORE INTO excluded (folder) VALUES (?1)"
        } else {
            "DELETE FROM excluded WHERE folder = ?1"
        };
        tx.execute(sql, [folder]).map(drop)
    }

    /// The folders whose sessions are left out.
    pub fn excluded(connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare_cached("SELECT folder FROM excluded ORDER BY folder")?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// How many sessions that worked in `folder`, or below it, are stored.
    pub fn n_sessions_below(connection: &Connection, folder: &str) -> rusqlite::Result<usize> {
        let count: i64 = connection.query_row(
            "SELECT count(*) FROM session WHERE folder = ?1 OR substr(folder, 1, length(?1) + 1) = ?1 || '/'",
            [folder],
            |row| row.get(0),
        )?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { id: ProjectId(row.get(0)?), key: row.get(1)?, name: row.get(2)? })
    }
}
