//! Which project a session belongs to, and which folders are left out.

use std::{collections::BTreeMap, path::Path};

use chronicle_search::{Project, SqlResult, Transaction};
use chronicle_sessions::Belongs;
use chronicle_workplace::{Error, real};
use schemars::JsonSchema;
use serde::Serialize;

use super::companions::told_folder;
use crate::{Memory, memory::Home};

/// The folders whose sessions are not remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcludeReply {
    /// Always `chronicle-excluded/v1`.
    pub schema: &'static str,
    /// Their paths: what is below them counts too.
    pub excluded: Vec<String>,
    /// How many sessions of the folder that was added are remembered still.
    pub n_remembered: usize,
}

impl Memory<'_> {
    /// Lists the folders whose sessions are not remembered, after one was added or taken off.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn exclude_sessions(&self, folder: Option<&Path>, is_off: bool) -> Result<ExcludeReply, Error> {
        let mut memory = self.open_to_write()?;
        let folder = folder.map(|folder| {
            let folder = self.workplace.directory().join(folder);
            folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned()
        });
        let (excluded, n_remembered) = memory.store.write(|tx| {
            let mut n_remembered = 0;
            if let Some(folder) = &folder {
                Project::set_excluded(tx, folder, !is_off)?;
                if !is_off {
                    n_remembered = Project::n_sessions_below(tx, folder)?;
                }
            }
            Ok((Project::excluded(tx)?, n_remembered))
        })?;
        Ok(ExcludeReply { schema: "chronicle-excluded/v1", excluded, n_remembered })
    }
}

/// Finds the projects of folders, each once.
#[derive(Default)]
pub(super) struct Placer {
    homes: BTreeMap<String, Option<Home>>,
    excluded: Option<Vec<String>>,
}

impl Placer {
    /// The project of a session that worked in `folder` and whose transcript is `transcript`.
    pub(super) fn place(
        &mut self,
        tx: &Transaction<'_>,
        folder: &str,
        transcript: &Path,
    ) -> SqlResult<Belongs> {
        let told = told_folder(folder, transcript);
        if self.excluded.is_none() {
            self.excluded = Some(Project::excluded(tx)?);
        }
        // It may have come by a link, or name the folder by way of another one.
        let real = real(Path::new(&told));
        let is_out = |excluded: &String| Path::new(&told).starts_with(excluded) || real.starts_with(excluded);
        if self.excluded.iter().flatten().any(is_out) {
            return Ok(Belongs::Nowhere);
        }
        if !self.homes.contains_key(&told) {
            let path = Path::new(&told);
            // A worktree that was removed was a part of the repository that it lay in.
            let there = if path.is_dir() { Some(path) } else { holder_of_worktree(path) };
            let home =
                there.map(|path| Home::of(tx, path, Some(&chronicle_workplace::new_id().0))).transpose()?;
            let is_repository = |home: &Home| home.key.starts_with("id:");
            let home = home.filter(|home| there == Some(path) || is_repository(home));
            if let Some(home) = home.as_ref().filter(|home| is_repository(home)) {
                adopt_worktrees(tx, home)?;
            }
            self.homes.insert(told.clone(), home);
        }
        let home = self.homes.get(&told).and_then(Option::as_ref);
        let known = Project::by_folder(tx, &told)?;
        let Some(home) = home else {
            // The folder is gone: what was known of it, or of what it lay in, still holds.
            return Ok(Belongs::To(
                match known {
                    Some(known) => known,
                    None => gone(tx, &told)?,
                },
                None,
            ));
        };
        let project = home.project(tx)?;
        if let Some(known) = known.filter(|known| known.id != project.id) {
            // It was taken for a folder of its own until it became a repository, or came back.
            if known.key.starts_with("path:") {
                project.absorb(tx, known.id)?;
            }
        }
        project.take_folder(tx, &home.folder.to_string_lossy())?;
        project.take_folder(tx, &told)?;
        Ok(Belongs::To(project, Some(top(&told, &home.folder))))
    }
}

/// The top of the working tree by the name that a session has for it: it may have come by a link.
fn top(told: &str, folder: &Path) -> String {
    let is_it = |above: &&Path| {
        *above == folder
            || above
                .canonicalize()
                .is_ok_and(|above| folder.canonicalize().is_ok_and(|folder| above == folder))
    };
    Path::new(told).ancestors().find(is_it).unwrap_or(folder).to_string_lossy().into_owned()
}

/// The folder on disk that holds the folder of worktrees in which `path` was: `repo` of `repo/.worktrees/fix`.
fn holder_of_worktree(path: &Path) -> Option<&Path> {
    let mut above = path.ancestors().skip(1);
    let worktrees = above.find(|above| {
        above.file_name().is_some_and(|name| ["worktrees", ".worktrees"].iter().any(|known| name == *known))
    })?;
    let holder = worktrees.parent()?;
    let holder =
        if holder.file_name().is_some_and(|name| name == ".claude") { holder.parent()? } else { holder };
    holder.is_dir().then_some(holder)
}

/// Joins what was taken for projects of their own while `home` was not known: its removed worktrees.
fn adopt_worktrees(tx: &Transaction<'_>, home: &Home) -> SqlResult<()> {
    let split = Project::all(tx)?.into_iter().filter(|other| {
        let folder = other.key.strip_prefix("path:").map(Path::new);
        folder.is_some_and(|folder| !folder.exists() && holder_of_worktree(folder) == Some(&*home.folder))
    });
    let split: Vec<Project> = split.collect();
    if split.is_empty() {
        return Ok(());
    }
    let project = home.project(tx)?;
    split.iter().try_for_each(|other| project.absorb(tx, other.id))
}

/// The project of a folder that is not there: that of the repository it lay in, if that is known.
fn gone(tx: &Transaction<'_>, told: &str) -> SqlResult<Project> {
    for above in Path::new(told).ancestors().skip(1) {
        let known = Project::by_folder(tx, &above.to_string_lossy())?;
        if let Some(known) = known.filter(|known| known.key.starts_with("id:")) {
            known.take_folder(tx, told)?;
            return Ok(known);
        }
    }
    let home = Home::of_folder(Path::new(told));
    let project = home.project(tx)?;
    project.take_folder(tx, told)?;
    Ok(project)
}

/// The project of a folder, which is made where it is new.
pub(crate) fn project_of_folder(tx: &Transaction<'_>, folder: &str) -> SqlResult<Project> {
    match Placer::default().place(tx, folder, Path::new(folder))? {
        Belongs::To(project, _) => Ok(project),
        // Who imports asks for it.
        Belongs::Nowhere => {
            let home = Home::of_folder(Path::new(folder));
            home.project(tx)
        }
    }
}
