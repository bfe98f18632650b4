//! The `chronicle/v3` document, as it is written.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CrossCutting, Entry, EntryId, Provenance, Region, Sketch};

/// What is told of a note without a summary.
pub const NO_SUMMARY: &str = "(no summary)";

/// One `chronicle/v3` document (DESIGN section 3).
///
/// The first six keys are the released format; all others are additional and
/// optional, so that released readers keep accepting the note.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "chronicle/v3 annotation")]
pub struct Annotation {
    /// Always `chronicle/v3`.
    pub schema: String,
    /// The commit the note is on; the note's key decides when the two differ.
    pub commit: String,
    /// When it was written, RFC 3339.
    pub timestamp: String,
    /// Why this approach, not what changed.
    pub summary: String,
    /// The lessons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wisdom: Vec<Entry>,
    /// Where the document comes from.
    pub provenance: Provenance,
    /// The task that the change was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Whether whoever made the change gave the reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_level: Option<ContextLevel>,
    /// The agent session that made the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Fingerprints of the change, to find the commit again after a rewrite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Ids of staged remarks that became entries here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consumed: Vec<EntryId>,
    /// Per-code-unit annotations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
    /// Places that must change together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cross_cutting: Vec<CrossCutting>,
    /// Documents of this note whose summary this one replaces, by fingerprint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
    /// The schema it was written in, when that was an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated_from: Option<String>,
    /// What an older schema said that has no place in this one, such as `effort`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub legacy: Map<String, Value>,
    /// Entries of the note that this document wrote; said only where a note holds several documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entry_ids: Vec<EntryId>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
    /// The other documents of the note, without their entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Annotation>,
    /// Parts of the note that could not be read, as base64.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// Whether the reasons are testimony or were read from the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextLevel {
    /// Whoever made the change said why.
    Enhanced,
    /// Reconstructed from the change.
    Inferred,
}

impl fmt::Display for ContextLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enhanced => "enhanced",
            Self::Inferred => "inferred",
        })
    }
}

/// Fingerprints of a commit's change that outlive the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Id of the commit's tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// XXH3-128 over the changed lines against the first parent, as hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Id of the commit's first parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Hashes of some of the lines that the commit wrote, by which a commit that took them in is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<Sketch>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

impl Change {
    /// Whether an earlier version took its hashes of lines for a secret and replaced them.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.wrote.as_ref().is_some_and(Sketch::is_damaged)
    }
}

impl Annotation {
    /// The keys that a document is written with.
    pub(crate) const KEYS: [&str; 19] = [
        "schema",
        "commit",
        "timestamp",
        "summary",
        "wisdom",
        "provenance",
        "task",
        "context_level",
        "session",
        "change",
        "consumed",
        "regions",
        "cross_cutting",
        "replaces",
        "migrated_from",
        "legacy",
        "entry_ids",
        "also",
        "unread",
    ];

    /// A document with nothing but a summary.
    #[must_use]
    pub fn new(commit: &str, timestamp: &str, summary: &str, provenance: Provenance) -> Self {
        Self {
            schema: crate::SCHEMA.to_owned(),
            commit: commit.to_owned(),
            timestamp: timestamp.to_owned(),
            summary: summary.to_owned(),
            wisdom: Vec::new(),
            provenance,
            task: None,
            context_level: None,
            session: None,
            change: None,
            consumed: Vec::new(),
            regions: Vec::new(),
            cross_cutting: Vec::new(),
            replaces: Vec::new(),
            migrated_from: None,
            legacy: Map::new(),
            entry_ids: Vec::new(),
            extra: Map::new(),
            also: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// When it was written; unreadable times sort last.
    #[must_use]
    pub fn written(&self) -> jiff::Timestamp {
        crate::parse_time(&self.timestamp).unwrap_or(jiff::Timestamp::MAX)
    }
}
