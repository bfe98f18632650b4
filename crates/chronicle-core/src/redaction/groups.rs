//! Tokens made of groups, each of which looks like a digest, an id or a word.

use super::bytes::{contains, is_coded, is_drawn, is_lower_hex, is_uuid, n_breaks, run, run_back};
use super::entropy::{JUDGED, is_run};
use super::secret::Kind;

/// The kind of a run whose groups are those of a token, though each looks like a digest or an id.
pub(super) fn has_form(before: &[u8], run: &[u8], after: &[u8]) -> Option<Kind> {
    let (first, rest) = run.split_at(run.len().min(32));
    let is_digest = first.len() == 32 && first.iter().all(is_lower_hex);
    // Asana: `2/1200…/1200…:4f8a…`.
    let n_digits =
        run_back(before, 0, before.len(), 40, |byte| byte.is_ascii_digit() || matches!(byte, b'/' | b':'));
    let is_asana = rest.is_empty()
        && n_digits > 16
        && before.ends_with(b":")
        && before[before.len() - n_digits..].contains(&b'/');
    let hex = |part: &[u8], length: usize| part.len() == length && part.iter().all(is_lower_hex);
    let is_mailgun =
        rest.len() == 18 && rest[0] == b'-' && hex(&rest[1..9], 8) && rest[9] == b'-' && hex(&rest[10..], 8);
    let is_mailchimp = rest
        .strip_prefix(b"-us")
        .is_some_and(|n| (1..=2).contains(&n.len()) && n.iter().all(u8::is_ascii_digit));
    if is_digest && (is_asana || is_mailgun || is_mailchimp) {
        return Some(Kind::Token);
    }
    // Old tokens of Vault: `s.` and 24 letters and digits. Seeds of Stellar and of NATS: `S` and base32.
    let is_vault = run.len() == 24
        && run.iter().all(u8::is_ascii_alphanumeric)
        && before.strip_suffix(b"s.").is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric));
    let is_seed = matches!(run.len(), 56 | 58)
        && run[0] == b'S'
        && run.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'));
    if is_vault || is_seed {
        return Some(if is_seed { Kind::Secret } else { Kind::Token });
    }
    // Bitwarden: `0.` and a UUID, then a secret and a key. Others: a word, and groups joined by dots.
    let next = || if after.first() == Some(&b'.') { &after[1..1 + run_of(after, 1)] } else { &[] };
    let is_begun = before.ends_with(b"0.") && is_uuid(run) || 22 <= run.len() && 0 < n_word_before(before);
    let is_next = |next: &[u8]| 20 <= next.len() && (is_drawn(next) || is_coded(next));
    let is_token =
        is_begun && is_next(next()) || is_bot(run, after) || proxmox_len(before).is_some() && is_uuid(run);
    is_token.then_some(Kind::Token)
}

/// How long the word and the dot are that tokens of several groups begin with: `pat.`, `st.`.
fn n_word_before(before: &[u8]) -> usize {
    let Some(word) = before.strip_suffix(b".") else { return 0 };
    let n = run_back(word, 0, word.len(), 5, u8::is_ascii_lowercase);
    let begins = word[..word.len() - n].last().is_none_or(|byte| !is_run(byte) && *byte != b'.');
    if begins && (2..5).contains(&n) { n + 1 } else { 0 }
}

/// Whether `run` is a recovery key of BitLocker: eight groups of six digits, each of which 11 divides.
pub(super) fn is_recovery_key(run: &[u8]) -> bool {
    let number = |group: &[u8]| group.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    let is_group = |group: &[u8]| {
        group.len() == 6 && group.iter().all(u8::is_ascii_digit) && number(group).is_multiple_of(11)
    };
    run.len() == 55 && run.split(|byte| *byte == b'-').all(is_group)
}

/// Whether both halves of a token to join a cluster look drawn, so that no name has to say what it is.
pub(super) fn is_join_token(before: &[u8], run: &[u8], after: &[u8]) -> bool {
    let id = &before[before.len() - 7..];
    let begins = before[..before.len() - 7].last().is_none_or(|byte| !is_run(byte) && *byte != b'.');
    begins
        && after.first() != Some(&b'.')
        && id.iter().any(u8::is_ascii_digit)
        && is_coded(run)
        && !run.iter().all(is_lower_hex)
}

/// Whether a token of a bot of Discord begins with `run`: its id, a time and a signature.
pub(super) fn is_bot(run: &[u8], after: &[u8]) -> bool {
    (23..=28).contains(&run.len())
        && matches!(run[0], b'M' | b'N' | b'O')
        && after.first() == Some(&b'.')
        && run_of(after, 1) == 6
        && after.get(7) == Some(&b'.')
        && 27 <= run_of(after, 8)
}

/// How long the public half before a token to join a cluster of Kubernetes is: `abcdef.0123456789abcdef`.
pub(super) fn join_id_len(before: &[u8], run: &[u8]) -> Option<usize> {
    let is_half = |half: &[u8]| half.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let id = before.strip_suffix(b".")?;
    let id = &id[id.len().checked_sub(6)?..];
    (run.len() == 16 && is_half(run) && is_half(id)).then_some(7)
}

/// How long the user and the name are before a token of Proxmox: `root@pam!name=`.
fn proxmox_len(before: &[u8]) -> Option<usize> {
    let is_user = |byte: &u8| is_run(byte) || matches!(byte, b'.' | b'@' | b'!' | b'=');
    let n = run_back(before, 0, before.len(), 64, is_user);
    let user = &before[before.len() - n..];
    (contains(user, "@pam!") || contains(user, "@pve!")).then_some(n)
}

fn run_of(text: &[u8], at: usize) -> usize {
    run(text, at, JUDGED, is_run)
}

/// Where a secret begins whose groups are joined by signs that a run does not hold, one of which begins at `at`.
pub(super) fn start_of_groups(text: &[u8], floor: usize, at: usize) -> usize {
    match text[floor..at] {
        [.., b'0' | b's', b'.']
            if !(text[at - 2] == b's' && 2 < at - floor && text[at - 3].is_ascii_alphanumeric()) =>
        {
            at - 2
        }
        [.., b'.'] => {
            let n =
                run_back(text, floor, at - 1, 7, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            let is_join = n == 6 && run(text, at, 17, u8::is_ascii_alphanumeric) == 16;
            at - if is_join { 7 } else { n_word_before(&text[floor..at]) }
        }
        [.., b'='] => at - proxmox_len(&text[floor..at]).unwrap_or(0),
        [.., b':'] => {
            let n =
                run_back(text, floor, at, 40, |byte| byte.is_ascii_digit() || matches!(byte, b'/' | b':'));
            if 16 < n && text[at - n..at].contains(&b'/') { at - n } else { at }
        }
        _ => at,
    }
}

/// Where such a secret ends, one of whose groups ends at `at`.
pub(super) fn end_of_groups(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while text.get(end).is_some_and(|sign| matches!(sign, b'.' | b':')) {
        let group = &text[end + 1..end + 1 + run_of(text, end + 1)];
        let next = end + 1 + group.len();
        // A group between two others need not look drawn.
        let is_between = || {
            text.get(next) == Some(&text[end]) && is_drawn(&text[next + 1..next + 1 + run_of(text, next + 1)])
        };
        if group.len() < 6 || n_breaks(group) == 0 && !group.iter().all(is_lower_hex) && !is_between() {
            break;
        }
        end += 1 + group.len();
        end += run(text, end, 2, |byte| *byte == b'=');
    }
    end
}
