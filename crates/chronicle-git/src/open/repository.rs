//! An opened repository: where it is, what HEAD is, what files hold now and then.

use std::{
    cell::{OnceCell, RefCell},
    ffi::OsString,
    ops::Range,
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    hashtable::HashMap,
    objs::tree::EntryMode,
    odb::pack::cache::lru::MemoryCappedHashmap,
    sec::{
        Trust,
        trust::{DefaultForLevel, Mapping},
    },
};
use jiff::Timestamp;
use snafu::ResultExt;

use crate::{
    disk::{
        files::MAX_BYTES,
        fsync::Fsync,
        lock::{FileLock, Patience},
        sharing::{Sharing, create_dir_like_parent},
    },
    error::{GitError, IoSnafu, NotARepositorySnafu, ObjectSnafu, Result, WorkTreeElsewhereSnafu},
    exchange::trust::TrustRecords,
    open::{
        git_dir::common_dir_of,
        ownership::{self, Site, Trusted},
        sound,
        state::{ensure_no_link, read_state, state_path},
    },
    store::{lock_journal::LockJournal, ref_backend::RefBackend},
    tree::unsaved::UnsavedText,
    walk::ignore_revs::IgnoreRevs,
};

/// Notes and trees are packed as long chains of deltas; what was unpacked once serves the next in the chain.
const PACK_CACHE_BYTES: usize = 64 << 20;

/// Whether an object has more than [`MAX_BYTES`], which is known without unpacking it.
pub(crate) fn is_too_large(inner: &gix::Repository, id: ObjectId) -> bool {
    inner.find_header(id).is_ok_and(|header| MAX_BYTES < header.size())
}

pub(crate) fn with_pack_cache(mut repository: gix::Repository) -> gix::Repository {
    repository.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(PACK_CACHE_BYTES)));
    repository.object_cache_size_if_unset(16 << 20);
    repository
}

/// The same repository, to read many objects with, each of them once: whole objects are not kept.
pub(crate) fn for_bulk(mut repository: gix::Repository) -> gix::Repository {
    repository.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(PACK_CACHE_BYTES)));
    repository.objects.unset_object_cache();
    repository
}

/// The same repository, where no object stands in for another.
pub(crate) fn without_replacements(mut repository: gix::Repository) -> gix::Repository {
    repository.objects.ignore_replacements = true;
    repository
}

/// Git takes its index as it is: its checksum is looked at when the repository is checked, not when a command reads it.
/// An object is unpacked in memory, and a few bytes can stand for gigabytes.
const SETTINGS: [&str; 2] = ["index.skipHash=true", "gitoxide.objects.allocLimit=256m"];

/// How a repository is opened whose directory is trusted so far.
fn options(trust: Trust) -> gix::open::Options {
    gix::open::Options::default_for_level(trust).config_overrides(SETTINGS)
}

/// An opened repository.
pub struct Repository {
    pub(crate) inner: gix::Repository,
    pub(crate) ref_backend: RefBackend,
    /// The time for signatures where git has no opinion.
    pub(crate) now: Timestamp,
    /// The same repository, for reading many objects.
    pub(crate) bulk: OnceCell<gix::Repository>,
    pub(crate) plain: OnceCell<gix::Repository>,
    /// Where objects lie in packs.
    pub(crate) pack_indices: OnceCell<Vec<gix::odb::pack::index::File>>,
    /// Git's file of commits and their parents, once it was asked for.
    graph: OnceCell<Option<gix::commitgraph::Graph>>,
    /// Blobs that were read ahead.
    pub(crate) read_ahead: RefCell<ReadAhead>,
    /// Who may use the files that are created here.
    pub(crate) sharing: Sharing,
    /// What is synced to the disk.
    pub(crate) fsync: Fsync,
    /// How long is waited for locks of ours.
    pub(crate) patience: Patience,
    /// Whether what a partial clone lacks may be fetched.
    pub(crate) may_fetch: bool,
    /// All variables of a git that talks to remotes; those of this process without.
    pub(crate) variables: Option<Variables>,
    /// The user's records of whose notes are trusted.
    pub(crate) trust_records: Option<TrustRecords>,
    /// A file of the working tree as an editor holds it.
    pub(crate) unsaved: Option<UnsavedText>,
    /// What git's configuration says of commits that blame ignores.
    pub(crate) ignore_revs: OnceCell<IgnoreRevs>,
}

