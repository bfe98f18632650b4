//! What `init` sets up, that git behaves as before with it, and that `uninstall` leaves no trace.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle, contents, note, run};

/// A `PATH` on which the binary comes first.
pub(crate) fn path_with(first: &Path) -> OsString {
    #[expect(clippy::disallowed_methods, reason = "git itself has to be found")]
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = [first.to_owned()].into_iter().chain(std::env::split_paths(&others));
    std::env::join_paths(all).expect("no path has a colon")
}

pub(crate) fn binary_dir() -> &'static Path {
    Path::new(crate::outcome::program()).parent().expect("it lies in a directory")
}

/// `git ARGS` in `directory`, with the binary on the `PATH`.
pub(crate) fn git(directory: &Path, args: &[&str]) -> Command {
    let mut command = testkit::command("git", directory);
    command.args(args).env("PATH", path_with(binary_dir())).env("GIT_EDITOR", "true");
    // What goes on behind a hook is over when git is, so that the test can look.
    command.env("CHRONICLE_FOREGROUND", "1");
    command
}

pub(crate) fn executable(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a test may do this")).expect("a test may do this");
    fs::write(path, content).expect("a test may do this");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a test may do this");
}

pub(crate) fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("a: add it");
    repo
}

/// Every file of a directory but objects, refs and logs: its kind, mode and content.
fn trace(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut files = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)
            .expect("a test may do this")
            .map(|entry| entry.expect("a test may do this"))
        {
            let path = entry.path();
            let name = path.strip_prefix(root).expect("a test may do this").to_owned();
            let metadata = fs::symlink_metadata(&path).expect("a test may do this");
            if metadata.is_dir() {
                if !["objects", "refs", "logs"]
                    .iter()
                    .any(|skipped| name.ends_with(Path::new(".git").join(skipped)))
                {
                    pending.push(path);
                }
                continue;
            }
            let content = match metadata.is_symlink() {
                true => {
                    fs::read_link(&path).expect("a test may do this").into_os_string().into_encoded_bytes()
                }
                false => fs::read(&path).expect("a test may do this"),
            };
            files.insert(name, (metadata.permissions().mode(), content));
        }
    }
    files
}

pub(crate) fn init(repo: &TestRepo) -> Outcome {
    chronicle(repo.path(), &["init"]).success()
}

/// Sets up, twice, tries that a commit is spoken of, and leaves; the repository must be as before.
#[track_caller]
pub(crate) fn check_round(repo: &TestRepo, works: bool) -> Outcome {
    let before = trace(repo.path());
    let shown = chronicle(repo.path(), &["init", "--dry-run"]).success();
    assert_eq!(trace(repo.path()), before, "a dry run touched something");
    let first = init(repo);
    let set_up = trace(repo.path());
    assert_eq!(shown.stdout.is_empty(), first.stdout.is_empty());
    assert_eq!(init(repo).stdout, "", "the second time changed something");
    assert_eq!(trace(repo.path()), set_up);
    let mut commit = git(repo.path(), &["commit", "--quiet", "--allow-empty", "-m", "empty: say something"]);
    run(commit.env("CHRONICLE_TASK", "T-1")).success();
    let is_stored = repo.try_git(&["notes", "--ref=chronicle", "show", "HEAD"]).status.success();
    assert_eq!(is_stored, works, "{first:#?}");
    repo.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
    chronicle(repo.path(), &["uninstall"]).success();
    let mut after = trace(repo.path());
    let mut expected = before;
    // What was noted stays.
    for passing in [".git/index", ".git/COMMIT_EDITMSG", ".git/ORIG_HEAD", "called"] {
        expected.retain(|path, _| !path.starts_with(passing));
        after.retain(|path, _| !path.starts_with(passing));
    }
    assert_eq!(after, expected);
    first
}

#[test]
fn a_repository_without_hooks_is_set_up_and_left() {
    check_round(&repo(), true);
}

