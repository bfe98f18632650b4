//! Claude Code's rows.

use std::borrow::Cow;
use std::collections::VecDeque;

use jiff::Timestamp;
use memchr::memmem;
use serde_json::value::RawValue;

use crate::format::Transcript;
use crate::human::{Author, author, author_of_waiting};
use crate::json;
use crate::outcome::Answer;
use crate::row::Row;
use crate::stream::Stream;
use crate::tally::Verdict;
use crate::tools;
use crate::turn::{Event, Place, Synthetic, Turn, Usage};

/// How far into a row its kind is looked for before the row is read.
const HEAD: usize = 2_048;

/// How rows of progress begin that are not a sub-agent's. No text can hold it: there, quotes are escaped.
const PROGRESS: &[u8] = br#""type":"progress","data":{"type":""#;

/// How many titles may wait for the conversation they are about.
const MOST_TITLES: usize = 256;

/// How many prompts may wait until the agent is free.
const MOST_QUEUED: usize = 256;

/// What is remembered between rows.
#[derive(Default)]
pub(crate) struct Claude {
    /// Titles of conversations, by their last row: older files begin with those of other sessions too.
    titles: Vec<(String, String)>,
    /// What was typed while the agent was busy.
    queued: VecDeque<Queued>,
    /// Whether the title is one that the human or the agent gave to this very session.
    has_own_title: bool,
}

struct Queued {
    place: Place,
    at: Option<Timestamp>,
    words: String,
}

/// The members of a row that say something; the others are the larger part.
#[derive(Default)]
struct Fields<'a> {
    kind: Cow<'a, str>,
    subtype: Cow<'a, str>,
    uuid: Cow<'a, str>,
    at: Option<Timestamp>,
    session_id: Cow<'a, str>,
    folder: Cow<'a, str>,
    branch: Cow<'a, str>,
    version: Cow<'a, str>,
    agent_id: Cow<'a, str>,
    operation: Cow<'a, str>,
    leaf_id: Cow<'a, str>,
    title: Option<Cow<'a, str>>,
    url: Cow<'a, str>,
    is_meta: bool,
    is_side: bool,
    is_summary: bool,
    is_plan: bool,
    is_failure: bool,
    origin: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

const WANTED: [&str; 28] = [
    "type",
    "subtype",
    "uuid",
    "timestamp",
    "sessionId",
    "cwd",
    "gitBranch",
    "version",
    "agentId",
    "operation",
    "leafUuid",
    "summary",
    "aiTitle",
    "customTitle",
    "title",
    "prUrl",
    "isMeta",
    "isSidechain",
    "isCompactSummary",
    "planContent",
    "isApiErrorMessage",
    "origin",
    "message",
    "content",
    "data",
    "error",
    "cause",
    "parentSessionId",
];

impl<'a> Fields<'a> {
    fn set(&mut self, key: &str, value: &'a RawValue) {
        let text = || json::text_or_empty(value);
        match key {
            "type" => self.kind = text(),
            "subtype" => self.subtype = text(),
            "uuid" => self.uuid = text(),
            "timestamp" => self.at = text().parse().ok(),
            "sessionId" => self.session_id = text(),
            "cwd" => self.folder = text(),
            "gitBranch" => self.branch = text(),
            "version" => self.version = text(),
            "agentId" => self.agent_id = text(),
            "operation" => self.operation = text(),
            "leafUuid" => self.leaf_id = text(),
            "summary" | "aiTitle" | "customTitle" | "title" => self.title = json::text(value),
            "prUrl" => self.url = text(),
            "isMeta" => self.is_meta = json::is_true(value),
            "isSidechain" => self.is_side = json::is_true(value),
            "isCompactSummary" => self.is_summary = json::is_true(value),
            "planContent" => self.is_plan = true,
            "isApiErrorMessage" => self.is_failure = json::is_true(value),
            "origin" => self.origin = Some(value),
            "message" => self.message = Some(value),
            "content" => self.content = Some(value),
            "data" => self.data = Some(value),
            "error" | "cause" => self.error = self.error.or(Some(value)),
            _ => {}
        }
    }

    fn sub_agent(&self) -> Option<&str> {
        (self.is_side || !self.agent_id.is_empty()).then_some(&*self.agent_id)
    }

    /// Whether something that is no human put the words there.
    fn is_from_machine(&self) -> bool {
        let Some(origin) = self.origin else { return false };
        let kind = json::member_text(origin, "kind").or_else(|| json::text(origin));
        !matches!(kind.as_deref(), None | Some("human" | "user" | ""))
    }
}

