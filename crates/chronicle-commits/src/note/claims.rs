//! Single claims, found by their id or on the commit that carries them.

use std::collections::HashMap;

use chronicle_core::{
    Entry, EntryId,
    correction::{Claim as Words, CorrectionItem, Tier},
    mentions::{agree, segments},
};
use chronicle_git::{NOTES_REF, NotesEdit, ObjectId, Recovered, Repository};

use crate::{
    error::{CommitsError, Result, if_notes},
    note::{
        claim_id::{LEAST_OF_ID, begins_with, summary_id},
        corrections::Afterwords,
        notebook::{Notebook, stored_on},
        stored::{SaidBy, Stored, parse},
        trust::{Trust, mark_of_entry, record_own},
    },
    read::record::Body,
};

/// A claim as it is stored.
#[derive(Debug, Clone)]
pub struct FoundClaim {
    /// The commit that carries it; of several copies, one of them.
    pub commit: ObjectId,
    /// Its id.
    pub id: EntryId,
    /// Who says it, unless it is the user.
    pub said_by: Option<SaidBy>,
    /// Whether someone who is trusted less says something else under the same id.
    pub is_disputed: bool,
    body: Body,
}

impl FoundClaim {
    /// How far its author is trusted.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.said_by.as_ref().map_or(Tier::Own, |said| said.tier)
    }

    /// The file it is about.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match &self.body {
            Body::Region(region) => Some(&region.file),
            Body::Summary(_) => None,
            Body::Wisdom(entry) => entry.file.as_deref(),
        }
    }

    /// The item of code it is about.
    #[must_use]
    pub fn anchor(&self) -> Option<&str> {
        self.body.anchor().map(|anchor| anchor.name.as_str())
    }

    /// Whether it is about the item that `anchor` names.
    #[must_use]
    pub fn is_about(&self, anchor: &str) -> bool {
        self.anchor().is_some_and(|own| own == anchor || agree(&segments(own), &segments(anchor)))
    }

    /// Whether it is a lesson, and no code unit and no summary.
    #[must_use]
    pub fn is_lesson(&self) -> bool {
        matches!(self.body, Body::Wisdom(_))
    }

    /// What it is: a category, `region` or `summary`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.body {
            Body::Region(_) => "region",
            Body::Summary(_) => "summary",
            Body::Wisdom(entry) => entry.category.name(),
        }
    }

    /// Its first words: what it claims, or what a code unit is for.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.body {
            Body::Region(region) => {
                region.intent.as_deref().or(region.reasoning.as_deref()).unwrap_or_default()
            }
            Body::Summary(summary) => summary,
            Body::Wisdom(entry) => &entry.content,
        }
    }

    fn words(&mut self) -> Words<'_> {
        match &mut self.body {
            Body::Region(region) => Words::Region(region),
            Body::Summary(summary) => Words::Summary(summary),
            Body::Wisdom(entry) => Words::Entry(entry),
        }
    }

    /// The names of its fields that can be corrected.
    pub fn fields(&mut self) -> &'static [&'static str] {
        self.words().fields()
    }

    /// The field of its first words.
    pub fn main_field(&mut self) -> &'static str {
        self.fields().first().copied().unwrap_or_default()
    }

    /// Carries out corrections of it.
    pub fn apply(&mut self, corrections: &[CorrectionItem]) {
        self.words().apply(corrections);
    }

    /// The values of its field `name`; `None` when it has no such field.
    pub fn values(&mut self, name: &str) -> Option<Vec<String>> {
        self.words().values(name)
    }

    /// The value of the field `name` that `text` means.
    pub fn meant(&mut self, name: &str, text: &str) -> Option<String> {
        self.words().meant(name, text)
    }
}

/// The claims of one note.
fn of_note(commit: ObjectId, stored: &Stored) -> Vec<FoundClaim> {
    let (note, others) = (&stored.note, stored.said_by_others());
    let mut claims = Vec::new();
    for statement in note.statements() {
        let document = statement.document;
        for region in &document.regions {
            claims.push((region.id.clone(), Body::Region(Box::new(region.clone()))));
        }
        if !statement.is_replaced {
            claims.push((summary_id(document), Body::Summary(document.summary.clone())));
        }
    }
    for (_, entry) in note.entries() {
        claims.push((entry.id.clone(), Body::Wisdom(Box::new(entry.clone()))));
    }
    // The first of those with one id counts.
    let others: HashMap<&EntryId, &SaidBy> = others.iter().rev().map(|said| (&said.id, said)).collect();
    let found = claims.into_iter().map(|(id, body)| {
        let said_by = others.get(&id).map(|said| SaidBy::clone(said));
        FoundClaim { commit, id, said_by, is_disputed: false, body }
    });
    found.collect()
}

