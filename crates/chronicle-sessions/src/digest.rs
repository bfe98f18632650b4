//! What a session was about, by rules.
//!
//! Everything in a digest is counted or quoted: what was asked, what was
//! changed, which commands ran and how they ended. Nothing is guessed.

pub(crate) mod account;
pub(crate) mod endings;
pub(crate) mod finished;
pub(crate) mod implied;
#[cfg(test)]
pub(crate) mod made;
pub(crate) mod threads;
pub(crate) mod titles;
pub(crate) mod wording;

use std::collections::BTreeMap;

use chronicle_core::counted;
use chronicle_core::thread::{ThreadKind, likeness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::endings::endings;
use self::titles::candidates::{candidates, is_question};
use crate::commands::hard_failure::HardFailure;
use crate::commands::known_tools::{LANGUAGES, TOOLS};
use crate::journal::decisions::told;
use crate::journal::{ChangedFile, Check, Journal};
use crate::rows::session::Session;
use crate::turn::{Commit, Usage};
use crate::words::{first_sentence, imperative, shortened};

/// How many commits are told among the key actions.
const MOST_COMMITS: usize = 4;

/// How many key actions and technologies are told.
const MOST_TOLD: usize = 8;

/// The digest of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DigestOfSession {
    /// At most 60 characters.
    pub title: String,
    /// What it may be called, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
    /// What was asked and what was achieved, in one or two sentences.
    pub summary: String,
    /// What was done, the weightiest first.
    pub key_actions: Vec<String>,
    /// Files that were changed, the most changed first.
    pub files: Vec<ChangedFile>,
    /// Tests, builds and lints, with how they went the last time.
    pub checks: Vec<Check>,
    /// What failed and took several steps to solve; at most two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<HardFailure>,
    /// Commits that were made, in order.
    pub commits: Vec<Commit>,
    /// Edited files that no commit of the session holds, in the order of their last edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
    /// Pull requests that belong to the session.
    pub pull_requests: Vec<String>,
    /// Languages and tools, the most used first.
    pub technologies: Vec<String>,
    /// Libraries that edits imported or wrote into manifests, the most named first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
    /// Questions that nobody answered.
    pub open_questions: Vec<String>,
    /// What humans decided, in their words.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// From 1 (trivial) to 5 (a major piece of work).
    pub importance: u8,
    /// Tokens, each reply counted once.
    pub usage: Usage,
    /// How often a human spoke.
    pub n_prompts: usize,
    /// Whether a program ran the session and nobody typed in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_headless: bool,
    /// Whether a program ran the session at some time, and somebody typed in it at another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partly_headless: bool,
    /// The model whose words the title, the summary and the key actions are; none where they are the rules'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worded_by: Option<String>,
}

impl DigestOfSession {
    /// Adds the commits of a sub-agent: they belong to the session that sent it.
    pub(crate) fn add_commits(&mut self, commits: &[Commit]) {
        for commit in commits {
            if !self.commits.iter().any(|known| known.id == commit.id) {
                self.commits.push(commit.clone());
            }
        }
    }

    /// The checks that failed, and after which none of their kind passed.
    pub fn still_failing(&self) -> impl Iterator<Item = &Check> {
        let passed_after = |index: usize| {
            let kind = self.checks[index].kind;
            self.checks[index..].iter().any(|check| check.kind == kind && check.is_passed == Some(true))
        };
        let is_failing =
            move |(index, check): &(usize, &Check)| check.is_passed == Some(false) && !passed_after(*index);
        self.checks.iter().enumerate().filter(is_failing).map(|(_, check)| check)
    }
}

/// The digest of the session that `journal` was kept of.
#[must_use]
pub fn digest(journal: &Journal, session: &Session) -> DigestOfSession {
    let mut files = journal.files.clone();
    for file in &mut files {
        file.path = within(&file.path, &session.folders).to_owned();
    }
    files
        .sort_by(|left, right| right.n_changes.cmp(&left.n_changes).then_with(|| left.path.cmp(&right.path)));
    let open_questions = endings(journal)
        .into_iter()
        .filter(|ending| ending.kind == ThreadKind::Question)
        .map(|ending| ending.summary)
        .collect();
    let titles = candidates(journal, session);
    DigestOfSession {
        title: titles.first().cloned().unwrap_or_default(),
        titles,
        summary: summary(journal),
        key_actions: key_actions(journal),
        technologies: technologies(journal),
        libraries: libraries(journal),
        importance: importance(journal),
        checks: journal.told_checks(),
        uncommitted: uncommitted(journal),
        failures: Vec::new(),
        commits: journal.commits.iter().map(|(commit, _)| commit.clone()).collect(),
        pull_requests: journal.pull_requests.clone(),
        open_questions,
        decisions: told(&journal.decisions),
        files,
        usage: session.usage,
        n_prompts: journal.n_prompts,
        is_headless: session.is_headless,
        is_partly_headless: session.is_partly_headless,
        worded_by: None,
    }
}

