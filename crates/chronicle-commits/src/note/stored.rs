//! What the notes on one object say, and who says it.

use chronicle_core::{Annotation, EntryId, Knowledge, Note, ReadNote, correction::Tier, read_note};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    note::{
        claim_id::{summary_id, summary_id_of},
        trust::{Voice, Voices},
    },
    place::code_lines::may_be_sketched,
};

/// What is stored on one object.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// The documents, folded.
    pub note: Note,
    /// The repository's knowledge, if it lies here.
    pub knowledge: Option<Knowledge>,
    /// Remarks on the bytes.
    pub remarks: Vec<String>,
    /// Whether it may say by a sketch where something belongs.
    pub(crate) is_sketched: bool,
    /// Who its claims are from.
    pub(crate) voices: Voices,
    /// Remarks on what is hidden from the reader.
    pub hidden: Vec<String>,
}

/// Who a claim is from that the user did not write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SaidBy {
    /// The claim.
    pub id: EntryId,
    /// Who wrote it, in their own words.
    pub author: Option<String>,
    /// How far its author is trusted.
    pub tier: Tier,
    /// The remote or the notes ref that it came from.
    pub origin: Option<String>,
}

impl Stored {
    /// Who its claims are from that the user did not write.
    #[must_use]
    pub fn said_by_others(&self) -> Vec<SaidBy> {
        let mut claims = Vec::new();
        for document in self.note.documents() {
            claims.push((summary_id(document), document));
            claims.extend(document.regions.iter().map(|region| (region.id.clone(), document)));
        }
        claims.extend(self.note.entries().into_iter().map(|(document, entry)| (entry.id.clone(), document)));
        let others = claims.into_iter().filter(|(id, _)| self.voices.of_claim(id).tier != Tier::Own);
        let said = others.map(|(id, document)| {
            let Voice { tier, origin } = self.voices.of_claim(&id).clone();
            let author = document.provenance.author.clone().filter(|_| self.is_said_in(document, &id));
            SaidBy { id, author, tier, origin }
        });
        said.collect()
    }

    /// Whether what `document` says of itself is said of the claim `id` that it holds: whoever is trusted less may have put
    /// the claim into a document of theirs, and that one speaks only for itself.
    pub(crate) fn is_said_in(&self, document: &Annotation, id: &EntryId) -> bool {
        let voices = &self.voices;
        let summary = || match self.note.fingerprint_of(document) {
            Some(fingerprint) => summary_id_of(fingerprint),
            None => summary_id(document),
        };
        !voices.are_several() || voices.of_claim(id).tier <= voices.of_claim(&summary()).tier
    }

    /// What of it the user or the team says.
    pub(crate) fn trusted(mut self) -> Self {
        let voices = &self.voices;
        self.note = self.note.without(&|id| voices.of_claim(id).tier == Tier::Unknown, "");
        self
    }

    /// What both say.
    pub(crate) fn fold(self, other: Self) -> Self {
        let knowledge = match (self.knowledge, other.knowledge) {
            (Some(ours), Some(theirs)) => Some(ours.fold(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        Self {
            note: self.note.fold(other.note),
            knowledge,
            remarks: [self.remarks, other.remarks].concat(),
            is_sketched: self.is_sketched || other.is_sketched,
            voices: self.voices,
            hidden: [self.hidden, other.hidden].concat(),
        }
    }
}

/// Reads and folds the notes of one object, as they lie there.
pub(crate) fn parse(blobs: &[impl AsRef<[u8]>]) -> Stored {
    let mut stored = Stored::default();
    for blob in blobs {
        let blob = blob.as_ref();
        let ReadNote { note, knowledge, remarks } = read_note(blob);
        let read = Stored {
            note,
            knowledge,
            remarks: remarks.iter().map(ToString::to_string).collect(),
            is_sketched: may_be_sketched(blob),
            ..Stored::default()
        };
        stored = stored.fold(read);
    }
    stored
}
