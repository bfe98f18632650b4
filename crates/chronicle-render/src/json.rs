//! Answers for programs: one object on one line.

use chronicle::{
    AnnotateReply, AuthorContext, Check, CorrectReply, Deps, Diagnosis, GcReply, ImportReply, KnowledgeReply,
    OutlineAnswer, PurgeReply, ReconcileReply, Setup, Shown, StagedRemark, Status, Summary, Synced, Timeline,
    Why,
    agent::{Injected, InjectedSummary},
    ask::{Asked, RoutedAnswer},
    find::Found,
};
use chronicle_annotator::{Candidates, WrittenReply};
use chronicle_core::reading::{Reading, compact, json_line, mark_repeated_intents};
use chronicle_memory::{
    blocks::{BlockHistory, BlockList, FoundLines, ShownBlock},
    brief::Brief,
    catch_up::CatchUp,
    digest::Digest,
    find::{About, Finding, Fix, How},
    handoff::Handoff,
    imports::ImportedMemory,
    learning::{DeveloperProfile, FeedbackReply, Patterns, Preferences, Problems, Projects, Skills},
    listing::Listing,
    sessions::{
        ExcludeReply, ForgetReply, IngestReply, MemoryTransfer, Resumption, SessionList, ShownSession,
        WordedReply,
    },
    share::{SharePulled, SharePushed, ShareStatus, SharedFinding},
    sleep::Consolidated,
    sync::{PairReply, SyncReply},
    threads::{Pending, ShownThread, ThreadReply},
    tiers::{MemoryItem, MemoryStatus},
};
use chronicle_workplace::{Allowance, AllowedRepositories, Code, CostReport, LlmCheck, Settings};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Top-level keys of answers other than a reading that are always there, however empty.
const ALWAYS_IN_ANSWERS: [&str; 9] =
    ["moments", "items", "dependents", "files", "commits", "uncommitted", "regions", "wisdom", "warnings"];

/// Keys of a lesson that are always there: null says something.
const LESSON_KEYS: [&str; 2] = ["lines", "commits_since"];

/// An answer as programs get it.
pub trait Answer {
    /// The object; what is empty is in it if it is `verbose`, or of a kind that is always whole.
    fn json(&self, verbose: bool) -> Value;

    /// The same on one line, in which no character acts on a terminal.
    fn json_line(&self, verbose: bool) -> String {
        json_line(&self.json(verbose))
    }
}

impl Answer for Reading {
    fn json(&self, verbose: bool) -> Value {
        Self::json(self, verbose)
    }
}

impl Answer for [StagedRemark] {
    fn json(&self, _verbose: bool) -> Value {
        json!({ "schema": "chronicle-staged/v1", "staged": self })
    }
}

impl Answer for [AuthorContext] {
    fn json(&self, _verbose: bool) -> Value {
        json!({ "schema": "chronicle-context/v1", "contexts": self })
    }
}

/// Implements [`Answer`] for answers that leave out what is empty.
macro_rules! compact {
    ($($answer:ty),* $(,)?) => {$(
        impl Answer for $answer {
            fn json(&self, verbose: bool) -> Value {
                compacted(self, verbose)
            }
        }
    )*};
}

compact!(Check, Deps, OutlineAnswer, Summary);

impl Answer for Asked {
    fn json(&self, _verbose: bool) -> Value {
        let mut value = whole(self);
        value["answer"] = self.answer.json(false);
        compact_lessons(&mut value);
        value
    }
}

impl Answer for Found {
    fn json(&self, _verbose: bool) -> Value {
        let mut value = whole(self);
        compact_lessons(&mut value);
        value
    }
}

/// Leaves out of the lessons of an answer what is empty, as a reading does.
fn compact_lessons(answer: &mut Value) {
    for lesson in answer["lessons"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        compact(lesson, &LESSON_KEYS);
    }
}

impl Answer for RoutedAnswer {
    fn json(&self, verbose: bool) -> Value {
        match self {
            Self::Brief(answer) => answer.json(verbose),
            Self::Digest(answer) => answer.json(verbose),
            Self::CatchUp(answer) => answer.json(verbose),
            Self::Pending(answer) => answer.json(verbose),
            Self::About(answer) => answer.json(verbose),
            Self::How(answer) => answer.json(verbose),
            Self::Projects(answer) => answer.json(verbose),
            Self::Why(answer) => answer.json(verbose),
            Self::Read(answer) => Answer::json(&**answer, verbose),
            Self::Preferences(answer) => answer.json(verbose),
            Self::Patterns(answer) => answer.json(verbose),
            Self::Skills(answer) => answer.json(verbose),
            Self::Problems(answer) => answer.json(verbose),
            Self::Find(answer) => answer.json(verbose),
            Self::List(answer) => answer.json(verbose),
            Self::Fix(answer) => answer.json(verbose),
        }
    }
}

impl Answer for Timeline {
    fn json(&self, verbose: bool) -> Value {
        let mut answer = self.clone();
        mark_repeated_intents(answer.moments.iter_mut().flat_map(|moment| &mut moment.regions));
        compacted(&answer, verbose)
    }
}

impl Answer for Why {
    fn json(&self, verbose: bool) -> Value {
        let mut answer = self.clone();
        mark_repeated_intents(answer.regions.iter_mut());
        compacted(&answer, verbose)
    }
}

fn compacted(answer: &impl Serialize, verbose: bool) -> Value {
    let mut value = whole(answer);
    if let (Some(map), false) = (value.as_object_mut(), verbose) {
        compact(map, &ALWAYS_IN_ANSWERS);
    }
    value
}

/// Implements [`Answer`] for answers that are always whole.
macro_rules! whole {
    ($($answer:ty),* $(,)?) => {$(
        impl Answer for $answer {
            fn json(&self, _verbose: bool) -> Value {
                whole(self)
            }
        }
    )*};
}

whole!(
    About,
    AllowedRepositories,
    Allowance,
    AnnotateReply,
    BlockHistory,
    BlockList,
    Brief,
    Candidates,
    CatchUp,
    Consolidated,
    CorrectReply,
    CostReport,
    Diagnosis,
    DeveloperProfile,
    Digest,
    ExcludeReply,
    FeedbackReply,
    Finding,
    ForgetReply,
    FoundLines,
    GcReply,
    Fix,
    Handoff,
    How,
    ImportReply,
    ImportedMemory,
    IngestReply,
    Injected,
    InjectedSummary,
    KnowledgeReply,
    Listing,
    LlmCheck,
    MemoryItem,
    MemoryStatus,
    MemoryTransfer,
    PairReply,
    Patterns,
    Pending,
    Preferences,
    Problems,
    Projects,
    PurgeReply,
    ReconcileReply,
    Resumption,
    SessionList,
    Settings,
    Setup,
    SharePulled,
    SharePushed,
    ShareStatus,
    SharedFinding,
    Shown,
    ShownBlock,
    ShownSession,
    ShownThread,
    Skills,
    Status,
    SyncReply,
    Synced,
    ThreadReply,
    WordedReply,
    WrittenReply,
);

fn whole(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are plain data")
}

/// An error as every command writes it in JSON.
#[must_use]
pub fn error(code: Code, message: &str, hint: Option<&str>) -> String {
    let mut error =
        Map::from_iter([("code".to_owned(), code.as_str().into()), ("message".to_owned(), message.into())]);
    error.extend(hint.map(|hint| ("hint".to_owned(), hint.into())));
    json_line(&json!({ "schema": "chronicle-error/v1", "error": error }))
}
