//! Lines of code: compared, mapped, and found again.

pub(crate) mod code_words;
pub(crate) mod edited;
pub(crate) mod evidence;
pub(crate) mod hunk;
pub(crate) mod landmarks;
pub(crate) mod line_map;
pub(crate) mod line_range;
pub(crate) mod lines;
pub(crate) mod locate;
pub mod mentions;
pub mod outline;
pub mod patch_id;
pub(crate) mod renumbered;
pub mod restating;
pub(crate) mod sketch;
pub(crate) mod survivors;
pub mod trivial;
pub mod unified;
