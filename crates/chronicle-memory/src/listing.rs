//! Lists and counts what sessions left: themselves, commits, pull requests, files, branches, their projects, and what a
//! human turned down in them.
//!
//! A topic narrows the list to sessions that are about it: several turns have most of its words, or the title or the
//! summary has. The name of a file narrows it to sessions that changed the file, if there are any. A period narrows it to
//! those that ended in it.

use std::collections::{BTreeMap, HashSet};

use chronicle_core::{counted, period::Period};
use chronicle_search::{
    Connection, NamedSession, Project, Question, Scope as SearchScope, SessionId, StoredTurn, TurnKind,
};
use chronicle_sessions::{names_fault, shortened};
use chronicle_workplace::{Error, error::NotAPeriodSnafu};
use jiff::Timestamp;
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

/// Turns of more sessions take too long to look through.
const MOST_LOOKED_THROUGH: usize = 300;

/// So many refusals or failures of a session are listed, and so many characters of each.
const MOST_TURNS: usize = 20;
const LONGEST_TURN: usize = 160;

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
    /// Projects that sessions worked in.
    Projects,
    /// What a human turned down, and where one stopped the agent.
    Refusals,
    /// Commands, edits and calls that failed.
    Failures,
}

/// Which sessions of a list come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The latest; about a topic, the best.
    Latest,
    /// Those that took longest, breaks included.
    Longest,
    /// Those in which the agent wrote most.
    MostTokens,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// It changed files that no commit of it holds.
    Uncommitted,
    /// A test, build or lint failed last.
    Failing,
}

impl SessionState {
    /// As in `4 sessions that left changes uncommitted`.
    const fn words(self) -> &'static str {
        match self {
            Self::Uncommitted => "that left changes uncommitted",
            Self::Failing => "with a check that failed last",
        }
    }

    fn is_of(self, session: &NamedSession) -> bool {
        let Some(digest) = session.digest() else { return false };
        match self {
            Self::Uncommitted => {
                !digest.uncommitted.is_empty() || digest.commits.is_empty() && !digest.files.is_empty()
            }
            Self::Failing => digest.still_failing().next().is_some(),
        }
    }
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
            Self::Projects => "project",
            Self::Refusals => "refusal",
            Self::Failures => "failure",
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
    /// How they ended; `None` for any.
    pub state: Option<SessionState>,
    /// Which sessions come first.
    pub order: Order,
    /// Whether tokens are counted, too: that reads the digest of every session.
    pub counts_tokens: bool,
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
    /// What is listed: `session`, `commit`, `pull request`, `file`, `branch`, `project`, `refusal` or `failure`.
    pub listed: &'static str,
    /// What the sessions are about; empty for all.
    pub topic: String,
    /// How the sessions ended, as in `that left changes uncommitted`; empty for any.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub state: &'static str,
    /// When the sessions ended: `2026-03-09`, `2026-W11`, `2026-03` or `2026-03-01..2026-03-09`; null for any time.
    pub period: Option<String>,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// How many there are.
    pub total: usize,
    /// In how many sessions.
    pub sessions: usize,
    /// How often a human spoke in all of them, of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<u64>,
    /// How many tokens all of them wrote in replies, of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
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
    /// When that ended; of a refusal, when it was.
    pub ended: Option<String>,
    /// How many minutes the session took, of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// How often a human spoke, of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<u64>,
    /// How many tokens its replies have, of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The model that answered last, of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Listing {
    /// The answer in one sentence: `3 pull requests in 2 sessions`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let n_listed = match (self.listed, self.total) {
            ("branch", n) if n != 1 => format!("{n} branches"),
            (listed, n) => counted(n, listed),
        };
        let mut sentence = match self.listed {
            "session" => n_listed,
            _ => format!("{n_listed} in {}", counted(self.sessions, "session")),
        };
        if !self.state.is_empty() {
            sentence = format!("{sentence} {}", self.state);
        }
        sentence
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
            state: command.state.map_or("", SessionState::words),
            period: period.map(Period::name),
            project: None,
            total: 0,
            sessions: 0,
            prompts: None,
            tokens: None,
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
        sessions.retain(|session| command.state.is_none_or(|state| state.is_of(session)));
        sessions.sort_by_key(|session| std::cmp::Reverse(session.record.last));
        let of_file = memory.sessions_of_file(&command.topic)?;
        let has_name = |session: &NamedSession| has_name(session, &command.topic);
        if sessions.iter().any(has_name) {
            sessions.retain(has_name);
        } else if sessions.iter().any(|session| of_file.contains(&session.id)) {
            sessions.retain(|session| of_file.contains(&session.id));
        } else if !question.is_empty() {
            let about = memory.sessions_about(&mut question, &scope)?;
            sessions.retain(|session| about.contains(&session.id));
            sessions.sort_by_key(|session| about.iter().position(|id| *id == session.id));
        }
        let took = |session: &NamedSession| {
            session.record.first.zip(session.record.last).map(|(first, last)| last.duration_since(first))
        };
        match command.order {
            Order::Latest => {}
            Order::Longest => sessions.sort_by_key(|session| std::cmp::Reverse(took(session))),
            Order::MostTokens => sessions.sort_by_cached_key(|session| {
                std::cmp::Reverse(session.digest().map(|digest| digest.usage.output))
            }),
        }
        if matches!(command.listed, Listed::Refusals | Listed::Failures)
            && MOST_LOOKED_THROUGH < sessions.len()
        {
            sessions.truncate(MOST_LOOKED_THROUGH);
            listing.state = "of the latest 300 that were looked through";
        }
        let mut rows = rows(&memory, command.listed, &sessions, &mut listing.sessions)?;
        listing.total = rows.len();
        if command.listed == Listed::Sessions {
            listing.prompts = Some(sessions.iter().map(|session| session.record.n_prompts).sum());
            if command.counts_tokens {
                for (row, session) in rows.iter_mut().zip(&sessions) {
                    row.tokens = session.digest().map(|digest| digest.usage.output);
                }
                listing.tokens = Some(rows.iter().filter_map(|row| row.tokens).sum());
            }
        }
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

