//! Handoffs as they are listed.

use schemars::JsonSchema;
use serde::Serialize;

/// A handoff as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedHandoff {
    /// Its id: a prompt that names it accepts it.
    pub id: String,
    /// The agent that is to go on; null for any.
    pub to: Option<String>,
    /// What became of it.
    pub state: HandoffState,
    /// When it was made.
    pub at: String,
    /// When it was accepted.
    pub accepted: Option<String>,
    /// The session that accepted it: its agent and id; empty when that was forgotten.
    pub accepted_by: Option<String>,
    /// The session whose work it is.
    pub session: String,
    /// What that was about.
    pub title: String,
}

/// What became of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoffState {
    /// It waits for an agent.
    Open,
    /// A session goes on with it.
    Accepted,
    /// No session took it over within seven days.
    Expired,
}
