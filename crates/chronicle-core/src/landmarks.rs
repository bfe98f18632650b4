//! Where two versions of a file differ, by way of the lines that stand once in each.
//!
//! Such lines, the most that follow each other in the same order in both, are landmarks; between two of them
//! a histogram diff has only a few lines to look at. One of whole files looks at all the rest again for each
//! place where they differ, and files that were worked on for years differ in hundreds.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use crate::line_map::{TokenHunk, histogram, moved, without_common_ends};

/// The runs in which two versions, given as [`crate::line_words`], differ, in order.
pub(crate) fn differences(old: &[u32], new: &[u32]) -> Vec<TokenHunk> {
    let Some((skip, old, new)) = without_common_ends(old, new) else { return Vec::new() };
    let mut found = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for (old_end, new_end) in landmarks(old, new).into_iter().chain([(old.len(), new.len())]) {
        let between = (&old[old_at..old_end], &new[new_at..new_end]);
        differences_between(between, (skip + old_at, skip + new_at), &mut found);
        (old_at, new_at) = (old_end + 1, new_end + 1);
    }
    found
}

/// Pairs of lines up to which looking at each of them costs less than a histogram.
const MAX_PAIRS: usize = 256;

/// Adds the differences between two landmarks to those that were `found`.
fn differences_between(
    (old, new): (&[u32], &[u32]),
    (old_at, new_at): (usize, usize),
    found: &mut Vec<TokenHunk>,
) {
    let n_first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_left, new_left) = (&old[n_first..], &new[n_first..]);
    let n_last = old_left.iter().rev().zip(new_left.iter().rev()).take_while(|(old, new)| old == new).count();
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
        found.extend(histogram(old, new).map(|hunk| moved(hunk, (old_at, new_at))));
    }
}

/// Where a word stands in each version: a position, or one of the two below.
struct Seen {
    old: u32,
    new: u32,
}

const NOWHERE: u32 = u32::MAX;
const OFTEN: u32 = u32::MAX - 1;

/// Pairs of places of the words that stand once in either version.
fn landmarks(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<u32, Seen, BuildHasherDefault<OfWord>> = HashMap::default();
    seen.reserve(old.len());
    for (at, word) in (0..).zip(old) {
        let unseen = Seen { old: at, new: NOWHERE };
        seen.entry(*word).and_modify(|seen| seen.old = OFTEN).or_insert(unseen);
    }
    for (at, word) in (0..).zip(new) {
        if let Some(seen) = seen.get_mut(word) {
            seen.new = if seen.new == NOWHERE { at } else { OFTEN };
        }
    }
    let once = |word: &u32| {
        let Seen { old, new } = seen.get(word)?;
        (*old < OFTEN && *new < OFTEN).then_some((*old as usize, *new as usize))
    };
    in_order(&old.iter().filter_map(once).collect::<Vec<_>>())
}

/// The most of `pairs`, whose old places ascend, of which the new places ascend too.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length of a row, the pair with which one ends soonest; for each pair, the one before it in its row.
    let mut ends: Vec<usize> = Vec::new();
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
    let mut longest: Vec<(usize, usize)> = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(number) = at {
        longest.push(pairs[number]);
        at = before[number];
    }
    longest.reverse();
    longest
}

/// The hash of a word, which is nearly one already.
#[derive(Default)]
struct OfWord(u64);

impl Hasher for OfWord {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
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
