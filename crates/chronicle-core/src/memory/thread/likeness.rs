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

/// What a summary is about: its words that matter, each once and without their endings.
///
/// Made once, it is compared with many others in little time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gist {
    words: BTreeSet<String>,
    /// The text itself, where no word of it matters.
    rest: String,
}

impl Gist {
    /// What `text` is about.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let words = stems(text);
        let rest = if words.is_empty() { text.trim().to_lowercase() } else { String::new() };
        Self { words, rest }
    }

    /// Whether both mean the same work.
    ///
    /// Numbers and names with digits tell items of a list apart (`task 3` and `task
    /// 4`), so those have to be the same.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        // What is far longer cannot have enough in common.
        let (few, many) = (self.words.len().min(other.words.len()), self.words.len().max(other.words.len()));
        if (few as f64) < ALIKE * many as f64 {
            return false;
        }
        self == other || ALIKE <= self.likeness(other) && self.numbers().eq(other.numbers())
    }

    /// Whether a word that matters is in both.
    #[must_use]
    pub fn has_word_of(&self, other: &Self) -> bool {
        !self.words.is_disjoint(&other.words)
    }

    /// The words that matter, without their endings, in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// How many words that matter are in both.
    #[must_use]
    pub fn n_words_of(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count()
    }

    /// The share of words that both have in common, from 0 to 1.
    fn likeness(&self, other: &Self) -> f64 {
        let n_both = self.words.intersection(&other.words).count();
        let n_all = self.words.len() + other.words.len() - n_both;
        if n_all == 0 { 0.0 } else { n_both as f64 / n_all as f64 }
    }

    fn numbers(&self) -> impl Iterator<Item = &String> {
        self.words.iter().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
    }
}

/// The words of `text` that matter, each once, in order and without their endings.
///
/// Two texts with one key are about the same.
#[must_use]
pub fn key(text: &str) -> String {
    let Gist { words, rest } = Gist::of(text);
    if words.is_empty() { rest } else { words.into_iter().collect::<Vec<_>>().join(" ") }
}

/// The share of words that two texts have in common, from 0 to 1.
#[must_use]
pub fn likeness(one: &str, other: &str) -> f64 {
    Gist::of(one).likeness(&Gist::of(other))
}

/// Whether two summaries mean the same work; see [`Gist::is_alike`].
#[must_use]
pub fn is_alike(one: &str, other: &str) -> bool {
    Gist::of(one).is_alike(&Gist::of(other))
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
