//! What to know before going on: where work stopped, what is open, what failed, what was decided.
//!
//! Everything is quoted from sessions, threads and commits and says where it is from. What does not
//! fit into the budget is left out line by line, the least important first.

use std::collections::{BTreeMap, HashSet};

use chronicle_commits::{Reason, Recap, Unfinished};
use chronicle_core::{
    block::BlockLine,
    correction::Tier,
    room,
    thread::{Origin, Priority},
};
use chronicle_search::{BlockVersion, NamedSession};
use chronicle_sessions::{CheckKind, DigestOfSession, HardFailure, shortened};
use chronicle_workplace::{Error, error::BriefTooLongSnafu};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    handoff::listed::ListedHandoff,
    memory::{OpenMemory, Scope},
    sessions::{
        ChangedSince,
        files_since::{changed_since, commit_of},
        look::{Digested, ListedSession},
    },
    threads::OpenItem,
};

mod dropped;
mod files;

pub use dropped::{Compacted, Dropped, DroppedCommand, DroppedWords};
pub use files::EditedFile;

pub use crate::named_commit::BriefCommit;

/// How long a briefing is, if nobody says otherwise.
pub const DEFAULT_BUDGET: usize = 4_000;

/// Sessions whose ends and decisions are looked at.
const RECENT_SESSIONS: usize = 8;

/// Sessions that are told of as such.
const MOST_STOPS: usize = 3;

/// Threads, and lessons of others, that are told.
const MOST_THREADS: usize = 10;

/// Failed checks, and commits with a reason, that are told.
const MOST_EACH: usize = 5;

/// Decisions that are told.
const MOST_DECIDED: usize = 8;

/// Blocks whose first lines are told, and how many of each.
const BLOCKS: [&str; 2] = ["preferences", "developer_profile"];
const MOST_LINES: usize = 3;

/// The longest that is quoted in one line.
const LONGEST_QUOTE: usize = 240;

/// How far ahead of ours the clock of a session may be.
const CLOCK_DRIFT: SignedDuration = SignedDuration::from_hours(24);

/// The question of a briefing.
#[derive(Clone)]
pub struct BriefCommand<'m> {
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
    /// Whether all projects are meant.
    pub all: bool,
    /// The longest answer wanted, in characters.
    pub budget: usize,
    /// The session that was compacted, if one goes on in a new context.
    pub compacted: Option<Compacted>,
    /// How many characters a briefing has as it will be written.
    pub measure: &'m dyn Fn(&Brief) -> usize,
}

/// What to know before going on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brief {
    /// Always `chronicle-brief/v1`.
    pub schema: &'static str,
    /// The project; null for all.
    pub project: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// What the compaction of this session left out; none but right after one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Dropped>,
    /// Work that was handed over to other agents in the last seven days.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<ListedHandoff>,
    /// The last sessions; that of the branch comes first.
    pub stopped: Vec<Stop>,
    /// Unfinished work, the most urgent first.
    pub open: Vec<OpenItem>,
    /// How much more is open.
    pub n_more_open: usize,
    /// What was decided in the last sessions: that of the branch first, then the newest.
    pub decided: Vec<Decision>,
    /// Checks that failed at the end of the last sessions, and did not pass since.
    pub failed: Vec<FailedCheck>,
    /// The files that the last sessions edited most.
    pub files: Vec<EditedFile>,
    /// What the blocks of memory say first of the developer, and of how things are to be done.
    pub remembered: Vec<Remembered>,
    /// What others left undone, as lessons on their commits.
    pub left_by_others: Vec<OpenItem>,
    /// How many lines were left out to fit the budget.
    pub n_left_out: usize,
    /// How many sessions other projects have, where nothing is known of this one.
    pub n_elsewhere: usize,
    /// How many lessons are on the commits that are checked out.
    #[serde(skip)]
    pub n_lessons: usize,
}

/// A session, where it stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stop {
    /// The session.
    #[serde(flatten)]
    pub session: ListedSession,
    /// What was asked and what was achieved; null when there was no room for it.
    pub summary: Option<String>,
    /// The last commit that it made.
    pub last_commit: Option<BriefCommit>,
    /// What failed in it and took several steps to solve, for the first session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// What became of its files, for the first session of the repository that is asked about.
    pub changed_since: Option<ChangedSince>,
}

