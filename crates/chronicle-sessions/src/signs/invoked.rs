//! How a program was called, with its flags, and how that ended.

use chronicle_search::{StoredTurn, TurnKind};

use super::{
    commands::{PLAIN, Typed, program},
    failures::{failure, telling_line},
};
use crate::{commands::checks::Called, turn::Outcome, words::shortened};

/// The longest command that is listed.
const LONGEST: usize = 200;

/// Words of a shell that are no programs to ask about.
const OF_SHELLS: [&str; 18] = [
    "cd", "echo", "export", "source", "set", "test", "[", "true", "false", "for", "do", "done", "if", "then",
    "fi", "else", "while", "printf",
];

/// The name of a program, with the words that it is to be called with.
#[derive(Debug)]
pub struct CalledTool<'t> {
    program: &'t str,
    words: Vec<&'t str>,
}

/// One call of a program.
#[derive(Debug, PartialEq, Eq)]
pub struct Invoked {
    /// The command alone, without those before and after it.
    pub command: String,
    /// Whether it worked, if that is known.
    pub is_ok: Option<bool>,
    /// The code that it ended with, where the agent shows it.
    pub exit_code: Option<i32>,
    /// The line that says what went wrong.
    pub message: Option<String>,
}

impl<'t> CalledTool<'t> {
    /// The tool that `task` names; none where it cannot be one.
    #[must_use]
    pub fn of(task: &'t str) -> Option<Self> {
        let mut words = task.split_whitespace();
        let program = words.next()?;
        let is_name = program.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
            && program.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && !OF_SHELLS.contains(&program)).then(|| Self { program, words: words.collect() })
    }

    /// The calls of the tool in what was typed into a shell.
    #[must_use]
    pub fn calls(&self, turn: &StoredTurn) -> Vec<Invoked> {
        if turn.kind != TurnKind::Command {
            return Vec::new();
        }
        let typed = Typed::of(&turn.text);
        let commands = typed.commands();
        // Of several programs on one line, any may be the one that failed.
        let n_telling = commands.iter().filter(|words| !PLAIN.contains(&program(words))).count();
        let is_alone = n_telling <= 1;
        let is_ok = turn.is_ok.filter(|is_ok| *is_ok || is_alone);
        let exit_code = turn.answer.as_deref().filter(|_| is_alone).and_then(exit_code);
        let message = failure(turn).filter(|_| is_alone).and_then(telling_line);
        let called = commands.iter().filter(|words| self.is_called(words));
        let command = |words: &Vec<&str>| shortened(&without_redirections(words).join(" "), LONGEST);
        called
            .map(|words| Invoked { command: command(words), is_ok, exit_code, message: message.clone() })
            .collect()
    }

    /// Whether a command calls the program, with all the words.
    fn is_called(&self, words: &[&str]) -> bool {
        program(words) == self.program && self.words.iter().all(|word| words[1..].contains(word))
    }
}

/// The checks that a command ran, under the names that digests give them, and how each went.
#[must_use]
pub fn checks_called(turn: &StoredTurn) -> Vec<Invoked> {
    if turn.kind != TurnKind::Command {
        return Vec::new();
    }
    let answer = turn.answer.clone().unwrap_or_default();
    let called = Called::of(&turn.text, &Outcome { is_ok: turn.is_ok, text: answer, ..Outcome::default() });
    let invoked = called.checks.into_iter().map(|ran| {
        let answer = turn.answer.as_deref().filter(|_| ran.is_passed == Some(false));
        Invoked {
            command: ran.name(),
            is_ok: ran.is_passed,
            exit_code: answer.and_then(exit_code),
            message: failure(turn).filter(|_| answer.is_some()).and_then(telling_line),
        }
    });
    invoked.collect()
}

/// A command without where its output goes, which says nothing of how the program is called.
fn without_redirections<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut is_target = false;
    let mut kept = Vec::new();
    for word in words {
        let sign = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if sign.starts_with('>') {
            is_target = sign.ends_with('>');
        } else if !std::mem::take(&mut is_target) {
            kept.push(*word);
        }
    }
    kept
}

/// The code in `Exit code 2`, with which agents begin what a failed command printed.
fn exit_code(answer: &str) -> Option<i32> {
    answer.trim_start().strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn a_program_is_called_in_a_line_with_others() {
        let calls = |task: &str, command: &str, is_ok: bool| {
            let answer = (!is_ok).then_some("Exit code 101\nerror: no such test");
            let turn = made(1, TurnKind::Command, command, Some(is_ok), answer);
            let calls = CalledTool::of(task).map(|tool| tool.calls(&turn)).unwrap_or_default();
            calls.into_iter().map(|call| (call.command, call.is_ok, call.exit_code)).collect::<Vec<_>>()
        };
        let worked = |command: &str| vec![(command.to_owned(), Some(true), None)];
        assert_eq!(
            calls("cargo", "cd x && RUST_LOG=1 cargo test -p pool 2>&1 > a.log | tail -5", true),
            worked("cargo test -p pool")
        );
        assert_eq!(calls("cargo test", "cargo build && cargo test -q", true), worked("cargo test -q"));
        assert_eq!(
            calls("cargo", "cd x && cargo test", false),
            [("cargo test".to_owned(), Some(false), Some(101))]
        );
        // Either may have failed.
        assert_eq!(calls("cargo", "make && cargo test", false), [("cargo test".to_owned(), None, None)]);
        for (task, command) in [("cargo bench", "cargo test"), ("test the pool", "test -f x"), ("", "ls")] {
            assert_eq!(calls(task, command, true), [], "{task}");
        }
    }

    #[test]
    fn a_check_of_a_command_has_an_outcome_of_its_own() {
        let calls = |command: &str, is_ok: bool| {
            let answer = (!is_ok).then_some("Exit code 101\nerror: no such test");
            let turn = made(1, TurnKind::Command, command, Some(is_ok), answer);
            let calls = checks_called(&turn).into_iter();
            calls.map(|call| (call.command, call.is_ok, call.exit_code)).collect::<Vec<_>>()
        };
        assert_eq!(calls("cargo test -q", true), [("cargo test -q".to_owned(), Some(true), None)]);
        assert_eq!(calls("cargo test -q", false), [("cargo test -q".to_owned(), Some(false), Some(101))]);
        assert_eq!(calls("./up.sh && cargo test -q", false), [("cargo test -q".to_owned(), None, None)]);
        assert_eq!(calls("ls", true), []);
    }
}
