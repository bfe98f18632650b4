//! Reading with a hundred times the annotations.
//!
//! The same files are asked about in two clones of one made history. All of the
//! more annotations speak of other files, so both give the same answers: what is
//! left is what the size of the index costs.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::figures::met;
use crate::measure::random::Random;
use crate::measure::repository::Repository;
use crate::measure::times::{in_turn, quantile};
use crate::{clone_repository, made_repository, notes};

const FEW: usize = 1_000;
const MANY: usize = 100_000;
/// Enough that 100,000 commits touch none of the files asked about.
const N_COMMITS: usize = 125_000;
const MOST_GROWTH: f64 = 1.3;

/// Makes the history, which takes minutes, and prints the two medians.
pub(crate) fn print(root: &Path, binary: &Path, n_pairs: usize, random: &mut Random) {
    let origin = made_repository(&root.join("origin"), binary, N_COMMITS);
    let candidates = notes::candidates(&origin, root, random);
    let (asked, few) = ask_about(&candidates, random);
    let (few_set, asked_set): (HashSet<&str>, HashSet<&str>) = (
        few.iter().map(|candidate| candidate.commit_id.as_str()).collect(),
        asked.iter().map(String::as_str).collect(),
    );
    let many: Vec<&notes::Candidate> = candidates
        .iter()
        .filter(|candidate| {
            few_set.contains(candidate.commit_id.as_str())
                || !candidate.paths.iter().any(|path| asked_set.contains(path.as_str()))
        })
        .take(MANY)
        .collect();
    let sizes = [&few, &many].map(|annotated| {
        let name = format!("with-{}", annotated.len());
        let repo = clone_repository(&origin.work_tree, &root.join(name), binary);
        let written = notes::write(&repo, annotated, &mut Random(1));
        (repo, written.n_notes)
    });
    for (repo, _) in &sizes {
        make_index(repo, &asked[0]);
    }
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    for turn in 0..n_pairs {
        let path = &asked[random.below(asked.len())];
        for at in in_turn(turn, 2) {
            let taken = sizes[at].0.time(&sizes[at].0.chronicle, &["read", path, "--lines", "11:40"]);
            times[at].push(taken);
        }
    }
    let medians = [0, 1].map(|at| quantile(&times[at], 50).as_secs_f64());
    let ratio = medians[1] / medians[0];
    println!("\nread FILE --lines A:B by number of annotations, the same answers");
    for (median, (_, n_notes)) in medians.iter().zip(&sizes) {
        println!("  {n_notes:>7} annotations {:>7.2} ms", median * 1e3);
    }
    println!("  {ratio:.2} × (bar {MOST_GROWTH}: {})", met(ratio <= MOST_GROWTH));
}

/// Makes the index, which a read of so long a history leaves to a process behind it, and waits for that.
fn make_index(repo: &Repository, path: &str) {
    let mut read = repo.command(&repo.chronicle, &["read", path]);
    let started = Instant::now();
    let output = read.env("CHRONICLE_FOREGROUND", "1").output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    println!("  an index made in {:.0} s", started.elapsed().as_secs_f64());
}

/// Files at HEAD until a thousand commits have touched them, and these commits.
fn ask_about<'a>(
    candidates: &'a [notes::Candidate],
    random: &mut Random,
) -> (Vec<String>, Vec<&'a notes::Candidate>) {
    let mut paths: Vec<String> = Vec::new();
    let newest = &candidates[..candidates.len() / 100];
    let mut few: Vec<&notes::Candidate> = Vec::new();
    while few.len() < FEW {
        let hunks = &newest[random.below(newest.len())].hunks;
        let path = &hunks[0].path;
        let touches = |candidate: &&notes::Candidate| candidate.paths.contains(path);
        let n_touching = candidates.iter().filter(touches).count();
        // The hot files would use all of them up.
        if !paths.contains(path) && n_touching <= FEW / 10 {
            few.extend(candidates.iter().filter(touches));
            paths.push(path.clone());
        }
    }
    let mut seen = HashSet::new();
    few.retain(|candidate| seen.insert(&candidate.commit_id));
    few.truncate(FEW);
    (paths, few)
}
