//! Carries what was said about commits to the commit that took their place.
//!
//! A carried document is a pure function of the notes it comes from and of the two commits: it keeps its
//! time, author and ids, so that whoever carries first, in whichever clone, everyone ends with the same
//! note. Nothing is moved: the note that was carried stays where it was, and what the target knows
//! already is left as it is.

mod mapping;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, btree_map::Entry},
    path::PathBuf,
};

use chronicle_core::{Annotation, EntryId, Note, Source, read_parts, score};
use chronicle_git::{LEGACY_NOTES_REF, NOTES_REF, NotesEdit, ObjectId, Repository};

use crate::{
    error::Result,
    note::{
        stored::parse,
        trust::{Trust, keep_own, mark_of_entry, mark_of_region, marks},
    },
    share::merging::{MAX_NOTE_BYTES, MAX_TAKEN_BYTES},
    write::mend::mended,
};
use mapping::{Origin, Target};

/// How one commit came from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// It is one commit, written anew: amended, rebased, picked, or a part of it where it was split.
    Amend,
    /// It takes in more than that one.
    Squash,
}

impl Rewrite {
    /// How a commit came that took the place of `n` others.
    #[must_use]
    pub fn of(n: usize) -> Self {
        if 1 < n { Self::Squash } else { Self::Amend }
    }

    fn source(self) -> Source {
        match self {
            Self::Amend => Source::Amend,
            Self::Squash => Source::Squash,
        }
    }
}

/// What to carry where.
#[derive(Debug, Clone)]
pub struct CarryRequest {
    /// The commit that takes it.
    pub target: ObjectId,
    /// The commits that it came from; they need not be here any more.
    pub sources: Vec<ObjectId>,
    /// How it came from them.
    pub how: Rewrite,
    /// What is carried of a source that was split; of one that is not named here, everything.
    pub only: BTreeMap<ObjectId, Part>,
}

/// What one part of a split commit takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The lessons.
    pub entries: HashSet<EntryId>,
    /// Whether it takes the words about the whole, too, even without a lesson.
    pub is_main: bool,
}

impl CarryRequest {
    /// Carries everything from `sources` to `target`.
    #[must_use]
    pub fn all(target: ObjectId, sources: Vec<ObjectId>, how: Rewrite) -> Self {
        Self { target, sources, how, only: BTreeMap::new() }
    }
}

/// What was carried to one commit.
#[derive(Debug, Clone)]
pub struct Carried {
    /// The commit.
    pub target: ObjectId,
    /// The commits whose annotations it came from.
    pub sources: Vec<ObjectId>,
    /// The lessons that are new there.
    pub added: Vec<EntryId>,
    /// How many of the lessons were there before.
    pub n_known: usize,
    /// Whether the note was changed.
    pub is_changed: bool,
    /// The whole annotation as it is stored now.
    pub stored: Option<Annotation>,
}

