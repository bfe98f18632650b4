//! Secrets inside a URL: passwords, signatures, and the tokens of Telegram's bots.

use super::bytes::{ends_with_ignoring_case, is_base64url, n_distinct, run, run_back};
use super::context::is_bare;
use super::value::{self, JUDGED};
use super::{Kind, Secret};

/// How the parameter is called that signs a URL.
const SIGNATURES: &[&str] = &["?sig", "&sig", "?signature", "&signature", "X-Amz-Signature"];

/// Finds the secret of a URL whose `:` or `=` stands at `at`.
pub(super) fn find_at(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if text[at] == b'=' {
        return find_signature(text, floor, at);
    }
    find_password(text, floor, at).or_else(|| find_telegram_token(text, floor, at))
}

/// Finds the value of `?sig=`, with which anyone may open the URL.
fn find_signature(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if !SIGNATURES.iter().any(|name| ends_with_ignoring_case(&text[floor..at], name)) {
        return None;
    }
    let start = at + 1;
    let end =
        start + run(text, start, usize::MAX, |byte| is_base64url(byte) || matches!(byte, b'%' | b'+' | b'/'));
    let is_drawn = 20 <= end - start && 8 <= n_distinct(&text[start..end]);
    is_drawn.then_some(Secret { range: start..end, kind: Kind::UrlSignature })
}

/// Finds the password of `https://user:password@host`.
fn find_password(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let start = at + 1;
    let n_user = run_back(text, floor, at, JUDGED, is_user);
    if !text[floor..at - n_user].ends_with(b"://") {
        return None;
    }
    let len = run(text, start, JUDGED, is_user_info);
    let len = text[start..start + len].iter().rposition(|&byte| byte == b'@')?;
    let password = &text[start..start + len];
    (!password.is_empty() && !value::is_placeholder(password))
        .then_some(Secret { range: start..start + len, kind: Kind::UrlPassword })
}

/// Finds the second half of `123456789:AA…`.
fn find_telegram_token(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let start = at + 1;
    let is_token = text[start..].starts_with(b"AA")
        && run(text, start, 36, is_base64url) == 35
        && (8..=10).contains(&run_back(text, floor, at, 11, u8::is_ascii_digit));
    is_token.then_some(Secret { range: start..start + 35, kind: Kind::TelegramToken })
}

fn is_user_info(byte: &u8) -> bool {
    is_bare(byte) && !matches!(byte, b'/' | b'?' | b'#')
}

fn is_user(byte: &u8) -> bool {
    is_user_info(byte) && *byte != b':'
}
