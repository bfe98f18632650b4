//! Where and when a command runs, which every use case is given.

use std::{
    cell::OnceCell,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use chronicle_commits::{CachePlace, Caches};
use chronicle_core::EntryId;
use chronicle_git::{
    Glance, LazyRepository, Patience, Repository, TrustRecords, UnsavedText, files::is_of_another_account,
    is_named_elsewhere,
};
use jiff::Timestamp;
use snafu::{OptionExt, ensure};

use crate::{
    Error,
    error::{HomeOfAnotherSnafu, NoHomeSnafu},
    settings::ReadSettings,
};

/// Where and when a command runs: a directory and the repository that it is in, the environment, the time. Nothing is
/// opened before it is needed.
pub struct Workplace {
    /// Who may be trusted in it is known only when it is needed: [`Workplace::lazy`].
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
    pub(crate) read_settings: OnceCell<ReadSettings>,
    /// The home of session memory, once it was asked for.
    home: OnceCell<PathBuf>,
    /// What to say of settings that a command asked for and the repository may not set.
    pub(crate) ignored: OnceCell<String>,
    /// Looks up variables of the environment.
    environment: fn(&str) -> Option<OsString>,
    behind: Option<StartBehind>,
    /// Shows how far a long look at history is.
    progress: Option<chronicle_commits::Progress>,
    has_unsaved: bool,
}

/// Lets this program run itself in a directory, with arguments, while nobody waits for it.
pub type StartBehind = fn(&Path, &[&str]);

/// What [`StartBehind`] is given to complete the facts about history: it calls [`Workplace::fill`].
pub const FILL: [&str; 2] = ["hook", "facts"];

impl Workplace {
    /// The place `directory`, in its repository or the one that git's environment names.
    /// It is opened when it is first needed.
    ///
    /// Without `keeps_facts` nothing that was found once is kept for the next time. It must be false when
    /// the environment holds one of [`GLANCE_ENVIRONMENT`](chronicle_git::GLANCE_ENVIRONMENT).
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
            has_unsaved: false,
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

    /// The same, where the text of an editor takes the place of a file: all that is asked is answered of that text.
    #[must_use]
    pub fn with_unsaved(self, unsaved: Option<UnsavedText>) -> Self {
        let has_unsaved = unsaved.is_some();
        Self { unopened: self.unopened.with_unsaved(unsaved), has_unsaved, ..self }
    }

    /// The same, in an environment: without it, its variables say nothing.
    #[must_use]
    pub fn with_environment(self, environment: fn(&str) -> Option<OsString>) -> Self {
        Self { environment, ..self }
    }

    /// The same, where `trust` says whose notes are trusted.
    #[must_use]
    pub fn with_trust(self, trust: Option<TrustRecords>) -> Self {
        Self { unopened: self.unopened.with_trust(trust), ..self }
    }

    /// The same for the repository that `directory` is in, as it is from now on: nothing that was seen is remembered.
    pub fn anew(&self, directory: &Path, keeps_facts: bool) -> Self {
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

    /// The same at another time; nothing that was seen is remembered.
    #[must_use]
    pub fn at_time(&self, now: Timestamp) -> Self {
        Self {
            environment: self.environment,
            behind: self.behind,
            progress: self.progress,
            ..Self::new(&self.directory, now, self.keeps_facts).with_patience(self.patience)
        }
    }

    /// The repository, which is opened when it is first needed.
    pub fn lazy(&self) -> &LazyRepository {
        self.unopened.talking_with(|| self.plain_variables()).trusting(|| self.trust_records())
    }

    /// The user's records of whose notes are trusted.
    pub fn trust_records(&self) -> Option<TrustRecords> {
        self.memory_home().ok().map(|home| TrustRecords::new(&home))
    }

    /// What is to be seen of the repository now, without opening it.
    pub fn glance(&self) -> Option<Glance> {
        let glance = Glance::at(&self.directory)?;
        glance.trusting(|| self.trust_records());
        Some(glance)
    }

    /// The same, as it was when this first looked: for those who change no notes before they ask.
    pub fn sight(&self) -> Option<&Glance> {
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

    /// The same, where `progress` shows how far a long look at history or at many files is: what is read, how many are
    /// done, and how many there are.
    #[must_use]
    pub fn with_progress(self, progress: chronicle_commits::Progress) -> Self {
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

    /// What was found once, and is kept for the next question.
    pub fn caches(&self) -> &Caches {
        self.caches.get_or_init(|| {
            let place = self.lazy().get().ok().filter(|_| self.keeps_facts).and_then(CachePlace::of);
            Caches::new(place.as_ref(), self.progress).of_unsaved(self.has_unsaved)
        })
    }

    /// The repository, which is opened when it is first needed.
    ///
    /// # Errors
    /// When there is none, or git would not work in it.
    pub fn repository(&self) -> Result<&Repository, Error> {
        Ok(self.lazy().get()?)
    }

    /// The time that answers are given for.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The directory that paths are relative to first.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How long is waited for locks.
    #[must_use]
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Whether what was found once is kept for the next time.
    #[must_use]
    pub fn keeps_facts(&self) -> bool {
        self.keeps_facts
    }

    /// What looks up variables of the environment.
    #[must_use]
    pub fn environment(&self) -> fn(&str) -> Option<OsString> {
        self.environment
    }

    /// The folder that holds session memory: `CHRONICLE_HOME`, or one in the platform's data directory.
    ///
    /// # Errors
    /// When nothing says where that is, or a repository may have had that said.
    pub fn memory_home(&self) -> Result<PathBuf, Error> {
        if let Some(home) = self.home.get() {
            return Ok(home.clone());
        }
        let home = self.named_memory_home()?;
        // A folder that is yet to be made is its maker's, and in the hands of who owns the one above.
        let there = home.ancestors().find(|folder| folder.exists());
        ensure!(!there.is_some_and(is_of_another_account), HomeOfAnotherSnafu { home });
        Ok(self.home.get_or_init(|| home).clone())
    }

    fn named_memory_home(&self) -> Result<PathBuf, Error> {
        let variable =
            |name: &str| (self.environment())(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(home) = variable("CHRONICLE_HOME") {
            return self.outside(home, "CHRONICLE_HOME");
        }
        let xdg = || variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
        if cfg!(windows) {
            let data = variable("LOCALAPPDATA").context(NoHomeSnafu)?;
            return Ok(self.outside(data, "LOCALAPPDATA")?.join("chronicle"));
        }
        if let Some(data) = (!cfg!(target_os = "macos")).then(xdg).flatten() {
            return Ok(self.outside(data, "XDG_DATA_HOME")?.join("chronicle"));
        }
        let home = self.outside(variable("HOME").context(NoHomeSnafu)?, "HOME")?;
        let data = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        Ok(home.join(data).join("chronicle"))
    }
}

/// An id that no one else makes, after those this process made before: what is noted together stays in its order.
pub fn new_id() -> EntryId {
    static LAST: Mutex<u64> = Mutex::new(0);
    let made = ulid::Ulid::generate();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    // Ids of one moment would have a random order.
    *last = made.timestamp_ms().max(*last + 1);
    EntryId(ulid::Ulid::from_parts(*last, made.random()).to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chronicle_git::FileLock;
    use testkit::TestRepo;

    use super::*;

    #[test]
    fn ids_are_in_the_order_in_which_they_are_made() {
        let ids: Vec<EntryId> = (0..200).map(|_| new_id()).collect();
        assert!(ids.is_sorted_by(|left, right| left < right), "{ids:?}");
    }

    #[test]
    fn other_repositories_are_worked_in_with_the_same_patience() {
        let repo = TestRepo::new();
        let patience = Patience { limit: Duration::ZERO, ..Patience::default() };
        let elsewhere = Workplace::new(&repo.beside("nowhere"), Timestamp::UNIX_EPOCH, true)
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
        let at_home = |chronicle: Workplace| Workplace { home: home.path().to_owned().into(), ..chronicle };
        let chronicle = || at_home(Workplace::new(repo.path(), Timestamp::UNIX_EPOCH, true));
        repo.write("a.rs", "fn a() {}\n");
        let head = repo.commit("a");
        assert!(chronicle().is_ready(), "nothing is annotated");
        repo.put_note("chronicle", &head, b"a remark");
        assert!(chronicle().is_ready());
        assert!(!chronicle().is_distrusted());
    }
}