#[test]
fn hooks_of_every_kind_are_left_as_they_were() {
    for content in [
        "#!/bin/sh\necho called >> called\n",
        "#!/bin/bash -e\nexec true",
        "echo called >> called",
        "#!/bin/sh",
    ] {
        let repo = repo();
        executable(&repo.path().join(".git/hooks/post-commit"), content);
        executable(&repo.path().join(".git/hooks/post-rewrite"), content);
        check_round(&repo, true);
    }
}

#[test]
fn a_hook_in_another_language_runs_as_before() {
    let repo = repo();
    let script = "#!/usr/bin/env python3\nimport sys\nopen('called', 'a').write(sys.stdin.read() + ' '.join(sys.argv[1:]))\nsys.exit(3)\n";
    executable(&repo.path().join(".git/hooks/post-rewrite"), script);
    init(&repo);
    let before = repo.git(&["rev-parse", "HEAD"]);
    run(&mut git(repo.path(), &["commit", "--quiet", "--amend", "-m", "a: add it, better"])).success();
    let after = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(fs::read_to_string(repo.path().join("called")).unwrap(), format!("{before} {after}\namend"));
    fs::remove_file(repo.path().join("called")).unwrap();
    chronicle(repo.path(), &["uninstall"]).success();
    check_round(&repo, true);
}

#[test]
fn a_hook_that_must_not_run_does_not_run() {
    let repo = repo();
    repo.write(".git/hooks/post-commit", "#!/bin/sh\necho called >> called\n");
    check_round(&repo, true);
    assert!(!repo.path().join("called").exists());
}

#[test]
fn odd_hook_files_are_left_as_they_were() {
    let repo = repo();
    executable(&repo.path().join(".git/hooks/post-commit"), "#!/bin/sh\r\necho called\r\n");
    check_round(&repo, true);
    executable(&repo.path().join("scripts/post-commit"), "#!/bin/sh\necho called >> called\n");
    let hook = repo.path().join(".git/hooks/post-commit");
    fs::remove_file(&hook).unwrap();
    symlink("../../scripts/post-commit", &hook).unwrap();
    check_round(&repo, true);
    assert!(repo.path().join("called").exists());
    fs::remove_file(&hook).unwrap();
    fs::create_dir(&hook).unwrap();
    let _outcome = chronicle(repo.path(), &["init"]).success();
    chronicle(repo.path(), &["uninstall"]).success();
    assert!(hook.is_dir());
}

#[test]
fn hooks_go_where_git_looks_for_them() {
    let repo = repo();
    repo.git(&["config", "core.hooksPath", "tools/hooks"]);
    executable(&repo.path().join("tools/hooks/post-commit"), "#!/bin/sh\necho called >> called\n");
    check_round(&repo, true);
    assert!(repo.path().join("called").exists());
}

#[test]
fn hooks_that_other_repositories_share_are_not_touched() {
    let repo = repo();
    let shared = repo.beside("shared-hooks");
    executable(&shared.join("post-commit"), "#!/bin/sh\n");
    repo.git(&["config", "core.hooksPath", shared.to_str().unwrap()]);
    let outcome = chronicle(repo.path(), &["init"]).success();
    if !has_config_hooks(&repo) {
        outcome.warns("which other repositories may share");
        assert_eq!(fs::read(shared.join("post-commit")).unwrap(), b"#!/bin/sh\n");
    }
}

pub(crate) fn has_config_hooks(repo: &TestRepo) -> bool {
    repo.try_git(&[
        "-c",
        "hook.x.event=post-commit",
        "-c",
        "hook.x.command=true",
        "hook",
        "list",
        "post-commit",
    ])
    .status
    .success()
}

#[test]
fn where_git_runs_hooks_of_its_configuration_no_file_is_touched() {
    let repo = repo();
    if !has_config_hooks(&repo) {
        crate::outcome::skip("this git runs no hooks that its configuration names");
        return;
    }
    executable(&repo.path().join(".git/hooks/post-commit"), "#!/usr/bin/env python3\n");
    init(&repo);
    assert_eq!(fs::read(repo.path().join(".git/hooks/post-commit")).unwrap(), b"#!/usr/bin/env python3\n");
    assert_eq!(repo.git(&["config", "hook.chronicle-post-commit.event"]), "post-commit");
    check_round_after_init(&repo);
}

