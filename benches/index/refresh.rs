//! What the index costs to make anew, and the first read after something changed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::figures::met;
use crate::measure::random::Random;
use crate::measure::repository::{Repository, count_git_processes};
use crate::measure::times::{count, quantile};
use crate::notes::{self, Candidate, Written};
use crate::pairs::{self, Pair};
use crate::shell;

const MOST_REBUILD_SECONDS: f64 = 5.0;
const MOST_BYTES: f64 = 2048.0;
/// One table for the present HEAD counts besides.
const MOST_BYTES_OF_OVERLAY: f64 = 512.0;
const MOST_AFTER_NOTE: f64 = 3.0;
const MOST_AFTER_SWITCH: f64 = 5.0;
const N_SWITCHES: usize = 20;
/// Where a first read makes the whole index anew, a few samples say enough.
const LONGEST_SERIES: Duration = Duration::from_secs(60);
/// How far back a switch goes.
const SWITCH_BACK: usize = 50;
/// How far back a range begins that is checked for the first time: further than any switch.
const CHECK_BACK: usize = 100;
const WANTED_ENTRIES: usize = 20;

/// Reads without an index, which makes it, and weighs what remains.
pub(crate) fn rebuild(repo: &Repository, written: &Written) {
    let path = pairs::files(repo).swap_remove(0).0;
    let read = ["read", path.as_str()];
    let index = repo.work_tree.join(".git/chronicle/facts");
    let forget = || drop(fs::remove_dir_all(&index));
    forget();
    let n_git = count_git_processes(repo, &read);
    forget();
    let (spent, warming) = cpu_time(repo, &read);
    let second = repo.time(&repo.chronicle, &read);
    let seconds = spent.as_secs_f64();
    println!("\nmaking the index");
    println!(
        "  {seconds:.2} s CPU (bar {MOST_REBUILD_SECONDS}: {}), {n_git} git processes (bar 1: {})",
        met(seconds <= MOST_REBUILD_SECONDS),
        met(n_git <= 1),
    );
    println!(
        "  the first read took {:.0} ms and is not counted below; the second {:.2} ms",
        warming.as_secs_f64() * 1e3,
        second.as_secs_f64() * 1e3,
    );
    let n_bytes = size(&index);
    let each = count(n_bytes) / count(written.n_notes);
    let bar = MOST_BYTES + MOST_BYTES_OF_OVERLAY;
    println!("  {n_bytes} bytes, {each:.0} per annotation (bar {bar}: {})", met(each <= bar));
}

/// User and system time of one run of our binary and what it waited for, and how long it took.
///
/// The shell's `times` tells, since the standard library does not.
fn cpu_time(repo: &Repository, args: &[&str]) -> (Duration, Duration) {
    let chronicle = repo.chronicle.display().to_string();
    let script = r#""$@" >/dev/null 2>&1; times"#;
    let command: Vec<&str> =
        ["-c", script, "sh", &chronicle].into_iter().chain(args.iter().copied()).collect();
    let started = Instant::now();
    let report = repo.output(&shell(), &command);
    let taken = started.elapsed();
    let children = report.lines().nth(1).expect("`times` prints a line for the children");
    let parsed = |time| parse_time(time).expect("times look like `0m1.23s`");
    (children.split_whitespace().map(parsed).sum(), taken)
}

fn parse_time(text: &str) -> Option<Duration> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    let seconds = minutes.parse::<f64>().ok()? * 60.0 + seconds.replace(',', ".").parse::<f64>().ok()?;
    Some(Duration::from_secs_f64(seconds))
}

fn size(directory: &Path) -> usize {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            let n_bytes = usize::try_from(metadata.len()).expect("an index fits into memory");
            Some(if metadata.is_dir() { size(&entry.path()) } else { n_bytes })
        })
        .sum()
}

/// Annotates, reads twice, and takes the difference; by ourselves and by git behind our back.
pub(crate) fn after_a_note(repo: &Repository, pairs: &[Pair], spare: &[&Candidate], random: &mut Random) {
    println!("\nfirst read after one new note, more than the second");
    let (by_us, by_git) = spare.split_at(spare.len() / 2);
    let started = Instant::now();
    let by_us: Vec<(Duration, Duration)> = by_us
        .iter()
        .zip(pairs)
        .take_while(|_| started.elapsed() < LONGEST_SERIES)
        .map(|(candidate, pair)| {
            let text = notes::annotation(candidate, random);
            let args = ["annotate", "--json", &text, "--commit", &candidate.commit_id];
            repo.output(&repo.chronicle, &args);
            read_twice(repo, pair)
        })
        .collect();
    print_more("after `git chronicle annotate`", &by_us, MOST_AFTER_NOTE);
    let started = Instant::now();
    let by_git: Vec<(Duration, Duration)> = by_git
        .iter()
        .zip(pairs)
        .take_while(|_| started.elapsed() < LONGEST_SERIES)
        .map(|(candidate, pair)| {
            let text = notes::note(candidate, &[candidate], random).to_string();
            repo.git(&["notes", "--ref=chronicle", "add", "-m", &text, &candidate.commit_id]);
            read_twice(repo, pair)
        })
        .collect();
    print_more("after `git notes add`", &by_git, MOST_AFTER_NOTE);
}

