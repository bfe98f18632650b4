//! Threads: their events, and what these left them as.

use std::collections::HashMap;

use chronicle_core::thread::{ARCHIVED_AFTER, Gist, PLACES, Thread, ThreadEvent, ThreadId, sort_events};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params, types::Type};
use twox_hash::XxHash3_128;

use super::{
    Store,
    ids::{ProjectId, SessionId},
    projects::Project,
};
use crate::StoreError;

/// How many priorities there are.
const N_PRIORITIES: usize = 3;
/// How many threads are kept in mind from one session to the next.
const MOST_KNOWN: usize = 10_000;

/// An open thread in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedThread {
    /// The thread.
    pub thread: Thread,
    /// The name of its project.
    pub project_name: String,
    /// The open threads that it waits for, and what is to be done in each.
    pub waits_for: Vec<(ThreadId, String)>,
}

/// How many open threads there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenThreads {
    /// Those that lists show.
    pub n_listed: usize,
    /// Those that nobody mentioned for so long that lists leave them out.
    pub n_archived: usize,
}

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

    /// Open threads of one project or of all, in the order of [`Thread::rank`], at most `limit`.
    ///
    /// Archived ones come along if asked for.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn listed_threads(
        &self,
        project: Option<ProjectId>,
        now: Timestamp,
        with_archived: bool,
        limit: usize,
    ) -> Result<Vec<ListedThread>, StoreError> {
        self.read(|connection| {
            let mut listed = Vec::new();
            for place in 0..PLACES {
                let parts: &[&str] = match with_archived {
                    true => &["mentioned >= ?3", "mentioned IS NULL", "mentioned < ?3"],
                    false => &["mentioned >= ?3", "mentioned IS NULL"],
                };
                for part in parts {
                    if limit <= listed.len() {
                        return Ok(listed);
                    }
                    let rest = i64::try_from(limit - listed.len()).unwrap_or(i64::MAX);
                    list_part(connection, (project, place, part), now, rest, &mut listed)?;
                }
            }
            Ok(listed)
        })
    }

    /// How many threads of one project or of all are open.
    ///
    /// # Errors
    /// When they cannot be counted.
    pub fn n_open_threads(
        &self,
        project: Option<ProjectId>,
        now: Timestamp,
    ) -> Result<OpenThreads, StoreError> {
        let of_project = of_project(project);
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE mentioned < ?2) FROM thread \
             WHERE {of_project} AND is_open = 1"
        );
        let (n_open, n_archived): (i64, i64) = self.read(|connection| {
            connection
                .prepare_cached(&sql)?
                .query_row(params![project.map(|project| project.0), archived_before(now)], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
        })?;
        let n_archived = usize::try_from(n_archived).unwrap_or_default();
        let n_open = usize::try_from(n_open).unwrap_or_default();
        Ok(OpenThreads { n_listed: n_open.saturating_sub(n_archived), n_archived })
    }

    /// How many threads of a project lists show, of each priority: high, medium, low.
    ///
    /// # Errors
    /// When they cannot be counted.
    pub fn n_open_by_priority(
        &self,
        project: ProjectId,
        now: Timestamp,
    ) -> Result<[u32; N_PRIORITIES], StoreError> {
        let mut counts = [0; N_PRIORITIES];
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT place, count(*) FROM thread WHERE project = ?1 AND is_open = 1 \
                 AND (mentioned IS NULL OR ?2 <= mentioned) GROUP BY place",
            )?;
            let mut rows = statement.query(params![project.0, archived_before(now)])?;
            while let Some(row) = rows.next()? {
                let (place, n): (u8, u32) = (row.get(0)?, row.get(1)?);
                // Places of one priority lie together.
                let of_each = usize::from(PLACES) / N_PRIORITIES;
                if let Some(count) = counts.get_mut(usize::from(place) / of_each) {
                    *count += n;
                }
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// The thread with this id, and the name of its project.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn thread(&self, id: &ThreadId) -> Result<Option<ListedThread>, StoreError> {
        self.read(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT thread, key, name FROM thread JOIN project ON project.id = project \
                     WHERE thread.id = ?1",
                )?
                .query_row([&id.0], |row| Ok((of_row(row)?, row.get(2)?)))
                .optional()?;
            found.map(|(thread, name)| listed(connection, thread, name)).transpose()
        })
    }

    /// The shortest beginning of `id` that begins no other thread's id, and has at least four letters of its own.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn short_thread_id(&self, id: &ThreadId) -> Result<String, StoreError> {
        const LEAST: usize = "t-".len() + 4;
        let neighbours: (Option<String>, Option<String>) = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT (SELECT max(id) FROM thread WHERE id < ?1), (SELECT min(id) FROM thread WHERE id > ?1)",
                )?
                .query_row([&id.0], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        let n_common = |other: &String| {
            let common = id.0.chars().zip(other.chars()).take_while(|(own, other)| own == other);
            1 + common.count()
        };
        let least = [neighbours.0, neighbours.1].iter().flatten().map(n_common).max().unwrap_or(LEAST);
        Ok(id.0.chars().take(least.max(LEAST)).collect())
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
                event.at.map(Timestamp::as_millisecond),
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
pub(super) fn replay(tx: &Transaction<'_>, id: &str, project: Option<ProjectId>) -> rusqlite::Result<()> {
    let events = events_of(tx, id)?;
    let Some(thread) = Thread::replay(&events) else {
        tx.execute("DELETE FROM thread_wait WHERE thread = ?1", [id])?;
        tx.execute("DELETE FROM thread WHERE id = ?1", [id])?;
        return place_again(tx, id);
    };
    let known: Option<(i64, bool)> = tx
        .prepare_cached("SELECT project, is_open FROM thread WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let was_open = known.is_some_and(|(_, was_open)| was_open);
    let project = known.map(|(project, _)| project).or(project.map(|project| project.0));
    let Some(project) = project else { return Ok(()) };
    tx.prepare_cached("DELETE FROM thread_wait WHERE thread = ?1")?.execute([id])?;
    for blocker in &thread.blocked_by {
        tx.prepare_cached("INSERT INTO thread_wait (blocker, thread) VALUES (?1, ?2)")?
            .execute([&blocker.0, id])?;
    }
    put(tx, &thread, project)?;
    if was_open != thread.is_open() {
        place_again(tx, id)?;
    }
    Ok(())
}

/// Makes a thread again after sessions that told of it were forgotten. What was said of it by hand goes with it when no
/// other session tells of it.
pub fn forget_events(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    replay(tx, id, None)?;
    if tx.prepare_cached("SELECT 1 FROM thread WHERE id = ?1")?.exists([id])? {
        return Ok(());
    }
    tx.execute("DELETE FROM thread_event WHERE thread = ?1 AND session IS NULL", [id]).map(drop)
}

/// Stores what the events of a thread left it as; it stays in the project that it came up in.
fn put(tx: &Transaction<'_>, thread: &Thread, project: i64) -> rusqlite::Result<()> {
    let text = serde_json::to_string(thread)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let waits = !waits_for(tx, thread)?.is_empty();
    tx.prepare_cached(
        "INSERT INTO thread (id, project, is_open, place, mentioned, thread) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (id) DO UPDATE SET is_open = excluded.is_open, place = excluded.place, \
         mentioned = excluded.mentioned, thread = excluded.thread",
    )?
    .execute(params![
        thread.id.0,
        project,
        thread.is_open(),
        thread.place(waits),
        thread.last_mentioned.map(Timestamp::as_millisecond),
        text
    ])
    .map(drop)
}

/// Finds the place of the threads that wait for `blocker`, which was opened or closed.
fn place_again(tx: &Transaction<'_>, blocker: &str) -> rusqlite::Result<()> {
    let waiting: Vec<(String, i64)> = tx
        .prepare_cached(
            "SELECT thread.thread, thread.project FROM thread_wait JOIN thread ON thread.id = thread_wait.thread \
             WHERE blocker = ?1",
        )?
        .query_map([blocker], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    waiting.iter().try_for_each(|(text, project)| put(tx, &json(text)?, *project))
}

/// The open threads that `thread` waits for.
fn waits_for(connection: &Connection, thread: &Thread) -> rusqlite::Result<Vec<(ThreadId, String)>> {
    let mut found = Vec::new();
    for blocker in &thread.blocked_by {
        let text: Option<String> = connection
            .prepare_cached("SELECT thread FROM thread WHERE id = ?1 AND is_open = 1")?
            .query_row([&blocker.0], |row| row.get(0))
            .optional()?;
        if let Some(text) = text {
            found.push((blocker.clone(), json::<Thread>(&text)?.told().to_owned()));
        }
    }
    Ok(found)
}

fn listed(connection: &Connection, thread: Thread, project_name: String) -> rusqlite::Result<ListedThread> {
    let waits_for = waits_for(connection, &thread)?;
    Ok(ListedThread { thread, project_name, waits_for })
}

/// Adds the open threads of one place in lists, of which `part` tells the age.
fn list_part(
    connection: &Connection,
    (project, place, part): (Option<ProjectId>, u8, &str),
    now: Timestamp,
    limit: i64,
    found: &mut Vec<ListedThread>,
) -> rusqlite::Result<()> {
    let of_project = of_project(project);
    let sql = format!(
        "SELECT thread, key, name FROM thread JOIN project ON project.id = project \
         WHERE {of_project} AND is_open = 1 AND place = ?2 AND {part} ORDER BY mentioned DESC, thread.id LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let project = project.map(|project| project.0);
    let mut rows = statement.query(params![project, place, archived_before(now), limit])?;
    while let Some(row) = rows.next()? {
        found.push(listed(connection, of_row(row)?, row.get(2)?)?);
    }
    Ok(())
}

fn of_project(project: Option<ProjectId>) -> &'static str {
    if project.is_some() { "project = ?1" } else { "?1 IS NULL" }
}

/// What was mentioned last before this moment is archived, in milliseconds.
fn archived_before(now: Timestamp) -> i64 {
    now.checked_sub(ARCHIVED_AFTER).unwrap_or(Timestamp::MIN).as_millisecond()
}

/// The threads of one project or of all; see [`Store::threads`].
pub fn threads(
    connection: &Connection,
    project: Option<ProjectId>,
    is_open_only: bool,
) -> rusqlite::Result<Vec<Thread>> {
    let of_project = of_project(project);
    let open = if is_open_only { "AND is_open = 1" } else { "" };
    connection
        .prepare_cached(&format!(
            "SELECT thread, key FROM thread JOIN project ON project.id = project WHERE {of_project} {open}"
        ))?
        .query_map([project.map(|project| project.0)], of_row)?
        .collect()
}

/// Threads as they were read before: taking in many sessions, the same ones are asked for again and again.
#[derive(Debug, Default)]
pub struct KnownThreads {
    by_id: HashMap<String, KnownThread>,
}

/// A thread, and what it is about.
#[derive(Debug)]
pub struct KnownThread {
    /// The thread.
    pub thread: Thread,
    /// What its summary is about.
    pub gist: Gist,
    /// What it was read from.
    text: String,
}

impl KnownThreads {
    /// The threads of a project that were not archived yet at `time`, the closed ones too; all, if that is not known.
    pub fn at(
        &mut self,
        connection: &Connection,
        project: ProjectId,
        time: Option<Timestamp>,
    ) -> rusqlite::Result<Vec<&KnownThread>> {
        if MOST_KNOWN < self.by_id.len() {
            self.by_id.clear();
        }
        let mut select = connection.prepare_cached(
            "SELECT thread.id, thread, key FROM thread JOIN project ON project.id = project \
             WHERE project = ?1 AND mentioned >= ?2 \
             UNION ALL SELECT thread.id, thread, key FROM thread JOIN project ON project.id = project \
             WHERE project = ?1 AND mentioned IS NULL",
        )?;
        let mut rows = select.query(params![project.0, time.map_or(i64::MIN, archived_before)])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            let [id, text, key] =
                [row.get_ref(0)?, row.get_ref(1)?, row.get_ref(2)?].map(|value| value.as_str());
            let (id, text, key) = (id?, text?, key?);
            let is_known = |known: &KnownThread| known.text == text && known.thread.project == key;
            if !self.by_id.get(id).is_some_and(is_known) {
                let mut thread: Thread = json(text)?;
                key.clone_into(&mut thread.project);
                let gist = Gist::of(&thread.summary);
                self.by_id.insert(id.to_owned(), KnownThread { thread, gist, text: text.to_owned() });
            }
            ids.push(id.to_owned());
        }
        Ok(ids.iter().filter_map(|id| self.by_id.get(id)).collect())
    }
}

/// The events of a thread, in the order in which they count.
fn events_of(connection: &Connection, thread: &str) -> rusqlite::Result<Vec<ThreadEvent>> {
    let mut events = connection
        .prepare_cached("SELECT event FROM thread_event WHERE thread = ?1")?
        .query_map([thread], |row| json(&row.get::<_, String>(0)?))?
        .collect::<rusqlite::Result<Vec<ThreadEvent>>>()?;
    sort_events(&mut events);
    Ok(events)
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

pub(super) fn json<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
