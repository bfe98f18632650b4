//! A file that is read on from a checkpoint leaves the store as a reading from its beginning does.

use std::io::{Cursor, Seek, SeekFrom};

use chronicle_search::{Connection, KnownThreads, Project, SqlResult, Store, Transaction};
use chronicle_sessions::{Begun, Belongs, Checkpoint, Ingested, Transcript, ingest};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::support::corpus;

/// A store of its own.
struct Home {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let store = Store::create(&folder.path().join("chronicle.db")).expect("it can be made");
        Self { store, _folder: folder }
    }

    /// Takes in a file as it is now, from a checkpoint if there is one; what it can go on from comes back.
    fn take_in(&mut self, file: &[u8], from: Option<&Checkpoint>) -> Option<Checkpoint> {
        let taken = self.store.write_unless(|tx| {
            let mut placing = |tx: &Transaction<'_>, _: &str| -> SqlResult<Belongs> {
                Project::obtain(tx, "id:shop", "shop", "").map(|project| Belongs::To(project, None))
            };
            let mut rest = Cursor::new(file);
            let resumed =
                from.map(|from| from.resume(&mut rest).expect("it can be read").expect("it goes on"));
            match &resumed {
                Some(resumed) => assert!(resumed.is_of(tx, &mut placing)?, "the sessions are there"),
                None => assert_eq!(rest.seek(SeekFrom::Start(0)).expect("it is memory"), 0),
            }
            let transcript = Transcript {
                path: "/t/5e55.jsonl",
                stem: "5e55",
                size: file.len() as u64,
                modified: 1,
                begun: Begun::ByHuman,
                format: None,
                checkpoint_from: Some(0),
            };
            let known = &mut KnownThreads::default();
            ingest(tx, rest, &transcript, resumed, Timestamp::UNIX_EPOCH, &mut placing, known)
        });
        match taken.expect("it can be stored").expect("it can be read") {
            Ingested::Read { checkpoint, .. } => checkpoint,
            Ingested::NoTranscript => None,
        }
    }

    /// All that is stored.
    fn rows(&self) -> Vec<String> {
        self.answers(&QUESTIONS)
    }

    fn answers(&self, questions: &[&str]) -> Vec<String> {
        let all = |connection: &Connection| -> SqlResult<Vec<String>> {
            let mut found = Vec::new();
            for question in questions {
                let mut select = connection.prepare(question)?;
                let n_columns = select.column_count();
                let mut rows = select.query([])?;
                while let Some(row) = rows.next()? {
                    let columns = (0..n_columns).map(|at| row.get_ref(at).map(|value| format!("{value:?}")));
                    found.push(columns.collect::<SqlResult<Vec<_>>>()?.join(" "));
                }
            }
            Ok(found)
        };
        self.store.read(all).expect("it can be read")
    }
}

/// How many questions are about the file alone: which threads it opens depends on what was open when it was read.
const OF_FILE: usize = 5;

const QUESTIONS: [&str; 7] = [
    "SELECT * FROM session ORDER BY name",
    "SELECT key, session, position, line, name, kind, at, sub_agent, speaker, is_ok, text, answer \
     FROM turn ORDER BY session, position, key",
    "SELECT * FROM changed_file",
    "SELECT * FROM made_commit",
    "SELECT path, session, size, tally FROM source",
    "SELECT session, event FROM thread_event ORDER BY session, event",
    "SELECT id, is_open, thread FROM thread ORDER BY id",
];

/// Reads a file each time that it has grown to one of `ends`, and says how often it was gone on with.
fn check(file: &[u8], ends: &[usize]) -> usize {
    let (mut whole, mut in_parts) = (Home::new(), Home::new());
    let (mut checkpoint, mut n_resumed) = (None, 0);
    for end in ends.iter().copied().chain([file.len()]) {
        whole.take_in(&file[..end], None);
        n_resumed += usize::from(checkpoint.is_some());
        checkpoint = in_parts.take_in(&file[..end], checkpoint.as_ref()).or(checkpoint);
        assert_eq!(in_parts.rows(), whole.rows(), "read up to byte {end}, after {ends:?}");
    }
    let mut at_once = Home::new();
    at_once.take_in(file, None);
    let of_file = &QUESTIONS[..OF_FILE];
    assert_eq!(in_parts.answers(of_file), at_once.answers(of_file), "read at once, or first up to {ends:?}");
    n_resumed
}

