//! Where coding agents keep their transcripts.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::kept::{DATABASE, in_database};

/// How deep transcripts lie at most below the folders that are searched.
const DEEPEST: usize = 8;

/// The transcripts of all agents, in no order.
pub(super) fn transcripts(environment: fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let variable = |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let folder = |own: &str, below_home: &str, rest: &str| {
        let folder = variable(own).or_else(|| home.as_ref().map(|home| home.join(below_home)));
        folder.map(|folder| folder.join(rest))
    };
    let is_named = |start: &'static str| {
        move |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)) && is_json(path)
        }
    };
    let mut found = Vec::new();
    let mut look = |folder: Option<PathBuf>, is_one: &dyn Fn(&Path) -> bool| {
        if let Some(folder) = folder {
            walk(&folder, DEEPEST, is_one, &mut found);
        }
    };
    look(folder("CLAUDE_CONFIG_DIR", ".claude", "projects"), &is_claude);
    look(folder("CODEX_HOME", ".codex", "sessions"), &is_named("rollout-"));
    look(folder("", ".gemini", "tmp"), &is_named("session-"));
    look(folder("COPILOT_HOME", ".copilot", "session-state"), &is_named("events."));
    found.extend(
        folder("XDG_DATA_HOME", ".local/share", "opencode").iter().flat_map(|folder| in_database(folder)),
    );
    found
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

/// A session lies in the folder of its project; those of sub-agents lie below one named like it.
fn is_claude(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
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
