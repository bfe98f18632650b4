//! The index changes how fast an answer comes, never what it says.
//!
//! Every answer is asked for twice, with the index and without, and must be the same to the byte.

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

use crate::outcome::{run_with_input, skip};

fn run(repo: &TestRepo, args: &[&str], no_index: bool) -> Output {
    let mut command = command(crate::outcome::program(), repo.path());
    command.args(args).env("CHRONICLE_NOW", "2026-03-03T12:00:00Z").stdin(Stdio::null());
    // What is done behind a read is over when the next one begins.
    command.env("CHRONICLE_FOREGROUND", "1");
    if no_index {
        command.env("CHRONICLE_NO_INDEX", "1");
    }
    command.output().expect("the binary runs")
}

/// Asserts that the index says what the repository says; returns what was said.
fn same(repo: &TestRepo, args: &[&str], what: &str) -> String {
    let [indexed, direct] = [false, true].map(|no_index| run(repo, args, no_index));
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text(&indexed), text(&direct), "{what}: {args:?}");
    assert_eq!(indexed.status.code(), direct.status.code(), "{what}: {args:?}");
    text(&indexed)
}

fn read(repo: &TestRepo, path: &str, what: &str) -> String {
    same(repo, &["read", path, "--format", "json", "--max-regions", "1000"], what)
}

