//! Settings: which there are, what they are now, and who says so.
//!
//! A later one of these wins: what is built in, the team's file in the working tree, git's own
//! configuration, the environment. A value that makes no sense is passed over with a warning. Each setting has a
//! [`Rule`] for who may set it: a repository decides nothing about where data, keys and money go.

mod found;
mod surroundings;
mod table;

use std::ffi::OsString;

use chronicle_core::score;
use chronicle_git::{ConfigValue, Glance, UserConfig, set_user_config, user_config_values};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ensure;

pub use self::surroundings::real;
use self::{
    found::{Found, SECTIONS, Speaker},
    table::Kind,
};
pub use self::{
    surroundings::{
        ACCOUNT_HOME, OF_AGENT, UNATTENDED, grounds_of_agent, has_sound_configuration, is_of_agent, is_within,
    },
    table::{Rule, SETTINGS, Setting},
};
use crate::{Error, Workplace, allow::Wanted, error::InvalidSettingSnafu};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingOrigin {
    /// `default`, `team`, `system`, `global`, `local`, `worktree`, `command` or `environment`.
    pub kind: &'static str,
    /// The file or the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A setting as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingNow {
    /// Its name.
    pub name: &'static str,
    /// Its value; several are separated by a comma.
    pub value: String,
    /// Where the value comes from.
    pub origin: SettingOrigin,
    /// What it does.
    pub meaning: &'static str,
}

/// A value that does not count because of where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IgnoredSetting {
    /// The setting's name.
    pub name: &'static str,
    /// The value that was found.
    pub value: String,
    /// Where it was found.
    pub origin: SettingOrigin,
    /// Why it does not count.
    pub reason: &'static str,
}

/// Settings as they are now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settings {
    /// Always `chronicle-config/v1`.
    pub schema: &'static str,
    /// The settings, by name.
    pub settings: Vec<SettingNow>,
    /// Values that do not count because of where they were found.
    pub ignored: Vec<IgnoredSetting>,
    /// Values that make no sense, and settings that there are none of.
    pub warnings: Vec<String>,
}

/// What the settings say about reading.
#[derive(Debug, Clone)]
pub struct ReadSettings {
    /// After how many days a lesson is worth half.
    pub half_life_days: f64,
    /// How many lessons are shown at most.
    pub max_regions: usize,
    /// Whether agents get lessons on what a prompt names.
    pub recalls: bool,
    /// Whether sessions begin with a briefing.
    pub briefs: bool,
    /// Whether agents are asked to annotate what they commit.
    pub reminds: bool,
    /// Whether agents get the lessons on a file that they read.
    pub shows_on_read: bool,
    /// Whether a human is asked before an edit that traps are about.
    pub guards: bool,
    /// Values that make no sense.
    pub warnings: Vec<String>,
}

impl Settings {
    /// The value of a setting; empty where it has none.
    pub fn value(&self, name: &str) -> &str {
        self.settings.iter().find(|setting| setting.name == name).map_or("", |setting| &setting.value)
    }

    /// Whether a variable or an argument says what a setting is, rather than a file or the default.
    pub(crate) fn is_of_this_run(&self, name: &str) -> bool {
        let mut named = self.settings.iter().filter(|setting| setting.name == name);
        named.any(|setting| matches!(setting.origin.kind, "environment" | "command"))
    }

    /// One line about what the repository sets and only the user may; none where there is nothing of that kind.
    pub(crate) fn ignored_of_repository(&self) -> Option<String> {
        let is_repository = |ignored: &&IgnoredSetting| {
            let is_users = Setting::find(ignored.name).is_ok_and(|setting| setting.rule == Rule::User);
            is_users && matches!(ignored.origin.kind, "local" | "worktree")
        };
        let mut ignored = self.ignored.iter().filter(is_repository);
        let first = ignored.next()?;
        let more = match ignored.count() {
            0 => "is ignored: only the user sets it".to_owned(),
            n_more => format!("and {n_more} more are ignored: only the user sets them"),
        };
        let (name, place) = (first.name, first.origin.place.as_deref().unwrap_or(first.origin.kind));
        Some(format!(
            "chronicle.{name} in {place} {more}. To move it: `git config --global chronicle.{name} VALUE`; \
             to take it from this repository: `git chronicle allow`"
        ))
    }
}

/// The pager that the user's own git configuration names (`core.pager`).
#[must_use]
pub fn pager_of_user() -> Option<String> {
    let mut values = user_config_values("core", None).into_iter().filter(|value| value.key == "pager");
    values.next_back().map(|value| value.value)
}

