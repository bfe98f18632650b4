//! Which files of a session are not as it left them.

use std::path::Path;

use chronicle_git::{ObjectId, Repository};
use chronicle_search::NamedSession;
use chronicle_sessions::DigestOfSession;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// Files of a session that are looked at.
const MOST_LOOKED_AT: usize = 60;

/// Formatters and the agent itself write a little longer than the transcript shows.
const SLACK: SignedDuration = SignedDuration::from_mins(2);

/// What became of the files of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedSince {
    /// Those that were written or removed since and are not as that commit has them, the most edited first.
    pub files: Vec<String>,
    /// How many files the session changed.
    pub of: usize,
    /// The commit that they were compared with: the last one of the session, else the last one before it ended.
    pub commit: String,
}

/// The last commit that a session made, if it is still here.
pub(crate) fn own_commit(repository: &Repository, digest: &DigestOfSession) -> Option<ObjectId> {
    digest.commits.iter().rev().find_map(|commit| known_commit(repository, &commit.id))
}

/// The commit that shows how a session left its files: its own, else the last one before it ended. To find that one, up to
/// thousands are read.
pub(crate) fn commit_of(
    repository: &Repository,
    session: &NamedSession,
    digest: &DigestOfSession,
) -> Option<ObjectId> {
    own_commit(repository, digest).or_else(|| repository.commit_before(ended(session)?).ok().flatten())
}

fn ended(session: &NamedSession) -> Option<Timestamp> {
    session.record.last?.checked_add(SLACK).ok()
}

/// Which files of a session are not as it left them at `commit`; none where nothing changed.
pub(crate) fn changed_since(
    repository: &Repository,
    session: &NamedSession,
    digest: &DigestOfSession,
    commit: ObjectId,
) -> Option<ChangedSince> {
    let folder = Path::new(&session.record.folder);
    let folder = if folder.is_dir() { folder } else { repository.work_dir()? };
    // A path that may be meant in two ways is one from the folder.
    let from_root =
        |path: &String| repository.root_relative(folder, Path::new(path)).ok()?.into_iter().next();
    let paths: Vec<_> =
        digest.files.iter().take(MOST_LOOKED_AT).filter_map(|file| from_root(&file.path)).collect();
    if paths.is_empty() {
        return None;
    }
    let changed = repository.changed_since(ended(session)?, commit, &paths).ok()?;
    (!changed.is_empty()).then(|| ChangedSince {
        files: changed.iter().map(ToString::to_string).collect(),
        of: paths.len(),
        commit: commit.to_string(),
    })
}

/// The commit that a transcript names by the beginning of its id, if it is still here.
fn known_commit(repository: &Repository, id: &str) -> Option<ObjectId> {
    let is_id = 7 <= id.len() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| repository.resolve(id).ok()).flatten()
}
