//! Fills facts from the repository, as far as a question needs them.

use std::collections::HashSet;

use chronicle_core::{LARGER_NOTE, Note, Sketch};
use chronicle_facts::{Commit, CommitRow, Facts, Key, NewCommit, NewText, NewTouch, Reach};
use chronicle_git::{Commits, FileChange, Found, ObjectId, Repository};

use crate::{
    disk_cache::{Progress, Work},
    error::{Result, if_notes},
    note::{
        note_texts::{said_in, texts},
        stored::{Stored, parse},
    },
    share::merging::MAX_NOTE_BYTES,
};

/// So many commits are stored in one transaction.
const BATCH: usize = 2048;
/// The same of files that commits touched: some touch very many, and who is stopped meanwhile begins after the last batch.
const MOST_TOUCHES: usize = 20_000;

/// Of a sketch, so many lines are keys: code that moves keeps most of its lines.
const SKETCHED: usize = 16;

/// So few commits are looked at while somebody waits who must not wait long.
const NEAR: usize = 256;

/// Stores `tips` and all that they reach, where they are not stored yet. Tips that are no commits are passed over.
pub(crate) fn commits(repository: &Repository, facts: &Facts, tips: &[ObjectId]) -> Result<()> {
    let mut reader = repository.commits();
    let mut walk = Walk::new(facts, usize::MAX)?;
    for tip in tips {
        walk.from(&mut reader, *tip)?;
    }
    walk.store()
}

/// Whether only little is missing for questions about the history of `head`.
pub(crate) fn is_near(repository: &Repository, facts: &Facts, head: ObjectId) -> Result<bool> {
    if facts.row_of(head.as_slice())?.is_none() {
        let mut walk = Walk::new(facts, NEAR)?;
        walk.from(&mut repository.commits(), head)?;
        if walk.left == 0 {
            return Ok(false);
        }
        walk.store()?;
    }
    let Some(row) = facts.row_of(head.as_slice())? else { return Ok(true) };
    Ok(facts.unwalked(&facts.reach(row)?, NEAR + 1)?.len() <= NEAR)
}

/// A walk that finishes one parent before it begins the next.
struct Walk<'f> {
    facts: &'f Facts,
    /// Commits that are stored, or are about to be.
    done: HashSet<ObjectId>,
    /// Commits that were looked at: where a replacement makes a circle of history, one of them is its own ancestor.
    begun: HashSet<ObjectId>,
    fresh: Vec<NewCommit>,
    /// How many commits may still be read.
    left: usize,
    /// Whether there is nothing to look up: all that is stored was stored by this walk.
    is_first: bool,
}

impl<'f> Walk<'f> {
    fn new(facts: &'f Facts, left: usize) -> Result<Self> {
        let is_first = !facts.has_commits()?;
        Ok(Self { facts, done: HashSet::new(), begun: HashSet::new(), fresh: Vec::new(), left, is_first })
    }

    fn from(&mut self, reader: &mut Commits<'_>, tip: ObjectId) -> Result<()> {
        let mut stack: Vec<(ObjectId, Found, usize)> = Vec::new();
        if let Some(found) = self.look(reader, tip)? {
            stack.push((tip, found, 0));
        }
        while let Some((_, found, next)) = stack.last_mut() {
            if let Some(parent) = found.parents.get(*next).copied() {
                *next += 1;
                if let Some(found) = self.look(reader, parent)? {
                    stack.push((parent, found, 0));
                }
                continue;
            }
            let Some((id, found, _)) = stack.pop() else { break };
            if !self.done.insert(id) {
                continue;
            }
            let here = found.parents.into_iter().filter(|parent| self.done.contains(parent));
            self.fresh.push(NewCommit {
                id: bytes_of(id),
                tree: bytes_of(found.tree),
                parents: here.map(bytes_of).collect(),
                time: found.time,
            });
            if BATCH <= self.fresh.len() {
                self.store()?;
            }
        }
        Ok(())
    }

    /// A commit that is still to be stored; `None` where it is, or where it is not here.
    fn look(&mut self, reader: &mut Commits<'_>, id: ObjectId) -> Result<Option<Found>> {
        if self.done.contains(&id) {
            return Ok(None);
        }
        if !self.is_first && self.facts.row_of(id.as_slice())?.is_some() {
            self.done.insert(id);
            return Ok(None);
        }
        if self.left == 0 || !self.begun.insert(id) {
            return Ok(None);
        }
        self.left -= 1;
        Ok(reader.find(id).ok())
    }

