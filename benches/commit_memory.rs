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
//! What measures comes first, what is noted and asked about the history second.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]

mod measure;

use std::collections::HashSet;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use measure::{
    history::{Commit, FIRST_TIMESTAMP, History, Hunk, Kind, SECONDS_PER_COMMIT},
    random::timestamp_text,
    repository::{EMAIL, Repository, count_git_processes},
    times::{Row, count, in_turn, print_table, quantile, take_turns, verdict},
};

/// A note records this many hunks of its commit at most.
const MAX_ENTRIES: usize = 3;

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

    let n_answered = show_and_count_answers(&repo, &history, options.n_annotations, &samples);
    let n_git = count_git_processes(&repo, &["read", &samples[0].path, "--lines", &samples[0].lines]);
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

/// Some lines of a file at HEAD that somebody asks about.
struct Sample {
    path: String,
    lines: String,
    renamed: bool,
    /// Whether a line that an entry records still stands in the range.
    holds_recorded: bool,
}

/// Prints one answer in full; returns for how many samples there is one.
fn show_and_count_answers(
    repo: &Repository,
    history: &History,
    n_annotations: usize,
    samples: &[Sample],
) -> usize {
    let sample = samples.iter().find(|sample| sample.holds_recorded).unwrap_or(&samples[0]);
    let read = ["read", &sample.path, "--lines", &sample.lines];
    println!("$ git chronicle {}\n{}", read.join(" "), repo.output(&repo.chronicle, &read));
    let show = ["show", history.annotated_id(n_annotations, 0)];
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
        let commit_id = history.annotated_id(options.n_annotations, turn * 7);
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

/// Makes history and notes under `root`, checked out and packed.
fn make_repository(options: &Options, root: &Path) -> (History, Repository) {
    let (mut history, repo) = measure::history::make_repository(root, &options.binary, options.n_commits);
    for size in sizes(options, &history) {
        repo.fast_import(&[], |stream| history.write_notes(size, stream));
    }
    repo.git(&["update-ref", "refs/notes/chronicle", &notes_of_size(options.n_annotations)]);
    repo.git(&["gc", "--quiet"]);
    repo.git(&["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"]);
    repo.git(&["reset", "--hard", "--quiet"]);
    (history, repo)
}

// What is noted and asked about a made history.

impl History {
    /// Commits that wrote lines, by number.
    fn annotatable(&self) -> impl Iterator<Item = usize> {
        (0..self.commits.len()).filter(|commit| !self.commits[*commit].hunks.is_empty())
    }

    fn evenly_spread(&self, n: usize) -> Vec<usize> {
        let all: Vec<usize> = self.annotatable().collect();
        (0..n).map(|at| all[at * all.len() / n]).collect()
    }

    fn annotated_id(&self, n_annotations: usize, at: usize) -> &str {
        let annotated = self.evenly_spread(n_annotations);
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
