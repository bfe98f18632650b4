//! Gemini CLI's messages, as rows or in one document.

use std::borrow::Cow;
use std::collections::VecDeque;

use jiff::Timestamp;

use crate::agents::claude::words_of;
use crate::rows::held::HeldRow;
use crate::rows::human::{Author, Plain, author, author_of_waiting, authors, names_human};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between rows.
///
/// A message is written again while its calls are answered, and the last writing
/// counts; a later row may take messages back. So all are held until the end, as
/// far as there is room.
#[derive(Default)]
pub(crate) struct Gemini {
    held: VecDeque<Held>,
    n_bytes: usize,
}

/// How many bytes of messages are held: what is older can be taken back no more.
const MOST_HELD: usize = 16 << 20;

struct Held {
    id: String,
    row: HeldRow,
}

#[derive(Default)]
struct Fields<'a> {
    id: Cow<'a, str>,
    kind: Cow<'a, str>,
    at: Option<Timestamp>,
    model: Cow<'a, str>,
    content: Option<Raw<'a>>,
    /// What was typed, where that is another thing: a command, or names of files.
    typed: Option<Raw<'a>>,
    calls: Option<Raw<'a>>,
    tokens: Option<Raw<'a>>,
    patch: Option<Raw<'a>>,
    is_header: bool,
    /// The message that is taken back, with all that came after it.
    rewinds_to: Option<Cow<'a, str>>,
}

impl Transcript for Gemini {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut fields = Fields::default();
        let length = json::first_object(row, |key, value| {
            if note_session(key, value, stream) {
                fields.is_header = true;
            }
            fields.set(key, value);
        })?;
        let verdict = if let Some(patch) = fields.patch {
            let mut messages = None;
            json::members(patch, |key, value| {
                note_session(key, value, stream);
                messages = messages.or((key == "messages").then_some(value));
            });
            if let Some(messages) = messages {
                self.replace(messages, row, stream);
            }
            Verdict::Kept
        } else if let Some(id) = &fields.rewinds_to {
            self.rewind(id);
            Verdict::skipped("rewind")
        } else if fields.kind.is_empty() {
            if fields.is_header { Verdict::Kept } else { Verdict::unknown("") }
        } else {
            self.hold(&fields, &row.bytes[..length], row, stream)
        };
        Ok((verdict, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        note_session(name, value, stream);
    }

    fn finish(&mut self, stream: &mut Stream<'_>) {
        self.held.drain(..).for_each(|held| tell(&held, stream));
    }
}

impl Gemini {
    /// Holds one message, whose bytes are those of `row` or a part of them.
    fn hold(&mut self, fields: &Fields<'_>, bytes: &[u8], row: &Row<'_>, stream: &mut Stream<'_>) -> Verdict {
        let verdict = match &*fields.kind {
            "user" | "gemini" | "error" => Verdict::Kept,
            "info" if fields.content.is_some_and(is_cancelled) => Verdict::Kept,
            "info" | "warning" => return Verdict::skipped(&fields.kind),
            kind => return Verdict::unknown(kind),
        };
        if !fields.id.is_empty() && self.held.back().is_some_and(|last| last.id == fields.id) {
            self.drop_last();
        }
        self.n_bytes += bytes.len();
        self.held.push_back(Held { id: fields.id.to_string(), row: HeldRow::of(row, bytes) });
        while MOST_HELD < self.n_bytes && 1 < self.held.len() {
            let Some(oldest) = self.held.pop_front() else { break };
            self.n_bytes -= oldest.row.n_bytes();
            tell(&oldest, stream);
        }
        verdict
    }

    fn drop_last(&mut self) {
        if let Some(last) = self.held.pop_back() {
            self.n_bytes -= last.row.n_bytes();
        }
    }

    /// Takes back the message of that id and what came after it; nothing where it is not held.
    fn rewind(&mut self, id: &str) {
        let Some(at) = self.held.iter().rposition(|held| held.id == id) else { return };
        while at < self.held.len() {
            self.drop_last();
        }
    }

    /// Holds these messages in the place of all others.
    fn replace(&mut self, messages: Raw<'_>, row: &Row<'_>, stream: &mut Stream<'_>) {
        self.rewind_all();
        json::items(messages, |message| {
            let mut fields = Fields::default();
            json::members(message, |key, value| fields.set(key, value));
            self.hold(&fields, message.get().as_bytes(), row, stream);
        });
    }

