//! Where a recorded range is in the present file, and what became of it.
//!
//! The diff between the two versions decides, where something proves that the lines it
//! maps are the same code. Where it finds the range damaged, the same words in another
//! layout (reformatted, re-indented, moved) are looked for, because a lesson outlives the
//! white space around it.

use std::cell::OnceCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Differ, LineMap, LineRange, Lines, Sketch,
    code::{
        evidence::{is_telling, is_telling_block},
        landmarks::{ByWord, Words},
        lines::is_substantive,
        sketch::{EDGE, TRIVIAL, line_hash},
        survivors::{Found, stands_once, survivors},
    },
};

/// What became of the code that a lesson is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Every line is as it was.
    Intact,
    /// Part of it is there, or all of it in another layout.
    Changed,
    /// Nothing of it is left.
    Gone,
}

/// Why nothing is left of the code that a lesson is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoneBecause {
    /// It was taken away, and nothing replaced it.
    Deleted,
    /// Other lines replaced it.
    Rewritten,
    /// It went to another place.
    Moved,
    /// It never was on this branch.
    NotOnThisBranch,
    /// The version that it was recorded in is not at hand.
    Unknown,
}

/// Where a range is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The lines of the present file.
    pub lines: Option<LineRange>,
    /// What became of it.
    pub state: State,
    /// The share of its substantive lines that survived, 0 to 1.
    pub share: f64,
    /// Why it is gone.
    pub because: Option<GoneBecause>,
    /// Where lines like these are that nothing proves to be the same code.
    pub hint: Option<Hint>,
}

/// Lines like those that are looked for, but such as could be anywhere: they are the same code only where something else
/// shows it, such as the item that they are in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// First line of the present file.
    start: u32,
    /// Last line.
    end: u32,
    /// The share of the substantive lines that are there, 0 to 1.
    share: f64,
    /// Whether every line is there, in one piece.
    is_intact: bool,
    /// Whether all of a sketched range is there in one piece, and in no other place.
    is_only: bool,
}

impl Hint {
    fn of(found: Found) -> Self {
        let Found { lines, share, is_intact, is_only, .. } = found;
        Self { start: lines.start, end: lines.end, share, is_intact, is_only }
    }

    /// The lines.
    #[must_use]
    pub fn lines(self) -> LineRange {
        LineRange { start: self.start, end: self.end }
    }

    /// The place of the code, once it is known to be this.
    #[must_use]
    pub fn place(self) -> Place {
        Place::found(Found {
            lines: self.lines(),
            share: self.share,
            is_intact: self.is_intact,
            is_proven: true,
            is_only: self.is_only,
        })
    }
}

impl Place {
    /// Nothing is left, for some reason.
    #[must_use]
    pub fn gone(because: GoneBecause) -> Self {
        Self { lines: None, state: State::Gone, share: 0.0, because: Some(because), hint: None }
    }

    /// Part of it is in `lines`.
    #[must_use]
    pub fn changed(lines: LineRange, share: f64) -> Self {
        Self { lines: Some(lines), state: State::Changed, share, because: None, hint: None }
    }

    fn found(found: Found) -> Self {
        let Found { lines, share, is_intact, .. } = found;
        let state = if is_intact { State::Intact } else { State::Changed };
        Self { state, ..Self::changed(lines, share) }
    }

    /// The place of a range that the diff leaves whole, with what is around it; `None` when it takes a look at the old
    /// version.
    #[must_use]
    pub fn intact(range: LineRange, map: &LineMap) -> Option<Self> {
        let mapped = map.map(range);
        let is_plain = mapped.intact && map.is_framed(range);
        is_plain.then_some(Self { state: State::Intact, ..Self::changed(mapped.lines?, 1.0) })
    }
}

/// Shorter texts stand in many places by chance.
const SHORTEST_REFLOWED: usize = 16;
/// Less than this share of the lines is no proof that a block moved.
const LEAST_MOVED_SHARE: f64 = 0.5;
/// So many lines in a row, each of which stands once, prove where a block is as a distinctive one does.
const LEAST_IN_A_ROW: usize = 3;

/// The present file, with what is needed to look for moved and reformatted code made only once.
pub struct Locator<'a> {
    new: Lines<'a>,
    haystack: OnceCell<Haystack>,
    dense: OnceCell<Dense>,
}

impl<'a> Locator<'a> {
    /// Prepares to look in `new`.
    #[must_use]
    pub fn new(new: Lines<'a>) -> Self {
        Self { new, haystack: OnceCell::new(), dense: OnceCell::new() }
    }

