//! Which technologies were used where: by files, commands, imports and manifests, never by words alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use chronicle_core::counted;
use chronicle_search::{Project, ProjectId};
use chronicle_sessions::{MANIFESTS, Signs, canonical_technology, libraries};
use chronicle_workplace::Error;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::experience::{Experience, LearnedIn, Learning, Place};
use crate::memory::{OpenMemory, Scope};

/// Larger manifests are none.
const LARGEST_MANIFEST: u64 = 256 << 10;

/// How many technologies are told of one project.
const MOST_OF_PROJECT: usize = 10;

/// How many places are told of one technology.
const MOST_PLACES: usize = 3;

/// Technologies, the most used first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Skills {
    /// Always `chronicle-skills/v1`.
    pub schema: &'static str,
    /// The project they were used in; null for all.
    pub project: Option<String>,
    /// The technologies.
    pub skills: Vec<Skill>,
    /// How many more there are.
    pub left_out: usize,
}

/// A technology, and how it was used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Skill {
    /// Its name.
    pub technology: String,
    /// In how many sessions.
    pub sessions: usize,
    /// In which projects.
    pub projects: Vec<String>,
    /// How often files of it were changed.
    pub edits: usize,
    /// How often its commands ran.
    pub commands: usize,
    /// In how many sessions it was imported, or named in a manifest.
    pub imports: usize,
    /// When it was used first.
    pub first_used: Option<String>,
    /// When it was used last.
    pub last_used: Option<String>,
    /// Where, the newest first.
    pub evidence: Vec<Place>,
}

/// Which projects.
#[derive(Debug, Clone, Default)]
pub struct ProjectsCommand {
    /// Those that use this.
    pub using: Option<String>,
    /// Those that use what this project uses; `.` is the current one.
    pub similar_to: Option<String>,
}

/// Projects, the last used first; of similar ones, the most similar.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Projects {
    /// Always `chronicle-projects/v1`.
    pub schema: &'static str,
    /// What they use, where that was asked.
    pub using: Option<String>,
    /// What they are similar to, where that was asked.
    pub similar_to: Option<String>,
    /// The projects.
    pub projects: Vec<KnownProject>,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KnownProject {
    /// How it is called.
    pub project: String,
    /// Its folders.
    pub folders: Vec<String>,
    /// How many sessions were led in it.
    pub sessions: usize,
    /// When the last one ended.
    pub last_used: Option<String>,
    /// What it uses, the most used first; of a question for one, that one.
    pub technologies: Vec<UsedTechnology>,
    /// How similar it is, from 0 to 1, where that was asked.
    pub similarity: Option<f64>,
}

/// What a project uses, and what shows it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsedTechnology {
    /// Its name.
    pub technology: String,
    /// What shows it: `edits`, `commands`, `imports` with their numbers, or a manifest.
    pub by: Vec<String>,
    /// Where, the newest first; none for what only a manifest on disk says.
    pub evidence: Vec<Place>,
}

/// How a technology was used, summed up.
#[derive(Default)]
struct Used {
    times: BTreeMap<String, usize>,
    sessions: BTreeSet<String>,
    projects: BTreeSet<ProjectId>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The latest ones.
    places: Vec<Place>,
    manifests: Vec<String>,
}

impl Used {
    /// How much it counts: writing in it says more than calling it.
    fn weight(&self) -> f64 {
        let of = |how: &str| *self.times.get(how).unwrap_or(&0) as f64;
        let times =
            3.0 * of("edits") + of("commands") + 2.0 * of("imports") + 2.0 * self.manifests.len() as f64;
        f64::ln(1.0 + times)
    }

    fn by(&self) -> Vec<String> {
        let signs = self.times.iter().map(|(how, times)| counted(*times, how.trim_end_matches('s')));
        signs.chain(self.manifests.iter().cloned()).collect()
    }
}

/// Whether a library is a part of the project that names it.
pub(super) fn is_own(library: &str, project: &str) -> bool {
    let (library, project) =
        (library.to_lowercase().replace('_', "-"), project.to_lowercase().replace('_', "-"));
    library.split('/').any(|part| part == project) || library.starts_with(&format!("{project}-"))
}

/// Of the signs of a session, those of what it used.
fn needed(signs: Signs) -> Signs {
    Signs { technologies: signs.technologies, ..Signs::default() }
}

