//! The tiers of session memory: what is always at hand, what is searched, what is kept compressed; and what fades.

mod item;

use std::{collections::BTreeMap, io::Write, path::PathBuf};

use chronicle_core::{
    Age,
    decay::Decay,
    period::Span,
    thread::{Priority, Thread},
};
use chronicle_search::{BlockVersion, Job, KeptTranscript, NamedSession, Used};
use chronicle_workplace::{Error, error::UnknownSessionSnafu};
pub use item::{Importance, ItemShown, ItemSource, MemoryItem};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    brief::{Brief, BriefCommand, DEFAULT_BUDGET},
    sleep::WHOLE,
};

/// Threads that are looked at.
const MOST_THREADS: usize = 10_000;

/// The tiers, and what fades in them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryStatus {
    /// Always `chronicle-memory/v1`.
    pub schema: &'static str,
    /// Where it is all kept.
    pub home: PathBuf,
    /// What a briefing tells here.
    pub hot: Hot,
    /// What is searched.
    pub warm: Warm,
    /// What is kept compressed.
    pub cold: Cold,
    /// How kinds of memories fade.
    pub fading: Vec<Fading>,
    /// When jobs were done last.
    pub jobs: Vec<JobStatus>,
}

/// What is always at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hot {
    /// Characters of the briefing of this project, as it would be now.
    pub characters: usize,
    /// How many it may have.
    pub limit: usize,
    /// Characters of all blocks that have versions.
    pub block_characters: usize,
}

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warm {
    /// Projects.
    pub projects: u64,
    /// Sessions, those of sub-agents included.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Threads that are open.
    pub open_threads: u64,
    /// Versions of blocks.
    pub block_versions: usize,
    /// Bytes of the text of turns.
    pub text_bytes: u64,
    /// Bytes of the store.
    pub file_bytes: u64,
}

/// What is kept compressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cold {
    /// Transcripts.
    pub transcripts: usize,
    /// Of those, how many the agent does not keep any more.
    pub only_here: usize,
    /// Bytes that they take.
    pub bytes: u64,
    /// Bytes that they would take.
    pub whole_bytes: u64,
    /// Bytes that they may take.
    pub budget_bytes: u64,
}

/// How a kind of memory fades.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fading {
    /// What: `sessions` or `threads`.
    pub kind: &'static str,
    /// The days after which half is left.
    pub half_life_days: f64,
    /// What is left for good.
    pub floor: f64,
    /// How many there are.
    pub n: usize,
    /// How many have less than half of their importance left.
    pub n_faded: usize,
    /// How many have fallen to the floor.
    pub n_at_floor: usize,
    /// How many were used since they were shown.
    pub n_used: usize,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobStatus {
    /// `daily`, `weekly` or `monthly`.
    pub job: &'static str,
    /// When it was done last.
    pub last: Option<String>,
    /// Whether it is due.
    pub is_due: bool,
}

