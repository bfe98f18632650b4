//! What is known about commits goes along when they are rewritten.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{
    Outcome, binary, chronicle, chronicle_reading, contents, entry, note, run, run_with_input, skip,
};

pub(crate) const HEADER: &str = "// Licensed as the rest.\n// A second line of it.\n\n";
pub(crate) const POOL: &str = "use std::sync::Mutex;\n\nfn acquire() {\n    wait_for_slot();\n    take_next(free);\n}\n\nfn release() {\n    give_back(it);\n    wake_one();\n}\n";
pub(crate) const NEVER_BLOCK: &str = "The UI thread calls this; never block.";
pub(crate) const FIFO: &str = "Waiters are served in order.";

pub(crate) fn lines(start: u32, end: u32) -> Value {
    json!({ "start": start, "end": end })
}

pub(crate) fn lesson(content: &str, file: &str, range: Option<(u32, u32)>) -> Value {
    let mut lesson = json!({ "category": "gotcha", "content": content, "file": file });
    if let Some((start, end)) = range {
        lesson["lines"] = lines(start, end);
    }
    lesson
}

#[track_caller]
pub(crate) fn annotate(repo: &TestRepo, commit: &str, summary: &str, wisdom: &[Value]) -> Value {
    let input = json!({ "commit": commit, "summary": summary, "wisdom": wisdom }).to_string();
    let args = ["annotate", "--live", "--format=json"];
    chronicle_reading(repo.path(), &args, input.as_bytes()).success().json()
}

/// A repository with one annotated commit on top of an empty one; returns the annotated one.
fn annotated() -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.commit("Begin");
    repo.write("pool.rs", POOL);
    let commit = repo.commit("pool: add it");
    let wisdom = [lesson(NEVER_BLOCK, "pool.rs", Some((3, 6))), lesson(FIFO, "pool.rs", Some((9, 10)))];
    annotate(&repo, &commit, "Callers queue, because the server drops the eleventh connection", &wisdom);
    (repo, commit)
}

pub(crate) fn amend(repo: &TestRepo) -> String {
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    repo.git(&["rev-parse", "HEAD"])
}

#[track_caller]
fn take_over(repo: &TestRepo, from: &[&str], commit: &str) -> Outcome {
    let args = [&["annotate"], from, &["--commit", commit, "--format=json"]].concat();
    chronicle(repo.path(), &args).success()
}

/// The answer of `read`, which the index must not change.
#[track_caller]
pub(crate) fn read(directory: &Path, file: &str) -> Value {
    let args = ["read", file, "--format=json"];
    let answer = chronicle(directory, &args).success().json();
    let without = run(binary(directory, &args).env("CHRONICLE_NO_CACHE", "1")).success().json();
    assert_eq!(answer, without);
    answer
}

pub(crate) fn collect_garbage(repo: &TestRepo) {
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
}

#[test]
fn an_amended_commit_takes_over_lessons_at_their_new_lines() {
    let (repo, old) = annotated();
    let before = note(&repo, &old);
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    let new = amend(&repo);
    let reply = take_over(&repo, &["--amend-source", &old], &new).json();
    assert_eq!((&reply["commit"], &reply["wisdom_written"]), (&json!(new), &json!(2)));

    let after = note(&repo, &new);
    assert_eq!(after["commit"], json!(new));
    assert_eq!(after["timestamp"], before["timestamp"]);
    assert_eq!(after["provenance"], json!({ "source": "amend", "author": "Ada", "derived_from": [old] }));
    assert_ne!(after["change"], before["change"]);
    let (was, is) = (entry(&before, NEVER_BLOCK), entry(&after, NEVER_BLOCK));
    assert_eq!(is["id"], was["id"]);
    assert_eq!(is["lines"], lines(6, 9));
    assert_eq!(is["sketch"], was["sketch"]);
    assert_eq!(is["recorded"], json!({ "commit": old, "file": "pool.rs", "lines": lines(3, 6) }));

    let reading = read(repo.path(), "pool.rs");
    assert_eq!(contents(&reading), [NEVER_BLOCK, FIFO], "copies of one lesson show once");
    assert_eq!(entry(&reading, FIFO)["lines"], lines(12, 13));
    assert_eq!(entry(&reading, FIFO)["commit"], json!(new));

    let again = take_over(&repo, &["--amend-source", &old], &new).json();
    assert!(again["unchanged"].is_string(), "{again:#}");
    assert_eq!(note(&repo, &new), after);
}

