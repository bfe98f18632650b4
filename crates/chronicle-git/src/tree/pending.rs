//! What differs between a commit and the index, or the working tree.
//!
//! They are compared file by file, and renames are told as between commits; nothing is written to
//! the repository. No filter ever runs on a file.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    attrs::StateRef,
    bstr::{BStr, BString, ByteSlice},
    objs::tree::{EntryKind, EntryMode},
};
use snafu::{OptionExt, ResultExt};

use crate::{
    FileChange, Repository,
    disk::files,
    error::{GitError, NoMergeBaseSnafu, ObjectSnafu, ReadIndexSnafu, Result, WriteObjectSnafu},
    open::repository::is_too_large,
    tree::{
        conversion::{Conversions, is_pointer_to},
        worktree::{TOO_LARGE, WorkTree},
    },
    walk::changes::{Differing, differing, with_renames},
};

/// Files that differ between two versions of the repository, with their contents.
pub struct Pending {
    /// The files, in order of path.
    pub changes: Vec<FileChange>,
    /// Those of them in the working tree that git would run a filter on. What the filter would make of them is unknown,
    /// so neither are the lines that changed.
    pub filtered: BTreeMap<BString, Filtered>,
    inner: gix::Repository,
    /// Staged blobs that the working tree has as they are: to read a file takes less than to unpack an object.
    as_staged: HashMap<ObjectId, Staged>,
}

/// A file of the working tree that is as it was staged.
struct Staged {
    path: PathBuf,
    /// How many bytes it has; `None` where git may convert them on the way.
    n_bytes: Option<u64>,
}

/// How far it is known that a file under a filter changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filtered {
    /// It did: git's index knows another size.
    Changed,
    /// It was written since git last looked at it, and has as many bytes as before.
    PerhapsChanged,
}

/// The newer side of a comparison with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newer {
    /// What is staged.
    Index,
    /// The files of the working tree, as far as git knows of them.
    WorkTree,
    /// Another commit.
    Commit(ObjectId),
}

/// Attributes that let git make other bytes of a file; the first one lets another program do it.
const CONVERSIONS: [&str; 6] = ["filter", "text", "eol", "crlf", "ident", "working-tree-encoding"];

/// Of directories that are nested deeper no trees are worked out: nobody has any, and the stack has an end.
const MOST_NESTED: usize = 256;

/// Most trees have fewer bytes.
const TYPICAL_TREE: usize = 512;

type Files = BTreeMap<BString, (EntryMode, ObjectId)>;

impl Pending {
    /// The bytes of one side of a change; `None` when they are not here, as in partial clones, or too large.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn content(&self, id: ObjectId) -> Result<Option<Vec<u8>>> {
        if let Some(content) = self.as_staged.get(&id).and_then(|staged| self.unconverted(id, staged)) {
            return Ok(Some(content));
        }
        if is_too_large(&self.inner, id) {
            return Ok(None);
        }
        let found = self.inner.try_find_object(id).context(ObjectSnafu { id })?;
        Ok(found.map(|mut object| std::mem::take(&mut object.data)))
    }
}

impl Pending {
    /// The bytes of a file, where it is as long as the blob `id` that was made of it: git may convert line ends and more
    /// on the way.
    fn unconverted(&self, id: ObjectId, staged: &Staged) -> Option<Vec<u8>> {
        let size = match staged.n_bytes {
            Some(size) => size,
            None => self.inner.find_header(id).ok()?.size(),
        };
        let content = files::read(&staged.path, size.min(files::MAX_BYTES)).ok()?;
        (u64::try_from(content.len()) == Ok(size)).then_some(content)
    }
}

