//! Wire files of Kimi CLI and Kimi Code.
//!
//! After `src/kimi_cli/wire/{file,types}.py` of `github.com/MoonshotAI/kimi-cli` (protocol 1: rows with a `message` of
//! a `type` and a `payload`), and `packages/agent-core/src/agent/records/types.ts` and `loop/events.ts` of
//! `github.com/MoonshotAI/kimi-code` (rows with a `type` such as `context.append_message`). The folder and the title
//! are in other files.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rows::human::names_human;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{Head, Result as Came, tell, time};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::{self, cut};
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between rows.
#[derive(Default)]
pub(crate) struct Kimi {
    /// Whether a slash command is at work. A turn that begins meanwhile is a step of the flow that a skill describes.
    in_command: InCommand,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum InCommand {
    #[default]
    No,
    BetweenSteps,
    InStep,
}

impl InCommand {
    /// A turn begins with these words; tells whether it is a step. A step that never ended was killed with its command.
    fn begins(&mut self, words: &str) -> bool {
        let is_step = *self == Self::BetweenSteps;
        *self = match words.trim_start().starts_with('/') {
            _ if is_step => Self::InStep,
            true => Self::BetweenSteps,
            false => Self::No,
        };
        is_step
    }

    fn ends(&mut self) {
        *self = if *self == Self::InStep { Self::BetweenSteps } else { Self::No };
    }
}

impl Transcript for Kimi {
    fn pause(&self) -> Option<Value> {
        Some(json!(self.in_command))
    }

    fn go_on(&mut self, state: Value) {
        self.in_command = serde_json::from_value(state).unwrap_or_default();
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut kind, mut at) = (Cow::default(), None);
        let (mut message, mut event, mut origin, mut usage) = (None, None, None, None);
        let length = json::first_object(row, |key, value| match key {
            "type" => kind = json::text_or_empty(value),
            "time" | "timestamp" => at = time(value),
            "message" => message = Some(value),
            "event" => event = Some(value),
            "origin" => origin = Some(value),
            "usage" => usage = Some(value),
            "model" => stream.session.model = json::text(value).map(Cow::into_owned),
            "app_version" => stream.session.version = json::text(value).map(Cow::into_owned),
            _ => {}
        })?;
        let verdict = match (&*kind, message, event) {
            ("", Some(message), _) => self.take_message(row, at, message, stream),
            ("context.append_message", Some(message), _) => {
                append(row, at, message, origin, stream);
                Verdict::Kept
            }
            ("context.append_loop_event", _, Some(event)) => take_event(row, at, event, stream),
            ("usage.record", ..) => {
                if let Some(usage) = usage {
                    stream.reply("", read_usage(usage));
                }
                Verdict::Kept
            }
            ("context.apply_compaction", ..) => {
                stream.session.n_compactions += 1;
                Verdict::Kept
            }
            ("turn.cancel", ..) => {
                interrupted(row, at, stream);
                Verdict::Kept
            }
            ("metadata" | "forked", ..) => Verdict::skipped(&kind),
            (kind, ..) if kind.contains('.') => Verdict::skipped(&cut(kind, 40)),
            (kind, ..) => Verdict::unknown(kind),
        };
        Ok((verdict, length))
    }
}

/// A message that becomes a part of the context.
fn append(
    row: &Row<'_>,
    at: Option<Timestamp>,
    message: Raw<'_>,
    origin: Option<Raw<'_>>,
    stream: &mut Stream<'_>,
) {
    let mut head = Head { at, ..Head::default() };
    let (mut content, mut calls, mut call_id, mut origin) = (None, None, Cow::default(), origin);
    json::members(message, |key, value| match key {
        "role" => head.role = json::text_or_empty(value),
        "id" => head.id = json::text_or_empty(value),
        "content" => content = Some(value),
        "toolCalls" => calls = Some(value),
        "toolCallId" => call_id = json::text_or_empty(value),
        "origin" => origin = Some(value),
        _ => {}
    });
    let Some(content) = content else { return };
    // Skills, hooks and the program itself speak in a human's place.
    if head.role == "user" && is_of_machine(origin) {
        let event = Event::Synthetic(Synthetic::Injected, Came::of(content).text);
        stream.turn(&Turn { id: head.id, ..Turn::new(row.place_of(content), at, event) });
        return;
    }
    if head.role == "tool" {
        let came = Came::of(content);
        stream.answer(&call_id, &Answer { is_ok: None, exit_code: None, text: &came.text });
        return;
    }
    tell(row, &head, content, stream);
    if let Some(calls) = calls {
        json::items(calls, |call| function_call(row, at, call, stream));
    }
}

/// Whether what names the writer of words names no human.
fn is_of_machine(origin: Option<Raw<'_>>) -> bool {
    origin.and_then(|origin| names_human(origin, &["user"])) == Some(false)
}