#[test]
fn what_is_carried_depends_on_nothing_but_the_commits() {
    let (repo, old) = annotated();
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    let new = amend(&repo);
    let twin = repo.beside("twin");
    assert!(
        testkit::command("cp", repo.path()).arg("-a").arg(repo.path()).arg(&twin).status().unwrap().success()
    );
    take_over(&repo, &["--amend-source", &old], &new);
    let args = ["annotate", "--amend-source", &old, "--commit", &new];
    let mut elsewhere = binary(&twin, &args);
    elsewhere.env("CHRONICLE_NOW", "2031-01-01T00:00:00Z");
    run(elsewhere.env("GIT_AUTHOR_NAME", "Bob").env("GIT_COMMITTER_NAME", "Bob")).success();
    let tree = |directory: &Path| {
        let mut git = testkit::command("git", directory);
        String::from_utf8(git.args(["rev-parse", "refs/notes/chronicle^{tree}"]).output().unwrap().stdout)
    };
    assert_eq!(tree(repo.path()).unwrap(), tree(&twin).unwrap());
}

#[test]
fn a_squash_unites_what_its_commits_knew() {
    let (repo, first) = annotated();
    let old_id = entry(&note(&repo, &first), FIFO)["id"].clone();
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    repo.write("new.rs", "fn new() {}\n");
    let second = repo.commit("pool: add a header");
    let mut replacing = lesson("Waiters are served last in, first out.", "pool.rs", Some((12, 13)));
    replacing["supersedes"] = json!([old_id]);
    annotate(
        &repo,
        &second,
        "The header is asked for by the lawyers",
        &[replacing, lesson("Made by hand.", "new.rs", None)],
    );
    repo.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    let squashed = repo.commit("pool: all of it");
    // By a range, by a list, with one that was never annotated.
    let base = repo.git(&["rev-parse", "HEAD~1"]);
    let range = format!("{base}..{second}");
    take_over(&repo, &["--squash-sources", &range], &squashed);
    let by_range = note(&repo, &squashed);
    repo.git(&["notes", "--ref=chronicle", "remove", &squashed]);
    take_over(&repo, &["--squash-sources", &format!("{second},{first}")], &squashed);
    let stored = note(&repo, &squashed);
    assert_eq!(stored, by_range);

    let mut sources = [first, second];
    sources.sort_unstable();
    for document in [&stored, &stored["also"][0]] {
        assert_eq!(document["provenance"]["source"], "squash");
        assert_eq!(document["provenance"]["derived_from"], json!(sources));
    }
    assert_eq!(stored["also"][0]["summary"], "The header is asked for by the lawyers");
    assert_eq!(stored["wisdom"].as_array().map(Vec::len), Some(4));
    assert_eq!(entry(&stored, NEVER_BLOCK)["lines"], lines(6, 9));
    let reading = read(repo.path(), "pool.rs");
    assert_eq!(entry(&reading, FIFO)["superseded_by"], entry(&stored, "last in")["id"]);
}

#[test]
fn a_lesson_whose_lines_did_not_survive_is_gone() {
    let (repo, old) = annotated();
    repo.write("pool.rs", POOL.replace("    give_back(it);\n    wake_one();\n", "    spin();\n"));
    let new = amend(&repo);
    take_over(&repo, &["--amend-source", &old], &new);
    let stored = note(&repo, &new);
    assert_eq!(entry(&stored, FIFO)["lines"], Value::Null);
    assert_eq!(entry(&stored, FIFO)["recorded"]["lines"], lines(9, 10));
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    let reading = read(repo.path(), "pool.rs");
    assert_eq!(entry(&reading, FIFO)["state"], "gone");
    assert_eq!(entry(&reading, NEVER_BLOCK)["state"], "intact");
}

