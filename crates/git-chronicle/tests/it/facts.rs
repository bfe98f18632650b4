//! Facts change how fast an answer comes, never what it says.
//!
//! Every answer is asked for twice, with the facts that were kept and with none, and must be the same to the byte. A
//! random walk asks the same through the library.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use testkit::{TestRepo, command};

use crate::outcome::skip;

fn run(repo: &TestRepo, args: &[&str], no_cache: bool) -> Output {
    let mut command = command(crate::outcome::program(), repo.path());
    command.args(args).env("CHRONICLE_NOW", "2026-03-03T12:00:00Z").stdin(Stdio::null());
    // What is done behind a read is over when the next one begins.
    command.env("CHRONICLE_FOREGROUND", "1");
    if no_cache {
        command.env("CHRONICLE_NO_CACHE", "1");
    }
    command.output().expect("the binary runs")
}

/// Asserts that kept facts say what new ones say; returns what was said.
fn same(repo: &TestRepo, args: &[&str], what: &str) -> String {
    let [kept, new] = [false, true].map(|no_cache| run(repo, args, no_cache));
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text(&kept), text(&new), "{what}: {args:?}");
    assert_eq!(kept.status.code(), new.status.code(), "{what}: {args:?}");
    text(&kept)
}

fn read(repo: &TestRepo, path: &str, what: &str) -> String {
    same(repo, &["read", path, "--format", "json", "--max-regions", "1000"], what)
}

fn annotate(repo: &TestRepo, commit: &str, input: &serde_json::Value) {
    let input = input.to_string();
    let output = command(crate::outcome::program(), repo.path())
        .args(["annotate", "--commit", commit, "--json", &input])
        .env("CHRONICLE_NOW", "2026-03-02T12:00:00Z")
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn facts_directory(repo: &TestRepo) -> PathBuf {
    let all = repo.path().join(".git/chronicle/facts");
    let mut of_users =
        fs::read_dir(&all).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    of_users.find(|path| path.is_dir()).unwrap_or(all)
}

#[test]
fn code_that_a_renamed_file_still_holds_came_to_no_other_file() {
    let repo = TestRepo::new();
    let lines: Vec<String> = (0..14)
        .map(|n| format!("    let wait_{n} = limit.checked_sub(attempt * {n}) else panic\n"))
        .collect();
    let rest: String = (0..30).map(|n| format!("    // the pool has rule number {n} of thirty\n")).collect();
    repo.write("src/pool.txt", lines.concat() + &rest);
    let commit = repo.commit("wait");
    let lesson = json!({ "category": "gotcha", "content": "The order counts.", "file": "src/pool.txt",
                         "lines": { "start": 1, "end": 14 } });
    annotate(&repo, &commit, &json!({ "summary": "wait longer each time", "wisdom": [lesson] }));
    repo.git(&["mv", "src/pool.txt", "src/connections.txt"]);
    repo.commit("connections");
    // It has all of the lines still, though in no order, and another file comes to have them as they were.
    let mixed: String =
        lines.iter().rev().enumerate().map(|(n, line)| format!("{line}    do_other_work({n});\n")).collect();
    repo.write("src/connections.txt", mixed + &rest);
    repo.write("src/copy.txt", lines.concat());
    repo.commit("another order");
    for path in ["src/connections.txt", "src/copy.txt"] {
        read(&repo, path, path);
    }
}

#[test]
fn a_directory_is_answered_whatever_else_is_there() {
    let repo = TestRepo::new();
    for name in ["plain", "deleted", "piped", "replaced", "retargeted"] {
        repo.write(format!("src/{name}.txt"), "one\ntwo\nthree\nfour\n");
    }
    repo.write("src/untold.txt", "nobody spoke of it\n");
    symlink("plain.txt", repo.path().join("src/link.txt")).expect("links can be made");
    symlink("nowhere", repo.path().join("src/broken")).expect("links can be made");
    let commit = repo.commit("first");
    let lesson = |name: &str, start: u32, end: u32| {
        let lines = json!({ "start": start, "end": end });
        json!({ "category": "gotcha", "content": format!("Mind {name}."), "file": format!("src/{name}"), "lines": lines })
    };
    let wisdom = [
        lesson("plain.txt", 2, 3),
        lesson("deleted.txt", 2, 3),
        lesson("piped.txt", 1, 1),
        lesson("replaced.txt", 3, 4),
        lesson("retargeted.txt", 2, 2),
        lesson("link.txt", 1, 1),
    ];
    annotate(&repo, &commit, &json!({ "summary": "why", "wisdom": wisdom }));
    repo.write("src/deleted.txt", "one\nthree\nfour\n");
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},src/vendored")]);
    repo.git(&["commit", "--quiet", "--all", "-m", "pin a library, damage a lesson"]);
    fs::create_dir(repo.path().join("src/vendored")).expect("it can be made");
    let questions = [
        &["read", ".", "--format", "json", "--max-regions", "1000"][..],
        &["read", "src", "--verbose"],
        &["summary", "."],
        &["summary", "src", "--format", "json"],
    ];
    let check = |what: &str| {
        for question in questions {
            let told = same(&repo, question, what);
            assert!(told.contains("Mind plain.txt."), "{what}: {told}");
        }
    };
    check("links and a submodule");
    let at = |name: &str| repo.path().join("src").join(name);
    for name in ["deleted.txt", "piped.txt", "replaced.txt", "retargeted.txt", "untold.txt"] {
        fs::remove_file(at(name)).expect("it is there");
    }
    check("files that are gone");
    fs::create_dir(at("replaced.txt")).expect("it can be made");
    let made = command("mkfifo", repo.path()).arg("src/piped.txt").status();
    if !made.is_ok_and(|status| status.success()) {
        skip("there is no mkfifo");
    }
    check("others in the place of files");
    // Lines that an edit damaged are looked for in the repository.
    symlink("elsewhere", at("retargeted.txt")).expect("links can be made");
    for question in questions {
        same(&repo, question, "a link in the place of a file");
    }
}