    /// The lines that are looked in.
    #[must_use]
    pub fn lines(&self) -> &Lines<'a> {
        &self.new
    }

    /// Finds `range` of `old`, given the diff of the two.
    #[must_use]
    pub fn locate(&self, old: &Lines<'_>, range: LineRange, map: &LineMap) -> Place {
        self.locate_lines(old, range, map, true)
    }

    /// The same of lines that a commit wrote: one that was edited since is another commit's.
    #[must_use]
    pub fn locate_written(&self, old: &Lines<'_>, range: LineRange, map: &LineMap) -> Place {
        self.locate_lines(old, range, map, false)
    }

    fn locate_lines(&self, old: &Lines<'_>, range: LineRange, map: &LineMap, with_edited: bool) -> Place {
        if let Some(place) = Place::intact(range, map) {
            return place;
        }
        let by_diff = survivors(old, self, range, map, with_edited);
        let proven = by_diff.filter(|found| found.is_proven);
        let lines = old.of(range);
        let moved = || {
            let hashes: Vec<u32> = lines.iter().map(|line| line_hash(line)).collect();
            self.block(&hashes, |number| stands_once(old, lines[number]))
        };
        let mut elsewhere = None;
        let found = proven
            .filter(|found| 0.99 < found.share)
            .or_else(|| self.reflowed(old, range))
            .or_else(|| proven.filter(|found| LEAST_MOVED_SHARE <= found.share))
            .or_else(|| {
                elsewhere = moved();
                elsewhere.filter(|found| found.is_proven)
            })
            .or(proven);
        match found {
            Some(found) => Place::found(found),
            None => {
                Place { hint: by_diff.or(elsewhere).map(Hint::of), ..Place::gone(self.why_gone(range, map)) }
            }
        }
    }

    /// Finds a sketched range without the version it was taken from.
    #[must_use]
    pub fn locate_sketch(&self, sketch: &Sketch) -> Option<Place> {
        self.sketched(sketch).filter(|found| found.is_proven).map(Place::found)
    }

    /// Finds a sketched range in the file that it was taken from, in another version.
    #[must_use]
    pub fn locate_sketch_of_file(&self, sketch: &Sketch) -> Place {
        match self.sketched(sketch) {
            Some(found) if found.is_proven || found.is_only => Place::found(found),
            found => Place { hint: found.map(Hint::of), ..Place::gone(GoneBecause::Unknown) },
        }
    }

    /// Where a sketched range may be, though its lines could be anywhere.
    #[must_use]
    pub fn hint_of(&self, sketch: &Sketch) -> Option<Hint> {
        self.sketched(sketch).map(Hint::of)
    }

    fn sketched(&self, sketch: &Sketch) -> Option<Found> {
        let hashes = sketch.hashes()?;
        if hashes.len() < 2 * EDGE {
            return self.block(&hashes, |_| true);
        }
        let (head, tail) = (self.block(&hashes[..EDGE], |_| true), self.block(&hashes[EDGE..], |_| true));
        match (head, tail) {
            (Some(head), Some(tail)) if head.is_proven == tail.is_proven => Some(Found {
                lines: head.lines.hull(tail.lines),
                share: f64::midpoint(head.share, tail.share),
                is_only: head.is_only && tail.is_only,
                ..head
            }),
            (head, tail) => {
                let is_proven = |found: &Found| found.is_proven;
                let found = head.filter(is_proven).or(tail.filter(is_proven)).or(head).or(tail);
                found.map(|found| Found { share: found.share / 2.0, ..found })
            }
        }
    }

    /// How often a line with the words of `text` is there.
    pub(crate) fn n_times(&self, text: &[u8]) -> usize {
        self.haystack().positions(line_hash(text)).len()
    }

    fn haystack(&self) -> &Haystack {
        self.haystack.get_or_init(|| Haystack::new(&self.new))
    }

    /// Why nothing is left of `range`.
    fn why_gone(&self, range: LineRange, map: &LineMap) -> GoneBecause {
        let in_its_place = map.in_place_of(range.start as usize - 1..range.end as usize);
        let lines = self.new.all().get(in_its_place).unwrap_or_default();
        match lines.iter().any(|line| is_substantive(line)) {
            true => GoneBecause::Rewritten,
            false => GoneBecause::Deleted,
        }
    }

    /// Finds the same text with other white space and line breaks, where that stands once in either version and has as
    /// many names as a distinctive line.
    fn reflowed(&self, old: &Lines<'_>, range: LineRange) -> Option<Found> {
        let lines = old.of(range);
        let mut needle = Vec::with_capacity(lines.iter().map(|line| line.len()).sum());
        lines.iter().for_each(|line| needle.extend(dense(line)));
        if needle.len() < SHORTEST_REFLOWED || !is_substantive(&needle) || !is_telling_block(lines) {
            return None;
        }
        let Dense { text, line_of, grams } = self.dense.get_or_init(|| Dense::new(&self.new));
        if !grams.may_hold(&needle) {
            return None;
        }
        let mut all = memchr::memmem::find_iter(text, &needle);
        let (at, None) = (all.next()?, all.next()) else { return None };
        let before: Vec<u8> = old.all().iter().flat_map(|line| dense(line)).collect();
        if memchr::memmem::find_iter(&before, &needle).nth(1).is_some() {
            return None;
        }
        let (first, last) = (line_of[at], line_of[at + needle.len() - 1]);
        let lines = LineRange::new(first + 1, last + 1).ok()?;
        Some(Found { lines, share: 1.0, is_intact: false, is_proven: true, is_only: true })
    }

    /// The lines among which most of `needle` stands in order, given by hashes; `is_once` says whether the line with a
    /// number stands once where they are from.
    fn block(&self, needle: &[u32], is_once: impl Fn(usize) -> bool) -> Option<Found> {
        let haystack = self.haystack();
        let Block { found, lines, share, is_whole } = find_block(needle, haystack)?;
        let stands_once = |(number, at): &(usize, usize)| {
            haystack.positions(haystack.hashes[*at]).len() == 1 && is_once(*number)
        };
        let is_distinctive = |pair: &(usize, usize)| is_telling(self.new.all()[pair.1]) && stands_once(pair);
        let is_row = |row: &[(usize, usize)]| {
            let follows = |pair: &[(usize, usize)]| {
                let between = |from: usize, to: usize, of: &dyn Fn(usize) -> bool| (from + 1..to).any(of);
                let (left, right) = (pair[0], pair[1]);
                !between(left.0, right.0, &|line| !haystack.trivial.contains(&needle[line]))
                    && !between(left.1, right.1, &|line| is_substantive(self.new.all()[line]))
            };
            row.iter().all(stands_once) && row.windows(2).all(follows)
        };
        let is_proven = found.iter().any(is_distinctive) || found.windows(LEAST_IN_A_ROW).any(is_row);
        let is_only = is_whole && found.iter().any(stands_once);
        Some(Found { lines, share, is_intact: false, is_proven, is_only })
    }
}

