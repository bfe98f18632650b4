//! A reading for programs: one object on one line.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Reading, mark_repeated_intents};
use crate::text::plain::plain;

/// Top-level keys of a reading that are always there, however empty.
const ALWAYS: [&str; 9] = [
    "query",
    "regions",
    "wisdom",
    "dependencies_on_this",
    "cross_cutting",
    "knowledge",
    "stats",
    "trimmed",
    "warnings",
];

/// Keys of items that are always there: null says something.
const TELLING: [&str; 3] = ["lines", "commits_since", "constraints"];

impl Reading {
    /// The object; what is empty is in it if it is `verbose`, or of a kind that is always whole.
    #[must_use]
    pub fn json(&self, verbose: bool) -> Value {
        let mut answer = self.clone();
        mark_repeated_intents(answer.regions.iter_mut());
        let mut value = serde_json::to_value(&answer).expect("answers are plain data");
        if let Some(map) = value.as_object_mut() {
            if self.file.is_none() {
                map.shift_remove("file");
            }
            if !verbose {
                compact(map, &ALWAYS);
            }
        }
        value
    }

    /// The same on one line, in which no character acts on a terminal.
    #[must_use]
    pub fn json_line(&self, verbose: bool) -> String {
        json_line(&self.json(verbose))
    }
}

/// Leaves out of an answer what is null or empty, but for the keys `always` and those of its items that say something
/// then, too.
pub fn compact(map: &mut Map<String, Value>, always: &[&str]) {
    map.retain(|key, value| always.contains(&key.as_str()) || !is_empty(value));
    for value in map.values_mut() {
        match value {
            Value::Object(inner) => compact(inner, &TELLING),
            Value::Array(elements) => elements
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|inner| compact(inner, &TELLING)),
            _ => {}
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// JSON on one line, in which no character acts on a terminal: strings may hold some that JSON allows.
#[must_use]
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("answers are plain data");
    let mut line = match plain(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(_) => escaped(&text),
    };
    line.push('\n');
    line
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        let mut buffer = [0; 4];
        if plain(character.encode_utf8(&mut buffer)).is_empty() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped
}
