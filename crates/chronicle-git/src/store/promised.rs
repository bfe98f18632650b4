//! Blobs that a partial clone lacks: its remote promised to have them.
//!
//! Git fetches what it lacks when it needs it, one by one. Here what a command needs is fetched ahead, in one batch and
//! from the same remotes, and only for those who ask a command: hooks and what works in the background do without.
//! Nothing is fetched from a remote that the user did not enable: an unpacked archive may be a partial clone of anything.

use std::ffi::OsStr;

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice},
    remote::Direction,
};

use crate::{
    Repository,
    error::{GitError, Result},
    process,
};

/// As git fetches what was promised: these objects and no others.
const FETCH: [&str; 10] = [
    "-c",
    "fetch.negotiationAlgorithm=noop",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--recurse-submodules=no",
    "--filter=blob:none",
    "--stdin",
];

impl Repository {
    /// The remotes that promised what is not here, in the order in which git asks them.
    fn promisors(&self) -> Vec<String> {
        let config = self.inner.config_snapshot();
        let is_promisor = |name: &String| {
            config.boolean(format!("remote.{name}.promisor").as_str()) == Some(true) && !name.starts_with('-')
        };
        let mut names: Vec<String> = self.remotes().into_iter().filter(is_promisor).collect();
        let of_clone = config.string("extensions.partialClone");
        if let Some(of_clone) = of_clone.and_then(|name| Some(name.to_str().ok()?.to_owned()))
            && !of_clone.starts_with('-')
        {
            names.retain(|name| *name != of_clone);
            names.push(of_clone);
        }
        names
    }

    /// Whether blobs may be missing here because a remote has them.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.promisors().is_empty()
    }

    /// Whether git itself may fetch what is missing: it would ask any of the remotes.
    pub(crate) fn may_fetch_promised(&self) -> bool {
        let promisors = if self.may_fetch { self.promisors() } else { Vec::new() };
        let enabled = if promisors.is_empty() { Vec::new() } else { self.enabled_remotes() };
        !promisors.is_empty() && promisors.iter().all(|remote| enabled.contains(remote))
    }

    /// Fetches those of `blobs` that are not here in one batch, if that is allowed and an enabled remote promised them;
    /// what cannot be had stays absent.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn fetch_promised(&self, blobs: impl IntoIterator<Item = ObjectId>) -> Result<()> {
        if !self.may_fetch {
            return Ok(());
        }
        let mut missing: Vec<ObjectId> = blobs.into_iter().filter(|id| !self.has_object(*id)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let enabled = self.enabled_remotes();
        for remote in self.promisors().into_iter().filter(|remote| enabled.contains(remote)) {
            self.ensure_address(&remote, Direction::Fetch)?;
            let ids: String = missing.iter().map(|id| format!("{id}\n")).collect();
            process::git_talking(self, &[&FETCH[..], &[&remote]].concat(), ids.as_bytes())?;
            missing.retain(|id| !self.has_object(*id));
            if missing.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The same for the files at `paths` that are read from `head` because the working tree lacks them.
    ///
    /// # Errors
    /// When a tree cannot be read or git cannot be started.
    pub fn fetch_present<'p>(
        &self,
        head: Option<ObjectId>,
        paths: impl IntoIterator<Item = &'p BStr>,
    ) -> Result<()> {
        if !self.may_fetch || !self.is_partial() {
            return Ok(());
        }
        let mut blobs = Vec::new();
        for path in paths {
            blobs.extend(self.present_blob(head, path)?);
        }
        self.fetch_promised(blobs)
    }

    /// The same for the versions that the file at `path` had in the history of `commit` under this name.
    pub(crate) fn fetch_versions(&self, commit: ObjectId, path: &BStr) -> Result<()> {
        if !self.may_fetch || !self.is_partial() {
            return Ok(());
        }
        let commit = commit.to_string();
        let mut args: Vec<&OsStr> =
            ["rev-list", "--objects", "--missing=print", &commit, "--"].map(OsStr::new).to_vec();
        // Every other way would let git take the name for a pattern.
        let literal = BString::from([&b":(literal,top)"[..], path].concat());
        args.push(literal.to_os_str().map_err(|_| GitError::Process {
            command: "rev-list".to_owned(),
            stderr: "the file's name cannot be passed to a process".to_owned(),
        })?);
        let listed = process::git_reading(self, &args)?;
        let missing = listed.lines().filter_map(|line| ObjectId::from_hex(line.strip_prefix(b"?")?).ok());
        self.fetch_promised(missing)
    }
}
