//! Remotes, and whose notes are trusted.

pub(crate) mod fetch_head;
pub(crate) mod merge;
pub(crate) mod remote;
pub(crate) mod tracking;
pub(crate) mod trust;
pub(crate) mod trusted;
