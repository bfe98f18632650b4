//! Rewrites the whole history of notes refs: what must not be kept is in no version any more.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use gix::{ObjectId, bstr::ByteSlice, objs::tree::EntryMode};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, IoSnafu, ObjectSnafu, Result},
    store::{refs::UpdateFailed, write_guard::WriteGuard},
};

/// A blob of some version of a notes ref, with the object that it was a note of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EverNote {
    /// The annotated object; `None` for a file that is no note.
    pub key: Option<ObjectId>,
    /// The blob.
    pub blob: ObjectId,
}

/// What becomes of some blobs of a history: other bytes, or nothing.
pub type Replacements = HashMap<EverNote, Option<Vec<u8>>>;

/// A ref whose history was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The ref.
    pub name: String,
    /// What it pointed at.
    pub old: ObjectId,
    /// What it points at now.
    pub new: ObjectId,
}

/// Attempts before giving up on a ref that others keep moving.
const MAX_ATTEMPTS: u32 = 20;
/// So many trees that no newer version has are looked into for one version of the notes: a few trees that name each
/// other many times over can stand for more than there is time for.
const MAX_NEW_TREES: usize = 200_000;

impl Repository {
    /// The notes refs that hold what Chronicle stores, of this clone and fetched ones, with what they point at.
    ///
    /// # Errors
    /// When the refs cannot be listed.
    pub fn chronicle_refs(&self) -> Result<Vec<(String, ObjectId)>> {
        let is_ours = |name: &str| {
            let last = name.rsplit('/').next().unwrap_or(name);
            match name.strip_prefix(crate::FETCHED_NOTES) {
                Some(_) => last.starts_with("chronicle") || last == "ultragit",
                None => name.starts_with(crate::NOTES_REF) || name == crate::LEGACY_NOTES_REF,
            }
        };
        let mut refs = self.every_ref_under("refs/notes/")?;
        refs.retain(|(name, _)| is_ours(name));
        Ok(refs)
    }

    /// Every blob of every version of the notes that `tips` lead to.
    ///
    /// # Errors
    /// When a commit or a tree cannot be read.
    pub fn notes_ever(&self, tips: &[ObjectId]) -> Result<Vec<EverNote>> {
        let mut found = HashSet::new();
        let mut seen = HashSet::new();
        let mut pending: Vec<ObjectId> = tips.to_vec();
        let mut commits = HashSet::new();
        while let Some(id) = pending.pop() {
            if !commits.insert(id) {
                continue;
            }
            let Some(commit) = self.commit_if_here(id)? else { continue };
            pending.extend(commit.parent_ids().map(gix::Id::detach));
            let tree = commit.tree_id().context(ObjectSnafu { id })?.detach();
            let mut room = MAX_NEW_TREES;
            self.see_tree(tree, b"", (&mut seen, &mut room), &mut found)?;
        }
        let mut found: Vec<EverNote> = found.into_iter().collect();
        found.sort_unstable();
        Ok(found)
    }

