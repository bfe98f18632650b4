//! What a commit says about itself.

use gix::{ObjectId, bstr::ByteSlice};
use jiff::Timestamp;
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
};

/// What a commit says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents; none past the edge of a shallow clone.
    pub parents: Vec<ObjectId>,
    /// When it was committed.
    pub time: Timestamp,
    /// Who wrote it.
    pub author: String,
    /// The address of who wrote it.
    pub author_email: String,
    /// The whole message.
    pub message: String,
}

impl Commit {
    /// The first paragraph of the message, on one line, as git shows it.
    #[must_use]
    pub fn subject(&self) -> String {
        let first = self.message.trim_start().split("\n\n").next().unwrap_or_default();
        first.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The message behind the subject.
    #[must_use]
    pub fn body(&self) -> &str {
        self.message.trim_start().split_once("\n\n").map_or("", |(_, body)| body.trim())
    }
}

impl Repository {
    /// The one object whose id begins with `first`; `None` when there is none, or several.
    #[must_use]
    pub fn only_object(&self, first: [u8; 8]) -> Option<ObjectId> {
        let mut id = self.inner.object_hash().null();
        id.as_mut_slice()[..first.len()].copy_from_slice(&first);
        let prefix = gix::hash::Prefix::new(&id, 2 * first.len()).ok()?;
        self.inner.objects.lookup_prefix(prefix, None).ok()?.and_then(std::result::Result::ok)
    }

    /// The commit `id`.
    ///
    /// # Errors
    /// When it is missing, broken or no commit.
    pub fn commit(&self, id: ObjectId) -> Result<Commit> {
        let found = self.inner.find_commit(id).context(ObjectSnafu { id })?;
        let decoded = found.decode().context(ObjectSnafu { id })?;
        let seconds = decoded
            .committer()
            .ok()
            .and_then(|committer| committer.time().ok())
            .map_or(0, |time| time.seconds);
        let mut parents: Vec<ObjectId> = decoded.parents().collect();
        if self.is_shallow_edge(id) {
            parents.clear();
        }
        Ok(Commit {
            id,
            tree: decoded.tree(),
            parents,
            time: Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH),
            author: decoded
                .author()
                .map(|author| author.name.to_str_lossy().into_owned())
                .unwrap_or_default(),
            author_email: decoded
                .author()
                .map(|author| author.email.to_str_lossy().into_owned())
                .unwrap_or_default(),
            message: decoded.message.to_str_lossy().into_owned(),
        })
    }

    /// The tree of commit `id`.
    ///
    /// # Errors
    /// When it is missing, broken or no commit.
    pub fn commit_tree(&self, id: ObjectId) -> Result<ObjectId> {
        let commit = self.inner.find_commit(id).context(ObjectSnafu { id })?;
        Ok(commit.tree_id().context(ObjectSnafu { id })?.detach())
    }

    /// The commit that history began with, by first parents from `HEAD`. Clones of a repository have it in common, and nobody
    /// can give it to another history. None before the first commit, and in a shallow clone.
    #[must_use]
    pub fn first_commit(&self) -> Option<ObjectId> {
        if self.is_shallow() {
            return None;
        }
        let walk = self.inner.rev_walk(self.head().ok()?).first_parent_only().all().ok()?;
        walk.last()?.ok().map(|first| first.id)
    }

    /// Whether history ends at `id` only because the clone is shallow.
    #[must_use]
    pub fn is_shallow_edge(&self, id: ObjectId) -> bool {
        self.inner
            .shallow_commits()
            .ok()
            .flatten()
            .is_some_and(|edge| edge.iter().any(|commit| *commit == id))
    }

    /// Whether the clone lacks older commits.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        self.inner.is_shallow().unwrap_or(false)
    }
}
