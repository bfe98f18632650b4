//! Calls that failed, and what was done until the same worked.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use chronicle_search::{StoredTurn, TurnKind};
use serde::{Deserialize, Serialize};

use super::{
    commands::{Typed, program},
    steps::{is_done, is_for_files},
};
use crate::words::{any_case, shortened};

/// How many failures of a session are kept.
const MOST: usize = 60;

/// How many turns later a remedy is looked for.
const FAR: usize = 120;

/// How long the words of a failure are at most.
const LONGEST: usize = 200;

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What is the same wherever it comes up: without paths, numbers and names.
    pub signature: String,
    /// What was said.
    pub message: String,
    /// What was called.
    pub call: String,
    /// The line of the transcript.
    pub line: u64,
    /// The id of the turn; empty for none.
    pub turn: String,
    /// What was done until the same worked.
    pub remedy: Option<Remedy>,
}

/// What was done until the same call worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// In words.
    pub done: String,
    /// The line of the transcript where the call worked.
    pub line: u64,
}

/// A failure, where it came last.
pub(super) struct Failing {
    pub(super) at: usize,
    /// How often it came.
    pub(super) times: usize,
    pub(super) failure: Failure,
}

/// The failures of a session, each signature once: where it came up last, with what was done after that.
pub(super) fn failures(turns: &[&StoredTurn]) -> Vec<Failure> {
    failing(turns).into_iter().map(|failing| failing.failure).collect()
}

/// The same, with where and how often each came.
pub(super) fn failing(turns: &[&StoredTurn]) -> Vec<Failing> {
    let mut found: Vec<Failing> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let Some(message) = failure(turn).and_then(telling_line) else { continue };
        let signature = signature(&message);
        if signature.split(' ').filter(|word| word.len() > 1).count() < 2 {
            continue;
        }
        let failure = Failure {
            remedy: None,
            signature,
            message,
            call: shortened(&called(turn), 120),
            line: turn.line,
            turn: turn.name.clone(),
        };
        // What was done before it came up again did not mend it.
        match found.iter().position(|known| known.failure.signature == failure.signature) {
            Some(known) => found[known] = Failing { at, times: found[known].times + 1, failure },
            None if found.len() < MOST => found.push(Failing { at, times: 1, failure }),
            None => {}
        }
    }
    for failing in &mut found {
        failing.failure.remedy = remedy(turns, failing.at);
    }
    found
}

/// What came back from a call that failed; none where that is no failure to learn from.
pub(super) fn failure(turn: &StoredTurn) -> Option<&str> {
    // How an agent misuses its own tools for files is no problem of anybody else.
    let is_telling =
        turn.kind == TurnKind::Command || turn.kind == TurnKind::Tool && !is_for_files(&turn.text);
    turn.answer.as_deref().filter(|_| is_telling && turn.is_ok == Some(false))
}

fn called(turn: &StoredTurn) -> String {
    match turn.kind {
        TurnKind::Edit => format!("edit {}", turn.text),
        _ => turn.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned(),
    }
}

/// The line that says what went wrong; none where a human said no, or nothing is told.
pub(super) fn telling_line(answer: &str) -> Option<String> {
    let lines = lines_that_may_tell(answer);
    let first = *lines.first()?;
    let find = |tells: fn(&str) -> bool| lines.iter().copied().find(|line| tells(line));
    // What failed by its name says more than that something did.
    let telling = find(names_test).or_else(|| find(names_what)).or_else(|| find(names_fault));
    Some(shortened(telling.unwrap_or(first), LONGEST))
}

/// The lines of an output that may say what went wrong.
fn lines_that_may_tell(answer: &str) -> Vec<&str> {
    const NOTHING: [&str; 6] = [
        "exit code",
        "the user doesn't want",
        "[request interrupted",
        "command failed with exit",
        "error: exit status",
        "sibling tool call",
    ];
    // Words of the human who turned a call down are no error.
    if answer.starts_with("The user doesn't want") {
        return Vec::new();
    }
    let answer =
        answer.trim_start_matches("<tool_use_error>").split("</tool_use_error>").next().unwrap_or_default();
    let tells = |line: &&str| {
        let lower = line.to_lowercase();
        4 <= line.len()
            && !NOTHING.iter().any(|words| lower.starts_with(words))
            && !lower.ends_with("task failed")
            && !line.starts_with("$ ")
            && !line.contains("] $ ")
            && line.chars().any(char::is_alphabetic)
            && !says_only_that(line)
            && !line.starts_with("at ")
            && !line.starts_with("ok ")
    };
    answer.lines().map(str::trim).filter(tells).collect()
}

