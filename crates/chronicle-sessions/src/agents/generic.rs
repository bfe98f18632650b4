//! The form for every other agent: one turn in a row.
//!
//! `docs/transcripts.md` describes it.

use std::borrow::Cow;

use chronicle_core::parse_time;
use jiff::Timestamp;
use serde_json::Value;

use crate::rows::human::author;
use crate::rows::json::{self, Broken, Raw};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::transcript::Transcript;
use crate::turn::{Event, Synthetic, Turn};

/// Nothing is remembered between rows.
#[derive(Default)]
pub(crate) struct Generic;

#[derive(Default)]
struct Fields<'a> {
    session: Cow<'a, str>,
    id: Cow<'a, str>,
    at: Option<Timestamp>,
    role: Cow<'a, str>,
    speaker: Cow<'a, str>,
    words: Option<Raw<'a>>,
}

impl Transcript for Generic {
    fn pause(&self) -> Option<Value> {
        Some(Value::Null)
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let mut fields = Fields::default();
        let length = json::first_object(row, |key, value| match key {
            "session" => fields.session = text_or_number(value),
            "id" => fields.id = text_or_number(value),
            "time" => fields.at = time(value),
            "role" => fields.role = json::text_or_empty(value),
            "speaker" => fields.speaker = json::text_or_empty(value),
            "text" => fields.words = Some(value),
            "folder" => stream.session.is_in(&json::text_or_empty(value)),
            "branch" => stream.session.is_on(&json::text_or_empty(value)),
            _ => {}
        })?;
        if !fields.session.is_empty() && stream.session.id.as_deref() != Some(&fields.session) {
            stream.session.id = Some(fields.session.to_string());
        }
        let Some(raw) = fields.words else { return Ok((Verdict::unknown("row without text"), length)) };
        if !fields.id.is_empty() && !stream.is_new(&format!("{}\n{}", fields.session, fields.id)) {
            return Ok((Verdict::skipped("repeated"), length));
        }
        let words = json::text_or_empty(raw);
        let event = match &*fields.role {
            "assistant" | "agent" | "model" => Event::Said(words),
            "system" | "developer" | "tool" => Event::Synthetic(Synthetic::Injected, words),
            "error" => Event::Error(words),
            "" | "user" | "human" => author(words).event(),
            role => return Ok((Verdict::unknown(role), length)),
        };
        let Fields { session, id, at, speaker, .. } = fields;
        stream.turn(&Turn { id, session, speaker, ..Turn::new(row.place_of(raw), at, event) });
        Ok((Verdict::Kept, length))
    }
}

fn text_or_number(raw: Raw<'_>) -> Cow<'_, str> {
    json::text(raw).unwrap_or_else(|| if json::number(raw).is_some() { raw.get().into() } else { "".into() })
}

/// A time as text, or in seconds since 1970.
fn time(raw: Raw<'_>) -> Option<Timestamp> {
    if let Some(text) = json::text(raw) {
        return parse_time(&text);
    }
    Timestamp::from_second(i64::try_from(json::number(raw)?).ok()?).ok()
}
