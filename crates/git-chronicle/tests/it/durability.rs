//! Nothing is lost: parallel writers, killed writers, staged remarks.
//!
//! What was stored is asked of git itself (`git notes`, `git fsck`), so a reader
//! of ours that forgives too much cannot hide a loss. Killing is random in time,
//! but no test depends on where it hits: a writer may have finished or not, and
//! both outcomes have their promise.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How many processes write at the same time.
const N_WRITERS: usize = 20;
/// How many annotations they write in all.
const N_ANNOTATIONS: usize = 200;
/// A killed writer lives this long at most, or as long as an undisturbed one if that is longer.
const LONGEST_LIFE: Duration = Duration::from_millis(15);

#[test]
fn parallel_writers_on_distinct_commits_lose_nothing() {
    let repo = Repo::new();
    let commits = repo.many_commits(N_ANNOTATIONS);
    run_in_parallel(commits.iter().enumerate().map(|(n, id)| annotate(repo.path(), id, n)).collect());
    assert_each_annotated(&repo, &commits);
}

#[test]
fn parallel_writers_on_one_commit_lose_nothing() {
    let repo = Repo::new();
    let commit = repo.many_commits(1).remove(0);
    run_in_parallel((0..N_ANNOTATIONS).map(|n| annotate(repo.path(), &commit, n)).collect());
    assert_all_on_one(&repo, &commit);
}

#[test]
fn two_worktrees_write_distinct_commits_at_once() {
    let repo = Repo::new();
    let commits = repo.many_commits(N_ANNOTATIONS);
    let worktrees = two_worktrees(&repo);
    let writers = commits.iter().enumerate().map(|(n, id)| annotate(&worktrees[n % 2].1, id, n));
    run_in_parallel(writers.collect());
    assert_each_annotated(&repo, &commits);
}

#[test]
fn two_worktrees_write_one_commit_at_once() {
    let repo = Repo::new();
    let commit = repo.many_commits(1).remove(0);
    let worktrees = two_worktrees(&repo);
    run_in_parallel((0..N_ANNOTATIONS).map(|n| annotate(&worktrees[n % 2].1, &commit, n)).collect());
    assert_all_on_one(&repo, &commit);
}

#[test]
fn a_killed_annotate_leaves_the_notes_whole_and_writable() {
    let repo = Repo::new();
    let commits = repo.many_commits(62);
    repo.git(&["pack-refs", "--all"]);
    let (shared, undisturbed, own) = (&commits[0], &commits[1], &commits[2..]);
    let started = Instant::now();
    assert!(finish(&mut annotate(repo.path(), undisturbed, 1000)));
    let longest_life = LONGEST_LIFE.max(started.elapsed());

    // Half of the writers make a note, half rewrite the shared one.
    let mut random = Random(7);
    let mut finished = Vec::new();
    for (n, own) in own.iter().enumerate() {
        let commit = if n % 2 == 0 { own } else { shared };
        // The first dies at birth, so that at least one does on any machine.
        let life = if n == 0 { Duration::ZERO } else { random.up_to(longest_life) };
        if finish_within(&mut annotate(repo.path(), commit, n), life) {
            finished.push((commit, n));
        }
        // A temporary file is left alone for its first minute, in which its owner may live; we know it is dead.
        backdate(&left_behind(&repo).into_iter().filter(|path| is_temporary(path)).collect::<Vec<_>>());
    }
    assert!(finished.len() < own.len(), "nothing was killed");

    repo.git(&["rev-parse", "--verify", "--quiet", "refs/notes/chronicle^{tree}"]);
    let notes = notes(&repo);
    for (commit, n) in finished {
        assert!(
            notes.get(commit).is_some_and(|note| has_entry(note, n)),
            "annotation {n} of {commit} is lost"
        );
    }
    assert!(has_entry(&notes[undisturbed], 1000), "the note written before the kills is lost");
    for note in notes.values() {
        let contents = contents(note);
        assert_eq!(contents.len(), contents.iter().collect::<BTreeSet<_>>().len(), "an entry is there twice");
    }

    assert!(finish(&mut annotate(repo.path(), shared, 2000)));
    assert!(has_entry(&self::notes(&repo)[shared], 2000), "the notes are not writable");
    assert_eq!(left_behind(&repo), Vec::<PathBuf>::new());
    let complaints = repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
    assert_eq!(complaints, "");
}

