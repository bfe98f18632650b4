//! Texts on their way to a reader.

use std::borrow::Cow;

use chronicle_core::{Age, Category, parse_time, plain, reading::Standing, redaction::gated, shown_path};
use jiff::{Timestamp, tz::TimeZone};

/// A text from outside as a reader may see it: without secrets, without what acts on a terminal, hides or turns the
/// direction of writing, and cut at `longest` bytes.
///
/// Nothing else decides what a page may show: each text passes here.
pub(crate) fn shown(text: &str, longest: usize) -> String {
    // A secret may begin before the cut and end after it.
    let reach = text.floor_char_boundary(longest.saturating_mul(2));
    let safe = gated(&text[..reach]);
    let safe = plain(&safe);
    if safe.len() <= longest && reach == text.len() {
        return safe.trim_end().to_owned();
    }
    let cut = &safe[..safe.floor_char_boundary(longest)];
    format!("{}…", cut.trim_end())
}

/// The same on one line.
pub(crate) fn line(text: &str, longest: usize) -> String {
    shown(text, longest).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A path or a name of code, on one line.
pub(crate) fn path(path: &str) -> Cow<'_, str> {
    const LONGEST: usize = 400;
    match shown_path(path) {
        shown if shown.len() <= LONGEST => shown,
        shown => line(&shown, LONGEST).into(),
    }
}

/// A commit, short.
pub(crate) fn commit(id: &str) -> String {
    path(&id.chars().take(7).collect::<String>()).into_owned()
}

/// The name of a kind of lesson as people say it.
pub(crate) fn kind(category: Category) -> &'static str {
    match category {
        Category::Gotcha => "gotcha",
        Category::DeadEnd => "dead end",
        Category::Insight => "insight",
        Category::UnfinishedThread => "unfinished",
    }
}

/// The mark of a kind of lesson, so that no colour is needed to tell them apart.
pub(crate) fn mark(category: Category) -> &'static str {
    match category {
        Category::Gotcha => "▲",
        Category::DeadEnd => "✗",
        Category::Insight => "●",
        Category::UnfinishedThread => "○",
    }
}

/// Where a lesson is now: `line 4, changed`; `gone`; `whole file`.
pub(crate) fn place(standing: &Standing) -> String {
    use chronicle_core::reading::State;
    let state = match standing.state {
        State::Gone => return "its code is gone".to_owned(),
        State::Changed => ", changed",
        State::Intact => "",
    };
    match (standing.lines, standing.near.first()) {
        (Some(range), _) => format!("{}{state}", range.in_words()),
        (None, Some(range)) => format!("near {}", range.in_words()),
        (None, None) if standing.file.is_some() => "whole file".to_owned(),
        (None, None) => "whole commit".to_owned(),
    }
}

/// `2 days ago`.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", Age::between(at, now))
}

/// The moment that a text names.
pub(crate) fn moment(text: Option<&str>) -> Option<Timestamp> {
    parse_time(text?)
}

/// `2026-03-10`, in UTC: a page may be read in any time zone.
pub(crate) fn day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).date().to_string()
}

/// `2026-03-10 12:30`, in UTC.
pub(crate) fn minute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The word that JSON has for a value of an enum.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_acts_on_its_reader() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text, 40), expected, "{text:?}");
        check("never block", "never block");
        check("a\u{1b}[31mred\u{202e}txt", "aredtxt");
        check("two\nlines  ", "two\nlines");
        check(&"x".repeat(1 << 20), &format!("{}…", "x".repeat(40)));
        check("<b>&", "<b>&");
    }

    #[test]
    fn a_secret_at_the_cut_is_replaced_whole() {
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let text = format!("{} {secret}", "word ".repeat(6));
        let cut = shown(&text, 40);
        assert!(!cut.contains("ghp_a1"), "{cut}");
        assert!(cut.contains("[redacted"), "{cut}");
    }

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(path("src/\u{202e}a\nb.rs"), "src/\\u{202e}a\\nb.rs");
        assert_eq!(commit("0123456789ab"), "0123456");
        assert_eq!(line("a\n b\tc", 40), "a b c");
    }
}
