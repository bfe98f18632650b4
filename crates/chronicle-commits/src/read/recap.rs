//! What a briefing tells of commit memory: unfinished lessons, and why the newest commits were made.
//!
//! It takes a look at every note, so it is kept for each state of the repository.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::{
    Category, Entry, EntryId,
    correction::{Claim, CorrectionItem, CorrectionKind, Tier},
    parse_time, room,
    thread::{Priority, ThreadKind, priority},
};
use chronicle_git::{Glance, ObjectId, Repository};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    disk_cache::{CachePlace, Kept, state_hash},
    error::Result,
    note::{claim_id::summary_id, corrections::Afterwords, notebook::Notebook, stored::Stored, trust::Voice},
};

/// How many lessons a briefing has at hand; the others are counted.
const MOST_AT_HAND: usize = 200;

/// How long the short form of an id is at least.
const SHORTEST_ID: usize = 12;

/// How many reasons are kept.
const MOST_REASONS: usize = 200;

/// What commit memory has to say at the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recap {
    /// Lessons that say what is still to be done, on commits that HEAD reaches, in the order of lists: all of them, or
    /// the first ones.
    pub unfinished: Vec<Unfinished>,
    /// How many more there are in each tier, where only the first ones are at hand.
    pub n_more: BTreeMap<Tier, usize>,
    /// Why commits that HEAD reaches were made, the newest first.
    pub reasons: Vec<Reason>,
    /// How many lessons of the user's and the team's are on commits that HEAD reaches.
    pub n_lessons: usize,
}

/// A lesson that says what is still to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Names it.
    pub id: EntryId,
    /// The shortest beginning of the id that names it among such lessons.
    pub short: String,
    /// How urgent it is.
    pub priority: Priority,
    /// The commit that carries it.
    pub commit: String,
    /// Who says so, in their own words; empty for the user.
    pub author: String,
    /// How far its author is trusted.
    pub tier: Tier,
    /// Where it came from, if the user did not write it.
    pub origin: Option<String>,
    /// The file it is about.
    pub file: Option<String>,
    /// What is to be done.
    pub text: String,
    /// When it was written, in seconds since 1970.
    pub at: i64,
    /// When it counts no longer, in seconds since 1970.
    pub expires: Option<i64>,
    /// Why others doubt it.
    pub doubt: Option<String>,
}

/// Why a commit was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The commit.
    pub commit: String,
    /// The summary of its annotation.
    pub summary: String,
    /// When that was written, in seconds since 1970.
    pub at: i64,
}

impl Recap {
    /// What a briefing tells, as it is kept for the state of the repository that `glance` saw, if it is.
    #[must_use]
    pub fn kept(glance: &Glance) -> Option<Self> {
        Self::kept_as("recap-first", glance)
    }

    /// All of it, as it is kept for that state.
    #[must_use]
    pub fn kept_whole(glance: &Glance) -> Option<Self> {
        Self::kept_as("recap-whole", glance)
    }

    fn kept_as(kind: &'static str, glance: &Glance) -> Option<Self> {
        let kept = Kept::new(CachePlace::seen(glance).as_ref(), kind);
        postcard::from_bytes(&kept.get(state_hash(glance)?)?).ok()
    }

    /// Keeps it for that state, whole and as far as a briefing needs it; where that cannot be, it is made again.
    pub fn keep(&self, glance: &Glance) {
        let Some(hash) = state_hash(glance) else { return };
        for (kind, recap) in [("recap-whole", self), ("recap-first", &self.at_hand())] {
            if let Ok(bytes) = postcard::to_allocvec(recap) {
                Kept::new(CachePlace::seen(glance).as_ref(), kind).put(hash, &bytes);
            }
        }
    }

    /// What a briefing needs of it.
    #[must_use]
    pub fn at_hand(&self) -> Self {
        let tiers: Vec<Tier> = self.unfinished.iter().map(|lesson| lesson.tier).collect();
        let (mut first, mut n_more) = (Vec::new(), BTreeMap::new());
        for (lesson, is_first) in self.unfinished.iter().zip(room::kept(&tiers, MOST_AT_HAND)) {
            match is_first {
                true => first.push(lesson.clone()),
                false => *n_more.entry(lesson.tier).or_default() += 1,
            }
        }
        Self { unfinished: first, n_more, reasons: self.reasons.clone(), n_lessons: self.n_lessons }
    }

