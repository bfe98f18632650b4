//! Unfinished work that is carried from session to session.
//!
//! A thread is what its events say: lists are views, and nothing is edited in
//! place. Who extracts threads and who stores them agree on the ids made here,
//! so that reading a session again brings nothing new.

use std::collections::BTreeSet;

use data_encoding::BASE32_NOPAD;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod likeness;
mod stored_time;

pub use likeness::{Gist, is_alike, key, likeness};

/// How long an open thread is listed after it was mentioned last.
pub const ARCHIVED_AFTER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How many characters a summary holds at most.
pub const LONGEST_SUMMARY: usize = 160;

/// How often a thread is mentioned until that makes it urgent.
const MANY_MENTIONS: usize = 3;

/// Names a thread for good.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadId(pub String);

impl ThreadId {
    /// The id of work with this summary in this project.
    ///
    /// It depends on the words that matter only, so the same item gets the same
    /// id in every session, however it is cased or marked up.
    #[must_use]
    pub fn derived(project: &str, summary: &str) -> Self {
        let claim = serde_json::json!([project, key(summary)]).to_string();
        let encoded = BASE32_NOPAD.encode(&Sha256::digest(claim.as_bytes())).to_lowercase();
        Self(format!("t-{}", &encoded[..16]))
    }
}

/// What kind of unfinished work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadKind {
    /// Something was begun, or planned, and is not there yet.
    Incomplete,
    /// Nobody has answered yet.
    Question,
    /// Somebody said that it is to be done.
    Todo,
    /// It was put off.
    Deferred,
    /// It waits for something else.
    Blocked,
}

/// Names of the variants of an enum, as arguments and answers hold them.
macro_rules! named {
    ($type:ident: $($variant:ident $name:literal),+) => {
        impl $type {
            /// The names of all.
            pub const NAMES: [&str; [$($name),+].len()] = [$($name),+];

            /// The name it has in arguments and answers.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The one with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

named!(Priority: High "high", Medium "medium", Low "low");
named!(How: Completed "completed", Deferred "deferred", WontDo "wont_do");
named!(ThreadKind: Incomplete "incomplete", Question "question", Todo "todo", Deferred "deferred", Blocked "blocked");
named!(Status: Pending "pending", InProgress "in_progress", Resolved "resolved", Abandoned "abandoned");

/// What a thread was found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The agent's own list.
    Todo,
    /// It was filed in a tracker.
    Issue,
    /// A request that the agent was at work on when the session ended.
    Request,
    /// A question of the agent that nobody answered.
    Question,
    /// A check that failed at the end of the session.
    Check,
    /// A plan that nobody agreed to.
    Plan,
    /// Somebody said so.
    Statement,
    /// A model found it in what was said.
    Model,
    /// A human added it.
    Hand,
    /// A lesson of the repository.
    Lesson,
}

/// How urgent it is; the most urgent sorts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Something is broken, somebody said that it is urgent, or it comes up again and again.
    High,
    /// A question or an item of a plan.
    Medium,
    /// Everything else.
    Low,
}

/// Where in its life a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Closed, with a resolution.
    Resolved,
    /// Given up.
    Abandoned,
}

/// How a thread was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It was done.
    Completed,
    /// It is not for now.
    Deferred,
    /// It will not be done.
    WontDo,
}

/// What shows that something is so: a turn of a session, a commit, or a command by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The session it was said in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn of the session, or the commit.
    pub source: String,
    /// What was said or done, in few words.
    pub words: String,
}

/// How, why and when a thread was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// How it was closed.
    pub how: How,
    /// What somebody had to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When.
    #[serde(with = "stored_time")]
    pub at: Option<Timestamp>,
    /// What shows it; never empty.
    pub evidence: Vec<Evidence>,
}

impl Resolution {
    /// A human said that the thread is none.
    #[must_use]
    pub fn rejected(note: &str, at: Timestamp) -> Self {
        let words = if note.is_empty() { "it isn't unfinished work" } else { note };
        let evidence = Evidence { session: None, source: REJECTED.to_owned(), words: words.to_owned() };
        let note = (!note.is_empty()).then(|| note.to_owned());
        Self { how: How::WontDo, note, at: Some(at), evidence: vec![evidence] }
    }
}

/// Where it comes from that a thread is none.
const REJECTED: &str = "feedback";

/// Unfinished work, as its events left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name.
    pub id: ThreadId,
    /// The session that it came up in.
    pub session: Option<String>,
    /// The project it belongs to.
    pub project: String,
    /// The branch on which it came up.
    pub branch: Option<String>,
    /// What kind of work it is.
    pub kind: ThreadKind,
    /// What it was found by first.
    pub origin: Origin,
    /// What is to be done, in the imperative, as it was found: what is said later is compared with it.
    pub summary: String,
    /// The same in the words of a model, in which it is shown then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worded: Option<String>,
    /// Why it matters.
    pub context: String,
    /// How urgent it is.
    pub priority: Priority,
    /// Whether somebody set the priority by hand: then nothing else changes it.
    pub is_priority_set: bool,
    /// Where in its life it is.
    pub status: Status,
    /// When it came up.
    #[serde(with = "stored_time")]
    pub created: Option<Timestamp>,
    /// When it was mentioned last.
    #[serde(with = "stored_time")]
    pub last_mentioned: Option<Timestamp>,
    /// In how many sessions it came up.
    pub n_mentions: usize,
    /// What shows that it is open.
    pub evidence: Vec<Evidence>,
    /// How it was closed.
    pub resolution: Option<Resolution>,
    /// How it may have been closed, for somebody to confirm.
    pub proposal: Option<Resolution>,
    /// The threads it waits for.
    pub blocked_by: BTreeSet<ThreadId>,
    /// Threads that have to do with it, in any project.
    pub links: BTreeSet<ThreadId>,
}

