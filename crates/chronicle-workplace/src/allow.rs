//! What a user let a repository decide, and where keys went so far.
//!
//! Both are kept in the home of session memory: a folder that was copied, shared or unpacked allows itself nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use chronicle_core::plain;
use chronicle_git::FileLock;
use chronicle_llm::Key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Error, SettingOrigin, Workplace,
    error::{DamagedRecordSnafu, NothingToDoSnafu},
    owned::replace,
};

/// What was allowed, within the home of session memory.
const ALLOWED_FILE: &str = "allowed.json";
/// Where keys went, within the home of session memory.
const ADDRESSES_FILE: &str = "key-addresses.json";
/// Fingerprints of the keys that the user had, within the home of session memory.
const KNOWN_KEYS_FILE: &str = "known-keys.json";
const LOCK_FILE: &str = "allowed.lock";

/// Names of settings, with the value and where that was found.
pub(crate) type Wanted = BTreeMap<String, (String, SettingOrigin)>;

/// A setting that a repository sets and only a user may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WantedSetting {
    /// Its name.
    pub name: String,
    /// The value that would count.
    pub value: String,
    /// Where it was found.
    pub origin: SettingOrigin,
}

/// What a repository wants to decide, and whether it may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Allowance {
    /// Always `chronicle-allow/v1`.
    pub schema: &'static str,
    /// The repository's git directory.
    pub repository: PathBuf,
    /// What it sets that only a user may.
    pub settings: Vec<WantedSetting>,
    /// Whether the user allowed just that.
    pub is_allowed: bool,
    /// What would change for keys that were used before.
    pub keys: Vec<String>,
}

/// A repository, and what it may decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllowedRepository {
    /// Its git directory.
    pub repository: PathBuf,
    /// The values, by the names of the settings. Others count no more than before.
    pub values: BTreeMap<String, String>,
    /// When it was allowed.
    pub at: String,
}

/// What was allowed on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllowedRepositories {
    /// Always `chronicle-allowed/v1`.
    pub schema: String,
    /// The repositories.
    pub repositories: Vec<AllowedRepository>,
}

impl Default for AllowedRepositories {
    fn default() -> Self {
        Self { schema: "chronicle-allowed/v1".to_owned(), repositories: Vec::new() }
    }
}

/// Addresses that keys went to, or fingerprints of keys, by the variable of the key.
type ByVariable = BTreeMap<String, BTreeSet<String>>;

impl Workplace {
    /// What this repository wants to decide.
    ///
    /// # Errors
    /// When there is no repository, or the record cannot be read.
    pub fn wanted_by_repository(&self) -> Result<Allowance, Error> {
        let wanted = self.wanted_here()?;
        let settings = self.settings()?;
        let value = |name: &str| match wanted.get(name) {
            Some((value, _)) => value.clone(),
            None => settings.value(name).to_owned(),
        };
        let (variable, address) = (value("llm.keyVariable"), value("llm.baseUrl"));
        let known = self.addresses_of(&variable)?;
        let is_new = !known.is_empty() && !address.is_empty() && !known.contains(&address);
        let keys = is_new.then(|| {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("the key in {variable} would go to {address}; so far it went to {}", known.join(", "))
        });
        Ok(Allowance {
            schema: "chronicle-allow/v1",
            repository: self.repository_key()?,
            is_allowed: self.allows_repository(&wanted),
            settings: wanted
                .into_iter()
                .map(|(name, (value, origin))| WantedSetting { name, value, origin })
                .collect(),
            keys: keys.into_iter().collect(),
        })
    }

    /// Lets the repository decide what `seen` shows, and nothing that it set since.
    ///
    /// # Errors
    /// When there is nothing, or the record cannot be changed.
    pub fn allow_repository(&self, seen: &Allowance) -> Result<(), Error> {
        if seen.settings.is_empty() {
            return NothingToDoSnafu { reason: "this repository sets nothing that only a user may" }.fail();
        }
        let values = seen.settings.iter().map(|wanted| (wanted.name.clone(), wanted.value.clone())).collect();
        let allowed =
            AllowedRepository { repository: seen.repository.clone(), values, at: self.now().to_string() };
        self.change_allowed(|repositories| {
            repositories.retain(|other| other.repository != allowed.repository);
            repositories.push(allowed);
        })
    }