impl Transcript for Claude {
    fn skips(&self, line: &[u8]) -> Option<&'static str> {
        let head = &line[..line.len().min(HEAD)];
        let kind = if let Some(at) = memmem::find(head, PROGRESS) {
            let kind = &head[at + PROGRESS.len()..];
            const KINDS: [(&[u8], &str); 3] = [
                (b"bash_progress\"", "progress/bash_progress"),
                (b"hook_progress\"", "progress/hook_progress"),
                (b"mcp_progress\"", "progress/mcp_progress"),
            ];
            KINDS.iter().find(|(mark, _)| kind.starts_with(mark))?.1
        } else if head.starts_with(b"{\"type\":\"file-history-snapshot\"") {
            "file-history-snapshot"
        } else if head.starts_with(b"{\"type\":\"api-request") {
            "api-request"
        } else {
            return None;
        };
        // A whole value that nothing else follows: otherwise the row is read.
        let line = line.trim_ascii_end();
        (line.ends_with(b"}") && memmem::find(line, b"}{").is_none()).then_some(kind)
    }

    fn read(
        &mut self,
        row: &Row<'_>,
        stream: &mut Stream<'_>,
    ) -> Result<(Verdict, usize), serde_json::Error> {
        let mut fields = Fields::default();
        let length =
            json::first_object(row.bytes, |key| WANTED.contains(&key), |key, value| fields.set(key, value))?;
        Ok((self.take(row, &fields, stream), length))
    }

    fn finish(&mut self, stream: &mut Stream<'_>) {
        while let Some(queued) = self.queued.pop_front() {
            tell_queued(queued, stream);
        }
    }
}

impl Claude {
    fn take(&mut self, row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
        if !stream.is_new(&fields.uuid) {
            return Verdict::skipped("repeated");
        }
        note_session(fields, stream);
        self.note_title(fields, stream);
        match &*fields.kind {
            "assistant" => assistant(row, fields, stream),
            "user" => user(row, fields, stream),
            "progress" => progress(row, fields, stream),
            "system" => system(row, fields, stream),
            "queue-operation" => self.queue(row, fields, stream),
            "summary" | "ai-title" | "custom-title" => Verdict::Kept,
            "pr-link" if stream.is_new(&fields.url) => {
                let id = Cow::Borrowed(&*fields.url);
                let event = Event::PullRequest(fields.url.clone());
                stream.turn(&Turn { id, ..Turn::new(row.place.clone(), fields.at, event) });
                Verdict::Kept
            }
            "pr-link" => Verdict::skipped("repeated"),
            "attachment"
            | "file-history-snapshot"
            | "last-prompt"
            | "mode"
            | "permission-mode"
            | "tools-used"
            | "cost-state"
            | "atis-latch"
            | "agent-name"
            | "agent-color" => Verdict::skipped(&fields.kind),
            kind if kind.starts_with("api-request") => Verdict::skipped("api-request"),
            kind => Verdict::unknown(kind),
        }
    }

    fn note_title(&mut self, fields: &Fields<'_>, stream: &mut Stream<'_>) {
        let title = fields.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        match (&*fields.kind, title) {
            ("summary", Some(title)) if self.titles.len() < MOST_TITLES => {
                self.titles.push((fields.leaf_id.to_string(), title.to_owned()));
            }
            ("ai-title" | "custom-title", Some(title)) => {
                self.has_own_title = true;
                stream.session.title = Some(title.to_owned());
            }
            _ => {}
        }
        if !self.has_own_title
            && !fields.uuid.is_empty()
            && let Some((_, title)) = self.titles.iter().find(|(leaf_id, _)| *leaf_id == fields.uuid)
        {
            stream.session.title = Some(title.clone());
        }
    }

    /// What is typed while the agent is busy waits in a queue. It is handed to
    /// the agent in the middle of its work (`remove`) and then stands nowhere
    /// else, becomes a row of its own (`dequeue`), or goes back to the human (`popAll`).
    fn queue(&mut self, row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
        match &*fields.operation {
            "enqueue" => {
                let words = fields.content.map(json::text_or_empty).unwrap_or_default();
                if self.queued.len() < MOST_QUEUED && !words.is_empty() {
                    let place = row.place_of(fields.content.expect("it has words"));
                    self.queued.push_back(Queued { place, at: fields.at, words: words.into_owned() });
                }
            }
            "remove" => {
                if let Some(queued) = self.queued.pop_front() {
                    tell_queued(queued, stream);
                }
            }
            "dequeue" => drop(self.queued.pop_front()),
            "popAll" => self.queued.clear(),
            operation => return Verdict::unknown(operation),
        }
        Verdict::Kept
    }
}

fn note_session(fields: &Fields<'_>, stream: &mut Stream<'_>) {
    let session = &mut stream.session;
    if !fields.session_id.is_empty() && session.id.as_deref() != Some(&fields.session_id) {
        session.id = Some(fields.session_id.to_string());
    }
    session.is_in(&fields.folder);
    session.is_on(&fields.branch);
    if !fields.version.is_empty() && session.version.as_deref() != Some(&fields.version) {
        session.version = Some(fields.version.to_string());
    }
    if fields.is_side {
        session.parent_id.clone_from(&session.id);
    }
}

