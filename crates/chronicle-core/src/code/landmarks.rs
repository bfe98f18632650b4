//! Where two versions of a file differ, by way of the lines that stand once in each.
//!
//! Such lines, the most that follow each other in the same order in both, are landmarks; between two of them
//! a histogram diff has only a few lines to look at. One of whole files looks at all the rest again for each
//! place where they differ, and files that were worked on for years differ in hundreds.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
};

use gix_imara_diff::{Diff, Token};

use crate::{
    ChangedRanges, Hunk, LineMap, LineRange,
    code::{
        hunk,
        line_map::{TokenHunk, histogram, histogram_by, moved, without_common_ends},
        renumbered::Renumbered,
    },
    line_word,
};

/// Compares versions of a file, given as [`crate::line_words`].
///
/// What it saw of one pair of versions helps with the next: most of what lies between the landmarks of two
/// versions lies between those of their neighbours too. It changes no answer.
#[derive(Debug, Default)]
pub struct Differ {
    numbers: ByWord<u32>,
    seen: Seen,
    gaps: Gaps,
}

impl Differ {
    /// A word that stands for `line` among those of this differ, as long as all are given by it: twice its number
    /// among the lines that were seen, and one more where [`line_word`] says that it means something.
    ///
    /// Lines that follow each other mostly get numbers that do: what is told of them lies together too.
    pub fn number_line(&mut self, line: &[u8]) -> u32 {
        let word = line_word(line);
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(word).or_insert((next << 1) | (word & 1))
    }

    /// Where the lines of `old` are in `new`.
    #[must_use]
    pub fn map(&mut self, old: &[u32], new: &[u32]) -> LineMap {
        LineMap::of_words(old, new.len(), &self.differences(old, new))
    }

    /// The same, where lines are given as numbers that [`Self::number_line`] gave out.
    #[must_use]
    pub fn map_to(&mut self, old: &[u32], target: &mut MapTarget) -> LineMap {
        let MapTarget { words, places, at_old, .. } = target;
        let landmarks = |_: &mut Seen, skip, old: &[u32], new: &[u32]| {
            places.landmarks(old, skip..skip + new.len(), at_old)
        };
        let differences = self.differences_between(old, words, landmarks);
        LineMap::of_words(old, words.len(), &differences)
    }

    /// What differs between two versions, without context. Of runs that look alike it may be others than
    /// [`hunks`](crate::hunks) tells.
    #[must_use]
    pub fn hunks(&mut self, old: &[u32], new: &[u32]) -> Vec<Hunk> {
        hunk::of_runs(self.differences(old, new))
    }

    /// The lines that differ between two versions, without context.
    #[must_use]
    pub fn changed_ranges(&mut self, old: &[u32], new: &[u32]) -> ChangedRanges {
        let hunks = self.differences(old, new);
        ChangedRanges {
            has_deletions: hunks.iter().any(|(removed, _)| !removed.is_empty()),
            added: hunks
                .into_iter()
                .filter(|(_, added)| !added.is_empty())
                .map(|(_, added)| LineRange::from_zero_based(added.start as usize, added.len()))
                .collect(),
        }
    }

    /// For each word of `old`, its zero-based position in `new`.
    pub(crate) fn matches(&mut self, old: &[u32], new: &[u32]) -> Vec<Option<u32>> {
        let mut positions = Vec::with_capacity(old.len());
        let mut next = 0;
        let end = u32::try_from(old.len()).unwrap_or(u32::MAX);
        for (removed, added) in self.differences(old, new).into_iter().chain([(end..end, 0..0)]) {
            let n_before = removed.start - u32::try_from(positions.len()).unwrap_or(u32::MAX);
            positions.extend((next..next + n_before).map(Some));
            positions.resize(removed.end as usize, None);
            next = added.end;
        }
        positions
    }

    /// The runs in which two versions differ, in order.
    pub(crate) fn differences(&mut self, old: &[u32], new: &[u32]) -> Vec<TokenHunk> {
        let n_numbers = self.numbers.len();
        self.differences_between(old, new, |seen, _, old, new| seen.landmarks(old, new, n_numbers))
    }

