//! Secrets of several words: the words of a wallet, the groups of recovery codes and of passwords for applications.

use std::ops::RangeInclusive;

use super::bytes::{contains, is_base64url, run};
use super::names::Name;
use super::passphrase::is_prose;
use super::secret::Kind;

/// Where the words of a wallet end that begin at `start`, or the four groups of an application's password.
pub(super) fn end_of(text: &[u8], start: usize, name: Name) -> Option<usize> {
    let of_four = match name.kind {
        Kind::Password => words(text, start, 4..=4, 4)
            .filter(|(end, n_words)| *n_words == 4 && !has_more(text, *end))
            .or_else(|| words_of_password(text, start)),
        Kind::Secret => None,
        _ => return None,
    };
    words_end(text, start).or(of_four.map(|(end, _)| end)).or_else(|| codes_end(text, start))
}

/// Where the words of a wallet end that begin at `start`.
pub(super) fn words_end(text: &[u8], start: usize) -> Option<usize> {
    words(text, start, 3..=8, 24).filter(|(_, n_words)| 12 <= *n_words).map(|(end, _)| end)
}

/// Where five words and more end that a sentence ends with, and none of which messages about passwords hold.
pub(super) fn words_of_password(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let (end, n_words) = words(text, start, 3..=8, 12)?;
    let has_prose = || text[start..end].split(|byte| *byte == b' ').any(is_prose);
    (5 <= n_words && !has_more(text, end) && !has_prose()).then_some((end, n_words))
}

fn has_more(text: &[u8], end: usize) -> bool {
    text.get(end) == Some(&b' ') && text.get(end + 1).is_some_and(u8::is_ascii_alphabetic)
}

/// Where words of such a `length` end that begin at `start`, and how many they are.
fn words(text: &[u8], start: usize, length: RangeInclusive<usize>, most: usize) -> Option<(usize, usize)> {
    let (mut end, mut n_words) = (start, 0);
    while n_words < most {
        let at = end + usize::from(0 < n_words);
        let n = run(text, at, 9, u8::is_ascii_lowercase);
        let is_next = n_words == 0 || text.get(end) == Some(&b' ');
        if !is_next || !length.contains(&n) || text.get(at + n).is_some_and(is_base64url) {
            break;
        }
        (end, n_words) = (at + n, n_words + 1);
    }
    (0 < n_words).then_some((end, n_words))
}

/// Where the groups of a recovery code end: `5886 9728`, `f4c06-92f23`.
fn codes_end(text: &[u8], start: usize) -> Option<usize> {
    let before = text[start.saturating_sub(24)..start].to_ascii_lowercase();
    let n_first = run(text, start, 7, u8::is_ascii_alphanumeric);
    if !contains(&before, "code") || !(4..=6).contains(&n_first) {
        return None;
    }
    let mut end = start + n_first;
    while matches!(text.get(end), Some(b' ' | b'-'))
        && run(text, end + 1, 7, u8::is_ascii_alphanumeric) == n_first
    {
        end += 1 + n_first;
    }
    let code = &text[start..end];
    (n_first < code.len() && code.iter().any(u8::is_ascii_digit)).then_some(end)
}