/// Asserts that the index knows the same entries of an edited file as the repository does.
///
/// Their lines may differ: those of the index go by way of `HEAD`, where others may have come between them.
fn same_entries(repo: &TestRepo, path: &str, what: &str) {
    let args = ["read", path, "--format", "json", "--max-regions", "1000"];
    let [indexed, direct] = [false, true].map(|no_index| {
        let output = run(repo, &args, no_index);
        let reading: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let entries =
            ["regions", "wisdom"].map(|list| reading[list].as_array().expect("it is a list").clone());
        let mut entries: Vec<String> = entries
            .concat()
            .into_iter()
            .map(|mut entry| {
                let told = entry.as_object_mut().expect("it is an object");
                for changed in [
                    "lines",
                    "state",
                    "gone_because",
                    "gone_since",
                    "item_lines",
                    "confidence",
                    "confidence_factors",
                ] {
                    // The others stay in their order.
                    told.shift_remove(changed);
                }
                entry.to_string()
            })
            .collect();
        entries.sort_unstable();
        entries
    });
    assert_eq!(indexed, direct, "{what}: {args:?}");
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

fn index_directory(repo: &TestRepo) -> PathBuf {
    let all = repo.path().join(".git/chronicle/index");
    let mut of_users =
        fs::read_dir(&all).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    of_users.find(|path| path.is_dir()).unwrap_or(all)
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("smaller than end")
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn lines(&mut self, n: usize) -> Vec<String> {
        (0..n).map(|_| format!("line {}", self.below(1_000_000))).collect()
    }
}

/// A repository that is worked on at random, by one who also changes branches and rewrites history.
struct Work {
    repo: TestRepo,
    random: Random,
    branches: Vec<String>,
    n_branches: usize,
    /// Commits that a branch was at which was deleted.
    deleted: Vec<String>,
    /// Lines that were cut out and are to be put somewhere else.
    cut: Vec<String>,
}

impl Work {
    fn begin(seed: u64) -> Self {
        let mut work = Self {
            repo: TestRepo::new(),
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            branches: vec!["main".to_owned()],
            n_branches: 0,
            deleted: Vec::new(),
            cut: Vec::new(),
        };
        for n in 0..4 {
            let lines = work.random.lines(30);
            work.repo.write(format!("d{}/f{n}.txt", n % 2), lines.join("\n") + "\n");
        }
        work.repo.commit("first");
        work
    }

    fn files(&self) -> Vec<String> {
        self.repo.git(&["ls-files"]).lines().map(str::to_owned).collect()
    }

    fn edit(&mut self, file: &str) {
        let content = fs::read_to_string(self.repo.path().join(file)).expect("a file of HEAD is there");
        let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
        let at = self.random.below(lines.len() + 1);
        match self.random.below(3) {
            0 => drop(lines.splice(at..at, self.random.lines(3)).collect::<Vec<_>>()),
            1 if 8 < lines.len() => drop(lines.drain(at.min(lines.len() - 3)..at.min(lines.len() - 3) + 3)),
            _ => lines.extend(self.random.lines(1)),
        }
        self.repo.write(file, lines.join("\n") + "\n");
    }

    fn lines_of(&self, file: &str) -> Vec<String> {
        let content = fs::read_to_string(self.repo.path().join(file)).expect("a file of HEAD is there");
        content.lines().map(str::to_owned).collect()
    }

    /// Takes lines out of the file `from`, where they may stay.
    fn cut(&mut self, from: &str, stays: bool) {
        let mut lines = self.lines_of(from);
        let first = self.random.below(lines.len().saturating_sub(6).max(1));
        let end = (first + 4 + self.random.below(8)).min(lines.len());
        self.cut = lines[first..end].to_vec();
        if !stays {
            lines.drain(first..end);
            self.repo.write(from, lines.join("\n") + "\n");
        }
    }

    /// Puts into the file `to` the lines that were cut last.
    fn paste(&mut self, to: &str) {
        let mut lines = self.lines_of(to);
        let at = self.random.below(lines.len() + 1);
        lines.splice(at..at, std::mem::take(&mut self.cut));
        self.repo.write(to, lines.join("\n") + "\n");
    }

    /// Puts lines of the file `from` into the file `to`; they stay in the first one or do not.
    fn bring(&mut self, from: &str, to: &str, stays: bool) {
        let kept = std::mem::take(&mut self.cut);
        self.cut(from, stays);
        self.paste(to);
        self.cut = kept;
    }

    /// One step; says what it was.
    fn step(&mut self) -> String {
        let files = self.files();
        let number = self.random.below(1000);
        match self.random.below(24) {
            step if files.len() < 3 || step == 15 => {
                let lines = self.random.lines(20);
                self.repo.write(format!("d0/n{}.txt", number % 40), lines.join("\n") + "\n");
                self.repo.commit("another file");
                "another file".to_owned()
            }
            0..=2 => {
                let file = self.random.one(&files).clone();
                self.edit(&file);
                self.repo.commit("edit");
                format!("edit {file}")
            }
            3 => {
                let (old, new) = (self.random.one(&files).clone(), format!("d{}/r{number}.txt", number % 3));
                if files.contains(&new) {
                    return "nothing".to_owned();
                }
                fs::create_dir_all(self.repo.path().join(format!("d{}", number % 3)))
                    .expect("it can be made");
                self.repo.git(&["mv", &old, &new]);
                self.repo.commit("rename");
                format!("rename {old} {new}")
            }
            4 => {
                let file = self.random.one(&files).clone();
                if number.is_multiple_of(2) {
                    self.cut(&file, true);
                }
                self.repo.git(&["rm", "--quiet", &file]);
                self.repo.commit("remove");
                format!("remove {file}")
            }
            5 => {
                let branch = self.new_branch();
                self.repo.git(&["checkout", "--quiet", "-b", &branch]);
                "branch".to_owned()
            }
            6 => {
                let branch = self.random.one(&self.branches).clone();
                self.repo.git(&["checkout", "--quiet", &branch]);
                format!("checkout {branch}")
            }
            7 => {
                let branch = self.random.one(&self.branches).clone();
                if !self.repo.try_git(&["merge", "--quiet", "--no-edit", &branch]).status.success() {
                    self.repo.try_git(&["merge", "--abort"]);
                    self.repo.git(&["reset", "--quiet", "--hard"]);
                }
                format!("merge {branch}")
            }
            8 => {
                let file = self.random.one(&files).clone();
                self.edit(&file);
                self.repo.git(&["commit", "--quiet", "--all", "--amend", "--allow-empty", "--no-edit"]);
                "amend".to_owned()
            }
            9 => {
                self.repo.try_git(&["reset", "--quiet", "--hard", "HEAD~1"]);
                "reset".to_owned()
            }
            10 => {
                if !self.repo.try_git(&["revert", "--no-edit", "HEAD"]).status.success() {
                    self.repo.try_git(&["revert", "--abort"]);
                    self.repo.git(&["reset", "--quiet", "--hard"]);
                }
                "revert".to_owned()
            }
            11 => {
                let branch = self.random.one(&self.branches).clone();
                let commit = self.repo.git(&["rev-parse", &branch]);
                if self.repo.try_git(&["branch", "--quiet", "-D", &branch]).status.success() {
                    self.branches.retain(|other| *other != branch);
                    self.deleted.push(commit.trim().to_owned());
                }
                format!("delete {branch}")
            }
            12 if !self.deleted.is_empty() => {
                let commit = self.random.one(&self.deleted).clone();
                let branch = self.new_branch();
                self.repo.git(&["branch", &branch, &commit]);
                format!("a branch again at {commit}")
            }
            13 => {
                let branch = self.random.one(&self.branches).clone();
                if self.repo.try_git(&["merge", "--quiet", "--squash", &branch]).status.success() {
                    self.repo.try_git(&["commit", "--quiet", "--no-edit"]);
                } else {
                    self.repo.git(&["reset", "--quiet", "--hard"]);
                }
                format!("squash {branch}")
            }
            14 => {
                let file = self.random.one(&files).clone();
                let mode = if number.is_multiple_of(2) { "--chmod=+x" } else { "--chmod=-x" };
                self.repo.git(&["update-index", mode, &file]);
                self.repo.try_git(&["commit", "--quiet", "-m", "mode"]);
                self.repo.git(&["reset", "--quiet", "--hard"]);
                format!("{mode} {file}")
            }
            16 | 17 => {
                let (from, to) = (self.random.one(&files).clone(), self.random.one(&files).clone());
                let stays = number.is_multiple_of(3);
                if from != to {
                    self.bring(&from, &to, stays);
                    self.repo.commit("bring");
                }
                format!("bring lines of {from} into {to}, where they stay: {stays}")
            }
            18 | 19 => {
                let (file, is_cut) = (self.random.one(&files).clone(), !self.cut.is_empty());
                if is_cut {
                    self.paste(&file);
                } else {
                    self.cut(&file, false);
                }
                self.repo.try_git(&["commit", "--quiet", "--all", "--message", "cut and paste"]);
                format!("{} {file}", if is_cut { "paste into" } else { "cut out of" })
            }
            _ => self.annotate(),
        }
    }

    fn new_branch(&mut self) -> String {
        self.n_branches += 1;
        let branch = format!("b{}", self.n_branches);
        self.branches.push(branch.clone());
        branch
    }

    fn annotate(&mut self) -> String {
        let all = self.repo.git(&["rev-list", "--exclude=refs/notes/*", "--all"]);
        let here = self.repo.git(&["rev-list", "HEAD"]);
        let commits: Vec<&str> = if self.random.below(4) == 0 { &all } else { &here }.lines().collect();
        let commit = (*self.random.one(&commits)).to_owned();
        if !self.repo.try_git(&["cat-file", "-e", &format!("{commit}:d0")]).status.success() {
            return "nothing".to_owned();
        }
        let files = self.repo.git(&["ls-tree", "-r", "--name-only", &commit]);
        let files: Vec<&str> = files.lines().collect();
        let (file, other) = (*self.random.one(&files), *self.random.one(&files));
        // Perhaps there is to be such a file one day.
        let to_come = format!("d0/n{}.txt", self.random.below(40));
        let other = if self.random.below(3) == 0 { &to_come } else { other };
        let start = 1 + self.random.below(10);
        let (text, end) = (self.random.below(1_000_000), start + self.random.below(6));
        annotate(
            &self.repo,
            &commit,
            &json!({ "summary": format!("why {text}"), "wisdom": [
                { "category": "gotcha", "content": format!("lines {text}"), "file": file, "lines": { "start": start, "end": end } },
                { "category": "insight", "content": format!("commit {text}, as {file} takes it"),
                  "depends_on": [{ "file": other, "nature": "never empty" }] },
            ] }),
        );
        format!("annotate {commit}")
    }
}

/// A few that are always tried, or more of them, from a first one on: `CHRONICLE_TEST_SEEDS=100:50`.
#[expect(clippy::disallowed_methods, reason = "how much a test tries is set from outside")]
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("CHRONICLE_TEST_SEEDS").ok();
    let given = given.as_deref().and_then(|given| given.split_once(':'));
    let given = given.and_then(|(first, n)| Some((first.parse::<u64>().ok()?, n.parse::<u64>().ok()?)));
    let (first, n) = given.unwrap_or((1, 4));
    first..first + n
}

