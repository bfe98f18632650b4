//! Corrections of stored claims, appended beside them and never written over them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EntryId;

/// One correction: a line of `refs/notes/chronicle-corrections` (DESIGN section 3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "chronicle correction")]
pub struct Correction {
    /// Names the correction; two lines with one id are one correction.
    pub id: EntryId,
    /// The claim that is corrected.
    pub entry: EntryId,
    /// What is done to the claim.
    pub kind: CorrectionKind,
    /// The field that is wrong, when it is not the whole claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The value that is removed or replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_value: Option<String>,
    /// What takes its place, for an amendment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// Why.
    pub reason: String,
    /// Who says so, in their own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, RFC 3339.
    pub timestamp: String,
}

/// What a correction does to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CorrectionKind {
    /// Casts doubt on it.
    Flag,
    /// Takes a value away.
    Remove,
    /// Puts another value in its place.
    Amend,
}
