//! The database that Cursor's editor keeps its conversations in: read here, and never written.
//!
//! `docs/cursor/storage-reference.md` of `github.com/michaeldhood/chatrxiv` describes it. Conversations of versions that
//! kept them in the databases of workspaces are not read.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::document::{SessionDocument, opened_to_read};

/// How long is waited for Cursor itself.
const PATIENCE: Duration = Duration::from_millis(500);

/// Databases of workspaces that are looked at for the folder of a conversation.
const MOST_WORKSPACES: usize = 400;

/// What is told of a conversation as a whole.
const MEMBERS: [&str; 7] =
    ["composerId", "name", "createdAt", "lastUpdatedAt", "createdOnBranch", "modelConfig", "subagentInfo"];

/// The conversations of Cursor's editor on this machine.
///
/// Each question is one short statement: Cursor is never kept from writing for longer.
#[derive(Debug)]
pub struct CursorSessions {
    connection: Connection,
    path: PathBuf,
}

impl CursorSessions {
    /// Opens the database, which has to be there.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: opened_to_read(path, PATIENCE)?, path: path.to_owned() })
    }

    /// The ids of all conversations with a message, in no order.
    ///
    /// # Errors
    /// When the database has another form, or is locked.
    pub fn all(&self) -> rusqlite::Result<Vec<String>> {
        self.connection
            .prepare(
                "SELECT substr(key, 14) FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' \
                 AND (CAST(value AS TEXT) GLOB '*\"fullConversationHeadersOnly\":*[[]{*' \
                 OR CAST(value AS TEXT) GLOB '*\"conversation\":*[[]{*')",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
    }

    /// When a conversation began, in milliseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form, or is locked.
    pub fn created(&self, id: &str) -> rusqlite::Result<Option<i64>> {
        Ok(self.conversation(id)?.and_then(|told| told["createdAt"].as_i64()))
    }

    /// How many bytes a conversation has, and when it changed last, in nanoseconds since 1970; none when it is not there.
    ///
    /// # Errors
    /// When the database has another form, or is locked.
    pub fn look(&self, id: &str) -> rusqlite::Result<Option<(u64, i64)>> {
        let Some(told) = self.conversation(id)? else { return Ok(None) };
        let sum = "SELECT coalesce(sum(length(CAST(value AS BLOB))), 0) FROM cursorDiskKV WHERE key >= ?1 AND key < ?2";
        let size: i64 = self.connection.query_row(
            sum,
            [format!("bubbleId:{id}:"), format!("bubbleId:{id};")],
            |row| row.get(0),
        )?;
        let updated = told["lastUpdatedAt"].as_i64().or(told["createdAt"].as_i64()).unwrap_or_default();
        let size = u64::try_from(size).unwrap_or_default() + told.to_string().len() as u64;
        Ok(Some((size, updated.saturating_mul(1_000_000))))
    }

    /// A conversation as one document: `{"cursor": {…}, "messages": [{…}, …]}`.
    ///
    /// # Errors
    /// When the database has another form, or is locked.
    pub fn export(self, id: &str) -> rusqlite::Result<SessionDocument> {
        let Some(mut told) = self.conversation(id)? else { return Ok(SessionDocument::nothing()) };
        let folder = folder_of(&self.path, id);
        let mut head = json!({});
        for name in MEMBERS {
            head[name] = told[name].take();
        }
        head["folder"] = folder.into();
        // Older versions have the messages themselves, later ones only what names them.
        let headers = match told["fullConversationHeadersOnly"].take() {
            Value::Array(headers) if !headers.is_empty() => headers,
            _ => match told["conversation"].take() {
                Value::Array(messages) => messages,
                _ => Vec::new(),
            },
        };
        let (connection, id) = (self.connection, id.to_owned());
        let mut headers = headers.into_iter();
        let next = move || {
            for header in headers.by_ref() {
                let Some(bubble) = header["bubbleId"].as_str() else { continue };
                let text = value(&connection, &format!("bubbleId:{id}:{bubble}"))?;
                // One that is gone, or no object, is told by what is known of it.
                let text = text.filter(|text| text.trim_start().starts_with('{'));
                return Ok(Some(text.unwrap_or_else(|| header.to_string()).into_bytes()));
            }
            Ok(None)
        };
        Ok(SessionDocument::new(&format!("\"cursor\":{head}"), next))
    }

    fn conversation(&self, id: &str) -> rusqlite::Result<Option<Value>> {
        let text = value(&self.connection, &format!("composerData:{id}"))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).filter(Value::is_object))
    }
}

/// The text that is stored for a key.
fn value(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT CAST(value AS TEXT) FROM cursorDiskKV WHERE key = ?1")?
        .query_row([key], |row| row.get::<_, Option<String>>(0))
        .optional()
        .map(Option::flatten)
}

