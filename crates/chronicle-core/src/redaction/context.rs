//! Values that the text itself calls secret: assignments, options and headers.

use std::ops::Range;

use super::bytes::{
    contains, is_base64url, is_blank, is_drawn, n_distinct, run, run_back, starts_with_ignoring_case,
};
use super::names::{self, Name};
use super::secret::{Kind, Secret};
use super::surroundings::bare_end;
use super::value::{self, JUDGED, Value, Writing};
use super::{commands, lines, phrase, tokens};

/// The schemes of an `Authorization` header, which stay.
const SCHEMES: &[&str] = &["Bearer ", "Basic ", "Token ", "Digest ", "ApiKey ", "AWS4-HMAC-SHA256 "];

/// How far before a separator its name may begin.
pub(super) const NAME_LIMIT: usize = 48;

/// How much alignment a name or a value may have around its separator.
const BLANK_LIMIT: usize = 16;

/// How long a type may be that stands between a name and its value.
const TYPE_LIMIT: usize = 64;

/// How much white space there may be between a bracket and the string in it.
const LAYOUT_LIMIT: usize = 40;

/// How much a shell joins to a value.
const COMMAND_LIMIT: usize = 256;

/// How much of a `Cookie` header is searched for a session.
const COOKIES_LIMIT: usize = 1024;

/// Finds the secret that the `:` or `=` at `at` assigns.
pub(super) fn find_assigned(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let end = name_end(text, floor, at);
    let Some(name) = names::find(&text[floor.max(end.saturating_sub(NAME_LIMIT))..end]) else {
        return find_owned(text, floor, at, end).or_else(|| find_words(text, floor, at));
    };
    if name.is_vague && name.kind == Kind::Password && is_for_openssl(&text[floor..end]) && text[at] == b':' {
        return commands::given(text, at + 1);
    }
    let name = Name { is_vague: name.is_vague && !follows_user(text, floor, end, name), ..name };
    let operator_len = run(text, at, 3, |byte| matches!(byte, b':' | b'=' | b'>'));
    if text[at..].starts_with(b"::") {
        return None;
    }
    // Stars come from `**Password:** x`.
    let n_stars = run(text, at + operator_len, 3, |byte| *byte == b'*') % 3;
    let n_blanks = n_stars + run(text, at + operator_len + n_stars, BLANK_LIMIT, is_blank);
    let start = at + operator_len + n_blanks;
    if name.kind == Kind::Cookie && text[at] == b':' {
        return find_cookies(text, start);
    }
    let is_tight = text[at] == b'=' && operator_len + n_blanks == 1;
    let writing = if let Some(separator) = list_separator(text, floor, end).filter(|_| is_tight) {
        Writing::Part(separator)
    } else if is_setting(text, floor, end) {
        // A variable of the environment: `NAME=value`, or `NAME: value` in YAML.
        if is_tight { Writing::Setting } else { Writing::Told }
    } else if text[at] != b'=' || end < at || 1 < operator_len + n_blanks {
        Writing::Told
    } else {
        Writing::Tight
    };
    let start = in_brackets(text, start).unwrap_or(start);
    find_value(text, start, name, writing)
        .or_else(|| find_value(text, after_type(text, start).filter(|_| text[at] == b':')?, name, writing))
        .or_else(|| find_value(text, lines::value_below(text, start, name.kind)?, name, Writing::Told))
}

/// Whether `before` ends with the source of a password of `openssl`: `-passin pass`, `-pass pass`.
fn is_for_openssl(before: &[u8]) -> bool {
    let option = before.strip_suffix(b"pass").unwrap_or_default().trim_ascii_end();
    let option = option.strip_suffix(b"=").unwrap_or(option);
    ["-pass", "-passin", "-passout", "-password"].iter().any(|name| option.ends_with(name.as_bytes()))
}

/// What names whose password it is.
const USERS: &[&str] = &["user", "username", "login", "email", "mail", "account", "usr", "benutzer"];

/// Whether the `pass` that ends at `end` comes after the name of a user: `user: a pass: x`, in one line or in two.
fn follows_user(text: &[u8], floor: usize, end: usize, name: Name) -> bool {
    (name.is_vague && name.kind == Kind::Password) && {
        let before = &text[floor.max(end.saturating_sub(NAME_LIMIT * 2))..end];
        memchr::memchr2_iter(b':', b'=', before).any(|at| {
            let word = before[..at].trim_ascii_end();
            let word = word.strip_suffix(b"\"").or(word.strip_suffix(b"'")).unwrap_or(word);
            let n = run_back(word, 0, word.len(), 16, u8::is_ascii_alphabetic);
            USERS.iter().any(|user| word[word.len() - n..].eq_ignore_ascii_case(user.as_bytes()))
        })
    }
}

