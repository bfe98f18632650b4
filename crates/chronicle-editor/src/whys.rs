//! Why lines are as they are, as far as it was looked up: each line of a version once.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chronicle::{LineRange, WhyScope};
use chronicle_render::written_by;

use crate::{documents::Document, host::Host};

/// Of so many lines of one text it is remembered.
const MAX_LINES: usize = 256;

/// Why a line is as it is.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// In words, one line each.
    pub(crate) words: Vec<String>,
    /// The commits that wrote it.
    pub(crate) commits: Vec<String>,
    /// The sessions that wrote it, each with its title.
    pub(crate) sessions: Vec<(String, String)>,
}

/// What was looked up of one version.
struct OfText {
    text: Arc<String>,
    lines: BTreeMap<u32, Arc<Written>>,
}

/// What was looked up, by the name of the text.
#[derive(Default)]
pub(crate) struct Whys(Mutex<HashMap<String, OfText>>);

impl Whys {
    /// Why a line is as it is, if that was looked up.
    pub(crate) fn known(&self, document: &Document, line: u32) -> Option<Arc<Written>> {
        let known = self.lock();
        let of_text = known.get(&document.uri)?;
        Arc::ptr_eq(&of_text.text, &document.text).then(|| of_text.lines.get(&line).cloned())?
    }

    /// Looks it up. Git blames a file once for each commit; what was not committed since is no one's.
    pub(crate) fn look_up(&self, host: &Host, document: &Document, line: u32) -> Arc<Written> {
        if let Some(known) = self.known(document, line) {
            return known;
        }
        let written = Arc::new(written(host, document, line).unwrap_or_default());
        let mut known = self.lock();
        let of_text = known
            .entry(document.uri.clone())
            .or_insert_with(|| OfText { text: document.text.clone(), lines: BTreeMap::new() });
        if !Arc::ptr_eq(&of_text.text, &document.text) || MAX_LINES <= of_text.lines.len() {
            *of_text = OfText { text: document.text.clone(), lines: BTreeMap::new() };
        }
        of_text.lines.insert(line, written.clone());
        written
    }

    /// Forgets a text.
    pub(crate) fn forget(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OfText>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `None` for what is in no commit, or in a repository that git would not work in.
fn written(host: &Host, document: &Document, line: u32) -> Option<Written> {
    let chronicle = host.of(document);
    if document.is_opaque || chronicle.workplace().is_distrusted() {
        return None;
    }
    let lines = LineRange { start: line, end: line };
    let why = chronicle.why(document.path.clone(), WhyScope::Lines(lines)).ok()?;
    Some(Written {
        words: written_by(&why, &host.view()),
        commits: why.commits.into_iter().map(|wrote| wrote.commit).collect(),
        sessions: why.sessions.into_iter().map(|origin| (origin.session, origin.title)).collect(),
    })
}
