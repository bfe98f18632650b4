//! The conversation with one client: what it may say when, what is open, and who answers.

use std::{
    collections::{HashMap, HashSet},
    io::{self, BufRead, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentLink, DocumentLinkParams, ExecuteCommandParams, HoverParams,
    InlayHintParams, PublishDiagnosticsParams, Uri, WorkspaceSymbolParams,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    abilities,
    actions::are_wanted,
    client::{Client, Folders, Wishes},
    documents::{Document, Documents},
    host::Host,
    orders::Order,
    refusal::Refusal,
    transport::{self, Heard},
    uri::{path_of, real, uri_of},
    work::{Event, IsQuiet, Job, Question, Waiting, Workers},
};

/// So many events wait for the server; who brings more waits, too.
const MAX_EVENTS: usize = 64;

/// So many requests wait for answers; more are refused.
const MAX_WAITING: usize = 1000;

/// With nothing to do, the server looks up this often.
const IDLE: Duration = Duration::from_hours(1);

/// Longer words are read elsewhere.
const LONGEST_WORDS: usize = 4000;

/// Why the server stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client said goodbye as it should.
    Properly,
    /// The client said `exit` before `shutdown`.
    Abruptly,
    /// The client left without a word.
    Alone,
}

/// Serves a client until it leaves.
pub fn serve(host: Host, input: impl BufRead + Send + 'static, output: impl Write) -> Ended {
    let (events, heard) = sync_channel(MAX_EVENTS);
    let reader = events.clone();
    // It ends with the pipe, or with the process.
    thread::spawn(move || listen(input, &reader));
    let mut server = Server { host, output, events, n_asked: 0, phase: Phase::New };
    server.run(&heard)
}

fn listen(mut input: impl BufRead, events: &SyncSender<Event>) {
    loop {
        let heard = transport::read(&mut input);
        let is_over = matches!(heard, Heard::End);
        if events.send(Event::Heard(heard)).is_err() || is_over {
            return;
        }
    }
}

struct Server<W> {
    host: Host,
    output: W,
    events: SyncSender<Event>,
    /// How much the server asked of the client.
    n_asked: i32,
    phase: Phase,
}

/// Where in its life a conversation is.
enum Phase {
    /// Nothing but `initialize` counts.
    New,
    Open(Box<Session>),
    /// Nothing but `exit` counts.
    ShutDown,
}

/// A conversation that has begun.
struct Session {
    client: Client,
    wishes: Wishes,
    folders: Folders,
    documents: Documents,
    workers: Workers,
    waiting: HashMap<RequestId, Arc<AtomicBool>>,
    /// When texts are to be checked.
    due: HashMap<String, Instant>,
    /// Texts that are being checked.
    checking: HashSet<String>,
    /// Texts of which something is shown.
    warned: HashSet<String>,
    look_at: Instant,
    is_looking: bool,
}

impl<W: Write> Server<W> {
    fn run(&mut self, heard: &Receiver<Event>) -> Ended {
        loop {
            let wait = match &self.phase {
                Phase::Open(session) => session.next().saturating_duration_since(Instant::now()),
                _ => IDLE,
            };
            let ended = match heard.recv_timeout(wait) {
                Ok(Event::Heard(Heard::End)) | Err(RecvTimeoutError::Disconnected) => Ok(Some(Ended::Alone)),
                Ok(Event::Heard(Heard::Message(message))) => self.hear(message),
                Ok(Event::Heard(Heard::Broken(reason))) => self.refuse_nameless(reason).map(|()| None),
                Ok(event) => self.react(event).map(|()| None),
                Err(RecvTimeoutError::Timeout) => Ok(None),
            };
            match ended {
                Ok(None) => {}
                Ok(Some(ended)) => return ended,
                // The client is gone.
                Err(_) => return Ended::Alone,
            }
            if let Phase::Open(session) = &mut self.phase {
                session.do_what_is_due(&self.host);
            }
        }
    }

    fn send(&mut self, message: impl Into<Message>) -> io::Result<()> {
        transport::write(&mut self.output, &message.into())
    }

    fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(Notification { method: method.to_owned(), params })
    }

    fn ask(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.n_asked = self.n_asked.wrapping_add(1);
        self.send(Request { id: self.n_asked.into(), method: method.to_owned(), params })
    }

    /// Words for the person.
    fn tell(&mut self, words: &str) -> io::Result<()> {
        let words = &words[..words.floor_char_boundary(LONGEST_WORDS)];
        self.notify("window/showMessage", json!({ "type": 3, "message": words }))
    }

    /// What is no message has no id.
    fn refuse_nameless(&mut self, reason: &str) -> io::Result<()> {
        let words = format!("a message was skipped: {reason}");
        match self.phase {
            Phase::Open(_) => self.notify("window/logMessage", json!({ "type": 2, "message": words })),
            _ => Ok(()),
        }
    }

    fn hear(&mut self, message: Message) -> io::Result<Option<Ended>> {
        match message {
            Message::Request(request) => self.answer(request).map(|()| None),
            Message::Notification(notification) if notification.method == "exit" => {
                Ok(Some(match self.phase {
                    Phase::ShutDown => Ended::Properly,
                    _ => Ended::Abruptly,
                }))
            }
            Message::Notification(notification) => {
                let Phase::Open(session) = &mut self.phase else { return Ok(None) };
                let gone = session.take_in(notification, &self.host);
                for uri in gone.cleared {
                    self.publish(&uri, None, Vec::new())?;
                }
                for id in gone.cancelled {
                    let refusal = Refusal::new(ErrorCode::RequestCanceled, "cancelled");
                    self.send(refusal.response(id))?;
                }
                Ok(None)
            }
            // What came of something the server asked for changes nothing.
            Message::Response(_) => Ok(None),
        }
    }

    fn answer(&mut self, request: Request) -> io::Result<()> {
        let id = request.id.clone();
        let refusal = match &mut self.phase {
            Phase::New if request.method == "initialize" => return self.begin(&request),
            Phase::New => Refusal::new(ErrorCode::ServerNotInitialized, "`initialize` comes first"),
            Phase::ShutDown => {
                Refusal::new(ErrorCode::InvalidRequest, "nothing is answered after `shutdown`")
            }
            Phase::Open(_) if request.method == "initialize" => {
                Refusal::new(ErrorCode::InvalidRequest, "the conversation has begun already")
            }
            Phase::Open(session) if request.method == "shutdown" => {
                let waiting: Vec<RequestId> = session.waiting.drain().map(|(id, _)| id).collect();
                self.phase = Phase::ShutDown;
                for unanswered in waiting {
                    let refusal = Refusal::new(ErrorCode::RequestCanceled, "the editor shut the server down");
                    self.send(refusal.response(unanswered))?;
                }
                return self.send(Response::new_ok(id, Value::Null));
            }
            Phase::Open(session) => match session.ask(request) {
                Ok(None) => return Ok(()),
                Ok(Some(answer)) => return self.send(Response::new_ok(id, answer)),
                Err(refusal) => refusal,
            },
        };
        self.send(refusal.response(id))
    }

    fn begin(&mut self, request: &Request) -> io::Result<()> {
        let client = Client::of(&request.params);
        let mut wishes = Wishes::default();
        wishes.set(request.params.get("initializationOptions").unwrap_or(&Value::Null));
        let workers = Workers::start(&self.host, client, &self.events);
        self.phase = Phase::Open(Box::new(Session {
            client,
            wishes,
            folders: Folders::of(&request.params),
            documents: Documents::default(),
            workers,
            waiting: HashMap::new(),
            due: HashMap::new(),
            checking: HashSet::new(),
            warned: HashSet::new(),
            look_at: Instant::now(),
            is_looking: false,
        }));
        self.send(Response::new_ok(request.id.clone(), abilities::of(client)))
    }

    /// Reacts to what the threads bring.
    fn react(&mut self, event: Event) -> io::Result<()> {
        let Phase::Open(session) = &mut self.phase else { return Ok(()) };
        match event {
            Event::Answered(id, answer) => {
                // One that was cancelled has its answer.
                if session.waiting.remove(&id).is_none() {
                    return Ok(());
                }
                match answer {
                    Ok(answer) => self.send(Response::new_ok(id, answer)),
                    Err(refusal) => self.send(refusal.response(id)),
                }
            }
            Event::Checked(document, found) => {
                session.checking.remove(&document.uri);
                let is_open = session.documents.get(&document.uri).is_some();
                let is_news = !found.is_empty() || session.warned.contains(&document.uri);
                if !is_open || !is_news || !session.wishes.diagnostics {
                    return Ok(());
                }
                match found.is_empty() {
                    true => session.warned.remove(&document.uri),
                    false => session.warned.insert(document.uri.clone()),
                };
                let found = found.into_iter().map(|found| json!(found)).collect();
                self.publish(&document.uri, Some(document.version), found)
            }
            Event::Looked(moved) => {
                session.is_looking = false;
                if moved.is_empty() {
                    return Ok(());
                }
                moved.iter().for_each(|uri| session.rest(uri, Duration::ZERO));
                let client = session.client;
                if client.refreshes_hints {
                    self.ask("workspace/inlayHint/refresh", Value::Null)?;
                }
                if client.refreshes_lenses {
                    self.ask("workspace/codeLens/refresh", Value::Null)?;
                }
                Ok(())
            }
            Event::Tell(words) => self.tell(&words),
            Event::Page(path) => {
                self.ask("window/showDocument", json!({ "uri": uri_of(&path), "takeFocus": true }))
            }
            Event::Heard(_) => Ok(()),
        }
    }

    fn publish(&mut self, uri: &str, version: Option<i32>, found: Vec<Value>) -> io::Result<()> {
        let params = PublishDiagnosticsParams { uri: Uri(uri.to_owned()), version, diagnostics: Vec::new() };
        let mut params = json!(params);
        params["diagnostics"] = Value::Array(found);
        self.notify("textDocument/publishDiagnostics", params)
    }
}

