//! What an account claims, held against what the transcript shows.

use crate::commands::checks::CheckKind;
use crate::journal::Journal;

/// What the commands of a session show, whatever is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shown {
    /// Whether the last check of each kind failed.
    pub(crate) tests_fail: bool,
    pub(crate) lints_fail: bool,
    pub(crate) build_fails: bool,
    pub(crate) has_commits: bool,
    pub(crate) was_pushed: bool,
    pub(crate) has_pull_request: bool,
}

impl Shown {
    pub(crate) fn by(journal: &Journal) -> Self {
        let fails = |kind| {
            let last =
                journal.checks.iter().rev().find(|check| check.kind == kind && check.is_passed.is_some());
            last.is_some_and(|check| check.is_passed == Some(false))
        };
        Self {
            tests_fail: fails(CheckKind::Test),
            lints_fail: fails(CheckKind::Lint),
            build_fails: fails(CheckKind::Build),
            has_commits: journal.last_commit.is_some() || !journal.commits.is_empty(),
            was_pushed: journal.was_pushed,
            has_pull_request: journal.has_pull_request(),
        }
    }

    /// What remains of a point without the clauses that the transcript contradicts; none when nothing does.
    pub(crate) fn borne_out(&self, words: &str) -> Option<String> {
        if !self.contradicts(&words.to_lowercase()) {
            return Some(words.to_owned());
        }
        let mut kept: Vec<&str> = Vec::new();
        for clause in words.split_inclusive([',', ';', '—']).flat_map(|part| part.split_inclusive(" and "))
        {
            if !self.contradicts(&clause.to_lowercase()) {
                kept.push(clause);
            }
        }
        let kept = kept.concat();
        let kept = kept
            .trim()
            .trim_end_matches([',', ';', '—', ' '])
            .trim_end_matches(" and")
            .trim_end_matches([',', ';', '—', ' '])
            .to_owned();
        (4 <= kept.split_whitespace().count() && !self.contradicts(&kept.to_lowercase())).then_some(kept)
    }

    /// Whether words in small letters claim what the transcript contradicts.
    fn contradicts(&self, lower: &str) -> bool {
        let has = |words: &[&str]| has_word(lower, words);
        let is_good = is_good(lower);
        is_good && self.tests_fail && has(&["test", "tests", "suite", "ci"])
            || is_good && self.lints_fail && has(&["lint", "linter", "linting", "clippy", "lints", "ci"])
            || is_good && self.build_fails && has(&["build", "builds", "compiles", "ci"])
            || is_good && self.fails_anything() && has(&["everything", "checks"])
            || !self.has_commits && has(&["committed"]) && !lower.contains("not ")
            || !self.was_pushed && has(&["pushed"]) && !lower.contains("not ")
            || !self.has_pull_request
                && !lower.contains("not ")
                && (lower.contains("opened a p")
                    || lower.contains("created a p")
                    || lower.contains("pr created"))
    }

    fn fails_anything(&self) -> bool {
        self.tests_fail || self.lints_fail || self.build_fails
    }
}

/// Whether words in small letters say how checks went.
pub(super) fn is_state(lower: &str) -> bool {
    let is_check = has_word(
        lower,
        &["test", "tests", "lint", "linter", "linting", "build", "builds", "ci", "suite", "checks", "clippy"],
    );
    let n_words = lower.split_whitespace().count();
    is_check && is_good(lower) && n_words <= 14
}

fn is_good(lower: &str) -> bool {
    has_word(
        lower,
        &[
            "pass",
            "passes",
            "passed",
            "passing",
            "green",
            "clean",
            "succeeds",
            "succeeded",
            "compiles",
            "ok",
            "works",
            "work",
            "builds",
        ],
    ) || ["0 issues", "no issues", "no errors", "0 errors", "lint-compliant"]
        .iter()
        .any(|mark| lower.contains(mark))
}

fn has_word(lower: &str, words: &[&str]) -> bool {
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}
