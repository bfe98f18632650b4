//! The files in scope as they are now, and the diffs to their older versions.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use chronicle_core::{LineMap, LineRange, Lines, Locator, Place, Sketch, reading::State};
use chronicle_git::{BString, ObjectId, Repository};

use crate::error::Result;

/// One file in scope as it is now.
pub(crate) struct Present<'p> {
    /// Its path.
    pub(crate) path: BString,
    /// Its lines, to look in; `None` when it was deleted.
    pub(crate) locator: Option<Locator<'p>>,
    /// Whether its lines mean nothing: binary, or replaced by a filter's pointer.
    pub(crate) is_opaque: bool,
    versions: RefCell<HashMap<ObjectId, Option<Rc<Version>>>>,
}

/// An older version of the file, diffed once.
pub(crate) struct Version {
    content: Vec<u8>,
    map: LineMap,
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
        Self { path, locator, is_opaque, versions: RefCell::default() }
    }

    /// Where `range` of the version `blob` is now; `None` when that version is not at hand.
    pub(crate) fn locate(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<Place>> {
        let Some(locator) = &self.locator else { return Ok(Some(Place::GONE)) };
        let Some(version) = self.version(repository, blob)? else { return Ok(None) };
        let old = Lines::new(&version.content);
        if !old.has(range) {
            return Ok(None);
        }
        Ok(Some(locator.locate(&old, range, &version.map)))
    }

    /// Where a vanished `range` of the version `blob` would be.
    pub(crate) fn gap(
        &self,
        repository: &Repository,
        blob: ObjectId,
        range: LineRange,
    ) -> Result<Option<LineRange>> {
        Ok(self.version(repository, blob)?.map(|version| version.map.gap(range)))
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
    ) -> Result<(Vec<LineRange>, State)> {
        let mut left = Vec::new();
        let mut all_intact = true;
        for range in ranges {
            match self.locate(repository, blob, *range)? {
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
        Ok((left, state))
    }

    fn version(&self, repository: &Repository, blob: ObjectId) -> Result<Option<Rc<Version>>> {
        if let Some(known) = self.versions.borrow().get(&blob) {
            return Ok(known.clone());
        }
        let version = match (&self.locator, repository.blob(blob)) {
            (Some(present), Ok(content)) => {
                let map = LineMap::between(&Lines::new(&content), present.lines());
                Some(Rc::new(Version { content, map }))
            }
            _ => None,
        };
        self.versions.borrow_mut().insert(blob, version.clone());
        Ok(version)
    }
}
