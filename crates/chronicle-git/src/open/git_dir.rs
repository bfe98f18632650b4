//! Where git directories are.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use crate::disk::files::{self, MAX_BYTES};

/// The git directory of the working tree at `root`, or the one that its `.git` file names; `None` where no
/// working tree starts.
#[must_use]
pub(crate) fn git_dir_of(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    let git_dir = match files::read(&dot_git, MAX_BYTES) {
        Ok(content) => root.join(content.strip_prefix(b"gitdir: ")?.trim_ascii().to_path().ok()?),
        Err(_) => dot_git,
    };
    git_dir.join("HEAD").is_file().then_some(git_dir)
}

/// The git directory that all worktrees share with the one whose git directory is `git_dir`.
pub(crate) fn common_dir_of(git_dir: &Path) -> PathBuf {
    let named = files::read(&git_dir.join("commondir"), MAX_BYTES).ok();
    let named = named.as_ref().and_then(|content| content.trim_ascii().to_path().ok());
    named.map_or_else(|| git_dir.to_owned(), |common_dir| git_dir.join(common_dir))
}