    /// The same, where `landmarks` finds pairs of places of words that stand once in either of two slices, which begin
    /// so far down in the versions.
    fn differences_between(
        &mut self,
        old: &[u32],
        new: &[u32],
        landmarks: impl FnOnce(&mut Seen, usize, &[u32], &[u32]) -> Vec<Pair>,
    ) -> Vec<TokenHunk> {
        let Some((skip, old, new)) = without_common_ends(old, new) else { return Vec::new() };
        let pairs = landmarks(&mut self.seen, skip, old, new);
        // Mostly nothing was moved.
        let pairs = if pairs.is_sorted_by_key(|(_, new)| *new) { pairs } else { in_order(&pairs) };
        let mut found = Vec::new();
        let (mut old_at, mut new_at) = (0, 0);
        let places = pairs.into_iter().map(|(old, new)| (old as usize, new as usize));
        for (old_end, new_end) in places.chain([(old.len(), new.len())]) {
            // Mostly one landmark comes next to the other.
            if (old_at, new_at) == (old_end, new_end) {
                (old_at, new_at) = (old_end + 1, new_end + 1);
                continue;
            }
            let between = (&old[old_at..old_end], &new[new_at..new_end]);
            self.gaps.differences(
                between,
                (skip + old_at, skip + new_at),
                !self.numbers.is_empty(),
                &mut found,
            );
            (old_at, new_at) = (old_end + 1, new_end + 1);
        }
        found
    }
}

/// A version that one after the other is mapped to: where its lines stand is found once. Its lines are given as numbers
/// that [`Differ::number_line`] gave out.
#[derive(Debug)]
pub struct MapTarget {
    words: Vec<u32>,
    places: Places,
    /// For each line the one that it is in the older version, while that is compared.
    at_old: Vec<u32>,
}

impl MapTarget {
    /// The version with the lines `words`.
    #[must_use]
    pub fn new(words: Vec<u32>) -> Self {
        Self { places: Places::of(&words), at_old: vec![NOWHERE; words.len()], words }
    }
}

/// Where the lines of a version stand.
#[derive(Debug)]
struct Places {
    /// For each number of a line, and one more, where its places begin.
    starts: Vec<u32>,
    /// The places of all lines, in order of number and place.
    places: Vec<u32>,
}

impl Places {
    fn of(words: &[u32]) -> Self {
        let numbers = || words.iter().map(|word| *word as usize >> 1);
        let mut starts = vec![0_u32; numbers().max().map_or(0, |last| last + 2)];
        for number in numbers() {
            starts[number + 1] += 1;
        }
        let mut n_before = 0;
        for start in &mut starts {
            n_before += *start;
            *start = n_before;
        }
        let mut places = vec![0; words.len()];
        let mut next = starts.clone();
        for (place, number) in (0..).zip(numbers()) {
            places[next[number] as usize] = place;
            next[number] += 1;
        }
        Self { starts, places }
    }

    /// Where `word` stands, if it does so once in `within`.
    fn once(&self, word: u32, within: &Range<u32>) -> Option<u32> {
        let number = word as usize >> 1;
        let (start, end) = (*self.starts.get(number)?, *self.starts.get(number + 1)?);
        let places = &self.places[start as usize..end as usize];
        if let [only] = places {
            return Some(*only).filter(|only| within.contains(only));
        }
        let first = places.partition_point(|place| *place < within.start);
        match places[first..] {
            [only] if only < within.end => Some(only),
            [only, next, ..] if only < within.end && within.end <= next => Some(only),
            _ => None,
        }
    }

