//! Settings as git keeps them: in its files, in its environment and behind `git -c`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice;

use crate::{Repository, error::Result, open::sound::is_sound, process};

/// A value that some setting has somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigValue {
    /// The setting, without its section and in small letters, such as `recencyhalflife` or `sync.remotes`.
    pub key: String,
    /// The value as it is written; empty for a setting without one.
    pub value: String,
    /// How far it reaches.
    pub scope: ConfigScope,
    /// The file that it stands in, if it is one.
    pub file: Option<PathBuf>,
}

/// How far a value reaches, as `git config --show-scope` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// Everyone on this machine.
    System,
    /// Everything of this user.
    Global,
    /// This repository.
    Local,
    /// This worktree.
    Worktree,
    /// This run: the environment, or `git -c`.
    Command,
}

impl ConfigScope {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Global => "global",
            Self::Local => "local",
            Self::Worktree => "worktree",
            Self::Command => "command",
        }
    }
}

impl Repository {
    /// All values of the settings under `section`; a later one overrules an earlier one.
    ///
    /// What a file includes has the scope of that file, wherever the included one is.
    /// `parameters` is what git says in `GIT_CONFIG_PARAMETERS`, where `git -c` lands.
    #[must_use]
    pub fn config_values(&self, section: &str, parameters: Option<&str>) -> Vec<ConfigValue> {
        values_in(self.inner.config_snapshot().plumbing(), section, parameters)
    }
}

/// The values that [`Repository::config_values`] gives where there is no repository.
#[must_use]
pub fn user_config_values(section: &str, parameters: Option<&str>) -> Vec<ConfigValue> {
    let mut file = gix::config::File::from_globals().unwrap_or_default();
    if let Ok(given) = gix::config::File::from_environment_overrides() {
        let _appended = file.append(given);
    }
    values_in(&file, section, parameters)
}

/// Sets the setting `name` for everything of this user, also where there is no repository.
///
/// # Errors
/// When git says no, or keeps the file locked.
pub fn set_user_config(directory: &Path, name: &str, value: &str) -> Result<()> {
    process::git_config(directory, &["--global", "--replace-all", name, value]).map(drop)
}

fn values_in(file: &gix::config::File, section: &str, parameters: Option<&str>) -> Vec<ConfigValue> {
    let mut values = Vec::new();
    for part in file.sections_by_name(section).into_iter().flatten() {
        let scope = scope_of(part.meta().source);
        let subsection = part.header().subsection_name().map(|name| format!("{}.", name.to_str_lossy()));
        let mut names: Vec<String> = part.value_names().map(|name| name.to_lowercase()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let key = format!("{}{name}", subsection.as_deref().unwrap_or_default());
            values.extend(part.values(&name).into_iter().map(|value| ConfigValue {
                key: key.clone(),
                value: value.to_str_lossy().into_owned(),
                scope,
                file: part.meta().path.clone(),
            }));
        }
    }
    let given = parameters.map(parse_parameters).unwrap_or_default().into_iter();
    values.extend(given.filter_map(|(name, value)| {
        let (given_section, key) = name.split_once('.')?;
        given_section.eq_ignore_ascii_case(section).then(|| ConfigValue {
            key: in_small_letters(key),
            value,
            scope: ConfigScope::Command,
            file: None,
        })
    }));
    values
}

/// Where settings of the user and of the machine may stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserConfig {
    /// The files, whether they exist or not.
    pub(crate) files: Vec<PathBuf>,
    /// What `~` stands for.
    pub(crate) home: Option<PathBuf>,
}

impl UserConfig {
    /// Where git looks in such an environment.
    #[must_use]
    pub fn of(environment: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| environment(name).map(PathBuf::from);
        let home = path("HOME");
        let mut files = vec![path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"))];
        if let Some(file) = path("GIT_CONFIG_GLOBAL") {
            files.push(file);
        } else {
            let config_home = path("XDG_CONFIG_HOME").filter(|path| !path.as_os_str().is_empty());
            let config_home = config_home.or_else(|| home.as_ref().map(|home| home.join(".config")));
            files.extend(config_home.map(|directory| directory.join("git/config")));
            files.extend(home.as_ref().map(|home| home.join(".gitconfig")));
        }
        Self { files, home }
    }

    /// Whether each of the files can be read as a whole, or is not there.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_none = |file: &PathBuf| file.as_os_str().is_empty() || file == Path::new("/dev/null");
        self.files.iter().all(|file| is_none(file) || is_sound(file))
    }
}

fn scope_of(source: gix::config::Source) -> ConfigScope {
    use gix::config::Source;
    match source {
        Source::GitInstallation | Source::System => ConfigScope::System,
        Source::Git | Source::User => ConfigScope::Global,
        Source::Local => ConfigScope::Local,
        Source::Worktree => ConfigScope::Worktree,
        Source::Env | Source::Cli | Source::Api | Source::EnvOverride => ConfigScope::Command,
    }
}

/// The variable's name in small letters; a subsection before it keeps its own.
fn in_small_letters(key: &str) -> String {
    match key.rsplit_once('.') {
        Some((subsection, name)) => format!("{subsection}.{}", name.to_lowercase()),
        None => key.to_lowercase(),
    }
}

/// Takes apart what `git -c` hands on: `'key=value'`, or `'key'='value'`, each quoted as for a shell.
fn parse_parameters(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while let Some((first, after)) = unquote(rest) {
        let (pair, after) = match after.strip_prefix('=') {
            Some(after) => match unquote(after) {
                Some((value, after)) => ((first, value), after),
                None => ((first, String::new()), after),
            },
            None => match first.split_once('=') {
                Some((key, value)) => ((key.to_owned(), value.to_owned()), after),
                None => ((first, String::new()), after),
            },
        };
        pairs.push(pair);
        rest = after.trim_start();
    }
    pairs
}

/// The quoted text at the start of `text`, and what comes after it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut out = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        out.push_str(part);
        // Outside of quotes stands only what cannot stand inside: `\'` and `\!`.
        match after.strip_prefix('\\').map(|after| after.split_at_checked(1)) {
            Some(Some((escaped, after))) if after.starts_with('\'') => {
                out.push_str(escaped);
                rest = &after[1..];
            }
            _ => return Some((out, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let pairs = parse_parameters(text);
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn what_git_hands_on_is_taken_apart() {
        check("'chronicle.a'='1'", &[("chronicle.a", "1")]);
        check("'a.b=c d' 'e.f'='it'\\''s'", &[("a.b", "c d"), ("e.f", "it's")]);
        check("'a.b'=", &[("a.b", "")]);
        check("'a.b'", &[("a.b", "")]);
        check("not quoted", &[]);
        check("'open", &[]);
    }
}
