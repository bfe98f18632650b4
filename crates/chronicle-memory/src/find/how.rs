//! How a task was done before: the steps, in their order, and what came of them.

use std::{cmp::Reverse, collections::HashMap};

use chronicle_core::counted;
use chronicle_search::{NamedSession, Question, Scope as SearchScope, SessionId, StoredTurn, TurnKind};
use chronicle_sessions::{CalledTool, Check, CheckKind, Invoked, checks_called};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Elsewhere, about::BestSession, asked, n_words};
use crate::{
    Memory,
    memory::{OpenMemory, Scope},
    sessions::look::Digested,
};

/// How many turns are looked at.
const LOOKED_AT: usize = 100;

/// How many commands are looked at for calls of one program, and how many ways to call it are listed.
const CALLS_LOOKED_AT: usize = 400;
const MOST_INVOCATIONS: usize = 8;

/// How many of the latest sessions are looked at for how tests, builds or lints are run, and how many words a task has
/// that asks for that alone.
const SESSIONS_LOOKED_AT: usize = 300;
const MOST_WORDS: usize = 4;

/// How many of these are read in full for how each run went.
const SESSIONS_READ: usize = 16;

/// How many steps are told of one session.
const MOST_STEPS: usize = 16;

/// How much is told of a step.
const LONGEST_STEP: usize = 200;

/// Programs that only look: what they were asked is no step of a procedure.
const LOOKING: [&str; 22] = [
    "ls", "cat", "cd", "grep", "rg", "find", "head", "tail", "sed", "pwd", "echo", "which", "wc", "less",
    "tree", "stat", "file", "sleep", "ps", "jq", "diff", "awk",
];

/// What git is asked when it is only to tell something.
const ASKING_GIT: [&str; 8] = ["status", "diff", "log", "show", "branch", "remote", "rev-parse", "blame"];

/// A task, and where to look.
#[derive(Debug, Clone, Default)]
pub struct HowCommand {
    /// The task, in the user's words.
    pub task: String,
    /// In this project instead of the current one.
    pub project: Option<String>,
    /// In every project.
    pub is_all: bool,
    /// At most so many procedures.
    pub limit: usize,
}

/// How a task was done before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct How {
    /// Always `chronicle-how/v1`.
    pub schema: &'static str,
    /// The task.
    pub task: String,
    /// The project that was searched; null when all were.
    pub project: Option<String>,
    /// How the program was called that the task names, or what ran the tests, builds or lints that it names; the most
    /// used first.
    pub invocations: Vec<Invocation>,
    /// What was done in the sessions that come closest.
    pub procedures: Vec<Procedure>,
    /// What other projects have, where this one has nothing.
    pub elsewhere: Elsewhere,
}

/// A way in which a program was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Invocation {
    /// The command, as it was typed.
    pub command: String,
    /// How often.
    pub times: usize,
    /// How many of these worked.
    pub worked: usize,
    /// How many of these failed.
    pub failed: usize,
    /// How many were a part of a longer command that failed, perhaps at another part; of the others it is not known.
    pub unclear: usize,
    /// The code that it ended with when it failed last, where the agent shows it.
    pub exit_code: Option<i32>,
    /// What was said when it failed last.
    pub message: Option<String>,
    /// The session in which it was called last.
    pub session: String,
    /// The line of the transcript where that is; 0 where it is not known.
    pub line: u64,
    /// When that was.
    pub at: Option<String>,
}

/// What was done in one session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Procedure {
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
    /// What came of it.
    pub outcome: String,
    /// What was done, in its order.
    pub steps: Vec<Step>,
    /// How many more steps there were, before and after.
    pub left_out: usize,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// What kind of turn it was.
    pub kind: &'static str,
    /// What was said, run or changed.
    pub text: String,
    /// How often in a row.
    pub times: usize,
    /// How many of these failed.
    pub failed: usize,
    /// The line of the transcript where it begins.
    pub line: u64,
}

