//! One commit's annotation, whole.

use chronicle_commits::{Notebook, stored_on};
use chronicle_core::{Annotation, Knowledge};
use chronicle_git::GitError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, Error};

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
    /// What an older schema said that has no place in `chronicle/v3`.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub legacy: serde_json::Map<String, serde_json::Value>,
    /// The repository's knowledge, when it is what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
    /// Remarks about the note.
    pub warnings: Vec<String>,
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
    /// # Errors
    /// When the revision is unknown.
    pub fn show(&self, revision: &str) -> Result<Shown, Error> {
        let repository = self.repository()?;
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
        let annotation = stored.note.to_annotation(&key.to_string());
        warnings.extend(stored.remarks.iter().map(|remark| match &annotation {
            None => format!("Skipping malformed annotation on commit {key}: {remark}"),
            Some(_) => format!("Part of the annotation was skipped: {remark}"),
        }));
        Ok(Shown {
            schema: "chronicle-show/v1",
            commit: key.to_string(),
            subject: repository.commit(key).ok().map(|commit| commit.subject()),
            legacy: annotation.as_ref().map(|annotation| annotation.legacy.clone()).unwrap_or_default(),
            annotation,
            knowledge: stored.knowledge,
            warnings,
        })
    }
}
