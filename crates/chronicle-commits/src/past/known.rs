//! What history says about some files.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use chronicle_facts::CommitRow;
use chronicle_git::{BString, ByteSlice, ObjectId};
use serde::Serialize;
use twox_hash::XxHash3_128;

use crate::{
    error::Result,
    past::{
        FileHistory, PastCommit, Touch, Whereabouts,
        fill::id_of,
        line::{Line, Trail},
    },
};

/// More names than these no file has that anybody asks about.
const MOST_NAMES: usize = 16;

/// Makes the hash of inputs another one than those of other results.
const KEPT: u64 = 0x6b65_7074;

/// What is known about some files.
pub(crate) struct Known<'a> {
    line: &'a Line<'a>,
    trails: Vec<Trail>,
    files: Vec<FileHistory>,
    head: PastCommit,
    /// The commits that are of interest, the newest first.
    commits: Vec<(CommitRow, ObjectId, usize)>,
    places: HashMap<ObjectId, u32>,
}

/// A commit by its rank, the newest first: with how many parents it has, and its id.
type Ranked = (Reverse<(i64, CommitRow)>, usize, ObjectId);

impl<'a> Known<'a> {
    pub(super) fn new(line: &'a Line<'a>, trails: Vec<Trail>, keys: &[ObjectId]) -> Result<Self> {
        let mut all: BTreeSet<Ranked> = BTreeSet::new();
        let head = id_of(&line.head.id);
        all.extend(head.map(|id| (Reverse((line.head.at, line.head.row)), line.head.parents.len(), id)));
        for (touch, _) in trails.iter().flat_map(|trail| &trail.touches) {
            let id = id_of(&touch.id);
            all.extend(id.map(|id| (Reverse((touch.at, touch.row)), touch.n_parents as usize, id)));
        }
        for key in keys {
            let Some(row) = line.facts.row_of(key.as_slice())?.filter(|row| line.reach.has(*row)) else {
                continue;
            };
            let commit = line.facts.commit(row)?;
            all.insert((Reverse((commit.at, row)), commit.parents.len(), *key));
        }
        let commits: Vec<(CommitRow, ObjectId, usize)> =
            all.into_iter().map(|(Reverse((_, row)), n_parents, id)| (row, id, n_parents)).collect();
        let places: HashMap<ObjectId, u32> =
            (0..).zip(&commits).map(|(place, (_, id, _))| (*id, place)).collect();
        let files = trails.iter().map(|trail| file_history(trail, &places)).collect();
        let head = line.past_commit(line.head.row)?;
        Ok(Self { line, trails, files, head, commits, places })
    }

    /// Nothing of files, only where the annotated commits `keys` are.
    pub(crate) fn of_commits(line: &'a Line<'a>, keys: impl Iterator<Item = ObjectId>) -> Result<Self> {
        Self::new(line, Vec::new(), &keys.collect::<Vec<_>>())
    }
}

fn file_history(trail: &Trail, places: &HashMap<ObjectId, u32>) -> FileHistory {
    let touches = trail.touches.iter().filter_map(|(touch, name)| {
        Some(Touch {
            place: *places.get(&id_of(&touch.id)?)?,
            name: name.clone(),
            old: touch.old.as_deref().and_then(id_of),
            new: touch.new.as_deref().and_then(id_of),
            renamed_from: touch.renamed_from.clone().map(BString::from),
        })
    });
    FileHistory { touches: touches.collect() }
}

impl<'a> Known<'a> {
    /// What `make` makes of the immutable `inputs`, made once.
    pub(crate) fn kept(&self, inputs: &impl Serialize, make: impl FnOnce() -> usize) -> usize {
        let key =
            postcard::to_allocvec(inputs).ok().map(|bytes| XxHash3_128::oneshot_with_seed(KEPT, &bytes));
        let known = key.and_then(|key| self.line.facts.made(key).ok()?);
        if let Some(known) = known.and_then(|known| postcard::from_bytes(&known).ok()) {
            return known;
        }
        let made = make();
        if let (Some(key), Ok(value)) = (key, postcard::to_allocvec(&made)) {
            self.line.placements.add(key, value);
        }
        made
    }

    /// The history that it is known from.
    pub(crate) fn line(&self) -> &'a Line<'a> {
        self.line
    }

    /// The commit whose history counts.
    pub(crate) fn head(&self) -> &PastCommit {
        &self.head
    }

    /// The place of an annotated commit, or of one that changed a file in scope: what is newer has a lower one. `None`
    /// outside of the history.
    pub(crate) fn place(&self, commit: ObjectId) -> Option<u32> {
        self.places.get(&commit).copied()
    }

    /// The commit at a place.
    pub(crate) fn commit(&self, place: u32) -> Result<PastCommit> {
        self.line.past_commit(self.commits[place as usize].0)
    }

    /// The commit at a place, and how many parents it has.
    pub(crate) fn id(&self, place: u32) -> (ObjectId, usize) {
        let (_, id, n_parents) = self.commits[place as usize];
        (id, n_parents)
    }

    /// The changes of each file in scope.
    pub(crate) fn files(&self) -> &[FileHistory] {
        &self.files
    }

    /// The files in scope that went by `name` in the commit at a place.
    pub(crate) fn files_called(&self, place: u32, name: &str) -> Result<Vec<usize>> {
        let reach = self.line.reach_of(self.commits[place as usize].0)?;
        let named = self.trails.iter().map(|trail| trail.names_in(&reach)).enumerate();
        let called = named.filter(|(_, names)| names.iter().any(|known| known.to_str_lossy() == name));
        Ok(called.map(|(number, _)| number).collect())
    }

    /// How many commits changed the file since the one at a place: those that it does not reach.
    pub(crate) fn touches_since(&self, file: usize, place: u32) -> Result<u32> {
        let reach = self.line.reach_of(self.commits[place as usize].0)?;
        let since = self.trails[file].touches.iter().filter(|(touch, _)| !reach.has(touch.row)).count();
        Ok(u32::try_from(since).unwrap_or(u32::MAX))
    }

    /// Those of `touches` that the commit at a place does not reach.
    pub(crate) fn beyond<'t>(&self, place: u32, touches: &'t [Touch]) -> Result<Vec<&'t Touch>> {
        let reach = self.line.reach_of(self.commits[place as usize].0)?;
        Ok(touches.iter().filter(|touch| !reach.has(self.commits[touch.place as usize].0)).collect())
    }

    /// `path` and the names that files of that name got later, in whatever commit.
    pub(crate) fn later_names(&self, path: &str) -> Result<Vec<BString>> {
        let mut names = vec![BString::from(path)];
        let mut at = 0;
        while let Some(name) = names.get(at).filter(|_| at < MOST_NAMES) {
            for (_, to) in self.line.facts.renames_of(name.as_slice())? {
                let to = BString::from(to);
                if !names.contains(&to) {
                    names.push(to);
                }
            }
            at += 1;
        }
        Ok(names)
    }

    /// What became of paths that the newest commit lacks.
    pub(crate) fn whereabouts(&self, paths: &[BString]) -> Result<Vec<Whereabouts>> {
        paths.iter().map(|path| self.line.whereabouts(path)).collect()
    }

    /// The branch that reaches a commit outside of the history, if one does.
    pub(crate) fn branch_of(&self, commit: ObjectId) -> Result<Option<String>> {
        let branches = self.line.branches()?;
        let Some(row) = self.line.facts.row_of(commit.as_slice())? else { return Ok(None) };
        Ok(branches.iter().find(|(_, reach)| reach.has(row)).map(|(name, _)| name.clone()))
    }
}
