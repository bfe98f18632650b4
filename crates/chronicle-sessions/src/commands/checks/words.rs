//! What the well-known runners of checks print when they are done.

use super::CheckKind;

/// Heads before the counts of tests: of jest, vitest and `node --test`.
const HEADS: [&str; 7] = ["Test Files", "Test Suites:", "Tests:", "Tests", "# ", "ℹ ", "Summary"];

/// What a program prints that broke down before it could say more.
const BROKEN: [(&str, &str); 6] = [
    ("cargo", "error: could not compile"),
    ("cargo", "error[E"),
    ("npm", "npm ERR!"),
    ("npm", "npm error"),
    ("tsc", "error TS"),
    ("mise", "ERROR task failed"),
];

/// What the words say of a check of that kind: passed, failed, or nothing.
///
/// One failure outweighs everything that passed.
pub(super) fn said(kind: CheckKind, text: &str) -> Option<bool> {
    let of_line = match kind {
        CheckKind::Test => of_tests,
        CheckKind::Build => of_build,
        CheckKind::Lint => of_lint,
    };
    let mut lines = text.lines().filter_map(|line| of_line(untagged(line.trim()))).peekable();
    lines.peek()?;
    Some(lines.all(|is_passed| is_passed))
}

/// Whether the words say that the only check broke down; `is_used` tells whether anything beside it runs a program.
pub(super) fn is_broken(text: &str, is_used: impl Fn(&str) -> bool) -> bool {
    BROKEN.iter().any(|(program, mark)| text.contains(mark) && !is_used(program))
}

/// Whether a line says that what printed it failed, in the words of a well-known runner.
pub(super) fn says_failure(text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "ERROR task failed",
        "FAIL\t",
        "--- FAIL: ",
        "make: *** [",
        "npm ERR! ",
        "npm error ",
        "error: could not compile",
        "error: test failed",
        "BUILD FAILED",
    ];
    let says = |line: &str| line == "FAIL" || MARKS.iter().any(|mark| line.starts_with(mark));
    text.lines().any(|line| says(untagged(line.trim_end())))
}

/// A line without the name of the task that runners of tasks put before it.
fn untagged(line: &str) -> &str {
    let rest = line.strip_prefix('[').and_then(|line| line.split_once("] "));
    rest.map_or(line, |(_, rest)| rest.trim_start())
}

fn of_tests(line: &str) -> Option<bool> {
    const PASSED: [&str; 6] =
        ["test result: ok", "ok  \t", "OK (", "Passed!", "BUILD SUCCESSFUL", "100% tests passed"];
    const FAILED: [&str; 9] = [
        "test result: FAILED",
        "error: test failed",
        "--- FAIL",
        "FAIL\t",
        "FAIL ",
        "FAILED (",
        "FAILURES!",
        "Failed!",
        "BUILD FAILED",
    ];
    if PASSED.iter().any(|mark| line.starts_with(mark)) || line == "OK" {
        return Some(true);
    }
    let is_failed = FAILED.iter().any(|mark| line.starts_with(mark)) || line == "FAIL";
    if is_failed || line.contains("% tests passed,") {
        return Some(false);
    }
    counted(line).or_else(|| counted_behind(line))
}

/// What counts of tests say: `1 failed, 2 passed in 0.1s`, `Tests  3 passed (3)`, `# fail 0`.
fn counted(line: &str) -> Option<bool> {
    let line = line.trim_matches(['=', ' ']);
    let line = HEADS.iter().find_map(|head| line.strip_prefix(head)).unwrap_or(line);
    let line = line.split_once(" run: ").map_or(line, |(_, counts)| counts);
    let (mut n_passed, mut n_failed) = (0, 0);
    for count in line.split([',', ';', '|']) {
        let mut words = count.split_whitespace();
        let (first, second) = (words.next()?, words.next()?);
        let (n, what) = match first.parse::<u32>() {
            Ok(n) => (n, second),
            Err(_) => (second.parse().ok()?, first),
        };
        // `2 failed attempts` counts no tests.
        if words.next().is_some_and(|next| next != "in" && !next.starts_with('(')) {
            return None;
        }
        match what {
            "passed" | "passing" | "pass" => n_passed += n,
            "failed" | "failing" | "fail" | "failures" | "failure" | "error" | "errors" => n_failed += n,
            "example" | "examples" | "runs" => n_passed += n,
            "skipped" | "pending" | "todo" | "total" | "assertions" | "skips" | "warning" | "warnings"
            | "deselected" | "xfailed" | "xpassed" | "ignored" | "flaky" | "cancelled" | "suites"
            | "tests" | "filtered" | "measured" | "rerun" => {}
            _ => return None,
        }
    }
    match (n_passed, n_failed) {
        (0, 0) => None,
        (_, n_failed) => Some(n_failed == 0),
    }
}

