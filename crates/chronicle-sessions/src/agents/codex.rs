//! Rollouts of Codex.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::rows::human::{Author, Plain, authors, names_human};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::{self, Called};
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between rows: the sum of usage as it was told last.
#[derive(Default)]
pub(crate) struct Codex {
    usage: Usage,
    /// Until when the rows of a fork are copies of the session that it goes on from.
    copied_until: Option<Timestamp>,
}

/// Within what time a fork has copied all rows, each with the time of the copying.
const COPYING: SignedDuration = SignedDuration::from_secs(1);

#[derive(Default)]
struct Fields<'a> {
    kind: Cow<'a, str>,
    at: Option<Timestamp>,
    payload: Option<Raw<'a>>,
}

impl Transcript for Codex {
    fn pause(&self) -> Option<Value> {
        serde_json::to_value(self.usage).ok()
    }

    fn go_on(&mut self, state: Value) {
        self.usage = serde_json::from_value(state).unwrap_or_default();
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut fields = Fields::default();
        let length = json::first_object(row, |key, value| match key {
            "type" => fields.kind = json::text_or_empty(value),
            "timestamp" => fields.at = json::text_or_empty(value).parse().ok(),
            "payload" => fields.payload = Some(value),
            _ => {}
        })?;
        let Some(payload) = fields.payload else { return Ok((Verdict::unknown(&fields.kind), length)) };
        let verdict = match &*fields.kind {
            "response_item" | "event_msg" | "compacted" if self.is_copied(fields.at) => {
                // What the copied turns cost was paid for before.
                let _paid = total_in(payload).map(|total| self.grown_to(total));
                Verdict::skipped("copied")
            }
            "session_meta" | "turn_context" => {
                let is_fork =
                    || json::member_text(payload, "forked_from_id").is_some_and(|id| !id.is_empty());
                if stream.session.id.is_none() && is_fork() {
                    self.copied_until = fields.at.and_then(|at| at.checked_add(COPYING).ok());
                }
                note_session(payload, stream);
                Verdict::Kept
            }
            "response_item" => item(row, fields.at, payload, stream),
            "event_msg" => self.event(row, fields.at, payload, stream),
            "compacted" => {
                stream.session.n_compactions += 1;
                let words = json::member_text(payload, "message").unwrap_or_default();
                let event = Event::Synthetic(Synthetic::Summary, words);
                stream.turn(&Turn::new(row.place_of(payload), fields.at, event));
                Verdict::Kept
            }
            "world_state" | "token_usage_record" | "ghost_snapshot" => Verdict::skipped(&fields.kind),
            kind => Verdict::unknown(kind),
        };
        Ok((verdict, length))
    }
}

impl Codex {
    /// Whether a row is a copy with the time of the fork. What has an older time is known by that.
    fn is_copied(&mut self, at: Option<Timestamp>) -> bool {
        let (Some(until), Some(at)) = (self.copied_until, at) else { return false };
        if until < at {
            self.copied_until = None;
        }
        let since = until.checked_sub(COPYING).unwrap_or(until);
        since <= at && at <= until
    }

    /// Events repeat what the items say; only what is nowhere else is taken.
    fn event(
        &mut self,
        row: &Row<'_>,
        at: Option<Timestamp>,
        payload: Raw<'_>,
        stream: &mut Stream<'_>,
    ) -> Verdict {
        let kind = json::member_text(payload, "type").unwrap_or_default();
        let event = match &*kind {
            "turn_aborted" => Event::Interruption("".into()),
            "error" | "stream_error" => {
                Event::Error(json::member_text(payload, "message").unwrap_or_default())
            }
            "token_count" => {
                if let Some(reply) = total_in(payload).and_then(|total| self.grown_to(total)) {
                    stream.reply("", reply);
                }
                return Verdict::Kept;
            }
            kind => return Verdict::skipped(&format!("event_msg/{}", tools::cut(kind, 40))),
        };
        stream.turn(&Turn::new(row.place_of(payload), at, event));
        Verdict::Kept
    }

    /// The sum is told again and again; what it grew by is one reply.
    fn grown_to(&mut self, total: Raw<'_>) -> Option<Usage> {
        let mut sum = Usage::default();
        json::members(total, |key, value| {
            let number = json::number(value).unwrap_or_default();
            match key {
                "input_tokens" => sum.input = number,
                "cached_input_tokens" => sum.cache_read = number,
                "output_tokens" => sum.output = number,
                _ => {}
            }
        });
        sum.input = sum.input.saturating_sub(sum.cache_read);
        if sum == self.usage {
            return None;
        }
        let grown = |new: u64, old: u64| new.checked_sub(old).unwrap_or(new);
        let reply = Usage {
            input: grown(sum.input, self.usage.input),
            output: grown(sum.output, self.usage.output),
            cache_read: grown(sum.cache_read, self.usage.cache_read),
            ..Usage::default()
        };
        self.usage = sum;
        Some(reply)
    }
}

