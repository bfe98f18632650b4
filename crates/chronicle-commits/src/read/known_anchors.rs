//! Which items of code have lessons: so that a name in a prompt leads to its file.
//!
//! It takes a look at every note, so it is kept for each state of the repository.

use std::collections::BTreeMap;

use chronicle_git::{Glance, Repository};
use serde::{Deserialize, Serialize};

use crate::{
    disk_cache::{CachePlace, Kept, state_hash},
    error::Result,
    note::notebook::Notebook,
};

/// The names of items of code that lessons are about, each with a file that had it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownAnchors {
    /// By whole name and by the last part of it; the newest lesson wins.
    files: BTreeMap<String, String>,
}

impl KnownAnchors {
    /// What is kept for the state of the repository that `glance` saw, if anything is.
    #[must_use]
    pub fn kept(glance: &Glance) -> Option<Self> {
        postcard::from_bytes(
            &Kept::new(CachePlace::seen(glance).as_ref(), "anchors").get(state_hash(glance)?)?,
        )
        .ok()
    }

    /// Keeps it for that state; where that cannot be, it is made again.
    pub fn keep(&self, glance: &Glance) {
        if let (Ok(bytes), Some(hash)) = (postcard::to_allocvec(self), state_hash(glance)) {
            Kept::new(CachePlace::seen(glance).as_ref(), "anchors").put(hash, &bytes);
        }
    }

    /// Looks at every note.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn of(repository: &Repository) -> Result<Self> {
        let notebook = Notebook::open(repository, &mut Vec::new())?;
        let mut newest: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (_, raw) in notebook.scan(&mut Vec::new(), |_, _| true) {
            let note = notebook.parse(&raw).note;
            for (document, entry) in note.entries() {
                let (Some(anchor), Some(file)) = (&entry.anchor, &entry.file) else { continue };
                let last = anchor.name.rsplit(['.', '#', ':']).next().unwrap_or_default();
                for name in [anchor.name.as_str(), last] {
                    let known = newest.entry(name.to_owned()).or_default();
                    if known.0 < document.timestamp {
                        *known = (document.timestamp.clone(), file.clone());
                    }
                }
            }
        }
        Ok(Self { files: newest.into_iter().map(|(name, (_, file))| (name, file)).collect() })
    }

    /// A file that had the item called `name`, if a lesson is about it.
    #[must_use]
    pub fn file_of(&self, name: &str) -> Option<&str> {
        let name = name.trim_end_matches("()");
        self.files.get(name).map(String::as_str)
    }
}
