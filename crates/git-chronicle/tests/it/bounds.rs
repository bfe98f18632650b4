//! Input that never ends, blocks, or takes all the time and memory there is.

use std::fs;

use serde_json::json;
use testkit::TestRepo;

use crate::{
    desk::Desk,
    outcome::{binary, chronicle, run},
};

/// Recovery from their errors takes tree-sitter memory or time by the square of their length.
const COSTLY: [(&str, &str, usize); 4] =
    [("e.c", "x=>", 8_000), ("T.java", "A<", 60_000), ("s.swift", "/*", 10_000), ("j.js", "->", 20_000)];

#[test]
fn a_file_that_costs_too_much_has_no_outline_and_a_lesson_for_the_whole_file_is_shown() {
    let repo = TestRepo::new();
    for (path, piece, times) in COSTLY {
        repo.write(path, piece.repeat(times));
    }
    repo.write("ok.c", format!("/* {} */\nint good(void) {{ return 1; }}\n", "word ".repeat(500)));
    repo.commit("all: add files");
    let lesson = r#"{"summary": "The parser is asked for every file that is read",
        "wisdom": [{"category": "gotcha", "content": "Generated; change the template instead.", "file": "e.c"}]}"#;
    chronicle(repo.path(), &["annotate", "--json", lesson]).success();
    for (path, ..) in COSTLY {
        let outcome = chronicle(repo.path(), &["outline", path]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{path}: {}", outcome.stderr);
        let is_refused = outcome.stderr.contains(" MB of memory\n") || outcome.stderr.contains(" ms\n");
        assert!(is_refused && outcome.stderr.lines().count() == 1, "{path}: {}", outcome.stderr);
    }
    // The process that parses is well again after each of them.
    let outcome = chronicle(repo.path(), &["outline", "ok.c"]);
    assert!(outcome.stdout.contains("good"), "{}", outcome.stdout);
    repo.write("e.c", "x=>".repeat(8_001));
    let outcome = chronicle(repo.path(), &["check"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Generated; change the template instead."), "{}", outcome.stdout);
}

#[test]
fn pipes_and_devices_are_not_read() {
    let desk = Desk::new();
    let pipe = desk.repo.path().join("pipe");
    assert!(testkit::command("mkfifo", desk.repo.path()).arg(&pipe).status().unwrap().success());
    for path in ["/dev/zero", pipe.to_str().unwrap()] {
        let edit = json!({"session_id": "s", "cwd": desk.repo.path(), "tool_name": "Edit",
            "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}});
        assert_eq!(desk.hook("claude", "pre-tool-use", &edit), "", "{path}");
        let refused = desk.run(&["annotate", "--file", path]);
        assert_eq!(refused.code, Some(1), "{path}");
        assert!(refused.stderr.contains("it is not a regular file"), "{path}: {}", refused.stderr);
        let ingested = desk.run(&["session", "ingest", path]);
        assert!(ingested.stdout.contains("it is not a regular file"), "{path}: {}", ingested.stdout);
        let imported = desk.run(&["import", path]);
        assert_eq!(imported.code, Some(1), "{path}");
    }
}

#[test]
fn files_without_an_end_that_an_agents_variables_name_are_not_read() {
    let desk = Desk::new();
    let commit = desk.repo.git(&["rev-parse", "HEAD"]);
    let pipe = desk.repo.path().join("pipe");
    assert!(testkit::command("mkfifo", desk.repo.path()).arg(&pipe).status().unwrap().success());
    let variables = ["TZ", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "SSL_CERT_FILE"];
    for (n, name) in variables.into_iter().enumerate() {
        for value in ["pipe", "/dev/zero", pipe.to_str().unwrap()] {
            let summary = format!("The reason number {n}, {value}");
            let mut command =
                desk.command_in(desk.repo.path(), &["annotate", "--summary", &summary, "--format", "json"]);
            // What a library takes of a device must not be the whole memory.
            let stored = run(command.env("CLAUDECODE", "1").env(name, value)).success().json();
            assert_eq!(stored["commit"], commit.trim(), "{name}={value}");
            let mut command = desk.command_in(desk.repo.path(), &["digest"]);
            run(command.env("CLAUDECODE", "1").env(name, value)).success();
        }
    }
    // A zone that is one counts.
    for (zone, offset) in [("UTC", "+0000"), ("Asia/Kolkata", "+0530"), ("XYZ-3", "+0300")] {
        let mut command = desk
            .command_in(desk.repo.path(), &["annotate", "--summary", &format!("A reason told in {zone}")]);
        run(command.env("CLAUDECODE", "1").env("TZ", zone).env_remove("GIT_COMMITTER_DATE")).success();
        let written = desk.repo.git(&["log", "-1", "--format=%cd", "refs/notes/chronicle"]);
        assert!(written.trim().ends_with(offset), "{zone}: {written}");
    }
}

#[test]
fn a_parser_that_is_asked_nonsense_ends() {
    let repo = TestRepo::new();
    let mut command = binary(repo.path(), &["hook", "parser"]);
    let outcome = run(&mut command);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
    fs::write(repo.path().join("asked"), [255; 64]).unwrap();
    let mut command = binary(repo.path(), &["hook", "parser"]);
    command.stdin(fs::File::open(repo.path().join("asked")).unwrap());
    let outcome = run(&mut command);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
}

#[test]
fn refs_that_are_longer_than_git_writes_them_are_not_read() {
    for name in [format!("refs/replace/{}", "a".repeat(40)), "refs/notes/remotes/origin/chronicle".to_owned()]
    {
        let repo = TestRepo::new();
        repo.write("a.rs", "fn a() {}\n");
        repo.commit("one");
        chronicle(repo.path(), &["annotate", "--summary", "A reason that is long enough"]).success();
        let path = repo.path().join(".git").join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let said = format!("`{}` is broken: it is not a file, or too large", path.display());
        chronicle(repo.path(), &["read", "a.rs"]).refused(1, &[&said]);
    }
}

#[test]
fn a_circle_of_replaced_commits_ends() {
    let repo = TestRepo::new();
    for number in 1..=5 {
        repo.write("a.rs", "fn a() {}\n".repeat(number));
        repo.commit("more");
    }
    let lesson = "a.rs:5 An own lesson about this line";
    chronicle(repo.path(), &["annotate", "--summary", "A reason that is long enough", "--gotcha", lesson])
        .success();
    repo.git(&["replace", "--force", "HEAD~2", "HEAD"]);
    fs::remove_dir_all(repo.path().join(".git/chronicle")).unwrap();
    assert!(chronicle(repo.path(), &["read", "a.rs"]).success().stdout.contains("An own lesson"));
}

#[test]
fn a_commit_whose_time_is_none_is_read_as_git_reads_it() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    let one = repo.commit("one");
    let args = [
        "annotate",
        "--summary",
        "A reason that is long enough",
        "--gotcha",
        "a.rs:1 An own lesson about this",
    ];
    chronicle(repo.path(), &args).success();
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let who = "E <e@e> 1700000000 x";
    let odd = format!("tree {}\nparent {one}\nauthor {who}\ncommitter {who}\n\nodd\n", tree.trim());
    let mut hash = testkit::command("git", repo.path());
    hash.args(["hash-object", "-t", "commit", "-w", "--stdin", "--literally"]);
    let odd = crate::outcome::run_with_input(&mut hash, odd.as_bytes()).success().stdout;
    repo.git(&["update-ref", "HEAD", odd.trim()]);
    assert!(chronicle(repo.path(), &["read", "a.rs"]).success().stdout.contains("An own lesson about this"));
}

#[test]
fn a_history_whose_paths_are_longer_than_the_memory_ends() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("one");
    let make = |listing: &str| {
        let mut mktree = testkit::command("git", repo.path());
        let made = crate::outcome::run_with_input(mktree.args(["mktree", "--missing"]), listing.as_bytes());
        made.success().stdout.trim().to_owned()
    };
    let blob = repo.git(&["rev-parse", "HEAD:a.rs"]);
    // 200 levels with names of 10,000 letters, which have 256 MB of paths together.
    let mut tree = make(&format!("100644 blob {}\tf\n", blob.trim()));
    for _ in 0..200 {
        tree = make(&format!("040000 tree {tree}\t{}\n", "d".repeat(10_000)));
    }
    let root = make(&format!("100644 blob {}\ta.rs\n040000 tree {tree}\td\n", blob.trim()));
    let deep = repo.git(&["commit-tree", "-m", "deep", "-p", "HEAD", &root]);
    let plain = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let back = repo.git(&["commit-tree", "-m", "back", "-p", deep.trim(), plain.trim()]);
    repo.git(&["update-ref", "HEAD", back.trim()]);
    let lesson = "a.rs:1 An own lesson about this line";
    let args = ["annotate", "--summary", "A reason that is long enough", "--gotcha", lesson];
    chronicle(repo.path(), &args).success();
    assert!(chronicle(repo.path(), &["read", "a.rs"]).success().stdout.contains("An own lesson"));
}

#[test]
fn refs_that_are_devices_are_not_read() {
    for name in ["packed-refs", "refs/notes/chronicle", "refs/heads/main"] {
        let repo = TestRepo::new();
        repo.write("a.rs", "fn a() {}\n");
        repo.commit("one");
        let path = repo.path().join(".git").join(name);
        let _removed = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        for args in [&["status"][..], &["annotate", "--summary", "A reason that is long enough"]] {
            // Reading it would take the whole memory.
            let outcome = chronicle(repo.path(), args);
            let said = format!("`{}` is", path.display());
            assert!(outcome.code == Some(1) && outcome.stderr.contains(&said), "{name}: {outcome:#?}");
        }
    }
}
