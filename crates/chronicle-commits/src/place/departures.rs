//! Where code went that left its file: looked for only in what the commit wrote that took it away.

use std::cell::Cell;

use chronicle_core::{LineRange, Lines, Sketch, reading::State};
use chronicle_git::{BString, ByteSlice, FileChange, ObjectId, Repository};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{
    disk_cache::{CachePlace, Kept},
    error::Result,
    place::{
        code_lines::{FileLines, MAX_BYTES, is_telling, may_hold},
        moved,
        placing::Located,
        present::Present,
    },
};

/// Commits that change more files than this move no code in them that anybody asks for.
const MOST_FILES: usize = 1_000;

/// Changes with the rules by which code is known in another file.
const RULES: u32 = 4;

/// Lines around a few that tell where these went.
const AROUND: u32 = 4;

/// Code that left its file.
pub(crate) struct Left<'a> {
    /// The commit that took it away.
    pub(crate) by: ObjectId,
    /// The file.
    pub(crate) path: &'a BString,
    /// What is said of it.
    pub(crate) located: Located<'a>,
    /// The commit whose version it was recorded in, and that version and the lines.
    pub(crate) noted: ObjectId,
    pub(crate) recorded: (ObjectId, LineRange),
    /// Whether something was not here that may come.
    pub(crate) lacks: Cell<bool>,
}

/// A place that code went to, in the version of the commit that put it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    path: Vec<u8>,
    blob: Vec<u8>,
    start: u32,
    end: u32,
}

/// Places that were found: functions of commits.
#[derive(Debug)]
pub struct Departures {
    kept: Kept,
}

impl Departures {
    /// Kept in the shared state directory of a repository, or in memory only.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "went") }
    }

    /// The file of the tree `head` in which the code is now, and its lines; `None` where it is in none.
    pub(crate) fn now(
        &self,
        repository: &Repository,
        head: ObjectId,
        left: &Left<'_>,
    ) -> Result<Option<(BString, LineRange)>> {
        let Some(place) = self.then(repository, left)? else { return Ok(None) };
        let range = LineRange::new(place.start, place.end).ok();
        let blob = ObjectId::try_from(&place.blob[..]).ok();
        let path = BString::from(place.path);
        let now = repository.blob_at(head, path.as_bstr())?;
        let (Some(range), Some(blob), Some(now)) = (range, blob, now) else { return Ok(None) };
        let Some(content) = repository.blob_if_here(now)? else { return Ok(None) };
        let found = Present::new(path.clone(), Some(&content)).locate(repository, blob, range)?;
        let lines = found.filter(|place| place.state != State::Gone).and_then(|place| place.lines);
        Ok(lines.map(|lines| (path, lines)))
    }

    fn then(&self, repository: &Repository, left: &Left<'_>) -> Result<Option<Place>> {
        let key = left.key();
        let known = key.and_then(|key| self.kept.get(key));
        if let Some(known) = known.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            return Ok(known);
        }
        let found = left.place(repository)?;
        if let (Some(key), Ok(bytes), false) = (key, postcard::to_allocvec(&found), left.lacks.get()) {
            self.kept.put(key, &bytes);
        }
        Ok(found)
    }
}

impl Left<'_> {
    /// A hash of all that its place depends on.
    fn key(&self) -> Option<u128> {
        let Self { by, path, located, noted, recorded: (blob, range), .. } = self;
        let commits = (by.as_slice(), noted.as_slice());
        let said = (located.file, located.lines, located.sketch, located.around, located.foreign_commit);
        let inputs = (RULES, commits, path.as_slice(), blob.as_slice(), (range.start, range.end), said);
        Some(XxHash3_128::oneshot(&postcard::to_allocvec(&inputs).ok()?))
    }

    /// Where it is in the version of the commit that took it away.
    fn place(&self, repository: &Repository) -> Result<Option<Place>> {
        let by = repository.commit(self.by)?;
        let parent = match by.parents[..] {
            [only] => repository.commit_tree(only)?,
            // A merge moves nothing by itself.
            _ => return Ok(None),
        };
        let changes = repository.plain_changes(Some(parent), by.tree)?;
        let Some(telling) = self.telling(repository)?.filter(|_| changes.len() <= MOST_FILES) else {
            return Ok(None);
        };
        let mut gaining: Vec<(usize, &FileChange, Vec<u8>)> = Vec::new();
        for change in changes.iter().filter(|change| change.path != *self.path) {
            let Some(content) = self.content_of(repository, change.new)? else { continue };
            let n_now = FileLines::of(&content).n_of(&telling);
            let before = self.content_of(repository, change.old)?;
            let n_before = before.map_or(0, |before| FileLines::of(&before).n_of(&telling));
            if n_before < n_now && may_hold(n_now, telling.len()) {
                gaining.push((n_now - n_before, change, content));
            }
        }
        gaining.sort_by(|left, right| (right.0, &left.1.path).cmp(&(left.0, &right.1.path)));
        let tree = repository.commit_tree(self.noted).ok();
        for (_, change, content) in gaining {
            let present = Present::new(change.path.clone(), Some(&content));
            let placed = moved::placed(repository, &present, &self.located, tree)?;
            let lines = placed.filter(|placed| placed.state != State::Gone).and_then(|placed| placed.lines);
            if let (Some(lines), Some(new)) = (lines, change.new) {
                let (path, blob) = (change.path.to_vec(), new.as_slice().to_vec());
                return Ok(Some(Place { path, blob, start: lines.start, end: lines.end }));
            }
        }
        Ok(None)
    }

    /// The lines that tell it, or it with a few around; `None` where there are too few.
    fn telling(&self, repository: &Repository) -> Result<Option<Vec<u32>>> {
        let (blob, range) = self.recorded;
        let Some(content) = self.content_of(repository, Some(blob))? else { return Ok(None) };
        let lines = Lines::new(&content);
        let around = LineRange {
            start: range.start.saturating_sub(AROUND).max(1),
            end: range.end.saturating_add(AROUND).min(lines.count()).max(range.start),
        };
        let sketches = [range, around].map(|range| Sketch::of(&lines, range));
        Ok(sketches.iter().find(|sketch| is_telling(sketch)).map(Sketch::telling))
    }

    /// The bytes of a blob, if it is here and no larger than code is.
    fn content_of(&self, repository: &Repository, blob: Option<ObjectId>) -> Result<Option<Vec<u8>>> {
        let Some(blob) = blob else { return Ok(None) };
        let Some(size) = repository.size_if_here(blob)? else {
            self.lacks.set(true);
            return Ok(None);
        };
        let is_code = usize::try_from(size).is_ok_and(|size| size <= MAX_BYTES);
        if is_code { Ok(repository.blob_if_here(blob)?) } else { Ok(None) }
    }
}
