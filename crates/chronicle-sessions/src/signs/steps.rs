//! What was done in a session, as few kinds of steps: what patterns are counted of.

use chronicle_search::{StoredTurn, TurnKind};
use serde::{Deserialize, Serialize};

use super::commands::{Typed, program};
use crate::commands::checks::{CheckKind, check_kind, only_check};

/// How many steps of a session are kept, the first ones.
const MOST: usize = 2_000;

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// The human asked for something.
    Ask,
    /// A plan was agreed to.
    Plan,
    /// Files, or the state of the repository, were looked at.
    Look,
    /// Logs were looked at.
    Logs,
    /// Something was looked up on the web.
    LookUp,
    /// Code was changed.
    Edit,
    /// A test was changed.
    EditTest,
    /// Prose was changed.
    EditDocs,
    /// Tests passed.
    TestPasses,
    /// Tests failed.
    TestFails,
    /// A build went through.
    BuildPasses,
    /// A build failed.
    BuildFails,
    /// A lint found nothing.
    LintPasses,
    /// A lint found something.
    LintFails,
    /// Code was formatted.
    Format,
    /// Packages were installed.
    Install,
    /// Another command failed.
    CommandFails,
    /// A commit was made.
    Commit,
    /// Commits were pushed.
    Push,
    /// A pull request was opened.
    PullRequest,
    /// The human stopped the agent.
    Stop,
}

impl Act {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Ask,
        Self::Plan,
        Self::Look,
        Self::Logs,
        Self::LookUp,
        Self::Edit,
        Self::EditTest,
        Self::EditDocs,
        Self::TestPasses,
        Self::TestFails,
        Self::BuildPasses,
        Self::BuildFails,
        Self::LintPasses,
        Self::LintFails,
        Self::Format,
        Self::Install,
        Self::CommandFails,
        Self::Commit,
        Self::Push,
        Self::PullRequest,
        Self::Stop,
    ];

    /// How it is told.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Plan => "agree to a plan",
            Self::Look => "look at the code",
            Self::Logs => "read logs",
            Self::LookUp => "look it up on the web",
            Self::Edit => "change code",
            Self::EditTest => "change a test",
            Self::EditDocs => "change prose",
            Self::TestPasses => "tests pass",
            Self::TestFails => "tests fail",
            Self::BuildPasses => "build goes through",
            Self::BuildFails => "build fails",
            Self::LintPasses => "lint finds nothing",
            Self::LintFails => "lint complains",
            Self::Format => "format",
            Self::Install => "install packages",
            Self::CommandFails => "command fails",
            Self::Commit => "commit",
            Self::Push => "push",
            Self::PullRequest => "open a pull request",
            Self::Stop => "stop the agent",
        }
    }

    /// Whether something went wrong.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::TestFails | Self::BuildFails | Self::LintFails | Self::CommandFails)
    }
}

/// One step, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done.
    #[serde(rename = "a")]
    pub act: Act,
    /// The line of the transcript where it begins.
    #[serde(rename = "l")]
    pub line: u64,
}

/// The steps of a session, each run of equal ones once.
pub(super) fn steps(turns: &[&StoredTurn]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for turn in turns {
        for act in acts(turn) {
            if steps.len() < MOST && steps.last().is_none_or(|last| last.act != act) {
                steps.push(Step { act, line: turn.line });
            }
        }
    }
    steps
}

fn acts(turn: &StoredTurn) -> Vec<Act> {
    let is_ok = turn.is_ok != Some(false);
    match turn.kind {
        TurnKind::Prompt => vec![Act::Ask],
        TurnKind::Interruption => vec![Act::Stop],
        TurnKind::Plan if turn.is_ok == Some(true) => vec![Act::Plan],
        TurnKind::Edit if is_ok => vec![edited(&turn.text)],
        TurnKind::Commit => vec![Act::Commit],
        TurnKind::PullRequest => vec![Act::PullRequest],
        TurnKind::Tool => used(&turn.text).into_iter().collect(),
        TurnKind::Command => ran(&turn.text, turn.is_ok),
        _ => Vec::new(),
    }
}

/// What kind of file was changed.
fn edited(path: &str) -> Act {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let is_prose = [".md", ".rst", ".txt", ".adoc"].iter().any(|ending| name.ends_with(ending));
    let stem = name.split('.').next().unwrap_or(name);
    let is_test = lower.split('/').any(|part| {
        matches!(part, "tests" | "test" | "__tests__" | "spec")
            || part.ends_with("_test")
            || part.ends_with("_tests")
    }) || stem.ends_with("_test")
        || stem.starts_with("test_")
        || name.contains(".test.")
        || name.contains(".spec.");
    match (is_prose, is_test) {
        (true, _) => Act::EditDocs,
        (_, true) => Act::EditTest,
        _ => Act::Edit,
    }
}

/// Whether a tool looks into files.
pub(super) fn is_for_files(text: &str) -> bool {
    used(text) == Some(Act::Look)
}

/// What a tool with no event of its own was used for.
fn used(text: &str) -> Option<Act> {
    let name = text.split(' ').next().unwrap_or_default();
    match name {
        "Read"
        | "Grep"
        | "Glob"
        | "LS"
        | "read"
        | "grep"
        | "glob"
        | "list"
        | "view"
        | "read_file"
        | "read_many_files"
        | "search_file_content"
        | "list_directory"
        | "NotebookRead" => Some(Act::Look),
        "WebSearch" | "WebFetch" | "web_search" | "web_fetch" | "google_web_search" | "webfetch" => {
            Some(Act::LookUp)
        }
        _ => None,
    }
}

