//! What each commit of a notes ref changed, as far as another program may have dropped notes in it.
//!
//! `git notes` reads the notes, writes what it read with one change, and makes that a child of whatever the ref
//! points at by then. What was written in between is in the history, and in no version after that.

use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io::{Read, Seek, SeekFrom},
};

use gix::{ObjectId, bstr::ByteSlice};

use crate::{FileLock, Repository, disk::files, error::Result, store::lock_journal::LockJournal};

/// Who wrote a version of the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The user's Chronicle; what it takes away is meant to go.
    Chronicle,
    /// `git notes remove` or `git notes prune` here: whole notes that it takes away are meant to go.
    Removal,
    /// Its subject is one of these, but anybody can write that: what it takes away of the user's is not meant to go.
    Claimed,
    /// Anything else.
    Foreign,
}

/// A note that one version of the notes has otherwise than the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteChange {
    /// The annotated object.
    pub key: ObjectId,
    /// Its notes before; several where the tree holds them at several fan-outs.
    pub before: Vec<ObjectId>,
    /// Its notes after.
    pub after: Vec<ObjectId>,
}

/// One version of the notes, compared with the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesStep {
    /// Who wrote it.
    pub writer: Writer,
    /// What it changed.
    pub changes: Vec<NoteChange>,
}

/// The versions of a notes ref that were not checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesSteps {
    /// What the ref points at; `None` where it does not exist.
    pub tip: Option<ObjectId>,
    /// Whether the tip was checked already.
    pub is_checked: bool,
    /// The versions, oldest first, from the first one on that Chronicle did not write.
    pub steps: Vec<NotesStep>,
    /// What the tip has otherwise than versions that Chronicle wrote, or that were checked, before others went on from them:
    /// it does not matter how many versions the others made of it, nor how large.
    pub since_own: Vec<NoteChange>,
}

/// So many commits are followed one by one before the whole history is looked at.
const MAX_IN_TURN: usize = 256;
/// This much of the end of a ref's log is read.
const MAX_LOG_BYTES: u64 = 256 << 10;

pub(crate) type Blobs = BTreeMap<ObjectId, Vec<ObjectId>>;

impl Repository {
    /// The versions of the notes ref `name` in which another program may have dropped something.
    ///
    /// # Errors
    /// When the ref or its history cannot be read.
    pub fn unchecked_steps(&self, name: &str) -> Result<NotesSteps> {
        let Some(tip) = self.notes_tip(name)? else { return Ok(NotesSteps::default()) };
        let checked = self.lock_journal().checked.get(name).copied();
        if checked == Some(tip) {
            return Ok(NotesSteps { tip: Some(tip), is_checked: true, ..NotesSteps::default() });
        }
        let (commits, is_after_checked) = self.commits_since(tip, checked)?;
        let mut steps = self.forced_moves(name, checked.filter(|_| is_after_checked))?;
        let log = LazyCell::new(|| self.log_of(name));
        // Of the user, nothing can be lost that was not there.
        let mut has_own = is_after_checked;
        let (mut own, mut left): (HashSet<ObjectId>, BTreeSet<ObjectId>) = Default::default();
        own.extend(checked.filter(|_| is_after_checked));
        for id in commits {
            let Ok(commit) = self.inner.find_commit(id) else { continue };
            let writer = self.writer_of(id, commit.message_raw_sloppy(), || &log);
            has_own |= writer == Writer::Chronicle;
            match writer {
                Writer::Chronicle => drop(own.insert(id)),
                _ => left
                    .extend(commit.parent_ids().map(gix::Id::detach).filter(|parent| own.contains(parent))),
            }
            let is_harmless = match writer {
                Writer::Chronicle => steps.is_empty(),
                Writer::Claimed => steps.is_empty() && !has_own,
                Writer::Removal | Writer::Foreign => false,
            };
            if is_harmless {
                continue;
            }
            let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
            match self.changes_of_version(id, &parents) {
                Ok(changes) => steps.push(NotesStep { writer, changes }),
                // A clone may have been made without what its users wrote before.
                Err(_) if writer == Writer::Claimed => {}
                Err(error) => return Err(error),
            }
        }
        let mut since_own = Vec::new();
        for id in left {
            since_own.extend(self.note_changes(Some(id), Some(tip))?);
        }
        Ok(NotesSteps { tip: Some(tip), is_checked: false, steps, since_own })
    }