impl Repository {
    /// What differs between the commit `old` and `newer`.
    ///
    /// # Errors
    /// When the repository has no working tree, or trees, the index or files cannot be read.
    pub fn pending(&self, old: ObjectId, newer: Newer) -> Result<Pending> {
        let old = self.commit_tree(old)?;
        let inner = self.inner.clone().with_object_memory();
        let mut filtered = BTreeMap::new();
        let mut changes = match newer {
            Newer::Commit(commit) => {
                self.renamed(&inner, differing(&inner, Some(old), self.commit_tree(commit)?)?)?
            }
            Newer::Index | Newer::WorkTree => {
                // A bare repository has no index either: everything would seem to be removed.
                if self.work_dir().is_none() {
                    return Err(GitError::NoWorkTree);
                }
                self.changes_now(&inner, old, newer, &mut filtered)?
            }
        };
        changes.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        let as_staged = if newer == Newer::Index { self.as_staged(&changes)? } else { HashMap::new() };
        Ok(Pending { changes, filtered, inner, as_staged })
    }

    /// Where the working tree has the newer sides of `changes`, which are staged, as they are.
    fn as_staged(&self, changes: &[FileChange]) -> Result<HashMap<ObjectId, Staged>> {
        let index = self.inner.index_or_empty().context(ReadIndexSnafu)?;
        let options = self.inner.stat_options().context(ReadIndexSnafu)?;
        let mut work_tree = WorkTree::new(self);
        let source = gix::worktree::stack::state::attributes::Source::WorktreeThenIdMapping;
        let mut attributes = self.inner.attributes_only(&index, source).context(ReadIndexSnafu)?;
        let mut conversions = attributes.selected_attribute_matches(CONVERSIONS);
        let may_convert = self.may_convert();
        let mut found = HashMap::new();
        for change in changes {
            let entry = index.entry_by_path(change.path.as_bstr());
            let Some(entry) = entry.filter(|entry| Some(entry.id) == change.new) else { continue };
            let Ok(platform) = attributes.at_entry(change.path.as_bstr(), None) else { continue };
            platform.matching_attributes(&mut conversions);
            let set = |state| !matches!(state, StateRef::Unset | StateRef::Unspecified);
            let mut set = conversions.iter_selected().map(|found| set(found.assignment.state));
            if set.next() == Some(true) || !entry.mode.to_tree_entry_mode().is_some_and(|mode| mode.is_blob())
            {
                continue;
            }
            if let Some(path) = work_tree.as_mut().and_then(|work_tree| work_tree.path(change.path.as_bstr()))
                && is_as_staged(&index, entry, &path, options) == Some(true)
            {
                let is_verbatim = !may_convert && !set.any(|is_set| is_set);
                let n_bytes = is_verbatim.then_some(u64::from(entry.stat.size));
                found.insert(entry.id, Staged { path, n_bytes });
            }
        }
        Ok(found)
    }

    /// The commit where two histories parted.
    ///
    /// # Errors
    /// When they have nothing in common.
    pub fn merge_base(&self, left: ObjectId, right: ObjectId) -> Result<ObjectId> {
        self.parted_at(left, right)?.context(NoMergeBaseSnafu { left, right })
    }

    /// What differs between the tree `base` and the index or the working tree. What has no object yet gets one in the
    /// memory of `inner`; files under a filter are added to `filtered`.
    fn changes_now(
        &self,
        inner: &gix::Repository,
        base: ObjectId,
        newer: Newer,
        filtered: &mut BTreeMap<BString, Filtered>,
    ) -> Result<Vec<FileChange>> {
        let index = self.inner.index_or_empty().context(ReadIndexSnafu)?;
        let Unsettled { files: mut before, settled } =
            Unsettled::of(inner, base, Some(StagedTree::root(&index)?))?;
        let now = match newer {
            Newer::WorkTree => {
                let staged = self.staged_files(&index, &[])?;
                let is_settled = |(path, _): &(&BString, _)| is_inside(path, &settled);
                let as_before = staged.iter().filter(is_settled);
                before.extend(as_before.map(|(path, file)| (path.clone(), *file)));
                self.tracked_files(&index, staged, inner, filtered)?
            }
            _ => self.staged_files(&index, &settled)?,
        };
        self.renamed(inner, differing_files(&before, &now))
    }

