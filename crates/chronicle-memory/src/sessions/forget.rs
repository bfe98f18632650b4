//! Forgets sessions.

use chronicle_git::{FileLock, sweep_dead};
use chronicle_search::{BlockVersion, NamedSession, Used, forget_events};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{kept::is_there, queue::QUEUE_LOCK};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    sleep::{LOCK_FILE as SLEEP_LOCK, remove_kept},
};

/// Which sessions to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetCommand {
    /// Those with these ids.
    Sessions(Vec<String>),
    /// Those of a project: the current one, or the one named.
    Project(Option<String>),
    /// Those that ended before a moment, of every project.
    Before(Timestamp),
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ForgetReply {
    /// Always `chronicle-forgotten/v1`.
    pub schema: &'static str,
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// The sessions.
    pub forgotten: Vec<ForgottenSession>,
    /// Transcripts of them that the agent keeps still.
    pub transcripts: Vec<String>,
}

/// A session that was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ForgottenSession {
    /// Its id.
    pub session: String,
    /// What it was about.
    pub title: String,
}

impl Memory<'_> {
    /// Removes sessions from session memory for good, with what only they say. They are not taken in again.
    ///
    /// # Errors
    /// When a session or project is not known, or the store cannot be written; then all of them stay.
    pub fn forget_sessions(&self, command: &ForgetCommand, is_dry_run: bool) -> Result<ForgetReply, Error> {
        let mut memory = self.open_to_write()?;
        let mut sessions = self.meant(&memory, command)?;
        for session in sessions.clone() {
            let record = &session.record;
            sessions.extend(
                memory
                    .store
                    .read(|connection| NamedSession::sub_agents(connection, &record.agent, &record.name))?,
            );
        }
        sessions.sort_by_key(|session| session.id);
        sessions.dedup_by_key(|session| session.id);
        let mut transcripts = Vec::new();
        for session in &sessions {
            let sources = memory
                .store
                .read(|connection| chronicle_search::Source::of_session(connection, session.id))?;
            transcripts.extend(sources.into_iter().map(|source| source.path));
        }
        transcripts.retain(|path| is_there(std::path::Path::new(path)));
        if !is_dry_run && !sessions.is_empty() {
            // No one reads transcripts in, or writes digests of them, while they are forgotten.
            let home = self.workplace.memory_home()?;
            let _locks =
                (FileLock::acquire(&home.join(QUEUE_LOCK))?, FileLock::acquire(&home.join(SLEEP_LOCK))?);
            // The session's own rows go last: after a crash in between it is found and forgotten again.
            let shared = sessions.iter().map(|session| (&*session.record.agent, &*session.record.name));
            self.shared().share_forgets(shared)?;
            self.forget_derived()?;
            sweep_dead(&home, 3);
            remove_kept(&mut memory, &home, &sessions)?;
            let told = sessions.iter().map(|session| (&session.record.agent, &session.record.name));
            self.forget_told(told)?;
            let names: Vec<String> = sessions.iter().map(|session| session.record.name.clone()).collect();
            memory.store.write(|tx| {
                let mut threads = Vec::new();
                for session in &sessions {
                    threads.extend(session.forget(tx)?);
                    Used::forget(tx, &session.record.name)?;
                }
                BlockVersion::forget(tx, &names)?;
                threads.sort_unstable();
                threads.dedup();
                threads.iter().try_for_each(|thread| forget_events(tx, thread))
            })?;
            self.learning().forget_remarks(&mut memory)?;
            memory.store.settle()?;
        }
        let forgotten = sessions
            .into_iter()
            .map(|session| ForgottenSession { session: session.record.name, title: session.record.title });
        Ok(ForgetReply {
            schema: "chronicle-forgotten/v1",
            dry_run: is_dry_run,
            forgotten: forgotten.collect(),
            transcripts,
        })
    }

    fn meant(&self, memory: &OpenMemory, command: &ForgetCommand) -> Result<Vec<NamedSession>, Error> {
        match command {
            ForgetCommand::Sessions(names) => names.iter().map(|name| memory.session(name)).collect(),
            ForgetCommand::Project(name) => match self.memory_scope(memory, name.as_deref(), false)? {
                Scope::Unknown | Scope::All => Ok(Vec::new()),
                Scope::One(project) => Ok(memory.store.read(|connection| {
                    NamedSession::latest(connection, Some(project.id), None, usize::MAX)
                })?),
            },
            ForgetCommand::Before(moment) => {
                Ok(memory.store.read(|connection| NamedSession::ended_before(connection, *moment))?)
            }
        }
    }
}