    /// Remembers that nothing is missing from the notes ref `name` up to `tip`, unless somebody is writing now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_checked(&self, name: &str, tip: ObjectId) -> Result<()> {
        self.ensure_unlinked(&self.write_lock())?;
        let Some(mut lock) = FileLock::try_acquire(&self.write_lock())? else { return Ok(()) };
        let mut journal = LockJournal::parse(&lock.text()?);
        journal.checked.insert(name.to_owned(), tip);
        lock.set_text(&journal.to_text())
    }

    /// The commits from `checked` to `tip`, oldest first, and whether `checked` is in the history of `tip`.
    fn commits_since(&self, tip: ObjectId, checked: Option<ObjectId>) -> Result<(Vec<ObjectId>, bool)> {
        let checked = checked.filter(|id| self.has_object(*id));
        if let Some(checked) = checked {
            let (mut at, mut commits) = (tip, Vec::new());
            while commits.len() < MAX_IN_TURN {
                if at == checked {
                    commits.reverse();
                    return Ok((commits, true));
                }
                let Ok(commit) = self.inner.find_commit(at) else { break };
                commits.push(at);
                let mut parents = commit.parent_ids();
                match (parents.next(), parents.next()) {
                    (Some(parent), None) => at = parent.detach(),
                    _ => break,
                }
            }
        }
        let history = self.history(&[tip])?;
        let place = checked.and_then(|checked| history.place(checked));
        let mut is_old = vec![false; history.nodes().len()];
        if let Some(place) = place {
            is_old[place as usize] = true;
        }
        let mut commits = Vec::new();
        // Children come before parents.
        for (at, node) in history.nodes().iter().enumerate() {
            match is_old[at] {
                true => node.parents.iter().for_each(|parent| is_old[*parent as usize] = true),
                false => commits.push(node.id),
            }
        }
        commits.reverse();
        Ok((commits, place.is_some()))
    }

    /// What was dropped when a fetch or a push moved the ref by force, as its log says.
    ///
    /// What was done before `checked` was checked with it.
    fn forced_moves(&self, name: &str, checked: Option<ObjectId>) -> Result<Vec<NotesStep>> {
        let mut steps = Vec::new();
        for (old, new) in self.forced_in_log(name) {
            let are_here = [old, new].into_iter().all(|id| self.inner.find_commit(id).is_ok());
            let is_in = |of: ObjectId, id: ObjectId| {
                self.history(&[of]).is_ok_and(|history| history.place(id).is_some())
            };
            if !are_here || is_in(new, old) || checked.is_some_and(|checked| is_in(checked, new)) {
                continue;
            }
            let mut changes = self.note_changes(Some(old), Some(new))?;
            changes.retain(|change| !change.before.is_empty());
            steps.push(NotesStep { writer: Writer::Foreign, changes });
        }
        Ok(steps)
    }

    /// Who wrote the commit `id` of a notes ref that has this `log`.
    fn writer_of<'l>(&self, id: ObjectId, message: &[u8], log: impl FnOnce() -> &'l [LogLine]) -> Writer {
        let claimed = claimed_by(message);
        let is_ours = || match claimed {
            Writer::Chronicle => self.is_own_commit(id),
            // A fetch adds to what it is told to write into the log how it moved the ref.
            _ => log().iter().any(|line| line.new == id && of_git_notes(&line.message)),
        };
        if claimed == Writer::Foreign || is_ours() { claimed } else { Writer::Claimed }
    }

    /// The moves of the ref in its log that may have been forced, oldest first.
    fn forced_in_log(&self, name: &str) -> Vec<(ObjectId, ObjectId)> {
        // Each program has words of its own for a fetch. Who sets a ref by hand says nothing, and git's notes only add.
        let is_forced = |line: &LogLine| {
            let message = line.message.trim_ascii();
            let is_of = |start: &[u8]| message.starts_with(start);
            !message.is_empty() && !is_of(b"chronicle: ") && !is_of(b"notes: ")
        };
        let log = self.log_of(name).into_iter().filter(is_forced);
        log.map(|line| (line.old, line.new)).filter(|(old, new)| !old.is_null() && !new.is_null()).collect()
    }

    /// The last version of a notes ref in its log whose notes can be listed, where those of the ref cannot.
    #[must_use]
    pub fn last_readable_notes(&self, name: &str) -> Option<ObjectId> {
        let log = self.log_of(name);
        let mut versions = log.iter().rev().flat_map(|line| [line.new, line.old]).filter(|id| !id.is_null());
        versions.find(|id| self.notes_at(name, *id).is_ok())
    }

    /// The end of the log of a ref, oldest first.
    fn log_of(&self, name: &str) -> Vec<LogLine> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut log = files::open(&self.common_dir().join("logs").join(name))?;
            let len = log.metadata()?.len();
            log.seek(SeekFrom::Start(len.saturating_sub(MAX_LOG_BYTES)))?;
            let mut end = Vec::new();
            log.read_to_end(&mut end)?;
            Ok(end)
        };
        let log = read().unwrap_or_default();
        let parse = |line: &[u8]| {
            let (ids, message) = line.split_once_str(b"\t")?;
            let mut ids = ids.split_str(b" ").map_while(|id| ObjectId::from_hex(id).ok());
            Some(LogLine { old: ids.next()?, new: ids.next()?, message: message.to_vec() })
        };
        log.lines().filter_map(parse).collect()
    }

    /// What the version `id` of the notes has otherwise than the ones that it was made from.
    fn changes_of_version(&self, id: ObjectId, parents: &[ObjectId]) -> Result<Vec<NoteChange>> {
        let base = match parents {
            [] | [_] => return self.note_changes(parents.first().copied(), Some(id)),
            [one, other] => self.parted_at(*one, *other)?,
            // Git makes no such merge of notes.
            _ => None,
        };
        // What one side had from the beginning, the other side may have changed or taken away.
        let base: Blobs = match base {
            Some(base) => self.blobs_but_for(Some(base), None)?.0,
            None => Blobs::new(),
        };
        let mut changes = Vec::new();
        for parent in parents {
            let of_parent = self.note_changes(Some(*parent), Some(id))?;
            changes.extend(of_parent.into_iter().filter(|change| {
                let in_base = base.get(&change.key).map(Vec::as_slice).unwrap_or_default();
                change.before != in_base
            }));
        }
        Ok(changes)
    }

    /// The notes that two versions of a notes ref have otherwise, given as commits.
    ///
    /// # Errors
    /// When a commit or a tree cannot be read.
    pub fn note_changes(&self, before: Option<ObjectId>, after: Option<ObjectId>) -> Result<Vec<NoteChange>> {
        let (mut before, mut after) = self.blobs_but_for(before, after)?;
        let keys: HashSet<ObjectId> = before.keys().chain(after.keys()).copied().collect();
        let change = |key: ObjectId| NoteChange {
            key,
            before: before.remove(&key).unwrap_or_default(),
            after: after.remove(&key).unwrap_or_default(),
        };
        let mut changes: Vec<NoteChange> = keys.into_iter().map(change).collect();
        changes.retain(|change| change.before != change.after);
        changes.sort_by_key(|change| change.key);
        Ok(changes)
    }

    /// The notes of two commits, without the directories that both have.
    fn blobs_but_for(&self, before: Option<ObjectId>, after: Option<ObjectId>) -> Result<(Blobs, Blobs)> {
        let tree =
            |commit: Option<ObjectId>| commit.map(|id| self.tree_of_notes(crate::NOTES_REF, id)).transpose();
        let (before, after) = (tree(before)?, tree(after)?);
        let mut pending = vec![(Vec::new(), before, after)];
        let (mut left, mut right) = (Blobs::new(), Blobs::new());
        let trees = (before, after);
        let mut n_trees = 0;
        while let Some((prefix, before, after)) = pending.pop() {
            n_trees += 1;
            if before == after || MAX_TREES < n_trees {
                continue;
            }
            let (before, mut after) = (self.entries(before)?, self.entries(after)?);
            if is_mixed(&before) || is_mixed(&after) {
                return Ok((self.all_blobs(trees.0)?, self.all_blobs(trees.1)?));
            }
            for (name, (is_tree, id)) in before {
                let other = after.remove(&name);
                if other == Some((is_tree, id)) {
                    continue;
                }
                let hex = [&prefix[..], &name].concat();
                let (blob, subtree) = if is_tree { (None, Some(id)) } else { (Some(id), None) };
                let (other_blob, other_subtree) = match other {
                    Some((true, id)) => (None, Some(id)),
                    Some((false, id)) => (Some(id), None),
                    None => (None, None),
                };
                add(&mut left, &hex, blob);
                add(&mut right, &hex, other_blob);
                if subtree.is_some() || other_subtree.is_some() {
                    pending.push((hex, subtree, other_subtree));
                }
            }
            for (name, (is_tree, id)) in after {
                let hex = [&prefix[..], &name].concat();
                match is_tree {
                    true => pending.push((hex, None, Some(id))),
                    false => add(&mut right, &hex, Some(id)),
                }
            }
        }
        Ok((left, right))
    }

    /// Each note of a tree.
    pub(crate) fn all_blobs(&self, tree: Option<ObjectId>) -> Result<Blobs> {
        let mut blobs = Blobs::new();
        let notes = tree.map(|tree| self.list_notes(crate::NOTES_REF, tree)).transpose()?;
        for note in notes.into_iter().flat_map(|(notes, _)| notes) {
            blobs.entry(note.key).or_default().push(note.blob);
        }
        Ok(blobs)
    }

    /// The entries of a tree that can be notes or directories of them.
    fn entries(&self, tree: Option<ObjectId>) -> Result<HashMap<Vec<u8>, (bool, ObjectId)>> {
        let Some(id) = tree else { return Ok(HashMap::new()) };
        self.in_genuine_tree(id, |all| {
            let mut entries = HashMap::new();
            for entry in all.filter_map(std::result::Result::ok) {
                let (name, mode) = (entry.filename, entry.mode);
                let is_directory = mode.is_tree() && name.len() == 2;
                if (is_directory || mode.is_blob()) && name.iter().all(u8::is_ascii_hexdigit) {
                    entries.insert(name.to_vec(), (is_directory, entry.oid.to_owned()));
                }
            }
            entries
        })
    }
}

