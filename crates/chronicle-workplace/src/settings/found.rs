//! Values that were found, and which of them count.

use std::{collections::BTreeMap, path::Path};

use chronicle_core::plain;
use chronicle_git::{ConfigScope, ConfigValue, files};

use super::{
    IgnoredSetting, SETTINGS, Setting, SettingNow, SettingOrigin,
    surroundings::Surroundings,
    table::{Kind, RETIRED, Rule, retired},
};
use crate::allow::Wanted;

/// The team's file, and its older names.
const TEAM_FILES: [&str; 3] = [".chronicle.toml", ".chronicle-config.toml", ".ultragit-config.toml"];
/// The section of git's configuration and the table of the team's file, the older name first.
pub(super) const SECTIONS: [&str; 2] = ["ultragit", "chronicle"];
/// A team's file is a handful of lines.
const MAX_TEAM_FILE_BYTES: u64 = 64 << 10;

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The team's file.
    Team,
    /// Git's configuration.
    Git(ConfigScope),
    /// A variable of ours.
    Environment,
}

impl Speaker {
    fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Git(scope) => scope.name(),
            Self::Environment => "environment",
        }
    }

    /// Whether it is the repository, or what comes with it.
    fn is_project(self) -> bool {
        matches!(self, Self::Team | Self::Git(ConfigScope::Local | ConfigScope::Worktree))
    }
}

/// A value, or several of a list, that was found for a setting.
#[derive(Debug, Clone)]
struct Offer {
    setting: &'static Setting,
    values: Vec<String>,
    by: Speaker,
    place: Option<String>,
}

impl Offer {
    fn value(&self) -> String {
        self.values.join(",")
    }

    fn origin(&self) -> SettingOrigin {
        SettingOrigin { kind: self.by.name(), place: self.place.clone() }
    }
}

/// Values that were found, those that overrule others last.
#[derive(Default)]
pub(super) struct Found {
    offers: Vec<Offer>,
    pub(super) warnings: Vec<String>,
}

/// What counts of the values that were found.
pub(super) struct Settled {
    counting: BTreeMap<&'static str, (String, SettingOrigin)>,
    pub(super) ignored: Vec<IgnoredSetting>,
    pub(super) warnings: Vec<String>,
}

impl Settled {
    pub(super) fn now(&self, setting: &Setting) -> SettingNow {
        let built_in = || (setting.default.to_owned(), SettingOrigin { kind: "default", place: None });
        let (value, origin) = self.counting.get(setting.name).cloned().unwrap_or_else(built_in);
        SettingNow { name: setting.name, value, origin, meaning: setting.meaning }
    }
}

impl Found {
    /// What the repository's configuration sets that only a user may: the value that would count for each.
    pub(super) fn wanted(&self) -> Wanted {
        let wanted = self.offers.iter().filter(|offer| is_wanted(offer));
        wanted.map(|offer| (offer.setting.name.to_owned(), (offer.value(), offer.origin()))).collect()
    }

    /// Whether anything was found in the user's files or those of the machine.
    pub(super) fn has_files_of_user(&self) -> bool {
        let is_users = |by| matches!(by, Speaker::Git(ConfigScope::System | ConfigScope::Global));
        self.offers.iter().any(|offer| is_users(offer.by))
    }

    /// Decides which values count; `is_allowed` says whether the user allowed what the repository's configuration sets.
    pub(super) fn settled(
        self,
        surroundings: Surroundings,
        is_allowed: impl FnOnce(&Self) -> bool,
    ) -> Settled {
        let is_allowed = self.offers.iter().any(is_wanted) && is_allowed(&self);
        let is_users = |by: Speaker| match by {
            Speaker::Team => false,
            Speaker::Git(scope) => surroundings.trusts(scope),
            Speaker::Environment => surroundings.is_attended,
        };
        let mut limits = BTreeMap::new();
        for offer in self.offers.iter().filter(|offer| is_users(offer.by)) {
            if objection(offer).is_none() {
                limits.insert(offer.setting.name, offer.value());
            }
        }
        let mut settled = Settled { counting: BTreeMap::new(), ignored: Vec::new(), warnings: self.warnings };
        for offer in self.offers {
            let limit = limits.get(offer.setting.name).map(String::as_str);
            let refusal = (!is_users(offer.by)).then(|| refusal(&offer, limit, is_allowed)).flatten();
            match (refusal, objection(&offer)) {
                (Some(reason), _) => settled.ignored.push(IgnoredSetting {
                    name: offer.setting.name,
                    value: plain(&offer.value()).replace('\n', " "),
                    origin: offer.origin(),
                    reason,
                }),
                (None, Some(warning)) => settled.warnings.push(warning),
                (None, None) => {
                    settled.counting.insert(offer.setting.name, (offer.value(), offer.origin()));
                }
            }
        }
        settled
    }

