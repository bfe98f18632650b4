//! Commits: their parents, what they reach, and what they did to files.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, Transaction};

use crate::{
    Facts, Reach,
    error::{MissingParentSnafu, Result},
};

/// The row of a commit.
pub type CommitRow = u32;

/// More runs than this are stored only for some commits: they would take more room than the commits.
const MOST_RUNS: usize = 8;

/// Of the others, what one in so many rows reaches is stored.
const STRIDE: u32 = 32;

/// A commit that is to be stored. Its parents are stored before it, but for those that are not here.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// Its id.
    pub id: Vec<u8>,
    /// The id of its tree.
    pub tree: Vec<u8>,
    /// The ids of its parents, without those that are not here (where a shallow clone ends).
    pub parents: Vec<Vec<u8>>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
}

/// A stored commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its row.
    pub row: CommitRow,
    /// Its id.
    pub id: Vec<u8>,
    /// The id of its tree.
    pub tree: Vec<u8>,
    /// The rows of its parents.
    pub parents: Vec<CommitRow>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The same, moved past the times of its parents: children come after their parents in this order.
    pub at: i64,
}

/// What a commit did to a path that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTouch {
    /// The path.
    pub path: Vec<u8>,
    /// The file's blob in the first parent, if it had that path there.
    pub old: Option<Vec<u8>>,
    /// The file's blob since.
    pub new: Option<Vec<u8>>,
    /// The path that it had before, when the commit renamed it.
    pub renamed_from: Option<Vec<u8>>,
}

/// What a commit did to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The commit's row.
    pub row: CommitRow,
    /// Its id.
    pub id: Vec<u8>,
    /// When it was committed, moved past the times of its parents.
    pub at: i64,
    /// When it was committed.
    pub time: i64,
    /// How many parents it has.
    pub n_parents: u32,
    /// The file's blob in the first parent, if it had that path there.
    pub old: Option<Vec<u8>>,
    /// The file's blob since; `None` when it has that path no more.
    pub new: Option<Vec<u8>>,
    /// The path that it had before, when the commit renamed it.
    pub renamed_from: Option<Vec<u8>>,
}

