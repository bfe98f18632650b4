//! Passwords as people type them, which something next to them gives away: `use Sommer#2024 as the token`,
//! `apikey Sommer#2024`, `login: admin / Sommer#2024`, `echo Sommer#2024 | sudo -S`.
//!
//! They are too short to look drawn. But few other words have letters, digits and such a sign, so a rule looks
//! for the sign first and only then for what names or takes the word. Most other such words are code, addresses,
//! versions, revisions and the numbers of issues; `is_typed` says which.

use std::ops::Range;

use super::bytes::{contains, ends_with_ignoring_case, is_base64url, is_blank, is_drawn, run, run_back};
use super::entropy::{name_before, without_signs};
use super::names::{self, Name};
use super::secret::{Kind, REDACTED, Secret};
use super::value::{is_placeholder, is_term};
use super::{clause, commands};

/// The signs that people put into passwords.
pub(super) const SIGNS: &[u8] = b"!$#@%^*?+~&";

const SHORTEST: usize = 8;

const LONGEST: usize = 48;

/// How much of the line before a password is looked at.
const NEAR: usize = 120;

/// What an account is called before its name and its password.
const LOGINS: &[&str] = &[
    "account",
    "auth",
    "authenticate",
    "connect",
    "cred",
    "credentials",
    "creds",
    "log",
    "login",
    "logins",
    "logon",
    "signin",
    "user",
    "username",
];

/// What is counted in many places: `issue#123`.
const COUNTED: &[&str] = &[
    "bug", "build", "case", "chapter", "issue", "job", "line", "page", "pull", "run", "section", "step",
    "task", "test", "ticket",
];

/// Finds the password whose first sign is after the letter or digit at `at`.
pub(super) fn find(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    // Most runs with a sign are longer, and random.
    let n_rest = run(text, at, LONGEST, is_part);
    let start = at + 1 - run_back(text, floor, at + 1, LONGEST + 1 - n_rest, is_part);
    (n_rest < LONGEST && is_open(text, floor, start)).then_some(())?;
    let n_stars = run(text, start, 2, |byte| *byte == b'*');
    let start = start + n_stars;
    let end = next_pair(text, start..start + run(text, start, LONGEST, is_part));
    let end = end - run_back(text, start, end, 1, |byte| *byte == b'.');
    let end = end - run_back(text, start, end, n_stars, |byte| *byte == b'*');
    (is_closed(&text[end..]) && is_typed(&text[start..end])).then_some(())?;
    kind_of(text, floor, start, end).map(|kind| Secret { range: start..end, kind })
}

/// Where the next pair of a query or the next command begins within `range`, or its end.
fn next_pair(text: &[u8], range: Range<usize>) -> usize {
    let begins = |at: &usize| {
        let n_name = run(text, at + 1, LONGEST, |byte| is_base64url(byte) || *byte == b'.');
        matches!(text.get(at + 1 + n_name), Some(b'=')) || text.get(at + 1) == Some(&b'&')
    };
    let mut ends = memchr::memchr_iter(b'&', &text[range.clone()]).map(|at| range.start + at);
    ends.find(begins).unwrap_or(range.end)
}

/// What the words and signs around the word from `start` to `end` say that it is.
fn kind_of(text: &[u8], floor: usize, start: usize, end: usize) -> Option<Kind> {
    let before = &text[floor..start];
    let line = &before[before.len() - run_back(before, 0, before.len(), NEAR, |byte| *byte != b'\n')..];
    // What was replaced has a name that names nothing else.
    let (before, line) = match memchr::memmem::rfind(line, REDACTED.as_bytes()) {
        Some(at) => {
            let rest = &line[at..];
            let rest = &rest[memchr::memchr(b']', rest).map_or(rest.len(), |end| end + 1)..];
            (rest, rest)
        }
        None => (before, line),
    };
    let named = name_before(above(before, line).unwrap_or(before)).filter(|name| is_enough(*name, line));
    let is_password = || is_of_user(line) || commands::take(text, floor, start, end);
    named
        .map(|name| name.kind)
        .or_else(|| is_password().then_some(Kind::Password))
        .or_else(|| clause::tied(before, &text[end..]).filter(|_| !text[..start].ends_with(b"/")))
        .or_else(|| named_after(&text[end..]))
}

