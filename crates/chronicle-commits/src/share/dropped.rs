//! Notes that another program dropped from our refs without meaning to, found in the history and brought back.
//!
//! `git notes edit`, `append` and `add -f` write the notes as they were when the command began, or replace a
//! whole note; a forced fetch replaces them all. What was stored is in the history of the ref, or in its log.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chronicle_core::{
    purge::{Left, Purged, Texts, clean},
    unite_lines,
};
use chronicle_git::{
    CORRECTIONS_REF, NOTES_REF, NotesEdit, NotesSteps, ObjectId, PURGED_REF, Repository, Writer,
};

use crate::{
    error::Result,
    note::{
        tombstones::purged,
        trust::{Mark, Trust, marks_in, unite_fairly},
    },
    share::merging::{MAX_NOTE_BYTES, read_bounded, restore},
};

/// The refs that are looked after.
const REFS: [&str; 3] = [PURGED_REF, CORRECTIONS_REF, NOTES_REF];

/// An object some of whose notes another program dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedNote {
    /// The ref.
    pub name: &'static str,
    /// The annotated object.
    pub key: ObjectId,
    /// What was stored, in the versions that are needed to bring all of it back.
    versions: Vec<Vec<u8>>,
}

/// The notes that another program dropped from our refs and that are still missing.
///
/// # Errors
/// When the refs or their history cannot be read.
pub fn find_dropped(repository: &Repository) -> Result<Vec<DroppedNote>> {
    let mut dropped = Vec::new();
    for name in REFS {
        dropped.extend(missing(repository, name, &repository.unchecked_steps(name)?)?);
    }
    Ok(dropped)
}

/// Brings back the notes of ours that another program dropped; returns how many notes were changed.
///
/// # Errors
/// When our refs cannot be read or written.
pub fn bring_back(repository: &Repository) -> Result<usize> {
    let mut n_back = 0;
    // Whole commits of ours that are in no history any more.
    for (name, lost) in repository.lost_notes()? {
        let merged = restore(repository, &name, lost)?;
        n_back += merged.n_taken + merged.n_united;
    }
    for name in REFS {
        let steps = repository.unchecked_steps(name)?;
        let (Some(tip), false) = (steps.tip, steps.is_checked) else { continue };
        let dropped = missing(repository, name, &steps)?;
        if !dropped.is_empty() {
            let message = "chronicle: bring back notes that another program dropped";
            repository
                .edit_notes(name, message, |notes| put_back(&Trust::of(repository), notes, &dropped))?;
            n_back += dropped.len();
        }
        // Only a hint, and in a repository that cannot be written to there may be nothing to do.
        let _remembered = repository.set_checked(name, tip);
    }
    Ok(n_back)
}

fn put_back(trust: &Trust<'_>, notes: &mut NotesEdit<'_>, dropped: &[DroppedNote]) -> Result<()> {
    for note in dropped {
        let present = notes.get(note.key)?;
        let sides: Vec<&Vec<u8>> = present.iter().chain(&note.versions).collect();
        let united = |sides: &[&Vec<u8>]| match note.name {
            NOTES_REF => {
                let sides: Vec<(&[u8], &str)> = sides.iter().map(|side| (&side[..], NOTES_REF)).collect();
                unite_fairly(trust, &note.key.to_string(), &sides)
            }
            _ => unite_lines(sides),
        };
        let mut whole = united(&sides);
        if MAX_NOTE_BYTES < whole.len() as u64 {
            // Nobody could read it: what is there now is in the history.
            whole = united(&note.versions.iter().collect::<Vec<_>>());
        }
        if present.as_ref() != Some(&whole) {
            notes.set(note.key, whole);
        }
    }
    Ok(())
}

/// So much of all versions of the notes that others wrote is looked at, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// So much is looked at of what the user's Chronicle wrote.
const MOST_OWN_BYTES: u64 = 256 << 20;

