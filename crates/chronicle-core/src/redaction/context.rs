//! Values that the text itself calls secret: assignments, options and headers.

use std::ops::Range;

use super::bytes::{is_base64url, is_blank, n_distinct, run, run_back, starts_with_ignoring_case};
use super::value::{self, JUDGED, Value, Writing};
use super::{Kind, Secret};

/// What names end in, without separators. The first that fits wins.
const NAMES: &[(&str, Kind)] = &[
    ("password", Kind::Password),
    ("passwd", Kind::Password),
    ("passphrase", Kind::Password),
    ("passcode", Kind::Password),
    ("pwd", Kind::Password),
    // `pass` alone is a step of a compiler or the luck of a test.
    ("dbpass", Kind::Password),
    ("mailpass", Kind::Password),
    ("smtppass", Kind::Password),
    ("userpass", Kind::Password),
    ("secret", Kind::Secret),
    ("secretkeybase", Kind::Secret),
    ("token", Kind::Token),
    ("secretaccesskey", Kind::AwsSecretKey),
    ("awssecretkey", Kind::AwsSecretKey),
    ("accountkey", Kind::AzureKey),
    ("sharedaccesskey", Kind::AzureKey),
    ("privatekey", Kind::PrivateKey),
    ("apikey", Kind::ApiKey),
    ("accesskey", Kind::ApiKey),
    ("authkey", Kind::ApiKey),
    ("encryptionkey", Kind::ApiKey),
    ("masterkey", Kind::ApiKey),
    ("secretkey", Kind::ApiKey),
    ("signingkey", Kind::ApiKey),
    ("phpsessid", Kind::Cookie),
    ("jsessionid", Kind::Cookie),
    ("cookie", Kind::Cookie),
    ("authorization", Kind::Authorization),
    ("auth", Kind::Credential),
    ("credential", Kind::Credential),
    ("credentials", Kind::Credential),
];

/// The schemes of an `Authorization` header, which stay.
const SCHEMES: &[&str] = &["Bearer ", "Basic ", "Token ", "Digest ", "ApiKey ", "AWS4-HMAC-SHA256 "];

/// How far before a separator its name may begin.
const NAME_LIMIT: usize = 48;

/// How much alignment a name or a value may have around its separator.
const BLANK_LIMIT: usize = 16;

/// How long a type may be that stands between a name and its value.
const TYPE_LIMIT: usize = 64;

/// How much of a `Cookie` header is searched for a session.
const COOKIES_LIMIT: usize = 1024;

/// Finds the secret that the `:` or `=` at `at` assigns.
pub(super) fn find_assigned(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let name = name_before(text, floor, at);
    let kind = kind_of(&text[name.clone()])?;
    let operator_len = run(text, at, 3, |byte| matches!(byte, b':' | b'=' | b'>'));
    if text[at..].starts_with(b"::") {
        return None;
    }
    // Stars come from `**Password:** x`.
    let n_blanks = run(text, at + operator_len, BLANK_LIMIT, |byte| is_blank(byte) || *byte == b'*');
    let start = at + operator_len + n_blanks;
    if kind == Kind::Cookie && text[at] == b':' {
        return find_cookies(text, start);
    }
    let writing = if text[at] != b'=' || name.end < at || 1 < operator_len + n_blanks {
        Writing::Loose
    } else if is_setting(text, floor, name.end) {
        Writing::Setting
    } else {
        Writing::Tight
    };
    find_value(text, start, kind, writing)
        .or_else(|| find_value(text, after_type(text, start).filter(|_| text[at] == b':')?, kind, writing))
}

/// Finds the secret after an option such as `--password`, whose first dash stands at `at`.
pub(super) fn find_option_at(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let begins = text[floor..at].last().is_none_or(|byte| !is_base64url(byte));
    if !begins || !text[at..].starts_with(b"--") {
        return None;
    }
    let end = at + 2 + run(text, at + 2, NAME_LIMIT, is_base64url);
    let kind = kind_of(&text[at + 2..end]).filter(|_| text.get(end) == Some(&b' '))?;
    find_value(text, end + 1, kind, Writing::Tight)
}

