//! Threads changed by hand: every change is an event beside those of sessions.

use std::collections::BTreeSet;

use chronicle_core::{
    plain,
    redaction::{Removed, for_storage},
    thread::{
        Change, Evidence, How, LONGEST_SUMMARY, Opening, Origin, Priority, Resolution, ThreadEvent, ThreadId,
        ThreadKind, is_alike, priority,
    },
};
use chronicle_search::{ListedThread, Project, Store, add_events};
use chronicle_sessions::shortened;
use chronicle_workplace::{
    Error,
    error::{EmptySummarySnafu, NothingToDoSnafu, UnknownThreadSnafu},
};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::OpenItem;
use crate::{
    Threads,
    memory::{OpenMemory, Scope},
};

/// A thread to be added.
#[derive(Debug, Clone)]
pub struct AddThread {
    /// What is to be done.
    pub summary: String,
    /// Why it matters.
    pub context: Option<String>,
    /// What kind of work it is.
    pub kind: ThreadKind,
    /// How urgent it is; the rules say, if nobody else.
    pub priority: Option<Priority>,
    /// The project, if it is another one than that of the current folder.
    pub project: Option<String>,
}

/// What can be done to threads by hand.
#[derive(Debug, Clone)]
pub enum ThreadAct {
    /// They are closed.
    Close {
        /// How.
        how: How,
        /// Why.
        note: Option<String>,
    },
    /// They are open after all.
    Reopen,
    /// They have to do with another one.
    Link(String),
    /// They wait for another one.
    Block(String),
    /// They wait no longer: for one, or for any.
    Unblock(Option<String>),
    /// They are so urgent.
    Prioritise(Priority),
}

/// What was done to threads.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ThreadReply {
    /// Always `chronicle-thread/v1`.
    pub schema: &'static str,
    /// Whether anything was stored.
    pub changed: bool,
    /// The threads as they are now.
    pub threads: Vec<OpenItem>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<String>,
}