/// A line of a block of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remembered {
    /// The line.
    pub words: String,
    /// The label of the block.
    pub block: String,
}

/// A check that failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FailedCheck {
    /// The command.
    pub command: String,
    /// The session in which it failed.
    pub session: String,
    /// When that session ended.
    pub at: Option<String>,
    /// The thread that says to mend it.
    pub thread: Option<String>,
    /// The branch of the session, if it isn't merged into the one that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<String>,
}

/// Something that was decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Decision {
    /// What was decided, quoted: a commit's message, an answer, a sentence.
    pub words: String,
    /// Why, as the annotation of the commit says.
    pub reason: Option<String>,
    /// The commit, if it is one.
    pub commit: Option<String>,
    /// The session in which it was decided.
    pub session: String,
    /// When that session ended.
    pub at: Option<String>,
    /// The branch of the session, if it isn't merged into the one that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<String>,
}

impl Memory<'_> {
    /// What to know before going on in this project, on this branch.
    ///
    /// # Errors
    /// When the project is unknown, session memory cannot be read, or nothing fits the budget.
    pub fn brief(&self, command: &BriefCommand) -> Result<Brief, Error> {
        let memory = self.open()?;
        let scope = match &memory {
            Some(memory) => self.memory_scope(memory, command.project.as_deref(), command.all)?,
            None => Scope::Unknown,
        };
        let is_here = self.threads().is_here(memory.as_ref(), &scope)? && scope != Scope::All;
        let recap = if is_here { self.threads().recap() } else { Recap::default() };
        let mut brief = Brief {
            schema: "chronicle-brief/v1",
            project: scope.name(),
            branch: is_here.then(|| self.current_branch()).flatten(),
            dropped: None,
            handoffs: Vec::new(),
            stopped: Vec::new(),
            open: Vec::new(),
            n_more_open: 0,
            decided: Vec::new(),
            failed: Vec::new(),
            files: Vec::new(),
            remembered: Vec::new(),
            left_by_others: Vec::new(),
            n_left_out: 0,
            n_elsewhere: 0,
            n_lessons: recap.n_lessons,
        };
        if let Some(memory) = memory.as_ref().filter(|_| scope != Scope::Unknown) {
            self.tell_sessions(&mut brief, memory, &scope, &recap)?;
            if is_here {
                self.tell_what_changed(&mut brief, memory)?;
            }
            brief.handoffs = self.recent_handoffs(memory, &scope)?;
            brief.handoffs.truncate(MOST_EACH);
            if let Some(compacted) = &command.compacted {
                memory.tell_what_was_dropped(&mut brief, compacted)?;
            }
            let open = memory.store.n_open_threads(scope.project(), self.workplace.now())?;
            let listed =
                memory.store.listed_threads(scope.project(), self.workplace.now(), false, MOST_THREADS)?;
            brief.n_more_open = open.n_listed.saturating_sub(listed.len());
            for thread in &listed {
                brief.open.push(OpenItem::of(&memory.store, thread, self.workplace.now())?);
            }
        }
        if !recap.unfinished.is_empty() {
            self.tell_lessons(&mut brief, &recap);
        }
        if let (Some(memory), false) = (&memory, brief.is_empty()) {
            brief.remembered = memory.remembered(brief.project.as_deref());
        }
        brief.join_failures();
        brief.shorten();
        if let (Some(memory), true) = (&memory, brief.is_empty()) {
            brief.n_elsewhere = memory.store.read(|connection| NamedSession::count(connection, None))?;
        }
        self.fit_brief(brief, command)
    }

    /// The last sessions, that of the branch first, and what can be quoted from them.
    fn tell_sessions(
        &self,
        brief: &mut Brief,
        memory: &OpenMemory,
        scope: &Scope,
        recap: &Recap,
    ) -> Result<(), Error> {
        let until = self.until();
        // What programs ran is told only where nobody was there at all.
        let talks = |branch: Option<&str>, limit| {
            let which = (scope.project(), branch);
            let mut found = memory
                .store
                .read(|connection| NamedSession::latest_talks(connection, which, until, limit))?;
            let is_headless =
                |session: &NamedSession| session.digest().is_some_and(|digest| digest.is_headless);
            if found.first().is_some_and(|first| !is_headless(first)) {
                found.retain(|session| !is_headless(session));
            }
            Ok::<_, Error>(found)
        };
        let recent = talks(None, RECENT_SESSIONS)?;
        let mut stops = match &brief.branch {
            Some(branch) => talks(Some(branch), 1)?,
            None => Vec::new(),
        };
        for session in &recent {
            if stops.len() < MOST_STOPS && stops.iter().all(|known| known.id != session.id) {
                stops.push(session.clone());
            }
        }
        for session in &stops {
            let digest = session.digest();
            let last = digest.as_ref().and_then(|digest| digest.commits.last());
            brief.stopped.push(Stop {
                session: memory.listed(session)?,
                summary: digest
                    .as_ref()
                    .map(|digest| digest.summary.clone())
                    .filter(|summary| !summary.is_empty()),
                last_commit: last
                    .map(|commit| BriefCommit { commit: commit.id.clone(), subject: commit.subject.clone() }),
                failures: match (&digest, brief.stopped.is_empty()) {
                    (Some(digest), true) => digest.failures.iter().map(HardFailure::told).collect(),
                    _ => Vec::new(),
                },
                changed_since: None,
            });
        }
        let digests: Vec<(NamedSession, DigestOfSession)> = recent
            .into_iter()
            .filter_map(|session| Some((session.digest()?, session)))
            .map(|(d, s)| (s, d))
            .collect();
        let (of_branch, others): (Vec<_>, Vec<_>) =
            digests.iter().partition(|(session, _)| session.record.branch == brief.branch);
        let nearest: Vec<_> = of_branch.into_iter().chain(others).collect();
        brief.files = files::most_edited(&nearest);
        brief.decided = decided(&nearest, &recap.reasons);
        brief.failed = failed(&digests);
        self.mark_unmerged(brief);
        Ok(())
    }

    /// Leaves the branches of facts only where they are not merged: elsewhere they say nothing.
    fn mark_unmerged(&self, brief: &mut Brief) {
        let mut known: BTreeMap<String, bool> = BTreeMap::new();
        let current = brief.branch.clone();
        let of_decisions = brief.decided.iter_mut().map(|decision| &mut decision.unmerged);
        let of_checks = brief.failed.iter_mut().map(|failed| &mut failed.unmerged);
        for branch in of_decisions.chain(of_checks) {
            let is_unmerged = |name: &String| {
                current.is_some()
                    && current.as_ref() != Some(name)
                    && *known.entry(name.clone()).or_insert_with(|| self.is_unmerged(name))
            };
            *branch = branch.take().filter(is_unmerged);
        }
    }

    /// Whether there is a branch of that name, and it has commits that are not in what is checked out. A branch that is
    /// gone may have been merged in any way.
    fn is_unmerged(&self, branch: &str) -> bool {
        let tips = || {
            let repository = self.workplace.repository().ok()?;
            let tip = repository.resolve(&format!("refs/heads/{branch}")).ok()?;
            let head = repository.resolve("HEAD").ok()?;
            Some(repository.merge_base(tip, head).ok()? != tip)
        };
        tips().unwrap_or(false)
    }

    /// What became of the files of the first session.
    fn tell_what_changed(&self, brief: &mut Brief, memory: &OpenMemory) -> Result<(), Error> {
        let Some(first) = brief.stopped.first_mut() else { return Ok(()) };
        let session = memory.session(&first.session.session)?;
        let Some(digest) = session.digest().filter(|digest| !digest.files.is_empty()) else { return Ok(()) };
        // A briefing without it is better than none.
        if let Ok(repository) = self.workplace.repository() {
            let commit = commit_of(repository, &session, &digest);
            first.changed_since =
                commit.and_then(|commit| changed_since(repository, &session, &digest, commit));
        }
        Ok(())
    }

    /// The lessons that say what is still to be done: one's own among the threads, those of others apart.
    fn tell_lessons(&self, brief: &mut Brief, recap: &Recap) {
        let (mine, mut others): (Vec<&Unfinished>, Vec<&Unfinished>) =
            self.threads().lessons_that_count(recap).partition(|lesson| lesson.tier == Tier::Own);
        let n_further = recap.n_more.get(&Tier::Own).copied().unwrap_or_default();
        others.sort_by_key(|lesson| std::cmp::Reverse(lesson.tier));
        brief.n_more_open += (brief.open.len() + mine.len() + n_further).saturating_sub(MOST_THREADS);
        // They are in the order of lists.
        let first = |lessons: Vec<&Unfinished>| -> Vec<OpenItem> {
            lessons.into_iter().take(MOST_THREADS).map(OpenItem::of_lesson).collect()
        };
        brief.open.extend(first(mine));
        brief.open.sort_by_key(OpenItem::rank);
        room::cut(&mut brief.open, MOST_THREADS, OpenItem::whose);
        brief.left_by_others = first(others);
    }

    /// What lies after this was told by a clock that is wrong.
    pub(crate) fn until(&self) -> Timestamp {
        self.workplace.now().checked_add(CLOCK_DRIFT).unwrap_or(Timestamp::MAX)
    }

    /// Leaves out the least important lines until the rest fits.
    fn fit_brief(&self, mut brief: Brief, command: &BriefCommand) -> Result<Brief, Error> {
        let mut n_now = (command.measure)(&brief);
        while command.budget < n_now {
            snafu::ensure!(
                brief.leave_out_least(),
                BriefTooLongSnafu { budget: command.budget, least: n_now }
            );
            n_now = (command.measure)(&brief);
        }
        Ok(brief)
    }
}

