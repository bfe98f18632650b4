//! Follows files through history under all their names.
//!
//! Trees are compared only where they lie on the way to a followed file, so the
//! cost is one look at the root tree of each commit, and whole-tree comparisons
//! only where a file appears and may have been renamed. The trees are read ahead,
//! level by level, because reading many at once is far cheaper. What is known of
//! the history ([`History::knowing`]) need not be looked at.

use std::{
    collections::{self, BTreeMap, BTreeSet},
    rc::Rc,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    hashtable::HashMap,
    objs::{TreeRefIter, tree::EntryKind},
};
use snafu::ResultExt;

use crate::{
    FileChange, History, Node, Partial, Repository,
    error::{ObjectSnafu, Result},
    past::Traces,
};

/// With more files than this, comparing whole trees costs less than looking for each file in them.
const MOST_FILES_APART: usize = 64;

/// Files followed through a history.
#[derive(Debug, Clone)]
pub struct Followed {
    /// One for each file that was asked for, in that order.
    pub files: Vec<FileHistory>,
    /// The names of the followed files at each place of the history.
    names: Vec<Option<Rc<Names>>>,
}

/// The commits that changed one file.
#[derive(Debug, Clone, Default)]
pub struct FileHistory {
    /// The changes, newest first.
    pub touches: Vec<Touch>,
    /// Merges that have the file as a later one of their parents, and not as the first: their places and that parent's.
    pub sides: Vec<(u32, u32)>,
    /// Where the newest commit is that calls the file otherwise than one of its parents does; in all newer ones it goes by
    /// one name.
    pub renamed_at: Option<u32>,
}

/// What the commits of a history changed, each compared with its first parent.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Every path that one of them changed, in order; no commit of the history has a file of another name.
    pub paths: Vec<BString>,
    /// For each place of the history, what its commit changed, in order of path.
    pub commits: Vec<Vec<ChangedPath>>,
}

/// One path that a commit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedPath {
    /// The number of the path.
    pub path: u32,
    /// Whether there was a file of that name.
    pub was_there: bool,
    /// Whether there is one since.
    pub is_there: bool,
}

/// Which touches of a file can be reached from which commit.
pub struct Reached {
    n_touches: u32,
    /// For each place of the history, a set of touches.
    sets: Vec<Option<Rc<Vec<u64>>>>,
}

impl Reached {
    /// How many commits changed the file that the commit at `place` cannot reach: those made since.
    #[must_use]
    pub fn touches_since(&self, place: u32) -> u32 {
        let reached = self.sets[place as usize].as_ref();
        self.n_touches - reached.map_or(0, |set| set.iter().map(|word| word.count_ones()).sum())
    }
}

/// One commit that changed a followed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// Where the commit is in the history.
    pub place: u32,
    /// The file's name in that commit.
    pub name: BString,
    /// The file's blob before; `None` when the commit added or renamed it.
    pub old: Option<ObjectId>,
    /// The file's blob after; `None` when the commit took it away.
    pub new: Option<ObjectId>,
    /// The file's name before, when the commit renamed it.
    pub renamed_from: Option<BString>,
}

/// The names under which followed files go in one commit, as a tree of directories.
///
/// Commits share the directories in which nothing is called otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Names {
    files: BTreeMap<BString, Vec<usize>>,
    directories: BTreeMap<BString, Rc<Names>>,
}

