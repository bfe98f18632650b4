//! The application: one function for each thing a user can ask. Floor 4.
//!
//! Every face (command line, and later MCP, LSP, web, hooks) calls these functions
//! and renders the same answers with [`render`].

mod annotate;
mod error;
mod paths;
mod reading;
pub mod render;
mod schema;
mod show;
mod stage;
mod timeline;
mod tour;

use std::path::{Path, PathBuf};

use chronicle_core::EntryId;
use chronicle_git::{LazyRepository, Repository};
use jiff::Timestamp;

pub use annotate::{AnnotateCommand, AnnotateReply, Given};
pub use chronicle_commits::{StagedRemark, input::MAX_BYTES as MAX_INPUT_BYTES};
pub use chronicle_core::{Category, ContextLevel, LineRange, plain, reading::Reading};
pub use error::{Code, Error};
pub use reading::ReadCommand;
pub use schema::{SCHEMA_NAMES, schema};
pub use show::Shown;
pub use stage::NoteCommand;
pub use timeline::{Moment, Timeline};
pub use tour::tour;

/// The application, opened for one repository.
pub struct Chronicle {
    repository: LazyRepository,
    /// Paths that users give are relative to this directory first.
    directory: PathBuf,
    now: Timestamp,
}

impl Chronicle {
    /// The application for the repository that `directory` is in, or the one that git's environment names.
    /// It is opened when it is first needed.
    #[must_use]
    pub fn new(directory: &Path, now: Timestamp) -> Self {
        Self { repository: LazyRepository::new(directory, now, false), directory: directory.to_owned(), now }
    }

    /// The application for the repository at `directory` and no other, whatever the environment says.
    fn isolated(directory: &Path, now: Timestamp) -> Self {
        Self { repository: LazyRepository::new(directory, now, true), directory: directory.to_owned(), now }
    }

    fn repository(&self) -> Result<&Repository, Error> {
        Ok(self.repository.get()?)
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
