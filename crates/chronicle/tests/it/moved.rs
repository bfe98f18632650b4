//! Code that moves to another file keeps its lessons.

use serde_json::json;
use testkit::TestRepo;

use crate::asking::{annotate, known, repository};

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

/// All that is known of `backoff` where it is in `src/wait.rs`.
const IN_WAIT: &str = "\
item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
line, why: gotcha 5:10 Intact
summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
everywhere: src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
deps: src/user.rs retry: never waits longer than the limit
warning: this code moved here from `src/pool.rs`; its lessons are included";

/// A function with lessons, and one that relies on it.
fn backoff() -> TestRepo {
    let repo = without_lessons();
    annotate(&repo, "HEAD", &lessons());
    repo
}

/// The same before anything was recorded.
fn without_lessons() -> TestRepo {
    let repo = repository(&[]);
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

/// What is known of the function at each step of its way, or at the end alone.
fn renamed_moved_and_formatted(looks: bool) -> Vec<String> {
    let repo = backoff();
    let mut seen = Vec::new();
    let mut look = |file: &str, name: &str, line: Option<u32>| {
        if looks {
            seen.push(known(&repo, file, name, line));
        }
    };
    look("src/pool.rs", "backoff", Some(20));
    repo.write("src/pool.rs", [POOL, "\n", &BACKOFF.replace("backoff", "next_wait")].concat());
    repo.commit("pool: a better name");
    look("src/pool.rs", "next_wait", Some(20));
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, &BACKOFF.replace("backoff", "next_wait")].concat());
    look("src/wait.rs", "next_wait", None);
    repo.commit("wait: a file of its own");
    look("src/wait.rs", "next_wait", Some(6));
    repo.write("src/wait.rs", [HEAD_OF_WAIT, FORMATTED].concat());
    look("src/wait.rs", "next_wait", Some(10));
    repo.commit("wait: format");
    seen.push(known(&repo, "src/wait.rs", "next_wait", Some(10)));
    seen
}

