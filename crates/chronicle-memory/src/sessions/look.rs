//! Looks at sessions.

use chronicle_search::{NamedSession, Source, StoredTurn};
use chronicle_sessions::DigestOfSession;
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{kept::is_there, named::short_session};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
};

/// Sessions, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionList {
    /// Always `chronicle-sessions/v1`.
    pub schema: &'static str,
    /// The project they belong to; none when they are of all projects.
    pub project: Option<String>,
    /// The sessions.
    pub sessions: Vec<ListedSession>,
    /// Sessions of other projects, where this one has none.
    pub elsewhere: usize,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ListedSession {
    /// Its id.
    pub session: String,
    /// The agent it was led with.
    pub agent: String,
    /// Its project.
    pub project: String,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// When it began.
    pub began: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// What it was about.
    pub title: String,
    /// From 1 to 5.
    pub importance: u8,
    /// How often a human spoke.
    pub prompts: u64,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ShownSession {
    /// Always `chronicle-session/v1`.
    pub schema: &'static str,
    /// What lists say of it.
    #[serde(flatten)]
    pub listed: ListedSession,
    /// The session it belongs to, or was forked from.
    pub parent: Option<String>,
    /// The folder it worked in.
    pub folder: String,
    /// The model that answered last.
    pub model: Option<String>,
    /// The digest, by rules.
    #[schemars(with = "serde_json::Value")]
    pub digest: Option<DigestOfSession>,
    /// Files that it or its sub-agents changed, and how often.
    pub files: Vec<(String, u64)>,
    /// The threads it told of.
    pub threads: Vec<SessionThread>,
    /// Its sub-agents.
    pub sub_agents: Vec<String>,
    /// How many turns are stored.
    pub turns_stored: u64,
    /// The turns, when they were asked for.
    pub turns: Vec<ShownTurn>,
    /// Transcripts it was read from, and whether they are still there.
    pub transcripts: Vec<(String, bool)>,
}

/// A thread that a session told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionThread {
    /// Its id.
    pub thread: String,
    /// Where in its life it is now.
    pub status: String,
    /// What is to be done.
    pub summary: String,
}

/// A turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownTurn {
    /// The id that the agent gave it.
    pub turn: String,
    /// The line of the transcript on which it begins.
    pub line: u64,
    /// When it happened.
    pub at: Option<String>,
    /// What kind it is.
    pub kind: &'static str,
    /// Who spoke, where that is told.
    pub speaker: Option<String>,
    /// The sub-agent that did it.
    pub sub_agent: Option<String>,
    /// Whether a call worked, if that is known.
    pub ok: Option<bool>,
    /// What was said or done.
    pub text: String,
    /// What came back, of calls that failed.
    pub answer: Option<String>,
}

