//! A client of the server, and a repository to open in it.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{BufReader, PipeReader, PipeWriter, Write},
    path::Path,
    thread::JoinHandle,
    time::Duration,
};

use chronicle::{AnnotateCommand, Chronicle, Given};
use chronicle_editor::{Ended, Host, Pace, serve};
use chronicle_workplace::Workplace;
use jiff::Timestamp;
use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use testkit::TestRepo;

/// The home of whoever uses the editor.
fn environment(name: &str) -> Option<OsString> {
    (name == "CHRONICLE_HOME").then(|| concat!(env!("CARGO_TARGET_TMPDIR"), "/editor-home").into())
}

fn now() -> Timestamp {
    "2026-03-03T18:00:00Z".parse().expect("it is a time")
}

pub(crate) fn host() -> Host {
    Host {
        now,
        keeps_facts: |_| true,
        environment,
        behind: |_, _| {},
        explain: |error| error.to_string(),
        pace: Pace { rest: Duration::from_millis(1), look: Duration::from_millis(20) },
    }
}

/// A repository whose user has a name, with one committed file.
pub(crate) fn repository(file: &str, content: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "user.name", "Ada"]);
    repo.git(&["config", "user.email", "ada@example.com"]);
    repo.write(file, content);
    repo.commit("pool: begin");
    repo
}

/// Annotates HEAD with lessons.
pub(crate) fn annotate(repo: &TestRepo, wisdom: &Value) {
    let annotation = json!({ "summary": "Why the pool is as it is", "wisdom": wisdom });
    let workplace = Workplace::new(repo.path(), now(), true).with_environment(environment);
    let command = AnnotateCommand {
        given: Given::Json(annotation.to_string().into_bytes()),
        commit: None,
        replace: Vec::new(),
        replace_summary: false,
    };
    Chronicle::new(workplace).annotate(command).expect("it can be stored");
}

/// A client that has opened a repository.
pub(crate) struct Editor {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<Ended>>,
    n_asked: i32,
    root: String,
    /// What the server said while something else was waited for.
    unheard: VecDeque<(String, Value)>,
}

impl Editor {
    /// A client that has said nothing yet.
    pub(crate) fn silent(root: &Path) -> Self {
        let (input, to) = std::io::pipe().expect("there are pipes");
        let (from, output) = std::io::pipe().expect("there are pipes");
        let server = std::thread::spawn(move || serve(host(), BufReader::new(input), output));
        let root = format!("file://{}", root.to_str().expect("it is UTF-8"));
        Self {
            to: Some(to),
            from: BufReader::new(from),
            server: Some(server),
            n_asked: 0,
            root,
            unheard: VecDeque::new(),
        }
    }

    /// A client that can do what `capabilities` say.
    pub(crate) fn with(root: &Path, capabilities: &Value, options: &Value) -> Self {
        let mut editor = Self::silent(root);
        let params = json!({
            "processId": null,
            "rootUri": null,
            "workspaceFolders": [{ "uri": editor.root, "name": "pool" }],
            "capabilities": capabilities,
            "initializationOptions": options,
        });
        editor.answer("initialize", &params);
        editor.notify("initialized", &json!({}));
        editor
    }

    /// A client without any abilities.
    pub(crate) fn at(root: &Path) -> Self {
        Self::with(root, &json!({}), &Value::Null)
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        format!("{}/{file}", self.root)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.to.as_mut().expect("it is open").write_all(bytes).expect("the server listens");
    }

    fn say(&mut self, message: &Message) {
        message.write(self.to.as_mut().expect("it is open")).expect("the server listens");
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let notification = Notification { method: method.to_owned(), params: params.clone() };
        self.say(&Message::Notification(notification));
    }

    /// Sends a request.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> RequestId {
        self.n_asked += 1;
        let id = RequestId::from(self.n_asked);
        let request = Request { id: id.clone(), method: method.to_owned(), params: params.clone() };
        self.say(&Message::Request(request));
        id
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Message {
        Message::read(&mut self.from).expect("it is a message").expect("the server talks")
    }

