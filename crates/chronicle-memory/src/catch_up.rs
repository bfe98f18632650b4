//! The last sessions of a project, each with what came of it.

use chronicle_core::{
    parse_time,
    period::Period,
    thread::{Change, ThreadId},
};
use chronicle_search::NamedSession;
use chronicle_sessions::{DigestOfSession, shortened};
use chronicle_workplace::{Error, error::NotAMomentSnafu};
use jiff::{Span, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    digest::start_of,
    memory::{OpenMemory, Scope},
    named_commit::BriefCommit,
    sessions::look::{Digested, ListedSession},
    threads::Named,
};

/// How many sessions are told of, if nobody says otherwise.
pub const DEFAULT_SESSIONS: usize = 3;

/// How many sessions are told of at most when a time is given.
const MOST_SESSIONS: usize = 50;

/// How many checks that passed are told of one session.
const MOST_PASSED: usize = 3;

/// How much of a kind is told of one session.
const MOST_EACH: usize = 8;

/// The question of catching up.
#[derive(Debug, Clone)]
pub struct CatchUpCommand {
    /// How many sessions; by default 3, or as many as there are since a time.
    pub sessions: Option<usize>,
    /// Since when, as a date or as a span such as `2 days`.
    pub since: Option<String>,
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
    /// Whether all projects are meant.
    pub all: bool,
}

/// The last sessions of a project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CatchUp {
    /// Always `chronicle-catch-up/v1`.
    pub schema: &'static str,
    /// The project; null for all.
    pub project: Option<String>,
    /// The sessions, the latest first.
    pub sessions: Vec<PastSession>,
    /// How many sessions other projects have in that time, where this one has none.
    pub n_elsewhere: usize,
}

/// A session, and what came of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastSession {
    /// The session.
    #[serde(flatten)]
    pub session: ListedSession,
    /// What was asked and what was achieved.
    pub summary: String,
    /// The commits that it made, in order.
    pub commits: Vec<BriefCommit>,
    /// Tests, builds and lints, as they went the last time.
    pub checks: Vec<PastCheck>,
    /// What humans decided, in their words.
    pub decisions: Vec<String>,
    /// The threads that it closed.
    pub closed: Vec<Named>,
    /// The threads that it left open.
    pub left_open: Vec<PastThread>,
    /// How much of all this is left out.
    pub n_left_out: usize,
}

/// A check that ran.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastCheck {
    /// The command.
    pub command: String,
    /// Whether it passed, if that is known.
    pub passed: Option<bool>,
    /// How often it ran.
    pub runs: usize,
}

/// A thread that was left open.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PastThread {
    /// The thread.
    #[serde(flatten)]
    pub thread: Named,
    /// Whether it still is.
    pub is_open_now: bool,
}

impl Memory<'_> {
    /// What was done in the last sessions.
    ///
    /// # Errors
    /// When the time is none, the project is unknown, or session memory cannot be read.
    pub fn catch_up(&self, command: &CatchUpCommand) -> Result<CatchUp, Error> {
        let since = command.since.as_deref().map(|text| self.moment_before(text)).transpose()?;
        let limit =
            command.sessions.unwrap_or(if since.is_some() { MOST_SESSIONS } else { DEFAULT_SESSIONS });
        let mut answer =
            CatchUp { schema: "chronicle-catch-up/v1", project: None, sessions: Vec::new(), n_elsewhere: 0 };
        let Some(memory) = self.open()? else { return Ok(answer) };
        let scope = self.memory_scope(&memory, command.project.as_deref(), command.all)?;
        answer.project = scope.name();
        let mut found = match scope {
            Scope::Unknown => Vec::new(),
            Scope::One(_) | Scope::All => {
                let (which, until) = ((scope.project(), None), self.until());
                memory.store.read(|connection| NamedSession::latest_talks(connection, which, until, limit))?
            }
        };
        found.retain(|talk| since.is_none_or(|since| Some(since) <= talk.record.last));
        for session in &found {
            answer.sessions.push(memory.past(session)?);
        }
        if found.is_empty() && scope != Scope::All {
            answer.n_elsewhere = memory.store.read(|connection| NamedSession::count(connection, since))?;
        }
        Ok(answer)
    }

    /// The moment that a date stands for, or a span of time before now.
    pub fn moment_before(&self, text: &str) -> Result<Timestamp, Error> {
        let text = text.trim();
        let before = || {
            let zone = self.blocks().zone();
            let now = self.workplace.now().to_zoned(zone.clone());
            if let Ok(span) = text.parse::<Span>() {
                return Some(now.checked_sub(span.abs()).ok()?.timestamp());
            }
            let period = Period::named(text, now.date()).map(|period| start_of(period.first(), &zone));
            period.or_else(|| parse_time(text))
        };
        match before() {
            Some(at) => Ok(at),
            None => NotAMomentSnafu { text }.fail(),
        }
    }
}

