//! A row that is kept until more is known of it.

use crate::rows::row::Row;
use crate::turn::Place;

/// A row, or a part of one, with bytes of its own.
pub(crate) struct HeldRow {
    bytes: Vec<u8>,
    place: Place,
    /// Whether these are the bytes of the file.
    is_as_stored: bool,
}

impl HeldRow {
    /// Holds `bytes`, which are those of `row` from its beginning, or stand somewhere in it.
    pub(crate) fn of(row: &Row<'_>, bytes: &[u8]) -> Self {
        let is_whole = std::ptr::eq(bytes.as_ptr(), row.bytes.as_ptr());
        let (place, is_as_stored) = (row.place.clone(), row.is_as_stored() && is_whole);
        Self { bytes: bytes.to_owned(), place, is_as_stored }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn row(&self) -> Row<'_> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if !self.is_as_stored => Row::repaired(text, self.place.clone()),
            _ => Row::new(&self.bytes, self.place.clone()),
        }
    }
}
