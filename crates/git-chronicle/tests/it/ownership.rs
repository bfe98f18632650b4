//! Repositories of other users, judged as git judges them; and nothing that a repository names runs.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

use serde_json::json;
use testkit::TestRepo;

use crate::{
    desk::{Desk, Talk},
    outcome::{Outcome, binary, chronicle, run, run_with_input, skip},
};

/// A user that nobody is.
const STRANGER: u32 = 4242;

/// A repository with one lesson.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", "fn acquire() {}\n");
    repo.commit("pool: begin");
    chronicle(repo.path(), &["annotate", "--summary", "Ids are reused last in, first out"]).success();
    repo
}

/// Asks for the lesson in an environment with these variables.
fn read(directory: &Path, variables: &[(&str, &str)]) -> Outcome {
    let mut command = binary(directory, &["read", "src/pool.rs"]);
    run(command.envs(variables.iter().copied()))
}

/// Gives everything below a directory to the stranger; false where only root could.
fn give_away(path: &Path) -> bool {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let all = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let is_given = chown(path, Some(STRANGER), Some(STRANGER)).is_ok();
    // All of them, also after one that could not be given.
    let n_kept = all.filter(|entry| !give_away(&entry.path())).count();
    is_given && n_kept == 0
}

const STRANGE: (&str, &str) = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");

#[test]
fn a_foreign_repository_gets_gits_advice() {
    let repo = repo();
    assert!(read(repo.path(), &[]).success().stdout.contains("last in, first out"));
    let root = repo.path().to_string_lossy().into_owned();
    let commands: [&[&str]; 8] = [
        &["read", "src/pool.rs"],
        &["annotate", "--summary", "Another reason that is long enough"],
        &["note", "a remark"],
        &["show"],
        &["status"],
        &["doctor"],
        &["check", "--staged"],
        &["init"],
    ];
    for args in commands {
        let outcome = run(binary(repo.path(), args).envs([STRANGE]));
        assert!(matches!(outcome.code, Some(1 | 2)), "{outcome:?}");
        assert_eq!(
            outcome.stderr.trim_end(),
            format!(
                "error: detected dubious ownership in repository at `{root}`\n\
                 hint: if you trust it: `git config --global --add safe.directory {root}`"
            ),
            "{args:?}"
        );
    }
    let json = run(binary(repo.path(), &["show", "--format=json"]).envs([STRANGE])).failed(1);
    assert_eq!(json.json_error(), "dubious_ownership");
    assert!(!repo.path().join(".git/chronicle/staged.json").exists());
}

#[test]
fn safe_directory_is_gits() {
    let repo = repo();
    let home = repo.beside("home");
    fs::create_dir(&home).expect("there is none yet");
    let config = home.join(".gitconfig");
    let root = repo.path().to_string_lossy().into_owned();
    let parent = repo.path().parent().expect("it has one").to_string_lossy().into_owned();
    let allows = |values: &[&str]| {
        let lines: String = values.iter().map(|value| format!("\tdirectory = {value}\n")).collect();
        fs::write(&config, format!("[safe]\n{lines}")).expect("it can be written");
        let variables = [STRANGE, ("GIT_CONFIG_GLOBAL", config.to_str().expect("it is text"))];
        let outcome = read(repo.path(), &variables);
        let by_git = testkit::command("git", repo.path()).args(["status"]).envs(variables).output();
        let by_git = by_git.expect("git is installed").status.success();
        assert_eq!(outcome.code == Some(0), by_git, "git says otherwise: {outcome:?}");
        by_git
    };
    assert!(allows(&["*"]));
    assert!(allows(&[&root]));
    assert!(!allows(&[&format!("{root}/src")]));
    assert!(!allows(&["*", ""]));
    assert!(allows(&["", &root]));
    allows(&[&format!("{parent}/*")]);
    // What the repository says of itself says nothing.
    repo.git(&["config", "safe.directory", "*"]);
    assert!(!allows(&[]));
    let by_command = [STRANGE, ("GIT_CONFIG_PARAMETERS", "'safe.directory'='*'")];
    assert!(read(repo.path(), &by_command).success().stdout.contains("last in, first out"));
    // Whoever names a repository trusts it.
    let named = repo.path().join(".git");
    read(repo.path(), &[STRANGE, ("GIT_DIR", named.to_str().expect("it is text"))]).success();
}

