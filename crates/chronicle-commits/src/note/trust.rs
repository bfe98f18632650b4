//! Who wrote what, as far as this machine can tell: own, team or unknown (DESIGN section 3).
//!
//! Own is what this user wrote on this machine. A mark of it, made of its id and its words, is recorded
//! in the user's data folder before it is stored, so a crash leaves a mark too many and never one too
//! few. The id alone proves nothing: it can be read in any clone, and put on other words. Team is what a
//! remote has that the user exchanges notes with. What a repository itself says never decides.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use chronicle_core::{
    Annotation, Entry, EntryId, Knowledge, Note, ReadNote, Region, Statement, canonical,
    correction::{Correction, Tier, read_corrections},
    note_bytes,
    purge::{Tombstone, read_tombstones},
    read_note,
    reading::KnowledgeItem,
    unite_notes,
};
use chronicle_git::{ObjectId, Repository, TrustRecords, Whom, origin_of, tracking_prefix};
use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    error::{Result, if_notes},
    note::claim_id::{summary_id, summary_id_of},
};

/// What a claim is recognized by: its id and its words.
pub(crate) type Mark = String;

/// Half of a SHA-256 keeps anybody from finding other words with the same mark.
const MARK_BYTES: usize = 16;

fn mark(said: &impl Serialize) -> Mark {
    let json = serde_json::to_vec(said).expect("what is stored is plain data");
    HEXLOWER.encode(&Sha256::digest(&json)[..MARK_BYTES])
}

/// The mark of a lesson: everything that is stored of it, so that a change of a label, or of where it is,
/// makes it another one. Whoever writes the user's lesson in another form records that form, too.
pub(crate) fn mark_of_entry(entry: &Entry) -> Mark {
    mark_of_words(&entry.id.0, entry)
}

/// The mark of what is said of a code unit.
pub(crate) fn mark_of_region(region: &Region) -> Mark {
    mark_of_words(&region.id.0, region)
}

/// The mark of a document's own words: its summary has an id that is a hash of them.
pub(crate) fn mark_of_document(document: &Annotation) -> Mark {
    mark_of_summary(&summary_id(document))
}

fn mark_of_summary(id: &EntryId) -> Mark {
    mark(&[id])
}

/// The mark of a correction.
pub(crate) fn mark_of_correction(correction: &Correction) -> Mark {
    mark(&[&correction.id, &correction.clone().named().id])
}

/// The mark of an item of knowledge.
pub(crate) fn mark_of_item(item: &KnowledgeItem) -> Mark {
    mark_of_words(item.id(), item)
}

/// The mark of the word that an item of knowledge is removed.
pub(crate) fn mark_of_removal(tombstone: &str) -> Mark {
    mark_of_words("removed", &tombstone)
}

/// The mark of the word that something is purged.
pub(crate) fn mark_of_tombstone(tombstone: &Tombstone) -> Mark {
    mark_of_words(&tombstone.id.0, &(&tombstone.purged, &tombstone.blobs))
}

/// The mark of anything else that is stored under an id: all of it.
pub(crate) fn mark_of_words(id: &str, words: &impl Serialize) -> Mark {
    let words = serde_json::to_value(words).expect("what is stored is plain data");
    mark(&[id, canonical(&words).as_str()])
}

/// The marks of everything that `note` claims, by id.
pub(crate) fn marks(note: &Note) -> Vec<(EntryId, Mark)> {
    marks_named(note, |statement| summary_id(statement.document))
}

/// The same of a note that is as it was read: what names its documents is known from that.
pub(crate) fn marks_as_read(note: &Note) -> Vec<(EntryId, Mark)> {
    marks_named(note, |statement| summary_id_of(statement.fingerprint))
}

