//! The commits that a branch, a tag or a worktree still reaches.

use chronicle_git::{History, ObjectId, Repository};

use crate::error::Result;

/// The commits that a branch, here or fetched, a tag or a worktree still reaches.
pub struct Reachable {
    history: History,
}

impl Reachable {
    /// Walks the whole history.
    ///
    /// # Errors
    /// When refs or commits cannot be read.
    pub fn of(repository: &Repository) -> Result<Self> {
        let mut tips: Vec<ObjectId> = repository.tips()?.into_iter().map(|(_, tip)| tip).collect();
        tips.sort_unstable();
        tips.dedup();
        tips.retain(|tip| repository.commit_tree(*tip).is_ok());
        Ok(Self { history: repository.history(&tips)? })
    }

    /// Whether `id` is among them.
    #[must_use]
    pub fn has(&self, id: ObjectId) -> bool {
        self.history.place(id).is_some()
    }
}
