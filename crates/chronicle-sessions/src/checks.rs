//! Commands that say whether the code is in order: tests, builds and lints.

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
    let command = command.to_lowercase();
    MARKS.iter().find(|(mark, _)| command.contains(mark)).map(|(_, kind)| *kind)
}

/// Whether a check found nothing wrong; unknown without an outcome.
///
/// A pipe hides the exit code of what was piped, so the words are looked at too.
#[must_use]
pub(crate) fn is_passed(command: &str, outcome: &Outcome) -> Option<bool> {
    const FAILURES: [&str; 7] = [
        "\n--- FAIL",
        "\nFAIL\t",
        "\nFAIL\n",
        "test result: FAILED",
        "\nerror[E",
        "error: could not compile",
        " failed, ",
    ];
    let is_ok = outcome.is_ok?;
    let text = format!("\n{}\n", outcome.text);
    let is_hidden = command.contains('|') || command.contains(';');
    Some(is_ok && !(is_hidden && FAILURES.iter().any(|mark| text.contains(mark))))
}

/// A command without what only shapes its output.
pub(crate) fn told(command: &str) -> &str {
    let line = command
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default();
    let line = line.rsplit("&& ").find(|part| check_kind(part).is_some()).unwrap_or(line);
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
        assert_eq!(is_passed("go test ./...", &Outcome::default()), None);
    }
}
