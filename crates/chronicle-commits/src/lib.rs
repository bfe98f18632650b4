//! Commit memory: annotations kept in notes, written and read back where the code is now. Floor 3.

mod caches;
mod content;
mod disk_cache;
mod error;
mod note;
mod outlines;
mod past;
mod place;
mod read;
mod rewrite;
mod share;
pub mod write;

pub use caches::{Caches, fill as fill_facts, is_near};
pub use content::Content;
pub use disk_cache::{CachePlace, DERIVED, Progress, Work};
pub use error::CommitsError;
pub use note::claim_id::summary_id;
pub use note::claims::{FoundClaim, amend_lesson, claims_called, claims_on, corrections_of, disputed};
pub use note::corrections::store_corrections;
pub use note::knowledge::{Added, add_knowledge, all_knowledge, remove_knowledge};
pub use note::lessons::{Lesson, lessons};
pub use note::notebook::{Notebook, stored_on};
pub use read::blames::{Author, Blames, Written};
pub use read::by_words::{LessonWords, find_lessons};
pub use read::coverage;
pub use read::deps::{Dependents, DepsRequest, Target, dependents};
pub use read::item_history::{Changed, FileNow, ItemHistory, item_history};
pub use read::known_anchors::KnownAnchors;
pub use read::name_now::whereabouts;
pub use rewrite::{carry, reconcile};
pub use share::{agent_trace, dropped, gc, merging, purge, sync, transfer};
pub use write::context::{AuthorContext, split_words};
pub use write::{form, input, mend};
/// How files are outlined by a process of its own.
pub mod parsing {
    pub use chronicle_outline::{MAX_MEMORY, TIMED_OUT, outline_apart, serve};
}
pub use note::stored::{SaidBy, Stored};
pub use outlines::{Items, Outlines};
pub use past::Whereabouts;
pub use place::reformatted::Reformatted;
pub use read::pipeline::{Recent, files_with_lessons, read, read_recent};
pub use read::question::{Limits, ReadRequest, Scope, ScopeFile};
pub use read::recap::{Reason, Recap, Unfinished};
pub use read::related::resolve_pointers;
pub use read::removal::Removals;
pub use rewrite::reachable::Reachable;
pub use write::said::{LESSON_OPTIONS, Said};
pub use write::staging::{Staged, StagedRemark, Staging};
