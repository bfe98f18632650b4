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
    changes::{Differing, differing, with_renames},
    error::{GitError, NoMergeBaseSnafu, ObjectSnafu, ReadIndexSnafu, Result, WriteObjectSnafu},
    worktree::WorkTree,
};

/// Files that differ between two versions of the repository, with their contents.
pub struct Pending {
    /// The files, in order of path.
    pub changes: Vec<FileChange>,
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

type Files = BTreeMap<BString, (EntryMode, ObjectId)>;

impl Pending {
    /// The bytes of one side of a change; `None` when they are not here, as in partial clones.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn content(&self, id: ObjectId) -> Result<Option<Vec<u8>>> {
        if let Some(content) = self.as_staged.get(&id).and_then(|staged| self.unconverted(id, staged)) {
            return Ok(Some(content));
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
        let content = std::fs::read(&staged.path).ok()?;
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
        let mut changes = match newer {
            Newer::Commit(commit) => {
                with_renames(&inner, differing(&inner, Some(old), self.commit_tree(commit)?)?)
            }
            Newer::Index | Newer::WorkTree => {
                // A bare repository has no index either: everything would seem to be removed.
                if self.work_dir().is_none() {
                    return Err(GitError::NoWorkTree);
                }
                self.changes_now(&inner, old, newer)?
            }
        };
        changes.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        let as_staged = if newer == Newer::Index { self.as_staged(&changes)? } else { HashMap::new() };
        Ok(Pending { changes, inner, as_staged })
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
    /// memory of `inner`.
    fn changes_now(&self, inner: &gix::Repository, base: ObjectId, newer: Newer) -> Result<Vec<FileChange>> {
        let index = self.inner.index_or_empty().context(ReadIndexSnafu)?;
        let Unsettled { files: mut before, settled } = Unsettled::of(inner, base, index.tree())?;
        let now = match newer {
            Newer::WorkTree => {
                let staged = self.staged_files(&index, &[])?;
                let is_settled = |(path, _): &(&BString, _)| is_inside(path, &settled);
                let as_before = staged.iter().filter(is_settled);
                before.extend(as_before.map(|(path, file)| (path.clone(), *file)));
                self.tracked_files(&index, staged, inner)?
            }
            _ => self.staged_files(&index, &settled)?,
        };
        Ok(with_renames(inner, differing_files(&before, &now)))
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
    /// hashed into the memory of `inner`.
    fn tracked_files(
        &self,
        index: &gix::index::State,
        mut files: Files,
        inner: &gix::Repository,
    ) -> Result<Files> {
        let options = self.inner.stat_options().context(ReadIndexSnafu)?;
        let mut work_tree = WorkTree::new(self);
        let mut unchanged: HashSet<&BStr> = HashSet::new();
        for entry in index.entries() {
            let path = entry.path(index);
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
        for (path, (mode, id)) in files {
            if unchanged.contains(path.as_bstr()) || !mode.is_blob_or_symlink() {
                now.insert(path, (mode, id));
            } else if let Some(content) = self.worktree_content(path.as_bstr())? {
                let id = inner.write_blob(content).context(WriteObjectSnafu)?.detach();
                now.insert(path, (mode, id));
            }
        }
        Ok(now)
    }

    fn worktree_content(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        Ok(self.present_file(None, path)?.map(|file| file.content))
    }
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

/// The files of a tree, submodules included, but for those in directories that are staged as they are.
struct Unsettled {
    files: Files,
    /// These directories, in order, each with the `/` that ends it.
    settled: Vec<BString>,
}

impl Unsettled {
    /// Walks the tree `root`. What is settled, the trees tell that git keeps in the index: of that nothing has to be read.
    fn of(
        inner: &gix::Repository,
        root: ObjectId,
        cached: Option<&gix::index::extension::Tree>,
    ) -> Result<Self> {
        let (mut files, mut settled) = (Vec::new(), Vec::new());
        let mut pending = vec![(BString::default(), root, cached)];
        while let Some((directory, id, cached)) = pending.pop() {
            if cached.is_some_and(|cached| cached.num_entries.is_some() && cached.id == id) {
                settled.push(directory);
                continue;
            }
            let children = cached.map_or(&[][..], |cached| &cached.children);
            let tree = inner.find_tree(id).context(ObjectSnafu { id })?;
            for entry in tree.iter().filter_map(std::result::Result::ok) {
                let mut path = directory.clone();
                path.extend_from_slice(entry.filename());
                if entry.mode().is_tree() {
                    path.push(b'/');
                    let child = children.iter().find(|child| child.name.as_slice() == entry.filename());
                    pending.push((path, entry.object_id(), child));
                } else {
                    files.push((path, (entry.mode(), entry.object_id())));
                }
            }
        }
        settled.sort_unstable();
        Ok(Self { files: files.into_iter().collect(), settled })
    }
}
