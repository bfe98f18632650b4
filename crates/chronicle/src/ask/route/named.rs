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

/// The error that a question quotes, or is.
pub(super) fn error_text(question: &str) -> Option<String> {
    const TROUBLE: [&str; 12] = [
        "error",
        "fail",
        "getting",
        "got ",
        "get ",
        "fix",
        "solve",
        "again",
        "complain",
        "panic",
        "exception",
        "crash",
    ];
    let small = question.to_lowercase();
    let is_error = ["error: ", "error[", "panicked at", "exception: ", "fatal: "]
        .iter()
        .any(|mark| small.contains(mark));
    if is_error && !small.trim_end().ends_with('?') {
        return Some(question.trim().to_owned());
    }
    if !TROUBLE.iter().any(|word| small.contains(word)) {
        return None;
    }
    let quoted = ['"', '`', '“'].into_iter().find_map(|open| {
        let close = if open == '“' { '”' } else { open };
        let (_, rest) = question.split_once(open)?;
        let (quoted, _) = rest.split_once(close)?;
        Some(quoted.trim())
    })?;
    (2 <= quoted.split_whitespace().count()).then(|| quoted.to_owned())
}

/// Whether a period has a name of its own, rather than one seen from today.
pub(super) fn is_dated(period: &str) -> bool {
    const FROM_TODAY: [&str; 6] =
        ["today", "yesterday", "this week", "last week", "this month", "last month"];
    !FROM_TODAY.contains(&period) && !period.ends_with("..today") && !is_counted_from_today(period)
}

