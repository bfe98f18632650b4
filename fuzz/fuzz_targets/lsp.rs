//! What an editor writes: bodies of messages, one a line, or bytes as they are. Every request is answered exactly once, and
//! whatever the server writes is a message.

#![no_main]

use std::{
    io::{BufRead, BufReader, Cursor, Read, Result, Write},
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use chronicle_editor::{Host, Pace, serve};
use chronicle_fuzz::{environment, now, on_ground, placed};
use libfuzzer_sys::fuzz_target;
use lsp_server::Message;
use serde_json::json;

/// Nobody waits longer for an answer.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

fuzz_target!(|input: &[u8]| on_ground(|repo| {
    let said = said(input, repo);
    let n_requests = requests(&said);
    let answers = Answers::default();
    let ended = Input { bytes: Cursor::new(said), answers: answers.clone(), n_requests };
    let host = Host {
        now,
        keeps_facts: |_| true,
        environment,
        behind: |_, _| {},
        explain: |error| error.to_string(),
        pace: Pace { rest: Duration::ZERO, look: Duration::from_secs(1) },
    };
    serve(host, BufReader::new(ended), answers.clone());
    let written = answers.written.0.lock().expect("nobody panicked");
    let mut written = Cursor::new(&**written);
    let mut n_answers = 0;
    while let Some(message) = Message::read(&mut written).expect("the server writes messages") {
        n_answers += usize::from(matches!(message, Message::Response(_)));
    }
    assert!(n_answers <= n_requests.unwrap_or(usize::MAX), "{n_answers} answers to {n_requests:?} requests");
}));

/// A conversation that has begun, with a text that is open, and then what is tried.
fn said(input: &[u8], repo: &Path) -> Vec<u8> {
    let root = format!("file://{}", repo.display());
    let begin = json!({ "jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "workspaceFolders": [{ "uri": root, "name": "fuzz" }],
        "capabilities": { "general": { "positionEncodings": ["utf-8"] } } } });
    let open = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": {
        "uri": format!("{root}/src/pool.rs"), "languageId": "rust", "version": 1,
        "text": "fn acquire() {\n    wait(\u{1f980});\n}\n" } } });
    let mut said = [framed(begin.to_string().as_bytes()), framed(open.to_string().as_bytes())].concat();
    let tried = placed(input, repo);
    match tried.split_first() {
        Some((b'!', raw)) => said.extend_from_slice(raw),
        _ => tried.split(|byte| *byte == b'\n').for_each(|body| said.extend(framed(body))),
    }
    said
}

fn framed(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// How many requests there are; `None` where the client leaves before all are read, or where that cannot be told.
fn requests(said: &[u8]) -> Option<usize> {
    let mut rest = Cursor::new(said);
    let mut n_requests = 0;
    loop {
        let mut header = String::new();
        if rest.read_line(&mut header).ok()? == 0 {
            return Some(n_requests);
        }
        let length: usize = header.strip_prefix("Content-Length: ")?.trim().parse().ok()?;
        let mut body = vec![0; length.checked_add(2).filter(|length| *length <= said.len())?];
        rest.read_exact(&mut body).ok()?;
        match serde_json::from_slice(body.strip_prefix(b"\r\n")?) {
            Ok(Message::Request(_)) => n_requests += 1,
            Ok(Message::Notification(notification)) if notification.method == "exit" => return None,
            _ => {}
        }
    }
}

/// What is said; it ends once all requests are answered.
struct Input {
    bytes: Cursor<Vec<u8>>,
    answers: Answers,
    n_requests: Option<usize>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n_read = self.bytes.read(buffer)?;
        if let (0, Some(n_requests)) = (n_read, self.n_requests) {
            let (written, more) = &*self.answers.written;
            let are_missing = |written: &mut Vec<u8>| responses(written) < n_requests;
            let written = written.lock().expect("nobody panicked");
            let waited = more.wait_timeout_while(written, LONGEST_WAIT, are_missing);
            assert!(!waited.expect("nobody panicked").1.timed_out(), "a request has no answer");
        }
        Ok(n_read)
    }
}

fn responses(written: &[u8]) -> usize {
    let mut written = Cursor::new(written);
    let messages = std::iter::from_fn(|| Message::read(&mut written).ok().flatten());
    messages.filter(|message| matches!(message, Message::Response(_))).count()
}

/// Where the server writes.
#[derive(Clone, Default)]
struct Answers {
    written: Arc<(Mutex<Vec<u8>>, Condvar)>,
}

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let (written, more) = &*self.written;
        written.lock().expect("nobody panicked").extend_from_slice(bytes);
        more.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
