//! The store that several machines share, and search in it: floor 2.
//!
//! It is a table in `LanceDB`, in a folder or in an object storage. Writers on several machines need no server between
//! them: a version of the table is a file that only one of them can make. Each machine has a copy of its own, where it
//! searches. Without the feature `lance` there are the types, and every table is [`ShareError::NotBuilt`].

mod error;
mod row;

#[cfg(not(feature = "lance"))]
mod absent;
#[cfg(feature = "lance")]
mod lance;

pub use error::ShareError;
pub use row::{Mark, SharedRow};

#[cfg(not(feature = "lance"))]
pub use absent::Table;
#[cfg(feature = "lance")]
pub use lance::Table;

/// Whether this build can reach a shared store.
pub const IS_BUILT: bool = cfg!(feature = "lance");

/// The version of the form in which rows are stored.
pub const FORM: u32 = 1;

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What machines share.
    Shared,
    /// The copy of one machine, in which it searches.
    Copy,
}

/// Takes rows in, a part of them at a time.
pub type TakeRows<'t> = dyn FnMut(Vec<SharedRow>) -> Result<(), ShareError> + 't;
