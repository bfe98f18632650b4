//! Long runs that look drawn at random, whoever issued them.
//!
//! Shannon entropy alone cannot tell a key from a long identifier: over forty characters both
//! reach four bits. What tells them apart is how often letters, digits and cases alternate
//! (`n_breaks`), so that is asked first and entropy only sorts out repetitions.

use std::ops::Range;

use super::bytes::{contains, ends_with_ignoring_case, is_base64url, is_lower_hex, n_breaks, run, run_back};
use super::{Kind, Secret};

/// Shorter runs are too often identifiers, versions and the ids of other systems.
const MIN_RUN: usize = 32;

/// How much of a run must be scrambled, whatever words and digests surround it.
const MIN_SCRAMBLED: usize = 24;

/// In bits for each byte. Random base64 has 4.5 over 32 bytes, a repeated pattern below 3.5.
const MIN_ENTROPY: f64 = 3.7;

/// How far before a run its meaning may stand, such as the `https://` of its path.
const LOOK_BACK: usize = 256;

/// How much of a run is judged: a key is random from its beginning, and blobs are long.
const JUDGED: usize = 1024;

/// How values begin that are random but public: digests, and the ids of agents' calls.
const PUBLIC_PREFIXES: &[&str] = &[
    "call_",
    "chatcmpl-",
    "fc_",
    "md5-",
    "msg_",
    "req_",
    "resp_",
    "rs_",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "srvtoolu_",
    "toolu_",
];

/// How the linker's names of C++ and Rust begin, which backtraces are full of.
const SYMBOL_PREFIXES: &[&str] = &["_ZN", "_ZS", "_ZT", "_RNv", "_RIN"];

/// How the base64 of PNG, JPEG, GIF and WebP begins.
const IMAGE_PREFIXES: &[&str] = &["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];

/// What stands before such values: digests, our sketches, `go.sum`, images.
const PUBLIC_LABELS: &[&str] = &[
    "md5:", "sha1:", "sha256:", "sha384:", "sha512:", "sha256=", "sha384=", "sha512=", "h1:", "\"1:", " 1:",
    "base64,",
];

/// Adds the random runs of `text` that lie in `range`, as if the text ended there.
pub(super) fn find_in(text: &[u8], range: Range<usize>, secrets: &mut Vec<Secret>) {
    let (mut floor, mut start) = (range.start, range.start);
    // A window is walked from its end: the last byte that no run can cross rules out every run
    // that begins before it, so most of a text is never looked at.
    while start + MIN_RUN <= range.end {
        let n_tail = run_back(text, start, start + MIN_RUN, MIN_RUN, is_run);
        if n_tail < MIN_RUN {
            start += MIN_RUN - n_tail;
            continue;
        }
        let end = start + run(&text[..range.end], start, usize::MAX, is_run);
        let padded = end + run(&text[..range.end], end, 2, |byte| *byte == b'=');
        let begin = start + escape_len(&text[floor..start], &text[start..end]);
        if is_random(&text[begin..end]) && !is_public(&text[floor..begin], &text[begin..end]) {
            secrets.push(Secret { range: begin..padded, kind: Kind::HighEntropy });
            floor = padded;
        }
        start = padded;
    }
}

/// Whether most of `run` is neither words, nor a digest, nor an id.
fn is_random(run: &[u8]) -> bool {
    let run = &run[..run.len().min(JUDGED)];
    let scrambled: Vec<&[u8]> = run
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty() && !is_hex(part) && !is_single_case_id(part))
        .collect();
    let n_bytes: usize = scrambled.iter().map(|part| part.len()).sum();
    let breaks: usize = scrambled.iter().map(|part| n_breaks(part)).sum();
    let n_numbers: usize = scrambled.iter().map(|part| n_numbers(part)).sum();
    MIN_SCRAMBLED <= n_bytes && n_bytes <= breaks * 4 && 2 <= n_numbers && MIN_ENTROPY <= entropy(run)
}

/// Whether what stands `before` a run, or its beginning, says that it is no secret.
fn is_public(before: &[u8], run: &[u8]) -> bool {
    PUBLIC_PREFIXES
        .iter()
        .chain(SYMBOL_PREFIXES)
        .chain(IMAGE_PREFIXES)
        .any(|prefix| run.starts_with(prefix.as_bytes()))
        || PUBLIC_LABELS.iter().any(|label| ends_with_ignoring_case(before, label))
        || is_in_url_path(before)
}

/// Whether `before` ends inside a URL, in front of any `?` or `#`.
fn is_in_url_path(before: &[u8]) -> bool {
    let n_url = run_back(before, 0, before.len(), LOOK_BACK, |byte| {
        byte.is_ascii_graphic()
            && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'`')
    });
    let url = &before[before.len() - n_url..];
    contains(url, "://") && !url.iter().any(|byte| matches!(byte, b'?' | b'#'))
}

/// Digests, abbreviated or not, and the parts of UUIDs.
fn is_hex(part: &[u8]) -> bool {
    part.iter().all(is_lower_hex)
        || part.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'A'..=b'F'))
}

/// ULIDs, type ids and our own handles: 26 characters of base32.
fn is_single_case_id(part: &[u8]) -> bool {
    part.len() == 26 && (!part.iter().any(u8::is_ascii_lowercase) || !part.iter().any(u8::is_ascii_uppercase))
}

/// How many bytes at the start of a run belong to an escape (`\n`, `%2F`), a number (`0x`) or a
/// URL (`//`).
fn escape_len(before: &[u8], run: &[u8]) -> usize {
    match (before.last(), run) {
        (Some(b'\\'), [b'n' | b'r' | b't', ..]) => 1,
        (Some(b'%'), _) | (_, [b'0', b'x', ..] | [b'/', b'/', ..]) => 2,
        _ => 0,
    }
}

fn n_numbers(part: &[u8]) -> usize {
    part.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .filter(|chunk| chunk[0].is_ascii_digit())
        .count()
}

fn entropy(run: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    run.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let total = f64::from(counts.iter().sum::<u32>());
    counts
        .iter()
        .filter(|&&count| 0 < count)
        .map(|&count| f64::from(count) / total)
        .map(|p| -p * libm::log2(p))
        .sum()
}

fn is_run(byte: &u8) -> bool {
    is_base64url(byte) || matches!(byte, b'+' | b'/')
}
