//! The lessons of a repository, one by one, as they count now.

use std::collections::BTreeMap;

use chronicle_core::{
    EntryId,
    correction::{Claim, CorrectionKind, Tier},
    parse_time,
};
use chronicle_git::{ObjectId, Repository};
use jiff::Timestamp;

use crate::{
    error::Result,
    note::{corrections::Afterwords, notebook::Notebook, stored::Stored},
};

/// A lesson that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Names it.
    pub id: EntryId,
    /// The commit that carries it; of several, the first.
    pub commit: ObjectId,
    /// What kind of lesson it is.
    pub category: &'static str,
    /// What it says, as it was corrected.
    pub text: String,
    /// The file it is about.
    pub file: Option<String>,
    /// The item of code it is about.
    pub anchor: Option<String>,
    /// When it was written.
    pub at: Option<Timestamp>,
    /// Whether the user wrote it on this machine.
    pub is_own: bool,
}

/// The lessons that count at `now`, by id: neither replaced, nor withdrawn, nor doubted, nor expired.
///
/// # Errors
/// When the repository cannot be read.
pub fn lessons(repository: &Repository, now: Timestamp) -> Result<Vec<Lesson>> {
    let notebook = Notebook::open(repository, &mut Vec::new())?;
    let (mut entries, mut pairs) = (BTreeMap::new(), Vec::new());
    for (commit, raw) in notebook.scan(&mut Vec::new(), |_, _| true) {
        let Stored { note, voices, .. } = notebook.parse(&raw);
        for (document, entry) in note.entries() {
            pairs.extend(entry.supersedes.iter().map(|old| (old.clone(), entry.id.clone())));
            let at = parse_time(&document.timestamp);
            let is_own = voices.of_claim(&entry.id).tier == Tier::Own;
            entries.entry(entry.id.clone()).or_insert_with(|| (commit, at, entry.clone(), is_own));
        }
    }
    let afterwords = Afterwords::load(repository, pairs)?;
    let mut lessons = Vec::new();
    for (id, (commit, at, mut entry, is_own)) in entries {
        let said = afterwords.corrections_of(&id);
        let is_doubted = said.iter().any(|item| item.kind == CorrectionKind::Flag && !item.is_remark);
        if is_doubted || afterwords.superseded.contains_key(&id) {
            continue;
        }
        Claim::Entry(&mut entry).apply(said);
        if entry.expires.as_deref().and_then(parse_time).is_some_and(|end| end <= now) {
            continue;
        }
        lessons.push(Lesson {
            is_own,
            id,
            commit,
            category: entry.category.name(),
            text: entry.content,
            file: entry.file,
            anchor: entry.anchor.map(|anchor| anchor.name),
            at,
        });
    }
    Ok(lessons)
}