impl Threads<'_> {
    /// Adds a thread. Where there is one like it already, that one is meant, and open again.
    ///
    /// # Errors
    /// When it says nothing, the project is unknown, or it cannot be stored.
    pub fn add(&self, command: &AddThread) -> Result<ThreadReply, Error> {
        let mut removed = Removed::default();
        let summary = clean(&command.summary, &mut removed);
        let context = command.context.as_deref().map(|text| clean(text, &mut removed)).unwrap_or_default();
        snafu::ensure!(summary.chars().any(char::is_alphanumeric), EmptySummarySnafu);
        // What is cut off stays readable.
        let is_long = LONGEST_SUMMARY < summary.chars().count();
        let context = if is_long { format!("{summary} {context}").trim().to_owned() } else { context };
        let summary = shortened(&summary, LONGEST_SUMMARY);
        let mut memory = self.memory().open_to_write()?;
        let project = match self.memory().memory_scope(&memory, command.project.as_deref(), false)? {
            Scope::One(project) => project,
            Scope::All | Scope::Unknown => self.memory().project_to_write(&mut memory)?,
        };
        let known = memory.store.threads(Some(project.id), false)?;
        let id = ThreadId::derived(&project.key, &summary);
        let like = known.iter().find(|thread| thread.id == id);
        let like = like.or_else(|| known.iter().find(|thread| is_alike(&thread.summary, &summary)));
        let mut changes = Vec::new();
        match like {
            Some(thread) if thread.is_open() => {}
            Some(_) => changes.push(Change::Reopened),
            None => changes.push(Change::Opened(Opening {
                project: project.key.clone(),
                branch: command.project.is_none().then(|| self.memory().current_branch()).flatten(),
                kind: command.kind,
                origin: Origin::Hand,
                priority: priority(command.kind, &summary, false, false),
                evidence: vec![by_hand(&summary)],
                summary,
                context,
            })),
        }
        let id = like.map_or(id, |thread| thread.id.clone());
        let is_set =
            like.is_some_and(|thread| thread.is_priority_set && Some(thread.priority) == command.priority);
        changes.extend(command.priority.filter(|_| !is_set).map(Change::Prioritised));
        let events = self.events(&memory.store, &id, changes)?;
        let changed = memory.store.write(|tx| add_events(tx, &project, None, &events))? != 0;
        self.reply(&memory.store, &[id], changed, &removed)
    }

    /// Does something to the threads that `ids` name, all of it or nothing.
    ///
    /// # Errors
    /// When an id names none or several, nothing is to be done, or it cannot be stored.
    pub fn change(&self, ids: &[String], act: &ThreadAct) -> Result<ThreadReply, Error> {
        let Some(mut memory) = self.memory().open()? else {
            let id = ids.first().map_or("", String::as_str);
            return Err(self.unknown_thread(id));
        };
        let mut removed = Removed::default();
        let mut threads: Vec<ListedThread> = Vec::new();
        for id in ids {
            let thread = self.one_thread(&memory, id)?;
            if !threads.iter().any(|known| known.thread.id == thread.thread.id) {
                threads.push(thread);
            }
        }
        let other = match act {
            ThreadAct::Link(other) | ThreadAct::Block(other) | ThreadAct::Unblock(Some(other)) => {
                Some(self.one_thread(&memory, other)?)
            }
            _ => None,
        };
        let mut events = Vec::new();
        for thread in &threads {
            for (id, changes) in self.changes(&memory, thread, act, other.as_ref(), &mut removed)? {
                let project = memory.store.thread(&id)?.map(|listed| listed.thread.project);
                events.push((project.unwrap_or_default(), self.events(&memory.store, &id, changes)?));
            }
        }
        let n_new: usize = memory.store.write(|tx| {
            let mut n_new = 0;
            for (key, events) in &events {
                if let Some(project) = Project::by_key(tx, key)? {
                    n_new += add_events(tx, &project, None, events)?;
                }
            }
            Ok(n_new)
        })?;
        let ids: Vec<ThreadId> = threads.into_iter().map(|listed| listed.thread.id).collect();
        self.reply(&memory.store, &ids, 0 < n_new, &removed)
    }

    /// What `act` changes about `listed`, and about others because of it.
    fn changes(
        &self,
        memory: &OpenMemory,
        listed: &ListedThread,
        act: &ThreadAct,
        other: Option<&ListedThread>,
        removed: &mut Removed,
    ) -> Result<Vec<(ThreadId, Vec<Change>)>, Error> {
        let thread = &listed.thread;
        let short = memory.store.short_thread_id(&thread.id)?;
        let idle = |why: &str| NothingToDoSnafu { reason: format!("`{short}` {why}") }.fail();
        let change = match (act, other) {
            (ThreadAct::Close { .. }, _) if !thread.is_open() => {
                let how = thread.resolution.as_ref().map_or("closed", |resolution| resolution.how.name());
                return idle(&format!("is closed already: {how}"));
            }
            (ThreadAct::Close { how, note }, _) => {
                let note = note.as_deref().map(|note| clean(note, removed)).filter(|note| !note.is_empty());
                let mut evidence = vec![by_hand(note.as_deref().unwrap_or(how.name()))];
                evidence.extend(thread.proposal.iter().flat_map(|proposal| proposal.evidence.clone()));
                let resolution = Resolution { how: *how, note, at: Some(self.workplace.now()), evidence };
                match how {
                    How::WontDo => Change::Dropped(resolution),
                    How::Completed | How::Deferred => Change::Resolved(resolution),
                }
            }
            (ThreadAct::Reopen, _) if thread.is_open() && thread.proposal.is_none() => {
                return idle("is open already");
            }
            (ThreadAct::Reopen, _) => Change::Reopened,
            (ThreadAct::Prioritise(priority), _)
                if thread.is_priority_set && thread.priority == *priority =>
            {
                return idle(&format!("has the priority {} already", priority.name()));
            }
            (ThreadAct::Prioritise(priority), _) => Change::Prioritised(*priority),
            (ThreadAct::Unblock(None), _) if thread.blocked_by.is_empty() => {
                return idle("waits for no other thread");
            }
            (ThreadAct::Unblock(None), _) => {
                let changes = thread.blocked_by.iter().cloned().map(Change::UnblockedFrom).collect();
                return Ok(vec![(thread.id.clone(), changes)]);
            }
            (_, Some(other)) if other.thread.id == thread.id => {
                return idle("is one and the same thread");
            }
            (ThreadAct::Unblock(Some(_)), Some(other)) if !thread.blocked_by.contains(&other.thread.id) => {
                return idle("does not wait for that thread");
            }
            (ThreadAct::Unblock(_), Some(other)) => Change::UnblockedFrom(other.thread.id.clone()),
            (ThreadAct::Block(_), Some(other)) if thread.blocked_by.contains(&other.thread.id) => {
                return idle("waits for that thread already");
            }
            (ThreadAct::Block(_), Some(other)) if waits(&memory.store, &other.thread.id, &thread.id)? => {
                return idle("is what that thread waits for: they would wait for each other");
            }
            (ThreadAct::Block(_), Some(other)) => Change::BlockedBy(other.thread.id.clone()),
            (_, Some(other)) if thread.links.contains(&other.thread.id) => {
                return idle("is linked to that thread already");
            }
            (_, Some(other)) => {
                let back = (other.thread.id.clone(), vec![Change::Linked(thread.id.clone())]);
                return Ok(vec![(thread.id.clone(), vec![Change::Linked(other.thread.id.clone())]), back]);
            }
            (_, None) => return Ok(Vec::new()),
        };
        Ok(vec![(thread.id.clone(), vec![change])])
    }

    /// `changes` as events that count after all that happened so far, whatever the clock says.
    pub(crate) fn events(
        &self,
        store: &Store,
        id: &ThreadId,
        changes: Vec<Change>,
    ) -> Result<Vec<ThreadEvent>, Error> {
        let last = store.thread_events(&id.0)?.into_iter().filter_map(|event| event.at).max();
        let step = SignedDuration::from_millis(1);
        let after = last.and_then(|last| last.checked_add(step).ok()).unwrap_or(Timestamp::MIN);
        let mut at = self.workplace.now().max(after);
        let mut events = Vec::new();
        for change in changes {
            events.push(ThreadEvent { thread: id.clone(), session: None, at: Some(at), change });
            at = at.checked_add(step).unwrap_or(at);
        }
        Ok(events)
    }

    /// The one thread that `id`, or an id that begins so, names.
    pub(crate) fn one_thread(&self, memory: &OpenMemory, id: &str) -> Result<ListedThread, Error> {
        let start = id.trim().to_ascii_lowercase();
        let own = start.strip_prefix("t-").unwrap_or(&start);
        let is_id = !own.is_empty() && own.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let found = if is_id { memory.store.threads_by_start(&start)? } else { Vec::new() };
        let exact = found.iter().find(|thread| thread.id.0 == start);
        match (exact, found.as_slice()) {
            (Some(only), _) | (None, [only]) => {
                memory.store.thread(&only.id)?.ok_or_else(|| self.unknown_thread(id))
            }
            (None, []) => Err(self.unknown_thread(id)),
            (None, several) => {
                let names = several.iter().take(4).map(|thread| {
                    let short = memory.store.short_thread_id(&thread.id)?;
                    Ok(format!("`{short}` ({})", shortened(&plain(thread.told()), 50)))
                });
                let names = names.collect::<Result<Vec<_>, Error>>()?.join(", ");
                let reason = format!("several threads begin with `{start}`: {names}");
                UnknownThreadSnafu { reason }.fail()
            }
        }
    }

    pub(super) fn unknown_thread(&self, id: &str) -> Error {
        let shown = id.escape_debug().to_string();
        let is_meant =
            |lesson: &OpenItem| 6 <= id.len() && lesson.id.to_lowercase().starts_with(&id.to_lowercase());
        let reason = match self.unfinished_lessons().into_iter().find(is_meant) {
            Some(lesson) => format!(
                "`{shown}` is a lesson of commit {}, not a thread; `git chronicle expire {}` ends it",
                lesson.commit.unwrap_or_default().get(..7).unwrap_or_default(),
                plain(&lesson.id)
            ),
            None => format!("there is no thread `{shown}`"),
        };
        UnknownThreadSnafu { reason }.build()
    }

    fn reply(
        &self,
        store: &Store,
        ids: &[ThreadId],
        changed: bool,
        removed: &Removed,
    ) -> Result<ThreadReply, Error> {
        let mut threads = Vec::new();
        for id in ids {
            if let Some(listed) = store.thread(id)? {
                threads.push(OpenItem::of(store, &listed, self.workplace.now())?);
            }
        }
        let redacted = removed.secrets.keys().map(|kind| kind.name().to_owned()).collect();
        Ok(ThreadReply { schema: "chronicle-thread/v1", changed, threads, redacted })
    }
}

/// Whether `thread` waits for `other`, if only for something that does.
fn waits(store: &Store, thread: &ThreadId, other: &ThreadId) -> Result<bool, Error> {
    let mut pending = vec![thread.clone()];
    let mut met = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if id == *other {
            return Ok(true);
        }
        if met.insert(id.clone())
            && let Some(listed) = store.thread(&id)?
        {
            pending.extend(listed.thread.blocked_by);
        }
    }
    Ok(false)
}

fn by_hand(words: &str) -> Evidence {
    Evidence { session: None, source: "by hand".to_owned(), words: shortened(words, 300) }
}

/// What may be stored of words that somebody typed, on one line.
fn clean(text: &str, removed: &mut Removed) -> String {
    for_storage(text, removed).split_whitespace().collect::<Vec<_>>().join(" ")
}
