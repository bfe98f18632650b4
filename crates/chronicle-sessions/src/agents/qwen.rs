//! Rows of Qwen Code.
//!
//! After `ChatRecord` in `packages/core/src/services/chatRecordingService.ts` of `github.com/QwenLM/qwen-code`. The
//! envelope is like Claude Code's; a message has the parts of Gemini's API: `text`, `functionCall`,
//! `functionResponse`.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rows::human::{Author, Plain, authors, names_human};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::time;
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::{self, cut};
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// How soon the prompt of a slash command follows the row that tells of the command, where that doesn't say whether there
/// is one: hooks may look at it before.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(10);

/// What is remembered between rows.
#[derive(Default)]
pub(crate) struct Qwen {
    /// The slash command that was told of since somebody spoke last: its prompt follows as if it was typed.
    command: Option<Command>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Command {
    at: Option<Timestamp>,
    /// Whether it has a prompt, if the row says so.
    is_sent: Option<bool>,
}

#[derive(Default)]
struct Fields<'a> {
    id: Cow<'a, str>,
    kind: Cow<'a, str>,
    subtype: Cow<'a, str>,
    at: Option<Timestamp>,
    message: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    payload: Option<Raw<'a>>,
    usage: Option<Raw<'a>>,
    is_side: bool,
    /// Whether it names another writer than a human. Later versions say of each row where it is from.
    is_of_program: bool,
    /// Whether a slash command wrote it.
    is_of_command: bool,
}

impl Transcript for Qwen {
    fn pause(&self) -> Option<Value> {
        Some(json!(self.command))
    }

    fn go_on(&mut self, state: Value) {
        self.command = serde_json::from_value(state).unwrap_or_default();
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut fields = Fields::default();
        let length = json::first_object(row, |key, value| match key {
            "uuid" => fields.id = json::text_or_empty(value),
            "type" => fields.kind = json::text_or_empty(value),
            "subtype" => {
                fields.subtype = json::text_or_empty(value);
                fields.is_of_program |= names_human(value, &[MID_TURN]) == Some(false);
            }
            "provenance" => fields.is_of_program |= names_human(value, &["real_user"]) == Some(false),
            "timestamp" => fields.at = time(value),
            "message" => fields.message = Some(value),
            "toolCallResult" => fields.result = Some(value),
            "systemPayload" => fields.payload = Some(value),
            "usageMetadata" => fields.usage = Some(value),
            "isSidechain" => fields.is_side |= json::is_true(value),
            "agentId" => fields.is_side |= !json::text_or_empty(value).is_empty(),
            "sessionId" => stream.session.id = json::text(value).map(Cow::into_owned),
            "cwd" => stream.session.is_in(&json::text_or_empty(value)),
            "gitBranch" => stream.session.is_on(&json::text_or_empty(value)),
            "version" => stream.session.version = json::text(value).map(Cow::into_owned),
            "model" => stream.session.model = json::text(value).map(Cow::into_owned),
            _ => {}
        })?;
        if !stream.is_new(&fields.id) {
            return Ok((Verdict::skipped("repeated"), length));
        }
        if fields.subtype == "slash_command" {
            let is_sent = fields.payload.and_then(|payload| json::member(payload, "sentToModel"));
            self.command = Some(Command { at: fields.at, is_sent: is_sent.map(json::is_true) });
        } else if fields.kind != "system" {
            fields.is_of_command = self.command.take().is_some_and(|command| {
                command.is_sent.unwrap_or_else(|| {
                    command.at.zip(fields.at).is_none_or(|(told, at)| at.duration_since(told) <= AT_ONCE)
                })
            });
        }
        let verdict = match &*fields.kind {
            "user" | "assistant" | "tool_result" => {
                if let Some(message) = fields.message {
                    tell(row, &fields, message, stream);
                }
                if let Some(usage) = fields.usage.filter(|_| fields.kind == "assistant") {
                    stream.reply(&fields.id, read_usage(usage));
                }
                Verdict::Kept
            }
            "system" => take_system(&fields, stream),
            kind => Verdict::unknown(kind),
        };
        Ok((verdict, length))
    }
}

fn take_system(fields: &Fields<'_>, stream: &mut Stream<'_>) -> Verdict {
    let payload = |name| fields.payload.and_then(|payload| json::member_text(payload, name));
    match &*fields.subtype {
        "custom_title" => stream.session.title = payload("customTitle").map(Cow::into_owned),
        "parent_session" => {
            stream.session.parent_id = payload("parentSessionId").map(Cow::into_owned);
            stream.session.is_sub_agent |= stream.session.parent_id.is_some();
        }
        "chat_compression" => stream.session.n_compactions += 1,
        // Tasks at their time and messages of channels open sessions, too.
        "session_source" => {
            let source = payload("sourceType").unwrap_or_default();
            stream.session.is_headless |= !AT_HAND.contains(&&*source);
        }
        subtype => return Verdict::skipped(&cut(subtype, 40)),
    }
    Verdict::Kept
}