#[test]
fn it_says_what_the_repository_says_whatever_happened_in_between() {
    for seed in seeds() {
        let mut work = Work::begin(seed);
        let mut steps = Vec::new();
        for _ in 0..30 {
            steps.push(work.step());
            let files = work.files();
            if files.is_empty() {
                continue;
            }
            let file = work.random.one(&files).clone();
            read(&work.repo, &file, &format!("seed {seed} after {steps:?}"));
            if work.random.below(3) == 0 {
                same(
                    &work.repo,
                    &["deps", &file, "--format", "json"],
                    &format!("seed {seed} after {steps:?}"),
                );
            }
            // What is kept of one answer helps with the next one, whatever became of the file.
            for file in work.files().iter().take(2) {
                let content = fs::read_to_string(work.repo.path().join(file)).expect("it is there");
                let lines = format!("1:{}", content.lines().count());
                let question = ["why", file, &lines, "--format", "json"];
                same(&work.repo, &question, &format!("seed {seed} after {steps:?}"));
                let of_one_kind = ["read", file, "--category", "insight", "--format", "json"];
                same(&work.repo, &of_one_kind, &format!("seed {seed} after {steps:?}"));
            }
            if work.random.below(4) == 0 {
                let all = work.repo.git(&["rev-list", "HEAD"]);
                let base = *work.random.one(&all.lines().collect::<Vec<_>>());
                let range = format!("{base}..HEAD");
                same(
                    &work.repo,
                    &["check", "--diff", &range, "--format", "json"],
                    &format!("after {steps:?}"),
                );
            }
            if work.random.below(6) == 0 {
                read(&work.repo, ".", &format!("seed {seed} after {steps:?}"));
                work.edit(&file);
                same_entries(&work.repo, &file, &format!("seed {seed}, {file} edited, after {steps:?}"));
                work.repo.git(&["checkout", "--quiet", "--", &file]);
            }
            let other = work.random.one(&files).clone();
            if work.random.below(3) == 0 && other != file {
                let stays = work.random.below(3) == 0;
                work.bring(&file, &other, stays);
                if work.random.below(4) == 0 {
                    fs::remove_file(work.repo.path().join(&file)).expect("it is there");
                }
                for path in &files {
                    let what = format!(
                        "seed {seed}, {path}, lines of {file} in {other}, stay: {stays}, after {steps:?}"
                    );
                    same_entries(&work.repo, path, &what);
                }
                work.repo.git(&["checkout", "--quiet", "--", &file, &other]);
            }
        }
        assert!(index_directory(&work.repo).is_dir(), "nothing was indexed");
    }
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
fn a_directory_is_answered_from_it_whatever_else_lies_there() {
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
    let objects = repo.path().join(".git/objects");
    let check = |what: &str| {
        for question in questions {
            let told = same(&repo, question, what);
            assert!(told.contains("Mind plain.txt."), "{what}: {told}");
            // What needs no object was not looked up in the repository.
            fs::rename(&objects, repo.beside("objects")).expect("they can be moved");
            let without_objects = run(&repo, question, false);
            fs::rename(repo.beside("objects"), &objects).expect("they can be moved");
            assert_eq!(String::from_utf8_lossy(&without_objects.stdout), told, "{what}: {question:?}");
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
    // In another place, and with other lines around it, while the table knows it as gone.
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
    let repo = indexed();
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
    let repo = indexed();
    repo.write("b.txt", "one\n");
    let stays = repo.commit("second");
    repo.write("b.txt", "two\n");
    let goes = repo.commit("third");
    let lesson = json!({ "category": "gotcha", "content": "Mind three.", "file": "a.txt", "lines": { "start": 3, "end": 3 } });
    annotate(&repo, &goes, &json!({ "summary": "why", "wisdom": [lesson] }));
    // The index as it is where the branch reaches the commit, and HEAD would not.
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
    let repo = indexed();
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
    fs::remove_dir_all(index_directory(&repo)).unwrap();
    assert_eq!(n_told("from the beginning"), (1, 0));
}

#[test]
fn a_later_note_on_a_branch_that_stays_is_not_told_either() {
    let repo = indexed();
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
    fs::remove_dir_all(index_directory(&repo)).unwrap();
    assert!(!read(&repo, "a.txt", "the table knows the branch").contains("Mind four."));
    say(&second);
    assert!(!read(&repo, "a.txt", "one more note").contains("Mind four."));
}

#[test]
fn an_orphan_that_is_merged_is_told_once() {
    let repo = indexed();
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("b.txt", "one\n");
    let aside = repo.commit("on the side");
    let lesson = json!({ "category": "gotcha", "content": "Mind four.", "file": "a.txt", "lines": { "start": 4, "end": 4 } });
    annotate(&repo, &aside, &json!({ "summary": "why", "wisdom": [lesson] }));
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "side"]);
    fs::remove_dir_all(index_directory(&repo)).unwrap();
    let told = read(&repo, "a.txt", "the table knows it as an orphan");
    assert!(told.contains("no branch"), "{told}");
    repo.git(&["merge", "--quiet", &aside]);
    let told = read(&repo, "a.txt", "merged");
    assert_eq!((told.matches("Mind four.").count(), told.matches("no branch").count()), (1, 0), "{told}");
}

#[test]
fn what_names_a_file_that_is_yet_to_come_is_told_of_it() {
    let repo = indexed();
    let relies = json!({ "category": "insight", "content": "As z.txt will have it.", "file": "later.txt", "depends_on": [{ "file": "z.txt", "nature": "sorted" }] });
    annotate(&repo, "HEAD", &json!({ "summary": "why", "wisdom": [relies] }));
    fs::remove_dir_all(index_directory(&repo)).unwrap();
    read(&repo, "a.txt", "before");
    repo.write("later.txt", "one\n");
    repo.write("z.txt", "one\n");
    repo.commit("here they are");
    assert!(read(&repo, "later.txt", "after").contains("As z.txt"));
    assert!(same(&repo, &["deps", "z.txt", "--format", "json"], "after").contains("sorted"));
}

#[test]
fn what_relies_on_a_name_relies_on_the_file_that_has_it() {
    let repo = indexed();
    repo.git(&["mv", "a.txt", "b.txt"]);
    repo.commit("renamed");
    let relies = json!({ "category": "insight", "content": "Whatever.", "file": "b.txt", "depends_on": [{ "file": "a.txt", "nature": "sorted" }] });
    annotate(&repo, "HEAD", &json!({ "summary": "why", "wisdom": [relies] }));
    let relied = |file: &str| same(&repo, &["deps", file, "--format", "json"], file).contains("sorted");
    assert!(relied("b.txt"));
    repo.write("a.txt", "something else\n");
    repo.commit("another file of that name");
    assert_eq!([relied("a.txt"), relied("b.txt")], [true, false]);
    fs::remove_dir_all(index_directory(&repo)).unwrap();
    assert_eq!([relied("a.txt"), relied("b.txt")], [true, false]);
}

#[test]
fn history_that_becomes_another_one_is_looked_at_anew() {
    let repo = indexed();
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
    let repo = indexed();
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
    let renew = || fs::remove_dir_all(index_directory(&repo)).unwrap();
    repo.git(&["update-index", "--chmod=+x", "a.txt"]);
    repo.git(&["commit", "--quiet", "-m", "executable"]);
    assert_eq!((of_git(), n_since("since the index")), (json!(1), json!(1)));
    renew();
    assert_eq!(n_since("in the index"), json!(1));
    // The same blob is a link's target: it has no line of the file any more, and has it again after.
    let blob = repo.git(&["rev-parse", "HEAD:a.txt"]);
    for mode in ["120000", "100644"] {
        repo.git(&["update-index", "--cacheinfo", &format!("{mode},{blob},a.txt")]);
        repo.git(&["commit", "--quiet", "-m", "another kind"]);
        repo.git(&["reset", "--quiet", "--hard"]);
        n_since("since the index");
        renew();
        n_since("in the index");
    }
    assert_eq!((of_git(), n_since("all")), (json!(3), json!(3)));
}

#[test]
fn who_wrote_a_line_is_asked_of_git_only_after_another_commit_changed_the_file() {
    let repo = indexed_beside(1);
    let why = || {
        let mut command = command(crate::outcome::program(), repo.path());
        command.args(["why", "a.txt:2"]).env("CHRONICLE_NOW", "2026-03-03T12:00:00Z");
        let output = command.env("PATH", "/nowhere").output().expect("the binary runs");
        output.status.success().then(|| String::from_utf8(output.stdout).expect("it is text"))
    };
    let told = same(&repo, &["why", "a.txt:2"], "with git");
    assert_eq!(why().as_ref(), Some(&told));
    repo.write("others/0.txt", "something else\n");
    repo.commit("elsewhere");
    assert_eq!(why(), Some(told));
    repo.write("a.txt", "one\ntwo!\nthree\nfour\n");
    repo.commit("here");
    assert_eq!(why(), None);
    let told = same(&repo, &["why", "a.txt:2"], "changed");
    assert!(told.contains("here"));
    assert_eq!(why(), Some(told));
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
    let repo = indexed_beside(1);
    let before = same(&repo, &["why", "a.txt:2"], "without settings");
    repo.write("a.txt", "one\n  two\nthree\nfour\n");
    let formatting = repo.commit("format");
    annotate(&repo, &formatting, &json!({ "summary": "Formatting" }));
    assert!(same(&repo, &["why", "a.txt:2"], "formatted").contains("format"));
    fs::remove_dir_all(index_directory(&repo)).expect("there is an index");
    assert!(same(&repo, &["why", "a.txt:2"], "with a new table").contains("format"));
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
        // The first one makes a table; from the second one on it is brought up to date.
        let told = read(&repo, "a.txt", &format!("after number {number}"));
        let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
        let lessons = told["wisdom"].as_array().expect("it is a list");
        for (known, author) in authors[..=number].iter().enumerate() {
            let content = format!("Mind {known}.");
            let lesson = lessons.iter().find(|lesson| lesson["content"] == content.as_str());
            assert_eq!(lesson.expect("it is told")["author"].as_str(), *author, "{content}");
        }
    }
    fs::remove_dir_all(repo.path().join(".git/chronicle/index")).expect("it is removed");
    read(&repo, "a.txt", "in one table");
}

