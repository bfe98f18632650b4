//! Work that one session hands over to another agent.
//!
//! A handoff is stored as an id, a session and a time. Its words are made from the session when somebody asks, so
//! they are as new as the session, and gone when the session is forgotten.

pub(crate) mod listed;

use chronicle_core::{plain, thread::Status};
use chronicle_search::{NamedSession, StoredHandoff, StoredTurn, TurnKind};
use chronicle_sessions::{Agent, names_fault, shortened, working_commands};
use chronicle_workplace::{Error, Finding, error::UnknownSessionSnafu};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::OptionExt;

pub use listed::{HandoffState, ListedHandoff};

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    named_commit::BriefCommit,
    sessions::{
        IngestCommand, What,
        look::{Digested, ListedSession},
        short_session,
    },
    threads::OpenItem,
};

/// How all ids of handoffs begin.
const PREFIX: &str = "handoff-";

/// How many characters follow, and of which alphabet: that of the ids it is cut from, in small letters.
const ID_LENGTH: usize = 10;

/// What was looked at, as findings name it.
const HANDOFFS: &str = "handoffs";

/// How long a handoff waits for an agent.
const LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How much of a prompt is searched for ids.
const LOOKED_AT: usize = 16 << 10;

/// How many of each kind are told.
const MOST_ASKED: usize = 5;
const MOST_EACH: usize = 8;

/// The longest that is quoted of one thing, and of what was asked.
const LONGEST_QUOTE: usize = 240;
const LONGEST_REQUEST: usize = 600;

/// The agents that work can be handed over to, by their names.
pub fn agents() -> impl Iterator<Item = &'static str> {
    Agent::ALL.into_iter().filter(|agent| *agent != Agent::Generic).map(Agent::name)
}

/// A request to hand work over.
#[derive(Clone)]
pub struct HandoffCommand<'m> {
    /// A session, a thread or a handoff, by the beginning of its id; the latest session of the project if it is none.
    pub named: Option<String>,
    /// The agent that is to go on; any if it is none.
    pub to: Option<String>,
    /// The longest text wanted, in characters.
    pub budget: usize,
    /// How many characters it has as it will be written.
    pub measure: &'m dyn Fn(&Handoff) -> usize,
}

/// What is handed over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Handoff {
    /// Always `chronicle-handoff/v1`.
    pub schema: &'static str,
    /// What became of it.
    #[serde(flatten)]
    pub listed: ListedHandoff,
    /// The session whose work it is.
    #[schemars(with = "serde_json::Value")]
    pub from: ListedSession,
    /// The folder to go on in.
    pub folder: String,
    /// What humans asked for: the first request and the last ones.
    pub asked: Vec<String>,
    /// What came of it.
    pub done: Vec<String>,
    /// The commits that were made.
    pub commits: Vec<BriefCommit>,
    /// What is still to be done.
    pub open: Vec<OpenItem>,
    /// What was decided.
    pub decided: Vec<String>,
    /// What was tried and failed, the last first.
    pub failed: Vec<FailedAttempt>,
    /// The files that were changed, the most changed first.
    pub files: Vec<String>,
    /// Commands that work, the last first.
    pub commands: Vec<String>,
    /// How many lines were left out to fit the budget.
    pub n_left_out: usize,
}

/// Something that was tried and did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedAttempt {
    /// What was tried.
    pub what: String,
    /// What came back, where that says what is wrong.
    pub because: Option<String>,
}

/// Who takes over.
#[derive(Debug, Clone, Copy)]
pub struct Successor<'s> {
    /// The agent.
    pub agent: &'s str,
    /// The id that it gave its session.
    pub session: &'s str,
}

