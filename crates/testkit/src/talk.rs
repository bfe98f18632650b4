//! Transcripts of an agent, row by row.

use serde_json::{Value, json};

/// A conversation with Claude Code.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The id of the session.
    pub session: String,
    /// The folder that the agent works in.
    pub folder: String,
    /// Its branch.
    pub branch: String,
    /// The day of March 2026 it is led on.
    pub day: u8,
    rows: Vec<Value>,
}

impl Talk {
    /// A conversation on March 9th without a word yet.
    #[must_use]
    pub fn new(session: &str, folder: &str) -> Self {
        let (session, folder) = (session.to_owned(), folder.to_owned());
        Self { session, folder, branch: "main".to_owned(), day: 9, rows: Vec::new() }
    }

    /// An id of the next row, as long as real ones.
    fn id(&self) -> String {
        format!("{:0>8}-0000-4000-8000-{:012}", self.session.len(), self.rows.len()) + &self.session
    }

    fn row(mut self, kind: &str, message: &Value, more: &Value) -> Self {
        let minute = self.rows.len();
        let mut row = json!({
            "type": kind,
            "uuid": self.id(),
            "sessionId": self.session,
            "cwd": self.folder,
            "gitBranch": self.branch,
            "version": "2.1.40",
            "isSidechain": false,
            "userType": "external",
            "timestamp": format!("2026-03-{:02}T10:{:02}:{:02}.000Z", self.day, minute / 60, minute % 60),
            "message": message,
        });
        if let (Some(row), Value::Object(more)) = (row.as_object_mut(), more) {
            row.extend(more.clone());
        }
        self.rows.push(row);
        self
    }

    /// A human says this.
    #[must_use]
    pub fn prompt(self, words: &str) -> Self {
        self.row("user", &json!({"role": "user", "content": words}), &json!({}))
    }

    /// The agent says this.
    #[must_use]
    pub fn said(self, words: &str) -> Self {
        let id = format!("msg_{}", self.rows.len());
        let content = json!([{"type": "text", "text": words}]);
        let usage = json!({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100});
        let message =
            json!({"role": "assistant", "id": id, "model": "m-1", "content": content, "usage": usage});
        self.row("assistant", &message, &json!({}))
    }

    /// The agent uses a tool, with this outcome.
    #[must_use]
    pub fn tool(self, name: &str, input: &Value, answer: &str, is_error: bool) -> Self {
        let id = format!("toolu_{:0>20}{}", self.rows.len(), self.session);
        let content = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let message =
            json!({"role": "assistant", "id": format!("msg_{id}"), "model": "m-1", "content": content});
        let told = self.row("assistant", &message, &json!({}));
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": is_error}]);
        told.row("user", &json!({"role": "user", "content": result}), &json!({}))
    }

    /// The agent runs a command that works.
    #[must_use]
    pub fn command(self, command: &str, answer: &str) -> Self {
        self.tool("Bash", &json!({"command": command}), answer, false)
    }

    /// The agent edits a file.
    #[must_use]
    pub fn edit(self, path: &str, old: &str, new: &str) -> Self {
        let full = format!("{}/{path}", self.folder);
        let input = json!({"file_path": full, "old_string": old, "new_string": new});
        self.tool("Edit", &input, "The file has been updated.", false)
    }

    /// The agent's list of what is to do becomes this.
    #[must_use]
    pub fn todos(self, items: &[(&str, &str)]) -> Self {
        let todos: Vec<Value> = items
            .iter()
            .map(|(text, state)| json!({"content": text, "status": state, "activeForm": text}))
            .collect();
        self.tool("TodoWrite", &json!({ "todos": todos }), "Todos have been modified", false)
    }

    /// A row of any other kind.
    #[must_use]
    pub fn raw(mut self, row: &str) -> Self {
        self.rows.push(serde_json::from_str(row).expect("it is a row"));
        self
    }

    /// The rows as they are in the file.
    #[must_use]
    pub fn text(&self) -> String {
        self.rows.iter().map(|row| format!("{row}\n")).collect()
    }

    /// The same rows in a session that was forked from this one.
    #[must_use]
    pub fn forked(&self, session: &str) -> Self {
        let mut forked = Self { session: session.to_owned(), ..self.clone() };
        for row in &mut forked.rows {
            row["sessionId"] = json!(session);
        }
        forked
    }

    /// The same rows in another session, under ids of its own; what the model's API numbered stays.
    #[must_use]
    pub fn copied(&self, session: &str) -> Self {
        let mut copied = self.forked(session);
        for row in &mut copied.rows {
            let text = row.to_string().replace(&self.session, session);
            *row = serde_json::from_str(&text).expect("it was JSON");
        }
        copied
    }

    /// The same rows, their times with milliseconds as agents write them.
    #[must_use]
    pub fn with_milliseconds(&self) -> Self {
        let mut exact = self.clone();
        for row in &mut exact.rows {
            let time = row["timestamp"].as_str().expect("it has a time").replace(".000Z", ".137Z");
            row["timestamp"] = json!(time);
        }
        exact
    }
}