fn tell_queued(queued: Queued, stream: &mut Stream<'_>) {
    let event = match author_of_waiting(queued.words.into()) {
        Author::Human(words) => Event::Prompt(words),
        Author::Machine(kind, words) => Event::Synthetic(kind, words),
        Author::Interruption => Event::Interruption("".into()),
    };
    // Queue rows have no id: where they stand is as lasting as one.
    let id = format!("queue-{}", queued.place.bytes.start);
    stream.turn(&Turn { id: id.into(), ..Turn::new(queued.place, queued.at, event) });
}

/// Tells of a part of a row; `part` tells the parts of one row from each other.
fn tell(
    row: &Row<'_>,
    fields: &Fields<'_>,
    stream: &mut Stream<'_>,
    value: Option<&RawValue>,
    part: &str,
    event: Event<'_>,
) {
    let value = value.or(fields.message).or(fields.content);
    let place = value.map_or_else(|| row.place.clone(), |value| row.place_of(value));
    let id = if part.is_empty() {
        Cow::Borrowed(&*fields.uuid)
    } else {
        Cow::Owned(format!("{}#{part}", fields.uuid))
    };
    let sub_agent = fields.sub_agent().map(Cow::Borrowed);
    stream.turn(&Turn { id, sub_agent, ..Turn::new(place, fields.at, event) });
}

fn assistant(row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    let Some(message) = fields.message else { return Verdict::skipped("assistant without message") };
    let (mut content, mut usage, mut id, mut model) = (None, None, Cow::default(), Cow::default());
    json::members(message, |key, value| match key {
        "content" => content = Some(value),
        "usage" => usage = Some(value),
        "id" => id = json::text_or_empty(value),
        "model" => model = json::text_or_empty(value),
        _ => {}
    });
    let is_model = !model.is_empty() && model != "<synthetic>";
    if is_model {
        if stream.session.model.as_deref() != Some(&model) && fields.sub_agent().is_none() {
            stream.session.model = Some(model.to_string());
        }
        if let Some(usage) = usage {
            stream.reply(&id, read_usage(usage));
        }
    }
    let mut index = 0;
    for_each_block(content, |kind, block| {
        let part = if index == 0 { String::new() } else { index.to_string() };
        index += 1;
        match kind {
            "text" => {
                let words = json::member_text(block, "text").unwrap_or_default();
                if fields.is_failure || fields.error.is_some() {
                    tell(row, fields, stream, Some(block), &part, Event::Error(words));
                } else if is_model && !words.trim().is_empty() {
                    tell(row, fields, stream, Some(block), &part, Event::Said(words));
                }
            }
            "tool_use" => call(row, fields, block, stream),
            _ => {}
        }
    });
    Verdict::Kept
}

fn call(row: &Row<'_>, fields: &Fields<'_>, block: &RawValue, stream: &mut Stream<'_>) {
    let (mut id, mut name, mut input) = (Cow::default(), Cow::default(), None);
    json::members(block, |key, value| match key {
        "id" => id = json::text_or_empty(value),
        "name" => name = json::text_or_empty(value),
        "input" => input = Some(value),
        _ => {}
    });
    stream.call(&id, row.place_of(block), fields.at, fields.sub_agent(), tools::called(&name, input));
}

fn read_usage(raw: &RawValue) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "input_tokens" => usage.input = number(),
            "output_tokens" => usage.output = number(),
            "cache_creation_input_tokens" => usage.cache_write = number(),
            "cache_read_input_tokens" => usage.cache_read = number(),
            _ => {}
        }
    });
    usage
}

fn user(row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    let content = fields.message.and_then(|message| json::member(message, "content"));
    let Some(content) = content else { return Verdict::skipped("user without content") };
    if let Some(words) = json::text(content) {
        tell_words(row, fields, stream, content, "", words);
        return Verdict::Kept;
    }
    let mut index = 0;
    for_each_block(Some(content), |kind, block| {
        let part = if index == 0 { String::new() } else { index.to_string() };
        index += 1;
        match kind {
            "text" => {
                let words = json::member_text(block, "text").unwrap_or_default();
                tell_words(row, fields, stream, block, &part, words);
            }
            "tool_result" => {
                answer(block, stream);
            }
            _ => {}
        }
    });
    if index == 0 { Verdict::skipped("user without words") } else { Verdict::Kept }
}

