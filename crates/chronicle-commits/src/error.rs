//! What can go wrong with commit memory.

use std::path::PathBuf;

use chronicle_core::{EntryId, counted};
use chronicle_facts::FactsError;
use chronicle_git::{GitError, ObjectId};
use snafu::Snafu;

use crate::share::merging::MAX_NOTE_BYTES;

/// What can go wrong with commit memory.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum CommitsError {
    /// Something with the repository.
    #[snafu(transparent)]
    Git {
        /// What it is.
        source: GitError,
    },
    /// Facts that are kept of the repository cannot be used.
    #[snafu(transparent)]
    Facts {
        /// Why.
        source: FactsError,
    },
    /// An entry that was to be replaced is nowhere.
    #[snafu(display("no entry has the id `{id}`"))]
    UnknownEntry {
        /// What was given.
        id: EntryId,
    },
    /// A replacement without anything to replace it with.
    #[snafu(display("--replace needs one wisdom entry to put in its place, got {n_entries}"))]
    NothingToReplaceWith {
        /// How many were given.
        n_entries: usize,
    },
    /// A summary that someone else wrote.
    #[snafu(display("the summary was written by {author}; only its author replaces it"))]
    NotYourSummary {
        /// Who wrote it.
        author: String,
    },
    /// There is no summary to replace.
    #[snafu(display("the commit has no annotation whose summary could be replaced"))]
    NoSummary,
    /// The repository's knowledge cannot be read, so nothing may be added to it.
    #[snafu(display("the repository's knowledge cannot be read: {reason}"))]
    UnreadableKnowledge {
        /// Why.
        reason: String,
    },
    /// A note that nobody would read any more.
    #[snafu(display("the note of commit {commit} would have {n_bytes} bytes, and notes above {} MB are not read", MAX_NOTE_BYTES >> 20))]
    NoteTooLarge {
        /// The commit.
        commit: ObjectId,
        /// How large it would be.
        n_bytes: usize,
    },
    /// An id that begins several.
    #[snafu(display("`{id}` is ambiguous: {n_ids} ids begin with it"))]
    AmbiguousId {
        /// What was given.
        id: String,
        /// How many it begins.
        n_ids: usize,
    },
    /// Nothing was ever said on a commit.
    #[snafu(display("nothing was ever stored on {what}"))]
    NothingToPurge {
        /// The commit.
        what: String,
    },
    /// A remote whose notes nobody purged yet.
    #[snafu(display("`{remote}` still holds what was purged, so nothing is pushed"))]
    RemoteHoldsPurged {
        /// The remote.
        remote: String,
    },
    /// What the user wrote, and a purge of others names.
    #[snafu(display(
        "a purge mark from `{remote}` names what you wrote, so nothing is pushed: {}",
        ids.iter().map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ")
    ))]
    WantedGone {
        /// The remote.
        remote: String,
        /// What the marks name.
        ids: Vec<EntryId>,
    },
    /// What would be published, and neither the user nor the team wrote.
    #[snafu(display(
        "{} here are neither yours nor from a remote you enabled, so nothing is pushed to `{remote}`: {}",
        counted(ids.len(), "lesson"),
        listed(ids)
    ))]
    Unvouched {
        /// The remote.
        remote: String,
        /// What it is.
        ids: Vec<EntryId>,
    },
    /// A staging file that is no JSON of ours.
    #[snafu(display("cannot read the staged remarks in `{}`", path.display()))]
    UnreadableStaging {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line that holds no note.
    #[snafu(display("line {number} cannot be imported: {reason}"))]
    BadLine {
        /// Its number.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Lines that cannot be read.
    #[snafu(display("cannot read the lines to import"))]
    ReadLines {
        /// What the system says.
        source: std::io::Error,
    },
    /// Lines that cannot be written.
    #[snafu(display("cannot write the exported lines"))]
    WriteLines {
        /// What the system says.
        source: std::io::Error,
    },
    /// A staging file that cannot be written.
    #[snafu(display("cannot write `{}`", path.display()))]
    WriteStaging {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

pub(crate) type Result<T, E = CommitsError> = std::result::Result<T, E>;

/// The first few ids.
fn listed(ids: &[EntryId]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = ids.iter().take(SHOWN).map(|id| id.0.as_str()).collect();
    let more = if SHOWN < ids.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// What was found of a ref; `None`, with a remark, where something else than notes is in it.
pub(crate) fn if_notes<T>(found: Result<T, GitError>, warnings: &mut Vec<String>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_no_notes() => {
            warnings.push(format!("{error}; it was skipped"));
            Ok(None)
        }
        found => Ok(Some(found?)),
    }
}
