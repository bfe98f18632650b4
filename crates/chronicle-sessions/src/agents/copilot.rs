//! Copilot CLI's events.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use crate::rows::human::{Author, author, names_human};
use crate::rows::json::{self, Broken, Raw};
use crate::rows::outcome::Answer;
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between rows: whether replies told their usage themselves.
#[derive(Default)]
pub(crate) struct Copilot {
    has_usage: bool,
}

#[derive(Default)]
struct Fields<'a> {
    kind: Cow<'a, str>,
    id: Cow<'a, str>,
    at: Option<Timestamp>,
    data: Option<Raw<'a>>,
    is_sub_agent: bool,
}

impl Transcript for Copilot {
    fn pause(&self) -> Option<Value> {
        Some(self.has_usage.into())
    }

    fn go_on(&mut self, state: Value) {
        self.has_usage = state == true;
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut fields = Fields::default();
        let length = json::first_object(row, |key, value| match key {
            "type" => fields.kind = json::text_or_empty(value),
            "id" => fields.id = json::text_or_empty(value),
            "timestamp" => fields.at = json::text_or_empty(value).parse().ok(),
            "data" => fields.data = Some(value),
            // The one that the human speaks with has none.
            "agentId" => fields.is_sub_agent = !json::text_or_empty(value).is_empty(),
            _ => {}
        })?;
        let verdict = match fields.data {
            _ if !stream.is_new(&fields.id) => Verdict::skipped("repeated"),
            Some(data) => self.take(row, &fields, data, stream),
            None => Verdict::unknown(&fields.kind),
        };
        Ok((verdict, length))
    }
}

impl Copilot {
    fn take(
        &mut self,
        row: &Row<'_>,
        fields: &Fields<'_>,
        data: Raw<'_>,
        stream: &mut Stream<'_>,
    ) -> Verdict {
        let text = |name: &str| json::member_text(data, name).unwrap_or_default();
        let event = match &*fields.kind {
            "user.message" if fields.is_sub_agent || !text("parentToolCallId").is_empty() => {
                Some(Event::Synthetic(Synthetic::SubAgent, text("content")))
            }
            // Its autopilot goes on by itself, in the words of a prompt.
            "user.message" if json::member(data, "isAutopilotContinuation").is_some_and(json::is_true) => {
                Some(Event::Synthetic(Synthetic::Injected, text("content")))
            }
            "user.message" => Some(prompt(text("content"), json::member(data, "source"))),
            "assistant.message" => {
                Some(Event::Said(text("content"))).filter(|_| !text("content").trim().is_empty())
            }
            "session.error" => Some(Event::Error(text("message"))),
            "abort" => Some(Event::Interruption("".into())),
            "tool.execution_start" => {
                let parent = text("parentToolCallId");
                let sub_agent = Some(&*parent).filter(|parent| !parent.is_empty());
                let called = tools::called(&text("toolName"), json::member(data, "arguments"));
                stream.call(&text("toolCallId"), row.place_of(data), fields.at, sub_agent, called);
                None
            }
            "tool.execution_complete" => {
                answer(data, stream);
                None
            }
            "assistant.usage" => {
                self.has_usage = true;
                stream.reply(&fields.id, read_usage(data));
                None
            }
            "session.shutdown" => {
                if !self.has_usage
                    && let Some(metrics) = json::member(data, "modelMetrics")
                {
                    count_all(metrics, stream);
                }
                None
            }
            "session.start"
            | "session.resume"
            | "session.context_changed"
            | "session.model_change"
            | "session.title_changed" => {
                note_session(data, stream);
                None
            }
            "session.compaction_complete" => {
                stream.session.n_compactions += 1;
                let words = text("summaryContent");
                Some(Event::Synthetic(Synthetic::Summary, words))
                    .filter(|_| !text("summaryContent").is_empty())
            }
            kind => return skipped(kind),
        };
        if let Some(event) = event {
            let id = Cow::Borrowed(&*fields.id);
            stream.turn(&Turn { id, ..Turn::new(row.place_of(data), fields.at, event) });
        }
        Verdict::Kept
    }
}

fn skipped(kind: &str) -> Verdict {
    const FAMILIES: [&str; 10] = [
        "hook.",
        "session.",
        "assistant.",
        "tool.",
        "subagent.",
        "system.",
        "skill.",
        "user_",
        "permission.",
        "pending_",
    ];
    let is_known = FAMILIES.iter().any(|family| kind.starts_with(family));
    if is_known { Verdict::skipped(&tools::cut(kind, 40)) } else { Verdict::unknown(kind) }
}

fn prompt<'a>(words: Cow<'a, str>, source: Option<Raw<'_>>) -> Event<'a> {
    let names_machine = || source.and_then(|source| names_human(source, &["user"])) == Some(false);
    match author(words) {
        Author::Human(words) if names_machine() => Event::Synthetic(Synthetic::Injected, words),
        author => author.event(),
    }
}

fn answer(data: Raw<'_>, stream: &mut Stream<'_>) {
    let (mut id, mut is_ok, mut text) = (Cow::default(), None, Cow::default());
    json::members(data, |key, value| match key {
        "toolCallId" => id = json::text_or_empty(value),
        "success" => is_ok = Some(json::is_true(value)),
        "result" => {
            text = json::text(value).or_else(|| json::member_text(value, "content")).unwrap_or_default();
        }
        "error" if text.is_empty() => {
            text = json::text(value).or_else(|| json::member_text(value, "message")).unwrap_or_default();
        }
        _ => {}
    });
    stream.answer(&id, &Answer { is_ok, exit_code: None, text: &text });
}

fn note_session(data: Raw<'_>, stream: &mut Stream<'_>) {
    let session = &mut stream.session;
    json::members(data, |key, value| match key {
        "sessionId" => session.id = json::text(value).map(Cow::into_owned),
        "copilotVersion" => session.version = json::text(value).map(Cow::into_owned),
        "selectedModel" | "newModel" => session.model = json::text(value).map(Cow::into_owned),
        "title" => session.title = json::text(value).map(Cow::into_owned),
        "cwd" => session.is_in(&json::text_or_empty(value)),
        "branch" => session.is_on(&json::text_or_empty(value)),
        "context" => json::members(value, |key, value| match key {
            "cwd" => session.is_in(&json::text_or_empty(value)),
            "branch" => session.is_on(&json::text_or_empty(value)),
            "headCommit" => session.head = json::text(value).map(Cow::into_owned),
            _ => {}
        }),
        _ => {}
    });
}

fn read_usage(data: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(data, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "inputTokens" => usage.input = number(),
            "outputTokens" => usage.output = number(),
            "cacheReadTokens" => usage.cache_read = number(),
            "cacheWriteTokens" => usage.cache_write = number(),
            _ => {}
        }
    });
    usage
}

/// The sums that are told when the session ends, by model.
fn count_all(metrics: Raw<'_>, stream: &mut Stream<'_>) {
    json::members(metrics, |_, model| {
        let Some(usage) = json::member(model, "usage") else { return };
        stream.reply("", read_usage(usage));
    });
}
