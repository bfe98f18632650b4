//! The changed lines of a file in pieces that fit into a request, and how they are shown.
//!
//! A piece is a run of changed lines, or a part of one that is long. Each changed line is in exactly one piece.

use std::fmt::Write;

use chronicle_core::{Extent, Hunk, clipped, tokens};

use super::texts::Text;

/// Lines of a piece at most.
pub(crate) const MOST_LINES: u32 = 200;

/// Lines around a change that are shown with it.
pub(crate) const CONTEXT: u32 = 3;

/// Tokens that a line costs beside its text: its number, its mark, its end.
const PER_LINE: u64 = 9;
/// Tokens of the line above a piece.
const PER_PIECE: u64 = 40;

/// How much of a file is shown at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Tokens of a piece at most.
    pub(crate) tokens: u64,
    /// Bytes of a line at most.
    pub(crate) line: usize,
    /// Lines around a change.
    pub(crate) context: u32,
}

/// A run of changed lines, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Lines that were taken away.
    pub(crate) old: Extent,
    /// Lines that were put in.
    pub(crate) new: Extent,
    /// Unchanged lines before it and behind it that belong to no other change.
    before: u32,
    after: u32,
    /// What showing it costs at most.
    pub(crate) n_tokens: u64,
}

impl Piece {
    /// How many lines are shown.
    pub(crate) fn n_lines(&self) -> u32 {
        self.old.len + self.new.len + self.before + self.after
    }

    /// How many lines changed.
    pub(crate) fn n_changed(&self) -> u32 {
        self.old.len + self.new.len
    }
}

/// The pieces of `hunks`, the changes from `old` to `new`.
pub(crate) fn pieces(hunks: &[Hunk], old: &Text, new: &Text, measure: Measure) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        let previous = at.checked_sub(1).map_or(0, |before| end(hunks[before].new));
        let next = hunks.get(at + 1).map_or(new.count() + 1, |next| next.new.start);
        let before = measure.context.min(hunk.new.start - 1 - previous);
        let after = measure.context.min(next.saturating_sub(end(hunk.new) + 1));
        split(hunk, (before, after), old, new, measure, &mut pieces);
    }
    pieces
}

/// The last line of an extent, or the line before it where it is empty.
fn end(extent: Extent) -> u32 {
    extent.start + extent.len - 1
}

fn split(
    hunk: &Hunk,
    (before, after): (u32, u32),
    old: &Text,
    new: &Text,
    measure: Measure,
    pieces: &mut Vec<Piece>,
) {
    let cost = |text: &Text, line: u32| tokens::at_most(&clipped(text.line(line), measure.line)) + PER_LINE;
    let around = |from: u32, len: u32| (from..from + len).map(|line| cost(new, line)).sum::<u64>();
    let empty = |old: u32, new: u32| Piece {
        old: Extent { start: old, len: 0 },
        new: Extent { start: new, len: 0 },
        before: 0,
        after: 0,
        n_tokens: PER_PIECE,
    };
    let mut piece = empty(hunk.old.start, hunk.new.start);
    piece.before = before;
    piece.n_tokens += around(hunk.new.start - before, before);
    let removed = (0..hunk.old.len).map(|line| (true, hunk.old.start + line));
    let added = (0..hunk.new.len).map(|line| (false, hunk.new.start + line));
    for (is_removed, line) in removed.chain(added) {
        let n_tokens = if is_removed { cost(old, line) } else { cost(new, line) };
        if 0 < piece.n_changed()
            && (MOST_LINES <= piece.n_changed() || measure.tokens < piece.n_tokens + n_tokens)
        {
            let next = empty(piece.old.start + piece.old.len, piece.new.start + piece.new.len);
            pieces.push(std::mem::replace(&mut piece, next));
        }
        let extent = if is_removed { &mut piece.old } else { &mut piece.new };
        extent.len += 1;
        piece.n_tokens += n_tokens;
    }
    piece.after = after;
    piece.n_tokens += around(end(hunk.new) + 1, after);
    pieces.push(piece);
}

/// Writes pieces of one file, in order: the number of each line in the newer version, a mark, the line.
pub(crate) fn show(out: &mut String, pieces: &[Piece], old: &Text, new: &Text, measure: Measure) {
    let clip = |text: &str| clipped(text, measure.line).into_owned();
    let mut shown = 0;
    for piece in pieces {
        let first = (piece.new.start - piece.before).max(shown + 1);
        if shown + 1 < first || shown == 0 {
            let _ = writeln!(
                out,
                "@@ -{},{} +{},{} @@",
                piece.old.start, piece.old.len, piece.new.start, piece.new.len
            );
        }
        for line in first..piece.new.start {
            let _ = writeln!(out, "{line} | {}", clip(new.line(line)));
        }
        for line in piece.old.start..piece.old.start + piece.old.len {
            let _ = writeln!(out, "-| {}", clip(old.line(line)));
        }
        for line in piece.new.start..piece.new.start + piece.new.len {
            let _ = writeln!(out, "{line}+| {}", clip(new.line(line)));
        }
        let behind = piece.new.start + piece.new.len;
        for line in behind..behind + piece.after {
            let _ = writeln!(out, "{line} | {}", clip(new.line(line)));
        }
        shown = behind + piece.after - 1;
    }
}
