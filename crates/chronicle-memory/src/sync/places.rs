//! Which project here is the one that another machine means. Each machine keeps a project under an id of its own.
//!
//! Two are the same if they have one name, and if their repositories began with the same commit. A repository that somebody
//! else made, and that only has the name, is another one.

use std::collections::BTreeMap;

use chronicle_search::{Project, ProjectId, SqlResult, Transaction};
use chronicle_workplace::Error;
use serde::{Deserialize, Serialize};

use crate::{Memory, memory::OpenMemory};

/// A project, as machines tell each other of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlaceName {
    project: String,
    /// The commit that its repository began with, or the key of a repository of which that is not known; none for a folder
    /// that is in no repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began_with: Option<String>,
}

/// The projects of this machine.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_id: BTreeMap<i64, PlaceName>,
}

impl Places {
    pub(super) fn of(of: &Memory<'_>, memory: &OpenMemory) -> Result<Self, Error> {
        let mut by_id = BTreeMap::new();
        for project in memory.store.read(Project::all)? {
            let repository = of.repository_of(memory, &project)?;
            let first = repository.as_ref().and_then(|repository| repository.get().ok()?.first_commit());
            let is_folder = repository.is_none() && project.key.starts_with("path:");
            let began_with = (!is_folder).then(|| first.map_or(project.key, |first| first.to_string()));
            by_id.insert(project.id.0, PlaceName { project: project.name, began_with });
        }
        Ok(Self { by_id })
    }

    pub(super) fn name(&self, project: ProjectId) -> PlaceName {
        self.by_id.get(&project.0).cloned().unwrap_or_default()
    }

    /// The project here that `machine` means, which is made where there is none.
    pub(super) fn here(&self, tx: &Transaction<'_>, meant: &PlaceName, machine: &str) -> SqlResult<Project> {
        let is_it = |here: &PlaceName| match &meant.began_with {
            Some(_) => here.began_with == meant.began_with && base(&here.project) == base(&meant.project),
            // Of a folder, the name is all that is known.
            None => here.began_with.is_none() && here.project == meant.project,
        };
        let mut known = Vec::new();
        for (id, here) in self.by_id.iter().filter(|(_, here)| is_it(here)) {
            if let Some(project) = Project::by_id(tx, ProjectId(*id))? {
                if here.project == meant.project {
                    return Ok(project);
                }
                known.push(project);
            }
        }
        match known.pop() {
            Some(only) if known.is_empty() => Ok(only),
            _ => {
                let PlaceName { project, began_with } = meant;
                let key = format!("name:{}{project}", began_with.as_deref().unwrap_or_default());
                Project::obtain(tx, &key, base(project), machine)
            }
        }
    }
}

/// A name without what tells it from others on its machine.
fn base(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}
