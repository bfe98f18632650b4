//! What users read, word for word.

use serde_json::json;
use testkit::TestRepo;

use crate::outcome::{binary, contents, run};

/// Two days and a bit after the commits of the test repositories.
const NOW: &str = "2026-03-03T18:00:00Z";

fn chronicle(repo: &TestRepo, args: &[&str]) -> String {
    let mut command = testkit::command(crate::outcome::program(), repo.path());
    let output = command.args(args).env("CHRONICLE_NOW", NOW).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// Annotates HEAD as if at the time of the commit.
fn annotate(repo: &TestRepo, annotation: &serde_json::Value) {
    let mut command = testkit::command(crate::outcome::program(), repo.path());
    let output = command
        .args(["annotate", "--json", &annotation.to_string()])
        .env("CHRONICLE_NOW", testkit::DATE)
        .output();
    assert!(output.expect("the binary runs").status.success());
}

const POOL: &str = "use std::sync::Mutex;

pub fn acquire(pool: &Mutex<Vec<u32>>) -> Option<u32> {
    pool.lock().ok()?.pop()
}

pub fn release(pool: &Mutex<Vec<u32>>, id: u32) {
    if let Ok(mut free) = pool.lock() {
        free.push(id);
    }
}
";

/// A pool whose lessons lie on code that has since moved, changed, gone and been renamed.
fn pool() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: hand out ids");
    let lesson = |category: &str, content: &str, start: u32, end: u32| json!({ "category": category, "content": content, "file": "pool.rs", "lines": { "start": start, "end": end } });
    annotate(
        &repo,
        &json!({
            "summary": "Ids are reused last in, first out: the newest is warm in the cache",
            "wisdom": [
                lesson("gotcha", "The UI thread calls this; never block.", 3, 5),
                lesson("dead_end", "A lock-free stack was slower below eight threads.", 8, 10),
                json!({ "category": "insight", "content": "Double release is not detected.", "file": "pool.rs", "tags": ["safety"] }),
            ],
            "regions": [{ "file": "pool.rs", "ast_anchor": { "type": "function", "name": "release" }, "lines": { "start": 7, "end": 11 },
                "intent": "Take an id back", "reasoning": "A poisoned lock means that the process is going down anyway. So it is ignored.",
                "constraints": [{ "text": "Never panics", "source": "author" }, "May be called twice"], "risk_notes": "Leaks ids when poisoned.",
                "semantic_dependencies": [{ "file": "main.rs", "anchor": "main", "nature": "one pool for each process" }], "tags": ["lock"] }],
            "cross_cutting": [{ "description": "Ids are never zero", "regions": ["pool.rs:acquire", "main.rs:main"] }],
            "knowledge": [],
        }),
    );
    repo.write("main.rs", "fn main() {}\n");
    repo.commit_at("main: start", "2026-03-01T13:00:00Z");
    annotate(
        &repo,
        &json!({
            "summary": "The process has one pool, made before any thread",
            "wisdom": [{ "category": "insight", "content": "Threads start after the pool is filled.", "file": "main.rs",
                "depends_on": [{ "file": "pool.rs", "anchor": "acquire", "nature": "assumes that it never waits" }] }],
        }),
    );
    let changed =
        POOL.replace("use std::sync::Mutex;\n", "//! A pool of ids.\n\nuse std::sync::Mutex;\n").replace(
            "    if let Ok(mut free) = pool.lock() {\n        free.push(id);\n    }\n",
            "    pool.lock().map_or((), |mut all| all.push(id));\n",
        );
    repo.git(&["mv", "pool.rs", "id_pool.rs"]);
    repo.write("id_pool.rs", changed);
    repo.commit_at("pool: say what is pooled", "2026-03-02T12:00:00Z");
    repo
}

