//! Files as they are now.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
};

use chronicle_core::{LineMap, Lines};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
use snafu::ResultExt;

use crate::{
    PresentFile, Repository,
    disk::files,
    error::{GitError, IoSnafu, Result},
};

/// The share of lines that makes two files one, renamed; git's own measure.
const LEAST_LIKENESS: f64 = 0.5;

/// What keeps a path from being one of the repository's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detour {
    /// This part of it is a submodule, or another repository inside the working tree.
    Submodule(BString),
    /// This part of it is a symbolic link.
    Link {
        /// The link.
        at: BString,
        /// Where the whole path leads, if that is inside the working tree and there.
        to: Option<BString>,
    },
}

/// What stands for the content of a file that is too large to be read: as in binary files, there are no lines.
pub(crate) const TOO_LARGE: &[u8] = b"\0larger than what is read";

/// No system has longer paths; each part of one is looked at.
const LONGEST_PATH: usize = 4096;

impl Repository {
    /// The file at `path`: from the working tree, else from `head` where there is no working tree
    /// or where a sparse checkout leaves it out; `None` when it is in neither.
    ///
    /// No filter ever runs on it. A path that leads out of the working tree through a symbolic
    /// link is not followed.
    ///
    /// # Errors
    /// When the file exists but cannot be read; [`GitError::Promised`] where a partial clone lacks it.
    pub fn present_file(&self, head: Option<ObjectId>, path: &BStr) -> Result<Option<PresentFile>> {
        if let Some(content) = self.worktree_file(path)? {
            return Ok(Some(PresentFile { content, in_worktree: true }));
        }
        let Some(id) = self.present_blob(head, path)? else { return Ok(None) };
        if self.is_too_large(id) {
            return Ok(Some(PresentFile { content: TOO_LARGE.to_vec(), in_worktree: false }));
        }
        match self.blob_if_here(id)? {
            Some(content) => Ok(Some(PresentFile { content, in_worktree: false })),
            None if self.is_partial() => Err(GitError::Promised { path: path.to_owned(), id }),
            None => Ok(Some(PresentFile { content: self.blob(id)?, in_worktree: false })),
        }
    }

