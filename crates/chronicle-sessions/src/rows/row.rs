//! One row of a transcript, and where its parts stand.

use crate::rows::blocks;
use crate::rows::json::Raw;
use crate::turn::Place;

/// The bytes of a row, which may be followed by those of another.
pub(crate) struct Row<'a> {
    /// The bytes.
    pub(crate) bytes: &'a [u8],
    /// Where they stand.
    pub(crate) place: Place,
    /// The same, where all of it is text: a line is looked at once for that, however many rows are on it.
    text: Option<&'a str>,
    /// Whether a mark of private text may be on its line, which is looked for once, too.
    pub(crate) may_have_mark: bool,
    /// Whether it begins a line to which nothing will be added.
    pub(crate) is_whole_line: bool,
    is_as_stored: bool,
}

impl<'a> Row<'a> {
    pub(crate) fn new(bytes: &'a [u8], place: Place) -> Self {
        Self::on_line(bytes, simdutf8::basic::from_utf8(bytes).ok(), blocks::may_have_mark(bytes), place)
    }

    /// A row that others may follow on its line, of which it is known whether it is text and may have a mark.
    pub(crate) fn on_line(bytes: &'a [u8], text: Option<&'a str>, may_have_mark: bool, place: Place) -> Self {
        Self { bytes, text, may_have_mark, place, is_whole_line: false, is_as_stored: true }
    }

    /// A row whose bytes are not those of the file, so that its parts have no place of their own.
    pub(crate) fn repaired(text: &'a str, place: Place) -> Self {
        let bytes = text.as_bytes();
        let may_have_mark = blocks::may_have_mark(bytes);
        Self { bytes, text: Some(text), may_have_mark, place, is_whole_line: false, is_as_stored: false }
    }

    /// Whether its bytes are those of the file.
    pub(crate) fn is_as_stored(&self) -> bool {
        self.is_as_stored
    }

    /// The row with other bytes of the same length in its place.
    pub(crate) fn with_bytes<'b>(&self, bytes: &'b [u8]) -> Row<'b> {
        Row { bytes, text: simdutf8::basic::from_utf8(bytes).ok(), place: self.place.clone(), ..*self }
    }

    /// The same, where all of it is text.
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.text
    }

    /// The row without what follows its first `length` bytes.
    pub(crate) fn first(&self, length: usize) -> Self {
        let mut place = self.place.clone();
        if self.is_as_stored {
            place.bytes.end = place.bytes.start + length as u64;
        }
        Self { bytes: &self.bytes[..length], text: self.text.map(|text| &text[..length]), place, ..*self }
    }

    /// Where `part`, which was borrowed from the row, stands.
    pub(crate) fn place_of(&self, part: Raw<'_>) -> Place {
        self.place_at(part.get(), 0)
    }

    /// Where `text` stands, with its quotes; one that had to be decoded stands somewhere in the row.
    pub(crate) fn place_of_text(&self, text: &str) -> Place {
        self.place_at(text, 1)
    }

    fn place_at(&self, part: &str, n_quotes: usize) -> Place {
        let start =
            (part.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize).wrapping_sub(n_quotes);
        let length = part.len() + 2 * n_quotes;
        if !self.is_as_stored || self.bytes.len() < start.saturating_add(length) {
            return self.place.clone();
        }
        let start = self.place.bytes.start + start as u64;
        Place { line: self.place.line, bytes: start..start + length as u64 }
    }
}
