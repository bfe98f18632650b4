//! Settings: which there are, what they are now, and who says so.
//!
//! A later one of these wins: what is built in, the team's file in the working tree, git's own
//! configuration, the environment. A value that makes no sense is passed over with a warning.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use chronicle_core::{distance, plain, score};
use chronicle_git::{ConfigScope, ConfigValue, Glance, UserConfig};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::{OptionExt, ensure};

use crate::{
    Chronicle, Error,
    error::{InvalidSettingSnafu, UnknownSettingSnafu},
};

/// A setting that there is.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, after `chronicle.` in git's configuration.
    pub name: &'static str,
    /// Its table and key in the team's file; none for what a repository must not decide for its clones.
    team: Option<(&'static str, &'static str)>,
    kind: Kind,
    /// The value where nobody says otherwise; empty for none.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A positive number, not necessarily whole.
    Days,
    /// A positive whole number.
    Count,
    /// `true` or `false`.
    Switch,
    /// Several words, each a value of its own.
    Words,
}

/// All settings, by name.
pub const SETTINGS: [Setting; 10] = [
    Setting {
        name: "chunkSize",
        team: Some(("agent", "chunk_size")),
        kind: Kind::Count,
        default: "5",
        meaning: "files that the writing agent takes at once from a large commit",
    },
    Setting {
        name: "defaultMaxRegions",
        team: Some(("read", "default_max_regions")),
        kind: Kind::Count,
        default: "20",
        meaning: "items that a read shows unless --max-regions says otherwise",
    },
    Setting {
        name: "depsScanLimit",
        team: Some(("read", "deps_scan_limit")),
        kind: Kind::Count,
        default: "500",
        meaning: "accepted, without effect: every annotation is looked at",
    },
    Setting {
        name: "maxAgentTurns",
        team: Some(("agent", "max_agent_turns")),
        kind: Kind::Count,
        default: "20",
        meaning: "turns of a conversation of the writing agent",
    },
    Setting {
        name: "maxDiffLines",
        team: Some(("agent", "max_diff_lines")),
        kind: Kind::Count,
        default: "2000",
        meaning: "changed lines beyond which the writing agent leaves a commit alone",
    },
    Setting {
        name: "maxTokensPerResponse",
        team: Some(("agent", "max_tokens_per_response")),
        kind: Kind::Count,
        default: "4096",
        meaning: "tokens of one reply to the writing agent",
    },
    Setting {
        name: "recall",
        team: Some(("agent", "recall")),
        kind: Kind::Switch,
        default: "true",
        meaning: "whether agents are told what is known of the files, names and errors in a prompt",
    },
    Setting {
        name: "recencyHalfLife",
        team: Some(("read", "recency_half_life")),
        kind: Kind::Days,
        default: "180",
        meaning: "days after which an entry counts half as recent",
    },
    Setting {
        name: "recentAnnotationsLimit",
        team: Some(("agent", "recent_annotations_limit")),
        kind: Kind::Count,
        default: "5",
        meaning: "older annotations of a file that the writing agent is shown",
    },
    Setting {
        name: "sync.remotes",
        team: None,
        kind: Kind::Words,
        default: "",
        meaning: "remotes that notes are shared with",
    },
];

/// The team's file, and its older names.
const TEAM_FILES: [&str; 3] = [".chronicle.toml", ".chronicle-config.toml", ".ultragit-config.toml"];
/// The section of git's configuration and the table of the team's file, the older name first.
const SECTIONS: [&str; 2] = ["ultragit", "chronicle"];
/// A team's file is a handful of lines.
const MAX_TEAM_FILE_BYTES: u64 = 64 << 10;

impl Setting {
    /// The setting called `name`, in letters of any size, with `chronicle.` before it or without.
    ///
    /// # Errors
    /// When there is none; the error names the nearest.
    pub fn find(name: &str) -> Result<&'static Self, Error> {
        let wanted = name.strip_prefix("chronicle.").unwrap_or(name);
        let found = SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(wanted));
        found.with_context(|| {
            let nearest = distance::nearest(wanted, &SETTINGS, |setting| setting.name);
            UnknownSettingSnafu { name, nearest: nearest.map_or(SETTINGS[0].name, |setting| setting.name) }
        })
    }

    /// The variable of the environment that overrules everything else: `CHRONICLE_RECENCY_HALF_LIFE`.
    #[must_use]
    pub fn variable(&self) -> String {
        let mut variable = String::from("CHRONICLE_");
        for letter in self.name.chars() {
            match letter {
                '.' => variable.push('_'),
                letter if letter.is_ascii_uppercase() => variable.extend(['_', letter]),
                letter => variable.push(letter.to_ascii_uppercase()),
            }
        }
        variable
    }

    /// Why `value` cannot be a value of this setting.
    fn objection(&self, value: &str) -> Option<&'static str> {
        let is_fit = match self.kind {
            Kind::Days => value.parse().is_ok_and(|days: f64| 0.0 < days && days.is_finite()),
            Kind::Count => value.parse().is_ok_and(|count: u32| 0 < count),
            Kind::Switch => value.parse::<bool>().is_ok(),
            Kind::Words => {
                !value.is_empty() && !value.starts_with('-') && !value.contains(char::is_whitespace)
            }
        };
        (!is_fit).then_some(match self.kind {
            Kind::Days => "a number of days above 0",
            Kind::Count => "a whole number above 0",
            Kind::Switch => "`true` or `false`",
            Kind::Words => "one word",
        })
    }
}

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
    fn value(&self, name: &str) -> &str {
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
        Ok(self.settled(found, by_git))
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
            self.settled(found, Vec::new())
        })
    }

    /// The settings, of what was found in the team's files, what git says and the environment.
    fn settled(&self, mut found: Found, by_git: Vec<ConfigValue>) -> Settings {
        found.take_from_git(by_git);
        for setting in &SETTINGS {
            let variable = setting.variable();
            if let Some(value) = self.variable(&variable) {
                found.offer(setting, &[value], "environment", Some(variable));
            }
        }
        let settings = SETTINGS.iter().map(|setting| found.now(setting)).collect();
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
                Kind::Days | Kind::Count | Kind::Switch => vec![value],
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
        for setting in SETTINGS.iter().filter(|setting| setting.kind != Kind::Words) {
            assert_eq!(setting.objection(setting.default), None, "{}", setting.name);
        }
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.name));
        assert_eq!(Setting::find("defaultMaxRegions").unwrap().default, DEFAULT_MAX_REGIONS.to_string());
        assert_eq!(Setting::find("recencyHalfLife").unwrap().default, score::HALF_LIFE_DAYS.to_string());
    }
}
