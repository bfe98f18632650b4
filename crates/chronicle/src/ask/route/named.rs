//! Files, lines, times and numbers that a question names.

use std::ops::Range;

use chronicle_core::period::MONTHS;

use super::words::Word;

/// A time that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// As a period is called.
    pub(super) name: String,
    /// The words that name it.
    pub(super) at: Range<usize>,
}

/// A file in the question, with the line or the item that is asked about.
pub(super) fn file(question: &str) -> Option<(String, Option<String>)> {
    let trimmed = |word: &str| {
        word.trim_matches(|c: char| "?!,;\"'`“”()".contains(c)).trim_end_matches(['.', ':']).to_owned()
    };
    let words: Vec<String> = question.split_whitespace().map(trimmed).collect();
    let (at, path, line) = words.iter().enumerate().find_map(|(at, word)| {
        let (path, line) = match word.split_once(':') {
            Some((path, line)) if line.starts_with(|c: char| c.is_ascii_digit()) => {
                (path, Some(line.split(':').next()?.to_owned()))
            }
            _ => (word.as_str(), None),
        };
        is_file(path, line.is_some()).then(|| (at, path.to_owned(), line))
    })?;
    let number = |word: Option<&String>| {
        word.filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())).cloned()
    };
    let named = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("line"))
        .and_then(|at| number(words.get(at + 1)));
    let item = || {
        // `why is acquire in src/pool.rs written that way`
        let before = at
            .checked_sub(2)
            .filter(|_| matches!(words.get(at - 1).map(String::as_str), Some("in" | "of")))?;
        let item = &words[before];
        let is_name = item.chars().all(|c| c.is_alphanumeric() || "_:.#".contains(c))
            && !["line", "this", "that", "it", "traps", "wrong", "code", "lessons"].contains(&item.as_str());
        (is_name && !item.is_empty()).then(|| item.clone())
    };
    let is_why = words.iter().any(|word| {
        ["why", "reason", "reasoning", "rationale", "explain", "who", "pourquoi"]
            .contains(&word.to_lowercase().as_str())
    });
    Some((path, line.or(named).or_else(|| is_why.then(item).flatten())))
}

/// Whether a word names a file: it has an ending, and a folder unless a line follows or the ending is well known.
fn is_file(word: &str, has_line: bool) -> bool {
    const ENDINGS: [&str; 26] = [
        "rs", "go", "py", "ts", "tsx", "js", "jsx", "mjs", "rb", "java", "kt", "swift", "c", "h", "cc",
        "cpp", "cs", "php", "sh", "sql", "toml", "yaml", "yml", "json", "md", "css",
    ];
    let Some((stem, ending)) = word.rsplit('/').next().and_then(|name| name.rsplit_once('.')) else {
        return false;
    };
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_url = word.contains("://");
    !stem.is_empty() && is_ending && !is_url && (has_line || word.contains('/') || ENDINGS.contains(&ending))
}

/// The time that the words name.
pub(super) fn period(words: &[Word]) -> Option<Named> {
    (0..words.len()).find_map(|at| {
        let texts: Vec<&str> = words[at..].iter().take(6).map(|word| word.text.as_str()).collect();
        let (name, n_words) = period_at(&texts)?;
        Some(Named { name, at: at..at + n_words })
    })
}

/// The period that the words begin with, and how many words that takes.
fn period_at(words: &[&str]) -> Option<(String, usize)> {
    const SPANS: [(&str, &str); 30] = [
        ("today", "today"),
        ("this morning", "today"),
        ("my day", "today"),
        ("yesterday", "yesterday"),
        ("last night", "yesterday"),
        ("last week", "last week"),
        ("this week", "this week"),
        ("my week", "this week"),
        ("past week", "last 7 days"),
        ("last month", "last month"),
        ("this month", "this month"),
        ("my month", "this month"),
        ("past month", "last 31 days"),
        ("last few days", "last 3 days"),
        ("past few days", "last 3 days"),
        ("last 24 hours", "last 2 days"),
        ("the week", "this week"),
        ("the month", "this month"),
        ("hier", "yesterday"),
        ("aujourd hui", "today"),
        ("ce matin", "today"),
        ("ma journee", "today"),
        ("cette semaine", "this week"),
        ("ma semaine", "this week"),
        ("la semaine derniere", "last week"),
        ("la semaine passee", "last week"),
        ("ce mois ci", "this month"),
        ("ce mois", "this month"),
        ("le mois dernier", "last month"),
        ("le mois passe", "last month"),
    ];
    let day = |word: &str| {
        const DAYS: [(&str, &str); 7] = [
            ("monday", "lundi"),
            ("tuesday", "mardi"),
            ("wednesday", "mercredi"),
            ("thursday", "jeudi"),
            ("friday", "vendredi"),
            ("saturday", "samedi"),
            ("sunday", "dimanche"),
        ];
        let named = DAYS.iter().find(|(english, french)| word == *english || word == *french);
        let dated = || {
            let (first, last) = word.split_once("..").unwrap_or((word, word));
            let is_date =
                |text: &str| text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
            (is_date(first) && is_date(last)).then(|| word.to_owned())
        };
        named.map(|(english, _)| (*english).to_owned()).or_else(dated)
    };
    if let ["between" | "from" | "entre", first, "and" | "to" | "till" | "until" | "et", last, ..] = words
        && let (Some(first), Some(last)) = (day(first), day(last))
    {
        return Some((format!("{first}..{last}"), 4));
    }
    if let ["last" | "past", n, unit, ..] = words
        && let (Some(n), Some(unit)) = (number(n), unit_of(unit))
    {
        return Some((format!("last {n} {unit}"), 3));
    }
    if let [n, unit, "ago", ..] = words
        && let (Some(n), Some(unit)) = (number(n), unit_of(unit))
    {
        return Some((format!("{n} {unit} ago"), 3));
    }
    if let ["in" | "during" | "en", month, ..] = words
        && MONTHS.contains(month)
    {
        return Some(((*month).to_owned(), 2));
    }
    for (span, name) in SPANS {
        let n_words = span.split(' ').count();
        if n_words <= words.len() && span.split(' ').eq(words[..n_words].iter().copied()) {
            return Some((name.to_owned(), n_words));
        }
    }
    day(words.first()?).map(|day| (day, 1))
}

fn unit_of(word: &str) -> Option<&'static str> {
    match word {
        "day" | "days" => Some("days"),
        "week" | "weeks" => Some("weeks"),
        "month" | "months" => Some("months"),
        _ => None,
    }
}

/// A number, in figures or spelled out.
fn number(word: &str) -> Option<usize> {
    const NUMBERS: [&str; 10] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = || NUMBERS.iter().position(|number| *number == word).map(|at| at + 1);
    word.parse().ok().or_else(spelled).filter(|count| (1..=50).contains(count))
}

/// How many sessions are asked for.
pub(super) fn n_sessions(words: &[Word]) -> Option<usize> {
    let at = words.iter().position(|word| word.text.starts_with("session"))?;
    words[at.saturating_sub(2)..at].iter().rev().find_map(|word| number(&word.text))
}
