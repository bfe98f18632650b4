//! Annotated commits whose annotations may belong to another commit by now.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chronicle_core::{Note, is_telling};
use chronicle_git::{LEGACY_NOTES_REF, NOTES_REF, ObjectId, Repository, is_knowledge_key};

use super::{reach::Reach, relocated};
use crate::{
    error::{Result, if_notes},
    note::{
        change,
        stored::parse,
        trust::{Trust, mark_of_document, mark_of_entry},
    },
};

/// An annotated commit that HEAD does not reach, with what is known of its change.
pub(super) struct Lost {
    pub(super) key: ObjectId,
    pub(super) note: Note,
    /// Whether nothing reaches it at all.
    pub(super) is_orphan: bool,
    /// The fingerprints of its change.
    pub(super) patches: BTreeSet<String>,
    pub(super) trees: BTreeSet<ObjectId>,
    /// Words of lines that it wrote; only a few of them are known.
    pub(super) wrote: BTreeSet<u32>,
    /// The lines that it wrote, where a branch that HEAD does not reach keeps it.
    pub(super) lines: Vec<WrittenLine>,
    /// Its lessons and documents.
    pub(super) claims: BTreeSet<Claim>,
    /// Those of them that no commit in reach knows, or none of the history of HEAD where a branch keeps this one.
    pub(super) news: BTreeSet<Claim>,
    pub(super) derived_from: BTreeSet<String>,
    /// The commit in reach that it was made on, perhaps with others in between; what came before cannot
    /// have taken its place.
    pub(super) base: Option<ObjectId>,
    parent: Option<ObjectId>,
}

/// The id of a lesson or the fingerprint of a document, and whether it is the user's own: anyone can use such a name again,
/// so what a stranger says under it is not what the user said.
pub(super) type Claim = (String, bool);

/// The annotated commits that know something which no commit in reach knows.
pub(super) fn find(repository: &Repository, reach: &Reach, warnings: &mut Vec<String>) -> Result<Vec<Lost>> {
    let mut blobs: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for name in [NOTES_REF, LEGACY_NOTES_REF] {
        for note in if_notes(repository.notes(name), warnings)?.into_iter().flatten() {
            blobs.entry(note.key).or_default().push(note.blob);
        }
    }
    blobs.retain(|key, _| !is_knowledge_key(*key));
    if blobs.keys().all(|key| reach.has_here(*key)) {
        return Ok(Vec::new());
    }
    let wanted: Vec<ObjectId> = blobs.values().flatten().copied().collect();
    let n_wanted = wanted.iter().collect::<HashSet<_>>().len();
    let read: HashMap<ObjectId, Note> = repository
        .read_many(wanted, |_, content| Some(parse(&[content.to_vec()]).note))
        .into_iter()
        .collect();
    if read.len() < n_wanted {
        warnings
            .push(format!("{} annotations cannot be read: their objects are missing", n_wanted - read.len()));
    }
    let trust = Trust::of(repository);
    let (mut known, mut known_here) = (BTreeSet::new(), BTreeSet::new());
    for (key, blobs) in blobs.iter().filter(|(key, _)| reach.has(**key)) {
        let mut claims = claims(&trust, &note_of(blobs, &read));
        // The user's own stands for a stranger's of that name, and not the other way round.
        claims.extend(claims.clone().into_iter().map(|(name, _)| (name, false)));
        if reach.has_here(*key) {
            known_here.extend(claims.iter().cloned());
        }
        known.extend(claims);
    }
    let mut lost = Vec::new();
    for (key, blobs) in blobs.iter().filter(|(key, _)| !reach.has_here(**key)) {
        let is_orphan = !reach.has(*key);
        let note = note_of(blobs, &read);
        let claims = claims(&trust, &note);
        let known = if is_orphan { &known } else { &known_here };
        let news: BTreeSet<Claim> = claims.difference(known).cloned().collect();
        if news.is_empty() {
            continue;
        }
        if repository.has_object(*key) && repository.commit(*key).is_err() {
            // A note on something else than a commit.
            continue;
        }
        lost.push(of(repository, *key, note, claims, news, is_orphan)?);
    }
    let parents: HashMap<ObjectId, ObjectId> =
        lost.iter().filter_map(|one| Some((one.key, one.parent?))).collect();
    for one in &mut lost {
        one.base = base(repository, reach, one, &parents);
    }
    Ok(lost)
}

/// What the notes in `blobs` say together, as far as they could be read.
fn note_of(blobs: &[ObjectId], read: &HashMap<ObjectId, Note>) -> Note {
    blobs.iter().filter_map(|blob| read.get(blob)).cloned().fold(Note::default(), Note::fold)
}

