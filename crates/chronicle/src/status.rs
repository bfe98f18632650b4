//! How much is annotated, and what waits to be done.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_commits::{
    Notebook, Staging,
    coverage::{Share, coverage},
    dropped::find_dropped,
    gc,
};
use chronicle_git::Repository;
use chronicle_workplace::{Error, error::NotesDroppedSnafu};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, sync::SyncedRemote};

/// How much is annotated, and what waits to be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Status {
    /// Always `chronicle-status/v1`.
    pub schema: &'static str,
    /// How many objects carry a note.
    pub notes: usize,
    /// The newest commits of HEAD.
    pub coverage: Covered,
    /// Whether there are older commits that were not looked at.
    pub is_cut: bool,
    /// The same for what touched each directory at the root, most commits first.
    pub by_directory: Vec<Covered>,
    /// The same for each author, most commits first.
    pub by_author: Vec<Covered>,
    /// The newest commit that is annotated.
    pub newest_annotated: Option<String>,
    /// Notes on commits that nobody reaches, and how many of them only repeat what stands elsewhere.
    pub orphans: usize,
    /// See `orphans`.
    pub orphans_carried: usize,
    /// Notes that another program dropped by mistake, and that `reconcile` brings back.
    pub dropped: usize,
    /// How far we and the remotes are apart.
    pub remotes: Vec<SyncedRemote>,
    /// Remarks that wait for their commit.
    pub staged: usize,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// Commits, and how many of them are annotated.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Covered {
    /// Whose they are.
    pub name: String,
    /// How many there are.
    pub commits: usize,
    /// How many are annotated.
    pub annotated: usize,
}

impl Covered {
    fn new(name: &str, share: Share) -> Self {
        Self { name: name.to_owned(), commits: share.n_commits, annotated: share.n_annotated }
    }
}

impl Chronicle {
    /// How much of the newest `limit` commits is annotated, and what waits to be done.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn status(&self, limit: usize) -> Result<Status, Error> {
        let repository = self.workplace.repository()?;
        let mut warnings = Vec::new();
        let annotated: BTreeSet<_> = Notebook::open(repository, &mut warnings)?.keys().collect();
        let covered = coverage(repository, &annotated, limit)?;
        let orphans = gc::orphans(repository)?;
        let sync = self.remotes().status()?;
        warnings.extend(sync.warnings);
        Ok(Status {
            schema: "chronicle-status/v1",
            notes: annotated.len(),
            coverage: Covered::new("HEAD", covered.all),
            is_cut: covered.is_cut,
            by_directory: largest_first(&covered.by_directory),
            by_author: largest_first(&covered.by_author),
            newest_annotated: covered.newest.map(|id| id.to_string()),
            orphans: orphans.carried.len() + orphans.only_here.len(),
            orphans_carried: orphans.carried.len(),
            dropped: n_dropped(repository)?,
            remotes: sync.remotes,
            staged: Staging::peek(repository)?.len(),
            warnings,
        })
    }
}

/// Makes sure that ids mean what they meant: another program may have put other words in the place of the user's.
pub(crate) fn ensure_nothing_dropped(repository: &Repository) -> Result<(), Error> {
    let n_notes = n_dropped(repository)?;
    snafu::ensure!(n_notes == 0, NotesDroppedSnafu { n_notes });
    Ok(())
}

/// How many notes another program dropped; commits of ours that are in no history any more count as one.
pub(crate) fn n_dropped(repository: &Repository) -> Result<usize, Error> {
    Ok(repository.lost_notes()?.len() + find_dropped(repository)?.len())
}

fn largest_first(shares: &BTreeMap<String, Share>) -> Vec<Covered> {
    let mut covered: Vec<Covered> = shares.iter().map(|(name, share)| Covered::new(name, *share)).collect();
    covered.sort_by_key(|covered| std::cmp::Reverse(covered.commits));
    covered
}
