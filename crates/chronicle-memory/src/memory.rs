//! Session memory: where it is kept, and which project a question is about.

use std::path::{Path, PathBuf};

use chronicle_core::{distance, redaction::cleaned};
use chronicle_git::{Checkout, LazyRepository};
use chronicle_search::{Connection, Project, SqlResult, Store, Transaction};
use chronicle_workplace::{Error, Workplace, error::UnknownProjectSnafu};
use jiff::Timestamp;

/// The file of the store within the home of session memory.
const STORE_FILE: &str = "chronicle.db";

/// The store of session memory, opened.
pub struct OpenMemory {
    /// Its tables.
    pub store: Store,
}

/// The sessions and threads that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of one project.
    One(Project),
    /// Those of every project.
    All,
    /// Those of a folder that session memory has nothing of.
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

/// Session memory, which is the user's: what agents' transcripts say, and what was made of it.
#[derive(Clone, Copy)]
pub struct Memory<'w> {
    pub(crate) workplace: &'w Workplace,
}

impl<'w> Memory<'w> {
    /// Session memory as a command at `workplace` sees it. Nothing is opened yet.
    #[must_use]
    pub fn new(workplace: &'w Workplace) -> Self {
        Self { workplace }
    }
}

impl Memory<'_> {
    /// Session memory, to ask it something; none where nothing was ever remembered.
    pub fn open(&self) -> Result<Option<OpenMemory>, Error> {
        let home = self.workplace.memory_home()?;
        let store = Store::open(&home.join(STORE_FILE))?;
        Ok(store.map(|store| OpenMemory { store }))
    }

    /// Session memory, to tell it something.
    pub(crate) fn open_to_write(&self) -> Result<OpenMemory, Error> {
        let home = self.workplace.memory_home()?;
        let store = Store::create(&home.join(STORE_FILE))?;
        Ok(OpenMemory { store })
    }

    /// What a question is about: the current project, the one that is named, or all.
    pub fn memory_scope(
        &self,
        memory: &OpenMemory,
        named: Option<&str>,
        is_all: bool,
    ) -> Result<Scope, Error> {
        match named {
            _ if is_all => Ok(Scope::All),
            Some(name) => memory.named(name, self.workplace.directory()).map(Scope::One),
            None => Ok(memory.project_of(self.workplace.directory())?.map_or(Scope::Unknown, Scope::One)),
        }
    }

    /// Whether `named`, a name or a folder, is the project that this command runs in.
    ///
    /// # Errors
    /// When it is not known, or the store cannot be read.
    pub fn is_here(&self, named: &str) -> Result<bool, Error> {
        let Some(memory) = self.open()? else { return Ok(false) };
        let here = memory.project_of(self.workplace.directory())?;
        let named = memory.named(named, self.workplace.directory())?;
        Ok(here.is_some_and(|here| here.id == named.id))
    }

    /// The project that this command runs in, which is made where it is new.
    pub(crate) fn project_to_write(&self, memory: &mut OpenMemory) -> Result<Project, Error> {
        if let Some(known) = memory.project_of(self.workplace.directory())? {
            return Ok(known);
        }
        Ok(memory.store.write(|tx| {
            let home = Home::of(tx, self.workplace.directory(), Some(&chronicle_workplace::new_id().0))?;
            let folder = home.folder.to_string_lossy().into_owned();
            let project = home.project(tx)?;
            project.take_folder(tx, &folder)?;
            Ok(project)
        })?)
    }

    /// The repository of a project, in the first of its folders that is there and in it.
    pub(crate) fn repository_of(
        &self,
        memory: &OpenMemory,
        project: &Project,
    ) -> Result<Option<LazyRepository>, Error> {
        let folders = memory.store.read(|connection| project.folders(connection))?;
        for folder in folders {
            let folder = Path::new(&folder);
            let is_its = folder.is_dir()
                && memory.project_of(folder)?.is_some_and(|found| found.id == project.id)
                && Checkout::of(folder).is_some();
            if is_its {
                let repository = LazyRepository::new(folder, self.workplace.now(), true);
                return Ok(Some(repository.with_trust(self.workplace.trust_records())));
            }
        }
        Ok(None)
    }

    /// The branch that is checked out here.
    pub(crate) fn current_branch(&self) -> Option<String> {
        let branch = Checkout::of(self.workplace.directory())?.branch()?;
        Some(cleaned(&branch).0.into_owned())
    }
}