    /// The commit `id`; `None` where a shallow clone ends, or when it is no commit.
    fn commit_if_here(&self, id: ObjectId) -> Result<Option<gix::Commit<'_>>> {
        let object = self.inner.try_find_object(id).context(ObjectSnafu { id })?;
        Ok(object.and_then(|object| object.try_into_commit().ok()))
    }

    fn see_tree(
        &self,
        id: ObjectId,
        prefix: &[u8],
        (seen, room): (&mut HashSet<(ObjectId, Vec<u8>)>, &mut usize),
        found: &mut HashSet<EverNote>,
    ) -> Result<()> {
        if *room == 0 || !seen.insert((id, prefix.to_vec())) {
            return Ok(());
        }
        *room -= 1;
        let tree = self.inner.find_tree(id).context(ObjectSnafu { id })?;
        for entry in tree.iter().filter_map(std::result::Result::ok) {
            let hex = [prefix, entry.filename().as_bytes()].concat();
            match entry.mode() {
                mode if mode.is_tree() => self.see_tree(entry.object_id(), &hex, (seen, room), found)?,
                mode if mode.is_blob() => {
                    found.insert(EverNote { key: ObjectId::from_hex(&hex).ok(), blob: entry.object_id() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Rewrites the history of the notes ref `name` as `plan` says, under compare-and-swap.
    ///
    /// `plan` is given all notes that ever were, and runs again whenever someone else moved the ref.
    /// Commits before the first change stay what they are. `None` when there was nothing to change.
    ///
    /// # Errors
    /// Whatever `plan` returns; that objects cannot be read or written; that the ref stays contended.
    pub fn rewrite_notes<E: From<GitError>>(
        &self,
        name: &str,
        message: &str,
        mut plan: impl FnMut(&[EverNote]) -> Result<Replacements, E>,
    ) -> Result<Option<Rewritten>, E> {
        let mut guard = WriteGuard::take(self, name)?;
        let mut contended = None;
        for attempt in 0..MAX_ATTEMPTS {
            crate::store::update::pause(attempt);
            let Some(old) = self.ref_target(name)? else {
                guard.store_journal()?;
                return Ok(None);
            };
            // What a foreign writer dropped is to be merged again, and must not bring anything back.
            let dropped: Vec<ObjectId> = guard
                .journal
                .lost
                .iter()
                .filter(|(lost_from, _)| lost_from == name)
                .map(|(_, lost)| *lost)
                .collect();
            let written = guard.journal.written.get(name).copied();
            let tips: Vec<ObjectId> =
                [old].into_iter().chain(dropped.iter().copied()).chain(written).collect();
            let replacements = plan(&self.notes_ever(&tips)?)?;
            let new = self.rewritten(old, &replacements)?;
            for lost in dropped {
                guard.journal.lost.remove(&(name.to_owned(), lost));
                guard.journal.lost.insert((name.to_owned(), self.rewritten(lost, &replacements)?));
            }
            if let Some(written) = written {
                guard.journal.written.insert(name.to_owned(), self.rewritten(written, &replacements)?);
            }
            if let Some(checked) = guard.journal.checked.get(name).copied() {
                guard.journal.checked.insert(name.to_owned(), self.rewritten(checked, &replacements)?);
            }
            if new == old {
                guard.store_journal()?;
                return Ok(None);
            }
            match guard.swap(name, Some(old), new, message) {
                Ok(()) => {
                    // The ref is rewritten now; what the next writer is told is only a hint.
                    let _stored = guard.store_journal();
                    return Ok(Some(Rewritten { name: name.to_owned(), old, new }));
                }
                Err(UpdateFailed::Fatal(error)) => return Err(error.into()),
                Err(UpdateFailed::Contended(why)) => contended = Some(why),
            }
        }
        Err(contended.expect("the last attempt failed").into())
    }

    /// The tip of the history of `tip` in which `replacements` have taken place.
    fn rewritten(&self, tip: ObjectId, replacements: &Replacements) -> Result<ObjectId> {
        let mut blobs: HashMap<EverNote, Option<ObjectId>> = HashMap::new();
        for (note, content) in replacements {
            let blob = content.as_ref().map(|content| self.write_blob(content)).transpose()?;
            blobs.insert(*note, blob);
        }
        if blobs.is_empty() {
            return Ok(tip);
        }
        let mut trees = HashMap::new();
        let mut commits: HashMap<ObjectId, ObjectId> = HashMap::new();
        // Parents come before their children; a chain of any length must not end the stack.
        let mut pending = vec![tip];
        while let Some(id) = pending.last().copied() {
            let Some(commit) = self.commit_if_here(id)? else {
                commits.insert(id, id);
                pending.pop();
                continue;
            };
            let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
            let before = pending.len();
            pending.extend(parents.iter().filter(|parent| !commits.contains_key(*parent)));
            if before < pending.len() {
                continue;
            }
            pending.pop();
            if commits.contains_key(&id) {
                continue;
            }
            let tree = commit.tree_id().context(ObjectSnafu { id })?.detach();
            let new_tree = self.rewritten_tree(tree, Vec::new(), &blobs, &mut trees)?;
            let new_tree = new_tree.unwrap_or_else(|| self.empty_tree());
            let new_parents: Vec<ObjectId> = parents.iter().map(|parent| commits[parent]).collect();
            let new = if new_tree == tree && new_parents == parents {
                id
            } else {
                let new = self.rewritten_commit(id, new_tree, new_parents)?;
                if self.is_own_commit(id) {
                    self.record_commit(new);
                }
                new
            };
            commits.insert(id, new);
        }
        Ok(commits[&tip])
    }

    fn rewritten_commit(&self, id: ObjectId, tree: ObjectId, parents: Vec<ObjectId>) -> Result<ObjectId> {
        if tree == self.empty_tree() {
            self.write_object(&gix::objs::Tree::empty())?;
        }
        let commit = self.inner.find_commit(id).context(ObjectSnafu { id })?;
        let mut commit: gix::objs::Commit = commit
            .decode()
            .ok()
            .and_then(|commit| commit.try_into().ok())
            .ok_or_else(|| GitError::NotANotesRef { name: id.to_string() })?;
        commit.tree = tree;
        commit.parents = parents.into_iter().collect();
        // A signature would be of the commit that it was.
        commit.extra_headers.retain(|(name, _)| !name.starts_with(b"gpgsig"));
        self.write_object(&commit)
    }

    /// The tree with replaced blobs; `None` when nothing is left of it.
    fn rewritten_tree(
        &self,
        id: ObjectId,
        prefix: Vec<u8>,
        blobs: &HashMap<EverNote, Option<ObjectId>>,
        known: &mut HashMap<(ObjectId, Vec<u8>), Option<ObjectId>>,
    ) -> Result<Option<ObjectId>> {
        if let Some(known) = known.get(&(id, prefix.clone())) {
            return Ok(*known);
        }
        let tree = self.inner.find_tree(id).context(ObjectSnafu { id })?;
        let mut entries = Vec::new();
        let mut is_changed = false;
        for entry in tree.iter().filter_map(std::result::Result::ok) {
            let hex = [&prefix, entry.filename().as_bytes()].concat();
            let old = entry.object_id();
            let new = match entry.mode() {
                mode if mode.is_tree() => self.rewritten_tree(old, hex, blobs, known)?,
                mode if mode.is_blob() => {
                    let note = EverNote { key: ObjectId::from_hex(&hex).ok(), blob: old };
                    blobs.get(&note).copied().unwrap_or(Some(old))
                }
                _ => Some(old),
            };
            is_changed |= new != Some(old);
            let mode: EntryMode = entry.mode();
            entries.extend(new.map(|oid| gix::objs::tree::Entry {
                mode,
                filename: entry.filename().to_owned(),
                oid,
            }));
        }
        let new = match (is_changed, entries.is_empty()) {
            (false, _) => Some(id),
            (true, true) => None,
            (true, false) => {
                let tree = gix::objs::Tree { entries };
                Some(self.write_object(&tree)?)
            }
        };
        known.insert((id, prefix), new);
        Ok(new)
    }

    /// The remotes that the repository knows, by name.
    #[must_use]
    pub fn remote_names(&self) -> Vec<String> {
        self.inner.remote_names().iter().map(|name| name.to_str_lossy().into_owned()).collect()
    }

    /// The state directories of this repository and all its worktrees.
    ///
    /// # Errors
    /// When the worktrees cannot be listed.
    pub fn state_dirs(&self) -> Result<Vec<PathBuf>> {
        let mut directories = vec![self.shared_state_dir(), self.worktree_state_dir()];
        let path = self.common_dir().join("worktrees");
        match std::fs::read_dir(&path) {
            Ok(worktrees) => {
                for entry in worktrees {
                    let entry = entry.context(IoSnafu { path: &path })?;
                    directories.push(entry.path().join("chronicle"));
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(GitError::Io { path, source }),
        }
        directories.sort_unstable();
        directories.dedup();
        // What a link leads to is not ours.
        let is_real =
            |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        directories.retain(is_real);
        Ok(directories)
    }
}
