//! Notes: which objects carry one, and what it holds.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
};
use snafu::ResultExt;

use crate::{
    CORRECTIONS_REF, FETCHED_NOTES, KNOWLEDGE_REF, LEGACY_NOTES_REF, NOTES_REF, PURGED_REF, Repository,
    error::{GitError, ReadRefSnafu, Result},
    store::genuine::Genuine,
};

/// One note: the object that carries it and the blob that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteRef {
    /// The annotated object.
    pub key: ObjectId,
    /// The note's blob.
    pub blob: ObjectId,
}

/// Trees that are looked at for notes; a million notes need 65,793.
const MAX_TREES: usize = 200_000;
/// More notes than any history has.
const MAX_NOTES: usize = 8_000_000;
/// So many trees may come before the first note.
const FEW_TREES: usize = 1_000;
/// Trees above a note, at most: two letters of a SHA-256 each.
const MAX_DEPTH: usize = 32;

/// So often one tree may be met: two of notes are equal only where their notes are, and their keys end alike.
const MOST_TWINS: usize = 16;

/// What released tools take for the empty tree, and keep the repository's knowledge on.
const MISSPELT_EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf899d15f13160d28";

/// Whether the repository's knowledge lies on `id`: the empty tree, or what released tools take for it.
#[must_use]
pub fn is_knowledge_key(id: ObjectId) -> bool {
    id == ObjectId::empty_tree(id.kind()) || misspelt(id.kind()) == Some(id)
}

fn misspelt(kind: gix::hash::Kind) -> Option<ObjectId> {
    ObjectId::from_hex(MISSPELT_EMPTY_TREE.as_bytes()).ok().filter(|id| id.kind() == kind)
}

/// Whether answers depend on the ref `name`: the ones that [`Repository::memory_tips`] looks at.
pub(crate) fn is_memory_ref(name: &BStr) -> bool {
    const FETCHED: [&str; 4] =
        ["/chronicle", "/chronicle-knowledge", "/chronicle-corrections", "/chronicle-purged"];
    const OWN: [&str; 5] = [NOTES_REF, LEGACY_NOTES_REF, KNOWLEDGE_REF, CORRECTIONS_REF, PURGED_REF];
    if name.starts_with_str(FETCHED_NOTES) {
        return FETCHED.iter().any(|end| name.ends_with_str(end));
    }
    OWN.iter().any(|own| *name == **own)
}

/// What git puts between notes that it unites.
pub(crate) const BETWEEN: &[u8] = b"\n\n";

impl Repository {
    /// The objects that the note of `key` lies on: `key` alone, but for the repository's knowledge.
    #[must_use]
    pub fn keys_of(&self, key: ObjectId) -> Vec<ObjectId> {
        match is_knowledge_key(key) {
            true => [Some(self.empty_tree()), misspelt(key.kind())].into_iter().flatten().collect(),
            false => vec![key],
        }
    }

    /// The names of the refs that are read for annotations: ours, fetched but unmerged ones, and older names.
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn annotation_refs(&self) -> Result<Vec<String>> {
        let mut names = vec![NOTES_REF.to_owned(), LEGACY_NOTES_REF.to_owned(), KNOWLEDGE_REF.to_owned()];
        names.extend(self.fetched(&["/chronicle", "/chronicle-knowledge"])?);
        Ok(names)
    }

    /// The names of the refs that are read for corrections: ours, then fetched but unmerged ones.
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn correction_refs(&self) -> Result<Vec<String>> {
        let mut names = vec![CORRECTIONS_REF.to_owned()];
        names.extend(self.fetched(&["/chronicle-corrections"])?);
        Ok(names)
    }

    /// The names of the refs that are read for what was purged: ours, then fetched but unmerged ones.
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn purge_refs(&self) -> Result<Vec<String>> {
        let mut names = vec![PURGED_REF.to_owned()];
        names.extend(self.fetched(&["/chronicle-purged"])?);
        Ok(names)
    }

