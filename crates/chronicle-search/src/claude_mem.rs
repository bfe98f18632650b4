//! The database in which claude-mem keeps what its model wrote about sessions: read here, and never written.
//!
//! After `src/services/sqlite/SessionStore.ts` of `github.com/thedotmack/claude-mem` (e2d1df5): `sdk_sessions` has the
//! sessions of agents; `observations`, `session_summaries` and `user_prompts` belong to them.

use std::{collections::HashMap, path::Path, time::Duration};

use rusqlite::{Connection, Row};

use crate::document::opened_to_read;

/// How long is waited for claude-mem itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sessions, and rows of all of them, that are looked at: more were not written by claude-mem in one life.
const MOST_SESSIONS: usize = 200_000;
const MOST_ROWS: usize = 2_000_000;

/// So many items of one session are kept, the first ones, and so many characters of a text.
const MOST_ITEMS: usize = 500;
const LONGEST_TEXT: usize = 16 << 10;

/// The sessions in which claude-mem's own model worked.
const OWN_PROJECT: &str = "observer-sessions";

/// claude-mem's memory on this machine.
#[derive(Debug)]
pub struct ClaudeMem {
    connection: Connection,
}

/// What claude-mem keeps of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeMemSession {
    /// The id that the agent gave it.
    pub id: String,
    /// The agent: `claude`, `codex`, `cursor` and others.
    pub agent: String,
    /// The name of its project: that of the top folder, behind that of the repository and a slash in a worktree.
    pub project: String,
    /// The title that somebody gave it.
    pub title: Option<String>,
    /// What is kept, the oldest first.
    pub items: Vec<ClaudeMemItem>,
}

/// One thing that is kept of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeMemItem {
    /// What it is.
    pub kind: ClaudeMemKind,
    /// When it was stored, in milliseconds since 1970.
    pub at: Option<i64>,
    /// Its texts, in the order of the columns that [`ClaudeMemKind`] names; `None` for those that are missing or empty.
    pub texts: [Option<String>; 6],
}

/// What is kept of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeMemKind {
    /// What a hook passed on as a prompt: its text.
    Prompt,
    /// What the model saw in calls of tools: type, title, subtitle, narrative, a list of facts, a list of files.
    Observation,
    /// What the model says of a stretch of work: request, what was investigated, learned and completed, next steps, notes.
    Summary,
}

