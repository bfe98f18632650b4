//! Commit memory against git itself, on a history made here.
//!
//! `cargo bench --bench commit_memory -- [--annotations N] [--commits N] [--pairs N]
//! [--keep DIR] [--binary FILE]`
//!
//! Whole processes are timed, from spawn to wait, output thrown away. The
//! commands take turns within each sample, so a busy moment of the machine hits
//! all of them. The history is the same in every run: it comes from a fixed seed,
//! through `git fast-import`, and is packed with a commit-graph and changed-path
//! filters, so git is measured at its best.
//!
//! Missed bars are printed, not failed, since a busy machine misses them too.
//! Exit code 1 means that the figures would lie: `read` found nothing for most of
//! the samples, or it ran git.
//!
//! One file, because a bench target is one: what measures comes first, what makes
//! the history second.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

fn main() -> ExitCode {
    let mut args: Vec<String> = env::args().skip(1).collect();
    let by_cargo_bench = args.iter().any(|arg| arg == "--bench");
    args.retain(|arg| arg != "--bench");
    if !by_cargo_bench {
        println!("nothing measured: run `cargo bench --bench commit_memory`");
        return ExitCode::SUCCESS;
    }
    match Options::parse(&args) {
        Ok(options) => run(&options),
        Err(message) => {
            println!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> ExitCode {
    let temp = TempDir::new().expect("a temporary directory can be made");
    let root = options.keep.clone().unwrap_or_else(|| temp.path().to_path_buf());
    let started = Instant::now();
    let (mut history, repo) = make_repository(options, &root);
    println!(
        "made {} in {:.1} s: {} commits ({} merges), {} files at HEAD ({} renamed), {} deleted, {} annotations\n",
        repo.work_tree.display(),
        started.elapsed().as_secs_f64(),
        history.commits.len(),
        history.n_merges,
        history.live().count(),
        history.live().filter(|file| 0 < file.n_renames).count(),
        history.files.iter().filter(|file| file.deleted).count(),
        options.n_annotations,
    );
    let samples = history.samples(options);

    let n_answered = show_and_count_answers(&repo, &history, &samples);
    let n_git = count_git_processes(&repo, &samples[0]);
    compare_read(&repo, &samples);
    compare_show(&repo, &history, options);
    check_linearity(&repo, &history, &samples, options);
    compare_annotate(&repo, &mut history, options);

    let answered = samples.len() <= 2 * n_answered;
    println!("\nreads that return an entry: {n_answered} of {} {}", samples.len(), verdict(answered));
    println!("git processes spawned by a read: {n_git} {}", verdict(n_git == 0));
    if answered && n_git == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Options {
    n_annotations: usize,
    n_commits: usize,
    n_pairs: usize,
    keep: Option<PathBuf>,
    binary: PathBuf,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self {
            n_annotations: 1000,
            n_commits: 10_000,
            n_pairs: 100,
            keep: None,
            binary: PathBuf::from(env!("CARGO_BIN_EXE_git-chronicle")),
        };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
            let number =
                || value.parse().ok().filter(|n| 0 < *n).ok_or_else(|| format!("`{value}` is not a count"));
            match flag.as_str() {
                "--annotations" => options.n_annotations = number()?,
                "--commits" => options.n_commits = number()?,
                "--pairs" => options.n_pairs = number()?,
                "--keep" => options.keep = Some(absolute(value)?),
                "--binary" => options.binary = absolute(value)?,
                _ => return Err(format!("unknown option `{flag}`")),
            }
        }
        if options.keep.as_ref().is_some_and(|directory| directory.join("repository").exists()) {
            return Err("the directory to keep it in holds a repository already".into());
        }
        if options.n_commits < 2 * options.n_annotations {
            return Err("at most half of the commits can be annotated".into());
        }
        Ok(options)
    }
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("`{path}`: {error}"))
}

/// The made repository, and how to run a program in it apart from the user's settings.
struct Repository {
    work_tree: PathBuf,
    home: PathBuf,
    /// Programs are named by their full path: looking through `PATH` costs as much as a small process.
    git: PathBuf,
    nothing: PathBuf,
    chronicle: PathBuf,
}

impl Repository {
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.work_tree)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Bench").env(format!("GIT_{role}_EMAIL"), EMAIL);
            command.env(format!("GIT_{role}_DATE"), "2026-01-15T12:00:00Z");
        }
        command
    }

    fn output(&self, program: &Path, args: &[&str]) -> String {
        let output = self.command(program, args).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {args:?}: {stderr}", program.display());
        String::from_utf8(output.stdout).expect("paths and texts made here are UTF-8")
    }

    fn git(&self, args: &[&str]) -> String {
        self.output(&self.git, args)
    }

    /// Feeds `git fast-import` with what `write` writes.
    fn fast_import(&self, args: &[&str], write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut child = self
            .command(&self.git, &["fast-import", "--quiet", "--date-format=raw", "--done"])
            .args(args)
            .stdin(Stdio::piped())
            .spawn()
            .expect("git fast-import starts");
        let mut stream = BufWriter::new(child.stdin.take().expect("stdin is piped"));
        write(&mut stream)
            .and_then(|()| stream.write_all(b"done\n"))
            .expect("git fast-import takes the stream");
        drop(stream);
        assert!(child.wait().expect("git fast-import ends").success(), "git fast-import failed");
    }

    fn time(&self, program: &Path, args: &[&str]) -> Duration {
        let mut command = self.command(program, args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let status = command.status().expect("the program starts");
        let taken = started.elapsed();
        assert!(status.success(), "{} {args:?}: {status}", program.display());
        taken
    }
}

