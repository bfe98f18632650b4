//! Words that are purged are in no version of the notes, and all other words stay.
//!
//! What is reachable is asked of git itself, object by object, so a reader of ours that hides too much cannot pass for
//! a purge.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chronicle::{AddKnowledge, FlagCommand, NewKnowledge};
use serde_json::{Value, json};
use testkit::TestRepo;

use crate::asking::{annotate, at_work, read, repository};

const WORDS: &str = "The vault opens with \"swordfish\" at noon.";
/// The part that JSON spells as it is.
const CORE: &str = "swordfish";

/// What is said of the pool without the words.
const LEFT: [&str; 2] = ["intent: A reason for the pool", "content: It stays."];

/// A pool with these lessons and another one.
fn pool(init: &[&str], contents: &[&str]) -> TestRepo {
    let repo = repository(init);
    repo.write("pool.rs", "fn acquire() {}\n");
    repo.commit("pool: add");
    let wisdom: Vec<Value> = contents.iter().chain(&["It stays."]).map(|content| lesson(content)).collect();
    annotate(&repo, "HEAD", &json!({ "summary": "A reason for the pool", "wisdom": wisdom }));
    repo
}

fn lesson(content: &str) -> Value {
    json!({ "category": "gotcha", "content": content, "file": "pool.rs" })
}

/// The id of what says `words`, in what a read answers.
fn id_of(repo: &TestRepo, words: &str) -> String {
    let reading = serde_json::to_value(read(repo, ".", None, None)).expect("it is plain data");
    let items = [&reading["wisdom"], &reading["regions"]].map(|items| items.as_array().expect("a list"));
    let mut items = items.into_iter().flatten();
    let item = items.find(|item| item.to_string().contains(words)).expect("something says it");
    item["id"].as_str().expect("it has an id").to_owned()
}

/// All that is said of the repository: each text in the order in which it is shown.
fn said(repo: &TestRepo) -> Vec<String> {
    let mut found = Vec::new();
    add_texts(&serde_json::to_value(read(repo, ".", None, None)).expect("it is plain data"), &mut found);
    found
}

fn add_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, found)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str() {
                    Some(text) if ["content", "intent", "reason", "rule", "text"].contains(&key.as_str()) => {
                        found.push(format!("{key}: {text}"));
                    }
                    _ => add_texts(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Whether a ref of ours reaches the words, or a file of ours holds them.
fn is_anywhere(repo: &TestRepo) -> bool {
    let objects = repo.git(&["rev-list", "--objects", "--glob=refs/notes"]);
    let mut objects = objects.lines().filter_map(|line| line.split(' ').next());
    let is_reachable = objects.any(|object| {
        let kind = repo.git(&["cat-file", "-t", object]);
        let content = repo.try_git(&["cat-file", &kind, object]).stdout;
        kind != "tree" && String::from_utf8_lossy(&content).contains(CORE)
    });
    is_reachable || is_in_files(&repo.path().join(".git/chronicle"))
}

fn is_in_files(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| is_in_files(&entry.path())),
        Err(_) => fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(CORE)),
    }
}

/// Purges `target`; the words are nowhere then, and all that is said is `expected`.
#[track_caller]
fn check(repo: &TestRepo, target: &str, expected: &[&str]) {
    assert!(is_anywhere(repo), "there is something to purge");
    let reply = at_work(repo, |chronicle| chronicle.purge(target, false)).expect("it can be purged");
    assert_eq!((reply.done, reply.left, reply.warnings), (true, Vec::new(), Vec::new()));
    assert!(!is_anywhere(repo), "`{CORE}` is still somewhere");
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    assert_eq!(said(repo), expected);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that lacks something says that it was skipped")]
fn a_lesson_is_purged_by_its_id_in_every_format_of_repositories() {
    for init in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
        let probe = TestRepo::new();
        if !probe.try_git(&[&["init", "--quiet"], init, &["probe"]].concat()).status.success() {
            eprintln!("skipped: this git does not know {init:?}");
            continue;
        }
        let repo = pool(init, &[WORDS]);
        check(&repo, &id_of(&repo, CORE), &LEFT);
    }
}

