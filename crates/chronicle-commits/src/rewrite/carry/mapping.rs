//! Where a lesson about one commit is in another.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use chronicle_core::{
    Annotation, Change, Entry, LineMap, LineRange, Lines, Locator, Note, Places, Recorded, Region, Sketch,
};
use chronicle_git::{BStr, BString, ByteSlice, Commit, FileChange, ObjectId, Repository};
use serde_json::Map;

use crate::{
    error::Result,
    note::change::{self, Sketches, changes_of, named_tree},
    place::present::is_opaque,
};

/// The commit that takes lessons of others.
pub(super) struct Target<'r> {
    repository: &'r Repository,
    commit: Commit,
    change: Change,
    changes: Vec<FileChange>,
    contents: RefCell<HashMap<BString, Option<Rc<Vec<u8>>>>>,
    /// Files of another tree that are called otherwise here.
    renames: RefCell<HashMap<ObjectId, Rc<HashMap<BString, BString>>>>,
}

/// The commit that a lesson comes from; without a tree it is gone, and only sketches tell where its lines were.
pub(super) struct Origin {
    commit: ObjectId,
    tree: Option<ObjectId>,
    /// Whether it makes the very change that the target makes.
    is_same_change: bool,
}

impl Origin {
    pub(super) fn of(target: &Target<'_>, commit: ObjectId, note: &Note) -> Self {
        let repository = target.repository;
        // Where the commit is gone, another one may have the same files.
        let tree = repository.commit_tree(commit).ok();
        let tree = tree.or_else(|| named_tree(note, commit).filter(|tree| repository.has_object(*tree)));
        let mut patches = changes_of(note, commit).filter_map(|change| change.patch.as_ref());
        let is_same_change = patches.any(|patch| Some(patch) == target.change.patch.as_ref());
        Self { commit, tree, is_same_change }
    }
}

/// What became of a range.
enum Fate {
    At(LineRange),
    Gone,
    /// Nothing is left to tell it by.
    Unknown,
}

impl<'r> Target<'r> {
    pub(super) fn of(repository: &'r Repository, id: ObjectId) -> Result<Self> {
        let commit = repository.commit(id)?;
        let parent = commit.parents.first().and_then(|parent| repository.commit_tree(*parent).ok());
        // In a clone without all trees the change is not known, and nothing else suffers.
        let changes = repository.plain_changes(parent, commit.tree).unwrap_or_default();
        let change = change::of(repository, &commit, &changes)?;
        Ok(Self {
            repository,
            commit,
            change,
            changes,
            contents: RefCell::default(),
            renames: RefCell::default(),
        })
    }

    /// The fingerprints of the target's change, with the unknown keys of `other`.
    pub(super) fn change(&self, other: Option<&Change>) -> Change {
        Change { extra: other.map_or_else(Map::new, |other| other.extra.clone()), ..self.change.clone() }
    }

    /// `entry` of `document`, as it is here.
    pub(super) fn entry(&self, entry: &Entry, document: &Annotation, origin: &Origin) -> Result<Entry> {
        let origin = &self.frame(document, origin);
        let mut copy = entry.clone();
        copy.recorded = Some(entry.recorded.clone().unwrap_or_else(|| Recorded {
            commit: origin.commit.to_string(),
            file: entry.file.clone(),
            lines: entry.lines,
            extra: Map::new(),
        }));
        let Some(file) = &entry.file else { return Ok(copy) };
        let here = self.name_of(file, origin, entry.sketch.as_ref())?;
        if let Some(range) = entry.lines {
            let sketches = Sketches { own: entry.sketch.as_ref(), around: entry.around.as_ref() };
            match self.range(range, sketches, file, here.as_ref(), origin)? {
                Fate::At(lines) => copy.lines = Some(lines),
                Fate::Gone => (copy.lines, copy.places) = (None, Some(Vec::new())),
                Fate::Unknown => copy.lines = None,
            }
            if let Some(lines) = copy.lines {
                copy.sketch = self.sketch(here.as_ref(), lines)?;
            }
        } else if let Some(places) = &entry.places {
            copy.places = Some(self.places(places, file, here.as_ref(), origin)?);
        }
        copy.file = here.map(|path| path.to_string()).or(copy.file);
        Ok(copy)
    }

