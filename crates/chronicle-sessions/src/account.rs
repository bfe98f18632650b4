//! What a session came to, in the words of the agent's closing accounts.
//!
//! Agents end a task with an account of it: a sentence, or a heading and a list. Its points are
//! quoted, without layout, praise and offers. What an account claims is held against what the
//! transcript shows (`claims`): a claim that a check contradicts is left out.

use crate::words::{n_words, sentences};

mod claims;
mod deeds;
mod layout;
mod summary;

pub(crate) use claims::Shown;
pub(crate) use deeds::deeds;
pub(crate) use layout::unmarked;
pub(crate) use summary::summary;

use layout::{Line, lines};

/// How many points of one account are looked at.
const MOST_POINTS: usize = 40;

/// What a point of an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A heading that says something of the work.
    Heading,
    /// Something that was done: `Added a limit to the pool`.
    Deed,
    /// Why something was so, or how it is now.
    Finding,
    /// How tests, lints and builds went.
    State,
    /// Any other statement.
    Other,
}

/// One thing that an account says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) sort: Sort,
    pub(crate) words: String,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
}

/// The points of an account, in their order.
pub(crate) fn points(text: &str) -> Vec<Point> {
    let mut found: Vec<Point> = Vec::new();
    // What the items below a line such as `Removed:` have in common.
    let mut label: Option<String> = None;
    for line in lines(text) {
        if MOST_POINTS <= found.len() {
            break;
        }
        match line {
            Line::Heading(words) => {
                label = None;
                if let Some(words) = telling_heading(&words) {
                    found.push(Point { sort: Sort::Heading, words, is_item: false });
                }
            }
            Line::Label(words) => label = verb_label(&words).or_else(|| closed_label(&words)),
            Line::Item { head, rest, is_nested } => {
                if is_nested && label.is_none() {
                    continue;
                }
                let words = match (&label, &head) {
                    (Some(label), _) => item_below(label, head.as_deref().unwrap_or(&rest)),
                    (None, Some(head)) => headed(head, &rest),
                    (None, None) => first_of(&rest).to_owned(),
                };
                found.extend(point(&words, true));
            }
            Line::Text(words) => {
                label = None;
                found.extend(sentences(&words).filter_map(|sentence| point(sentence, false)));
            }
        }
    }
    found
}

fn point(sentence: &str, is_item: bool) -> Option<Point> {
    let words = without_opening(sentence);
    let sort = sort(words)?;
    Some(Point { sort, words: capitalized(words.trim_end_matches([':', ' '])), is_item })
}

/// What a sentence is; none for chatter, offers, questions and announcements.
fn sort(words: &str) -> Option<Sort> {
    if n_words(words) < 2 || words.ends_with(['?', '？']) || is_chatter(words) {
        return None;
    }
    let lower = words.to_lowercase();
    if claims::is_state(&lower) {
        return Some(Sort::State);
    }
    if begins_with_deed(words) {
        return Some(Sort::Deed);
    }
    // `The following files are new:` says nothing without them.
    if words.ends_with([':', '：']) && n_words(words) < 6 {
        return None;
    }
    const FINDINGS: [&str; 22] = [
        "root cause",
        "the cause ",
        "the issue ",
        "the problem",
        "the bug ",
        "the fix ",
        "the change ",
        "problem:",
        "cause:",
        "solution:",
        "because ",
        "caused by",
        "turned out",
        "turns out",
        " now ",
        " no longer ",
        "was missing",
        "was never",
        "were never",
        "wasn't ",
        "weren't ",
        "instead of",
    ];
    Some(if FINDINGS.iter().any(|mark| lower.contains(mark)) { Sort::Finding } else { Sort::Other })
}

/// Whether words only talk: they greet, praise, announce or offer.
fn is_chatter(words: &str) -> bool {
    const BEGINNINGS: [&str; 62] = [
        "perfect",
        "great",
        "excellent",
        "good ",
        "nice",
        "awesome",
        "done",
        "all done",
        "sure",
        "okay",
        "ok,",
        "ok.",
        "yes",
        "no,",
        "no.",
        "clean",
        "fixed.",
        "pushed.",
        "let me",
        "let's",
        "now let",
        "now i",
        "i'll ",
        "i will ",
        "i can ",
        "i could",
        "i would",
        "i'd ",
        "i need",
        "i'm going",
        "i should",
        "here's",
        "here is",
        "here are",
        "would you",
        "want me",
        "do you",
        "should i",
        "shall i",
        "if you",
        "feel free",
        "you can ",
        "you could",
        "you may",
        "you might",
        "you'll ",
        "you're ",
        "thanks",
        "thank you",
        "sorry",
        "note:",
        "note that",
        "next step",
        "ready ",
        "this means",
        "this way",
        "that way",
        "for example",
        "e.g.",
        "see ",
        "is there",
        "it looks like",
    ];
    let lower = words.to_lowercase();
    let is_short = n_words(words) <= 4;
    BEGINNINGS.iter().any(|start| {
        lower.starts_with(start)
            // `Perfect` and `Done` are chatter alone; a sentence that goes on has something to say.
            && (is_short || !matches!(*start, "done" | "all done" | "clean" | "good " | "yes" | "ready "))
    }) || lower.contains("summary of what")
        || lower.contains("what was done")
        || lower.contains("what i did")
        || lower.contains("what changed")
        || lower.contains("summary of the changes")
        || lower.contains("let me know")
        || lower.starts_with("all ") && lower.contains(" addressed") && n_words(words) <= 4
}

