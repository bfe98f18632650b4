//! Which command a question in plain words is for, by rules.
//!
//! Rules are tried in their order; the first whose words are in the question
//! decides, and what stands behind them is what it is about. A question that no
//! rule knows, in whatever language, is searched for as it is.

mod named;
mod rules;

use named::{file, n_sessions, since};
use rules::RULES;

/// Where a question goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RouteName {
    Brief,
    CatchUp,
    Pending,
    About,
    How,
    Projects,
    Decided,
    Why,
    Read,
    Preferences,
    Patterns,
    Skills,
    Problems,
    Digest,
    Find,
}

impl RouteName {
    /// How it is told.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brief => "brief",
            Self::CatchUp => "catch-up",
            Self::Pending => "pending",
            Self::About => "about",
            Self::How => "how",
            Self::Projects => "projects",
            Self::Decided => "decided",
            Self::Why => "why",
            Self::Read => "read",
            Self::Preferences => "preferences",
            Self::Patterns => "patterns",
            Self::Skills => "skills",
            Self::Problems => "problems",
            Self::Digest => "digest",
            Self::Find => "find",
        }
    }
}

/// The way of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) name: RouteName,
    /// What it is about: a topic, a technology, a project; empty where the question is enough.
    pub(super) subject: String,
    /// A file, and a line or an item of it.
    pub(super) file: Option<(String, Option<String>)>,
    /// Whether projects are to be similar to the subject, rather than to use it.
    pub(super) is_similar: bool,
    /// Since when, for sessions.
    pub(super) since: Option<String>,
    /// How many sessions.
    pub(super) sessions: Option<usize>,
}

/// The way of `question`, which has words.
pub(super) fn route(question: &str) -> Route {
    let words = folded(question);
    let padded = format!(" {words} ");
    let mut route = Route {
        name: RouteName::Find,
        subject: String::new(),
        file: None,
        is_similar: false,
        since: since(&padded),
        sessions: n_sessions(&padded),
    };
    if let Some(file) = file(question) {
        let is_why = file.1.is_some()
            || padded.contains(" why ")
            || padded.contains(" who wrote ")
            || padded.contains(" written ");
        route.name = if is_why { RouteName::Why } else { RouteName::Read };
        let asks_for_lessons = [
            "before",
            "trap",
            "gotcha",
            "lesson",
            "know",
            "careful",
            "wrong",
            "break",
            "risk",
            "watch out",
            "pitfall",
        ]
        .iter()
        .any(|word| padded.contains(word));
        route.file = Some(file);
        if is_why || asks_for_lessons {
            return route;
        }
        route.file = None;
    }
    if let Some((subject, is_similar)) = projects(&padded) {
        return Route {
            name: RouteName::Projects,
            subject: as_asked(question, &subject),
            is_similar,
            ..route
        };
    }
    for (name, marks) in RULES {
        let found = marks.iter().find(|mark| match mark.strip_prefix('^') {
            Some(start) => {
                (words.clone() + " ").starts_with(start) || start.strip_suffix('$') == Some(&words)
            }
            None => padded.contains(**mark),
        });
        // A time makes it a digest, unless something particular is asked.
        if name == RouteName::Decided && found.is_none() && is_digest(&padded, route.since.as_deref()) {
            return Route { name: RouteName::Digest, ..route };
        }
        if found.is_none()
            && name == RouteName::CatchUp
            && route.sessions.is_some()
            && padded.contains(" session")
        {
            return Route { name, ..route };
        }
        if found.is_some() {
            let subject = subject(name, &words);
            return Route { name, subject: as_asked(question, &subject), ..route };
        }
    }
    Route { subject: question.trim().to_owned(), ..route }
}

