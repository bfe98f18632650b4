//! Notes that other programs drop come back; who may use the files that are made; what waits for a lock.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle};

const OURS: &str = "refs/notes/chronicle";

fn repo(n_commits: usize) -> (TestRepo, Vec<String>) {
    let repo = TestRepo::new();
    let commits = (0..n_commits).map(|n| {
        repo.write("pool.rs", format!("fn acquire() {{ wait({n}) }}\n"));
        repo.commit(&format!("pool: wait {n}"))
    });
    let commits = commits.collect();
    (repo, commits)
}

fn annotate(repo: &TestRepo, commit: &str, lesson: &str) -> Outcome {
    let document = json!({ "summary": format!("Why {lesson}, in one sentence"), "wisdom": [
        { "category": "gotcha", "content": format!("{lesson}, as was learned") },
    ] });
    chronicle(repo.path(), &["annotate", "--commit", commit, "--json", &document.to_string()]).success()
}

/// The lessons that are stored, by commit.
fn lessons(repo: &TestRepo, commit: &str) -> Vec<String> {
    let note: Value = serde_json::from_str(&repo.note("chronicle", commit)).expect("a note is one object");
    let entries = note["wisdom"].as_array().expect("a note has lessons").iter();
    let mut lessons: Vec<String> =
        entries.map(|entry| entry["content"].as_str().expect("it is text").to_owned()).collect();
    lessons.sort_unstable();
    lessons
}

/// What `status`, `doctor` and `reconcile` say of dropped notes.
fn reported(repo: &TestRepo) -> [bool; 2] {
    let status = chronicle(repo.path(), &["status"]).success().stdout;
    let doctor = chronicle(repo.path(), &["doctor"]).stdout;
    assert!(status.contains("## To do") && doctor.contains("notes"), "{status}{doctor}");
    [status, doctor].map(|text| text.contains("dropped by another program"))
}

/// What `git notes` does that read `tree` before others wrote.
fn overtake(repo: &TestRepo, tree: &str, message: &str) {
    let commit = repo.git(&["commit-tree", "-p", OURS, "-m", message, &format!("{tree}^{{tree}}")]);
    repo.git(&["update-ref", OURS, commit.trim()]);
}

#[test]
fn what_was_stored_while_an_editor_was_open_comes_back() {
    let (repo, commits) = repo(3);
    annotate(&repo, &commits[0], "never block here");
    let read = repo.git(&["rev-parse", OURS]);
    annotate(&repo, &commits[0], "always close it");
    annotate(&repo, &commits[1], "callers hold the lock");
    overtake(&repo, &read, "Notes added by 'git notes edit'");
    assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"]);
    assert_eq!(reported(&repo), [true, true]);

    let outcome = chronicle(repo.path(), &["reconcile"]).success();
    assert!(outcome.stderr.contains("were brought back: 2"), "{outcome:?}");
    let both = ["always close it, as was learned", "never block here, as was learned"];
    assert_eq!(lessons(&repo, &commits[0]), both);
    assert_eq!(lessons(&repo, &commits[1]), ["callers hold the lock, as was learned"]);
    assert_eq!(reported(&repo), [false, false]);

    // What a user takes away stays away, also where nothing is remembered of what was checked.
    repo.git(&["notes", "--ref=chronicle", "remove", &commits[1]]);
    fs::write(repo.path().join(".git/chronicle/write.lock"), "").expect("it is ours");
    assert_eq!(reported(&repo), [false, false]);
    let outcome = chronicle(repo.path(), &["reconcile"]).success();
    assert!(!outcome.stderr.contains("brought back"), "{outcome:?}");
    assert_eq!(lessons(&repo, &commits[0]), both);
}

