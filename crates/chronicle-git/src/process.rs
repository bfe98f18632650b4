//! Runs `git` where gix cannot do the job.

use std::{
    ffi::{OsStr, OsString},
    io::Write,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use gix::bstr::ByteSlice;
use snafu::ResultExt;

use crate::{
    Repository,
    error::{GitError, IoSnafu, LinkedSnafu, Result},
};

/// Settings under which git runs nothing that a repository names on its own: this is our process, not the user's.
/// What reaches a remote (`core.sshCommand`, credential helpers) is left as it is, for only a push or a fetch asks it.
const QUIET: [&str; 3] = ["core.fsmonitor=false", "protocol.ext.allow=never", "maintenance.auto=false"];
/// The same for hooks; not where git is asked about hooks.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// What has nothing to do with the way to a remote stays out when git talks to one: addresses for bundles, programs that
/// sign a push, and commands that list what other repositories have.
const ONLY_TRANSPORT: [&str; 4] =
    ["fetch.bundleURI=", "transfer.bundleURI=false", "push.gpgSign=false", "core.alternateRefsCommand=true"];
/// Objects are not checked against a list whose name is anybody's: git reads and shows lines of that file.
const UNCHECKED: [&str; 3] =
    ["transfer.fsckObjects=false", "fetch.fsckObjects=false", "receive.fsckObjects=false"];
/// Nobody is there to answer.
const ASKS_NOBODY: [(&str, &str); 4] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
];

/// `git` for a repository that was opened, so that its owner is known: with `--git-dir` git does not look again.
fn command(repository: &Repository) -> Result<Command> {
    let git_dir = repository.git_dir();
    let git_dir = std::path::absolute(git_dir).context(IoSnafu { path: git_dir })?;
    #[expect(clippy::disallowed_methods, reason = "what only git does: see the crate's documentation")]
    let mut command = Command::new("git");
    for setting in QUIET {
        command.args(["-c", setting]);
    }
    // In a hook, git's environment speaks of one index and one quarantine of the caller.
    command.env_remove("GIT_INDEX_FILE").env_remove("GIT_QUARANTINE_PATH").env("LC_ALL", "C");
    command.arg("--git-dir").arg(git_dir);
    Ok(command)
}

/// The same, and no hook runs, neither from a file nor from the configuration.
fn without_hooks(repository: &Repository) -> Result<Command> {
    /// A variable that says how the setting of a hook is, whose name may hold any character.
    const OFF: &str = "CHRONICLE_HOOK_IS_ENABLED";
    let mut command = command(repository)?;
    command.args(["-c", NO_HOOKS]).env(OFF, "false");
    for name in repository.config_hooks() {
        let mut setting = OsString::from("--config-env=hook.");
        setting.push(name);
        setting.push(".enabled=");
        setting.push(OFF);
        command.arg(setting);
    }
    Ok(command)
}

/// Runs `command`, which reads `stdin`, to its end.
fn run(mut command: Command, stdin: &[u8]) -> Result<Output> {
    let program = || std::path::PathBuf::from("git");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context(IoSnafu { path: program() })?;
    let mut input = child.stdin.take().expect("stdin is piped");
    // A git that fails early closes its end; its own message says more than our broken pipe.
    let _closed_early = input.write_all(stdin);
    drop(input);
    child.wait_with_output().context(IoSnafu { path: program() })
}

/// What `git` printed, if it did what it was to do.
fn printed(output: Output, name: &str) -> Result<Vec<u8>> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Process { command: name.to_owned(), stderr })
}

/// Runs `git ARGS` for a repository; returns what it printed.
pub(crate) fn git(repository: &Repository, args: &[&str], stdin: &[u8]) -> Result<Vec<u8>> {
    let mut command = without_hooks(repository)?;
    command.args(args).env("GIT_NO_LAZY_FETCH", "1");
    printed(run(command, stdin)?, args.first().copied().unwrap_or_default())
}

