//! Drawn values in sentences that say what they are: `the API key in config.ts: "…"`, `use … as the token`.
//!
//! A name next to its value is found by `context` and `entropy`; here other words stand between. A digest
//! or a UUID says so little that a sign or a verb has to tie it to what names it.

use super::bytes::{is_base64url, run, run_back};
use super::foreign_words::NOUNS;
use super::secret::Kind;
use super::{names, table_head};

/// How much of a sentence before a value is searched for its name.
const BEFORE: usize = 120;

/// How much of it after the value.
const AFTER: usize = 48;

/// What ties a value to words before it.
const TIES: &[&str] = &[
    " is", " was", " be", " to", " as", " now", " est", " es", " ist", " lautet", " jest", " è", " é", " är",
    " er", " on", " are", " wrote", " with", " use",
];

/// Signs and verbs that tie as a colon does, in scripts that set no blanks or have other signs.
const SIGNS: &[&str] =
    &["：", "＝", "「", "『", "→", "–", "—", "“", "„", "«", "‘", "は", "是", "为", "為", "는", "은"];

/// What ties a value to words after it.
const TIES_AFTER: &[&str] = &[" as ", " as the ", " comme ", " als ", " como ", " jako ", " > ", " >> "];

/// What random values in sentences are most often, and no secrets.
const PUBLIC: &[&str] = &[
    "reference",
    "rev",
    "ref",
    "resolved",
    "integrity",
    "shasum",
    "commit",
    "hash",
    "sha",
    "digest",
    "checksum",
    "revision",
    "uuid",
    "fingerprint",
    "public",
    "etag",
    "cache",
    "build",
    "tree",
    "blob",
    "session",
    "request",
    "trace",
    "image",
    "id",
    "ids",
];

/// What the sentence around a value says that it is.
pub(super) fn tied(before: &[u8], after: &[u8]) -> Option<Kind> {
    let line = &before[before.len() - run_back(before, 0, before.len(), BEFORE, |byte| *byte != b'\n')..];
    tied_before(line)
        .and_then(noun_of)
        .or_else(|| tied_after(after))
        .or_else(|| in_brackets(after))
        .or_else(|| noun_of(header(before, line)?))
        .or_else(|| noun_of(question(before, line)?))
}

/// The question in the line above that a value answers, as in `sure: x`.
fn question<'a>(before: &'a [u8], line: &[u8]) -> Option<&'a [u8]> {
    line.ends_with(b": ").then_some(())?;
    let above = before[..before.len() - line.len()].trim_ascii_end();
    above
        .ends_with(b"?")
        .then(|| &above[above.len() - run_back(above, 0, above.len(), BEFORE, |byte| *byte != b'\n')..])
}

/// The words before a value that a sign or a verb ties to it.
fn tied_before(line: &[u8]) -> Option<&[u8]> {
    let mut words = line;
    loop {
        let n_signs = run_back(words, 0, words.len(), 8, |byte| byte.is_ascii() && !is_base64url(byte));
        words = &words[..words.len() - n_signs];
        // Most lines are at their beginning, or in ASCII.
        if words.last()?.is_ascii() {
            break;
        }
        let Some(sign) = SIGNS.iter().find(|sign| words.ends_with(sign.as_bytes())) else { break };
        words = &words[..words.len() - sign.len()];
    }
    let has_sign = line[words.len()..].iter().any(|sign| b":=|>\"'`".contains(sign) || !sign.is_ascii());
    if has_sign || NOUNS.iter().any(|(noun, _)| words.ends_with(noun.as_bytes())) {
        return Some(words);
    }
    TIES.iter().find(|tie| words.ends_with(tie.as_bytes())).map(|tie| &words[..words.len() - tie.len()])
}

/// What the words next to a value name, the nearest first.
pub(super) fn noun_of(words: &[u8]) -> Option<Kind> {
    let sentence =
        words.windows(2).rposition(|pair| matches!(pair, b". " | b"! " | b"? ")).map_or(0, |at| at + 2);
    let words = &words[sentence..];
    let is_end =
        |at: &usize| is_base64url(&words[*at - 1]) && words.get(*at).is_none_or(|next| !is_base64url(next));
    for at in (1..=words.len()).rev().filter(is_end) {
        let start = at - run_back(words, 0, at, 32, u8::is_ascii_alphabetic);
        if PUBLIC.iter().any(|word| words[start..at].eq_ignore_ascii_case(word.as_bytes())) {
            return None;
        }
        // What is part of a path or an address names something else.
        let is_part = match words[at..] {
            [b'/', ..] => true,
            [b'.', next, ..] => next.is_ascii_alphanumeric(),
            _ => false,
        };
        // A number behind a word makes a product or a version of it.
        if let Some(name) = names::find(&words[..at]).filter(|_| !is_part && start < at) {
            return Some(name.kind);
        }
    }
    NOUNS.iter().find(|(noun, _)| super::bytes::contains(words, noun)).map(|(_, kind)| *kind)
}

/// What the words after a value name: `as the API key`.
fn tied_after(after: &[u8]) -> Option<Kind> {
    let n_quotes = run(after, 0, 2, |byte| matches!(byte, b'"' | b'\'' | b'`'));
    let rest = &after[n_quotes..];
    TIES_AFTER.iter().find(|tie| rest.starts_with(tie.as_bytes()))?;
    let line = &rest[..run(rest, 0, AFTER, |byte| !b"\n,;".contains(byte))];
    noun_of(line)
}

/// What the brackets after a value name: `x (API key for y)`.
fn in_brackets(after: &[u8]) -> Option<Kind> {
    let rest = after.strip_prefix(b" (")?;
    noun_of(&rest[..run(rest, 0, AFTER, |byte| !b")\n".contains(byte))])
}

/// What heads the column of the table that a value is in.
fn header<'a>(before: &'a [u8], line: &[u8]) -> Option<&'a [u8]> {
    let above = &before[before.len().saturating_sub(line.len() + 8 * BEFORE)..before.len() - line.len()];
    above.ends_with(b"\n").then(|| table_head::head(above, line))?.map(|head| head.cell)
}