impl OpenMemory {
    /// The first lines of blocks. A store of an older form that cannot be written has none.
    fn remembered(&self, project: Option<&str>) -> Vec<Remembered> {
        let latest =
            |label| self.store.read(|connection| BlockVersion::latest(connection, label)).ok().flatten();
        let lines = |label| latest(label).map(|latest| latest.text.lines).unwrap_or_default();
        // What holds in other projects only says nothing here, and nobody works better for counts of technologies.
        let is_count = |key: &String| key.starts_with("uses:") || key.starts_with("agent:");
        let holds = |line: &BlockLine| {
            let is_here = line.projects.is_empty()
                || project.is_none_or(|name| line.projects.iter().any(|one| one == name));
            is_here && !line.keys.iter().any(is_count)
        };
        let first = BLOCKS.into_iter().flat_map(|label| {
            let lines = lines(label).into_iter().filter(|line| !line.text.trim().is_empty() && holds(line));
            lines.take(MOST_LINES).map(|line| Remembered { words: line.text, block: label.to_owned() })
        });
        first.collect()
    }
}

/// Checks that failed in the last sessions and did not pass since; the newest session comes first.
fn failed(sessions: &[(NamedSession, DigestOfSession)]) -> Vec<FailedCheck> {
    let mut found: Vec<FailedCheck> = Vec::new();
    let mut passed_since: HashSet<CheckKind> = HashSet::new();
    for (session, digest) in sessions {
        for check in digest.still_failing().filter(|check| !passed_since.contains(&check.kind)) {
            if found.len() < MOST_EACH && found.iter().all(|known| known.command != check.command) {
                found.push(FailedCheck {
                    command: check.command.clone(),
                    session: session.record.name.clone(),
                    at: session.record.last.map(|at| at.to_string()),
                    thread: None,
                    unmerged: session.record.branch.clone(),
                });
            }
        }
        let passed = digest.checks.iter().filter(|check| check.is_passed == Some(true));
        passed_since.extend(passed.map(|check| check.kind));
    }
    found
}

