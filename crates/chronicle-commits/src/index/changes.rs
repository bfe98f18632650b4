//! What the commits of a table's history changed, in a form that is searched as it lies.

use chronicle_git::{BString, ChangedPath, Changes};

use crate::index::{ancestry::word, table::Value};

/// The paths that commits changed, and for each commit which of them.
///
/// ```text
/// number of paths, number of commits: 4 bytes each
/// for each sixteen paths, then for each commit, where what is said of them starts: 4 bytes, and one more for the end
/// of sixteen paths in order: how many bytes each shares with the one before it, and those that follow
/// of a commit: how much larger each path's number is than the one before it, above its state in two bits
/// ```
pub(super) struct StoredChanges {
    bytes: Value,
    n_paths: usize,
    n_commits: usize,
}

const BLOCK: usize = 16;
const HEADER_LEN: usize = 8;
const WAS_THERE: u64 = 1;
const IS_THERE: u64 = 2;

/// The stored form of `changes`.
pub(super) fn store(changes: &Changes) -> postcard::Result<Vec<u8>> {
    let blocks = changes.paths.chunks(BLOCK).map(|paths| postcard::to_allocvec(&fronts_cut(paths)));
    let commits = changes.commits.iter().map(|changed| postcard::to_allocvec(&steps(changed)));
    let word = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let (mut starts, mut said) = (Vec::new(), Vec::new());
    for item in blocks.chain(commits) {
        starts.extend_from_slice(&word(said.len()));
        said.append(&mut item?);
    }
    starts.extend_from_slice(&word(said.len()));
    Ok([&word(changes.paths.len())[..], &word(changes.commits.len()), &starts, &said].concat())
}

/// How many bytes each path shares with the one before it, and what follows.
fn fronts_cut(paths: &[BString]) -> Vec<(usize, &[u8])> {
    let mut previous: &[u8] = b"";
    let cut = paths.iter().map(|path| {
        let n_shared = path.iter().zip(previous).take_while(|(left, right)| left == right).count();
        previous = path;
        (n_shared, &path[n_shared..])
    });
    cut.collect()
}

fn steps(changed: &[ChangedPath]) -> Vec<u64> {
    let mut previous = 0;
    let steps = changed.iter().map(|ChangedPath { path, was_there, is_there }| {
        let step = u64::from(path - previous);
        previous = *path;
        (step << 2) + u64::from(*was_there) * WAS_THERE + u64::from(*is_there) * IS_THERE
    });
    steps.collect()
}

impl StoredChanges {
    /// Reads the stored form; `None` when it is damaged.
    pub(super) fn parse(bytes: Value) -> Option<Self> {
        let (n_paths, n_commits) = (word(&bytes, 0)? as usize, word(&bytes, 4)? as usize);
        Some(Self { bytes, n_paths, n_commits })
    }

    fn n_blocks(&self) -> usize {
        self.n_paths.div_ceil(BLOCK)
    }

    /// What is said of the block or commit of that number, commits coming after blocks.
    fn said(&self, number: usize) -> Option<&[u8]> {
        let first = HEADER_LEN + 4 * (self.n_blocks() + self.n_commits + 1);
        let start = |number| Some(first + word(&self.bytes, HEADER_LEN + 4 * number)? as usize);
        self.bytes.get(start(number)?..start(number + 1)?)
    }

    /// What the commit at `place` changed.
    pub(super) fn of(&self, place: u32) -> Option<Vec<ChangedPath>> {
        let place = Some(place as usize).filter(|place| *place < self.n_commits)?;
        let steps: Vec<u64> = postcard::from_bytes(self.said(self.n_blocks() + place)?).ok()?;
        let mut path = 0_u32;
        let changed = steps.into_iter().map(|step| {
            path = path.checked_add(u32::try_from(step >> 2).ok()?)?;
            Some(ChangedPath { path, was_there: step & WAS_THERE != 0, is_there: step & IS_THERE != 0 })
        });
        changed.collect()
    }