    fn store(&mut self) -> Result<()> {
        let fresh = std::mem::take(&mut self.fresh);
        Ok(self.facts.add_commits(&fresh)?)
    }
}

/// Stores what the commits in `reach` did to files, where that is not stored yet.
pub(crate) fn touches(
    repository: &Repository,
    facts: &Facts,
    reach: &Reach,
    progress: Option<Progress>,
) -> Result<()> {
    let reader = repository.commits();
    let mut n_done = 0;
    loop {
        let unwalked = facts.unwalked(reach, BATCH)?;
        if unwalked.is_empty() {
            if let (Some(progress), true) = (progress, 0 < n_done) {
                progress(Work::Commits, 1, 1);
            }
            return Ok(());
        }
        let (mut walked, mut n_touches) = (Vec::new(), 0);
        for (number, commit) in unwalked.iter().enumerate() {
            let touches = touches_of(repository, facts, commit, &reader)?;
            n_touches += touches.len();
            walked.push((commit.row, touches));
            let is_last = number + 1 == unwalked.len();
            if is_last || MOST_TOUCHES <= n_touches {
                facts.add_touches(&walked)?;
                n_done += walked.len();
                if let Some(progress) = progress {
                    progress(Work::Commits, n_done, reach.count());
                }
                walked.clear();
                n_touches = 0;
            }
        }
    }
}

/// What one commit did to files.
fn touches_of(
    repository: &Repository,
    facts: &Facts,
    commit: &Commit,
    reader: &Commits<'_>,
) -> Result<Vec<NewTouch>> {
    let Some(tree) = id_of(&commit.tree) else { return Ok(Vec::new()) };
    let mut parents = Vec::new();
    for parent in &commit.parents {
        parents.extend(id_of(&facts.commit(*parent)?.tree));
    }
    let changes: Vec<FileChange> = match parents[..] {
        // Where a shallow clone ends nobody knows what the commit changed.
        [] if id_of(&commit.id).is_some_and(|id| reader.is_cut(id)) => Vec::new(),
        [] => repository.plain_changes(None, tree)?,
        [parent] => repository.changes(Some(parent), tree)?,
        [first, ref others @ ..] => {
            // A merge wrote what differs from all of its parents.
            let mut changes = repository.plain_changes(Some(first), tree)?;
            for other in others {
                if changes.is_empty() {
                    break;
                }
                let differing = repository.plain_changes(Some(*other), tree)?;
                let differing: HashSet<_> = differing.into_iter().map(|change| change.path).collect();
                changes.retain(|change| differing.contains(&change.path));
            }
            changes
        }
    };
    Ok(changes.into_iter().flat_map(new_touches).collect())
}

fn new_touches(change: FileChange) -> Vec<NewTouch> {
    let FileChange { path, renamed_from, old, new } = change;
    let (old, new) = (old.map(bytes_of), new.map(bytes_of));
    match renamed_from {
        None => vec![NewTouch { path: path.into(), old, new, renamed_from: None }],
        Some(from) => {
            let from: Vec<u8> = from.into();
            vec![
                NewTouch { path: from.clone(), old, new: None, renamed_from: None },
                NewTouch { path: path.into(), old: None, new, renamed_from: Some(from) },
            ]
        }
    }
}

/// The id that is stored as `bytes`, unless these are damaged.
pub(crate) fn id_of(bytes: &[u8]) -> Option<ObjectId> {
    ObjectId::try_from(bytes).ok()
}

fn bytes_of(id: ObjectId) -> Vec<u8> {
    id.as_slice().to_vec()
}

