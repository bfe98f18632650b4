//! Secrets that go on in the next line, or begin there.
//!
//! Terminals wrap what is too long, mail quotes it, YAML folds it, and code joins strings. What is left
//! in the next line is half a secret that has neither a prefix nor a name.

use std::ops::Range;

use super::bytes::{
    is_base64url, is_blank, is_coded, is_drawn, is_drawn_of_letters, is_lower_hex, is_uuid, n_breaks, run,
};
use super::pem;
use super::secret::{Kind, Secret};
use super::value::is_noisy;

/// Shorter secrets are not wrapped.
const MIN_FIRST: usize = 12;

/// A shorter rest may be a word.
const MIN_REST: usize = 6;

/// How long one of several pieces may be.
const LONGEST_PIECE: usize = 256;

/// How many lines a secret may take.
const MOST_LINES: usize = 64;

/// How far the next piece may be indented.
const INDENT: usize = 40;

/// Where `secret` ends, with all that continues it in the lines below.
pub(super) fn end_of(text: &[u8], secret: &Secret) -> usize {
    let (start, mut end) = (secret.range.start, secret.range.end);
    let is_key = text[start..end].starts_with(b"--");
    if MIN_FIRST <= end - start && !is_key && secret.kind != Kind::Cookie {
        for _ in 0..MOST_LINES {
            let Some(piece) = next_piece(text, end, is_rest) else { break };
            end = piece.end;
        }
    }
    end
}

/// A value that was broken over lines, put together again.
pub(super) struct Unwrapped {
    pub(super) bytes: Vec<u8>,
    /// For each piece, where it ends in `bytes`, and where in the text.
    ends: Vec<(usize, usize)>,
}

impl Unwrapped {
    /// The place in the text of the end of the first `len` bytes.
    pub(super) fn place(&self, len: usize) -> usize {
        let piece = self.ends.iter().find(|(end, _)| len <= *end);
        piece.map_or(0, |(end, place)| place - (end - len))
    }
}

/// The value of several pieces that begins at `start`. Only what looks drawn as a whole is one: lines of words are not.
pub(super) fn unwrapped(text: &[u8], start: usize) -> Option<Unwrapped> {
    let mut piece = start..start + run(text, start, LONGEST_PIECE, is_piece);
    // Most have no second one.
    next_piece(text, piece.end, may_be_rest)?;
    let mut whole = Unwrapped { bytes: Vec::new(), ends: Vec::new() };
    for _ in 0..MOST_LINES {
        whole.bytes.extend_from_slice(&text[piece.clone()]);
        whole.ends.push((whole.bytes.len(), piece.end));
        let Some(next) = next_piece(text, piece.end, may_be_rest) else { break };
        // Mail breaks its lines with it.
        if whole.bytes.ends_with(b"=") {
            whole.bytes.pop();
            *whole.ends.last_mut()? = (whole.bytes.len(), piece.end - 1);
        }
        piece = next;
    }
    (1 < whole.ends.len() && is_drawn(&whole.bytes)).then_some(whole)
}

/// The next piece of a value one of whose pieces ends at `end`. What is alone in the next line has to be `wanted`.
fn next_piece(text: &[u8], end: usize, wanted: fn(&[u8]) -> bool) -> Option<Range<usize>> {
    match *text.get(end..)? {
        [b'\\', b'\n', ..] => within(text, end + 2),
        [b'\\', b'\r', b'\n', ..] => within(text, end + 3),
        [b' ', b'\\', b'\n', ..] => argument(text, end + 3, wanted),
        [quote @ (b'"' | b'\''), ..] => joined(text, end + 1, quote),
        [b'\n', ..] => wrapped(text, end + 1, wanted),
        [b'\r' | b'=', b'\n', ..] | [b'\\', b'n', ..] => wrapped(text, end + 2, wanted),
        _ => None,
    }
}

/// After a line break that a backslash escapes, every piece belongs to the same value.
fn within(text: &[u8], at: usize) -> Option<Range<usize>> {
    let at = at + run(text, at, INDENT, is_blank);
    let n = n_piece(text, at);
    (0 < n).then_some(at..at + n)
}

