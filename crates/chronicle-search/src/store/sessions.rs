//! Sessions.

use std::collections::{BTreeSet, HashSet};

use chronicle_core::thread::ThreadEvent;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::ids::{ProjectId, SessionId, TurnKind};

/// What is kept of a session beside its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The agent it was led with.
    pub agent: String,
    /// The id that the agent gave it.
    pub name: String,
    /// The session it belongs to: that of a sub-agent, or the one it was forked from.
    pub parent: Option<String>,
    /// Whether a sub-agent led it, and no human.
    pub is_sub_agent: bool,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The folder it worked in.
    pub folder: String,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// When it began.
    pub first: Option<Timestamp>,
    /// When it ended.
    pub last: Option<Timestamp>,
    /// What it was about, in few words.
    pub title: String,
    /// From 1 to 5.
    pub importance: u8,
    /// How often a human spoke.
    pub n_prompts: u64,
    /// The whole digest, as JSON; empty until the session was read to its end.
    pub digest: String,
}

/// A session and its name in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSession {
    /// Names it in the store.
    pub id: SessionId,
    /// What is kept of it.
    pub record: SessionRecord,
}

/// The columns of a session, in the order in which `NamedSession::of_row` takes them.
pub(super) const COLUMNS: &str = "session.id, agent, session.name, parent, is_sub_agent, project, folder, branch, \
     model, first, last, title, importance, n_prompts, digest";

/// How a digest says that a program ran its session; in a text of it the quotes would be escaped.
const HEADLESS: &str = r#""is_headless":true"#;

impl SessionRecord {
    /// Stores it, in the place of what was known of the same session.
    pub fn put(&self, tx: &Transaction<'_>) -> rusqlite::Result<SessionId> {
        // What was learned was learned from another digest.
        tx.prepare_cached(
            "DELETE FROM learned WHERE session = \
             (SELECT id FROM session WHERE agent = ?1 AND name = ?2 AND digest <> ?3)",
        )?
        .execute([&self.agent, &self.name, &self.digest])?;
        tx.prepare_cached(
            "INSERT INTO session (agent, name, parent, is_sub_agent, project, folder, branch, model, \
             first, last, title, importance, n_prompts, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
             ON CONFLICT (agent, name) DO UPDATE SET parent = excluded.parent, \
             is_sub_agent = excluded.is_sub_agent, project = excluded.project, folder = excluded.folder, \
             branch = excluded.branch, model = excluded.model, first = excluded.first, \
             last = excluded.last, title = excluded.title, importance = excluded.importance, \
             n_prompts = excluded.n_prompts, digest = excluded.digest \
             RETURNING id",
        )?
        .query_row(
            params![
                self.agent,
                self.name,
                self.parent,
                self.is_sub_agent,
                self.project.0,
                self.folder,
                self.branch,
                self.model,
                self.first.map(Timestamp::as_millisecond),
                self.last.map(Timestamp::as_millisecond),
                self.title,
                self.importance,
                i64::try_from(self.n_prompts).unwrap_or(i64::MAX),
                self.digest,
            ],
            |row| row.get(0).map(SessionId),
        )
    }
}

impl SessionRecord {
    /// Whether another session of the project that began before has `title`. Forks and copies begin at the same time.
    pub fn shares(&self, connection: &Connection, title: &str) -> rusqlite::Result<bool> {
        let namesake = self.namesake(connection, title, "<")?;
        Ok(namesake.is_some())
    }

    /// The first session of the project that began later and has the same title.
    pub fn later_namesake(&self, connection: &Connection) -> rusqlite::Result<Option<NamedSession>> {
        self.namesake(connection, &self.title, ">")
    }