/// What was decided in sessions: what humans said, and commits with a reason; the nearest first.
fn decided(sessions: &[&(NamedSession, DigestOfSession)], reasons: &[Reason]) -> Vec<Decision> {
    let (mut said, mut reasoned) = (Vec::new(), Vec::new());
    for (session, digest) in sessions {
        let decision = |words: &str, commit: Option<&str>, reason: Option<&Reason>| Decision {
            words: words.to_owned(),
            reason: reason.map(|reason| reason.summary.clone()),
            commit: commit.map(str::to_owned),
            session: session.record.name.clone(),
            at: session.record.last.map(|at| at.to_string()),
            unmerged: session.record.branch.clone(),
        };
        said.extend(digest.decisions.iter().rev().map(|words| decision(words, None, None)));
        for commit in digest.commits.iter().rev().filter(|commit| !commit.is_merge()) {
            let is_it = |reason: &&Reason| 7 <= commit.id.len() && reason.commit.starts_with(&commit.id);
            match reasons.iter().find(is_it).filter(|reason| reason.summary != commit.subject) {
                Some(reason) if commit.subject.is_empty() => {
                    reasoned.push(decision(&reason.summary, Some(&commit.id), None));
                }
                Some(reason) => reasoned.push(decision(&commit.subject, Some(&commit.id), Some(reason))),
                // What was done is no decision.
                None => {}
            }
        }
    }
    said.truncate(MOST_DECIDED);
    reasoned.truncate(MOST_EACH);
    said.into_iter().chain(reasoned).collect()
}