impl Memory<'_> {
    /// Hands over the work of a session. The same session for the same agent is handed over once, until that is accepted
    /// or has expired. The id of a handoff only shows it.
    ///
    /// # Errors
    /// When there is no such session or handoff, or session memory cannot be written.
    pub fn hand_over(&self, command: &HandoffCommand<'_>) -> Result<Handoff, Error> {
        let named = command.named.as_deref();
        if let Some(id) = named.filter(|named| named.starts_with(PREFIX)) {
            let reason = format!("session memory has no handoff `{}`", id.escape_debug());
            let Some(memory) = self.open()? else { return UnknownSessionSnafu { reason }.fail() };
            let stored = memory.handoff(id)?.context(UnknownSessionSnafu { reason })?;
            return self.handoff_of(&memory, &stored, command);
        }
        let start = self.session_to_go_on_with(named)?;
        let mut memory = self.open_to_write()?;
        let name = memory.session(&start)?.record.name;
        self.take_in_what_is_new(&memory, &name)?;
        let session = memory.session(&name)?;
        let now = self.workplace.now();
        let known = self.handoffs_since(&memory, Some(session.record.project), now - LIFETIME)?;
        let is_it = |known: &StoredHandoff| {
            known.session == session.id && known.agent == command.to && known.accepted.is_none()
        };
        let stored = known.into_iter().find(is_it).unwrap_or_else(|| StoredHandoff {
            id: new_id(),
            session: session.id,
            agent: command.to.clone(),
            at: now,
            accepted: None,
        });
        memory.store.write(|tx| stored.put(tx))?;
        self.handoff_of(&memory, &stored, command)
    }

    /// The newest handoff that waits for this agent in this project; it is accepted with this.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn accept_waiting(
        &self,
        by: Successor<'_>,
        budget: usize,
        measure: &dyn Fn(&Handoff) -> usize,
    ) -> Result<Option<Handoff>, Error> {
        let Some(memory) = self.open()? else { return Ok(None) };
        let Scope::One(project) = self.memory_scope(&memory, None, false)? else { return Ok(None) };
        let since = self.workplace.now() - LIFETIME;
        let waiting = self.handoffs_since(&memory, Some(project.id), since)?;
        for stored in waiting {
            let is_for_it = stored.agent.as_deref() == Some(by.agent) && stored.accepted.is_none();
            if is_for_it && !memory.is_of(&stored, by)? {
                let command = HandoffCommand { named: None, to: None, budget, measure };
                return self.accepted(stored, by, &command).map(Some);
            }
        }
        Ok(None)
    }

    /// The handoffs that a prompt names. One that waits is accepted with this.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn accept_named(
        &self,
        by: Successor<'_>,
        prompt: &str,
        budget: usize,
        measure: &dyn Fn(&Handoff) -> usize,
    ) -> Result<Vec<Handoff>, Error> {
        let ids = ids_in(prompt);
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let Some(memory) = self.open()? else { return Ok(Vec::new()) };
        let command = HandoffCommand { named: None, to: None, budget, measure };
        let mut found = Vec::new();
        for id in ids {
            let Some(stored) = memory.handoff(id)? else { continue };
            if !memory.is_of(&stored, by)? {
                found.push(self.accepted(stored, by, &command)?);
            }
        }
        Ok(found)
    }

    /// The handoffs of a project, or of all, of the last seven days: what briefings show.
    pub(crate) fn recent_handoffs(
        &self,
        memory: &OpenMemory,
        scope: &Scope,
    ) -> Result<Vec<ListedHandoff>, Error> {
        self.handoffs_of_last(memory, scope, LIFETIME)
    }

    /// The handoffs that wait for an agent, or waited in vain until the week before.
    #[must_use]
    pub fn handoff_health(&self) -> Vec<Finding> {
        // That the store can't be read is told by what looks at the store.
        let Ok(Some(memory)) = self.open() else { return Vec::new() };
        let handoffs = self.handoffs_of_last(&memory, &Scope::All, LIFETIME * 2).unwrap_or_default();
        let told = |handoff: ListedHandoff| {
            let id = &handoff.id;
            let agent = handoff.to.as_deref().map(|agent| format!(" to {}", plain(agent)));
            let agent = agent.unwrap_or_default();
            match handoff.state {
                HandoffState::Open => {
                    let seen = format!("`{id}`{agent} is open");
                    let mend = format!("start the agent in its project, with the prompt `Go on with {id}`");
                    Some(Finding::note(HANDOFFS, seen, &mend))
                }
                HandoffState::Expired => {
                    let seen = format!("`{id}`{agent} expired: no session accepted it within seven days");
                    let mend = format!("`git chronicle handoff {}`", short_session(&handoff.session));
                    Some(Finding::note(HANDOFFS, seen, &mend))
                }
                HandoffState::Accepted => None,
            }
        };
        handoffs.into_iter().filter_map(told).collect()
    }

    fn handoffs_of_last(
        &self,
        memory: &OpenMemory,
        scope: &Scope,
        time: SignedDuration,
    ) -> Result<Vec<ListedHandoff>, Error> {
        let stored = self.handoffs_since(memory, scope.project(), self.workplace.now() - time)?;
        let listed = stored.iter().map(|stored| memory.listed_handoff(stored, self.workplace.now()));
        listed.collect()
    }

    /// Those that were made since a moment. Of agents without hooks, the stored prompts show which were accepted.
    fn handoffs_since(
        &self,
        memory: &OpenMemory,
        project: Option<chronicle_search::ProjectId>,
        since: Timestamp,
    ) -> Result<Vec<StoredHandoff>, Error> {
        Ok(memory.store.read(|connection| {
            let mut stored = StoredHandoff::made_since(connection, project, since)?;
            for handoff in stored.iter_mut().filter(|handoff| handoff.accepted.is_none()) {
                handoff.accepted = handoff.named_by(connection)?;
            }
            Ok(stored)
        })?)
    }

    /// The handoff, accepted. On a read-only disk it is told all the same.
    fn accepted(
        &self,
        mut stored: StoredHandoff,
        by: Successor<'_>,
        command: &HandoffCommand<'_>,
    ) -> Result<Handoff, Error> {
        let mut memory = self.open_to_write()?;
        let now = self.workplace.now();
        if state_of(&stored, now) == HandoffState::Open && !memory.store.is_read_only() {
            stored.accepted = Some((now, format!("{} {}", by.agent, by.session)));
            memory.store.write(|tx| stored.put(tx))?;
        }
        self.handoff_of(&memory, &stored, command)
    }

    /// Takes in what the session's transcripts have since they were read: an agent may hand over its own work.
    fn take_in_what_is_new(&self, memory: &OpenMemory, session: &str) -> Result<(), Error> {
        let id = memory.session(session)?.id;
        let sources = memory.store.read(|connection| chronicle_search::Source::of_session(connection, id))?;
        let files = sources.into_iter().map(|source| source.path.into()).collect();
        // What cannot be read now is as it was read before.
        let _reply = self.ingest(&IngestCommand { what: What::Files(files) }, &mut |_, _| {});
        Ok(())
    }

    /// The words of a handoff, which fit into the budget.
    fn handoff_of(
        &self,
        memory: &OpenMemory,
        stored: &StoredHandoff,
        command: &HandoffCommand<'_>,
    ) -> Result<Handoff, Error> {
        let now = self.workplace.now();
        let session = memory.store.read(|connection| NamedSession::by_id(connection, stored.session))?;
        let session = session.context(UnknownSessionSnafu { reason: "its session was forgotten" })?;
        let turns = memory.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        let digest = session.digest();
        let mut handoff = Handoff {
            schema: "chronicle-handoff/v1",
            listed: memory.listed_handoff(stored, now)?,
            from: memory.listed(&session)?,
            folder: session.record.folder.clone(),
            asked: asked(&turns),
            done: Vec::new(),
            commits: Vec::new(),
            open: memory.open_work(&session, now)?,
            decided: Vec::new(),
            failed: failed(&turns),
            files: Vec::new(),
            commands: working_commands(&turns).into_iter().map(|worked| worked.command).collect(),
            n_left_out: 0,
        };
        if let Some(digest) = digest {
            let is_new = |action: &String| !digest.summary.contains(action.as_str()) && !is_commit(action);
            handoff.done = std::iter::once(digest.summary.clone())
                .filter(|summary| !summary.is_empty())
                .chain(digest.key_actions.iter().filter(|action| is_new(action)).cloned())
                .collect();
            let commits = digest.commits.iter().filter(|commit| !commit.is_merge());
            handoff.commits = commits
                .map(|commit| BriefCommit { commit: commit.id.clone(), subject: commit.subject.clone() })
                .collect();
            handoff.decided = digest.decisions;
        }
        let files = memory.store.read(|connection| session.files(connection))?;
        handoff.files = files.into_iter().map(|(path, _)| path).collect();
        handoff.shorten();
        while command.budget < (command.measure)(&handoff) && handoff.leave_out_least() {}
        Ok(handoff)
    }
}

