//! Splits the bytes of a note into JSON objects and parts that are none.

use std::{cell::RefCell, collections::HashSet, fmt, io};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// One part of a note.
pub(super) enum Part<'a> {
    /// A JSON object, with the first key that stood twice in it.
    Object { map: Map<String, Value>, duplicate_key: Option<String>, raw: &'a [u8] },
    /// Anything else.
    Unreadable { raw: &'a [u8], reason: String },
}

/// The parts of `bytes`, in order.
pub(super) fn split(bytes: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = bytes.trim_ascii();
    while !rest.is_empty() {
        let (part, used) = first(rest);
        parts.push(part);
        rest = rest[used..].trim_ascii();
    }
    parts
}

/// The first part of `bytes`, which are trimmed and not empty, and its length.
///
/// Nothing here may look at more than it uses up: a note of a million broken lines is read too.
fn first(bytes: &[u8]) -> (Part<'_>, usize) {
    let reason = match object(bytes) {
        Ok((map, duplicate_key, used)) => {
            return (Part::Object { map, duplicate_key, raw: &bytes[..used] }, used);
        }
        Err(reason) => reason,
    };
    // A later line that opens an object may be another document.
    let used = memchr::memmem::find(bytes, b"\n{").map_or(bytes.len(), |at| at + 1);
    (Part::Unreadable { raw: bytes[..used].trim_ascii_end(), reason }, used)
}

type Object = (Map<String, Value>, Option<String>, usize);

/// Reads one object at the start of `bytes`: strictly, then with raw control characters in strings allowed.
fn object(bytes: &[u8]) -> Result<Object, String> {
    if bytes.first() != Some(&b'{') {
        return Err("not a JSON object".to_owned());
    }
    let strict = parse(serde_json::Deserializer::from_slice(bytes));
    if strict.is_ok() {
        return strict;
    }
    let mut escaped = Escaped::new(bytes);
    match parse(serde_json::Deserializer::from_reader(&mut escaped)) {
        Ok((map, duplicate_key, used)) => Ok((map, duplicate_key, escaped.original_len(used))),
        Err(_) => strict,
    }
}

fn parse<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
) -> Result<Object, String> {
    let duplicate_key = RefCell::new(None);
    let value = Checked(&duplicate_key).deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    // The deserializer itself does not say how far it read; as a stream it does.
    let used = deserializer.into_iter::<serde::de::IgnoredAny>().byte_offset();
    match value {
        Value::Object(map) => Ok((map, duplicate_key.into_inner(), used)),
        _ => Err("a JSON value, but not an object".to_owned()),
    }
}

/// Reads a [`Value`] and notices keys that stand twice in one object.
#[derive(Clone, Copy)]
struct Checked<'a>(&'a RefCell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Checked<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut seen = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(self)?;
            if !seen.insert(key.clone()) {
                self.0.borrow_mut().get_or_insert_with(|| key.clone());
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// A text whose raw control characters inside strings are escaped while it is read, and where it grew.
///
/// Escaping the whole text at once would make every broken part cost as much as all that follow it.
struct Escaped<'a> {
    rest: &'a [u8],
    in_string: bool,
    after_backslash: bool,
    /// An escape that is being handed out.
    escape: std::vec::IntoIter<u8>,
    /// How many bytes were handed out.
    len: usize,
    /// Offsets in the escaped text just behind an escape, and by how much it is longer than what it stands for.
    grown: Vec<(usize, usize)>,
}

impl<'a> Escaped<'a> {
    fn new(raw: &'a [u8]) -> Self {
        Self {
            rest: raw,
            in_string: false,
            after_backslash: false,
            escape: Vec::new().into_iter(),
            len: 0,
            grown: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<u8> {
        if let Some(byte) = self.escape.next() {
            return Some(byte);
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        if self.in_string && *byte < 0x20 {
            // A backslash before it has been handed out already and opens this escape.
            let escape = format!("{}u{byte:04x}", if self.after_backslash { "" } else { "\\" });
            self.after_backslash = false;
            self.grown.push((self.len + escape.len(), escape.len() - 1));
            self.escape = escape.into_bytes().into_iter();
            return self.escape.next();
        }
        if *byte == b'"' && !self.after_backslash {
            self.in_string = !self.in_string;
        }
        self.after_backslash = self.in_string && *byte == b'\\' && !self.after_backslash;
        Some(*byte)
    }

    /// Where in the raw text an offset of the escaped one lies.
    fn original_len(&self, used: usize) -> usize {
        used - self.grown.iter().take_while(|(at, _)| *at <= used).map(|(_, by)| by).sum::<usize>()
    }
}

impl io::Read for Escaped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n_read = 0;
        for slot in buffer {
            let Some(byte) = self.next() else { break };
            *slot = byte;
            self.len += 1;
            n_read += 1;
        }
        Ok(n_read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(bytes: &[u8]) -> Vec<String> {
        split(bytes)
            .iter()
            .map(|part| match part {
                Part::Object { map, .. } => Value::Object(map.clone()).to_string(),
                Part::Unreadable { raw, .. } => format!("?{}", String::from_utf8_lossy(raw)),
            })
            .collect()
    }

    #[test]
    fn documents_are_told_apart() {
        assert_eq!(shapes(b" {\"a\":1}\n{\"b\":2}{\"c\":3} "), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
        assert_eq!(shapes(b"hello\nworld\n{\"a\":1}\ntail"), ["?hello\nworld", r#"{"a":1}"#, "?tail"]);
        assert_eq!(shapes(b"{\"a\":\n{\"b\":2}"), ["?{\"a\":", r#"{"b":2}"#]);
        assert_eq!(shapes(b"[1,2]"), ["?[1,2]"]);
        assert_eq!(shapes(b""), Vec::<String>::new());
        assert_eq!(shapes(b"\xff{}"), ["?\u{fffd}{}"]);
        assert_eq!(shapes(b"{\"a\":1}\n\xff\n{\"b\":2}"), [r#"{"a":1}"#, "?\u{fffd}", r#"{"b":2}"#]);
    }

    #[test]
    fn raw_control_characters_in_strings_are_read() {
        assert_eq!(
            shapes(b"{\"a\":\"x\ny\t\\\"z\"}\n{\"b\":\"\n\"}"),
            [r#"{"a":"x\ny\t\"z"}"#, r#"{"b":"\n"}"#]
        );
        assert_eq!(shapes(b"{\"a\":\"x\\\ny\"}tail"), [r#"{"a":"x\ny"}"#, "?tail"]);
    }

    #[test]
    fn a_key_that_stands_twice_is_noticed() {
        let parts = split(br#"{"a":{"b":1,"b":2}}"#);
        assert!(matches!(&parts[..], [Part::Object { duplicate_key: Some(key), .. }] if key == "b"));
    }
}