/// The same, where the count comes behind: `Tests run: 3, Failures: 0, Errors: 0`.
fn counted_behind(line: &str) -> Option<bool> {
    let (_, counts) = line.split_once("Tests run: ")?;
    let faults = counts.split(',').skip(1).filter_map(|count| count.trim().split_once(": "));
    let mut faults = faults.filter(|(what, _)| matches!(*what, "Failures" | "Errors")).peekable();
    faults.peek()?;
    Some(faults.all(|(_, n)| n == "0"))
}

fn of_build(line: &str) -> Option<bool> {
    if line.starts_with("BUILD FAILED") {
        return Some(false);
    }
    line.starts_with("BUILD SUCCESSFUL").then_some(true)
}

/// How much a lint found: `3 issues:`, `✖ 2 problems`, `Found 1 error`.
fn of_lint(line: &str) -> Option<bool> {
    if line.starts_with("All checks passed!") || line.starts_with("Success: no issues found") {
        return Some(true);
    }
    if line.contains(" inspected, ") && line.contains(" offense") {
        return Some(line.contains(" no offenses"));
    }
    let mut words = line.split_whitespace().skip_while(|word| *word == "✖" || *word == "Found");
    let n: u32 = words.next()?.parse().ok()?;
    let what = words.next()?;
    let is_count = ["issues:", "issue:", "issues.", "problems", "problem"].contains(&what)
        || line.starts_with("Found") && ["error", "errors", "error.", "errors."].contains(&what);
    is_count.then_some(n == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_say_how_it_went() {
        let check = |kind, text: &str, told| assert_eq!(said(kind, text), told, "{text}");
        for text in [
            "running 2 tests\ntest result: ok. 12 passed; 0 failed; 0 ignored",
            "     Summary [   0.123s] 12 tests run: 12 passed (1 slow), 0 skipped",
            "===== 3 passed, 1 warning in 0.12s =====",
            "3 passed in 0.1s",
            "ok  \texample.com/p\t0.2s",
            "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total",
            " Test Files  1 passed (1)\n      Tests  3 passed (3)",
            "  12 passing (20ms)",
            " 12 pass\n 0 fail\n",
            "# tests 3\n# pass 3\n# fail 0",
            "ℹ pass 3\nℹ fail 0",
            "12 examples, 0 failures",
            "5 runs, 8 assertions, 0 failures, 0 errors, 0 skips",
            "Ran 3 tests in 0.1s\n\nOK",
            "100% tests passed, 0 tests failed out of 5",
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
            "BUILD SUCCESSFUL in 3s",
            "[test:unit] 12 passed; 0 failed",
        ] {
            check(CheckKind::Test, text, Some(true));
        }
        for text in [
            "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 2 passed; 1 failed",
            "error: test failed, to rerun pass `--lib`",
            "     Summary [   0.123s] 12 tests run: 11 passed, 1 failed, 0 skipped",
            "===== 1 failed, 3 passed in 0.12s =====",
            "2 errors in 0.1s",
            "--- FAIL: TestPool (0.00s)\nok  \tother\t0.1s",
            "FAIL\texample.com/p\t0.2s",
            "FAIL src/pool.test.js\nTests:       1 failed, 2 passed, 3 total",
            "  12 passing (20ms)\n  1 failing",
            " 11 pass\n 1 fail",
            "# pass 2\n# fail 1",
            "12 examples, 1 failure",
            "Ran 3 tests in 0.1s\n\nFAILED (failures=1)",
            "80% tests passed, 1 tests failed out of 5",
            "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0",
        ] {
            check(CheckKind::Test, text, Some(false));
        }
        for text in
            ["", "2 failed attempts", "0 failed", "everything works", "3 files changed, 2 insertions(+)"]
        {
            check(CheckKind::Test, text, None);
        }
        check(CheckKind::Lint, "[lint:go] 1 issues:\n[lint:go] * goconst: 1", Some(false));
        check(CheckKind::Lint, "✖ 2 problems (2 errors)", Some(false));
        check(CheckKind::Lint, "Found 3 errors in 2 files", Some(false));
        check(CheckKind::Lint, "12 files inspected, 3 offenses detected", Some(false));
        check(CheckKind::Lint, "12 files inspected, no offenses detected", Some(true));
        check(CheckKind::Lint, "[lint] 0 issues.", Some(true));
        check(CheckKind::Lint, "Found 0 errors", Some(true));
        check(CheckKind::Lint, "All checks passed!", Some(true));
        check(CheckKind::Lint, "3 files, no issues", None);
        check(CheckKind::Build, "BUILD FAILED in 3s", Some(false));
    }
}