/// Commits that are passed on the way to one in reach.
const MAX_STEPS: usize = 1_000;

/// The first commit in reach on the way down from a lost one, by commits that are here and notes on others.
fn base(
    repository: &Repository,
    reach: &Reach,
    lost: &Lost,
    parents: &HashMap<ObjectId, ObjectId>,
) -> Option<ObjectId> {
    let mut at = lost.key;
    for _ in 0..MAX_STEPS {
        at = match parents.get(&at) {
            Some(parent) => *parent,
            None => *repository.commit(at).ok()?.parents.first()?,
        };
        let is_in_reach = if lost.is_orphan { reach.has(at) } else { reach.has_here(at) };
        if is_in_reach {
            return Some(at);
        }
    }
    None
}

/// Everything that a note claims, by name.
fn claims(trust: &Trust<'_>, note: &Note) -> BTreeSet<Claim> {
    let entries = note.entries().into_iter();
    let entries = entries.map(|(_, entry)| (entry.id.0.clone(), trust.is_own(&mark_of_entry(entry))));
    let statements = note.statements().into_iter().map(|statement| {
        (format!("s-{}", statement.fingerprint), trust.is_own(&mark_of_document(statement.document)))
    });
    let unread = note.unread().map(|part| (format!("u-{}", part.escape_ascii()), false));
    entries.chain(statements).chain(unread).collect()
}

fn of(
    repository: &Repository,
    key: ObjectId,
    note: Note,
    claims: BTreeSet<Claim>,
    news: BTreeSet<Claim>,
    is_orphan: bool,
) -> Result<Lost> {
    let documents = note.documents();
    let derived_from =
        documents.iter().flat_map(|document| document.provenance.derived_from.iter().cloned()).collect();
    let name = key.to_string();
    // A document that git copied here word for word tells the change of another commit.
    let own = documents.iter().filter(|document| document.commit.eq_ignore_ascii_case(&name));
    let mut changes: Vec<_> = own.filter_map(|document| document.change.clone()).collect();
    let is_told = changes.iter().any(|change| change.patch.is_some() && change.parent.is_some());
    if let (false, Ok(commit)) = (is_told, repository.commit(key)) {
        let parent = commit.parents.first().and_then(|parent| repository.commit_tree(*parent).ok());
        if let Ok(files) = repository.plain_changes(parent, commit.tree) {
            changes.push(change::of(repository, &commit, &files)?);
        }
    }
    let parent =
        changes.iter().find_map(|change| ObjectId::from_hex(change.parent.as_ref()?.as_bytes()).ok());
    let trees = changes.iter().filter_map(|change| change.tree.as_ref());
    let trees = trees.filter_map(|tree| ObjectId::from_hex(tree.as_bytes()).ok()).collect();
    let wrote = changes.iter().filter_map(|change| change.wrote.as_ref()?.hashes()).flatten().collect();
    let mut patches: BTreeSet<String> = changes.into_iter().filter_map(|change| change.patch).collect();
    if is_orphan {
        patches.extend(relocated::patches_within(repository, key, &note)?);
    }
    let lines = if is_orphan { Vec::new() } else { written(repository, key)? };
    Ok(Lost {
        key,
        is_orphan,
        patches,
        trees,
        wrote,
        lines,
        claims,
        news,
        derived_from,
        base: None,
        parent,
        note,
    })
}

/// A line that a commit wrote.
pub(super) struct WrittenLine {
    pub(super) path: Vec<u8>,
    pub(super) number: u32,
    pub(super) word: u32,
    /// Whether it identifies code.
    pub(super) is_telling: bool,
}

/// The lines that the commit `key` wrote; none of a merge, which has those of others.
fn written(repository: &Repository, key: ObjectId) -> Result<Vec<WrittenLine>> {
    let mut lines = Vec::new();
    let commit = repository.commit(key)?;
    if 1 < commit.parents.len() {
        return Ok(lines);
    }
    let parent = commit.parents.first().map(|parent| repository.commit_tree(*parent)).transpose();
    let Ok(changes) = parent.and_then(|parent| repository.plain_changes(parent, commit.tree)) else {
        return Ok(lines);
    };
    change::print(repository, &changes, |written| {
        let (path, number, word) = (written.path.to_vec(), written.number, written.word());
        lines.push(WrittenLine { path, number, word, is_telling: is_telling(written.text) });
    })?;
    Ok(lines)
}