/// What is known to be lost of the note of one object: what it said, and the version that said it.
#[derive(Default)]
struct Lost {
    /// What it said, with the blob that has it.
    said: BTreeMap<Part, ObjectId>,
    /// The last version of a note that was dropped as a whole.
    whole: Option<ObjectId>,
}

fn missing(repository: &Repository, name: &'static str, steps: &NotesSteps) -> Result<Vec<DroppedNote>> {
    if steps.steps.iter().all(|step| step.writer == Writer::Chronicle) {
        return Ok(Vec::new());
    }
    let purged = purged(repository)?;
    let trust = Trust::of(repository);
    let mut versions = Versions { repository, name, purged: &purged, trust: &trust, known: HashMap::new() };
    let mut lost: BTreeMap<ObjectId, Lost> = BTreeMap::new();
    let mut room = MOST_BYTES;
    // A few bytes can stand for many versions of a large note: the newest ones are looked at.
    let too_much = steps.steps.iter().rposition(|step| {
        let blobs = step.changes.iter().flat_map(|change| change.before.iter().chain(&change.after));
        let n_bytes = blobs.map(|blob| repository.blob_size(*blob).unwrap_or_default()).sum();
        room = room.saturating_sub(n_bytes);
        room == 0
    });
    for step in &steps.steps[too_much.map_or(0, |last| last + 1)..] {
        for change in &step.changes {
            let is_meant = match step.writer {
                Writer::Chronicle => true,
                Writer::Removal => change.after.is_empty(),
                Writer::Claimed | Writer::Foreign => false,
            };
            if is_meant && change.after.is_empty() {
                lost.remove(&change.key);
                continue;
            }
            let after = versions.parts_in(&change.after);
            let is_foreign = step.writer == Writer::Foreign;
            for blob in change.before.iter().filter(|_| !is_meant) {
                let mut before = versions.parts_in(&[*blob]);
                before.retain(|said| is_foreign || matches!(said, Part::Own(_)));
                let before: Vec<(Part, ObjectId)> = before.into_iter().map(|said| (said, *blob)).collect();
                if is_foreign || !before.is_empty() {
                    let of_key = lost.entry(change.key).or_default();
                    of_key.said.extend(before);
                    of_key.whole = Some(*blob);
                }
            }
            // What is there again came back by itself, and what goes later was meant to go.
            if let Some(of_key) = lost.get_mut(&change.key) {
                of_key.said.retain(|said, _| !after.contains(said));
            }
        }
    }
    add_own(repository, &mut versions, steps, &mut lost);
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    let mut present: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    for note in repository.notes(name)? {
        present.entry(note.key).or_default().push(note.blob);
    }
    let mut dropped = Vec::new();
    for (key, mut of_key) in lost {
        let now = present.get(&key).map(Vec::as_slice).unwrap_or_default();
        let said_now = versions.parts_in(now);
        of_key.said.retain(|said, _| !said_now.contains(said));
        let mut blobs: BTreeSet<ObjectId> = of_key.said.into_values().collect();
        if now.is_empty() {
            blobs.extend(of_key.whole);
        }
        let versions: Vec<Vec<u8>> = blobs.iter().filter_map(|blob| versions.clean(*blob)).collect();
        if !versions.is_empty() {
            dropped.push(DroppedNote { name, key, versions });
        }
    }
    Ok(dropped)
}

