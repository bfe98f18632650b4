//! What was put where, so that it can be taken out to the byte.
//!
//! The record holds words of ours only, never what files held before. It is a help: what it does
//! not know is found by what it runs.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use chronicle_workplace::Error;
use serde::{Deserialize, Serialize};

use super::{edits::Edit, files::Read, wanted::Piece};

/// The name of the file, in the folder for what is ours.
const FILE: &str = "setup.json";

/// Fails where the record in a git directory, or the folder of ours that it is in, is a link: an archive may have brought it.
pub(super) fn ensure_unlinked(folder: &Path) -> Result<(), Error> {
    let linked = [folder.to_owned(), folder.join(FILE)].into_iter().find(|path| path.is_symlink());
    linked.map_or(Ok(()), |path| {
        let source = io::Error::other("it is a symbolic link, which may lead out of the repository");
        Err(Error::WriteOutput { path, source })
    })
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(skip)]
    folder: PathBuf,
    /// What each file may hold now: after a crash there may be more than one answer.
    #[serde(default)]
    files: BTreeMap<String, Vec<State>>,
    /// Folders that were made, outer ones first.
    #[serde(default)]
    folders: Vec<PathBuf>,
}

/// What one file holds of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Whether there was no file.
    pub(super) made: bool,
    pub(super) edits: Vec<Edit>,
}

impl Record {
    pub(super) fn load(folder: &Path) -> Self {
        let text = Read::of(&folder.join(FILE)).ok().and_then(|read| read.text).unwrap_or_default();
        let read: Self = serde_json::from_str(&text).unwrap_or_default();
        Self { folder: folder.to_owned(), ..read }
    }

    /// Writes it down; without anything to say it goes.
    pub(super) fn store(&self) -> io::Result<()> {
        let path = self.folder.join(FILE);
        let read = Read::of(&path).map_err(io::Error::other)?;
        if self.files.is_empty() && self.folders.is_empty() {
            if read.text.is_some() {
                fs::remove_file(&path)?;
            }
            return Ok(());
        }
        let text = serde_json::to_string(self).map_err(io::Error::other)?;
        read.replace(Some(&text), true).map(drop)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether anything is known of one of these files.
    pub(super) fn has(&self, pieces: &[Piece]) -> bool {
        pieces.iter().any(|piece| !self.states(&piece.path).is_empty())
    }

    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    pub(super) fn add_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders.extend(folders);
        let mut seen = Vec::new();
        self.folders.retain(|folder| {
            !seen.contains(folder) && {
                seen.push(folder.clone());
                true
            }
        });
    }

    /// The folders that are left, to be removed by the caller.
    pub(super) fn take_folders(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.folders)
    }

    /// Takes back what was announced last.
    pub(super) fn withdraw(&mut self, path: &Path) {
        if let Some(states) = self.files.get_mut(&key(path)) {
            states.pop();
            if states.is_empty() {
                self.forget(path);
            }
        }
    }

    pub(super) fn states(&self, path: &Path) -> &[State] {
        self.files.get(&key(path)).map_or(&[], Vec::as_slice)
    }

    /// Whether what was put into a file names this program.
    pub(super) fn names(&self, path: &Path, program: &str) -> bool {
        let named = serde_json::Value::from(program).to_string();
        let named = named.trim_matches('"');
        self.states(path).iter().any(|state| state.edits.iter().any(|edit| edit.text.contains(named)))
    }

    /// Notes what a file will hold, beside what it may hold already.
    pub(super) fn announce(&mut self, path: &Path, state: State) {
        self.files.entry(key(path)).or_default().push(state);
    }

    /// Notes that a file holds now what was announced last.
    pub(super) fn settle(&mut self, path: &Path) {
        if let Some(states) = self.files.get_mut(&key(path)) {
            states.drain(..states.len().saturating_sub(1));
        }
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(&key(path));
    }

    /// The folders on the way to `path` that are not there yet.
    pub(super) fn announce_folders(&mut self, path: &Path) {
        let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        missing.retain(|folder| !self.folders.contains(folder));
        self.folders.extend(missing);
    }

    /// Forgets folders that are elsewhere: the record of a repository may have come with it.
    pub(super) fn keep_folders_below(&mut self, tops: &[&Path]) {
        self.folders.retain(|folder| tops.iter().any(|top| folder.starts_with(top)));
    }

    /// Removes folders that were made, as far as nothing is in them.
    pub(super) fn remove_folders(&mut self) {
        let folders = std::mem::take(&mut self.folders);
        let mut left: Vec<PathBuf> = folders
            .into_iter()
            .rev()
            .filter(|folder| fs::remove_dir(folder).is_err() && folder.exists())
            .collect();
        left.reverse();
        self.folders = left;
    }
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
