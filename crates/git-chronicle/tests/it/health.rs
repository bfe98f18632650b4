//! `status`, `doctor` and `gc`.

use std::{fs, time::SystemTime};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle};

fn ask(repo: &TestRepo, args: &[&str]) -> Outcome {
    chronicle(repo.path(), args)
}

fn annotate(repo: &TestRepo, commit: &str, lesson: &str) {
    let given = json!({ "summary": format!("Because of: {lesson}"), "wisdom": [{ "category": "gotcha", "content": lesson }] });
    ask(repo, &["annotate", "--json", &given.to_string(), "--commit", commit]).success();
}

fn findings(outcome: &Outcome, check: &str) -> Vec<Value> {
    let findings = outcome.json()["findings"].as_array().expect("there are findings").clone();
    findings.into_iter().filter(|finding| finding["check"] == check).collect()
}

#[test]
fn how_much_is_annotated() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", "fn acquire() {}\n");
    let first = repo.commit("pool");
    repo.write("docs/pool.md", "# Pool\n");
    repo.write("README.md", "# Pool\n");
    repo.commit("docs");
    annotate(&repo, &first, "Never block here.");
    ask(&repo, &["note", "still to be said"]).success();
    insta::assert_snapshot!(ask(&repo, &["status"]).success().stdout, @"
    1 of the 2 commits are annotated (50 %); 1 note in all
    newest annotated commit: c7dd46c

    ## By directory
    - .: 0 of 1 (0 %)
    - docs: 0 of 1 (0 %)
    - src: 1 of 1 (100 %)

    ## By author
    - Ada: 1 of 2 (50 %)

    ## To do
    - 1 remark is waiting for their commit
    ");
    let cut = ask(&repo, &["status", "--limit", "1", "--format", "json"]).success().json();
    assert_eq!((&cut["is_cut"], &cut["coverage"]["commits"]), (&json!(true), &json!(1)));
    let empty = TestRepo::new();
    ask(&empty, &["status"]).success();
}

#[test]
fn a_healthy_repository_has_no_problems() {
    let repo = TestRepo::new();
    let first = repo.commit("first");
    annotate(&repo, &first, "Never block here.");
    let outcome = ask(&repo, &["doctor"]).success();
    assert!(!outcome.stdout.contains("PROBLEM"), "{outcome:?}");
    assert!(outcome.stdout.contains("1 note, all readable"), "{outcome:?}");
}

#[test]
fn what_is_wrong_is_named_and_mended() {
    let repo = TestRepo::new();
    let first = repo.commit("first");
    annotate(&repo, &first, "Never block here.");
    repo.git(&["remote", "add", "origin", "/nowhere"]);
    repo.git(&[
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/notes/chronicle:refs/notes/remotes/origin/chronicle",
    ]);
    repo.git(&["config", "--add", "chronicle.sync.remotes", "gone"]);
    let lock = repo.path().join(".git/refs/notes/chronicle.lock");
    fs::write(&lock, "").expect("the git directory is writable");
    let file = fs::File::options().write(true).open(&lock).expect("it was just written");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("the time of an own file can be set");
    let sick = ask(&repo, &["doctor", "--format", "json"]);
    assert_eq!((sick.code, &sick.json()["problems"]), (Some(1), &json!(3)));
    for check in ["fetch", "sync", "locks"] {
        let found = findings(&sick, check);
        assert_eq!(found[0]["health"], "problem", "{check}");
        assert!(found[0]["mend"].is_string(), "{check}");
    }
    let text = ask(&repo, &["doctor"]);
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.contains("PROBLEM: fetch: `git fetch origin` fails"), "{text:?}");
    ask(&repo, &["doctor", "--fix"]).success();
    assert!(!lock.exists());
    assert_eq!(
        repo.git(&["config", "--get-all", "remote.origin.fetch"]).lines().last(),
        Some("+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*")
    );
    let remotes = repo.try_git(&["config", "--get-all", "chronicle.sync.remotes"]);
    assert_eq!(String::from_utf8_lossy(&remotes.stdout), "", "whom to trust is for the user to say");
    ask(&repo, &["doctor"]).success();
}

#[test]
fn hooks_that_are_missing_are_set_up_again() {
    let repo = TestRepo::new();
    repo.commit("first");
    assert_eq!(findings(&ask(&repo, &["doctor", "--format", "json"]), "hooks")[0]["health"], "note");
    ask(&repo, &["init"]).success();
    let hook = repo.path().join(".git/hooks/post-rewrite");
    if !hook.exists() {
        // This git keeps its hooks in the configuration.
        return;
    }
    fs::remove_file(&hook).unwrap();
    let sick = findings(&ask(&repo, &["doctor", "--format", "json"]), "hooks");
    assert_eq!(sick[0]["health"], "problem");
    assert!(sick[0]["seen"].as_str().unwrap().contains("post-rewrite"), "{sick:?}");
    ask(&repo, &["doctor", "--fix"]);
    assert!(hook.exists());
    // What no repair can reach: the binary of a test is on nobody's PATH.
    let left = findings(&ask(&repo, &["doctor", "--format", "json"]), "hooks");
    assert!(left.iter().all(|finding| finding["seen"].as_str().unwrap().contains("PATH")), "{left:?}");
}

