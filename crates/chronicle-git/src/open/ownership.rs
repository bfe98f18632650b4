//! Whether git would work in a repository: its own rules of ownership, applied in one place.
//!
//! Nearly every repository belongs to the user who asks, which three looks at owners show. Where they show anything
//! else, git itself is asked: only git knows `safe.directory`, `safe.bareRepository` and what its version makes of
//! them. It checks before it reads anything of the repository.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

use gix::{
    bstr::{ByteSlice, ByteVec},
    discover::{repository, upwards},
    sec::Trust,
};
use snafu::ResultExt;

use crate::{
    disk::files,
    error::{GitError, NotARepositorySnafu, Result},
    open::{git_dir::git_dir_of, sound},
};

/// Variables that name a repository, or parts of one, to every git.
const NAMING: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Variables under which git judges otherwise than by the user that runs it.
const OTHERWISE: [&str; 2] = ["SUDO_UID", "GIT_TEST_ASSUME_DIFFERENT_OWNER"];

/// Where a repository is, before anything of it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The directory that holds `.git`; `None` for a bare repository.
    root: Option<PathBuf>,
    /// The git directory of this worktree.
    git_dir: PathBuf,
}

/// A repository that git would work in. Only [`Site::trusted`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trusted(Site);

impl Trusted {
    /// The directory that holds `.git`; `None` for a bare repository.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.0.root.as_deref()
    }

    /// The git directory of this worktree.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.0.git_dir
    }
}

impl Site {
    /// The repository that `directory` is in, found as git finds it where its environment names none.
    pub(crate) fn discover(directory: &Path) -> Result<Self> {
        let is_true = |value: OsString| {
            let value = Vec::from_os_string(value).unwrap_or_default();
            gix::config::Boolean::try_from(value.as_bstr()).is_ok_and(gix::config::Boolean::is_true)
        };
        let options = upwards::Options {
            trust: upwards::TrustPolicy::Assume(Trust::Full),
            cross_fs: variable("GIT_DISCOVERY_ACROSS_FILESYSTEM").is_some_and(is_true),
            ..upwards::Options::default().apply_environment()
        };
        // What is looked at on the way, up to the repository, is read as a whole.
        for folder in directory.ancestors() {
            let names = [".git/HEAD", "HEAD", ".git/commondir", "commondir", ".git/gitdir", "gitdir"];
            sound::ensure_short(&names.map(|name| folder.join(name)))?;
            if is_repository(folder) {
                break;
            }
        }
        let found = gix::discover::upwards_opts(directory, options);
        let (found, _) = found.context(NotARepositorySnafu { path: directory })?;
        Ok(match found {
            repository::Path::WorkTree(root) => Self { git_dir: root.join(".git"), root: Some(root) },
            // A git directory may say that it is of a working tree anywhere.
            repository::Path::LinkedWorkTree { work_dir, git_dir } => {
                let is_within = |(directory, root): (PathBuf, PathBuf)| directory.starts_with(root);
                let both = directory.canonicalize().ok().zip(work_dir.canonicalize().ok());
                Self { root: Some(work_dir).filter(|_| both.is_some_and(is_within)), git_dir }
            }
            repository::Path::Repository(git_dir) => Self { root: None, git_dir },
        })
    }

    /// The working tree that `directory`, which is free of symbolic links, is in: quicker than [`Site::discover`], and
    /// `None` where a bare repository is nearer.
    pub(crate) fn around(directory: &Path) -> Option<Self> {
        for root in directory.ancestors() {
            if let Some(git_dir) = git_dir_of(root) {
                return Some(Self { root: Some(root.to_owned()), git_dir });
            }
            if !root.ends_with(".git") && is_bare(root) {
                return None;
            }
        }
        None
    }

    /// The repository at `directory` itself.
    pub(crate) fn at(directory: &Path) -> Self {
        match git_dir_of(directory) {
            Some(git_dir) => Self { root: Some(directory.to_owned()), git_dir },
            None => Self { root: None, git_dir: directory.to_owned() },
        }
    }

    /// The same, if git would work in it for someone in `directory`.
    pub(crate) fn trusted(self, directory: &Path) -> Result<Trusted> {
        /// What git agreed to while this process runs: its settings are not changed for every question.
        static AGREED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let agreed = || AGREED.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_own() && !agreed().contains(&self.git_dir) {
            self.ask_git(directory)?;
            agreed().insert(self.git_dir.clone());
        }
        match self.is_of_another() {
            Some(other) => Err(GitError::Distrusted {
                path: self.shown(),
                reason: format!(
                    "it claims to be a working tree of `{}`, which lists none there (`git worktree repair` fixes one \
                     that was moved)",
                    other.display()
                ),
            }),
            None => Ok(Trusted(self)),
        }
    }

    /// The repository that this one says to be a working tree of, where that does not say so, too: an unpacked archive could
    /// name any. A linked working tree that was moved is where nothing else is.
    fn is_of_another(&self) -> Option<PathBuf> {
        let read = |name: &str| files::read(&self.git_dir.join(name), files::MAX_BYTES).ok();
        let path = |content: &[u8]| Some(self.git_dir.join(content.trim_ascii().to_path().ok()?));
        let real = |path: &Path| path.canonicalize().ok();
        let git_dir = real(&self.git_dir)?;
        let Some(common_dir) = read("commondir") else {
            // The git directory of one working tree is not that of another one.
            let root = real(self.root.as_ref()?)?;
            let is_elsewhere = git_dir.ends_with(".git") && git_dir.parent() != Some(&root);
            return (is_elsewhere && !self.is_named_by_config(&git_dir, &root)).then_some(git_dir);
        };
        let common_dir = path(&common_dir)?;
        let is_listed = real(&common_dir)
            .is_some_and(|common_dir| git_dir.parent() == Some(&common_dir.join("worktrees")));
        let back = read("gitdir").and_then(|content| real(&path(&content)?));
        let is_back = match (&self.root, back) {
            (Some(root), Some(back)) => back.parent() == real(root).as_deref(),
            _ => true,
        };
        (!is_listed || !is_back).then_some(common_dir)
    }

