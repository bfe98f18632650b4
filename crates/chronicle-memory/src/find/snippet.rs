//! The part of a text that answers a question.

use std::ops::Range;

use chronicle_core::plain;
use chronicle_search::Question;
use schemars::JsonSchema;
use serde::Serialize;

/// How long a snippet is, in bytes, more or less.
const LENGTH: usize = 240;

/// How much of a text is looked through for the best place.
const LOOKED_THROUGH: usize = 32 << 10;

/// A part of a text, on one line, and where the words of the question stand in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Snippet {
    /// The part, with dots where something was left out.
    pub text: String,
    /// Where the words of the question stand.
    #[serde(skip)]
    pub marks: Vec<Range<usize>>,
}

/// The part of `text` that has the most different words of the question.
pub(crate) fn snippet(question: &mut Question, text: &str) -> Snippet {
    let looked_through = &text[..text.floor_char_boundary(LOOKED_THROUGH)];
    let line = plain(looked_through).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = question.places(&line);
    let window = window(&line, &words);
    let head = if window.start == 0 { "" } else { "…" };
    let is_end = window.end == line.len() && looked_through.len() == text.len();
    let marks = words
        .into_iter()
        .map(|(_, place)| place)
        .filter(|place| window.start <= place.start && place.end <= window.end)
        .map(|place| place.start - window.start + head.len()..place.end - window.start + head.len())
        .collect();
    let text = format!("{head}{}{}", &line[window], if is_end { "" } else { "…" });
    Snippet { text, marks }
}

/// Where the best part is: the first of those with the most different words.
fn window(line: &str, words: &[(usize, Range<usize>)]) -> Range<usize> {
    let mut best = (0, 0);
    for (number, (_, first)) in words.iter().enumerate() {
        let mut terms: Vec<usize> = words[number..]
            .iter()
            .take_while(|(_, place)| place.end <= first.start + LENGTH)
            .map(|(term, _)| *term)
            .collect();
        terms.sort_unstable();
        terms.dedup();
        if best.0 < terms.len() {
            best = (terms.len(), first.start);
        }
    }
    if line.len() <= LENGTH + LENGTH / 4 {
        return 0..line.len();
    }
    // Some words before it, from the beginning of one.
    let start = line.floor_char_boundary(best.1.saturating_sub(LENGTH / 4).min(line.len() - LENGTH));
    let start = if start == 0 {
        0
    } else {
        line[start..best.1.max(start)].find(' ').map_or(start, |space| start + space + 1)
    };
    let end = line.floor_char_boundary((start + LENGTH).min(line.len()));
    let end =
        if end == line.len() { end } else { line[start..end].rfind(' ').map_or(end, |space| start + space) };
    start..end
}
#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, text: &str, expected: &str) {
        let snippet = snippet(&mut Question::new(query), text);
        let mut marked = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            marked.insert(mark.end, ']');
            marked.insert(mark.start, '[');
        }
        assert_eq!(marked, expected);
    }

    #[test]
    fn words_of_the_question_are_marked_in_all_their_forms() {
        check("waiting pools", "The Pool\n\tmust wait.", "The [Pool] must [wait].");
        check("池", "连接池必须等待", "连接[池]必须等待");
        check("pool", "\u{1b}[1m pool\u{7}", "[1m [pool]");
    }

    #[test]
    fn the_part_with_the_most_words_is_shown() {
        let text = format!("a pool here {} the pool must wait {}", "x ".repeat(300), "y ".repeat(300));
        let snippet = snippet(&mut Question::new("pool wait"), &text);
        assert!(snippet.text.contains("the pool must wait"), "{snippet:?}");
        assert!(snippet.text.len() < 300, "{snippet:?}");
        assert_eq!(snippet.marks.len(), 2);
    }

    #[test]
    fn long_text_without_spaces_is_cut_between_letters() {
        let snippet = snippet(&mut Question::new("pool"), &"é连".repeat(400));
        assert!(snippet.text.ends_with('…'));
    }
}
