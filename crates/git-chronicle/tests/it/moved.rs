//! Code that goes to another file takes along what was said of it.

use std::fs;

use serde_json::json;
use testkit::TestRepo;

use crate::{
    asking::{annotate, annotate_commit, ask, ask_both},
    outcome::note,
};

const POOL: &str = "use std::time::Duration;

/// Keeps connections.
pub struct Pool {
    free: Vec<Connection>,
    limit: usize,
}

impl Pool {
    /// Gives it back.
    pub fn release(&mut self, connection: Connection) {
        if self.free.len() < self.limit {
            self.free.push(connection);
        }
    }
}
";

const BACKOFF: &str = "pub fn backoff(attempt: u32, base: Duration, limit: Duration) -> Duration {
    let factor = 2u32.saturating_pow(attempt);
    let next = base.saturating_mul(factor);
    let jitter = base.mul_f64(rand::random::<f64>());
    std::cmp::min(next + jitter, limit)
}
";

/// The same function after a formatter of another mind.
const FORMATTED: &str = "pub fn next_wait(
    attempt: u32,
    base: Duration,
    limit: Duration,
) -> Duration {
    let factor = 2u32.saturating_pow(attempt);
    let next =
        base
            .saturating_mul(factor);
    let jitter = base.mul_f64(rand::random::<f64>());
    std::cmp::min(
        next + jitter,
        limit,
    )
}
";

const HEAD_OF_WAIT: &str = "use std::time::Duration;\n\nconst SECOND: Duration = Duration::from_secs(1);\n\n";

/// A function with lessons, and one that relies on it.
fn backoff() -> TestRepo {
    let repo = without_lessons();
    annotate(&repo, &lessons());
    repo
}

/// The same before anything was said of it.
fn without_lessons() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write(
        "src/user.rs",
        "pub fn retry() {\n    for attempt in 0..5 {\n        sleep(backoff(attempt, SECOND, MINUTE));\n    }\n}\n",
    );
    repo.commit("pool: wait longer each time");
    repo
}

fn lessons() -> serde_json::Value {
    json!({ "summary": "All clients at once would bring the broker down again", "wisdom": [
        { "category": "gotcha", "content": "The limit counts after the jitter.", "file": "src/pool.rs", "anchor": "backoff" },
        { "category": "dead_end", "content": "A seed for each client repeats itself.", "file": "src/pool.rs", "lines": { "start": 21, "end": 21 } },
        { "category": "insight", "content": "Five tries stay within the limit.", "file": "src/user.rs", "anchor": "retry",
          "depends_on": [{ "file": "src/pool.rs", "anchor": "backoff", "nature": "never waits longer than the limit" }] },
    ]})
}

/// What is told of the function where it is now.
#[track_caller]
fn is_told(repo: &TestRepo, file: &str, name: &str, line: u32) {
    for query in ["read", "history"] {
        let told = ask_both(repo, &[query, file, name]);
        assert!(told.contains("after the jitter") && told.contains("repeats itself"), "{query}: {told}");
    }
    let line_named = format!("{file}:{line}");
    for args in [
        &["read", file][..],
        &["read", file, "--lines", &format!("{line}:{line}")],
        &["summary", file, name],
        &["why", &line_named],
    ] {
        let told = ask_both(repo, args);
        assert!(told.contains("after the jitter"), "{args:?}: {told}");
    }
    let told = ask_both(repo, &["deps", file, name]);
    assert!(told.contains("never waits longer"), "{told}");
    let directory = ask(repo, &["summary", "src"]);
    assert!(directory.contains("after the jitter"), "{directory}");
}

#[track_caller]
fn is_not_told(repo: &TestRepo, file: &str, name: &str) {
    for query in ["read", "history", "summary"] {
        let told = ask_both(repo, &[query, file, name]);
        assert!(!told.contains("after the jitter"), "{query}: {told}");
    }
    let told = ask_both(repo, &["deps", file, name]);
    assert!(!told.contains("never waits longer"), "{told}");
}

/// With tables made at each step, or only at the end.
fn through_each_step(looks: bool) -> TestRepo {
    let repo = backoff();
    let look = |file: &str, name: &str, line: u32| {
        if looks {
            is_told(&repo, file, name, line);
        }
    };
    look("src/pool.rs", "backoff", 20);
    repo.write("src/pool.rs", [POOL, "\n", &BACKOFF.replace("backoff", "next_wait")].concat());
    repo.commit("pool: a better name");
    look("src/pool.rs", "next_wait", 20);
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, &BACKOFF.replace("backoff", "next_wait")].concat());
    let told = ask_both(&repo, &["read", "src/wait.rs", "next_wait"]);
    assert!(told.contains("after the jitter") && told.contains("repeats itself"), "{told}");
    repo.commit("wait: a file of its own");
    look("src/wait.rs", "next_wait", 6);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, FORMATTED].concat());
    look("src/wait.rs", "next_wait", 10);
    repo.commit("wait: format");
    is_told(&repo, "src/wait.rs", "next_wait", 10);
    repo
}

