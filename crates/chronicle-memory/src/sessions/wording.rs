//! What a model makes of sessions: their digests in its words, work that is left, threads that look closed. One call for
//! each session.
//!
//! What rules found stays: a model that fails leaves everything as it is, and is asked again later, a few times. Behind a
//! hook a model is asked only where somebody chose one, about sessions of the project at hand that have come to rest.

mod taken;
mod told;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use chronicle_core::thread::{Gist, Thread};
use chronicle_git::FileLock;
use chronicle_llm::{Cancel, Model, ModelError, Purpose, Reply, Stop};
use chronicle_search::{NamedSession, SessionState, StoredTurn, StoredWording, add_events, threads};
use chronicle_sessions::{TitleVerdict, Wording, shortened};
use chronicle_workplace::{
    Error, RunLimits, WrittenTokens, answer_in,
    error::{ContextTooSmallSnafu, NothingToDoSnafu},
};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use snafu::OptionExt;

use self::{
    taken::{Taken, Taker},
    told::Told,
};
use super::{look::Digested, queue};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
};

/// How long a session has rested when a model is asked about it behind a hook.
const REST: SignedDuration = SignedDuration::from_mins(10);
/// How far back sessions are looked for behind a hook.
const BACK: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Sessions that a model is asked about behind one hook.
const MOST_BEHIND: usize = 20;
/// Failures in a row after which no other session would fare better.
const MOST_IN_A_ROW: usize = 2;
/// How long the end of a session waits for its transcript to be taken in.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(200);
/// A reason is a sentence.
const LONGEST_REASON: usize = 300;

/// The sessions that a model is to be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordCommand {
    /// Their ids, or the beginnings of them; none for those of the current project that no model was asked about as they
    /// are.
    pub ids: Vec<String>,
    /// At most so many of those.
    pub limit: usize,
    /// Whether only to show what would be sent.
    pub is_dry_run: bool,
}

/// What became of the sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordedReply {
    /// Always `chronicle-worded/v1`.
    pub schema: &'static str,
    /// The model; none where nobody is asked.
    pub model: Option<String>,
    /// The sessions, in the order in which they were looked at.
    pub sessions: Vec<WordedSession>,
    /// Tokens of all calls.
    pub tokens: WrittenTokens,
    /// Why it ended before all were looked at.
    pub stopped: Option<String>,
}

/// What became of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordedSession {
    /// Its id.
    pub session: String,
    /// What it was about.
    pub title: String,
    /// What became of it.
    pub outcome: WordedOutcome,
    /// Why it could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Threads that come up.
    pub threads: usize,
    /// Threads that rules found and that are told in the words of the model now.
    pub reworded: usize,
    /// Threads that look closed, for somebody to confirm.
    pub proposed: usize,
    /// What the model said and was not taken in, and why.
    pub dropped: Vec<String>,
    /// What would be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What became of a session that a model was to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WordedOutcome {
    /// It is told in the words of the model.
    Worded,
    /// The model would be asked.
    Planned,
    /// It went on while the model was asked: that counts for nothing.
    WentOn,
    /// The model failed; what rules found stands.
    Failed,
}

/// A session as it is asked about.
struct Asked {
    session: NamedSession,
    state: SessionState,
    project: chronicle_search::Project,
    told: Told,
}

