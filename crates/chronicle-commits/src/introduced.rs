//! Which lines of a file a commit wrote.

use chronicle_core::{LineRange, Lines, changed_ranges};
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
) -> Result<Introduced> {
    let content = repository.blob(new)?;
    let lines = Lines::new(&content);
    let mut written: Option<Vec<bool>> = None;
    let (mut is_added, mut has_deletions) = (true, false);
    for tree in parents.iter().copied() {
        let same_name = repository.blob_at(tree, path)?;
        let old = match (same_name, previous) {
            (None, Some(previous)) => repository.blob_at(tree, previous)?,
            _ => same_name,
        };
        is_added &= old.is_none();
        let old = old.map(|id| repository.blob(id)).transpose()?.unwrap_or_default();
        let change = changed_ranges(&Lines::new(&old), &lines);
        has_deletions |= change.has_deletions;
        let mut mask = vec![false; lines.all().len()];
        for range in &change.added {
            mask[range.start as usize - 1..range.end as usize].fill(true);
        }
        written = Some(match written {
            None => mask,
            Some(before) => before.iter().zip(mask).map(|(before, now)| *before && now).collect(),
        });
    }
    let written = written.unwrap_or_else(|| vec![true; lines.all().len()]);
    Ok(Introduced { hunks: runs(&written), is_added, has_deletions })
}

fn runs(written: &[bool]) -> Vec<LineRange> {
    let mut runs = Vec::new();
    let mut start = None;
    for (line, is_written) in written.iter().chain([&false]).enumerate() {
        match (start, is_written) {
            (None, true) => start = Some(line),
            (Some(first), false) => {
                runs.push(LineRange::from_zero_based(first, line - first));
                start = None;
            }
            _ => {}
        }
    }
    runs
}
