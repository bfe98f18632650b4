//! Answers that are read as a document: files in a folder that only the user can open, gone with the server.

use std::{fs, io, path::PathBuf};

use tempfile::TempDir;

/// The longest name of a page, without its ending.
const LONGEST_NAME: usize = 80;

/// The pages that were shown.
#[derive(Default)]
pub(crate) struct Pages {
    folder: Option<TempDir>,
    is_over: bool,
}

impl Pages {
    /// Removes all pages: from now on none is written.
    pub(crate) fn end(&mut self) {
        self.folder = None;
        self.is_over = true;
    }

    /// Writes a page and returns where it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> io::Result<PathBuf> {
        if self.is_over {
            return Err(io::Error::other("the server ends"));
        }
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(private_folder()?),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = name.chars().take(LONGEST_NAME).map(plain).collect();
        let path = folder.path().join(format!("{name}.txt"));
        fs::write(&path, text)?;
        Ok(path)
    }
}

/// A folder that nobody else can look into.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("chronicle-").tempdir()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_else_can_look_at_a_page() {
        let mut pages = Pages::default();
        let page = pages.write("session 1", "words").expect("it can be written");
        let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(page.parent().expect("it is in a folder")) & 0o777, 0o700);
        assert_eq!(fs::read_to_string(&page).expect("it is there"), "words");
    }
}
