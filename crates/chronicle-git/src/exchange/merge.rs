//! Merges one notes ref into another, note by note, at whatever fan-out either keeps them.
//!
//! What becomes of two notes on one object is the caller's to say; here is only what git needs: a
//! tree that depends on nothing but the notes in it, a commit with both histories, the swap.

use std::collections::BTreeMap;

use gix::{ObjectId, note::plumbing::State};
use snafu::ResultExt;

use crate::{
    Recovered, Repository,
    error::{GitError, ObjectSnafu, Result, WriteObjectSnafu},
};

/// An object whose notes differ between two refs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The object that carries them.
    pub key: ObjectId,
    /// Its notes in our ref; several where the tree holds them at several fan-outs.
    pub ours: Vec<ObjectId>,
    /// Its notes in the other.
    pub theirs: Vec<ObjectId>,
    /// Its notes where the two histories parted.
    pub base: Vec<ObjectId>,
}

/// What becomes of the notes of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// This blob, which is there already.
    Blob(ObjectId),
    /// A new note.
    Content(Vec<u8>),
    /// No note.
    Nothing,
}

/// What a merge came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// We had everything already.
    UpToDate,
    /// Our ref now points where theirs does.
    Forwarded,
    /// A new commit holds both.
    United,
}

type Notes = BTreeMap<ObjectId, Vec<ObjectId>>;

impl Repository {
    /// Merges the notes of the commit `theirs` into the ref `name`.
    ///
    /// `resolve` gets every object whose notes differ and answers for each, in order; it runs again
    /// when someone else was faster.
    ///
    /// # Errors
    /// Whatever `resolve` returns; that objects cannot be read or written; that the ref stays contended.
    pub fn merge_notes<E: From<GitError>>(
        &self,
        name: &str,
        theirs: ObjectId,
        message: &str,
        mut resolve: impl FnMut(&[Difference]) -> Result<Vec<Resolution>, E>,
    ) -> Result<(Merged, Recovered), E> {
        self.move_ref(name, message, |ours| {
            let base = match ours {
                Some(ours) => self.parted_at(ours, theirs)?,
                None => None,
            };
            if base == Some(theirs) {
                return Ok((Merged::UpToDate, None));
            }
            let (our_notes, our_tree) = self.notes_of(name, ours)?;
            let (their_notes, their_tree) = self.notes_of(name, Some(theirs))?;
            let (base_notes, _) = self.notes_of(name, base)?;
            let differences = differences(&our_notes, &their_notes, &base_notes);
            let resolutions = resolve(&differences)?;
            let mut merged = our_notes;
            for (difference, resolution) in differences.iter().zip(resolutions) {
                match resolution {
                    Resolution::Blob(blob) => drop(merged.insert(difference.key, vec![blob])),
                    Resolution::Content(content) => {
                        drop(merged.insert(difference.key, vec![self.write_blob(&content)?]));
                    }
                    Resolution::Nothing => drop(merged.remove(&difference.key)),
                }
            }
            if base == ours && their_tree.is_pure && merged == their_notes {
                return Ok((Merged::Forwarded, Some(theirs)));
            }
            let tree = self.write_notes(&merged, &our_tree)?;
            let parents = ours.into_iter().chain([theirs]).collect();
            Ok((Merged::United, Some(self.commit_tree_of_notes(tree, parents, message)?)))
        })
    }

