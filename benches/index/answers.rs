//! Whether answers are there at all, and the same with and without the index.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::measure::random::Random;
use crate::measure::repository::Repository;
use crate::measure::times::{count, verdict};
use crate::pairs::{Edited, Pair};

/// The least share of entries of edited files whose extents are equal.
const LEAST_EQUAL: f64 = 0.99;

fn ask(repo: &Repository, pair: &Pair, whole: bool, by_index: bool) -> Value {
    let lines = pair.lines();
    let mut args = vec!["read", &pair.path, "--format", "json", "--max-regions", "100000"];
    if !whole {
        args.extend(["--lines", &lines]);
    }
    let mut command = repo.command(&repo.chronicle, &args);
    // The age of an entry is part of the answer.
    command.env("CHRONICLE_NOW", "2026-06-01T00:00:00Z");
    if !by_index {
        command.env("CHRONICLE_NO_CACHE", "1");
    }
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "read {}: {}", pair.path, String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("read --format json prints JSON")
}

/// The share of pairs about which something is known.
pub(crate) fn share_answered(repo: &Repository, pairs: &[Pair]) -> f64 {
    let is_answered = |pair: &&Pair| {
        let reading = ask(repo, pair, false, true);
        ["wisdom", "regions"].iter().any(|key| reading[key].as_array().is_some_and(|list| !list.is_empty()))
    };
    let n_answered = pairs.iter().filter(is_answered).count();
    let share = count(n_answered) / count(pairs.len());
    println!("\nreads that return an entry: {n_answered} of {}  {}", pairs.len(), verdict(0.5 <= share));
    share
}

/// Whether the index changes no answer: nothing on clean files, hardly an extent on edited ones.
pub(crate) fn compare_with_direct(repo: &Repository, pairs: &[Pair], random: &mut Random) -> bool {
    let mut differing = Vec::new();
    let (mut n_equal, mut n_entries) = (0, 0);
    for pair in pairs {
        for whole in [false, true] {
            let (indexed, direct) = (ask(repo, pair, whole, true), ask(repo, pair, whole, false));
            if indexed != direct {
                differing.push((pair, whole, indexed, direct));
            }
        }
        let _edited = Edited::new(repo, &pair.path, random);
        let (indexed, direct) =
            (extents(&ask(repo, pair, true, true)), extents(&ask(repo, pair, true, false)));
        n_equal += direct.iter().filter(|(id, extent)| indexed.get(*id) == Some(*extent)).count();
        n_entries += direct.len().max(indexed.len());
    }
    println!(
        "answers that differ with and without the index: {} of {}  {}",
        differing.len(),
        2 * pairs.len(),
        verdict(differing.is_empty()),
    );
    if let Some((pair, whole, indexed, direct)) = differing.first() {
        let lines = if *whole { String::new() } else { format!(" --lines {}", pair.lines()) };
        println!("  first: read {}{lines}", pair.path);
        print_difference("", indexed, direct);
    }
    let share = count(n_equal) / count(n_entries.max(1));
    println!(
        "entries of edited files with the same extent: {n_equal} of {n_entries}  {}",
        verdict(LEAST_EQUAL <= share)
    );
    differing.is_empty() && LEAST_EQUAL <= share
}

/// Where each entry is and what became of it, by its id.
fn extents(reading: &Value) -> BTreeMap<String, [Value; 3]> {
    let items = ["wisdom", "regions"].into_iter().filter_map(|key| reading[key].as_array()).flatten();
    items
        .map(|item| {
            let extent = ["file", "lines", "state"].map(|key| item[key].clone());
            (item["id"].to_string(), extent)
        })
        .collect()
}

/// Prints the innermost values that are not the same.
fn print_difference(place: &str, indexed: &Value, direct: &Value) {
    match (indexed, direct) {
        _ if indexed == direct => {}
        (Value::Object(ours), Value::Object(theirs)) => {
            for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
                print_difference(&format!("{place}.{key}"), &indexed[key], &direct[key]);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                print_difference(&format!("{place}[{at}]"), ours, theirs);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            println!("    {place}: {} items by the index, {} directly", ours.len(), theirs.len());
        }
        _ => println!("    {place}: {indexed} by the index, {direct} directly"),
    }
}
