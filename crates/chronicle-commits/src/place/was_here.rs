//! Whether code that a note speaks of ever was in the history of HEAD.
//!
//! A note may come without its commit: an unpushed colleague wrote it, a branch that was given up, or a commit
//! that was rewritten. Code that is gone from the file is worth a word only where it once was here. Each
//! version that the file had in this history is asked for the lines.

use std::{cell::RefCell, collections::HashSet};

use chronicle_core::{LineRange, Lines, Sketch, is_telling, line_hash, patch_id::Written};
use chronicle_git::{ObjectId, Repository};

use crate::{
    error::Result,
    note::change::{self, Sketches},
    past::known,
    past::{FileHistory, Touch},
    place::{
        introduced,
        placing::{Located, Placement},
    },
    read::matching::Candidate,
};

/// Versions of a file that are read, newest first.
const MAX_VERSIONS: usize = 1_000;
/// Clocks differ by less, in seconds.
const SLACK: i64 = 24 * 60 * 60;

/// The versions that one file had in the history of HEAD.
pub(crate) struct Versions<'a> {
    repository: &'a Repository,
    past: &'a known::Known<'a>,
    file: &'a FileHistory,
    /// Those that were read so far, the newest first.
    known: RefCell<Vec<Known>>,
}

/// One version.
#[derive(Default)]
struct Known {
    /// The hashes of its lines.
    lines: HashSet<u32>,
    /// The words of lines that identify code ([`Written::word`]).
    telling: HashSet<u32>,
}

impl<'a> Versions<'a> {
    pub(crate) fn new(repository: &'a Repository, past: &'a known::Known<'a>, file: &'a FileHistory) -> Self {
        Self { repository, past, file, known: RefCell::default() }
    }

    /// Whether what `candidate`, which nothing reaches, says at `placement` has to do with this history: the code is
    /// there, or once was, or nothing tells.
    pub(crate) fn concern(
        &self,
        number: usize,
        candidate: &Candidate,
        located: &Located<'_>,
        placement: &Placement,
    ) -> bool {
        let is_placed = placement.lines.is_some() || !placement.near.is_empty();
        is_placed || self.may_have_had(number, candidate, located).unwrap_or(true)
    }

    /// `None` where nothing tells.
    fn may_have_had(&self, number: usize, candidate: &Candidate, located: &Located<'_>) -> Option<bool> {
        // What lies beyond the edge of a shallow clone cannot be told from what never was here.
        let repository = self.repository;
        if repository.is_shallow()
            && candidate.parent_id(repository).is_none_or(|parent| !repository.has_object(parent))
        {
            return None;
        }
        let mut sketches: Vec<Vec<u32>> = sketched(located).into_iter().map(Sketch::telling).collect();
        sketches.retain(|telling| !telling.is_empty());
        if !sketches.is_empty() {
            return self.any(candidate, |version| sketches.iter().any(|telling| version.has_all(telling)));
        }
        if let Some(range) = located.lines
            && let Some(lines) = self.recorded(candidate, located.file, range)
        {
            return self.any(candidate, |version| version.has_all(&lines));
        }
        let touched = candidate.touches.iter().filter(|(file, _)| *file == number);
        let own: Vec<u32> = touched.flat_map(|(_, touch)| self.written(touch)).collect();
        if !own.is_empty() {
            return self.any(candidate, |version| {
                own.len() <= 2 * own.iter().filter(|hash| version.lines.contains(hash)).count()
            });
        }
        let wrote = candidate.wrote();
        if wrote.is_empty() {
            return None;
        }
        self.any(candidate, |version| wrote.iter().any(|word| version.telling.contains(word)))
    }