#[test]
fn when_the_last_note_is_gone_nothing_is_annotated() {
    let repo = indexed();
    let notes = repo.git(&["for-each-ref", "--format=%(refname)", "refs/notes/"]);
    for name in notes.lines() {
        repo.git(&["update-ref", "-d", name]);
    }
    repo.write("b.txt", "one\n");
    repo.commit("second");
    assert!(!same(&repo, &["read", "a.txt"], "no more").contains("Mind two."));
    let [indexed, direct] = [false, true].map(|no_index| run(&repo, &["read", "a.txt"], no_index).stderr);
    assert_eq!(String::from_utf8_lossy(&indexed), String::from_utf8_lossy(&direct));
}

/// A repository with one lesson that has been read once.
fn indexed() -> TestRepo {
    indexed_beside(0)
}

/// A table of a file with a lesson, and of so many others.
fn indexed_beside(n_files: usize) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\ntwo\nthree\nfour\n");
    for n in 0..n_files {
        repo.write(format!("others/{n}.txt"), "something\n");
    }
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

fn tables(repo: &TestRepo) -> Vec<PathBuf> {
    let entries = fs::read_dir(index_directory(repo)).expect("there is an index");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "idx")).collect()
}

#[test]
fn a_damaged_index_is_as_if_it_were_not_there() {
    let repo = indexed();
    let table = tables(&repo).remove(0);
    let whole = fs::read(&table).expect("it can be read");
    let mut other_version = whole.clone();
    other_version[8] ^= 0x55;
    let damages: [(&str, Vec<u8>); 6] = [
        ("truncated", whole[..whole.len() / 2].to_vec()),
        ("emptied", Vec::new()),
        ("zeroed", vec![0; whole.len()]),
        ("of another version", other_version),
        ("overwritten", b"not an index at all, but long enough to have a header".to_vec()),
        ("with zeroes behind the header", [&whole[..48], &vec![0; whole.len() - 48]].concat()),
    ];
    for (what, bytes) in damages {
        fs::write(&table, bytes).expect("it can be written");
        assert!(read(&repo, "a.txt", what).contains("Mind two."), "{what}");
    }
}

