//! What may go out from this machine, as rows.

use std::collections::BTreeSet;

use chronicle_commits::{Lesson, claims_called};
use chronicle_core::redaction::{Removed, for_storage};
use chronicle_search::{NamedSession, Project, fingerprint};
use chronicle_sessions::DigestOfSession;
use chronicle_share::SharedRow;
use chronicle_workplace::{
    Error,
    error::{NothingToDoSnafu, UnknownSessionSnafu},
};
use jiff::Timestamp;
use snafu::ensure;

use super::{
    ShareWhat,
    record::{Marked, Reachable, Rule, Sharing, session_name, shown},
};
use crate::{
    Shared,
    memory::{OpenMemory, Scope},
    sessions::look::Digested,
};

/// The longest title of a lesson: its first words.
const LONGEST_TITLE: usize = 80;

/// What may go out.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// It, by id.
    pub(super) rows: Vec<SharedRow>,
    /// Secrets that were replaced.
    pub(super) redacted: u64,
    /// What could not be looked at, and why.
    pub(super) warnings: Vec<String>,
    /// What could be looked at.
    pub(super) reachable: Reachable,
}

impl Shared<'_> {
    /// What may go out.
    pub(super) fn allowed(&self, sharing: &Sharing) -> Result<Allowed, Error> {
        let mut allowed = Allowed::default();
        let Some(memory) = self.memory().open()? else { return Ok(allowed) };
        let sessions =
            memory.store.read(|connection| NamedSession::latest(connection, None, None, usize::MAX))?;
        let projects = memory.store.read(Project::all)?;
        for session in &sessions {
            let record = &session.record;
            let name = session_name(&record.agent, &record.name);
            allowed.reachable.sessions.insert(name.clone());
            let Some(project) = projects.iter().find(|project| project.id == record.project) else {
                continue;
            };
            if sharing.allows("digest", &project.key, &name)
                && let Some(digest) = session.digest()
            {
                let row = digest_row(session, project, &digest);
                allowed.take(sharing, project, &name, row);
            }
        }
        for project in &projects {
            if is_asked(sharing, &project.key) {
                self.allowed_lessons(sharing, &memory, project, &mut allowed)?;
            }
        }
        allowed.rows.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(allowed)
    }

    fn allowed_lessons(
        &self,
        sharing: &Sharing,
        memory: &OpenMemory,
        project: &Project,
        allowed: &mut Allowed,
    ) -> Result<(), Error> {
        let Some(repository) = self.memory().repository_of(memory, project)? else {
            let name = &project.name;
            allowed
                .warnings
                .push(format!("no folder of {name} has its repository; its lessons stay as they are"));
            return Ok(());
        };
        let repository = match repository.get().map_err(Error::from) {
            Ok(repository) => repository,
            Err(error) => {
                allowed.warnings.push(format!("the lessons of {} stay as they are: {error}", project.name));
                return Ok(());
            }
        };
        let lessons = chronicle_commits::lessons(repository, self.workplace.now())?;
        allowed.reachable.see_project(project);
        for lesson in lessons {
            let name = lesson.id.0.clone();
            // What others wrote is theirs to share, unless the user names it.
            let is_marked = sharing.marked.iter().any(|marked| marked.name() == name);
            if (lesson.is_own || is_marked) && sharing.allows("lesson", &project.key, &name) {
                let row = lesson_row(&lesson, project);
                allowed.take(sharing, project, &name, row);
            }
        }
        Ok(())
    }

    /// Lets out what is meant.
    pub(super) fn allow(&self, sharing: &mut Sharing, what: &ShareWhat) -> Result<(), Error> {
        match what {
            ShareWhat::Ids(ids) => {
                for id in ids {
                    let marked = self.named_to_share(id)?;
                    sharing.held_back.remove(marked.name());
                    sharing.forgotten.remove(marked.name());
                    if !sharing.marked.contains(&marked) {
                        sharing.marked.push(marked);
                    }
                }
            }
            ShareWhat::Project { name, kinds } => {
                let project = self.project_to_share(name.as_deref())?;
                let rule = sharing.projects.iter_mut().find(|rule| rule.key == project.key);
                let kinds = kinds.iter().map(|kind| (*kind).to_owned());
                match rule {
                    Some(rule) => {
                        let all: BTreeSet<String> = rule.kinds.drain(..).chain(kinds).collect();
                        rule.kinds = all.into_iter().collect();
                    }
                    None => sharing.projects.push(Rule {
                        key: project.key,
                        name: project.name,
                        kinds: kinds.collect(),
                    }),
                }
            }
        }
        Ok(())
    }

    /// Holds back what is meant.
    pub(super) fn forbid(&self, sharing: &mut Sharing, what: &ShareWhat) -> Result<(), Error> {
        match what {
            ShareWhat::Ids(ids) => {
                for id in ids {
                    // What is out may be gone here, and is to be taken back by the name that it had.
                    let known = sharing
                        .marked
                        .iter()
                        .map(Marked::name)
                        .find(|name| *name == id || shown(name).starts_with(id.as_str()))
                        .map(str::to_owned);
                    let name = match known {
                        Some(name) => name,
                        None => self.named_to_share(id)?.name().to_owned(),
                    };
                    sharing.marked.retain(|marked| marked.name() != name);
                    sharing.held_back.insert(name);
                }
            }
            ShareWhat::Project { name, kinds } => {
                let key = match (self.project_to_share(name.as_deref()), name) {
                    (Ok(project), _) => project.key,
                    // It may be forgotten here, and is to be taken back all the same.
                    (Err(error), Some(name)) => {
                        let rule = sharing.projects.iter().find(|rule| rule.name == *name);
                        rule.map(|rule| rule.key.clone()).ok_or(error)?
                    }
                    (Err(error), None) => return Err(error),
                };
                ensure!(
                    sharing.rule(&key).is_some(),
                    NothingToDoSnafu { reason: "no rule shares this project" }
                );
                for rule in sharing.projects.iter_mut().filter(|rule| rule.key == key) {
                    rule.kinds.retain(|kind| !kinds.contains(&kind.as_str()));
                }
                sharing.projects.retain(|rule| !rule.kinds.is_empty());
            }
        }
        Ok(())
    }

    /// The project whose rule is meant; the current one is made where session memory does not know it yet.
    fn project_to_share(&self, name: Option<&str>) -> Result<Project, Error> {
        let mut memory = self.memory().open_to_write()?;
        match self.memory().memory_scope(&memory, name, false)? {
            Scope::One(project) => Ok(project),
            Scope::All | Scope::Unknown => self.memory().project_to_write(&mut memory),
        }
    }

    /// What an id names: a session of this machine, or a lesson of this repository.
    fn named_to_share(&self, id: &str) -> Result<Marked, Error> {
        let mut memory = self.memory().open_to_write()?;
        let session = match memory.session(id) {
            Ok(session) => {
                let name = session_name(&session.record.agent, &session.record.name);
                return Ok(Marked::Session { name });
            }
            Err(error) => error,
        };
        let Ok(repository) = self.workplace.repository() else { return Err(session) };
        let claims = claims_called(repository, id)?;
        match claims.as_slice() {
            [claim] if claim.is_lesson() => {
                let project = self.memory().project_to_write(&mut memory)?;
                Ok(Marked::Lesson { name: claim.id.0.clone(), key: project.key })
            }
            [] => {
                let id = id.escape_debug();
                let reason =
                    format!("`{id}` is neither a session of this machine nor a lesson of this repository");
                UnknownSessionSnafu { reason }.fail()
            }
            [_] => {
                let reason = format!("`{}` isn't a lesson; lessons have their own ids", id.escape_debug());
                UnknownSessionSnafu { reason }.fail()
            }
            _ => {
                let reason = format!("several lessons begin with `{}`", id.escape_debug());
                UnknownSessionSnafu { reason }.fail()
            }
        }
    }
}

