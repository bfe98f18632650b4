//! What becomes of notes when history is rewritten.

pub mod carry;
pub(crate) mod reachable;
pub mod reconcile;