/// Stores the notes of all refs that count as they are now; remarks on those that cannot be read go to `warnings`.
pub(crate) fn notes(repository: &Repository, facts: &Facts, warnings: &mut Vec<String>) -> Result<()> {
    let names = repository.annotation_refs()?;
    let tips = repository.memory_tips()?;
    for name in facts.known_refs()? {
        if !names.contains(&name) && facts.tip(&name)?.is_some() {
            facts.move_ref(&name, (None, None), &[])?;
        }
    }
    come(repository, facts)?;
    for name in names {
        let tip = tips.iter().find(|(tip, _)| *tip == name).map(|(_, id)| *id);
        let before = facts.tip(&name)?;
        if before.as_deref() == tip.as_ref().map(ObjectId::as_slice) {
            continue;
        }
        // Another process may move it at the same time; the last word is what the ref says.
        for before in [before, None] {
            if notes_of(repository, facts, &name, before.as_deref(), tip, warnings)? {
                break;
            }
        }
    }
    unread(repository, facts, warnings)
}

/// Looks again for notes that were not here; those that still are not go to `warnings`.
fn unread(repository: &Repository, facts: &Facts, warnings: &mut Vec<String>) -> Result<()> {
    let mut come = HashSet::new();
    for (object, blob) in facts.unread()? {
        let (Some(object), Some(blob)) = (id_of(&object), id_of(&blob)) else { continue };
        if repository.has_object(blob) {
            come.insert(blob);
        } else {
            warnings
                .push(format!("the annotation on commit {object} cannot be read: object {blob} is missing"));
        }
    }
    if come.is_empty() {
        return Ok(());
    }
    store_texts(repository, facts, come)?;
    Ok(facts.set_read()?)
}

/// Stores the notes of one ref; `false` where another process was faster, or the former tip is gone.
fn notes_of(
    repository: &Repository,
    facts: &Facts,
    name: &str,
    before: Option<&[u8]>,
    tip: Option<ObjectId>,
    warnings: &mut Vec<String>,
) -> Result<bool> {
    let mut changed: Vec<(ObjectId, Vec<ObjectId>)> = Vec::new();
    match (before, tip) {
        (_, None) => return Ok(facts.move_ref(name, (None, None), &[])?),
        (Some(before), Some(tip)) => {
            let Some(before) = id_of(before) else { return Ok(false) };
            let Ok(changes) = repository.note_changes(Some(before), Some(tip)) else { return Ok(false) };
            changed.extend(changes.into_iter().map(|change| (change.key, change.after)));
        }
        (None, Some(_)) => {
            let Some(all) = if_notes(repository.notes(name), warnings)? else { return Ok(true) };
            for note in all {
                match changed.last_mut() {
                    Some((key, blobs)) if *key == note.key => blobs.push(note.blob),
                    _ => changed.push((note.key, vec![note.blob])),
                }
            }
        }
    }
    let blobs: HashSet<ObjectId> = changed.iter().flat_map(|(_, blobs)| blobs).copied().collect();
    store_texts(repository, facts, blobs)?;
    let keys: Vec<ObjectId> = changed.iter().map(|(key, _)| *key).collect();
    annotated(repository, facts, &keys)?;
    let rows: Vec<(Vec<u8>, Vec<Vec<u8>>)> = changed
        .into_iter()
        .map(|(key, blobs)| (bytes_of(key), blobs.into_iter().map(bytes_of).collect()))
        .collect();
    Ok(facts.move_ref(name, (before, tip.as_ref().map(ObjectId::as_slice)), &rows)?)
}

/// Stores what annotated commits did, whatever branch they are on, and which of `keys` are no commits here.
fn annotated(repository: &Repository, facts: &Facts, keys: &[ObjectId]) -> Result<()> {
    commits(repository, facts, keys)?;
    let reader = repository.commits();
    let (mut away, mut come, mut walked) = (Vec::new(), Vec::new(), Vec::new());
    for key in keys.iter().filter(|key| !chronicle_git::is_knowledge_key(**key)) {
        let id = key.as_slice();
        let Some(row) = facts.row_of(id)? else {
            away.push(id.to_vec());
            continue;
        };
        come.push(id.to_vec());
        if !facts.is_walked(row)? {
            walked.push((row, touches_of(repository, facts, &facts.commit(row)?, &reader)?));
        }
        if BATCH <= walked.len() {
            facts.add_touches(&std::mem::take(&mut walked))?;
        }
    }
    facts.add_touches(&walked)?;
    Ok(facts.set_away(&away, &come)?)
}

