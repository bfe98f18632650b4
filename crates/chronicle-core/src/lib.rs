//! Values and pure thinking of Chronicle: floor 1.
//!
//! Document formats and their folding, line mapping, scoring, trimming and
//! redaction. Nothing here reads a clock, the environment, a file or a process;
//! whatever is needed from outside is an argument.

mod annotation;
pub mod block;
mod category;
mod code_words;
pub mod correction;
mod counted;
pub mod decay;
pub mod dependent;
pub mod distance;
mod document;
mod edited;
mod entry_id;
mod escapes;
mod evidence;
mod fields;
mod hunk;
mod ids;
mod knowledge;
mod landmarks;
pub mod learning;
mod line_map;
mod line_range;
mod lines;
mod locate;
pub mod mentions;
mod note;
pub mod outline;
pub mod patch_id;
pub mod period;
mod plain;
pub mod private;
mod provenance;
pub mod purge;
pub mod quality;
pub mod reading;
pub mod redaction;
mod region;
mod renumbered;
pub mod restating;
pub mod room;
pub mod score;
mod secrets;
mod sketch;
pub mod surroundings;
mod survivors;
pub mod thread;
pub mod tokens;
pub mod trim;
pub mod trivial;
pub mod unified;
mod unite;
mod when;

pub use annotation::{Annotation, Change, ContextLevel, NO_SUMMARY};
pub use category::{Category, Origin, UnknownCategory};
pub use code_words::{CodeWords, LEAST_ALIKE};
pub use counted::{are, counted, counted_are};
pub use document::{
    LARGER_NOTE, MAX_NOTE_BYTES, ReadNote, Remark, duplicate_key, read_cross_cutting, read_entry, read_note,
    read_parts, read_region, read_regions,
};
pub use entry_id::EntryId;
pub use escapes::without_escapes;
pub use evidence::is_telling;
pub use hunk::{Extent, Hunk, hunks, lines_after};
pub use ids::{is_hash, is_session_id};
pub use knowledge::{AntiPattern, Boundary, Convention, Knowledge};
pub use landmarks::{Differ, MapTarget};
pub use line_map::{ChangedRanges, LineMap, Mapped, changed_ranges};
pub use line_range::{InvalidRange, LineRange};
pub use lines::{
    LineFinder, Lines, clipped, count_lines, is_binary, is_substantive, line_word, line_words,
    line_words_beside,
};
pub use locate::{GoneBecause, Hint, Locator, Place};
pub use note::{Note, Statement, canonical};
pub use plain::{one_line, plain, shown_json, shown_path, without_commands};
pub use provenance::{Provenance, Source};
pub use region::{
    Anchor, Constraint, CrossCutting, CrossCuttingMember, DependsOn, Entry, Places, Recorded, Region, Related,
};
pub use secrets::redact_note;
pub use sketch::{Sketch, line_hash};
pub use unite::{UNREAD_SCHEMA, note_bytes, unite_lines, unite_notes};
pub use when::{Age, parse_time};

/// The schema that Chronicle writes.
pub const SCHEMA: &str = "chronicle/v3";
/// The schema of the repository's knowledge.
pub const KNOWLEDGE_SCHEMA: &str = "chronicle/knowledge-v1";