    /// `region` of `document`, as it is here.
    pub(super) fn region(&self, region: &Region, document: &Annotation, origin: &Origin) -> Result<Region> {
        let origin = &self.frame(document, origin);
        let mut copy = region.clone();
        let here = self.name_of(&region.file, origin, region.sketch.as_ref())?;
        if let Some(range) = region.lines {
            let sketches = Sketches::only(region.sketch.as_ref());
            copy.lines = match self.range(range, sketches, &region.file, here.as_ref(), origin)? {
                Fate::At(lines) => Some(lines),
                Fate::Gone | Fate::Unknown => None,
            };
            if let Some(lines) = copy.lines {
                copy.sketch = self.sketch(here.as_ref(), lines)?;
            }
        }
        copy.file = here.map_or(copy.file, |path| path.to_string());
        Ok(copy)
    }

    /// The commit whose lines `document` speaks of: it may name another one than the one that carries it.
    fn frame(&self, document: &Annotation, origin: &Origin) -> Origin {
        let named = ObjectId::from_hex(document.commit.to_ascii_lowercase().as_bytes()).ok();
        let foreign = named.filter(|named| *named != origin.commit).and_then(|commit| {
            let tree = Some(self.repository.commit_tree(commit).ok()?);
            Some(Origin { commit, tree, is_same_change: false })
        });
        foreign.unwrap_or(Origin { ..*origin })
    }

    /// What `file` of `origin` is called here; `None` when it is not here.
    fn name_of(&self, file: &str, origin: &Origin, sketch: Option<&Sketch>) -> Result<Option<BString>> {
        let path = BString::from(file.trim_start_matches("./"));
        if self.repository.blob_at(self.commit.tree, path.as_bstr()).ok().flatten().is_some() {
            return Ok(Some(path));
        }
        let moved = self.in_another_directory(&path);
        if let Some(tree) = origin.tree {
            if let Some(renamed) = self.renamed_since(tree).get(&path) {
                return Ok(Some(renamed.clone()));
            }
            return Ok(
                moved.filter(|path| self.repository.blob_at(tree, path.as_bstr()).ok().flatten().is_none())
            );
        }
        if sketch.is_none() && moved.is_some() {
            return Ok(moved);
        }
        // Of the version it had nothing is left; a file of that name elsewhere that holds the lines is it.
        let Some(sketch) = sketch else { return Ok(None) };
        for change in self.changes.iter().filter(|change| change.new.is_some()) {
            if change.path.rsplit_str(b"/").next() == path.rsplit_str(b"/").next()
                && let Some(content) = self.content(&change.path)?
                && sketch.likeliest(&Lines::new(&content)).is_some()
            {
                return Ok(Some(change.path.clone()));
            }
        }
        Ok(None)
    }

    /// The one changed file whose path is `path` with directories put before it or taken away.
    fn in_another_directory(&self, path: &BString) -> Option<BString> {
        let changed = self.changes.iter().filter(|change| change.new.is_some()).map(|change| &change.path);
        let mut fits = changed.filter(|other| is_below(other, path) || is_below(path, other));
        fits.next().filter(|_| fits.next().is_none()).cloned()
    }

    fn renamed_since(&self, tree: ObjectId) -> Rc<HashMap<BString, BString>> {
        if let Some(known) = self.renames.borrow().get(&tree) {
            return Rc::clone(known);
        }
        let changes = self.repository.changes(Some(tree), self.commit.tree).unwrap_or_default();
        let renames = changes.into_iter().filter_map(|change| Some((change.renamed_from?, change.path)));
        let renames = Rc::new(renames.collect());
        self.renames.borrow_mut().insert(tree, Rc::clone(&renames));
        renames
    }

