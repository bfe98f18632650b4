//! Times of processes that take turns, and the table of them.

use std::path::Path;
use std::time::Duration;

use super::repository::Repository;

/// One command's times, one for each sample, in the order of the samples.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The first row may take at most this many times as long as this one.
    pub(crate) bar: Option<f64>,
    pub(crate) times: Vec<Duration>,
}

impl Row {
    pub(crate) fn new(name: &'static str, bar: Option<f64>) -> Self {
        Self { name, bar, times: Vec::new() }
    }
}

/// Times each command once; who starts moves on with `turn`, so nobody always follows the slowest.
pub(crate) fn take_turns(repo: &Repository, turn: usize, commands: &[(&Path, &[&str])], rows: &mut [Row]) {
    for at in in_turn(turn, commands.len()) {
        let (program, args) = commands[at];
        rows[at].times.push(repo.time(program, args));
    }
}

pub(crate) fn in_turn(turn: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |at| (turn + at) % n)
}

pub(crate) fn print_table(title: &str, rows: &[Row]) {
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

pub(crate) fn verdict(met: bool) -> &'static str {
    if met { "ok" } else { "MISSED" }
}

pub(crate) fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

pub(crate) fn median_ratio(ours: &[Duration], theirs: &[Duration]) -> f64 {
    let mut ratios: Vec<f64> =
        ours.iter().zip(theirs).map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("counts here are small"))
}