#[test]
fn code_that_comes_back_is_found_again() {
    let repo = TestRepo::new();
    let code = "fn one() {}\n\nfn two() {\n    wait();\n}\n\nfn three() {}\n";
    repo.write("a.rs", code);
    let commit = repo.commit("first");
    let about = |content: &str, start: u32, end: u32| json!({ "category": "gotcha", "content": content, "file": "a.rs", "lines": { "start": start, "end": end } });
    annotate(
        &repo,
        &commit,
        &json!({ "summary": "why", "wisdom": [about("Mind two.", 3, 5), about("Mind the gap.", 2, 2)] }),
    );
    repo.write("a.rs", "fn one() {}\nfn three() {}\n");
    repo.commit("remove two");
    let gone = read(&repo, "a.rs", "gone");
    assert!(gone.contains("\"gone\"") && !gone.contains("\"intact\""), "{gone}");
    // In another place, and with other lines around it, while it is known as gone.
    repo.write("a.rs", "fn zero() {}\nfn one() {}\nfn three() {}\nfn two() {\n    wait();\n}\n");
    repo.commit("bring two back");
    let back = read(&repo, "a.rs", "back");
    assert!(back.contains("Mind two."), "{back}");
    repo.write("a.rs", code);
    repo.commit("bring all back");
    let whole = read(&repo, "a.rs", "whole");
    assert!(whole.contains("\"intact\"") && !whole.contains("\"gone\""), "{whole}");
}

#[test]
fn a_blank_line_that_comes_back_belongs_to_its_lesson_again() {
    let repo = TestRepo::new();
    let lines = |middle: &str| format!("first line\nsecond line\n{middle}fifth line\nsixth line\n");
    repo.write("a.txt", lines("// a comment\n\n"));
    let commit = repo.commit("comment");
    let entry = json!({ "category": "gotcha", "content": "Both belong together.", "file": "a.txt", "lines": { "start": 3, "end": 4 } });
    annotate(&repo, &commit, &json!({ "summary": "why", "wisdom": [entry] }));
    repo.write("a.txt", lines("// a comment\n\n") + "seventh line\n");
    repo.commit("older");
    repo.write("a.txt", lines("// a comment\n// and more\n\n") + "seventh line\n");
    repo.commit("newest");
    let state = |what: &str| {
        let shown: serde_json::Value = serde_json::from_str(&read(&repo, "a.txt", what)).expect("it is JSON");
        let lesson = &shown["wisdom"][0];
        json!([lesson["state"], lesson["lines"]["start"], lesson["lines"]["end"]])
    };
    let (changed, intact) = (json!(["changed", 3, 3]), json!(["intact", 3, 4]));
    assert_eq!(state("at the newest"), changed);
    repo.git(&["checkout", "--quiet", "HEAD~1"]);
    assert_eq!(state("at an older one"), intact);
    repo.git(&["checkout", "--quiet", "main"]);
    assert_eq!(state("at the newest again"), changed);
}

#[test]
fn what_is_said_on_one_branch_is_not_told_on_another() {
    let repo = noted();
    let say = |commit: &str, words: &str| {
        annotate(
            &repo,
            commit,
            &json!({ "summary": "why", "wisdom": [{ "category": "gotcha", "content": words, "file": "b.txt" }] }),
        );
    };
    repo.write("b.txt", "one\n");
    let both = repo.commit("second");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("b.txt", "two\n");
    let side = repo.commit("on the side");
    say(&both, "Both rely on `a.txt`.");
    say(&side, "The side relies on `a.txt`.");
    let told = |branch: &str| {
        repo.git(&["checkout", "--quiet", branch]);
        let dependents = same(&repo, &["deps", "a.txt", "--format", "json"], branch);
        let lessons = read(&repo, "b.txt", branch);
        [dependents, lessons].map(|told| (told.contains("Both rely"), told.contains("The side relies")))
    };
    for _ in 0..2 {
        assert_eq!(told("side"), [(true, true); 2]);
        assert_eq!(told("main"), [(true, false); 2]);
    }
    // One more, and both know it from the beginning.
    say(&both, "Neither can do without `a.txt`.");
    assert_eq!(told("side"), [(true, true); 2]);
    assert_eq!(told("main"), [(true, false); 2]);
}

