//! Passwords and phrases that words announce without `:` or `=` between: `password x`, `password is x`,
//! `<password>x</password>`, `("password", "x")`, `x (password of y)`, and what is alone in the line below.

use super::bytes::{contains, n_breaks, n_distinct, run, run_back, starts_with_ignoring_case};
use super::context::{NAME_LIMIT, find_value};
use super::names::{self, Name};
use super::value::{self, JUDGED, Value, Writing};
use super::{Kind, REDACTED, Secret, lines, phrase, table};

/// How long the words may be that tell what a password is for.
const OWNER_LIMIT: usize = 64;

/// What ties a password to its value in a sentence, the longer first.
const VERBS: &[&str] = &[
    " is now ", " is ", " was ", " to ", " ist ", " lautet ", " è ", " é ", " es ", " est ", " jest ", " → ",
    " -> ", " — ", " – ", " | ",
];

/// What may end the line of a name: its verb, or the ending of its file.
const ENDINGS: &[&str] = &[" is now", " is", " was", ".txt", ".secret"];

/// What stands before a value that its name follows in brackets: `anna / x (password for y)`.
const BEFORE_VALUE: &[&str] = &["/ ", ": ", "- ", "| ", "\n", "* ", "→ "];

/// Finds the value of a password or a phrase in whose name two letters stand at `at`.
pub(super) fn find(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let end = at + run(text, at, 8, u8::is_ascii_alphabetic);
    // What was replaced is called by a name, too.
    let n_word = run_back(text, floor, at, NAME_LIMIT, |byte| byte.is_ascii_lowercase() || *byte == b'-');
    if text[floor..at - n_word].ends_with(REDACTED.as_bytes()) {
        return None;
    }
    let name =
        names::find(&text[floor.max(end.saturating_sub(NAME_LIMIT))..end]).filter(|name| !name.is_vague)?;
    match name.kind {
        Kind::Password => find_next_to(text, end, name)
            .or_else(|| find_below(text, end, name))
            .or_else(|| table::find_below(text, floor, end, name))
            .or_else(|| find_before(text, floor, at, name)),
        Kind::Secret => None,
        _ => None,
    }
    .or_else(|| find_words(text, end, name))
}

fn find_next_to(text: &[u8], end: usize, name: Name) -> Option<Secret> {
    let rest = &text[end..];
    if rest.starts_with(b">") {
        return find_content(text, end + 1, name);
    }
    let is_sure = |secret: &Secret| {
        has_digits(text, secret) || is_phrase(text, secret) || is_odd(text, secret) || is_joined(text, secret)
    };
    if rest.starts_with(b"'s ") {
        return find_value(text, end + 3, name, Writing::Told).filter(is_sure);
    }
    if rest.starts_with(b" ") {
        let verb = VERBS.iter().find(|verb| rest.starts_with(verb.as_bytes()));
        let told = verb.map(|verb| end + verb.len()).or_else(|| after_owner(text, end));
        let (at, writing) = told.map_or((end + 1, Writing::Loose), |at| (at, Writing::Told));
        return find_value(text, at, name, writing).filter(is_sure);
    }
    let n_between = run(text, end + 1, 4, |byte| matches!(byte, b',' | b' '));
    let quoted = end + 1 + n_between;
    let is_argument = 0 < n_between && text.get(quoted).is_some_and(|byte| matches!(byte, b'"' | b'\''));
    is_argument
        .then(|| find_value(text, quoted, name, Writing::Loose).filter(|secret| has_digits(text, secret)))?
}

/// Where the value begins in `password for X is value` or `password of X: value`, whose name ends at `end`.
fn after_owner(text: &[u8], end: usize) -> Option<usize> {
    ["for ", "of ", "on ", "für "].iter().find(|word| text[end + 1..].starts_with(word.as_bytes()))?;
    let n_owner = run(text, end, OWNER_LIMIT, |byte| !b"\n.,;!?".contains(byte));
    let owner = &text[end..end + n_owner];
    let ties = VERBS.iter().copied().chain([": "]);
    ties.filter_map(|tie| Some(memchr::memmem::find(owner, tie.as_bytes())? + tie.len()))
        .min()
        .map(|at| end + at)
}

/// Finds what is alone in the line below the name that ends at `end`, if no more than a verb or `you asked for:` ends its line.
fn find_below(text: &[u8], end: usize, name: Name) -> Option<Secret> {
    let at = line_end_after_name(text, end)?;
    let alone = lines::alone(text, at).filter(|alone| 8 <= alone.len())?;
    // A form has the name of its next field below.
    let value = &text[alone.clone()];
    let is_made = value.iter().any(u8::is_ascii_punctuation) || 3 <= n_breaks(value);
    find_value(text, alone.start, name, Writing::Told)
        .filter(|secret| is_made && alone.end <= secret.range.end)
        .filter(|secret| has_digits(text, secret) || is_odd(text, secret))
}

