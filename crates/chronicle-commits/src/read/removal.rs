//! The commit that took a lesson's code away.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

use chronicle_core::{LineRange, reading::State};
use chronicle_git::{BStr, BString, LazyRepository, ObjectId, Repository};
use twox_hash::XxHash3_128;

use crate::{
    disk_cache::{CachePlace, Kept},
    error::Result,
    place::present::Present,
    read::record::Step,
};

/// The commits that took code away, kept because several versions have to be read to find one.
#[derive(Debug)]
pub struct Removals {
    kept: Kept,
    known: RefCell<HashMap<u128, Known>>,
}

/// What was found for one file: by blob, range and number of newer steps.
type Known = BTreeMap<(Vec<u8>, u32, u32, u32), Option<Vec<u8>>>;

/// The steps of the file at `path`, the `n_newer` newest of which came after a claim.
#[derive(Clone, Copy)]
pub(crate) struct Newer<'s> {
    pub(crate) path: &'s BStr,
    pub(crate) steps: &'s [Step],
    pub(crate) n_newer: u32,
}

impl Removals {
    /// Kept in the shared state directory of a repository, or in memory only.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "retired"), known: RefCell::default() }
    }

    /// [`gone_since`] for the `newer` of a file's steps, looked up once.
    pub(crate) fn gone_since(
        &self,
        lazy: &LazyRepository,
        newer: Newer<'_>,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<ObjectId>> {
        let Newer { path, steps, n_newer } = newer;
        let newer = &steps[..(n_newer as usize).min(steps.len())];
        let Some(newest) = newer.first() else { return Ok(None) };
        // The newest step and how many there are stand for the file's history.
        let history = [newest.commit.as_slice(), &steps.len().to_le_bytes(), path.as_ref()].concat();
        let file = XxHash3_128::oneshot(&history);
        let mut known = self.known.borrow_mut();
        let of_file = known.entry(file).or_insert_with(|| {
            let kept = self.kept.get(file);
            kept.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default()
        });
        let key = (blob.as_slice().to_vec(), range.start, range.end, n_newer);
        if let Some(found) = of_file.get(&key) {
            return Ok(found.as_ref().and_then(|id| ObjectId::try_from(&id[..]).ok()));
        }
        let found = gone_since(lazy.get()?, newer, blob, range)?;
        of_file.insert(key, found.map(|id| id.as_slice().to_vec()));
        if let Ok(bytes) = postcard::to_allocvec(&*of_file) {
            self.kept.put(file, &bytes);
        }
        Ok(found)
    }
}

/// The oldest of the steps `newer` than a claim (newest first) after which nothing of `range` of `blob`
/// is left; `None` when only the working tree lacks it.
///
/// Code that goes seldom comes back, so half of the versions are ruled out by each look.
fn gone_since(
    repository: &Repository,
    newer: &[Step],
    blob: ObjectId,
    range: LineRange,
) -> Result<Option<ObjectId>> {
    // The steps before `alive` lack the lines, those from it on still have some.
    let (mut gone, mut alive) = (0, newer.len());
    while gone < alive {
        let middle = gone.midpoint(alive);
        if is_gone(repository, newer[middle], blob, range)? {
            gone = middle + 1;
        } else {
            alive = middle;
        }
    }
    Ok(gone.checked_sub(1).map(|last| newer[last].commit))
}

fn is_gone(repository: &Repository, step: Step, blob: ObjectId, range: LineRange) -> Result<bool> {
    let Some(new) = step.blob else { return Ok(true) };
    // A version that is not at hand cannot be shown to lack the lines.
    let Some(content) = repository.blob_if_here(new)? else { return Ok(false) };
    let then = Present::new(BString::default(), Some(&content));
    Ok(then.locate(repository, blob, range)?.is_some_and(|place| place.state == State::Gone))
}
