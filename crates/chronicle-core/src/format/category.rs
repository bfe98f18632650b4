//! The closed vocabulary of wisdom.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use snafu::Snafu;

use crate::text::distance;

/// What kind of lesson an entry is. Closed: released readers drop a note with another word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Something tried that failed.
    DeadEnd,
    /// A trap that the code does not show.
    Gotcha,
    /// A mental model, a relationship, a reason.
    Insight,
    /// Work left undone, a better way suspected.
    UnfinishedThread,
}

/// A word that names no category.
#[derive(Debug, Clone, PartialEq, Eq, Snafu)]
#[snafu(display(
    "unknown category `{word}`; did you mean `{nearest}`? Categories: dead_end, gotcha, insight, unfinished_thread"
))]
pub struct UnknownCategory {
    word: String,
    nearest: Category,
}

impl Category {
    /// All four, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::DeadEnd, Self::Gotcha, Self::Insight, Self::UnfinishedThread];

    /// The word written in notes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DeadEnd => "dead_end",
            Self::Gotcha => "gotcha",
            Self::Insight => "insight",
            Self::UnfinishedThread => "unfinished_thread",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Category {
    type Err = UnknownCategory;

    /// Accepts the written word in any case, with `-` or a space for `_`.
    fn from_str(text: &str) -> Result<Self, UnknownCategory> {
        let word = text.trim().to_lowercase().replace(['-', ' '], "_");
        Self::ALL.into_iter().find(|category| category.name() == word).ok_or_else(|| UnknownCategory {
            nearest: distance::nearest(&word, Self::ALL, |category| category.name()).unwrap_or(Self::Insight),
            word: text.to_owned(),
        })
    }
}

/// Who a claim comes from: the person or agent that made the change, or a model looking at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Testimony of whoever made the change.
    Author,
    /// Reconstructed from the change.
    Inferred,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Author => "author",
            Self::Inferred => "inferred",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_category_names_the_nearest() {
        let message = |word: &str| word.parse::<Category>().map_err(|error| error.to_string());
        assert_eq!(message("Dead-End"), Ok(Category::DeadEnd));
        assert!(message("gotchas").unwrap_err().contains("did you mean `gotcha`"));
        assert!(message("deadend").unwrap_err().contains("did you mean `dead_end`"));
        assert!(message("todo_thread").unwrap_err().contains("did you mean `unfinished_thread`"));
    }
}