fn marks_named(note: &Note, named: impl Fn(&Statement<'_>) -> EntryId) -> Vec<(EntryId, Mark)> {
    let mut marks: Vec<(EntryId, Mark)> =
        note.entries().into_iter().map(|(_, entry)| (entry.id.clone(), mark_of_entry(entry))).collect();
    for statement in note.statements() {
        let (id, document) = (named(&statement), statement.document);
        marks.push((id.clone(), mark_of_summary(&id)));
        marks.extend(document.regions.iter().map(|region| (region.id.clone(), mark_of_region(region))));
    }
    marks
}

/// The marks of what `knowledge` holds, by id; a removal has its tombstone for one.
pub(crate) fn marks_of_knowledge(knowledge: &Knowledge) -> Vec<(EntryId, Mark)> {
    let removals =
        knowledge.removed.iter().map(|removed| (EntryId(removed.clone()), mark_of_removal(removed)));
    marks_of_items(knowledge).into_iter().chain(removals).collect()
}

fn marks_of_items(knowledge: &Knowledge) -> Vec<(EntryId, Mark)> {
    knowledge.items().into_iter().map(|item| (EntryId(item.id().to_owned()), mark_of_item(&item))).collect()
}

/// The marks of everything in the bytes of a note, by id.
pub(crate) fn marks_in(content: &[u8]) -> Vec<(EntryId, Mark)> {
    let read = read_note(content);
    let mut found = marks_as_read(&read.note);
    found.extend(read.knowledge.iter().flat_map(marks_of_knowledge));
    let corrections = read_corrections(content).0;
    found
        .extend(corrections.iter().map(|correction| (correction.id.clone(), mark_of_correction(correction))));
    let tombstones = read_tombstones(content);
    found.extend(tombstones.iter().map(|tombstone| (tombstone.id.clone(), mark_of_tombstone(tombstone))));
    found
}

/// Records that the user wrote what has these marks. Where the user has no data folder, nothing is.
///
/// # Errors
/// When they cannot be recorded; nothing may be stored under them then.
pub(crate) fn record_own(repository: &Repository, marks: &[Mark]) -> Result<()> {
    match repository.trust_records() {
        Some(records) => Ok(records.record(Whom::User, marks)?),
        None => Ok(()),
    }
}

/// Records that what the user wrote is the user's in the form that we give it, too: carried, mended,
/// without a secret or what was purged. `after` holds nothing that is not in `before`.
///
/// # Errors
/// When that cannot be recorded; the new form may not be stored then.
pub(crate) fn keep_own(
    trust: &Trust<'_>,
    before: &[(EntryId, Mark)],
    after: &[(EntryId, Mark)],
) -> Result<()> {
    let repository = trust.repository;
    let own: HashSet<&EntryId> =
        before.iter().filter(|(_, mark)| trust.is_own(mark)).map(|(id, _)| id).collect();
    // A document has another name when its words change; who wrote all of a note wrote this document.
    let is_all_own = !before.is_empty() && before.iter().all(|(id, _)| own.contains(id));
    let kept = after.iter().filter(|(id, _)| is_all_own || own.contains(id));
    let marks: Vec<Mark> = kept.map(|(_, mark)| mark.clone()).collect();
    if !marks.is_empty() {
        record_own(repository, &marks)?;
    }
    let others = before.iter().filter(|(id, _)| !own.contains(id));
    let of_team = others.filter(|(_, mark)| trust.voice(mark, []).tier == Tier::Team);
    let team: HashSet<&EntryId> = of_team.map(|(id, _)| id).collect();
    let marks: Vec<Mark> =
        after.iter().filter(|(id, _)| team.contains(id)).map(|(_, mark)| mark.clone()).collect();
    match repository.trust_records() {
        Some(records) if !marks.is_empty() => Ok(records.record(Whom::Team, &marks)?),
        _ => Ok(()),
    }
}

/// The marks of the lessons and items of knowledge in the bytes of a note, by id.
pub(crate) fn claims_in(content: &[u8]) -> Vec<(EntryId, Mark)> {
    let ReadNote { note, knowledge, .. } = read_note(content);
    let mut found = marks_as_read(&note);
    found.extend(knowledge.iter().flat_map(marks_of_items));
    found
}

/// The lessons and items of knowledge in the note `content` that are neither the user's nor the team's, but for what is
/// in `known`, too.
pub(crate) fn unvouched(trust: &Trust<'_>, content: &[u8], known: &[u8]) -> Vec<(EntryId, Mark)> {
    let mut found = claims_in(content);
    found.retain(|(_, mark)| is_strange(trust, mark));
    if !found.is_empty() {
        let known: HashSet<Mark> = marks_in(known).into_iter().map(|(_, mark)| mark).collect();
        found.retain(|(_, mark)| !known.contains(mark));
    }
    found
}

fn is_strange(trust: &Trust<'_>, mark: &Mark) -> bool {
    trust.voice(mark, []).tier == Tier::Unknown
}

/// The note on `key` as it may be published to whoever has `known` there: without the removals of knowledge that are
/// neither the user's nor the team's and, unless the user `vouches` for them, without the parts that cannot be read.
/// `None` where nothing has to be left out.
pub(crate) fn published_note(
    trust: &Trust<'_>,
    key: &str,
    content: &[u8],
    known: &[u8],
    vouches: bool,
) -> Option<Vec<u8>> {
    let (ours, theirs) = (read_note(content), read_note(known));
    let n_all = ours.note.unread().count();
    let known_parts: HashSet<&[u8]> = theirs.note.unread().collect();
    let note = ours.note.without_unread(|part| !vouches && !known_parts.contains(part));
    let mut is_whole = note.unread().count() == n_all;
    let known_removals = theirs.knowledge.map(|knowledge| knowledge.removed).unwrap_or_default();
    let mut knowledge = ours.knowledge;
    if let Some(knowledge) = &mut knowledge {
        let n_all = knowledge.removed.len();
        knowledge.removed.retain(|removal| {
            known_removals.contains(removal) || !is_strange(trust, &mark_of_removal(removal))
        });
        is_whole &= knowledge.removed.len() == n_all;
    }
    (!is_whole).then(|| note_bytes(key, &note, knowledge))
}

/// The lines of `content`, corrections or purge marks, that may be published to whoever has `known`: those of the user
/// and the team, and what is known there. `None` where nothing has to be left out.
pub(crate) fn published_lines(trust: &Trust<'_>, content: &[u8], known: &[u8]) -> Option<Vec<u8>> {
    let known: HashSet<&[u8]> = lines(known).collect();
    let (mut published, mut is_whole) = (Vec::new(), true);
    for line in lines(content).filter(|line| !line.is_empty()) {
        if known.contains(line) || !is_line_strange(trust, line) {
            published.extend([line, b"\n"]);
        } else {
            is_whole = false;
        }
    }
    (!is_whole).then(|| published.concat())
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

/// Whether neither the user nor the team wrote what is on a line of corrections or purge marks.
fn is_line_strange(trust: &Trust<'_>, line: &[u8]) -> bool {
    let (corrections, tombstones) = (read_corrections(line).0, read_tombstones(line));
    let marks = corrections.iter().map(mark_of_correction);
    let mut marks = marks.chain(tombstones.iter().map(mark_of_tombstone));
    marks.all(|mark| is_strange(trust, &mark))
}

/// [`keep_own`] for the bytes of a note.
///
/// # Errors
/// As that one.
pub(crate) fn keep_own_bytes(trust: &Trust<'_>, before: &[u8], after: &[u8]) -> Result<()> {
    keep_own(trust, &marks_in(before), &marks_in(after))
}

/// One version of a claim.
#[derive(Clone)]
enum Version {
    Entry(Entry),
    Region(Region),
}

/// Lets the version of each claim that is trusted most take the place of the others in `notes`: nobody changes
/// what someone wrote who is trusted more. `tier` is asked for the number of a note and a mark in it.
pub(crate) fn best_versions(notes: Vec<Note>, tier: impl Fn(usize, &Mark) -> Tier) -> Vec<Note> {
    if notes.len() < 2 {
        return notes;
    }
    let mut best: HashMap<EntryId, (Tier, Mark, Version)> = HashMap::new();
    let mut seen: Vec<Vec<(EntryId, Tier, Mark)>> = Vec::with_capacity(notes.len());
    for (number, note) in notes.iter().enumerate() {
        let entries = note
            .entries()
            .into_iter()
            .map(|(_, entry)| (entry.id.clone(), mark_of_entry(entry), Version::Entry(entry.clone())));
        let regions = note
            .documents()
            .into_iter()
            .flat_map(|document| &document.regions)
            .map(|region| (region.id.clone(), mark_of_region(region), Version::Region(region.clone())));
        let mut here = Vec::new();
        for (id, mark, version) in entries.chain(regions) {
            let tier = tier(number, &mark);
            if best.get(&id).is_none_or(|(known, ..)| *known < tier) {
                best.insert(id.clone(), (tier, mark.clone(), version));
            }
            here.push((id, tier, mark));
        }
        seen.push(here);
    }
    let settled = notes.into_iter().zip(seen).map(|(note, here)| {
        let (mut entries, mut regions) = (Vec::new(), Vec::new());
        for (id, tier, mark) in here {
            match &best[&id] {
                (above, other, version) if tier < *above && mark != *other => match version {
                    Version::Entry(entry) => entries.push(entry.clone()),
                    Version::Region(region) => regions.push(region.clone()),
                },
                _ => {}
            }
        }
        if entries.is_empty() && regions.is_empty() { note } else { note.with_versions(entries, &regions) }
    });
    settled.collect()
}

/// Lets the documents of the notes that are in refs of ours or the team's take the place of the same ones in others:
/// fingerprints are no part of what a document says, so no stranger's copy brings other ones.
pub(crate) fn own_documents(notes: Vec<Note>, is_ours: impl Fn(usize) -> bool) -> Vec<Note> {
    if (0..notes.len()).all(&is_ours) {
        return notes;
    }
    let ours = notes.iter().enumerate().filter(|(number, _)| is_ours(*number));
    let ours = ours.map(|(_, note)| note.clone()).reduce(Note::fold).unwrap_or_default();
    let notes = notes.into_iter().enumerate();
    notes.map(|(number, note)| if is_ours(number) { note } else { note.with_documents(&ours) }).collect()
}

/// Drops from `removed` what names an item that is trusted more than who removed it.
pub(crate) fn fair_removals(
    removed: BTreeSet<String>,
    items: &[(KnowledgeItem, Tier)],
    tier: impl Fn(&str) -> Tier,
) -> BTreeSet<String> {
    let above: HashMap<String, Tier> = items.iter().map(|(item, tier)| (item.tombstone(), *tier)).collect();
    let fair = removed.into_iter().filter(|name| above.get(name).is_none_or(|above| *above <= tier(name)));
    fair.collect()
}

/// The note on `key` that holds what all `sides` hold, each the bytes of a note and the ref that it is in. Where
/// they differ in one claim, the one that is trusted more is taken.
pub(crate) fn unite_fairly(trust: &Trust<'_>, key: &str, sides: &[(&[u8], &str)]) -> Vec<u8> {
    let bytes: Vec<&[u8]> = sides.iter().map(|(bytes, _)| *bytes).collect();
    if bytes.windows(2).all(|pair| pair[0] == pair[1]) {
        return unite_notes(key, &bytes);
    }
    let read: Vec<ReadNote> = bytes.iter().map(|bytes| read_note(bytes)).collect();
    let mut items: Vec<(KnowledgeItem, Tier)> = Vec::new();
    let mut notes = Vec::new();
    let mut known: Vec<(usize, Knowledge)> = Vec::new();
    for (number, read) in read.into_iter().enumerate() {
        notes.push(read.note);
        if let Some(knowledge) = read.knowledge {
            items.extend(knowledge.items().into_iter().map(|item| {
                let tier = trust.tier(&mark_of_item(&item), sides[number].1);
                (item, tier)
            }));
            known.push((number, knowledge));
        }
    }
    let fair = known.into_iter().map(|(number, mut knowledge)| {
        let removed = std::mem::take(&mut knowledge.removed);
        knowledge.removed =
            fair_removals(removed, &items, |removal| trust.tier(&mark_of_removal(removal), sides[number].1));
        knowledge
    });
    let knowledge = fair.reduce(Knowledge::fold);
    let notes = best_versions(notes, |number, mark| trust.tier(mark, sides[number].1));
    let notes = own_documents(notes, |number| trust.is_ours(sides[number].1));
    note_bytes(key, &notes.into_iter().reduce(Note::fold).unwrap_or_default(), knowledge)
}

/// Who a claim is from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Voice {
    pub(crate) tier: Tier,
    /// Where it came from, if the user did not write it: a remote, or a ref.
    pub(crate) origin: Option<String>,
}

impl Voice {
    pub(crate) const OWN: Self = Self { tier: Tier::Own, origin: None };

    /// The voice of what came in a ref that nothing is known of.
    fn unknown(ref_name: &str) -> Self {
        Self { tier: Tier::Unknown, origin: Some(origin_of(ref_name).to_owned()) }
    }
}

/// What is known of who wrote what.
pub(crate) struct Trust<'r> {
    repository: &'r Repository,
    records: Option<TrustRecords>,
    /// The marks that are recorded, as far as they were asked for, by whom they are from and their first letters.
    recorded: RefCell<HashMap<(Whom, String), HashSet<Mark>>>,
    /// The remotes that the user enabled, by the prefixes of the refs in which their notes are.
    shared: Vec<(String, String)>,
    /// What these refs are known to have held, once it was asked for.
    known: OnceCell<BTreeMap<String, ObjectId>>,
    /// The marks of everything that these refs hold, and the remote: a copy that was carried to another
    /// commit here is still the team's.
    of_team: OnceCell<HashMap<Mark, String>>,
}

