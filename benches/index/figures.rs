//! Our commands and git's in one interleaved run, and instruction counts.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::has_command;
use crate::measure::random::Random;
use crate::measure::repository::{Repository, search_path};
use crate::measure::times::{in_turn, quantile};
use crate::pairs::{Edited, Pair};

const REV_PARSE: &str = "git rev-parse HEAD";
const READ: &str = "read FILE --lines A:B";
const READ_EDITED: &str = "read FILE --lines A:B, edited";
const CHECK_STAGED: &str = "check --staged";
const DIFF_STAGED: &str = "git diff --cached";
const DIFF_RANGE: &str = "git diff RANGE";
/// How many files are staged when that is checked.
const N_STAGED: usize = 20;
const BLAME: &str = "git blame -L";
const BLAME_PLAIN: &str = "git blame -L, no commit-graph";
/// The most instructions of a read, as a multiple of those of `git rev-parse HEAD`.
const MOST_INSTRUCTIONS: f64 = 4.0;
/// Callgrind is fifty times slower, and counts the same every time.
const N_COUNTED: usize = 5;

/// One command about one pair.
struct Call {
    name: &'static str,
    by_git: bool,
    args: Vec<String>,
    /// Where it runs, when that is not the repository's own working tree.
    directory: Option<PathBuf>,
}

impl Call {
    fn new(name: &'static str, args: &[&str]) -> Self {
        Self {
            name,
            by_git: name.starts_with("git "),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            directory: None,
        }
    }

    fn time(&self, repo: &Repository) -> Duration {
        let program = if self.by_git { &repo.git } else { &repo.chronicle };
        let directory = self.directory.as_deref().unwrap_or(&repo.work_tree);
        repo.time_in(directory, program, &self.args())
    }

    fn args(&self) -> Vec<&str> {
        self.args.iter().map(String::as_str).collect()
    }
}

/// A ratio of medians that is promised.
struct Bar {
    name: &'static str,
    against: &'static str,
    limit: f64,
}

const BARS: [Bar; 8] = [
    Bar { name: READ, against: REV_PARSE, limit: 1.5 },
    Bar { name: "read FILE ANCHOR", against: REV_PARSE, limit: 2.0 },
    Bar { name: "deps FILE", against: REV_PARSE, limit: 2.0 },
    Bar { name: "why FILE:LINE", against: REV_PARSE, limit: 2.0 },
    Bar { name: "summary DIR", against: REV_PARSE, limit: 10.0 },
    Bar { name: CHECK_STAGED, against: REV_PARSE, limit: 5.0 },
    Bar { name: "check --diff RANGE", against: REV_PARSE, limit: 5.0 },
    Bar { name: READ_EDITED, against: READ, limit: 1.3 },
];
/// How many times faster than blame a read has to be.
const LEADS: [(&str, f64); 2] = [(BLAME, 8.0), (BLAME_PLAIN, 25.0)];

/// Times each command on each pair and prints medians, 95th percentiles and the bars.
pub(crate) fn print(repo: &Repository, pairs: &[Pair], random: &mut Random) {
    let shared = shared_calls(repo);
    let with_outline = has_command(repo, "outline");
    if !with_outline {
        println!("skipped: `read FILE ANCHOR`, since the binary has no `outline`");
    }
    let mut names = Vec::new();
    let mut times: HashMap<&str, Vec<Duration>> = HashMap::new();
    for (turn, pair) in pairs.iter().enumerate() {
        let anchored = if with_outline { anchored_read(repo, pair, random) } else { None };
        let mut calls = calls(repo, pair, turn == 0);
        calls.extend(anchored);
        let calls: Vec<&Call> = calls.iter().chain(&shared).collect();
        if turn == 0 {
            names.extend(calls.iter().map(|call| call.name));
            // The first of each warms the caches of the system.
            for call in &calls {
                call.time(repo);
            }
        }
        for at in in_turn(turn, calls.len()) {
            times.entry(calls[at].name).or_default().push(calls[at].time(repo));
        }
        let edited = Edited::new(repo, &pair.path, random);
        times.entry(READ_EDITED).or_default().push(calls[1].time(repo));
        drop(edited);
    }
    names.push(READ_EDITED);
    if times.contains_key("read FILE ANCHOR") && !names.contains(&"read FILE ANCHOR") {
        names.push("read FILE ANCHOR");
    }
    print_rows(&names, &times);
}

