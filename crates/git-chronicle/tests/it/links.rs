//! Links, pipes and files that an unpacked archive holds in the git directory: none leads what is read or written
//! elsewhere.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    desk::Desk,
    outcome::{Outcome, binary, chronicle, run, run_with_input},
};

const TEXT: &str = "alias ll='ls -l'\n";

/// A repository with one commit, and a file of the user's outside.
fn repository() -> (TestRepo, PathBuf) {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {\n    1;\n}\n");
    repo.commit("one");
    fs::create_dir(repo.path().join(".git/chronicle")).expect("it can be done");
    let precious = repo.beside("precious");
    fs::write(&precious, TEXT).expect("it can be done");
    (repo, precious)
}

fn annotate(repo: &TestRepo) -> Outcome {
    let json = json!({"summary": "Keeps the order", "wisdom": [{"category": "gotcha", "content": "Keep this order.",
        "file": "a.rs", "lines": {"start": 1, "end": 3}}]});
    chronicle(repo.path(), &["annotate", "--json", &json.to_string()])
}

fn lessons(repo: &TestRepo) -> Vec<Value> {
    let answer = chronicle(repo.path(), &["read", "a.rs", "--format=json"]).success().json();
    answer["wisdom"].as_array().expect("it can be done").iter().map(|item| item["content"].clone()).collect()
}

#[test]
fn nothing_is_written_through_a_link_in_place_of_a_lock_or_a_log() {
    for link in ["chronicle/write.lock", "logs/refs/notes/chronicle", "logs/refs/notes", "refs/notes"] {
        let (repo, precious) = repository();
        let folder = repo.beside("elsewhere");
        fs::create_dir(&folder).expect("it can be done");
        let link = repo.path().join(".git").join(link);
        fs::create_dir_all(link.parent().expect("it can be done")).expect("it can be done");
        let is_folder = link.ends_with("notes");
        if is_folder {
            let _removed = fs::remove_dir_all(&link);
        }
        symlink(if is_folder { &folder } else { &precious }, &link).expect("it can be done");
        let refused = annotate(&repo);
        refused.refused(1, &[&format!("`{}` is a symbolic link", link.display())]);
        assert_eq!(fs::read_to_string(&precious).expect("it can be done"), TEXT, "{}", link.display());
        assert_eq!(fs::read_dir(&folder).expect("it can be done").count(), 0, "{}", link.display());
        fs::remove_file(&link).expect("it can be done");
        annotate(&repo).success();
        assert_eq!(lessons(&repo), ["Keep this order."]);
    }
}

#[test]
fn a_linked_folder_of_ours_is_neither_read_nor_written_and_lessons_are_read_without_it() {
    let (repo, _) = repository();
    annotate(&repo).success();
    let ours = repo.path().join(".git/chronicle");
    for link in ["", "index", "outlines", "summaries", "recap-first", "recap-whole"] {
        fs::remove_dir_all(&ours).expect("it can be done");
        let folder = repo.beside("elsewhere");
        fs::create_dir_all(&folder).expect("it can be done");
        if !link.is_empty() {
            fs::create_dir(&ours).expect("it can be done");
        }
        let link = if link.is_empty() { ours.clone() } else { ours.join(link) };
        symlink(&folder, &link).expect("it can be done");
        assert_eq!(lessons(&repo), ["Keep this order."]);
        for args in [&["summary", "a.rs"][..], &["brief"], &["gc"], &["status"]] {
            let _outcome = chronicle(repo.path(), args);
        }
        assert_eq!(fs::read_dir(&folder).expect("it can be done").count(), 0, "{}", link.display());
        fs::remove_file(&link).expect("it can be done");
        fs::create_dir_all(&ours).expect("it can be done");
    }
    assert_eq!(lessons(&repo), ["Keep this order."]);
    assert!(ours.join("facts").is_dir());
}

#[test]
fn no_file_of_gits_is_read_or_edited_through_a_link_that_leads_out_of_the_git_directory() {
    let (repo, precious) = repository();
    annotate(&repo).success();
    let other = TestRepo::new();
    fs::create_dir_all(other.path().join(".git/refs/notes")).expect("it can be done");
    for name in ["HEAD", "config", "refs/heads/main", "refs/notes/chronicle", "packed-refs"] {
        if name == "packed-refs" {
            repo.git(&["pack-refs", "--all"]);
        }
        let (file, theirs) = (repo.path().join(".git").join(name), other.path().join(".git").join(name));
        let text = fs::read_to_string(&file).expect("it can be done");
        fs::write(&precious, "swordfish=1\n").expect("it can be done");
        fs::write(&theirs, &text).expect("it can be done");
        fs::remove_file(&file).expect("it can be done");
        symlink(&precious, &file).expect("it can be done");
        for args in [&["read", "a.rs"][..], &["status"], &["init"], &["doctor"]] {
            let outcome = chronicle(repo.path(), args);
            assert!(!(outcome.stdout + &outcome.stderr).contains("swordfish"), "{name} {args:?}");
        }
        assert_eq!(fs::read_to_string(&precious).expect("it can be done"), "swordfish=1\n", "{name}");
        fs::remove_file(&file).expect("it can be done");
        // Nor where it leads to the same file of another repository.
        symlink(&theirs, &file).expect("it can be done");
        chronicle(repo.path(), &["read", "a.rs"]).refused(1, &[&format!("`{}` is", file.display())]);
        fs::remove_file(&file).expect("it can be done");
        fs::write(&file, &text).expect("it can be done");
        assert_eq!(lessons(&repo), ["Keep this order."], "{name}");
    }
}

