//! Goes through history, newest first, and lets a model annotate what nobody did.
//!
//! What is done lies in the notes, so it can be stopped at any point and begun again: annotated commits are passed over.

use std::{fs, path::PathBuf};

use chronicle::{WrittenOutcome, writer_log::WriterLog};
use chronicle_core::Source;
use chronicle_git::{BString, ByteSlice, Node, ObjectId, Repository, create_dir_like_parent, replace_file};
use chronicle_llm::{Cancel, Model, Usage};
use chronicle_workplace::{
    Bounds, Error, MeteredModel, RunLimits, WrittenTokens,
    error::{NothingToDoSnafu, WriteOutputSnafu},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::{OptionExt, ResultExt};

use super::{
    Asking, WrittenCommit, WrittenReply,
    batch::{Job, Run},
};
use crate::Annotator;

/// Replies that a conversation takes, as an estimate; the words before the last are read again each time.
const USUAL_TURNS: u64 = 3;
/// Tokens that a conversation writes, as an estimate.
const USUAL_OUTPUT: u64 = 900;
/// Commits that are planned at once, for each worker.
const PLANNED_AT_ONCE: usize = 16;

/// The commits to look at, and what may be spent on them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Backfill {
    /// Only commits since a date, or since a commit.
    pub since: Option<String>,
    /// Only commits that touched this file or directory.
    pub path: Option<PathBuf>,
    /// Only commits whose author's name holds this.
    pub author: Option<String>,
    /// How many commits to ask about.
    pub limit: Option<usize>,
    /// How many at the same time.
    pub concurrency: usize,
    /// US dollars that may be spent.
    pub max_cost: Option<f64>,
    /// Tokens that may be read and written.
    pub max_tokens: Option<u64>,
    /// Names the run, in the ledger too.
    #[serde(default)]
    pub run: String,
    /// How many commits were done before it was interrupted.
    #[serde(default)]
    pub n_done: usize,
}

/// What a run will come to, as far as that can be told before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Commits that a model would be asked about.
    pub commits: usize,
    /// Commits that teach nothing.
    pub trivial: usize,
    /// Commits that somebody annotated.
    pub annotated: usize,
    /// Conversations.
    pub conversations: usize,
    /// Tokens, roughly.
    pub tokens: WrittenTokens,
    /// The largest request, in tokens, counted from above.
    pub largest: u64,
    /// US dollars, roughly, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// The file that holds what an interrupted run was about.
const STATE: &str = "backfill.json";

