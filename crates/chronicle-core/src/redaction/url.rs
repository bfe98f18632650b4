//! Secrets inside a URL: passwords, signatures, and the tokens of Telegram's bots.

use super::bytes::{ends_with_ignoring_case, is_base64url, is_scrambled, n_distinct, run, run_back};
use super::context::is_bare;
use super::secret::{Kind, Secret};
use super::value::{self, JUDGED};
use super::{alphabet, tokens};

/// How the parameter is called that signs a URL.
const SIGNATURES: &[&str] =
    &["?sig", "&sig", "?signature", "&signature", "X-Amz-Signature", "X-Goog-Signature"];

/// Finds the value of a `?sig=` whose `=` stands at `at`, with which anyone may open the URL.
pub(super) fn find_signature(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if text[at] != b'=' || !SIGNATURES.iter().any(|name| ends_with_ignoring_case(&text[floor..at], name)) {
        return None;
    }
    let start = at + 1;
    let end =
        start + run(text, start, usize::MAX, |byte| is_base64url(byte) || matches!(byte, b'%' | b'+' | b'/'));
    let is_drawn = 20 <= end - start && 8 <= n_distinct(&text[start..end]);
    is_drawn.then_some(Secret { range: start..end, kind: Kind::UrlSignature })
}

/// Finds the password of a `https://user:password@host` whose first `:` stands at `at`, or the token of
/// `https://token@host`.
pub(super) fn find_password(text: &[u8], at: usize) -> Option<Secret> {
    let user = at + 3;
    if !text[at..].starts_with(b"://") {
        return None;
    }
    let start = user + run(text, user, JUDGED, is_user);
    match text.get(start) {
        Some(b':') => {
            let start = start + 1;
            let len = run(text, start, JUDGED, is_password);
            let len = text[start..start + len].iter().rposition(|&byte| byte == b'@')?;
            let password = &text[start..start + len];
            // The name may be half of a token.
            let start_of_secret = if tokens::begins_token(text, user) || is_bot(&text[user..start], password)
            {
                user
            } else {
                start
            };
            let n_port = run(password, 0, 6, u8::is_ascii_digit);
            let is_port = 0 < n_port && password.get(n_port).is_some_and(|next| b"),;]}|?#".contains(next));
            let has_host = text
                .get(start + len + 1)
                .is_some_and(|next| next.is_ascii_alphanumeric() || b"[$/".contains(next));
            (!password.is_empty() && !is_port && has_host && !value::is_placeholder(password))
                .then_some(Secret { range: start_of_secret..start + len, kind: Kind::UrlPassword })
        }
        _ => {
            let len = text[user..start].iter().rposition(|&byte| byte == b'@')?;
            let token = &text[user..user + len];
            let is_token = 20 <= len && is_scrambled(token) && !value::is_placeholder(token);
            is_token.then_some(Secret { range: user..user + len, kind: Kind::UrlPassword })
        }
    }
}

/// Finds the password of a `host:5432:database:user:password` line of `.pgpass`, the colon after whose port stands
/// at `at`.
pub(super) fn find_in_line(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let n_port = run_back(text, floor, at, 6, u8::is_ascii_digit);
    let host = at.checked_sub(n_port + 2).filter(|&host| floor <= host)?;
    let has_host = text[host + 1] == b':' && text[host].is_ascii_alphanumeric();
    if text[at] != b':' || !(4..=5).contains(&n_port) || !has_host {
        return None;
    }
    let field = |at: usize| {
        Some(at + run(text, at, 64, |byte| is_password(byte) && *byte != b':')).filter(|&end| at < end)
    };
    let colon = |at: usize| (text.get(at) == Some(&b':')).then_some(at + 1);
    let start = colon(field(colon(field(at + 1)?)?)?)?;
    let end = field(start)?;
    let password = &text[start..end];
    let ends = text.get(end).is_none_or(|next| next.is_ascii_whitespace() || b"\"'`".contains(next));
    let is_secret = 8 <= password.len() && ends && password.iter().any(u8::is_ascii_alphabetic);
    (is_secret && !value::is_placeholder(password))
        .then_some(Secret { range: start..end, kind: Kind::Password })
}

/// Finds the password of a `%2F%2Fuser%3Apassword%40host`, whose `%40` stands at `at`: a URL in a query.
pub(super) fn find_escaped_password(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if !text[at..].starts_with(b"%40") {
        return None;
    }
    let before =
        &text[at - run_back(text, floor, at, JUDGED, |byte| alphabet::credential(byte) || *byte == b'%')..at];
    let user =
        memchr::memmem::rfind(before, b"%2F%2F").or_else(|| memchr::memmem::rfind(before, b"%2f%2f"))? + 6;
    let colon = memchr::memmem::find(&before[user..], b"%3A")
        .or_else(|| memchr::memmem::find(&before[user..], b"%3a"))?;
    let password = &before[user + colon + 3..];
    (!password.is_empty() && !value::is_placeholder(password))
        .then_some(Secret { range: at - password.len()..at, kind: Kind::UrlPassword })
}

/// Whether a name and a password are the two halves of a token of Telegram.
fn is_bot(name: &[u8], password: &[u8]) -> bool {
    8 <= name.len() && name[..name.len() - 1].iter().all(u8::is_ascii_digit) && password.starts_with(b"AA")
}

/// Finds a `123456789:AA…`.
pub(super) fn find_telegram_token(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let start = at + 1;
    text[start..].starts_with(b"AA").then_some(())?;
    let n_id = run_back(text, floor, at, 11, u8::is_ascii_digit);
    let is_token = text[at] == b':' && run(text, start, 36, is_base64url) == 35 && (8..=10).contains(&n_id);
    is_token.then_some(Secret { range: at - n_id..start + 35, kind: Kind::TelegramToken })
}

/// What the password of a URL may hold where nobody escaped it.
fn is_password(byte: &u8) -> bool {
    !byte.is_ascii_whitespace() && !b"/\"'`<>\\".contains(byte)
}

fn is_user_info(byte: &u8) -> bool {
    is_bare(byte) && !matches!(byte, b'/' | b'?' | b'#')
}

fn is_user(byte: &u8) -> bool {
    is_user_info(byte) && *byte != b':'
}
