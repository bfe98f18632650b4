//! Words of annotations that may name code.

use std::collections::{BTreeMap, HashMap};

use chronicle_core::{
    EntryId, Statement,
    mentions::{Mention, mentions, segments},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    gather::{heading, summary_id_of},
    matching::Candidate,
    record::{Heading, expiry},
};

/// One text of an annotation, and who says it.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    pub(crate) heading: Heading,
    pub(crate) kind: Kind,
    /// The claim that it is part of.
    pub(crate) claim: EntryId,
    pub(crate) from_file: Option<String>,
    pub(crate) from_anchor: Option<String>,
    pub(crate) text: String,
    /// The moment after which the claim no longer counts.
    pub(crate) expires: Option<Timestamp>,
}

/// What a text is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Region,
    Summary,
    Entry,
}

/// A [`Mention`] that outlives its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    Path(String),
    Name(Vec<String>),
}

impl Said {
    pub(crate) fn mention(&self) -> Mention<'_> {
        match self {
            Self::Path(path) => Mention::Path(path),
            Self::Name(segments) => Mention::Name(segments.iter().map(String::as_str).collect()),
        }
    }
}

/// What `text` says that may name code, by the key of [`Mention::key`].
pub(crate) fn said_in(text: &str) -> BTreeMap<String, Vec<Said>> {
    let mut by_key: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    for mention in mentions(text) {
        let key = mention.key().to_owned();
        by_key.entry(key).or_default().push(match mention {
            Mention::Path(path) => Said::Path(path.to_owned()),
            Mention::Name(segments) => Said::Name(segments.into_iter().map(str::to_owned).collect()),
        });
    }
    by_key
}

/// What a passage is filed under: what its text says, and the name of the code that it is about.
pub(crate) fn keys_of(passage: &Passage) -> BTreeMap<String, Vec<Said>> {
    let mut keys = said_in(&passage.text);
    if let (Some(_), Some(anchor)) = (&passage.from_file, &passage.from_anchor)
        && let parts = segments(anchor)
        && let Some(last) = parts.last()
    {
        let name = parts.iter().map(|part| (*part).to_owned()).collect();
        keys.insert(about_key(last), vec![Said::Name(name)]);
    }
    keys
}

/// What passages about code of this name are filed under, beside those that only speak of it.
pub(crate) fn about_key(name: &str) -> String {
    format!("\0{name}")
}

/// The texts of the note of `candidate`.
pub(crate) fn passages(candidate: &Candidate) -> Vec<Passage> {
    let note = &candidate.stored.note;
    let mut passages = Vec::new();
    let mut summaries: HashMap<&str, EntryId> = HashMap::new();
    for Statement { document, fingerprint, is_replaced } in note.statements() {
        for region in &document.regions {
            let constraints = region.constraints.iter().map(|constraint| &constraint.text);
            let texts = [&region.intent, &region.reasoning, &region.risk_notes];
            for text in texts.into_iter().flatten().chain(constraints) {
                passages.push(Passage {
                    heading: heading(candidate, document, &region.id),
                    kind: Kind::Region,
                    claim: region.id.clone(),
                    from_file: Some(region.file.clone()),
                    from_anchor: region.ast_anchor.as_ref().map(|anchor| anchor.name.clone()),
                    text: text.clone(),
                    expires: None,
                });
            }
        }
        if !is_replaced {
            // One summary in several documents is one claim: that of the first.
            let claim =
                summaries.entry(&document.summary).or_insert_with(|| summary_id_of(fingerprint)).clone();
            let text = document.summary.clone();
            let heading = heading(candidate, document, &claim);
            passages.push(Passage {
                heading,
                kind: Kind::Summary,
                claim,
                from_file: None,
                from_anchor: None,
                text,
                expires: None,
            });
        }
    }
    for (document, entry) in note.entries() {
        passages.push(Passage {
            heading: heading(candidate, document, &entry.id),
            kind: Kind::Entry,
            claim: entry.id.clone(),
            from_file: entry.file.clone(),
            from_anchor: entry.anchor.as_ref().map(|anchor| anchor.name.clone()),
            text: entry.content.clone(),
            expires: expiry(entry),
        });
    }
    passages
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
        for passage in candidates.iter().flat_map(passages) {
            for (key, said) in keys_of(&passage) {
                prose.by_key.entry(key).or_default().push((said, prose.passages.len()));
            }
            prose.passages.push(passage);
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
