//! Which lines of a range survived an edit, and what proves it.
//!
//! A diff maps any line to one of the same words, so a lone `} finally {` of code that was deleted is mapped to another
//! function's. A line proves that the code is there when it is distinctive (`evidence`), when the
//! lines that say something above and below it are still next to it, when it is next to a distinctive one or in a run of
//! several, or when it was edited in place (`edited`). Other lines count only near one that does.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    LineMap, LineRange, Lines,
    code::{
        edited::{Edited, edited},
        evidence::{is_import, is_telling},
        line_map::largest_cluster,
        locate::Locator,
    },
};

/// What is left of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) lines: LineRange,
    /// The share of its substantive lines that survived, 0 to 1.
    pub(crate) share: f64,
    /// Whether every line survived, in one piece.
    pub(crate) is_intact: bool,
    /// Whether anything proves that this is the code.
    pub(crate) is_proven: bool,
    /// Whether all of it is there in one piece, and in no other place.
    pub(crate) is_only: bool,
}

/// Lines that were edited in place prove where a range is if at least this share of it is left.
const LEAST_EDITED_SHARE: f64 = 0.5;

/// A line of the range that survived.
#[derive(Debug, Clone, Copy)]
struct Survivor {
    old: usize,
    new: usize,
    /// How much of it is left, 0 to 1.
    worth: f64,
    is_proof: bool,
}

/// What `map` leaves of `range` of `old` in the lines of `new`, lines that were edited in place included or not.
pub(crate) fn survivors(
    old: &Lines<'_>,
    new: &Locator<'_>,
    range: LineRange,
    map: &LineMap,
    with_edited: bool,
) -> Option<Found> {
    let mapped = map.map(range);
    let (start, end) = (range.start as usize - 1, (range.end as usize).min(old.all().len()));
    if end <= start {
        return None;
    }
    let run = Runs { old, new, map, known: RefCell::default() };
    let is_proof = |line: usize| run.is_distinctive(line) || run.is_framed(line) || run.proves(line);
    let kept = (start..end).filter_map(|line| {
        let at = map.at(line)?;
        Some(Survivor { old: line, new: at, worth: 1.0, is_proof: is_proof(line) })
    });
    let mut found: Vec<Survivor> = kept.collect();
    if mapped.intact && found.iter().any(|line| line.is_proof) {
        return Some(Found {
            lines: mapped.lines?,
            share: 1.0,
            is_intact: true,
            is_proven: true,
            is_only: false,
        });
    }
    let lines = |survivors: &[Survivor]| -> Vec<u32> {
        survivors.iter().filter_map(|line| u32::try_from(line.new).ok()).collect()
    };
    let by_diff = found.clone();
    let edited = if with_edited { edited_in(old, new.lines(), start..end, map) } else { Vec::new() };
    for Edited { old, new, likeness, is_proof } in edited {
        found.push(Survivor { old, new, worth: likeness, is_proof });
    }
    found.sort_unstable_by_key(|line| line.new);
    // A range of nothing but braces and blanks is judged by all its lines.
    let judge_all = !(start..end).any(|line| map.is_substantive(line));
    let is_judged = |line: usize| judge_all || map.is_substantive(line);
    found.retain(|line| is_judged(line.old));
    let n_judged = (start..end).filter(|line| is_judged(*line)).count();
    #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
    let share_of =
        |found: &[Survivor]| found.iter().map(|line| line.worth).sum::<f64>() / n_judged.max(1) as f64;
    // A line that is merely like one of many that are gone is a neighbour's, or the end of a range that went elsewhere.
    let counts_edited = LEAST_EDITED_SHARE <= share_of(&found);
    let is_proof = |line: &&Survivor| line.is_proof && (counts_edited || 1.0 <= line.worth);
    let proofs: Vec<Survivor> = found.iter().filter(is_proof).copied().collect();
    let is_proven = !proofs.is_empty();
    if is_proven {
        let slack = 3 + range.len() as usize / 2;
        found.retain(|line| proofs.iter().any(|proof| line.drift_from(proof) <= slack));
    } else if mapped.intact {
        return Some(Found {
            lines: mapped.lines?,
            share: 1.0,
            is_intact: true,
            is_proven: false,
            is_only: false,
        });
    }
    let proven: HashSet<u32> = lines(&proofs).into_iter().collect();
    let hull = largest_cluster(&lines(&found), range.len(), |line| !is_proven || proven.contains(&line))?;
    let share = share_of(&found);
    let lines = with_edges(hull, &lines(&by_diff));
    Some(Found { lines, share: share.min(1.0), is_intact: false, is_proven, is_only: false })
}

impl Survivor {
    /// How much farther from, or nearer to, `other` it is in the new version.
    fn drift_from(&self, other: &Self) -> usize {
        let (old, new) = (self.old.abs_diff(other.old), self.new.abs_diff(other.new));
        old.abs_diff(new)
    }
}

/// Widens `hull` by those lines `left`, zero-based and in order, that touch it, such as a closing brace.
fn with_edges(mut hull: LineRange, left: &[u32]) -> LineRange {
    for line in left {
        if line + 1 == hull.end + 1 {
            hull.end = line + 1;
        }
    }
    for line in left.iter().rev() {
        if line + 2 == hull.start {
            hull.start = line + 1;
        }
    }
    hull
}