    /// The fetched notes refs whose names end with one of `ends`.
    fn fetched(&self, ends: &[&str]) -> Result<Vec<String>> {
        let fetched = self.refs_under(FETCHED_NOTES)?.into_iter().map(|(name, _)| name);
        Ok(fetched.filter(|name| ends.iter().any(|end| name.ends_with(end))).collect())
    }

    /// What the refs point at that answers depend on, in order of name; those that do not exist are left out.
    ///
    /// # Errors
    /// When the refs cannot be read.
    pub fn memory_tips(&self) -> Result<Vec<(BString, ObjectId)>> {
        let mut tips = Vec::new();
        for name in [self.annotation_refs()?, self.correction_refs()?, self.purge_refs()?].concat() {
            if let Some(tip) = self.ref_target(&name)? {
                tips.push((BString::from(name), tip));
            }
        }
        tips.sort_unstable();
        tips.dedup();
        Ok(tips)
    }

    /// The root tree of the notes ref `name`; `None` when there is no such ref.
    pub(crate) fn notes_tree(&self, name: &str) -> Result<Option<ObjectId>> {
        let Some(tip) = self.ref_target(name)? else { return Ok(None) };
        match self.genuine_tree_of(tip)? {
            // A partial clone may lack it.
            Some(tree) if self.has_object(tree) => Ok(Some(tree)),
            _ => Err(GitError::NotANotesRef { name: name.to_owned() }),
        }
    }

    /// All notes of the ref `name`, at any fan-out depth; entries that are no notes are passed over.
    ///
    /// # Errors
    /// When the ref or a tree cannot be read, or the tree is larger than any tree of notes.
    pub fn notes(&self, name: &str) -> Result<Vec<NoteRef>> {
        match self.notes_tree(name)? {
            Some(tree) => Ok(self.list_notes(name, tree)?.0),
            None => Ok(Vec::new()),
        }
    }

    /// Lists the notes of the commit `tip` of some ref `name`, in no particular order.
    ///
    /// # Errors
    /// As for [`Repository::notes`].
    pub fn notes_at(&self, name: &str, tip: ObjectId) -> Result<Vec<NoteRef>> {
        let tree = self.tree_of_notes(name, tip)?;
        Ok(self.list_notes(name, tree)?.0)
    }

    /// The notes in `tree`, and whether it holds nothing else.
    pub(crate) fn list_notes(&self, name: &str, tree: ObjectId) -> Result<(Vec<NoteRef>, bool)> {
        let mut notes = Vec::new();
        let mut is_pure = true;
        let mut pending: Vec<(Vec<u8>, ObjectId)> = vec![(Vec::new(), tree)];
        let mut n_trees = 0;
        let mut seen: HashMap<ObjectId, usize> = HashMap::new();
        let hex_len = self.inner.object_hash().len_in_hex();
        while let Some((prefix, id)) = pending.pop() {
            n_trees += 1;
            // A few trees that name each other many times over can stand for more notes than there is memory, or for
            // a walk without an end in which there are none: where git made the tree, most trees hold notes.
            let is_endless = MAX_TREES < n_trees || MAX_NOTES < notes.len();
            let n_twins = seen.entry(id).or_default();
            *n_twins += 1;
            if is_endless || MOST_TWINS < *n_twins || FEW_TREES + MAX_DEPTH * notes.len() < n_trees {
                return Err(GitError::EndlessNotes { name: name.to_owned() });
            }
            self.in_genuine_tree(id, |entries| {
                for entry in entries.filter_map(std::result::Result::ok) {
                    let hex = [&prefix, entry.filename.as_bytes()].concat();
                    let is_hex = hex.iter().all(u8::is_ascii_hexdigit);
                    match entry.mode {
                        mode if is_hex
                            && mode.is_tree()
                            && entry.filename.len() == 2
                            && hex.len() < hex_len =>
                        {
                            pending.push((hex, entry.oid.to_owned()));
                        }
                        mode if is_hex && mode.is_blob() && hex.len() == hex_len => {
                            let blob = entry.oid.to_owned();
                            notes.extend(ObjectId::from_hex(&hex).ok().map(|key| NoteRef { key, blob }));
                        }
                        _ => is_pure = false,
                    }
                }
            })?;
        }
        notes.sort_unstable();
        Ok((notes, is_pure))
    }

