//! Reads unified diffs, as `git diff` and `diff -u` write them, from anyone.
//!
//! The parsing is `diffy`'s. What it lacks is added here: the form is recognised, one
//! broken file does not hide the others, and paths come back in all readings that
//! prefixes such as `a/` allow, because only a repository can tell which one is meant.

use diffy::{
    Line,
    patch_set::{FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet},
};

use crate::{Extent, Hunk};

/// What a diff does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The names the old version may go by, most likely first; none when the file is new.
    pub old_paths: Vec<Vec<u8>>,
    /// The names the new version may go by, most likely first; none when the file is removed.
    pub new_paths: Vec<Vec<u8>>,
    /// The changes; none for binary files and pure renames.
    pub hunks: Vec<Hunk>,
    /// Lines of the old version that the diff quotes, with their numbers and without line ends.
    pub quoted: Vec<(u32, Vec<u8>)>,
    /// Whether the file has no lines to speak of.
    pub is_binary: bool,
}

/// A diff as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// The files.
    pub files: Vec<FileDiff>,
    /// What could not be read, in words.
    pub unread: Vec<String>,
}

/// More broken files than this are not told one by one.
const MAX_REMARKS: usize = 10;
/// A header line holds two paths; a longer one is no header, and costly to take apart.
const LONGEST_HEADER: usize = 32_768;
const GIT_HEADER: &[u8] = b"diff --git ";

/// Reads `bytes` as a unified diff; what is not one comes back as nothing but remarks.
#[must_use]
pub fn read(bytes: &[u8]) -> Diff {
    let mut diff = Diff::default();
    if bytes.trim_ascii().is_empty() {
        return diff;
    }
    let is_git = bytes.starts_with(GIT_HEADER) || memchr::memmem::find(bytes, b"\ndiff --git ").is_some();
    let is_overlong = |line: &[u8]| line.starts_with(GIT_HEADER) && LONGEST_HEADER < line.len();
    if is_git && bytes.split(|byte| *byte == b'\n').any(is_overlong) {
        diff.unread.push("a `diff --git` line is too long to hold two paths".to_owned());
        return diff;
    }
    let options = if is_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut n_unread = 0;
    for patch in PatchSet::parse_bytes(bytes, options) {
        match patch {
            Ok(patch) => diff.files.push(file(&patch)),
            Err(error) => {
                n_unread += 1;
                if n_unread <= MAX_REMARKS {
                    diff.unread.push(error.to_string());
                }
            }
        }
    }
    if MAX_REMARKS < n_unread {
        diff.unread.push(format!("and {} more parts", n_unread - MAX_REMARKS));
    }
    diff
}

fn file(patch: &FilePatch<'_, [u8]>) -> FileDiff {
    let (old_paths, new_paths) = match patch.operation() {
        FileOperation::Delete(path) => (readings(path), Vec::new()),
        FileOperation::Create(path) => (Vec::new(), readings(path)),
        FileOperation::Modify { original, modified } => {
            let (mut old, mut new) = (readings(original), readings(modified));
            // Prefixes are whatever the user has set: what follows them is the same on both sides.
            let shared = shared_end(original, modified);
            if !shared.is_empty() && old.len() == new.len() && !old.contains(&shared) {
                old.push(shared.clone());
                new.push(shared);
            }
            (old, new)
        }
        // Renames are told without a prefix.
        FileOperation::Rename { from, to } => (vec![from.to_vec()], vec![to.to_vec()]),
        // Nothing happens to the source of a copy.
        FileOperation::Copy { to, .. } => (Vec::new(), vec![to.to_vec()]),
    };
    let (mut hunks, mut quoted) = (Vec::new(), Vec::new());
    if let PatchKind::Text(text) = patch.patch() {
        for hunk in text.hunks() {
            walk(hunk, &mut hunks, &mut quoted);
        }
    }
    FileDiff { old_paths, new_paths, hunks, quoted, is_binary: patch.patch().is_binary() }
}

/// Without the prefix that git puts before paths first, then as it is written.
fn readings(path: &[u8]) -> Vec<Vec<u8>> {
    let is_prefix = |first: u8| b"abciow".contains(&first);
    match path {
        [first, b'/', rest @ ..] if is_prefix(*first) && !rest.is_empty() => {
            vec![rest.to_vec(), path.to_vec()]
        }
        _ => vec![path.to_vec()],
    }
}

/// The last components that two paths share.
fn shared_end(left: &[u8], right: &[u8]) -> Vec<u8> {
    let parts = |path: &'_ [u8]| path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (left, right) = (parts(left), parts(right));
    let shared = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right);
    let n_shared = shared.count();
    left[left.len() - n_shared..].join(&b'/')
}