/// The words in front of the separator at `at`, without the quotes and brackets of
/// `"password"`, `config["password"]` and `password?`.
fn name_before(text: &[u8], floor: usize, at: usize) -> Range<usize> {
    let end = at - run_back(text, floor, at, BLANK_LIMIT, is_blank);
    let is_subscript = matches!(text[floor..end], [.., b'"' | b'\'', b']']);
    let end = end - usize::from(is_subscript);
    let end =
        end - run_back(text, floor, end, 3, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'*' | b'?'));
    end - run_back(text, floor, end, NAME_LIMIT, |byte| is_base64url(byte) || matches!(byte, b' ' | b'.'))
        ..end
}

/// Whether the name that ends at `end` is that of a variable of the environment, or stands in a
/// query or a connection string: there a bare word is a value, not the name of one.
fn is_setting(text: &[u8], floor: usize, end: usize) -> bool {
    let start = end - run_back(text, floor, end, NAME_LIMIT, is_base64url);
    !text[start..end].iter().any(u8::is_ascii_lowercase)
        || matches!(text[floor..start], [.., b';' | b'&' | b'?'])
}

fn kind_of(name: &[u8]) -> Option<Kind> {
    let n_digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let name = &name[..name.len() - n_digits];
    NAMES.iter().find(|(ending, _)| ends_with_words(name, ending)).map(|&(_, kind)| kind)
}

/// Whether `name` ends with `ending`, whatever its case and separators.
fn ends_with_words(name: &[u8], ending: &str) -> bool {
    let mut letters = name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric());
    ending.bytes().rev().all(|wanted| letters.next().is_some_and(|byte| byte.to_ascii_lowercase() == wanted))
}

fn find_value(text: &[u8], start: usize, kind: Kind, writing: Writing) -> Option<Secret> {
    let (quote, mut start) = open_quote(text, start);
    if kind == Kind::Authorization {
        let scheme = SCHEMES.iter().find(|scheme| starts_with_ignoring_case(&text[start..], scheme));
        start += scheme.map_or(0, |scheme| scheme.len());
    }
    // What is no secret as a whole may begin with one: the quote may be an apostrophe, or its
    // end on another line.
    quote
        .and_then(|quote| judge(text, start, kind, Some(quote), writing))
        .or_else(|| judge(text, start, kind, None, writing))
}

fn judge(text: &[u8], start: usize, kind: Kind, quote: Option<Quote>, writing: Writing) -> Option<Secret> {
    let end_within = |limit| match quote {
        Some(quote) => quote_end(text, start, limit, quote),
        None => Some(bare_end(text, start, limit, writing)),
    };
    let end = end_within(JUDGED)?;
    let next = text.get(end).copied();
    let value = Value { bytes: &text[start..end], next, is_quoted: quote.is_some(), writing };
    if !value::is_secret(&value, kind) {
        return None;
    }
    Some(Secret { range: start..end_within(usize::MAX)?, kind })
}

/// The quote that opens a value.
#[derive(Clone, Copy)]
struct Quote {
    byte: u8,
    /// As in JSON inside a string: `\"password\": \"x\"`.
    is_escaped: bool,
}

/// The quote at `start`, if any, and where its value begins. A literal's prefix (`b"`) is skipped.
fn open_quote(text: &[u8], start: usize) -> (Option<Quote>, usize) {
    let at =
        start + run(text, start, 3, |byte| matches!(byte, b'r' | b'b' | b'f' | b'u' | b'c' | b'@' | b'#'));
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

/// Where a value without quotes ends, or `limit` if it is longer.
fn bare_end(text: &[u8], start: usize, limit: usize, writing: Writing) -> usize {
    let end =
        start + run(text, start, limit, if writing == Writing::Loose { is_bare } else { is_tightly_bare });
    if text.get(end).is_some_and(|byte| !byte.is_ascii_whitespace()) {
        return end;
    }
    // The mark that ends the sentence or the emphasis.
    end - run_back(text, start, end, 3, |byte| matches!(byte, b'.' | b'?' | b':' | b'*'))
}

/// Where `quote` closes a value on the same line, or `limit` if it is longer.
fn quote_end(text: &[u8], start: usize, limit: usize, quote: Quote) -> Option<usize> {
    let mut at = start;
    while at - start < limit {
        match text[at.min(text.len())..] {
            [] | [b'\n', ..] => return None,
            [b'\\', next, ..] if quote.is_escaped && next == quote.byte => return Some(at),
            [b'\\', ..] => at += 2,
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
