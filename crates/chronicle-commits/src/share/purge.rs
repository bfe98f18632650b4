//! Takes claims out of every version of every ref of ours, and remembers that they are gone.
//!
//! A tombstone goes first: from then on no reader shows the claims and no merge brings them back, so a
//! purge that was killed is finished by running it again. Our own notes come last, because the texts
//! that must go are found in them.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
};

use chronicle_core::{
    EntryId,
    correction::Tier,
    purge::{Left, Purged, Texts, Tombstone, clean, read_tombstones},
};
use chronicle_git::{
    EverNote, GitError, NOTES_REF, NotesEdit, ObjectId, PURGED_REF, Replacements, Repository, Rewritten,
    sweep_dead,
};
use serde_json::{Map, Value};

use crate::{
    error::{CommitsError, Result},
    note::{
        claim_id::{LEAST_OF_ID, begins_with, each_claim, ids_in, is_readable},
        tombstones::{Tombstones, purged},
        trust::{Tiers, Trust, keep_own_bytes, mark_of_tombstone, marks_in, record_own},
    },
    write::staging::{drop_staged, own_staged, staged_to_drop},
};

/// What is to be purged.
#[derive(Debug, Clone)]
pub enum PurgeTarget {
    /// Everything that is said on this commit.
    Commit(ObjectId),
    /// The claim, correction or item of knowledge with this id.
    Id(String),
}

/// What a purge would take away.
#[derive(Debug, Clone, Default)]
pub struct PurgePlan {
    /// Each claim, correction or item of knowledge, with the first of its words.
    pub claims: Vec<(EntryId, String)>,
    /// The words of staged remarks and contexts.
    pub staged: Vec<String>,
}

/// What a purge found, and what it did.
#[derive(Debug, Clone, Default)]
pub struct PurgeReport {
    /// What is gone.
    pub ids: Vec<EntryId>,
    /// Its words.
    pub texts: Texts,
    /// The refs whose history was rewritten.
    pub rewritten: Vec<Rewritten>,
    /// Staged remarks that said it, and were dropped.
    pub n_remarks: usize,
    /// Refs that still say it: others kept writing, or their history is not all here.
    pub left: Vec<String>,
    /// The user's own claims that say words of a stranger's claim, and stay.
    pub quoted_by: Vec<EntryId>,
    /// The user's own staged remarks and contexts that say them, and stay.
    pub n_quoting_staged: usize,
}

/// What has to go: found in every version of every ref.
#[derive(Default)]
struct Sought {
    ids: BTreeSet<EntryId>,
    texts: Texts,
    /// Notes that cannot be read.
    blobs: BTreeSet<ObjectId>,
    /// The user's own claims that say the words of others that go, and stay.
    quoted_by: BTreeSet<EntryId>,
    /// How many of the user's own staged remarks and contexts say them, and stay.
    n_quoting_staged: usize,
    /// The first words of each claim that goes.
    words: HashMap<EntryId, String>,
}

impl Sought {
    /// Whether something staged goes, by its id or one of its texts.
    fn has_staged(&self, id: Option<&EntryId>, text: &str) -> bool {
        id.is_some_and(|id| self.ids.contains(id)) || self.texts.are_said(text)
    }
}

/// Finds what a purge would take away, without doing it.
///
/// # Errors
/// When nothing of that name ever was, or several things are meant.
pub fn would_purge(repository: &Repository, target: &PurgeTarget) -> Result<PurgePlan> {
    let mut sought = sought(repository, target)?;
    let mut staged = Vec::new();
    for directory in repository.state_dirs()? {
        staged.extend(staged_to_drop(&directory, |id, text| sought.has_staged(id, text))?);
    }
    let claims = std::mem::take(&mut sought.ids)
        .into_iter()
        .map(|id| {
            let words = sought.words.remove(&id).unwrap_or_default();
            (id, words)
        })
        .collect();
    Ok(PurgePlan { claims, staged })
}