/// Adds what the user said in the last versions that Chronicle wrote before others went on from them, and that the tip does
/// not say, unless it was meant to go. However much the others wrote since, it is found.
fn add_own(
    repository: &Repository,
    versions: &mut Versions<'_>,
    steps: &NotesSteps,
    lost: &mut BTreeMap<ObjectId, Lost>,
) {
    let mut own: BTreeMap<ObjectId, Lost> = BTreeMap::new();
    let mut room = MOST_OWN_BYTES;
    for change in &steps.since_own {
        for blob in &change.before {
            room = room.saturating_sub(repository.blob_size(*blob).unwrap_or_default());
            if room == 0 {
                break;
            }
            let said = versions.own(&[*blob]);
            if !said.is_empty() {
                let of_key = own.entry(change.key).or_default();
                of_key.said.extend(said.into_iter().map(|said| (said, *blob)));
                of_key.whole = Some(*blob);
            }
        }
    }
    for step in &steps.steps {
        for change in &step.changes {
            let Some(of_key) = own.get_mut(&change.key) else { continue };
            let went: BTreeSet<Part> = match step.writer {
                Writer::Removal if change.after.is_empty() => versions.own(&change.before),
                Writer::Chronicle => {
                    let after = versions.own(&change.after);
                    versions.own(&change.before).difference(&after).cloned().collect()
                }
                _ => continue,
            };
            of_key.said.retain(|said, _| !went.contains(said));
        }
    }
    own.retain(|_, of_key| !of_key.said.is_empty());
    for (key, found) in own {
        let of_key = lost.entry(key).or_default();
        of_key.said.extend(found.said);
        of_key.whole = of_key.whole.or(found.whole);
    }
}

/// Something that a version of a note says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A claim of this id.
    Claim(String),
    /// These words of the user, by their mark: the id may stay where they don't.
    Words(Mark),
    /// Something that the user says under this id, in any words, or a line of the user's: also that it was taken back.
    Own(String),
    /// A line.
    Line(String),
}

/// What versions of notes say, without what was purged.
struct Versions<'a> {
    repository: &'a Repository,
    name: &'static str,
    purged: &'a Purged,
    trust: &'a Trust<'a>,
    known: HashMap<ObjectId, BTreeSet<Part>>,
}

impl Versions<'_> {
    /// What these say of the user's.
    fn own(&mut self, blobs: &[ObjectId]) -> BTreeSet<Part> {
        let said = self.parts_in(blobs);
        said.into_iter().filter(|said| matches!(said, Part::Own(_) | Part::Words(_))).collect()
    }

    fn parts_in(&mut self, blobs: &[ObjectId]) -> BTreeSet<Part> {
        let mut said = BTreeSet::new();
        for blob in blobs {
            if !self.known.contains_key(blob) {
                let content = self.clean(*blob).unwrap_or_default();
                let found = match self.name {
                    NOTES_REF => self.claims_of(&content),
                    _ => self.lines_of(&content),
                };
                self.known.insert(*blob, found);
            }
            said.extend(self.known[blob].iter().cloned());
        }
        said
    }

    fn claims_of(&self, content: &[u8]) -> BTreeSet<Part> {
        let mut said = BTreeSet::new();
        for (id, mark) in marks_in(content) {
            if self.trust.is_own(&mark) {
                // What was removed is named by its id and a hash of what it said.
                let of = id.0.rsplit_once(':').map_or(id.0.as_str(), |(of, _)| of);
                said.insert(Part::Own(of.to_owned()));
                said.insert(Part::Words(mark));
            }
            said.insert(Part::Claim(id.0));
        }
        said
    }

    fn lines_of(&self, content: &[u8]) -> BTreeSet<Part> {
        let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut said = BTreeSet::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let text = String::from_utf8_lossy(line).into_owned();
            if marks_in(line).iter().any(|(_, mark)| self.trust.is_own(mark)) {
                said.insert(Part::Own(text.clone()));
            }
            said.insert(Part::Line(text));
        }
        said
    }

    /// The bytes of a version; `None` when nothing is left of it.
    fn clean(&self, blob: ObjectId) -> Option<Vec<u8>> {
        let content = read_bounded(self.repository, vec![blob]).remove(&blob)?;
        if self.name == PURGED_REF || self.purged.is_empty() {
            return Some(content);
        }
        if self.purged.has_blob(&blob.to_string()) {
            return None;
        }
        match clean(&content, self.purged, &Texts::default()) {
            Left::All => Some(content),
            Left::Some(left) => Some(left),
            Left::Nothing => None,
        }
    }
}
