//! A lenient look into JSON text without building it.
//!
//! Rows of a transcript are large and mostly of no interest. A value is kept as
//! the text it was read from, and its members are looked at one by one; a member
//! of an unexpected type counts as absent.

use std::borrow::Cow;

use crate::row::Row;
use crate::scan::{Broken, Scan, find};

/// How deep a walk goes.
const DEEPEST: usize = 64;

/// How long two halves of a character are, each as an escape.
const LONGEST_ESCAPE: usize = 12;

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
    let mut scan = Scan::of_text(text);
    let value = scan.value().ok()?;
    let raw = Raw(scan.checked(value).ok()?);
    // Nothing comes after it.
    (scan.peek() == Err(Broken::Unfinished)).then_some(raw)
}

/// The members of the object `raw`, in order; a caller that finds none has no object, and of a broken one those
/// before the break.
pub(crate) fn members<'a>(raw: Raw<'a>, each: impl FnMut(&str, Raw<'a>)) {
    let _broken = object(&mut Scan::of_text(raw.get()), each);
}

/// Looks at the members of the first object in `row`, and gives the bytes it took.
pub(crate) fn first_object<'a>(row: &Row<'a>, each: impl FnMut(&str, Raw<'a>)) -> Result<usize, Broken> {
    let mut scan = row.scan(row.bytes.len());
    object(&mut scan, each)?;
    Ok(scan.at)
}

fn object<'a>(scan: &mut Scan<'a>, mut each: impl FnMut(&str, Raw<'a>)) -> Result<(), Broken> {
    let mut goes_on = scan.begins(b'{', b'}')?;
    while goes_on {
        let key = name(scan)?;
        let value = scan.value()?;
        each(&key, Raw(scan.checked(value)?));
        goes_on = scan.goes_on(b'}')?;
    }
    Ok(())
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
    fn take(&mut self, level: Self::Level, key: &str, value: Raw<'a>);

    /// An item of an array begins, which is an object mostly.
    fn begin_item(&mut self, level: Self::Level);

    /// Takes a text that stands where an object or an array could.
    fn take_text(&mut self, level: Self::Level, text: Cow<'a, str>);
}

/// Walks through the first object in `scan`, and gives the bytes it took.
pub(crate) fn walk<'a, W: Walk<'a>>(
    mut scan: Scan<'a>,
    level: W::Level,
    walk: &mut W,
) -> Result<usize, Broken> {
    if scan.peek()? != b'{' {
        return Err(Broken::NotJson);
    }
    walk_value(&mut scan, level, walk, 0)?;
    Ok(scan.at)
}

fn walk_value<'a, W: Walk<'a>>(
    scan: &mut Scan<'a>,
    level: W::Level,
    walk: &mut W,
    depth: usize,
) -> Result<(), Broken> {
    match scan.peek()? {
        b'{' => {
            let mut goes_on = scan.begins(b'{', b'}')?;
            while goes_on {
                let key = name(scan)?;
                match W::step(level, &key) {
                    Step::Into(level) if depth < DEEPEST => walk_value(scan, level, walk, depth + 1)?,
                    Step::Skip | Step::Into(_) => drop(scan.value()?),
                    Step::Take => {
                        let value = scan.value()?;
                        walk.take(level, &key, Raw(scan.checked(value)?));
                    }
                }
                goes_on = scan.goes_on(b'}')?;
            }
        }
        b'[' if depth < DEEPEST => {
            let mut goes_on = scan.begins(b'[', b']')?;
            while goes_on {
                walk.begin_item(level);
                walk_value(scan, level, walk, depth + 1)?;
                goes_on = scan.goes_on(b']')?;
            }
        }
        b'"' => {
            let text = scan.text()?;
            walk.take_text(level, unescaped(scan.checked(text)?));
        }
        _ => drop(scan.value()?),
    }
    Ok(())
}

/// The items of the array `raw`; none when it is no array.
pub(crate) fn items<'a>(raw: Raw<'a>, mut each: impl FnMut(Raw<'a>)) {
    let mut scan = Scan::of_text(raw.get());
    let _ = (|| {
        let mut goes_on = scan.begins(b'[', b']')?;
        while goes_on {
            let value = scan.value()?;
            each(Raw(scan.checked(value)?));
            goes_on = scan.goes_on(b']')?;
        }
        Ok::<(), Broken>(())
    })();
}

/// The text that `raw` is, borrowed where nothing in it is escaped.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    Some(unescaped(text))
}

/// The name of the next member.
fn name<'a>(scan: &mut Scan<'a>) -> Result<Cow<'a, str>, Broken> {
    let (key, may_be_escaped) = scan.key()?;
    let key = scan.checked(key)?;
    Ok(if may_be_escaped { unescaped(key) } else { Cow::Borrowed(key) })
}

