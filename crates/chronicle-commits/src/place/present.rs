//! The files in scope as they are now, and the diffs to their older versions.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use chronicle_core::{
    ChangedRanges, Differ, GoneBecause, LineMap, LineRange, Lines, Locator, MapTarget, Place, Sketch,
    line_words_beside, reading::State,
};
use chronicle_git::{BString, ObjectId, Repository};

use crate::{
    error::Result,
    place::introduced::{ReadVersions, Words},
};

/// One file in scope as it is now.
pub(crate) struct Present<'p> {
    /// Its path.
    pub(crate) path: BString,
    /// Its lines, to look in; `None` when it was deleted.
    pub(crate) locator: Option<Locator<'p>>,
    /// Whether its lines mean nothing: binary, or replaced by a filter's pointer.
    pub(crate) is_opaque: bool,
    /// Its lines, as `differ` numbers them.
    own: RefCell<Option<MapTarget>>,
    versions: RefCell<HashMap<ObjectId, Words>>,
    /// The version that was read last: the next one mostly has most of its lines.
    last: RefCell<Option<(ObjectId, Rc<[u32]>)>>,
    differ: RefCell<Differ>,
    maps: RefCell<HashMap<ObjectId, Option<Rc<LineMap>>>>,
}

/// Why some ranges are looked for.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Something was said of them.
    Recorded,
    /// A commit wrote them.
    Written,
}

/// What is left of some ranges.
pub(crate) struct Left {
    /// Where it is.
    pub(crate) ranges: Vec<LineRange>,
    pub(crate) state: State,
    /// Why it is gone.
    pub(crate) because: Option<GoneBecause>,
}

/// The first line of a large-file pointer, which stands for content that is elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Whether the lines of a file mean nothing: it is binary, or stands for content that is elsewhere.
pub(crate) fn is_opaque(content: &[u8]) -> bool {
    chronicle_core::is_binary(content) || content.starts_with(LFS_POINTER)
}

/// A file in scope, and the repository that has its older versions.
pub(crate) struct Compared<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) present: &'a Present<'a>,
}

impl ReadVersions for Compared<'_> {
    fn words(&self, blob: ObjectId) -> Result<Words> {
        self.present.words(self.repository, blob)
    }

    fn changed_ranges(&self, old: &[u32], new: &[u32]) -> ChangedRanges {
        self.present.differ.borrow_mut().changed_ranges(old, new)
    }
}

impl<'p> Present<'p> {
    pub(crate) fn new(path: BString, content: Option<&'p [u8]>) -> Self {
        let locator = content.map(|content| Locator::new(Lines::new(content)));
        let is_opaque = content.is_some_and(is_opaque);
        Self {
            path,
            locator,
            is_opaque,
            own: RefCell::default(),
            versions: RefCell::default(),
            last: RefCell::default(),
            differ: RefCell::default(),
            maps: RefCell::default(),
        }
    }