    /// The objects whose notes differ between two tips of notes refs.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn note_differences(
        &self,
        name: &str,
        ours: Option<ObjectId>,
        theirs: Option<ObjectId>,
    ) -> Result<Vec<Difference>> {
        let (ours, theirs) = (self.notes_of(name, ours)?.0, self.notes_of(name, theirs)?.0);
        Ok(differences(&ours, &theirs, &Notes::new()))
    }

    /// Replaces what the ref `name` has beyond the commit `onto` by one commit, with every note for which
    /// `change` gives another in its place.
    ///
    /// # Errors
    /// When objects cannot be read or written, or the ref stays contended.
    pub fn rebuild_notes(
        &self,
        name: &str,
        onto: Option<ObjectId>,
        message: &str,
        change: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<Recovered> {
        let ((), recovered) = self.move_ref(name, message, |ours| {
            let (mut notes, tree) = self.notes_of(name, ours)?;
            for blobs in notes.values_mut() {
                let content = self.note_blob(blobs[0])?;
                if let Some(changed) = change(&content) {
                    blobs[0] = self.write_blob(&changed)?;
                }
            }
            let tree = self.write_notes(&notes, &tree)?;
            let commit = self.commit_tree_of_notes(tree, onto.into_iter().collect(), message)?;
            Ok::<_, GitError>(((), Some(commit)))
        })?;
        Ok(recovered)
    }

    /// A commit on top of `onto` with the notes of `tip`, but for those on the objects that `instead` has others for: none
    /// for empty ones. No ref moves. `None` where `onto` has the very same, or nothing is left.
    ///
    /// # Errors
    /// When objects cannot be read or written.
    pub fn notes_with(
        &self,
        name: &str,
        (tip, onto): (ObjectId, Option<ObjectId>),
        message: &str,
        instead: &BTreeMap<ObjectId, Vec<u8>>,
    ) -> Result<Option<ObjectId>> {
        let (mut notes, tree) = self.notes_of(name, Some(tip))?;
        for (key, content) in instead {
            match content.is_empty() {
                true => drop(notes.remove(key)),
                false => drop(notes.insert(*key, vec![self.write_blob(content)?])),
            }
        }
        let tree = self.write_notes(&notes, &tree)?;
        match onto {
            Some(onto) if self.commit_tree(onto)? == tree => Ok(None),
            None if notes.is_empty() => Ok(None),
            _ => self.commit_tree_of_notes(tree, onto.into_iter().collect(), message).map(Some),
        }
    }

    /// Where the histories of two commits part; `None` when they have nothing in common.
    ///
    /// gix has a search for this that goes by the times of commits. It finds too old a base where many have
    /// one time, and scripts write many notes within a second.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn parted_at(&self, one: ObjectId, other: ObjectId) -> Result<Option<ObjectId>> {
        if one == other {
            return Ok(Some(one));
        }
        let history = self.history(&[one, other])?;
        let mut reached = vec![(false, false); history.nodes().len()];
        for (node, place) in history.nodes().iter().zip(0_usize..) {
            let (by_one, by_other) = &mut reached[place];
            (*by_one, *by_other) = (*by_one || node.id == one, *by_other || node.id == other);
            let (by_one, by_other) = (*by_one, *by_other);
            // Children come before parents, so nothing newer is common.
            if by_one && by_other {
                return Ok(Some(node.id));
            }
            for parent in &node.parents {
                let (parent_by_one, parent_by_other) = &mut reached[*parent as usize];
                (*parent_by_one, *parent_by_other) = (*parent_by_one || by_one, *parent_by_other || by_other);
            }
        }
        Ok(None)
    }

    fn notes_of(&self, name: &str, tip: Option<ObjectId>) -> Result<(Notes, NotesTree)> {
        let mut notes = Notes::new();
        let Some(tip) = tip else { return Ok((notes, NotesTree { id: None, is_pure: true })) };
        let id = self.tree_of_notes(name, tip)?;
        let (listed, mut is_pure) = self.list_notes(name, id)?;
        for note in listed {
            let blobs = notes.entry(note.key).or_default();
            is_pure &= blobs.is_empty();
            if !blobs.contains(&note.blob) {
                blobs.push(note.blob);
            }
        }
        Ok((notes, NotesTree { id: Some(id), is_pure }))
    }

    /// Writes a tree of notes; what else our tree holds stays in it.
    fn write_notes(&self, notes: &Notes, ours: &NotesTree) -> Result<ObjectId> {
        let kept = ours.id.filter(|_| !ours.is_pure);
        // A tree that holds one note twice is no foundation; the notes themselves are all at hand.
        if let Some(tree) = kept.and_then(|tree| self.write_notes_on(tree, notes).ok()) {
            return Ok(tree);
        }
        let empty = self.write_object(&gix::objs::Tree::empty())?;
        self.write_notes_on(empty, notes)
    }

    fn write_notes_on(&self, tree: ObjectId, notes: &Notes) -> Result<ObjectId> {
        let mut state = State::new(tree, &self.inner).context(ObjectSnafu { id: tree })?;
        let (present, _) = self.list_notes("", tree)?;
        for gone in present.iter().filter(|note| !notes.contains_key(&note.key)) {
            state.edit(gone.key, None, self).context(WriteObjectSnafu)?;
        }
        for (key, blobs) in notes {
            state.edit(*key, blobs.first().copied(), self).context(WriteObjectSnafu)?;
        }
        state.write(self).context(WriteObjectSnafu)
    }
}

/// The tree that notes lie in.
struct NotesTree {
    id: Option<ObjectId>,
    /// Whether it holds nothing but notes, each once.
    is_pure: bool,
}

fn differences(ours: &Notes, theirs: &Notes, base: &Notes) -> Vec<Difference> {
    let of = |notes: &Notes, key: &ObjectId| notes.get(key).cloned().unwrap_or_default();
    let keys: std::collections::BTreeSet<&ObjectId> = ours.keys().chain(theirs.keys()).collect();
    let all = keys.into_iter().map(|key| Difference {
        key: *key,
        ours: of(ours, key),
        theirs: of(theirs, key),
        base: of(base, key),
    });
    // What lies at two fan-outs has to become one note even if both sides have it so.
    all.filter(|notes| notes.ours != notes.theirs || 1 < notes.ours.len()).collect()
}