    /// The answer to a request.
    #[track_caller]
    pub(crate) fn response(&mut self, id: &RequestId) -> Response {
        loop {
            match self.hear() {
                Message::Response(response) if response.id == *id => return response,
                Message::Response(response) => panic!("nobody asked: {response:?}"),
                Message::Notification(told) => self.unheard.push_back((told.method, told.params)),
                Message::Request(asked) => self.unheard.push_back((asked.method, asked.params)),
            }
        }
    }

    /// The answer to a question.
    #[track_caller]
    pub(crate) fn answer(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.response(&id).response_result.expect("it is answered")
    }

    /// Why a question has no answer.
    #[track_caller]
    pub(crate) fn refusal(&mut self, method: &str, params: &Value) -> (i32, String) {
        let id = self.ask(method, params);
        let error = self.response(&id).response_result.expect_err("it is refused");
        (error.code, error.message)
    }

    /// The next notification or request of the server called `method`.
    #[track_caller]
    pub(crate) fn told(&mut self, method: &str) -> Value {
        if let Some(at) = self.unheard.iter().position(|(named, _)| named == method) {
            return self.unheard.remove(at).expect("it is there").1;
        }
        loop {
            let (named, params) = match self.hear() {
                Message::Notification(told) => (told.method, told.params),
                Message::Request(asked) => (asked.method, asked.params),
                Message::Response(response) => panic!("nobody asked: {response:?}"),
            };
            if named == method {
                return params;
            }
            self.unheard.push_back((named, params));
        }
    }

    pub(crate) fn open(&mut self, file: &str, text: &str) {
        let document = json!({ "uri": self.uri(file), "languageId": "rust", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, file: &str, version: i32, changes: &Value) {
        let document = json!({ "uri": self.uri(file), "version": version });
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// A question about a file: `more` is added to its parameters.
    #[track_caller]
    pub(crate) fn about(&mut self, method: &str, file: &str, more: &Value) -> Value {
        let mut params = more.clone();
        params["textDocument"] = json!({ "uri": self.uri(file) });
        self.answer(&format!("textDocument/{method}"), &params)
    }

    /// What a hover over a line says.
    #[track_caller]
    pub(crate) fn hover(&mut self, file: &str, line: u32) -> String {
        let at = json!({ "position": { "line": line, "character": 0 } });
        let hover = self.about("hover", file, &at);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The words of the next warnings of a file, each with its lines.
    #[track_caller]
    pub(crate) fn warnings(&mut self) -> Vec<String> {
        let told = self.told("textDocument/publishDiagnostics");
        let found = told["diagnostics"].as_array().cloned().unwrap_or_default();
        let words = |found: &Value| {
            assert_eq!(found["severity"], 4, "{found}");
            let lines = [&found["range"]["start"]["line"], &found["range"]["end"]["line"]];
            format!("{}-{} {}", lines[0], lines[1], found["message"].as_str().unwrap_or_default())
        };
        found.iter().map(words).collect()
    }

    /// Runs a command of the server.
    #[track_caller]
    pub(crate) fn order(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        let id =
            self.ask("workspace/executeCommand", &json!({ "command": command, "arguments": [arguments] }));
        self.response(&id).response_result.map_err(|error| error.message)
    }

    /// Says goodbye, and tells how the server ended.
    pub(crate) fn leave(mut self) -> Ended {
        assert_eq!(self.answer("shutdown", &Value::Null), Value::Null);
        self.notify("exit", &Value::Null);
        self.end()
    }

    /// Says nothing more.
    pub(crate) fn end(&mut self) -> Ended {
        self.to = None;
        self.server.take().expect("it ends once").join().expect("it does not panic")
    }
}

/// Text without what differs from run to run: the commit, and ids.
pub(crate) fn settled(repo: &TestRepo, text: &str) -> String {
    let head = repo.git(&["rev-parse", "HEAD"]);
    text.replace(head.trim(), "COMMIT").replace(&head[..7], "COMMIT")
}
