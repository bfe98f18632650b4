//! What the server needs of the program that runs it: this crate looks up neither the clock nor the environment.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use chronicle::{Chronicle, UnsavedText};
use chronicle_render::View;
use chronicle_workplace::{StartBehind, Workplace};
use jiff::Timestamp;

use crate::documents::Document;

/// What the server needs of the program that runs it.
#[derive(Debug, Clone)]
pub struct Host {
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Whether facts about the repository at a folder are kept for the next question.
    pub keeps_facts: fn(&Path) -> bool,
    /// Looks up variables of the environment.
    pub environment: fn(&str) -> Option<OsString>,
    /// Starts work that takes long and that no answer waits for.
    pub behind: StartBehind,
    /// Says in words what went wrong, as the command line does.
    pub explain: fn(chronicle_workplace::Error) -> String,
    /// How long a text has to rest before it is checked, and how often HEAD and the notes are looked at.
    pub pace: Pace,
}

/// How long the server waits for what.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a text has to rest before it is checked.
    pub rest: Duration,
    /// How often HEAD and the notes are looked at while texts are open.
    pub look: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { rest: Duration::from_millis(250), look: Duration::from_secs(2) }
    }
}

impl Host {
    /// The application for a folder, as of now.
    pub(crate) fn at(&self, folder: &Path) -> Chronicle {
        Chronicle::new(self.workplace(folder))
    }

    /// The application for the folder of a text, as of now: its file is what the text says.
    pub(crate) fn of(&self, document: &Document) -> Chronicle {
        let folder = existing(document.path.parent().unwrap_or(&document.path));
        let unsaved = UnsavedText::new(&document.path, document.text.clone());
        Chronicle::new(self.workplace(&folder).with_unsaved(Some(unsaved)))
    }

    fn workplace(&self, folder: &Path) -> Workplace {
        Workplace::new(folder, (self.now)(), (self.keeps_facts)(folder))
            .with_environment(self.environment)
            .with_behind(self.behind)
    }

    /// How a person sees an answer.
    pub(crate) fn view(&self) -> View {
        View::plain((self.now)())
    }
}

/// The folder, or the nearest one above it that is still there.
fn existing(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
}