/// The ends of the rows of a file.
fn ends(file: &[u8]) -> Vec<usize> {
    file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

fn token() -> String {
    ["gh", "p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi"].concat()
}

/// A row of Claude Code.
fn row(number: usize, kind: &str, content: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"00000000-0000-4000-8000-{number:012}","sessionId":"5e551011","cwd":"/w","gitBranch":"main","timestamp":"2026-03-01T12:{:02}:{:02}Z","message":{{"id":"msg_{number}","model":"opus","usage":{{"input_tokens":{number},"output_tokens":2}},"content":{content}}}}}"#,
        number / 60,
        number % 60,
    )
}

fn called(number: usize, name: &str, input: &str) -> String {
    let content = format!(r#"[{{"type":"tool_use","id":"toolu_{number}","name":"{name}","input":{input}}}]"#);
    row(number, "assistant", &content)
}

fn answered(number: usize, call: usize, text: &str, is_error: bool) -> String {
    let content = format!(
        r#"[{{"type":"tool_result","tool_use_id":"toolu_{call}","is_error":{is_error},"content":"{text}"}}]"#
    );
    row(number, "user", &content)
}

/// A session with everything that is remembered between rows.
fn session() -> String {
    let said =
        |number, words: &str| row(number, "assistant", &format!(r#"[{{"type":"text","text":"{words}"}}]"#));
    let plain =
        |rest: &str| format!(r#"{{"sessionId":"5e551011","timestamp":"2026-03-01T12:30:00Z",{rest}}}"#);
    let rows = [
        r#"{"type":"summary","summary":"Make the pool wait","leafUuid":"00000000-0000-4000-8000-000000000009"}"#.to_owned(),
        row(1, "user", r#""Make the pool wait when it is full, and add a test for it.""#),
        called(2, "Bash", r#"{"command":"cargo test"}"#),
        called(3, "TodoWrite", r#"{"todos":[{"content":"Wait","status":"in_progress"},{"content":"Test it","status":"pending"}]}"#),
        answered(4, 3, "ok", false),
        answered(5, 2, "test pool ... FAILED\\nerror: it is full", true),
        called(6, "Edit", r#"{"file_path":"/w/src/pool.rs","old_string":"get()","new_string":"wait()"}"#),
        plain(r#""type":"queue-operation","operation":"enqueue","content":"Use a condition variable instead of a loop.""#),
        answered(7, 6, "The file /w/src/pool.rs has been updated", false),
        plain(r#""type":"queue-operation","operation":"remove""#),
        called(8, "Bash", &format!(r#"{{"command":"GITHUB_TOKEN={} cargo test"}}"#, token())),
        said(9, "The root cause is that a full pool fails. I'll use a condition variable."),
        // One row again, as a compaction repeats it.
        said(9, "The root cause is that a full pool fails. I'll use a condition variable."),
        answered(10, 8, "test result: ok. 3 passed", false),
        called(11, "Edit", r#"{"file_path":"/w/src/pool.rs","old_string":"wait()","new_string":"wait_for(1)"}"#),
        called(12, "Bash", r#"{"command":"git commit -am 'pool: wait'"}"#),
        answered(13, 12, "[main 1a2b3c4] pool: wait\\n 1 file changed", false),
        row(14, "user", r#""yes, and push it later""#),
        said(15, "The pool waits now. Should I also document it?"),
        plain(r#""type":"pr-link","prUrl":"https://github.com/a/shop/pull/7""#),
        row(16, "user", r#""B""#),
        called(17, "AskUserQuestion", r#"{"questions":[{"question":"Which queue?"}]}"#),
        answered(18, 17, "User has answered your questions: \\\"Which queue?\\\"=\\\"A ring buffer\\\".", false),
        plain(r#""type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-000000000090""#),
        called(19, "TodoWrite", r#"{"todos":[{"content":"Wait","status":"completed"},{"content":"Test it","status":"pending"}]}"#),
        answered(20, 19, "ok", false),
        said(21, "The pool waits for a second; a test is still missing."),
    ];
    rows.join("\n") + "\n"
}

#[test]
fn a_session_is_read_on_after_each_of_its_rows() {
    let file = session();
    let all = ends(file.as_bytes());
    let n_resumed = check(file.as_bytes(), &all);
    assert_eq!(n_resumed, all.len() - 1, "the first row tells of no session yet");
}

#[test]
fn a_checkpoint_holds_no_secrets() {
    let file = session();
    for end in ends(file.as_bytes()) {
        let Some(checkpoint) = Home::new().take_in(&file.as_bytes()[..end], None) else { continue };
        let state = zstd::decode_all(&checkpoint.state[..]).expect("it is packed");
        let state = String::from_utf8(state).expect("it is text");
        assert!(state.contains("Make the pool wait"), "{state}");
        assert!(!state.contains(&token()), "{state}");
    }
}

#[test]
fn a_checkpoint_holds_nothing_that_only_looks_like_an_id_or_a_number() {
    let taken = |id: &str, usage: &str| {
        let row = |kind: &str, id: &str, content: &str| {
            format!(
                r#"{{"type":"{kind}","uuid":"u-{kind}","sessionId":"5e551011","cwd":"/w","timestamp":"2026-03-01T12:00:00Z","message":{{"id":"{id}","model":"opus","usage":{{"input_tokens":5,"output_tokens":5,"note":"{usage}"}},"content":"{content}"}}}}"#
            )
        };
        let file = row("user", "", "Make the pool wait") + "\n" + &row("assistant", id, "It waits.") + "\n";
        let checkpoint = Home::new().take_in(file.as_bytes(), None)?;
        Some(
            String::from_utf8(zstd::decode_all(&checkpoint.state[..]).expect("it is packed"))
                .expect("it is text"),
        )
    };
    assert!(taken("msg_1", &token()).is_some_and(|state| !state.contains(&token())));
    assert_eq!(taken(&token(), ""), None);
}

#[test]
fn other_agents_rows_are_read_on_too() {
    let codex = [
        r#"{"timestamp":"2026-03-01T12:00:00Z","type":"session_meta","payload":{"id":"c0de-1","cwd":"/w","git":{"branch":"main"}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Make the pool wait, please."}]}}"#,
        r#"{"timestamp":"2026-03-01T12:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"call_1","arguments":"{\"command\":[\"cargo\",\"test\"]}"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:03Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:05Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":30,"cached_input_tokens":14,"output_tokens":5}}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:06Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The pool waits now."}]}}"#,
    ];
    let generic = [
        r#"{"session":"a","id":"1","time":"2026-03-01T12:00:00Z","role":"user","text":"Why does the pool wait?"}"#,
        r#"{"session":"b","id":"1","time":"2026-03-01T12:00:00Z","role":"user","text":"How large is the pool?"}"#,
        r#"{"session":"a","id":"2","time":"2026-03-01T12:00:01Z","role":"assistant","text":"A full pool must not fail."}"#,
        r#"{"session":"b","id":"2","time":"2026-03-01T12:00:02Z","role":"assistant","text":"It has eight places."}"#,
    ];
    // Codex's first row tells of no session yet.
    for (rows, n_resumed) in [(&codex[..], codex.len() - 1), (&generic[..], generic.len())] {
        let file = rows.join("\n") + "\n";
        assert_eq!(check(file.as_bytes(), &ends(file.as_bytes())), n_resumed, "{file}");
    }
}

#[test]
fn a_file_whose_calls_changed_is_not_gone_on_with() {
    let file = session();
    let end = ends(file.as_bytes())[2];
    let checkpoint = Home::new().take_in(&file.as_bytes()[..end], None).expect("it can go on");
    let resumes = |file: &str| checkpoint.resume(&mut Cursor::new(file)).expect("it can be read").is_some();
    assert!(resumes(&file));
    assert!(!resumes(&file.replace("toolu_2", "toolu_x")), "the call that waits is another one");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever a file happened to end when it was read: in a row, too.
    #[test]
    fn a_session_is_read_in_any_parts(mut parts in proptest::collection::vec(0.0_f64..1.0, 1..6)) {
        let file = session();
        parts.sort_by(f64::total_cmp);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "it is a place in a short text")]
        let ends: Vec<usize> =
            parts.iter().map(|part| file.floor_char_boundary((part * file.len() as f64) as usize)).collect();
        check(file.as_bytes(), &ends);
    }
}

#[test]
fn real_transcripts_are_read_in_parts() {
    const LONGEST: usize = 400_000;
    let Some(files) = corpus() else { return };
    let mut n_resumed = 0;
    for (_, bytes) in files.iter().filter(|(_, bytes)| bytes.len() < LONGEST).take(40) {
        let all = ends(bytes);
        let parts = [all.len() / 3, all.len() / 2, all.len().saturating_sub(2)];
        let parts: Vec<usize> = parts.iter().filter_map(|part| all.get(*part).copied()).collect();
        n_resumed += check(bytes, &parts);
    }
    assert!(40 <= n_resumed, "{n_resumed} readings went on");
}