impl<'r> Trust<'r> {
    pub(crate) fn of(repository: &'r Repository) -> Self {
        Self {
            repository,
            records: repository.trust_records().cloned(),
            recorded: RefCell::default(),
            shared: repository
                .enabled_remotes()
                .into_iter()
                .map(|remote| (tracking_prefix(&remote), remote))
                .collect(),
            known: OnceCell::new(),
            of_team: OnceCell::new(),
        }
    }

    /// Whether the user wrote what has this mark.
    pub(crate) fn is_own(&self, mark: &Mark) -> bool {
        self.is_recorded(Whom::User, mark)
    }

    fn is_recorded(&self, whom: Whom, mark: &Mark) -> bool {
        let Some(records) = &self.records else { return false };
        let mut recorded = self.recorded.borrow_mut();
        let known = recorded
            .entry((whom, TrustRecords::shard_of(mark).to_owned()))
            .or_insert_with(|| records.recorded(whom, mark).into_iter().collect());
        known.contains(mark)
    }

    /// Whether a ref is of this clone, or of a remote that the user enabled.
    pub(crate) fn is_ours(&self, ref_name: &str) -> bool {
        origin_of(ref_name) == ref_name || self.is_shared(ref_name)
    }

    /// Whether notes of a remote that the user enabled are in this ref, and nobody else's.
    pub(crate) fn is_shared(&self, ref_name: &str) -> bool {
        let mut rests = self.shared.iter().filter_map(|(prefix, _)| ref_name.strip_prefix(prefix));
        rests.any(|rest| !rest.contains('/'))
            && self.known().get(ref_name).is_some_and(|known| {
                self.repository.ref_target(ref_name).is_ok_and(|target| target == Some(*known))
            })
    }

