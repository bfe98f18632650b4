//! Clones that lack old versions, and files outside a sparse checkout.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use testkit::TestRepo;

use crate::{
    asking::annotate_commit,
    outcome::{Outcome, binary, chronicle, run},
};

fn functions(n: usize) -> String {
    let function =
        |i| format!("fn f{i}(x: u32) -> u32 {{\n    let a{i} = x + {i};\n    a{i} * {i}{i}\n}}\n\n");
    (1..=n).map(function).collect()
}

fn lesson(repo: &TestRepo, commit: &str, file: &str, line: u32, content: &str) {
    let wisdom = json!([{
        "category": "gotcha", "file": file, "lines": { "start": line, "end": line }, "content": content,
    }]);
    annotate_commit(repo, commit, &json!({ "summary": content, "wisdom": wisdom }));
}

/// A repository, a whole clone of it, and one without blobs outside `in`.
struct Clones {
    source: TestRepo,
    whole: PathBuf,
    partial: PathBuf,
}

fn clones() -> Clones {
    let source = TestRepo::new();
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    source.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    source.write("in/a.rs", functions(6));
    source.write("out/b.rs", functions(6));
    source.commit("one");
    for file in ["in/a.rs", "out/b.rs"] {
        source.write(file, functions(6).replace("x + 3;", "x + 33;"));
    }
    let two = source.commit("two");
    lesson(&source, &two, "in/a.rs", 12, "33 in a is the wire limit");
    lesson(&source, &two, "out/b.rs", 12, "33 in b is the wire limit");
    source.git(&["mv", "out/b.rs", "out/c.rs"]);
    source.write("out/d.rs", functions(3));
    let three = source.commit("three");
    lesson(&source, &three, "out/d.rs", 2, "d is the newest of them all");
    let url = format!("file://{}", source.path().display());
    let clone = |name: &str, options: &[&str]| {
        let path = source.beside(name);
        source.git(&[&["clone", "--quiet"], options, &[&url, path.to_str().expect("it is there")]].concat());
        chronicle(&path, &["sync", "enable"]).success();
        chronicle(&path, &["sync", "pull"]).success();
        path
    };
    let whole = clone("whole", &[]);
    let partial = clone("partial", &["--filter=blob:none", "--sparse"]);
    run(testkit::command("git", &partial).args(["sparse-checkout", "set", "in"])).success();
    Clones { source, whole, partial }
}

fn ask(directory: &Path, args: &[&str], no_index: bool) -> Outcome {
    let mut command = binary(directory, args);
    command.env("CHRONICLE_NOW", "2026-03-03T18:00:00Z");
    if no_index {
        command.env("CHRONICLE_NO_CACHE", "1");
    }
    run(&mut command)
}

/// How many blobs are missing.
fn n_missing(clone: &Path) -> usize {
    let listed =
        run(testkit::command("git", clone).args(["rev-list", "--objects", "--missing=print", "HEAD"]));
    listed.success().stdout.lines().filter(|line| line.starts_with('?')).count()
}

const COMMANDS: [&[&str]; 11] = [
    &["read", "."],
    &["read", "--recent"],
    &["read", "out/c.rs"],
    &["read", "out/d.rs", "f1"],
    &["read", "in/a.rs", "--lines", "12:12", "--blame"],
    &["summary", "."],
    &["why", "in/a.rs:12"],
    &["why", "out/c.rs:12"],
    &["check", "--diff", "HEAD~1..HEAD"],
    &["outline", "out/d.rs"],
    &["deps", "out/d.rs"],
];

#[test]
fn a_partial_clone_answers_as_a_whole_one() {
    for no_index in [false, true] {
        let Clones { whole, partial, source: _alive } = &clones();
        let before = n_missing(partial);
        let mut commands = COMMANDS;
        // What one command fetches, the next ones need not: the order differs.
        if no_index {
            commands.reverse();
        }
        for command in commands {
            let expected = ask(whole, command, no_index).success();
            let found = ask(partial, command, no_index).success();
            assert_eq!(found.stderr, expected.stderr, "{command:?}");
            // Whether the lines of an older version that is not here are the same is not known.
            let same = |text: String| text.replace(", changed, ", ", intact, ");
            assert_eq!(same(found.stdout), same(expected.stdout), "{command:?}");
        }
        assert!(n_missing(partial) < before);
    }
}