impl Workplace {
    /// All settings as they are now.
    ///
    /// # Errors
    /// When there is no repository.
    pub fn settings(&self) -> Result<Settings, Error> {
        Ok(self.settled(self.found_in_repository()?, |_| true))
    }

    /// What this repository's configuration sets that only a user may.
    pub(crate) fn wanted_here(&self) -> Result<Wanted, Error> {
        Ok(self.found_in_repository()?.wanted())
    }

    /// What the team's files and git say here.
    fn found_in_repository(&self) -> Result<Found, Error> {
        let parameters = self.variable("GIT_CONFIG_PARAMETERS");
        let repository = self.repository()?;
        let mut found = Found::default();
        if let Some(root) = repository.work_dir() {
            found.read_team_files(root);
        }
        let by_git =
            SECTIONS.iter().flat_map(|section| repository.config_values(section, parameters.as_deref()));
        found.take_from_git(by_git.collect());
        Ok(found)
    }

    /// The user's settings, where there is no repository.
    pub fn settings_of_user(&self) -> Settings {
        let parameters = self.variable("GIT_CONFIG_PARAMETERS");
        let by_git = SECTIONS.iter().flat_map(|section| user_config_values(section, parameters.as_deref()));
        let by_git: Vec<ConfigValue> = by_git.collect();
        let mut found = Found::default();
        found.take_from_git(by_git);
        self.settled(found, |_| true)
    }

    /// One setting as it is now, and what to tell about it.
    ///
    /// # Errors
    /// When there is none of that name, or no repository.
    pub fn setting(&self, name: &str) -> Result<Settings, Error> {
        let setting = Setting::find(name)?;
        let mut settings = self.settings()?;
        settings.settings.retain(|now| now.name == setting.name);
        settings.ignored.retain(|ignored| ignored.name == setting.name);
        settings.warnings.retain(|warning| warning.contains(setting.name));
        Ok(settings)
    }

    /// Sets a setting for this repository, or for everything of this user, as which those always are that only a user
    /// may set.
    ///
    /// # Errors
    /// When there is none of that name, the value makes no sense, or git cannot write it.
    pub fn set_setting(&self, name: &str, value: &str, for_user: bool) -> Result<Settings, Error> {
        let setting = Setting::find(name)?;
        if let Some(expected) = setting.objection(value) {
            return InvalidSettingSnafu { name: setting.name, value, expected }.fail();
        }
        ensure!(
            setting.kind != Kind::Words,
            InvalidSettingSnafu { name: setting.name, value, expected: "set by `git chronicle sync`" }
        );
        let key = format!("chronicle.{}", setting.name);
        if for_user || setting.rule == Rule::User {
            set_user_config(self.directory(), &key, value)?;
        } else {
            self.repository()?.set_config(&key, value)?;
        }
        // What was opened before does not know yet.
        let anew = self.anew(self.directory(), false);
        if setting.name.starts_with("llm.") {
            anew.note_own_keys();
        }
        anew.setting(setting.name)
    }

    /// What the settings say about reading. Where nothing in sight speaks of it, no repository is opened.
    pub fn read_settings(&self) -> Result<&ReadSettings, Error> {
        if let Some(known) = self.read_settings.get() {
            return Ok(known);
        }
        let settings = match self.glanced_settings() {
            Some(settings) => settings,
            None => self.settings()?,
        };
        let is_on = |name: &str| settings.value(name) != "false";
        let is_about_reading = |warning: &String| READ_SETTINGS.iter().any(|name| warning.contains(name));
        let read = ReadSettings {
            recalls: is_on("recall"),
            briefs: is_on("brief"),
            reminds: is_on("remind"),
            shows_on_read: is_on("showOnRead"),
            guards: settings.value("guard") == "ask",
            half_life_days: settings.value("recencyHalfLife").parse().unwrap_or(score::HALF_LIFE_DAYS),
            max_regions: settings.value("defaultMaxRegions").parse().unwrap_or(DEFAULT_MAX_REGIONS),
            warnings: settings.warnings.into_iter().filter(is_about_reading).collect(),
        };
        Ok(self.read_settings.get_or_init(|| read))
    }

    /// The settings about reading, when it is plain without opening the repository that git says nothing about them.
    fn glanced_settings(&self) -> Option<Settings> {
        let glance = self.keeps_facts().then(|| self.sight()).flatten()?;
        let environment = self.environment();
        let is_silent = |glance: &Glance| {
            !glance.may_set(
                &READ_SETTINGS.map(str::to_lowercase).each_ref().map(String::as_str),
                &UserConfig::of(environment),
            )
        };
        is_silent(glance).then(|| {
            let mut found = Found::default();
            found.read_team_files(&glance.work_dir);
            self.settled(found, |setting| READ_SETTINGS.contains(&setting.name))
        })
    }