    /// Whether the configuration of a git directory says that its working tree is `root`, as that of submodules does.
    fn is_named_by_config(&self, git_dir: &Path, root: &Path) -> bool {
        let config = files::read(&git_dir.join("config"), files::MAX_BYTES).unwrap_or_default();
        config.lines().any(|line| {
            let value = line.trim_ascii().strip_prefix(b"worktree").map(<[u8]>::trim_ascii_start);
            let value = value.and_then(|value| value.strip_prefix(b"=")).map(<[u8]>::trim_ascii);
            let named = value.and_then(|value| value.to_path().ok()).map(|path| git_dir.join(path));
            named.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == root)
        })
    }

    /// Whether everything belongs to this user that git looks at. A bare repository that was only found may be
    /// forbidden whoever owns it.
    fn is_own(&self) -> bool {
        let Some(root) = &self.root else { return false };
        let is_own = |path: &Path| gix::sec::identity::is_path_owned_by_current_user(path).unwrap_or(false);
        OTHERWISE.iter().all(|name| variable(name).is_none())
            && [root, &root.join(".git"), &self.git_dir].into_iter().all(|path| is_own(path))
    }

    /// Lets git find the repository, which fails where it would not work in it.
    #[expect(clippy::disallowed_methods, reason = "the rules are git's: see the module's documentation")]
    fn ask_git(&self, directory: &Path) -> Result<()> {
        let mut command = Command::new("git");
        command.args(["rev-parse", "--absolute-git-dir"]).current_dir(directory).stdin(Stdio::null());
        for name in NAMING {
            command.env_remove(name);
        }
        let refused = |reason: String| Err(GitError::Distrusted { path: self.shown(), reason });
        let output = match command.env("LC_ALL", "C").output() {
            Ok(output) => output,
            Err(error) => return refused(format!("git cannot be asked whether it is trusted: {error}")),
        };
        if output.status.success() {
            let found =
                output.stdout.trim_ascii_end().to_path().ok().and_then(|path| path.canonicalize().ok());
            return match found == self.git_dir.canonicalize().ok() && found.is_some() {
                true => Ok(()),
                false => refused("git finds another repository here".to_owned()),
            };
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.contains("detected dubious ownership") {
            return Err(GitError::DubiousOwnership { path: self.shown() });
        }
        if said.contains("safe.bareRepository") {
            return Err(GitError::ForbiddenBare { path: self.shown() });
        }
        refused(said.lines().next().unwrap_or("git gave no reason").trim_start_matches("fatal: ").to_owned())
    }

    /// What git would call it: `safe.directory` names it so.
    fn shown(&self) -> PathBuf {
        let named = self.root.as_ref().unwrap_or(&self.git_dir);
        named.canonicalize().unwrap_or_else(|_| named.clone())
    }
}

/// Why git would not work in the repository that `directory` is in; `None` where it would, where there is none, and
/// where the environment names one.
#[must_use]
pub fn distrust(directory: &Path) -> Option<GitError> {
    if is_named() {
        return None;
    }
    // Nearly every repository is the user's own, which takes no search for what else git might find.
    let around = || Site::around(&directory.canonicalize().ok()?);
    match around() {
        Some(site) if site.is_own() && site.is_of_another().is_none() => None,
        _ => Site::discover(directory).ok()?.trusted(directory).err(),
    }
}

/// Whether git's environment names the repository, which says that it is trusted.
pub(crate) fn is_named() -> bool {
    variable("GIT_DIR").is_some()
}

/// Whether git's environment names another repository, or parts of another one, than the one that `directory` is in. In
/// git's own hooks it names that one.
#[must_use]
pub fn is_named_elsewhere(directory: &Path) -> bool {
    const PARTS: [&str; 3] = ["GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"];
    let named = ["GIT_DIR", "GIT_WORK_TREE"].map(variable);
    if named == [None, None] {
        return PARTS.into_iter().any(|name| variable(name).is_some());
    }
    let Ok(directory) = directory.canonicalize() else { return true };
    let site = Site::around(&directory).unwrap_or_else(|| Site::at(&directory));
    let is_it = |named: &Option<OsString>, path: Option<&Path>| {
        let Some(named) = named else { return true };
        let named = directory.join(named).canonicalize().ok();
        named.is_some() && named == path.and_then(|path| path.canonicalize().ok())
    };
    let is_here = is_it(&named[0], Some(&site.git_dir)) && is_it(&named[1], site.root.as_deref());
    !is_here || PARTS.into_iter().any(|name| variable(name).is_some())
}

/// Whether a folder is the top of a working tree, or a bare repository, whoever it belongs to.
#[must_use]
pub fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok() || is_bare(folder)
}

/// Whether a directory looks like a git directory without a working tree, as git sees it.
fn is_bare(directory: &Path) -> bool {
    directory.join("HEAD").symlink_metadata().is_ok()
        && ["objects", "refs"].into_iter().all(|name| directory.join(name).is_dir())
}

#[expect(clippy::disallowed_methods, reason = "git and gix are steered by these variables, too")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
