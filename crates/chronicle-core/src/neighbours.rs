//! What differs between a version of a file and the one it was made of, told as `git blame` tells it.
//!
//! [`crate::LineMap`] asks which line is which however far apart two versions lie. Which commit wrote a line is
//! another question: there git's own comparison is the reference, by Myers and with each run of lines where their
//! indentation says that it belongs.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, Token};

use crate::{line_map::TokenHunk, renumbered::Renumbered};

/// How far git counts a tabulator.
const TAB_WIDTH: u8 = 8;

/// Git leaves blocks of so many bytes that both versions end with out of its comparison.
const BLOCK: usize = 1024;

/// What git looks at in a line, beside whether it is the same as another one.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    indent: IndentLevel,
    /// Its bytes, with the one that ends it.
    n_bytes: usize,
}

impl Shape {
    /// The shape of a line.
    #[must_use]
    pub fn of(line: &[u8]) -> Self {
        Self { indent: IndentLevel::for_ascii_line(line.iter().copied(), TAB_WIDTH), n_bytes: line.len() + 1 }
    }
}

/// Compares versions that follow each other; its buffers serve again.
#[derive(Debug, Default)]
pub struct Neighbours {
    diff: Diff,
    old: Vec<Token>,
    new: Vec<Token>,
    tokens: Renumbered,
}

impl Neighbours {
    /// The runs in which two versions differ, zero-based and in order, `old` lines and the `new` ones in their place.
    ///
    /// Lines are given as numbers that [`crate::Differ::number_line`] gave out, `shapes` is what it knows of them.
    pub fn differences(&mut self, old: &[u32], new: &[u32], shapes: &[Shape]) -> Vec<TokenHunk> {
        let shape = |number: u32| shapes[number as usize >> 1];
        let n_last = n_left_out(old.iter().rev().zip(new.iter().rev()), |number| shape(*number).n_bytes);
        let (old, new) = (&old[..old.len() - n_last], &new[..new.len() - n_last]);
        let n_first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        if let Some(only) = only_run(old, new, n_first) {
            return vec![only];
        }
        self.compared(old, new, n_first, shapes)
    }

    /// The same by Myers and indentation, of versions that begin with `n_first` equal lines.
    fn compared(&mut self, old: &[u32], new: &[u32], n_first: usize, shapes: &[Shape]) -> Vec<TokenHunk> {
        let shape = |number: u32| shapes[number as usize >> 1];
        self.tokens.forget();
        // What differs takes the first numbers: how many there are is what a comparison costs.
        let tokens = &mut self.tokens;
        self.new.clear();
        self.new.extend(new[n_first..].iter().map(|number| tokens.token(*number)));
        self.old.clear();
        self.old.extend(old[n_first..].iter().map(|number| tokens.token(*number)));
        let both = old[..n_first].iter().map(|number| tokens.token(*number)).collect::<Vec<_>>();
        self.old.splice(..0, both.iter().copied());
        self.new.splice(..0, both);
        self.diff.compute_with(Algorithm::Myers, &self.old, &self.new, 0);
        let tokens = &self.tokens;
        let heuristic = IndentHeuristic::new(|token| shape(tokens.number(token)).indent);
        self.diff.postprocess_with(&self.old, &self.new, heuristic);
        self.diff.hunks().map(|hunk| (hunk.before, hunk.after)).collect()
    }
}

/// Pairs of lines up to which looking at each of them costs less than comparing two versions.
const MAX_PAIRS: usize = 1024;

/// The only run in which two versions differ that begin with `n_first` equal lines, where it is plain: nothing in it is in
/// the other version's, and none of its ends is told otherwise by a line that is like one beside it.
fn only_run(old: &[u32], new: &[u32], n_first: usize) -> Option<TokenHunk> {
    let ends = old[n_first..].iter().rev().zip(new[n_first..].iter().rev());
    let n_last = ends.take_while(|(old, new)| old == new).count();
    let run_of = |lines: &[u32]| n_first..lines.len() - n_last;
    let (removed, added) = (run_of(old), run_of(new));
    let is_fixed = |lines: &[u32], run: &Range<usize>| {
        let may_move_up = || 0 < run.start && lines[run.start - 1] == lines[run.end - 1];
        let may_move_down = || run.end < lines.len() && lines[run.start] == lines[run.end];
        run.is_empty() || !may_move_up() && !may_move_down()
    };
    let is_plain = !(removed.is_empty() && added.is_empty())
        && removed.len() * added.len() <= MAX_PAIRS
        && is_fixed(old, &removed)
        && is_fixed(new, &added)
        && !old[removed.clone()].iter().any(|line| new[added.clone()].contains(line));
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let run = |run: Range<usize>| number(run.start)..number(run.end);
    is_plain.then(|| (run(removed), run(added)))
}

/// How many of the `last` lines of two versions, the very last first, git leaves out: whole blocks that are the same,
/// but for the line that the first of them begins in.
fn n_left_out<'n>(
    last: impl Iterator<Item = (&'n u32, &'n u32)> + Clone,
    n_bytes: impl Fn(&u32) -> usize,
) -> usize {
    let same = last.take_while(|(old, new)| old == new).map(|(old, _)| n_bytes(old));
    let in_blocks = same.clone().sum::<usize>() / BLOCK * BLOCK;
    let ends = same.scan(0, |end, n_bytes| {
        *end += n_bytes;
        Some(*end)
    });
    ends.take_while(|end| *end < in_blocks).count()
}

