//! A lenient look into JSON text without building it.
//!
//! Rows of a transcript are large and mostly of no interest. A value is kept as the text it was read from, and its
//! members are looked at one by one; a member of an unexpected type counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, value::RawValue};

use crate::rows::row::Row;

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The text ends before the value does.
    Unfinished,
    /// There is something else.
    NotJson,
}

impl Broken {
    /// Whether the value may go on where the text ends.
    pub(crate) fn is_unfinished(self) -> bool {
        self == Self::Unfinished
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "the value does not end",
            Self::NotJson => "it is not JSON",
        })
    }
}

impl std::error::Error for Broken {}

/// The text of one value, as it stands in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The text.
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

/// The one value that `text` is.
pub(crate) fn whole(text: &str) -> Option<Raw<'_>> {
    serde_json::from_str::<&RawValue>(text).ok().map(|raw| Raw(raw.get()))
}

/// The members of the object `raw`, in order; a caller that finds none has no object, and of a broken one those
/// before the break.
pub(crate) fn members<'a>(raw: Raw<'a>, each: impl FnMut(&str, Raw<'a>)) {
    let _broken = Deserializer::from_str(raw.get()).deserialize_map(Members(each));
}

/// Looks at the members of the first object in `row`, and gives the bytes it took.
pub(crate) fn first_object<'a>(row: &Row<'a>, each: impl FnMut(&str, Raw<'a>)) -> Result<usize, Broken> {
    fn first<'a, R: serde_json::de::Read<'a>>(
        mut reader: Deserializer<R>,
        each: impl FnMut(&str, Raw<'a>),
    ) -> (Result<(), serde_json::Error>, usize) {
        let read = reader.deserialize_map(Members(each));
        (read, reader.into_iter::<&RawValue>().byte_offset())
    }
    let (read, length) = match row.text() {
        Some(text) => first(Deserializer::from_str(text), each),
        None => first(Deserializer::from_slice(row.bytes), each),
    };
    match read {
        Ok(()) => Ok(length),
        // A number may be cut off, too, which the library takes for a wrong one.
        Err(error) if error.is_eof() || length == row.bytes.len() => Err(Broken::Unfinished),
        Err(_) => Err(Broken::NotJson),
    }
}

/// Hears of each member of an object.
struct Members<F>(F);

impl<'a, F: FnMut(&str, Raw<'a>)> Visitor<'a> for Members<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key_seed(Name)? {
            (self.0)(&name, Raw(members.next_value::<&RawValue>()?.get()));
        }
        Ok(())
    }
}

/// The name of a member, borrowed where nothing in it is escaped.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = Cow<'a, str>;

    fn deserialize<D: serde::Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Name {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'a str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// The items of the array `raw`; none when it is no array.
pub(crate) fn items<'a>(raw: Raw<'a>, each: impl FnMut(Raw<'a>)) {
    let _broken = Deserializer::from_str(raw.get()).deserialize_seq(Items(each));
}

/// Hears of each item of an array.
struct Items<F>(F);

impl<'a, F: FnMut(Raw<'a>)> Visitor<'a> for Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.0)(Raw(item.get()));
        }
        Ok(())
    }
}

/// The text that `raw` is, borrowed where nothing in it is escaped. Half of a surrogate pair, which some agents cut texts
/// at, is a mark.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }
    match serde_json::from_str(raw.get()) {
        Ok(text) => Some(Cow::Owned(text)),
        Err(_) => halved(raw).map(Cow::Owned),
    }
}

/// A text with halves of surrogate pairs, each of which the library gives as three bytes that are no character.
fn halved(raw: Raw<'_>) -> Option<String> {
    let bytes = serde_json::from_str::<Bytes>(raw.get()).ok()?.0;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // The first of the three is the only one that begins a character.
        if chunk.invalid().first().is_some_and(|byte| *byte == FIRST_OF_HALF) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Some(text)
}

/// What a text is made of, whether or not that is text.
struct Bytes(Vec<u8>);

impl<'a> Deserialize<'a> for Bytes {
    fn deserialize<D: serde::Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Taken;
        impl Visitor<'_> for Taken {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Taken)
    }
}

