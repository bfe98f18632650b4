//! Texts as they are stored, shown and counted.

pub(crate) mod counted;
pub mod distance;
pub(crate) mod escapes;
pub(crate) mod plain;
pub mod private;
pub mod tokens;
pub(crate) mod when;