fn tell(row: &Row<'_>, fields: &Fields<'_>, message: Raw<'_>, stream: &mut Stream<'_>) {
    let Some(parts) = json::member(message, "parts") else { return };
    // What was typed, where a hook or a file was put beside it.
    let shown = fields.payload.and_then(|payload| json::member_text(payload, "displayText"));
    let mut shown = shown.filter(|words| !words.is_empty() && fields.kind == "user");
    let mut texts = Vec::new();
    json::items(parts, |part| {
        let (mut text, mut is_thought) = (None, false);
        json::members(part, |key, value| match key {
            "text" => text = Some(value),
            "thought" => is_thought = json::is_true(value),
            "functionCall" => call(row, fields, value, stream),
            "functionResponse" => answer(fields, value, stream),
            _ => {}
        });
        let Some(text) = text.filter(|_| !is_thought) else { return };
        let words = match shown.take() {
            Some(shown) => Cow::Owned(shown.into_owned()),
            None => json::text_or_empty(text),
        };
        if !words.trim().is_empty() {
            texts.push((row.place_of(text), words));
        }
    });
    let (places, words): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
    for (index, (place, event)) in places.into_iter().zip(events(fields, words)).enumerate() {
        let id = match index {
            0 => fields.id.clone(),
            _ => Cow::Owned(format!("{}#{index}", fields.id)),
        };
        stream.turn(&Turn { id, ..Turn::new(place, fields.at, event) });
    }
}

/// The kind of rows with what a human typed while the agent was busy. Rows of other kinds, such as `cron`, are of the program.
const MID_TURN: &str = "mid_turn_user_message";

/// Where a session comes from that a human opened at this machine.
const AT_HAND: [&str; 6] = ["", "user", "cli", "interactive", "ide", "vscode"];

/// What is told of the texts of one message. What was typed comes first: resources, files, extensions and what a model saw in
/// a picture follow as plainly.
fn events<'a>(fields: &Fields<'_>, texts: Vec<Cow<'a, str>>) -> Vec<Event<'a>> {
    let machine = match &*fields.kind {
        "assistant" => return texts.into_iter().map(Event::Said).collect(),
        _ if fields.is_side => Synthetic::SubAgent,
        "tool_result" => Synthetic::Output,
        _ if fields.is_of_command => Synthetic::Injected,
        _ if fields.is_of_program => Synthetic::Notification,
        _ => return authors(texts, Plain::First).into_iter().map(Author::event).collect(),
    };
    texts.into_iter().map(|words| Event::Synthetic(machine, words)).collect()
}

fn call(row: &Row<'_>, fields: &Fields<'_>, call: Raw<'_>, stream: &mut Stream<'_>) {
    let (mut id, mut name, mut arguments) = (Cow::default(), Cow::default(), None);
    json::members(call, |key, value| match key {
        "id" => id = json::text_or_empty(value),
        "name" => name = json::text_or_empty(value),
        "args" => arguments = Some(value),
        _ => {}
    });
    stream.call(&id, row.place_of(call), fields.at, None, tools::called(&name, arguments));
}

fn answer(fields: &Fields<'_>, response: Raw<'_>, stream: &mut Stream<'_>) {
    let (mut id, mut text, mut is_error) = (Cow::default(), Cow::default(), false);
    json::members(response, |key, value| match key {
        "id" => id = json::text_or_empty(value),
        "response" => {
            let error = json::member_text(value, "error");
            is_error = error.is_some();
            text = error.or_else(|| json::member_text(value, "output")).unwrap_or_default();
        }
        _ => {}
    });
    let status = fields.result.and_then(|result| json::member_text(result, "status"));
    let is_ok = match status.as_deref() {
        _ if is_error => Some(false),
        Some("success") => Some(true),
        Some("error" | "cancelled") => Some(false),
        _ => None,
    };
    stream.answer(&id, &Answer { is_ok, exit_code: None, text: &text });
}

fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "promptTokenCount" => usage.input = number(),
            "candidatesTokenCount" => usage.output = number(),
            "cachedContentTokenCount" => usage.cache_read = number(),
            _ => {}
        }
    });
    usage.input = usage.input.saturating_sub(usage.cache_read);
    usage
}
