//! Messages that no editor should send: each is survived.

use chronicle_editor::Ended;
use lsp_server::Message;
use serde_json::{Value, json};

use crate::editor::{Editor, repository};

const CODE: &str = "fn acquire() {}\n";

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn what_is_said_out_of_order_is_refused() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::silent(repo.path());
    editor.open("a.rs", CODE);
    assert_eq!(editor.refusal("textDocument/hover", &json!({})).0, -32002);
    assert_eq!(editor.refusal("shutdown", &Value::Null).0, -32002);
    let begun = editor.answer("initialize", &json!({ "capabilities": {} }));
    assert_eq!(begun["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.refusal("initialize", &json!({})).0, -32600);
    // What was opened too early is not open.
    assert_eq!(editor.hover("a.rs", 0), "");
    assert_eq!(editor.answer("shutdown", &Value::Null), Value::Null);
    assert_eq!(editor.refusal("textDocument/hover", &json!({})).0, -32600);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.end(), Ended::Properly);
}

#[test]
fn leaving_early_is_told_apart() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::at(repo.path());
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.end(), Ended::Abruptly);
    assert_eq!(Editor::at(repo.path()).end(), Ended::Alone);
    assert_eq!(Editor::silent(repo.path()).end(), Ended::Alone);
    let mut editor = Editor::at(repo.path());
    editor.raw(b"Content-Length: 100\r\n\r\n{");
    assert_eq!(editor.end(), Ended::Alone);
}

#[test]
fn odd_messages_end_nothing() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::at(repo.path());
    editor.open("a.rs", CODE);
    let odd = [
        "{",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"id":1}"#,
        r#"{"method":7}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":7}}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///x","version":1},"contentChanges":[]}}"#,
        r#"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///x"}}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":999}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"$/setTrace","params":7}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no"}}"#,
    ];
    for message in odd {
        editor.raw(&framed(message));
    }
    editor.raw(b"hello\r\n\r\n\r\n");
    for (method, params, code) in [
        ("textDocument/hover", json!({}), -32602),
        ("textDocument/hover", json!([1]), -32602),
        ("textDocument/inlayHint", json!(null), -32602),
        ("workspace/executeCommand", json!({ "command": "chronicle.show" }), -32602),
        ("workspace/executeCommand", json!({ "command": "", "arguments": [7] }), -32602),
        ("documentLink/resolve", json!({ "range": null }), -32602),
        ("textDocument/definition", json!({}), -32601),
        ("$/anything", json!({}), -32601),
    ] {
        assert_eq!(editor.refusal(method, &params).0, code, "{method} {params}");
    }
    assert_eq!(editor.leave(), Ended::Properly);
}

#[test]
fn positions_anywhere_are_answered() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::at(repo.path());
    for text in ["", "\r", "\u{1f980}", "a\r\rb\n\n", CODE] {
        editor.open("a.rs", text);
        for (line, character) in [(0, 0), (0, u32::MAX), (u32::MAX, u32::MAX), (1, 1), (u32::MAX, 0)] {
            let at = json!({ "line": line, "character": character });
            let start = json!({ "line": 0, "character": 0 });
            editor.about("hover", "a.rs", &json!({ "position": at }));
            for range in [json!({ "start": at, "end": start }), json!({ "start": start, "end": at })] {
                editor.about("inlayHint", "a.rs", &json!({ "range": range }));
                editor.about(
                    "codeAction",
                    "a.rs",
                    &json!({ "range": range, "context": { "diagnostics": [] } }),
                );
            }
        }
        editor.change("a.rs", 2, &json!([
            { "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } }, "text": "\r" },
            { "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } }, "text": "x" },
        ]));
        editor.about("codeLens", "a.rs", &json!({}));
        editor.about("documentLink", "a.rs", &json!({}));
    }
    assert_eq!(editor.leave(), Ended::Properly);
}

#[test]
fn large_and_binary_texts_are_open_without_being_looked_at() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::at(repo.path());
    editor.open("a.rs", &"x".repeat(20 << 20));
    assert_eq!(editor.hover("a.rs", 0), "");
    editor.change("a.rs", 2, &json!([{ "text": "fn acquire() {}\n\0" }]));
    assert_eq!(editor.hover("a.rs", 0), "");
    // The message itself is too long.
    let long = format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"}}"#, "x".repeat(65 << 20));
    editor.raw(&framed(&long));
    assert_eq!(editor.told("window/logMessage")["message"], "a message was skipped: the message is too long");
    editor.change("a.rs", 3, &json!([{ "text": CODE }]));
    assert!(editor.hover("a.rs", 0).starts_with("Written by"), "a shorter text is looked at again");
    assert_eq!(editor.leave(), Ended::Properly);
}

#[test]
fn a_request_that_is_cancelled_is_answered_once() {
    let repo = repository("a.rs", CODE);
    let mut editor = Editor::at(repo.path());
    editor.open("a.rs", CODE);
    let at =
        json!({ "textDocument": { "uri": editor.uri("a.rs") }, "position": { "line": 0, "character": 0 } });
    let ids: Vec<_> = (0..50).map(|_| editor.ask("textDocument/hover", &at)).collect();
    for id in &ids {
        editor.notify("$/cancelRequest", &json!({ "id": id }));
    }
    // The last one is asked after all of them.
    let last = editor.ask("textDocument/hover", &at);
    let mut answered = Vec::new();
    let mut n_cancelled = 0;
    while answered.len() < 51 {
        let Message::Response(response) = editor.hear() else { continue };
        n_cancelled +=
            usize::from(response.response_result.as_ref().is_err_and(|error| error.code == -32800));
        assert!(!answered.contains(&response.id), "{:?} is answered twice", response.id);
        answered.push(response.id);
    }
    assert!(answered.contains(&last) && 0 < n_cancelled, "{n_cancelled}");
    assert_eq!(editor.leave(), Ended::Properly);
}
