//! The database that Goose keeps its sessions in: read here, and never written.
//!
//! After `crates/goose/src/session/session_manager.rs` of `github.com/block/goose`.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::document::{SessionDocument, opened_to_read};

/// How long is waited for Goose itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sessions of Goose on this machine.
#[derive(Debug)]
pub struct GooseSessions {
    connection: Connection,
}

impl GooseSessions {
    /// Opens the database, which has to be there.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: opened_to_read(path, PATIENCE)? })
    }

    /// The ids of all sessions with a message, the oldest first.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn all(&self) -> rusqlite::Result<Vec<String>> {
        self.connection
            .prepare(
                "SELECT id FROM sessions WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id) \
                 ORDER BY created_at, id",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// When a session began, in milliseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn created(&self, id: &str) -> rusqlite::Result<Option<i64>> {
        let find = "SELECT CAST(strftime('%s', created_at) AS INTEGER) FROM sessions WHERE id = ?1";
        let seconds: Option<Option<i64>> =
            self.connection.query_row(find, [id], |row| row.get(0)).optional()?;
        Ok(seconds.flatten().map(|seconds| seconds.saturating_mul(1_000)))
    }

    /// How many bytes a session has, and when it changed last, in nanoseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn look(&self, id: &str) -> rusqlite::Result<Option<(u64, i64)>> {
        let find = "SELECT CAST(strftime('%s', updated_at) AS INTEGER), \
             (SELECT coalesce(sum(length(CAST(content_json AS BLOB))), 0) FROM messages WHERE session_id = ?1) \
             FROM sessions WHERE id = ?1";
        let looked = self.connection.query_row(find, [id], |row| {
            Ok((row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(0)?.unwrap_or_default()))
        });
        Ok(looked.optional()?.map(|(size, seconds)| {
            (u64::try_from(size).unwrap_or_default(), seconds.saturating_mul(1_000_000_000))
        }))
    }

    /// A session as one document: `{"goose": {…}, "messages": [{…}, …]}`.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn export(self, id: &str) -> rusqlite::Result<SessionDocument> {
        // The name came with the fourth version of the tables, the kind with the fifth.
        let has = |column| self.connection.prepare(&format!("SELECT {column} FROM sessions LIMIT 0")).is_ok();
        let name = if has("name") { "coalesce(nullif(name, ''), description)" } else { "description" };
        let kind = if has("session_type") { "session_type" } else { "'user'" };
        let recipe = if has("recipe_json") { "recipe_json" } else { "NULL" };
        let find = format!(
            "SELECT working_dir, {name}, {kind}, accumulated_input_tokens, accumulated_output_tokens, {recipe} \
             FROM sessions WHERE id = ?1"
        );
        let head = self.connection.query_row(&find, [id], |row| {
            let recipe: Option<String> = row.get(5)?;
            Ok(json!({
                "session_id": id,
                "working_dir": row.get::<_, Option<String>>(0)?,
                "name": row.get::<_, Option<String>>(1)?,
                "session_type": row.get::<_, Option<String>>(2)?,
                "tokens": {"input": row.get::<_, Option<i64>>(3)?, "output": row.get::<_, Option<i64>>(4)?},
                "recipe": recipe.and_then(|recipe| serde_json::from_str::<Value>(&recipe).ok()),
            }))
        });
        let Some(head) = head.optional()? else { return Ok(SessionDocument::nothing()) };
        let has_metadata = self.connection.prepare("SELECT metadata_json FROM messages LIMIT 0").is_ok();
        let metadata = if has_metadata { "metadata_json" } else { "NULL" };
        let (connection, id, mut last) = (self.connection, id.to_owned(), i64::MIN);
        let find = format!(
            "SELECT rowid, role, created_timestamp, content_json, {metadata} FROM messages \
             WHERE session_id = ?1 AND ?2 < rowid ORDER BY rowid LIMIT 1"
        );
        let next = move || {
            let message = connection.prepare_cached(&find)?.query_row(rusqlite::params![id, last], |row| {
                let (number, role): (i64, String) = (row.get(0)?, row.get(1)?);
                let (created, content): (Option<i64>, String) = (row.get(2)?, row.get(3)?);
                let metadata: Option<String> = row.get(4)?;
                Ok((number, role, created, content, metadata))
            });
            let Some((number, role, created, content, metadata)) = message.optional()? else {
                return Ok(None);
            };
            last = number;
            // Content that is no JSON would break the whole document.
            let parsed = |text: &str| serde_json::from_str::<Box<serde_json::value::RawValue>>(text).ok();
            let head = json!({"id": format!("{id}-{number}"), "role": role, "created": created}).to_string();
            let mut text = head.trim_end_matches('}').to_owned();
            for (name, json) in [("content", Some(content)), ("metadata", metadata)] {
                if let Some(json) = json.as_deref().and_then(parsed) {
                    text.push_str(&format!(",\"{name}\":{}", json.get()));
                }
            }
            text.push('}');
            Ok(Some(text.into_bytes()))
        };
        Ok(SessionDocument::new(&format!("\"goose\":{head}"), next))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    const MESSAGES: &str = "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, \
        content_json TEXT, created_timestamp INTEGER, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP";

    fn told(sql: &str) -> Value {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sessions.db");
        Connection::open(&path).expect("it is made").execute_batch(sql).expect("it is filled");
        let sessions = GooseSessions::open(&path).expect("it opens");
        assert_eq!(sessions.all().expect("they are listed"), ["20260301_1"]);
        let looked = sessions.look("20260301_1").expect("it is looked at").expect("it is there");
        assert_eq!(looked.1, 1_772_366_400_000_000_000);
        assert_eq!(sessions.look("none").expect("it is looked at"), None);
        let mut text = String::new();
        sessions.export("20260301_1").expect("it is there").read_to_string(&mut text).expect("it is read");
        serde_json::from_str(&text).expect("it is JSON")
    }

    #[test]
    fn a_session_of_either_version_is_one_document() {
        let columns = "id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TIMESTAMP, \
            updated_at TIMESTAMP, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER";
        let row = "'20260301_1', 'Pool', '/w', '2026-03-01 11:00:00', '2026-03-01 12:00:00', 10, 2";
        let newer = told(&format!(
            "CREATE TABLE sessions ({columns}, name TEXT, session_type TEXT, recipe_json TEXT); {MESSAGES}, metadata_json TEXT); \
             INSERT INTO sessions VALUES ({row}, 'Bound the pool', 'user', '{{\"prompt\":\"bound it\"}}'), \
               ('empty', '', '/w', '2026-03-01', '2026-03-01', 0, 0, '', 'user', NULL); \
             INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES \
               ('20260301_1', 'user', '[{{\"type\":\"text\",\"text\":\"bound it\"}}]', 7, '{{\"userVisible\":true}}'), \
               ('20260301_1', 'assistant', 'nonsense', 8, NULL);"
        ));
        assert_eq!(
            newer,
            json!({
                "goose": {"session_id": "20260301_1", "working_dir": "/w", "name": "Bound the pool",
                    "session_type": "user", "tokens": {"input": 10, "output": 2}, "recipe": {"prompt": "bound it"}},
                "messages": [
                    {"id": "20260301_1-1", "role": "user", "created": 7,
                        "content": [{"type": "text", "text": "bound it"}], "metadata": {"userVisible": true}},
                    {"id": "20260301_1-2", "role": "assistant", "created": 8},
                ],
            })
        );
        let older = told(&format!(
            "CREATE TABLE sessions ({columns}); {MESSAGES}); INSERT INTO sessions VALUES ({row}); \
             INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20260301_1', 'user', '[]', 7);"
        ));
        assert_eq!((&older["goose"]["name"], &older["messages"][0]["content"]), (&json!("Pool"), &json!([])));
        assert_eq!(older["goose"]["recipe"], Value::Null);
    }
}
