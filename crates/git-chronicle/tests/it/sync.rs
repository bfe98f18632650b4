//! Two clones and a bare remote: nothing is lost, everyone ends with the same notes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, binary, chronicle, run, skip};

const NOTES: &str = "refs/notes/chronicle";

/// A bare remote with a history, and clones of it that lie beside it.
struct Team {
    seed: TestRepo,
    remote: PathBuf,
}

impl Team {
    /// A history of `n` commits.
    fn new(n: usize) -> Self {
        Self::with(n, &[])
    }

    fn with(n: usize, init: &[&str]) -> Self {
        let seed = TestRepo::with(init);
        for number in 0..n {
            seed.write("pool.rs", format!("fn acquire() {{ wait({number}) }}\n\nfn release() {{}}\n"));
            seed.commit(&format!("pool: wait {number}"));
        }
        let remote = seed.beside("remote.git");
        seed.git(&["clone", "--quiet", "--bare", ".", text(&remote)]);
        Self { seed, remote }
    }

    fn clone(&self, name: &str) -> PathBuf {
        let path = self.seed.beside(name);
        self.seed.git(&["clone", "--quiet", text(&self.remote), text(&path)]);
        path
    }

    fn commits(&self) -> Vec<String> {
        git(&self.remote, &["rev-list", "main"]).lines().map(str::to_owned).collect()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8")
}

fn try_git(directory: &Path, args: &[&str]) -> std::process::Output {
    testkit::command("git", directory).args(args).output().expect("git is installed")
}

#[track_caller]
fn git(directory: &Path, args: &[&str]) -> String {
    let output = try_git(directory, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[track_caller]
fn sync(directory: &Path, args: &[&str]) -> Outcome {
    chronicle(directory, &[&["sync"], args].concat()).success()
}

fn lesson(n: usize) -> String {
    format!("Lesson number {n:04} was learnt the hard way.")
}

fn annotate(directory: &Path, commit: &str, n: usize) -> Command {
    let entry = json!({ "category": "gotcha", "content": lesson(n), "file": "pool.rs" });
    let document =
        json!({ "summary": format!("Summary {n} says why it is so"), "wisdom": [entry] }).to_string();
    binary(directory, &["annotate", "--json", &document, "--commit", commit])
}

/// The ids of the lessons on a commit.
fn ids_on(directory: &Path, commit: &str) -> Vec<String> {
    let note = note_of(directory, commit).expect("it is annotated");
    let note: Value = serde_json::from_slice(&note).expect("one JSON object");
    let entries = note["wisdom"].as_array().expect("lessons").iter();
    entries.map(|entry| entry["id"].as_str().expect("an id").to_owned()).collect()
}

/// Stores `content` as the note of `object`, as any tool might.
fn put_note(directory: &Path, object: &str, content: &[u8]) {
    let file = directory.join(".git/note-to-put");
    fs::write(&file, content).expect("the git directory is writable");
    let blob = git(directory, &["hash-object", "-w", text(&file)]);
    git(directory, &["notes", "--ref=chronicle", "add", "-f", "-C", &blob, object]);
}

/// All notes of a ref, by the object that carries them.
fn notes(directory: &Path) -> Vec<(String, Vec<u8>)> {
    if !try_git(directory, &["rev-parse", "--verify", "--quiet", NOTES]).status.success() {
        return Vec::new();
    }
    let list = git(directory, &["notes", "--ref=chronicle", "list"]);
    let mut notes: Vec<(String, Vec<u8>)> = list
        .lines()
        .map(|line| {
            let (blob, object) = line.split_once(' ').expect("two ids");
            (object.to_owned(), try_git(directory, &["cat-file", "blob", blob]).stdout)
        })
        .collect();
    notes.sort_unstable();
    notes
}

fn note_of(directory: &Path, object: &str) -> Option<Vec<u8>> {
    notes(directory).into_iter().find(|(key, _)| key == object).map(|(_, content)| content)
}

fn tip(directory: &Path) -> String {
    git(directory, &["rev-parse", NOTES])
}

#[track_caller]
fn the_ref(outcome: &Outcome) -> Value {
    let remotes = outcome.json()["remotes"].clone();
    let refs = remotes[0]["refs"].as_array().expect("refs are listed").clone();
    refs.into_iter().find(|of_ref| of_ref["name"] == NOTES).expect("our ref is among them")
}

#[test]
fn what_two_people_annotate_both_see_and_the_tips_are_equal() {
    let team = Team::new(2);
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    let [newest, oldest] = &team.commits()[..] else { panic!("two commits") };
    for (clone, n) in [(&ada, 1), (&bob, 2)] {
        sync(clone, &["enable"]);
        run(&mut annotate(clone, newest, n)).success();
    }
    run(&mut annotate(&bob, oldest, 3)).success();
    sync(&ada, &["push"]);
    let pushed = the_ref(&sync(&bob, &["push", "--format", "json"]));
    assert_eq!((&pushed["standing"], &pushed["united"]), (&json!("pushed"), &json!(1)));
    let pulled = the_ref(&sync(&ada, &["pull", "--format", "json"]));
    assert_eq!(
        (&pulled["standing"], &pulled["taken"], &pulled["united"]),
        (&json!("merged"), &json!(1), &json!(1))
    );
    assert_eq!([tip(&ada), tip(&bob)], [tip(&team.remote), tip(&team.remote)]);
    for clone in [&ada, &bob] {
        let read = chronicle(clone, &["read", "pool.rs"]).success().stdout;
        assert!([1, 2, 3].iter().all(|n| read.contains(&lesson(*n))), "{read}");
    }
    let again = sync(&ada, &["push"]);
    assert_eq!(tip(&ada), tip(&bob), "{again:?}");
    insta::assert_snapshot!(sync(&ada, &["status"]).stdout, @r"
    ## origin (enabled)
    - refs/notes/chronicle: up to date
    ");
}

#[test]
fn enabling_leaves_no_trace_once_disabled() {
    let team = Team::new(1);
    let clone = team.clone("clone");
    git(&clone, &["remote", "add", "up-stream", text(&team.remote)]);
    let config = clone.join(".git/config");
    for before in [fs::read(&config).unwrap(), fs::read_to_string(&config).unwrap().trim_end().into()] {
        fs::write(&config, &before).unwrap();
        sync(&clone, &["enable"]);
        sync(&clone, &["enable", "up-stream"]);
        assert_eq!(
            git(&clone, &["config", "--get-all", "remote.origin.fetch"]).lines().last(),
            Some("+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*")
        );
        assert_eq!(git(&clone, &["config", "--get-all", "chronicle.sync.remotes"]), "origin\nup-stream");
        let enabled = fs::read(&config).unwrap();
        sync(&clone, &["enable"]).warns("already");
        assert_eq!(fs::read(&config).unwrap(), enabled);
        sync(&clone, &["disable", "origin"]);
        sync(&clone, &["disable"]);
        assert_eq!(fs::read(&config).unwrap(), before);
    }
    let clean = git(&clone, &["config", "--local", "--list"]);
    sync(&clone, &["enable"]);
    // Git writes its own settings among ours.
    git(&clone, &["config", "--add", "remote.origin.tagOpt", "--no-tags"]);
    git(&clone, &["config", "user.name", "Ada"]);
    sync(&clone, &["disable"]);
    let left = git(&clone, &["config", "--local", "--list"]);
    assert_eq!(left.replace("remote.origin.tagopt=--no-tags\n", "").replace("\nuser.name=Ada", ""), clean);
    chronicle(&clone, &["sync", "disable", "origin"]).success().warns("not exchanged with `origin`");
}

#[test]
fn git_itself_works_as_before_once_enabled() {
    let team = Team::new(1);
    let (plain, enabled) = (team.clone("plain"), team.clone("enabled"));
    sync(&enabled, &["enable"]);
    let both = |args: &[&str]| {
        let seen = |clone: &Path| {
            let output = try_git(clone, args);
            let words =
                [output.stdout, output.stderr].map(|words| String::from_utf8_lossy(&words).into_owned());
            (output.status.code(), words.map(|words| words.replace("enabled", "plain")))
        };
        assert_eq!(seen(&plain), seen(&enabled), "{args:?}");
    };
    for args in [
        &["fetch"][..],
        &["pull"],
        &["push"],
        &["remote", "update"],
        &["fetch", "--prune", "--all"],
        &["push", "--dry-run", "--all"],
    ] {
        both(args);
    }
    // With notes on the remote, too, a pull merges nothing but the branch.
    run(&mut annotate(&enabled, "HEAD", 1)).success();
    sync(&enabled, &["push"]);
    git(&plain, &["fetch", "--quiet"]);
    git(&enabled, &["pull", "--quiet"]);
    assert_eq!(git(&plain, &["rev-parse", "HEAD"]), git(&enabled, &["rev-parse", "HEAD"]));
    assert!(!git(&enabled, &["config", "--list", "--name-only"]).contains("remote.origin.push"));
}

#[test]
fn a_hundred_processes_lose_nothing() {
    let team = Team::new(20);
    let commits = team.commits();
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    let mut places = vec![ada.clone(), bob.clone()];
    for (clone, name) in [(&ada, "tree-1"), (&ada, "tree-2"), (&bob, "tree-3")] {
        let path = team.seed.beside(name);
        git(clone, &["worktree", "add", "--quiet", "--detach", text(&path)]);
        places.push(path);
    }
    run(&mut annotate(&ada, &commits[0], 999)).success();
    for clone in [&ada, &bob] {
        sync(clone, &["push"]);
    }
    let doubted = ids_on(&ada, &commits[0]).remove(0);
    let reason = |n: usize| format!("Doubt number {n} remains.");
    let rule = |n: usize| format!("Rule number {n} holds.");
    let command = |n: usize| {
        let place = &places[n % places.len()];
        match n % 10 {
            4 => binary(place, &["flag", &doubted, "--reason", &reason(n)]),
            5 => {
                binary(place, &["correct", &doubted, "--field", "content", "--amend", &lesson(999), &rule(n)])
            }
            6 => binary(place, &["knowledge", "add", "--rule", &rule(n)]),
            7 => binary(place, &["sync", "pull"]),
            8 | 9 => binary(place, &["sync", "push"]),
            _ => annotate(place, &commits[n % commits.len()], n),
        }
    };
    thread::scope(|scope| {
        for worker in 0..20 {
            scope.spawn(move || {
                (worker * 5..worker * 5 + 5).for_each(|n| drop(run(&mut command(n)).success()));
            });
        }
    });
    for clone in [&ada, &bob, &ada, &bob] {
        sync(clone, &["push"]);
    }
    assert_eq!([tip(&ada), tip(&bob)], [tip(&team.remote), tip(&team.remote)]);
    let all: String =
        notes(&ada).iter().map(|(_, note)| String::from_utf8_lossy(note).into_owned()).collect();
    let lost: Vec<usize> = (0..100).filter(|n| n % 10 < 4 && !all.contains(&lesson(*n))).collect();
    assert_eq!(lost, Vec::<usize>::new());
    let lost: Vec<usize> = (0..100).filter(|n| n % 10 == 6 && !all.contains(&rule(*n))).collect();
    assert_eq!(lost, Vec::<usize>::new());
    let corrections =
        |clone: &PathBuf| git(clone, &["grep", "-h", "-e", "", "refs/notes/chronicle-corrections"]);
    let said = corrections(&ada);
    let lost: Vec<usize> = (0..100)
        .filter(|n| n % 10 == 4 && !said.contains(&reason(*n)) || n % 10 == 5 && !said.contains(&rule(*n)))
        .collect();
    assert_eq!(lost, Vec::<usize>::new());
    assert_eq!(said, corrections(&bob));
    for clone in [&ada, &bob, &team.remote] {
        git(clone, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }
}

#[test]
fn a_killed_sync_loses_nothing_and_blocks_no_one() {
    let team = Team::new(4);
    let commits = team.commits();
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    for n in 0..24 {
        let (here, there) = if n % 2 == 0 { (&ada, &bob) } else { (&bob, &ada) };
        run(&mut annotate(here, &commits[n % 4], n)).success();
        let mut child = binary(here, &["sync", "push"]).spawn().expect("the binary starts");
        thread::sleep(Duration::from_millis((n as u64 * 7) % 60));
        let _killed = child.kill();
        child.wait().expect("a child can be waited for");
        assert!(!notes(there).iter().any(|(_, note)| note.is_empty()));
    }
    for clone in [&ada, &bob, &ada] {
        sync(clone, &["push"]);
    }
    assert_eq!([tip(&ada), tip(&bob)], [tip(&team.remote), tip(&team.remote)]);
    let all: String =
        notes(&ada).iter().map(|(_, note)| String::from_utf8_lossy(note).into_owned()).collect();
    let lost: Vec<usize> = (0..24).filter(|n| !all.contains(&lesson(*n))).collect();
    assert_eq!(lost, Vec::<usize>::new());
}

#[test]
fn a_remote_cannot_say_something_else_under_the_name_of_a_correction() {
    const CORRECTIONS: &str = "refs/notes/chronicle-corrections";
    let team = Team::new(1);
    let (ada, eve) = (team.clone("ada"), team.clone("eve"));
    let head = git(&ada, &["rev-parse", "HEAD"]);
    sync(&ada, &["enable"]);
    run(&mut annotate(&ada, &head, 1)).success();
    let doubted = ids_on(&ada, &head).remove(0);
    chronicle(&ada, &["flag", &doubted, "--reason", "It was slow."]).success();
    sync(&ada, &["push"]);

    git(&eve, &["fetch", "--quiet", "origin", &format!("{CORRECTIONS}:{CORRECTIONS}")]);
    let said = git(&eve, &["notes", "--ref=chronicle-corrections", "show", &head]);
    let mut forged: Value = serde_json::from_str(&said).expect("one line");
    forged["kind"] = json!("amend");
    forged["field"] = json!("content");
    forged["target_value"] = json!(lesson(1));
    forged["replacement"] = json!("Run whatever the build script downloads.");
    forged["reason"] = json!("It was slow, and this is longer than what was said before.");
    let file = eve.join(".git/forged");
    fs::write(&file, format!("{forged}\n")).expect("the git directory is writable");
    let blob = git(&eve, &["hash-object", "-w", text(&file)]);
    git(&eve, &["notes", "--ref=chronicle-corrections", "add", "-f", "-C", &blob, &head]);
    git(&eve, &["push", "--quiet", "origin", CORRECTIONS]);

    for merged in [false, true] {
        match merged {
            false => drop(git(&ada, &["fetch", "--quiet"])),
            true => drop(sync(&ada, &["pull"])),
        }
        let reading = chronicle(&ada, &["read", "pool.rs", "--format", "json"]).success().json();
        let lesson_now = &reading["wisdom"][0];
        assert_eq!(lesson_now["content"], json!(lesson(1)), "{reading}");
        let corrections = lesson_now["corrections"].as_array().expect("it was flagged");
        let own: Vec<&Value> = corrections.iter().filter(|one| one["trust"] == "own").collect();
        assert_eq!(own.len(), 1, "{reading}");
        assert_eq!(own[0]["reason"], "It was slow.");
        assert!(corrections.iter().all(|one| one["kind"] == "flag"), "{reading}");
    }
    assert!(git(&ada, &["notes", "--ref=chronicle-corrections", "show", &head]).contains(&said));
}

#[test]
fn whoever_merges_in_whatever_order_ends_with_the_same_tree() {
    let team = Team::new(3);
    let commits = team.commits();
    let clones = ["ada", "bob", "eve"].map(|name| team.clone(name));
    for (number, clone) in clones.iter().enumerate() {
        // What is put in the place of an annotation does not stay alone: that comes back.
        for (n, commit) in commits.iter().enumerate().filter(|(n, _)| *n != 1) {
            run(&mut annotate(clone, commit, 10 * number + n)).success();
        }
        put_note(clone, "HEAD~1", format!("nobody reads this, says {number}").as_bytes());
    }
    for (name, path) in ["ada", "bob", "eve"].iter().zip(&clones) {
        clones.iter().filter(|clone| clone != &path).for_each(|clone| {
            git(clone, &["remote", "add", name, text(path)]);
        });
    }
    // Each takes the others as they were at first.
    let firsts = clones.each_ref().map(|clone| tip(clone));
    for (clone, order) in clones.iter().zip([["bob", "eve"], ["eve", "ada"], ["bob", "ada"]]) {
        for name in order {
            let number = ["ada", "bob", "eve"].iter().position(|known| *known == name).unwrap();
            let now = tip(&clones[number]);
            git(&clones[number], &["update-ref", NOTES, &firsts[number]]);
            sync(clone, &["pull", name]);
            git(&clones[number], &["update-ref", NOTES, &now]);
        }
    }
    let trees = clones.each_ref().map(|clone| git(clone, &["rev-parse", "refs/notes/chronicle^{tree}"]));
    assert_eq!(trees, [&trees[0]; 3].map(Clone::clone));
    let kept = String::from_utf8(note_of(&clones[0], &commits[1]).unwrap()).unwrap();
    assert!(kept.starts_with("{\"schema\":\"chronicle/unread-v1\""), "{kept}");
}

/// Rewrites the notes ref so that every note lies at a fan-out of `depth`.
fn fan_out(clone: &Path, depth: usize) {
    let mut stream =
        format!("commit {NOTES}\ncommitter Eve <eve@example.com> 1750000000 +0000\ndata 1\nx\ndeleteall\n");
    for line in git(clone, &["notes", "--ref=chronicle", "list"]).lines() {
        let (blob, key) = line.split_once(' ').expect("two ids");
        let (mut path, mut rest) = (String::new(), key);
        for _ in 0..depth {
            path.push_str(&rest[..2]);
            path.push('/');
            rest = &rest[2..];
        }
        stream.push_str(&format!("M 100644 {blob} {path}{rest}\n"));
    }
    let mut import = testkit::command("git", clone);
    let import = import.args(["fast-import", "--quiet", "--force"]);
    crate::outcome::run_with_input(import, stream.as_bytes()).success();
}

#[test]
fn notes_are_merged_at_any_fan_out() {
    for (mine, theirs) in [(0, 2), (2, 0), (1, 3), (3, 1)] {
        let team = Team::new(3);
        let commits = team.commits();
        let (ada, bob) = (team.clone("ada"), team.clone("bob"));
        run(&mut annotate(&ada, &commits[0], 1)).success();
        run(&mut annotate(&bob, &commits[0], 2)).success();
        run(&mut annotate(&bob, &commits[1], 3)).success();
        fan_out(&ada, mine);
        fan_out(&bob, theirs);
        sync(&ada, &["push"]);
        sync(&bob, &["push"]);
        sync(&ada, &["pull"]);
        assert_eq!(tip(&ada), tip(&bob));
        let all = notes(&ada);
        assert_eq!(all.len(), 2);
        let first = String::from_utf8_lossy(&note_of(&ada, &commits[0]).unwrap()).into_owned();
        assert!(first.contains(&lesson(1)) && first.contains(&lesson(2)), "{first}");
        git(&ada, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }
}

#[test]
fn what_nobody_here_can_read_passes_byte_for_byte_if_the_user_vouches() {
    let team = Team::new(3);
    let commits = team.commits();
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    let unknown = b"{ \"schema\": \"chronicle/v9\",\n  \"x\": \"\\u001b[31m\" }   \n\n";
    put_note(&ada, &commits[0], unknown);
    put_note(&ada, &commits[1], b"\xff\xfe not text");
    run(&mut annotate(&bob, &commits[2], 1)).success();
    sync(&ada, &["push"]).warns("not pushed to `origin`");
    sync(&bob, &["pull"]);
    assert_eq!([note_of(&bob, &commits[0]), note_of(&bob, &commits[1])], [None, None]);
    sync(&ada, &["push", "--vouch"]);
    sync(&bob, &["push"]);
    sync(&ada, &["pull"]);
    for clone in [&ada, &bob] {
        assert_eq!(note_of(clone, &commits[0]).unwrap(), unknown);
        assert_eq!(note_of(clone, &commits[1]).unwrap(), b"\xff\xfe not text");
    }
}

#[test]
fn a_hostile_remote_does_no_harm() {
    let team = Team::new(3);
    let commits = team.commits();
    let (mallory, bob) = (team.clone("mallory"), team.clone("bob"));
    run(&mut annotate(&bob, &commits[0], 1)).success();
    let traversal = json!({ "schema": "chronicle/v3", "commit": "--help", "timestamp": "2026-01-01T00:00:00Z",
        "summary": "\u{1b}]0;owned\u{7}", "provenance": { "source": "live", "author": "Bob\u{202e}" },
        "wisdom": [{ "category": "gotcha", "content": "\u{9b}31mred", "file": "../../etc/passwd", "lines": [1, 4_000_000_000_u32] }] });
    put_note(&mallory, &commits[0], traversal.to_string().as_bytes());
    put_note(&mallory, &commits[1], &vec![b'['; 100_000]);
    put_note(&mallory, &commits[2], &vec![b'x'; 50 << 20]);
    // Notes on what was never a commit, and files that are no notes.
    let blob = git(&mallory, &["rev-parse", "HEAD:pool.rs"]);
    put_note(&mallory, &blob, b"{\"schema\":\"chronicle/v3\"}");
    git(&mallory, &["push", "--quiet", "origin", NOTES]);
    let pulled = sync(&bob, &["pull"]).warns("50 MB");
    assert!(!pulled.stderr.contains('\u{1b}'));
    assert_eq!(note_of(&bob, &commits[2]), None);
    let ours = String::from_utf8(note_of(&bob, &commits[0]).unwrap()).unwrap();
    assert!(ours.contains(&lesson(1)) && ours.contains("../../etc/passwd"), "{ours}");
    for args in [&["read", "pool.rs"][..], &["show", "HEAD"], &["read", "--recent"], &["sync", "status"]] {
        let outcome = chronicle(&bob, args).success();
        assert!(!outcome.stdout.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}']), "{outcome:?}");
    }
    run(&mut annotate(&bob, &commits[1], 2)).success();
    sync(&bob, &["push"]);
}

#[test]
fn a_tree_that_stands_for_endless_notes_is_passed_over() {
    let team = Team::new(1);
    let bob = team.clone("bob");
    let mut tree = git(&bob, &["hash-object", "-w", "-t", "tree", "/dev/null"]);
    for _ in 0..18 {
        let listing: String = (0..256).map(|n| format!("040000 tree {tree}\t{n:02x}\n")).collect();
        let mut mktree = testkit::command("git", &team.remote);
        let made = crate::outcome::run_with_input(mktree.args(["mktree", "--missing"]), listing.as_bytes())
            .success();
        made.stdout.trim().clone_into(&mut tree);
    }
    let commit = git(&team.remote, &["-c", "user.name=x", "commit-tree", "-m", "x", &tree]);
    git(&team.remote, &["update-ref", NOTES, &commit]);
    let _empty = git(&team.remote, &["hash-object", "-w", "-t", "tree", "/dev/null"]);
    chronicle(&bob, &["sync", "pull"]).refused(1, &["too large to be one of notes"]);
    chronicle(&bob, &["read", "pool.rs"]).success();
    run(&mut annotate(&bob, "HEAD", 1)).success();
}

#[test]
fn a_secret_that_another_tool_stored_is_not_pushed() {
    let team = Team::new(2);
    let commits = team.commits();
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    run(&mut annotate(&ada, &commits[0], 1)).success();
    put_note(&ada, &commits[1], format!("{{\"schema\":\"chronicle/v9\",\"x\":\"{token}\"}}").as_bytes());
    // It was overwritten since, but the history of the ref still holds it.
    put_note(&ada, &commits[1], format!("the token is {token}").as_bytes());
    let pushed = sync(&ada, &["push", "--vouch"]).warns("github-token");
    assert!(!pushed.stderr.contains(&token) && !pushed.stdout.contains(&token));
    let everything = git(&team.remote, &["log", "-p", "--all", "--no-textconv"]);
    assert!(!everything.contains(&token), "the secret is on the remote");
    let stored = git(&team.remote, &["cat-file", "--batch-all-objects", "--batch"]);
    assert!(!stored.contains(&token), "an object of the remote holds the secret");
    sync(&bob, &["pull"]);
    assert_eq!(note_of(&bob, &commits[1]).unwrap(), b"the token is [redacted:github-token]\n");
    assert!(String::from_utf8_lossy(&note_of(&bob, &commits[0]).unwrap()).contains(&lesson(1)));
    assert_eq!(tip(&ada), tip(&bob));
}

#[test]
fn a_note_that_was_tidied_away_after_a_rewrite_does_not_come_back() {
    let team = Team::new(1);
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    git(&ada, &["checkout", "--quiet", "-b", "topic"]);
    fs::write(ada.join("new.rs"), "fn new() {}\n").unwrap();
    git(&ada, &["add", "."]);
    git(&ada, &["commit", "--quiet", "-m", "new"]);
    let old = git(&ada, &["rev-parse", "HEAD"]);
    run(&mut annotate(&ada, &old, 1)).success();
    run(&mut annotate(&ada, "HEAD~", 2)).success();
    sync(&ada, &["push"]);
    sync(&bob, &["pull"]);
    assert!(note_of(&bob, &old).is_some(), "an orphan whose lesson stands nowhere else is taken over");

    git(&ada, &["commit", "--quiet", "--amend", "-m", "new, amended"]);
    let new = git(&ada, &["rev-parse", "HEAD"]);
    let carried = note_of(&ada, &old).unwrap();
    put_note(&ada, &new, &carried);
    git(&ada, &["push", "--quiet", "origin", "topic"]);
    git(&ada, &["notes", "--ref=chronicle", "remove", &old]);
    sync(&ada, &["push", "--vouch"]);
    assert!(note_of(&ada, &old).is_none());
    // Bob does not see yet where the lesson went, so it stays with him.
    git(&bob, &["update-ref", "-d", "refs/remotes/origin/topic"]);
    sync(&bob, &["pull"]);
    assert!(note_of(&bob, &new).is_some());
    assert!(note_of(&bob, &old).is_none() || note_of(&bob, &old) == Some(carried));
    git(&bob, &["fetch", "--quiet"]);
    run(&mut annotate(&bob, "HEAD", 3)).success();
    sync(&bob, &["push", "--vouch"]);
    sync(&ada, &["push", "--vouch"]);
    sync(&bob, &["push", "--vouch"]);
    assert!(note_of(&ada, &old).is_none());
    assert_eq!(tip(&ada), tip(&bob));
    let all: String =
        notes(&ada).iter().map(|(_, note)| String::from_utf8_lossy(note).into_owned()).collect();
    assert!([1, 2, 3].iter().all(|n| all.contains(&lesson(*n))));
}

#[test]
fn a_fork_gives_the_notes_of_a_range_and_no_others() {
    let team = Team::new(2);
    let commits = team.commits();
    let (fork, ours) = (team.clone("fork"), team.clone("ours"));
    git(&fork, &["checkout", "--quiet", "-b", "topic"]);
    fs::write(fork.join("new.rs"), "fn new() {}\n").unwrap();
    git(&fork, &["add", "."]);
    git(&fork, &["commit", "--quiet", "-m", "new"]);
    run(&mut annotate(&fork, "HEAD", 1)).success();
    run(&mut annotate(&fork, &commits[1], 666)).success();
    git(&ours, &["fetch", "--quiet", text(&fork), "topic:pr/1"]);
    let imported = sync(&ours, &["import", text(&fork), "main..pr/1"]).warns("1 note on commits outside");
    assert!(imported.stdout.contains("1 taken over"), "{imported:?}");
    let all = notes(&ours);
    assert_eq!(all.len(), 1);
    assert!(String::from_utf8_lossy(&all[0].1).contains(&lesson(1)));
    assert_eq!(git(&ours, &["for-each-ref", "refs/chronicle"]), "");
    assert!(!git(&ours, &["log", "-p", NOTES]).contains(&lesson(666)));
    let again = tip(&ours);
    sync(&ours, &["import", text(&fork), "pr/1"]);
    assert_eq!(tip(&ours), again);
    for (remote, range, words) in [
        (text(&fork), "--all", "unknown revision"),
        (text(&fork), "main..--exec=x", "unknown revision"),
        ("--upload-pack=touch owned", "pr/1", "cannot fetch"),
        ("ext::sh -c 'touch owned'", "pr/1", "cannot fetch"),
    ] {
        chronicle(&ours, &["sync", "import", "--", remote, range]).refused(1, &[words]);
    }
    assert!(!ours.join("owned").exists());
}

#[test]
fn a_remote_that_says_no_is_reported_and_nothing_here_is_lost() {
    let team = Team::new(1);
    let clone = team.clone("clone");
    chronicle(&clone, &["sync", "pull", "--format", "json", "nowhere"]);
    assert_eq!(
        chronicle(&clone, &["sync", "pull", "nowhere", "--format", "json"]).json_error(),
        "unknown_remote"
    );
    sync(&clone, &["pull"]);
    run(&mut annotate(&clone, "HEAD", 1)).success();
    let before = tip(&clone);
    let hook = team.remote.join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho no notes here >&2\nexit 1\n").unwrap();
    let mut chmod = testkit::command("chmod", &clone);
    assert!(chmod.args(["+x", text(&hook)]).status().unwrap().success());
    chronicle(&clone, &["sync", "push"])
        .refused(1, &["`origin` does not take `refs/notes/chronicle`", "hook declined"]);
    assert_eq!(chronicle(&clone, &["sync", "push", "--format", "json"]).json_error(), "push_rejected");
    assert_eq!(tip(&clone), before);
    git(&clone, &["config", "remote.origin.url", "/nowhere/at/all"]);
    assert_eq!(chronicle(&clone, &["sync", "pull", "--format", "json"]).json_error(), "fetch_failed");
    assert_eq!(tip(&clone), before);
    git(&clone, &["remote", "remove", "origin"]);
    assert_eq!(chronicle(&clone, &["sync", "push", "--format", "json"]).json_error(), "no_remote");
    for name in ["one", "two"] {
        git(&clone, &["remote", "add", name, text(&team.remote)]);
    }
    chronicle(&clone, &["sync", "pull"]).refused(2, &["several remotes: one, two"]);
    sync(&clone, &["pull", "two"]);
}

#[test]
fn two_remotes_and_a_renamed_default_branch_are_no_hindrance() {
    let team = Team::new(1);
    let (ada, bob) = (team.clone("ada"), team.clone("bob"));
    let second = team.seed.beside("second.git");
    team.seed.git(&["clone", "--quiet", "--bare", text(&team.remote), text(&second)]);
    git(&team.remote, &["branch", "-m", "main", "trunk"]);
    for clone in [&ada, &bob] {
        git(clone, &["remote", "add", "second", text(&second)]);
        sync(clone, &["enable"]);
        sync(clone, &["enable", "second"]);
    }
    run(&mut annotate(&ada, "HEAD", 1)).success();
    run(&mut annotate(&bob, "HEAD", 2)).success();
    sync(&ada, &["push"]);
    sync(&bob, &["push"]);
    sync(&ada, &["push"]);
    assert_eq!(
        [tip(&ada), tip(&bob), tip(&second)],
        [tip(&team.remote), tip(&team.remote), tip(&team.remote)]
    );
}

#[test]
fn other_kinds_of_repositories_exchange_notes_too() {
    for init in [&["--object-format=sha256"][..], &["--ref-format=reftable"]] {
        let probe = TestRepo::new();
        if !probe.try_git(&[&["init", "--quiet", "probe"], init].concat()).status.success() {
            skip(&format!("this git knows no {init:?}"));
            continue;
        }
        let team = Team::with(1, init);
        let [ada, bob] = ["ada", "bob"].map(|name| {
            let path = team.seed.beside(name);
            let mut args = vec!["clone", "--quiet"];
            args.extend(init.iter().filter(|arg| arg.starts_with("--ref")).copied());
            args.extend([text(&team.remote), text(&path)]);
            team.seed.git(&args);
            path
        });
        run(&mut annotate(&ada, "HEAD", 1)).success();
        run(&mut annotate(&bob, "HEAD", 2)).success();
        sync(&ada, &["push"]);
        sync(&bob, &["push"]);
        sync(&ada, &["pull"]);
        assert_eq!([tip(&ada), tip(&bob)], [tip(&team.remote), tip(&team.remote)]);
    }
}

#[test]
fn a_partial_clone_gets_whole_notes() {
    let team = Team::new(1);
    let ada = team.clone("ada");
    run(&mut annotate(&ada, "HEAD", 1)).success();
    sync(&ada, &["push"]);
    git(&team.remote, &["config", "uploadpack.allowFilter", "true"]);
    let partial = team.seed.beside("partial");
    let url = format!("file://{}", text(&team.remote));
    team.seed.git(&["clone", "--quiet", "--filter=blob:none", &url, text(&partial)]);
    sync(&partial, &["enable"]);
    // Git's own fetch leaves the notes' blobs out.
    git(&partial, &["fetch", "--quiet"]);
    run(&mut annotate(&partial, "HEAD", 2)).success();
    sync(&partial, &["push"]);
    sync(&ada, &["pull"]);
    let note = String::from_utf8(note_of(&ada, &git(&ada, &["rev-parse", "HEAD"])).unwrap()).unwrap();
    assert!(note.contains(&lesson(1)) && note.contains(&lesson(2)), "{note}");
}

#[test]
fn a_clone_without_notes_is_told_how_to_fetch_them() {
    let team = Team::new(1);
    let ada = team.clone("ada");
    run(&mut annotate(&ada, "HEAD", 1)).success();
    sync(&ada, &["push"]);
    git(&team.remote, &["config", "uploadpack.allowFilter", "true"]);
    let partial = team.seed.beside("partial");
    let url = format!("file://{}", text(&team.remote));
    team.seed.git(&["clone", "--quiet", "--filter=blob:none", &url, text(&partial)]);
    let read = || run(&mut binary(&partial, &["read", "."])).success();
    let hint = "warning: No Chronicle annotations found. Run 'git chronicle sync pull' to fetch those of a remote, 'git chronicle init' to set up.\n";
    assert_eq!(read().stderr, hint);
    sync(&partial, &["pull"]);
    let reading = read();
    assert!(reading.stdout.contains(&lesson(1)) && reading.stderr.is_empty(), "{reading:#?}");
    // Nobody to fetch from.
    let alone = TestRepo::new();
    alone.commit("first");
    let told = run(&mut binary(alone.path(), &["read", "."])).success().stderr;
    assert!(!told.contains("sync pull") && told.contains("init"), "{told}");
}
