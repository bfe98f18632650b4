//! What an edit wrote, as hashes of its lines: small enough to keep, and enough to tell which edit wrote a line.
//!
//! The words themselves stay in the transcript. Lines are hashed without the white space around them, so that what
//! is indented anew is still known. An edit replaces a piece that may begin and end within a line: then its first and
//! last line are parts of lines of the file.

use std::collections::HashMap;

use twox_hash::XxHash3_64;

use crate::turn::{Edit, EditKind};

/// The first byte: the version of this form, and whether the file was written whole.
const PIECES: u8 = 2;
const WHOLE: u8 = 3;

/// Lines of one edit that are kept at most.
const MOST_LINES: usize = 8_000;

/// How far around a line its neighbours are compared.
const NEIGHBOURS: usize = 6;

/// A line counts for no more letters than this, so that no single one decides.
const LETTERS_OF_LINE: usize = 40;

/// The lowest bit of a hash says that the line was there before.
const WAS_THERE: u32 = 1;

/// How well an edit explains a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness {
    /// Letters and digits of the line and its neighbours that the edit wrote as they are, together.
    pub letters: usize,
    /// Letters and digits of the line itself that the edit wrote.
    pub own: usize,
}

/// What one edit wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Whether the file was written whole: then the line may have been there before.
    pub is_whole: bool,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Piece {
    lines: Vec<u32>,
    /// How many bytes the first and the last line have, without white space around them.
    first: usize,
    last: usize,
}

impl Edited {
    /// What `edit` wrote; nothing where it only took away.
    #[must_use]
    pub fn of(edit: &Edit) -> Option<Self> {
        let mut room = MOST_LINES;
        let mut pieces = Vec::new();
        for replaced in &edit.replaced {
            let piece = Piece::of(&replaced.old, &replaced.new, &mut room);
            if piece.lines.iter().any(|line| line & WAS_THERE == 0) {
                pieces.push(piece);
            }
        }
        (!pieces.is_empty()).then_some(Self { is_whole: edit.kind == EditKind::Written, pieces })
    }

    /// As it is stored.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![if self.is_whole { WHOLE } else { PIECES }];
        let number = |bytes: &mut Vec<u8>, number: usize| {
            bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        };
        for piece in &self.pieces {
            for count in [piece.lines.len(), piece.first, piece.last] {
                number(&mut bytes, count);
            }
            piece.lines.iter().for_each(|line| bytes.extend(line.to_le_bytes()));
        }
        bytes
    }

    /// What was stored; none where this version does not know the form.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        let is_whole = match *form {
            WHOLE => true,
            PIECES => false,
            _ => return None,
        };
        let (numbers, []) = rest.as_chunks::<4>() else { return None };
        let mut numbers = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let mut pieces = Vec::new();
        while let Some(count) = numbers.next() {
            let (first, last) = (numbers.next()? as usize, numbers.next()? as usize);
            let lines: Vec<u32> = numbers.by_ref().take(count as usize).collect();
            if lines.len() != count as usize {
                return None;
            }
            pieces.push(Piece { lines, first, last });
        }
        Some(Self { is_whole, pieces })
    }

    /// How well it explains line number `at`, counted from 0, of a file; none where it did not write it.
    #[must_use]
    pub fn likeness(&self, file: &FileLines<'_>, at: usize) -> Option<Likeness> {
        self.pieces.iter().filter_map(|piece| piece.likeness(file, at, self.is_whole)).max()
    }
}

/// The lines of a file, made ready to be compared.
#[derive(Debug)]
pub struct FileLines<'f> {
    lines: Vec<FileLine<'f>>,
}

#[derive(Debug)]
struct FileLine<'f> {
    text: &'f [u8],
    hash: u32,
    letters: usize,
}

impl<'f> FileLines<'f> {
    /// The lines of a file with this content.
    #[must_use]
    pub fn of(content: &'f [u8]) -> Self {
        let lines = content.split(|byte| *byte == b'\n').map(|line| {
            let text = line.trim_ascii();
            FileLine { text, hash: hash(text), letters: letters(text) }
        });
        Self { lines: lines.collect() }
    }

    /// Whether line number `at`, counted from 0, has a letter or digit.
    #[must_use]
    pub fn has_letters(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| 0 < line.letters)
    }
}

