//! The history of one commit, as facts tell it: only what concerns the files in scope is looked up.

use std::{
    cell::{OnceCell, RefCell},
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
    rc::Rc,
};

use chronicle_facts::{Commit, CommitRow, Facts, Key, Reach, Touch as Touched};
use chronicle_git::{BString, ByteSlice, ObjectId, Repository};
use twox_hash::XxHash3_128;

use crate::{
    disk_cache::KeptFacts,
    error::Result,
    note::notebook::Notebook,
    past::{
        PastCommit, Whereabouts,
        fill::{self, NoteWords, id_of},
        known::Known,
        placements::Placements,
    },
    place::code_lines::FileLines,
    read::question::ScopeFile,
};

/// More notes that came since than this are looked up by their lines, instead of being read again.
const MANY: i64 = 64;

/// The history of one commit, filled as far as questions about files need it.
pub(crate) struct Line<'a> {
    repository: &'a Repository,
    pub(super) facts: &'a Facts,
    pub(super) head: Commit,
    pub(super) reach: Rc<Reach>,
    reaches: RefCell<HashMap<CommitRow, Rc<Reach>>>,
    /// What branches reach that the history does not, in order of their names.
    branches: OnceCell<Vec<(String, Reach)>>,
    pub(crate) placements: Placements<'a>,
}

impl<'a> Line<'a> {
    /// That of `head`, and the notes of all refs.
    pub(crate) fn open(
        repository: &'a Repository,
        kept: &'a KeptFacts,
        head: ObjectId,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let facts = kept.get()?;
        let Some(row) = fill::row_of(repository, facts, head)? else {
            // It says what is wrong with it.
            repository.commit_tree(head)?;
            return Err(chronicle_git::GitError::NoCommits.into());
        };
        let reach = facts.reach(row)?;
        fill::touches(repository, facts, &reach, kept.progress)?;
        fill::notes(repository, facts, warnings)?;
        facts.hold()?;
        Ok(Self {
            repository,
            facts,
            head: facts.commit(row)?,
            reach: Rc::new(reach),
            reaches: RefCell::default(),
            branches: OnceCell::new(),
            placements: Placements::new(facts),
        })
    }

    /// Whether anything is annotated.
    pub(crate) fn has_notes(&self) -> Result<bool> {
        Ok(self.facts.has_notes()?)
    }

    /// What the commit in a row reaches.
    pub(super) fn reach_of(&self, row: CommitRow) -> Result<Rc<Reach>> {
        if let Some(known) = self.reaches.borrow().get(&row) {
            return Ok(Rc::clone(known));
        }
        let reach = Rc::new(self.facts.reach(row)?);
        self.reaches.borrow_mut().insert(row, Rc::clone(&reach));
        Ok(reach)
    }

    /// The commits of the history that changed the file at `path`, under all its names.
    fn trail(&self, path: &BString) -> Result<Trail> {
        let mut trail = Trail { names: vec![Name::new(path.clone(), None)], ..Trail::default() };
        let mut at = 0;
        while at < trail.names.len() {
            let (name, renamed_by) = (trail.names[at].name.clone(), trail.names[at].renamed_by);
            let touches = self.facts.touches(&name)?;
            let mut counting: Vec<&Touched> = Vec::new();
            for touch in touches.iter().filter(|touch| self.reach.has(touch.row)) {
                let is_before = match renamed_by {
                    None => true,
                    Some(by) => {
                        touch.row != by && {
                            self.reach_of(by)?.has(touch.row) || !self.reach_of(touch.row)?.has(by)
                        }
                    }
                };
                if is_before {
                    counting.push(touch);
                }
            }
            // Before it was called so, another file may have been.
            let mut renames = Vec::new();
            for touch in counting.iter().filter(|touch| touch.renamed_from.is_some()) {
                renames.push((touch.row, self.reach_of(touch.row)?));
            }
            for touch in counting {
                if renames.iter().any(|(by, reach)| *by != touch.row && reach.has(touch.row)) {
                    continue;
                }
                trail.touches.push((touch.clone(), name.clone()));
                if let Some(from) = &touch.renamed_from {
                    let known = trail
                        .names
                        .iter()
                        .position(|known| known.name == *from && known.renamed_by == Some(touch.row));
                    let before = known.unwrap_or_else(|| {
                        trail.names.push(Name::new(from.clone().into(), Some(touch.row)));
                        trail.names.len() - 1
                    });
                    trail.names[at].renames.push((touch.row, before));
                }
            }
            at += 1;
        }
        trail.touches.sort_by_key(|(touch, _)| Reverse((touch.at, touch.row)));
        trail.touches.dedup_by(|(left, left_name), (right, right_name)| {
            left.row == right.row && left_name == right_name
        });
        Ok(trail)
    }