/// What a notification takes away.
#[derive(Default)]
struct Gone {
    /// Texts whose warnings are to be removed.
    cleared: Vec<String>,
    /// Requests that nobody waits for any more.
    cancelled: Vec<RequestId>,
}

impl Session {
    /// When something is to be done at the latest.
    fn next(&self) -> Instant {
        let due = self.due.values().min().copied();
        let look = (!self.is_looking && self.documents.all().next().is_some()).then_some(self.look_at);
        due.into_iter().chain(look).min().unwrap_or_else(|| Instant::now() + IDLE)
    }

    fn do_what_is_due(&mut self, host: &Host) {
        let now = Instant::now();
        let due: Vec<String> =
            self.due.iter().filter(|(_, at)| **at <= now).map(|(uri, _)| uri.clone()).collect();
        for uri in due {
            // One check of a text at a time: a faster writer is not answered more often.
            if self.checking.contains(&uri) {
                self.due.insert(uri, now + host.pace.rest);
                continue;
            }
            self.due.remove(&uri);
            if let Some(document) = self.documents.get(&uri) {
                self.workers.give(Job::Check(document.clone()));
                self.checking.insert(uri);
            }
        }
        if self.look_at <= now && !self.is_looking {
            self.look_at = now + host.pace.look;
            let open: Vec<Document> = self.documents.all().cloned().collect();
            if !open.is_empty() {
                self.is_looking = true;
                self.workers.give(Job::Look(open));
            }
        }
    }

    /// Lets a text be checked once it has rested.
    fn rest(&mut self, uri: &str, rest: Duration) {
        if self.wishes.diagnostics && self.documents.get(uri).is_some() {
            self.due.insert(uri.to_owned(), Instant::now() + rest);
        }
    }

