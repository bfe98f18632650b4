//! The newest word on each code unit.

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::{POOL, annotate, ask, ask_both, ask_with, pool},
    outcome::{binary, run},
};

#[test]
fn a_directory_by_file_and_unit() {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.free.insert(0, id);"));
    repo.commit("pool: give back at the front");
    annotate(
        &repo,
        &json!({ "summary": "First in, first out: ids rest before they are used again",
        "regions": [{ "file": "src/pool.rs", "anchor": { "unit_type": "method", "name": "Pool::release" }, "intent": "Gives an id back to the far end",
            "constraints": ["Never the id zero"], "risk_notes": "Slow with thousands of ids." }] }),
    );
    insta::assert_snapshot!(ask(&repo, &["summary", "src"]), @"
    ## The commits
    - Several files [fef3554, 2 days, 0.88]: Ids are reused last in, first out: the newest is warm in the cache

    ## src/pool.rs
    - Whole file [fef3554, 2 days, 0.88]
      - 1 more in `read`
    - Pool::acquire (lines 8-13) [fef3554, 2 days, 1.00]
      - gotcha: The UI thread calls this; it must never block.
    - Pool::release (lines 15-17) [3fa1632, 2 days, 1.00]: Gives an id back to the far end
      - must hold: Never the id zero
      - risk: Slow with thousands of ids.
      - dead end: A lock-free stack was slower below eight threads.

    ## src/ui.rs
    - draw (lines 1-3) [fef3554, 2 days, 1.00]
      - gotcha: Frames are dropped when this waits for an id.
      - 1 more in `read`
    ");
    insta::assert_snapshot!(ask(&repo, &["summary", "src/pool.rs", "release"]), @"
    ## src/pool.rs
    - Pool::release (lines 15-17) [3fa1632, 2 days, 1.00]: Gives an id back to the far end
      - must hold: Never the id zero
      - risk: Slow with thousands of ids.
      - dead end: A lock-free stack was slower below eight threads.
    ");
    let answer: Value = serde_json::from_str(&ask(&repo, &["summary", "src/pool.rs", "--format", "json"]))
        .expect("it is JSON");
    assert_eq!(answer["schema"], "chronicle-summary/v1");
}

#[test]
fn each_kind_keeps_its_name() {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn take() {\n    pop();\n}\n");
    repo.commit("pool: start");
    let lesson = |category: &str, content: &str| json!({ "category": category, "content": content, "file": "pool.rs", "anchor": "take" });
    annotate(
        &repo,
        &json!({
            "regions": [{ "file": "pool.rs", "anchor": { "unit_type": "function", "name": "take" }, "intent": "Takes the newest",
                "constraints": ["Never zero"], "risk_notes": "Slow when full" }],
            "summary": "The newest is warm",
            "wisdom": [
                lesson("dead_end", "A queue was slower"),
                lesson("gotcha", "It may run twice"),
                lesson("insight", "Most ids live short"),
                lesson("unfinished_thread", "Measure it with a thousand"),
            ],
        }),
    );
    insta::assert_snapshot!(ask(&repo, &["summary", "pool.rs", "take"]), @"
    ## pool.rs
    - take (lines 1-3) [895a7a6, 2 days, 1.00]: Takes the newest
      - must hold: Never zero
      - gotcha: It may run twice
      - risk: Slow when full
      - dead end: A queue was slower
      - unfinished: Measure it with a thousand
      - 1 more in `read`
    ");
    let plain = ask(&repo, &["summary", "pool.rs", "take", "--format", "pretty", "--color", "never"]);
    insta::assert_snapshot!(plain, @"
    pool.rs
    • take (lines 1-3) [895a7a6, 2 days, 1.00]: Takes the newest
      • must hold: Never zero
      • gotcha: It may run twice
      • risk: Slow when full
      • dead end: A queue was slower
      • unfinished: Measure it with a thousand
      • 1 more in `read`
    ");
    let answer: Value =
        serde_json::from_str(&ask(&repo, &["summary", "pool.rs", "--format", "json"])).expect("it is JSON");
    let unit = &answer["files"][0]["units"][0];
    let kinds = ["constraints", "gotchas", "risks", "dead_ends", "unfinished_threads", "n_more"];
    let expected = [
        json!(["Never zero"]),
        json!(["It may run twice"]),
        json!(["Slow when full"]),
        json!(["A queue was slower"]),
        json!(["Measure it with a thousand"]),
        json!(1),
    ];
    assert_eq!(kinds.map(|kind| unit[kind].clone()), expected);

    // What failed and what is left to do may be worth knowing when the code is gone; what had to hold isn't.
    repo.write("pool.rs", "struct Queue;\n");
    repo.commit("pool: start over");
    insta::assert_snapshot!(ask(&repo, &["summary", "pool.rs"]), @"
    ## pool.rs
    - take [895a7a6, 2 days, 0.86]
      - risk: Slow when full
      - dead end: A queue was slower
      - unfinished: Measure it with a thousand
      - 1 more in `read`
    - 1 more of code that is gone in `read`
    ");
}

#[test]
fn what_is_kept_of_a_directory_is_as_good_as_new() {
    let repo = pool();
    let lesson = json!({ "category": "gotcha", "content": "Not before the flood.", "file": "src/ui.rs", "lines": { "start": 2, "end": 2 },
        "expires": "2026-03-04T00:00:00Z" });
    annotate(
        &repo,
        &json!({ "summary": "The frame rate is told by the pool, see there", "wisdom": [lesson] }),
    );
    let at = |now: &str, without_index: bool| {
        let mut command = binary(repo.path(), &["summary", "src"]);
        command.env("CHRONICLE_NOW", now);
        if without_index {
            command.env("CHRONICLE_NO_CACHE", "1");
        }
        run(&mut command).success().stdout
    };
    let check = |now: &str, holds: bool| {
        let (first, second, direct) = (at(now, false), at(now, false), at(now, true));
        assert_eq!((&first, &second), (&direct, &direct), "{now}");
        assert_eq!(first.contains("before the flood"), holds, "{now}: {first}");
    };
    check("2026-03-03T18:00:00Z", true);
    check("2026-03-04T18:00:00Z", false);
    check("2026-03-03T18:00:00Z", true);
    repo.write("src/ui.rs", "//! New.\n\nfn draw() {\n    pool.acquire();\n}\n");
    check("2026-03-03T18:00:00Z", true);
    assert!(at("2026-03-03T18:00:00Z", false).contains("draw (lines 3-5)"));
    repo.commit("ui: say that it is new");
    check("2026-03-03T18:00:00Z", true);
    annotate(&repo, &json!({ "summary": "A word on the file, so that somebody asks what was old" }));
    assert!(at("2026-03-03T18:00:00Z", false).contains("so that somebody asks"));
    check("2026-03-03T18:00:00Z", true);
}

#[test]
fn what_is_known_of_code_that_is_gone_is_said_to_be() {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn one() {\n    step();\n    stop();\n}\n");
    repo.commit("pool: start");
    annotate(
        &repo,
        &json!({ "summary": "One function, because it has one lock", "wisdom": [
            { "category": "gotcha", "content": "The lock is held all the time.", "file": "pool.rs", "anchor": "one" },
            { "category": "insight", "content": "Steps are cheap beside the lock.", "file": "pool.rs", "anchor": "one" },
        ]}),
    );
    repo.write("pool.rs", "fn other() {\n    jump();\n}\n");
    repo.commit("pool: start over");
    let told = ask(&repo, &["summary", "pool.rs"]);
    insta::assert_snapshot!(told, @"
    ## pool.rs
    - All its lessons are about code that is gone; `read` shows them
    ");
    // Of a directory it is kept.
    assert_eq!([ask(&repo, &["summary", "."]), ask(&repo, &["summary", "."])], [told.as_str(); 2]);
    annotate(
        &repo,
        &json!({ "summary": "Jumps instead of steps, since steps wait", "wisdom": [
            { "category": "gotcha", "content": "Never jump twice at once.", "file": "pool.rs", "anchor": "other" },
        ]}),
    );
    insta::assert_snapshot!(ask(&repo, &["summary", "pool.rs"]), @"
    ## pool.rs
    - other (lines 1-3) [baa42b7, 2 days, 0.88]: Jumps instead of steps, since steps wait
      - gotcha: Never jump twice at once.
    - 2 more of code that is gone in `read`
    ");
    insta::assert_snapshot!(ask(&repo, &["summary", "pool.rs", "other"]), @"
    ## pool.rs
    - other (lines 1-3) [baa42b7, 2 days, 0.88]: Jumps instead of steps, since steps wait
      - gotcha: Never jump twice at once.
    ");
    repo.git(&["rm", "--quiet", "pool.rs"]);
    repo.commit("pool: remove");
    insta::assert_snapshot!(ask(&repo, &["summary", "pool.rs"]), @"
    ## pool.rs
    - All its lessons are about code that is gone; `read` shows them
    warning: `pool.rs` was deleted by b7806c6
    ");
}

#[test]
fn a_lesson_of_a_commit_is_below_its_own_commit() {
    let repo = TestRepo::new();
    repo.write(
        "a.rs",
        "fn one() {\n    take_the_first_step();\n    take_the_second_step();\n    look_around_slowly();\n}\n",
    );
    repo.write(
        "b.rs",
        "fn two() {\n    jump_over_the_fence();\n    land_on_both_feet();\n    count_the_bruises();\n}\n",
    );
    repo.commit("both: start");
    annotate(
        &repo,
        &json!({ "summary": "Both in one commit, since they share a lock", "wisdom": [
            { "category": "dead_end", "content": "A lock for each of them waited for the other." },
        ]}),
    );
    repo.write("a.rs", "fn one() {\n    take_the_first_step();\n    take_the_second_step();\n    look_around_slowly();\n    stop_where_it_is();\n}\n");
    repo.write("b.rs", "fn two() {\n    jump_over_the_fence();\n    land_on_both_feet();\n    count_the_bruises();\n    stop_where_it_is();\n}\n");
    repo.commit("both: stop");
    annotate(&repo, &json!({ "summary": "Both stop, because callers do not" }));
    insta::assert_snapshot!(ask(&repo, &["summary", "."]), @"
    ## The commits
    - Several files [8cb4400, 2 days, 0.88]: Both in one commit, since they share a lock
      - dead end: A lock for each of them waited for the other.
    - Several files [b45f8b2, 2 days, 0.88]: Both stop, because callers do not
    ");
}

#[test]
fn bad_questions() {
    let repo = pool();
    repo.write("empty.rs", "");
    repo.commit("empty: add");
    insta::assert_snapshot!(ask(&repo, &["summary", "empty.rs"]), @"nothing is known about it");
    insta::assert_snapshot!(ask(&repo, &["summary", "src", "acquire"]), @"
    error: `src` is a directory; name one file
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["summary", "src/pool.rs", "nothing"]), @"
    error: `nothing` names nothing in `src/pool.rs`; closest are `Pool`, `Pool::acquire`, `Pool::release`
    hint: `git chronicle outline FILE` lists what the file has
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["summary", "/"]), @"
    error: `/` is outside the repository
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&TestRepo::new(), &["summary", "."]), @"
    error: the repository has no commits yet
    hint: commit something first; Chronicle reads committed code
    [exit 1]
    ");
}

#[test]
fn one_intent_is_shown_once_in_an_answer() {
    let repo = TestRepo::new();
    let content = |name: &str| format!("fn take_{name}() {{\n    one_{name}();\n    two_{name}();\n}}\n");
    for name in ["a", "b", "c"] {
        repo.write(format!("{name}.rs"), content(name));
    }
    repo.commit("pool: start");
    let region = |name: &str| {
        json!({ "file": format!("{name}.rs"), "anchor": { "unit_type": "function", "name": format!("take_{name}") },
            "intent": "Takes the newest, which is warm" })
    };
    annotate(
        &repo,
        &json!({ "summary": "Ids live short, so the newest goes first", "regions": [region("a"), region("b")] }),
    );
    ask(&repo, &["knowledge", "add", "--pattern", "Never block the pool.", "--instead", "Return none."]);
    let several = ask_both(&repo, &["read", "a.rs", "b.rs"]);
    assert_eq!(several, ask_both(&repo, &["read", "."]));
    // The id of an item of knowledge is a new one each time.
    let (several, knowledge) = several.split_once("\n**Knowledge:**\n").expect("there is some");
    insta::assert_snapshot!(several, @"
    ## a.rs — take_a (lines 1-4)
    **Commit:** 8375c7a (2 days ago) | **Confidence:** 1.00 (enhanced, exact anchor)
    **Intent:** Takes the newest, which is warm

    ## b.rs — take_b (lines 1-4)
    **Commit:** 8375c7a (2 days ago) | **Confidence:** 1.00 (enhanced, exact anchor)
    **Intent:** as for a.rs — take_a (above)

    ## The commit
    **Commit:** 8375c7a (2 days ago) | **Confidence:** 0.88 (enhanced, commit)
    **Intent:** Ids live short, so the newest goes first
    ");
    assert_eq!(knowledge.lines().count(), 1, "{knowledge}");
    insta::assert_snapshot!(ask_both(&repo, &["history", "."]), @"
    ## 8375c7a pool: start (2 days ago)
    take_a: Takes the newest, which is warm
    take_b: as for a.rs — take_a (above)
    Ids live short, so the newest goes first
    ");
    // Each file has the whole of it where it is asked for alone.
    assert!(ask_both(&repo, &["read", "b.rs"]).contains("**Intent:** Takes the newest, which is warm\n"));
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&ask_both(&repo, &[args, &["--format", "json"]].concat())).expect("it is JSON")
    };
    let of = |regions: &Value| -> Vec<Value> {
        let regions = regions.as_array().expect("there are some").iter();
        regions
            .map(|item| {
                json!([item["intent"], item["intent_shown_at"]["file"], item["intent_shown_at"]["anchor"]])
            })
            .collect()
    };
    let expected = [
        json!(["Takes the newest, which is warm", null, null]),
        json!(["Takes the newest, which is warm", "a.rs", "take_a"]),
        json!(["Ids live short, so the newest goes first", null, null]),
    ];
    let read = json(&["read", "."]);
    assert_eq!(of(&read["regions"]), expected);
    assert_eq!(read["regions"][1]["intent_shown_at"]["id"], read["regions"][0]["id"]);
    assert_eq!(of(&json(&["history", "."])["moments"][0]["regions"]), expected);
    // A commit whose lines are gone from the first file is still there with those of the others.
    repo.write("a.rs", "struct Other;\n");
    repo.commit("a: start over");
    let read = json(&["read", "."]);
    let summary = &read["regions"].as_array().expect("there are some")[1];
    assert_eq!(
        (&summary["intent"], &summary["state"]),
        (&json!("Ids live short, so the newest goes first"), &json!("intact"))
    );
}

/// What a code unit is for and what must hold in it concerns each of its lines; a lesson on another line doesn't, nor does
/// what is said of the next unit.
#[test]
fn lines_are_read_with_what_holds_for_their_unit() {
    let repo = pool();
    let region = |name: &str, line: u32, intent: &str, constraint: &str| {
        json!({ "file": "src/pool.rs", "anchor": { "unit_type": "method", "name": name }, "lines": { "start": line, "end": line },
            "intent": intent, "constraints": [constraint] })
    };
    annotate(
        &repo,
        &json!({ "summary": "First in, first out", "regions": [
            region("Pool::acquire", 10, "Takes the newest id", "Never the id zero"),
            region("Pool::release", 16, "Gives an id back", "Each id only once"),
        ], "wisdom": [{ "category": "gotcha", "content": "The trace may be slow.", "file": "src/pool.rs", "lines": { "start": 11, "end": 11 } }] }),
    );
    let known = |args: &[&str]| -> Vec<String> {
        let answer: Value = serde_json::from_str(&ask_both(&repo, &[args, &["--format", "json"]].concat()))
            .expect("it is JSON");
        let of = |list: &str, key: &str| -> Vec<String> {
            let items = answer[list].as_array().expect("it is a list").iter();
            items
                .filter(|item| item["match"] != "commit")
                .map(|item| item[key].as_str().unwrap_or_default().to_owned())
                .collect()
        };
        let mut all = [
            of("regions", "intent"),
            of("wisdom", "content"),
            of("dependencies_on_this", "nature"),
            of("cross_cutting", "description"),
        ]
        .concat();
        all.sort_unstable();
        all
    };
    let everywhere = "One pool for each process is enough.";
    let acquire = [
        "One pool for each process is enough.",
        "Takes the newest id",
        "The UI thread calls this; it must never block.",
        "never waits",
    ];
    assert_eq!(known(&["read", "src/pool.rs", "--lines", "12:12"]), acquire);
    let release = [
        "A lock-free stack was slower below eight threads.",
        "Gives an id back",
        "Ids are never zero",
        everywhere,
    ];
    assert_eq!(known(&["read", "src/pool.rs", "--lines", "16:16"]), release);
    assert_eq!(
        known(&["read", "src/pool.rs", "--lines", "17:17"]),
        ["Gives an id back", "Ids are never zero", everywhere]
    );
    // What is outside of every unit has none.
    assert_eq!(known(&["read", "src/pool.rs", "--lines", "2:2"]), [everywhere]);
    let input = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": repo.path(), "tool_name": "Edit", "tool_use_id": "t",
        "tool_input": { "file_path": repo.path().join("src/pool.rs"), "old_string": "    }\n}", "new_string": "    }\n\n}" } });
    let told = ask_with(&repo, &["hook", "claude", "pre-tool-use"], input.to_string().as_bytes());
    assert!(told.contains("Gives an id back") && told.contains("Each id only once"), "{told}");
    assert!(!told.contains("Takes the newest id") && !told.contains("never waits"), "{told}");
}
