//! Why lines are as they are.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::asking::{POOL, annotate, ask, ask_both, pool};

/// The pool, changed by a second commit and then by hand.
fn changed() -> TestRepo {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.free.insert(0, id);"));
    repo.commit("pool: give back at the front");
    annotate(&repo, &json!({ "summary": "First in, first out: ids rest before they are used again" }));
    let now =
        POOL.replace("self.free.push(id);", "self.free.insert(0, id);").replace("trace(id);", "log(id);");
    repo.write("src/pool.rs", format!("// Two\n// lines\n{now}"));
    repo
}

#[test]
fn why_a_line_is_as_it_is() {
    let repo = changed();
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:18"]), @"
    # src/pool.rs line 18: `self.free.insert(0, id);`
    **Written by:** 3fa1632 pool: give back at the front (Ada, 2 days ago)
    **Also changed Pool::release (lines 17-19):**
    - fef3554 pool: hand out ids (Ada, 2 days ago, 5 lessons)

    ## src/pool.rs (lines 18-18)
    **Commit:** 3fa1632 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** First in, first out: ids rest before they are used again

    ## src/pool.rs
    - dead_end (lines 18-18, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:12:9"]), @"
    # src/pool.rs line 12: `let id = self.free.pop();`
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago)
    > The newest id is warm in the cache.

    ## src/pool.rs (lines 3-17)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 10-15, changed, Pool::acquire, 1.00, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    ");
}

#[test]
fn why_lines_that_several_wrote_are_as_they_are() {
    let repo = changed();
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs", "16:20"]), @"
    # src/pool.rs lines 16-20
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago), lines 16-17, 19-20
    > The newest id is warm in the cache.
    **Written by:** 3fa1632 pool: give back at the front (Ada, 2 days ago), line 18

    ## src/pool.rs (lines 3-17)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - dead_end (lines 18-18, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.

    ## src/pool.rs (lines 18-18)
    **Commit:** 3fa1632 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** First in, first out: ids rest before they are used again
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs", "Pool::release"]), @"
    # src/pool.rs lines 17-19 — Pool::release
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago), lines 17, 19
    > The newest id is warm in the cache.
    **Written by:** 3fa1632 pool: give back at the front (Ada, 2 days ago), line 18

    ## src/pool.rs (lines 3-17)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - dead_end (lines 18-18, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.

    ## src/pool.rs (lines 18-18)
    **Commit:** 3fa1632 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** First in, first out: ids rest before they are used again
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs", "1"]), @"
    # src/pool.rs line 1: `// Two`
    **Not committed yet:** line 1

    ## src/pool.rs
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    ");
}

#[test]
fn lines_behind_a_colon() {
    let repo = changed();
    let apart = ask(&repo, &["why", "src/pool.rs", "16:20"]);
    assert_eq!(ask(&repo, &["why", "src/pool.rs:16-20"]), apart);
    assert_eq!(ask(&repo, &["why", "src/pool.rs:16-20:3"]), apart);
    let one = ask(&repo, &["why", "src/pool.rs:18"]);
    assert_eq!(ask(&repo, &["why", "src/pool.rs:18:5-12"]), one);
}

#[test]
fn why_is_told_in_json_and_for_people() {
    let repo = changed();
    let answer: Value = serde_json::from_str(&ask(&repo, &["why", "src/pool.rs:18", "--format", "json"]))
        .expect("it is JSON");
    assert_eq!(answer["schema"], "chronicle-why/v1");
    assert_eq!(answer["commits"][0]["subject"], "pool: give back at the front");
    assert_eq!(answer["lines"], json!({ "start": 18, "end": 18 }));
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:18", "--format", "pretty"]), @"
    src/pool.rs
      why  First in, first out: ids rest before they are used again
        line 18, intact · 2 days ago · 3fa1632 · 0.88
      ✗ dead end  A lock-free stack was slower below eight threads.
           18 │         self.free.insert(0, id);
        line 18, changed · Pool::release · 2 days ago, 1 commit since · fef3554 · 1.00
      ● insight  One pool for each process is enough.
        whole file · 2 days ago, 1 commit since · fef3554 · 0.88

    src/pool.rs line 18: `self.free.insert(0, id);`
    Written by: 3fa1632 pool: give back at the front (Ada, 2 days ago)
    Also changed Pool::release (lines 17-19):
    • fef3554 pool: hand out ids (Ada, 2 days ago, 5 lessons)
    ");
}

