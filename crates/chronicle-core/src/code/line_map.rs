//! Where the lines of one version of a file are in another: one diff, no history.
//!
//! `git blame` walks every version in between; the two ends are enough to say
//! where a line is now, a hundred times faster and with the same answer for
//! nearly every line (the reference figures are in DESIGN section 4).

use gix_imara_diff::{Algorithm, Diff, InternedInput, Interner, NoSliderHeuristic, Token};

use crate::{Differ, LineRange, Lines, line_word};

/// Where each line of an older version is in a newer one.
#[derive(Debug, Clone)]
pub struct LineMap {
    old: Vec<OldLine>,
    /// How many lines the new version has.
    n_new: usize,
}

/// What became of one line of the old version.
#[derive(Debug, Clone, Copy)]
struct OldLine(u32);

impl OldLine {
    /// No version has so many lines.
    const NOWHERE: u32 = u32::MAX >> 1;

    /// The line of the word `word`, which is the new line number `at`, zero-based, or nowhere.
    fn new(word: u32, at: u32) -> Self {
        Self((at << 1) | (word & 1))
    }

    /// Its zero-based new line.
    fn at(self) -> Option<u32> {
        let at = self.0 >> 1;
        (at != Self::NOWHERE).then_some(at)
    }

    /// Whether it says something.
    fn is_substantive(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What became of a range of lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mapped {
    /// The range that holds what survived.
    pub lines: Option<LineRange>,
    /// Whether every line survived, in one piece.
    pub intact: bool,
    /// The share of its substantive lines that survived, 0 to 1.
    pub share: f64,
}

impl LineMap {
    /// Diffs the two versions once.
    #[must_use]
    pub fn between(old: &Lines<'_>, new: &Lines<'_>) -> Self {
        let words =
            |lines: &Lines<'_>| -> Vec<u32> { lines.all().iter().map(|line| line_word(line)).collect() };
        Self::between_words(&words(old), &words(new))
    }

    /// Diffs two versions given as [`crate::line_words`].
    #[must_use]
    pub fn between_words(old: &[u32], new: &[u32]) -> Self {
        Differ::default().map(old, new)
    }

    /// The map of the lines `old` to a version with `n_new` lines that differs from theirs in `differences`.
    pub(crate) fn of_words(old: &[u32], n_new: usize, differences: &[TokenHunk]) -> Self {
        let mut lines: Vec<OldLine> = Vec::with_capacity(old.len());
        let mut next = 0;
        let end = u32::try_from(old.len()).unwrap_or(u32::MAX);
        for (removed, added) in differences.iter().chain([&(end..end, 0..0)]) {
            let kept = old[lines.len()..removed.start as usize].iter();
            lines.extend(kept.zip(next..).map(|(word, at)| OldLine::new(*word, at)));
            let gone = old[lines.len()..removed.end as usize].iter();
            lines.extend(gone.map(|word| OldLine::new(*word, OldLine::NOWHERE)));
            next = added.end;
        }
        Self { old: lines, n_new }
    }

    /// Whether the old version has all of `range`.
    #[must_use]
    pub fn has(&self, range: LineRange) -> bool {
        range.end as usize <= self.old.len()
    }

    /// Where `range` of the old version is in the new one.
    #[must_use]
    pub fn map(&self, range: LineRange) -> Mapped {
        let end = (range.end as usize).min(self.old.len());
        let start = (range.start as usize).checked_sub(1);
        let lines = start.and_then(|start| self.old.get(start..end)).filter(|lines| !lines.is_empty());
        let Some(lines) = lines else {
            return Mapped { lines: None, intact: false, share: 0.0 };
        };
        let is_whole = lines.len() == range.len() as usize;
        let is_in_one_piece = |first| lines.iter().zip(first..).all(|(line, at)| line.at() == Some(at));
        if let Some(first) = lines[0].at().filter(|first| is_whole && is_in_one_piece(*first)) {
            let lines = LineRange::from_zero_based(first as usize, lines.len());
            return Mapped { lines: Some(lines), intact: true, share: 1.0 };
        }
        // A range of nothing but braces and blanks is judged by all its lines.
        let judge_all = !lines.iter().any(|line| line.is_substantive());
        let judged = || lines.iter().filter(|line| judge_all || line.is_substantive());
        let alive: Vec<u32> = judged().filter_map(|line| line.at()).collect();
        let Some(hull) = largest_cluster(&alive, range.len(), |_| true) else {
            return Mapped { lines: None, intact: false, share: 0.0 };
        };
        #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
        let share = alive.len() as f64 / judged().count() as f64;
        Mapped { lines: Some(with_trivial_edges(hull, lines)), intact: false, share }
    }

    /// Whether the old line with this zero-based number is not in the new version.
    #[must_use]
    pub fn is_lost(&self, old_line: usize) -> bool {
        self.at(old_line).is_none()
    }

    /// Where in the new version the old line with this zero-based number is.
    pub(crate) fn at(&self, old_line: usize) -> Option<usize> {
        Some(self.old.get(old_line)?.at()? as usize)
    }

    /// Whether the old line with this zero-based number says something.
    pub(crate) fn is_substantive(&self, old_line: usize) -> bool {
        self.old.get(old_line).is_some_and(|line| line.is_substantive())
    }

    /// Whether one line of `range`, which is in one piece, is between the lines that say something above and below it in
    /// both versions, and all in between is as it was.
    #[must_use]
    pub fn is_framed(&self, range: LineRange) -> bool {
        let (start, end) = (range.start as usize - 1, (range.end as usize).min(self.old.len()));
        (start..end).any(|line| self.has_neighbour(line, true) && self.has_neighbour(line, false))
    }

    /// Whether the next line that says something, above or below `line`, is as far from it in the new version, and all in
    /// between too. The ends of a file are such lines.
    fn has_neighbour(&self, line: usize, above: bool) -> bool {
        let Some(at) = self.at(line) else { return false };
        for n in 1.. {
            let (old, new) = match above {
                true => (line.checked_sub(n), at.checked_sub(n)),
                false => (
                    Some(line + n).filter(|old| *old < self.old.len()),
                    Some(at + n).filter(|new| *new < self.n_new),
                ),
            };
            let (old, new) = match (old, new) {
                (Some(old), Some(new)) => (old, new),
                (ends, ends_too) => return ends.is_none() && ends_too.is_none(),
            };
            if self.at(old) != Some(new) {
                return false;
            }
            if self.is_substantive(old) {
                return true;
            }
        }
        false
    }

    /// The hunk that the lost old line with this zero-based number is in: the lines that went, and those in their place.
    pub(crate) fn hunk_of(&self, old_line: usize) -> LineHunk {
        let first = (0..old_line).rev().find(|line| !self.is_lost(*line)).map_or(0, |line| line + 1);
        let last = (old_line..self.old.len()).find(|line| !self.is_lost(*line)).unwrap_or(self.old.len());
        (first..last, self.in_place_of(first..last))
    }

    /// The zero-based new lines between what is next to the old lines `range` on either side.
    pub(crate) fn in_place_of(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let above = (0..range.start.min(self.old.len())).rev().find_map(|line| self.at(line));
        let below = (range.end..self.old.len()).find_map(|line| self.at(line));
        let start = above.map_or(0, |above| above + 1);
        start..below.unwrap_or(self.n_new).max(start)
    }

    /// The zero-based numbers of the new lines that are not in the old version.
    #[must_use]
    pub fn added(&self) -> Vec<usize> {
        let mut is_old = vec![false; self.n_new];
        for line in self.old.iter().filter_map(|line| line.at()) {
            is_old[line as usize] = true;
        }
        (0..self.n_new).filter(|line| !is_old[*line]).collect()
    }

    /// The share of the longer version's lines that both have, 0 to 1.
    #[must_use]
    pub fn likeness(&self) -> f64 {
        let n_common = self.old.iter().filter(|line| line.at().is_some()).count();
        let longer = self.old.len().max(self.n_new);
        #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
        let share = n_common as f64 / longer.max(1) as f64;
        share
    }

    /// Where in the new version the lines of a vanished `range` would be: between its surviving neighbours.
    #[must_use]
    pub fn gap(&self, range: LineRange) -> LineRange {
        let before = &self.old[..(range.start as usize - 1).min(self.old.len())];
        let after = self.old.get(range.end as usize..).unwrap_or_default();
        let before = before.iter().rev().find_map(|line| line.at());
        let after = after.iter().find_map(|line| line.at());
        // The neighbours themselves belong to the gap: whoever edits them stands where the lines were.
        let start = before.map_or(1, |line| line + 1);
        let end = after.map_or(u32::MAX, |line| line + 1);
        LineRange { start, end: end.max(start) }
    }
}

/// Widens `hull` by those of `lines`, such as a closing brace, that touch it.
fn with_trivial_edges(mut hull: LineRange, lines: &[OldLine]) -> LineRange {
    let left = || lines.iter().filter_map(|line| line.at()).map(|line| line + 1);
    for line in left() {
        if line == hull.end + 1 {
            hull.end = line;
        }
    }
    for line in left().rev() {
        if line + 1 == hull.start {
            hull.start = line;
        }
    }
    hull
}

/// The hull of the most `lines` that are together, one of which `counts`: a few strays far away must not stretch a range
/// over half a file.
pub(crate) fn largest_cluster(
    lines: &[u32],
    original_len: u32,
    counts: impl Fn(u32) -> bool,
) -> Option<LineRange> {
    let widest_gap = original_len.saturating_mul(2).max(20);
    lines
        .chunk_by(|left, right| right.saturating_sub(*left) <= widest_gap)
        .rev()
        .filter(|cluster| cluster.iter().any(|line| counts(*line)))
        .max_by_key(|cluster| cluster.len())
        .and_then(|cluster| LineRange::new(cluster.first()? + 1, cluster.last()? + 1).ok())
}

/// What a change did to the lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedRanges {
    /// The lines of the newer version that it wrote.
    pub added: Vec<LineRange>,
    /// Whether it took lines away.
    pub has_deletions: bool,
}

/// The lines that differ between two versions, given as [`crate::line_words`], without context.
#[must_use]
pub fn changed_ranges(old: &[u32], new: &[u32]) -> ChangedRanges {
    Differ::default().changed_ranges(old, new)
}

/// Runs of lines of two versions, one in the place of the other, both zero-based.
pub(crate) type LineHunk = (std::ops::Range<usize>, std::ops::Range<usize>);

/// A run of removed tokens and the run of added ones in its place, both zero-based.
pub(crate) type TokenHunk = (std::ops::Range<u32>, std::ops::Range<u32>);

/// Lines around what differs that take part in the diff: a run of equal lines may be told as changed a bit
/// earlier or later, and this is how far.
const MARGIN: usize = 32;

/// The runs in which two versions differ, by one histogram diff.
///
/// Fingerprints of changes are made of these, so they must stay as they are.
pub(crate) fn hunks<T: std::hash::Hash + Eq + Copy>(old: &[T], new: &[T]) -> Vec<TokenHunk> {
    let Some((skip, old, new)) = without_common_ends(old, new) else { return Vec::new() };
    histogram(old, new).map(|hunk| moved(hunk, (skip, skip))).collect()
}

/// What is left of two versions without most of what both begin and end with, and how much was left out at
/// the beginning; `None` when they are equal.
pub(crate) fn without_common_ends<'v, T: Eq>(
    old: &'v [T],
    new: &'v [T],
) -> Option<(usize, &'v [T], &'v [T])> {
    // Most versions differ in a few places: what both begin and end with need not be looked at closely.
    let n_first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    if n_first == old.len() && n_first == new.len() {
        return None;
    }
    let (old_rest, new_rest) = (&old[n_first..], &new[n_first..]);
    let n_last = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (skip, cut) = (n_first.saturating_sub(MARGIN), n_last.saturating_sub(MARGIN));
    Some((skip, &old[skip..old.len() - cut], &new[skip..new.len() - cut]))
}

