//! Calls that failed, and what was done until the same worked.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use chronicle_search::{StoredTurn, TurnKind};
use serde::{Deserialize, Serialize};

use super::{
    commands::{Typed, program},
    is_done,
    steps::is_for_files,
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

/// The failures of a session, each signature once.
pub(super) fn failures(turns: &[&StoredTurn]) -> Vec<Failure> {
    let mut found: Vec<Failure> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        // How an agent misuses its own tools for files is no problem of anybody else.
        let is_telling =
            turn.kind == TurnKind::Command || turn.kind == TurnKind::Tool && !is_for_files(&turn.text);
        if !is_telling || turn.is_ok != Some(false) {
            continue;
        }
        let Some(message) = turn.answer.as_deref().and_then(telling_line) else { continue };
        let signature = signature(&message);
        if signature.split(' ').filter(|word| word.len() > 1).count() < 2
            || found.iter().any(|known| known.signature == signature)
        {
            continue;
        }
        if found.len() == MOST {
            break;
        }
        found.push(Failure {
            remedy: remedy(turns, at),
            signature,
            message,
            call: shortened(&called(turn), 120),
            line: turn.line,
            turn: turn.name.clone(),
        });
    }
    found
}

fn called(turn: &StoredTurn) -> String {
    match turn.kind {
        TurnKind::Edit => format!("edit {}", turn.text),
        _ => turn.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned(),
    }
}

/// The line that says what went wrong; none where a human said no, or nothing is told.
fn telling_line(answer: &str) -> Option<String> {
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
        return None;
    }
    let answer =
        answer.trim_start_matches("<tool_use_error>").split("</tool_use_error>").next().unwrap_or_default();
    let lines = answer.lines().map(str::trim).filter(|line| {
        let lower = line.to_lowercase();
        4 <= line.len()
            && !NOTHING.iter().any(|words| lower.starts_with(words))
            && !lower.ends_with("task failed")
            && !line.starts_with("$ ")
            && !line.contains("] $ ")
            && line.chars().any(char::is_alphabetic)
            && !says_only_that(line)
    });
    let lines = lines.filter(|line| !line.starts_with("at ") && !line.starts_with("ok "));
    let first = lines.clone().next()?;
    // What failed by its name says more than that something did.
    let named = lines.clone().find(|line| names_test(line));
    let telling = || lines.clone().find(|line| names_fault(line) && !is_shared(line));
    let any = || lines.clone().find(|line| names_fault(line));
    Some(shortened(named.or_else(telling).or_else(any).unwrap_or(first), LONGEST))
}

/// Whether a line of an output names what is wrong.
pub(crate) fn names_fault(line: &str) -> bool {
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
fn signature(message: &str) -> String {
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

/// What was done between a failure and the next time that the same worked.
fn remedy(turns: &[&StoredTurn], at: usize) -> Option<Remedy> {
    let failed = turns[at];
    let same = |turn: &&StoredTurn| {
        turn.kind == failed.kind
            && turn.is_ok == Some(true)
            && is_same_call(&failed.text, &turn.text, failed.kind)
    };
    let until = turns[at + 1..].iter().take(FAR).position(same)? + at + 1;
    let mut done: Vec<String> = Vec::new();
    for turn in &turns[at + 1..until] {
        let said = match turn.kind {
            TurnKind::Edit if is_done(turn, TurnKind::Edit) => format!("changed {}", turn.text),
            TurnKind::Command
                if turn.is_ok == Some(true) && crate::checks::check_kind(&turn.text).is_none() =>
            {
                let Some(changing) = changing(&turn.text) else { continue };
                format!("ran `{}`", shortened(&changing, 80))
            }
            _ => continue,
        };
        if !done.contains(&said) {
            done.push(said);
        }
    }
    let worked = shortened(&called(turns[until]), 80);
    if done.is_empty() && turns[until].text == failed.text {
        done.push("tried again".to_owned());
    } else if done.is_empty() {
        done.push(format!("called it as `{worked}`"));
    }
    let n_more = done.len().saturating_sub(3);
    done.truncate(3);
    let more = if 0 < n_more { format!(" and {n_more} more") } else { String::new() };
    Some(Remedy { done: format!("{}{more}", done.join(", ")), line: turns[until].line })
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
    if let (Some(one), Some(other)) = (crate::checks::check_kind(one), crate::checks::check_kind(other)) {
        return one == other;
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

#[cfg(test)]
mod tests {
    use super::*;

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