#[test]
fn a_file_that_the_rewrite_renamed_is_followed() {
    let (repo, old) = annotated();
    repo.git(&["mv", "pool.rs", "queue.rs"]);
    let new = amend(&repo);
    take_over(&repo, &["--amend-source", &old], &new);
    let stored = note(&repo, &new);
    assert_eq!(entry(&stored, FIFO)["file"], "queue.rs");
    assert_eq!(entry(&stored, FIFO)["recorded"]["file"], "pool.rs");
    assert_eq!(entry(&read(repo.path(), "queue.rs"), FIFO)["lines"], lines(9, 10));
}

#[test]
fn what_git_copied_itself_makes_no_difference() {
    let (repo, old) = annotated();
    repo.git(&["config", "notes.rewriteRef", "refs/notes/chronicle"]);
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    let new = amend(&repo);
    assert_eq!(note(&repo, &new)["commit"], json!(old), "git copies notes word for word");
    take_over(&repo, &["--amend-source", &old], &new);
    let both = note(&repo, &new);
    repo.git(&["notes", "--ref=chronicle", "remove", &new]);
    take_over(&repo, &["--amend-source", &old], &new);
    assert_eq!(both, note(&repo, &new));
    assert_eq!(entry(&both, FIFO)["lines"], lines(12, 13));
}

#[test]
fn a_note_of_an_unknown_schema_goes_along_as_it_is() {
    let (repo, old) = annotated();
    let foreign = "{\"schema\":\"chronicle/v9\",\"wisdom\":{\"x\":1}}\n";
    repo.put_note("chronicle", &old, foreign.as_bytes());
    let new = {
        repo.write("pool.rs", format!("{HEADER}{POOL}"));
        amend(&repo)
    };
    take_over(&repo, &["--amend-source", &old], &new);
    assert_eq!(repo.note("chronicle", &new), foreign.trim_end());
}

#[test]
fn sources_that_know_nothing_change_nothing() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    let old = repo.commit("a");
    repo.write("a.rs", "fn b() {}\n");
    let new = amend(&repo);
    let reply = take_over(&repo, &["--amend-source", &old], &new).json();
    assert_eq!(reply["unchanged"], "none of the sources is annotated");
    assert!(repo.git(&["for-each-ref", "refs/notes"]).is_empty());
    for sources in
        ["--squash-sources=no-such", "--squash-sources=--help", "--amend-source=HEAD..", "--amend-source="]
    {
        chronicle(repo.path(), &["annotate", sources]).refused(1, &["unknown revision"]);
    }
    chronicle(repo.path(), &["annotate", "--squash-sources=HEAD..no-such"]).refused(1, &["no-such"]);
    assert_eq!(chronicle(repo.path(), &["annotate", "--auto", "--amend-source=HEAD"]).code, Some(2));
}

#[test]
fn a_source_whose_objects_are_gone_is_carried_by_its_sketches() {
    let (repo, old) = annotated();
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    let new = amend(&repo);
    collect_garbage(&repo);
    assert!(!repo.try_git(&["cat-file", "-e", &old]).status.success());
    take_over(&repo, &["--amend-source", &old[..12]], &new);
    let stored = note(&repo, &new);
    assert_eq!(entry(&stored, NEVER_BLOCK)["lines"], lines(6, 9));
    assert_eq!(entry(&stored, FIFO)["lines"], lines(12, 13));
}

