//! What `opencode export` prints, and what is made of `OpenCode`'s database: a session and its messages in one document.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::rows::human::{Author, author};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between messages.
#[derive(Default)]
pub(crate) struct OpenCode {
    /// When the session was made: a fork begins with copies of older messages.
    made: Option<Timestamp>,
}

#[derive(Default)]
struct Info<'a> {
    id: Cow<'a, str>,
    role: Cow<'a, str>,
    at: Option<Timestamp>,
    is_summary: bool,
    usage: Option<Usage>,
    error: Option<Raw<'a>>,
}

impl Transcript for OpenCode {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut info, mut parts) = (None, None);
        let length = json::first_object(row, |key, value| match key {
            "info" => info = Some(value),
            "parts" => parts = Some(value),
            _ => {}
        })?;
        let Some(raw) = info else { return Ok((Verdict::unknown("message"), length)) };
        let info = read_info(raw, stream);
        if self.made.is_some_and(|made| info.at.is_some_and(|at| at < made)) {
            return Ok((Verdict::skipped("copied"), length));
        }
        if !stream.is_new(&info.id) {
            return Ok((Verdict::skipped("repeated"), length));
        }
        let mut index = 0;
        if let Some(parts) = parts {
            json::items(parts, |part| {
                tell_part(row, &info, part, index, stream);
                index += 1;
            });
        }
        if let Some(usage) = info.usage {
            stream.reply(&info.id, usage);
        }
        if let Some(error) = info.error {
            tell_error(row, &info, error, stream);
        }
        Ok((Verdict::Kept, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        if name != "info" {
            return;
        }
        let session = &mut stream.session;
        json::members(value, |key, value| match key {
            "id" => session.id = json::text(value).map(Cow::into_owned),
            "parentID" => {
                session.parent_id = json::text(value).map(Cow::into_owned);
                session.is_sub_agent |= session.parent_id.is_some();
            }
            "time" => self.made = json::member(value, "created").and_then(time),
            "directory" => session.is_in(&json::text_or_empty(value)),
            "version" => session.version = json::text(value).map(Cow::into_owned),
            // Until the first reply, the title says only when the session began.
            "title" => {
                let is_said = |title: &Cow<'_, str>| !title.starts_with("New session");
                session.title = json::text(value).filter(is_said).map(Cow::into_owned);
            }
            _ => {}
        });
    }
}

fn read_info<'a>(raw: Raw<'a>, stream: &mut Stream<'_>) -> Info<'a> {
    let mut info = Info::default();
    json::members(raw, |key, value| match key {
        "id" => info.id = json::text_or_empty(value),
        "role" => info.role = json::text_or_empty(value),
        "time" => info.at = json::member(value, "created").and_then(time),
        "summary" => info.is_summary = json::is_true(value),
        "tokens" => info.usage = Some(read_usage(value)),
        "error" => info.error = Some(value),
        "modelID" => stream.session.model = json::text(value).map(Cow::into_owned),
        "path" => stream.session.is_in(&json::member_text(value, "cwd").unwrap_or_default()),
        _ => {}
    });
    info
}

/// A time in milliseconds.
fn time(raw: Raw<'_>) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(json::number(raw)?).ok()?).ok()
}

fn tell_part(row: &Row<'_>, info: &Info<'_>, part: Raw<'_>, index: usize, stream: &mut Stream<'_>) {
    let (mut kind, mut words, mut is_synthetic) = (Cow::default(), Cow::default(), false);
    let (mut call_id, mut tool, mut state) = (Cow::default(), Cow::default(), None);
    json::members(part, |key, value| match key {
        "type" => kind = json::text_or_empty(value),
        "text" => words = json::text_or_empty(value),
        "synthetic" | "ignored" => is_synthetic |= json::is_true(value),
        "callID" => call_id = json::text_or_empty(value),
        "tool" => tool = json::text_or_empty(value),
        "state" => state = Some(value),
        _ => {}
    });
    match &*kind {
        "text" if !words.trim().is_empty() => {
            let event = match (&*info.role, author(words)) {
                ("assistant", Author::Human(words) | Author::Machine(_, words)) if info.is_summary => {
                    Event::Synthetic(Synthetic::Summary, words)
                }
                ("assistant", Author::Human(words) | Author::Machine(_, words)) => Event::Said(words),
                (_, Author::Human(words)) if is_synthetic => Event::Synthetic(Synthetic::Injected, words),
                (_, author) => author.event(),
            };
            let id = if index == 0 { info.id.clone() } else { Cow::Owned(format!("{}#{index}", info.id)) };
            stream.turn(&Turn { id, ..Turn::new(row.place_of(part), info.at, event) });
        }
        "tool" => {
            if let Some(state) = state {
                tell_call(row, info, part, (&call_id, &tool), state, stream);
            }
        }
        "compaction" => stream.session.n_compactions += 1,
        _ => {}
    }
}

fn tell_call(
    row: &Row<'_>,
    info: &Info<'_>,
    part: Raw<'_>,
    (id, name): (&str, &str),
    state: Raw<'_>,
    stream: &mut Stream<'_>,
) {
    let (mut input, mut status, mut text, mut exit_code, mut at) =
        (None, Cow::default(), Cow::default(), None, None);
    json::members(state, |key, value| match key {
        "input" => input = Some(value),
        "status" => status = json::text_or_empty(value),
        "output" | "error" => text = json::text_or_empty(value),
        "metadata" => exit_code = json::member(value, "exit").and_then(json::code),
        "time" => at = json::member(value, "start").and_then(time),
        _ => {}
    });
    stream.call(id, row.place_of(part), at.or(info.at), None, tools::called(name, input));
    let is_ok = match &*status {
        "completed" => Some(true),
        "error" => Some(false),
        _ => None,
    };
    stream.answer(id, &Answer { is_ok, exit_code, text: &text });
}

fn tell_error(row: &Row<'_>, info: &Info<'_>, error: Raw<'_>, stream: &mut Stream<'_>) {
    let name = json::member_text(error, "name").unwrap_or_default();
    let words = json::member(error, "data").and_then(|data| json::member_text(data, "message"));
    let event = if name == "MessageAbortedError" {
        Event::Interruption("".into())
    } else {
        Event::Error(words.unwrap_or(name))
    };
    let id = Cow::Owned(format!("{}#error", info.id));
    stream.turn(&Turn { id, ..Turn::new(row.place_of(error), info.at, event) });
}

fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "input" => usage.input = number(),
            "output" | "reasoning" => usage.output = usage.output.saturating_add(number()),
            "cache" => {
                usage.cache_read = json::member(value, "read").and_then(json::number).unwrap_or_default();
                usage.cache_write = json::member(value, "write").and_then(json::number).unwrap_or_default();
            }
            _ => {}
        }
    });
    usage
}