    /// Pairs of places of the words that stand once in `old` and once in the lines `within` of this version, the latter
    /// counted from the first of them. `at_old` holds nothing before and after.
    fn landmarks(&self, old: &[u32], within: Range<usize>, at_old: &mut [u32]) -> Vec<Pair> {
        let place = |at: usize| u32::try_from(at).unwrap_or(NOWHERE);
        let limits = place(within.start)..place(within.end);
        let mut seen = Vec::with_capacity(old.len().min(within.len()));
        for (at, word) in (0..).zip(old) {
            let Some(new) = self.once(*word, &limits) else { continue };
            let known = &mut at_old[new as usize];
            *known = if *known == NOWHERE { at } else { OFTEN };
            seen.push((at, new));
        }
        let mut pairs = Vec::with_capacity(seen.len());
        let once = seen.iter().filter(|(at, new)| at_old[*new as usize] == *at);
        pairs.extend(once.map(|(at, new)| (*at, new - limits.start)));
        for (_, new) in seen {
            at_old[new as usize] = NOWHERE;
        }
        pairs
    }
}

/// Pairs of lines up to which looking at each of them costs less than a histogram.
const MAX_PAIRS: usize = 256;

/// Words of gaps that are remembered together, a few megabytes.
const MAX_REMEMBERED: usize = 1 << 20;

/// What lies between landmarks, as far as it took a histogram to compare it.
#[derive(Debug, Default)]
struct Gaps {
    known: HashMap<u64, Gap, BuildHasherDefault<OfWord>>,
    n_words: usize,
    numbered: Renumbered,
    /// What one comparison leaves to the next.
    buffers: (Vec<Token>, Vec<Token>, Diff),
}

#[derive(Debug)]
struct Gap {
    old: Box<[u32]>,
    new: Box<[u32]>,
    hunks: Vec<TokenHunk>,
}

impl Gaps {
    /// Adds the differences between two landmarks to those that were `found`.
    fn differences(
        &mut self,
        (old, new): (&[u32], &[u32]),
        (old_at, new_at): (usize, usize),
        is_numbered: bool,
        found: &mut Vec<TokenHunk>,
    ) {
        let n_first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_left, new_left) = (&old[n_first..], &new[n_first..]);
        let n_last =
            old_left.iter().rev().zip(new_left.iter().rev()).take_while(|(old, new)| old == new).count();
        let (removed, added) = (&old_left[..old_left.len() - n_last], &new_left[..new_left.len() - n_last]);
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let is_small = removed.len() * added.len() <= MAX_PAIRS;
        if is_small && !removed.iter().any(|word| added.contains(word)) {
            let len = |part: &[u32]| u32::try_from(part.len()).unwrap_or(u32::MAX);
            found.push(moved((0..len(removed), 0..len(added)), (old_at + n_first, new_at + n_first)));
        } else {
            // The ends take part: which of several equal lines is the changed one is settled with them.
            let hunks = self.hunks(old, new, is_numbered).iter();
            found.extend(hunks.map(|hunk| moved(hunk.clone(), (old_at, new_at))));
        }
    }

    /// The hunks of a histogram diff.
    fn hunks(&mut self, old: &[u32], new: &[u32], is_numbered: bool) -> &[TokenHunk] {
        let hash = hash_of(old, new);
        let is_known = self.known.get(&hash).is_some_and(|known| *known.old == *old && *known.new == *new);
        if !is_known {
            if MAX_REMEMBERED < self.n_words {
                *self = Self::default();
            }
            self.n_words += old.len() + new.len();
            let hunks = if is_numbered {
                self.numbered.forget();
                let (old_tokens, new_tokens, diff) = &mut self.buffers;
                for (words, tokens) in [(old, &mut *old_tokens), (new, &mut *new_tokens)] {
                    tokens.clear();
                    tokens.extend(words.iter().map(|word| self.numbered.token(*word)));
                }
                histogram_by(diff, (old_tokens, new_tokens), self.numbered.len())
            } else {
                histogram(old, new).collect()
            };
            let gap = Gap { old: old.into(), new: new.into(), hunks };
            self.known.insert(hash, gap);
        }
        &self.known[&hash].hunks
    }
}

fn hash_of(old: &[u32], new: &[u32]) -> u64 {
    let mix =
        |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let len = u64::try_from(old.len()).unwrap_or(u64::MAX);
    new.iter().fold(old.iter().fold(len, mix), mix)
}

