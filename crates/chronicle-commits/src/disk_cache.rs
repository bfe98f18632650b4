//! Small results that are costly to make, kept in files of their own under a hash of what they were made of.

use std::{
    cell::OnceCell,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use chronicle_facts::{FORMAT, Facts};
use chronicle_git::{Glance, Repository, TrustStamp, files, frame_stamp, state_path};
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::error::{CommitsError, Result};

/// The directories, within the state directory of a repository, of all that is derived from notes and history: it may go
/// at any time, and has to where words are purged.
pub const DERIVED: [&str; 12] = [
    "anchors",
    "blames",
    "facts",
    "index",
    "outlines",
    "recap-first",
    "recap-whole",
    "reconciled",
    "reformatted",
    "retired",
    "went",
    "summaries",
];

/// What a long look is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The history: what commits did to files.
    Commits,
    /// The files that are asked about.
    Files,
}

/// Called now and then while much is read, with how many of what are done and how many there are.
pub type Progress = fn(Work, usize, usize);

/// Facts, once they are asked for.
#[derive(Debug)]
pub(crate) struct KeptFacts {
    place: Option<CachePlace>,
    /// Shows how far filling is.
    pub(crate) progress: Option<Progress>,
    opened: OnceCell<Facts>,
    /// Facts in memory, once the file could not be used.
    instead: OnceCell<Facts>,
}

impl KeptFacts {
    pub(crate) fn new(place: Option<&CachePlace>, progress: Option<Progress>) -> Self {
        Self { place: place.cloned(), progress, opened: OnceCell::new(), instead: OnceCell::new() }
    }

    /// What `ask` makes of facts; where their file cannot be used, of facts in memory: the answer is the same.
    pub(crate) fn asked<T>(&self, ask: impl Fn() -> Result<T>) -> Result<T> {
        match ask() {
            Err(CommitsError::Facts { source }) if self.instead.get().is_none() => {
                if let (true, Some(file)) = (source.is_damage(), self.file()) {
                    // Nothing in it is anybody's work.
                    let _gone = std::fs::remove_file(file);
                }
                let _first = self.instead.set(Facts::in_memory()?);
                ask()
            }
            answered => answered,
        }
    }

    /// Their file; `None` where there can be none, or where something else is in its place.
    fn file(&self) -> Option<PathBuf> {
        let file = self.place.as_ref()?.facts_file()?;
        std::fs::symlink_metadata(&file).map_or(true, |metadata| is_ours(&metadata)).then_some(file)
    }

    /// The facts: those in the file, or in memory where there can be none.
    pub(crate) fn get(&self) -> Result<&Facts> {
        if let Some(instead) = self.instead.get() {
            return Ok(instead);
        }
        if self.opened.get().is_none() {
            let file = self.file();
            if let Some(file) = file.as_deref().filter(|file| !file.exists()) {
                sweep(file);
            }
            let opened = match file.map(|file| Facts::open(&file)) {
                Some(Ok(facts)) => facts,
                _ => Facts::in_memory()?,
            };
            let _first = self.opened.set(opened);
        }
        Ok(self.opened.get().expect("it was opened"))
    }
}

/// So long a file of facts stays that nothing was stored in.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// Removes files of facts next to `file` that are out of use: those of other formats and frames.
fn sweep(file: &Path) {
    let others = file.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    for other in others.filter_map(std::result::Result::ok) {
        let age = other.metadata().and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| UNUSED < age)) {
            // Nothing in it is anybody's work, and another process may have removed it.
            let _gone = std::fs::remove_file(other.path());
        }
    }
}

/// Where a user's results are kept in a repository. The name of the folder is a secret of the user's, so a repository
/// that was copied or unpacked brings no result that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePlace {
    pub(crate) common_dir: PathBuf,
    user: String,
}

impl CachePlace {
    /// That of the user with this stamp in the repository with this common directory.
    pub(crate) fn new(common_dir: &Path, trust: &TrustStamp) -> Self {
        Self {
            common_dir: common_dir.to_owned(),
            user: format!("{:032x}", XxHash3_128::oneshot(&trust.place)),
        }
    }

    /// In the repository that `glance` saw; `None` where nothing of the user is recorded.
    #[must_use]
    pub fn seen(glance: &Glance) -> Option<Self> {
        Some(Self::new(&glance.common_dir, glance.trust()?))
    }

    /// In that repository; `None` where nothing of the user is recorded.
    #[must_use]
    pub fn of(repository: &Repository) -> Option<Self> {
        Some(Self::new(repository.common_dir(), &repository.trust_stamp()?))
    }

