//! Where an annotation comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How an annotation came to be. Closed: released readers drop a note with another word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Written by whoever made the change, while making it.
    Live,
    /// Written by a tool looking at one commit.
    Batch,
    /// Written by a tool going through history.
    Backfill,
    /// Put together from the commits that were squashed.
    Squash,
    /// Carried over an amended or rebased commit.
    Amend,
    /// Stored again from `chronicle/v1`.
    MigratedV1,
    /// Stored again from `chronicle/v2`.
    MigratedV2,
}

impl Source {
    /// The source of a document of which copies came here in two ways: what was squashed once stays so.
    #[must_use]
    pub fn united(self, other: Self) -> Self {
        let weight = |source: Self| match source {
            Self::Live => 0,
            Self::Batch => 1,
            Self::Backfill => 2,
            Self::MigratedV1 => 3,
            Self::MigratedV2 => 4,
            Self::Amend => 5,
            Self::Squash => 6,
        };
        if weight(self) < weight(other) { other } else { self }
    }

    /// The word written in notes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Batch => "batch",
            Self::Backfill => "backfill",
            Self::Squash => "squash",
            Self::Amend => "amend",
            Self::MigratedV1 => "migrated_v1",
            Self::MigratedV2 => "migrated_v2",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Source, author and ancestry of an annotation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Provenance {
    /// How it came to be.
    pub source: Source,
    /// Who wrote it, in their own words; never a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Commits whose annotations this one was made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<String>,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

impl Provenance {
    /// The keys that a provenance is written with.
    pub(crate) const KEYS: [&str; 4] = ["source", "author", "derived_from", "notes"];

    /// A provenance with nothing but a source.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self { source, author: None, derived_from: Vec::new(), notes: None, extra: Map::new() }
    }
}