/// Purges `target`: the purge has the `id`, is by `author` and was made at `timestamp`.
///
/// # Errors
/// When nothing of that name ever was, several things are meant, or a ref cannot be written.
pub fn purge(
    repository: &Repository,
    target: &PurgeTarget,
    id: EntryId,
    author: Option<String>,
    timestamp: String,
) -> Result<PurgeReport> {
    let sought = sought(repository, target)?;
    let tombstone = Tombstone {
        id,
        purged: sought.ids.iter().cloned().collect(),
        blobs: sought.blobs.iter().map(ToString::to_string).collect(),
        author,
        timestamp,
        extra: Map::new(),
    };
    record_own(repository, &[mark_of_tombstone(&tombstone)])?;
    bury(repository, &tombstone)?;
    let mut purged = Purged::default();
    purged.add(&tombstone);
    let mut report = PurgeReport { ids: tombstone.purged.clone(), ..PurgeReport::default() };
    for directory in repository.state_dirs()? {
        sweep_dead(&directory, 1);
        report.n_remarks += drop_staged(repository, &directory, |id, text| sought.has_staged(id, text))?;
    }
    for name in last_ours(repository)? {
        report.rewritten.extend(repository.rewrite_notes(&name, "chronicle: purge", |ever| {
            plan(repository, ever, &purged, &HashSet::new(), &sought.texts)
        })?);
    }
    // A process that fills facts opens their file before it looks at the notes: what is dropped stays gone.
    drop_derived(repository)?;
    for (name, tip) in repository.chronicle_refs()? {
        let ever = repository.notes_ever(&[tip])?;
        if name != PURGED_REF && !plan(repository, &ever, &purged, &HashSet::new(), &sought.texts)?.is_empty()
        {
            report.left.push(name);
        }
    }
    report.texts = sought.texts;
    report.quoted_by = sought.quoted_by.into_iter().collect();
    report.n_quoting_staged = sought.n_quoting_staged;
    Ok(report)
}

/// The refs to rewrite, our own notes last.
fn last_ours(repository: &Repository) -> Result<Vec<String>> {
    let refs = repository.chronicle_refs()?.into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = refs.filter(|name| !name.ends_with("/chronicle-purged")).collect();
    names.sort_by_key(|name| name == NOTES_REF);
    Ok(names)
}

/// Remembers what is gone; what is remembered already is not said twice.
fn bury(repository: &Repository, tombstone: &Tombstone) -> Result<()> {
    let key = repository.empty_tree();
    repository.edit_notes(PURGED_REF, "chronicle: purge", |notes: &mut NotesEdit<'_>| -> Result<()> {
        let mut content = notes.get(key)?.unwrap_or_default();
        let mut known = Purged::default();
        let trust = Trust::of(repository);
        let mut by_us = read_tombstones(&content);
        by_us.retain(|tombstone| trust.is_own(&mark_of_tombstone(tombstone)));
        by_us.iter().for_each(|tombstone| known.add(tombstone));
        let is_known = tombstone.purged.iter().all(|id| known.has(id))
            && tombstone.blobs.iter().all(|blob| known.has_blob(blob));
        if is_known {
            return Ok(());
        }
        if content.last().is_some_and(|byte| *byte != b'\n') {
            content.push(b'\n');
        }
        content.extend(serde_json::to_vec(tombstone).expect("a tombstone is plain data"));
        content.push(b'\n');
        notes.set(key, content);
        Ok(())
    })?;
    Ok(())
}

/// Removes what was derived from the notes; it is made anew.
fn drop_derived(repository: &Repository) -> Result<()> {
    for name in crate::DERIVED {
        let directory = repository.shared_state(name)?;
        empty(&directory).map_err(|source| GitError::Io { path: directory, source })?;
    }
    Ok(())
}