/// `path` without the folder that it lies in.
fn within<'a>(path: &'a str, folders: &[String]) -> &'a str {
    let rest = |folder: &String| path.strip_prefix(folder.as_str())?.strip_prefix('/');
    folders.iter().filter_map(rest).min_by_key(|rest| rest.len()).unwrap_or(path)
}

/// What came of it, as the agent accounts for it; without an account, what was asked and what was counted.
fn summary(journal: &Journal) -> String {
    if let Some(summary) = account::summary(journal) {
        return summary;
    }
    let asked = |words: &str| imperative(first_sentence(words), 120);
    let first =
        journal.plan_title.clone().or_else(|| journal.first_wish.as_ref().map(|wish| asked(&wish.words)));
    let last = journal.wishes.iter().rev().find(|wish| !is_question(wish)).map(|wish| asked(&wish.words));
    let mut asked = match (first, last) {
        (Some(first), Some(last)) if first != last => format!("Asked for “{first}” and in the end “{last}”."),
        (Some(first), _) => format!("Asked for “{first}”."),
        (None, Some(last)) => format!("Asked for “{last}”."),
        (None, None) => String::new(),
    };
    let found =
        journal.last_diagnosis.as_ref().map(|said| account::diagnosis(&said.words)).unwrap_or_default();
    for found in found {
        asked.push_str(&format!(" {}.", found.trim_end_matches('.')));
    }
    let commits: Vec<Commit> = journal.told_commits().into_iter().cloned().collect();
    let achieved = match journal.has_work() {
        true => achieved(&commits, journal.files.len(), &uncommitted(journal), &journal.told_checks()),
        false => unchanged(journal),
    };
    if !achieved.is_empty() {
        if !asked.is_empty() {
            asked.push(' ');
        }
        asked.push_str(&achieved);
    }
    asked
}

/// What came of a session that changed nothing: a check that failed, and that an edit was turned down.
fn unchanged(journal: &Journal) -> String {
    let refused = journal.refused_edit.is_some().then(|| "nothing was changed".to_owned());
    let failed = journal.last_check().map(|check| account::went(journal, check, 60));
    sentence(&refused.into_iter().chain(failed).collect::<Vec<_>>())
}

/// The edited files that no commit holds.
fn uncommitted(journal: &Journal) -> Vec<String> {
    journal.uncommitted.paths().map(str::to_owned).collect()
}

/// What came of it, in one sentence. A check that passed before code was changed again is none.
pub(crate) fn achieved(
    commits: &[Commit],
    n_files: usize,
    uncommitted: &[String],
    checks: &[Check],
) -> String {
    let mut parts = Vec::new();
    match commits {
        [] => {}
        [commit] if commit.subject.is_empty() => parts.push(format!("committed {}", commit.id)),
        [commit] => parts.push(format!("committed {} “{}”", commit.id, shortened(&commit.subject, 72))),
        [.., last] => {
            let of_last =
                commits.iter().rev().map(|commit| &commit.subject).find(|subject| !subject.is_empty());
            parts.push(match of_last {
                Some(subject) => format!("made {} commits, last “{}”", commits.len(), shortened(subject, 72)),
                None => format!("made {} commits, last {}", commits.len(), last.id),
            });
        }
    }
    match n_files {
        0 => {}
        1 => parts.push("changed 1 file".to_owned()),
        n_files => parts.push(format!("changed {n_files} files")),
    }
    if !commits.is_empty() && !uncommitted.is_empty() {
        parts.push(format!("{} uncommitted", counted(uncommitted.len(), "file")));
    }
    if let Some(check) = checks.iter().rev().find(|check| check.is_passed.is_some()) {
        let command = shortened(&check.command, 60);
        match (check.is_passed, check.is_outdated) {
            (Some(true), true) => {}
            (Some(true), false) => parts.push(format!("`{command}` passed last")),
            (_, true) => parts.push(format!("`{command}` failed before the last edit")),
            (_, false) => parts.push(format!("`{command}` failed last")),
        }
    }
    sentence(&parts)
}

