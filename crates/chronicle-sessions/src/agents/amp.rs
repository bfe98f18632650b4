//! Threads of Amp, each in one document.
//!
//! Amp is closed; `docs/formats/amp.md` of `github.com/skillsynchq/txcript` describes the files of its versions up to
//! early 2026 (`T-….json`). Later versions keep threads on their server, where nothing of them can be read.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::agents::cursor::path_of;
use crate::rows::held::HeldRow;
use crate::rows::human::names_human;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{Head, tell, time};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Turn, Usage};

/// How many bytes of messages are held until it is known whose thread it is.
const MOST_HELD: usize = 16 << 20;

/// What is remembered between messages: whose thread it is stands behind them.
#[derive(Default)]
pub(crate) struct Amp {
    held: VecDeque<HeldRow>,
    n_bytes: usize,
}

/// How a thread that began from another one may be related to it, and its first message be typed.
const TYPED: [&str; 2] = ["fork", "mention"];

#[derive(Default)]
struct Message<'a> {
    head: Head<'a>,
    content: Option<Raw<'a>>,
    usage: Option<Raw<'a>>,
    is_cancelled: bool,
    is_from_machine: bool,
}

impl<'a> Message<'a> {
    fn of(row: &Row<'a>) -> Result<(Self, usize), Broken> {
        let mut message = Self::default();
        let length = json::first_object(row, |key, value| message.set(key, value))?;
        Ok((message, length))
    }

    fn set(&mut self, key: &str, value: Raw<'a>) {
        let Self { head, is_from_machine, .. } = self;
        match key {
            "role" => head.role = json::text_or_empty(value),
            "messageId" => head.id = Cow::Borrowed(value.get().trim_matches('"')),
            "content" => self.content = Some(value),
            "meta" => json::members(value, |key, value| match key {
                "sentAt" => head.at = time(value),
                "fromExecutorThreadID" => *is_from_machine |= json::text(value).is_some(),
                _ if key.starts_with("from") => *is_from_machine |= json::is_true(value),
                _ => {}
            }),
            // Hooks, and a model that corrects the course. What a human wrote has none.
            "source" => *is_from_machine |= names_human(value, &["user"]) == Some(false),
            "usage" => self.usage = Some(value),
            "state" => {
                self.is_cancelled = json::member_text(value, "type").as_deref() == Some("cancelled");
            }
            _ => {}
        }
    }

    fn tell(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) {
        let Self { head, content, usage, .. } = self;
        if let Some(usage) = *usage {
            head.at = head.at.or_else(|| json::member(usage, "timestamp").and_then(time));
            stream.session.model = json::member_text(usage, "model").map(Cow::into_owned);
            stream.reply(&head.id, read_usage(usage));
        }
        let Some(content) = *content else { return };
        tell(row, head, content, stream);
        if self.is_cancelled {
            let id = Cow::Owned(format!("{}#cancelled", head.id));
            let event = Event::Interruption("".into());
            stream.turn(&Turn { id, ..Turn::new(row.place.clone(), head.at, event) });
        }
    }
}

impl Amp {
    fn tell_oldest(&mut self, stream: &mut Stream<'_>) {
        let Some(held) = self.held.pop_front() else { return };
        self.n_bytes -= held.n_bytes();
        let row = held.row();
        if let Ok((mut message, _)) = Message::of(&row) {
            message.tell(&row, stream);
        }
    }
}

impl Transcript for Amp {
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (message, length) = Message::of(row)?;
        let Message { head, content, is_from_machine, .. } = &message;
        let verdict = match (&*head.role, content) {
            ("user", _) if *is_from_machine => Verdict::skipped("of a machine"),
            ("user" | "assistant", Some(_)) if !stream.is_new(&head.id) => Verdict::skipped("repeated"),
            ("user" | "assistant", Some(_)) => {
                self.n_bytes += length;
                self.held.push_back(HeldRow::of(row, &row.bytes[..length]));
                while MOST_HELD < self.n_bytes {
                    self.tell_oldest(stream);
                }
                Verdict::Kept
            }
            (role, _) => Verdict::unknown(role),
        };
        Ok((verdict, length))
    }

    fn finish(&mut self, stream: &mut Stream<'_>) {
        while !self.held.is_empty() {
            self.tell_oldest(stream);
        }
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        let session = &mut stream.session;
        match name {
            "id" => session.id = json::text(value).map(Cow::into_owned),
            "title" => {
                session.title = json::text(value).filter(|title| !title.is_empty()).map(Cow::into_owned);
            }
            "mainThreadID" => {
                let main = json::text(value).filter(|id| !id.is_empty());
                session.is_sub_agent |= main.is_some();
                session.parent_id = main.map(Cow::into_owned);
            }
            "relationships" => json::items(value, |related| {
                let (mut kind, mut role) = (Cow::default(), Cow::default());
                json::members(related, |key, value| match key {
                    "type" => kind = json::text_or_empty(value),
                    "role" => role = json::text_or_empty(value),
                    _ => {}
                });
                stream.is_handed_over |= role == "child" && !TYPED.contains(&&*kind);
            }),
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
