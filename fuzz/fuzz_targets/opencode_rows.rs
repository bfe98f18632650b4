//! Rows of OpenCode's database, whatever they hold: each message is exported, and read as one row.

#![no_main]

use std::{cell::OnceCell, io::Read};

use chronicle_fuzz::{all_pieces, user_folder};
use chronicle_search::{Connection, OpenCodeSessions, SqlResult};
use chronicle_sessions::{Format, read};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

const TABLES: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
      version TEXT NOT NULL, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);";

thread_local! {
    static DATABASE: OnceCell<Connection> = const { OnceCell::new() };
}

// The first piece is the session's title; of the others, `m` begins a message, and anything else a part of the last one.
fuzz_target!(|input: &[u8]| {
    let mut pieces = all_pieces(input).map(String::from_utf8_lossy);
    let title = pieces.next().unwrap_or_default();
    let rows: Vec<(bool, String)> = pieces
        .map(|piece| (piece.starts_with('m'), piece.chars().skip(1).collect()))
        .skip_while(|(is_message, _)| !is_message)
        .collect();
    let path = user_folder().join("opencode.db");
    DATABASE.with(|database| {
        let database = database.get_or_init(|| {
            let made = Connection::open(&path).expect("it is made");
            made.execute_batch(TABLES).expect("it is filled");
            made
        });
        fill(database, &title, &rows).expect("rows are rows");
    });

    let sessions = OpenCodeSessions::open(&path).expect("it is there");
    assert_eq!(sessions.all().ok(), Some(vec!["ses_1".to_owned()]));
    let (size, _) = sessions.look("ses_1").expect("it is read").expect("it is there");
    let n_bytes: usize = title.len() + rows.iter().map(|(_, data)| data.len()).sum::<usize>();
    assert_eq!(size, n_bytes as u64);
    let mut text = Vec::new();
    sessions.export("ses_1").expect("it has the form").read_to_end(&mut text).expect("it is read");

    let n_messages = rows.iter().filter(|(is_message, _)| *is_message).count();
    let is_whole = rows.iter().all(|(_, data)| serde_json::from_str::<Map<String, Value>>(data).is_ok());
    if is_whole {
        let told: Value = serde_json::from_slice(&text).expect("objects make a document");
        assert_eq!(told["info"]["title"], *title);
        assert_eq!(told["messages"].as_array().map(Vec::len), Some(n_messages));
    }
    let reading = read(&text[..], Some(Format::OpenCode), &mut |turn, _| {
        assert!(turn.place.bytes.start <= turn.place.bytes.end && turn.place.bytes.end <= text.len() as u64);
    });
    let tally = reading.expect("bytes can be read").expect("the form is given").tally;
    assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable);
    if is_whole {
        assert_eq!((tally.n_rows, tally.n_unreadable), (n_messages as u64, 0));
    }
});

fn fill(database: &Connection, title: &str, rows: &[(bool, String)]) -> SqlResult<()> {
    database.execute_batch("DELETE FROM session; DELETE FROM message; DELETE FROM part;")?;
    database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/w', ?1, '1.18', 5, 9)", [title])?;
    let mut message = String::new();
    for (number, (is_message, data)) in rows.iter().enumerate() {
        let id = format!("id_{number:06}");
        match is_message {
            true => {
                database.execute("INSERT INTO message VALUES (?1, 'ses_1', 7, 7, ?2)", [&id, data])?;
                message = id;
            }
            false => drop(
                database
                    .execute("INSERT INTO part VALUES (?1, ?2, 'ses_1', 7, 7, ?3)", [&id, &message, data])?,
            ),
        }
    }
    Ok(())
}