fn sentence(parts: &[String]) -> String {
    let sentence = parts.join(", ");
    let mut letters = sentence.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// What was done: commits, what the agent's accounts say, and what it ticked off. Never what was asked for.
fn key_actions(journal: &Journal) -> Vec<String> {
    let mut actions = Vec::new();
    let commit = |commit: &Commit| match commit.subject.is_empty() {
        true => format!("Committed {}", commit.id),
        false => format!("Committed {}: {}", commit.id, shortened(&commit.subject, 100)),
    };
    let commits = journal.told_commits();
    actions.extend(commits.into_iter().rev().take(MOST_COMMITS).rev().map(commit));
    actions.extend(journal.pull_requests.iter().map(|url| format!("Opened {url}")));
    let check = failed_last(&journal.checks).map(|check| account::went(journal, check, 80));
    let n_left = MOST_TOLD.saturating_sub(actions.len() + usize::from(check.is_some()));
    let mut accounted = account::deeds(journal, n_left);
    let made = created(journal, &accounted).or_else(|| filed(journal, &accounted));
    if let Some(made) = made {
        accounted.truncate(n_left.saturating_sub(1));
        accounted.push(made);
    }
    accounted.truncate(n_left);
    let done = journal.todos.items().iter().filter(|item| item.state == crate::turn::TodoState::Completed);
    let ticked = done.map(|item| shortened(&item.text, 100));
    let is_new = |text: &String| accounted.iter().all(|known| likeness(known, text) < 0.5);
    let ticked: Vec<String> = ticked.filter(is_new).take(4.min(n_left - accounted.len())).collect();
    actions.extend(accounted.into_iter().chain(ticked));
    if actions.is_empty() && !journal.files.is_empty() {
        let files: Vec<&str> = journal.files.iter().take(4).map(|file| name_of(&file.path)).collect();
        actions.push(format!("Changed {}", files.join(", ")));
    }
    actions.extend(check);
    actions.truncate(MOST_TOLD);
    actions
}

/// The new files that no deed names.
fn created(journal: &Journal, deeds: &[String]) -> Option<String> {
    const MOST: usize = 3;
    let named: Vec<String> = deeds.iter().flat_map(|deed| account::code_names(deed)).collect();
    let is_told =
        |name: &str| named.iter().any(|known| known == name) || deeds.iter().any(|deed| deed.contains(name));
    let names: Vec<&str> =
        journal.created.iter().map(|path| name_of(path)).filter(|name| !is_told(name)).collect();
    let more = names.len().saturating_sub(MOST);
    let told = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!names.is_empty()).then(|| format!("Added {told}{more}"))
}

/// What was filed in a tracker, where no deed says so.
fn filed(journal: &Journal, deeds: &[String]) -> Option<String> {
    let is_told = |title: &str| deeds.iter().any(|deed| 0.5 <= likeness(deed, title));
    let titles: Vec<&str> =
        journal.issues.iter().map(|issue| issue.title.as_str()).filter(|title| !is_told(title)).collect();
    let (first, rest) = titles.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!("Filed “{}”{more}", shortened(first, 80)))
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The last check that failed, if none of its kind passed later; they come in the order in which they ran last.
fn failed_last(checks: &[Check]) -> Option<&Check> {
    let at = checks.iter().rposition(|check| check.is_passed == Some(false))?;
    let failed = &checks[at];
    let is_mended = |later: &Check| later.kind == failed.kind && later.is_passed == Some(true);
    (!checks[at..].iter().any(is_mended)).then_some(failed)
}

fn technologies(journal: &Journal) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &journal.files {
        let ending = file.path.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
        if let Some((_, name)) = LANGUAGES.iter().find(|(known, _)| *known == ending) {
            // Writing in a language says more than calling a tool.
            *counts.entry(name).or_default() += 3 * file.n_changes;
        }
    }
    for (program, count) in &journal.commands {
        if let Some((_, name)) = TOOLS.iter().find(|(known, _)| known == program) {
            *counts.entry(name).or_default() += count;
        }
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    names.into_iter().take(MOST_TOLD).map(|(name, _)| name.to_owned()).collect()
}