#[test]
fn staged_remarks_are_consumed_exactly_once() {
    let repo = Repo::new();
    repo.many_commits(1);
    let remarks: Vec<String> = (0..N_WRITERS).map(remark).collect();
    run_in_parallel(remarks.iter().map(|text| chronicle(repo.path(), &["note", text])).collect());
    repo.write("pool.rs", "fn acquire() {}\n");
    let first = repo.commit("pool: add acquire");

    assert!(finish(&mut chronicle(
        repo.path(),
        &["annotate", "--summary", "The first one takes the remarks."]
    )));
    assert_eq!(sorted(contents(&notes(&repo)[&first])), remarks);

    assert!(finish(&mut chronicle(
        repo.path(),
        &["annotate", "--summary", "The second one finds none left."]
    )));
    assert_eq!(sorted(contents(&notes(&repo)[&first])), remarks);

    repo.write("pool.rs", "fn acquire() {}\n\nfn release() {}\n");
    let second = repo.commit("pool: add release");
    assert!(finish(&mut chronicle(
        repo.path(),
        &["annotate", "--summary", "Nor does one on the next commit."]
    )));
    assert_eq!(contents(&notes(&repo)[&second]), Vec::<String>::new());
}

#[test]
fn a_killed_note_leaves_the_staged_remarks_readable() {
    let repo = Repo::new();
    repo.many_commits(1);
    let started = Instant::now();
    assert!(finish(&mut chronicle(repo.path(), &["note", &remark(0)])));
    let longest_life = LONGEST_LIFE.max(started.elapsed());

    let mut random = Random(11);
    let mut staged = vec![remark(0)];
    for n in 1..60 {
        let life = if n == 1 { Duration::ZERO } else { random.up_to(longest_life) };
        if finish_within(&mut chronicle(repo.path(), &["note", &remark(n)]), life) {
            staged.push(remark(n));
        }
        assert_staging_is_json(&repo);
        backdate(&left_behind(&repo));
    }
    assert!(staged.len() < 60, "nothing was killed");

    assert!(finish(&mut chronicle(repo.path(), &["note", &remark(60)])));
    staged.push(remark(60));
    repo.write("pool.rs", "fn acquire() {}\n");
    let commit = repo.commit("pool: add acquire");
    assert!(finish(&mut chronicle(
        repo.path(),
        &["annotate", "--summary", "It takes every remark that was staged."]
    )));
    let contents = sorted(contents(&notes(&repo)[&commit]));
    let distinct: BTreeSet<&String> = contents.iter().collect();
    assert_eq!(contents.len(), distinct.len(), "a remark is there twice: {contents:?}");
    assert!(staged.iter().all(|text| distinct.contains(text)), "{staged:?} staged, {contents:?} annotated");
    assert_eq!(left_behind(&repo), Vec::<PathBuf>::new());
}

/// A repository in a temporary directory, apart from the user's settings.
struct Repo {
    dir: TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { dir: TempDir::new().expect("a temporary directory can be made") };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What git prints, on either stream; panics if it fails.
    fn git(&self, args: &[&str]) -> String {
        let output = isolated("git", self.path(), args).output().expect("git starts");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {text}");
        text
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path().join(path), text).expect("the work tree is writable");
    }

    /// Commits everything and returns the commit id.
    fn commit(&self, subject: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Commits `n` times to one file, oldest first, and checks the last out.
    fn many_commits(&self, n: usize) -> Vec<String> {
        let mut stream = String::new();
        for number in 0..n {
            let text = "line\n".repeat(number + 1);
            stream += "commit refs/heads/main\ncommitter Tester <tester@example.invalid> 1750000000 +0000\n";
            stream += &format!("data 7\ngrow it\nM 100644 inline grown\ndata {}\n{text}\n", text.len());
        }
        let mut import = isolated("git", self.path(), &["fast-import", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("git fast-import starts");
        let mut stdin = import.stdin.take().expect("stdin is piped");
        stdin.write_all(stream.as_bytes()).expect("git fast-import takes the stream");
        drop(stdin);
        assert!(import.wait().expect("git fast-import ends").success(), "git fast-import failed");
        self.git(&["reset", "--hard", "--quiet"]);
        self.git(&["rev-list", "--reverse", "HEAD"]).lines().map(str::to_owned).collect()
    }
}

fn chronicle(directory: &Path, args: &[&str]) -> Command {
    isolated(crate::outcome::program(), directory, args)
}

fn isolated(program: &str, directory: &Path, args: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the tests start real processes and kill some")]
    let mut command = Command::new(program);
    command.args(args).current_dir(directory).stdin(Stdio::null());
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(variable);
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", directory);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Tester");
        command.env(format!("GIT_{role}_EMAIL"), "tester@example.invalid");
        command.env(format!("GIT_{role}_DATE"), "2025-06-15T15:06:40Z");
    }
    command
}