impl ClaudeMem {
    /// Opens the database, which has to be there.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: opened_to_read(path, PATIENCE)? })
    }

    /// Gives each session of which anything is kept to `on_session`, until that fails.
    ///
    /// Only one session is in memory at a time, and each table is read once, whether or not it has an index.
    ///
    /// # Errors
    /// When the database has another form, or `on_session` fails.
    pub fn each<E: From<rusqlite::Error>>(
        &self,
        on_session: &mut dyn FnMut(ClaudeMemSession) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sessions = self.sessions()?;
        let mut statement = self.connection.prepare(&self.items())?;
        let mut rows = statement.query([])?;
        let mut open: Option<(String, ClaudeMemSession)> = None;
        while let Some(row) = rows.next()? {
            let whose: String = row.get(0)?;
            if open.as_ref().is_none_or(|(name, _)| *name != whose) {
                if let Some((_, done)) = open.take() {
                    on_session(done)?;
                }
                open = sessions.remove(&whose).map(|session| (whose, session));
            }
            if let Some((_, session)) = &mut open
                && session.items.len() < MOST_ITEMS
            {
                session.items.push(ClaudeMemItem::of(row)?);
            }
        }
        open.map_or(Ok(()), |(_, done)| on_session(done))
    }

    /// The sessions by the names that their items have for them, without these.
    fn sessions(&self) -> rusqlite::Result<HashMap<String, ClaudeMemSession>> {
        let agent = if self.has("sdk_sessions", "platform_source") { "platform_source" } else { "NULL" };
        let title = if self.has("sdk_sessions", "custom_title") { "custom_title" } else { "NULL" };
        let text = |column| format!("substr(CAST({column} AS TEXT), 1, 400)");
        let [id, agent, project, title] = ["content_session_id", agent, "project", title].map(text);
        let find = format!(
            "SELECT CAST(memory_session_id AS TEXT), {id}, coalesce(nullif({agent}, ''), 'claude'), {project}, {title} \
             FROM sdk_sessions WHERE memory_session_id IS NOT NULL AND content_session_id IS NOT NULL \
             AND project IS NOT NULL AND project <> '{OWN_PROJECT}' ORDER BY id LIMIT {MOST_SESSIONS}"
        );
        let session = |row: &Row<'_>| {
            let title: Option<String> = row.get(4)?;
            let session = ClaudeMemSession {
                id: row.get(1)?,
                agent: row.get(2)?,
                project: row.get(3)?,
                title: title.filter(|title| !title.trim().is_empty()),
                items: Vec::new(),
            };
            Ok((row.get(0)?, session))
        };
        self.connection.prepare(&find)?.query_map([], session)?.collect()
    }

    /// All items, those of one session together.
    fn items(&self) -> String {
        let text = |column: &str| format!("substr(CAST({column} AS TEXT), 1, {LONGEST_TEXT})");
        let select = |kind: u8, whose: &str, table: &str, columns: [&str; 6]| {
            let columns = columns.map(text).join(", ");
            format!(
                "SELECT CAST({whose} AS TEXT) AS whose, CAST(item.created_at_epoch AS INTEGER) AS at, {kind} AS kind, \
                 item.id AS number, {columns} FROM {table}"
            )
        };
        let own = "memory_session_id";
        let observed =
            ["type", "title", "subtitle", "coalesce(nullif(narrative, ''), text)", "facts", "files_modified"];
        let summed = ["request", "investigated", "learned", "completed", "next_steps", "notes"];
        let mut all = vec![
            select(2, own, "observations AS item", observed),
            select(3, own, "session_summaries AS item", summed),
        ];
        if self.has("user_prompts", "prompt_text") {
            // Before its version 34, the id of the agent named the session, whichever agent that was.
            let by = match self.has("user_prompts", "session_db_id") {
                true => "session.id = item.session_db_id",
                false => "session.content_session_id = item.content_session_id",
            };
            let from = format!("user_prompts AS item JOIN sdk_sessions AS session ON {by}");
            let columns = ["item.prompt_text", "NULL", "NULL", "NULL", "NULL", "NULL"];
            all.push(select(1, "session.memory_session_id", &from, columns));
        }
        format!("{} ORDER BY whose, at, kind, number LIMIT {MOST_ROWS}", all.join(" UNION ALL "))
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.connection.prepare(&format!("SELECT {column} FROM {table} LIMIT 0")).is_ok()
    }
}

