//! Secrets that their issuer made easy to recognise.
//!
//! The table follows the issuers' documents and the rules of public scanners. A shape may be
//! looser than the document where issuers have changed lengths before.

use super::bytes::{is_base64url, is_blank, is_lower_hex, is_word, n_distinct, run};
use super::{Kind, Secret};

/// A fixed beginning, and what follows it.
struct Shape {
    kind: Kind,
    prefix: &'static str,
    body: fn(&u8) -> bool,
    min: usize,
    max: usize,
}

const fn shape(kind: Kind, prefix: &'static str, body: fn(&u8) -> bool, min: usize, max: usize) -> Shape {
    Shape { kind, prefix, body, min, max }
}

const ANY: usize = usize::MAX;

/// The first that fits wins, so `sk-ant-` stands before `sk-`.
const SHAPES: &[Shape] = &[
    shape(Kind::AwsAccessKey, "AKIA", is_upper_alphanumeric, 16, 16),
    shape(Kind::AwsAccessKey, "ASIA", is_upper_alphanumeric, 16, 16),
    shape(Kind::GithubToken, "ghp_", u8::is_ascii_alphanumeric, 36, ANY),
    shape(Kind::GithubToken, "gho_", u8::is_ascii_alphanumeric, 36, ANY),
    shape(Kind::GithubToken, "ghu_", u8::is_ascii_alphanumeric, 36, ANY),
    shape(Kind::GithubToken, "ghs_", is_dotted_base64url, 36, ANY),
    shape(Kind::GithubToken, "ghr_", u8::is_ascii_alphanumeric, 36, ANY),
    shape(Kind::GithubToken, "github_pat_", is_word, 40, ANY),
    shape(Kind::GitlabToken, "glpat-", is_dotted_base64url, 20, ANY),
    shape(Kind::GitlabToken, "gldt-", is_dotted_base64url, 20, ANY),
    shape(Kind::GitlabToken, "glrt-", is_dotted_base64url, 20, ANY),
    shape(Kind::GitlabToken, "glptt-", is_dotted_base64url, 20, ANY),
    shape(Kind::GitlabToken, "glcbt-", is_dotted_base64url, 20, ANY),
    shape(Kind::SlackToken, "xoxa-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxb-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxc-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxd-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxe-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxe.xox", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxp-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxr-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xoxs-", is_slack, 10, ANY),
    shape(Kind::SlackToken, "xapp-", is_slack, 10, ANY),
    shape(Kind::Webhook, "hooks.slack.com/services/", is_path, 20, ANY),
    shape(Kind::Webhook, "hooks.slack.com/workflows/", is_path, 20, ANY),
    shape(Kind::Webhook, "discord.com/api/webhooks/", is_path, 40, ANY),
    shape(Kind::Webhook, "discordapp.com/api/webhooks/", is_path, 40, ANY),
    shape(Kind::AnthropicKey, "sk-ant-", is_base64url, 20, ANY),
    shape(Kind::OpenaiKey, "sk-proj-", is_base64url, 20, ANY),
    shape(Kind::OpenaiKey, "sk-svcacct-", is_base64url, 20, ANY),
    shape(Kind::OpenaiKey, "sk-admin-", is_base64url, 20, ANY),
    shape(Kind::OpenaiKey, "sk-or-v1-", is_lower_hex, 64, ANY),
    shape(Kind::OpenaiKey, "sk-", u8::is_ascii_alphanumeric, 32, ANY),
    shape(Kind::GoogleKey, "AIza", is_base64url, 35, ANY),
    shape(Kind::GoogleKey, "GOCSPX-", is_base64url, 28, ANY),
    shape(Kind::GoogleKey, "ya29.", is_dotted_base64url, 20, ANY),
    shape(Kind::StripeKey, "sk_live_", is_word, 16, ANY),
    shape(Kind::StripeKey, "rk_live_", is_word, 16, ANY),
    shape(Kind::StripeKey, "sk_test_", is_word, 16, ANY),
    shape(Kind::StripeKey, "rk_test_", is_word, 16, ANY),
    shape(Kind::StripeKey, "whsec_", is_word, 24, ANY),
    shape(Kind::NpmToken, "npm_", u8::is_ascii_alphanumeric, 36, ANY),
    shape(Kind::PypiToken, "pypi-AgEI", is_base64url, 50, ANY),
    shape(Kind::CratesIoToken, "cio", u8::is_ascii_alphanumeric, 32, 32),
    shape(Kind::HuggingFaceToken, "hf_", u8::is_ascii_alphanumeric, 30, ANY),
    shape(Kind::DigitalOceanToken, "dop_v1_", is_lower_hex, 64, ANY),
    shape(Kind::DigitalOceanToken, "doo_v1_", is_lower_hex, 64, ANY),
    shape(Kind::DigitalOceanToken, "dor_v1_", is_lower_hex, 64, ANY),
    shape(Kind::SendgridKey, "SG.", is_dotted_base64url, 60, ANY),
    shape(Kind::TwilioKey, "SK", is_lower_hex, 32, 32),
    shape(Kind::AgeSecretKey, "AGE-SECRET-KEY-1", is_upper_alphanumeric, 50, ANY),
    shape(Kind::Authorization, "Bearer ", is_credential, 16, ANY),
    shape(Kind::Authorization, "bearer ", is_credential, 16, ANY),
    shape(Kind::Authorization, "Basic ", is_credential, 12, ANY),
];

/// Bit `n` is set where shape `n` has this byte first or second. The high bits stand for what
/// the table does not hold: a name before `:` or `=`, two dashes, and the `ey` of a JWT.
const FIRST: [u64; 256] = {
    let mut bits = shapes_with_byte_at(0);
    bits[b':' as usize] = ASSIGNMENT;
    bits[b'=' as usize] = ASSIGNMENT;
    bits[b'-' as usize] = DASHES;
    bits[b'e' as usize] = JWT;
    bits
};

const SECOND: [u64; 256] = {
    let mut bits = shapes_with_byte_at(1);
    let mut byte = 0;
    while byte < bits.len() {
        bits[byte] |= ASSIGNMENT;
        byte += 1;
    }
    bits[b'-' as usize] |= DASHES;
    bits[b'y' as usize] |= JWT;
    bits
};

const ASSIGNMENT: u64 = 1 << 63;
const DASHES: u64 = 1 << 62;
const JWT: u64 = 1 << 61;
const _: () = assert!(SHAPES.len() <= 61, "the table has outgrown its bits");

const fn shapes_with_byte_at(at: usize) -> [u64; 256] {
    let mut bits = [0; 256];
    let mut n = 0;
    while n < SHAPES.len() {
        bits[SHAPES[n].prefix.as_bytes()[at] as usize] |= 1 << n;
        n += 1;
    }
    bits
}

/// The prefilter of all that is known by shape or name: whether any rule may begin with these bytes.
pub(super) fn may_begin(first: u8, second: u8) -> bool {
    FIRST[usize::from(first)] & SECOND[usize::from(second)] != 0
}

/// How much of a body is judged. Longer ones are secrets or not by their beginning.
const JUDGED: usize = 64;

/// Finds the secret that begins at `at`.
pub(super) fn find_at(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let mut candidates = FIRST[usize::from(text[at])] & SECOND[usize::from(*text.get(at + 1)?)];
    if candidates == 0 || !begins_word(text, floor, at) {
        return None;
    }
    while candidates != 0 {
        let shape = &SHAPES[candidates.trailing_zeros() as usize];
        if let Some(secret) = fit(shape, text, at) {
            return Some(secret);
        }
        candidates &= candidates - 1;
    }
    None
}

fn fit(shape: &Shape, text: &[u8], at: usize) -> Option<Secret> {
    if !text[at..].starts_with(shape.prefix.as_bytes()) {
        return None;
    }
    let start = at + shape.prefix.len();
    let judged = &text[start..start + run(text, start, shape.min.max(JUDGED), shape.body)];
    // A scheme is also an English word, so what follows has to be no word.
    let keeps_prefix = shape.kind == Kind::Authorization;
    let is_drawn = n_distinct(judged) >= 8
        && judged.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !keeps_prefix);
    let overruns =
        shape.max < judged.len() || shape.max != ANY && text.get(start + shape.max).is_some_and(is_word);
    if judged.len() < shape.min || overruns || !is_drawn {
        return None;
    }
    let end = start + run(text, start, shape.max, shape.body);
    let end = end - text[start..end].iter().rev().take_while(|&&byte| byte == b'.').count();
    Some(Secret { range: if keeps_prefix { start } else { at }..end, kind: shape.kind })
}

