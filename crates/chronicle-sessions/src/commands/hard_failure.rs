//! A failure that a colleague would be warned of, with its solution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failure that came again, or took several changes to solve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HardFailure {
    /// What was called.
    pub call: String,
    /// The line that says what went wrong.
    pub message: String,
    /// How often it came.
    pub times: usize,
    /// What the agent said then of it, before it changed something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What was done until the same call worked; none where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
    /// The line of the transcript where it came last.
    pub line: u64,
}

impl HardFailure {
    /// `` `cargo test`: the pool is closed (3×); solved: changed pool.rs ``.
    #[must_use]
    pub fn told(&self) -> String {
        let times = if 1 < self.times { format!(" ({}×)", self.times) } else { String::new() };
        let cause = self.cause.as_deref().map(|cause| format!("; {cause}")).unwrap_or_default();
        let end = match &self.solution {
            Some(solution) => format!("; solved: {solution}"),
            None => "; not solved".to_owned(),
        };
        format!("`{}`: {}{times}{cause}{end}", self.call, self.message)
    }
}