/// What is alone in the next line of a command.
fn argument(text: &[u8], at: usize, wanted: fn(&[u8]) -> bool) -> Option<Range<usize>> {
    let piece = within(text, at)?;
    let goes_on = text[piece.end..].starts_with(b" \\\n");
    ((goes_on || ends_line(text, piece.end)) && wanted(&text[piece.clone()])).then_some(piece)
}

/// The next of the strings that code joins: `"…" +` and `"…"`.
fn joined(text: &[u8], at: usize, quote: u8) -> Option<Range<usize>> {
    let start = next_string(text, at, quote)?;
    let end = start + n_piece(text, start);
    (start < end && text.get(end) == Some(&quote)).then_some(start..end)
}

/// Where the next string begins that code joins to the one whose quote ends at `at`.
fn next_string(text: &[u8], at: usize, quote: u8) -> Option<usize> {
    let is_between = |byte: &u8| is_blank(byte) || b"\n\r+\\.&<>~".contains(byte);
    let n_between = run(text, at, INDENT * 2, is_between);
    let between = &text[at..at + n_between];
    let is_joined = between.contains(&b'\n') || between.contains(&b'+');
    (is_joined && text.get(at + n_between) == Some(&quote)).then_some(at + n_between + 1)
}

/// A value of several pieces put together, and where its last piece ends. The first piece is `first`;
/// code joins strings, a shell joins lines that end with a backslash, and what is too long is wrapped.
pub(super) fn whole(text: &[u8], first: Range<usize>, quote: Option<u8>) -> Option<(Vec<u8>, usize)> {
    let mut value = Vec::new();
    let mut end = first.end;
    for _ in 0..MOST_LINES {
        let piece = match (quote, text.get(end..)?) {
            (Some(quote), [end_quote, ..]) if *end_quote == quote => {
                let Some(start) = next_string(text, end + 1, quote) else { break };
                start..start + run(text, start, LONGEST_PIECE, |byte| *byte != quote && *byte != b'\n')
            }
            (None, [b'\\', b'\n', ..]) => {
                end + 2
                    ..end
                        + 2
                        + run(text, end + 2, LONGEST_PIECE, |byte| {
                            byte.is_ascii_graphic() && !b"\\;\"'".contains(byte)
                        })
            }
            (None, [b'\n', ..]) if MIN_FIRST - 4 <= first.len() => {
                let start = after_margin(text, end + 1);
                start..start + n_piece(text, start)
            }
            _ => break,
        };
        let is_hard = quote.is_some() || text[end] == b'\\';
        if piece.is_empty() || !is_hard && !goes_on(text, &first, end, &piece) {
            break;
        }
        if value.is_empty() {
            value.extend_from_slice(&text[first.clone()]);
        }
        value.extend_from_slice(&text[piece.clone()]);
        end = piece.end;
    }
    (!value.is_empty()).then_some((value, end))
}

/// Whether what is alone in the line after `end` looks like the rest of the value that `first` begins.
fn goes_on(text: &[u8], first: &Range<usize>, end: usize, piece: &Range<usize>) -> bool {
    let is_sign = |byte: u8| matches!(byte, b'-' | b'_' | b'.');
    let rest = &text[piece.clone()];
    let is_of_words = |part: &[u8]| {
        part.iter().any(|byte| is_sign(*byte)) && part.iter().all(|byte| is_base64url(byte) || is_sign(*byte))
    };
    let is_cut = is_sign(text[end - 1])
        || is_sign(text[piece.start]) && rest.len() > 1
        || piece.start > 0 && is_sign(text[piece.start - 1]) && text[piece.start].is_ascii_lowercase();
    ends_line(text, piece.end)
        && (is_cut && is_of_words(&text[first.clone()]) && is_of_words(rest) || is_rest(rest))
}

/// Whether what is alone in its line is neither an option nor a word.
fn may_be_rest(piece: &[u8]) -> bool {
    let is_word = piece.len() < MIN_FIRST && piece[1..].iter().all(u8::is_ascii_lowercase);
    !is_word && !piece.starts_with(b"-")
}

/// What is alone in the line at `at`.
fn wrapped(text: &[u8], at: usize, wanted: fn(&[u8]) -> bool) -> Option<Range<usize>> {
    let start = after_margin(text, at);
    let end = start + n_piece(text, start);
    (start < end && ends_line(text, end) && wanted(&text[start..end])).then_some(start..end)
}

