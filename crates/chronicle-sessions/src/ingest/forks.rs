//! Which of two sessions is a fork of the other.
//!
//! A fork begins with the turns of the session that it comes from, under their ids or new ones. Nothing in Claude Code's
//! rows says which was first, and the transcripts may be read in any order. So what both tell is compared, and nothing
//! else: whichever is read later, the answer is the same.

use std::collections::HashSet;

use chronicle_search::{Elsewhere, NamedSession, SessionId, SqlResult, StoredTurn, Transaction};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How many shared turns are remembered; with more, everything stays as it is.
const MOST_SHARED: usize = 200_000;

/// What a session that is being read shares with others.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shared {
    with: Vec<With>,
    n_turns: usize,
    own: Own,
}

/// What it shares with one of them.
#[derive(Debug, Serialize, Deserialize)]
struct With {
    #[serde(with = "crate::ingest::stored::session")]
    session: SessionId,
    keys: HashSet<i64>,
    /// The lines of the first and the last shared turn, here and there.
    here: (u64, u64),
    there: (u64, u64),
    /// Turns behind those, shared with a third session: this one does not have them.
    since: Own,
    /// Whether a turn says something else here: then someone edited this file, and what is known stays.
    is_edited: bool,
}

/// The turns that only one of two sessions has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Own {
    is_any: bool,
    first: Option<Timestamp>,
}

impl Own {
    fn with(mut self, other: Self) -> Self {
        if other.is_any {
            self.note(other.first);
        }
        self
    }

    fn note(&mut self, at: Option<Timestamp>) {
        self.is_any = true;
        self.first = match (self.first, at) {
            (Some(first), Some(at)) => Some(first.min(at)),
            (first, at) => first.or(at),
        };
    }
}

impl Shared {
    /// Notes a turn of the session, which may belong to another one.
    pub(crate) fn note(&mut self, key: i64, line: u64, at: Option<Timestamp>, elsewhere: Option<Elsewhere>) {
        let Some(elsewhere) = elsewhere else { return self.own.note(at) };
        self.n_turns += 1;
        if MOST_SHARED < self.n_turns {
            return self.with.clear();
        }
        let known = self.with.iter().position(|with| with.session == elsewhere.session);
        let known = known.unwrap_or_else(|| {
            let (here, there) = ((line, line), (elsewhere.line, elsewhere.line));
            let since = Own::default();
            self.with.push(With {
                session: elsewhere.session,
                keys: HashSet::new(),
                here,
                there,
                since,
                is_edited: false,
            });
            self.with.len() - 1
        });
        for (index, with) in self.with.iter_mut().enumerate() {
            if index == known {
                with.since = Own::default();
            } else {
                with.since.note(at);
            }
        }
        let with = &mut self.with[known];
        with.keys.insert(key);
        with.is_edited |= !elsewhere.is_same;
        with.here = (with.here.0.min(line), with.here.1.max(line));
        with.there = (with.there.0.min(elsewhere.line), with.there.1.max(elsewhere.line));
    }

    /// Whether a turn of another session, by its key, was found to be shared.
    pub(crate) fn has(&self, key: i64) -> bool {
        self.with.iter().any(|with| with.keys.contains(&key))
    }

    /// The sessions that hold turns which happened in this one, `name`, first.
    pub(crate) fn forks(
        &self,
        tx: &Transaction<'_>,
        name: &str,
        parent: Option<&str>,
    ) -> SqlResult<Vec<SessionId>> {
        let mut forks = Vec::new();
        for with in self.with.iter().filter(|with| !with.is_edited) {
            let Some(other) = NamedSession::by_id(tx, with.session)? else { continue };
            let mut of_other = Own::default();
            let times = StoredTurn::times(tx, with.session)?;
            times
                .into_iter()
                .filter(|(key, _)| !with.keys.contains(key))
                .for_each(|(_, at)| of_other.note(at));
            let is_first = match (parent, other.record.parent.as_deref()) {
                (Some(parent), _) if parent == other.record.name => false,
                (_, Some(parent)) if parent == name => true,
                _ => {
                    with.rank(self.own.with(with.since), with.here, name)
                        < with.rank(of_other, with.there, &other.record.name)
                }
            };
            if is_first {
                forks.push(with.session);
            }
        }
        Ok(forks)
    }
}

impl With {
    /// What tells the first of two sessions, the weightiest first: it has nothing that the other one lacks; it has
    /// rows among the shared ones that no fork repeats; it went on earlier. The name settles what nothing tells.
    fn rank<'n>(
        &self,
        own: Own,
        (first, last): (u64, u64),
        name: &'n str,
    ) -> (bool, std::cmp::Reverse<u64>, bool, Option<Timestamp>, &'n str) {
        (own.is_any, std::cmp::Reverse(last - first), own.first.is_none(), own.first, name)
    }
}