impl Allowed {
    /// Takes a row in, without secrets, under its name for good.
    fn take(&mut self, sharing: &Sharing, project: &Project, name: &str, row: SharedRow) {
        let mut removed = Removed::default();
        let mut clean = |text: String| for_storage(&text, &mut removed).into_owned();
        let mut row = SharedRow {
            id: sharing.row_id(&row.kind, &project.key, name),
            title: clean(row.title),
            text: clean(row.text),
            files: clean(row.files),
            about: clean(row.about),
            project: clean(row.project),
            author: sharing.author.clone(),
            machine: sharing.machine.clone(),
            machine_id: sharing.machine_id.clone(),
            ..row
        };
        let SharedRow { kind, name, project, about, title, text, files, commit, at, author, machine, .. } =
            &row;
        let at = at.to_string();
        let said = [kind, name, project, about, title, text, files, commit, &at, author, machine];
        row.hash = fingerprint(said.map(String::as_str).join("\u{1f}").as_bytes());
        self.redacted += removed.n_secrets();
        self.rows.push(row);
    }
}

/// Whether anything that is said of a project asks for its lessons.
fn is_asked(sharing: &Sharing, key: &str) -> bool {
    let by_rule = sharing.rule(key).is_some_and(|rule| rule.kinds.iter().any(|kind| kind == "lesson"));
    let is_its = |marked: &Marked| matches!(marked, Marked::Lesson { key: own, .. } if own == key);
    by_rule || sharing.marked.iter().any(is_its)
}