/// The libraries that were named most.
fn libraries(journal: &Journal) -> Vec<String> {
    const MOST: usize = 40;
    let mut named: Vec<_> = journal.libraries.iter().collect();
    named.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    named.into_iter().take(MOST).map(|(name, _)| name.clone()).collect()
}

/// One point to begin with; more for commits, for many files, for a long conversation and for a pull request.
fn importance(journal: &Journal) -> u8 {
    let points = [
        !journal.commits.is_empty(),
        3 <= journal.files.len(),
        10 <= journal.files.len() || 4 <= journal.commits.len(),
        8 <= journal.n_prompts,
        !journal.pull_requests.is_empty(),
    ];
    let n_points = points.iter().filter(|point| **point).count();
    u8::try_from((1 + n_points).min(5)).unwrap_or(5)
}

#[cfg(test)]
mod state_of_the_work {
    use super::made::Made;
    use crate::turn::TodoState;

    const WAIT: &str = "[main 1a2b3c4] pool: wait\n 1 file changed";

    /// A session in which the pool learned to wait.
    fn made() -> Made {
        Made::new().prompt("make the pool wait for a free connection")
    }

    #[test]
    fn what_no_commit_holds_is_uncommitted() {
        let check = |made: Made, summary: &str, uncommitted: &[&str]| {
            let digest = made.digest();
            assert_eq!(digest.summary, summary);
            assert_eq!(digest.uncommitted, uncommitted);
        };
        let both = || made().edit("pool.rs").edit("queue.rs");
        check(
            both().run("git add pool.rs && git commit -m 'pool: wait'", WAIT).said("The pool waits now."),
            "The pool waits now. Committed 1a2b3c4 “pool: wait”, queue.rs uncommitted.",
            &["queue.rs"],
        );
        check(
            both().run("git commit -am 'pool: wait'", WAIT).said("The pool waits now."),
            "The pool waits now. Committed 1a2b3c4 “pool: wait”.",
            &[],
        );
        check(
            both()
                .run("git commit -am 'pool: wait'", WAIT)
                .edit("a.rs")
                .edit("b.rs")
                .edit("c.rs")
                .said("The pool waits now."),
            "The pool waits now. Committed 1a2b3c4 “pool: wait”, 3 files uncommitted.",
            &["a.rs", "b.rs", "c.rs"],
        );
        check(
            both().said("The pool waits now."),
            "The pool waits now. Not committed.",
            &["pool.rs", "queue.rs"],
        );
        // Notes of the agent and scratch files are never committed.
        check(
            made().edit("/tmp/try.rs").edit("/home/a/.claude/plans/wait.md").said("The pool waits now."),
            "The pool waits now. Not committed.",
            &[],
        );
    }

    #[test]
    fn a_commit_that_left_edits_out_leaves_work_open() {
        let both = || made().edit("pool.rs").edit("queue.rs");
        assert_eq!(
            both()
                .run("git add pool.rs && git commit -m 'pool: wait'", WAIT)
                .said("The pool waits now.")
                .open(),
            ["Commit the edits of queue.rs: the last commit left them out"]
        );
        // What is edited after a commit is only not committed yet.
        let later = both().run("git commit -am 'pool: wait'", WAIT).edit("a.rs").said("The pool waits now.");
        assert_eq!(later.open(), [] as [&str; 0]);
        assert_eq!(later.digest().uncommitted, ["a.rs"]);
    }

