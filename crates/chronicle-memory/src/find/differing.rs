//! What humans said on the matter of a question in different ways: with another value, or once denied.
//!
//! A statement is the part of a hit that answers. It counts if it has at least two words of the question, and half of
//! them. Values are compared only if the question asks for such: a number before a word of the question, a share, a day,
//! a duration. Nothing here decides which statement is true; the newest comes first.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use chronicle_core::period::MONTHS;
use chronicle_search::Question;
use chronicle_sessions::shortened;
use schemars::JsonSchema;
use serde::Serialize;

use super::FoundTurn;

/// Statements that are shown.
const MOST_SHOWN: usize = 4;

/// The longest statement.
const LONGEST: usize = 160;

/// Statements on one matter that differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Differing {
    /// What differs: the word that a number counts, `share`, `day`, `duration`, or `yes or no`.
    pub about: String,
    /// The statements, the newest first.
    pub statements: Vec<Statement>,
}

/// What a human said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Statement {
    /// The session.
    pub session: String,
    /// The id that the agent gave the turn.
    pub turn: String,
    /// The line of the transcript.
    pub line: u64,
    /// When it was said.
    pub at: Option<String>,
    /// The value, as it was written; null for yes or no.
    pub value: Option<String>,
    /// The sentence.
    pub text: String,
}

/// What a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    /// A number of what the word of the question with this number names.
    Count(usize),
    Share,
    Day,
    Duration,
}

/// A hit that is a statement.
struct Said<'h> {
    hit: &'h FoundTurn,
    /// Where the words of the question are in it.
    words: Vec<(usize, Range<usize>)>,
    values: BTreeMap<Of, (BTreeSet<String>, Range<usize>)>,
    /// Where it denies something of the question.
    denied: Option<Range<usize>>,
}

/// The statements among `hits` that differ on what `query` asks for.
pub(super) fn differing(query: &str, question: &mut Question, hits: &[FoundTurn]) -> Option<Differing> {
    let asked = Asked::of(query);
    let least = question.n_words().div_ceil(2).max(2);
    let mut said = Vec::new();
    for hit in hits.iter().filter(|hit| hit.kind == "prompt") {
        let text = &hit.snippet.text;
        let words = question.places(text);
        let n_words = words.iter().map(|(word, _)| word).collect::<BTreeSet<_>>().len();
        if least <= n_words {
            let denied = denied(text, &words);
            let values = values(text, &words, asked);
            said.push(Said { hit, words, values, denied });
        }
    }
    by_value(&said).or_else(|| asked.yes_or_no.then(|| by_denial(&said)).flatten())
}

