//! Finds tokens by their form.

use super::bytes::{is_base64url, is_scrambled, is_word, n_distinct, run, run_back};
use super::pairs::rarest_pair;
use super::secret::{Kind, Secret};
use super::shapes::{ANY, SHAPES, Shape};
use super::{alphabet, lines};

/// How much of a body is judged. Longer ones are secrets or not by their beginning.
const JUDGED: usize = 64;

/// Finds the token at `at` if it has the form of `shape`.
pub(super) fn find_at(text: &[u8], floor: usize, at: usize, shape: &Shape) -> Option<Secret> {
    let prefix = shape.prefix.as_bytes();
    let begins = text.get(at) == Some(&prefix[0])
        && text.get(at + prefix.len() - 1) == prefix.last()
        && text[at..].starts_with(prefix)
        && begins_word(text, floor, at);
    let secret = begins.then(|| fit(shape, text, at))??;
    let start = if shape.kind == Kind::Webhook { host_start(text, floor, at) } else { at };
    Some(Secret { range: start..secret.range.end, kind: secret.kind })
}

fn fit(shape: &Shape, text: &[u8], at: usize) -> Option<Secret> {
    let start = at + shape.prefix.len();
    let judged = &text[start..start + run(text, start, shape.min.max(JUDGED), shape.body)];
    if judged.len() < shape.min {
        return fit_wrapped(shape, text, at, start + judged.len());
    }
    if !is_drawn(judged, shape.is_strict) {
        return None;
    }
    let end = start + run(text, start, shape.max, shape.body);
    if shape.max != ANY
        && text.get(end).is_some_and(|next| is_word(next) || (shape.body)(next) && *next != b'.')
    {
        return None;
    }
    let end = end - text[start..end].iter().rev().take_while(|&&byte| byte == b'.').count();
    Some(Secret { range: at..end, kind: shape.kind })
}

/// [`fit`] for a token that goes on in the next line after `end`.
fn fit_wrapped(shape: &Shape, text: &[u8], at: usize, end: usize) -> Option<Secret> {
    text.get(end).filter(|next| b"\n\r\\\"'= ".contains(next))?;
    let whole =
        lines::unwrapped(text, at).filter(|whole| shape.prefix.len() + shape.min <= whole.bytes.len())?;
    let secret = fit(shape, &whole.bytes, 0)?;
    Some(Secret { range: at..whole.place(secret.range.end), kind: secret.kind })
}

/// Finds the address of a webhook after the `://` at `at` that is broken over lines.
pub(super) fn find_wrapped_webhook(text: &[u8], at: usize) -> Option<Secret> {
    let whole = lines::unwrapped(text, at)?;
    SHAPES.iter().filter(|shape| shape.kind == Kind::Webhook).find_map(|shape| {
        let start = memchr::memmem::find(&whole.bytes, shape.prefix.as_bytes())?;
        let secret = fit(shape, &whole.bytes, start)?;
        Some(Secret { range: at + "://".len()..whole.place(secret.range.end), kind: secret.kind })
    })
}