    /// The changes that differing files make up, once what this takes is here.
    fn renamed(&self, inner: &gix::Repository, differing: Vec<Differing>) -> Result<Vec<FileChange>> {
        let gone = || differing.iter().filter(|file| file.new.is_none()).filter_map(|file| file.old);
        let come = || differing.iter().filter(|file| file.old.is_none()).filter_map(|file| file.new);
        if gone().next().is_some() && come().next().is_some() {
            let is_here = |id: &ObjectId| inner.has_object(*id);
            let sides = gone().chain(come()).filter(|(mode, _)| mode.is_blob()).map(|(_, id)| id);
            self.fetch_promised(sides.filter(|id| !is_here(id)))?;
        }
        Ok(with_renames(inner, differing))
    }

    /// The files of the index, but for those in the directories `left_out`; of conflicts, our side.
    fn staged_files(&self, index: &gix::index::State, left_out: &[BString]) -> Result<Files> {
        // A map is made of a list in order much sooner than file by file.
        let mut files: Vec<(BString, (EntryMode, ObjectId))> = Vec::with_capacity(index.entries().len());
        for entry in index.entries() {
            let is_promise = entry.flags.contains(gix::index::entry::Flags::INTENT_TO_ADD);
            let Some(mode) = entry.mode.to_tree_entry_mode().filter(|_| !is_promise) else { continue };
            if is_inside(entry.path(index), left_out) {
                continue;
            }
            let path = entry.path(index).to_owned();
            if mode.is_tree() {
                // A sparse index holds whole directories as one entry.
                let below = Unsettled::of(&self.inner, entry.id, None)?.files;
                let directory = path.trim_end_with(|character| character == '/').to_owned();
                let full = |name: BString| BString::from([&directory[..], b"/", &name[..]].concat());
                files.extend(below.into_iter().map(|(name, found)| (full(name), found)));
            } else if entry.stage_raw() != 1
                && (entry.stage_raw() != 3 || files.last().is_none_or(|(last, _)| *last != path))
            {
                files.push((path, (mode, entry.id)));
            }
        }
        Ok(files.into_iter().collect())
    }

    /// The files of the working tree that the index knows of, those of `staged` and others; what changed is
    /// hashed into the memory of `inner`, as git would store it where no filter is needed for that.
    fn tracked_files(
        &self,
        index: &gix::index::State,
        mut files: Files,
        inner: &gix::Repository,
        filtered: &mut BTreeMap<BString, Filtered>,
    ) -> Result<Files> {
        let options = self.inner.stat_options().context(ReadIndexSnafu)?;
        let mut work_tree = WorkTree::new(self);
        let mut unchanged: HashSet<&BStr> = HashSet::new();
        // Directories outside a sparse checkout, which lie in the index as one.
        let mut outside = Vec::new();
        for entry in index.entries() {
            let path = entry.path(index);
            if entry.mode.is_sparse() {
                outside.push(path.to_owned());
            }
            let is_left_out = entry.flags.contains(gix::index::entry::Flags::SKIP_WORKTREE);
            let mut is_there = || {
                let path = work_tree.as_mut()?.path(path)?;
                is_as_staged(index, entry, &path, options)
            };
            if is_left_out || entry.stage_raw() == 0 && is_there() == Some(true) {
                unchanged.insert(path);
            }
        }
        // What was only promised to be added is in the working tree all the same.
        for entry in index.entries().iter().filter(|entry| entry.id.is_empty_blob()) {
            files.entry(entry.path(index).to_owned()).or_insert((EntryKind::Blob.into(), entry.id));
        }
        let mut now = Files::new();
        let mut conversions = None;
        for (path, (mode, id)) in files {
            let is_unchanged = unchanged.contains(path.as_bstr()) || is_inside(&path, &outside);
            if is_unchanged || !mode.is_blob_or_symlink() {
                now.insert(path, (mode, id));
            } else if let Some(found) = self.present_file(None, path.as_bstr())? {
                // A file that is too large to be read is taken for the same while it is as long.
                if found.content == TOO_LARGE
                    && work_tree_size(self, path.as_bstr()) == self.size_if_here(id)?
                {
                    now.insert(path, (mode, id));
                    continue;
                }
                let conversions = match &mut conversions {
                    Some(conversions) => conversions,
                    none => none.insert(Conversions::new(self, index)?),
                };
                let stored = match mode.is_link() {
                    true => Some((found.content, None)),
                    false => self.stored(conversions, path.as_bstr(), id, found.content)?,
                };
                let new = match stored {
                    None => id,
                    Some((content, filter)) => {
                        filtered.extend(filter.map(|filter| (path.clone(), filter)));
                        inner.write_blob(content).context(WriteObjectSnafu)?.detach()
                    }
                };
                now.insert(path, (mode, new));
            }
        }
        Ok(now)
    }

