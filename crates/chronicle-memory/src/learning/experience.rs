//! What each session shows, learned once and kept until its turns change.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use chronicle_search::{Connection, Learned, NamedSession, Project, ProjectId, SessionId, StoredTurn};
use chronicle_sessions::{SIGNS_VERSION, Signs};
use chronicle_workplace::{Error, Workplace};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    sessions::look::Digested,
};

/// How long who asks waits for what was not learned yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many sessions are learned from in one transaction.
const TOGETHER: usize = 20;

/// Where in a session something was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The id of the session.
    pub session: String,
    /// What it was about.
    pub title: String,
    /// The line of the transcript.
    pub line: u64,
    /// When the session ended.
    pub at: Option<String>,
}

/// What one session tells.
#[derive(Debug)]
pub(crate) struct Experience {
    pub(crate) session: String,
    pub(crate) title: String,
    pub(crate) project: ProjectId,
    pub(crate) first: Option<Timestamp>,
    /// When it ended; a clock that ran ahead says nothing.
    pub(crate) last: Option<Timestamp>,
    pub(crate) signs: Signs,
}

/// What the sessions of a project, or of all, tell.
pub(super) struct LearnedIn {
    pub(super) memory: OpenMemory,
    /// The name of the project; none for all.
    pub(super) project: Option<String>,
    pub(super) experience: Vec<Experience>,
}

/// Takes what a question needs out of the signs of a session: of very many sessions, all of them are a lot to hold.
type Needed = fn(Signs) -> Signs;

impl Experience {
    fn of(learned: Learned, needed: Needed, now: Timestamp) -> Self {
        Self {
            signs: needed(serde_json::from_str(&learned.signs).unwrap_or_default()),
            session: learned.name,
            title: learned.title,
            project: learned.project,
            first: learned.first.map(|at| at.min(now)),
            last: learned.last.map(|at| at.min(now)),
        }
    }

    pub(crate) fn place(&self, line: u64) -> Place {
        let at = self.last.map(|at| at.to_string());
        Place { session: self.session.clone(), title: self.title.clone(), line, at }
    }
}

/// What the sessions show of the user.
#[derive(Clone, Copy)]
pub struct Learning<'w> {
    pub(crate) workplace: &'w Workplace,
}

impl<'w> Learning<'w> {
    pub(super) fn memory(self) -> Memory<'w> {
        Memory::new(self.workplace)
    }
}

impl Learning<'_> {
    /// Learns from the sessions that are new or changed; tells from how many.
    ///
    /// # Errors
    /// When the store cannot be read or written; what was learned before stays.
    pub fn learn(&self) -> Result<usize, Error> {
        match self.memory().open()? {
            Some(mut memory) if !memory.store.is_read_only() => memory.learn(None),
            _ => Ok(0),
        }
    }

    /// How many sessions nothing was learned from yet: a question waits a second for it at most.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn n_unlearned(&self) -> Result<usize, Error> {
        let Some(memory) = self.memory().open()? else { return Ok(0) };
        if memory.store.is_read_only() {
            return Ok(0);
        }
        Ok(memory.store.read(|connection| Learned::missing(connection, SIGNS_VERSION))?.len())
    }

    /// What the sessions of `project` tell, or those of all projects; none where nothing is remembered.
    pub(super) fn learned_in(
        &self,
        project: Option<&str>,
        needed: Needed,
    ) -> Result<Option<LearnedIn>, Error> {
        let Some(mut memory) = self.memory().open()? else { return Ok(None) };
        let scope = self.memory().memory_scope(&memory, project, project.is_none())?;
        let experience = self.experience(&mut memory, &scope, needed)?;
        let project = match scope {
            Scope::One(project) => Some(project.name),
            Scope::All | Scope::Unknown => None,
        };
        Ok(Some(LearnedIn { memory, project, experience }))
    }

    /// What the sessions of a scope tell, the first one first.
    pub(super) fn experience(
        &self,
        memory: &mut OpenMemory,
        scope: &Scope,
        needed: Needed,
    ) -> Result<Vec<Experience>, Error> {
        if *scope == Scope::Unknown {
            return Ok(Vec::new());
        }
        let project = scope.project();
        if memory.store.is_read_only() {
            return memory.experience_unstored(project, needed, self.workplace.now());
        }
        memory.learn(Some(Instant::now() + PATIENCE))?;
        let mut all = Vec::new();
        memory.store.read(|connection| {
            let mut add = |learned| all.push(Experience::of(learned, needed, self.workplace.now()));
            Learned::each(connection, SIGNS_VERSION, project, &mut add)
        })?;
        Ok(all)
    }

    /// The names of all projects.
    pub(super) fn project_names(memory: &OpenMemory) -> Result<BTreeMap<ProjectId, String>, Error> {
        let all = memory.store.read(Project::all)?;
        Ok(all.into_iter().map(|project| (project.id, project.name)).collect())
    }
}