/// A histogram diff of the two as they are.
pub(crate) fn histogram<T: std::hash::Hash + Eq + Copy>(
    old: &[T],
    new: &[T],
) -> impl Iterator<Item = TokenHunk> {
    let interner = Interner::new(old.len() + new.len());
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner };
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let InternedInput { before, after, interner } = input;
    histogram_by(&mut Diff::default(), (&before, &after), interner.num_tokens()).into_iter()
}

/// A histogram diff of the two by `diff`, whose buffers serve again. No token is as large as `n_tokens`.
pub(crate) fn histogram_by(
    diff: &mut Diff,
    (old, new): (&[Token], &[Token]),
    n_tokens: u32,
) -> Vec<TokenHunk> {
    diff.compute_with(Algorithm::Histogram, old, new, n_tokens);
    diff.postprocess_with(old, new, NoSliderHeuristic);
    diff.hunks().map(|hunk| (hunk.before, hunk.after)).collect()
}

/// A run of parts of two versions that begin so far down in them.
pub(crate) fn moved((removed, added): TokenHunk, (old_at, new_at): (usize, usize)) -> TokenHunk {
    let down = |range: std::ops::Range<u32>, by: usize| {
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        range.start + by..range.end + by
    };
    (down(removed, old_at), down(added, new_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(old: &str, new: &str, start: u32, end: u32) -> Mapped {
        let map = LineMap::between(&Lines::new(old.as_bytes()), &Lines::new(new.as_bytes()));
        map.map(LineRange::new(start, end).unwrap())
    }

    fn range(start: u32, end: u32) -> Option<LineRange> {
        LineRange::new(start, end).ok()
    }

    #[test]
    fn lines_that_only_moved_down_are_intact() {
        let mapped = map("a\nb\nc\n", "x\ny\na\nb\nc\n", 2, 3);
        assert_eq!((mapped.lines, mapped.intact), (range(4, 5), true));
    }

    #[test]
    fn an_edit_inside_leaves_the_rest() {
        let mapped = map("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", 1, 4);
        assert_eq!(mapped, Mapped { lines: range(1, 4), intact: false, share: 0.75 });
    }

    #[test]
    fn an_insertion_inside_is_a_change() {
        let mapped = map("one\ntwo\n", "one\nnew\ntwo\n", 1, 2);
        assert_eq!(mapped, Mapped { lines: range(1, 3), intact: false, share: 1.0 });
    }

    #[test]
    fn a_brace_alone_keeps_nothing_alive() {
        let mapped = map("fn a() {\n  one();\n}\n", "fn b() {\n  two();\n}\n", 1, 3);
        assert_eq!(mapped, Mapped { lines: None, intact: false, share: 0.0 });
    }

    #[test]
    fn lines_past_the_end_are_gone() {
        assert_eq!(map("a\n", "a\n", 5, 9).lines, None);
    }

    #[test]
    fn there_is_no_line_0() {
        let map = LineMap::between(&Lines::new(b"a\n"), &Lines::new(b"b\na\n"));
        assert_eq!(map.map(LineRange { start: 0, end: 0 }).lines, None);
    }
}
