//! Which files are not as they were left.

use std::time::SystemTime;

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
};
use jiff::Timestamp;

use crate::{Repository, error::Result};

/// How many commits are looked at to find the one that was there at a moment.
const FAR: usize = 2_000;

impl Repository {
    /// The commit that HEAD's branch was at, going by when its commits were made; `None` when that is too far back.
    ///
    /// # Errors
    /// When HEAD's commit is missing or broken.
    pub fn commit_before(&self, moment: Timestamp) -> Result<Option<ObjectId>> {
        let mut commits = self.commits();
        let mut next = self.head()?;
        for _ in 0..FAR {
            let Some(id) = next else { break };
            let commit = commits.find(id)?;
            if commit.time <= moment.as_second() {
                return Ok(Some(id));
            }
            next = commit.parents.first().copied();
        }
        Ok(None)
    }

    /// Those of `paths` that were written or removed after `moment` and are not as `commit` has them now.
    ///
    /// A file that nobody wrote since is not among them, though `commit` has another one: it was left uncommitted.
    ///
    /// # Errors
    /// When the commit, or a file, cannot be read.
    pub fn changed_since(
        &self,
        moment: Timestamp,
        commit: ObjectId,
        paths: &[BString],
    ) -> Result<Vec<BString>> {
        let tree = self.commit_tree(commit)?;
        let mut changed = Vec::new();
        for path in paths {
            if self.is_changed(moment, tree, path.as_bstr())? {
                changed.push(path.clone());
            }
        }
        Ok(changed)
    }

    fn is_changed(&self, moment: Timestamp, tree: ObjectId, path: &BStr) -> Result<bool> {
        let before = self.blob_at(tree, path)?;
        let Some(written) = self.written(path) else {
            // What a sparse checkout leaves out was not removed.
            return Ok(before.is_some() && !self.has_present_file(self.head()?, path)?);
        };
        if written <= SystemTime::from(moment) {
            return Ok(false);
        }
        let Some(before) = before else { return Ok(true) };
        if self.is_too_large(before) {
            return Ok(false);
        }
        let now = self.present_as_stored(path)?;
        Ok(now.is_some_and(|now| self.blob_id(&now) != before))
    }

    /// When the file at `path` of the working tree was written last; `None` where there is none.
    fn written(&self, path: &BStr) -> Option<SystemTime> {
        let full = self.work_dir()?.join(path.to_path().ok()?);
        full.symlink_metadata().ok()?.modified().ok()
    }
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    #[test]
    fn files_that_were_written_since_and_differ_have_changed() {
        let repo = TestRepo::new();
        for name in ["same", "other", "removed", "touched"] {
            repo.write(name, "before\n");
        }
        let commit = ObjectId::from_hex(repo.commit("before").as_bytes()).unwrap();
        let opened = Repository::discover(repo.path(), Timestamp::UNIX_EPOCH).unwrap();
        let paths: Vec<BString> =
            ["same", "other", "removed", "touched", "new", "absent"].map(BString::from).into();
        let changed = |moment| {
            let changed = opened.changed_since(moment, commit, &paths).unwrap();
            changed.iter().map(BString::to_string).collect::<Vec<_>>()
        };
        let long_ago = Timestamp::UNIX_EPOCH;
        assert_eq!(changed(long_ago), Vec::<String>::new());
        repo.write("other", "after\n");
        repo.write("touched", "before\n");
        repo.write("new", "after\n");
        std::fs::remove_file(repo.path().join("removed")).unwrap();
        assert_eq!(changed(long_ago), ["other", "removed", "new"]);
        // What was written before that was left so.
        assert_eq!(changed("2100-01-01T00:00:00Z".parse().unwrap()), ["removed"]);
    }

    #[test]
    fn the_commit_of_a_moment_is_the_last_one_made_before_it() {
        let repo = TestRepo::new();
        repo.write("a", "1\n");
        let first = repo.commit("one");
        let opened = Repository::discover(repo.path(), Timestamp::UNIX_EPOCH).unwrap();
        let at = |moment: Timestamp| opened.commit_before(moment).unwrap().map(|id| id.to_string());
        let time = opened.commit(ObjectId::from_hex(first.as_bytes()).unwrap()).unwrap().time;
        assert_eq!(at(time), Some(first));
        assert_eq!(at(Timestamp::UNIX_EPOCH), None);
    }
}
