//! What is done while nobody works: digests of what is over, blocks brought up to date, transcripts kept.
//!
//! Every step is one transaction or one file put in its place, and what it makes depends on what is stored and on
//! nothing else. So a job that died is done again from its beginning and comes to the same end, and one that is done
//! twice changes nothing the second time.

mod cold;
mod files;
mod uses;
mod wording;

use std::time::{Duration, Instant};

use chronicle_core::period::{Period, Span};
use chronicle_git::FileLock;
use chronicle_llm::Purpose;
use chronicle_search::Job;
use chronicle_workplace::Error;
pub(crate) use cold::remove_kept;
use schemars::JsonSchema;
use serde::Serialize;
pub use wording::WordedMemory;

pub use crate::wordings::Words;
use crate::{
    Memory,
    blocks::{Past, Renewal},
    digest::Digest,
    memory::OpenMemory,
};

/// How long jobs may take when a session begins: what is left is done behind the next one.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsolidateCommand {
    /// Which jobs; all of them where none is named.
    pub spans: Vec<Span>,
    /// Only those that are due.
    pub due_only: bool,
    /// Only tell what would be done.
    pub is_dry_run: bool,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Consolidated {
    /// Always `chronicle-consolidated/v1`.
    pub schema: &'static str,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// The jobs.
    pub jobs: Vec<JobDone>,
    /// What a model worded, where one was asked.
    pub worded: Option<WordedMemory>,
    /// Whether another process was at it, and nothing was done here.
    pub is_busy: bool,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobDone {
    /// `daily`, `weekly` or `monthly`.
    pub job: &'static str,
    /// Whether it was due.
    pub was_due: bool,
    /// Digests that were written, by their files below the home of session memory.
    pub digests: Vec<String>,
    /// Digests that went away, as no session of theirs is remembered any more.
    pub gone: Vec<String>,
    /// Blocks that changed.
    pub blocks: Vec<String>,
    /// How often something that an agent was shown turned out to be used.
    pub used: usize,
    /// Transcripts that are kept from now on.
    pub kept: usize,
    /// Transcripts that had to make room for those that matter more.
    pub let_go: usize,
    /// Transcripts that could not be kept, and why.
    pub not_kept: Vec<String>,
    /// Whether there was not enough time for all of it.
    pub is_unfinished: bool,
}

impl Memory<'_> {
    /// Does what is to be done while nobody works.
    ///
    /// # Errors
    /// When session memory cannot be read or written; what was done before stays.
    pub fn consolidate(&self, command: &ConsolidateCommand) -> Result<Consolidated, Error> {
        let home = self.workplace.memory_home()?;
        let mut done = Consolidated {
            schema: "chronicle-consolidated/v1",
            dry_run: command.is_dry_run,
            jobs: Vec::new(),
            worded: None,
            is_busy: false,
        };
        if self.open()?.is_none() {
            return Ok(done);
        }
        let lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        self.sleep(command, None, &mut done)?;
        drop(lock);
        if !command.is_dry_run {
            self.embed_behind()?;
        }
        Ok(done)
    }

    /// Does what is due, as far as there is time, unless another process is at it: for the work behind a hook.
    ///
    /// # Errors
    /// When session memory cannot be read or written; what was done before stays.
    pub fn consolidate_behind(&self) -> Result<Consolidated, Error> {
        let mut done = Consolidated {
            schema: "chronicle-consolidated/v1",
            dry_run: false,
            jobs: Vec::new(),
            worded: None,
            is_busy: false,
        };
        if self.open()?.is_none() {
            return Ok(done);
        }
        match FileLock::try_acquire(&self.workplace.memory_home()?.join(LOCK_FILE))? {
            Some(_lock) => {
                let command = ConsolidateCommand { due_only: true, ..ConsolidateCommand::default() };
                self.sleep(&command, Some(Instant::now() + PATIENCE), &mut done)?;
            }
            None => done.is_busy = true,
        }
        Ok(done)
    }

    fn sleep(
        &self,
        command: &ConsolidateCommand,
        deadline: Option<Instant>,
        done: &mut Consolidated,
    ) -> Result<(), Error> {
        let mut memory = self.open_to_write()?;
        let is_learned = memory.learn_until(deadline)?;
        let mut past: Option<Past> = None;
        for span in Span::ALL {
            let was_due = self.is_due(&memory, span)?;
            let is_named = command.spans.is_empty() || command.spans.contains(&span);
            // A longer job rests on the shorter ones.
            let is_needed = was_due && command.spans.iter().any(|named| span < *named);
            if !(is_named || is_needed) || command.due_only && !was_due {
                continue;
            }
            let past = match &past {
                Some(past) => past,
                None => past.insert(self.blocks().past(&memory)?),
            };
            let job = self.job(&mut memory, past, (span, is_learned), (command.is_dry_run, deadline))?;
            let is_unfinished = job.is_unfinished;
            done.jobs.push(JobDone { was_due, ..job });
            if !is_unfinished && !command.is_dry_run {
                let done = Job { input: 0, done_at: self.workplace.now() };
                memory.store.write(|tx| done.put(tx, span.adverb(), WHOLE))?;
            }
        }
        if !command.is_dry_run && done.jobs.iter().any(|job| !job.is_unfinished) {
            self.learning().note_rejected_lessons(&memory)?;
            let digests = self.last_digests(&memory)?;
            done.worded = self.word_memory(&mut memory, digests)?;
        }
        Ok(())
    }

    /// The digests of the last day, week and month that are over.
    fn last_digests(&self, memory: &OpenMemory) -> Result<Vec<Digest>, Error> {
        if !self.workplace.has_chosen_model(Purpose::Digest) {
            return Ok(Vec::new());
        }
        let zone = self.blocks().zone();
        let today = self.workplace.now().to_zoned(zone.clone()).date();
        let before = |span| Some(Period::of(span, Period::of(span, today).first().yesterday().ok()?));
        let mut found = Vec::new();
        for period in Span::ALL.into_iter().filter_map(before) {
            let sessions = memory.sessions_of(period, &zone, self.until())?;
            found.push(memory.digest_of(period, &sessions, &zone)?);
        }
        Ok(found)
    }

    /// Whether a job was not done yet in the day, week or month that it is now.
    pub(crate) fn is_due(&self, memory: &OpenMemory, span: Span) -> Result<bool, Error> {
        let last = memory.store.read(|connection| Job::find(connection, span.adverb(), WHOLE))?;
        let zone = self.blocks().zone();
        let now = Period::of(span, self.workplace.now().to_zoned(zone.clone()).date());
        // Any other one counts: a clock that was ahead must not keep it from being done.
        Ok(last.is_none_or(|last| Period::of(span, last.done_at.to_zoned(zone).date()) != now))
    }

    fn job(
        &self,
        memory: &mut OpenMemory,
        past: &Past,
        (span, is_learned): (Span, bool),
        (is_dry_run, deadline): (bool, Option<Instant>),
    ) -> Result<JobDone, Error> {
        let mut job = JobDone {
            job: span.adverb(),
            was_due: false,
            digests: Vec::new(),
            gone: Vec::new(),
            blocks: Vec::new(),
            used: 0,
            kept: 0,
            let_go: 0,
            not_kept: Vec::new(),
            is_unfinished: false,
        };
        if span == Span::Day {
            job.used = self.note_uses(memory, is_dry_run)?;
        }
        let renewal = match span {
            Span::Day => Renewal::Daily,
            Span::Week => Renewal::Weekly,
            Span::Month => Renewal::Monthly,
        };
        // What blocks say must not depend on how much was learned so far.
        if is_learned {
            job.blocks = self.blocks().renew_blocks(memory, past, renewal, is_dry_run)?;
        } else {
            job.is_unfinished = true;
        }
        self.write_digests(memory, span, &mut job, (is_dry_run, deadline))?;
        if span == Span::Week {
            self.keep_transcripts(memory, &mut job, (is_dry_run, deadline))?;
        }
        Ok(job)
    }
}

