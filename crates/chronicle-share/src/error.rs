//! What can go wrong with a shared store.

use snafu::Snafu;

/// Why a shared store does not do what it is asked to.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum ShareError {
    /// A build without the store.
    #[snafu(display("this build of Chronicle has no shared store"))]
    NotBuilt,
    /// Nothing was ever shared at that place.
    #[snafu(display("there is no shared store at {url}"))]
    NoStore {
        /// The place.
        url: String,
    },
    /// A storage that does not answer.
    #[snafu(display("the shared store at {url} cannot be reached: {reason}"))]
    Unreachable {
        /// The place.
        url: String,
        /// What the storage, or the system, says.
        reason: String,
    },
    /// A storage that does not allow it.
    #[snafu(display("the shared store at {url} does not allow this: {reason}"))]
    Refused {
        /// The place.
        url: String,
        /// What the storage, or the system, says.
        reason: String,
    },
    /// Others wrote at the same time, again and again.
    #[snafu(display("too many others write to the shared store at {url}"))]
    Busy {
        /// The place.
        url: String,
    },
    /// Something else than our table, or one that is not whole.
    #[snafu(display("what is at {url} is not a whole shared store: {reason}"))]
    Damaged {
        /// The place.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// A store of a newer Chronicle.
    #[snafu(display("the shared store at {url} was made by a newer Chronicle (form {form})"))]
    TooNew {
        /// The place.
        url: String,
        /// The form of its rows.
        form: String,
    },
}
