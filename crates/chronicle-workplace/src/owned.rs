//! Files in the home of session memory, which only its owner can read, each put in its place at once.

use std::{fs, io, io::Write, path::Path};

use chronicle_git::{sync_directory, temporary_in};
use tempfile::NamedTempFile;

use crate::Error;

/// A file that is to be put in `folder`, which is made where it is not there; until then it lies there under a name of
/// its own, and goes when it is dropped.
pub fn begun(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    temporary_in(folder)
}

/// Gives the file at `path` another text.
pub fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let written = || {
        let folder = path.parent().expect("it is in our own folder");
        let mut file = begun(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        sync_directory(folder)
    };
    written().map_err(|source| Error::WriteOutput { path: path.to_owned(), source })
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::WriteOutput { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
