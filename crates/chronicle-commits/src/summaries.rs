//! Summaries of directories, kept because they take a look at every claim about every file in them.

use chronicle_git::{BStr, Glance};
use serde::{Serialize, de::DeserializeOwned};
use twox_hash::XxHash3_128;

use crate::{
    index::state_hash,
    kept::{CachePlace, Kept},
};

/// Summaries by what they were made of.
#[derive(Debug)]
pub struct Summaries {
    kept: Kept,
}

/// Another number makes every summary that is kept worthless.
const VERSION: u32 = 4;

/// Summaries that are kept; they can be large.
const MAX_SUMMARIES: usize = 16;

/// What a summary is made of: the state of the repository, the files as they are now, and whatever else
/// answers depend on.
#[derive(Debug, PartialEq, Eq)]
pub struct SummaryKey(Vec<u8>);

impl SummaryKey {
    /// The key of a summary in the state that `glance` saw, under these `settings`.
    #[must_use]
    pub fn new(glance: &Glance, settings: &str) -> Self {
        let mut key = Self(Vec::new());
        key.0.extend(VERSION.to_le_bytes());
        key.0.extend(chronicle_outline::OUTLINE_VERSION.to_le_bytes());
        key.0.extend(state_hash(glance).unwrap_or_default().to_le_bytes());
        key.add(settings.as_bytes());
        key
    }

    /// Adds a file with its present bytes; `None` when it is gone.
    pub fn add_file(&mut self, path: &BStr, content: Option<&[u8]>) {
        self.add(path);
        self.0.push(u8::from(content.is_some()));
        self.add(content.unwrap_or_default());
    }

    fn add(&mut self, part: &[u8]) {
        self.0.extend(XxHash3_128::oneshot(part).to_le_bytes());
    }

    fn hash(&self) -> u128 {
        XxHash3_128::oneshot(&self.0)
    }
}

impl Summaries {
    /// Summaries that are kept in the shared state directory of a repository, or not at all.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "summaries") }
    }

    /// What is kept under `key`, if anything is.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &SummaryKey) -> Option<T> {
        postcard::from_bytes(&self.kept.get(key.hash())?).ok()
    }

    /// Keeps `summary`; what cannot be kept is made again.
    pub fn put(&self, key: &SummaryKey, summary: &impl Serialize) {
        if let Ok(bytes) = postcard::to_allocvec(summary) {
            self.kept.put(key.hash(), &bytes);
            self.kept.forget_but(MAX_SUMMARIES);
        }
    }
}
