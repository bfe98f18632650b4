//! What a transcript says about the whole of its session.

use chronicle_core::is_session_id;
use chronicle_core::redaction::{Removed, for_storage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rows::unix_path::unix_path;
use crate::turn::{Agent, Usage};

/// How many folders and branches of a session are told apart.
const MOST_PLACES: usize = 64;

/// Earlier times are a clock that was never set.
const EARLIEST: i64 = 1_262_304_000; // 2010

/// Later times are no time at all.
const LATEST: i64 = 7_258_118_400; // 2200

/// What a transcript says about the whole of its session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    /// The agent that led it.
    pub agent: Option<Agent>,
    /// The id that the agent gave it.
    pub id: Option<String>,
    /// The session that this one belongs to, if it is a sub-agent's or a fork.
    pub parent_id: Option<String>,
    /// Whether another agent led it: no human typed its prompts.
    pub is_sub_agent: bool,
    /// The folders it worked in, in order of their appearance.
    pub folders: Vec<String>,
    /// The branches it worked on, in order of their appearance.
    pub branches: Vec<String>,
    /// The folder it worked in last.
    pub folder: Option<String>,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// The commit that was checked out when it began, where the agent says so.
    pub head: Option<String>,
    /// Its title, where the agent or the human gave it one.
    pub title: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The version of the agent that wrote the last row.
    pub version: Option<String>,
    /// The earliest time in it that can be one.
    pub first: Option<Timestamp>,
    /// The latest time in it that can be one.
    pub last: Option<Timestamp>,
    /// Whether a program ran it (`claude -p`, an SDK) and nobody ever typed in it, as far as the agent says.
    pub is_headless: bool,
    /// Whether a program ran it at some time, though somebody typed in it, too.
    pub is_partly_headless: bool,
    /// Whether somebody was there at some time, as the agent says.
    pub(crate) is_attended: bool,
    /// How often its beginning was replaced by a summary.
    pub n_compactions: u64,
    /// How many turns it has.
    pub n_turns: u64,
    /// What its replies read and wrote.
    pub usage: Usage,
}

impl Session {
    /// The same without what must not be stored.
    pub(crate) fn for_storage(&self) -> Self {
        let clean = |text: &Option<String>| {
            text.as_deref().map(|text| for_storage(text, &mut Removed::default()).into_owned())
        };
        let clean_id = |id: &Option<String>| match id {
            Some(id) if is_session_id(id) => Some(id.clone()),
            _ => clean(id),
        };
        Self {
            id: clean_id(&self.id),
            parent_id: clean_id(&self.parent_id),
            title: clean(&self.title),
            model: clean(&self.model),
            ..self.clone()
        }
    }

    pub(crate) fn saw(&mut self, at: Option<Timestamp>) {
        let Some(at) = at.filter(|at| (EARLIEST..LATEST).contains(&at.as_second())) else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    pub(crate) fn is_in(&mut self, folder: &str) {
        // Most rows name the folder of the row before.
        if self.folder.as_deref() != Some(folder) {
            arrive(&unix_path(folder), &mut self.folder, &mut self.folders);
        }
    }

    /// Whether it is in a folder of Windows, where no name has a backslash.
    pub(crate) fn is_of_windows(&self) -> bool {
        let drive = self.folder.as_deref().and_then(|folder| folder.strip_prefix("/mnt/"));
        drive.is_some_and(|drive| drive.split('/').next().is_some_and(|drive| drive.len() == 1))
    }

    pub(crate) fn is_on(&mut self, branch: &str) {
        // Most rows name the branch of the row before.
        if self.branch.as_deref() == Some(branch) {
            return;
        }
        arrive(&for_storage(branch, &mut Removed::default()), &mut self.branch, &mut self.branches);
    }
}

/// Notes where the session is now; most rows say that it did not move.
fn arrive(name: &str, last: &mut Option<String>, all: &mut Vec<String>) {
    if name.is_empty() || last.as_deref() == Some(name) {
        return;
    }
    *last = Some(name.to_owned());
    if all.len() < MOST_PLACES && !all.iter().any(|known| known == name) {
        all.push(name.to_owned());
    }
}
