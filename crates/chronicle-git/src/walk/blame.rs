//! Which commit last wrote each line: git's own answer.
//!
//! The only place on the way of a read that spawns `git`, and only when it is asked to.
//! The committed file is blamed, never the one in the working tree: that would run the
//! repository's filters. Whoever asks maps the lines.

use std::{ffi::OsStr, path::Path};

use chronicle_core::LineRange;
use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice, ByteVec},
};

use crate::{
    Repository,
    disk::files,
    error::{GitError, Result},
    process,
    walk::ignore_revs::IgnoreRevs,
};

/// One line, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// Its number in the version that was blamed.
    pub line: u32,
    /// The commit that wrote it.
    pub commit: ObjectId,
    /// The file's name in that commit.
    pub path: BString,
    /// The line's number in that commit.
    pub line_then: u32,
    /// Whether the search ended there: the commit may have the line from its parents.
    pub is_boundary: bool,
}

/// Settings that let git tell another commit than the last one that changed a line, or compare in another way.
const SETTINGS: [&str; 3] = [IGNORE_REVS, "diff.algorithm", "diff.indentHeuristic"];
const IGNORE_REVS: &str = "blame.ignoreRevsFile";

impl Repository {
    /// Whether git's configuration makes `git blame` tell lines otherwise than it does by itself.
    #[must_use]
    pub fn blames_otherwise(&self) -> bool {
        let config = self.inner.config_snapshot();
        SETTINGS.iter().any(|setting| config.string(*setting).is_some_and(|value| !value.is_empty()))
    }

    /// The files of commits to ignore that are configured, but that git cannot read; blames do without them.
    #[must_use]
    pub fn unreadable_ignore_revs(&self) -> &[String] {
        &self.ignore_revs().unreadable
    }

    fn ignore_revs(&self) -> &IgnoreRevs {
        self.ignore_revs.get_or_init(|| {
            let mut found = IgnoreRevs::default();
            if self.inner.config_snapshot().string(IGNORE_REVS).is_none() {
                return found;
            }
            // Git itself says where `~` and the like lead; a relative path begins where it works.
            let args = ["config", "-z", "--type=path", "--get-all", IGNORE_REVS].map(OsStr::new);
            let values = process::git_reading(self, &args).unwrap_or_default();
            let root = self.work_dir().unwrap_or(self.git_dir());
            let values = values.strip_suffix(b"\0").unwrap_or(&values);
            for value in values.split(|byte| *byte == 0) {
                let Ok(name) = value.to_path() else { continue };
                let path = root.join(name);
                match value.is_empty() {
                    true => found.readable.clear(),
                    false if self.lists_commits(&path) => found.readable.push(path),
                    false => found.unreadable.push(value.to_str_lossy().into_owned()),
                }
            }
            found
        })
    }

    /// Whether git can read a list of commits at `path`: one id on a line, and remarks.
    fn lists_commits(&self, path: &Path) -> bool {
        let Ok(content) = files::read(path, files::MAX_BYTES) else { return false };
        let n_digits = self.inner.object_hash().len_in_hex();
        content.lines().all(|line| {
            let id = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
            id.is_empty() || id.len() == n_digits && id.iter().all(u8::is_ascii_hexdigit)
        })
    }

    /// Who wrote the lines of `range`, or all lines, of the file at `path` of `commit`. What `since` reaches is not
    /// searched.
    ///
    /// # Errors
    /// When git cannot be run or the file or the lines do not exist in `commit`.
    pub fn blame(
        &self,
        (commit, path): (ObjectId, &BStr),
        range: Option<LineRange>,
        since: Option<ObjectId>,
    ) -> Result<Vec<BlamedLine>> {
        let revisions = since.map_or_else(|| commit.to_string(), |since| format!("{since}..{commit}"));
        let range = range.map(|range| format!("-L{},{}", range.start, range.end));
        let mut args: Vec<&OsStr> = ["blame", "--porcelain", "--no-textconv"].map(OsStr::new).to_vec();
        let ignored = self.ignore_revs();
        if !ignored.unreadable.is_empty() {
            // What is configured no longer counts then.
            args.push(OsStr::new("--no-ignore-revs-file"));
            for file in &ignored.readable {
                args.extend([OsStr::new("--ignore-revs-file"), file.as_os_str()]);
            }
        }
        args.extend(range.as_ref().map(OsStr::new));
        args.extend([&revisions, "--"].map(OsStr::new));
        args.push(path.to_os_str().map_err(|_| GitError::Process {
            command: "blame".to_owned(),
            stderr: "the file's name cannot be passed to a process".to_owned(),
        })?);
        self.fetch_versions(commit, path)?;
        parse(&process::git_blaming(self, &args)?)
    }
}

/// Reads the output of `git blame --porcelain`: a header for each line, and once for each commit what is known of it.
fn parse(output: &[u8]) -> Result<Vec<BlamedLine>> {
    let unexpected = |line: &[u8]| GitError::Process {
        command: "blame".to_owned(),
        stderr: format!("cannot read its output: {}", line.to_str_lossy().escape_debug()),
    };
    let mut found = Vec::new();
    let mut names: gix::hashtable::HashMap<ObjectId, BString> = gix::hashtable::HashMap::default();
    let mut boundary: gix::hashtable::HashSet<ObjectId> = gix::hashtable::HashSet::default();
    let mut at: Option<(ObjectId, u32, u32)> = None;
    for line in output.lines() {
        let Some((commit, line_then, number)) = at else {
            at = Some(header(line).ok_or_else(|| unexpected(line))?);
            continue;
        };
        if let Some(name) = line.strip_prefix(b"filename ") {
            names.insert(commit, unquoted(name));
        } else if line == b"boundary" {
            boundary.insert(commit);
        } else if line.starts_with(b"\t") {
            let path = names.get(&commit).cloned().unwrap_or_default();
            let is_boundary = boundary.contains(&commit);
            found.push(BlamedLine { line: number, commit, path, line_then, is_boundary });
            at = None;
        }
    }
    Ok(found)
}

/// `<commit> <line then> <line now> [<lines in the group>]`
fn header(line: &[u8]) -> Option<(ObjectId, u32, u32)> {
    let mut words = line.to_str().ok()?.split(' ');
    let commit = ObjectId::from_hex(words.next()?.as_bytes()).ok()?;
    Some((commit, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn unquoted(name: &[u8]) -> BString {
    let unquoted = gix::quote::ansi_c::undo(name.as_bstr());
    unquoted.map_or_else(|_| name.into(), |(name, _)| Vec::from_slice(name.as_ref()).into())
}
