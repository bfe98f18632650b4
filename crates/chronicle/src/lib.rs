//! The application: one function for each thing a user can ask. Floor 4.
//!
//! Every face (command line, and later MCP, LSP, web, hooks) calls these functions
//! and renders the same answers with [`render`].

mod anchors;
mod annotate;
mod blaming;
mod check;
mod deps;
mod error;
mod outline;
mod paths;
mod reading;
pub mod render;
mod schema;
mod show;
mod stage;
mod summary;
mod timeline;
mod tour;
mod why;

use std::path::{Path, PathBuf};

use chronicle_core::EntryId;
use chronicle_git::Repository;
use jiff::Timestamp;

pub use annotate::{AnnotateCommand, AnnotateReply, Given};
pub use check::{Check, CheckScope, CheckedFile, Touch, TouchedDependent, TouchedLesson};
pub use chronicle_commits::{StagedRemark, input::MAX_BYTES as MAX_INPUT_BYTES};
pub use chronicle_core::{Category, ContextLevel, InvalidRange, LineRange, plain, reading::Reading};
pub use deps::Deps;
pub use error::{Code, Error};
pub use outline::{OutlineAnswer, OutlineItem};
pub use reading::ReadCommand;
pub use schema::{SCHEMA_NAMES, schema};
pub use show::Shown;
pub use stage::NoteCommand;
pub use summary::{FileSummary, Summary, UnitSummary};
pub use timeline::{Moment, Timeline};
pub use tour::tour;
pub use why::{Why, WhyScope, Wrote};

/// The application, opened for one repository.
pub struct Chronicle {
    repository: Repository,
    /// Paths that users give are relative to this directory first.
    directory: PathBuf,
    now: Timestamp,
}

impl Chronicle {
    /// Opens the repository that `directory` is in, or the one that git's environment names.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(directory: &Path, now: Timestamp) -> Result<Self, Error> {
        let repository = Repository::discover(directory, now)?;
        Ok(Self { repository, directory: directory.to_owned(), now })
    }

    /// Opens the repository at `directory` and no other, whatever the environment says.
    fn open_isolated(directory: &Path, now: Timestamp) -> Result<Self, Error> {
        let repository = Repository::open_isolated(directory, now)?;
        Ok(Self { repository, directory: directory.to_owned(), now })
    }

    /// The time that answers are given for.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// An id that no one else makes.
    fn new_id() -> EntryId {
        EntryId(ulid::Ulid::generate().to_string())
    }
}