fn search_path() -> std::ffi::OsString {
    #[expect(clippy::disallowed_methods, reason = "the one variable that passes into the isolated runs")]
    let path = env::var_os("PATH");
    path.expect("PATH is set")
}

fn find_program(name: &str) -> PathBuf {
    env::split_paths(&search_path())
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .unwrap_or_else(|| panic!("`{name}` is not on PATH"))
}

/// Some lines of a file at HEAD that somebody asks about.
struct Sample {
    path: String,
    lines: String,
    renamed: bool,
    /// Whether a line that an entry records still stands in the range.
    holds_recorded: bool,
}

/// Prints one answer in full; returns for how many samples there is one.
fn show_and_count_answers(repo: &Repository, history: &History, samples: &[Sample]) -> usize {
    let sample = samples.iter().find(|sample| sample.holds_recorded).unwrap_or(&samples[0]);
    let read = ["read", &sample.path, "--lines", &sample.lines];
    println!("$ git chronicle {}\n{}", read.join(" "), repo.output(&repo.chronicle, &read));
    let show = ["show", history.annotated_id(0)];
    println!("$ git chronicle {}\n{}", show.join(" "), repo.output(&repo.chronicle, &show));
    let log = ["log", "--follow", "--name-status", "--format=%h %s", "-3", "--", &sample.path];
    println!("$ git {}\n{}", log.join(" "), repo.git(&log));

    let answered: Vec<bool> = samples
        .iter()
        .map(|sample| {
            let read = ["read", &sample.path, "--lines", &sample.lines, "--format", "json"];
            let text = repo.output(&repo.chronicle, &read);
            let reading: Value = serde_json::from_str(&text).expect("read --format json prints JSON");
            ["wisdom", "regions"]
                .iter()
                .any(|key| reading[key].as_array().is_some_and(|list| !list.is_empty()))
        })
        .collect();
    let n_recorded = samples.iter().filter(|sample| sample.holds_recorded).count();
    let n_missed =
        samples.iter().zip(&answered).filter(|(sample, found)| sample.holds_recorded && !**found).count();
    println!(
        "samples with a recorded line still in the range: {n_recorded}, of these without an answer: {n_missed}"
    );
    answered.into_iter().filter(|found| *found).count()
}

/// Runs one read with a `git` first on `PATH` that counts its runs.
fn count_git_processes(repo: &Repository, sample: &Sample) -> usize {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let tally = directory.path().join("tally");
    let wrapper = directory.path().join("git");
    let script =
        format!("#!/bin/sh\necho run >>'{}'\nexec '{}' \"$@\"\n", tally.display(), repo.git.display());
    fs::write(&wrapper, script).expect("the temporary directory is writable");
    repo.output(&find_program("chmod"), &["+x", &wrapper.display().to_string()]);

    let mut path = directory.path().as_os_str().to_owned();
    path.push(":");
    path.push(search_path());
    let n_runs_after = |program: &Path, args: &[&str]| {
        let status = repo.command(program, args).env("PATH", &path).stdout(Stdio::null()).status();
        assert!(status.expect("the program starts").success(), "{} {args:?} failed", program.display());
        fs::read_to_string(&tally).map_or(0, |runs| runs.lines().count())
    };
    let n_by_read = n_runs_after(&repo.chronicle, &["read", &sample.path, "--lines", &sample.lines]);
    let n_with_proof = n_runs_after(Path::new("git"), &["--version"]);
    assert_eq!(n_with_proof, n_by_read + 1, "the counting git does not count");
    n_by_read
}

