//! What a compaction leaves out: the agent sees its own summary afterwards, and nothing of what was said before.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_search::{StoredTurn, TurnKind};
use serde_json::Value;

use crate::commands::checks::only_check;
use crate::signs::{commands, is_plain_program};
use crate::words::shortened;

/// The share of the words of a statement that a summary has where it says the same.
const SAME: f64 = 0.6;

/// How many lines of a summary are looked at together: a sentence may go on in the next one.
const TOGETHER: usize = 2;

/// The longest command that is listed.
const LONGEST: usize = 160;

/// The summary with which an agent goes on after a compaction.
#[derive(Debug)]
pub struct CompactionSummary {
    plain: String,
    lines: Vec<BTreeSet<String>>,
}

/// A command that worked in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingCommand {
    /// The command alone, without those before and after it.
    pub command: String,
    /// How often it worked.
    pub times: usize,
    /// The line of the transcript where it worked last.
    pub line: u64,
}

impl CompactionSummary {
    /// The summary `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lines = text.lines().map(words).filter(|words| !words.is_empty()).collect();
        Self { plain: plain(text), lines }
    }

    /// The summary at the end of a transcript of Claude Code; none where somebody spoke after it, or there is none yet.
    #[must_use]
    pub fn at_end(transcript: &str) -> Option<Self> {
        for line in transcript.lines().rev() {
            let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
            let is_spoken = matches!(row["type"].as_str(), Some("user" | "assistant"));
            if row["isCompactSummary"] == true {
                return Some(Self::of(&content(&row["message"]["content"])));
            }
            if is_spoken && row["isMeta"] != true {
                return None;
            }
        }
        None
    }

    /// Whether it says what `statement` says.
    #[must_use]
    pub fn says(&self, statement: &str) -> bool {
        let sought = words(statement);
        let has = |lines: &[BTreeSet<String>]| {
            let n_found = sought.iter().filter(|word| lines.iter().any(|line| line.contains(*word))).count();
            SAME * sought.len() as f64 <= n_found as f64
        };
        sought.is_empty()
            || self.lines.windows(TOGETHER).any(has)
            || self.lines.len() < TOGETHER && has(&self.lines)
    }

    /// Whether it names `command`.
    #[must_use]
    pub fn names(&self, command: &str) -> bool {
        self.plain.contains(&plain(command))
    }
}

/// The words of a message, whatever its form.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// In small letters, with single spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The words of a line that say something.
fn words(line: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 34] = [
        "the", "and", "that", "this", "with", "for", "from", "are", "was", "were", "has", "have", "had",
        "its", "not", "but", "you", "your", "our", "let", "lets", "yes", "should", "would", "could", "can",
        "will", "into", "also", "then", "than", "there", "please", "just",
    ];
    let lower = line.to_lowercase();
    let parts = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| 3 <= part.chars().count() && !EMPTY.contains(part)).map(str::to_owned).collect()
}

/// The commands of a session that are worth knowing again: checks that passed the last time, and what worked at least
/// twice; those that worked last come first.
#[must_use]
pub fn working_commands(turns: &[StoredTurn]) -> Vec<WorkingCommand> {
    let mut found: BTreeMap<String, (WorkingCommand, bool)> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.kind == TurnKind::Command) {
        for command in commands(&turn.text) {
            if is_plain_program(&command) || LONGEST < command.len() {
                continue;
            }
            let is_check = only_check(&command).is_some();
            match (turn.is_ok, is_check) {
                (Some(true), _) => {
                    let fresh = WorkingCommand { command: command.clone(), times: 0, line: 0 };
                    let (known, _) = found.entry(command).or_insert((fresh, is_check));
                    known.times += 1;
                    known.line = turn.line;
                }
                // What fails now does not work, though it once did.
                (Some(false), true) => drop(found.remove(&command)),
                _ => {}
            }
        }
    }
    let is_worth = |(command, is_check): &(WorkingCommand, bool)| *is_check || 2 <= command.times;
    let mut commands: Vec<WorkingCommand> =
        found.into_values().filter(is_worth).map(|(command, _)| command).collect();
    commands.sort_by_key(|command| std::cmp::Reverse(command.line));
    commands
}

/// Where in the prompts of a session these words are; none where they are put together from several.
#[must_use]
pub fn line_of(turns: &[StoredTurn], statement: &str) -> Option<u64> {
    let sought = plain(&shortened(statement, 60));
    let sought = sought.trim_end_matches(['…', '.']).trim();
    let is_human = |turn: &&StoredTurn| matches!(turn.kind, TurnKind::Prompt | TurnKind::Interruption);
    let mut humans = turns.iter().filter(is_human);
    humans.rfind(|turn| !sought.is_empty() && plain(&turn.text).contains(sought)).map(|turn| turn.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signs::made;

    #[test]
    fn a_summary_says_what_has_most_of_its_words() {
        let summary = CompactionSummary::of(
            "1. Request: a full pool waits.\n2. The bounded queue was chosen\nover the unbounded one.\n- `cargo test -p pool` passes",
        );
        for said in ["Let's use the bounded queue", "A full pool should wait: waits", ""] {
            assert!(summary.says(said), "{said}");
        }
        for lacked in ["Don't touch the parser", "Only use the lock-free stack for readers"] {
            assert!(!summary.says(lacked), "{lacked}");
        }
        assert!(summary.names("cargo  test -p pool") && !summary.names("cargo test -p parser"));
    }

    #[test]
    fn the_summary_is_the_last_that_was_said() {
        let row = |kind: &str, words: &str, is_summary: bool| {
            format!(
                "{}\n",
                serde_json::json!({"type": kind, "isCompactSummary": is_summary, "message": {"content": words}})
            )
        };
        let compacted = row("assistant", "Hm.", false) + &row("user", "It goes on: the pool", true);
        let says = |transcript: &str| CompactionSummary::at_end(transcript).map(|it| it.says("pool goes"));
        assert_eq!(says(&(compacted.clone() + "{\"type\":\"progress\"}\n")), Some(true));
        assert_eq!(says(&(compacted + &row("assistant", "Next.", false))), None);
        assert_eq!(says("cut in the mid"), None);
    }

    #[test]
    fn checks_that_pass_and_what_works_again_and_again_are_working_commands() {
        let ran = |id, command, is_ok| made(id, TurnKind::Command, command, Some(is_ok), None);
        let turns = [
            ran(1, "cargo test -p pool", true),
            ran(2, "cargo clippy", true),
            ran(3, "docker compose up -d && ls", true),
            ran(4, "cargo clippy", false),
            ran(5, "docker compose up -d", true),
            ran(6, "./once.sh", true),
            ran(7, "ls src", true),
            ran(8, "ls src", true),
        ];
        let told: Vec<_> =
            working_commands(&turns).into_iter().map(|it| (it.command, it.times, it.line)).collect();
        assert_eq!(
            told,
            [("docker compose up -d".to_owned(), 2, 5), ("cargo test -p pool".to_owned(), 1, 1)]
        );
    }
}