fn used<'e>(
    experience: impl Iterator<Item = &'e Experience>,
    names: &BTreeMap<ProjectId, String>,
) -> BTreeMap<String, Used> {
    let mut all: BTreeMap<String, Used> = BTreeMap::new();
    for session in experience {
        let project = names.get(&session.project).map_or("", String::as_str);
        for (name, ways) in &session.signs.technologies {
            if ways.keys().all(|how| how == "imports") && is_own(name, project) {
                continue;
            }
            let used = all.entry(name.clone()).or_default();
            for (how, seen) in ways {
                *used.times.entry(how.clone()).or_default() += seen.times;
            }
            used.sessions.insert(session.session.clone());
            used.projects.insert(session.project);
            used.first = used.first.or(session.first);
            used.last = used.last.max(session.last);
            if let Some(line) = ways.values().map(|seen| seen.line).min() {
                used.places.insert(0, session.place(line));
                used.places.truncate(MOST_PLACES);
            }
        }
    }
    all
}

impl Learning<'_> {
    /// The technologies that were used, in one project or in all.
    ///
    /// # Errors
    /// When the project is not known, or the store cannot be read.
    pub fn skills(&self, project: Option<&str>, limit: usize) -> Result<Skills, Error> {
        let mut answer =
            Skills { schema: "chronicle-skills/v1", project: None, skills: Vec::new(), left_out: 0 };
        let Some(learned) = self.learned_in(project, needed)? else { return Ok(answer) };
        let LearnedIn { memory, project, experience } = learned;
        answer.project = project;
        let names = Self::project_names(&memory)?;
        let mut all: Vec<(String, Used)> = used(experience.iter(), &names).into_iter().collect();
        // Once imported is not yet known.
        all.retain(|(_, used)| 1 < used.sessions.len() || used.times.keys().any(|how| how != "imports"));
        all.sort_by(|(left_name, left), (right_name, right)| {
            let rank = |used: &Used| used.weight() * (used.sessions.len() as f64).sqrt();
            rank(right).total_cmp(&rank(left)).then_with(|| left_name.cmp(right_name))
        });
        answer.left_out = all.len().saturating_sub(limit);
        answer.skills = all
            .into_iter()
            .take(limit)
            .map(|(technology, used)| Skill {
                technology,
                sessions: used.sessions.len(),
                projects: used.projects.iter().filter_map(|id| names.get(id).cloned()).collect(),
                edits: *used.times.get("edits").unwrap_or(&0),
                commands: *used.times.get("commands").unwrap_or(&0),
                imports: *used.times.get("imports").unwrap_or(&0),
                first_used: used.first.map(|at| at.to_string()),
                last_used: used.last.map(|at| at.to_string()),
                evidence: used.places,
            })
            .collect();
        Ok(answer)
    }

    /// The projects that session memory knows, and what each is built with.
    ///
    /// # Errors
    /// When the project that others are to be similar to is not known, or the store cannot be read.
    pub fn projects(&self, command: &ProjectsCommand) -> Result<Projects, Error> {
        let mut answer = Projects {
            schema: "chronicle-projects/v1",
            using: command.using.clone(),
            similar_to: None,
            projects: Vec::new(),
        };
        let Some(mut memory) = self.memory().open()? else { return Ok(answer) };
        let model = match command.similar_to.as_deref() {
            None => None,
            Some(".") => match self.memory().memory_scope(&memory, None, false)? {
                Scope::One(project) => Some(project),
                Scope::All | Scope::Unknown => return Ok(answer),
            },
            Some(name) => match self.memory().memory_scope(&memory, Some(name), false)? {
                Scope::One(project) => Some(project),
                Scope::All | Scope::Unknown => None,
            },
        };
        answer.similar_to = model.as_ref().map(|project| project.name.clone());
        let experience = self.experience(&mut memory, &Scope::All, needed)?;
        let mut known = Vec::new();
        for project in memory.store.read(Project::all)? {
            known.push(Known::of(&memory, project, &experience)?);
        }
        if let Some(wanted) = &command.using {
            let wanted = canonical_technology(wanted);
            let is_it =
                |name: &str| wanted.first().is_some_and(|wanted| canonical_technology(name).contains(wanted));
            for project in &mut known {
                project.used.retain(|name, _| is_it(name));
            }
            known.retain(|project| !project.used.is_empty());
        }
        if let Some(model) = &model {
            compare(&mut known, model.id);
            known.retain(|project| {
                project.project.id != model.id && project.similarity.is_some_and(|similar| 0.05 <= similar)
            });
        }
        known.retain(|project| 0 < project.n_sessions);
        known.sort_by(|left, right| {
            let similar = |project: &Known| project.similarity.unwrap_or_default();
            similar(right)
                .total_cmp(&similar(left))
                .then_with(|| right.last.cmp(&left.last))
                .then_with(|| left.project.name.cmp(&right.project.name))
        });
        answer.projects = known.into_iter().map(Known::told).collect();
        Ok(answer)
    }
}

