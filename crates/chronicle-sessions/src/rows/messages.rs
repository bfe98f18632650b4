//! Messages whose content is a list of typed parts, as many agents write them.
//!
//! The envelope is each agent's own; the parts are alike: texts, calls of tools, and what came back.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::rows::human::{Author, Plain, author, authors, between};
use crate::rows::json::{self, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tools;
use crate::turn::{Event, Turn};

/// A message without its content.
#[derive(Debug, Default, Clone)]
pub(crate) struct Head<'a> {
    /// What names it; empty where the agent gives no ids.
    pub(crate) id: Cow<'a, str>,
    /// `user`, `assistant` or `tool`.
    pub(crate) role: Cow<'a, str>,
    pub(crate) at: Option<Timestamp>,
    /// Whether no answers to calls are ever written: then a call is told of at once.
    pub(crate) is_without_answers: bool,
    /// Whether what was typed is marked, if anything is: a part before the last one with marks is of files.
    pub(crate) has_marks: bool,
    /// Which of several plain texts are a human's.
    pub(crate) plain: Plain,
}

/// One part of a message.
struct Part<'a> {
    raw: Raw<'a>,
    kind: Cow<'a, str>,
    text: Option<Raw<'a>>,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    is_error: Option<bool>,
    /// Whether it is for the model alone.
    is_hidden: bool,
}

/// Tells of a message with this content: a text, or a list of parts.
pub(crate) fn tell(row: &Row<'_>, head: &Head<'_>, content: Raw<'_>, stream: &mut Stream<'_>) {
    if let Some(words) = json::text(content) {
        if !words.trim().is_empty()
            && let Some(event) = events(head, vec![words]).pop()
        {
            say(row, head, content, 0, event, stream);
        }
        return;
    }
    let mut parts = Vec::new();
    json::items(content, |raw| parts.push(Part::of(raw)));
    let marked = || parts.iter().rposition(|part| part.words().contains(MARKS[0]));
    let first = if head.has_marks { marked().unwrap_or_default() } else { 0 };
    let has_words = |index: usize, part: &Part<'_>| {
        first <= index && part.kind == "text" && !part.is_hidden && !part.words().trim().is_empty()
    };
    let said = parts.iter().enumerate().filter(|(index, part)| has_words(*index, part));
    let mut events = events(head, said.map(|(_, part)| part.words()).collect()).into_iter();
    for (index, part) in parts.iter().enumerate() {
        match part.text {
            Some(text) if has_words(index, part) => {
                if let Some(event) = events.next() {
                    say(row, head, text, index, event, stream);
                }
            }
            _ if part.is_hidden => {}
            _ => tell_call(row, head, part, stream),
        }
    }
}

impl<'a> Part<'a> {
    fn of(raw: Raw<'a>) -> Self {
        let (kind, id, name) = (Cow::default(), Cow::default(), Cow::default());
        let mut part = Self {
            raw,
            kind,
            text: None,
            id,
            name,
            input: None,
            result: None,
            is_error: None,
            is_hidden: false,
        };
        json::members(raw, |key, value| match key {
            "type" => part.kind = json::text_or_empty(value),
            "text" => part.text = Some(value),
            "id" | "tool_use_id" | "toolUseID" | "toolCallId" => part.id = json::text_or_empty(value),
            "name" | "toolName" => part.name = json::text_or_empty(value),
            "input" | "args" => part.input = Some(value),
            "content" | "result" | "run" | "toolResult" => part.result = Some(value),
            // Amp put it there for the model.
            "hidden" => part.is_hidden |= json::is_true(value),
            // Goose names who it is for.
            "annotations" => {
                let Some(audience) = json::member(value, "audience") else { return };
                let mut is_for_user = audience.get() == "null";
                json::items(audience, |name| is_for_user |= json::text_or_empty(name) == "user");
                part.is_hidden |= !is_for_user;
            }
            "is_error" | "isError" => part.is_error = Some(json::is_true(value)),
            // Goose wraps the call: it may have been none.
            "toolCall" => {
                let call = json::member(value, "value").unwrap_or(value);
                part.name = json::member_text(call, "name").unwrap_or_default();
                part.input = json::member(call, "arguments");
            }
            _ => {}
        });
        part
    }

    fn words(&self) -> Cow<'a, str> {
        self.text.map(json::text_or_empty).unwrap_or_default()
    }
}

/// A tool is called, or gives its answer.
fn tell_call(row: &Row<'_>, head: &Head<'_>, part: &Part<'_>, stream: &mut Stream<'_>) {
    match &*part.kind {
        "tool_use" | "tool-call" | "toolRequest" => {
            let called = tools::called(&part.name, part.input);
            stream.call(&part.id, row.place_of(part.raw), head.at, None, called);
            if head.is_without_answers {
                stream.answer(&part.id, &Answer::default());
            }
        }
        "tool_result" | "tool-result" | "toolResponse" => answer(part, stream),
        _ => {}
    }
}