#[test]
fn what_only_another_branch_had_is_told_when_none_has_it_any_more() {
    let repo = noted();
    repo.write("b.txt", "one\n");
    let stays = repo.commit("second");
    repo.write("b.txt", "two\n");
    let goes = repo.commit("third");
    let lesson = json!({ "category": "gotcha", "content": "Mind three.", "file": "a.txt", "lines": { "start": 3, "end": 3 } });
    annotate(&repo, &goes, &json!({ "summary": "why", "wisdom": [lesson] }));
    // Asked while the branch reaches the commit.
    same(&repo, &["check", "--diff", &format!("{stays}..HEAD")], "before");
    repo.git(&["reset", "--quiet", "--hard", &stays]);
    let told = read(&repo, "a.txt", "right after the branch left it");
    assert!(told.contains("Mind three.") && told.contains("no branch"), "{told}");
    repo.write("b.txt", "three\n");
    repo.commit("instead");
    let told = read(&repo, "a.txt", "after the branch went on without it");
    assert!(told.contains("Mind three.") && told.contains("no branch"), "{told}");
}

#[test]
fn branches_that_come_and_go_are_seen() {
    let repo = noted();
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("b.txt", "one\n");
    let aside = repo.commit("on the side");
    let lesson = json!({ "category": "gotcha", "content": "Mind four.", "file": "a.txt", "lines": { "start": 4, "end": 4 }, "depends_on": [{ "file": "b.txt", "nature": "never empty" }] });
    annotate(&repo, &aside, &json!({ "summary": "why", "wisdom": [lesson] }));
    let n_told = |what: &str| {
        same(&repo, &["deps", "b.txt", "--format", "json"], what);
        let told = read(&repo, "a.txt", what);
        (told.matches("Mind four.").count(), told.matches("no branch").count())
    };
    assert_eq!(n_told("on the side"), (1, 0));
    repo.git(&["checkout", "--quiet", "main"]);
    assert_eq!(n_told("on main"), (0, 0));
    repo.git(&["merge", "--quiet", "--squash", "side"]);
    repo.git(&["commit", "--quiet", "-m", "squashed"]);
    assert_eq!(n_told("squashed"), (0, 0));
    repo.git(&["branch", "--quiet", "-D", "side"]);
    assert_eq!(n_told("the branch is deleted"), (1, 1));
    repo.write("c.txt", "one\n");
    repo.commit("another");
    assert_eq!(n_told("and HEAD goes on"), (1, 1));
    repo.git(&["tag", "kept", &aside]);
    assert_eq!(n_told("a tag keeps it"), (0, 0));
    repo.git(&["tag", "--delete", "kept"]);
    repo.git(&["pack-refs", "--all"]);
    assert_eq!(n_told("no tag any more"), (1, 1));
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", &aside]);
    assert_eq!(n_told("merged in the end"), (1, 0));
    fs::remove_dir_all(facts_directory(&repo)).unwrap();
    assert_eq!(n_told("from the beginning"), (1, 0));
}

#[test]
fn a_later_note_on_a_branch_that_stays_is_not_told_either() {
    let repo = noted();
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    let commit = |name: &str| {
        repo.write(name, "one\n");
        repo.commit(name)
    };
    let [first, second] = [commit("b.txt"), commit("c.txt")];
    repo.git(&["checkout", "--quiet", "main"]);
    let say = |commit: &str| {
        let lesson = json!({ "category": "gotcha", "content": "Mind four.", "file": "a.txt", "lines": { "start": 4, "end": 4 } });
        annotate(&repo, commit, &json!({ "summary": "why", "wisdom": [lesson] }));
    };
    say(&first);
    fs::remove_dir_all(facts_directory(&repo)).unwrap();
    assert!(!read(&repo, "a.txt", "the branch is known").contains("Mind four."));
    say(&second);
    assert!(!read(&repo, "a.txt", "one more note").contains("Mind four."));
}

#[test]
fn an_orphan_that_is_merged_is_told_once() {
    let repo = noted();
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("b.txt", "one\n");
    let aside = repo.commit("on the side");
    let lesson = json!({ "category": "gotcha", "content": "Mind four.", "file": "a.txt", "lines": { "start": 4, "end": 4 } });
    annotate(&repo, &aside, &json!({ "summary": "why", "wisdom": [lesson] }));
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "side"]);
    fs::remove_dir_all(facts_directory(&repo)).unwrap();
    let told = read(&repo, "a.txt", "it is known as an orphan");
    assert!(told.contains("no branch"), "{told}");
    repo.git(&["merge", "--quiet", &aside]);
    let told = read(&repo, "a.txt", "merged");
    assert_eq!((told.matches("Mind four.").count(), told.matches("no branch").count()), (1, 0), "{told}");
}

