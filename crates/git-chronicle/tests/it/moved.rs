//! Code that moved to another file, as the commands show it. Which code counts as moved is tested in `chronicle`.

use serde_json::json;
use testkit::TestRepo;

use crate::{
    asking::{annotate, ask, ask_both},
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
    let repo = TestRepo::new();
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write(
        "src/user.rs",
        "pub fn retry() {\n    for attempt in 0..5 {\n        sleep(backoff(attempt, SECOND, MINUTE));\n    }\n}\n",
    );
    repo.commit("pool: wait longer each time");
    annotate(
        &repo,
        &json!({ "summary": "All clients at once would bring the broker down again", "wisdom": [
            { "category": "gotcha", "content": "The limit counts after the jitter.", "file": "src/pool.rs", "anchor": "backoff" },
            { "category": "dead_end", "content": "A seed for each client repeats itself.", "file": "src/pool.rs", "lines": { "start": 21, "end": 21 } },
            { "category": "insight", "content": "Five tries stay within the limit.", "file": "src/user.rs", "anchor": "retry",
              "depends_on": [{ "file": "src/pool.rs", "anchor": "backoff", "nature": "never waits longer than the limit" }] },
        ]}),
    );
    repo
}

#[test]
fn what_was_renamed_moved_and_formatted_is_shown_by_every_command() {
    let repo = backoff();
    repo.write("src/pool.rs", [POOL, "\n", &BACKOFF.replace("backoff", "next_wait")].concat());
    repo.commit("pool: a better name");
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, &BACKOFF.replace("backoff", "next_wait")].concat());
    repo.commit("wait: a file of its own");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, FORMATTED].concat());
    repo.commit("wait: format");
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
    repo.commit("b: retry");
    repo.write("b.py", ["import time\nimport socket\n\n", retry].concat());
    repo.commit("b: import");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py"]), @"
    ## a.py
    **Commit:** 4d0bef7 (2 days ago, 1 commit since) | **Confidence:** 0.86 (enhanced, gone) | gone, rewritten
    **Intent:** Waits double since the broker bans clients that hurry
    - insight (lines 1-2, intact, other, 1.00, 4d0bef7, 2 days, 1 commit since): One more of them would be one too many.
    - gotcha (gone since 6be304c, moved to b.py lines 4-7, retry, 0.86, 4d0bef7, 2 days, 1 commit since): The delay is in milliseconds here.
    ");
    let json: serde_json::Value =
        serde_json::from_str(&ask_both(&repo, &["read", "a.py", "--format=json"])).expect("it is JSON");
    let gone =
        json["wisdom"].as_array().expect("a list").iter().find(|item| item["state"] == "gone").expect("one");
    assert_eq!(gone["gone_because"], "moved");
    assert_eq!(gone["moved_to"], json!({ "file": "b.py", "lines": { "start": 4, "end": 7 } }));
    // In one answer it is shown once.
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py", "b.py"]), @"
    ## The commit
    **Commit:** 4d0bef7 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Waits double since the broker bans clients that hurry

    ## a.py
    - insight (lines 1-2, intact, other, 1.00, 4d0bef7, 2 days, 1 commit since): One more of them would be one too many.

    ## b.py
    - gotcha (lines 4-7, intact, retry, 1.00, 4d0bef7, 2 days, 2 commits since): The delay is in milliseconds here.
    warning: this code moved here from `a.py`; its lessons are included
    ");
    // What went nowhere was deleted.
    repo.write("b.py", "import time\n");
    repo.commit("b: no retry");
    insta::assert_snapshot!(ask_both(&repo, &["read", "a.py"]), @"
    ## a.py
    **Commit:** 4d0bef7 (2 days ago, 1 commit since) | **Confidence:** 0.86 (enhanced, gone) | gone, rewritten
    **Intent:** Waits double since the broker bans clients that hurry
    - insight (lines 1-2, intact, other, 1.00, 4d0bef7, 2 days, 1 commit since): One more of them would be one too many.
    - gotcha (gone since 6be304c, deleted, retry, 0.86, 4d0bef7, 2 days, 1 commit since): The delay is in milliseconds here.
    ");
}