/// The folder of the workspace that lists a conversation, as a `file:` address; none where no workspace does.
fn folder_of(database: &Path, id: &str) -> Option<String> {
    let workspaces = database.parent()?.parent()?.join("workspaceStorage");
    for entry in fs::read_dir(workspaces).ok()?.flatten().take(MOST_WORKSPACES) {
        let lists = || {
            let connection = opened_to_read(&entry.path().join("state.vscdb"), PATIENCE).ok()?;
            let find = "SELECT 1 FROM ItemTable WHERE key = 'composer.composerData' AND instr(CAST(value AS TEXT), ?1)";
            connection.query_row(find, [id], |_| Ok(())).ok()
        };
        if lists().is_some() {
            let told = fs::read(entry.path().join("workspace.json")).ok()?;
            let told: Value = serde_json::from_slice(&told).ok()?;
            return told["folder"].as_str().map(str::to_owned);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    const ID: &str = "98251e54-0000-4000-8000-000000000001";

    fn database(folder: &Path) -> PathBuf {
        let path = folder.join("globalStorage/state.vscdb");
        let workspace = folder.join("workspaceStorage/abc");
        for folder in [path.parent().expect("it has one"), &workspace] {
            fs::create_dir_all(folder).expect("it is made");
        }
        let make = |path: &Path, table: &str, rows: &[(&str, &str)]| {
            let connection = Connection::open(path).expect("it is made");
            let sql = format!("CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)");
            connection.execute_batch(&sql).expect("it is made");
            for (key, value) in rows {
                let insert = format!("INSERT INTO {table} VALUES (?1, ?2)");
                connection.execute(&insert, [key, value]).expect("it is filled");
            }
        };
        let conversation = r#"{"_v":10,"composerId":"ID","name":"Pool","createdAt":5,"lastUpdatedAt":9,
            "fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"gone","type":2},{"bubbleId":"b2","type":2}]}"#
            .replace("ID", ID);
        make(
            &path,
            "cursorDiskKV",
            &[
                (&format!("composerData:{ID}"), &conversation),
                (
                    "composerData:empty",
                    r#"{"composerId":"empty","fullConversationHeadersOnly":[],"createdAt":1}"#,
                ),
                (&format!("bubbleId:{ID}:b1"), r#"{"type":1,"text":"bound it"}"#),
                (&format!("bubbleId:{ID}:b2"), r#"{"type":2,"text":"bound"}"#),
            ],
        );
        let listed = format!(r#"{{"allComposers":[{{"composerId":"{ID}"}}]}}"#);
        make(&workspace.join("state.vscdb"), "ItemTable", &[("composer.composerData", &listed)]);
        fs::write(workspace.join("workspace.json"), r#"{"folder":"file:///w%20x"}"#).expect("it is written");
        path
    }

    #[test]
    fn a_conversation_is_one_document() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = database(folder.path());
        let sessions = CursorSessions::open(&path).expect("it opens");
        assert_eq!(sessions.all().expect("they are listed"), [ID]);
        assert_eq!(sessions.created(ID).expect("it is found"), Some(5));
        assert_eq!(sessions.look(ID).expect("it is looked at").map(|(_, at)| at), Some(9_000_000));
        assert_eq!(sessions.look("none").expect("it is looked at"), None);
        let mut text = String::new();
        sessions.export(ID).expect("it is there").read_to_string(&mut text).expect("it is read");
        let told: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(
            (&told["cursor"]["name"], &told["cursor"]["folder"]),
            (&json!("Pool"), &json!("file:///w%20x"))
        );
        assert_eq!(
            told["messages"],
            json!([{"type": 1, "text": "bound it"}, {"bubbleId": "gone", "type": 2}, {"type": 2, "text": "bound"}])
        );
    }

    #[test]
    fn a_locked_database_is_an_error_soon_and_keeps_nobody_from_writing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = database(folder.path());
        let writer = Connection::open(&path).expect("it opens");
        writer.busy_timeout(Duration::ZERO).expect("it does not wait");
        let sessions = CursorSessions::open(&path).expect("it opens");
        writer.execute_batch("BEGIN EXCLUSIVE").expect("it is locked");
        assert!(sessions.all().is_err());
        writer.execute_batch("COMMIT").expect("it is free");
        assert_eq!(sessions.all().expect("they are listed"), [ID]);
        // In the middle of a conversation, the agent can write.
        let mut document = sessions.export(ID).expect("it is there");
        let mut buffer = [0; 16];
        assert_eq!(document.read(&mut buffer).expect("it is read"), 16);
        writer
            .execute_batch("DELETE FROM cursorDiskKV WHERE key = 'composerData:empty'")
            .expect("it is not kept");
    }
}