/// What the agent does between two prompts.
fn take_event(row: &Row<'_>, at: Option<Timestamp>, event: Raw<'_>, stream: &mut Stream<'_>) -> Verdict {
    let (mut kind, mut id, mut name, mut call_id) =
        (Cow::default(), Cow::default(), Cow::default(), Cow::default());
    let (mut part, mut arguments, mut result) = (None, None, None);
    json::members(event, |key, value| match key {
        "type" => kind = json::text_or_empty(value),
        "uuid" => id = json::text_or_empty(value),
        "toolCallId" => call_id = json::text_or_empty(value),
        "name" => name = json::text_or_empty(value),
        "args" => arguments = Some(value),
        "part" => part = Some(value),
        "result" => result = Some(value),
        _ => {}
    });
    match &*kind {
        "content.part" => {
            let text = part.and_then(|part| json::member(part, "text"));
            if let Some(text) = text.filter(|text| !json::text_or_empty(*text).trim().is_empty()) {
                let event = Event::Said(json::text_or_empty(text));
                stream.turn(&Turn { id, ..Turn::new(row.place_of(text), at, event) });
            }
        }
        "tool.call" => {
            stream.call(&call_id, row.place_of(event), at, None, tools::called(&name, arguments));
        }
        "tool.result" => {
            let came = result.map(Came::of).unwrap_or_default();
            let is_ok = Some(came.is_error != Some(true));
            stream.answer(&call_id, &Answer { is_ok, exit_code: came.exit_code, text: &came.text });
        }
        "step.begin" | "step.end" => return Verdict::skipped(&kind),
        kind => return Verdict::unknown(kind),
    }
    Verdict::Kept
}

impl Kimi {
    /// A message of the older protocol.
    fn take_message(
        &mut self,
        row: &Row<'_>,
        at: Option<Timestamp>,
        message: Raw<'_>,
        stream: &mut Stream<'_>,
    ) -> Verdict {
        let (mut kind, mut payload) = (Cow::default(), None);
        json::members(message, |key, value| match key {
            "type" => kind = json::text_or_empty(value),
            "payload" => payload = Some(value),
            _ => {}
        });
        let Some(payload) = payload else { return Verdict::unknown(&kind) };
        let names_machine =
            || ["origin", "source"].iter().any(|name| is_of_machine(json::member(payload, name)));
        match &*kind {
            "TurnBegin" | "SteerInput" => {
                if let Some(input) = json::member(payload, "user_input") {
                    let words = Came::of(input).text;
                    let is_step = kind == "TurnBegin" && self.in_command.begins(&words);
                    if is_step || names_machine() {
                        let event = Event::Synthetic(Synthetic::Injected, words);
                        stream.turn(&Turn::new(row.place_of(input), at, event));
                    } else {
                        tell(row, &Head { role: "user".into(), at, ..Head::default() }, input, stream);
                    }
                }
            }
            "TurnEnd" => self.in_command.ends(),
            "ContentPart" | "TextPart" => {
                let text = json::member(payload, "text");
                if let Some(text) = text.filter(|text| !json::text_or_empty(*text).trim().is_empty()) {
                    stream.turn(&Turn::new(row.place_of(text), at, Event::Said(json::text_or_empty(text))));
                }
            }
            "ToolCall" => function_call(row, at, payload, stream),
            "ToolResult" => {
                let id = json::member_text(payload, "tool_call_id").unwrap_or_default();
                let came = json::member(payload, "return_value").map(Came::of).unwrap_or_default();
                let is_ok = came.is_error.map(|is_error| !is_error);
                stream.answer(&id, &Answer { is_ok, exit_code: None, text: &came.text });
            }
            "StatusUpdate" => {
                let id = json::member_text(payload, "message_id").unwrap_or_default();
                let usage = json::member(payload, "token_usage").filter(|usage| usage.get() != "null");
                if let Some(usage) = usage {
                    stream.reply(&id, read_usage(usage));
                }
            }
            "StepInterrupted" => {
                // It ends the command, too.
                self.in_command = InCommand::No;
                interrupted(row, at, stream);
            }
            "CompactionEnd" => stream.session.n_compactions += 1,
            kind => return Verdict::skipped(&cut(kind, 40)),
        }
        Verdict::Kept
    }
}

/// `{"id", "function": {"name", "arguments"}}`, or with both next to the id; arguments may be a text that holds JSON.
fn function_call(row: &Row<'_>, at: Option<Timestamp>, call: Raw<'_>, stream: &mut Stream<'_>) {
    let id = json::member_text(call, "id").unwrap_or_default();
    let function = json::member(call, "function").unwrap_or(call);
    let name = json::member_text(function, "name").unwrap_or_default();
    let arguments = json::member(function, "arguments");
    let text = arguments.and_then(json::text);
    let called = match text.as_deref() {
        Some(text) => tools::called(&name, json::whole(text)),
        None => tools::called(&name, arguments),
    };
    stream.call(&id, row.place_of(call), at, None, called);
}

fn interrupted(row: &Row<'_>, at: Option<Timestamp>, stream: &mut Stream<'_>) {
    stream.turn(&Turn::new(row.place.clone(), at, Event::Interruption("".into())));
}

fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "input_other" | "inputOther" => usage.input = number(),
            "output" => usage.output = number(),
            "input_cache_read" | "inputCacheRead" => usage.cache_read = number(),
            "input_cache_creation" | "inputCacheCreation" => usage.cache_write = number(),
            _ => {}
        }
    });
    usage
}