/// Whether the branch of a session has a name that a topic is: `ent-95` of `ent-95-readmes`.
fn has_name(session: &NamedSession, topic: &str) -> bool {
    const SHORTEST: usize = 4;
    let is_name =
        SHORTEST <= topic.len() && topic.contains(['-', '_', '/']) && !topic.contains(char::is_whitespace);
    let folder = session.record.folder.to_lowercase();
    let (branch, topic) =
        (session.record.branch.as_deref().unwrap_or_default().to_lowercase(), topic.to_lowercase());
    let is_end = |rest: Option<char>| rest.is_none_or(|c| !c.is_alphanumeric());
    // Branches and home folders begin with the name of who works there.
    let is_person = !topic.contains(char::is_whitespace)
        && SHORTEST <= topic.len()
        && (branch.starts_with(&format!("{topic}/"))
            || ["/home/", "/users/"].iter().any(|homes| folder.starts_with(&format!("{homes}{topic}/"))));
    is_person
        || is_name
            && branch.match_indices(&topic).any(|(at, name)| {
                is_end(branch[..at].chars().next_back()) && is_end(branch[at + name.len()..].chars().next())
            })
}

/// What is told of a session as a whole.
fn account(session: &NamedSession) -> String {
    let summary = session.digest().map(|digest| digest.summary).unwrap_or_default();
    format!("{}\n{summary}", session.record.title)
}

