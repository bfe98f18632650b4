//! All notes of a repository, whichever ref they lie in.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Deref,
};

use chronicle_core::{EntryId, Knowledge, Note, correction::Tier, reading::KnowledgeItem};
use chronicle_facts::Facts;
use chronicle_git::{NotesOneByOne, ObjectId, Repository, origin_of};

use crate::{
    error::{Result, if_notes},
    note::{
        claim_id::summary_id,
        stored::{Stored, parse},
        tombstones::Tombstones,
        trust::{
            Mark, Tiers, Trust, Voice, Voices, best_versions, fair_removals, mark_of_document, mark_of_entry,
            mark_of_item, mark_of_region, mark_of_removal, marks, marks_as_read, marks_of_knowledge,
            own_documents,
        },
    },
};

/// The notes of a repository, by the object that carries them.
///
/// Notes that were fetched but not merged are laid over our own, so a lesson
/// shows before anyone merges it.
pub struct Notebook<'r> {
    repository: &'r Repository,
    by_key: BTreeMap<ObjectId, Vec<ObjectId>>,
    sources: Sources,
    trust: Trust<'r>,
    purged: Tombstones,
    /// The bytes of notes that are at hand.
    bytes: HashMap<ObjectId, Vec<u8>>,
}

/// Which refs hold which blobs.
#[derive(Default)]
struct Sources {
    refs: Vec<String>,
    of_blobs: HashMap<ObjectId, RefSet>,
}

/// Some refs, by their numbers. Those beyond have no bit of their own, and no name: a set that stands for several
/// must not say that a blob came from one that is trusted.
type RefSet = u64;

/// How many refs have a bit.
const NAMED: usize = RefSet::BITS as usize - 1;

impl Sources {
    fn add(&mut self, number: usize, blob: ObjectId) {
        *self.of_blobs.entry(blob).or_default() |= 1 << number.min(NAMED);
    }

    fn names(&self, set: RefSet) -> impl Iterator<Item = &str> {
        let named = self.refs.iter().take(NAMED).enumerate();
        named.filter(move |(number, _)| set & (1 << number) != 0).map(|(_, name)| name.as_str())
    }
}

/// The bytes of a note, and the refs that hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    bytes: Vec<u8>,
    refs: RefSet,
}

impl Deref for Raw {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<'r> Notebook<'r> {
    /// Lists the notes; a ref that is no notes ref is reported, not fatal.
    ///
    /// # Errors
    /// When refs or trees cannot be read.
    pub fn open(repository: &'r Repository, warnings: &mut Vec<String>) -> Result<Self> {
        let mut by_key: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        let mut sources = Sources { refs: repository.annotation_refs()?, ..Sources::default() };
        for (number, name) in sources.refs.clone().into_iter().enumerate() {
            for note in if_notes(repository.notes(&name), warnings)?.into_iter().flatten() {
                sources.add(number, note.blob);
                let blobs = by_key.entry(note.key).or_default();
                if !blobs.contains(&note.blob) {
                    blobs.push(note.blob);
                }
            }
        }
        let trust = Trust::of(repository);
        let purged = Tombstones::read(repository, &trust)?;
        by_key.retain(|_, blobs| {
            blobs.retain(|blob| !purged.has_blob(repository, *blob));
            !blobs.is_empty()
        });
        Ok(Self { repository, by_key, sources, trust, purged, bytes: HashMap::new() })
    }

    /// The notes on `keys`, on what they replace, and the repository's knowledge, as facts know them; with all of these
    /// keys.
    pub(crate) fn of(
        repository: &'r Repository,
        facts: &Facts,
        keys: BTreeSet<ObjectId>,
    ) -> Result<(Vec<ObjectId>, Self)> {
        let mut notebook = Self::empty(repository);
        notebook.purged = Tombstones::read(repository, &notebook.trust)?;
        notebook.sources.refs = repository.annotation_refs()?;
        let numbers: HashMap<String, usize> =
            (0..).zip(&notebook.sources.refs).map(|(number, name)| (name.clone(), number)).collect();
        for key in keys.iter().copied().chain(repository.keys_of(repository.empty_tree())) {
            for row in facts.notes_on(key.as_slice())? {
                let (blob, bytes) = facts.text(row.text)?;
                let (Ok(blob), Some(number)) = (ObjectId::try_from(&blob[..]), numbers.get(&row.ref_name))
                else {
                    continue;
                };
                if notebook.purged.has_blob(repository, blob) {
                    continue;
                }
                notebook.sources.add(*number, blob);
                notebook.bytes.insert(blob, bytes);
                let blobs = notebook.by_key.entry(key).or_default();
                if !blobs.contains(&blob) {
                    blobs.push(blob);
                }
            }
        }
        Ok((keys.into_iter().collect(), notebook))
    }

