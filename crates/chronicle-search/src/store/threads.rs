//! Threads: their events, and what these left them as.

use chronicle_core::thread::{Thread, ThreadEvent};
use rusqlite::{Connection, OptionalExtension, Transaction, params, types::Type};
use twox_hash::XxHash3_128;

use super::{Project, ProjectId, SessionId, Store};
use crate::StoreError;

impl Store {
    /// Lets `events` happen to threads of `project`, and says how many of them were news.
    ///
    /// # Errors
    /// When they cannot be written; then none of them happened.
    pub fn add_thread_events(
        &mut self,
        project: &Project,
        session: Option<SessionId>,
        events: &[ThreadEvent],
    ) -> Result<usize, StoreError> {
        self.write(|tx| add_events(tx, project, session, events))
    }

    /// The threads of one project or of all, with the closed ones or without; in no order.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn threads(&self, project: Option<ProjectId>, is_open_only: bool) -> Result<Vec<Thread>, StoreError> {
        self.read(|connection| threads(connection, project, is_open_only))
    }

    /// The threads whose ids begin with `start`, with or without the `t-` before it.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn threads_by_start(&self, start: &str) -> Result<Vec<Thread>, StoreError> {
        let start = if start.starts_with("t-") { start.to_owned() } else { format!("t-{start}") };
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT thread, key FROM thread JOIN project ON project.id = project \
                     WHERE thread.id >= ?1 AND thread.id < ?1 || char(1114111) ORDER BY thread.id LIMIT 20",
                )?
                .query_map([start], of_row)?
                .collect()
        })
    }

    /// What happened to a thread, in the order in which it counts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn thread_events(&self, thread: &str) -> Result<Vec<ThreadEvent>, StoreError> {
        self.read(|connection| events_of(connection, thread))
    }
}

/// Lets events happen within a transaction; see [`Store::add_thread_events`].
pub fn add_events(
    tx: &Transaction<'_>,
    project: &Project,
    session: Option<SessionId>,
    events: &[ThreadEvent],
) -> rusqlite::Result<usize> {
    let mut touched: Vec<&str> = Vec::new();
    let mut n_new = 0;
    for event in events {
        let text = serde_json::to_string(event)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let claim = XxHash3_128::oneshot(text.as_bytes()).to_be_bytes();
        let n_added = tx
            .prepare_cached(
                "INSERT OR IGNORE INTO thread_event (claim, thread, session, at, event) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                claim,
                event.thread.0,
                session.map(|session| session.0),
                event.at.map(jiff::Timestamp::as_millisecond),
                text
            ])?;
        n_new += n_added;
        if 0 < n_added && !touched.contains(&event.thread.0.as_str()) {
            touched.push(&event.thread.0);
        }
    }
    for thread in touched {
        replay(tx, thread, Some(project.id))?;
    }
    Ok(n_new)
}

/// Makes a thread again from its events; one without any is gone.
pub fn replay(tx: &Transaction<'_>, id: &str, project: Option<ProjectId>) -> rusqlite::Result<()> {
    let events = events_of(tx, id)?;
    let Some(thread) = Thread::replay(&events) else {
        return tx.execute("DELETE FROM thread WHERE id = ?1", [id]).map(drop);
    };
    let known: Option<i64> = tx
        .prepare_cached("SELECT project FROM thread WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(project) = known.or(project.map(|project| project.0)) else { return Ok(()) };
    let text = serde_json::to_string(&thread)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.prepare_cached("INSERT OR REPLACE INTO thread (id, project, is_open, thread) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, project, thread.is_open(), text])
        .map(drop)
}

/// The threads of one project or of all; see [`Store::threads`].
pub fn threads(
    connection: &Connection,
    project: Option<ProjectId>,
    is_open_only: bool,
) -> rusqlite::Result<Vec<Thread>> {
    let of_project = if project.is_some() { "project = ?1" } else { "?1 IS NULL" };
    let open = if is_open_only { "AND is_open = 1" } else { "" };
    connection
        .prepare_cached(&format!(
            "SELECT thread, key FROM thread JOIN project ON project.id = project WHERE {of_project} {open}"
        ))?
        .query_map([project.map(|project| project.0)], of_row)?
        .collect()
}

/// The events of a thread, by time: sessions are not always read in the order in which they happened.
fn events_of(connection: &Connection, thread: &str) -> rusqlite::Result<Vec<ThreadEvent>> {
    connection
        .prepare_cached("SELECT event FROM thread_event WHERE thread = ?1 ORDER BY at, id")?
        .query_map([thread], |row| json(&row.get::<_, String>(0)?))?
        .collect()
}

/// The ids of all threads, with the projects they belong to.
pub fn thread_ids(connection: &Connection) -> rusqlite::Result<Vec<(String, ProjectId)>> {
    connection
        .prepare("SELECT id, project FROM thread ORDER BY id")?
        .query_map([], |row| Ok((row.get(0)?, ProjectId(row.get(1)?))))?
        .collect()
}

/// What happened to a thread, each event with the agent in whose session it did.
pub fn events_with_agents(
    connection: &Connection,
    thread: &str,
) -> rusqlite::Result<Vec<(Option<String>, ThreadEvent)>> {
    connection
        .prepare_cached(
            "SELECT agent, event FROM thread_event LEFT JOIN session ON session.id = thread_event.session \
             WHERE thread = ?1 ORDER BY at, thread_event.id",
        )?
        .query_map([thread], |row| Ok((row.get(0)?, json(&row.get::<_, String>(1)?)?)))?
        .collect()
}

/// The thread of a row; the project it belongs to now is the store's to say.
fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Thread> {
    let mut thread: Thread = json(&row.get::<_, String>(0)?)?;
    thread.project = row.get(1)?;
    Ok(thread)
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
