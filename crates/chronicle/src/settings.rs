//! Settings: which there are, what they are now, and who says so.
//!
//! A later one of these wins: what is built in, the team's file in the working tree, git's own
//! configuration, the environment. A value that makes no sense is passed over with a warning.

mod table;

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use chronicle_core::{plain, score};
use chronicle_git::{ConfigScope, ConfigValue, Glance, UserConfig};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ensure;

use self::table::Kind;
pub use self::table::{SETTINGS, Setting};
use crate::{Chronicle, Error, error::InvalidSettingSnafu};

/// The team's file, and its older names.
const TEAM_FILES: [&str; 3] = [".chronicle.toml", ".chronicle-config.toml", ".ultragit-config.toml"];
/// The section of git's configuration and the table of the team's file, the older name first.
const SECTIONS: [&str; 2] = ["ultragit", "chronicle"];
/// A team's file is a handful of lines.
const MAX_TEAM_FILE_BYTES: u64 = 64 << 10;

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

/// Settings as they are now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settings {
    /// Always `chronicle-config/v1`.
    pub schema: &'static str,
    /// The settings, by name.
    pub settings: Vec<SettingNow>,
    /// Values that make no sense, and settings that there are none of.
    pub warnings: Vec<String>,
}

/// What the settings say about reading.
#[derive(Debug, Clone)]
pub(crate) struct ReadSettings {
    pub(crate) half_life_days: f64,
    pub(crate) max_regions: usize,
    pub(crate) recalls: bool,
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// The value of a setting; empty where it has none.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.settings.iter().find(|setting| setting.name == name).map_or("", |setting| &setting.value)
    }
}

impl Chronicle {
    /// All settings as they are now.
    ///
    /// # Errors
    /// When there is no repository.
    pub fn settings(&self) -> Result<Settings, Error> {
        let parameters = self.variable("GIT_CONFIG_PARAMETERS");
        let repository = self.repository()?;
        let by_git: Vec<ConfigValue> = SECTIONS
            .iter()
            .flat_map(|section| repository.config_values(section, parameters.as_deref()))
            .collect();
        let mut found = Found::default();
        if let Some(root) = repository.work_dir() {
            found.read_team_files(root);
        }
        Ok(self.settled(found, by_git, |_| true))
    }

    /// The settings that the environment says, where there is no repository.
    pub(crate) fn settings_of_environment(&self) -> Settings {
        self.settled(Found::default(), Vec::new(), |_| true)
    }

    /// One setting as it is now, and what to tell about it.
    ///
    /// # Errors
    /// When there is none of that name, or no repository.
    pub fn setting(&self, name: &str) -> Result<Settings, Error> {
        let setting = Setting::find(name)?;
        let mut settings = self.settings()?;
        settings.settings.retain(|now| now.name == setting.name);
        settings.warnings.retain(|warning| warning.contains(setting.name));
        Ok(settings)
    }

    /// Sets a setting for this repository, or for everything of this user.
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
        self.repository()?.set_config(&format!("chronicle.{}", setting.name), value, for_user)?;
        // What was opened before does not know yet.
        Self::new(&self.directory, self.now, false).with_environment(self.environment).setting(setting.name)
    }

    /// What the settings say about reading. Where nothing in sight speaks of it, no repository is opened.
    pub(crate) fn read_settings(&self) -> Result<&ReadSettings, Error> {
        if let Some(known) = self.read_settings.get() {
            return Ok(known);
        }
        let settings = match self.glanced_settings() {
            Some(settings) => settings,
            None => self.settings()?,
        };
        let recalls = settings.value("recall") != "false";
        let is_about_reading = |warning: &String| READ_SETTINGS.iter().any(|name| warning.contains(name));
        let read = ReadSettings {
            recalls,
            half_life_days: settings.value("recencyHalfLife").parse().unwrap_or(score::HALF_LIFE_DAYS),
            max_regions: settings.value("defaultMaxRegions").parse().unwrap_or(DEFAULT_MAX_REGIONS),
            warnings: settings.warnings.into_iter().filter(is_about_reading).collect(),
        };
        Ok(self.read_settings.get_or_init(|| read))
    }

    /// Whether agents are told what is known of what a prompt names.
    pub(crate) fn recalls(&self) -> Result<bool, Error> {
        Ok(self.read_settings()?.recalls)
    }

    /// The settings about reading, when it is plain without opening the repository that git says nothing about them.
    fn glanced_settings(&self) -> Option<Settings> {
        let (glance, _) = self.index()?;
        let environment = self.environment;
        let is_silent = |glance: &Glance| {
            !glance.may_set(
                &READ_SETTINGS.map(str::to_lowercase).each_ref().map(String::as_str),
                &UserConfig::of(environment),
            )
        };
        is_silent(glance).then(|| {
            let mut found = Found::default();
            found.read_team_files(&glance.work_dir);
            self.settled(found, Vec::new(), |setting| READ_SETTINGS.contains(&setting.name))
        })
    }

    /// The value of a setting that few set, and what to tell about it. Where nothing in sight speaks of it, no
    /// repository is opened; where one cannot be opened, nobody set it.
    pub(crate) fn setting_of_few(&self, setting: &Setting) -> (String, Vec<String>) {
        let user = UserConfig::of(self.environment);
        let may_set = |glance: Glance| glance.may_set(&[&setting.name.to_lowercase()], &user);
        let may_be_set =
            self.variable(&setting.variable()).is_some() || Glance::at(&self.directory).is_none_or(may_set);
        if may_be_set && let Ok(settings) = self.model_settings() {
            let said = settings.warnings.iter().filter(|warning| warning.contains(setting.name)).cloned();
            return (settings.value(setting.name).to_owned(), said.collect());
        }
        (setting.default.to_owned(), Vec::new())
    }

    /// The settings that count, of what was found in the team's files, what git says and the environment.
    fn settled(
        &self,
        mut found: Found,
        by_git: Vec<ConfigValue>,
        counts: impl Fn(&Setting) -> bool,
    ) -> Settings {
        found.take_from_git(by_git);
        let counting = || SETTINGS.iter().filter(|setting| counts(setting));
        for setting in counting() {
            let variable = setting.variable();
            if let Some(value) = self.variable(&variable) {
                found.offer(setting, &[value], "environment", Some(variable));
            }
        }
        let settings = counting().map(|setting| found.now(setting)).collect();
        Settings { schema: "chronicle-config/v1", settings, warnings: found.warnings }
    }

    /// A variable of the environment, if it is there and text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).and_then(|value: OsString| value.into_string().ok())
    }
}

