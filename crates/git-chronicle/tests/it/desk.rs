//! A machine with a home directory of its own, on which agents leave transcripts.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
pub(crate) use testkit::Talk;
use testkit::TestRepo;

use crate::outcome::{Outcome, binary, program, run, run_with_input, skip};

/// The time on it.
pub(crate) const NOW: &str = "2026-03-10T12:00:00Z";

/// A repository, and a home beside it.
pub(crate) struct Desk {
    pub(crate) repo: TestRepo,
    pub(crate) home: PathBuf,
    /// The folder of session memory, wherever the repository goes.
    memory: PathBuf,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("src/pool.rs", "fn acquire() {}\n");
        repo.commit("pool: begin");
        // What threads are called depends on it.
        repo.write(".git/chronicle/project", "01K00000000000000000000000\n");
        let home = repo.beside("home");
        fs::create_dir(&home).expect("there is none yet");
        // Where there is none, git writes another.
        fs::write(home.join(".gitconfig"), "").expect("it can be written");
        let memory = testkit::user_data(repo.path());
        Self { repo, home, memory }
    }

    /// The folder of session memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.memory.clone()
    }

    /// The binary, at home here.
    pub(crate) fn command_in(&self, directory: &Path, args: &[&str]) -> Command {
        let mut command = binary(directory, args);
        command
            .env("HOME", &self.home)
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            // The user's files are those in the home here.
            .env_remove("GIT_CONFIG_GLOBAL")
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME")
            .env("CHRONICLE_HOME", self.memory())
            .env("CHRONICLE_FOREGROUND", "1")
            .env("TZ", "UTC")
            .env("CHRONICLE_NOW", NOW);
        command
    }

    /// Lets the user's git configuration say this for a command, also where a hook runs it.
    pub(crate) fn choose(&self, command: &mut Command, settings: &[(&str, &str)]) {
        let folder = self.home.join("chosen");
        fs::create_dir_all(folder.join("git")).expect("it can be made");
        let text = settings.iter().map(|(name, value)| {
            let (section, key) =
                name.rsplit_once('.').map_or((None, *name), |(section, key)| (Some(section), key));
            let section = section.map(|section| format!(" \"{section}\"")).unwrap_or_default();
            format!("[chronicle{section}]\n\t{key} = {value}\n")
        });
        fs::write(folder.join("git/config"), text.collect::<String>()).expect("it can be written");
        command.env("XDG_CONFIG_HOME", folder);
    }

    /// Runs `git chronicle ARGS` in the repository.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.run_in(self.repo.path(), args)
    }

    /// Runs `git chronicle ARGS` in another directory.
    pub(crate) fn run_in(&self, directory: &Path, args: &[&str]) -> Outcome {
        run(&mut self.command_in(directory, args))
    }

    /// The answer in JSON.
    pub(crate) fn ask(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--format=json"]].concat()).success().json()
    }

    /// An editor that does what a line of shell says to `"$1"`.
    pub(crate) fn editor(&self, line: &str) -> PathBuf {
        let path = self.home.join("editor");
        fs::write(&path, format!("#!/bin/sh\n{line}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is there");
        path
    }

    /// Runs `git chronicle ARGS` at a terminal, where somebody types `answer`.
    pub(crate) fn at_terminal(
        &self,
        args: &str,
        answer: &str,
        variables: &[(&str, &str)],
    ) -> Option<Outcome> {
        let like = self.command_in(self.repo.path(), &[] as &[&str]);
        let mut command = testkit::command("script", self.repo.path());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(variables.iter().copied());
        command.args(["-qec", &format!("{} {args}", program()), "/dev/null"]).stdin(Stdio::piped());
        let is_there = testkit::command("script", self.repo.path()).arg("--version").output().is_ok();
        if !is_there {
            skip("there is no `script` that makes a terminal");
            return None;
        }
        Some(run_with_input(&mut command, format!("{answer}\n").as_bytes()))
    }

    /// Takes in whatever agents left.
    pub(crate) fn ingest(&self) -> Value {
        self.ask(&["session", "ingest", "--sweep"])
    }

    /// Leaves a transcript as Claude Code does, and tells where.
    pub(crate) fn leave(&self, talk: &Talk) -> PathBuf {
        let slug = talk.folder.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let path = self.home.join(".claude/projects").join(slug).join(format!("{}.jsonl", talk.session));
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(&path, talk.text()).expect("it can be written");
        path
    }

    /// A conversation in the repository.
    pub(crate) fn talk(&self, session: &str) -> Talk {
        Talk::new(session, &self.repo.path().to_string_lossy())
    }
}
