//! A file that is one JSON object, or a list of messages, value by value.
//!
//! Some agents write a session as one document. Its messages are looked at one
//! by one, so that the document may be of any size.

use std::io::{self, Read};

use crate::rows::source::{LONGEST_ROW, Source};
use crate::rows::tally::FaultKind;
use crate::turn::Place;

/// The member whose items come one by one.
const MESSAGES: &str = "messages";

/// A piece of a document.
pub(crate) enum Element<'b> {
    /// A member of the outermost object, other than the messages.
    Member { name: &'b str, bytes: &'b [u8] },
    /// One of the messages.
    Message { bytes: &'b [u8], place: Place },
    /// What cannot be read; after `NotJson` and `Unfinished` nothing else comes.
    Fault(Place, FaultKind),
}

/// Where the walk through the document stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Members,
    Messages,
    End,
}

/// A value in the window, or why there is none.
enum Taken {
    Whole(usize),
    TooLong(Place),
    Unfinished,
    NoValue,
}

/// A document as its members and messages.
pub(crate) struct Elements<R> {
    source: Source<R>,
    state: State,
    /// Whether the messages are all there is.
    is_list: bool,
    name: String,
    n_shown: usize,
}

impl<R: Read> Elements<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        Self { source, state: State::Start, is_list: false, name: String::new(), n_shown: 0 }
    }

    /// The lines up to here, and the offset.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.source.line(), self.source.offset())
    }

    /// The next piece, or none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Element<'_>>> {
        let shown = std::mem::take(&mut self.n_shown);
        self.pass(shown);
        loop {
            let byte = self.peek()?;
            match (self.state, byte) {
                (State::End, None) => return Ok(None),
                (State::End, Some(_)) => return self.give_up(FaultKind::NotJson),
                (_, None) => return self.give_up(FaultKind::Unfinished),
                (State::Start, Some(b'{')) => self.enter(State::Members),
                (State::Start, Some(b'[')) => {
                    self.is_list = true;
                    self.enter(State::Messages);
                }
                (State::Messages, Some(b']')) if self.is_list => self.enter(State::End),
                (State::Members, Some(b'}')) => self.enter(State::End),
                (State::Messages, Some(b']')) => self.enter(State::Members),
                (State::Members | State::Messages, Some(b',')) => self.pass(1),
                (State::Members, Some(b'"')) => {
                    if let Some(fault) = self.take_name()? {
                        return self.give_up(fault);
                    }
                    if self.name == MESSAGES && self.peek()? == Some(b'[') {
                        self.enter(State::Messages);
                        continue;
                    }
                    return self.show();
                }
                (State::Messages, Some(_)) => return self.show(),
                (_, Some(_)) => return self.give_up(FaultKind::NotJson),
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.pass(1);
        self.state = state;
    }

    /// Takes `"name" :` and leaves the window at the value.
    fn take_name(&mut self) -> io::Result<Option<FaultKind>> {
        let Taken::Whole(length) = self.take()? else { return Ok(Some(FaultKind::Unfinished)) };
        let name = serde_json::from_slice::<String>(&self.source.bytes()[..length]);
        self.name = name.unwrap_or_default();
        self.pass(length);
        match self.peek()? {
            Some(b':') => self.pass(1),
            Some(_) => return Ok(Some(FaultKind::NotJson)),
            None => return Ok(Some(FaultKind::Unfinished)),
        }
        Ok(if self.peek()?.is_none() { Some(FaultKind::Unfinished) } else { None })
    }

    fn show(&mut self) -> io::Result<Option<Element<'_>>> {
        match self.take()? {
            Taken::Whole(length) => {
                self.n_shown = length;
                let start = self.source.offset();
                let bytes = &self.source.bytes()[..length];
                let place = Place { line: self.source.line(), bytes: start..start + length as u64 };
                Ok(Some(match self.state {
                    State::Messages => Element::Message { bytes, place },
                    _ => Element::Member { name: &self.name, bytes },
                }))
            }
            Taken::TooLong(place) => Ok(Some(Element::Fault(place, FaultKind::TooLong))),
            Taken::Unfinished => self.give_up(FaultKind::Unfinished),
            Taken::NoValue => self.give_up(FaultKind::NotJson),
        }
    }

    /// Passes over the rest, of which nothing can be told.
    fn give_up(&mut self, kind: FaultKind) -> io::Result<Option<Element<'_>>> {
        let (line, start) = self.position();
        loop {
            self.pass(self.source.bytes().len());
            if self.source.is_at_end() {
                break;
            }
            self.source.fill()?;
        }
        self.state = State::End;
        let place = Place { line, bytes: start..self.source.offset() };
        Ok(Some(Element::Fault(place, kind)))
    }

    /// The next byte that is no white space, where the window begins from then on.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let bytes = self.source.bytes();
            let n_spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = bytes.get(n_spaces).copied();
            self.pass(n_spaces);
            if next.is_some() || self.source.is_at_end() {
                return Ok(next);
            }
            self.source.fill()?;
        }
    }

    fn pass(&mut self, n_bytes: usize) {
        let n_lines = memchr::memchr_iter(b'\n', &self.source.bytes()[..n_bytes]).count();
        self.source.advance(n_bytes, n_lines as u64);
    }

    /// Finds the end of the value at which the window begins.
    fn take(&mut self) -> io::Result<Taken> {
        let mut scan = Scan::default();
        let (line, start) = self.position();
        let mut n_scanned = 0;
        let mut is_too_long = false;
        loop {
            let found = scan.run(&self.source.bytes()[n_scanned..]);
            if let Some(length) = found.map(|found| n_scanned + found) {
                if length == 0 && !is_too_long {
                    return Ok(Taken::NoValue);
                }
                if !is_too_long {
                    return Ok(Taken::Whole(length));
                }
                self.pass(length);
                return Ok(Taken::TooLong(Place { line, bytes: start..self.source.offset() }));
            }
            n_scanned = self.source.bytes().len();
            if self.source.is_at_end() {
                return Ok(Taken::Unfinished);
            }
            if LONGEST_ROW <= n_scanned {
                is_too_long = true;
                self.pass(n_scanned);
                n_scanned = 0;
            }
            self.source.fill()?;
        }
    }
}

/// How deep in a value the scan is.
#[derive(Default)]
struct Scan {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_begun: bool,
}

impl Scan {
    /// The end of the value in `bytes`, which go on where the last ones ended.
    fn run(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            if self.is_in_string {
                if self.is_escaped {
                    self.is_escaped = false;
                } else if *byte == b'\\' {
                    self.is_escaped = true;
                } else if *byte == b'"' {
                    self.is_in_string = false;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                continue;
            }
            match byte {
                b'"' => {
                    if self.is_begun && self.depth == 0 {
                        return Some(index);
                    }
                    self.is_in_string = true;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    if self.depth == 0 {
                        return Some(index);
                    }
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                b',' | b':' if self.depth == 0 => return Some(index),
                byte if self.depth == 0 && self.is_begun && byte.is_ascii_whitespace() => return Some(index),
                _ => {}
            }
            self.is_begun = true;
        }
        None
    }
}
