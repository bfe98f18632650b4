//! What is asked about: files, the parts of them that are meant, and which of the answers are wanted.

use chronicle_core::{
    Category, ContextLevel, LineRange,
    mentions::{agree, segments},
    reading::Query,
};
use chronicle_git::{BString, ObjectId};
use jiff::Timestamp;

/// What to read about.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The question, as it is echoed.
    pub query: Query,
    /// The files.
    pub files: Vec<ScopeFile>,
    /// The part of each file that is meant; files beyond these are meant as a whole.
    pub scopes: Vec<Scope>,
    /// Which of the answers are wanted.
    pub limits: Limits,
    /// Whether commits of other branches count too.
    pub all: bool,
    /// Days after which recency has fallen to one half.
    pub half_life_days: f64,
    /// The commit whose files and history count, instead of HEAD's history and the files as they are now.
    pub at: Option<ObjectId>,
    /// The time.
    pub now: Timestamp,
}

impl ReadRequest {
    /// The part of the file number `number` that is meant.
    pub(crate) fn scope(&self, number: usize) -> &Scope {
        static WHOLE: Scope = Scope { lines: None, names: Vec::new() };
        self.scopes.get(number).unwrap_or(&WHOLE)
    }
}

/// The part of a file that is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Its lines; `None` for the whole file.
    pub lines: Option<Vec<LineRange>>,
    /// The names of the code that stands there, if it was asked for by name.
    pub names: Vec<String>,
}

impl Scope {
    /// What belongs to either.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.lines = self.lines.zip(other.lines).map(|(ours, theirs)| [ours, theirs].concat());
        self.names.extend(other.names);
        self
    }

    /// Whether `anchor` is one of the names that were asked for.
    pub(crate) fn names(&self, anchor: Option<&str>) -> bool {
        let Some(anchor) = anchor.filter(|_| !self.names.is_empty()) else { return false };
        let anchor = segments(anchor);
        self.names.iter().any(|name| agree(&segments(name), &anchor))
    }
}

/// A file to read about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScopeFile {
    /// Its path now, or the one it had when it was deleted.
    pub path: BString,
    /// Its path at HEAD, which differs when a rename is not committed yet.
    pub at_head: BString,
}

impl From<BString> for ScopeFile {
    fn from(path: BString) -> Self {
        Self { at_head: path.clone(), path }
    }
}

/// Which of the answers are wanted.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Written after this moment.
    pub since: Option<Timestamp>,
    /// With one of these labels; empty for any.
    pub tags: Vec<String>,
    /// Code units are answered as the lessons they hold, and summaries not at all.
    pub lessons_only: bool,
    /// What is claimed about a commit as a whole is answered for each file, also where it concerns several.
    pub per_file: bool,
    /// Of lessons, those of this category only.
    pub category: Option<Category>,
    /// Testimony or inference only.
    pub context_level: Option<ContextLevel>,
    /// Trusted at least so far.
    pub min_confidence: f64,
    /// At most so many items.
    pub max_regions: usize,
    /// Hops of related annotations to follow.
    pub depth: u32,
    /// Whether claims show as they were written, whatever was corrected since.
    pub as_written: bool,
    /// Whether claims about code that is gone count only where that code is asked for by name.
    pub without_gone: bool,
    /// Whether nobody asks which commit took code away.
    pub is_brief: bool,
    /// Whether corrections show the values that they replaced.
    pub with_replaced: bool,
    /// Whether nobody asks how many commits and annotations were looked at: none are counted then.
    pub without_stats: bool,
}

impl Limits {
    /// Whether what was written `at` a moment, with these labels, is wanted.
    pub(crate) fn admit(&self, at: Timestamp, tags: &[String]) -> bool {
        let is_labelled = self.tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag));
        is_labelled && self.since.is_none_or(|since| since < at)
    }
}
