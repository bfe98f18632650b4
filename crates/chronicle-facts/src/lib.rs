//! What never changes about commits, notes and blobs: kept in one SQLite file, so that it is found once. Floor 2.
//!
//! A row is a function of the object that it is about, so branches, worktrees and switches share all rows and none is
//! ever out of date. Only the notes of a ref are replaced, when the ref moves. Without a file the same rows are kept in
//! memory, and the answers are the same.

mod commits;
mod error;
mod file;
mod made;
mod notes;
mod reach;

pub use commits::{Commit, CommitRow, NewCommit, NewTouch, Touch};
pub use error::FactsError;
pub use file::{FORMAT, Facts};
pub use notes::{Key, NewText, NoteRow, TextRow};
pub use reach::Reach;