/// Variables of the environment, with their values.
pub type Variables = Vec<(&'static str, OsString)>;

/// Blobs in one buffer, which serves again when they are forgotten: memory that comes and goes costs time.
#[derive(Default)]
pub(crate) struct ReadAhead {
    bytes: Vec<u8>,
    places: HashMap<ObjectId, Range<usize>>,
}

/// A buffer beyond this is given back.
const MAX_KEPT_BYTES: usize = 256 << 20;

impl ReadAhead {
    pub(crate) fn add(&mut self, id: ObjectId, content: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(content);
        self.places.insert(id, start..self.bytes.len());
    }

    fn get(&self, id: &ObjectId) -> Option<&[u8]> {
        self.places.get(id).map(|place| &self.bytes[place.clone()])
    }

    fn clear(&mut self) {
        self.places.clear();
        self.bytes.clear();
        if MAX_KEPT_BYTES < self.bytes.capacity() {
            self.bytes = Vec::new();
        }
    }
}

/// A repository that is opened when it is first needed: some answers do without.
pub struct LazyRepository {
    directory: PathBuf,
    now: Timestamp,
    is_isolated: bool,
    patience: Patience,
    may_fetch: bool,
    unsaved: Option<UnsavedText>,
    variables: OnceCell<Option<Variables>>,
    trust_records: OnceCell<Option<TrustRecords>>,
    opened: OnceCell<Repository>,
}

impl LazyRepository {
    /// The repository that [`Repository::discover`] finds, or that [`Repository::open_isolated`] opens.
    #[must_use]
    pub fn new(directory: &Path, now: Timestamp, is_isolated: bool) -> Self {
        Self {
            directory: directory.to_owned(),
            now,
            is_isolated,
            patience: Patience::default(),
            may_fetch: false,
            unsaved: None,
            variables: OnceCell::new(),
            trust_records: OnceCell::new(),
            opened: OnceCell::new(),
        }
    }

    /// The same, with another patience for locks.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The same, where what a partial clone lacks may be fetched from its remote: for those who wait for an answer.
    #[must_use]
    pub fn fetching(self, may_fetch: bool) -> Self {
        Self { may_fetch, ..self }
    }

    /// The same, where this text takes the place of a file of the working tree.
    #[must_use]
    pub fn with_unsaved(self, unsaved: Option<UnsavedText>) -> Self {
        Self { unsaved, ..self }
    }

    /// The same, where the user's records of whose notes are trusted are known. Without them nobody is.
    #[must_use]
    pub fn with_trust(self, trust_records: Option<TrustRecords>) -> Self {
        Self { trust_records: trust_records.into(), opened: OnceCell::new(), ..self }
    }

    /// The same, where `records` are the user's unless they are known: [`LazyRepository::with_trust`] for those who look
    /// for them only when they are needed.
    pub fn trusting(&self, records: impl FnOnce() -> Option<TrustRecords>) -> &Self {
        self.trust_records.get_or_init(records);
        self
    }

    /// The same, where a git that talks to remotes has only these variables: the environment is not the user's.
    pub fn talking_with(&self, variables: impl FnOnce() -> Option<Variables>) -> &Self {
        self.variables.get_or_init(variables);
        self
    }

    /// The repository, opened.
    ///
    /// # Errors
    /// When there is none, or its configuration cannot be read.
    pub fn get(&self) -> Result<&Repository> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        // The environment of an agent is not the user's.
        let is_unattended = self.variables.get().is_some_and(Option::is_some);
        let open = match (self.is_isolated, is_unattended) {
            (true, _) => Repository::open_isolated,
            (false, true) => Repository::discover_here,
            (false, false) => Repository::discover,
        };
        let mut repository = open(&self.directory, self.now)?;
        repository.patience = self.patience;
        repository.may_fetch = self.may_fetch;
        repository.unsaved.clone_from(&self.unsaved);
        repository.variables = self.variables.get().cloned().flatten();
        repository.trust_records = self.trust_records.get().cloned().flatten();
        Ok(self.opened.get_or_init(|| repository))
    }
}

