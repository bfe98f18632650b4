//! Claude Code's rows.

mod parts;
mod writer;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::LazyLock;

use chronicle_core::redaction::{Removed, for_storage};
use jiff::Timestamp;
use memchr::memmem;
use serde_json::{Value, json};

use self::parts::{Block, Fields, Message, Parts, is_run_together};
use self::writer::{Handed, refused_by_hook};
use crate::rows::human::{Author, Plain, author, author_of_waiting, authors};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Place, Synthetic, Turn, Usage};

/// How many letters of an answer are looked at that is not kept.
const ENOUGH: usize = 1 << 10;

/// How far into a row its kind is looked for before the row is read.
const HEAD: usize = 1_024;

/// How rows of progress begin that are not a sub-agent's. No text can hold it: there, quotes are escaped.
const PROGRESS: &[u8] = br#""type":"progress","data":{"type":""#;

/// To look for the same in every row is made ready once.
static IN_PROGRESS: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(PROGRESS));

/// How many titles may wait for the conversation they are about.
const MOST_TITLES: usize = 256;

/// How many prompts may wait until the agent is free.
const MOST_QUEUED: usize = 256;

/// How many calls may wait for the answer of a hook that refused them.
const MOST_REFUSED: usize = 256;

/// What is remembered between rows.
#[derive(Default)]
pub(crate) struct Claude {
    /// Titles of conversations, by their last row: older files begin with those of other sessions too.
    titles: Vec<(String, String)>,
    /// What was typed while the agent was busy.
    queued: VecDeque<Queued>,
    /// What of it was handed to the agent, until a row may have told who put it there.
    handed: VecDeque<Queued>,
    /// What the last reply cost, as it was told: most of its rows repeat it. It need not be known, so no pause has it.
    usage: (String, Usage),
    /// Whether the title is one that the human or the agent gave to this very session.
    has_own_title: bool,
    /// Whether a row of the conversation was read: the first one says whose file it is.
    has_rows: bool,
    /// Calls that hooks refused: their answers are the hooks'.
    refused: VecDeque<String>,
}

struct Queued {
    place: Place,
    at: Option<Timestamp>,
    words: String,
    is_from_machine: bool,
}

impl Transcript for Claude {
    fn pause(&self) -> Option<Value> {
        // What waits may hold what must not be stored, and doesn't wait for long.
        if !self.queued.is_empty() || !self.handed.is_empty() {
            return None;
        }
        let clean = |title: &str| for_storage(title, &mut Removed::default()).into_owned();
        let titles: Vec<_> = self.titles.iter().map(|(leaf_id, title)| (leaf_id, clean(title))).collect();
        Some(json!({
            "titles": titles,
            "has_own_title": self.has_own_title,
            "has_rows": self.has_rows,
            "refused": self.refused,
        }))
    }

    fn go_on(&mut self, mut state: Value) {
        let mut take = |name: &str| state[name].take();
        self.titles = serde_json::from_value(take("titles")).unwrap_or_default();
        self.has_own_title = take("has_own_title") == true;
        self.has_rows = take("has_rows") == true;
        self.refused = serde_json::from_value(take("refused")).unwrap_or_default();
    }

    fn skips(&self, line: &[u8]) -> Option<&'static str> {
        let head = &line[..line.len().min(HEAD)];
        let kind = if let Some(at) = IN_PROGRESS.find(head) {
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
        (line.ends_with(b"}") && !is_run_together(line)).then_some(kind)
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (parts, length) = Parts::of(row)?;
        Ok((self.take(&row.first(length), &parts, stream), length))
    }
}