impl ClaudeMemItem {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |index| -> rusqlite::Result<Option<String>> {
            let text: Option<String> = row.get(index)?;
            Ok(text.filter(|text| !text.trim().is_empty()))
        };
        let kind = match row.get(2)? {
            1 => ClaudeMemKind::Prompt,
            2 => ClaudeMemKind::Observation,
            _ => ClaudeMemKind::Summary,
        };
        let texts = [text(4)?, text(5)?, text(6)?, text(7)?, text(8)?, text(9)?];
        Ok(Self { kind, at: row.get(1)?, texts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What matters of the tables of its version 13.
    const TABLES: &str = "
        CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
            memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude',
            user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, custom_title TEXT);
        CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT,
            text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
            files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
        CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT,
            request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,
            created_at TEXT, created_at_epoch INTEGER);";
    const PROMPTS: &str = "CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER,
            content_session_id TEXT NOT NULL, prompt_number INTEGER, prompt_text TEXT, created_at_epoch INTEGER);";
    const OLDER_PROMPTS: &str = "CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT,
            content_session_id TEXT NOT NULL, prompt_number INTEGER, prompt_text TEXT, created_at_epoch INTEGER);";
    const ROWS: &str = "
        INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, custom_title) VALUES
            ('c-2', 'm-2', 'shop/fix', ''), ('c-1', 'm-1', 'shop', 'The pool'), ('c-3', NULL, 'shop', NULL),
            ('c-4', 'm-4', 'observer-sessions', NULL), ('c-5', 'm-5', 'empty', NULL);
        INSERT INTO observations (memory_session_id, text, type, title, narrative, facts, files_modified, created_at_epoch)
            VALUES ('m-1', NULL, 'bugfix', 'It waited', 'Two locks.', '[\"a\"]', '[\"pool.rs\"]', 20),
            ('m-2', 'Older words', 'change', NULL, '', NULL, NULL, 5), ('m-4', 'own', 'change', 'x', 'x', NULL, NULL, 1),
            ('gone', 'nobody', 'change', 'x', 'x', NULL, NULL, 1);
        INSERT INTO session_summaries (memory_session_id, request, next_steps, created_at_epoch)
            VALUES ('m-1', 'Bound the pool', ' ', 30);";

    fn told(sql: &str) -> rusqlite::Result<Vec<ClaudeMemSession>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("claude-mem.db");
        Connection::open(&path).expect("it is made").execute_batch(sql).expect("it is filled");
        let mut found = Vec::new();
        ClaudeMem::open(&path)?.each::<rusqlite::Error>(&mut |session| {
            found.push(session);
            Ok(())
        })?;
        Ok(found)
    }

    fn item(kind: ClaudeMemKind, at: i64, texts: [&str; 6]) -> ClaudeMemItem {
        let texts = texts.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        ClaudeMemItem { kind, at: Some(at), texts }
    }

    fn expected() -> Vec<ClaudeMemSession> {
        let session = |id: &str, project: &str, title: Option<&str>, items| ClaudeMemSession {
            id: id.to_owned(),
            agent: "claude".to_owned(),
            project: project.to_owned(),
            title: title.map(str::to_owned),
            items,
        };
        let first = vec![
            item(ClaudeMemKind::Prompt, 10, ["bound it", "", "", "", "", ""]),
            item(
                ClaudeMemKind::Observation,
                20,
                ["bugfix", "It waited", "", "Two locks.", "[\"a\"]", "[\"pool.rs\"]"],
            ),
            item(ClaudeMemKind::Summary, 30, ["Bound the pool", "", "", "", "", ""]),
        ];
        let second = vec![item(ClaudeMemKind::Observation, 5, ["change", "", "", "Older words", "", ""])];
        vec![session("c-1", "shop", Some("The pool"), first), session("c-2", "shop/fix", None, second)]
    }

    #[test]
    fn what_is_kept_of_sessions_comes_session_by_session() {
        let prompt = "INSERT INTO user_prompts (session_db_id, content_session_id, prompt_text, created_at_epoch) \
            VALUES (2, 'c-1', 'bound it', 10), (9, 'c-9', 'whose?', 10);";
        assert_eq!(told(&format!("{TABLES}{PROMPTS}{ROWS}{prompt}")), Ok(expected()));
        let older = "INSERT INTO user_prompts (content_session_id, prompt_text, created_at_epoch) \
            VALUES ('c-1', 'bound it', 10);";
        assert_eq!(told(&format!("{TABLES}{OLDER_PROMPTS}{ROWS}{older}")), Ok(expected()));
    }

    #[test]
    fn tables_of_another_form_are_an_error_and_ones_that_compute_are_not_read() {
        assert!(told("CREATE TABLE sdk_sessions (id INTEGER, sdk_session_id TEXT)").is_err());
        assert!(told("CREATE TABLE other (a)").is_err());
        assert_eq!(told(TABLES), Ok(Vec::new()));
        let endless = "CREATE VIEW observations AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
            SELECT i AS id FROM n;";
        let without = TABLES.replace("CREATE TABLE observations", "CREATE TABLE others");
        assert!(told(&format!("{without}{endless}")).is_err());
    }
}