#[test]
fn what_names_a_file_that_is_yet_to_come_is_told_of_it() {
    let repo = noted();
    let relies = json!({ "category": "insight", "content": "As z.txt will have it.", "file": "later.txt", "depends_on": [{ "file": "z.txt", "nature": "sorted" }] });
    annotate(&repo, "HEAD", &json!({ "summary": "why", "wisdom": [relies] }));
    fs::remove_dir_all(facts_directory(&repo)).unwrap();
    read(&repo, "a.txt", "before");
    repo.write("later.txt", "one\n");
    repo.write("z.txt", "one\n");
    repo.commit("here they are");
    assert!(read(&repo, "later.txt", "after").contains("As z.txt"));
    assert!(same(&repo, &["deps", "z.txt", "--format", "json"], "after").contains("sorted"));
}

#[test]
fn what_relies_on_a_name_relies_on_the_file_that_has_it() {
    let repo = noted();
    repo.git(&["mv", "a.txt", "b.txt"]);
    repo.commit("renamed");
    let relies = json!({ "category": "insight", "content": "Whatever.", "file": "b.txt", "depends_on": [{ "file": "a.txt", "nature": "sorted" }] });
    annotate(&repo, "HEAD", &json!({ "summary": "why", "wisdom": [relies] }));
    let relied = |file: &str| same(&repo, &["deps", file, "--format", "json"], file).contains("sorted");
    assert!(relied("b.txt"));
    repo.write("a.txt", "something else\n");
    repo.commit("another file of that name");
    assert_eq!([relied("a.txt"), relied("b.txt")], [true, false]);
    fs::remove_dir_all(facts_directory(&repo)).unwrap();
    assert_eq!([relied("a.txt"), relied("b.txt")], [true, false]);
}

#[test]
fn history_that_becomes_another_one_is_looked_at_anew() {
    let repo = noted();
    repo.write("a.txt", "zero\none\ntwo\nthree\nfour\n");
    let second = repo.commit("second");
    repo.write("a.txt", "zero\none\ntwo\nthree\nfour\nfive\n");
    repo.commit("third");
    let n_since = |what: &str| {
        let told: serde_json::Value = serde_json::from_str(&read(&repo, "a.txt", what)).unwrap();
        told["wisdom"][0]["commits_since"].clone()
    };
    assert_eq!(n_since("whole"), json!(2));
    let written = || same(&repo, &["why", "a.txt:2", "--format", "json"], "why");
    let before = written();
    repo.git(&["replace", "--graft", &second]);
    assert_eq!(n_since("grafted"), json!(null));
    assert_ne!(written(), before);
    repo.git(&["replace", "--delete", &second]);
    assert_eq!((n_since("whole again"), written()), (json!(2), before));
}

#[test]
fn a_commit_that_changes_only_what_kind_of_file_it_is_counts_for_all_as_it_does_for_git() {
    let repo = noted();
    let first = repo.git(&["rev-parse", "HEAD"]);
    let n_since = |what: &str| {
        let told: serde_json::Value = serde_json::from_str(&read(&repo, "a.txt", what)).unwrap();
        told["wisdom"][0]["commits_since"].clone()
    };
    let of_git = || {
        let range = format!("{first}..HEAD");
        let n: u32 = repo.git(&["rev-list", "--count", &range, "--", "a.txt"]).parse().unwrap();
        json!(n)
    };
    let renew = || fs::remove_dir_all(facts_directory(&repo)).unwrap();
    repo.git(&["update-index", "--chmod=+x", "a.txt"]);
    repo.git(&["commit", "--quiet", "-m", "executable"]);
    assert_eq!((of_git(), n_since("since it was read")), (json!(1), json!(1)));
    renew();
    assert_eq!(n_since("read anew"), json!(1));
    // The same blob is a link's target: it has no line of the file any more, and has it again after.
    let blob = repo.git(&["rev-parse", "HEAD:a.txt"]);
    for mode in ["120000", "100644"] {
        repo.git(&["update-index", "--cacheinfo", &format!("{mode},{blob},a.txt")]);
        repo.git(&["commit", "--quiet", "-m", "another kind"]);
        repo.git(&["reset", "--quiet", "--hard"]);
        n_since("since it was read");
        renew();
        n_since("read anew");
    }
    assert_eq!((of_git(), n_since("all")), (json!(3), json!(3)));
}