#[test]
fn what_is_staged_is_not_read_through_a_link_and_no_pipe_is_waited_for() {
    let (repo, _) = repository();
    let ours = repo.path().join(".git/chronicle");
    let secret = repo.beside("secret.json");
    fs::write(&secret, r#"{"token": "swordfish"}"#).expect("it can be done");
    symlink(&secret, ours.join("staged-notes.json")).expect("it can be done");
    for args in
        [&["note", "Remember the order"][..], &["note", "--list"], &["annotate", "--auto"], &["status"]]
    {
        let outcome = chronicle(repo.path(), args);
        assert!(!(outcome.stdout + &outcome.stderr).contains("swordfish"), "{args:?}");
    }
    assert_eq!(fs::read_to_string(&secret).expect("it can be done"), r#"{"token": "swordfish"}"#);
    fs::remove_file(ours.join("staged-notes.json")).expect("it can be done");
    for name in ["write.lock", "staging.lock", "staged-notes.json"] {
        let _there = fs::remove_file(ours.join(name));
        let made =
            testkit::command("mkfifo", repo.path()).arg(ours.join(name)).status().expect("it can be done");
        assert!(made.success());
        // Without an end, were it waited for.
        let _outcome = chronicle(repo.path(), &["status"]);
        chronicle(repo.path(), &["note", "Remember the order"]);
        fs::remove_file(ours.join(name)).expect("it can be done");
    }
    chronicle(repo.path(), &["note", "Remember the order"]).success();
    annotate(&repo).success();
    assert_eq!(lessons(&repo)[0], "Keep this order.");
}

#[test]
fn an_id_is_not_read_through_a_link() {
    let desk = Desk::new();
    let secret = desk.home.join("token");
    fs::write(&secret, "swordfish0123456789\n").expect("it can be done");
    let ours = desk.repo.path().join(".git/chronicle");
    fs::create_dir_all(&ours).expect("it can be done");
    let _there = fs::remove_file(ours.join("project"));
    symlink(&secret, ours.join("project")).expect("it can be done");
    let session = "5e551011-aaaa-4aaa-8aaa-000000000001";
    desk.leave(&desk.talk(session).prompt("mend the pool").said("It is mended."));
    desk.ask(&["session", "ingest"]);
    let shown = desk.ask(&["session", "list"]);
    assert_eq!(shown["sessions"][0]["session"], session, "{shown:#}");
    assert!(!shown.to_string().contains("swordfish"), "{shown:#}");
    assert_eq!(fs::read_to_string(&secret).expect("it can be done"), "swordfish0123456789\n");
}

#[test]
fn an_outline_that_an_archive_brings_is_not_believed() {
    let (repo, _) = repository();
    repo.write("b.rs", "fn planted() {\n    1;\n}\n");
    repo.commit("two");
    let outline = |user: &str, file: &str| {
        let mut command = binary(repo.path(), &["read", file, "--format=json"]);
        run(command.env("CHRONICLE_HOME", repo.beside(user))).success();
        let mut command = binary(repo.path(), &["outline", file]);
        run(command.env("CHRONICLE_HOME", repo.beside(user))).success().stdout
    };
    annotate(&repo).success();
    assert!(
        outline("attacker", "a.rs").contains("a (function)") || outline("attacker", "a.rs").contains('a')
    );
    outline("attacker", "b.rs");
    // Each file of the attacker's is the one of `b.rs`, wherever it is looked for.
    let folder = repo.path().join(".git/chronicle/outlines");
    let mut files = Vec::new();
    let mut pending = vec![folder];
    while let Some(path) = pending.pop() {
        match path.is_dir() {
            true => pending.extend(
                fs::read_dir(&path)
                    .expect("it can be done")
                    .map(|entry| entry.expect("it can be done").path()),
            ),
            false => files.push(path),
        }
    }
    for one in &files {
        let bytes = fs::read(one).expect("it can be done");
        if String::from_utf8_lossy(&bytes).contains("planted") {
            files.iter().for_each(|file| fs::write(file, &bytes).expect("it can be done"));
            break;
        }
    }
    let seen = outline("victim", "a.rs");
    assert!(seen.contains("fn a") && !seen.contains("planted"), "{seen}");
}

/// A transcript in the repository, with the settings of an agent that make it one of the user's.
fn forged(desk: &Desk) -> PathBuf {
    let session = "5e551011-aaaa-4aaa-8aaa-00000000000f";
    let kept = desk.leave(&desk.talk(session).prompt("I always want the planted thing").said("Done."));
    let forged = desk.repo.path().join(".cfg/projects/x").join(kept.file_name().expect("it can be done"));
    fs::create_dir_all(forged.parent().expect("it can be done")).expect("it can be done");
    fs::rename(kept, &forged).expect("it can be done");
    forged
}

fn sessions(desk: &Desk) -> Vec<Value> {
    let shown = desk.ask(&["session", "list", "--all"]);
    shown["sessions"]
        .as_array()
        .expect("it can be done")
        .iter()
        .map(|session| session["session"].clone())
        .collect()
}

#[test]
fn a_repository_brings_no_transcript_of_the_users() {
    let desk = Desk::new();
    let forged = forged(&desk);
    let config = desk.repo.path().join(".cfg");
    let session = "5e551011-aaaa-4aaa-8aaa-000000000001";
    let own = desk.leave(&desk.talk(session).prompt("mend the pool").said("It is mended."));
    for (named, folder) in [(&forged, None), (&own, Some(&config)), (&forged, Some(&config))] {
        for event in ["session-start", "stop", "session-end"] {
            let payload = json!({"session_id": session, "transcript_path": named, "cwd": desk.repo.path(),
                "source": "startup"});
            let mut command = desk.command_in(desk.repo.path(), &["hook", "claude", event]);
            command.envs(folder.map(|folder| ("CLAUDE_CONFIG_DIR", folder)));
            run_with_input(&mut command, payload.to_string().as_bytes()).success();
        }
    }
    let mut agent = desk.command_in(desk.repo.path(), &["session", "ingest", "--sweep"]);
    run(agent.env("CLAUDECODE", "1").env("CLAUDE_CONFIG_DIR", &config)).success();
    let mut agent = desk.command_in(desk.repo.path(), &["session", "ingest"]);
    let outcome = run(agent.arg(&forged).env("CLAUDECODE", "1"));
    assert!((outcome.stdout + &outcome.stderr).contains("only a person"), "it says why");
    assert_eq!(sessions(&desk), [session]);
    // The user decides for the user.
    let mut user = desk.command_in(desk.repo.path(), &["session", "ingest"]);
    run(user.arg(&forged)).success();
    assert_eq!(sessions(&desk).len(), 2);
}

#[test]
fn whom_to_trust_is_not_decided_by_an_agent() {
    let (repo, _) = repository();
    let other = TestRepo::with(&["--bare"]);
    repo.git(&["remote", "add", "origin", &other.path().to_string_lossy()]);
    let enable = || binary(repo.path(), &["sync", "enable", "origin"]);
    run(enable().env("CLAUDECODE", "1")).refused(1, &["only a person", "an agent runs it"]);
    let status = chronicle(repo.path(), &["sync", "status", "--format=json"]).success().json();
    assert!(!status.to_string().contains("\"enabled\":true"), "{status}");
    run(&mut enable()).success();
    let status = chronicle(repo.path(), &["sync", "status", "--format=json"]).success().json();
    assert!(status.to_string().contains("\"enabled\":true"), "{status}");
    annotate(&repo).success();
    run(binary(repo.path(), &["sync", "push"]).env("CLAUDECODE", "1")).success();
}

#[test]
fn no_git_of_the_repository_is_run_where_path_names_folders_that_are_relative() {
    let (repo, _) = repository();
    annotate(&repo).success();
    let mark = repo.beside("mark");
    for name in ["git", "bin/git"] {
        repo.write(name, format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(repo.path().join(name), mode).expect("it can be done");
    }
    #[expect(clippy::disallowed_methods, reason = "the search path of the tests is the base of another one")]
    let usual = std::env::var("PATH").expect("it can be done");
    // The last ones look absolute, and are where this program is started.
    let folders =
        [".", "", "./bin", "bin", "/proc/self/cwd/bin", "/dev/fd/../cwd/bin", "/usr/../proc/self/cwd/bin"];
    for path in folders.map(|folder| format!("{folder}:{usual}")) {
        for args in [&["doctor"][..], &["init", "--dry-run"], &["gc", "--dry-run"], &["why", "a.rs:2"]] {
            let _outcome = run(binary(repo.path(), args).env("PATH", &path));
        }
        assert!(!mark.exists(), "{path}");
        let read = run(binary(repo.path(), &["read", "a.rs"]).env("PATH", &path)).success();
        assert!(read.stdout.contains("Keep this order."), "{}", read.stdout);
    }
}