/// A few trees that name each other many times over can stand for more notes than there is memory.
const MAX_TREES: usize = 1 << 17;

/// Whether notes may stand at two fan-outs: then one that both versions have may be next to one that only one has.
fn is_mixed(entries: &HashMap<Vec<u8>, (bool, ObjectId)>) -> bool {
    let n_trees = entries.values().filter(|(is_tree, _)| *is_tree).count();
    0 < n_trees && n_trees < entries.len()
}

fn add(blobs: &mut Blobs, hex: &[u8], blob: Option<ObjectId>) {
    if let (Some(blob), Ok(key)) = (blob, ObjectId::from_hex(hex)) {
        blobs.entry(key).or_default().push(blob);
    }
}

/// One move of a ref.
struct LogLine {
    old: ObjectId,
    new: ObjectId,
    message: Vec<u8>,
}

/// What git writes where it takes notes away.
const REMOVALS: [&[u8]; 2] = [b"Notes removed by 'git notes remove'", b"Notes removed by 'git notes prune'"];

/// Who has written a commit of notes, by what its message says.
fn claimed_by(message: &[u8]) -> Writer {
    match message {
        message if message.starts_with(b"chronicle: ") => Writer::Chronicle,
        message if REMOVALS.iter().any(|removal| message.starts_with(removal)) => Writer::Removal,
        _ => Writer::Foreign,
    }
}

/// Whether a line of a log is of a `git notes` that took notes away.
fn of_git_notes(message: &[u8]) -> bool {
    message.strip_prefix(b"notes: ").is_some_and(|message| REMOVALS.contains(&message.trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_git_itself_takes_whole_notes_away() {
        let check =
            |message: &str, writer: Writer| assert_eq!(claimed_by(message.as_bytes()), writer, "{message}");
        check("chronicle: annotate 0a1b2c3d\n", Writer::Chronicle);
        check("Notes removed by 'git notes remove'\n", Writer::Removal);
        check("Notes removed by 'git notes prune'\n", Writer::Removal);
        check("Notes removed by 'git notes edit'\n", Writer::Foreign);
        check("Notes added by 'git notes append'\n", Writer::Foreign);
        check("notes: Merged notes from x into y\n", Writer::Foreign);
        check("chronicles of others\n", Writer::Foreign);
        assert!(of_git_notes(b"notes: Notes removed by 'git notes remove'"));
        assert!(!of_git_notes(b"notes: Notes removed by 'git notes remove': fast-forward"));
        assert!(!of_git_notes(b"notes: Notes added by 'git notes add'"));
    }
}
