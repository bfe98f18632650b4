//! The files of ours in a git directory, which may have come in an archive: no link there is followed.
//!
//! An unpacked archive may hold a symbolic link wherever we read or write. What is read through one could be a file of
//! the user's, and what is written would replace it.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{
    disk::files,
    error::{GitError, LinkedSnafu, Result},
};

/// The folder of ours in a git directory.
const FOLDER: &str = "chronicle";
/// No small file of ours is larger.
const MAX_BYTES: u64 = 64 << 20;

/// The path of `name` in the folder of ours in `git_dir`, if nothing on the way is a link; it need not exist.
///
/// # Errors
/// When it is, or a folder that it is in.
pub fn state_path(git_dir: &Path, name: &str) -> Result<PathBuf> {
    let below = Path::new(FOLDER).join(name);
    ensure_no_link(git_dir, &below)?;
    Ok(git_dir.join(below))
}

/// What a file of ours in `git_dir` holds, within bounds.
///
/// # Errors
/// When there is none, or it is reached by a link.
pub fn read_state(git_dir: &Path, name: &str) -> io::Result<Vec<u8>> {
    files::read(&state_path(git_dir, name).map_err(io::Error::other)?, MAX_BYTES)
}

/// Whether a file or folder of git's leads out of its git directory by a link, on whatever part of the way from there. An
/// unpacked archive could pass for another repository of the user's by it. HEAD was a link to a branch once.
pub(crate) fn leads_elsewhere(path: &Path) -> bool {
    let is_git =
        |folder: &&Path| folder.join("HEAD").symlink_metadata().is_ok() && folder.join("objects").exists();
    let git_dir = path.ancestors().skip(1).find(is_git).or(path.parent()).unwrap_or(path);
    let below = path.ancestors().take_while(|part| *part != git_dir);
    if !below.into_iter().any(Path::is_symlink) {
        return false;
    }
    let real = path.canonicalize().ok().zip(git_dir.canonicalize().ok());
    real.is_none_or(|(target, git_dir)| !target.starts_with(git_dir))
}

/// Whether an error says that a link was not followed.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Looks at each part of `below` in `directory`.
pub(crate) fn ensure_no_link(directory: &Path, below: &Path) -> Result<()> {
    let mut path = directory.to_owned();
    for part in below.components().filter(|part| *part != Component::CurDir) {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => return LinkedSnafu { path }.fail(),
            Ok(_) => {}
            // What is missing has nothing in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(GitError::Io { path, source }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_on_the_way_is_named_and_nothing_else_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("chronicle/index")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/file"), "secret").unwrap();
        fs::write(at("chronicle/file"), "ours").unwrap();
        std::os::unix::fs::symlink("../elsewhere", at("chronicle/linked")).unwrap();
        std::os::unix::fs::symlink("../elsewhere/file", at("chronicle/one")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("chronicle/broken")).unwrap();
        let check = |name: &str, expected: Option<&str>| match (state_path(folder.path(), name), expected) {
            (Ok(path), None) => assert_eq!(path, at("chronicle").join(name)),
            (Err(GitError::Linked { path }), Some(link)) => assert_eq!(path, at(link), "{name}"),
            (found, _) => panic!("{name}: {found:?}"),
        };
        check("", None);
        check("file", None);
        check("index/of/nobody", None);
        check("linked", Some("chronicle/linked"));
        check("linked/file", Some("chronicle/linked"));
        check("one", Some("chronicle/one"));
        check("broken", Some("chronicle/broken"));
        assert_eq!(read_state(folder.path(), "file").unwrap(), b"ours");
        assert!(read_state(folder.path(), "one").unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(read_state(folder.path(), "none").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
