//! Follows files through history under all their names.
//!
//! Trees are compared only where they lie on the way to a followed file, so the
//! cost is one look at the root tree of each commit, and whole-tree comparisons
//! only where a file appears and may have been renamed. The trees are read ahead,
//! level by level, because reading many at once is far cheaper.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
    sync::atomic::{AtomicUsize, Ordering},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    objs::TreeRefIter,
};
use snafu::ResultExt;

use crate::{
    History, Node, Repository,
    error::{ObjectSnafu, Result},
};

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
    /// For each place of the history, which touches can be reached from it.
    reached: Vec<Option<Rc<Vec<u64>>>>,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Names {
    files: BTreeMap<BString, Vec<usize>>,
    directories: BTreeMap<BString, Names>,
}

impl Names {
    fn of<'a>(paths: impl IntoIterator<Item = (&'a BString, &'a Vec<usize>)>) -> Self {
        let mut root = Self::default();
        for (path, files) in paths {
            let mut at = &mut root;
            let mut parts = path.split_str(b"/").peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_some() {
                    at = at.directories.entry(part.into()).or_default();
                } else {
                    let present: &mut Vec<usize> = at.files.entry(part.into()).or_default();
                    present.extend(files);
                    present.sort_unstable();
                    present.dedup();
                }
            }
        }
        root
    }

    /// Every path with the files that go by it.
    fn paths(&self) -> BTreeMap<BString, Vec<usize>> {
        let mut paths = BTreeMap::new();
        self.collect(&BString::default(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &BString, paths: &mut BTreeMap<BString, Vec<usize>>) {
        for (name, files) in &self.files {
            paths.insert(joined(prefix, name.as_ref()), files.clone());
        }
        for (name, inner) in &self.directories {
            inner.collect(&joined(prefix, name.as_ref()), paths);
        }
    }

    /// Whether a followed name lies in the directory of `path`.
    fn has_directory_of(&self, path: &BString) -> bool {
        let mut at = self;
        let mut parts = path.split_str(b"/").peekable();
        while let (Some(part), true) = (parts.next(), parts.peek().is_some()) {
            match at.directories.get(BStr::new(part)) {
                Some(inner) => at = inner,
                None => return false,
            }
        }
        true
    }

    fn united(&self, other: &Self) -> Self {
        let (ours, theirs) = (self.paths(), other.paths());
        Self::of(ours.iter().chain(&theirs))
    }
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
        let mut walk = Walk {
            repository: self,
            history,
            followed: Followed::start(history, files),
            trees: HashMap::new(),
            n_bytes: 0,
        };
        walk.read_ahead(0, &Names::of(files.iter().zip(std::iter::repeat(&Vec::new()))));
        for place in 0..history.nodes().len() {
            walk.step(u32::try_from(place).expect("places are u32"))?;
        }
        Ok(walk.followed)
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
        names.paths().into_iter().filter(|(_, files)| files.contains(&file)).map(|(name, _)| name).collect()
    }

    /// Every followed name in the commit at `place`, with the files that go by it.
    #[must_use]
    pub fn all_names_at(&self, place: u32) -> BTreeMap<BString, Vec<usize>> {
        self.names[place as usize].as_ref().map(|names| names.paths()).unwrap_or_default()
    }
}

struct Walk<'a> {
    repository: &'a Repository,
    history: &'a History,
    followed: Followed,
    /// Trees that were read: each is looked at as a child's and as its own.
    trees: HashMap<ObjectId, Rc<Vec<u8>>>,
    /// Their size together.
    n_bytes: usize,
}

/// Trees that are read ahead take at most so much memory; those beyond are read when they are needed.
const MAX_TREE_BYTES: usize = 256 << 20;

