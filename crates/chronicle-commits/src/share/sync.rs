//! Exchanges our notes refs with those of a remote.
//!
//! Fetching brings a remote's refs beside ours, where they are read at once; merging is always ours
//! (`merging`). Pushing is never forced: the remote takes a commit that builds on what it has, or we
//! fetch, merge and try again. One process of a clone does this at a time.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use chronicle_core::{
    EntryId,
    purge::{Left, Texts, clean},
    read_note, redact_note,
    redaction::Kind,
    unite_notes,
};
use chronicle_git::{
    CORRECTIONS_REF, FETCHED_NOTES, FileLock, GitError, KNOWLEDGE_REF, NOTES_REF, NotesEdit, ObjectId,
    PURGED_REF, Pushed, Repository, tracking_prefix, tracking_ref,
};

use crate::{
    error::{RemoteHoldsPurgedSnafu, Result, UnvouchedSnafu, WantedGoneSnafu},
    note::{
        tombstones::purged,
        trust::{
            Mark, Trust, keep_own_bytes, published_lines, published_note, record_own, unite_fairly, unvouched,
        },
    },
    share::{
        dropped::bring_back,
        merging::{MAX_NOTE_BYTES, MAX_TAKEN_BYTES, MergedRef, merge, read_bounded, too_large, united},
        purge,
    },
};

/// The refs that are exchanged; what was purged comes first, so that nothing of it is merged.
pub const SHARED_REFS: [&str; 4] = [PURGED_REF, NOTES_REF, CORRECTIONS_REF, KNOWLEDGE_REF];
/// Times that others may be faster before a push gives up.
const MAX_ATTEMPTS: u32 = 40;

/// What was pushed.
#[derive(Debug, Clone, Default)]
pub struct PushReport {
    /// What was merged before, by ref.
    pub pulled: Vec<(String, MergedRef)>,
    /// The refs that the remote took.
    pub pushed: Vec<String>,
    /// Whether words were purged here, as the remote says.
    pub is_purged: bool,
    /// How many notes hold what was not pushed: purge marks, corrections and removals that neither the user nor the
    /// team made, and what cannot be read.
    pub n_withheld: usize,
    /// Secrets that were replaced first, with the object whose note held them.
    pub redacted: Vec<(ObjectId, Vec<Kind>)>,
}

/// What was taken from a fork.
#[derive(Debug, Clone, Default)]
pub struct ImportReport {
    /// Commits whose notes were taken over or united with ours.
    pub imported: Vec<ObjectId>,
    /// Notes of the fork that were already here.
    pub n_known: usize,
    /// Notes on commits outside the range.
    pub n_outside: usize,
    /// What was not taken, and why.
    pub warnings: Vec<String>,
}

/// How far our ref and the one that was last fetched are apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Apart {
    /// Notes that the remote lacks or has otherwise.
    pub n_unpushed: usize,
    /// Notes of the remote that we lack or have otherwise.
    pub n_unmerged: usize,
}

fn lock(repository: &Repository) -> Result<FileLock> {
    let mut lock = repository.lock(&repository.shared_state("sync.lock")?)?;
    repository.recover_push(&mut lock)?;
    Ok(lock)
}

/// Fetches the notes of a remote and merges them into ours.
///
/// # Errors
/// When the remote cannot be reached, or our refs cannot be read or written.
pub fn pull(repository: &Repository, remote: &str) -> Result<PullReport> {
    let _lock = lock(repository)?;
    pull_locked(repository, remote)
}

/// What a pull did.
#[derive(Debug, Default)]
pub struct PullReport {
    /// What was merged, by ref.
    pub merged: Vec<(String, MergedRef)>,
    /// What the user wrote and a purge of others names: it is kept, and hidden if the team purged it.
    pub kept: Vec<EntryId>,
    /// The same, where neither the user nor the team purged it.
    pub ignored: Vec<EntryId>,
    /// Whether words were purged here, too.
    pub is_purged: bool,
    /// Whether the remote still holds what was purged.
    is_stained: bool,
}

fn pull_locked(repository: &Repository, remote: &str) -> Result<PullReport> {
    bring_back(repository)?;
    repository.fetch_notes(remote)?;
    let mut report = PullReport::default();
    for name in SHARED_REFS {
        if name == NOTES_REF {
            // Now all tombstones are here, and nothing else is merged yet.
            let purge::Enforced { rewritten, kept, ignored } = purge::enforce(repository)?;
            report.is_purged = !rewritten.is_empty();
            let theirs = tracking_prefix(remote);
            report.is_stained = rewritten.iter().any(|rewritten| rewritten.name.starts_with(&theirs));
            (report.kept, report.ignored) = (kept, ignored);
        }
        let Some(theirs) = repository.notes_tip(&tracking_ref(remote, name))? else { continue };
        let ours = repository.notes_tip(name)?;
        if ours == Some(theirs) {
            continue;
        }
        let fetched = repository.note_differences(name, ours, Some(theirs))?;
        repository.fetch_missing(remote, fetched.iter().flat_map(|note| &note.theirs).copied())?;
        let merged = merge(repository, name, &tracking_ref(remote, name), theirs, remote)?;
        report.merged.push((name.to_owned(), merged));
    }
    Ok(report)
}

