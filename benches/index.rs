//! Reading through the index against git itself, on a real or a made repository.
//!
//! `cargo bench --bench index -- [--repository DIR] [--annotations N] [--pairs N]
//! [--binary FILE] [--keep DIR] [--scale]`
//!
//! The repository is cloned, never written to; without one a history of 12,000
//! commits is made. Up to N commits get a made annotation about real hunks of
//! theirs, from a fixed seed. Git is measured at its best, with a commit-graph and
//! changed-path filters, and once without.
//!
//! Whole processes are timed, from spawn to wait, output thrown away. The commands
//! take turns within each sample, so a busy moment of the machine hits all of them.
//! Commands that the binary does not have are skipped and said to be.
//!
//! Missed bars are printed, not failed, since a busy machine misses them too.
//! Exit code 1 means that the figures would lie: most reads found nothing, or the
//! index answers otherwise than the repository itself does.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]

#[path = "index/answers.rs"]
mod answers;
#[path = "index/figures.rs"]
mod figures;
mod measure;
#[path = "index/notes.rs"]
mod notes;
#[path = "index/pairs.rs"]
mod pairs;
#[path = "index/refresh.rs"]
mod refresh;
#[path = "index/scale.rs"]
mod scale;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tempfile::TempDir;

use measure::{
    history,
    random::Random,
    repository::{Repository, find_program},
};

/// Left without a note, to be annotated while the clock runs.
const N_SPARE: usize = 40;
const N_MADE_COMMITS: usize = 12_000;
const SEED: u64 = 0x5eed_0c04_0a1c_1e03;

fn main() -> ExitCode {
    let mut args: Vec<String> = env::args().skip(1).collect();
    let by_cargo_bench = args.iter().any(|arg| arg == "--bench");
    args.retain(|arg| arg != "--bench");
    if !by_cargo_bench {
        println!("nothing measured: run `cargo bench --bench index`");
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
    let mut random = Random(SEED);
    let repo = match &options.repository {
        Some(origin) => clone_repository(origin, &root, &options.binary),
        None => made_repository(&root, &options.binary, N_MADE_COMMITS),
    };
    let candidates = notes::candidates(&repo, &root, &mut random);
    let (spare, annotated) = spare(notes::evenly_spread(&candidates, options.n_annotations + N_SPARE));
    let written = notes::write(&repo, &annotated, &mut random);
    println!(
        "{}: {} commits, {} annotations of {} bytes on average",
        repo.work_tree.display(),
        repo.git(&["rev-list", "--count", "HEAD"]).trim(),
        written.n_notes,
        written.n_bytes / written.n_notes,
    );

    refresh::rebuild(&repo, &written);
    let pairs = pairs::draw(&repo, options.n_pairs, &mut random);
    let share = answers::share_answered(&repo, &pairs);
    figures::print(&repo, &pairs, &mut random);
    figures::count_instructions(&repo, &pairs);
    refresh::after_a_note(&repo, &pairs, &spare, &mut random);
    refresh::after_a_switch(&repo, &written);
    refresh::first_check(&repo);
    let equal = answers::compare_with_direct(&repo, &pairs, &mut random);
    if options.scale {
        scale::print(&root.join("scale"), &options.binary, options.n_pairs, &mut random);
    }
    if 0.5 <= share && equal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Takes out, evenly, the commits that are to stay without a note.
fn spare(candidates: Vec<&notes::Candidate>) -> (Vec<&notes::Candidate>, Vec<&notes::Candidate>) {
    let every = (candidates.len() / N_SPARE).max(2);
    let (spare, rest): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .enumerate()
        .partition(|(at, _)| at % every == every / 2 && at / every < N_SPARE);
    let without_number = |list: Vec<(usize, _)>| list.into_iter().map(|(_, candidate)| candidate).collect();
    (without_number(spare), without_number(rest))
}

/// A clone of `origin` at its HEAD, with files missing where a partial clone lacks them.
fn clone_repository(origin: &Path, root: &Path, binary: &Path) -> Repository {
    let repo = Repository::new(root, binary);
    let origin = origin.display().to_string();
    repo.git(&["clone", "--quiet", "--local", "--no-checkout", &origin, "."]);
    repo.git(&["config", "gc.auto", "0"]);
    repo.git(&["read-tree", "HEAD"]);
    let checkout = ["checkout-index", "--all", "--force", "--quiet"];
    repo.command(&repo.git, &checkout).output().expect("git checkout-index starts");
    repo.git(&["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"]);
    repo
}

fn made_repository(root: &Path, binary: &Path, n_commits: usize) -> Repository {
    let (_, repo) = history::make_repository(root, binary, n_commits);
    repo.git(&["gc", "--quiet"]);
    repo.git(&["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"]);
    repo.git(&["reset", "--hard", "--quiet"]);
    repo
}

struct Options {
    repository: Option<PathBuf>,
    n_annotations: usize,
    n_pairs: usize,
    keep: Option<PathBuf>,
    binary: PathBuf,
    scale: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self {
            repository: None,
            n_annotations: 10_000,
            n_pairs: 100,
            keep: None,
            binary: PathBuf::from(env!("CARGO_BIN_EXE_git-chronicle")),
            scale: false,
        };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            if flag == "--scale" {
                options.scale = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
            let number =
                || value.parse().ok().filter(|n| 0 < *n).ok_or_else(|| format!("`{value}` is not a count"));
            match flag.as_str() {
                "--repository" => options.repository = Some(absolute(value)?),
                "--annotations" => options.n_annotations = number()?,
                "--pairs" => options.n_pairs = number()?,
                "--keep" => options.keep = Some(absolute(value)?),
                "--binary" => options.binary = absolute(value)?,
                _ => return Err(format!("unknown option `{flag}`")),
            }
        }
        if options.keep.as_ref().is_some_and(|directory| directory.join("repository").exists()) {
            return Err("the directory to keep it in holds a repository already".into());
        }
        Ok(options)
    }
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("`{path}`: {error}"))
}

/// Whether the measured binary has a command of this name.
fn has_command(repo: &Repository, name: &str) -> bool {
    let output = repo.command(&repo.chronicle, &[name, "--help"]).output();
    output.expect("the binary starts").status.success()
}

fn shell() -> PathBuf {
    find_program("sh")
}
