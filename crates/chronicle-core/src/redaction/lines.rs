//! Secrets that go on in the next line, or begin there.
//!
//! Terminals wrap what is too long, mail quotes it, YAML folds it, and code joins strings. What is left
//! in the next line is half a secret that has neither a prefix nor a name.

use super::bytes::{is_base64url, is_blank, is_drawn, is_drawn_of_letters, is_lower_hex, is_uuid, run};
use super::value::is_mixed;
use super::{Kind, Secret, pem};

/// Shorter secrets are not wrapped.
const MIN_FIRST: usize = 12;

/// A shorter rest may be a word.
const MIN_REST: usize = 6;

/// How many lines a secret may take.
const MOST_LINES: usize = 64;

/// How far the next piece may be indented.
const INDENT: usize = 40;

/// Where `secret` ends, with all that continues it in the lines below.
pub(super) fn end_of(text: &[u8], secret: &Secret) -> usize {
    let (start, mut end) = (secret.range.start, secret.range.end);
    let is_one_line = MIN_FIRST <= end - start && !text[start..end].contains(&b'\n');
    if is_one_line && secret.kind != Kind::Cookie {
        for _ in 0..MOST_LINES {
            let Some(next) = next_piece(text, end) else { break };
            end = next;
        }
    }
    end
}

fn next_piece(text: &[u8], end: usize) -> Option<usize> {
    match text[end..] {
        [b'\\', b'\n', ..] => within(text, end + 2),
        [b'\\', b'\r', b'\n', ..] => within(text, end + 3),
        [quote @ (b'"' | b'\''), ..] => joined(text, end + 1, quote),
        [b'\n', ..] => wrapped(text, end + 1),
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => wrapped(text, end + 2),
        _ => None,
    }
}

/// After a line break that a backslash escapes, every piece belongs to the same value.
fn within(text: &[u8], at: usize) -> Option<usize> {
    let at = at + run(text, at, INDENT, is_blank);
    let n = n_piece(text, at);
    (0 < n).then_some(at + n)
}

/// The next of the strings that code joins: `"…" +` and `"…"`.
fn joined(text: &[u8], at: usize, quote: u8) -> Option<usize> {
    let is_between = |byte: &u8| is_blank(byte) || matches!(byte, b'\n' | b'\r' | b'+' | b'\\' | b'.' | b'&');
    let n_between = run(text, at, INDENT * 2, is_between);
    let between = &text[at..at + n_between];
    let start = at + n_between + 1;
    let is_joined = between.contains(&b'\n') || between.contains(&b'+');
    let end = start + n_piece(text, start);
    (is_joined && text.get(start - 1) == Some(&quote) && start < end && text.get(end) == Some(&quote))
        .then_some(end)
}

/// The rest of a secret that is alone in its line.
fn wrapped(text: &[u8], at: usize) -> Option<usize> {
    let start = after_margin(text, at);
    let end = start + n_piece(text, start);
    let piece = &text[start..end];
    let is_hex = 16 <= piece.len() && piece.iter().all(is_lower_hex);
    let is_mixed = |piece: &[u8]| {
        piece.iter().any(u8::is_ascii_digit)
            && piece.iter().any(u8::is_ascii_alphabetic)
            && !piece.contains(&b'/')
    };
    let is_short = piece.len() < 16 && is_mixed(piece) && !piece.contains(&b'.');
    (MIN_REST <= piece.len()
        && ends_line(text, end)
        && (is_hex || is_drawn(piece) || is_drawn_of_letters(piece) || is_short))
        .then_some(end)
}

/// Where the value begins that is alone in the line below its name, `at` being the end of the name's line.
/// In a block of YAML (`key: |`) it need not look drawn.
pub(super) fn value_below(text: &[u8], at: usize, kind: Kind) -> Option<usize> {
    let n_block = match text.get(at) {
        Some(b'|' | b'>') => 1 + run(text, at + 1, 1, |byte| matches!(byte, b'-' | b'+')),
        _ => 0,
    };
    let n_break = run(text, at + n_block, 2, |byte| matches!(byte, b'\r' | b'\n'));
    let start = after_margin(text, at + n_block + n_break);
    let end = start + run(text, start, 256, u8::is_ascii_graphic);
    let value = &text[start..end];
    let is_alone = 0 < n_break && text.get(end).is_none_or(|next| matches!(next, b'\n' | b'\r'));
    let is_hex = 32 <= value.len() && value.iter().all(is_lower_hex);
    let is_password = kind == Kind::Password && 8 <= value.len() && is_mixed(value);
    let is_secret =
        0 < n_block || is_password || 16 <= value.len() && is_drawn(value) || is_hex || is_uuid(value);
    (is_alone && is_secret && !value.ends_with(b":") && !value.ends_with(b"{")).then_some(start)
}

/// Behind the indent of a line and the sign of a quotation or a comment.
fn after_margin(text: &[u8], at: usize) -> usize {
    let at = at + run(text, at, INDENT, is_blank);
    let n_number = pem::number_len(&text[at..]);
    let at = at + n_number;
    let n_signs = run(text, at, 2, |byte| matches!(byte, b'>' | b'|' | b'#' | b'*' | b'+' | b'-'));
    at + n_signs + run(text, at + n_signs, 4, is_blank)
}

fn n_piece(text: &[u8], at: usize) -> usize {
    run(text, at, usize::MAX, |byte| {
        is_base64url(byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b'%' | b'@')
    })
}

fn ends_line(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|next| matches!(next, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b')'))
}
