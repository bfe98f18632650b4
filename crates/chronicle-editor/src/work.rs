//! Two threads answer while the server listens: one looks up lessons, which takes milliseconds, and one who wrote lines,
//! which may take git seconds.

use std::{
    collections::HashMap,
    path::PathBuf,
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel},
    },
    thread,
};

use chronicle::{Glance, LineRange};
use gen_lsp_types::{Diagnostic, DocumentLink, Position, Range, Uri};
use lsp_server::RequestId;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    actions::{Actions, as_actions},
    client::Client,
    documents::Document,
    host::Host,
    hover::{OfLine, Summary},
    known::Known,
    links::links,
    marks::{hints, lenses},
    orders::{ABOUT, Done, Order, in_parts},
    pages::Pages,
    refusal::Refusal,
    symbols::symbols,
    transport::Heard,
    uri::{path_of, uri_of},
    warnings,
    whys::{Whys, Written},
};

/// A request that waits for its answer.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) id: RequestId,
    /// Set when the client does not want the answer any more.
    pub(crate) is_cancelled: Arc<AtomicBool>,
}

impl Waiting {
    fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// What is asked of the thread that looks up lessons.
#[derive(Debug)]
pub(crate) enum Job {
    Ask(Waiting, Question),
    /// Which traps the text touches.
    Check(Document),
    /// Whether HEAD or the notes moved under these texts.
    Look(Vec<Document>),
    /// The text was closed.
    Forget(String),
}

/// A request about a text or a folder.
#[derive(Debug)]
pub(crate) enum Question {
    Hover(Document, Position),
    Hints(Document, Range),
    Lenses(Document),
    Actions(Document, Range),
    Links(Document),
    Follow(Box<DocumentLink>),
    Symbols(Vec<PathBuf>, String),
    Order(Box<Order>, IsQuiet),
}

/// Whether the client shows by itself what comes of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsQuiet(pub(crate) bool);

/// What the server reacts to.
pub(crate) enum Event {
    Heard(Heard),
    Answered(RequestId, Result<Value, Refusal>),
    Checked(Document, Vec<Diagnostic>),
    /// These texts are in repositories whose HEAD or notes moved.
    Looked(Vec<String>),
    /// Words for the person.
    Tell(String),
    /// A page for the person.
    Page(PathBuf),
}

/// The threads at work.
pub(crate) struct Workers {
    jobs: Sender<Job>,
    pages: Arc<Mutex<Pages>>,
}

impl Drop for Workers {
    /// The threads may be at work when the process ends, so the pages don't wait for them.
    fn drop(&mut self) {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}

impl Workers {
    pub(crate) fn start(host: &Host, client: Client, events: &SyncSender<Event>) -> Self {
        let (jobs, asked) = channel();
        let (look_ups, wanted) = channel();
        let whys = Arc::new(Whys::default());
        let blamer = Blamer { host: host.clone(), client, whys: whys.clone(), events: events.clone() };
        thread::spawn(move || blamer.work(&wanted));
        let (host, events) = (host.clone(), events.clone());
        let shown: Arc<Mutex<Pages>> = Arc::default();
        let pages = shown.clone();
        thread::spawn(move || {
            let (known, seen) = (HashMap::new(), HashMap::new());
            Reader { host, client, known, seen, whys, pages, look_ups, events }.work(&asked);
        });
        Self { jobs, pages: shown }
    }

