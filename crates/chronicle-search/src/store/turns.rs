//! Turns.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::ids::{SessionId, TurnKind, Written};
use crate::index;

/// One turn, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRecord<'a> {
    /// Who it is, in whichever session: a hash of the id that the agent gave it.
    pub key: i64,
    /// Its place in the session: the byte at which it begins, times 64, plus its number there.
    pub position: i64,
    /// The line of the transcript on which it begins.
    pub line: u64,
    /// The id that the agent gave it; empty for none.
    pub name: &'a str,
    /// What it is.
    pub kind: TurnKind,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// The sub-agent that did it.
    pub sub_agent: Option<&'a str>,
    /// Who spoke, where that is told.
    pub speaker: Option<&'a str>,
    /// Whether a call worked, if that is known.
    pub is_ok: Option<bool>,
    /// What was said or done.
    pub text: &'a str,
    /// What came back, of calls that failed.
    pub answer: Option<&'a str>,
}

/// Where a turn is that was to be stored as one of another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elsewhere {
    /// The session it belongs to.
    pub session: SessionId,
    /// The line of that session's transcript on which it begins.
    pub line: u64,
    /// Whether it says the same there.
    pub is_same: bool,
}

/// One turn, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTurn {
    /// Names it in the store.
    pub id: i64,
    /// Who it is, in whichever session.
    pub key: i64,
    /// The session it belongs to.
    pub session: SessionId,
    /// Its place in the session.
    pub position: i64,
    /// The line of the transcript on which it begins.
    pub line: u64,
    /// The id that the agent gave it; empty for none.
    pub name: String,
    /// What it is.
    pub kind: TurnKind,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// The sub-agent that did it.
    pub sub_agent: Option<String>,
    /// Who spoke, where that is told.
    pub speaker: Option<String>,
    /// Whether a call worked, if that is known.
    pub is_ok: Option<bool>,
    /// What was said or done.
    pub text: String,
    /// What came back, of calls that failed.
    pub answer: Option<String>,
}

/// The columns of a turn, in the order in which `StoredTurn::of_row` takes them.
pub(super) const COLUMNS: &str =
    "turn.id, session, position, line, name, kind, at, sub_agent, speaker, is_ok, text, answer, key";

impl TurnRecord<'_> {
    /// Stores it as a turn of `session`, unless it belongs to another session already; counts what that changes.
    ///
    /// A fork repeats the turns of the session that it comes from: they stay where they are, and the turn is no
    /// news of this session. The answer says where such a turn is.
    pub fn put(
        &self,
        tx: &Transaction<'_>,
        session: SessionId,
        written: &mut Written,
    ) -> rusqlite::Result<Option<Elsewhere>> {
        if self.insert(tx, session)? {
            written.n_new += 1;
            if written.marked.replace(session) != Some(session) {
                index::mark(tx, session)?;
            }
            return Ok(None);
        }
        let known = tx
            .prepare_cached(&format!("SELECT {COLUMNS} FROM turn WHERE key = ?1"))?
            .query_row([self.key], StoredTurn::of_row)?;
        if known.session != session {
            let is_same = self.kind == known.kind && self.text == known.text;
            return Ok(Some(Elsewhere { session: known.session, line: known.line, is_same }));
        }
        if !self.is(&known) {
            index::remove(tx, session)?;
            remove(tx, known.id)?;
            self.insert(tx, session)?;
            written.n_changed += 1;
        }
        Ok(None)
    }

    /// Whether it was forgotten: it is not stored again, whichever transcript repeats it, also under another id.
    pub fn is_forgotten(&self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        let likeness = self.likeness().filter(|_| self.is_exact());
        tx.prepare_cached("SELECT 1 FROM forgotten_turn WHERE key IN (?1, ?2)")?
            .exists([self.key, likeness.unwrap_or(self.key)])
    }

    /// Whether a turn with its key that says the same is there, in whichever session; none where there is no such key.
    pub fn is_stored(&self, tx: &Transaction<'_>) -> rusqlite::Result<Option<bool>> {
        tx.prepare_cached("SELECT kind = ?2 AND text = ?3 FROM turn WHERE key = ?1")?
            .query_row(params![self.key, self.kind as u8, self.text], |row| row.get(0))
            .optional()
    }

    /// A number for what it says and when, which a copy under another id has, too. None where it has no time.
    #[must_use]
    pub fn likeness(&self) -> Option<i64> {
        likeness(self.kind, self.at?, self.text)
    }

    /// Whether its time says more than the second: two turns hardly have the same then.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.at.is_some_and(is_exact)
    }

    /// Inserts it, unless a turn with its key is there, in whichever session.
    fn insert(&self, tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<bool> {
        tx.prepare_cached(
            "INSERT INTO turn (key, session, position, line, name, kind, at, sub_agent, speaker, is_ok, text, \
             answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![
            self.key,
            session.0,
            self.position,
            i64::try_from(self.line).unwrap_or(i64::MAX),
            self.name,
            self.kind as u8,
            self.at.map(Timestamp::as_millisecond),
            self.sub_agent,
            self.speaker,
            self.is_ok,
            self.text,
            self.answer,
        ])
        .map(|n_inserted| 0 < n_inserted)
    }

    /// Whether `stored` says the same. Where it stands may change when a document is written anew.
    fn is(&self, stored: &StoredTurn) -> bool {
        self.position == stored.position
            && self.kind == stored.kind
            && self.is_ok == stored.is_ok
            && self.text == stored.text
            && self.answer == stored.answer.as_deref()
            && self.speaker == stored.speaker.as_deref()
    }
}

