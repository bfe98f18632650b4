//! Which of some short texts, such as lessons, answer a question.
//!
//! They have no neighbours and no voice, so it is their own words that count, each by its rarity among the texts.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use super::Question;
use crate::index::words::IN_A_FAMILY;

/// What a text must have to answer a question at all. To look for it costs much less than [`Question::fits`].
#[derive(Debug)]
pub struct Beginnings(Option<AhoCorasick>);

impl Beginnings {
    /// Whether a text has any of it, in whatever form it is stored.
    #[must_use]
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|words| words.is_match(text))
    }
}

impl Question {
    /// Beginnings of the words of the question and their families: a text without any of them fits it in no way.
    pub fn beginnings(&mut self) -> Beginnings {
        let asks_only = self.asks_only();
        let mut all = Vec::new();
        for (word, _) in
            self.written.iter().zip(&self.shares).filter(|(_, share)| asks_only || 1.0 <= **share)
        {
            match self.words.beginnings(word) {
                Some(found) => all.extend(found),
                None => return Beginnings(None),
            }
        }
        Beginnings(AhoCorasick::builder().ascii_case_insensitive(true).build(all).ok())
    }

    fn asks_only(&self) -> bool {
        self.shares.iter().all(|share| *share < 1.0)
    }

    /// How well each of `texts` answers the question: numbers to compare with each other. `n_others` more have none of its
    /// words.
    ///
    /// It is 0 for a text that lacks too many of the words, in any of their forms: it has half of all of them, and of those
    /// that any of the texts has, all of one or two and half of more. Words that only ask are no reason to choose one.
    pub fn fits(&mut self, texts: &[&str], n_others: usize) -> Vec<f64> {
        let rows: Vec<Vec<f32>> = texts.iter().map(|text| self.likeness_in(text)).collect();
        let asks_only = self.asks_only();
        let words: Vec<SoughtWord> = (0..self.terms.len())
            .map(|word| {
                let n_having = rows.iter().filter(|row| has(row, word)).count();
                let (having, lacking) = (n_having as f64, (rows.len() + n_others - n_having) as f64);
                let rarity = (1.0 + (lacking + 0.5) / (having + 0.5)).ln();
                SoughtWord {
                    weight: f64::from(self.shares[word]) * rarity,
                    tells: asks_only || 1.0 <= self.shares[word],
                    is_known: 0 < n_having,
                }
            })
            .collect();
        let least = least(&words);
        rows.iter().map(|row| fit(row, &words, least)).collect()
    }

    /// How like each word of the question the text has one: 1 for itself, less for one that means nearly the same.
    fn likeness_in(&mut self, text: &str) -> Vec<f32> {
        let mut found = BTreeSet::new();
        self.words.each(text, &mut |term| {
            found.insert(term);
        });
        let words = self.terms.iter().zip(&self.near);
        let likeness = words.map(|(term, near)| {
            if found.contains(term) {
                return 1.0;
            }
            let near = near.iter().filter(|(term, _)| found.contains(term));
            near.map(|(_, cosine)| *cosine).fold(0.0, f32::max)
        });
        likeness.collect()
    }
}

/// What a word of the question is among the texts.
struct SoughtWord {
    weight: f64,
    /// Whether it says what is sought.
    tells: bool,
    /// Whether any text has it.
    is_known: bool,
}

/// Whether a text has a word, or one of its family.
fn has(row: &[f32], word: usize) -> bool {
    IN_A_FAMILY <= row[word]
}

/// How many words that tell a text must have.
fn least(words: &[SoughtWord]) -> usize {
    let n_all = words.iter().filter(|word| word.tells).count();
    let n_known = words.iter().filter(|word| word.tells && word.is_known).count();
    n_all.div_ceil(2).max(n_known.div_ceil(2)).max(n_known.min(2)).max(1)
}

fn fit(row: &[f32], words: &[SoughtWord], least: usize) -> f64 {
    let n_having = (0..words.len()).filter(|word| words[*word].tells && has(row, *word)).count();
    if n_having < least {
        return 0.0;
    }
    row.iter().zip(words).map(|(likeness, word)| f64::from(*likeness) * word.weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LESSONS: [&str; 5] = [
        "std::env::set_var is unsafe with threads",
        "acquireConnection waits while the pool is full",
        "The authentication token expires in an hour",
        "Never set a timeout here",
        "连接池必须等待",
    ];

    /// The numbers of the lessons that answer `question`, the best first.
    #[track_caller]
    fn check(question: &str, expected: &[usize]) {
        let fits = Question::new(question).fits(&LESSONS, 0);
        let beginnings = Question::new(question).beginnings();
        for (lesson, fits) in LESSONS.iter().zip(&fits) {
            assert!(*fits == 0.0 || beginnings.are_in(lesson.as_bytes()), "{question}: {lesson}");
        }
        let mut best: Vec<usize> = (0..LESSONS.len()).filter(|number| 0.0 < fits[*number]).collect();
        best.sort_by(|left, right| fits[*right].total_cmp(&fits[*left]));
        assert_eq!(best, expected, "{question}: {fits:?}");
    }

    #[test]
    fn names_and_forms_of_words_are_found_as_in_turns() {
        check("set_var", &[0]);
        check("why is set_var unsafe", &[0]);
        check("waiting for connections", &[1]);
        check("acquireConnection", &[1]);
        check("auth tokens", &[2]);
        check("连接池", &[4]);
    }

    #[test]
    fn a_text_that_fits_has_a_beginning_of_a_word() {
        let check = |question: &str, text: &str, expected: bool| {
            assert_eq!(
                Question::new(question).beginnings().are_in(text.as_bytes()),
                expected,
                "{question}: {text}"
            );
        };
        check("who denies it", r#"{"content":"\\nDeny all"}"#, true);
        check("dependencies", "deps are old", true);
        check("deps", "a dependency", true);
        check("kubernetes", "on K8s", true);
        check("set_var", "SetVar", true);
        check("acquireConnection", "acquire_connection", true);
        check("why is set_var unsafe", "the pool waits", false);
        check("Größe", "anything", true);
        check("quorum", "the pool waits", false);
    }

    #[test]
    fn half_of_the_words_must_be_there() {
        check("timeout", &[3]);
        // No lesson has the other word.
        check("is a timeout bad", &[3]);
        check("timeout of the token", &[]);
        check("set a timeout for the token", &[3]);
        check("why does the timeout of a socket break the build on Windows", &[]);
        check("quorum", &[]);
    }

    #[test]
    fn words_that_only_ask_are_no_reason() {
        check("what did we say about the pool", &[1]);
        check("what did we discuss", &[]);
        assert_eq!(Question::new("pool").fits(&[], 0), [0.0; 0]);
    }
}
