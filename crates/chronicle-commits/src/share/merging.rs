//! What becomes of two notes on one object when refs are merged.
//!
//! Everything is united. The one exception: a note on a commit that nobody reaches any more, which
//! one side does not have, and whose every claim stands on a commit that is reached. That note was
//! tidied away after a rewrite, and bringing it back would only undo that.

use std::collections::{BTreeMap, HashMap, HashSet};

use chronicle_core::{EntryId, read_note, unite_lines};
use chronicle_git::{
    CORRECTIONS_REF, Difference, Merged, ObjectId, PURGED_REF, Recovered, Repository, Resolution,
    is_knowledge_key,
};
use serde_json::json;

use crate::{
    error::{Result, if_notes},
    note::trust::{Mark, Trust, mark_of_document, mark_of_entry, mark_of_region, unite_fairly},
    rewrite::reachable::Reachable,
};

/// No note that anyone wrote is larger.
pub const MAX_NOTE_BYTES: u64 = chronicle_core::MAX_NOTE_BYTES as u64;

/// What strangers wrote makes no note larger than that: the rest is room for what is written here.
pub(crate) const MAX_TAKEN_BYTES: u64 = MAX_NOTE_BYTES / 2;

/// The notes `sides` on `key` as one, each with the ref that it is in, one of which is `source`. None where that is too
/// large: then each side keeps its own.
pub(crate) fn united(
    trust: &Trust<'_>,
    source: &str,
    key: ObjectId,
    sides: &[(&[u8], &str)],
) -> Option<Vec<u8>> {
    let most = if trust.is_ours(source) { MAX_NOTE_BYTES } else { MAX_TAKEN_BYTES };
    let united = unite_fairly(trust, &key.to_string(), sides);
    (united.len() as u64 <= most).then_some(united)
}

/// What a merge did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedRef {
    /// How the ref got there.
    pub merged: Merged,
    /// Notes that only they had, and now both.
    pub n_taken: usize,
    /// Notes that were different.
    pub n_united: usize,
    /// Notes that were tidied away on one side and are gone on both.
    pub n_settled: usize,
    /// What was not taken, and why.
    pub warnings: Vec<String>,
    /// Left-over files of dead processes that were removed.
    pub recovered: Recovered,
}

/// Merges the notes of the commit `theirs`, which are those of the ref `source`, into the ref `name`.
///
/// What is trusted more than they are stays as it is.
///
/// # Errors
/// When the repository cannot be read or written; our ref is as it was then.
pub fn merge(
    repository: &Repository,
    name: &str,
    source: &str,
    theirs: ObjectId,
    from: &str,
) -> Result<MergedRef> {
    merged(repository, name, source, theirs, &format!("chronicle: merge notes of {from}"), Kept::Ours)
}

/// Brings the commit `lost` of our own back into the ref `name`, from which another program dropped it. A note that cannot
/// be united with what is there now is as it was: what is there is in the history.
///
/// # Errors
/// When the repository cannot be read or written; our ref is as it was then.
pub(crate) fn restore(repository: &Repository, name: &str, lost: ObjectId) -> Result<MergedRef> {
    merged(repository, name, name, lost, "chronicle: bring back our own overwritten commit", Kept::Theirs)
}

fn merged(
    repository: &Repository,
    name: &str,
    source: &str,
    theirs: ObjectId,
    message: &str,
    kept: Kept,
) -> Result<MergedRef> {
    let mut report = Report::new(kept);
    let (merged, recovered) = repository.merge_notes(name, theirs, message, |differences| {
        report = Report::new(kept);
        resolve(repository, name, source, differences, &mut report)
    })?;
    let Report { n_taken, n_united, n_settled, warnings, kept: _ } = report;
    Ok(MergedRef { merged, n_taken, n_united, n_settled, warnings, recovered })
}

/// Which side stays where two notes cannot be united.
#[derive(Clone, Copy)]
enum Kept {
    Ours,
    Theirs,
}

impl Kept {
    fn of(self, difference: &Difference) -> Resolution {
        let side = match self {
            Self::Ours => &difference.ours,
            Self::Theirs => &difference.theirs,
        };
        side.first().map_or(Resolution::Nothing, |blob| Resolution::Blob(*blob))
    }
}

struct Report {
    n_taken: usize,
    n_united: usize,
    n_settled: usize,
    warnings: Vec<String>,
    kept: Kept,
}

