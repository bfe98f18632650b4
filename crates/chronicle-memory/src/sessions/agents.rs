//! Where coding agents keep their transcripts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chronicle_workplace::real;

use super::kept::{Database, in_database, is_packed};
use crate::Memory;

/// How deep transcripts lie at most below the folders that are searched.
const DEEPEST: usize = 8;

/// A folder where an agent keeps transcripts: the variable that names another one for `.claude` and the like, the usual
/// place in the user's home, the part of it that holds them, and which files are transcripts.
struct Known {
    variable: &'static str,
    below_home: &'static str,
    rest: &'static str,
    is_one: fn(&Path) -> bool,
}

const fn known(
    variable: &'static str,
    below_home: &'static str,
    rest: &'static str,
    is_one: fn(&Path) -> bool,
) -> Known {
    Known { variable, below_home, rest, is_one }
}

/// What `XDG_DATA_HOME` and `XDG_CONFIG_HOME` name.
const DATA: &str = ".local/share";
const CONFIG: &str = ".config";

/// Where macOS has the settings of editors.
const SUPPORT: &str = "Library/Application Support";

const CLINE: &str = "Code/User/globalStorage/saoudrizwan.claude-dev/tasks";
const ROO: &str = "Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks";
const KILO: &str = "Code/User/globalStorage/kilocode.kilo-code/tasks";

const KNOWN: [Known; 19] = [
    // A session lies in the folder of its project; those of sub-agents lie below one named like it.
    known("CLAUDE_CONFIG_DIR", ".claude", "projects", |path| {
        is_rows(path) && !is_in(path, "tool-results") && !is_in(path, "memory")
    }),
    known("CODEX_HOME", ".codex", "sessions", |path| begins(path, "rollout-")),
    known("CODEX_HOME", ".codex", "archived_sessions", |path| begins(path, "rollout-")),
    known("", ".gemini", "tmp", |path| begins(path, "session-") && is_in(path, "chats")),
    known("COPILOT_HOME", ".copilot", "session-state", |path| {
        begins(path, "events.") && !is_in(path, "files")
    }),
    known("", ".cursor", "projects", |path| {
        is_rows(path) && is_below(path, "agent-transcripts", "subagents")
    }),
    known("", ".qwen", "projects", |path| is_rows(path) && is_below(path, "chats", "subagents")),
    known("KIMI_SHARE_DIR", ".kimi", "sessions", is_wire),
    known("KIMI_CODE_HOME", ".kimi-code", "sessions", is_wire),
    known("", ".factory", "sessions", is_rows),
    known("XDG_DATA_HOME", DATA, "goose/sessions", is_rows),
    known("XDG_DATA_HOME", DATA, "amp/threads", |path| begins(path, "T-")),
    known("", ".cline", "data/tasks", is_task),
    known("XDG_CONFIG_HOME", CONFIG, CLINE, is_task),
    known("XDG_CONFIG_HOME", CONFIG, ROO, is_task),
    known("XDG_CONFIG_HOME", CONFIG, KILO, is_task),
    known("", SUPPORT, CLINE, is_task),
    known("", SUPPORT, ROO, is_task),
    known("", SUPPORT, KILO, is_task),
];

/// Databases of sessions, and where they are.
const DATABASES: [(Database, Known); 6] = [
    (Database::OpenCode, known("XDG_DATA_HOME", DATA, "opencode", is_none)),
    (Database::Goose, known("XDG_DATA_HOME", DATA, "goose/sessions", is_none)),
    (Database::Cursor, known("XDG_CONFIG_HOME", CONFIG, "Cursor/User/globalStorage", is_none)),
    (Database::Cursor, known("", SUPPORT, "Cursor/User/globalStorage", is_none)),
    (Database::Zed, known("XDG_DATA_HOME", DATA, "zed/threads", is_none)),
    (Database::Zed, known("", SUPPORT, "Zed/threads", is_none)),
];

fn is_none(_: &Path) -> bool {
    false
}