#[test]
fn a_renamed_file_is_followed() {
    let repo = pool();
    repo.git(&["mv", "src/pool.rs", "src/we\"ird\\ name.rs"]);
    repo.commit("pool: rename");
    insta::assert_snapshot!(ask(&repo, &["why", "src/we\"ird\\ name.rs:11"]), @r#"
    # src/we"ird\ name.rs line 11: `trace(id);`
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago), then line 11 of src/pool.rs
    > The newest id is warm in the cache.

    ## src/we"ird\ name.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    "#);
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs", "11"]), @r#"
    # src/we"ird\ name.rs line 11: `trace(id);`
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago), then line 11 of src/pool.rs
    > The newest id is warm in the cache.

    ## src/we"ird\ name.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    warning: `src/pool.rs` was renamed to `src/we"ird\ name.rs` by 0be4578
    "#);
    repo.git(&["mv", "--", "src/we\"ird\\ name.rs", "-dash.rs"]);
    insta::assert_snapshot!(ask(&repo, &["why", "--", "-dash.rs:11"]), @r#"
    # -dash.rs line 11: `trace(id);`
    **Written by:** fef3554 pool: hand out ids (Ada, 2 days ago), then line 11 of src/pool.rs
    > The newest id is warm in the cache.

    ## -dash.rs (lines 1-18)
    **Commit:** fef3554 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 8-13, intact, Pool::acquire, 1.00, fef3554, 2 days, 1 commit since): The UI thread calls this; it must never block.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.
    warning: `src/we"ird\ name.rs` was renamed to `-dash.rs`, not committed yet
    "#);
}

