//! What notes say: claims, who says them, and what is known of a repository as a whole.

pub(crate) mod change;
pub(crate) mod claim_id;
pub(crate) mod claims;
pub(crate) mod corrections;
pub(crate) mod knowledge;
pub(crate) mod lessons;
pub(crate) mod note_texts;
pub(crate) mod notebook;
pub(crate) mod packed_list;
pub(crate) mod stored;
pub(crate) mod tombstones;
pub(crate) mod trust;
