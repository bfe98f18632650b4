//! What was done where several ways were open, counted.

use std::collections::BTreeMap;

use chronicle_search::{StoredTurn, TurnKind};
use serde::{Deserialize, Serialize};

use super::{
    commands::{Typed, program},
    steps::{Act, Step, is_done, steps},
    technologies::language,
    topics,
};

/// How often something was seen in a session, and where first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// How often.
    pub times: usize,
    /// The line of the transcript where it is seen first.
    pub line: u64,
    /// The id of that turn; empty for none.
    pub turn: String,
}

impl Seen {
    /// Not counted yet, at this turn.
    pub(super) fn at(turn: &StoredTurn) -> Self {
        Self { times: 0, line: turn.line, turn: turn.name.clone() }
    }
}

type Counted = BTreeMap<String, BTreeMap<String, Seen>>;

/// Of each topic, which way was gone how often.
pub(super) fn habits(turns: &[&StoredTurn]) -> Counted {
    let mut counted = Counted::new();
    let mut count = |topic: &str, way: &str, turn: &StoredTurn| {
        let ways = counted.entry(topic.to_owned()).or_default();
        ways.entry(way.to_owned()).or_insert_with(|| Seen::at(turn)).times += 1;
    };
    for turn in turns {
        match turn.kind {
            TurnKind::Command => {
                for words in Typed::of(&turn.text).commands() {
                    for (topic, way) in ways(&words) {
                        count(topic, way, turn);
                    }
                }
            }
            TurnKind::Edit if turn.is_ok != Some(false) => {
                if let Some(language) = language(&turn.text).filter(|language| !MARKUP.contains(language)) {
                    count("language", language, turn);
                }
            }
            TurnKind::Commit => {
                let subject = turn.text.split_once(' ').map_or("", |(_, subject)| subject);
                if let Some(style) = commit_style(subject) {
                    count("commits", style, turn);
                }
            }
            _ => {}
        }
    }
    let steps = steps(turns);
    for (topic, way, at) in around_commits(&steps) {
        if let Some(turn) = turns.iter().find(|turn| turn.line == at) {
            count(topic, way, turn);
        }
    }
    if let Some((way, at)) = planned(turns) {
        count("plans", way, at);
    }
    if let Some((way, at)) = handed_in(turns) {
        count("pull-requests", way, at);
    }
    counted
}

/// Not what somebody programs in.
const MARKUP: [&str; 2] = ["HTML", "CSS"];

/// The ways that one command goes.
fn ways(words: &[&str]) -> Vec<(&'static str, &'static str)> {
    let program = program(words);
    let command = words.get(1).copied().unwrap_or_default();
    let mut found = Vec::new();
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => {
            let is_packages = match program {
                "npm" => matches!(
                    command,
                    "i" | "install" | "ci" | "add" | "run" | "test" | "t" | "uninstall" | "update"
                ),
                "bun" => matches!(command, "i" | "install" | "add" | "remove" | "update"),
                _ => command != "--version",
            };
            found.extend(is_packages.then(|| topics::way(program, None)).flatten());
            if program == "bun" {
                found.push(("js-runtime", "Bun"));
            }
        }
        "node" | "deno" => found.extend(topics::way(program, None)),
        "pip" | "pip3" | "uv" | "poetry" | "conda" | "pipenv" => {
            let is_packages =
                matches!(command, "install" | "add" | "sync" | "pip" | "lock" | "remove" | "run");
            found.extend(is_packages.then(|| topics::way(program, None)).flatten());
        }
        "cargo" if matches!(command, "test" | "t") => found.push(("rust-tests", "cargo test")),
        "cargo" if command == "nextest" => found.push(("rust-tests", "nextest")),
        _ => {}
    }
    // `uv run pytest`, `npx vitest`, `python -m pytest`.
    let runs = ["uv", "npx", "pnpm", "yarn", "bun", "bunx", "poetry", "python", "python3"].contains(&program);
    let runners = [words.first(), words.get(1), words.get(2)];
    for word in runners.into_iter().take(if runs { 3 } else { 1 }).flatten() {
        let tool = word.rsplit('/').next().unwrap_or(word);
        if matches!(
            tool,
            "pytest"
                | "unittest"
                | "nose"
                | "jest"
                | "vitest"
                | "mocha"
                | "ruff"
                | "flake8"
                | "pylint"
                | "eslint"
                | "biome"
        ) {
            found.extend(topics::way(tool, None));
        }
    }
    found.dedup();
    found
}