    fn known(&self) -> &BTreeMap<String, ObjectId> {
        self.known.get_or_init(|| {
            self.shared.iter().flat_map(|(_, remote)| self.repository.known_of(remote)).collect()
        })
    }

    /// Who what has this mark is from, where it was seen in these refs.
    pub(crate) fn voice<'n>(&self, mark: &Mark, refs: impl IntoIterator<Item = &'n str>) -> Voice {
        if self.is_own(mark) {
            return Voice::OWN;
        }
        let refs: Vec<&str> = refs.into_iter().collect();
        if let Some(shared) = refs.iter().find(|name| self.is_shared(name)) {
            return Voice { tier: Tier::Team, origin: Some(origin_of(shared).to_owned()) };
        }
        if let Some(remote) = self.of_team().get(mark) {
            return Voice { tier: Tier::Team, origin: Some(remote.clone()) };
        }
        if !self.shared.is_empty() && self.is_recorded(Whom::Team, mark) {
            return Voice { tier: Tier::Team, origin: None };
        }
        // Where it was fetched from says more than that it was merged.
        let first = refs.iter().find(|name| origin_of(name) != **name).or(refs.first());
        first.map_or(Voice { tier: Tier::Unknown, origin: None }, |name| Voice::unknown(name))
    }

    /// How far whoever wrote what has this mark is trusted, where it was seen in one ref.
    fn tier(&self, mark: &Mark, ref_name: &str) -> Tier {
        self.voice(mark, [ref_name]).tier
    }
}