/// One thing that happened to a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEvent {
    /// The thread.
    pub thread: ThreadId,
    /// The session that it happened in; none when somebody did it by hand.
    pub session: Option<String>,
    /// When.
    #[serde(with = "stored_time")]
    pub at: Option<Timestamp>,
    /// What.
    pub change: Change,
}

/// What can happen to a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It came up. On a thread that is there already, it was mentioned; on one that is closed, it is open again.
    Opened(Opening),
    /// It was begun.
    Begun,
    /// It was put back.
    PutBack,
    /// It was closed.
    Resolved(Resolution),
    /// It looks closed.
    Proposed(Resolution),
    /// It was given up.
    Dropped(Resolution),
    /// It is open after all.
    Reopened,
    /// Somebody set its priority.
    Prioritised(Priority),
    /// It waits for another thread.
    BlockedBy(ThreadId),
    /// It waits no longer.
    UnblockedFrom(ThreadId),
    /// It has to do with another thread.
    Linked(ThreadId),
    /// A model said in its words what is to be done.
    Worded(Worded),
}

/// What is to be done, in the words of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worded {
    /// In the imperative.
    pub summary: String,
    /// The model.
    pub by: String,
}

/// How a thread comes up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The project it belongs to.
    pub project: String,
    /// The branch on which it came up.
    pub branch: Option<String>,
    /// What kind of work it is.
    pub kind: ThreadKind,
    /// What it was found by.
    pub origin: Origin,
    /// What is to be done.
    pub summary: String,
    /// Why it matters.
    pub context: String,
    /// How urgent it is.
    pub priority: Priority,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