fn check_round_after_init(repo: &TestRepo) {
    chronicle(repo.path(), &["uninstall"]).success();
    check_round(repo, true);
}

#[test]
fn a_linked_worktree_has_the_hooks_too() {
    let repo = repo();
    let other = repo.beside("other");
    repo.git(&["worktree", "add", "--quiet", "-b", "other", other.to_str().unwrap()]);
    chronicle(&other, &["init"]).success();
    let args = ["commit", "--quiet", "--allow-empty", "-m", "other: say something"];
    run(git(&other, &args).env("CHRONICLE_TASK", "T-2")).success();
    assert_eq!(note(&repo, "other")["task"], "T-2");
    chronicle(&other, &["context", "set", "--reasoning", "Said in the other worktree"]).success();
    run(&mut git(&other, &["commit", "--quiet", "--allow-empty", "-m", "other: again"])).success();
    assert_eq!(contents(&note(&repo, "other")), ["Said in the other worktree"]);
}

#[test]
fn a_detached_head_is_no_obstacle() {
    let repo = repo();
    repo.git(&["checkout", "--quiet", "--detach"]);
    check_round(&repo, true);
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing_half_done() {
    let repo = repo();
    let hooks = repo.path().join(".git/hooks");
    let _gone = fs::remove_dir_all(&hooks);
    fs::write(&hooks, "a file where the directory should be").unwrap();
    if has_config_hooks(&repo) {
        return;
    }
    chronicle(repo.path(), &["init"]).refused(1, &["cannot change", "hooks/post-"]);
    let error = chronicle(repo.path(), &["init", "--format=json"]).json_error();
    assert_eq!(error, "hook_not_written");
    let nowhere = repo.beside("nowhere");
    fs::create_dir(&nowhere).unwrap();
    chronicle(&nowhere, &["init"]).refused(1, &["not in a git repository"]);
}

/// A stand-in on the `PATH` that only writes down what it is called with.
fn recorder(repo: &TestRepo) -> (PathBuf, PathBuf) {
    let directory = repo.beside("recorder");
    let log = repo.beside("recorded");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", log.display());
    executable(&directory.join("git-chronicle"), script);
    (directory, log)
}

#[test]
fn in_a_rebase_no_commit_starts_the_binary() {
    let repo = repo();
    let other = repo.beside("other");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    for number in 0..4 {
        repo.write(format!("t{number}.rs"), "fn t() {}\n");
        repo.commit(&format!("t: add {number}"));
    }
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("b.rs", "fn b() {}\n");
    repo.commit("b: add it");
    repo.git(&["worktree", "add", "--quiet", other.to_str().unwrap(), "topic"]);
    init(&repo);
    let (directory, log) = recorder(&repo);
    let calls = |args: &[&str]| {
        let _gone = fs::remove_file(&log);
        run(git(&other, args).env("PATH", path_with(&directory))).success();
        let called = fs::read_to_string(&log).unwrap_or_default();
        // A rebase starts with a checkout, once, before it can be seen.
        let (checkouts, others): (Vec<&str>, Vec<&str>) =
            called.split_inclusive('\n').partition(|line| line.starts_with("hook post-checkout "));
        assert!(checkouts.len() <= 1, "{called}");
        others.concat()
    };
    assert_eq!(calls(&["rebase", "--quiet", "--force-rebase", "main"]), "hook post-rewrite rebase\n");
    assert_eq!(
        calls(&["rebase", "--quiet", "--force-rebase", "--apply", "main"]),
        "hook post-rewrite rebase\n"
    );
    let squashed =
        calls(&["-c", "sequence.editor=sed -i 2,3s/pick/fixup/", "rebase", "--quiet", "-i", "main"]);
    assert_eq!(squashed, "hook post-rewrite rebase\n");
    let patches = repo.beside("patches");
    calls(&["format-patch", "--quiet", "-o", patches.to_str().unwrap(), "main"]);
    run(&mut git(&other, &["reset", "--quiet", "--hard", "main"])).success();
    let mut files: Vec<_> = fs::read_dir(&patches).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let am = calls(&[&["am", "--quiet"][..], &files[..]].concat());
    assert_eq!(am, "");
    // A commit that squashes nothing has nothing to say before it is made; else each hook starts it once.
    let amended = calls(&["commit", "--quiet", "--amend", "--allow-empty", "-m", "t: amended"]);
    assert_eq!(amended, "hook post-commit\nhook post-rewrite amend\n");
}

/// What users do all day, as shell commands in a repository with a remote.
const DAY: [&str; 30] = [
    "git commit --allow-empty -m 'empty: nothing'",
    "echo 1 >> a.rs && git commit -am 'a: change it'",
    "git commit -m 'nothing to commit'",
    "echo 2 >> a.rs && git commit -a -C HEAD",
    "git commit --amend -m 'a: change it, amended'",
    "git commit --amend --no-edit --author='B <b@example.com>'",
    "git checkout -b topic HEAD~1",
    "echo 1 > t.rs && echo 1 > v.rs && git add . && git commit -m 't: add it'",
    "echo 2 >> t.rs && git commit -am 't: change it'",
    "echo 3 >> v.rs && git commit -am 'fixup! t: add it'",
    "git rebase main",
    "GIT_SEQUENCE_EDITOR=true git rebase -i --autosquash main",
    "git rebase --apply --no-ff main",
    "git checkout main",
    "git merge --no-ff topic -m 'merge the topic'",
    "git reset --hard HEAD~1",
    "git merge topic",
    "git branch side && git checkout -q side && echo s > s.rs && git add . && git commit -m 's: add it' && git checkout main && git cherry-pick side",
    "git revert --no-edit HEAD~1",
    "echo 4 >> a.rs && git stash && git stash pop",
    "git commit -qam 'a: from the stash'",
    "git push origin main",
    "git fetch origin",
    "git pull --rebase origin main",
    "git clone -q remote.git clone && git -C clone log --oneline",
    "git checkout -b conflict HEAD~1 && echo other >> a.rs && git commit -am 'a: conflicting'",
    "git rebase main",
    "git rebase --abort && git checkout main",
    "git merge --squash conflict; git reset --hard",
    "git format-patch -1 && git reset --hard HEAD~1 && git am 0001-*",
];

/// Goes through the day; what each step printed and how it ended.
fn day(setup: impl Fn(&TestRepo), path: &Path) -> Vec<(i32, String, String)> {
    let repo = repo();
    repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"]);
    repo.write(".gitignore", "remote.git\nclone\n");
    repo.commit("ignore: what is no work");
    repo.git(&["remote", "add", "origin", "remote.git"]);
    setup(&repo);
    let root = repo.path().to_str().expect("a test may do this").to_owned();
    let step = |line: &&str| {
        let mut command = testkit::command("sh", repo.path());
        command.args(["-c", line]).env("PATH", path_with(path)).env("GIT_EDITOR", "true").env("LC_ALL", "C");
        command.env("CHRONICLE_FOREGROUND", "1");
        let output = command.output().expect("sh runs");
        let text = |bytes: &[u8]| without_times(&String::from_utf8_lossy(bytes).replace(&root, "ROOT"));
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    };
    DAY.iter().map(step).collect()
}

/// Git tells how long some things took.
fn without_times(text: &str) -> String {
    text.lines().filter(|line| !line.contains("bytes/s")).collect::<Vec<_>>().join("\n")
}

#[test]
fn after_init_git_does_and_says_the_same() {
    let nowhere = tempfile::tempdir().unwrap();
    let untouched = day(|_| {}, nowhere.path());
    let with_hooks = day(|repo| drop(init(repo)), binary_dir());
    let without_binary = day(|repo| drop(init(repo)), nowhere.path());
    for (number, line) in DAY.iter().enumerate() {
        assert_eq!(with_hooks[number], untouched[number], "{line}");
        assert_eq!(without_binary[number], untouched[number], "without the binary: {line}");
    }
    assert!(
        untouched.iter().filter(|(code, ..)| *code == 0).count() > 24,
        "the day went wrong: {untouched:#?}"
    );
}

#[test]
fn hooks_of_a_user_hear_what_git_says() {
    let repo = repo();
    let script = "#!/bin/sh\nset -eu\nwhile read old new; do echo \"$1 $old $new\" >> called; done\n";
    executable(&repo.path().join(".git/hooks/post-rewrite"), script);
    init(&repo);
    for number in 0..3 {
        run(&mut git(repo.path(), &["commit", "--quiet", "--allow-empty", "-m", &format!("e: {number}")]))
            .success();
    }
    let args = ["-c", "sequence.editor=true", "rebase", "--quiet", "-i", "--force-rebase", "--root"];
    run(&mut git(repo.path(), &args)).success();
    let called = fs::read_to_string(repo.path().join("called")).unwrap();
    assert!(called.lines().all(|line| line.starts_with("rebase ")), "{called}");
    assert_eq!(called.lines().count(), 4, "{called}");
}

/// A repository with hooks, a commit on `topic` with a lesson, and a newer commit on `main`.
fn repo_with_lesson() -> TestRepo {
    let repo = repo();
    init(&repo);
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("pool.rs", "fn take() {}\n\nfn give() {}\n");
    repo.git(&["add", "--all"]);
    run(&mut git(repo.path(), &["commit", "--quiet", "-m", "pool: add it"])).success();
    let input = r#"{"summary": "Callers queue, because the server drops the eleventh",
        "wisdom": [{"category": "gotcha", "content": "The UI thread calls this.", "file": "pool.rs", "lines": {"start": 1, "end": 1}}]}"#;
    chronicle(repo.path(), &["annotate", "--json", input]).success();
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("b.rs", "fn b() {}\n");
    repo.commit("b: add it");
    repo
}

