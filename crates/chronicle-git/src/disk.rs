//! Files in a git directory: bounded, locked, shared, synced, and removed when their process died.

pub mod files;
pub(crate) mod fsync;
pub(crate) mod lock;
pub(crate) mod sharing;
pub(crate) mod temporary;
