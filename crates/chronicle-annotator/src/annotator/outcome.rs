//! What became of commits that a model was to look at.

use chronicle::{WrittenOutcome, writer_log::Became};
use chronicle_core::Annotation;
use chronicle_workplace::WrittenTokens;
use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;

/// A request that would be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedRequest {
    /// Tokens of it at most.
    pub tokens: u64,
    /// Tokens that a request to this model may have.
    pub limit: u64,
    /// The changed lines that it shows.
    pub shows: Vec<ShownChange>,
}

/// A run of changed lines in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownChange {
    /// The file.
    pub file: String,
    /// First line and number of lines that were taken away.
    pub old: (u32, u32),
    /// First line and number of lines that were put in.
    pub new: (u32, u32),
}

/// What became of a commit that a model was to look at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WrittenCommit {
    /// The commit.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// What became of it.
    pub outcome: WrittenOutcome,
    /// Why, where it is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The session that made it, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Files that are looked at.
    pub files: usize,
    /// Their changed lines.
    pub changed_lines: u64,
    /// Files that are named only, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<(String, String)>,
    /// In how many conversations it is looked at.
    pub chunks: usize,
    /// Replies of the model.
    pub turns: u32,
    /// What they cost.
    pub tokens: WrittenTokens,
    /// Lessons that were stored.
    pub wisdom: usize,
    /// Code units that were stored.
    pub regions: usize,
    /// Cross-cutting concerns that were stored.
    pub cross_cutting: usize,
    /// What the model emitted and did not hold.
    pub dropped: usize,
    /// Why it is only a part of what there was to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// The kinds of secrets that were left out of what the model was told, or of what it said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The requests that would begin the conversations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<PlannedRequest>,
    /// The whole annotation, as it is stored now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Annotation>,
}

impl WrittenCommit {
    /// What the log is to know of it.
    pub(crate) fn became(&self) -> Became<'_> {
        Became { commit: &self.commit, outcome: self.outcome, reason: self.reason.as_deref() }
    }

    pub(crate) fn new(commit: String, subject: String, outcome: WrittenOutcome) -> Self {
        Self {
            commit,
            subject,
            outcome,
            reason: None,
            session: None,
            files: 0,
            changed_lines: 0,
            aside: Vec::new(),
            chunks: 0,
            turns: 0,
            tokens: WrittenTokens::default(),
            wisdom: 0,
            regions: 0,
            cross_cutting: 0,
            dropped: 0,
            partial: None,
            redacted: Vec::new(),
            warnings: Vec::new(),
            requests: Vec::new(),
            stored: None,
        }
    }
}

/// What became of all commits that a model was to look at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WrittenReply {
    /// Always `chronicle-agent/v1`.
    pub schema: &'static str,
    /// The model; none where nobody was to be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The commits, in the order in which they were done.
    pub commits: Vec<WrittenCommit>,
    /// What all of them cost.
    pub tokens: WrittenTokens,
    /// What they were thought to come to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Remarks on the whole.
    pub warnings: Vec<String>,
}

impl WrittenReply {
    pub(crate) fn new(model: Option<String>) -> Self {
        Self {
            schema: "chronicle-agent/v1",
            model,
            commits: Vec::new(),
            tokens: WrittenTokens::default(),
            estimate: None,
            stopped: None,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, commit: WrittenCommit) {
        self.tokens.input += commit.tokens.input;
        self.tokens.output += commit.tokens.output;
        self.commits.push(commit);
    }

    /// How many commits came to this.
    #[must_use]
    pub fn count(&self, outcome: WrittenOutcome) -> usize {
        self.commits.iter().filter(|commit| commit.outcome == outcome).count()
    }
}