/// Carries what `requests` ask for, in their order and in one step: another reader sees all of it or nothing.
///
/// Requests without an annotated source come to nothing. Left-over files of dead processes that were
/// removed come back beside what was carried.
///
/// # Errors
/// When a target cannot be read, or the notes cannot be written.
pub fn carry(repository: &Repository, requests: &[CarryRequest]) -> Result<(Vec<Carried>, Vec<PathBuf>)> {
    if requests.is_empty() || !any_source_is_annotated(repository, requests)? {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut targets: BTreeMap<ObjectId, Target<'_>> = BTreeMap::new();
    for request in requests {
        if let Entry::Vacant(target) = targets.entry(request.target) {
            target.insert(Target::of(repository, request.target)?);
        }
    }
    let message = match requests {
        [only] => format!("chronicle: carry to {}", only.target.to_hex_with_len(8)),
        several => format!("chronicle: carry to {} commits", several.len()),
    };
    let (carried, recovered) = repository.edit_notes(NOTES_REF, &message, |notes| -> Result<_> {
        let mut carried = Vec::new();
        for request in requests {
            carried.extend(carry_one(repository, notes, request, &targets[&request.target])?);
        }
        Ok(carried)
    })?;
    Ok((carried, recovered.files))
}

/// So few notes are looked up one by one.
const FEW: usize = 16;

/// A look without the lock: most rewritten commits were never annotated.
fn any_source_is_annotated(repository: &Repository, requests: &[CarryRequest]) -> Result<bool> {
    let wanted: HashSet<ObjectId> =
        requests.iter().flat_map(|request| request.sources.iter().copied()).collect();
    for name in [NOTES_REF, LEGACY_NOTES_REF] {
        if wanted.len() <= FEW {
            for key in &wanted {
                if repository.note(name, *key)?.is_some() {
                    return Ok(true);
                }
            }
        } else if repository.notes(name)?.iter().any(|note| wanted.contains(&note.key)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn carry_one(
    repository: &Repository,
    notes: &mut NotesEdit<'_>,
    request: &CarryRequest,
    target: &Target<'_>,
) -> Result<Option<Carried>> {
    let raw = notes.get(request.target)?;
    let (before, copies) = own_and_copied(raw.as_deref().unwrap_or_default(), request);
    let mut sources = copies;
    for key in request.sources.iter().filter(|key| **key != request.target) {
        let mut stored: Vec<Vec<u8>> = notes.get(*key)?.into_iter().collect();
        stored.extend(repository.note(LEGACY_NOTES_REF, *key)?);
        let note = parse(&stored).note;
        if !note.is_empty() {
            let copied = sources.remove(key).unwrap_or_default();
            sources.insert(*key, note.fold(copied));
        }
    }
    if sources.is_empty() {
        return Ok(None);
    }
    let known: HashSet<EntryId> = before.entries().into_iter().map(|(_, entry)| entry.id.clone()).collect();
    let mut after = before.clone();
    let mut n_known = 0;
    let trust = Trust::of(repository);
    let sources = that_fit(&trust, sources, raw.as_ref().map_or(0, Vec::len));
    for (source, note) in &sources {
        n_known += note.entries().iter().filter(|(_, entry)| known.contains(&entry.id)).count();
        let copied = copy(note, *source, request, target, &before, &known)?;
        keep_own(&trust, &marks(note), &marks(&copied))?;
        after = after.fold(copied);
    }
    let after = mended(repository, request.target, after)?;
    let added: Vec<EntryId> = after
        .entries()
        .into_iter()
        .map(|(_, entry)| entry.id.clone())
        .filter(|id| !known.contains(id))
        .collect();
    let key = request.target.to_string();
    let text = after.to_line(&key).map_or_else(|| unread_text(&after), String::into_bytes);
    if MAX_NOTE_BYTES < text.len() as u64 {
        return Ok(None);
    }
    let is_changed = raw.as_deref() != Some(&text[..]);
    if is_changed {
        notes.set(request.target, text);
    }
    Ok(Some(Carried {
        target: request.target,
        sources: sources.into_keys().collect(),
        added,
        n_known,
        is_changed,
        stored: after.to_annotation(&key),
    }))
}

/// The notes of the sources, the smaller ones first, as long as a target that has so many bytes has room; of the others,
/// what the user said. The rest stays where it is.
fn that_fit(
    trust: &Trust<'_>,
    sources: BTreeMap<ObjectId, Note>,
    n_bytes: usize,
) -> BTreeMap<ObjectId, Note> {
    let size = |note: &Note| {
        let n_unread: usize = note.unread().map(<[u8]>::len).sum();
        note.to_line("").map_or(n_unread, |line| line.len())
    };
    let mut measured: Vec<_> =
        sources.into_iter().map(|(source, note)| (size(&note), source, note)).collect();
    measured.sort_by_key(|(n_bytes, source, _)| (*n_bytes, *source));
    let mut n_bytes = n_bytes;
    let fitting = measured.into_iter().map(|(n_more, source, note)| {
        n_bytes += n_more;
        if n_bytes as u64 <= MAX_TAKEN_BYTES {
            return (source, note);
        }
        n_bytes -= n_more;
        let own = note.retain(
            |entry| trust.is_own(&mark_of_entry(entry)),
            |region| trust.is_own(&mark_of_region(region)),
        );
        (source, own.without_unread(|_| true))
    });
    fitting.filter(|(_, note)| !note.is_empty()).collect()
}

/// What is stored on the target itself, and what git copied there word for word from a source: such a
/// document still names that commit, and its lines are lines there.
fn own_and_copied(raw: &[u8], request: &CarryRequest) -> (Note, BTreeMap<ObjectId, Note>) {
    let mut own = Note::default();
    let mut copied: BTreeMap<ObjectId, Note> = BTreeMap::new();
    for part in read_parts(raw) {
        let named =
            part.note.documents().first().and_then(|document| {
                ObjectId::from_hex(document.commit.to_ascii_lowercase().as_bytes()).ok()
            });
        match named.filter(|named| *named != request.target && request.sources.contains(named)) {
            Some(source) => {
                let known = copied.remove(&source).unwrap_or_default();
                copied.insert(source, known.fold(part.note));
            }
            None => own = own.fold(part.note),
        }
    }
    (own, copied)
}

/// The note of `source` as it is on the target, but for what the target knows already.
fn copy(
    note: &Note,
    source: ObjectId,
    request: &CarryRequest,
    target: &Target<'_>,
    before: &Note,
    known: &HashSet<EntryId>,
) -> Result<Note> {
    let said: BTreeSet<String> = before.documents().into_iter().map(Annotation::fingerprint).collect();
    let derived_from: BTreeSet<String> = match request.how {
        Rewrite::Amend => BTreeSet::from([source.to_string()]),
        Rewrite::Squash => request.sources.iter().map(ToString::to_string).collect(),
    };
    let part = request.only.get(&source);
    let is_part = part.is_some_and(|part| !part.is_main);
    let origin = Origin::of(target, source, note);
    let mut copied = Note::default();
    for document in note.documents() {
        let mut wisdom = Vec::new();
        let wanted = note
            .entries_of(document)
            .filter(|entry| part.is_none_or(|part| part.entries.contains(&entry.id)));
        for entry in wanted.filter(|entry| !known.contains(&entry.id)) {
            wisdom.push(target.entry(entry, document, &origin)?);
        }
        // Of a commit that was split, only the parts that hold a lesson of it take its words.
        let says_nothing = wisdom.is_empty() && (is_part || said.contains(&document.fingerprint()));
        if says_nothing {
            continue;
        }
        let mut provenance = document.provenance.clone();
        provenance.source = provenance.source.united(request.how.source());
        provenance.derived_from = derived_from.iter().cloned().collect();
        let mut regions = Vec::with_capacity(document.regions.len());
        for region in &document.regions {
            regions.push(target.region(region, document, &origin)?);
        }
        copied = copied.fold(Note::of(Annotation {
            commit: request.target.to_string(),
            wisdom,
            provenance,
            context_level: Some(score::context_level(document)),
            change: Some(target.change(document.change.as_ref())),
            regions,
            entry_ids: Vec::new(),
            ..document.clone()
        }));
    }
    for part in note.unread() {
        copied = copied.fold(Note::of_unread(part));
    }
    Ok(copied)
}

/// A note of which nothing could be read is kept as it is.
fn unread_text(note: &Note) -> Vec<u8> {
    let parts: Vec<&[u8]> = note.unread().map(<[u8]>::trim_ascii_end).collect();
    let mut text = parts.join(&b'\n');
    text.push(b'\n');
    text
}
