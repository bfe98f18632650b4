//! The answer of a read: the shape behind `--format json` and every other rendering.

mod json;

use std::collections::HashMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::json::{compact, json_line};
pub use crate::code::locate::{GoneBecause, State};
use crate::{
    Anchor, AntiPattern, Boundary, Category, Constraint, ContextLevel, Convention, DependsOn, EntryId,
    Knowledge, LineRange, Source,
    answer::score::Factors,
    format::correction::{CorrectionItem, Tier},
    text::plain::plain,
};

/// The schema of a [`Reading`] in JSON.
pub const SCHEMA: &str = "chronicle-read/v1";

/// Everything known about the code that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "chronicle-read/v1")]
pub struct Reading {
    /// Always `chronicle-read/v1`.
    pub schema: String,
    /// The file, when one was asked for.
    pub file: Option<String>,
    /// What was asked.
    pub query: Query,
    /// What is known of code units, most trusted first; also the summaries of commits that wrote lines in scope.
    pub regions: Vec<RegionItem>,
    /// Lessons, most trusted first.
    pub wisdom: Vec<WisdomItem>,
    /// Code elsewhere that relies on the code in scope.
    pub dependencies_on_this: Vec<Dependency>,
    /// Concerns that span the code in scope and other places.
    pub cross_cutting: Vec<CrossCuttingItem>,
    /// What the repository knows as a whole about the files in scope.
    pub knowledge: Vec<KnowledgeItem>,
    /// How much was looked at.
    pub stats: Stats,
    /// What was left out to fit the token budget, or beyond `--max-regions`; null when nothing was.
    pub trimmed: Option<Trimmed>,
    /// Remarks about the answer, such as notes that could not be read.
    pub warnings: Vec<String>,
    /// Whether the anchor names several items.
    pub ambiguous_anchor: bool,
    /// Whether any note speaks of the anchor by its name, shown or not.
    #[serde(skip)]
    pub knows_anchor: bool,
    /// The items that a limit on their number left out.
    #[serde(skip)]
    pub beyond_limit: Vec<BeyondLimit>,
}

/// An item that a limit on their number left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeyondLimit {
    /// The commit that carries it.
    pub commit: String,
    /// When it was written.
    pub at: Timestamp,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Query {
    /// The file, when one was asked for.
    pub file: Option<String>,
    /// The files, when several were asked for.
    pub files: Vec<String>,
    /// The anchor.
    pub anchor: Option<String>,
    /// First and last line.
    pub lines: Option<[u32; 2]>,
    /// How many hops of related annotations were followed.
    pub depth: u32,
}

/// What every item says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// Names the claim.
    pub id: EntryId,
    /// The commit that carries it.
    pub commit: String,
    /// When it was written, as its author wrote it.
    pub timestamp: String,
    /// The same as a moment, for sorting and ages.
    #[serde(skip)]
    pub at: Timestamp,
    /// Who wrote it, in their own words.
    pub author: Option<String>,
    /// How far its author is trusted: `own` when the user wrote it on this machine, `team` when it came from a
    /// remote that the user enabled, else `unknown`.
    pub tier: Tier,
    /// Where it came from, unless it is the user's own: a remote, or a notes ref.
    pub origin: Option<String>,
    /// How its document came to be.
    pub source: Source,
    /// Testimony or inference.
    pub context_level: ContextLevel,
    /// How far it can be trusted, 0 to 1.
    pub confidence: f64,
    /// Why so far.
    pub confidence_factors: Factors,
    /// Commits that changed the file since; null where that cannot be told.
    pub commits_since: Option<u32>,
    /// The file as it is called now.
    pub file: Option<String>,
    /// The file as it was called then, when that differs.
    pub file_recorded: Option<String>,
    /// The lines where it is now; null when gone or when it is about no lines.
    pub lines: Option<LineRange>,
    /// The lines as they were recorded.
    pub lines_recorded: Option<LineRange>,
    /// Ranges it may belong to, when no single one is known.
    pub near: Vec<LineRange>,
    /// What became of the code it speaks of.
    pub state: State,
    /// Why the code is gone; null when it is there.
    pub gone_because: Option<GoneBecause>,
    /// The commit that took the code away.
    pub gone_since: Option<String>,
    /// Where the code went; null where it is nowhere, or nobody knows.
    pub moved_to: Option<MovedTo>,
    /// The lines of the item that it is about, where most of its own are gone and the item is still there.
    pub item_lines: Option<LineRange>,
    /// Whether the recorded lines were not in the item that the note names: then it is placed on that item.
    pub lines_disagree: bool,
    /// How it was matched to the question.
    #[serde(rename = "match")]
    pub matched: Match,
    /// The claim that replaces this one.
    pub superseded_by: Option<EntryId>,
    /// Whether its time is over.
    pub expired: bool,
    /// When its time is over.
    #[serde(skip)]
    pub expires: Option<Timestamp>,
    /// Where the commit is, when it is not reachable from HEAD.
    pub elsewhere: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The task that the change was made for.
    pub task: Option<String>,
    /// Annotations of other commits that belong to it.
    pub related: Vec<RelatedItem>,
    /// What was said against it since, oldest first.
    pub corrections: Vec<CorrectionItem>,
    /// Keys of the note that this version does not know.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// The longest author that is named: a name is no place for a message.
