//! Which commits a model looks at, one after another or several at once.

use std::{
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use chronicle::{Chronicle, WrittenOutcome, commits_between, writer_log::WriterLog};
use chronicle_core::Source;
use chronicle_git::{Glance, ObjectId, UserConfig};
use chronicle_llm::{Cancel, Model, ModelError};
use chronicle_memory::sessions::{IngestCommand, What};
use chronicle_workplace::{
    Bounds, Error, Workplace,
    error::{NoModelSnafu, NothingToDoSnafu},
};

use super::{Asking, WrittenCommit, WrittenReply};
use crate::Annotator;

/// The commits to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// One of them.
    Commit(String),
    /// Those of `A..B`.
    Range(String),
    /// Those that could not be done before.
    Failed,
}

/// The request to let a model write annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteCommand {
    /// The commits.
    pub which: Which,
    /// Whether only to tell what would be asked.
    pub is_dry_run: bool,
    /// Whether the session that runs this made the commit: its transcript does not say so yet.
    pub by_session: bool,
}

/// Commits that several workers do.
pub(super) struct Job<'j> {
    pub(super) ids: &'j [ObjectId],
    pub(super) n_workers: usize,
    pub(super) cancel: &'j Cancel,
}

/// How a job ended.
pub(super) enum Run {
    /// All commits were looked at.
    Whole,
    /// No other commit would have fared better, for this reason.
    Ended(String),
}

