//! Lists and counts what sessions left: themselves, commits, pull requests, files, branches.
//!
//! A topic narrows the list to sessions that are about it: several turns have most of its words, or the title or the
//! summary has. The name of a file narrows it to sessions that changed the file, if there are any. A period narrows it to
//! those that ended in it.

use std::collections::{BTreeMap, HashSet};

use chronicle_core::{counted, period::Period};
use chronicle_search::{NamedSession, Question, Scope as SearchScope, SessionId};
use chronicle_workplace::{Error, error::NotAPeriodSnafu};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    find::{n_words, told_text},
    memory::{OpenMemory, Scope},
    sessions::look::Digested,
};

/// How many turns about a topic are looked at.
const LOOKED_AT: usize = 400;

/// Of so many words of a topic, in parts, a turn has to have one.
const LEAST_SHARE: (usize, usize) = (2, 3);

/// So many turns of a session have them: one alone only mentions the topic.
const LEAST_TURNS: usize = 3;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Sessions.
    Sessions,
    /// Commits that sessions made.
    Commits,
    /// Pull requests that belong to sessions.
    PullRequests,
    /// Files that sessions changed.
    Files,
    /// Branches that sessions worked on.
    Branches,
}

impl Listed {
    /// What one of them is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "session",
            Self::Commits => "commit",
            Self::PullRequests => "pull request",
            Self::Files => "file",
            Self::Branches => "branch",
        }
    }
}

/// What to list, and of which sessions.
#[derive(Debug, Clone)]
pub struct ListCommand {
    /// What is listed.
    pub listed: Listed,
    /// What the sessions are about; all where it has no words.
    pub topic: String,
    /// When they ended, as [`Period::named`] takes it.
    pub period: Option<String>,
    /// In this project instead of the current one.
    pub project: Option<String>,
    /// In every project.
    pub is_all: bool,
    /// At most so many rows.
    pub limit: usize,
}

/// A list, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listing {
    /// Always `chronicle-listing/v1`.
    pub schema: &'static str,
    /// What is listed: `session`, `commit`, `pull request`, `file` or `branch`.
    pub listed: &'static str,
    /// What the sessions are about; empty for all.
    pub topic: String,
    /// When the sessions ended: `2026-03-09`, `2026-W11`, `2026-03` or `2026-03-01..2026-03-09`; null for any time.
    pub period: Option<String>,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// How many there are.
    pub total: usize,
    /// In how many sessions.
    pub sessions: usize,
    /// The rows, the latest first; about a topic those of the best session.
    pub rows: Vec<ListedRow>,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedRow {
    /// The title, the commit, the address, the path or the name.
    pub text: String,
    /// How often it came.
    pub times: u64,
    /// The latest session that has it.
    pub session: String,
    /// What that was about.
    pub title: String,
    /// When that ended.
    pub ended: Option<String>,
}

impl Listing {
    /// The answer in one sentence: `3 pull requests in 2 sessions`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let n_listed = match (self.listed, self.total) {
            ("branch", n) if n != 1 => format!("{n} branches"),
            (listed, n) => counted(n, listed),
        };
        if self.listed == "session" {
            n_listed
        } else {
            format!("{n_listed} in {}", counted(self.sessions, "session"))
        }
    }
}

impl Memory<'_> {
    /// Lists and counts what sessions left.
    ///
    /// # Errors
    /// When the period is none, the project is not known, or session memory cannot be read.
    pub fn listing(&self, command: &ListCommand) -> Result<Listing, Error> {
        let zone = self.blocks().zone();
        let today = self.workplace.now().to_zoned(zone.clone()).date();
        let period = match &command.period {
            Some(text) => match Period::named(text, today) {
                Some(period) => Some(period),
                None => return NotAPeriodSnafu { text }.fail(),
            },
            None => None,
        };
        let mut question = Question::new(&command.topic);
        let mut listing = Listing {
            schema: "chronicle-listing/v1",
            listed: command.listed.name(),
            topic: if question.is_empty() { String::new() } else { command.topic.clone() },
            period: period.map(Period::name),
            project: None,
            total: 0,
            sessions: 0,
            rows: Vec::new(),
        };
        let Some(memory) = self.open()? else { return Ok(listing) };
        let scope = self.memory_scope(&memory, command.project.as_deref(), command.is_all)?;
        if let Scope::One(project) = &scope {
            listing.project = Some(project.name.clone());
        }
        if scope == Scope::Unknown {
            return Ok(listing);
        }
        let mut sessions = match period {
            Some(period) => memory.sessions_of(period, &zone, self.until())?,
            None => memory
                .store
                .read(|connection| NamedSession::latest(connection, scope.project(), None, usize::MAX))?,
        };
        sessions.retain(|session| {
            scope.project().is_none_or(|project| session.record.project == project)
                && (0 < session.record.n_prompts || !session.record.title.is_empty())
        });
        sessions.sort_by_key(|session| std::cmp::Reverse(session.record.last));
        let of_file = memory.sessions_of_file(&command.topic)?;
        if sessions.iter().any(|session| of_file.contains(&session.id)) {
            sessions.retain(|session| of_file.contains(&session.id));
        } else if !question.is_empty() {
            let about = memory.sessions_about(&mut question, &scope)?;
            sessions.retain(|session| about.contains(&session.id));
            sessions.sort_by_key(|session| about.iter().position(|id| *id == session.id));
        }
        let rows = rows(&memory, command.listed, &sessions)?;
        listing.total = rows.len();
        listing.sessions = sessions.len();
        listing.rows = rows.into_iter().take(command.limit).collect();
        Ok(listing)
    }
}