    /// The objects whose notes differ between two tips of notes refs (`None` where there was no ref);
    /// `None` when that cannot be told, as when an old tip is gone.
    ///
    /// # Errors
    /// When a tree that is here is broken.
    pub fn changed_notes(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Option<BTreeSet<ObjectId>>> {
        let tree = |tip: Option<ObjectId>| match tip {
            Some(tip) => self.inner.find_object(tip).ok()?.peel_to_tree().ok().map(|tree| tree.id),
            None => Some(self.empty_tree()),
        };
        let (Some(old), Some(new)) = (tree(old), tree(new)) else { return Ok(None) };
        // Another fan-out puts a note elsewhere and leaves it as it is.
        let mut blobs: BTreeMap<ObjectId, (Option<ObjectId>, Option<ObjectId>)> = BTreeMap::new();
        for change in self.plain_changes(Some(old), new)? {
            let hex: Vec<u8> = change.path.iter().copied().filter(|byte| *byte != b'/').collect();
            let Ok(key) = ObjectId::from_hex(&hex) else { continue };
            let known = blobs.entry(key).or_default();
            known.0 = known.0.or(change.old);
            known.1 = known.1.or(change.new);
        }
        Ok(Some(blobs.into_iter().filter(|(_, (old, new))| old != new).map(|(key, _)| key).collect()))
    }

    /// The note of `key` in the ref `name`; where a tree holds several, one after the other, as git shows them.
    ///
    /// # Errors
    /// When the ref, a tree or the blob cannot be read.
    pub fn note(&self, name: &str, key: ObjectId) -> Result<Option<Vec<u8>>> {
        let Some(mut notes) = self.notes_one_by_one(name)? else { return Ok(None) };
        let blobs = notes.find(key)?;
        let found = blobs.into_iter().map(|blob| self.note_blob(blob)).collect::<Result<Vec<_>>>()?;
        Ok((!found.is_empty()).then(|| found.join(BETWEEN)))
    }

    /// The notes of the ref `name`, to look some of them up; `None` when there is no such ref.
    ///
    /// # Errors
    /// When the ref or its tree cannot be read.
    pub fn notes_one_by_one(&self, name: &str) -> Result<Option<NotesOneByOne<'_>>> {
        let Some(tree) = self.notes_tree(name)? else { return Ok(None) };
        // The library gives up on a tree with two notes on one object.
        let state = match gix::note::plumbing::State::new(tree, &Genuine(self.plain())) {
            Ok(state) => Ok(state),
            Err(source) => {
                let (notes, _) = self.list_notes(name, tree)?;
                if notes.is_empty() { return Err(source).context(ReadRefSnafu { name }) } else { Err(notes) }
            }
        };
        Ok(Some(NotesOneByOne { repository: self, name: name.to_owned(), state }))
    }
}

/// The notes of one ref as it was when this was made. Trees on the way to a note are read once.
pub struct NotesOneByOne<'r> {
    repository: &'r Repository,
    name: String,
    /// What looks them up, or all of them.
    state: std::result::Result<gix::note::plumbing::State, Vec<NoteRef>>,
}

impl NotesOneByOne<'_> {
    /// The blob of the note of `key`; several where the tree holds them at several fan-outs.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn find(&mut self, key: ObjectId) -> Result<Vec<ObjectId>> {
        let of_key = |notes: &[NoteRef]| -> Vec<ObjectId> {
            notes.iter().filter(|note| note.key == key).map(|note| note.blob).collect()
        };
        let state = match &mut self.state {
            Ok(state) => state,
            Err(notes) => return Ok(of_key(notes)),
        };
        match state.get(&key, &Genuine(self.repository.plain())) {
            Ok(found) => Ok(found.into_iter().collect()),
            Err(source) => {
                let (notes, _) = self.repository.list_notes(&self.name, state.root_tree_id())?;
                let blobs = of_key(&notes);
                self.state = Err(notes);
                if blobs.is_empty() {
                    Err(source).context(ReadRefSnafu { name: &self.name })
                } else {
                    Ok(blobs)
                }
            }
        }
    }
}
