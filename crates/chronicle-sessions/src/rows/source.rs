//! The bytes of a file through a buffer of bounded size.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::Range;

use crate::turn::Place;

/// The longest row that is read whole; of a longer one, long texts in it are cut, and it is reported and passed over where
/// that does not help.
pub const LONGEST_ROW: usize = 16 << 20;

/// The longest text that is left whole in a row that is too long: images are longer, and hardly any words.
const LONGEST_TEXT: usize = 1 << 20;

/// How much is asked for at a time.
const CHUNK: usize = 256 << 10;

/// A window over a file that moves forward only.
pub(crate) struct Source<R> {
    file: R,
    buffer: Vec<u8>,
    window: Range<usize>,
    offset: u64,
    line: u64,
    is_at_end: bool,
}

thread_local! {
    /// The buffer of the last source: small files follow each other, and zeros would be written over each time.
    static SPARE: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
}

impl<R> Drop for Source<R> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        // One that has grown for a long row goes back to the system.
        SPARE.set(Some(buffer).filter(|buffer| buffer.len() == CHUNK));
    }
}

impl<R: Read> Source<R> {
    /// A source whose first byte stands at `start`.
    pub(crate) fn new(file: R, start: &Place) -> Self {
        Self {
            file,
            buffer: SPARE.take().unwrap_or_else(|| vec![0; CHUNK]),
            window: 0..0,
            offset: start.bytes.start,
            line: start.line.max(1),
            is_at_end: false,
        }
    }

    /// What is in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.window.clone()]
    }

    /// Where the first byte of the window stands in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The line on which the window begins.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Whether nothing comes after the window.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Reads more behind the window; the caller keeps it below the longest row.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        if self.buffer.len() - self.window.end < CHUNK / 2 {
            self.buffer.copy_within(self.window.clone(), 0);
            self.window = 0..self.window.len();
            if self.buffer.len() - self.window.end < CHUNK / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.file.read(&mut self.buffer[self.window.end..]) {
                Ok(0) => self.is_at_end = true,
                Ok(n_read) => self.window.end += n_read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Passes the mark of byte order that some programs put at the beginning of a file.
    pub(crate) fn pass_mark(&mut self) {
        if self.offset == 0 && self.bytes().starts_with(&[0xef, 0xbb, 0xbf]) {
            self.advance(3, 0);
        }
    }

    /// Moves the window past its first `n_bytes`, which hold `n_lines` ends of lines.
    pub(crate) fn advance(&mut self, n_bytes: usize, n_lines: u64) {
        self.window.start += n_bytes;
        self.offset += n_bytes as u64;
        self.line += n_lines;
        if self.window.is_empty() {
            self.window = 0..0;
        }
    }
}

/// A piece of a file that should be one JSON value.
pub(crate) enum Piece<'b> {
    /// A line without its end; `is_ended` is false for a last line that has none.
    Line {
        /// The line.
        bytes: &'b [u8],
        /// Where it stands.
        place: Place,
        /// Whether the line has ended, so that nothing will be added to it.
        is_ended: bool,
    },
    /// A line that is longer than the longest row, with its long texts cut.
    Cut {
        /// What is left of the line.
        bytes: Vec<u8>,
        /// Where all of it stands.
        place: Place,
    },
    /// Longer than the longest row, whatever is cut.
    TooLong(Place),
}