#[test]
fn what_cannot_be_fetched_is_said_once() {
    let Clones { source, partial, .. } = clones();
    fs::rename(source.path().join(".git"), source.path().join("away")).expect("it is there");
    let say = |args: &[&str]| {
        let found = ask(&partial, args, false);
        let code = found.code.unwrap_or(-1);
        format!(
            "{}{}[{code}]",
            found.stdout,
            found.stderr.replace(source.path().to_str().expect("it is there"), "SOURCE")
        )
    };
    insta::assert_snapshot!(say(&["read", "."]), @"
    ## The commit
    **Commit:** 59b6181 (2 days ago) | **Confidence:** 0.88 (enhanced, commit) | from Ada
    **Intent:** 33 in b is the wire limit

    ## The commit
    **Commit:** 59b6181 (2 days ago) | **Confidence:** 0.88 (enhanced, commit) | from Ada
    **Intent:** 33 in a is the wire limit

    ## The commit
    **Commit:** 4a0e316 (2 days ago) | **Confidence:** 0.88 (enhanced, commit) | from Ada
    **Intent:** d is the newest of them all

    ## in/a.rs
    - gotcha (lines 12-12, intact, f3, 1.00, 59b6181, 2 days, from Ada): 33 in a is the wire limit

    ## out/c.rs
    - gotcha (lines 12-12, intact, f3, 1.00, 59b6181, 2 days, 1 commit since, from Ada): 33 in b is the wire limit

    ## out/d.rs
    - gotcha (whole file, f1, 0.88, 4a0e316, 2 days, from Ada): d is the newest of them all
    warning: the file is not in this partial clone and could not be fetched (from a remote that `sync enable` named); its lessons are matched to the file, not to lines
    [0]
    ");
    insta::assert_snapshot!(say(&["read", "out/d.rs"]), @"
    ## out/d.rs
    **Commit:** 4a0e316 (2 days ago) | **Confidence:** 0.88 (enhanced, commit) | from Ada
    **Intent:** d is the newest of them all
    - gotcha (whole file, f1, 0.88, 4a0e316, 2 days, from Ada): d is the newest of them all
    warning: the file is not in this partial clone and could not be fetched (from a remote that `sync enable` named); its lessons are matched to the file, not to lines
    [0]
    ");
    insta::assert_snapshot!(say(&["outline", "out/d.rs"]), @"
    error: the content of `out/d.rs` is not in this partial clone
    hint: only remotes that `git chronicle sync enable` named are asked; if that one is, see whether it answers: `git fetch`
    [1]
    ");
    insta::assert_snapshot!(say(&["check", "--diff", "HEAD~1..HEAD"]), @"
    no lessons are touched; files changed: 2
    [0]
    ");
    insta::assert_snapshot!(say(&["summary", "."]), @"
    ## The commits
    - Several files [4a0e316, 2 days, 0.88, from Ada]: (from Ada) d is the newest of them all
    - Several files [59b6181, 2 days, 0.88, from Ada]: (from Ada) 33 in b is the wire limit

    ## in/a.rs
    - f3 (lines 11-14) [59b6181, 2 days, 1.00, from Ada]
      - gotcha: (from Ada) 33 in a is the wire limit

    ## out/c.rs
    - f3 (lines 11-14) [59b6181, 2 days, 1.00, from Ada]
      - gotcha: (from Ada) 33 in b is the wire limit

    ## out/d.rs
    - f1 [4a0e316, 2 days, 0.88, from Ada]
      - gotcha: (from Ada) d is the newest of them all
    warning: the file is not in this partial clone and could not be fetched (from a remote that `sync enable` named); its lessons are matched to the file, not to lines
    [0]
    ");
}

#[test]
fn nothing_is_fetched_unless_somebody_asks() {
    let Clones { partial, source: _alive, .. } = clones();
    let before = n_missing(&partial);
    let mut quiet = binary(&partial, &["read", "."]);
    run(quiet.env("GIT_NO_LAZY_FETCH", "1")).success();
    assert_eq!(n_missing(&partial), before);
    let event = json!({
        "session_id": "11111111-2222-3333-4444-555555555555", "cwd": partial, "hook_event_name": "PreToolUse",
        "tool_name": "Read", "tool_input": { "file_path": partial.join("out/d.rs") },
    });
    let mut hook = binary(&partial, &["hook", "claude", "pre-tool-use"]);
    crate::outcome::run_with_input(&mut hook, event.to_string().as_bytes()).success();
    assert_eq!(n_missing(&partial), before);
    run(&mut binary(&partial, &["read", "."])).success();
    assert!(n_missing(&partial) < before);
}

#[test]
fn nothing_is_fetched_from_a_remote_that_nobody_enabled() {
    let Clones { partial, source, .. } = clones();
    chronicle(&partial, &["sync", "disable"]).success();
    // What an unpacked archive may name.
    let ran = source.beside("ran");
    let uploadpack = format!("touch '{}'; git-upload-pack", ran.display());
    run(testkit::command("git", &partial).args(["config", "remote.origin.uploadpack", &uploadpack]))
        .success();
    let before = n_missing(&partial);
    for args in [
        &["why", "in/a.rs:12"][..],
        &["read", "out/d.rs"],
        &["read", "in/a.rs", "--blame"],
        &["check", "--diff", "HEAD~1..HEAD"],
        &["flag", "out/d.rs", "--reason", "No more."],
        &["summary", "."],
    ] {
        ask(&partial, args, false);
        assert!(!ran.exists() && n_missing(&partial) == before, "{args:?}");
    }
    let warned = ask(&partial, &["read", "out/d.rs"], false);
    assert!(warned.stderr.contains("`sync enable`"), "{warned:#?}");
    chronicle(&partial, &["sync", "enable"]).success();
    ask(&partial, &["read", "out/d.rs"], false).success();
    assert!(ran.exists() && n_missing(&partial) < before);
}
