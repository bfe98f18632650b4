//! The database that `OpenCode` keeps its sessions in: read here, and never written.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::document::{SessionDocument, opened_to_read};

/// How long is waited for `OpenCode` itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sessions of `OpenCode` on this machine, as its version 1.18 keeps them.
#[derive(Debug)]
pub struct OpenCodeSessions {
    connection: Connection,
}

impl OpenCodeSessions {
    /// Opens the database, which has to be there.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: opened_to_read(path, PATIENCE)? })
    }

    /// The ids of all sessions, the oldest first.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn all(&self) -> rusqlite::Result<Vec<String>> {
        self.connection
            .prepare("SELECT id FROM session ORDER BY time_created, id")?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// When a session began, in milliseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn created(&self, id: &str) -> rusqlite::Result<Option<i64>> {
        let find = "SELECT time_created FROM session WHERE id = ?1";
        self.connection.query_row(find, [id], |row| row.get(0)).optional()
    }

    /// How many bytes a session has, and when it changed last, in nanoseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn look(&self, id: &str) -> rusqlite::Result<Option<(u64, i64)>> {
        let find = "SELECT length(CAST(title AS BLOB)), time_updated FROM session WHERE id = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let Some((mut size, mut updated)) = self.connection.query_row(find, [id], row).optional()? else {
            return Ok(None);
        };
        for table in ["message", "part"] {
            let sum = format!(
                "SELECT coalesce(sum(length(CAST(data AS BLOB))), 0), coalesce(max(time_updated), 0) \
                 FROM {table} WHERE session_id = ?1"
            );
            let (more, later) = self.connection.query_row(&sum, [id], row)?;
            size = size.saturating_add(more);
            updated = updated.max(later);
        }
        Ok(Some((u64::try_from(size).unwrap_or_default(), updated.saturating_mul(1_000_000))))
    }

    /// A session in the form that `opencode export` gives it:
    /// `{"info": {…}, "messages": [{"info": {…}, "parts": [{…}, …]}, …]}`.
    ///
    /// # Errors
    /// When the database has another form.
    pub fn export(self, id: &str) -> rusqlite::Result<SessionDocument> {
        let find = "SELECT parent_id, directory, title, version, time_created, time_updated FROM session WHERE id = ?1";
        let info = self.connection.query_row(find, [id], |row| {
            Ok(json!({
                "id": id,
                "parentID": row.get::<_, Option<String>>(0)?,
                "directory": row.get::<_, String>(1)?,
                "title": row.get::<_, String>(2)?,
                "version": row.get::<_, String>(3)?,
                "time": {"created": row.get::<_, i64>(4)?, "updated": row.get::<_, i64>(5)?},
            }))
        });
        let Some(info) = info.optional()? else { return Ok(SessionDocument::nothing()) };
        let (connection, id, mut last) = (self.connection, id.to_owned(), (i64::MIN, String::new()));
        let next = move || {
            let Some(message) = message_after(&connection, &id, &last)? else { return Ok(None) };
            let text = message.text(&connection)?;
            last = (message.created, message.id);
            Ok(Some(text.into_bytes()))
        };
        Ok(SessionDocument::new(&format!("\"info\":{info}"), next))
    }
}

/// A row of messages.
struct Message {
    id: String,
    created: i64,
    data: String,
}

/// The message of a session after the one that was made at this time and has this id.
fn message_after(
    connection: &Connection,
    session: &str,
    (at, id): &(i64, String),
) -> rusqlite::Result<Option<Message>> {
    let find = "SELECT id, time_created, data FROM message WHERE session_id = ?1 \
                AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT 1";
    let message = connection.prepare_cached(find)?.query_row(params![session, at, id], |row| {
        Ok(Message { id: row.get(0)?, created: row.get(1)?, data: row.get(2)? })
    });
    message.optional()
}

impl Message {
    /// The message with its parts.
    fn text(&self, connection: &Connection) -> rusqlite::Result<String> {
        let mut parts =
            connection.prepare_cached("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let parts = parts
            .query_map([&self.id], |row| Ok(named(&row.get::<_, String>(1)?, &row.get::<_, String>(0)?)))?;
        let parts = parts.collect::<rusqlite::Result<Vec<_>>>()?.join(",");
        Ok(format!("{{\"info\":{},\"parts\":[{parts}]}}", named(&self.data, &self.id)))
    }
}

/// An object that says its id, too; one that is none is told as an empty one.
fn named(data: &str, id: &str) -> String {
    let id = json!(id);
    let members = data.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    match members.trim() {
        "" => format!("{{\"id\":{id}}}"),
        members => format!("{{\"id\":{id},{members}}}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use serde_json::Value;

    use super::*;

    fn database(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("opencode.db");
        let connection = Connection::open(&path).expect("it is made");
        connection
            .execute_batch(
                r#"CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL,
                     title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER, time_updated INTEGER);
                   CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                     time_updated INTEGER, data TEXT NOT NULL);
                   CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
                     time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
                   INSERT INTO session VALUES ('ses_1', NULL, '/w', 'A "title"', '1.18', 5, 9), ('ses_2', 'ses_1', '/w', '', '1.18', 6, 6);
                   INSERT INTO message VALUES ('m2', 'ses_1', 8, 8, '{"role":"assistant"}'),
                     ('m1', 'ses_1', 7, 7, ' {"role":"user"} '), ('m3', 'ses_1', 8, 8, '{}'), ('m4', 'ses_2', 7, 7, '{}');
                   INSERT INTO part VALUES ('p2', 'm1', 'ses_1', 7, 12, '{"type":"text","text":"two"}'),
                     ('p1', 'm1', 'ses_1', 7, 7, 'nonsense');"#,
            )
            .expect("it is filled");
        path
    }

    #[test]
    fn a_session_is_told_as_it_would_be_exported() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = database(folder.path());
        let sessions = OpenCodeSessions::open(&path).expect("it opens");
        assert_eq!(sessions.all().expect("they are listed"), ["ses_1", "ses_2"]);
        assert_eq!(sessions.created("ses_2").expect("it is found"), Some(6));
        assert_eq!(sessions.look("ses_1").expect("it is looked at").map(|(_, at)| at), Some(12_000_000));
        assert_eq!(sessions.look("ses_3").expect("it is looked at"), None);
        let mut text = String::new();
        sessions.export("ses_1").expect("it is there").read_to_string(&mut text).expect("it is read");
        let told: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(told["info"]["title"], "A \"title\"");
        assert_eq!(
            told["messages"],
            json!([
                {"info": {"id": "m1", "role": "user"}, "parts": [{"id": "p1"}, {"id": "p2", "type": "text", "text": "two"}]},
                {"info": {"id": "m2", "role": "assistant"}, "parts": []},
                {"info": {"id": "m3"}, "parts": []},
            ])
        );
        let mut nothing = String::new();
        OpenCodeSessions::open(&path)
            .expect("it opens")
            .export("ses_3")
            .expect("it is no fault")
            .read_to_string(&mut nothing)
            .expect("it ends");
        assert_eq!(nothing, "");
    }
}
