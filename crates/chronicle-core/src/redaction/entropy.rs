//! Long runs that look drawn at random, whoever issued them.
//!
//! Shannon entropy alone cannot tell a key from a long identifier: over forty characters both
//! reach four bits. What tells them apart is how often letters, digits and cases alternate
//! (`n_breaks`), so that is asked first and entropy only sorts out repetitions.

use std::ops::Range;

use super::bytes::{
    contains, ends_with_ignoring_case, is_coded, is_drawn_of_letters, is_lower_hex, is_scrambled, is_uuid,
    n_breaks, run, run_back,
};
use super::names::Name;
use super::secret::{Kind, Secret};
use super::{above, clause, groups, lines, names};

/// Shorter runs are too often identifiers, versions and the ids of other systems.
const MIN_RUN: usize = 32;

/// A run with a telling name before it may be shorter.
const MIN_NAMED: usize = 16;

/// How far before a run its name may begin.
const LONGEST_NAME: usize = 48;

/// What may stand between a name and its value.
const VERBS: &[&str] = &[" is", " was", " to", " value", "'s"];

/// How much of a run must be scrambled, whatever words and digests surround it.
const MIN_SCRAMBLED: usize = 24;

/// In bits for each byte. Random base64 has 4.5 over 32 bytes, a repeated pattern below 3.5.
const MIN_ENTROPY: f64 = 3.7;

/// How far before a run its meaning may stand, such as the `https://` of its path.
const LOOK_BACK: usize = 256;

/// How much of a run is judged: a key is random from its beginning, and blobs are long.
pub(super) const JUDGED: usize = 1024;

/// How values begin that are random but public: digests, and the ids of agents' calls.
const PUBLIC_PREFIXES: &[&str] = &[
    "/nix/store/",
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
    "age1",
    "agent_",
    "asst_",
    "call_",
    "chatcmpl-",
    "fc_",
    "md5-",
    "msg_",
    "npub1",
    "prt_",
    "req_",
    "resp_",
    "rs_",
    "ses_",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "srvtoolu_",
    "thread_",
    "toolu_",
];

/// How the linker's names of C++ and Rust begin, which backtraces are full of.
const SYMBOL_PREFIXES: &[&str] = &["_ZN", "_ZS", "_ZT", "_RNv", "_RIN"];