    /// Whether `fits` holds for a version that may have what `candidate` wrote; `None` where none is known to and not
    /// all are known.
    fn any(&self, candidate: &Candidate, fits: impl Fn(&Known) -> bool) -> Option<bool> {
        for (number, touch) in self.since(candidate).enumerate() {
            let Some(version) = touch.new else { continue };
            if number == MAX_VERSIONS {
                return None;
            }
            let mut known = self.known.borrow_mut();
            if known.len() <= number {
                known.resize_with(number, Known::default);
                known.push(self.read(&touch.name, version)?);
            }
            if fits(&known[number]) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The changes since the commit was made on which `candidate` was made: no older version has what it wrote.
    fn since(&self, candidate: &Candidate) -> impl Iterator<Item = &'a Touch> {
        let parent = candidate.parent_id(self.repository).and_then(|id| self.repository.commit(id).ok());
        let began = parent.map_or(i64::MIN, |parent| parent.time.as_second().saturating_sub(SLACK));
        self.file.touches.iter().take_while(move |touch| {
            began == i64::MIN || self.past.commit(touch.place).is_ok_and(|commit| began <= commit.time)
        })
    }

    fn read(&self, name: &[u8], version: ObjectId) -> Option<Known> {
        let known = self.repository.with_blob(version, |content| {
            let mut known = Known::default();
            for text in Lines::new(content).all() {
                known.lines.insert(line_hash(text));
                if is_telling(text) {
                    known.telling.insert(Written { path: name, number: 0, text }.word());
                }
            }
            known
        });
        known.ok().flatten()
    }

    /// The version with which the very change came that `candidate` made, and where the lines are in it that its note
    /// tells of; `None` where that is not certain.
    ///
    /// What is left of a commit that is gone are sketches, and those of lines that are in many places say too little.
    pub(crate) fn same_change(
        &self,
        candidate: &Candidate,
        located: &Located<'_>,
    ) -> Result<Option<(ObjectId, LineRange)>> {
        let patches: Vec<&String> = candidate.patches().collect();
        if candidate.tree.is_some() || located.lines.is_none() || patches.is_empty() {
            return Ok(None);
        }
        let sketches = Sketches { own: located.sketch, around: located.around };
        for touch in self.since(candidate).take(MAX_VERSIONS) {
            let Some(new) = touch.new else { continue };
            let Some(run) = sketches.written_in(self.repository, touch.old, new)? else { continue };
            let commit = self.past.commit(touch.place)?;
            let changes = self.repository.plain_changes(commit.parents.first().copied(), commit.tree)?;
            let print = change::print(self.repository, &changes, |_| {})?;
            if print.is_some_and(|print| patches.contains(&&print.finish())) {
                return Ok(Some((new, run)));
            }
        }
        Ok(None)
    }

    /// The hashes of the lines of `range` as the commit has them, if it is at hand.
    fn recorded(&self, candidate: &Candidate, file: &str, range: LineRange) -> Option<Vec<u32>> {
        let path = file.trim_start_matches("./").as_bytes().into();
        let blob = self.repository.blob_at(candidate.tree?, path).ok()??;
        let telling = self.repository.with_blob(blob, |content| {
            let lines = Lines::new(content);
            lines.has(range).then(|| Sketch::of(&lines, range).telling())
        });
        telling.ok()??.filter(|telling| !telling.is_empty())
    }

    /// The hashes of the lines that identify code and came with `touch`; none where versions are not at hand.
    fn written(&self, touch: &Touch) -> Vec<u32> {
        let Some(new) = touch.new else { return Vec::new() };
        let written = introduced::between(&[touch.old], new, self.repository);
        let Ok(Some(written)) = written else { return Vec::new() };
        let telling = self.repository.with_blob(new, |content| {
            let lines = Lines::new(content);
            let texts = written.hunks.iter().flat_map(|hunk| lines.of(*hunk));
            texts.filter(|text| is_telling(text)).map(|text| line_hash(text)).collect()
        });
        telling.ok().flatten().unwrap_or_default()
    }
}

impl Known {
    fn has_all(&self, lines: &[u32]) -> bool {
        lines.iter().all(|hash| self.lines.contains(hash))
    }
}

fn sketched<'l>(located: &Located<'l>) -> Vec<&'l Sketch> {
    match located.places {
        Some(places) => places.iter().filter_map(|place| place.sketch.as_ref()).collect(),
        None => located.around.or(located.sketch).into_iter().collect(),
    }
}
