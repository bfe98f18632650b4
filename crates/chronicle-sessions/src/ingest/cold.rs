//! Transcripts for good: compressed, and without what must not be kept.
//!
//! Every string goes through the same as what is stored of a turn. A row stays a row, so that what is kept can be read
//! like the transcript that it was made of.

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

use chronicle_core::redaction::{Removed, for_storage};
use serde_json::Value;

use crate::ingest::clean;
use crate::rows::blocks::without_private;
use crate::rows::row::Row;
use crate::turn::Place;

/// Tight enough, at the speed of a disk.
const LEVEL: i32 = 6;

/// A document that is longer than this is not kept: it has to be held as a whole.
const LONGEST_DOCUMENT: u64 = 256 << 20;

/// No transcript is longer than this: a small file can unpack to anything.
const LONGEST_UNPACKED: u64 = 4 << 30;

/// Writes what may be kept of a transcript, compressed; how long it was before that comes back.
///
/// # Errors
/// When the transcript cannot be read, is too long, or what is made of it cannot be written.
pub fn keep(source: &mut dyn BufRead, into: &mut dyn Write) -> io::Result<u64> {
    let mut out = Counted { out: zstd::Encoder::new(into, LEVEL)?, n_written: 0 };
    let mut line = Vec::new();
    let mut is_first = true;
    while 0 < source.take(LONGEST_DOCUMENT).read_until(b'\n', &mut line)? {
        repair(&mut line);
        hide_private(&mut line);
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&line).into_iter().collect();
        match values {
            Ok(values) => values.into_iter().try_for_each(|value| out.row(value))?,
            // No row, so it may be a document of many lines.
            Err(_) if is_first => {
                source.take(LONGEST_DOCUMENT).read_to_end(&mut line)?;
                if LONGEST_DOCUMENT <= line.len() as u64 {
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the document is too long"));
                }
                repair(&mut line);
                hide_private(&mut line);
                out.document(&line)?;
            }
            Err(_) => out.text(&line)?,
        }
        is_first = false;
        line.clear();
    }
    let Counted { out, n_written } = out;
    out.finish()?;
    Ok(n_written)
}

/// Puts marks in the place of bytes that are no text, and takes control characters out, which no JSON has: the rest of a row
/// is still looked at as one.
fn repair(row: &mut Vec<u8>) {
    row.retain(|byte| 0x20 <= *byte || b"\t\n\r".contains(byte));
    if let Cow::Owned(text) = String::from_utf8_lossy(row) {
        *row = text.into_bytes();
    }
}

/// Takes out of a row or a document what private spans cover over the blocks of a message.
fn hide_private(row: &mut Vec<u8>) {
    if let Some(cleaned) = without_private(&Row::new(row, Place::default())) {
        *row = cleaned;
    }
}

/// Writes out what was kept.
///
/// # Errors
/// When it is damaged, or cannot be written.
pub fn unpack(kept: &mut dyn Read, into: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut zstd::Decoder::new(kept)?, into)
}

/// Reads what an agent compressed, as it was before.
///
/// # Errors
/// When it is no such file.
pub fn unpacking(packed: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(zstd::Decoder::new(packed)?.take(LONGEST_UNPACKED)))
}

/// What an agent compressed, as a whole: it is a document.
///
/// # Errors
/// When it is no such thing, or longer than a document that is kept.
pub fn unpacked_document(packed: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut document = Vec::new();
    unpacking(io::Cursor::new(packed))?.take(LONGEST_DOCUMENT).read_to_end(&mut document)?;
    if LONGEST_DOCUMENT <= document.len() as u64 {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the document is too long"));
    }
    Ok(document)
}

struct Counted<'w> {
    out: zstd::Encoder<'static, &'w mut dyn Write>,
    n_written: u64,
}

impl Counted<'_> {
    fn row(&mut self, mut value: Value) -> io::Result<()> {
        clean(&mut value, &mut Removed::default());
        let mut text = value.to_string();
        text.push('\n');
        self.bytes(text.as_bytes())
    }

    fn document(&mut self, bytes: &[u8]) -> io::Result<()> {
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(bytes).into_iter().collect();
        match values {
            Ok(values) => values.into_iter().try_for_each(|value| self.row(value)),
            Err(_) => self.text(bytes),
        }
    }

    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        let text = for_storage(&text, &mut Removed::default()).into_owned();
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.n_written += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        round_of(text.as_bytes())
    }

    fn round_of(mut bytes: &[u8]) -> String {
        let (mut packed, mut out) = (Vec::new(), Vec::new());
        keep(&mut bytes, &mut packed).expect("it can be kept");
        let n = unpack(&mut packed.as_slice(), &mut out).expect("it can be unpacked");
        assert_eq!(n, out.len() as u64);
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn rows_stay_rows_without_secrets() {
        let text = "{\"a\":\"password=hunter22\",\"n\":1}\n{\"b\":\"<private>x</private> y\"}{\"c\":2}\n";
        assert_eq!(
            round(text),
            "{\"a\":\"password=[redacted:password]\",\"n\":1}\n{\"b\":\"[private] y\"}\n{\"c\":2}\n"
        );
    }

    #[test]
    fn documents_and_torn_rows_are_kept_too() {
        assert_eq!(round("{\n \"a\": [\n  1\n ]\n}\n"), "{\"a\":[1]}\n");
        assert_eq!(
            round("{\"a\":1}\n{\"b\": password=hunter22"),
            "{\"a\":1}\n{\"b\": password=[redacted:password]"
        );
        let broken = "{\n \"a\": 1\n}\nodd password=hunter22";
        assert_eq!(round(broken), "{\n \"a\": 1\n}\nodd password=[redacted:password]");
        assert_eq!(round(""), "");
        assert_eq!(round("no json"), "no json");
    }

    #[test]
    fn a_few_bytes_unpack_to_no_more_than_a_document_may_have() {
        let bomb = |n_bytes: u64| {
            let mut packed = zstd::Encoder::new(Vec::new(), 19).expect("it is a level");
            io::copy(&mut io::repeat(b' ').take(n_bytes), &mut packed).expect("there is room");
            packed.finish().expect("it ends")
        };
        let document = unpacked_document(bomb(1 << 20)).expect("it is short");
        assert_eq!(document.len(), 1 << 20);
        let packed = bomb(LONGEST_DOCUMENT + 1);
        assert!(packed.len() < 64 << 10, "{}", packed.len());
        let error = unpacked_document(packed).expect_err("it is too long");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(unpacked_document(b"no such thing".to_vec()).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_make_no_row_a_line() {
        let row = b"{\"text\":\"a\xd9b\"}\n";
        assert_eq!(round_of(row), "{\"text\":\"a\u{fffd}b\"}\n");
        assert_eq!(round("{\"text\":\"a\u{2}b\"}\n"), "{\"text\":\"ab\"}\n");
        let document = b"{\"messages\":[\n{\"text\":\"a\xd9b\"}\n]}\n";
        assert_eq!(round_of(document), "{\"messages\":[{\"text\":\"a\u{fffd}b\"}]}\n");
    }
}
