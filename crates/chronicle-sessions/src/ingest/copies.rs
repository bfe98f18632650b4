//! Turns that a session has from another one, under new ids.
//!
//! An agent that forks or resumes a session may write its rows again in a new file, with ids of their own. What stays is
//! when the session began, and when everything was said or done. So a turn that is the same in words, kind and time as
//! one of a session that began at the same moment is that turn.

use std::collections::{HashMap, VecDeque};

use chronicle_search::{NamedSession, ProjectId, SqlResult, StoredTurn, Transaction, TurnRecord};
use jiff::Timestamp;

/// The turns that a session may have from others.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The keys of turns in their order, by what they say and when.
    keys: HashMap<i64, VecDeque<i64>>,
}

impl Copies {
    /// What the session `name`, which began at `first`, may have from sessions of its project.
    pub(crate) fn of(
        tx: &Transaction<'_>,
        (agent, name): (&str, &str),
        project: ProjectId,
        first: Option<Timestamp>,
    ) -> SqlResult<Self> {
        let mut copies = Self::default();
        let Some(first) = first else { return Ok(copies) };
        for other in NamedSession::begun_at(tx, project, first)? {
            if other.record.agent != agent || other.record.name == name {
                continue;
            }
            for turn in StoredTurn::of_session(tx, other.id)? {
                if let Some(likeness) = turn.likeness() {
                    copies.keys.entry(likeness).or_default().push_back(turn.key);
                }
            }
        }
        Ok(copies)
    }

    /// Leaves out turns that the session was found to have before.
    pub(crate) fn without(mut self, known: impl Fn(i64) -> bool) -> Self {
        self.keys.values_mut().for_each(|keys| keys.retain(|key| !known(*key)));
        self
    }

    /// The key of the turn that `record` repeats, each once. Where times are whole seconds, two turns may be alike by
    /// chance: such a turn repeats one only if the turn before it did.
    pub(crate) fn take(&mut self, record: &TurnRecord<'_>, is_repeating: bool) -> Option<i64> {
        if self.keys.is_empty() || !is_repeating && !record.is_exact() {
            return None;
        }
        let keys = self.keys.get_mut(&record.likeness()?)?;
        // The other one may have it under the same id.
        match keys.iter().position(|key| *key == record.key) {
            Some(same) => keys.remove(same),
            None => keys.pop_front(),
        }
    }
}