impl Annotator<'_> {
    /// Lets a model look at commits and store what it finds; `report` hears of each commit, and how many are done of all.
    ///
    /// # Errors
    /// When a commit is unknown, there is no model, the one commit that was asked for cannot be done, or nothing can be
    /// written.
    pub fn write_annotations(
        &self,
        command: &WriteCommand,
        model: Option<&dyn Model>,
        cancel: &Cancel,
        report: &mut dyn FnMut(&WrittenCommit, usize, usize),
    ) -> Result<WrittenReply, Error> {
        let log = WriterLog::of(self.workplace().repository()?)?;
        let known = log.read();
        let commits = self.commits_to_write(&command.which)?;
        let is_one = matches!(command.which, Which::Commit(_));
        let maker = if command.by_session { self.chronicle.agents().running_session() } else { None };
        if maker.is_some() {
            // What is not taken in now is taken in later; without it the commit is looked at all the same.
            let _taken_in =
                self.chronicle.memory().ingest(&IngestCommand { what: What::Days(1) }, &mut |_, _| {});
        }
        let asking = Asking { cancel, source: Source::Batch, maker: maker.as_ref() };
        let name = model.map(Model::name);
        let mut reply = WrittenReply::new(name.map(str::to_owned));
        if command.is_dry_run && !is_one {
            for commit in self.plan_all(&commits, self.workplace().bounds(model)?, report) {
                reply.add(commit);
            }
            return Ok(reply);
        }
        for (at, id) in commits.iter().enumerate() {
            let done = match (command.is_dry_run, model) {
                (true, model) => self.plan_write(*id, self.workplace().bounds(model)?),
                (false, Some(model)) => self.write_up(*id, model, &asking),
                (false, None) => return NoModelSnafu { reason: "there is no model to ask" }.fail(),
            };
            let (written, error) = match done {
                Ok(written) => (written, None),
                Err(error) => (self.failed(*id, &error), Some(error)),
            };
            if !command.is_dry_run {
                log.note(&written.became(), known.get(&written.commit), name, self.workplace().now())?;
            }
            report(&written, at + 1, commits.len());
            reply.add(written);
            match error {
                Some(error) if is_one => return Err(error),
                Some(error) if is_over(&error) => {
                    reply.stopped = Some(error.to_string());
                    break;
                }
                _ => {}
            }
        }
        if !command.is_dry_run && 0 < reply.count(WrittenOutcome::Failed) {
            reply.warnings.push(format!("the failed commits are listed in `{}`", log.path().display()));
        }
        Ok(reply)
    }

    /// The commits that are meant.
    ///
    /// # Errors
    /// When a commit is unknown, or none has failed.
    pub fn commits_to_write(&self, which: &Which) -> Result<Vec<ObjectId>, Error> {
        let repository = self.workplace().repository()?;
        match which {
            Which::Commit(revision) => Ok(vec![repository.resolve(revision)?]),
            Which::Range(range) => commits_between(repository, range),
            Which::Failed => {
                let known = WriterLog::of(repository)?.read();
                let failed = known.values().filter(|line| line.has_failed());
                let ids = failed.filter_map(|line| ObjectId::from_hex(line.commit.as_bytes()).ok());
                let ids: Vec<ObjectId> = ids.filter(|id| repository.has_object(*id)).collect();
                snafu::ensure!(!ids.is_empty(), NothingToDoSnafu { reason: "no commit has failed" });
                Ok(ids)
            }
        }
    }

    /// What would be asked about each of these commits.
    fn plan_all(
        &self,
        commits: &[ObjectId],
        bounds: Bounds,
        report: &mut dyn FnMut(&WrittenCommit, usize, usize),
    ) -> Vec<WrittenCommit> {
        let n_workers = thread::available_parallelism().map_or(1, usize::from);
        let job = Job { ids: commits, n_workers, cancel: &Cancel::default() };
        let mut planned: Vec<(usize, WrittenCommit)> = Vec::with_capacity(commits.len());
        self.run(&job, &|own, id| own.plan_write(id, bounds), &mut |at, commit| {
            report(&commit, planned.len() + 1, commits.len());
            planned.push((at, commit));
        });
        planned.sort_unstable_by_key(|(at, _)| *at);
        planned.into_iter().map(|(_, commit)| commit).collect()
    }

    /// Writes down that commits could not be done, for `error`.
    ///
    /// # Errors
    /// When a commit is unknown, or it cannot be written down.
    pub fn note_unwritten(&self, which: &Which, error: &Error) -> Result<(), Error> {
        let log = WriterLog::of(self.workplace().repository()?)?;
        let known = log.read();
        for id in self.commits_to_write(which)? {
            let written = self.failed(id, error);
            log.note(&written.became(), known.get(&written.commit), None, self.workplace().now())?;
        }
        Ok(())
    }

    /// The commit to be looked at behind the hook that was told of it, where the settings want that.
    #[must_use]
    pub fn commit_behind_hook(&self) -> Option<String> {
        const NAME: &str = "annotateCommits";
        let small = NAME.to_ascii_lowercase();
        let glance = Glance::at(self.workplace().directory()).filter(|_| self.workplace().keeps_facts());
        let is_silent = glance.is_some_and(|glance| {
            !glance.may_set(&[&small], &UserConfig::of(self.workplace().environment()))
        });
        if is_silent && self.workplace().variable("CHRONICLE_ANNOTATE_COMMITS").is_none() {
            return None;
        }
        let settings = self.workplace().settings().ok().filter(|settings| settings.value(NAME) == "true")?;
        drop(settings);
        self.workplace().repository().ok()?.head().ok()?.map(|id| id.to_string())
    }

    /// Does `work` on all commits of a job, several at once, each worker with an application of its own; `each` hears of
    /// each that is done, with its place in the job.
    pub(super) fn run(
        &self,
        job: &Job<'_>,
        work: &(dyn Fn(Annotator<'_>, ObjectId) -> Result<WrittenCommit, Error> + Sync),
        each: &mut dyn FnMut(usize, WrittenCommit),
    ) -> Run {
        let (directory, now, keeps_facts) =
            (self.workplace().directory(), self.workplace().now(), self.workplace().keeps_facts());
        let (environment, patience) = (self.workplace().environment(), self.workplace().patience());
        let open = |directory: &Path| {
            Workplace::new(directory, now, keeps_facts).with_environment(environment).with_patience(patience)
        };
        let next = AtomicUsize::new(0);
        let ended: Mutex<Option<String>> = Mutex::default();
        let has_ended = || ended.lock().is_ok_and(|ended| ended.is_some());
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for _ in 0..job.n_workers.clamp(1, job.ids.len().max(1)) {
                let send = send.clone();
                let (next, ended, has_ended) = (&next, &ended, &has_ended);
                scope.spawn(move || {
                    let own = Chronicle::new(open(directory));
                    let own = Annotator::new(&own);
                    while !has_ended() && !job.cancel.is_cancelled() {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(id) = job.ids.get(at) else { break };
                        let written = work(own, *id).unwrap_or_else(|error| {
                            if is_over(&error)
                                && let Ok(mut ended) = ended.lock()
                            {
                                ended.get_or_insert_with(|| error.to_string());
                            }
                            own.failed(*id, &error)
                        });
                        if send.send((at, written)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            for (at, written) in receive {
                each(at, written);
            }
        });
        match ended.into_inner() {
            Ok(Some(reason)) => Run::Ended(reason),
            _ if job.cancel.is_cancelled() => Run::Ended("called off".to_owned()),
            _ => Run::Whole,
        }
    }

    /// A commit that could not be done.
    fn failed(&self, id: ObjectId, error: &Error) -> WrittenCommit {
        let subject = self.workplace().repository().ok().and_then(|repository| repository.commit(id).ok());
        let subject = subject.map(|commit| chronicle_commits::input::wash(&commit.subject()).0);
        let mut written =
            WrittenCommit::new(id.to_string(), subject.unwrap_or_default(), WrittenOutcome::Failed);
        written.reason = Some(chronicle_core::plain(&error.to_string()).into_owned());
        written
    }
}

/// Whether no other commit would fare better.
fn is_over(error: &Error) -> bool {
    matches!(error, Error::Model { source: ModelError::TooDear { .. } | ModelError::Cancelled })
}
