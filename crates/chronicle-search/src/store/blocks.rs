//! Blocks of memory and their versions.

use chronicle_core::block::BlockText;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use twox_hash::XxHash3_128;

use super::threads::json;

/// One version of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockVersion {
    /// Counted from 1.
    pub number: u64,
    /// When it was made.
    pub at: Timestamp,
    /// `user`, `rule` or `model`.
    pub author: String,
    /// Why it was made.
    pub reason: String,
    /// What the block held.
    pub text: BlockText,
}

/// A block that the user made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnBlock {
    /// How it is called.
    pub label: String,
    /// What it is about.
    pub description: String,
    /// How many characters it may have.
    pub limit: usize,
}

const COLUMNS: &str = "at, author, reason, content, (SELECT count(*) FROM block_version AS v \
     WHERE v.label = block_version.label AND (v.at, v.id) <= (block_version.at, block_version.id))";

impl BlockVersion {
    /// The block as it is.
    pub fn latest(connection: &Connection, label: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM block_version WHERE label = ?1 ORDER BY at DESC, id DESC LIMIT 1"
            ))?
            .query_row([label], Self::of_row)
            .optional()
    }

    /// All its versions, the first one first.
    pub fn all(connection: &Connection, label: &str) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM block_version WHERE label = ?1 ORDER BY at, id"))?
            .query_map([label], Self::of_row)?
            .collect()
    }

    /// Adds a version after all others, at `at` or, where a clock was wrong, right after the last one. A block that
    /// says this already stays as it is; whether there is a new version comes back.
    pub fn add(
        tx: &Transaction<'_>,
        label: &str,
        at: Timestamp,
        (author, reason): (&str, &str),
        text: &BlockText,
    ) -> rusqlite::Result<bool> {
        let latest = Self::latest(tx, label)?;
        if latest.as_ref().map_or(text.lines.is_empty(), |latest| says_the_same(&latest.text, text)) {
            return Ok(false);
        }
        let at = at.as_millisecond().max(latest.map_or(i64::MIN, |latest| latest.at.as_millisecond() + 1));
        put(tx, label, at, (author, reason), text)
    }

    /// Takes in a version of another store, at its place in time; whether it is new comes back.
    pub fn take_in(&self, tx: &Transaction<'_>, label: &str) -> rusqlite::Result<bool> {
        put(tx, label, self.at.as_millisecond(), (&self.author, &self.reason), &self.text)
    }

    /// The labels of all blocks that have a version.
    pub fn labels(connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare_cached("SELECT DISTINCT label FROM block_version ORDER BY label")?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// Removes all versions of a block.
    pub fn remove_all(tx: &Transaction<'_>, label: &str) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM block_version WHERE label = ?1", [label]).map(drop)
    }

    /// Takes every line out of every version that any of these sessions shows: what is forgotten is gone.
    pub fn forget(tx: &Transaction<'_>, sessions: &[String]) -> rusqlite::Result<()> {
        let stored: Vec<(i64, String, i64, String, String, String)> = tx
            .prepare("SELECT id, label, at, author, reason, content FROM block_version ORDER BY id")?
            .query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (id, label, at, author, reason, content) in stored {
            let mut text: BlockText = json(&content)?;
            let n_lines = text.lines.len();
            text.lines.retain(|line| line.evidence.iter().all(|session| !sessions.contains(session)));
            if text.lines.len() < n_lines {
                tx.execute("DELETE FROM block_version WHERE id = ?1", [id])?;
                put(tx, &label, at, (&author, &reason), &text)?;
            }
        }
        Ok(())
    }

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            at: Timestamp::from_millisecond(row.get(0)?).unwrap_or_default(),
            author: row.get(1)?,
            reason: row.get(2)?,
            text: json(&row.get::<_, String>(3)?)?,
            number: row.get::<_, i64>(4).map(|number| u64::try_from(number).unwrap_or_default())?,
        })
    }
}

/// Whether two texts have the same lines by the same authors; what shows them may differ.
fn says_the_same(left: &BlockText, right: &BlockText) -> bool {
    let lines = |text: &BlockText| -> Vec<_> {
        text.lines.iter().map(|line| (line.text.clone(), line.by, line.keys.clone())).collect()
    };
    left.dismissed == right.dismissed && lines(left) == lines(right)
}

fn put(
    tx: &Transaction<'_>,
    label: &str,
    at: i64,
    (author, reason): (&str, &str),
    text: &BlockText,
) -> rusqlite::Result<bool> {
    let content =
        serde_json::to_string(text).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let claim = XxHash3_128::oneshot(format!("{label}\n{at}\n{author}\n{content}").as_bytes()).to_be_bytes();
    tx.prepare_cached(
        "INSERT OR IGNORE INTO block_version (claim, label, at, author, reason, content) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![claim, label, at, author, reason, content])
    .map(|n_added| 0 < n_added)
}

impl OwnBlock {
    /// All of them, by label.
    pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached("SELECT label, description, most FROM own_block ORDER BY label")?
            .query_map([], |row| {
                let limit: i64 = row.get(2)?;
                Ok(Self {
                    label: row.get(0)?,
                    description: row.get(1)?,
                    limit: usize::try_from(limit).unwrap_or_default(),
                })
            })?
            .collect()
    }

    /// Stores it, unless one is called so; whether it was stored comes back.
    pub fn add(&self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        tx.execute(
            "INSERT OR IGNORE INTO own_block (label, description, most) VALUES (?1, ?2, ?3)",
            params![self.label, self.description, i64::try_from(self.limit).unwrap_or(i64::MAX)],
        )
        .map(|n_added| 0 < n_added)
    }

    /// Removes the one with this label; whether there was one comes back.
    pub fn remove(tx: &Transaction<'_>, label: &str) -> rusqlite::Result<bool> {
        tx.execute("DELETE FROM own_block WHERE label = ?1", [label]).map(|n_removed| 0 < n_removed)
    }
}
