//! Which files a commit changed.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::ControlFlow,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    diff::tree::{Recorder, State, Visit, recorder::Change, visit},
    objs::{TreeRefIter, tree::EntryMode},
};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
    walk::similarity::{Moving, origins},
};

/// One file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path in the newer tree; in the older one when it was deleted.
    pub path: BString,
    /// Its path in the older tree, when it was renamed.
    pub renamed_from: Option<BString>,
    /// The older blob; `None` when the file was added.
    pub old: Option<ObjectId>,
    /// The newer blob; `None` when the file was deleted.
    pub new: Option<ObjectId>,
}

/// A path, and what it is on either side.
#[derive(Debug, Clone)]
pub(crate) struct Differing {
    pub path: BString,
    pub old: Option<(EntryMode, ObjectId)>,
    pub new: Option<(EntryMode, ObjectId)>,
}

impl Differing {
    /// Whether git says so: old trees may write the same kind of file with other permissions.
    fn is_one(&self) -> bool {
        let side = |side: Option<(EntryMode, ObjectId)>| side.map(|(mode, id)| (mode.kind(), id));
        side(self.old) != side(self.new)
    }

    /// The same as a change of a file; directories and submodules are none, they have no lines.
    fn plain(self) -> Option<FileChange> {
        let blob =
            |side: Option<(EntryMode, ObjectId)>| Some(side.filter(|(mode, _)| mode.is_blob_or_symlink())?.1);
        let (old, new) = (blob(self.old), blob(self.new));
        (old.is_some() || new.is_some()).then_some(FileChange {
            path: self.path,
            renamed_from: None,
            old,
            new,
        })
    }
}

impl Repository {
    /// The files that differ between `old` (the empty tree for `None`) and `new`, with renames told.
    ///
    /// Renames are found by likeness, as git does; where blobs are absent (partial clones), by identity only.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn changes(&self, old: Option<ObjectId>, new: ObjectId) -> Result<Vec<FileChange>> {
        Ok(with_renames(&self.inner, differing(&self.inner, old, new)?))
    }

    /// [`Repository::changes`] without looking for renames: a rename is a deletion and an addition.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn plain_changes(&self, old: Option<ObjectId>, new: ObjectId) -> Result<Vec<FileChange>> {
        Ok(differing(&self.inner, old, new)?.into_iter().filter_map(Differing::plain).collect())
    }
}

/// So many files of one comparison are looked at.
const MOST_FILES: usize = 1_000_000;

/// So often one tree may be met in one comparison: a few small trees that name each other many times over can stand for
/// more files than there is memory.
const MOST_TWINS: u32 = 10_000;

/// So many bytes the paths of one comparison may have: a few trees can name each other in paths that are longer than there
/// is memory.
const MOST_PATH_BYTES: usize = 128 << 20;

/// What differs, as long as that has an end.
#[derive(Default)]
struct Bounded {
    recorder: Recorder,
    n_twins: HashMap<ObjectId, u32>,
    /// How long the path of what is looked at is, and the paths of the directories above it.
    path_lens: Vec<usize>,
    /// How long the paths of directories are that are still to be looked at.
    pending_lens: VecDeque<usize>,
    n_path_bytes: usize,
    is_endless: bool,
}

impl Bounded {
    fn path_len(&self) -> usize {
        self.path_lens.last().copied().unwrap_or_default()
    }
}

impl Visit for Bounded {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.path_lens = self.pending_lens.pop_front().into_iter().collect();
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.path_lens.push(self.path_len() + 1 + component.len());
        self.pending_lens.push_back(self.path_len());
        self.n_path_bytes += self.path_len();
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.path_lens.push(self.path_len() + 1 + component.len());
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.path_lens.pop();
        self.recorder.pop_path_component();
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        let (id, mode) = change.oid_and_entry_mode();
        if mode.is_tree() {
            let n_twins = self.n_twins.entry(id.to_owned()).or_default();
            *n_twins += 1;
            self.is_endless |= MOST_TWINS < *n_twins;
        }
        self.n_path_bytes += self.path_len();
        self.is_endless |= MOST_FILES <= self.recorder.records.len() || MOST_PATH_BYTES < self.n_path_bytes;
        if self.is_endless { ControlFlow::Break(()) } else { self.recorder.visit(change) }
    }
}

