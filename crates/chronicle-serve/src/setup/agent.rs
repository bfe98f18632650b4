//! The agents, and where they look for what they are told.

use std::path::{Path, PathBuf};

use super::Ground;
use crate::hooks::Host;

/// For whom agents are set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For the user, in every project.
    User,
    /// For everyone who works on the current repository.
    Project,
}

impl Scope {
    /// The names, as users write them.
    pub const NAMES: [&'static str; 2] = ["user", "project"];

    /// The scope of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "project" => Some(Self::Project),
            _ => None,
        }
    }
}

impl Host {
    /// Its name, as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::OpenCode => "OpenCode",
            Self::Cursor => "Cursor",
        }
    }

    /// The programs that start it.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Cursor => &["cursor", "cursor-agent"],
            Self::Claude => &["claude"],
            Self::Codex => &["codex"],
            Self::Gemini => &["gemini"],
            Self::Copilot => &["copilot"],
            Self::OpenCode => &["opencode"],
        }
    }

    /// The folder of its settings for the user.
    pub(super) fn folder(self, ground: &Ground) -> PathBuf {
        let named = |name: &str| ground.folder_of(name);
        let below_home = |name: &str| ground.home.join(name);
        match self {
            Self::Claude => named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| below_home(".claude")),
            Self::Codex => named("CODEX_HOME").unwrap_or_else(|| below_home(".codex")),
            Self::Gemini => {
                named("GEMINI_CLI_HOME").map_or_else(|| below_home(".gemini"), |home| home.join(".gemini"))
            }
            Self::Copilot => named("COPILOT_HOME").unwrap_or_else(|| below_home(".copilot")),
            Self::OpenCode => {
                named("XDG_CONFIG_HOME").unwrap_or_else(|| below_home(".config")).join("opencode")
            }
            Self::Cursor => below_home(".cursor"),
        }
    }

    /// Whether it reads its settings as JSON without comments, and nothing of a file that has some.
    pub(super) fn is_strict(self) -> bool {
        matches!(self, Self::Claude | Self::Codex)
    }

    /// Whether the agent is on this machine, as far as its folder or its program tell.
    pub(super) fn is_here(self, ground: &Ground) -> bool {
        let path = (ground.environment)("PATH").unwrap_or_default();
        let is_on_path = |program: &&str| {
            std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(program).is_file())
        };
        self.folder(ground).is_dir() || self.programs().iter().any(is_on_path)
    }

    /// The file that tells Claude Code of servers for the user: it lies beside the folder, unless that was moved.
    pub(super) fn state_file(ground: &Ground) -> PathBuf {
        ground.folder_of("CLAUDE_CONFIG_DIR").unwrap_or_else(|| ground.home.clone()).join(".claude.json")
    }
}

/// The one of two names that is there; the first, if neither is.
pub(super) fn either(folder: &Path, first: &str, second: &str) -> PathBuf {
    let (first, second) = (folder.join(first), folder.join(second));
    if !first.exists() && second.exists() { second } else { first }
}