fn digest_row(session: &NamedSession, project: &Project, digest: &DigestOfSession) -> SharedRow {
    let record = &session.record;
    let commits = digest.commits.iter().map(|commit| format!("Committed {}", commit.told()));
    let decisions = digest.decisions.iter().map(|decision| format!("Decided: {decision}"));
    let questions = digest.open_questions.iter().map(|question| format!("Open: {question}"));
    let said: Vec<String> = std::iter::once(digest.summary.clone())
        .chain(digest.key_actions.iter().cloned())
        .chain(decisions)
        .chain(questions)
        .chain(commits)
        .filter(|line| !line.is_empty())
        .collect();
    // Files elsewhere on this machine are nobody's business.
    let is_inside = |path: &&str| !path.starts_with(['/', '~', '\\']) && !path.contains("..");
    let files: Vec<&str> = digest.files.iter().map(|file| file.path.as_str()).filter(is_inside).collect();
    SharedRow {
        kind: "digest".to_owned(),
        name: record.name.clone(),
        project: project.name.clone(),
        about: record.branch.clone().unwrap_or_default(),
        title: record.title.clone(),
        text: said.join("\n"),
        files: files.join("\n"),
        commit: digest.commits.last().map(|commit| commit.id.clone()).unwrap_or_default(),
        at: record.last.map(Timestamp::as_millisecond).unwrap_or_default(),
        ..SharedRow::default()
    }
}

fn lesson_row(lesson: &Lesson, project: &Project) -> SharedRow {
    let place = lesson.file.as_deref().map(|file| match &lesson.anchor {
        Some(anchor) => format!("{file} {anchor}"),
        None => file.to_owned(),
    });
    let first = lesson.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut title: String = first.chars().take(LONGEST_TITLE).collect();
    if title.len() < first.len() {
        title.push('…');
    }
    SharedRow {
        kind: "lesson".to_owned(),
        name: lesson.id.0.clone(),
        project: project.name.clone(),
        about: lesson.category.to_owned(),
        title,
        text: lesson.text.clone(),
        files: place.unwrap_or_default(),
        commit: lesson.commit.to_string(),
        at: lesson.at.map(Timestamp::as_millisecond).unwrap_or_default(),
        ..SharedRow::default()
    }
}
