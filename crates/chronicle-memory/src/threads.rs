//! Unfinished work: listed, shown with what is known of it, and changed by hand.

use std::cmp::Reverse;

use chronicle_commits::{Recap, Unfinished};
use chronicle_core::correction::Tier;
use chronicle_core::reading::said_by;
use chronicle_core::room;
use chronicle_core::thread::{Evidence, How, Origin, Priority, Resolution, Thread, ThreadKind};
use chronicle_git::Glance;
use chronicle_search::{ListedThread, Store};
use chronicle_workplace::{Error, Workplace};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    learning::RejectedLessons,
    memory::{OpenMemory, Scope},
};

mod by_hand;
mod shown;

pub use by_hand::{AddThread, ThreadAct, ThreadReply};
pub use chronicle_core::thread::Status;
pub use shown::{HistoryLine, ShownThread};

/// The question of what is open.
#[derive(Debug, Clone)]
pub struct PendingCommand {
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
    /// Whether all projects are meant.
    pub all: bool,
    /// Whether threads that nobody mentioned for a long time are listed too.
    pub archived: bool,
    /// How many are listed at most.
    pub limit: usize,
}

/// The question of what was closed.
#[derive(Debug, Clone)]
pub struct ClosedCommand {
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
    /// Whether all projects are meant.
    pub all: bool,
    /// [`Status::Resolved`] or [`Status::Abandoned`].
    pub status: Status,
    /// How many are listed at most.
    pub limit: usize,
}

/// Unfinished work, in the order in which it is best looked at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pending {
    /// Always `chronicle-pending/v1`.
    pub schema: &'static str,
    /// The project that was asked about; null for all.
    pub project: Option<String>,
    /// What is open.
    pub items: Vec<OpenItem>,
    /// How much more is open.
    pub n_more: usize,
    /// How many threads are left out because nobody mentioned them for 30 days.
    pub n_archived: usize,
    /// How many threads other projects have, where this one has none.
    pub n_elsewhere: usize,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// A thread, or a lesson of the repository that says what is to be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpenItem {
    /// Names it.
    pub id: String,
    /// The shortest beginning of the id that names it now.
    pub short: String,
    /// What it was found by.
    pub origin: Origin,
    /// What kind of work it is.
    pub kind: ThreadKind,
    /// How urgent it is.
    pub priority: Priority,
    /// Where in its life it is.
    pub status: Status,
    /// What is to be done.
    pub summary: String,
    /// Why it matters.
    pub context: String,
    /// The project it belongs to.
    pub project: String,
    /// The branch on which it came up.
    pub branch: Option<String>,
    /// The session in which it came up.
    pub session: Option<String>,
    /// The commit that carries it, of a lesson.
    pub commit: Option<String>,
    /// The file it is about, of a lesson.
    pub file: Option<String>,
    /// Who made the commit, of a lesson.
    pub author: Option<String>,
    /// How far the author of a lesson is trusted.
    pub tier: Option<Tier>,
    /// Where a lesson came from, unless it is the user's own: a remote, or a notes ref.
    pub came_from: Option<String>,
    /// When it came up.
    pub created: Option<String>,
    /// When it was mentioned last.
    pub last_mentioned: Option<String>,
    /// In how many sessions it came up.
    pub n_mentions: usize,
    /// Whether nobody mentioned it for 30 days.
    pub is_archived: bool,
    /// The open threads that it waits for.
    pub waits_for: Vec<Named>,
    /// Threads that have to do with it.
    pub links: Vec<String>,
    /// How it may have been closed, for somebody to confirm.
    pub proposal: Option<Closing>,
    /// How it was closed.
    pub resolution: Option<Closing>,
    /// Why a lesson is doubted.
    pub doubt: Option<String>,
}

/// Another thread.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Named {
    /// Its id.
    pub id: String,
    /// The shortest beginning of the id that names it now.
    pub short: String,
    /// What is to be done.
    pub summary: String,
}

/// How a thread was closed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Closing {
    /// How.
    pub how: How,
    /// What somebody had to say about it.
    pub note: Option<String>,
    /// When.
    pub at: Option<String>,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

/// Work that is carried on from session to session, in session memory.
#[derive(Clone, Copy)]
pub struct Threads<'w> {
    pub(crate) workplace: &'w Workplace,
}

impl<'w> Threads<'w> {
    fn memory(self) -> Memory<'w> {
        Memory::new(self.workplace)
    }
}