impl OpenMemory {
    /// The sessions that changed the file that a topic names; none where it names no file.
    fn sessions_of_file(&self, topic: &str) -> Result<HashSet<SessionId>, Error> {
        if topic.contains(char::is_whitespace) || !topic.contains(['.', '/']) {
            return Ok(HashSet::new());
        }
        Ok(self.store.read(|connection| NamedSession::that_changed(connection, topic))?)
    }

    /// The sessions that are about a topic, that with the best turn first.
    fn sessions_about(&self, question: &mut Question, scope: &Scope) -> Result<Vec<SessionId>, Error> {
        let scope = SearchScope { project: scope.project(), ..SearchScope::default() };
        let hits = self.found(question, &scope, LOOKED_AT)?;
        let least = (question.n_words() * LEAST_SHARE.0).div_ceil(LEAST_SHARE.1).max(1);
        let mut counted: Vec<(SessionId, usize)> = Vec::new();
        for hit in hits {
            let has_words = usize::from(least <= n_words(question, &told_text(&hit.turn)));
            match counted.iter_mut().find(|(session, _)| *session == hit.turn.session) {
                Some((_, n_turns)) => *n_turns += has_words,
                None => counted.push((hit.turn.session, has_words)),
            }
        }
        let mut about = Vec::new();
        for (id, n_turns) in counted {
            let session = || self.store.read(|connection| NamedSession::by_id(connection, id));
            if LEAST_TURNS <= n_turns
                || session()?.is_some_and(|session| least <= n_words(question, &account(&session)))
            {
                about.push(id);
            }
        }
        Ok(about)
    }
}

/// What is told of a session as a whole.
fn account(session: &NamedSession) -> String {
    let summary = session.digest().map(|digest| digest.summary).unwrap_or_default();
    format!("{}\n{summary}", session.record.title)
}

/// The rows of a list over sessions, in their order.
fn rows(memory: &OpenMemory, listed: Listed, sessions: &[NamedSession]) -> Result<Vec<ListedRow>, Error> {
    let mut rows: Vec<ListedRow> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        for (text, times) in of_session(memory, listed, session)? {
            match known.get(&text).filter(|_| listed != Listed::Sessions) {
                Some(at) => rows[*at].times += times,
                None => {
                    known.insert(text.clone(), rows.len());
                    rows.push(ListedRow {
                        text,
                        times,
                        session: session.record.name.clone(),
                        title: session.record.title.clone(),
                        ended: session.record.last.map(|at| at.to_string()),
                    });
                }
            }
        }
    }
    if listed == Listed::Files {
        rows.sort_by_key(|row| std::cmp::Reverse(row.times));
    }
    Ok(rows)
}

/// What one session has of what is listed.
fn of_session(
    memory: &OpenMemory,
    listed: Listed,
    session: &NamedSession,
) -> Result<Vec<(String, u64)>, Error> {
    let digest = || session.digest();
    Ok(match listed {
        Listed::Sessions => vec![(session.record.title.clone(), 1)],
        Listed::Commits => digest()
            .map(|digest| digest.commits)
            .unwrap_or_default()
            .into_iter()
            .map(|commit| (format!("{} {}", commit.id, commit.subject).trim().to_owned(), 1))
            .collect(),
        Listed::PullRequests => digest()
            .map(|digest| digest.pull_requests)
            .unwrap_or_default()
            .into_iter()
            .map(|address| (address, 1))
            .collect(),
        Listed::Files => memory.store.read(|connection| session.files(connection))?,
        Listed::Branches => session.record.branch.iter().map(|branch| (branch.clone(), 1)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_how_many_there_are() {
        let check = |listed: Listed, total: usize, expected: &str| {
            let listing = Listing {
                schema: "chronicle-listing/v1",
                listed: listed.name(),
                topic: String::new(),
                period: None,
                project: None,
                total,
                sessions: 2,
                rows: Vec::new(),
            };
            assert_eq!(listing.sentence(), expected);
        };
        check(Listed::Sessions, 2, "2 sessions");
        check(Listed::PullRequests, 1, "1 pull request in 2 sessions");
        check(Listed::Branches, 0, "0 branches in 2 sessions");
        check(Listed::Files, 12, "12 files in 2 sessions");
    }
}
