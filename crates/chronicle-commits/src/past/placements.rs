//! Placements that were found before: functions of a lesson, its commit and the text that it is looked for in.

use std::cell::RefCell;

use chronicle_core::{
    GoneBecause, Hint, LineRange,
    reading::{Match, State},
    score::Tie,
};
use chronicle_facts::Facts;
use chronicle_git::ObjectId;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::place::{
    placing::{Located, Placement},
    present::Present,
};

/// Placements in the facts, and those that are to be stored there.
pub(crate) struct Placements<'f> {
    facts: &'f Facts,
    made: RefCell<Vec<(u128, Vec<u8>)>>,
}

/// A placement as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    lines: Option<LineRange>,
    near: Vec<LineRange>,
    state: State,
    tie: Tie,
    matched: Match,
    gap: Option<LineRange>,
    recorded_in: Option<(Vec<u8>, LineRange)>,
    because: Option<GoneBecause>,
    hint: Option<Hint>,
    is_unsketched: bool,
}

/// Changes with [`Stored`], and with the rules by which things are placed.
pub(crate) const RULES: u32 = 6;

impl<'f> Placements<'f> {
    pub(crate) fn new(facts: &'f Facts) -> Self {
        Self { facts, made: RefCell::default() }
    }

    pub(crate) fn get(&self, key: u128) -> Option<Placement> {
        // What cannot be read is made again.
        Stored::read(&self.facts.made(key).ok()??)
    }

    /// Keeps a placement for the next time; none is kept that lacked something which may come later.
    pub(crate) fn put(&self, key: u128, placement: &Placement) {
        self.made.borrow_mut().extend(Stored::written(placement).map(|bytes| (key, bytes)));
    }

    /// Keeps something else that was made.
    pub(crate) fn add(&self, key: u128, value: Vec<u8>) {
        self.made.borrow_mut().push((key, value));
    }

    /// Stores what was put; where that cannot be, it is made again.
    pub(crate) fn store(&self, day: i64) {
        let _stored = self.facts.keep_made(&self.made.take(), day);
    }
}

impl Stored {
    fn read(bytes: &[u8]) -> Option<Placement> {
        let Stored { lines, near, state, tie, matched, gap, recorded_in, because, hint, is_unsketched } =
            postcard::from_bytes(bytes).ok()?;
        let recorded_in = match recorded_in {
            Some((blob, range)) => Some((ObjectId::try_from(&blob[..]).ok()?, range)),
            None => None,
        };
        Some(Placement {
            lines,
            near,
            state,
            tie,
            matched,
            gap,
            recorded_in,
            by_version: true,
            because,
            hint,
            is_unsketched,
            item: None,
        })
    }

    fn written(placement: &Placement) -> Option<Vec<u8>> {
        let Placement {
            lines,
            near,
            state,
            tie,
            matched,
            gap,
            recorded_in,
            because,
            hint,
            is_unsketched,
            ..
        } = placement.clone();
        let recorded_in = recorded_in.map(|(blob, range)| (blob.as_slice().to_vec(), range));
        let stored =
            Self { lines, near, state, tie, matched, gap, recorded_in, because, hint, is_unsketched };
        postcard::to_allocvec(&stored).ok()
    }
}

/// What a placement is made of.
#[derive(Serialize)]
struct Inputs<'i> {
    rules: u32,
    target: u128,
    is_opaque: bool,
    path: &'i [u8],
    commit: &'i [u8],
    by: By<'i>,
}

#[derive(Serialize)]
enum By<'i> {
    Named {
        file: &'i str,
        lines: Option<LineRange>,
        places: Option<&'i [chronicle_core::Places]>,
        sketch: Option<&'i chronicle_core::Sketch>,
        around: Option<&'i chronicle_core::Sketch>,
    },
    Written {
        name: &'i [u8],
    },
}

/// The key of the placement of what is `located` by a note on `commit`, in `present`; `None` where it depends on more.
pub(crate) fn key_of_named(
    target: u128,
    present: &Present<'_>,
    commit: ObjectId,
    located: &Located<'_>,
) -> Option<u128> {
    let Located { file, lines, places, sketch, around, foreign_commit } = *located;
    let by = By::Named { file, lines, places, sketch, around };
    foreign_commit.is_none().then(|| key(target, present, commit, by))?
}

/// The key of the placement of what `commit` wrote in the file that it calls `name`.
pub(crate) fn key_of_written(
    target: u128,
    present: &Present<'_>,
    commit: ObjectId,
    name: &[u8],
) -> Option<u128> {
    key(target, present, commit, By::Written { name })
}

fn key(target: u128, present: &Present<'_>, commit: ObjectId, by: By<'_>) -> Option<u128> {
    let (path, is_opaque) = (present.path.as_slice(), present.is_opaque);
    let inputs = Inputs { rules: RULES, target, is_opaque, path, commit: commit.as_slice(), by };
    Some(XxHash3_128::oneshot(&postcard::to_allocvec(&inputs).ok()?))
}

#[cfg(test)]
mod tests {
    use chronicle_core::Place;

    use super::*;

    fn range(start: u32, end: u32) -> LineRange {
        LineRange::new(start, end).expect("a range")
    }

    #[test]
    fn placements_are_read_as_they_were_written() {
        let blob = ObjectId::try_from(&[7; 20][..]).expect("an id");
        let placements = [
            Placement::lines(Place::changed(range(3, 9), 0.75), Some((blob, range(2, 8)))),
            Placement { gap: Some(range(4, 5)), ..Placement::file_wide(State::Gone) },
            Placement::commit_wide(vec![range(1, 1)], State::Intact),
            Placement::commit_wide(vec![range(1, 1), range(5, 6)], State::Changed),
            Placement { because: Some(GoneBecause::Rewritten), ..Placement::file_wide(State::Gone) },
        ];
        for placement in placements.map(|placement| Placement { by_version: true, ..placement }) {
            let bytes = Stored::written(&placement).expect("bytes");
            assert_eq!(Stored::read(&bytes), Some(placement));
        }
    }
}
