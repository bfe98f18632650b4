//! Who wrote what, as far as this machine can tell: own, team or unknown (DESIGN section 3).
//!
//! Own is what this user wrote on this machine. A mark of it, made of its id and its words, is recorded
//! in the user's data folder before it is stored, so a crash leaves a mark too many and never one too
//! few. The id alone proves nothing: it can be read in any clone, and put on other words. Team is what a
//! remote has that the user exchanges notes with. What a repository itself says never decides.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
};

use chronicle_core::{
    Annotation, Entry, EntryId, Note, Region,
    correction::{Correction, Tier},
    read_note,
};
use chronicle_git::{GitError, ObjectId, Repository, TrustRecords, origin_of, tracking_prefix};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{error::Result, gather::summary_id};

/// What a claim is recognized by: its id and its words.
pub(crate) type Mark = String;

/// Half of a SHA-256 keeps anybody from finding other words with the same mark.
const MARK_BYTES: usize = 16;

fn mark(said: &Value) -> Mark {
    HEXLOWER.encode(&Sha256::digest(said.to_string().as_bytes())[..MARK_BYTES])
}

/// The mark of a lesson: what it says, and what it says of others.
///
/// Where it is does not count. That changes when it is carried to another commit.
pub(crate) fn mark_of_entry(entry: &Entry) -> Mark {
    let natures: Vec<&str> = entry.depends_on.iter().map(|item| item.nature.as_str()).collect();
    let Entry { id, category, content, supersedes, expires, .. } = entry;
    mark(&json!([id, category, content, supersedes, expires, natures]))
}

/// The mark of what is said of a code unit.
pub(crate) fn mark_of_region(region: &Region) -> Mark {
    let constraints: Vec<&str> =
        region.constraints.iter().map(|constraint| constraint.text.as_str()).collect();
    let natures: Vec<&str> = region.semantic_dependencies.iter().map(|item| item.nature.as_str()).collect();
    let Region { id, intent, reasoning, risk_notes, corrections, .. } = region;
    mark(&json!([id, intent, reasoning, risk_notes, constraints, natures, corrections]))
}

/// The mark of a document's own words: its summary has an id that is a hash of them.
pub(crate) fn mark_of_document(document: &Annotation) -> Mark {
    mark(&json!([summary_id(document)]))
}

/// The mark of a correction.
pub(crate) fn mark_of_correction(correction: &Correction) -> Mark {
    mark(&json!([correction.id, correction.clone().named().id]))
}

/// The mark of what has nothing but an id: a purge, an item of knowledge.
pub(crate) fn mark_of_words(id: &str, words: &impl serde::Serialize) -> Mark {
    mark(&json!([id, words]))
}

/// The marks of everything that `note` claims, by id.
pub(crate) fn marks(note: &Note) -> Vec<(EntryId, Mark)> {
    let mut marks: Vec<(EntryId, Mark)> =
        note.entries().into_iter().map(|(_, entry)| (entry.id.clone(), mark_of_entry(entry))).collect();
    for document in note.documents() {
        marks.push((summary_id(document), mark_of_document(document)));
        marks.extend(document.regions.iter().map(|region| (region.id.clone(), mark_of_region(region))));
    }
    marks
}

/// Records that the user wrote what has these marks. Where the user has no data folder, nothing is.
///
/// # Errors
/// When they cannot be recorded; nothing may be stored under them then.
pub(crate) fn record_own(repository: &Repository, marks: &[Mark]) -> Result<()> {
    match repository.trust_records() {
        Some(records) => Ok(records.record_own(marks)?),
        None => Ok(()),
    }
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
    /// The marks of what the user wrote, as far as they were asked for, by their first letters.
    own: RefCell<HashMap<String, HashSet<Mark>>>,
    /// The prefixes of the refs in which notes are that were fetched from remotes that the user enabled.
    shared: Vec<String>,
    /// The marks of everything that these refs hold, and the remote: a copy that was carried to another
    /// commit here is still the team's.
    of_team: OnceCell<HashMap<Mark, String>>,
}

