//! Words taken out of every version of the notes: nothing of ours reaches them any more.
//!
//! What is reachable is asked of git itself, object by object, so a reader of ours that hides too much
//! cannot pass for a purge.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    asking::{annotate, ask, pool},
    desk::Desk,
    outcome::{binary, chronicle, chronicle_reading, entry, note, refs, run},
    strangers::{flood, stranger},
};

const WORDS: &str = "The vault opens with \"swordfish\" at noon.";
/// The part that JSON spells as it is.
const CORE: &str = "swordfish";

/// A pool on which `WORDS` were said and handed around in every way.
fn told() -> TestRepo {
    let repo = pool();
    annotate(
        &repo,
        &json!({ "summary": "Another reason for the pool",
            "wisdom": [{ "category": "gotcha", "content": WORDS, "file": "src/pool.rs", "lines": { "start": 9, "end": 10 } }] }),
    );
    let id = id_of(&repo, CORE);
    chronicle(repo.path(), &["flag", &id, "--reason", "It is noon no more."]).success();
    chronicle(repo.path(), &["correct", &id, "--field", "content", "--amend", WORDS, "The vault is gone."])
        .success();
    // A rewritten commit carries a copy; another remark quotes it; one is staged.
    let old = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["commit", "--quiet", "--amend", "-m", "pool: hand out ids, again"]);
    repo.git(&["notes", "--ref=chronicle", "copy", &old, "HEAD"]);
    annotate(&repo, &json!({ "summary": format!("Somebody told me: {WORDS} Really.") }));
    chronicle(repo.path(), &["note", &format!("Remember: {WORDS}")]).success();
    chronicle(repo.path(), &["note", "An innocent remark."]).success();
    for args in [&["read", "src/pool.rs"][..], &["summary", "src"], &["brief"], &["hook", "detached"]] {
        chronicle(repo.path(), args).success();
    }
    repo
}

/// What is kept of the notes beside them.
const KEPT: [&str; 2] = ["facts", "recap-whole"];

fn id_of(repo: &TestRepo, content: &str) -> String {
    entry(&note(repo, "HEAD"), content)["id"].as_str().expect("it has an id").to_owned()
}

/// Every object that any ref of ours reaches, as text.
fn reachable(repo: &TestRepo) -> String {
    let objects = repo.git(&["rev-list", "--objects", "--glob=refs/notes"]);
    let mut all = String::new();
    for object in objects.lines().filter_map(|line| line.split(' ').next()) {
        let kind = repo.git(&["cat-file", "-t", object]);
        if kind != "tree" {
            all += &String::from_utf8_lossy(&repo.try_git(&["cat-file", &kind, object]).stdout);
        }
    }
    all + &repo.git(&["log", "-p", "--glob=refs/notes"])
}

/// Whether a file of ours in the git directory holds the words.
fn is_kept_in_files(repo: &TestRepo) -> bool {
    is_kept_in(repo, "")
}

fn is_kept_in(repo: &TestRepo, name: &str) -> bool {
    let mut pending = vec![repo.path().join(".git/chronicle").join(name)];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the directory is readable");
            pending.extend(entries.map(|entry| entry.expect("it is readable").path()));
        // What is gone since it was listed holds nothing.
        } else if std::fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(CORE)) {
            return true;
        }
    }
    false
}

#[track_caller]
fn assert_nowhere(repo: &TestRepo) {
    let all = reachable(repo);
    assert!(
        !all.contains(CORE),
        "still reachable: {}",
        all.lines().find(|line| line.contains(CORE)).unwrap_or_default()
    );
    assert!(!is_kept_in_files(repo));
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    for args in [&["read", "src/pool.rs", "--all", "--verbose"][..], &["show", "--verbose"]] {
        let indexed = chronicle(repo.path(), args).success().stdout;
        let direct = run(binary(repo.path(), args).env("CHRONICLE_NO_CACHE", "1")).success().stdout;
        assert!(!indexed.contains(CORE) && !direct.contains(CORE), "{args:?}");
    }
}

/// The text with all ids and object names made alike.
fn without_ids(repo: &TestRepo, text: &str) -> String {
    let mut text = text.to_owned();
    for word in text.clone().split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let is_hex = 7 <= word.len() && word.chars().all(|letter| letter.is_ascii_hexdigit());
        let is_hash = text.contains(&format!("c-{word}"));
        if is_hex || (word.len() == 26 && (word.starts_with("01") || is_hash)) {
            text = text.replace(word, "ID");
        }
    }
    text.replace(&*repo.path().to_string_lossy(), "REPO")
}