impl Sketch {
    /// Finds the sketched range in `new`.
    #[must_use]
    pub fn locate(&self, new: &Lines<'_>) -> Option<Place> {
        Locator::new(new.clone()).locate_sketch(self)
    }

    /// Where in `new` lines like the sketched ones are, though they could be anywhere.
    #[must_use]
    pub fn likeliest(&self, new: &Lines<'_>) -> Option<LineRange> {
        Locator::new(new.clone()).hint_of(self).map(Hint::lines)
    }
}

/// A text without white space, and the zero-based line of each of its bytes.
struct Dense {
    text: Vec<u8>,
    line_of: Vec<u32>,
    grams: Grams,
}

impl Dense {
    fn new(lines: &Lines<'_>) -> Self {
        let n_bytes = lines.all().iter().map(|line| line.len()).sum();
        let (mut text, mut line_of) = (Vec::with_capacity(n_bytes), Vec::with_capacity(n_bytes));
        for (number, line) in (0..).zip(lines.all()) {
            text.extend(dense(line));
            line_of.resize(text.len(), number);
        }
        Self { grams: Grams::of(&text), text, line_of }
    }
}

/// Bytes that are looked at together.
const GRAM: usize = 8;

/// Which runs of bytes a text holds, as a set of bits that may say yes too often: most of what is looked for is not
/// there, and to search all of the text for it takes much longer.
struct Grams(Vec<u64>);

impl Grams {
    fn of(text: &[u8]) -> Self {
        // A bit of sixteen is set where all runs differ.
        let n_words = (text.len() / 4).next_power_of_two().max(1);
        let mut grams = Self(vec![0; n_words]);
        for gram in text.windows(GRAM).filter_map(|gram| gram.first_chunk()) {
            let (word, bit) = grams.place(*gram);
            grams.0[word] |= bit;
        }
        grams
    }