/// A branch with two annotated commits, rebased without anyone noticing; main has a header.
fn rebased() -> (TestRepo, Vec<String>) {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write(
        "pool.rs",
        POOL.replace("    wake_one();\n", "    wake_one();\n    count -= 1;\n    log(count);\n"),
    );
    let first = repo.commit("pool: count");
    annotate(&repo, &first, "Counting here keeps the lock short", &[lesson(FIFO, "pool.rs", Some((11, 12)))]);
    repo.write("limit.rs", "fn limit() -> u32 {\n    8\n}\n");
    let second = repo.commit("limit: add it");
    annotate(&repo, &second, "Eight is what the server allows", &[lesson(NEVER_BLOCK, "limit.rs", None)]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    repo.commit("pool: add a header");
    repo.git(&["checkout", "--quiet", "topic"]);
    repo.git(&["rebase", "--quiet", "main"]);
    (repo, vec![first, second])
}

#[test]
fn reconcile_finds_what_a_rebase_made_and_says_why() {
    let (repo, old) = rebased();
    let dry = chronicle(repo.path(), &["reconcile", "--dry-run", "--format=json"]).success().json();
    assert_eq!(dry["matches"].as_array().map(Vec::len), Some(2));
    assert_eq!(dry["carried"], 0);
    for (one, (from, to)) in dry["matches"].as_array().unwrap().iter().zip([(0, "HEAD~1"), (1, "HEAD")]) {
        let both = [&dry["matches"][0], &dry["matches"][1]];
        let of = both.iter().find(|one| one["from"] == json!(old[from])).unwrap();
        assert_eq!(of["to"], json!(repo.git(&["rev-parse", to])));
        assert_eq!(one["because"], "it makes the same change");
    }
    assert!(repo.try_git(&["notes", "--ref=chronicle", "show", "HEAD"]).stdout.is_empty());

    let said = chronicle(repo.path(), &["reconcile"]).success();
    assert!(said.stdout.contains("it makes the same change"), "{said:#?}");
    assert!(said.stderr.contains("lessons carried over: 2"), "{said:#?}");
    let stored = note(&repo, "HEAD~1");
    assert_eq!(entry(&stored, FIFO)["lines"], lines(14, 15));
    assert_eq!(stored["provenance"]["source"], "amend");
    let tip = repo.git(&["rev-parse", "refs/notes/chronicle"]);
    let again = chronicle(repo.path(), &["reconcile"]).success();
    assert!(again.stdout.is_empty() && again.stderr.contains("nothing to carry over"), "{again:#?}");
    assert_eq!(repo.git(&["rev-parse", "refs/notes/chronicle"]), tip);
}

#[test]
fn ids_that_a_stranger_uses_again_do_not_pass_for_carried_lessons() {
    let repo = TestRepo::new();
    repo.write("b.rs", "fn base() {}\n");
    repo.commit("base");
    repo.write(
        "a.rs",
        "// A head of the file\n\nfn a() {\n    let first = alpha(1);\n    let second = beta(2);\n}\n",
    );
    let old = repo.commit("a file");
    let own = json!({ "summary": "OWN reasons for it", "wisdom": [{ "category": "unfinished_thread",
        "content": "OWN work to do", "file": "a.rs", "lines": { "start": 4, "end": 4 } }] });
    chronicle(repo.path(), &["annotate", "--json", &own.to_string()]).success();
    let note = repo.note("chronicle", &old);
    repo.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    repo.write("e.rs", "fn evil() { gamma(3) }\n");
    let theirs = repo.commit("of a stranger");
    repo.put_note(
        "chronicle",
        &theirs,
        note.replace("OWN work", "EVIL work").replace(&old, &theirs).as_bytes(),
    );
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("a.rs", "// Two\n// A head of the file\n\nfn a() {\n    let first = alpha(1);\n    let second = beta(2);\n}\n");
    repo.git(&["commit", "--quiet", "--all", "--amend", "-m", "a file, amended"]);
    let new = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["merge", "--quiet", "--no-edit", &theirs]);
    chronicle(repo.path(), &["reconcile"]).success();
    assert!(repo.note("chronicle", new.trim()).contains("OWN work to do"));
    let pending = chronicle(repo.path(), &["pending"]).success().stdout;
    assert!(pending.contains("OWN work to do"), "{pending}");
    // Once is enough.
    let again = chronicle(repo.path(), &["reconcile"]).success();
    assert!(again.stderr.contains("nothing to carry over"), "{again:#?}");
}

#[test]
fn a_commit_that_was_given_up_is_no_one_elses() {
    let (repo, _) = annotated();
    repo.git(&["checkout", "--quiet", "-b", "experiment"]);
    repo.write("pool.rs", POOL.replace("wait_for_slot();", "spin_until_free();\n    count_spins();"));
    let given_up = repo.commit("pool: spin");
    annotate(
        &repo,
        &given_up,
        "Spinning is faster for short waits",
        &[lesson("It was not.", "pool.rs", None)],
    );
    // Undone, so its files are those of an earlier commit.
    repo.write("pool.rs", POOL);
    let undone = repo.commit("pool: do not spin");
    annotate(&repo, &undone, "Spinning took all processors", &[lesson("Do not spin.", "pool.rs", None)]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "experiment"]);
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    repo.commit("pool: add a header");
    for is_gone in [false, true] {
        if is_gone {
            collect_garbage(&repo);
        }
        let reply = chronicle(repo.path(), &["reconcile", "--format=json"]).success().json();
        assert_eq!(reply["matches"], json!([]), "gone: {is_gone}");
        let mut left = [given_up.clone(), undone.clone()];
        left.sort_unstable();
        assert_eq!(reply["left"], json!(left));
    }
}

