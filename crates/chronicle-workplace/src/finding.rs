//! What one look at a part of the house came to.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Error;

/// What one look came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How it is.
    pub health: Health,
    /// What was seen.
    pub seen: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Wrong.
    Problem,
    /// It was wrong, and was mended now.
    Mended,
}

impl Finding {
    /// All is well.
    #[must_use]
    pub fn ok(check: &'static str, seen: impl Into<String>) -> Self {
        Self { check, health: Health::Ok, seen: seen.into(), mend: None }
    }

    /// Something worth knowing, and what could be done about it.
    #[must_use]
    pub fn note(check: &'static str, seen: impl Into<String>, mend: &str) -> Self {
        Self { check, health: Health::Note, seen: seen.into(), mend: Some(mend.to_owned()) }
    }

    /// Something wrong, and how to mend it.
    #[must_use]
    pub fn problem(check: &'static str, seen: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { check, health: Health::Problem, seen: seen.into(), mend: Some(mend.into()) }
    }

    /// A problem that `mend` does away with, if that is wanted.
    #[must_use]
    pub fn mendable(mut self, is_wanted: bool, mend: impl FnOnce() -> Result<(), Error>) -> Self {
        if is_wanted {
            match mend() {
                Ok(()) => (self.health, self.mend) = (Health::Mended, None),
                Err(error) => self.seen = format!("{} (fixing it failed: {error})", self.seen),
            }
        }
        self
    }
}