impl Walk<'_> {
    /// Reads the trees on the way to `names` in all commits from `place` on.
    fn read_ahead(&mut self, place: usize, names: &Names) {
        let roots: BTreeSet<ObjectId> = self.history.nodes()[place..].iter().map(|node| node.tree).collect();
        let mut levels = vec![(names, roots)];
        while let Some((names, trees)) = levels.pop() {
            let missing: Vec<ObjectId> =
                trees.iter().filter(|id| !self.trees.contains_key(*id)).copied().collect();
            let n_bytes = AtomicUsize::new(self.n_bytes);
            let fits = |data: &[u8]| n_bytes.fetch_add(data.len(), Ordering::Relaxed) < MAX_TREE_BYTES;
            let read = self.repository.read_many(missing, |_, data| fits(data).then(|| data.to_vec()));
            self.trees.extend(read.into_iter().map(|(id, data)| (id, Rc::new(data))));
            self.n_bytes = n_bytes.into_inner();
            for (name, inner) in &names.directories {
                let data = trees.iter().filter_map(|id| self.trees.get(id).map(|data| (id, data)));
                let entry = |(id, data): (&ObjectId, &Rc<Vec<u8>>)| {
                    let mut entries =
                        TreeRefIter::from_bytes(data, id.kind()).filter_map(std::result::Result::ok);
                    entries
                        .find(|entry| entry.mode.is_tree() && entry.filename == name)
                        .map(|entry| entry.oid.to_owned())
                };
                levels.push((inner, data.filter_map(entry).collect()));
            }
        }
    }

    fn step(&mut self, place: u32) -> Result<()> {
        let Some(names) = self.followed.names[place as usize].clone() else { return Ok(()) };
        let node = self.history.node(place);
        let against: Vec<Differences> = if node.parents.is_empty() {
            vec![self.differences(None, node.tree, &names)?]
        } else {
            let parents = node.parents.iter().map(|parent| self.history.node(*parent).tree);
            parents.map(|tree| self.differences(Some(tree), node.tree, &names)).collect::<Result<_>>()?
        };
        let mut renamed = BTreeMap::new();
        for (number, parent) in node.parents.iter().enumerate() {
            let parent_names = self.names_in_parent(&names, node, *parent, &against[number], &mut renamed)?;
            for before in renamed.values().filter(|before| !names.has_directory_of(before)) {
                self.read_ahead(*parent as usize, &Names::of([(before, &Vec::new())]));
            }
            self.hand_down(*parent, &parent_names);
        }
        self.record(place, &names, &against, &renamed);
        Ok(())
    }

    /// The names that files had in `parent`: as in its child, but for files that the child renamed.
    fn names_in_parent(
        &self,
        names: &Rc<Names>,
        node: &Node,
        parent: u32,
        differences: &Differences,
        renamed: &mut BTreeMap<BString, BString>,
    ) -> Result<Rc<Names>> {
        let mut paths = None;
        for (path, difference) in differences {
            if difference.old.is_some() || difference.new.is_none() {
                continue;
            }
            let before =
                self.repository.renamed_from(self.history.node(parent).tree, node.tree, path.as_ref())?;
            if let Some(before) = before {
                let paths = paths.get_or_insert_with(|| names.paths());
                if let Some(mut files) = paths.remove(path) {
                    paths.entry(before.clone()).or_default().append(&mut files);
                    renamed.insert(path.clone(), before);
                }
            }
        }
        Ok(paths.map_or_else(|| Rc::clone(names), |paths| Rc::new(Names::of(&paths))))
    }

    fn hand_down(&mut self, parent: u32, names: &Rc<Names>) {
        let slot = &mut self.followed.names[parent as usize];
        *slot = Some(match slot.take() {
            Some(present) if Rc::ptr_eq(&present, names) || present == *names => present,
            Some(present) => Rc::new(present.united(names)),
            None => Rc::clone(names),
        });
    }

    /// A commit changed what differs from all its parents.
    fn record(
        &mut self,
        place: u32,
        names: &Rc<Names>,
        against: &[Differences],
        renamed: &BTreeMap<BString, BString>,
    ) {
        let Some((first, others)) = against.split_first() else { return };
        if first.is_empty() {
            return;
        }
        let paths = names.paths();
        for (path, difference) in first {
            if !others.iter().all(|other| other.contains_key(path)) {
                continue;
            }
            for file in paths.get(path).into_iter().flatten() {
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

    fn differences(&mut self, old: Option<ObjectId>, new: ObjectId, names: &Names) -> Result<Differences> {
        let mut differences = Differences::new();
        if old != Some(new) {
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
        let old = old.map(|id| self.wanted(id, names)).transpose()?.unwrap_or_default();
        let new = new.map(|id| self.wanted(id, names)).transpose()?.unwrap_or_default();
        for name in names.files.keys() {
            let (old, new) = (find(&old.files, name), find(&new.files, name));
            if old != new {
                differences.insert(joined(prefix, name.as_ref()), Difference { old, new });
            }
        }
        for (name, inner) in &names.directories {
            let (old, new) = (find(&old.directories, name), find(&new.directories, name));
            if old != new {
                self.compare(old, new, inner, &joined(prefix, name.as_ref()), differences)?;
            }
        }
        Ok(())
    }

    /// The entries of the tree `id` that lie on the way to followed names.
    fn wanted<'n>(&mut self, id: ObjectId, names: &'n Names) -> Result<Wanted<'n>> {
        let data = self.tree(id)?;
        let mut wanted = Wanted::default();
        for entry in TreeRefIter::from_bytes(&data, id.kind()).filter_map(std::result::Result::ok) {
            let mode = entry.mode;
            if mode.is_tree() {
                if let Some((name, _)) = names.directories.get_key_value(entry.filename) {
                    wanted.directories.push((name, entry.oid.to_owned()));
                }
            } else if mode.is_blob_or_symlink()
                && let Some((name, _)) = names.files.get_key_value(entry.filename)
            {
                wanted.files.push((name, entry.oid.to_owned()));
            }
        }
        wanted.files.sort_unstable();
        wanted.directories.sort_unstable();
        Ok(wanted)
    }

    fn tree(&mut self, id: ObjectId) -> Result<Rc<Vec<u8>>> {
        if let Some(known) = self.trees.get(&id) {
            return Ok(Rc::clone(known));
        }
        let mut tree = self.repository.inner.find_tree(id).context(ObjectSnafu { id })?;
        let data = Rc::new(std::mem::take(&mut tree.data));
        if self.n_bytes < MAX_TREE_BYTES {
            self.n_bytes += data.len();
            self.trees.insert(id, Rc::clone(&data));
        }
        Ok(data)
    }
}

/// Entries of one tree, in order of name.
#[derive(Default)]
struct Wanted<'n> {
    files: Vec<(&'n BString, ObjectId)>,
    directories: Vec<(&'n BString, ObjectId)>,
}

fn find(entries: &[(&BString, ObjectId)], name: &BString) -> Option<ObjectId> {
    entries.binary_search_by(|(other, _)| (*other).cmp(name)).ok().map(|at| entries[at].1)
}

impl FileHistory {
    /// How many commits changed the file that the commit at `place` cannot reach: those made since.
    #[must_use]
    pub fn touches_since(&mut self, history: &History, place: u32) -> u32 {
        if self.reached.is_empty() {
            self.reached = self.reach(history);
        }
        let before = self.reached[place as usize]
            .as_ref()
            .map_or(0, |reached| reached.iter().map(|word| word.count_ones()).sum());
        u32::try_from(self.touches.len()).unwrap_or(u32::MAX) - before
    }

    /// For each place, the set of touches that can be reached from it; stretches without a touch share one set.
    fn reach(&self, history: &History) -> Vec<Option<Rc<Vec<u64>>>> {
        let touch_at: HashMap<u32, usize> =
            self.touches.iter().enumerate().map(|(n, touch)| (touch.place, n)).collect();
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
            if let Some(touch) = u32::try_from(place).ok().and_then(|place| touch_at.get(&place)) {
                let mut own = set.map_or_else(|| vec![0; n_words], |set| set.as_ref().clone());
                own[touch / 64] |= 1 << (touch % 64);
                set = Some(Rc::new(own));
            }
            reached[place] = set;
        }
        reached
    }
}