fn tell_words(
    row: &Row<'_>,
    fields: &Fields<'_>,
    stream: &mut Stream<'_>,
    value: &RawValue,
    part: &str,
    words: Cow<'_, str>,
) {
    let judged = author(words);
    let event = match judged {
        Author::Interruption => Event::Interruption("".into()),
        Author::Machine(Synthetic::Summary, words) => Event::Synthetic(Synthetic::Summary, words),
        Author::Machine(_, words) | Author::Human(words) if fields.is_summary => {
            Event::Synthetic(Synthetic::Summary, words)
        }
        Author::Machine(_, words) | Author::Human(words) if fields.sub_agent().is_some() => {
            Event::Synthetic(Synthetic::SubAgent, words)
        }
        Author::Human(words) if fields.is_plan => Event::Synthetic(Synthetic::Plan, words),
        Author::Human(words) if fields.is_meta => Event::Synthetic(Synthetic::Injected, words),
        Author::Human(words) if fields.is_from_machine() => Event::Synthetic(Synthetic::Notification, words),
        Author::Machine(kind, words) => Event::Synthetic(kind, words),
        Author::Human(words) => Event::Prompt(words),
    };
    tell(row, fields, stream, Some(value), part, event);
}

fn answer(block: &RawValue, stream: &mut Stream<'_>) {
    let (mut id, mut content, mut is_error) = (Cow::default(), None, None);
    json::members(block, |key, value| match key {
        "tool_use_id" => id = json::text_or_empty(value),
        "content" => content = Some(value),
        "is_error" => is_error = Some(json::is_true(value)),
        _ => {}
    });
    let text = content.map(words_of).unwrap_or_default();
    // An answer that says nothing of an error is none.
    let is_ok = Some(is_error != Some(true));
    stream.answer(&id, &Answer { is_ok, exit_code: None, text: &text });
}

/// The words of a text, or of all texts in a list of blocks.
pub(crate) fn words_of(content: &RawValue) -> Cow<'_, str> {
    if let Some(text) = json::text(content) {
        return text;
    }
    let mut words: Cow<'_, str> = Cow::default();
    json::items(content, |block| {
        let Some(text) = json::member_text(block, "text") else { return };
        if words.is_empty() {
            words = text;
        } else {
            words.to_mut().push('\n');
            words.to_mut().push_str(&text);
        }
    });
    words
}

/// Calls `each` with the kind of each block.
fn for_each_block<'a>(content: Option<&'a RawValue>, mut each: impl FnMut(&str, &'a RawValue)) {
    let Some(content) = content else { return };
    json::items(content, |block| {
        let kind = json::member_text(block, "type").unwrap_or_default();
        each(&kind, block);
    });
}

/// Sub-agents of older versions speak through rows of progress.
fn progress(row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    let (mut kind, mut agent_id, mut message) = (Cow::default(), Cow::default(), None);
    if let Some(data) = fields.data {
        json::members(data, |key, value| match key {
            "type" => kind = json::text_or_empty(value),
            "agentId" => agent_id = json::text_or_empty(value),
            "message" => message = Some(value),
            _ => {}
        });
    }
    let Some(message) = message.filter(|_| kind == "agent_progress") else {
        return Verdict::skipped(&format!("progress/{}", tools::cut(&kind, 40)));
    };
    let mut inner = Fields { agent_id, is_side: true, ..Fields::default() };
    json::members(message, |key, value| match key {
        "type" | "uuid" | "timestamp" | "message" | "isApiErrorMessage" => inner.set(key, value),
        _ => {}
    });
    if !stream.is_new(&inner.uuid) {
        return Verdict::skipped("repeated");
    }
    match &*inner.kind {
        "assistant" => assistant(row, &inner, stream),
        "user" => user(row, &inner, stream),
        kind => Verdict::unknown(kind),
    }
}

fn system(row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    match &*fields.subtype {
        "api_error" => {
            let words = fields.error.map(|error| json::text(error).unwrap_or_else(|| error_words(error)));
            tell(row, fields, stream, fields.error, "", Event::Error(words.unwrap_or_default()));
            Verdict::Kept
        }
        "local_command" => {
            if let Some(content) = fields.content
                && let Some(words) = json::text(content)
            {
                tell_words(row, fields, stream, content, "", words);
            }
            Verdict::Kept
        }
        "compact_boundary" => {
            stream.session.n_compactions += 1;
            Verdict::Kept
        }
        subtype => Verdict::skipped(&format!("system/{}", tools::cut(subtype, 40))),
    }
}

/// The most telling words of an error that is an object.
fn error_words(error: &RawValue) -> Cow<'_, str> {
    for path in [
        &["message"][..],
        &["error", "message"],
        &["error", "error", "message"],
        &["cause", "code"],
        &["status"],
    ] {
        let mut value = Some(error);
        for name in path {
            value = value.and_then(|value| json::member(value, name));
        }
        if let Some(words) = value.and_then(json::text) {
            return words;
        }
    }
    Cow::Borrowed("the model's service failed")
}
