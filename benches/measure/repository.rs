//! A repository to measure in, and programs run in it apart from the user's settings.

use std::env;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) const EMAIL: &str = "bench@example.invalid";

/// Where to run what, and how to keep the user's settings out.
pub(crate) struct Repository {
    pub(crate) work_tree: PathBuf,
    pub(crate) home: PathBuf,
    /// Programs are named by their full path: looking through `PATH` costs as much as a small process.
    pub(crate) git: PathBuf,
    pub(crate) nothing: PathBuf,
    pub(crate) chronicle: PathBuf,
}

impl Repository {
    /// Where a repository under `root` will be; `binary` is what is measured.
    pub(crate) fn new(root: &Path, binary: &Path) -> Self {
        let repo = Self {
            work_tree: root.join("repository"),
            home: root.join("home"),
            git: find_program("git"),
            nothing: find_program("true"),
            chronicle: binary.to_owned(),
        };
        for directory in [&repo.work_tree, &repo.home] {
            fs::create_dir_all(directory).expect("the directory can be made");
        }
        repo
    }

    pub(crate) fn command(&self, program: &Path, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.work_tree)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Bench").env(format!("GIT_{role}_EMAIL"), EMAIL);
            command.env(format!("GIT_{role}_DATE"), "2026-01-15T12:00:00Z");
        }
        command
    }

    pub(crate) fn output(&self, program: &Path, args: &[&str]) -> String {
        let output = self.command(program, args).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {args:?}: {stderr}", program.display());
        String::from_utf8(output.stdout).expect("paths and texts made here are UTF-8")
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.output(&self.git, args)
    }

    /// Feeds `git fast-import` with what `write` writes.
    pub(crate) fn fast_import(&self, args: &[&str], write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut child = self
            .command(&self.git, &["fast-import", "--quiet", "--date-format=raw", "--done"])
            .args(args)
            .stdin(Stdio::piped())
            .spawn()
            .expect("git fast-import starts");
        let mut stream = BufWriter::new(child.stdin.take().expect("stdin is piped"));
        write(&mut stream)
            .and_then(|()| stream.write_all(b"done\n"))
            .expect("git fast-import takes the stream");
        drop(stream);
        assert!(child.wait().expect("git fast-import ends").success(), "git fast-import failed");
    }

    pub(crate) fn time(&self, program: &Path, args: &[&str]) -> Duration {
        self.time_in(&self.work_tree, program, args)
    }

    /// The same in another directory.
    pub(crate) fn time_in(&self, directory: &Path, program: &Path, args: &[&str]) -> Duration {
        let mut command = self.command(program, args);
        command.current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let status = command.status().expect("the program starts");
        let taken = started.elapsed();
        assert!(status.success(), "{} {args:?}: {status}", program.display());
        taken
    }
}

pub(crate) fn search_path() -> std::ffi::OsString {
    #[expect(clippy::disallowed_methods, reason = "the one variable that passes into the isolated runs")]
    let path = env::var_os("PATH");
    path.expect("PATH is set")
}

pub(crate) fn find_program(name: &str) -> PathBuf {
    env::split_paths(&search_path())
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .unwrap_or_else(|| panic!("`{name}` is not on PATH"))
}

/// Runs our binary with a `git` first on `PATH` that counts its runs.
pub(crate) fn count_git_processes(repo: &Repository, args: &[&str]) -> usize {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let tally = directory.path().join("tally");
    let wrapper = directory.path().join("git");
    let script =
        format!("#!/bin/sh\necho run >>'{}'\nexec '{}' \"$@\"\n", tally.display(), repo.git.display());
    fs::write(&wrapper, script).expect("the temporary directory is writable");
    repo.output(&find_program("chmod"), &["+x", &wrapper.display().to_string()]);

    let mut path = directory.path().as_os_str().to_owned();
    path.push(":");
    path.push(search_path());
    let n_runs_after = |program: &Path, args: &[&str]| {
        let status = repo.command(program, args).env("PATH", &path).stdout(Stdio::null()).status();
        assert!(status.expect("the program starts").success(), "{} {args:?} failed", program.display());
        fs::read_to_string(&tally).map_or(0, |runs| runs.lines().count())
    };
    let n_by_us = n_runs_after(&repo.chronicle, args);
    let n_with_proof = n_runs_after(Path::new("git"), &["--version"]);
    assert_eq!(n_with_proof, n_by_us + 1, "the counting git does not count");
    n_by_us
}
