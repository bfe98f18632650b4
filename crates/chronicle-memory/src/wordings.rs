//! Words of a model for texts of rules, as they are kept.

use std::{collections::BTreeMap, fs, path::Path};

use chronicle_core::block::{Author, BlockText};
use chronicle_workplace::{Error, owned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where words are kept, in the home of session memory.
const FILE: &str = "wordings.json";

/// Words of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Words {
    /// What it said.
    pub text: String,
    /// The model.
    pub model: String,
}

/// Words, by the fingerprint of the text that they are for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wordings(pub(crate) BTreeMap<String, Words>);

impl Wordings {
    /// Those that are kept; what cannot be read is none.
    pub(crate) fn kept(home: &Path) -> Self {
        let text = fs::read_to_string(home.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(crate) fn keep(&self, home: &Path) -> Result<(), Error> {
        owned::replace(&home.join(FILE), &serde_json::to_value(self).unwrap_or_default().to_string())
    }

    /// The words for a text.
    pub(crate) fn of(&self, text: &str) -> Option<&Words> {
        self.0.get(&chronicle_search::fingerprint(text.as_bytes()))
    }

    pub(crate) fn put(&mut self, text: &str, words: Words) {
        self.0.insert(chronicle_search::fingerprint(text.as_bytes()), words);
    }

    /// Puts words in the place of the lines that they are for, as far as there is room.
    pub(crate) fn apply(&self, block: &mut BlockText, limit: usize) {
        let mut n_now = block.n_characters();
        for line in block.lines.iter_mut().filter(|line| line.by != Author::User) {
            if let Some(words) = self.of(&line.text) {
                let n_then = n_now + words.text.chars().count() - line.text.chars().count().min(n_now);
                if n_then <= limit {
                    (line.text, n_now) = (words.text.clone(), n_then);
                }
            }
            let is_worded = self.0.values().any(|words| words.text == line.text);
            line.by = if is_worded { Author::Model } else { Author::Rule };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_within_the_limit_and_a_second_time_changes_nothing() {
        let line = |text: &str, by| chronicle_core::block::BlockLine {
            by,
            keys: vec![text.to_owned()],
            ..chronicle_core::block::BlockLine::of_user(text)
        };
        let mut wordings = Wordings::default();
        let words = |text: &str| Words { text: text.to_owned(), model: "m".to_owned() };
        wordings.put("Go: 2 sessions.", words("Works in Go, in 2 sessions."));
        wordings.put("Mine.", words("Not mine."));
        let block = BlockText {
            lines: vec![line("Mine.", Author::User), line("Go: 2 sessions.", Author::Rule)],
            dismissed: Vec::new(),
        };
        let applied = |block: &BlockText, limit: usize| {
            let mut block = block.clone();
            wordings.apply(&mut block, limit);
            block
        };
        let worded = applied(&block, 100);
        assert_eq!(worded.value(), "Mine.\nWorks in Go, in 2 sessions.");
        assert_eq!((worded.lines[0].by, worded.lines[1].by), (Author::User, Author::Model));
        assert_eq!(applied(&worded, 100), worded);
        assert_eq!(applied(&block, 25), block);
    }
}
