//! What is kept for the next question.

use chronicle_git::LazyRepository;

use crate::{
    disk_cache::{CachePlace, KeptFacts, Progress},
    error::Result,
    outlines::Outlines,
    past::{fill, line::Line},
    place::{departures::Departures, reformatted::Reformatted},
    read::{blames::Blames, removal::Removals},
};

/// What is kept for the next question.
#[derive(Debug)]
pub struct Caches {
    /// Outlines of files.
    pub outlines: Outlines,
    /// Who wrote each line of files.
    pub blames: Blames,
    /// Who took lines away.
    pub removals: Removals,
    /// Where code went that left its file.
    pub departures: Departures,
    /// Where code is that was reformatted.
    pub reformatted: Reformatted,
    /// What never changes about commits and notes.
    pub(crate) facts: KeptFacts,
}

impl Caches {
    /// Kept in that place, or not beyond the life of this value; `progress` shows how far filling the facts is.
    #[must_use]
    pub fn new(place: Option<&CachePlace>, progress: Option<Progress>) -> Self {
        Self {
            outlines: Outlines::new(place),
            blames: Blames::new(place),
            removals: Removals::new(place),
            departures: Departures::new(place),
            reformatted: Reformatted::new(place),
            facts: KeptFacts::new(place, progress),
        }
    }
}

impl Caches {
    /// The same, where texts that are not saved are asked about.
    #[must_use]
    pub fn of_unsaved(self, is_unsaved: bool) -> Self {
        Self { outlines: self.outlines.of_unsaved(is_unsaved), ..self }
    }
}

/// Makes facts complete for questions about the history of HEAD.
///
/// # Errors
/// When the repository cannot be read.
pub fn fill(lazy: &LazyRepository, caches: &Caches) -> Result<()> {
    let repository = lazy.get()?;
    let Some(head) = repository.head()? else { return Ok(()) };
    Line::open(repository, &caches.facts, head, &mut Vec::new()).map(drop)
}

/// Whether questions about the history of HEAD are answered without a long wait.
///
/// # Errors
/// When the repository cannot be read.
pub fn is_near(lazy: &LazyRepository, caches: &Caches) -> Result<bool> {
    let repository = lazy.get()?;
    match repository.head()? {
        Some(head) => caches.facts.asked(|| fill::is_near(repository, caches.facts.get()?, head)),
        None => Ok(true),
    }
}
