//! What a page shows, gathered from the use cases.

use std::collections::BTreeSet;

use chronicle::{Chronicle, PresentCode, Status, WisdomItem};
use chronicle_core::{
    correction::Tier,
    reading::{KnowledgeItem, RegionItem},
};
use chronicle_memory::{
    injected::{Injected, InjectedSummary},
    sessions::{ListedSession, ShownSession},
    threads::{OpenItem, PendingCommand},
};
use chronicle_workplace::Error;
use jiff::Timestamp;

use crate::{ViewError, error::NothingSnafu, words};

/// Sessions that are shown whole; older ones only count in the plots.
const MOST_SESSIONS: usize = 200;
/// Sessions that the plots count.
const MOST_COUNTED: usize = 10_000;
/// Open items that are shown.
const MOST_OPEN: usize = 500;
/// The newest commits whose coverage is drawn.
const MOST_COMMITS: usize = 5_000;

/// What a page shows.
#[derive(Debug, Clone)]
pub struct Material {
    /// The name of the project.
    pub(crate) project: String,
    /// When it was gathered.
    pub(crate) now: Timestamp,
    /// Lessons, the newest first.
    pub(crate) lessons: Vec<Placed>,
    /// Why commits are as they are, the newest first: each reason once.
    pub(crate) reasons: Vec<RegionItem>,
    /// Rules of the repository as a whole.
    pub(crate) knowledge: Vec<KnowledgeItem>,
    /// How much is annotated.
    pub(crate) coverage: Option<Status>,
    /// Lessons that are left out of a public page, because they came from someone who isn't trusted.
    pub(crate) n_foreign: usize,
    /// Session memory; none on a public page.
    pub(crate) memory: Option<Remembered>,
    /// Remarks about what could not be read.
    pub(crate) warnings: Vec<String>,
}

/// So much of a line of code is kept, in bytes: more than is shown.
const LONGEST_LINE: usize = 2_000;

/// A lesson, and the line of code that it is about.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) lesson: WisdomItem,
    /// The number of the line and what it holds.
    pub(crate) code: Option<(u32, String)>,
}

/// What session memory adds.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    /// Sessions, the latest first.
    pub(crate) sessions: Vec<ShownSession>,
    /// All sessions, for the plots.
    pub(crate) all: Vec<ListedSession>,
    pub(crate) open: Vec<OpenItem>,
    /// How much more is open.
    pub(crate) n_more_open: usize,
    pub(crate) injected: Injected,
    pub(crate) by_week: InjectedSummary,
}

impl Material {
    /// Gathers what is known of the repository, and, unless the page is `public`, of the sessions in it.
    ///
    /// # Errors
    /// When there is no repository or nothing is known, or something cannot be read.
    pub fn gather(chronicle: &Chronicle, public: bool) -> Result<Self, ViewError> {
        let work_dir = chronicle.work_dir()?;
        let reading = chronicle.read_all()?;
        let code = chronicle.present_code();
        let mut lessons = reading.wisdom;
        let mut reasons = reading.regions;
        let n_all = lessons.len() + reasons.len();
        if public {
            lessons.retain(|lesson| lesson.standing.tier != Tier::Unknown);
            reasons.retain(|reason| reason.standing.tier != Tier::Unknown);
        }
        let n_foreign = n_all - lessons.len() - reasons.len();
        let mut knowledge = chronicle.knowledge(None)?.items;
        knowledge.retain(|item| !public || item.tier() != Tier::Unknown);
        let mut material = Self {
            project: work_dir.as_deref().and_then(|folder| folder.file_name()).map_or_else(
                || "this repository".to_owned(),
                |name| words::line(&name.to_string_lossy(), 80),
            ),
            now: chronicle.workplace().now(),
            lessons: lessons.into_iter().map(|lesson| Placed::of(lesson, &code)).collect(),
            reasons: distinct(reasons),
            knowledge,
            coverage: Some(chronicle.status(MOST_COMMITS)?),
            n_foreign,
            memory: None,
            warnings: reading.warnings,
        };
        if !public {
            material.memory = match Remembered::gather(chronicle, &mut material.warnings) {
                Ok(memory) => Some(memory).filter(|memory| !memory.is_empty()),
                // What is known of the code does not hang on session memory.
                Err(ViewError::Chronicle { source: source @ Error::NoHome }) => {
                    material.warnings.push(source.to_string());
                    None
                }
                Err(other) => return Err(other),
            };
        }
        let is_empty =
            material.lessons.is_empty() && material.reasons.is_empty() && material.memory.is_none();
        let reason = match public {
            true => "nothing is annotated here that could be published",
            false => "there are no lessons and no sessions to show",
        };
        snafu::ensure!(!is_empty, NothingSnafu { reason });
        Ok(material)
    }
}

impl Placed {
    fn of(lesson: WisdomItem, code: &PresentCode<'_>) -> Self {
        let place = lesson.standing.file.as_deref().zip(lesson.standing.lines);
        let code = place.and_then(|(file, lines)| code.line(file, lines));
        // A file may be one line, and any number of lessons may be about it.
        let code = code.map(|(number, mut line)| {
            line.truncate(line.floor_char_boundary(LONGEST_LINE));
            line.shrink_to_fit();
            (number, line)
        });
        Self { lesson, code }
    }
}

impl Remembered {
    fn gather(chronicle: &Chronicle, warnings: &mut Vec<String>) -> Result<Self, ViewError> {
        let memory = chronicle.memory();
        let all = memory.sessions(None, false, None, MOST_COUNTED)?.sessions;
        let mut sessions = Vec::new();
        for listed in all.iter().take(MOST_SESSIONS) {
            match memory.session(&listed.session, false) {
                Ok(session) => sessions.push(session),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        let command = PendingCommand { project: None, all: false, archived: false, limit: MOST_OPEN };
        let pending = memory.threads().pending(&command)?;
        Ok(Self {
            sessions,
            all,
            open: pending.items,
            n_more_open: pending.n_more,
            injected: memory.injected(None)?,
            by_week: memory.injected_summary(None)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.open.is_empty() && self.injected.told.is_empty()
    }
}

/// Reasons, the newest first; a commit that gives one for several files gives it once.
fn distinct(mut reasons: Vec<RegionItem>) -> Vec<RegionItem> {
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.standing.at));
    let mut seen = BTreeSet::new();
    reasons.retain(|reason| {
        !reason.intent.trim().is_empty()
            && seen.insert((reason.standing.commit.clone(), reason.intent.clone()))
    });
    reasons
}
