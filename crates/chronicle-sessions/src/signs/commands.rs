//! The single commands in what was typed into a shell.

use std::{borrow::Cow, collections::BTreeMap};

use chronicle_search::{StoredTurn, TurnKind};

use super::habits::Seen;
use crate::commands::shell::{Join, is_setting, parts, without_texts};

/// Programs that say nothing of how somebody works.
pub(super) const PLAIN: [&str; 44] = [
    "cd", "ls", "cat", "echo", "pwd", "head", "tail", "grep", "rg", "find", "sed", "awk", "wc", "sort",
    "uniq", "xargs", "true", "false", "test", "[", "mkdir", "rm", "cp", "mv", "touch", "chmod", "which",
    "sleep", "for", "do", "done", "if", "then", "fi", "else", "while", "export", "source", "set", "tee",
    "cut", "tr", "diff", "printf",
];

/// Programs that run what a project calls a task.
const RUNNERS: [&str; 7] = ["npm", "pnpm", "yarn", "bun", "mise", "uv", "make"];

/// How many programs of a session are kept.
const MOST: usize = 40;

/// How deep brackets in brackets are looked into.
const MOST_DEEP: usize = 8;

/// What was typed into a shell, without the texts handed in below commands.
pub(super) struct Typed<'c>(Cow<'c, str>);

impl<'c> Typed<'c> {
    pub(super) fn of(command: &'c str) -> Self {
        Self(without_texts(command))
    }

    /// The words of each single command, without the variables before it.
    pub(super) fn commands(&self) -> Vec<Vec<&str>> {
        let mut found = Vec::new();
        collect(&self.0, true, MOST_DEEP, &mut found);
        found
    }

    /// The same, of each pipe the first command only: what follows shapes its output.
    pub(super) fn first_commands(&self) -> Vec<Vec<&str>> {
        let mut found = Vec::new();
        collect(&self.0, false, MOST_DEEP, &mut found);
        found
    }
}

fn collect<'t>(text: &'t str, with_pipes: bool, depth: usize, found: &mut Vec<Vec<&'t str>>) {
    for part in parts(text).iter().filter(|part| with_pipes || part.join != Join::Pipe) {
        match part.group().filter(|_| 0 < depth) {
            Some(group) => collect(group, with_pipes, depth - 1, found),
            None => found.extend(Some(words(part.text)).filter(|words| !words.is_empty())),
        }
    }
}

fn words(command: &str) -> Vec<&str> {
    let words = command.split_whitespace().skip_while(|word| is_setting(word));
    words.skip_while(|word| matches!(*word, "sudo" | "time" | "env")).collect()
}

/// The single commands in what was typed into a shell.
pub(crate) fn commands(typed: &str) -> Vec<String> {
    Typed::of(typed).commands().iter().map(|words| words.join(" ")).collect()
}

/// Whether a command calls a program that says nothing of how somebody works, or one that every agent knows.
pub(crate) fn is_plain_program(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let program = program(&words);
    program.is_empty() || PLAIN.contains(&program) || matches!(program, "git" | "gh")
}

/// A program without the folder that it lies in.
pub(super) fn program<'w>(words: &[&'w str]) -> &'w str {
    let first = words.first().copied().unwrap_or_default();
    first.rsplit('/').next().unwrap_or(first)
}

/// The programs that ran, with the command that they were given where that says more.
pub(super) fn programs(turns: &[&StoredTurn]) -> BTreeMap<String, Seen> {
    const WITH_COMMAND: [&str; 14] = [
        "git", "gh", "cargo", "go", "npm", "pnpm", "yarn", "bun", "docker", "kubectl", "mise", "uv", "make",
        "just",
    ];
    let mut programs: BTreeMap<String, Seen> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.kind == TurnKind::Command) {
        for words in Typed::of(&turn.text).commands() {
            let program = program(&words);
            let is_name = !program.is_empty()
                && program.len() <= 40
                && program.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
                && program.chars().any(|c| c.is_ascii_alphabetic());
            if !is_name || PLAIN.contains(&program) {
                continue;
            }
            let command = words.get(1).filter(|word| {
                WITH_COMMAND.contains(&program)
                    && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                    && !word.starts_with('-')
            });
            // `mise run` says nothing without what is run.
            let task = words.get(2).filter(|task| {
                command.is_some_and(|command| *command == "run")
                    && RUNNERS.contains(&program)
                    && task.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
                    && task.starts_with(|c: char| c.is_ascii_alphabetic())
            });
            let words = [Some(&program), command, task];
            let name = words.into_iter().flatten().copied().collect::<Vec<_>>().join(" ");
            if programs.contains_key(&name) || programs.len() < MOST {
                programs.entry(name).or_insert_with(|| Seen::at(turn)).times += 1;
            }
        }
    }
    programs
}