#[test]
fn every_owner_that_git_looks_at_counts() {
    let repo = repo();
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "-q", linked.to_str().expect("it is text")]);
    assert!(read(&linked, &[]).success().stdout.contains("last in, first out"));
    let own = fs::metadata(repo.path()).expect("it is there");
    if chown(repo.path(), Some(STRANGER), None).is_err() {
        return skip("only root can give files away");
    }
    let give_back = |path: &Path| chown(path, Some(own.uid()), None).expect("root can");
    let is_foreign = |directory: &Path| {
        read(directory, &[]).refused(1, &["detected dubious ownership"]);
    };
    is_foreign(&repo.path().join("src"));
    give_back(repo.path());
    read(repo.path(), &[]).success();
    chown(repo.path().join(".git"), Some(STRANGER), None).expect("root can");
    is_foreign(repo.path());
    give_back(&repo.path().join(".git"));
    // Of a linked worktree: the worktree, its `.git` file, and where that leads.
    for path in [linked.clone(), linked.join(".git"), repo.path().join(".git/worktrees/linked")] {
        chown(&path, Some(STRANGER), None).expect("root can");
        is_foreign(&linked);
        give_back(&path);
    }
    read(&linked, &[]).success();
    // A `.git` file of one's own that leads to a stranger's repository.
    let lure = repo.beside("lure");
    fs::create_dir(&lure).expect("there is none yet");
    fs::write(lure.join(".git"), format!("gitdir: {}\n", repo.path().join(".git").display()))
        .expect("it can be written");
    chown(repo.path().join(".git"), Some(STRANGER), None).expect("root can");
    is_foreign(&lure);
}

#[test]
fn a_bare_repository_is_used_as_git_uses_it() {
    let repo = repo();
    let inner = repo.path().join("vendor/evil.git");
    repo.git(&["clone", "-q", "--bare", ".", inner.to_str().expect("it is text")]);
    repo.git(&["push", "-q", inner.to_str().expect("it is text"), "refs/notes/chronicle"]);
    let config = repo.beside("gitconfig");
    fs::write(&config, "[safe]\n\tbareRepository = explicit\n").expect("it can be written");
    let explicit = ("GIT_CONFIG_GLOBAL", config.to_str().expect("it is text"));
    read(&inner, &[]).success();
    read(&inner, &[explicit]).refused(1, &["cannot use bare repository"]);
    let hooks = inner.join("hooks");
    read(&hooks, &[explicit]).refused(1, &["cannot use bare repository"]);
    read(&inner, &[explicit, ("GIT_DIR", ".")]).success();
    read(repo.path(), &[explicit]).success();
}

#[test]
fn agents_hear_nothing_in_a_foreign_repository_and_nothing_is_kept() {
    let desk = Desk::new();
    chronicle(desk.repo.path(), &["annotate", "--summary", "Ids are reused last in, first out"]).success();
    let session = "5e551011-aaaa-4aaa-8aaa-000000000001";
    let transcript = desk.leave(&desk.talk(session).prompt("mend the pool").said("It is mended."));
    let file = desk.repo.path().join("src/pool.rs");
    let tell = |event: &str, is_foreign: bool| {
        let payload = json!({
            "session_id": session, "transcript_path": transcript, "cwd": desk.repo.path(), "source": "startup",
            "prompt": "why does acquire in src/pool.rs reuse ids?", "tool_name": "Edit",
            "tool_input": {"file_path": file, "old_string": "fn acquire() {}", "new_string": ""},
        });
        let mut command = desk.command_in(desk.repo.path(), &["hook", "claude", event]);
        if is_foreign {
            command.envs([STRANGE]);
        }
        run_with_input(&mut command, payload.to_string().as_bytes()).success()
    };
    let kept = || -> BTreeSet<OsString> {
        fs::read_dir(desk.memory()).expect("it is there").flatten().map(|entry| entry.file_name()).collect()
    };
    let before = kept();
    let events =
        ["session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "stop", "session-end"];
    for event in events {
        let outcome = tell(event, true);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""), "{event}");
    }
    assert_eq!(kept(), before, "something was kept");
    assert!(tell("session-start", false).stdout.contains("git chronicle read"));
    tell("session-end", false);
    assert!(kept().contains(OsStr::new("chronicle.db")));
}

