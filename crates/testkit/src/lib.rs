//! Throw-away repositories for tests, made by the real git with a fixed date and none of the user's settings;
//! transcripts of agents, and services that play a model.

mod cassette;
mod http;
mod script;
mod talk;
mod wires;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub use cassette::Cassette;
pub use http::Asked;
pub use script::{Answer, ScriptedService};
pub use talk::Talk;

/// A repository in a temporary directory that goes away with it.
#[derive(Debug)]
pub struct TestRepo {
    dir: tempfile::TempDir,
    root: PathBuf,
}

/// The date of every test commit, unless a test says otherwise.
pub const DATE: &str = "2026-03-01T12:00:00Z";

impl TestRepo {
    /// An empty repository on branch `main`.
    #[must_use]
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// An empty repository made by `git init ARGS`, such as `--object-format=sha256`.
    #[must_use]
    pub fn with(init: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let root = dir.path().canonicalize().expect("it exists").join("repo");
        std::fs::create_dir(&root).expect("the directory is empty");
        let repo = Self { dir, root };
        repo.git(&[&["init", "--quiet", "--initial-branch=main"], init].concat());
        repo
    }

    /// The root of the working tree.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A directory beside the repository that goes away with it.
    #[must_use]
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("it exists").join(name)
    }

    /// Runs git, which must succeed; returns what it printed, trimmed.
    pub fn git(&self, args: &[impl AsRef<OsStr>]) -> String {
        let output = self.try_git(args);
        let names: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
        assert!(output.status.success(), "git {names:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs git.
    pub fn try_git(&self, args: &[impl AsRef<OsStr>]) -> Output {
        let mut command = command("git", &self.root);
        command.args(args).output().expect("git is installed")
    }

    /// Writes a file, with the directories on the way to it.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let full = self.root.join(path);
        std::fs::create_dir_all(full.parent().expect("a file has a parent"))
            .expect("directories can be made");
        std::fs::write(full, content).expect("the file can be written");
    }

    /// Commits everything there is; returns the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.commit_at(message, DATE)
    }

    /// [`TestRepo::commit`] at another date.
    pub fn commit_at(&self, message: &str, date: &str) -> String {
        self.git(&["add", "--all"]);
        let mut commit = command("git", &self.root);
        commit.args(["commit", "--quiet", "--allow-empty", "-m", message]);
        commit.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
        let output = commit.output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.git(&["rev-parse", "HEAD"])
    }

    /// Puts `content` on `object` as its note, exactly as it is.
    pub fn put_note(&self, notes_ref: &str, object: &str, content: &[u8]) {
        let file = self.beside("note-to-put");
        std::fs::write(&file, content).expect("the file can be written");
        let blob = self.git(&["hash-object", "-w", &file.to_string_lossy()]);
        self.git(&["notes", "--ref", notes_ref, "add", "-f", "-C", &blob, object]);
    }

    /// The note of `object` as it is stored.
    #[must_use]
    pub fn note(&self, notes_ref: &str, object: &str) -> String {
        self.git(&["notes", "--ref", notes_ref, "show", object])
    }
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

/// A command in `directory` that sees a fixed identity and date, and none of the user's settings or memory.
#[must_use]
pub fn command(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "tests run the real git and the real binary")]
    let mut command = Command::new(program);
    #[expect(clippy::disallowed_methods, reason = "the user's settings must not reach a test")]
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("GIT_")
            || name_text.starts_with("CHRONICLE_")
            || is_of_models(&name_text)
            || is_of_agents(&name_text)
        {
            command.env_remove(&name);
        }
    }
    command
        .current_dir(directory)
        .env("CHRONICLE_HOME", user_data(directory))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_AUTHOR_DATE", DATE)
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_DATE", DATE)
        .env("NO_COLOR", "1");
    command
}

/// Whether a variable shows that an agent runs the tests: what they run is run by hand.
fn is_of_agents(name: &str) -> bool {
    const BEGIN: [&str; 8] =
        ["AI_AGENT", "AIDER_", "CLAUDE", "CLINE_", "CODEX_", "COPILOT_", "CURSOR_", "OPENCODE"];
    let others = ["GEMINI_CLI", "GOOSE_TERMINAL", "QWEN_CODE"];
    BEGIN.iter().any(|begin| name.starts_with(begin)) || others.contains(&name)
}

/// The data folder of the user who works in `directory`: each repository has a user of its own, next to it.
pub fn user_data(directory: &Path) -> PathBuf {
    let is_root = |above: &&Path| above.join(".git").exists() || above.join("objects").is_dir();
    let found = directory.ancestors().find(is_root).unwrap_or(Path::new("/nonexistent/session"));
    // A linked worktree is its repository's user's.
    let link = std::fs::read_to_string(found.join(".git")).unwrap_or_default();
    let linked = link.strip_prefix("gitdir: ").and_then(|link| link.split("/.git/worktrees/").next());
    let root = linked.map_or(found, Path::new);
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    root.with_file_name(format!("{name}.memory"))
}

/// Whether a variable could lead a test to a model that costs money, or through a proxy.
fn is_of_models(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.ends_with("_API_KEY") || name.ends_with("_PROXY")
}