    /// Where `range` of the version `blob` is now; `None` when that version is not at hand.
    pub(crate) fn locate(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<Place>> {
        let places = self.locate_each(repository, blob, &[range], Kind::Recorded)?;
        Ok(places.into_iter().next().flatten())
    }

    fn locate_each(
        &self,
        repository: &Repository,
        blob: ObjectId,
        ranges: &[LineRange],
        kind: Kind,
    ) -> Result<Vec<Option<Place>>> {
        let Some(locator) = &self.locator else {
            return Ok(vec![Some(Place::gone(GoneBecause::Deleted)); ranges.len()]);
        };
        let Some(map) = self.map(repository, blob)? else { return Ok(vec![None; ranges.len()]) };
        let mut places: Vec<_> = ranges.iter().map(|range| Place::intact(*range, &map)).collect();
        if ranges.iter().zip(&places).any(|(range, place)| place.is_none() && map.has(*range)) {
            repository.with_blob(blob, |content| {
                let old = Lines::new(content);
                for (range, place) in ranges.iter().zip(&mut places) {
                    if place.is_none() && map.has(*range) {
                        *place = Some(match kind {
                            Kind::Recorded => locator.locate(&old, *range, &map),
                            Kind::Written => locator.locate_written(&old, *range, &map),
                        });
                    }
                }
            })?;
        }
        Ok(places)
    }

    /// Where a vanished `range` of the version `blob` would be.
    pub(crate) fn gap(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<LineRange>> {
        Ok(self.map(repository, blob)?.map(|map| map.gap(range)))
    }

    /// The lines that `sketch` was taken from, looked for in the present file alone.
    pub(crate) fn locate_sketch(&self, sketch: &Sketch) -> Option<Place> {
        self.locator.as_ref()?.locate_sketch(sketch)
    }

    /// The lines of this file that `sketch` was taken from.
    pub(crate) fn locate_own_sketch(&self, sketch: &Sketch) -> Place {
        match &self.locator {
            Some(locator) => locator.locate_sketch_of_file(sketch),
            None => Place::gone(GoneBecause::Deleted),
        }
    }

    /// Which part of the version `blob`'s lines in `ranges` is left, and where.
    pub(crate) fn locate_all(
        &self,
        repository: &Repository,
        blob: ObjectId,
        ranges: &[LineRange],
        kind: Kind,
    ) -> Result<Left> {
        let mut left = Vec::new();
        let mut all_intact = true;
        let mut reasons = Vec::new();
        for place in self.locate_each(repository, blob, ranges, kind)? {
            match place {
                Some(Place { lines: Some(lines), state, .. }) => {
                    left.push(lines);
                    all_intact &= state == State::Intact;
                }
                _ => all_intact = false,
            }
            reasons.extend(place.and_then(|place| place.because));
        }
        left.sort_unstable();
        left.dedup();
        let state = match (left.is_empty(), all_intact) {
            (true, _) => State::Gone,
            (false, true) => State::Intact,
            (false, false) => State::Changed,
        };
        // Where other lines are in the place of some, these were not only taken away.
        let because = reasons.into_iter().max().unwrap_or(GoneBecause::Unknown);
        let because = (state == State::Gone).then_some(because);
        Ok(Left { ranges: left, state, because })
    }

    /// The words of the version `blob`, numbered, read once.
    pub(crate) fn words(&self, repository: &Repository, blob: ObjectId) -> Result<Words> {
        if let Some(known) = self.versions.borrow().get(&blob) {
            return Ok(known.clone());
        }
        let mut last = self.last.borrow_mut();
        let (beside, of_last) = last.take().unzip();
        // What is here but broken is as good as absent.
        let words = repository.with_blob_beside(blob, beside, |content, other| {
            self.words_of(content, other.zip(of_last.as_deref()))
        });
        let words = words.unwrap_or_default();
        *last = words.clone().map(|words| (blob, words));
        self.versions.borrow_mut().insert(blob, words.clone());
        Ok(words)
    }

    /// The words of `content`, made with the help of those of another version.
    fn words_of(&self, content: &[u8], other: Option<(&[u8], &[u32])>) -> Rc<[u32]> {
        let mut differ = self.differ.borrow_mut();
        line_words_beside(content, other.unwrap_or_default(), |line| differ.number_line(line)).into()
    }

    /// The diff from the version `blob`, made once; `None` when that version is not at hand.
    fn map(&self, repository: &Repository, blob: ObjectId) -> Result<Option<Rc<LineMap>>> {
        if let Some(known) = self.maps.borrow().get(&blob) {
            return Ok(known.clone());
        }
        let map = match (self.words(repository, blob)?, &self.locator) {
            (Some(old), Some(locator)) => {
                let mut differ = self.differ.borrow_mut();
                let lines = locator.lines().all().iter();
                let mut own = self.own.borrow_mut();
                let own = own.get_or_insert_with(|| {
                    MapTarget::new(lines.map(|line| differ.number_line(line)).collect())
                });
                Some(Rc::new(differ.map_to(&old, own)))
            }
            _ => None,
        };
        self.maps.borrow_mut().insert(blob, map.clone());
        Ok(map)
    }
}