/// Statements with different values of the same: of what the best hit has a value of.
fn by_value(said: &[Said<'_>]) -> Option<Differing> {
    let kinds = said.iter().flat_map(|one| one.values.keys().copied());
    let of = kinds.into_iter().find(|of| {
        let different: BTreeSet<_> =
            said.iter().filter_map(|one| one.values.get(of)).map(|(set, _)| set).collect();
        1 < different.len()
    })?;
    // The best hits say which values count, the newest statement of each when it held last.
    let mut shown: Vec<&BTreeSet<String>> = Vec::new();
    for values in said.iter().filter_map(|one| one.values.get(&of)).map(|(values, _)| values) {
        if shown.len() < MOST_SHOWN && !shown.contains(&values) {
            shown.push(values);
        }
    }
    let mut newest: Vec<(&Said<'_>, Statement)> = Vec::new();
    for one in newest_first(said) {
        let Some((values, at)) = one.values.get(&of) else { continue };
        if let Some(place) = shown.iter().position(|known| *known == values) {
            shown.swap_remove(place);
            let value = values.iter().cloned().collect::<Vec<_>>().join(", ");
            newest.push((one, statement(one.hit, at, Some(value))));
        }
    }
    let about = match of {
        Of::Count(number) => {
            let (first, ..) = newest.first()?;
            let at = first.words.iter().find(|(word, _)| *word == number)?.1.clone();
            first.hit.snippet.text[at].to_lowercase()
        }
        Of::Share => "share".to_owned(),
        Of::Day => "day".to_owned(),
        Of::Duration => "duration".to_owned(),
    };
    Some(Differing { about, statements: newest.into_iter().map(|(_, statement)| statement).collect() })
}

/// The best statement that denies and the best one that doesn't.
fn by_denial(said: &[Said<'_>]) -> Option<Differing> {
    let denying = said.iter().find(|one| one.denied.is_some())?;
    let other = said.iter().find(|one| one.denied.is_none())?;
    let whole = |one: &Said<'_>| one.words.first().map(|(_, at)| at.clone()).unwrap_or_default();
    let statements = newest_first([denying, other])
        .into_iter()
        .map(|one| statement(one.hit, &one.denied.clone().unwrap_or_else(|| whole(one)), None));
    Some(Differing { about: "yes or no".to_owned(), statements: statements.collect() })
}

/// The newest first; of one session what is further down.
fn newest_first<'s, 'h: 's>(said: impl IntoIterator<Item = &'s Said<'h>>) -> Vec<&'s Said<'h>> {
    let mut sorted: Vec<_> = said.into_iter().collect();
    sorted.sort_by(|one, other| (&other.hit.at, other.hit.line).cmp(&(&one.hit.at, one.hit.line)));
    sorted
}

fn statement(hit: &FoundTurn, at: &Range<usize>, value: Option<String>) -> Statement {
    let text = &hit.snippet.text;
    let is_end = |c: char| matches!(c, '.' | '?' | '!' | ';');
    // A full stop within a number or a name ends nothing.
    let ends = text.match_indices(is_end).map(|(end, _)| end + 1);
    let ends: Vec<usize> = ends.filter(|end| text[*end..].starts_with([' ', '…'])).collect();
    let start = ends.iter().copied().rfind(|end| *end <= at.start).unwrap_or(0);
    let end = ends.iter().copied().find(|end| at.end <= *end).unwrap_or(text.len());
    Statement {
        session: hit.session.clone(),
        turn: hit.turn.clone(),
        line: hit.line,
        at: hit.at.clone(),
        value,
        text: shortened(text[start..end].trim(), LONGEST),
    }
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    share: bool,
    day: bool,
    duration: bool,
    yes_or_no: bool,
}

impl Asked {
    fn of(query: &str) -> Self {
        let small = query.to_lowercase();
        let words: Vec<&str> =
            small.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
        const ASKING: [&str; 15] = [
            "have", "has", "had", "do", "does", "did", "is", "are", "was", "were", "am", "can", "could",
            "should", "will",
        ];
        Self {
            share: small.contains('%') || has(&["percent", "percentage", "rate", "share"]),
            day: has(&["when", "deadline", "date", "day", "scheduled", "until"]),
            duration: has(&["time", "long", "fast", "slow", "latency", "duration"]),
            yes_or_no: words.first().is_some_and(|first| ASKING.contains(first)),
        }
    }
}

/// The values in `text` that are asked for, and where the first of each kind is.
fn values(
    text: &str,
    words: &[(usize, Range<usize>)],
    asked: Asked,
) -> BTreeMap<Of, (BTreeSet<String>, Range<usize>)> {
    let mut found: BTreeMap<Of, (BTreeSet<String>, Range<usize>)> = BTreeMap::new();
    let mut add = |of: Of, value: String, at: Range<usize>| {
        found.entry(of).or_insert_with(|| (BTreeSet::new(), at)).0.insert(value);
    };
    for at in numbers(text) {
        let number = &text[at.clone()];
        let after = &text[at.end..];
        let next = after.trim_start_matches([' ', '\u{a0}']);
        let unit: String = next.chars().take_while(|c| c.is_alphabetic() || *c == '%').collect();
        let counted = words.iter().find(|(_, place)| place.start == at.end + (after.len() - next.len()));
        match day(text, &at) {
            Some(day) if asked.day => add(Of::Day, day, at),
            Some(_) => {}
            None if asked.share && (unit == "%" || unit == "percent") => {
                add(Of::Share, format!("{number} %"), at);
            }
            None if asked.duration && is_of_time(&unit) => add(Of::Duration, format!("{number} {unit}"), at),
            None => {
                if let Some((word, _)) = counted {
                    add(Of::Count(*word), number.to_owned(), at);
                }
            }
        }
    }
    found
}

/// Where whole numbers and decimal ones are; no part of a name, a version or a date in figures.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|start| at + start) {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let length = text[start..].find(|c: char| !is_part(c)).unwrap_or(text.len() - start);
        let number = text[start..start + length].trim_end_matches(['.', ',']);
        let end = start + number.len();
        at = start + length;
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | ':' | '.' | '#');
        let is_joined = text[..start].ends_with(joins) || text[end..].starts_with(['-', '_', '/', ':']);
        if !is_joined && number.matches('.').count() < 2 {
            found.push(start..end);
        }
    }
    found
}

/// The day that the number at `at` is of, by the month next to it.
fn day(text: &str, at: &Range<usize>) -> Option<String> {
    let number: u8 = text[at.clone()].parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = |word: &str| {
        let word = word.to_lowercase();
        let is_it = |name: &&&str| **name == word || word.len() == 3 && name.starts_with(&word);
        MONTHS.iter().find(is_it).copied()
    };
    let before = text[..at.start].trim_end().rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let after = text[at.end..].trim_start_matches(char::is_alphabetic);
    let after = after.trim_start().trim_start_matches("of ");
    let after = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    month(before).or_else(|| month(after)).map(|month| format!("{number} {month}"))
}

fn is_of_time(unit: &str) -> bool {
    const UNITS: [&str; 14] = [
        "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours", "day",
        "days", "weeks",
    ];
    UNITS.contains(&unit)
}

