//! The same round trip in every kind of repository: annotate, note, read, show.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt, fs::symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{
    Outcome, binary, chronicle, chronicle_reading, contents, entry, note, run, run_with_input, skip,
};

const POOL: &str = "use std::sync::Mutex;\n\nfn acquire() {\n    wait_for_slot();\n}\n\nfn release() {\n    free_slot();\n}\n\nfn drain() {\n    close_all();\n}\n";
const LESSON: &str = "The UI thread calls this; never block.";
const REMARK: &str = "Closing twice is fine, the server ignores it.";

fn lesson_on(file: &str) -> String {
    json!({ "summary": "Callers queue, because the server drops the eleventh connection", "wisdom": [
        { "category": "gotcha", "content": LESSON, "file": file, "lines": { "start": 3, "end": 5 } }] })
    .to_string()
}

/// Runs git in `directory`, which must succeed; returns what it printed.
fn git(directory: &Path, args: &[&str]) -> String {
    let output = testkit::command("git", directory).args(args).output().expect("git is installed");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn write(directory: &Path, path: &str, content: &str) {
    fs::write(directory.join(path), content).expect("the file can be written");
}

fn commit(directory: &Path, message: &str) -> String {
    git(directory, &["add", "--all"]);
    git(directory, &["commit", "--quiet", "-m", message]);
    git(directory, &["rev-parse", "HEAD"])
}

fn lines(start: u32, end: u32) -> Value {
    json!({ "start": start, "end": end })
}

/// Commits, annotates, takes a remark in, moves the code down, and finds both again; in a working tree's root.
fn round_trip(directory: &Path) {
    write(directory, "pool.rs", POOL);
    let args = ["note", REMARK, "--category", "gotcha", "--file", "pool.rs", "--lines", "11:13"];
    chronicle(directory, &args).success();
    let annotated = commit(directory, "pool: add it");
    let stored = chronicle_reading(
        directory,
        &["annotate", "--live", "--format=json"],
        lesson_on("pool.rs").as_bytes(),
    );
    let stored = stored.success().json();
    assert_eq!(stored["commit"], json!(annotated));
    assert_eq!(stored["consumed"].as_array().map(Vec::len), Some(1));
    assert!(chronicle(directory, &["note", "--list"]).success().stdout.is_empty());

    write(directory, "pool.rs", &format!("// A pool.\n\n{POOL}"));
    commit(directory, "pool: say what it is");
    let reading = chronicle(directory, &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(contents(&reading), [REMARK, LESSON]);
    assert_eq!(entry(&reading, LESSON)["lines"], lines(5, 7));
    assert_eq!(entry(&reading, LESSON)["state"], json!("intact"));
    assert_eq!(entry(&reading, REMARK)["lines"], lines(13, 15));
    let narrow =
        chronicle(directory, &["read", "pool.rs", "--lines", "5:5", "--format=json"]).success().json();
    assert_eq!(contents(&narrow), [LESSON]);
    let shown = chronicle(directory, &["show", "HEAD~1", "--format=json"]).success().json();
    assert_eq!(contents(&shown["annotation"]), [REMARK, LESSON]);
    let history = chronicle(directory, &["history", "pool.rs"]).success();
    assert!(history.stdout.contains(LESSON), "{history:#?}");

    let raw = git(directory, &["notes", "--ref=chronicle", "show", &annotated]);
    assert_eq!(raw.lines().count(), 1, "{raw}");
    let raw: Value = serde_json::from_str(&raw).expect("a note is JSON");
    assert_eq!(raw["commit"], json!(annotated));
    git(directory, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    assert_eq!(git(directory, &["status", "--porcelain"]), "");
}

/// A repository made by `git init ARGS`, unless git is too old for them.
fn made_by(args: &[&str]) -> Option<TestRepo> {
    let probe = tempfile::tempdir().expect("a temporary directory can be made");
    let output =
        testkit::command("git", probe.path()).arg("init").args(args).output().expect("git is installed");
    if output.status.success() {
        return Some(TestRepo::with(args));
    }
    skip(&format!("git cannot init {args:?}"));
    None
}

#[test]
fn a_plain_repository_makes_the_round_trip() {
    round_trip(TestRepo::new().path());
}

#[test]
fn sha_256_objects_make_the_round_trip() {
    let Some(repo) = made_by(&["--object-format=sha256"]) else { return };
    round_trip(repo.path());
    assert_eq!(repo.git(&["rev-parse", "HEAD"]).len(), 64);
}

#[test]
fn reftable_makes_the_round_trip() {
    let Some(repo) = made_by(&["--ref-format=reftable"]) else { return };
    round_trip(repo.path());
    let worktree = repo.beside("linked");
    repo.git(&[OsStr::new("worktree"), OsStr::new("add"), OsStr::new("--quiet"), worktree.as_os_str()]);
    let reading = chronicle(&worktree, &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(contents(&reading), [REMARK, LESSON]);
    chronicle(&worktree, &["annotate", "--summary", "Written in a linked worktree"]).success();
    chronicle(repo.path(), &["show", "linked"]).success();
    for revision in ["-n1", "--output=x", "nonsense", "", ":/x"] {
        chronicle(repo.path(), &["show", "--", revision]).refused(1, &["unknown revision"]);
    }
}

#[test]
fn reftable_with_sha_256_makes_the_round_trip() {
    let Some(repo) = made_by(&["--ref-format=reftable", "--object-format=sha256"]) else { return };
    round_trip(repo.path());
}

#[test]
fn an_unborn_branch_with_reftable_has_nothing_to_annotate() {
    let Some(repo) = made_by(&["--ref-format=reftable"]) else { return };
    chronicle(repo.path(), &["annotate", "--auto"]).refused(1, &["no commits"]);
    chronicle(repo.path(), &["read", "--recent"]).refused(1, &["no commits"]);
    chronicle(repo.path(), &["note", "Remember this from the start."]).success();
    repo.commit("the first");
    chronicle(repo.path(), &["annotate", "--auto"]).success();
    assert_eq!(contents(&note(&repo, "HEAD")), ["Remember this from the start."]);
}

#[test]
fn a_linked_worktree_makes_the_round_trip_and_shares_its_notes() {
    let repo = TestRepo::new();
    repo.write("other.rs", "fn other() {}\n");
    repo.commit("other: add it");
    let worktree = repo.beside("linked");
    repo.git(&[OsStr::new("worktree"), OsStr::new("add"), OsStr::new("--quiet"), worktree.as_os_str()]);
    round_trip(&worktree);
    let shown = chronicle(repo.path(), &["show", "linked~1", "--format=json"]).success().json();
    assert_eq!(contents(&shown["annotation"]), [REMARK, LESSON]);
    // What is staged in one worktree is nothing to the other.
    chronicle(&worktree, &["note", "This belongs to the linked one."]).success();
    assert!(chronicle(repo.path(), &["note", "--list"]).success().stdout.is_empty());
    chronicle(repo.path(), &["annotate", "--summary", "Written in the main worktree"]).success();
    assert_eq!(contents(&note(&repo, "main")), Vec::<String>::new());
    chronicle(&worktree, &["annotate", "--auto"]).success();
    assert_eq!(contents(&note(&repo, "linked")), ["This belongs to the linked one."]);
}

#[test]
fn a_bare_repository_is_annotated_by_commit_and_read_at_head() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    let first = repo.commit("pool: add it");
    repo.write("src/pool.rs", format!("// A pool.\n\n{POOL}"));
    repo.commit("pool: say what it is");
    let bare = repo.beside("bare.git");
    repo.git(&[
        OsStr::new("clone"),
        OsStr::new("--quiet"),
        OsStr::new("--bare"),
        OsStr::new("."),
        bare.as_os_str(),
    ]);
    let args = ["annotate", "--json", &lesson_on("src/pool.rs"), "--commit", &first];
    chronicle(&bare, &args).success();
    chronicle(&bare, &["annotate", "--auto"]).success();
    for directory in [bare.clone(), bare.join("refs")] {
        for path in ["src/pool.rs", "./src/pool.rs", "src", "."] {
            let reading = chronicle(&directory, &["read", path, "--format=json"]).success().json();
            assert_eq!(entry(&reading, LESSON)["lines"], lines(5, 7), "{path}");
        }
    }
    chronicle(&bare, &["show", &first]).success();
    chronicle(&bare, &["history", "src/pool.rs"]).success();
    chronicle(&bare, &["read", "src/never.rs"]).refused(1, &["File not found"]);
    chronicle(&bare, &["read", "../outside"]).refused(1, &["outside the repository"]);
    chronicle(&bare, &["read", "/etc/passwd"]).refused(1, &["outside the repository"]);
    chronicle(&bare, &["note", "A remark in a bare repository.", "--file", "src/pool.rs", "--lines", "5:7"])
        .success();
    git(&bare, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
}

#[test]
fn a_submodule_keeps_its_own_notes() {
    let (repo, library) = (TestRepo::new(), TestRepo::new());
    library.write("lib.rs", "fn lib() {}\n");
    library.commit("lib: add it");
    let source = library.path().to_str().expect("temporary paths are UTF-8");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "vendored"]);
    repo.commit("vendor the library");
    let inside = repo.path().join("vendored");
    round_trip(&inside);
    assert_eq!(repo.git(&["for-each-ref", "refs/notes"]), "");
    // From outside the submodule is one opaque thing.
    let pinned = json!({ "summary": "Pinned, because later versions wait for the network",
        "wisdom": [{ "category": "gotcha", "content": "Versions after this one block.", "file": "vendored" }] });
    let outcome = chronicle(repo.path(), &["annotate", "--json", &pinned.to_string()]).success();
    assert_eq!(outcome.stderr, "");
    assert_eq!(repo.git(&["for-each-ref", "refs/notes"]).lines().count(), 1);
    for args in [["read", "vendored"], ["history", "vendored"]] {
        let outcome = chronicle(repo.path(), &args).success();
        assert!(
            !outcome.stdout.contains(LESSON) && outcome.stdout.contains("Versions after this one"),
            "{outcome:#?}"
        );
        assert!(
            outcome.stderr.contains("is a separate repository: lessons about its files are stored there"),
            "{outcome:#?}"
        );
    }
    assert!(!chronicle(repo.path(), &["read", "."]).success().stdout.contains(LESSON));
    for command in ["read", "deps", "history", "summary"] {
        for _ in 0..2 {
            chronicle(repo.path(), &[command, "vendored/pool.rs"])
                .refused(1, &["in `vendored`, a repository of its own"]);
        }
    }
}

#[test]
fn tracked_files_stay_ours_when_their_directory_becomes_a_repository() {
    let repo = TestRepo::new();
    repo.write("inner/pool.rs", POOL);
    repo.commit("pool: add it");
    let input = json!({ "summary": "Apart, because others build it alone",
        "wisdom": [{ "category": "insight", "content": "Known about the pool.", "file": "inner/pool.rs" }] });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    git(&repo.path().join("inner"), &["init", "--quiet"]);
    for path in ["inner/pool.rs", "inner"] {
        let indexed = chronicle(repo.path(), &["read", path]).success();
        let direct = run(binary(repo.path(), &["read", path]).env("CHRONICLE_NO_CACHE", "1")).success();
        assert!(direct.stdout.contains("Known about the pool."), "{direct:#?}");
        assert_eq!(indexed.stdout, direct.stdout);
    }
}

#[test]
fn a_path_through_a_symbolic_link_is_told() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    symlink("src", repo.path().join("sources")).expect("links can be made");
    symlink("src/pool.rs", repo.path().join("pool")).expect("links can be made");
    symlink("nowhere", repo.path().join("broken")).expect("links can be made");
    repo.commit("pool: add it, under three names");
    let input = json!({ "summary": "Linked, because older tools look there",
        "wisdom": [{ "category": "insight", "content": "Known about the pool.", "file": "src/pool.rs" }] });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    for _ in 0..2 {
        let outcome = chronicle(repo.path(), &["read", "sources/pool.rs"]).success();
        assert!(outcome.stdout.contains("Known about the pool."), "{outcome:#?}");
        assert_eq!(
            outcome.stderr,
            "warning: `sources` is a symbolic link: `sources/pool.rs` is `src/pool.rs`\n"
        );
        let outcome = chronicle(repo.path(), &["read", "pool"]).success();
        assert!(outcome.stderr.contains("`pool` is a symbolic link to `src/pool.rs`"), "{outcome:#?}");
        assert_eq!(chronicle(repo.path(), &["read", "broken"]).success().stderr, "");
    }
}

#[test]
fn paths_are_taken_from_the_sub_directory_one_is_in() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.write("deep/er/pool.rs", POOL);
    repo.write("deep/only.rs", POOL);
    repo.commit("three pools");
    let lesson = |file: &str| json!({ "category": "insight", "content": format!("Known about {file}."), "file": file, "lines": [3, 5] });
    let wisdom = [lesson("pool.rs"), lesson("deep/er/pool.rs"), lesson("deep/only.rs")];
    let input = json!({ "summary": "Three pools, because three teams own them", "wisdom": wisdom });
    let (root, deep, deeper) =
        (repo.path().to_owned(), repo.path().join("deep"), repo.path().join("deep/er"));
    chronicle_reading(&deeper, &["annotate", "--live"], input.to_string().as_bytes()).success();
    let absolute = root.join("deep/only.rs");
    let absolute = absolute.to_str().expect("temporary paths are UTF-8");
    for (directory, path, file) in [
        (&root, "pool.rs", "pool.rs"),
        (&deep, "pool.rs", "pool.rs"),
        (&deep, "../pool.rs", "pool.rs"),
        (&deep, "er/pool.rs", "deep/er/pool.rs"),
        (&deep, "./er/../only.rs", "deep/only.rs"),
        (&deep, "deep/only.rs", "deep/only.rs"),
        (&deeper, "pool.rs", "deep/er/pool.rs"),
        (&deeper, "../../pool.rs", "pool.rs"),
        (&deeper, "../only.rs", "deep/only.rs"),
        (&deeper, absolute, "deep/only.rs"),
        (&root, absolute, "deep/only.rs"),
    ] {
        let reading = chronicle(directory, &["read", path, "--lines=4:4", "--format=json"]).success().json();
        assert_eq!(contents(&reading), [format!("Known about {file}.")], "{path}");
        assert_eq!(reading["file"], json!(file));
        let staged =
            chronicle(directory, &["note", "A remark.", "--file", path, "--format=json"]).success().json();
        assert_eq!(staged["staged"][0]["file"], json!(file), "{path}");
    }
    let all = chronicle(&deep, &["read", ".", "--format=json"]).success().json();
    assert_eq!(contents(&all), ["Known about deep/er/pool.rs.", "Known about deep/only.rs."]);
}

