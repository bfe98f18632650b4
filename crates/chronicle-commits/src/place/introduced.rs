//! Which lines of a file a commit wrote.

use std::rc::Rc;

use chronicle_core::{ChangedRanges, LineRange, changed_ranges, line_words};
use chronicle_git::{BStr, ObjectId, Repository};

use crate::error::Result;

/// What a commit did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduced {
    /// The runs of lines it wrote, in order.
    pub(crate) hunks: Vec<LineRange>,
    /// Whether the file is new.
    pub(crate) is_added: bool,
    /// Whether it took lines away.
    pub(crate) has_deletions: bool,
}

/// The words of the lines of a version; `None` when it is not at hand, as in partial clones.
pub(crate) type Words = Option<Rc<[u32]>>;

/// Reads the versions of a file, and compares them.
pub(crate) trait ReadVersions {
    fn words(&self, blob: ObjectId) -> Result<Words>;

    /// What differs between the words of two versions.
    fn changed_ranges(&self, old: &[u32], new: &[u32]) -> ChangedRanges;
}

impl ReadVersions for Repository {
    fn words(&self, blob: ObjectId) -> Result<Words> {
        Ok(self.with_blob(blob, |content| line_words(content).into())?)
    }

    fn changed_ranges(&self, old: &[u32], new: &[u32]) -> ChangedRanges {
        changed_ranges(old, new)
    }
}

/// What a commit did to `path`, whose blob there is `new`; `previous` is its name before, if it was renamed.
///
/// `parents` are the trees of its parents as far as they are at hand. A merge wrote only
/// the lines that no parent has.
pub(crate) fn by(
    repository: &Repository,
    parents: &[ObjectId],
    path: &BStr,
    previous: Option<&BStr>,
    new: ObjectId,
    versions: &impl ReadVersions,
) -> Result<Option<Introduced>> {
    let mut olds = Vec::with_capacity(parents.len());
    for tree in parents.iter().copied() {
        let same_name = repository.blob_at(tree, path)?;
        olds.push(match (same_name, previous) {
            (None, Some(previous)) => repository.blob_at(tree, previous)?,
            _ => same_name,
        });
    }
    between(&olds, new, versions)
}

/// What was done to a file between its versions `olds`, one for each parent, and `new`;
/// `None` when a version is not at hand.
pub(crate) fn between(
    olds: &[Option<ObjectId>],
    new: ObjectId,
    versions: &impl ReadVersions,
) -> Result<Option<Introduced>> {
    let Some(lines) = versions.words(new)? else { return Ok(None) };
    let is_added = olds.iter().all(Option::is_none);
    let mut written: Option<Vec<LineRange>> = None;
    let mut has_deletions = false;
    for old in olds {
        let old = match old {
            Some(id) => versions.words(*id)?,
            None => Some([].into()),
        };
        let Some(old) = old else { return Ok(None) };
        let change = versions.changed_ranges(&old, &lines);
        has_deletions |= change.has_deletions;
        written = Some(match written {
            None => change.added,
            Some(before) => in_both(&before, &change.added),
        });
    }
    let hunks = match written {
        Some(written) => written,
        None if lines.is_empty() => Vec::new(),
        None => vec![LineRange::from_zero_based(0, lines.len())],
    };
    Ok(Some(Introduced { hunks, is_added, has_deletions }))
}

/// The lines that are in both lists of ranges; each is in order.
fn in_both(ours: &[LineRange], theirs: &[LineRange]) -> Vec<LineRange> {
    let mut both = Vec::new();
    for range in ours {
        let overlaps = theirs.iter().filter(|other| other.overlaps(*range));
        both.extend(
            overlaps.map(|other| LineRange {
                start: range.start.max(other.start),
                end: range.end.min(other.end),
            }),
        );
    }
    both
}
