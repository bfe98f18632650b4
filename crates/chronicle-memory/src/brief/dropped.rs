//! What a compaction left out of what an agent goes on with.

use std::{
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use chronicle_git::files;
use chronicle_search::{NamedSession, StoredTurn};
use chronicle_sessions::{CompactionSummary, Signs, line_of, working_commands};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::Brief;
use crate::{memory::OpenMemory, sessions::look::Digested};

/// How many of each kind are shown.
const MOST_EACH: usize = 5;

/// A summary is at the end of a transcript, and no longer.
const MOST_READ: u64 = 256 << 10;

/// A session that goes on in a new context.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The id that the agent gave the session.
    pub session: String,
    /// The file that the agent writes it to.
    pub transcript: Option<PathBuf>,
}

/// What was said and done before a compaction, and is not in the summary of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dropped {
    /// The session.
    pub session: String,
    /// Whether it was compared with the summary: agents may write that later.
    pub is_compared: bool,
    /// What was decided, in the words of the human.
    pub decisions: Vec<DroppedWords>,
    /// How the human wants it done.
    pub constraints: Vec<DroppedWords>,
    /// What worked, the last first.
    pub commands: Vec<DroppedCommand>,
}

/// What a human said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedWords {
    /// The words.
    pub words: String,
    /// The line of the transcript; null where they are put together from several.
    pub line: Option<u64>,
}

/// A command that worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedCommand {
    /// The command.
    pub command: String,
    /// How often it worked.
    pub times: usize,
    /// The line of the transcript where it worked last.
    pub line: u64,
}

impl OpenMemory {
    /// Adds what the compaction of a session left out, and leaves out of the rest what the agent knows by its summary.
    pub(super) fn tell_what_was_dropped(
        &self,
        brief: &mut Brief,
        compacted: &Compacted,
    ) -> Result<(), Error> {
        let called =
            self.store.read(|connection| NamedSession::by_start(connection, &compacted.session, 2))?;
        let Some(session) = called.into_iter().find(|session| session.record.name == compacted.session)
        else {
            return Ok(());
        };
        brief.stopped.retain(|stop| stop.session.session != session.record.name);
        brief.decided.retain(|decision| decision.session != session.record.name);
        let turns = self.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        let summary = compacted.transcript.as_deref().and_then(end_of);
        let summary = summary.as_deref().and_then(CompactionSummary::at_end);
        let is_lacking = |words: &str| summary.as_ref().is_none_or(|summary| !summary.says(words));
        let told = |words: &str, line: Option<u64>| DroppedWords { words: words.to_owned(), line };
        let decisions = session.digest().map(|digest| digest.decisions).unwrap_or_default();
        let signs = Signs::of(&turns, &[]);
        let constraints = signs.statements.iter().rev();
        let constraints =
            constraints.filter(|said| decisions.iter().all(|known| !known.contains(&said.text)));
        let constraints = constraints.filter(|said| is_lacking(&said.text));
        let constraints = constraints.map(|said| told(&said.text, Some(said.line))).take(MOST_EACH).collect();
        let lacking = decisions.iter().rev().filter(|words| is_lacking(words));
        let decisions = lacking.map(|words| told(words, line_of(&turns, words))).take(MOST_EACH).collect();
        let commands = working_commands(&turns).into_iter();
        let commands = commands
            .filter(|worked| summary.as_ref().is_none_or(|summary| !summary.names(&worked.command)))
            .map(|worked| DroppedCommand { command: worked.command, times: worked.times, line: worked.line });
        let dropped = Dropped {
            session: session.record.name,
            is_compared: summary.is_some(),
            decisions,
            constraints,
            commands: commands.take(MOST_EACH).collect(),
        };
        brief.dropped = Some(dropped).filter(|dropped| 0 < dropped.len());
        Ok(())
    }
}

impl Dropped {
    /// How many lines it takes.
    pub(super) fn len(&self) -> usize {
        self.decisions.len() + self.constraints.len() + self.commands.len()
    }

    /// All words that may be long.
    pub(super) fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let said = self.decisions.iter_mut().chain(&mut self.constraints);
        said.map(|said| &mut said.words).chain(self.commands.iter_mut().map(|worked| &mut worked.command))
    }

    /// The same without its last line; none where that was the only one.
    pub(super) fn without_last(mut self) -> Option<Self> {
        if self.commands.pop().is_none() && self.constraints.pop().is_none() {
            self.decisions.pop();
        }
        Some(self).filter(|rest| 0 < rest.len())
    }
}

/// The end of a file, from the first whole line on.
fn end_of(path: &Path) -> Option<String> {
    // An agent's hook names it, and a pipe would never end.
    let mut file = files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_READ))).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
