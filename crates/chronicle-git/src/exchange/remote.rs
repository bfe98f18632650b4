//! Remotes: what is configured, and git's own fetch and push for our refs.
//!
//! Git fetches the objects only, and tells which refs would move (git 2.41 or newer). We move them: a git
//! that is killed leaves locks that nobody can tell from those of a living one.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use gix::{ObjectId, bstr::ByteSlice, remote::Direction};
use snafu::ResultExt;

use crate::{
    Repository,
    disk::lock::FileLock,
    error::{GitError, ObjectSnafu, Result},
    exchange::tracking::{notes_refspec, tracking_ref},
    process::{Ran, git, git_talking},
    store::{lock_journal::LockJournal, refs::UpdateFailed, update::pause, write_guard::WriteGuard},
};

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has everything now.
    Done,
    /// Others were faster, as the remote says: fetch, merge and try again.
    Outrun(String),
}

/// A ref that has to move, as git tells after a fetch.
struct Move {
    name: String,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

/// No git holds the lock of a ref longer, unless a hook of its user makes it.
const LIFE_OF_A_LOCK: Duration = Duration::from_millis(300);
/// Attempts at a ref of a remote that someone else has locked.
const MAX_MOVES: u32 = 30;
/// Where an older git puts a ref of a remote that we only look at.
const IMPORT_REF: &str = "refs/chronicle/import";

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
        let refspec = notes_refspec(remote);
        let Some(moves) = self.fetch_objects(remote, &refspec, &["--prune"])? else {
            self.fetch(remote, &refspec, &["--quiet", "--prune"])?;
            return self.see_remote(remote, BTreeMap::new());
        };
        let (gone, moved): (Vec<_>, Vec<_>) = moves.into_iter().partition(|moved| moved.new.is_none());
        for moved in gone {
            self.delete_ref(&moved.name)?;
        }
        let mut seen = BTreeMap::new();
        for Move { name, old, new } in moved {
            self.move_tracking_ref(&name, old, new)?;
            seen.extend(new.map(|new| (name, new)));
        }
        self.see_remote(remote, seen)
    }

    /// Fetches what one ref of a remote, configured or an address, points at; `None` when the remote does not
    /// have it.
    ///
    /// # Errors
    /// When the remote cannot be reached.
    pub fn fetch_one(&self, remote: &str, name: &str) -> Result<Option<ObjectId>> {
        let fetched = self.fetch_objects(remote, name, &[]).and_then(|moves| {
            if let Some(moves) = moves {
                return Ok(moves.into_iter().find_map(|moved| moved.new));
            }
            self.fetch(remote, &format!("+{name}:{IMPORT_REF}"), &["--quiet"])?;
            let fetched = self.ref_target(IMPORT_REF)?;
            self.delete_ref(IMPORT_REF)?;
            Ok(fetched)
        });
        match fetched {
            Err(GitError::Fetch { reason, .. }) if reason.contains("couldn't find remote ref") => Ok(None),
            fetched => fetched,
        }
    }

    /// Fetches objects, and returns which refs would have to move; `None` when git is too old to tell.
    fn fetch_objects(&self, remote: &str, refspec: &str, options: &[&str]) -> Result<Option<Vec<Move>>> {
        let telling = [&["--dry-run", "--porcelain"], options].concat();
        match self.fetch(remote, refspec, &telling) {
            Ok(ran) => Ok(Some(ran.stdout.lines().filter_map(parse_move).collect())),
            Err(GitError::Fetch { reason, .. }) if reason.contains("unknown option") => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn fetch(&self, remote: &str, refspec: &str, options: &[&str]) -> Result<Ran> {
        self.run_fetch(&[], options, &["--", remote, refspec], b"")
    }

    /// Lets git fetch whole notes, also where blobs are otherwise fetched when needed, and nothing but them.
    fn run_fetch(&self, settings: &[&str], options: &[&str], what: &[&str], stdin: &[u8]) -> Result<Ran> {
        let always = [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-filter",
            "--refmap=",
        ];
        let remote = what.get(1).copied().unwrap_or_default().to_owned();
        self.ensure_address(&remote, Direction::Fetch)?;
        let args = [settings, &always[..], options, what].concat();
        let ran = git_talking(self, &args, stdin)?;
        if ran.is_success {
            return Ok(ran);
        }
        Err(GitError::Fetch { remote, reason: ran.reason() })
    }

    /// Makes sure that git talks to the address of a configured remote that we know, and to no other one: variables can
    /// tell git what they do not tell us.
    pub(crate) fn ensure_address(&self, remote: &str, direction: Direction) -> Result<()> {
        let Some(meant) = self.url_of(remote, direction) else { return Ok(()) };
        let ask: &[&str] = match direction {
            Direction::Fetch => &["ls-remote", "--get-url", "--", remote],
            Direction::Push => &["remote", "get-url", "--push", "--all", "--", remote],
        };
        let ran = git_talking(self, ask, b"")?;
        let others =
            ran.stdout.lines().map(|url| self.told_address(url)).filter(|url| url.as_ref() != Some(&meant));
        match others.map(Option::unwrap_or_default).next() {
            Some(other) => Err(GitError::OtherAddress { remote: remote.to_owned(), meant, other }),
            None => Ok(()),
        }
    }

    /// Points a ref that stands for one of a remote at `new`, unless someone else was faster and knows better.
    fn move_tracking_ref(&self, name: &str, old: Option<ObjectId>, new: Option<ObjectId>) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        let mut guard = WriteGuard::take(self, name)?;
        for attempt in 0..MAX_MOVES {
            pause(attempt);
            match guard.swap(name, old, new, "chronicle: sync") {
                Ok(()) | Err(UpdateFailed::Contended(GitError::RefMoved { .. })) => break,
                Err(UpdateFailed::Contended(error)) if attempt + 1 == MAX_MOVES => return Err(error),
                Err(UpdateFailed::Contended(_)) => {}
                Err(UpdateFailed::Fatal(error)) => return Err(error),
            }
        }
        guard.store_journal()
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
        let settings = ["-c", "fetch.negotiationAlgorithm=noop"];
        let ran = self.run_fetch(&settings, &["--quiet", "--stdin"], &["--", remote], wanted.as_bytes());
        ran.map(drop)
    }

    /// Pushes commits to refs of a remote; never by force: the remote takes what builds on what it has.
    ///
    /// Git moves the refs that stand for those of the remote, where it is set up to. `lock` remembers them
    /// meanwhile, for whoever holds it after a git that was killed: see [`Repository::recover_push`].
    ///
    /// # Errors
    /// When the remote cannot be reached, or refuses for another reason than that others were faster.
    pub fn push_refs(
        &self,
        lock: &mut FileLock,
        remote: &str,
        updates: &[(String, ObjectId)],
    ) -> Result<Pushed> {
        let swapping = updates.iter().map(|(name, id)| (tracking_ref(remote, name), *id)).collect();
        lock.set_text(&LockJournal { swapping, ..LockJournal::default() }.to_text())?;
        let pushed = self.push_with_git(remote, updates);
        self.recover_push(lock)?;
        pushed
    }

    /// Removes the locks that a killed push left on the refs that stand for those of a remote.
    ///
    /// # Errors
    /// When what the holders of `lock` leave in it cannot be read or written.
    pub fn recover_push(&self, lock: &mut FileLock) -> Result<()> {
        let journal = LockJournal::parse(&lock.text()?);
        if journal.swapping.is_empty() {
            return Ok(());
        }
        // Who died before it wrote into the lock left an empty one.
        let held = |(name, id): &(String, ObjectId)| self.is_lock_of(name, *id) || self.is_empty_lock(name);
        if journal.swapping.iter().any(held) {
            // A git that lives is done in an instant; one whose caller died may live.
            std::thread::sleep(LIFE_OF_A_LOCK);
        }
        for (name, id) in &journal.swapping {
            self.remove_lock_of_dead(name, *id, &mut Vec::new());
            self.remove_empty_lock(name);
        }
        lock.set_text("")
    }

    fn push_with_git(&self, remote: &str, updates: &[(String, ObjectId)]) -> Result<Pushed> {
        self.ensure_address(remote, Direction::Push)?;
        let refspecs: Vec<String> = updates.iter().map(|(name, id)| format!("{id}:{name}")).collect();
        let mirror = format!("remote.{remote}.mirror=false");
        // The user's hooks look after the user's branches.
        let mut args: Vec<&str> =
            vec!["-c", &mirror, "push", "--porcelain", "--no-verify", "--no-follow-tags"];
        args.extend(["--recurse-submodules=no", "--", remote]);
        args.extend(refspecs.iter().map(String::as_str));
        let ran = git_talking(self, &args, b"")?;
        if ran.is_success {
            return Ok(Pushed::Done);
        }
        let mut outrun = None;
        for line in ran.stdout.lines().filter_map(|line| line.strip_prefix("!\t")) {
            let mut fields = line.split('\t');
            let name = fields.next().and_then(|pair| pair.rsplit_once(':')).map_or("", |(_, name)| name);
            let reason = fields.next().unwrap_or_default().trim_start_matches("[remote rejected] ");
            let reason = reason.trim_matches(['(', ')']).to_owned();
            if !OUTRUN.iter().any(|known| line.contains(known)) {
                return Err(GitError::Rejected { remote: remote.to_owned(), name: name.to_owned(), reason });
            }
            outrun = Some(format!("`{name}`: {reason}"));
        }
        match outrun {
            Some(reason) => Ok(Pushed::Outrun(reason)),
            None => {
                let name = updates.first().map(|(name, _)| name.clone()).unwrap_or_default();
                Err(GitError::Rejected { remote: remote.to_owned(), name, reason: ran.reason() })
            }
        }
    }

    /// Remembers that `remote` has `id` as its ref `name` now, as git does where it fetches that ref.
    ///
    /// # Errors
    /// When the ref cannot be written.
    pub fn note_pushed(&self, remote: &str, name: &str, id: ObjectId) -> Result<()> {
        let tracking = tracking_ref(remote, name);
        let known = self.ref_target(&tracking)?;
        if known != Some(id) {
            self.move_tracking_ref(&tracking, known, Some(id))?;
        }
        self.see_remote(remote, BTreeMap::from([(tracking, id)]))
    }

    /// The blobs that are reachable from `tip` and not from `known`, with the objects that they are notes of.
    ///
    /// # Errors
    /// When git cannot list them.
    pub fn new_notes(&self, tip: ObjectId, known: &[ObjectId]) -> Result<Vec<(ObjectId, ObjectId)>> {
        let revisions: String =
            [format!("{tip}\n")].into_iter().chain(known.iter().map(|id| format!("^{id}\n"))).collect();
        let args = ["rev-list", "--objects", "--stdin"];
        let listed = git(self, &args, revisions.as_bytes())?;
        let note = |line: &str| {
            let (blob, path) = line.split_once(' ')?;
            let key = ObjectId::from_hex(path.replace('/', "").as_bytes()).ok()?;
            Some((ObjectId::from_hex(blob.as_bytes()).ok()?, key))
        };
        Ok(String::from_utf8_lossy(&listed).lines().filter_map(note).collect())
    }
}

/// What a line of `git fetch --porcelain` says: a flag, the old and the new object, the ref.
fn parse_move(line: &str) -> Option<Move> {
    let [old, new, name] = line.get(2..)?.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok().map(|id| (!id.is_null()).then_some(id));
    let is_sound = name == "FETCH_HEAD" || name.starts_with(crate::FETCHED_NOTES);
    // A name that is no text came through mangled; it cannot be one of ours.
    let is_sound = is_sound && !name.contains(char::REPLACEMENT_CHARACTER) && !line.starts_with(['!', '=']);
    is_sound.then_some(Move { name: name.to_owned(), old: id(old)?, new: id(new)? })
}
