//! Finds secrets in the bytes of a note that another tool stored.
//!
//! What we store was redacted before; `git notes add` redacts nothing. Ids, hashes and sketches look like secrets to
//! the rule that only measures how random a text is, so a value that has the shape its key promises is left alone.
//! A value of another shape is text like any other: no key is a hiding place.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Sketch,
    format::{
        document::stream::{self, Part},
        ids::{is_claim_id, is_hash, is_session_id},
    },
    redaction::{Kind, Removed, cleaned, named_for_storage, redact},
};

/// What a program writes under a key.
#[derive(Clone, Copy)]
enum Made {
    /// The id of a git object, or a hash of ours.
    Hash,
    /// The id of a claim, a correction or a purge.
    ClaimId,
    /// What is left of a removed item of knowledge: its id and a hash.
    Tombstone,
    /// Hashes of lines, in the order of the lines.
    Sketch,
    /// Hashes of lines, in ascending order.
    SortedSketch,
    /// The id that an agent gave a session.
    SessionId,
}

impl Made {
    /// What stands under `key`; `None` for text, and for every key that we do not know.
    fn under(key: &str) -> Option<Self> {
        Some(match key {
            "commit" | "tree" | "patch" | "parent" | "derived_from" | "replaces" | "blobs" => Self::Hash,
            "id" | "entry" | "entry_ids" | "consumed" | "supersedes" | "purged" => Self::ClaimId,
            "removed" => Self::Tombstone,
            "sketch" | "around" => Self::Sketch,
            "wrote" => Self::SortedSketch,
            "session" => Self::SessionId,
            _ => return None,
        })
    }

    /// Whether `value` has the shape that programs give it.
    fn fits(self, value: &str) -> bool {
        match self {
            Self::Hash => is_hash(value),
            Self::ClaimId => is_claim_id(value),
            Self::Tombstone => value.rsplit_once(':').is_some_and(|(id, hash)| {
                id.len() <= 32 && is_session_id(id) && hash.len() == 16 && is_hash(hash)
            }),
            Self::Sketch => Sketch(value.to_owned()).hashes().is_some(),
            Self::SortedSketch => {
                Sketch(value.to_owned()).hashes().is_some_and(|words| words.is_sorted_by(|a, b| a < b))
            }
            // Nearly every token has this shape, too: only how random it looks is no sign of a secret.
            Self::SessionId => {
                is_session_id(value) && redact(value).found.iter().all(|kind| *kind == Kind::HighEntropy)
            }
        }
    }
}

/// The same bytes with every secret and private span replaced, and what was found; `None` when there is nothing to
/// replace. A note without either is kept byte for byte, whatever else is in it.
#[must_use]
pub fn redact_note(bytes: &[u8]) -> Option<(Vec<u8>, Vec<Kind>)> {
    let (mut redacted, mut found) = redact_once(bytes)?;
    // What goes may have been all that kept a part from being read, and with it what is encoded in it.
    while let Some((again, more)) = redact_once(&redacted) {
        redacted = again;
        found.extend(more);
    }
    Some((redacted, found))
}

fn redact_once(bytes: &[u8]) -> Option<(Vec<u8>, Vec<Kind>)> {
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
    let mut is_named_so = false;
    for (key, value) in map.iter_mut() {
        is_named_so |= !cleaned(key).1.is_empty();
        match (key.as_str(), value) {
            ("unread", value) => in_unread(value, found),
            (key, value) => in_value(key, value, Made::under(key), found),
        }
    }
    if is_named_so {
        let named = std::mem::take(map).into_iter().map(|(key, value)| {
            let (kept, kinds) = cleaned(&key);
            found.extend(kinds);
            (kept.into_owned(), value)
        });
        *map = named.collect();
    }
}

fn in_value(key: &str, value: &mut Value, made: Option<Made>, found: &mut Vec<Kind>) {
    match value {
        Value::String(text) if made.is_some_and(|made| made.fits(text)) => {}
        Value::String(text) => {
            let mut removed = Removed::default();
            let kept = named_for_storage(key, text, &mut removed);
            if removed != Removed::default() {
                found.extend(removed.kinds());
                *text = kept.into_owned();
            }
        }
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| in_value(key, element, made, found));
        }
        Value::Object(map) => in_object(map, found),
        _ => {}
    }
}

/// `said` as it may be shown, where that differs: every text went through the gate. Paths are found by what they are,
/// and are escaped where they are shown.
pub(crate) fn shown(said: &impl Serialize) -> Option<Value> {
    let mut value = serde_json::to_value(said).expect("what is stored is plain data");
    show(&mut value, "").then_some(value)
}

/// Passes the texts in `value` through the gate, under its `key`; returns whether that changed any.
fn show(value: &mut Value, key: &str) -> bool {
    match value {
        Value::String(text) if Made::under(key).is_some_and(|made| made.fits(text)) => false,
        Value::String(text) => {
            let kept = named_for_storage(key, text, &mut Removed::default());
            let is_changed = *kept != **text;
            if is_changed {
                *text = kept.into_owned();
            }
            is_changed
        }
        Value::Array(elements) => {
            elements.iter_mut().fold(false, |is_changed, one| show(one, key) | is_changed)
        }
        Value::Object(map) => {
            let texts = map.iter_mut().filter(|(key, _)| !matches!(key.as_str(), "file" | "unread"));
            texts.fold(false, |is_changed, (key, value)| show(value, key) | is_changed)
        }
        _ => false,
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
            None => in_value("unread", part, None, found),
        }
    }
}