    #[test]
    fn a_check_counts_if_it_ran_after_the_last_edit() {
        let check = |made: Made, summary: &str| {
            assert_eq!(made.said("The pool waits now.").digest().summary, summary);
        };
        let ok = "test result: ok. 3 passed; 0 failed";
        let bad = "test result: FAILED. 2 passed; 1 failed";
        let edited = || made().edit("pool.rs");
        check(edited().run("cargo test", ok), "The pool waits now. Not committed, `cargo test` passed last.");
        check(made().run("cargo test", ok).edit("pool.rs"), "The pool waits now. Not committed.");
        check(
            edited().run("cargo test", ok).edit("docs/pool.md"),
            "The pool waits now. Not committed, `cargo test` passed last.",
        );
        check(
            made().fail("cargo test", bad).edit("pool.rs"),
            "The pool waits now. Not committed, `cargo test` failed before the last edit.",
        );
        // Tests say more than a build, and what failed more than what passed.
        check(
            edited().run("cargo test", ok).run("cargo build", ""),
            "The pool waits now. Not committed, `cargo test` passed last.",
        );
        check(
            edited().fail("cargo clippy", "").run("cargo test", ok),
            "The pool waits now. Not committed, `cargo clippy` failed last.",
        );
        // Where nothing was changed, a check that passes is no result.
        check(made().run("cargo test", ok), "The pool waits now.");
        let digest = made().run("cargo test", ok).edit("pool.rs").digest();
        assert_eq!((digest.checks[0].is_passed, digest.checks[0].is_outdated), (Some(true), true));
    }

    #[test]
    fn an_edit_that_was_turned_down_and_not_tried_again_is_open() {
        let refused = || made().refuse("src/pool.rs", "do it on a branch. is there another way?");
        let asked = refused().said("Two ways.\n\nWhich approach do you prefer?");
        assert_eq!(
            asked.digest().summary,
            "Asked for “Make the pool wait for a free connection” and in the end “Do it on a branch”. \
             Nothing was changed."
        );
        assert_eq!(
            asked.open(),
            [
                "Decide on the edit of pool.rs that was turned down: “do it on a branch.”",
                "Answer: Which approach do you prefer?"
            ]
        );
        let again = refused().edit("src/pool.rs").said("The pool waits now.");
        assert_eq!(again.open(), [] as [&str; 0]);
        assert_eq!(again.digest().summary, "The pool waits now. Not committed.");
    }

    #[test]
    fn a_session_breaks_off_at_its_last_action() {
        let check = |made: Made, expected: &str| {
            let summary = made.digest().summary;
            assert!(summary.contains(expected), "{summary}");
        };
        let done = || made().edit("pool.rs").said("The pool waits now.");
        let asked = || done().prompt("now bound the queue of the pool as well");
        check(asked().edit("src/queue.rs"), "Broken off at the edit of queue.rs");
        check(asked().run("cargo test -p queue", ""), "Broken off at `cargo test -p queue`");
        check(asked().tool("Task", "Bound the queue", ""), "Broken off at “Bound the queue”");
        check(asked().refuse("src/queue.rs", ""), "Broken off at the edit of queue.rs");
    }

    #[test]
    fn the_agents_own_list_says_last_how_far_its_tasks_are() {
        let listed = "#1 [completed] Let acquire wait\n#2 [pending] Test the timeout [blocked by #1]";
        let made = made().task("1", "Let acquire wait", TodoState::InProgress).task(
            "2",
            "Test the timeout",
            TodoState::Pending,
        );
        assert_eq!(made.digest().key_actions, [] as [&str; 0]);
        let todos = crate::rows::tools::listed_tasks(listed);
        let made = todos.into_iter().fold(made, |made, todo| {
            let outcome = crate::turn::Outcome { is_ok: Some(true), ..Default::default() };
            made.event(crate::turn::Event::Todo(todo, outcome))
        });
        assert_eq!(made.digest().key_actions, ["Let acquire wait"]);
    }
}

#[cfg(test)]
mod what_was_done {
    use super::made::Made;

    fn made() -> Made {
        Made::new().prompt("make the pool wait for a free connection")
    }

    #[test]
    fn the_heads_of_a_final_list_make_the_summary() {
        let account = "Done. All tests pass.\n\n**Final summary of all changes in this session:**\n\n\
            1. **Removed the old queue** (`queue.rs`): nobody used it\n\
            2. **Fixed the counter of the pool** (`pool.rs`): it never went down\n\
            3. **Added a limit for waiting**: a minute";
        let summary = made().edit("pool.rs").said(account).digest().summary;
        assert_eq!(
            summary,
            "Removed the old queue; fixed the counter of the pool; added a limit for waiting. Not committed."
        );
    }

    #[test]
    fn a_session_without_an_account_says_what_was_found() {
        let found =
            "Let me see.\n\nThe cause is the counter of the pool that never goes down after a timeout.";
        let summary = made().said(found).refuse("src/pool.rs", "on a branch please").digest().summary;
        assert_eq!(
            summary,
            "Asked for “Make the pool wait for a free connection” and in the end “On a branch please”. The cause is \
             the counter of the pool that never goes down after a timeout. Nothing was changed."
        );
    }