/// What is told of the texts of one message.
fn events<'a>(head: &Head<'_>, texts: Vec<Cow<'a, str>>) -> Vec<Event<'a>> {
    match &*head.role {
        "assistant" => texts.into_iter().map(Event::Said).collect(),
        "user" => {
            let texts = texts.into_iter().map(without_marks).collect();
            authors(texts, head.plain).into_iter().map(Author::event).collect()
        }
        _ => Vec::new(),
    }
}

/// Somebody says something.
fn say(
    row: &Row<'_>,
    head: &Head<'_>,
    place: Raw<'_>,
    index: usize,
    event: Event<'_>,
    stream: &mut Stream<'_>,
) {
    let id = match index {
        _ if head.id.is_empty() => Cow::Borrowed(""),
        0 => Cow::Borrowed(&*head.id),
        _ => Cow::Owned(format!("{}#{index}", head.id)),
    };
    stream.turn(&Turn { id, ..Turn::new(row.place_of(place), head.at, event) });
}

/// Words in a human's place.
pub(crate) fn prompt(words: Cow<'_, str>) -> Event<'_> {
    author(without_marks(words)).event()
}

/// What a human typed, where an agent marks it.
fn without_marks(words: Cow<'_, str>) -> Cow<'_, str> {
    match typed(&words).map(|typed| typed.trim().to_owned()) {
        Some(typed) => Cow::Owned(typed),
        None => words,
    }
}

/// What Cursor puts around words of the human.
const MARKS: [&str; 2] = ["<user_query>", "</user_query>"];

/// What stands in the marks for words of the human: of several, the last one if it ends the message, else the first one.
/// Files that are put into a message may have such marks, too.
fn typed(words: &str) -> Option<&str> {
    match words.trim_end().strip_suffix(MARKS[1]) {
        Some(before) => before.rfind(MARKS[0]).map(|at| &before[at + MARKS[0].len()..]),
        None => between(words, MARKS[0], MARKS[1]),
    }
}

fn answer(part: &Part<'_>, stream: &mut Stream<'_>) {
    let mut is_error = part.is_error;
    let mut exit_code = None;
    let mut text = Cow::Borrowed("");
    if let Some(result) = part.result {
        let found = Result::of(result);
        is_error = is_error.or(found.is_error);
        (exit_code, text) = (found.exit_code, found.text);
    }
    let is_ok = is_error.map(|is_error| !is_error);
    stream.answer(&part.id, &Answer { is_ok, exit_code, text: &text });
}

/// What came back from a call, in whichever form.
#[derive(Default)]
pub(crate) struct Result<'a> {
    pub(crate) is_error: Option<bool>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) text: Cow<'a, str>,
}

impl<'a> Result<'a> {
    /// Reads a text, a list of parts, or an object that wraps one of these.
    pub(crate) fn of(raw: Raw<'a>) -> Self {
        if let Some(text) = json::text(raw) {
            return Self { text, ..Self::default() };
        }
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        json::items(raw, |part| texts.extend(json::member_text(part, "text").or_else(|| json::text(part))));
        if !texts.is_empty() {
            return Self { text: texts.join("\n").into(), ..Self::default() };
        }
        let mut found = Self::default();
        json::members(raw, |key, value| match key {
            "status" => {
                found.is_error = match &*json::text_or_empty(value) {
                    "done" | "success" | "completed" => Some(false),
                    "error" | "cancelled" | "rejected-by-user" | "rejected" | "failed" => Some(true),
                    _ => None,
                };
            }
            "isError" | "is_error" => found.is_error = Some(json::is_true(value)),
            "exitCode" | "exit_code" => found.exit_code = json::code(value),
            "result" | "value" | "content" | "output" | "error" | "message" if found.text.is_empty() => {
                let inner = Self::of(value);
                found.text = inner.text;
                found.exit_code = found.exit_code.or(inner.exit_code);
                found.is_error = found.is_error.or(inner.is_error);
            }
            _ => {}
        });
        found
    }
}

/// A time as text, or in seconds or milliseconds since 1970, with a fraction or without.
pub(crate) fn time(raw: Raw<'_>) -> Option<Timestamp> {
    /// More seconds than that would be far away; more milliseconds are not.
    const MOST_SECONDS: f64 = 100_000_000_000.0;
    if let Some(text) = json::text(raw) {
        return chronicle_core::parse_time(&text);
    }
    let number: f64 = raw.get().trim().parse().ok().filter(|number: &f64| number.is_finite())?;
    let milliseconds = if number.abs() < MOST_SECONDS { number * 1_000.0 } else { number };
    #[expect(clippy::cast_possible_truncation, reason = "what is too large is cut, and isn't a time then")]
    Timestamp::from_millisecond(milliseconds as i64).ok()
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn marks_in_files_are_no_words_of_the_human() {
        let check = |words: &str, expected: Option<&str>| {
            assert_eq!(typed(words).map(str::trim), expected, "{words}");
        };
        check("plain", None);
        check("<user_query>\nFix it\n</user_query>", Some("Fix it"));
        check(
            "<files><user_query>evil</user_query></files>\n<user_query>Fix it</user_query>\n",
            Some("Fix it"),
        );
        check(
            "<user_query>Fix it</user_query>\n<files><user_query>evil</user_query></files>",
            Some("Fix it"),
        );
    }
}