/// Switches to commits never read at, about fifty back, and home again.
pub(crate) fn after_a_switch(repo: &Repository, written: &Written) {
    let paths = files_with_entries(repo, written);
    let n_entries = paths.iter().map(|path| written.n_entries_by_path[path]);
    let (Some(fewest), Some(most)) = (n_entries.clone().min(), n_entries.max()) else {
        println!("\nskipped: branch switch, since no file stays that has entries");
        return;
    };
    let home = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    println!(
        "\nfirst read after a switch, more than the second; {} files of which {fewest} to {most} entries speak",
        paths.len()
    );
    let switch_and_read = |commit: &str, path: &str| {
        repo.git(&["checkout", "--quiet", "--detach", commit]);
        read_file_twice(repo, path)
    };
    let (mut away, mut back) = (Vec::new(), Vec::new());
    let started = Instant::now();
    for turn in 0..N_SWITCHES {
        if LONGEST_SERIES < started.elapsed() {
            break;
        }
        let path = &paths[turn % paths.len()];
        away.push(switch_and_read(&format!("{home}~{}", SWITCH_BACK + turn), path));
        back.push(switch_and_read(&home, path));
    }
    print_more("to a commit never read at", &away, MOST_AFTER_SWITCH);
    print_more("and back", &back, MOST_AFTER_SWITCH);
}

/// Checks a range that begins where nothing was asked before: what is known of its files is brought up to date.
pub(crate) fn first_check(repo: &Repository) {
    let range = format!("HEAD~{CHECK_BACK}..HEAD");
    let n_files = repo.git(&["diff", "--name-only", &range]).lines().count();
    let git = repo.time(&repo.git, &["diff", &range]);
    let [first, second] = [(); 2].map(|()| repo.time(&repo.chronicle, &["check", "--diff", &range]));
    println!(
        "\nfirst `check --diff {range}`, {n_files} files: {:.2} s, the second {:.0} ms; `git diff` {:.0} ms",
        first.as_secs_f64(),
        second.as_secs_f64() * 1e3,
        git.as_secs_f64() * 1e3,
    );
}

/// Files of all commits in question, of which about twenty entries speak.
fn files_with_entries(repo: &Repository, written: &Written) -> Vec<String> {
    let oldest = format!("HEAD~{}", SWITCH_BACK + N_SWITCHES);
    let long_there = repo.git(&["ls-tree", "-r", "-z", "--name-only", &oldest]);
    let long_there: Vec<&str> = long_there.split('\0').collect();
    let mut paths: Vec<String> = pairs::files(repo).into_iter().map(|(path, _)| path).collect();
    paths.retain(|path| long_there.contains(&path.as_str()) && written.n_entries_by_path.contains_key(path));
    paths.sort_by_key(|path| written.n_entries_by_path[path].abs_diff(WANTED_ENTRIES));
    paths.truncate(N_SWITCHES);
    paths
}

fn read_twice(repo: &Repository, pair: &Pair) -> (Duration, Duration) {
    let lines = pair.lines();
    let read = ["read", pair.path.as_str(), "--lines", &lines];
    (repo.time(&repo.chronicle, &read), repo.time(&repo.chronicle, &read))
}

fn read_file_twice(repo: &Repository, path: &str) -> (Duration, Duration) {
    (repo.time(&repo.chronicle, &["read", path]), repo.time(&repo.chronicle, &["read", path]))
}

fn print_more(title: &str, times: &[(Duration, Duration)], bar: f64) {
    let (first, second): (Vec<Duration>, Vec<Duration>) = times.iter().copied().unzip();
    let milliseconds = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e3;
    let more = milliseconds(&first, 50) - milliseconds(&second, 50);
    println!(
        "  {title:32} {more:>7.2} ms more (bar {bar} ms: {}); first {:.2} ms (p95 {:.2}), second {:.2} ms, n {}",
        met(more <= bar),
        milliseconds(&first, 50),
        milliseconds(&first, 95),
        milliseconds(&second, 50),
        times.len(),
    );
}