/// Whether a token may begin at `at`: not inside a word, but after an escape (`\n`, `%3D`).
fn begins_word(text: &[u8], floor: usize, at: usize) -> bool {
    match &text[floor..at] {
        [.., b'\\', b'n' | b'r' | b't'] | [.., b'%', _, _] => true,
        [.., before] => !is_word(before),
        [] => true,
    }
}

/// A header and a payload in base64url, then a signature. An encrypted token has five parts.
pub(super) fn find_jwt(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    // Unlike other tokens it may not begin after a dash, or a run full of `-eyJ` would be
    // walked again from each.
    let begins = begins_word(text, floor, at) && (at == floor || text[at - 1] != b'-');
    if !begins || !text[at..].starts_with(b"eyJ") {
        return None;
    }
    let mut end = at + run(text, at, ANY, is_base64url);
    let header_len = end - at;
    let mut part_lens = Vec::new();
    while text.get(end) == Some(&b'.') && part_lens.len() < 4 {
        let len = run(text, end + 1, ANY, is_base64url);
        if len == 0 {
            break;
        }
        part_lens.push(len);
        end += 1 + len;
    }
    let has_payload = text[at + header_len..].starts_with(b".eyJ");
    let is_token = match part_lens.as_slice() {
        [payload] => has_payload && 10 <= *payload,
        [payload, signature, ..] => 10 <= *payload && (has_payload || 10 <= *signature),
        [] => false,
    };
    (12 <= header_len && is_token).then_some(Secret { range: at..end, kind: Kind::Jwt })
}