    /// What git would store of a file that was staged as `id`, and how far it is uncertain because of a filter; `None`
    /// where a filter is why it is not the same bytes.
    fn stored(
        &self,
        conversions: &mut Conversions<'_>,
        path: &BStr,
        id: ObjectId,
        content: Vec<u8>,
    ) -> Result<Option<(Vec<u8>, Option<Filtered>)>> {
        let n_bytes = content.len();
        let converted = conversions.apply(path, content);
        if !converted.is_under_filter {
            return Ok(Some((converted.content, None)));
        }
        let is_pointed_to = |blob: Vec<u8>| is_pointer_to(&blob, &converted.content);
        if self.blob_if_here(id)?.is_some_and(is_pointed_to) {
            return Ok(None);
        }
        let known = conversions.index().entry_by_path(path).map(|entry| entry.stat);
        // Git forgets what it knew of a file when it reads a tree into the index.
        let Some(known) = known.filter(|stat| 0 < stat.mtime.secs) else {
            return Ok(Some((converted.content, Some(Filtered::PerhapsChanged))));
        };
        if usize::try_from(known.size) != Ok(n_bytes) {
            return Ok(Some((converted.content, Some(Filtered::Changed))));
        }
        let written = self.worktree_path(path).and_then(|full| {
            let metadata = gix::index::fs::Metadata::from_path_no_follow(&full).ok()?;
            gix::index::entry::Stat::from_fs(&metadata).ok()
        });
        // Some builds of git keep whole seconds only.
        let is_same_time = written.is_some_and(|stat| {
            stat.mtime == known.mtime || known.mtime.nsecs == 0 && stat.mtime.secs == known.mtime.secs
        });
        Ok((!is_same_time).then_some((converted.content, Some(Filtered::PerhapsChanged))))
    }

    /// The file at `path` of the working tree as git would store it; as it is where a filter would be needed for that.
    ///
    /// # Errors
    /// When the index or the file cannot be read.
    pub fn present_as_stored(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.present_file(None, path)? else { return Ok(None) };
        let index = self.inner.index_or_empty().context(ReadIndexSnafu)?;
        Ok(Some(Conversions::new(self, &index)?.apply(path, file.content).content))
    }
}

fn work_tree_size(repository: &Repository, path: &BStr) -> Option<u64> {
    let path = WorkTree::new(repository)?.path(path)?;
    Some(path.symlink_metadata().ok()?.len())
}

/// Whether the file at `path` is the one that was staged as `entry`, going by what the system says of both; `None` when
/// that cannot be told.
fn is_as_staged(
    index: &gix::index::State,
    entry: &gix::index::Entry,
    path: &Path,
    options: gix::index::entry::stat::Options,
) -> Option<bool> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(path).ok()?;
    let stat = gix::index::entry::Stat::from_fs(&metadata).ok()?;
    Some(
        metadata.is_executable() == (entry.mode.to_tree_entry_mode()?.kind() == EntryKind::BlobExecutable)
            && entry.stat.matches(&stat, options)
            && !entry.stat.is_racy(index.timestamp(), options),
    )
}

/// The files that are not the same on both sides, in order of path.
fn differing_files(before: &Files, now: &Files) -> Vec<Differing> {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    let mut differing = Vec::new();
    loop {
        let order = match (before.peek(), now.peek()) {
            (Some((old, _)), Some((new, _))) => old.cmp(new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return differing,
        };
        let old = if order == Ordering::Greater { None } else { before.next() };
        let new = if order == Ordering::Less { None } else { now.next() };
        let (old_file, new_file) = (old.map(|(_, file)| *file), new.map(|(_, file)| *file));
        if let (Some((path, _)), true) = (old.or(new), old_file != new_file) {
            differing.push(Differing { path: path.clone(), old: old_file, new: new_file });
        }
    }
}

/// Whether `path` lies in one of `directories`, which are in order, each with the `/` that ends it; everything lies in
/// the root, whose path is empty.
fn is_inside(path: &[u8], directories: &[BString]) -> bool {
    // None of them lies in another one: what comes between a directory and a path in it lies in it, too.
    let n_before = directories.partition_point(|directory| directory.as_slice() <= path);
    n_before.checked_sub(1).is_some_and(|last| path.starts_with(&directories[last]))
}

/// A directory as it is staged.
struct StagedTree<'i> {
    /// The id of its tree, in the object database or not; `None` where it holds conflicts, or too much to tell.
    id: Option<ObjectId>,
    below: Below<'i>,
}

