//! Hashes of a range's lines, by which it is found again without its blobs.

use std::{fmt, sync::LazyLock};

use data_encoding::BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::{LineRange, Lines};

/// `1:` and the base64 of one 32-bit hash for each line, big-endian (DESIGN section 3).
///
/// Beyond 64 lines only the first and the last 32 are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Sketch(pub String);

/// Lines kept at either end of a long range.
pub(crate) const EDGE: usize = 32;

/// Lines that stand everywhere and prove nothing.
pub(crate) const TRIVIAL: [&[u8]; 12] =
    [b"", b"{", b"}", b"(", b")", b"[", b"]", b"});", b"};", b"},", b"//", b"*/"];

impl Sketch {
    /// The sketch of `range` of `lines`.
    #[must_use]
    pub fn of(lines: &Lines<'_>, range: LineRange) -> Self {
        let lines = lines.of(range);
        let kept: Vec<_> = if lines.len() <= 2 * EDGE {
            lines.to_vec()
        } else {
            [&lines[..EDGE], &lines[lines.len() - EDGE..]].concat()
        };
        Self::of_words(kept.iter().map(|line| line_hash(line)))
    }

    /// The sketch that holds `words`.
    pub(crate) fn of_words(words: impl Iterator<Item = u32>) -> Self {
        let bytes: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
        Self(format!("1:{}", BASE64.encode(&bytes)))
    }

    /// The hashes, or `None` when this is no sketch of a version we know.
    #[must_use]
    pub fn hashes(&self) -> Option<Vec<u32>> {
        let bytes = BASE64.decode(self.0.strip_prefix("1:")?.as_bytes()).ok()?;
        let words = bytes.chunks_exact(4);
        (words.remainder().is_empty() && bytes.len() <= 8 * EDGE)
            .then(|| words.map(|word| u32::from_be_bytes(word.try_into().expect("chunks of four"))).collect())
    }

    /// Where in `lines` the very lines are that were sketched; nowhere, where it does not have all of them.
    #[must_use]
    pub fn runs_in(&self, lines: &Lines<'_>) -> Vec<LineRange> {
        let sketched = self.hashes().filter(|hashes| !hashes.is_empty() && hashes.len() < 2 * EDGE);
        let Some(sketched) = sketched else { return Vec::new() };
        let hashes: Vec<u32> = lines.all().iter().map(|line| line_hash(line)).collect();
        let runs = hashes.windows(sketched.len()).enumerate().filter(|(_, run)| *run == sketched);
        runs.map(|(start, run)| LineRange::from_zero_based(start, run.len())).collect()
    }

    /// Whether an earlier version took the hashes for a secret and replaced them.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.0.contains("[redacted:")
    }

    /// The hashes of lines that may tell one code from another, in order, each once; none where [`Sketch::hashes`] has
    /// none.
    #[must_use]
    pub fn telling(&self) -> Vec<u32> {
        static TRIVIAL_HASHES: LazyLock<[u32; 12]> = LazyLock::new(|| TRIVIAL.map(line_hash));
        let mut telling = self.hashes().unwrap_or_default();
        telling.retain(|line| !TRIVIAL_HASHES.contains(line));
        telling.sort_unstable();
        telling.dedup();
        telling
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The low word of XXH3-64 over the line without the white space around it.
#[must_use]
pub fn line_hash(line: &[u8]) -> u32 {
    let hash = XxHash3_64::oneshot(line.trim_ascii());
    u32::try_from(hash & u64::from(u32::MAX)).expect("masked to 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_has_a_word_for_each_line_and_ignores_indentation() {
        let sketch = |text: &str| Sketch::of(&Lines::new(text.as_bytes()), LineRange::new(1, 2).unwrap());
        assert_eq!(sketch("  a\nb"), sketch("a\r\n\tb \n"));
        assert_eq!(sketch("a\nb").hashes().map(|hashes| hashes.len()), Some(2));
        assert_eq!(Sketch("2:AAAA".into()).hashes(), None);
        assert_eq!(Sketch("1:AAA=".into()).hashes(), None);
    }

    #[test]
    fn runs_of_the_very_lines_are_found() {
        let text = b"a\n}\n\na\n  }\nb\n}\n";
        let lines = Lines::new(text);
        let runs = |start, end| Sketch::of(&lines, LineRange::new(start, end).unwrap()).runs_in(&lines);
        assert_eq!(runs(1, 2), [LineRange { start: 1, end: 2 }, LineRange { start: 4, end: 5 }]);
        assert_eq!(runs(5, 6), [LineRange { start: 5, end: 6 }]);
        assert!(Sketch::of(&lines, LineRange::new(1, 3).unwrap()).runs_in(&Lines::new(b"a\n}\n")).is_empty());
        assert!(Sketch("2:AAAA".into()).runs_in(&lines).is_empty());
    }

    #[test]
    fn braces_tell_nothing() {
        let lines = Lines::new(b"if a {\n    b\n}\n\n    b\n");
        let telling = Sketch::of(&lines, LineRange::new(1, 5).unwrap()).telling();
        let mut expected = vec![line_hash(b"if a {"), line_hash(b"b")];
        expected.sort_unstable();
        assert_eq!(telling, expected);
        assert!(Sketch("2:AAAA".into()).telling().is_empty());
    }

    #[test]
    fn a_long_range_keeps_its_ends() {
        let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
        let lines = Lines::new(text.as_bytes());
        let hashes = Sketch::of(&lines, LineRange::new(1, 200).unwrap()).hashes().unwrap();
        assert_eq!(hashes.len(), 64);
        assert_eq!(hashes[63], line_hash(b"line 199"));
    }
}