impl Trust<'_> {
    /// What the remotes hold that the user enabled, looked up when it is first needed. What cannot be read
    /// is nobody's.
    fn of_team(&self) -> &HashMap<Mark, String> {
        self.of_team.get_or_init(|| {
            let mut of_team = HashMap::new();
            // Mostly no remote is enabled, or nothing came from elsewhere.
            let names = if self.shared.is_empty() { Vec::new() } else { team_refs(self) };
            for (name, blobs) in names {
                let found = self.repository.read_many(blobs, |_, content| Some(marks_in(content)));
                let marks = found.into_iter().flat_map(|(_, marks)| marks);
                of_team.extend(marks.map(|(_, mark)| (mark, origin_of(&name).to_owned())));
            }
            of_team
        })
    }
}

fn team_refs(trust: &Trust<'_>) -> Vec<(String, Vec<ObjectId>)> {
    let refs = trust.known().iter().map(|(name, tip)| {
        let notes = trust.repository.notes_at(name, *tip).unwrap_or_default();
        let blobs: BTreeSet<ObjectId> = notes.into_iter().map(|note| note.blob).collect();
        (name.clone(), blobs.into_iter().collect())
    });
    refs.collect()
}

/// Who the claims of one note are from: mostly all from one.
#[derive(Debug, Clone)]
pub(crate) struct Voices {
    usual: Voice,
    others: HashMap<EntryId, Voice>,
}

