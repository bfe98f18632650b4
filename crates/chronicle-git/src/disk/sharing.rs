//! Who may use the files that are created in a git directory: `core.sharedRepository` and the umask, as git
//! applies them.
//!
//! Refs, their logs and objects get the permissions that git gives them. Files of our own in `chronicle/`
//! are as open as the directory they are in, which has git's permissions.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use crate::disk::{files, temporary};

const GROUP: u32 = 0o660;
const EVERYBODY: u32 = 0o664;
/// Files in such a directory belong to its group: the mark of a directory that is shared.
const SET_GROUP_ID: u32 = 0o2000;
/// No file of ours is open to be written by all users unless the configuration asks for it.
const MOST_OF_OURS: u32 = 0o664;

/// What `core.sharedRepository` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// The umask decides.
    #[default]
    Umask,
    /// These permissions at least.
    AtLeast(u32),
    /// Exactly these permissions.
    Exactly(u32),
}

impl Sharing {
    /// What the repository's own configuration says; git asks no other.
    pub(crate) fn of(repository: &gix::Repository) -> Self {
        let snapshot = repository.config_snapshot();
        let own = |metadata: &gix::config::file::Metadata| metadata.source == gix::config::Source::Local;
        let value = snapshot.plumbing().string_filter("core.sharedRepository", own);
        value.map_or(Self::Umask, |value| Self::parse(&value.to_string()))
    }

    fn parse(value: &str) -> Self {
        match value {
            "umask" => return Self::Umask,
            "group" => return Self::AtLeast(GROUP),
            "all" | "world" | "everybody" => return Self::AtLeast(EVERYBODY),
            _ => {}
        }
        match u32::from_str_radix(value, 8) {
            Ok(0) => Self::Umask,
            Ok(1) => Self::AtLeast(GROUP),
            Ok(2) => Self::AtLeast(EVERYBODY),
            // Git refuses a mode that its owner could not use.
            Ok(mode) if mode & 0o600 == 0o600 => Self::Exactly(mode & 0o666),
            Ok(_) => Self::Umask,
            Err(_) if ["true", "yes", "on"].contains(&value.to_ascii_lowercase().as_str()) => {
                Self::AtLeast(GROUP)
            }
            Err(_) => Self::Umask,
        }
    }

    fn mode(self, mode: u32, is_directory: bool) -> u32 {
        let (Self::AtLeast(permissions) | Self::Exactly(permissions)) = self else { return mode };
        let mut permissions = permissions;
        if mode & 0o200 == 0 {
            permissions &= !0o222;
        }
        if mode & 0o100 != 0 {
            permissions |= (permissions & 0o444) >> 2;
        }
        let mut new = match self {
            Self::Exactly(_) => (mode & !0o777) | permissions,
            _ => mode | permissions,
        };
        if is_directory {
            new |= (new & 0o444) >> 2;
            if new & 0o060 != 0 {
                new |= SET_GROUP_ID;
            }
        }
        new
    }

    /// Gives the file or directory at `path` the permissions that it has to have; it is this user's.
    pub(crate) fn adjust(self, path: &Path) -> io::Result<()> {
        if self == Self::Umask {
            return Ok(());
        }
        let metadata = fs::symlink_metadata(path)?;
        let old = metadata.permissions().mode() & 0o7777;
        let new = self.mode(old, metadata.is_dir());
        if new == old { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(new)) }
    }

    /// Creates the directory `path` of the git directory, with those above it that are missing.
    pub(crate) fn create_dir_all(self, path: &Path) -> io::Result<()> {
        create_each(path, &|missing| {
            fs::create_dir(missing)?;
            self.adjust(missing)
        })
    }
}

/// Creates `path` and what is missing above it, each with `create`.
fn create_each(path: &Path, create: &impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().ok_or(error)?;
            create_each(parent, create)?;
            create_each(path, create)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created,
    }
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).map_or(0o700, |metadata| metadata.permissions().mode())
}

/// Creates a directory of ours; it and those above it that are missing are as open as the one that they are in.
///
/// # Errors
/// When it cannot be created.
pub fn create_dir_like_parent(path: &Path) -> io::Result<()> {
    create_each(path, &|missing| {
        let parent = missing.parent().map_or(0o700, mode_of);
        fs::DirBuilder::new().mode(parent & 0o775).create(missing)?;
        if parent & SET_GROUP_ID != 0 {
            fs::set_permissions(missing, Permissions::from_mode(parent & 0o2777))?;
        }
        Ok(())
    })
}

