//! Answers for programs: one object on one line.

use std::borrow::Cow;

use chronicle_core::reading::{Reading, mark_repeated_intents};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    Allowance, AllowedRepositories, AnnotateReply, AuthorContext, Candidates, Check, CorrectReply,
    CostReport, Deps, Diagnosis, GcReply, ImportReply, KnowledgeReply, LlmCheck, OutlineAnswer, PurgeReply,
    ReconcileReply, Settings, Setup, Shown, StagedRemark, Status, Summary, Synced, Timeline, Why,
    WrittenReply,
    agent::{Injected, InjectedSummary},
    ask::Asked,
    blocks::{BlockHistory, BlockList, FoundLines, ShownBlock},
    brief::Brief,
    catch_up::CatchUp,
    digest::Digest,
    find::{About, Finding, How},
    learning::{FeedbackReply, Patterns, Preferences, Problems, Projects, Skills},
    sessions::{
        ExcludeReply, ForgetReply, IngestReply, MemoryTransfer, SessionList, ShownSession, WordedReply,
    },
    share::{SharePulled, SharePushed, ShareStatus, SharedFinding},
    sleep::Consolidated,
    threads::{Pending, ShownThread, ThreadReply},
    tiers::MemoryStatus,
};

/// Top-level keys that are always there, however empty.
const ALWAYS: [&str; 9] = [
    "query",
    "regions",
    "wisdom",
    "dependencies_on_this",
    "cross_cutting",
    "knowledge",
    "stats",
    "trimmed",
    "warnings",
];
/// The same for the other answers.
const ALWAYS_IN_ANSWERS: [&str; 9] =
    ["moments", "items", "dependents", "files", "commits", "uncommitted", "regions", "wisdom", "warnings"];
/// Keys of items that are always there: null says something.
const TELLING: [&str; 3] = ["lines", "commits_since", "constraints"];

/// An answer as programs get it.
pub trait Answer {
    /// The object; what is empty is in it if it is `verbose`, or of a kind that is always whole.
    fn json(&self, verbose: bool) -> Value;

    /// The same on one line, in which no character acts on a terminal.
    fn json_line(&self, verbose: bool) -> String {
        line(&self.json(verbose))
    }
}

impl Answer for Reading {
    fn json(&self, verbose: bool) -> Value {
        let mut answer = self.clone();
        mark_repeated_intents(answer.regions.iter_mut());
        let mut value = whole(&answer);
        if let Some(map) = value.as_object_mut() {
            if self.file.is_none() {
                map.shift_remove("file");
            }
            if !verbose {
                compact(map, &ALWAYS);
            }
        }
        value
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
    Asked,
    Brief,
    Candidates,
    CatchUp,
    Consolidated,
    CorrectReply,
    CostReport,
    Diagnosis,
    Digest,
    ExcludeReply,
    FeedbackReply,
    Finding,
    ForgetReply,
    FoundLines,
    GcReply,
    How,
    ImportReply,
    IngestReply,
    Injected,
    InjectedSummary,
    KnowledgeReply,
    LlmCheck,
    MemoryStatus,
    MemoryTransfer,
    Patterns,
    Pending,
    Preferences,
    Problems,
    Projects,
    PurgeReply,
    ReconcileReply,
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
pub fn error(code: &str, message: &str, hint: Option<&str>) -> String {
    let mut error =
        Map::from_iter([("code".to_owned(), code.into()), ("message".to_owned(), message.into())]);
    error.extend(hint.map(|hint| ("hint".to_owned(), hint.into())));
    line(&json!({ "schema": "chronicle-error/v1", "error": error }))
}

/// Leaves out what is null or empty, but for `always` here and [`TELLING`] keys below.
fn compact(map: &mut Map<String, Value>, always: &[&str]) {
    map.retain(|key, value| always.contains(&key.as_str()) || !is_empty(value));
    for value in map.values_mut() {
        match value {
            Value::Object(inner) => compact(inner, &TELLING),
            Value::Array(elements) => elements
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|inner| compact(inner, &TELLING)),
            _ => {}
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// JSON on one line, in which no character acts on a terminal: strings may hold some that JSON allows.
pub(super) fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("answers are plain data");
    let mut line = match chronicle_core::plain(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(_) => escaped(&text),
    };
    line.push('\n');
    line
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        let mut buffer = [0; 4];
        if chronicle_core::plain(character.encode_utf8(&mut buffer)).is_empty() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped
}
