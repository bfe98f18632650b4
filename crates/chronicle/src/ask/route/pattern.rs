//! Patterns of words.
//!
//! | in a pattern | stands for |
//! |---|---|
//! | `word`, `one\|other` | that word, one of these |
//! | `begin~`, `~end` | a word that begins, or ends, so |
//! | `@class` | a word of a class |
//! | `word?` | the same, or nothing |
//! | `*` | up to eight words |
//! | `$` | what the question is about: a word or more, as few as will do, to the end where it comes last |
//! | `^`, `.` | the beginning, the end |
//! | ` & ` | both, wherever they stand |

use std::ops::Range;

use super::{rules::CLASSES, words::Word};

/// How many words a gap holds.
const LONGEST_GAP: usize = 8;

/// A pattern of words.
#[derive(Clone, Copy)]
pub(super) struct Pattern<'p>(pub(super) &'p str);

impl Pattern<'_> {
    /// Whether it is in `words`; with the words that the question is about, where it says which.
    pub(super) fn found(self, words: &[Word]) -> Option<Option<Range<usize>>> {
        let mut subject = None;
        for part in self.0.split(" & ") {
            let elements: Vec<&str> = part.split(' ').collect();
            let (is_anchored, elements) = match elements.as_slice() {
                ["^", rest @ ..] => (true, rest),
                all => (false, all),
            };
            let mut starts = 0..if is_anchored { 1 } else { words.len() };
            subject = starts.find_map(|start| follow(elements, words, start))?.or(subject);
        }
        Some(subject)
    }
}

/// Whether the rest of a pattern is in `words` from `at` on.
fn follow(elements: &[&str], words: &[Word], at: usize) -> Option<Option<Range<usize>>> {
    let [element, rest @ ..] = elements else { return Some(None) };
    match *element {
        "." => (at == words.len()).then_some(None),
        "*" => (at..=words.len().min(at + LONGEST_GAP)).find_map(|next| follow(rest, words, next)),
        "$" if rest.is_empty() => (at < words.len()).then_some(Some(at..words.len())),
        "$" => (at + 1..=words.len()).find_map(|next| Some(follow(rest, words, next)?.or(Some(at..next)))),
        _ => {
            let (wanted, is_needed) = match element.strip_suffix('?') {
                Some(wanted) => (wanted, false),
                None => (*element, true),
            };
            let found = words.get(at).filter(|word| is_one(wanted, &word.text));
            found
                .and_then(|_| follow(rest, words, at + 1))
                .or_else(|| if is_needed { None } else { follow(rest, words, at) })
        }
    }
}

/// Whether a word is one of those that an element stands for.
fn is_one(element: &str, word: &str) -> bool {
    element.split('|').any(|wanted| {
        if let Some(class) = wanted.strip_prefix('@') {
            return CLASSES.iter().any(|(name, words)| *name == class && is_one(words, word));
        }
        match (wanted.strip_suffix('~'), wanted.strip_prefix('~')) {
            (Some(start), _) => word.starts_with(start),
            (_, Some(end)) => word.ends_with(end),
            _ => wanted == word,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{super::words::words, *};

    #[test]
    fn patterns_are_found_and_say_what_the_question_is_about() {
        let check = |pattern: &str, question: &str, expected: Option<Option<&str>>| {
            let words = words(question, 99);
            let found = Pattern(pattern).found(&words);
            let told = found.map(|subject| {
                subject.map(|range| {
                    words[range].iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
                })
            });
            let expected = expected.map(|subject| subject.map(str::to_owned));
            assert_eq!(told, expected, "{pattern}: {question}");
        };
        check("know about $", "what do I know about the pool", Some(Some("the pool")));
        check("know about $", "what do I know about", None);
        check("^ what did $ do .", "what did the pool do", Some(Some("the pool")));
        check("^ did", "what did it do", None);
        check("what|where is? left", "where left", Some(None));
        check("keep|keeps ~ing", "what keeps biting me", Some(None));
        check("fail~ & again", "again, which failures", Some(None));
        check("fail~ & again", "which failures", None);
        check("a * z", "a b c d e f g h i z", Some(None));
        check("a * z", "a b c d e f g h i j z", None);
    }
}
