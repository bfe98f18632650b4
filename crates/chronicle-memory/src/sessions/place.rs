//! Which project a session belongs to, and which folders are left out.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use chronicle_search::{Project, SqlResult, Transaction};
use chronicle_sessions::Belongs;
use chronicle_workplace::{Error, real};
use schemars::JsonSchema;
use serde::Serialize;

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
        let project = Project::obtain(tx, &home.key, &home.name)?;
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
    let project = Project::obtain(tx, &home.key, &home.name)?;
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
    let project = Project::obtain(tx, &home.key, &home.name)?;
    project.take_folder(tx, told)?;
    Ok(project)
}

/// The folder of a session: the one it told, else the one that its agent keeps a list of, else that of the transcript.
fn told_folder(folder: &str, transcript: &Path) -> String {
    if !folder.is_empty() {
        return folder.trim_end_matches('/').to_owned();
    }
    let parent = transcript.parent().unwrap_or(transcript);
    let slug_folder = parent.parent().filter(|_| parent.file_name().is_some_and(|name| name == "chats"));
    let listed = slug_folder.and_then(gemini_folder).or_else(|| kimi_folder(transcript));
    listed.or_else(|| cursor_folder(transcript)).unwrap_or_else(|| parent.to_string_lossy().into_owned())
}

/// Kimi Code keeps the folder of a session in a file of its own.
fn kimi_folder(transcript: &Path) -> Option<String> {
    let is_wire = transcript.file_name().is_some_and(|name| name == "wire.jsonl");
    let session = transcript.parent()?.parent()?.parent().filter(|_| is_wire)?;
    let state: serde_json::Value =
        serde_json::from_slice(&std::fs::read(session.join("state.json")).ok()?).ok()?;
    state.get("workDir")?.as_str().filter(|folder| !folder.is_empty()).map(str::to_owned)
}

/// Cursor names the folder of a project's transcripts by its path, with dashes for everything that is no letter or
/// digit. The folder on disk with that name is it; where none is, the folder of transcripts stands for it.
fn cursor_folder(transcript: &Path) -> Option<String> {
    let above = transcript.ancestors().find(|above| above.ends_with("agent-transcripts"))?;
    let project = above.parent()?;
    let slug = project.file_name()?.to_str()?;
    let found = folder_of_slug(Path::new("/"), slug);
    Some(found.unwrap_or_else(|| project.to_owned()).to_string_lossy().into_owned())
}

/// The folder that a text of Claude Code's memory is about: it is in `projects/SLUG/memory`.
pub(crate) fn folder_of_memory(text: &Path) -> Option<PathBuf> {
    let memory = text.parent().filter(|folder| folder.ends_with("memory"))?;
    let slug = memory.parent()?.file_name()?.to_str()?;
    folder_of_slug(Path::new("/"), slug.strip_prefix('-')?)
}

/// The project of a folder, which is made where it is new.
pub(crate) fn project_of_folder(tx: &Transaction<'_>, folder: &str) -> SqlResult<Project> {
    match Placer::default().place(tx, folder, Path::new(folder))? {
        Belongs::To(project, _) => Ok(project),
        // Who imports asks for it.
        Belongs::Nowhere => {
            let home = Home::of_folder(Path::new(folder));
            Project::obtain(tx, &home.key, &home.name)
        }
    }
}

/// The folder below `folder` whose path is written as `slug`; of several, the one that is a repository. A repository may
/// bring folders whose path is written like that of another project: where no rule tells them apart, it is none.
fn folder_of_slug(folder: &Path, slug: &str) -> Option<PathBuf> {
    let (mut n_looked_at, mut found) = (0, Vec::new());
    folders_of_slug(folder, slug, &mut n_looked_at, &mut found);
    if MOST_LOOKED_AT < n_looked_at {
        // There may be others.
        return None;
    }
    // A link to a folder is that folder.
    let mut known = Vec::new();
    found.retain(|folder| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let is_new = !known.contains(&real);
        known.push(real);
        is_new
    });
    let repositories: Vec<&PathBuf> = found.iter().filter(|folder| folder.join(".git").exists()).collect();
    match (&found[..], &repositories[..]) {
        ([only], _) => Some(only.clone()),
        (_, [only]) => Some((*only).clone()),
        _ => None,
    }
}

/// How many folders are looked at for one.
const MOST_LOOKED_AT: usize = 20_000;

fn folders_of_slug(folder: &Path, slug: &str, n_looked_at: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        *n_looked_at += 1;
        if MOST_LOOKED_AT < *n_looked_at {
            return;
        }
        let name = entry.file_name();
        let written: String = name
            .to_string_lossy()
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        let Some(rest) = slug.strip_prefix(written.trim_start_matches('-')).filter(|_| entry.path().is_dir())
        else {
            continue;
        };
        if rest.is_empty() {
            found.push(entry.path());
        } else if let Some(rest) = rest.strip_prefix('-') {
            folders_of_slug(&entry.path(), rest.trim_start_matches('-'), n_looked_at, found);
        }
    }
}

/// Gemini CLI names the folder of a project's sessions by a word that it keeps in a list.
fn gemini_folder(slug_folder: &Path) -> Option<String> {
    let slug = slug_folder.file_name()?.to_str()?;
    let list = slug_folder.parent()?.parent()?.join("projects.json");
    let list: serde_json::Value = serde_json::from_slice(&std::fs::read(list).ok()?).ok()?;
    let projects = list.get("projects").unwrap_or(&list).as_object()?;
    projects.iter().find(|(_, word)| word.as_str() == Some(slug)).map(|(folder, _)| folder.clone())
}