/// Removes everything in `directory`.
fn empty(directory: &std::path::Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let removed = match path.is_dir() && !path.is_symlink() {
            true => empty(&path),
            false => std::fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

fn sought(repository: &Repository, target: &PurgeTarget) -> Result<Sought> {
    let tips: Vec<ObjectId> = repository.chronicle_refs()?.into_iter().map(|(_, tip)| tip).collect();
    let ever = repository.notes_ever(&tips)?;
    let mut sought = Sought::default();
    match target {
        PurgeTarget::Commit(commit) => on_commit(repository, &ever, *commit, &mut sought)?,
        PurgeTarget::Id(id) => called(repository, &ever, id, &mut sought)?,
    }
    let blobs = ever.iter().map(|note| note.blob).collect();
    let ids = &sought.ids;
    let said = repository.read_every(blobs, |_, content| {
        let mut texts = Vec::new();
        each_claim(content, |id, claim| {
            if ids.contains(id) {
                texts.push((id.clone(), claim.clone()));
            }
        });
        (!texts.is_empty()).then_some(texts)
    })?;
    for (id, claim) in said.into_iter().flat_map(|(_, texts)| texts) {
        sought.texts.add_all(&claim, &TEXTS);
        sought.words.entry(id).or_insert_with(|| first_words(&claim));
    }
    keep_what_is_own(repository, &ever, &mut sought)?;
    // Who quotes the words goes too: what is left of such a claim would be another one, and an older
    // copy elsewhere would bring the words back.
    let (ids, texts) = (&sought.ids, &sought.texts);
    let blobs = ever.iter().map(|note| note.blob).collect();
    let quoting = repository.read_every(blobs, |_, content| {
        if !texts.are_in(content) {
            return None;
        }
        let mut quoting = Vec::new();
        each_claim(content, |id, claim| {
            if !ids.contains(id) && texts.are_in_value(claim) {
                quoting.push((id.clone(), first_words(claim)));
            }
        });
        Some(quoting)
    })?;
    for (id, words) in quoting.into_iter().flat_map(|(_, claims)| claims) {
        sought.words.entry(id.clone()).or_insert(words);
        sought.ids.insert(id);
    }
    Ok(sought)
}

/// The text by which a person knows a claim again: the first of [`TEXTS`] that it has.
fn first_words(claim: &Value) -> String {
    match claim {
        Value::Object(map) => {
            let words = |key: &&str| map.get(*key).map(first_words).filter(|text| !text.is_empty());
            TEXTS.iter().find_map(words).unwrap_or_default()
        }
        Value::Array(elements) => {
            elements.iter().map(first_words).find(|text| !text.is_empty()).unwrap_or_default()
        }
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

/// Keeps the user's own claims where only claims of others are purged: a stranger can use words that any claim has.
fn keep_what_is_own(repository: &Repository, ever: &[EverNote], sought: &mut Sought) -> Result<()> {
    let own = own_ids(repository, ever.iter())?;
    if sought.ids.iter().any(|id| own.contains(id)) {
        return Ok(());
    }
    for directory in repository.state_dirs()? {
        let quoting = own_staged(repository, &directory)?;
        sought.n_quoting_staged += quoting.iter().filter(|said| sought.texts.are_in_value(said)).count();
        quoting.iter().for_each(|said| {
            sought.texts.leave(said);
        });
    }
    let blobs = ever.iter().map(|note| note.blob).collect();
    let claims = repository.read_every(blobs, |_, content| {
        let mut claims = Vec::new();
        each_claim(content, |id, claim| {
            if own.contains(id) {
                claims.push((id.clone(), claim.clone()));
            }
        });
        (!claims.is_empty()).then_some(claims)
    })?;
    for (id, claim) in claims.into_iter().flat_map(|(_, claims)| claims) {
        if sought.texts.leave(&claim) {
            sought.quoted_by.insert(id);
        }
    }
    Ok(())
}

/// What the user wrote in some notes.
fn own_ids<'e>(
    repository: &Repository,
    notes: impl Iterator<Item = &'e EverNote>,
) -> Result<BTreeSet<EntryId>> {
    let trust = Trust::of(repository);
    let found = repository.read_every(notes.map(|note| note.blob).collect(), |_, content| {
        let marks = marks_in(content).into_iter();
        Some(marks.filter(|(_, mark)| trust.is_own(mark)).map(|(id, _)| id).collect::<Vec<_>>())
    })?;
    Ok(found.into_iter().flat_map(|(_, ids)| ids).collect())
}

/// The keys of claims whose values are words.
const TEXTS: [&str; 23] = [
    "content",
    "summary",
    "intent",
    "reasoning",
    "risk_notes",
    "constraints",
    "text",
    "semantic_dependencies",
    "depends_on",
    "nature",
    "provenance",
    "notes",
    "cross_cutting",
    "description",
    "rule",
    "owns",
    "boundary",
    "pattern",
    "instead",
    "reason",
    "target_value",
    "replacement",
    "corrections",
];

fn on_commit(
    repository: &Repository,
    ever: &[EverNote],
    commit: ObjectId,
    sought: &mut Sought,
) -> Result<()> {
    let (there, elsewhere): (Vec<&EverNote>, Vec<&EverNote>) =
        ever.iter().partition(|note| note.key == Some(commit));
    let blobs = there.iter().map(|note| note.blob).collect();
    for (blob, (ids, is_read)) in
        repository.read_every(blobs, |_, content| Some((ids_in(content), is_readable(content))))?
    {
        sought.ids.extend(ids);
        if !is_read {
            sought.blobs.insert(blob);
        }
    }
    // Who writes a note may give it the id of a lesson of the user's that is on another commit, which stays.
    let own_there = own_ids(repository, there.into_iter())?;
    let own_elsewhere = own_ids(repository, elsewhere.into_iter())?;
    (sought.quoted_by, sought.ids) = std::mem::take(&mut sought.ids)
        .into_iter()
        .partition(|id| own_elsewhere.contains(id) && !own_there.contains(id));
    match sought.ids.is_empty() && sought.blobs.is_empty() {
        true => Err(CommitsError::NothingToPurge { what: commit.to_string() }),
        false => Ok(()),
    }
}

fn called(repository: &Repository, ever: &[EverNote], id: &str, sought: &mut Sought) -> Result<()> {
    let blobs = ever.iter().map(|note| note.blob).collect();
    let found = repository.read_every(blobs, |_, content| {
        let mut ids = ids_in(content);
        ids.retain(|known| known.0 == id || LEAST_OF_ID <= id.len() && begins_with(known, id));
        (!ids.is_empty()).then_some(ids)
    })?;
    let mut ids: BTreeSet<EntryId> = found.into_iter().flat_map(|(_, ids)| ids).collect();
    let exact = EntryId(id.to_owned());
    if ids.contains(&exact) || purged(repository)?.has(&exact) {
        // What is gone from the notes already may still lie in what was derived from them.
        ids = BTreeSet::from([exact]);
    }
    match ids.len() {
        0 => Err(CommitsError::UnknownEntry { id: EntryId(id.escape_debug().to_string()) }),
        1 => {
            sought.ids = ids;
            Ok(())
        }
        n_ids => Err(CommitsError::AmbiguousId { id: id.escape_debug().to_string(), n_ids }),
    }
}

/// What becomes of the notes of one history; what strangers purged, `of_strangers`, only goes where the user does not say it.
fn plan(
    repository: &Repository,
    ever: &[EverNote],
    purged: &Purged,
    of_strangers: &HashSet<EntryId>,
    texts: &Texts,
) -> Result<Replacements> {
    let trust = Trust::of(repository);
    let blobs = ever.iter().map(|note| note.blob).collect();
    let found = repository.read_every(blobs, |blob, content| {
        let mut all = Cow::Borrowed(purged);
        if !of_strangers.is_empty() {
            let lines = content.split(|byte| *byte == b'\n').flat_map(marks_in);
            let own = marks_in(content).into_iter().chain(lines).filter(|(_, mark)| trust.is_own(mark));
            let own: HashSet<EntryId> = own.map(|(id, _)| id).collect();
            all.to_mut().add_ids(of_strangers.difference(&own).cloned());
        }
        match purged.has_blob(&blob.to_string()) {
            true => Some(None),
            false => match clean(content, &all, texts) {
                Left::All => None,
                Left::Some(bytes) => Some(Some((content.to_vec(), bytes))),
                Left::Nothing => Some(None),
            },
        }
    })?;
    let mut cleaned: HashMap<ObjectId, Option<Vec<u8>>> = HashMap::new();
    for (blob, left) in found {
        if let Some((before, after)) = &left {
            keep_own_bytes(&trust, before, after)?;
        }
        cleaned.insert(blob, left.map(|(_, after)| after));
    }
    Ok(ever.iter().filter_map(|note| Some((*note, cleaned.get(&note.blob)?.clone()))).collect())
}

/// What came of [`enforce`].
#[derive(Debug, Default)]
pub struct Enforced {
    /// The refs that held any of it.
    pub rewritten: Vec<Rewritten>,
    /// What stays, because those who want it gone are trusted less than its author: only hidden.
    pub kept: Vec<EntryId>,
    /// What stays and is shown: those who want it gone are neither the user nor the team.
    pub ignored: Vec<EntryId>,
}

/// Takes everything that was ever purged, here or where tombstones came from, out of all refs.
///
/// What is trusted more than the one who purged it stays.
///
/// # Errors
/// When a ref cannot be read or written.
pub fn enforce(repository: &Repository) -> Result<Enforced> {
    let trust = Trust::of(repository);
    let tombstones = Tombstones::read(repository, &trust)?;
    let mut enforced = Enforced::default();
    if tombstones.ids.is_empty() && tombstones.blobs.is_empty() {
        return Ok(enforced);
    }
    let strange = tombstones.strange();
    let named: HashSet<EntryId> =
        tombstones.ids.iter().filter(|(_, grave)| grave.hides).map(|(id, _)| id.clone()).collect();
    // What only the user's own purges name needs no look at whose it is.
    let mut doubtful: HashSet<EntryId> =
        named.iter().filter(|id| tombstones.ids[*id].tier < Tier::Own).cloned().collect();
    doubtful.extend(strange.iter().cloned());
    let tiers = Tiers::of(repository, &trust, &doubtful)?;
    let (ignored, of_strangers): (Vec<EntryId>, Vec<EntryId>) =
        strange.into_iter().partition(|id| Tier::Unknown < tiers.of_claim(id));
    enforced.ignored = ignored;
    enforced.ignored.sort_unstable();
    let of_strangers = HashSet::from_iter(of_strangers);
    let mut purged = Purged::default();
    for id in named {
        match doubtful.contains(&id) && tombstones.ids[&id].tier < tiers.of_claim(&id) {
            true => enforced.kept.push(id),
            false => purged.add_ids([id]),
        }
    }
    enforced.kept.sort_unstable();
    let blobs = tombstones.blobs.iter().filter(|(_, grave)| grave.hides);
    purged.add_blobs(blobs.map(|(blob, _)| blob.clone()).filter(|blob| {
        let id = ObjectId::from_hex(blob.as_bytes()).ok();
        id.is_some_and(|id| tombstones.has_blob(repository, id))
    }));
    for name in last_ours(repository)? {
        enforced.rewritten.extend(repository.rewrite_notes(&name, "chronicle: purge", |ever| {
            plan(repository, ever, &purged, &of_strangers, &Texts::default())
        })?);
    }
    purged.add_ids(of_strangers);
    if !enforced.rewritten.is_empty() {
        for directory in repository.state_dirs()? {
            drop_staged(repository, &directory, |id, _| id.is_some_and(|id| purged.has(id)))?;
        }
        drop_derived(repository)?;
    }
    Ok(enforced)
}

/// Makes the purges of others that name `ids` the user's own, in one by `author` with the `id`.
///
/// # Errors
/// When the tombstones cannot be read or written.
pub fn accept(
    repository: &Repository,
    ids: &[EntryId],
    id: EntryId,
    author: Option<String>,
    timestamp: String,
) -> Result<()> {
    let (purged, blobs) = (ids.to_vec(), Vec::new());
    let tombstone = Tombstone { id, purged, blobs, author, timestamp, extra: Map::new() };
    record_own(repository, &[mark_of_tombstone(&tombstone)])?;
    bury(repository, &tombstone)
}