    /// A notebook without notes, for those who read single ones.
    pub(crate) fn empty(repository: &'r Repository) -> Self {
        Self {
            repository,
            by_key: BTreeMap::new(),
            sources: Sources::default(),
            trust: Trust::of(repository),
            purged: Tombstones::default(),
            bytes: HashMap::new(),
        }
    }

    /// Whether anything is annotated.
    #[must_use]
    pub fn has_any(&self) -> bool {
        !self.by_key.is_empty()
    }

    /// Every annotated object.
    pub fn keys(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.by_key.keys().copied()
    }

    /// The raw bytes of all notes that `wanted` wants, by the object that carries them.
    ///
    /// `wanted` is asked for each object and each blob on it; all blobs of an object come if one is wanted.
    /// Notes whose blobs are missing are told to `warnings`.
    pub fn scan(
        &self,
        warnings: &mut Vec<String>,
        wanted: impl Fn(ObjectId, &[u8]) -> bool + Sync,
    ) -> BTreeMap<ObjectId, Vec<Raw>> {
        let by_key = &self.by_key;
        let mut keys_of: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        for (key, blobs) in by_key {
            for blob in blobs {
                keys_of.entry(*blob).or_default().push(*key);
            }
        }
        let pick = |blob: ObjectId, content: &[u8]| {
            let is_wanted = keys_of[&blob].iter().any(|key| wanted(*key, content) || 1 < by_key[key].len());
            Some(is_wanted.then(|| content.to_vec()))
        };
        let (here, away): (Vec<ObjectId>, Vec<ObjectId>) =
            keys_of.keys().copied().partition(|blob| self.bytes.contains_key(blob));
        let found = self.repository.read_many(away, pick);
        let mut contents: BTreeMap<ObjectId, Option<Vec<u8>>> = found.into_iter().collect();
        contents.extend(here.into_iter().filter_map(|blob| Some((blob, pick(blob, &self.bytes[&blob])?))));
        for (blob, keys) in keys_of.iter().filter(|(blob, _)| !contents.contains_key(*blob)) {
            warnings.push(format!(
                "the annotation on commit {} cannot be read: object {blob} is missing",
                keys[0]
            ));
        }
        contents.retain(|_, content| content.is_some());
        let raw = by_key.iter().map(|(key, blobs)| {
            let here = blobs.iter().filter_map(|blob| Some((*blob, contents.get(blob).cloned().flatten()?)));
            (*key, here.map(|(blob, bytes)| self.raw_of(blob, bytes)).collect::<Vec<Raw>>())
        });
        raw.filter(|(key, raw)| raw.iter().any(|content| wanted(*key, content))).collect()
    }

    /// The raw bytes of the notes on `key`.
    ///
    /// # Errors
    /// When a blob cannot be read.
    pub fn raw(&self, key: ObjectId) -> Result<Vec<Raw>> {
        let keys = self.repository.keys_of(key);
        let blobs = keys.iter().filter_map(|key| self.by_key.get(key)).flatten();
        let raw = blobs.map(|blob| {
            let bytes = match self.bytes.get(blob) {
                Some(bytes) => bytes.clone(),
                None => self.repository.note_blob(*blob)?,
            };
            Ok(self.raw_of(*blob, bytes))
        });
        raw.collect()
    }

    fn raw_of(&self, blob: ObjectId, bytes: Vec<u8>) -> Raw {
        Raw { bytes, refs: self.sources.of_blobs.get(&blob).copied().unwrap_or_default() }
    }

    /// What is stored on `key`, folded from all refs.
    ///
    /// # Errors
    /// When a blob cannot be read.
    pub fn read(&self, key: ObjectId) -> Result<Stored> {
        Ok(self.parse(&self.raw(key)?))
    }

    /// Reads and folds the notes of one object, without what was purged.
    pub(crate) fn parse(&self, raw: &[Raw]) -> Stored {
        heard(raw, &self.sources, &self.trust, &self.purged)
    }

    /// The repository's knowledge.
    ///
    /// # Errors
    /// When a blob cannot be read.
    pub fn knowledge(&self) -> Result<Stored> {
        self.read(self.repository.empty_tree())
    }

