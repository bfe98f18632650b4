//! Objects, refs and notes: read and written.

pub(crate) mod batch_read;
pub(crate) mod genuine;
pub(crate) mod lock_file;
pub(crate) mod lock_journal;
pub(crate) mod lost;
pub(crate) mod notes;
pub(crate) mod objects;
pub(crate) mod promised;
pub(crate) mod ref_backend;
pub(crate) mod reflog;
pub(crate) mod refs;
pub(crate) mod update;
pub(crate) mod write_guard;
