//! Private spans that begin in one block of a message and end in another.
//!
//! Agents write a prompt with a picture or a pasted file in its middle as several blocks. What a span covers is taken
//! out of the row before any reader looks at it, so that every part of a message, of whichever agent, counts alike.

use std::borrow::Cow;
use std::sync::LazyLock;

use chronicle_core::private;
use chronicle_core::redaction::seen;
use memchr::memchr2_iter;
use memchr::memmem::Finder;

use crate::rows::json::{self, Raw};
use crate::rows::row::Row;

/// How deep the blocks of a message are looked for.
const DEEPEST: usize = 8;

/// How escapes in JSON begin that stand for a character.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));

/// The bytes of `row` without what such spans cover, as many as before; `None` where there is none.
///
/// Where the span begins, its mark stays, and is taken out and counted like any other.
pub(crate) fn without_private(row: &Row<'_>) -> Option<Vec<u8>> {
    if !row.may_have_mark {
        return None;
    }
    let mut messages = Vec::new();
    // Of a broken row, nothing is read either.
    let _length = json::first_object(row, |key, value| find(key, value, 0, &mut messages));
    let mut cleaned: Option<Vec<u8>> = None;
    for message in messages {
        let mut blocks = Vec::new();
        texts("", message, 0, &mut blocks);
        let clear: Vec<Cow<'_, str>> = blocks.iter().map(|block| clear(*block)).collect();
        let Some(kept) = private::across(&clear) else { continue };
        let bytes = cleaned.get_or_insert_with(|| row.bytes.to_vec());
        for (block, (clear, kept)) in blocks.iter().zip(clear.iter().zip(&kept)) {
            if clear != kept {
                let start = (block.get().as_ptr() as usize).wrapping_sub(row.bytes.as_ptr() as usize);
                if let Some(room) = bytes.get_mut(start..start.saturating_add(block.get().len())) {
                    put(room, kept);
                }
            }
        }
    }
    cleaned
}

/// What marks are called.
const NAME: &[u8] = b"private";

/// What is before the name of a mark: `<`, `</`, or the end of `&lt;` and `\u003c`.
const BEFORE: &[u8] = b"</;cC";

/// Whether a mark may be in the JSON of `bytes`, in any writing: letters of both cases, escaped or not, with characters
/// between them that no reader sees.
pub(crate) fn may_have_mark(bytes: &[u8]) -> bool {
    if bytes.is_ascii() && ESCAPE.find(bytes).is_none() {
        return memchr2_iter(b'v', b'V', bytes).any(|at| {
            let start = at.checked_sub(3).filter(|start| 0 < *start);
            let word = start.and_then(|start| bytes.get(start..start + NAME.len()));
            word.is_some_and(|word| word.eq_ignore_ascii_case(NAME)) && BEFORE.contains(&bytes[at - 4])
        });
    }
    let (mut before, mut n_found, mut at) = (b' ', 0, 0);
    while at < bytes.len() {
        let (seen, length) = next_seen(&bytes[at..]);
        at += length;
        let Some(byte) = seen else { continue };
        n_found = match byte.to_ascii_lowercase() {
            b'p' if BEFORE.contains(&before) => 1,
            letter if 0 < n_found && letter == NAME[n_found] => n_found + 1,
            _ => 0,
        };
        if n_found == NAME.len() {
            return true;
        }
        before = byte;
    }
    false
}

/// The first byte of the JSON of a text that a reader of the text may see, if it is one of ASCII, and how long its writing
/// is.
fn next_seen(json: &[u8]) -> (Option<u8>, usize) {
    let [b'\\', kind, rest @ ..] = json else { return (json.first().copied().filter(u8::is_ascii), 1) };
    let digits = rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
    match digits.filter(|_| *kind == b'u').map(|digits| u32::from_str_radix(digits, 16)) {
        // A sequence for terminals, whose last byte is a letter.
        Some(Ok(0x1b)) if rest[4..].starts_with(b"[") => {
            let n_parameters = rest[5..].iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
            (None, 7 + n_parameters + 1)
        }
        Some(Ok(point)) => (u8::try_from(point).ok().filter(u8::is_ascii_graphic), 6),
        _ => (Some(*kind), 2),
    }
}

/// Finds the lists of blocks in a value, each that of one message.
fn find<'a>(key: &str, value: Raw<'a>, depth: usize, messages: &mut Vec<Raw<'a>>) {
    if DEEPEST < depth {
        return;
    }
    match value.get().as_bytes().first() {
        Some(b'[') if matches!(key, "content" | "parts") => messages.push(value),
        Some(b'[') => json::items(value, |item| find("", item, depth + 1, messages)),
        Some(b'{') => json::members(value, |key, value| find(key, value, depth + 1, messages)),
        _ => {}
    }
}

