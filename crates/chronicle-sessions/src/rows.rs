//! What a row of a transcript can hold, for the readers of all forms.
//!
//! Bytes become rows and JSON, and what a reader tells of a row becomes turns of a session.

pub(crate) mod blocks;
pub(crate) mod elements;
pub(crate) mod held;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod messages;
pub(crate) mod outcome;
pub(crate) mod patch;
pub(crate) mod reads;
pub(crate) mod row;
pub(crate) mod seen;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod stream;
pub(crate) mod tally;
pub(crate) mod tools;
pub(crate) mod transcript;
pub(crate) mod unix_path;
pub(crate) mod wrapped;