/// Finds the private key whose `-----BEGIN` stands at `at`, whole or cut off.
///
/// The marker alone stays, since code that reads keys mentions it.
pub(super) fn find_private_key(text: &[u8], at: usize) -> Option<Secret> {
    let label = text[at..].strip_prefix(b"-----BEGIN ")?;
    let label_len = run(label, 0, 40, |byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9'));
    let (label, after) = label.split_at(label_len);
    if !after.starts_with(b"-----")
        || !label.ends_with(b"PRIVATE KEY") && !label.ends_with(b"PRIVATE KEY BLOCK")
    {
        return None;
    }
    let mut end = text.len() - after.len() + 5;
    let (mut n_headers, mut has_body) = (0, false);
    loop {
        let start = end + run(text, end, 32, is_line_break);
        // An escaped line break (`\n` in JSON) leaves a letter at the front of the line.
        let start = start
            + usize::from(text[..start].ends_with(b"\\") && matches!(text.get(start), Some(b'n' | b'r')));
        let n_body = run(text, start, ANY, is_base64);
        if text[start..].starts_with(b"-----END ") {
            end = start
                + run(text, start, 60, |byte| *byte == b'-' || *byte == b' ' || byte.is_ascii_alphanumeric());
            break;
        } else if text[start..].starts_with(b"\\") {
            end = start + 1;
        } else if is_pem_header(&text[start..]) && n_headers < 8 {
            n_headers += 1;
            end = start + run(text, start, 80, |byte| !matches!(byte, b'\n' | b'\\'));
        } else if 16 <= n_body || has_body && 0 < n_body && ends_line(text, start + n_body) {
            has_body = true;
            end = start + n_body;
        } else {
            break;
        }
    }
    has_body.then_some(Secret { range: at..end, kind: Kind::PrivateKey })
}

fn is_pem_header(line: &[u8]) -> bool {
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"].iter().any(|name| line.starts_with(name.as_bytes()))
}

fn ends_line(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`'))
}

/// Line breaks, and what quoting, comments and diffs put around them.
fn is_line_break(byte: &u8) -> bool {
    is_blank(byte) || matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b',' | b'#' | b'*' | b'>' | b'|')
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_dotted_base64url(byte: &u8) -> bool {
    is_base64url(byte) || *byte == b'.'
}

fn is_upper_alphanumeric(byte: &u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_slack(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=')
}

fn is_path(byte: &u8) -> bool {
    is_base64url(byte) || *byte == b'/'
}

fn is_credential(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}
