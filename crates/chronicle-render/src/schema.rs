//! JSON Schemas of everything that is stored, taken or answered.

use chronicle::{
    AnnotateReply, Check, CorrectReply, Deps, Diagnosis, GcReply, ImportReply, KnowledgeReply, OutlineAnswer,
    PurgeReply, Setup, Shown, Status, Summary, Synced, Timeline, Why, ask::Asked,
};
use chronicle_annotator::WrittenReply;
use chronicle_commits::input::AnnotateInput;
use chronicle_core::{
    Annotation, Knowledge, correction::Correction, distance, purge::Tombstone, reading::Reading,
};
use chronicle_memory::{
    blocks::{BlockList, ShownBlock},
    brief::Brief,
    catch_up::CatchUp,
    digest::Digest,
    find::{About, Finding, Fix, How},
    learning::{DeveloperProfile, FeedbackReply, Patterns, Preferences, Problems, Projects, Skills},
    share::{SharePulled, SharePushed, ShareStatus, SharedFinding},
    sleep::Consolidated,
    threads::{Pending, ShownThread, ThreadReply},
    tiers::MemoryStatus,
};
use chronicle_workplace::{
    Allowance, AllowedRepositories, CostReport, Error, LlmCheck, Settings, error::UnknownSchemaSnafu,
};
use schemars::{Schema, schema_for};

/// The names of the schemas.
pub const SCHEMA_NAMES: [&str; 55] = [
    "annotation",
    "annotate-input",
    "annotate-output",
    "agent-output",
    "read-output",
    "show-output",
    "history-output",
    "deps-output",
    "summary-output",
    "sync-output",
    "import-output",
    "status-output",
    "doctor-output",
    "gc-output",
    "why-output",
    "check-output",
    "outline-output",
    "brief-output",
    "catch-up-output",
    "blocks-output",
    "block-output",
    "consolidate-output",
    "digest-output",
    "memory-output",
    "pending-output",
    "thread-output",
    "thread-history-output",
    "config-output",
    "allow-output",
    "allowed-output",
    "correct-output",
    "cost-output",
    "knowledge-output",
    "llm-output",
    "purge-output",
    "setup-output",
    "share-output",
    "share-push-output",
    "share-pull-output",
    "find-output",
    "find-shared-output",
    "about-output",
    "how-output",
    "fix-output",
    "ask-output",
    "preferences-output",
    "profile-output",
    "patterns-output",
    "skills-output",
    "projects-output",
    "problems-output",
    "feedback-output",
    "knowledge",
    "correction",
    "tombstone",
];

/// The JSON Schema called `name`.
///
/// # Errors
/// When there is none of that name.
pub fn schema(name: &str) -> Result<Schema, Error> {
    Ok(match name {
        "annotation" => schema_for!(Annotation),
        "annotate-input" => schema_for!(AnnotateInput),
        "annotate-output" => schema_for!(AnnotateReply),
        "agent-output" => schema_for!(WrittenReply),
        "read-output" => schema_for!(Reading),
        "show-output" => schema_for!(Shown),
        "history-output" => schema_for!(Timeline),
        "deps-output" => schema_for!(Deps),
        "summary-output" => schema_for!(Summary),
        "status-output" => schema_for!(Status),
        "doctor-output" => schema_for!(Diagnosis),
        "gc-output" => schema_for!(GcReply),
        "import-output" => schema_for!(ImportReply),
        "sync-output" => schema_for!(Synced),
        "why-output" => schema_for!(Why),
        "check-output" => schema_for!(Check),
        "setup-output" => schema_for!(Setup),
        "config-output" => schema_for!(Settings),
        "allow-output" => schema_for!(Allowance),
        "allowed-output" => schema_for!(AllowedRepositories),
        "outline-output" => schema_for!(OutlineAnswer),
        "brief-output" => schema_for!(Brief),
        "catch-up-output" => schema_for!(CatchUp),
        "blocks-output" => schema_for!(BlockList),
        "block-output" => schema_for!(ShownBlock),
        "consolidate-output" => schema_for!(Consolidated),
        "digest-output" => schema_for!(Digest),
        "memory-output" => schema_for!(MemoryStatus),
        "pending-output" => schema_for!(Pending),
        "thread-output" => schema_for!(ThreadReply),
        "thread-history-output" => schema_for!(ShownThread),
        "correct-output" => schema_for!(CorrectReply),
        "cost-output" => schema_for!(CostReport),
        "llm-output" => schema_for!(LlmCheck),
        "knowledge-output" => schema_for!(KnowledgeReply),
        "purge-output" => schema_for!(PurgeReply),
        "share-output" => schema_for!(ShareStatus),
        "share-push-output" => schema_for!(SharePushed),
        "share-pull-output" => schema_for!(SharePulled),
        "find-output" => schema_for!(Finding),
        "find-shared-output" => schema_for!(SharedFinding),
        "about-output" => schema_for!(About),
        "how-output" => schema_for!(How),
        "fix-output" => schema_for!(Fix),
        "ask-output" => schema_for!(Asked),
        "preferences-output" => schema_for!(Preferences),
        "profile-output" => schema_for!(DeveloperProfile),
        "patterns-output" => schema_for!(Patterns),
        "skills-output" => schema_for!(Skills),
        "projects-output" => schema_for!(Projects),
        "problems-output" => schema_for!(Problems),
        "feedback-output" => schema_for!(FeedbackReply),
        "knowledge" => schema_for!(Knowledge),
        "correction" => schema_for!(Correction),
        "tombstone" => schema_for!(Tombstone),
        _ => {
            let nearest = distance::nearest(name, SCHEMA_NAMES, |name| name).unwrap_or("annotation");
            return UnknownSchemaSnafu { name, nearest }.fail();
        }
    })
}