    pub(crate) fn give(&self, job: Job) {
        // The thread ends with the server only.
        let _given = self.jobs.send(job);
    }
}

/// A line whose writer is to be looked up, and the request that waits for it.
struct LookUp {
    document: Document,
    line: u32,
    waiting: Option<(Waiting, Wanted)>,
}

/// In which form who wrote a line is wanted.
enum Wanted {
    /// As a hover, with what commits say of themselves.
    Hover(Vec<Summary>),
    /// In parts, next to the lessons.
    About(Vec<Value>),
}

/// Looks up who wrote lines.
struct Blamer {
    host: Host,
    client: Client,
    whys: Arc<Whys>,
    events: SyncSender<Event>,
}

impl Blamer {
    fn work(&self, wanted: &Receiver<LookUp>) {
        for LookUp { document, line, waiting } in wanted {
            if waiting.as_ref().is_some_and(|(waiting, _)| waiting.is_over()) {
                continue;
            }
            let written = self.whys.look_up(&self.host, &document, line);
            let Some((waiting, wanted)) = waiting else { continue };
            let answer = match wanted {
                Wanted::Hover(summaries) => {
                    let (view, is_markdown) = (self.host.view(), self.client.shows_markdown);
                    value(OfLine::of_commits(summaries).hover(Some(&written), &view, is_markdown))
                }
                Wanted::About(lessons) => Ok(about(&lessons, &written)),
            };
            if self.events.send(Event::Answered(waiting.id, answer)).is_err() {
                return;
            }
        }
    }
}

/// Looks up lessons, and does what a person chose.
struct Reader {
    host: Host,
    client: Client,
    /// What is known of open texts.
    known: HashMap<String, Rc<Known>>,
    /// What the repositories of open texts were like.
    seen: HashMap<String, Option<Glance>>,
    whys: Arc<Whys>,
    pages: Arc<Mutex<Pages>>,
    look_ups: Sender<LookUp>,
    events: SyncSender<Event>,
}

impl Reader {
    fn work(&mut self, asked: &Receiver<Job>) {
        for job in asked {
            let event = match job {
                Job::Ask(waiting, _) if waiting.is_over() => None,
                Job::Ask(waiting, question) => {
                    let answer = self.answer(&waiting, question);
                    answer.map(|answer| Event::Answered(waiting.id, answer))
                }
                Job::Check(document) => {
                    self.seen.entry(document.uri.clone()).or_insert_with(|| glance(&self.host, &document));
                    let found = warnings::of(&self.host, &document, self.client.encoding);
                    Some(Event::Checked(document, found))
                }
                Job::Look(documents) => Some(Event::Looked(self.look(&documents))),
                Job::Forget(uri) => {
                    self.known.remove(&uri);
                    self.seen.remove(&uri);
                    self.whys.forget(&uri);
                    None
                }
            };
            if event.is_some_and(|event| self.events.send(event).is_err()) {
                return;
            }
        }
    }

    /// The texts in repositories that moved.
    fn look(&mut self, documents: &[Document]) -> Vec<String> {
        let mut moved = Vec::new();
        for document in documents {
            let now = glance(&self.host, document);
            let before = self.seen.insert(document.uri.clone(), now.clone());
            if before.is_some_and(|before| before != now) {
                self.known.remove(&document.uri);
                self.whys.forget(&document.uri);
                moved.push(document.uri.clone());
            }
        }
        moved
    }

    fn known(&mut self, document: &Document) -> Rc<Known> {
        if let Some(known) = self.known.get(&document.uri)
            && known.is_of(&self.host, document)
        {
            return known.clone();
        }
        let known = Rc::new(Known::of(&self.host, document));
        self.known.insert(document.uri.clone(), known.clone());
        known
    }

    /// The answer; `None` where it comes later.
    fn answer(&mut self, waiting: &Waiting, question: Question) -> Option<Result<Value, Refusal>> {
        let encoding = self.client.encoding;
        Some(match question {
            Question::Hover(document, position) => return self.hover(waiting, document, position),
            Question::Hints(document, range) => {
                let (known, view) = (self.known(&document), self.host.view());
                value(hints(&known, &document.lines(encoding), range, &view))
            }
            Question::Lenses(document) => {
                let known = self.known(&document);
                value(lenses(&known, &document.lines(encoding), &document))
            }
            Question::Actions(document, range) => self.actions(&document, range),
            Question::Links(document) => value(links(&document, encoding)),
            Question::Follow(link) => self.follow(*link),
            Question::Symbols(folders, query) => {
                value(symbols(&self.host, &folders, &query, &mut self.pages()))
            }
            Question::Order(order, _) if order.command == ABOUT => return self.about(waiting, *order),
            Question::Order(order, is_quiet) => self.carry_out(&order, is_quiet),
        })
    }