#[test]
fn what_was_renamed_moved_and_formatted_is_found_from_each_table() {
    let repo = through_each_step(true);
    fs::remove_dir_all(repo.path().join(".git/chronicle/facts")).unwrap();
    is_told(&repo, "src/wait.rs", "next_wait", 7);
}

#[test]
fn what_was_renamed_moved_and_formatted_is_found_in_one_table() {
    let repo = through_each_step(false);
    insta::assert_snapshot!(ask_both(&repo, &["read", "src/wait.rs", "next_wait"]), @"
    ## src/wait.rs
    - dead_end (lines 14-14, intact, backoff, 0.94, 0cb4034, 2 days, 2 commits since): A seed for each client repeats itself.
    - gotcha (lines 6-19, changed, backoff, 0.94, 0cb4034, 2 days, 2 commits since): The limit counts after the jitter.
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(ask_both(&repo, &["deps", "src/wait.rs", "next_wait"]), @"
    ## src/wait.rs — next_wait
    **Declared to rely on it:**
    - `src/user.rs — retry` on backoff: never waits longer than the limit (0.86, 0cb4034, 2 days)
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(ask(&repo, &["summary", "src"]), @"
    ## The commits
    - Several files [0cb4034, 2 days, 0.88]: All clients at once would bring the broker down again

    ## src/user.rs
    - retry (lines 1-5) [0cb4034, 2 days, 1.00]
      - 1 more in `read`

    ## src/wait.rs
    - next_wait (lines 5-19) [0cb4034, 2 days, 0.94]
      - gotcha: The limit counts after the jitter.
      - dead end: A seed for each client repeats itself.
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(ask_both(&repo, &["why", "src/wait.rs:10"]), @"
    # src/wait.rs line 10: `let factor = 2u32.saturating_pow(attempt);`
    **Written by:** dfcf26a wait: a file of its own (Ada, 2 days ago)
    **Also changed next_wait (lines 5-19):**
    - fd06bc6 wait: format (Ada, 2 days ago)

    ## src/wait.rs
    - gotcha (lines 6-19, changed, backoff, 0.94, 0cb4034, 2 days, 2 commits since): The limit counts after the jitter.
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, &FORMATTED.replace("mul_f64", "mul_f32")].concat());
    repo.git(&["add", "src/wait.rs"]);
    insta::assert_snapshot!(ask_both(&repo, &["check", "--staged"]), @"
    ## src/wait.rs
    - dead_end (lines 14-14, intact, backoff, touched at line 14, 0cb4034, 2 days): A seed for each client repeats itself.
    - gotcha (lines 6-19, changed, backoff, touched at line 14, 0cb4034, 2 days): The limit counts after the jitter.
    **Rely on what is changed:**
    - `src/user.rs — retry` on backoff: never waits longer than the limit (0.86, 0cb4034, 2 days)
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
}

#[test]
fn a_file_that_was_there_before_takes_code_in_and_passes_it_on() {
    let repo = backoff();
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.write("src/time.rs", "pub fn now() -> Instant {\n    Instant::now()\n}\n\n");
    repo.commit("wait: a second");
    is_not_told(&repo, "src/wait.rs", "SECOND");
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: backoff");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/pool.rs", POOL.replace("limit", "most"));
    repo.commit("pool: say what the limit is");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.write("src/time.rs", ["pub fn now() -> Instant {\n    Instant::now()\n}\n\n", BACKOFF].concat());
    repo.commit("time: backoff");
    is_told(&repo, "src/time.rs", "backoff", 7);
    is_not_told(&repo, "src/wait.rs", "SECOND");
    repo.git(&["mv", "src/time.rs", "src/clock.rs"]);
    repo.commit("clock: a better name");
    is_told(&repo, "src/clock.rs", "backoff", 7);
    repo.git(&["checkout", "--quiet", "HEAD~4"]);
    is_told(&repo, "src/pool.rs", "backoff", 20);
    is_not_told(&repo, "src/wait.rs", "SECOND");
}

#[test]
fn what_is_said_late_of_code_that_went_elsewhere_is_told_there() {
    let repo = without_lessons();
    let then = repo.git(&["rev-parse", "HEAD"]);
    annotate(&repo, &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/time.rs", HEAD_OF_WAIT);
    repo.commit("wait: a file of its own");
    // A table is made, and one more commit comes, to which a part leads.
    is_not_told(&repo, "src/wait.rs", "backoff");
    repo.write("src/time.rs", [HEAD_OF_WAIT, "const MINUTE: Duration = Duration::from_secs(60);\n"].concat());
    repo.commit("time: a minute");
    is_not_told(&repo, "src/wait.rs", "backoff");
    annotate_commit(&repo, then.trim(), &lessons());
    is_told(&repo, "src/wait.rs", "backoff", 7);
    is_not_told(&repo, "src/time.rs", "SECOND");
    repo.write("src/time.rs", HEAD_OF_WAIT);
    repo.commit("time: no minute");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    // Where the code is back, it is told there alone.
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("pool: backoff again");
    is_not_told(&repo, "src/wait.rs", "backoff");
    is_told(&repo, "src/pool.rs", "backoff", 20);
}

#[test]
fn code_that_was_just_annotated_takes_that_along_before_it_is_committed() {
    let repo = without_lessons();
    annotate(&repo, &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.commit("wait: a second");
    is_not_told(&repo, "src/pool.rs", "backoff");
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF, "\n"].concat());
    repo.commit("pool: a line at the end");
    annotate(&repo, &lessons());
    is_told(&repo, "src/pool.rs", "backoff", 20);
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    is_told(&repo, "src/wait.rs", "backoff", 7);
}

#[test]
fn code_that_was_cut_out_is_known_where_it_is_put_in_later() {
    for is_file_removed in [false, true] {
        let repo = backoff();
        repo.write("src/wait.rs", HEAD_OF_WAIT);
        match is_file_removed {
            true => drop(repo.git(&["rm", "--quiet", "src/pool.rs"])),
            false => repo.write("src/pool.rs", POOL),
        }
        repo.commit("pool: no backoff");
        is_not_told(&repo, "src/wait.rs", "SECOND");
        repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
        is_told(&repo, "src/wait.rs", "backoff", 7);
        repo.commit("wait: backoff");
        is_told(&repo, "src/wait.rs", "backoff", 7);
    }
}

#[test]
fn what_is_said_late_on_a_branch_is_told_where_the_code_went_on_the_other() {
    let repo = without_lessons();
    annotate(&repo, &json!({ "summary": "A pool keeps connections open" }));
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("src/side.rs", HEAD_OF_WAIT);
    repo.commit("side: a second");
    let side = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "-"]);
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: a file of its own");
    is_not_told(&repo, "src/wait.rs", "backoff");
    annotate_commit(&repo, side.trim(), &lessons());
    repo.git(&["merge", "--quiet", "--no-edit", "side"]);
    is_told(&repo, "src/wait.rs", "backoff", 7);
}

