//! The only crate that knows git: floor 2.
//!
//! Objects are always read and written in process, with gix. Refs are too, except
//! in reftable repositories, which gix cannot read: there every ref goes through
//! one `git` process, with the same compare-and-swap. `blame` is git's own too, where
//! it is asked for, and so are fetch and push. Nothing else spawns git on the way of a
//! read or a write.

mod disk;
mod error;
mod exchange;
pub mod hooks;
mod open;
mod process;
pub mod scratch;
mod store;
mod tree;
mod walk;

pub use bstr::{BStr, BString, ByteSlice};
pub use disk::files;
pub use disk::lock::{FileLock, Patience};
pub use disk::sharing::{create_dir_like_parent, replace_file, sync_directory};
pub use disk::temporary::{sweep, sweep_below, sweep_dead, temporary_in};
pub use error::GitError;
pub use exchange::merge::{Difference, Merged, Resolution};
pub use exchange::remote::Pushed;
pub use exchange::tracking::{notes_refspec, tracking_prefix, tracking_ref};
pub use exchange::trust::{TrustRecords, TrustStamp, Whom, origin_of};
pub use gix::{ObjectId, hash::Kind as HashKind};
pub use open::checkout::Checkout;
pub use open::config::{ConfigScope, ConfigValue, UserConfig, set_user_config, user_config_values};
pub use open::glance::{ENVIRONMENT as GLANCE_ENVIRONMENT, Glance, WorktreeEntry, frame_stamp, tips_stamp};
pub use open::ownership::{distrust, is_named_elsewhere, is_repository};
pub use open::repository::{LazyRepository, PresentFile, Repository, Variables};
pub use open::settings::{Setting, TakenOut};
pub use open::state::{read_state, state_path};
pub use process::git_for_user;
pub use store::notes::{NoteRef, NotesOneByOne, is_knowledge_key};
pub use store::reflog::HeadMove;
pub use store::update::{NotesEdit, Recovered, pause};
pub use tree::pending::{Filtered, Newer, Pending};
pub use tree::unsaved::UnsavedText;
pub use tree::worktree::{Detour, MAX_PATH};
pub use walk::blame::BlamedLine;
pub use walk::changes::FileChange;
pub use walk::commit::Commit;
pub use walk::directory::DirectoryEntry;
pub use walk::history::{Commits, Found, History, Node, Partial};
pub use walk::rewrite::{EverNote, Replacements, Rewritten};
pub use walk::steps::{NoteChange, NotesStep, NotesSteps, Writer};

/// The ref that holds annotations, and the repository's knowledge on the empty tree.
pub const NOTES_REF: &str = "refs/notes/chronicle";
/// An older name of [`NOTES_REF`], only ever read.
pub const LEGACY_NOTES_REF: &str = "refs/notes/ultragit";
/// Where some tools keep the repository's knowledge; only ever read.
pub const KNOWLEDGE_REF: &str = "refs/notes/chronicle-knowledge";
/// The ref that holds corrections of claims, as JSON lines.
pub const CORRECTIONS_REF: &str = "refs/notes/chronicle-corrections";
/// The ref that remembers what was purged.
pub const PURGED_REF: &str = "refs/notes/chronicle-purged";
/// Where fetched notes lie: `REMOTE/chronicle` and so on below it.
pub const FETCHED_NOTES: &str = "refs/notes/remotes/";