fn compare_read(repo: &Repository, samples: &[Sample]) {
    let mut rows = vec![
        Row::new("git chronicle read FILE --lines A:B", None),
        Row::new("git log --follow --name-status -- FILE", Some(1.0)),
        Row::new("git blame -L A,B -- FILE", None),
        Row::new("git rev-parse HEAD", None),
        Row::new("true (an empty process)", None),
    ];
    for (turn, sample) in samples.iter().enumerate() {
        let (path, blame_lines) = (sample.path.as_str(), sample.lines.replace(':', ","));
        let blame = ["blame", "-L", &blame_lines, "--", path];
        let commands: [(&Path, &[&str]); 5] = [
            (&repo.chronicle, &["read", path, "--lines", &sample.lines]),
            (&repo.git, &["log", "--follow", "--name-status", "--", path]),
            (&repo.git, &blame),
            (&repo.git, &["rev-parse", "HEAD"]),
            (&repo.nothing, &[]),
        ];
        take_turns(repo, turn, &commands, &mut rows);
    }
    let n_renamed = samples.iter().filter(|sample| sample.renamed).count();
    print_table(&format!("read: {} samples, {n_renamed} of them renamed files", samples.len()), &rows);
}

fn compare_show(repo: &Repository, history: &History, options: &Options) {
    let mut rows =
        vec![Row::new("git chronicle show COMMIT", None), Row::new("git rev-parse HEAD", Some(4.0))];
    for turn in 0..options.n_pairs {
        let commit_id = history.annotated_id(turn * 7);
        let commands: [(&Path, &[&str]); 2] =
            [(&repo.chronicle, &["show", commit_id]), (&repo.git, &["rev-parse", "HEAD"])];
        take_turns(repo, turn, &commands, &mut rows);
    }
    print_table("show", &rows);
}

/// Annotates commits that have no note yet, in our ref and with git in a copy of it.
fn compare_annotate(repo: &Repository, history: &mut History, options: &Options) {
    repo.git(&["update-ref", "refs/notes/bench", "refs/notes/chronicle"]);
    let mut rows = vec![
        Row::new("git chronicle annotate --json TEXT", None),
        Row::new("git notes add -m TEXT", Some(4.0)),
    ];
    let annotated: HashSet<usize> = history.evenly_spread(options.n_annotations).into_iter().collect();
    let free: Vec<usize> = history.annotatable().filter(|commit| !annotated.contains(commit)).collect();
    for turn in 0..options.n_pairs.min(free.len()) {
        let commit = free[turn * free.len() / options.n_pairs.min(free.len())];
        let text = history.annotation(commit).to_string();
        let commit_id = history.ids[commit].as_str();
        let commands: [(&Path, &[&str]); 2] = [
            (&repo.chronicle, &["annotate", "--json", &text, "--commit", commit_id]),
            (&repo.git, &["notes", "--ref=bench", "add", "-m", &text, commit_id]),
        ];
        take_turns(repo, turn, &commands, &mut rows);
    }
    print_table("annotate", &rows);
    let n_notes = |name: &str| repo.git(&["notes", &format!("--ref={name}"), "list"]).lines().count();
    let (ours, theirs) = (n_notes("chronicle"), n_notes("bench"));
    assert_eq!(ours, theirs, "annotate did not write one note per commit");
}

/// Reads the same samples with a tenth and with four times the annotations.
fn check_linearity(repo: &Repository, history: &History, samples: &[Sample], options: &Options) {
    let sizes = sizes(options, history);
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); sizes.len()];
    for (turn, sample) in samples.iter().enumerate() {
        for at in in_turn(turn, sizes.len()) {
            repo.git(&["update-ref", "refs/notes/chronicle", &notes_of_size(sizes[at])]);
            let read = ["read", &sample.path, "--lines", &sample.lines];
            times[at].push(repo.time(&repo.chronicle, &read));
        }
    }
    repo.git(&["update-ref", "refs/notes/chronicle", &notes_of_size(options.n_annotations)]);

    println!("\nread by number of notes");
    let medians: Vec<f64> = times.iter().map(|times| quantile(times, 50).as_secs_f64()).collect();
    for (at, (size, median)) in sizes.iter().zip(&medians).enumerate() {
        let all_in = median * 1e6 / count(*size);
        let more = match at.checked_sub(1) {
            Some(before) => {
                let added = (median - medians[before]) * 1e6 / count(size - sizes[before]);
                format!(", {added:.2} µs per note more")
            }
            None => String::new(),
        };
        println!("  {size:>6} notes {:>9.2} ms {all_in:>9.2} µs per note{more}", median * 1e3);
    }
}

