//! Every place of session memory on this machine, and what forgetting does to it.
//!
//! Forgetting works through this list. A test fills all of it and fails on a file that no row covers, so a new place
//! can't be forgotten about.

use std::{fs, io, path::Path};

use crate::Memory;
use chronicle_workplace::{Error, error::WriteOutputSnafu, owned};
use snafu::ResultExt;

/// What forgetting does to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgets {
    /// The rows of the sessions go, and lines of blocks that rest on them.
    Rows,
    /// The files of the sessions go.
    Files,
    /// All of it goes: it is derived, and is made again from what is left.
    Everything,
    /// All words go, as it can't be known whose they are; times and ids stay.
    Words,
    /// Nothing: it holds no words of sessions.
    Nothing,
}

/// A place of session memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPlace {
    /// How its path below the data folder begins.
    pub path: &'static str,
    /// What it holds.
    pub holds: &'static str,
    /// What forgetting does to it.
    pub forgets: Forgets,
}

const fn place(path: &'static str, holds: &'static str, forgets: Forgets) -> TextPlace {
    TextPlace { path, holds, forgets }
}

/// Every place of session memory.
pub const TEXT_PLACES: [TextPlace; 20] = [
    place(
        "chronicle.db",
        "turns, digests, threads, handoffs, blocks, what was learned, the search index",
        Forgets::Rows,
    ),
    place("cold/", "compressed transcripts", Forgets::Files),
    place("digests/", "digests of days, weeks and months", Forgets::Everything),
    place("wordings.json", "a model's wordings of blocks and digests", Forgets::Everything),
    place("injected/", "what agents were shown", Forgets::Words),
    place(
        "shared/",
        "a copy of what machines share; own rows are taken back by the next exchange",
        Forgets::Files,
    ),
    place("share.json", "what is shared, by id", Forgets::Nothing),
    place("sync.json", "the key of your machines, and what this one is called", Forgets::Nothing),
    place("sync.lock", "nothing", Forgets::Nothing),
    place("queue", "paths of transcripts that wait to be read", Forgets::Nothing),
    place("rejected-lessons", "ids of lessons that were rejected", Forgets::Nothing),
    place("trust/", "hashes of what you wrote, and the remotes you exchange notes with", Forgets::Nothing),
    place("spending", "what models cost", Forgets::Nothing),
    place("allowed", "what repositories may set, by their paths", Forgets::Nothing),
    place("key-addresses.json", "where keys of models went, by their variables", Forgets::Nothing),
    place("known-keys.json", "fingerprints of the keys of models that you used", Forgets::Nothing),
    place("edited/", "texts of yours that an editor left and that could not be stored", Forgets::Nothing),
    place("setup", "what `setup` added to settings of agents", Forgets::Nothing),
    place("sleep.lock", "nothing", Forgets::Nothing),
    place("wording.lock", "nothing", Forgets::Nothing),
];

impl TextPlace {
    /// The place that a file below the data folder belongs to.
    #[must_use]
    pub fn of(file: &Path) -> Option<Self> {
        TEXT_PLACES.into_iter().find(|place| file.to_string_lossy().starts_with(place.path))
    }
}

impl Memory<'_> {
    /// Empties the places that hold derived words, or quote what they can't be told apart from.
    pub(crate) fn forget_derived(&self) -> Result<(), Error> {
        let home = self.workplace.memory_home()?;
        for place in TEXT_PLACES {
            match place.forgets {
                Forgets::Everything => remove_all(&home.join(place.path))?,
                Forgets::Words => self.forget_words_shown()?,
                Forgets::Rows | Forgets::Files | Forgets::Nothing => {}
            }
        }
        Ok(())
    }
}

fn remove_all(path: &Path) -> Result<(), Error> {
    if !path.is_dir() {
        return owned::remove(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.context(WriteOutputSnafu { path }),
    }
}
