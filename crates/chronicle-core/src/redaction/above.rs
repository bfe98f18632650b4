//! Drawn values that are alone in a line, which a line above names: a heading, a sentence, a command.

use std::ops::Range;

use super::bytes::{
    contains, ends_with_ignoring_case, is_base64url, is_blank, is_coded, is_drawn, is_drawn_of_letters,
    is_lower_hex, is_scrambled, is_uuid, run, run_back,
};
use super::secret::{Kind, REDACTED};
use super::{clause, lines, names};

/// How many lines above a value its name may be. Pieces of the value, blank lines and fences are between.
const MOST_LINES: usize = 8;

/// How many lines above a value may be empty before its name.
const MOST_EMPTY: usize = 3;

/// How long a line may be that names the value below it.
const LONGEST_LINE: usize = 160;

/// How much of a line is looked at.
const LOOK_BACK: usize = 256;

/// What may end a line after the name: its verb or its place. The ending of its file may, too.
const ENDINGS: &[&str] = &[" is", " was", " now", " are", " below", " here"];

/// How lines begin, after the prompt, that print a secret.
const PROMPTS: &[&str] = &["$ ", "% ", "# ", ">>> ", "> ", "❯ ", "➜ "];

/// What names values of commands that are public.
const PUBLIC: &[&str] = &["git ", "sha", "md5", "b3sum", "uuid", "commit", "docker "];

/// The value that `run` is a part of, with the pieces in the lines above it, if a line above names it.
pub(super) fn named(text: &[u8], floor: usize, run_: &Range<usize>) -> Option<(usize, Kind)> {
    // Most runs are followed by more words.
    if text
        .get(run_.end)
        .is_some_and(|next| matches!(next, b' ' | b'(' | b')' | b',' | b';' | b'<' | b'>' | b'[' | b']'))
    {
        return None;
    }
    let end = run_.end + run(text, run_.end, LOOK_BACK, is_piece);
    let closed = end + run(text, end, 1, |byte| matches!(byte, b'"' | b'\'' | b'`'));
    if text.get(closed).is_some_and(|next| !matches!(next, b'\n' | b'\r')) {
        return None;
    }
    // The first line has none above it.
    let mut at = line_start(text, floor, run_.start).filter(|at| floor < *at)?;
    let mut start = piece_start(text, at, run_.start)?;
    if !is_secret(&text[start..end]) {
        return None;
    }
    let is_vague = is_digest(&text[start..end]);
    for n in 0..MOST_LINES {
        let line_end = at.checked_sub(1).filter(|end| floor <= *end)?;
        at = line_start(text, floor, line_end)?;
        let line = text[at..line_end].trim_ascii();
        let is_empty = line.iter().all(|byte| matches!(byte, b'>' | b'|')) || line.starts_with(b"```");
        if is_empty && n <= MOST_EMPTY {
            continue;
        }
        match piece_start(text, at, line_end).filter(|_| !is_empty && !is_name(line)) {
            Some(piece) => start = piece,
            None => return kind_of(line, is_vague).map(|kind| (start, kind)),
        }
    }
    None
}

/// Where the line begins that `at` is in, if no secret and no more than is looked at is before it.
fn line_start(text: &[u8], floor: usize, at: usize) -> Option<usize> {
    let start = at - run_back(text, floor, at, LOOK_BACK, |byte| *byte != b'\n');
    (start == 0 || text[start - 1] == b'\n').then_some(start)
}

/// Where the piece of a value begins that fills the line at `line` up to `end`, without its margin and its quote.
fn piece_start(text: &[u8], line: usize, end: usize) -> Option<usize> {
    let start = lines::after_margin(text, line).min(end);
    let start = start + run(&text[..end], start, 1, |byte| matches!(byte, b'"' | b'\'' | b'`'));
    let piece = text[start..end].trim_ascii_end();
    let piece = piece.strip_suffix(b"\"").or(piece.strip_suffix(b"'")).unwrap_or(piece);
    piece.iter().all(is_piece).then_some(start)
}

fn is_piece(byte: &u8) -> bool {
    is_base64url(byte) || b"+/=.~%@:".contains(byte)
}

fn is_digest(value: &[u8]) -> bool {
    value.iter().all(is_lower_hex) || is_uuid(value)
}

fn is_secret(value: &[u8]) -> bool {
    let is_drawn = is_scrambled(value)
        || is_drawn(value)
        || is_coded(value)
        || is_drawn_of_letters(value)
        || is_digest(value);
    16 <= value.len() && is_drawn && !contains(value, "://") && !matches!(value, [b'/' | b'.', ..])
}

/// Whether a line of one word is a name and no piece of a value: `Password:`, `api_key`.
fn is_name(line: &[u8]) -> bool {
    !line.iter().any(u8::is_ascii_digit) && !is_drawn_of_letters(line)
}

/// What `line` names, if it ends with the name, asks for it, or is a command that prints it.
fn kind_of(line: &[u8], is_vague: bool) -> Option<Kind> {
    if LONGEST_LINE < line.len() || contains(line, REDACTED) {
        return None;
    }
    let mut name = without_signs(line);
    while let Some(ending) = ENDINGS.iter().find(|ending| ends_with_ignoring_case(name, ending)) {
        name = without_signs(&name[..name.len() - ending.len()]);
    }
    let n_extension = run_back(name, 0, name.len(), 6, u8::is_ascii_lowercase);
    name = name[..name.len() - n_extension].strip_suffix(b".").unwrap_or(name);
    let is_public = || PUBLIC.iter().any(|word| contains(&line.to_ascii_lowercase(), word));
    let named = names::find(name).filter(|name| !name.is_vague || !is_vague);
    if let Some(name) = named {
        return (!is_vague || !is_public()).then_some(name.kind);
    }
    let is_command = PROMPTS.iter().any(|prompt| line.starts_with(prompt.as_bytes())) || contains(line, "$ ");
    let asks = line.ends_with(b":");
    (asks || is_command).then(|| clause::noun_of(line)).flatten().filter(|_| !is_public())
}

fn without_signs(line: &[u8]) -> &[u8] {
    let n = run_back(line, 0, line.len(), 8, |byte| is_blank(byte) || b":=*`\"')]|>-(\\".contains(byte));
    &line[..line.len() - n]
}
