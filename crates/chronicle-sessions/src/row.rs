//! One row of a transcript, and where its parts stand.

use serde_json::value::RawValue;

use crate::turn::Place;

/// The bytes of a row, which may be followed by those of another.
pub(crate) struct Row<'a> {
    /// The bytes.
    pub(crate) bytes: &'a [u8],
    /// Where they stand.
    pub(crate) place: Place,
    is_as_stored: bool,
}

impl<'a> Row<'a> {
    pub(crate) fn new(bytes: &'a [u8], place: Place) -> Self {
        Self { bytes, place, is_as_stored: true }
    }

    /// A row whose bytes are not those of the file, so that its parts have no place of their own.
    pub(crate) fn repaired(bytes: &'a [u8], place: Place) -> Self {
        Self { bytes, place, is_as_stored: false }
    }

    /// Where `part`, which was borrowed from the row, stands.
    pub(crate) fn place_of(&self, part: &RawValue) -> Place {
        let start = (part.get().as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        if !self.is_as_stored || self.bytes.len() < start.saturating_add(part.get().len()) {
            return self.place.clone();
        }
        let start = self.place.bytes.start + start as u64;
        Place { line: self.place.line, bytes: start..start + part.get().len() as u64 }
    }
}