/// A file as it is now: in the working tree, or at HEAD where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentFile {
    /// Its bytes; of a symbolic link, its target.
    pub content: Vec<u8>,
    /// Whether it is in the working tree.
    pub in_worktree: bool,
}

impl Repository {
    /// Whether an editor's text takes the place of a file: what is made of it is not worth keeping.
    #[must_use]
    pub fn has_unsaved(&self) -> bool {
        self.unsaved.is_some()
    }

    fn of(opened: &gix::ThreadSafeRepository, now: Timestamp) -> Self {
        let inner = with_pack_cache(opened.to_thread_local());
        let ref_backend = RefBackend::of(&inner);
        let (sharing, fsync, patience) = (Sharing::of(&inner), Fsync::of(&inner), Patience::default());
        let (bulk, plain) = (OnceCell::new(), OnceCell::new());
        let (pack_indices, graph) = (OnceCell::new(), OnceCell::new());
        let read_ahead = RefCell::default();
        Self {
            inner,
            ref_backend,
            now,
            bulk,
            plain,
            pack_indices,
            graph,
            read_ahead,
            sharing,
            fsync,
            patience,
            may_fetch: false,
            variables: None,
            trust_records: None,
            unsaved: None,
            ignore_revs: OnceCell::new(),
        }
    }

    /// Git's commit-graph as it was when it was first asked for, if there is one that is in use.
    pub(crate) fn commit_graph(&self) -> Option<&gix::commitgraph::Graph> {
        self.graph.get_or_init(|| self.inner.commit_graph_if_enabled().ok().flatten()).as_ref()
    }

    /// Opens the repository that `directory` is in, or the one that git's environment names.
    ///
    /// # Errors
    /// When there is none, when git would not work in it, or when its configuration cannot be read.
    pub fn discover(directory: &Path, now: Timestamp) -> Result<Self> {
        if ownership::is_named() {
            let options = Mapping { full: options(Trust::Full), reduced: options(Trust::Reduced) };
            let opened = gix::ThreadSafeRepository::open_with_environment_overrides(directory, options);
            return Self::checked(&opened.context(NotARepositorySnafu { path: directory })?, now);
        }
        Self::open(&Site::discover(directory)?.trusted(directory)?, options(Trust::Full), now)
    }

    /// Opens the repository that `directory` is in, if git's environment names no other one.
    ///
    /// # Errors
    /// As [`Self::discover`], and where it does.
    pub fn discover_here(directory: &Path, now: Timestamp) -> Result<Self> {
        if ownership::is_named_elsewhere(directory) {
            let reason = "GIT_DIR or GIT_WORK_TREE names another one, and an agent runs this".to_owned();
            return Err(GitError::Distrusted { path: directory.to_owned(), reason });
        }
        Self::open(&Site::discover(directory)?.trusted(directory)?, options(Trust::Full), now)
    }

    /// Opens the repository at `directory` and no other, whatever the environment and the user's settings say.
    ///
    /// # Errors
    /// When there is none, when git would not work in it, or when its configuration cannot be read.
    pub fn open_isolated(directory: &Path, now: Timestamp) -> Result<Self> {
        Self::open(&Site::at(directory).trusted(directory)?, gix::open::Options::isolated(), now)
    }

