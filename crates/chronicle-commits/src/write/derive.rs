//! Where a lesson belongs when its author only named the file: the commit's own changes tell.

use std::{collections::HashMap, rc::Rc};

use chronicle_core::{LineRange, Lines, Places, Sketch};
use chronicle_git::{BString, ByteSlice, Commit, FileChange, ObjectId, Repository};

use crate::{
    error::Result,
    outlines::{Items, Outlines},
    place::introduced::{self, Introduced},
};

/// Runs of changed lines closer than this are one.
const JOIN_GAP: u32 = 3;
/// A longer run says no more than the file does.
pub(crate) const LONGEST_RANGE: u32 = 60;
/// Ranges kept when several could be meant.
pub(crate) const MAX_PLACES: usize = 16;

/// A commit with its files, as far as they were asked for.
pub(crate) struct Facts<'r> {
    repository: &'r Repository,
    pub(crate) commit: Commit,
    pub(crate) changes: Vec<FileChange>,
    parents: Vec<ObjectId>,
    contents: HashMap<BString, Option<Vec<u8>>>,
    outlines: Rc<Outlines>,
}

/// Where a lesson belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Derived {
    pub(crate) lines: Option<LineRange>,
    pub(crate) places: Option<Vec<Places>>,
}

impl<'r> Facts<'r> {
    pub(crate) fn of(repository: &'r Repository, id: ObjectId) -> Result<Self> {
        let commit = repository.commit(id)?;
        // A parent past the edge of a shallow clone tells nothing.
        let parents: Vec<ObjectId> =
            commit.parents.iter().filter_map(|parent| repository.commit_tree(*parent).ok()).collect();
        let changes = repository.changes(parents.first().copied(), commit.tree)?;
        Ok(Self {
            repository,
            commit,
            changes,
            parents,
            contents: HashMap::new(),
            outlines: Rc::new(Outlines::new(None)),
        })
    }

    /// The tree of the first parent, if there is one at hand.
    pub(crate) fn first_parent(&self) -> Option<ObjectId> {
        self.parents.first().copied()
    }

    /// The named items of `file` at the commit, or why they are not known; `None` when there is no such file.
    pub(crate) fn items(&mut self, file: &str) -> Result<Option<Items>> {
        // Several lessons are about one file: it is parsed once.
        let outlines = Rc::clone(&self.outlines);
        Ok(self.content(file)?.map(|content| outlines.items(file, content)))
    }

    /// The content of `file` at the commit; `None` when there is no such file.
    pub(crate) fn content(&mut self, file: &str) -> Result<Option<&[u8]>> {
        let path = BString::from(file);
        if !self.contents.contains_key(&path) {
            let blob = self.repository.blob_at(self.commit.tree, path.as_bstr())?;
            let content = blob.map(|id| self.repository.blob_if_here(id)).transpose()?.flatten();
            self.contents.insert(path.clone(), content);
        }
        Ok(self.contents[&path].as_deref())
    }

    /// Whether `file`, or a submodule of that name, is there at the commit, though perhaps not its content.
    pub(crate) fn has(&self, file: &str) -> Result<bool> {
        let (tree, file) = (self.commit.tree, file.as_bytes().as_bstr());
        Ok(self.repository.blob_at(tree, file)?.is_some() || self.repository.is_submodule_at(tree, file)?)
    }

    /// The sketch of `range` of `file`.
    pub(crate) fn sketch(&mut self, file: &str, range: LineRange) -> Result<Option<Sketch>> {
        Ok(self.content(file)?.map(|content| Sketch::of(&Lines::new(content), range)))
    }

    /// What the commit did to a file that it left as `new`.
    fn introduced(&self, change: &FileChange, new: ObjectId) -> Result<Option<Introduced>> {
        let previous = change.renamed_from.as_ref().map(|path| path.as_bstr());
        let path = change.path.as_bstr();
        introduced::by(self.repository, &self.parents, path, previous, new, self.repository)
    }

    /// The runs of lines of `file` that the commit wrote.
    pub(crate) fn hunks(&self, file: &str) -> Result<Vec<LineRange>> {
        let Some(change) = self.changes.iter().find(|change| change.path == file) else {
            return Ok(Vec::new());
        };
        let Some(new) = change.new else { return Ok(Vec::new()) };
        let written = self.introduced(change, new)?;
        Ok(written.map(|written| written.hunks).unwrap_or_default())
    }

    /// Where a lesson about `file` belongs, by what the commit changed in it (DESIGN section 5).
    pub(crate) fn derive(&mut self, file: &str) -> Result<Derived> {
        let Some(change) = self.changes.iter().find(|change| change.path == file) else {
            return Ok(Derived::default());
        };
        let Some(new) = change.new else { return Ok(Derived::default()) };
        let Some(written) = self.introduced(change, new)? else { return Ok(Derived::default()) };
        let content = self.content(file)?.unwrap_or_default();
        let lines = Lines::new(content);
        if written.is_added || lines.is_binary() {
            return Ok(Derived::default());
        }
        let (blank, telling): (Vec<LineRange>, Vec<LineRange>) = joined(&written.hunks)
            .into_iter()
            .partition(|hunk| lines.of(*hunk).iter().all(|line| line.trim_ascii().is_empty()));
        // A diff may count the blank line after what was added, or the one before it.
        let hunks = match telling.is_empty() {
            true => blank,
            false => telling.iter().map(|hunk| hunk.without_blanks(lines.of(*hunk))).collect(),
        };
        if let [only] = hunks[..]
            && only.len() <= LONGEST_RANGE
            && 2 * only.len() <= lines.count()
        {
            return Ok(Derived { lines: Some(only), places: None });
        }
        if hunks.is_empty() && !written.has_deletions {
            // Renamed or made executable: nothing in it was changed.
            return Ok(Derived::default());
        }
        let places = hunks.iter().take(MAX_PLACES).map(|range| Places {
            start: range.start,
            end: range.end,
            sketch: Some(Sketch::of(&lines, *range)),
            extra: serde_json::Map::new(),
        });
        Ok(Derived { lines: None, places: Some(places.collect()) })
    }
}

fn joined(hunks: &[LineRange]) -> Vec<LineRange> {
    let mut joined: Vec<LineRange> = Vec::new();
    for hunk in hunks {
        match joined.last_mut() {
            Some(last) if hunk.start <= last.end + JOIN_GAP + 1 => last.end = hunk.end,
            _ => joined.push(*hunk),
        }
    }
    joined
}