    /// The value of a setting that few set, and what to tell about it. Where nothing in sight speaks of it, no
    /// repository is opened; where one cannot be opened, nobody set it.
    pub fn setting_of_few(&self, setting: &Setting) -> (String, Vec<String>) {
        let user = UserConfig::of(self.environment());
        let may_set = |glance: &Glance| glance.may_set(&[&setting.name.to_lowercase()], &user);
        let may_be_set = self.variable(&setting.variable()).is_some() || self.sight().is_none_or(may_set);
        if may_be_set && let Ok(settings) = self.model_settings() {
            let said = settings.warnings.iter().filter(|warning| warning.contains(setting.name)).cloned();
            return (settings.value(setting.name).to_owned(), said.collect());
        }
        (setting.default.to_owned(), Vec::new())
    }

    /// The settings that count, of what was found in the team's files, what git says and the environment.
    fn settled(&self, mut found: Found, counts: impl Fn(&Setting) -> bool) -> Settings {
        let counting = || SETTINGS.iter().filter(|setting| counts(setting));
        for setting in counting() {
            let variable = setting.variable();
            if let Some(value) = self.variable(&variable) {
                found.offer(setting, vec![value], Speaker::Environment, Some(variable));
            }
        }
        let surroundings = self.surroundings(found.has_files_of_user());
        let settled = found.settled(surroundings, |found| self.allows_repository(&found.wanted()));
        let settings = counting().map(|setting| settled.now(setting)).collect();
        let (ignored, warnings) = (settled.ignored, settled.warnings);
        Settings { schema: "chronicle-config/v1", settings, ignored, warnings }
    }

    /// A variable of the environment, if it is there and text.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment())(name).and_then(|value: OsString| value.into_string().ok())
    }
}

/// The settings that a read depends on.
const READ_SETTINGS: [&str; 7] =
    ["recencyHalfLife", "defaultMaxRegions", "recall", "brief", "remind", "showOnRead", "guard"];
/// Items that a read shows unless something says otherwise.
pub(crate) const DEFAULT_MAX_REGIONS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_variables() {
        assert_eq!(Setting::find("recencyhalflife").unwrap().variable(), "CHRONICLE_RECENCY_HALF_LIFE");
        assert_eq!(Setting::find("chronicle.sync.remotes").unwrap().variable(), "CHRONICLE_SYNC_REMOTES");
    }

    #[test]
    fn a_project_sets_what_sends_and_costs_nothing_and_lowers_limits() {
        let of = |rule: Rule| {
            let settings = SETTINGS.iter().filter(|setting| setting.rule == rule);
            settings.map(|setting| setting.name).collect::<Vec<_>>()
        };
        assert_eq!(of(Rule::Free), ["format", "recencyHalfLife"]);
        assert_eq!(of(Rule::Lower), ["chunkSize", "defaultMaxRegions"]);
        assert_eq!(of(Rule::Off), ["brief", "recall", "remind", "showOnRead"]);
        let capped = of(Rule::Capped);
        assert_eq!(
            capped,
            [
                "llm.maxCostPerDay",
                "llm.maxRequestsPerCommit",
                "llm.maxRequestsPerDay",
                "llm.maxTokensPerCommit",
                "llm.maxTokensPerDay",
                "maxAgentTurns",
                "maxDiffLines",
                "maxTokensPerResponse",
                "recentAnnotationsLimit",
            ]
        );
        // A limit is a number, and a tracked file says nothing that only a user may.
        let is_number = |name: &str| matches!(Setting::find(name).unwrap().kind, Kind::Count | Kind::Number);
        assert!(capped.into_iter().chain(of(Rule::Lower)).all(is_number));
        let tracked = SETTINGS.iter().filter(|setting| setting.team.is_some());
        assert!(tracked.into_iter().all(|setting| setting.rule != Rule::User));
        let others = of(Rule::User);
        assert_eq!(others.len(), SETTINGS.len() - 17);
        for name in ["llm.baseUrl", "llm.keyVariable", "llm.proxy", "searchVectors", "sync.remotes"] {
            assert!(others.contains(&name), "{name}");
        }
    }

    #[test]
    fn what_is_built_in_makes_sense_and_is_what_reading_uses() {
        for setting in SETTINGS.iter().filter(|setting| !setting.default.is_empty()) {
            assert_eq!(setting.objection(setting.default), None, "{}", setting.name);
        }
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.name));
        assert_eq!(Setting::find("defaultMaxRegions").unwrap().default, DEFAULT_MAX_REGIONS.to_string());
        assert_eq!(Setting::find("recencyHalfLife").unwrap().default, score::HALF_LIFE_DAYS.to_string());
    }
}