/// Text that is no JSON; bytes that are no text are kept as they are between the rest.
fn in_bytes(bytes: &[u8], found: &mut Vec<Kind>) -> Vec<u8> {
    let mut redacted = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let (kept, kinds) = cleaned(chunk.valid());
        let text = if kinds.is_empty() { chunk.valid() } else { &*kept };
        found.extend(kinds);
        redacted.extend_from_slice(text.as_bytes());
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
    fn a_secret_in_a_part_that_can_be_read_only_later_goes_too() {
        // What is encoded does not look like a secret itself.
        let unread = BASE64.encode(b"<<< password=hunter22");
        let note = format!("{{\u{b}\"schema\":\"x/v1\",\"unread\":[\"{unread}\"]}}\n<<< {}\n", token());
        let (redacted, found) = redact_note(note.as_bytes()).unwrap();
        let unread = BASE64.encode(b"<<< password=[redacted:password]");
        let expected =
            format!("{{\"schema\":\"x/v1\",\"unread\":[\"{unread}\"]}}\n<<< [redacted:github-token]\n");
        assert_eq!(String::from_utf8(redacted).unwrap(), expected);
        assert_eq!(found, [Kind::GithubToken, Kind::Password]);
    }

    #[test]
    fn names_count_and_hide_nothing() {
        let note = serde_json::json!({ "schema": "x/v1", "password": "hunter22", "settings": { "api_key": "Zq7xa1B2c3D4e5F6", (token()): 1 },
            "max_tokens": "2000", "summary": "a \"quoted\" word", "text": "<pri\u{200b}vate>a</private>\u{200b}b" });
        let (redacted, found) = redact_note(note.to_string().as_bytes()).unwrap();
        let expected = serde_json::json!({ "schema": "x/v1", "password": "[redacted:password]",
            "settings": { "api_key": "[redacted:api-key]", "[redacted:github-token]": 1 },
            "max_tokens": "2000", "summary": "a \"quoted\" word", "text": "[private]b" });
        assert_eq!(serde_json::from_slice::<Value>(&redacted).unwrap(), expected);
        assert_eq!(found, [Kind::Password, Kind::ApiKey, Kind::GithubToken, Kind::Private]);
        assert_eq!(redact_note(&redacted), None);
        assert_eq!(
            redact_note("{\"schema\":\"x/v1\",\"text\":\"a\u{200b}b\"}".as_bytes()),
            None,
            "byte for byte"
        );
    }

    /// Sorted words, as a change keeps them.
    fn wrote() -> String {
        Sketch::of_words((1..=16).map(|n: u32| n * 0x0f2e_5a17)).to_string()
    }

    #[test]
    fn what_programs_write_is_no_secret() {
        let around = Sketch::of_words((1..=9).rev().map(|n: u32| n.wrapping_mul(0x9e37_79b9))).to_string();
        let note = serde_json::json!({
            "commit": "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e",
            "wisdom": [{ "id": "01M80H3ZFCEK1GJ6CS1P8FV5ZS", "sketch": around, "around": around }],
            "change": { "tree": "c0ffee5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e12", "patch": "9f86d081884c7d659a2feaa0c55ad015",
                "parent": "c0ffee5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e12", "wrote": wrote() },
            "also": [{ "change": { "wrote": wrote() }, "entry_ids": ["h-abcdefghijklmnopqrstuvwxyz"] }],
            "session": "ses_4fKq9vEjRWeJCrze8SNFZ4kKvN7xI0VniQ" });
        assert_eq!(redact_note(note.to_string().as_bytes()), None);
        assert_eq!(redact(&wrote()).found, [Kind::HighEntropy], "the shape is what spares it");
    }

    #[test]
    fn no_key_is_a_hiding_place() {
        let random = wrote().replace("1:", "").chars().rev().collect::<String>();
        for key in [
            "id",
            "commit",
            "patch",
            "sketch",
            "around",
            "wrote",
            "session",
            "derived_from",
            "supersedes",
            "removed",
        ] {
            let values = [token(), format!("1:{}", token())];
            for value in values
                .into_iter()
                .chain((!["sketch", "around", "session"].contains(&key)).then(|| random.clone()))
            {
                for note in [
                    serde_json::json!({ key: value }),
                    serde_json::json!({ "change": { key: [value] } }),
                    serde_json::json!({ "x": { key: { "y": value } } }),
                ] {
                    let (redacted, _) =
                        redact_note(note.to_string().as_bytes()).unwrap_or_else(|| panic!("{note}"));
                    assert!(!String::from_utf8(redacted).unwrap().contains(&value[5..]), "{note}");
                }
            }
        }
    }
}