impl Memory<'_> {
    /// Tells how a task was done before.
    ///
    /// # Errors
    /// When the task has no words to look for, the project is not known, or the store cannot be read.
    pub fn how(&self, command: &HowCommand) -> Result<How, Error> {
        let mut question = asked(&command.task)?;
        let mut how = How {
            schema: "chronicle-how/v1",
            task: command.task.clone(),
            project: None,
            invocations: Vec::new(),
            procedures: Vec::new(),
            elsewhere: Elsewhere::default(),
        };
        let Some(memory) = self.open()? else { return Ok(how) };
        let place = self.memory_scope(&memory, command.project.as_deref(), command.is_all)?;
        if let Scope::One(project) = &place {
            how.project = Some(project.name.clone());
        }
        let scope = SearchScope { project: place.project(), ..SearchScope::default() };
        let hits = match place {
            Scope::Unknown => Vec::new(),
            _ => memory.found(&question, &scope, LOOKED_AT)?,
        };
        if let Some(tool) = CalledTool::of(&command.task).filter(|_| place != Scope::Unknown) {
            how.invocations = memory.invocations(&tool, &question, &scope)?;
        }
        // A word such as `lint` may be a program, too.
        if how.invocations.is_empty()
            && let Some(kind) = asked_check(&command.task)
            && question.n_words() <= MOST_WORDS
            && place != Scope::Unknown
        {
            how.invocations = memory.checks(kind, &mut question, &scope)?;
        }
        for best in memory.best_sessions(&hits, LOOKED_AT)? {
            if how.procedures.len() == command.limit {
                break;
            }
            how.procedures.extend(procedure(&memory, &best)?);
        }
        if hits.is_empty() && place != Scope::All {
            how.elsewhere = memory.elsewhere(&question, &SearchScope::default())?;
        }
        Ok(how)
    }
}

impl OpenMemory {
    /// How `tool` was called, the most used way first.
    fn invocations(
        &self,
        tool: &CalledTool<'_>,
        question: &Question,
        scope: &SearchScope,
    ) -> Result<Vec<Invocation>, Error> {
        let scope = SearchScope { kinds: vec![TurnKind::Command], ..scope.clone() };
        let mut turns: Vec<StoredTurn> =
            self.found(question, &scope, CALLS_LOOKED_AT)?.into_iter().map(|hit| hit.turn).collect();
        turns.sort_by_key(|turn| turn.at);
        let mut ways: Vec<(Invocation, &StoredTurn)> = Vec::new();
        for turn in &turns {
            for Invoked { command, is_ok, exit_code, message } in tool.calls(turn) {
                let known = ways.iter().position(|(way, _)| way.command == command);
                let at = known.unwrap_or_else(|| {
                    ways.push((Invocation::new(command), turn));
                    ways.len() - 1
                });
                let (way, last) = &mut ways[at];
                *last = turn;
                way.times += 1;
                way.worked += usize::from(is_ok == Some(true));
                way.unclear += usize::from(is_ok.is_none() && turn.is_ok == Some(false));
                if is_ok == Some(false) {
                    way.failed += 1;
                    (way.exit_code, way.message) = (exit_code, message);
                }
            }
        }
        ways.sort_by_key(|(way, last)| Reverse((way.times, last.at)));
        ways.truncate(MOST_INVOCATIONS);
        let mut invocations = Vec::new();
        for (mut way, last) in ways {
            let session = self.store.read(|connection| NamedSession::by_id(connection, last.session))?;
            let Some(session) = session else { continue };
            way.session = session.record.name;
            (way.line, way.at) = (last.line, last.at.map(|at| at.to_string()));
            invocations.push(way);
        }
        Ok(invocations)
    }
}