#[test]
fn a_commit_rewritten_twice_is_carried_from_the_last() {
    let (repo, first) = annotated();
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    let second = amend(&repo);
    chronicle(repo.path(), &["reconcile"]).success();
    repo.write("other.rs", "fn other() {}\n");
    let third = amend(&repo);
    chronicle(repo.path(), &["reconcile"]).success();
    let stored = note(&repo, &third);
    assert_eq!(stored["provenance"]["derived_from"], json!([second]));
    assert_eq!(stored["provenance"]["source"], "amend");
    assert_eq!(entry(&stored, FIFO)["recorded"]["commit"], json!(first));
    assert_eq!(contents(&read(repo.path(), "pool.rs")), [NEVER_BLOCK, FIFO]);
}

#[test]
fn odd_states_of_a_repository_stop_nothing() {
    // HEAD is detached in the middle of a rebase.
    let (repo, _) = rebased();
    repo.git(&["checkout", "--quiet", "-b", "conflicting", "main~1"]);
    repo.write("pool.rs", format!("// Something else.\n{POOL}"));
    let stopped = repo.commit("pool: say something else");
    annotate(&repo, &stopped, "Said elsewhere, too", &[lesson("Odd words.", "pool.rs", Some((1, 1)))]);
    assert!(!repo.try_git(&["rebase", "--quiet", "main"]).status.success());
    chronicle(repo.path(), &["reconcile"]).success();
    assert!(repo.try_git(&["notes", "--ref=chronicle", "show", &stopped]).status.success());
    repo.git(&["rebase", "--abort"]);

    // An object that stands for another, and a graft.
    let old = repo.git(&["rev-parse", "topic"]);
    let other = repo.git(&["commit-tree", "-m", "Replaced", "-p", "topic~1", "topic^{tree}"]);
    repo.git(&["replace", &old, &other]);
    chronicle(repo.path(), &["reconcile"]).success();
    repo.git(&["replace", "--graft", "topic~1"]);
    chronicle(repo.path(), &["reconcile"]).success();
    assert!(contents(&read(repo.path(), "pool.rs")).contains(&"Odd words.".to_owned()));

    // No commit at all.
    let empty = TestRepo::new();
    let said = chronicle(empty.path(), &["reconcile"]).success();
    assert!(said.stderr.contains("nothing to carry over"), "{said:#?}");
}

pub(crate) fn clone(repo: &TestRepo, name: &str, options: &[&str]) -> std::path::PathBuf {
    let path = repo.beside(name);
    let url = format!("file://{}", repo.path().display());
    let target = path.to_string_lossy().into_owned();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    repo.git(&[&["clone", "--quiet"], options, &[&url, &target]].concat());
    let fetch = ["fetch", "--quiet", "origin", "+refs/notes/*:refs/notes/*"];
    assert!(testkit::command("git", &path).args(fetch).status().expect("git is installed").success());
    path
}

#[test]
fn clones_that_lack_objects_carry_nothing_wrong() {
    let (repo, commit) = annotated();
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    repo.commit("pool: add a header");
    // The edge of a shallow clone seems to have written everything.
    let shallow = clone(&repo, "shallow", &["--depth=1"]);
    let reply = chronicle(&shallow, &["reconcile", "--format=json"]).success().json();
    assert_eq!((&reply["matches"], &reply["left"]), (&json!([]), &json!([commit])));
    assert_eq!(reply["warnings"].as_array().map(Vec::len), Some(1));

    let (repo, _) = rebased();
    for filter in ["blob:none", "tree:0"] {
        let partial =
            clone(&repo, &filter.replace(':', "-"), &["--filter", filter, "--no-checkout", "-b", "topic"]);
        let reply = chronicle(&partial, &["reconcile", "--format=json"]).success().json();
        assert!(reply["matches"].is_array(), "{reply:#}");
    }
}