fn print_rows(names: &[&str], times: &HashMap<&str, Vec<Duration>>) {
    let median = |name: &str| quantile(&times[name], 50).as_secs_f64();
    println!("\none interleaved run; ratios are of medians");
    println!("  {:32} {:>10} {:>10} {:>4} {:>12}", "", "median", "p95", "n", "of rev-parse");
    for &name in names {
        let bar = BARS.iter().find(|bar| bar.name == name).map_or(String::new(), |bar| {
            let ratio = median(name) / median(bar.against);
            format!("  {ratio:.2} × {} (bar {}: {})", bar.against, bar.limit, met(ratio <= bar.limit))
        });
        println!(
            "  {name:32} {:>7.2} ms {:>7.2} ms {:>4} {:>10.2} ×{bar}",
            median(name) * 1e3,
            quantile(&times[name], 95).as_secs_f64() * 1e3,
            times[name].len(),
            median(name) / median(REV_PARSE),
        );
    }
    for (name, limit) in LEADS {
        let ratio = median(name) / median(READ);
        println!("  {READ} is {ratio:.1} × faster than {name} (bar {limit}: {})", met(limit <= ratio));
    }
    let spread = quantile(&times[READ], 95).as_secs_f64() / median(READ);
    println!("  p95 of {READ} is {spread:.2} × its median (bar 2: {})", met(spread <= 2.0));
}

pub(crate) fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}

/// What is asked about each pair; says once what the binary does not have.
fn calls(repo: &Repository, pair: &Pair, says: bool) -> Vec<Call> {
    let path = pair.path.as_str();
    let blamed = format!("{},{}", pair.start, pair.end);
    let place = format!("{path}:{}", pair.start + 15);
    let mut calls = vec![
        Call::new(REV_PARSE, &["rev-parse", "HEAD"]),
        Call::new(READ, &["read", path, "--lines", &pair.lines()]),
        Call::new("read FILE", &["read", path]),
        Call::new(BLAME, &["blame", "-L", &blamed, "--", path]),
        Call::new(BLAME_PLAIN, &["-c", "core.commitGraph=false", "blame", "-L", &blamed, "--", path]),
    ];
    for (command, call) in [
        ("deps", Call::new("deps FILE", &["deps", path])),
        ("why", Call::new("why FILE:LINE", &["why", &place])),
    ] {
        if has_command(repo, command) {
            calls.push(call);
        } else if says {
            println!("skipped: the binary has no `{command}`");
        }
    }
    calls
}

/// What is asked about the repository rather than a pair.
fn shared_calls(repo: &Repository) -> Vec<Call> {
    let mut calls = Vec::new();
    if has_command(repo, "summary") {
        let (directory, n_files) = directory_of_hundred(repo);
        println!("summary DIR: `{directory}` has {n_files} files");
        calls.push(Call::new("summary DIR", &["summary", &directory]));
    } else {
        println!("skipped: the binary has no `summary`");
    }
    if has_command(repo, "check") {
        let (range, n_files) = range_of_twenty(repo);
        println!("check --diff RANGE: `{range}` touches {n_files} files");
        calls.push(Call::new("check --diff RANGE", &["check", "--diff", &range]));
        calls.push(Call::new(DIFF_RANGE, &["diff", &range]));
        let directory = staged(repo);
        for (name, args) in [(CHECK_STAGED, ["check", "--staged"]), (DIFF_STAGED, ["diff", "--cached"])] {
            calls.push(Call { directory: Some(directory.clone()), ..Call::new(name, &args) });
        }
    } else {
        println!("skipped: the binary has no `check`");
    }
    calls
}

/// The directory whose number of files, those below it included, is nearest to a hundred.
fn directory_of_hundred(repo: &Repository) -> (String, usize) {
    let mut n_files: HashMap<String, usize> = HashMap::new();
    for path in repo.git(&["ls-files", "-z"]).split('\0') {
        for (at, _) in path.match_indices('/') {
            *n_files.entry(path[..at].to_owned()).or_default() += 1;
        }
    }
    let mut all: Vec<(String, usize)> = n_files.into_iter().collect();
    all.sort_unstable();
    all.into_iter().min_by_key(|(_, n)| n.abs_diff(100)).unwrap_or_else(|| (".".into(), 0))
}

