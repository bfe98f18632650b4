//! What the repository knows as a whole: added, listed by scope, removed for good.

use std::{collections::BTreeSet, thread};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::ask,
    outcome::{binary, chronicle, note, refs, run},
};

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/web/page.rs", "fn page() {}\n");
    repo.write("src/git/refs.rs", "fn refs() {}\n");
    repo.commit("add them");
    repo
}

fn empty_tree(repo: &TestRepo) -> String {
    repo.git(&["hash-object", "-t", "tree", "/dev/null"])
}

/// What `git chronicle knowledge ARGS` answers in JSON.
fn knowledge(repo: &TestRepo, args: &[&str]) -> Value {
    chronicle(repo.path(), &[&["knowledge"], args, &["--format=json"]].concat()).success().json()
}

fn id(answer: &Value) -> String {
    answer["items"][0]["id"].as_str().expect("it has an id").to_owned()
}

/// The text with all ids of knowledge made alike.
fn without_ids(text: &str) -> String {
    let is_of_id = |letter: char| letter.is_ascii_alphanumeric();
    let mut out = String::new();
    let mut rest = text;
    while let Some((at, prefix)) =
        ["conv-", "bound-", "ap-"].iter().filter_map(|prefix| Some((rest.find(prefix)?, *prefix))).min()
    {
        let (before, after) = rest.split_at(at + prefix.len());
        out.push_str(before);
        out.push_str("ID");
        rest = after.trim_start_matches(is_of_id);
    }
    out + rest
}