/// Runs `git config ARGS`, which name the file that they are about, in `directory`, which is no repository.
pub(crate) fn git_config(directory: &Path, args: &[&str]) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "git edits its files as only git does")]
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(directory).arg("config").args(args).env("LC_ALL", "C");
    printed(run(command, b"")?, "config")
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

/// Runs `git ARGS` to talk to remotes, from where those with relative paths are found. Their settings are the user's:
/// this is only for what the user asked for, here or with `sync enable`. The environment is only where the user's own is.
pub(crate) fn git_talking(repository: &Repository, args: &[&str], stdin: &[u8]) -> Result<Ran> {
    ensure_no_linked_remotes(repository)?;
    let mut command = without_hooks(repository)?;
    if let Some(variables) = &repository.variables {
        let ours: Vec<(OsString, OsString)> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .envs(ours)
            .envs(ASKS_NOBODY);
    }
    for setting in ONLY_TRANSPORT {
        command.args(["-c", setting]);
    }
    let lists = ["fetch.fsck.skipList", "receive.fsck.skipList", "fsck.skipList"];
    if lists.iter().any(|key| !repository.settings(key).is_empty()) {
        for setting in UNCHECKED {
            command.args(["-c", setting]);
        }
    }
    // The pack that comes may be a difference to what a partial clone lacks.
    if !repository.may_fetch_promised() {
        command.env("GIT_NO_LAZY_FETCH", "1");
    }
    match repository.work_dir() {
        Some(work_dir) => command.arg("--work-tree").arg(".").current_dir(work_dir),
        None => command.current_dir(repository.git_dir()),
    };
    command.args(args);
    let output = run(command, stdin)?;
    Ok(Ran {
        is_success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Fails where a remote that is a file, as they were before git had configuration, leads elsewhere: git would show its
/// first line as an address.
fn ensure_no_linked_remotes(repository: &Repository) -> Result<()> {
    for folder in ["branches", "remotes"].map(|name| repository.common_dir().join(name)) {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let linked = entries.map(|entry| entry.path()).chain([folder]).find(|path| path.is_symlink());
        if let Some(path) = linked {
            return LinkedSnafu { path }.fail();
        }
    }
    Ok(())
}

/// Runs `git ARGS` for a repository, to read only: nothing is locked, written or fetched, and no hook can run.
pub(crate) fn git_reading(repository: &Repository, args: &[&OsStr]) -> Result<Vec<u8>> {
    reading(repository, args, false)
}

/// The same, but git fetches what a partial clone lacks where that is allowed.
pub(crate) fn git_blaming(repository: &Repository, args: &[&OsStr]) -> Result<Vec<u8>> {
    reading(repository, args, repository.may_fetch_promised())
}

fn reading(repository: &Repository, args: &[&OsStr], may_fetch: bool) -> Result<Vec<u8>> {
    let mut command = if may_fetch { without_hooks(repository)? } else { command(repository)? };
    if let Some(work_dir) = repository.work_dir() {
        command.arg("--work-tree").arg(work_dir).current_dir(work_dir);
    }
    command.args(args).env("GIT_OPTIONAL_LOCKS", "0");
    if !may_fetch {
        command.env("GIT_NO_LAZY_FETCH", "1");
    }
    let is_command =
        |arg: &&&OsStr| arg.to_str().is_some_and(|arg| !arg.starts_with('-') && !arg.contains('='));
    let name = args.iter().find(is_command).map(|arg| arg.to_string_lossy()).unwrap_or_default();
    printed(run(command, b"")?, &name)
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

impl Repository {
    /// The version of `git`; `None` when it cannot be run.
    #[must_use]
    pub fn git_version(&self) -> Option<String> {
        let printed = git(self, &["version"], b"").ok()?;
        Some(printed.to_str().ok()?.trim().strip_prefix("git version ")?.to_owned())
    }

    /// Writes the ref `name` with all of its history to a bundle at `path`, which git can fetch from.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn bundle(&self, path: &Path, name: &str) -> Result<()> {
        let path = path.to_string_lossy();
        git(self, &["bundle", "create", "--quiet", &path, name], b"").map(drop)
    }
}