/// The rows of a list over sessions, in their order; counts the sessions that have any.
fn rows(
    memory: &OpenMemory,
    listed: Listed,
    sessions: &[NamedSession],
    n_sessions: &mut usize,
) -> Result<Vec<ListedRow>, Error> {
    let mut rows: Vec<ListedRow> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        let is_alone = matches!(listed, Listed::Sessions | Listed::Refusals | Listed::Failures);
        let record = &session.record;
        let all = of_session(memory, listed, session)?;
        *n_sessions += usize::from(!all.is_empty());
        for found in all {
            match known.get(&found.text).filter(|_| !is_alone) {
                Some(at) => rows[*at].times += found.times,
                None => {
                    known.insert(found.text.clone(), rows.len());
                    let is_session = listed == Listed::Sessions;
                    let took = record.first.zip(record.last).map(|(first, last)| last.duration_since(first));
                    let minutes = took.and_then(|took| u64::try_from(took.as_mins()).ok());
                    rows.push(ListedRow {
                        text: found.text,
                        times: found.times,
                        session: record.name.clone(),
                        title: record.title.clone(),
                        ended: found.at.or(record.last).map(|at| at.to_string()),
                        minutes: minutes.filter(|_| is_session),
                        prompts: is_session.then_some(record.n_prompts),
                        tokens: None,
                        model: record.model.clone().filter(|_| is_session),
                    });
                }
            }
        }
    }
    if matches!(listed, Listed::Files | Listed::Projects) {
        rows.sort_by_key(|row| std::cmp::Reverse(row.times));
    }
    Ok(rows)
}

/// Something of a session that is listed.
struct OfSession {
    text: String,
    times: u64,
    /// When it was, if that is not when the session ended.
    at: Option<Timestamp>,
}

impl OfSession {
    fn new(text: String, times: u64) -> Self {
        Self { text, times, at: None }
    }
}

/// What one session has of what is listed.
fn of_session(memory: &OpenMemory, listed: Listed, session: &NamedSession) -> Result<Vec<OfSession>, Error> {
    let digest = || session.digest();
    let once = |text: String| OfSession::new(text, 1);
    Ok(match listed {
        Listed::Sessions => vec![once(session.record.title.clone())],
        Listed::Commits => digest()
            .map(|digest| digest.commits)
            .unwrap_or_default()
            .into_iter()
            .map(|commit| once(format!("{} {}", commit.id, commit.subject).trim().to_owned()))
            .collect(),
        Listed::PullRequests => {
            digest().map(|digest| digest.pull_requests).unwrap_or_default().into_iter().map(once).collect()
        }
        Listed::Files => {
            let files = memory.store.read(|connection| session.files(connection))?;
            files.into_iter().map(|(path, times)| OfSession::new(path, times)).collect()
        }
        Listed::Branches => session.record.branch.iter().cloned().map(once).collect(),
        Listed::Projects => {
            let project =
                memory.store.read(|connection| Project::by_id(connection, session.record.project))?;
            project.into_iter().map(|project| once(project.name)).collect()
        }
        Listed::Refusals => {
            let turns = turns_of(memory, session, &[TurnKind::Interruption], MOST_TURNS)?;
            let one = |turn: StoredTurn| OfSession {
                text: shortened(&turn.text, LONGEST_TURN),
                times: 1,
                at: turn.at,
            };
            turns.into_iter().map(one).collect()
        }
        Listed::Failures => {
            let kinds = [TurnKind::Command, TurnKind::Tool, TurnKind::Edit, TurnKind::Error];
            let turns = turns_of(memory, session, &kinds, usize::MAX)?;
            let has_failed = |turn: &StoredTurn| turn.is_ok == Some(false) || turn.kind == TurnKind::Error;
            let one = |turn: StoredTurn| {
                let answer = turn.answer.as_deref().and_then(telling_line).unwrap_or_default();
                let text = format!("{} → {answer}", shortened(&turn.text, LONGEST_TURN / 2));
                let text = if answer.is_empty() { turn.text } else { text };
                OfSession { text: shortened(&text, LONGEST_TURN), times: 1, at: turn.at }
            };
            turns.into_iter().filter(has_failed).take(MOST_TURNS).map(one).collect()
        }
    })
}

/// The latest turns of some kinds in a session.
fn turns_of(
    memory: &OpenMemory,
    session: &NamedSession,
    kinds: &[TurnKind],
    most: usize,
) -> Result<Vec<StoredTurn>, Error> {
    let read =
        |connection: &Connection| StoredTurn::before(connection, session.id, (None, None), kinds, most);
    Ok(memory.store.read(read)?)
}

/// The line of an output that names what is wrong; the first one where none does.
fn telling_line(answer: &str) -> Option<&str> {
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().find(|line| names_fault(line)).or_else(|| lines.next())
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
                state: "",
                period: None,
                project: None,
                total,
                sessions: 2,
                prompts: None,
                tokens: None,
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