impl Report {
    fn new(kept: Kept) -> Self {
        Self { n_taken: 0, n_united: 0, n_settled: 0, warnings: Vec::new(), kept }
    }
}

fn resolve(
    repository: &Repository,
    name: &str,
    source: &str,
    differences: &[Difference],
    report: &mut Report,
) -> Result<Vec<Resolution>> {
    let settled = if name == CORRECTIONS_REF { HashSet::new() } else { settled(repository, differences)? };
    let mut to_read = Vec::new();
    for difference in differences.iter().filter(|difference| !is_one_sided(difference)) {
        to_read.extend(difference.ours.iter().chain(&difference.theirs).copied());
    }
    let contents = read_bounded(repository, to_read);
    let trust = Trust::of(repository);
    let mut resolutions = Vec::with_capacity(differences.len());
    for difference in differences {
        let resolution = if settled.contains(&difference.key) {
            report.n_settled += 1;
            Resolution::Nothing
        } else if let ([ours], []) = (&difference.ours[..], &difference.theirs[..]) {
            Resolution::Blob(*ours)
        } else if let ([], [theirs]) = (&difference.ours[..], &difference.theirs[..]) {
            take(repository, difference.key, *theirs, report)
        } else {
            unite(&trust, name, source, difference, &contents, report)
        };
        resolutions.push(resolution);
    }
    Ok(resolutions)
}

fn is_one_sided(difference: &Difference) -> bool {
    difference.ours.len() + difference.theirs.len() == 1
}

fn take(repository: &Repository, key: ObjectId, blob: ObjectId, report: &mut Report) -> Resolution {
    match repository.blob_size(blob) {
        Ok(size) if size <= MAX_NOTE_BYTES => {
            report.n_taken += 1;
            Resolution::Blob(blob)
        }
        Ok(size) => {
            report.warnings.push(format!(
                "the note on {key} was skipped: it has {} MB, and {} are the most",
                size >> 20,
                MAX_NOTE_BYTES >> 20
            ));
            Resolution::Nothing
        }
        Err(_) => {
            report.warnings.push(format!("the note on {key} was skipped: object {blob} is missing"));
            Resolution::Nothing
        }
    }
}

fn unite(
    trust: &Trust<'_>,
    name: &str,
    source: &str,
    difference: &Difference,
    contents: &HashMap<ObjectId, Vec<u8>>,
    report: &mut Report,
) -> Resolution {
    let ours = difference.ours.iter().map(|blob| (blob, name));
    let all: Vec<(&ObjectId, &str)> =
        ours.chain(difference.theirs.iter().map(|blob| (blob, source))).collect();
    let sides: Vec<(&[u8], &str)> =
        all.iter().filter_map(|(blob, name)| Some((&contents.get(*blob)?[..], *name))).collect();
    if sides.len() < all.len() {
        report.warnings.push(format!(
            "a note on {} is missing or has more than {} MB, so the notes on it were not merged",
            difference.key,
            MAX_NOTE_BYTES >> 20
        ));
        return report.kept.of(difference);
    }
    let united = match name {
        CORRECTIONS_REF | PURGED_REF => {
            let united = unite_lines(&sides.iter().map(|(bytes, _)| *bytes).collect::<Vec<_>>());
            (united.len() as u64 <= MAX_NOTE_BYTES).then_some(united)
        }
        _ => united(trust, source, difference.key, &sides),
    };
    let Some(united) = united else {
        report.warnings.push(too_large(difference.key));
        return report.kept.of(difference);
    };
    report.n_united += 1;
    Resolution::Content(united)
}

/// Says that a note is left as it is here.
pub(crate) fn too_large(key: ObjectId) -> String {
    format!("the notes on {key} were not united: together they are too large")
}

/// The bytes of those blobs that are here and not too large.
pub(crate) fn read_bounded(repository: &Repository, mut blobs: Vec<ObjectId>) -> HashMap<ObjectId, Vec<u8>> {
    blobs.retain(|blob| repository.blob_size(*blob).is_ok_and(|size| size <= MAX_NOTE_BYTES));
    repository.read_many(blobs, |_, content| Some(content.to_vec())).into_iter().collect()
}