impl OpenMemory {
    /// What ran checks of a kind, as the digests of the latest sessions have it: first what has more words of the question,
    /// then what more sessions ran.
    fn checks(
        &self,
        kind: CheckKind,
        question: &mut Question,
        scope: &SearchScope,
    ) -> Result<Vec<Invocation>, Error> {
        let sessions = self
            .store
            .read(|connection| NamedSession::latest(connection, scope.project, None, SESSIONS_LOOKED_AT))?;
        let mut ways: Vec<(Invocation, Vec<(SessionId, Check)>)> = Vec::new();
        for session in sessions {
            let Some(digest) = session.digest() else { continue };
            for check in digest.checks.into_iter().filter(|check| check.kind == kind) {
                let known = ways.iter().position(|(way, _)| way.command == check.command);
                let at = known.unwrap_or_else(|| {
                    let way = Invocation {
                        session: session.record.name.clone(),
                        at: session.record.last.map(|at| at.to_string()),
                        ..Invocation::new(check.command.clone())
                    };
                    ways.push((way, Vec::new()));
                    ways.len() - 1
                });
                let (way, of_sessions) = &mut ways[at];
                way.times += check.n_runs;
                of_sessions.push((session.id, check));
            }
        }
        ways.sort_by_cached_key(|(way, of_sessions)| {
            Reverse((n_words(question, &way.command), of_sessions.len(), way.times))
        });
        ways.truncate(MOST_INVOCATIONS);
        let mut runs = Runs { memory: self, of_sessions: HashMap::new() };
        let mut invocations = Vec::new();
        for (mut way, of_sessions) in ways {
            for (session, check) in of_sessions {
                runs.count(&mut way, session, &check)?;
            }
            invocations.push(way);
        }
        Ok(invocations)
    }
}

/// A run of a check, and whether the command that it was a part of failed.
struct Run {
    check: Invoked,
    is_in_failed: bool,
}

/// The runs of checks in some sessions. A digest knows how the last one went; the turns know of all.
struct Runs<'m> {
    memory: &'m OpenMemory,
    of_sessions: HashMap<SessionId, Vec<Run>>,
}

impl Runs<'_> {
    /// Counts how the runs of `check` in a session went.
    fn count(&mut self, way: &mut Invocation, session: SessionId, check: &Check) -> Result<(), Error> {
        way.worked += usize::from(check.is_passed == Some(true));
        way.failed += usize::from(check.is_passed == Some(false));
        let is_known = check.is_passed.is_some();
        let is_read = self.of_sessions.contains_key(&session);
        if is_known && check.n_runs == 1 || !is_read && SESSIONS_READ <= self.of_sessions.len() {
            return Ok(());
        }
        if !is_read {
            let turns = self.memory.store.read(|connection| StoredTurn::of_session(connection, session))?;
            let runs = turns.iter().flat_map(|turn| {
                let is_in_failed = turn.is_ok == Some(false);
                checks_called(turn).into_iter().map(move |check| Run { check, is_in_failed })
            });
            self.of_sessions.insert(session, runs.collect());
        }
        let runs = self.of_sessions.get(&session).into_iter().flatten().rev();
        let runs = runs.filter(|run| run.check.command == check.command).take(check.n_runs);
        for run in runs.skip(usize::from(is_known)) {
            way.worked += usize::from(run.check.is_ok == Some(true));
            way.failed += usize::from(run.check.is_ok == Some(false));
            way.unclear += usize::from(run.check.is_ok.is_none() && run.is_in_failed);
        }
        Ok(())
    }
}

/// What kind of check a task asks for (`run the integration tests`).
fn asked_check(task: &str) -> Option<CheckKind> {
    const WORDS: [(&str, CheckKind); 12] = [
        ("test", CheckKind::Test),
        ("tests", CheckKind::Test),
        ("testing", CheckKind::Test),
        ("lint", CheckKind::Lint),
        ("lints", CheckKind::Lint),
        ("linter", CheckKind::Lint),
        ("linting", CheckKind::Lint),
        ("build", CheckKind::Build),
        ("builds", CheckKind::Build),
        ("building", CheckKind::Build),
        ("compile", CheckKind::Build),
        ("compiling", CheckKind::Build),
    ];
    let words = task.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find_map(|word| {
        WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, kind)| *kind)
    })
}

impl Invocation {
    fn new(command: String) -> Self {
        Self {
            command,
            times: 0,
            worked: 0,
            failed: 0,
            unclear: 0,
            exit_code: None,
            message: None,
            session: String::new(),
            line: 0,
            at: None,
        }
    }
}