impl Names {
    fn of<'a>(paths: impl IntoIterator<Item = (&'a BString, &'a Vec<usize>)>) -> Self {
        let mut root = Self::default();
        for (path, files) in paths {
            root.add(path.as_ref(), files);
        }
        root
    }

    fn add(&mut self, path: &BStr, files: &[usize]) {
        match path.split_once_str(b"/") {
            Some((directory, rest)) => {
                let inner = self.directories.entry(directory.into()).or_default();
                Rc::make_mut(inner).add(rest.as_bstr(), files);
            }
            None => add_numbers(self.files.entry(path.to_owned()).or_default(), files),
        }
    }

    /// Takes out the files that go by `path`; directories with no others go with them.
    fn take(&mut self, path: &BStr) -> Vec<usize> {
        let Some((directory, rest)) = path.split_once_str(b"/") else {
            return self.files.remove(path).unwrap_or_default();
        };
        let Some(inner) = self.directories.get_mut(directory.as_bstr()) else { return Vec::new() };
        let inner = Rc::make_mut(inner);
        let files = inner.take(rest.as_bstr());
        if inner.files.is_empty() && inner.directories.is_empty() {
            self.directories.remove(directory.as_bstr());
        }
        files
    }

    /// Calls `each` with every path and the files that go by it.
    fn for_each(&self, prefix: &BString, each: &mut impl FnMut(&BString, &BStr, &[usize])) {
        for (name, files) in &self.files {
            each(prefix, name.as_ref(), files);
        }
        for (name, inner) in &self.directories {
            inner.for_each(&joined(prefix, name.as_ref()), each);
        }
    }

    /// The paths of the files for which `is_wanted` is true.
    fn paths_where(&self, is_wanted: impl Fn(&BString, &BStr, &[usize]) -> bool) -> Vec<BString> {
        let mut paths = Vec::new();
        self.for_each(&BString::default(), &mut |prefix, name, files| {
            if is_wanted(prefix, name, files) {
                paths.push(joined(prefix, name));
            }
        });
        paths
    }

    /// The files that go by `path`.
    fn at(&self, path: &BStr) -> &[usize] {
        let mut at = self;
        let mut parts = path.split_str(b"/").peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return at.files.get(part.as_bstr()).map_or(&[], Vec::as_slice);
            }
            match at.directories.get(part.as_bstr()) {
                Some(inner) => at = inner,
                None => return &[],
            }
        }
        &[]
    }

    /// Adds every name of a file or directory to `words`.
    fn words(&self, words: &mut BTreeSet<BString>) {
        words.extend(self.files.keys().cloned());
        for (name, inner) in &self.directories {
            words.insert(name.clone());
            inner.words(words);
        }
    }

    /// Adds the names of `other`.
    fn unite(&mut self, other: &Self) {
        for (name, files) in &other.files {
            match self.files.get_mut(name) {
                Some(ours) if ours == files => {}
                Some(ours) => add_numbers(ours, files),
                None => {
                    self.files.insert(name.clone(), files.clone());
                }
            }
        }
        for (name, theirs) in &other.directories {
            match self.directories.get_mut(name) {
                // Nearly all are the same directory, which this sees at once.
                Some(ours) if ours == theirs => {}
                Some(ours) => Rc::make_mut(ours).unite(theirs),
                None => {
                    self.directories.insert(name.clone(), Rc::clone(theirs));
                }
            }
        }
    }
}

fn add_numbers(files: &mut Vec<usize>, more: &[usize]) {
    files.extend(more);
    files.sort_unstable();
    files.dedup();
}

fn joined(prefix: &BString, name: &BStr) -> BString {
    let mut path = prefix.clone();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// A followed path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Difference {
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

type Differences = BTreeMap<BString, Difference>;

impl Repository {
    /// Follows `files`, named as in the newest commit, through `history`.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn follow(&self, history: &History, files: &[BString]) -> Result<Followed> {
        let mut walk = Walk::new(self, history, Followed::start(history, files));
        (walk.is_broad, walk.traces) = (MOST_FILES_APART < files.len(), Traces::through(history));
        walk.read_ahead(0, &Names::of(files.iter().zip(std::iter::repeat(&Vec::new()))));
        walk.go(|_| false)?;
        Ok(walk.followed)
    }

    /// [`Repository::follow`] for all files of the newest commit; also what the commits changed of any file.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn follow_all(&self, history: &History, files: &[BString]) -> Result<(Followed, Changes)> {
        let mut walk = Walk::new(self, history, Followed::start(history, files));
        let commits = vec![Vec::new(); history.nodes().len()];
        (walk.is_broad, walk.changed) = (true, Some(Changed { numbers: BTreeMap::new(), commits }));
        walk.go(|_| false)?;
        Ok((walk.followed, walk.changed.map(Changed::in_order).unwrap_or_default()))
    }

    /// [`Repository::follow`] through the part of a history that is not known yet.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn follow_until(&self, partial: &Partial, files: &[BString]) -> Result<Followed> {
        let history = &partial.history;
        let start = Followed::start(history, files);
        if partial.fresh().next().is_none() {
            return Ok(start);
        }
        let mut walk = Walk::new(self, history, start);
        walk.read_ahead(0, &Names::of(files.iter().zip(std::iter::repeat(&Vec::new()))));
        walk.go(|place| partial.is_edge[place as usize])?;
        Ok(walk.followed)
    }

    /// The paths that a commit changed: those that differ from all of its parents.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn touched_paths(&self, history: &History, node: &Node) -> Result<BTreeSet<BString>> {
        let paths = |parent: Option<ObjectId>| -> Result<BTreeSet<BString>> {
            Ok(self.plain_changes(parent, node.tree)?.into_iter().map(|change| change.path).collect())
        };
        let mut parents = node.parents.iter().map(|parent| Some(history.node(*parent).tree));
        let mut touched = paths(parents.next().flatten())?;
        for parent in parents {
            let others = paths(parent)?;
            touched.retain(|path| others.contains(path));
        }
        Ok(touched)
    }
}

