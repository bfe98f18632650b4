//! The words of some code: what is left of it when a formatter has been over it.
//!
//! Formatters break lines, move braces and add or take away commas, quotes and parentheses; names, numbers and the
//! words of texts they leave alone, in their order. So code that kept its words is the same code, whatever became of
//! its lines.

use std::collections::HashMap;

use crate::{LineRange, Lines};

/// With less than this share of its words in common, code of one name is other code.
pub const LEAST_ALIKE: f64 = 0.5;

/// Fewer bytes of words than this follow each other in many places by chance.
const SHORTEST_RUN: usize = 16;

/// The words of some lines, in order.
#[derive(Debug, Clone)]
pub struct CodeWords<'a> {
    /// Each with the number of its line among those that were given, from 0.
    words: Vec<(&'a [u8], usize)>,
}

impl<'a> CodeWords<'a> {
    /// Takes `lines` apart.
    #[must_use]
    pub fn of(lines: &[&'a [u8]]) -> Self {
        let is_sign = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'_';
        let in_line = |(number, line): (usize, &&'a [u8])| {
            line.split(is_sign).filter(|word| !word.is_empty()).map(move |word| (word, number))
        };
        Self { words: lines.iter().enumerate().flat_map(in_line).collect() }
    }

    /// The share of the longer one's words that both have, 0 to 1; in which order they stand is not asked.
    #[must_use]
    pub fn likeness(&self, other: &CodeWords<'_>) -> f64 {
        share(self.n_common(other), self.words.len().max(other.words.len()))
    }

    /// The share of these words that `other` has too, 0 to 1; in which order they stand is not asked.
    #[must_use]
    pub fn share_in(&self, other: &CodeWords<'_>) -> f64 {
        share(self.n_common(other), self.words.len())
    }

    /// How often each word is there.
    fn counted(&self) -> HashMap<&[u8], usize> {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for (word, _) in &self.words {
            *counts.entry(word).or_default() += 1;
        }
        counts
    }

    fn n_common(&self, other: &CodeWords<'_>) -> usize {
        let mut left = other.counted();
        let mut n_common = 0;
        for (word, _) in &self.words {
            if let Some(n) = left.get_mut(word).filter(|n| 0 < **n) {
                *n -= 1;
                n_common += 1;
            }
        }
        n_common
    }

    /// The lines of a file around its lines `from` that say nothing but what is left of these words.
    #[must_use]
    pub fn around(&self, file: &Lines<'_>, from: LineRange) -> LineRange {
        let mut left = self.counted();
        take(&mut left, &CodeWords::of(file.of(from)));
        let mut belongs = |number: u32| {
            let line = file.of(LineRange { start: number, end: number });
            let words = CodeWords::of(line);
            let is_left = words.words.iter().all(|(word, _)| left.get(word).is_some_and(|n| 0 < *n));
            let is_blank = line.iter().all(|line| line.trim_ascii().is_empty());
            take(&mut left, &words);
            is_left && !is_blank
        };
        let mut lines = from;
        while lines.end < file.count() && belongs(lines.end + 1) {
            lines.end += 1;
        }
        let mut start = lines.start;
        while 1 < start && belongs(start - 1) {
            start -= 1;
            // What only closes something belongs to what is before it.
            if !CodeWords::of(file.of(LineRange { start, end: start })).words.is_empty() {
                lines.start = start;
            }
        }
        lines
    }

    /// The lines of these, counted from 1, on which all words of `part` follow each other; `None` where they do not,
    /// or do in several places, or say too little.
    #[must_use]
    pub fn run(&self, part: &CodeWords<'_>) -> Option<LineRange> {
        if part.words.iter().map(|(word, _)| word.len()).sum::<usize>() < SHORTEST_RUN {
            return None;
        }
        let is_part = |here: &&[(&[u8], usize)]| {
            here.iter().zip(&part.words).all(|((left, _), (right, _))| left == right)
        };
        let mut found = self.words.windows(part.words.len()).filter(is_part);
        let (only, None) = (found.next()?, found.next()) else { return None };
        let (first, last) = (only.first()?.1, only.last()?.1);
        Some(LineRange::from_zero_based(first, last - first + 1))
    }
}

/// Takes `words` out of those that are `left`.
fn take<'a>(left: &mut HashMap<&'a [u8], usize>, words: &CodeWords<'a>) {
    for (word, _) in &words.words {
        if let Some(n) = left.get_mut(word) {
            *n = n.saturating_sub(1);
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "word counts are far below 2^52")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNECT: &str = "def connect(host, port, retries=3):\n    conn = open(host, 'tcp')\n    conn.greet(host, port, retries)\n    return conn\n";
    const FORMATTED: &str = "def connect(\n    host,\n    port,\n    retries=3,\n):\n    conn = open(host, \"tcp\")\n    conn.greet(\n        host,\n        port,\n        retries,\n    )\n    return conn\n";

    fn words(text: &str) -> CodeWords<'_> {
        CodeWords::of(Lines::new(text.as_bytes()).all())
    }

    #[test]
    fn a_formatter_leaves_all_words() {
        assert!((words(CONNECT).likeness(&words(FORMATTED)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn other_code_has_other_words() {
        let other = "def connect(url):\n    return pool.take(url, wait=True)\n";
        assert!(words(CONNECT).likeness(&words(other)) < LEAST_ALIKE);
        assert!(words("").likeness(&words("")) < LEAST_ALIKE);
    }

    #[test]
    fn the_share_is_that_of_the_longer() {
        let twice = format!("{CONNECT}{CONNECT}");
        for (one, other) in [(CONNECT, &twice[..]), (&twice, CONNECT)] {
            assert!((words(one).likeness(&words(other)) - 0.5).abs() < 1e-9);
        }
    }

    #[test]
    fn a_part_lies_in_the_whole_and_not_the_other_way() {
        let (all, part) = (words(FORMATTED), words("    conn.greet(host, port, retries)\n"));
        assert!((part.share_in(&all) - 1.0).abs() < 1e-9);
        assert!(all.share_in(&part) < LEAST_ALIKE);
        assert!(words("").share_in(&all) < LEAST_ALIKE);
    }

    #[test]
    fn lines_around_belong_to_it_as_far_as_they_say_nothing_else() {
        let file = format!("import os\n{FORMATTED}\nprint(host)\n");
        let lines = Lines::new(file.as_bytes());
        let from = LineRange::new(7, 8).unwrap();
        assert_eq!(words(CONNECT).around(&lines, from), LineRange::new(2, 13).unwrap());
        assert_eq!(words("open host tcp conn greet").around(&lines, from), from);
    }

    #[test]
    fn a_part_is_found_where_its_words_follow_each_other() {
        let check = |part: &str, expected: Option<(u32, u32)>| {
            let found = words(FORMATTED).run(&words(part));
            assert_eq!(found.map(|lines| (lines.start, lines.end)), expected, "{part}");
        };
        check("    conn.greet(host, port, retries)\n", Some((7, 10)));
        check("    return conn\n", None);
        check("    conn.greet(host, retries, port)\n", None);
        check("", None);
    }
}
