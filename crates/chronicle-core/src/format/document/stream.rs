//! Splits the bytes of a note into JSON objects and parts that are none.

use std::{cell::RefCell, collections::HashSet, fmt, io};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// One part of a note.
pub(crate) enum Part<'a> {
    /// A JSON object, with the first key that stood twice in it.
    Object { map: Map<String, Value>, duplicate_key: Option<String>, raw: &'a [u8] },
    /// Anything else.
    Unreadable { raw: &'a [u8], reason: String },
}

/// How often a byte may be looked at in vain. What opens object after object and closes none is looked
/// at once for each of them; no honest note comes near it.
const PATIENCE: usize = 8;

/// The parts of `bytes`, in order.
pub(crate) fn split(bytes: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = bytes.trim_ascii();
    let mut patience = PATIENCE * rest.len();
    while !rest.is_empty() {
        let used = match object(rest) {
            Ok((map, duplicate_key, used)) => {
                parts.push(Part::Object { map, duplicate_key, raw: &rest[..used] });
                used
            }
            Err(Failure { reason, looked_at }) => {
                // A later line that opens an object may be another document.
                let next = memchr::memmem::find(rest, b"\n{").filter(|_| looked_at <= patience);
                patience = patience.saturating_sub(looked_at);
                let used = next.map_or(rest.len(), |at| at + 1);
                parts.push(Part::Unreadable { raw: rest[..used].trim_ascii_end(), reason });
                used
            }
        };
        rest = rest[used..].trim_ascii();
    }
    parts
}

type Object = (Map<String, Value>, Option<String>, usize);

/// Why no object could be read, and how many bytes that took.
struct Failure {
    reason: String,
    looked_at: usize,
}

/// Reads one object at the start of `bytes`: strictly, then with raw control characters in strings allowed.
///
/// It looks at no more than it reads: a note of a million broken lines is read too.
fn object(bytes: &[u8]) -> Result<Object, Failure> {
    if bytes.first() != Some(&b'{') {
        return Err(Failure { reason: "not a JSON object".to_owned(), looked_at: 1 });
    }
    let strict = match parse(serde_json::Deserializer::from_slice(bytes)) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let reason = strict.to_string();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(strict.line() - 1);
    let looked_at = lines.map(<[u8]>::len).sum::<usize>() + strict.column();
    if bytes[..looked_at.min(bytes.len())].last().is_none_or(|byte| 0x20 <= *byte) {
        return Err(Failure { reason, looked_at });
    }
    // It broke at a control character.
    let mut escaped = Escaped::new(bytes);
    match parse(serde_json::Deserializer::from_reader(&mut escaped)) {
        Ok((map, duplicate_key, used)) => Ok((map, duplicate_key, escaped.original_len(used))),
        Err(_) => Err(Failure { reason, looked_at: bytes.len() - escaped.rest.len() }),
    }
}

fn parse<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
) -> Result<Object, serde_json::Error> {
    let duplicate_key = RefCell::new(None);
    let value = Checked(&duplicate_key).deserialize(&mut deserializer)?;
    // The deserializer itself does not say how far it read; as a stream it does.
    let used = deserializer.into_iter::<serde::de::IgnoredAny>().byte_offset();
    match value {
        Value::Object(map) => Ok((map, duplicate_key.into_inner(), used)),
        _ => Err(serde::de::Error::custom("a JSON value, but not an object")),
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
    fn documents_among_broken_lines_are_found() {
        let broken = "{broken\n".repeat(10_000);
        let shapes = shapes(format!("{broken}{{\"a\":1}}\n{broken}").as_bytes());
        assert_eq!(shapes.iter().filter(|shape| *shape == r#"{"a":1}"#).count(), 1);
    }

    #[test]
    fn patience_with_what_only_opens_ends() {
        let open = "{\"a\":\n".repeat(100_000);
        let parts = split(open.as_bytes());
        assert!(parts.len() < 20_000);
        let raw = |part: &Part<'_>| match part {
            Part::Object { raw, .. } | Part::Unreadable { raw, .. } => raw.len() + 1,
        };
        assert_eq!(parts.iter().map(raw).sum::<usize>(), open.len());
    }

    #[test]
    fn a_key_that_stands_twice_is_noticed() {
        let parts = split(br#"{"a":{"b":1,"b":2}}"#);
        assert!(matches!(&parts[..], [Part::Object { duplicate_key: Some(key), .. }] if key == "b"));
    }
}
