//! What was done about an error before, and whether it stayed away.

use std::{cmp::Reverse, collections::BTreeSet};

use chronicle_search::{Hit, NamedSession, Scope as SearchScope, StoredTurn, TurnKind};
use chronicle_sessions::{ErrorText, Mended, Nearness, first_sentence, holding_commit, mended, shortened};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Elsewhere, asked,
    how::{Step, step},
};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
};

/// How many turns are looked at.
const LOOKED_AT: usize = 200;

/// How many sessions are read.
const MOST_READ: usize = 24;

/// How many steps of one session are listed.
const MOST_STEPS: usize = 8;

/// The longest that is quoted.
const LONGEST_QUOTE: usize = 300;

/// An error, and where to look.
#[derive(Debug, Clone, Default)]
pub struct FixCommand {
    /// The error, as it was printed.
    pub error: String,
    /// In this project instead of the current one.
    pub project: Option<String>,
    /// In every project.
    pub is_all: bool,
    /// At most so many sessions.
    pub limit: usize,
}

/// What was done about an error before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fix {
    /// Always `chronicle-fix/v1`.
    pub schema: &'static str,
    /// The error.
    pub error: String,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// The sessions in which it came up: what helped for good first.
    pub fixes: Vec<Fixed>,
    /// What other projects have, where this one has nothing.
    pub elsewhere: Elsewhere,
}

/// What was done about an error in one session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fixed {
    /// The id of the session.
    pub session: String,
    /// What it was about.
    pub title: String,
    /// Its project.
    pub project: String,
    /// The branch it worked on last.
    pub branch: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// The error, as it was printed the last time.
    pub message: String,
    /// Whether it names the same things as the error that was asked about.
    pub is_same: bool,
    /// The call that failed with it last.
    pub call: String,
    /// The line of the transcript where that is.
    pub line: u64,
    /// How often it came in the session.
    pub times: usize,
    /// What the agent said then, before it changed something.
    pub said: Option<String>,
    /// What was changed and run after that.
    pub done: Vec<Step>,
    /// How many more steps there were.
    pub left_out: usize,
    /// The call that worked then.
    pub worked: Option<Worked>,
    /// What came of it.
    pub outcome: FixOutcome,
    /// The next session of the project in which it came up again.
    pub came_back_in: Option<String>,
    /// The commit that the session made next, if it holds what was changed.
    pub commit: Option<String>,
}

/// A call that worked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Worked {
    /// The call.
    pub call: String,
    /// The line of the transcript.
    pub line: u64,
}

/// What came of what was done about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixOutcome {
    /// It did not come up again.
    Held,
    /// It came up again in a later session of the project.
    CameBack,
    /// Nothing shows that the same call worked.
    Unsolved,
}

impl Memory<'_> {
    /// What was done about an error before, and whether it stayed away.
    ///
    /// # Errors
    /// When the error has no words to look for, the project is not known, or the store cannot be read.
    pub fn fix(&self, command: &FixCommand) -> Result<Fix, Error> {
        let error = ErrorText::of(&command.error);
        let question = asked(&error.words())?;
        let mut fix = Fix {
            schema: "chronicle-fix/v1",
            error: command.error.trim().to_owned(),
            project: None,
            fixes: Vec::new(),
            elsewhere: Elsewhere::default(),
        };
        let Some(memory) = self.open()? else { return Ok(fix) };
        let place = self.memory_scope(&memory, command.project.as_deref(), command.is_all)?;
        if let Scope::One(project) = &place {
            fix.project = Some(project.name.clone());
        }
        let calls = SearchScope { kinds: vec![TurnKind::Command, TurnKind::Tool], ..SearchScope::default() };
        let scope = SearchScope { project: place.project(), ..calls.clone() };
        let hits = match place {
            Scope::Unknown => Vec::new(),
            _ => memory.found(&question, &scope, LOOKED_AT)?,
        };
        let mut found = Vec::new();
        for best in memory.best_sessions(&hits, MOST_READ)? {
            found.extend(memory.fixed(&best.session, &error)?);
        }
        fix.fixes = in_order(found);
        fix.fixes.truncate(command.limit);
        if fix.fixes.is_empty() && place != Scope::All {
            let hits = memory.found(&question, &calls, LOOKED_AT)?;
            fix.elsewhere = memory.fixed_elsewhere(&hits, &place, &error)?;
        }
        Ok(fix)
    }
}

