//! What can go wrong with the store.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use snafu::Snafu;

/// Why the store does not do what it is asked.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum StoreError {
    /// The folder of the store cannot be made or set up.
    #[snafu(display("cannot set up `{}`", path.display()))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A newer version wrote it.
    #[snafu(display(
        "`{}` was written by a newer version of Chronicle (its format is {found}, this one knows {known})",
        path.display()
    ))]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The file is no store, or its bytes are damaged.
    #[snafu(display("`{}` is damaged, or not a store of Chronicle", path.display()))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
    /// There is no room left.
    #[snafu(display("no room left for `{}`", path.display()))]
    Full {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
    /// It may not be written.
    #[snafu(display("`{}` cannot be written", path.display()))]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
    /// Another process writes, and goes on for too long.
    #[snafu(display("another process is writing to `{}`", path.display()))]
    Busy {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
    /// Anything else that `SQLite` says.
    #[snafu(display("the store `{}` failed", path.display()))]
    Failed {
        /// The file.
        path: PathBuf,
        /// What `SQLite` says.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// What an error of `SQLite` on the file `path` means to a user.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, source },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged { path, source },
            _ => Self::Failed { path, source },
        }
    }

    /// Whether it is about what was to be written, and other things may be written all the same.
    #[must_use]
    pub fn is_about_data(&self) -> bool {
        const ABOUT_DATA: [ErrorCode; 4] =
            [ErrorCode::ConstraintViolation, ErrorCode::TooBig, ErrorCode::TypeMismatch, ErrorCode::Unknown];
        let Self::Failed { source, .. } = self else { return false };
        source.sqlite_error_code().is_none_or(|code| ABOUT_DATA.contains(&code))
    }
}