const MAX_AUTHOR: usize = 80;

/// Who says something, in words, unless it is the user: `from Mallory, not yours: fetched from up`.
///
/// What an author calls oneself proves nothing, so where it came from is always said of one who is unknown.
#[must_use]
pub fn said_by(author: Option<&str>, tier: Tier, origin: Option<&str>) -> Option<String> {
    // A name can't close the parentheses that it is shown in, nor begin a sentence after them.
    let is_name = |c: &char| !matches!(c, '(' | ')' | ':' | ',' | ';');
    let plain_line = |text: &str| {
        let text: String = plain(text).chars().filter(is_name).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let name = author.map(plain_line).filter(|name| !name.is_empty());
    let name: String = name.map(|name| name.chars().take(MAX_AUTHOR).collect()).unwrap_or_default();
    let origin = origin.map(plain_line).unwrap_or_default();
    let named = |other: &str| if name.is_empty() { other.to_owned() } else { name.clone() };
    let place = match origin.as_str() {
        "" => "origin unknown".to_owned(),
        name if name.starts_with("refs/") => format!("in {name}"),
        remote => format!("fetched from {remote}"),
    };
    match tier {
        Tier::Own => None,
        Tier::Team => Some(format!("from {}", named(&format!("the team, {place}")))),
        Tier::Unknown => Some(format!("from {}, not yours: {place}", named("someone unnamed"))),
    }
}

impl CorrectionItem {
    /// Who says so, in words, unless it is the user.
    #[must_use]
    pub fn said_by(&self) -> Option<String> {
        said_by(self.author.as_deref(), self.trust, self.origin.as_deref())
    }
}

impl Standing {
    /// Who says it, in words, unless it is the user.
    #[must_use]
    pub fn said_by(&self) -> Option<String> {
        said_by(self.author.as_deref(), self.tier, self.origin.as_deref())
    }

    /// Whether the claim was superseded or has expired.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.superseded_by.is_some() || self.expired
    }
}

/// A place in another file that code went to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedTo {
    /// The file.
    pub file: String,
    /// The lines there.
    pub lines: LineRange,
}

/// How an item was matched to the question, most specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// By the name of the code it is about.
    Anchor,
    /// By its lines.
    Lines,
    /// By one of several ranges.
    Near,
    /// By its file.
    File,
    /// By the lines that its commit wrote.
    Commit,
}

/// What is known of one code unit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RegionItem {
    /// Where it stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// The code unit.
    pub ast_anchor: Option<Anchor>,
    /// What the change was for; the commit's summary when `match` is `commit`.
    pub intent: String,
    /// The item before this one in the answer that shows the same intent of the same commit; null where there is none.
    pub intent_shown_at: Option<ShownAt>,
    /// Why it was done in this way.
    pub reasoning: Option<String>,
    /// What must stay true.
    pub constraints: Vec<Constraint>,
    /// What could go wrong.
    pub risk_notes: Option<String>,
    /// Code elsewhere whose behaviour this unit relies on.
    pub semantic_dependencies: Vec<DependsOn>,
}

/// An item of the same answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownAt {
    /// The item's id.
    pub id: EntryId,
    /// The file that it is about; null for the commit as a whole.
    pub file: Option<String>,
    /// The code unit that it is about.
    pub anchor: Option<String>,
}

/// Notes for each of `regions`, in the order in which they are shown, where its intent was shown before.
///
/// The words of a stranger are no place to look up those of someone who is trusted more.
pub fn mark_repeated_intents<'r>(regions: impl Iterator<Item = &'r mut RegionItem>) {
    let mut first: HashMap<(String, String), (Tier, ShownAt)> = HashMap::new();
    for item in regions {
        let standing = &item.standing;
        item.intent_shown_at = None;
        if item.intent.trim().is_empty() {
            continue;
        }
        let key = (standing.commit.clone(), item.intent.clone());
        match first.get(&key) {
            Some((tier, shown_at)) if standing.tier <= *tier => item.intent_shown_at = Some(shown_at.clone()),
            _ => {
                let shown_at = ShownAt {
                    id: standing.id.clone(),
                    file: standing.file.clone(),
                    anchor: item.ast_anchor.as_ref().map(|anchor| anchor.name.clone()),
                };
                first.insert(key, (standing.tier, shown_at));
            }
        }
    }
}

/// One lesson.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WisdomItem {
    /// Where it stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// What kind of lesson it is.
    pub category: Category,
    /// The lesson.
    pub content: String,
    /// The code unit.
    pub anchor: Option<Anchor>,
    /// Code elsewhere whose behaviour this code relies on.
    pub depends_on: Vec<DependsOn>,
}

/// A related annotation, followed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelatedItem {
    /// The other commit.
    pub commit: String,
    /// The item there.
    pub anchor: Option<String>,
    /// How the two belong together.
    pub relationship: String,
    /// How far it can be trusted; null when the other annotation was not found.
    pub confidence: Option<f64>,
    /// What it says.
    pub intent: Option<String>,
}

