//! The commits that changed an item of a file, as `git log -L` would list them.
//!
//! The item's lines are followed back through the versions that facts know, one diff to each. No git process runs.

use std::collections::HashMap;

use chronicle_core::{Hunk, LineRange, Lines, hunks, lines_after};
use chronicle_git::{ByteSlice, LazyRepository, ObjectId, Repository};

use crate::{
    caches::Caches,
    error::Result,
    past::{Touch, known::Known, line::Line},
    read::question::ScopeFile,
};

/// Versions that are compared at most.
const MOST_VERSIONS: usize = 100;

/// A commit that changed the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The commit.
    pub commit: ObjectId,
    /// How many lessons its annotation holds; `None` where it has none.
    pub n_lessons: Option<usize>,
}

/// The commits that changed an item, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemHistory {
    /// The newest of them.
    pub commits: Vec<Changed>,
    /// Whether there are older ones, or may be.
    pub has_more: bool,
}

/// The newest `most` commits of the history of `head` that changed `lines` of `file`, whose bytes are `content` now.
///
/// # Errors
/// When the repository cannot be read.
pub fn item_history(
    lazy: &LazyRepository,
    caches: &Caches,
    file: &FileNow<'_>,
    lines: LineRange,
    most: usize,
) -> Result<ItemHistory> {
    caches.facts.asked(|| {
        let repository = lazy.get()?;
        let mut warnings = Vec::new();
        let line = Line::open(repository, &caches.facts, file.head, &mut warnings)?;
        let (known, notebook) = line.about(std::slice::from_ref(file.file), None, &[])?;
        let (commits, has_more) = changes(repository, &known, file, lines, most)?;
        let mut history = ItemHistory { commits: Vec::new(), has_more };
        for commit in commits {
            let note = notebook.read(commit)?.note;
            let n_regions: usize = note.documents().iter().map(|document| document.regions.len()).sum();
            let n_lessons = (!note.is_empty()).then(|| note.entries().len() + n_regions);
            history.commits.push(Changed { commit, n_lessons });
        }
        Ok(history)
    })
}

/// A file as it is now.
#[derive(Debug, Clone, Copy)]
pub struct FileNow<'a> {
    /// The file.
    pub file: &'a ScopeFile,
    /// Its bytes.
    pub content: &'a [u8],
    /// The commit whose history counts.
    pub head: ObjectId,
}

fn changes(
    repository: &Repository,
    known: &Known<'_>,
    now: &FileNow<'_>,
    lines: LineRange,
    most: usize,
) -> Result<(Vec<ObjectId>, bool)> {
    let mut found = Vec::new();
    let Some(blob) = repository.blob_at(known.head().tree, now.file.at_head.as_bstr())? else {
        return Ok((found, false));
    };
    let Some(committed) = repository.blob_if_here(blob)? else { return Ok((found, true)) };
    let uncommitted = Difference::between(&committed, now.content, lines);
    // Where the item is in each version that was reached.
    let mut places: HashMap<ObjectId, LineRange> = HashMap::new();
    places.extend(uncommitted.before.map(|before| (blob, before)));
    let mut n_versions = 0;
    for touch in known.files().iter().flat_map(|file| &file.touches) {
        let Some((new, range)) = touch.new.and_then(|new| Some((new, *places.get(&new)?))) else { continue };
        if found.len() == most || n_versions == MOST_VERSIONS {
            return Ok((found, true));
        }
        n_versions += 1;
        let Some(content) = repository.blob_if_here(new)? else { return Ok((found, true)) };
        let mut is_changed = true;
        for old in before(repository, known, touch)? {
            let Some(old_content) = repository.blob_if_here(old)? else { return Ok((found, true)) };
            let difference = Difference::between(&old_content, &content, range);
            is_changed &= difference.is_changed;
            if let Some(before) = difference.before {
                let place = places.entry(old).or_insert(before);
                place.start = place.start.min(before.start);
                place.end = place.end.max(before.end);
            }
        }
        let commit = known.id(touch.place).0;
        if is_changed && !found.contains(&commit) {
            found.push(commit);
        }
    }
    Ok((found, false))
}

/// The file's blobs in the parents of the commit that changed it.
fn before(repository: &Repository, known: &Known<'_>, touch: &Touch) -> Result<Vec<ObjectId>> {
    let (_, n_parents) = known.id(touch.place);
    if n_parents == 1 && touch.renamed_from.is_none() {
        return Ok(touch.old.into_iter().collect());
    }
    let name = touch.renamed_from.as_ref().unwrap_or(&touch.name);
    let mut blobs = Vec::new();
    for parent in known.commit(touch.place)?.parents {
        let found = match repository.blob_at(parent, name.as_bstr())? {
            None => repository.blob_at(parent, touch.name.as_bstr())?,
            found => found,
        };
        blobs.extend(found);
    }
    Ok(blobs)
}

/// What became of some lines from one version to the next.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    /// Whether any of them were changed or added, or some between them removed.
    is_changed: bool,
    /// Where they were before, together with what is there instead of what was removed; `None` where all are new.
    before: Option<LineRange>,
}

impl Difference {
    /// What `old` had for `lines` of `new`.
    fn between(old: &[u8], new: &[u8], lines: LineRange) -> Self {
        let hunks = hunks(&Lines::new(old), &Lines::new(new)).into_iter();
        let hunks: Vec<Hunk> = hunks.map(|hunk| Hunk { old: hunk.new, new: hunk.old }).collect();
        let is_changed = hunks.iter().any(|hunk| hunk.touches(lines));
        let before = lines_after(&hunks, lines);
        Self { is_changed, before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `lines` are written as 2-3; "" for none.
    fn check(old: &str, new: &str, lines: &str, is_changed: bool, before: &str) {
        let found = Difference::between(old.as_bytes(), new.as_bytes(), lines.parse().expect("a range"));
        assert_eq!(found, Difference { is_changed, before: before.parse().ok() }, "{old:?} {new:?}");
    }

    #[test]
    fn lines_are_followed_to_the_version_before() {
        check("a\nb\nc\n", "a\nb\nc\n", "2-3", false, "2-3");
        check("a\nb\nc\n", "x\na\nb\nc\n", "3-4", false, "2-3");
        check("a\nb\nc\n", "b\nc\n", "1-2", false, "2-3");
        check("a\nb\nc\n", "a\nx\nc\n", "1-3", true, "1-3");
        check("a\nb\nc\n", "a\nx\nc\n", "3-3", false, "3-3");
        check("a\nb\nc\nd\n", "a\nd\n", "1-2", true, "1-4");
        check("a\nd\n", "a\nb\nc\nd\n", "1-4", true, "1-2");
        check("a\nd\n", "a\nb\nc\nd\n", "2-3", true, "");
        check("a\nb\nc\nd\n", "a\nx\ny\nz\nd\n", "3-5", true, "2-4");
        check("", "a\nb\n", "1-2", true, "");
    }
}
