//! Whether a lesson says more than the change and its message say themselves.
//!
//! A lesson is taken apart into its telling words: letters and digits, `snake_case` and `camelCase` in their parts,
//! without endings, without the words of every sentence (`COMMON`) and the words by which any change is told
//! (`OF_CHANGES`). Those that stand in the message, or in the changed lines that the lesson is about, are not its
//! own. Where less than one word in five (`LEAST_OWN`) is its own, it restates. A lesson without a telling word
//! says nothing at all.

use std::collections::BTreeSet;

/// Of so many telling words, one at least must be new.
const LEAST_OWN: usize = 5;

/// A part of a word that is shorter says nothing.
const SHORTEST: usize = 2;

/// Words of every sentence.
const COMMON: &str = "a about after all also an and any are as at be been before being but by can did do does doing \
for from had has have here how i if in into is it its itself just may more most now of on onto only or other our out \
over own same she so some such than that the their them then there these they this those through to too under up us \
use used uses using very was we were what when where which while who will with would you your";

/// Words by which any change is told.
const OF_CHANGES: &str = "add added adds adding addition change changed changes changing class code commit commits \
create created creates creating define defined delete deleted deletes enum field file files fix fixed fixes \
function functions implement implementation implemented implements import imported include included includes \
introduce introduced introduces line lines logic make makes method methods modify modified modifies module move \
moved moves new old parameter refactor refactored remove removed removes removing rename renamed replace replaced \
replaces return returned returns set struct support supports test tests trait type types update updated updates \
updating value variable";

/// The telling words of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(BTreeSet<String>);

impl Words {
    /// The telling words of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text);
        words
    }

    /// Adds those of another text.
    pub fn add(&mut self, text: &str) {
        for run in text.split(|letter: char| !letter.is_alphanumeric()) {
            parts(run, |part| {
                let word = part.to_lowercase();
                if SHORTEST <= word.len() && !is_listed(COMMON, &word) && !is_listed(OF_CHANGES, &word) {
                    self.0.insert(stem(&word).to_owned());
                }
            });
        }
    }
}

/// Whether two texts say the same, more or less: four of five telling words are in both.
#[must_use]
pub fn alike(one: &str, other: &str) -> bool {
    let (one, other) = (Words::of(one), Words::of(other));
    let n_both = one.0.intersection(&other.0).count();
    let n_all = one.0.union(&other.0).count();
    n_all * 4 <= n_both * 5
}

/// Whether `lesson` says no more than `known` does: the message and the changed lines that it is about.
#[must_use]
pub fn restates(lesson: &str, known: &Words) -> bool {
    let said = Words::of(lesson);
    let n_own = said.0.difference(&known.0).count();
    n_own * LEAST_OWN < said.0.len() || said.0.is_empty()
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// The parts of a name such as `maxBackoff2`.
fn parts(run: &str, mut each: impl FnMut(&str)) {
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, letter) in run.char_indices() {
        let is_seam = before.is_some_and(|before| {
            (before.is_lowercase() && letter.is_uppercase()) || before.is_numeric() != letter.is_numeric()
        });
        if is_seam {
            each(&run[start..at]);
            start = at;
        }
        before = Some(letter);
    }
    each(&run[start..]);
}

/// A word without its ending, roughly.
fn stem(word: &str) -> &str {
    let ending = ["ing", "ies", "ed", "es", "ly", "s", "e", "y"];
    let cut = ending.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| 3 <= rest.len()));
    cut.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lesson: &str, known: &str, expected: bool) {
        assert_eq!(restates(lesson, &Words::of(known)), expected, "{lesson}");
    }

    #[test]
    fn what_the_message_says_is_no_lesson() {
        check("Add retry logic to the MQTT client", "mqtt: add retries to the client", true);
        check(
            "Adds a `retry_count` field to MqttClient.",
            "+    retry_count: u32,\nstruct MqttClient {",
            true,
        );
        check("", "anything", true);
        check("This adds new code.", "anything", true);
    }

    #[test]
    fn the_same_in_other_words_is_alike() {
        assert!(alike("The broker drops idle connections.", "the broker silently drops idle connections"));
        assert!(!alike("The broker drops idle connections.", "The client drops idle sessions."));
    }

    #[test]
    fn what_only_the_author_knows_is_one() {
        check(
            "The broker drops idle connections silently after 30 minutes, so the client sends heartbeats.",
            "mqtt: send heartbeats from the client",
            false,
        );
        check(
            "Linear backoff took the broker down: all clients came back at once.",
            "backoff: exponential",
            false,
        );
    }
}