/// Small letters, plain apostrophes, no marks at the end, no politeness at the beginning.
fn folded(question: &str) -> String {
    let lower = question.to_lowercase().replace(['’', '‘', '`'], "'");
    let spaced: String = lower
        .chars()
        .map(|c| {
            if c.is_whitespace() || matches!(c, '?' | '!' | ',' | ';' | '"' | '“' | '”') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let mut words: &str = &spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    words = words.trim_end_matches(['.', ':', ' ']);
    const POLITE: [&str; 16] = [
        "hey ",
        "hi ",
        "hello ",
        "ok ",
        "so ",
        "please ",
        "can you ",
        "could you ",
        "would you ",
        "chronicle ",
        "and ",
        "well ",
        "now ",
        "good morning ",
        "morning ",
        "quick question ",
    ];
    while let Some(rest) = POLITE.iter().find_map(|start| words.strip_prefix(start)) {
        words = rest;
    }
    words.trim_end_matches(" please").to_owned()
}

/// The same words as they were typed: names keep their capitals.
fn as_asked(question: &str, subject: &str) -> String {
    let at = question.to_lowercase().find(subject).filter(|_| !subject.is_empty());
    let typed = at
        .and_then(|at| question.get(at..at + subject.len()))
        .filter(|typed| typed.to_lowercase() == subject);
    typed.unwrap_or(subject).to_owned()
}

/// What projects are to use, or to be similar to.
fn projects(padded: &str) -> Option<(String, bool)> {
    let after = |marks: &[&str]| {
        let found = marks.iter().filter_map(|mark| Some((padded.find(mark)?, mark.len()))).min()?;
        Some(without_article(padded[found.0 + found.1..].trim()))
    };
    let is_about_projects = [
        " projects ",
        " repos ",
        " repositories ",
        " which project ",
        " what project ",
        " which repo ",
        " which repository ",
    ]
    .iter()
    .any(|word| padded.contains(word));
    if let Some(subject) =
        after(&[" similar to ", " a stack like ", " resemble ", " resembles ", " built like "])
    {
        let subject = if ["this project", "this", "this repo", "this one", "it"].contains(&subject.as_str()) {
            ".".to_owned()
        } else {
            subject
        };
        return Some((subject, true));
    }
    if padded.contains("problem") || padded.contains("error") {
        return None;
    }
    if is_about_projects
        || padded.starts_with(" where do i use ")
        || padded.starts_with(" where do we use ")
        || padded.starts_with(" where did i use ")
        || padded.starts_with(" where have i used ")
        || padded.starts_with(" where have we used ")
    {
        let subject = after(&[
            " use ",
            " uses ",
            " using ",
            " used ",
            " depend on ",
            " depends on ",
            " work with ",
            " worked with ",
            " written in ",
            " built with ",
            " are in ",
        ]);
        return match subject {
            Some(subject) => Some((subject, false)),
            None => ["list", "my projects", "all projects", "which projects", "what projects", "show"]
                .iter()
                .any(|word| padded.contains(word))
                .then(|| (String::new(), false)),
        };
    }
    None
}

fn without_article(text: &str) -> String {
    ["the ", "a ", "an ", "my ", "our "]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(text)
        .to_owned()
}

/// What the question is about, behind the words that led to the route.
fn subject(name: RouteName, words: &str) -> String {
    let after = |marks: &[&str]| {
        let found = marks
            .iter()
            .filter_map(|mark| words.find(mark).map(|at| (at, std::cmp::Reverse(mark.len()))))
            .min();
        found.map(|(at, length)| words[at + length.0..].trim().to_owned()).filter(|rest| !rest.is_empty())
    };
    let found = match name {
        RouteName::About => after(&[
            " about ",
            "about ",
            " regarding ",
            " on ",
            " story with ",
            " behind ",
            " story of ",
            "overview of ",
            "deal with ",
            "explain ",
            "why ",
        ]),
        RouteName::Decided => after(&[
            " about ",
            " regarding ",
            " on ",
            " for ",
            " concerning ",
            " choose ",
            " pick ",
            " with ",
            " reject ",
        ]),
        RouteName::How => after(&[
            "remind me how ",
            "me how ",
            "steps do i take to ",
            "steps do we take to ",
            "usual way of ",
            "usual way to ",
            "procedure for ",
            "how do i ",
            "how do we ",
            "how did i ",
            "how did we ",
            "how to ",
            "how was ",
            "how were ",
            "how can i ",
            "how ",
        ]),
        RouteName::Find => after(&[
            "sessions where i ",
            "sessions where we ",
            "sessions about ",
            "^find ",
            "what was that ",
            "have i seen ",
            "have we seen ",
            "find ",
            "search for ",
            "look for ",
        ]),
        RouteName::Preferences | RouteName::Patterns | RouteName::Skills | RouteName::Problems => None,
        _ => None,
    };
    let found = found.unwrap_or_else(|| words.to_owned());
    let found =
        ["i usually ", "i normally ", "we usually ", "we normally ", "usually ", "normally ", "i ", "we "]
            .iter()
            .find_map(|start| found.strip_prefix(start))
            .unwrap_or(&found)
            .to_owned();
    without_article(&found)
}

/// Whether a day, a week or a month is to be summed up.
fn is_digest(padded: &str, since: Option<&str>) -> bool {
    let asks = [
        " what did i ",
        " what did we ",
        " what have i ",
        " what have we ",
        " what got done ",
        " what was done ",
    ]
    .iter()
    .any(|start| padded.contains(start));
    let sums_up =
        ["summarize", "summarise", "summary", "recap", "review of"].iter().any(|word| padded.contains(word));
    sums_up && since.is_some()
        || padded.contains(" digest ")
        || padded.contains(" retrospective ")
        || asks && since.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions that were written down before the router, each with the route that it is to take.
    const PHRASINGS: &str = include_str!("phrasings.tsv");

    #[test]
    fn questions_take_the_route_that_was_written_down_for_them() {
        let all: Vec<(&str, &str)> = PHRASINGS
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('\t'))
            .collect();
        let wrong: Vec<String> = all
            .iter()
            .filter(|(wanted, question)| route(question).name.name() != *wanted)
            .map(|(wanted, question)| {
                format!("{question}: {} instead of {wanted}", route(question).name.name())
            })
            .collect();
        assert_eq!(all.len(), 100);
        assert!(wrong.len() <= 5, "{} of 100 are right; {wrong:#?}", 100 - wrong.len());
    }

    #[test]
    fn what_a_question_is_about_is_taken_out_of_it() {
        let check =
            |question: &str, expected: &str| assert_eq!(route(question).subject, expected, "{question}");
        check("What do we know about OAuth redirects?", "OAuth redirects");
        check("Which projects use Hono?", "Hono");
        check("how do I usually debug auth problems?", "debug auth problems");
        check("what did we decide about the cache?", "cache");
        check("projects similar to jrnlfish", "jrnlfish");
        check("what's similar to this project?", ".");
        check("连接池为什么会等待", "连接池为什么会等待");
    }

    #[test]
    fn files_lines_and_times_are_read() {
        let file = |question: &str| route(question).file;
        let some = |path: &str, place: Option<&str>| Some((path.to_owned(), place.map(str::to_owned)));
        assert_eq!(file("why is src/pool.rs:42 like this?"), some("src/pool.rs", Some("42")));
        assert_eq!(file("What's the reason for line 88 of lib/cache.ts?"), some("lib/cache.ts", Some("88")));
        assert_eq!(
            file("why is acquire in src/pool.rs written that way?"),
            some("src/pool.rs", Some("acquire"))
        );
        assert_eq!(file("what should I know before editing src/pool.rs?"), some("src/pool.rs", None));
        assert_eq!(file("what do I know about e.g. pools"), None);
        assert_eq!(route("what did I do last week?").since.as_deref(), Some("7 days"));
        assert_eq!(route("what did the last five sessions do?").sessions, Some(5));
    }
}
