//! Who wrote what, as far as this clone can tell: own, team or unknown (DESIGN section 3).
//!
//! A list of the ids that this clone gave out lies beside the index. An id is put there before
//! what it names is stored, so a crash leaves a name too many and never one too few.

use std::{
    collections::{HashMap, HashSet},
    fs::OpenOptions,
    io::Write,
    path::PathBuf,
};

use chronicle_core::{EntryId, correction::Tier, read_note};
use chronicle_git::{FETCHED_NOTES, GitError, Repository};
use memchr::memmem;

use crate::{
    error::{Result, WriteStagingSnafu},
    gather::summary_id,
};
use snafu::ResultExt;

fn list(repository: &Repository) -> PathBuf {
    repository.shared_state_dir().join("written")
}

/// Notes that `ids` are given out by this clone.
///
/// # Errors
/// When the list cannot be written; nothing may be stored under the ids then.
pub fn record_own<'i>(repository: &Repository, ids: impl IntoIterator<Item = &'i EntryId>) -> Result<()> {
    let lines: String = ids.into_iter().map(|id| format!("{id}\n")).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = list(repository);
    let write = || {
        std::fs::create_dir_all(repository.shared_state_dir())?;
        // One write at the end of the file: what others add at the same time stays whole. What a full
        // disk cut off is ended by the line break in front.
        OpenOptions::new().append(true).create(true).open(&path)?.write_all(format!("\n{lines}").as_bytes())
    };
    write().context(WriteStagingSnafu { path: &path })
}

/// What is known of who wrote what.
pub(crate) struct Trust<'r> {
    repository: &'r Repository,
    own: HashSet<String>,
    /// Where the fetched notes of each remote lie that this clone shares its notes with.
    shared: Vec<String>,
}

impl<'r> Trust<'r> {
    pub(crate) fn of(repository: &'r Repository) -> Self {
        let own = std::fs::read_to_string(list(repository)).unwrap_or_default();
        let shared = repository.shared_remotes();
        Self {
            repository,
            own: own.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            shared: shared.iter().map(|remote| format!("{FETCHED_NOTES}{remote}/")).collect(),
        }
    }

    /// The tier of what has this id and was seen in these refs.
    pub(crate) fn seen(&self, id: &EntryId, refs: &[String]) -> Tier {
        let is_shared = |name: &String| self.shared.iter().any(|prefix| name.starts_with(prefix));
        match self.own.contains(&id.0) {
            true => Tier::Own,
            false if refs.iter().any(is_shared) => Tier::Team,
            false => Tier::Unknown,
        }
    }

    /// The tiers of claims, wherever they lie.
    pub(crate) fn of_claims(&self, ids: HashSet<&EntryId>) -> Result<HashMap<EntryId, Tier>> {
        let mut tiers: HashMap<EntryId, Tier> =
            ids.into_iter().map(|id| (id.clone(), self.seen(id, &[]))).collect();
        let wanted: HashSet<&EntryId> =
            tiers.iter().filter(|(_, tier)| **tier == Tier::Unknown).map(|(id, _)| id).collect();
        if wanted.is_empty() || self.shared.is_empty() {
            return Ok(tiers);
        }
        for id in self.shared_claims(&wanted)? {
            tiers.insert(id, Tier::Team);
        }
        Ok(tiers)
    }

    /// Which of `wanted` are claimed in the notes of remotes that this clone shares its notes with.
    fn shared_claims(&self, wanted: &HashSet<&EntryId>) -> Result<HashSet<EntryId>> {
        // An id that was derived stands in no note of a released tool.
        let is_derived = |id: &&&EntryId| id.0.starts_with("h-") || id.0.starts_with("s-");
        let any_derived = wanted.iter().any(|id| is_derived(&id));
        let needles: Vec<_> = wanted.iter().map(|id| memmem::Finder::new(id.0.as_bytes())).collect();
        let mut blobs = Vec::new();
        for name in self.repository.annotation_refs()? {
            if self.shared.iter().any(|prefix| name.starts_with(prefix)) {
                match self.repository.notes(&name) {
                    Ok(notes) => blobs.extend(notes.into_iter().map(|note| note.blob)),
                    Err(GitError::NotANotesRef { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        blobs.sort_unstable();
        blobs.dedup();
        let found = self.repository.read_many(blobs, |_, content| {
            if !any_derived && !needles.iter().any(|needle| needle.find(content).is_some()) {
                return None;
            }
            let note = read_note(content).note;
            let mut ids: Vec<EntryId> =
                note.entries().into_iter().map(|(_, entry)| entry.id.clone()).collect();
            for document in note.documents() {
                ids.extend(document.regions.iter().map(|region| region.id.clone()));
                ids.push(summary_id(document));
            }
            ids.retain(|id| wanted.contains(id));
            Some(ids)
        });
        Ok(found.into_iter().flat_map(|(_, ids)| ids).collect())
    }
}