    /// The keys of all notes that may say something about the files with these trails.
    fn annotated(
        &self,
        mut names: BTreeSet<String>,
        trails: &[Trail],
        words: Option<&[String]>,
        contents: &[&[u8]],
    ) -> Result<BTreeSet<ObjectId>> {
        let mut objects: BTreeSet<Vec<u8>> = BTreeSet::new();
        for trail in trails {
            for name in &trail.names {
                objects.extend(self.facts.annotated_touching(&name.name)?);
            }
            names.extend(trail.names.iter().map(|name| name.name.to_string()));
        }
        for name in &names {
            objects.extend(self.facts.objects_with(&Key::File(name.as_bytes()))?);
        }
        if let Some(words) = words {
            let lasts = names.iter().filter_map(|name| name.rsplit('/').next()).map(str::to_owned);
            let words: BTreeSet<String> = words.iter().cloned().chain(lasts).collect();
            for word in words {
                objects.extend(self.facts.objects_with(&Key::Word(word.as_bytes()))?);
            }
        }
        objects.extend(self.facts.objects_with(&Key::Odd)?);
        objects.extend(self.facts.objects_that_replace()?);
        // What they changed is known from their notes alone.
        objects.extend(self.facts.away()?);
        for content in contents {
            for text in self.sketching(content)? {
                objects.extend(self.facts.objects_with_text(text)?);
            }
        }
        let keys = objects.iter().filter_map(|object| id_of(object));
        Ok(keys.filter(|key| !chronicle_git::is_knowledge_key(*key)).collect())
    }

    /// The notes that sketch lines which `content` has.
    fn sketching(&self, content: &[u8]) -> Result<BTreeSet<i64>> {
        let last = self.facts.last_text()?;
        let hash = XxHash3_128::oneshot_with_seed(SKETCHING, content);
        let known = self.facts.made(hash)?.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let (searched, mut texts): (i64, BTreeSet<i64>) = known.unwrap_or_default();
        if searched == last {
            return Ok(texts);
        }
        let lines = FileLines::of(content);
        if 0 < searched && last - searched <= MANY {
            for row in searched + 1..=last {
                let Ok((_, bytes)) = self.facts.text(row) else { continue };
                if NoteWords::of(&bytes).lines.iter().any(|line| lines.has(*line)) {
                    texts.insert(row);
                }
            }
        } else {
            for line in lines.hashes() {
                texts.extend(self.facts.texts_with(&Key::Line(*line))?);
            }
        }
        if let Ok(bytes) = postcard::to_allocvec(&(last, &texts)) {
            self.placements.add(hash, bytes);
        }
        Ok(texts)
    }

    /// What is known about `files`, and the notes that may say something about them; with `words`, also those whose words
    /// may name one of these, or a file. `contents` are the bytes that may hold code from elsewhere.
    pub(crate) fn about(
        &'a self,
        files: &[ScopeFile],
        words: Option<&[String]>,
        contents: &[&[u8]],
    ) -> Result<(Known<'a>, Notebook<'a>)> {
        let at_head: Vec<BString> = files.iter().map(|file| file.at_head.clone()).collect();
        let trails: Vec<Trail> = at_head.iter().map(|path| self.trail(path)).collect::<Result<_>>()?;
        let names = files.iter().flat_map(|file| [&file.path, &file.at_head]).map(ToString::to_string);
        let keys = self.annotated(names.collect(), &trails, words, contents)?;
        let (keys, notebook) = Notebook::of(self.repository, self.facts, keys)?;
        Ok((Known::new(self, trails, &keys)?, notebook))
    }

    /// How many commits are annotated, whatever branch they are on.
    pub(crate) fn n_annotated(&self) -> Result<usize> {
        let knowledge = self.repository.keys_of(self.repository.empty_tree());
        let mut n_knowing = 0;
        for key in knowledge {
            n_knowing += usize::from(!self.facts.notes_on(key.as_slice())?.is_empty());
        }
        Ok(self.facts.n_annotated()?.saturating_sub(n_knowing))
    }