#[test]
fn a_purged_lesson_is_in_no_version_of_any_ref() {
    let repo = told();
    let id = id_of(&repo, CORE);
    assert!(reachable(&repo).contains(CORE));
    for name in KEPT {
        assert!(is_kept_in(&repo, name), "nothing in {name}");
    }
    let n_versions = repo.git(&["rev-list", "--count", "refs/notes/chronicle"]);
    insta::assert_snapshot!(without_ids(&repo, &ask(&repo, &["purge", &id, "--dry-run"])), @"
    **Would be purged:**
    - ID
      > The vault opens with \"swordfish\" at noon.
    - c-ID
      > The vault opens with \"swordfish\" at noon.
    - s-ID
      > Somebody told me: The vault opens with \"swordfish\" at noon. Really.
    - a staged remark
      > Remember: The vault opens with \"swordfish\" at noon.
    ");
    assert!(reachable(&repo).contains(CORE), "looking changes nothing");
    insta::assert_snapshot!(without_ids(&repo, &ask(&repo, &["purge", &id])), @"
    **Purged:**
    - ID
    - c-ID
    - s-ID
    - rewritten: refs/notes/chronicle-corrections (ID to ID)
    - rewritten: refs/notes/chronicle (ID to ID)
    - staged remarks dropped: 1

    **May still be held by:**
    - the reflogs of this clone, until `git reflog expire --expire=now refs/notes/chronicle-corrections refs/notes/chronicle`
    - unreachable objects of this clone, until `git gc --prune=now`
    ");
    assert_nowhere(&repo);
    // Everything else is there, in as many versions.
    assert_eq!(repo.git(&["rev-list", "--count", "refs/notes/chronicle"]), n_versions);
    let stored = note(&repo, "HEAD").to_string();
    for kept in ["lock-free", "must never block", "One pool", "Another reason for the pool"] {
        assert!(stored.contains(kept), "`{kept}` is lost: {stored}");
    }
    assert!(!repo.git(&["log", "-p", "--glob=refs/notes"]).contains("It is noon no more."));
    insta::assert_snapshot!(ask(&repo, &["note", "--list"]), @"- insight (moments ago): An innocent remark.");
    // Once more changes nothing.
    let before = refs(&repo);
    chronicle(repo.path(), &["purge", &id]).success();
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_person_is_asked_before_words_go() {
    let desk = Desk::new();
    let lesson = |words: &str| json!({ "summary": "A reason", "wisdom": [{ "category": "insight", "content": words }] });
    annotate(&desk.repo, &lesson(WORDS));
    let id = id_of(&desk.repo, CORE);
    let before = refs(&desk.repo);
    let Some(kept) = desk.at_terminal(&format!("purge {id}"), "n", &[]) else { return };
    let kept = kept.success().stdout;
    assert!(kept.contains(CORE) && kept.contains("nothing was removed"), "{kept}");
    assert_eq!(refs(&desk.repo), before);
    let purge = |args: &str, answer: &str| {
        let outcome =
            desk.at_terminal(&format!("purge {args}"), answer, &[]).expect("there is one").success();
        assert!(outcome.stdout.contains("Purged:"), "{}", outcome.stdout);
    };
    purge(&format!("{id} --yes"), "");
    assert!(!reachable(&desk.repo).contains(CORE));
    annotate(&desk.repo, &lesson("The vault is open; swordfish is known."));
    let id = id_of(&desk.repo, CORE);
    purge(&id, "y");
    assert!(!reachable(&desk.repo).contains(CORE));
}

#[test]
fn the_words_of_a_stranger_take_no_staged_remark_of_the_user_away() {
    let repo = pool();
    let own = "Always run the tests twice.";
    chronicle(repo.path(), &["note", own]).success();
    let commit = repo.git(&["rev-parse", "HEAD"]);
    flood(
        &repo,
        &commit,
        stranger(&[json!({ "id": "01M8KP8X440KPN35GANR2EVIL1", "category": "gotcha", "content": own })]),
    );
    let trial = ask(&repo, &["purge", "01M8KP8X440KPN35GANR2EVIL1", "--dry-run"]);
    assert!(!trial.contains("staged remark"), "{trial}");
    let purged = ask(&repo, &["purge", "01M8KP8X440KPN35GANR2EVIL1"]);
    assert!(purged.contains("- 1 staged remark of yours for the next commit"), "{purged}");
    insta::assert_snapshot!(ask(&repo, &["note", "--list"]), @"- insight (moments ago): Always run the tests twice.");
}

#[test]
fn the_reflogs_and_the_push_that_are_named_are_the_ones() {
    let repo = told();
    let bare = repo.beside("bare.git");
    repo.git(&["init", "--quiet", "--bare", &bare.to_string_lossy()]);
    repo.git(&["remote", "add", "origin", &bare.to_string_lossy()]);
    repo.git(&["push", "--quiet", "origin", "main", "refs/notes/chronicle*:refs/notes/chronicle*"]);
    repo.git(&["fetch", "--quiet", "origin", "+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*"]);
    let id = id_of(&repo, CORE);
    let answer = chronicle(repo.path(), &["purge", &id, "--format=json"]).success().json();
    assert_nowhere(&repo);
    let expire = answer["still_held"][0].as_str().unwrap();
    let command = expire.split('`').nth(1).unwrap();
    let shell = |command: &str| {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        repo.git(&words);
    };
    assert!(repo.git(&["reflog", "show", "refs/notes/chronicle"]).contains("annotate"));
    shell(command);
    shell("git gc --quiet --prune=now");
    let everything =
        repo.git(&["cat-file", "--batch-check=%(objectname) %(objecttype)", "--batch-all-objects"]);
    for blob in everything.lines().filter_map(|line| line.strip_suffix(" blob")) {
        assert!(!repo.git(&["cat-file", "blob", blob]).contains(CORE));
    }
    let again = chronicle(repo.path(), &["purge", &id, "--format=json"]).success().json();
    assert_eq!(again["refs"], json!([]));
    assert!(
        again["push"][0].as_str().unwrap().contains("refs/notes/chronicle:refs/notes/chronicle"),
        "{again}"
    );
    assert!(chronicle(repo.path(), &["purge", &id]).success().stdout.contains("Was purged before"));
    // The push is refused where someone was faster, and works where not.
    shell(answer["push"][0].as_str().unwrap());
    let there = String::from_utf8_lossy(
        &testkit::command("git", &bare).args(["log", "-p", "--glob=refs/notes"]).output().unwrap().stdout,
    )
    .into_owned();
    assert!(!there.contains(CORE) && there.contains("lock-free"));
}

#[test]
fn a_remote_that_is_called_like_an_option_is_none_in_the_push_that_is_proposed() {
    let repo = told();
    let bare = repo.beside("bare.git");
    repo.git(&["init", "--quiet", "--bare", &bare.to_string_lossy()]);
    repo.git(&["config", "remote.--receive-pack=touch pwned;.url", &bare.to_string_lossy()]);
    let answer = chronicle(repo.path(), &["purge", &id_of(&repo, CORE), "--format=json"]).success().json();
    let push = answer["push"][0].as_str().unwrap();
    assert!(push.contains("--receive-pack"), "{push}");
    let mut shell = testkit::command("sh", repo.path());
    let pushed = shell.args(["-c", push]).output().unwrap();
    assert!(pushed.status.success() && !repo.path().join("pwned").exists(), "{push}: {pushed:?}");
}

#[test]
fn what_was_purged_does_not_come_back_with_a_fetch() {
    let repo = told();
    let id = id_of(&repo, CORE);
    let other = repo.beside("other");
    repo.git(&["init", "--quiet", "--bare", &other.to_string_lossy()]);
    repo.git(&["push", "--quiet", &other.to_string_lossy(), "refs/notes/*:refs/notes/*"]);
    chronicle(repo.path(), &["purge", &id]).success();
    repo.git(&[
        "fetch",
        "--quiet",
        &other.to_string_lossy(),
        "+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*",
    ]);
    for no_index in [false, true] {
        let mut command = binary(repo.path(), &["read", "src/pool.rs", "--format=json"]);
        if no_index {
            command.env("CHRONICLE_NO_CACHE", "1");
        }
        let reading = run(&mut command).success().json();
        let ids: Vec<&Value> = reading["wisdom"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert!(!ids.contains(&&json!(id)), "{reading:#}");
    }
    assert!(!chronicle(repo.path(), &["show"]).success().stdout.contains("vault opens with"));
    chronicle(repo.path(), &["purge", &id]).success();
    assert_nowhere(&repo);
}

#[test]
fn writers_and_a_purge_at_the_same_time_lose_nothing_and_bring_nothing_back() {
    let repo = told();
    let id = id_of(&repo, CORE);
    thread::scope(|scope| {
        for share in 0..4 {
            let (repo, other) = (&repo, id_of(&repo, "One pool"));
            scope.spawn(move || {
                for n in (0..24).filter(|n| n % 4 == share) {
                    let (text, summary) = (format!("lesson {n:03}"), format!("Reason {n:03} for the pool"));
                    let json = json!({ "summary": summary, "wisdom": [{ "category": "insight", "content": text, "file": "src/pool.rs" }] });
                    chronicle(repo.path(), &["annotate", "--json", &json.to_string()]).success();
                    chronicle(repo.path(), &["flag", &other, "--reason", &format!("reason {n:03}")]).success();
                    chronicle(repo.path(), &["read", "src/pool.rs"]).success();
                }
            });
        }
        scope.spawn(|| (0..3).for_each(|_| drop(chronicle(repo.path(), &["purge", &id]).success())));
    });
    assert_nowhere(&repo);
    let all = reachable(&repo);
    for n in 0..24 {
        assert!(note(&repo, "HEAD").to_string().contains(&format!("lesson {n:03}")), "lesson {n} is lost");
        assert!(all.contains(&format!("reason {n:03}")), "flag {n} is lost");
    }
}

#[test]
fn a_purge_that_was_killed_is_finished_by_the_next() {
    let repo = told();
    let id = id_of(&repo, CORE);
    let whole = note(&repo, "HEAD").to_string();
    for n in 0..40_u64 {
        let mut command = binary(repo.path(), &["purge", &id]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let born = Instant::now();
        while born.elapsed() < Duration::from_micros(n * 700) {
            thread::yield_now();
        }
        let _gone = child.kill();
        child.wait().unwrap();
        // The notes stay whole and readable at any moment.
        let stored = note(&repo, "HEAD").to_string();
        assert!(stored == whole || !stored.contains(CORE));
        chronicle(repo.path(), &["read", "src/pool.rs"]).success();
    }
    chronicle(repo.path(), &["purge", &id]).success();
    assert_nowhere(&repo);
    assert!(note(&repo, "HEAD").to_string().contains("lock-free"));
}

#[test]
fn what_cannot_be_purged_is_refused() {
    let repo = pool();
    chronicle(repo.path(), &["purge", "--force"]).refused(1, &["no entry has the id `--force`"]);
    let answer = chronicle(repo.path(), &["purge", "nonsense", "--format=json"]);
    assert_eq!(answer.json_error(), "unknown_entry");
}

#[test]
fn what_was_purged_does_not_come_back_with_an_import() {
    let repo = told();
    let exported = chronicle(repo.path(), &["export"]).success().stdout;
    assert!(exported.contains(CORE));
    chronicle(repo.path(), &["purge", &id_of(&repo, CORE)]).success();
    chronicle_reading(repo.path(), &["import"], exported.as_bytes()).success();
    assert_nowhere(&repo);
    assert!(note(&repo, "HEAD").to_string().contains("lock-free"));
}

/// Another clone of the bare repository, with its notes.
fn clone(repo: &TestRepo, bare: &std::path::Path) -> TestRepo {
    let clone = TestRepo::new();
    clone.git(&["remote", "add", "origin", &bare.to_string_lossy()]);
    clone.git(&["fetch", "--quiet", "origin"]);
    clone.git(&["reset", "--quiet", "--hard", &repo.git(&["rev-parse", "HEAD"])]);
    chronicle(clone.path(), &["sync", "pull", "origin"]).success();
    clone
}

#[test]
fn sync_brings_the_purge_to_other_clones_and_nothing_back() {
    let repo = told();
    let bare = repo.beside("bare.git");
    repo.git(&["init", "--quiet", "--bare", &bare.to_string_lossy()]);
    repo.git(&["remote", "add", "origin", &bare.to_string_lossy()]);
    repo.git(&["push", "--quiet", "origin", "main"]);
    chronicle(repo.path(), &["sync", "push", "origin"]).success();
    let other = clone(&repo, &bare);
    assert!(reachable(&other).contains(CORE));
    let json = json!({ "summary": "Theirs, meanwhile", "wisdom": [{ "category": "insight", "content": "A lesson of theirs.", "file": "src/pool.rs" }] });
    chronicle(other.path(), &["annotate", "--json", &json.to_string()]).success();
    chronicle(other.path(), &["read", "src/pool.rs"]).success();

    let id = id_of(&repo, CORE);
    chronicle(repo.path(), &["purge", &id]).success();
    // The remote is not clean yet: nothing is pushed over it, and nothing comes back from it.
    chronicle(repo.path(), &["sync", "push", "origin"]).refused(1, &["origin"]);
    chronicle(repo.path(), &["sync", "pull", "origin"]).success();
    assert_nowhere(&repo);
    repo.git(&["fetch", "--quiet", "origin", "+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*"]);
    let answer = chronicle(repo.path(), &["purge", &id, "--format=json"]).success().json();
    let words: Vec<&str> = answer["push"][0].as_str().unwrap().split(' ').skip(1).collect();
    repo.git(&words);
    assert_nowhere(&repo);

    chronicle(other.path(), &["sync", "push", "--vouch", "origin"]).success();
    assert_nowhere(&other);
    chronicle(repo.path(), &["sync", "push", "--vouch", "origin"]).success();
    assert_nowhere(&repo);
    for kept in ["A lesson of theirs.", "lock-free"] {
        assert!(
            note(&repo, "HEAD").to_string().contains(kept) && note(&other, "HEAD").to_string().contains(kept)
        );
    }
    let log = testkit::command("git", &bare).args(["log", "-p", "--glob=refs/notes"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&log.stdout).contains(CORE));
    let tree = ["rev-parse", "refs/notes/chronicle^{tree}"];
    assert_eq!(repo.git(&tree), other.git(&tree));
}