/// The texts in a value, in their order, without those by which programs tell blocks apart.
fn texts<'a>(key: &str, value: Raw<'a>, depth: usize, found: &mut Vec<Raw<'a>>) {
    if DEEPEST < depth {
        return;
    }
    match value.get().as_bytes().first() {
        Some(b'"') if !is_of_programs(key) => found.push(value),
        Some(b'[') => json::items(value, |item| texts(key, item, depth + 1, found)),
        Some(b'{') => json::members(value, |key, value| texts(key, value, depth + 1, found)),
        _ => {}
    }
}

fn is_of_programs(key: &str) -> bool {
    let is_id = key
        .len()
        .checked_sub(2)
        .and_then(|at| key.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case("id"));
    let named =
        ["type", "role", "name", "tool", "status", "kind", "mime", "mimeType", "media_type", "encoding"];
    is_id || named.contains(&key)
}

fn clear(text: Raw<'_>) -> Cow<'_, str> {
    match json::text_or_empty(text) {
        Cow::Borrowed(text) => seen(text),
        Cow::Owned(text) => Cow::Owned(seen(&text).into_owned()),
    }
}

/// Puts a text where a longer one was; what is left of the room are spaces, which JSON allows between values.
fn put(room: &mut [u8], text: &str) {
    let written = serde_json::Value::from(text).to_string();
    let written = if written.len() <= room.len() { &written } else { "\"\"" };
    room.fill(b' ');
    room[..written.len()].copy_from_slice(written.as_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::turn::Place;

    fn cleaned(row: &Value) -> Option<Value> {
        let written = row.to_string();
        let cleaned = without_private(&Row::new(written.as_bytes(), Place::default()))?;
        assert_eq!(cleaned.len(), written.len());
        Some(serde_json::from_slice(&cleaned).unwrap())
    }

    fn text(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    #[test]
    fn what_a_span_covers_in_other_blocks_goes() {
        let image = |data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
        let row = |content: Value| json!({ "message": { "role": "user", "content": content }, "uuid": "a", "cwd": "/w" });
        assert_eq!(
            cleaned(&row(json!([
                text("look <private>our"),
                image("AAAA"),
                text("X and\n\"Y\"</PRIVATE> thanks"),
                text("end")
            ]))),
            Some(row(json!([text("look <private>"), image(""), text(" thanks"), text("end")])))
        );
        let call = |command: &str| json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": command } });
        assert_eq!(
            cleaned(&row(
                json!([call("echo <private>a"), { "type": "tool_result", "tool_use_id": "t", "content": [text("b"), text("c</private>d")] }])
            )),
            Some(row(
                json!([call("echo <private>"), { "type": "tool_result", "tool_use_id": "t", "content": [text(""), text("d")] }])
            ))
        );
        let parts = |texts: [&str; 2]| json!({ "info": { "id": "m" }, "parts": texts.map(text) });
        assert_eq!(cleaned(&parts(["a&lt;private&gt;b", "c"])), Some(parts(["a<private>", ""])));
    }

    #[test]
    fn a_mark_is_seen_in_any_writing() {
        for mark in [
            "<private>",
            "<PrIvAtE>",
            "<pri\u{200b}vate>",
            "<\u{2060}private>",
            "<pri\u{1b}[1mvate>",
            "&lt;Private&gt;",
            "\\u003cprivate\\u003e",
        ] {
            let row = json!({ "content": [text(&format!("a {mark}b")), text("c")] });
            let expected = json!({ "content": [text("a <private>"), text("")] });
            assert_eq!(cleaned(&row), Some(expected), "{mark:?}");
        }
        let escaped = br#"{ "content": [{ "text": "a \u003c\u0070riv\u0061te\u003e b" }, { "text": "c" }] }"#;
        let cleaned = without_private(&Row::new(escaped, Place::default())).unwrap();
        let cleaned: Value = serde_json::from_slice(&cleaned).unwrap();
        assert_eq!(cleaned, json!({ "content": [{ "text": "a <private>" }, { "text": "" }] }));
        for plain in ["a private function", "<pri vate>", "deprivate", "\u{1b}[1mprivate", "pri", "é private"]
        {
            assert!(!may_have_mark(json!({ "content": [text(plain)] }).to_string().as_bytes()), "{plain:?}");
        }
    }

    #[test]
    fn each_message_counts_by_itself() {
        let messages =
            |texts: [&str; 2]| json!({ "messages": texts.map(|words| json!({ "content": [text(words)] })) });
        assert_eq!(cleaned(&messages(["a <private>b", "c"])), None);
        assert_eq!(cleaned(&json!({ "content": [text("`<private>` is a mark"), text("c")] })), None);
        assert_eq!(cleaned(&json!({ "content": [text("<private>a</private>"), text("c")] })), None);
        assert_eq!(cleaned(&json!({ "content": "<private>a", "cwd": "/w" })), None);
    }
}