#[test]
fn notes_whose_last_version_is_gone_go_back_to_the_one_before() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    let first = repo.commit("first");
    annotate(&repo, &first, "Never block here.");
    let good = repo.git(&["rev-parse", "refs/notes/chronicle"]).trim().to_owned();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    annotate(&repo, "HEAD", "Nor here.");
    let tip = repo.git(&["rev-parse", "refs/notes/chronicle"]).trim().to_owned();
    fs::remove_file(repo.path().join(".git/objects").join(&tip[..2]).join(&tip[2..])).unwrap();
    let sick = findings(&ask(&repo, &["doctor", "--format", "json"]), "notes");
    assert!(sick[0]["mend"].as_str().unwrap().contains(&format!("goes back to {good}")), "{sick:?}");
    ask(&repo, &["doctor", "--fix"]);
    assert_eq!(repo.git(&["rev-parse", "refs/notes/chronicle"]).trim(), good);
    assert!(ask(&repo, &["show", &first]).success().stdout.contains("Never block here."));
    annotate(&repo, "HEAD", "Nor here.");
}

#[test]
fn problems_that_only_a_person_can_mend_are_left_alone() {
    let repo = TestRepo::new();
    let first = repo.commit("first");
    annotate(&repo, &first, "Never block here.");
    repo.put_note("chronicle", &repo.git(&["rev-parse", "HEAD^{tree}"]), b"nobody can read this");
    let partly = ask(&repo, &["doctor", "--format", "json"]).success();
    assert_eq!(findings(&partly, "notes")[0]["health"], "note");
    let blob = repo.git(&["rev-parse", "refs/notes/chronicle"]);
    repo.git(&["update-ref", "refs/notes/chronicle", &repo.git(&["rev-parse", "HEAD^{tree}"])]);
    repo.git(&["config", "remote.origin.url", "/nowhere"]);
    repo.git(&["config", "remote.origin.push", "refs/notes/*:refs/notes/*"]);
    repo.git(&["config", "notes.rewriteRef", "refs/notes/*"]);
    let sick = ask(&repo, &["doctor", "--fix", "--format", "json"]);
    assert_eq!(sick.code, Some(1), "{sick:?}");
    assert_eq!(findings(&sick, "push")[0]["health"], "problem");
    assert_eq!(findings(&sick, "rewriting")[0]["health"], "note");
    assert_ne!(repo.git(&["rev-parse", "refs/notes/chronicle"]), blob);
    let nowhere = repo.beside("nowhere");
    fs::create_dir(&nowhere).expect("it is not there");
    let told = chronicle(&nowhere, &["doctor"]).success().stdout;
    assert!(told.contains("not in a git repository: only session memory is looked at"), "{told}");
}

#[test]
fn notes_of_rewritten_commits_are_tidied_away_once_they_are_carried() {
    let repo = TestRepo::new();
    repo.commit("first");
    repo.write("a.rs", "fn a() {}\n");
    let carried = repo.commit("carried");
    annotate(&repo, &carried, "This one was carried.");
    repo.git(&["commit", "--quiet", "--amend", "-m", "carried, amended"]);
    let amended = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["notes", "--ref=chronicle", "copy", &carried, &amended]);
    repo.write("b.rs", "fn b() {}\n");
    let given_up = repo.commit("given up");
    annotate(&repo, &given_up, "Nothing else says this.");
    repo.git(&["reset", "--quiet", "--hard", "HEAD~"]);
    let before = repo.git(&["rev-parse", "refs/notes/chronicle"]);

    let dry = ask(&repo, &["gc", "--dry-run", "--format", "json"]).success().json();
    assert_eq!(dry["carried"], json!([carried]));
    assert_eq!(dry["kept"], json!([given_up]));
    assert_eq!(repo.git(&["rev-parse", "refs/notes/chronicle"]), before);
    let done = ask(&repo, &["gc", "--format", "json"]).success().json();
    assert_eq!(done["removed"], 1);
    let left = repo.git(&["notes", "--ref=chronicle", "list"]);
    assert!(!left.contains(&carried) && left.contains(&amended) && left.contains(&given_up), "{left}");
    let backup = done["backup"].as_str().expect("there is a backup");
    let heads = repo.git(&["bundle", "list-heads", backup]);
    assert_eq!(heads, format!("{before} refs/notes/chronicle"));
    repo.git(&["fetch", "--quiet", backup, "+refs/notes/chronicle:refs/notes/again"]);
    assert_eq!(repo.git(&["rev-parse", "refs/notes/again"]), before);
    assert_eq!(ask(&repo, &["gc"]).success().stdout.lines().next(), Some("nothing to remove"));
    let status = ask(&repo, &["status", "--format", "json"]).success().json();
    assert_eq!((&status["orphans"], &status["orphans_carried"]), (&json!(1), &json!(0)));
}
