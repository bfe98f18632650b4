//! What was done in a day, a week, a month or any span of days.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::{
    period::Period,
    thread::{Change, ThreadId},
};
use chronicle_search::{NamedSession, Project, ProjectId};
use chronicle_sessions::{DigestOfSession, shortened};
use chronicle_workplace::{Error, error::NotAPeriodSnafu};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    named_commit::BriefCommit,
    sessions::look::Digested,
    wordings::{Wordings, Words},
};

/// How many of each kind are told of one project, and of two or more together.
const MOST_EACH: usize = 12;
const MOST_EACH_TOGETHER: usize = 60;
/// How many sessions are told of one project, the most important first, and of two or more together.
const MOST_SESSIONS: usize = 40;
const MOST_SESSIONS_TOGETHER: usize = 80;
/// How many projects are told of; others are named.
const MOST_PROJECTS: usize = 12;
/// The longest that is quoted in one line.
const LONGEST_QUOTE: usize = 240;

/// The question of what was done.
#[derive(Debug, Clone)]
pub struct DigestCommand {
    /// The period, as [`Period::named`] takes it.
    pub period: String,
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
    /// Whether all projects are meant.
    pub all: bool,
}

/// What was done in a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Digest {
    /// Always `chronicle-digest/v1`.
    pub schema: &'static str,
    /// The period: `2026-03-09`, `2026-W11`, `2026-03` or `2026-03-01..2026-03-09`.
    pub period: String,
    /// Its first day.
    pub first: String,
    /// Its last day.
    pub last: String,
    /// How many sessions ended in it.
    pub sessions: usize,
    /// How often humans spoke in them.
    pub prompts: u64,
    /// How many commits they made.
    pub commits: usize,
    /// How many files they changed.
    pub files: usize,
    /// How many days had a session.
    pub days: usize,
    /// The projects, the one with most sessions first.
    pub projects: Vec<ProjectDigest>,
    /// Those that there was no room for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProject>,
    /// The same in the words of a model, where somebody chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worded: Option<Words>,
}

/// A project that is only named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherProject {
    /// How it is called.
    pub project: String,
    /// How many sessions ended.
    pub n_sessions: usize,
}

/// What was done in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProjectDigest {
    /// How it is called.
    pub project: String,
    /// How many sessions ended.
    pub n_sessions: usize,
    /// The sessions, in order.
    pub sessions: Vec<DigestedSession>,
    /// What humans decided, in their words.
    pub decisions: Vec<String>,
    /// Checks that failed in the end.
    pub failing: Vec<String>,
    /// Files that were changed, the most changed first.
    pub files: Vec<String>,
    /// Languages and tools, the most used first.
    pub technologies: Vec<String>,
    /// Threads that were closed.
    pub closed: Vec<DigestedThread>,
    /// Threads that came up and were left open.
    pub opened: Vec<DigestedThread>,
    /// How much more of all this there is.
    pub n_left_out: usize,
}

/// A session in a digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DigestedSession {
    /// Its id.
    pub session: String,
    /// The day on which it ended.
    pub day: String,
    /// The branch.
    pub branch: Option<String>,
    /// What it was about.
    pub title: String,
    /// What was asked and what was achieved.
    pub summary: String,
    /// From 1 to 5.
    pub importance: u8,
    /// The commits that it made.
    pub commits: Vec<BriefCommit>,
}

/// A thread in a digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct DigestedThread {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub summary: String,
}

impl Memory<'_> {
    /// What was done in a period.
    ///
    /// # Errors
    /// When the period is none, the project is unknown, or session memory cannot be read.
    pub fn digest(&self, command: &DigestCommand) -> Result<Digest, Error> {
        let today = self.workplace.now().to_zoned(self.blocks().zone()).date();
        let Some(period) = Period::named(&command.period, today) else {
            return NotAPeriodSnafu { text: &command.period }.fail();
        };
        let Some(memory) = self.open()? else { return Ok(Digest::empty(period)) };
        let scope = self.memory_scope(&memory, command.project.as_deref(), command.all)?;
        if scope == Scope::Unknown {
            return Ok(Digest::empty(period));
        }
        let mut sessions = memory.sessions_of(period, &self.blocks().zone(), self.until())?;
        if let Some(project) = scope.project() {
            sessions.retain(|session| session.record.project == project);
        }
        let digest = memory.digest_of(period, &sessions, &self.blocks().zone())?;
        let worded = Wordings::kept(&self.workplace.memory_home()?).of(&digest.text()).cloned();
        Ok(Digest { worded, ..digest })
    }
}

/// The day on which something happened, where the user is.
pub(crate) fn day_of(at: Timestamp, zone: &TimeZone) -> Date {
    at.to_zoned(zone.clone()).date()
}