/// `last 3 days`, but not `last tuesday` or `last week of march`.
fn is_counted_from_today(period: &str) -> bool {
    period.strip_prefix("last ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The time that the words name.
pub(super) fn period(words: &[Word]) -> Option<Named> {
    (0..words.len()).find_map(|at| {
        let texts: Vec<&str> = words[at..].iter().take(8).map(|word| word.text.as_str()).collect();
        let (name, n_words) = period_at(&texts)?;
        Some(Named { name, at: at..at + n_words })
    })
}

/// The period that the words begin with, and how many words that takes.
fn period_at(words: &[&str]) -> Option<(String, usize)> {
    const SPANS: [(&str, &str); 40] = [
        ("today", "today"),
        ("this morning", "today"),
        ("my day", "today"),
        ("the day before yesterday", "2 days ago"),
        ("day before yesterday", "2 days ago"),
        ("yesterday", "yesterday"),
        ("over the weekend", "saturday..sunday"),
        ("last weekend", "saturday..sunday"),
        ("the weekend", "saturday..sunday"),
        ("last night", "yesterday"),
        ("last week", "last week"),
        ("this week", "this week"),
        ("my week", "this week"),
        ("past week", "last 7 days"),
        ("last month", "last month"),
        ("this month", "this month"),
        ("my month", "this month"),
        ("past month", "last 31 days"),
        ("past fortnight", "last 14 days"),
        ("last fortnight", "last 14 days"),
        ("last couple of days", "last 3 days"),
        ("the other day", "last 7 days"),
        ("last few days", "last 3 days"),
        ("the last days", "last 7 days"),
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
    if let ["between" | "from" | "entre", rest @ ..] = words
        && let Some((first, n_first)) = day_at(rest)
        && let ["and" | "to" | "till" | "until" | "through" | "et", rest @ ..] = &rest[n_first..]
        && let Some((last, n_last)) = day_at(rest)
    {
        return Some((format!("{first}..{last}"), 2 + n_first + n_last));
    }
    if let ["between" | "from", rest @ ..] = words
        && let rest = rest.strip_prefix(&["the"]).unwrap_or(rest)
        && let [first, "and" | "to" | "till" | "until", rest @ ..] = rest
        && let (Some(first), Some((last, n_last))) = (day_number(first), day_at(rest))
        && let Some((_, month)) =
            last.split_once(' ').filter(|_| last.starts_with(|c: char| c.is_ascii_digit()))
    {
        let n_before = words.len() - rest.len();
        return Some((format!("{first} {month}..{last}"), n_before + n_last));
    }
    if let ["since" | "depuis", rest @ ..] = words
        && let Some((first, n_first)) = day_at(rest)
    {
        return Some((format!("{first}..today"), 1 + n_first));
    }
    if let [which @ ("first" | "second" | "third" | "fourth" | "last"), "week", "of" | "in", name, ..] = words
        && let Some(month) = month(name)
    {
        return Some((format!("{which} week of {month}"), 4));
    }
    let part = match words {
        [part, "of", name, ..] => Some((*part, *name, 3)),
        [part, name, ..] => Some((*part, *name, 2)),
        _ => None,
    };
    if let Some((part, name, n_words)) = part
        && let (Some((first, last)), Some(month)) = (part_of_month(part), month(name))
    {
        return Some((format!("{first} {month}..{last} {month}"), n_words));
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
    if let ["in" | "during" | "of" | "from" | "en", name, year, ..] = words
        && let Some(month) = month(name)
        && is_year(year)
    {
        return Some((format!("{month} {year}"), 3));
    }
    if let ["in" | "during" | "of" | "from" | "en", name, ..] = words
        && let Some(month) = month(name)
        && day_at(&words[1..]).is_none()
    {
        return Some((month.to_owned(), 2));
    }
    for (span, name) in SPANS {
        let n_words = span.split(' ').count();
        if n_words <= words.len() && span.split(' ').eq(words[..n_words].iter().copied()) {
            return Some((name.to_owned(), n_words));
        }
    }
    day_at(words)
}

/// The day that the words begin with, and how many words that takes.
fn day_at(words: &[&str]) -> Option<(String, usize)> {
    if let ["the" | "on", rest @ ..] = words {
        return day_at(rest).map(|(day, n_words)| (day, n_words + 1));
    }
    let (day, n_words) = match words {
        ["last", name, ..] if weekday(name).is_some() => (format!("last {}", weekday(name)?), 2),
        [name, "last", "week", ..] | ["last", "week", name, ..] if weekday(name).is_some() => {
            (format!("{} last week", weekday(name)?), 3)
        }
        [first, "of", second, ..] if month(second).is_some() => {
            (format!("{} {}", day_number(first)?, month(second)?), 3)
        }
        [first, second, ..] => match (month(first), month(second)) {
            (Some(name), None) if day_number(second).is_some() => {
                (format!("{} {name}", day_number(second)?), 2)
            }
            (None, Some(name)) if day_number(first).is_some() => {
                (format!("{} {name}", day_number(first)?), 2)
            }
            _ => (one_day(first)?, 1),
        },
        [first] => (one_day(first)?, 1),
        [] => return None,
    };
    let is_by_month = 2 <= n_words && day.starts_with(|c: char| c.is_ascii_digit());
    match words.get(n_words).filter(|year| is_by_month && is_year(year)) {
        Some(year) => Some((format!("{day} {year}"), n_words + 1)),
        None => Some((day, n_words)),
    }
}

/// The first and the last day of a part of a month; every month has them.
fn part_of_month(part: &str) -> Option<(u8, u8)> {
    match part {
        "early" | "beginning" | "start" => Some((1, 10)),
        "mid" | "middle" => Some((11, 20)),
        "late" => Some((21, 28)),
        _ => None,
    }
}

/// A day that is one word.
fn one_day(word: &str) -> Option<String> {
    let dated = || {
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        let is_date =
            |text: &str| text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
        (is_date(first) && is_date(last)).then(|| word.to_owned())
    };
    weekday(word).map(str::to_owned).or_else(dated).or_else(|| in_numbers(word))
}

/// A day as `16.11.2026` or `2026/11/16`: other orders are not the same everywhere.
fn in_numbers(word: &str) -> Option<String> {
    let parts = |mark: char| match word.split(mark).map(str::parse).collect::<Vec<Result<u16, _>>>()[..] {
        [Ok(first), Ok(second), Ok(third)] => Some((first, second, third)),
        _ => None,
    };
    let (year, month, day) =
        parts('/').or_else(|| parts('.').map(|(day, month, year)| (year, month, day)))?;
    let is_day = (1990..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then(|| format!("{year}-{month:02}-{day:02}"))
}

fn weekday(word: &str) -> Option<&'static str> {
    const DAYS: [(&str, &str); 7] = [
        ("monday", "lundi"),
        ("tuesday", "mardi"),
        ("wednesday", "mercredi"),
        ("thursday", "jeudi"),
        ("friday", "vendredi"),
        ("saturday", "samedi"),
        ("sunday", "dimanche"),
    ];
    DAYS.iter().find(|(english, french)| word == *english || word == *french).map(|(english, _)| *english)
}

/// A month by its name, or by the beginning of it.
fn month(word: &str) -> Option<&'static str> {
    let is_short =
        |name: &&&str| word.len() == 3 && name.starts_with(word) || word == "sept" && **name == "september";
    MONTHS.iter().find(|name| **name == word).or_else(|| MONTHS.iter().find(is_short)).copied()
}

/// The day of a month: `16`, `16th`.
fn day_number(word: &str) -> Option<u8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_ordinal = ["", "st", "nd", "rd", "th"].contains(&&word[digits.len()..]);
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1990..2100).contains(&year))
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
