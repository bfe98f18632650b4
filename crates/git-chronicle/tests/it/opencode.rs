//! Sessions of `OpenCode`, which keeps them in a database of its own.

use std::{fs, path::PathBuf};

use chronicle_search::Connection;
use serde_json::{Value, json};

use crate::{desk::Desk, sessions::count};

const SESSION: &str = "ses_5e55101100aaaaAAAAaaaaAAAA";

/// What matters of the tables of `OpenCode` 1.18.
const TABLES: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
        version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
        time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);";

/// 9 March 2026, 12:00 UTC, in milliseconds.
const NOON: i64 = 1_773_057_600_000;

/// The database of `OpenCode` in the home of a desk.
struct OpenCode {
    path: PathBuf,
    connection: Connection,
}

impl OpenCode {
    fn of(desk: &Desk) -> Self {
        let path = desk.home.join(".local/share/opencode/opencode.db");
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        let connection = Connection::open(&path).expect("it is made");
        connection.pragma_update(None, "journal_mode", "wal").expect("as OpenCode does");
        connection.execute_batch(TABLES).expect("they are made");
        let this = Self { path, connection };
        this.put(
            "session (id, directory, title, version, time_created, time_updated)",
            &json!([SESSION, desk.repo.path(), "The pool hands out ids", "1.18.33", NOON, NOON]),
        );
        this
    }

    fn put(&self, columns: &str, values: &Value) {
        let list = values.as_array().expect("a list").iter().map(|value| match value {
            Value::String(text) => format!("'{}'", text.replace('\'', "''")),
            other => other.to_string(),
        });
        let row = format!("INSERT INTO {columns} VALUES ({})", list.collect::<Vec<_>>().join(","));
        self.connection.execute_batch(&row).expect("it is put in");
    }

    /// A message with its parts, `n` minutes past noon.
    fn say(&self, n: i64, role: &str, parts: &[Value]) {
        let at = NOON + n * 60_000;
        let message = format!("msg_5e55101100{n:04}aaaaAAAA");
        let data = json!({"role": role, "time": {"created": at}, "modelID": "stub"}).to_string();
        self.put("message", &json!([message, SESSION, at, at, data]));
        for (index, part) in parts.iter().enumerate() {
            let id = format!("prt_5e55101100{n:04}aaaa{index}");
            self.put("part", &json!([id, message, SESSION, at, at, part.to_string()]));
        }
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn edit(desk: &Desk, old: &str, new: &str) -> Value {
    let input = json!({"filePath": desk.repo.path().join("src/pool.rs"), "oldString": old, "newString": new});
    json!({"type": "tool", "callID": "c1", "tool": "edit", "state": {"status": "completed", "input": input, "output": ""}})
}

#[test]
fn sessions_are_found_in_the_database_and_grow_there() {
    let desk = Desk::new();
    let opencode = OpenCode::of(&desk);
    opencode.say(1, "user", &[text("Let the pool hand out an id.")]);
    let new = "fn acquire() -> LowestFreeId {}\n";
    opencode.say(2, "assistant", &[text("None is no id."), edit(&desk, "fn acquire() {}\n", new)]);
    let reply = desk.ingest();
    assert_eq!((count(&reply, "files"), count(&reply, "new_turns")), (1, 3), "{reply:#}");
    assert_eq!(count(&desk.ingest(), "unchanged"), 1);

    opencode.say(3, "assistant", &[text("Done.\n\n## Remaining\n- Write a test for ids that run out\n")]);
    let reply = desk.ingest();
    assert_eq!((count(&reply, "sessions"), count(&reply, "new_turns")), (1, 1), "{reply:#}");
    assert!(desk.run(&["pending"]).stdout.contains("ids that run out"));
    desk.repo.write("src/pool.rs", new);
    desk.repo.commit_at("pool: hand out an id", "2026-03-09T13:00:00Z");
    let why = desk.run(&["why", "src/pool.rs:1"]).stdout;
    assert!(why.contains(&SESSION[..12]), "the line leads to it: {why}");

    // Named alone, by its database, and as it would be exported: the same session.
    for path in [opencode.path.join(SESSION), opencode.path.clone()] {
        let reply = desk.ask(&["session", "ingest", path.to_str().unwrap()]);
        assert_eq!((count(&reply, "files"), count(&reply, "unchanged")), (1, 1), "{reply:#}");
    }
}

#[test]
fn the_end_of_a_turn_leaves_word_of_the_session() {
    let desk = Desk::new();
    let opencode = OpenCode::of(&desk);
    opencode.say(1, "user", &[text("Let the pool hand out an id.")]);
    desk.hook("opencode", "stop", &json!({"session_id": SESSION, "cwd": desk.repo.path()}));
    desk.ask(&["session", "ingest", "--queued"]);
    let listed = desk.ask(&["session", "list"]);
    assert_eq!(listed["sessions"][0]["session"], SESSION, "{listed:#}");
    // Who asks for something else than a session gets nothing.
    for id in ["../../../../etc/passwd", "", "ses'; DROP TABLE part; --"] {
        desk.hook("opencode", "stop", &json!({"session_id": id, "cwd": desk.repo.path()}));
    }
    assert_eq!(desk.ask(&["session", "ingest", "--queued"])["files"], 0);
    assert_eq!(count(&desk.ask(&["session", "ingest", "--sweep"]), "unchanged"), 1);
}

#[test]
fn a_database_of_another_form_is_told_and_no_hindrance() {
    let desk = Desk::new();
    let opencode = OpenCode::of(&desk);
    let of_session = opencode.path.join(SESSION);
    opencode.connection.execute_batch("ALTER TABLE part RENAME TO piece").expect("it is renamed");
    let reply = desk.ask(&["session", "ingest", of_session.to_str().unwrap()]);
    assert!(reply["unread"][0]["reason"].as_str().unwrap().contains("database cannot be read"), "{reply:#}");
    let missing = opencode.path.join("ses_none");
    let reply = desk.ask(&["session", "ingest", missing.to_str().unwrap()]);
    assert_eq!(reply["unread"][0]["reason"], "the database has no such session", "{reply:#}");
    drop(opencode.connection);
    fs::write(&opencode.path, "this is no database").unwrap();
    let reply = desk.ask(&["session", "ingest", of_session.to_str().unwrap()]);
    assert!(reply["unread"][0]["reason"].as_str().unwrap().contains("database cannot be read"), "{reply:#}");
    // A database that can't be listed is named.
    let reply = desk.ingest();
    assert_eq!(count(&reply, "files"), 1, "{reply:#}");
    assert!(reply["unread"][0]["reason"].as_str().unwrap().contains("database cannot be read"), "{reply:#}");
}