/// The permissions of a file of ours in `directory`: as open as that is.
///
/// The second value says whether they hold whatever the umask is.
fn mode_in(directory: &Path) -> (u32, bool) {
    let mode = mode_of(directory);
    match mode & SET_GROUP_ID {
        0 => (mode & MOST_OF_OURS, false),
        _ => (mode & 0o666, true),
    }
}

/// No link is followed, and no pipe waited for.
pub(crate) const NOT_ELSEWHERE: i32 =
    rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits().cast_signed();

/// Opens the file `path` of ours to read and write, and creates it if it is not there. A link is not followed.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(NOT_ELSEWHERE);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened.and_then(files::ensure_regular),
    }
    let (mode, is_fixed) = mode_in(path.parent().unwrap_or(Path::new(".")));
    let file = options.create(true).truncate(false).mode(mode).open(path)?;
    if is_fixed {
        // Another process may just have created it, as another user; then it is as it should be.
        let _set = file.set_permissions(Permissions::from_mode(mode));
    }
    Ok(file)
}

/// Puts `content` in the place of the file `path` of ours: readers see the old content or the new, never a half.
///
/// It is on the disk when this returns.
///
/// # Errors
/// When it cannot be written; the file is as it was then.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    use io::Write;
    let directory = path.parent().unwrap_or(Path::new("."));
    let (mode, is_fixed) = mode_in(directory);
    let permissions = Permissions::from_mode(mode);
    let mut file = tempfile::Builder::new()
        .prefix(&temporary::prefix())
        .permissions(permissions.clone())
        .tempfile_in(directory)?;
    if is_fixed {
        file.as_file().set_permissions(permissions)?;
    }
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_directory(directory)
}

/// Makes what was renamed or created in `directory` outlast a power cut.
///
/// # Errors
/// When the directory cannot be opened, or the disk does not take it.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // Some file systems have nothing to do for a directory, and say so in this way.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_those_that_git_gives() {
        let check = |value: &str, file: u32, object: u32, script: u32, directory: u32| {
            let sharing = Sharing::parse(value);
            let modes = [(0o644, false), (0o444, false), (0o755, false), (0o755, true)];
            let got = modes.map(|(mode, is_directory)| format!("{:o}", sharing.mode(mode, is_directory)));
            assert_eq!(got, [file, object, script, directory].map(|mode| format!("{mode:o}")), "{value}");
        };
        check("umask", 0o644, 0o444, 0o755, 0o755);
        check("false", 0o644, 0o444, 0o755, 0o755);
        check("0400", 0o644, 0o444, 0o755, 0o755);
        check("group", 0o664, 0o444, 0o775, 0o2775);
        check("true", 0o664, 0o444, 0o775, 0o2775);
        check("1", 0o664, 0o444, 0o775, 0o2775);
        check("all", 0o664, 0o444, 0o775, 0o2775);
        check("0640", 0o640, 0o440, 0o750, 0o2750);
        check("0600", 0o600, 0o400, 0o700, 0o700);
        check("0666", 0o666, 0o444, 0o777, 0o2777);
    }

    #[test]
    fn a_file_of_ours_is_as_open_as_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let check = |directory: u32, expected: u32| {
            let path = folder.path().join(format!("{directory:o}"));
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(directory)).unwrap();
            open_or_create(&path.join("lock")).unwrap();
            replace_file(&path.join("file"), b"content").unwrap();
            create_dir_like_parent(&path.join("below/it")).unwrap();
            let modes = ["lock", "file", "below/it"].map(|name| mode_of(&path.join(name)) & 0o7777);
            assert_eq!(
                modes.map(|mode| format!("{mode:o}")),
                [format!("{expected:o}"), format!("{expected:o}"), format!("{directory:o}"),]
            );
        };
        check(0o700, 0o600);
        check(0o755, 0o644);
        check(0o2770, 0o660);
        check(0o2775, 0o664);
        check(0o2750, 0o640);
    }
}