    fn open(trusted: &Trusted, options: gix::open::Options, now: Timestamp) -> Result<Self> {
        // gix reads all these as a whole.
        let own = ["HEAD", "commondir", "config", "config.worktree"].map(|name| trusted.git_dir().join(name));
        sound::ensure_sound(&own)?;
        sound::ensure_short(&own)?;
        sound::ensure_no_device(&[trusted.git_dir().join("index")])?;
        let common_dir = common_dir_of(trusted.git_dir());
        let configs = [common_dir.join("config"), trusted.git_dir().join("config.worktree")];
        configs.iter().try_for_each(|config| sound::ensure_includes(config))?;
        sound::ensure_sound(&[common_dir.join("packed-refs")])?;
        sound::ensure_refs(&common_dir.join("refs/replace"))?;
        // Objects may be another repository's: what they are called is not.
        sound::ensure_short(&[common_dir.join("objects/info/alternates")])?;
        sound::ensure_own(&["refs", "refs/notes", "refs/remotes"].map(|name| common_dir.join(name)))?;
        let tables = ["info/commit-graph", "info/commit-graphs/commit-graph-chain", "pack/multi-pack-index"];
        sound::ensure_no_device(&tables.map(|name| common_dir.join("objects").join(name)))?;
        let (path, is_bare) = match trusted.root() {
            Some(root) => (root, false),
            None => (trusted.git_dir(), true),
        };
        let options = options.with(Trust::Full).open_path_as_is(is_bare);
        let opened = gix::ThreadSafeRepository::open_opts(path, options).map_err(|source| {
            let broken = configs.iter().find_map(|config| sound::broken_config(config));
            broken.unwrap_or_else(|| GitError::NotARepository {
                path: path.to_owned(),
                source: Box::new(source),
            })
        });
        let repository = Self::checked(&opened?, now)?;
        repository.ensure_own_work_tree(trusted)?;
        Ok(repository)
    }

    /// Fails where `core.worktree` names another folder than the one that the repository was found in: what is there is
    /// not the repository's to read or write. Users who keep a working tree elsewhere say so with `GIT_DIR`.
    fn ensure_own_work_tree(&self, trusted: &Trusted) -> Result<()> {
        let Some(work_tree) = self.work_dir() else { return Ok(()) };
        let git_dir = trusted.git_dir();
        let root = trusted.root().or_else(|| git_dir.parent().filter(|_| git_dir.ends_with(".git")));
        let is_same = |root: &Path| {
            root == work_tree
                || root
                    .canonicalize()
                    .is_ok_and(|root| work_tree.canonicalize().is_ok_and(|tree| tree == root))
        };
        snafu::ensure!(root.is_some_and(is_same), WorkTreeElsewhereSnafu { git_dir, work_tree });
        Ok(())
    }

    /// The repository, if its small files can be what git wrote: gix takes that for granted.
    fn checked(opened: &gix::ThreadSafeRepository, now: Timestamp) -> Result<Self> {
        let repository = Self::of(opened, now);
        // Git and gix read these as a whole.
        for key in ["mailmap.file", "core.attributesFile", "core.excludesFile"] {
            let named = repository.inner.config_snapshot().trusted_path(key).ok().flatten();
            if let Some(path) = named.filter(|path| *path != Path::new("/dev/null")) {
                sound::ensure_short(&[path])?;
            }
        }
        let names = ["config", "packed-refs", "info/grafts"];
        sound::ensure_sound(&names.map(|name| repository.common_dir().join(name)))?;
        let shallow =
            repository.inner.shallow_file().context(NotARepositorySnafu { path: repository.git_dir() })?;
        sound::ensure_shallow(&shallow)?;
        Ok(repository)
    }