#[test]
fn who_wrote_a_line_is_what_git_says_of_merges_renames_and_line_ends() {
    let repo = TestRepo::new();
    let lines = |from: u32, to: u32| (from..=to).map(|n| format!("line {n}\n")).collect::<String>();
    repo.write("a.txt", lines(1, 40));
    repo.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
    repo.write("open.txt", "one\ntwo");
    repo.commit("first");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("a.txt", lines(1, 10) + "of the topic\n" + &lines(11, 40));
    repo.commit("topic");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("a.txt", lines(1, 30) + "of main\n" + &lines(31, 40));
    repo.write("dos.txt", "one\ntwo\nthree\n");
    repo.write("open.txt", "one\ntwo\n");
    repo.commit("main");
    repo.git(&["merge", "--quiet", "--no-edit", "topic"]);
    // A merge that has the file as its second parent had it, not as the first.
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("a.txt", lines(1, 10) + "of the side\n" + &lines(11, 40));
    repo.commit("side");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("b.txt", "another\n");
    repo.commit("aside");
    repo.git(&["merge", "--quiet", "--no-edit", "side"]);
    repo.git(&["mv", "a.txt", "moved.txt"]);
    repo.commit("move it");
    let content = fs::read_to_string(repo.path().join("moved.txt")).expect("it is there");
    // Which of two equal lines is new goes by how they are indented; a merge may have lines of its own.
    repo.write("moved.txt", content.replace("line 20\n", "line 20\n\tif so {\n\t}\n\n\tif so {\n\t}\n\n"));
    repo.commit("indent");
    repo.git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    repo.write("moved.txt", content.replace("line 5\n", "line five\n"));
    repo.commit("other");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-commit", "other"]);
    let merged = fs::read_to_string(repo.path().join("moved.txt")).expect("it is there");
    repo.write("moved.txt", merged + "of the merge\n");
    repo.commit("merge");
    for commit in repo.git(&["rev-list", "HEAD"]).lines() {
        annotate(&repo, commit, &json!({ "summary": format!("Why {commit}") }));
    }
    for file in ["moved.txt", "dos.txt", "open.txt", "b.txt"] {
        let n_lines = fs::read_to_string(repo.path().join(file)).expect("it is there").lines().count();
        let told = same(&repo, &["why", &format!("{file}:1-{n_lines}"), "--format", "json"], file);
        let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
        for line in 1..=n_lines {
            let blamed = repo.git(&["blame", "--porcelain", "-L", &format!("{line},{line}"), "--", file]);
            let wrote = told["commits"].as_array().expect("they are listed").iter().find(|wrote| {
                let holds = |lines: &serde_json::Value| {
                    lines["start"].as_u64() <= Some(line as u64) && Some(line as u64) <= lines["end"].as_u64()
                };
                wrote["lines"].as_array().expect("they are listed").iter().any(holds)
            });
            let wrote = wrote.and_then(|wrote| wrote["commit"].as_str()).expect("every line is told");
            assert!(blamed.starts_with(wrote), "{file}:{line}: {wrote}, not {blamed}");
        }
    }
}

#[test]
fn settings_of_blame_are_left_to_git() {
    let repo = noted();
    let before = same(&repo, &["why", "a.txt:2"], "without settings");
    repo.write("a.txt", "one\n  two\nthree\nfour\n");
    let formatting = repo.commit("format");
    annotate(&repo, &formatting, &json!({ "summary": "Formatting" }));
    assert!(same(&repo, &["why", "a.txt:2"], "formatted").contains("format"));
    fs::remove_dir_all(facts_directory(&repo)).expect("there are facts");
    assert!(same(&repo, &["why", "a.txt:2"], "read anew").contains("format"));
    repo.write("ignored", format!("{formatting}\n"));
    repo.git(&["config", "blame.ignoreRevsFile", "ignored"]);
    let told = same(&repo, &["why", "a.txt:2"], "with a setting");
    let by = |told: &str| told.lines().find(|line| line.contains("Written by")).map(str::to_owned);
    assert_eq!(by(&told), by(&before));
}

#[test]
fn each_lesson_on_a_file_has_the_author_of_its_note() {
    let repo = TestRepo::new();
    let authors = [Some("Ada"), None, Some("Bo"), Some("Ada"), Some("Cy")];
    for (number, author) in authors.iter().enumerate() {
        repo.write("a.txt", "line\n".repeat(number + 1));
        let commit = repo.commit(&format!("number {number}"));
        let line = number + 1;
        let lesson = json!({ "category": "gotcha", "content": format!("Mind {number}."), "file": "a.txt", "lines": { "start": line, "end": line } });
        let mut provenance = json!({ "source": "live" });
        if let Some(author) = author {
            provenance["author"] = (*author).into();
        }
        let note = json!({ "schema": "chronicle/v3", "commit": commit, "timestamp": testkit::DATE, "summary": "why", "wisdom": [lesson], "provenance": provenance });
        repo.put_note("chronicle", "HEAD", note.to_string().as_bytes());
        let told = read(&repo, "a.txt", &format!("after number {number}"));
        let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
        let lessons = told["wisdom"].as_array().expect("it is a list");
        for (known, author) in authors[..=number].iter().enumerate() {
            let content = format!("Mind {known}.");
            let lesson = lessons.iter().find(|lesson| lesson["content"] == content.as_str());
            assert_eq!(lesson.expect("it is told")["author"].as_str(), *author, "{content}");
        }
    }
    fs::remove_dir_all(facts_directory(&repo)).expect("it is removed");
    read(&repo, "a.txt", "read anew");
}

#[test]
fn when_the_last_note_is_gone_nothing_is_annotated() {
    let repo = noted();
    let notes = repo.git(&["for-each-ref", "--format=%(refname)", "refs/notes/"]);
    for name in notes.lines() {
        repo.git(&["update-ref", "-d", name]);
    }
    repo.write("b.txt", "one\n");
    repo.commit("second");
    assert!(!same(&repo, &["read", "a.txt"], "no more").contains("Mind two."));
    let [kept, new] = [false, true].map(|no_cache| run(&repo, &["read", "a.txt"], no_cache).stderr);
    assert_eq!(String::from_utf8_lossy(&kept), String::from_utf8_lossy(&new));
}