    fn namesake(
        &self,
        connection: &Connection,
        title: &str,
        order: &str,
    ) -> rusqlite::Result<Option<NamedSession>> {
        let first = self.first.map_or(i64::MAX, Timestamp::as_millisecond);
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE project = ?1 AND title = ?2 AND NOT is_sub_agent \
                 AND coalesce(first, {max}) {order} ?3 \
                 ORDER BY coalesce(first, {max}), name LIMIT 1",
                max = i64::MAX
            ))?
            .query_row(params![self.project.0, title, first], NamedSession::of_row)
            .optional()
    }
}

impl NamedSession {
    /// The session that `agent` gave this name.
    pub fn by_name(connection: &Connection, agent: &str, name: &str) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE agent = ?1 AND name = ?2"))?
            .query_row([agent, name], Self::of_row)
            .optional()
    }

    /// The sessions of a project that began at that moment.
    pub fn begun_at(
        connection: &Connection,
        project: ProjectId,
        first: Timestamp,
    ) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE project = ?1 AND first = ?2 ORDER BY id"
            ))?
            .query_map([project.0, first.as_millisecond()], Self::of_row)?
            .collect()
    }

    /// The session with this id in the store.
    pub fn by_id(connection: &Connection, id: SessionId) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"))?
            .query_row([id.0], Self::of_row)
            .optional()
    }

    /// The sessions whose names begin with `start`, whichever agent led them; at most `limit`.
    pub fn by_start(connection: &Connection, start: &str, limit: usize) -> rusqlite::Result<Vec<Self>> {
        // A range of the index: `LIKE` would look at every name.
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE name >= ?1 AND name < ?1 || char(1114111) \
                 ORDER BY name LIMIT ?2"
            ))?
            .query_map(params![start, i64::try_from(limit).unwrap_or(i64::MAX)], Self::of_row)?
            .collect()
    }

    /// The sessions that humans led, the latest first: of one project or of all, not before `since`; at most `limit`.
    pub fn latest(
        connection: &Connection,
        project: Option<ProjectId>,
        since: Option<Timestamp>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Self>> {
        let of_project = if project.is_some() { "project = ?1" } else { "?1 IS NULL" };
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE {of_project} AND NOT is_sub_agent \
                 AND (?2 IS NULL OR last >= ?2) ORDER BY last DESC, id DESC LIMIT ?3"
            ))?
            .query_map(
                params![
                    project.map(|project| project.0),
                    since.map(Timestamp::as_millisecond),
                    i64::try_from(limit).unwrap_or(i64::MAX)
                ],
                Self::of_row,
            )?
            .collect()
    }

    /// How many sessions humans led, not before `since`.
    pub fn count(connection: &Connection, since: Option<Timestamp>) -> rusqlite::Result<usize> {
        let count: i64 = connection
            .prepare_cached(
                "SELECT count(*) FROM session WHERE NOT is_sub_agent AND (?1 IS NULL OR last >= ?1)",
            )?
            .query_row([since.map(Timestamp::as_millisecond)], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The sessions that humans led and that ended from one moment up to another, in that order.
    pub fn ended_between(
        connection: &Connection,
        from: Timestamp,
        to: Timestamp,
    ) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE NOT is_sub_agent AND ?1 <= last AND last < ?2 \
                 AND (0 < n_prompts OR title <> '') ORDER BY last, agent, session.name"
            ))?
            .query_map([from.as_millisecond(), to.as_millisecond()], Self::of_row)?
            .collect()
    }

    /// Of every session that humans led and that tells something, in a lasting order: a hash of its name, when it ended,
    /// and a hash of what digests of days tell of it.
    pub fn marks(connection: &Connection) -> rusqlite::Result<Vec<(i64, Option<Timestamp>, i64)>> {
        connection
            .prepare_cached(
                "SELECT agent, session.name, last, project.name, branch, title, importance, n_prompts, digest, \
                 (SELECT count(*) FROM thread_event WHERE thread_event.session = session.id) \
                 FROM session JOIN project ON project.id = project WHERE NOT is_sub_agent \
                 AND (0 < n_prompts OR title <> '') ORDER BY last, agent, session.name",
            )?
            .query_map([], |row| {
                let name = format!("{}\n{}", row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                let last: Option<i64> = row.get(2)?;
                let mut told = String::new();
                for column in [3, 4, 5, 8] {
                    told.push_str(&row.get::<_, Option<String>>(column)?.unwrap_or_default());
                    told.push('\n');
                }
                for column in [6, 7, 9] {
                    told.push_str(&row.get::<_, i64>(column)?.to_string());
                    told.push('\n');
                }
                let last = last.and_then(|last| Timestamp::from_millisecond(last).ok());
                Ok((crate::key(&name), last, crate::key(&told)))
            })?
            .collect()
    }

    /// The sessions that humans led and that something refers to: they made a commit, told of a thread, or are among
    /// those named.
    pub fn cited(connection: &Connection, named: &BTreeSet<String>) -> rusqlite::Result<Vec<Self>> {
        let sessions = connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS}, EXISTS (SELECT 1 FROM made_commit WHERE made_commit.session = session.id) \
                 OR EXISTS (SELECT 1 FROM thread_event WHERE thread_event.session = session.id) \
                 FROM session WHERE NOT is_sub_agent ORDER BY id"
            ))?
            .query_map([], |row| Ok((Self::of_row(row)?, row.get::<_, bool>(15)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let is_cited = |(session, is_cited): &(Self, bool)| *is_cited || named.contains(&session.record.name);
        Ok(sessions.into_iter().filter(is_cited).map(|(session, _)| session).collect())
    }

    /// The names of the sessions with a turn whose text, or answer, `says` something.
    pub fn with_words(
        connection: &Connection,
        says: impl Fn(&[u8]) -> bool,
    ) -> rusqlite::Result<Vec<String>> {
        let mut query = connection.prepare(
            "SELECT session.name, turn.text, turn.answer FROM turn JOIN session ON session.id = turn.session \
             ORDER BY session.id",
        )?;
        let mut rows = query.query([])?;
        let mut names: Vec<String> = Vec::new();
        while let Some(row) = rows.next()? {
            let is_last = |name: &str| names.last().is_some_and(|last| last == name);
            let name = row.get_ref(0)?.as_str()?;
            if !is_last(name)
                && (says(row.get_ref(1)?.as_bytes()?)
                    || says(row.get_ref(2)?.as_bytes_or_null()?.unwrap_or_default()))
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// The sessions that ended before a moment, whoever led them.
    pub fn ended_before(connection: &Connection, moment: Timestamp) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE last < ?1 ORDER BY id"))?
            .query_map([moment.as_millisecond()], Self::of_row)?
            .collect()
    }

    /// The sessions that tell something, the latest first: of one project or of all, on one branch or on any;
    /// at most `limit`.
    ///
    /// Those without a time, or with one after `until`, come last: some clock was wrong. What programs ran comes behind
    /// everything else.
    pub fn latest_talks(
        connection: &Connection,
        (project, branch): (Option<ProjectId>, Option<&str>),
        until: Timestamp,
        limit: usize,
    ) -> rusqlite::Result<Vec<Self>> {
        let of_project = if project.is_some() { "project = ?1" } else { "?1 IS NULL" };
        let of_branch = if branch.is_some() { "branch = ?2" } else { "?2 IS NULL" };
        let mut found = Vec::new();
        let parts = ["last <= ?3", "last > ?3", "last IS NULL"];
        let whose =
            ["NOT", ""].into_iter().flat_map(|whose| parts.into_iter().map(move |part| (whose, part)));
        for (whose, part) in whose {
            let rest = i64::try_from(limit.saturating_sub(found.len())).unwrap_or(i64::MAX);
            if rest == 0 {
                break;
            }
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE {of_project} AND {of_branch} AND NOT is_sub_agent \
                 AND {part} AND (0 < n_prompts OR title <> '') AND {whose} instr(digest, '{HEADLESS}') \
                 ORDER BY last DESC, id DESC LIMIT ?4"
            ))?;
            let project = project.map(|project| project.0);
            let rows = statement
                .query_map(params![project, branch, until.as_millisecond(), rest], Self::of_row)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// What the session did to threads, in the order in which it was told.
    pub fn thread_events(&self, connection: &Connection) -> rusqlite::Result<Vec<ThreadEvent>> {
        connection
            .prepare_cached("SELECT event FROM thread_event WHERE session = ?1 ORDER BY at, id")?
            .query_map([self.id.0], |row| super::threads::json(&row.get::<_, String>(0)?))?
            .collect()
    }

    /// The sessions of the sub-agents of the session named `parent`.
    pub fn sub_agents(connection: &Connection, agent: &str, parent: &str) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE agent = ?1 AND parent = ?2 AND is_sub_agent ORDER BY id"
            ))?
            .query_map([agent, parent], Self::of_row)?
            .collect()
    }

    /// How often a session changed which files, the most changed first; those that its sub-agents changed among them.
    pub fn files(&self, connection: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
        connection
            .prepare_cached(
                "SELECT path, sum(n_changes) FROM changed_file JOIN session ON session.id = session \
                 WHERE session.id = ?1 OR (agent = ?2 AND parent = ?3 AND is_sub_agent) \
                 GROUP BY path ORDER BY 2 DESC, 1",
            )?
            .query_map(params![self.id.0, self.record.agent, self.record.name], |row| {
                Ok((row.get(0)?, u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default()))
            })?
            .collect()
    }

    /// The files that it changed itself, and how often.
    pub fn own_files(&self, connection: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
        connection
            .prepare_cached("SELECT path, n_changes FROM changed_file WHERE session = ?1 ORDER BY path")?
            .query_map([self.id.0], |row| {
                Ok((row.get(0)?, u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default()))
            })?
            .collect()
    }

    /// The session that comes after one, in the order in which they were stored.
    pub fn next(connection: &Connection, after: Option<SessionId>) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE id > ?1 ORDER BY id LIMIT 1"))?
            .query_row([after.map_or(i64::MIN, |after| after.0)], Self::of_row)
            .optional()
    }

    /// The threads that the session told of.
    pub fn threads(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare_cached("SELECT DISTINCT thread FROM thread_event WHERE session = ?1 ORDER BY thread")?
            .query_map([self.id.0], |row| row.get(0))?
            .collect()
    }

    /// Where in it commits were made, in order, with what git printed of their ids.
    pub fn commit_turns(&self, connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
        let has_commits =
            connection.prepare_cached("SELECT 1 FROM made_commit WHERE session = ?1")?.exists([self.id.0])?;
        if !has_commits {
            return Ok(Vec::new());
        }
        let first_word = |text: String| text.split(' ').next().unwrap_or_default().to_owned();
        connection
            .prepare_cached(
                "SELECT position, text FROM turn WHERE session = ?1 AND kind = ?2 ORDER BY position, id",
            )?
            .query_map(params![self.id.0, TurnKind::Commit as u8], |row| {
                Ok((row.get(0)?, first_word(row.get(1)?)))
            })?
            .collect()
    }

    /// The sessions of a project that made this commit, as git told them its id, however short.
    pub fn that_committed(
        connection: &Connection,
        project: ProjectId,
        commit: &str,
    ) -> rusqlite::Result<Vec<Self>> {
        const SHORTEST: usize = 7;
        let mut statement = connection.prepare_cached("SELECT session FROM made_commit WHERE hash = ?1")?;
        let mut found: Vec<Self> = Vec::new();
        for length in SHORTEST..=commit.len() {
            let Some(hash) = commit.get(..length) else { continue };
            let ids: Vec<i64> = statement.query_map([hash], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for id in ids {
                if let Some(session) = Self::by_id(connection, SessionId(id))?
                    && session.record.project == project
                    && found.iter().all(|known| known.id != session.id)
                {
                    found.push(session);
                }
            }
        }
        Ok(found)
    }

    /// How many turns of it are stored.
    pub fn n_turns(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let count: i64 = connection
            .prepare_cached("SELECT count(*) FROM turn WHERE session = ?1")?
            .query_row([self.id.0], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Removes it with everything that only it says, and remembers not to take it in again.
    ///
    /// The threads that it told of are to be replayed afterwards; they are returned.
    pub fn forget(&self, tx: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
        super::turns::forget_all(tx, self.id)?;
        let threads = self.remove(tx)?;
        tx.execute(
            "INSERT OR IGNORE INTO forgotten (agent, name) VALUES (?1, ?2)",
            [&self.record.agent, &self.record.name],
        )?;
        Ok(threads)
    }

    /// Removes it with everything that only it says; it may come back. The threads that it told of are returned.
    pub fn remove(&self, tx: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
        let id = self.id.0;
        let threads = tx
            .prepare_cached("SELECT DISTINCT thread FROM thread_event WHERE session = ?1")?
            .query_map([id], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        super::turns::remove_all(tx, self.id)?;
        tx.execute("UPDATE source SET session = NULL, tally = '' WHERE session = ?1", [id])?;
        for table in ["changed_file", "made_commit", "thread_event", "wording"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id])?;
        }
        let by = format!("{} {}", self.record.agent, self.record.name);
        super::handoffs::StoredHandoff::forget(tx, self.id, &by)?;
        tx.execute("DELETE FROM feedback WHERE what = 'title' AND (subject = ?1 OR substr(subject, 1, length(?1) + 1) = ?1 || ' ')",
            [&self.record.name],
        )?;
        tx.execute("DELETE FROM session WHERE id = ?1", [id])?;
        Ok(threads)
    }

    /// Takes away what was read of it, as its transcripts are to be read anew: turns of it are another session's.
    pub fn begin_anew(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let threads = self.threads(tx)?;
        super::turns::remove_all(tx, self.id)?;
        tx.execute("DELETE FROM thread_event WHERE session = ?1", [self.id.0])?;
        // Whatever keeps them from being read now, they are not as they were read.
        tx.execute("UPDATE source SET modified = -1 WHERE session = ?1", [self.id.0])?;
        threads.iter().try_for_each(|thread| super::threads::replay(tx, thread, None))
    }

    /// Whether a session was forgotten, and is not to come back.
    pub fn is_forgotten(connection: &Connection, agent: &str, name: &str) -> rusqlite::Result<bool> {
        connection
            .prepare_cached("SELECT 1 FROM forgotten WHERE agent = ?1 AND name = ?2")?
            .exists([agent, name])
    }

    /// The keys of the turns that were forgotten.
    pub fn forgotten_turns(connection: &Connection) -> rusqlite::Result<HashSet<i64>> {
        connection
            .prepare_cached("SELECT key FROM forgotten_turn")?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// The keys of its turns.
    pub fn turn_keys(&self, connection: &Connection) -> rusqlite::Result<HashSet<i64>> {
        connection
            .prepare_cached("SELECT key FROM turn WHERE session = ?1")?
            .query_map([self.id.0], |row| row.get(0))?
            .collect()
    }

    /// The names of the sessions that it goes on from: the one that it was forked from, and those before that. Its
    /// transcript has their words.
    pub fn forked_from(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        const MOST: usize = 100;
        let mut names = Vec::new();
        let mut parent = self.record.parent.clone();
        while let Some(name) = parent.filter(|name| names.len() < MOST && !names.contains(name)) {
            parent = Self::by_name(connection, &self.record.agent, &name)?.and_then(|one| one.record.parent);
            names.push(name);
        }
        Ok(names)
    }

    /// Says which files the session changed and how often, in the place of what was said before.
    pub fn put_files(
        tx: &Transaction<'_>,
        session: SessionId,
        files: impl IntoIterator<Item = (String, usize)>,
    ) -> rusqlite::Result<()> {
        tx.prepare_cached("DELETE FROM changed_file WHERE session = ?1")?.execute([session.0])?;
        let mut insert = tx.prepare_cached(
            "INSERT INTO changed_file (session, path, n_changes) VALUES (?1, ?2, ?3) \
             ON CONFLICT (session, path) DO UPDATE SET n_changes = excluded.n_changes",
        )?;
        for (path, n_changes) in files {
            insert.execute(params![session.0, path, i64::try_from(n_changes).unwrap_or(i64::MAX)])?;
        }
        Ok(())
    }

    /// Says which commits the session made: hash, branch and subject of each, in the place of what was said before.
    pub fn put_commits(
        tx: &Transaction<'_>,
        session: SessionId,
        commits: impl IntoIterator<Item = [String; 3]>,
    ) -> rusqlite::Result<()> {
        tx.prepare_cached("DELETE FROM made_commit WHERE session = ?1")?.execute([session.0])?;
        let mut insert = tx.prepare_cached(
            "INSERT INTO made_commit (session, hash, branch, subject) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (session, hash) DO UPDATE SET branch = excluded.branch, subject = excluded.subject",
        )?;
        for [hash, branch, subject] in commits {
            insert.execute(params![session.0, hash, branch, subject])?;
        }
        Ok(())
    }

    /// Says which further commits the session made; one that is known stays as it is.
    pub fn add_commits(&self, tx: &Transaction<'_>, commits: &[[String; 3]]) -> rusqlite::Result<()> {
        let mut insert = tx.prepare_cached(
            "INSERT OR IGNORE INTO made_commit (session, hash, branch, subject) VALUES (?1, ?2, ?3, ?4)",
        )?;
        commits.iter().try_for_each(|[hash, branch, subject]| {
            insert.execute(params![self.id.0, hash, branch, subject]).map(drop)
        })
    }

    /// The sessions that changed a file which is called so, whatever folder it is in, also by their sub-agents.
    pub fn that_changed(connection: &Connection, name: &str) -> rusqlite::Result<HashSet<SessionId>> {
        connection
            .prepare_cached(
                "SELECT DISTINCT coalesce(sender.id, one.id) FROM changed_file JOIN session AS one ON one.id = session \
                 LEFT JOIN session AS sender \
                 ON one.is_sub_agent AND sender.agent = one.agent AND sender.name = one.parent \
                 WHERE path = ?1 OR substr(path, -length(?1) - 1) = '/' || ?1",
            )?
            .query_map([name], |row| row.get(0).map(SessionId))?
            .collect()
    }

    /// The hashes of the commits that it made, as short as they are known.
    pub fn commits(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        connection
            .prepare_cached("SELECT hash FROM made_commit WHERE session = ?1")?
            .query_map([self.id.0], |row| row.get(0))?
            .collect()
    }

    pub(super) fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |index| -> rusqlite::Result<Option<Timestamp>> {
            let stored: Option<i64> = row.get(index)?;
            Ok(stored.and_then(|stored| Timestamp::from_millisecond(stored).ok()))
        };
        Ok(Self {
            id: SessionId(row.get(0)?),
            record: SessionRecord {
                agent: row.get(1)?,
                name: row.get(2)?,
                parent: row.get(3)?,
                is_sub_agent: row.get(4)?,
                project: ProjectId(row.get(5)?),
                folder: row.get(6)?,
                branch: row.get(7)?,
                model: row.get(8)?,
                first: time(9)?,
                last: time(10)?,
                title: row.get(11)?,
                importance: row.get(12)?,
                n_prompts: row.get::<_, i64>(13).map(|count| u64::try_from(count).unwrap_or_default())?,
                digest: row.get(14)?,
            },
        })
    }
}