impl Followed {
    fn start(history: &History, files: &[BString]) -> Self {
        let present: BTreeMap<BString, Vec<usize>> =
            files.iter().enumerate().map(|(n, path)| (path.clone(), vec![n])).collect();
        let present = Rc::new(Names::of(&present));
        let mut names = vec![None; history.nodes().len()];
        // Every tip starts with the present names: those that no other commit leads to.
        let mut is_tip = vec![true; names.len()];
        for parent in history.nodes().iter().flat_map(|node| &node.parents) {
            is_tip[*parent as usize] = false;
        }
        for (name, is_tip) in names.iter_mut().zip(is_tip) {
            if is_tip {
                *name = Some(Rc::clone(&present));
            }
        }
        Self { files: vec![FileHistory::default(); files.len()], names }
    }

    /// The names of the file number `file` in the commit at `place`.
    #[must_use]
    pub fn names_at(&self, place: u32, file: usize) -> Vec<BString> {
        let Some(names) = &self.names[place as usize] else { return Vec::new() };
        names.paths_where(|_, _, files| files.contains(&file))
    }

    /// The followed files that go by `name` in the commit at `place`; `name` is text, and may stand for a
    /// name that is none.
    #[must_use]
    pub fn files_called(&self, place: u32, name: &str) -> Vec<usize> {
        let Some(names) = &self.names[place as usize] else { return Vec::new() };
        if !name.contains(char::REPLACEMENT_CHARACTER) {
            return names.at(name.as_bytes().as_bstr()).to_vec();
        }
        let paths = names.paths_where(|prefix, last, _| joined(prefix, last).to_str_lossy() == name);
        paths.iter().flat_map(|path| names.at(path.as_ref())).copied().collect()
    }
}

struct Walk<'a> {
    repository: &'a Repository,
    history: &'a History,
    followed: Followed,
    /// Names of files and directories on the way to followed files, as they became known.
    wanted: Vec<Words>,
    /// What trees hold of the names that were wanted when they were read.
    trees: HashMap<ObjectId, Rc<Entries>>,
    /// Whether so many files are followed that whole trees are compared.
    is_broad: bool,
    /// What the commits changed, if that is wanted and whole trees are compared.
    changed: Option<Changed>,
    /// What is known of the history, if it is to be used.
    traces: Option<Traces<'a>>,
    /// The numbers of the paths among names that were asked about; the names are kept, so that they stay the ones at
    /// that address.
    numbers: collections::HashMap<*const Names, (Rc<Names>, Option<Vec<usize>>)>,
}

/// What commits changed, as it comes to be known.
struct Changed {
    /// The paths with their numbers, which are given as the paths come.
    numbers: BTreeMap<BString, u32>,
    commits: Vec<Vec<ChangedPath>>,
}

impl Changed {
    fn see(&mut self, place: u32, change: &FileChange) {
        let next = u32::try_from(self.numbers.len()).expect("there are fewer than 2^32 paths");
        let path = match self.numbers.get(&change.path) {
            Some(known) => *known,
            None => *self.numbers.entry(change.path.clone()).or_insert(next),
        };
        let (was_there, is_there) = (change.old.is_some(), change.new.is_some());
        self.commits[place as usize].push(ChangedPath { path, was_there, is_there });
    }

    /// The same with numbers in the order of the paths.
    fn in_order(self) -> Changes {
        let mut ranks = vec![0; self.numbers.len()];
        for (rank, number) in (0..).zip(self.numbers.values()) {
            ranks[*number as usize] = rank;
        }
        let mut commits = self.commits;
        for commit in &mut commits {
            for changed in commit.iter_mut() {
                changed.path = ranks[changed.path as usize];
            }
            commit.sort_unstable();
        }
        Changes { paths: self.numbers.into_keys().collect(), commits }
    }
}

/// Names of files and directories, in order.
struct Words(Vec<BString>);