#[test]
fn a_late_lesson_on_a_commit_that_had_a_copy_is_told_of_neither() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/user.rs", "pub fn retry() {\n    sleep(backoff(0, SECOND, MINUTE));\n}\n");
    repo.commit("pool and wait: the same twice");
    let then = repo.git(&["rev-parse", "HEAD"]);
    annotate(&repo, &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: once is enough");
    is_not_told(&repo, "src/wait.rs", "backoff");
    annotate_commit(&repo, then.trim(), &lessons());
    is_not_told(&repo, "src/wait.rs", "backoff");
}

#[test]
fn a_copy_is_told_once_a_renamed_file_loses_the_code() {
    let repo = backoff();
    repo.git(&["mv", "src/pool.rs", "src/ring.rs"]);
    repo.commit("ring: a better name");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/ring.rs", [POOL, "\n", BACKOFF, "\nconst MOST: u32 = 60;\n"].concat());
    repo.commit("wait: copy backoff");
    is_not_told(&repo, "src/wait.rs", "backoff");
    repo.write("src/ring.rs", [POOL, "\nconst MOST: u32 = 60;\n"].concat());
    repo.commit("ring: backoff is elsewhere");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/ring.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("ring: back again");
    is_not_told(&repo, "src/wait.rs", "backoff");
}

#[test]
fn what_is_told_of_a_file_that_nobody_edited_does_not_depend_on_edits_elsewhere() {
    let repo = backoff();
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: copy backoff");
    is_not_told(&repo, "src/wait.rs", "backoff");
    repo.write("src/pool.rs", POOL);
    is_not_told(&repo, "src/wait.rs", "backoff");
    repo.commit("pool: backoff is elsewhere");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    is_told(&repo, "src/wait.rs", "backoff", 7);
    // Nor does it count that lines beside the code are edited.
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF, "\nconst MINUTE: u32 = 60;\n"].concat());
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("pool: back again");
    is_not_told(&repo, "src/wait.rs", "backoff");
}

#[test]
fn a_copy_is_no_move_until_the_other_is_gone() {
    let repo = backoff();
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: copy backoff");
    is_not_told(&repo, "src/wait.rs", "backoff");
    is_told(&repo, "src/pool.rs", "backoff", 20);
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: backoff is elsewhere");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.git(&["rm", "--quiet", "src/pool.rs"]);
    repo.commit("pool: away");
    is_told(&repo, "src/wait.rs", "backoff", 7);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("pool: back again");
    is_not_told(&repo, "src/wait.rs", "backoff");
}