/// Merges what the remote has, and gives it what we have.
///
/// Whatever is pushed counts as the team's for everyone who enabled the remote. So what neither the user nor the team
/// wrote is not pushed. Lessons are when the user `vouches` for them: then they are recorded as the user's own. Purge
/// marks and corrections never are, since nobody sees what they will do.
///
/// # Errors
/// When the remote cannot be reached or refuses, or when others stay faster. What was merged stays.
pub fn push(repository: &Repository, remote: &str, vouches: bool) -> Result<PushReport> {
    let mut lock = lock(repository)?;
    let mut report = PushReport::default();
    let mut reason = String::new();
    for attempt in 0..MAX_ATTEMPTS {
        chronicle_git::pause(attempt);
        let PullReport { merged: pulled, kept, is_purged, is_stained, ignored: _ } =
            pull_locked(repository, remote)?;
        report.is_purged |= is_purged;
        // What is here builds on what the remote has, only without the words; nothing is ever forced.
        snafu::ensure!(!is_stained, RemoteHoldsPurgedSnafu { remote });
        // Others want it gone, so it does not go back to them before its author has decided.
        snafu::ensure!(kept.is_empty(), WantedGoneSnafu { remote, ids: kept });
        let strangers = of_strangers(repository, remote)?;
        if vouches {
            let marks: Vec<Mark> = strangers.into_iter().map(|(_, mark)| mark).collect();
            record_own(repository, &marks)?;
        } else if !strangers.is_empty() {
            return UnvouchedSnafu { remote, ids: ids_of(strangers) }.fail();
        }
        for (name, merged) in pulled {
            match report.pulled.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => {
                    known.n_taken += merged.n_taken;
                    known.n_united += merged.n_united;
                    known.merged = merged.merged;
                }
                None => report.pulled.push((name, merged)),
            }
        }
        let mut updates = Vec::new();
        report.n_withheld = 0;
        for name in SHARED_REFS {
            let theirs = repository.notes_tip(&tracking_ref(remote, name))?;
            report.redacted.extend(without_secrets(repository, name, theirs)?);
            let Some(ours) = repository.notes_tip(name)?.filter(|ours| Some(*ours) != theirs) else {
                continue;
            };
            let withheld = withheld(repository, (remote, name), ours, theirs, vouches)?;
            report.n_withheld += withheld.len();
            let published = match withheld.is_empty() {
                true => Some(ours),
                false => repository.notes_with(name, (ours, theirs), PUBLISHED, &withheld)?,
            };
            updates.extend(published.map(|published| (name.to_owned(), published)));
        }
        if updates.is_empty() {
            return Ok(report);
        }
        match repository.push_refs(&mut lock, remote, &updates)? {
            Pushed::Done => {
                for (name, id) in &updates {
                    repository.note_pushed(remote, name, *id)?;
                }
                report.pushed = updates.into_iter().map(|(name, _)| name).collect();
                return Ok(report);
            }
            Pushed::Outrun(why) => reason = why,
        }
    }
    Err(GitError::Outrun { remote: remote.to_owned(), reason }.into())
}

/// The ids of what a push to the remote would not publish: neither the user nor the team wrote it.
///
/// # Errors
/// When notes cannot be read.
pub fn unvouched_for(repository: &Repository, remote: &str) -> Result<Vec<EntryId>> {
    Ok(ids_of(of_strangers(repository, remote)?))
}

const PUBLISHED: &str = "chronicle: notes without what others said against claims";

/// The notes of `ours`, the target of the ref `name`, that may not be published as they are to the remote, which has
/// `theirs`, and what takes their place; nothing where that is empty. A note of theirs that was too large to be taken stays
/// there.
fn withheld(
    repository: &Repository,
    (remote, name): (&str, &str),
    ours: ObjectId,
    theirs: Option<ObjectId>,
    vouches: bool,
) -> Result<BTreeMap<ObjectId, Vec<u8>>> {
    let trust = Trust::of(repository);
    let mut withheld = BTreeMap::new();
    for note in repository.note_differences(name, Some(ours), theirs)? {
        let (content, known) = (bytes_of(repository, &note.ours)?, bytes_of(repository, &note.theirs)?);
        if is_left_to_them(&trust, (remote, name), note.key, (&content, &known)) {
            withheld.insert(note.key, known);
            continue;
        }
        let published = match name {
            PURGED_REF | CORRECTIONS_REF => published_lines(&trust, &content, &known),
            _ => published_note(&trust, &note.key.to_string(), &content, &known, vouches),
        };
        withheld.extend(published.map(|published| (note.key, published)));
    }
    Ok(withheld)
}

