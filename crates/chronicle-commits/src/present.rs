//! The files in scope as they are now, and the diffs to their older versions.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ops::Range,
    rc::Rc,
};

use chronicle_core::{
    ChangedRanges, Differ, GoneBecause, LineMap, LineRange, Lines, Locator, MapTarget, Neighbours, Place,
    Sketch, is_substantive, line_hash, line_words_beside, reading::State,
};
use chronicle_git::{BString, ObjectId, Repository};

use crate::{
    error::Result,
    introduced::Words,
    lost::{Lost, LostLines},
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
    /// Lines of claims that were found to be gone.
    lost: RefCell<HashSet<u32>>,
    /// How lines end in the versions that were read: a bit for each way.
    endings: Cell<u8>,
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
    pub(crate) lost: Lost,
    /// Why it is gone.
    pub(crate) because: Option<GoneBecause>,
}

/// The first line of a large-file pointer, which stands for content that is elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Whether the lines of a file mean nothing: it is binary, or stands for content that is elsewhere.
pub(crate) fn is_opaque(content: &[u8]) -> bool {
    chronicle_core::is_binary(content) || content.starts_with(LFS_POINTER)
}

/// How the lines of `content` end, as one bit: its first one, and its last.
fn endings(content: &[u8]) -> u8 {
    let Some(last) = content.last() else { return 0 };
    let is_dos = memchr::memchr(b'\n', content).is_some_and(|end| content[..end].ends_with(b"\r"));
    1 << (u8::from(is_dos) | (u8::from(*last == b'\n') << 1))
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
            lost: RefCell::default(),
            endings: Cell::default(),
        }
    }

    /// Where `range` of the version `blob` is now, and what of it is gone; `None` when that version is not at hand.
    pub(crate) fn locate(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<(Place, Lost)>> {
        let (places, lost) = self.locate_each(repository, blob, &[range], Kind::Recorded)?;
        Ok(places.into_iter().next().flatten().map(|place| (place, lost)))
    }

    fn locate_each(
        &self,
        repository: &Repository,
        blob: ObjectId,
        ranges: &[LineRange],
        kind: Kind,
    ) -> Result<(Vec<Option<Place>>, Lost)> {
        let none = |place| Ok((vec![place; ranges.len()], Lost::default()));
        let Some(locator) = &self.locator else { return none(Some(Place::gone(GoneBecause::Deleted))) };
        let Some(map) = self.map(repository, blob)? else { return none(None) };
        let is_damaged = |range: &LineRange| map.has(*range) && Place::intact(*range, &map).is_none();
        let places = |old: Option<Lines<'_>>| {
            let mut lost = Lost::default();
            let mut place = |range: &LineRange| {
                if let Some(place) = Place::intact(*range, &map) {
                    return Some(place);
                }
                let old = old.as_ref()?;
                self.add_lost(old.of(*range), *range, &map, &mut lost);
                map.has(*range).then(|| match kind {
                    Kind::Recorded => locator.locate(old, *range, &map),
                    Kind::Written => locator.locate_written(old, *range, &map),
                })
            };
            let places = ranges.iter().map(&mut place).collect();
            (places, lost)
        };
        let looked_at = if ranges.iter().any(is_damaged) {
            repository.with_blob(blob, |content| places(Some(Lines::new(content))))?
        } else {
            None
        };
        Ok(looked_at.unwrap_or_else(|| places(None)))
    }

    /// Adds those of `lines`, which are `range` of an older version, that are gone. Lines that say nothing count only
    /// where no other is missing: they come and go everywhere.
    fn add_lost(&self, lines: &[&[u8]], range: LineRange, map: &LineMap, lost: &mut Lost) {
        let numbered = (range.start as usize - 1..).zip(lines);
        let gone: Vec<&[u8]> =
            numbered.filter(|(number, _)| map.is_lost(*number)).map(|(_, line)| *line).collect();
        let says_something = gone.iter().any(|line| is_substantive(line));
        let mut of_file = self.lost.borrow_mut();
        for line in gone.into_iter().filter(|line| !says_something || is_substantive(line)) {
            let hash = line_hash(line);
            lost.add(hash);
            of_file.insert(hash);
        }
    }

    /// All lines of claims that were found to be gone.
    pub(crate) fn all_lost(&self) -> LostLines {
        LostLines::of(&self.lost.borrow())
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
        let in_file = |locator: &Locator<'_>| locator.locate_sketch_of_file(sketch);
        self.locator.as_ref().map_or(Place::gone(GoneBecause::Deleted), in_file)
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
        let (places, lost) = self.locate_each(repository, blob, ranges, kind)?;
        for place in places {
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
        Ok(Left { ranges: left, state, lost, because })
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
        self.endings.set(self.endings.get() | endings(content));
        let mut differ = self.differ.borrow_mut();
        line_words_beside(content, other.unwrap_or_default(), |line| differ.number_line(line)).into()
    }

    /// Whether lines end in the same way in all versions that were read, so that their words tell what git sees in them.
    pub(crate) fn ends_alike(&self) -> bool {
        self.endings.get().count_ones() <= 1
    }

    /// The runs in which two versions that follow each other differ, as `git blame` tells them; `old` lines and `new`.
    pub(crate) fn differences(
        &self,
        neighbours: &mut Neighbours,
        old: &[u32],
        new: &[u32],
    ) -> Vec<(Range<u32>, Range<u32>)> {
        neighbours.differences(old, new, self.differ.borrow().shapes())
    }

    /// What differs between two versions.
    pub(crate) fn changed_ranges(&self, old: &[u32], new: &[u32]) -> ChangedRanges {
        self.differ.borrow_mut().changed_ranges(old, new)
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