#[test]
fn code_that_was_there_before_did_not_come() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("pool and wait: the same twice");
    annotate(
        &repo,
        &json!({ "summary": "All clients at once would bring the broker down again", "wisdom": [
            { "category": "gotcha", "content": "The limit counts after the jitter.", "file": "src/pool.rs", "anchor": "backoff" },
        ]}),
    );
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: once is enough");
    is_not_told(&repo, "src/wait.rs", "backoff");
}

#[test]
fn a_near_twin_may_stay_behind() {
    let repo = backoff();
    let twin = "pub fn slow_backoff(attempt: u32, base: Duration) -> Duration {\n    let factor = 3u32.saturating_pow(attempt);\n    let next = base.saturating_mul(factor);\n    let jitter = base.mul_f64(rand::random::<f64>());\n    next + jitter\n}\n";
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF, "\n", twin].concat());
    repo.commit("pool: a slower one");
    repo.write("src/pool.rs", [POOL, "\n", twin].concat());
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: a file of its own");
    is_told(&repo, "src/wait.rs", "backoff", 6);
}

#[test]
fn what_many_files_come_to_hold_moved_to_none_of_them() {
    let repo = backoff();
    repo.write("src/pool.rs", POOL);
    for number in 0..12 {
        repo.write(format!("src/wait_{number}.rs"), [HEAD_OF_WAIT, BACKOFF].concat());
    }
    repo.commit("wait: the same everywhere");
    is_not_told(&repo, "src/wait_3.rs", "backoff");
}

#[test]
fn a_note_keeps_what_code_is_known_by_in_another_file() {
    let repo = backoff();
    let note = note(&repo, "HEAD");
    let entry = |category: &str| {
        let entries = note["wisdom"].as_array().unwrap();
        entries.iter().find(|entry| entry["category"] == category).unwrap()
    };
    assert!(entry("gotcha")["sketch"].is_string() && entry("gotcha").get("around").is_none());
    let len = |key: &str| entry("dead_end")[key].as_str().map(str::len);
    assert!(len("sketch") < len("around"));
    assert!(entry("insight")["depends_on"][0]["sketch"].is_string());
    // Nobody who reads has to see it.
    let told = ask(&repo, &["read", "src/user.rs", "--format", "json"]);
    assert!(told.contains("never waits longer") && !told.contains("\"sketch\""), "{told}");
}

#[test]
fn the_file_that_code_left_says_where_it_went() {
    let repo = TestRepo::new();
    let (rest, retry) = (
        "def other(x):\n    return x + 1\n",
        "def retry(conn, attempts):\n    delay = backoff_base * attempts\n    conn.sleep(delay + jitter(conn))\n    return conn.session_handle()\n",
    );
    repo.write("a.py", [retry, "\n", rest].concat());
    repo.write("b.py", "import time\n");
    repo.commit("retry");
    annotate(
        &repo,
        &json!({ "summary": "Waits double since the broker bans clients that hurry", "wisdom": [
            { "category": "gotcha", "content": "The delay is in milliseconds here.", "file": "a.py", "lines": { "start": 1, "end": 4 } },
            { "category": "insight", "content": "One more of them would be one too many.", "file": "a.py", "lines": { "start": 6, "end": 7 } },
        ]}),
    );
    repo.write("a.py", rest);
    repo.write("b.py", ["import time\n\n", retry].concat());
    let commit = repo.commit("b: retry");
    repo.write("b.py", ["import time\nimport socket\n\n", retry].concat());
    repo.commit("b: import");
    let said = ask_both(&repo, &["read", "a.py"]);
    let went = format!("gone since {}, moved to b.py lines 4-7", &commit[..7]);
    assert!(said.contains(&went) && said.contains("lines 1-2, intact"), "{said}");
    let json: serde_json::Value =
        serde_json::from_str(&ask_both(&repo, &["read", "a.py", "--format=json"])).expect("it is JSON");
    let gone =
        json["wisdom"].as_array().expect("a list").iter().find(|item| item["state"] == "gone").expect("one");
    assert_eq!(gone["gone_because"], "moved");
    assert_eq!(gone["moved_to"], json!({ "file": "b.py", "lines": { "start": 4, "end": 7 } }));
    // In one answer it is shown once.
    let both = ask_both(&repo, &["read", "a.py", "b.py"]);
    assert_eq!(both.matches("The delay is in milliseconds").count(), 1, "{both}");
    // What went nowhere was deleted.
    repo.write("b.py", "import time\n");
    repo.commit("b: no retry");
    let said = ask_both(&repo, &["read", "a.py"]);
    assert!(said.contains("deleted") && !said.contains("moved"), "{said}");
}