/// Held by who consolidates.
pub(crate) const LOCK_FILE: &str = "sleep.lock";

/// Stands for a job as a whole.
pub(crate) const WHOLE: &str = "";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sessions::{IngestCommand, What};
    use chronicle_workplace::Workplace;

    #[test]
    fn what_cannot_be_learned_in_time_is_learned_next_time_and_no_block_tells_of_half_of_it() {
        let home = tempfile::tempdir().unwrap();
        let now = "2026-03-10T12:00:00Z".parse().unwrap();
        let workplace = Workplace::new(home.path(), now, false)
            .with_environment(|name| (name == "CHRONICLE_HOME").then(|| "memory".into()));
        let memory = Memory::new(&workplace);
        let said = |id, role, text| {
            format!(
                "{{\"session\": \"s1\", \"id\": {id}, \"role\": \"{role}\", \"text\": \"{text}\", \
                 \"time\": \"2026-03-08T12:00:00Z\"}}\n"
            )
        };
        let rows = [said(1, "user", "I prefer pnpm over npm."), said(2, "assistant", "Right.")];
        fs::write(home.path().join("s1.jsonl"), rows.concat()).unwrap();
        let what = What::Files(vec!["s1.jsonl".into()]);
        memory.ingest(&IngestCommand { what }, &mut |_, _| {}).unwrap();
        let done = |deadline| {
            let mut done =
                Consolidated { schema: "", dry_run: false, jobs: Vec::new(), worded: None, is_busy: false };
            let command = ConsolidateCommand { due_only: true, ..ConsolidateCommand::default() };
            memory.sleep(&command, deadline, &mut done).unwrap();
            done.jobs
        };
        let late = done(Some(Instant::now()));
        assert_eq!(late.len(), 3);
        assert!(late.iter().all(|job| job.is_unfinished && job.blocks.is_empty()), "{late:?}");
        assert_eq!(memory.learning().n_unlearned().unwrap(), 1);
        let next = done(Some(Instant::now() + PATIENCE));
        assert!(next.iter().all(|job| job.was_due && !job.is_unfinished), "{next:?}");
        assert!(next.iter().any(|job| job.blocks.contains(&"preferences".to_owned())), "{next:?}");
        assert_eq!(memory.learning().n_unlearned().unwrap(), 0);
    }
}