    fn rewind_all(&mut self) {
        self.held.clear();
        self.n_bytes = 0;
    }
}

impl<'a> Fields<'a> {
    fn set(&mut self, key: &str, value: Raw<'a>) {
        match key {
            "id" => self.id = json::text_or_empty(value),
            "type" => self.kind = json::text_or_empty(value),
            "timestamp" => self.at = json::text_or_empty(value).parse().ok(),
            "model" => self.model = json::text_or_empty(value),
            "content" => self.content = Some(value),
            "displayContent" => self.typed = Some(value),
            "toolCalls" => self.calls = Some(value),
            "tokens" => self.tokens = Some(value),
            "$set" => self.patch = Some(value),
            "$rewindTo" => self.rewinds_to = json::text(value),
            _ => {}
        }
    }
}

/// Takes what is about the whole session, and says whether it was.
fn note_session(key: &str, value: Raw<'_>, stream: &mut Stream<'_>) -> bool {
    match key {
        "sessionId" => stream.session.id = json::text(value).map(Cow::into_owned),
        "summary" => stream.session.title = json::text(value).map(Cow::into_owned),
        "startTime" | "lastUpdated" => stream.session.saw(json::text_or_empty(value).parse().ok()),
        "directories" => json::items(value, |folder| stream.session.is_in(&json::text_or_empty(folder))),
        "projectHash" => {}
        "kind" => stream.session.is_sub_agent |= names_human(value, &["main"]) == Some(false),
        _ => return false,
    }
    true
}

fn is_cancelled(content: Raw<'_>) -> bool {
    words_of(content).starts_with("Request cancelled")
}

fn tell(held: &Held, stream: &mut Stream<'_>) {
    let row = held.row.row();
    let mut fields = Fields::default();
    if json::first_object(&row, |key, value| fields.set(key, value)).is_err() {
        return;
    }
    if let Some(content) = fields.content {
        tell_words(&row, &fields, content, stream);
    }
    if let Some(calls) = fields.calls {
        json::items(calls, |call| tell_call(&row, &fields, call, stream));
    }
    if let Some(tokens) = fields.tokens {
        stream.reply(&fields.id, read_usage(tokens));
    }
    if !fields.model.is_empty() && stream.session.model.as_deref() != Some(&fields.model) {
        stream.session.model = Some(fields.model.to_string());
    }
}

fn tell_words(row: &Row<'_>, fields: &Fields<'_>, content: Raw<'_>, stream: &mut Stream<'_>) {
    let typed = fields.typed.filter(|_| fields.kind == "user").map(words_of);
    let typed = typed.filter(|typed| !typed.trim().is_empty());
    let is_typed = typed.is_some();
    let is_parts = content.get().starts_with('[');
    let words = typed.unwrap_or_else(|| match &*fields.kind {
        "user" if is_parts => typed_first(content),
        "user" => without_content(words_of(content)),
        _ => words_of(content),
    });
    // The same words of a message that was written again later are told once.
    if words.trim().is_empty() || !stream.is_new(&format!("{}\n{words}", fields.id)) {
        return;
    }
    let event = match &*fields.kind {
        // Older versions put what a tool gave beside its answer.
        "user" if !is_typed && is_answer(content) => Event::Synthetic(Synthetic::Output, words),
        "user" => if is_typed { author_of_waiting(words) } else { author(words) }.event(),
        "gemini" => Event::Said(words),
        "error" => Event::Error(words),
        _ => Event::Interruption("".into()),
    };
    let id = Cow::Borrowed(&*fields.id);
    stream.turn(&Turn { id, ..Turn::new(row.place_of(content), fields.at, event) });
}

/// Whether a message answers a call of a tool.
fn is_answer(content: Raw<'_>) -> bool {
    let mut is_answer = false;
    json::items(content, |part| is_answer |= json::member(part, "functionResponse").is_some());
    is_answer
}

/// The text of a message that is a human's; the first one where none is. Files and resources that it names follow it.
fn typed_first(content: Raw<'_>) -> Cow<'_, str> {
    let mut texts = Vec::new();
    json::items(content, |part| texts.extend(json::member_text(part, "text").or_else(|| json::text(part))));
    texts.retain(|text| !text.trim().is_empty());
    let authors = authors(texts.clone(), Plain::First);
    let typed = authors.iter().position(|author| matches!(author, Author::Human(_)));
    if texts.is_empty() { Cow::default() } else { texts.swap_remove(typed.unwrap_or_default()) }
}

/// What a human typed, without the files and resources that were named in it: their texts follow it.
fn without_content(words: Cow<'_, str>) -> Cow<'_, str> {
    match words.find(CONTENT) {
        Some(at) => Cow::Owned(words[..at].to_owned()),
        None => words,
    }
}

/// How the text of a file or resource begins.
const CONTENT: &str = "\nContent from @";

fn tell_call(row: &Row<'_>, fields: &Fields<'_>, call: Raw<'_>, stream: &mut Stream<'_>) {
    let (mut id, mut name, mut input, mut status, mut at) =
        (Cow::default(), Cow::default(), None, Cow::default(), None);
    let mut result = None;
    json::members(call, |key, value| match key {
        "id" => id = json::text_or_empty(value),
        "name" => name = json::text_or_empty(value),
        "args" => input = Some(value),
        "status" => status = json::text_or_empty(value),
        "timestamp" => at = json::text_or_empty(value).parse().ok(),
        "result" => result = Some(value),
        _ => {}
    });
    if !stream.is_new(&format!("call {id}")) {
        return;
    }
    stream.call(&id, row.place_of(call), at.or(fields.at), None, tools::called(&name, input));
    let is_ok = match &*status {
        "success" => Some(true),
        "error" | "cancelled" => Some(false),
        _ => None,
    };
    let text = result.map(result_words).unwrap_or_default();
    stream.answer(&id, &Answer { is_ok, exit_code: None, text: &text });
}

/// The words in `[{"functionResponse": {"response": {"output": …}}}]`.
fn result_words(result: Raw<'_>) -> String {
    let mut words = String::new();
    json::items(result, |item| {
        let response =
            json::member(item, "functionResponse").and_then(|given| json::member(given, "response"));
        let Some(response) = response else { return };
        for name in ["output", "error"] {
            words.push_str(&json::member_text(response, name).unwrap_or_default());
        }
    });
    words
}

/// What was read counts the part from the cache; here it is told apart.
fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = json::number(value).unwrap_or_default();
        match key {
            "input" => usage.input = number,
            "cached" => usage.cache_read = number,
            "output" | "thoughts" => usage.output = usage.output.saturating_add(number),
            _ => {}
        }
    });
    usage.input = usage.input.saturating_sub(usage.cache_read);
    usage
}
