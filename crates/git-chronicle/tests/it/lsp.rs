//! The language server, as editors start it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::chown,
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{binary, chronicle, skip};

const CODE: &str = "fn acquire() {\n    wait_until(deadline);\n}\n";

struct Editor {
    child: Child,
    from: BufReader<ChildStdout>,
    root: String,
}

impl Editor {
    fn at(root: &Path) -> Self {
        let mut command = binary(root, &["lsp"]);
        command.env("CHRONICLE_NOW", "2026-03-03T18:00:00Z");
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("the server starts");
        let from = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut editor = Self { child, from, root: format!("file://{}", root.display()) };
        let folders = json!([{ "uri": editor.root, "name": "pool" }]);
        let begun = editor.answer("initialize", &json!({ "capabilities": {}, "workspaceFolders": folders }));
        assert_eq!(begun["result"]["serverInfo"]["name"], "git-chronicle");
        editor
    }

    fn say(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let body = message.to_string();
        let stdin = self.child.stdin.as_mut().expect("it is open");
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server listens");
    }

    /// The next message: whatever is on standard output has to be one.
    #[track_caller]
    fn hear(&mut self) -> Value {
        let (mut header, mut blank) = (String::new(), String::new());
        self.from.read_line(&mut header).expect("it is text");
        self.from.read_line(&mut blank).expect("it is text");
        let length = header.strip_prefix("Content-Length: ").and_then(|length| length.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or_else(|| panic!("no message: {header}"))];
        self.from.read_exact(&mut body).expect("it is whole");
        serde_json::from_slice(&body).expect("it is JSON")
    }

    #[track_caller]
    fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.say(&json!({ "id": method, "method": method, "params": params }));
        loop {
            let heard = self.hear();
            if heard["id"] == method && heard.get("method").is_none() {
                return heard;
            }
        }
    }

    fn open(&mut self, text: &str) {
        let document = json!({ "uri": format!("{}/pool.rs", self.root), "languageId": "rust", "version": 1, "text": text });
        self.say(&json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    }

    #[track_caller]
    fn hover(&mut self, line: u32) -> String {
        let uri = format!("{}/pool.rs", self.root);
        let at = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 0 } });
        let hover = self.answer("textDocument/hover", &at);
        hover["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    fn end(mut self) -> Option<i32> {
        self.say(&json!({ "method": "exit" }));
        let mut rest = Vec::new();
        self.from.read_to_end(&mut rest).expect("it can be read");
        assert_eq!(rest, Vec::<u8>::new());
        self.child.wait().expect("it ends").code()
    }
}

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", CODE);
    repo.commit("pool: begin");
    let lesson = "pool.rs:2 The UI thread calls this; never block.";
    chronicle(repo.path(), &["annotate", "-m", "The pool waits", "--gotcha", lesson]).success();
    repo
}

#[test]
fn an_editor_sees_lessons_on_a_text_that_is_not_saved() {
    let repo = repo();
    let mut editor = Editor::at(repo.path());
    editor.open(&format!("// Not saved.\n{CODE}"));
    let hover = editor.hover(2);
    assert!(hover.starts_with("gotcha (line 3, intact, acquire, "), "{hover}");
    assert!(hover.contains("\nThe UI thread calls this; never block.\n"), "{hover}");
    assert_eq!(editor.answer("shutdown", &Value::Null)["result"], Value::Null);
    assert_eq!(editor.end(), Some(0));
    // The protocol wants it to be an error.
    assert_eq!(Editor::at(repo.path()).end(), Some(1));
}

#[test]
fn an_editor_sees_nothing_in_a_foreign_repository() {
    let repo = repo();
    let mut editor = Editor::at(repo.path());
    editor.open(CODE);
    assert_ne!(editor.hover(1), "");
    if ["", ".git"].iter().any(|part| chown(repo.path().join(part), Some(12_345), Some(12_345)).is_err()) {
        return skip("only root can give files away");
    }
    let mut editor = Editor::at(repo.path());
    editor.open(CODE);
    assert_eq!(editor.hover(1), "");
    let note = json!({ "command": "chronicle.note",
        "arguments": [{ "uri": format!("{}/pool.rs", editor.root), "text": "a trap" }] });
    let refused = editor.answer("workspace/executeCommand", &note);
    assert_eq!(refused["error"]["message"], "git would not work in this repository");
}
