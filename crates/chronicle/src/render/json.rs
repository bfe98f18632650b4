//! Answers for programs: one object on one line.

use chronicle_core::reading::Reading;
use serde::Serialize;
use serde_json::{Map, Value};

/// Top-level keys that are always there, however empty.
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
/// The same for the other answers.
const ALWAYS_IN_ANSWERS: [&str; 9] =
    ["moments", "items", "dependents", "files", "commits", "uncommitted", "regions", "wisdom", "warnings"];
/// Keys of items that are always there: null says something.
const TELLING: [&str; 3] = ["lines", "commits_since", "constraints"];

pub(super) fn reading(reading: &Reading, verbose: bool) -> String {
    let mut value = serde_json::to_value(reading).expect("a reading is plain data");
    if let Some(map) = value.as_object_mut() {
        if reading.file.is_none() {
            map.shift_remove("file");
        }
        if !verbose {
            compact(map, &ALWAYS);
        }
    }
    line(&value)
}

pub(super) fn compact_answer(answer: &impl Serialize, verbose: bool) -> String {
    let mut value = serde_json::to_value(answer).expect("answers are plain data");
    if let (Some(map), false) = (value.as_object_mut(), verbose) {
        compact(map, &ALWAYS_IN_ANSWERS);
    }
    line(&value)
}

pub(super) fn plain_answer(answer: &impl Serialize) -> String {
    line(&serde_json::to_value(answer).expect("answers are plain data"))
}

/// An error as every command writes it in JSON.
#[must_use]
pub fn error(code: &str, message: &str, hint: Option<&str>) -> String {
    let mut error =
        Map::from_iter([("code".to_owned(), code.into()), ("message".to_owned(), message.into())]);
    error.extend(hint.map(|hint| ("hint".to_owned(), hint.into())));
    line(&serde_json::json!({ "schema": "chronicle-error/v1", "error": error }))
}

/// Leaves out what is null or empty, but for `always` here and [`TELLING`] keys below.
fn compact(map: &mut Map<String, Value>, always: &[&str]) {
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
fn line(value: &Value) -> String {
    let mut line = String::new();
    for character in value.to_string().chars() {
        let mut buffer = [0; 4];
        if chronicle_core::plain(character.encode_utf8(&mut buffer)).is_empty() {
            line.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}