    /// Whether there is a file at `path`, as [`Repository::present_file`] finds it.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn has_present_file(&self, head: Option<ObjectId>, path: &BStr) -> Result<bool> {
        Ok(self.worktree_file(path)?.is_some() || self.present_blob(head, path)?.is_some())
    }

    /// The blob of the file at `path` in `head`, where there is no working tree or where a sparse checkout leaves it out.
    pub(crate) fn present_blob(&self, head: Option<ObjectId>, path: &BStr) -> Result<Option<ObjectId>> {
        if self.work_dir().is_some() && !self.is_left_out(path) {
            return Ok(None);
        }
        let Some(head) = head else { return Ok(None) };
        self.blob_at(self.commit_tree(head)?, path)
    }

    /// What keeps `path` from being a plain file or directory of the repository with the tree `tree`, if anything does.
    ///
    /// # Errors
    /// When a tree on the way is missing or broken.
    pub fn detour(&self, tree: ObjectId, path: &BStr) -> Result<Option<Detour>> {
        if LONGEST_PATH < path.len() {
            return Ok(None);
        }
        let ends = path.find_iter(b"/").chain([path.len()]).filter(|end| 0 < *end);
        for at in ends.map(|end| path[..end].as_bstr()) {
            let full = self.work_dir().and_then(|root| Some(root.join(at.to_path().ok()?)));
            if full.as_ref().is_some_and(|full| full.is_symlink()) {
                return Ok(Some(Detour::Link { at: at.to_owned(), to: self.real_path(path) }));
            }
            let has_git = full.as_ref().is_some_and(|full| full.join(".git").exists());
            // Who makes a repository of a directory whose files are tracked has not taken them out of this one.
            if self.is_submodule_at(tree, at)? || (has_git && !self.is_directory_at(tree, at)?) {
                return Ok(Some(Detour::Submodule(at.to_owned())));
            }
        }
        Ok(None)
    }

    /// Where `path` leads through symbolic links, if that is inside and there.
    fn real_path(&self, path: &BStr) -> Option<BString> {
        let root = self.work_dir()?.canonicalize().ok()?;
        let real = root.join(path.to_path().ok()?).canonicalize().ok()?;
        <[u8]>::from_path(real.strip_prefix(&root).ok()?).map(BString::from)
    }

    /// Whether a sparse checkout leaves `path` out of the working tree.
    fn is_left_out(&self, path: &BStr) -> bool {
        if self.inner.config_snapshot().boolean("core.sparseCheckout") != Some(true) {
            return false;
        }
        let Ok(index) = self.inner.index_or_empty() else { return false };
        let skipped = gix::index::entry::Flags::SKIP_WORKTREE;
        match index.entry_by_path(path) {
            Some(entry) => entry.flags.contains(skipped),
            // A sparse index holds whole directories that are left out as one entry.
            None => index.entries().iter().any(|entry| {
                let directory = entry.path(&index);
                entry.flags.contains(skipped) && directory.ends_with(b"/") && path.starts_with(directory)
            }),
        }
    }

    /// Whether git's index has `path`.
    #[must_use]
    pub fn is_staged(&self, path: &BStr) -> bool {
        self.inner.index_or_empty().is_ok_and(|index| index.entry_by_path(path).is_some())
    }

    /// The file of `head` that was renamed to `path` without committing it: of those that are gone from
    /// the working tree, the one that is most like it.
    ///
    /// # Errors
    /// When a tree or a file cannot be read.
    pub fn uncommitted_rename(&self, head: ObjectId, path: &BStr) -> Result<Option<BString>> {
        let Some(content) = self.worktree_file(path)? else { return Ok(None) };
        let tree = self.commit_tree(head)?;
        if self.blob_at(tree, path)?.is_some() {
            return Ok(None);
        }
        let new = Lines::new(&content);
        let mut best: Option<(f64, BString)> = None;
        for candidate in self.files_under(tree, BStr::new(""))? {
            let is_gone =
                self.worktree_path(candidate.as_bstr()).is_none_or(|full| full.symlink_metadata().is_err());
            if !is_gone || self.is_left_out(candidate.as_bstr()) {
                continue;
            }
            let Some(blob) = self.blob_at(tree, candidate.as_bstr())? else { continue };
            let Some(old) = self.blob_if_here(blob)? else { continue };
            let likeness = LineMap::between(&Lines::new(&old), &new).likeness();
            if LEAST_LIKENESS <= likeness && best.as_ref().is_none_or(|(most, _)| *most < likeness) {
                best = Some((likeness, candidate));
            }
        }
        Ok(best.map(|(_, path)| path))
    }

    fn worktree_file(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        let Some(full) = self.worktree_path(path) else { return Ok(None) };
        if let Some(text) = self.unsaved.as_ref().and_then(|unsaved| unsaved.at(&full)) {
            return Ok(Some(text.to_vec()));
        }
        let read = |full: &Path| -> std::io::Result<Option<Vec<u8>>> {
            let metadata = std::fs::symlink_metadata(full)?;
            if metadata.is_symlink() {
                let target = std::fs::read_link(full)?;
                return Ok(Some(Vec::from_path_buf(target).unwrap_or_default()));
            }
            // Reading a pipe or a device would block or never end.
            if metadata.is_file() { files::read(full, files::MAX_BYTES).map(Some) } else { Ok(None) }
        };
        match read(&full) {
            Ok(content) => Ok(content),
            // One such file must not keep all others from being asked about.
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Ok(Some(TOO_LARGE.to_vec())),
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(source) => Err(GitError::Io { path: full, source }),
        }
    }

    /// Where `path` is on disk, if it stays inside the working tree.
    pub(crate) fn worktree_path(&self, path: &BStr) -> Option<PathBuf> {
        WorkTree::new(self)?.path(path)
    }

    /// Whether `path` is a directory of the working tree.
    #[must_use]
    pub fn is_worktree_directory(&self, path: &BStr) -> bool {
        self.worktree_path(path).is_some_and(|full| full.is_dir() && !full.is_symlink())
            || (path.is_empty() && self.work_dir().is_some())
    }

    /// The ways in which `path`, given by someone in `directory`, may name a path from the root:
    /// against the current directory first, then against the root. Empty when it lies outside.
    ///
    /// # Errors
    /// When the working tree's root cannot be read.
    pub fn root_relative(&self, directory: &Path, path: &Path) -> Result<Vec<BString>> {
        let Some(root) = self.work_dir() else {
            return Ok(normalized(path).into_iter().collect());
        };
        let root = root.canonicalize().context(IoSnafu { path: root })?;
        let directory = directory.canonicalize().context(IoSnafu { path: directory })?;
        Ok(from_root(&root, &directory, path))
    }
}

/// No system opens a longer path, in bytes.
pub const MAX_PATH: usize = 4096;

/// Where the files of a working tree are on disk; each directory is looked at once.
pub(crate) struct WorkTree {
    root: PathBuf,
    /// The root without symbolic links.
    real_root: PathBuf,
    /// Directories, and whether they are inside.
    seen: HashMap<PathBuf, bool>,
}

impl WorkTree {
    /// `None` where there is no working tree.
    pub(crate) fn new(repository: &Repository) -> Option<Self> {
        let root = repository.work_dir()?.to_owned();
        Some(Self { real_root: root.canonicalize().ok()?, seen: HashMap::from([(root.clone(), true)]), root })
    }