impl Thread {
    /// The thread that `events` tell of, in their order; none before it came up.
    #[must_use]
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e ThreadEvent>) -> Option<Self> {
        let mut thread = None;
        for event in events {
            match (&mut thread, &event.change) {
                (Some(thread), _) => Self::apply(thread, event),
                (none, Change::Opened(opening)) => *none = Some(Self::open(event, opening)),
                (None, _) => {}
            }
        }
        thread
    }

    fn open(event: &ThreadEvent, opening: &Opening) -> Self {
        Self {
            id: event.thread.clone(),
            session: event.session.clone(),
            project: opening.project.clone(),
            branch: opening.branch.clone(),
            kind: opening.kind,
            origin: opening.origin,
            summary: opening.summary.clone(),
            worded: None,
            context: opening.context.clone(),
            priority: opening.priority,
            is_priority_set: false,
            status: Status::Pending,
            created: event.at,
            last_mentioned: event.at,
            n_mentions: 1,
            evidence: opening.evidence.clone(),
            resolution: None,
            proposal: None,
            blocked_by: BTreeSet::new(),
            links: BTreeSet::new(),
        }
    }

    /// Lets `event` happen. The same event again changes nothing more.
    pub fn apply(&mut self, event: &ThreadEvent) {
        self.last_mentioned = self.last_mentioned.max(event.at);
        match &event.change {
            Change::Opened(opening) => self.mention(event, opening),
            Change::Begun if self.is_open() => self.status = Status::InProgress,
            Change::PutBack if self.is_open() => self.status = Status::Pending,
            Change::Begun | Change::PutBack => {}
            Change::Resolved(_) | Change::Dropped(_) if self.is_rejected() && event.session.is_some() => {}
            Change::Resolved(resolution) => self.close(Status::Resolved, resolution),
            Change::Dropped(resolution) => self.close(Status::Abandoned, resolution),
            Change::Proposed(resolution) if self.is_open() => self.proposal = Some(resolution.clone()),
            Change::Proposed(_) => {}
            Change::Reopened if self.is_rejected() && event.session.is_some() => {}
            Change::Reopened => self.reopen(),
            Change::Prioritised(priority) => {
                self.priority = *priority;
                self.is_priority_set = true;
            }
            Change::BlockedBy(other) if *other != self.id => drop(self.blocked_by.insert(other.clone())),
            Change::UnblockedFrom(other) => drop(self.blocked_by.remove(other)),
            Change::Linked(other) if *other != self.id => drop(self.links.insert(other.clone())),
            Change::BlockedBy(_) | Change::Linked(_) => {}
            Change::Worded(worded) if self.is_worded_by_rules() => self.worded = Some(worded.summary.clone()),
            Change::Worded(_) => {}
        }
    }

    fn mention(&mut self, event: &ThreadEvent, opening: &Opening) {
        let is_known = opening.evidence.iter().all(|evidence| self.evidence.contains(evidence));
        if is_known {
            return;
        }
        // One session is one mention, however often it says the same.
        let is_first_here = !self.evidence.iter().any(|evidence| evidence.session == event.session);
        self.n_mentions += usize::from(is_first_here);
        self.evidence.extend(opening.evidence.iter().cloned());
        if !self.is_priority_set {
            self.priority = self.priority.min(opening.priority);
            if MANY_MENTIONS <= self.n_mentions {
                self.priority = Priority::High;
            }
        }
        // What was closed and comes up later is open again; what an older session says, the closing knew. What a human
        // said is none stays so.
        if !self.is_open()
            && !self.is_rejected()
            && self.resolution.as_ref().is_none_or(|resolution| resolution.at < event.at)
        {
            self.reopen();
        }
    }

    fn close(&mut self, status: Status, resolution: &Resolution) {
        self.status = status;
        self.resolution = Some(resolution.clone());
        self.proposal = None;
    }

    fn reopen(&mut self) {
        if !self.is_open() {
            self.status = Status::Pending;
            self.resolution = None;
        }
        self.proposal = None;
    }

    /// What is to be done, as it is shown.
    #[must_use]
    pub fn told(&self) -> &str {
        self.worded.as_deref().unwrap_or(&self.summary)
    }

    /// Whether rules chose its words: those of a person, a lesson or a model are theirs.
    #[must_use]
    pub fn is_worded_by_rules(&self) -> bool {
        !matches!(self.origin, Origin::Hand | Origin::Lesson | Origin::Model)
    }

    /// Whether a human said that it is none.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        let by_human = |evidence: &Evidence| evidence.session.is_none() && evidence.source == REJECTED;
        !self.is_open() && self.resolution.as_ref().is_some_and(|closed| closed.evidence.iter().any(by_human))
    }

    /// Whether it is still to be done.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.status, Status::Pending | Status::InProgress)
    }

    /// Whether it is open, but nobody mentioned it for so long that lists leave it out.
    ///
    /// A time that is missing or lies in the future makes nothing old.
    #[must_use]
    pub fn is_archived(&self, now: Timestamp) -> bool {
        self.is_open() && self.last_mentioned.is_some_and(|at| ARCHIVED_AFTER < now.duration_since(at))
    }

    /// Sorts threads as they are listed: by [`Thread::place`], then the newest first.
    #[must_use]
    pub fn rank(&self, waits: bool) -> impl Ord + use<> {
        (self.place(waits), std::cmp::Reverse(self.last_mentioned), self.id.clone())
    }

    /// The first sort key of lists, below [`PLACES`]: by priority, what waits last, what is begun first.
    ///
    /// `waits` says whether a thread that it is blocked by is still open, which the thread itself does not know.
    #[must_use]
    pub fn place(&self, waits: bool) -> u8 {
        let waits = waits || self.kind == ThreadKind::Blocked;
        let is_idle = self.status != Status::InProgress;
        4 * self.priority as u8 + 2 * u8::from(waits) + u8::from(is_idle)
    }
}

/// How many [`Thread::place`]s there are.
pub const PLACES: u8 = 12;

/// Puts the events of one thread into the order in which they count, in whatever order they were read.
///
/// Sessions are not always read in the order in which they happened. What has
/// no time happened before everything else: then it undoes nothing.
pub fn sort_events(events: &mut [ThreadEvent]) {
    events.sort_by(|left, right| {
        let key = |event: &ThreadEvent| (event.at, event.session.clone(), event.change.step());
        // Two of the same kind at one moment of one session: any order will do, if it is always the same.
        key(left).cmp(&key(right)).then_with(|| format!("{left:?}").cmp(&format!("{right:?}")))
    });
}

impl Change {
    /// Which of two changes at one moment comes first.
    fn step(&self) -> u8 {
        match self {
            Self::Opened(_) => 0,
            Self::Reopened => 1,
            Self::PutBack => 2,
            Self::Begun => 3,
            Self::Proposed(_) => 4,
            Self::Resolved(_) | Self::Dropped(_) => 5,
            Self::Prioritised(_)
            | Self::BlockedBy(_)
            | Self::UnblockedFrom(_)
            | Self::Linked(_)
            | Self::Worded(_) => 6,
        }
    }
}

/// The priority that the rules give.
///
/// `is_broken` is a failing test or build at the end of a session.
#[must_use]
pub fn priority(kind: ThreadKind, words: &str, is_broken: bool, is_planned: bool) -> Priority {
    const URGENT: [&str; 6] = ["urgent", "asap", "critical", "blocker", "immediately", "right away"];
    let words = words.to_lowercase();
    let is_urgent = words.split(|c: char| !c.is_alphanumeric()).any(|word| URGENT.contains(&word))
        || words.contains("right away");
    match kind {
        _ if is_broken || is_urgent => Priority::High,
        ThreadKind::Question => Priority::Medium,
        _ if is_planned => Priority::Medium,
        _ => Priority::Low,
    }
}

#[cfg(test)]
mod tests;
