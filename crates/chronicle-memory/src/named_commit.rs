//! A commit, as briefings and handoffs name it.

use schemars::JsonSchema;
use serde::Serialize;

/// A commit that a session made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefCommit {
    /// Its id, as short as git printed it.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}
