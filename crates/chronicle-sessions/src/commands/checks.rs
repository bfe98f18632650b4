//! Commands that say whether the code is in order: tests, builds and lints.
//!
//! A call often runs several commands and ends with one exit code. How a check went is told only
//! where it is certain: the exit code can be of no other command, or the runner said so itself.

mod words;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::shell::{Join, Part, is_setting, parts, without_texts};
use crate::turn::{Event, Outcome, Turn};
use crate::words::any_case;

/// What a command checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// It runs tests.
    Test,
    /// It builds.
    Build,
    /// It looks for faults of style and the like.
    Lint,
}

/// How many checks of one call are told apart.
const MOST_CHECKS: usize = 64;

/// How many groups within groups are looked into.
const DEEPEST: usize = 8;

/// Parts of commands and what they check; the first that fits decides.
const MARKS: [(&str, CheckKind); 37] = [
    ("cargo clippy", CheckKind::Lint),
    ("golangci-lint", CheckKind::Lint),
    ("go vet", CheckKind::Lint),
    ("run lint", CheckKind::Lint),
    ("eslint", CheckKind::Lint),
    ("ruff", CheckKind::Lint),
    ("mypy", CheckKind::Lint),
    ("flake8", CheckKind::Lint),
    ("tsc --noemit", CheckKind::Lint),
    ("fmt --check", CheckKind::Lint),
    ("biome check", CheckKind::Lint),
    ("rubocop", CheckKind::Lint),
    ("cargo test", CheckKind::Test),
    ("cargo nextest", CheckKind::Test),
    ("go test", CheckKind::Test),
    ("pytest", CheckKind::Test),
    ("unittest", CheckKind::Test),
    ("vitest", CheckKind::Test),
    ("jest", CheckKind::Test),
    ("run test", CheckKind::Test),
    ("npm test", CheckKind::Test),
    ("npm t ", CheckKind::Test),
    ("yarn test", CheckKind::Test),
    ("pnpm test", CheckKind::Test),
    ("bun test", CheckKind::Test),
    ("make test", CheckKind::Test),
    ("make check", CheckKind::Test),
    ("rspec", CheckKind::Test),
    ("mvn test", CheckKind::Test),
    ("gradle test", CheckKind::Test),
    ("ctest", CheckKind::Test),
    ("cargo build", CheckKind::Build),
    ("cargo check", CheckKind::Build),
    ("go build", CheckKind::Build),
    ("run build", CheckKind::Build),
    ("npx tsc", CheckKind::Build),
    ("make build", CheckKind::Build),
];

/// The longest command that names a check.
const LONGEST_NAME: usize = 300;

/// A check that a call ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    /// What it checks.
    pub(crate) kind: CheckKind,
    /// Its command, without what only shapes its output.
    pub(crate) command: String,
    /// Whether it found nothing wrong, if that is certain.
    pub(crate) is_passed: Option<bool>,
    /// The checks that passed if this one ran at all.
    needs: std::ops::Range<usize>,
    /// Whether a call that failed did so here, if this ran at all.
    is_end: bool,
    /// Whether only the beginning of what it printed is shown.
    is_cut: bool,
    /// Whether another command may have hidden how it ended.
    is_piped: bool,
}

impl Ran {
    /// Its command as digests have it.
    pub(crate) fn name(&self) -> String {
        self.command[..self.command.floor_char_boundary(LONGEST_NAME)].to_owned()
    }
}

/// What a call of a shell ran.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// The checks, and how each went.
    pub(crate) checks: Vec<Ran>,
    /// The program that the call is about: that of its last check, else of the first command that does something.
    pub(crate) program: String,
    /// Whether a pipe hid the exit code of something that printed that it failed.
    is_hidden_failure: bool,
}

impl Called {
    /// What `command` ran and how it went.
    pub(crate) fn of(command: &str, outcome: &Outcome) -> Self {
        let mut walk = walked(command, outcome);
        let last = walk.checks.last().map(|check| check.command.as_str());
        let first = || walk.others.first().map(String::as_str);
        let program = program(last.or_else(first).unwrap_or(command)).to_owned();
        walk.ask(&outcome.text);
        let is_hidden_failure = outcome.is_ok == Some(true) && hides_failure(command, &outcome.text);
        Self { checks: walk.checks, program, is_hidden_failure }
    }

