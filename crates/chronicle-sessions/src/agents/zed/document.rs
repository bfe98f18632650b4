//! A thread of Zed as one document that is read message by message.

use std::io::{Cursor, Read};

use serde_json::Value;

use crate::rows::json;

/// The member of the document that has what is known of the whole thread. It comes before the messages.
pub(crate) const HEAD: &str = "zed";

/// The members of a thread that are about all of it.
const ABOUT: [&str; 5] =
    ["model", "imported", "subagent_context", "cumulative_token_usage", "initial_project_snapshot"];

/// A longer one has a difference of the whole project, which nobody needs.
const LONGEST_MEMBER: usize = 1 << 20;

/// A thread as one document: what its row says `about` it, what it says itself of the whole, and its messages.
///
/// A thread that cannot be read as a whole is given as it is, so that what is wrong with it is counted.
pub fn thread_document(mut about: Value, thread: Vec<u8>) -> impl Read {
    let text = str::from_utf8(&thread).ok();
    let whole = text.and_then(|text| Some((text, json::whole(text.trim_ascii())?)));
    let (from, length, after) = match whole.filter(|(_, raw)| raw.get().starts_with('{')) {
        Some((text, raw)) => {
            let mut messages = 0..0;
            json::members(raw, |key, value| {
                if key == "messages" {
                    let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
                    messages = start..start + value.get().len();
                } else if ABOUT.contains(&key) && value.get().len() <= LONGEST_MEMBER {
                    about[key] = serde_json::from_str(value.get()).unwrap_or_default();
                }
            });
            (messages.start, messages.len(), "}\n")
        }
        None => (thread.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1), thread.len(), ""),
    };
    let name = match (length, after) {
        (0, _) => "",
        (_, "") => ",",
        _ => ",\"messages\":",
    };
    let head = format!("{{\"{HEAD}\":{about}{name}");
    let mut rest = Cursor::new(thread);
    rest.set_position(from as u64);
    Cursor::new(head).chain(rest.take(length as u64)).chain(Cursor::new(after))
}