/// How the first line of a commit message is written; none for what git itself writes.
fn commit_style(subject: &str) -> Option<&'static str> {
    const TYPES: [&str; 11] =
        ["feat", "fix", "chore", "docs", "refactor", "test", "perf", "build", "ci", "style", "revert"];
    let subject = subject.trim();
    if subject.is_empty()
        || subject.starts_with("Merge ")
        || subject.starts_with("Revert \"")
        || subject.starts_with("fixup!")
    {
        return None;
    }
    if let Some((head, _)) = subject.split_once(": ") {
        let kind = head.trim_end_matches('!').split('(').next().unwrap_or_default();
        if TYPES.contains(&kind) {
            return Some("conventional commits (feat:, fix:, chore: …)");
        }
        let is_area =
            !head.contains(' ') && head.chars().all(|c| c.is_alphanumeric() || "-_/.,*".contains(c));
        if is_area {
            return Some("the area and a colon first");
        }
    }
    Some("plain sentences without a prefix")
}

/// What came before commits: tests and lints that passed after the last edit.
fn around_commits(steps: &[Step]) -> Vec<(&'static str, &'static str, u64)> {
    let mut found = Vec::new();
    let (mut is_edited, mut is_tested, mut is_linted) = (false, false, false);
    for step in steps {
        match step.act {
            Act::Edit | Act::EditTest => (is_edited, is_tested, is_linted) = (true, false, false),
            Act::TestPasses => is_tested = true,
            Act::LintPasses | Act::Format => is_linted = true,
            Act::Commit if is_edited => {
                let said =
                    if is_tested { "tests pass before a commit" } else { "commits come without a test run" };
                found.push(("tests-before-commit", said, step.line));
                let said =
                    if is_linted { "lints run before a commit" } else { "commits come without a lint" };
                found.push(("lint-before-commit", said, step.line));
                (is_edited, is_tested, is_linted) = (false, false, false);
            }
            _ => {}
        }
    }
    found
}

/// Whether a plan was agreed to before the first edit, of a session that edits.
fn planned<'t>(turns: &[&'t StoredTurn]) -> Option<(&'static str, &'t StoredTurn)> {
    let first_edit = turns.iter().position(|turn| is_done(turn, TurnKind::Edit))?;
    let plan = turns[..first_edit].iter().find(|turn| is_done(turn, TurnKind::Plan));
    Some(match plan {
        Some(plan) => ("plans come before changes", plan),
        None => ("changes begin without a plan", turns[first_edit]),
    })
}

/// How a session that pushes hands its work in.
fn handed_in<'t>(turns: &[&'t StoredTurn]) -> Option<(&'static str, &'t StoredTurn)> {
    let runs = |turn: &StoredTurn, wanted: &[&str]| {
        is_done(turn, TurnKind::Command)
            && Typed::of(&turn.text)
                .commands()
                .iter()
                .any(|words| words.iter().zip(wanted).filter(|(a, b)| a == b).count() == wanted.len())
    };
    let opened = turns.iter().find(|turn| {
        turn.kind == TurnKind::PullRequest
            || runs(turn, &["gh", "pr", "create"])
            || runs(turn, &["glab", "mr", "create"])
    });
    let pushed = turns.iter().find(|turn| runs(turn, &["git", "push"]));
    opened
        .map(|turn| ("work goes through pull requests", *turn))
        .or(pushed.map(|turn| ("work is pushed without a pull request", *turn)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_tell_which_way_is_gone() {
        let check = |command: &str, expected: &[(&str, &str)]| {
            let found: Vec<_> = Typed::of(command).commands().iter().flat_map(|words| ways(words)).collect();
            assert_eq!(found, expected, "{command}");
        };
        check("cd web && pnpm add hono", &[("js-packages", "pnpm")]);
        check("npm --version", &[]);
        check("npx vitest run", &[("js-tests", "Vitest")]);
        check("FOO=1 uv run pytest -q", &[("python-packages", "uv"), ("python-tests", "pytest")]);
        check("python -m unittest", &[("python-tests", "unittest")]);
        check("cat > run.sh <<EOF\nnpm install\nEOF", &[]);
        check("grep -r jest .", &[]);
    }

    #[test]
    fn subjects_of_commits_have_a_style() {
        assert_eq!(commit_style("feat(pool)!: wait"), Some("conventional commits (feat:, fix:, chore: …)"));
        assert_eq!(commit_style("pool: wait"), Some("the area and a colon first"));
        assert_eq!(commit_style("Let the pool wait"), Some("plain sentences without a prefix"));
        assert_eq!(commit_style("Note to self: wait"), Some("plain sentences without a prefix"));
        assert_eq!(commit_style("Merge branch 'a'"), None);
    }
}
