//! Everything that notes say about one file, placed in one version of it.
//!
//! A record depends on the history and the notes, not on the question or the clock.

use chronicle_core::{
    Anchor, Category, ContextLevel, CrossCuttingMember, Entry, EntryId, LineRange, Origin, Region, Related,
    Source, correction::Tier, reading::CrossCuttingItem,
};
use chronicle_git::ObjectId;
use jiff::Timestamp;

use crate::{note::trust::Voice, past::Touch, place::placing::Placement};

/// Everything that notes say about one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileRecord {
    /// Names that it had before, when it had others than its path.
    pub(crate) names: Vec<String>,
    /// Other files that code in it may have come from.
    pub(crate) sources: Vec<String>,
    /// Numbers of the commits that changed it: equal in all records of one answer, newest first.
    pub(crate) places: Vec<u32>,
    /// The same commits; left out where nothing is claimed about the file.
    pub(crate) steps: Vec<Step>,
    /// The annotated commits that changed it.
    pub(crate) annotated: Vec<ObjectId>,
    /// The documents that speak of it.
    pub(crate) headings: Vec<Heading>,
    /// What they claim.
    pub(crate) claims: Vec<Claim>,
    /// Assumptions made elsewhere about it.
    pub(crate) reliances: Vec<Reliance>,
    /// Concerns that span it and other places.
    pub(crate) concerns: Vec<Concern>,
    /// Remarks about notes that could not be read.
    pub(crate) warnings: Vec<String>,
}

/// One commit that changed the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The commit.
    pub(crate) commit: ObjectId,
    /// The file's blob after it; `None` when it took the file away.
    pub(crate) blob: Option<ObjectId>,
    /// The file's blob in its one parent, if that had the file; `None` where there is no such parent, or where the file
    /// had another name, and where that was not kept.
    pub(crate) old: Option<Option<ObjectId>>,
}

impl Step {
    /// What `touch` did, in `commit` with so many parents.
    pub(crate) fn of(touch: &Touch, commit: ObjectId, n_parents: usize) -> Self {
        let is_plain = n_parents == 1 && touch.renamed_from.is_none();
        Self { commit, blob: touch.new, old: is_plain.then_some(touch.old) }
    }
}

/// What a claim's document says of itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heading {
    /// The commit that carries the note.
    pub(crate) commit: ObjectId,
    /// Where that is, when it is not in the history of HEAD.
    pub(crate) elsewhere: Option<String>,
    /// The commit that the document names, when that is another one.
    pub(crate) foreign_commit: Option<String>,
    /// When it was written, as its author wrote it.
    pub(crate) timestamp: String,
    /// The same as a moment; that of the commit where it cannot be read.
    pub(crate) at: Timestamp,
    pub(crate) author: Option<String>,
    /// Who its claims are from.
    pub(crate) voice: Voice,
    pub(crate) source: Source,
    pub(crate) level: ContextLevel,
    pub(crate) task: Option<String>,
}

/// One claim about the file.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// Number of its heading.
    pub(crate) heading: usize,
    pub(crate) id: EntryId,
    pub(crate) body: Body,
    /// The file as the claim, or its commit, calls it.
    pub(crate) name: String,
    pub(crate) placement: Placement,
    /// Commits that changed the file since; `None` off the history.
    pub(crate) commits_since: Option<u32>,
    /// How many of the steps are newer than its commit; `None` off the history.
    pub(crate) n_newer: Option<u32>,
}

/// What a claim says.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Region(Box<Region>),
    /// The summary of a commit that changed the file.
    Summary(String),
    Wisdom(Box<Entry>),
}

/// An assumption made elsewhere about the file.
#[derive(Debug, Clone)]
pub(crate) struct Reliance {
    /// Number of its heading.
    pub(crate) heading: usize,
    /// The claim that declares it.
    pub(crate) id: EntryId,
    pub(crate) from_file: Option<String>,
    pub(crate) from_anchor: Option<String>,
    /// The file as the claim calls it.
    pub(crate) on_file: String,
    pub(crate) on_anchor: Option<String>,
    pub(crate) nature: String,
    /// The moment after which the claim no longer counts.
    pub(crate) expires: Option<Timestamp>,
    /// Whether the file had that name then; otherwise it had it before or later.
    pub(crate) had_name: bool,
}

/// A concern that spans the file and other places.
#[derive(Debug, Clone)]
pub(crate) struct Concern {
    /// Number of its heading.
    pub(crate) heading: usize,
    pub(crate) item: CrossCuttingItem,
    pub(crate) members: Vec<CrossCuttingMember>,
    /// Numbers of the members that are in the file.
    pub(crate) here: Vec<usize>,
    /// Whether the file had one of these names then; otherwise it had them before or later.
    pub(crate) had_name: bool,
}

impl Heading {
    /// Its author, if that is not the user.
    pub(crate) fn other_author(&self) -> Option<String> {
        self.author.clone().filter(|_| self.voice.tier != Tier::Own)
    }
}

impl FileRecord {
    /// Whether a note that says `file` means another one, from which code may have come: it is one of the sources, and
    /// none of the names.
    pub(crate) fn is_elsewhere(&self, file: &str) -> bool {
        // Mostly there is none.
        if self.sources.is_empty() {
            return false;
        }
        let file = file.trim_start_matches("./");
        self.sources.iter().any(|name| name == file) && !self.names.iter().any(|name| name == file)
    }

    /// The number of `heading`, which is added if it is new. One commit's claims come one after the other.
    pub(crate) fn heading(&mut self, heading: &Heading) -> usize {
        let mut of_commit = self.headings.iter().rev().take_while(|known| known.commit == heading.commit);
        if let Some(back) = of_commit.position(|known| known == heading) {
            return self.headings.len() - 1 - back;
        }
        self.headings.push(heading.clone());
        self.headings.len() - 1
    }
}

impl Body {
    pub(crate) fn category(&self) -> Option<Category> {
        match self {
            Self::Wisdom(entry) => Some(entry.category),
            _ => None,
        }
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        match self {
            Self::Wisdom(entry) => entry.origin,
            _ => None,
        }
    }

    pub(crate) fn lines(&self) -> Option<LineRange> {
        match self {
            Self::Region(region) => region.lines,
            Self::Summary(_) => None,
            Self::Wisdom(entry) => entry.lines,
        }
    }

    pub(crate) fn anchor(&self) -> Option<&Anchor> {
        match self {
            Self::Region(region) => region.ast_anchor.as_ref(),
            Self::Summary(_) => None,
            Self::Wisdom(entry) => entry.anchor.as_ref(),
        }
    }

    pub(crate) fn tags(&self) -> &[String] {
        match self {
            Self::Region(region) => &region.tags,
            Self::Summary(_) => &[],
            Self::Wisdom(entry) => &entry.tags,
        }
    }

    pub(crate) fn related(&self) -> &[Related] {
        match self {
            Self::Region(region) => &region.related_annotations,
            Self::Summary(_) => &[],
            Self::Wisdom(entry) => &entry.related,
        }
    }

    /// The moment after which the claim no longer counts.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        match self {
            Self::Wisdom(entry) => expiry(entry),
            _ => None,
        }
    }
}

/// The moment after which `entry` no longer counts.
pub(crate) fn expiry(entry: &Entry) -> Option<Timestamp> {
    entry.expires.as_deref().and_then(chronicle_core::parse_time)
}
