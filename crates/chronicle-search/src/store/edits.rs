//! Which edits wrote the lines of a file.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{ids::ProjectId, turns::StoredTurn};

/// An edit, with what it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEdit {
    /// The turn; its text is the path of the file, from the top of the working tree where it lies in one.
    pub turn: StoredTurn,
    /// What it wrote, as it was stored.
    pub lines: Vec<u8>,
}

impl StoredEdit {
    /// Stores what the edit wrote whose turn has this key. A turn that is not stored, or of another session, has none.
    pub fn put(
        tx: &Transaction<'_>,
        (session, key): (super::ids::SessionId, i64),
        path: &str,
        lines: &[u8],
    ) -> rusqlite::Result<()> {
        let turn: Option<i64> = tx
            .prepare_cached("SELECT id FROM turn WHERE key = ?1 AND session = ?2")?
            .query_row([key, session.0], |row| row.get(0))
            .optional()?;
        let Some(turn) = turn else { return Ok(()) };
        tx.prepare_cached(
            "INSERT INTO edit (turn, file, lines) VALUES (?1, ?2, ?3) \
             ON CONFLICT (turn) DO UPDATE SET file = excluded.file, lines = excluded.lines",
        )?
        .execute(params![turn, file_key(path), lines])
        .map(drop)
    }

    /// The edits that worked of files called like the one at `path`, in whatever folder, in a project or in all; the
    /// first one comes first.
    pub fn of_file(
        connection: &Connection,
        project: Option<ProjectId>,
        path: &str,
    ) -> rusqlite::Result<Vec<Self>> {
        let columns = super::turns::COLUMNS;
        connection
            .prepare_cached(&format!(
                "SELECT {columns}, lines FROM edit JOIN turn ON turn.id = edit.turn WHERE file = ?1 AND is_ok IS NOT 0 \
                 AND (?2 IS NULL OR EXISTS (SELECT 1 FROM session AS s WHERE s.id = turn.session AND project = ?2)) \
                 ORDER BY at, turn.id"
            ))?
            .query_map(params![file_key(path), project.map(|project| project.0)], |row| {
                Ok(Self { turn: StoredTurn::of_row(row)?, lines: row.get("lines")? })
            })?
            .collect()
    }
}

/// What a file is looked up by: its name, as sessions name folders in several ways.
fn file_key(path: &str) -> i64 {
    crate::key(path.rsplit(['/', '\\']).next().unwrap_or(path))
}
