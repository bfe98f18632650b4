//! Reads a transcript from its beginning to its end.

use std::borrow::Cow;
use std::io::{self, Read};

use crate::blocks;
use crate::elements::{Element, Elements};
use crate::format::{Format, Reader};
use crate::row::Row;
pub use crate::session::Session;
use crate::source::{Lines, Piece, Source};
use crate::stream::Stream;
use crate::tally::{FaultKind, Tally, Verdict};
use crate::turn::{Agent, Place, Turn};

/// A transcript that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The agent that wrote it.
    pub agent: Agent,
    /// What it says about the whole session.
    pub session: Session,
    /// What became of its rows.
    pub tally: Tally,
    /// The first byte that was not read for good: where a later reading goes on.
    ///
    /// A last line without an end counts as read if it is a whole value. A document
    /// is rewritten as a whole, so it is to be read again from its beginning.
    pub end: Place,
}

/// Reads `file`, in the form of `format` or of what its beginning says, and gives each turn to `on_turn`.
///
/// None comes back for a file that no agent wrote. What cannot be read is
/// counted; only the file itself can fail. Memory stays bounded whatever its size.
pub fn read(
    file: impl Read,
    format: Option<Format>,
    on_turn: &mut dyn FnMut(&Turn<'_>, &Session),
) -> io::Result<Option<Reading>> {
    read_from(file, &Place { line: 1, bytes: 0..0 }, format, on_turn)
}

/// Reads on in a file whose next byte stands at `start`, the end of an earlier reading.
///
/// What the session said about itself before is not known here: the caller keeps it.
pub fn read_from(
    file: impl Read,
    start: &Place,
    format: Option<Format>,
    on_turn: &mut dyn FnMut(&Turn<'_>, &Session),
) -> io::Result<Option<Reading>> {
    let mut source = Source::new(file, start);
    source.fill()?;
    while source.bytes().len() < crate::format::ENOUGH && !source.is_at_end() {
        source.fill()?;
    }
    source.pass_mark();
    let Some(format) = format.or_else(|| Format::of(source.bytes())) else { return Ok(None) };
    let session = Session { agent: Some(format.agent()), ..Session::default() };
    let mut stream = Stream::new(session, on_turn);
    let mut reader = Reader::new(format);
    let mut tally = Tally::default();
    let end = if format.is_document() {
        read_document(source, &mut reader, &mut stream, &mut tally)?
    } else {
        read_lines(source, &mut reader, &mut stream, &mut tally)?
    };
    reader.finish(&mut stream);
    stream.finish();
    Ok(Some(Reading { agent: format.agent(), session: stream.session, tally, end }))
}

fn read_lines<R: Read>(
    source: Source<R>,
    reader: &mut Reader,
    stream: &mut Stream<'_>,
    tally: &mut Tally,
) -> io::Result<Place> {
    let mut end = Place { line: source.line(), bytes: source.offset()..source.offset() };
    let mut lines = Lines::new(source);
    while let Some(piece) = lines.next()? {
        tally.n_lines += 1;
        match piece {
            Piece::Cut { bytes, place } => {
                end = Place { line: place.line + 1, bytes: place.bytes.end..place.bytes.end };
                match read_cut(&bytes, &place, reader, stream) {
                    Some(verdict) => tally.add(verdict),
                    None => tally.add_fault(place, FaultKind::TooLong),
                }
            }
            Piece::TooLong(place) => {
                end = Place { line: place.line + 1, bytes: place.bytes.end..place.bytes.end };
                tally.add_fault(place, FaultKind::TooLong);
            }
            Piece::Line { bytes, place, is_ended } => {
                if let Some(kind) = reader.skips(bytes) {
                    tally.skip_unread(kind);
                } else if !read_line(bytes, &place, is_ended, reader, stream, tally) {
                    return Ok(end);
                }
                let next = place.bytes.end + u64::from(is_ended);
                end = Place { line: place.line + u64::from(is_ended), bytes: next..next };
            }
        }
    }
    Ok(end)
}

/// Reads the values of one line, and says whether the line is done with for good.
fn read_line(
    bytes: &[u8],
    place: &Place,
    is_ended: bool,
    reader: &mut Reader,
    stream: &mut Stream<'_>,
    tally: &mut Tally,
) -> bool {
    let text = simdutf8::basic::from_utf8(bytes).ok();
    let may_have_mark = blocks::may_have_mark(bytes);
    let mut rest = bytes;
    let mut n_values = 0;
    loop {
        let n_spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
        rest = &rest[n_spaces..];
        if rest.is_empty() {
            tally.n_blank += u64::from(n_values == 0);
            return true;
        }
        let n_done = bytes.len() - rest.len();
        let start = place.bytes.start + n_done as u64;
        let place = Place { line: place.line, bytes: start..place.bytes.end };
        let mut row = Row::on_line(rest, text.map(|text| &text[n_done..]), may_have_mark, place);
        row.is_whole_line = is_ended && n_values == 0;
        match reader.read(&row, stream) {
            Ok((verdict, length)) => {
                n_values += 1;
                tally.add(verdict);
                rest = &rest[length..];
            }
            Err(error) if !is_ended && error.is_unfinished() => {
                tally.add_fault(row.place, FaultKind::Unfinished);
                return false;
            }
            Err(_) => {
                let row_place = row.place.clone();
                match read_repaired(rest, &row_place, reader, stream) {
                    Some(verdict) => {
                        tally.add(verdict);
                        tally.add_fault(row_place, FaultKind::NotUtf8);
                    }
                    None => tally.add_fault(row_place, FaultKind::NotJson),
                }
                return true;
            }
        }
    }
}

/// Reads what is left of a row that was too long.
fn read_cut(bytes: &[u8], place: &Place, reader: &mut Reader, stream: &mut Stream<'_>) -> Option<Verdict> {
    let text = String::from_utf8_lossy(bytes);
    reader.read(&Row::repaired(&text, place.clone()), stream).ok().map(|(verdict, _)| verdict)
}

/// Reads a row again whose bytes are no UTF-8, with marks in their place.
fn read_repaired(
    bytes: &[u8],
    place: &Place,
    reader: &mut Reader,
    stream: &mut Stream<'_>,
) -> Option<Verdict> {
    let Cow::Owned(repaired) = String::from_utf8_lossy(bytes) else { return None };
    let row = Row::repaired(&repaired, place.clone());
    reader.read(&row, stream).ok().map(|(verdict, _)| verdict)
}

fn read_document<R: Read>(
    source: Source<R>,
    reader: &mut Reader,
    stream: &mut Stream<'_>,
    tally: &mut Tally,
) -> io::Result<Place> {
    let mut elements = Elements::new(source);
    while let Some(element) = elements.next()? {
        match element {
            Element::Member { name, bytes } => reader.member(name, bytes, stream),
            Element::Fault(place, kind) => tally.add_fault(place, kind),
            Element::Message { bytes, place } => {
                let row = Row::new(bytes, place.clone());
                match reader.read(&row, stream) {
                    Ok((verdict, _)) => tally.add(verdict),
                    Err(_) => match read_repaired(bytes, &place, reader, stream) {
                        Some(verdict) => {
                            tally.add(verdict);
                            tally.add_fault(place, FaultKind::NotUtf8);
                        }
                        None => tally.add_fault(place, FaultKind::NotJson),
                    },
                }
            }
        }
    }
    let (line, _) = elements.position();
    tally.n_lines = line;
    Ok(Place { line: 1, bytes: 0..0 })
}
