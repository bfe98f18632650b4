//! What commits that the history of HEAD does not have say there.

use std::path::Path;

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    outcome::{chronicle, contents},
    rewrites::{
        FIFO, HEADER, NEVER_BLOCK, POOL, amend, annotate, clone, collect_garbage, lesson, lines, read,
    },
};

const WILD: &str = "Two is a wild guess.";
const ALL: &str = "All of it is tried out.";

/// What is read about the pool: each lesson with its state and lines.
#[track_caller]
fn shown(directory: &Path) -> Vec<(String, Value, Value)> {
    let answer = read(directory, "pool.rs");
    let items = answer["wisdom"].as_array().expect("it is there").iter();
    let mut shown: Vec<_> = items
        .map(|one| {
            (
                one["content"].as_str().expect("it is there").to_owned(),
                one["state"].clone(),
                one["lines"].clone(),
            )
        })
        .collect();
    shown.sort_by(|left, right| left.0.cmp(&right.0));
    shown
}

/// A pool on main; on the branch wip a commit with lessons on a line that only it has, on a line that main has, too,
/// and on the whole file. Main is checked out.
fn with_work_of_another() -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    repo.git(&["checkout", "--quiet", "-b", "wip"]);
    repo.write("pool.rs", POOL.replace("wake_one();", "wake_several(2, &waiters);"));
    let commit = repo.commit("pool: wake two");
    let wisdom = [
        lesson(WILD, "pool.rs", Some((10, 10))),
        lesson(NEVER_BLOCK, "pool.rs", Some((3, 4))),
        lesson(ALL, "pool.rs", None),
    ];
    annotate(&repo, &commit, "Two, because one may be gone", &wisdom);
    repo.git(&["checkout", "--quiet", "main"]);
    (repo, commit)
}

/// Removes what nothing reaches, and the index, which may know it still.
fn forget(repo: &TestRepo) {
    collect_garbage(repo);
    std::fs::remove_dir_all(repo.path().join(".git/chronicle/facts")).expect("it is there");
}

#[test]
fn code_that_was_never_here_is_not_shown_as_gone() {
    let here = |state: &str| [(NEVER_BLOCK.to_owned(), json!(state), lines(3, 4))];
    let (repo, _) = with_work_of_another();
    assert_eq!(shown(repo.path()), [], "a branch has it");
    // The colleague did not push that branch: only its notes came.
    let other = clone(&repo, "other", &["--single-branch", "--branch", "main"]);
    assert_eq!(shown(&other), here("changed"), "its commit did not come");
    // Given up, and then removed.
    repo.git(&["branch", "--quiet", "-D", "wip"]);
    assert_eq!(shown(repo.path()), here("intact"), "nothing reaches it");
    forget(&repo);
    assert_eq!(shown(repo.path()), here("changed"), "nothing is left of it");
    repo.write("pool.rs", POOL.replace("    give_back(it);\n", ""));
    let check = chronicle(repo.path(), &["check"]).success();
    assert!(!check.stdout.contains(WILD), "{check:#?}");
    // Who brings the lines sees what was said of them.
    repo.write("pool.rs", POOL.replace("wake_one();", "wake_several(2, &waiters);"));
    let told: Vec<String> = shown(repo.path()).into_iter().map(|(content, ..)| content).collect();
    assert!(told.contains(&WILD.to_owned()), "{told:?}");
}

#[test]
fn who_asks_for_all_sees_what_never_was_on_this_branch() {
    let (repo, _) = with_work_of_another();
    let all = |directory: &Path| {
        let answer = chronicle(directory, &["read", "pool.rs", "--all", "--format", "json"]).success().json();
        let items = answer["wisdom"].as_array().expect("it is there").clone();
        let mut all: Vec<_> = items
            .iter()
            .map(|one| json!([one["content"], one["state"], one["gone_because"], one["elsewhere"]]))
            .collect();
        all.sort_by_key(Value::to_string);
        all
    };
    let wip = "refs/heads/wip";
    let expected = [
        json!([ALL, "gone", "not_on_this_branch", wip]),
        json!([NEVER_BLOCK, "intact", null, wip]),
        json!([WILD, "gone", "not_on_this_branch", wip]),
    ];
    assert_eq!(all(repo.path()), expected);
    let text = chronicle(repo.path(), &["read", "pool.rs", "--all"]).success().stdout;
    assert!(text.contains("gone, not on this branch"), "{text}");
    repo.git(&["checkout", "--quiet", "wip"]);
    repo.write("pool.rs", POOL);
    repo.commit("pool: wake one again");
    let text = chronicle(repo.path(), &["read", "pool.rs"]).success().stdout;
    assert!(text.contains(WILD) && !text.contains("not on this branch"), "it was here once: {text}");
}

#[test]
fn what_was_amended_on_another_branch_stays_there() {
    for is_stacked in [false, true] {
        let (repo, _) = with_work_of_another();
        repo.git(&["checkout", "--quiet", "wip"]);
        if is_stacked {
            repo.git(&["branch", "stacked"]);
        }
        repo.write("pool.rs", POOL.replace("wake_one();", "wake_several(2, &waiters);\n    log_it();"));
        amend(&repo);
        chronicle(repo.path(), &["reconcile"]).success();
        repo.git(&["checkout", "--quiet", "main"]);
        for _ in 0..2 {
            let told: Vec<String> = shown(repo.path()).into_iter().map(|(content, ..)| content).collect();
            assert!(!told.contains(&WILD.to_owned()) && !told.contains(&ALL.to_owned()), "{told:?}");
            forget(&repo);
        }
        repo.git(&["checkout", "--quiet", "wip"]);
        assert!(contents(&read(repo.path(), "pool.rs")).contains(&ALL.to_owned()), "{is_stacked}");
    }
}

#[test]
fn code_that_was_here_is_gone_and_what_is_unchanged_is_not() {
    // Only its message was amended, and nobody noticed.
    let repo = TestRepo::new();
    repo.write("other.rs", "fn other() {}\n");
    repo.commit("Begin");
    repo.write("pool.rs", format!("{POOL}{POOL}"));
    let commit = repo.commit("pool: add it");
    // One line that is there twice, and two lines that will go.
    let wisdom = [lesson(FIFO, "pool.rs", Some((5, 5))), lesson(NEVER_BLOCK, "pool.rs", Some((8, 10)))];
    annotate(&repo, &commit, "Callers queue", &wisdom);
    repo.git(&["commit", "--quiet", "--amend", "-m", "pool: add a pool"]);
    let there = [
        (NEVER_BLOCK.to_owned(), json!("intact"), lines(8, 10)),
        (FIFO.to_owned(), json!("intact"), lines(5, 5)),
    ];
    assert_eq!(shown(repo.path()), there);
    let fresh = clone(&repo, "fresh", &[]);
    assert_eq!(shown(&fresh), there, "in a clone that never had the commit");
    collect_garbage(&repo);
    assert_eq!(shown(repo.path()), there, "after gc");
    let release = "fn release() {\n    give_back(it);\n    wake_one();\n}\n";
    repo.write("pool.rs", format!("{HEADER}{POOL}{POOL}").replace(release, ""));
    repo.commit("pool: never release");
    let left = [
        (NEVER_BLOCK.to_owned(), json!("gone"), Value::Null),
        (FIFO.to_owned(), json!("intact"), lines(8, 8)),
    ];
    assert_eq!(shown(repo.path()), left, "after gc and a deletion");
    let later = clone(&repo, "later", &[]);
    assert_eq!(shown(&later), left, "in a clone made later");
}