/// What the words after a word say that it is: `… is the password`, `… for the token`.
fn named_after(after: &[u8]) -> Option<Kind> {
    let after = &after[run(after, 0, 2, |byte| b"\"'`".contains(byte))..];
    let tie = [" is ", " for ", " as "].iter().find(|tie| after.starts_with(tie.as_bytes()))?;
    clause::noun_of(
        &after[..tie.len() + run(after, tie.len(), 24, |byte| byte.is_ascii_alphabetic() || *byte == b' ')],
    )
}

/// Whether `name` says enough about a word at the end of `line`. A key may be one of a keyboard, a table or a cache.
fn is_enough(name: Name, line: &[u8]) -> bool {
    let is_assigned = || line.trim_ascii_end().last().is_some_and(|last| b":=\"'".contains(last));
    !line.ends_with(b"/") && (!name.is_vague || name.kind != Kind::ApiKey || is_assigned())
}

/// The lines above a word that begins its `line`, if they end with what a value follows in the next one:
/// `password: |`, `"password":`.
fn above<'a>(before: &'a [u8], line: &[u8]) -> Option<&'a [u8]> {
    line.iter().all(|byte| is_blank(byte) || b"\"'".contains(byte)).then_some(())?;
    let above = before[..before.len() - line.len()].strip_suffix(b"\n")?.trim_ascii_end();
    let above = above.strip_suffix(b"-").or(above.strip_suffix(b"+")).unwrap_or(above);
    matches!(above.last(), Some(b':' | b'=' | b'|' | b'>')).then_some(above)
}

/// Accounts whose names alone say what is after them.
const ACCOUNTS: &[&str] = &["admin", "administrator", "root"];

