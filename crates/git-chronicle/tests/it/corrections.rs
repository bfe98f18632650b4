//! Claims that turn out to be wrong: flagged, corrected, replaced, ended; by whom, and who sees it.

use std::{fs, thread};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::{annotate, ask, pool},
    outcome::{Outcome, binary, chronicle, entry, note, refs, run},
};

const CORRECTIONS: &str = "refs/notes/chronicle-corrections";

/// What `git chronicle ARGS` answers in JSON, the same with the index and without.
fn json_of(repo: &TestRepo, args: &[&str]) -> Value {
    let args = [args, &["--format=json"]].concat();
    let indexed = chronicle(repo.path(), &args).success();
    let direct = run(binary(repo.path(), &args).env("CHRONICLE_NO_CACHE", "1")).success();
    assert_eq!(indexed.stdout, direct.stdout, "{args:?}");
    assert_eq!(indexed.stderr, direct.stderr, "{args:?}");
    indexed.json()
}

fn read(repo: &TestRepo, path: &str) -> Value {
    json_of(repo, &["read", path])
}

/// The id of the lesson that says `content`.
fn id_of(repo: &TestRepo, content: &str) -> String {
    entry(&note(repo, "HEAD"), content)["id"].as_str().expect("it has an id").to_owned()
}

fn without_ids(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("- id: ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_flagged_lesson_shows_the_reason_and_is_trusted_half_as_far() {
    let repo = pool();
    let before = entry(&read(&repo, "src/pool.rs"), "lock-free")["confidence"].as_f64();
    insta::assert_snapshot!(without_ids(&ask(&repo, &["flag", "src/pool.rs", "Pool::release", "--reason", "It was faster in July."])), @"
    - dead_end (src/pool.rs, Pool::release, fef3554): A lock-free stack was slower below eight threads.
      - flagged by Ada, moments ago: It was faster in July.
    ");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "release"]), @"
    ## src/pool.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - insight (whole file, 0.88, fef3554, 2 days): One pool for each process is enough.
    - dead_end (lines 16-16, intact, Pool::release, 0.50, fef3554, 2 days, flagged): A lock-free stack was slower below eight threads.
      - flagged by Ada, moments ago: It was faster in July.

    **Cross-cutting:**
    - Ids are never zero (`src/pool.rs:Pool::release`, `src/ui.rs:draw`; fef3554)
    ");
    let reading = read(&repo, "src/pool.rs");
    let flagged = entry(&reading, "lock-free");
    assert_eq!(flagged["confidence"].as_f64(), before.map(|before| before / 2.0));
    let correction = &flagged["corrections"][0];
    assert_eq!((&correction["kind"], &correction["trust"]), (&json!("flag"), &json!("own")));
    assert_eq!(correction["reason"], json!("It was faster in July."));
    assert!(entry(&reading, "One pool")["corrections"].is_null());
}

#[test]
fn several_lessons_that_match_are_listed_and_nothing_is_changed() {
    let repo = pool();
    let before = refs(&repo);
    insta::assert_snapshot!(without_ids(&ask(&repo, &["flag", "src/pool.rs", "--reason", "No."])), @"
    - gotcha (src/pool.rs, Pool::acquire, fef3554): The UI thread calls this; it must never block.
    - dead_end (src/pool.rs, Pool::release, fef3554): A lock-free stack was slower below eight threads.
    - insight (src/pool.rs, fef3554): One pool for each process is enough.
    error: 3 lessons match, so nothing was changed
    hint: name one by its id
    [exit 1]
    ");
    insta::assert_snapshot!(without_ids(&ask(&repo, &["correct", "HEAD", "--field", "content", "--remove", "it"])), @"
    - gotcha (src/pool.rs, Pool::acquire, fef3554): The UI thread calls this; it must never block.
    - gotcha (src/ui.rs, draw, fef3554): Frames are dropped when this waits for an id.
    error: 2 lessons match, so nothing was changed
    hint: name one by its id
    [exit 1]
    ");
    let answer = chronicle(repo.path(), &["flag", "src/pool.rs", "--reason", "No.", "--format=json"]);
    assert_eq!((answer.code, answer.json()["changed"].clone()), (Some(1), json!(false)));
    assert_eq!(refs(&repo), before);
    chronicle(repo.path(), &["flag", "src/pool.rs", "--reason", "No.", "--all"]).success();
    let reading = read(&repo, "src/pool.rs");
    for lesson in reading["wisdom"].as_array().unwrap() {
        assert_eq!(lesson["corrections"][0]["kind"], json!("flag"), "{lesson}");
    }
    // What a commit says as a whole is not meant where lessons speak of the file.
    assert!(reading["regions"][0]["corrections"].is_null());
}

#[test]
fn a_lesson_is_flagged_by_its_id_or_the_beginning_of_it() {
    let repo = pool();
    let id = id_of(&repo, "One pool");
    chronicle(repo.path(), &["flag", &id, "--reason", "Two."]).success();
    chronicle(repo.path(), &["flag", &id[..25].to_lowercase(), "--reason", "Three."]).success();
    let reading = read(&repo, "src/pool.rs");
    let reasons: Vec<_> = entry(&reading, "One pool")["corrections"].as_array().unwrap().iter().collect();
    assert_eq!(reasons[0]["reason"], json!("Two."));
}

#[test]
fn without_a_field_the_text_is_corrected_and_the_new_one_is_shown() {
    let repo = pool();
    let amend =
        |id: &str, old: &str, new: &str| without_ids(&ask(&repo, &["correct", id, "--amend", old, new]));
    let id = id_of(&repo, "One pool");
    insta::assert_snapshot!(amend(&id, "One pool", "Two pools"), @"
    - insight (src/pool.rs, fef3554): Two pools for each process is enough.
      - content: a value was amended by Ada, moments ago (was: One pool; now: Two pools)
    ");
    // The first words that were there are meant; readers see both corrections.
    insta::assert_snapshot!(amend(&id, "is enough", "are enough"), @"
    - insight (src/pool.rs, fef3554): Two pools for each process are enough.
      - content: a value was amended by Ada, moments ago (was: is enough; now: are enough)
    ");
    assert_eq!(
        entry(&read(&repo, "src/pool.rs"), "Two pools")["content"],
        "Two pools for each process are enough."
    );
    insta::assert_snapshot!(amend("HEAD", "last in, first out", "in any order"), @"
    - summary (fef3554): Ids are reused in any order: the newest is warm in the cache
      - summary: a value was amended by Ada, moments ago (was: last in, first out; now: in any order)
    ");
    chronicle(repo.path(), &["correct", &id, "--remove", "nobody says this"])
        .refused(1, &["`--field` names another"]);
}

/// A commit with one code unit, its lessons and a summary.
fn unit() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn acquire() {\n    wait();\n}\n\nfn release() {\n}\n");
    repo.commit("pool: add");
    annotate(
        &repo,
        &json!({ "summary": "The pool waits because callers cannot retry",
            "regions": [{ "file": "pool.rs", "anchor": { "name": "acquire" }, "intent": "Wait for a slot",
                "constraints": ["Drain the queue first.", "Never block."],
                "semantic_dependencies": [{ "file": "ui.rs", "anchor": "draw", "nature": "draws once a frame" }] }],
            "wisdom": [{ "category": "gotcha", "content": "Never block in here, the UI calls it.", "file": "pool.rs", "anchor": "acquire" },
                { "category": "insight", "content": "Release is cheap.", "file": "pool.rs", "anchor": "release" }] }),
    );
    repo
}

#[test]
fn corrected_values_are_shown_corrected_by_every_reader() {
    let repo = unit();
    insta::assert_snapshot!(without_ids(&ask(&repo, &["correct", "HEAD", "--region", "acquire", "--path", "pool.rs", "--field", "constraints", "--remove", "Drain", "--reason", "Since v2 the order is free."])), @"
    - region (pool.rs, acquire, d0f8c20): Wait for a slot
      - constraints: a value was removed by Ada, moments ago (was: Drain the queue first.): Since v2 the order is free.
    ");
    let id = id_of(&repo, "Never block");
    ask(&repo, &["correct", &id, "--field", "content", "--amend", "Never block", "May block for 5 ms"]);
    insta::assert_snapshot!(ask(&repo, &["read", "pool.rs"]), @"
    ## pool.rs (lines 1-6)
    **Commit:** d0f8c20 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** The pool waits because callers cannot retry
    - insight (lines 5-6, intact, release, 1.00, d0f8c20, 2 days): Release is cheap.
    - gotcha (lines 1-3, intact, acquire, 0.50, d0f8c20, 2 days, corrected): May block for 5 ms in here, the UI calls it.
      - content: a value was amended by Ada, moments ago

    ## pool.rs — acquire (lines 1-3)
    **Commit:** d0f8c20 (2 days ago) | **Confidence:** 0.50 (enhanced, exact anchor) | corrected
    **Intent:** Wait for a slot
    **Constraints:**
    - Never block.
    **Depends on:**
    - `ui.rs — draw`: draws once a frame
    **Correction:** constraints: a value was removed by Ada, moments ago: Since v2 the order is free.
    ");
    for args in [
        vec!["read", "pool.rs"],
        vec!["read", "pool.rs", "--all"],
        vec!["read", "pool.rs", "--blame"],
        vec!["read", "--recent"],
        vec!["read", "pool.rs", "--category", "gotcha"],
        vec!["show"],
        vec!["history", "pool.rs"],
        vec!["summary", "pool.rs"],
        vec!["why", "pool.rs", "2"],
    ] {
        let answer = json_of(&repo, &args).to_string();
        assert!(!answer.contains("Drain the queue"), "{args:?} shows what was removed: {answer}");
        assert!(!answer.contains("Never block in here"), "{args:?} shows what was amended: {answer}");
        assert!(answer.contains("May block for 5 ms"), "{args:?} lacks what takes its place: {answer}");
        let text = ask(&repo, &args);
        assert!(
            text.contains("corrected") || text.contains("amended"),
            "{args:?} hides the correction: {text}"
        );
    }
    repo.write("pool.rs", "fn acquire() {\n    spin();\n}\n\nfn release() {\n}\n");
    let checked = json_of(&repo, &["check"]).to_string();
    assert!(checked.contains("May block for 5 ms") && !checked.contains("Never block in here"), "{checked}");
    for args in [vec!["read", "pool.rs", "--verbose"], vec!["show", "--verbose"]] {
        let answer = json_of(&repo, &args).to_string();
        for hidden in ["Drain the queue first.", "Never block in here", "May block for 5 ms"] {
            assert!(answer.contains(hidden), "{args:?} hides `{hidden}`: {answer}");
        }
    }
}

#[test]
fn a_summary_a_dependency_and_a_whole_lesson_can_be_taken_back() {
    let repo = unit();
    repo.write("ui.rs", "fn draw() {}\n");
    repo.commit("ui: draw");
    assert_eq!(json_of(&repo, &["deps", "ui.rs", "draw"])["dependents"][0]["strength"], json!("declared"));
    let correct = |field: &str, value: &str| {
        let args = ["correct", "HEAD~", "--field", field, "--remove", value];
        chronicle(repo.path(), &args).success();
    };
    correct("semantic_dependencies", "once a frame");
    correct("summary", "The pool waits because callers cannot retry");
    correct("content", "Release is cheap.");
    assert_eq!(json_of(&repo, &["deps", "ui.rs", "draw"])["dependents"], json!([]));
    assert!(read(&repo, "ui.rs")["dependencies_on_this"].as_array().unwrap().is_empty());
    insta::assert_snapshot!(ask(&repo, &["read", "pool.rs", "--anchor", "release"]), @"
    ## pool.rs (lines 1-6)
    **Commit:** d0f8c20 (2 days ago) | **Confidence:** 0.44 (enhanced, commit) | corrected
    **Intent:** [removed]
    **Correction:** summary: a value was removed by Ada, moments ago
    - insight (lines 5-6, intact, release, 0.50, d0f8c20, 2 days, corrected): [removed]
      - content: a value was removed by Ada, moments ago
    ");
}

#[test]
fn corrections_of_an_older_schema_count() {
    let repo = unit();
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let v1 = json!({ "schema": "chronicle/v1", "commit": commit, "timestamp": "2026-02-06T19:30:00Z", "summary": "Old",
        "context_level": "enhanced",
        "regions": [{ "file": "pool.rs", "ast_anchor": { "unit_type": "function", "name": "acquire" }, "lines": { "start": 1, "end": 3 },
            "intent": "An intent", "constraints": ["one", "two"],
            "corrections": [
                { "field": "region", "correction_type": "flag", "reason": "doubtful", "author": "Bo <bo@x>", "timestamp": "2026-02-07T00:00:00Z" },
                { "field": "constraints", "correction_type": "remove", "target_value": "one", "reason": "gone" }] }],
        "provenance": { "operation": "initial" } });
    repo.put_note("chronicle", &commit, v1.to_string().as_bytes());
    insta::assert_snapshot!(ask(&repo, &["read", "pool.rs", "--lines", "2:2"]), @"
    > ## pool.rs (lines 1-6)
    > **Commit:** d0f8c20 (3 weeks ago) | **Confidence:** 0.42 (enhanced, commit) | from someone unnamed, not yours: in refs/notes/chronicle
    > **Intent:** Old

    > ## pool.rs — acquire (lines 1-3)
    > **Commit:** d0f8c20 (3 weeks ago) | **Confidence:** 0.24 (enhanced, exact anchor) | from someone unnamed, not yours: in refs/notes/chronicle | corrected
    > **Intent:** An intent
    > **Constraints:**
    > - two
    > **Correction:** flagged by Bo <bo@x>, 3 weeks ago: doubtful
    > **Correction:** constraints: a value was removed: gone
    ");
    assert!(json_of(&repo, &["read", "pool.rs", "--verbose"]).to_string().contains("\"one\""));
}

#[test]
fn a_lesson_is_superseded_and_ended_by_hand() {
    let repo = pool();
    let (old, new) = (id_of(&repo, "lock-free"), id_of(&repo, "must never block"));
    chronicle(repo.path(), &["supersede", &old, &new]).success();
    let reading = read(&repo, "src/pool.rs");
    assert_eq!(entry(&reading, "lock-free")["superseded_by"], json!(new));
    // What supersedes itself, step by step, counts for nothing.
    chronicle(repo.path(), &["supersede", &new, &old]).success();
    let reading = read(&repo, "src/pool.rs");
    assert!(entry(&reading, "lock-free")["superseded_by"].is_null());
    chronicle(repo.path(), &["supersede", &new, &new]).refused(1, &["own place"]);
    chronicle(repo.path(), &["expire", &old]).success();
    chronicle(repo.path(), &["expire", &new, "--at", "2999-12-31"]).success();
    let reading = read(&repo, "src/pool.rs");
    assert_eq!(entry(&reading, "lock-free")["expired"], json!(true));
    assert!(entry(&reading, "must never block")["expired"].is_null());
    // An end is only ever brought forward.
    chronicle(repo.path(), &["expire", &new, "--at", "2000-01-01"]).success();
    chronicle(repo.path(), &["expire", &new, "--at", "2999-12-31"]).success();
    assert_eq!(entry(&note(&repo, "HEAD"), "must never block")["expires"], json!("2000-01-01T00:00:00Z"));
    chronicle(repo.path(), &["expire", &new, "--at", "tomorrow"]).refused(2, &["tomorrow"]);
}

#[test]
fn a_replacement_counts_only_where_its_commit_is_in_the_history() {
    let repo = pool();
    let old = id_of(&repo, "lock-free");
    repo.git(&["switch", "--quiet", "-c", "side"]);
    repo.write("src/pool.rs", "// changed\n");
    repo.commit("pool: rewrite");
    let json = json!({ "summary": "Another way to keep the ids", "wisdom": [{ "category": "insight", "content": "Locks are fine.", "file": "src/pool.rs" }] });
    chronicle(repo.path(), &["annotate", "--json", &json.to_string(), "--replace", &old]).success();
    assert!(entry(&read(&repo, "src/pool.rs"), "lock-free")["superseded_by"].is_string());
    repo.git(&["switch", "--quiet", "main"]);
    assert!(entry(&read(&repo, "src/pool.rs"), "lock-free")["superseded_by"].is_null());
}

/// What another clone wrote, fetched from the remote `origin` but not merged.
fn fetched(repo: &TestRepo, write: impl FnOnce(&TestRepo)) -> TestRepo {
    let other = TestRepo::new();
    other.git(&[
        "fetch",
        "--quiet",
        &repo.path().to_string_lossy(),
        "refs/*:refs/*",
        "--update-head-ok",
        "--force",
    ]);
    other.git(&["reset", "--quiet", "--hard"]);
    write(&other);
    let refspec = "+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*";
    repo.git(&["remote", "add", "origin", &other.path().to_string_lossy()]);
    repo.git(&["fetch", "--quiet", "origin", refspec]);
    other
}

#[test]
fn who_is_trusted_less_than_the_author_only_casts_doubt() {
    let repo = pool();
    let id = id_of(&repo, "must never block");
    let _other = fetched(&repo, |other| {
        let args = [
            "correct",
            &id,
            "--field",
            "content",
            "--remove",
            "The UI thread calls this; it must never block.",
        ];
        chronicle(other.path(), &args).success();
    });
    for (remotes, trust) in [(None, "unknown"), (Some("origin"), "team")] {
        // What the repository's configuration says decides nothing.
        repo.git(&["config", "chronicle.sync.remotes", "origin"]);
        if let Some(remote) = remotes {
            chronicle(repo.path(), &["sync", "enable", remote]).success();
            // What was fetched before it was trusted is fetched anew.
            repo.git(&["fetch", "--quiet", remote]);
        }
        let reading = read(&repo, "src/pool.rs");
        let correction = &entry(&reading, "must never block")["corrections"][0];
        assert_eq!((&correction["kind"], &correction["meant"]), (&json!("flag"), &json!("remove")));
        assert_eq!(correction["trust"], json!(trust));
    }
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "--lines", "9:10", "--category", "gotcha"]), @"
    ## src/pool.rs
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days, flagged): The UI thread calls this; it must never block.
      - flagged by Ada, moments ago, who is trusted too little to remove
    ");
    // In another clone nobody knows who wrote the lesson, so all count alike.
    let clone = TestRepo::new();
    clone.git(&[
        "fetch",
        "--quiet",
        &repo.path().to_string_lossy(),
        "refs/heads/*:refs/heads/*",
        "refs/notes/*:refs/notes/*",
        "--update-head-ok",
    ]);
    clone.git(&["reset", "--quiet", "--hard"]);
    assert!(!read(&clone, "src/pool.rs").to_string().contains("must never block"));
}

#[test]
fn a_fetched_replacement_of_an_own_lesson_only_casts_doubt() {
    let repo = pool();
    let id = id_of(&repo, "must never block");
    let other_id = std::cell::RefCell::new(String::new());
    fetched(&repo, |other| {
        let json = json!({ "summary": "Somebody else says something", "wisdom": [{ "category": "gotcha", "content": "It may block.", "file": "src/pool.rs" }] });
        chronicle(other.path(), &["annotate", "--json", &json.to_string(), "--replace", &id]).success();
        *other_id.borrow_mut() = id_of(other, "may block");
    });
    let reading = read(&repo, "src/pool.rs");
    let lesson = entry(&reading, "must never block");
    assert!(lesson["superseded_by"].is_null());
    assert!(lesson["corrections"][0]["reason"].as_str().unwrap().contains(&*other_id.borrow()), "{lesson}");
    // The owner may agree.
    let again = chronicle(repo.path(), &["supersede", &id, &id_of(&repo, "One pool")]).success();
    assert!(again.stderr.is_empty());
    assert!(entry(&read(&repo, "src/pool.rs"), "must never block")["superseded_by"].is_string());
}

#[test]
fn corrections_follow_their_claim_through_a_rewrite() {
    let repo = pool();
    let id = id_of(&repo, "One pool");
    chronicle(repo.path(), &["flag", &id, "--reason", "Two, since the fork."]).success();
    let old = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["commit", "--quiet", "--amend", "-m", "pool: hand out ids, again"]);
    repo.git(&["notes", "--ref=chronicle", "copy", &old, "HEAD"]);
    let reading = read(&repo, "src/pool.rs");
    assert_eq!(entry(&reading, "One pool")["corrections"][0]["reason"], json!("Two, since the fork."));
}

#[test]
fn secrets_and_escapes_are_gone_before_a_correction_is_stored() {
    let repo = pool();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).chars().take(36).collect::<String>());
    let reason = format!("see \u{1b}[31m{secret}");
    let id = id_of(&repo, "One pool");
    chronicle(repo.path(), &["flag", &id, "--reason", &reason]).success().warns("secrets");
    let amend = ["correct", &id, "--field", "content", "--amend", "One pool", &secret, "--reason", &reason];
    chronicle(repo.path(), &amend).success().warns("secrets");
    let stored = repo.git(&["log", "-p", CORRECTIONS]);
    assert!(
        !stored.contains(&secret) && !stored.contains('\u{1b}') && stored.contains("[redacted:"),
        "{stored}"
    );
}

#[test]
fn bad_arguments_are_refused() {
    let repo = pool();
    let before = refs(&repo);
    let refused = |args: &[&str], code: i32, words: &[&str]| {
        chronicle(repo.path(), args).refused(code, words);
    };
    refused(&["flag", "no/such/file", "--reason", "x"], 1, &["no/such/file"]);
    let id = "01KZZZZZZZZZZZZZZZZZZZZZZZ";
    refused(&["flag", id, "--reason", "x"], 1, &["no entry has the id `01KZZZ"]);
    refused(&["flag", "src/pool.rs", "nothing", "--reason", "x"], 1, &["nothing"]);
    refused(&["flag", "src/pool.rs", "--reason", " \n"], 2, &["reason"]);
    refused(
        &["correct", "01KZZZZZZZZZZZZZZZZZZZZZZZ", "--field", "content", "--remove", "x"],
        1,
        &["01KZZZ"],
    );
    refused(&["correct", "--upload-pack=x", "--field", "content", "--remove", "x"], 1, &["--upload-pack=x"]);
    refused(&["correct", "HEAD", "--field", "colour", "--remove", "x"], 1, &["colour", "content"]);
    refused(&["correct", "HEAD", "--field", "content", "--remove", "nobody says this"], 1, &["content"]);
    refused(
        &["correct", "HEAD", "--path", "other.rs", "--field", "content", "--remove", "it"],
        1,
        &["no claim"],
    );
    refused(&["correct", "HEAD", "--field", "content", "--remove", ""], 2, &["empty"]);
    refused(&["correct", "HEAD", "--field", "content", "--amend", "One pool", ""], 2, &["empty"]);
    refused(&["expire", "nonsense\u{1b}[2J"], 1, &["nonsense"]);
    refused(&["supersede", "nonsense", "more"], 1, &["nonsense"]);
    let both = ["correct", "HEAD", "--field", "content", "--remove", "a", "--amend", "a", "b"];
    assert_eq!(chronicle(repo.path(), &both).code, Some(2));
    assert_eq!(refs(&repo), before);
    let answer = chronicle(repo.path(), &["correct", "HEAD", "--field=x", "--remove=y", "--format=json"]);
    assert_eq!(answer.json_error(), "no_claim");
}

#[test]
fn a_hostile_corrections_ref_is_passed_over_with_a_warning() {
    let repo = pool();
    let id = id_of(&repo, "One pool");
    chronicle(repo.path(), &["flag", &id, "--reason", "Two."]).success();
    let own = repo.git(&["notes", "--ref=chronicle-corrections", "show", "HEAD"]);
    let deep = format!(
        "{{\"id\":\"D\",\"entry\":\"{id}\",\"kind\":\"flag\",\"reason\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let escape = format!(
        "{{\"id\":\"E\",\"entry\":\"{id}\",\"kind\":\"flag\",\"reason\":\"\\u001b[2Jgone\",\"timestamp\":\"x\",\"author\":\"\\u001b[31mEve\"}}"
    );
    let big = format!(
        "{{\"id\":\"B\",\"entry\":\"{id}\",\"kind\":\"flag\",\"reason\":\"{}\"}}",
        "b".repeat(2 << 20)
    );
    let note = format!("{own}\n{deep}\nnot json\n{escape}\n{big}\n\u{0}\u{1}\n");
    repo.put_note("chronicle-corrections", "HEAD", note.as_bytes());
    let said = ask(&repo, &["read", "src/pool.rs"]);
    assert!(said.contains("Two.") && said.contains("4 lines") && said.len() < 10_000, "{said}");
    read(&repo, "src/pool.rs");
    // A writer adds to it, and keeps what it cannot read.
    chronicle(repo.path(), &["flag", &id, "--reason", "Three."]).success();
    let stored = repo.git(&["notes", "--ref=chronicle-corrections", "show", "HEAD"]);
    assert!(stored.contains("not json") && stored.contains(&deep) && stored.contains("Three."));
}

#[test]
fn fifty_megabytes_of_flags_are_read_and_few_are_shown() {
    let repo = pool();
    let id = id_of(&repo, "One pool");
    let line = |n: usize| {
        format!(
            "{{\"id\":\"F{n}\",\"entry\":\"{id}\",\"kind\":\"flag\",\"reason\":\"{}\",\"timestamp\":\"2026-01-01T00:00:00Z\"}}\n",
            "spam ".repeat(100)
        )
    };
    let note: String = (0..80_000).map(line).collect();
    assert!(50_000_000 / 2 < note.len());
    repo.put_note("chronicle-corrections", "HEAD", note.as_bytes());
    let said = ask(&repo, &["read", "src/pool.rs"]);
    assert_eq!(said.matches("flagged").count(), 4, "the mark, and 3 reasons");
    chronicle(repo.path(), &["flag", &id, "--reason", "My own."]).success();
    assert!(ask(&repo, &["read", "src/pool.rs"]).contains("My own."));
}

#[test]
fn a_corrections_ref_that_is_none_is_passed_over() {
    let repo = pool();
    let blob = repo.git(&["hash-object", "-w", "src/pool.rs"]);
    repo.git(&["update-ref", CORRECTIONS, &blob]);
    let outcome = chronicle(repo.path(), &["read", "src/pool.rs"]).success().warns(CORRECTIONS);
    assert!(outcome.stdout.contains("One pool"));
    chronicle(repo.path(), &["flag", &id_of(&repo, "One pool"), "--reason", "x"]).refused(1, &[CORRECTIONS]);
}

#[cfg(unix)]
#[test]
fn a_repository_that_cannot_be_written_keeps_everything() {
    use std::os::unix::fs::PermissionsExt;
    let repo = pool();
    let before = refs(&repo);
    let id = id_of(&repo, "One pool");
    let set = |mode: u32| {
        for path in [".git", ".git/refs/notes", ".git/objects", ".git/chronicle"] {
            fs::set_permissions(repo.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    let is_root = fs::write(repo.path().join(".git/probe"), "").is_ok();
    let outcome = chronicle(repo.path(), &["flag", &id, "--reason", "x"]);
    set(0o755);
    if is_root {
        return crate::outcome::skip("root may write everywhere");
    }
    outcome.refused(1, &[]);
    assert_eq!(refs(&repo), before);
}

#[test]
fn parallel_writers_of_all_kinds_lose_nothing() {
    let repo = pool();
    let ids: Vec<String> =
        ["must never block", "lock-free", "One pool"].iter().map(|text| id_of(&repo, text)).collect();
    let worktrees: Vec<_> = (0..3).map(|n| repo.beside(&format!("worktree-{n}"))).collect();
    for worktree in &worktrees {
        repo.git(&["worktree", "add", "--quiet", "--detach", &worktree.to_string_lossy()]);
    }
    let write = |n: usize| -> Outcome {
        let directory = &worktrees[n % 3];
        let reason = format!("reason {n:03}");
        let amended = format!("value {n:03}");
        let json = json!({ "summary": format!("Reason {n:03} for the pool"),
            "wisdom": [{ "category": "insight", "content": format!("lesson {n:03}"), "file": "src/pool.rs" }] }).to_string();
        let args: Vec<&str> = match n % 3 {
            0 => vec!["flag", &ids[n % 2], "--reason", &reason],
            1 => vec!["correct", &ids[2], "--field", "content", "--amend", "One pool", &amended],
            _ => vec!["annotate", "--json", &json],
        };
        chronicle(directory, &args)
    };
    thread::scope(|scope| {
        for share in 0..12 {
            scope.spawn(move || (0..60).filter(|n| n % 12 == share).for_each(|n| drop(write(n).success())));
        }
    });
    let stored = repo.git(&["notes", "--ref=chronicle-corrections", "show", "HEAD"]);
    assert_eq!(stored.lines().count(), 40);
    let contents = note(&repo, "HEAD").to_string();
    for n in 0..60 {
        let (text, place) = match n % 3 {
            0 => (format!("reason {n:03}"), &stored),
            1 => (format!("value {n:03}"), &stored),
            _ => (format!("lesson {n:03}"), &contents),
        };
        assert!(place.contains(&text), "`{text}` is lost");
    }
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
}

#[test]
fn a_killed_writer_leaves_the_corrections_whole() {
    use std::process::Stdio;
    let repo = pool();
    let id = id_of(&repo, "One pool");
    for n in 0..30_u32 {
        let reason = format!("reason {n:03}");
        let mut command = binary(repo.path(), &["flag", &id, "--reason", &reason]);
        // A writer of another ref must not forget whose lock was left.
        chronicle(repo.path(), &["knowledge", "add", "--rule", &reason]).success();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let born = std::time::Instant::now();
        while born.elapsed() < std::time::Duration::from_micros(u64::from(n) * 700) {
            thread::yield_now();
        }
        let _gone = child.kill();
        child.wait().unwrap();
        let stored = repo.try_git(&["notes", "--ref=chronicle-corrections", "show", "HEAD"]);
        for line in String::from_utf8_lossy(&stored.stdout).lines() {
            serde_json::from_str::<Value>(line).expect("each line is whole");
        }
    }
    chronicle(repo.path(), &["flag", &id, "--reason", "the last"]).success();
    assert!(ask(&repo, &["read", "src/pool.rs"]).contains("the last"));
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
}