/// A repository with one lesson that has been read once.
fn noted() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\ntwo\nthree\nfour\n");
    let commit = repo.commit("first");
    annotate(
        &repo,
        &commit,
        &json!({ "summary": "why", "wisdom": [
            { "category": "gotcha", "content": "Mind two.", "file": "a.txt", "lines": { "start": 2, "end": 2 } },
        ] }),
    );
    assert!(read(&repo, "a.txt", "first").contains("Mind two."));
    repo
}

#[test]
fn what_no_branch_reaches_any_more_is_shown_where_its_lines_are() {
    let repo = noted();
    let lines = |third: &str| {
        format!("zero_value = read_all(first_source)\none_value = read_all(second_source)\n{third}\n")
    };
    repo.write("a.txt", lines("two_value = read_all(third_source)"));
    repo.commit("zero");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("a.txt", lines("other_value = find_one(another_source)"));
    let beside = repo.commit("beside");
    let entry = |content: &str, line: u32| json!({ "category": "gotcha", "content": content, "file": "a.txt", "lines": { "start": line, "end": line } });
    let wisdom = [entry("Said beside.", 2), entry("Said of what was never here.", 3)];
    annotate(&repo, &beside, &json!({ "summary": "beside", "wisdom": wisdom }));
    repo.git(&["checkout", "--quiet", "main"]);
    assert!(!read(&repo, "a.txt", "while a branch reaches it").contains("Said beside."));
    repo.git(&["branch", "--quiet", "-D", "side"]);
    let shown = read(&repo, "a.txt", "after its branch went");
    assert!(shown.contains("Said beside.") && !shown.contains("Said of what was never here."), "{shown}");
    same(&repo, &["read", "a.txt", "--format", "json"], "after its branch went");
}

#[test]
fn a_file_that_was_renamed_is_brought_up_to_date() {
    let repo = TestRepo::new();
    let write = |path: &str, lines: [&str; 6]| repo.write(path, lines.join("\n") + "\n");
    let note = |commit: &str, summary: &str, wisdom: serde_json::Value| {
        annotate(&repo, commit, &json!({ "summary": summary, "wisdom": [wisdom] }));
    };
    let said = |content: &str, file: &str, line: u32| {
        let lines = json!({ "start": line, "end": line });
        json!({ "category": "gotcha", "content": content, "file": file, "lines": lines })
    };
    let look = |what: &str| {
        for path in ["src/a.txt", "old.txt"] {
            read(&repo, path, what);
            same(&repo, &["deps", path, "--format", "json"], what);
            same(&repo, &["history", path, "--format", "json"], what);
        }
    };
    write("old.txt", ["one", "two", "three", "four", "five", "six"]);
    let first = repo.commit("first");
    write("old.txt", ["one", "two", "three is odd", "four", "five", "six"]);
    let under_old_name = repo.commit("under the old name");
    write("other.txt", ["1", "2", "3", "4", "5", "6"]);
    let beside = repo.commit("beside it");
    fs::create_dir(repo.path().join("src")).expect("it can be made");
    repo.git(&["mv", "old.txt", "src/a.txt"]);
    let renaming = repo.commit("rename");
    write("src/a.txt", ["one", "two", "three is odd", "four is even", "five", "six"]);
    let under_new_name = repo.commit("under the new name");
    write("old.txt", ["another", "file", "of", "the", "old", "name"]);
    let another = repo.commit("another file of the old name");
    note(&first, "why", said("Mind one.", "old.txt", 1));
    note(&beside, "beside", json!({ "category": "insight", "content": "See old.txt and src/a.txt." }));
    look("at first");
    for (commit, wisdom) in [
        (&under_old_name, said("Mind three.", "old.txt", 3)),
        (&under_new_name, said("Mind four.", "src/a.txt", 4)),
        (&first, said("Mind two, too.", "old.txt", 2)),
        (&renaming, said("Mind five.", "src/a.txt", 5)),
        (&another, said("Mind another.", "old.txt", 1)),
        (&beside, said("Mind the present name.", "src/a.txt", 2)),
    ] {
        // Equal words are one claim, whichever commit they lie on.
        note(commit, &format!("more about {commit}"), wisdom);
        look("after a note on an older commit");
    }
    write("src/a.txt", ["zero", "one", "two", "three was odd", "four is even", "six"]);
    let newest = repo.commit("damage");
    look("after an edit");
    note(&newest, "newest", said("Mind the old name.", "old.txt", 2));
    look("after a new commit spoke of the old name");
}

