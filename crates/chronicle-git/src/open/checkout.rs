//! Which repository a folder is in, seen without opening it.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice;

use crate::{
    disk::files::{self, MAX_BYTES},
    open::{
        ownership::Site,
        state::{read_state, state_path},
    },
};

/// Where a repository keeps the id that session memory knows it by.
const ID_FILE: &str = "project";

/// A working tree, and the repository that it shares with its other worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The top of the working tree.
    pub root: PathBuf,
    /// What is kept for this worktree alone.
    pub git_dir: PathBuf,
    /// What all worktrees share.
    pub common_dir: PathBuf,
}

impl Checkout {
    /// The working tree that `folder` is in, if it is in one that git would work in.
    #[must_use]
    pub fn of(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let trusted = Site::around(&folder)?.trusted(&folder).ok()?;
        let (root, git_dir) = (trusted.root()?.to_owned(), trusted.git_dir().to_owned());
        let common_dir = match files::read(&git_dir.join("commondir"), MAX_BYTES) {
            Ok(content) => git_dir.join(content.trim_ascii().to_path().ok()?),
            Err(_) => git_dir.clone(),
        };
        let common_dir = common_dir.canonicalize().unwrap_or(common_dir);
        Some(Self { root, git_dir, common_dir })
    }

    /// How the repository is called: the name of its main folder.
    #[must_use]
    pub fn name(&self) -> String {
        let folder = match self.common_dir.file_name() {
            Some(name) if name == ".git" => self.common_dir.parent().unwrap_or(&self.common_dir),
            _ => &self.common_dir,
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix(".git").unwrap_or(&name).to_owned()
    }

    /// The branch that is checked out; none for a detached HEAD.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = files::read(&self.git_dir.join("HEAD"), MAX_BYTES).ok()?;
        let name = head.trim_ascii().strip_prefix(b"ref: refs/heads/")?;
        Some(name.to_str_lossy().into_owned())
    }

    /// The id that the repository is known by, wherever it is moved; none until it gets one.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        if self.common_dir.is_symlink() {
            return None;
        }
        let id = read_state(&self.common_dir, ID_FILE).ok()?;
        let id = id.to_str().ok()?.trim();
        let is_id = !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_id.then(|| id.to_owned())
    }

    /// The same, and `new` where there was none. Of two processes that give one at once, both see the same.
    ///
    /// None where it cannot be written.
    #[must_use]
    pub fn obtain_id(&self, new: &str) -> Option<String> {
        if let Some(id) = self.id() {
            return Some(id);
        }
        let path = state_path(&self.common_dir, ID_FILE).ok().filter(|_| !self.common_dir.is_symlink())?;
        let folder = path.parent()?;
        fs::create_dir_all(folder).ok()?;
        let mut file = crate::temporary_in(folder).ok()?;
        writeln!(file, "{new}").ok()?;
        file.as_file().sync_all().ok()?;
        match file.persist_noclobber(&path) {
            Ok(_) => Some(new.to_owned()),
            Err(_) => self.id(),
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    #[test]
    fn a_working_tree_that_its_repository_does_not_know_is_none() {
        let private = TestRepo::new();
        private.write("a", "a\n");
        private.commit("one");
        let of = |folder: &Path| Checkout::of(folder).unwrap();
        let known = of(private.path());
        assert_eq!(known.obtain_id("one").as_deref(), Some("one"));
        let linked = private.beside("linked");
        private.git(&["worktree", "add", "--quiet", &linked.to_string_lossy()]);
        assert_eq!(of(&linked).id().as_deref(), Some("one"));
        // One that was moved is where nothing else is.
        let moved = private.beside("moved");
        fs::rename(&linked, &moved).unwrap();
        assert_eq!(of(&moved).id().as_deref(), Some("one"));
        let outer = TestRepo::new();
        let url = private.path().to_string_lossy().into_owned();
        outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "inner"]);
        let inner = of(&outer.path().join("inner"));
        assert_eq!((inner.id(), inner.obtain_id("two").as_deref()), (None, Some("two")));
        for name in ["file", "commondir", "link"] {
            let posing = private.beside(name);
            fs::create_dir(&posing).unwrap();
            let git = posing.join(".git");
            match name {
                "file" => fs::write(&git, format!("gitdir: {}\n", known.git_dir.display())).unwrap(),
                "link" => std::os::unix::fs::symlink(&known.git_dir, &git).unwrap(),
                _ => {
                    fs::create_dir(&git).unwrap();
                    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
                    fs::write(git.join("commondir"), format!("{}\n", known.git_dir.display())).unwrap();
                }
            }
            assert_eq!(Checkout::of(&posing), None, "{name}");
        }
    }
}
