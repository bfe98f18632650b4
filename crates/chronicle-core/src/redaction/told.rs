//! Passwords and phrases that words announce without `:` or `=` between: `password x`, `password is x`,
//! `<password>x</password>`, `("password", "x")`, `x (password of y)`, and what is alone in the line below.

use super::bytes::{contains, is_drawn, n_breaks, n_distinct, run, run_back, starts_with_ignoring_case};
use super::context::{NAME_LIMIT, find_value};
use super::entropy::is_public;
use super::names::{self, Name};
use super::passphrase::is_grouped;
use super::secret::{Kind, REDACTED, Secret, has_digits};
use super::value::{self, JUDGED, Value, Writing};
use super::{lines, phrase, sql, table, tokens};

/// How long the words may be that tell what a password is for.
const OWNER_LIMIT: usize = 64;

/// What ties a password to its value in a sentence, the longer first.
const VERBS: &[&str] = &[
    " is now ", " is ", " was ", " to ", " ist ", " lautet ", " è ", " é ", " es ", " est ", " jest ", " → ",
    " -> ", " — ", " – ", " | ",
];

/// What may end the line of a name: its verb, or the ending of its file.
const ENDINGS: &[&str] = &[" is now", " is", " was", ".txt", ".secret"];

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
        Kind::Password => sql::find_set(text, floor, end)
            .or_else(|| find_changed(text, end, name))
            .or_else(|| find_next_to(text, end, name))
            .or_else(|| find_below(text, end, name))
            .or_else(|| table::Column::below(text, floor, end, name)?.next(text))
            .or_else(|| find_before(text, floor, at, name))
            .or_else(|| find_in_sentence(text, end, name)),
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

/// What may be between a password and what it is changed from.
const CHANGES: &[&str] = &[
    "was", "is", "has", "been", "changed", "updated", "rotated", "reset", "switched", "set", "moved", "over",
];

/// What ties the password that was to the one that is.
const BECOMES: &[&str] = &[" to ", " into ", " with ", " by ", " -> ", " → "];

/// Finds a password in `password from X to Y`, whose name ends at `end`: the second where the first is replaced or is none.
fn find_changed(text: &[u8], end: usize, name: Name) -> Option<Secret> {
    let near = &text[end..end + run(text, end, OWNER_LIMIT, |byte| *byte != b'\n')];
    let from = memchr::memmem::find(near, b" from ")?;
    let mut between = near[..from].split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    between.all(|word| CHANGES.iter().any(|verb| word == verb.as_bytes())).then_some(())?;
    let start = end + from + " from ".len();
    let rest = &text[start..start + run(text, start, SENTENCE_LIMIT, |byte| *byte != b'\n')];
    let (tie, n) = BECOMES
        .iter()
        .filter_map(|tie| Some((memchr::memmem::find(rest, tie.as_bytes())?, tie.len())))
        .min()?;
    let find = |at: usize| find_value(text, at, name, Writing::Tight);
    find(start).filter(|secret| secret.range.end <= start + tie).or_else(|| find(start + tie + n))
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
        .filter(|secret| {
            has_digits(text, secret) || is_odd(text, secret) || is_grouped(&text[secret.range.clone()])
        })
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
    find_value(text, start, name, Writing::Told)
        .filter(|secret| secret.range.end <= end && has_digits(text, secret))
}

/// How far after its name a password may be that only their sentence ties.
const SENTENCE_LIMIT: usize = 128;

