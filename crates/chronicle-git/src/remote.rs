//! Remotes: what is configured, and git's own fetch and push for our refs.

use std::collections::BTreeSet;

use gix::{ObjectId, bstr::ByteSlice};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, ObjectSnafu, Result},
    process::git_talking,
    refs::UpdateFailed,
};

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has everything now.
    Done,
    /// Others were faster: fetch, merge and try again.
    Outrun,
}

/// What a remote answers when the ref moved since it was looked at.
const OUTRUN: [&str; 9] = [
    "fetch first",
    "non-fast-forward",
    "stale info",
    "already exists",
    "failed to update ref",
    "cannot lock ref",
    "failed to lock",
    "incorrect old value",
    "reference already exists",
];

/// Where the refs of a remote are kept once they are fetched.
#[must_use]
pub fn tracking_prefix(remote: &str) -> String {
    format!("refs/notes/remotes/{remote}/")
}

/// The setting that makes git itself fetch our refs. A pattern, because git fails on a single ref that the
/// remote lacks.
#[must_use]
pub fn notes_refspec(remote: &str) -> String {
    format!("+refs/notes/chronicle*:{}chronicle*", tracking_prefix(remote))
}

impl Repository {
    /// The names of the remotes that have an address, in order.
    #[must_use]
    pub fn remotes(&self) -> Vec<String> {
        let snapshot = self.inner.config_snapshot();
        let names: BTreeSet<String> = self
            .inner
            .remote_names()
            .into_iter()
            .filter(|name| snapshot.string(format!("remote.{name}.url").as_str()).is_some())
            .filter_map(|name| Some(name.to_str().ok()?.to_owned()))
            .collect();
        names.into_iter().collect()
    }

    /// Every value of a setting such as `remote.origin.fetch`, in order.
    #[must_use]
    pub fn settings(&self, key: &str) -> Vec<String> {
        let values = self.inner.config_snapshot().plumbing().strings(key).unwrap_or_default();
        values.into_iter().map(|value| value.to_str_lossy().into_owned()).collect()
    }

    /// The size of a blob, without reading it.
    ///
    /// # Errors
    /// When it is missing or broken.
    pub fn blob_size(&self, id: ObjectId) -> Result<u64> {
        Ok(self.inner.find_header(id).context(ObjectSnafu { id })?.size())
    }

    /// Fetches the notes refs of a remote, and forgets those that it no longer has.
    ///
    /// # Errors
    /// When the remote cannot be reached or its refs cannot be written.
    pub fn fetch_notes(&self, remote: &str) -> Result<()> {
        self.fetch(remote, &notes_refspec(remote), &["--prune"])
    }

    /// Fetches one ref of a remote, configured or an address, as `to`; `false` when the remote does not have it.
    ///
    /// # Errors
    /// When the remote cannot be reached.
    pub fn fetch_as(&self, remote: &str, from: &str, to: &str) -> Result<bool> {
        match self.fetch(remote, &format!("+{from}:{to}"), &[]) {
            Err(GitError::Fetch { reason, .. }) if reason.contains("couldn't find remote ref") => Ok(false),
            fetched => fetched.map(|()| true),
        }
    }

    fn fetch(&self, remote: &str, refspec: &str, options: &[&str]) -> Result<()> {
        // Whole notes also where blobs are otherwise fetched when needed; nothing but them; no helper that
        // an address could name.
        let always = [
            "-c",
            "protocol.ext.allow=never",
            "-c",
            "maintenance.auto=false",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-filter",
            "--refmap=",
        ];
        let args = [&always[..], options, &["--", remote, refspec]].concat();
        let ran = git_talking(self.git_dir(), self.work_dir(), &args, b"")?;
        if ran.is_success {
            return Ok(());
        }
        Err(GitError::Fetch { remote: remote.to_owned(), reason: ran.reason() })
    }