/// How the base64 of PNG, JPEG, GIF and WebP begins.
const IMAGE_PREFIXES: &[&str] = &["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];

/// What stands before such values: digests, our sketches, `go.sum`, images.
const PUBLIC_LABELS: &[&str] = &[
    "sha-256=",
    "sha-512=",
    "publickey = ",
    "public key: ",
    "public_key = ",
    "sha1 = \"",
    "sha256 = \"",
    "sha512 = \"",
    "hash = \"",
    "md5:",
    "sha1:",
    "sha256:",
    "sha384:",
    "sha512:",
    "sha256=",
    "sha384=",
    "sha512=",
    "h1:",
    "\"1:",
    " 1:",
    "base64,",
];

/// Adds the random runs of `text` that lie in `range`, as if the text ended there.
pub(super) fn find_in(text: &[u8], range: Range<usize>, secrets: &mut Vec<Secret>) {
    let (mut floor, mut start) = (range.start, range.start);
    while let Some(found) = next_run(text, start..range.end) {
        start = found.start;
        let end = found.end + run(&text[..range.end], found.end, usize::MAX, is_run);
        let padded = end + run(&text[..range.end], end, 2, |byte| *byte == b'=');
        let begin = start + escape_len(&text[floor..start], &text[start..end]);
        let (before, run) = (&text[floor..begin], &text[begin..end]);
        start = padded;
        // What is drawn has digits; most names and paths have not, and are told apart soonest so.
        let may_be_drawn = run.iter().any(u8::is_ascii_digit) || is_drawn_without_digits(run);
        if !may_be_drawn {
            continue;
        }
        let kind = kind_of(before, run, &text[padded..range.end]);
        // A line above may name it, and hold its first piece.
        let above = above::named(&text[..range.end], floor, &(begin..padded));
        if let Some(kind) = kind.or(above.map(|(_, kind)| kind)) {
            let first = groups::start_of_groups(text, floor, begin);
            let mut secret = Secret {
                range: above.map_or(first, |(above, _)| above.min(first))
                    ..groups::end_of_groups(text, padded),
                kind,
            };
            secret.range.end = lines::end_of(text, &secret).min(range.end);
            floor = secret.range.end;
            start = start.max(floor);
            secrets.push(secret);
        }
    }
}

/// Whether `run`, which has no digits, is short and changes between cases too often to be made of words.
fn is_drawn_without_digits(run: &[u8]) -> bool {
    // No case changes more often than there are capitals.
    let n_capitals = || run.iter().map(|byte| u8::from(byte.is_ascii_uppercase())).sum::<u8>();
    run.len() <= 64 && run.len() <= usize::from(n_capitals()) * 3 && is_drawn_of_letters(run)
}

fn kind_of(before: &[u8], run: &[u8], after: &[u8]) -> Option<Kind> {
    let before = before.strip_suffix(b"0x").unwrap_or(before);
    if let Some(n_id) = groups::join_id_len(before, run) {
        let near = &before[..before.len() - n_id];
        return name_before(near)
            .map(|name| name.kind)
            .or_else(|| clause::tied(near, after))
            .or_else(|| groups::is_join_token(before, run, after).then_some(Kind::Token));
    }
    // Most runs are names; what is asked first leaves them alone soonest.
    let is_vague = is_uuid(run) || is_hex(run);
    let is_drawn = is_vague && MIN_RUN <= run.len() || is_scrambled(run) || is_coded(run);
    let named = match is_drawn {
        true => groups::has_form(before, run, after).or_else(|| named(before, run, after, is_vague)),
        false if groups::is_recovery_key(run) => Some(Kind::Secret),
        false => groups::is_bot(run, after).then_some(Kind::Token),
    };
    let is_secret = || {
        MIN_RUN <= run.len()
            && !is_vague
            && is_random(run)
            && !is_public(before, run)
            && !is_in_public_block(before)
    };
    named.or_else(|| is_secret().then_some(Kind::HighEntropy))
}

/// How far before a line the marker of its block may stand.
const BLOCK: usize = 4096;

/// Whether `before` ends in a block of PEM that is no private key: a certificate, a signature.
fn is_in_public_block(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(BLOCK)..];
    memchr::memmem::rfind(near, b"-----BEGIN ").is_some_and(|at| {
        let block = &near[at..];
        let label = &block[..block.len().min(64)];
        memchr::memmem::find(block, b"-----END ").is_none() && !contains(label, "PRIVATE")
    })
}

/// The beginning of the next run that is long enough to be judged.
///
/// A run of 16 bytes holds 8 bytes that lie in one of the steps taken here, so a look at each
/// step, as a number, leaves most of a text unread.
fn next_run(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let (mut floor, mut at) = (range.start, range.start);
    while at + 8 <= range.end {
        let step = u64::from_le_bytes(text[at..at + 8].try_into().expect("it has 8 bytes"));
        // No byte of a run is less than `+`, or a dot, a comma or a colon.
        let crossed = below(step, b'+')
            | below(step ^ (EACH * u64::from(b'.')), 1)
            | below(step ^ (EACH * u64::from(b',')), 1)
            | below(step ^ (EACH * u64::from(b':')), 1);
        if crossed != 0 {
            at += 8;
            continue;
        }
        let start = at - run_back(text, floor, at, usize::MAX, is_run);
        let end = at + run(&text[..range.end], at, MIN_NAMED, is_run);
        if MIN_NAMED <= end - start {
            return Some(start..end);
        }
        floor = end;
        at = end.max(at + 1);
    }
    None
}

/// Not 0 if one of the bytes of `bytes` is below `limit`, which is at most 128.
fn below(bytes: u64, limit: u8) -> u64 {
    bytes.wrapping_sub(EACH * u64::from(limit)) & !bytes & (EACH << 7)
}

/// One in each byte.
const EACH: u64 = u64::from_le_bytes([1; 8]);

