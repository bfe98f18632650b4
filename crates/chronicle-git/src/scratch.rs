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
    let mut command = Command::new("git");
    #[expect(
        clippy::disallowed_methods,
        reason = "variables about another repository must not reach this one"
    )]
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    let output = command
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .context(IoSnafu { path: "git" })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Process { command: args.join(" "), stderr })
}