#[test]
fn a_repository_reached_through_a_link_is_the_same_repository() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    let link = repo.beside("link");
    symlink(repo.path(), &link).expect("links can be made");
    chronicle(&link, &["annotate", "--json", &lesson_on("pool.rs")]).success();
    let through = link.join("pool.rs");
    let through = through.to_str().expect("temporary paths are UTF-8");
    for (directory, path) in [(&link, "pool.rs"), (&link, through), (&repo.path().to_owned(), through)] {
        let reading = chronicle(directory, &["read", path, "--format=json"]).success().json();
        assert_eq!(contents(&reading), [LESSON], "{path}");
    }
}

/// A repository with one annotated commit.
fn annotated() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.commit("pool: add it");
    chronicle(repo.path(), &["annotate", "--json", &lesson_on("pool.rs")]).success();
    repo
}

#[track_caller]
fn assert_reads(outcome: Outcome) {
    let reading = outcome.success().json();
    assert_eq!(contents(&reading), [LESSON]);
    assert_eq!(entry(&reading, LESSON)["lines"], lines(3, 5));
}

const READ: [&str; 3] = ["read", "pool.rs", "--format=json"];

#[test]
fn git_dir_and_git_work_tree_name_the_repository() {
    let repo = annotated();
    let elsewhere = repo.beside("elsewhere");
    fs::create_dir(&elsewhere).expect("it is new");
    let git_dir = repo.path().join(".git");
    let with = |directory: &Path, git_dir: &Path, work_tree: Option<&Path>, args: &[&str]| {
        let mut command = binary(directory, args);
        command.env("GIT_DIR", git_dir).env("CHRONICLE_HOME", testkit::user_data(repo.path()));
        if let Some(work_tree) = work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        run(&mut command)
    };
    assert_reads(with(&elsewhere, &git_dir, Some(repo.path()), &READ));
    assert_reads(with(repo.path(), Path::new(".git"), None, &READ));
    assert_reads(with(&elsewhere, Path::new("../repo/.git"), Some(Path::new("../repo")), &READ));
    // Without a work tree, git takes the current directory for it.
    with(&elsewhere, &git_dir, None, &["annotate", "--summary", "Written from somewhere else"]).success();
    with(&elsewhere, &git_dir, Some(repo.path()), &["note", REMARK, "--file", "pool.rs"]).success();
    with(repo.path(), &git_dir, None, &["annotate", "--auto"]).success();
    assert_eq!(contents(&note(&repo, "HEAD")), [REMARK, LESSON]);
    with(&elsewhere, &elsewhere, None, &["show"]).refused(1, &["not in a git repository"]);
    // Hooks run with these set.
    let mut command = binary(repo.path(), &READ);
    command.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", ".git/index").env("GIT_PREFIX", "");
    assert_eq!(contents(&run(&mut command).success().json()), [REMARK, LESSON]);
}