/// A working tree of the same commit in which files are staged that were edited in three places each.
fn staged(repo: &Repository) -> PathBuf {
    let directory = repo.work_tree.with_file_name("staged");
    let path = directory.display().to_string();
    repo.git(&["worktree", "add", "--quiet", "--detach", &path, "HEAD"]);
    let files: Vec<String> = crate::pairs::files(repo).into_iter().map(|(path, _)| path).collect();
    let mut random = Random(N_STAGED as u64);
    for file in files.iter().step_by((files.len() / N_STAGED).max(1)).take(N_STAGED) {
        let full = directory.join(file);
        let content = fs::read_to_string(&full).expect("only UTF-8 files are asked about");
        let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
        for _ in 0..3 {
            let at = random.below(lines.len());
            lines[at] = random.statement();
        }
        fs::write(full, lines.join("\n") + "\n").expect("the working tree is writable");
    }
    // Git and we trust times of files that are older than the index alone.
    std::thread::sleep(Duration::from_secs(2));
    repo.git(&["-C", &path, "add", "--all"]);
    directory
}

fn range_of_twenty(repo: &Repository) -> (String, usize) {
    (1..200)
        .map(|n| {
            let range = format!("HEAD~{n}..HEAD");
            let n_files = repo.git(&["diff", "--name-only", &range]).lines().count();
            (range, n_files)
        })
        .find(|(_, n_files)| 20 <= *n_files)
        .expect("200 commits touch 20 files")
}

/// A read about one item of the file, asked once before so that the outline is cached.
fn anchored_read(repo: &Repository, pair: &Pair, random: &mut Random) -> Option<Call> {
    let output = repo.command(&repo.chronicle, &["outline", &pair.path, "--format", "json"]).output().ok()?;
    let outline: Value = serde_json::from_slice(&output.stdout).ok()?;
    let items = outline["items"].as_array().filter(|items| !items.is_empty())?;
    let anchor = items[random.below(items.len())]["name"].as_str()?;
    let call = Call::new("read FILE ANCHOR", &["read", &pair.path, "--anchor", anchor]);
    let first = repo.command(&repo.chronicle, &call.args()).output().ok()?;
    first.status.success().then_some(call)
}

/// Counts the instructions of a few reads, where callgrind is installed.
pub(crate) fn count_instructions(repo: &Repository, pairs: &[Pair]) {
    let Some(valgrind) = env::split_paths(&search_path())
        .map(|directory| directory.join("valgrind"))
        .find(|path| path.is_file())
    else {
        println!("\nskipped: instruction counts, since `valgrind` is not installed");
        return;
    };
    let git = repo.git.display().to_string();
    let chronicle = repo.chronicle.display().to_string();
    let Some(base) = instructions(repo, &valgrind, &[&git, "rev-parse", "HEAD"]) else {
        println!("\nskipped: instruction counts, since callgrind reported none");
        return;
    };
    let mut counts: Vec<f64> = pairs
        .iter()
        .take(N_COUNTED)
        .filter_map(|pair| {
            let lines = pair.lines();
            instructions(repo, &valgrind, &[&chronicle, "read", &pair.path, "--lines", &lines])
        })
        .collect();
    counts.sort_unstable_by(f64::total_cmp);
    let median = counts[counts.len() / 2];
    let ratio = median / base;
    println!("\ninstructions in user space, median of {} reads", counts.len());
    println!(
        "  {READ}: {:.2} M, {REV_PARSE}: {:.2} M, {ratio:.2} × (bar {MOST_INSTRUCTIONS}: {})",
        median / 1e6,
        base / 1e6,
        met(ratio <= MOST_INSTRUCTIONS),
    );
}

fn instructions(repo: &Repository, valgrind: &Path, command: &[&str]) -> Option<f64> {
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let args: Vec<&str> = options.iter().chain(command).copied().collect();
    let output = repo.command(valgrind, &args).output().ok()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let (_, collected) = report.split_once("Collected : ")?;
    collected.split_whitespace().next()?.parse().ok()
}