/// The directories in a staged one.
enum Below<'i> {
    /// As git keeps them.
    Kept(&'i [gix::index::extension::Tree]),
    /// As they were worked out, in order of name.
    Made(Vec<(&'i BStr, StagedTree<'i>)>),
}

impl<'i> StagedTree<'i> {
    fn root(index: &'i gix::index::State) -> Result<Self> {
        Self::of(index, index.entries(), (0, 0), index.tree())
    }

    /// What was `kept` of it, if it is valid still; else the tree of `entries`, whose paths share `n_shared` bytes with
    /// `depth` directories.
    ///
    /// Git drops a tree that it keeps whenever something is added below it, be it the same as before. To work it
    /// out takes less than to read the tree that it may be equal to.
    fn of(
        index: &'i gix::index::State,
        entries: &'i [gix::index::Entry],
        (n_shared, depth): (usize, usize),
        kept: Option<&'i gix::index::extension::Tree>,
    ) -> Result<Self> {
        if let Some(kept) = kept.filter(|kept| kept.num_entries.is_some()) {
            return Ok(Self { id: Some(kept.id), below: Below::Kept(&kept.children) });
        }
        if MOST_NESTED < depth {
            return Ok(Self { id: None, below: Below::Kept(&[]) });
        }
        let mut children: Vec<_> = kept.into_iter().flat_map(|kept| &kept.children).collect();
        children.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        let kept_child = |name: &BStr| {
            let at = children.binary_search_by(|tree| tree.name.as_bstr().cmp(name));
            at.ok().map(|at| children[at])
        };
        let mut content = Vec::with_capacity(TYPICAL_TREE);
        let mut add = |mode: EntryMode, name: &BStr, id: ObjectId| {
            content.extend_from_slice(mode.as_bytes(&mut Default::default()));
            content.push(b' ');
            content.extend_from_slice(name);
            content.push(0);
            content.extend_from_slice(id.as_bytes());
        };
        let (mut made, mut is_unknown) = (Vec::new(), false);
        let mut left = entries;
        while let Some((entry, others)) = left.split_first() {
            let path = entry.path(index);
            let Some(mode) = entry.mode.to_tree_entry_mode() else {
                left = others;
                continue;
            };
            match path[n_shared..].find_byte(b'/') {
                Some(length) if !mode.is_tree() => {
                    let end = n_shared + length;
                    let is_below = |entry: &gix::index::Entry| entry.path(index).starts_with(&path[..=end]);
                    let (below, beside) = left.split_at(left.partition_point(is_below));
                    let name = path[n_shared..end].as_bstr();
                    let tree = Self::of(index, below, (end + 1, depth + 1), kept_child(name))?;
                    match tree.id {
                        Some(id) if !id.is_empty_tree() => add(EntryKind::Tree.into(), name, id),
                        Some(_) => {}
                        None => is_unknown = true,
                    }
                    made.push((name, tree));
                    left = beside;
                }
                length => {
                    // A sparse index holds whole directories as one entry.
                    let name =
                        path[n_shared..length.map_or(path.len(), |length| n_shared + length)].as_bstr();
                    is_unknown |= entry.stage_raw() != 0;
                    if !entry.flags.contains(gix::index::entry::Flags::INTENT_TO_ADD) {
                        add(mode, name, entry.id);
                    }
                    left = others;
                }
            }
        }
        let id = gix::objs::compute_hash(index.object_hash(), gix::objs::Kind::Tree, &content);
        let id = (!is_unknown).then(|| id.map_err(gix::Error::from_error).context(WriteObjectSnafu));
        made.sort_unstable_by_key(|(name, _)| *name);
        Ok(Self { id: id.transpose()?, below: Below::Made(made) })
    }