    /// Fetches those of `blobs` that a partial clone left out.
    ///
    /// # Errors
    /// When the remote does not give them.
    pub fn fetch_missing(&self, remote: &str, blobs: impl Iterator<Item = ObjectId>) -> Result<()> {
        let missing: BTreeSet<ObjectId> = blobs.filter(|id| !self.has_object(*id)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let wanted: String = missing.iter().map(|id| format!("{id}\n")).collect();
        let args = [
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "-c",
            "maintenance.auto=false",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-filter",
            "--refmap=",
            "--stdin",
            "--",
            remote,
        ];
        let ran = git_talking(self.git_dir(), self.work_dir(), &args, wanted.as_bytes())?;
        match ran.is_success {
            true => Ok(()),
            false => Err(GitError::Fetch { remote: remote.to_owned(), reason: ran.reason() }),
        }
    }

    /// Pushes commits to refs of a remote; never by force: the remote takes what builds on what it has.
    ///
    /// # Errors
    /// When the remote cannot be reached, or refuses for another reason than that others were faster.
    pub fn push_refs(&self, remote: &str, updates: &[(String, ObjectId)]) -> Result<Pushed> {
        let refspecs: Vec<String> = updates.iter().map(|(name, id)| format!("{id}:{name}")).collect();
        let mirror = format!("remote.{remote}.mirror=false");
        // The user's hooks look after the user's branches.
        let mut args: Vec<&str> =
            vec!["-c", &mirror, "push", "--porcelain", "--no-verify", "--no-follow-tags"];
        args.extend(["--recurse-submodules=no", "--", remote]);
        args.extend(refspecs.iter().map(String::as_str));
        let ran = git_talking(self.git_dir(), self.work_dir(), &args, b"")?;
        if ran.is_success {
            return Ok(Pushed::Done);
        }
        let rejected = ran.stdout.lines().filter_map(|line| line.strip_prefix("!\t"));
        for line in rejected.clone() {
            if !OUTRUN.iter().any(|reason| line.contains(reason)) {
                let mut fields = line.split('\t');
                let name = fields.next().and_then(|pair| pair.rsplit_once(':')).map_or("", |(_, name)| name);
                let reason = fields.next().unwrap_or_default().trim_start_matches("[remote rejected] ");
                let reason = reason.trim_matches(['(', ')']).to_owned();
                return Err(GitError::Rejected { remote: remote.to_owned(), name: name.to_owned(), reason });
            }
        }
        match rejected.count() {
            0 => {
                let name = updates.first().map(|(name, _)| name.clone()).unwrap_or_default();
                Err(GitError::Rejected { remote: remote.to_owned(), name, reason: ran.reason() })
            }
            _ => Ok(Pushed::Outrun),
        }
    }

    /// Remembers that `remote` has `id` as its ref `name` now, as git does where it fetches that ref.
    ///
    /// # Errors
    /// When the ref cannot be written.
    pub fn note_pushed(&self, remote: &str, name: &str, id: ObjectId) -> Result<()> {
        let short = name.strip_prefix("refs/notes/").unwrap_or(name);
        let tracking = format!("{}{short}", tracking_prefix(remote));
        let known = self.ref_target(&tracking)?;
        if known == Some(id) {
            return Ok(());
        }
        match self.compare_and_swap(&tracking, known, id, "chronicle: push") {
            // Whoever was faster knows better.
            Ok(()) | Err(UpdateFailed::Contended(_)) => Ok(()),
            Err(UpdateFailed::Fatal(error)) => Err(error),
        }
    }

    /// The blobs that are reachable from `tip` and not from `known`, with the objects that they are notes of.
    ///
    /// # Errors
    /// When git cannot list them.
    pub fn new_notes(&self, tip: ObjectId, known: &[ObjectId]) -> Result<Vec<(ObjectId, ObjectId)>> {
        let revisions: String =
            [format!("{tip}\n")].into_iter().chain(known.iter().map(|id| format!("^{id}\n"))).collect();
        let args = ["rev-list", "--objects", "--stdin"];
        let ran = git_talking(self.git_dir(), self.work_dir(), &args, revisions.as_bytes())?;
        if !ran.is_success {
            return Err(GitError::Process { command: "rev-list".to_owned(), stderr: ran.reason() });
        }
        let note = |line: &str| {
            let (blob, path) = line.split_once(' ')?;
            let key = ObjectId::from_hex(path.replace('/', "").as_bytes()).ok()?;
            Some((ObjectId::from_hex(blob.as_bytes()).ok()?, key))
        };
        Ok(ran.stdout.lines().filter_map(note).collect())
    }
}