#[test]
fn a_reading_for_a_model() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs"]), @"
    ## id_pool.rs — release (lines 9-11)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 1.00 (enhanced, exact anchor)
    **Intent:** Take an id back
    **Reasoning:** A poisoned lock means that the process is going down anyway. So it is ignored.
    **Constraints:**
    - [author] Never panics
    - May be called twice
    **Risk:** Leaks ids when poisoned.
    **Depends on:**
    - `main.rs — main`: one pool for each process
    **Tags:** lock
    - dead_end (gone since 6efd8b2, rewritten, about this item, release, 0.88, 5083cd1, 2 days, 1 commit since): A lock-free stack was slower below eight threads.

    ## id_pool.rs (lines 3-9)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety

    **Dependencies on this:**
    - `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_of_some_lines() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--lines", "5:6"]), @"
    ## id_pool.rs (lines 3-9)
    **Commit:** 5083cd1 (2 days ago, 1 commit since) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety

    **Dependencies on this:**
    - `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_for_a_person() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--lines", "5:6", "--format", "pretty"]), @"
    id_pool.rs
      ▲ gotcha  The UI thread calls this; never block.
            5 │ pub fn acquire(pool: &Mutex<Vec<u32>>) -> Option<u32> {
        lines 5-7, intact · acquire · 2 days ago, 1 commit since · 5083cd1 · 1.00
      ● insight  Double release is not detected.
        whole file · 2 days ago, 1 commit since · 5083cd1 · 0.88 · #safety
      why  Ids are reused last in, first out: the newest is warm in the cache
        lines 3-9, changed · 2 days ago, 1 commit since · 5083cd1 · 0.88

    Dependencies on this:
    • `main.rs` on acquire: assumes that it never waits (0.86, e548c64)

    Cross-cutting:
    • Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)
    ");
}

#[test]
fn a_reading_that_is_cut() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "id_pool.rs", "--max-tokens", "120"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.

    **Cross-cutting:**
    - Ids are never zero (`pool.rs:acquire`, `main.rs:main`; 5083cd1)

    > trimmed to 70 tokens: 4 of 5 items left out, from 5083cd1
    ");
}

#[test]
fn the_lessons_of_one_kind() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", ".", "--category", "gotcha"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Never panics
      - tags: lock
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): May be called twice
      - tags: lock
    - gotcha (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Leaks ids when poisoned.
      - tags: lock
    ");
}

#[test]
fn filters_hold_for_concerns_as_for_lessons() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: hand out ids");
    let say = |description: &str, tag: &str, now: &str| {
        let regions = ["pool.rs:acquire", "pool.rs:release"];
        let annotation = json!({ "summary": format!("Said of both sides of the pool, on {now}"),
            "wisdom": [{ "category": "insight", "content": description, "file": "pool.rs", "tags": [tag] }],
            "cross_cutting": [{ "description": description, "regions": regions, "tags": [tag] }] });
        let mut command = binary(repo.path(), &["annotate", "--json", &annotation.to_string()]);
        run(command.env("CHRONICLE_NOW", now)).success();
    };
    say("Ids are never zero", "range", testkit::DATE);
    repo.write("pool.rs", format!("{POOL}\n// The end.\n"));
    repo.commit_at("pool: end it", "2026-03-02T12:00:00Z");
    say("Both sides lock", "lock", "2026-03-02T12:00:00Z");
    let check = |filter: &[&str], expected: &[&str]| {
        for variable in ["CHRONICLE_NOW", "CHRONICLE_NO_CACHE"] {
            let args = [&["read", "pool.rs", "--format=json"][..], filter].concat();
            let mut command = binary(repo.path(), &args);
            let reading = run(command.env("CHRONICLE_NOW", NOW).env(variable, NOW)).success().json();
            let concerns = reading["cross_cutting"].as_array().into_iter().flatten();
            let concerns: Vec<&str> = concerns.filter_map(|item| item["description"].as_str()).collect();
            assert_eq!(concerns, expected, "{filter:?}");
            let mut lessons = contents(&reading);
            lessons.sort_by_key(|lesson| std::cmp::Reverse(lesson == "Both sides lock"));
            assert_eq!(lessons, expected, "{filter:?}");
        }
    };
    check(&[], &["Both sides lock", "Ids are never zero"]);
    check(&["--tags", "lock"], &["Both sides lock"]);
    check(&["--tags", "range,other"], &["Ids are never zero"]);
    check(&["--tags", "other"], &[]);
    check(&["--since", "2026-03-02"], &["Both sides lock"]);
    check(&["--since", "HEAD~1"], &["Both sides lock"]);
    check(&["--since", "2026-03-02", "--tags", "range"], &[]);
}

