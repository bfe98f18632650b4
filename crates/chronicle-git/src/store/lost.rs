//! Notes that a foreign writer dropped: what we wrote last is in no history any more.

use gix::ObjectId;

use crate::{Repository, error::Result};

/// More notes commits than this between what we wrote and what is there are not looked through one by one.
const MAX_STEPS: usize = 1000;

impl Repository {
    /// Commits of ours that a foreign writer dropped from the refs they belong to, with those refs.
    ///
    /// # Errors
    /// When a ref cannot be read.
    pub fn lost_notes(&self) -> Result<Vec<(String, ObjectId)>> {
        let journal = self.lock_journal();
        let mut lost = journal.lost;
        lost.extend(journal.written);
        let mut still = Vec::new();
        for (name, commit) in lost {
            let is_lost = match self.ref_target(&name)? {
                // What leads to no commit was not meant to be there.
                Some(target) => self.commit_at(target).is_none_or(|tip| self.is_dropped(commit, tip)),
                // A fetch that prunes takes refs of notes, too.
                None => self.inner.has_object(commit),
            };
            if is_lost && !still.contains(&(name.clone(), commit)) {
                still.push((name, commit));
            }
        }
        Ok(still)
    }

    /// Whether `commit` is not in the history of `tip`: the ref was set to something else, or back.
    pub(crate) fn is_dropped(&self, commit: ObjectId, tip: ObjectId) -> bool {
        if commit == tip || !self.inner.has_object(commit) {
            return false;
        }
        match self.history_until(&[tip], |id| id == commit, MAX_STEPS) {
            Ok(Some(walked)) => !walked.edge().any(|(_, node)| node.id == commit),
            Ok(None) => self.parted_at(tip, commit).is_ok_and(|parted| parted != Some(commit)),
            Err(_) => false,
        }
    }
}
