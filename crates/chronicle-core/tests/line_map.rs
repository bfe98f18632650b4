//! Line mapping against the truth: edits whose outcome is known, and ranges that nobody should ask for.

use std::collections::HashMap;

use chronicle_core::{
    LineMap, LineRange, Lines, Locator, Sketch, changed_ranges, line_words, reading::State,
};
use proptest::{collection::vec, prelude::*, sample::select};

/// One line of a file, as words of code or as what stands everywhere.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec!["}", "{", "", "    }", "\t", "return;", "// --", "if ok {"]).prop_map(str::to_owned),
        5 => "[a-z]{1,3}\\([a-z]{0,2}\\);",
        1 => "\\PC{0,8}",
    ]
}

fn file() -> impl Strategy<Value = Vec<String>> {
    vec(line(), 0..40)
}

/// A line that no old version has: were it free, a line that is taken away here and written there
/// would be a move, and there would be more than one truth.
fn new_line() -> impl Strategy<Value = String> {
    "[a-z]{0,2}".prop_map(|name| format!("fresh {name}"))
}

/// What happens at one line of the old version.
#[derive(Debug, Clone)]
enum Edit {
    Keep,
    Remove,
    Replace(String),
    InsertBefore(Vec<String>),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => Just(Edit::Keep),
        1 => Just(Edit::Remove),
        1 => new_line().prop_map(Edit::Replace),
        1 => vec(new_line(), 1..5).prop_map(Edit::InsertBefore),
    ]
}

/// An old version, a new one, and for each old line its place in the new one when it was kept.
fn edited() -> impl Strategy<Value = (Vec<String>, Vec<String>, Vec<Option<u32>>)> {
    vec((line(), edit()), 0..40).prop_map(|script| {
        let (mut old, mut new, mut truth) = (Vec::new(), Vec::new(), Vec::new());
        for (line, edit) in script {
            old.push(line.clone());
            let mut kept = None;
            if let Edit::InsertBefore(lines) = &edit {
                new.extend(lines.clone());
            }
            match edit {
                Edit::Remove => {}
                Edit::Replace(other) => new.push(other),
                Edit::Keep | Edit::InsertBefore(_) => {
                    new.push(line);
                    kept = u32::try_from(new.len()).ok();
                }
            }
            truth.push(kept);
        }
        (old, new, truth)
    })
}