/// The lines of an error that somebody came with that say what went wrong, the most telling first.
pub(super) fn telling_lines(text: &str, most: usize) -> Vec<&str> {
    let mut lines = lines_that_may_tell(text);
    if lines.is_empty() {
        return text.lines().map(str::trim).find(|line| !line.is_empty()).into_iter().collect();
    }
    let how_much = |line: &str| match line {
        line if names_test(line) => 0,
        line if is_telling(line) => 1,
        line if names_fault(line) => 2,
        _ => 3,
    };
    lines.sort_by_key(|line| how_much(line));
    let best = how_much(lines[0]);
    lines.retain(|line| how_much(line) <= best.max(1));
    lines.dedup();
    lines.truncate(most);
    lines
}

/// Whether a line says what is wrong, or where.
pub(super) fn is_telling(line: &str) -> bool {
    names_test(line) || names_what(line) || is_at_a_place(line)
}

/// Whether a line is about a place in a file: `net/pool.go:7:2: the string occurs 3 times`.
fn is_at_a_place(line: &str) -> bool {
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = line.split(':');
    parts.next().is_some_and(|file| file.contains('.') && !file.contains(' '))
        && parts.next().as_ref().is_some_and(is_number)
        && 2 < line.split_whitespace().count()
}

/// Whether a line names what is wrong, and not only that something is.
fn names_what(line: &str) -> bool {
    names_fault(line) && !is_shared(line)
}

/// Whether a line of an output names what is wrong.
#[must_use]
pub fn names_fault(line: &str) -> bool {
    static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        any_case([
            "error",
            "fail",
            "fatal",
            "panic",
            "cannot",
            "can't",
            "not found",
            "no such",
            "denied",
            "refused",
            "undefined",
            "unexpected",
            "exception",
            "invalid",
        ])
    });
    MARKS.is_match(line)
}

/// Whether a line names a test that failed: `test a::b ... FAILED`, `--- FAIL: TestA`, `FAILED tests/a.py::b`, `✕ waits`.
fn names_test(line: &str) -> bool {
    let starts = ["--- FAIL: ", "FAILED tests/", "FAILED test", "✕ ", "✗ ", "● "];
    starts.iter().any(|start| line.starts_with(start) && start.len() + 2 < line.len())
        || line.starts_with("test ") && line.ends_with("... FAILED")
}

/// Whether many failures that have nothing in common end with such a line.
fn is_shared(line: &str) -> bool {
    const SHARED: [&str; 14] = [
        "test failed, to rerun",
        "could not compile",
        "aborting due to",
        "previous error",
        "tests failed",
        "test result: failed",
        "failures:",
        "process completed with",
        "npm err! code",
        "npm error code",
        "lifecycle script",
        "test suites:",
        "= short test summary",
        "command failed",
    ];
    let lower = line.to_lowercase();
    SHARED.iter().any(|shared| lower.contains(shared))
}

/// Whether a line says that something failed and nothing of what: `FAIL net/pool [build failed]`,
/// `make: *** [Makefile:7: test] Error 1`.
fn says_only_that(line: &str) -> bool {
    const EMPTY: [&str; 21] = [
        "build", "code", "command", "error", "errors", "exit", "exited", "fail", "failed", "failure", "for",
        "make", "recipe", "run", "setup", "status", "target", "task", "test", "tests", "with",
    ];
    signature(line).split(' ').all(|word| word == "…" || EMPTY.contains(&word))
}

/// A message without what differs from one time to the next.
pub(super) fn signature(message: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut quoted: Option<char> = None;
    for word in message.split_whitespace() {
        let opens = word.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        if let Some(mark) = quoted {
            if word.trim_end_matches([',', '.', ':', ')']).ends_with(mark) {
                quoted = None;
            }
            continue;
        }
        if let Some(mark) = opens {
            let rest = &word[mark.len_utf8()..];
            if !rest.contains(mark) {
                quoted = Some(mark);
            }
            push(&mut words, "…");
            continue;
        }
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let differs = bare.contains(['/', '\\', '=', '@'])
            || bare.chars().any(|c| c.is_ascii_digit())
            || bare.contains('.') && !bare.ends_with('.');
        push(&mut words, if differs { "…" } else { bare });
    }
    words.truncate(16);
    words.join(" ").to_lowercase()
}

fn push(words: &mut Vec<String>, word: &str) {
    if !word.is_empty() && (word != "…" || words.last().is_none_or(|last| last != "…")) {
        words.push(word.to_owned());
    }
}

/// The turns between a failure and the next time that the same worked.
pub(super) struct Trail {
    /// Those that changed something.
    pub(super) done: Vec<usize>,
    /// The call that worked; none where none did.
    pub(super) worked: Option<usize>,
}