/// What differs between two trees of `inner`, in the order of the trees; nothing where there is no end to it.
pub(crate) fn differing(
    inner: &gix::Repository,
    old: Option<ObjectId>,
    new: ObjectId,
) -> Result<Vec<Differing>> {
    if old == Some(new) {
        return Ok(Vec::new());
    }
    let tree = |id: ObjectId| inner.find_tree(id).context(ObjectSnafu { id });
    let (old, new_tree) = (old.map(tree).transpose()?, tree(new)?);
    let old = old.as_ref().map_or(&[][..], |tree| &tree.data);
    let entries = |data| TreeRefIter::from_bytes(data, new.kind());
    let mut bounded = Bounded::default();
    let walked = gix::diff::tree(
        entries(old),
        entries(&new_tree.data),
        State::default(),
        &inner.objects,
        &mut bounded,
    );
    if bounded.is_endless {
        return Ok(Vec::new());
    }
    walked.map_err(gix::Error::from_error).context(ObjectSnafu { id: new })?;
    Ok(bounded.recorder.records.into_iter().map(of_record).filter(Differing::is_one).collect())
}

fn of_record(change: Change) -> Differing {
    match change {
        Change::Addition { entry_mode, oid, path, .. } => {
            Differing { path, old: None, new: Some((entry_mode, oid)) }
        }
        Change::Deletion { entry_mode, oid, path, .. } => {
            Differing { path, old: Some((entry_mode, oid)), new: None }
        }
        Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
            Differing { path, old: Some((previous_entry_mode, previous_oid)), new: Some((entry_mode, oid)) }
        }
    }
}

/// What `differing` files changed; those that went under one name and came under another are one change.
pub(crate) fn with_renames(inner: &gix::Repository, differing: Vec<Differing>) -> Vec<FileChange> {
    let gone = moving(&differing, |file| file.old.filter(|_| file.new.is_none()));
    let come = moving(&differing, |file| file.new.filter(|_| file.old.is_none()));
    let mut before = HashMap::new();
    if !gone.is_empty() && !come.is_empty() {
        for (file, origin) in come.iter().zip(origins(inner, &gone, &come)) {
            if let Some(origin) = origin {
                before.insert(file.path.to_owned(), (gone[origin].path.to_owned(), gone[origin].id));
            }
        }
    }
    let renamed: HashSet<BString> = before.values().map(|(path, _)| path.clone()).collect();
    let changes = differing.into_iter().filter_map(Differing::plain);
    let changes = changes.filter(|change| change.new.is_some() || !renamed.contains(&change.path));
    let told = changes.map(|change| match before.remove(&change.path) {
        Some((from, old)) => FileChange { renamed_from: Some(from), old: Some(old), ..change },
        None => change,
    });
    told.collect()
}

fn moving(
    differing: &[Differing],
    side: impl Fn(&Differing) -> Option<(EntryMode, ObjectId)>,
) -> Vec<Moving<'_>> {
    differing.iter().filter_map(|file| Moving::of(file.path.as_bstr(), side(file)?)).collect()
}

#[cfg(test)]
mod tests {
    use testkit::TestRepo;

    use super::*;

    #[test]
    fn a_comparison_without_an_end_finds_nothing() {
        let repo = TestRepo::new();
        repo.write("a", "1\n");
        repo.commit("one");
        let sane = repo.git(&["rev-parse", "HEAD^{tree}"]);
        let mut tree = sane.clone();
        for _ in 0..7 {
            let entries: String = (10..40).map(|n| format!("040000 tree {tree}\td{n}\n")).collect();
            let file = repo.beside("entries");
            std::fs::write(&file, entries).expect("it can be written");
            let made = testkit::command("git", repo.path())
                .arg("mktree")
                .stdin(std::fs::File::open(&file).expect("it was written"))
                .output()
                .expect("git is installed");
            tree = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        }
        let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).expect("it is an id");
        let now = testkit::DATE.parse().expect("it is a time");
        let repository = Repository::discover(repo.path(), now).expect("it is one");
        assert_eq!(repository.plain_changes(Some(id(&sane)), id(&tree)).expect("its trees are there"), []);
        assert_eq!(repository.changes(Some(id(&tree)), id(&sane)).expect("its trees are there"), []);
        assert_eq!(repository.plain_changes(None, id(&sane)).expect("its tree is there").len(), 1);
    }
}
