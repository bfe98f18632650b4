//! The use cases of commit memory, and the join of both memories. Floor 4.
//!
//! Every face (command line, MCP, hooks, editors) calls these functions and those of `chronicle-memory` and
//! `chronicle-annotator`, and writes the same answers with `chronicle-render`.

pub mod agent;
mod anchors;
mod annotate;
pub mod ask;
mod check;
mod context;
mod correct;
mod deps;
mod doctor;
pub mod find;
mod form;
mod gc;
mod history;
mod hook;
mod hooks;
mod knowledge;
mod line_origin;
mod note;
mod outline;
mod paths;
mod present_code;
mod purge;
mod read;
mod read_with_blame;
mod rewrite;
mod show;
mod status;
mod status_line;
mod summary;
mod sync;
mod transfer;
mod why;
pub mod writer_log;

use std::path::Path;

use chronicle_memory::Memory;
use chronicle_workplace::Workplace;
use jiff::Timestamp;

pub use agent::{Agents, without_fences};
pub use annotate::{AnnotateCommand, AnnotateReply, Given};
pub use check::{Check, CheckScope, CheckedFile, Touch, TouchedDependent, TouchedLesson};
pub use chronicle_commits::parsing;
pub use chronicle_commits::{
    AuthorContext, LESSON_OPTIONS, Said, StagedRemark, Work, input::MAX_BYTES as MAX_INPUT_BYTES,
    reconcile::Effort,
};
pub use chronicle_core::{
    Category, ContextLevel, InvalidRange, LineRange, are,
    correction::Tier,
    counted, counted_are, is_session_id,
    period::Span,
    plain,
    reading::{Dependency, KnowledgeItem, Match, Reading, RegionItem, Standing, State, WisdomItem},
    room, shown_json,
    thread::{How, Priority, ThreadKind},
    without_commands,
};
pub use chronicle_git::scratch::git as scratch_git;
pub use chronicle_git::{
    FileLock, GLANCE_ENVIRONMENT, Glance, Patience, UnsavedText, files, is_named_elsewhere,
};
pub use chronicle_llm::{Cancel, Model, Purpose};
pub use context::{Committed, ContextCommand};
pub use correct::{ClaimLine, CorrectCommand, CorrectReply, FlagCommand};
pub use deps::Deps;
pub use doctor::Diagnosis;
pub use form::AnnotationForm;
pub use gc::GcReply;
pub use history::{Moment, Timeline};
pub use hook::GitHooks;
pub use hooks::{Setup, SetupChange};
pub use knowledge::{AddKnowledge, KnowledgeReply, NewKnowledge};
pub use line_origin::{Certainty, Origin};
pub use note::NoteCommand;
pub use outline::{OutlineAnswer, OutlineItem};
pub use present_code::PresentCode;
pub use purge::{PurgeReply, RewrittenRef};
pub use read::{Budget, ReadCommand};
pub use rewrite::{CarryReply, ReconcileReply, Sources, Succession, commits_between, rewritten_pairs};
pub use show::{Shown, ShownCorrection};
pub use status::{Covered, Status};
pub use status_line::StatusLine;
pub use summary::{FileSummary, Kind, Summary, UnitSummary};
pub use sync::{Remotes, Standing as SyncStanding, Synced, SyncedRef, SyncedRemote};
pub use transfer::{ExportForm, ExportReply, ImportReply};
pub use why::{ChangedItem, ItemChanges, Why, WhyScope, Wrote};
pub use writer_log::WrittenOutcome;

/// The application for a repository: commit memory, and what it has in common with session memory.
pub struct Chronicle {
    workplace: Workplace,
}

impl Chronicle {
    /// The application at `workplace`.
    #[must_use]
    pub fn new(workplace: Workplace) -> Self {
        Self { workplace }
    }

    /// The same, for another directory.
    #[must_use]
    pub fn at(&self, directory: &Path) -> Self {
        Self::new(self.workplace.at(directory))
    }

    /// The application for the repository at `directory` and no other, whatever the environment says.
    #[must_use]
    pub fn isolated(directory: &Path, now: Timestamp) -> Self {
        Self::new(Workplace::isolated(directory, now))
    }

    /// Where and when this runs.
    #[must_use]
    pub fn workplace(&self) -> &Workplace {
        &self.workplace
    }

    /// Session memory.
    #[must_use]
    pub fn memory(&self) -> Memory<'_> {
        Memory::new(&self.workplace)
    }

    /// What agents are told.
    #[must_use]
    pub fn agents(&self) -> Agents<'_> {
        Agents { chronicle: self }
    }

    /// What is done in git's hooks.
    #[must_use]
    pub fn git_hooks(&self) -> GitHooks<'_> {
        GitHooks { chronicle: self }
    }

    /// The exchange of notes with remotes.
    #[must_use]
    pub fn remotes(&self) -> Remotes<'_> {
        Remotes { chronicle: self }
    }
}
