//! Lessons as options of `annotate` and `commit`: what arrives, where it is put, what is refused.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle, entry, note};

const POOL: &str = "struct Pool {
    free: Vec<u32>,
}

impl Pool {
    fn acquire(&mut self) -> Option<u32> {
        self.free.pop()
    }
}
";

/// What shells and parsers read marks in.
const MARKS: &str =
    "`rm -rf {}` costs $X! It's \"quoted\", {\"a\": [1]} \\n <<'EOF'\nand has a second line: 100 % ünïcode";

/// A repository with a file that has items, and a second commit that changes it.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    repo.write("src/old.rs", "fn old() {}\n");
    repo.commit("pool: add it");
    repo.write("src/pool.rs", POOL.replace("free.pop()", "free.pop() // newest"));
    repo.git(&["rm", "-q", "src/old.rs"]);
    repo.commit("pool: hand out the newest");
    repo
}

fn annotate(repo: &TestRepo, args: &[&str]) -> Outcome {
    chronicle(repo.path(), &[&["annotate", "--summary", "A reason that is long enough"], args].concat())
}

fn wisdom(note: &Value) -> Vec<(&str, &str)> {
    let entries = note["wisdom"].as_array().expect("lessons");
    entries
        .iter()
        .map(|entry| {
            (entry["category"].as_str().unwrap_or_default(), entry["content"].as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn texts_arrive_as_they_are() {
    let repo = repo();
    let at = format!("src/pool.rs:7 {MARKS}");
    let on = format!("src/pool.rs:Pool::acquire {MARKS}");
    let args =
        ["annotate", "-m", MARKS, "--gotcha", &at, "--insight", MARKS, "--depends-on", &on, "--task", MARKS];
    chronicle(repo.path(), &args).success();
    let stored = note(&repo, "HEAD");
    assert_eq!((&stored["summary"], &stored["task"]), (&json!(MARKS), &json!(MARKS)));
    assert_eq!(wisdom(&stored), [("gotcha", MARKS), ("insight", MARKS), ("insight", on.as_str())]);
    let gotcha = &stored["wisdom"][0];
    assert_eq!((&gotcha["file"], &gotcha["lines"]), (&json!("src/pool.rs"), &json!({"start": 7, "end": 7})));
    let relied = &stored["wisdom"][2]["depends_on"][0];
    assert_eq!(relied["nature"], MARKS);
    assert_eq!((&relied["file"], &relied["anchor"]), (&json!("src/pool.rs"), &json!("Pool::acquire")));

    repo.write("src/pool.rs", POOL);
    let args = ["commit", "-qam", "pool: the oldest", "--why", MARKS, "--gotcha", &at, "--task", MARKS];
    chronicle(repo.path(), &args).success();
    let stored = note(&repo, "HEAD");
    assert_eq!((&stored["summary"], &stored["task"]), (&json!(MARKS), &json!(MARKS)));
    assert_eq!(wisdom(&stored), [("gotcha", MARKS)]);
    assert_eq!(stored.get("also"), None, "one thing was said");
}

#[test]
fn options_and_json_store_the_same() {
    let by_json = repo();
    let input = json!({"summary": "A reason that is long enough", "task": "POOL-7", "wisdom": [
        {"category": "dead_end", "content": "A thread of its own", "file": "src/pool.rs", "tags": ["a", "b"]},
        {"category": "gotcha", "content": "AKIAIOSFODNN7EXAMPLE is a key", "file": "src/pool.rs",
         "lines": {"start": 5, "end": 7}, "tags": ["a", "b"]}]});
    chronicle(by_json.path(), &["annotate", "--json", &input.to_string()]).success();
    let by_options = repo();
    let args = [
        "--dead-end",
        "src/pool.rs: A thread of its own",
        "--gotcha=src/pool.rs:5-7 AKIAIOSFODNN7EXAMPLE is a key",
        "--task=POOL-7",
        "--tags=a,b",
    ];
    annotate(&by_options, &args).success().warns("secrets were replaced");
    let comparable = |repo: &TestRepo| {
        let mut stored = note(repo, "HEAD");
        for key in ["timestamp", "commit", "change"] {
            stored.as_object_mut().expect("an object").shift_remove(key);
        }
        for entry in stored["wisdom"].as_array_mut().expect("lessons") {
            entry.as_object_mut().expect("an object").shift_remove("id");
        }
        stored
    };
    assert_eq!(comparable(&by_options), comparable(&by_json));
    assert!(
        comparable(&by_json)["wisdom"][1]["content"].as_str().is_some_and(|text| text.contains("[redacted:"))
    );
}

#[test]
fn a_place_is_what_comes_first_and_is_there() {
    let repo = repo();
    let check = |text: &str, expected: [Value; 4]| {
        annotate(&repo, &["--insight", text]).success();
        let stored = note(&repo, "HEAD");
        let last = stored["wisdom"].as_array().and_then(|all| all.last()).expect("a lesson").clone();
        let name = last["anchor"].get("name").cloned().unwrap_or_default();
        let found = [last["content"].clone(), last["file"].clone(), last["lines"].clone(), name];
        assert_eq!(found, expected, "{text}");
    };
    let lines = |start: u32, end: u32| json!({"start": start, "end": end});
    let acquire = || json!("Pool::acquire");
    let file = || json!("src/pool.rs");
    check("src/pool.rs:7 it pops", [json!("it pops"), file(), lines(7, 7), acquire()]);
    check("src/pool.rs:6-8 hyphen", [json!("hyphen"), file(), lines(6, 8), acquire()]);
    check("src/pool.rs:6:8 colon", [json!("colon"), file(), lines(6, 8), acquire()]);
    check("src/pool.rs:8: as compilers", [json!("as compilers"), file(), lines(8, 8), acquire()]);
    check("src/pool.rs:Pool::acquire\nby name", [json!("by name"), file(), lines(6, 8), acquire()]);
    check("./src/pool.rs:acquire:  short name", [json!("short name"), file(), lines(6, 8), acquire()]);
    // Only the file: the lines are those that the commit changed.
    check("src/pool.rs: all of it", [json!("all of it"), file(), lines(7, 7), acquire()]);
    // It was there before the commit.
    check("src/old.rs: taken out", [json!("taken out"), json!("src/old.rs"), Value::Null, Value::Null]);
    let alone = |text: &str| [json!(text), Value::Null, Value::Null, Value::Null];
    for text in
        ["Note: it pops", "https://a.b/c:80 is down", "src/pool.rs it pops", "src/pool.rs:7", "10:30 it ran"]
    {
        check(text, alone(text));
    }
}

#[test]
fn a_place_that_is_not_found_is_named_and_the_text_is_kept() {
    let repo = repo();
    annotate(&repo, &["--gotcha", "src/pool.rs:99 Far too far down"]).success().warns("has 9 lines");
    annotate(&repo, &["--gotcha", "src/pool.rs:8-3 The wrong way round"])
        .success()
        .warns("lines of `src/pool.rs`");
    annotate(&repo, &["--gotcha", "src/pool.rs:Pool::nix No such item"])
        .success()
        .warns("`Pool::nix` names nothing");
    annotate(&repo, &["--gotcha", "src/nix.rs:3 No such file"])
        .success()
        .warns("`src/nix.rs:3` isn't a file in commit");
    annotate(&repo, &["--depends-on", "nobody knows what this is"])
        .success()
        .warns("no code was found that `nobody knows what this is` names; the text was kept as an insight");
    annotate(&repo, &["--tags", "a"])
        .success()
        .warns("tags belong to lessons; without a lesson they were left out");
    let stored = note(&repo, "HEAD");
    for (words, file) in [
        ("Far too far down", json!("src/pool.rs")),
        ("The wrong way round", json!("src/pool.rs")),
        ("No such item", json!("src/pool.rs")),
        ("src/nix.rs:3 No such file", Value::Null),
        ("nobody knows", Value::Null),
    ] {
        assert_eq!(entry(&stored, words)["file"], file, "{words}");
    }
}

#[test]
fn lessons_keep_the_order_in_which_they_are_given() {
    let repo = repo();
    let args = [
        "--unfinished",
        "one of them",
        "--gotcha",
        "two of them",
        "--unfinished",
        "three of them",
        "--insight",
    ];
    annotate(&repo, &[&args[..], &["four of them", "--dead-end", "five of them"]].concat()).success();
    let expected = [
        ("unfinished_thread", "one of them"),
        ("gotcha", "two of them"),
        ("unfinished_thread", "three of them"),
        ("insight", "four of them"),
        ("dead_end", "five of them"),
    ];
    assert_eq!(wisdom(&note(&repo, "HEAD")), expected);
}

#[test]
fn paths_are_those_of_where_one_is() {
    let repo = repo();
    let text = "pool.rs:7 it pops the newest";
    chronicle(&repo.path().join("src"), &["annotate", "--why", "A reason", "--gotcha", text]).success();
    let text = "src/pool.rs:6 from the root";
    chronicle(&repo.path().join("src"), &["annotate", "--why", "A reason", "--gotcha", text]).success();
    let stored = note(&repo, "HEAD");
    for (words, line) in [("it pops", 7), ("from the root", 6)] {
        let entry = entry(&stored, words);
        assert_eq!((&entry["file"], &entry["lines"]["start"]), (&json!("src/pool.rs"), &json!(line)));
    }
}

#[test]
fn a_commit_is_named_by_its_place() {
    let repo = repo();
    annotate(&repo, &["HEAD~1", "--gotcha", "src/old.rs:1 It is there still"]).success();
    assert_eq!(entry(&note(&repo, "HEAD~1"), "there still")["lines"]["start"], 1);
    annotate(&repo, &["HEAD~1", "--commit", "HEAD"]).refused(2, &["cannot be used with"]);
    annotate(&repo, &["nothing"]).refused(1, &["unknown revision `nothing`"]);
    assert!(!repo.try_git(&["notes", "--ref=chronicle", "show", "HEAD"]).status.success());
}

#[test]
fn what_annotate_does_not_take_is_named() {
    let repo = repo();
    let refused = |args: &[&str], words: &[&str]| {
        drop(chronicle(repo.path(), &[&["annotate"], args].concat()).refused(2, words));
    };
    refused(&[], &["git chronicle annotate --summary 'WHY'"]);
    refused(&["--gotcha", "a trap"], &["`--gotcha` needs `--summary"]);
    refused(&["--depends-on", "a trap"], &["`--depends-on` needs `--summary"]);
    refused(&["--json", "{}", "--dead-end", "a"], &["`--dead-end` and JSON exclude each other"]);
    refused(&["--live", "--gotcha", "a"], &["`--gotcha` and JSON exclude each other"]);
    refused(&["--json", "{}", "--summary", "a"], &["'--json <JSON>' cannot be used with '--summary <WHY>'"]);
    refused(&["--summary", "x", "--comit", "HEAD"], &["unexpected argument '--comit'"]);
    refused(&["--summary", "x", "--replce-summary"], &["unexpected argument '--replce-summary'"]);
    refused(&["--edit"], &["an editor needs a terminal"]);
    refused(&["--agent", "--comit"], &["unexpected argument '--comit'"]);
    // A form that nobody filled in.
    let text = chronicle(repo.path(), &["annotate", "-m", "WHY THIS WAY"]);
    text.refused(1, &["your own words"]);
    annotate(&repo, &["--gotcha", "src/pool.rs:7 WHAT"]).refused(1, &["your own words"]);
    assert!(!repo.try_git(&["rev-parse", "--verify", "-q", "refs/notes/chronicle"]).status.success());
}

#[test]
fn a_commit_that_says_why_is_annotated_once_it_is_made() {
    let repo = repo();
    let head = |repo: &TestRepo| repo.git(&["rev-parse", "HEAD"]);
    let before = head(&repo);
    repo.write("src/pool.rs", format!("// All ids.\n{POOL}"));
    // What is refused is refused before git makes a commit of it.
    let form = ["commit", "-qam", "pool: say what", "--gotcha", "src/pool.rs:8 WHAT"];
    chronicle(repo.path(), &form).refused(1, &["your own words"]);
    chronicle(repo.path(), &["commit", "-qam", "x", "--gotcha"])
        .refused(2, &["a value is required for '--gotcha"]);
    assert_eq!(head(&repo), before);
    // Lines are those of the commit that is made; without a reason its subject is the summary.
    let args =
        ["commit", "-qam", "pool: say what", "--gotcha", "src/pool.rs:8 It pops the newest", "--tags", "a,b"];
    let outcome = chronicle(repo.path(), &args).success();
    assert!(!outcome.stderr.contains("warning"), "{outcome:#?}");
    let stored = note(&repo, "HEAD");
    assert_eq!(stored["summary"], "pool: say what");
    let gotcha = entry(&stored, "pops the newest");
    assert_eq!((&gotcha["lines"]["start"], &gotcha["anchor"]["name"]), (&json!(8), &json!("Pool::acquire")));
    assert_eq!(gotcha["tags"], json!(["a", "b"]));
    // With reasons in plain words, both are kept.
    repo.write("src/pool.rs", POOL);
    let args =
        ["commit", "-qam", "pool: say less", "--summary", "It was plain", "--reasoning", "Nobody read it"];
    chronicle(repo.path(), &args).success();
    let stored = note(&repo, "HEAD");
    assert_eq!(stored["summary"], "It was plain");
    assert_eq!(wisdom(&stored), [("insight", "Nobody read it")]);
    // Nothing to commit: nothing is stored, nothing waits, and that is said.
    let made = head(&repo);
    let outcome =
        chronicle(repo.path(), &["commit", "-qm", "empty", "--why", "There is no reason"]).failed(1);
    assert!(outcome.stderr.contains("there is no commit to store the reason"), "{outcome:#?}");
    assert_eq!(head(&repo), made);
    let waiting = chronicle(repo.path(), &["context", "show", "--format=json"]).success().json();
    assert_eq!(waiting["contexts"], json!([]));
}