/// The moment at which a day begins, where the user is; a day that a zone left out begins when the next one does.
pub(crate) fn start_of(day: Date, zone: &TimeZone) -> Timestamp {
    let start = day.to_zoned(zone.clone()).ok().and_then(|midnight| midnight.start_of_day().ok());
    start.map_or(if day < Date::ZERO { Timestamp::MIN } else { Timestamp::MAX }, |start| start.timestamp())
}

impl OpenMemory {
    /// The sessions that humans led and that ended in a period, in order.
    pub(crate) fn sessions_of(
        &self,
        period: Period,
        zone: &TimeZone,
        until: Timestamp,
    ) -> Result<Vec<NamedSession>, Error> {
        let from = start_of(period.first(), zone);
        let to = period.last().tomorrow().map_or(Timestamp::MAX, |next| start_of(next, zone));
        let to = to.min(until);
        Ok(self.store.read(|connection| NamedSession::ended_between(connection, from, to))?)
    }

    /// The digest of sessions, which depends on nothing but what is stored of them.
    pub(crate) fn digest_of(
        &self,
        period: Period,
        sessions: &[NamedSession],
        zone: &TimeZone,
    ) -> Result<Digest, Error> {
        let mut digest = Digest::empty(period);
        let mut by_project: BTreeMap<ProjectId, Vec<(&NamedSession, Option<DigestOfSession>)>> =
            BTreeMap::new();
        let (mut files, mut days) = (BTreeSet::new(), BTreeSet::new());
        for session in sessions {
            let digested = session.digest();
            digest.prompts += session.record.n_prompts;
            days.extend(session.record.last.map(|last| day_of(last, zone)));
            if let Some(digested) = &digested {
                digest.commits += digested.commits.len();
                files.extend(digested.files.iter().map(|file| (session.record.project, file.path.clone())));
            }
            by_project.entry(session.record.project).or_default().push((session, digested));
        }
        digest.sessions = sessions.len();
        digest.files = files.len();
        digest.days = days.len();
        let mut projects = Vec::new();
        for (project, sessions) in by_project {
            let name = self.store.read(|connection| Project::by_id(connection, project))?;
            projects.push((name.map(|project| project.name).unwrap_or_default(), sessions));
        }
        projects.sort_by(|(left_name, left), (right_name, right)| {
            right.len().cmp(&left.len()).then_with(|| left_name.cmp(right_name))
        });
        let others = projects.split_off(MOST_PROJECTS.min(projects.len()));
        let counts: Vec<usize> = projects.iter().map(|(_, sessions)| sessions.len()).collect();
        let room = Room::of(&counts);
        for (name, sessions) in projects {
            digest.projects.push(self.project_digest(name, &sessions, room, zone)?);
        }
        let named =
            |(project, sessions): (String, Vec<_>)| OtherProject { project, n_sessions: sessions.len() };
        digest.others = others.into_iter().map(named).collect();
        Ok(digest)
    }

    fn project_digest(
        &self,
        project: String,
        sessions: &[(&NamedSession, Option<DigestOfSession>)],
        room: Room,
        zone: &TimeZone,
    ) -> Result<ProjectDigest, Error> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut technologies: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut decisions, mut failing) = (Vec::new(), BTreeMap::new());
        let (mut closed, mut opened) = (BTreeSet::new(), BTreeSet::new());
        for (session, digest) in sessions {
            if let Some(digest) = digest {
                for file in &digest.files {
                    *counts.entry(&file.path).or_default() += file.n_changes;
                }
                digest.technologies.iter().for_each(|name| *technologies.entry(name).or_default() += 1);
                decisions.extend(digest.decisions.iter().map(|words| shortened(words, LONGEST_QUOTE)));
                for check in &digest.checks {
                    failing.remove(&check.kind);
                }
                let still = digest.still_failing();
                failing.extend(still.map(|check| (check.kind, shortened(&check.command, LONGEST_QUOTE))));
            }
            for event in self.store.read(|connection| session.thread_events(connection))? {
                let thread = event.thread.clone();
                match event.change {
                    Change::Resolved(_) | Change::Dropped(_) => {
                        opened.remove(&thread);
                        closed.insert(thread);
                    }
                    Change::Opened(_) | Change::Reopened => {
                        closed.remove(&thread);
                        opened.insert(thread);
                    }
                    _ => {}
                }
            }
        }
        let mut told = ProjectDigest {
            project,
            n_sessions: sessions.len(),
            sessions: sessions.iter().map(|(session, digest)| told(session, digest.as_ref(), zone)).collect(),
            decisions,
            failing: failing.into_values().collect(),
            files: most(counts),
            technologies: most(technologies),
            closed: self.digested_threads(closed)?,
            opened: self.digested_threads(opened)?,
            n_left_out: 0,
        };
        told.shorten(room);
        Ok(told)
    }

    fn digested_threads(&self, ids: BTreeSet<ThreadId>) -> Result<Vec<DigestedThread>, Error> {
        let mut named = Vec::new();
        for id in ids {
            if let Some(listed) = self.store.thread(&id)? {
                let summary = shortened(listed.thread.told(), LONGEST_QUOTE);
                named.push(DigestedThread { id: id.0, summary });
            }
        }
        Ok(named)
    }
}

