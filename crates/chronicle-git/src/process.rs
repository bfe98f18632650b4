//! Runs `git` where gix cannot do the job.

use std::{
    ffi::{OsStr, OsString},
    io::Write,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
};

use snafu::ResultExt;

use crate::error::{GitError, IoSnafu, Result};

/// Runs `git ARGS` for the repository at `git_dir`; returns what it printed.
pub(crate) fn git(git_dir: &Path, args: &[&str], stdin: &[u8]) -> Result<Vec<u8>> {
    let program = || std::path::PathBuf::from("git");
    #[expect(clippy::disallowed_methods, reason = "the second backend: see the crate's documentation")]
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(git_dir).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context(IoSnafu { path: program() })?;
    let mut input = child.stdin.take().expect("stdin is piped");
    // A git that fails early closes its end; its own message says more than our broken pipe.
    let _closed_early = input.write_all(stdin);
    drop(input);
    let output = child.wait_with_output().context(IoSnafu { path: program() })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Process { command: args.first().copied().unwrap_or_default().to_owned(), stderr })
}

/// What came of a `git` process.
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// What git gave as the reason, on one line.
    pub(crate) fn reason(&self) -> String {
        let told = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
        let lines: Vec<&str> = self.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let reason =
            lines.iter().find(|line| told(line)).or(lines.last()).copied().unwrap_or("git gave no reason");
        reason.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
    }
}

/// Runs `git ARGS` as if the user had, from where remotes with relative paths are found.
pub(crate) fn git_talking(
    git_dir: &Path,
    work_dir: Option<&Path>,
    args: &[&str],
    stdin: &[u8],
) -> Result<Ran> {
    let git_dir = std::path::absolute(git_dir).context(IoSnafu { path: git_dir })?;
    #[expect(clippy::disallowed_methods, reason = "what only git does: see the crate's documentation")]
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(&git_dir);
    if let Some(work_dir) = work_dir {
        command.arg("--work-tree").arg(".").current_dir(work_dir);
    } else {
        command.current_dir(&git_dir);
    }
    // In a hook, git's environment speaks of one index and one quarantine of the caller.
    command.env_remove("GIT_INDEX_FILE").env_remove("GIT_QUARANTINE_PATH").env("LC_ALL", "C");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = || std::path::PathBuf::from("git");
    let mut child = command.spawn().context(IoSnafu { path: program() })?;
    let mut input = child.stdin.take().expect("stdin is piped");
    // A git that fails early closes its end; its own message says more than our broken pipe.
    let _closed_early = input.write_all(stdin);
    drop(input);
    let output = child.wait_with_output().context(IoSnafu { path: program() })?;
    Ok(Ran {
        is_success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs `git ARGS` for the repository at `git_dir`, to read only: nothing is locked, written or fetched.
pub(crate) fn git_reading(git_dir: &Path, work_dir: Option<&Path>, args: &[&OsStr]) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "what only git knows: see the crate's documentation")]
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(git_dir);
    if let Some(work_dir) = work_dir {
        command.arg("--work-tree").arg(work_dir).current_dir(work_dir);
    }
    command.args(args).stdin(Stdio::null());
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
    let output = command.output().context(IoSnafu { path: std::path::PathBuf::from("git") })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let is_command =
        |arg: &&&OsStr| arg.to_str().is_some_and(|arg| !arg.starts_with('-') && !arg.contains('='));
    let command =
        args.iter().find(is_command).map_or_else(String::new, |arg| arg.to_string_lossy().into_owned());
    Err(GitError::Process { command, stderr })
}

/// Runs `git ARGS` in `directory` as if its user had, but without the variables `hidden`; returns its exit code.
///
/// # Errors
/// When git cannot be started.
pub fn git_for_user(directory: &Path, args: &[OsString], hidden: &[String]) -> Result<i32> {
    #[expect(clippy::disallowed_methods, reason = "the user asked for this very command")]
    let mut command = Command::new("git");
    command.current_dir(directory).args(args);
    for name in hidden {
        command.env_remove(name);
    }
    let status = command.status().context(IoSnafu { path: std::path::PathBuf::from("git") })?;
    // A git that was killed by a signal says so as a shell does.
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}