    #[test]
    fn the_final_account_comes_first_and_others_add_what_it_does_not_name() {
        let first = "I've added a limit to `acquire`. I also renamed `Slot` to `Lease` in `lease.rs`.";
        let last = "Final summary:\n- Changed `acquire` to wait for a slot\n- Bounded the queue of the pool";
        let digest = made()
            .edit("pool.rs")
            .said(first)
            .prompt("now bound the queue of the pool as well")
            .edit("queue.rs")
            .said(last)
            .digest();
        assert_eq!(
            digest.key_actions,
            [
                "Changed `acquire` to wait for a slot",
                "Bounded the queue of the pool",
                "Renamed `Slot` to `Lease` in `lease.rs`"
            ]
        );
    }

    #[test]
    fn what_a_human_corrects_was_not_done() {
        let digest = |correction: &str| {
            made()
                .edit("pool.rs")
                .said("Fixed `acquire` to ignore the limit of the pool when nobody waits.")
                .prompt(correction)
                .edit("pool.rs")
                .said("Added a check of the limit in `release` for waiting clients.")
                .digest()
                .key_actions
        };
        let last = "Added a check of the limit in `release` for waiting clients";
        assert_eq!(digest("that is not correct, acquire must never ignore the limit"), [last]);
        assert_eq!(
            digest("good. now look at the log of the server"),
            [last, "Fixed `acquire` to ignore the limit of the pool when nobody waits"]
        );
    }

    #[test]
    fn what_edits_took_back_was_not_done() {
        let digest = made()
            .replace("settings.toml", "a", "b")
            .said("Added the `limit.max` to `settings.toml`.")
            .prompt("the pool has to find its limit by itself, not by settings of this machine")
            .replace("settings.toml", "b", "a")
            .edit("src/pool.rs")
            .said("Changed `acquire` to count the free slots.")
            .digest();
        assert_eq!(digest.key_actions, ["Changed `acquire` to count the free slots"]);
        assert_eq!(digest.summary, "Changed `acquire` to count the free slots. Not committed.");
        assert_eq!(digest.uncommitted, ["src/pool.rs"]);
    }

    #[test]
    fn new_files_and_filed_issues_are_deeds() {
        let digest = made()
            .create("src/wait.rs")
            .create("src/wait_test.rs")
            .create("/tmp/try.rs")
            .said("Changed the pool to wait for a slot, with the new `wait.rs` for it.")
            .digest();
        assert_eq!(
            digest.key_actions,
            ["Changed the pool to wait for a slot, with the new `wait.rs` for it", "Added `wait_test.rs`"]
        );
        let filed = made()
            .tool("mcp__tracker__create_issue", "Measure the wait of the pool", "{}")
            .said("I filed it.");
        assert_eq!(filed.digest().key_actions, ["Filed “Measure the wait of the pool”"]);
    }

    #[test]
    fn a_decision_is_what_the_agent_made_of_the_humans_words() {
        let decided = |words: &str, reply: &str| {
            made()
                .refuse("src/pool.rs", words)
                .said(reply)
                .edit("src/pool.rs")
                .said("The pool waits now.")
                .digest()
                .decisions
        };
        assert_eq!(
            decided(
                "can't those helpers take a Limit instead?",
                "Good idea. Let me change those helpers to take a `Limit`:"
            ),
            ["Change those helpers to take a `Limit` (“can't those helpers take a Limit instead?”)"]
        );
        assert_eq!(
            decided("why not use the queue of the pool?", "The queue is older than the pool."),
            [] as [&str; 0]
        );
        assert_eq!(
            decided("use the shared helper", "Let me look."),
            ["use the shared helper (on the edit of pool.rs)"]
        );
    }

    #[test]
    fn short_words_are_about_the_question_that_was_asked_last() {
        let decisions = made()
            .said("The log grows. Where should the limit of the log live?")
            .prompt("let's keep it simple and use the settings")
            .said("Done.")
            .digest()
            .decisions;
        assert_eq!(
            decisions,
            ["let's keep it simple and use the settings (on “Where should the limit of the log live?”)"]
        );
    }
}