impl Piece {
    fn of(old: &str, new: &str, room: &mut usize) -> Self {
        let new: Vec<&[u8]> = new.lines().map(|line| line.as_bytes().trim_ascii()).take(*room).collect();
        *room -= new.len();
        let mut old: Vec<&[u8]> = old.lines().map(|line| line.as_bytes().trim_ascii()).collect();
        // What both begin and end with was there; of the rest, whatever both have.
        let start = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
        let most = old.len().min(new.len()) - start;
        let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(l, r)| l == r).count();
        old.truncate(old.len() - end);
        let mut left: HashMap<&[u8], usize> = HashMap::new();
        for line in &old[start..] {
            *left.entry(line).or_default() += 1;
        }
        let lines = new.iter().enumerate().map(|(number, line)| {
            let was_there = number < start
                || new.len() - end <= number
                || left.get_mut(line).is_some_and(|n| {
                    let is_left = 0 < *n;
                    *n -= usize::from(is_left);
                    is_left
                });
            hash(line) | if was_there { WAS_THERE } else { 0 }
        });
        let lines: Vec<u32> = lines.collect();
        Self {
            lines,
            first: new.first().map_or(0, |line| line.len()),
            last: new.last().map_or(0, |line| line.len()),
        }
    }

    fn likeness(&self, file: &FileLines<'_>, at: usize, is_whole: bool) -> Option<Likeness> {
        let candidates = self.lines.iter().enumerate().filter(|(_, line)| **line & WAS_THERE == 0);
        let wanted = file.lines.get(at)?;
        let found = candidates.filter_map(|(number, _)| {
            let own = self.letters_at(number, wanted, is_whole)?;
            let mut letters = own.min(LETTERS_OF_LINE);
            for direction in [-1_isize, 1] {
                for step in 1..=NEIGHBOURS.cast_signed() {
                    let neighbour =
                        number.checked_add_signed(direction * step).filter(|n| *n < self.lines.len());
                    let line = at.checked_add_signed(direction * step).and_then(|at| file.lines.get(at));
                    let same = neighbour.zip(line).and_then(|(n, line)| self.letters_at(n, line, is_whole));
                    let Some(same) = same else { break };
                    letters += same.min(LETTERS_OF_LINE);
                }
            }
            Some(Likeness { letters, own })
        });
        found.max()
    }

    /// How many letters of `line` are those of the piece's line of this number; none where it is another line.
    fn letters_at(&self, number: usize, line: &FileLine<'_>, is_whole: bool) -> Option<usize> {
        let wanted = self.lines[number] & !WAS_THERE;
        if line.hash == wanted {
            return Some(line.letters);
        }
        let (is_first, is_last) = (number == 0, number + 1 == self.lines.len());
        if is_whole || !(is_first || is_last) {
            return None;
        }
        let is = |part: &&[u8]| hash(part) == wanted;
        let part = match (is_first, is_last) {
            (true, true) => line.text.windows(self.first.max(1)).find(is),
            (true, _) => line.text.len().checked_sub(self.first).map(|start| &line.text[start..]).filter(is),
            _ => line.text.get(..self.last).filter(is),
        };
        part.filter(|part| !part.is_empty()).map(letters)
    }
}

/// A hash of a line, with room for a bit.
fn hash(line: &[u8]) -> u32 {
    let bytes = XxHash3_64::oneshot(line).to_le_bytes();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) & !WAS_THERE
}

fn letters(line: &[u8]) -> usize {
    line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::turn::Replaced;

    fn edited(old: &str, new: &str, kind: EditKind) -> Edited {
        let replaced = vec![Replaced { old: old.into(), new: new.into() }];
        Edited::of(&Edit { path: "a.rs".into(), replaced, kind }).expect("it writes")
    }

    fn own(edited: &Edited, file: &str) -> Vec<usize> {
        let lines = FileLines::of(file.trim_end().as_bytes());
        let own = |at| edited.likeness(&lines, at).map_or(0, |likeness| likeness.own);
        (0..lines.lines.len()).map(own).collect()
    }

    #[test]
    fn lines_that_an_edit_wrote_are_known_and_no_others() {
        let edit = edited("fn a() {\n    one();\n}", "fn a() {\n    one();\n    two();\n}", EditKind::Edited);
        assert_eq!(own(&edit, "fn z() {}\nfn a() {\n  one();\n  two();\n}\n"), [0, 0, 0, 3, 0]);
    }

    #[test]
    fn an_edit_within_a_line_is_known_by_its_part() {
        let edit = edited("max(3)", "max(retries)", EditKind::Edited);
        assert_eq!(own(&edit, "let n = max(retries) + 1;\nlet m = max(3);\n"), [10, 0]);
        let edit = edited("a)\nb", "alpha)\nlet beta", EditKind::Edited);
        assert_eq!(own(&edit, "f(alpha)\nlet beta = 1;\nlet beta"), [5, 7, 7]);
    }

    #[test]
    fn what_was_written_whole_is_known_by_whole_lines() {
        let edit = edited("", "let a = 1;\nlet b = 2;\n", EditKind::Written);
        assert_eq!(own(&edit, "let b = 2;\nlet a = 1; // more\n"), [5, 0]);
    }

    #[test]
    fn neighbours_tell_equal_lines_apart() {
        let edit = edited("", "first\n}\nsecond\n", EditKind::Written);
        let file = FileLines::of(b"other\n}\nthing\nfirst\n}\nsecond");
        assert_eq!(edit.likeness(&file, 1), Some(Likeness { letters: 0, own: 0 }));
        assert_eq!(edit.likeness(&file, 4), Some(Likeness { letters: 11, own: 0 }));
    }

    proptest! {
        #[test]
        fn what_is_stored_comes_back(old in "[a-c\n ]{0,20}", new in "[a-d\n ]{0,30}", is_whole in any::<bool>()) {
            let kind = if is_whole { EditKind::Written } else { EditKind::Edited };
            let edit = Edit { path: String::new(), replaced: vec![Replaced { old, new }], kind };
            if let Some(edited) = Edited::of(&edit) {
                prop_assert_eq!(Edited::from_bytes(&edited.to_bytes()), Some(edited));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(edited) = Edited::from_bytes(&bytes) {
                let _likeness = edited.likeness(&FileLines::of(b"abc\n"), 0);
            }
        }
    }
}
