//! The application: one function for each thing a user can ask. Floor 4.
//!
//! Every face (command line, and later MCP, LSP, web, hooks) calls these functions
//! and renders the same answers with [`render`].

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
pub mod render;
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
mod tour;
mod transfer;
mod why;
mod writer;

use std::{
    cell::OnceCell,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use chronicle_commits::{CachePlace, Caches, Index, Refreshed};
use chronicle_core::EntryId;
use chronicle_git::{Glance, LazyRepository, ObjectId, Repository, TrustRecords};
use jiff::Timestamp;

pub use agent::without_fences;
pub use allow::{Allowance, AllowedRepositories, AllowedRepository, WantedSetting};
pub use annotate::{AnnotateCommand, AnnotateReply, Given};
pub use candidates::{Candidate, Candidates};
pub use check::{Check, CheckScope, CheckedFile, Touch, TouchedDependent, TouchedLesson};
pub use chronicle_commits::parsing;
pub use chronicle_commits::{
    AuthorContext, StagedRemark, input::MAX_BYTES as MAX_INPUT_BYTES, reconcile::Effort,
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
pub use chronicle_git::{FileLock, GLANCE_ENVIRONMENT, Patience, files};
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
pub use reading::ReadCommand;
pub use rewrite::{CarryReply, ReconcileReply, Sources, Succession, rewritten_pairs};
pub use schema::{SCHEMA_NAMES, schema};
pub use settings::{
    ACCOUNT_HOME, IgnoredSetting, Rule, SETTINGS, Setting, SettingNow, SettingOrigin, Settings, UNATTENDED,
    is_of_agent,
};
pub use show::{Shown, ShownCorrection};
pub use stage::NoteCommand;
pub use status::{Covered, Status};
pub use status_line::StatusLine;
pub use summary::{FileSummary, Summary, UnitSummary};
pub use sync::{Standing as SyncStanding, Synced, SyncedRef, SyncedRemote};
pub use timeline::{Moment, Timeline};
pub use tour::tour;
pub use transfer::{ExportForm, ExportReply, ImportReply};
pub use why::{Why, WhyScope, Wrote};
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
    uses_index: bool,
    /// How long is waited for locks.
    patience: Patience,
    /// What was seen of the repository without opening it: what it was when this first looked.
    sight: OnceCell<Option<Glance>>,
    /// The index of that state.
    index: OnceCell<Option<Index>>,
    /// The index of another commit, as if HEAD were there.
    other_index: OnceCell<(ObjectId, Option<Index>)>,
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

/// What [`StartBehind`] is given to make a table of the index: it calls [`Chronicle::make_table`].
pub const MAKE_TABLE: [&str; 2] = ["hook", "index"];

impl Chronicle {
    /// The application for the repository that `directory` is in, or the one that git's environment names.
    /// It is opened when it is first needed.
    ///
    /// Without `uses_index` every answer is made from the repository itself. It must be false when
    /// the environment holds one of [`GLANCE_ENVIRONMENT`].
    #[must_use]
    pub fn new(directory: &Path, now: Timestamp, uses_index: bool) -> Self {
        Self {
            unopened: LazyRepository::new(directory, now, false),
            directory: directory.to_owned(),
            now,
            uses_index,
            patience: Patience::default(),
            sight: OnceCell::new(),
            index: OnceCell::new(),
            other_index: OnceCell::new(),
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
    fn anew(&self, directory: &Path, uses_index: bool) -> Self {
        Self {
            environment: self.environment,
            behind: self.behind,
            progress: self.progress,
            ..Self::new(directory, self.now, uses_index).with_patience(self.patience)
        }
    }

    /// The same, for another directory.
    #[must_use]
    pub fn at(&self, directory: &Path) -> Self {
        self.anew(directory, self.uses_index)
    }

    /// The repository, which is opened when it is first needed.
    fn lazy(&self) -> &LazyRepository {
        self.unopened.trusting(|| self.trust_records())
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
        self.seen().is_none() && chronicle_git::distrust(&self.directory).is_some()
    }

    /// The application for the repository at `directory` and no other, whatever the environment says.
    fn isolated(directory: &Path, now: Timestamp) -> Self {
        // Nobody but this process works in it, so its own records do.
        let trust = TrustRecords::new(&directory.join(".git"));
        let unopened = LazyRepository::new(directory, now, true).with_trust(Some(trust));
        Self { unopened, ..Self::new(directory, now, false) }
    }

    /// What was seen of the repository, where answers may come from an index of it.
    fn indexed(&self) -> Option<&Glance> {
        let glance = self.uses_index.then(|| self.sight()).flatten().filter(|seen| !seen.notes.is_empty())?;
        Some(glance.trusting(|| self.trust_records()))
    }

    /// The index of the repository's present state, and where that was seen; it is made if there is none.
    /// `None` where answers come from the repository itself.
    fn index(&self) -> Option<(&Glance, &Index)> {
        if self.uses_facts() {
            return None;
        }
        let glance = self.indexed()?;
        let made = || refresh(self.lazy().get().ok()?, glance, (&self.directory, self.behind))?.index;
        let index = self.index.get_or_init(|| Index::open(glance).or_else(made)).as_ref()?;
        Some((glance, index))
    }

    /// The index as it would be if HEAD were at `commit`: that of HEAD, or made of it where the two lie close
    /// together. `None` where answers come from the repository itself.
    fn index_at(&self, commit: ObjectId) -> Option<&Index> {
        let (_, index) = self.index()?;
        if index.head() == commit {
            return Some(index);
        }
        let made = || index.at(self.lazy().get().ok()?, commit).ok()?;
        let (made_for, other) = self.other_index.get_or_init(|| (commit, made()));
        other.as_ref().filter(|_| *made_for == commit)
    }

    /// Whether answers come from an index within `patience`, or need none: making one of a long history takes long.
    /// One that is not made in time goes on being made as long as this process lives.
    #[must_use]
    pub fn is_index_ready(&self, patience: Duration) -> bool {
        if self.uses_facts() {
            // What is seen at a glance needs no repository to be opened.
            if self.sight().is_some_and(|seen| seen.notes.is_empty()) {
                return true;
            }
            let is_near = chronicle_commits::is_near(self.lazy(), self.caches()).unwrap_or(true);
            return match self.behind {
                _ if is_near => true,
                Some(start) => {
                    start(&self.directory, &MAKE_TABLE);
                    false
                }
                None => chronicle_commits::fill_facts(self.lazy(), self.caches()).is_ok(),
            };
        }
        let Some(glance) = self.indexed() else { return true };
        if self.index.get().is_some_and(Option::is_some) {
            return true;
        }
        if let Some(index) = Index::open(glance) {
            let _known = self.index.set(Some(index));
            return true;
        }
        let glance = glance.clone();
        let (directory, behind) = (self.directory.clone(), self.behind);
        let lazy = LazyRepository::new(&directory, self.now, false).with_patience(self.patience);
        let lazy = lazy.with_trust(self.trust_records());
        let (made, is_made) = mpsc::channel();
        thread::spawn(move || {
            let refreshed = lazy.get().ok().and_then(|found| refresh(found, &glance, (&directory, behind)));
            // What goes on behind this process may take long.
            let is_left = refreshed.is_some_and(|done| done.wants_table && done.index.is_none());
            let _heard = made.send(!is_left);
        });
        is_made.recv_timeout(patience).unwrap_or(false)
    }

    /// Makes a table of the index for the repository's present state, where none lies near it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn make_table(&self) -> Result<(), Error> {
        if !self.uses_index {
            return Ok(());
        }
        if self.uses_facts() {
            return Ok(chronicle_commits::fill_facts(self.lazy(), self.caches())?);
        }
        Ok(chronicle_commits::make_index_table(self.lazy().get()?)?)
    }

    /// Where results are kept between runs, if they are: where the index is.
    fn kept_in(&self) -> Option<CachePlace> {
        self.index().and_then(|(glance, _)| CachePlace::seen(glance))
    }

    fn caches(&self) -> &Caches {
        self.caches.get_or_init(|| {
            if !self.uses_facts() {
                return Caches::new(self.kept_in().as_ref());
            }
            let place = self.lazy().get().ok().filter(|_| self.uses_index).and_then(CachePlace::of);
            Caches::new(place.as_ref()).with_facts(place.as_ref(), self.progress)
        })
    }

    /// Whether answers come from facts, instead of an index of states.
    fn uses_facts(&self) -> bool {
        (self.environment)("CHRONICLE_FACTS").is_none_or(|value| value != "0")
    }

    fn repository(&self) -> Result<&Repository, Error> {
        Ok(self.lazy().get()?)
    }

    /// The time that answers are given for.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// An id that no one else makes.
    fn new_id() -> EntryId {
        EntryId(ulid::Ulid::generate().to_string())
    }
}

/// Makes the index of the state that `glance` saw; a table that takes long is left to `behind`.
fn refresh(
    repository: &Repository,
    glance: &Glance,
    (directory, behind): (&Path, Option<StartBehind>),
) -> Option<Refreshed> {
    let mut refreshed = chronicle_commits::refresh_index(repository, glance).ok()?;
    match behind {
        _ if !refreshed.wants_table => {}
        Some(start) => start(directory, &MAKE_TABLE),
        None => {
            chronicle_commits::make_index_table(repository).ok()?;
            refreshed.index = Index::open(glance);
        }
    }
    Some(refreshed)
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

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
    fn a_repository_is_looked_at_once_for_the_index_and_its_answers() {
        let (repo, home) = (TestRepo::new(), tempfile::tempdir().unwrap());
        let at_home = |chronicle: Chronicle| Chronicle { home: home.path().to_owned().into(), ..chronicle };
        let chronicle = || at_home(Chronicle::new(repo.path(), Timestamp::UNIX_EPOCH, true));
        repo.write("a.rs", "fn a() {}\n");
        let head = repo.commit("a");
        assert!(chronicle().is_index_ready(Duration::ZERO));
        assert!(chronicle().index().is_none(), "without notes there is none");

        repo.put_note("chronicle", &head, b"a remark");
        assert!(chronicle().is_index_ready(Duration::from_mins(1)), "it is made");
        let chronicle = chronicle();
        assert!(chronicle.is_index_ready(Duration::ZERO), "it is there");
        let index = chronicle.index.get().and_then(Option::as_ref).expect("it is kept for the answers");
        assert_eq!(index.head().to_string(), head);
        assert_eq!(chronicle.seen(), chronicle.index().map(|(glance, _)| glance));
        assert!(!chronicle.is_distrusted());
    }
}