    fn content(&self, path: &BString) -> Result<Option<Rc<Vec<u8>>>> {
        if let Some(known) = self.contents.borrow().get(path) {
            return Ok(known.clone());
        }
        let blob = self.repository.blob_at(self.commit.tree, path.as_bstr()).ok().flatten();
        let content = blob.map(|blob| self.repository.blob_if_here(blob)).transpose()?.flatten().map(Rc::new);
        self.contents.borrow_mut().insert(path.clone(), content.clone());
        Ok(content)
    }

    /// What became of `range`: one diff between the two versions tells, or its sketch.
    fn range(
        &self,
        range: LineRange,
        sketches: Sketches<'_>,
        file: &str,
        here: Option<&BString>,
        origin: &Origin,
    ) -> Result<Fate> {
        let sketch = sketches.own;
        let Some(here) = here else { return Ok(Fate::Gone) };
        let Some(new) = self.content(here)? else { return Ok(Fate::Unknown) };
        if is_opaque(&new) {
            return Ok(Fate::Unknown);
        }
        let locator = Locator::new(Lines::new(&new));
        let old = self.old_version(file, origin)?;
        let old = old.as_deref().map(Lines::new).filter(|old| old.has(range));
        // A range whose version is not the one that was sketched is in some other one.
        if let Some(old) = old.filter(|old| sketch.is_none_or(|sketch| Sketch::of(old, range) == *sketch)) {
            let map = LineMap::between(&old, locator.lines());
            return Ok(locator.locate(&old, range, &map).lines.map_or(Fate::Gone, Fate::At));
        }
        let change = self.changes.iter().find(|change| change.path == *here);
        if let (true, Some(FileChange { old, new: Some(new), .. })) = (origin.is_same_change, change)
            && let Some(lines) = sketches.written_in(self.repository, *old, *new)?
        {
            return Ok(Fate::At(lines));
        }
        let Some(sketch) = sketch else { return Ok(Fate::Unknown) };
        Ok(locator.locate_sketch_of_file(sketch).lines.map_or(Fate::Gone, Fate::At))
    }

    fn old_version(&self, file: &str, origin: &Origin) -> Result<Option<Vec<u8>>> {
        let path = BStr::new(file.trim_start_matches("./"));
        let blob = origin.tree.and_then(|tree| self.repository.blob_at(tree, path).ok().flatten());
        Ok(blob.map(|blob| self.repository.blob_if_here(blob)).transpose()?.flatten())
    }

    fn places(
        &self,
        places: &[Places],
        file: &str,
        here: Option<&BString>,
        origin: &Origin,
    ) -> Result<Vec<Places>> {
        let mut mapped = Vec::with_capacity(places.len());
        for place in places {
            let Ok(range) = LineRange::new(place.start, place.end) else { continue };
            let sketches = Sketches::only(place.sketch.as_ref());
            if let Fate::At(lines) = self.range(range, sketches, file, here, origin)? {
                let sketch = self.sketch(here, lines)?;
                mapped.push(Places {
                    start: lines.start,
                    end: lines.end,
                    sketch,
                    extra: place.extra.clone(),
                });
            }
        }
        Ok(mapped)
    }

    fn sketch(&self, here: Option<&BString>, lines: LineRange) -> Result<Option<Sketch>> {
        let content = here.map(|path| self.content(path)).transpose()?.flatten();
        Ok(content.map(|content| Sketch::of(&Lines::new(&content), lines)))
    }
}

/// Whether the path `lower` is `upper` with directories before it.
fn is_below(lower: &[u8], upper: &[u8]) -> bool {
    lower.strip_suffix(upper).is_some_and(|directory| directory.ends_with(b"/"))
}