/// What makes a value of another type of a string: `String::from("…")`.
const WRAPPERS: &[&str] = &[
    "String::from",
    "SecretString::new",
    "SecretString::from",
    "SecretStr",
    "Secret::new",
    "Secret",
    "Some",
    "new String",
    "Buffer.from",
    "String",
    "str",
    "OsString::from",
    "CString::new",
    "StringView",
    "std::string",
];

/// Where a quoted value begins in the brackets that begin at `start`: of code that joins strings, of a list, of a wrapper.
fn in_brackets(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let n_wrapper = match rest.first()? {
        b'(' | b'[' => 0,
        b'S' | b'n' | b'B' | b's' | b'O' | b'C' => WRAPPERS
            .iter()
            .find(|word| rest.starts_with(word.as_bytes()) && rest.get(word.len()) == Some(&b'('))?
            .len(),
        _ => return None,
    };
    let at = start + n_wrapper + 1;
    let at = at + run(text, at, LAYOUT_LIMIT, u8::is_ascii_whitespace);
    // A diff sets its sign before each line.
    let at = at + run(text, at, LAYOUT_LIMIT, |byte| is_blank(byte) || *byte == b'+');
    matches!(text.get(at), Some(b'"' | b'\'')).then_some(at)
}

/// Finds the value of `("API_KEY", "…")`, whose comma stands at `at`, if it looks drawn.
pub(super) fn find_argument(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let end = name_end(text, floor, at);
    let name = names::find(&text[floor.max(end.saturating_sub(NAME_LIMIT))..end]).filter(|_| end < at)?;
    let start = at + 1 + run(text, at + 1, BLANK_LIMIT, is_blank);
    let (Some(_), value) = open_quote(text, start) else { return None };
    let is_drawn = |secret: &Secret| 16 <= secret.range.len() && is_drawn(&text[secret.range.clone()]);
    let name = Name { is_vague: false, ..name };
    (start < value).then(|| find_value(text, start, name, Writing::Told))?.filter(is_drawn)
}

/// Finds the words of a wallet after the separator at `at`, if the words before it speak of one.
fn find_words(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let start = at + 1 + run(text, at + 1, BLANK_LIMIT, is_blank);
    let end = phrase::words_end(text, start)?;
    let line =
        text[at - run_back(text, floor, at, OWNED_LIMIT, |byte| *byte != b'\n')..at].to_ascii_lowercase();
    ["seed", "secret", "wallet", "recovery", "bip39", "mnemonic"]
        .iter()
        .any(|word| contains(&line, word))
        .then_some(Secret { range: start..end, kind: Kind::Secret })
}

/// What holds the value of a name that is written elsewhere.
const HOLDERS: &[&str] = &["value", "default", "content"];

/// How far before its value the name may be.
const OWNED_LIMIT: usize = 240;

/// Finds the secret in `"name": "API_TOKEN", "value": "…"`, of which `end` is the end of `value` and `at` the separator.
fn find_owned(text: &[u8], floor: usize, at: usize, end: usize) -> Option<Secret> {
    // How the holders end.
    if !text[floor..end].last().is_some_and(|last| b"etET".contains(last)) {
        return None;
    }
    let start = end - run_back(text, floor, end, 8, u8::is_ascii_alphabetic);
    let holder = &text[start..end];
    if !HOLDERS.iter().any(|name| holder.eq_ignore_ascii_case(name.as_bytes())) {
        return None;
    }
    let value = at + 1 + run(text, at + 1, BLANK_LIMIT, is_blank);
    let value = lines::value_below(text, value, Kind::Token).unwrap_or(value);
    // Most values are none that any name would make secret.
    find_value(text, value, Name { kind: Kind::Password, is_vague: false }, Writing::Told)?;
    let before = &text[floor.max(start.saturating_sub(OWNED_LIMIT))..start];
    let before = &before[memchr::memmem::rfind(before, b"\n\n").map_or(0, |at| at + 2)..];
    let is_end = |at: &usize| is_base64url(&before[*at - 1]) && !is_base64url(&before[*at]);
    let mut ends = (1..before.len()).rev().filter(is_end);
    let name = ends.find_map(|at| {
        names::find(&before[at.saturating_sub(NAME_LIMIT)..at]).filter(|name| !name.is_vague)
    })?;
    find_value(text, value, name, Writing::Told)
}