    fn place(&self, gram: [u8; GRAM]) -> (usize, u64) {
        let hash = u64::from_le_bytes(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = usize::try_from(hash >> 32).unwrap_or_default() & (self.0.len() - 1);
        (word, 1 << ((hash >> 26) & 63))
    }

    /// Whether the text may hold `needle`.
    fn may_hold(&self, needle: &[u8]) -> bool {
        let has = |gram: &[u8; GRAM]| {
            let (word, bit) = self.place(*gram);
            self.0[word] & bit != 0
        };
        let ends = [needle.first_chunk(), needle.last_chunk(), needle[needle.len() / 2..].first_chunk()];
        ends.into_iter().flatten().all(has)
    }
}

fn dense(line: &[u8]) -> impl Iterator<Item = u8> + '_ {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace())
}

/// The lines to search, by hash.
struct Haystack {
    hashes: Vec<u32>,
    /// The lines that say something: their hashes and where they stand, in order.
    positions: Vec<(u32, u32)>,
    /// Hashes of lines that prove nothing.
    trivial: Words,
}

impl Haystack {
    fn new(lines: &Lines<'_>) -> Self {
        let hashes: Vec<u32> = lines.all().iter().map(|line| line_hash(line)).collect();
        let mut positions = Vec::with_capacity(hashes.len());
        let mut trivial: Words = TRIVIAL.map(line_hash).into_iter().collect();
        for ((number, hash), line) in (0..).zip(&hashes).zip(lines.all()) {
            if is_substantive(line) {
                positions.push((*hash, number));
            } else {
                trivial.insert(*hash);
            }
        }
        positions.sort_unstable();
        Self { hashes, positions, trivial }
    }

    /// Where lines with this hash stand.
    fn positions(&self, hash: u32) -> impl ExactSizeIterator<Item = usize> {
        let first = self.positions.partition_point(|(known, _)| *known < hash);
        let n = self.positions[first..].partition_point(|(known, _)| *known == hash);
        self.positions[first..first + n].iter().map(|(_, number)| *number as usize)
    }
}

/// Lines that stand this often in a file say nothing about where a block is.
const TOO_COMMON: usize = 64;

/// Lines of the haystack where most of a needle stands in order.
struct Block {
    /// Numbers of lines of the needle that say something, and where they are.
    found: Vec<(usize, usize)>,
    lines: LineRange,
    share: f64,
    /// Whether all of the needle is there in one piece.
    is_whole: bool,
}

/// The window of the haystack where most of `needle` stands in order.
fn find_block(needle: &[u32], haystack: &Haystack) -> Option<Block> {
    let n_substantive = needle.iter().filter(|hash| !haystack.trivial.contains(hash)).count();
    let mut votes: ByWord<usize, usize> = ByWord::default();
    for (index, hash) in needle.iter().enumerate() {
        let positions = haystack.positions(*hash);
        if TOO_COMMON < positions.len() {
            continue;
        }
        for position in positions {
            // Offsets are shifted by the needle's length so that they stay positive.
            *votes.entry(position + needle.len() - index).or_default() += 1;
        }
    }
    let (&shifted, _) = votes.iter().max_by_key(|(offset, votes)| (**votes, std::cmp::Reverse(**offset)))?;
    let slack = 3 + needle.len() / 4;
    let from = shifted.saturating_sub(needle.len() + slack);
    let to = (shifted + slack).min(haystack.hashes.len());
    let window = &haystack.hashes[from..to];
    let positions = Differ::default().matches(needle, window);
    let found: Vec<(usize, usize)> = needle
        .iter()
        .zip(&positions)
        .enumerate()
        .filter(|(_, (hash, _))| !haystack.trivial.contains(hash))
        .filter_map(|(number, (_, position))| position.map(|position| (number, from + position as usize)))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
    let share = found.len() as f64 / n_substantive as f64;
    let is_enough = LEAST_MOVED_SHARE <= share && (2 <= found.len() || is_unique(needle, haystack, &found));
    let (first, last) = (found.first()?.1, found.last()?.1);
    // Lines that prove nothing belong to the block too where all of it stands unchanged.
    let whole = shifted.checked_sub(needle.len()).filter(|at| haystack.hashes[*at..].starts_with(needle));
    let lines = match whole {
        Some(at) => LineRange::from_zero_based(at, needle.len()),
        None => LineRange::from_zero_based(first, last - first + 1),
    };
    is_enough.then_some(Block { found, lines, share, is_whole: whole.is_some() })
}

/// One line alone proves a place when it stands nowhere else.
fn is_unique(needle: &[u32], haystack: &Haystack, found: &[(usize, usize)]) -> bool {
    needle.len() <= 3 && found.len() == 1 && haystack.positions(haystack.hashes[found[0].1]).len() == 1
}

#[cfg(test)]
mod tests;