#[test]
fn a_path_that_was_another_file_before_is_told_as_that_after_going_back() {
    let repo = TestRepo::new();
    let text = |word: &str| (0..8).map(|n| format!("{word} number {n}\n")).collect::<String>();
    let said = |content: &str, file: &str| json!({ "category": "gotcha", "content": content, "file": file, "lines": { "start": 2, "end": 3 } });
    let note = |commit: &str, content: &str, file: &str| {
        annotate(&repo, commit, &json!({ "summary": "why", "wisdom": [said(content, file)] }));
    };
    repo.write("a.txt", text("apple"));
    repo.write("b.txt", text("pear"));
    let both = repo.commit("two files");
    note(&both, "Mind the apples.", "a.txt");
    repo.write("b.txt", text("pear") + "one more\n");
    note(&repo.commit("the other file"), "Mind the pears.", "b.txt");
    repo.git(&["rm", "--quiet", "a.txt"]);
    repo.commit("no apples");
    repo.git(&["mv", "b.txt", "a.txt"]);
    repo.commit("the other one has the name");
    repo.write("a.txt", text("pear") + "two more\n");
    note(&repo.commit("what it has now"), "Mind the name.", "a.txt");
    let now = read(&repo, "a.txt", "with the other one");
    assert!(now.contains("Mind the pears.") && !now.contains("Mind the apples."), "{now}");
    for n_back in [4, 3] {
        repo.git(&["checkout", "--quiet", "--detach", &format!("main~{n_back}")]);
        for path in ["a.txt", "b.txt"] {
            let then = read(&repo, path, "before it had the name");
            let (apples, pears) = (then.contains("Mind the apples."), then.contains("Mind the pears."));
            assert_eq!((apples, pears), (path == "a.txt", path == "b.txt" && n_back == 3), "{path}: {then}");
        }
    }
    // Only its lines change: what it is called is certain without the whole history.
    repo.git(&["checkout", "--quiet", "--detach", "main~1"]);
    let renamed = read(&repo, "a.txt", "just renamed");
    assert!(renamed.contains("Mind the pears.") && !renamed.contains("Mind the name."), "{renamed}");
}

/// The file of facts.
fn facts(repo: &TestRepo) -> PathBuf {
    let entries = fs::read_dir(facts_directory(repo)).expect("there are facts");
    let mut paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "db")).expect("there is a file")
}

#[test]
fn damaged_facts_are_made_again() {
    let repo = noted();
    let file = facts(&repo);
    let whole = fs::read(&file).expect("it can be read");
    let n = whole.len();
    let mut of_another = whole.clone();
    of_another[68] ^= 0x55;
    let damages: [(&str, Vec<u8>); 7] = [
        ("truncated", whole[..n / 2].to_vec()),
        ("truncated within a page", whole[..n / 2 + 100].to_vec()),
        ("emptied", Vec::new()),
        ("zeroed", vec![0; n]),
        ("with zeroes after the head", [&whole[..100], &vec![0; n - 100]].concat()),
        ("overwritten", b"no facts at all, but long enough to have a head".repeat(40)),
        ("of another application", of_another),
    ];
    for (what, bytes) in damages {
        fs::write(&file, bytes).expect("it can be written");
        for _ in 0..2 {
            assert!(read(&repo, "a.txt", what).contains("Mind two."), "{what}");
        }
    }
}

#[test]
fn whatever_is_in_the_place_of_facts_keeps_no_answer() {
    let repo = noted();
    let file = facts(&repo);
    let directory = facts_directory(&repo);
    let check = |what: &str| assert!(read(&repo, "a.txt", what).contains("Mind two."), "{what}");
    fs::remove_dir_all(&directory).expect("it can be removed");
    check("removed");
    assert!(facts(&repo).is_file(), "they were not stored again");
    fs::remove_file(&file).expect("it can be removed");
    fs::create_dir(&file).expect("it can be made");
    check("a folder");
    fs::remove_dir(&file).expect("it can be removed");
    let elsewhere = repo.beside("elsewhere.db");
    fs::write(&elsewhere, "of somebody else").expect("it can be written");
    symlink(&elsewhere, &file).expect("links can be made");
    check("a link");
    assert_eq!(fs::read(&elsewhere).expect("it is there"), b"of somebody else");
    fs::remove_file(&file).expect("it can be removed");
    fs::remove_dir_all(&directory).expect("it can be removed");
    fs::write(&directory, "in the way").expect("it can be written");
    check("blocked");
}

#[test]
fn a_pipe_in_the_place_of_facts_is_not_waited_for() {
    let repo = noted();
    let file = facts(&repo);
    fs::remove_file(&file).expect("it can be removed");
    if !command("mkfifo", repo.path()).arg(&file).status().is_ok_and(|status| status.success()) {
        return skip("there is no mkfifo");
    }
    let mut read = command(crate::outcome::program(), repo.path());
    let mut read = read.args(["read", "a.txt"]).stdout(Stdio::null()).spawn().expect("it starts");
    let began = Instant::now();
    let status = loop {
        match read.try_wait().expect("it can be waited for") {
            None if Duration::from_mins(1) < began.elapsed() => {
                read.kill().expect("it can be killed");
                panic!("it waits for the pipe");
            }
            None => thread::sleep(Duration::from_millis(10)),
            Some(status) => break status,
        }
    };
    assert!(status.success());
}

#[test]
fn a_pipe_in_the_place_of_a_journal_is_not_waited_for() {
    let repo = noted();
    let mut journal = facts(&repo).into_os_string();
    journal.push("-journal");
    if !command("mkfifo", repo.path()).arg(&journal).status().is_ok_and(|status| status.success()) {
        return skip("there is no mkfifo");
    }
    let mut limited = command("timeout", repo.path());
    let status = limited
        .arg("60")
        .arg(crate::outcome::program())
        .args(["read", "a.txt"])
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("it runs").success());
}

