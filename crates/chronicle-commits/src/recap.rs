//! What a briefing tells of commit memory: unfinished lessons, and why the newest commits were made.
//!
//! It takes a look at every note, so it is kept for each state of the repository, as the index is.

use std::collections::{BTreeMap, HashMap};

use chronicle_core::{
    Category, EntryId,
    correction::{Claim, CorrectionItem, CorrectionKind},
    parse_time,
};
use chronicle_git::{Glance, ObjectId, Repository};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    corrections::Afterwords, error::Result, gather::summary_id, index::state_hash, kept::Kept,
    notebook::Notebook,
};

/// How many reasons are kept.
const MOST_REASONS: usize = 200;

/// What commit memory has to say at the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recap {
    /// Lessons that say what is still to be done, on commits that HEAD reaches, the newest first.
    pub unfinished: Vec<Unfinished>,
    /// Why commits that HEAD reaches were made, the newest first.
    pub reasons: Vec<Reason>,
}

/// A lesson that says what is still to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Names it.
    pub id: EntryId,
    /// The commit that carries it.
    pub commit: String,
    /// Who made the commit.
    pub author: String,
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
    /// What is kept for the state of the repository that `glance` saw, if anything is.
    #[must_use]
    pub fn kept(glance: &Glance) -> Option<Self> {
        let kept = Kept::new(Some(&glance.common_dir), "recap");
        postcard::from_bytes(&kept.get(state_hash(glance))?).ok()
    }

    /// Keeps it for that state; where that cannot be, it is made again.
    pub fn keep(&self, glance: &Glance) {
        if let Ok(bytes) = postcard::to_allocvec(self) {
            Kept::new(Some(&glance.common_dir), "recap").put(state_hash(glance), &bytes);
        }
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
        for (commit, raw) in notebook.scan(&mut Vec::new(), |_, _| true) {
            let note = notebook.parse(&raw).note;
            let is_here = history.place(commit).is_some();
            for (document, entry) in note.entries() {
                pairs.extend(entry.supersedes.iter().map(|old| (old.clone(), entry.id.clone())));
                if is_here && entry.category == Category::UnfinishedThread {
                    let at = seconds(&document.timestamp);
                    lessons.entry(entry.id.clone()).or_insert_with(|| (commit, at, entry.clone()));
                }
            }
            let newest = note.statements().into_iter().find(|statement| !statement.is_replaced);
            if let Some(document) = newest.map(|statement| statement.document).filter(|_| is_here) {
                let at = seconds(&document.timestamp);
                summaries.push((commit, at, summary_id(document), document.summary.clone()));
            }
        }
        summaries.sort_by_key(|(commit, at, ..)| (std::cmp::Reverse(*at), *commit));
        summaries.truncate(MOST_REASONS);
        let afterwords = Afterwords::load(repository, pairs)?;
        let mut recap = Self::default();
        for (commit, at, id, mut summary) in summaries {
            Claim::Summary(&mut summary).apply(said_of(&afterwords, &id));
            recap.reasons.push(Reason { commit: commit.to_string(), summary, at });
        }
        for (id, (commit, at, mut entry)) in lessons {
            if afterwords.superseded.contains_key(&id) {
                continue;
            }
            let said = said_of(&afterwords, &id);
            Claim::Entry(&mut entry).apply(said);
            recap.unfinished.push(Unfinished {
                id,
                commit: commit.to_string(),
                author: String::new(),
                file: entry.file,
                text: entry.content,
                at,
                expires: entry.expires.as_deref().and_then(parse_time).map(Timestamp::as_second),
                doubt: said.iter().rev().find_map(doubt),
            });
        }
        recap.name_authors(repository);
        recap.unfinished.sort_by_key(|lesson| std::cmp::Reverse(lesson.at));
        Ok(recap)
    }

    fn name_authors(&mut self, repository: &Repository) {
        let mut known: HashMap<String, String> = HashMap::new();
        for lesson in &mut self.unfinished {
            let author = known.entry(lesson.commit.clone()).or_insert_with(|| {
                let id = ObjectId::from_hex(lesson.commit.as_bytes()).ok();
                let commit = id.and_then(|id| repository.commit(id).ok());
                commit.map(|commit| commit.author).unwrap_or_default()
            });
            lesson.author.clone_from(author);
        }
    }
}

fn said_of<'a>(afterwords: &'a Afterwords, id: &EntryId) -> &'a [CorrectionItem] {
    afterwords.corrections.get(id).map_or(&[], Vec::as_slice)
}

fn doubt(item: &CorrectionItem) -> Option<String> {
    (item.kind == CorrectionKind::Flag).then(|| item.reason.clone())
}

fn seconds(time: &str) -> i64 {
    parse_time(time).map(Timestamp::as_second).unwrap_or_default()
}
