//! What a note says already, and what the author may replace.

use std::collections::HashSet;

use chronicle_core::{Annotation, Entry, EntryId, Note, Region, correction::Tier};
use chronicle_git::{NOTES_REF, Repository};

use super::document::WITHOUT_SUBJECT;
use crate::{
    error::{CommitsError, Result},
    note::trust::{Trust, marks},
    write::input::wash,
};

/// What of `note`, which is in our own ref, the user or the team says; all of it where nothing is recorded.
pub(super) fn trusted(repository: &Repository, note: Note) -> Note {
    if repository.trust_records().is_none() {
        return note;
    }
    let trust = Trust::of(repository);
    let strange: HashSet<EntryId> = marks(&note)
        .into_iter()
        .filter(|(_, mark)| trust.voice(mark, [NOTES_REF]).tier == Tier::Unknown)
        .map(|(id, _)| id)
        .collect();
    if strange.is_empty() { note } else { note.without(&|id| strange.contains(id), "") }
}

/// Whether two entries are one claim about one place.
pub(super) fn claims_the_same(left: &Entry, right: &Entry) -> bool {
    left.category == right.category
        && left.content == right.content
        && left.file == right.file
        && left.lines == right.lines
}

/// Whether `entry`, the same claim as `known`, says nothing around it that `known` does not say.
pub(super) fn adds_nothing(known: &Entry, entry: &Entry) -> bool {
    entry.depends_on.iter().all(|item| known.depends_on.contains(item))
        && entry.related.iter().all(|item| known.related.contains(item))
        && entry.tags.iter().all(|item| known.tags.contains(item))
        && entry.supersedes.iter().all(|item| known.supersedes.contains(item))
        && (entry.anchor.is_none() || entry.anchor == known.anchor || is_found(known, entry))
        && (entry.origin.is_none() || entry.origin == known.origin)
        && (entry.expires.is_none() || entry.expires == known.expires)
}

/// Whether the anchor of `entry` is only the name of the lines that `known` has, too.
pub(super) fn is_found(known: &Entry, entry: &Entry) -> bool {
    known.anchor.is_none() && known.lines.is_some() && known.lines == entry.lines
}

/// Whether a document without new entries says nothing that the note does not say already.
pub(super) fn is_in(note: &Note, document: &Annotation) -> bool {
    let documents = note.documents();
    documents.iter().any(|known| known.summary == document.summary && !note.summary_is_replaced(known))
        && document.regions.iter().all(|region| {
            let mut regions = documents.iter().flat_map(|document| &document.regions);
            regions.any(|known| Region { id: region.id.clone(), ..known.clone() } == *region)
        })
        && document
            .cross_cutting
            .iter()
            .all(|concern| documents.iter().any(|known| known.cross_cutting.contains(concern)))
        && (document.task.is_none() || documents.iter().any(|known| known.task == document.task))
}

/// The summaries that the author may replace: those shown for the commit, all of which must be one's own.
pub(super) fn replaced_summaries(note: &Note, author: Option<&str>) -> Result<Vec<String>> {
    let documents = note.documents();
    let current: Vec<_> = documents.iter().filter(|document| !note.summary_is_replaced(document)).collect();
    let own: Vec<String> = current
        .iter()
        .filter(|document| document.provenance.author.as_deref() == author)
        .map(|document| document.fingerprint())
        .collect();
    match (own.is_empty(), current.first()) {
        (false, _) => Ok(own),
        (true, Some(other)) => {
            let author = other.provenance.author.clone().unwrap_or_else(|| "someone unnamed".to_owned());
            Err(CommitsError::NotYourSummary { author })
        }
        (true, None) => Err(CommitsError::NoSummary),
    }
}

/// Whether somebody annotated the commit: what was said ahead of it, and is kept under its subject, is no annotation yet.
#[must_use]
pub fn is_annotated(note: &Note, subject: &str) -> bool {
    let (subject, _secrets) = wash(subject);
    note.documents().into_iter().any(|document| !stands_in(document, &subject))
}

/// Whether a document has the commit's subject for a summary, because nothing else was said.
pub(super) fn stands_in(document: &Annotation, subject: &str) -> bool {
    [subject, WITHOUT_SUBJECT].contains(&document.summary.as_str()) && !document.consumed.is_empty()
}

/// One's own documents that have the commit's subject for a summary, because nothing else was said.
pub(super) fn stand_ins(note: &Note, subject: &str, author: Option<&str>) -> Vec<String> {
    let (subject, _secrets) = wash(subject);
    let own = note.documents().into_iter().filter(|document| {
        stands_in(document, &subject)
            && document.provenance.author.as_deref() == author
            && !note.summary_is_replaced(document)
    });
    own.map(Annotation::fingerprint).collect()
}
