//! A change in chunks that fit into a conversation each.
//!
//! The files with the most changed lines come first. A file stays whole where it can; one that is larger than a chunk
//! goes on in the next. Every piece is in exactly one chunk.

use std::ops::Range;

use super::shown_hunks::Piece;

/// Lines that one chunk shows at most.
pub(crate) const MOST_LINES: u32 = 1_500;

/// What one chunk may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Files.
    pub(crate) files: usize,
    /// Lines.
    pub(crate) lines: u32,
    /// Tokens.
    pub(crate) tokens: u64,
}

/// A part of a file in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The file.
    pub(crate) file: usize,
    /// Its pieces.
    pub(crate) pieces: Range<usize>,
}

/// What is looked at in one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The files, the largest first.
    pub(crate) parts: Vec<Part>,
    /// How many lines are shown.
    pub(crate) n_lines: u32,
    /// What showing them costs at most.
    pub(crate) n_tokens: u64,
}

/// What a file needs.
#[derive(Debug, Clone)]
pub(crate) struct Sized<'f> {
    /// Its pieces, in order.
    pub(crate) pieces: &'f [Piece],
    /// Tokens of its name.
    pub(crate) header: u64,
}

impl Chunk {
    fn has_room(&self, room: Room, lines: u32, tokens: u64) -> bool {
        self.parts.len() < room.files
            && self.n_lines + lines <= room.lines
            && self.n_tokens + tokens <= room.tokens
    }

    fn add(&mut self, file: usize, pieces: Range<usize>, lines: u32, tokens: u64) {
        self.parts.push(Part { file, pieces });
        self.n_lines += lines;
        self.n_tokens += tokens;
    }
}

/// Divides files into chunks. A piece that alone is larger than a chunk has one of its own.
pub(crate) fn chunks(files: &[Sized<'_>], room: Room) -> Vec<Chunk> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    let n_changed = |file: &usize| files[*file].pieces.iter().map(Piece::n_changed).sum::<u32>();
    order.sort_by_key(|file| std::cmp::Reverse(n_changed(file)));
    let mut done: Vec<Chunk> = Vec::new();
    let mut open = Chunk::default();
    for file in order {
        let Sized { pieces, header } = &files[file];
        let lines = pieces.iter().map(Piece::n_lines).sum();
        let tokens = header + pieces.iter().map(|piece| piece.n_tokens).sum::<u64>();
        if pieces.is_empty() {
            continue;
        }
        if !open.has_room(room, lines, tokens) && Chunk::default().has_room(room, lines, tokens) {
            close(&mut done, &mut open);
        }
        if open.has_room(room, lines, tokens) {
            open.add(file, 0..pieces.len(), lines, tokens);
            continue;
        }
        let mut from = 0;
        while from < pieces.len() {
            let (mut to, mut lines, mut tokens) = (from, 0, *header);
            while let Some(piece) = pieces.get(to)
                && open.has_room(room, lines + piece.n_lines(), tokens + piece.n_tokens)
            {
                (to, lines, tokens) = (to + 1, lines + piece.n_lines(), tokens + piece.n_tokens);
            }
            if to == from && open.parts.is_empty() {
                (to, lines, tokens) = (from + 1, pieces[from].n_lines(), tokens + pieces[from].n_tokens);
            }
            if from < to {
                open.add(file, from..to, lines, tokens);
            }
            from = to;
            if from < pieces.len() {
                close(&mut done, &mut open);
            }
        }
    }
    close(&mut done, &mut open);
    done
}

fn close(done: &mut Vec<Chunk>, open: &mut Chunk) {
    if !open.parts.is_empty() {
        done.push(std::mem::take(open));
    }
}

#[cfg(test)]
mod tests {
    use chronicle_core::{Hunk, Lines, hunks};
    use proptest::prelude::*;

    use super::*;
    use crate::annotator::{
        shown_hunks::{CONTEXT, Measure, pieces},
        texts::Text,
    };

    const MEASURE: Measure = Measure { tokens: 400, line: 80, context: CONTEXT };

    /// Applies the changes of pieces to the old version.
    fn patched(old: &[&[u8]], new: &[&[u8]], pieces: &[Piece]) -> Vec<Vec<u8>> {
        let mut out: Vec<Vec<u8>> = Vec::new();
        let mut at = 0;
        for piece in pieces {
            let start = piece.old.start as usize - 1;
            out.extend(old[at..start].iter().map(|line| line.to_vec()));
            at = start + piece.old.len as usize;
            let first = piece.new.start as usize - 1;
            out.extend(new[first..first + piece.new.len as usize].iter().map(|line| line.to_vec()));
        }
        out.extend(old[at..].iter().map(|line| line.to_vec()));
        out
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(0..40_u8, 0..400)
            .prop_map(|lines| lines.iter().map(|line| format!("line number {line}\n")).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_changed_line_is_in_exactly_one_chunk(
            versions in prop::collection::vec((text(), text()), 1..12),
            files in 1..6_usize,
            lines in 20..600_u32,
            tokens in 500..6_000_u64,
        ) {
            let room = Room { files, lines, tokens };
            let cut: Vec<Vec<Piece>> = versions.iter().map(|(old, new)| {
                let (old, new) = (old.as_bytes(), new.as_bytes());
                let found: Vec<Hunk> = hunks(&Lines::new(old), &Lines::new(new));
                pieces(&found, &Text::for_test(old), &Text::for_test(new), MEASURE)
            }).collect();
            let sized: Vec<Sized<'_>> = cut.iter().map(|pieces| Sized { pieces, header: 10 }).collect();
            let chunks = chunks(&sized, room);
            let mut seen: Vec<Vec<usize>> = vec![Vec::new(); versions.len()];
            for chunk in &chunks {
                prop_assert!(chunk.parts.len() <= files);
                let is_one = chunk.parts.len() == 1 && chunk.parts[0].pieces.len() == 1;
                prop_assert!(is_one || (chunk.n_lines <= lines && chunk.n_tokens <= tokens), "{chunk:?}");
                for part in &chunk.parts {
                    seen[part.file].extend(part.pieces.clone());
                }
            }
            for (file, (old, new)) in versions.iter().enumerate() {
                prop_assert_eq!(&seen[file], &(0..cut[file].len()).collect::<Vec<_>>());
                let (old, new) = (Lines::new(old.as_bytes()), Lines::new(new.as_bytes()));
                let made = patched(old.all(), new.all(), &cut[file]);
                prop_assert_eq!(made, new.all().iter().map(|line| line.to_vec()).collect::<Vec<_>>());
            }
        }
    }
}