fn ran(command: &str, is_ok: Option<bool>) -> Vec<Act> {
    let mut acts: Vec<Act> = Vec::new();
    let failed = is_ok == Some(false);
    if failed && let Some(kind) = only_check(command) {
        return vec![checked(kind, false)];
    }
    let mut does_more = false;
    for words in Typed::of(command).first_commands() {
        let check = check_kind(&words.join(" ")).zip(is_ok).map(|(kind, is_ok)| checked(kind, is_ok));
        let act = check.or_else(|| single(&words));
        does_more |= act.is_none()
            && !matches!(program(&words), "cd" | "echo" | "export" | "sleep" | "true" | "source");
        acts.extend(act);
    }
    if failed {
        // Looking for something that is not there is no failure.
        let only_looks = !does_more && acts.iter().all(|act| *act == Act::Look);
        return if only_looks { vec![Act::Look] } else { vec![Act::CommandFails] };
    }
    acts.dedup();
    acts
}

fn checked(kind: CheckKind, is_ok: bool) -> Act {
    match (kind, is_ok) {
        (CheckKind::Test, true) => Act::TestPasses,
        (CheckKind::Test, false) => Act::TestFails,
        (CheckKind::Build, true) => Act::BuildPasses,
        (CheckKind::Build, false) => Act::BuildFails,
        (CheckKind::Lint, true) => Act::LintPasses,
        (CheckKind::Lint, false) => Act::LintFails,
    }
}

/// What one command that worked did; none for what has no kind.
fn single(words: &[&str]) -> Option<Act> {
    let command = words.get(1).copied().unwrap_or_default();
    let is_log = |word: &&&str| word.ends_with(".log") || word.contains("/logs/");
    match program(words) {
        "tail" | "less" | "cat" | "grep" if words.iter().any(|word| is_log(&word)) => Some(Act::Logs),
        "docker" | "kubectl" | "fly" | "heroku" if words.contains(&"logs") => Some(Act::Logs),
        "journalctl" => Some(Act::Logs),
        "gh" if command == "run" && words.iter().any(|word| word.starts_with("--log")) => Some(Act::Logs),
        "ls" | "cat" | "grep" | "rg" | "find" | "head" | "tail" | "tree" | "wc" | "fd" | "less" | "stat"
        | "diff" => Some(Act::Look),
        "sed" if !words.iter().any(|word| word.starts_with("-i")) => Some(Act::Look),
        "git" => match git_command(words) {
            "status" | "diff" | "log" | "show" | "branch" | "blame" | "ls-files" | "grep" | "rev-parse" => {
                Some(Act::Look)
            }
            "push" => Some(Act::Push),
            // What was committed has a turn of its own.
            _ => None,
        },
        "gofmt" | "prettier" | "rustfmt" | "black" | "goimports" => Some(Act::Format),
        "cargo" | "go" | "mise" | "npm" | "pnpm" | "yarn" | "bun" | "make" | "just" | "ruff" | "deno"
            if words.iter().skip(1).take(2).any(|word| matches!(*word, "fmt" | "format")) =>
        {
            Some(Act::Format)
        }
        "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "uv" | "brew" | "apt" | "apt-get" | "cargo"
            if matches!(command, "install" | "i" | "add" | "ci" | "sync") =>
        {
            Some(Act::Install)
        }
        "go" if command == "get" => Some(Act::Install),
        "curl" | "wget"
            if words.iter().any(|word| {
                word.contains("://") && !word.contains("localhost") && !word.contains("127.0.0.1")
            }) =>
        {
            Some(Act::LookUp)
        }
        _ => None,
    }
}

fn git_command<'w>(words: &[&'w str]) -> &'w str {
    let mut is_value = false;
    let found = words.iter().skip(1).find(|word| {
        let is_command = !word.starts_with('-') && !is_value;
        is_value = !is_value && matches!(**word, "-C" | "-c");
        is_command
    });
    found.copied().unwrap_or_default()
}

/// Whether a turn was done, as far as is known.
pub(super) fn is_done(turn: &StoredTurn, kind: TurnKind) -> bool {
    turn.kind == kind && turn.is_ok != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_steps() {
        let check = |command: &str, is_ok: bool, expected: &[Act]| {
            assert_eq!(ran(command, Some(is_ok)), expected, "{command}");
        };
        check("cd /w && go test ./... 2>&1 | tail", true, &[Act::TestPasses]);
        check(
            "mise run fmt && mise run lint && go test ./...",
            true,
            &[Act::Format, Act::LintPasses, Act::TestPasses],
        );
        check("cargo test", false, &[Act::TestFails]);
        check("git -C /w status && git push", true, &[Act::Look, Act::Push]);
        check("mise run fmt", true, &[Act::Format]);
        check("grep -r waits src", false, &[Act::Look]);
        check("./run.sh", false, &[Act::CommandFails]);
        check("tail -50 server.log", true, &[Act::Logs]);
        check("./run.sh 2>&1 | tail -5", true, &[]);
        check("./run.sh", true, &[]);
    }

    #[test]
    fn files_are_tests_prose_or_code() {
        assert_eq!(edited("src/pool_test.go"), Act::EditTest);
        assert_eq!(edited("tests/pool.rs"), Act::EditTest);
        assert_eq!(edited("integration_test/env.go"), Act::EditTest);
        assert_eq!(edited("web/pool.spec.ts"), Act::EditTest);
        assert_eq!(edited("docs/contest.rs"), Act::Edit);
        assert_eq!(edited("README.md"), Act::EditDocs);
    }
}
