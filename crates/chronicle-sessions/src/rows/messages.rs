//! Messages whose content is a list of typed parts, as many agents write them.
//!
//! The envelope is each agent's own; the parts are alike: texts, calls of tools, and what came back.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::rows::human::{Author, author, between};
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
}

/// One part of a message.
#[derive(Default)]
struct Part<'a> {
    kind: Cow<'a, str>,
    text: Option<Raw<'a>>,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    is_error: Option<bool>,
}

/// Tells of a message with this content: a text, or a list of parts.
pub(crate) fn tell(row: &Row<'_>, head: &Head<'_>, content: Raw<'_>, stream: &mut Stream<'_>) {
    if let Some(words) = json::text(content) {
        say(row, head, content, words, 0, stream);
        return;
    }
    let (mut index, mut marked) = (0, None);
    if head.has_marks {
        json::items(content, |raw| {
            if json::member_text(raw, "text").is_some_and(|words| words.contains(MARKS[0])) {
                marked = Some(index);
            }
            index += 1;
        });
        index = 0;
    }
    json::items(content, |raw| {
        match marked {
            Some(marked) if index < marked && json::member(raw, "text").is_some() => {}
            _ => tell_part(row, head, raw, index, stream),
        }
        index += 1;
    });
}

fn tell_part(row: &Row<'_>, head: &Head<'_>, raw: Raw<'_>, index: usize, stream: &mut Stream<'_>) {
    let (mut part, mut is_hidden) = (Part::default(), false);
    json::members(raw, |key, value| match key {
        "type" => part.kind = json::text_or_empty(value),
        "text" => part.text = Some(value),
        "id" | "tool_use_id" | "toolUseID" | "toolCallId" => part.id = json::text_or_empty(value),
        "name" | "toolName" => part.name = json::text_or_empty(value),
        "input" | "args" => part.input = Some(value),
        "content" | "result" | "run" | "toolResult" => part.result = Some(value),
        // Amp put it there for the model.
        "hidden" => is_hidden = json::is_true(value),
        "is_error" | "isError" => part.is_error = Some(json::is_true(value)),
        // Goose wraps the call: it may have been none.
        "toolCall" => {
            let call = json::member(value, "value").unwrap_or(value);
            part.name = json::member_text(call, "name").unwrap_or_default();
            part.input = json::member(call, "arguments");
        }
        _ => {}
    });
    if is_hidden {
        return;
    }
    match &*part.kind {
        "text" => {
            if let Some(text) = part.text {
                say(row, head, text, json::text_or_empty(text), index, stream);
            }
        }
        "tool_use" | "tool-call" | "toolRequest" => {
            let called = tools::called(&part.name, part.input);
            stream.call(&part.id, row.place_of(raw), head.at, None, called);
            if head.is_without_answers {
                stream.answer(&part.id, &Answer::default());
            }
        }
        "tool_result" | "tool-result" | "toolResponse" => answer(&part, stream),
        _ => {}
    }
}

/// Somebody says something.
fn say(
    row: &Row<'_>,
    head: &Head<'_>,
    place: Raw<'_>,
    words: Cow<'_, str>,
    index: usize,
    stream: &mut Stream<'_>,
) {
    if words.trim().is_empty() {
        return;
    }
    let event = match &*head.role {
        "assistant" => Event::Said(words),
        "user" => prompt(words),
        _ => return,
    };
    let id = match index {
        _ if head.id.is_empty() => Cow::Borrowed(""),
        0 => Cow::Borrowed(&*head.id),
        _ => Cow::Owned(format!("{}#{index}", head.id)),
    };
    stream.turn(&Turn { id, ..Turn::new(row.place_of(place), head.at, event) });
}

/// Words in a human's place. Some agents mark those that the human typed.
pub(crate) fn prompt(words: Cow<'_, str>) -> Event<'_> {
    let typed = typed(&words).map(|typed| typed.trim().to_owned());
    match author(typed.map_or(words, Cow::Owned)) {
        Author::Human(words) => Event::Prompt(words),
        Author::Machine(kind, words) => Event::Synthetic(kind, words),
        Author::Interruption => Event::Interruption("".into()),
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
