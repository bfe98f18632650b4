//! Texts on their way to a reader.

use std::borrow::Cow;

use chronicle_core::{
    Age, Category,
    correction::{CorrectionItem, CorrectionKind, Tier},
    parse_time, plain,
    reading::{Standing, said_by},
    redaction::gated,
    shown_path,
};
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

/// What was said of a lesson since: `words amended by Uma, 2 days ago; was: “old”; now: “new”: the reason`.
pub(crate) fn correction(item: &CorrectionItem, now: Timestamp) -> String {
    const LONGEST: usize = 300;
    let field = match item.field.as_deref() {
        Some("content") => "words ".to_owned(),
        Some(field) => format!("{} ", line(field, 40)),
        None => String::new(),
    };
    let mut said = match item.kind {
        CorrectionKind::Flag => "flagged".to_owned(),
        CorrectionKind::Remove => format!("{field}removed"),
        CorrectionKind::Amend => format!("{field}amended"),
    };
    match (said_by(item.author.as_deref(), item.trust, item.origin.as_deref()), &item.author) {
        // What strangers call themselves proves nothing: where it came from is said with it.
        (Some(stranger), _) if item.trust == Tier::Unknown => {
            said.push_str(&format!(" ({})", line(&stranger, 200)));
        }
        (_, Some(author)) => said.push_str(&format!(" by {}", line(author, 80))),
        (Some(other), None) => said.push_str(&format!(" {}", line(&other, 200))),
        (None, None) => {}
    }
    if let Some(at) = parse_time(&item.timestamp) {
        said.push_str(&format!(", {}", ago(at, now)));
    }
    match item.meant {
        Some(CorrectionKind::Remove) => said.push_str(", who is trusted too little to remove"),
        Some(CorrectionKind::Amend) => said.push_str(", who is trusted too little to amend"),
        Some(CorrectionKind::Flag) | None => {}
    }
    for (label, text) in [("was", &item.target_value), ("now", &item.replacement)] {
        if let Some(text) = text.as_deref().filter(|text| !text.trim().is_empty()) {
            said.push_str(&format!("; {label}: “{}”", line(text, LONGEST)));
        }
    }
    if !item.reason.trim().is_empty() {
        said.push_str(&format!(": {}", line(&item.reason, LONGEST)));
    }
    said
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
    fn a_correction_says_what_was_done_by_whom_and_to_what() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let made = CorrectionItem {
            id: None,
            kind: CorrectionKind::Flag,
            meant: None,
            field: None,
            target_value: None,
            replacement: None,
            reason: "it waits now".to_owned(),
            author: Some("Uma".to_owned()),
            timestamp: "2026-03-08T12:00:00Z".to_owned(),
            trust: Tier::Own,
            origin: None,
            is_remark: false,
        };
        let check = |item: CorrectionItem, expected: &str| assert_eq!(correction(&item, now), expected);
        let flag = made.clone();
        check(flag, "flagged by Uma, 2 days ago: it waits now");
        let words = Some("content".to_owned());
        let removed = CorrectionItem {
            kind: CorrectionKind::Remove,
            field: words.clone(),
            reason: String::new(),
            ..made.clone()
        };
        check(removed, "words removed by Uma, 2 days ago");
        let amended = CorrectionItem {
            kind: CorrectionKind::Amend,
            field: words,
            target_value: Some("Never block.".to_owned()),
            replacement: Some("Block for\na second.".to_owned()),
            ..made.clone()
        };
        check(
            amended.clone(),
            "words amended by Uma, 2 days ago; was: “Never block.”; now: “Block for a second.”: it waits now",
        );
        let stranger = CorrectionItem {
            kind: CorrectionKind::Flag,
            meant: Some(CorrectionKind::Amend),
            author: Some("Mallory".to_owned()),
            trust: Tier::Unknown,
            origin: Some("up".to_owned()),
            target_value: None,
            replacement: None,
            field: Some("tags".to_owned()),
            ..amended
        };
        check(
            stranger,
            "flagged (from Mallory, not yours: fetched from up), 2 days ago, who is trusted too little to amend: it waits now",
        );
    }

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(path("src/\u{202e}a\nb.rs"), "src/\\u{202e}a\\nb.rs");
        assert_eq!(commit("0123456789ab"), "0123456");
        assert_eq!(line("a\n b\tc", 40), "a b c");
    }
}