#[test]
fn a_foreign_repository_says_nothing_of_a_session_in_it() {
    let desk = Desk::new();
    let other = TestRepo::new();
    other.write(".git/chronicle/project", "01K00000000000000000000000\n");
    if !give_away(other.path()) {
        return skip("only root can give files away");
    }
    let session = "5e551011-aaaa-4aaa-8aaa-000000000002";
    desk.leave(&Talk::new(session, &other.path().to_string_lossy()).prompt("mend the queue").said("Done."));
    desk.leave(&desk.talk("5e551011-aaaa-4aaa-8aaa-000000000003").prompt("mend the pool").said("Done."));
    desk.ingest();
    let projects = desk.ask(&["projects"]);
    // It claims to be the project of the desk.
    assert_eq!(projects["projects"].as_array().map(Vec::len), Some(2), "{projects:#}");
}

/// A program that leaves a file, and that file.
fn trap(repo: &TestRepo, name: &str) -> (PathBuf, PathBuf) {
    let (program, mark) = (repo.beside(name), repo.beside(&format!("{name}.ran")));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    (program, mark)
}

#[test]
fn nothing_that_a_repository_names_runs() {
    for format in ["files", "reftable"] {
        let repo = TestRepo::with(&[&format!("--ref-format={format}")]);
        repo.write("src/pool.rs", "fn acquire() {}\n");
        repo.write(".gitattributes", "* filter=trap diff=trap merge=trap\n");
        repo.commit("pool: begin");
        let (program, mark) = trap(&repo, "trap");
        let program = program.to_str().expect("it is text");
        let hooks = repo.path().join(".git/hooks");
        for hook in ["reference-transaction", "post-index-change", "pre-auto-gc", "post-commit"] {
            fs::create_dir_all(&hooks).expect("it can be made");
            fs::copy(program, hooks.join(hook)).expect("it can be copied");
        }
        let settings = [
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "core.editor",
            "core.askPass",
            "credential.helper",
            "filter.trap.clean",
            "filter.trap.smudge",
            "filter.trap.process",
            "diff.trap.textconv",
            "diff.trap.command",
            "diff.external",
            "merge.trap.driver",
            "gpg.program",
            "alias.rev-parse",
            "hook.a=b.command",
            "sequence.editor",
            "interactive.diffFilter",
        ];
        for setting in settings {
            repo.git(&["config", setting, program]);
        }
        for event in ["reference-transaction", "post-index-change"] {
            repo.git(&["config", "--add", "hook.a=b.event", event]);
        }
        let commands: [&[&str]; 12] = [
            &["annotate", "--summary", "Ids are reused last in, first out"],
            &["note", "a remark"],
            &["read", "src/pool.rs"],
            &["read", "--blame", "src/pool.rs"],
            &["why", "src/pool.rs:1"],
            &["check"],
            &["check", "--diff", "HEAD..HEAD"],
            &["status"],
            &["doctor"],
            &["reconcile"],
            &["hook", "post-commit"],
            &["brief"],
        ];
        let _gone = fs::remove_file(&mark);
        repo.write("src/pool.rs", "fn acquire() {}\nfn release() {}\n");
        for args in commands {
            let outcome = run(binary(repo.path(), args).env("CHRONICLE_FOREGROUND", "1"));
            assert!(!mark.exists(), "{format}: {args:?} ran it: {outcome:?}");
        }
        assert!(read(repo.path(), &[]).success().stdout.contains("last in, first out"));
        // The trap is one: git itself runs it.
        repo.try_git(&["update-ref", "refs/heads/other", "HEAD"]);
        assert!(mark.exists());
    }
}

#[test]
fn hooks_are_not_set_up_through_a_link_that_leads_out() {
    let repo = repo();
    let outside = repo.beside("outside");
    fs::create_dir(&outside).expect("there is none yet");
    symlink(&outside, repo.path().join("githooks")).expect("there is none yet");
    for path in ["githooks", "githooks/new"] {
        repo.git(&["config", "core.hooksPath", path]);
        let told = chronicle(repo.path(), &["init"]).success().warns("so nothing was changed there");
        assert_eq!(fs::read_dir(&outside).expect("it is there").count(), 0, "{told:?}");
    }
    repo.git(&["config", "core.hooksPath", "own/new"]);
    chronicle(repo.path(), &["init"]).success();
    assert!(repo.path().join("own/new/post-commit").is_file());
}