fn likeness(kind: TurnKind, at: Timestamp, text: &str) -> Option<i64> {
    let (kind, at) = (kind as u8, at.as_millisecond());
    (!text.is_empty()).then(|| crate::key(&format!("alike {kind} {at} {text}")))
}

fn is_exact(at: Timestamp) -> bool {
    at.as_millisecond() % 1_000 != 0
}

fn remove(tx: &Transaction<'_>, turn: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM turn WHERE id = ?1")?.execute([turn]).map(drop)
}

/// Removes all turns of a session.
pub(crate) fn remove_all(tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
    index::remove(tx, session)?;
    super::checkpoints::StoredCheckpoint::remove_all(tx)?;
    tx.execute("DELETE FROM turn WHERE session = ?1", [session.0]).map(drop)
}

/// Notes that the turns of a session were forgotten.
pub(super) fn forget_all(tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO forgotten_turn (key) VALUES (?1)")?;
    for turn in StoredTurn::of_session(tx, session)? {
        insert.execute([turn.key])?;
        if let Some(likeness) = turn.likeness().filter(|_| turn.at.is_some_and(is_exact)) {
            insert.execute([likeness])?;
        }
    }
    Ok(())
}

impl StoredTurn {
    /// A number for what it says and when, which a copy under another id has, too. None where it has no time.
    #[must_use]
    pub fn likeness(&self) -> Option<i64> {
        likeness(self.kind, self.at?, &self.text)
    }

    /// Whether a session has turns.
    pub fn has_any(connection: &Connection, session: SessionId) -> rusqlite::Result<bool> {
        connection.prepare_cached("SELECT 1 FROM turn WHERE session = ?1 LIMIT 1")?.exists([session.0])
    }

    /// The turns of a session, in their order.
    pub fn of_session(connection: &Connection, session: SessionId) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM turn WHERE session = ?1 ORDER BY position, id"))?
            .query_map([session.0], Self::of_row)?
            .collect()
    }

    /// The last turns of these kinds in a session before a time and a place in it, the last first. A place counts more
    /// than a time.
    pub fn before(
        connection: &Connection,
        session: SessionId,
        (at, position): (Option<Timestamp>, Option<i64>),
        kinds: &[TurnKind],
        limit: usize,
    ) -> rusqlite::Result<Vec<Self>> {
        let kinds = kinds.iter().map(|kind| (*kind as u8).to_string()).collect::<Vec<_>>().join(",");
        let at = at.filter(|_| position.is_none()).map(Timestamp::as_millisecond);
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM turn WHERE session = ?1 AND kind IN ({kinds}) \
                 AND (?2 IS NULL OR position < ?2) AND (?3 IS NULL OR at <= ?3) \
                 ORDER BY position DESC, id DESC LIMIT ?4"
            ))?
            .query_map(
                params![session.0, position, at, i64::try_from(limit).unwrap_or(i64::MAX)],
                Self::of_row,
            )?
            .collect()
    }

    /// When the turns of a session happened, with their keys.
    pub fn times(
        connection: &Connection,
        session: SessionId,
    ) -> rusqlite::Result<Vec<(i64, Option<Timestamp>)>> {
        connection
            .prepare_cached("SELECT key, at FROM turn WHERE session = ?1")?
            .query_map([session.0], |row| {
                let at: Option<i64> = row.get(1)?;
                Ok((row.get(0)?, at.and_then(|at| Timestamp::from_millisecond(at).ok())))
            })?
            .collect()
    }

    /// The turn of a session with this number, counted from 0 in the order of their positions.
    pub(crate) fn nth(
        connection: &Connection,
        session: SessionId,
        number: u32,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM turn WHERE id = \
                 (SELECT id FROM turn WHERE session = ?1 ORDER BY position, id LIMIT 1 OFFSET ?2)"
            ))?
            .query_row(params![session.0, number], Self::of_row)
            .optional()
    }

    /// The turn with this id in the store.
    pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM turn WHERE id = ?1"))?
            .query_row([id], Self::of_row)
            .optional()
    }

    /// The turn of a session that is called `name`, by the id that the agent gave it.
    pub fn by_name(
        connection: &Connection,
        session: SessionId,
        name: &str,
    ) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM turn WHERE session = ?1 AND name = ?2 LIMIT 1"))?
            .query_row(params![session.0, name], Self::of_row)
            .optional()
    }

    pub(super) fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            session: SessionId(row.get(1)?),
            position: row.get(2)?,
            line: row.get::<_, i64>(3).map(|line| u64::try_from(line).unwrap_or_default())?,
            name: row.get(4)?,
            kind: row.get(5)?,
            at: row.get::<_, Option<i64>>(6)?.and_then(|at| Timestamp::from_millisecond(at).ok()),
            sub_agent: row.get(7)?,
            speaker: row.get(8)?,
            is_ok: row.get(9)?,
            text: row.get(10)?,
            answer: row.get(11)?,
            key: row.get(12)?,
        })
    }
}
