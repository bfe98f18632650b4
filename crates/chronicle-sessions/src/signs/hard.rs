//! The failures that took a session more than one step to solve: what a colleague would be warned of.

use chronicle_search::{StoredTurn, TurnKind};

use super::commands::{PLAIN, Typed, program};
use super::failures::{Failing, failing, trail};
use crate::commands::hard_failure::HardFailure;
use crate::digest::account::{Point, Sort, n_particular, points};
use crate::words::shortened;

/// How many failures of a session are named.
const MOST: usize = 2;

/// How long a message and what is said of it are at most.
const LONGEST: usize = 140;

/// How long a call is told at most.
const LONGEST_CALL: usize = 60;

/// The hardest failures of a session, in their order.
pub(crate) fn hard_failures(turns: &[StoredTurn]) -> Vec<HardFailure> {
    let own: Vec<&StoredTurn> = turns.iter().filter(|turn| turn.sub_agent.is_none()).collect();
    let mut found: Vec<(usize, usize, HardFailure)> = Vec::new();
    for Failing { at, times, failure } in failing(&own) {
        if own[at].kind != TurnKind::Command || only_looks(&own[at].text) {
            continue;
        }
        let trail = trail(&own, at);
        let n_steps = times + trail.done.len();
        // What one change solved at once is no news, and neither is what nothing was done about.
        let is_hard = match trail.worked {
            Some(_) => !trail.done.is_empty() && 3 <= n_steps,
            None => 2 <= times,
        };
        if !is_hard {
            continue;
        }
        let first = trail.done.first().copied().or(trail.worked).unwrap_or(at);
        let told = HardFailure {
            call: shortened(&failure.call, LONGEST_CALL),
            message: shortened(&failure.message, LONGEST),
            times,
            cause: own[at..first]
                .iter()
                .rfind(|turn| turn.kind == TurnKind::Said)
                .and_then(|said| cause(&said.text)),
            solution: failure.remedy.map(|remedy| in_few_words(&remedy.done)),
            line: failure.line,
        };
        found.push((n_steps, at, told));
    }
    found.sort_by_key(|(n_steps, at, _)| (std::cmp::Reverse(*n_steps), *at));
    // One failure is mostly what another became on the way.
    let mut calls: Vec<String> = Vec::new();
    found.retain(|(_, _, told)| {
        let is_new = !calls.contains(&told.call);
        calls.push(told.call.clone());
        is_new
    });
    found.truncate(MOST);
    found.sort_by_key(|(_, at, _)| *at);
    found.into_iter().map(|(_, _, told)| told).collect()
}

/// What was changed, by the names of the files: `changed src/pool.rs, changed src/queue.rs` is `changed pool.rs, queue.rs`.
fn in_few_words(done: &str) -> String {
    let mut told = String::new();
    for (index, step) in done.split(", ").enumerate() {
        let path = step.strip_prefix("changed ").map(|path| path.rsplit('/').next().unwrap_or(path));
        let is_next = told.rsplit(", ").next().is_some_and(|last| index != 0 && !last.starts_with("ran "));
        told.push_str(if index == 0 { "" } else { ", " });
        match path {
            Some(path) if is_next => told.push_str(path),
            Some(path) => told.push_str(&format!("changed {path}")),
            None => told.push_str(step),
        }
    }
    told
}

/// What the agent says a failure comes from.
fn cause(said: &str) -> Option<String> {
    let is_cause =
        |point: &Point| matches!(point.sort, Sort::Finding | Sort::Other) && 4 <= n_particular(&point.words);
    let point = points(said).into_iter().find(is_cause)?;
    Some(shortened(&point.words, LONGEST))
}

/// Whether a call only looks at something: that nothing is there is an answer.
fn only_looks(command: &str) -> bool {
    let typed = Typed::of(command);
    let commands = typed.first_commands();
    commands.iter().all(|words| PLAIN.contains(&program(words)) || matches!(program(words), "gh" | "curl"))
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn a_solution_names_files() {
        let check = |done: &str, expected: &str| assert_eq!(in_few_words(done), expected);
        check("changed src/pool.rs", "changed pool.rs");
        check("changed src/pool.rs, changed src/queue.rs and 2 more", "changed pool.rs, queue.rs and 2 more");
        check("ran `go generate ./...`, changed a/b.go", "ran `go generate ./...`, changed b.go");
        check("tried again", "tried again");
    }

    #[test]
    fn what_came_again_or_took_several_changes_is_told_with_its_solution() {
        let fails =
            |id, answer: &str| made(id, TurnKind::Command, "go build ./...", Some(false), Some(answer));
        let passes = |id| made(id, TurnKind::Command, "go build ./...", Some(true), None);
        let edit = |id, path: &str| made(id, TurnKind::Edit, path, Some(true), None);
        let said = |id, words: &str| made(id, TurnKind::Said, words, None, None);
        let told =
            |turns: &[StoredTurn]| hard_failures(turns).iter().map(HardFailure::told).collect::<Vec<_>>();
        let cycle = "import cycle not allowed: pool imports queue";
        let turns = [
            fails(1, cycle),
            edit(2, "pool.go"),
            fails(3, cycle),
            said(
                4,
                "Let me look.\n\nThe cycle comes from the types that both packages share with the client.",
            ),
            edit(5, "types.go"),
            passes(6),
        ];
        assert_eq!(
            told(&turns),
            [
                "`go build ./...`: import cycle not allowed: pool imports queue (2×); The cycle comes from the types that \
              both packages share with the client; solved: changed types.go"
            ]
        );
        // It came twice, and nothing that worked followed.
        assert_eq!(
            told(&turns[..3]),
            ["`go build ./...`: import cycle not allowed: pool imports queue (2×); not solved"]
        );
        assert_eq!(told(&[fails(1, cycle), edit(2, "pool.go"), passes(3)]), [] as [&str; 0]);
        let looks = |id| {
            made(
                id,
                TurnKind::Command,
                "ls nowhere | head",
                Some(false),
                Some("cannot access nowhere: no such file"),
            )
        };
        assert_eq!(told(&[looks(1), looks(2), edit(3, "a.go"), looks(4)]), [] as [&str; 0]);
    }
}
