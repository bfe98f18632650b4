//! What a model says of a session, in the place of the words that rules found.
//!
//! Its words are about what happened; what happened (files, commits, checks, decisions, usage) stays as it was counted, and
//! is told behind the words of the summary.

use chronicle_search::{NamedSession, SessionRecord, SqlResult, StoredWording, Transaction};
use serde::{Deserialize, Serialize};

use crate::digest::{DigestOfSession, achieved};

/// The words of a model about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The model.
    pub model: String,
    /// At most 60 characters; none where what it gave did not hold.
    #[serde(default)]
    pub title: Option<String>,
    /// What was done, in one or two sentences.
    pub summary: String,
    /// What was done, the weightiest first; none where the rules' are to stand.
    #[serde(default)]
    pub key_actions: Vec<String>,
}

impl Wording {
    /// Puts its words into a digest.
    pub fn apply(&self, digest: &mut DigestOfSession) {
        let achieved = achieved(&digest.commits, digest.files.len(), &digest.uncommitted, &digest.checks);
        digest.summary = [self.summary.as_str(), &achieved].join(" ").trim().to_owned();
        if let Some(title) = &self.title {
            digest.title.clone_from(title);
        }
        if !self.key_actions.is_empty() {
            digest.key_actions.clone_from(&self.key_actions);
        }
        digest.worded_by = Some(self.model.clone());
    }

    /// The same, in the record of a session; one whose digest cannot be read stays as it is.
    #[must_use]
    pub fn applied_to(&self, mut record: SessionRecord) -> SessionRecord {
        if let Ok(mut digest) = serde_json::from_str::<DigestOfSession>(&record.digest) {
            self.apply(&mut digest);
            record.digest = serde_json::to_value(&digest).unwrap_or_default().to_string();
            record.title = digest.title;
        }
        record
    }

    /// The record of a session that was read again, with what a model said of it if it is as it was then.
    pub(crate) fn kept(tx: &Transaction<'_>, session: NamedSession) -> SqlResult<SessionRecord> {
        let Some(known) = StoredWording::of(tx, session.id)?.filter(|known| !known.wording.is_empty()) else {
            return Ok(session.record);
        };
        if known.state != session.state(tx)? {
            return Ok(session.record);
        }
        Ok(match serde_json::from_str::<Self>(&known.wording) {
            Ok(wording) => wording.applied_to(session.record),
            Err(_) => session.record,
        })
    }
}
