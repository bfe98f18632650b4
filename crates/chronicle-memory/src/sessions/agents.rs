//! Where coding agents keep their transcripts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chronicle_workplace::real;

use super::kept::{DATABASE, in_database, is_packed};
use crate::Memory;

/// How deep transcripts lie at most below the folders that are searched.
const DEEPEST: usize = 8;

/// A folder where an agent keeps transcripts: the variable that names another one for `.claude` and the like, the usual
/// place in the user's home, and the part of it that holds them.
struct Known {
    variable: &'static str,
    below_home: &'static str,
    rest: &'static str,
    /// How the names of transcripts begin.
    begins: &'static str,
}

const KNOWN: [Known; 5] = [
    Known { variable: "CLAUDE_CONFIG_DIR", below_home: ".claude", rest: "projects", begins: "" },
    Known { variable: "CODEX_HOME", below_home: ".codex", rest: "sessions", begins: "rollout-" },
    Known { variable: "CODEX_HOME", below_home: ".codex", rest: "archived_sessions", begins: "rollout-" },
    Known { variable: "", below_home: ".gemini", rest: "tmp", begins: "session-" },
    Known { variable: "COPILOT_HOME", below_home: ".copilot", rest: "session-state", begins: "events." },
];
const OPENCODE: Known =
    Known { variable: "XDG_DATA_HOME", below_home: ".local/share", rest: "opencode", begins: "" };

impl Known {
    fn is_one(&self, path: &Path) -> bool {
        match self.below_home {
            // A session lies in the folder of its project; those of sub-agents lie below one named like it.
            ".claude" => path.extension().is_some_and(|extension| extension == "jsonl"),
            _ => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(self.begins) && (is_json(path) || is_packed(path))
            }
        }
    }
}

impl Memory<'_> {
    /// The transcripts of all agents, in no order.
    pub(super) fn kept_transcripts(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for known in &KNOWN {
            if let Some(folder) = self.folder_of(known) {
                walk(&folder, DEEPEST, &|path| known.is_one(path), &mut found);
                walk_links(&folder, &|path| known.is_one(path), &mut found);
            }
        }
        found.extend(self.folder_of(&OPENCODE).iter().flat_map(|folder| in_database(folder)));
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
        let mut folders = KNOWN.iter().chain([&OPENCODE]).filter_map(|known| self.folder_of(known));
        folders.any(|folder| transcript.starts_with(real(&folder)))
            || !self.workplace.is_in_repository(&transcript)
    }

    /// Where an agent keeps transcripts.
    fn folder_of(&self, known: &Known) -> Option<PathBuf> {
        let set = |name: &str| {
            (self.workplace.environment())(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let is_brought = |folder: &Path| self.workplace.is_unattended() && self.workplace.is_brought(folder);
        let named = set(known.variable).filter(|folder| !is_brought(folder));
        let folder = named.or_else(|| {
            let home = set("HOME").or_else(|| set("USERPROFILE"))?;
            (!is_brought(&home)).then(|| home.join(known.below_home))
        });
        folder.map(|folder| folder.join(known.rest))
    }
}

/// The files below `folder` that may be transcripts, or `folder` itself if it is a file.
pub(super) fn below(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        let sessions = folder.parent().filter(|_| folder.ends_with(DATABASE)).map(in_database);
        return sessions.unwrap_or_else(|| vec![folder.to_owned()]);
    }
    let mut found = Vec::new();
    walk(folder, DEEPEST, &is_json, &mut found);
    found.sort();
    found
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
