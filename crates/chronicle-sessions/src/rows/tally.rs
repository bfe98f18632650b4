//! What became of every line of a transcript.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::turn::Place;

/// How many faults are kept with their place; all are counted.
const MOST_FAULTS: usize = 100;

/// How many kinds of skipped rows are told apart.
const MOST_KINDS: usize = 64;

/// What became of the rows of a transcript: each is kept, skipped or unreadable.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Lines of the file.
    pub n_lines: u64,
    /// Lines with nothing but white space.
    pub n_blank: u64,
    /// JSON values and pieces that are none; more than the lines where two values run together.
    pub n_rows: u64,
    /// Rows that something was taken from.
    pub n_kept: u64,
    /// Rows that carry nothing for a memory, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Rows that could not be read.
    pub n_unreadable: u64,
    /// Bytes of those rows.
    pub n_unreadable_bytes: u64,
    /// Rows that were read after bytes that are no UTF-8 were replaced.
    pub n_repaired: u64,
    /// The first faults, with their place.
    pub faults: Vec<Fault>,
}

/// Something in a transcript that could not be read as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// What is wrong with it.
    pub kind: FaultKind,
}

/// What can be wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// It is no JSON object.
    NotJson,
    /// It holds bytes that are no UTF-8, which were replaced.
    NotUtf8,
    /// It is longer than what is read.
    TooLong,
    /// The file ends in the middle of it, perhaps because it is being written.
    Unfinished,
}

/// What became of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Kept,
    Skipped(String),
}

impl Verdict {
    pub(crate) fn skipped(kind: &str) -> Self {
        Self::Skipped(kind.to_owned())
    }

    /// A row of a kind that is not known; the word comes from the file.
    pub(crate) fn unknown(kind: &str) -> Self {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_./ ".contains(c);
        let word: String = kind.chars().take(40).filter(|c| is_word(*c)).collect();
        Self::Skipped(format!("unknown {word}"))
    }
}

impl Tally {
    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.n_rows += 1;
        match verdict {
            Verdict::Kept => self.n_kept += 1,
            Verdict::Skipped(kind) => self.skip(&kind),
        }
    }

    fn skip(&mut self, kind: &str) {
        if let Some(count) = self.skipped.get_mut(kind) {
            *count += 1;
            return;
        }
        let kind = if self.skipped.len() < MOST_KINDS { kind } else { "other" };
        *self.skipped.entry(kind.to_owned()).or_default() += 1;
    }

    /// Counts a row that is skipped unread.
    pub(crate) fn skip_unread(&mut self, kind: &str) {
        self.n_rows += 1;
        self.skip(kind);
    }

    pub(crate) fn add_fault(&mut self, place: Place, kind: FaultKind) {
        if kind == FaultKind::NotUtf8 {
            self.n_repaired += 1;
        } else {
            self.n_rows += 1;
            self.n_unreadable += 1;
            self.n_unreadable_bytes += place.bytes.end - place.bytes.start;
        }
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { place, kind });
        }
    }

    /// How many rows were skipped.
    #[must_use]
    pub fn n_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }
}
