//! What sessions tell of how their human works, and what the human said of it.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, params};

use super::ids::{ProjectId, SessionId};

/// What a session tells, and which one it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The session.
    pub session: SessionId,
    /// The id that the agent gave it.
    pub name: String,
    /// What it was about.
    pub title: String,
    /// Its project.
    pub project: ProjectId,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// When it began.
    pub first: Option<Timestamp>,
    /// When it ended.
    pub last: Option<Timestamp>,
    /// What it tells, as it was stored.
    pub signs: String,
}

impl Learned {
    /// The sessions that humans led and that were not learned from by these rules, the latest first.
    pub fn missing(connection: &Connection, rules: i64) -> rusqlite::Result<Vec<SessionId>> {
        connection
            .prepare_cached(
                "SELECT session.id FROM session LEFT JOIN learned ON learned.session = session.id AND rules = ?1 \
                 WHERE rules IS NULL AND NOT is_sub_agent AND digest <> '' ORDER BY last DESC, session.id",
            )?
            .query_map([rules], |row| row.get(0).map(SessionId))?
            .collect()
    }

    /// Whether a session was learned from by these rules.
    pub fn has(connection: &Connection, session: SessionId, rules: i64) -> rusqlite::Result<bool> {
        connection
            .prepare_cached("SELECT 1 FROM learned WHERE session = ?1 AND rules = ?2")?
            .exists(params![session.0, rules])
    }

    /// Stores what a session tells, in the place of what was stored before.
    pub fn put(tx: &Transaction<'_>, session: SessionId, rules: i64, signs: &str) -> rusqlite::Result<()> {
        tx.prepare_cached("INSERT OR REPLACE INTO learned (session, rules, signs) VALUES (?1, ?2, ?3)")?
            .execute(params![session.0, rules, signs])
            .map(drop)
    }

    /// Tells `found` what all sessions tell, or those of a project; the first one comes first.
    pub fn each(
        connection: &Connection,
        rules: i64,
        project: Option<ProjectId>,
        found: &mut impl FnMut(Self),
    ) -> rusqlite::Result<()> {
        let mut select = connection.prepare_cached(
            "SELECT session.id, name, title, project, branch, first, last, signs \
             FROM learned JOIN session ON session.id = session \
             WHERE rules = ?1 AND (?2 IS NULL OR project = ?2) ORDER BY last, session.id",
        )?;
        let mut rows = select.query(params![rules, project.map(|project| project.0)])?;
        while let Some(row) = rows.next()? {
            let time = |column| -> rusqlite::Result<Option<Timestamp>> {
                let at: Option<i64> = row.get(column)?;
                Ok(at.and_then(|at| Timestamp::from_millisecond(at).ok()))
            };
            found(Self {
                session: SessionId(row.get(0)?),
                name: row.get(1)?,
                title: row.get(2)?,
                project: ProjectId(row.get(3)?),
                branch: row.get(4)?,
                first: time(5)?,
                last: time(6)?,
                signs: row.get(7)?,
            });
        }
        Ok(())
    }
}

/// Forgets what a session told, as it changed.
pub(crate) fn drop_learned(tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM learned WHERE session = ?1")?.execute([session.0]).map(drop)
}

/// What a human said of something that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// What kind of thing it is.
    pub what: String,
    /// Its id.
    pub subject: String,
    /// When it was said.
    pub at: Timestamp,
    /// Whether it is right.
    pub is_right: bool,
    /// What was said besides; mostly nothing.
    pub note: String,
}

impl Feedback {
    /// Stores it; says whether it is new.
    pub fn put(&self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO feedback (what, subject, at, is_right, note) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![self.what, self.subject, self.at.as_millisecond(), self.is_right, self.note])
        .map(|count| 0 < count)
    }

    /// Forgets what was said beside the judgements on a subject; they stay.
    pub fn forget_note(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.execute(
            "UPDATE feedback SET note = '' WHERE what = ?1 AND subject = ?2",
            [&self.what, &self.subject],
        )
        .map(drop)
    }

    /// All of it, or that on one kind of thing, in the order in which it was said.
    pub fn all(connection: &Connection, what: Option<&str>) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(
                "SELECT what, subject, at, is_right, note FROM feedback WHERE ?1 IS NULL OR what = ?1 \
                 ORDER BY at, what, subject",
            )?
            .query_map([what], |row| {
                Ok(Self {
                    what: row.get(0)?,
                    subject: row.get(1)?,
                    at: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
                    is_right: row.get(3)?,
                    note: row.get(4)?,
                })
            })?
            .collect()
    }
}
