//! Session memory: where it is kept, and which project a question is about.

use std::path::{Path, PathBuf};

use chronicle_core::{distance, redaction::cleaned};
use chronicle_git::{Checkout, files::is_of_another_account};
use chronicle_search::{Connection, Project, SqlResult, Store};
use snafu::{OptionExt, ensure};

use crate::{
    Chronicle, Error,
    error::{HomeOfAnotherSnafu, NoHomeSnafu, SeveralProjectsSnafu, UnknownProjectSnafu},
};

/// The file of the store within the home of session memory.
const STORE_FILE: &str = "chronicle.db";

/// Session memory, opened.
pub(crate) struct Memory {
    pub(crate) store: Store,
}

/// The sessions and threads that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of one project.
    One(Project),
    /// Those of every project.
    All,
    /// Those of a folder that session memory knows nothing of.
    Unknown,
}

impl Scope {
    /// The project, if it is about one; none for all of them.
    pub(crate) fn project(&self) -> Option<chronicle_search::ProjectId> {
        match self {
            Self::One(project) => Some(project.id),
            Self::All | Self::Unknown => None,
        }
    }
}

/// Which project a folder belongs to, as far as the folder itself tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    /// What the project is known by for good.
    pub(crate) key: String,
    /// How it is called.
    pub(crate) name: String,
    /// The top of the working tree, or the folder itself.
    pub(crate) folder: PathBuf,
}

impl Chronicle {
    /// The folder that holds session memory: `CHRONICLE_HOME`, or one in the platform's data directory.
    ///
    /// # Errors
    /// When nothing says where that is, or a repository may have had that said.
    pub fn memory_home(&self) -> Result<PathBuf, Error> {
        if let Some(home) = self.home.get() {
            return Ok(home.clone());
        }
        let home = self.named_memory_home()?;
        // A folder that is yet to be made is its maker's, and in the hands of who owns the one above.
        let there = home.ancestors().find(|folder| folder.exists());
        ensure!(!there.is_some_and(is_of_another_account), HomeOfAnotherSnafu { home });
        Ok(self.home.get_or_init(|| home).clone())
    }

    fn named_memory_home(&self) -> Result<PathBuf, Error> {
        let variable =
            |name: &str| (self.environment)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(home) = variable("CHRONICLE_HOME") {
            return self.outside(home, "CHRONICLE_HOME");
        }
        let xdg = || variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
        if cfg!(windows) {
            let data = variable("LOCALAPPDATA").context(NoHomeSnafu)?;
            return Ok(self.outside(data, "LOCALAPPDATA")?.join("chronicle"));
        }
        if let Some(data) = (!cfg!(target_os = "macos")).then(xdg).flatten() {
            return Ok(self.outside(data, "XDG_DATA_HOME")?.join("chronicle"));
        }
        let home = self.outside(variable("HOME").context(NoHomeSnafu)?, "HOME")?;
        let data = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        Ok(home.join(data).join("chronicle"))
    }

    /// Session memory, to ask it something; none where nothing was ever remembered.
    pub(crate) fn memory(&self) -> Result<Option<Memory>, Error> {
        let home = self.memory_home()?;
        let store = Store::open(&home.join(STORE_FILE))?;
        Ok(store.map(|store| Memory { store }))
    }

    /// Session memory, to tell it something.
    pub(crate) fn memory_to_write(&self) -> Result<Memory, Error> {
        let home = self.memory_home()?;
        let store = Store::create(&home.join(STORE_FILE))?;
        Ok(Memory { store })
    }

    /// What a question is about: the current project, the one that is named, or all.
    pub(crate) fn memory_scope(
        &self,
        memory: &Memory,
        named: Option<&str>,
        is_all: bool,
    ) -> Result<Scope, Error> {
        match named {
            _ if is_all => Ok(Scope::All),
            Some(name) => memory.named(name, &self.directory).map(Scope::One),
            None => Ok(memory.project_of(&self.directory)?.map_or(Scope::Unknown, Scope::One)),
        }
    }

    /// The project that this command runs in, which is made where it is new.
    pub(crate) fn project_to_write(&self, memory: &mut Memory) -> Result<Project, Error> {
        if let Some(known) = memory.project_of(&self.directory)? {
            return Ok(known);
        }
        Ok(memory.store.write(|tx| {
            let home = Home::of(tx, &self.directory, Some(&Self::new_id().0))?;
            let folder = home.folder.to_string_lossy().into_owned();
            let project = Project::obtain(tx, &home.key, &home.name)?;
            project.take_folder(tx, &folder)?;
            Ok(project)
        })?)
    }

