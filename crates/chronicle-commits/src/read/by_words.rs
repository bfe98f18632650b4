//! Lessons of the whole repository, chosen by what they say.
//!
//! To look for words in stored notes is cheap; to take a note apart costs more, and where its code is now costs a look at
//! files. So only notes that have a word are taken apart, and only files of the chosen lessons are read.

use std::collections::{BTreeMap, HashMap};

use chronicle_core::{
    Entry, EntryId,
    correction::{Claim, REMOVED, Tier},
    reading::{Query, Reading, WisdomItem},
};
use chronicle_git::{BString, LazyRepository};
use jiff::Timestamp;
use memchr::memmem;

use crate::{
    caches::Caches,
    error::Result,
    note::{
        corrections::{Afterwords, Corrected},
        notebook::Notebook,
    },
    past::{known::Known, line::Line},
    read::{
        matching::{Candidate, ReadContext},
        pipeline::{Recent, read_paths, supersessions},
        record::expiry,
    },
};

/// What a lesson says, before anything is known of its code.
#[derive(Debug, Clone)]
pub struct LessonWords {
    /// What it says, with the names of its file and of its code.
    pub text: String,
    /// How far its author is trusted.
    pub tier: Tier,
    /// When it was written.
    pub at: Timestamp,
}

/// A lesson that counts.
struct Lesson<'a> {
    by: &'a Candidate,
    entry: Entry,
}

/// Reads the lessons of the history that `choose` chooses by their words, given as numbers, the best first. It is given the
/// lessons of all notes that `may_fit` says may have such words, and how many other notes there are. What was removed,
/// replaced or has expired is not among them. At most `max_regions` come back.
///
/// # Errors
/// When the repository cannot be read.
pub fn find_lessons(
    lazy: &LazyRepository,
    caches: &Caches,
    recent: &Recent,
    may_fit: impl Fn(&[u8]) -> bool + Sync,
    choose: impl FnOnce(&[LessonWords], usize) -> Vec<usize>,
) -> Result<Reading> {
    let repository = lazy.get()?;
    let mut warnings = Vec::new();
    let nothing = || Reading::empty(Query::default());
    let notebook = Notebook::open(repository, &mut warnings)?;
    if !notebook.has_any() || repository.head()?.is_none() {
        return Ok(nothing());
    }
    let head = repository.born_head()?;
    let line = Line::open(repository, &caches.facts, head, &mut warnings)?;
    let known = Known::of_commits(&line, notebook.keys())?;
    let context = ReadContext::new(repository, &notebook, &known, &[], false);
    let corrected = Corrected::of(repository, &may_fit)?;
    // What replaces a lesson need not have its words.
    let replaces = memmem::Finder::new(b"\"supersedes\"");
    let wanted = |key, raw: &[u8]| may_fit(raw) || replaces.find(raw).is_some() || corrected.are_in(key, raw);
    let candidates = context.annotated(wanted, &mut warnings)?;
    let n_others = notebook.keys().count().saturating_sub(candidates.len());
    let said = Afterwords::load(repository, supersessions(&candidates))?;
    let (lessons, words) = counting(&candidates, &said, recent);
    let chosen: Vec<&Lesson<'_>> =
        choose(&words, n_others).into_iter().filter_map(|number| lessons.get(number)).collect();
    if chosen.is_empty() {
        return Ok(nothing());
    }
    let mut paths = Vec::new();
    let mut first_files: BTreeMap<_, Option<BString>> = BTreeMap::new();
    for lesson in &chosen {
        let path = match &lesson.entry.file {
            Some(file) => Some(BString::from(file.trim_start_matches("./"))),
            // What is said of a whole commit is found at any file that it changed.
            None => match first_files.get(&lesson.by.key) {
                Some(known) => known.clone(),
                None => {
                    let first = context.first_file(lesson.by)?;
                    first_files.entry(lesson.by.key).or_insert(first).clone()
                }
            },
        };
        paths.extend(path);
    }
    let mut reading = read_paths(lazy, caches, &line, paths, recent)?;
    let places: HashMap<&EntryId, usize> =
        chosen.iter().enumerate().rev().map(|(place, lesson)| (&lesson.entry.id, place)).collect();
    let mut found: BTreeMap<usize, WisdomItem> = BTreeMap::new();
    for mut item in std::mem::take(&mut reading.wisdom) {
        let is_over = item.standing.is_over() || item.content == REMOVED;
        if let (Some(place), false) = (places.get(&item.standing.id), is_over) {
            if chosen[*place].entry.file.is_none() {
                // It is about its commit, and was looked for in one of the files.
                let standing = &mut item.standing;
                (standing.file, standing.file_recorded, standing.lines) = (None, None, None);
                standing.near.clear();
            }
            found.entry(*place).or_insert(item);
        }
    }
    reading.wisdom = found.into_values().take(recent.limits.max_regions).collect();
    Ok(reading)
}

/// The lessons that count, and what each of them says now.
fn counting<'a>(
    candidates: &'a [Candidate],
    said: &Afterwords,
    recent: &Recent,
) -> (Vec<Lesson<'a>>, Vec<LessonWords>) {
    let (mut lessons, mut words) = (Vec::new(), Vec::new());
    for by in candidates {
        for (document, entry) in by.stored.note.entries() {
            let at = by.written(document);
            let is_over = expiry(entry).is_some_and(|end| end <= recent.now)
                || said.superseded.contains_key(&entry.id)
                || recent.limits.since.is_some_and(|since| at < since);
            if is_over {
                continue;
            }
            let mut entry = entry.clone();
            let corrections = said.corrections_of(&entry.id);
            Claim::Entry(&mut entry).apply(corrections);
            if entry.content == REMOVED {
                continue;
            }
            let anchor = entry.anchor.as_ref().map(|anchor| anchor.name.as_str());
            let names = [anchor, entry.file.as_deref()].into_iter().flatten();
            let text = [entry.content.as_str()].into_iter().chain(names).collect::<Vec<_>>().join("\n");
            words.push(LessonWords { text, tier: by.stored.voices.of_claim(&entry.id).tier, at });
            lessons.push(Lesson { by, entry });
        }
    }
    (lessons, words)
}
