//! What a reader of one form does with its rows.

use serde_json::Value;

use crate::rows::json::{Broken, Raw};
use crate::rows::row::Row;
use crate::rows::stream::Stream;
use crate::rows::tally::Verdict;

/// What the reader of each form does with a row.
pub(crate) trait Transcript {
    /// Why `line` is skipped unread, told from its first bytes.
    fn skips(&self, _line: &[u8]) -> Option<&'static str> {
        None
    }

    /// Reads the first value in the row, and says how many bytes it took.
    fn read(&mut self, row: &Row<'_>, stream: &mut Stream<'_>) -> Result<(Verdict, usize), Broken>;

    /// Takes a member of a document that is no message.
    fn member(&mut self, _name: &str, _value: Raw<'_>, _stream: &mut Stream<'_>) {}

    /// Tells what was held back.
    fn finish(&mut self, _stream: &mut Stream<'_>) {}

    /// What is remembered between rows, without what may not be stored. None where a reading can't stop here: then the
    /// file is read from its beginning, or from an earlier stop.
    fn pause(&self) -> Option<Value> {
        None
    }

    /// Remembers what was known at a stop.
    fn go_on(&mut self, _state: Value) {}
}
