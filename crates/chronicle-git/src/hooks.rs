//! Where git looks for hooks, and hooks that its configuration names.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use gix::bstr::{BString, ByteSlice, ByteVec};

use crate::{
    Repository,
    error::{GitError, Result},
    open::{settings::edited_by_git, sound},
    process::git_reading,
};

impl Repository {
    /// The directory that git runs this worktree's hooks from, as its configuration says.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn hooks_dir(&self) -> Result<PathBuf> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"].map(OsStr::new);
        let output = git_reading(self, &args)?;
        let line = output.strip_suffix(b"\n").unwrap_or(&output).to_vec();
        line.into_path_buf().map_err(|_| GitError::Process {
            command: "rev-parse".to_owned(),
            stderr: "the path of the hooks is not one for this system".to_owned(),
        })
    }

    /// Whether git runs hooks that its configuration names, beside those in files.
    #[must_use]
    pub fn has_config_hooks(&self) -> bool {
        let args = [
            "-c",
            "hook.chronicle-probe.event=post-commit",
            "-c",
            "hook.chronicle-probe.command=true",
            "hook",
            "list",
            "post-commit",
        ];
        let output = git_reading(self, &args.map(OsStr::new));
        output.is_ok_and(|output| output.contains_str("chronicle-probe"))
    }

    /// The names of the hooks that git's configuration names, whatever their scope, and whatever the condition of what it
    /// includes: git may know conditions that gix does not.
    pub(crate) fn config_hooks(&self) -> Vec<OsString> {
        let snapshot = self.inner.config_snapshot();
        let mut names = names_of_hooks(snapshot.plumbing());
        for path in [self.common_dir().join("config"), self.git_dir().join("config.worktree")] {
            names.extend(sound::configs(&path).iter().flat_map(names_of_hooks));
        }
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| Vec::from(name).into_os_string().ok()).collect()
    }

    /// The repository's configuration file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.common_dir().join("config")
    }
}

fn names_of_hooks(config: &gix::config::File) -> Vec<BString> {
    let sections = config.sections_by_name("hook").into_iter().flatten();
    sections.filter_map(|section| Some(section.header().subsection_name()?.to_owned())).collect()
}

/// A configuration in which `command` runs in the hook `event`, under `name`.
///
/// # Errors
/// When git cannot write it.
pub fn with_config_hook(config: &[u8], name: &str, event: &str, command: &str) -> Result<Vec<u8>> {
    let config = edited_by_git(config, &["--replace-all", &format!("hook.{name}.event"), event])?;
    edited_by_git(&config, &["--replace-all", &format!("hook.{name}.command"), command])
}

/// A configuration without the hook `name`.
///
/// # Errors
/// When git cannot write it.
pub fn without_config_hook(config: &[u8], name: &str) -> Result<Vec<u8>> {
    match config.contains_str(format!("[hook \"{name}\"]")) {
        true => edited_by_git(config, &["--remove-section", &format!("hook.{name}")]),
        false => Ok(config.to_vec()),
    }
}