impl Default for Voices {
    fn default() -> Self {
        Self { usual: Voice::OWN, others: HashMap::new() }
    }
}

impl Voices {
    pub(crate) fn of(each: impl IntoIterator<Item = (EntryId, Voice)>) -> Self {
        let each: Vec<(EntryId, Voice)> = each.into_iter().collect();
        let usual = each.first().map_or(Voice::OWN, |(_, voice)| voice.clone());
        match each.iter().all(|(_, voice)| *voice == usual) {
            true => Self { usual, others: HashMap::new() },
            // Where there are several, nobody answers for what none of them is known to say.
            false => Self {
                usual: Voice { tier: Tier::Unknown, origin: None },
                others: each.into_iter().collect(),
            },
        }
    }

    /// Whether the claims are from several.
    pub(crate) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Who the claim `id` is from.
    pub(crate) fn of_claim(&self, id: &EntryId) -> &Voice {
        self.others.get(id).unwrap_or(&self.usual)
    }
}

/// How far claims are trusted, wherever they are.
#[derive(Debug, Default)]
pub(crate) struct Tiers {
    claims: HashMap<EntryId, Tier>,
    /// How far those are trusted who say that a claim replaces another, by both: the id of an own claim on
    /// other words says nothing for the user.
    replacing: HashMap<(EntryId, EntryId), Tier>,
}

impl Tiers {
    /// Looks for the claims `wanted` in all notes.
    ///
    /// # Errors
    /// When the notes cannot be listed.
    pub(crate) fn of(repository: &Repository, trust: &Trust<'_>, wanted: &HashSet<EntryId>) -> Result<Self> {
        let mut tiers = Self::default();
        if wanted.is_empty() {
            return Ok(tiers);
        }
        let corrections = repository.correction_refs()?;
        for name in [repository.annotation_refs()?, corrections.clone()].concat() {
            let notes = if_notes(repository.notes(&name), &mut Vec::new())?.into_iter().flatten();
            let blobs: BTreeSet<ObjectId> = notes.map(|note| note.blob).collect();
            let is_lines = corrections.contains(&name);
            let found = repository.read_many(blobs.into_iter().collect(), |_, content| {
                let note = read_note(content).note;
                let mut claimed = match is_lines {
                    true => content.split(|byte| *byte == b'\n').flat_map(marks_in).collect(),
                    false => marks_in(content),
                };
                claimed.retain(|(id, _)| wanted.contains(id));
                let claimed = claimed.into_iter().map(|(id, mark)| {
                    let replaced = note.entry(&id).map(|entry| entry.supersedes.clone());
                    (replaced.unwrap_or_default(), id, mark)
                });
                Some(claimed.collect::<Vec<_>>()).filter(|claimed| !claimed.is_empty())
            });
            for (replaced, id, mark) in found.into_iter().flat_map(|(_, claimed)| claimed) {
                let tier = trust.voice(&mark, [name.as_str()]).tier;
                for old in replaced {
                    let known = tiers.replacing.entry((old, id.clone())).or_insert(tier);
                    *known = tier.max(*known);
                }
                tiers.add(id, tier);
            }
        }
        Ok(tiers)
    }

    /// Takes in that someone of `tier` makes the claim `id`.
    pub(crate) fn add(&mut self, id: EntryId, tier: Tier) {
        let known = self.claims.entry(id).or_insert(tier);
        *known = tier.max(*known);
    }

    /// How far the claim `id` is trusted.
    pub(crate) fn of_claim(&self, id: &EntryId) -> Tier {
        self.claims.get(id).copied().unwrap_or(Tier::Unknown)
    }

    /// How far those are trusted who say that `new` replaces `old`.
    pub(crate) fn of_replacing(&self, old: &EntryId, new: &EntryId) -> Tier {
        self.replacing.get(&(old.clone(), new.clone())).copied().unwrap_or(Tier::Unknown)
    }
}
