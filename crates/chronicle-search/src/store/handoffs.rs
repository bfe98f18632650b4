//! Work that is handed over from a session to another agent.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::ids::{ProjectId, SessionId, TurnKind};

/// A handoff, without what is handed over: that is the session itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHandoff {
    /// Names it, wherever it is quoted.
    pub id: String,
    /// The session whose work is handed over.
    pub session: SessionId,
    /// The agent that is to go on; none for any.
    pub agent: Option<String>,
    /// When it was made.
    pub at: Timestamp,
    /// When a session took it over, and which one: its agent and id.
    pub accepted: Option<(Timestamp, String)>,
}

const COLUMNS: &str =
    "handoff.id, handoff.session, handoff.agent, handoff.at, handoff.accepted, handoff.accepted_by";

impl StoredHandoff {
    /// Stores it, or what became of it.
    pub fn put(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let accepted = self.accepted.as_ref();
        tx.prepare_cached(
            "INSERT OR REPLACE INTO handoff (id, session, agent, at, accepted, accepted_by) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            self.id,
            self.session.0,
            self.agent,
            self.at.as_millisecond(),
            accepted.map(|(at, _)| at.as_millisecond()),
            accepted.map(|(_, by)| by),
        ])
        .map(drop)
    }

    /// The one with this id.
    pub fn by_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM handoff WHERE id = ?1"))?
            .query_row([id], Self::of_row)
            .optional()
    }

    /// Those that were made after `since`, the newest first: of one project or of all.
    ///
    /// A store of an older form that cannot be written has none.
    pub fn made_since(
        connection: &Connection,
        project: Option<ProjectId>,
        since: Timestamp,
    ) -> rusqlite::Result<Vec<Self>> {
        let is_known = connection
            .prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'handoff' AND type = 'table'")?
            .exists([])?;
        if !is_known {
            return Ok(Vec::new());
        }
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM handoff JOIN session ON session.id = handoff.session \
                 WHERE ?2 < handoff.at AND (?1 IS NULL OR project = ?1) \
                 ORDER BY handoff.at DESC, handoff.id"
            ))?
            .query_map(params![project.map(|project| project.0), since.as_millisecond()], Self::of_row)?
            .collect()
    }

    /// The first session with a prompt that names it, and when: its agent and id. That of the handoff itself is none.
    pub fn named_by(&self, connection: &Connection) -> rusqlite::Result<Option<(Timestamp, String)>> {
        connection
            .prepare_cached(
                "SELECT session.agent, session.name, coalesce(turn.at, session.last) FROM session \
                 JOIN turn ON turn.session = session.id WHERE ?1 <= session.last AND session.id <> ?2 \
                 AND turn.kind = ?3 AND instr(turn.text, ?4) ORDER BY 3 LIMIT 1",
            )?
            .query_row(
                params![self.at.as_millisecond(), self.session.0, TurnKind::Prompt as u8, self.id],
                |row| {
                    let by = format!("{} {}", row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                    Ok((Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(), by))
                },
            )
            .optional()
    }

    /// Removes those of a session, and what says that it took others over.
    pub(super) fn forget(tx: &Transaction<'_>, session: SessionId, by: &str) -> rusqlite::Result<()> {
        tx.execute("DELETE FROM handoff WHERE session = ?1", [session.0])?;
        tx.execute("UPDATE handoff SET accepted_by = '' WHERE accepted_by = ?1", [by]).map(drop)
    }

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |at| Timestamp::from_millisecond(at).unwrap_or_default();
        let accepted: Option<i64> = row.get(4)?;
        let by: Option<String> = row.get(5)?;
        Ok(Self {
            id: row.get(0)?,
            session: SessionId(row.get(1)?),
            agent: row.get(2)?,
            at: time(row.get(3)?),
            accepted: accepted.map(|at| (time(at), by.unwrap_or_default())),
        })
    }
}