#[test]
fn a_pipe_in_the_place_of_the_index_is_not_waited_for() {
    let repo = indexed();
    let table = tables(&repo).remove(0);
    fs::remove_file(&table).expect("it can be removed");
    if !command("mkfifo", repo.path()).arg(&table).status().is_ok_and(|status| status.success()) {
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
    assert!(table.is_file(), "the index was made anew");
}

/// The parts of the index.
fn parts(repo: &TestRepo) -> Vec<PathBuf> {
    let entries = fs::read_dir(index_directory(repo)).expect("there is an index");
    let paths = entries.map(|entry| entry.expect("it can be listed").path().join("part.idx"));
    paths.filter(|path| path.is_file()).collect()
}

#[test]
fn a_branch_that_comes_costs_no_record_anew() {
    let repo = indexed();
    repo.write("a.txt", "zero\none\ntwo\nthree\nfour\n");
    repo.commit("zero");
    assert!(read(&repo, "a.txt", "after a commit").contains("Mind two."));
    let records = || {
        let files = |part: &PathBuf| {
            fs::read_dir(part.parent().expect("it lies in a directory")).expect("it is there")
        };
        let count = |part: &PathBuf| files(part).count() - 1;
        parts(&repo).iter().map(count).collect::<Vec<_>>()
    };
    assert_eq!(records(), [1], "the file that changed");
    repo.git(&["branch", "other"]);
    read(&repo, "b.txt", "after a branch came");
    assert_eq!(records(), [1, 1], "the record went along");
    assert!(read(&repo, "a.txt", "after a branch came").contains("Mind two."));
    same(&repo, &["read", "a.txt", "--format", "json"], "after a branch came");
    // What no branch reaches any more is shown where its lines are here, so the record is another one.
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("a.txt", "zero\none\nelse\nthree\nfour\n");
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
fn old_states_go_and_the_present_one_stays() {
    let repo = indexed();
    let most = (0..40)
        .map(|n| {
            add_commits(&repo, 1);
            assert!(read(&repo, "a.txt", "a new commit").contains("Mind two."), "commit {n}");
            let n_parts = parts(&repo).len();
            read(&repo, "a.txt", "again");
            assert_eq!(parts(&repo).len(), n_parts, "commit {n}: the present state was not kept");
            n_parts
        })
        .max();
    assert!(most.is_some_and(|most| (16..=33).contains(&most)), "{most:?} states were kept");
    assert_eq!(tables(&repo).len(), 1, "the table that they build on");
}

#[test]
fn a_damaged_part_is_not_gone_on_from() {
    const SAID: &str = "Whoever changes a.txt must look here.";
    let repo = indexed();
    let note = |line: &str| {
        repo.write("a.txt", format!("{line}\none\ntwo\nthree\nfour\n"));
        let commit = repo.commit(line);
        let entry = json!({ "category": "insight", "content": SAID });
        annotate(&repo, &commit, &json!({ "summary": line, "wisdom": [entry] }));
        read(&repo, "a.txt", line)
    };
    note("zero");
    let known = parts(&repo);
    let [part] = known.as_slice() else { panic!("{known:?}") };
    let mut bytes = fs::read(part).expect("it can be read");
    let at =
        bytes.windows(SAID.len()).position(|window| window == SAID.as_bytes()).expect("it is said there");
    bytes[at] ^= 1;
    fs::write(part, bytes).expect("it can be written");
    let found = note("nought");
    assert!(found.contains("Mind two."), "{found}");
    assert_eq!(parts(&repo).len(), 2, "nothing was made of the new state");
    same(&repo, &["deps", "a.txt", "--format", "json"], "after the damage");
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
    look("with a table");
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

/// Adds so many commits that change nothing.
fn add_commits(repo: &TestRepo, n: usize) {
    let commit = "commit refs/heads/main\ncommitter T <t@t> 1700000000 +0000\ndata 1\nx\n";
    let stream = format!("{commit}from refs/heads/main^0\n{}", commit.repeat(n - 1));
    let mut import = command("git", repo.path());
    run_with_input(import.args(["fast-import", "--quiet"]), stream.as_bytes()).success();
}

#[test]
fn a_part_serves_while_a_table_is_made_behind_a_read() {
    let repo = indexed();
    add_commits(&repo, 1001);
    let lock = fs::File::create(index_directory(&repo).join("table.lock")).expect("it can be written");
    lock.lock().expect("nobody holds it");
    read(&repo, "a.txt", "while another makes the table");
    assert_eq!((tables(&repo).len(), parts(&repo).len()), (1, 1), "it was made under the lock of another");
    begun(&lock, LONG_AGO);
    drop(lock);
    let unfinished: Vec<PathBuf> =
        (0..4).map(|n| index_directory(&repo).join(format!("new-killed{n}"))).collect();
    for path in &unfinished {
        fs::write(path, "half a table").expect("it can be written");
    }
    add_commits(&repo, 1);
    read(&repo, "a.txt", "far from every table");
    assert_eq!(tables(&repo).len(), 2, "no table was made");
    assert!(unfinished.iter().all(|path| !path.exists()), "what nobody will finish is still there");
    let n_parts = parts(&repo).len();
    add_commits(&repo, 1);
    read(&repo, "a.txt", "on the new table");
    assert_eq!((tables(&repo).len(), parts(&repo).len()), (2, n_parts + 1), "the new table is near");
}

#[test]
fn the_repository_is_asked_while_a_table_is_made_for_a_state_that_no_part_reaches() {
    let repo = indexed();
    add_commits(&repo, 2001);
    let lock = fs::File::create(index_directory(&repo).join("table.lock")).expect("it can be written");
    lock.lock().expect("nobody holds it");
    read(&repo, "a.txt", "while another makes the table");
    assert_eq!((tables(&repo).len(), parts(&repo).len()), (1, 0), "it was made under the lock of another");
    begun(&lock, LONG_AGO);
    drop(lock);
    read(&repo, "a.txt", "out of reach of every table");
    assert_eq!(tables(&repo).len(), 2, "no table was made");
}

#[test]
fn the_first_read_of_a_long_history_leaves_the_table_to_a_process_behind_it() {
    let repo = indexed();
    fs::remove_dir_all(index_directory(&repo)).expect("it can be removed");
    add_commits(&repo, 100_001);
    repo.git(&["commit-graph", "write", "--reachable", "--no-progress"]);
    let output = command(crate::outcome::program(), repo.path())
        .args(["read", "a.txt"])
        .output()
        .expect("the binary runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("Mind two."), "{told}");
    let start = Instant::now();
    while tables(&repo).is_empty() && start.elapsed() < Duration::from_mins(2) {
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(tables(&repo).len(), 1, "no table was made");
    read(&repo, "a.txt", "of a long history");
}

const LONG_AGO: Duration = Duration::from_hours(1);

/// As if whoever made a table under `lock` had begun so long ago.
fn begun(lock: &fs::File, ago: Duration) {
    let made = lock.metadata().and_then(|metadata| metadata.modified()).expect("a file has a time");
    lock.set_modified(made - ago).expect("it is ours");
}

#[test]
fn a_table_that_failed_is_not_tried_again_at_once() {
    let repo = indexed_beside(2000);
    let lock = index_directory(&repo).join("table.lock");
    add_commits(&repo, 1001);
    // A part of a thousand commits is smaller than this, whichever block the shell means, and a table of two thousand
    // files is not: the system kills who writes it.
    let limited = r#"ulimit -f 100; exec "$0" read a.txt"#;
    let output = command("sh", repo.path())
        .args(["-c", limited, crate::outcome::program()])
        .env("CHRONICLE_FOREGROUND", "1")
        .output()
        .expect("a shell is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((tables(&repo).len(), parts(&repo).len()), (1, 1), "only a part was made");
    assert!(lock.exists(), "no table was begun");
    add_commits(&repo, 1);
    read(&repo, "a.txt", "a moment after it failed");
    assert_eq!(tables(&repo).len(), 1, "it was tried again at once");
    begun(&fs::File::options().write(true).open(&lock).expect("it is there"), LONG_AGO);
    add_commits(&repo, 1);
    read(&repo, "a.txt", "an hour after it failed");
    assert_eq!(tables(&repo).len(), 2, "no table was made");
}

#[test]
fn without_its_files_or_the_right_to_write_them_the_answer_is_the_same() {
    let repo = indexed();
    let directory = index_directory(&repo);
    fs::remove_dir_all(&directory).expect("it can be removed");
    assert!(read(&repo, "a.txt", "removed").contains("Mind two."));
    assert_eq!(tables(&repo).len(), 1, "it was made again");
    fs::remove_dir_all(&directory).expect("it can be removed");
    fs::write(&directory, "in the way").expect("it can be written");
    assert!(read(&repo, "a.txt", "blocked").contains("Mind two."));
}

#[test]
fn nobody_waits_for_who_makes_it() {
    let repo = indexed();
    let lock =
        fs::File::options().write(true).open(index_directory(&repo).join("lock")).expect("it is there");
    lock.lock().expect("nobody holds it");
    for table in tables(&repo) {
        fs::remove_file(table).expect("it can be removed");
    }
    assert!(read(&repo, "a.txt", "locked").contains("Mind two."));
    assert!(tables(&repo).is_empty(), "it was made under the lock of another");
    drop(lock);
    read(&repo, "a.txt", "unlocked");
    assert_eq!(tables(&repo).len(), 1);
}

#[test]
fn who_is_killed_while_making_it_leaves_nothing_that_hurts() {
    let repo = indexed();
    for n in 0..20_u64 {
        let _gone = fs::remove_dir_all(index_directory(&repo));
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