#[test]
fn a_replaced_note_comes_back_with_the_next_annotation() {
    let (repo, commits) = repo(2);
    annotate(&repo, &commits[0], "never block here");
    repo.git(&["notes", "--ref=chronicle", "add", "-f", "-m", "a remark by git", &commits[0]]);
    let outcome = annotate(&repo, &commits[1], "callers hold the lock");
    assert!(outcome.stderr.contains("another program had dropped notes; brought back: 1"), "{outcome:?}");
    assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"]);
    assert_eq!(lessons(&repo, &commits[1]), ["callers hold the lock, as was learned"]);
}

#[test]
fn a_forced_fetch_loses_nothing_that_was_not_pushed() {
    let (repo, commits) = repo(2);
    annotate(&repo, &commits[0], "never block here");
    let remote = repo.beside("remote.git");
    let remote = remote.to_str().expect("temporary paths are UTF-8");
    repo.git(&["clone", "--quiet", "--mirror", ".", remote]);
    annotate(&repo, &commits[1], "callers hold the lock");
    repo.git(&["fetch", "--quiet", remote, "+refs/notes/*:refs/notes/*"]);
    assert_eq!(repo.git(&["ls-tree", "--name-only", OURS]), commits[0]);
    assert_eq!(reported(&repo), [true, true]);
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(lessons(&repo, &commits[1]), ["callers hold the lock, as was learned"]);
    assert_eq!(reported(&repo), [false, false]);
}

#[test]
fn a_ref_that_was_set_back_goes_on_from_where_it_was() {
    let set_back: [(&str, &[&[&str]]); 3] = [
        ("by hand", &[&["update-ref", OURS, "older"]]),
        ("by a tag", &[&["tag", "-a", "-m", "old", "t", "older"], &["update-ref", OURS, "refs/tags/t"]]),
        (
            "after a deletion",
            &[
                &["update-ref", "-d", OURS],
                &["reflog", "expire", "--expire=now", "--all"],
                &["update-ref", OURS, "older"],
            ],
        ),
    ];
    for (how, commands) in set_back {
        let (repo, commits) = repo(2);
        annotate(&repo, &commits[0], "never block here");
        repo.git(&["update-ref", "refs/heads/older", OURS]);
        annotate(&repo, &commits[0], "always close it");
        for command in commands {
            repo.git(command);
        }
        assert_eq!(reported(&repo), [true, true], "{how}");
        annotate(&repo, &commits[1], "callers hold the lock");
        let lost = ["always close it, as was learned", "never block here, as was learned"];
        assert_eq!(lessons(&repo, &commits[0]), lost, "{how}");
        assert_eq!(reported(&repo), [false, false], "{how}");
    }
}

#[test]
fn a_ref_that_a_fetch_pruned_comes_back() {
    let remote = TestRepo::new();
    for mend in ["reconcile", "annotate"] {
        let (repo, commits) = repo(2);
        annotate(&repo, &commits[0], "never block here");
        annotate(&repo, &commits[0], "always close it");
        repo.git(&["remote", "add", "origin", &remote.path().to_string_lossy()]);
        repo.git(&["fetch", "--quiet", "--prune", "origin", "+refs/notes/*:refs/notes/*"]);
        assert_eq!(repo.git(&["for-each-ref", "refs/notes"]), "");
        assert_eq!(reported(&repo), [true, true]);
        match mend {
            "reconcile" => chronicle(repo.path(), &["reconcile"]).success(),
            _ => annotate(&repo, &commits[1], "callers hold the lock"),
        };
        let lost = ["always close it, as was learned", "never block here, as was learned"];
        assert_eq!(lessons(&repo, &commits[0]), lost, "{mend}");
        assert_eq!(reported(&repo), [false, false], "{mend}");
    }
    // What git itself has thrown away is not looked for again and again.
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    repo.git(&["update-ref", "-d", OURS]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["prune", "--expire=now"]);
    assert_eq!(reported(&repo), [false, false]);
}