impl Facts {
    /// The row of a commit, if it is stored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn row_of(&self, id: &[u8]) -> Result<Option<CommitRow>> {
        let mut statement = self.connection.prepare_cached("SELECT row FROM commits WHERE id = ?1")?;
        Ok(statement.query_row([id], |row| row.get(0)).optional()?)
    }

    /// Whether any commit is stored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_commits(&self) -> Result<bool> {
        let mut statement = self.connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM commits)")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// A stored commit.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn commit(&self, row: CommitRow) -> Result<Commit> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT row, id, tree, parents, time, at FROM commits WHERE row = ?1")?;
        Ok(statement.query_row([row], commit)?)
    }

    /// Stores commits, parents first. Those that are stored already stay as they are.
    ///
    /// # Errors
    /// When the file cannot be written, or a parent is not stored.
    pub fn add_commits(&self, commits: &[NewCommit]) -> Result<()> {
        let change = self.change()?;
        let mut known: HashMap<Vec<u8>, (CommitRow, i64, Reach)> = HashMap::new();
        for new in commits {
            if known.contains_key(&new.id) {
                continue;
            }
            if let Some(row) = self.row_of(&new.id)? {
                let stored = self.commit(row)?;
                known.insert(new.id.clone(), (row, stored.at, self.reach(row)?));
                continue;
            }
            let mut parents = Vec::new();
            let (mut at, mut reach) = (new.time, Reach::default());
            for parent in &new.parents {
                if !known.contains_key(parent) {
                    let Some(row) = self.row_of(parent)? else { return MissingParentSnafu.fail() };
                    let stored = self.commit(row)?;
                    known.insert(parent.clone(), (row, stored.at, self.reach(row)?));
                }
                let (row, parent_at, theirs) = &known[parent];
                parents.extend(row.to_le_bytes());
                at = at.max(parent_at.saturating_add(1));
                reach = if reach.runs().is_empty() { theirs.clone() } else { reach.union(theirs) };
            }
            let row = insert_commit(&change, new, &parents, at)?;
            let reach = reach.with(row);
            if reach.runs().len() <= MOST_RUNS || row.is_multiple_of(STRIDE) {
                change
                    .prepare_cached("UPDATE commits SET reach = ?2 WHERE row = ?1")?
                    .execute((row, reach.to_bytes()))?;
            }
            known.insert(new.id.clone(), (row, at, reach));
        }
        change.commit()
    }

    /// What a commit reaches, itself included.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn reach(&self, row: CommitRow) -> Result<Reach> {
        let mut statement =
            self.connection.prepare_cached("SELECT reach, parents FROM commits WHERE row = ?1")?;
        let (mut reach, mut pending) = (Reach::default(), vec![row]);
        while let Some(row) = pending.pop() {
            if reach.has(row) {
                continue;
            }
            let (stored, parents): (Option<Vec<u8>>, Vec<u8>) =
                statement.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            match stored {
                Some(stored) => reach = reach.union(&Reach::from_bytes(&stored)),
                None => {
                    reach = reach.with(row);
                    pending.extend(rows_in(&parents));
                }
            }
        }
        Ok(reach)
    }

    /// Whether what a commit did is stored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn is_walked(&self, row: CommitRow) -> Result<bool> {
        let mut statement = self.connection.prepare_cached("SELECT is_walked FROM commits WHERE row = ?1")?;
        Ok(statement.query_row([row], |row| row.get(0))?)
    }

    /// Commits among `reach` whose touches are not stored, at most `most`, the newest rows first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unwalked(&self, reach: &Reach, most: usize) -> Result<Vec<Commit>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT row FROM commits INDEXED BY unwalked WHERE is_walked = 0 ORDER BY row DESC",
        )?;
        // Mostly there are none, and the runs of a history may be many.
        let rows = statement.query_map([], |row| row.get(0))?;
        let of_reach = rows.filter(|row| row.as_ref().map_or(true, |row| reach.has(*row)));
        of_reach.take(most).map(|row| self.commit(row?)).collect()
    }

    /// Stores what commits did, and that this is all of it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_touches(&self, touches: &[(CommitRow, Vec<NewTouch>)]) -> Result<()> {
        let change = self.change()?;
        let mut paths: HashMap<&[u8], i64> = HashMap::new();
        for path in touches.iter().flat_map(|(_, touches)| touches) {
            for name in [Some(&path.path), path.renamed_from.as_ref()].into_iter().flatten() {
                if !paths.contains_key(name.as_slice()) {
                    paths.insert(name, path_row(&change, name)?);
                }
            }
        }
        {
            let mut insert = change.prepare_cached(
                "INSERT OR IGNORE INTO touches (path, commit_row, old, new, renamed_from) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let mut walked = change.prepare_cached("UPDATE commits SET is_walked = 1 WHERE row = ?1")?;
            for (row, touches) in touches {
                for NewTouch { path, old, new, renamed_from } in touches {
                    let renamed_from = renamed_from.as_ref().map(|from| paths[from.as_slice()]);
                    insert.execute((paths[path.as_slice()], row, old, new, renamed_from))?;
                }
                walked.execute([row])?;
            }
        }
        change.commit()
    }

    /// What commits did to `path`, all branches together, the newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn touches(&self, path: &[u8]) -> Result<Vec<Touch>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT c.row, c.id, c.at, c.time, c.n_parents, t.old, t.new, f.name \
             FROM paths p CROSS JOIN touches t ON t.path = p.row CROSS JOIN commits c ON c.row = t.commit_row \
             LEFT JOIN paths f ON f.row = t.renamed_from \
             WHERE p.name = ?1",
        )?;
        let touch = |row: &Row<'_>| {
            Ok(Touch {
                row: row.get(0)?,
                id: row.get(1)?,
                at: row.get(2)?,
                time: row.get(3)?,
                n_parents: row.get(4)?,
                old: row.get(5)?,
                new: row.get(6)?,
                renamed_from: row.get(7)?,
            })
        };
        let mut found: Vec<Touch> = statement.query_map([path], touch)?.collect::<rusqlite::Result<_>>()?;
        found.sort_by_key(|touch| std::cmp::Reverse((touch.at, touch.row)));
        Ok(found)
    }

    /// The annotated commits that did something to `path`, whatever branch they are on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn annotated_touching(&self, path: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT n.object FROM paths p CROSS JOIN touches t ON t.path = p.row \
             CROSS JOIN commits c ON c.row = t.commit_row CROSS JOIN notes n ON n.object = c.id \
             WHERE p.name = ?1",
        )?;
        let found = statement.query_map([path], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The paths to which `path` was renamed, with the rows of the commits that did it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn renames_of(&self, path: &[u8]) -> Result<Vec<(CommitRow, Vec<u8>)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT t.commit_row, to_.name FROM paths p CROSS JOIN touches t INDEXED BY renames \
             ON t.renamed_from = p.row CROSS JOIN paths to_ ON to_.row = t.path WHERE p.name = ?1",
        )?;
        let found = statement.query_map([path], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// The paths that any commit touched and whose last component is `name`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn paths_called(&self, name: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached("SELECT name FROM paths WHERE last = ?1")?;
        let found = statement.query_map([name], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn insert_commit(change: &Transaction<'_>, new: &NewCommit, parents: &[u8], at: i64) -> Result<CommitRow> {
    let n_parents = i64::try_from(parents.len() / 4).unwrap_or(i64::MAX);
    change
        .prepare_cached(
            "INSERT INTO commits (id, tree, parents, n_parents, time, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((&new.id, &new.tree, parents, n_parents, new.time, at))?;
    Ok(u32::try_from(change.last_insert_rowid()).unwrap_or(u32::MAX))
}

fn path_row(change: &Transaction<'_>, name: &[u8]) -> Result<i64> {
    let known = change
        .prepare_cached("SELECT row FROM paths WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(row) = known {
        return Ok(row);
    }
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    change.prepare_cached("INSERT INTO paths (name, last) VALUES (?1, ?2)")?.execute((name, last))?;
    Ok(change.last_insert_rowid())
}

fn commit(row: &Row<'_>) -> rusqlite::Result<Commit> {
    let parents: Vec<u8> = row.get(3)?;
    Ok(Commit {
        row: row.get(0)?,
        id: row.get(1)?,
        tree: row.get(2)?,
        parents: rows_in(&parents),
        time: row.get(4)?,
        at: row.get(5)?,
    })
}

fn rows_in(bytes: &[u8]) -> Vec<CommitRow> {
    let (rows, _) = bytes.as_chunks::<4>();
    rows.iter().map(|row| u32::from_le_bytes(*row)).collect()
}
