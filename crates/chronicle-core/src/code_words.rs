//! The words of some code: what is left of it when a formatter has been over it.
//!
//! Formatters break lines, move braces and add or take away commas, quotes and parentheses; names, numbers and the
//! words of texts they leave alone, in their order. So code that kept its words is the same code, whatever became of
//! its lines.

use std::collections::HashMap;

use crate::LineRange;

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
        let mut left: HashMap<&[u8], usize> = HashMap::new();
        for (word, _) in &other.words {
            *left.entry(word).or_default() += 1;
        }
        let mut n_common = 0_usize;
        for (word, _) in &self.words {
            if let Some(n) = left.get_mut(word).filter(|n| 0 < **n) {
                *n -= 1;
                n_common += 1;
            }
        }
        let longer = self.words.len().max(other.words.len());
        #[expect(clippy::cast_precision_loss, reason = "word counts are far below 2^52")]
        let share = n_common as f64 / longer.max(1) as f64;
        share
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lines;

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
