//! A lenient look into JSON text without building it.
//!
//! Rows of a transcript are large and mostly of no interest. A value is kept as
//! the text it was read from, and its members are looked at one by one; a member
//! of an unexpected type counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of the object `raw`, in order; a caller that finds none has no object.
pub(crate) fn members<'a>(raw: &'a RawValue, mut each: impl FnMut(&str, &'a RawValue)) {
    let mut source = serde_json::Deserializer::from_str(raw.get());
    // What is no object has no members, and a broken one has those before the break.
    let _ = source.deserialize_map(Members { each: &mut each });
}

/// Looks at the members of the first object in `source`, and gives the bytes it took.
pub(crate) fn first_object<'a>(
    source: &'a [u8],
    mut each: impl FnMut(&str, &'a RawValue),
) -> Result<usize, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(source);
    deserializer.deserialize_map(Members { each: &mut each })?;
    Ok(deserializer.into_iter::<IgnoredAny>().byte_offset())
}

/// What a walk does with a member.
pub(crate) enum Step<L> {
    /// Passes over it.
    Skip,
    /// Takes it as it is.
    Take,
    /// Goes into it: its members, or those of its items, are of that level.
    Into(L),
}

/// One pass through a nested value: nothing is looked at twice.
pub(crate) trait Walk<'a> {
    /// Where the walk is.
    type Level: Copy;

    /// What to do with a member of an object at `level`.
    fn step(level: Self::Level, key: &str) -> Step<Self::Level>;

    /// Takes a member.
    fn take(&mut self, level: Self::Level, key: &str, value: &'a RawValue);

    /// An item of an array begins, which is an object mostly.
    fn begin_item(&mut self, level: Self::Level);

    /// Takes a text that stands where an object or an array could.
    fn take_text(&mut self, level: Self::Level, text: Cow<'a, str>);
}

/// Walks through the first object in `source`, and gives the bytes it took.
pub(crate) fn walk<'a, W: Walk<'a>>(
    source: &'a [u8],
    level: W::Level,
    walk: &mut W,
) -> Result<usize, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(source);
    deserializer.deserialize_map(Walker { walk, level })?;
    Ok(deserializer.into_iter::<IgnoredAny>().byte_offset())
}

struct Walker<'w, W, L> {
    walk: &'w mut W,
    level: L,
}

impl<'de, W: Walk<'de>> DeserializeSeed<'de> for Walker<'_, W, W::Level> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, W: Walk<'de>> Visitor<'de> for Walker<'_, W, W::Level> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            match W::step(self.level, &key) {
                Step::Skip => drop(map.next_value::<IgnoredAny>()?),
                Step::Take => self.walk.take(self.level, &key, map.next_value()?),
                Step::Into(level) => map.next_value_seed(Walker { walk: &mut *self.walk, level })?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let item = Item { walk: &mut *self.walk, level: self.level };
            if seq.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.walk.take_text(self.level, Cow::Borrowed(text));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.walk.take_text(self.level, Cow::Owned(text.to_owned()));
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// An item of an array; it is told of before its members are.
struct Item<'w, W, L> {
    walk: &'w mut W,
    level: L,
}

impl<'de, W: Walk<'de>> DeserializeSeed<'de> for Item<'_, W, W::Level> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.walk.begin_item(self.level);
        deserializer.deserialize_any(Walker { walk: self.walk, level: self.level })
    }
}

/// The items of the array `raw`; none when it is no array.
pub(crate) fn items<'a>(raw: &'a RawValue, mut each: impl FnMut(&'a RawValue)) {
    let mut source = serde_json::Deserializer::from_str(raw.get());
    let _ = source.deserialize_seq(Items { each: &mut each });
}

/// The text that `raw` is, borrowed where nothing in it is escaped.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    if !raw.get().starts_with('"') {
        return None;
    }
    let mut source = serde_json::Deserializer::from_str(raw.get());
    source.deserialize_str(Text).ok().or_else(|| {
        // Half of a surrogate pair: some agents cut texts in the middle of an emoji.
        let mut source = serde_json::Deserializer::from_str(raw.get());
        source.deserialize_bytes(Text).ok()
    })
}

/// The text of the member, or nothing.
pub(crate) fn text_or_empty(raw: &RawValue) -> Cow<'_, str> {
    text(raw).unwrap_or_default()
}

/// The whole number that `raw` is.
pub(crate) fn number(raw: &RawValue) -> Option<u64> {
    let text = raw.get();
    text.parse().ok().or_else(|| {
        let float: f64 = text.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        (0.0..9.0e15).contains(&float).then_some(float as u64)
    })
}

/// The exit code that `raw` is.
pub(crate) fn code(raw: &RawValue) -> Option<i32> {
    raw.get().parse().ok()
}

/// Whether `raw` says yes.
pub(crate) fn is_true(raw: &RawValue) -> bool {
    raw.get() == "true"
}

/// The member `name` of the object `raw`.
pub(crate) fn member<'a>(raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let mut found = None;
    members(raw, |key, value| {
        if key == name {
            found = Some(value);
        }
    });
    found
}

/// The text of the member `name` of the object `raw`.
pub(crate) fn member_text<'a>(raw: &'a RawValue, name: &str) -> Option<Cow<'a, str>> {
    member(raw, name).and_then(text)
}

struct Members<'f, F> {
    each: &'f mut F,
}

impl<'de, F: FnMut(&str, &'de RawValue)> Visitor<'de> for Members<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            (self.each)(&key, map.next_value()?);
        }
        Ok(())
    }
}

struct Items<'f, F> {
    each: &'f mut F,
}

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Items<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element()? {
            (self.each)(item);
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }
}