#[test]
fn only_its_own_resolution_counts_as_a_merges_work() {
    let repo = TestRepo::new();
    let text = |second: &str, last: &str| {
        let filler: String = (0..12).map(|n| format!("line {n}\n")).collect();
        format!("first\n{second}\n{filler}{last}\n")
    };
    repo.write("a.txt", text("second", "last"));
    repo.commit("Begin");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("a.txt", text("second of side", "last of side"));
    repo.commit("Side");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("a.txt", text("second of main", "last"));
    repo.commit("Main");
    assert!(!repo.try_git(&["merge", "--quiet", "side"]).status.success());
    repo.write("a.txt", text("second of both", "last of side"));
    repo.git(&["add", "a.txt"]);
    repo.git(&["commit", "--quiet", "--no-edit"]);
    let stored = annotate(&repo, "HEAD", "Both are meant", &[lesson("Keep both.", "a.txt", None)]);
    assert_eq!(entry(&stored["stored"], "Keep both.")["lines"], lines(2, 2));
    let met = |range: &str| {
        let args = ["read", "a.txt", "--lines", range, "--format=json"];
        let reading = chronicle(repo.path(), &args).success().json();
        reading["regions"].as_array().into_iter().flatten().any(|item| item["intent"] == "Both are meant")
    };
    assert!(met("2:2"));
    assert!(!met("15:15"), "what side wrote is not the merge's");
}

#[test]
fn a_half_split_commit_takes_only_its_half() {
    let repo = TestRepo::new();
    repo.commit("Begin");
    repo.write("pool.rs", POOL);
    repo.write("limit.rs", "fn limit() -> u32 {\n    8\n}\n");
    let whole = repo.commit("pool, limit: add them");
    let wisdom = [lesson(FIFO, "pool.rs", Some((9, 10))), lesson(NEVER_BLOCK, "limit.rs", None)];
    annotate(&repo, &whole, "Both are needed at once", &wisdom);
    repo.git(&["reset", "--quiet", "HEAD~1"]);
    repo.git(&["add", "pool.rs"]);
    repo.git(&["commit", "--quiet", "-m", "pool: add it"]);
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(contents(&note(&repo, "HEAD")), [FIFO]);
    repo.git(&["add", "limit.rs"]);
    repo.git(&["commit", "--quiet", "-m", "limit: add it"]);
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(contents(&note(&repo, "HEAD~1")), [FIFO]);
    assert_eq!(contents(&note(&repo, "HEAD")), [NEVER_BLOCK]);
}

#[test]
fn parallel_reconciles_and_writers_lose_nothing() {
    let (repo, _) = rebased();
    let mut running: Vec<_> = (0..4).map(|_| binary(repo.path(), &["reconcile"]).spawn().unwrap()).collect();
    for n in 0..4 {
        let input = json!({ "summary": format!("Beside the others, number {n}") }).to_string();
        run_with_input(&mut binary(repo.path(), &["annotate", "--live"]), input.as_bytes());
    }
    for child in &mut running {
        assert!(child.wait().unwrap().success());
    }
    let stored = note(&repo, "HEAD");
    assert_eq!(contents(&stored), [NEVER_BLOCK]);
    assert_eq!(stored["also"].as_array().map(Vec::len), Some(4));
}

#[test]
fn lessons_survive_common_ways_of_rewriting() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/survival.py");
    if testkit::command("python3", Path::new(".")).arg("--version").output().is_err() {
        return skip("there is no python3");
    }
    assert!(fs::exists(&script).unwrap());
    let mut command = testkit::command("python3", Path::new("."));
    command.arg(script).args(["--binary", crate::outcome::program(), "--strict", "--jobs", "2"]);
    // The rest takes minutes and is run by itself.
    command.args(["--only", "amend|rebase (merge)|squash on the server|split"]);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{}\n{}", said[0], said[1]);
}

