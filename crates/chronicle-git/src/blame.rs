//! Which commit last wrote each line: git's own answer.
//!
//! The only place on the way of a read that spawns `git`, and only when it is asked to.
//! The committed file is blamed, never the one in the working tree: that would run the
//! repository's filters. Whoever asks maps the lines.

use std::ffi::OsStr;

use chronicle_core::LineRange;
use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice, ByteVec},
};

use crate::{
    Repository,
    error::{GitError, Result},
    process,
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
const SETTINGS: [&str; 3] = ["blame.ignoreRevsFile", "diff.algorithm", "diff.indentHeuristic"];

impl Repository {
    /// Whether git's configuration makes `git blame` tell lines otherwise than it does by itself.
    #[must_use]
    pub fn blames_otherwise(&self) -> bool {
        let config = self.inner.config_snapshot();
        SETTINGS.iter().any(|setting| config.string(*setting).is_some_and(|value| !value.is_empty()))
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
