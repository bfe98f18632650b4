//! Files in the home of session memory, which only its owner can read, each put in its place at once.

use std::{fs, io, io::Write, path::Path};

use tempfile::NamedTempFile;

use crate::Error;

/// A file that is to be put in `folder`, which is made where it is not there; until then it lies there under a name of
/// its own, and goes when it is dropped.
pub(super) fn begun(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    NamedTempFile::with_prefix_in(".", folder)
}

/// Gives the file at `path` another text.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let written = || {
        let mut file = begun(path.parent().expect("it lies in a folder of ours"))?;
        file.write_all(text.as_bytes())?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(|source| Error::WriteOutput { path: path.to_owned(), source })
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::WriteOutput { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
