//! What every text goes through before it is stored.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::names;
use super::replace::{Redacted, redact, redact_in_lines};
use super::secret::{Kind, REDACTED};
use crate::{
    text::{plain::plain, private},
    without_escapes,
};

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

    /// The kind of each secret, and of each private span.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        let counts =
            self.secrets.iter().chain((0 < self.n_private).then_some((&Kind::Private, &self.n_private)));
        counts
            .flat_map(|(&kind, &n)| std::iter::repeat_n(kind, usize::try_from(n).unwrap_or(usize::MAX)))
            .collect()
    }

    /// Adds what was taken out of other texts.
    pub fn add(&mut self, other: &Self) {
        self.n_private += other.n_private;
        other.secrets.iter().for_each(|(&kind, n_more)| *self.secrets.entry(kind).or_default() += n_more);
    }
}

/// The part of `text` that may be stored, shown or sent: the one gate that every text passes.
///
/// First goes what acts on a terminal and what no reader sees, since it may be in the middle of a secret or of a mark;
/// then private spans and secrets are replaced, and counted in `removed`. Everything goes through here as a whole, and
/// is cut to length afterwards: of a text that was cut before, half a span or half a token may stay.
pub fn for_storage<'a>(text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
    let seen_text = seen(text);
    let kept = match of_words(&seen_text, removed) {
        Cow::Owned(kept) => Some(kept),
        Cow::Borrowed(_) => None,
    };
    let Some(mut kept) = kept else { return seen_text };
    // Where words went, a joiner may have lost the letters that it was between.
    while let Cow::Owned(text) = seen(&kept) {
        kept = of_words(&text, removed).into_owned();
    }
    Cow::Owned(kept)
}

/// [`for_storage`] of the text that a member of that name holds, as in `"password": "…"`: its name may call it a secret.
///
/// What is marked in it was looked at before, by this or by others; what is around the marks may still be a secret.
pub fn named_for_storage<'a>(name: &str, text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
    let kept = for_storage(text, removed);
    let Some(found) = names::find(name.as_bytes()) else { return kept };
    let Some(once) = without_named(name, &kept, removed) else { return kept };
    let Some(twice) = without_named(name, &once, removed) else { return Cow::Owned(once) };
    // If each look finds another secret, the whole text is one.
    match without_named(name, &twice, &mut Removed::default()) {
        None => Cow::Owned(twice),
        Some(_) => Cow::Owned(format!("[redacted:{}]", found.kind)),
    }
}

/// What is left of a text that a member of that name holds, or of what is around the marks in it; `None` for all of it.
fn without_named(name: &str, kept: &str, removed: &mut Removed) -> Option<String> {
    let marks = marks(kept);
    if marks.is_empty() {
        return named_part(name, kept, removed);
    }
    let mut cleaned = String::new();
    let mut at = 0;
    for mark in marks.into_iter().chain(std::iter::once(kept.len()..kept.len())) {
        let part = &kept[at..mark.start];
        let inner = part.trim_matches(|c: char| !c.is_alphanumeric());
        match named_part(name, inner, removed).filter(|_| !inner.is_empty()) {
            Some(marked) => cleaned.push_str(&part.replacen(inner, &marked, 1)),
            None => cleaned.push_str(part),
        }
        cleaned.push_str(&kept[mark.clone()]);
        at = mark.end;
    }
    (cleaned != kept).then_some(cleaned)
}

/// What is left of a text that a member of that name holds; `None` for all of it.
fn named_part(name: &str, text: &str, removed: &mut Removed) -> Option<String> {
    // A quote within the text ends no value.
    let start = format!("\"{name}\": \"");
    let framed = format!("{start}{}\"", text.replace('"', "'"));
    let redacted = redact(&framed);
    let kind = *redacted.found.first()?;
    let inner = redacted.text.strip_prefix(&*start).and_then(|rest| rest.strip_suffix('"'));
    let inner =
        inner.filter(|_| !text.contains('"')).map_or_else(|| format!("[redacted:{kind}]"), str::to_owned);
    count(redacted, removed);
    Some(inner)
}

/// Where secrets and private spans were.
fn marks(text: &str) -> Vec<Range<usize>> {
    let mut marks = Vec::new();
    for (start, _) in text.match_indices('[') {
        let mark = &text[start..];
        let is_kind = |c: char| c.is_ascii_lowercase() || c == '-';
        // What only begins like a mark ends with its beginning.
        let redacted = mark.strip_prefix(REDACTED);
        let whole = redacted.and_then(|kind| kind.trim_start_matches(is_kind).strip_prefix(']'));
        let rest = whole.or(redacted).or(mark.strip_prefix(private::MARK));
        marks.extend(rest.map(|rest| start..text.len() - rest.len()));
    }
    marks
}

/// [`for_storage`], and the kinds of what was taken out.
#[must_use]
pub fn cleaned(text: &str) -> (Cow<'_, str>, Vec<Kind>) {
    let mut removed = Removed::default();
    let kept = for_storage(text, &mut removed);
    (kept, removed.kinds())
}

/// [`for_storage`] of a text that is only shown.
#[must_use]
pub fn gated(text: &str) -> String {
    for_storage(text, &mut Removed::default()).into_owned()
}