/// Whether a note of the remote was too large to be taken, alone or with ours.
fn is_left_to_them(
    trust: &Trust<'_>,
    (remote, name): (&str, &str),
    key: ObjectId,
    (ours, theirs): (&[u8], &[u8]),
) -> bool {
    let source = &tracking_ref(remote, name);
    let are_few = ((ours.len() + theirs.len()) as u64) < MAX_TAKEN_BYTES / 2;
    match (ours, theirs) {
        ([], theirs) => MAX_NOTE_BYTES < theirs.len() as u64,
        (_, []) => false,
        _ if are_few || matches!(name, CORRECTIONS_REF | PURGED_REF) => false,
        _ => united(trust, source, key, &[(ours, name), (theirs, source)]).is_none(),
    }
}

/// The bytes of all notes on one object.
fn bytes_of(repository: &Repository, blobs: &[ObjectId]) -> Result<Vec<u8>> {
    let contents = blobs.iter().map(|blob| repository.note_blob(*blob));
    Ok(contents.collect::<std::result::Result<Vec<_>, _>>()?.join(&b'\n'))
}

fn ids_of(claims: Vec<(EntryId, Mark)>) -> Vec<EntryId> {
    let ids: BTreeSet<EntryId> = claims.into_iter().map(|(id, _)| id).collect();
    ids.into_iter().collect()
}

/// The lessons that the remote lacks of our notes, and neither the user nor the team wrote.
fn of_strangers(repository: &Repository, remote: &str) -> Result<Vec<(EntryId, Mark)>> {
    let trust = Trust::of(repository);
    let mut found = Vec::new();
    for name in [NOTES_REF, KNOWLEDGE_REF] {
        let ours = repository.notes_tip(name)?;
        let theirs = repository.notes_tip(&tracking_ref(remote, name))?;
        if ours.is_none() || ours == theirs {
            continue;
        }
        for note in repository.note_differences(name, ours, theirs)? {
            let (ours, theirs) = (bytes_of(repository, &note.ours)?, bytes_of(repository, &note.theirs)?);
            found.extend(unvouched(&trust, &ours, &theirs));
        }
    }
    Ok(found)
}

/// Replaces the secrets in what the remote lacks of our ref `name`.
///
/// Another tool may have stored them, and they may lie in the history of the ref alone. So what the
/// remote lacks becomes one commit on top of what it has.
fn without_secrets(
    repository: &Repository,
    name: &str,
    theirs: Option<ObjectId>,
) -> Result<Vec<(ObjectId, Vec<Kind>)>> {
    let Some(ours) = repository.notes_tip(name)?.filter(|ours| Some(*ours) != theirs) else {
        return Ok(Vec::new());
    };
    let known: Vec<ObjectId> = theirs.into_iter().collect();
    let new: BTreeMap<ObjectId, ObjectId> = repository.new_notes(ours, &known)?.into_iter().collect();
    let found =
        repository.read_many(new.keys().copied().collect(), |_, content| Some(redact_note(content)?.1));
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let message = "chronicle: replace secrets";
    let failed = RefCell::new(None);
    let trust = Trust::of(repository);
    repository.rebuild_notes(name, theirs, message, |content| {
        let (redacted, _) = redact_note(content)?;
        // What is the user's is so without the secret, too.
        keep_own_bytes(&trust, content, &redacted).unwrap_or_else(|error| drop(failed.replace(Some(error))));
        Some(redacted)
    })?;
    failed.into_inner().map_or(Ok(()), Err)?;
    Ok(found.into_iter().map(|(blob, kinds)| (new[&blob], kinds)).collect())
}

/// Takes over the notes that a fork has on `commits`, and no others.
///
/// `remote` may be an address. Its history of notes stays there.
///
/// # Errors
/// When the remote cannot be reached, or our notes cannot be read or written.
pub fn import(repository: &Repository, remote: &str, commits: &BTreeSet<ObjectId>) -> Result<ImportReport> {
    let _lock = lock(repository)?;
    let mut report = ImportReport::default();
    match repository.fetch_one(remote, NOTES_REF)? {
        Some(fetched) => import_fetched(repository, remote, fetched, commits, &mut report)?,
        None => report.warnings.push(format!("`{remote}` has no notes")),
    }
    Ok(report)
}

