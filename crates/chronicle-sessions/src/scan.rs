//! Finds the ends of JSON values without building or checking more than that takes.
//!
//! Most of a transcript is text that nobody will look at. To its end it is searched for quotes alone, many bytes at
//! a time; what stands between them is looked at where it is taken. So more is let through than JSON allows (control
//! characters and unknown escapes in texts), and never less.

use std::fmt;

use memchr::memchr;

/// How deep values may lie within each other.
const DEEPEST: usize = 4_096;

/// Names of members that are longer are looked at as any text.
const LONGEST_NAME: usize = 32;

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The text ends before the value does.
    Unfinished,
    /// There is something else.
    NotJson,
}

impl Broken {
    /// Whether the value may go on where the text ends.
    pub(crate) fn is_unfinished(self) -> bool {
        self == Self::Unfinished
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "the value does not end",
            Self::NotJson => "it is not JSON",
        })
    }
}

impl std::error::Error for Broken {}

/// Where a part begins and where it ends.
pub(crate) type Part = (usize, usize);

/// The first `needle` in `bytes`. Most are near: those are found without the preparations of a long search.
pub(crate) fn find(needle: u8, bytes: &[u8]) -> Option<usize> {
    // As long as a UUID and its quote.
    const NEAR: usize = 40;
    let (near, far) = bytes.split_at(bytes.len().min(NEAR));
    let (words, rest) = near.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let equal = equal(u64::from_le_bytes(*word), needle);
        if equal != 0 {
            return Some(n * 8 + equal.trailing_zeros() as usize / 8);
        }
    }
    let beside = rest.iter().position(|byte| *byte == needle).map(|at| words.len() * 8 + at);
    beside.or_else(|| memchr(needle, far).map(|at| near.len() + at))
}

/// The first quote or backslash of a name, if it is not far.
fn end_of_name(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes[..bytes.len().min(LONGEST_NAME)].as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let ends = equal(word, b'"') | equal(word, b'\\');
        if ends != 0 {
            return Some(n * 8 + ends.trailing_zeros() as usize / 8);
        }
    }
    let beside = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    beside.map(|at| words.len() * 8 + at)
}

/// Marks, in its highest bit, the first byte of `word` that is `needle`; bytes after it may be marked, too.
fn equal(word: u64, needle: u8) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    let differs = word ^ u64::from_ne_bytes([needle; 8]);
    differs.wrapping_sub(ONES) & !differs & HIGHEST
}

/// A place in JSON text that moves forward.
pub(crate) struct Scan<'a> {
    bytes: &'a [u8],
    /// The same, where all of it is text.
    text: Option<&'a str>,
    /// How far it is.
    pub(crate) at: usize,
}