/// Two linked worktrees beside the repository, each with the directory that keeps it.
fn two_worktrees(repo: &Repo) -> [(TempDir, PathBuf); 2] {
    [(), ()].map(|()| {
        let keeper = TempDir::new().expect("a temporary directory can be made");
        let worktree = keeper.path().join("worktree");
        let path = worktree.to_str().expect("temporary paths are UTF-8");
        repo.git(&["worktree", "add", "--quiet", "--detach", path]);
        (keeper, worktree)
    })
}

/// Annotates `commit` with the entry that `n` stands for; every twentieth `n` has the same summary.
fn annotate(directory: &Path, commit: &str, n: usize) -> Command {
    let lines = json!({ "start": 1, "end": 1 });
    let entry = json!({ "category": "insight", "content": content(n), "file": "grown", "lines": lines });
    let document = json!({ "summary": summary(n), "wisdom": [entry] }).to_string();
    chronicle(directory, &["annotate", "--json", &document, "--commit", commit])
}

fn summary(n: usize) -> String {
    format!("Summary of writer {}: it grows line by line for a reason.", n % N_WRITERS)
}

fn content(n: usize) -> String {
    format!("Entry number {n:04} was learnt by writing it.")
}

fn remark(n: usize) -> String {
    format!("Remark number {n:04} was staged on the way.")
}

/// Runs `commands`, as many at a time as there are writers; each has to succeed.
fn run_in_parallel(mut commands: Vec<Command>) {
    let n_each = commands.len().div_ceil(N_WRITERS);
    thread::scope(|scope| {
        for share in commands.chunks_mut(n_each) {
            scope.spawn(move || share.iter_mut().for_each(|command| assert!(finish(command))));
        }
    });
}

/// Runs `command` to its end; true, as failing panics and only killing says no.
fn finish(command: &mut Command) -> bool {
    finish_within(command, Duration::MAX)
}

/// Runs `command` and kills it (SIGKILL) after `life`; whether it had succeeded by then.
///
/// Nobody else ends these processes, so one that fails without being killed panics
/// with what it said.
fn finish_within(command: &mut Command, life: Duration) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let born = Instant::now();
    let mut killed = false;
    while life != Duration::MAX && child.try_wait().expect("a child can be waited for").is_none() {
        if life <= born.elapsed() {
            child.kill().expect("a child can be killed");
            killed = true;
            break;
        }
        thread::yield_now();
    }
    let output = child.wait_with_output().expect("a child can be waited for");
    let died = killed && output.status.code().is_none();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let args: Vec<_> = command.get_args().collect();
    assert!(died || output.status.success(), "{args:?} failed, {}: {stderr}", output.status);
    !died
}

/// Every note by the commit it is about; each is one JSON object on one line.
fn notes(repo: &Repo) -> BTreeMap<String, Value> {
    let list = repo.git(&["notes", "--ref=chronicle", "list"]);
    let parse = |line: &str| {
        let (note_blob_id, commit_id) = line.split_once(' ').expect("`git notes list` prints two ids");
        let text = repo.git(&["cat-file", "blob", note_blob_id]);
        assert!(!text.trim_end_matches('\n').contains('\n'), "more than one line: {text}");
        let note: Value = serde_json::from_str(&text).expect("a note is one JSON document");
        assert!(note.is_object(), "not an object: {text}");
        (commit_id.to_owned(), note)
    };
    let notes: Vec<(String, Value)> = list.lines().map(parse).collect();
    let n_notes = notes.len();
    let notes: BTreeMap<String, Value> = notes.into_iter().collect();
    assert_eq!(notes.len(), n_notes, "a commit has two notes");
    notes
}

fn contents(note: &Value) -> Vec<String> {
    let entries = note["wisdom"].as_array().into_iter().flatten();
    entries.map(|entry| entry["content"].as_str().expect("an entry has content").to_owned()).collect()
}

fn has_entry(note: &Value, n: usize) -> bool {
    contents(note).contains(&content(n))
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts
}

fn assert_each_annotated(repo: &Repo, commits: &[String]) {
    let notes = notes(repo);
    assert_eq!(notes.len(), commits.len());
    for (n, commit) in commits.iter().enumerate() {
        let note = notes.get(commit).unwrap_or_else(|| panic!("the note of commit {n} is lost"));
        assert_eq!(note["commit"], json!(commit));
        assert_eq!(note["summary"], json!(summary(n)));
        assert_eq!(contents(note), [content(n)]);
    }
}