/// Cuts a hunk with context into runs of changes.
fn walk(hunk: &diffy::Hunk<'_, [u8]>, hunks: &mut Vec<Hunk>, quoted: &mut Vec<(u32, Vec<u8>)>) {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    // An empty range names the line before it.
    let first = |start: usize, len: usize| if len == 0 { start.saturating_add(1) } else { start.max(1) };
    let mut old = first(hunk.old_range().start(), hunk.old_range().len());
    let mut new = first(hunk.new_range().start(), hunk.new_range().len());
    let mut open: Option<Hunk> = None;
    for line in hunk.lines() {
        if let Line::Context(text) = line {
            hunks.extend(open.take());
            quoted.push((number(old), without_end(text).to_vec()));
            (old, new) = (old.saturating_add(1), new.saturating_add(1));
            continue;
        }
        let empty = |line: usize| Extent { start: number(line), len: 0 };
        let run = open.get_or_insert(Hunk { old: empty(old), new: empty(new) });
        if let Line::Delete(text) = line {
            quoted.push((number(old), without_end(text).to_vec()));
            run.old.len += 1;
            old = old.saturating_add(1);
        } else {
            run.new.len += 1;
            new = new.saturating_add(1);
        }
    }
    hunks.extend(open);
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hunk(old: (u32, u32), new: (u32, u32)) -> Hunk {
        let extent = |(start, len)| Extent { start, len };
        Hunk { old: extent(old), new: extent(new) }
    }

    #[test]
    fn a_diff_of_git_is_read() {
        let diff = read(
            b"diff --git a/pool.rs b/pool.rs\nindex 1..2 100644\n--- a/pool.rs\n+++ b/pool.rs\n\
              @@ -1,4 +1,4 @@ fn x\n a\n-b\n+B\n c\n-d\n\\ No newline at end of file\n+d\n",
        );
        assert_eq!(diff.unread, Vec::<String>::new());
        let file = &diff.files[0];
        assert_eq!(file.old_paths, [b"pool.rs".to_vec(), b"a/pool.rs".to_vec()]);
        assert_eq!(file.hunks, [hunk((2, 1), (2, 1)), hunk((4, 1), (4, 1))]);
        assert_eq!(
            file.quoted,
            [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, b"c".to_vec()), (4, b"d".to_vec())]
        );
    }

    #[test]
    fn names_in_quotes_and_renames_are_read() {
        let diff = read(
            b"diff --git \"a/gr\\303\\274n.rs\" \"b/gr\\303\\274n.rs\"\n--- \"a/gr\\303\\274n.rs\"\n\
              +++ \"b/gr\\303\\274n.rs\"\n@@ -0,0 +1 @@\n+x\n\
              diff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\n\
              diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n",
        );
        assert_eq!(diff.unread, Vec::<String>::new());
        assert_eq!(diff.files[0].old_paths[0], "grün.rs".as_bytes());
        assert_eq!(diff.files[0].hunks, [hunk((1, 0), (1, 1))]);
        assert_eq!(diff.files[1].old_paths, [b"old.rs".to_vec()]);
        assert_eq!(diff.files[1].new_paths, [b"new.rs".to_vec()]);
        assert!(diff.files[2].is_binary);
    }

    #[test]
    fn carriage_returns_and_plain_diffs_are_read() {
        let diff = read(b"--- pool.rs\r\n+++ pool.rs\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n");
        assert_eq!(diff.files[0].old_paths, [b"pool.rs".to_vec()]);
        assert_eq!(diff.files[0].quoted, [(1, b"a".to_vec())]);
    }

    #[test]
    fn what_is_broken_is_told_and_the_rest_is_read() {
        let diff = read(
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n\
              diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
        );
        assert_eq!((diff.files.len(), diff.unread.len()), (1, 1));
        assert_eq!(read(b"no diff at all\n").unread.len(), 1);
        assert_eq!(read(b" \n"), Diff::default());
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _read = read(&bytes);
        }

        #[test]
        fn nothing_like_a_diff_makes_it_panic(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("diff --git a/x b/x".to_owned()), Just("--- a/x".to_owned()), Just("+++ b/x".to_owned()),
                    Just("rename from \"\\777".to_owned()), Just("\\ No newline at end of file".to_owned()),
                    Just("Binary files a/x and b/x differ".to_owned()), Just("GIT binary patch".to_owned()),
                    "@@ -[0-9]{1,20}(,[0-9]{1,20})? \\+[0-9]{1,20}(,[0-9]{1,3})? @@", "[-+ ].{0,10}",
                ],
                0..30,
            ),
            end in prop_oneof![Just("\n"), Just("\r\n"), Just("")],
        ) {
            let _read = read(lines.join(end).as_bytes());
        }
    }
}