#[test]
fn bad_questions() {
    let repo = changed();
    repo.write("src/new.rs", "fn new() {}\n");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs"]), @"
    error: name a line, as in `src/pool.rs:12`
    hint: lines are given as FILE:5-7 or FILE 5:7, an item as FILE Pool::acquire
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:999"]), @"
    error: Line range 999:999 exceeds file length (20 lines)
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:0"]), @"
    error: line range 0:0 begins at line 0; lines count from 1
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:9-3"]), @"
    error: line range 9:3 ends before it begins
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs", "9:3"]), @"
    error: line range 9:3 ends before it begins
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "src/new.rs:1"]), @"
    error: `src/new.rs` is not tracked, so no commit wrote it
    hint: commit it first
    [exit 1]
    ");
    repo.git(&["add", "src/new.rs"]);
    insta::assert_snapshot!(ask(&repo, &["why", "src/new.rs:1"]), @"
    error: `src/new.rs` is staged and was never committed, so no commit wrote it
    hint: commit it first
    [exit 1]
    ");
    repo.git(&["reset", "--quiet"]);
    insta::assert_snapshot!(ask(&repo, &["why", "src:1"]), @"
    error: `src` is a directory; name one file
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["why", "nev\u{1b}[31mer.rs:1", "--format", "json"]), @r#"
    {"schema":"chronicle-error/v1","error":{"code":"file_not_found","message":"File not found: nev\\u{1b}[31mer.rs. Does it exist at HEAD?","hint":"paths are taken from the current directory, then from the root"}}
    [exit 1]
    "#);
    let unborn = TestRepo::new();
    unborn.write("pool.rs", "fn acquire() {}\n");
    let told = ask(&unborn, &["why", "pool.rs:1"]);
    insta::assert_snapshot!(told, @"
    error: the repository has no commits yet
    hint: commit something first; Chronicle reads committed code
    [exit 1]
    ");
    unborn.git(&["add", "pool.rs"]);
    for args in [["why", "pool.rs:1"], ["read", "pool.rs"], ["outline", "pool.rs"]] {
        assert_eq!(ask(&unborn, &args), told, "{args:?}");
    }
    std::fs::remove_file(repo.path().join("src/pool.rs")).expect("it is there");
    repo.commit("pool: remove");
    insta::assert_snapshot!(ask(&repo, &["why", "src/pool.rs:3"]), @"
    error: `src/pool.rs` is gone; it has no lines now
    hint: `git chronicle history FILE` shows its earlier lessons
    [exit 1]
    ");
}

#[test]
fn no_filter_of_the_repository_runs() {
    let repo = pool();
    let trap = repo.beside("trap");
    let command = format!("touch {}; cat", trap.display());
    for setting in ["filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "core.fsmonitor"] {
        repo.git(&["config", setting, &command]);
    }
    std::fs::write(repo.path().join(".git/info/attributes"), "*.rs filter=trap diff=trap\n")
        .expect("writable");
    repo.write("src/ui.rs", "fn draw() {\n    pool.acquire(1);\n}\n");
    for args in [
        &["why", "src/ui.rs:2"][..],
        &["why", "src/pool.rs:11"],
        &["read", "src/pool.rs", "--blame"],
        &["check"],
        &["check", "--staged"],
    ] {
        ask(&repo, args);
        assert!(!trap.exists(), "{args:?} ran a filter");
    }
}

#[test]
fn a_read_asks_git_who_wrote_the_lines() {
    let repo = changed();
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "--lines", "18:18", "--blame"]), @"
    ## src/pool.rs (lines 18-18)
    **Commit:** 3fa1632 (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** First in, first out: ids rest before they are used again

    ## src/pool.rs
    - dead_end (lines 18-18, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.

    **Cross-cutting:**
    - Ids are never zero (`src/pool.rs:Pool::release`, `src/ui.rs:draw`; fef3554)
    ");
    insta::assert_snapshot!(ask(&repo, &["read", "src", "--blame"]), @"
    error: `src` is a directory; name one file
    [exit 2]
    ");
}

/// What was minified, or made to hurt, does not drown the answer.
#[test]
fn a_line_without_end_is_cut() {
    let repo = TestRepo::new();
    repo.write("app.min.js", format!("{}\n", "f(1);".repeat(20_000)));
    repo.commit(&format!("app: {}\n\n{}", "word ".repeat(200), "and so on ".repeat(2_000)));
    let told = ask(&repo, &["why", "app.min.js:1"]);
    assert!(told.contains("(99760 bytes more)") && told.len() < 6_000, "{} bytes", told.len());
    let told: Value =
        serde_json::from_str(&ask(&repo, &["why", "app.min.js:1", "--format", "json"])).unwrap();
    assert!(
        told["text"].as_str().unwrap().len() < 300
            && told["commits"][0]["body"].as_str().unwrap().len() < 4_100
    );
}

#[test]
fn where_a_shallow_clone_ends_an_earlier_commit_may_have_written_the_line() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("one: the real author of a");
    repo.write("a.rs", "fn a() {}\nfn b() {}\n");
    repo.commit("two: only b");
    repo.write("a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n");
    repo.commit("three: only c");
    let (url, clone) = (format!("file://{}", repo.path().display()), repo.beside("clone"));
    repo.git(&["clone", "--quiet", "--depth", "2", &url, clone.to_str().unwrap()]);
    let why = |line: &str, format: &str| {
        let mut command = crate::outcome::binary(&clone, &["why", line, "--format", format]);
        crate::outcome::run(command.env("CHRONICLE_NOW", "2026-03-03T18:00:00Z")).success().stdout
    };
    insta::assert_snapshot!(why("a.rs:1-3", "markdown"), @"
    # a.rs lines 1-3
    **Written by:** 89def88 two: only b (Ada, 2 days ago), lines 1-2, or before: the history of this shallow clone ends there
    **Written by:** 587c251 three: only c (Ada, 2 days ago), line 3
    ");
    let why: Value = serde_json::from_str(&why("a.rs:1-3", "json")).unwrap();
    let commits = why["commits"].as_array().unwrap();
    let told: Vec<_> = commits.iter().map(|wrote| (&wrote["subject"], &wrote["or_before"])).collect();
    assert_eq!(told, [(&json!("two: only b"), &json!(true)), (&json!("three: only c"), &Value::Null)]);
    // Here history begins, and nothing is left out.
    assert_eq!(ask(&repo, &["why", "a.rs:1"]).matches("or before").count(), 0);
    assert_eq!(ask(&repo, &["why", "a.rs:1"]).matches("one: the real author").count(), 1);
}

#[test]
fn the_commits_that_changed_the_item_are_named() {
    let repo = TestRepo::new();
    let take = |body: &str| format!("fn first() {{\n    other();\n}}\n\nfn take() {{\n{body}}}\n");
    let lesson =
        |content: &str| json!({ "category": "gotcha", "content": content, "file": "a.rs", "anchor": "take" });
    repo.write("a.rs", take("    lock();\n    pop();\n"));
    repo.commit("take: start");
    annotate(
        &repo,
        &json!({ "summary": "A stack, since the newest is warm", "wisdom": [lesson("It may be empty then."), lesson("Never two at once.")] }),
    );
    repo.write("a.rs", take("    lock();\n    trace();\n    pop();\n"));
    repo.commit("take: trace");
    annotate(&repo, &json!({ "summary": "Traced, since it was slow" }));
    // What is no longer there had a commit, too; what is beside the item had another.
    repo.write("a.rs", take("    lock();\n    pop();\n"));
    repo.commit("take: no trace");
    repo.write("a.rs", take("    lock();\n    pop();\n").replace("other", "another"));
    repo.commit("first: another");
    repo.git(&["mv", "a.rs", "b.rs"]);
    repo.commit("rename");
    repo.write("b.rs", take("    lock();\n    pop_one();\n").replace("other", "another"));
    repo.commit("take: one");
    insta::assert_snapshot!(ask_both(&repo, &["why", "b.rs:6"]).lines().take(8).collect::<Vec<_>>().join("\n"), @"
    # b.rs line 6: `lock();`
    **Written by:** 79118e0 take: start (Ada, 2 days ago), then line 6 of a.rs
    **Also changed take (lines 5-8):**
    - 7870cef take: one (Ada, 2 days ago)
    - e1d5cfb take: no trace (Ada, 2 days ago)
    - 08a8975 take: trace (Ada, 2 days ago, annotated)

    ## b.rs
    ");
    insta::assert_snapshot!(ask_both(&repo, &["why", "b.rs:7"]).lines().take(7).collect::<Vec<_>>().join("\n"), @"
    # b.rs line 7: `pop_one();`
    **Written by:** 7870cef take: one (Ada, 2 days ago)
    **Also changed take (lines 5-8):**
    - e1d5cfb take: no trace (Ada, 2 days ago)
    - 08a8975 take: trace (Ada, 2 days ago, annotated)
    - 79118e0 take: start (Ada, 2 days ago, 2 lessons)
    ");
    // Between the items there is none.
    assert!(!ask_both(&repo, &["why", "b.rs:4"]).contains("Also changed"));
    let answer: Value =
        serde_json::from_str(&ask_both(&repo, &["why", "b.rs:6", "--format", "json"])).expect("it is JSON");
    let commits = answer["item"]["commits"].as_array().expect("there are some").iter();
    let commits: Vec<_> = commits.map(|commit| json!([commit["subject"], commit["n_lessons"]])).collect();
    let expected = [
        json!(["take: one", null]),
        json!(["take: no trace", null]),
        json!(["take: trace", 0]),
        json!(["take: start", 2]),
    ];
    assert_eq!(commits, expected);
    let logged = repo.git(&["log", "--format=%s", "--no-patch", "-L5,8:b.rs"]);
    assert_eq!(
        logged.lines().collect::<Vec<_>>(),
        ["take: one", "take: no trace", "take: trace", "take: start"]
    );
}

#[test]
fn a_list_of_commits_that_git_cannot_read_stops_no_blame() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\ntwo\nthree\n");
    repo.commit("start");
    annotate(&repo, &json!({ "summary": "Counted in words" }));
    repo.write("a.txt", "one\n  two\nthree\n");
    let formatting = repo.commit("format");
    annotate(&repo, &json!({ "summary": "Formatted by hand" }));
    let by = |told: &str| -> Vec<String> {
        let lines = told.lines().filter(|line| line.contains("Written by") || line.starts_with("warning"));
        lines.map(str::to_owned).collect()
    };
    let why = || by(&ask_both(&repo, &["why", "a.txt:2"]));
    let missing = |name: &str| {
        format!("warning: `blame.ignoreRevsFile` names `{name}`, which git cannot read; it is ignored")
    };
    let [formatted] = &why()[..] else { panic!("one commit wrote it") };
    assert!(formatted.contains("format"), "{formatted}");
    repo.git(&["config", "blame.ignoreRevsFile", "nowhere"]);
    assert_eq!(why(), [formatted.clone(), missing("nowhere")]);
    let read = ask_both(&repo, &["read", "a.txt", "--blame"]);
    assert_eq!(read.matches(&missing("nowhere")).count(), 1, "{read}");
    assert!(read.contains("Formatted by hand"), "{read}");
    // One that is no list of commits, and one that is, found from the top of the working tree.
    repo.write("lists/broken", "no commit\n");
    repo.write("lists/good", format!("# formatting\n{formatting} # by hand\n"));
    repo.git(&["config", "blame.ignoreRevsFile", "lists/broken"]);
    repo.git(&["config", "--add", "blame.ignoreRevsFile", "lists/good"]);
    let told = why();
    assert!(told[0].contains("start"), "{told:?}");
    assert_eq!(told[1..], [missing("lists/broken")]);
    repo.git(&["config", "--unset", "blame.ignoreRevsFile", "broken"]);
    assert_eq!(why(), told[..1]);
}