fn import_fetched(
    repository: &Repository,
    remote: &str,
    fetched: ObjectId,
    commits: &BTreeSet<ObjectId>,
    report: &mut ImportReport,
) -> Result<()> {
    let notes = repository.notes_at(NOTES_REF, fetched)?;
    let wanted: Vec<_> = notes.iter().filter(|note| commits.contains(&note.key)).collect();
    report.n_outside = notes.len() - wanted.len();
    repository.fetch_missing(remote, wanted.iter().map(|note| note.blob))?;
    let contents = read_bounded(repository, wanted.iter().map(|note| note.blob).collect());
    let purged = purged(repository)?;
    let mut given: Vec<(ObjectId, Vec<u8>)> = Vec::new();
    for note in wanted {
        let Some(content) = contents.get(&note.blob) else {
            let most = MAX_NOTE_BYTES >> 20;
            report.warnings.push(format!("the note on {} was skipped: it has more than {most} MB", note.key));
            continue;
        };
        if read_note(content).note.documents().is_empty() {
            report.warnings.push(format!("the note on {} was skipped: it cannot be read", note.key));
            continue;
        }
        let redacted = redact_note(content).map(|(redacted, _)| redacted);
        if redacted.is_some() {
            report.warnings.push(format!("secrets in the note on {} were replaced", note.key));
        }
        let content = redacted.as_ref().unwrap_or(content);
        match clean(content, &purged, &Texts::default()) {
            Left::All => given.push((note.key, content.clone())),
            Left::Some(left) => given.push((note.key, left)),
            Left::Nothing => {}
        }
    }
    let trust = Trust::of(repository);
    let message = format!("chronicle: import notes of {remote}").replace('\n', " ");
    let source = format!("{FETCHED_NOTES}{remote}/chronicle");
    let ((imported, n_known, large), _) =
        repository.edit_notes(NOTES_REF, &message, |notes: &mut NotesEdit<'_>| {
            let (mut imported, mut n_known, mut large) = (Vec::new(), 0, Vec::new());
            for (key, content) in &given {
                match add(notes, *key, content, &source, &trust, MAX_TAKEN_BYTES)? {
                    Added::News => imported.push(*key),
                    Added::Known => n_known += 1,
                    Added::TooLarge => large.push(*key),
                }
            }
            Ok::<_, GitError>((imported, n_known, large))
        })?;
    (report.imported, report.n_known) = (imported, n_known);
    report.warnings.extend(large.into_iter().map(too_large));
    Ok(())
}

/// What became of a note that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// It says something new.
    News,
    /// The note that is here says all of it.
    Known,
    /// The two together would be too large; ours stays as it is.
    TooLarge,
}

/// Unites `content`, which is of the ref `source`, with the note on `key`, if both have at most `most` bytes.
pub(crate) fn add(
    notes: &mut NotesEdit<'_>,
    key: ObjectId,
    content: &[u8],
    source: &str,
    trust: &Trust<'_>,
    most: u64,
) -> Result<Added, GitError> {
    let name = key.to_string();
    let united = match notes.get(key)? {
        Some(present) => {
            let united = unite_fairly(trust, &name, &[(&present, NOTES_REF), (content, source)]);
            // Whoever says the same in another form does not change the form of ours.
            if united == present || united == unite_notes(&name, &[&present[..], b""]) {
                return Ok(Added::Known);
            }
            united
        }
        None => content.to_vec(),
    };
    if most < united.len() as u64 {
        return Ok(Added::TooLarge);
    }
    notes.set(key, united);
    Ok(Added::News)
}

/// How far our ref `name` and the remote's, as it was last fetched, are apart.
///
/// # Errors
/// When the notes cannot be read.
pub fn apart(repository: &Repository, remote: &str, name: &str) -> Result<Apart> {
    let (ours, theirs) = (repository.notes_tip(name)?, repository.notes_tip(&tracking_ref(remote, name))?);
    if ours == theirs {
        return Ok(Apart::default());
    }
    let base = match (ours, theirs) {
        (Some(ours), Some(theirs)) => repository.parted_at(ours, theirs)?,
        _ => None,
    };
    let differences = repository.note_differences(name, ours, theirs)?;
    let only_ours = differences.iter().filter(|difference| !difference.ours.is_empty());
    let only_theirs = differences.iter().filter(|difference| !difference.theirs.is_empty());
    Ok(Apart {
        n_unpushed: if ours.is_some() && base == ours { 0 } else { only_ours.count() },
        n_unmerged: if theirs.is_some() && base == theirs { 0 } else { only_theirs.count() },
    })
}
