//! What every text goes through before it is stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Kind, Redacted, redact};
use crate::{private, without_escapes};

/// What was taken out of texts, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many private spans there were.
    pub n_private: u64,
    /// How many secrets of each kind there were.
    pub secrets: BTreeMap<Kind, u64>,
}

impl Removed {
    /// How many secrets there were, of all kinds.
    #[must_use]
    pub fn n_secrets(&self) -> u64 {
        self.secrets.values().sum()
    }

    /// Adds what was taken out of other texts.
    pub fn add(&mut self, other: &Self) {
        self.n_private += other.n_private;
        other.secrets.iter().for_each(|(&kind, n_more)| *self.secrets.entry(kind).or_default() += n_more);
    }
}

/// The part of `text` that may be stored: private spans and secrets are replaced, and counted in `removed`. What
/// colours a terminal goes first: it may stand in the middle of a secret.
///
/// Everything that is kept of a session goes through here, as a whole: of a text that was cut
/// before, half a span or half a token may stay.
pub fn for_storage<'a>(text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
    match without_escapes(text) {
        Cow::Borrowed(text) => of_words(text, removed),
        Cow::Owned(text) => Cow::Owned(of_words(&text, removed).into_owned()),
    }
}

fn of_words<'a>(text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
    let (kept, n_private) = private::remove(text);
    removed.n_private += n_private as u64;
    match kept {
        Cow::Borrowed(kept) => count(redact(kept), removed),
        Cow::Owned(kept) => Cow::Owned(count(redact(&kept), removed).into_owned()),
    }
}

fn count<'a>(redacted: Redacted<'a>, removed: &mut Removed) -> Cow<'a, str> {
    redacted.found.iter().for_each(|&kind| *removed.secrets.entry(kind).or_default() += 1);
    redacted.text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_secrets_go_and_are_counted() {
        let mut removed = Removed::default();
        let text = "password=hunter22 <private>password=hunter33</private> redis://:hunter2@h";
        assert_eq!(
            for_storage(text, &mut removed),
            "password=[redacted:password] [private] redis://:[redacted:url-password]@h"
        );
        let mut more = Removed::default();
        for_storage("password=hunter22", &mut more);
        removed.add(&more);
        assert_eq!(removed.n_private, 1);
        assert_eq!(removed.n_secrets(), 3);
        assert_eq!(removed.secrets, BTreeMap::from([(Kind::Password, 2), (Kind::UrlPassword, 1)]));
    }

    #[test]
    fn a_secret_in_colours_is_one() {
        let text = "password=\x1b[31mhunter\x1b[1m22\x1b[0m";
        assert_eq!(for_storage(text, &mut Removed::default()), "password=[redacted:password]");
    }

    #[test]
    fn a_text_without_either_is_borrowed() {
        let mut removed = Removed::default();
        assert!(matches!(for_storage("plain words", &mut removed), Cow::Borrowed(_)));
        assert_eq!(removed, Removed::default());
    }
}
