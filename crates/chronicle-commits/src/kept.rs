//! Small results that are costly to make, kept in files of their own under a hash of what they were made of.

use std::{
    cell::OnceCell,
    io,
    path::{Path, PathBuf},
};

use chronicle_facts::{FORMAT, Facts};
use chronicle_git::{Glance, Repository, TrustStamp, frame_stamp, state_path};
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::{
    blames::Blames,
    error::Result,
    index::table::{Table, TableWriter, Value},
    outlines::Outlines,
    past::fill::Progress,
    reformatted::Reformatted,
    retire::Retired,
    summaries::Summaries,
};

/// The directories, within the state directory of a repository, of all that is derived from notes and history: it may go
/// at any time, and has to where words are purged.
pub const DERIVED: [&str; 11] = [
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
    "summaries",
];

/// What is kept beside the index.
#[derive(Debug)]
pub struct Caches {
    /// Outlines of files.
    pub outlines: Outlines,
    /// Who wrote each line of files.
    pub blames: Blames,
    /// Who took lines away.
    pub retired: Retired,
    /// Where code is that was reformatted.
    pub reformatted: Reformatted,
    /// Summaries of directories.
    pub summaries: Summaries,
    /// What never changes about commits and notes; `None` where answers don't come from it.
    pub(crate) facts: Option<KeptFacts>,
}

impl Caches {
    /// Kept in that place, or not beyond the life of this value.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self {
            outlines: Outlines::new(place),
            blames: Blames::new(place),
            retired: Retired::new(place),
            reformatted: Reformatted::new(place),
            summaries: Summaries::new(place),
            facts: None,
        }
    }

    /// The same, where answers come from facts, kept in that place if there is one.
    #[must_use]
    pub fn with_facts(self, place: Option<&CachePlace>, progress: Option<Progress>) -> Self {
        Self { facts: Some(KeptFacts { place: place.cloned(), progress, opened: OnceCell::new() }), ..self }
    }
}

/// Facts, once they are asked for.
#[derive(Debug)]
pub(crate) struct KeptFacts {
    place: Option<CachePlace>,
    /// Shows how far filling is.
    pub(crate) progress: Option<Progress>,
    opened: OnceCell<Facts>,
}

impl KeptFacts {
    /// The facts: those in the file, or in memory where there can be none.
    pub(crate) fn get(&self) -> Result<&Facts> {
        if self.opened.get().is_none() {
            let file = self.place.as_ref().and_then(CachePlace::facts_file);
            let opened = match file.map(|file| Facts::open(&file)) {
                Some(Ok(facts)) => facts,
                _ => Facts::in_memory()?,
            };
            let _first = self.opened.set(opened);
        }
        Ok(self.opened.get().expect("it was opened"))
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

const VALUE: &[u8] = b"value";
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

    /// What was kept under `hash`, if it is whole.
    pub(crate) fn get(&self, hash: u128) -> Option<Value> {
        Table::open(&Self::file(self.directory()?, hash))?.get(VALUE)
    }

    /// What `look` makes of what was kept under `hash`, if it is whole: it need not outlast it.
    pub(crate) fn with<T>(&self, hash: u128, look: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        Table::open(&Self::file(self.directory()?, hash))?.with(VALUE, look)
    }

    /// Keeps `bytes`; what cannot be kept is made again.
    pub(crate) fn put(&self, hash: u128, bytes: &[u8]) {
        if let Some(directory) = self.directory() {
            let _kept = put(directory, hash, bytes);
        }
    }

    /// Forgets all but the `n` newest results.
    pub(crate) fn forget_but(&self, n: usize) {
        if let Some(directory) = self.directory() {
            let _forgotten = forget_old(directory, n, n);
        }
    }
}

fn put(directory: &Path, hash: u128, bytes: &[u8]) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let temporary = tempfile::Builder::new().prefix("new-").tempfile_in(directory)?;
    let mut writer = TableWriter::new(temporary)?;
    writer.value(VALUE, bytes)?;
    writer.finish()?.persist(Kept::file(directory, hash))?;
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
