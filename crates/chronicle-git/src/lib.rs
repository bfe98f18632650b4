//! The only crate that knows git: floor 2.
//!
//! Objects are always read and written in process, with gix. Refs are too, except
//! in reftable repositories, which gix cannot read: there every ref goes through
//! one `git` process, with the same compare-and-swap. `blame` is git's own too, where
//! it is asked for, and so are fetch and push. Nothing else spawns git on the way of a
//! read or a write.

mod blame;
mod changes;
mod checkout;
mod commit;
mod config;
mod conversion;
mod error;
mod fetch_head;
pub mod files;
mod fsync;
mod genuine;
mod git_dir;
mod glance;
mod history;
pub mod hooks;
mod identity;
mod ignore_revs;
mod last_words;
mod likeness;
mod lock;
mod lost;
mod many;
mod merge;
mod notes;
mod objects;
mod ownership;
mod pending;
mod process;
mod promised;
mod ref_backend;
mod reflog;
mod refs;
mod remote;
mod repository;
mod rewrite;
pub mod scratch;
mod settings;
mod sharing;
mod sound;
mod state;
mod steps;
mod swap;
mod temporary;
mod tips;
mod tracking;
mod trust;
mod trusted;
mod turn;
mod update;
mod worktree;

pub use blame::BlamedLine;
pub use bstr::{BStr, BString, ByteSlice};
pub use changes::FileChange;
pub use checkout::Checkout;
pub use commit::Commit;
pub use config::{ConfigScope, ConfigValue, UserConfig, set_user_config, user_config_values};
pub use error::GitError;
pub use gix::{ObjectId, hash::Kind as HashKind};
pub use glance::{ENVIRONMENT as GLANCE_ENVIRONMENT, Glance, WorktreeEntry, frame_stamp, tips_stamp};
pub use history::{Commits, Found, History, Node, Partial};
pub use lock::{FileLock, Patience};
pub use merge::{Difference, Merged, Resolution};
pub use notes::{NoteRef, NotesOneByOne, is_knowledge_key};
pub use ownership::{distrust, is_named_elsewhere, is_repository};
pub use pending::{Filtered, Newer, Pending};
pub use process::git_for_user;
pub use reflog::HeadMove;
pub use remote::Pushed;
pub use repository::{LazyRepository, PresentFile, Repository, Variables};
pub use rewrite::{EverNote, Replacements, Rewritten};
pub use settings::{Setting, TakenOut};
pub use sharing::{create_dir_like_parent, replace_file, sync_directory};
pub use state::{read_state, state_path};
pub use steps::{NoteChange, NotesStep, NotesSteps, Writer};
pub use temporary::{sweep, sweep_below, sweep_dead, temporary_in};
pub use tracking::{notes_refspec, tracking_prefix, tracking_ref};
pub use trust::{TrustRecords, TrustStamp, Whom, origin_of};
pub use update::{NotesEdit, Recovered, pause};
pub use worktree::{Detour, MAX_PATH};

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