/// A tenth, the asked number, and four times that while commits last.
fn sizes(options: &Options, history: &History) -> Vec<usize> {
    let n = options.n_annotations;
    let wanted = [n / 10, n, 4 * n];
    wanted.into_iter().filter(|size| (1..=history.annotatable().count()).contains(size)).collect()
}

fn notes_of_size(size: usize) -> String {
    format!("refs/bench/notes-{size}")
}

/// One command's times, one for each sample, in the order of the samples.
struct Row {
    name: &'static str,
    /// The first row may take at most this many times as long as this one.
    bar: Option<f64>,
    times: Vec<Duration>,
}

impl Row {
    fn new(name: &'static str, bar: Option<f64>) -> Self {
        Self { name, bar, times: Vec::new() }
    }
}

/// Times each command once; who starts moves on with `turn`, so nobody always follows the slowest.
fn take_turns(repo: &Repository, turn: usize, commands: &[(&Path, &[&str])], rows: &mut [Row]) {
    for at in in_turn(turn, commands.len()) {
        let (program, args) = commands[at];
        rows[at].times.push(repo.time(program, args));
    }
}

fn in_turn(turn: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |at| (turn + at) % n)
}

fn print_table(title: &str, rows: &[Row]) {
    println!("\n{title}; ratios are the first row to each row");
    println!("  {:40} {:>10} {:>10} {:>12} {:>12}", "", "median", "p95", "of medians", "of pairs");
    let ours = &rows[0].times;
    for row in rows {
        let median = quantile(&row.times, 50);
        let ratio = quantile(ours, 50).as_secs_f64() / median.as_secs_f64();
        let of_pairs = median_ratio(ours, &row.times);
        let p95 = quantile(&row.times, 95).as_secs_f64() * 1e3;
        let bar = row.bar.map_or(String::new(), |bar| format!("  bar {bar} {}", verdict(ratio <= bar)));
        println!(
            "  {:40} {:>7.2} ms {p95:>7.2} ms {ratio:>10.2} × {of_pairs:>10.2} ×{bar}",
            row.name,
            median.as_secs_f64() * 1e3,
        );
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "ok" } else { "MISSED" }
}

fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn median_ratio(ours: &[Duration], theirs: &[Duration]) -> f64 {
    let mut ratios: Vec<f64> =
        ours.iter().zip(theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("counts here are small"))
}

// Making the history.

const EMAIL: &str = "bench@example.invalid";
const N_FILES: usize = 620;
/// A note records this many hunks of its commit at most.
const MAX_ENTRIES: usize = 3;
const FIRST_TIMESTAMP: usize = 1_672_531_200;
const SECONDS_PER_COMMIT: usize = 9_000;
const DIRECTORIES: [&str; 16] = [
    "src",
    "src/net",
    "src/net/pool",
    "src/store",
    "src/store/index/pages",
    "src/render",
    "crates/core/src",
    "crates/core/src/parse",
    "crates/wire/src",
    "crates/wire/src/frames/v2",
    "crates/cli/src/commands",
    "crates/cli/tests",
    "web/app/src/components",
    "web/app/src/hooks",
    "tools/release",
    "docs/guide",
];
const WORDS: [&str; 32] = [
    "acquire", "backoff", "buffer", "cache", "channel", "cursor", "deadline", "decode", "encode", "flush",
    "frame", "guard", "header", "index", "journal", "lease", "limit", "merge", "offset", "page", "parse",
    "pool", "queue", "retry", "route", "schema", "session", "shard", "snapshot", "stream", "token", "writer",
];