    /// Looks at every note.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn of(repository: &Repository) -> Result<Self> {
        let notebook = Notebook::open(repository, &mut Vec::new())?;
        let Some(head) = repository.head()?.filter(|_| notebook.has_any()) else {
            return Ok(Self::default());
        };
        let history = repository.history(&[head])?;
        let (mut lessons, mut summaries, mut pairs) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut known = BTreeSet::new();
        for (commit, raw) in notebook.scan(&mut Vec::new(), |_, _| true) {
            let stored = notebook.parse(&raw);
            let Stored { note, voices, .. } = &stored;
            let is_here = history.place(commit).is_some();
            for (document, entry) in note.entries() {
                pairs.extend(entry.supersedes.iter().map(|old| (old.clone(), entry.id.clone())));
                if is_here && Tier::Unknown < voices.of_claim(&entry.id).tier {
                    known.insert(entry.id.clone());
                }
                if is_here && entry.category == Category::UnfinishedThread {
                    let is_its_own = stored.is_said_in(document, &entry.id);
                    let said = Heard {
                        commit,
                        at: seconds(&document.timestamp),
                        author: document.provenance.author.clone().filter(|_| is_its_own),
                        entry: entry.clone(),
                        voice: voices.of_claim(&entry.id).clone(),
                        is_its_own,
                    };
                    // Of copies on several commits, that of who is trusted most counts.
                    if lessons.get(&entry.id).is_none_or(|known: &Heard| known.worth() < said.worth()) {
                        lessons.insert(entry.id.clone(), said);
                    }
                }
            }
            // Nobody knows who says the others, and why a commit was made is for its author to say.
            let said = note.statements().into_iter().filter(|statement| !statement.is_replaced);
            let mut counting = said
                .map(|statement| statement.document)
                .filter(|document| Tier::Unknown < voices.of_claim(&summary_id(document)).tier);
            if is_here && let Some(document) = counting.next() {
                let (at, id) = (seconds(&document.timestamp), summary_id(document));
                summaries.push((commit, at, id, document.summary.clone()));
            }
        }
        summaries.sort_by_key(|(commit, at, ..)| (std::cmp::Reverse(*at), *commit));
        summaries.truncate(MOST_REASONS);
        let afterwords = Afterwords::load(repository, pairs)?;
        known.retain(|id| !afterwords.superseded.contains_key(id));
        let mut recap = Self { n_lessons: known.len(), ..Self::default() };
        for (commit, at, id, mut summary) in summaries {
            Claim::Summary(&mut summary).apply(afterwords.corrections_of(&id));
            recap.reasons.push(Reason { commit: commit.to_string(), summary, at });
        }
        for (id, Heard { commit, at, mut entry, voice, author, .. }) in lessons {
            if afterwords.superseded.contains_key(&id) {
                continue;
            }
            let said = afterwords.corrections_of(&id);
            Claim::Entry(&mut entry).apply(said);
            recap.unfinished.push(Unfinished {
                short: String::new(),
                priority: priority(ThreadKind::Todo, &entry.content, false, false),
                id,
                commit: commit.to_string(),
                author: author.filter(|_| voice.tier != Tier::Own).unwrap_or_default(),
                tier: voice.tier,
                origin: voice.origin,
                file: entry.file,
                text: entry.content,
                at,
                expires: entry.expires.as_deref().and_then(parse_time).map(Timestamp::as_second),
                doubt: said.iter().rev().find_map(doubt),
            });
        }
        recap.shorten_ids();
        recap.unfinished.sort_by(|left, right| {
            (left.tier == Tier::Unknown)
                .cmp(&(right.tier == Tier::Unknown))
                .then(left.priority.cmp(&right.priority))
                .then_with(|| (right.at, &left.id).cmp(&(left.at, &right.id)))
        });
        Ok(recap)
    }

    /// Says how much of each id it takes to tell it from its neighbours.
    fn shorten_ids(&mut self) {
        self.unfinished.sort_by(|left, right| left.id.cmp(&right.id));
        let ids: Vec<String> = self.unfinished.iter().map(|lesson| lesson.id.0.clone()).collect();
        for (index, lesson) in self.unfinished.iter_mut().enumerate() {
            let beside = [index.checked_sub(1), Some(index + 1)];
            let others = beside.into_iter().flatten().filter_map(|index| ids.get(index));
            let common = others
                .map(|other| lesson.id.0.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
            let n_alike = common.max().unwrap_or_default();
            lesson.short = lesson.id.0.chars().take(SHORTEST_ID.max(n_alike + 1)).collect();
        }
    }
}

/// An unfinished lesson, as one note has it.
struct Heard {
    commit: ObjectId,
    at: i64,
    author: Option<String>,
    entry: Entry,
    voice: Voice,
    /// Whether what its document says of itself is said of it, too.
    is_its_own: bool,
}

impl Heard {
    fn worth(&self) -> impl Ord + use<> {
        (self.voice.tier, self.is_its_own)
    }
}

fn doubt(item: &CorrectionItem) -> Option<String> {
    (item.kind == CorrectionKind::Flag && !item.is_remark).then(|| item.reason.clone())
}

fn seconds(time: &str) -> i64 {
    parse_time(time).map(Timestamp::as_second).unwrap_or_default()
}
