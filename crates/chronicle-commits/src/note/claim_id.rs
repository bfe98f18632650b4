//! The ids that claims have.

use chronicle_core::{Annotation, EntryId, Knowledge, correction::read_corrections, read_note};
use serde_json::Value;

/// The id under which the summary of `document` is claimed.
#[must_use]
pub fn summary_id(document: &Annotation) -> EntryId {
    summary_id_of(&document.fingerprint())
}

/// The id under which the summary of the document with this fingerprint is claimed.
pub(crate) fn summary_id_of(fingerprint: &str) -> EntryId {
    EntryId(format!("s-{}", &fingerprint[..26]))
}

/// A shorter beginning of an id names nothing.
pub(crate) const LEAST_OF_ID: usize = 6;

/// Whether `id` begins so, in letters of either case.
pub(crate) fn begins_with(id: &EntryId, beginning: &str) -> bool {
    id.0.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

/// Calls `with` for everything in the bytes of a note that has an id.
pub(crate) fn each_claim(content: &[u8], mut with: impl FnMut(&EntryId, &Value)) {
    let read = read_note(content);
    for document in read.note.documents() {
        for region in &document.regions {
            with(&region.id, &json(region));
        }
        let own_words = Annotation { regions: Vec::new(), entry_ids: Vec::new(), ..document.clone() };
        with(&summary_id(document), &json(&own_words));
    }
    for (_, entry) in read.note.entries() {
        with(&entry.id, &json(entry));
    }
    for item in read.knowledge.iter().flat_map(Knowledge::items) {
        with(&EntryId(item.id().to_owned()), &json(&item));
    }
    for correction in read_corrections(content).0 {
        with(&correction.id, &json(&correction));
    }
}

fn json(claim: &impl serde::Serialize) -> Value {
    serde_json::to_value(claim).expect("claims are plain data")
}

pub(crate) fn ids_in(content: &[u8]) -> Vec<EntryId> {
    let mut ids = Vec::new();
    each_claim(content, |id, _| ids.push(id.clone()));
    ids
}

/// Whether the bytes of a note hold anything that has an id.
pub(crate) fn is_readable(content: &[u8]) -> bool {
    !ids_in(content).is_empty()
}
