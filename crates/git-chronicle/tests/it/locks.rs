//! Locks: what dead processes leave stops nobody; what living ones hold is waited for, and then named.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle};

/// A repository with a packed ref and one annotated commit.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn acquire() {}\n");
    repo.commit("pool: add acquire");
    repo.git(&["pack-refs", "--all"]);
    annotate(&repo, "Callers hold the lock of the pool.").success();
    repo
}

fn annotate(repo: &TestRepo, summary: &str) -> Outcome {
    chronicle(repo.path(), &["annotate", "--summary", summary])
}

fn in_git_dir(repo: &TestRepo, name: &str) -> PathBuf {
    repo.path().join(".git").join(name)
}

/// Writes a file as a process would that was killed right after.
fn leave(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("it is in the git directory")).expect("it is writable");
    fs::write(path, content).expect("the git directory is writable");
}

/// What is done before anybody could take a lock for an old one.
#[track_caller]
fn at_once<T>(done: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let value = done();
    assert!(started.elapsed() < Duration::from_secs(30), "it took {:?}", started.elapsed());
    value
}

#[test]
fn the_lock_of_a_writer_that_died_is_removed_at_once() {
    let repo = repo();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let lock = in_git_dir(&repo, "refs/notes/chronicle.lock");
    leave(&lock, &format!("{head}\n"));
    leave(&in_git_dir(&repo, "chronicle/write.lock"), &format!("refs/notes/chronicle {head}\n"));
    let outcome = at_once(|| annotate(&repo, "Never wait here.").success());
    assert!(outcome.stderr.contains("chronicle.lock"), "{outcome:?}");
    assert!(!lock.exists());
    repo.git(&["update-ref", "refs/notes/chronicle", "HEAD"]);
}

#[test]
fn the_lock_of_a_dead_writer_on_the_configuration_is_removed_at_once() {
    let repo = repo();
    let lock = in_git_dir(&repo, "config.lock");
    leave(&lock, "[chronicle]\n");
    let id = repo.git(&["hash-object", lock.to_str().expect("temporary paths are UTF-8")]);
    leave(&in_git_dir(&repo, "chronicle/write.lock"), &format!("config {id}\n"));
    at_once(|| chronicle(repo.path(), &["config", "set", "recencyHalfLife", "90"]).success());
    assert!(!lock.exists());
    assert_eq!(repo.git(&["config", "chronicle.recencyHalfLife"]), "90");
}

#[test]
fn the_lock_of_a_dead_push_on_a_fetched_ref_is_removed_at_once() {
    let repo = repo();
    let remote = repo.beside("remote.git");
    repo.git(&["init", "--quiet", "--bare", remote.to_str().expect("temporary paths are UTF-8")]);
    repo.git(&["remote", "add", "origin", remote.to_str().expect("temporary paths are UTF-8")]);
    let id = repo.git(&["rev-parse", "refs/notes/chronicle"]);
    let tracking = "refs/notes/remotes/origin/chronicle";
    let lock = in_git_dir(&repo, &format!("{tracking}.lock"));
    leave(&lock, &format!("{id}\n"));
    leave(&in_git_dir(&repo, "chronicle/sync.lock"), &format!("{tracking} {id}\n"));
    at_once(|| chronicle(repo.path(), &["sync", "push"]).success());
    assert!(!lock.exists());
    assert_eq!(repo.git(&["rev-parse", tracking]), id);
}

#[test]
fn a_lock_on_packed_refs_stops_no_writer() {
    let repo = repo();
    let lock = in_git_dir(&repo, "packed-refs.lock");
    leave(&lock, "");
    at_once(|| annotate(&repo, "Never wait here.").success());
    assert!(lock.exists(), "it is somebody else's");
    fs::remove_file(lock).expect("it is there");
    // A ref that was packed is swapped, too.
    repo.git(&["pack-refs", "--all"]);
    assert!(!in_git_dir(&repo, "refs/notes/chronicle").exists());
    annotate(&repo, "Never call back from here.").success();
    assert_eq!(repo.git(&["rev-list", "--count", "refs/notes/chronicle"]), "3");
    assert_eq!(repo.git(&["reflog", "show", "--format=%gs", "refs/notes/chronicle"]).lines().count(), 3);
}

#[test]
fn a_lock_that_someone_else_holds_is_named() {
    let repo = repo();
    let lock = in_git_dir(&repo, "refs/notes/chronicle.lock");
    leave(&lock, "");
    let outcome = at_once(|| annotate(&repo, "Never wait here."));
    assert_eq!(outcome.code, Some(1));
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert!(lines[0].starts_with("error: cannot update `refs/notes/chronicle`: another process holds `"));
    assert!(lines[0].contains(lock.to_str().expect("temporary paths are UTF-8")), "{outcome:?}");
    assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{outcome:?}");
    assert!(lock.exists());
    fs::remove_file(lock).expect("it is there");
    annotate(&repo, "Never wait here.").success();
}

#[test]
fn a_notes_ref_that_stands_for_another_is_followed() {
    let repo = repo();
    repo.git(&["update-ref", "refs/notes/real", "refs/notes/chronicle"]);
    repo.git(&["symbolic-ref", "refs/notes/chronicle", "refs/notes/real"]);
    annotate(&repo, "Never wait here.").success();
    assert_eq!(repo.git(&["symbolic-ref", "refs/notes/chronicle"]), "refs/notes/real");
    assert_eq!(repo.git(&["rev-list", "--count", "refs/notes/real"]), "2");
}