fn is_rows(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

fn begins(path: &Path, begin: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(begin) && (is_json(path) || is_packed(path))
}

/// Whether `path` has a folder of one name above it, and none of the other.
fn is_below(path: &Path, name: &str, not: &str) -> bool {
    let has = |name: &str| path.iter().any(|part| part == name);
    has(name) && !has(not)
}

/// Whether the folder of `path`, or one of the two above it, has that name: agents keep what tools say, their own notes and
/// files of a session near the transcripts.
fn is_in(path: &Path, name: &str) -> bool {
    path.ancestors().skip(1).take(3).any(|folder| folder.file_name().is_some_and(|found| found == name))
}

/// Whether it is the wire file of a session of Kimi; sub-agents have others.
fn is_wire(path: &Path) -> bool {
    let agent = path.parent().and_then(Path::file_name).filter(|_| is_below(path, "agents", ""));
    path.file_name().is_some_and(|name| name == "wire.jsonl") && agent.is_none_or(|agent| agent == "main")
}

fn is_task(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "ui_messages.json")
}

impl Memory<'_> {
    /// The transcripts of all agents, in no order.
    pub(super) fn kept_transcripts(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for known in &KNOWN {
            if let Some(folder) = self.folder_of(known) {
                walk(&folder, DEEPEST, &known.is_one, &mut found);
                walk_links(&folder, &known.is_one, &mut found);
            }
        }
        for (database, known) in &DATABASES {
            found.extend(self.folder_of(known).iter().flat_map(|folder| in_database(*database, folder)));
        }
        found
    }

    /// Whether `transcript` may be one of the user's. A repository brings files, and it may bring settings of an agent
    /// that name them, by a variable or in a hook: so where nobody attends, what is in a working tree counts only
    /// below the folders that agents use.
    pub(super) fn may_be_of_user(&self, transcript: &Path) -> bool {
        if !self.workplace.is_unattended() {
            return true;
        }
        let transcript = real(&self.workplace.directory().join(transcript));
        let databases = DATABASES.iter().map(|(_, known)| known);
        let mut folders = KNOWN.iter().chain(databases).filter_map(|known| self.folder_of(known));
        folders.any(|folder| transcript.starts_with(real(&folder)))
            || !self.workplace.is_in_repository(&transcript)
    }

    /// Where an agent keeps transcripts.
    fn folder_of(&self, known: &Known) -> Option<PathBuf> {
        let folder = self.folder_of_agent(known.variable, known.below_home);
        folder.map(|folder| folder.join(known.rest))
    }

    /// The folder of an agent: the one that `variable` names, or else the one of that name in the user's home. None where
    /// a repository may have brought it.
    pub(crate) fn folder_of_agent(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let set = |name: &str| {
            (self.workplace.environment())(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let is_brought = |folder: &Path| self.workplace.is_unattended() && self.workplace.is_brought(folder);
        let named = set(variable).filter(|folder| !is_brought(folder));
        named.or_else(|| {
            let home = set("HOME").or_else(|| set("USERPROFILE"))?;
            (!is_brought(&home)).then(|| home.join(below_home))
        })
    }
}

/// The files below `folder` that may be transcripts, or `folder` itself if it is a file.
pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return sessions_in(folder.to_owned());
    }
    let is_one = |path: &Path| is_json(path) || is_packed(path) || Database::called(path).is_some();
    let mut found = Vec::new();
    walk(folder, DEEPEST, &is_one, &mut found);
    found.sort();
    found.into_iter().flat_map(sessions_in).collect()
}

/// The sessions that a file stands for: those of a database, or itself.
fn sessions_in(file: PathBuf) -> Vec<PathBuf> {
    match file.parent().zip(Database::called(&file)) {
        Some((parent, database)) => in_database(database, parent),
        None => vec![file],
    }
}

/// Whether a file is one of JSON, as its name says.
pub(super) fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
}

/// Finds the files below a folder that are wanted.
pub(super) fn walk(folder: &Path, depth: usize, is_one: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        // Links could lead anywhere, and round in circles.
        if kind.is_dir() && 0 < depth {
            walk(&path, depth - 1, is_one, found);
        } else if kind.is_file() && is_one(&path) {
            found.push(path);
        }
    }
}

/// Finds the files that are wanted below the folders that `folder` links to: users share the folders of projects between
/// worktrees and machines. Each is looked at once, and none that is in `folder` itself.
fn walk_links(folder: &Path, is_one: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    let mut links: Vec<PathBuf> =
        entries.flatten().filter(is_link).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    links.sort();
    let mut seen = vec![real(folder)];
    for link in links {
        let target = real(&link);
        // A link to a folder above would lead round in circles.
        if seen.iter().all(|known| !target.starts_with(known) && !known.starts_with(&target)) {
            walk(&link, DEEPEST - 1, is_one, found);
            seen.push(target);
        }
    }
}
