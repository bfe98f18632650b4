//! Files of users: read as they are, replaced as a whole or not at all.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Component, Path, PathBuf},
};

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// Where the content lies: links are followed, and stay links.
    pub(super) target: PathBuf,
    /// What it holds, without the mark of its byte order; nothing if there is no file.
    pub(super) text: Option<String>,
    has_mark: bool,
    mode: Option<u32>,
}

/// What some editors begin a file with.
const MARK: &str = "\u{feff}";
/// Settings that are longer are something else.
const MAX_BYTES: u64 = 64 << 20;

impl Read {
    /// [`Read::of`] for a file below `top`, reached without a link: a repository may track links that lead anywhere.
    pub(super) fn below(top: &Path, path: &Path) -> Result<Self, String> {
        let inside = path.strip_prefix(top).map_err(|_| "it is outside of the working tree".to_owned())?;
        let mut at = top.to_owned();
        for component in inside.components() {
            let Component::Normal(name) = component else {
                return Err("it is outside of the working tree".to_owned());
            };
            at.push(name);
            if at.is_symlink() {
                let shown = chronicle::plain(&at.to_string_lossy()).into_owned();
                return Err(format!(
                    "`{shown}` is a symbolic link, and links of a repository are not followed"
                ));
            }
        }
        Self::of(path)
    }

    /// Reads a file; why it is to be left alone.
    pub(super) fn of(path: &Path) -> Result<Self, String> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: path.to_owned(), text: None, has_mark: false, mode: None });
            }
            Err(error) => return Err(error.to_string()),
            Ok(metadata) => metadata,
        };
        let target = match metadata.is_symlink() {
            true => path.canonicalize().map_err(|_| "it is a link to nothing".to_owned())?,
            false => path.to_owned(),
        };
        let metadata = fs::metadata(&target).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("it isn't a file".to_owned());
        }
        if MAX_BYTES < metadata.len() {
            return Err("it is too large".to_owned());
        }
        let bytes = fs::read(&target).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let mode = Some(metadata.permissions().mode() & 0o7777);
        Ok(match text.strip_prefix(MARK) {
            Some(rest) => Self { target, text: Some(rest.to_owned()), has_mark: true, mode },
            None => Self { target, text: Some(text), has_mark: false, mode },
        })
    }

    /// Puts `text` in the place of what was read, or removes the file; `false` when it was changed meanwhile.
    pub(super) fn replace(&self, text: Option<&str>, is_private: bool) -> io::Result<bool> {
        if self.mode.is_some_and(|mode| mode & 0o222 == 0) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let directory = self.target.parent().unwrap_or(Path::new("."));
        let Some(text) = text else {
            if !self.is_unchanged() {
                return Ok(false);
            }
            fs::remove_file(&self.target)?;
            return Ok(true);
        };
        fs::create_dir_all(directory)?;
        let scratch = scratch_of(&self.target);
        // Under our lock nobody else has one: it was left by a process that died.
        let _removed = fs::remove_file(&scratch);
        let usual = if is_private { 0o600 } else { 0o666 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(usual).open(&scratch)?;
        let written = (|| {
            if self.has_mark {
                file.write_all(MARK.as_bytes())?;
            }
            file.write_all(text.as_bytes())?;
            if let Some(mode) = self.mode {
                file.set_permissions(Permissions::from_mode(mode))?;
            }
            file.sync_all()?;
            if !self.is_unchanged() {
                return Ok(false);
            }
            fs::rename(&scratch, &self.target).map(|()| true)
        })();
        if !matches!(written, Ok(true)) {
            let _removed = fs::remove_file(&scratch);
        }
        written
    }

    fn is_unchanged(&self) -> bool {
        Self::of(&self.target).is_ok_and(|now| now.text == self.text)
    }

    /// The bytes that were read, and those that `text` would give.
    pub(super) fn bytes(&self, text: Option<&str>) -> Vec<u8> {
        let mark = if self.has_mark { MARK } else { "" };
        text.map(|text| format!("{mark}{text}").into_bytes()).unwrap_or_default()
    }

    /// Removes what a process that died while it wrote the file left beside it.
    pub(super) fn sweep(&self) {
        let _removed = fs::remove_file(scratch_of(&self.target));
    }
}

/// Where a file is written before it takes the place of the other.
fn scratch_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.chronicle-new"))
}