/// Finds the secret after an option such as `--password`, whose first dash stands at `at`.
pub(super) fn find_option(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let begins = text[floor..at].last().is_none_or(|byte| !is_base64url(byte));
    if !begins {
        return None;
    }
    let end = at + 2 + run(text, at + 2, NAME_LIMIT, is_base64url);
    if text.get(end) != Some(&b' ') {
        return None;
    }
    let by_form = if text[at..end].ends_with(b"--user") {
        find_pair(text, end + 1)
    } else {
        names::find(&text[at + 2..end]).and_then(|name| find_value(text, end + 1, name, Writing::Tight))
    };
    by_form
        .or_else(|| find_stored(text, floor, at, end))
        .or_else(|| commands::find_long(text, floor, at, end))
}

/// Commands that store a secret, and their options that hold it.
const STORES: &[&str] = &[
    "secret set ",
    "secrets set ",
    "secret-value",
    "create-secret",
    "secretsmanager",
    "SecureString",
    "variable set ",
];
const STORED: &[&str] = &["body", "value", "secret-string", "secret-value"];

/// Finds what the option from `at` to `end` gives a command that stores secrets: `gh secret set NAME --body x`.
fn find_stored(text: &[u8], floor: usize, at: usize, end: usize) -> Option<Secret> {
    STORED.iter().find(|option| &text[at + 2..end] == option.as_bytes())?;
    let line = &text[at - run_back(text, floor, at, OWNED_LIMIT, |byte| *byte != b'\n')..at];
    STORES.iter().find(|store| contains(line, store))?;
    find_value(text, end + 1, Name { kind: Kind::Password, is_vague: false }, Writing::Setting)
}

/// Finds the password of `-u name:password`, whose dash stands at `at`.
pub(super) fn find_user(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let is_option = text[floor..at].last().is_none_or(u8::is_ascii_whitespace);
    (is_option && text.get(at + 2) == Some(&b' ')).then(|| find_pair(text, at + 3))?
}

/// Finds the password of a `name:password` that begins at `at`.
fn find_pair(text: &[u8], at: usize) -> Option<Secret> {
    let (_, start) = open_quote(text, at);
    let n_name = run(text, start, NAME_LIMIT, |byte| is_tightly_bare(byte) && *byte != b':');
    let start = start + n_name + 1;
    let has_letters =
        text.get(start..)?.iter().take(JUDGED).take_while(|byte| is_bare(byte)).any(u8::is_ascii_alphabetic);
    let name = Name { kind: Kind::Password, is_vague: false };
    (0 < n_name && text[start - 1] == b':' && has_letters)
        .then(|| judge(text, start, name, None, Writing::Tight))?
}

/// Finds the secret that a `%3D` or `%3A` at `at` assigns: `=` or `:` in a query.
pub(super) fn find_escaped(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if !starts_with_ignoring_case(&text[at..], "%3d") && !starts_with_ignoring_case(&text[at..], "%3a") {
        return None;
    }
    let name = names::find(&text[floor.max(at.saturating_sub(NAME_LIMIT))..at])?;
    find_value(text, at + 3, name, Writing::Part(b'&'))
}

/// Where the words in front of the separator at `at` end, without the quotes and brackets of
/// `"password"`, `config["password"]` and `password?`.
fn name_end(text: &[u8], floor: usize, at: usize) -> usize {
    // `||=` and its like assign, too.
    let n_signs =
        if text[at] == b'=' { run_back(text, floor, at, 2, |byte| matches!(byte, b'|' | b'?')) } else { 0 };
    let at = if n_signs == 2 { at - 2 } else { at };
    let end = at - run_back(text, floor, at, BLANK_LIMIT, is_blank);
    let is_subscript = matches!(text[floor..end], [.., b'"' | b'\'', b']']);
    let end = end - usize::from(is_subscript);
    end - run_back(text, floor, end, 3, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'*' | b'?'))
}

/// Whether the name that ends at `end` is that of a variable of the environment: there a bare word is a
/// value, not the name of one.
fn is_setting(text: &[u8], floor: usize, end: usize) -> bool {
    let start = end - run_back(text, floor, end, NAME_LIMIT, is_base64url);
    !text[start..end].iter().any(u8::is_ascii_lowercase)
}

/// What ends the pair whose name ends at `end`, in a query or a connection string.
fn list_separator(text: &[u8], floor: usize, end: usize) -> Option<u8> {
    let start = end - run_back(text, floor, end, NAME_LIMIT, |byte| is_base64url(byte) || *byte == b'.');
    match text[floor..start].last()? {
        b'?' | b'&' => Some(b'&'),
        b';' => Some(b';'),
        _ => None,
    }
}