    /// The file of facts: another one where history begins elsewhere, or other objects stand in for some.
    fn facts_file(&self) -> Option<PathBuf> {
        let folder = self.folder("facts")?;
        std::fs::create_dir_all(&folder).ok()?;
        let frame = XxHash3_64::oneshot(&frame_stamp(&self.common_dir));
        Some(folder.join(format!("facts-{FORMAT}-{frame:016x}.db")))
    }

    /// The folder for this `kind`, unless a link leads elsewhere: to a folder of the user's, perhaps.
    pub(crate) fn folder(&self, kind: &str) -> Option<PathBuf> {
        state_path(&self.common_dir, &format!("{kind}/{}", self.user)).ok()
    }
}

/// A directory of kept results; without one, nothing is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    kind: &'static str,
    place: Option<CachePlace>,
    /// Its folder, once it was asked for: most commands keep few kinds of results.
    directory: OnceCell<Option<PathBuf>>,
}

/// Results that are kept; when there are more, half as many stay.
const MAX_KEPT: usize = 2000;

impl Kept {
    /// The results of this `kind` that are kept in that place.
    pub(crate) fn new(place: Option<&CachePlace>, kind: &'static str) -> Self {
        debug_assert!(DERIVED.contains(&kind), "a purge has to know of `{kind}`");
        Self { kind, place: place.cloned(), directory: OnceCell::new() }
    }

    fn directory(&self) -> Option<&Path> {
        self.directory.get_or_init(|| self.place.as_ref()?.folder(self.kind)).as_deref()
    }

    /// Whether anything can be kept.
    pub(crate) fn is_on(&self) -> bool {
        self.directory().is_some()
    }

    fn file(directory: &Path, hash: u128) -> PathBuf {
        directory.join(format!("{hash:032x}.idx"))
    }

    /// What was kept under `hash`, if it is whole and the user's own.
    pub(crate) fn get(&self, hash: u128) -> Option<Vec<u8>> {
        let path = Self::file(self.directory()?, hash);
        if !is_ours(&std::fs::symlink_metadata(&path).ok()?) {
            return None;
        }
        let mut bytes = files::read(&path, files::MAX_BYTES).ok()?;
        let check = bytes.split_off(bytes.len().checked_sub(CHECK)?);
        (check == checked(&bytes)).then_some(bytes)
    }

    /// What `look` makes of what was kept under `hash`, if it is whole.
    pub(crate) fn with<T>(&self, hash: u128, look: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        look(&self.get(hash)?)
    }

    /// Keeps `bytes`; what cannot be kept is made again.
    pub(crate) fn put(&self, hash: u128, bytes: &[u8]) {
        if let Some(directory) = self.directory() {
            let _kept = put(directory, hash, bytes);
        }
    }
}

/// How many bytes tell whether a result is whole; they come last.
const CHECK: usize = 8;

fn checked(bytes: &[u8]) -> [u8; CHECK] {
    XxHash3_64::oneshot(bytes).to_le_bytes()
}

/// Whether the user wrote the file: what others put there is not believed.
#[cfg(unix)]
fn is_ours(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(metadata: &std::fs::Metadata) -> bool {
    metadata.is_file()
}

fn put(directory: &Path, hash: u128, bytes: &[u8]) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let mut temporary = tempfile::Builder::new().prefix("new-").tempfile_in(directory)?;
    temporary.write_all(bytes)?;
    temporary.write_all(&checked(bytes))?;
    temporary.persist(Kept::file(directory, hash))?;
    // Looking at all of them each time would cost more than it saves.
    if hash.is_multiple_of(64) { forget_old(directory, MAX_KEPT, MAX_KEPT / 2) } else { Ok(()) }
}

/// Forgets all but the `n_left` newest results in `directory` when there are more than `most`.
fn forget_old(directory: &Path, most: usize, n_left: usize) -> io::Result<()> {
    let mut kept: Vec<_> = std::fs::read_dir(directory)?
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if most < kept.len() {
        kept.sort_unstable();
        for (_, path) in &kept[..kept.len() - n_left] {
            // Someone else may have removed it.
            let _removed = std::fs::remove_file(path);
        }
    }
    Ok(())
}

/// Changes with what is kept by [`state_hash`] and with who is named in it.
const STATE_VERSION: u64 = 1;

/// A hash of the state of the repository that `glance` saw: HEAD, what the notes refs point at, where history ends or is
/// replaced, what branches may reach, and whose notes are trusted.
pub(crate) fn state_hash(glance: &Glance) -> Option<u128> {
    let trust = glance.trust()?;
    let mut state =
        [glance.head.as_slice(), glance.frame_stamp(), &trust.state, glance.tips_stamp()].join(&0);
    for (name, id) in &glance.notes {
        state.extend([name.as_slice(), &[0], id.as_slice()].concat());
    }
    state.extend_from_slice(&trust.place);
    Some(XxHash3_128::oneshot_with_seed(STATE_VERSION, &state))
}