impl Memory<'_> {
    /// The project that a question names at its end (`… in the shop project`, `… for shop`), where it is known and another
    /// one than that at hand.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn project_named_in(&self, question: &str) -> Result<Option<String>, Error> {
        let Some(memory) = self.open()? else { return Ok(None) };
        let words: Vec<String> = question
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = words.strip_suffix(&["project"]).or(words.strip_suffix(&["repo"])).unwrap_or(&words);
        let [.., before, name] = words else { return Ok(None) };
        let before = match (before, words) {
            (&"the", [.., before, _, _]) => before,
            (before, _) => before,
        };
        if !["in", "for", "of", "on"].contains(before) {
            return Ok(None);
        }
        let here = memory.project_of(self.workplace.directory())?.map(|project| project.id);
        let all = memory.store.read(Project::all)?;
        let mut called = all.into_iter().filter(|project| project.name.to_lowercase() == *name);
        Ok(match (called.next(), called.next()) {
            (Some(project), None) if Some(project.id) != here => Some(project.name),
            _ => None,
        })
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
            Some(new) => match id_before(connection, &checkout)? {
                Some(id) => checkout.obtain_id(&id),
                None => checkout.obtain_id(new),
            },
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

    /// The project, which is made where it is new.
    pub(crate) fn project(&self, tx: &Transaction<'_>) -> SqlResult<Project> {
        let parent = self.folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let project = Project::obtain(tx, &self.key, &self.name, &cleaned(&parent).0)?;
        if self.key.starts_with("id:")
            && project.first_commit(tx)?.is_none()
            && let Some(first) = first_commit(&self.folder)
        {
            project.set_first_commit(tx, &first)?;
        }
        Ok(project)
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

/// The commit that the repository of a working tree began with.
fn first_commit(folder: &Path) -> Option<String> {
    let repository = LazyRepository::new(folder, Timestamp::UNIX_EPOCH, true);
    repository.get().ok()?.first_commit().map(|commit| commit.to_string())
}

/// The id of the project that was known at the place of a repository without one, if it is the same repository, cloned
/// again.
fn id_before(connection: &Connection, checkout: &Checkout) -> SqlResult<Option<String>> {
    if checkout.id().is_some() {
        return Ok(None);
    }
    let known = Project::by_folder(connection, &checkout.root.to_string_lossy())?;
    let Some((project, id)) = known.as_ref().and_then(|known| Some((known, known.key.strip_prefix("id:")?)))
    else {
        return Ok(None);
    };
    let is_same = || Some(project.first_commit(connection).ok()?? == first_commit(&checkout.root)?);
    let is_here = is_same() == Some(true) && !is_in_another_folder(connection, project, id, &checkout.root)?;
    Ok(is_here.then(|| id.to_owned()))
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

/// Whether a project moved, so that something else is at its old place: another repository, or one without an id while the
/// project's own is in another folder.
fn is_elsewhere(connection: &Connection, project: &Project, home: &Home) -> SqlResult<bool> {
    let Some(id) = project.key.strip_prefix("id:") else { return Ok(false) };
    if home.key.starts_with("id:") {
        return Ok(true);
    }
    if is_in_another_folder(connection, project, id, &home.folder)? {
        return Ok(true);
    }
    // Somebody else's repository may be at the place of one that was moved or deleted.
    let began_with = project.first_commit(connection)?;
    Ok(began_with
        .is_some_and(|began_with| first_commit(&home.folder).is_none_or(|first| first != began_with)))
}

/// Whether a repository with this id of a project is elsewhere than in `folder`.
fn is_in_another_folder(
    connection: &Connection,
    project: &Project,
    id: &str,
    folder: &Path,
) -> SqlResult<bool> {
    let folders = project.folders(connection)?;
    let others = folders.iter().map(Path::new).filter(|other| !other.starts_with(folder));
    let mut found = others.take(MOST_FOLDERS).filter_map(Checkout::of);
    Ok(found.any(|other| other.id().as_deref() == Some(id)))
}

impl OpenMemory {
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
                let known = Project::by_folder(connection, &folder.to_string_lossy())?;
                if let Some(project) = known {
                    let is_elsewhere = is_elsewhere(connection, &project, &home)?;
                    return Ok(Some(project).filter(|_| !is_elsewhere));
                }
                if folder == home.folder {
                    break;
                }
            }
            Ok(None)
        })?)
    }

    /// The project that `name` means: a folder, or its name.
    fn named(&self, name: &str, directory: &Path) -> Result<Project, Error> {
        let folder = directory.join(name);
        let is_path = name.contains(['/', '\\']) || name == "." || name == "..";
        if (is_path || folder.is_dir())
            && let Some(project) = self.project_of(&folder)?
        {
            return Ok(project);
        }
        let all = self.store.read(Project::all)?;
        let is_called = |project: &&Project| {
            project.name == name || project.key == name || project.key == format!("path:{name}")
        };
        if let Some(project) = all.iter().find(is_called) {
            return Ok(project.clone());
        }
        let names = all.iter().map(|project| project.name.as_str());
        UnknownProjectSnafu { name, closest: nearest(name, names) }.fail()
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