/// The beginning of the host that an address of a webhook was found in the middle of, at `at`.
fn host_start(text: &[u8], floor: usize, at: usize) -> usize {
    let n = run_back(text, floor, at, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    // In a query the signs before it are escaped: `%2F`.
    if text[floor..at - n].ends_with(b"%") { at - n.saturating_sub(2) } else { at - n }
}

fn is_drawn(judged: &[u8], is_strict: bool) -> bool {
    8 <= n_distinct(judged)
        && judged.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && (!is_strict || is_scrambled(judged) && judged.iter().any(u8::is_ascii_digit))
}

/// The schemes of credentials, which stay.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic "];

/// Finds the credential behind the scheme at `at`.
///
/// A scheme is also an English word, so what follows has to be no word.
pub(super) fn find_credential(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let scheme = SCHEMES.iter().find(|scheme| text[at..].starts_with(scheme.as_bytes()))?;
    let start = at + scheme.len();
    let judged = &text[start..start + run(text, start, JUDGED, alphabet::credential)];
    let is_drawn = 8 <= n_distinct(judged) && judged.iter().any(u8::is_ascii_digit);
    if judged.len() < 12 + 4 * usize::from(scheme.len() == 7) || !is_drawn || !begins_word(text, floor, at) {
        return None;
    }
    let end = start + run(text, start, ANY, alphabet::credential);
    let end = end - text[start..end].iter().rev().take_while(|&&byte| byte == b'.').count();
    Some(Secret { range: start..end, kind: Kind::Authorization })
}

/// Whether a token may begin at `at`: not inside a word, but after an escape (`\n`, `%3D`).
fn begins_word(text: &[u8], floor: usize, at: usize) -> bool {
    match &text[floor..at] {
        [.., b'\\', b'n' | b'r' | b't'] | [.., b'%', _, _] => true,
        [.., before] => !is_word(before),
        [] => true,
    }
}

/// A token that is known by what stands inside it.
pub(super) struct Infix {
    pub(super) infix: &'static str,
    before: fn(&u8) -> bool,
    n_before: usize,
    after: fn(&u8) -> bool,
    n_after: usize,
}

pub(super) const INFIXES: &[Infix] = &[
    // Terraform Cloud
    Infix {
        infix: ".atlasv",
        before: u8::is_ascii_alphanumeric,
        n_before: 14,
        after: alphabet::dotted,
        n_after: 16,
    },
    // Azure AD
    Infix { infix: "Q~", before: alphabet::azure, n_before: 4, after: alphabet::azure, n_after: 31 },
    // MaxMind
    Infix { infix: "_mmk", before: is_word, n_before: 36, after: is_word, n_after: 0 },
];

/// Finds the token around the infix that the byte at `near` belongs to.
pub(super) fn find_around(text: &[u8], floor: usize, near: usize) -> Option<Secret> {
    let (infix, at) = INFIXES.iter().find_map(|infix| {
        let at = near.checked_sub(rarest_pair(infix.infix.as_bytes())).filter(|&at| floor <= at)?;
        text[at..].starts_with(infix.infix.as_bytes()).then_some((infix, at))
    })?;
    let start = at - run_back(text, floor, at, infix.n_before, infix.before);
    let after = at + infix.infix.len();
    if infix.n_before != at - start || !begins_word(text, floor, start) {
        return None;
    }
    let judged = after + run(text, after, infix.n_after, infix.after);
    if judged - after < infix.n_after {
        text.get(judged).filter(|next| b"\n\r\\\"'= ".contains(next))?;
        let whole = lines::unwrapped(text, start)?;
        let secret = find_around(&whole.bytes, 0, near - start).filter(|secret| secret.range.start == 0)?;
        return Some(Secret { range: start..whole.place(secret.range.end), kind: secret.kind });
    }
    (8 <= n_distinct(&text[start..judged])).then_some(())?;
    let end = after + run(text, after, ANY, infix.after);
    let end = end - text[after..end].iter().rev().take_while(|&&byte| byte == b'.').count();
    Some(Secret { range: start..end, kind: Kind::Token })
}

/// A header and a payload in base64url, then a signature. An encrypted token has five parts.
pub(super) fn find_jwt(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    // Unlike other tokens it may not begin after a dash, or a run full of `-eyJ` would be
    // walked again from each.
    let begins = begins_word(text, floor, at) && (at == floor || text[at - 1] != b'-');
    if !begins || !text[at..].starts_with(b"eyJ") {
        return None;
    }
    let end = jwt_end(text, at).or_else(|| {
        let whole = lines::unwrapped(text, at)?;
        Some(whole.place(jwt_end(&whole.bytes, 0)?))
    });
    end.map(|end| Secret { range: at..end, kind: Kind::Jwt })
}

fn jwt_end(text: &[u8], at: usize) -> Option<usize> {
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
    (12 <= header_len && is_token).then_some(end)
}

/// Whether a token begins at `at` whose form says more than a name would.
pub(super) fn begins_token(text: &[u8], at: usize) -> bool {
    find_jwt(text, at, at).is_some() || SHAPES.iter().any(|shape| find_at(text, at, at, shape).is_some())
}
