//! Words that were noted while a session was read, with the turn they are from.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Words, and the turn they are from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) source: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) words: String,
    /// How many turns came before it.
    pub(crate) number: usize,
}
