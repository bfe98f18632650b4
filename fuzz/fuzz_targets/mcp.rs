//! What an MCP client writes, line by line: every request is answered at most once, and every answer is one line of JSON.

#![no_main]

use std::{
    io::{Cursor, Result},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use chronicle_fuzz::{environment, now, on_ground, placed};
use chronicle_serve::mcp::{Choice, Explained, Host, serve_over};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::io::AsyncWrite;

const BEGIN: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"fuzz","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

fuzz_target!(|lines: &[u8]| on_ground(|repo| {
    let said = [BEGIN.as_bytes(), &placed(lines, repo)].concat();
    let n_said = said.split(|byte| *byte == b'\n').count();
    let all = Choice::of(&["all".to_owned()]).expect("there is such a choice");
    let host = Host {
        directory: repo.to_owned(),
        now,
        tools: all,
        keeps_facts: true,
        environment,
        behind: |_, _| {},
        explain: |error| Explained { code: error.code(), message: error.to_string(), hint: None },
    };
    let answers = Answers::default();
    // A client that breaks off at the beginning is an error, and no fault.
    let _served = serve_over(host, || (Cursor::new(said), answers.clone()));
    let answers = std::mem::take(&mut *answers.0.lock().expect("nobody panicked"));
    let text = String::from_utf8(answers).expect("answers are text");
    assert!(text.lines().count() <= n_said, "{text}");
    for line in text.lines() {
        let answer: Value = serde_json::from_str(line).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{line}");
    }
}));

/// Where the server writes.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Answers {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}