    /// Takes in a notification. One that is not as it should be says nothing.
    fn take_in(&mut self, notification: Notification, host: &Host) -> Gone {
        let mut gone = Gone::default();
        let params = notification.params;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = parsed(params) else {
                    return gone;
                };
                let uri = opened.uri.0;
                if path_of(&uri).is_some_and(|path| self.folders.hold(&real(path))) {
                    self.documents.open(uri.clone(), opened.version, opened.text);
                    self.rest(&uri, Duration::ZERO);
                }
            }
            "textDocument/didChange" => {
                let Ok(changed) = parsed::<DidChangeTextDocumentParams>(params) else { return gone };
                let named = changed.text_document;
                let (uri, version) = (named.text_document_identifier.uri.0, named.version);
                if self.documents.change(&uri, version, changed.content_changes, self.client.encoding) {
                    self.rest(&uri, host.pace.rest);
                }
            }
            "textDocument/didSave" => {
                let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
                self.rest(uri, Duration::ZERO);
                self.look_at = Instant::now();
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document: closed }) = parsed(params) else {
                    return gone;
                };
                self.forget(closed.uri.0, &mut gone);
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.folders.change(&params);
                let is_out = |document: &&Document| !self.folders.hold(&document.path);
                let out: Vec<String> =
                    self.documents.all().filter(is_out).map(|document| document.uri.clone()).collect();
                out.into_iter().for_each(|uri| self.forget(uri, &mut gone));
            }
            "workspace/didChangeConfiguration" => {
                let before = self.wishes;
                self.wishes.set(params.get("settings").unwrap_or(&Value::Null));
                self.follow_wishes(before, &mut gone);
            }
            "workspace/didChangeWatchedFiles" => self.look_at = Instant::now(),
            "$/cancelRequest" => {
                let id = params.get("id").cloned().unwrap_or_default();
                let Ok(id) = serde_json::from_value::<RequestId>(id) else { return gone };
                if let Some(is_cancelled) = self.waiting.remove(&id) {
                    is_cancelled.store(true, Ordering::Relaxed);
                    gone.cancelled.push(id);
                }
            }
            _ => {}
        }
        gone
    }

    fn forget(&mut self, uri: String, gone: &mut Gone) {
        self.documents.close(&uri);
        self.due.remove(&uri);
        if self.warned.remove(&uri) {
            gone.cleared.push(uri.clone());
        }
        self.workers.give(Job::Forget(uri));
    }

    fn follow_wishes(&mut self, before: Wishes, gone: &mut Gone) {
        match (before.diagnostics, self.wishes.diagnostics) {
            (true, false) => {
                self.due.clear();
                gone.cleared.extend(self.warned.drain());
            }
            (false, true) => {
                let open: Vec<String> = self.documents.all().map(|document| document.uri.clone()).collect();
                open.iter().for_each(|uri| self.rest(uri, Duration::ZERO));
            }
            _ => {}
        }
    }

    /// Lets a request be answered; the answer, where it is at hand.
    fn ask(&mut self, request: Request) -> Result<Option<Value>, Refusal> {
        let Request { id, method, params } = request;
        let question = match method.as_str() {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = parsed(params)?;
                self.document(&at.text_document.uri).map(|document| Question::Hover(document, at.position))
            }
            "textDocument/inlayHint" => {
                let InlayHintParams { text_document, range, .. } = parsed(params)?;
                let document = self.document(&text_document.uri).filter(|_| self.wishes.inlay_hints);
                document.map(|document| Question::Hints(document, range))
            }
            "textDocument/codeLens" => {
                let CodeLensParams { text_document, .. } = parsed(params)?;
                self.document(&text_document.uri).filter(|_| self.wishes.code_lenses).map(Question::Lenses)
            }
            "textDocument/codeAction" => {
                let is_wanted = are_wanted(params.get("context").unwrap_or(&Value::Null));
                let CodeActionParams { text_document, range, .. } = parsed(params)?;
                let document = self.document(&text_document.uri).filter(|_| is_wanted);
                document.map(|document| Question::Actions(document, range))
            }
            "textDocument/documentLink" => {
                let DocumentLinkParams { text_document, .. } = parsed(params)?;
                self.document(&text_document.uri).map(Question::Links)
            }
            "documentLink/resolve" => {
                let link: DocumentLink = parsed(params)?;
                let uri = link.data.as_ref().and_then(|data| data.get("uri")?.as_str()).map(str::to_owned);
                self.path(uri.as_deref())?;
                Some(Question::Follow(Box::new(link)))
            }
            "workspace/symbol" => {
                let WorkspaceSymbolParams { query, .. } = parsed(params)?;
                Some(Question::Symbols(self.places(), query))
            }
            "workspace/executeCommand" => {
                let ExecuteCommandParams { command, arguments, .. } = parsed(params)?;
                Some(self.order(command, arguments.unwrap_or_default())?)
            }
            _ if method.starts_with("$/") => {
                return Err(Refusal::new(ErrorCode::MethodNotFound, "this is optional and not known here"));
            }
            _ => return Err(Refusal::new(ErrorCode::MethodNotFound, "this method is not known here")),
        };
        // A hover is an object or nothing; all others are lists.
        let nothing = if method == "textDocument/hover" { Value::Null } else { json!([]) };
        let Some(question) = question else { return Ok(Some(nothing)) };
        if MAX_WAITING <= self.waiting.len() || self.waiting.contains_key(&id) {
            return Err(Refusal::new(ErrorCode::ServerCancelled, "too many requests wait for their answers"));
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        self.waiting.insert(id.clone(), is_cancelled.clone());
        self.workers.give(Job::Ask(Waiting { id, is_cancelled }, question));
        Ok(None)
    }

    /// An open text, as it is now.
    fn document(&self, uri: &Uri) -> Option<Document> {
        self.documents.get(&uri.0).cloned()
    }

    /// The file that arguments name, if it is in an open folder.
    fn path(&self, uri: Option<&str>) -> Result<std::path::PathBuf, Refusal> {
        let path = uri.and_then(path_of).map(real);
        let path = path.ok_or_else(|| Refusal::arguments("`uri` names no file".to_owned()))?;
        match self.folders.hold(&path) {
            true => Ok(path),
            false => Err(Refusal::failed("the file is in none of the open folders".to_owned())),
        }
    }

    fn order(&self, command: String, arguments: Vec<Value>) -> Result<Question, Refusal> {
        let arguments = arguments.into_iter().next().unwrap_or_default();
        let uri = arguments.get("uri").and_then(Value::as_str);
        let path = self.path(uri)?;
        let document = uri.and_then(|uri| self.documents.get(uri)).cloned();
        let is_quiet = IsQuiet(arguments.get("quiet").and_then(Value::as_bool).unwrap_or(false));
        Ok(Question::Order(Box::new(Order { command, arguments, path, document }), is_quiet))
    }

    /// Where unfinished work is looked for: the open folders, or those of the open texts.
    fn places(&self) -> Vec<std::path::PathBuf> {
        if !self.folders.all().is_empty() {
            return self.folders.all().to_vec();
        }
        let mut places: Vec<_> =
            self.documents.all().filter_map(|document| Some(document.path.parent()?.to_owned())).collect();
        places.sort();
        places.dedup();
        places
    }
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal::arguments(error.to_string()))
}