/// Whether `name` ends with `ending`, whatever its case and separators.
fn ends_with_words(name: &[u8], ending: &str) -> bool {
    let mut letters = name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric());
    ending.bytes().rev().all(|wanted| letters.next().is_some_and(|byte| byte.to_ascii_lowercase() == wanted))
}

pub(super) fn find_value(text: &[u8], start: usize, name: Name, writing: Writing) -> Option<Secret> {
    let (quote, mut start) = open_quote(text, start);
    if name.kind == Kind::Authorization {
        let scheme = SCHEMES.iter().find(|scheme| starts_with_ignoring_case(&text[start..], scheme));
        start += scheme.map_or(0, |scheme| scheme.len());
        // Some services have schemes of their own: `GenieKey …`.
        let n_word = run(text, start, 24, |byte| byte.is_ascii_alphabetic() || *byte == b'-');
        if scheme.is_none() && 0 < n_word && text.get(start + n_word) == Some(&b' ') {
            let own = judge(text, start + n_word + 1, name, None, writing);
            if own.is_some() {
                return own;
            }
        }
    }
    // What is no secret as a whole may begin with one: the quote may be an apostrophe, or its
    // end on another line.
    if let Some(end) = phrase::end_of(text, start, name) {
        return Some(Secret { range: start..end, kind: name.kind });
    }
    let secret = quote
        .and_then(|quote| judge(text, start, name, Some(quote), writing))
        .or_else(|| judge(text, start, name, None, writing))?;
    (!name.is_vague || !tokens::begins_token(text, start)).then_some(secret)
}

fn judge(text: &[u8], start: usize, name: Name, quote: Option<Quote>, writing: Writing) -> Option<Secret> {
    match quote {
        Some(quote) => {
            let end = joined_end(text, quote_end(text, start, JUDGED, quote)?, writing);
            if let Some(whole) = judge_whole(text, start..end, name, Some(quote.byte), writing) {
                return Some(whole);
            }
            let is_secret = value::is_secret(&Value::new(text, start..end, Some(quote.byte), writing), name);
            is_secret.then_some(())?;
            let end = joined_end(text, quote_end(text, start, usize::MAX, quote)?, writing);
            Some(Secret { range: start..end, kind: name.kind })
        }
        None => {
            let judges = |end| value::is_secret(&Value::new(text, start..end, None, writing), name);
            let end = bare_end(text, start, JUDGED, writing);
            if let Some(whole) = judge_whole(text, start..end, name, None, writing) {
                return Some(whole);
            }
            let is_whole = value::is_whole(&Value::new(text, start..end, None, writing), name) && judges(end);
            if is_whole {
                return Some(Secret {
                    range: start..bare_end(text, start, usize::MAX, writing),
                    kind: name.kind,
                });
            }
            // In code and prose most signs end a value.
            let word = |limit| start + run(&text[..end.max(start)], start, limit, is_bare);
            let end = trimmed(text, start, word(JUDGED));
            judges(end).then_some(Secret { range: start..end, kind: name.kind })
        }
    }
}

/// The secret that the pieces of a value make together, of which `first` is the first.
fn judge_whole(
    text: &[u8],
    first: Range<usize>,
    name: Name,
    quote: Option<u8>,
    writing: Writing,
) -> Option<Secret> {
    let start = first.start;
    let (value, end) = lines::whole(text, first, quote)?;
    value::is_secret(&Value::new(&value, 0..value.len(), quote, writing), name)
        .then_some(Secret { range: start..end, kind: name.kind })
}

/// Where a value ends whose quote at `end` a shell joins with more of it: `'a'"b"`.
fn joined_end(text: &[u8], end: usize, writing: Writing) -> usize {
    let is_joined = writing == Writing::Setting
        && matches!(text.get(end + 1), Some(b'"' | b'\'' | b'\\'))
        && text.get(end + 2).is_some_and(|next| next.is_ascii_graphic() && !b",;:)]}".contains(next));
    if is_joined { end + run(text, end, COMMAND_LIMIT, |byte| !byte.is_ascii_whitespace()) } else { end }
}

/// `end` without the marks of a sentence before it.
fn trimmed(text: &[u8], start: usize, end: usize) -> usize {
    end - run_back(text, start, end, 3, |byte| matches!(byte, b'.' | b'?' | b':' | b'*'))
}

