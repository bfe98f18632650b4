//! Objects, refs and notes: read and written.

pub(crate) mod genuine;
pub(crate) mod last_words;
pub(crate) mod lost;
pub(crate) mod many;
pub(crate) mod notes;
pub(crate) mod objects;
pub(crate) mod promised;
pub(crate) mod ref_backend;
pub(crate) mod reflog;
pub(crate) mod refs;
pub(crate) mod swap;
pub(crate) mod turn;
pub(crate) mod update;
