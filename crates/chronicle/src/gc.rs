//! Tidies away notes whose commits are gone.

use std::path::PathBuf;

use chronicle_commits::{gc, reconcile::Effort};
use chronicle_core::counted;
use chronicle_git::Repository;
use chronicle_workplace::{Error, error::WriteOutputSnafu};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ResultExt;

use crate::{Chronicle, rewrite};

/// What was tidied away.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GcReply {
    /// Always `chronicle-gc/v1`.
    pub schema: &'static str,
    /// Whether nothing was changed on purpose.
    pub dry_run: bool,
    /// Commits that nobody reaches, whose lessons all stand on others: their notes go.
    pub carried: Vec<String>,
    /// Commits that nobody reaches, whose notes say what nothing else says: they stay.
    pub kept: Vec<String>,
    /// How many notes went.
    pub removed: usize,
    /// The bundle that holds all notes as they were before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// Remarks.
    pub warnings: Vec<String>,
}

impl Chronicle {
    /// Takes away the notes on commits that nobody reaches and whose lessons all stand on others.
    ///
    /// # Errors
    /// When the repository cannot be read, or the backup or the notes cannot be written. Nothing is taken away then.
    pub fn gc(&self, dry_run: bool) -> Result<GcReply, Error> {
        let repository = self.workplace.repository()?;
        let swept = if dry_run { Vec::new() } else { self.sweep(repository) };
        // What was rewritten where no hook saw it is carried first.
        let reconciled = self.reconcile(Effort::Whole, dry_run)?;
        let orphans = gc::orphans(repository)?;
        let mut reply = GcReply {
            schema: "chronicle-gc/v1",
            dry_run,
            carried: orphans.carried.keys().map(ToString::to_string).collect(),
            kept: orphans.only_here.iter().map(ToString::to_string).collect(),
            removed: 0,
            backup: None,
            warnings: reconciled.warnings,
        };
        reply.warnings.extend(swept.iter().map(|file| rewrite::removed(file)));
        if dry_run && !reconciled.matches.is_empty() {
            let n = reconciled.matches.len();
            reply.warnings.push(format!(
                "{} of rewritten commits would be carried first, and could go then",
                counted(n, "note")
            ));
        }
        if dry_run || orphans.carried.is_empty() {
            return Ok(reply);
        }
        let directory = backups(repository)?;
        repository.make_state_dir(&directory).context(WriteOutputSnafu { path: &directory })?;
        let directory = std::path::absolute(&directory).context(WriteOutputSnafu { path: &directory })?;
        let backup = directory.join(format!("notes-{}.bundle", chronicle_workplace::new_id()));
        let (removed, recovered) = gc::take_away(repository, &orphans.carried, &backup)?;
        reply.warnings.extend(recovered.iter().map(|file| rewrite::removed(file)));
        (reply.removed, reply.backup) = (removed, Some(backup));
        Ok(reply)
    }
}

/// Where bundles of the notes that `gc` removed are kept.
fn backups(repository: &Repository) -> Result<PathBuf, Error> {
    Ok(repository.shared_state("backup")?)
}

/// Removes the bundles: they hold the words of a purged lesson, and can't be rewritten.
pub(crate) fn remove_backups(repository: &Repository) -> Result<(), Error> {
    let path = backups(repository)?;
    match std::fs::remove_dir_all(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.context(WriteOutputSnafu { path }),
    }
}
