//! How long outlines take: rules of each language, and files that are named.

#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::time::Instant;

use chronicle_outline::{Language, language_of, outline};

fn main() {
    for language in Language::all() {
        let start = Instant::now();
        let n_rules = language.load();
        println!("{:<11} {n_rules:>3} rules read in {:?}", language.name(), start.elapsed());
    }
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read(&path) else { continue };
        let mut times: Vec<_> = (0..15)
            .map(|_| {
                let start = Instant::now();
                let n_items = outline(&path, &text).map_or(0, |outline| outline.items.len());
                (start.elapsed(), n_items)
            })
            .collect();
        times.sort_unstable();
        let n_lines = text.iter().filter(|byte| **byte == b'\n').count();
        let language = language_of(&path, b"").map_or("?", Language::name);
        println!("{language:<11} {n_lines:>6} lines, {:>5} items: {:?}", times[7].1, times[7].0);
    }
}