/// How a half of a surrogate pair begins, written as if it were a character.
const FIRST_OF_HALF: u8 = 0xed;

/// The text of the member, or nothing.
pub(crate) fn text_or_empty(raw: Raw<'_>) -> Cow<'_, str> {
    text(raw).unwrap_or_default()
}

/// The whole number that `raw` is.
pub(crate) fn number(raw: Raw<'_>) -> Option<u64> {
    let text = raw.get();
    text.parse().ok().or_else(|| {
        let float: f64 = text.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        (0.0..9.0e15).contains(&float).then_some(float as u64)
    })
}

/// The exit code that `raw` is.
pub(crate) fn code(raw: Raw<'_>) -> Option<i32> {
    raw.get().parse().ok()
}

/// Whether `raw` says yes.
pub(crate) fn is_true(raw: Raw<'_>) -> bool {
    raw.get() == "true"
}

/// The member `name` of the object `raw`.
pub(crate) fn member<'a>(raw: Raw<'a>, name: &str) -> Option<Raw<'a>> {
    let mut found = None;
    members(raw, |key, value| {
        if key == name {
            found = Some(value);
        }
    });
    found
}

/// The text of the member `name` of the object `raw`.
pub(crate) fn member_text<'a>(raw: Raw<'a>, name: &str) -> Option<Cow<'a, str>> {
    member(raw, name).and_then(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::turn::Place;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\\PC\\\\\"\n\t\u{0}]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[\\PC\\\\\"]{0,4}", inner), 0..4)
                    .prop_map(|members| members.into_iter().collect::<Value>()),
            ]
        })
    }

    /// The value that `raw` is, put together from what this module says of it.
    fn rebuilt(raw: Raw<'_>) -> Value {
        match raw.get().as_bytes()[0] {
            b'{' => {
                let mut map = serde_json::Map::new();
                members(raw, |key, value| drop(map.insert(key.to_owned(), rebuilt(value))));
                Value::Object(map)
            }
            b'[' => {
                let mut list = Vec::new();
                items(raw, |value| list.push(rebuilt(value)));
                Value::Array(list)
            }
            b'"' => text(raw).map(Value::from).expect("it is one"),
            _ => serde_json::from_str(raw.get()).expect("it is a number or a word"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_is_what_was_written(value in any_value(), is_pretty in any::<bool>()) {
            let written = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let written = written.unwrap();
            let raw = whole(&written);
            prop_assert_eq!(raw.map(rebuilt), Some(value));
            // What is cut off may go on, and nothing is read past its end.
            let written = format!("{{\"a\":{written}}}");
            for end in 0..written.len() {
                let cut = Row::new(&written.as_bytes()[..end], Place::default());
                prop_assert_eq!(first_object(&cut, |_, _| {}), Err(Broken::Unfinished), "{:?}", &written[..end]);
            }
            let twice = written.repeat(2);
            prop_assert_eq!(first_object(&Row::new(twice.as_bytes(), Place::default()), |_, _| {}), Ok(written.len()));
        }

        #[test]
        fn no_bytes_are_too_wild(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let length = first_object(&Row::new(&bytes, Place::default()), |_, value| {
                let _ = text(value);
                members(value, |_, _| {});
                items(value, |_| {});
            });
            prop_assert!(length.is_ok_and(|length| length <= bytes.len()) || length.is_err());
        }
    }

    #[test]
    fn texts_are_clear() {
        let check = |written: &str, clear: &str| {
            assert_eq!(text(whole(written).expect("it is a value")).as_deref(), Some(clear), "{written}");
        };
        check(r#""a\nb\t\"\\\/\u00e9""#, "a\nb\t\"\\/é");
        check(r#""\ud83d\ude00 \ud83d""#, "😀 \u{fffd}");
        check(r#""\ude00\ud83dx""#, "\u{fffd}\u{fffd}x");
        check(r#""\ud83dé\u0000""#, "\u{fffd}é\0");
    }

    #[test]
    fn depth_takes_no_stack() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(whole(&deep(1_000_000)).is_some());
    }
}