/// A topic with an annotated commit that took in main, and went on; main is checked out.
fn topic_that_took_in_main() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("pool.rs", POOL.replace("wake_one();", "wake(2);"));
    let commit = repo.commit("pool: wake two");
    let wisdom = [lesson(FIFO, "pool.rs", Some((10, 10))), lesson(NEVER_BLOCK, "pool.rs", None)];
    annotate(&repo, &commit, "Two, because one may be gone", &wisdom);
    for header in ["// Licensed.\n", HEADER] {
        repo.git(&["checkout", "--quiet", "main"]);
        repo.write("header.rs", header);
        repo.commit("main goes on");
        repo.git(&["checkout", "--quiet", "topic"]);
        repo.git(&["merge", "--quiet", "-m", "Merge main into topic", "main"]);
    }
    repo.write("limit.rs", "fn limit() -> u32 {\n    8\n}\n");
    repo.commit("limit: add it");
    repo.git(&["checkout", "--quiet", "main"]);
    repo
}

#[test]
fn a_branch_that_took_in_main_and_was_squashed_gives_its_lessons() {
    for (ends, is_kept) in [(false, true), (false, false), (true, true)] {
        let repo = topic_that_took_in_main();
        repo.write("other.rs", "fn other() {}\n");
        repo.commit("main goes on alone");
        repo.git(&["merge", "--quiet", "--squash", "topic"]);
        let squashed = repo.commit("Topic (#12)");
        repo.write("other.rs", "fn other() -> u8 {}\n");
        repo.commit("main goes on again");
        if ends {
            repo.git(&["checkout", "--quiet", "topic"]);
            repo.write("limit.rs", "fn limit() -> u32 {\n    9\n}\n");
            repo.commit("limit: too late");
            repo.git(&["checkout", "--quiet", "main"]);
        }
        if !is_kept {
            repo.git(&["branch", "--quiet", "-D", "topic"]);
        }
        chronicle(repo.path(), &["reconcile"]).success();
        let stored = note(&repo, &squashed);
        assert_eq!(contents(&stored), [NEVER_BLOCK, FIFO], "{ends} {is_kept}");
        assert_eq!(entry(&stored, FIFO)["lines"], lines(10, 10));
        assert_eq!(entry(&stored, NEVER_BLOCK)["file"], "pool.rs");
        let again = chronicle(repo.path(), &["reconcile"]).success();
        assert!(again.stdout.is_empty(), "{again:#?}");
    }
}

#[test]
fn what_only_a_branch_has_stays_there() {
    let repo = topic_that_took_in_main();
    let reply = chronicle(repo.path(), &["reconcile", "--format=json"]).success().json();
    assert_eq!(reply["matches"], json!([]));
    assert_eq!(read(repo.path(), "pool.rs")["wisdom"], json!([]));
    repo.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(read(repo.path(), "pool.rs")["wisdom"].as_array().map(Vec::len), Some(2));
}

#[test]
fn of_a_branch_that_was_edited_when_it_was_squashed_only_lessons_on_lines_that_are_here_come() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    let ours = "    let waiters = count_waiters(&queue);\n    notify_all(waiters);\n";
    repo.write("pool.rs", POOL.replace("    wake_one();\n", ours));
    let commit = repo.commit("pool: wake all");
    let wisdom = [
        lesson(FIFO, "pool.rs", Some((10, 10))),
        lesson(NEVER_BLOCK, "pool.rs", Some((11, 11))),
        lesson("All of it.", "pool.rs", None),
    ];
    annotate(&repo, &commit, "All, because one may be gone", &wisdom);
    repo.git(&["checkout", "--quiet", "main"]);
    let theirs = ours.replace("notify_all(waiters)", "notify_each_of(waiters, &queue)");
    repo.write("pool.rs", format!("{HEADER}{}", POOL.replace("    wake_one();\n", &theirs)));
    let squashed = repo.commit("Topic (#12)");
    chronicle(repo.path(), &["reconcile"]).success();
    assert_eq!(contents(&note(&repo, &squashed)), [FIFO]);
    let shown = read(repo.path(), "pool.rs");
    assert_eq!(shown["wisdom"][0]["lines"], lines(13, 13));
    let again = chronicle(repo.path(), &["reconcile"]).success();
    assert!(again.stdout.is_empty(), "{again:#?}");
}

