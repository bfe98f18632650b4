//! What a model said of sessions, and how often it failed to.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{
    ids::{ProjectId, SessionId},
    sessions::COLUMNS,
    sessions::NamedSession,
};

/// How often a model is asked about a session that stays as it is.
const MOST_FAILURES: u32 = 3;

/// How long after the first failure it is asked again; after each further one, four times as long.
const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// How far a session was when something was said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionState {
    /// The number of its stored turns.
    pub n_turns: u64,
    /// When the last of them was.
    pub last: Option<Timestamp>,
}

/// What a model said of a session, or why it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWording {
    /// The state it is about.
    pub state: SessionState,
    /// What it said, as JSON; empty where it failed.
    pub wording: String,
    /// How often it failed in that state.
    pub n_failed: u32,
    /// Why it did last.
    pub failure: String,
    /// When it was asked last.
    pub asked: Timestamp,
}

impl StoredWording {
    /// What a model said of a session, in whatever state that was.
    pub fn of(connection: &Connection, session: SessionId) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT n_turns, last, wording, n_failed, failure, asked FROM wording WHERE session = ?1",
            )?
            .query_row([session.0], |row| {
                let time = |at: Option<i64>| at.and_then(|at| Timestamp::from_millisecond(at).ok());
                Ok(Self {
                    state: SessionState {
                        n_turns: u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
                        last: time(row.get(1)?),
                    },
                    wording: row.get(2)?,
                    n_failed: row.get(3)?,
                    failure: row.get(4)?,
                    asked: time(row.get(5)?).unwrap_or_default(),
                })
            })
            .optional()
    }

    /// Stores it, in the place of what was said before.
    pub fn put(&self, tx: &Transaction<'_>, session: SessionId) -> rusqlite::Result<()> {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO wording (session, n_turns, last, wording, n_failed, failure, asked) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            session.0,
            i64::try_from(self.state.n_turns).unwrap_or(i64::MAX),
            self.state.last.map(Timestamp::as_millisecond),
            self.wording,
            self.n_failed,
            self.failure,
            self.asked.as_millisecond(),
        ])
        .map(drop)
    }

    /// Whether a model that failed may be asked again by now.
    fn may_be_asked_again(&self, now: Timestamp) -> bool {
        let pause = (1..self.n_failed).fold(PAUSE, |pause, _| pause * 4);
        // A time that lies in the future was told by a clock that is wrong.
        let has_passed = pause <= now.duration_since(self.asked) || now < self.asked;
        self.wording.is_empty() && self.n_failed < MOST_FAILURES && has_passed
    }
}

impl NamedSession {
    /// How far the session is.
    pub fn state(&self, connection: &Connection) -> rusqlite::Result<SessionState> {
        // As it is stored, to the millisecond.
        let last = self.record.last.and_then(|at| Timestamp::from_millisecond(at.as_millisecond()).ok());
        Ok(SessionState { n_turns: self.n_turns(connection)?, last })
    }

    /// The sessions of a project that humans led, that ended in a time, and of which no model said anything as they are,
    /// the latest first; where it failed, those that it may be asked about again at `now`.
    pub fn unworded(
        connection: &Connection,
        project: ProjectId,
        (since, until): (Timestamp, Timestamp),
        now: Timestamp,
        limit: usize,
    ) -> rusqlite::Result<Vec<Self>> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM session WHERE project = ?1 AND last BETWEEN ?2 AND ?3 \
             AND NOT is_sub_agent AND 0 < n_prompts AND digest <> '' ORDER BY last DESC, id DESC"
        ))?;
        let (since, until) = (since.as_millisecond(), until.as_millisecond());
        let mut rows = statement.query(params![project.0, since, until])?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            let session = Self::of_row(row)?;
            let is_due = match StoredWording::of(connection, session.id)? {
                None => true,
                Some(known) if known.state != session.state(connection)? => true,
                Some(known) => known.may_be_asked_again(now),
            };
            if is_due {
                found.push(session);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_each_failure_it_takes_longer_and_in_the_end_nobody_asks_any_more() {
        let asked: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let may = |n_failed, minutes| {
            let state = SessionState { n_turns: 3, last: None };
            let (wording, failure) = (String::new(), "refused".to_owned());
            let known = StoredWording { state, wording, n_failed, failure, asked };
            known.may_be_asked_again(asked + SignedDuration::from_mins(minutes))
        };
        assert_eq!([may(1, 9), may(1, 10), may(2, 39), may(2, 40)], [false, true, false, true]);
        assert!(!may(3, 1_000_000));
        assert!(may(1, -5));
    }
}