/// The settings that a read depends on.
const READ_SETTINGS: [&str; 3] = ["recencyHalfLife", "defaultMaxRegions", "recall"];
/// Items that a read shows unless something says otherwise.
pub(crate) const DEFAULT_MAX_REGIONS: usize = 20;

/// Values that were found, the one that counts last for each setting.
#[derive(Default)]
struct Found {
    values: BTreeMap<&'static str, (String, SettingOrigin)>,
    warnings: Vec<String>,
}

impl Found {
    fn now(&self, setting: &Setting) -> SettingNow {
        let built_in = || (setting.default.to_owned(), SettingOrigin { kind: "default", place: None });
        let (value, origin) = self.values.get(setting.name).cloned().unwrap_or_else(built_in);
        SettingNow { name: setting.name, value, origin, meaning: setting.meaning }
    }

    /// Lets `values` count from now on, if they make sense.
    fn offer(
        &mut self,
        setting: &'static Setting,
        values: &[String],
        kind: &'static str,
        place: Option<String>,
    ) {
        let place = place.map(|place| plain(&place).into_owned());
        for value in values {
            if let Some(expected) = setting.objection(value) {
                let value = plain(value);
                let at = place.as_deref().unwrap_or(kind);
                let name = setting.name;
                self.warnings
                    .push(format!("`{name}` is `{value}` in {at}, not {expected}; it is passed over"));
                return;
            }
        }
        self.values.insert(setting.name, (values.join(","), SettingOrigin { kind, place }));
    }

    fn take_from_git(&mut self, by_git: Vec<ConfigValue>) {
        let mut words: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for ConfigValue { key, value, scope, file } in by_git {
            let place = file.map(|file| file.to_string_lossy().into_owned());
            let place =
                place.or_else(|| (scope == ConfigScope::Command).then(|| "git's own arguments".to_owned()));
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(&key))
            else {
                let at = place.as_deref().unwrap_or(scope.name());
                self.warnings.push(format!("unknown setting `chronicle.{}` in {}", plain(&key), plain(at)));
                continue;
            };
            let values = match setting.kind {
                Kind::Words => {
                    let words = words.entry(setting.name).or_default();
                    words.push(value);
                    words.clone()
                }
                _ => vec![value],
            };
            self.offer(setting, &values, scope.name(), place);
        }
    }

    /// Reads the team's files in the working tree at `root`; what the newest name says counts.
    fn read_team_files(&mut self, root: &Path) {
        for name in TEAM_FILES.iter().rev() {
            let path = root.join(name);
            // Reading a link would read whatever it points at.
            let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
            if !metadata.is_file() || MAX_TEAM_FILE_BYTES < metadata.len() {
                self.warnings.push(format!("{name} is no plain file of at most {MAX_TEAM_FILE_BYTES} bytes"));
                continue;
            }
            match std::fs::read_to_string(&path)
                .map_err(|error| error.to_string())
                .and_then(|text| text.parse::<toml::Table>().map_err(|error| error.message().to_owned()))
            {
                Ok(table) => self.take_from_team(name, &table),
                Err(reason) => self.warnings.push(format!("cannot read {name}: {}", plain(&reason))),
            }
        }
    }

    fn take_from_team(&mut self, file: &str, table: &toml::Table) {
        for (section, key) in SECTIONS.iter().flat_map(|section| Some((section, table.get(*section)?))) {
            let Some(tables) = key.as_table() else { continue };
            for (group, values) in tables {
                let one = toml::Table::from_iter([(group.clone(), values.clone())]);
                let values = values.as_table().unwrap_or(&one);
                for (key, value) in values {
                    let is_it = |setting: &&Setting| setting.team == Some((group.as_str(), key.as_str()));
                    match SETTINGS.iter().find(is_it) {
                        Some(setting) => {
                            self.offer(setting, &texts(value), "team", Some(file.to_owned()));
                        }
                        None => {
                            let name = plain(&format!("{section}.{group}.{key}")).replace('\n', " ");
                            self.warnings.push(format!("unknown setting `{name}` in {file}"));
                        }
                    }
                }
            }
        }
    }
}

/// A value of the team's file as git would write it; several for a list.
fn texts(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::String(text) => vec![text.clone()],
        toml::Value::Array(values) => values.iter().flat_map(texts).collect(),
        toml::Value::Integer(number) => vec![number.to_string()],
        toml::Value::Float(number) => vec![number.to_string()],
        toml::Value::Boolean(is_so) => vec![is_so.to_string()],
        toml::Value::Datetime(time) => vec![time.to_string()],
        // A table is no value; said as it is, it makes no sense.
        toml::Value::Table(_) => vec!["{…}".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_variables() {
        assert_eq!(Setting::find("recencyhalflife").unwrap().variable(), "CHRONICLE_RECENCY_HALF_LIFE");
        assert_eq!(Setting::find("chronicle.sync.remotes").unwrap().variable(), "CHRONICLE_SYNC_REMOTES");
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