impl OpenMemory {
    /// Learns from the sessions that are new or changed until `deadline`; tells whether none is left.
    pub(crate) fn learn_until(&mut self, deadline: Option<Instant>) -> Result<bool, Error> {
        self.learn(deadline)?;
        let missing = self.store.read(|connection| Learned::missing(connection, SIGNS_VERSION))?;
        Ok(missing.is_empty())
    }

    /// Learns from the sessions that are new or changed, the latest first, until `deadline`; tells from how many.
    pub(super) fn learn(&mut self, deadline: Option<Instant>) -> Result<usize, Error> {
        let missing = |connection: &Connection| Learned::missing(connection, SIGNS_VERSION);
        let mut n_learned = 0;
        loop {
            let sessions = self.store.read(missing)?;
            if sessions.is_empty() {
                return Ok(n_learned);
            }
            for together in sessions.chunks(TOGETHER) {
                if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                    return Ok(n_learned);
                }
                n_learned += self.store.write(|tx| {
                    let mut n_new = 0;
                    for session in together {
                        // Others may have learned meanwhile, and a session may be forgotten.
                        if Learned::has(tx, *session, SIGNS_VERSION)?
                            || NamedSession::by_id(tx, *session)?.is_none()
                        {
                            continue;
                        }
                        // What is stored must be of these very turns.
                        let signs = serde_json::to_string(&signs(tx, *session)?).unwrap_or_default();
                        Learned::put(tx, *session, SIGNS_VERSION, &signs)?;
                        n_new += 1;
                    }
                    Ok(n_new)
                })?;
                self.store.give_way();
            }
        }
    }

    /// The same where nothing can be stored.
    fn experience_unstored(
        &self,
        project: Option<ProjectId>,
        needed: Needed,
        now: Timestamp,
    ) -> Result<Vec<Experience>, Error> {
        let mut all = Vec::new();
        let sessions =
            self.store.read(|connection| NamedSession::latest(connection, project, None, usize::MAX))?;
        for session in sessions.into_iter().rev() {
            let signs = self.store.read(|connection| signs(connection, session.id))?;
            let record = session.record;
            all.push(Experience {
                session: record.name,
                title: record.title,
                project: record.project,
                first: record.first.map(|at| at.min(now)),
                last: record.last.map(|at| at.min(now)),
                signs: needed(signs),
            });
        }
        Ok(all)
    }
}

fn signs(connection: &Connection, session: SessionId) -> chronicle_search::SqlResult<Signs> {
    let turns = StoredTurn::of_session(connection, session)?;
    let session = NamedSession::by_id(connection, session)?;
    let digest = session.as_ref().and_then(NamedSession::digest);
    let has_program = digest.as_ref().is_some_and(|digest| digest.is_headless || digest.is_partly_headless);
    let libraries = digest.map(|digest| digest.libraries).unwrap_or_default();
    let mut signs = Signs::of(&turns, &libraries);
    // What one agent tells another, or a program tells an agent, is nobody's wish.
    if has_program || session.is_some_and(|session| session.record.is_sub_agent) {
        signs.statements.clear();
    }
    Ok(signs)
}