impl Memory<'_> {
    /// Lets a model say what sessions were about and what they left; `told` hears how many are done of all.
    ///
    /// # Errors
    /// When a session is unknown, nothing is to be done, another process is at it, or the store cannot be written.
    pub fn word_sessions(
        &self,
        command: &WordCommand,
        model: Option<&dyn Model>,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<WordedReply, Error> {
        let mut memory = self.open_to_write()?;
        let sessions = if command.ids.is_empty() {
            self.unworded(&memory, self.workplace.now(), None, command.limit)?
        } else {
            command.ids.iter().map(|id| memory.session(id)).collect::<Result<_, _>>()?
        };
        let lock = FileLock::try_acquire(&self.wording_lock()?)?;
        snafu::ensure!(
            lock.is_some() || command.is_dry_run,
            NothingToDoSnafu { reason: "another process asks a model about sessions just now" }
        );
        let asked_for = if command.is_dry_run { None } else { model };
        self.word_all(&mut memory, &sessions, model, asked_for, told)
    }

    /// Lets the model that somebody chose look at sessions of the current project that have come to rest, and at the one
    /// that `ended` names, when nobody waits for it.
    ///
    /// # Errors
    /// When session memory cannot be read or written. A model that fails is no error: it is asked again later.
    pub fn word_behind(&self, ended: Option<&str>) -> Result<(), Error> {
        if !self.workplace.has_chosen_model(Purpose::Digest) {
            return Ok(());
        }
        if ended.is_some() {
            self.wait_for_queue()?;
        }
        let Some(mut memory) = self.open()? else { return Ok(()) };
        let path = self.wording_lock()?;
        let lock = match ended {
            // Nobody else will ask about it before it has rested.
            Some(_) => FileLock::acquire(&path).ok(),
            None => FileLock::try_acquire(&path)?,
        };
        let Some(_lock) = lock else { return Ok(()) };
        let until = self.workplace.now().checked_sub(REST).unwrap_or(self.workplace.now());
        let mut sessions = self.unworded(&memory, until, Some(BACK), MOST_BEHIND)?;
        if let Some(session) = ended.and_then(|id| memory.session(id).ok())
            && sessions.iter().all(|known| known.id != session.id)
            && self.is_of_project(&memory, &session)?
            && memory.store.read(|connection| is_news(connection, &session))?
        {
            sessions.insert(0, session);
        }
        if sessions.is_empty() {
            return Ok(());
        }
        let model = self.workplace.model(Purpose::Digest, &RunLimits::default())?;
        self.word_all(&mut memory, &sessions, Some(&model), Some(&model), &mut |_, _| {})?;
        Ok(())
    }

    /// Asks `model` about sessions one after another; without `asked`, it only tells what would be sent to `model`.
    fn word_all(
        &self,
        memory: &mut OpenMemory,
        sessions: &[NamedSession],
        model: Option<&dyn Model>,
        asked: Option<&dyn Model>,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<WordedReply, Error> {
        let mut reply = WordedReply {
            schema: "chronicle-worded/v1",
            model: model.map(|model| model.name().to_owned()),
            sessions: Vec::new(),
            tokens: WrittenTokens::default(),
            stopped: None,
        };
        let mut n_in_a_row = 0;
        for (at, session) in sessions.iter().enumerate() {
            told(at, sessions.len());
            let one = self.asked_about(memory, session, model)?;
            let (done, failure) = match asked {
                None => (one.planned(), None),
                Some(model) => self.word(memory, &one, model, &mut reply.tokens)?,
            };
            n_in_a_row = if done.outcome == WordedOutcome::Failed { n_in_a_row + 1 } else { 0 };
            reply.sessions.push(done);
            reply.stopped = failure.filter(|_| at + 1 < sessions.len());
            if reply.stopped.is_none() && MOST_IN_A_ROW <= n_in_a_row && at + 1 < sessions.len() {
                reply.stopped = Some(format!("the model failed on {n_in_a_row} sessions in a row"));
            }
            if reply.stopped.is_some() {
                break;
            }
        }
        told(sessions.len(), sessions.len());
        Ok(reply)
    }

    /// Everything that a model is told of a session.
    fn asked_about(
        &self,
        memory: &OpenMemory,
        session: &NamedSession,
        model: Option<&dyn Model>,
    ) -> Result<Asked, Error> {
        let bounds = self.workplace.bounds(model)?;
        let room = bounds.request_tokens().saturating_sub(told::fixed_tokens()).min(told::MOST_TOKENS);
        snafu::ensure!(told::LEAST_TOKENS <= room, ContextTooSmallSnafu { tokens: bounds.context });
        let digest = session.digest().context(NothingToDoSnafu {
            reason: format!("session {} was not read to its end", session.record.name),
        })?;
        let project = memory
            .store
            .read(|connection| chronicle_search::Project::by_id(connection, session.record.project))?
            .context(NothingToDoSnafu { reason: "the project of the session is gone" })?;
        let turns = memory.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        let listed = memory.store.listed_threads(
            Some(project.id),
            self.workplace.now(),
            false,
            4 * told::MOST_OPEN,
        )?;
        let is_older = |thread: &Thread| thread.created.is_none() || thread.created <= session.record.last;
        let mut open: Vec<Thread> = listed.into_iter().map(|listed| listed.thread).filter(is_older).collect();
        // What the session itself left comes first, and of that what may be said in other words.
        let is_own = |thread: &Thread| thread.session.as_deref() == Some(session.record.name.as_str());
        open.sort_by_key(|thread| (!is_own(thread), !thread.is_worded_by_rules()));
        open.truncate(told::MOST_OPEN);
        let told = Told::of(session, &project.name, &digest, turns, open, room);
        let state = memory.store.read(|connection| session.state(connection))?;
        Ok(Asked { session: session.clone(), state, project, told })
    }

    /// Asks about one session, and stores what holds of the answer; why no other session would fare better comes back.
    fn word(
        &self,
        memory: &mut OpenMemory,
        asked: &Asked,
        model: &dyn Model,
        tokens: &mut WrittenTokens,
    ) -> Result<(WordedSession, Option<String>), Error> {
        let request = asked.told.request(self.workplace.bounds(Some(model))?.reply_tokens());
        let answer = match model.complete(&request, &Cancel::default()) {
            Ok(reply) => {
                let usage = reply.usage;
                tokens.input += usage.input + usage.cache_read + usage.cache_written;
                tokens.output += usage.output;
                answer_of(&reply)
            }
            // Nobody was asked: that is no failure of the model.
            Err(
                error @ (ModelError::TooDear { .. } | ModelError::NoAccount { .. } | ModelError::Cancelled),
            ) => {
                let reason = error.to_string();
                return Ok((asked.failed(&reason), Some(reason)));
            }
            Err(error) => Err(error.to_string()),
        };
        let taken = match answer {
            Ok(answer) => asked.take(memory, &answer, model.name())?,
            Err(reason) => Err(reason),
        };
        match taken {
            Ok((wording, taken)) => Ok((self.keep(memory, asked, &wording, taken)?, None)),
            Err(reason) => {
                let reason = shortened(&crate::excerpt::clean(&reason), LONGEST_REASON);
                self.note_failure(memory, asked, &reason)?;
                Ok((asked.failed(&reason), None))
            }
        }
    }

    /// Stores a wording and the events of threads together, unless the session went on or was forgotten meanwhile.
    fn keep(
        &self,
        memory: &mut OpenMemory,
        asked: &Asked,
        wording: &Wording,
        taken: Taken,
    ) -> Result<WordedSession, Error> {
        let stored = StoredWording {
            state: asked.state,
            wording: serde_json::to_string(wording).expect("a wording is plain data"),
            n_failed: 0,
            failure: String::new(),
            asked: self.workplace.now(),
        };
        let title = memory.store.write(|tx| {
            let Some(session) = NamedSession::by_id(tx, asked.session.id)? else { return Ok(None) };
            if session.state(tx)? != asked.state {
                return Ok(None);
            }
            stored.put(tx, session.id)?;
            let record = TitleVerdict::applied_to(tx, wording.applied_to(session.record))?;
            record.put(tx)?;
            add_events(tx, &asked.project, Some(session.id), &taken.events)?;
            Ok(Some(record.title))
        })?;
        let mut done = asked.begun(WordedOutcome::WentOn);
        done.dropped = taken.dropped;
        if let Some(title) = title {
            (done.outcome, done.title) = (WordedOutcome::Worded, title);
            (done.threads, done.reworded, done.proposed) =
                (taken.n_threads, taken.n_reworded, taken.n_proposed);
        }
        Ok(done)
    }

    /// Writes down that a model failed. What one said before of the session as it is stays.
    fn note_failure(&self, memory: &mut OpenMemory, asked: &Asked, reason: &str) -> Result<(), Error> {
        memory.store.write(|tx| {
            if NamedSession::by_id(tx, asked.session.id)?.is_none() {
                return Ok(());
            }
            let known = StoredWording::of(tx, asked.session.id)?.filter(|known| known.state == asked.state);
            if known.as_ref().is_some_and(|known| !known.wording.is_empty()) {
                return Ok(());
            }
            let n_failed = known.map_or(0, |known| known.n_failed) + 1;
            StoredWording {
                state: asked.state,
                wording: String::new(),
                n_failed,
                failure: reason.to_owned(),
                asked: self.workplace.now(),
            }
            .put(tx, asked.session.id)
        })?;
        Ok(())
    }

    /// The sessions of the current project that no model was asked about as they are, and that ended before `until`.
    fn unworded(
        &self,
        memory: &OpenMemory,
        until: jiff::Timestamp,
        back: Option<SignedDuration>,
        limit: usize,
    ) -> Result<Vec<NamedSession>, Error> {
        let Scope::One(project) = self.memory_scope(memory, None, false)? else { return Ok(Vec::new()) };
        let since =
            back.and_then(|back| self.workplace.now().checked_sub(back).ok()).unwrap_or(jiff::Timestamp::MIN);
        let due = |connection: &_| {
            NamedSession::unworded(connection, project.id, (since, until), self.workplace.now(), limit)
        };
        Ok(memory.store.read(due)?)
    }

    fn is_of_project(&self, memory: &OpenMemory, session: &NamedSession) -> Result<bool, Error> {
        let scope = self.memory_scope(memory, None, false)?;
        Ok(scope.project() == Some(session.record.project))
    }

    /// Waits until no transcript waits to be taken in, for a while.
    fn wait_for_queue(&self) -> Result<(), Error> {
        let home = self.workplace.memory_home()?;
        let began = Instant::now();
        while 0 < queue::waiting(&home).n_transcripts && began.elapsed() < PATIENCE {
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn wording_lock(&self) -> Result<std::path::PathBuf, Error> {
        let home = self.workplace.memory_home()?;
        fs::create_dir_all(&home).map_err(|source| Error::WriteOutput { path: home.clone(), source })?;
        Ok(home.join("wording.lock"))
    }
}

/// Whether no model said anything of a session as it is.
fn is_news(
    connection: &chronicle_search::Connection,
    session: &NamedSession,
) -> chronicle_search::SqlResult<bool> {
    let known = StoredWording::of(connection, session.id)?;
    let state = session.state(connection)?;
    Ok(!session.record.is_sub_agent
        && 0 < session.record.n_prompts
        && !session.record.digest.is_empty()
        && known.is_none_or(|known| known.state != state))
}

/// The JSON of a reply.
fn answer_of(reply: &Reply) -> Result<serde_json::Value, String> {
    match &reply.stop {
        Stop::MaxTokens => Err("the reply was cut at its longest".to_owned()),
        Stop::Refusal => Err("the model refused to answer".to_owned()),
        _ => answer_in(&reply.text()).ok_or_else(|| "the model gave no JSON".to_owned()),
    }
}

impl Asked {
    /// What holds of an answer.
    fn take(
        &self,
        memory: &OpenMemory,
        answer: &serde_json::Value,
        model: &str,
    ) -> Result<Result<(Wording, Taken), String>, Error> {
        let all = memory.store.read(|connection| threads(connection, Some(self.project.id), false))?;
        let known: Vec<(Thread, Gist)> = all
            .into_iter()
            .map(|thread| {
                let gist = Gist::of(&thread.summary);
                (thread, gist)
            })
            .collect();
        let (session, project) = (&self.session, self.project.key.as_str());
        Ok(Taker { model, session, project, told: &self.told, known: &known }.take(answer))
    }

    fn begun(&self, outcome: WordedOutcome) -> WordedSession {
        WordedSession {
            session: self.session.record.name.clone(),
            title: self.session.record.title.clone(),
            outcome,
            reason: None,
            threads: 0,
            reworded: 0,
            proposed: 0,
            dropped: Vec::new(),
            text: None,
        }
    }

    fn planned(&self) -> WordedSession {
        WordedSession { text: Some(self.told.text.clone()), ..self.begun(WordedOutcome::Planned) }
    }

    fn failed(&self, reason: &str) -> WordedSession {
        WordedSession { reason: Some(reason.to_owned()), ..self.begun(WordedOutcome::Failed) }
    }
}