#[test]
fn common_lines_of_the_same_change_are_found_without_the_commit() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    let more = "\nfn retry() {\n    loop {\n        wait();\n    }\n}\n\nfn stop() {\n    loop {\n        wait();\n    }\n}\n";
    repo.write("pool.rs", format!("{POOL}{more}"));
    let commit = repo.commit("pool: retry");
    annotate(&repo, &commit, "Tries again", &[lesson(FIFO, "pool.rs", Some((22, 23)))]);
    repo.git(&["checkout", "--quiet", "-b", "onto", "HEAD~1"]);
    repo.write("pool.rs", format!("{HEADER}{POOL}"));
    repo.commit("pool: add a header");
    repo.git(&["cherry-pick", &commit]);
    repo.git(&["branch", "--quiet", "-M", "onto", "main"]);
    let fresh = clone(&repo, "fresh", &[]);
    for _ in 0..2 {
        let shown = read(&fresh, "pool.rs");
        let lesson = entry(&shown, FIFO);
        assert_eq!((&lesson["lines"], &lesson["state"]), (&lines(25, 26), &json!("intact")));
        chronicle(&fresh, &["reconcile"]).success();
    }
}

#[test]
fn a_rewrite_that_moves_all_files_is_found_again() {
    let into = "git ls-files -s | sed 's-\\t-&pkg/-' | GIT_INDEX_FILE=$GIT_INDEX_FILE.new git update-index --index-info && mv $GIT_INDEX_FILE.new $GIT_INDEX_FILE";
    let rewrites: [(&[&str], &str, &str); 2] = [
        (&["--index-filter", into], "src/pool.rs", "pkg/src/pool.rs"),
        (&["--subdirectory-filter", "src"], "src/pool.rs", "pool.rs"),
    ];
    for (filter, before, after) in rewrites {
        for (is_gone, has_more) in [(false, false), (false, true), (true, false)] {
            let repo = TestRepo::new();
            repo.write(before, POOL);
            repo.write("limit.rs", "fn limit() {}\n");
            repo.commit("Begin");
            repo.write(before, POOL.replace("wake_one();", "wake(2);"));
            if has_more {
                repo.write("limit.rs", "fn limit() -> u8 {}\n");
            }
            let commit = repo.commit("pool: wake two");
            let wisdom = [lesson(FIFO, before, Some((10, 10))), lesson(NEVER_BLOCK, before, None)];
            annotate(&repo, &commit, "Two, because one may be gone", &wisdom);
            repo.git(&[&["filter-branch", "-f"], filter, &["--", "main"]].concat());
            if is_gone {
                repo.git(&["update-ref", "-d", "refs/original/refs/heads/main"]);
                collect_garbage(&repo);
            }
            chronicle(repo.path(), &["reconcile"]).success();
            let stored = note(&repo, "HEAD");
            let what = format!("{after} {is_gone} {has_more}: {stored:#}");
            assert_eq!(contents(&stored), [NEVER_BLOCK, FIFO], "{what}");
            let place =
                |content: &str| json!([entry(&stored, content)["file"], entry(&stored, content)["lines"]]);
            assert_eq!(place(FIFO), json!([after, lines(10, 10)]), "{what}");
            assert_eq!(place(NEVER_BLOCK), json!([after, lines(10, 10)]), "{what}");
            let again = chronicle(repo.path(), &["reconcile"]).success();
            assert!(again.stdout.is_empty(), "{again:#?}");
        }
    }
}

#[test]
fn records_of_tools_do_not_keep_a_commit_that_was_amended() {
    for keep in [
        "refs/branchless",
        "refs/patches/main",
        "refs/changes/34/1234",
        "refs/remotes/origin/pr",
        "refs/stash",
    ] {
        let (repo, old) = annotated();
        let name = if keep == "refs/stash" { keep.to_owned() } else { format!("{keep}/{old}") };
        repo.git(&["update-ref", &name, &old]);
        // Its content, too, so that the note says something of another change.
        repo.write("pool.rs", POOL.replace("take_next(free)", "take_next(&free)"));
        amend(&repo);
        chronicle(repo.path(), &["reconcile"]).success();
        assert_eq!(contents(&note(&repo, "HEAD")), [NEVER_BLOCK, FIFO], "{keep}");
        let shown = read(repo.path(), "pool.rs");
        let commits: Vec<_> = shown["wisdom"].as_array().unwrap().iter().map(|one| &one["commit"]).collect();
        assert_eq!(commits, [&json!(repo.git(&["rev-parse", "HEAD"])); 2], "{keep}");
    }
}
