//! Reads a transcript from its beginning to its end.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::handed::Begun;
use crate::agents::{Format, Reader};
use crate::rows::blocks;
use crate::rows::elements::{Element, Elements};
use crate::rows::row::Row;
pub use crate::rows::session::Session;
use crate::rows::source::{Lines, Piece, Source};
use crate::rows::stream::{Stream, StreamPause, Waiting};
use crate::rows::tally::{FaultKind, Tally, Verdict};
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

/// What a reading knows of a file of rows up to the end of one of them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) end: Place,
    format: Format,
    tally: Tally,
    reader: Value,
    stream: StreamPause,
}

impl Pause {
    /// The rows with calls that wait for their outcome.
    pub(crate) fn waiting_rows(&self) -> Vec<Place> {
        self.stream.waiting_rows()
    }

    /// These calls, from their rows; none where a row is not as it was.
    pub(crate) fn waiting(&self, rows: &[(Place, Vec<u8>)]) -> Option<VecDeque<Waiting>> {
        let mut on_turn = |_: &Turn<'_>, _: &Session| {};
        let mut again = Stream::new(Session::default(), &mut on_turn);
        for (place, bytes) in rows {
            let mut reader = Reader::new(self.format);
            read_line(bytes, place, true, &mut reader, &mut again, &mut Tally::default());
        }
        self.stream.waiting(again)
    }
}

/// A reading that has come to the end of the last row, before it tells what waits.
pub(crate) struct AtEnd<'a, 's> {
    end: &'a Place,
    format: Format,
    tally: &'a Tally,
    reader: &'a Reader,
    stream: &'a Stream<'s>,
}

impl AtEnd<'_, '_> {
    /// How many bytes of the file were read.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.end.bytes.start
    }

    /// What a later reading needs to go on from here; none where it can't.
    pub(crate) fn pause(&self) -> Option<Pause> {
        Some(Pause {
            end: self.end.clone(),
            format: self.format,
            tally: self.tally.clone(),
            reader: self.reader.pause()?,
            stream: self.stream.pause()?,
        })
    }
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
    read_to_end(Source::new(file, start), format, Begun::default(), on_turn, &mut |_| {})
}

/// Reads `file` as [`read`] does, that of a session which began so, and shows the reading to `at_end` where a later one can go on from its end.
pub(crate) fn read_to_end(
    mut source: Source<impl Read>,
    format: Option<Format>,
    begun: Begun,
    on_turn: &mut dyn FnMut(&Turn<'_>, &Session),
    at_end: &mut dyn FnMut(&AtEnd<'_, '_>),
) -> io::Result<Option<Reading>> {
    source.fill()?;
    while source.bytes().len() < crate::agents::ENOUGH && !source.is_at_end() {
        source.fill()?;
    }
    source.pass_mark();
    let Some(format) = format.or_else(|| Format::of(source.bytes())) else { return Ok(None) };
    let (agent, is_sub_agent) = (Some(format.agent()), begun == Begun::ByAgent);
    let mut stream = Stream::new(Session { agent, is_sub_agent, ..Session::default() }, on_turn);
    stream.is_handed_over = begun == Begun::WithHandedWords;
    let mut rows = Rows { format, reader: Reader::new(format), stream, tally: Tally::default() };
    if format.is_document() {
        let end = read_document(source, &mut rows.reader, &mut rows.stream, &mut rows.tally)?;
        return Ok(Some(rows.finish(end)));
    }
    rows.read(source, at_end).map(Some)
}

/// Goes on with a reading at its pause, with the calls that wait there; `file` stands there, too.
pub(crate) fn read_on(
    file: impl Read,
    pause: Pause,
    waiting: VecDeque<Waiting>,
    on_turn: &mut dyn FnMut(&Turn<'_>, &Session),
    at_end: &mut dyn FnMut(&AtEnd<'_, '_>),
) -> io::Result<Reading> {
    let Pause { end, format, tally, reader: state, stream: known } = pause;
    let mut reader = Reader::new(format);
    reader.go_on(state);
    let mut stream = Stream::new(Session::default(), on_turn);
    stream.go_on(known, waiting);
    Rows { format, reader, stream, tally }.read(Source::new(file, &end), at_end)
}

/// A reading of rows.
struct Rows<'s> {
    format: Format,
    reader: Reader,
    stream: Stream<'s>,
    tally: Tally,
}

impl Rows<'_> {
    fn read(
        mut self,
        source: Source<impl Read>,
        at_end: &mut dyn FnMut(&AtEnd<'_, '_>),
    ) -> io::Result<Reading> {
        let (end, is_whole) = read_lines(source, &mut self.reader, &mut self.stream, &mut self.tally)?;
        if is_whole {
            let Self { format, reader, stream, tally } = &self;
            at_end(&AtEnd { end: &end, format: *format, tally, reader, stream });
        }
        Ok(self.finish(end))
    }

    fn finish(mut self, end: Place) -> Reading {
        self.reader.finish(&mut self.stream);
        self.stream.finish();
        Reading { agent: self.format.agent(), session: self.stream.session, tally: self.tally, end }
    }
}

/// Reads lines to the end of the file, and says whether the last one has ended and was read.
fn read_lines<R: Read>(
    source: Source<R>,
    reader: &mut Reader,
    stream: &mut Stream<'_>,
    tally: &mut Tally,
) -> io::Result<(Place, bool)> {
    let mut end = Place { line: source.line(), bytes: source.offset()..source.offset() };
    let mut is_whole = true;
    let mut lines = Lines::new(source);
    while let Some(piece) = lines.next()? {
        tally.n_lines += 1;
        is_whole = matches!(piece, Piece::Line { is_ended: true, .. });
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
                    return Ok((end, false));
                }
                let next = place.bytes.end + u64::from(is_ended);
                end = Place { line: place.line + u64::from(is_ended), bytes: next..next };
            }
        }
    }
    Ok((end, is_whole))
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
        stream.row = row.place.clone();
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