/// The quote that opens a value.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    byte: u8,
    /// As in JSON inside a string: `\"password\": \"x\"`.
    is_escaped: bool,
}

/// The quote at `start`, if any, and where its value begins. A literal's prefix (`b"`) is skipped.
pub(super) fn open_quote(text: &[u8], start: usize) -> (Option<Quote>, usize) {
    let at = start + run(text, start, 3, |byte| b"rbfucN@#".contains(byte));
    let is_escaped = text.get(at) == Some(&b'\\');
    let at = at + usize::from(is_escaped);
    match text.get(at) {
        Some(&byte @ (b'"' | b'\'' | b'`')) => {
            let is_triple = text[at..].starts_with(&[byte; 3]);
            (Some(Quote { byte, is_escaped }), at + if is_triple { 3 } else { 1 })
        }
        _ => (None, start),
    }
}

/// Where `quote` closes a value on the same line, or `limit` if it is longer.
pub(super) fn quote_end(text: &[u8], start: usize, limit: usize, quote: Quote) -> Option<usize> {
    let mut at = start;
    while at - start < limit {
        match text[at.min(text.len())..] {
            [] | [b'\n', ..] => return None,
            // A quote within a string within a string.
            [b'\\', b'\\', b'\\', next, ..] if quote.is_escaped && next == quote.byte => at += 4,
            [b'\\', next, ..] if quote.is_escaped && next == quote.byte => return Some(at),
            [b'\\', ..] => at += 2,
            // YAML and SQL double a quote within a value.
            [b'\'', b'\'', next, ..] if quote.byte == b'\'' && start < at && next.is_ascii_alphanumeric() => {
                at += 2;
            }
            [byte, ..] if byte == quote.byte => return Some(at),
            _ => at += 1,
        }
    }
    Some(at.min(text.len()))
}

/// Where the value begins in a declaration with a type, `password: &str = "x"`.
fn after_type(text: &[u8], start: usize) -> Option<usize> {
    let type_len = run(text, start, TYPE_LIMIT, |byte| {
        is_base64url(byte) || matches!(byte, b' ' | b'&' | b'\'' | b'<' | b'>' | b'?' | b'|' | b'.' | b':')
    });
    let at = start + type_len;
    // One colon alone makes a name of what stands before it, and that name decides about the value.
    if text[start..at].split(|byte| *byte != b':').any(|colons| colons.len() % 2 == 1) {
        return None;
    }
    let value = at + 1 + run(text, (at + 1).min(text.len()), BLANK_LIMIT, is_blank);
    (text.get(at) == Some(&b'=') && open_quote(text, value.min(text.len())).0.is_some()).then_some(value)
}

/// Finds the cookies of a header that carries a session, as far as they go.
fn find_cookies(text: &[u8], start: usize) -> Option<Secret> {
    let judged = &text[..text.len().min(start + COOKIES_LIMIT)];
    let (_, has_session) = cookies_end(judged, start);
    has_session.then(|| Secret { range: start..cookies_end(text, start).0, kind: Kind::Cookie })
}

/// Where the pairs of a cookie header end, and whether one of them looks like a session.
fn cookies_end(text: &[u8], start: usize) -> (usize, bool) {
    let (mut end, mut has_session) = (start, false);
    let mut at = start;
    loop {
        let name = &text[at..at + run(text, at, NAME_LIMIT, |byte| is_base64url(byte) || *byte == b'.')];
        let value_at = at + name.len() + 1;
        if name.is_empty() || text.get(value_at - 1) != Some(&b'=') {
            return (end, has_session);
        }
        let value = &text[value_at..value_at + run(text, value_at, usize::MAX, is_cookie)];
        let tells = ["sid", "sess", "session", "sessionid", "auth", "token"]
            .iter()
            .any(|ending| ends_with_words(name, ending));
        has_session |=
            8 <= n_distinct(value) && value.iter().any(u8::is_ascii_digit) && (tells || 16 <= value.len());
        end = value_at + value.len();
        at = end + run(text, end, 2, |byte| matches!(byte, b';' | b' '));
    }
}

/// What a value without quotes may consist of.
pub(super) fn is_bare(byte: &u8) -> bool {
    !byte.is_ascii_whitespace() && !b",;\"'`()[]{}<>|\\".contains(byte)
}

fn is_tightly_bare(byte: &u8) -> bool {
    is_bare(byte) && *byte != b'&'
}

fn is_cookie(byte: &u8) -> bool {
    is_bare(byte) || *byte == b'|'
}
