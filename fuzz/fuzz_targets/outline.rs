//! Files of every language, however broken, are outlined within the limits.
//!
//! Here, the limits of the process that parses do not hold: libFuzzer's own do.

#![no_main]

use chronicle_core::count_lines;
use chronicle_outline::{MAX_ITEMS, MAX_NAME_BYTES, MAX_SIGNATURE_BYTES, NoOutline, outline};
use libfuzzer_sys::fuzz_target;

/// The first byte of a seed is its place in here, so new ones come last.
const NAMES: [&str; 20] = [
    "a.sh", "a.c", "a.cpp", "a.cs", "a.go", "a.java", "a.js", "a.json", "a.kt", "a.md", "a.php", "a.py",
    "a.rb", "a.rs", "a.scala", "a.swift", "a.toml", "a.tsx", "a.ts", "a.yaml",
];

fuzz_target!(|input: &[u8]| {
    let Some((first, file)) = input.split_first() else { return };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let found = match outline(name, file) {
        Ok(found) => found,
        Err(NoOutline::TooDeep { .. } | NoOutline::TimedOut { .. }) => return,
        Err(error) => panic!("{name}: {error}"),
    };
    assert!(found.items.len() <= MAX_ITEMS);
    let n_lines = std::str::from_utf8(file).map_or(u32::MAX, |_| count_lines(file));
    for item in &found.items {
        assert!(item.name.len() <= MAX_NAME_BYTES && item.signature.len() <= MAX_SIGNATURE_BYTES + "…".len());
        assert!(
            0 < item.lines.start && item.lines.start <= item.lines.end && item.lines.end <= n_lines.max(1)
        );
        assert!(item.lines.start <= item.name_line && item.name_line <= item.lines.end);
        assert!(!item.signature.contains('\n'));
    }
});
