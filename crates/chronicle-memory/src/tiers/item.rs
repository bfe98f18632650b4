//! One session or thread of session memory: where it is from, in what state it is, why it ranks as it does, and who was
//! shown it.

use std::{collections::BTreeMap, path::Path};

use chronicle_core::{Age, decay::Decay};
use chronicle_search::{ListedThread, NamedSession, Source, Used};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    memory::OpenMemory,
    sessions::{kept::is_there, look::Digested, short_session},
};

/// One item of session memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryItem {
    /// Always `chronicle-memory-item/v1`.
    pub schema: &'static str,
    /// `session` or `thread`.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Where it comes from.
    pub source: ItemSource,
    /// In what state it is: for a thread its status and priority, for a session how many turns are stored.
    pub state: String,
    /// How important it is now, and why.
    pub importance: Importance,
    /// The sessions that were shown it, the last first.
    pub shown: Vec<ItemShown>,
    /// The command that removes a session, or drops a thread.
    pub forget: String,
}

/// Where an item comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ItemSource {
    /// Its project.
    pub project: String,
    /// The session; null for a thread that was added by hand.
    pub session: Option<String>,
    /// When the session ended, or the thread came up.
    pub at: Option<String>,
    /// The transcripts of a session, and whether they are still there.
    pub transcripts: Vec<(String, bool)>,
}

/// How important an item is, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Importance {
    /// Now.
    pub now: f64,
    /// At first.
    pub initial: f64,
    /// How many days ago that was.
    pub days: f64,
    /// The days after which half is left.
    pub half_life_days: f64,
    /// What is left for good.
    pub floor: f64,
    /// How often it was used or mentioned since: each time adds to it.
    pub uses: usize,
    /// How many items of its kind are more important, in all projects.
    pub more_important: usize,
    /// How many of its kind there are.
    pub of: usize,
}

/// That a session was shown an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ItemShown {
    /// The session that saw it.
    pub session: String,
    /// When.
    pub at: String,
    /// At which event, such as `session-start`.
    pub event: String,
    /// Whether the session spoke of it afterwards; null while that is not known.
    pub used: Option<bool>,
}

impl Memory<'_> {
    /// One item, by the beginning of its id: a thread where it begins with `t-`, else a session.
    ///
    /// # Errors
    /// When there is none or more than one, or session memory cannot be read.
    pub fn memory_item(&self, start: &str) -> Result<MemoryItem, Error> {
        let Some(memory) = self.open()? else {
            return Err(Error::UnknownSession { reason: "session memory is empty".to_owned() });
        };
        let uses = memory.uses()?;
        if start.starts_with("t-") {
            let thread = self.threads().one_thread(&memory, start)?;
            return self.item_of_thread(&memory, &thread, &uses);
        }
        let session = memory.session(start)?;
        self.item_of_session(&memory, &session, &uses)
    }

    fn item_of_session(
        &self,
        memory: &OpenMemory,
        session: &NamedSession,
        uses: &BTreeMap<String, Vec<Used>>,
    ) -> Result<MemoryItem, Error> {
        let record = &session.record;
        let now = self.importance_of(session, uses);
        let all = memory.store.read(|connection| NamedSession::latest(connection, None, None, usize::MAX))?;
        let sources = memory.store.read(|connection| Source::of_session(connection, session.id))?;
        let n_turns = memory.store.read(|connection| session.n_turns(connection))?;
        let digest = if session.digest().is_some() { "with a digest" } else { "without a digest" };
        Ok(MemoryItem {
            schema: "chronicle-memory-item/v1",
            kind: "session",
            id: record.name.clone(),
            title: record.title.clone(),
            source: ItemSource {
                project: memory.project_name(session)?,
                session: Some(record.name.clone()),
                at: record.last.map(|at| at.to_string()),
                transcripts: sources
                    .into_iter()
                    .map(|source| (source.path.clone(), is_there(Path::new(&source.path))))
                    .collect(),
            },
            state: format!("{n_turns} turns, {digest}"),
            importance: Importance {
                now,
                initial: f64::from(record.importance),
                days: self.days_since(record.last),
                half_life_days: Decay::SESSION.half_life,
                floor: Decay::SESSION.floor,
                uses: uses.get(&record.name).map_or(0, Vec::len),
                more_important: all.iter().filter(|other| now < self.importance_of(other, uses)).count(),
                of: all.len(),
            },
            shown: self.shown(&record.name)?,
            forget: format!("git chronicle session forget {}", short_session(&record.name)),
        })
    }

    fn item_of_thread(
        &self,
        memory: &OpenMemory,
        listed: &ListedThread,
        uses: &BTreeMap<String, Vec<Used>>,
    ) -> Result<MemoryItem, Error> {
        let thread = &listed.thread;
        let all = memory.store.listed_threads(None, self.workplace.now(), true, super::MOST_THREADS)?;
        let now = self.importance_of_thread(thread, uses);
        let short = memory.store.short_thread_id(&thread.id)?;
        let proposed = if thread.proposal.is_some() { ", may be done" } else { "" };
        Ok(MemoryItem {
            schema: "chronicle-memory-item/v1",
            kind: "thread",
            id: thread.id.0.clone(),
            title: thread.told().to_owned(),
            source: ItemSource {
                project: listed.project_name.clone(),
                session: thread.session.clone(),
                at: thread.created.map(|at| at.to_string()),
                transcripts: Vec::new(),
            },
            state: format!("{}, {} priority{proposed}", thread.status.name(), thread.priority.name()),
            importance: Importance {
                now,
                initial: super::initial_of(thread),
                days: self.days_since(thread.created),
                half_life_days: Decay::THREAD.half_life,
                floor: Decay::THREAD.floor,
                uses: uses.get(&thread.id.0).map_or(0, Vec::len) + usize::from(1 < thread.n_mentions),
                more_important: all
                    .iter()
                    .filter(|other| now < self.importance_of_thread(&other.thread, uses))
                    .count(),
                of: all.len(),
            },
            shown: self.shown(&thread.id.0)?,
            forget: format!("git chronicle thread drop {short}"),
        })
    }

    fn days_since(&self, at: Option<Timestamp>) -> f64 {
        at.map_or(0.0, |at| Age::between(at, self.workplace.now()).days())
    }

    /// The sessions that were shown the item `id`, the last first.
    fn shown(&self, id: &str) -> Result<Vec<ItemShown>, Error> {
        let told = self.all_injected(None)?.into_iter().filter_map(|text| {
            let item = text.items.into_iter().find(|item| item.id == id)?;
            Some(ItemShown { session: text.session, at: text.at, event: text.event, used: item.used })
        });
        Ok(told.collect())
    }
}