/// Whether what is alone in its line looks like the rest of a secret.
fn is_rest(piece: &[u8]) -> bool {
    let piece = if piece.len().is_multiple_of(4) { piece } else { piece.strip_suffix(b"=").unwrap_or(piece) };
    let is_hex = 16 <= piece.len() && piece.iter().all(is_lower_hex);
    let has = |is_wanted: fn(&u8) -> bool| piece.iter().any(is_wanted);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !piece.contains(&b'/');
    let is_base64 = piece.ends_with(b"=") && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    // `NAME=value` begins something else.
    let is_pair =
        memchr::memchr(b'=', piece).is_some_and(|at| at + 2 < piece.len() && n_breaks(&piece[..at]) == 0);
    MIN_REST <= piece.len()
        && !is_pair
        && (is_hex
            || is_drawn(piece)
            || is_drawn_of_letters(piece)
            || is_coded(piece)
            || 12 <= piece.len() && piece.len() <= n_breaks(piece) * 4
            || is_mixed && (!piece.contains(&b'.') || is_base64))
}

/// Where the value begins that is alone in the line below its name, `at` being the end of the name's line.
/// In a block of YAML (`key: |`) it need not look drawn.
pub(super) fn value_below(text: &[u8], at: usize, kind: Kind) -> Option<usize> {
    let n_block = match text.get(at) {
        Some(b'|' | b'>') => 1 + run(text, at + 1, 1, |byte| matches!(byte, b'-' | b'+')),
        _ => 0,
    };
    let range = alone(text, at + n_block)?;
    let value = &text[range.clone()];
    let is_hex = 32 <= value.len() && value.iter().all(is_lower_hex);
    let has = |is_wanted: fn(&u8) -> bool| value.iter().any(is_wanted);
    let is_password =
        kind == Kind::Password && 8 <= value.len() && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_secret = 0 < n_block
        || is_password
        || 16 <= value.len() && (is_drawn(value) || is_coded(value) || is_noisy(value))
        || is_hex
        || is_uuid(value);
    is_secret.then_some(range.start)
}

/// What is alone in the first line below the one that ends at `at`, without its quotes. A fence may be above it.
pub(super) fn alone(text: &[u8], at: usize) -> Option<Range<usize>> {
    let n_break = run(text, at, 4, |byte| matches!(byte, b'\r' | b'\n'));
    let mut start = after_margin(text, at + n_break);
    if text[start..].starts_with(b"```") {
        let n_fence = run(text, start, 24, |byte| *byte != b'\n');
        start = after_margin(text, (start + n_fence + 1).min(text.len()));
    }
    let n_quotes = run(text, start, 1, |byte| matches!(byte, b'"' | b'\'' | b'`'));
    let quote = text.get(start).filter(|_| 0 < n_quotes);
    start += n_quotes;
    let n = run(text, start, 256, |byte| byte.is_ascii_graphic() && Some(byte) != quote);
    let end = start + n;
    let closed = end + usize::from(quote.is_some() && text.get(end) == quote);
    let is_alone = 0 < n_break
        && 0 < n
        && (quote.is_none() || end < closed)
        && text.get(closed).is_none_or(|next| matches!(next, b'\n' | b'\r'));
    (is_alone && !matches!(text[end - 1], b':' | b'{')).then_some(start..end)
}

/// Behind the indent of a line and the sign of a quotation or a comment.
pub(super) fn after_margin(text: &[u8], at: usize) -> usize {
    let at = at + run(text, at, INDENT, is_blank);
    let at = at + pem::number_len(&text[at..]);
    let at = at + if text[at..].starts_with("│".as_bytes()) { "│".len() } else { 0 };
    let n_signs = run(text, at, 2, |byte| matches!(byte, b'>' | b'|' | b'#' | b'*' | b'+' | b'-'));
    at + n_signs + run(text, at + n_signs, 4, is_blank)
}

fn n_piece(text: &[u8], at: usize) -> usize {
    run(text, at, usize::MAX, |byte| is_piece(byte) && *byte != b':')
}

fn is_piece(byte: &u8) -> bool {
    is_base64url(byte) || b"+/=.~%@:".contains(byte)
}

fn ends_line(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|next| matches!(next, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b')'))
}
