//! Finds the secrets of all layers, and replaces them.

use std::{borrow::Cow, ops::Range};

use super::secret::{Kind, REDACTED, Secret};
use super::{entropy, lines, table, triggers};

/// A text with its secrets replaced by `[redacted:kind]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text, borrowed when there was nothing to replace.
    pub text: Cow<'a, str>,
    /// What was replaced, one for each secret, in the order of the text.
    pub found: Vec<Kind>,
}

/// Replaces every secret in `text` by `[redacted:kind]`.
///
/// Only the secret goes: names, quotes and URLs around it stay. Call it on whole texts: a
/// token cut in half by chunking is no longer recognised. The rules prefer to let a
/// password of letters alone in running prose pass over mutilating a sentence, so this is a safety net under
/// the author's care, not a licence to paste credentials.
pub fn redact(text: &str) -> Redacted<'_> {
    redact_with(text, Lost::Gone)
}

/// [`redact`] for texts whose lines are counted: a secret of several lines leaves as many of them behind.
pub fn redact_in_lines(text: &str) -> Redacted<'_> {
    redact_with(text, Lost::Kept)
}

/// What becomes of the line ends within a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    Gone,
    Kept,
}

fn redact_with(text: &str, line_ends: Lost) -> Redacted<'_> {
    let mut redacted = redact_once(text, line_ends);
    // In a tangle that only a fuzzer writes, a replacement can make a secret of what stands before it.
    while !redacted.found.is_empty() {
        let again = redact_once(&redacted.text, line_ends);
        if again.found.is_empty() {
            break;
        }
        redacted.found.extend(again.found);
        redacted.text = Cow::Owned(again.text.into_owned());
    }
    redacted
}

fn redact_once(text: &str, line_ends: Lost) -> Redacted<'_> {
    let secrets = find_all(text.as_bytes());
    if secrets.is_empty() {
        return Redacted { text: Cow::Borrowed(text), found: Vec::new() };
    }
    let mut redacted = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in &secrets {
        redacted.push_str(&text[copied..secret.range.start]);
        redacted.push_str(REDACTED);
        redacted.push_str(secret.kind.name());
        redacted.push(']');
        if line_ends == Lost::Kept {
            let n_lines = text.as_bytes()[secret.range.clone()].iter().filter(|byte| **byte == b'\n').count();
            redacted.extend(std::iter::repeat_n('\n', n_lines));
        }
        copied = secret.range.end;
    }
    redacted.push_str(&text[copied..]);
    Redacted { text: Cow::Owned(redacted), found: secrets.iter().map(|secret| secret.kind).collect() }
}

/// `range` with all of the characters that it begins or ends in: a rule that takes so many bytes at most may end within
/// one.
fn whole_characters(text: &[u8], range: Range<usize>) -> Range<usize> {
    let is_within = |at: usize| text.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let start = (0..=range.start).rev().find(|at| !is_within(*at)).unwrap_or(0);
    let end = (range.end..text.len()).find(|at| !is_within(*at)).unwrap_or(text.len());
    start..end
}

/// Finds the secrets of all layers, from left to right, without overlap.
fn find_all(text: &[u8]) -> Vec<Secret> {
    let mut secrets = Vec::new();
    let mut floor = 0;
    let mut column: Option<table::Column> = None;
    // The next value of the column, which other secrets may be before.
    let mut cell: Option<Secret> = None;
    loop {
        cell = cell.filter(|cell| floor <= cell.range.start);
        let end = cell.as_ref().map_or(text.len(), |cell| cell.range.start);
        let Some(mut known) = triggers::find(&text[..end], floor).or_else(|| cell.take()) else { break };
        known.range.end = lines::end_of(text, &known);
        known.range = whole_characters(text, known.range);
        entropy::find_in(text, floor..known.range.start, &mut secrets);
        floor = known.range.end;
        if cell.is_none() {
            column = column.or_else(|| table::Column::of(text, &known));
            cell = column.as_mut().and_then(|column| column.next(text));
            column = column.filter(|_| cell.is_some());
        }
        secrets.push(known);
    }
    entropy::find_in(text, floor..text.len(), &mut secrets);
    secrets
}
