//! Writes a page: whole or not at all, and for its owner alone.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use snafu::ResultExt;

use crate::{
    ViewError,
    error::{InTheWaySnafu, WriteSnafu},
    page::MARK,
};

/// Writes `text` to `path`, where nothing is or a file that Chronicle wrote.
///
/// # Errors
/// When another file is there, or the system refuses.
pub fn write(path: &Path, text: &str) -> Result<(), ViewError> {
    snafu::ensure!(is_free(path)?, InTheWaySnafu { path });
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The file is made with mode 0600, and takes its place at once.
    let file = tempfile::Builder::new().prefix(".chronicle-page").tempfile_in(folder);
    let mut file = file.context(WriteSnafu { path })?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).context(WriteSnafu { path })?;
    file.persist(path).map_err(|error| error.error).context(WriteSnafu { path })?;
    Ok(())
}

/// Whether nothing is lost when `path` is written.
fn is_free(path: &Path) -> Result<bool, ViewError> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        found => found.context(WriteSnafu { path })?,
    };
    // A link would be replaced, and what is no file may wait for a reader forever.
    if !found.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    let file = fs::File::open(path).context(WriteSnafu { path })?;
    file.take(4_096).read_to_end(&mut begin).context(WriteSnafu { path })?;
    Ok(begin.is_empty() || String::from_utf8_lossy(&begin).contains(MARK))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_page_is_for_its_owner_and_takes_the_place_of_a_page_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let first = format!("<!DOCTYPE html>{MARK}first");
        write(&path, &first).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let second = format!("<!DOCTYPE html>{MARK}second");
        write(&path, &second).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), second);
        fs::write(&path, "my own words").unwrap();
        assert!(matches!(write(&path, &first), Err(ViewError::InTheWay { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "my own words");
        let link = folder.path().join("link.html");
        symlink(&path, &link).unwrap();
        assert!(matches!(write(&link, &first), Err(ViewError::InTheWay { .. })));
        assert!(matches!(write(folder.path(), &first), Err(ViewError::InTheWay { .. })));
        let nowhere = folder.path().join("none/page.html");
        assert!(matches!(write(&nowhere, &first), Err(ViewError::Write { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