fn range() -> impl Strategy<Value = LineRange> {
    let end = prop_oneof![4 => 0u32..60, 1 => any::<u32>()];
    let start = prop_oneof![8 => 1u32..60, 1 => 1u32..=u32::MAX];
    (start, end).prop_map(|(start, more)| LineRange { start, end: start.saturating_add(more) })
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn counts(lines: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    lines.iter().for_each(|line| *counts.entry(line.as_str()).or_default() += 1);
    counts
}

fn is_inside(place: Option<LineRange>, file: &Lines<'_>) -> bool {
    place.is_none_or(|lines| 1 <= lines.start && lines.start <= lines.end && lines.end <= file.count())
}

/// A block of lines that stand nowhere else, for a file of others.
fn unique_block(n_lines: usize, brace_at: usize) -> Vec<String> {
    let line = |number| match number % 3 == brace_at {
        true => "}".to_owned(),
        false => format!("let unique_{number} = other_{number};"),
    };
    (0..n_lines).map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Of lines that stand several times any may be the kept one; where a line is unique there is no choice.
    #[test]
    fn unique_lines_that_were_kept_are_where_they_are((old, new, truth) in edited()) {
        let (old_text, new_text) = (joined(&old), joined(&new));
        let map = LineMap::between(&Lines::new(old_text.as_bytes()), &Lines::new(new_text.as_bytes()));
        let (in_old, in_new) = (counts(&old), counts(&new));
        let mut number = 0;
        for (line, place) in old.iter().zip(truth) {
            number += 1;
            let mapped = map.map(LineRange::new(number, number).unwrap());
            let is_unique = in_old[line.as_str()] == 1 && in_new.get(line.as_str()) == Some(&1);
            if let (true, Some(place)) = (is_unique, place) {
                prop_assert_eq!((mapped.lines, mapped.intact), (LineRange::new(place, place).ok(), true), "{}", line);
            }
            // Wherever a line is said to be, it is there.
            if let (true, Some(lines)) = (mapped.intact, mapped.lines) {
                prop_assert_eq!(&new[lines.start as usize - 1], line);
            }
        }
    }

    #[test]
    fn no_range_is_mapped_out_of_the_file((old, new, _) in edited(), other in file(), range in range()) {
        for new in [new, other] {
            let (old, new) = (joined(&old), joined(&new));
            let (old, new) = (Lines::new(old.as_bytes()), Lines::new(new.as_bytes()));
            let map = LineMap::between(&old, &new);
            let mapped = map.map(range);
            prop_assert!(is_inside(mapped.lines, &new));
            prop_assert!((0.0..=1.0).contains(&mapped.share));
            prop_assert!(!mapped.intact || mapped.lines.is_some_and(|lines| lines.len() == range.len()));
            let gap = map.gap(range);
            prop_assert!(1 <= gap.start && gap.start <= gap.end);
            let place = Locator::new(new.clone()).locate(&old, range, &map);
            prop_assert!(is_inside(place.lines, &new));
            prop_assert!((0.0..=1.0).contains(&place.share));
            prop_assert_eq!(place.lines.is_none(), place.state == State::Gone);
            prop_assert!(place.state != State::Intact || new.of(place.lines.unwrap()) == old.of(range));
            if let Some(place) = Sketch::of(&old, range).locate(&new) {
                prop_assert!(place.lines.is_some() && is_inside(place.lines, &new));
                prop_assert!((0.0..=1.0).contains(&place.share));
            }
        }
    }

    #[test]
    fn in_an_unchanged_file_everything_is_intact(file in file(), range in range()) {
        let text = joined(&file);
        let lines = Lines::new(text.as_bytes());
        let map = LineMap::between(&lines, &lines);
        let place = Locator::new(lines.clone()).locate(&lines, range, &map);
        if lines.has(range) {
            prop_assert_eq!((place.lines, place.state), (Some(range), State::Intact));
            prop_assert_eq!((place.share, place.because), (1.0, None));
        } else {
            prop_assert!(place.state != State::Intact);
        }
        let crlf = text.replace('\n', "\r\n");
        let (words, crlf) = (line_words(text.as_bytes()), line_words(crlf.as_bytes()));
        prop_assert_eq!(changed_ranges(&words, &crlf).added, vec![]);
    }

    #[test]
    fn a_block_that_moved_is_found(before in file(), after in file(), block in (3usize..90, 0usize..4), above in file()) {
        let block = unique_block(block.0, block.1);
        let n_lines = u32::try_from(block.len()).unwrap();
        let old = joined(&[&above[..], &block[..]].concat());
        let old = Lines::new(old.as_bytes());
        let at = |above: &[String]| {
            let above = u32::try_from(above.len()).unwrap();
            LineRange::new(above + 1, above + n_lines).unwrap()
        };
        let new = joined(&[&before[..], &block[..], &after[..]].concat());
        let new = Lines::new(new.as_bytes());
        let sketch = Sketch::of(&old, at(&above));
        let found = sketch.locate(&new);
        prop_assert_eq!(found.and_then(|place| place.lines), Some(at(&before)));
        prop_assert!(0.99 < found.unwrap().share);
        let place = Locator::new(new.clone()).locate(&old, at(&above), &LineMap::between(&old, &new));
        // A brace at the edge may be taken for the same brace next to it.
        let (found, truth) = (place.lines.unwrap(), at(&before));
        let is_brace = |number: u32| new.of(LineRange::new(number, number).unwrap()) == [b"}"];
        prop_assert!((truth.start..found.start).chain(found.end + 1..=truth.end).all(is_brace), "{found} for {truth}");
        prop_assert!(found.start.abs_diff(truth.start) <= 1 && found.end.abs_diff(truth.end) <= 1, "{found} for {truth}");
    }

    #[test]
    fn a_sketch_that_is_none_finds_nothing(junk in ".{0,40}", bytes in vec(any::<u8>(), 0..300), file in file()) {
        let text = joined(&file);
        let lines = Lines::new(text.as_bytes());
        for sketch in [
            Sketch(junk.clone()),
            Sketch(format!("1:{junk}")),
            Sketch(format!("1:{}", data_encoding::BASE64.encode(&bytes))),
        ] {
            let words = sketch.hashes().map(|hashes| hashes.len());
            prop_assert!(words.is_none_or(|n_words| n_words <= 64));
            if let Some(place) = sketch.locate(&lines) {
                prop_assert!(is_inside(place.lines, &lines));
            }
        }
    }
}