impl Threads<'_> {
    /// What is open: threads of session memory, and lessons of the current repository.
    ///
    /// # Errors
    /// When the project is unknown, or session memory cannot be read.
    pub fn pending(&self, command: &PendingCommand) -> Result<Pending, Error> {
        let memory = self.memory().open()?;
        let scope = match &memory {
            Some(memory) => self.memory().memory_scope(memory, command.project.as_deref(), command.all)?,
            None => Scope::Unknown,
        };
        let mut pending = Pending {
            schema: "chronicle-pending/v1",
            project: scope.name(),
            items: Vec::new(),
            n_more: 0,
            n_archived: 0,
            n_elsewhere: 0,
            warnings: Vec::new(),
        };
        let is_here = command.all || self.is_here(memory.as_ref(), &scope)?;
        let lessons = if is_here { self.unfinished_lessons() } else { Vec::new() };
        let n_lessons = lessons.len();
        pending.items = lessons;
        let mut n_open = 0;
        if let Some(memory) = memory.as_ref().filter(|_| scope != Scope::Unknown) {
            let store = &memory.store;
            let open = store.n_open_threads(scope.project(), self.workplace.now())?;
            n_open = open.n_listed + if command.archived { open.n_archived } else { 0 };
            pending.n_archived = if command.archived { 0 } else { open.n_archived };
            let listed = store.listed_threads(
                scope.project(),
                self.workplace.now(),
                command.archived,
                command.limit,
            )?;
            for thread in &listed {
                pending.items.push(OpenItem::of(store, thread, self.workplace.now())?);
            }
        }
        pending.items.sort_by_key(OpenItem::rank);
        room::cut(&mut pending.items, command.limit, OpenItem::whose);
        pending.n_more = (n_open + n_lessons).saturating_sub(pending.items.len());
        if let (Some(memory), true) = (&memory, pending.items.is_empty()) {
            pending.n_elsewhere = memory.store.n_open_threads(None, self.workplace.now())?.n_listed;
        }
        Ok(pending)
    }

    /// The threads that were closed, the last closed first.
    ///
    /// # Errors
    /// When the project is unknown, or session memory cannot be read.
    pub fn closed(&self, command: &ClosedCommand) -> Result<Pending, Error> {
        let mut closed = Pending {
            schema: "chronicle-pending/v1",
            project: None,
            items: Vec::new(),
            n_more: 0,
            n_archived: 0,
            n_elsewhere: 0,
            warnings: Vec::new(),
        };
        let Some(memory) = self.memory().open()? else { return Ok(closed) };
        let scope = self.memory().memory_scope(&memory, command.project.as_deref(), command.all)?;
        closed.project = scope.name();
        if scope == Scope::Unknown {
            return Ok(closed);
        }
        let mut threads = memory.store.threads(scope.project(), false)?;
        threads.retain(|thread| thread.status == command.status);
        threads
            .sort_by_key(|thread| Reverse(thread.resolution.as_ref().and_then(|resolution| resolution.at)));
        closed.n_more = threads.len().saturating_sub(command.limit);
        for thread in threads.iter().take(command.limit) {
            if let Some(listed) = memory.store.thread(&thread.id)? {
                closed.items.push(OpenItem::of(&memory.store, &listed, self.workplace.now())?);
            }
        }
        Ok(closed)
    }

    /// Whether `scope` is the project of the current folder.
    pub(crate) fn is_here(&self, memory: Option<&OpenMemory>, scope: &Scope) -> Result<bool, Error> {
        Ok(match (memory, scope) {
            (Some(memory), Scope::One(project)) => {
                memory.project_of(self.workplace.directory())?.is_some_and(|here| here.id == project.id)
            }
            _ => true,
        })
    }

    /// The lessons of the repository's commits that say what is still to be done.
    pub(crate) fn unfinished_lessons(&self) -> Vec<OpenItem> {
        self.lessons_of(&self.recap_as(Recap::kept_whole, |recap| recap))
    }

    /// The same, where it was looked up already.
    pub(crate) fn lessons_of(&self, recap: &Recap) -> Vec<OpenItem> {
        self.lessons_that_count(recap).map(OpenItem::of_lesson).collect()
    }

    /// The lessons whose time is not over, and that nobody here rejected.
    pub(crate) fn lessons_that_count<'r>(&self, recap: &'r Recap) -> impl Iterator<Item = &'r Unfinished> {
        let now = self.workplace.now().as_second();
        let rejected = if recap.unfinished.is_empty() {
            RejectedLessons::default()
        } else {
            self.memory().learning().rejected_lessons()
        };
        recap.unfinished.iter().filter(move |lesson| {
            lesson.expires.is_none_or(|end| now < end) && !rejected.has(&lesson.id.0, lesson.tier)
        })
    }

    /// What a briefing tells of commit memory: as it is kept, or made now.
    pub fn recap(&self) -> Recap {
        self.recap_as(Recap::kept, |recap| recap.at_hand())
    }

    fn recap_as(&self, kept: fn(&Glance) -> Option<Recap>, form: fn(Recap) -> Recap) -> Recap {
        let made = || self.workplace.repository().ok().and_then(|repository| Recap::of(repository).ok());
        match self.workplace.keeps_facts().then(|| self.workplace.glance()).flatten() {
            Some(glance) if glance.notes.is_empty() => Recap::default(),
            Some(glance) => kept(&glance).unwrap_or_else(|| {
                let recap = made().unwrap_or_default();
                recap.keep(&glance);
                form(recap)
            }),
            None => made().map(form).unwrap_or_default(),
        }
    }
}