#[test]
fn what_was_purged_is_not_brought_back() {
    let (repo, commits) = repo(2);
    annotate(&repo, &commits[0], "never block here");
    let before = repo.git(&["rev-parse", OURS]);
    annotate(&repo, &commits[0], "the password is on the wall");
    annotate(&repo, &commits[1], "callers hold the lock");
    let note: Value = serde_json::from_str(&repo.note("chronicle", &commits[0])).expect("it is JSON");
    let entries = note["wisdom"].as_array().expect("it has lessons");
    let secret = entries.iter().find(|entry| entry["content"].as_str().unwrap().contains("wall")).unwrap();
    overtake(&repo, &before, "Notes added by 'git notes append'");
    chronicle(repo.path(), &["purge", secret["id"].as_str().unwrap()]).success();
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"]);
    assert_eq!(lessons(&repo, &commits[1]), ["callers hold the lock, as was learned"]);
}

/// The permissions of everything under `directory` that is new, with directories marked.
fn modes(directory: &Path, found: &mut Vec<(String, bool, u32)>) {
    for entry in fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it is readable")) {
        let metadata = entry.metadata().expect("it is there");
        let name = entry.path().to_string_lossy().into_owned();
        found.push((name, metadata.is_dir(), metadata.permissions().mode() & 0o7777));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[test]
fn colleagues_can_write_to_a_shared_repository() {
    let (repo, commits) = repo(1);
    repo.git(&["config", "core.sharedRepository", "group"]);
    annotate(&repo, &commits[0], "never block here");
    chronicle(repo.path(), &["note", "a remark that waits"]).success();
    let mut found = Vec::new();
    for name in ["chronicle", "refs/notes", "logs/refs/notes"] {
        modes(&repo.path().join(".git").join(name), &mut found);
    }
    // What is kept for speed is its owner's alone, and what was written here is no colleague's.
    let is_own =
        |name: &str| name.contains("/index/") || name.contains("/kept/") || name.ends_with("/written");
    found.retain(|(name, ..)| !is_own(name));
    assert!(found.iter().any(|(name, ..)| name.ends_with("write.lock")), "{found:?}");
    assert!(found.iter().any(|(name, ..)| name.ends_with("staged-notes.json")), "{found:?}");
    for (name, is_directory, mode) in found {
        let expected = if is_directory { 0o2070 } else { 0o060 };
        assert_eq!(mode & expected, expected, "{name} has {mode:o}");
        assert_eq!(mode & 0o002, 0, "{name} has {mode:o}");
    }
    let note = repo.git(&["rev-parse", &format!("{OURS}:{}", commits[0])]);
    let object = repo.path().join(".git/objects").join(&note[..2]).join(&note[2..]);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    assert_eq!(format!("{:o}", mode(&object)), "444");
    assert_eq!(mode(object.parent().expect("it is in a directory")) & 0o2070, 0o2070);
}

#[test]
fn git_does_not_wait_for_a_stopped_writer_and_nothing_is_lost() {
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    chronicle(repo.path(), &["note", "callers hold the lock"]).success();
    let lock = fs::File::open(repo.path().join(".git/chronicle/write.lock")).expect("it is there");
    lock.lock().expect("nobody else has it");
    // What the hook does; it is over while the lock is held.
    repo.write("pool.rs", "fn acquire() {}\n");
    let commit = repo.commit("pool: wait no more");
    let hook = chronicle(repo.path(), &["hook", "post-commit"]);
    assert!(hook.stderr.contains("another process") && hook.stderr.contains("write.lock"), "{hook:?}");
    assert!(repo.try_git(&["notes", "--ref=chronicle", "show", &commit]).stdout.is_empty());
    drop(lock);
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(lessons(&repo, &commit), ["callers hold the lock"]);
}

#[test]
fn a_set_up_that_was_killed_is_finished_or_undone_by_the_next() {
    let (repo, _) = repo(1);
    let hook = repo.path().join(".git/hooks/post-commit");
    let original = repo.path().join(".git/hooks/post-commit.before-chronicle");
    let python = "#!/usr/bin/env python3\nprint(1)\n";
    fs::create_dir_all(hook.parent().expect("it is in a directory")).expect("it is ours");
    let kill_after_the_second_name = || {
        fs::write(&hook, python).expect("it is ours");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it is ours");
        fs::hard_link(&hook, &original).expect("it is ours");
    };
    kill_after_the_second_name();
    chronicle(repo.path(), &["uninstall"]).success();
    assert_eq!(fs::read_to_string(&hook).expect("it is there"), python);
    assert!(!original.exists());

    kill_after_the_second_name();
    chronicle(repo.path(), &["init"]).success();
    assert!(fs::read_to_string(&hook).expect("it is there").contains("git-chronicle hook post-commit"));
    assert_eq!(fs::read_to_string(&original).expect("it is there"), python);
    chronicle(repo.path(), &["uninstall"]).success();
    assert_eq!(fs::read_to_string(&hook).expect("it is there"), python);
    assert!(!original.exists());
}

/// A commit of notes by another program, with these parents.
fn foreign(repo: &TestRepo, tree: &str, parents: &[&str]) -> String {
    let parents = parents.iter().flat_map(|parent| ["-p", parent]);
    let args: Vec<&str> =
        ["commit-tree", "-m", "notes by others"].into_iter().chain(parents).chain([tree]).collect();
    repo.git(&args).trim().to_owned()
}

#[test]
fn own_words_come_back_however_others_went_on_from_them() {
    type Others = fn(&TestRepo, &str, &str) -> String;
    let octopus: Others = |repo, own, empty| {
        let roots = ["x", "y"].map(|message| repo.git(&["commit-tree", "-m", message, empty]));
        foreign(repo, empty, &[roots[0].trim(), roots[1].trim(), own])
    };
    let merge: Others = |repo, own, empty| {
        let root = repo.git(&["commit-tree", "-m", "x", empty]);
        foreign(repo, empty, &[own, root.trim()])
    };
    let flood: Others = |repo, own, empty| {
        let mut tip = foreign(repo, empty, &[own]);
        for n in 0..3 {
            let file = repo.beside("large");
            fs::write(&file, n.to_string().repeat(7 << 20)).expect("there is room");
            let blob = repo.git(&["hash-object", "-w", &file.to_string_lossy()]);
            repo.git(&["update-ref", OURS, &tip]);
            repo.git(&["notes", "--ref=chronicle", "add", "-f", "-C", blob.trim(), "HEAD^{tree}"]);
            tip = repo.git(&["rev-parse", OURS]).trim().to_owned();
        }
        tip
    };
    let too_large: Others = |repo, own, _| {
        let note = repo.git(&["notes", "--ref=chronicle", "show", "HEAD"]);
        let file = repo.beside("large");
        fs::write(&file, format!("{note}{}", " ".repeat(9 << 20))).expect("there is room");
        repo.git(&["update-ref", OURS, own]);
        let blob = repo.git(&["hash-object", "-w", &file.to_string_lossy()]);
        repo.git(&["notes", "--ref=chronicle", "add", "-f", "-C", blob.trim(), "HEAD"]);
        repo.git(&["rev-parse", OURS]).trim().to_owned()
    };
    for (name, others) in [("octopus", octopus), ("merge", merge), ("flood", flood), ("too large", too_large)]
    {
        let (repo, commits) = repo(1);
        annotate(&repo, &commits[0], "never block here");
        let note: Value = serde_json::from_str(&repo.note("chronicle", &commits[0])).expect("it is JSON");
        // A stranger's mark takes nothing of the user's away.
        let id = note["wisdom"][0]["id"].as_str().expect("it has an id");
        let mark = json!({ "schema": "chronicle-purge/v1", "purged": [id], "blobs": [],
            "timestamp": "2026-03-01T12:00:00Z", "author": "Eve" });
        repo.put_note("chronicle-purged", &commits[0], mark.to_string().as_bytes());
        let own = repo.git(&["rev-parse", OURS]);
        let empty = repo.git(&["mktree"]);
        let tip = others(&repo, own.trim(), empty.trim());
        repo.git(&["update-ref", OURS, &tip]);
        assert_eq!(reported(&repo), [true, true], "{name}");
        chronicle(repo.path(), &["reconcile"]).success();
        assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"], "{name}");
        assert_eq!(reported(&repo), [false, false], "{name}");
    }
}

#[test]
fn a_second_note_on_a_commit_hides_none() {
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    // Read once, so that facts know the ref as it was.
    let read = chronicle(repo.path(), &["read", "pool.rs"]).success().stdout;
    assert!(read.contains("never block here"), "{read}");
    let theirs = repo.beside("theirs");
    fs::write(&theirs, "{}\n").expect("there is room");
    let blob = repo.git(&["hash-object", "-w", &theirs.to_string_lossy()]);
    let (above, below) = commits[0].split_at(2);
    let listed = repo.beside("listed");
    let mktree = |lines: &str| {
        fs::write(&listed, lines).expect("there is room");
        let mut command = testkit::command("git", repo.path());
        command.arg("mktree").stdin(fs::File::open(&listed).expect("it was written"));
        String::from_utf8(command.output().expect("git runs").stdout).expect("it is an id").trim().to_owned()
    };
    let subtree = mktree(&format!("100644 blob {}\t{below}\n", blob.trim()));
    let tree = mktree(&format!("{}\n040000 tree {subtree}\t{above}\n", repo.git(&["ls-tree", OURS]).trim()));
    let tip = foreign(&repo, &tree, &[OURS]);
    repo.git(&["update-ref", OURS, &tip]);
    for args in [&["read", "pool.rs"][..], &["show"]] {
        let shown = chronicle(repo.path(), args).success();
        assert!(shown.stdout.contains("never block here, as was learned"), "{args:?}: {shown:#?}");
    }
    annotate(&repo, &commits[0], "always close it");
    let both = ["always close it, as was learned", "never block here, as was learned"];
    assert_eq!(lessons(&repo, &commits[0]), both);
    assert_eq!(repo.git(&["ls-tree", "-r", "--name-only", OURS]).lines().count(), 1);
}

#[test]
fn a_ref_that_leads_to_no_commit_was_overwritten() {
    for kind in ["tree", "blob", "tag"] {
        let (repo, commits) = repo(1);
        annotate(&repo, &commits[0], "never block here");
        let empty = repo.git(&["mktree"]);
        let target = match kind {
            "tree" => empty.trim().to_owned(),
            "blob" => repo.git(&["hash-object", "-w", "pool.rs"]).trim().to_owned(),
            _ => {
                let emptied = foreign(&repo, empty.trim(), &[OURS]);
                repo.git(&["tag", "-a", "-m", "x", "emptied", &emptied]);
                repo.git(&["rev-parse", "emptied"]).trim().to_owned()
            }
        };
        fs::write(repo.path().join(".git").join(OURS), format!("{target}\n")).expect("it is a file");
        // The user's own corrections are elsewhere, and what is planted there stops nothing.
        fs::write(repo.path().join(".git/refs/notes/chronicle-corrections"), format!("{}\n", empty.trim()))
            .expect("it is a file");
        assert_eq!(reported(&repo), [true, true], "{kind}");
        chronicle(repo.path(), &["export"]).success();
        chronicle(repo.path(), &["reconcile"]).success();
        assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"], "{kind}");
        annotate(&repo, &commits[0], "always close it");
        assert_eq!(lessons(&repo, &commits[0]).len(), 2, "{kind}");
    }
}

#[test]
fn a_strangers_mark_takes_no_flag_of_the_users_away() {
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    let note: Value = serde_json::from_str(&repo.note("chronicle", &commits[0])).expect("it is JSON");
    let id = note["wisdom"][0]["id"].as_str().expect("it has an id");
    chronicle(repo.path(), &["flag", id, "--reason", "it may block since"]).success();
    let flags = || repo.git(&["log", "-1", "-p", "--format=", "refs/notes/chronicle-corrections"]);
    let before = flags();
    let correction =
        before.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has one");
    let mark = json!({ "id": "01M8HCJGMNM2E3N4BQ6PQP39VT", "purged": [id, correction], "author": "Eve",
        "timestamp": "2026-03-01T12:00:00Z" });
    repo.put_note("chronicle-purged", &commits[0], mark.to_string().as_bytes());
    let remote = repo.beside("remote.git");
    let remote = remote.to_str().expect("temporary paths are UTF-8");
    repo.git(&["clone", "--quiet", "--mirror", ".", remote]);
    repo.git(&["remote", "add", "origin", remote]);
    chronicle(repo.path(), &["sync", "pull", "origin"]).success();
    assert_eq!(flags(), before);
    let shown = chronicle(repo.path(), &["show"]).success().stdout;
    assert!(shown.contains("it may block since"), "{shown}");
}

#[test]
fn nothing_is_corrected_or_purged_while_the_users_notes_are_not_back() {
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    let own = repo.note("chronicle", &commits[0]);
    let before = repo.git(&["rev-parse", OURS]);
    // A stranger's words under the same ids, fetched by force.
    repo.put_note("chronicle", &commits[0], own.replace("never block", "always block").as_bytes());
    let commit = repo.git(&["commit-tree", "-m", "theirs", &format!("{OURS}^{{tree}}")]);
    repo.git(&["update-ref", OURS, commit.trim()]);
    assert_ne!(repo.git(&["rev-parse", OURS]), before);
    let id = serde_json::from_str::<Value>(&own).expect("it is JSON")["wisdom"][0]["id"].clone();
    let id = id.as_str().expect("an id");
    for args in [
        &["purge", id][..],
        &["purge", &commits[0]],
        &["flag", id, "--reason", "nonsense"],
        &["correct", id, "--remove", "block"],
        &["expire", id],
    ] {
        chronicle(repo.path(), args).refused(1, &["another program dropped 1 note"]);
    }
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(lessons(&repo, &commits[0]).iter().filter(|lesson| lesson.contains("never block")).count(), 1);
    chronicle(repo.path(), &["flag", id, "--reason", "It blocks after all"]).success();
}

#[test]
fn notes_too_large_to_unite_do_not_replace_those_of_the_user() {
    let (repo, commits) = repo(1);
    annotate(&repo, &commits[0], "never block here");
    chronicle(repo.path(), &["knowledge", "add", "--rule", "Own rule"]).success();
    let tree = repo.git(&["hash-object", "-t", "tree", "/dev/null"]);
    let large = "z".repeat(9_000_000);
    let lesson = json!({ "schema": "chronicle/v3", "commit": commits[0], "timestamp": "2026-03-01T12:00:00Z",
        "summary": "EVIL", "wisdom": [{ "id": "01M8M1KG6KHMDT5NV1Z6000000", "category": "gotcha", "content": large }] });
    let rules = json!({ "schema": "chronicle/knowledge-v1", "conventions": [{ "id": "x", "scope": "*", "rule": large }] });
    repo.git(&["update-ref", "-d", OURS]);
    repo.put_note("chronicle", &commits[0], lesson.to_string().as_bytes());
    repo.put_note("chronicle", tree.trim(), rules.to_string().as_bytes());
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(lessons(&repo, &commits[0]), ["never block here, as was learned"]);
    let known = chronicle(repo.path(), &["knowledge", "list"]).success().stdout;
    assert!(known.contains("Own rule"), "{known}");
    assert_eq!(reported(&repo), [false, false]);
}
