//! How a session is named: by the beginning of its id.

use chronicle_search::{NamedSession, Project};
use chronicle_workplace::{Error, error::UnknownSessionSnafu};
use snafu::ensure;

use crate::memory::OpenMemory;

/// How many characters of a session's id are shown, where these tell it from others.
const SHORT: usize = 8;

/// The beginning of a session's id, which is enough to name it mostly.
#[must_use]
pub fn short_session(name: &str) -> &str {
    // Sub-agents are told apart by what comes after their session.
    if name.contains('/') {
        return name;
    }
    // `OpenCode` puts the same word before all ids.
    let word = name.find('_').map_or(0, |at| at + 1);
    &name[..name.floor_char_boundary(word + SHORT)]
}

impl OpenMemory {
    /// The session that `start` begins the id of.
    pub(crate) fn session(&self, start: &str) -> Result<NamedSession, Error> {
        ensure!(!start.is_empty(), UnknownSessionSnafu { reason: "the id of the session is empty" });
        let mut found = self.store.read(|connection| NamedSession::by_start(connection, start, 20))?;
        if let Some(exact) = found.iter().position(|session| session.record.name == start) {
            return Ok(found.swap_remove(exact));
        }
        // The sub-agents of a session have names that begin with its own.
        found.retain(|session| !session.record.is_sub_agent);
        match found.len() {
            0 => {
                let reason = format!("session memory has no session `{}`", start.escape_debug());
                UnknownSessionSnafu { reason }.fail()
            }
            1 => Ok(found.remove(0)),
            _ => {
                let names: Vec<&str> = found.iter().map(|session| session.record.name.as_str()).collect();
                let reason = format!(
                    "several sessions begin with `{}`: {}",
                    start.escape_debug(),
                    names[..names.len().min(5)].join(", ")
                );
                UnknownSessionSnafu { reason }.fail()
            }
        }
    }

    /// How the project of a session is called.
    pub(crate) fn project_name(&self, session: &NamedSession) -> Result<String, Error> {
        let project = self.store.read(|connection| Project::by_id(connection, session.record.project))?;
        Ok(project.map(|project| project.name).unwrap_or_default())
    }
}
