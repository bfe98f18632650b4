//! Whether code that a note speaks of ever was in the history of HEAD.
//!
//! A note may come without its commit: an unpushed colleague wrote it, a branch that was given up, or a commit
//! that was rewritten. Code that is gone from the file is worth a word only where it once was here. Each
//! version that the file had in this history is asked for the lines.

use std::{cell::OnceCell, collections::HashSet};

use chronicle_core::{LineRange, Lines, Sketch, is_telling, line_hash, patch_id::Written};
use chronicle_git::{FileHistory, ObjectId, Repository};

use crate::{
    introduced::{self, words_of},
    matching::Candidate,
    placing::{Located, Placement},
};

/// Versions of a file that are read, newest first.
const MAX_VERSIONS: usize = 1_000;

/// The versions that one file had in the history of HEAD.
pub(crate) struct Versions<'a> {
    repository: &'a Repository,
    file: &'a FileHistory,
    known: OnceCell<Known>,
}

#[derive(Default)]
struct Known {
    /// The hashes of the lines of each version.
    lines: Vec<HashSet<u32>>,
    /// Of all of them, the words of lines that identify code ([`Written::word`]).
    telling: HashSet<u32>,
    /// Whether a version could not be read, or there are too many.
    is_partial: bool,
}

impl<'a> Versions<'a> {
    pub(crate) fn new(repository: &'a Repository, file: &'a FileHistory) -> Self {
        Self { repository, file, known: OnceCell::new() }
    }

    /// Whether what `candidate`, which nothing reaches, says at `placement` has to do with this history: the code is
    /// there, or once was, or nothing tells.
    pub(crate) fn concern(
        &self,
        (number, candidate): (usize, &Candidate),
        located: &Located<'_>,
        placement: &Placement,
    ) -> bool {
        let is_placed = placement.lines.is_some() || !placement.near.is_empty();
        is_placed || self.may_have_had((number, candidate), located).unwrap_or(true)
    }

    /// `None` where nothing tells.
    fn may_have_had(&self, (number, candidate): (usize, &Candidate), located: &Located<'_>) -> Option<bool> {
        // What lies beyond the edge of a shallow clone cannot be told from what never was here.
        let repository = self.repository;
        let is_beyond =
            || candidate.parent_id(repository).is_none_or(|parent| !repository.has_object(parent));
        if repository.is_shallow() && is_beyond() {
            return None;
        }
        let sketches: Vec<Vec<u32>> = sketched(located).into_iter().map(Sketch::telling).collect();
        let sketches: Vec<Vec<u32>> = sketches.into_iter().filter(|telling| !telling.is_empty()).collect();
        if !sketches.is_empty() {
            return self
                .any(|lines| sketches.iter().any(|telling| telling.iter().all(|hash| lines.contains(hash))));
        }
        if let Some(range) = located.lines
            && let Some(lines) = self.recorded(candidate, located.file, range)
        {
            return self.any(|version| lines.iter().all(|hash| version.contains(hash)));
        }
        let own: Vec<u32> = candidate
            .touches
            .iter()
            .filter(|(file, _)| *file == number)
            .flat_map(|(_, touch)| self.written((touch.old, touch.new)))
            .collect();
        if !own.is_empty() {
            return self.any(|lines| own.len() <= 2 * own.iter().filter(|hash| lines.contains(hash)).count());
        }
        let wrote = candidate.wrote();
        let known = self.known();
        let is_there = || wrote.iter().any(|word| known.telling.contains(word));
        (!wrote.is_empty() && !known.is_partial).then(is_there)
    }

    /// Whether `fits` holds for a version; `None` where none is known to and not all are known.
    fn any(&self, fits: impl Fn(&HashSet<u32>) -> bool) -> Option<bool> {
        let known = self.known();
        let is_there = known.lines.iter().any(fits);
        (is_there || !known.is_partial).then_some(is_there)
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let mut known = Known::default();
            let versions = self.file.touches.iter().filter_map(|touch| Some((&touch.name, touch.new?)));
            for (number, (name, version)) in versions.enumerate() {
                let look = |content: &[u8]| {
                    let mut hashes = HashSet::new();
                    for text in Lines::new(content).all() {
                        hashes.insert(line_hash(text));
                        if is_telling(text) {
                            known.telling.insert(Written { path: name, number: 0, text }.word());
                        }
                    }
                    hashes
                };
                match self.repository.with_blob(version, look) {
                    Ok(Some(hashes)) if number < MAX_VERSIONS => known.lines.push(hashes),
                    _ => {
                        known.is_partial = true;
                        break;
                    }
                }
            }
            known
        })
    }

    /// The hashes of the lines of `range` as the commit has them, if it is at hand.
    fn recorded(&self, candidate: &Candidate, file: &str, range: LineRange) -> Option<Vec<u32>> {
        let path = file.trim_start_matches("./").as_bytes().into();
        let blob = self.repository.blob_at(candidate.tree?, path).ok()??;
        let telling = |content: &[u8]| {
            let lines = Lines::new(content);
            lines.has(range).then(|| Sketch::of(&lines, range).telling())
        };
        self.repository.with_blob(blob, telling).ok()??.filter(|telling| !telling.is_empty())
    }

    /// The hashes of the lines that identify code and came with the version `new`; none where versions are not at hand.
    fn written(&self, (old, new): (Option<ObjectId>, Option<ObjectId>)) -> Vec<u32> {
        let words = |blob| words_of(self.repository, blob);
        let Some(new) = new else { return Vec::new() };
        let written = introduced::between(&[old], new, words, chronicle_core::changed_ranges).ok().flatten();
        let Some(written) = written else { return Vec::new() };
        let telling = |content: &[u8]| {
            let lines = Lines::new(content);
            let texts = written.hunks.iter().flat_map(|hunk| lines.of(*hunk));
            texts.filter(|text| is_telling(text)).map(|text| line_hash(text)).collect()
        };
        self.repository.with_blob(new, telling).ok().flatten().unwrap_or_default()
    }
}

fn sketched<'l>(located: &Located<'l>) -> Vec<&'l Sketch> {
    match located.places {
        Some(places) => places.iter().filter_map(|place| place.sketch.as_ref()).collect(),
        None => located.sketch.into_iter().collect(),
    }
}
