//! The commit that took a lesson's code away.

use chronicle_core::{LineRange, reading::State};
use chronicle_git::{BString, ObjectId, Repository};

use crate::{error::Result, present::Present, record::Step};

/// The oldest of the steps `newer` than a claim (newest first) after which nothing of `range` of `blob`
/// is left; `None` when only the working tree lacks it.
///
/// Code that goes seldom comes back, so half of the versions are ruled out by each look.
pub(crate) fn gone_since(
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