/// Makes history and notes under `root`, checked out and packed.
fn make_repository(options: &Options, root: &Path) -> (History, Repository) {
    let repo = Repository {
        work_tree: root.join("repository"),
        home: root.join("home"),
        git: find_program("git"),
        nothing: find_program("true"),
        chronicle: options.binary.clone(),
    };
    for directory in [&repo.work_tree, &repo.home] {
        fs::create_dir_all(directory).expect("the directory can be made");
    }
    repo.git(&["init", "--quiet", "--initial-branch=main"]);
    repo.git(&["config", "gc.auto", "0"]);

    let marks = root.join("marks");
    let mut history = History::new(options.n_annotations);
    repo.fast_import(&[&format!("--export-marks={}", marks.display())], |stream| {
        history.write(options.n_commits, stream)
    });
    history.ids = read_marks(&fs::read_to_string(marks).expect("git fast-import writes the marks"));
    for size in sizes(options, &history) {
        repo.fast_import(&[], |stream| history.write_notes(size, stream));
    }
    repo.git(&["update-ref", "refs/notes/chronicle", &notes_of_size(options.n_annotations)]);
    repo.git(&["update-ref", "-d", "refs/heads/side"]);
    repo.git(&["gc", "--quiet"]);
    repo.git(&["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"]);
    repo.git(&["reset", "--hard", "--quiet"]);
    (history, repo)
}

/// Commit ids by mark less one, which is the number of the commit.
fn read_marks(text: &str) -> Vec<String> {
    let mut marks: Vec<(usize, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix(':')?.split_once(' '))
        .map(|(mark, id)| (mark.parse().expect("a mark is a number"), id.to_owned()))
        .collect();
    marks.sort_unstable();
    marks.into_iter().map(|(_, id)| id).collect()
}

/// The made history, and what we know of it without asking git.
struct History {
    random: Random,
    files: Vec<File>,
    hunks: Vec<Hunk>,
    commits: Vec<Commit>,
    ids: Vec<String>,
    n_annotations: usize,
    n_merges: usize,
    /// Sums of the weights by which files are picked, coldest last.
    weights: Vec<usize>,
}

struct File {
    path: String,
    /// Empty before the file's first commit.
    lines: Vec<Line>,
    n_renames: usize,
    deleted: bool,
    /// Only the side branch edits it until the merge, which therefore has no conflicts.
    on_side: bool,
}

struct Line {
    text: String,
    /// The hunk that wrote it; lines of a file's first commit have none.
    hunk: Option<usize>,
}

/// Lines that a commit wrote, numbered as in that commit.
struct Hunk {
    commit: usize,
    path: String,
    lines: Range<usize>,
}

struct Commit {
    subject: String,
    hunks: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Brings half of the files.
    First,
    Main,
    Side,
    Merge,
}

impl History {
    fn new(n_annotations: usize) -> Self {
        let mut random = Random(0x5eed_0c04_0a1c_1e00);
        let weights: Vec<usize> = (0..N_FILES)
            .scan(0, |sum, rank| {
                *sum += 1_000_000 / (rank + 4);
                Some(*sum)
            })
            .collect();
        let files = (0..N_FILES)
            .map(|slot| File {
                path: format!("{}/{}_{slot}.rs", random.pick(&DIRECTORIES), random.pick(&WORDS)),
                lines: Vec::new(),
                n_renames: 0,
                deleted: false,
                on_side: false,
            })
            .collect();
        let (hunks, commits, ids) = (Vec::new(), Vec::new(), Vec::new());
        Self { random, files, hunks, commits, ids, n_annotations, n_merges: 0, weights }
    }

