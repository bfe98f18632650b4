//! Where a recorded range is in the present file, and what became of it.
//!
//! The diff between the two versions decides. Where it finds the range damaged,
//! the same words in another layout (reformatted, re-indented, moved) are looked
//! for, because a lesson outlives the white space around it.

use std::cell::OnceCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Differ, LineMap, LineRange, Lines, Sketch,
    landmarks::{ByWord, Words},
    lines::is_substantive,
    sketch::{EDGE, TRIVIAL, line_hash},
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

/// Where a range is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The lines of the present file.
    pub lines: Option<LineRange>,
    /// What became of it.
    pub state: State,
    /// The share of its substantive lines that survived, 0 to 1.
    pub share: f64,
}

impl Place {
    /// Nothing is left.
    pub const GONE: Self = Self { lines: None, state: State::Gone, share: 0.0 };

    /// The place of a range that the diff leaves whole; `None` when it takes a look at the old version.
    #[must_use]
    pub fn intact(range: LineRange, map: &LineMap) -> Option<Self> {
        let mapped = map.map(range);
        mapped.intact.then_some(Self { lines: mapped.lines, state: State::Intact, share: 1.0 })
    }
}

/// Shorter texts stand in many places by chance.
const SHORTEST_REFLOWED: usize = 16;
/// Less than this share of the lines is no proof that a block moved.
const LEAST_MOVED_SHARE: f64 = 0.5;

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
        self.locate_lines(old.of(range), range, map)
    }

    /// The same, given the lines `old` of that range alone.
    #[must_use]
    pub fn locate_lines(&self, old: &[&[u8]], range: LineRange, map: &LineMap) -> Place {
        if let Some(place) = Place::intact(range, map) {
            return place;
        }
        let mapped = map.map(range);
        let by_diff = mapped.lines.map(|lines| Place {
            lines: Some(lines),
            state: State::Changed,
            share: mapped.share,
        });
        let well_mapped = |place: &Place| 0.99 < place.share;
        by_diff
            .filter(well_mapped)
            .or_else(|| self.reflowed(old, range))
            .or_else(|| by_diff.filter(|place| LEAST_MOVED_SHARE <= place.share))
            .or_else(|| self.moved(old))
            .or(by_diff)
            .unwrap_or(Place::GONE)
    }

    /// Finds a sketched range without the version it was taken from.
    #[must_use]
    pub fn locate_sketch(&self, sketch: &Sketch) -> Option<Place> {
        let hashes = sketch.hashes()?;
        let haystack = self.haystack();
        if hashes.len() < 2 * EDGE {
            return find_block(&hashes, haystack);
        }
        let (head, tail) = (find_block(&hashes[..EDGE], haystack), find_block(&hashes[EDGE..], haystack));
        match (head, tail) {
            (Some(head), Some(tail)) => {
                let lines = head.lines.zip(tail.lines).map(|(head, tail)| head.hull(tail));
                Some(Place { lines, state: State::Changed, share: f64::midpoint(head.share, tail.share) })
            }
            (head, tail) => head.or(tail).map(|place| Place { share: place.share / 2.0, ..place }),
        }
    }

    fn haystack(&self) -> &Haystack {
        self.haystack.get_or_init(|| Haystack::new(&self.new))
    }

    /// Finds the same text with other white space and line breaks.
    fn reflowed(&self, old: &[&[u8]], range: LineRange) -> Option<Place> {
        let mut needle = Vec::with_capacity(old.iter().map(|line| line.len()).sum());
        old.iter().for_each(|line| needle.extend(dense(line)));
        if needle.len() < SHORTEST_REFLOWED || !is_substantive(&needle) {
            return None;
        }
        let Dense { text, line_of, grams } = self.dense.get_or_init(|| Dense::new(&self.new));
        if !grams.may_hold(&needle) {
            return None;
        }
        let distance = |at: &usize| line_of[*at].abs_diff(range.start - 1);
        let at = memchr::memmem::find_iter(text, &needle).min_by_key(distance)?;
        let (first, last) = (line_of[at], line_of[at + needle.len() - 1]);
        let lines = LineRange::new(first + 1, last + 1).ok();
        Some(Place { lines, state: State::Changed, share: 1.0 })
    }

    /// Finds most of the lines together in another part of the file.
    fn moved(&self, old: &[&[u8]]) -> Option<Place> {
        let hashes: Vec<u32> = old.iter().map(|line| line_hash(line)).collect();
        find_block(&hashes, self.haystack())
    }
}

