//! The texts of an annotation, whose words may name code.

use std::collections::{BTreeMap, HashMap};

use chronicle_core::{
    Annotation, EntryId, Note, Statement,
    mentions::{Mention, mentions},
};
use jiff::Timestamp;

use crate::{note::claim_id::summary_id_of, read::record::expiry};

/// One text of an annotation.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) kind: Kind,
    /// The claim that it is part of.
    pub(crate) claim: EntryId,
    pub(crate) from_file: Option<String>,
    pub(crate) from_anchor: Option<String>,
    pub(crate) words: String,
    /// The moment after which the claim no longer counts.
    pub(crate) expires: Option<Timestamp>,
}

/// What a text is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Region,
    Summary,
    Entry,
}

/// A [`Mention`] that outlives its text.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The texts of `note`, each with the document that holds it.
pub(crate) fn texts(note: &Note) -> Vec<(&Annotation, Text)> {
    let mut texts = Vec::new();
    let mut summaries: HashMap<&str, EntryId> = HashMap::new();
    for Statement { document, fingerprint, is_replaced } in note.statements() {
        for region in &document.regions {
            let constraints = region.constraints.iter().map(|constraint| &constraint.text);
            let of_region = [&region.intent, &region.reasoning, &region.risk_notes];
            let words = of_region.into_iter().flatten().chain(constraints);
            texts.extend(words.map(|words| {
                let text = Text {
                    kind: Kind::Region,
                    claim: region.id.clone(),
                    from_file: Some(region.file.clone()),
                    from_anchor: region.ast_anchor.as_ref().map(|anchor| anchor.name.clone()),
                    words: words.clone(),
                    expires: None,
                };
                (document, text)
            }));
        }
        if !is_replaced {
            // One summary in several documents is one claim: that of the first.
            let claim =
                summaries.entry(&document.summary).or_insert_with(|| summary_id_of(fingerprint)).clone();
            let (kind, words) = (Kind::Summary, document.summary.clone());
            let text = Text { kind, claim, from_file: None, from_anchor: None, words, expires: None };
            texts.push((document, text));
        }
    }
    texts.extend(note.entries().into_iter().map(|(document, entry)| {
        let text = Text {
            kind: Kind::Entry,
            claim: entry.id.clone(),
            from_file: entry.file.clone(),
            from_anchor: entry.anchor.as_ref().map(|anchor| anchor.name.clone()),
            words: entry.content.clone(),
            expires: expiry(entry),
        };
        (document, text)
    }));
    texts
}