impl OpenMemory {
    /// The handoff with this id. Of an agent without hooks, the stored prompts show that it was accepted.
    fn handoff(&self, id: &str) -> Result<Option<StoredHandoff>, Error> {
        Ok(self.store.read(|connection| {
            let mut stored = StoredHandoff::by_id(connection, id)?;
            if let Some(handoff) = stored.as_mut().filter(|handoff| handoff.accepted.is_none()) {
                handoff.accepted = handoff.named_by(connection)?;
            }
            Ok(stored)
        })?)
    }

    /// Whether a session is the one whose work is handed over.
    fn is_of(&self, stored: &StoredHandoff, by: Successor<'_>) -> Result<bool, Error> {
        let session = self.store.read(|connection| NamedSession::by_id(connection, stored.session))?;
        Ok(session
            .is_none_or(|session| session.record.agent == by.agent && session.record.name == by.session))
    }

    fn listed_handoff(&self, stored: &StoredHandoff, now: Timestamp) -> Result<ListedHandoff, Error> {
        let session = self.store.read(|connection| NamedSession::by_id(connection, stored.session))?;
        let record = session.context(UnknownSessionSnafu { reason: "its session was forgotten" })?.record;
        let (accepted, accepted_by) = stored.accepted.clone().unzip();
        Ok(ListedHandoff {
            id: stored.id.clone(),
            to: stored.agent.clone(),
            state: state_of(stored, now),
            at: stored.at.to_string(),
            accepted: accepted.map(|at| at.to_string()),
            accepted_by,
            session: record.name,
            title: record.title,
        })
    }