/// Whether `line` ends with the name of an account: `login: admin / `, `auth=("admin", "`, `net user admin `.
fn is_of_user(line: &[u8]) -> bool {
    let n_between = run_back(line, 0, line.len(), 4, |byte| b" /:,|\"'".contains(byte));
    let (line, between) = line.split_at(line.len() - n_between);
    let n_user = run_back(line, 0, line.len(), NEAR, |byte| is_part(byte) || *byte == b'\\');
    let (rest, user) = line.split_at(line.len() - n_user);
    if between.is_empty() || user.is_empty() {
        return false;
    }
    let is_of =
        |words: &[&str], word: &[u8]| words.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let mut words = rest.rsplit(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    // Blanks alone tie no more than the next word, nor does a slash, which repositories have before `name#123`.
    let n_words = if between.iter().all(is_blank) || between == b"/" { 1 } else { 6 };
    between.iter().any(|byte| b"/|".contains(byte)) && is_of(ACCOUNTS, user)
        || words.by_ref().take(n_words).any(|word| is_of(LOGINS, word))
        || names_pair(rest)
}

/// Whether what is before a name and a password is a name of both: `HTTPBasicAuth("u", "…")`, `credentials = u:…`.
fn names_pair(before: &[u8]) -> bool {
    names::find(without_signs(before))
        .is_some_and(|name| matches!(name.kind, Kind::Password | Kind::Credential | Kind::Authorization))
}

/// Whether `word` is a password as people make them up, and no code, address, version or number.
fn is_typed(word: &[u8]) -> bool {
    let has = |is_wanted: fn(&u8) -> bool| word.iter().any(is_wanted);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_dotted = word.windows(2).any(|near| near[0] == b'.' && near[1].is_ascii_alphanumeric());
    let is_escaped = (0..word.len()).any(|at| word[at] == b'%' && is_escape(&word[at + 1..]));
    (SHORTEST..=LONGEST).contains(&word.len())
        && word[0].is_ascii_alphanumeric()
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !is_dotted
        && !contains(word, "&#")
        && (is_mixed && !is_escaped && is_drawn(word)
            || (1..word.len()).any(|at| SIGNS.contains(&word[at]) && is_made(word, at, is_mixed)))
        && !is_placeholder(word)
        && !is_term(word)
}

/// Whether what follows a `%` makes it the escape of a character, as in an address: `%20`.
fn is_escape(after: &[u8]) -> bool {
    let is_number = run(after, 0, 3, u8::is_ascii_digit) == 3;
    !is_number && matches!(after, [b'2'..=b'7', second, ..] if second.is_ascii_hexdigit())
}

/// Whether the sign at `at` was put into `word` to make a password of it.
fn is_made(word: &[u8], at: usize, is_mixed: bool) -> bool {
    let (before, after) = (&word[..at], &word[at + 1..]);
    let count = |part: &[u8], is_wanted: fn(&u8) -> bool| part.iter().filter(|byte| is_wanted(byte)).count();
    let is_long = 4 <= count(before, u8::is_ascii_alphabetic);
    let (n_before, n_after) =
        (run_back(before, 0, at, at, u8::is_ascii_digit), run(after, 0, after.len(), u8::is_ascii_digit));
    let is_number = 0 < n_after && n_after == after.len();
    // Identifiers and references rarely hold numbers of two digits and more.
    let is_numbered = 2 <= count(word, u8::is_ascii_digit);
    let next = after.first().copied().unwrap_or(b' ');
    match word[at] {
        // The mark of a sentence, or of what is not null: `apiKey2!`.
        b'!' if after.is_empty() => 2 <= n_before || is_mixed && word[0].is_ascii_uppercase(),
        _ if after.is_empty() => {
            is_long && (2 <= n_before || 0 < n_before && is_mixed && !b"?*".contains(&word[at]))
        }
        // `RFC#1234`, `PROJ#12`
        b'#' if at <= 4 && before.iter().all(u8::is_ascii_uppercase) => false,
        b'#' if COUNTED.iter().any(|word| before.eq_ignore_ascii_case(word.as_bytes())) => false,
        // `Class#method`, `Readme#L12`
        b'#' if next.is_ascii_alphabetic() => is_mixed && is_numbered && next != b'L',
        // `name$1`, `$NAME`, `$name`
        b'$' if is_number => 3 <= n_after || n_after == 2 && is_mixed && word[0].is_ascii_uppercase(),
        b'$' if next.is_ascii_alphabetic() || next == b'_' => {
            is_mixed && is_numbered && after.iter().any(u8::is_ascii_lowercase)
        }
        // `react@18`, `icon@2x`, `root@host1`
        b'@' if is_number => 3 <= n_after || is_mixed,
        b'@' if n_after < 3 && after.ends_with(b"x") && n_after + 1 == after.len() => false,
        b'@' if next.is_ascii_alphabetic() => is_mixed || is_between_letters(word, u8::is_ascii_digit),
        b'!' => after != b"important",
        b'$' | b'#' | b'@' => true,
        // `100%`, `%20`, `%d`
        b'%' if before.iter().all(u8::is_ascii_digit) => false,
        b'%' if is_escape(after) => false,
        b'%' if next.is_ascii_alphabetic() => is_mixed && is_numbered && 4 <= after.len(),
        // `main~12`, `HEAD^2`
        b'~' | b'^' if is_number && n_after < 3 => is_mixed && n_after == 2,
        // `Ctrl+F12`, `offset+size1`
        b'+' if next.is_ascii_alphabetic() => is_mixed && is_numbered && !is_key(before),
        // `offset+20`
        b'+' | b'*' => is_mixed || is_long && 4 <= n_after,
        b'&' => is_mixed,
        _ => is_mixed || is_long && 2 <= n_after,
    }
}

/// Whether `word` ends with a key that is pressed with others.
fn is_key(word: &[u8]) -> bool {
    ["alt", "cmd", "command", "ctrl", "control", "meta", "option", "shift", "super", "win"]
        .iter()
        .any(|key| ends_with_ignoring_case(word, key))
}

/// Whether what is `wanted` is between letters, as in `p@ssw0rd`.
fn is_between_letters(word: &[u8], wanted: fn(&u8) -> bool) -> bool {
    word.windows(3)
        .any(|near| near[0].is_ascii_alphabetic() && wanted(&near[1]) && near[2].is_ascii_alphabetic())
}

/// Whether a word may begin at `start`, going by what is before it.
fn is_open(text: &[u8], floor: usize, start: usize) -> bool {
    let is_opened =
        |before: &u8| before.is_ascii_whitespace() || b"\"'`(:=>,|/*".contains(before) || !before.is_ascii();
    start == 0 || text[floor..start].last().is_some_and(is_opened)
}

/// Whether a word may end before `rest`.
fn is_closed(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b'\\') => matches!(rest[1..], [b'"' | b'\'' | b'n' | b'r' | b'\n', ..]),
        Some(next) => next.is_ascii_whitespace() || b"\"'`),;|<&]}.".contains(next) || !next.is_ascii(),
        None => true,
    }
}

fn is_part(byte: &u8) -> bool {
    IS_PART[usize::from(*byte)]
}

static IS_PART: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        byte += 1;
    }
    let mut n = 0;
    while n < SIGNS.len() {
        table[SIGNS[n] as usize] = true;
        n += 1;
    }
    table
};
