//! What the session behind a commit tells: what was asked for, tried, failed and decided.

use std::fmt::Write;

use chronicle::agent::AgentSession;
use chronicle_core::tokens;
use chronicle_memory::{
    OpenMemory, Scope,
    excerpt::{self, clean, told},
};
use chronicle_search::{NamedSession, StoredTurn, TurnKind};
use chronicle_sessions::shortened;
use chronicle_workplace::Error;

use crate::{
    Annotator,
    proposals::{FAILED, REASON, TRAP, turns_behind},
};

/// The session that made a commit, as far as it is about that commit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Session {
    /// Its id.
    pub(crate) name: String,
    /// The agent.
    agent: String,
    title: String,
    /// What happened since the commit before it.
    turns: Vec<StoredTurn>,
    /// Files that were changed on the way, and are not in the commit.
    taken_back: Vec<String>,
}

impl Annotator<'_> {
    /// The session that made `commit`, and the memory that knows it.
    pub(crate) fn maker_of(&self, commit: &str) -> Result<Option<(OpenMemory, NamedSession)>, Error> {
        let Some(memory) = self.chronicle.memory().open()? else { return Ok(None) };
        let Scope::One(project) = self.chronicle.memory().memory_scope(&memory, None, false)? else {
            return Ok(None);
        };
        let made = |connection: &_| NamedSession::that_committed(connection, project.id, commit);
        let found = memory.store.read(made)?.into_iter().next();
        Ok(found.map(|session| (memory, session)))
    }

    /// A session as memory knows it, with that memory.
    fn running(&self, session: &AgentSession) -> Result<Option<(OpenMemory, NamedSession)>, Error> {
        let Some(memory) = self.chronicle.memory().open()? else { return Ok(None) };
        let named = |connection: &_| NamedSession::by_name(connection, session.host, &session.id);
        let found = memory.store.read(named)?;
        Ok(found.map(|session| (memory, session)))
    }

    /// What the session that made `commit` tells of it; none where no memory is kept.
    pub(super) fn session_behind(
        &self,
        commit: &str,
        files: &[String],
        maker: Option<&AgentSession>,
    ) -> Result<Option<Session>, Error> {
        let known = || match self.maker_of(commit)? {
            Some(found) => Ok(Some(found)),
            None => maker.map_or(Ok(None), |maker| self.running(maker)),
        };
        let found = match known() {
            Err(Error::NoHome) => None,
            found => found?,
        };
        let Some((memory, session)) = found else { return Ok(None) };
        let turns = memory.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        let turns = turns_behind(&turns, commit).to_vec();
        let is_in = |text: &str| files.iter().any(|file| file == text || text.ends_with(&format!("/{file}")));
        let mut taken_back: Vec<String> = turns
            .iter()
            .filter(|turn| turn.kind == TurnKind::Edit && turn.is_ok != Some(false) && !is_in(&turn.text))
            .map(|turn| turn.text.clone())
            .collect();
        taken_back.sort_unstable();
        taken_back.dedup();
        Ok(Some(Session {
            name: session.record.name,
            agent: session.record.agent,
            title: session.record.title,
            turns,
            taken_back,
        }))
    }
}

impl Session {
    /// What happened, within a budget: the turns that tell most, in their order. `file` leaves only those that name it,
    /// `from` those from that turn on.
    pub(crate) fn excerpt(&self, budget: u64, file: Option<&str>, from: usize) -> String {
        let mut out = format!("Session of {} about: {}\n", self.agent, shortened(&clean(&self.title), 200));
        if !self.taken_back.is_empty() && file.is_none() && from <= 1 {
            let files = self.taken_back.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "Changed on the way, and not in the commit: {}", clean(&files));
        }
        let names = |turn: &StoredTurn| {
            let base = file.map(|file| file.rsplit('/').next().unwrap_or(file));
            base.is_none_or(|base| {
                turn.text.contains(base) || turn.answer.as_ref().is_some_and(|text| text.contains(base))
            })
        };
        let mut shown: Vec<(usize, u8, String)> = (1..)
            .zip(&self.turns)
            .skip(from.saturating_sub(1))
            .filter(|(_, turn)| names(turn))
            .filter_map(|(number, turn)| Some((number, weight(turn), told(turn, true)?)))
            .collect();
        let left = budget.saturating_sub(tokens::at_most(&out) + 20);
        let n_left_out = excerpt::keep_weightiest(&mut shown, left);
        for (number, _, text) in shown {
            let _ = writeln!(out, "[turn {number}] {text}");
        }
        if 0 < n_left_out {
            let _ = writeln!(out, "({n_left_out} turns left out)");
        }
        out
    }

    /// Whether turn `number` says `quote`, however it is laid out.
    pub(crate) fn says(&self, number: usize, quote: &str) -> bool {
        let Some(turn) = number.checked_sub(1).and_then(|at| self.turns.get(at)) else { return false };
        excerpt::says(&format!("{} {}", turn.text, turn.answer.as_deref().unwrap_or_default()), quote)
    }

    /// How many turns there are.
    pub(crate) fn n_turns(&self) -> usize {
        self.turns.len()
    }
}

/// How much a turn tells of why a change is as it is.
fn weight(turn: &StoredTurn) -> u8 {
    let small = turn.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| small.contains(word));
    match turn.kind {
        TurnKind::Said if says(&FAILED) => 5,
        TurnKind::Prompt | TurnKind::Interruption => 4,
        TurnKind::Said if says(&TRAP) || says(&REASON) => 4,
        TurnKind::Command | TurnKind::Edit | TurnKind::Tool if turn.is_ok == Some(false) => 3,
        TurnKind::Plan | TurnKind::Summary | TurnKind::Error => 2,
        TurnKind::Said => 2,
        TurnKind::Edit => 1,
        _ => 0,
    }
}