/// Where `text` denies something that has two words of the question.
fn denied(text: &str, words: &[(usize, Range<usize>)]) -> Option<Range<usize>> {
    const DENYING: [&str; 7] = ["never", "not", "without", "cannot", "neither", "nothing", "no longer"];
    let small = text.to_ascii_lowercase();
    let is_whole = |at: &Range<usize>| {
        !small[..at.start].ends_with(char::is_alphanumeric)
            && !small[at.end..].starts_with(char::is_alphanumeric)
    };
    let whole = DENYING.iter().flat_map(|word| small.match_indices(word));
    let whole = whole.map(|(start, word)| start..start + word.len()).filter(is_whole);
    let contracted = ["n't", "n’t"].into_iter().flat_map(|end| small.match_indices(end));
    let contracted = contracted.map(|(start, end)| start..start + end.len());
    whole.chain(contracted).find(|at| {
        let rest = &small[at.end..];
        let clause = rest.find([',', '.', ';', '?', '!']).unwrap_or(rest.len());
        let clause = rest[..clause].find(" but ").unwrap_or(clause);
        let within = at.end..at.end + clause;
        let of: BTreeSet<_> =
            words.iter().filter(|(_, place)| within.contains(&place.start)).map(|(word, _)| word).collect();
        2 <= of.len()
    })
}

#[cfg(test)]
mod tests {
    use super::{super::Snippet, *};

    fn hit(number: u64, kind: &'static str, text: &str) -> FoundTurn {
        FoundTurn {
            session: "s".to_owned(),
            title: String::new(),
            project: String::new(),
            branch: None,
            turn: number.to_string(),
            line: number,
            at: Some(format!("2026-03-0{number}T10:00:00Z")),
            kind,
            speaker: None,
            sub_agent: None,
            ok: None,
            score: 1.0,
            snippet: Snippet { text: text.to_owned(), marks: Vec::new() },
            commit: None,
            result: None,
            changed_since: None,
            decided_later: None,
        }
    }

    /// The hits are the prompts of days 1, 2, 3, …, the best first; what is expected is `about: [value] text` for each.
    #[track_caller]
    fn check(query: &str, texts: &[&str], expected: &[&str]) {
        let hits: Vec<FoundTurn> =
            texts.iter().zip(1..).map(|(text, day)| hit(day, "prompt", text)).collect();
        let found = differing(query, &mut Question::new(query), &hits);
        let told: Vec<String> = found
            .iter()
            .flat_map(|found| {
                found.statements.iter().map(|one| {
                    format!("{}: [{}] {}", found.about, one.value.as_deref().unwrap_or_default(), one.text)
                })
            })
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn another_number_of_the_same_is_shown_with_the_first_one() {
        check(
            "how many connections does the pool keep?",
            &["The pool keeps 8 connections.", "Make that pool keep 12 connections, please."],
            &[
                "connections: [12] Make that pool keep 12 connections, please.",
                "connections: [8] The pool keeps 8 connections.",
            ],
        );
        check(
            "how many connections does the pool keep?",
            &[
                "The pool keeps 8 connections.",
                "So the pool keeps 8 connections at 99 %.",
                "Pool 2.0.1 keeps waiting.",
            ],
            &[],
        );
        check(
            "what does the pool keep?",
            &["The pool keeps 8 connections.", "The pool keeps 12 connections."],
            &[],
        );
    }

    #[test]
    fn days_shares_and_durations_are_compared_where_they_are_asked_for() {
        check(
            "when is the release of the pool?",
            &["The pool release is on March 15.", "Move the pool release to 2 April. It is late."],
            &[
                "day: [2 april] Move the pool release to 2 April.",
                "day: [15 march] The pool release is on March 15.",
            ],
        );
        check(
            "what percentage of the pool is covered?",
            &["The pool is covered to 65%.", "The pool is covered to 80 percent."],
            &[
                "share: [80 %] The pool is covered to 80 percent.",
                "share: [65 %] The pool is covered to 65%.",
            ],
        );
        check(
            "what is the response time of the pool?",
            &["The response of the pool takes 300ms.", "The response of the pool takes 250 ms."],
            &[
                "duration: [250 ms] The response of the pool takes 250 ms.",
                "duration: [300 ms] The response of the pool takes 300ms.",
            ],
        );
        check("is the pool covered?", &["The pool is covered to 65%.", "The pool is covered to 80 %."], &[]);
    }

    #[test]
    fn a_denial_is_shown_with_what_it_denies() {
        check(
            "Have I benchmarked the pool?",
            &["I've never benchmarked the pool, so help me.", "I benchmarked the pool today."],
            &[
                "yes or no: [] I benchmarked the pool today.",
                "yes or no: [] I've never benchmarked the pool, so help me.",
            ],
        );
        // The denial is of something else.
        check(
            "Have I benchmarked the pool?",
            &["I benchmarked the pool, but not the parser.", "I benchmarked the pool today."],
            &[],
        );
        check(
            "how did I benchmark the pool?",
            &["I've never benchmarked the pool.", "I benchmarked the pool today."],
            &[],
        );
    }

    #[test]
    fn what_agents_say_states_nothing() {
        let query = "how many connections does the pool keep?";
        let hits = [
            hit(1, "prompt", "The pool keeps 8 connections."),
            hit(2, "said", "The pool keeps 9 connections."),
        ];
        assert_eq!(differing(query, &mut Question::new(query), &hits), None);
    }
}