/// Entries are united, and each summary is kept: one in front, the others in `also`.
fn assert_all_on_one(repo: &Repo, commit: &str) {
    let notes = notes(repo);
    assert_eq!(notes.keys().collect::<Vec<_>>(), [commit]);
    let note = &notes[commit];
    let expected: Vec<String> = (0..N_ANNOTATIONS).map(content).collect();
    assert_eq!(sorted(contents(note)), expected);
    let documents = note["also"].as_array().into_iter().flatten().chain([note]);
    let summaries: BTreeSet<&str> = documents.filter_map(|document| document["summary"].as_str()).collect();
    let expected: Vec<String> = (0..N_WRITERS).map(summary).collect();
    assert_eq!(summaries, expected.iter().map(String::as_str).collect());
}

/// Every JSON file that waits in the directory of staged remarks can be read, and there is one.
fn assert_staging_is_json(repo: &Repo) {
    let files: Vec<PathBuf> = files_under(&git_dir(repo).join("chronicle"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl"))
        .filter(|path| !is_temporary(path))
        .collect();
    assert!(!files.is_empty(), "no remark is staged");
    for path in files {
        let text = fs::read_to_string(&path).expect("the file is readable");
        for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            assert!(value.is_ok(), "{}: {value:?} in {text}", path.display());
        }
        assert!(!text.trim().is_empty(), "{} is empty", path.display());
    }
}

/// What `git notes` does when it is overtaken between reading the ref and writing it.
#[test]
fn notes_that_a_foreign_writer_dropped_come_back() {
    let repo = Repo::new();
    let commits = repo.many_commits(4);
    let done = |n: usize| {
        let output = annotate(repo.path(), &commits[n], n).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(!done(0).contains("brought back"));
    let read_by_the_other = repo.git(&["rev-parse", "refs/notes/chronicle"]);
    done(1);
    done(2);
    let tree = format!("{}^{{tree}}", read_by_the_other.trim());
    let overtake = |message: &str| {
        let parent = read_by_the_other.trim();
        let overtaken = repo.git(&["commit-tree", "-p", parent, "-m", message, &tree]);
        repo.git(&["update-ref", "refs/notes/chronicle", overtaken.trim()]);
    };
    overtake("Notes added by 'git notes add'");
    assert_eq!(notes(&repo).len(), 1);
    assert!(done(3).contains("brought back: 2"));
    assert_each_annotated(&repo, &commits);
    overtake("Notes added by 'git notes append'");
    let reconciled = chronicle(repo.path(), &["reconcile"]).output().expect("it starts");
    assert!(String::from_utf8_lossy(&reconciled.stderr).contains("brought back"), "{reconciled:?}");
    assert_each_annotated(&repo, &commits);
    // What a user takes away stays away.
    repo.git(&["notes", "--ref=chronicle", "remove", &commits[0]]);
    assert!(!done(1).contains("brought back"));
    assert_eq!(notes(&repo).len(), 3);
}

/// Locks of refs and unfinished files that no living process owns.
///
/// `write.lock` of ours is none: it is a file that stays, locked by the system
/// only while a process lives.
fn left_behind(repo: &Repo) -> Vec<PathBuf> {
    let git_dir = git_dir(repo);
    let mut found = files_under(&git_dir.join("refs"));
    found.push(git_dir.join("packed-refs.lock"));
    found.retain(|path| path.extension().is_some_and(|extension| extension == "lock") && path.exists());
    let ours = ["chronicle", "objects", "logs"].into_iter().flat_map(|name| files_under(&git_dir.join(name)));
    found.extend(ours.filter(|path| is_temporary(path)));
    found
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(".tmp") || name.starts_with("tmp_") || name.starts_with(".chronicle-tmp-")
}

/// Makes `files` look long abandoned.
fn backdate(files: &[PathBuf]) {
    for path in files {
        // A git that a killed writer had started may still tidy up after itself.
        if let Ok(file) = fs::File::open(path) {
            file.set_modified(SystemTime::UNIX_EPOCH).expect("the time of an own file can be set");
        }
    }
}

fn git_dir(repo: &Repo) -> PathBuf {
    repo.path().join(".git")
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let (mut files, mut directories) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.expect("the directory is readable").path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
    }
    files
}

/// SplitMix64, so that a failing run can be repeated with the same lives.
struct Random(u64);

impl Random {
    fn up_to(&mut self, longest: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let per_mille = u32::try_from((z ^ (z >> 31)) % 1000).expect("less than 1000");
        longest * per_mille / 1000
    }
}
