//! Goose: the rows of its older files, and what is made of its database.
//!
//! After `crates/goose/src/session/session_manager.rs` (the tables) and `conversation/message.rs` (the parts) of
//! `github.com/block/goose`. A file begins with a row that describes the session.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::{self, Broken, Raw};
use crate::messages::{Head, tell, time};
use crate::row::Row;
use crate::stream::Stream;
use crate::tally::Verdict;
use crate::transcript::Transcript;
use crate::turn::Usage;

/// Nothing is remembered between messages.
pub(crate) struct Goose;

impl Transcript for Goose {
    fn pause(&self) -> Option<Value> {
        Some(Value::Null)
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut head, mut content, mut is_hidden, mut is_session) = (Head::default(), None, false, false);
        let length = json::first_object(row, |key, value| match key {
            "role" => head.role = json::text_or_empty(value),
            "id" => head.id = Cow::Borrowed(value.get().trim_matches('"')),
            "created" => head.at = time(value),
            "content" => content = Some(value),
            // What a human never saw was not said to them, nor by them.
            "metadata" => {
                is_hidden = json::member(value, "userVisible").is_some_and(|seen| !json::is_true(seen));
            }
            "working_dir" => {
                is_session = true;
                note(key, value, stream);
            }
            _ => note(key, value, stream),
        })?;
        let verdict = match (&*head.role, content) {
            ("user" | "assistant", Some(_)) if is_hidden => Verdict::skipped("hidden"),
            ("user" | "assistant", Some(_)) if !stream.is_new(&head.id) => Verdict::skipped("repeated"),
            ("user" | "assistant", Some(content)) => {
                tell(row, &head, content, stream);
                Verdict::Kept
            }
            _ if is_session => Verdict::Kept,
            (role, _) => Verdict::unknown(role),
        };
        Ok((verdict, length))
    }

    fn member(&mut self, name: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        if name == "goose" {
            json::members(value, |key, value| note(key, value, stream));
        }
    }
}

/// Takes what is about the whole session.
fn note(key: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
    let session = &mut stream.session;
    match key {
        "session_id" => session.id = json::text(value).map(Cow::into_owned),
        "working_dir" => session.is_in(&json::text_or_empty(value)),
        "description" | "name" => {
            session.title = json::text(value).filter(|title| !title.is_empty()).map(Cow::into_owned);
        }
        "session_type" => match &*json::text_or_empty(value) {
            "sub_agent" | "hidden" => session.is_sub_agent = true,
            "scheduled" => session.is_headless = true,
            _ => {}
        },
        "tokens" => {
            let number = |name| json::member(value, name).and_then(json::number).unwrap_or_default();
            let usage = Usage { input: number("input"), output: number("output"), ..Usage::default() };
            stream.reply("session", usage);
        }
        _ => {}
    }
}