    /// The annotated object that a full or abbreviated id names, if it names one.
    #[must_use]
    pub fn find_key(&self, hex: &str) -> Option<ObjectId> {
        let hex = hex.to_ascii_lowercase();
        if hex.len() < 4 {
            return None;
        }
        let mut found = self.by_key.keys().filter(|key| key.to_string().starts_with(&hex));
        let first = found.next()?;
        found.next().is_none().then_some(*first)
    }
}

/// What is stored on one object, found without listing all notes; a ref that is no notes ref is told to `warnings`.
///
/// # Errors
/// When a ref, a tree or a blob cannot be read.
pub fn stored_on(repository: &Repository, key: ObjectId, warnings: &mut Vec<String>) -> Result<Stored> {
    SingleNotes::open(repository, warnings)?.stored_on(key)
}

/// Notes that are looked up one by one, all refs together, without listing all of them.
pub(crate) struct SingleNotes<'r> {
    repository: &'r Repository,
    refs: Vec<(usize, NotesOneByOne<'r>)>,
    sources: Sources,
    trust: Trust<'r>,
    purged: Tombstones,
}

impl<'r> SingleNotes<'r> {
    /// The notes as the refs are now; one that is no notes ref is told to `warnings`.
    ///
    /// # Errors
    /// When a ref or a tree cannot be read.
    pub(crate) fn open(repository: &'r Repository, warnings: &mut Vec<String>) -> Result<Self> {
        let mut refs = Vec::new();
        let sources = Sources { refs: repository.annotation_refs()?, ..Sources::default() };
        for (number, name) in sources.refs.iter().enumerate() {
            let notes = if_notes(repository.notes_one_by_one(name), warnings)?.flatten();
            refs.extend(notes.map(|notes| (number, notes)));
        }
        let trust = Trust::of(repository);
        let purged = Tombstones::read(repository, &trust)?;
        Ok(Self { repository, refs, sources, trust, purged })
    }