/// What was done in a session around its best turn; none where nothing was done.
fn procedure(memory: &OpenMemory, best: &BestSession) -> Result<Option<Procedure>, Error> {
    let turns = memory.store.read(|connection| StoredTurn::of_session(connection, best.session.id))?;
    let mut steps: Vec<(i64, Step)> = Vec::new();
    for turn in turns {
        let position = turn.position;
        let Some(step) = step(&turn) else { continue };
        match steps.last_mut() {
            Some((_, last)) if last.kind == step.kind && last.text == step.text => {
                last.times += 1;
                last.failed += step.failed;
            }
            _ => steps.push((position, step)),
        }
    }
    if !steps.iter().any(|(_, step)| step.kind != "prompt") {
        return Ok(None);
    }
    let n_steps = steps.len();
    let steps = cut(steps, best.position);
    let record = &best.session.record;
    Ok(Some(Procedure {
        session: record.name.clone(),
        title: record.title.clone(),
        project: memory.project_name(&best.session)?,
        branch: record.branch.clone(),
        ended: record.last.map(|at| at.to_string()),
        outcome: outcome(best),
        left_out: n_steps - steps.len(),
        steps,
    }))
}

/// The steps from the request on that led to the turn at `position`, as many as are told.
fn cut(steps: Vec<(i64, Step)>, position: i64) -> Vec<Step> {
    let n_steps = steps.len();
    let mut first = 0;
    if MOST_STEPS < n_steps {
        let until = steps.partition_point(|(at, _)| *at <= position);
        first = steps[..until].iter().rposition(|(_, step)| step.kind == "prompt").unwrap_or(0);
        first = first.min(n_steps - MOST_STEPS);
    }
    steps.into_iter().skip(first).take(MOST_STEPS).map(|(_, step)| step).collect()
}

/// The step that a turn is; none where it only looks or talks.
pub(super) fn step(turn: &StoredTurn) -> Option<Step> {
    let is_step = match turn.kind {
        TurnKind::Command => !only_looks(&turn.text),
        TurnKind::Prompt
        | TurnKind::Edit
        | TurnKind::Commit
        | TurnKind::PullRequest
        | TurnKind::Interruption => true,
        _ => false,
    };
    let text = turn.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.floor_char_boundary(LONGEST_STEP);
    let text = if end < text.len() { format!("{}…", &text[..end]) } else { text };
    let failed = usize::from(turn.is_ok == Some(false));
    is_step.then(|| Step { kind: turn.kind.name(), text, times: 1, failed, line: turn.line })
}

/// Whether every program of a command only looks.
fn only_looks(command: &str) -> bool {
    let parts = command.split(['|', ';', '\n']).flat_map(|part| part.split("&&"));
    parts.map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        let mut words = part.split_whitespace().skip_while(|word| word.contains('='));
        let program = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        match program {
            "git" => git_command(words).is_some_and(|command| ASKING_GIT.contains(&command)),
            "sed" if part.contains(" -i") => false,
            _ => LOOKING.contains(&program) && !part.contains('>'),
        }
    })
}

/// The command of git among the words behind `git`.
fn git_command<'w>(words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let mut is_value = false;
    words.into_iter().find(|word| {
        let is_option = word.starts_with('-');
        let is_command = !is_option && !is_value;
        // These two take a word of their own.
        is_value = !is_value && matches!(*word, "-C" | "-c");
        is_command
    })
}

/// What came of a session: its commits, and how its checks went the last time.
fn outcome(best: &BestSession) -> String {
    let Some(digest) = best.session.digest() else { return String::new() };
    let mut parts = Vec::new();
    if let Some(check) = digest.checks.iter().rev().find(|check| check.is_passed.is_some()) {
        let word = if check.is_passed == Some(true) { "passed" } else { "failed" };
        parts.push(format!("`{}` {word} last", check.command));
    }
    let commits: Vec<&str> = digest.commits.iter().map(|commit| commit.id.as_str()).collect();
    if !commits.is_empty() {
        let last = &commits[commits.len().saturating_sub(3)..];
        let n_commits = counted(commits.len(), "commit");
        parts.push(match commits.as_slice() {
            [only] => format!("commit {only}"),
            _ => format!("{n_commits}, last {}", last.join(", ")),
        });
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_change_nothing_are_no_steps() {
        for command in
            ["ls -la", "cat a | grep b", "git log --oneline", "cd x && git -C . status", "sed -n 1,5p a"]
        {
            assert!(only_looks(command), "{command}");
        }
        for command in
            ["cargo test", "cd x && make", "sed -i s/a/b/ c", "echo x > y", "git commit -m x", "A=1 npm i"]
        {
            assert!(!only_looks(command), "{command}");
        }
    }
}