    /// The directory `name` in it.
    fn take(&mut self, name: &BStr) -> Option<Self> {
        match &mut self.below {
            Below::Made(made) => {
                let at = made.binary_search_by_key(&name, |(other, _)| *other).ok()?;
                Some(std::mem::replace(&mut made[at].1, Self { id: None, below: Below::Kept(&[]) }))
            }
            Below::Kept(kept) => {
                let kept = kept.iter().find(|tree| tree.name.as_bstr() == name)?;
                let id = kept.num_entries.is_some().then_some(kept.id);
                Some(Self { id, below: Below::Kept(&kept.children) })
            }
        }
    }
}

/// The files of a tree, submodules included, but for those in directories that are staged as they are.
struct Unsettled {
    files: Files,
    /// These directories, in order, each with the `/` that ends it.
    settled: Vec<BString>,
}

impl Unsettled {
    /// Walks the tree `root`; of what is settled nothing has to be read.
    fn of(inner: &gix::Repository, root: ObjectId, staged: Option<StagedTree<'_>>) -> Result<Self> {
        let (mut files, mut settled) = (Vec::new(), Vec::new());
        let mut pending = vec![(BString::default(), root, staged)];
        while let Some((directory, id, mut staged)) = pending.pop() {
            if staged.as_ref().is_some_and(|staged| staged.id == Some(id)) {
                settled.push(directory);
                continue;
            }
            let tree = inner.find_tree(id).context(ObjectSnafu { id })?;
            for entry in tree.iter().filter_map(std::result::Result::ok) {
                let mut path = directory.clone();
                path.extend_from_slice(entry.filename());
                if entry.mode().is_tree() {
                    path.push(b'/');
                    let below = staged.as_mut().and_then(|staged| staged.take(entry.filename()));
                    pending.push((path, entry.object_id(), below));
                } else {
                    files.push((path, (entry.mode(), entry.object_id())));
                }
            }
        }
        settled.sort_unstable();
        Ok(Self { files: files.into_iter().collect(), settled })
    }
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    const FILES: [&str; 10] = [
        "a.b/x",
        "a/b/c/deep",
        "a/b/d",
        "a/b.c",
        "a-b/c",
        "a0",
        "docs/one",
        "docs/two/three",
        "lib/mod/a",
        "z",
    ];