#[test]
fn a_region_of_a_released_tool_is_purged_from_all_its_refs() {
    let repo = pool(&[], &[]);
    let commit = repo.commit("second");
    let note = json!({ "schema": "chronicle/v1", "commit": commit, "timestamp": "2026-02-06T19:30:00Z",
        "summary": "Old", "regions": [{ "file": "pool.rs", "ast_anchor": { "unit_type": "function", "name": "acquire" },
        "lines": { "start": 1, "end": 1 }, "intent": "An intent", "constraints": [WORDS] }],
        "provenance": { "operation": "initial" } });
    for name in ["chronicle", "ultragit"] {
        repo.put_note(name, &commit, note.to_string().as_bytes());
    }
    let id = id_of(&repo, "An intent");
    check(&repo, &id, &LEFT);
}

#[test]
fn a_note_that_cannot_be_read_is_purged_with_its_commit() {
    let repo = pool(&[], &[]);
    let commit = repo.commit("second");
    repo.put_note("chronicle", &commit, format!("these are words: {WORDS}").as_bytes());
    check(&repo, &commit, &LEFT);
}

#[test]
fn a_commit_is_purged_whole_and_may_be_annotated_again() {
    let repo = pool(&[], &[WORDS]);
    repo.commit("second");
    annotate(
        &repo,
        "HEAD",
        &json!({ "summary": "Nothing to do with it", "wisdom": [lesson("Another one.")] }),
    );
    check(&repo, "HEAD~", &["content: Another one."]);
    annotate(
        &repo,
        "HEAD~",
        &json!({ "summary": "A new reason for the pool", "wisdom": [lesson("Something new.")] }),
    );
    let new = ["intent: A new reason for the pool", "content: Another one.", "content: Something new."];
    assert_eq!(said(&repo), new);
}

#[test]
fn knowledge_and_corrections_are_purged_by_their_ids() {
    let repo = pool(&[], &[]);
    let what = NewKnowledge::Convention { scope: "*".to_owned(), rule: WORDS.to_owned() };
    let command = AddKnowledge { what, decided_in: None, stability: None, learned_from: None };
    let rule = at_work(&repo, |chronicle| chronicle.add_knowledge(&command)).expect("it can be added");
    check(&repo, rule.items[0].id(), &LEFT);
    let path = PathBuf::from(id_of(&repo, "It stays"));
    let command = FlagCommand { path, anchor: None, reason: WORDS.to_owned(), all: false };
    let flagged = at_work(&repo, |chronicle| chronicle.flag(&command)).expect("it can be flagged");
    check(&repo, &flagged.corrections[0].id.0, &LEFT);
}

#[test]
fn what_cannot_be_purged_is_refused() {
    let repo = pool(&[], &[]);
    let silent = repo.commit("silent");
    let before = repo.git(&["for-each-ref"]);
    let check = |target: &str, expected: &str| {
        let refused =
            at_work(&repo, |chronicle| chronicle.purge(target, false)).expect_err("nothing to purge");
        assert_eq!(refused.to_string(), expected, "{target}");
    };
    check("01KZZZZZZZZZZZZZZZZZZZZZZZ", "no entry has the id `01KZZZZZZZZZZZZZZZZZZZZZZZ`");
    check("--force", "no entry has the id `--force`");
    check("01", "no entry has the id `01`");
    check("nonsense\u{1b}[2J", r"no entry has the id `nonsense\u{1b}[2J`");
    check("HEAD", &format!("nothing was ever stored on {silent}"));
    check(&"0".repeat(40), &format!("nothing was ever stored on {}", "0".repeat(40)));
    assert_eq!(repo.git(&["for-each-ref"]), before);
}
