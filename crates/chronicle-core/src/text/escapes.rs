//! Text without the sequences that colour a terminal or move its cursor.

use std::borrow::Cow;

use memchr::memchr2;

const ESCAPE: u8 = 0x1b;

/// The ends of sequences that move the cursor.
const MOVES: &[u8] = b"ABCDEFGHISTZ`adefu";

/// How long what an agent lost the escape character of may be.
const LONGEST_LOST: usize = 16;

/// `text` without escape sequences, whole ones and those that have lost their first character, such as `[31m`.
///
/// Colours go without a trace, since they stand within words too. Where the cursor was moved between two words, a
/// space takes its place. What has no escape character is left alone unless nothing but a colour can be meant: there
/// is one that sets and one that ends it, and none is a `[5m]` that a query asks for.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let Some(first) = memchr2(ESCAPE, b'[', bytes) else { return Cow::Borrowed(text) };
    let has_escape = memchr::memchr(ESCAPE, &bytes[first..]).is_some();
    let mut lost = memchr::memchr_iter(b'[', bytes).filter_map(|at| lost_colour(&bytes[at..]));
    let has_lost = match (has_escape, lost.next()) {
        (_, None) => false,
        (true, Some(_)) => true,
        (false, Some((_, is_end))) => lost.any(|(_, other)| is_end || other),
    };
    if !has_escape && !has_lost {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr2(ESCAPE, b'[', rest.as_bytes()) {
        let here = &rest.as_bytes()[at..];
        let found = match here[0] {
            ESCAPE => Some(escape(here)),
            _ if has_lost => lost_colour(here).map(|(length, _)| (length, false)),
            _ => None,
        };
        let Some((length, is_move)) = found else {
            kept.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        kept.push_str(&rest[..at]);
        rest = &rest[at + length..];
        let is_between_words =
            kept.ends_with(|c: char| !c.is_whitespace()) && rest.starts_with(|c: char| !c.is_whitespace());
        if is_move && is_between_words {
            kept.push(' ');
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// How long the sequence is that `bytes` begin with, and whether it may move the cursor.
fn escape(bytes: &[u8]) -> (usize, bool) {
    let run = |from: usize, range: std::ops::RangeInclusive<u8>| {
        from + bytes[from..].iter().take_while(|byte| range.contains(byte)).count()
    };
    match bytes.get(1) {
        Some(b'[') => {
            let end = run(run(2, 0x30..=0x3f), 0x20..=0x2f);
            match bytes.get(end) {
                Some(last @ 0x40..=0x7e) => (end + 1, MOVES.contains(last)),
                // It was cut off, or is none.
                _ => (end, false),
            }
        }
        // Titles, links and the like end with a bell or with `ESC \`; on the same line, or they are broken off.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = bytes[2..].iter().position(|byte| matches!(*byte, 0x07 | ESCAPE | b'\n'));
            match end.map(|end| end + 2) {
                Some(end) if bytes[end] == 0x07 => (end + 1, false),
                Some(end) if bytes[end..].starts_with(b"\x1b\\") => (end + 2, false),
                _ => (2, false),
            }
        }
        Some(0x20..=0x2f) => {
            let end = run(1, 0x20..=0x2f);
            (
                if bytes.get(end).is_some_and(|byte| (0x30..=0x7e).contains(byte)) { end + 1 } else { end },
                false,
            )
        }
        // To the next line or the one before.
        Some(last @ 0x30..=0x7e) => (2, b"DEM".contains(last)),
        _ => (1, false),
    }
}

/// How long the colour is that `bytes` begin with, which has lost its escape character, and whether it ends another.
fn lost_colour(bytes: &[u8]) -> Option<(usize, bool)> {
    let head = &bytes[1..bytes.len().min(LONGEST_LOST)];
    let end = head.iter().position(|byte| *byte == b'm')?;
    let is_code = |code: &[u8]| {
        matches!(
            code,
            [b'0'..=b'9']
                | [b'0', b'0'..=b'9']
                | [b'2'..=b'4' | b'9', b'0'..=b'9']
                | [b'1', b'0', b'0'..=b'7']
        )
    };
    // Colours out of 256 have any number up to 255 behind `38;5;`.
    let is_number = |code: &[u8]| (1..=3).contains(&code.len()) && code.iter().all(u8::is_ascii_digit);
    let codes = &head[..end];
    let mut parts = codes.split(|byte| *byte == b';');
    let is_first = parts.next().is_some_and(is_code);
    let is_end = matches!(codes, b"0" | b"00" | b"22" | b"23" | b"24" | b"27" | b"39" | b"49");
    let is_duration = !is_end && matches!(head.get(end + 1), Some(b']' | b':'));
    (is_first && parts.all(|part| is_code(part) || is_number(part)) && !is_duration)
        .then_some((end + 2, is_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_escapes(text), expected);
        assert_eq!(without_escapes(expected), expected, "again");
    }

    #[test]
    fn colours_go_without_a_trace() {
        check("\x1b[31mpool\x1b[0m is \x1b[1;38;5;9mfull\x1b[m", "pool is full");
        check("condi\x1b[01;31m\x1b[Ktion\x1b[m", "condition");
        check("re\x1b[4mlea\x1b[24mse", "release");
        check("\x1b[33m[main 1a2b3c4]\x1b[m pool", "[main 1a2b3c4] pool");
        check("größe \x1b[32m✓\x1b[39m", "größe ✓");
    }

    #[test]
    fn words_that_stood_apart_stay_apart() {
        check("pool\x1b[10Gwaits", "pool waits");
        check("pool\x1b[2K\x1b[1Gwaits", "pool waits");
        check("pool \x1b[10Gwaits", "pool waits");
        check("done\x1bMnext", "done next");
    }

    #[test]
    fn titles_and_links_go_and_their_words_stay() {
        check("\x1b]0;a title\x07$ ls", "$ ls");
        check("\x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\ it is", "here it is");
        check("\x1b]0;broken off\nthe next line", "0;broken off\nthe next line");
        check("\x1b(Bplain", "plain");
    }

    #[test]
    fn colours_that_lost_their_escape_go_too() {
        check("[31mpool[0m is full", "pool is full");
        check("[1m[38;5;196merror[0m: no", "error: no");
        check("[2m10:00[22m", "10:00");
    }

    #[test]
    fn what_only_looks_like_a_colour_stays() {
        for text in [
            "rate(pool_waits[5m]) / rate(pool_waits[1m])",
            "max_over_time(x[30m:1m]) and y[2m:1m]",
            "a[0] = m; b[1]m",
            "[main 1a2b3c4] pool, [0m, [m",
            "one [31m alone",
            "waits of [5m, 10m) and [1m, 5m), it took [2m 10s]",
            "see [1] and [2mm] and [3 m]",
        ] {
            check(text, text);
        }
        assert!(matches!(without_escapes("plain [words]"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_was_cut_off_is_no_trouble() {
        for text in
            ["\x1b", "a\x1b[", "a\x1b[31", "a\x1b]", "a\x1b]0;x", "\x1b\x1b[", "\x1b(", "[", "\x1b[3ä"]
        {
            assert!(!without_escapes(text).contains('\x1b'), "{text:?}");
        }
    }
}