impl Scope {
    /// The name of the project, if it is one.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Self::One(project) => Some(project.name.clone()),
            Self::All | Self::Unknown => None,
        }
    }
}

impl OpenItem {
    /// Who says that it is open, in words, unless it is the user.
    #[must_use]
    pub fn said_by(&self) -> Option<String> {
        said_by(self.author.as_deref(), self.tier?, self.came_from.as_deref())
    }

    /// A thread of the store.
    pub(crate) fn of(store: &Store, listed: &ListedThread, now: Timestamp) -> Result<Self, Error> {
        let ListedThread { thread, project_name, waits_for } = listed;
        let mut named = Vec::new();
        for (id, summary) in waits_for {
            let short = store.short_thread_id(id)?;
            named.push(Named { id: id.0.clone(), short, summary: summary.clone() });
        }
        Ok(Self {
            id: thread.id.0.clone(),
            short: store.short_thread_id(&thread.id)?,
            project: project_name.clone(),
            waits_for: named,
            ..Self::of_thread(thread, now)
        })
    }

    fn of_thread(thread: &Thread, now: Timestamp) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            id: thread.id.0.clone(),
            short: String::new(),
            origin: thread.origin,
            kind: thread.kind,
            priority: thread.priority,
            status: thread.status,
            summary: thread.told().to_owned(),
            context: thread.context.clone(),
            project: thread.project.clone(),
            branch: thread.branch.clone(),
            session: thread.session.clone(),
            commit: None,
            file: None,
            author: None,
            tier: None,
            came_from: None,
            created: time(thread.created),
            last_mentioned: time(thread.last_mentioned),
            n_mentions: thread.n_mentions,
            is_archived: thread.is_archived(now),
            waits_for: Vec::new(),
            links: thread.links.iter().map(|link| link.0.clone()).collect(),
            proposal: thread.proposal.as_ref().map(Closing::of),
            resolution: thread.resolution.as_ref().map(Closing::of),
            doubt: None,
        }
    }

    /// A lesson; `ids` are those of all lessons in the list.
    pub(crate) fn of_lesson(lesson: &Unfinished) -> Self {
        let at = Timestamp::from_second(lesson.at).ok().filter(|_| lesson.at != 0);
        Self {
            id: lesson.id.0.clone(),
            short: lesson.short.clone(),
            origin: Origin::Lesson,
            kind: ThreadKind::Todo,
            priority: lesson.priority,
            status: Status::Pending,
            summary: lesson.text.clone(),
            context: String::new(),
            project: String::new(),
            branch: None,
            session: None,
            commit: Some(lesson.commit.clone()),
            file: lesson.file.clone(),
            author: Some(lesson.author.clone()).filter(|author| !author.is_empty()),
            tier: Some(lesson.tier),
            came_from: lesson.origin.clone(),
            created: at.map(|at| at.to_string()),
            last_mentioned: at.map(|at| at.to_string()),
            n_mentions: 1,
            is_archived: false,
            waits_for: Vec::new(),
            links: Vec::new(),
            proposal: None,
            resolution: None,
            doubt: lesson.doubt.clone(),
        }
    }

    /// Whether it waits for another thread, or for something outside.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.waits_for.is_empty() || self.kind == ThreadKind::Blocked
    }

    /// How far its author is trusted; threads are the user's own.
    #[must_use]
    pub fn whose(&self) -> Tier {
        self.tier.unwrap_or(Tier::Own)
    }

    /// The order of lists: that of [`Thread::rank`], with lessons among threads, and those of strangers last.
    pub(crate) fn rank(&self) -> impl Ord + use<> {
        let is_foreign = self.whose() == Tier::Unknown;
        let is_idle = self.status != Status::InProgress;
        let mentioned = self.last_mentioned.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        (is_foreign, self.priority, self.waits(), is_idle, Reverse(mentioned), self.id.clone())
    }
}

impl Closing {
    fn of(resolution: &Resolution) -> Self {
        Self {
            how: resolution.how,
            note: resolution.note.clone(),
            at: resolution.at.map(|at| at.to_string()),
            evidence: resolution.evidence.clone(),
        }
    }
}