    /// The git directory of this worktree.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.inner.git_dir()
    }

    /// The git directory that all worktrees share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        self.inner.common_dir()
    }

    /// The root of the working tree; `None` for a bare repository.
    #[must_use]
    pub fn work_dir(&self) -> Option<&Path> {
        self.inner.workdir()
    }

    /// The id of the empty tree, which carries the repository's knowledge.
    #[must_use]
    pub fn empty_tree(&self) -> ObjectId {
        ObjectId::empty_tree(self.inner.object_hash())
    }

    /// HEAD's commit; `None` on an unborn branch.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn head(&self) -> Result<Option<ObjectId>> {
        match self.ref_backend {
            RefBackend::Gix => self.ref_target("HEAD").or_else(|error| {
                // An unborn branch is no error, but gix reports it as one when peeling.
                let is_unborn = || self.inner.head().is_ok_and(|head| head.is_unborn());
                match error {
                    GitError::ReadRef { .. } if is_unborn() => Ok(None),
                    error => Err(error),
                }
            }),
            RefBackend::Git => self.rev_parse("HEAD"),
        }
    }

    /// HEAD's commit.
    ///
    /// # Errors
    /// [`GitError::NoCommits`] on an unborn branch.
    pub fn born_head(&self) -> Result<ObjectId> {
        self.head()?.ok_or(GitError::NoCommits)
    }

    /// The commit that `revision` names; a value that looks like an option is just an unknown revision.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`], or [`GitError::NoCommits`] for `HEAD` on an unborn branch.
    pub fn resolve(&self, revision: &str) -> Result<ObjectId> {
        if revision == "HEAD" {
            return self.born_head();
        }
        let unknown = || GitError::UnknownRevision { revision: revision.to_owned() };
        if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return Err(unknown());
        }
        let found = match self.ref_backend {
            RefBackend::Gix => match self.inner.rev_parse(revision).map(gix::revision::Spec::detach) {
                Ok(gix::revision::plumbing::Spec::Include(id)) => Some(id),
                // A range names no commit, however few it holds.
                _ => None,
            },
            RefBackend::Git => self.rev_parse(revision)?,
        };
        let peel = |id: ObjectId| {
            if self.is_known_commit(&id) {
                return Some(id);
            }
            Some(self.inner.find_object(id).ok()?.peel_to_kind(gix::object::Kind::Commit).ok()?.id)
        };
        found.and_then(peel).ok_or_else(unknown)
    }

    /// Whether an object was here when this process looked first: for questions about many of which most are not, as each
    /// that is not would have the packs listed again.
    #[must_use]
    pub fn seems_here(&self, id: ObjectId) -> bool {
        self.inner.objects.exists_without_refresh(&id)
    }

    /// Whether an object is here at all; shallow and partial clones lack some.
    #[must_use]
    pub fn has_object(&self, id: ObjectId) -> bool {
        self.inner.has_object(id)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When the object is missing or broken.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>> {
        if let Some(known) = self.read_ahead.borrow().get(&id) {
            return Ok(known.to_vec());
        }
        let mut object = self.inner.find_object(id).context(ObjectSnafu { id })?;
        Ok(std::mem::take(&mut object.data))
    }

    /// The id that `content` has as a blob.
    #[must_use]
    pub fn blob_id(&self, content: &[u8]) -> ObjectId {
        gix::objs::compute_hash(self.inner.object_hash(), gix::objs::Kind::Blob, content)
            .expect("hashing bytes in memory does not fail")
    }

    /// Forgets the blobs that were read ahead.
    pub fn forget_read_ahead(&self) {
        self.read_ahead.borrow_mut().clear();
    }

    /// Whether a version of a file is larger than a file of the working tree may be; it isn't unpacked then.
    pub(crate) fn is_too_large(&self, id: ObjectId) -> bool {
        is_too_large(&self.inner, id)
    }

    /// The bytes of a blob; `None` when it is not here, as in partial clones, or too large to be looked at.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn blob_if_here(&self, id: ObjectId) -> Result<Option<Vec<u8>>> {
        if let Some(known) = self.read_ahead.borrow().get(&id) {
            return Ok(Some(known.to_vec()));
        }
        if self.is_too_large(id) {
            return Ok(None);
        }
        let found = self.inner.try_find_object(id).context(ObjectSnafu { id })?;
        Ok(found.map(|mut object| std::mem::take(&mut object.data)))
    }

    /// How many bytes a blob has, which is known without reading it; `None` when it is not here.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn size_if_here(&self, id: ObjectId) -> Result<Option<u64>> {
        let header = self.inner.try_find_header(id).context(ObjectSnafu { id })?;
        Ok(header.map(|header| header.size()))
    }

    /// What `look` makes of the bytes of a blob; `None` when it is not here, as in partial clones, or too large.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn with_blob<T>(&self, id: ObjectId, look: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        if let Some(known) = self.read_ahead.borrow().get(&id) {
            return Ok(Some(look(known)));
        }
        if self.is_too_large(id) {
            return Ok(None);
        }
        let object = self.inner.try_find_object(id).context(ObjectSnafu { id })?;
        Ok(object.map(|object| look(&object.data)))
    }

    /// [`Repository::with_blob`], together with the bytes of the blob `other` where both were read ahead.
    ///
    /// # Errors
    /// When the object is broken.
    pub fn with_blob_beside<T>(
        &self,
        id: ObjectId,
        other: Option<ObjectId>,
        look: impl FnOnce(&[u8], Option<&[u8]>) -> T,
    ) -> Result<Option<T>> {
        let ahead = self.read_ahead.borrow();
        if let Some(known) = ahead.get(&id) {
            return Ok(Some(look(known, other.and_then(|other| ahead.get(&other)))));
        }
        drop(ahead);
        self.with_blob(id, |content| look(content, None))
    }

    /// The blob at `path` of `tree`; `None` when there is none, or when it is a directory or a submodule.
    ///
    /// # Errors
    /// When a tree on the way is missing or broken.
    pub fn blob_at(&self, tree: ObjectId, path: &BStr) -> Result<Option<ObjectId>> {
        let entry = self.entry_at(tree, path)?;
        Ok(entry.filter(|(mode, _)| mode.is_blob_or_symlink()).map(|(_, id)| id))
    }

    fn entry_at(&self, tree: ObjectId, path: &BStr) -> Result<Option<(EntryMode, ObjectId)>> {
        let mut at = tree;
        let mut components = path.split_str(b"/").peekable();
        while let Some(component) = components.next() {
            let object = self.inner.find_tree(at).context(ObjectSnafu { id: at })?;
            let found = object.iter().filter_map(Result::ok).find(|entry| entry.filename() == component);
            let Some((mode, id)) = found.map(|entry| (entry.mode(), entry.object_id())) else {
                return Ok(None);
            };
            if components.peek().is_none() {
                return Ok(Some((mode, id)));
            }
            if !mode.is_tree() {
                return Ok(None);
            }
            at = id;
        }
        Ok(None)
    }

    /// The tree of the directory `path` of `tree`; `None` when there is none.
    ///
    /// # Errors
    /// When a tree on the way is missing or broken.
    pub fn tree_at(&self, tree: ObjectId, path: &BStr) -> Result<Option<ObjectId>> {
        Ok(self.entry_at(tree, path)?.filter(|(mode, _)| mode.is_tree()).map(|(_, id)| id))
    }

    /// Whether `path` is a directory of `tree`; the root, an empty path, is one.
    ///
    /// # Errors
    /// When a tree on the way is missing or broken.
    pub fn is_directory_at(&self, tree: ObjectId, path: &BStr) -> Result<bool> {
        Ok(path.is_empty() || self.entry_at(tree, path)?.is_some_and(|(mode, _)| mode.is_tree()))
    }

    /// Whether `path` is a submodule in `tree`.
    ///
    /// # Errors
    /// When a tree on the way is missing or broken.
    pub fn is_submodule_at(&self, tree: ObjectId, path: &BStr) -> Result<bool> {
        Ok(self.entry_at(tree, path)?.is_some_and(|(mode, _)| mode.is_commit()))
    }

    /// The files under the directory `path` of `tree`, all of them for an empty path.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn files_under(&self, tree: ObjectId, path: &BStr) -> Result<Vec<BString>> {
        Ok(self.blobs_under(tree, path)?.into_iter().map(|(path, _)| path).collect())
    }

    /// The same with their blobs: of many files, this is found faster than one by one.
    ///
    /// # Errors
    /// When a tree is missing or broken.
    pub fn blobs_under(&self, tree: ObjectId, path: &BStr) -> Result<Vec<(BString, ObjectId)>> {
        let mut files = Vec::new();
        let root = if path.is_empty() {
            Some(tree)
        } else {
            self.entry_at(tree, path)?.filter(|(mode, _)| mode.is_tree()).map(|(_, id)| id)
        };
        let mut pending: Vec<(BString, ObjectId)> =
            root.map(|id| (path.to_owned(), id)).into_iter().collect();
        while let Some((directory, id)) = pending.pop() {
            let object = self.inner.find_tree(id).context(ObjectSnafu { id })?;
            for entry in object.iter().filter_map(Result::ok) {
                let mut path = directory.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(entry.filename());
                match entry.mode() {
                    mode if mode.is_tree() => pending.push((path, entry.object_id())),
                    mode if mode.is_blob_or_symlink() => files.push((path, entry.object_id())),
                    _ => {}
                }
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Where small files of ours that belong to all worktrees live.
    #[must_use]
    pub fn shared_state_dir(&self) -> PathBuf {
        self.common_dir().join("chronicle")
    }

    /// The lock of those who write notes.
    pub(crate) fn write_lock(&self) -> PathBuf {
        self.shared_state_dir().join("write.lock")
    }

    /// What those who write notes left written in their lock. Without the lock itself, a half-written text says too
    /// little, never something wrong.
    pub(crate) fn lock_journal(&self) -> LockJournal {
        let text = read_state(self.common_dir(), "write.lock").unwrap_or_default();
        LockJournal::parse(&text.to_str_lossy())
    }

    /// Waits for the lock of ours at `path`, which is in a state directory of this repository.
    ///
    /// # Errors
    /// When it cannot be created, or another process holds it for too long.
    pub fn lock(&self, path: &Path) -> Result<FileLock> {
        self.ensure_unlinked(path)?;
        if let Some(directory) = path.parent() {
            self.make_unlinked_dir(directory).context(IoSnafu { path: directory })?;
        }
        FileLock::acquire_with(path, self.patience)
    }

    /// Creates a state directory, as open as git's own directories are.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn make_state_dir(&self, directory: &Path) -> std::io::Result<()> {
        self.ensure_unlinked(directory).map_err(std::io::Error::other)?;
        self.make_unlinked_dir(directory)
    }

    /// The same, where no link was found on the way.
    fn make_unlinked_dir(&self, directory: &Path) -> std::io::Result<()> {
        if directory.is_dir() {
            return Ok(());
        }
        create_dir_like_parent(directory)?;
        self.sharing.adjust(directory)
    }

    /// Where small files of ours that belong to this worktree live.
    #[must_use]
    pub fn worktree_state_dir(&self) -> PathBuf {
        self.git_dir().join("chronicle")
    }

    /// The path of a small file of ours that belongs to all worktrees.
    ///
    /// # Errors
    /// When it is a link, or the folder that it is in.
    pub fn shared_state(&self, name: &str) -> Result<PathBuf> {
        state_path(self.common_dir(), name)
    }

    /// The path of a small file of ours that belongs to this worktree.
    ///
    /// # Errors
    /// When it is a link, or the folder that it is in.
    pub fn worktree_state(&self, name: &str) -> Result<PathBuf> {
        state_path(self.git_dir(), name)
    }

    /// Looks at the part of `path` that is in a git directory of this repository.
    pub(crate) fn ensure_unlinked(&self, path: &Path) -> Result<()> {
        for directory in [self.git_dir(), self.common_dir()] {
            if let Ok(below) = path.strip_prefix(directory) {
                return ensure_no_link(directory, below);
            }
        }
        Ok(())
    }

    /// Looks at the folders that the file of the ref `name` is in, and that of its log. `refs` and `logs/refs` as a
    /// whole may be links: tools that make several working trees of one repository use them.
    pub(crate) fn ensure_unlinked_ref(&self, name: &str) -> Result<()> {
        let Some(below) = name.strip_prefix("refs/") else { return Ok(()) };
        let log = self.common_dir().join("logs/refs");
        ensure_no_link(&log, Path::new(below))?;
        // A ref that is a link was one that stands for another, once: it is replaced, not written through.
        ensure_no_link(&self.common_dir().join("refs"), Path::new(below).parent().unwrap_or(Path::new("")))
    }
}
