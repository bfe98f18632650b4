//! What went wrong, in words of ours: those of the libraries have many lines, and name their own source files.

use std::{error::Error, io, time::Duration};

use lancedb::Error as LanceDbError;
use object_store::Error as StorageError;

use crate::ShareError;

/// The longest reason that is told.
const LONGEST_REASON: usize = 200;

/// Where a table lies.
pub(super) struct Place {
    /// As it is shown.
    pub(super) shown: String,
    /// Whether it is a folder of this machine, where a step takes as long as it takes.
    pub(super) is_folder: bool,
}

impl Place {
    pub(super) fn new(url: &str) -> Self {
        Self { shown: url.to_owned(), is_folder: !url.contains("://") }
    }

    pub(super) fn damaged(&self, reason: &str) -> ShareError {
        ShareError::Damaged { url: self.shown.clone(), reason: short(reason) }
    }

    pub(super) fn unreachable(&self, reason: &str) -> ShareError {
        ShareError::Unreachable { url: self.shown.clone(), reason: short(reason) }
    }
}

/// Why a step failed.
pub(super) enum Failure {
    /// The storage took too long.
    TooSlow(Duration),
    /// The library says why.
    LanceDb(LanceDbError),
}

impl Failure {
    /// Whether others wrote at the same time, so that the same may work now.
    pub(super) fn is_conflict(&self) -> bool {
        use lance_core::Error as LanceError;
        let Self::LanceDb(error) = self else { return false };
        causes(error).any(|cause| {
            matches!(
                cause.downcast_ref::<LanceError>(),
                Some(
                    LanceError::CommitConflict { .. }
                        | LanceError::IncompatibleTransaction { .. }
                        | LanceError::RetryableCommitConflict { .. }
                        | LanceError::TooMuchWriteContention { .. }
                )
            )
        })
    }

    /// The same for users.
    pub(super) fn into_error(self, place: &Place) -> ShareError {
        let url = place.shown.clone();
        let error = match self {
            Self::TooSlow(longest) => {
                return place
                    .unreachable(&format!("it does not answer within {} seconds", longest.as_secs()));
            }
            failure if failure.is_conflict() => return ShareError::Busy { url },
            Self::LanceDb(LanceDbError::TableNotFound { .. } | LanceDbError::DatabaseNotFound { .. }) => {
                return ShareError::NoStore { url };
            }
            Self::LanceDb(error) => error,
        };
        let reason = reason(&error);
        for cause in causes(&error) {
            match cause.downcast_ref::<StorageError>() {
                Some(StorageError::PermissionDenied { .. } | StorageError::Unauthenticated { .. }) => {
                    return ShareError::Refused { url, reason };
                }
                Some(StorageError::Generic { .. } | StorageError::NotFound { .. }) => {
                    return ShareError::Unreachable { url, reason };
                }
                _ => {}
            }
            match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
                    return ShareError::Refused { url, reason };
                }
                Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                    return ShareError::Refused { url, reason };
                }
                _ => {}
            }
        }
        match error {
            LanceDbError::TableCorrupted { .. } | LanceDbError::Schema { .. } => {
                ShareError::Damaged { url, reason }
            }
            _ => ShareError::Unreachable { url, reason },
        }
    }
}

/// An error and what caused it, the outermost first.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (**error).source())
}

/// The first line of the innermost cause.
fn reason(error: &LanceDbError) -> String {
    let innermost = causes(error).last().expect("an error is among its causes");
    short(&innermost.to_string())
}

/// The first line of a reason, without what was dumped into it.
fn short(reason: &str) -> String {
    let line = reason.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.strip_prefix("Invalid input, ").unwrap_or(line);
    let line = line.split(" { ").next().unwrap_or_default().trim_end_matches(": IO");
    line.chars().take(LONGEST_REASON).collect()
}
