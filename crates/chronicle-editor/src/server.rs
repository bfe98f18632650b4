//! The conversation with one client: what it may say when, and what it hears.

use std::{
    io::{self, BufRead, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use gen_lsp_types::{PublishDiagnosticsParams, Uri};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::{
    abilities,
    client::Client,
    conversation::{Conversation, IDLE},
    host::Host,
    refusal::Refusal,
    transport::{self, Heard},
    uri::uri_of,
    work::{Event, Workers},
};

/// So many events wait for the server; who brings more waits, too.
const MAX_EVENTS: usize = 64;

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
    Open(Box<Conversation>),
    /// Nothing but `exit` counts.
    ShutDown,
}

impl<W: Write> Server<W> {
    fn run(&mut self, heard: &Receiver<Event>) -> Ended {
        loop {
            let wait = match &self.phase {
                Phase::Open(conversation) => conversation.next().saturating_duration_since(Instant::now()),
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
            if let Phase::Open(conversation) = &mut self.phase {
                conversation.do_what_is_due(&self.host);
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
                let Phase::Open(conversation) = &mut self.phase else { return Ok(None) };
                let gone = conversation.take_in(notification, &self.host);
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
            Phase::Open(conversation) if request.method == "shutdown" => {
                let waiting: Vec<RequestId> = conversation.waiting.drain().map(|(id, _)| id).collect();
                self.phase = Phase::ShutDown;
                for unanswered in waiting {
                    let refusal = Refusal::new(ErrorCode::RequestCanceled, "the editor shut the server down");
                    self.send(refusal.response(unanswered))?;
                }
                return self.send(Response::new_ok(id, Value::Null));
            }
            Phase::Open(conversation) => match conversation.ask(request) {
                Ok(None) => return Ok(()),
                Ok(Some(answer)) => return self.send(Response::new_ok(id, answer)),
                Err(refusal) => refusal,
            },
        };
        self.send(refusal.response(id))
    }

    fn begin(&mut self, request: &Request) -> io::Result<()> {
        let client = Client::of(&request.params);
        let workers = Workers::start(&self.host, client, &self.events);
        self.phase = Phase::Open(Box::new(Conversation::new(&request.params, client, workers)));
        self.send(Response::new_ok(request.id.clone(), abilities::of(client)))
    }

    /// Reacts to what the threads bring.
    fn react(&mut self, event: Event) -> io::Result<()> {
        let Phase::Open(conversation) = &mut self.phase else { return Ok(()) };
        match event {
            Event::Answered(id, answer) => {
                // One that was cancelled has its answer.
                if conversation.waiting.remove(&id).is_none() {
                    return Ok(());
                }
                match answer {
                    Ok(answer) => self.send(Response::new_ok(id, answer)),
                    Err(refusal) => self.send(refusal.response(id)),
                }
            }
            Event::Checked(document, found) => {
                conversation.checking.remove(&document.uri);
                let is_open = conversation.documents.get(&document.uri).is_some();
                let found: Vec<Value> = found.into_iter().map(|found| json!(found)).collect();
                let shown = conversation.warned.get(&document.uri);
                let is_news = shown.map_or(&[][..], Vec::as_slice) != found;
                if !is_open || !is_news || !conversation.wishes.diagnostics {
                    return Ok(());
                }
                if found.is_empty() {
                    conversation.warned.remove(&document.uri);
                } else {
                    conversation.warned.insert(document.uri.clone(), found.clone());
                }
                self.publish(&document.uri, Some(document.version), found)
            }
            Event::Looked(moved) => {
                conversation.is_looking = false;
                if moved.is_empty() {
                    return Ok(());
                }
                moved.iter().for_each(|uri| conversation.rest(uri, Duration::ZERO));
                let client = conversation.client;
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
