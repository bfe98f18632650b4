//! The formats of documents: what a note may hold, read, folded and checked.

pub(crate) mod annotation;
pub(crate) mod category;
pub mod correction;
pub(crate) mod document;
pub(crate) mod entry_id;
pub(crate) mod fields;
pub(crate) mod ids;
pub(crate) mod knowledge;
pub(crate) mod note;
pub(crate) mod provenance;
pub mod purge;
pub mod quality;
pub(crate) mod region;
pub(crate) mod secrets;
pub(crate) mod unite;