impl Memory<'_> {
    /// The tiers of session memory, and what fades in them. `measure` says how many characters a briefing has as agents
    /// get it.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn memory_status(&self, measure: &dyn Fn(&Brief) -> usize) -> Result<MemoryStatus, Error> {
        let home = self.workplace.memory_home()?;
        let budget_bytes = self.cold_budget();
        let mut status = MemoryStatus {
            schema: "chronicle-memory/v1",
            home,
            hot: Hot { characters: 0, limit: DEFAULT_BUDGET, block_characters: 0 },
            warm: Warm {
                projects: 0,
                sessions: 0,
                turns: 0,
                open_threads: 0,
                block_versions: 0,
                text_bytes: 0,
                file_bytes: 0,
            },
            cold: Cold { transcripts: 0, only_here: 0, bytes: 0, whole_bytes: 0, budget_bytes },
            fading: Vec::new(),
            jobs: Vec::new(),
        };
        let Some(memory) = self.open()? else { return Ok(status) };
        let command =
            BriefCommand { project: None, all: false, budget: DEFAULT_BUDGET, compacted: None, measure };
        status.hot.characters = measure(&self.brief(&command)?);
        let totals = memory.store.totals()?;
        status.warm.projects = totals.projects;
        status.warm.sessions = totals.sessions;
        status.warm.turns = totals.turns;
        status.warm.open_threads = totals.open_threads;
        status.warm.text_bytes = totals.text_bytes;
        status.warm.file_bytes = totals.file_bytes;
        for label in memory.store.read(BlockVersion::labels)? {
            let versions = memory.store.read(|connection| BlockVersion::all(connection, &label))?;
            status.warm.block_versions += versions.len();
            status.hot.block_characters += versions.last().map_or(0, |latest| latest.text.n_characters());
        }
        for kept in memory.store.read(KeptTranscript::all)? {
            status.cold.transcripts += 1;
            let is_there = crate::sessions::kept::is_there(std::path::Path::new(&kept.source));
            status.cold.only_here += usize::from(!is_there);
            status.cold.bytes += kept.n_bytes;
            status.cold.whole_bytes += kept.n_whole;
        }
        let uses = memory.uses()?;
        let mut sessions = Fading::of("sessions", Decay::SESSION);
        for session in
            memory.store.read(|connection| NamedSession::latest(connection, None, None, usize::MAX))?
        {
            let n_uses = uses.get(&session.record.name).map_or(0, Vec::len);
            let initial = f64::from(session.record.importance);
            sessions.count(Decay::SESSION, initial, self.importance_of(&session, &uses), n_uses);
        }
        let mut threads = Fading::of("threads", Decay::THREAD);
        for listed in memory.store.listed_threads(None, self.workplace.now(), true, MOST_THREADS)? {
            let thread = &listed.thread;
            let importance = self.importance_of_thread(thread, &uses);
            let n_uses = uses.get(&thread.id.0).map_or(0, Vec::len);
            threads.count(Decay::THREAD, initial_of(thread), importance, n_uses);
        }
        status.fading = vec![sessions, threads];
        for span in Span::ALL {
            let last = memory.store.read(|connection| Job::find(connection, span.adverb(), WHOLE))?;
            status.jobs.push(JobStatus {
                job: span.adverb(),
                last: last.map(|last| last.done_at.to_string()),
                is_due: self.is_due(&memory, span)?,
            });
        }
        Ok(status)
    }

    /// How important a thread is now.
    fn importance_of_thread(&self, thread: &Thread, uses: &BTreeMap<String, Vec<Used>>) -> f64 {
        let days = |at: Option<Timestamp>| at.map_or(0.0, |at| Age::between(at, self.workplace.now()).days());
        let ages = uses.get(&thread.id.0).into_iter().flatten().map(|used| days(Some(used.at)));
        // That it came up again is a use of it.
        let again = (1 < thread.n_mentions).then(|| days(thread.last_mentioned));
        Decay::THREAD.importance(initial_of(thread), days(thread.created), ages.chain(again))
    }

    /// Writes out the transcript of a session as it is kept, without secrets.
    ///
    /// # Errors
    /// When there is no such session, its transcript is not kept, or it cannot be written.
    pub fn kept_transcript(&self, start: &str, out: &mut dyn Write) -> Result<u64, Error> {
        let unknown = |reason: String| UnknownSessionSnafu { reason }.fail();
        let Some(memory) = self.open()? else { return unknown("session memory is empty".to_owned()) };
        let session = memory.session(start)?;
        let kept = memory.store.read(KeptTranscript::all)?;
        let Some(kept) = kept.into_iter().find(|kept| kept.session == session.id) else {
            return unknown(format!(
                "the transcript of session `{}` is not kept; transcripts of what is cited are, once a week",
                session.record.name.escape_debug()
            ));
        };
        let path = self.workplace.memory_home()?.join(&kept.file);
        let fails = |source| Error::ReadInput { path: path.clone(), source };
        let mut file = std::fs::File::open(&path).map_err(fails)?;
        chronicle_sessions::unpack(&mut file, out).map_err(fails)
    }
}

/// How important a thread is at first.
fn initial_of(thread: &Thread) -> f64 {
    match thread.priority {
        Priority::High => 5.0,
        Priority::Medium => 3.0,
        Priority::Low => 2.0,
    }
}

impl Fading {
    fn of(kind: &'static str, decay: Decay) -> Self {
        Self {
            kind,
            half_life_days: decay.half_life,
            floor: decay.floor,
            n: 0,
            n_faded: 0,
            n_at_floor: 0,
            n_used: 0,
        }
    }

    fn count(&mut self, decay: Decay, initial: f64, importance: f64, n_uses: usize) {
        self.n += 1;
        self.n_faded += usize::from(importance < initial / 2.0);
        self.n_at_floor += usize::from(importance <= decay.floor);
        self.n_used += usize::from(0 < n_uses);
    }
}