    /// What `turn` ran; nothing where it calls no shell, or was turned down.
    pub(crate) fn in_turn(turn: &Turn<'_>) -> Self {
        match &turn.event {
            Event::Command(command, outcome) if !outcome.is_refused => Self::of(command, outcome),
            _ => Self::default(),
        }
    }

    /// Whether something failed for certain, whatever the exit code of the call says.
    pub(crate) fn has_failed(&self) -> bool {
        self.is_hidden_failure || self.checks.iter().any(|check| check.is_passed == Some(false))
    }
}

/// What `command` checks, if anything; of several checks the first.
#[must_use]
pub(crate) fn check_kind(command: &str) -> Option<CheckKind> {
    if !MARKED.is_match(command) {
        return None;
    }
    walked(command, &Outcome::default()).checks.first().map(|check| check.kind)
}

/// What `command` checks where it does nothing else.
#[must_use]
pub(crate) fn only_check(command: &str) -> Option<CheckKind> {
    let found = walked(command, &Outcome::default());
    let [check] = found.checks.as_slice() else { return None };
    found.others.is_empty().then_some(check.kind)
}

fn walked(command: &str, outcome: &Outcome) -> Walk {
    let mut walk = Walk { is_cd_refused: refuses_cd(&outcome.text), ..Walk::default() };
    walk.list(&without_texts(command), outcome.is_ok);
    walk
}

/// What a command checks that is one command alone.
fn kind_of_one(command: &str) -> Option<CheckKind> {
    let first = MARKED.find_overlapping_iter(command).map(|mark| mark.pattern()).min()?;
    // What is searched for, written down or installed is not run.
    let is_run = !is_elsewise(command);
    is_run.then(|| MARKS[first.as_usize()].1)
}

/// Whether a command only names checks in what it is given.
fn is_elsewise(command: &str) -> bool {
    const PROGRAMS: [&str; 28] = [
        "grep", "rg", "echo", "printf", "git", "gh", "jj", "cat", "sed", "awk", "ls", "find", "fd", "which",
        "head", "tail", "less", "pkill", "pgrep", "kill", "ps", "cd", "mkdir", "rm", "cp", "mv", "touch",
        "chmod",
    ];
    const INSTALLING: [&str; 3] = ["install", "add", "remove"];
    let mut words = command.split_whitespace().skip_while(|word| is_setting(word));
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    PROGRAMS.contains(&program) || words.take(2).any(|word| INSTALLING.contains(&word))
}

/// Whether a shell says that it could not go into a folder.
fn refuses_cd(text: &str) -> bool {
    text.contains("cd:")
}

/// The checks of a call, as they are found.
#[derive(Default)]
struct Walk {
    checks: Vec<Ran>,
    /// All other commands that do something.
    others: Vec<String>,
    is_cd_refused: bool,
    /// In how many groups.
    n_deep: usize,
}

impl Walk {
    /// Commands of which the last one, or the chain that it ends, ended as `is_ok` says.
    fn list(&mut self, text: &str, is_ok: Option<bool>) {
        let mut all = parts(text);
        let is_strict = all.first().is_some_and(|part| sets(part.text, 'e', "errexit"));
        if is_strict {
            for part in all.iter_mut().skip(1).filter(|part| part.join == Join::Then) {
                part.join = Join::And;
            }
        }
        // How loops and branches end says nothing of what they hold.
        let is_ok = if all.iter().any(|part| keyword(part.text).is_some()) { None } else { is_ok };
        let is_pipe_honest = all.iter().any(|part| sets(part.text, '\0', "pipefail"));
        let mut chains = all.chunk_by(|_, next| next.join != Join::Then).peekable();
        while let Some(chain) = chains.next() {
            let is_ok = if chains.peek().is_none() { is_ok } else { None };
            self.chain(chain, is_ok, is_pipe_honest);
        }
    }