impl OpenMemory {
    /// How many sessions of other projects met an error, of those with these hits.
    fn fixed_elsewhere(&self, hits: &[Hit], place: &Scope, error: &ErrorText) -> Result<Elsewhere, Error> {
        let mut elsewhere = Elsewhere::default();
        let mut projects = BTreeSet::new();
        for best in self.best_sessions(hits, MOST_READ)? {
            let project = best.session.record.project;
            if place.project() != Some(project) && self.fixed(&best.session, error)?.is_some() {
                elsewhere.hits += 1;
                projects.insert(project);
            }
        }
        Ok(Elsewhere { projects: projects.len(), ..elsewhere })
    }

    /// What was done about an error in a session, with when the session ended; none where it did not come up.
    fn fixed(
        &self,
        session: &NamedSession,
        error: &ErrorText,
    ) -> Result<Option<(Option<Timestamp>, Fixed)>, Error> {
        let turns = self.store.read(|connection| StoredTurn::of_session(connection, session.id))?;
        let Some(mended) = mended(&turns, error) else { return Ok(None) };
        let commit = holding_commit(&turns, &mended).map(str::to_owned);
        let steps = steps(&mended);
        let record = &session.record;
        let fixed = Fixed {
            session: record.name.clone(),
            title: record.title.clone(),
            project: self.project_name(session)?,
            branch: record.branch.clone(),
            ended: record.last.map(|at| at.to_string()),
            is_same: mended.nearness == Nearness::Same,
            call: on_one_line(&mended.failed.text),
            line: mended.failed.line,
            times: mended.times,
            said: mended.said.map(|turn| shortened(first_sentence(&turn.text), LONGEST_QUOTE)),
            left_out: steps.len().saturating_sub(MOST_STEPS),
            done: steps.into_iter().take(MOST_STEPS).collect(),
            worked: mended.worked.map(|turn| Worked { call: on_one_line(&turn.text), line: turn.line }),
            outcome: if mended.worked.is_some() { FixOutcome::Held } else { FixOutcome::Unsolved },
            came_back_in: None,
            commit,
            message: mended.message,
        };
        Ok(Some((record.last, fixed)))
    }
}

/// What was changed and run, each once.
fn steps(mended: &Mended<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for next in mended.done.iter().filter_map(|turn| step(turn)) {
        match steps.iter_mut().find(|known| known.kind == next.kind && known.text == next.text) {
            Some(known) => known.times += 1,
            None => steps.push(next),
        }
    }
    steps
}

/// The fixes with what later sessions show of them: the same error first, then what helped for good, then the newest.
fn in_order(mut found: Vec<(Option<Timestamp>, Fixed)>) -> Vec<Fixed> {
    found.sort_by_key(|(ended, _)| *ended);
    for at in 0..found.len() {
        let (_, fixed) = &found[at];
        let is_again = |(_, later): &&(Option<Timestamp>, Fixed)| {
            later.project == fixed.project && later.is_same == fixed.is_same
        };
        let again = found[at + 1..].iter().find(is_again).map(|(_, later)| later.session.clone());
        let (_, fixed) = &mut found[at];
        if again.is_some() && fixed.outcome == FixOutcome::Held {
            (fixed.outcome, fixed.came_back_in) = (FixOutcome::CameBack, again);
        }
    }
    found.sort_by_key(|(ended, fixed)| (Reverse(fixed.is_same), fixed.outcome, Reverse(*ended)));
    found.into_iter().map(|(_, fixed)| fixed).collect()
}

fn on_one_line(call: &str) -> String {
    shortened(&call.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_QUOTE)
}
