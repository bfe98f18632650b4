//! The working tree: files as they are now, and what waits to be committed.

pub(crate) mod conversion;
pub(crate) mod pending;
pub(crate) mod unsaved;
pub(crate) mod worktree;