    /// Commands that `&&` and `||` join, and how they ended together.
    fn chain(&mut self, chain: &[Part<'_>], is_ok: Option<bool>, is_pipe_honest: bool) {
        let pipes: Vec<&[Part<'_>]> = chain.chunk_by(|_, next| next.join == Join::Pipe).collect();
        let mut outcomes = vec![None; pipes.len()];
        let mut known = is_ok;
        for (index, pipe) in pipes.iter().enumerate().rev() {
            let join = if index == 0 { Join::Then } else { pipe[0].join };
            let is_sure = match (join, known) {
                (Join::And, Some(false)) | (Join::Or, Some(true)) => {
                    known =
                        known.filter(|is_ok| !is_ok && pipes[..index].iter().all(|pipe| self.succeeds(pipe)));
                    outcomes[index] = known;
                    break;
                }
                (_, known) => known.is_some(),
            };
            if !is_sure {
                break;
            }
            outcomes[index] = known;
        }
        let mut start = self.checks.len();
        for (index, (pipe, known)) in pipes.iter().zip(outcomes).enumerate() {
            if pipe[0].join == Join::Or {
                start = self.checks.len();
            }
            let n_before = self.checks.len();
            self.pipe(pipe, known, is_pipe_honest);
            for check in &mut self.checks[n_before..] {
                check.needs = start..n_before;
                check.is_end = is_ok == Some(false)
                    && index + 1 == pipes.len()
                    && pipe[0].group().is_none()
                    && only_shows(&pipe[1..]);
            }
        }
    }

    /// Commands that read each other's output: their outcome is that of the last one.
    fn pipe(&mut self, pipe: &[Part<'_>], is_ok: Option<bool>, is_honest: bool) {
        let is_passed_on = is_ok == Some(true) && is_honest || is_ok == Some(false) && only_shows(&pipe[1..]);
        for (index, part) in pipe.iter().enumerate() {
            let is_last = index + 1 == pipe.len();
            let is_ok = is_ok.filter(|_| is_last || is_passed_on);
            if let Some(inner) = part.group().filter(|_| self.n_deep < DEEPEST) {
                self.n_deep += 1;
                self.list(inner, is_ok);
                self.n_deep -= 1;
                continue;
            }
            if MOST_CHECKS <= self.checks.len() {
                return;
            }
            let text =
                keyword(part.text).map_or(part.text, |keyword| part.text[keyword.len()..].trim_start());
            if let Some(kind) = kind_of_one(text) {
                self.checks.push(Ran {
                    kind,
                    command: shown(text).to_owned(),
                    is_passed: is_ok,
                    needs: 0..0,
                    is_end: false,
                    is_cut: pipe[index + 1..].iter().any(|part| program(part.text) == "head"),
                    is_piped: !is_last && !is_honest,
                });
            } else if index == 0 && !is_plain(text) {
                self.others.push(text.to_owned());
            }
        }
    }

    /// Whether a command cannot have been what failed.
    fn succeeds(&self, pipe: &[Part<'_>]) -> bool {
        matches!(pipe, [part] if is_plain(part.text)) && !self.is_cd_refused
    }

    /// Lets the runners say how the checks went of which the exit code does not.
    fn ask(&mut self, text: &str) {
        for index in 0..self.checks.len() {
            let check = &self.checks[index];
            let is_only = self.checks.iter().filter(|other| other.kind == check.kind).count() == 1;
            if check.is_passed.is_some() || !is_only {
                continue;
            }
            let is_used = |program: &str| {
                1 < self.checks.len() || self.others.iter().any(|other| other.contains(program))
            };
            let said = match words::said(check.kind, text) {
                Some(true) if check.is_end => Some(false),
                Some(true) if check.is_cut => None,
                None if words::is_broken(text, is_used) => Some(false),
                said => said,
            };
            let needs = check.needs.clone();
            self.checks[index].is_passed = said;
            if said.is_some() {
                for before in self.checks[needs].iter_mut().filter(|before| !before.is_piped) {
                    before.is_passed = before.is_passed.or(Some(true));
                }
            }
        }
    }
}

/// Whether the last command of a call only cuts the output of another, which says in it that it failed.
fn hides_failure(command: &str, text: &str) -> bool {
    const CUTTING: [&str; 5] = ["head", "tail", "cat", "tee", "grep"];
    // They print what others printed.
    const SHOWING: [&str; 8] = ["curl", "docker", "kubectl", "ssh", "journalctl", "xargs", "sort", "diff"];
    if !words::says_failure(text) {
        return false;
    }
    let command = without_texts(command);
    let all = parts(&command);
    let Some(pipe) = all.chunk_by(|_, next| next.join == Join::Pipe).last() else { return false };
    let (Some(first), Some(last)) = (pipe.first(), pipe.last()) else { return false };
    1 < pipe.len()
        && CUTTING.contains(&program(last.text))
        && !is_elsewise(first.text)
        && !SHOWING.contains(&program(first.text))
}

/// Whether commands only show what they read: they cannot fail, so a failure of theirs is one that was passed on.
fn only_shows(parts: &[Part<'_>]) -> bool {
    parts.iter().all(|part| matches!(program(part.text), "tail" | "cat" | "tee"))
}

/// Whether a command changes an option of the shell, by letter or by name.
fn sets(command: &str, letter: char, name: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("set")
        && words.any(|word| word == name || word.starts_with('-') && word[1..].contains(letter))
}

/// The word that makes a command part of a loop, a branch or a negation.
fn keyword(command: &str) -> Option<&str> {
    const KEYWORDS: [&str; 13] =
        ["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "!"];
    command.split_whitespace().next().filter(|word| KEYWORDS.contains(word))
}

/// Whether a command only prepares others. None of these fails without a word.
fn is_plain(command: &str) -> bool {
    matches!(program(command), "" | "cd" | "pushd" | "export" | "echo" | "set" | "true" | ":" | "sleep")
        || keyword(command).is_some_and(|word| matches!(word, "fi" | "done" | "esac" | "for"))
}

/// The program of a command, without its folder and the variables before it.
pub(crate) fn program(command: &str) -> &str {
    let program = command.split_whitespace().find(|word| !is_setting(word)).unwrap_or_default();
    program.rsplit('/').next().unwrap_or(program)
}

/// A command without where its output goes.
fn shown(command: &str) -> &str {
    command.split(" 2>").next().unwrap_or(command).trim()
}

/// All marks looked for at once.
static MARKED: LazyLock<AhoCorasick> = LazyLock::new(|| any_case(MARKS.map(|(mark, _)| mark)));

#[cfg(test)]
mod tests {
    use super::*;

    /// Each check of a call, with `+` where it passed, `-` where it failed and `?` where nobody knows.
    fn told(command: &str, is_ok: Option<bool>, text: &str) -> String {
        let outcome = Outcome { is_ok, text: text.to_owned(), ..Outcome::default() };
        let sign = |is_passed| match is_passed {
            Some(true) => '+',
            Some(false) => '-',
            None => '?',
        };
        let called = Called::of(command, &outcome);
        let all: Vec<String> =
            called.checks.iter().map(|check| format!("{}{}", sign(check.is_passed), check.command)).collect();
        all.join(", ")
    }

    #[test]
    fn checks_are_told_by_their_commands() {
        assert_eq!(check_kind("cd /w && cargo test -p pool 2>&1 | tail -5"), Some(CheckKind::Test));
        assert_eq!(check_kind("mise run lint"), Some(CheckKind::Lint));
        for command in [
            "ls tests",
            "cat > a.sh <<EOF\ncargo test\nEOF",
            "git commit -m 'make cargo test pass; go vet too'",
            "rg 'cargo test' docs | head",
            "echo cargo test",
            "pip install pytest ruff",
            "pkill -f vitest",
        ] {
            assert_eq!(check_kind(command), None, "{command}");
        }
        assert_eq!(only_check("cd /w && cargo test | tail"), Some(CheckKind::Test));
        assert_eq!(only_check("cargo test; git push"), None);
    }

    #[test]
    fn an_exit_code_counts_for_the_check_that_it_can_only_be_of() {
        let passed =
            |command: &str, checks: &str| assert_eq!(told(command, Some(true), ""), checks, "{command}");
        passed("cargo test", "+cargo test");
        passed("RUST_LOG=1 cargo test 2>&1", "+RUST_LOG=1 cargo test");
        passed("cargo build && cargo clippy && cargo test", "+cargo build, +cargo clippy, +cargo test");
        passed("cargo build; cargo test", "?cargo build, +cargo test");
        passed("cargo build\ncargo test", "?cargo build, +cargo test");
        passed("set -e\ncargo build\ncargo test", "+cargo build, +cargo test");
        passed("cargo test | tail", "?cargo test");
        passed("set -o pipefail; cargo test | tail", "+cargo test");
        passed("cargo test || true", "?cargo test");
        passed("cargo test || echo failed", "?cargo test");
        passed("cargo test &", "?cargo test");
        passed("cargo test && git push", "+cargo test");
        passed("cargo test; git push", "?cargo test");
        passed("git stash && cargo test; git stash pop", "?cargo test");
        passed("(cd pool && cargo test)", "+cargo test");
        passed("(cd pool && cargo test) && (cd web; npm test)", "+cargo test, +npm test");
        passed("for i in 1 2; do cargo test; done", "?cargo test");
        passed("if cargo test; then git push; fi", "?cargo test");
        passed("! cargo test", "?cargo test");

        let failed =
            |command: &str, checks: &str| assert_eq!(told(command, Some(false), ""), checks, "{command}");
        failed("cargo test", "-cargo test");
        failed("cargo test 2>&1 | tail -5", "-cargo test");
        failed("cargo test | grep FAILED", "?cargo test");
        failed("cd /w && cargo test", "-cargo test");
        failed("git pull && cargo test", "?cargo test");
        failed("cargo build && cargo test", "?cargo build, ?cargo test");
        failed("cargo build; cargo test", "?cargo build, -cargo test");
        failed("cargo test || go test ./...", "-cargo test, -go test ./...");
        failed("cargo test && git commit -m x", "?cargo test");
        failed("cargo test; git push", "?cargo test");
        failed("cd a && (cd b; cargo test)", "-cargo test");
        failed("git pull && (cd b; cargo test)", "?cargo test");
        assert_eq!(told("cargo test", None, ""), "?cargo test");
        assert_eq!(
            told("cd nope && npm test", Some(false), "bash: line 1: cd: nope: No such file or directory"),
            "?npm test"
        );
    }

    #[test]
    fn a_failure_that_was_printed_before_a_pipe_is_one() {
        let check = |command: &str, text: &str, expected: bool| {
            let outcome = Outcome { is_ok: Some(true), text: text.to_owned(), ..Outcome::default() };
            assert_eq!(Called::of(command, &outcome).has_failed(), expected, "{command}: {text}");
        };
        let mise = "[dup] found 2 copies\n[dup] ERROR task failed";
        check("mise run dup 2>&1 | head -50", mise, true);
        check("cd /w && mise run dup | grep -v ok | tail -3", mise, true);
        check("mise run dup", mise, false);
        check("cat log.txt | tail -5", mise, false);
        check("gh run view 12 --log-failed | tail", "--- FAIL: TestPool (0.00s)\nFAIL", false);
        check("./check.sh | tail -3", "FAIL\texample.com/p\t0.2s", true);
        check("./check.sh | tail -3", "all of it FAILED before", false);
        check("make docs | tail -1", "make: *** [Makefile:7: docs] Error 1", true);
    }

    #[test]
    fn what_a_runner_says_counts_where_the_exit_code_does_not() {
        let check = |command: &str, is_ok, text: &str, checks: &str| {
            assert_eq!(told(command, Some(is_ok), text), checks, "{command}: {text}");
        };
        let ok = "test result: ok. 12 passed; 0 failed";
        let bad = "test result: FAILED. 11 passed; 1 failed";
        check("cargo test; git push", false, ok, "+cargo test");
        check("cargo test; git push", false, bad, "-cargo test");
        check("cargo test | tail", true, bad, "-cargo test");
        check("cargo test | tail", true, ok, "+cargo test");
        check("cargo test | head", true, ok, "?cargo test");
        check("cargo test | head", true, bad, "-cargo test");
        check("cargo test || true", true, bad, "-cargo test");
        check("go test ./... && git commit -m x", false, "ok  \tp\t0.2s\nhook failed", "+go test ./...");
        check("pytest tests/ && rm missing", false, "3 passed in 0.1s\nrm: missing", "+pytest tests/");
        check(
            "git stash && mise run lint | tail; git stash pop",
            false,
            "[lint] 0 issues.",
            "+mise run lint",
        );
        // Whose words they are is not known.
        check("cargo test -p a; cargo test -p b; ls", true, bad, "?cargo test -p a, ?cargo test -p b");
        check(
            "cargo build && cargo test",
            false,
            "error: could not compile `p`",
            "?cargo build, ?cargo test",
        );
        check("cargo test; ls", true, "error: could not compile `p`", "-cargo test");
        check("npm ci && npm test", false, "npm ERR! code ENOENT", "?npm test");
        check("npm test; ls", true, "npm ERR! Test failed", "-npm test");
        check("cargo test | grep -c FAILED", false, ok, "+cargo test");
        // What said something ran, and so all before it passed.
        check("cargo clippy && cargo test", false, bad, "+cargo clippy, -cargo test");
        check("cargo clippy | tail && cargo test", false, bad, "?cargo clippy, -cargo test");
        // It ran, and only it can have failed.
        check("git pull && cargo test", false, ok, "-cargo test");
    }
}
