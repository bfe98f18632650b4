//! Values and pure thinking of Chronicle: floor 1.
//!
//! Document formats and their folding, line mapping, scoring, trimming and
//! redaction. Nothing here reads a clock, the environment, a file or a process;
//! whatever is needed from outside is an argument.

mod answer;
mod code;
mod format;
mod memory;
pub mod redaction;
pub mod surroundings;
mod text;

pub use answer::{dependent, reading, room, score, trim};
pub use code::code_words::{CodeWords, LEAST_ALIKE};
pub use code::evidence::is_telling;
pub use code::hunk::{Extent, Hunk, hunks, lines_after};
pub use code::landmarks::{Differ, MapTarget};
pub use code::line_map::{ChangedRanges, LineMap, Mapped, changed_ranges};
pub use code::line_range::{InvalidRange, LineRange};
pub use code::lines::{
    LineFinder, Lines, clipped, count_lines, is_binary, is_substantive, line_word, line_words,
    line_words_beside,
};
pub use code::locate::{GoneBecause, Hint, Locator, Place};
pub use code::sketch::{Sketch, line_hash};
pub use code::{mentions, outline, patch_id, restating, trivial, unified};
pub use format::annotation::{Annotation, Change, ContextLevel, NO_SUMMARY};
pub use format::category::{Category, Origin, UnknownCategory};
pub use format::document::{
    LARGER_NOTE, MAX_NOTE_BYTES, ReadNote, Remark, duplicate_key, read_cross_cutting, read_entry, read_note,
    read_parts, read_region, read_regions,
};
pub use format::entry_id::EntryId;
pub use format::ids::{is_hash, is_session_id};
pub use format::knowledge::{AntiPattern, Boundary, Convention, Knowledge};
pub use format::note::{Note, Statement, canonical};
pub use format::provenance::{Provenance, Source};
pub use format::region::{
    Anchor, Constraint, CrossCutting, CrossCuttingMember, DependsOn, Entry, Places, Recorded, Region, Related,
};
pub use format::secrets::redact_note;
pub use format::unite::{UNREAD_SCHEMA, note_bytes, unite_lines, unite_notes};
pub use format::{correction, purge, quality};
pub use memory::{block, decay, learning, period, thread};
pub use text::counted::{are, counted, counted_are};
pub use text::escapes::without_escapes;
pub use text::plain::{one_line, plain, shown_json, shown_path, without_commands};
pub use text::when::{Age, parse_time};
pub use text::{distance, private, tokens};

/// The schema that Chronicle writes.
pub const SCHEMA: &str = "chronicle/v3";
/// The schema of the repository's knowledge.
pub const KNOWLEDGE_SCHEMA: &str = "chronicle/knowledge-v1";
