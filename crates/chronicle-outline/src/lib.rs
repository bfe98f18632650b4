//! Outlines of source files: floor 2, and the only crate that knows tree-sitter.
//!
//! What an item is in a language stands in that language's file under `queries/`; one
//! walk serves them all. The files are read by our own `rules`, not by tree-sitter: compiling
//! even one pattern into a tree-sitter query takes 5 to 20 ms (it goes through every
//! parse state of the grammar), several times what a whole answer may take. Looking up
//! node kinds takes microseconds.
//!
//! Sources are hostile until proven otherwise. Size, time, depth and the number of items
//! are limited, and nothing recurses. Where the program allows it ([`outline_apart`]), files are
//! parsed in a process of its own with a ceiling for its memory.

mod apart;
mod decode;
mod indentation;
mod language;
mod names;
mod outline;
mod rules;
mod walk;

pub use apart::{MAX_MEMORY, Start, TIMED_OUT, outline_apart, serve};
pub use language::{Language, language_of};
pub use outline::{NoOutline, Outline, outline};

/// More text than this is not parsed: it was generated, and nobody anchors anything in it.
pub const MAX_BYTES: usize = 4 << 20;
/// A file that takes longer, parsing and walking together, is given up; ordinary code takes 3 ms for a thousand lines.
pub const MAX_PARSE_TIME: std::time::Duration = std::time::Duration::from_secs(2);
/// Items after these are left out, and the outline is partial.
pub const MAX_ITEMS: usize = 50_000;
/// Code nested deeper is not looked into, and the outline is partial.
pub const MAX_DEPTH: usize = 2_000;
/// Names are cut at so many bytes.
pub const MAX_NAME_BYTES: usize = 256;
/// Signatures are cut at so many bytes.
pub const MAX_SIGNATURE_BYTES: usize = 240;

/// Changes whenever the same text may give another outline: outlines kept from before are stale.
///
/// Counted up by hand: a test holds a hash of the rules and the size of every grammar, and
/// fails when they change alone. Whoever changes the walk must remember it.
pub const OUTLINE_VERSION: u32 = 2;
