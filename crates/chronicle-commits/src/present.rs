//! The files in scope as they are now, and the diffs to their older versions.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    rc::Rc,
};

use chronicle_core::{
    LineMap, LineRange, Lines, Locator, Place, Sketch, is_substantive, line_hash, line_word, reading::State,
};
use chronicle_git::{BString, ObjectId, Repository};

use crate::{
    error::Result,
    introduced::{Words, words_of},
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
    /// The words of its lines.
    own: OnceCell<Vec<u32>>,
    versions: RefCell<HashMap<ObjectId, Words>>,
    maps: RefCell<HashMap<ObjectId, Option<Rc<LineMap>>>>,
    /// Lines of claims that were found to be gone.
    lost: RefCell<HashSet<u32>>,
}

/// The first line of a large-file pointer, which stands for content that is elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Whether the lines of a file mean nothing: it is binary, or stands for content that is elsewhere.
pub(crate) fn is_opaque(content: &[u8]) -> bool {
    chronicle_core::is_binary(content) || content.starts_with(LFS_POINTER)
}

impl<'p> Present<'p> {
    pub(crate) fn new(path: BString, content: Option<&'p [u8]>) -> Self {
        let locator = content.map(|content| Locator::new(Lines::new(content)));
        let is_opaque = content.is_some_and(is_opaque);
        Self {
            path,
            locator,
            is_opaque,
            own: OnceCell::new(),
            versions: RefCell::default(),
            maps: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    /// Where `range` of the version `blob` is now, and what of it is gone; `None` when that version is not at hand.
    pub(crate) fn locate(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<(Place, Lost)>> {
        let (places, lost) = self.locate_each(repository, blob, &[range])?;
        Ok(places.into_iter().next().flatten().map(|place| (place, lost)))
    }

    fn locate_each(
        &self,
        repository: &Repository,
        blob: ObjectId,
        ranges: &[LineRange],
    ) -> Result<(Vec<Option<Place>>, Lost)> {
        let none = |place| Ok((vec![place; ranges.len()], Lost::default()));
        let Some(locator) = &self.locator else { return none(Some(Place::GONE)) };
        let Some(map) = self.map(repository, blob)? else { return none(None) };
        let is_damaged = |range: &LineRange| map.has(*range) && Place::intact(*range, &map).is_none();
        let places = |old: Option<&Lines<'_>>| {
            let place = |range: &LineRange| {
                let intact = Place::intact(*range, &map);
                intact.or_else(|| Some(locator.locate(old?, *range, &map)))
            };
            let places = ranges.iter().map(|range| place(range).filter(|_| map.has(*range))).collect();
            (places, old.map(|old| self.lost(old, ranges, &map)).unwrap_or_default())
        };
        let looked_at = if ranges.iter().any(is_damaged) {
            let last = ranges.iter().map(|range| range.end as usize).max().unwrap_or_default();
            repository.with_blob(blob, |content| places(Some(&Lines::first(content, last))))?
        } else {
            None
        };
        Ok(looked_at.unwrap_or_else(|| places(None)))
    }

    /// The lines of `ranges` that are gone. Those that say nothing count only where no other is missing: they
    /// come and go everywhere.
    fn lost(&self, old: &Lines<'_>, ranges: &[LineRange], map: &LineMap) -> Lost {
        let mut lost = Lost::default();
        let mut of_file = self.lost.borrow_mut();
        for range in ranges {
            let lines = (range.start as usize - 1..).zip(old.of(*range));
            let gone: Vec<&[u8]> =
                lines.filter(|(number, _)| map.is_lost(*number)).map(|(_, line)| *line).collect();
            let says_something = gone.iter().any(|line| is_substantive(line));
            for line in gone.into_iter().filter(|line| !says_something || is_substantive(line)) {
                let hash = line_hash(line);
                lost.add(hash);
                of_file.insert(hash);
            }
        }
        lost
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

    /// Which part of the version `blob`'s lines in `ranges` is left, and where.
    pub(crate) fn locate_all(
        &self,
        repository: &Repository,
        blob: ObjectId,
        ranges: &[LineRange],
    ) -> Result<(Vec<LineRange>, State, Lost)> {
        let mut left = Vec::new();
        let mut all_intact = true;
        let (places, lost) = self.locate_each(repository, blob, ranges)?;
        for place in places {
            match place {
                Some(Place { lines: Some(lines), state, .. }) => {
                    left.push(lines);
                    all_intact &= state == State::Intact;
                }
                _ => all_intact = false,
            }
        }
        left.sort_unstable();
        left.dedup();
        let state = match (left.is_empty(), all_intact) {
            (true, _) => State::Gone,
            (false, true) => State::Intact,
            (false, false) => State::Changed,
        };
        Ok((left, state, lost))
    }

    /// The words of the version `blob`, read once.
    pub(crate) fn words(&self, repository: &Repository, blob: ObjectId) -> Result<Words> {
        if let Some(known) = self.versions.borrow().get(&blob) {
            return Ok(known.clone());
        }
        // What is here but broken is as good as absent.
        let words = words_of(repository, blob).unwrap_or_default();
        self.versions.borrow_mut().insert(blob, words.clone());
        Ok(words)
    }

    /// The diff from the version `blob`, made once; `None` when that version is not at hand.
    fn map(&self, repository: &Repository, blob: ObjectId) -> Result<Option<Rc<LineMap>>> {
        if let Some(known) = self.maps.borrow().get(&blob) {
            return Ok(known.clone());
        }
        let map = match (self.words(repository, blob)?, &self.locator) {
            (Some(old), Some(locator)) => {
                let words = || locator.lines().all().iter().map(|line| line_word(line)).collect();
                let new = self.own.get_or_init(words);
                Some(Rc::new(LineMap::between_words(&old, new)))
            }
            _ => None,
        };
        self.maps.borrow_mut().insert(blob, map.clone());
        Ok(map)
    }
}
