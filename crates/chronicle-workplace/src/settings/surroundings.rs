//! Who speaks in the environment: the user, or an agent in a repository that tells the agent what to set.
//!
//! An agent's settings may be files that a repository tracks, and they may set variables. So where an agent or one of
//! git's hooks runs this program, only the user's own files say where data and keys go.

use std::{
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

use chronicle_core::surroundings::{PLAIN_VARIABLES, Says, socket};
use chronicle_git::{ConfigScope, UserConfig, Variables, files::is_of_another_account, is_repository};
use snafu::ensure;

use crate::{Error, Workplace, error::HomeInRepositorySnafu};

/// Set where a hook, an agent or the background work that they start runs this program.
pub const UNATTENDED: &str = "CHRONICLE_UNATTENDED";

/// The home of the user's account, as the system and no variable says; the binary looks it up.
pub const ACCOUNT_HOME: &str = "CHRONICLE_ACCOUNT_HOME";

/// Variables that agents set for what they run.
const AGENTS: [&str; 12] = [
    "AGENT",
    "AI_AGENT",
    "AIDER_RUNNING",
    "AMP_CURRENT_THREAD_ID",
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "CLINE_ACTIVE",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "QWEN_CODE",
    "ROO_ACTIVE",
];
/// What the names of the others begin with.
const AGENTS_BEGIN: [&str; 5] = ["CLAUDE_CODE_", "CODEX_", "COPILOT_", "CURSOR_", "OPENCODE"];
/// Of those, what users set for their agents: where they keep files, keys, which service they ask.
const USERS_BEGIN: [&str; 5] = [
    "CLAUDE_CODE_DISABLE_",
    "CLAUDE_CODE_ENABLE_",
    "CLAUDE_CODE_MAX_",
    "CLAUDE_CODE_SKIP_",
    "CLAUDE_CODE_USE_",
];
const USERS_END: [&str; 8] =
    ["_HOME", "_CONFIG", "_CONFIG_CONTENT", "_CONFIG_DIR", "_KEY", "_MODEL", "_PROVIDER_URL", "_TOKEN"];

/// Whether a variable of this name shows that an agent runs this program.
#[must_use]
pub fn is_of_agent(variable: &str) -> bool {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| variable.starts_with(beginning));
    let is_users = begins(&USERS_BEGIN) || USERS_END.iter().any(|end| variable.ends_with(end));
    AGENTS.contains(&variable) || begins(&AGENTS_BEGIN) && !is_users
}

/// Whose words count as the user's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// Whether the environment and git's arguments are the user's.
    pub(super) is_attended: bool,
    /// Whether the files that git takes for the user's are.
    trusts_global: bool,
    /// Whether the file that git takes for the machine's is.
    trusts_system: bool,
}

impl Surroundings {
    pub(super) fn trusts(self, scope: ConfigScope) -> bool {
        match scope {
            ConfigScope::System => self.trusts_system,
            ConfigScope::Global => self.trusts_global,
            ConfigScope::Command => self.is_attended,
            ConfigScope::Local | ConfigScope::Worktree => false,
        }
    }
}

/// Is there where the environment is that of an agent.
pub const OF_AGENT: &str = "CHRONICLE_OF_AGENT";

impl Workplace {
    /// Whether the environment is that of an agent, whose settings a repository may have brought. Git's hooks run for
    /// people, too.
    pub fn is_of_agent(&self) -> bool {
        (self.environment())(OF_AGENT).is_some()
    }

    /// Whether a hook, an agent or the background work that they start runs this: then no variable says where data,
    /// keys and money go.
    pub fn is_unattended(&self) -> bool {
        (self.environment())(UNATTENDED).is_some()
    }

    /// Whose words count; where nothing was found in files that may be the user's, it does not matter whether they are.
    pub(super) fn surroundings(&self, has_files: bool) -> Surroundings {
        let is_attended = !self.is_unattended();
        let none = ["", "/dev/null"];
        let trusts_system = self
            .variable("GIT_CONFIG_SYSTEM")
            .is_none_or(|file| file == "/etc/gitconfig" || none.contains(&&*file));
        Surroundings {
            is_attended,
            trusts_global: is_attended || has_files && self.has_own_files(),
            trusts_system: is_attended || trusts_system,
        }
    }

    /// Whether the files that git takes for the user's are where a user's files are, and not where some variable points
    /// to that a repository may have had set.
    fn has_own_files(&self) -> bool {
        let set = |name: &str| self.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let Some(home) = set("HOME") else { return false };
        let config_home = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let is_own = |folder: &Path| !self.is_brought(folder);
        let usual = [home.join(".gitconfig"), config_home.join("git/config"), PathBuf::from("/dev/null")];
        is_own(&home)
            && is_own(&config_home)
            && set("GIT_CONFIG_GLOBAL").is_none_or(|file| usual.contains(&file))
    }

    /// Whether a path is in a repository, be it the one at hand, one around it or another one; the repository that the
    /// user's whole home is, as the system knows it, is none.
    pub fn is_in_repository(&self, path: &Path) -> bool {
        // What is named by way of a process is wherever that was started.
        let is_of_process = ["/proc", "/dev/fd"].into_iter().any(|root| path.starts_with(root));
        let is_home =
            |folder: &Path| self.variable(ACCOUNT_HOME).is_some_and(|home| real(Path::new(&home)) == folder);
        let is_in = |folder: &Path| is_repository(folder) && !is_home(folder);
        is_of_process || real(&self.directory().join(path)).ancestors().any(is_in)
    }