/// The claims that the note of `commit` makes.
///
/// # Errors
/// When the notes cannot be read.
pub fn claims_on(repository: &Repository, commit: ObjectId) -> Result<Vec<FoundClaim>> {
    Ok(of_note(commit, &stored_on(repository, commit, &mut Vec::new())?))
}

/// What to tell of an id that others use for something else.
#[must_use]
pub fn disputed(id: &str) -> String {
    format!(
        "someone you trust less uses the id {id} for something else; the lesson that you trust more was taken"
    )
}

/// The claims that `id`, or an id that begins so, names; copies of one claim come once. Of several that have one id,
/// which anyone can read and use again, the one that is trusted most is meant.
///
/// # Errors
/// When the notes cannot be read.
pub fn claims_called(repository: &Repository, id: &str) -> Result<Vec<FoundClaim>> {
    // A lesson of a region is shown with the region's id and a number.
    let id = id.split_once('.').map_or(id, |(region, _)| region);
    if id.len() < LEAST_OF_ID {
        return Ok(Vec::new());
    }
    let mut found: Vec<FoundClaim> = Vec::new();
    let notebook = Notebook::open(repository, &mut Vec::new())?;
    for (key, raw) in notebook.scan(&mut Vec::new(), |_, _| true) {
        let mut claims = of_note(key, &notebook.parse(&raw));
        claims.retain(|claim| begins_with(&claim.id, id));
        for claim in claims {
            match found.iter_mut().find(|known| known.id == claim.id) {
                None => found.push(claim),
                Some(known) => {
                    let is_disputed =
                        known.is_disputed || known.tier() != claim.tier() && known.text() != claim.text();
                    if known.tier() < claim.tier() {
                        *known = claim;
                    }
                    known.is_disputed = is_disputed;
                }
            }
        }
    }
    if let Some(exact) = found.iter().position(|claim| claim.id.0 == id) {
        return Ok(vec![found.swap_remove(exact)]);
    }
    Ok(found)
}

/// What was said of some claims after they were made.
///
/// # Errors
/// When the corrections cannot be read.
pub fn corrections_of(
    repository: &Repository,
    ids: &[EntryId],
    warnings: &mut Vec<String>,
) -> Result<Vec<(EntryId, Vec<CorrectionItem>)>> {
    let mut afterwords = Afterwords::load(repository, Vec::new())?;
    warnings.append(&mut afterwords.warnings);
    Ok(ids.iter().filter_map(|id| Some((id.clone(), afterwords.corrections.get(id)?.clone()))).collect())
}

/// Changes the lesson `id` in every note of ours that holds it; `change` may only add to it.
///
/// # Errors
/// When no lesson of ours has the id, or the notes cannot be read or written.
pub fn amend_lesson(
    repository: &Repository,
    id: &EntryId,
    message: &str,
    change: impl Fn(&mut Entry),
) -> Result<Recovered> {
    let (is_known, recovered) =
        repository.edit_notes(NOTES_REF, message, |notes: &mut NotesEdit<'_>| -> Result<bool> {
            let mut is_known = false;
            for key in keys_with(repository, id)? {
                let stored = parse(notes.get(key)?.as_slice());
                let Some(mut entry) = stored.note.entry(id).cloned() else { continue };
                is_known = true;
                let voice = Trust::of(repository).voice(&mark_of_entry(&entry), [NOTES_REF]);
                change(&mut entry);
                // It says something else of other claims or of its end now, and that is the user's word; it
                // makes nothing of a stranger the user's.
                if Tier::Unknown < voice.tier {
                    record_own(repository, &[mark_of_entry(&entry)])?;
                }
                let line = stored.note.with_entry(entry).to_line(&key.to_string());
                notes.set(key, line.expect("it holds an entry").into_bytes());
            }
            Ok(is_known)
        })?;
    if is_known { Ok(recovered) } else { Err(CommitsError::UnknownEntry { id: id.clone() }) }
}

/// The objects whose note in our own ref holds the lesson `id`.
fn keys_with(repository: &Repository, id: &EntryId) -> Result<Vec<ObjectId>> {
    let notes = if_notes(repository.notes(NOTES_REF), &mut Vec::new())?.unwrap_or_default();
    let blobs = notes.iter().map(|note| note.blob).collect();
    let holding =
        repository.read_many(blobs, |_, content| parse(&[content]).note.entry(id).is_some().then_some(()));
    let holding: std::collections::HashSet<ObjectId> = holding.into_iter().map(|(blob, ())| blob).collect();
    Ok(notes.into_iter().filter(|note| holding.contains(&note.blob)).map(|note| note.key).collect())
}
