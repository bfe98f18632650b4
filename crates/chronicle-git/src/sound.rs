//! Whether the small files of a git directory can be what git wrote: gix and we take that for granted later on.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice};

use crate::{
    error::{BrokenFileSnafu, GitError, LinkedSnafu, Result},
    files,
    state::leads_elsewhere,
};

/// Refs are packed into one file, of a hundred bytes each: this is a million of them.
const MAX_BYTES: u64 = 128 << 20;

/// Whether nothing is at `path`, or a file that can be read as a whole.
pub(crate) fn is_sound(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_file() && metadata.len() <= MAX_BYTES,
        Err(error) => is_missing(&error),
    }
}

/// What the file at `path` holds, nothing where none is there; `None` where it is not sound.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    match files::read(path, MAX_BYTES) {
        Ok(content) => Some(content),
        Err(error) => is_missing(&error).then(Vec::new),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Fails where one of these is there, and cannot be read as a whole.
pub(crate) fn ensure_sound(paths: &[PathBuf]) -> Result<()> {
    // What cannot be parsed is shown in errors.
    if let Some(path) = paths.iter().find(|path| leads_elsewhere(path)) {
        return LinkedSnafu { path }.fail();
    }
    match paths.iter().find(|path| !is_sound(path)) {
        Some(path) => BrokenFileSnafu { path, reason: "it is not a file, or too large" }.fail(),
        None => Ok(()),
    }
}

/// Fails where one of these is a device or a pipe, which never ends; folders are someone else's, under that name.
pub(crate) fn ensure_no_device(paths: &[PathBuf]) -> Result<()> {
    let is_device =
        |path: &&PathBuf| fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    match paths.iter().find(is_device) {
        Some(path) => BrokenFileSnafu { path, reason: "it is not a file" }.fail(),
        None => Ok(()),
    }
}

/// Fails where the file that says where history ends holds anything but ids, as git does.
pub(crate) fn ensure_shallow(path: &Path) -> Result<()> {
    ensure_sound(&[path.to_owned()])?;
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(GitError::Io { path: path.to_owned(), source }),
    };
    match content.lines().position(|line| ObjectId::from_hex(line).is_err()) {
        Some(at) => {
            BrokenFileSnafu { path, reason: format!("line {} is not the id of a commit", at + 1) }.fail()
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shallow_file_holds_ids() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shallow");
        let check = |content: &str, expected: Option<&str>| {
            fs::write(&path, content).unwrap();
            let said = ensure_shallow(&path).err().map(|error| error.to_string());
            let expected = expected.map(|reason| format!("`{}` is broken: {reason}", path.display()));
            assert_eq!(said, expected, "{content:?}");
        };
        let id = "1234567890123456789012345678901234567890";
        check("", None);
        check(&format!("{id}\n{id}\r\n{id}"), None);
        check("garbage\n", Some("line 1 is not the id of a commit"));
        check(&format!("{id}\n\n"), Some("line 2 is not the id of a commit"));
        check(&format!("{id}00\n"), Some("line 1 is not the id of a commit"));
        fs::File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(ensure_shallow(&path).is_err());
        fs::remove_file(&path).unwrap();
        assert!(ensure_shallow(&path).is_ok());
        fs::create_dir(&path).unwrap();
        assert!(ensure_shallow(&path).is_err());
    }
}