impl Claude {
    fn take(&mut self, row: &Row<'_>, parts: &Parts<'_>, stream: &mut Stream<'_>) -> Verdict {
        let Parts { fields, message, .. } = parts;
        if !stream.is_new(&fields.uuid) {
            return Verdict::skipped("repeated");
        }
        note_session(fields, stream);
        self.note_parent(fields, stream);
        self.note_title(fields, stream);
        match fields.attachment.and_then(Handed::of) {
            Some(handed) => self.judge(&handed, fields.is_from_machine(), stream),
            None if ["assistant", "user"].contains(&&*fields.kind) => self.tell_handed(stream),
            None => {}
        }
        if let Some(call_id) = fields.attachment.and_then(refused_by_hook) {
            if MOST_REFUSED <= self.refused.len() {
                self.refused.pop_front();
            }
            self.refused.push_back(call_id.into_owned());
        }
        match &*fields.kind {
            "assistant" => assistant(row, fields, message, &mut self.usage, stream),
            "user" => user(row, fields, message, &self.refused, stream),
            "progress" => self.progress(row, parts, stream),
            "system" => system(row, fields, stream),
            "queue-operation" => self.queue(row, fields),
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

    /// The file of a sub-agent names the session that sent it as its own. Older versions wrote the rows of sub-agents into
    /// the file of that session.
    fn note_parent(&mut self, fields: &Fields<'_>, stream: &mut Stream<'_>) {
        if !self.has_rows && matches!(&*fields.kind, "assistant" | "user") {
            self.has_rows = true;
            if fields.is_side {
                stream.session.parent_id.clone_from(&stream.session.id);
            }
        }
    }

    fn note_title(&mut self, fields: &Fields<'_>, stream: &mut Stream<'_>) {
        let title = fields.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        match (&*fields.kind, title) {
            // Behind the row that it is about: it is this session's.
            ("summary", Some(title)) if !self.has_own_title && stream.had(&fields.leaf_id) => {
                stream.session.title = Some(title.to_owned());
            }
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

    /// Tells of what was handed to the agent, unless it was no human who put it there.
    fn judge(&mut self, handed: &Handed<'_>, is_from_machine: bool, stream: &mut Stream<'_>) {
        let at = self.handed.iter().position(|queued| queued.words == handed.words);
        match at.and_then(|at| self.handed.remove(at)) {
            Some(queued) if !handed.is_from_machine && !is_from_machine => tell_queued(queued, stream),
            _ => {}
        }
    }

    fn tell_handed(&mut self, stream: &mut Stream<'_>) {
        while let Some(queued) = self.handed.pop_front() {
            tell_queued(queued, stream);
        }
    }

    /// Sub-agents of older versions speak through rows of progress.
    fn progress(&mut self, row: &Row<'_>, parts: &Parts<'_>, stream: &mut Stream<'_>) -> Verdict {
        if parts.progress != "agent_progress" {
            return Verdict::skipped(&format!("progress/{}", tools::cut(&parts.progress, 40)));
        }
        let mut inner = parts.inner.clone();
        inner.is_side = true;
        if !stream.is_new(&inner.uuid) {
            return Verdict::skipped("repeated");
        }
        match &*inner.kind {
            "assistant" => assistant(row, &inner, &parts.message, &mut self.usage, stream),
            "user" => user(row, &inner, &parts.message, &self.refused, stream),
            kind => Verdict::unknown(kind),
        }
    }

    /// What is typed while the agent is busy waits in a queue. It is handed to
    /// the agent in the middle of its work (`remove`) and then stands nowhere
    /// else, becomes a row of its own (`dequeue`), or goes back to the human (`popAll`).
    fn queue(&mut self, row: &Row<'_>, fields: &Fields<'_>) -> Verdict {
        match &*fields.operation {
            "enqueue" => {
                let words = fields.content.map(json::text_or_empty).unwrap_or_default();
                if self.queued.len() < MOST_QUEUED && !words.is_empty() {
                    let place = row.place_of(fields.content.expect("it has words"));
                    let (at, words, is_from_machine) =
                        (fields.at, words.into_owned(), fields.is_from_machine());
                    self.queued.push_back(Queued { place, at, words, is_from_machine });
                }
            }
            "remove" => self.handed.extend(self.queued.pop_front()),
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
    if &*fields.kind == "user"
        && let Some(is_headless) = fields.is_headless()
    {
        let had_program = is_headless || session.is_headless || session.is_partly_headless;
        session.is_attended |= !is_headless;
        session.is_headless = !session.is_attended;
        session.is_partly_headless = session.is_attended && had_program;
    }
}

fn tell_queued(queued: Queued, stream: &mut Stream<'_>) {
    let event = match author_of_waiting(queued.words.into()) {
        Author::Human(words) if queued.is_from_machine => Event::Synthetic(Synthetic::Notification, words),
        author => author.event(),
    };
    // Queue rows have no id: where they stand is as lasting as one.
    let id = format!("queue-{}", queued.place.bytes.start);
    stream.turn(&Turn { id: id.into(), ..Turn::new(queued.place, queued.at, event) });
}

/// Tells of a part of a row; `part` counts the parts of one row.
fn tell(
    row: &Row<'_>,
    fields: &Fields<'_>,
    stream: &mut Stream<'_>,
    place: Option<Place>,
    part: usize,
    event: Event<'_>,
) {
    let place = place.unwrap_or_else(|| row.place.clone());
    let id =
        if part == 0 { Cow::Borrowed(&*fields.uuid) } else { Cow::Owned(format!("{}#{part}", fields.uuid)) };
    let sub_agent = fields.sub_agent().map(Cow::Borrowed);
    stream.turn(&Turn { id, sub_agent, ..Turn::new(place, fields.at, event) });
}

fn assistant(
    row: &Row<'_>,
    fields: &Fields<'_>,
    message: &Message<'_>,
    last_usage: &mut (String, Usage),
    stream: &mut Stream<'_>,
) -> Verdict {
    let is_model = !message.model.is_empty() && message.model != "<synthetic>";
    if is_model {
        if stream.session.model.as_deref() != Some(&message.model) && fields.sub_agent().is_none() {
            stream.session.model = Some(message.model.to_string());
        }
        if let Some(usage) = message.usage {
            if last_usage.0 != usage.get() {
                *last_usage = (usage.get().to_owned(), read_usage(usage));
            }
            stream.reply(&message.id, last_usage.1);
        }
    }
    for (part, block) in message.blocks.iter().enumerate() {
        let place = block.text.or(block.input).map(|value| row.place_of(value));
        match &*block.kind {
            "text" => {
                let words = block.words();
                if fields.is_failure || fields.error.is_some() {
                    tell(row, fields, stream, place, part, Event::Error(words));
                } else if is_model && !words.trim().is_empty() {
                    tell(row, fields, stream, place, part, Event::Said(words));
                }
            }
            "tool_use" => {
                let place = place.unwrap_or_else(|| row.place.clone());
                let called = tools::called(&block.name, block.input);
                stream.call(&block.id, place, fields.at, fields.sub_agent(), called);
            }
            _ => {}
        }
    }
    Verdict::Kept
}

/// What a reply cost, in the form of Anthropic's API.
pub(crate) fn read_usage(raw: Raw<'_>) -> Usage {
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

fn user(
    row: &Row<'_>,
    fields: &Fields<'_>,
    message: &Message<'_>,
    refused: &VecDeque<String>,
    stream: &mut Stream<'_>,
) -> Verdict {
    if let Some(words) = &message.words {
        let place = row.place_of_text(words);
        tell_words(row, fields, stream, place, 0, author(Cow::Borrowed(&**words)));
        return Verdict::Kept;
    }
    let texts = message.blocks.iter().filter(|block| block.kind == "text").map(Block::words).collect();
    let mut authors = authors(texts, Plain::All).into_iter();
    for (part, block) in message.blocks.iter().enumerate() {
        match &*block.kind {
            "text" => {
                let place = block.text.map_or_else(|| row.place.clone(), |value| row.place_of(value));
                if let Some(author) = authors.next() {
                    tell_words(row, fields, stream, place, part, author);
                }
            }
            "tool_result" => {
                let is_wanted = block.is_error || stream.wants_answer(&block.call_id);
                let text = match block.content {
                    Some(content) if is_wanted => words_of(content),
                    // Most of a transcript are files that were read: of these it only matters that they are there.
                    Some(content) => Cow::Owned(tools::cut(content.get(), ENOUGH)),
                    None => Cow::default(),
                };
                // An answer that says nothing of an error is none.
                let answer = Answer { is_ok: Some(!block.is_error), exit_code: None, text: &text };
                if fields.may_refuse_in_words() && !refused.iter().any(|call_id| *call_id == block.call_id) {
                    stream.answer_of_user(&block.call_id, &answer);
                } else {
                    stream.answer(&block.call_id, &answer);
                }
            }
            _ => {}
        }
    }
    if message.blocks.is_empty() { Verdict::skipped("user without words") } else { Verdict::Kept }
}

fn tell_words(
    row: &Row<'_>,
    fields: &Fields<'_>,
    stream: &mut Stream<'_>,
    place: Place,
    part: usize,
    author: Author<'_>,
) {
    let event = match author {
        Author::Interruption => Event::Interruption("".into()),
        Author::Machine(Synthetic::Summary, words) => Event::Synthetic(Synthetic::Summary, words),
        Author::Machine(_, words) | Author::Human(words) if fields.is_summary => {
            Event::Synthetic(Synthetic::Summary, words)
        }
        Author::Machine(_, words) | Author::Human(words) if fields.sub_agent().is_some() => {
            Event::Synthetic(Synthetic::SubAgent, words)
        }
        // An agent schedules commands for itself.
        Author::Machine(Synthetic::Command, words) if fields.is_from_machine() => {
            Event::Synthetic(Synthetic::Notification, words)
        }
        Author::Human(words) if fields.is_plan => Event::Synthetic(Synthetic::Plan, words),
        Author::Human(words) if fields.is_meta => Event::Synthetic(Synthetic::Injected, words),
        Author::Human(words) if fields.is_from_machine() => Event::Synthetic(Synthetic::Notification, words),
        Author::Machine(kind, words) => Event::Synthetic(kind, words),
        Author::Human(words) => Event::Prompt(words),
    };
    tell(row, fields, stream, Some(place), part, event);
}

/// The words of a text, or of all texts in a list of blocks.
pub(crate) fn words_of(content: Raw<'_>) -> Cow<'_, str> {
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

fn system(row: &Row<'_>, fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    match &*fields.subtype {
        "api_error" => {
            let words = fields.error.map(|error| json::text(error).unwrap_or_else(|| error_words(error)));
            let place = fields.error.map(|error| row.place_of(error));
            tell(row, fields, stream, place, 0, Event::Error(words.unwrap_or_default()));
            Verdict::Kept
        }
        "local_command" => {
            if let Some(content) = fields.content
                && let Some(words) = json::text(content)
            {
                tell_words(row, fields, stream, row.place_of(content), 0, author(words));
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
fn error_words(error: Raw<'_>) -> Cow<'_, str> {
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