/// Where the line of a name ends that nothing else follows than what may end it.
fn line_end_after_name(text: &[u8], end: usize) -> Option<usize> {
    let n = run(text, end, OWNER_LIMIT, |byte| *byte != b'\n');
    (text.get(end + n) == Some(&b'\n')).then_some(())?;
    let line = text[end..end + n].trim_ascii_end();
    let without_signs =
        |line: &'_ [u8]| line.len() - run_back(line, 0, line.len(), 4, |byte| b"\"'`)]*: ".contains(byte));
    let mut rest = &line[..without_signs(line)];
    if let Some(ending) = ENDINGS.iter().find(|ending| rest.ends_with(ending.as_bytes())) {
        rest = &rest[..rest.len() - ending.len()];
    }
    let asks =
        line.starts_with(b" ") && line.ends_with(b":") && !line.iter().any(|byte| b".;={(<".contains(byte));
    (rest.is_empty() || asks).then_some(end + n)
}

/// Finds the value before the name in whose brackets the name at `at` is: `anna / x (password for y)`.
fn find_before(text: &[u8], floor: usize, at: usize, name: Name) -> Option<Secret> {
    let bracket =
        at - run_back(text, floor, at, OWNER_LIMIT, |byte| !matches!(byte, b'(' | b')' | b'\n' | b'`'));
    let end = bracket.checked_sub(2).filter(|end| floor < *end)?;
    (&text[end..bracket] == b" (").then_some(())?;
    let start = end - run_back(text, floor, end, JUDGED, u8::is_ascii_graphic);
    let before = &text[floor..start];
    let is_value =
        before.is_empty() && floor == 0 || BEFORE_VALUE.iter().any(|sign| before.ends_with(sign.as_bytes()));
    is_value.then_some(())?;
    find_value(text, start, name, Writing::Told)
        .filter(|secret| secret.range.end <= end && has_digits(text, secret))
}

/// Finds the words of a wallet that signs, a verb or a line break separate from the name that ends at `end`.
fn find_words(text: &[u8], end: usize, name: Name) -> Option<Secret> {
    let rest = &text[end..];
    let verb = VERBS.iter().find(|verb| rest.starts_with(verb.as_bytes()));
    let start = match verb {
        Some(verb) => end + verb.len(),
        None => end + run(text, end, 24, |byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()),
    };
    (end < start).then_some(())?;
    phrase::words_end(text, start).map(|end| Secret { range: start..end, kind: name.kind })
}

/// Finds the password at `start` that words before it announce.
pub(super) fn find_told(text: &[u8], start: usize) -> Option<Secret> {
    find_value(text, start, Name { kind: Kind::Password, is_vague: false }, Writing::Told)
        .filter(|secret| has_digits(text, secret))
}

/// Finds the secret between two tags: `>x</`.
fn find_content(text: &[u8], start: usize, name: Name) -> Option<Secret> {
    let end = start + run(text, start, JUDGED, |byte| *byte != b'<' && *byte != b'\n');
    let value = Value::new(text, start..end, Some(b'>'), Writing::Tight);
    (text[end..].starts_with(b"</") && value::is_secret(&value, name))
        .then_some(Secret { range: start..end, kind: name.kind })
}

fn is_phrase(text: &[u8], secret: &Secret) -> bool {
    text[secret.range.clone()].contains(&b' ')
}

fn is_joined(text: &[u8], secret: &Secret) -> bool {
    let bytes = &text[secret.range.clone()];
    [b'-', b'_', b'.'].iter().any(|sign| 5 <= bytes.iter().filter(|byte| *byte == sign).count())
}

pub(super) fn has_digits(text: &[u8], secret: &Secret) -> bool {
    text[secret.range.clone()].iter().any(u8::is_ascii_digit)
}

/// Whether a secret without digits has so many signs, and letters of both cases, that it is no word.
fn is_odd(text: &[u8], secret: &Secret) -> bool {
    let bytes = &text[secret.range.clone()];
    let signs: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_punctuation).collect();
    10 <= bytes.len()
        && 3 <= n_distinct(&signs)
        && signs.iter().any(|sign| b"!#$%&*~^?".contains(sign))
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_uppercase)
        && !contains(bytes, "://")
        && !starts_with_ignoring_case(bytes, "$")
}