/// A project, and what it uses.
struct Known {
    project: Project,
    folders: Vec<String>,
    n_sessions: usize,
    last: Option<Timestamp>,
    used: BTreeMap<String, Used>,
    similarity: Option<f64>,
}

impl Known {
    fn of(memory: &OpenMemory, project: Project, experience: &[Experience]) -> Result<Self, Error> {
        let own = || experience.iter().filter(|session| session.project == project.id);
        let names = BTreeMap::from([(project.id, project.name.clone())]);
        let mut used = used(own(), &names);
        let folders = memory.store.read(|connection| project.folders(connection))?;
        for (manifest, library) in folders.iter().flat_map(|folder| manifests(Path::new(folder))) {
            let used = used.entry(library).or_default();
            if !used.manifests.contains(&manifest) {
                used.manifests.push(manifest);
            }
        }
        let (n_sessions, last) = (own().count(), own().filter_map(|session| session.last).max());
        Ok(Self { project, folders, n_sessions, last, used, similarity: None })
    }

    fn told(self) -> KnownProject {
        let mut used: Vec<(String, Used)> = self.used.into_iter().collect();
        used.sort_by(|(left_name, left), (right_name, right)| {
            right.weight().total_cmp(&left.weight()).then_with(|| left_name.cmp(right_name))
        });
        let told = |(technology, used): (String, Used)| UsedTechnology {
            technology,
            by: used.by(),
            evidence: used.places,
        };
        KnownProject {
            project: self.project.name,
            folders: self.folders,
            sessions: self.n_sessions,
            last_used: self.last.map(|at| at.to_string()),
            technologies: used.into_iter().take(MOST_OF_PROJECT).map(told).collect(),
            similarity: self.similarity.map(|similar| (similar * 100.0).round() / 100.0),
        }
    }
}

/// What the manifests in a folder name, as far as it is there.
fn manifests(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in MANIFESTS {
        let path = folder.join(name);
        let is_fit = fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_MANIFEST);
        if let Some(text) = is_fit.then(|| fs::read_to_string(&path).ok()).flatten() {
            found.extend(libraries(name, &text).into_iter().map(|library| (name.to_owned(), library)));
        }
    }
    found
}

/// Says of each project how similar it is to one: by what both use, where what few use counts more.
fn compare(known: &mut [Known], model: ProjectId) {
    let n_all = known.len() as f64;
    let mut n_using: BTreeMap<&str, usize> = BTreeMap::new();
    for project in known.iter() {
        for name in project.used.keys() {
            *n_using.entry(name).or_default() += 1;
        }
    }
    let vector = |project: &Known| -> BTreeMap<String, f64> {
        let rarity = |name: &str| 1.0 + f64::ln(n_all / *n_using.get(name).unwrap_or(&1) as f64);
        project.used.iter().map(|(name, used)| (name.clone(), used.weight() * rarity(name))).collect()
    };
    let vectors: Vec<_> = known.iter().map(vector).collect();
    let Some(at) = known.iter().position(|project| project.project.id == model) else { return };
    let length =
        |vector: &BTreeMap<String, f64>| vector.values().map(|value| value * value).sum::<f64>().sqrt();
    let similar = |other: &BTreeMap<String, f64>| {
        let both: f64 = vectors[at].iter().filter_map(|(name, value)| Some(value * other.get(name)?)).sum();
        let lengths = length(&vectors[at]) * length(other);
        if lengths == 0.0 { 0.0 } else { both / lengths }
    };
    let found: Vec<f64> = vectors.iter().map(similar).collect();
    for (project, similar) in known.iter_mut().zip(found) {
        project.similarity = Some(similar);
    }
}