impl Words {
    /// Asked for every entry of every tree: for the few words of one path, lengths decide nearly always.
    fn have(&self, word: &BStr) -> bool {
        match &self.0[..] {
            few if few.len() <= 8 => few.iter().any(|known| known.len() == word.len() && known == word),
            many => many.binary_search_by(|known| known.as_bstr().cmp(word)).is_ok(),
        }
    }
}

/// The kind of an entry of a tree, and its object. A file that becomes executable has changed, for git.
type Entry = (EntryKind, ObjectId);

/// The entries of one tree whose names were wanted when it was read, in order of name.
struct Entries {
    /// How many of the wanted sets had come to be then.
    n_wanted: usize,
    /// Whether it is a directory, its name, and what it is.
    found: Vec<(bool, BString, Entry)>,
}

impl Entries {
    fn of(id: ObjectId, data: &[u8], wanted: &[Words]) -> Self {
        let mut found = Vec::new();
        for entry in TreeRefIter::from_bytes(data, id.kind()).filter_map(std::result::Result::ok) {
            let is_directory = entry.mode.is_tree();
            if (is_directory || entry.mode.is_blob_or_symlink())
                && wanted.iter().any(|words| words.have(entry.filename))
            {
                found.push((
                    is_directory,
                    entry.filename.to_owned(),
                    (entry.mode.kind(), entry.oid.to_owned()),
                ));
            }
        }
        found.sort_unstable();
        Self { n_wanted: wanted.len(), found }
    }

    fn get(&self, is_directory: bool, name: &BString) -> Option<Entry> {
        let at = self
            .found
            .binary_search_by(|(directory, other, _)| (*directory, other).cmp(&(is_directory, name)));
        at.ok().map(|at| self.found[at].2)
    }
}

impl<'a> Walk<'a> {
    fn new(repository: &'a Repository, history: &'a History, followed: Followed) -> Self {
        Self {
            repository,
            history,
            followed,
            wanted: Vec::new(),
            trees: HashMap::default(),
            is_broad: false,
            changed: None,
            traces: None,
            numbers: collections::HashMap::new(),
        }
    }

    fn go(&mut self, is_edge: impl Fn(u32) -> bool) -> Result<()> {
        for place in 0..self.history.nodes().len() {
            let place = u32::try_from(place).expect("places are u32");
            if !is_edge(place) {
                self.step(place)?;
            }
        }
        Ok(())
    }

    /// Reads the trees on the way to `names` in the commits from `place` on.
    fn read_ahead(&mut self, place: usize, names: &Names) {
        if self.is_broad {
            return;
        }
        let mut new = BTreeSet::new();
        names.words(&mut new);
        new.retain(|word| !self.wanted.iter().any(|known| known.have(word.as_ref())));
        // Names that were wanted before are in the trees that were read, or will be read when they are needed.
        if new.is_empty() {
            return;
        }
        self.wanted.push(Words(new.into_iter().collect()));
        let roots = self.trees_for(place, names);
        let mut levels = vec![(names, roots)];
        while let Some((names, trees)) = levels.pop() {
            let missing = trees.iter().filter(|id| !self.knows(**id, names)).copied().collect();
            let wanted = &self.wanted;
            let read = self.repository.read_many(missing, |id, data| Some(Entries::of(id, data, wanted)));
            self.trees.extend(read.into_iter().map(|(id, entries)| (id, Rc::new(entries))));
            for (name, inner) in &names.directories {
                let directory = |id| Some(self.trees.get(id)?.get(true, name)?.1);
                let mut directories: Vec<ObjectId> = trees.iter().filter_map(directory).collect();
                directories.sort_unstable();
                directories.dedup();
                levels.push((inner, directories));
            }
        }
    }

    /// The trees that it takes to follow `names` through the commits from `place` on.
    fn trees_for(&mut self, place: usize, names: &Names) -> Vec<ObjectId> {
        let nodes = self.history.nodes();
        let traces = self.traces.as_mut();
        let known = traces.and_then(|traces| {
            let numbers = traces.numbers(names.paths_where(|_, _, _| true))?;
            Some((&*traces, numbers))
        });
        let Some((traces, numbers)) = known else {
            return nodes[place..].iter().map(|node| node.tree).collect();
        };
        let mut is_looked_at = vec![false; nodes.len()];
        for (at, node) in (0..).zip(nodes).skip(place).filter(|(at, _)| !traces.rest(*at, &numbers)) {
            for at in node.parents.iter().chain([&at]) {
                is_looked_at[*at as usize] = true;
            }
        }
        nodes
            .iter()
            .zip(is_looked_at)
            .filter(|(_, is_looked_at)| *is_looked_at)
            .map(|(node, _)| node.tree)
            .collect()
    }