/// Looks again for annotated commits that were not here.
fn come(repository: &Repository, facts: &Facts) -> Result<()> {
    let away = facts.away()?;
    let ids = away.iter().filter_map(|id| id_of(id));
    let here: Vec<ObjectId> = ids.filter(|id| repository.seems_here(*id)).collect();
    if here.is_empty() { Ok(()) } else { annotated(repository, facts, &here) }
}

/// Stores the bytes of notes, with their keys.
fn store_texts(repository: &Repository, facts: &Facts, blobs: HashSet<ObjectId>) -> Result<()> {
    let mut missing = Vec::new();
    for blob in blobs {
        if facts.text_row(blob.as_slice())?.is_none() {
            missing.push(blob);
        }
    }
    let (larger, missing): (Vec<ObjectId>, Vec<ObjectId>) = missing
        .into_iter()
        .partition(|blob| repository.blob_size(*blob).is_ok_and(|size| MAX_NOTE_BYTES < size));
    for blob in larger.into_iter().map(bytes_of) {
        facts.add_texts(&[NewText { blob, bytes: LARGER_NOTE.to_vec(), keys: vec![Key::Odd] }])?;
    }
    for some in missing.chunks(BATCH) {
        let read = repository.read_many(some.to_vec(), |_, content| {
            let words = NoteWords::of(content);
            Some((content.to_vec(), words))
        });
        let texts: Vec<NewText<'_>> = read
            .iter()
            .map(|(blob, (bytes, words))| NewText {
                blob: bytes_of(*blob),
                bytes: bytes.clone(),
                keys: words.keys(),
            })
            .collect();
        facts.add_texts(&texts)?;
    }
    Ok(())
}

/// What a note is looked up by.
#[derive(Debug, Default)]
pub(crate) struct NoteWords {
    files: HashSet<String>,
    words: HashSet<String>,
    replaced: HashSet<String>,
    pub(crate) lines: HashSet<u32>,
    is_odd: bool,
}

impl NoteWords {
    /// Those of a note with these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let Stored { note, remarks, .. } = parse(&[bytes]);
        let mut words = Self { is_odd: !remarks.is_empty(), ..Self::default() };
        words.add(&note);
        words.words.extend(texts(&note).iter().flat_map(|(_, text)| said_in(&text.words).into_keys()));
        words
    }

    fn add(&mut self, note: &Note) {
        for document in note.documents() {
            for region in &document.regions {
                self.file(&region.file, region.sketch.as_ref());
                for relied in &region.semantic_dependencies {
                    self.file(&relied.file, relied.sketch.as_ref());
                }
            }
            let members = document.cross_cutting.iter().flat_map(|concern| &concern.regions);
            for member in members {
                self.file(&member.file, None);
            }
        }
        for (_, entry) in note.entries() {
            if let Some(file) = &entry.file {
                self.file(file, entry.sketch.as_ref());
                self.sketch(entry.around.as_ref());
            }
            for relied in &entry.depends_on {
                self.file(&relied.file, relied.sketch.as_ref());
            }
            self.replaced.extend(entry.supersedes.iter().map(|id| id.0.clone()));
        }
    }

    fn file(&mut self, name: &str, sketch: Option<&Sketch>) {
        self.files.insert(name.trim_start_matches("./").to_owned());
        self.sketch(sketch);
    }

    fn sketch(&mut self, sketch: Option<&Sketch>) {
        self.lines.extend(sketch.map(Sketch::telling).into_iter().flatten().take(SKETCHED));
    }

    fn keys(&self) -> Vec<Key<'_>> {
        let files = self.files.iter().map(|name| Key::File(name.as_bytes()));
        let words = self.words.iter().map(|word| Key::Word(word.as_bytes()));
        let replaced = self.replaced.iter().map(|id| Key::Replaced(id.as_bytes()));
        let lines = self.lines.iter().map(|hash| Key::Line(*hash));
        files.chain(words).chain(replaced).chain(lines).chain(self.is_odd.then_some(Key::Odd)).collect()
    }
}

/// The row of a commit that is stored; it is stored first where it is not. `None` where it is not here.
pub(crate) fn row_of(repository: &Repository, facts: &Facts, id: ObjectId) -> Result<Option<CommitRow>> {
    if let Some(row) = facts.row_of(id.as_slice())? {
        return Ok(Some(row));
    }
    commits(repository, facts, &[id])?;
    Ok(facts.row_of(id.as_slice())?)
}
