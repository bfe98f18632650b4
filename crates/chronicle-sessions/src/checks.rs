//! Commands that say whether the code is in order: tests, builds and lints.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::{Deserialize, Serialize};

use crate::turn::Outcome;

/// What a command checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// It runs tests.
    Test,
    /// It builds.
    Build,
    /// It looks for faults of style and the like.
    Lint,
}

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

/// What `command` checks, if anything.
#[must_use]
pub(crate) fn check_kind(command: &str) -> Option<CheckKind> {
    // What is written to a file or searched for is not run.
    if command.contains("<<")
        || command.trim_start().starts_with("grep")
        || command.trim_start().starts_with("echo")
    {
        return None;
    }
    let first = MARKED.find_overlapping_iter(command).map(|mark| mark.pattern()).min()?;
    Some(MARKS[first.as_usize()].1)
}

/// All marks looked for at once.
static MARKED: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let marks = MARKS.map(|(mark, _)| mark);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(marks)
        .expect("so few marks fit into any automaton")
});

/// Whether a check found nothing wrong; unknown without an outcome.
///
/// A pipe hides the exit code of what was piped, so the words are looked at too.
#[must_use]
pub(crate) fn is_passed(command: &str, outcome: &Outcome) -> Option<bool> {
    const FAILURES: [&str; 9] = [
        "\n--- FAIL",
        "\nFAIL\t",
        "\nFAIL\n",
        "test result: FAILED",
        "\nerror[E",
        "error: could not compile",
        " failed, ",
        "ERROR task failed",
        "npm ERR!",
    ];
    let is_ok = outcome.is_ok?;
    let text = format!("\n{}\n", outcome.text);
    let is_hidden = command.contains('|') || command.contains(';');
    let is_told = || FAILURES.iter().any(|mark| text.contains(mark)) || text.lines().any(counts_faults);
    Some(is_ok && !(is_hidden && is_told()))
}

/// Whether a line says how much a lint found, and that it is something: `3 issues:`, `✖ 2 problems`, `Found 1 error`.
fn counts_faults(line: &str) -> bool {
    let mut words =
        line.split_whitespace().skip_while(|word| word.ends_with(']') || *word == "✖" || *word == "Found");
    let is_some = words.next().and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| 0 < n);
    let what = words.next().unwrap_or_default();
    is_some
        && (["issues:", "issue:", "problems", "problem"].contains(&what)
            || line.trim_start().starts_with("Found")
                && ["error", "errors", "error.", "errors."].contains(&what))
}

/// A command without what only shapes its output.
pub(crate) fn told(command: &str) -> &str {
    let line = command
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default();
    let mut parts = line.rsplit("&& ");
    let is_one = !line.contains("&& ");
    let line = parts.find(|part| is_one || check_kind(part).is_some()).unwrap_or(line);
    let line = line.split(" | ").next().unwrap_or(line);
    line.split(" 2>").next().unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_told_by_their_commands() {
        assert_eq!(check_kind("cd /w && cargo test -p pool 2>&1 | tail -5"), Some(CheckKind::Test));
        assert_eq!(check_kind("mise run lint"), Some(CheckKind::Lint));
        assert_eq!(check_kind("ls tests"), None);
        assert_eq!(check_kind("cat > a.sh <<EOF\ncargo test\nEOF"), None);
        assert_eq!(told("cd /w && cargo test -p pool 2>&1 | tail -5"), "cargo test -p pool");
    }

    #[test]
    fn a_pipe_does_not_hide_a_failure() {
        let outcome = |text: &str| Outcome { is_ok: Some(true), exit_code: None, text: text.into() };
        assert_eq!(is_passed("go test ./... | tail", &outcome("--- FAIL: TestPool")), Some(false));
        assert_eq!(is_passed("go test ./... | tail", &outcome("ok pool")), Some(true));
        let lint = |text: &str| is_passed("run lint | tail", &outcome(text));
        assert_eq!(lint("[lint:go] 1 issues:\n[lint:go] * goconst: 1"), Some(false));
        assert_eq!(lint("✖ 2 problems (2 errors)"), Some(false));
        assert_eq!(lint("Found 3 errors in 2 files"), Some(false));
        assert_eq!(lint("0 issues."), Some(true));
        assert_eq!(lint("Found 0 errors"), Some(true));
        assert_eq!(lint("3 files, no issues"), Some(true));
        assert_eq!(is_passed("go test ./...", &Outcome::default()), None);
    }
}
