//! Changes the repository's configuration, in one step and under git's own lock.
//!
//! `git config --unset` leaves sections or line ends behind. What is to go again without a trace is added
//! as a block of its own at the end of the file and taken out byte for byte; only if someone wrote into it,
//! git unsets the values. Git edits a copy: should it be killed, no lock is left.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::PathBuf,
};

use gix::bstr::ByteSlice;
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, IoSnafu, LinkedSnafu, Result},
    open::state::leads_elsewhere,
    process,
    store::{
        lock_file::{FileSwap, lock_of},
        update::pause,
        write_guard::{CONFIG, WriteGuard},
    },
};

/// One value of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Such as `remote`.
    pub section: &'static str,
    /// Such as `origin`.
    pub subsection: String,
    /// Such as `fetch`.
    pub key: &'static str,
    /// The value.
    pub value: String,
}

/// Whether settings were taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenOut {
    /// The file is as it was before they were added.
    Done,
    /// They are there, but someone added lines to their section.
    Grown,
    /// They are not there in the form in which we add them.
    Absent,
}

/// Stands before a block that follows a line without an end.
const UNENDED: &str = "\n# The line above had no end.\n";
/// Attempts to get at a configuration that git is writing just now.
const MAX_ATTEMPTS: u32 = 20;

impl Setting {
    fn name(&self) -> String {
        format!("{}.{}.{}", self.section, self.subsection, self.key)
    }
}

fn block(settings: &[Setting]) -> String {
    let mut block = String::new();
    for setting in settings {
        let subsection = setting.subsection.replace('\\', "\\\\").replace('"', "\\\"");
        let value = setting.value.replace('\\', "\\\\").replace('"', "\\\"");
        let quoted = if value.contains(['#', ';', '"', '\\', ' ']) { format!("\"{value}\"") } else { value };
        block.push_str(&format!("[{} \"{subsection}\"]\n\t{} = {quoted}\n", setting.section, setting.key));
    }
    block
}

impl Repository {
    /// Adds `settings` at the end of the repository's configuration.
    ///
    /// # Errors
    /// When the file cannot be written, or git keeps it locked.
    pub fn add_settings(&self, settings: &[Setting]) -> Result<()> {
        let block = block(settings);
        self.rewrite_config(|config| {
            let mut changed = config.to_vec();
            if !config.is_empty() && !config.ends_with(b"\n") {
                changed.extend_from_slice(UNENDED.as_bytes());
            }
            changed.extend_from_slice(block.as_bytes());
            Ok(changed)
        })
    }

    /// Takes `settings` that were added together out of the repository's configuration, if they still stand
    /// together there and nothing was added to them.
    ///
    /// # Errors
    /// When the file cannot be written, or git keeps it locked.
    pub fn take_out_settings(&self, settings: &[Setting]) -> Result<TakenOut> {
        let block = block(settings);
        let mut taken_out = TakenOut::Absent;
        self.rewrite_config(|config| {
            let Some(start) = config.rfind(&block) else { return Ok(config.to_vec()) };
            let (before, after) = (&config[..start], &config[start + block.len()..]);
            if !after.is_empty() && !after.starts_with(b"[") && !after.starts_with(UNENDED.as_bytes()) {
                taken_out = TakenOut::Grown;
                return Ok(config.to_vec());
            }
            taken_out = TakenOut::Done;
            Ok([before.strip_suffix(UNENDED.as_bytes()).unwrap_or(before), after].concat())
        })?;
        Ok(taken_out)
    }

    /// Lets git unset `settings`, wherever they stand in the repository's configuration.
    ///
    /// # Errors
    /// When the file cannot be written, or git keeps it locked.
    pub fn unset(&self, settings: &[Setting]) -> Result<()> {
        self.rewrite_config(|config| {
            let mut changed = config.to_vec();
            for setting in settings {
                let args = ["--fixed-value", "--unset-all", &setting.name(), &setting.value];
                // It may be set elsewhere than in the repository; that is not ours to change.
                changed = edited_by_git(&changed, &args).or_else(|error| match error {
                    GitError::Process { stderr, .. } if stderr.is_empty() => Ok(changed),
                    error => Err(error),
                })?;
            }
            Ok(changed)
        })
    }

    /// Sets the setting `name` for this repository.
    ///
    /// # Errors
    /// When git says no, or keeps the file locked.
    pub fn set_config(&self, name: &str, value: &str) -> Result<()> {
        self.rewrite_config(|config| edited_by_git(config, &["--replace-all", name, value]))
    }

    /// Replaces the configuration under git's own lock; `change` runs again when someone else was faster.
    ///
    /// # Errors
    /// Whatever `change` returns; that the file cannot be written; that git keeps it locked.
    pub fn rewrite_config(&self, mut change: impl FnMut(&[u8]) -> Result<Vec<u8>>) -> Result<()> {
        let named = self.config_file();
        let path = named.canonicalize().context(IoSnafu { path: &named })?;
        // It may lead to a file of the user's.
        if leads_elsewhere(&named) {
            return LinkedSnafu { path: named }.fail();
        }
        let mut guard = WriteGuard::take(self, CONFIG)?;
        for attempt in 0..MAX_ATTEMPTS {
            pause(attempt);
            let before = fs::read(&path).context(IoSnafu { path: &path })?;
            let after = change(&before)?;
            if after == before {
                break;
            }
            // Should we die while holding the lock, the next of us knows it by this.
            guard.journal.swapping.insert((CONFIG.to_owned(), self.id_of_blob(&after)));
            guard.store_journal()?;
            let permissions = fs::metadata(&path).context(IoSnafu { path: &path })?.permissions();
            match FileSwap::begin(&self.shared_state_dir(), &path, &after, permissions, true) {
                Ok(swap) if fs::read(&path).is_ok_and(|now| now == before) => {
                    swap.commit().context(IoSnafu { path: &path })?;
                    guard.journal.swapping.clear();
                    break;
                }
                Ok(_changed_meanwhile) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt + 1 < MAX_ATTEMPTS => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(GitError::FileLocked { path: lock_of(&path) });
                }
                Err(source) => return Err(GitError::Io { path: lock_of(&path), source }),
            }
        }
        guard.store_journal()
    }
}

/// What `git config ARGS` makes of a configuration.
pub(crate) fn edited_by_git(config: &[u8], args: &[&str]) -> Result<Vec<u8>> {
    let file = || PathBuf::from("a copy of the configuration");
    let mut copy = tempfile::NamedTempFile::new().context(IoSnafu { path: file() })?;
    copy.write_all(config).context(IoSnafu { path: file() })?;
    let path = copy.path().to_str().ok_or_else(|| GitError::Process {
        command: "config".to_owned(),
        stderr: "the path of temporary files is not text".to_owned(),
    })?;
    // The file is named, so which repository this is does not matter.
    let directory = copy.path().parent().unwrap_or(copy.path());
    process::git_config(directory, &[&["--file", path], args].concat())?;
    fs::read(copy.path()).context(IoSnafu { path: file() })
}
