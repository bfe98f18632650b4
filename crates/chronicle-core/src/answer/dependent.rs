//! Code that relies on other code, as annotations say.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    EntryId,
    answer::reading::said_by,
    format::correction::{CorrectionItem, Tier},
};

/// How plainly an annotation says that it relies on some code, plainest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// It declares an assumption about it.
    Declared,
    /// It is in one group of places that must change together.
    Group,
    /// Its words name the path or the item.
    Mention,
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declared => "declared",
            Self::Group => "group",
            Self::Mention => "mention",
        })
    }
}

impl Dependent {
    /// Who says so, in words, unless it is the user.
    #[must_use]
    pub fn said_by(&self) -> Option<String> {
        said_by(self.author.as_deref(), self.tier, self.origin.as_deref())
    }
}

/// One place that relies on the code that was asked about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dependent {
    /// How plainly it says so.
    pub strength: Strength,
    /// The file that relies on it, as it is called now; null when it is about a whole commit.
    pub from_file: Option<String>,
    /// The same as its annotation calls it, when that is another name.
    pub from_file_recorded: Option<String>,
    /// Whether that file was deleted.
    pub from_is_deleted: bool,
    /// The item that relies on it.
    pub from_anchor: Option<String>,
    /// The file relied upon, as it is called now.
    pub on_file: String,
    /// The item relied upon, as the annotation calls it; null for the file as a whole.
    pub on_anchor: Option<String>,
    /// What is assumed, what ties the group together, or the words that name the code.
    pub nature: String,
    /// All places of the group, as `file:anchor`; empty for everything else.
    pub group: Vec<String>,
    /// The claim that says so, where it has an id.
    pub id: Option<EntryId>,
    /// The commit that carries the annotation.
    pub commit: String,
    /// When it was written, as its author wrote it.
    pub timestamp: String,
    /// The same as a moment, for sorting and ages.
    #[serde(skip)]
    pub at: Timestamp,
    /// Who says so, in their own words; null where it is the user's own.
    pub author: Option<String>,
    /// How far its author is trusted.
    pub tier: Tier,
    /// Where it came from, unless it is the user's own: a remote, or a notes ref.
    pub origin: Option<String>,
    /// How far it can be trusted, 0 to 1.
    pub confidence: f64,
    /// Where the commit is, when it is not reachable from HEAD.
    pub elsewhere: Option<String>,
    /// The claim that replaces the one that says so.
    pub superseded_by: Option<EntryId>,
    /// What was said against the claim since, oldest first.
    pub corrections: Vec<CorrectionItem>,
}
