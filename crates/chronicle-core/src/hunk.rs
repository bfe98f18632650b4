//! Runs of changed lines between two versions of a file, without context.

use crate::{LineRange, Lines, line_map};

/// Lines of one version: `len` of them from line `start`; none stand before line `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first line, from 1.
    pub start: u32,
    /// How many lines there are, perhaps none.
    pub len: u32,
}

/// One run of changed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hunk {
    /// What was there.
    pub old: Extent,
    /// What is there instead.
    pub new: Extent,
}

impl Extent {
    /// The lines; `None` when there are none.
    #[must_use]
    pub fn range(self) -> Option<LineRange> {
        let last = self.start.checked_add(self.len)?.checked_sub(1)?;
        LineRange::new(self.start, last).ok()
    }
}

impl Hunk {
    /// Whether the hunk changes lines of `range`, a range of the old version, or adds some inside it.
    ///
    /// What is added just before the first or behind the last line lies outside.
    #[must_use]
    pub fn touches(&self, range: LineRange) -> bool {
        match self.old.range() {
            Some(changed) => changed.overlaps(range),
            None => range.start < self.old.start && self.old.start <= range.end,
        }
    }

    /// The first line of the new version where the hunk changes lines of `range`, a range of the old one.
    ///
    /// Which of its lines came from which is not known, so they are counted from where it begins, and no
    /// further than where it ends.
    #[must_use]
    pub fn line_within(&self, range: LineRange) -> u32 {
        let before = range.start.saturating_sub(self.old.start);
        self.new.start.saturating_add(before.min(self.new.len.saturating_sub(1))).max(1)
    }
}

/// What differs between two versions.
#[must_use]
pub fn hunks(old: &Lines<'_>, new: &Lines<'_>) -> Vec<Hunk> {
    told(line_map::hunks(old.all(), new.all()))
}

/// The same of runs of lines counted from 0.
pub(crate) fn told(hunks: Vec<line_map::TokenHunk>) -> Vec<Hunk> {
    let extent =
        |lines: std::ops::Range<u32>| Extent { start: lines.start + 1, len: lines.end - lines.start };
    hunks.into_iter().map(|(removed, added)| Hunk { old: extent(removed), new: extent(added) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[(u32, u32, u32, u32)]) {
        let found = hunks(&Lines::new(old.as_bytes()), &Lines::new(new.as_bytes()));
        let found: Vec<_> =
            found.iter().map(|hunk| (hunk.old.start, hunk.old.len, hunk.new.start, hunk.new.len)).collect();
        assert_eq!(found, expected, "{old:?} {new:?}");
    }

    #[test]
    fn hunks_say_what_was_and_what_is() {
        check("a\nb\nc\n", "a\nx\nc\n", &[(2, 1, 2, 1)]);
        check("a\nb\n", "a\nx\nb\n", &[(2, 0, 2, 1)]);
        check("a\nb\n", "a\n", &[(2, 1, 2, 0)]);
        check("", "a\n", &[(1, 0, 1, 1)]);
        check("a\r\nb\r\n", "a\nb", &[]);
    }

    #[test]
    fn what_is_added_inside_a_range_touches_it() {
        let added_before = |start| Hunk { old: Extent { start, len: 0 }, new: Extent { start, len: 1 } };
        let range = LineRange { start: 3, end: 5 };
        let touched: Vec<u32> = (1..8).filter(|line| added_before(*line).touches(range)).collect();
        assert_eq!(touched, [4, 5]);
    }

    #[test]
    fn a_range_is_met_where_it_begins_in_the_hunk() {
        let hunk = |len: u32| Hunk { old: Extent { start: 3, len: 6 }, new: Extent { start: 13, len } };
        let range = |start| LineRange { start, end: 99 };
        assert_eq!([1, 3, 5, 8].map(|start| hunk(6).line_within(range(start))), [13, 13, 15, 18]);
        assert_eq!([1, 3, 5, 8].map(|start| hunk(2).line_within(range(start))), [13, 13, 14, 14]);
        assert_eq!([1, 5].map(|start| hunk(0).line_within(range(start))), [13, 13]);
    }
}