impl Annotator<'_> {
    /// The run that was interrupted last.
    ///
    /// # Errors
    /// When there is none.
    pub fn interrupted_backfill(&self) -> Result<Backfill, Error> {
        let path = self.workplace().repository()?.shared_state(STATE)?;
        let found = chronicle_git::files::read(&path, chronicle_git::files::MAX_BYTES)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        found.context(NothingToDoSnafu { reason: "no backfill was interrupted here" })
    }

    /// Finds the commits of a run, newest first, and estimates what they cost; `report` hears how many were looked at.
    ///
    /// # Errors
    /// When history cannot be read.
    pub fn estimate_backfill(
        &self,
        run: &Backfill,
        model: Option<&MeteredModel>,
        report: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<ObjectId>, WrittenReply), Error> {
        let asked: Option<&dyn Model> = model.map(|model| model as &dyn Model);
        let bounds = self.workplace().bounds(asked)?;
        let name = asked.map(Model::name);
        let candidates = self.candidates_of(run, name)?;
        let limit = run.limit.map_or(usize::MAX, |limit| limit.saturating_sub(run.n_done));
        let (mut wanted, mut estimate) = (Vec::new(), Estimate::default());
        let mut reply = WrittenReply::new(name.map(str::to_owned));
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        let mut n_seen = 0;
        for ids in candidates.chunks(PLANNED_AT_ONCE * n_workers) {
            if limit <= wanted.len() {
                break;
            }
            let mut planned: Vec<(usize, WrittenCommit)> = Vec::new();
            let job = Job { ids, n_workers, cancel: &Cancel::default() };
            self.run(&job, &|own, id| own.plan_write(id, bounds), &mut |at, done| planned.push((at, done)));
            planned.sort_unstable_by_key(|(at, _)| *at);
            for (at, commit) in planned {
                if limit <= wanted.len() {
                    break;
                }
                n_seen += 1;
                estimate.add(&commit, bounds);
                if commit.outcome == WrittenOutcome::Planned {
                    wanted.push(ids[at]);
                }
                reply.add(commit);
            }
            report(n_seen, candidates.len());
        }
        report(candidates.len(), candidates.len());
        let usage =
            Usage { input: estimate.tokens.input, output: estimate.tokens.output, ..Usage::default() };
        let prices = model.and_then(|model| model.meter().prices);
        estimate.cost = prices.map(|prices| prices.cost(&usage).as_dollars());
        reply.estimate = Some(estimate);
        Ok((wanted, reply))
    }

    /// Lets a model look at `commits`, and stores what it finds; `report` hears of each, and how many are done of all.
    ///
    /// # Errors
    /// When the state of the run cannot be written.
    pub fn backfill(
        &self,
        run: &Backfill,
        commits: &[ObjectId],
        model: &dyn Model,
        cancel: &Cancel,
        report: &mut dyn FnMut(&WrittenCommit, usize, usize),
    ) -> Result<WrittenReply, Error> {
        let mut run = run.clone();
        let state = self.workplace().repository()?.shared_state(STATE)?;
        keep(&state, &run)?;
        let log = WriterLog::of(self.workplace().repository()?)?;
        let known = log.read();
        let mut reply = WrittenReply::new(Some(model.name().to_owned()));
        let mut unwritten = None;
        let asking = Asking { cancel, source: Source::Backfill, maker: None };
        let job = Job { ids: commits, n_workers: run.concurrency.max(1), cancel };
        let ended = self.run(&job, &|own, id| own.write_up(id, model, &asking), &mut |_, done| {
            run.n_done += usize::from(done.outcome != WrittenOutcome::Failed);
            let noted =
                log.note(&done.became(), known.get(&done.commit), Some(model.name()), self.workplace().now());
            if let Err(error) = noted.and_then(|()| keep(&state, &run)) {
                unwritten.get_or_insert(error);
            }
            report(&done, reply.commits.len() + 1, commits.len());
            reply.add(done);
        });
        match ended {
            Run::Whole => {
                // A run that came to its end leaves nothing to go on with.
                let _gone = fs::remove_file(&state);
            }
            Run::Ended(reason) => reply.stopped = Some(reason),
        }
        match unwritten {
            Some(error) => Err(error),
            None => Ok(reply),
        }
    }

    /// The commits that a run is about, as far as history and the log tell.
    fn candidates_of(&self, run: &Backfill, model: Option<&str>) -> Result<Vec<ObjectId>, Error> {
        let repository = self.workplace().repository()?;
        let since = run.since.as_deref().map(|since| self.chronicle.moment(since)).transpose()?;
        let path = run.path.as_ref().map(|path| self.path_in_repository(path)).transpose()?;
        let log = WriterLog::of(repository)?.read();
        let history = repository.history(&[repository.born_head()?])?;
        let mut found = Vec::new();
        for node in history.nodes() {
            if since.is_some_and(|since| node.time < since.as_second()) {
                continue;
            }
            if log.get(&node.id.to_string()).is_some_and(|line| line.found_nothing(model)) {
                continue;
            }
            if let Some(author) = &run.author
                && !repository.commit(node.id)?.author.to_lowercase().contains(&author.to_lowercase())
            {
                continue;
            }
            if let Some(path) = &path {
                let parent = node.parents.first().map(|place| history.node(*place));
                if !touches(repository, parent, node, path)? {
                    continue;
                }
            }
            found.push(node.id);
        }
        Ok(found)
    }

    /// A path as git spells it, whether there is such a file now or not.
    fn path_in_repository(&self, path: &std::path::Path) -> Result<BString, Error> {
        let repository = self.workplace().repository()?;
        let mut found = repository.root_relative(self.workplace().directory(), path)?;
        let outside = || Error::OutsideRepository { path: path.to_string_lossy().into_owned() };
        if found.is_empty() { Err(outside()) } else { Ok(found.swap_remove(0)) }
    }
}

/// Whether a commit touched a file, or anything in a directory.
fn touches(
    repository: &Repository,
    parent: Option<&Node>,
    node: &Node,
    path: &BString,
) -> Result<bool, Error> {
    if path.is_empty() {
        return Ok(true);
    }
    let changes = repository.plain_changes(parent.map(|parent| parent.tree), node.tree)?;
    let is_in = |changed: &BString| {
        changed.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    Ok(changes.iter().any(|change| is_in(&change.path)))
}

fn keep(path: &std::path::Path, run: &Backfill) -> Result<(), Error> {
    let write = || -> std::io::Result<()> {
        let directory = path.parent().expect("it is in our own directory");
        create_dir_like_parent(directory)?;
        replace_file(path, &serde_json::to_vec(run).expect("a run is plain data"))
    };
    write().context(WriteOutputSnafu { path })
}

impl Backfill {
    /// What the run may spend, under its name in the ledger.
    #[must_use]
    pub fn limits(&self) -> RunLimits {
        RunLimits { max_cost: self.max_cost, max_tokens: self.max_tokens, run: Some(self.run.clone()) }
    }

    /// A run with a name of its own.
    #[must_use]
    pub fn named(self) -> Self {
        Self { run: chronicle_workplace::new_id().0, ..self }
    }
}

impl Estimate {
    fn add(&mut self, commit: &WrittenCommit, bounds: Bounds) {
        match commit.outcome {
            WrittenOutcome::Planned => self.commits += 1,
            WrittenOutcome::Annotated => self.annotated += 1,
            _ => self.trivial += 1,
        }
        let turns = if bounds.calls_tools { USUAL_TURNS } else { 1 };
        self.conversations += commit.requests.len();
        for request in &commit.requests {
            self.tokens.input += request.tokens * turns;
            self.tokens.output += USUAL_OUTPUT;
            self.largest = self.largest.max(request.tokens);
        }
    }
}