    /// Files in directories of names that sort in ways of their own; git keeps no tree of the index as valid.
    fn readded() -> TestRepo {
        let repo = TestRepo::new();
        for path in FILES {
            repo.write(path, path);
        }
        std::os::unix::fs::symlink("z", repo.path().join("a/link")).unwrap();
        repo.git(&["add", "."]);
        repo.git(&["update-index", "--chmod=+x", "z"]);
        let commit = repo.commit("before");
        repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},lib/sub")]);
        repo.commit("with a submodule");
        repo.git(&["add", "--renormalize", "."]);
        repo
    }

    fn repository(repo: &TestRepo) -> Repository {
        Repository::discover(repo.path(), testkit::DATE.parse().expect("it is a time"))
            .expect("it is a repository")
    }

    fn with_root<T>(repo: &TestRepo, look: impl FnOnce(StagedTree<'_>) -> T) -> T {
        let index = repository(repo).inner.index_or_empty().expect("it can be read");
        look(StagedTree::root(&index).expect("it can be hashed"))
    }

    fn differing(repo: &TestRepo, newer: Newer) -> Vec<String> {
        let repository = repository(repo);
        let head = repository.head().expect("it can be read").expect("there are commits");
        let pending = repository.pending(head, newer).expect("all is there");
        pending.changes.into_iter().map(|change| change.path.to_string()).collect()
    }

    fn differing_by_git(repo: &TestRepo, options: &[&str]) -> Vec<String> {
        let told = repo.git(
            &[&["diff", "--name-only", "--no-renames", "--ignore-submodules", "HEAD"], options].concat(),
        );
        told.lines().map(str::to_owned).collect()
    }

    #[test]
    fn trees_of_the_index_are_those_that_git_would_write() {
        let repo = readded();
        for change in ["nothing", "an edit", "a new directory", "a removal", "a promise"] {
            match change {
                "an edit" => repo.write("a/b/c/deep", "edited"),
                "a new directory" => repo.write("a/b/0/new", "new"),
                "a removal" => std::fs::remove_file(repo.path().join("docs/two/three")).unwrap(),
                _ => {}
            }
            repo.git(&["add", "--all"]);
            if change == "a promise" {
                repo.write("promised/file", "promised");
                repo.write("lib/mod/promised", "promised");
                repo.git(&["add", "--intent-to-add", "promised/file", "lib/mod/promised"]);
            }
            let made = with_root(&repo, |root| root.id).map(|id| id.to_string());
            assert_eq!(made, Some(repo.git(&["write-tree"])), "{change}");
            assert_eq!(differing(&repo, Newer::Index), differing_by_git(&repo, &["--cached"]), "{change}");
            assert_eq!(differing(&repo, Newer::WorkTree), differing_by_git(&repo, &[]), "{change}");
            repo.git(&["add", "--renormalize", "."]);
        }
    }

    #[test]
    fn no_tree_is_made_of_conflicts() {
        let repo = readded();
        repo.git(&["checkout", "-q", "-b", "other"]);
        repo.write("a/b/d", "theirs");
        repo.commit("theirs");
        repo.git(&["checkout", "-q", "main"]);
        repo.write("a/b/d", "ours");
        repo.commit("ours");
        assert!(!repo.try_git(&["merge", "-q", "other"]).status.success());
        repo.write("docs/one", "edited");
        repo.git(&["add", "docs/one"]);

        with_root(&repo, |mut root| {
            let id = |tree: &str| Some(repo.git(&["rev-parse", tree]));
            let of = |tree: Option<StagedTree<'_>>| tree.expect("it is there").id.map(|id| id.to_string());
            assert_eq!(root.id, None);
            assert_eq!(of(root.take("a-b".into())), id("HEAD:a-b"));
            assert_eq!(of(root.take("lib".into())), id("HEAD:lib"));
            let mut a = root.take("a".into()).expect("it is there");
            let mut b = a.take("b".into()).expect("it is there");
            assert_eq!((a.id, b.id), (None, None));
            assert_eq!(of(b.take("c".into())), id("HEAD:a/b/c"));
        });
        assert_eq!(differing(&repo, Newer::Index), ["docs/one"]);
        assert_eq!(differing(&repo, Newer::WorkTree), ["a/b/d", "docs/one"]);
    }

    #[test]
    fn no_tree_is_made_of_what_is_nested_too_deeply() {
        let repo = readded();
        let deep = "a/".repeat(20_000) + "f";
        repo.write("staged", format!("100644 {}\t{deep}\n", repo.git(&["rev-parse", "HEAD:z"])));
        repo.git(&["read-tree", "--empty"]);
        let mut stage = testkit::command("git", repo.path());
        let input = std::fs::File::open(repo.path().join("staged")).unwrap();
        assert!(
            stage.args(["update-index", "--add", "--index-info"]).stdin(input).status().unwrap().success()
        );

        assert_eq!(with_root(&repo, |root| root.id), None);
        assert!(differing(&repo, Newer::Index).contains(&deep));
        assert!(!differing(&repo, Newer::WorkTree).contains(&deep), "there is no such file");
    }

    #[test]
    fn a_sparse_index_holds_directories_as_one() {
        let repo = readded();
        repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "docs"]);
        repo.write("docs/one", "edited");
        repo.git(&["add", "docs/one"]);
        let made = with_root(&repo, |root| root.id).map(|id| id.to_string());
        assert_eq!(made, Some(repo.git(&["write-tree"])));
        repo.git(&["add", "--renormalize", "."]);
        assert_eq!(differing(&repo, Newer::Index), ["docs/one"]);
        assert_eq!(differing(&repo, Newer::WorkTree), ["docs/one"]);
    }
}