impl OpenMemory {
    /// What came of a session.
    fn past(&self, session: &NamedSession) -> Result<PastSession, Error> {
        let digest = session.digest();
        let mut past = PastSession {
            session: self.listed(session)?,
            summary: digest.as_ref().map(|digest| digest.summary.clone()).unwrap_or_default(),
            commits: Vec::new(),
            checks: Vec::new(),
            decisions: Vec::new(),
            closed: Vec::new(),
            left_open: Vec::new(),
            n_left_out: 0,
        };
        if let Some(digest) = digest {
            past.checks = checks(&digest);
            past.decisions = digest.decisions;
            past.commits = digest
                .commits
                .into_iter()
                .map(|commit| BriefCommit { commit: commit.id, subject: commit.subject })
                .collect();
        }
        for (id, is_closed) in self.touched(session)? {
            let Some(listed) = self.store.thread(&id)? else { continue };
            let short = self.store.short_thread_id(&id)?;
            let summary = shortened(listed.thread.told(), 160);
            let thread = Named { id: id.0, short, summary };
            if is_closed {
                past.closed.push(thread);
            } else {
                past.left_open.push(PastThread { thread, is_open_now: listed.thread.is_open() });
            }
        }
        past.shorten();
        Ok(past)
    }

    /// The threads that the session told of, and whether it closed them.
    fn touched(&self, session: &NamedSession) -> Result<Vec<(ThreadId, bool)>, Error> {
        let events = self.store.read(|connection| session.thread_events(connection))?;
        let mut touched: Vec<(ThreadId, bool)> = Vec::new();
        for event in events {
            let is_closed = match &event.change {
                Change::Resolved(_) | Change::Dropped(_) => true,
                Change::Opened(_) | Change::Begun | Change::PutBack | Change::Reopened => false,
                _ => continue,
            };
            match touched.iter_mut().find(|(known, _)| *known == event.thread) {
                Some(known) => known.1 = is_closed,
                None => touched.push((event.thread, is_closed)),
            }
        }
        Ok(touched)
    }
}

impl PastSession {
    /// Keeps the last of each kind.
    fn shorten(&mut self) {
        self.n_left_out += self.checks.len().saturating_sub(MOST_EACH);
        self.checks.truncate(MOST_EACH);
        self.n_left_out += last_of(&mut self.commits) + last_of(&mut self.decisions);
        self.n_left_out += last_of(&mut self.closed) + last_of(&mut self.left_open);
    }
}

/// The checks that failed in the end, then those that passed last: what failed on the way was mended.
fn checks(digest: &DigestOfSession) -> Vec<PastCheck> {
    let passed = digest.checks.iter().rev().filter(|check| check.is_passed != Some(false));
    let told = digest.still_failing().chain(passed.take(MOST_PASSED));
    told.map(|check| PastCheck {
        command: shortened(&check.command, 120),
        passed: check.is_passed,
        runs: check.n_runs,
    })
    .collect()
}

/// Keeps the last few of `all`, and tells how many are left out.
fn last_of<T>(all: &mut Vec<T>) -> usize {
    let n_left_out = all.len().saturating_sub(MOST_EACH);
    all.drain(..n_left_out);
    n_left_out
}