    /// Lets this repository decide nothing; whether it could before.
    ///
    /// # Errors
    /// When there is no repository, or the record cannot be changed.
    pub fn disallow_repository(&self) -> Result<bool, Error> {
        let here = self.repository_key()?;
        let mut was_allowed = false;
        self.change_allowed(|repositories| {
            let n_before = repositories.len();
            repositories.retain(|other| other.repository != here);
            was_allowed = repositories.len() < n_before;
        })?;
        Ok(was_allowed)
    }

    /// What was allowed on this machine.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn allowed_repositories(&self) -> Result<AllowedRepositories, Error> {
        Ok(read(&self.memory_home()?.join(ALLOWED_FILE))?.unwrap_or_default())
    }

    /// Whether the user allowed this repository just these values.
    pub(crate) fn allows_repository(&self, wanted: &Wanted) -> bool {
        // What cannot be read allows nothing.
        let (Ok(here), Ok(allowed)) = (self.repository_key(), self.allowed_repositories()) else {
            return false;
        };
        allowed.repositories.iter().any(|repository| {
            let values = repository.values.iter();
            repository.repository == here && values.eq(wanted.iter().map(|(name, (value, _))| (name, value)))
        })
    }

    /// The addresses that the key in `variable` went to by the user's own settings.
    pub(crate) fn addresses_of(&self, variable: &str) -> Result<BTreeSet<String>, Error> {
        self.noted(ADDRESSES_FILE, variable)
    }

    /// Notes that the key in `variable` goes to `address`, as the user wants.
    pub(crate) fn note_address(&self, variable: &str, address: &str) -> Result<(), Error> {
        self.note_of_key(ADDRESSES_FILE, variable, address)
    }

    /// Whether `key` was in `variable` when the user ran a command.
    pub(crate) fn knows_key(&self, variable: &str, key: &Key) -> Result<bool, Error> {
        Ok(self.noted(KNOWN_KEYS_FILE, variable)?.contains(&key.fingerprint()))
    }

    /// Notes that the user has `key` in `variable`.
    pub(crate) fn note_key(&self, variable: &str, key: &Key) -> Result<(), Error> {
        match self.knows_key(variable, key)? {
            true => Ok(()),
            false => self.note_of_key(KNOWN_KEYS_FILE, variable, &key.fingerprint()),
        }
    }

    fn noted(&self, file: &str, variable: &str) -> Result<BTreeSet<String>, Error> {
        let known: Option<ByVariable> = read(&self.memory_home()?.join(file))?;
        Ok(known.and_then(|mut known| known.remove(variable)).unwrap_or_default())
    }

    fn note_of_key(&self, file: &str, variable: &str, noted: &str) -> Result<(), Error> {
        let home = self.memory_home()?;
        let path = home.join(file);
        let _lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        let mut known: ByVariable = read(&path)?.unwrap_or_default();
        known.entry(variable.to_owned()).or_default().insert(noted.to_owned());
        replace(&path, &text(&known))
    }

    fn change_allowed(&self, change: impl FnOnce(&mut Vec<AllowedRepository>)) -> Result<(), Error> {
        let home = self.memory_home()?;
        let path = home.join(ALLOWED_FILE);
        let _lock = FileLock::acquire(&home.join(LOCK_FILE))?;
        let mut allowed: AllowedRepositories = read(&path)?.unwrap_or_default();
        change(&mut allowed.repositories);
        replace(&path, &text(&allowed))
    }

    /// What the repository is known by: where it really is.
    fn repository_key(&self) -> Result<PathBuf, Error> {
        let common_dir = self.repository()?.common_dir();
        Ok(common_dir.canonicalize().unwrap_or_else(|_| common_dir.to_owned()))
    }
}

/// A record, if there is one.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            DamagedRecordSnafu { path, reason: plain(&error.to_string()).into_owned() }.build()
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ReadInput { path: path.to_owned(), source }),
    }
}

fn text(record: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(record).expect("it has names for keys");
    text.push('\n');
    text
}