impl Sketch {
    /// Finds the sketched range in `new`.
    #[must_use]
    pub fn locate(&self, new: &Lines<'_>) -> Option<Place> {
        Locator::new(new.clone()).locate_sketch(self)
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

/// The window of the haystack where most of `needle` stands in order.
fn find_block(needle: &[u32], haystack: &Haystack) -> Option<Place> {
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
    let found: Vec<usize> = needle
        .iter()
        .zip(&positions)
        .filter(|(hash, _)| !haystack.trivial.contains(hash))
        .filter_map(|(_, position)| position.map(|position| from + position as usize))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
    let share = found.len() as f64 / n_substantive as f64;
    let is_proof = LEAST_MOVED_SHARE <= share && (2 <= found.len() || is_unique(needle, haystack, &found));
    let (first, last) = (*found.first()?, *found.last()?);
    // Lines that prove nothing belong to the block too where all of it stands unchanged.
    let whole = shifted.checked_sub(needle.len()).filter(|at| haystack.hashes[*at..].starts_with(needle));
    let lines = match whole {
        Some(at) => LineRange::from_zero_based(at, needle.len()),
        None => LineRange::from_zero_based(first, last - first + 1),
    };
    is_proof.then_some(Place { lines: Some(lines), state: State::Changed, share })
}

/// One line alone proves a place when it stands nowhere else.
fn is_unique(needle: &[u32], haystack: &Haystack, found: &[usize]) -> bool {
    needle.len() <= 3 && found.len() == 1 && haystack.positions(haystack.hashes[found[0]]).len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(old: &str, start: u32, end: u32, new: &str) -> (Option<(u32, u32)>, State) {
        let (old, new) = (Lines::new(old.as_bytes()), Lines::new(new.as_bytes()));
        let map = LineMap::between(&old, &new);
        let place = Locator::new(new).locate(&old, LineRange::new(start, end).unwrap(), &map);
        (place.lines.map(|lines| (lines.start, lines.end)), place.state)
    }

    const POOL: &str = "use std;\n\nfn acquire() {\n    wait_for_turn();\n    take_next(free);\n}\n\nfn release() {\n    give_back(it);\n    wake_one();\n    count -= 1;\n    log(count);\n}\n";

    #[test]
    fn reformatted_code_is_found_and_called_changed() {
        let reformatted =
            POOL.replace("fn acquire() {\n    wait_for_turn();\n", "fn acquire()\n{\n\twait_for_turn( );\n");
        assert_eq!(find(POOL, 3, 6, &reformatted), (Some((3, 7)), State::Changed));
    }

    #[test]
    fn a_function_that_moved_is_found() {
        let (acquire, release) = (&POOL[10..71], &POOL[72..]);
        let moved = format!("use std;\n\n{release}\n{acquire}");
        assert_eq!(find(POOL, 3, 6, &moved), (Some((10, 13)), State::Changed));
    }

    #[test]
    fn rewritten_code_is_gone() {
        assert_eq!(find(POOL, 4, 5, "use std;\n\nfn acquire() {\n    spin();\n}\n"), (None, State::Gone));
    }

    #[test]
    fn what_a_text_holds_may_be_in_it() {
        let text = POOL.as_bytes();
        let grams = Grams::of(text);
        for len in SHORTEST_REFLOWED..40 {
            assert!(text.windows(len).all(|needle| grams.may_hold(needle)));
        }
        assert!(!grams.may_hold(b"nothing of this stands there"));
    }

    #[test]
    fn a_sketch_finds_its_range_alone() {
        let sketch = Sketch::of(&Lines::new(POOL.as_bytes()), LineRange::new(8, 13).unwrap());
        let present = POOL
            .replace("    wake_one();\n", "    wake_one();\n    wake_two();\n")
            .replace("use std;\n", "//! Pool.\n\nuse std;\n");
        let place = sketch.locate(&Lines::new(present.as_bytes())).unwrap();
        assert_eq!(place.lines, LineRange::new(10, 15).ok());
        assert!(sketch.locate(&Lines::new(b"nothing\nof\nthis\n")).is_none());
    }
}
