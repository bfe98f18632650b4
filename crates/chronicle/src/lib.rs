//! The application: one function for each thing a user can ask. Floor 4.
//!
//! Every face (command line, MCP, hooks, editors) calls these functions and writes the
//! same answers with `chronicle-render`.

pub mod agent;
mod allow;
mod anchors;
mod annotate;
pub mod ask;
mod blaming;
pub mod blocks;
pub mod brief;
mod candidates;
pub mod catch_up;
mod check;
mod context;
mod correct;
mod deps;
pub mod digest;
mod doctor;
mod error;
mod excerpt;
pub mod find;
mod gc;
mod hook;
mod hooks;
mod join;
mod knowledge;
pub mod learning;
mod memory;
mod models;
mod outline;
mod paths;
mod purge;
mod reading;
mod rewrite;
mod schema;
pub mod sessions;
mod settings;
pub mod share;
mod show;
pub mod sleep;
mod stage;
mod status;
mod status_line;
mod summary;
mod sync;
pub mod threads;
pub mod tiers;
mod timeline;
mod transfer;
mod why;
mod writer;

use std::{
    cell::OnceCell,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use chronicle_commits::{CachePlace, Caches};
use chronicle_core::EntryId;
use chronicle_git::{Glance, LazyRepository, Repository, TrustRecords};
use jiff::Timestamp;

pub use agent::without_fences;
pub use allow::{Allowance, AllowedRepositories, AllowedRepository, WantedSetting};
pub use annotate::{AnnotateCommand, AnnotateReply, Given};
pub use candidates::{Candidate, Candidates};
pub use check::{Check, CheckScope, CheckedFile, Touch, TouchedDependent, TouchedLesson};
pub use chronicle_commits::parsing;
pub use chronicle_commits::{
    AuthorContext, LESSON_OPTIONS, Said, StagedRemark, input::MAX_BYTES as MAX_INPUT_BYTES, reconcile::Effort,
};
pub use chronicle_core::{
    Category, ContextLevel, InvalidRange, LineRange, are,
    correction::Tier,
    counted, counted_are, is_session_id,
    period::Span,
    plain,
    reading::{KnowledgeItem, Reading, RegionItem, WisdomItem},
    room, shown_json,
    thread::{How, Priority, ThreadKind},
    without_commands,
};
pub use chronicle_git::scratch::git as scratch_git;
pub use chronicle_git::{FileLock, GLANCE_ENVIRONMENT, Patience, files, is_named_elsewhere};
pub use chronicle_llm::{Cancel, Model, Purpose};
pub use context::{Committed, ContextCommand};
pub use correct::{ClaimLine, CorrectCommand, CorrectReply, FlagCommand};
pub use deps::Deps;
pub use doctor::{Diagnosis, Finding, Health};
pub use error::{Code, Error};
pub use gc::GcReply;
pub use hooks::{Setup, SetupChange};
pub use join::{Certainty, Origin};
pub use knowledge::{AddKnowledge, KnowledgeReply, NewKnowledge};
pub use models::{CallReport, CostReport, CostRow, LlmCheck, MeteredModel, ModelNow, RunLimits};
pub use outline::{OutlineAnswer, OutlineItem};
pub use purge::{PurgeReply, RewrittenRef};
pub use reading::{Budget, ReadCommand};
pub use rewrite::{CarryReply, ReconcileReply, Sources, Succession, rewritten_pairs};
pub use schema::{SCHEMA_NAMES, schema};
pub use settings::{
    ACCOUNT_HOME, IgnoredSetting, Rule, SETTINGS, Setting, SettingNow, SettingOrigin, Settings, UNATTENDED,
    grounds_of_agent, has_sound_configuration, is_of_agent, is_within,
};
pub use show::{Shown, ShownCorrection};
pub use stage::NoteCommand;
pub use status::{Covered, Status};
pub use status_line::StatusLine;
pub use summary::{FileSummary, Kind, Summary, UnitSummary};
pub use sync::{Standing as SyncStanding, Synced, SyncedRef, SyncedRemote};
pub use timeline::{Moment, Timeline};
pub use transfer::{ExportForm, ExportReply, ImportReply};
pub use why::{ChangedItem, ItemChanges, Why, WhyScope, Wrote};
pub use writer::{
    Backfill, Bounds, Estimate, PlannedRequest, ShownChange, Which, WriteCommand, WrittenCommit,
    WrittenOutcome, WrittenReply, WrittenTokens,
};

/// The application for one repository.
pub struct Chronicle {
    /// Who may be trusted in it is known only when it is needed: [`Chronicle::lazy`].
    unopened: LazyRepository,
    /// Paths that users give are relative to this directory first.
    directory: PathBuf,
    now: Timestamp,
    keeps_facts: bool,
    /// How long is waited for locks.
    patience: Patience,
    /// What was seen of the repository without opening it: what it was when this first looked.
    sight: OnceCell<Option<Glance>>,
    caches: OnceCell<Caches>,
    read_settings: OnceCell<settings::ReadSettings>,
    /// The home of session memory, once it was asked for.
    home: OnceCell<PathBuf>,
    /// What to say of settings that a command asked for and the repository may not set.
    ignored: OnceCell<String>,
    /// Looks up variables of the environment.
    environment: fn(&str) -> Option<OsString>,
    behind: Option<StartBehind>,
    /// Shows how far a long look at history is.
    progress: Option<chronicle_commits::Progress>,
}

/// Lets this program run itself in a directory, with arguments, while nobody waits for it.
pub type StartBehind = fn(&Path, &[&str]);

/// What [`StartBehind`] is given to complete the facts about history: it calls [`Chronicle::fill`].
pub const FILL: [&str; 2] = ["hook", "facts"];

impl Chronicle {
    /// The application for the repository that `directory` is in, or the one that git's environment names.
    /// It is opened when it is first needed.
    ///
    /// Without `keeps_facts` nothing that was found once is kept for the next time. It must be false when
    /// the environment holds one of [`GLANCE_ENVIRONMENT`].
    #[must_use]
    pub fn new(directory: &Path, now: Timestamp, keeps_facts: bool) -> Self {
        Self {
            unopened: LazyRepository::new(directory, now, false),
            directory: directory.to_owned(),
            now,
            keeps_facts,
            patience: Patience::default(),
            sight: OnceCell::new(),
            caches: OnceCell::new(),
            read_settings: OnceCell::new(),
            home: OnceCell::new(),
            ignored: OnceCell::new(),
            environment: |_| None,
            behind: None,
            progress: None,
        }
    }

    /// The same, where locks are waited for as long as `patience` lasts.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { unopened: self.unopened.with_patience(patience), patience, ..self }
    }

    /// The same, where what a partial clone lacks may be fetched from its remote: for those who wait for an answer.
    #[must_use]
    pub fn fetching(self, may_fetch: bool) -> Self {
        Self { unopened: self.unopened.fetching(may_fetch), ..self }
    }

    /// The same, in an environment: without it, its variables say nothing.
    #[must_use]
    pub fn with_environment(self, environment: fn(&str) -> Option<OsString>) -> Self {
        Self { environment, ..self }
    }

    /// The same for the repository that `directory` is in, as it is from now on: nothing that was seen is remembered.
    fn anew(&self, directory: &Path, keeps_facts: bool) -> Self {
        Self {
            environment: self.environment,
            behind: self.behind,
            progress: self.progress,
            ..Self::new(directory, self.now, keeps_facts).with_patience(self.patience)
        }
    }

    /// The same, for another directory.
    #[must_use]
    pub fn at(&self, directory: &Path) -> Self {
        self.anew(directory, self.keeps_facts)
    }

    /// The repository, which is opened when it is first needed.
    fn lazy(&self) -> &LazyRepository {
        self.unopened.talking_with(|| self.plain_variables()).trusting(|| self.trust_records())
    }

    /// The user's records of whose notes are trusted.
    pub(crate) fn trust_records(&self) -> Option<TrustRecords> {
        self.memory_home().ok().map(|home| TrustRecords::new(&home))
    }

    /// What is to be seen of the repository now, without opening it.
    pub(crate) fn glance(&self) -> Option<Glance> {
        let glance = Glance::at(&self.directory)?;
        glance.trusting(|| self.trust_records());
        Some(glance)
    }

    /// The same, as it was when this first looked: for those who change no notes before they ask.
    pub(crate) fn sight(&self) -> Option<&Glance> {
        self.sight.get_or_init(|| Glance::at(&self.directory)).as_ref()
    }

    /// The same, if this has looked already.
    fn seen(&self) -> Option<&Glance> {
        self.sight.get()?.as_ref()
    }

    /// The same, where work that takes long is left to what `behind` starts; without it, whoever asks waits for it.
    #[must_use]
    pub fn with_behind(self, behind: StartBehind) -> Self {
        Self { behind: Some(behind), ..self }
    }

    /// The same, where `progress` shows how far a long look at history is: how many commits are done, and how many
    /// there are.
    #[must_use]
    pub fn with_progress(self, progress: fn(usize, usize)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Whether the directory is in a repository that git would not work in, such as one of another user. Nothing of it
    /// is read, and nothing that happens in it is remembered.
    #[must_use]
    pub fn is_distrusted(&self) -> bool {
        // What was seen is a repository that git would work in.
        self.seen().is_none()
            && (chronicle_git::distrust(&self.directory).is_some()
                || self.is_unattended() && is_named_elsewhere(&self.directory))
    }

    /// The application for the repository at `directory` and no other, whatever the environment says.
    #[must_use]
    pub fn isolated(directory: &Path, now: Timestamp) -> Self {
        // Nobody but this process works in it, so its own records do.
        let trust = TrustRecords::new(&directory.join(".git"));
        let unopened = LazyRepository::new(directory, now, true).with_trust(Some(trust));
        Self { unopened, ..Self::new(directory, now, false) }
    }

    /// Whether questions are answered at once: little is missing of the facts about history. If much is, they are
    /// completed in the background, where there is one.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        // What is seen at a glance needs no repository to be opened.
        if self.sight().is_some_and(|seen| seen.notes.is_empty()) {
            return true;
        }
        let is_near = chronicle_commits::is_near(self.lazy(), self.caches()).unwrap_or(true);
        match self.behind {
            _ if is_near => true,
            Some(start) => {
                start(&self.directory, &FILL);
                false
            }
            None => self.fill().is_ok(),
        }
    }

    /// Completes the facts about history.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn fill(&self) -> Result<(), Error> {
        Ok(chronicle_commits::fill_facts(self.lazy(), self.caches())?)
    }

    fn caches(&self) -> &Caches {
        self.caches.get_or_init(|| {
            let place = self.lazy().get().ok().filter(|_| self.keeps_facts).and_then(CachePlace::of);
            Caches::new(place.as_ref(), self.progress)
        })
    }

    fn repository(&self) -> Result<&Repository, Error> {
        Ok(self.lazy().get()?)
    }

    /// The time that answers are given for.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// An id that no one else makes, after those this process made before: what is noted together stays in its order.
    fn new_id() -> EntryId {
        static LAST: Mutex<u64> = Mutex::new(0);
        let made = ulid::Ulid::generate();
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        // Ids of one moment would have a random order.
        *last = made.timestamp_ms().max(*last + 1);
        EntryId(ulid::Ulid::from_parts(*last, made.random()).to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use testkit::TestRepo;

    use super::*;

    #[test]
    fn ids_are_in_the_order_in_which_they_are_made() {
        let ids: Vec<EntryId> = (0..200).map(|_| Chronicle::new_id()).collect();
        assert!(ids.is_sorted_by(|left, right| left < right), "{ids:?}");
    }

    #[test]
    fn other_repositories_are_worked_in_with_the_same_patience() {
        let repo = TestRepo::new();
        let patience = Patience { limit: Duration::ZERO, ..Patience::default() };
        let elsewhere = Chronicle::new(&repo.beside("nowhere"), Timestamp::UNIX_EPOCH, true)
            .with_patience(patience)
            .with_environment(|name| (name == "CHRONICLE_HOME").then(|| "/nonexistent/home".into()))
            .with_behind(|_, _| {});
        let chronicle = elsewhere.at(repo.path());
        assert_eq!(chronicle.patience.limit, Duration::ZERO);
        assert!(chronicle.behind.is_some());
        let repository = chronicle.repository().unwrap();
        let home = TrustRecords::new(Path::new("/nonexistent/home"));
        assert_eq!(repository.trust_records(), Some(&home));
        let lock = repository.shared_state("write.lock").unwrap();
        let _held = FileLock::acquire(&lock).unwrap();
        let refused = repository.lock(&lock).map(drop).unwrap_err();
        assert!(refused.to_string().contains("write.lock"), "{refused}");
    }

    #[test]
    fn facts_are_completed_before_it_is_said_that_all_is_ready() {
        let (repo, home) = (TestRepo::new(), tempfile::tempdir().unwrap());
        let at_home = |chronicle: Chronicle| Chronicle { home: home.path().to_owned().into(), ..chronicle };
        let chronicle = || at_home(Chronicle::new(repo.path(), Timestamp::UNIX_EPOCH, true));
        repo.write("a.rs", "fn a() {}\n");
        let head = repo.commit("a");
        assert!(chronicle().is_ready(), "nothing is annotated");
        repo.put_note("chronicle", &head, b"a remark");
        assert!(chronicle().is_ready());
        assert!(!chronicle().is_distrusted());
    }
}