#[test]
fn no_working_tree_elsewhere_is_read_or_written() {
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().canonicalize().unwrap();
    fs::write(elsewhere.join("pool.rs"), "fn of_the_user() {}\n").unwrap();
    let origin = repo();
    origin.write("pool.rs", "fn acquire() {}\n");
    origin.commit("pool: move");
    // What a clone brings: a folder that looks like a bare repository, and one like the folder of a linked worktree.
    let bare = origin.path().join("vendor/bare");
    fs::create_dir_all(bare.parent().unwrap()).unwrap();
    origin.git(&["clone", "--quiet", "--bare", ".", "vendor/bare"]);
    for folder in ["refs/heads", "refs/notes", "objects"] {
        fs::create_dir_all(bare.join(folder)).unwrap();
        fs::write(bare.join(folder).join(".keep"), "").unwrap();
    }
    let linked = origin.path().join("vendor/linked");
    fs::create_dir_all(&linked).unwrap();
    fs::write(linked.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(linked.join("commondir"), "../bare\n").unwrap();
    fs::write(linked.join("gitdir"), format!("{}/.git\n", elsewhere.display())).unwrap();
    fs::write(elsewhere.join(".git"), format!("gitdir: {}\n", linked.display())).unwrap();
    let git_dir = origin.path().join(".git");
    let check = |directory: &Path, is_refused: bool| {
        let commands: [&[&str]; 5] = [
            &["why", "pool.rs:1"],
            &["outline", "pool.rs"],
            &["status"],
            &["annotate", "--summary", "Another reason that is long enough"],
            &["setup", "claude", "--scope", "project", "--agents-md"],
        ];
        for args in commands {
            let outcome = chronicle(directory, args);
            assert!(!format!("{outcome:?}").contains("of_the_user"), "{args:?}: {outcome:#?}");
            assert!(!is_refused || outcome.code != Some(0), "{args:?}: {outcome:#?}");
        }
        let mut left: Vec<_> =
            fs::read_dir(&elsewhere).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".git", "pool.rs"]);
    };
    // It is used as git uses it: without a working tree.
    check(&linked, false);
    for (git_dir, directory) in [(&git_dir, origin.path()), (&bare, bare.as_path())] {
        let config = git_dir.join("config").to_string_lossy().into_owned();
        origin.git(&["config", "-f", &config, "core.bare", "false"]);
        origin.git(&["config", "-f", &config, "core.worktree", &elsewhere.to_string_lossy()]);
        check(directory, true);
        let refused = chronicle(directory, &["status", "--format=json"]).failed(1);
        assert_eq!(refused.json_error(), "untrusted_repository");
        // Who names the git directory has seen it.
        let mut named = binary(directory, &["outline", "pool.rs"]);
        assert!(run(named.env("GIT_DIR", git_dir)).success().stdout.contains("of_the_user"));
    }
    // Where it names the folder that it was found in, it says nothing new.
    origin.git(&["config", "-f", ".git/config", "core.worktree", ".."]);
    assert!(read(origin.path(), &[]).success().stdout.contains("last in, first out"));
}

#[test]
fn a_working_tree_of_a_submodule_or_of_another_git_directory_is_its_own() {
    let (origin, outer) = (repo(), TestRepo::new());
    outer.git(&["config", "protocol.file.allow", "always"]);
    let url = origin.path().to_string_lossy().into_owned();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "inner"]);
    let inner = outer.path().join("inner");
    chronicle(&inner, &["annotate", "--summary", "Ids are reused last in, first out"]).success();
    assert!(read(&inner, &[]).success().stdout.contains("last in, first out"));
    assert!(chronicle(&inner, &["outline", "src/pool.rs"]).success().stdout.contains("acquire"));
    let apart = outer.path().join("apart");
    let apart_git = outer.path().join("apart.git").to_string_lossy().into_owned();
    outer.git(&["clone", "--quiet", "--separate-git-dir", &apart_git, &url, "apart"]);
    assert!(chronicle(&apart, &["outline", "src/pool.rs"]).success().stdout.contains("acquire"));
    assert_eq!(chronicle(&apart.join("src"), &["status"]).code, Some(0));
}