    fn live(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_live())
    }

    /// Writes `n_commits` commits; of every forty, three are on a side branch and one merges it.
    fn write(&mut self, n_commits: usize, stream: &mut dyn Write) -> io::Result<()> {
        let (mut main_tip, mut side_tip) = (None, None);
        for number in 0..n_commits {
            let kind = match number % 40 {
                _ if number == 0 => Kind::First,
                21 | 23 | 26 if side_tip.is_some() => Kind::Side,
                30 if side_tip.is_some() => Kind::Merge,
                _ => Kind::Main,
            };
            let first_hunk = self.hunks.len();
            let changes = self.changes(kind, number, n_commits)?;
            let subject = format!("{}: {}", self.random.pick(&WORDS), self.random.sentence(4));
            let parents = match kind {
                Kind::First | Kind::Main => [main_tip, None],
                Kind::Side => [side_tip, None],
                Kind::Merge => [main_tip, side_tip.take()],
            };
            self.write_header(kind, number, &subject, parents, stream)?;
            stream.write_all(&changes)?;
            self.commits.push(Commit { subject, hunks: first_hunk..self.hunks.len() });
            *(if kind == Kind::Side { &mut side_tip } else { &mut main_tip }) = Some(number);
            if number % 40 == 20 && number + 10 < n_commits {
                side_tip = main_tip;
                self.fork();
            }
        }
        Ok(())
    }

    /// What a commit does to the files, as fast-import commands.
    fn changes(&mut self, kind: Kind, number: usize, n_commits: usize) -> io::Result<Vec<u8>> {
        let mut changes = Vec::new();
        match kind {
            Kind::First => {
                for _ in 0..N_FILES / 2 {
                    self.give_birth(&mut changes)?;
                }
            }
            Kind::Merge => {
                for file in self.files.iter_mut().filter(|file| file.on_side) {
                    file.on_side = false;
                    file.write(&mut changes)?;
                }
                self.n_merges += 1;
            }
            Kind::Main => {
                self.change_names(number, n_commits, &mut changes)?;
                self.edit_some(kind, number, &mut changes)?;
            }
            Kind::Side => self.edit_some(kind, number, &mut changes)?,
        }
        Ok(changes)
    }

    /// Leaves a few files to the side branch.
    fn fork(&mut self) {
        for _ in 0..5 {
            if let Some(slot) = self.pick_file(Kind::Main) {
                self.files[slot].on_side = true;
            }
        }
    }

    /// Edits one to three files, none twice: the second edit would move what the first recorded.
    fn edit_some(&mut self, kind: Kind, number: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        for _ in 0..[1, 1, 1, 2, 2, 3][self.random.below(6)] {
            let n_hunks = 1 + self.random.below(3);
            let Some(slot) = self.pick_file(kind) else { continue };
            let mut ours = self.hunks.iter().rev().take_while(|hunk| hunk.commit == number);
            if ours.all(|hunk| hunk.path != self.files[slot].path) {
                self.edit(slot, n_hunks, number);
                self.files[slot].write(changes)?;
            }
        }
        Ok(())
    }

    fn write_header(
        &mut self,
        kind: Kind,
        number: usize,
        subject: &str,
        parents: [Option<usize>; 2],
        stream: &mut dyn Write,
    ) -> io::Result<()> {
        let name = if kind == Kind::Side { "side" } else { "main" };
        writeln!(stream, "commit refs/heads/{name}\nmark :{}", number + 1)?;
        let timestamp = FIRST_TIMESTAMP + number * SECONDS_PER_COMMIT;
        writeln!(stream, "committer Bench <{EMAIL}> {timestamp} +0000")?;
        let message = format!("{subject}\n\n{}\n", self.random.sentence(20));
        writeln!(stream, "data {}\n{message}", message.len())?;
        for (keyword, parent) in ["from", "merge"].iter().zip(parents) {
            if let Some(parent) = parent {
                writeln!(stream, "{keyword} :{}", parent + 1)?;
            }
        }
        Ok(())
    }

    /// Now and then adds, renames or deletes a file.
    fn change_names(&mut self, number: usize, n_commits: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        let due = |n_times: usize| number % (n_commits / n_times).max(1) == (n_commits / n_times) / 2;
        if due(N_FILES) {
            self.give_birth(changes)?;
        }
        let n_times = usize::from(self.random.below(3) == 0);
        if due(48)
            && let Some(slot) = self.pick_any(|file| file.n_renames == n_times)
        {
            self.rename(slot, number, changes)?;
        }
        if due(25)
            && let Some(slot) = self.pick_any(|file| file.n_renames == 0)
        {
            self.files[slot].deleted = true;
            writeln!(changes, "D {}", self.files[slot].path)?;
        }
        Ok(())
    }

    /// Adds the next file that was never there, if one is left.
    fn give_birth(&mut self, changes: &mut Vec<u8>) -> io::Result<()> {
        let Some(slot) = self.files.iter().position(|file| file.lines.is_empty()) else { return Ok(()) };
        let n_lines = 60 + self.random.below(341);
        self.files[slot].lines =
            (0..n_lines).map(|_| Line { text: self.random.code(), hunk: None }).collect();
        self.files[slot].write(changes)
    }

    /// Moves a file to another directory; every second rename also edits it.
    fn rename(&mut self, slot: usize, number: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        let word = self.random.pick(&WORDS);
        let file = &mut self.files[slot];
        file.n_renames += 1;
        let directory = DIRECTORIES[(slot + 5 * file.n_renames) % DIRECTORIES.len()];
        let path = format!("{directory}/{word}_{slot}_{}.rs", file.n_renames);
        writeln!(changes, "R {} {path}", file.path)?;
        file.path = path;
        if self.random.below(2) == 0 {
            self.edit(slot, 1, number);
            self.files[slot].write(changes)?;
        }
        Ok(())
    }

    /// A file by its weight: a few hot ones take most of the edits.
    fn pick_file(&mut self, kind: Kind) -> Option<usize> {
        (0..500).find_map(|_| {
            let at = self.random.below(self.weights[N_FILES - 1]);
            let slot = self.weights.partition_point(|sum| *sum <= at);
            let file = &self.files[slot];
            (file.is_live() && file.on_side == (kind == Kind::Side)).then_some(slot)
        })
    }

    /// Any file of the main line that `fits`, hot or cold.
    fn pick_any(&mut self, fits: impl Fn(&File) -> bool) -> Option<usize> {
        (0..500).find_map(|_| {
            let slot = self.random.below(N_FILES);
            let file = &self.files[slot];
            (file.is_live() && !file.on_side && fits(file)).then_some(slot)
        })
    }

    /// Replaces `n_hunks` runs of lines, one in each equal part of the file, and notes where.
    fn edit(&mut self, slot: usize, n_hunks: usize, commit: usize) {
        let file = &mut self.files[slot];
        let part = file.lines.len() / n_hunks;
        let (may_shrink, may_grow) = (80 < file.lines.len(), file.lines.len() < 380);
        let mut rest = std::mem::take(&mut file.lines).into_iter();
        for _ in 0..n_hunks {
            let n_before = self.random.below(part - 8);
            let n_removed = if may_shrink { self.random.below(7) } else { 0 };
            let n_added = 1 + self.random.below(if may_grow { 8 } else { 2 });
            file.lines.extend(rest.by_ref().take(n_before));
            rest.by_ref().take(n_removed).for_each(drop);
            let start = file.lines.len() + 1;
            let hunk = Some(self.hunks.len());
            // A brace or an empty line in front might match one that was removed: no hunk then.
            file.lines.push(Line { text: self.random.statement(), hunk });
            file.lines.extend((1..n_added).map(|_| Line { text: self.random.code(), hunk }));
            let lines = start..start + n_added;
            self.hunks.push(Hunk { commit, path: file.path.clone(), lines });
            file.lines.extend(rest.by_ref().take(part - n_before - n_removed));
        }
        file.lines.extend(rest);
    }

    /// Commits that wrote lines, by number.
    fn annotatable(&self) -> impl Iterator<Item = usize> {
        (0..self.commits.len()).filter(|commit| !self.commits[*commit].hunks.is_empty())
    }

    fn evenly_spread(&self, n: usize) -> Vec<usize> {
        let all: Vec<usize> = self.annotatable().collect();
        (0..n).map(|at| all[at * all.len() / n]).collect()
    }

    fn annotated_id(&self, at: usize) -> &str {
        let annotated = self.evenly_spread(self.n_annotations);
        &self.ids[annotated[at % annotated.len()]]
    }

    /// Writes one commit with notes on `size` commits, two digits of their ids as directories.
    fn write_notes(&mut self, size: usize, stream: &mut dyn Write) -> io::Result<()> {
        let timestamp = FIRST_TIMESTAMP + self.commits.len() * SECONDS_PER_COMMIT;
        writeln!(stream, "commit {}", notes_of_size(size))?;
        writeln!(stream, "committer Bench <{EMAIL}> {timestamp} +0000\ndata 0")?;
        for commit in self.evenly_spread(size) {
            let note = format!("{}\n", self.note(commit));
            let (directory, name) = self.ids[commit].split_at(2);
            writeln!(stream, "M 100644 inline {directory}/{name}\ndata {}\n{note}", note.len())?;
        }
        Ok(())
    }

    /// The note that Chronicle would have written about `commit`.
    fn note(&mut self, commit: usize) -> Value {
        let mut annotation = self.annotation(commit);
        for entry in annotation["wisdom"].as_array_mut().into_iter().flatten() {
            entry["id"] = json!(self.random.ulid());
        }
        json!({
            "schema": "chronicle/v3",
            "commit": self.ids[commit],
            "timestamp": timestamp_text(FIRST_TIMESTAMP + commit * SECONDS_PER_COMMIT),
            "summary": annotation["summary"],
            "wisdom": annotation["wisdom"],
            "provenance": { "source": "live", "author": format!("Bench <{EMAIL}>") },
        })
    }

    /// What an agent would say about `commit`: words about its first hunks, 1.5 KB as a note.
    fn annotation(&mut self, commit: usize) -> Value {
        let Commit { subject, hunks } = &self.commits[commit];
        let recorded = hunks.start..hunks.end.min(hunks.start + MAX_ENTRIES);
        let n_words = 145 / recorded.len().max(1) - 15;
        let summary = format!("{subject}, since {}", self.random.sentence(14));
        let wisdom: Vec<Value> = recorded
            .map(|hunk| {
                let Hunk { path, lines, .. } = &self.hunks[hunk];
                json!({
                    "category": self.random.pick(&["gotcha", "dead_end", "insight", "unfinished_thread"]),
                    "content": self.random.sentence(n_words),
                    "file": path,
                    "lines": { "start": lines.start, "end": lines.end - 1 },
                })
            })
            .collect();
        json!({ "summary": summary, "wisdom": wisdom })
    }

    /// Thirty lines each of files at HEAD.
    ///
    /// Files are picked by their weight, since people ask about what changes, and
    /// every seventh is one that was renamed. Every second range is drawn until
    /// it holds a recorded line: a read that finds nothing costs too little.
    fn samples(&mut self, options: &Options) -> Vec<Sample> {
        let annotated: HashSet<usize> = self.evenly_spread(options.n_annotations).into_iter().collect();
        (0..options.n_pairs)
            .map(|turn| {
                let n_tries = if turn % 2 == 0 { 1000 } else { 1 };
                let mut sample = self.draw(turn % 7 == 0, &annotated);
                for _ in 1..n_tries {
                    if sample.holds_recorded {
                        break;
                    }
                    sample = self.draw(turn % 7 == 0, &annotated);
                }
                sample
            })
            .collect()
    }

    fn draw(&mut self, renamed: bool, annotated: &HashSet<usize>) -> Sample {
        let picked = if renamed { self.pick_any(|file| 0 < file.n_renames) } else { None };
        let slot = picked.or_else(|| self.pick_file(Kind::Main)).expect("some files are live at HEAD");
        let file = &self.files[slot];
        let start = self.random.below(file.lines.len() - 29);
        let holds_recorded = file.lines[start..start + 30].iter().filter_map(|line| line.hunk).any(|hunk| {
            let commit = self.hunks[hunk].commit;
            annotated.contains(&commit) && hunk - self.commits[commit].hunks.start < MAX_ENTRIES
        });
        let lines = format!("{}:{}", start + 1, start + 30);
        Sample { path: file.path.clone(), lines, renamed: 0 < file.n_renames, holds_recorded }
    }
}

