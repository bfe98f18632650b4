//! What one file changes, as an editor asks after every pause: no other file is looked at.

use std::path::Path;

use chronicle_commits::Content;
use chronicle_core::{Lines, hunks};
use chronicle_git::{ByteSlice, ObjectId};
use chronicle_workplace::Error;

use super::{Changed, Check};
use crate::Chronicle;

impl Chronicle {
    /// What the file at `path` changes of the version that `head` has; nothing where there is none, and where a filter
    /// or its bytes leave it without lines.
    pub(super) fn changed_of_file(
        &self,
        head: ObjectId,
        path: &Path,
        check: &mut Check,
    ) -> Result<Vec<Changed>, Error> {
        "working tree".clone_into(&mut check.against);
        let repository = self.workplace.repository()?;
        let file = self.one_file(path)?.file;
        let tree = repository.commit_tree(head)?;
        let Some(blob) = repository.blob_at(tree, file.at_head.as_bstr())? else { return Ok(Vec::new()) };
        if repository.has_filter(file.path.as_bstr()) {
            return Ok(Vec::new());
        }
        // Git compares what it would store.
        let Some(now) = repository.present_as_stored(file.path.as_bstr())? else { return Ok(Vec::new()) };
        let content = Content::committed(blob);
        let Some(then) = content.bytes(self.workplace.lazy()) else { return Ok(Vec::new()) };
        let (then, now) = (Lines::new(then), Lines::new(&now));
        if then.is_binary() || now.is_binary() {
            return Ok(Vec::new());
        }
        let found = hunks(&then, &now);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        check.n_files = 1;
        Ok(vec![Changed {
            old: file.at_head,
            new: Some(file.path),
            hunks: found,
            is_whole: false,
            is_doubtful: false,
            content,
            items: None,
            uncommitted: None,
        }])
    }
}