    fn hover(
        &mut self,
        waiting: &Waiting,
        document: Document,
        position: Position,
    ) -> Option<Result<Value, Refusal>> {
        if document.is_opaque {
            return Some(Ok(Value::Null));
        }
        let line = document.lines(self.client.encoding).line_of(position);
        let known = self.known(&document);
        let view = self.host.view();
        let of_line = OfLine::new(&known, line, &view);
        let written = self.whys.known(&document, line);
        let waiting = match (&written, of_line.only_commits()) {
            (Some(_), _) => None,
            // With nothing else to show, the answer waits for who wrote the line.
            (None, Some(summaries)) => Some((waiting.clone(), Wanted::Hover(summaries))),
            (None, None) => None,
        };
        let waits = waiting.is_some();
        let hover = of_line.hover(written.as_deref(), &view, self.client.shows_markdown);
        if written.is_none() {
            let _wanted = self.look_ups.send(LookUp { document, line, waiting });
        }
        (!waits).then(|| value(hover))
    }

    /// All about a line, in parts.
    fn about(&mut self, waiting: &Waiting, order: Order) -> Option<Result<Value, Refusal>> {
        let (Some(line), Some(document)) = (order.line(), order.document) else {
            return Some(Err(Refusal::arguments("an open text and a `line` are needed".to_owned())));
        };
        let known = self.known(&document);
        let lessons = known.lessons_at(line).into_iter().map(|lesson| in_parts(lesson, line, &self.host));
        let waiting = Some((waiting.clone(), Wanted::About(lessons.collect())));
        let _wanted = self.look_ups.send(LookUp { document, line, waiting });
        None
    }

    fn actions(&mut self, document: &Document, range: Range) -> Result<Value, Refusal> {
        if document.is_opaque {
            return Ok(json!([]));
        }
        let known = self.known(document);
        let text = document.lines(self.client.encoding);
        let (start, end) = (text.line_of(range.start), text.line_of(range.end));
        let lines = LineRange { start: start.min(end), end: start.max(end) };
        let written = self.whys.known(document, lines.start);
        let found = Actions::of(document, &text, lines, &known, written.as_deref());
        if self.client.takes_actions { value(as_actions(found)) } else { value(found) }
    }

    /// A link with what it leads to.
    fn follow(&mut self, link: DocumentLink) -> Result<Value, Refusal> {
        let data = link.data.clone().unwrap_or_default();
        let path = data.get("uri").and_then(Value::as_str).and_then(path_of);
        let path = path.ok_or_else(|| Refusal::arguments("the link has no file".to_owned()))?;
        let arguments = json!({ "id": data.get("id") });
        let order = Order { command: "chronicle.show".to_owned(), arguments, path, document: None };
        let host = self.host.clone();
        let Done::Text(name, text) = order.carry_out(&host, |document| self.known(document))? else {
            return Ok(Value::Null);
        };
        let page = self.page(&name, &text)?;
        value(DocumentLink { target: Some(Uri(uri_of(&page))), ..link })
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&mut self, name: &str, text: &str) -> Result<PathBuf, Refusal> {
        self.pages()
            .write(name, text)
            .map_err(|error| Refusal::failed(format!("cannot write a page: {error}")))
    }

    fn carry_out(&mut self, order: &Order, is_quiet: IsQuiet) -> Result<Value, Refusal> {
        let host = self.host.clone();
        match order.carry_out(&host, |document| self.known(document))? {
            Done::Data(data) => Ok(data),
            Done::Stored(words) => {
                if !is_quiet.0 {
                    let _told = self.events.send(Event::Tell(words.clone()));
                }
                Ok(json!({ "message": words }))
            }
            Done::Text(name, text) => {
                if !is_quiet.0 {
                    let event = match self.client.shows_documents {
                        true => Event::Page(self.page(&name, &text)?),
                        false => Event::Tell(text.clone()),
                    };
                    let _told = self.events.send(event);
                }
                Ok(json!({ "title": name, "text": text }))
            }
        }
    }
}

/// What is known of a line, and who wrote it, in parts.
fn about(lessons: &[Value], written: &Written) -> Value {
    let sessions: Vec<&String> = written.sessions.iter().map(|(session, _)| session).collect();
    json!({
        "lessons": lessons,
        "written": written.words,
        "commits": written.commits,
        "sessions": sessions,
    })
}

/// What the repository of a text is like now.
fn glance(host: &Host, document: &Document) -> Option<Glance> {
    host.of(document).workplace().glance()
}

fn value(answer: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(|error| Refusal::failed(format!("a bug in Chronicle: {error}")))
}