impl File {
    fn is_live(&self) -> bool {
        !self.deleted && !self.lines.is_empty()
    }

    fn write(&self, changes: &mut Vec<u8>) -> io::Result<()> {
        let n_bytes: usize = self.lines.iter().map(|line| line.text.len() + 1).sum();
        writeln!(changes, "M 100644 inline {}\ndata {n_bytes}", self.path)?;
        for line in &self.lines {
            writeln!(changes, "{}", line.text)?;
        }
        writeln!(changes)
    }
}

/// RFC 3339 in UTC; the calendar by Howard Hinnant's `civil_from_days`.
fn timestamp_text(seconds: usize) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + usize::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// SplitMix64: the same history on every machine and with every version of everything.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let n = u64::try_from(n).expect("usize has at most 64 bits");
        usize::try_from((z ^ (z >> 31)) % n).expect("less than a usize")
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn sentence(&mut self, n_words: usize) -> String {
        let words: Vec<&str> = (0..n_words).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }

    /// A line of made code; one in eight is a brace or empty, as such lines make diffs hard.
    fn code(&mut self) -> String {
        match self.below(16) {
            0 => String::new(),
            1 => "    }".to_owned(),
            _ => self.statement(),
        }
    }

    fn statement(&mut self) -> String {
        let indent = "    ".repeat(1 + self.below(3));
        let (left, right, number) = (self.pick(&WORDS), self.pick(&WORDS), self.below(100_000));
        format!("{indent}let {left} = {right}.{}({number});", self.pick(&WORDS))
    }

    fn ulid(&mut self) -> String {
        let digits = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let tail = (0..22).map(|_| char::from(self.pick(digits)));
        "01JG".chars().chain(tail).collect()
    }
}