fn told(session: &NamedSession, digest: Option<&DigestOfSession>, zone: &TimeZone) -> DigestedSession {
    let record = &session.record;
    let commits = digest.map(|digest| digest.commits.as_slice()).unwrap_or_default();
    let commits = commits.iter().map(|commit| BriefCommit {
        commit: commit.id.clone(),
        subject: shortened(&commit.subject, LONGEST_QUOTE),
    });
    DigestedSession {
        session: record.name.clone(),
        day: record.last.map(|last| day_of(last, zone).to_string()).unwrap_or_default(),
        branch: record.branch.clone(),
        title: record.title.clone(),
        summary: digest.map(|digest| shortened(&digest.summary, 2 * LONGEST_QUOTE)).unwrap_or_default(),
        importance: record.importance,
        commits: commits.collect(),
    }
}

/// The names, those with the highest counts first.
fn most(counts: BTreeMap<&str, usize>) -> Vec<String> {
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// How much is told of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    sessions: usize,
    each: usize,
}

impl Room {
    /// The room of each project, of those with so many sessions: what small ones leave is that of large ones.
    fn of(n_sessions: &[usize]) -> Self {
        let n_projects = n_sessions.len().max(1);
        let told = |most: usize| n_sessions.iter().map(|n| *n.min(&most)).sum::<usize>();
        let least = MOST_SESSIONS_TOGETHER / n_projects;
        let fits = (least..=MOST_SESSIONS).rev().find(|most| told(*most) <= MOST_SESSIONS_TOGETHER);
        Self {
            sessions: fits.unwrap_or(least).clamp(1, MOST_SESSIONS),
            each: (MOST_EACH_TOGETHER / n_projects).clamp(1, MOST_EACH),
        }
    }
}

impl ProjectDigest {
    /// Leaves out what matters least of each kind, and counts it.
    fn shorten(&mut self, room: Room) {
        if room.sessions < self.sessions.len() {
            let mut weights: Vec<u8> = self.sessions.iter().map(|session| session.importance).collect();
            weights.sort_unstable_by(|left, right| right.cmp(left));
            let least = weights[room.sessions - 1];
            let n_above = weights.iter().filter(|weight| least < **weight).count();
            let mut n_rest = room.sessions - n_above;
            let before = self.sessions.len();
            self.sessions.retain(|session| {
                let is_first = session.importance == least && 0 < n_rest;
                n_rest -= usize::from(is_first);
                least < session.importance || is_first
            });
            self.n_left_out += before - self.sessions.len();
        }
        for session in &mut self.sessions {
            cut(&mut session.commits, room, &mut self.n_left_out);
        }
        cut(&mut self.decisions, room, &mut self.n_left_out);
        cut(&mut self.failing, room, &mut self.n_left_out);
        cut(&mut self.files, room, &mut self.n_left_out);
        cut(&mut self.closed, room, &mut self.n_left_out);
        cut(&mut self.opened, room, &mut self.n_left_out);
        self.technologies.truncate(room.each);
    }
}

fn cut<T>(list: &mut Vec<T>, room: Room, n_left_out: &mut usize) {
    *n_left_out += list.len().saturating_sub(room.each);
    list.truncate(room.each);
}

impl Digest {
    /// The digest as it is in its file; it depends on nothing but the digest, so that the same one is the same text.
    #[must_use]
    pub fn text(&self) -> String {
        text::text(self)
    }

    fn empty(period: Period) -> Self {
        Self {
            schema: "chronicle-digest/v1",
            period: period.name(),
            first: period.first().to_string(),
            last: period.last().to_string(),
            sessions: 0,
            prompts: 0,
            commits: 0,
            files: 0,
            days: 0,
            projects: Vec::new(),
            others: Vec::new(),
            worded: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_share_the_room_and_small_ones_leave_theirs_to_large_ones() {
        let check = |n_sessions: &[usize], sessions: usize, each: usize| {
            assert_eq!(Room::of(n_sessions), Room { sessions, each }, "{n_sessions:?}");
        };
        check(&[], MOST_SESSIONS, MOST_EACH);
        check(&[500], 40, 12);
        check(&[500, 500], 40, 12);
        check(&[500, 500, 500], 26, 12);
        check(&[500, 60, 1, 1], 39, 12);
        check(&[30; 12], 6, 5);
        check(&[2; 12], 40, 5);
    }
}