    /// Whether a folder that a variable names may have come with a repository: its agent's settings may name any that
    /// is in it, and any that is beside it, but not by a path from the root, which they don't know.
    pub fn is_brought(&self, folder: &Path) -> bool {
        // Where a folder on the way is missing, `..` leads elsewhere once that is made.
        let goes_back = folder.components().any(|part| part == Component::ParentDir);
        // Another account may have made the folder for just this.
        let is_strange = || !folder.is_absolute() || goes_back || is_of_another_account(folder);
        self.is_unattended() && (is_strange() || self.is_beside_agent(folder))
            || self.is_in_repository(folder)
    }

    /// Whether a folder is below the one that an agent works in, which may have been unpacked without a repository; not where
    /// that is the user's home, or above it.
    fn is_beside_agent(&self, folder: &Path) -> bool {
        let here = real(self.directory());
        let is_of_home =
            self.variable(ACCOUNT_HOME).is_none_or(|home| real(Path::new(&home)).starts_with(&here));
        !is_of_home && real(folder).starts_with(&here)
    }

    /// All that a program is given of the environment which talks to others, where that is not the user's.
    pub(crate) fn plain_variables(&self) -> Option<Variables> {
        if !self.is_unattended() {
            return None;
        }
        let variables = PLAIN_VARIABLES.into_iter().filter_map(|(name, says)| {
            let value = (self.environment())(name).filter(|value| self.is_plain(says, value))?;
            Some((name, value))
        });
        Some(variables.collect())
    }

    /// Whether a variable that is not the user's says no more than it may.
    fn is_plain(&self, says: Says, value: &OsStr) -> bool {
        let text = value.to_str();
        match says {
            Says::Anything => true,
            Says::Name => text.is_some_and(|text| !text.contains('/')),
            Says::Path => !self.is_brought(Path::new(value)),
            Says::Socket => {
                text.and_then(socket).is_some_and(|path| path.is_empty() || !self.is_brought(Path::new(path)))
            }
        }
    }

    /// A home of session memory that a variable names.
    ///
    /// # Errors
    /// When a repository may have had it set.
    pub(crate) fn outside(&self, home: PathBuf, variable: &'static str) -> Result<PathBuf, Error> {
        ensure!(!self.is_brought(&home), HomeInRepositorySnafu { home, variable });
        Ok(self.directory().join(home))
    }
}

/// The folder around the one that an agent works in which may have come with a repository: the outermost repository around
/// it, or else the folder itself; `None` where that is the user's home, or above it.
#[must_use]
pub fn grounds_of_agent(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let home = environment(ACCOUNT_HOME).map(|home| real(Path::new(&home)));
    let is_of_home = |folder: &Path| home.as_ref().is_some_and(|home| home.starts_with(folder));
    let folders = here.ancestors().take_while(|folder| !is_of_home(folder));
    folders.filter(|folder| is_repository(folder) || *folder == here).last().map(Path::to_owned)
}

/// Whether the files that git takes for the user's and the machine's in such an environment can be read as a whole, or are not
/// there.
#[must_use]
pub fn has_sound_configuration(environment: impl Fn(&str) -> Option<OsString>) -> bool {
    UserConfig::of(environment).is_sound()
}

/// Whether `folder` is in `grounds`, a path without links, whichever way it is named.
#[must_use]
pub fn is_within(folder: &Path, grounds: &Path) -> bool {
    real(folder).starts_with(grounds)
}

/// Where a path leads to, links followed, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = found else { return path };
    let rest = path.strip_prefix(folder).unwrap_or(Path::new(""));
    // What does not exist has no links; `..` goes back within it.
    rest.components().fold(real, |mut real, part| {
        match part {
            Component::ParentDir => drop(real.pop()),
            part => real.push(part),
        }
        real
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_variables_and_users_settings_for_them_are_not_agents() {
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CODEX_SANDBOX",
            "CODEX_THREAD_ID",
            "COPILOT_AGENT_SESSION_ID",
            "CURSOR_AGENT",
            "CURSOR_TRACE_ID",
            "GEMINI_CLI",
            "OPENCODE",
            "AI_AGENT",
        ] {
            assert!(is_of_agent(name), "{name}");
        }
        for name in [
            "CODEX_HOME",
            "COPILOT_HOME",
            "GEMINI_CLI_HOME",
            "CLAUDE_CODE_USE_BEDROCK",
            "OPENCODE_CONFIG",
            "PATH",
        ] {
            assert!(!is_of_agent(name), "{name}");
        }
    }

    #[test]
    fn a_path_is_followed_as_far_as_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("repo")).unwrap();
        std::os::unix::fs::symlink(root.join("repo"), root.join("link")).unwrap();
        assert_eq!(real(&root.join("link/not/there")), root.join("repo/not/there"));
        assert_eq!(real(&root.join("other/../repo/x")), root.join("repo/x"));
        assert_eq!(real(&root.join("link/..")), root);
    }
}
