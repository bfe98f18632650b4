//! What is made of the program's answers and failures; the real one is asked in `tests/acceptance/agents`.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use chronicle_llm::{Cancel, ClaudeCommand, Form, Model, ModelError, Reply, Request, Stop, Turn, Usage};
use serde_json::json;
use tempfile::TempDir;

/// A program that does what `script` says, and the directory that it is in.
fn program(script: &str) -> (TempDir, ClaudeCommand) {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let file = dir.path().join("claude");
    // Written by another process: one that is just starting from here would keep the file open for writing.
    let mut write = testkit::command("sh", dir.path());
    write.args(["-c", "printf '%s' \"$1\" >claude && chmod 755 claude", "sh"]);
    let status = write.arg(format!("#!/bin/sh\n{script}\n")).status().expect("there is a shell");
    assert!(status.success());
    let timeout = Duration::from_secs(20);
    (
        dir,
        ClaudeCommand {
            program: file.into(),
            model: Some("sonnet".into()),
            timeout,
            context_tokens: 200_000,
            variables: None,
        },
    )
}

fn answering(answer: &serde_json::Value) -> Result<Reply, ModelError> {
    let (_dir, claude) = program(&format!("cat >/dev/null; cat <<'EOF'\n{answer}\nEOF"));
    claude.complete(&request(), &Cancel::default())
}

fn request() -> Request {
    let schema = json!({ "type": "object", "properties": { "reason": { "type": "string" } } });
    Request {
        system: "You say why.".to_owned(),
        turns: vec![Turn::User("Why seven?".to_owned()), Turn::User("It is not JSON.".to_owned())],
        form: Some(Form { name: "answer".to_owned(), schema }),
        max_tokens: 300,
        ..Request::default()
    }
}

#[test]
fn an_answer_of_the_form_is_a_reply() {
    let usage = json!({
        "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4,
    });
    let structured = json!({ "reason": "it is enough" });
    let reply = answering(&json!({
        "type": "result", "subtype": "success", "is_error": false, "stop_reason": "tool_use",
        "result": "{}", "structured_output": structured, "usage": usage,
    }));
    let reply = reply.unwrap();
    assert_eq!(reply.text(), structured.to_string());
    assert_eq!(reply.stop, Stop::End);
    assert_eq!(reply.usage, Usage { input: 10, output: 20, cache_read: 3, cache_written: 4 });
}

#[test]
fn its_errors_are_told_in_its_words() {
    let error = answering(&json!({
        "is_error": true, "result": "Invalid API key · Please run /login", "api_error_status": 401,
    }));
    assert_eq!(
        error.unwrap_err().to_string(),
        "sonnet refused the request (401): Invalid API key · Please run /login"
    );
    let error = answering(&json!({ "is_error": true, "result": "Not logged in", "api_error_status": null }));
    assert!(matches!(error, Err(ModelError::Unusable { reason, .. }) if reason == "Not logged in"));
    let error = answering(&json!({ "is_error": false, "subtype": "error_max_turns", "result": "" }));
    assert!(matches!(error, Err(ModelError::Unreadable { .. })));
}

#[test]
fn a_program_that_is_too_old_or_missing_is_told() {
    let (_dir, claude) = program("echo \"error: unknown option '--no-session-persistence'\" >&2; exit 1");
    let error = claude.complete(&request(), &Cancel::default()).unwrap_err();
    assert_eq!(error.to_string(), "sonnet cannot be used: error: unknown option '--no-session-persistence'");
    let missing = ClaudeCommand { program: "/nonexistent/claude".into(), ..claude };
    let error = missing.complete(&request(), &Cancel::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("sonnet cannot be used: `/nonexistent/claude` cannot be run"),
        "{error}"
    );
}

#[test]
fn it_is_asked_apart_from_everything_of_its_user() {
    let script = "here=$(dirname \"$0\"); cat >\"$here/prompt\"; printf '%s\\n' \"$@\" >\"$here/arguments\"\n\
                  pwd >\"$here/directory\"; env >\"$here/environment\"; echo '{\"result\":\"ok\"}'";
    let (dir, claude) = program(script);
    let request = Request { form: None, ..request() };
    assert_eq!(claude.complete(&request, &Cancel::default()).unwrap().text(), "ok");
    let told = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(told("prompt"), "Why seven?\n\nIt is not JSON.");
    let arguments = told("arguments");
    for argument in
        ["--no-session-persistence", "--strict-mcp-config", "--model=sonnet", "--system-prompt=You say why."]
    {
        assert!(arguments.lines().any(|line| line == argument), "{arguments}");
    }
    let environment = told("environment");
    assert!(environment.contains("CLAUDE_CODE_SAFE_MODE=1"), "{environment}");
    assert!(environment.contains("CLAUDE_CODE_MAX_OUTPUT_TOKENS=300"), "{environment}");
    assert!(!Path::new(told("directory").trim()).exists());
}

#[test]
fn it_is_ended_at_the_timeout_and_when_it_is_called_off() {
    // Its own child holds the pipe longer than it lives.
    let (dir, claude) = program("echo $$ >\"$(dirname \"$0\")/pid\"; sleep 60; echo late");
    let is_there = |dir: &TempDir| dir.path().join("pid").exists();
    let began = Instant::now();
    let hasty = ClaudeCommand { timeout: Duration::from_millis(200), ..claude.clone() };
    let error = hasty.complete(&request(), &Cancel::default()).unwrap_err();
    assert_eq!(error.to_string(), "sonnet gave no complete reply within 200ms");
    assert!(began.elapsed() < Duration::from_secs(10));
    fs::remove_file(dir.path().join("pid")).unwrap_or_default();
    let cancel = Cancel::default();
    thread::scope(|scope| {
        let call = scope.spawn(|| (claude.complete(&request(), &cancel), Instant::now()));
        while !is_there(&dir) {
            thread::yield_now();
        }
        let called_off = Instant::now();
        cancel.cancel();
        let (result, ended) = call.join().unwrap();
        assert!(matches!(result, Err(ModelError::Cancelled)));
        assert!(ended.duration_since(called_off) < Duration::from_millis(100));
    });
}