impl Brief {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dropped.is_none()
            && self.handoffs.is_empty()
            && self.stopped.is_empty()
            && self.open.is_empty()
            && self.left_by_others.is_empty()
    }

    /// A check that failed and the thread that says to mend it are told once.
    fn join_failures(&mut self) {
        for failed in &mut self.failed {
            let is_it = |item: &OpenItem| {
                item.origin == Origin::Check && item.summary.contains(&shortened(&failed.command, 100))
            };
            if let Some(index) = self.open.iter().position(is_it) {
                failed.thread = Some(self.open.remove(index).short);
            }
        }
    }

    /// Cuts long quotes, between words.
    fn shorten(&mut self) {
        let short = |text: &mut String| *text = shortened(text, LONGEST_QUOTE);
        for words in self.dropped.iter_mut().flat_map(Dropped::words_mut) {
            short(words);
        }
        for stop in &mut self.stopped {
            stop.summary.iter_mut().for_each(|summary| *summary = shortened(summary, 2 * LONGEST_QUOTE));
            stop.last_commit.iter_mut().for_each(|commit| short(&mut commit.subject));
            stop.failures.iter_mut().for_each(short);
        }
        self.failed.iter_mut().for_each(|failed| short(&mut failed.command));
        for item in self.open.iter_mut().chain(&mut self.left_by_others) {
            short(&mut item.summary);
            item.context.clear();
        }
        self.remembered.iter_mut().for_each(|line| short(&mut line.words));
        for decision in &mut self.decided {
            short(&mut decision.words);
            decision.reason.iter_mut().for_each(short);
        }
    }

    /// Leaves out the line that matters least; false when there is none left.
    fn leave_out_least(&mut self) -> bool {
        let urgency = |item: &OpenItem| match (item.whose(), item.priority) {
            // Less than anything of the user's or the team's.
            (Tier::Unknown, _) => -100,
            (_, Priority::High) => 90,
            (_, Priority::Medium) => 60,
            (_, Priority::Low) => 30,
        };
        // What is further down in its list matters less.
        let down = |length: usize| i64::try_from(length).unwrap_or(i64::MAX).min(20);
        let has_summary = self.stopped.first().is_some_and(|stop| stop.summary.is_some());
        let worth = [
            match self.stopped.len() {
                0 => None,
                1 if has_summary => Some(70),
                1 => Some(100),
                // What came of the last sessions says more than which files they changed.
                n => Some(48 - down(n)),
            },
            self.failed.last().map(|_| 88 - down(self.failed.len())),
            self.open.last().map(|item| urgency(item) - down(self.open.len())),
            self.decided.last().map(|_| 50 - 3 * down(self.decided.len())),
            self.left_by_others.last().map(|item| urgency(item) - 5 - down(self.left_by_others.len())),
            self.files.last().map(|_| 30 - down(self.files.len())),
            self.remembered.last().map(|_| 32 - down(self.remembered.len())),
            self.dropped.as_ref().map(|dropped| 95 - down(dropped.len())),
            self.stopped.first().and_then(|stop| stop.failures.last()).map(|_| 46),
            self.handoffs.last().map(|_| 89 - down(self.handoffs.len())),
        ];
        let least = worth.iter().enumerate().filter_map(|(list, worth)| Some(((*worth)?, list))).min();
        let Some((_, list)) = least else { return false };
        match list {
            0 if self.stopped.len() == 1 && has_summary => self.stopped[0].summary = None,
            0 => drop(self.stopped.pop()),
            1 => drop(self.failed.pop()),
            2 => drop(self.open.pop()),
            3 => drop(self.decided.pop()),
            5 => drop(self.files.pop()),
            6 => drop(self.remembered.pop()),
            7 => self.dropped = self.dropped.take().and_then(Dropped::without_last),
            8 => drop(self.stopped[0].failures.pop()),
            9 => drop(self.handoffs.pop()),
            _ => drop(self.left_by_others.pop()),
        }
        self.n_left_out += 1;
        true
    }
}