    /// The threads that the session told of and that are not closed.
    fn open_work(&self, session: &NamedSession, now: Timestamp) -> Result<Vec<OpenItem>, Error> {
        let mut open = Vec::new();
        for id in self.store.read(|connection| session.threads(connection))? {
            let Some(listed) = self.store.thread(&chronicle_core::thread::ThreadId(id))? else { continue };
            if matches!(listed.thread.status, Status::Pending | Status::InProgress) {
                open.push(OpenItem::of(&self.store, &listed, now)?);
            }
        }
        open.sort_by_key(OpenItem::rank);
        Ok(open)
    }
}

impl Handoff {
    /// Bounds every list and every quote.
    fn shorten(&mut self) {
        let cut = |texts: &mut Vec<String>| {
            texts.truncate(MOST_EACH);
            texts.iter_mut().for_each(|text| *text = shortened(text, LONGEST_QUOTE));
        };
        for texts in [&mut self.decided, &mut self.files, &mut self.commands] {
            cut(texts);
        }
        self.done.truncate(MOST_EACH);
        self.done.iter_mut().for_each(|text| *text = shortened(text, 2 * LONGEST_QUOTE));
        let n_more = self.commits.len().saturating_sub(MOST_EACH);
        self.commits.drain(..n_more);
        self.open.truncate(MOST_EACH);
        for item in &mut self.open {
            item.summary = shortened(&item.summary, LONGEST_QUOTE);
            item.context.clear();
        }
    }

    /// Leaves out the line that matters least; false when only one of each kind is left.
    fn leave_out_least(&mut self) -> bool {
        // What matters least comes first; of lists of the same length, the first loses a line.
        let lengths = [
            self.commands.len(),
            self.files.len(),
            self.commits.len(),
            self.failed.len(),
            self.decided.len(),
            self.done.len(),
            self.asked.len(),
            self.open.len(),
        ];
        let longest = lengths.iter().copied().max().unwrap_or_default();
        if longest <= 1 {
            return false;
        }
        match lengths.iter().position(|length| *length == longest) {
            Some(0) => drop(self.commands.pop()),
            Some(1) => drop(self.files.pop()),
            Some(2) => drop(self.commits.remove(0)),
            Some(3) => drop(self.failed.pop()),
            Some(4) => drop(self.decided.pop()),
            Some(5) => drop(self.done.pop()),
            // The first request says what it is about, and the last what is to be done now.
            Some(6) => drop(self.asked.remove(1)),
            _ => drop(self.open.pop()),
        }
        self.n_left_out += 1;
        true
    }
}

