//! Commit memory: annotations kept in notes, written and read back where the code is now. Floor 3.

mod anchoring;
mod answer;
mod blames;
mod change;
mod deps;
mod derive;
mod error;
mod gather;
mod index;
pub mod input;
mod introduced;
mod kept;
mod matching;
mod notebook;
mod outlines;
mod placing;
mod present;
mod prose;
mod read;
mod record;
mod related;
mod retire;
mod staging;
mod wisdom_view;
pub mod write;

pub use blames::{Author, Blames, Written};
pub use deps::{Dependents, DepsRequest, Target, dependents, dependents_indexed};
pub use error::CommitsError;
pub use index::{Index, refresh as refresh_index};
pub use kept::Caches;
pub use notebook::{Notebook, Stored, stored_on};
pub use outlines::{Items, Outlines};
pub use read::{Limits, ReadRequest, Recent, Scope, ScopeFile, read, read_indexed, read_recent};
pub use retire::Retired;
pub use staging::{Staged, StagedRemark, Staging};
