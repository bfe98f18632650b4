//! Whether the small files of a git directory can be what git wrote: gix and we take that for granted later on.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use gix::{ObjectId, bstr::ByteSlice, config::path::interpolate};

use crate::{
    disk::files,
    error::{BrokenFileSnafu, GitError, LinkedSnafu, Result},
    open::state::leads_elsewhere,
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
    ensure_own(paths)?;
    match paths.iter().find(|path| !is_sound(path)) {
        Some(path) => BrokenFileSnafu { path, reason: "it is not a file, or too large" }.fail(),
        None => Ok(()),
    }
}

/// Fails where one of these is another repository's, by a link.
pub(crate) fn ensure_own(paths: &[PathBuf]) -> Result<()> {
    match paths.iter().find(|path| leads_elsewhere(path)) {
        Some(path) => LinkedSnafu { path }.fail(),
        None => Ok(()),
    }
}

/// Fails where one of these is there, and is longer than git would write it: an id, a path, a page of settings.
pub(crate) fn ensure_short(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(metadata) if metadata.is_file() && metadata.len() <= files::MAX_BYTES => Ok(()),
        Err(error) if is_missing(&error) => Ok(()),
        _ => BrokenFileSnafu { path, reason: "it is not a file, or too large" }.fail(),
    })
}

/// A ref is not longer: an id, or the name of another one.
const MAX_REF_BYTES: u64 = 4096;

/// Fails where a file below the folder `refs` cannot be that of a ref: gix reads each to its end.
pub(crate) fn ensure_refs(refs: &Path) -> Result<()> {
    for entry in fs::read_dir(refs).into_iter().flatten().flatten() {
        let path = entry.path();
        match fs::metadata(&path) {
            // What is linked is looked at where it is.
            Ok(_) if entry.file_type().is_ok_and(|kind| kind.is_symlink()) => ensure_short(&[path])?,
            Ok(metadata) if metadata.is_dir() => ensure_refs(&path)?,
            Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_REF_BYTES => {}
            // What cannot be opened is not read.
            Err(_) => {}
            Ok(_) => return BrokenFileSnafu { path, reason: "it is not a file, or too large" }.fail(),
        }
    }
    Ok(())
}

/// Fails where a file that the configuration file at `path` includes, under whatever condition, cannot be read as a whole.
pub(crate) fn ensure_includes(path: &Path) -> Result<()> {
    ensure_short(&config_files(path))
}

/// The error of the first of the files that make up the configuration at `path` that is no configuration. It holds
/// nothing of that file: a repository may include one of the user's that has nothing to do with git.
pub(crate) fn broken_config(path: &Path) -> Option<GitError> {
    config_files(path).into_iter().find_map(|path| {
        let parsed = parse(&files::read(&path, files::MAX_BYTES).ok()?).err()?;
        let line = parsed.downcast_any_ref::<gix::config::parse::Error>()?.line_number();
        Some(GitError::BrokenFile { path, reason: format!("line {line} isn't a setting") })
    })
}

/// What the files that make up the configuration at `path` say, each for itself; what is broken says nothing.
pub(crate) fn configs(path: &Path) -> Vec<gix::config::File> {
    let read = |path: &PathBuf| parse(&files::read(path, files::MAX_BYTES).ok()?).ok();
    config_files(path).iter().filter_map(read).collect()
}

/// The configuration file at `path` and the files that it includes, under whatever condition, and that these include.
fn config_files(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    let mut known = BTreeSet::from([path.to_owned()]);
    let mut n_read = 0;
    while let Some(path) = all.get(n_read) {
        let mut new = included_by(path);
        new.retain(|included| known.insert(included.clone()));
        all.append(&mut new);
        n_read += 1;
    }
    all
}

/// The files that the configuration file at `path` includes itself.
fn included_by(path: &Path) -> Vec<PathBuf> {
    let content = files::read(path, files::MAX_BYTES).unwrap_or_default();
    if !content.to_ascii_lowercase().contains_str("[include") {
        return Vec::new();
    }
    let Ok(config) = parse(&content) else { return Vec::new() };
    let home = gix::path::env::home_dir();
    let context = interpolate::Context {
        git_install_dir: None,
        home_dir: home.as_deref(),
        home_for_user: Some(interpolate::home_for_user),
    };
    let sections =
        ["include", "includeIf"].into_iter().filter_map(|name| config.sections_by_name(name)).flatten();
    let paths = sections.flat_map(|section| section.values("path"));
    let paths = paths.filter_map(|named| gix::config::Path::from(named).interpolate(context).ok());
    paths.map(|included| path.with_file_name(included)).collect()
}

fn parse(content: &[u8]) -> std::result::Result<gix::config::File, gix::Error> {
    use gix::config::file::{Metadata, init::Options};
    gix::config::File::from_bytes_no_includes(content, Metadata::default(), Options::default())
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
    fn what_a_configuration_includes_is_looked_at_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let config = at("config");
        fs::write(&config, "[include]\n path = a\n path = \"b c\"\n[IncludeIf \"onbranch:x\"]\n path = d\n")
            .unwrap();
        fs::write(at("a"), "[include]\n path = config\n path = a\n path = missing\n").unwrap();
        fs::write(at("b c"), "[core]\n bare\n").unwrap();
        assert_eq!(config_files(&config), ["config", "a", "b c", "d", "missing"].map(at));
        assert!(ensure_includes(&config).is_ok());
        assert!(broken_config(&config).is_none());

        fs::write(at("d"), "[core]\n bare\nhvs.word\n").unwrap();
        let expected = format!("`{}` is broken: line 3 isn't a setting", at("d").display());
        assert_eq!(broken_config(&config).map(|error| error.to_string()), Some(expected));

        fs::File::create(at("d")).unwrap().set_len(files::MAX_BYTES + 1).unwrap();
        let expected = format!("`{}` is broken: it is not a file, or too large", at("d").display());
        assert_eq!(ensure_includes(&config).err().map(|error| error.to_string()), Some(expected));
        // What includes nothing is judged alone.
        assert!(ensure_includes(&at("b c")).is_ok());
    }

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