/// [`for_storage`] for texts whose lines are counted: what was taken out leaves its line ends behind, and nothing but a
/// line feed ends a line.
#[must_use]
pub fn cleaned_in_lines(text: &str) -> Cow<'_, str> {
    let is_other_end = |c: char| matches!(c, '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let text = match text.contains(is_other_end) {
        true => Cow::Owned(text.replace(is_other_end, "")),
        false => Cow::Borrowed(text),
    };
    let clean = |text: &str| -> Option<String> {
        let seen = seen(text);
        let (open, n_private) = private::remove_in_lines(&seen);
        let redacted = redact_in_lines(&open);
        let is_same = n_private == 0 && redacted.found.is_empty() && matches!(seen, Cow::Borrowed(_));
        (!is_same).then(|| redacted.text.into_owned())
    };
    match clean(&text) {
        Some(cleaned) => Cow::Owned(cleaned),
        None => text,
    }
}

/// What a reader sees of `text`, and what acts on no terminal.
#[must_use]
pub fn seen(text: &str) -> Cow<'_, str> {
    let Cow::Owned(mut seen) = seen_once(text) else { return Cow::Borrowed(text) };
    // What went may have kept the parts of an escape sequence apart.
    while let Cow::Owned(again) = seen_once(&seen) {
        seen = again;
    }
    Cow::Owned(seen)
}

fn seen_once(text: &str) -> Cow<'_, str> {
    match without_escapes(text) {
        Cow::Borrowed(text) => plain(text),
        Cow::Owned(text) => Cow::Owned(plain(&text).into_owned()),
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
    use proptest::prelude::*;

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
    fn a_quote_in_a_named_secret_keeps_nothing_of_it() {
        let named = |text: &str| {
            let once = named_for_storage("password", text, &mut Removed::default()).into_owned();
            let mut removed = Removed::default();
            assert_eq!(named_for_storage("password", &once, &mut removed), once);
            assert_eq!(removed, Removed::default());
            once
        };
        assert_eq!(named("hunter22"), "[redacted:password]");
        assert_eq!(named("hunter22\"rest\"44"), "[redacted:password]");
        assert_eq!(named("password=\"hunter22\" x"), "password=\"[redacted:password]\" x");
        assert_eq!(named("a <private>b</private>"), "a [private]");
        assert_eq!(named("[redacted:password] hunter22"), "[redacted:password] [redacted:password]");
        assert_eq!(named("hunter22 <private>b</private>!"), "[redacted:password] [private]!");
        assert_eq!(named("[redacted:x] hunter22"), "[redacted:x] [redacted:password]");
        assert_eq!(named("[redacted:x1] hunter22"), "[redacted:[redacted:password]");
        assert_eq!(named("see [private] for it"), "see [private] for it");
    }

    #[test]
    fn what_was_around_a_named_secret_is_looked_at_in_the_same_call() {
        let mut removed = Removed::default();
        let once = named_for_storage("password", "papsword=hunter22 redm [31", &mut removed).into_owned();
        assert!(!once.contains("hunter22") && !once.contains("redm"), "{once}");
        assert_eq!(named_for_storage("password", &once, &mut removed), once);
        assert_eq!(named_for_storage("topic", "papsword of the day", &mut removed), "papsword of the day");
    }

    #[test]
    fn a_secret_in_colours_is_one() {
        let text = "password=\x1b[31mhunter\x1b[1m22\x1b[0m";
        assert_eq!(for_storage(text, &mut Removed::default()), "password=[redacted:password]");
    }

    #[test]
    fn what_no_reader_sees_hides_nothing() {
        let mut removed = Removed::default();
        let text = "pass\u{200b}word=hun\u{200d}ter\u{2060}22 <pri\u{200b}vate>x</priv\u{ad}ate> gh\u{feff}p_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";
        assert_eq!(
            for_storage(text, &mut removed),
            "password=[redacted:password] [private] [redacted:github-token]"
        );
        assert_eq!(removed.kinds(), [Kind::GithubToken, Kind::Password, Kind::Private]);
        assert_eq!(for_storage("\x1b\u{200b}[31mred\u{200b}[0m", &mut removed), "red");
    }

    proptest! {
        #[test]
        fn once_is_enough(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..20)) {
            let text = pieces.concat();
            let once = for_storage(&text, &mut Removed::default()).into_owned();
            let mut removed = Removed::default();
            prop_assert_eq!(for_storage(&once, &mut removed), &*once);
            prop_assert_eq!(removed, Removed::default(), "{}", once);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
        }
    }

    const PIECES: &[&str] = &[
        "password=",
        "hunter22",
        " ",
        "\n",
        "\r",
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{202e}",
        "\x1b[31m",
        "[31m",
        "[0m",
        "\x1b",
        "<private>",
        "</private>",
        "<pri",
        "vate>",
        "سلام",
        "\u{2764}",
        "\u{1f525}",
        "é",
        "x",
        "\u{e0041}",
        "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6",
        "`",
        "\"",
    ];

    #[test]
    fn a_text_without_either_is_borrowed() {
        let mut removed = Removed::default();
        assert!(matches!(for_storage("plain words", &mut removed), Cow::Borrowed(_)));
        assert_eq!(removed, Removed::default());
    }
}