/// The kind of a drawn `run` whose name stands `before` it, with no more than a verb or signs between:
/// `ENV API_KEY …`, `the token is …`, `<apiKey>…`, `("x-api-key", "…")`. Otherwise its sentence may name it.
fn named(before: &[u8], run: &[u8], after: &[u8], is_vague: bool) -> Option<Kind> {
    let is_short = run.len() < MIN_RUN;
    let is_short_path = is_short && run.contains(&b'/');
    if is_short_path || !run.iter().any(u8::is_ascii_alphabetic) {
        return None;
    }
    // A digest or a UUID says little, a short one least.
    let name = name_before(before).filter(|name| !(name.is_vague && is_vague));
    let in_sentence = || clause::tied(before, after).filter(|_| !(is_vague && is_short));
    name.map(|name| name.kind).or_else(in_sentence).filter(|_| !is_public(before, run))
}

/// The name that a value's signs or a verb follow, at the end of `before`.
pub(super) fn name_before(before: &[u8]) -> Option<Name> {
    let mut near = without_signs(before);
    if near.last().is_some_and(|last| b"soe".contains(last)) {
        let verb = VERBS.iter().find(|verb| near.ends_with(verb.as_bytes()));
        near = verb.map_or(near, |verb| without_signs(&near[..near.len() - verb.len()]));
    }
    names::find(&near[near.len().saturating_sub(LONGEST_NAME)..])
}

/// `before` without what may stand between a name and its value.
pub(super) fn without_signs(before: &[u8]) -> &[u8] {
    let n_signs = run_back(before, 0, before.len(), 6, |byte| {
        matches!(
            byte,
            b' ' | b'\t'
                | b'"'
                | b'\''
                | b'`'
                | b'\\'
                | b','
                | b';'
                | b'('
                | b'>'
                | b'='
                | b':'
                | b'|'
                | b'*'
        )
    });
    &before[..before.len() - n_signs]
}

/// Whether most of `run` is neither words, nor a digest, nor an id.
fn is_random(run: &[u8]) -> bool {
    let run = &run[..run.len().min(JUDGED)];
    let scrambled = run
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty() && !is_hex(part) && !is_single_case_id(part));
    let (n_bytes, breaks, n_numbers) = scrambled.fold((0, 0, 0), |(bytes, breaks, numbers), part| {
        (bytes + part.len(), breaks + n_breaks(part), numbers + n_numbers(part))
    });
    MIN_SCRAMBLED <= n_bytes && n_bytes <= breaks * 4 && 2 <= n_numbers && MIN_ENTROPY <= entropy(run)
}

/// Whether what stands `before` a run, or its beginning, says that it is no secret.
pub(super) fn is_public(before: &[u8], run: &[u8]) -> bool {
    PUBLIC_PREFIXES
        .iter()
        .chain(SYMBOL_PREFIXES)
        .chain(IMAGE_PREFIXES)
        .any(|prefix| run.starts_with(prefix.as_bytes()))
        || PUBLIC_LABELS.iter().any(|label| ends_with_ignoring_case(before, label))
        || is_in_url_path(before)
        || is_in_escaped_digest(before)
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

/// Whether `before` ends inside a digest whose signs are escaped, as in a query.
fn is_in_escaped_digest(before: &[u8]) -> bool {
    let n_digest = run_back(before, 0, before.len(), LOOK_BACK, |byte| is_run(byte) || *byte == b'%');
    let digest = &before[before.len() - n_digest..];
    digest.contains(&b'%') && ["sha256-", "sha384-", "sha512-"].iter().any(|label| contains(digest, label))
}

/// Digests, abbreviated or not, and the parts of UUIDs. Gerrit's begin with an `I`, those of `git describe` with a `g`.
pub(super) fn is_hex(part: &[u8]) -> bool {
    let part = match part {
        [b'I' | b'g', digest @ ..] if 7 <= digest.len() => digest,
        _ => part,
    };
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
        .map(|p| -p * f64::log2(p))
        .sum()
}

pub(super) fn is_run(byte: &u8) -> bool {
    IS_RUN[usize::from(*byte)]
}

static IS_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/');
        byte += 1;
    }
    table
};
