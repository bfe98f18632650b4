//! Goose: the rows of its older files, and what is made of its database.
//!
//! After `crates/goose/src/session/session_manager.rs` (the tables) and `conversation/message.rs` (the parts) of
//! `github.com/block/goose`. A file begins with a row that describes the session.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::rows::human::Plain;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::messages::{Head, Result as Came, tell, time};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn, Usage};

/// What is remembered between messages.
#[derive(Default)]
pub(crate) struct Goose {
    /// Whether the next message in a human's place is the one that a recipe begins with.
    awaits_recipe: bool,
}

impl Transcript for Goose {
    fn pause(&self) -> Option<Value> {
        Some(json!(self.awaits_recipe))
    }

    fn go_on(&mut self, state: Value) {
        self.awaits_recipe = state == true;
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        // Files and resources that an editor sends along become texts like that of the prompt.
        let mut head = Head { plain: Plain::First, ..Head::default() };
        let (mut content, mut is_hidden, mut is_session) = (None, false, false);
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
                self.note(key, value, stream);
            }
            _ => self.note(key, value, stream),
        })?;
        let verdict = match (&*head.role, content) {
            ("user" | "assistant", Some(_)) if is_hidden => Verdict::skipped("hidden"),
            ("user" | "assistant", Some(_)) if !stream.is_new(&head.id) => Verdict::skipped("repeated"),
            ("user", Some(content)) if std::mem::take(&mut self.awaits_recipe) => {
                let words = Came::of(content).text;
                let event = Event::Synthetic(Synthetic::Injected, words);
                stream.turn(&Turn { id: head.id, ..Turn::new(row.place_of(content), head.at, event) });
                Verdict::Kept
            }
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
            json::members(value, |key, value| self.note(key, value, stream));
        }
    }
}

impl Goose {
    /// Takes what is about the whole session.
    fn note(&mut self, key: &str, value: Raw<'_>, stream: &mut Stream<'_>) {
        let session = &mut stream.session;
        match key {
            // What asks then is a recipe, which older versions and jobs at work don't show.
            "schedule_id" if json::text(value).is_some_and(|id| !id.is_empty()) => {
                session.is_headless = true;
                self.awaits_recipe = true;
            }
            "session_id" => session.id = json::text(value).map(Cow::into_owned),
            "working_dir" => session.is_in(&json::text_or_empty(value)),
            "description" | "name" => {
                session.title = json::text(value).filter(|title| !title.is_empty()).map(Cow::into_owned);
            }
            "session_type" => match &*json::text_or_empty(value) {
                "" | "user" | "terminal" | "acp" | "gateway" => {}
                "scheduled" => {
                    session.is_headless = true;
                    self.awaits_recipe = true;
                }
                // `sub_agent`, and what else nobody opened.
                _ => session.is_sub_agent = true,
            },
            "recipe" => {
                let prompt = json::member_text(value, "prompt");
                self.awaits_recipe |= prompt.is_some_and(|words| !words.trim().is_empty());
            }
            "tokens" => {
                let number = |name| json::member(value, name).and_then(json::number).unwrap_or_default();
                let usage = Usage { input: number("input"), output: number("output"), ..Usage::default() };
                stream.reply("session", usage);
            }
            _ => {}
        }
    }
}