impl<'a> Scan<'a> {
    /// Bytes that may not be text all through: each part is looked at when it is taken.
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes, text: None, at: 0 }
    }

    pub(crate) fn of_text(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), text: Some(text), at: 0 }
    }

    /// The part that a method gave, as text.
    pub(crate) fn checked(&self, (start, end): Part) -> Result<&'a str, Broken> {
        match self.text {
            Some(text) => Ok(&text[start..end]),
            None => std::str::from_utf8(&self.bytes[start..end]).map_err(|_| Broken::NotJson),
        }
    }

    /// The next byte that is no white space, which stays.
    pub(crate) fn peek(&mut self) -> Result<u8, Broken> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(Broken::Unfinished),
            }
        }
    }

    /// Passes over this byte, after white space.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.peek()? != byte {
            return Err(Broken::NotJson);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes over a comma, or over the end of the list or object, and says whether something follows.
    pub(crate) fn goes_on(&mut self, end: u8) -> Result<bool, Broken> {
        let byte = self.peek()?;
        if byte != b',' && byte != end {
            return Err(Broken::NotJson);
        }
        self.at += 1;
        Ok(byte == b',')
    }

    /// Passes over the beginning of a list or object, and says whether it holds anything.
    pub(crate) fn begins(&mut self, start: u8, end: u8) -> Result<bool, Broken> {
        self.expect(start)?;
        let is_empty = self.peek()? == end;
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Passes over a text that begins here, and gives what is between its quotes.
    pub(crate) fn text(&mut self) -> Result<Part, Broken> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let Some(found) = find(b'"', &self.bytes[self.at..]) else {
                self.at = self.bytes.len();
                return Err(Broken::Unfinished);
            };
            let quote = self.at + found;
            self.at = quote + 1;
            let before = &self.bytes[start..quote];
            let n_backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            if n_backslashes.is_multiple_of(2) {
                return Ok((start, quote));
            }
        }
    }

    /// The name of a member, between its quotes, and whether anything in it may be escaped; the value comes next.
    pub(crate) fn key(&mut self) -> Result<(Part, bool), Broken> {
        self.expect(b'"')?;
        let start = self.at;
        // Nearly all names are short and plain.
        let end = end_of_name(&self.bytes[start..]).map(|length| start + length);
        let key = match end {
            Some(end) if self.bytes[end] == b'"' => {
                self.at = end + 1;
                ((start, end), false)
            }
            _ => {
                self.at = start - 1;
                (self.text()?, true)
            }
        };
        self.expect(b':')?;
        Ok(key)
    }

    /// Passes over a value.
    pub(crate) fn value(&mut self) -> Result<Part, Broken> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => drop(self.text()?),
            b'{' | b'[' => self.nested()?,
            _ => self.plain()?,
        }
        Ok((start, self.at))
    }

    /// Passes over an object or a list and all that is in it.
    fn nested(&mut self) -> Result<(), Broken> {
        // What each level that is open ends with.
        let mut ends: Vec<u8> = Vec::new();
        loop {
            // A value begins.
            match self.peek()? {
                b'"' => drop(self.text()?),
                open @ (b'{' | b'[') => {
                    let end = open + 2;
                    if DEEPEST <= ends.len() {
                        return Err(Broken::NotJson);
                    }
                    if self.begins(open, end)? {
                        ends.push(end);
                        if end == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => self.plain()?,
            }
            // It has ended, and perhaps what it is in.
            loop {
                let Some(end) = ends.last().copied() else { return Ok(()) };
                if self.goes_on(end)? {
                    if end == b'}' {
                        self.key()?;
                    }
                    break;
                }
                ends.pop();
            }
        }
    }

    /// Passes over a number or a word.
    fn plain(&mut self) -> Result<(), Broken> {
        let rest = &self.bytes[self.at..];
        if let Some(length) = usual(rest) {
            self.at += length;
            return Ok(());
        }
        let length = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'+' | b'.'))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        let is_at_end = length == rest.len();
        let is_word = |whole: &[u8]| word == whole || is_at_end && whole.starts_with(word);
        if is_number(word) || [&b"true"[..], b"false", b"null"].into_iter().any(|whole| word == whole) {
            self.at += length;
            return Ok(());
        }
        let may_go_on = is_at_end
            && ([&b"true"[..], b"false", b"null"].into_iter().any(is_word)
                || is_number(&[word, b"0"].concat()));
        Err(if may_go_on { Broken::Unfinished } else { Broken::NotJson })
    }
}

/// How long the word or the whole number is that `rest` begins with, if it is a usual one and something follows.
fn usual(rest: &[u8]) -> Option<usize> {
    let length = match rest.first()? {
        b't' if rest.starts_with(b"true") => 4,
        b'f' if rest.starts_with(b"false") => 5,
        b'n' if rest.starts_with(b"null") => 4,
        b'1'..=b'9' => rest.iter().position(|byte| !byte.is_ascii_digit())?,
        _ => return None,
    };
    matches!(rest.get(length), Some(b',' | b'}' | b']')).then_some(length)
}

/// Whether these bytes are a number, as JSON writes it.
fn is_number(word: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || 1 < whole && rest[0] == b'0' {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent =
            exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let length = digits(exponent);
        return 0 < length && length == exponent.len();
    }
    rest.is_empty()
}