/// The objects whose note one side tidied away, with every claim of it standing on a commit that is reached.
fn settled(repository: &Repository, differences: &[Difference]) -> Result<HashSet<ObjectId>> {
    let candidates: Vec<&Difference> = differences.iter().filter(|one| may_be_tidied(one)).collect();
    if candidates.is_empty() {
        return Ok(HashSet::new());
    }
    let reachable = Reachable::of(repository)?;
    let candidates: BTreeMap<ObjectId, ObjectId> = candidates
        .into_iter()
        .filter(|difference| !reachable.has(difference.key))
        .filter_map(|difference| {
            Some((difference.key, *difference.ours.first().or(difference.theirs.first())?))
        })
        .collect();
    carried(repository, &reachable, &candidates)
}

/// Whether one side may have tidied the note away. What only we have is in question only if they had it, too, and took it
/// away.
fn may_be_tidied(Difference { key, ours, theirs, base }: &Difference) -> bool {
    !is_knowledge_key(*key)
        && match (&ours[..], &theirs[..]) {
            ([], theirs) => !theirs.is_empty() && (base.is_empty() || base == theirs),
            (ours, []) => base == ours,
            _ => false,
        }
}

/// Those of `orphans`, notes on commits that nobody reaches, whose every claim stands on a reached commit too.
///
/// A note without claims never counts as carried.
///
/// # Errors
/// When the notes cannot be listed.
pub fn carried(
    repository: &Repository,
    reachable: &Reachable,
    orphans: &BTreeMap<ObjectId, ObjectId>,
) -> Result<HashSet<ObjectId>> {
    if orphans.is_empty() {
        return Ok(HashSet::new());
    }
    let contents = read_bounded(repository, orphans.values().copied().collect());
    let trust = Trust::of(repository);
    let mut wanted: HashMap<ObjectId, HashSet<Claim>> = HashMap::new();
    for (key, blob) in orphans {
        if let Some(content) = contents.get(blob).filter(|content| has_claims(content)) {
            let claims = claims(content).into_iter().map(|(id, mark)| (id, trust.is_own(&mark)));
            wanted.insert(*key, claims.collect());
        }
    }
    if wanted.is_empty() {
        return Ok(HashSet::new());
    }
    let mut living: Vec<ObjectId> = Vec::new();
    for name in repository.annotation_refs()? {
        let notes = if_notes(repository.notes(&name), &mut Vec::new())?.into_iter().flatten();
        living.extend(notes.filter(|note| reachable.has(note.key)).map(|note| note.blob));
    }
    living.retain(|blob| repository.blob_size(*blob).is_ok_and(|size| size <= MAX_NOTE_BYTES));
    let all_wanted: HashSet<&EntryId> = wanted.values().flatten().map(|(id, _)| id).collect();
    let found = repository.read_many(living, |_, content| {
        let mut found = claims(content);
        found.retain(|(id, _)| all_wanted.contains(id));
        (!found.is_empty()).then_some(found)
    });
    let mut standing: HashSet<Claim> = HashSet::new();
    for (id, mark) in found.into_iter().flat_map(|(_, claims)| claims) {
        // The user's own stands for a stranger's of that id, and not the other way round.
        standing.insert((id.clone(), false));
        standing.insert((id, trust.is_own(&mark)));
    }
    Ok(wanted.into_iter().filter(|(_, claims)| claims.is_subset(&standing)).map(|(key, _)| key).collect())
}

/// The name of a claim, and whether the user wrote it.
type Claim = (EntryId, bool);

fn has_claims(content: &[u8]) -> bool {
    let note = read_note(content).note;
    !note.entries().is_empty() || note.documents().iter().any(|document| !document.regions.is_empty())
}

/// The names and marks of everything that a note claims. What a document says as a whole goes by its words: what carries
/// it to another commit makes another document of it.
fn claims(content: &[u8]) -> Vec<(EntryId, Mark)> {
    let note = read_note(content).note;
    let mut claims: Vec<(EntryId, Mark)> =
        note.entries().into_iter().map(|(_, entry)| (entry.id.clone(), mark_of_entry(entry))).collect();
    for document in note.documents() {
        claims.extend(document.regions.iter().map(|region| (region.id.clone(), mark_of_region(region))));
        let mark = mark_of_document(document);
        let groups = document.cross_cutting.iter().map(|group| json!(group));
        let words = [json!(document.summary), json!(document.task)].into_iter().chain(groups);
        claims.extend(
            words.filter(|words| !words.is_null()).map(|words| (EntryId(words.to_string()), mark.clone())),
        );
    }
    claims
}