#[test]
fn a_directory_given_with_c_is_where_everything_starts() {
    let repo = annotated();
    let elsewhere = repo.beside("elsewhere");
    fs::create_dir(&elsewhere).expect("it is new");
    repo.write("sub/inner.rs", "fn inner() {}\n");
    let root = repo.path().to_str().expect("temporary paths are UTF-8");
    assert_reads(chronicle(&elsewhere, &[&["-C", root][..], &READ].concat()));
    assert_reads(chronicle(&elsewhere, &[&READ[..], &["-C", "../repo"]].concat()));
    assert_reads(chronicle(&elsewhere, &["-C", "../repo/sub", "read", "../pool.rs", "--format=json"]));
    assert_reads(chronicle(&repo.path().join("sub"), &["-C", "..", "read", "pool.rs", "--format=json"]));
    chronicle(&elsewhere, &["-C", root, "note", REMARK, "--file", "pool.rs"]).success();
    chronicle(&elsewhere, &["-C", root, "annotate", "--auto"]).success();
    assert_eq!(contents(&note(&repo, "HEAD")), [REMARK, LESSON]);
}

/// `git clone ARGS` of `repo` into a directory beside it.
fn clone(repo: &TestRepo, name: &str, args: &[&str]) -> PathBuf {
    let into = repo.beside(name);
    let url = format!("file://{}", repo.path().display());
    let mut command = testkit::command("git", repo.path());
    command.args(["clone", "--quiet"]).args(args).arg(url).arg(&into);
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    into
}