#[test]
fn in_a_hook_of_a_linked_worktree_facts_are_kept() {
    let repo = noted();
    let file = facts(&repo);
    fs::remove_file(&file).expect("it can be removed");
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "--quiet", &linked.to_string_lossy()]);
    let git_dir = repo.path().join(".git/worktrees/linked");
    let mut read = command(crate::outcome::program(), &linked);
    assert!(
        read.args(["read", "a.txt"]).env("GIT_DIR", &git_dir).output().expect("it runs").status.success()
    );
    assert!(file.exists());
    fs::remove_file(&file).expect("it can be removed");
    // Those of another repository are not written down here.
    let other = TestRepo::new();
    let mut read = command(crate::outcome::program(), &linked);
    read.args(["read", "a.txt"]).env("GIT_DIR", other.path().join(".git")).output().expect("it runs");
    assert!(!file.exists());
}

#[test]
fn whoever_is_killed_while_filling_leaves_nothing_that_hurts() {
    let repo = noted();
    for n in 0..20_u64 {
        let _gone = fs::remove_dir_all(facts_directory(&repo));
        let mut reader = command(crate::outcome::program(), repo.path())
            .args(["read", "a.txt"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        thread::sleep(Duration::from_micros(700 * n));
        let _gone = reader.kill();
        reader.wait().expect("it ends");
        assert!(read(&repo, "a.txt", "killed").contains("Mind two."));
    }
}

#[test]
fn several_fill_at_once_and_say_the_same() {
    let repo = noted();
    for n in 0..30 {
        repo.write("a.txt", format!("number {n}\none\ntwo\nthree\nfour\n"));
        repo.commit(&format!("number {n}"));
    }
    fs::remove_dir_all(facts_directory(&repo)).expect("it can be removed");
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let mut reader = command(crate::outcome::program(), repo.path());
            reader.args(["read", "a.txt"]).env("CHRONICLE_NOW", "2026-03-03T12:00:00Z");
            reader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
        })
        .collect();
    let answers: Vec<Output> =
        readers.into_iter().map(|reader| reader.wait_with_output().expect("it ends")).collect();
    let alone = run(&repo, &["read", "a.txt"], true);
    for answer in answers {
        assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
        assert_eq!(String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&alone.stdout));
    }
}

#[test]
fn files_out_of_use_are_removed_when_a_new_one_is_made() {
    let repo = noted();
    let (unused, used) =
        (facts_directory(&repo).join("facts-0-a.db"), facts_directory(&repo).join("facts-0-b.db"));
    for file in [&unused, &used] {
        fs::write(file, "of another version").expect("it can be written");
    }
    let old = std::time::UNIX_EPOCH + Duration::from_hours(24);
    fs::File::options()
        .write(true)
        .open(&unused)
        .and_then(|file| file.set_modified(old))
        .expect("it is ours");
    for path in fs::read_dir(facts_directory(&repo)).expect("it is there").filter_map(Result::ok) {
        if path.path() != unused && path.path() != used {
            fs::remove_file(path.path()).expect("it can be removed");
        }
    }
    assert!(read(&repo, "a.txt", "anew").contains("Mind two."));
    assert_eq!([unused.exists(), used.exists()], [false, true]);
}

#[test]
fn a_note_that_is_too_large_is_told_of_and_not_kept() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {\n    1;\n}\n");
    let small = repo.commit("small");
    let lesson = json!({ "category": "gotcha", "content": "Keep this order.", "file": "a.rs", "lines": { "start": 1, "end": 3 } });
    annotate(&repo, &small, &json!({ "summary": "why the order counts here", "wisdom": [lesson] }));
    repo.write("a.rs", "fn a() {\n    1;\n}\n\nfn b() {}\n");
    let large = repo.commit("large");
    let note = json!({ "schema": "chronicle/v3", "commit": large, "timestamp": "2026-03-01T12:00:00Z",
        "summary": "x".repeat(9 << 20), "provenance": { "source": "live" } });
    repo.put_note("chronicle", &large, note.to_string().as_bytes());
    // What would not be read is not stored either.
    let mut more = command(crate::outcome::program(), repo.path());
    let more =
        more.args(["annotate", "--commit", &large, "-m", "Why there is more"]).output().expect("it runs");
    assert_eq!(more.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&more.stderr).contains("notes above 8 MB are not read"), "{more:?}");
    assert!(!repo.note("chronicle", &large).contains("Why there is more"));
    let reading: serde_json::Value =
        serde_json::from_str(&read(&repo, "a.rs", "a large note")).expect("it is JSON");
    assert_eq!(reading["wisdom"][0]["content"], "Keep this order.");
    let warnings = reading["warnings"].to_string();
    assert!(warnings.contains(&large) && warnings.contains("more than 8 MB"), "{warnings}");
    let files = fs::read_dir(facts_directory(&repo)).expect("it is there").filter_map(Result::ok);
    let size: u64 = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    assert!((1..1 << 20).contains(&size), "{size}");
}
