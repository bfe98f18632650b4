//! Whether two summaries are about the same work.

use std::collections::BTreeSet;

/// Words that say nothing of what the work is about.
const EMPTY_WORDS: [&str; 44] = [
    "a", "an", "and", "the", "to", "of", "in", "on", "for", "with", "that", "this", "it", "is", "are", "be",
    "was", "should", "would", "could", "will", "can", "we", "i", "you", "our", "so", "as", "at", "by",
    "from", "into", "or", "if", "do", "does", "all", "any", "some", "also", "then", "now", "new", "please",
];

/// How alike two summaries have to be to mean one thread.
const ALIKE: f64 = 0.75;

/// The words of `text` that matter, each once, in order and without their endings.
///
/// Two texts with one key are about the same.
#[must_use]
pub fn key(text: &str) -> String {
    let words = stems(text);
    if words.is_empty() {
        text.trim().to_lowercase()
    } else {
        words.into_iter().collect::<Vec<_>>().join(" ")
    }
}

/// The share of words that two texts have in common, from 0 to 1.
#[must_use]
pub fn likeness(one: &str, other: &str) -> f64 {
    let (one, other) = (stems(one), stems(other));
    let n_all = one.union(&other).count();
    if n_all == 0 { 0.0 } else { one.intersection(&other).count() as f64 / n_all as f64 }
}

/// Whether two summaries mean the same work.
///
/// Numbers and names with digits tell items of a list apart (`task 3` and `task
/// 4`), so those have to be the same.
#[must_use]
pub fn is_alike(one: &str, other: &str) -> bool {
    let numbers = |text: &str| {
        stems(text)
            .into_iter()
            .filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
            .collect::<BTreeSet<_>>()
    };
    key(one) == key(other) || ALIKE <= likeness(one, other) && numbers(one) == numbers(other)
}

fn stems(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word).to_owned())
        .collect()
}

/// A word without an ending of its form; short words keep theirs.
fn stem(word: &str) -> &str {
    ["ing", "ies", "ed", "es", "s", "e", "y"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| 3 <= stem.len()))
        .unwrap_or(word)
}
