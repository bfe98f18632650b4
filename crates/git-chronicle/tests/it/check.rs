//! Which lessons a change touches.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::asking::{POOL, annotate, ask, ask_with, pool};

/// The pool with a change to `acquire` that is not committed.
fn edited() -> TestRepo {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("self.free.pop();", "self.wait_for_one();"));
    repo
}

#[test]
fn a_change_of_the_working_tree() {
    let repo = edited();
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## src/pool.rs
    - gotcha (lines 8-13, intact, Pool::acquire, touched at line 10, fef3554, 2 days): The UI thread calls this; it must never block.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    ");
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotcha"]), @"
    ## src/pool.rs
    - gotcha (lines 8-13, intact, Pool::acquire, touched at line 10, fef3554, 2 days, fails the check): The UI thread calls this; it must never block.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    error: the change touches lessons of the kinds that --fail-on names: 1
    hint: read them above; `git chronicle read` says more
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "dead_end,insight"]), @"
    ## src/pool.rs
    - gotcha (lines 8-13, intact, Pool::acquire, touched at line 10, fef3554, 2 days): The UI thread calls this; it must never block.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    ");
    insta::assert_snapshot!(ask(&repo, &["check", "--staged"]), @"no lessons are touched; files changed: 0");
}

#[test]
fn people_see_the_changed_line_of_each_lesson() {
    insta::assert_snapshot!(ask(&edited(), &["check", "--format", "pretty"]), @"
    src/pool.rs
    ▲ gotcha  The UI thread calls this; it must never block. (lines 8-13, intact, Pool::acquire, touched
      at line 10, fef3554, 2 days)
           10 │         let id = self.wait_for_one();
    ● insight  One pool for each process is enough. (whole file, about more than the changed lines,
      fef3554, 2 days)
    Rely on what is changed:
    • `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    ");
}

#[test]
fn the_same_change_in_every_way() {
    let repo = edited();
    let expected = ask(&repo, &["check"]);
    let diff = repo.try_git(&["diff"]).stdout;
    assert_eq!(ask_with(&repo, &["check", "-"], &diff), expected);
    assert_eq!(ask(&repo, &["check", "--diff", "HEAD"]), expected);
    repo.git(&["add", "--all"]);
    assert_eq!(ask(&repo, &["check", "--staged"]), expected);
    assert_eq!(ask(&repo, &["check"]), expected);
    repo.git(&["commit", "--quiet", "-m", "pool: wait"]);
    assert_eq!(ask(&repo, &["check", "--diff", "HEAD~1..HEAD"]), expected);
    assert_eq!(ask(&repo, &["check", "--diff", "HEAD~1..."]), expected);
    insta::assert_snapshot!(ask(&repo, &["check"]), @"no lessons are touched; files changed: 0");
}

#[test]
fn a_change_for_code_hosts() {
    let repo = pool();
    annotate(
        &repo,
        &json!({ "summary": "One more lesson, with what would end a workflow command",
        "wisdom": [{ "category": "gotcha", "content": "100% sure:\n::error::not a command, this", "file": "src/pool.rs", "anchor": "acquire" }] }),
    );
    repo.write("src/pool.rs", POOL.replace("self.free.pop();", "self.wait_for_one();"));
    insta::assert_snapshot!(ask(&repo, &["check", "--annotations", "github", "--fail-on", "gotcha"]), @"
    ::error file=src/pool.rs,line=10,title=gotcha (fef3554)::The UI thread calls this; it must never block.
    ::error file=src/pool.rs,line=10,title=gotcha (fef3554)::100%25 sure:%0A\\::error::not a command, this
    ::notice file=src/pool.rs,line=10,title=insight (fef3554)::One pool for each process is enough.
    ::warning file=src/pool.rs,line=10,title=src/ui.rs relies on Pool%3A%3Aacquire (fef3554)::never waits
    error: the change touches lessons of the kinds that --fail-on names: 2
    hint: read them above; `git chronicle read` says more
    [exit 1]
    ");
    let report: Value =
        serde_json::from_str(&ask(&repo, &["check", "--annotations", "gitlab"])).expect("it is JSON");
    let report = report.as_array().expect("a list");
    assert_eq!(report.len(), 4, "{report:#?}");
    for remark in report {
        assert!(remark["description"].is_string() && remark["fingerprint"].is_string(), "{remark:#}");
        assert_eq!(remark["location"], json!({ "path": "src/pool.rs", "lines": { "begin": 10 } }));
    }
    let answer: Value =
        serde_json::from_str(&ask(&repo, &["check", "--format", "json"])).expect("it is JSON");
    assert_eq!(answer["schema"], "chronicle-check/v1");
    assert_eq!(answer["files"][0]["lessons"][0]["touch"], "lines");
}

#[test]
fn a_lesson_on_an_item_that_was_renamed_is_touched_where_that_item_is() {
    let repo = TestRepo::new();
    let code =
        "fn wait() {\n    one();\n    fn inner() {\n        two();\n    }\n    three();\n    four();\n}\n";
    repo.write("wait.rs", code);
    repo.commit("wait: start");
    let lesson = |anchor: &str| json!({ "category": "gotcha", "content": format!("Mind {anchor}."), "file": "wait.rs", "anchor": anchor });
    annotate(&repo, &json!({ "summary": "Wait", "wisdom": [lesson("wait"), lesson("inner")] }));
    let renamed = code.replace("wait", "pause");
    repo.write("wait.rs", &renamed);
    repo.commit("wait: pause");
    repo.write("wait.rs", renamed.replace("pause()", "pause(times: u32)"));
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## wait.rs
    - gotcha (lines 2-8, changed, wait, its item is touched at line 1, 6d18594, 2 days): Mind wait.
    ");
    // What still has its name is not meant by what is done beside it.
    repo.write("wait.rs", renamed.replace("    one();", "    once();"));
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## wait.rs
    - gotcha (lines 2-8, changed, wait, touched at line 2, 6d18594, 2 days): Mind wait.
    ");
}

#[test]
fn a_lesson_is_touched_where_its_lines_meet_the_change() {
    let repo = pool();
    let start = POOL.find("    pub fn acquire").expect("it is there");
    let changed = "pub fn take(&mut self) -> Option<u32> {\n        let id = None;\n        log(id);\n        one(id)\n    }\n\n    /// Gives it back.\n    pub fn give(&mut self, id: u32) {\n        self.free.insert(0, id);\n    }\n}\n";
    repo.write("src/pool.rs", format!("// New.\n{}    {changed}", &POOL[..start]));
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## src/pool.rs
    - gotcha (lines 9-14, intact, Pool::acquire, touched at line 10, fef3554, 2 days): The UI thread calls this; it must never block.
    - dead_end (lines 16-18, intact, Pool::release, touched at line 17, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
}

#[test]
fn what_is_renamed_and_removed() {
    let repo = pool();
    repo.git(&["mv", "src/pool.rs", "src/ids.rs"]);
    repo.write("src/ids.rs", POOL.replace("self.free.push(id);", "self.free.insert(0, id);"));
    fs::remove_file(repo.path().join("src/ui.rs")).expect("it is there");
    repo.git(&["add", "--all"]);
    insta::assert_snapshot!(ask(&repo, &["check", "--staged"]), @"
    ## src/ids.rs (renamed from src/pool.rs)
    - dead_end (lines 16-16, intact, Pool::release, touched at line 16, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)

    ## src/ui.rs (removed)
    - gotcha (lines 1-3 before the change, intact, draw, touched at line 1 before the change, fef3554, 2 days): Frames are dropped when this waits for an id.
    - insight (lines 2-2 before the change, intact, draw, touched at line 2 before the change, fef3554, 2 days): Look at `Pool::release` before giving ids back here.
    **Rely on what is changed:**
    - `src/pool.rs — Pool::release` on draw: Ids are never zero (0.86, fef3554, 2 days)
    ");
    let diff = repo.try_git(&["diff", "--cached", "-M"]).stdout;
    assert_eq!(ask_with(&repo, &["check", "-"], &diff), ask(&repo, &["check", "--staged"]));
}

#[test]
fn what_is_added_beside_a_lesson_does_not_touch_it() {
    let repo = pool();
    repo.write("src/pool.rs", format!("// Before.\n{POOL}// After.\n"));
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotcha,dead_end"]), @"
    ## src/pool.rs
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    ");
    repo.write("src/pool.rs", POOL.replace("        trace(id);\n", "        more();\n        trace(id);\n"));
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotcha,dead_end"]), @"
    ## src/pool.rs
    - gotcha (lines 8-14, intact, Pool::acquire, touched at line 11, fef3554, 2 days, fails the check): The UI thread calls this; it must never block.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    error: the change touches lessons of the kinds that --fail-on names: 1
    hint: read them above; `git chronicle read` says more
    [exit 1]
    ");
}

#[test]
fn what_was_tried_in_a_changed_item_is_told_though_its_lines_are_gone() {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "give_back(&mut self.front, 0);"));
    repo.commit("pool: give back at the front");
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.stack.give(id);"));
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "dead_end"]), @"
    ## src/pool.rs
    - dead_end (gone since d23fe81, rewritten, about this item, Pool::release, its item is touched at line 16, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
}

/// A line that was edited in place is the same line, for the answer and for the check of the next edit.
#[test]
fn a_line_that_was_edited_in_place_still_counts() {
    let repo = pool();
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.free.push(id + 1);"));
    repo.commit("pool: count from one");
    insta::assert_snapshot!(ask(&repo, &["read", "src/pool.rs", "--lines", "16:16"]), @"
    ## src/pool.rs
    - dead_end (lines 16-16, changed, Pool::release, 1.00, fef3554, 2 days, 1 commit since): A lock-free stack was slower below eight threads.
    - insight (whole file, 0.88, fef3554, 2 days, 1 commit since): One pool for each process is enough.

    **Cross-cutting:**
    - Ids are never zero (`src/pool.rs:Pool::release`, `src/ui.rs:draw`; fef3554)
    ");
    repo.write("src/pool.rs", POOL.replace("self.free.push(id);", "self.free.push(id + 2);"));
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "dead_end"]), @"
    ## src/pool.rs
    - dead_end (lines 16-16, changed, Pool::release, touched at line 16, fef3554, 2 days, fails the check): A lock-free stack was slower below eight threads.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    error: the change touches lessons of the kinds that --fail-on names: 1
    hint: read them above; `git chronicle read` says more
    [exit 1]
    ");
}

#[test]
fn a_diff_that_starts_from_the_working_tree() {
    let repo = pool();
    repo.write("src/pool.rs", format!("// One.\n// Two.\n{POOL}"));
    repo.git(&["add", "--all"]);
    repo.write("src/pool.rs", format!("// One.\n// Two.\n{}", POOL.replace("trace(id);", "log(id);")));
    let diff = repo.try_git(&["diff", "--no-prefix", "-U0"]).stdout;
    repo.git(&["checkout", "--quiet", "--", "src/pool.rs"]);
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"], &diff), @"
    ## src/pool.rs
    - gotcha (lines 10-15, intact, Pool::acquire, touched at line 13, fef3554, 2 days): The UI thread calls this; it must never block.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    ");
}

#[test]
fn hostile_diffs() {
    let repo = pool();
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"], b""), @"no lessons are touched; files changed: 0");
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"], b"no diff at all\n\x1b[31m"), @"
    error: the input isn't a unified diff: error parsing patches at byte 0: no valid patches found
    [exit 2]
    ");
    insta::assert_snapshot!(ask_with(&repo, &["check", "-", "--format", "json"], b"\x00\xff\xfe"), @r#"
    {"schema":"chronicle-error/v1","error":{"code":"not_a_diff","message":"the input isn't a unified diff: error parsing patches at byte 0: no valid patches found"}}
    [exit 2]
    "#);
    let diff = repo.try_git(&["diff", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD"]).stdout;
    for end in (0..diff.len()).step_by(7) {
        ask_with(&repo, &["check", "-"], &diff[..end]);
    }
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"],
        b"diff --git \"a/src/\\033[31m.rs\" \"b/src/\\033[31m.rs\"\n--- \"a/src/\\033[31m.rs\"\n+++ \"b/src/\\033[31m.rs\"\n@@ -1 +1 @@\n-a\n+b\n"), @"
    warning: `src/[31m.rs` is not at HEAD, so what the diff changes in it was not checked
    no lessons are touched; files changed: 1
    ");
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"],
        b"--- ../../etc/passwd\n+++ ../../etc/passwd\n@@ -1 +1 @@\n-root\n+toor\n"), @"
    warning: `../../etc/passwd` is not at HEAD, so what the diff changes in it was not checked
    no lessons are touched; files changed: 1
    ");
    insta::assert_snapshot!(ask_with(&repo, &["check", "-"],
        b"--- a/src/pool.rs\r\n+++ b/src/pool.rs\r\n@@ -99999999999,1 +1 @@\r\n-x\r\n+y\r\n"), @"
    ## src/pool.rs
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    warning: the diff of `src/pool.rs` starts from another version than HEAD; its lines may be off
    ");
}

#[test]
fn checks_that_cannot_run() {
    let repo = pool();
    insta::assert_snapshot!(ask(&TestRepo::new(), &["check"]), @"
    warning: there is no commit yet, so nothing can be touched
    no lessons are touched; files changed: 0
    ");
    insta::assert_snapshot!(ask(&TestRepo::new(), &["check", "--diff", "A..B"]), @"
    error: unknown revision `A`: it names no commit
    hint: name a commit, branch or tag; `git log` lists commits
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["check", "--diff", "nope..HEAD"]), @"
    error: unknown revision `nope`: it names no commit
    hint: name a commit, branch or tag; `git log` lists commits
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["check", "--diff", "--output=/tmp/x", "--format", "json"]), @r#"
    {"schema":"chronicle-error/v1","error":{"code":"unknown_revision","message":"unknown revision `--output=/tmp/x`: it names no commit","hint":"name a commit, branch or tag; `git log` lists commits"}}
    [exit 2]
    "#);
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotchas"]), @"
    error: invalid value 'gotchas' for '--fail-on <CATEGORY,…>': unknown category `gotchas`; did you mean `gotcha`? Categories: dead_end, gotcha, insight, unfinished_thread

    For more information, try '--help'.
    [exit 2]
    ");
    repo.git(&["config", "core.bare", "true"]);
    insta::assert_snapshot!(ask(&repo, &["check", "--staged"]), @"
    error: the repository has no working tree
    hint: name two commits with --diff A..B
    [exit 2]
    ");
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    error: the repository has no working tree
    hint: name two commits with --diff A..B
    [exit 2]
    ");
}

#[test]
fn a_lesson_on_a_whole_commit_is_told_of_each_file_that_changes() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\n");
    repo.write("b.txt", "two\n");
    repo.commit("both");
    annotate(
        &repo,
        &json!({ "summary": "Together", "wisdom": [{ "category": "gotcha", "content": "They change as one." }] }),
    );
    repo.write("a.txt", "1\n");
    repo.write("b.txt", "2\n");
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## a.txt
    - gotcha (lines 1-1, intact, about more than the changed lines, fcf97c0, 2 days): They change as one.

    ## b.txt
    - gotcha (lines 1-1, intact, about more than the changed lines, fcf97c0, 2 days): They change as one.
    ");
}

#[test]
fn only_what_differs_counts_in_directories_that_are_staged_as_committed() {
    let repo = pool();
    for file in ["deep/one/a.txt", "deep/one/b.txt", "deep/two/c.txt", "kept/d.txt"] {
        repo.write(file, format!("{file}\n"));
    }
    repo.commit("more files");
    let changed = |arguments: &[&str]| -> Vec<String> {
        let text = ask(&repo, &[&["check", "--format", "json"], arguments].concat());
        let check: Value = serde_json::from_str(&text).unwrap();
        vec![check["n_files"].to_string()]
    };
    assert_eq!((changed(&[]), changed(&["--staged"])), (vec!["0".to_owned()], vec!["0".to_owned()]));
    repo.write("deep/one/a.txt", "staged\n");
    repo.git(&["add", "deep/one/a.txt"]);
    repo.write("deep/two/new.txt", "new\n");
    repo.git(&["add", "-N", "deep/two/new.txt"]);
    fs::remove_file(repo.path().join("kept/d.txt")).unwrap();
    repo.write("deep/two/c.txt", "not staged\n");
    assert_eq!((changed(&[]), changed(&["--staged"])), (vec!["4".to_owned()], vec!["1".to_owned()]));
    let by_git = |arguments: &[&str]| {
        let output = repo.try_git(&[&["diff", "--name-only", "HEAD"], arguments].concat());
        vec![String::from_utf8(output.stdout).unwrap().lines().count().to_string()]
    };
    assert_eq!((changed(&[]), changed(&["--staged"])), (by_git(&[]), by_git(&["--cached"])));
}

#[test]
fn what_comes_with_the_change_is_no_news_on_no_branch_either() {
    let repo = pool();
    repo.git(&["checkout", "--quiet", "--detach"]);
    repo.write("src/pool.rs", POOL.replace("self.free.pop();", "self.wait_for_one();"));
    repo.commit("pool: wait");
    annotate(
        &repo,
        &json!({ "summary": "why", "wisdom": [
            { "category": "gotcha", "content": "It waits now.", "file": "src/pool.rs", "lines": { "start": 10, "end": 10 } },
        ] }),
    );
    let checked = ask(&repo, &["check", "--diff", "HEAD~1..HEAD"]);
    assert!(checked.contains("it must never block") && !checked.contains("It waits now"), "{checked}");
}

/// Of many who rely on a file those that say it plainest are told, each once.
#[test]
fn of_many_who_rely_on_a_file_a_dozen_is_told() {
    let repo = pool();
    let relies = |n: u32| {
        json!({ "category": "insight", "content": format!("Reason {n}."), "file": "src/ui.rs", "anchor": format!("draw_{n}"),
            "depends_on": [{ "file": "src/pool.rs", "nature": if n == 3 { String::new() } else { format!("reason {n}") } }] })
    };
    let wisdom: Vec<Value> = (0..15).map(relies).collect();
    annotate(&repo, &json!({ "summary": "Who draws, and why", "wisdom": wisdom }));
    let now =
        POOL.replace("self.free.pop();", "self.wait_for_one();").replace("self.free.push(id);", "drop(id);");
    repo.write("src/pool.rs", now);
    let told = ask(&repo, &["check"]);
    assert_eq!(told.matches("\n- `src/ui.rs").count(), 12, "{told}");
    assert!(told.ends_with("- and 5 more: `git chronicle deps src/pool.rs`\n"), "{told}");
    let told = ask(&repo, &["check", "--format", "json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["files"][0]["dependents"].as_array().unwrap().len(), 17, "{told}");
    let told = ask(&repo, &["deps", "src/pool.rs"]);
    assert!(told.contains("draw_3` (0."), "{told}");
}

#[test]
fn where_nothing_is_noted_nothing_is_touched() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("add a");
    repo.write("a.rs", "fn a() { b() }\n");
    insta::assert_snapshot!(ask(&repo, &["check", "--fail-on", "gotcha"]), @"
    warning: No Chronicle annotations found. Run 'git chronicle init' to set up.
    no lessons are touched; files changed: 1
    ");
}

#[test]
fn what_git_converts_is_compared_as_it_was_staged() {
    let repo = edited();
    repo.git(&["add", "--all"]);
    let plain = ask(&repo, &["check", "--staged"]);
    let content = fs::read_to_string(repo.path().join("src/pool.rs")).unwrap();
    let stage = |content: String| {
        repo.write("src/pool.rs", content);
        // Git and we trust times of files that are older than the index alone.
        let file = fs::File::options().write(true).open(repo.path().join("src/pool.rs")).unwrap();
        let now = file.metadata().and_then(|metadata| metadata.modified()).unwrap();
        file.set_modified(now - Duration::from_secs(60)).unwrap();
        repo.git(&["add", "src/pool.rs"]);
        ask(&repo, &["check", "--staged"])
    };
    assert_eq!(stage(content.clone()), plain);
    let attributes = repo.path().join(".git/info/attributes");
    fs::create_dir_all(attributes.parent().unwrap()).unwrap();
    fs::write(&attributes, "*.rs text eol=crlf\n").unwrap();
    assert_eq!(stage(content.replace('\n', "\r\n")), plain);
    fs::remove_file(&attributes).unwrap();
    repo.git(&["config", "core.autocrlf", "true"]);
    assert_eq!(stage(content.replace('\n', "\r\n")), plain);
}

#[test]
fn a_diff_may_have_any_prefixes() {
    let repo = edited();
    let expected = ask(&repo, &["check"]);
    assert_eq!(expected.matches("touched at line 10").count(), 1);
    for settings in [
        &["diff.mnemonicPrefix=true"][..],
        &["diff.noprefix=true"],
        &["diff.srcPrefix=old/", "diff.dstPrefix=new/"],
        &["diff.srcPrefix=very/old/", "diff.dstPrefix=new/"],
    ] {
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["-c", setting]).collect();
        let diff = repo.try_git(&[&settings[..], &["diff"]].concat()).stdout;
        assert_eq!(ask_with(&repo, &["check", "-"], &diff), expected, "{settings:?}");
    }
    for (name, prefix) in [("diff.srcPrefix", "old-"), ("diff.dstPrefix", "new-")] {
        repo.git(&["config", name, prefix]);
    }
    let diff = repo.try_git(&["diff"]).stdout;
    assert_eq!(ask_with(&repo, &["check", "-"], &diff), expected);
}

/// Lines are those of the file as it is after the change; what was removed has a number from before, which says so.
#[test]
fn lines_say_which_version_they_are_of() {
    let repo = pool();
    // Two lines more at the start, the one of `release` removed, and one of `acquire`.
    let shorter = POOL.replace("        self.free.push(id);\n", "").replace("        trace(id);\n", "");
    repo.write("src/pool.rs", format!("// One.\n// Two.\n{shorter}"));
    insta::assert_snapshot!(ask(&repo, &["check"]), @"
    ## src/pool.rs
    - gotcha (lines 10-14, intact, Pool::acquire, touched at line 11 before the change, fef3554, 2 days): The UI thread calls this; it must never block.
    - dead_end (lines 16-16 before the change, intact, Pool::release, touched at line 16 before the change, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, about more than the changed lines, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&ask(&repo, &[args, &["--format", "json"]].concat())).expect("it is JSON")
    };
    let lessons = |answer: &Value| -> Vec<Value> {
        let lessons = answer["files"][0]["lessons"].as_array().expect("there are some").iter();
        let keys = ["lines", "lines_now", "at_line", "at_line_before"];
        lessons.map(|lesson| keys.map(|key| lesson[key].clone()).into_iter().collect()).collect()
    };
    let range = |start: u32, end: u32| json!({ "start": start, "end": end });
    let expected = [
        json!([range(8, 13), range(10, 14), 13, 11]),
        json!([range(16, 16), null, 17, 16]),
        json!([null, null, 1, null]),
    ];
    assert_eq!(lessons(&json(&["check"])), expected);
    insta::assert_snapshot!(ask(&repo, &["check", "--annotations", "github"]), @"
    ::warning file=src/pool.rs,line=13,title=gotcha (fef3554)::The UI thread calls this; it must never block. (line 11 before the change)
    ::warning file=src/pool.rs,line=17,title=dead_end (fef3554)::A lock-free stack was slower below eight threads. (line 16 before the change)
    ::notice file=src/pool.rs,line=1,title=insight (fef3554)::One pool for each process is enough.
    ::warning file=src/pool.rs,line=13,title=src/ui.rs relies on Pool%3A%3Aacquire (fef3554)::never waits (line 11 before the change)
    ::warning file=src/pool.rs,line=17,title=src/ui.rs relies on Pool%3A%3Arelease (fef3554)::Ids are never zero (line 16 before the change)
    ");
    // A diff that starts from lines that are not committed ends at the same.
    repo.write("src/pool.rs", format!("// One.\n// Two.\n{POOL}"));
    repo.git(&["add", "--all"]);
    repo.write("src/pool.rs", format!("// One.\n// Two.\n{shorter}"));
    let diff = repo.try_git(&["diff"]).stdout;
    repo.git(&["checkout", "--quiet", "--", "src/pool.rs"]);
    let from_tree: Value = serde_json::from_str(&ask_with(&repo, &["check", "-", "--format", "json"], &diff))
        .expect("it is JSON");
    assert_eq!(lessons(&from_tree)[..2], expected[..2]);
    repo.git(&["reset", "--quiet", "--hard"]);
    repo.git(&["rm", "--quiet", "src/pool.rs"]);
    insta::assert_snapshot!(ask(&repo, &["check", "--staged"]), @"
    ## src/pool.rs (removed)
    - gotcha (lines 8-13 before the change, intact, Pool::acquire, touched at line 8 before the change, fef3554, 2 days): The UI thread calls this; it must never block.
    - dead_end (lines 16-16 before the change, intact, Pool::release, touched at line 16 before the change, fef3554, 2 days): A lock-free stack was slower below eight threads.
    - insight (whole file, touched at line 1 before the change, fef3554, 2 days): One pool for each process is enough.
    **Rely on what is changed:**
    - `src/ui.rs — draw` on Pool::acquire: never waits (0.86, fef3554, 2 days)
    - `src/ui.rs — draw` on Pool::release: Ids are never zero (0.86, fef3554, 2 days)
    ");
}