/// A sentence without `Done.`-like openings: `I've successfully removed x` says `Removed x`.
fn without_opening(sentence: &str) -> &str {
    const OPENINGS: [&str; 30] = [
        "i've successfully ",
        "i have successfully ",
        "i've also ",
        "i have also ",
        "i've now ",
        "i've ",
        "i have ",
        "i also ",
        "i just ",
        "i ",
        "we've ",
        "we have ",
        "we also ",
        "we ",
        "successfully ",
        "also ",
        "done - ",
        "done — ",
        "done: ",
        "summary: ",
        "in summary, ",
        "in short, ",
        "finally, ",
        "so ",
        "the fix was ",
        "changes: ",
        "result: ",
        "overview: ",
        "tl;dr: ",
        "yes, ",
    ];
    let mut words = sentence.trim();
    'again: loop {
        for opening in OPENINGS {
            let Some(head) = words.get(..opening.len()) else { continue };
            if !head.eq_ignore_ascii_case(opening) {
                continue;
            }
            let rest = &words[opening.len()..];
            // `I ` is an opening before a deed only: `I think so` stays what it is.
            if opening.starts_with(['i', 'w']) && opening.ends_with(' ') && !begins_with_deed(rest) {
                continue;
            }
            words = rest;
            continue 'again;
        }
        return words;
    }
}

/// Whether words begin with what was done, in the past tense.
pub(crate) fn begins_with_deed(words: &str) -> bool {
    const IRREGULAR: [&str; 22] = [
        "made", "wrote", "ran", "found", "set", "split", "built", "rebuilt", "sent", "kept", "put", "cut",
        "got", "rewrote", "took", "undid", "brought", "reran", "re-ran", "overrode", "drew", "chose",
    ];
    const NONE: [&str; 22] = [
        "based",
        "needed",
        "expected",
        "unused",
        "related",
        "red",
        "embedded",
        "nested",
        "shared",
        "required",
        "indeed",
        "speed",
        "feed",
        "seed",
        "need",
        "unchanged",
        "unrelated",
        "supposed",
        "given",
        "limited",
        "detailed",
        "proposed",
    ];
    let first = words.split_whitespace().next().unwrap_or_default().trim_end_matches([':', ',']);
    let lower = first.to_ascii_lowercase();
    let is_word = !lower.is_empty() && lower.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    is_word
        && (IRREGULAR.contains(&lower.as_str())
            || 4 < lower.len() && lower.ends_with("ed") && !NONE.contains(&lower.as_str()))
}

/// A heading that names the work, without the word that every account has.
fn telling_heading(words: &str) -> Option<String> {
    const WORDS: [&str; 40] = [
        "summary",
        "changes",
        "change",
        "made",
        "overview",
        "verification",
        "implementation",
        "testing",
        "tests",
        "test",
        "results",
        "result",
        "files",
        "file",
        "changed",
        "modified",
        "notes",
        "note",
        "next",
        "steps",
        "details",
        "key",
        "features",
        "final",
        "done",
        "complete",
        "completed",
        "status",
        "of",
        "the",
        "what",
        "was",
        "issue",
        "issues",
        "problem",
        "fix",
        "solution",
        "before",
        "after",
        "why",
    ];
    let words = words
        .split_once(": ")
        .filter(|(head, _)| head.split_whitespace().all(|word| WORDS.contains(&word.to_lowercase().as_str())))
        .map_or(words, |(_, rest)| rest);
    let n_telling = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|word| !WORDS.contains(&word.to_lowercase().as_str()))
        .count();
    (2 <= n_telling && !words.ends_with('?')).then(|| capitalized(words))
}

/// `Removed from x:`: the verb that the items below share.
fn verb_label(words: &str) -> Option<String> {
    begins_with_deed(words).then(|| words.to_owned())
}

/// Below `Key points:` items say what they are; below `Next steps:` and the like they were not done.
fn closed_label(words: &str) -> Option<String> {
    const OPEN: [&str; 20] = [
        "next",
        "remaining",
        "todo",
        "to do",
        "not done",
        "not yet",
        "follow",
        "option",
        "recommend",
        "suggest",
        "you ",
        "your ",
        "manual",
        "if you",
        "before",
        "to test",
        "to verify",
        "usage",
        "example",
        "alternativ",
    ];
    let lower = words.to_lowercase();
    OPEN.iter().any(|open| lower.starts_with(open)).then(String::new)
}

fn item_below(label: &str, item: &str) -> String {
    if label.is_empty() {
        return String::new();
    }
    if begins_with_deed(item) { first_of(item).to_owned() } else { format!("{label}: {}", first_of(item)) }
}

/// An item with a head of its own: the head where it says what was done, else with what follows.
fn headed(head: &str, rest: &str) -> String {
    let rest = first_of(rest.trim_start_matches(['-', '—', '–', ':', ' ']));
    let is_enough = begins_with_deed(head) && 3 <= n_words(head);
    match rest.is_empty() || is_enough {
        true => head.to_owned(),
        false => format!("{head}: {rest}"),
    }
}

fn first_of(words: &str) -> &str {
    sentences(words).next().unwrap_or_default()
}

pub(crate) fn capitalized(words: &str) -> String {
    let words = words.trim_end_matches(['.', ' ', '。']).trim_start();
    let mut letters = words.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}