/// Finds the password in the sentence of the name that ends at `end`, in the answer to its question or in the next
/// column, if it can be no word.
pub(super) fn find_in_sentence(text: &[u8], end: usize, name: Name) -> Option<Secret> {
    let near = &text[end..text.len().min(end + SENTENCE_LIMIT)];
    let near = &near[..end_of_sentence(near)];
    // What is assigned to it is found there; what goes on is a longer word or an address.
    let n_signs = run(near, 0, 4, |byte| b"\"'`*] ".contains(byte));
    let is_assigned = matches!(near.get(n_signs), Some(b'=' | b':'));
    let is_word = near.first().is_some_and(|next| b" ?,;)\"'`*\t".contains(next) || !next.is_ascii());
    (is_word && !is_assigned).then_some(())?;
    if let Some(secret) =
        find_answer(text, end, near, name).or_else(|| find_quoted_words(text, end, near, name))
    {
        return Some(secret);
    }
    let is_column = matches!(near, [b';' | b',' | b'\t', next, ..] if next.is_ascii_graphic());
    let separator = near.first().copied().filter(|_| is_column);
    let mut words = near.split(|byte| byte.is_ascii_whitespace() || Some(*byte) == separator);
    let word = words.find_map(|word| Some(made(word)?).filter(|word| is_made(word)))?;
    let start = word.as_ptr().addr() - text.as_ptr().addr();
    // Half of a word is at the end of what is looked at.
    let end = start + run(text, start, JUDGED, |byte| byte.is_ascii_graphic() && Some(*byte) != separator);
    let whole = made(&text[start..end]).filter(|word| is_made(word))?;
    let end = start + whole.len();
    (!tokens::begins_token(text, start)).then_some(Secret { range: start..end, kind: name.kind })
}

/// Finds the password that is said in the line below the question for it, as in `sure: x`.
fn find_answer(text: &[u8], end: usize, near: &[u8], name: Name) -> Option<Secret> {
    let line = memchr::memchr(b'\n', near)?;
    let colon = line + memchr::memmem::find(&near[line..], b": ")?;
    find_value(text, end + colon + 2, name, Writing::Told)
        .filter(|secret| has_digits(text, secret) || is_phrase(text, secret) || is_joined(text, secret))
}

/// Finds five words and more between quotes.
fn find_quoted_words(text: &[u8], end: usize, near: &[u8], name: Name) -> Option<Secret> {
    let quotes = near.iter().enumerate().filter(|(_, byte)| b"\"'`".contains(byte));
    quotes.map(|(at, quote)| (end + at + 1, quote)).find_map(|(start, quote)| {
        let (end, _) = phrase::words_of_password(text, start)?;
        (text.get(end) == Some(quote)).then_some(Secret { range: start..end, kind: name.kind })
    })
}

/// Where the sentence ends that `text` goes on with. The answer to a question is in the next line.
fn end_of_sentence(text: &[u8]) -> usize {
    let mut has_asked = false;
    let mut ends = memchr::memchr2_iter(b'\n', b'[', text);
    let end = ends.find(|&at| {
        let asks = text[at] == b'\n' && !has_asked && text[..at].trim_ascii_end().ends_with(b"?");
        has_asked |= asks;
        !asks && (text[at] == b'\n' || text[at..].starts_with(REDACTED.as_bytes()))
    });
    end.unwrap_or(text.len())
}

/// A word of a sentence without its quotes, brackets and marks.
fn made(word: &[u8]) -> Option<&[u8]> {
    let is_around = |byte: &u8| b"\"'`()[]*".contains(byte) || !byte.is_ascii();
    let start = word.iter().position(|byte| !is_around(byte))?;
    let quote = word[..start].last().filter(|quote| b"\"'`(".contains(quote));
    let close = quote.map(|quote| if *quote == b'(' { b')' } else { *quote });
    let word = &word[start..];
    let word = &word[..close.and_then(|close| memchr::memchr(close, word)).unwrap_or(word.len())];
    let n_after = run_back(word, 0, word.len(), 8, |byte| is_around(byte) || b".,;:".contains(byte));
    Some(&word[..word.len() - n_after])
}

/// Whether `word` is so mixed of letters, digits and signs that it is a password and no word, name or address.
fn is_made(word: &[u8]) -> bool {
    let has = |is_wanted: fn(&u8) -> bool| word.iter().any(is_wanted);
    let has_signs = has(|byte| b"!#$%&*~^?+@".contains(byte));
    (10..=64).contains(&word.len())
        && !has(|byte| b"/(){}<>[]|\\\"=,:;".contains(byte) || !byte.is_ascii())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && (has_signs || is_drawn(word))
        && !is_public(b"", word)
        && !value::is_placeholder(word)
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
        .filter(|secret| has_digits(text, secret) || is_phrase(text, secret) || is_joined(text, secret))
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
    is_grouped(bytes)
        || [b'-', b'_', b'.'].iter().any(|sign| 4 <= bytes.iter().filter(|byte| *byte == sign).count())
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