#[test]
fn what_is_known_is_listed_by_scope_and_shown_by_read() {
    let repo = repo();
    let add = |args: &[&str]| ask(&repo, &[&["knowledge", "add"], args].concat());
    add(&["--rule", "Escape every string.", "--scope", "src/web/", "--stability", "permanent"]);
    add(&[
        "--module",
        "src/git",
        "--owns",
        "refs",
        "--boundary",
        "Nobody else opens a ref.",
        "--decided-in",
        "HEAD",
    ]);
    add(&["--type", "anti-pattern", "--pattern", "Retry in a loop", "--instead", "Use the backoff."]);
    insta::assert_snapshot!(without_ids(&ask(&repo, &["knowledge", "list"])), @"
    - convention (conv-ID, src/web/): Escape every string.
      - stability: permanent
    - boundary (bound-ID, src/git): owns refs; Nobody else opens a ref.
      - decided_in: 25441aaaefd8a2aab10f48ebd0e23921c68c8b14
    - anti-pattern (ap-ID): Retry in a loop Instead: Use the backoff.
    ");
    insta::assert_snapshot!(without_ids(&ask(&repo, &["knowledge", "list", "src/web/page.rs"])), @"
    - convention (conv-ID, src/web/): Escape every string.
      - stability: permanent
    - anti-pattern (ap-ID): Retry in a loop Instead: Use the backoff.
    ");
    insta::assert_snapshot!(without_ids(&ask(&repo, &["read", "src/git/refs.rs"])), @"
    **Knowledge:**
    - boundary (bound-ID, src/git): owns refs; Nobody else opens a ref.
      - decided_in: 25441aaaefd8a2aab10f48ebd0e23921c68c8b14
    - anti-pattern (ap-ID): Retry in a loop Instead: Use the backoff.
    ");
    let read = |no_index: bool| {
        let mut command = binary(repo.path(), &["read", "src/git/refs.rs", "--format=json"]);
        if no_index {
            command.env("CHRONICLE_NO_CACHE", "1");
        }
        run(&mut command).success().stdout
    };
    assert_eq!(read(false), read(true));
    let boundary = &knowledge(&repo, &["list", "src/git"])["items"][0];
    assert_eq!(boundary["decided_in"], json!(repo.git(&["rev-parse", "HEAD"])));
    let id = boundary["id"].as_str().unwrap();
    assert!(ask(&repo, &["knowledge", "show", id]).contains("Nobody else opens a ref."));
}

#[test]
fn the_same_is_added_once_however_it_is_spelt() {
    let repo = repo();
    let first = knowledge(&repo, &["add", "--rule", "Never block the UI thread.", "--scope", "src/"]);
    assert_eq!(first["changed"], json!(true));
    let before = refs(&repo);
    let again = knowledge(&repo, &["add", "--rule", "never  block the ui thread", "--scope", "./src"]);
    assert_eq!((&again["changed"], id(&again)), (&json!(false), id(&first)));
    assert_eq!(refs(&repo), before);
    let input = json!({ "summary": "A reason for the page", "knowledge": [{ "rule": "Never block the UI thread", "scope": "src" }] });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    assert_eq!(knowledge(&repo, &["list"])["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_was_removed_does_not_come_back_and_its_id_is_not_used_again() {
    let repo = repo();
    let first = id(&knowledge(&repo, &["add", "--rule", "Write tests."]));
    let with_it = repo.git(&["rev-parse", "refs/notes/chronicle"]);
    knowledge(&repo, &["remove", &first]);
    assert_eq!(knowledge(&repo, &["list"])["items"], json!([]));
    // Another clone still has it.
    repo.git(&["update-ref", "refs/notes/remotes/origin/chronicle", &with_it]);
    assert_eq!(knowledge(&repo, &["list"])["items"], json!([]));
    assert!(!chronicle(repo.path(), &["read", "src/git/refs.rs"]).success().stdout.contains("Write tests."));
    let second = id(&knowledge(&repo, &["add", "--rule", "Write tests."]));
    assert_ne!(first, second);
    assert_eq!(knowledge(&repo, &["list"])["items"].as_array().map(Vec::len), Some(1));
    chronicle(repo.path(), &["knowledge", "remove", &first]).refused(1, &[&first]);
}

#[test]
fn knowledge_of_released_tools_is_read_where_they_keep_it() {
    let repo = repo();
    let known = json!({ "schema": "chronicle/knowledge-v1", "conventions": [{ "id": "conv-1", "scope": "*", "rule": "Theirs.", "stability": "permanent" }] });
    // They misspell the empty tree.
    let blob = repo.beside("known");
    std::fs::write(&blob, known.to_string()).unwrap();
    let blob = repo.git(&["hash-object", "-w", &blob.to_string_lossy()]);
    repo.git(&["read-tree", "--empty"]);
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},4b825dc642cb6eb9a060e54bf899d15f13160d28"),
    ]);
    let tree = repo.git(&["write-tree"]);
    repo.git(&["reset", "--quiet"]);
    let commit = repo.git(&["commit-tree", "-m", "notes", &tree]);
    repo.git(&["update-ref", "refs/notes/chronicle", &commit]);
    assert_eq!(id(&knowledge(&repo, &["list"])), "conv-1");
    knowledge(&repo, &["add", "--rule", "Ours."]);
    let listed = |repo: &TestRepo| knowledge(repo, &["list"])["items"].as_array().map(Vec::len);
    assert_eq!(listed(&repo), Some(2));
    let read = ask(&repo, &["read", "src/git/refs.rs"]);
    assert!(read.contains("Theirs.") && read.contains("Ours."), "{read}");
    knowledge(&repo, &["remove", "conv-1"]);
    assert_eq!(listed(&repo), Some(1));
    assert!(!ask(&repo, &["read", "src/git/refs.rs"]).contains("Theirs."));
}

#[test]
fn what_cannot_be_read_is_kept_next_to_new_knowledge() {
    let repo = repo();
    knowledge(&repo, &["add", "--rule", "Never block"]);
    let tree = empty_tree(&repo);
    let junk = "{\"schema\":\"somebody/else\",\"words\":\"kept as they are\"}\n";
    let before = repo.note("chronicle", &tree);
    repo.put_note("chronicle", &tree, format!("{before}\n{junk}").as_bytes());
    knowledge(&repo, &["add", "--rule", "Close what you open"]);
    knowledge(&repo, &["add", "--rule", "Count alike"]);
    let listed = knowledge(&repo, &["list"]).to_string();
    for rule in ["Never block", "Close what you open", "Count alike"] {
        assert!(listed.contains(rule), "{listed}");
    }
    let parts = chronicle_core::read_note(repo.note("chronicle", &tree).as_bytes());
    let kept = parts.note.unread().any(|part| part.windows(16).any(|bytes| bytes == b"kept as they are"));
    assert!(kept, "{}", repo.note("chronicle", &tree));
}

#[test]
fn two_people_who_count_alike_lose_nothing() {
    let repo = repo();
    let of = |rule: &str| json!({ "schema": "chronicle/knowledge-v1", "conventions": [{ "id": "conv-1", "scope": "*", "rule": rule, "stability": "permanent" }] });
    repo.put_note("chronicle", &empty_tree(&repo), of("One.").to_string().as_bytes());
    repo.put_note("chronicle-knowledge", &empty_tree(&repo), of("Two.").to_string().as_bytes());
    let listed = knowledge(&repo, &["list"]).to_string();
    assert!(listed.contains("One.") && listed.contains("Two."), "{listed}");
    // Keys of the released format are written as they were.
    knowledge(&repo, &["add", "--rule", "Three."]);
    let stored = note(&repo, &empty_tree(&repo));
    assert_eq!(stored["schema"], json!("chronicle/knowledge-v1"));
    assert_eq!(stored["conventions"][1], of("One.")["conventions"][0]);
    assert_eq!(knowledge(&repo, &["remove", "conv-1"])["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(knowledge(&repo, &["list"])["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn bad_knowledge_is_refused_and_secrets_are_taken_out() {
    let repo = repo();
    let before = refs(&repo);
    let refused = |args: &[&str], code: i32, words: &[&str]| {
        chronicle(repo.path(), &[&["knowledge"], args].concat()).refused(code, words);
    };
    refused(&["add", "--rule", "  "], 2, &["empty"]);
    refused(&["add", "--module", "src"], 2, &["empty"]);
    refused(&["add", "--rule", "x", "--decided-in", "--output=x"], 1, &["--output=x"]);
    refused(&["add", "--rule", "x", "--type", "boundary"], 2, &["--type"]);
    refused(&["show", "conv-\u{1b}[2J"], 1, &["conv-"]);
    refused(&["remove", "conv-9"], 1, &["conv-9"]);
    refused(&["list", "../outside"], 1, &["outside"]);
    for args in [&["add"][..], &["add", "--rule", "x", "--pattern", "y"], &["add", "--scope", "x"], &[]] {
        assert_eq!(chronicle(repo.path(), &[&["knowledge"], args].concat()).code, Some(2), "{args:?}");
    }
    assert_eq!(refs(&repo), before);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).chars().take(36).collect::<String>());
    chronicle(repo.path(), &["knowledge", "add", "--rule", &format!("use {secret} \u{1b}[31m")])
        .success()
        .warns("secrets");
    let stored = repo.note("chronicle", &empty_tree(&repo));
    assert!(!stored.contains(&secret) && !stored.contains("u001b"), "{stored}");
}

#[test]
fn parallel_writers_lose_nothing() {
    let repo = repo();
    let worktree = repo.beside("worktree");
    repo.git(&["worktree", "add", "--quiet", "--detach", &worktree.to_string_lossy()]);
    let home = &testkit::user_data(repo.path());
    thread::scope(|scope| {
        for n in 0..24 {
            let directory = if n % 2 == 0 { repo.path() } else { worktree.as_path() };
            scope.spawn(move || {
                // Every rule is given twice, at about the same time.
                let rule = format!("Rule number {:02}.", n / 2);
                let mut add = binary(directory, &["knowledge", "add", "--rule", &rule]);
                run(add.env("CHRONICLE_HOME", home)).success();
            });
        }
    });
    let items = knowledge(&repo, &["list"])["items"].as_array().cloned().unwrap();
    let rules: BTreeSet<&str> = items.iter().filter_map(|item| item["rule"].as_str()).collect();
    let ids: BTreeSet<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    assert_eq!((items.len(), rules.len(), ids.len()), (12, 12, 12), "{items:#?}");
}