#[test]
fn the_newest_lessons() {
    insta::assert_snapshot!(chronicle(&pool(), &["read", "--recent", "--limit", "3"]), @"
    ## id_pool.rs
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - insight (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): Take an id back
      - tags: lock
    - insight (lines 9-11, changed, release, 1.00, 5083cd1, 2 days, 1 commit since): A poisoned lock means that the process is going down anyway. So it is ignored.
      - tags: lock
    ");
}

#[test]
fn the_history_of_a_file() {
    insta::assert_snapshot!(chronicle(&pool(), &["history", "id_pool.rs"]), @"
    ## 5083cd1 pool: hand out ids (2 days ago)
    release: Take an id back
    **Reasoning:** A poisoned lock means that the process is going down anyway. So it is ignored.
    **Constraints:**
    - [author] Never panics
    - May be called twice
    **Risk:** Leaks ids when poisoned.
    Ids are reused last in, first out: the newest is warm in the cache
    - gotcha (lines 5-7, intact, acquire, 1.00, 5083cd1, 2 days, 1 commit since): The UI thread calls this; never block.
    - dead_end (gone since 6efd8b2, rewritten, about this item, release, 0.88, 5083cd1, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, 5083cd1, 2 days, 1 commit since): Double release is not detected.
      - tags: safety
    ");
}

#[test]
fn the_keys_of_a_reading_in_json_are_a_promise() {
    let reading: serde_json::Value =
        serde_json::from_str(&chronicle(&pool(), &["read", "id_pool.rs", "--format", "json", "--verbose"]))
            .expect("it is JSON");
    let keys = |value: &serde_json::Value| {
        value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>().join(" "))
    };
    insta::assert_snapshot!(keys(&reading).unwrap_or_default(), @"schema file query regions wisdom dependencies_on_this cross_cutting knowledge stats trimmed warnings ambiguous_anchor");
    insta::assert_snapshot!(keys(&reading["regions"][0]).unwrap_or_default(), @"
    id commit timestamp author tier origin source context_level confidence confidence_factors commits_since file file_recorded lines lines_recorded near state gone_because gone_since moved_to item_lines lines_disagree match superseded_by expired elsewhere tags task related corrections ast_anchor intent intent_shown_at reasoning constraints risk_notes semantic_dependencies
    ");
    insta::assert_snapshot!(keys(&reading["wisdom"][0]).unwrap_or_default(), @"id commit timestamp author tier origin source context_level confidence confidence_factors commits_since file file_recorded lines lines_recorded near state gone_because gone_since moved_to item_lines lines_disagree match superseded_by expired elsewhere tags task related corrections category content anchor depends_on");
    insta::assert_snapshot!(keys(&reading["dependencies_on_this"][0]).unwrap_or_default(), @"
    from_file from_file_recorded from_is_deleted from_anchor on_anchor nature commit confidence author tier origin
    ");
    insta::assert_snapshot!(keys(&reading["stats"]).unwrap_or_default(), @"commits_examined annotations_found regions_returned regions_matched related_hops");
}

#[test]
fn a_released_reader_and_ours_read_each_other() {
    // The released reader is no dependency: whoever has it names it.
    #[expect(clippy::disallowed_methods, reason = "the lane is switched on from outside")]
    let Some(peer) = std::env::var_os("CHRONICLE_PEER") else {
        return crate::outcome::skip("CHRONICLE_PEER names no released git-chronicle");
    };
    let run = |args: &[&str], repo: &TestRepo| {
        let output = testkit::command(&peer, repo.path()).args(args).output().expect("the peer runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let repo = pool();
    let theirs = run(&["read", "pool.rs"], &repo) + &run(&["read", "main.rs"], &repo);
    assert!(theirs.contains("never block") && theirs.contains("Threads start after"), "{theirs}");
    repo.write("main.rs", "fn main() {\n    start();\n}\n");
    repo.commit_at("main: really start", "2026-03-02T13:00:00Z");
    let input = r#"{"commit":"HEAD","summary":"Written by the released tool itself","wisdom":[{"category":"dead_end","content":"Starting twice deadlocks.","file":"main.rs","lines":{"start":2,"end":2}}]}"#;
    assert!(run(&["annotate", "--json", input], &repo).contains("\"success\": true"));
    annotate(
        &repo,
        &json!({ "summary": "And a second view of the same commit", "wisdom": [{ "category": "insight", "content": "One start is enough.", "file": "main.rs" }] }),
    );
    let ours = chronicle(&repo, &["read", "main.rs", "--lines", "2:2"]);
    assert!(ours.contains("Starting twice deadlocks.") && ours.contains("One start is enough."), "{ours}");
    let theirs = run(&["read", "main.rs"], &repo);
    assert!(
        theirs.contains("Starting twice deadlocks.") && theirs.contains("One start is enough."),
        "{theirs}"
    );
    // What was purged is gone for it, too, and nothing else is.
    let note = crate::outcome::note(&repo, "HEAD");
    let id = crate::outcome::entry(&note, "One start")["id"].as_str().expect("it has an id").to_owned();
    crate::outcome::chronicle(repo.path(), &["purge", &id]).success();
    let theirs = run(&["read", "main.rs"], &repo);
    assert!(
        theirs.contains("Starting twice deadlocks.") && !theirs.contains("One start is enough."),
        "{theirs}"
    );
}

/// Where `git blame` says that the lines of `commit`'s version of `file` are in the newest one: old to new.
fn blame(repo: &TestRepo, commit: &str, file: &str) -> Vec<(u32, u32)> {
    let porcelain = repo.git(&["blame", "--porcelain", &format!("{commit}..HEAD"), "--", file]);
    let mut found = Vec::new();
    let mut boundaries = std::collections::HashSet::new();
    let mut at = String::new();
    for line in porcelain.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some(id), Some(old), Some(new)) if id.len() == 40 && old.parse::<u32>().is_ok() => {
                at = id.to_owned();
                found.push((at.clone(), old.parse().expect("a line"), new.parse().expect("a line")));
            }
            (Some("boundary"), ..) => drop(boundaries.insert(at.clone())),
            _ => {}
        }
    }
    found.into_iter().filter(|(id, ..)| boundaries.contains(id)).map(|(_, old, new)| (old, new)).collect()
}

#[test]
fn lessons_are_where_blame_says_their_lines_are() {
    let repo = TestRepo::new();
    let lines = |change: &dyn Fn(u32) -> String| (1..=60).map(change).collect::<String>();
    let unique = |n: u32| format!("    let value_{n} = compute_{n}(value_{});\n", n / 2);
    repo.write("a.rs", lines(&unique));
    let first = repo.commit("a: sixty lines");
    let ranges = [(1, 3), (10, 12), (18, 22), (30, 30), (38, 44), (58, 60)];
    let wisdom: Vec<_> = ranges
        .iter()
        .map(|(start, end)| json!({ "category": "insight", "content": format!("About lines {start} to {end}."), "file": "a.rs", "lines": { "start": start, "end": end } }))
        .collect();
    annotate(&repo, &json!({ "summary": "Every range has a lesson of its own", "wisdom": wisdom }));
    let edits: [&dyn Fn(u32) -> String; 3] = [
        &|n| if n == 5 { format!("    log();\n    trace();\n{}", unique(n)) } else { unique(n) },
        &|n| {
            if (19..=20).contains(&n) {
                String::new()
            } else if n == 5 {
                format!("    log();\n{}", unique(n))
            } else {
                unique(n)
            }
        },
        &|n| match n {
            19..=20 | 30 => String::new(),
            40 => format!("    changed_{n}();\n"),
            59 => format!("{}    inserted();\n", unique(n)),
            _ => unique(n),
        },
    ];
    for (number, edit) in edits.iter().enumerate() {
        repo.write("a.rs", lines(*edit));
        repo.commit(&format!("a: edit {number}"));
        let reading: serde_json::Value =
            serde_json::from_str(&chronicle(&repo, &["read", "a.rs", "--format", "json"]))
                .expect("it is JSON");
        let blamed = blame(&repo, &first, "a.rs");
        for (start, end) in ranges {
            let now: Vec<u32> =
                blamed.iter().filter(|(old, _)| (start..=end).contains(old)).map(|(_, new)| *new).collect();
            let expected = now.iter().min().map(|first| json!({ "start": first, "end": now.iter().max() }));
            let content = format!("About lines {start} to {end}.");
            let items = reading["wisdom"].as_array().expect("a list");
            let item =
                items.iter().find(|item| item["content"] == json!(content)).expect("no lesson is lost");
            assert_eq!(item["lines"], json!(expected), "after edit {number}: {content}");
        }
    }
}

/// In JSON every commit of which something was left out is named, once.
#[test]
fn all_that_is_left_out_is_named() {
    let repo = TestRepo::new();
    let mut commits = Vec::new();
    for number in 0..30 {
        repo.write("a.txt", (0..=number).map(|line| format!("line {line}\n")).collect::<String>());
        commits.push(repo.commit(&format!("line {number}")));
        let lesson = |of: &str| {
            json!({ "category": "gotcha", "content": format!("Mind {of} of line {number}: it is longer than it looks."),
                "file": "a.txt", "lines": { "start": number + 1, "end": number + 1 } })
        };
        annotate(
            &repo,
            &json!({ "summary": format!("Why line {number}"), "wisdom": [lesson("the start"), lesson("the end")] }),
        );
    }
    commits.sort_unstable();
    let check = |args: &[&str], is_within: Option<usize>| {
        let text = chronicle(&repo, &[&["read", "a.txt", "--format", "json"], args].concat());
        let answer: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let of = |list: &serde_json::Value, key: &str| -> Vec<String> {
            let list = list.as_array().expect("it is a list").iter();
            list.filter_map(|item| if key.is_empty() { item.as_str() } else { item[key].as_str() })
                .map(str::to_owned)
                .collect()
        };
        let dropped = of(&answer["trimmed"]["dropped_commits"], "");
        let shown = [of(&answer["wisdom"], "commit"), of(&answer["regions"], "commit")].concat();
        assert!(!shown.is_empty(), "{args:?}");
        // Three items each: two lessons and the summary.
        let mut expected: Vec<String> = commits.clone();
        expected.retain(|commit| shown.iter().filter(|shown| *shown == commit).count() < 3);
        let mut named = dropped.clone();
        named.sort_unstable();
        assert_eq!(named, expected, "{args:?}");
        assert_eq!(answer["trimmed"]["original_regions"], 90, "{args:?}");
        if let Some(budget) = is_within {
            assert!(text.len() <= 4 * budget, "{args:?}: {}", text.len());
        }
    };
    check(&["--max-regions", "90", "--max-tokens", "3000"], Some(3000));
    check(&["--max-regions", "90", "--max-tokens", "1200"], Some(1200));
    check(&["--max-regions", "90", "--max-tokens", "300"], None);
    check(&["--max-regions", "20"], None);
    check(&["--max-regions", "20", "--max-tokens", "4000"], Some(4000));
    check(&["--max-regions", "40", "--blame"], None);
    let whole = chronicle(&repo, &["read", "a.txt", "--format", "json", "--max-regions", "90"]);
    assert!(whole.contains("\"trimmed\":null"), "nothing is left out");
}