    pub(super) fn offer(
        &mut self,
        setting: &'static Setting,
        values: Vec<String>,
        by: Speaker,
        place: Option<String>,
    ) {
        let place = place.map(|place| plain(&place).into_owned());
        self.offers.push(Offer { setting, values, by, place });
    }

    pub(super) fn take_from_git(&mut self, by_git: Vec<ConfigValue>) {
        let mut words: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for ConfigValue { key, value, scope, file } in by_git {
            let place = file.map(|file| file.to_string_lossy().into_owned());
            let place =
                place.or_else(|| (scope == ConfigScope::Command).then(|| "git's own arguments".to_owned()));
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(&key))
            else {
                let at = place.as_deref().unwrap_or(scope.name());
                if let Some((name, _)) = RETIRED.iter().find(|(name, _)| name.eq_ignore_ascii_case(&key)) {
                    self.warnings.push(retired(name, &plain(at)));
                    continue;
                }
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
            self.offer(setting, values, Speaker::Git(scope), place);
        }
    }

    /// Reads the team's files in the working tree at `root`; what the newest name says counts.
    pub(super) fn read_team_files(&mut self, root: &Path) {
        for name in TEAM_FILES.iter().rev() {
            let path = root.join(name);
            // Reading a link would read whatever it points at.
            let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
            if metadata.is_symlink() {
                self.warnings.push(format!("{name} is a symbolic link, which is not followed"));
                continue;
            }
            let text = files::read(&path, MAX_TEAM_FILE_BYTES).map(String::from_utf8);
            match text
                .map_err(|error| error.to_string())
                .and_then(|text| text.map_err(|error| error.to_string()))
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
                            self.offer(setting, texts(value), Speaker::Team, Some(file.to_owned()));
                        }
                        None if RETIRED
                            .iter()
                            .any(|(_, team)| *team == Some((group.as_str(), key.as_str()))) =>
                        {
                            self.warnings.push(retired(&format!("{section}.{group}.{key}"), file));
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

/// Whether a repository's configuration sets what only a user may. The remotes of a sync are kept there by
/// `git chronicle sync` itself.
fn is_wanted(offer: &Offer) -> bool {
    offer.setting.rule == Rule::User && offer.setting.kind != Kind::Words && offer.by.is_project()
}

/// Why a value does not count that the user did not set; `limit` is what the user set.
fn refusal(offer: &Offer, limit: Option<&str>, is_allowed: bool) -> Option<&'static str> {
    let setting = offer.setting;
    let within = |limit: &str| {
        let number = |text: &str| text.parse::<f64>().ok();
        number(limit).is_none_or(|limit| number(&offer.value()).is_none_or(|value| value <= limit))
    };
    let lower = "it is higher than the user's value or the default, and a repository can only lower it";
    match setting.rule {
        Rule::Free => None,
        Rule::User if !offer.by.is_project() => {
            Some("in hooks and in agents' sessions only files of the user set it")
        }
        Rule::User if is_wanted(offer) => (!is_allowed).then_some("only the user sets it, not a repository"),
        Rule::User => None,
        Rule::Lower => (!limit.is_none_or(within)).then_some(lower),
        Rule::Capped => (!within(limit.unwrap_or(setting.default))).then_some(lower),
        Rule::Off => {
            let is_on = limit.unwrap_or(setting.default) == "true";
            (!is_on && offer.value() == "true").then_some("the user turned it off")
        }
    }
}

/// What is wrong with a value that makes no sense.
fn objection(offer: &Offer) -> Option<String> {
    let Offer { setting, values, by, place } = offer;
    let (value, expected) = values.iter().find_map(|value| Some((value, setting.objection(value)?)))?;
    let at = place.as_deref().unwrap_or(by.name());
    let name = setting.name;
    Some(format!("`{name}` is `{}` in {at}, not {expected}; it is ignored", plain(value)))
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