#[test]
fn what_was_renamed_moved_and_formatted_is_found_at_each_step_and_at_the_end_alone() {
    let seen = renamed_moved_and_formatted(true);
    insta::assert_snapshot!(seen[0], @"
    item, file, history: gotcha 18:23 Intact, dead_end 21:21 Intact
    line, why: gotcha 18:23 Intact
    summary: src/pool.rs backoff 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
    insta::assert_snapshot!(seen[1], @"
    item, file, history: dead_end 21:21 Intact, gotcha 18:23 Changed
    line, why: gotcha 18:23 Changed
    summary: src/pool.rs next_wait 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs next_wait 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
    insta::assert_snapshot!(seen[2], @"
    item, file, history: dead_end 8:8 Intact, gotcha 5:10 Changed
    summary: src/wait.rs next_wait 5:10 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(seen[3], @"
    item, file, history: dead_end 8:8 Intact, gotcha 5:10 Changed
    line, why: gotcha 5:10 Changed
    summary: src/wait.rs next_wait 5:10 1 gotcha, 1 dead end
    everywhere: src/user.rs retry 1:5; src/wait.rs next_wait 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(seen[4], @"
    item, file, history: dead_end 14:14 Intact, gotcha 6:19 Changed
    line, why: gotcha 6:19 Changed
    summary: src/wait.rs next_wait 5:19 1 gotcha, 1 dead end
    everywhere: src/user.rs retry 1:5; src/wait.rs next_wait 5:19 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    assert_eq!(seen[5], seen[4]);
    assert_eq!(renamed_moved_and_formatted(false), seen[5..]);
}

#[test]
fn a_file_that_was_there_before_takes_code_in_and_passes_it_on() {
    let repo = backoff();
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.write("src/time.rs", "pub fn now() -> Instant {\n    Instant::now()\n}\n\n");
    repo.commit("wait: a second");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "SECOND", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: backoff");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.write("src/pool.rs", POOL.replace("limit", "most"));
    repo.commit("pool: say what the limit is");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.write("src/time.rs", ["pub fn now() -> Instant {\n    Instant::now()\n}\n\n", BACKOFF].concat());
    repo.commit("time: backoff");
    insta::assert_snapshot!(known(&repo, "src/time.rs", "backoff", Some(7)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/time.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/time.rs backoff 5:10 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "SECOND", None), @"everywhere: src/time.rs backoff 5:10 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    repo.git(&["mv", "src/time.rs", "src/clock.rs"]);
    repo.commit("clock: a better name");
    insta::assert_snapshot!(known(&repo, "src/clock.rs", "backoff", Some(7)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/clock.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/clock.rs backoff 5:10 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    repo.git(&["checkout", "--quiet", "HEAD~4"]);
    insta::assert_snapshot!(known(&repo, "src/pool.rs", "backoff", Some(20)), @"
    item, file, history: gotcha 18:23 Intact, dead_end 21:21 Intact
    line, why: gotcha 18:23 Intact
    summary: src/pool.rs backoff 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "SECOND", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
}

#[test]
fn what_is_said_late_of_code_that_went_elsewhere_is_told_there() {
    let repo = without_lessons();
    let then = repo.git(&["rev-parse", "HEAD"]);
    annotate(&repo, "HEAD", &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/time.rs", HEAD_OF_WAIT);
    repo.commit("wait: a file of its own");
    // A table is made, and one more commit comes, to which a part leads.
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"");
    repo.write("src/time.rs", [HEAD_OF_WAIT, "const MINUTE: Duration = Duration::from_secs(60);\n"].concat());
    repo.commit("time: a minute");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"");
    annotate(&repo, then.trim(), &lessons());
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    insta::assert_snapshot!(known(&repo, "src/time.rs", "SECOND", None), @"everywhere: src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end");
    repo.write("src/time.rs", HEAD_OF_WAIT);
    repo.commit("time: no minute");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    // Where the code is back, it is told there alone.
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("pool: backoff again");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    insta::assert_snapshot!(known(&repo, "src/pool.rs", "backoff", Some(20)), @"
    item, file, history: gotcha 18:23 Intact, dead_end 21:21 Intact
    line, why: gotcha 18:23 Intact
    summary: src/pool.rs backoff 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
}

#[test]
fn code_that_was_just_annotated_takes_that_along_before_it_is_committed() {
    let repo = without_lessons();
    annotate(&repo, "HEAD", &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    repo.commit("wait: a second");
    insta::assert_snapshot!(known(&repo, "src/pool.rs", "backoff", None), @"");
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF, "\n"].concat());
    repo.commit("pool: a line at the end");
    annotate(&repo, "HEAD", &lessons());
    insta::assert_snapshot!(known(&repo, "src/pool.rs", "backoff", Some(20)), @"
    item, file, history: gotcha 18:23 Intact, dead_end 21:21 Intact
    line, why: gotcha 18:23 Intact
    summary: src/pool.rs backoff 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs; src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
}

/// What is known of the function before it is pasted, before that is committed, and after.
fn cut_out_and_put_in_later(is_file_removed: bool) -> [String; 3] {
    let repo = backoff();
    repo.write("src/wait.rs", HEAD_OF_WAIT);
    match is_file_removed {
        true => drop(repo.git(&["rm", "--quiet", "src/pool.rs"])),
        false => repo.write("src/pool.rs", POOL),
    }
    repo.commit("pool: no backoff");
    let cut = known(&repo, "src/wait.rs", "SECOND", None);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    let pasted = known(&repo, "src/wait.rs", "backoff", Some(7));
    repo.commit("wait: backoff");
    [cut, pasted, known(&repo, "src/wait.rs", "backoff", Some(7))]
}

#[test]
fn code_that_was_cut_out_is_known_where_it_is_put_in_later() {
    let [cut, pasted, committed] = cut_out_and_put_in_later(false);
    insta::assert_snapshot!(cut, @"everywhere: src/pool.rs backoff 1 dead end; src/user.rs retry 1:5");
    insta::assert_snapshot!(pasted, @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    assert_eq!(committed, pasted);
}

#[test]
fn code_whose_file_was_removed_is_known_where_it_is_put_in_later() {
    let [cut, pasted, committed] = cut_out_and_put_in_later(true);
    insta::assert_snapshot!(cut, @"everywhere: src/user.rs retry 1:5");
    insta::assert_snapshot!(pasted, @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    assert_eq!(committed, pasted);
}

#[test]
fn what_is_said_late_on_a_branch_is_told_where_the_code_went_on_the_other() {
    let repo = without_lessons();
    annotate(&repo, "HEAD", &json!({ "summary": "A pool keeps connections open" }));
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("src/side.rs", HEAD_OF_WAIT);
    repo.commit("side: a second");
    let side = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "-"]);
    repo.write("src/pool.rs", POOL);
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: a file of its own");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"");
    annotate(&repo, side.trim(), &lessons());
    repo.git(&["merge", "--quiet", "--no-edit", "side"]);
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", Some(7)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/side.rs; src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
}

#[test]
fn a_late_lesson_on_a_commit_that_had_a_copy_is_told_of_neither() {
    let repo = repository(&[]);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/user.rs", "pub fn retry() {\n    sleep(backoff(0, SECOND, MINUTE));\n}\n");
    repo.commit("pool and wait: the same twice");
    let then = repo.git(&["rev-parse", "HEAD"]);
    annotate(&repo, "HEAD", &json!({ "summary": "A pool keeps connections open" }));
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: once is enough");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"");
    annotate(&repo, then.trim(), &lessons());
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 1 dead end; src/user.rs retry 1:3");
}

#[test]
fn a_copy_is_told_once_a_renamed_file_loses_the_code() {
    let repo = backoff();
    repo.git(&["mv", "src/pool.rs", "src/ring.rs"]);
    repo.commit("ring: a better name");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.write("src/ring.rs", [POOL, "\n", BACKOFF, "\nconst MOST: u32 = 60;\n"].concat());
    repo.commit("wait: copy backoff");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/ring.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    repo.write("src/ring.rs", [POOL, "\nconst MOST: u32 = 60;\n"].concat());
    repo.commit("ring: backoff is elsewhere");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.write("src/ring.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("ring: back again");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/ring.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
}

#[test]
fn what_is_told_of_a_file_that_nobody_edited_does_not_depend_on_edits_elsewhere() {
    let repo = backoff();
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: copy backoff");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    repo.write("src/pool.rs", POOL);
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 1 dead end; src/user.rs retry 1:5");
    repo.commit("pool: backoff is elsewhere");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", Some(7)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    // Nor does it count that lines beside the code are edited.
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF, "\nconst MINUTE: u32 = 60;\n"].concat());
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", Some(7)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("pool: back again");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
}

#[test]
fn a_copy_is_no_move_until_the_other_is_gone() {
    let repo = backoff();
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: copy backoff");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
    insta::assert_snapshot!(known(&repo, "src/pool.rs", "backoff", Some(20)), @"
    item, file, history: gotcha 18:23 Intact, dead_end 21:21 Intact
    line, why: gotcha 18:23 Intact
    summary: src/pool.rs backoff 18:23 1 gotcha, 1 dead end
    everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: backoff is elsewhere");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.git(&["rm", "--quiet", "src/pool.rs"]);
    repo.commit("pool: away");
    assert_eq!(known(&repo, "src/wait.rs", "backoff", Some(7)), IN_WAIT);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.commit("pool: back again");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"everywhere: src/pool.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5");
}

#[test]
fn code_that_was_there_before_did_not_come() {
    let repo = repository(&[]);
    repo.write("src/pool.rs", [POOL, "\n", BACKOFF].concat());
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("pool and wait: the same twice");
    annotate(
        &repo,
        "HEAD",
        &json!({ "summary": "All clients at once would bring the broker down again", "wisdom": [
            { "category": "gotcha", "content": "The limit counts after the jitter.", "file": "src/pool.rs", "anchor": "backoff" },
        ]}),
    );
    repo.write("src/pool.rs", POOL);
    repo.commit("pool: once is enough");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", None), @"");
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
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", Some(6)), @"
    item, file, history: gotcha 5:10 Intact, dead_end 8:8 Intact
    line, why: gotcha 5:10 Intact
    summary: src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    everywhere: src/pool.rs slow_backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5; src/wait.rs backoff 5:10 1 gotcha, 1 dead end
    deps: src/user.rs retry: never waits longer than the limit
    warning: this code moved here from `src/pool.rs`; its lessons are included
    ");
}

#[test]
fn what_many_files_come_to_hold_moved_to_none_of_them() {
    let repo = backoff();
    repo.write("src/pool.rs", POOL);
    for number in 0..12 {
        repo.write(format!("src/wait_{number}.rs"), [HEAD_OF_WAIT, BACKOFF].concat());
    }
    repo.commit("wait: the same everywhere");
    insta::assert_snapshot!(known(&repo, "src/wait_3.rs", "backoff", None), @"everywhere: src/pool.rs backoff 1 dead end; src/user.rs retry 1:5");
}

#[test]
fn code_that_was_edited_where_it_is_did_not_go_to_its_copies() {
    let repo = backoff();
    repo.git(&["mv", "src/pool.rs", "src/pools.rs"]);
    repo.commit("pools: there are several");
    repo.write("src/wait.rs", [HEAD_OF_WAIT, BACKOFF].concat());
    repo.commit("wait: the same once more");
    let edited = BACKOFF
        .replace("let factor = 2u32", "let factor = 3u32")
        .replace("base.saturating_mul", "base.checked_mul");
    repo.write("src/pools.rs", [POOL, "\n", &edited].concat());
    repo.commit("pools: wait longer yet");
    insta::assert_snapshot!(known(&repo, "src/wait.rs", "backoff", Some(5)), @"
    everywhere: src/pools.rs backoff 18:23 1 gotcha, 1 dead end; src/user.rs retry 1:5
    deps: src/user.rs retry: never waits longer than the limit
    ");
}