/// What followed the failure at `at`, as far as a remedy is looked for.
pub(super) fn trail(turns: &[&StoredTurn], at: usize) -> Trail {
    let failed = turns[at];
    let rest = &turns[at + 1..(at + 1 + FAR).min(turns.len())];
    let works_now = |turn: &&StoredTurn| {
        turn.kind == failed.kind
            && turn.is_ok == Some(true)
            && is_same_call(&failed.text, &turn.text, failed.kind)
    };
    let worked = rest.iter().position(works_now);
    let changes = |turn: &StoredTurn| match turn.kind {
        TurnKind::Edit => is_done(turn, TurnKind::Edit),
        TurnKind::Command => {
            turn.is_ok == Some(true)
                && crate::commands::checks::check_kind(&turn.text).is_none()
                && changing(&turn.text).is_some()
        }
        _ => false,
    };
    let until = worked.unwrap_or(rest.len());
    let done = (0..until).filter(|turn| changes(rest[*turn])).map(|turn| at + 1 + turn).collect();
    Trail { done, worked: worked.map(|worked| at + 1 + worked) }
}

/// What was done between a failure and the next time that the same worked.
fn remedy(turns: &[&StoredTurn], at: usize) -> Option<Remedy> {
    let trail = trail(turns, at);
    let worked = turns[trail.worked?];
    let mut done: Vec<String> = Vec::new();
    for turn in trail.done.into_iter().map(|done| turns[done]) {
        let said = match changing(&turn.text).filter(|_| turn.kind == TurnKind::Command) {
            Some(command) => format!("ran `{}`", shortened(&command, 80)),
            None => format!("changed {}", turn.text),
        };
        if !done.contains(&said) {
            done.push(said);
        }
    }
    if done.is_empty() && worked.text == turns[at].text {
        done.push("tried again".to_owned());
    } else if done.is_empty() {
        done.push(format!("called it as `{}`", shortened(&called(worked), 80)));
    }
    let n_more = done.len().saturating_sub(3);
    done.truncate(3);
    let more = if 0 < n_more { format!(" and {n_more} more") } else { String::new() };
    Some(Remedy { done: format!("{}{more}", done.join(", ")), line: worked.line })
}

/// The first part of a command that changes something.
fn changing(command: &str) -> Option<String> {
    const LOOKING: [&str; 20] = [
        "cd", "ls", "cat", "echo", "pwd", "head", "tail", "grep", "rg", "find", "sed", "awk", "wc", "sort",
        "which", "tree", "diff", "sleep", "jq", "git",
    ];
    let typed = Typed::of(command);
    let first = typed.commands().into_iter().find(|words| !LOOKING.contains(&program(words)));
    first.map(|words| words.join(" "))
}