/// A text without its escapes. Half of a surrogate pair, which some agents cut texts at, is a mark; what is no escape
/// stays as it is.
fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = find(b'\\', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut clear = String::with_capacity(text.len());
    clear.push_str(&text[..first]);
    let mut rest = &text[first..];
    loop {
        // It begins with a backslash.
        let (letter, length) = escaped(rest);
        clear.push(letter);
        rest = &rest[length..];
        let next = find(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        clear.push_str(&rest[..next]);
        rest = &rest[next..];
        if rest.is_empty() {
            return Cow::Owned(clear);
        }
    }
}

/// What the escape at the beginning of a text stands for, and how long it is.
fn escaped(text: &str) -> (char, usize) {
    let letter = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unit(text),
        _ => return ('\\', 1),
    };
    (letter, 2)
}

/// The character that `\u` and what follows stand for.
fn unit(text: &str) -> (char, usize) {
    let hexadecimal = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = hexadecimal(text) else { return ('\\', 1) };
    let second = hexadecimal(&text[6..]);
    let units = std::iter::once(first).chain(second);
    match char::decode_utf16(units).next() {
        Some(Ok(letter)) => (letter, 6 * letter.len_utf16()),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// About the first `most` bytes of the text that `raw` is; all of it, where it is shorter.
pub(crate) fn text_start(raw: Raw<'_>, most: usize) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if text.len() <= most {
        return Some(unescaped(text));
    }
    let start = &text[..text.floor_char_boundary(most)];
    // The last escape may be cut.
    let last = start.len() - start.len().min(LONGEST_ESCAPE);
    let escape = start.as_bytes()[last..].iter().position(|byte| *byte == b'\\').map(|at| last + at);
    let end = escape.map_or(start.len(), |at| start[..at].trim_end_matches('\\').len());
    Some(unescaped(&start[..end]))
}

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
            for end in (0..written.len()).filter(|end| written.is_char_boundary(*end)) {
                let mut scan = Scan::of_bytes(&written.as_bytes()[..end]);
                match scan.value() {
                    Ok((start, stop)) => {
                        prop_assert!(serde_json::from_str::<Value>(&written[start..stop]).is_ok(), "{:?}", &written[..end]);
                    }
                    Err(broken) => prop_assert_eq!(broken, Broken::Unfinished, "{:?}", &written[..end]),
                }
            }
        }

        #[test]
        fn what_is_json_to_others_is_json_here(bytes in "[\\[\\]{}\",:0-9.eE+\\-truefalsn\\\\ x]{0,16}") {
            let others = serde_json::from_str::<Value>(&bytes).ok();
            let ours = whole(&bytes);
            if let Some(others) = &others {
                prop_assert_eq!(ours.map(rebuilt), Some(others.clone()));
            }
            // Only in texts is more let through.
            if ours.is_some() && !bytes.contains('\\') {
                prop_assert!(others.is_some() || bytes.contains(['e', 'E']), "{}", bytes);
            }
        }

        #[test]
        fn a_byte_is_found_near_and_far(bytes in prop::collection::vec(0x60u8..0x64, 0..100), needle in 0x60u8..0x66) {
            prop_assert_eq!(find(needle, &bytes), bytes.iter().position(|byte| *byte == needle));
            let rare: Vec<u8> = bytes.iter().map(|byte| byte.wrapping_mul(37) | 0x80).chain([needle]).collect();
            prop_assert_eq!(find(needle, &rare), Some(bytes.len()));
        }

        #[test]
        fn no_bytes_are_too_wild(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut scan = Scan::of_bytes(&bytes);
            let _ = scan.value();
            prop_assert!(scan.at <= bytes.len());
            let _ = object(&mut Scan::of_bytes(&bytes), |_, value| {
                let _ = text(value);
                members(value, |_, _| {});
                items(value, |_| {});
            });
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
        check(r#""\q \u12 \u+123""#, r"\q \u12 \u+123");
        check(r#""\ud83dé""#, "\u{fffd}é");
        check("\"a\u{1}b\"", "a\u{1}b");
    }

    #[test]
    fn the_start_of_a_text_ends_between_characters() {
        let check = |written: &str, most: usize, start: &str| {
            assert_eq!(
                text_start(whole(written).expect("a value"), most).as_deref(),
                Some(start),
                "{written} {most}"
            );
        };
        check(r#""short""#, 5, "short");
        check(r#""one and two and three""#, 7, "one and");
        check(r#""0123456789abcdef\\n and more""#, 17, "0123456789abcdef");
        check(r#""0123456789abcdef\\\\n and more""#, 19, "0123456789abcdef");
        check(r#""0123456789\ud83d\ude00abcdef and""#, 20, "0123456789");
        check(r#""0123456789\nabcdefghijklmn and""#, 26, "0123456789\nabcdefghijklmn");
        check(r#""é0123456789é""#, 12, "é0123456789");
    }

    #[test]
    fn depth_has_an_end() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(whole(&deep(4_000)).is_some());
        assert!(whole(&deep(1_000_000)).is_none());
    }
}