/// Where a word stands in each version: a position, or [`NOWHERE`]; [`OFTEN`] is added to the first position of a word that
/// stands in a version more than once.
#[derive(Debug, Clone, Copy)]
struct Slot {
    old: u32,
    new: u32,
}

const EMPTY: Slot = Slot { old: NOWHERE, new: NOWHERE };

/// Places of one line, in the older version and in the newer one.
type Pair = (u32, u32);

const NOWHERE: u32 = u32::MAX;
const OFTEN: u32 = 1 << 31;

/// The words of two versions, in an open table that one comparison leaves empty to the next.
#[derive(Debug, Default)]
struct Seen {
    slots: Vec<Slot>,
    /// How many slots are in use, less one: a power of two less one, or all ones where each number has its own.
    mask: usize,
    /// The slot of each word of the older version.
    of_old: Vec<u32>,
}

impl Seen {
    /// Pairs of places of the words that stand once in either version. Words are `n_numbers` numbers, or hashes where
    /// there are none.
    fn landmarks(&mut self, old: &[u32], new: &[u32], n_numbers: usize) -> Vec<Pair> {
        self.begin(old.len(), n_numbers);
        for (at, word) in (0..).zip(old) {
            let number = self.slot(old, *word);
            let known = &mut self.slots[number].old;
            *known = if *known == NOWHERE { at } else { *known | OFTEN };
            self.of_old.push(u32::try_from(number).expect("there are not so many lines"));
        }
        for (at, word) in (0..).zip(new) {
            let number = self.slot(old, *word);
            let slot = &mut self.slots[number];
            if slot.old != NOWHERE {
                slot.new = if slot.new == NOWHERE { at } else { OFTEN };
            }
        }
        let once = |number: &u32| {
            let Slot { old, new } = std::mem::replace(&mut self.slots[*number as usize], EMPTY);
            (old < OFTEN && new < OFTEN).then_some((old, new))
        };
        let mut pairs = Vec::with_capacity(old.len().min(new.len()));
        pairs.extend(self.of_old.iter().filter_map(once));
        pairs
    }

    /// Makes room for so many words.
    fn begin(&mut self, n_words: usize, n_numbers: usize) {
        let n_hashed = (2 * n_words).next_power_of_two().max(2);
        // Numbers lie close together: sharing slots, they would push each other far away.
        let (n_slots, mask) = if n_numbers == 0 { (n_hashed, n_hashed - 1) } else { (n_numbers, usize::MAX) };
        self.mask = mask;
        if self.slots.len() < n_slots {
            // Empty slots need not be copied to where there is more room.
            self.slots = Vec::new();
            self.slots.resize(n_slots.next_power_of_two(), EMPTY);
        }
        self.of_old.clear();
        self.of_old.reserve(n_words);
    }

    /// The slot of `word`, or the empty one where it belongs. At least half of them are empty.
    fn slot(&self, old: &[u32], word: u32) -> usize {
        // A word is a hash, or a number; the lowest bit of it says the same for most lines.
        let mut number = (word >> 1) as usize & self.mask;
        if self.mask == usize::MAX {
            return number;
        }
        let is_of_another = |Slot { old: at, .. }: Slot| at != NOWHERE && old[(at & !OFTEN) as usize] != word;
        while is_of_another(self.slots[number]) {
            number = (number + 1) & self.mask;
        }
        number
    }
}

/// The most of `pairs`, whose old places ascend, of which the new places ascend too.
fn in_order(pairs: &[Pair]) -> Vec<Pair> {
    // For each length of a row, the pair with which one ends soonest; for each pair, the one before it in its row.
    let mut ends: Vec<usize> = Vec::with_capacity(pairs.len());
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (_, new)) in pairs.iter().enumerate() {
        let is_before = |end: &usize| pairs[*end].1 < *new;
        let row = match ends.last() {
            Some(last) if is_before(last) => ends.len(),
            _ => ends.partition_point(is_before),
        };
        before.push(row.checked_sub(1).map(|shorter| ends[shorter]));
        if row == ends.len() { ends.push(number) } else { ends[row] = number }
    }
    let mut longest: Vec<Pair> = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(number) = at {
        longest.push(pairs[number]);
        at = before[number];
    }
    longest.reverse();
    longest
}