/// Whether two calls are the same: the same file, the same check, or the same program and command.
fn is_same_call(one: &str, other: &str, kind: TurnKind) -> bool {
    if kind != TurnKind::Command {
        return one == other;
    }
    // Another task of the same runner shows nothing of this one.
    let (tasks_of_one, tasks_of_other) = (tasks(one), tasks(other));
    let is_none_shared = tasks_of_one.iter().all(|task| !tasks_of_other.contains(task));
    if !tasks_of_one.is_empty() && !tasks_of_other.is_empty() && is_none_shared {
        return false;
    }
    match (crate::commands::checks::check_kind(one), crate::commands::checks::check_kind(other)) {
        (Some(kind_of_one), Some(kind_of_other)) => {
            return kind_of_one == kind_of_other && !are_apart(&targets(one), &targets(other));
        }
        (None, None) => {}
        _ => return false,
    }
    let last = |text: &str| {
        let typed = Typed::of(text);
        let words = typed
            .commands()
            .into_iter()
            .rfind(|words| !matches!(program(words), "head" | "tail" | "grep" | "cd" | "echo"))?;
        Some((program(&words).to_owned(), words.get(1).map(|word| (*word).to_owned())))
    };
    match (last(one), last(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// The tasks of a project that a command runs: those that check something, if there are any.
fn tasks(command: &str) -> Vec<String> {
    const OF_RUNNERS: [&str; 9] = ["npm", "pnpm", "yarn", "bun", "mise", "uv", "make", "just", "task"];
    let typed = Typed::of(command);
    let mut found: Vec<(bool, String)> = Vec::new();
    for words in typed.commands().into_iter().filter(|words| OF_RUNNERS.contains(&program(words))) {
        let mut rest = words.iter().skip(1).copied().filter(|word| !word.starts_with('-'));
        let task = match rest.next() {
            Some("run" | "r" | "run-script") => rest.next(),
            Some("exec" | "x" | "install" | "i" | "ci" | "add") => None,
            task => task,
        };
        let is_check = crate::commands::checks::check_kind(&words.join(" ")).is_some();
        found.extend(task.map(|task| (is_check, task.to_owned())));
    }
    let has_check = found.iter().any(|(is_check, _)| *is_check);
    found.into_iter().filter(|(is_check, _)| *is_check || !has_check).map(|(_, task)| task).collect()
}

/// The files that a check is about, as far as its command names some.
fn targets(command: &str) -> Vec<String> {
    let typed = Typed::of(command);
    let checks = typed
        .commands()
        .into_iter()
        .filter(|words| crate::commands::checks::check_kind(&words.join(" ")).is_some());
    let is_target = |word: &&str| !word.starts_with('-') && word.contains(['/', '.']) && !word.contains('>');
    let bare = |word: &str| {
        let file = word.split("::").next().unwrap_or(word);
        file.trim_matches(['.', '/', '"', '\'']).to_owned()
    };
    // The first word is the program, wherever it lies.
    let words = checks.flat_map(|words| words.into_iter().skip(1));
    words.filter(is_target).map(bare).filter(|word| !word.is_empty()).collect()
}

/// Whether two checks are about different files: one that passes shows nothing of the other.
fn are_apart(ones: &[String], others: &[String]) -> bool {
    let meet =
        |one: &String, other: &String| one.starts_with(other.as_str()) || other.starts_with(one.as_str());
    !ones.is_empty()
        && !others.is_empty()
        && !ones.iter().any(|one| others.iter().any(|other| meet(one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_other_files_is_not_the_same() {
        let check = |one, other, expected| {
            assert_eq!(is_same_call(one, other, TurnKind::Command), expected, "{one} {other}");
        };
        check("pytest tests/a.py", "pytest tests/a.py::waits", true);
        check("pytest tests/a.py", "pytest", true);
        check("pytest tests/a.py", "pytest tests/b.py", false);
        check("go test ./pool/...", "go test ./...", true);
        check("cargo test", "cargo test -p pool", true);
        check("cargo test", "cargo build", false);
    }

    #[test]
    fn another_task_of_the_same_runner_is_not_the_same() {
        let check = |one, other, expected| {
            assert_eq!(is_same_call(one, other, TurnKind::Command), expected, "{one} {other}");
        };
        check("mise run lint", "mise run fmt", false);
        check("mise run lint 2>&1 | head", "mise run lint", true);
        check("mise run lint", "mise run fmt && mise run lint", true);
        check("mise run test", "mise run test:ui", false);
        check("npm run lint", "npm test", false);
        check("npm run codegen", "npm run docs", false);
        check("npm run codegen", "npm run codegen -- --all", true);
        check("make docs", "make install-docs", false);
        check("mise run lint", "golangci-lint run ./...", true);
        check("npm run test", "npx vitest", true);
        check("npm install", "npm install --force", true);
    }

    #[test]
    fn signatures_leave_out_what_differs() {
        assert_eq!(
            signature("error: cannot open /tmp/a.txt: No such file"),
            "error cannot open … no such file"
        );
        assert_eq!(
            signature("src/pool.rs:12:5: undefined: `Waiter two` in line 7"),
            "… undefined … in line …"
        );
    }

    #[test]
    fn the_line_that_tells_is_taken() {
        assert_eq!(
            telling_line("Exit code 1\nrunning 3 tests\nerror: no such table\nok"),
            Some("error: no such table".into())
        );
        assert_eq!(telling_line("Exit code 1"), None);
        assert_eq!(
            telling_line(
                "FAIL\tnet/pool [build failed]\nnet/pool.go:7:2: undefined: Waiter\nmake: *** [Makefile:7: test] Error 1"
            ),
            Some("net/pool.go:7:2: undefined: Waiter".into())
        );
        assert_eq!(telling_line("FAIL\tnet/pool [build failed]\nFAIL"), None);
        let cargo = "error: test failed, to rerun pass `--lib`\ntest pool::waits ... FAILED\nthread 'pool::waits' panicked";
        assert_eq!(telling_line(cargo), Some("test pool::waits ... FAILED".into()));
        let compiler =
            "error: could not compile `pool` (lib) due to 1 previous error\nerror[E0308]: mismatched types";
        assert_eq!(telling_line(compiler), Some("error[E0308]: mismatched types".into()));
        assert_eq!(
            telling_line("error: build failed: 3 tests failed on host"),
            Some("error: build failed: 3 tests failed on host".into())
        );
        assert_eq!(telling_line("The user doesn't want to proceed: error"), None);
    }
}