/// What a session cost until now, if an event says it.
fn total_in(payload: Raw<'_>) -> Option<Raw<'_>> {
    json::member(json::member(payload, "info")?, "total_token_usage")
}

fn note_session(payload: Raw<'_>, stream: &mut Stream<'_>) {
    let session = &mut stream.session;
    json::members(payload, |key, value| match key {
        "id" if session.id.is_none() => session.id = json::text(value).map(Cow::into_owned),
        "forked_from_id" | "parent_thread_id" => session.parent_id = json::text(value).map(Cow::into_owned),
        // What a human opens. All else is started by Codex itself (sub-agents, reviewers, its memory), or by another agent,
        // such as `mcp`.
        "source" => {
            const OPENED: [&str; 6] = ["cli", "vscode", "exec", "appServer", "app_server", "unknown"];
            session.is_headless |= json::text_or_empty(value) == "exec";
            session.is_sub_agent |= names_human(value, &OPENED) == Some(false);
        }
        "agent_role" | "agent_nickname" => session.is_sub_agent |= json::text(value).is_some(),
        "thread_source" => session.is_sub_agent |= names_human(value, &["user"]) == Some(false),
        "cwd" => session.is_in(&json::text_or_empty(value)),
        "model" => session.model = json::text(value).map(Cow::into_owned),
        "cli_version" => session.version = json::text(value).map(Cow::into_owned),
        "git" => {
            session.is_on(&json::member_text(value, "branch").unwrap_or_default());
            session.head = json::member_text(value, "commit_hash").map(Cow::into_owned);
        }
        _ => {}
    });
}

#[derive(Default)]
struct Item<'a> {
    kind: Cow<'a, str>,
    id: Cow<'a, str>,
    role: Cow<'a, str>,
    name: Cow<'a, str>,
    call_id: Cow<'a, str>,
    arguments: Option<Raw<'a>>,
    input: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    action: Option<Raw<'a>>,
    meta: Option<Raw<'a>>,
}

fn item(row: &Row<'_>, at: Option<Timestamp>, payload: Raw<'_>, stream: &mut Stream<'_>) -> Verdict {
    let mut item = Item::default();
    json::members(payload, |key, value| match key {
        "type" => item.kind = json::text_or_empty(value),
        "id" => item.id = json::text_or_empty(value),
        "role" => item.role = json::text_or_empty(value),
        "name" => item.name = json::text_or_empty(value),
        "call_id" => item.call_id = json::text_or_empty(value),
        "arguments" => item.arguments = Some(value),
        "input" => item.input = Some(value),
        "content" => item.content = Some(value),
        "output" => item.output = Some(value),
        "action" => item.action = Some(value),
        "internal_chat_message_metadata_passthrough" => item.meta = Some(value),
        _ => {}
    });
    let place = row.place_of(payload);
    match &*item.kind {
        "message" => return message(row, at, &item, stream),
        "function_call" | "custom_tool_call" => {
            stream.call(&item.call_id, place, at, None, called(&item));
        }
        "local_shell_call" => {
            stream.call(&item.call_id, place, at, None, tools::called("local_shell", item.action));
        }
        "web_search_call" => {
            let called = tools::called("web_search", item.action);
            stream.call(&item.id, place, at, None, called);
            stream.answer(&item.id, &Answer::default());
        }
        "function_call_output" | "custom_tool_call_output" => answer(&item, stream),
        kind => return Verdict::skipped(&format!("response_item/{}", tools::cut(kind, 40))),
    }
    Verdict::Kept
}

fn called(item: &Item<'_>) -> Called {
    if let Some(input) = item.input.and_then(json::text) {
        return tools::called_with_text(&item.name, &input);
    }
    let arguments = item.arguments.and_then(json::text).unwrap_or_default();
    tools::called(&item.name, json::whole(&arguments))
}

fn message(row: &Row<'_>, at: Option<Timestamp>, item: &Item<'_>, stream: &mut Stream<'_>) -> Verdict {
    let Some(content) = item.content else { return Verdict::skipped("message without content") };
    let mut kinds = Vec::new();
    if let Some(list) = item.meta.and_then(|meta| json::member(meta, "content_item_kinds")) {
        json::items(list, |kind| kinds.push(json::text_or_empty(kind)));
    }
    let (mut texts, mut n_items) = (Vec::new(), 0);
    json::items(content, |part| {
        let is_typed = kinds.get(n_items).is_none_or(|kind| kind == "user.text");
        n_items += 1;
        if let Some(words) = json::member_text(part, "text") {
            texts.push(((row.place_of(part), is_typed), words));
        }
    });
    let (about, words): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
    for (index, ((place, is_typed), author)) in about.into_iter().zip(authors(words, Plain::All)).enumerate()
    {
        let event = match (&*item.role, author) {
            ("assistant", Author::Human(words) | Author::Machine(_, words)) => Event::Said(words),
            // An event tells of it too.
            (_, Author::Interruption) => continue,
            ("user", author) if is_typed => author.event(),
            (_, Author::Human(words) | Author::Machine(_, words)) => {
                Event::Synthetic(Synthetic::Injected, words)
            }
        };
        let id = if index == 0 || item.id.is_empty() {
            item.id.clone()
        } else {
            Cow::Owned(format!("{}#{index}", item.id))
        };
        stream.turn(&Turn { id, ..Turn::new(place, at, event) });
    }
    Verdict::Kept
}

/// Output is words, an object with words, or a text that holds such an object.
fn answer(item: &Item<'_>, stream: &mut Stream<'_>) {
    let Some(output) = item.output else { return };
    let text = json::text(output).unwrap_or_else(|| {
        let inner = ["content", "output"].into_iter().find_map(|name| json::member(output, name));
        crate::agents::claude::words_of(inner.unwrap_or(output))
    });
    let is_ok = json::member(output, "success").map(json::is_true);
    let held: Option<Raw<'_>> = if text.starts_with('{') { json::whole(&text) } else { None };
    let Some((held, words)) = held.and_then(|held| Some((held, json::member_text(held, "output")?))) else {
        stream.answer(&item.call_id, &Answer { is_ok, exit_code: None, text: &text });
        return;
    };
    let code = json::member(held, "metadata").and_then(|meta| json::member(meta, "exit_code"));
    let exit_code = code.and_then(json::code);
    stream.answer(&item.call_id, &Answer { is_ok, exit_code, text: &words });
}
