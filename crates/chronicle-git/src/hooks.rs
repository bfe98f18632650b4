//! Where git looks for hooks, and hooks that its configuration names.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use gix::bstr::{ByteSlice, ByteVec};
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, IoSnafu, Result},
    process::{git, git_reading},
};

impl Repository {
    /// The directory that git runs this worktree's hooks from, as its configuration says.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn hooks_dir(&self) -> Result<PathBuf> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"].map(OsStr::new);
        let output = git_reading(self.git_dir(), self.work_dir(), &args)?;
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
        let output = git_reading(self.git_dir(), self.work_dir(), &args.map(OsStr::new));
        output.is_ok_and(|output| output.contains_str("chronicle-probe"))
    }

    /// The repository's configuration file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.common_dir().join("config")
    }
}

/// Lets `command` run in the hook `event`, under `name`, by the configuration in `file`.
///
/// # Errors
/// When git cannot write it.
pub fn set_config_hook(file: &Path, name: &str, event: &str, command: &str) -> Result<()> {
    in_file(file, &["--replace-all", &format!("hook.{name}.event"), event])?;
    in_file(file, &["--replace-all", &format!("hook.{name}.command"), command])
}

/// Takes the hook `name` out of the configuration in `file`, if it is there.
///
/// # Errors
/// When git cannot write it.
pub fn unset_config_hook(file: &Path, name: &str) -> Result<()> {
    let content = std::fs::read(file).context(IoSnafu { path: file })?;
    if !content.contains_str(format!("[hook \"{name}\"]")) {
        return Ok(());
    }
    in_file(file, &["--remove-section", &format!("hook.{name}")])
}

fn in_file(file: &Path, args: &[&str]) -> Result<()> {
    let Some(path) = file.to_str() else {
        return Err(GitError::Process {
            command: "config".to_owned(),
            stderr: "the path of the configuration is no text".to_owned(),
        });
    };
    // The file is named, so which repository this is does not matter.
    let directory = file.parent().unwrap_or(Path::new("."));
    git(directory, &[&["config", "--file", path], args].concat(), b"")?;
    Ok(())
}