/// A line counts by way of a distinctive one that is no farther from it.
const FARTHEST: usize = 8;
/// So many lines in a row that say something prove each other.
const LEAST_IN_A_RUN: usize = 3;

/// A line that says something next to another one, but for lines that say nothing.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    /// Its number in the old version.
    line: usize,
    /// Whether it is next to that line in the new version, too.
    is_kept: bool,
}

/// Lines without a blank one between them that are next to each other in both versions.
struct Runs<'a, 'l> {
    old: &'a Lines<'l>,
    new: &'a Locator<'a>,
    map: &'a LineMap,
    /// Which lines are distinctive, as far as that was asked.
    known: RefCell<HashMap<usize, bool>>,
}

impl Runs<'_, '_> {
    /// Whether the old line `line` identifies code, and stands once in both versions.
    fn is_distinctive(&self, line: usize) -> bool {
        let look = || {
            let Some(text) = self.old.all().get(line) else { return false };
            // A file takes another one in only once.
            let identifies = is_telling(text) || is_import(text);
            identifies && stands_once(self.old, text) && self.new.n_times(text) == 1
        };
        *self.known.borrow_mut().entry(line).or_insert_with(look)
    }

    /// Whether the lines that say something above and below the old line `line` are next to it in both versions. At an end
    /// of the file there is but one, which has to identify code.
    fn is_framed(&self, line: usize) -> bool {
        let Some(at) = self.map.at(line) else { return false };
        let new = self.new.lines();
        let ends = |range: Range<usize>| !range.into_iter().any(|line| says(new, line));
        let alone = |beside: Neighbour| beside.is_kept && self.is_distinctive(beside.line);
        match self.neighbours(line) {
            [Some(above), Some(below)] => above.is_kept && below.is_kept,
            [Some(above), None] => ends(at + 1..new.all().len()) && alone(above),
            [None, Some(below)] => ends(0..at) && alone(below),
            [None, None] => ends(0..at) && ends(at + 1..new.all().len()),
        }
    }

    /// The lines that say something above the old line `line` and below it.
    fn neighbours(&self, line: usize) -> [Option<Neighbour>; 2] {
        let Some(at) = self.map.at(line) else { return [None; 2] };
        let new = self.new.lines();
        let above = (0..line).rev().find(|line| self.map.is_substantive(*line));
        let below = (line + 1..self.old.all().len()).find(|line| self.map.is_substantive(*line));
        let above_now = || (0..at).rev().find(|line| says(new, *line));
        let below_now = || (at + 1..new.all().len()).find(|line| says(new, *line));
        let is_next =
            |then: usize, now: Option<usize>| self.map.at(then).is_some_and(|then| Some(then) == now);
        [
            above.map(|then| Neighbour { line: then, is_kept: is_next(then, above_now()) }),
            below.map(|then| Neighbour { line: then, is_kept: is_next(then, below_now()) }),
        ]
    }

    /// Whether the run that the old line `line` is in is long enough, or has a distinctive line, to prove where it is.
    fn proves(&self, line: usize) -> bool {
        let Some(at) = self.map.at(line) else { return false };
        let is_blank = |line: usize| self.old.all().get(line).is_none_or(|line| line.trim_ascii().is_empty());
        if is_blank(line) {
            return false;
        }
        let goes_on = |old: Option<usize>, new: Option<usize>| {
            old.zip(new)
                .filter(|(old, new)| self.map.at(*old) == Some(*new) && !is_blank(*old))
                .map(|(old, _)| old)
        };
        let above = (1..=FARTHEST).map_while(|n| goes_on(line.checked_sub(n), at.checked_sub(n)));
        let below = (1..=FARTHEST).map_while(|n| goes_on(Some(line + n), Some(at + n)));
        let run: Vec<usize> = above.chain(below).collect();
        let n_telling = [line].iter().chain(&run).filter(|line| self.map.is_substantive(**line)).count();
        LEAST_IN_A_RUN <= n_telling || run.iter().any(|line| self.is_distinctive(*line))
    }
}

/// Whether no other line of `lines` has the same words as `text`, of which there is one.
pub(crate) fn stands_once(lines: &Lines<'_>, text: &[u8]) -> bool {
    let text = text.trim_ascii();
    lines.all().iter().filter(|line| line.trim_ascii() == text).nth(1).is_none()
}

fn says(lines: &Lines<'_>, line: usize) -> bool {
    lines.all().get(line).is_some_and(|line| crate::is_substantive(line))
}

/// The lines of `old` in `range` that were edited in place.
fn edited_in(old: &Lines<'_>, new: &Lines<'_>, range: Range<usize>, map: &LineMap) -> Vec<Edited> {
    let mut found = Vec::new();
    let mut line = range.start;
    while line < range.end {
        if !map.is_lost(line) {
            line += 1;
            continue;
        }
        let (removed, added) = map.hunk_of(line);
        line = removed.end;
        let here = edited((old, removed), (new, added));
        found.extend(here.into_iter().filter(|edited| range.contains(&edited.old)));
    }
    found
}