    /// Whether the commit at `place` is known to leave what goes by `names` as it was.
    fn rests(&mut self, place: u32, names: &Rc<Names>) -> bool {
        let Some(traces) = &mut self.traces else { return false };
        let (_, numbers) = self.numbers.entry(Rc::as_ptr(names)).or_insert_with(|| {
            let numbers = traces.numbers(names.paths_where(|_, _, _| true));
            (Rc::clone(names), numbers)
        });
        numbers.as_ref().is_some_and(|numbers| traces.rest(place, numbers))
    }

    /// Whether the tree `id` was read when all of `names` were wanted.
    fn knows(&self, id: ObjectId, names: &Names) -> bool {
        let Some(entries) = self.trees.get(&id) else { return false };
        let wanted = &self.wanted[..entries.n_wanted];
        let mut words = names.files.keys().chain(names.directories.keys());
        entries.n_wanted == self.wanted.len()
            || words.all(|word| wanted.iter().any(|known| known.have(word.as_ref())))
    }

    fn step(&mut self, place: u32) -> Result<()> {
        let Some(names) = self.followed.names[place as usize].clone() else { return Ok(()) };
        let node = self.history.node(place);
        if self.rests(place, &names) {
            for parent in &node.parents {
                self.hand_down(*parent, &names);
            }
            return Ok(());
        }
        let against: Vec<Differences> = if node.parents.is_empty() {
            vec![self.differences(place, (None, true), node.tree, &names)?]
        } else {
            let parents = node.parents.iter().map(|parent| Some(self.history.node(*parent).tree)).enumerate();
            let against =
                parents.map(|(number, tree)| self.differences(place, (tree, number == 0), node.tree, &names));
            against.collect::<Result<_>>()?
        };
        let mut renamed = BTreeMap::new();
        for (number, parent) in node.parents.iter().enumerate() {
            let (parent_names, files) =
                self.names_in_parent(&names, node, *parent, &against[number], &mut renamed)?;
            for file in files {
                self.followed.files[file].renamed_at.get_or_insert(place);
            }
            for before in renamed.values() {
                self.read_ahead(*parent as usize, &Names::of([(before, &Vec::new())]));
            }
            self.hand_down(*parent, &parent_names);
        }
        self.record((place, &node.parents), &names, &against, &renamed);
        Ok(())
    }

    /// The names that files had in `parent`: as in its child, but for files that the child renamed, whose numbers come with
    /// them.
    fn names_in_parent(
        &self,
        names: &Rc<Names>,
        node: &Node,
        parent: u32,
        differences: &Differences,
        renamed: &mut BTreeMap<BString, BString>,
    ) -> Result<(Rc<Names>, Vec<usize>)> {
        let mut names = Rc::clone(names);
        let mut called_otherwise = Vec::new();
        let appeared: Vec<&BString> = differences
            .iter()
            .filter(|(_, difference)| difference.old.is_none() && difference.new.is_some())
            .map(|(path, _)| path)
            .collect();
        if !appeared.is_empty() {
            let mut origins = self.repository.renames(self.history.node(parent).tree, node.tree)?;
            for path in appeared {
                let Some(before) = origins.remove(path) else { continue };
                let names = Rc::make_mut(&mut names);
                let files = names.take(path.as_ref());
                if !files.is_empty() {
                    names.add(before.as_ref(), &files);
                    called_otherwise.extend(files);
                    renamed.insert(path.clone(), before);
                }
            }
        }
        Ok((names, called_otherwise))
    }

    fn hand_down(&mut self, parent: u32, names: &Rc<Names>) {
        let slot = &mut self.followed.names[parent as usize];
        *slot = Some(match slot.take() {
            Some(present) if present == *names => present,
            Some(mut present) => {
                Rc::make_mut(&mut present).unite(names);
                present
            }
            None => Rc::clone(names),
        });
    }

