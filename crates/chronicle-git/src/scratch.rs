//! Throw-away repositories for the tour.

use std::{path::Path, process::Command};

use snafu::ResultExt;

use crate::error::{GitError, IoSnafu, Result};

/// Runs `git ARGS` in `directory` as a made-up author, untouched by the user's settings.
///
/// # Errors
/// When git is missing or says no.
pub fn git(directory: &Path, args: &[&str]) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "a demonstration runs the commands it shows")]
    let output = Command::new("git")
        .args(args)
        .current_dir(directory)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .output()
        .context(IoSnafu { path: "git" })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Process { command: args.join(" "), stderr })
}