impl<'r> Trust<'r> {
    pub(crate) fn of(repository: &'r Repository) -> Self {
        Self {
            repository,
            records: repository.trust_records().cloned(),
            own: RefCell::default(),
            shared: repository.enabled_remotes().iter().map(|remote| tracking_prefix(remote)).collect(),
            of_team: OnceCell::new(),
        }
    }

    /// Whether the user wrote what has this mark.
    pub(crate) fn is_own(&self, mark: &Mark) -> bool {
        let Some(records) = &self.records else { return false };
        let mut own = self.own.borrow_mut();
        let beginning = mark.get(..2).unwrap_or_default().to_owned();
        let known = own.entry(beginning).or_insert_with(|| records.own(mark).into_iter().collect());
        known.contains(mark)
    }

    /// Whether notes of a remote that the user enabled are in this ref.
    pub(crate) fn is_shared(&self, ref_name: &str) -> bool {
        let is_below =
            |prefix: &String| ref_name.strip_prefix(prefix).is_some_and(|rest| !rest.contains('/'));
        self.shared.iter().any(is_below)
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
        // Where it was fetched from says more than that it was merged.
        let is_fetched = |name: &&&str| origin_of(name) != **name;
        let first = refs.iter().find(is_fetched).or(refs.first());
        first.map_or(Voice { tier: Tier::Unknown, origin: None }, |name| Voice::unknown(name))
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
                let found =
                    self.repository.read_many(blobs, |_, content| Some(marks(&read_note(content).note)));
                let marks = found.into_iter().flat_map(|(_, marks)| marks);
                of_team.extend(marks.map(|(_, mark)| (mark, origin_of(&name).to_owned())));
            }
            of_team
        })
    }
}

fn team_refs(trust: &Trust<'_>) -> Vec<(String, Vec<ObjectId>)> {
    let names = trust.repository.annotation_refs().unwrap_or_default().into_iter();
    let shared = names.filter(|name| trust.is_shared(name));
    let blobs = |name: &String| {
        let mut blobs: Vec<ObjectId> =
            trust.repository.notes(name).unwrap_or_default().into_iter().map(|note| note.blob).collect();
        blobs.sort_unstable();
        blobs.dedup();
        blobs
    };
    shared.map(|name| (name.clone(), blobs(&name))).collect()
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
        let others = each.into_iter().filter(|(_, voice)| *voice != usual).collect();
        Self { usual, others }
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
        for name in repository.annotation_refs()? {
            let notes = match repository.notes(&name) {
                Ok(notes) => notes,
                Err(GitError::NotANotesRef { .. } | GitError::EndlessNotes { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let mut blobs: Vec<_> = notes.into_iter().map(|note| note.blob).collect();
            blobs.sort_unstable();
            blobs.dedup();
            let found = repository.read_many(blobs, |_, content| {
                let note = read_note(content).note;
                let mut claimed = marks(&note);
                claimed.retain(|(id, _)| wanted.contains(id));
                let of_entry = |id: &EntryId| note.entry(id).map(|entry| entry.supersedes.clone());
                let claimed: Vec<_> = claimed
                    .into_iter()
                    .map(|(id, mark)| (of_entry(&id).unwrap_or_default(), id, mark))
                    .collect();
                (!claimed.is_empty()).then_some(claimed)
            });
            for (replaced, id, mark) in found.into_iter().flat_map(|(_, claimed)| claimed) {
                let tier = trust.voice(&mark, [name.as_str()]).tier;
                for old in replaced {
                    let known = tiers.replacing.entry((old, id.clone())).or_insert(tier);
                    *known = tier.max(*known);
                }
                let known = tiers.claims.entry(id).or_insert(tier);
                *known = tier.max(*known);
            }
        }
        Ok(tiers)
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
