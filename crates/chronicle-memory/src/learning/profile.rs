//! The developer as sessions show them: a view of skills and preferences, and no second truth.

use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Learning, Preference, PreferencesCommand, Skill};

/// How many technologies are looked at.
const LOOKED_AT: usize = 40;

/// How many languages, and how many tools, are listed.
const MOST_LANGUAGES: usize = 5;
const MOST_TOOLS: usize = 8;

/// Who a developer is, what they prefer, and how they work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeveloperProfile {
    /// Always `chronicle-profile/v1`.
    pub schema: &'static str,
    /// The project that it was learned from; null for all.
    pub project: Option<String>,
    /// How many sessions it was learned from.
    pub sessions: usize,
    /// What they work with.
    pub identity: Identity,
    /// What they said that they prefer.
    pub preferences: Vec<Preference>,
    /// What they do again and again.
    pub style: Vec<Preference>,
}

/// What a developer works with, the most used first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Identity {
    /// What they write in.
    pub primary_languages: Vec<Skill>,
    /// What they call.
    pub primary_tools: Vec<Skill>,
}

impl Learning<'_> {
    /// The developer as the sessions of `project`, or of all projects, show them.
    ///
    /// # Errors
    /// When the project is not known, or the store cannot be read.
    pub fn profile(&self, project: Option<&str>) -> Result<DeveloperProfile, Error> {
        let command =
            PreferencesCommand { project: project.map(str::to_owned), ..PreferencesCommand::default() };
        let found = self.preferences(&command)?;
        let (said, done) = found.preferences.into_iter().partition(|one| one.kind == "explicit");
        let skills = self.skills(project, LOOKED_AT)?.skills;
        let (mut languages, others): (Vec<Skill>, Vec<Skill>) =
            skills.into_iter().partition(|skill| 0 < skill.edits);
        let mut tools: Vec<Skill> = others.into_iter().filter(|skill| 0 < skill.commands).collect();
        languages.truncate(MOST_LANGUAGES);
        tools.truncate(MOST_TOOLS);
        Ok(DeveloperProfile {
            schema: "chronicle-profile/v1",
            project: found.project,
            sessions: found.sessions,
            identity: Identity { primary_languages: languages, primary_tools: tools },
            preferences: said,
            style: done,
        })
    }
}

impl DeveloperProfile {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identity.primary_languages.is_empty()
            && self.identity.primary_tools.is_empty()
            && self.preferences.is_empty()
            && self.style.is_empty()
    }
}