/// Values by words, which are hashes, or by numbers that nobody else chooses.
pub(crate) type ByWord<V, K = u32> = HashMap<K, V, BuildHasherDefault<OfWord>>;

/// Words, which are hashes.
pub(crate) type Words = HashSet<u32, BuildHasherDefault<OfWord>>;

/// The hash of a word, which is nearly one already.
#[derive(Default)]
pub(crate) struct OfWord(u64);

impl Hasher for OfWord {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn write_u32(&mut self, word: u32) {
        // The lowest bit of a word says the same for most lines.
        self.0 = (self.0 ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn differences(old: &[u32], new: &[u32]) -> Vec<TokenHunk> {
        Differ::default().differences(old, new)
    }

    /// The newer version made of the older one and the differences.
    fn applied(old: &[u32], new: &[u32]) -> Vec<u32> {
        let (mut made, mut at) = (Vec::new(), 0);
        for (removed, added) in differences(old, new) {
            made.extend_from_slice(&old[at..removed.start as usize]);
            assert_eq!(made.len(), added.start as usize, "what is kept is as long in both");
            made.extend_from_slice(&new[added.start as usize..added.end as usize]);
            at = removed.end as usize;
        }
        made.extend_from_slice(&old[at..]);
        made
    }

    #[test]
    fn what_moved_up_leaves_the_longer_row_in_place() {
        let (old, new) = ([1, 2, 3, 4, 5, 6, 7], [6, 7, 1, 2, 3, 4, 5]);
        assert_eq!(differences(&old, &new), [(0..0, 0..2), (5..7, 7..7)]);
    }

    #[test]
    fn lines_that_stand_often_are_told_apart_by_those_around_them() {
        let (old, new) = ([10, 0, 11, 0, 12, 0], [10, 0, 13, 0, 11, 0, 12, 0]);
        assert_eq!(differences(&old, &new), [(2..2, 2..4)]);
    }

    proptest! {
        #[test]
        fn the_differences_make_one_version_of_the_other(
            old in prop::collection::vec(0u32..40, 0..120),
            new in prop::collection::vec(0u32..40, 0..120),
        ) {
            prop_assert_eq!(applied(&old, &new), new);
        }

        #[test]
        fn what_was_compared_before_changes_no_difference(
            versions in prop::collection::vec(prop::collection::vec(0u32..24, 0..60), 2..8),
        ) {
            let mut differ = Differ::default();
            for old in &versions {
                for new in &versions {
                    prop_assert_eq!(differ.differences(old, new), differences(old, new));
                }
            }
        }

        #[test]
        fn a_target_changes_no_map(
            versions in prop::collection::vec(prop::collection::vec(0u32..24, 0..60), 2..8),
        ) {
            let mut differ = Differ::default();
            let mut number = |line: &u32| differ.number_line(line.to_string().as_bytes());
            let versions: Vec<Vec<u32>> =
                versions.iter().map(|lines| lines.iter().map(&mut number).collect()).collect();
            for new in &versions {
                let mut target = MapTarget::new(new.clone());
                for old in &versions {
                    let mapped = differ.map_to(old, &mut target);
                    prop_assert_eq!(format!("{mapped:?}"), format!("{:?}", differ.map(old, new)));
                }
            }
        }

        #[test]
        fn few_edits_are_few_differences(
            old in prop::collection::vec(0u32..1000, 1..400),
            edits in prop::collection::vec((0usize..400, 2000u32..3000), 0..6),
        ) {
            let mut new = old.clone();
            for (at, word) in &edits {
                let at = at % new.len();
                new[at] = *word;
            }
            let n_changed: usize = differences(&old, &new).iter().map(|(_, added)| added.len()).sum();
            prop_assert!(n_changed <= edits.len());
            prop_assert_eq!(applied(&old, &new), new);
        }
    }
}