/// Lines of a version that stand together, and where they stand in another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The first of them, zero-based.
    pub start: u32,
    /// How many there are.
    pub len: u32,
    /// Where the first of them stands in the other version, zero-based.
    pub there: u32,
}

impl Stretch {
    fn end(&self) -> u32 {
        self.start + self.len
    }

    /// What of it lies in `range`.
    fn within(&self, range: &Range<u32>) -> Option<Self> {
        let (start, end) = (self.start.max(range.start), self.end().min(range.end));
        (start < end).then(|| Self { start, len: end - start, there: self.there + (start - self.start) })
    }
}

/// Divides `stretches` of a version, which are in order, by what it `differs` in from an older one: those that the
/// older one has, as they stand in it, and those that are new.
#[must_use]
pub fn divided(stretches: &[Stretch], differs: &[TokenHunk]) -> (Vec<Stretch>, Vec<Stretch>) {
    let (mut kept, mut added) = (Vec::with_capacity(stretches.len()), Vec::new());
    let mut hunks = differs.iter().peekable();
    // Where the lines that both have begin, in either version.
    let (mut old_at, mut new_at) = (0, 0);
    for stretch in stretches {
        let mut at = stretch.start;
        while at < stretch.end() {
            let next = hunks.peek().map_or(u32::MAX..u32::MAX, |(_, new)| new.clone());
            if let Some(same) = stretch.within(&(at..next.start)) {
                kept.push(Stretch { start: same.start - new_at + old_at, ..same });
                at = same.end();
            }
            if let Some(new) = stretch.within(&(at.max(next.start)..next.end)) {
                added.push(new);
                at = new.end();
            }
            if let Some((old, new)) = hunks.next_if(|(_, new)| new.end <= at) {
                (old_at, new_at) = (old.end, new.end);
            }
        }
    }
    (kept, added)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_added_function_is_told_whole() {
        let old = b"fn a() {\n    one();\n}\n\nfn c() {\n    two();\n}\n";
        let new = b"fn a() {\n    one();\n}\n\nfn b() {\n    one();\n}\n\nfn c() {\n    two();\n}\n";
        let mut differ = crate::Differ::default();
        let mut numbers = |content: &'static [u8]| -> Vec<u32> {
            crate::Lines::new(content).all().iter().map(|line| differ.number_line(line)).collect()
        };
        let (old, new) = (numbers(old), numbers(new));
        assert_eq!(Neighbours::default().differences(&old, &new, differ.shapes()), [(4..4, 4..8)]);
    }

    proptest! {
        #[test]
        fn a_plain_run_is_what_comparing_finds(
            old in prop::collection::vec(0u32..9, 0..30),
            at in 0usize..30,
            n_removed in 0usize..4,
            added in prop::collection::vec(0u32..14, 0..4),
        ) {
            let at = at.min(old.len());
            let new = [&old[..at], &added, &old[(at + n_removed).min(old.len())..]].concat();
            let numbers = |words: &[u32]| words.iter().map(|word| word << 1).collect::<Vec<u32>>();
            let (old, new) = (numbers(&old), numbers(&new));
            let shapes: Vec<Shape> = (0..14).map(|n| Shape::of(&b"        x"[n % 8..])).collect();
            let n_first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
            if let Some(run) = only_run(&old, &new, n_first) {
                let compared = Neighbours::default().compared(&old, &new, n_first, &shapes);
                prop_assert_eq!(vec![run], compared);
            }
        }

        #[test]
        fn every_line_is_kept_or_new(
            old in prop::collection::vec(0u32..12, 0..40),
            new in prop::collection::vec(0u32..12, 0..40),
            lens in prop::collection::vec((0u32..4, 1u32..6), 0..8),
        ) {
            let numbers = |words: &[u32]| words.iter().map(|word| word << 1).collect::<Vec<u32>>();
            let (old, new) = (numbers(&old), numbers(&new));
            let shapes: Vec<Shape> = (0..12).map(|n| Shape::of(&b"        x"[n % 8..])).collect();
            let differs = Neighbours::default().differences(&old, &new, &shapes);
            let (mut stretches, mut at) = (Vec::new(), 0);
            for (gap, len) in lens {
                at += gap;
                stretches.push(Stretch { start: at, len, there: 1000 + at });
                at += len;
            }
            let n_new = u32::try_from(new.len()).unwrap();
            stretches.retain(|stretch| stretch.end() <= n_new);
            let (kept, added) = divided(&stretches, &differs);
            let lines = |stretches: &[Stretch]| -> Vec<(u32, u32)> {
                stretches.iter().flat_map(|one| (0..one.len).map(|n| (one.start + n, one.there + n))).collect()
            };
            let is_new = |line: u32| differs.iter().any(|(_, new)| new.contains(&line));
            let mut all: Vec<u32> = lines(&kept).into_iter().map(|(line, there)| {
                prop_assert_eq!(old[line as usize], new[there as usize - 1000]);
                prop_assert!(!is_new(there - 1000));
                Ok(there)
            }).collect::<Result<_, _>>()?;
            all.extend(lines(&added).into_iter().map(|(line, there)| {
                prop_assert!(is_new(line) && there == line + 1000);
                Ok(there)
            }).collect::<Result<Vec<_>, _>>()?);
            all.sort_unstable();
            let mut expected: Vec<u32> = lines(&stretches).into_iter().map(|(_, there)| there).collect();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }
}