    /// A commit changed what differs from all its parents.
    fn record(
        &mut self,
        (place, parents): (u32, &[u32]),
        names: &Rc<Names>,
        against: &[Differences],
        renamed: &BTreeMap<BString, BString>,
    ) {
        let Some((first, others)) = against.split_first() else { return };
        if first.is_empty() {
            return;
        }
        for (path, difference) in first {
            if let Some(like) = others.iter().position(|other| !other.contains_key(path)) {
                for file in names.at(path.as_ref()) {
                    self.followed.files[*file].sides.push((place, parents[1 + like]));
                }
                continue;
            }
            for file in names.at(path.as_ref()) {
                self.followed.files[*file].touches.push(Touch {
                    place,
                    name: path.clone(),
                    old: difference.old,
                    new: difference.new,
                    renamed_from: renamed.get(path).cloned(),
                });
            }
        }
    }

    /// How followed paths in the commit at `place`, whose tree is `new`, differ from a parent.
    fn differences(
        &mut self,
        place: u32,
        (old, is_first_parent): (Option<ObjectId>, bool),
        new: ObjectId,
        names: &Names,
    ) -> Result<Differences> {
        let mut differences = Differences::new();
        if old != Some(new) && self.is_broad {
            for change in self.repository.plain_changes(old, new)? {
                if let (Some(changed), true) = (&mut self.changed, is_first_parent) {
                    changed.see(place, &change);
                }
                if !names.at(change.path.as_ref()).is_empty() {
                    differences.insert(change.path, Difference { old: change.old, new: change.new });
                }
            }
        } else if old != Some(new) {
            self.compare(old, Some(new), names, &BString::default(), &mut differences)?;
        }
        Ok(differences)
    }

    fn compare(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        names: &Names,
        prefix: &BString,
        differences: &mut Differences,
    ) -> Result<()> {
        let old = old.map(|id| self.entries(id, names)).transpose()?;
        let new = new.map(|id| self.entries(id, names)).transpose()?;
        let get = |entries: &Option<Rc<Entries>>, is_directory: bool, name: &BString| {
            entries.as_ref().and_then(|entries| entries.get(is_directory, name))
        };
        for name in names.files.keys() {
            let (old, new) = (get(&old, false, name), get(&new, false, name));
            if old != new {
                let [old, new] = [old, new].map(|side| side.map(|(_, id)| id));
                differences.insert(joined(prefix, name.as_ref()), Difference { old, new });
            }
        }
        for (name, inner) in &names.directories {
            let [old, new] = [&old, &new].map(|entries| get(entries, true, name).map(|(_, id)| id));
            if old != new {
                self.compare(old, new, inner, &joined(prefix, name.as_ref()), differences)?;
            }
        }
        Ok(())
    }

    /// The entries of the tree `id`, `names` among them.
    fn entries(&mut self, id: ObjectId, names: &Names) -> Result<Rc<Entries>> {
        if self.knows(id, names) {
            return Ok(Rc::clone(&self.trees[&id]));
        }
        let tree = self.repository.inner.find_tree(id).context(ObjectSnafu { id })?;
        let entries = Rc::new(Entries::of(id, &tree.data, &self.wanted));
        self.trees.insert(id, Rc::clone(&entries));
        Ok(entries)
    }
}

impl FileHistory {
    /// Which touches can be reached from which commit. It takes a walk through the whole history.
    ///
    /// Stretches without a touch share one set.
    #[must_use]
    pub fn reached(&self, history: &History) -> Reached {
        let mut touches = self.touches.iter().enumerate().rev().peekable();
        let n_words = self.touches.len().div_ceil(64);
        let mut reached: Vec<Option<Rc<Vec<u64>>>> = vec![None; history.nodes().len()];
        for place in (0..history.nodes().len()).rev() {
            let node = &history.nodes()[place];
            let mut set: Option<Rc<Vec<u64>>> = None;
            for parent in &node.parents {
                let theirs = reached[*parent as usize].clone();
                set = match (set, theirs) {
                    (Some(ours), Some(theirs)) if ours != theirs => Some(Rc::new(
                        ours.iter().zip(theirs.iter()).map(|(left, right)| left | right).collect(),
                    )),
                    (ours, theirs) => ours.or(theirs),
                };
            }
            while let Some((touch, _)) = touches.next_if(|(_, touch)| touch.place as usize == place) {
                let mut own = set.map_or_else(|| vec![0; n_words], |set| set.as_ref().clone());
                own[touch / 64] |= 1 << (touch % 64);
                set = Some(Rc::new(own));
            }
            reached[place] = set;
        }
        Reached { n_touches: u32::try_from(self.touches.len()).unwrap_or(u32::MAX), sets: reached }
    }
}