    /// What is stored on `key`.
    ///
    /// # Errors
    /// When a tree or a blob cannot be read.
    pub(crate) fn stored_on(&mut self, key: ObjectId) -> Result<Stored> {
        let keys = self.repository.keys_of(key);
        let mut found: Vec<(ObjectId, Raw)> = Vec::new();
        for (number, notes) in &mut self.refs {
            for key in &keys {
                for blob in notes.find(*key)? {
                    let refs = 1 << (*number).min(NAMED);
                    match found.iter_mut().find(|(known, _)| *known == blob) {
                        Some((_, raw)) => raw.refs |= refs,
                        None => found.push((blob, Raw { bytes: self.repository.note_blob(blob)?, refs })),
                    }
                }
            }
        }
        found.retain(|(blob, _)| !self.purged.has_blob(self.repository, *blob));
        let raw: Vec<Raw> = found.into_iter().map(|(_, raw)| raw).collect();
        Ok(heard(&raw, &self.sources, &self.trust, &self.purged))
    }
}

/// Reads and folds the notes of one object, and finds out who says what in them.
///
/// An id that two notes put on different words is that of whoever is trusted most: no one else takes a
/// claim's place by using its id, replaces a summary or removes knowledge of someone who is trusted more.
fn heard(raw: &[Raw], sources: &Sources, trust: &Trust<'_>, purged: &Tombstones) -> Stored {
    let mut hearing = Hearing { sources, trust, seen: HashMap::new() };
    let mut sides: Vec<Stored> = Vec::with_capacity(raw.len());
    let mut said: Vec<Vec<(EntryId, Mark)>> = Vec::with_capacity(raw.len());
    let mut are_ours: Vec<bool> = Vec::with_capacity(raw.len());
    for raw in raw {
        // Documents that another tool put one after the other are versions like those of two refs.
        for part in parts(&raw.bytes) {
            let mut stored = parse(&[part]);
            let mut names = sources.names(raw.refs);
            if stored.knowledge.is_some() && !names.any(|name| trust.is_ours(name)) {
                // It is told as the repository's own, to agents too.
                stored.knowledge = None;
                let origin = sources.names(raw.refs).next().map_or("elsewhere", origin_of);
                stored
                    .hidden
                    .push(format!("knowledge from {origin} is not shown: notes are not exchanged with it"));
            }
            let known: Vec<_> = stored.knowledge.iter().flat_map(marks_of_knowledge).collect();
            let here = marks_as_read(&stored.note);
            for (_, mark) in here.iter().chain(&known) {
                *hearing.seen.entry(mark.clone()).or_default() |= raw.refs;
            }
            sides.push(stored);
            said.push(here);
            are_ours.push(sources.names(raw.refs).any(|name| trust.is_ours(name)));
        }
    }
    let notes = sides.iter_mut().map(|stored| std::mem::take(&mut stored.note)).collect();
    let notes = best_versions(notes, |_, mark| hearing.voice(mark).tier);
    let notes = own_documents(notes, |number| are_ours[number]);
    let knowledge: Vec<Knowledge> = sides.iter_mut().filter_map(|stored| stored.knowledge.take()).collect();
    let mut stored = sides.into_iter().reduce(Stored::fold).unwrap_or_default();
    stored.note = notes.into_iter().reduce(Note::fold).unwrap_or_default();
    // Mostly there is one document, which says what it said before.
    let mut each = hearing.voices(match <[_; 1]>::try_from(said) {
        Ok([said]) => said,
        Err(_) => marks(&stored.note),
    });
    if each.iter().any(|(_, voice)| voice.tier != each[0].1.tier) {
        let mut tiers = Tiers::default();
        each.iter().for_each(|(id, voice)| tiers.add(id.clone(), voice.tier));
        if each.iter().any(|(id, voice)| voice.tier < tiers.of_claim(id)) {
            // Of claims of several kinds under one id, those count that are trusted most.
            stored.note = stored.note.retain(
                |entry| tiers.of_claim(&entry.id) <= hearing.voice(&mark_of_entry(entry)).tier,
                |region| tiers.of_claim(&region.id) <= hearing.voice(&mark_of_region(region)).tier,
            );
            each.retain(|(id, voice)| tiers.of_claim(id) <= voice.tier);
        }
        stored.note =
            stored.note.ranked(|document| tiers.of_claim(&summary_id(document)), |id| tiers.of_claim(id));
        // A document that may no longer replace another one is still called as before.
        each.extend(hearing.voices(marks(&stored.note)));
    }
    // What the user wrote went through the gate when it was written.
    if each.iter().any(|(_, voice)| voice.tier != Tier::Own) {
        stored.note = stored.note.shown(|before, after| {
            each.push((summary_id(after), hearing.voice(&mark_of_document(before))));
        });
    }
    stored.voices = Voices::of(each);
    stored.knowledge = hearing.knowledge(knowledge);
    purged.cleanse(stored)
}

/// Who says what in the notes of one object.
struct Hearing<'a> {
    sources: &'a Sources,
    trust: &'a Trust<'a>,
    /// The refs that each claim was seen in, by its mark.
    seen: HashMap<Mark, RefSet>,
}

impl Hearing<'_> {
    fn voice(&self, mark: &Mark) -> Voice {
        let refs = self.seen.get(mark).copied().unwrap_or_default();
        self.trust.voice(mark, self.sources.names(refs))
    }

    fn voices(&self, said: Vec<(EntryId, Mark)>) -> Vec<(EntryId, Voice)> {
        said.into_iter().map(|(id, mark)| (id, self.voice(&mark))).collect()
    }

    /// The knowledge of several notes for an answer, each item with who says it.
    fn knowledge(&self, mut all: Vec<Knowledge>) -> Option<Knowledge> {
        let items = all.iter().flat_map(Knowledge::items).map(|item| {
            let tier = self.voice(&mark_of_item(&item)).tier;
            (item, tier)
        });
        let items: Vec<(KnowledgeItem, Tier)> = items.collect();
        for knowledge in &mut all {
            let removed = std::mem::take(&mut knowledge.removed);
            knowledge.removed =
                fair_removals(removed, &items, |removal| self.voice(&mark_of_removal(removal)).tier);
        }
        let knowledge = all.into_iter().reduce(Knowledge::fold)?;
        Some(knowledge.attributed(|item| {
            let Voice { tier, origin } = self.voice(&mark_of_item(item));
            (tier, origin)
        }))
    }
}

/// The documents in the bytes of a note; mostly one.
fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    let lines: Vec<&[u8]> = bytes.trim_ascii().split(|byte| *byte == b'\n').collect();
    // What is on several lines in another way may be one document.
    let are_whole = lines.iter().all(|line| line.starts_with(b"{") && line.ends_with(b"}"));
    if 1 < lines.len() && are_whole { lines } else { vec![bytes] }
}