/// Code elsewhere that relies on the code in scope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dependency {
    /// The file that relies on it, as it is called now.
    pub from_file: Option<String>,
    /// The same as its annotation calls it, when that is another name.
    pub from_file_recorded: Option<String>,
    /// Whether that file was deleted.
    pub from_is_deleted: bool,
    /// The item that relies on it.
    pub from_anchor: Option<String>,
    /// The item relied upon, when it was named.
    pub on_anchor: Option<String>,
    /// What is assumed.
    pub nature: String,
    /// The commit that says so.
    pub commit: String,
    /// When it said so.
    #[serde(skip)]
    pub at: Timestamp,
    /// How far it can be trusted.
    pub confidence: f64,
    /// Who says so, in their own words; null where it is the user's own.
    pub author: Option<String>,
    /// How far its author is trusted.
    pub tier: Tier,
    /// Where it came from, unless it is the user's own: a remote, or a notes ref.
    pub origin: Option<String>,
}

/// A concern that spans several places.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CrossCuttingItem {
    /// What ties them together.
    pub description: String,
    /// The places, as `file:anchor`.
    pub regions: Vec<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The commit that says so.
    pub commit: String,
    /// Who says so, in their own words; null where it is the user's own.
    pub author: Option<String>,
    /// How far its author is trusted.
    pub tier: Tier,
    /// Where it came from, unless it is the user's own: a remote, or a notes ref.
    pub origin: Option<String>,
    /// When it said so.
    #[serde(skip)]
    pub at: Timestamp,
    /// Keys of the note that this version does not know.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// One thing the repository knows as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KnowledgeItem {
    /// A rule that holds in a part of the tree.
    Convention(Convention),
    /// What a module owns.
    Boundary(Boundary),
    /// What not to do.
    AntiPattern(AntiPattern),
}

impl KnowledgeItem {
    /// Who says it, in words, unless it is the user.
    #[must_use]
    pub fn said_by(&self) -> Option<String> {
        said_by(None, self.tier(), self.origin())
    }
}

impl From<Knowledge> for Vec<KnowledgeItem> {
    fn from(knowledge: Knowledge) -> Self {
        let conventions = knowledge.conventions.into_iter().map(KnowledgeItem::Convention);
        let boundaries = knowledge.boundaries.into_iter().map(KnowledgeItem::Boundary);
        let anti_patterns = knowledge.anti_patterns.into_iter().map(KnowledgeItem::AntiPattern);
        conventions.chain(boundaries).chain(anti_patterns).collect()
    }
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Stats {
    /// Commits that changed the files in scope.
    pub commits_examined: u32,
    /// How many of them, and of others that name the files, carry an annotation.
    pub annotations_found: u32,
    /// Items returned, in `regions` and `wisdom` together.
    pub regions_returned: u32,
    /// Items that matched before limits.
    pub regions_matched: u32,
    /// The farthest hop of related annotations that was followed.
    pub related_hops: u32,
}

/// What was left out to fit a token budget, or beyond a limit on the number of items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trimmed {
    /// Items before, in `regions` and `wisdom` together.
    pub original_regions: u32,
    /// Items after.
    pub returned_regions: u32,
    /// Commits of which something was left out, each once, newest first. In JSON these are all.
    pub dropped_commits: Vec<String>,
    /// `newest_commits_first`; `least_trusted_first` where only `--max-regions` left something out.
    pub strategy: String,
    /// Bytes of the rendered answer, divided by four.
    pub estimated_tokens: usize,
}

impl Trimmed {
    /// What a token budget leaves out first.
    pub const BY_BUDGET: &str = "newest_commits_first";
    /// What a limit on the number of items leaves out first.
    pub const BY_LIMIT: &str = "least_trusted_first";
}

impl Reading {
    /// An answer without items.
    #[must_use]
    pub fn empty(query: Query) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            file: query.file.clone(),
            query,
            regions: Vec::new(),
            wisdom: Vec::new(),
            dependencies_on_this: Vec::new(),
            cross_cutting: Vec::new(),
            knowledge: Vec::new(),
            stats: Stats::default(),
            trimmed: None,
            warnings: Vec::new(),
            ambiguous_anchor: false,
            knows_anchor: false,
            beyond_limit: Vec::new(),
        }
    }

    /// How many items there are.
    #[must_use]
    pub fn n_items(&self) -> usize {
        self.regions.len() + self.wisdom.len()
    }

    /// What all items say about themselves.
    pub fn standings(&self) -> impl Iterator<Item = &Standing> {
        self.regions
            .iter()
            .map(|region| &region.standing)
            .chain(self.wisdom.iter().map(|entry| &entry.standing))
    }

    /// The same, to be changed.
    pub fn standings_mut(&mut self) -> impl Iterator<Item = &mut Standing> {
        let regions = self.regions.iter_mut().map(|region| &mut region.standing);
        regions.chain(self.wisdom.iter_mut().map(|entry| &mut entry.standing))
    }
}