impl Memory<'_> {
    /// The latest sessions of the current project, of one that is named, or of all.
    ///
    /// # Errors
    /// When the project is not known, or the store cannot be read.
    pub fn sessions(
        &self,
        project: Option<&str>,
        is_all: bool,
        since: Option<Timestamp>,
        limit: usize,
    ) -> Result<SessionList, Error> {
        let schema = "chronicle-sessions/v1";
        let none = SessionList { schema, project: None, sessions: Vec::new(), elsewhere: 0 };
        let Some(memory) = self.open()? else { return Ok(none) };
        let scope = self.memory_scope(&memory, project, is_all)?;
        let name = match &scope {
            Scope::One(project) => Some(project.name.clone()),
            Scope::All | Scope::Unknown => None,
        };
        let mut found = match scope {
            Scope::Unknown => Vec::new(),
            Scope::One(_) | Scope::All => memory
                .store
                .read(|connection| NamedSession::latest(connection, scope.project(), since, limit))?,
        };
        // A copy, all of whose turns are another session's, has nothing to show.
        for index in (0..found.len()).rev() {
            let is_bare = found[index].record.n_prompts == 0 && found[index].record.title.is_empty();
            if is_bare && memory.store.read(|connection| found[index].n_turns(connection))? == 0 {
                found.remove(index);
            }
        }
        let sessions: Vec<_> =
            found.iter().map(|session| memory.listed(session)).collect::<Result<_, _>>()?;
        let elsewhere = if sessions.is_empty() && scope != Scope::All {
            memory.store.read(|connection| NamedSession::count(connection, since))?
        } else {
            0
        };
        Ok(SessionList { schema, project: name, sessions, elsewhere })
    }

    /// One session, by the beginning of its id.
    ///
    /// # Errors
    /// When there is none or more than one, or the store cannot be read.
    pub fn session(&self, start: &str, with_turns: bool) -> Result<ShownSession, Error> {
        let memory = self.open()?;
        let Some(memory) = memory else {
            let reason = "session memory is empty".to_owned();
            return Err(Error::UnknownSession { reason });
        };
        let session = memory.session(start)?;
        let read =
            |question: &dyn Fn(&chronicle_search::Connection) -> chronicle_search::SqlResult<Vec<String>>| {
                memory.store.read(|connection| question(connection))
            };
        let threads = read(&|connection| session.threads(connection))?;
        let sub_agents = memory.store.read(|connection| {
            NamedSession::sub_agents(connection, &session.record.agent, &session.record.name)
        })?;
        let sources = memory.store.read(|connection| Source::of_session(connection, session.id))?;
        let turns = if with_turns {
            memory.store.read(|connection| StoredTurn::of_session(connection, session.id))?
        } else {
            Vec::new()
        };
        Ok(ShownSession {
            schema: "chronicle-session/v1",
            listed: memory.listed(&session)?,
            parent: session.record.parent.clone(),
            folder: session.record.folder.clone(),
            model: session.record.model.clone(),
            digest: session.digest(),
            files: memory.store.read(|connection| session.files(connection))?,
            threads: memory.told_threads(&threads)?,
            sub_agents: sub_agents.into_iter().map(|session| session.record.name).collect(),
            turns_stored: memory.store.read(|connection| session.n_turns(connection))?,
            turns: turns.into_iter().map(ShownTurn::of).collect(),
            transcripts: sources
                .into_iter()
                .map(|source| {
                    let is_there = is_there(std::path::Path::new(&source.path));
                    (source.path, is_there)
                })
                .collect(),
        })
    }
}

/// What the rules found in a session.
pub(crate) trait Digested {
    /// The digest; none until the session was read to its end.
    fn digest(&self) -> Option<DigestOfSession>;
}

impl Digested for NamedSession {
    fn digest(&self) -> Option<DigestOfSession> {
        serde_json::from_str(&self.record.digest).ok()
    }
}

impl OpenMemory {
    /// What lists say of a session.
    pub(crate) fn listed(&self, session: &NamedSession) -> Result<ListedSession, Error> {
        let record = &session.record;
        Ok(ListedSession {
            session: record.name.clone(),
            agent: record.agent.clone(),
            project: self.project_name(session)?,
            branch: record.branch.clone(),
            began: record.first.map(|at| at.to_string()),
            ended: record.last.map(|at| at.to_string()),
            title: record.title.clone(),
            importance: record.importance,
            prompts: record.n_prompts,
        })
    }

    fn told_threads(&self, ids: &[String]) -> Result<Vec<SessionThread>, Error> {
        let mut told = Vec::new();
        for id in ids {
            let found = self.store.threads_by_start(id)?.into_iter().find(|thread| thread.id.0 == *id);
            let Some(thread) = found else { continue };
            let status = serde_json::to_value(thread.status).unwrap_or_default();
            told.push(SessionThread {
                summary: thread.told().to_owned(),
                thread: thread.id.0,
                status: status.as_str().unwrap_or_default().to_owned(),
            });
        }
        Ok(told)
    }
}

impl ShownSession {
    /// How many minutes it took, breaks included.
    #[must_use]
    pub fn minutes(&self) -> Option<u64> {
        let time = |text: &Option<String>| text.as_deref()?.parse::<Timestamp>().ok();
        let took = time(&self.listed.ended)?.duration_since(time(&self.listed.began)?);
        u64::try_from(took.as_mins()).ok()
    }
}

impl ListedSession {
    /// The beginning of its id.
    #[must_use]
    pub fn short(&self) -> &str {
        short_session(&self.session)
    }
}

impl ShownTurn {
    fn of(turn: StoredTurn) -> Self {
        Self {
            turn: turn.name,
            line: turn.line,
            at: turn.at.map(|at| at.to_string()),
            kind: turn.kind.name(),
            speaker: turn.speaker,
            sub_agent: turn.sub_agent,
            ok: turn.is_ok,
            text: turn.text,
            answer: turn.answer,
        }
    }
}
