//! Refs, in process where gix can, through `git` where it cannot (reftable).

use std::path::PathBuf;

use gix::{ObjectId, bstr::ByteSlice};
use snafu::ResultExt;

use crate::{
    Repository,
    disk::files,
    error::{GitError, ReadRefSnafu, Result, UpdateRefSnafu},
    open::{sound, state::leads_elsewhere},
    process::git,
    store::ref_backend::RefBackend,
};

/// Refs that stand for others are followed so far.
const MAX_STEPS: usize = 5;
/// The file of a ref is not longer.
const MAX_REF_BYTES: u64 = 4096;

/// Where refs of notes are.
const NOTES: &str = "refs/notes/";

/// Why a ref was not updated.
#[derive(Debug)]
pub(crate) enum UpdateFailed {
    /// Someone else was faster, or holds the ref's lock: read again and retry.
    Contended(GitError),
    /// Retrying cannot help.
    Fatal(GitError),
}

/// Whether a fetch or an exchange writes a ref of notes: what is stored there in the name of another is overwritten.
fn is_exchanged(name: &str) -> bool {
    let rest = name.strip_prefix(NOTES).unwrap_or(name);
    rest.starts_with("remotes/") || rest.starts_with("chronicle")
}

impl Repository {
    /// The object that the ref `name` points at, peeled to a commit where it can be.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn ref_target(&self, name: &str) -> Result<Option<ObjectId>> {
        match self.ref_backend {
            RefBackend::Gix if self.lacks_notes_ref(name) => Ok(None),
            RefBackend::Gix => {
                self.ensure_own_ref(name)?;
                let failed = |source: gix::Error| self.unreadable_ref(name, source);
                let found = self.inner.try_find_reference(name).map_err(failed)?;
                let peel = |mut found: gix::Reference<'_>| match found.follow_to_object() {
                    Ok(id) if self.is_known_commit(&id) => Ok(id.detach()),
                    _ => found.peel_to_id().map(gix::Id::detach),
                };
                found.map(peel).transpose().map_err(failed)
            }
            RefBackend::Git => self.rev_parse(name),
        }
    }

    /// The commit that the notes ref `name` leads to; `None` too where it leads to something else, as another program may
    /// have set it: nothing can be read there, and it may be written over.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn notes_tip(&self, name: &str) -> Result<Option<ObjectId>> {
        Ok(self.ref_target(name)?.filter(|target| self.commit_at(*target).is_some()))
    }

    /// The commit that an object is or, as a tag, names; also one that is not here.
    pub(crate) fn commit_at(&self, id: ObjectId) -> Option<ObjectId> {
        let Ok(object) = self.inner.find_object(id) else { return Some(id) };
        object
            .peel_tags_to_end()
            .ok()
            .filter(|found| found.kind == gix::object::Kind::Commit)
            .map(|found| found.id)
    }

    /// Why the ref `name` cannot be read. gix says what its file holds, which may be one of the user's by a link.
    fn unreadable_ref(&self, name: &str, source: gix::Error) -> GitError {
        match self.linked_ref(name) {
            Some(path) => GitError::Linked { path },
            None => GitError::ReadRef { name: name.to_owned(), source: Box::new(source) },
        }
    }

    /// The file of the ref `name`, or of one that it stands for, that leads elsewhere by a link.
    fn linked_ref(&self, name: &str) -> Option<PathBuf> {
        self.files_of_ref(name).find(|path| leads_elsewhere(path))
    }

    /// Fails where the ref `name`, or one that it stands for, is another repository's by a link, or is a device, a pipe or
    /// far too long: gix would read it to its end.
    fn ensure_own_ref(&self, name: &str) -> Result<()> {
        if let Some(path) = self.linked_ref(name) {
            return Err(GitError::Linked { path });
        }
        self.files_of_ref(name).try_for_each(|path| sound::ensure_short(&[path]))
    }

    /// The file of the ref `name`, whether or not it is there, and those of the refs that it stands for.
    fn files_of_ref(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let path_of = |name: &str| {
            let folder = if name.contains('/') { self.common_dir() } else { self.git_dir() };
            folder.join(name)
        };
        let next = move |path: &PathBuf| {
            let content = files::read(path, MAX_REF_BYTES).ok()?;
            let name = content.strip_prefix(b"ref: ")?.trim().to_str().ok()?;
            Some(path_of(name))
        };
        std::iter::successors(Some(path_of(name)), next).take(MAX_STEPS)
    }

    /// Whether `id` is known to be a commit, which need not be read to see that it is no tag.
    pub(crate) fn is_known_commit(&self, id: &gix::oid) -> bool {
        self.commit_graph().is_some_and(|graph| graph.lookup(id).is_some())
    }

    /// Whether there is no notes ref `name`, as far as two looks tell. A name might be short for another one, so gix looks
    /// in five places before it says so, and most of the refs that are asked for are not there.
    fn lacks_notes_ref(&self, name: &str) -> bool {
        if !name.starts_with(NOTES) || self.inner.namespace().is_some() {
            return false;
        }
        let is_packed = || match self.inner.refs.cached_packed_buffer() {
            Ok(Some(packed)) => !matches!(packed.try_find(name), Ok(None)),
            Ok(None) => false,
            Err(_) => true,
        };
        let loose = std::fs::symlink_metadata(self.common_dir().join(name));
        loose.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) && !is_packed()
    }

    /// Asks `git rev-parse`; `None` when the name is unknown.
    pub(crate) fn rev_parse(&self, revision: &str) -> Result<Option<ObjectId>> {
        match git(self, &["rev-parse", "--verify", "--quiet", "--end-of-options", revision], b"") {
            Ok(printed) => Ok(ObjectId::from_hex(printed.trim_ascii()).ok()),
            Err(GitError::Process { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The refs whose names start with `prefix`, such as `refs/heads/`, with what they point at.
    ///
    /// # Errors
    /// When the refs cannot be read, or a file of one is none that git writes; single broken refs are skipped.
    pub fn refs_under(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>> {
        match self.ref_backend {
            RefBackend::Gix => {
                sound::ensure_refs(&self.common_dir().join(prefix))?;
                let refs = self.inner.references().context(ReadRefSnafu { name: prefix })?;
                let under = refs.prefixed(prefix).context(ReadRefSnafu { name: prefix })?;
                let known = |found: &gix::Reference<'_>| {
                    let target = found.target().try_id().map(ToOwned::to_owned);
                    found.inner.peeled.or_else(|| target.filter(|id| self.is_known_commit(id)))
                };
                let named = |mut found: gix::Reference<'_>| {
                    let name = found.name().as_bstr().to_string();
                    let id = known(&found).or_else(|| Some(found.peel_to_id().ok()?.detach()))?;
                    Some((name, id))
                };
                Ok(under.filter_map(Result::ok).filter_map(named).collect())
            }
            RefBackend::Git => {
                let printed = git(self, &["for-each-ref", "--format=%(objectname) %(refname)", prefix], b"")?;
                Ok(String::from_utf8_lossy(&printed)
                    .lines()
                    .filter_map(|line| {
                        let (id, name) = line.split_once(' ')?;
                        Some((name.to_owned(), ObjectId::from_hex(id.as_bytes()).ok()?))
                    })
                    .collect())
            }
        }
    }

    /// [`Repository::refs_under`], where a ref that cannot be read is an error: for what must not miss any.
    ///
    /// # Errors
    /// When a ref cannot be read.
    pub(crate) fn every_ref_under(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>> {
        if self.ref_backend == RefBackend::Git {
            return self.refs_under(prefix);
        }
        sound::ensure_refs(&self.common_dir().join(prefix))?;
        let context = || ReadRefSnafu { name: prefix };
        let refs = self.inner.references().context(context())?;
        let mut found = Vec::new();
        for one in refs.prefixed(prefix).context(context())? {
            let mut one = one
                .map_err(|source| GitError::ReadRef { name: prefix.to_owned(), source: Box::new(source) })?;
            let name = one.name().as_bstr().to_string();
            let id = match one.target().try_id() {
                Some(id) => id.to_owned(),
                None => one.follow_to_object().context(ReadRefSnafu { name: &name })?.detach(),
            };
            found.push((name, id));
        }
        Ok(found)
    }

    /// Removes the ref `name`, which is there and nobody else's.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn delete_ref(&self, name: &str) -> Result<()> {
        git(self, &["update-ref", "--no-deref", "-d", name], b"").map(drop)
    }

    /// Points the ref `name`, whose object is missing, at an earlier version of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn go_back(&self, name: &str, to: ObjectId) -> Result<()> {
        let to = to.to_string();
        git(self, &["update-ref", "--no-deref", "-m", "chronicle: go back", name, &to], b"").map(drop)
    }

    /// Points `name` at `new`, but only if it still points at `old` (nowhere, for `None`).
    pub(crate) fn compare_and_swap(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
        reflog: &str,
    ) -> Result<(), UpdateFailed> {
        match self.ref_backend {
            RefBackend::Gix => self.swap_file_of_ref(name, old, new, reflog),
            RefBackend::Git => self.swap_with_git(name, old, new, reflog),
        }
    }

    pub(crate) fn swap_with_git(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
        reflog: &str,
    ) -> Result<(), UpdateFailed> {
        // Git follows a ref that stands for another, whatever that is.
        if name.starts_with(NOTES)
            && let Ok(target) = git(self, &["symbolic-ref", "--quiet", name], b"")
            && let target = String::from_utf8_lossy(&target).trim().to_owned()
            && (!target.starts_with(NOTES) || is_exchanged(&target))
        {
            return Err(UpdateFailed::Fatal(GitError::StandsForBranch { name: name.to_owned(), target }));
        }
        let old = old.unwrap_or_else(|| ObjectId::null(new.kind()));
        let input = format!("update {name}\0{new}\0{old}\0");
        let args = ["update-ref", "-m", reflog, "--create-reflog", "--stdin", "-z"];
        match git(self, &args, input.as_bytes()) {
            Ok(_) => Ok(()),
            Err(error @ GitError::Process { .. }) => {
                let error = Err(error).context(UpdateRefSnafu { name });
                error.map_err(UpdateFailed::Contended)
            }
            Err(other) => Err(UpdateFailed::Fatal(other)),
        }
    }
}
