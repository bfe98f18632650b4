//! What one session tells of how its human works.
//!
//! Signs are made of the turns that are stored and can be made again from them
//! at any time. Only what the human typed and what was done counts: what tools
//! printed, what files say and what sub-agents were told is no sign of anything
//! but the failure that it reports.

use std::collections::BTreeMap;

use chronicle_search::StoredTurn;
use serde::{Deserialize, Serialize};

mod commands;
pub(crate) mod compaction;
mod failures;
mod habits;
mod hard;
mod invoked;
pub(crate) mod lookalike;
mod mended;
mod statements;
mod steps;
mod technologies;
mod topics;

pub(crate) use commands::{commands, is_plain_program};
pub use failures::names_fault;
pub use failures::{Failure, Remedy};
pub use habits::Seen;
pub(crate) use hard::hard_failures;
pub use invoked::{CalledTool, Invoked, checks_called};
pub use mended::{ErrorText, Mended, Nearness, holding_commit, mended};
pub use statements::Statement;
pub use steps::{Act, Step};
pub use technologies::canonical as canonical_technology;
pub use topics::label as topic_label;

/// Changes whenever these rules do: signs of other rules are made again.
pub const SIGNS_VERSION: i64 = 6;

/// What one session tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Signs {
    /// What the human said about how to work.
    pub statements: Vec<Statement>,
    /// Of each topic, what was done, and how often.
    pub habits: BTreeMap<String, BTreeMap<String, Seen>>,
    /// What was done, in its order.
    pub steps: Vec<Step>,
    /// Calls that failed with words of their own.
    pub failures: Vec<Failure>,
    /// Languages, tools and libraries, and how each was used.
    pub technologies: BTreeMap<String, BTreeMap<String, Seen>>,
    /// Programs that ran.
    pub programs: BTreeMap<String, Seen>,
}

impl Signs {
    /// What the turns of a session tell, with the libraries that its edits named.
    #[must_use]
    pub fn of(turns: &[StoredTurn], libraries: &[String]) -> Self {
        let own: Vec<&StoredTurn> = turns.iter().filter(|turn| turn.sub_agent.is_none()).collect();
        Self {
            statements: statements::statements(&own),
            habits: habits::habits(&own),
            steps: steps::steps(&own),
            failures: failures::failures(&own),
            technologies: technologies::technologies(&own, libraries),
            programs: commands::programs(&own),
        }
    }
}

/// A turn for tests: its place in the session is its id.
#[cfg(test)]
pub(crate) fn made(
    id: i64,
    kind: chronicle_search::TurnKind,
    text: &str,
    is_ok: Option<bool>,
    answer: Option<&str>,
) -> StoredTurn {
    StoredTurn {
        id,
        key: id,
        session: chronicle_search::SessionId(1),
        position: id,
        line: u64::try_from(id).unwrap_or_default(),
        name: String::new(),
        kind,
        at: None,
        sub_agent: None,
        speaker: None,
        is_ok,
        text: text.to_owned(),
        answer: answer.map(str::to_owned),
    }
}