    /// All of it; `None` when it is damaged.
    pub(super) fn whole(&self) -> Option<Changes> {
        let number = |n: usize| u32::try_from(n).ok();
        let mut paths = Vec::with_capacity(self.n_paths.min(self.bytes.len()));
        for block in 0..self.n_blocks() {
            paths.extend(self.block(block)?);
        }
        let commits = (0..number(self.n_commits)?).map(|place| self.of(place));
        (paths.len() == self.n_paths).then_some(())?;
        Some(Changes { paths, commits: commits.collect::<Option<_>>()? })
    }

    /// The paths of these numbers, of which those that lie together come together; `None` where one of them is none.
    pub(super) fn paths(&self, numbers: impl IntoIterator<Item = u32>) -> Option<Vec<BString>> {
        let mut block = (usize::MAX, Vec::new());
        let path = |number| {
            let number = Some(number as usize).filter(|number| *number < self.n_paths)?;
            if block.0 != number / BLOCK {
                block = (number / BLOCK, self.block(number / BLOCK)?);
            }
            block.1.get(number % BLOCK).cloned()
        };
        numbers.into_iter().map(path).collect()
    }

    /// The paths of the block of that number.
    fn block(&self, number: usize) -> Option<Vec<BString>> {
        let block: Vec<(usize, &[u8])> = postcard::from_bytes(self.said(number)?).ok()?;
        let mut path = BString::default();
        let paths = block.into_iter().map(|(n_shared, more)| {
            path.truncate(n_shared);
            path.extend_from_slice(more);
            path.clone()
        });
        Some(paths.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn changes() -> impl Strategy<Value = Changes> {
        let paths = prop::collection::btree_set("[a-c/]{1,6}|\\PC{1,3}", 1..50);
        let changed = prop::collection::btree_map(0..50_u32, any::<(bool, bool)>(), 0..8);
        let commits = prop::collection::vec(changed, 0..20);
        (paths, commits).prop_map(|(paths, commits)| {
            let in_order = |changed: BTreeMap<u32, (bool, bool)>| {
                let changed = changed.into_iter();
                changed
                    .map(|(path, (was_there, is_there))| ChangedPath { path, was_there, is_there })
                    .collect()
            };
            let paths = paths.iter().map(|path| path.as_str().into()).collect();
            Changes { paths, commits: commits.into_iter().map(in_order).collect() }
        })
    }

    proptest! {
        #[test]
        fn what_was_stored_is_found(changes in changes()) {
            let stored = StoredChanges::parse(store(&changes).unwrap().into()).unwrap();
            let n_paths = u32::try_from(changes.paths.len()).unwrap();
            prop_assert_eq!(stored.paths(0..n_paths), Some(changes.paths.clone()));
            let backwards = changes.paths.iter().rev().cloned().collect();
            prop_assert_eq!(stored.paths((0..n_paths).rev()), Some(backwards));
            for (place, changed) in (0..).zip(&changes.commits) {
                prop_assert_eq!(stored.of(place), Some(changed.clone()));
            }
            prop_assert_eq!(stored.paths([n_paths]), None);
            let whole = stored.whole().unwrap();
            prop_assert_eq!((&whole.paths, &whole.commits), (&changes.paths, &changes.commits));
            prop_assert_eq!(stored.of(u32::try_from(changes.commits.len()).unwrap()), None);
        }

        #[test]
        fn what_is_damaged_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), few in any::<bool>()) {
            let mut bytes = bytes;
            if few {
                for at in [1, 2, 3, 5, 6, 7] {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = 0;
                    }
                }
            }
            if let Some(stored) = StoredChanges::parse(bytes.into()) {
                let _nothing_or_nonsense = stored.whole();
                for number in 0..40 {
                    let _nothing_or_nonsense = (stored.paths([number]), stored.of(number));
                }
            }
        }
    }
}
