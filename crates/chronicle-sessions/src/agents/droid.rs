//! Rows of Factory's Droid.
//!
//! `session_start` with the id, title and folder comes first, then `message` rows with the parts that Anthropic's API
//! has. Droid is closed; its files are described by public readers of them, such as
//! `github.com/Dicklesworthstone/coding_agent_session_search` (`src/connectors/factory.rs`). Tokens are in another
//! file, `ID.settings.json`, and not read.

use std::borrow::Cow;

use serde_json::Value;

use crate::rows::human::names_human;
use crate::rows::json::{self, Broken};
use crate::rows::messages::{Head, tell, time};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;
use crate::rows::tools::cut;
use crate::rows::transcript::Transcript;

/// Nothing is remembered between rows.
pub(crate) struct Droid;

impl Transcript for Droid {
    fn pause(&self) -> Option<Value> {
        Some(Value::Null)
    }

    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken> {
        let (mut kind, mut head, mut message) = (Cow::default(), Head::default(), None);
        let (mut title, mut folder) = (None, Cow::default());
        let (mut is_hidden, mut is_called) = (false, false);
        let length = json::first_object(row, |key, value| match key {
            "type" => kind = json::text_or_empty(value),
            "id" => head.id = json::text_or_empty(value),
            "timestamp" => head.at = time(value),
            "message" => message = Some(value),
            "sessionTitle" => title = json::text(value),
            "title" if title.is_none() => title = json::text(value),
            "cwd" => folder = json::text_or_empty(value),
            "visibility" => is_hidden |= json::text_or_empty(value) == "llm_only",
            "callingSessionId" => is_called |= json::text(value).is_some(),
            "decompSessionType" => is_called |= names_human(value, &["orchestrator"]) == Some(false),
            _ => {}
        })?;
        let verdict = match (&*kind, message) {
            ("session_start", _) => {
                stream.session.id = Some(head.id.to_string()).filter(|id| !id.is_empty());
                stream.session.title =
                    title.map(Cow::into_owned).filter(|title| !title.is_empty() && title != "New Session");
                stream.session.is_in(&folder);
                stream.session.is_sub_agent |= is_called;
                Verdict::Kept
            }
            ("message", Some(_)) if !stream.is_new(&head.id) => Verdict::skipped("repeated"),
            ("message", Some(message)) => {
                let mut content = None;
                json::members(message, |key, value| match key {
                    "role" => head.role = json::text_or_empty(value),
                    "content" => content = Some(value),
                    // For the model alone: nobody typed it.
                    "visibility" => is_hidden |= json::text_or_empty(value) == "llm_only",
                    _ => {}
                });
                if is_hidden {
                    return Ok((Verdict::skipped("hidden"), length));
                }
                if let Some(content) = content {
                    tell(row, &head, content, stream);
                }
                Verdict::Kept
            }
            ("todo_state" | "compaction_state" | "session_end", _) => Verdict::skipped(&cut(&kind, 40)),
            _ => Verdict::unknown(&kind),
        };
        Ok((verdict, length))
    }
}
