//! Runs of changed lines between two versions of a file, without context.

use crate::{LineRange, Lines, code::line_map};

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

/// Where the lines `range` of the old version are in the new one, together with what is there instead of those that
/// `hunks` change; `None` where all of them are removed. The hunks are in order.
#[must_use]
pub fn lines_after(hunks: &[Hunk], range: LineRange) -> Option<LineRange> {
    let end_of = |extent: Extent| extent.start.saturating_add(extent.len);
    let line = |line: u32, is_start: bool| -> u32 {
        let Some(hunk) = hunks.iter().rev().find(|hunk| hunk.old.start <= line) else { return line };
        let behind = line.checked_sub(end_of(hunk.old));
        match behind {
            // Behind the last line that the hunk changes.
            Some(behind) => end_of(hunk.new).saturating_add(behind),
            None if is_start => hunk.new.start,
            None => end_of(hunk.new).saturating_sub(1),
        }
    };
    LineRange::new(line(range.start, true), line(range.end, false)).ok()
}

/// What differs between two versions.
#[must_use]
pub fn hunks(old: &Lines<'_>, new: &Lines<'_>) -> Vec<Hunk> {
    of_runs(line_map::hunks(old.all(), new.all()))
}

/// The same of runs of lines counted from 0.
pub(crate) fn of_runs(hunks: Vec<line_map::TokenHunk>) -> Vec<Hunk> {
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
    fn lines_are_followed_into_the_new_version() {
        let check = |old: &str, new: &str, range: (u32, u32), expected: Option<(u32, u32)>| {
            let found = hunks(&Lines::new(old.as_bytes()), &Lines::new(new.as_bytes()));
            let lines = |(start, end)| LineRange { start, end };
            assert_eq!(lines_after(&found, lines(range)), expected.map(lines), "{old:?} {new:?} {range:?}");
        };
        check("a\nb\nc\n", "a\nb\nc\n", (2, 3), Some((2, 3)));
        check("a\nb\nc\n", "x\na\nb\nc\n", (2, 3), Some((3, 4)));
        check("a\nb\nc\n", "b\nc\n", (2, 3), Some((1, 2)));
        check("a\nb\nc\n", "b\nc\n", (1, 1), None);
        check("a\nb\nc\n", "a\nx\ny\nc\n", (2, 2), Some((2, 3)));
        check("a\nb\nc\n", "a\nx\ny\nc\n", (2, 3), Some((2, 4)));
        check("a\nb\nc\nd\n", "a\nd\n", (1, 2), Some((1, 1)));
        check("a\nb\nc\nd\n", "a\nd\n", (2, 4), Some((2, 2)));
        check("a\nb\nc\nd\n", "a\nd\n", (2, 3), None);
        check("a\nb\nc\nd\n", "x\nb\ny\nz\nd\ne\n", (1, 4), Some((1, 5)));
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
