//! Private spans that begin in one block of a message and end in another.
//!
//! Agents write a prompt with a picture or a pasted file in its middle as several blocks. What a span covers is taken
//! out of the row before any reader looks at it, so that every part of a message, of whichever agent, counts alike.

use std::borrow::Cow;
use std::sync::LazyLock;

use chronicle_core::{plain, private};
use memchr::memmem::Finder;

use crate::json::{self, Raw};
use crate::row::Row;

/// How deep the blocks of a message are looked for.
const DEEPEST: usize = 8;

static MARKS: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new("rivate"), Finder::new("RIVATE")]);

/// The bytes of `row` without what such spans cover, as many as before; `None` where there is none.
///
/// Where the span begins, its mark stays, and is taken out and counted like any other.
pub(crate) fn without_private(row: &Row<'_>) -> Option<Vec<u8>> {
    if !may_have_mark(row.bytes) {
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

/// Whether a mark may be in `bytes`, in any writing.
fn may_have_mark(bytes: &[u8]) -> bool {
    let is_mark = |at: usize| {
        let before = at.checked_sub(2).and_then(|before| bytes.get(before));
        before.is_some_and(|byte| matches!(byte, b'<' | b'/' | b';' | b'c' | b'C'))
    };
    MARKS.iter().any(|mark| mark.find_iter(bytes).any(is_mark))
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
        Cow::Borrowed(text) => plain(text),
        Cow::Owned(text) => Cow::Owned(plain(&text).into_owned()),
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
    fn each_message_counts_by_itself() {
        let messages =
            |texts: [&str; 2]| json!({ "messages": texts.map(|words| json!({ "content": [text(words)] })) });
        assert_eq!(cleaned(&messages(["a <private>b", "c"])), None);
        assert_eq!(cleaned(&json!({ "content": [text("`<private>` is a mark"), text("c")] })), None);
        assert_eq!(cleaned(&json!({ "content": [text("<private>a</private>"), text("c")] })), None);
        assert_eq!(cleaned(&json!({ "content": "<private>a", "cwd": "/w" })), None);
    }
}