    /// The branch that is checked out here.
    pub(crate) fn current_branch(&self) -> Option<String> {
        let branch = Checkout::of(&self.directory)?.branch()?;
        Some(cleaned(&branch).0.into_owned())
    }
}

impl Home {
    /// What `folder` tells of its project: the repository that it is in, or itself. A copy of a repository that is known, such
    /// as an archive that brings an id, is a project of its own.
    ///
    /// A repository without an id gets `new_id`, if there is one.
    pub(crate) fn of(connection: &Connection, folder: &Path, new_id: Option<&str>) -> SqlResult<Self> {
        let Some(checkout) = Checkout::of(folder) else { return Ok(Self::of_folder(folder)) };
        let id = match new_id {
            Some(new) => checkout.obtain_id(new),
            None => checkout.id(),
        };
        let id = match id {
            Some(id) if is_copy(connection, &checkout, &id)? => None,
            id => id,
        };
        let key = id.map_or_else(
            || format!("path:{}", checkout.common_dir.to_string_lossy()),
            |id| format!("id:{id}"),
        );
        Ok(Self { key, name: cleaned(&checkout.name()).0.into_owned(), folder: checkout.root })
    }

    /// A folder that is in no repository.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = folder.to_string_lossy();
        let name = folder.file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy());
        let name = cleaned(&name).0.into_owned();
        Self { key: format!("path:{path}"), name, folder: folder.clone() }
    }
}

/// Folders of a project that are looked at.
const MOST_FOLDERS: usize = 64;

/// Whether the project with this id is known in other places, which are still repositories with it, and not in this one.
fn is_copy(connection: &Connection, checkout: &Checkout, id: &str) -> SqlResult<bool> {
    let Some(project) = Project::by_key(connection, &format!("id:{id}"))? else { return Ok(false) };
    let folders = project.folders(connection)?;
    if folders.iter().any(|folder| Path::new(folder) == checkout.root) {
        return Ok(false);
    }
    let others = folders.iter().take(MOST_FOLDERS).filter_map(|folder| Checkout::of(Path::new(folder)));
    let others: Vec<Checkout> = others.filter(|other| other.id().as_deref() == Some(id)).collect();
    Ok(!others.is_empty() && others.iter().all(|other| other.common_dir != checkout.common_dir))
}

impl Memory {
    /// The project that `directory` belongs to, if it has one.
    pub(crate) fn project_of(&self, directory: &Path) -> Result<Option<Project>, Error> {
        let named = directory;
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Ok(self.store.read(|connection| {
            let home = Home::of(connection, named, None)?;
            if let Some(project) = Project::by_key(connection, &home.key)? {
                return Ok(Some(project));
            }
            // A folder of its own, and every folder above it up to the top of its working tree.
            for folder in directory.ancestors() {
                if let Some(project) = Project::by_folder(connection, &folder.to_string_lossy())? {
                    return Ok(Some(project));
                }
                if folder == home.folder {
                    break;
                }
            }
            Ok(None)
        })?)
    }

    /// The project that `name` means: a folder, or a name that only one has.
    fn named(&self, name: &str, directory: &Path) -> Result<Project, Error> {
        let folder = directory.join(name);
        let is_path = name.contains(['/', '\\']) || name == "." || name == "..";
        if (is_path || folder.is_dir())
            && let Some(project) = self.project_of(&folder)?
        {
            return Ok(project);
        }
        let all = self.store.read(Project::all)?;
        let mut called: Vec<Project> = all
            .iter()
            .filter(|project| {
                project.name == name || project.key == name || project.key == format!("path:{name}")
            })
            .cloned()
            .collect();
        match called.len() {
            1 => Ok(called.remove(0)),
            0 => {
                let names = all.iter().map(|project| project.name.as_str());
                UnknownProjectSnafu { name, closest: nearest(name, names) }.fail()
            }
            _ => {
                let folders = called.iter().map(|project| {
                    let folders = self.store.read(|connection| project.folders(connection));
                    folders
                        .ok()
                        .and_then(|folders| folders.into_iter().next())
                        .unwrap_or_else(|| project.key.clone())
                });
                SeveralProjectsSnafu { name, folders: folders.collect::<Vec<_>>() }.fail()
            }
        }
    }
}

/// The names that come closest to one that nobody has.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let near = distance::within(name, names, 3);
    let mut near: Vec<String> = near.into_iter().map(str::to_owned).collect();
    near.dedup();
    near.truncate(3);
    near
}
