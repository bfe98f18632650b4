//! What was said of claims after they were made: corrections, and claims that replace others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use aho_corasick::AhoCorasick;
use chronicle_core::{
    EntryId,
    correction::{Correction, CorrectionItem, CorrectionKind, Tier, arrange, read_corrections},
};
use chronicle_git::{CORRECTIONS_REF, NotesEdit, ObjectId, Recovered, Repository};

use crate::{
    error::{Result, if_notes},
    note::{
        tombstones::Tombstones,
        trust::{Tiers, Trust, Voice, mark_of_correction, record_own},
    },
};

/// A claim, and the one that says it replaces it.
pub(crate) type Pair = (EntryId, EntryId);

/// What was said of claims after they were made.
#[derive(Debug, Default)]
pub(crate) struct Afterwords {
    /// Claims that another one replaces, by that one.
    pub(crate) superseded: HashMap<EntryId, EntryId>,
    /// The corrections of each claim, in order.
    pub(crate) corrections: BTreeMap<EntryId, Vec<CorrectionItem>>,
    /// Pairs that count only as a doubt, because the newer claim is trusted less.
    pub(crate) doubted: HashSet<Pair>,
    /// Remarks about what could not be read.
    pub(crate) warnings: Vec<String>,
}

impl Afterwords {
    /// The corrections of the claim `id`, in order.
    pub(crate) fn corrections_of(&self, id: &EntryId) -> &[CorrectionItem] {
        self.corrections.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether somebody doubts the claim `id`.
    pub(crate) fn doubts(&self, id: &EntryId) -> bool {
        self.corrections_of(id).iter().any(|item| !item.is_remark)
    }

    /// Reads all corrections, and judges them and `pairs` by who is trusted how far.
    ///
    /// # Errors
    /// When the repository cannot be read. Corrections that cannot be read only cause warnings.
    pub(crate) fn load(repository: &Repository, pairs: Vec<Pair>) -> Result<Self> {
        let mut afterwords = Self::default();
        let trust = Trust::of(repository);
        let found = found(repository, &trust, &mut afterwords.warnings)?;
        let pairs: Vec<Pair> = pairs.into_iter().filter(|(old, new)| old != new).collect();
        if found.is_empty() && pairs.is_empty() {
            return Ok(afterwords);
        }
        let judged: Vec<Found> = found.into_values().collect();
        // Whose claim it is matters only where less than all trust stands against it.
        let others = judged.iter().filter(|(_, voice)| voice.tier != Tier::Own);
        let mut asked: HashSet<EntryId> = others.map(|(correction, _)| correction.entry.clone()).collect();
        asked.extend(pairs.iter().flat_map(|(old, new)| [old.clone(), new.clone()]));
        let tiers = Tiers::of(repository, &trust, &asked)?;
        let (counting, doubted): (Vec<Pair>, Vec<Pair>) =
            pairs.into_iter().partition(|(old, new)| tiers.of_claim(old) <= tiers.of_replacing(old, new));
        for (correction, by) in judged {
            let target = if by.tier == Tier::Own { Tier::Own } else { tiers.of_claim(&correction.entry) };
            let entry = correction.entry.clone();
            afterwords.corrections.entry(entry).or_default().push(correction.by(by.tier, by.origin, target));
        }
        for (old, new) in &doubted {
            afterwords
                .corrections
                .entry(old.clone())
                .or_default()
                .push(doubt(new, tiers.of_replacing(old, new)));
        }
        afterwords.corrections.values_mut().for_each(arrange);
        afterwords.superseded = superseded_by(counting);
        afterwords.doubted = doubted.into_iter().collect();
        Ok(afterwords)
    }
}

/// Claims that corrections with some words are about.
pub(crate) struct Corrected {
    /// What they were made on, until that was rewritten.
    keys: BTreeSet<ObjectId>,
    ids: Option<AhoCorasick>,
}

impl Corrected {
    /// Those whose corrections have words that `may_fit`.
    ///
    /// # Errors
    /// When the corrections cannot be listed.
    pub(crate) fn of(repository: &Repository, may_fit: impl Fn(&[u8]) -> bool + Sync) -> Result<Self> {
        let (mut keys, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for name in repository.correction_refs()? {
            let notes = if_notes(repository.notes(&name), &mut Vec::new())?.unwrap_or_default();
            let blobs = notes.iter().map(|note| note.blob).collect();
            let pick = |_, content: &[u8]| may_fit(content).then(|| read_corrections(content).0);
            for (blob, corrections) in repository.read_many(blobs, pick) {
                keys.extend(notes.iter().filter(|note| note.blob == blob).map(|note| note.key));
                ids.extend(corrections.into_iter().map(|correction| correction.entry.0));
            }
        }
        let ids = if ids.is_empty() { None } else { AhoCorasick::new(ids).ok() };
        Ok(Self { keys, ids })
    }

    /// Whether the raw note of `key` has any of them.
    pub(crate) fn are_in(&self, key: ObjectId, raw: &[u8]) -> bool {
        self.keys.contains(&key) || self.ids.as_ref().is_some_and(|ids| ids.is_match(raw))
    }
}

/// A claim that says it replaces another, by someone who is trusted less.
fn doubt(new: &EntryId, trust: Tier) -> CorrectionItem {
    CorrectionItem {
        id: None,
        kind: CorrectionKind::Flag,
        meant: None,
        field: None,
        target_value: None,
        replacement: None,
        reason: format!("{new} says that it replaces this, but its author is trusted less"),
        author: None,
        timestamp: String::new(),
        trust,
        origin: None,
        is_remark: true,
    }
}

/// A correction, and who its author is.
type Found = (Correction, Voice);

/// All corrections by id that were not purged. Where several bear one id that tells nothing of what
/// they say, each gets a name of its own: nobody knows whose the id was.
fn found(
    repository: &Repository,
    trust: &Trust<'_>,
    warnings: &mut Vec<String>,
) -> Result<BTreeMap<EntryId, Found>> {
    let mut found: BTreeMap<EntryId, Vec<(Correction, Vec<String>)>> = BTreeMap::new();
    let purged = Tombstones::read(repository, trust)?;
    for name in repository.correction_refs()? {
        let notes = if_notes(repository.notes(&name), warnings)?.into_iter().flatten();
        let blobs: BTreeSet<ObjectId> = notes.map(|note| note.blob).collect();
        let mut read =
            repository.read_many(blobs.into_iter().collect(), |_, content| Some(read_corrections(content)));
        read.sort_by_key(|(blob, _)| *blob);
        let mut n_unread = 0;
        for (_, (corrections, n_lines)) in read {
            n_unread += n_lines;
            for correction in corrections {
                let namesakes = found.entry(correction.id.clone()).or_default();
                match namesakes.iter_mut().find(|(known, _)| *known == correction) {
                    Some((_, refs)) if refs.last() == Some(&name) => {}
                    Some((_, refs)) => refs.push(name.clone()),
                    None => namesakes.push((correction, vec![name.clone()])),
                }
            }
        }
        if 0 < n_unread {
            warnings.push(format!("{n_unread} lines of `{name}` are not corrections; they were skipped"));
        }
    }
    let judged = found.into_values().flat_map(|namesakes| {
        let is_alone = namesakes.len() == 1;
        namesakes.into_iter().map(move |(correction, refs)| {
            let voice = trust.voice(&mark_of_correction(&correction), refs.iter().map(String::as_str));
            let correction = if is_alone { correction } else { correction.named() };
            (if voice.tier == Tier::Own { correction } else { correction.shown() }, voice)
        })
    });
    let kept = judged.filter(|(correction, Voice { tier, .. })| {
        !purged.has(&correction.id, *tier) && !purged.has(&correction.entry, *tier)
    });
    Ok(kept.map(|(correction, voice)| (correction.id.clone(), (correction, voice))).collect())
}

/// Adds corrections, each to the note of the commit that carries its claim.
///
/// # Errors
/// When the notes cannot be read or written. Nothing is stored then.
pub fn store_corrections(
    repository: &Repository,
    corrections: &[(ObjectId, Correction)],
) -> Result<Recovered> {
    let marks: Vec<_> = corrections.iter().map(|(_, correction)| mark_of_correction(correction)).collect();
    record_own(repository, &marks)?;
    let message = match corrections {
        [(_, only)] => format!("chronicle: correct {}", only.entry),
        several => format!("chronicle: correct {} claims", several.len()),
    };
    let ((), recovered) =
        repository.edit_notes(CORRECTIONS_REF, &message, |notes: &mut NotesEdit<'_>| -> Result<()> {
            for (key, correction) in corrections {
                let mut content = notes.get(*key)?.unwrap_or_default();
                if content.last().is_some_and(|byte| *byte != b'\n') {
                    content.push(b'\n');
                }
                content.extend(serde_json::to_vec(correction).expect("a correction is plain data"));
                content.push(b'\n');
                notes.set(*key, content);
            }
            Ok(())
        })?;
    Ok(recovered)
}

/// From pairs of an old claim and the one that replaces it; two that supersede each other both stand.
fn superseded_by(pairs: impl IntoIterator<Item = (EntryId, EntryId)>) -> HashMap<EntryId, EntryId> {
    let mut pairs: Vec<_> = pairs.into_iter().filter(|(old, new)| old != new).collect();
    // Where several replace one, all must agree which of them is named.
    pairs.sort_unstable();
    let mut by: HashMap<EntryId, EntryId> = pairs.into_iter().collect();
    let circles = circles(&by);
    by.retain(|id, _| !circles.contains(id));
    by
}

/// The claims that, step by step, supersede themselves.
fn circles(by: &HashMap<EntryId, EntryId>) -> HashSet<EntryId> {
    let mut circles = HashSet::new();
    // The walk on which a claim was first met: meeting it again on the same walk closes a circle.
    let mut met: HashMap<&EntryId, usize> = HashMap::new();
    for (walk, start) in by.keys().enumerate() {
        let mut at = start;
        while let (None, Some(next)) = (met.get(at), by.get(at)) {
            met.insert(at, walk);
            at = next;
        }
        if met.get(at) == Some(&walk) {
            let mut around = at;
            while circles.insert(around.clone()) {
                around = &by[around];
            }
        }
    }
    circles
}
