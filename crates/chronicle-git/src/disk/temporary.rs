//! Temporary files of ours: named so that those whose process died are known, and removed by the next writer.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tempfile::NamedTempFile;

/// How the names of temporary files begin; the id of the process follows.
const PREFIX: &str = ".chronicle-tmp-";
/// A process of another machine or container is not seen here; it is given so long to finish.
const LEAST_AGE: Duration = Duration::from_mins(1);
/// No process takes longer, whether it is seen or not.
const MOST_AGE: Duration = Duration::from_secs(60 * 60);
/// Released versions gave temporary files such names, with six letters after them.
const EARLIER_PREFIXES: [&str; 4] = [".tmp", ".chronicle-", "new-", "."];
const N_RANDOM: usize = 6;

/// Begins a file in `directory`, to be renamed once it is whole; only its owner can read it until then.
///
/// # Errors
/// When it cannot be created.
pub fn temporary_in(directory: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::with_prefix_in(prefix(), directory)
}

pub(crate) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the temporary files in `directory`, one of our own or of git's, whose process died; returns them.
#[must_use]
pub fn sweep(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut removed = Vec::new();
    for entry in entries {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && entry.file_name().to_str().is_some_and(|name| is_left(name, &path))
            && fs::remove_file(&path).is_ok()
        {
            removed.push(path);
        }
    }
    removed
}

/// [`sweep`] for `directory` and the directories in it, `depth` levels down.
#[must_use]
pub fn sweep_below(directory: &Path, depth: usize) -> Vec<PathBuf> {
    let mut removed = sweep(directory);
    if 0 < depth {
        for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                removed.extend(sweep_below(&entry.path(), depth - 1));
            }
        }
    }
    removed
}

/// Removes at once, down `depth` levels, what processes left that died a moment ago: for who wants their words gone.
/// A process of another container that shares the folder fails to write then, and says so.
pub fn sweep_dead(directory: &Path, depth: usize) {
    for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
        let is_dead = || entry.file_name().to_str().and_then(process_of).is_some_and(is_gone);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && 0 < depth => sweep_dead(&entry.path(), depth - 1),
            Ok(kind) if kind.is_file() && is_dead() => drop(fs::remove_file(entry.path())),
            _ => {}
        }
    }
}

/// The process that a temporary file is of, as its name says.
fn process_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

fn is_left(name: &str, path: &Path) -> bool {
    let is_older = |least: Duration| age(path).is_some_and(|age| least < age);
    match process_of(name) {
        Some(process) => is_older(MOST_AGE) || (is_gone(process) && is_older(LEAST_AGE)),
        None => is_earlier(name) && is_older(MOST_AGE),
    }
}

/// Whether a file is named as the temporary files of released versions.
fn is_earlier(name: &str) -> bool {
    let mut rests = EARLIER_PREFIXES.iter().filter_map(|prefix| name.strip_prefix(prefix));
    rests.any(|rest| rest.len() == N_RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether no process has this number. It may be one of another container that shares the folder, so age counts, too.
fn is_gone(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    process.is_none_or(|process| rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// How long ago a file was last changed.
pub(crate) fn age(path: &Path) -> Option<Duration> {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "compared with the file system's own clock, not with the user's time"
    )]
    let now = SystemTime::now();
    now.duration_since(modified).ok()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files get times in the past")]
    fn what_dead_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, age: u64| {
            let path = folder.path().join(name);
            let file = fs::File::create(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            path
        };
        let own = std::process::id();
        let dead = u32::MAX;
        let left = [
            make(&format!("{PREFIX}{dead}-abc123"), 120),
            make(&format!("{PREFIX}{own}-abc123"), 4_000),
            make(".tmpabc123", 4_000),
            make(".chronicle-abc123", 4_000),
            make(".abc123", 4_000),
        ];
        let used = [
            make(&format!("{PREFIX}{dead}-abc456"), 30),
            make(&format!("{PREFIX}{own}-abc456"), 5),
            make(".tmpabc456", 5),
            make(".gitignore", 4_000),
            make("staged-notes.json", 4_000),
            make("pre-commit", 4_000),
        ];
        let mut removed = sweep(folder.path());
        removed.sort_unstable();
        let mut expected = left.to_vec();
        expected.sort_unstable();
        assert_eq!(removed, expected);
        assert!(used.iter().all(|path| path.exists()));
    }
}
