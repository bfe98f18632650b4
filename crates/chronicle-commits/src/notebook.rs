//! All notes of a repository, whichever ref they lie in.

use std::collections::BTreeMap;

use chronicle_core::{Knowledge, Note, ReadNote, purge::Purged, read_note};
use chronicle_git::{GitError, NotesOneByOne, ObjectId, Repository};

use crate::{error::Result, moved, purge::purged};

/// The notes of a repository, by the object that carries them.
///
/// Notes that were fetched but not merged are laid over our own, so a lesson
/// shows before anyone merges it.
pub struct Notebook<'r> {
    repository: &'r Repository,
    by_key: BTreeMap<ObjectId, Vec<ObjectId>>,
    purged: Purged,
}

/// What is stored on one object.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// The documents, folded.
    pub note: Note,
    /// The repository's knowledge, if it lies here.
    pub knowledge: Option<Knowledge>,
    /// Remarks on the bytes.
    pub remarks: Vec<String>,
    /// Whether it may say by a sketch where something belongs.
    pub(crate) is_sketched: bool,
}

impl<'r> Notebook<'r> {
    /// Lists the notes; a ref that is no notes ref is reported, not fatal.
    ///
    /// # Errors
    /// When refs or trees cannot be read.
    pub fn open(repository: &'r Repository, warnings: &mut Vec<String>) -> Result<Self> {
        let mut by_key: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        for name in repository.annotation_refs()? {
            match repository.notes(&name) {
                Ok(notes) => {
                    for note in notes {
                        let blobs = by_key.entry(note.key).or_default();
                        if !blobs.contains(&note.blob) {
                            blobs.push(note.blob);
                        }
                    }
                }
                Err(error @ (GitError::NotANotesRef { .. } | GitError::EndlessNotes { .. })) => {
                    warnings.push(format!("{error}; it is passed over"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let purged = purged(repository)?;
        by_key.retain(|_, blobs| {
            blobs.retain(|blob| !purged.has_blob(&blob.to_string()));
            !blobs.is_empty()
        });
        Ok(Self { repository, by_key, purged })
    }

    /// A notebook without notes, for those who read single ones.
    pub(crate) fn empty(repository: &'r Repository) -> Self {
        Self { repository, by_key: BTreeMap::new(), purged: Purged::default() }
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
    ) -> BTreeMap<ObjectId, Vec<Vec<u8>>> {
        let by_key = &self.by_key;
        let mut keys_of: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        for (key, blobs) in by_key {
            for blob in blobs {
                keys_of.entry(*blob).or_default().push(*key);
            }
        }
        let blobs: Vec<ObjectId> = keys_of.keys().copied().collect();
        let found = self.repository.read_many(blobs, |blob, content| {
            let is_wanted = keys_of[&blob].iter().any(|key| wanted(*key, content) || 1 < by_key[key].len());
            Some(is_wanted.then(|| content.to_vec()))
        });
        let mut contents: BTreeMap<ObjectId, Option<Vec<u8>>> = found.into_iter().collect();
        for (blob, keys) in keys_of.iter().filter(|(blob, _)| !contents.contains_key(*blob)) {
            warnings.push(format!(
                "the annotation on commit {} cannot be read: object {blob} is missing",
                keys[0]
            ));
        }
        contents.retain(|_, content| content.is_some());
        let of_key = |(key, blobs): (&ObjectId, &Vec<ObjectId>)| {
            let raw: Vec<Vec<u8>> =
                blobs.iter().filter_map(|blob| contents.get(blob).cloned().flatten()).collect();
            raw.iter().any(|content| wanted(*key, content)).then_some((*key, raw))
        };
        by_key.iter().filter_map(of_key).collect()
    }

    /// The raw bytes of the notes on `key`.
    ///
    /// # Errors
    /// When a blob cannot be read.
    pub fn raw(&self, key: ObjectId) -> Result<Vec<Vec<u8>>> {
        let keys = self.repository.keys_of(key);
        let blobs = keys.iter().filter_map(|key| self.by_key.get(key)).flatten();
        blobs.map(|blob| Ok(self.repository.blob(*blob)?)).collect()
    }

    /// What is stored on `key`, folded from all refs.
    ///
    /// # Errors
    /// When a blob cannot be read.
    pub fn read(&self, key: ObjectId) -> Result<Stored> {
        Ok(self.parse(&self.raw(key)?))
    }

    /// Reads and folds the notes of one object, without what was purged.
    pub(crate) fn parse(&self, blobs: &[Vec<u8>]) -> Stored {
        cleansed(parse(blobs), &self.purged)
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
    refs: Vec<NotesOneByOne<'r>>,
    purged: Purged,
}

impl<'r> SingleNotes<'r> {
    /// The notes as the refs are now; one that is no notes ref is told to `warnings`.
    ///
    /// # Errors
    /// When a ref or a tree cannot be read.
    pub(crate) fn open(repository: &'r Repository, warnings: &mut Vec<String>) -> Result<Self> {
        let mut refs = Vec::new();
        for name in repository.annotation_refs()? {
            match repository.notes_one_by_one(&name) {
                Ok(notes) => refs.extend(notes),
                Err(error @ GitError::NotANotesRef { .. }) => {
                    warnings.push(format!("{error}; it is passed over"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { repository, refs, purged: purged(repository)? })
    }

    /// No notes, for where none is looked up.
    pub(crate) fn none(repository: &'r Repository) -> Self {
        Self { repository, refs: Vec::new(), purged: Purged::default() }
    }

    /// Whether a note lies on `key`, whatever it says.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub(crate) fn has(&mut self, key: ObjectId) -> Result<bool> {
        for notes in &mut self.refs {
            if notes.find(key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is stored on `key`.
    ///
    /// # Errors
    /// When a tree or a blob cannot be read.
    pub(crate) fn stored_on(&mut self, key: ObjectId) -> Result<Stored> {
        let keys = self.repository.keys_of(key);
        let mut blobs = Vec::new();
        for notes in &mut self.refs {
            for key in &keys {
                let Some(blob) = notes.find(*key)? else { continue };
                let blob = self.repository.blob(blob)?;
                if !blobs.contains(&blob) {
                    blobs.push(blob);
                }
            }
        }
        if !self.purged.is_empty() {
            blobs.retain(|blob| !self.purged.has_blob(&self.repository.blob_id(blob).to_string()));
        }
        Ok(cleansed(parse(&blobs), &self.purged))
    }
}

fn cleansed(stored: Stored, purged: &Purged) -> Stored {
    let Stored { note, knowledge, .. } = stored;
    let knowledge = knowledge.map(|knowledge| purged.cleanse_knowledge(knowledge));
    Stored { note: purged.cleanse(note), knowledge, ..stored }
}

/// Reads and folds the notes of one object, as they lie there.
pub(crate) fn parse(blobs: &[Vec<u8>]) -> Stored {
    let mut stored = Stored::default();
    for blob in blobs {
        stored.is_sketched |= moved::may_be_sketched(blob);
        let ReadNote { note, knowledge, remarks } = read_note(blob);
        stored.note = stored.note.fold(note);
        if let Some(knowledge) = knowledge {
            stored.knowledge = Some(stored.knowledge.take().unwrap_or_default().fold(knowledge));
        }
        stored.remarks.extend(remarks.iter().map(ToString::to_string));
    }
    stored
}
