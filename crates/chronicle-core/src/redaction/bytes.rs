//! What the rules ask about bytes.

/// Counts the bytes of `text` from `from` on that are `wanted`, at most `limit`.
///
/// The limit is what keeps a failing rule cheap: look at little, and walk to the end of a run
/// only once it is known to be a secret.
pub(super) fn run(text: &[u8], from: usize, limit: usize, wanted: impl Fn(&u8) -> bool) -> usize {
    text.get(from..).unwrap_or_default().iter().take(limit).take_while(|byte| wanted(byte)).count()
}

/// Counts the bytes of `text` before `end` that are `wanted`, not looking further back than `floor`.
pub(super) fn run_back(
    text: &[u8],
    floor: usize,
    end: usize,
    limit: usize,
    wanted: impl Fn(&u8) -> bool,
) -> usize {
    text[floor..end].iter().rev().take(limit).take_while(|byte| wanted(byte)).count()
}

/// Whether `wanted` occurs in `text`.
pub(super) fn contains(text: &[u8], wanted: &str) -> bool {
    memchr::memchr_iter(wanted.as_bytes()[0], text).any(|at| text[at..].starts_with(wanted.as_bytes()))
}

/// Whether `text` begins with `prefix`, in any case.
pub(super) fn starts_with_ignoring_case(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Whether `text` ends with `suffix`, in any case.
pub(super) fn ends_with_ignoring_case(text: &[u8], suffix: &str) -> bool {
    text.len().checked_sub(suffix.len()).is_some_and(|at| text[at..].eq_ignore_ascii_case(suffix.as_bytes()))
}

/// Counts the distinct bytes of `text`.
pub(super) fn n_distinct(text: &[u8]) -> usize {
    let mut seen = [false; 256];
    text.iter().for_each(|&byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|&&seen| seen).count()
}

/// Counts the places where a word of `text` ends inside a run of letters and digits: between
/// letters and digits, and at the humps of `camelCase` and `HTTPServer`.
///
/// Names have one about every five letters; what was drawn at random, every second.
pub(super) fn n_breaks(text: &[u8]) -> usize {
    let (mut n, mut before) = (0, NO_CLASS);
    for &byte in text {
        // What counts is the class of each byte and of the two before it.
        before = (before << 2 | CLASSES[usize::from(byte)]) & 0b11_11_11;
        n += usize::from(BREAKS[usize::from(before)]);
    }
    n
}

const NO_CLASS: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 3;

static CLASSES: [u8; 256] = {
    let mut table = [NO_CLASS; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            _ => NO_CLASS,
        };
        byte += 1;
    }
    table
};

/// Whether a word ends before the last of three bytes, for each three classes.
static BREAKS: [bool; 64] = {
    let mut table = [false; 64];
    let mut n = 0_u8;
    while n < 64 {
        let (first, before, after) = (n >> 4, n >> 2 & 3, n & 3);
        table[n as usize] = match (before, after) {
            (LOWER, UPPER) | (LOWER | UPPER, DIGIT) | (DIGIT, LOWER | UPPER) => true,
            (UPPER, LOWER) => first == UPPER,
            _ => false,
        };
        n += 1;
    }
    table
};

/// Whether `text` changes between letters, digits and cases too often to be made of words.
pub(super) fn is_scrambled(text: &[u8]) -> bool {
    8 <= text.len() && text.len() <= n_breaks(text) * 4
}

/// Whether the letters and digits of `text` change too often to be made of words, whatever signs stand between them.
pub(super) fn is_drawn(text: &[u8]) -> bool {
    let parts = text.split(|byte| !byte.is_ascii_alphanumeric());
    let (n_bytes, breaks) = parts.fold((0, 0), |(n, breaks), part| (n + part.len(), breaks + n_breaks(part)));
    8 <= n_bytes && n_bytes <= breaks * 4 && text.iter().any(u8::is_ascii_digit)
}

/// Whether `text` is one long run of letters of one case with digits all over it, as base32 has.
pub(super) fn is_coded(text: &[u8]) -> bool {
    let n_numbers = || {
        text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
            .filter(|part| part[0].is_ascii_digit())
            .count()
    };
    16 <= text.len()
        && text.iter().all(u8::is_ascii_alphanumeric)
        && text.iter().any(u8::is_ascii_alphabetic)
        && 3 <= n_numbers()
}

/// Whether `text` has no digits, and changes between cases too often to be made of words.
pub(super) fn is_drawn_of_letters(text: &[u8]) -> bool {
    16 <= text.len() && text.len() <= n_breaks(text) * 3
}

pub(super) fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_base64url(byte: &u8) -> bool {
    is_word(byte) || *byte == b'-'
}

pub(super) fn is_lower_hex(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Whether `text` is a UUID, in any case.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && [8, 13, 18, 23].iter().all(|&at| text[at] == b'-')
        // A sum without branches, since most runs of transcripts are UUIDs.
        && text.iter().fold(0, |n, byte| n + u8::from(byte.is_ascii_hexdigit())) == 32
}
