//! Adds lines to the repository's configuration so that they can be taken out again without a trace.
//!
//! `git config --unset` leaves sections or line ends behind. A block of its own at the end of the
//! file is taken out byte for byte; only if someone wrote into it, git unsets the values.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    time::Duration,
};

use gix::bstr::ByteSlice;
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, IoSnafu, Result},
    process::git_talking,
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
const MAX_ATTEMPTS: u32 = 50;

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
            changed
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
            let Some(start) = config.rfind(&block) else { return config.to_vec() };
            let (before, after) = (&config[..start], &config[start + block.len()..]);
            if !after.is_empty() && !after.starts_with(b"[") && !after.starts_with(UNENDED.as_bytes()) {
                taken_out = TakenOut::Grown;
                return config.to_vec();
            }
            taken_out = TakenOut::Done;
            [before.strip_suffix(UNENDED.as_bytes()).unwrap_or(before), after].concat()
        })?;
        Ok(taken_out)
    }

    /// Lets git unset `settings`, wherever they stand in the repository's configuration.
    ///
    /// # Errors
    /// When git cannot write the file.
    pub fn unset(&self, settings: &[Setting]) -> Result<()> {
        for setting in
            settings.iter().filter(|setting| self.settings(&setting.name()).contains(&setting.value))
        {
            let args = ["config", "--local", "--fixed-value", "--unset-all", &setting.name(), &setting.value];
            let ran = git_talking(self.git_dir(), self.work_dir(), &args, b"")?;
            // It may be set elsewhere than in the repository; that is not ours to change.
            if !ran.is_success && !ran.stderr.trim().is_empty() {
                return Err(GitError::Process { command: "config".to_owned(), stderr: ran.reason() });
            }
        }
        Ok(())
    }

    /// Replaces the configuration under git's own lock, in one step.
    fn rewrite_config(&self, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<()> {
        let named = self.common_dir().join("config");
        let path = named.canonicalize().context(IoSnafu { path: &named })?;
        let mut lock_name = path.clone().into_os_string();
        lock_name.push(".lock");
        let lock_path = PathBuf::from(lock_name);
        let mut attempt = 0;
        let file = loop {
            match OpenOptions::new().write(true).create_new(true).open(&lock_path) {
                Ok(file) => break file,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < MAX_ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    return Err(GitError::Locked { path: lock_path });
                }
                Err(source) => return Err(GitError::Io { path: lock_path, source }),
            }
        };
        let write = || {
            let config = fs::read(&path)?;
            let changed = change(&config);
            let mut file = file;
            file.set_permissions(fs::metadata(&path)?.permissions())?;
            file.write_all(&changed)?;
            file.sync_all()?;
            fs::rename(&lock_path, &path)
        };
        let written = write();
        if written.is_err() {
            // What is left of a failed attempt would lock everyone out.
            let _removed = fs::remove_file(&lock_path);
        }
        written.context(IoSnafu { path })
    }
}