#[test]
fn a_shallow_clone_finds_lessons_from_beyond_its_edge() {
    let repo = annotated();
    repo.write("pool.rs", format!("// A pool.\n\n{POOL}"));
    repo.commit("pool: say what it is");
    repo.write("pool.rs", format!("// A pool.\n// It is shared.\n\n{POOL}"));
    repo.commit("pool: say more");
    let shallow = clone(&repo, "shallow", &["--depth=1"]);
    git(&shallow, &["fetch", "--quiet", "origin", "refs/notes/chronicle:refs/notes/chronicle"]);
    let reading = chronicle(&shallow, &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(contents(&reading), [LESSON]);
    assert_eq!(entry(&reading, LESSON)["lines"], lines(6, 8));
    let narrow = |range: &str| {
        contents(
            &chronicle(&shallow, &["read", "pool.rs", "--lines", range, "--format=json"]).success().json(),
        )
    };
    assert_eq!(narrow("7:7"), [LESSON]);
    assert_eq!(narrow("1:3"), Vec::<String>::new());
    // The commit at the edge has a parent that is not here.
    chronicle(&shallow, &["note", REMARK, "--file", "pool.rs"]).success();
    let input = json!({ "summary": "Written at the edge of a shallow clone", "wisdom": [
        { "category": "insight", "content": "Nobody can see behind this commit.", "file": "pool.rs" }] });
    chronicle(&shallow, &["annotate", "--json", &input.to_string()]).success();
    let reading = chronicle(&shallow, &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(contents(&reading).len(), 3);
    chronicle(&shallow, &["history", "pool.rs"]).success();
    git(&shallow, &["fetch", "--quiet", "--unshallow"]);
    let reading = chronicle(&shallow, &["read", "pool.rs", "--format=json"]).success().json();
    assert_eq!(entry(&reading, LESSON)["lines"], lines(6, 8));
}

#[test]
fn fetched_notes_show_before_anyone_merges_them() {
    let repo = annotated();
    let other = clone(&repo, "other", &[]);
    git(
        &other,
        &["fetch", "--quiet", "origin", "+refs/notes/chronicle*:refs/notes/remotes/origin/chronicle*"],
    );
    assert_reads(chronicle(&other, &READ));
    chronicle(&other, &["annotate", "--summary", "Written in the other clone"]).success();
    let shown = chronicle(&other, &["show", "--format=json"]).success().json();
    assert_eq!(contents(&shown["annotation"]), [LESSON]);
    assert!(shown.to_string().contains("Written in the other clone"));
}

#[test]
fn a_detached_head_makes_the_round_trip() {
    let repo = TestRepo::new();
    repo.write("other.rs", "fn other() {}\n");
    repo.commit("other: add it");
    repo.git(&["checkout", "--quiet", "--detach"]);
    round_trip(repo.path());
    assert_eq!(repo.git(&["rev-parse", "main"]), repo.git(&["rev-parse", "HEAD~2"]));
}

#[test]
fn packed_refs_and_objects_are_read_and_written() {
    let repo = annotated();
    for tidy in [
        &["pack-refs", "--all"][..],
        &["gc", "--quiet"],
        &["repack", "-adq"],
        &["commit-graph", "write", "--reachable"],
    ] {
        repo.git(tidy);
        assert_reads(chronicle(repo.path(), &READ));
        let summary = format!("Written after git {}", tidy.join(" "));
        chronicle(repo.path(), &["annotate", "--summary", &summary]).success();
        assert!(repo.note("chronicle", "HEAD").contains(&summary));
        assert_reads(chronicle(repo.path(), &READ));
    }
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.git(&["pack-refs", "--all"]);
    assert_eq!(note(&repo, "HEAD")["also"].as_array().map(Vec::len), Some(4));
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    assert_eq!(repo.git(&["rev-list", "--count", "refs/notes/chronicle"]), "5");
}

#[test]
fn objects_borrowed_from_another_repository_are_read() {
    let repo = annotated();
    let shared = repo.beside("shared");
    repo.git(&[
        OsStr::new("clone"),
        OsStr::new("--quiet"),
        OsStr::new("--shared"),
        OsStr::new("."),
        shared.as_os_str(),
    ]);
    git(&shared, &["fetch", "--quiet", "origin", "refs/notes/chronicle:refs/notes/chronicle"]);
    assert_reads(chronicle(&shared, &READ));
    chronicle(&shared, &["annotate", "--summary", "Written where objects are borrowed"]).success();
    git(&shared, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
}

/// Puts `notes` into a tree of the given fan-out, as the notes ref.
fn fan_out(repo: &TestRepo, notes: &[(String, String)], depth: usize) {
    let mut input = String::new();
    for (key, blob) in notes {
        let mut path = key.clone();
        for level in (0..depth).rev() {
            path.insert(2 * (level + 1), '/');
        }
        input.push_str(&format!("100644 {blob}\t{path}\n"));
    }
    let index = repo.beside("notes-index");
    let _removed = fs::remove_file(&index);
    let mut command = testkit::command("git", repo.path());
    command.args(["update-index", "--index-info"]).env("GIT_INDEX_FILE", &index);
    run_with_input(&mut command, input.as_bytes()).success();
    let mut command = testkit::command("git", repo.path());
    let tree = run(command.arg("write-tree").env("GIT_INDEX_FILE", &index)).success().stdout;
    let commit = repo.git(&["commit-tree", "-m", "notes", tree.trim()]);
    repo.git(&["update-ref", "refs/notes/chronicle", &commit]);
}

#[test]
fn notes_are_found_and_kept_at_any_fan_out() {
    let repo = TestRepo::new();
    let mut stream = String::new();
    for number in 0..300 {
        let text = format!("{number}\n{POOL}");
        stream += "commit refs/heads/main\ncommitter Ada <ada@example.com> 1750000000 +0000\n";
        stream += &format!("data 4\ntest\nM 100644 inline pool.rs\ndata {}\n{text}\n", text.len());
    }
    let mut import = testkit::command("git", repo.path());
    run_with_input(import.args(["fast-import", "--quiet"]), stream.as_bytes()).success();
    repo.git(&["reset", "--quiet", "--hard"]);
    let commits = repo.git(&["rev-list", "--reverse", "HEAD"]);
    let mut contents_of = String::new();
    for (number, commit) in commits.lines().enumerate() {
        let document = json!({ "schema": "chronicle/v3", "commit": commit, "timestamp": "2026-03-01T12:00:00Z",
            "summary": format!("Reason number {number:03}"), "provenance": { "source": "live" },
            "wisdom": [{ "category": "insight", "content": format!("Lesson number {number:03}"), "file": "pool.rs", "lines": [4, 6] }] });
        let text = document.to_string();
        contents_of += &format!("blob\nmark :{}\ndata {}\n{text}\n", number + 1, text.len());
    }
    let marks = repo.beside("marks");
    let mut import = testkit::command("git", repo.path());
    import.args(["fast-import", "--quiet"]).arg(format!("--export-marks={}", marks.display()));
    run_with_input(&mut import, contents_of.as_bytes()).success();
    let marks = fs::read_to_string(marks).expect("marks were exported");
    let mut blobs: Vec<(usize, &str)> = marks
        .lines()
        .map(|line| line.trim_start_matches(':').split_once(' ').expect("a mark and an id"))
        .map(|(mark, id)| (mark.parse().expect("a number"), id))
        .collect();
    blobs.sort_unstable();
    let notes: Vec<(String, String)> = commits
        .lines()
        .zip(&blobs)
        .map(|(commit, (_, blob))| (commit.to_owned(), (*blob).to_owned()))
        .collect();
    for depth in 0..=2 {
        fan_out(&repo, &notes, depth);
        let reading = chronicle(repo.path(), &["read", "pool.rs", "--max-regions=1000", "--format=json"]);
        let reading = reading.success().json();
        let expected: Vec<String> = (0..300).map(|number| format!("Lesson number {number:03}")).collect();
        assert_eq!(contents(&reading), expected, "fan-out {depth}");
        let shown = chronicle(repo.path(), &["show", "HEAD~13", "--format=json"]).success().json();
        assert_eq!(shown["annotation"]["summary"], json!("Reason number 286"));
        // Writing one keeps the others, where git finds them.
        chronicle(repo.path(), &["annotate", "--commit=HEAD~13", "--summary", "Another reason for it"])
            .success();
        let list = repo.git(&["notes", "--ref=chronicle", "list"]);
        assert_eq!(list.lines().count(), 300);
        for (commit, blob) in notes.iter().filter(|(commit, _)| *commit != notes[286].0) {
            assert!(
                list.contains(&format!("{blob} {commit}")),
                "fan-out {depth}: the note of {commit} is lost"
            );
        }
        let rewritten = note(&repo, "HEAD~13");
        assert_eq!(rewritten["summary"], json!("Reason number 286"));
        assert_eq!(rewritten["also"][0]["summary"], json!("Another reason for it"));
    }
}

#[test]
fn a_pretty_printed_note_of_a_released_tool_is_read_and_becomes_one_line() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    let commit = repo.commit("pool: add it");
    let document = json!({
        "schema": "chronicle/v3", "commit": commit, "timestamp": "2026-02-10T05:14:53.805014+00:00",
        "summary": "Callers queue, because the server drops the eleventh connection",
        "wisdom": [{ "category": "gotcha", "content": LESSON, "file": "pool.rs", "lines": lines(3, 5) }],
        "provenance": { "source": "live", "author": "Aaron", "notes": "[2026-02-10] staged text" } });
    let file = repo.beside("note.json");
    fs::write(&file, serde_json::to_string_pretty(&document).expect("plain data"))
        .expect("it can be written");
    let file = file.to_str().expect("temporary paths are UTF-8");
    repo.git(&["notes", "--ref=chronicle", "add", "-f", "-F", file]);
    assert_reads(chronicle(repo.path(), &READ));
    let shown = chronicle(repo.path(), &["show"]).success();
    assert!(shown.stdout.contains("staged text") && shown.stdout.contains("Aaron"), "{shown:#?}");
    chronicle(repo.path(), &["annotate", "--summary", "Added by the newer tool"]).success();
    let stored = note(&repo, "HEAD");
    assert_eq!(stored["provenance"], document["provenance"]);
    assert_eq!(stored["timestamp"], document["timestamp"]);
    assert_eq!(stored["wisdom"][0]["content"], json!(LESSON));
    assert_reads(chronicle(repo.path(), &READ));
}

#[test]
fn a_merge_is_blamed_only_for_lines_that_no_parent_has() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.write("side.rs", POOL);
    repo.commit("pool: add it");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write("side.rs", POOL.replace("use std::sync::Mutex;", "use std::sync::RwLock;"));
    repo.commit("side: lock for reading");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("pool.rs", POOL.replace("close_all();", "close_each();"));
    repo.commit("pool: close each");
    repo.git(&["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
    repo.write(
        "pool.rs",
        POOL.replace("close_all();", "close_each();").replace("wait_for_slot", "wait_for_free_slot"),
    );
    repo.commit("merge side, which needs another wait");
    assert_eq!(repo.git(&["rev-list", "--parents", "-1", "HEAD"]).split(' ').count(), 3);
    let input = json!({ "summary": "Both sides lock, so the wait has to change", "wisdom": [
        { "category": "gotcha", "content": "The merge itself changed this wait.", "file": "pool.rs" },
        { "category": "insight", "content": "Nothing of this was merged by hand.", "file": "side.rs" }] });
    chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    let stored = note(&repo, "HEAD");
    assert_eq!(entry(&stored, "changed this wait")["lines"], lines(4, 4));
    assert_eq!(entry(&stored, "merged by hand").get("lines"), None);
    let reading = chronicle(repo.path(), &["read", "pool.rs", "side.rs", "--format=json"]).success().json();
    assert_eq!(contents(&reading).len(), 2);
    chronicle(repo.path(), &["history", "pool.rs"]).success();
}

#[test]
fn lessons_of_a_merged_branch_are_found_after_an_octopus() {
    let repo = TestRepo::new();
    repo.write("base.rs", "fn base() {}\n");
    repo.commit("base: add it");
    for name in ["one", "two", "three"] {
        repo.git(&["checkout", "--quiet", "-b", name, "main"]);
        repo.write(format!("{name}.rs"), POOL);
        repo.commit(&format!("{name}: add it"));
        chronicle(repo.path(), &["annotate", "--json", &lesson_on(&format!("{name}.rs"))]).success();
    }
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "-m", "merge all", "one", "two", "three"]);
    for name in ["one", "two", "three"] {
        let reading =
            chronicle(repo.path(), &["read", &format!("{name}.rs"), "--format=json"]).success().json();
        assert_eq!(entry(&reading, LESSON)["lines"], lines(3, 5));
    }
    chronicle(repo.path(), &["annotate", "--auto"]).success();
}

#[test]
fn a_root_commit_is_annotated_file_wide() {
    let repo = TestRepo::new();
    repo.write("pool.rs", POOL);
    repo.write("empty.rs", "");
    repo.commit("the root");
    let input = json!({ "summary": "Begun as a copy of the old pool", "wisdom": [
        { "category": "insight", "content": "All of it was written at once.", "file": "pool.rs" },
        { "category": "insight", "content": "This one is meant to stay empty.", "file": "empty.rs" }] });
    let stored = chronicle(repo.path(), &["annotate", "--json", &input.to_string()]).success();
    assert_eq!(stored.stderr, "");
    let stored = note(&repo, "HEAD");
    for entry in stored["wisdom"].as_array().expect("lessons") {
        assert_eq!((entry.get("lines"), entry.get("places")), (None, None), "{entry}");
    }
    let reading =
        chronicle(repo.path(), &["read", "pool.rs", "--lines=1:1", "--format=json"]).success().json();
    assert_eq!(contents(&reading), ["All of it was written at once."]);
}

/// Sets one odd value after the other; none of them stops anything.
#[track_caller]
fn check_odd_configuration(values: &[(&str, &str)]) {
    let repo = annotated();
    for (number, (key, value)) in values.iter().enumerate() {
        repo.git(&["config", key, value]);
        let summary = format!("Written with {key} being odd, {number}");
        let outcome = chronicle(repo.path(), &["annotate", "--summary", &summary, "--format=json"]);
        assert_eq!(outcome.code, Some(0), "{key} = {value}: {outcome:#?}");
        assert_reads(chronicle(repo.path(), &READ));
    }
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/notes"]), "refs/notes/chronicle");
    assert_eq!(note(&repo, "HEAD")["also"].as_array().map(Vec::len), Some(values.len()));
}

#[test]
fn odd_settings_of_how_git_stores_and_compares_stop_nothing() {
    let hooks = tempfile::tempdir().expect("a temporary directory can be made");
    for hook in ["reference-transaction", "pre-commit", "post-commit", "commit-msg"] {
        let path = hooks.path().join(hook);
        fs::write(&path, "#!/bin/sh\nexit 1\n").expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an own file");
    }
    let hooks = hooks.path().to_str().expect("temporary paths are UTF-8");
    check_odd_configuration(&[
        ("core.notesRef", "refs/notes/elsewhere"),
        ("core.logAllRefUpdates", "false"),
        ("diff.renames", "false"),
        ("diff.renames", "copies"),
        ("diff.renameLimit", "1"),
        ("diff.algorithm", "patience"),
        ("diff.algorithm", "histogram"),
        ("diff.external", "/bin/false"),
        ("diff.noprefix", "true"),
        ("core.abbrev", "4"),
        ("core.abbrev", "no"),
        ("core.quotePath", "false"),
        ("core.autocrlf", "true"),
        ("core.eol", "crlf"),
        ("core.fileMode", "false"),
        ("core.symlinks", "false"),
        ("core.ignoreCase", "true"),
        ("core.fsmonitor", "/bin/false"),
        ("core.untrackedCache", "true"),
        ("core.commitGraph", "false"),
        ("core.multiPackIndex", "true"),
        ("core.compression", "9"),
        ("core.looseCompression", "0"),
        ("core.sharedRepository", "group"),
        ("core.bigFileThreshold", "1"),
        ("core.hooksPath", hooks),
        ("core.pager", "/bin/false"),
        ("core.editor", "/bin/false"),
        ("core.attributesFile", "/nowhere"),
        ("core.excludesFile", "/nowhere"),
        ("include.path", "/nowhere"),
        ("index.version", "4"),
        ("feature.manyFiles", "true"),
        ("gc.auto", "1"),
        ("pack.threads", "1"),
        ("safe.bareRepository", "explicit"),
    ]);
}

#[test]
fn odd_settings_of_what_people_like_stop_nothing() {
    check_odd_configuration(&[
        ("commit.gpgSign", "true"),
        ("gpg.program", "/bin/false"),
        ("notes.rewriteRef", "refs/notes/*"),
        ("notes.rewriteMode", "concatenate"),
        ("notes.displayRef", "refs/notes/*"),
        ("color.ui", "always"),
        ("log.showSignature", "true"),
        ("log.date", "relative"),
        ("i18n.commitEncoding", "latin1"),
        ("i18n.logOutputEncoding", "latin1"),
        ("transfer.hideRefs", "refs/notes"),
        ("user.useConfigOnly", "true"),
        ("user.signingKey", "none"),
        ("blame.ignoreRevsFile", "/nowhere"),
        ("merge.conflictStyle", "zdiff3"),
        ("fetch.prune", "true"),
        ("remote.origin.url", "https://example.invalid/x"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("advice.detachedHead", "false"),
        ("no.such.section", "x"),
    ]);
}

#[test]
fn whoever_has_no_name_can_still_annotate() {
    let repo = annotated();
    let nameless = |number: usize| {
        let mut command =
            binary(repo.path(), &["annotate", "--summary", &format!("Written by nobody, {number}")]);
        for role in ["AUTHOR", "COMMITTER"] {
            for part in ["NAME", "EMAIL", "DATE"] {
                command.env_remove(format!("GIT_{role}_{part}"));
            }
        }
        command.env_remove("EMAIL").env("HOME", "/nowhere").env_remove("USER").env_remove("LOGNAME");
        command
    };
    let set = |command: &mut Command, name: &str, email: &str, date: &str| {
        for role in ["AUTHOR", "COMMITTER"] {
            for (part, value) in [("NAME", name), ("EMAIL", email), ("DATE", date)] {
                command.env(format!("GIT_{role}_{part}"), value);
            }
        }
    };
    run(&mut nameless(0)).success();
    repo.git(&["config", "user.useConfigOnly", "true"]);
    run(&mut nameless(1)).success();
    repo.git(&["config", "user.email", "only@example.com"]);
    run(&mut nameless(2)).success();
    for (number, (name, email, date)) in [
        ("", "", ""),
        (" ", " ", "2026-03-01T12:00:00Z"),
        ("Ada", "ada@example.com", "yesterday-ish"),
        ("Ada", "ada@example.com", "@1 +9999"),
        ("Ada Lovelace", "", "@1750000000 +0000"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut command = nameless(3 + number);
        set(&mut command, name, email, date);
        let outcome = run(&mut command);
        assert_eq!(outcome.code, Some(0), "{name:?} {email:?} {date:?}: {outcome:#?}");
    }
    assert_eq!(note(&repo, "HEAD")["also"].as_array().map(Vec::len), Some(8));
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    assert_reads(chronicle(repo.path(), &READ));
}

/// A directory with a `git` that counts how often it is called, and the file in which it does.
fn counting_git(repo: &TestRepo) -> (PathBuf, PathBuf) {
    let (directory, calls) = (repo.beside("counting"), repo.beside("calls"));
    fs::create_dir_all(&directory).expect("it can be made");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", calls.display());
    fs::write(directory.join("git"), script).expect("it can be written");
    fs::set_permissions(directory.join("git"), fs::Permissions::from_mode(0o755)).expect("an own file");
    (directory, calls)
}

#[test]
fn nothing_spawns_git() {
    for sha256 in [false, true] {
        let init: &[&str] = if sha256 { &["--object-format=sha256"] } else { &[] };
        let Some(repo) = made_by(init) else { continue };
        repo.write("pool.rs", POOL);
        repo.commit("pool: add it");
        repo.git(&["mv", "pool.rs", "old.rs"]);
        repo.commit("pool: rename it");
        let (directory, calls) = counting_git(&repo);
        let mut path = directory.into_os_string();
        path.push(":/usr/bin:/bin");
        let without_git = |directory: &Path, args: &[&str]| {
            let mut command = binary(directory, args);
            run(command.env("PATH", &path)).success()
        };
        without_git(repo.path(), &["note", REMARK, "--file", "old.rs"]);
        without_git(repo.path(), &["annotate", "--json", &lesson_on("pool.rs"), "--commit=HEAD~1"]);
        without_git(repo.path(), &["annotate", "--auto"]);
        repo.git(&["gc", "--quiet"]);
        let worktree = repo.beside("linked");
        repo.git(&[OsStr::new("worktree"), OsStr::new("add"), OsStr::new("--quiet"), worktree.as_os_str()]);
        for directory in [repo.path(), &worktree] {
            let reading = without_git(directory, &["read", "old.rs", "--format=json"]).json();
            assert_eq!(contents(&reading), [REMARK, LESSON]);
            without_git(directory, &["read", "old.rs", "--lines=3:5"]);
            without_git(directory, &["read", "--recent", "--all"]);
            without_git(directory, &["read", ".", "--since", "HEAD~1"]);
            without_git(directory, &["show", "HEAD~1"]);
            without_git(directory, &["history", "old.rs"]);
            without_git(directory, &["annotate", "--summary", "Written after packing it all"]);
        }
        assert!(!calls.exists(), "git was called: {}", fs::read_to_string(&calls).unwrap_or_default());
    }
}

#[test]
fn a_repository_whose_path_is_odd_makes_the_round_trip() {
    let outer = TestRepo::new();
    for name in [&b"with space"[..], b"caf\xe9", "größe".as_bytes(), b"quote'd \"dir\"", b"-dash"] {
        let directory = outer.beside("odd").join(OsStr::from_bytes(name));
        fs::create_dir_all(&directory).expect("it can be made");
        git(&directory, &["init", "--quiet", "--initial-branch=main"]);
        round_trip(&directory);
    }
}

#[test]
fn a_replaced_commit_keeps_its_note_under_its_own_name() {
    let repo = annotated();
    let original = repo.git(&["rev-parse", "HEAD"]);
    repo.write("pool.rs", format!("// A pool.\n\n{POOL}"));
    let other = repo.commit("pool: say what it is");
    repo.git(&["checkout", "--quiet", "--detach", &original]);
    repo.git(&["replace", &original, &other]);
    chronicle(repo.path(), &["annotate", "--summary", "Written while it is replaced", "--commit", &original])
        .success();
    repo.git(&["replace", "-d", &original]);
    assert_eq!(note(&repo, &original)["commit"], json!(original));
    assert_reads(chronicle(repo.path(), &READ));
}

#[test]
fn a_note_is_stored_with_a_reflog_entry_and_a_commit_of_its_own() {
    let repo = annotated();
    let log = repo.git(&["reflog", "show", "refs/notes/chronicle", "--format=%gs|%gn"]);
    assert!(log.starts_with("chronicle: annotate") && log.ends_with("|Ada"), "{log}");
    assert_eq!(
        repo.git(&["log", "-1", "--format=%an|%cn|%ce", "refs/notes/chronicle"]),
        "Ada|Ada|ada@example.com"
    );
    chronicle(repo.path(), &["annotate", "--summary", "A second reason for it"]).success();
    assert_eq!(repo.git(&["rev-list", "--count", "refs/notes/chronicle"]), "2");
}

// Failing now:

#[test]
fn a_name_with_characters_that_git_drops_can_still_annotate() {
    let repo = annotated();
    for (number, (name, email)) in
        [("Ada <ada@example.com>", "<ada@example.com>"), ("<>", "<>"), ("a\nb", "a\nb")]
            .into_iter()
            .enumerate()
    {
        let mut command =
            binary(repo.path(), &["annotate", "--summary", &format!("Written under an odd name, {number}")]);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_EMAIL"), email);
        }
        let outcome = run(&mut command);
        assert_eq!(outcome.code, Some(0), "{name:?}: {outcome:#?}");
    }
    assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
}

#[test]
fn an_input_file_is_looked_for_where_c_says() {
    let repo = annotated();
    let elsewhere = repo.beside("elsewhere");
    fs::create_dir(&elsewhere).expect("it is new");
    repo.write("lesson.json", lesson_on("pool.rs"));
    chronicle(&elsewhere, &["-C", "../repo", "annotate", "--file", "lesson.json"]).success();
}

#[test]
fn git_dir_is_taken_from_where_c_says() {
    let repo = annotated();
    let elsewhere = repo.beside("elsewhere");
    fs::create_dir(&elsewhere).expect("it is new");
    let git = testkit::command("git", &elsewhere)
        .args(["-C", "../repo", "rev-parse", "HEAD"])
        .env("GIT_DIR", ".git")
        .status();
    assert!(git.expect("git is installed").success(), "git itself reads it so");
    let mut command = binary(&elsewhere, &[&["-C", "../repo"][..], &READ].concat());
    assert_reads(run(command.env("GIT_DIR", ".git")));
}

#[test]
fn a_partial_clone_is_read_and_annotated_without_fetching() {
    let repo = annotated();
    for number in 0..3 {
        repo.write("pool.rs", format!("// Version {number}.\n\n{POOL}"));
        repo.write("other.rs", format!("fn other() {{ {number} }}\n"));
        repo.commit("pool: count up");
    }
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    for filter in ["blob:none", "tree:0"] {
        let partial = clone(&repo, &filter.replace(':', "-"), &[&format!("--filter={filter}")]);
        git(&partial, &["fetch", "--quiet", "origin", "refs/notes/chronicle:refs/notes/chronicle"]);
        // Notes are blobs too; asking for them brings them in.
        for object in git(&partial, &["notes", "--ref=chronicle", "list"]).lines() {
            git(&partial, &["cat-file", "-e", object.split(' ').next().expect("two ids")]);
        }
        let missing = git(&partial, &["rev-list", "--objects", "--missing=print", "HEAD"]);
        assert!(missing.lines().any(|line| line.starts_with('?')), "nothing is missing");
        // Whoever asks may fetch what is missing, unless git is told not to.
        let mut read = binary(&partial, &["read", "pool.rs", "--format=json"]);
        let reading = run(read.env("GIT_NO_LAZY_FETCH", "1"));
        if filter == "blob:none" {
            let reading = reading.success().json();
            assert_eq!(contents(&reading), [LESSON]);
            assert_eq!(entry(&reading, LESSON)["lines"], lines(5, 7));
            run(binary(&partial, &["history", "pool.rs"]).env("GIT_NO_LAZY_FETCH", "1")).success();
            let input = json!({ "summary": "Written in a partial clone", "wisdom": [
                { "category": "insight", "content": "Its parent's files are not here.", "file": "pool.rs" }] });
            chronicle(&partial, &["annotate", "--json", &input.to_string()]).success();
        }
        let still_missing = git(&partial, &["rev-list", "--objects", "--missing=print", "HEAD"]);
        assert_eq!(still_missing, missing, "something was fetched");
    }
}

#[test]
fn a_file_outside_a_sparse_checkout_is_read_from_head() {
    let repo = TestRepo::new();
    repo.write("src/pool.rs", POOL);
    repo.write("docs/pool.md", "Text.\n");
    repo.commit("pool: add it");
    chronicle(repo.path(), &["annotate", "--json", &lesson_on("src/pool.rs")]).success();
    repo.git(&["sparse-checkout", "set", "docs"]);
    assert!(!repo.path().join("src").exists());
    for path in ["src", "src/pool.rs"] {
        let reading = chronicle(repo.path(), &["read", path, "--format=json"]).success().json();
        assert_eq!(entry(&reading, LESSON)["lines"], lines(3, 5), "{path}");
        assert_eq!(entry(&reading, LESSON)["state"], json!("intact"), "{path}");
    }
}

#[test]
fn a_notes_ref_that_stands_for_another_is_followed() {
    let repo = annotated();
    repo.git(&["update-ref", "refs/notes/real", "refs/notes/chronicle"]);
    repo.git(&["update-ref", "-d", "refs/notes/chronicle"]);
    repo.git(&["symbolic-ref", "refs/notes/chronicle", "refs/notes/real"]);
    assert_reads(chronicle(repo.path(), &READ));
    // As git itself does.
    repo.git(&["notes", "--ref=chronicle", "add", "-m", "x", "HEAD^{tree}"]);
    assert_eq!(repo.git(&["symbolic-ref", "refs/notes/chronicle"]), "refs/notes/real");
    chronicle(repo.path(), &["annotate", "--summary", "Written through another name"]).success();
    assert_eq!(repo.git(&["symbolic-ref", "refs/notes/chronicle"]), "refs/notes/real");
    assert!(repo.note("real", "HEAD").contains("Written through another name"));
}

#[test]
fn a_notes_ref_that_stands_for_one_that_is_exchanged_is_not_written_through() {
    for target in ["refs/notes/remotes/origin/chronicle", "refs/notes/chronicle-corrections"] {
        let repo = annotated();
        repo.git(&["update-ref", target, "refs/notes/chronicle"]);
        repo.git(&["symbolic-ref", "refs/notes/chronicle", target]);
        let before = repo.git(&["rev-parse", target]);
        chronicle(repo.path(), &["annotate", "--summary", "Lost at the next fetch"]).refused(1, &[target]);
        assert_eq!(repo.git(&["rev-parse", target]), before);
    }
}
