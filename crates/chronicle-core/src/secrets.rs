//! Finds secrets in the bytes of a note that another tool stored.
//!
//! What we store was redacted before; `git notes add` redacts nothing. Names, hashes and sketches of
//! ours look like secrets to the rule that knows only how random a text is, so they are passed over.

use data_encoding::BASE64;
use serde_json::{Map, Value};

use crate::{
    document::stream::{self, Part},
    redaction::{Kind, redact},
};

/// Keys whose values are made by programs and open nothing.
const OF_PROGRAMS: [&str; 14] = [
    "schema",
    "commit",
    "id",
    "entry",
    "timestamp",
    "sketch",
    "tree",
    "patch",
    "derived_from",
    "entry_ids",
    "consumed",
    "supersedes",
    "replaces",
    "session",
];

/// The same bytes with every secret replaced, and what was found; `None` when there is nothing to replace.
#[must_use]
pub fn redact_note(bytes: &[u8]) -> Option<(Vec<u8>, Vec<Kind>)> {
    let mut found = Vec::new();
    let mut redacted = Vec::with_capacity(bytes.len());
    for part in stream::split(bytes) {
        match part {
            Part::Object { mut map, raw, .. } => {
                let n_found = found.len();
                in_object(&mut map, &mut found);
                match found.len() == n_found {
                    true => redacted.extend_from_slice(raw),
                    false => serde_json::to_writer(&mut redacted, &map).expect("JSON is plain data"),
                }
            }
            Part::Unreadable { raw, .. } => redacted.extend(in_bytes(raw, &mut found)),
        }
        redacted.push(b'\n');
    }
    (!found.is_empty()).then_some((redacted, found))
}

fn in_object(map: &mut Map<String, Value>, found: &mut Vec<Kind>) {
    for (key, value) in map {
        match key.as_str() {
            "unread" => in_unread(value, found),
            key if OF_PROGRAMS.contains(&key) => {}
            _ => in_value(value, found),
        }
    }
}

fn in_value(value: &mut Value, found: &mut Vec<Kind>) {
    match value {
        Value::String(text) => {
            let redacted = redact(text);
            if !redacted.found.is_empty() {
                found.extend(redacted.found);
                *text = redacted.text.into_owned();
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| in_value(element, found)),
        Value::Object(map) => in_object(map, found),
        _ => {}
    }
}

fn in_unread(value: &mut Value, found: &mut Vec<Kind>) {
    for part in value.as_array_mut().into_iter().flatten() {
        let decoded = part.as_str().and_then(|part| BASE64.decode(part.as_bytes()).ok());
        match decoded {
            Some(decoded) => {
                let n_found = found.len();
                let redacted = in_bytes(&decoded, found);
                if n_found < found.len() {
                    *part = Value::from(BASE64.encode(&redacted));
                }
            }
            None => in_value(part, found),
        }
    }
}

/// Text that is no JSON; bytes that are no text are kept as they are between the rest.
fn in_bytes(bytes: &[u8], found: &mut Vec<Kind>) -> Vec<u8> {
    let mut redacted = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let text = redact(chunk.valid());
        found.extend(text.found);
        redacted.extend_from_slice(text.text.as_bytes());
        redacted.extend_from_slice(chunk.invalid());
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> String {
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands() {
        let unread = BASE64.encode(format!("<<< {}", token()).as_bytes());
        let note =
            serde_json::json!({ "summary": token(), "wisdom": [{ "content": token() }], "unread": [unread] });
        let (redacted, found) = redact_note(note.to_string().as_bytes()).unwrap();
        assert_eq!(found, [Kind::GithubToken; 3]);
        assert!(redact_note(&redacted).is_none());
        let (redacted, _) = redact_note(format!("broken {}", token()).as_bytes()).unwrap();
        assert_eq!(redacted, b"broken [redacted:github-token]\n");
    }

    #[test]
    fn what_programs_write_is_no_secret() {
        let note = serde_json::json!({
            "commit": "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e", "sketch": "1:q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ",
            "change": { "tree": "c0ffee5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e12", "patch": "9f86d081884c7d659a2feaa0c55ad015" },
            "id": "01M80H3ZFCEK1GJ6CS1P8FV5ZS" });
        assert_eq!(redact_note(note.to_string().as_bytes()), None);
    }
}
