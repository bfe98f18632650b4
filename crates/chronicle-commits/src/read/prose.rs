//! Words of annotations that may name code, and who says them.

use std::collections::HashMap;

use crate::{
    note::note_texts::{Said, Text, said_in, texts},
    read::{gather::heading, matching::Candidate, record::Heading},
};

/// One text of an annotation, and who says it.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    pub(crate) heading: Heading,
    pub(crate) text: Text,
}

/// The texts of some notes, by what they say.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    passages: Vec<Passage>,
    by_key: HashMap<String, Vec<(Vec<Said>, usize)>>,
}

impl Prose {
    pub(crate) fn of(candidates: &[Candidate]) -> Self {
        let mut prose = Self::default();
        for candidate in candidates {
            for (document, text) in texts(&candidate.stored.note) {
                for (key, said) in said_in(&text.words) {
                    prose.by_key.entry(key).or_default().push((said, prose.passages.len()));
                }
                let heading = heading(candidate, document, &text.claim);
                prose.passages.push(Passage { heading, text });
            }
        }
        prose
    }

    /// The passages in which something with the key `key` is said that `is_meant` accepts.
    pub(crate) fn naming(&self, key: &str, is_meant: impl Fn(&Said) -> bool) -> Vec<Passage> {
        let spoken = self.by_key.get(key).into_iter().flatten();
        let meant = spoken.filter(|(said, _)| said.iter().any(&is_meant));
        meant.map(|(_, number)| self.passages[*number].clone()).collect()
    }
}