#[track_caller]
fn check_taken_along(repo: &TestRepo, steps: &[&[&str]]) {
    for step in steps {
        run(&mut git(repo.path(), step)).success();
    }
    assert_eq!(contents(&note(repo, "HEAD")), ["The UI thread calls this."]);
    let read = chronicle(repo.path(), &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(contents(&read), ["The UI thread calls this."]);
    assert_eq!(read["wisdom"][0]["lines"], serde_json::json!({ "start": 1, "end": 1 }));
}

#[test]
fn an_amend_and_a_rebase_take_lessons_along() {
    let repo = repo_with_lesson();
    check_taken_along(
        &repo,
        &[&["checkout", "--quiet", "topic"], &["commit", "--quiet", "--amend", "-m", "pool: add it, better"]],
    );
    check_taken_along(&repo, &[&["rebase", "--quiet", "main"]]);
    check_taken_along(&repo, &[&["rebase", "--quiet", "--apply", "--no-ff", "main~1"]]);
}

#[test]
fn a_squash_takes_lessons_along_whatever_its_message() {
    for message in
        [&["commit", "--quiet", "--no-edit"][..], &["commit", "--quiet", "-m", "pool: all at once"]]
    {
        let repo = repo_with_lesson();
        check_taken_along(&repo, &[&["merge", "--quiet", "--squash", "topic"], message]);
        assert!(!repo.path().join(".git/chronicle/squashed").exists());
    }
}

#[test]
fn a_squash_that_came_to_nothing_is_forgotten() {
    let repo = repo_with_lesson();
    run(&mut git(repo.path(), &["merge", "--quiet", "--squash", "topic"])).success();
    let aborted = run(git(repo.path(), &["commit", "--quiet"]).env("GIT_EDITOR", "false"));
    assert_eq!(aborted.code, Some(1));
    assert!(repo.path().join(".git/chronicle/squashed").exists());
    repo.git(&["reset", "--quiet", "--hard"]);
    repo.write("c.rs", "fn c() {}\n");
    repo.git(&["add", "--all"]);
    run(&mut git(repo.path(), &["commit", "--quiet", "-m", "c: add it"])).success();
    assert!(!repo.try_git(&["notes", "--ref=chronicle", "show", "HEAD"]).status.success());
    assert!(!repo.path().join(".git/chronicle/squashed").exists());
}

#[test]
fn an_author_names_what_a_commit_squashes() {
    let repo = repo_with_lesson();
    let topic = repo.git(&["rev-parse", "topic"]);
    repo.git(&["checkout", "--quiet", "topic", "--", "pool.rs"]);
    let mut commit = git(repo.path(), &["commit", "--quiet", "-m", "pool: all at once"]);
    run(commit.env("CHRONICLE_SQUASH_SOURCES", &topic)).success();
    check_taken_along(&repo, &[]);
}

#[test]
fn what_no_hook_saw_is_found_behind_the_next_one() {
    let repo = repo_with_lesson();
    // As a server squashes: with plumbing, where no hook runs.
    let tree = repo.git(&["merge-tree", "--write-tree", "main", "topic"]);
    let squashed = repo.git(&["commit-tree", &tree, "-p", "main", "-m", "pool: squashed"]);
    repo.git(&["update-ref", "refs/heads/main", &squashed]);
    repo.git(&["reset", "--quiet", "--hard"]);
    repo.git(&["branch", "--quiet", "-D", "topic"]);
    run(&mut git(repo.path(), &["checkout", "--quiet", "-b", "next"])).success();
    check_taken_along(&repo, &[]);
}

#[test]
fn notes_go_along_with_a_push_where_that_is_wanted() {
    let repo = repo();
    let remote = repo.beside("remote.git");
    let address = remote.to_str().expect("temporary paths are UTF-8");
    repo.git(&["init", "--quiet", "--bare", address]);
    repo.git(&["remote", "add", "origin", address]);
    let config = fs::read(repo.path().join(".git/config")).expect("it is there");
    let offered = chronicle(repo.path(), &["init", "--pre-push"]).success();
    assert!(offered.stderr.contains("`git chronicle sync enable origin` exchanges them"), "{offered:?}");
    let of_remote = |name: &str| {
        let output =
            testkit::command("git", &remote).args(["rev-parse", "--verify", "--quiet", name]).output();
        String::from_utf8_lossy(&output.expect("git is installed").stdout).trim().to_owned()
    };
    let push = |summary: &str| {
        chronicle(repo.path(), &["annotate", "--summary", summary]).success();
        run(&mut git(repo.path(), &["push", "--quiet", "origin", "main"])).success();
    };
    push("Nobody but us may see this yet.");
    assert_eq!(of_remote("refs/notes/chronicle"), "");

    chronicle(repo.path(), &["sync", "enable"]).success();
    assert_eq!(init(&repo).stderr, "everything is set up already\n");
    repo.commit("a: go on");
    push("Everybody may see this.");
    assert_eq!(of_remote("refs/notes/chronicle"), repo.git(&["rev-parse", "refs/notes/chronicle"]));

    let refuses = "#!/bin/sh\ncase \"$1\" in refs/notes/*) exit 1;; esac\n";
    executable(&remote.join("hooks/update"), refuses);
    repo.commit("a: go on still");
    push("The remote does not want this.");
    assert_eq!(of_remote("refs/heads/main"), repo.git(&["rev-parse", "HEAD"]));
    assert_ne!(of_remote("refs/notes/chronicle"), repo.git(&["rev-parse", "refs/notes/chronicle"]));

    chronicle(repo.path(), &["uninstall"]).success();
    assert_eq!(fs::read(repo.path().join(".git/config")).expect("it is there"), config);
    assert!(!repo.path().join(".git/hooks/pre-push").exists());
}
