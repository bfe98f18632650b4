//! One commit's annotation, whole.

use chronicle_commits::{Notebook, SaidBy, claims_called, claims_on, corrections_of, stored_on, summary_id};
use chronicle_core::{
    Annotation, EntryId, Knowledge,
    correction::{Claim, CorrectionItem},
    redaction::gated,
};
use chronicle_git::GitError;
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Chronicle;

/// One commit's annotation, whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Shown {
    /// Always `chronicle-show/v1`.
    pub schema: &'static str,
    /// The commit.
    pub commit: String,
    /// Its subject, when the commit is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What is stored, as one `chronicle/v3` document; null when nothing is.
    pub annotation: Option<Annotation>,
    /// Who its claims are from that the user did not write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SaidBy>,
    /// What an older schema said that has no place in `chronicle/v3`.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub legacy: serde_json::Map<String, serde_json::Value>,
    /// What was said of its claims after they were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<ShownCorrection>,
    /// The repository's knowledge, when it is what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
    /// Remarks about the note.
    pub warnings: Vec<String>,
}

/// What was said of one claim after it was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShownCorrection {
    /// The claim.
    pub entry: EntryId,
    /// What was said of it.
    #[serde(flatten)]
    pub correction: CorrectionItem,
}

impl Shown {
    /// Whether anything is stored on the commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.annotation.is_none() && self.knowledge.is_none()
    }
}

impl Chronicle {
    /// What is stored on a commit; the empty tree stands for the repository's knowledge.
    ///
    /// Values that were taken away or replaced since are hidden, unless `as_written` asks for all.
    ///
    /// # Errors
    /// When the revision is unknown.
    pub fn show(&self, revision: &str, as_written: bool) -> Result<Shown, Error> {
        let repository = self.workplace.repository()?;
        let mut warnings = Vec::new();
        let key = match repository.resolve(revision) {
            Ok(id) => id,
            // A note outlives its commit; its full or abbreviated id still finds it.
            Err(error @ GitError::UnknownRevision { .. }) => {
                Notebook::open(repository, &mut warnings)?.find_key(revision).ok_or(error)?
            }
            Err(other) => return Err(other.into()),
        };
        let stored = stored_on(repository, key, &mut warnings)?;
        let mut annotation = stored.note.to_annotation(&key.to_string());
        let mut corrections = Vec::new();
        if let Some(annotation) = &mut annotation {
            let ids: Vec<EntryId> = claims_on(repository, key)?.into_iter().map(|claim| claim.id).collect();
            for (entry, mut said) in corrections_of(repository, &ids, &mut warnings)? {
                if !as_written {
                    apply(annotation, &entry, &said);
                    said.iter_mut().for_each(CorrectionItem::hide);
                }
                let shown = |correction| ShownCorrection { entry: entry.clone(), correction };
                corrections.extend(said.into_iter().map(shown));
            }
        }
        warnings.extend(stored.hidden.iter().cloned());
        warnings.extend(stored.remarks.iter().map(|remark| match &annotation {
            None => format!("Skipping malformed annotation on commit {key}: {remark}"),
            Some(_) => format!("Part of the annotation was skipped: {remark}"),
        }));
        Ok(Shown {
            schema: "chronicle-show/v1",
            commit: key.to_string(),
            subject: repository.commit(key).ok().map(|commit| gated(&commit.subject())),
            others: stored.said_by_others(),
            legacy: annotation.as_ref().map(|annotation| annotation.legacy.clone()).unwrap_or_default(),
            annotation,
            corrections,
            knowledge: stored.knowledge,
            warnings,
        })
    }
}

impl Chronicle {
    /// The commit that carries the claim with this id, or with one that begins so; `None` where there is none.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn commit_of_claim(&self, id: &str) -> Result<Option<String>, Error> {
        let claims = claims_called(self.workplace.repository()?, id)?;
        Ok(claims.first().map(|claim| claim.commit.to_string()))
    }
}

/// Carries out the corrections of the claim `id`, wherever in the annotation it is.
fn apply(annotation: &mut Annotation, id: &EntryId, corrections: &[CorrectionItem]) {
    // A summary is named by what its document says, so it comes first.
    if summary_id(annotation) == *id {
        Claim::Summary(&mut annotation.summary).apply(corrections);
    }
    for entry in annotation.wisdom.iter_mut().filter(|entry| entry.id == *id) {
        Claim::Entry(entry).apply(corrections);
    }
    for region in annotation.regions.iter_mut().filter(|region| region.id == *id) {
        Claim::Region(region).apply(corrections);
    }
    for other in &mut annotation.also {
        apply(other, id, corrections);
    }
}
