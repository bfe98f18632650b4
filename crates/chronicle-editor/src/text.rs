//! A text that is open in an editor: positions as the protocol counts them, and lines as git does.

use gen_lsp_types::{Position, Range};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every client knows.
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    fn units(self, character: char) -> u32 {
        let units = match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        };
        u32::try_from(units).unwrap_or(1)
    }
}

/// Where the lines of a text begin. In the protocol a lone carriage return ends a line, in git it does not.
pub(crate) struct TextLines<'t> {
    text: &'t str,
    encoding: Encoding,
    /// Where lines of the protocol begin.
    starts: Vec<usize>,
    /// Where lines of git begin.
    git_starts: Vec<usize>,
}

impl<'t> TextLines<'t> {
    pub(crate) fn new(text: &'t str, encoding: Encoding) -> Self {
        let (mut starts, mut git_starts) = (vec![0], vec![0]);
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' => {
                    starts.push(at + 1);
                    git_starts.push(at + 1);
                }
                b'\r' if bytes.get(at + 1) != Some(&b'\n') => starts.push(at + 1),
                _ => {}
            }
        }
        Self { text, encoding, starts, git_starts }
    }

    /// Where a position is in the bytes. One beyond a line means its end, one beyond the text the end of that.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.text.len());
        let line = self.text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            units += self.encoding.units(character);
            if position.character < units {
                return start + at;
            }
        }
        start + line.len()
    }

    /// The position of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let character = before.chars().map(|character| self.encoding.units(character)).sum();
        Position { line: number(line), character }
    }

    /// The line of git's, counted from 1, in which a position is.
    pub(crate) fn line_of(&self, position: Position) -> u32 {
        let offset = self.offset(position);
        number(self.git_starts.partition_point(|start| *start <= offset))
    }

    /// The bytes of a line, without what ends it; of one that is beyond the text, its end.
    fn line(&self, line: u32) -> (usize, &'t str) {
        let at = (line as usize).saturating_sub(1);
        let Some(start) = self.git_starts.get(at).copied() else { return (self.text.len(), "") };
        let end = self.git_starts.get(at + 1).copied().unwrap_or(self.text.len());
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// The text of a line.
    pub(crate) fn text_of(&self, line: u32) -> &'t str {
        self.line(line).1
    }

    /// Where a line ends.
    pub(crate) fn end_of(&self, line: u32) -> Position {
        let (start, text) = self.line(line);
        self.position(start + text.len())
    }

    /// A line without the white space before it.
    pub(crate) fn range_of(&self, line: u32) -> Range {
        let (start, text) = self.line(line);
        let indent = text.len() - text.trim_start().len();
        Range { start: self.position(start + indent), end: self.position(start + text.len()) }
    }

    /// The bytes between two positions, in whatever order.
    pub(crate) fn bytes(&self, range: Range) -> std::ops::Range<usize> {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        start.min(end)..start.max(end)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_what_was_agreed_on() {
        let text = "a\u{e9}\u{1f980}b\nc";
        let check = |encoding, columns: [u32; 5]| {
            let lines = TextLines::new(text, encoding);
            for (column, offset) in columns.into_iter().zip([0, 1, 3, 7, 8]) {
                assert_eq!(lines.offset(at(0, column)), offset, "{encoding:?} {column}");
                assert_eq!(lines.position(offset), at(0, column), "{encoding:?} {offset}");
            }
        };
        check(Encoding::Utf8, [0, 1, 3, 7, 8]);
        check(Encoding::Utf16, [0, 1, 2, 4, 5]);
        check(Encoding::Utf32, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn positions_beyond_a_line_or_within_a_character_are_taken_for_the_nearest() {
        let lines = TextLines::new("a\u{1f980}\r\nb\rc\n", Encoding::Utf16);
        let check = |line, character, offset| assert_eq!(lines.offset(at(line, character)), offset);
        check(0, 2, 1);
        check(0, 99, 5);
        check(0, u32::MAX, 5);
        check(1, 0, 7);
        check(2, 1, 10);
        check(3, 0, 11);
        check(99, 99, 11);
        assert_eq!(lines.position(11), at(3, 0));
    }

    #[test]
    fn git_does_not_end_a_line_at_a_lone_carriage_return() {
        let lines = TextLines::new("a\r\n  b\rc\n", Encoding::Utf8);
        let of = |line| lines.line_of(at(line, 0));
        assert_eq!([of(0), of(1), of(2), of(3)], [1, 2, 2, 3]);
        assert_eq!(lines.range_of(2), Range { start: at(1, 2), end: at(2, 1) });
        assert_eq!(lines.end_of(1), at(0, 1));
        assert_eq!(lines.end_of(99), at(3, 0));
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_turned_round() {
        let lines = TextLines::new("one\ntwo\n", Encoding::Utf8);
        assert_eq!(lines.bytes(Range { start: at(1, 1), end: at(0, 1) }), 1..5);
    }
}