    /// The files of the newest commit whose path ends with the component `name`.
    pub(crate) fn files_called(&self, name: &str) -> Result<Vec<BString>> {
        let Some(tree) = id_of(&self.head.tree) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for path in self.facts.paths_called(name.as_bytes())? {
            if self.repository.blob_at(tree, path.as_bstr())?.is_some() {
                files.push(BString::from(path));
            }
        }
        Ok(files)
    }

    /// The branches that the history does not reach.
    pub(super) fn branches(&self) -> Result<&[(String, Reach)]> {
        if let Some(branches) = self.branches.get() {
            return Ok(branches);
        }
        let tips = self.repository.tips()?;
        let ids: Vec<ObjectId> = tips.iter().map(|(_, id)| *id).collect();
        fill::commits(self.repository, self.facts, &ids)?;
        let mut branches = Vec::new();
        for (name, id) in tips {
            let Some(row) = self.facts.row_of(id.as_slice())? else { continue };
            if !self.reach.has(row) {
                branches.push((name, self.facts.reach(row)?));
            }
        }
        Ok(self.branches.get_or_init(|| branches))
    }

    /// What is known about the commit in a row.
    pub(super) fn past_commit(&self, row: CommitRow) -> Result<PastCommit> {
        let commit = self.facts.commit(row)?;
        let empty = self.repository.empty_tree();
        let mut parents = Vec::new();
        for parent in &commit.parents {
            parents.push(id_of(&self.facts.commit(*parent)?.tree).unwrap_or(empty));
        }
        let (id, tree) = (id_of(&commit.id).unwrap_or(empty), id_of(&commit.tree).unwrap_or(empty));
        Ok(PastCommit { id, tree, time: commit.time, parents })
    }

    /// What became of a path that the newest commit lacks.
    pub(crate) fn whereabouts(&self, path: &BString) -> Result<Whereabouts> {
        let (mut name, mut first, mut seen) = (path.clone(), None, HashSet::new());
        loop {
            let touches = self.facts.touches(name.as_slice())?;
            let mut ends = touches.iter().filter(|touch| self.reach.has(touch.row) && touch.new.is_none());
            let Some((end, by)) = ends.next().and_then(|end| Some((end, id_of(&end.id)?))) else {
                return Ok(Whereabouts::Never);
            };
            let renames = self.facts.renames_of(name.as_slice())?;
            let to = renames.into_iter().find(|(row, _)| *row == end.row).map(|(_, to)| BString::from(to));
            let Some(to) = to.filter(|to| seen.insert(to.clone())) else {
                return Ok(Whereabouts::Deleted { by });
            };
            let by = *first.get_or_insert(by);
            let tree = id_of(&self.head.tree);
            let is_there =
                tree.map(|tree| self.repository.blob_at(tree, to.as_bstr())).transpose()?.flatten();
            if is_there.is_some() {
                return Ok(Whereabouts::Renamed { to, by });
            }
            name = to;
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        // Nothing was written that could be lost.
        let _released = self.facts.release();
    }
}

/// Makes the hash of a content another one than that of a question about it.
const SKETCHING: u64 = 0x736b_6574_6368;

/// The commits that changed one file, under all its names.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Those of the history with the file's name since, the newest first.
    pub(super) touches: Vec<(Touched, BString)>,
    /// Its names, the present one first.
    pub(super) names: Vec<Name>,
}

/// A name that a file had.
#[derive(Debug)]
pub(super) struct Name {
    name: BString,
    /// The commit that gave it the next one.
    renamed_by: Option<CommitRow>,
    /// The commits that gave it this one, each with the number of the name before.
    renames: Vec<(CommitRow, usize)>,
}

impl Name {
    fn new(name: BString, renamed_by: Option<CommitRow>) -> Self {
        Self { name, renamed_by, renames: Vec::new() }
    }
}

impl Trail {
    /// The names of the file in a commit with that reach: mostly one.
    pub(super) fn names_in(&self, reach: &Reach) -> BTreeSet<&BString> {
        let (mut names, mut seen, mut pending) = (BTreeSet::new(), HashSet::new(), vec![0]);
        while let Some(number) = pending.pop().filter(|number| *number < self.names.len()) {
            let Name { name, renames, .. } = &self.names[number];
            if renames.is_empty() || renames.iter().any(|(by, _)| reach.has(*by)) {
                names.insert(name);
            } else {
                pending
                    .extend(renames.iter().map(|(_, before)| *before).filter(|before| seen.insert(*before)));
            }
        }
        names
    }
}