/// What became of a handoff by now.
fn state_of(stored: &StoredHandoff, now: Timestamp) -> HandoffState {
    match &stored.accepted {
        Some(_) => HandoffState::Accepted,
        None if LIFETIME < now.duration_since(stored.at) => HandoffState::Expired,
        None => HandoffState::Open,
    }
}

/// A new id, which no other text has.
fn new_id() -> String {
    let made = chronicle_workplace::new_id().0.to_lowercase();
    // The end is random; the beginning is the time.
    format!("{PREFIX}{}", &made[made.len() - ID_LENGTH..])
}

/// The ids of handoffs in a prompt, each once.
fn ids_in(prompt: &str) -> Vec<&str> {
    let prompt = &prompt[..prompt.floor_char_boundary(LOOKED_AT)];
    let mut ids: Vec<&str> = Vec::new();
    for (at, _) in prompt.match_indices(PREFIX) {
        let rest = &prompt[at + PREFIX.len()..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let id = &prompt[at..at + PREFIX.len() + length];
        if length == ID_LENGTH && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// What humans asked for: the first request, and the last ones.
fn asked(turns: &[StoredTurn]) -> Vec<String> {
    let prompts = turns.iter().filter(|turn| turn.kind == TurnKind::Prompt);
    let mut asked: Vec<String> =
        prompts.map(|turn| shortened(&one_line(&turn.text), LONGEST_REQUEST)).collect();
    asked.dedup();
    let n_more = asked.len().saturating_sub(MOST_ASKED);
    if 0 < n_more {
        asked.drain(1..=n_more);
    }
    asked
}

/// What was tried and failed, and did not work later; and what a human turned down. The last comes first.
fn failed(turns: &[StoredTurn]) -> Vec<FailedAttempt> {
    const TURNED_DOWN: &str = "turned down: ";
    let mut failed: Vec<FailedAttempt> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for turn in turns.iter().rev() {
        let is_call = matches!(turn.kind, TurnKind::Command | TurnKind::Edit | TurnKind::Tool);
        if !is_call || seen.contains(&turn.text.as_str()) {
            continue;
        }
        let is_refused = turn.text.starts_with(TURNED_DOWN);
        // A search that finds nothing, and an edit that misses its place, was no attempt.
        let is_failed = turn.is_ok == Some(false) && turn.kind == TurnKind::Command;
        if turn.is_ok.is_some() || is_refused {
            seen.push(&turn.text);
        }
        if (is_failed || is_refused) && failed.len() < MOST_EACH {
            failed.push(FailedAttempt {
                what: shortened(&one_line(&turn.text), LONGEST_QUOTE),
                because: turn.answer.as_deref().and_then(telling_line),
            });
        }
    }
    failed
}

/// The line of an output that says what is wrong.
fn telling_line(answer: &str) -> Option<String> {
    let lines = || answer.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| names_fault(line)).or_else(|| lines().next_back())?;
    Some(shortened(line, LONGEST_QUOTE))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a key action only mentions a commit, which is listed anyway.
fn is_commit(action: &str) -> bool {
    action.starts_with("Committed ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_a_prompt_wherever_it_is() {
        let check = |prompt: &str, expected: &[&str]| assert_eq!(ids_in(prompt), expected, "{prompt}");
        let id = new_id();
        check(&format!("Go on with {id}."), &[&id]);
        check(&format!("`{id}` and \"{id}\""), &[&id]);
        check("handoff-x handoff-0123456789a handoff-", &[]);
        check("a handoff-0123456789\n", &["handoff-0123456789"]);
        check("", &[]);
    }

    #[test]
    fn the_state_follows_from_time_and_acceptance() {
        let at: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let stored = |accepted| StoredHandoff {
            id: new_id(),
            session: chronicle_search::SessionId(1),
            agent: None,
            at,
            accepted,
        };
        let week = SignedDuration::from_hours(7 * 24);
        assert_eq!(state_of(&stored(None), at + week), HandoffState::Open);
        assert_eq!(state_of(&stored(None), at + week + SignedDuration::from_secs(1)), HandoffState::Expired);
        let accepted = Some((at, "codex 1".to_owned()));
        assert_eq!(state_of(&stored(accepted), at + week + week), HandoffState::Accepted);
        // A clock that went back makes nothing expire.
        assert_eq!(state_of(&stored(None), at - week), HandoffState::Open);
    }
}
