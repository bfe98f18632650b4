//! Threads of Amp, each in one document.
//!
//! Amp is closed; `docs/formats/amp.md` of `github.com/skillsynchq/txcript` describes the files of its versions up to
//! early 2026 (`T-….json`). Later versions keep threads on their server, where nothing of them can be read.

use std::borrow::Cow;

use crate::agents::cursor::path_of;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{Head, tell, time};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Turn, Usage};

/// Nothing is remembered between messages.
pub(crate) struct Amp;

impl Transcript for Amp {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut head, mut content, mut usage, mut is_cancelled) = (Head::default(), None, None, false);
        let mut is_from_machine = false;
        let length = json::first_object(row, |key, value| match key {
            "role" => head.role = json::text_or_empty(value),
            "messageId" => head.id = Cow::Borrowed(value.get().trim_matches('"')),
            "content" => content = Some(value),
            "meta" => json::members(value, |key, value| match key {
                "sentAt" => head.at = time(value),
                "fromExecutorThreadID" => is_from_machine |= json::text(value).is_some(),
                "fromAutomation" | "fromAggman" => is_from_machine |= json::is_true(value),
                _ => {}
            }),
            "usage" => usage = Some(value),
            "state" => is_cancelled = json::member_text(value, "type").as_deref() == Some("cancelled"),
            _ => {}
        })?;
        if let Some(usage) = usage {
            head.at = head.at.or_else(|| json::member(usage, "timestamp").and_then(time));
            stream.session.model = json::member_text(usage, "model").map(Cow::into_owned);
            stream.reply(&head.id, read_usage(usage));
        }
        let verdict = match (&*head.role, content) {
            ("user", _) if is_from_machine => Verdict::skipped("from another thread"),
            ("user" | "assistant", Some(_)) if !stream.is_new(&head.id) => Verdict::skipped("repeated"),
            ("user" | "assistant", Some(content)) => {
                tell(row, &head, content, stream);
                if is_cancelled {
                    let id = Cow::Owned(format!("{}#cancelled", head.id));
                    let event = Event::Interruption("".into());
                    stream.turn(&Turn { id, ..Turn::new(row.place.clone(), head.at, event) });
                }
                Verdict::Kept
            }
            (role, _) => Verdict::unknown(role),
        };
        Ok((verdict, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        let session = &mut stream.session;
        match name {
            "id" => session.id = json::text(value).map(Cow::into_owned),
            "title" => {
                session.title = json::text(value).filter(|title| !title.is_empty()).map(Cow::into_owned);
            }
            "created" => session.saw(time(value)),
            "env" => {
                let Some(initial) = json::member(value, "initial") else { return };
                if let Some(trees) = json::member(initial, "trees") {
                    json::items(trees, |tree| {
                        session.is_in(&path_of(&json::member_text(tree, "uri").unwrap_or_default()));
                        let branch = json::member(tree, "repository");
                        let branch = branch.and_then(|repository| json::member_text(repository, "ref"));
                        let branch = branch.unwrap_or_default();
                        session.is_on(branch.strip_prefix("refs/heads/").unwrap_or(&branch));
                    });
                }
                let platform = json::member(initial, "platform");
                session.version = platform
                    .and_then(|platform| json::member_text(platform, "clientVersion"))
                    .map(Cow::into_owned);
            }
            _ => {}
        }
    }
}

fn read_usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    json::members(raw, |key, value| {
        let number = || json::number(value).unwrap_or_default();
        match key {
            "inputTokens" => usage.input = number(),
            "outputTokens" => usage.output = number(),
            "cacheCreationInputTokens" => usage.cache_write = number(),
            "cacheReadInputTokens" => usage.cache_read = number(),
            _ => {}
        }
    });
    usage
}
