//! Commands that agents run: which of them check something, how they ended, and what failed.

pub(crate) mod checks;
pub(crate) mod hard_failure;
pub(crate) mod known_tools;
pub(crate) mod shell;
