//! The bytes of a file through a buffer of bounded size.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::Range;

use crate::turn::Place;

/// The longest row that is read; a longer one is reported and passed over.
pub const LONGEST_ROW: usize = 16 << 20;

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
    /// Longer than the longest row.
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
                return self.pass_over().map(Some);
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

    fn pass_over(&mut self) -> io::Result<Piece<'static>> {
        let start = self.source.offset();
        let line = self.source.line();
        loop {
            let bytes = self.source.bytes();
            let end = memchr::memchr(b'\n', bytes);
            let n_passed = end.map_or(bytes.len(), |end| end + 1);
            let n_bytes = n_passed as u64;
            self.source.advance(n_passed, u64::from(end.is_some()));
            if end.is_some() || self.source.is_at_end() {
                let end = self.source.offset() - u64::from(end.is_some() && 0 < n_bytes);
                return Ok(Piece::TooLong(Place { line, bytes: start..end }));
            }
            self.source.fill()?;
        }
    }
}