/// A file as lines.
pub(crate) struct Lines<R> {
    source: Source<R>,
    n_shown: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        Self { source, n_shown: 0 }
    }

    /// The next line, or none at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.source.advance(self.n_shown, u64::from(0 < self.n_shown));
        self.n_shown = 0;
        let mut n_searched = 0;
        let length = loop {
            let bytes = self.source.bytes();
            if let Some(found) = memchr::memchr(b'\n', &bytes[n_searched..]) {
                break n_searched + found;
            }
            n_searched = bytes.len();
            if self.source.is_at_end() {
                break n_searched;
            }
            if LONGEST_ROW <= n_searched {
                return self.cut_line().map(Some);
            }
            self.source.fill()?;
        };
        let is_ended = length < self.source.bytes().len();
        if length == 0 && !is_ended {
            return Ok(None);
        }
        self.n_shown = length + usize::from(is_ended);
        let start = self.source.offset();
        let place = Place { line: self.source.line(), bytes: start..start + length as u64 };
        Ok(Some(Piece::Line { bytes: &self.source.bytes()[..length], place, is_ended }))
    }

    fn cut_line(&mut self) -> io::Result<Piece<'static>> {
        let (start, line) = (self.source.offset(), self.source.line());
        let mut cut = Cut::default();
        loop {
            let bytes = self.source.bytes();
            let end = memchr::memchr(b'\n', bytes);
            cut.take(&bytes[..end.unwrap_or(bytes.len())]);
            let n_passed = end.map_or(bytes.len(), |end| end + 1);
            self.source.advance(n_passed, u64::from(end.is_some()));
            if end.is_some() || self.source.is_at_end() {
                let place = Place { line, bytes: start..self.source.offset() - u64::from(end.is_some()) };
                return Ok(match cut.left {
                    Some(bytes) => Piece::Cut { bytes, place },
                    None => Piece::TooLong(place),
                });
            }
            self.source.fill()?;
        }
    }
}

/// A row of JSON that loses the ends of its long texts while it goes by.
struct Cut {
    /// What is left so far; none where that, too, is longer than the longest row.
    left: Option<Vec<u8>>,
    is_in_text: bool,
    n_of_text: usize,
    /// How many bytes of an escape are still to come.
    n_of_escape: usize,
    is_escape_begun: bool,
    /// Whether the character that goes by is left.
    is_left: bool,
}

impl Default for Cut {
    fn default() -> Self {
        Self {
            left: Some(Vec::new()),
            is_in_text: false,
            n_of_text: 0,
            n_of_escape: 0,
            is_escape_begun: false,
            is_left: true,
        }
    }
}

impl Cut {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_left = self.is_left(*byte);
            let Some(left) = self.left.as_mut().filter(|_| is_left) else { continue };
            left.push(*byte);
            if LONGEST_ROW < left.len() {
                self.left = None;
            }
        }
    }

    /// Whether the next byte is left.
    fn is_left(&mut self, byte: u8) -> bool {
        if !self.is_in_text {
            self.is_in_text = byte == b'"';
            self.n_of_text = 0;
            return true;
        }
        self.n_of_text += 1;
        if self.is_escape_begun {
            self.is_escape_begun = false;
            self.n_of_escape = if byte == b'u' { 4 } else { 0 };
        } else if 0 < self.n_of_escape {
            self.n_of_escape -= 1;
        } else if byte == b'"' {
            self.is_in_text = false;
            return true;
        } else if byte & 0xc0 != 0x80 {
            // Escapes, and letters of several bytes, are left as a whole or not at all.
            self.is_escape_begun = byte == b'\\';
            self.is_left = self.n_of_text <= LONGEST_TEXT;
        }
        self.is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_ends_and_nothing_else_is_cut() {
        let cut = |row: &str| {
            let mut cut = Cut::default();
            // In whatever pieces it comes.
            row.as_bytes().chunks(7).for_each(|chunk| cut.take(chunk));
            String::from_utf8(cut.left.expect("it is short now")).expect("it is text")
        };
        let short = r#"{"a":"b\"c","d":[1,"é\u00e9"]}"#;
        assert_eq!(cut(short), short);
        let image = "A".repeat(LONGEST_TEXT);
        assert_eq!(
            cut(&format!(r#"{{"image":"{image}AAA","text":"why"}}"#)),
            format!(r#"{{"image":"{image}","text":"why"}}"#)
        );
        let short_of_one = "A".repeat(LONGEST_TEXT - 1);
        for last in [r#"\""#, r"\u00e9", "é"] {
            let row = format!(r#"["{short_of_one}{last}{last}B"]"#);
            assert_eq!(cut(&row), format!(r#"["{short_of_one}{last}"]"#));
        }
        let mut many = Cut::default();
        many.take(&b"1,".repeat(LONGEST_ROW));
        assert_eq!(many.left, None);
    }
}