    /// Where `path` is, if it stays inside. Notes may name anything; no tracked file is reached through `..` or `.git`.
    pub(crate) fn path(&mut self, path: &BStr) -> Option<PathBuf> {
        let path = path.to_path().ok().filter(|_| path.len() <= MAX_PATH)?;
        let is_tracked = |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
        if !path.components().all(is_tracked) {
            return None;
        }
        let full = self.root.join(path);
        self.is_inside(full.parent()?).then_some(full)
    }

    /// Whether a directory at or below the root stays inside where it is a symbolic link.
    fn is_inside(&mut self, directory: &Path) -> bool {
        let mut unknown: Vec<&Path> = Vec::new();
        let mut is_inside = false;
        for ancestor in directory.ancestors() {
            if let Some(known) = self.seen.get(ancestor) {
                is_inside = *known;
                break;
            }
            unknown.push(ancestor);
        }
        // What lies in a directory that is not inside need not be looked at: there may be thousands.
        while let (true, Some(next)) = (is_inside, unknown.pop()) {
            let is_plain = || std::fs::symlink_metadata(next).is_ok_and(|metadata| metadata.is_dir());
            is_inside = is_plain() || next.canonicalize().is_ok_and(|real| real.starts_with(&self.real_root));
            self.seen.insert(next.to_owned(), is_inside);
        }
        is_inside
    }
}

/// [`Repository::root_relative`] for directories that are free of symbolic links.
pub(crate) fn from_root(root: &Path, directory: &Path, path: &Path) -> Vec<BString> {
    let absolute = directory.join(path);
    let mut candidates = Vec::new();
    // Links on the way to the repository are resolved, the file itself and links inside are not.
    for spelling in [Some(absolute.clone()), canonical_parent(&absolute)].into_iter().flatten() {
        if let Some(inside) = clean(&spelling).strip_prefix(root).ok().and_then(normalized) {
            candidates.push(inside);
        }
    }
    if path.is_relative() {
        candidates.extend(normalized(path));
    }
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.clone()));
    candidates
}

fn canonical_parent(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// `path` without `.` and `..`, resolved by its words alone.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}

/// A path from the root in git's spelling; `None` when it climbs out of it or is absolute.
fn normalized(path: &Path) -> Option<BString> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // What lies in a git directory is no file of the repository.
            Component::Normal(part) if part.eq_ignore_ascii_case(".git") => return None,
            Component::Normal(part) => parts.push(<[u8]>::from_os_str(part)?),
            Component::ParentDir => drop(parts.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join(&b'/').into())
}

impl Repository {
    /// Whether git attributes put a filter on `path`, so that its lines in the working tree are not those of its blob.
    #[must_use]
    pub fn has_filter(&self, path: &BStr) -> bool {
        self.may_have_filters(path) && self.filter_attribute(path).unwrap_or(false)
    }

    /// Whether attribute files on the way to `path` speak of filters at all.
    pub(crate) fn may_have_filters(&self, path: &BStr) -> bool {
        self.work_dir().is_some_and(|root| may_have_filters(root, self.common_dir(), path))
    }

    /// Whether git's settings let it convert line ends, whatever attributes files have.
    pub(crate) fn may_convert(&self) -> bool {
        let setting = self.inner.config_snapshot().string("core.autocrlf");
        setting.is_some_and(|value| !value.eq_ignore_ascii_case(b"false"))
    }

    fn filter_attribute(&self, path: &BStr) -> Option<bool> {
        use gix::worktree::stack::state::attributes::Source;
        let index = self.inner.index_or_empty().ok()?;
        let mut stack = self.inner.attributes_only(&index, Source::WorktreeThenIdMapping).ok()?;
        let mut outcome = stack.selected_attribute_matches(["filter"]);
        let platform = stack.at_entry(path, None).ok()?;
        platform.matching_attributes(&mut outcome);
        Some(
            outcome
                .iter_selected()
                .any(|found| matches!(found.assignment.state, gix::attrs::StateRef::Value(_))),
        )
    }
}

/// A cheap look at the attribute files on the way to `path`: nearly no repository uses filters.
pub(crate) fn may_have_filters(root: &Path, common_dir: &Path, path: &BStr) -> bool {
    let mut files = vec![common_dir.join("info/attributes"), root.join(".gitattributes")];
    if let Some(directory) = path.to_path().ok().and_then(Path::parent) {
        let inner = directory.ancestors().filter(|directory| !directory.as_os_str().is_empty());
        files.extend(inner.map(|directory| root.join(directory).join(".gitattributes")));
    }
    files
        .iter()
        .any(|file| files::read(file, files::MAX_BYTES).is_ok_and(|content| content.contains_str("filter=")))
}
