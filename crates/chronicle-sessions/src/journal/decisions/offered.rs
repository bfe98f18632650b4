//! What the agent offered last, and which of it a short reply takes.

use crate::words::{plain, sentences, shortened};

/// How long a question is told at most.
const LONGEST_QUESTION: usize = 90;

/// How long what was chosen is told at most.
const LONGEST_OPTION: usize = 60;

/// How many options are told when all are taken.
const MOST_TAKEN: usize = 3;

/// A reply with more words decides by itself, or is a new request.
const MOST_WORDS: usize = 36;

/// What an agent's message offers.
#[derive(Debug, Default, PartialEq, Eq)]
struct Offer<'t> {
    /// What it asks, in the words that name the matter.
    question: Option<&'t str>,
    /// What can be chosen, with its letter or number.
    options: Vec<(String, String)>,
}

/// What a reply takes of an offer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// One of the things that were offered.
    Offered(String),
    /// The question, and the human's own words.
    Answered(String),
}

/// The question that a message asks last, in the words that name the matter.
pub(super) fn question(said: &str) -> Option<String> {
    offer(said).question.filter(|question| is_question(question)).map(str::to_owned)
}

/// What `reply` decides of what `said` offers.
pub(super) fn chosen(said: &str, reply: &str) -> Option<Chosen> {
    // A list of its own is no reply.
    if 1 < reply.lines().filter(|line| labelled(line).is_some()).count() {
        return None;
    }
    let reply = first_line(reply)?;
    if MOST_WORDS < reply.split_whitespace().count() {
        return None;
    }
    let offer = offer(said);
    let wish = offer.question.and_then(wish_of);
    if let Some((taken, rest)) = labels(reply, &offer.options) {
        let named: Vec<&str> = taken.iter().take(MOST_TAKEN).map(String::as_str).collect();
        let named = named.join("; ");
        let order = ["Implement", "Do"].into_iter().find(|verb| begins(reply, verb));
        let told = match offer.question.filter(|_| wish.is_none()) {
            _ if order.is_some() => format!("{}: {named}", order.unwrap_or_default()),
            Some(question) => format!("{} {named}", shortened(question, LONGEST_QUESTION)),
            None => named,
        };
        return Some(Chosen::Offered(with_reason(&told, rest)));
    }
    let answer = agreement(reply);
    match (wish, answer) {
        (Some(wish), Some(true)) => agreed(&wish, &offer.options).map(Chosen::Offered),
        (Some(wish), Some(false)) if is_a_choice(&wish) => Some(Chosen::Offered(format!("No: {wish}"))),
        // `Should we wait or give up?` wants more than a yes; what was typed says it.
        (None, None) => {
            let question = offer.question.filter(|question| wants_words(question))?;
            is_an_answer(reply)
                .then(|| Chosen::Answered(format!("{} {reply}", shortened(question, LONGEST_QUESTION))))
        }
        _ => None,
    }
}

/// What was agreed to: the wish itself, with its points where it names nothing.
fn agreed(wish: &str, options: &[(String, String)]) -> Option<String> {
    if is_a_choice(wish) {
        return Some(wish.to_owned());
    }
    let is_work = ["implement", "fix", "apply", "make", "do "].iter().any(|verb| begins(wish, verb));
    let points: Vec<&str> = options.iter().take(MOST_TAKEN).map(|(_, text)| text.as_str()).collect();
    (is_work && 2 <= points.len()).then(|| format!("{wish}: {}", points.join("; ")))
}

/// `told` and what was said along with a choice, where that says something.
fn with_reason(told: &str, rest: &str) -> String {
    let rest = rest.trim_matches(|c: char| !c.is_alphanumeric() && !"`\"'()".contains(c));
    let is_idle = rest.split_whitespace().count() < 3 || rest.ends_with('?');
    if is_idle { told.to_owned() } else { format!("{told} ({rest})") }
}

/// The first line of a reply: more lines are more requests.
fn first_line(reply: &str) -> Option<&str> {
    reply.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric))
}

/// What a message offers: its last list of choices, and the question in front of it or after it.
fn offer(said: &str) -> Offer<'_> {
    let mut offer = Offer::default();
    let (mut in_front, mut is_code) = (None, false);
    let mut last = None;
    for line in said.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || line.trim_start().starts_with('>') {
            continue;
        }
        if let Some((label, text)) = labelled(line) {
            if matches!(label.as_str(), "1" | "A") {
                offer.options.clear();
                in_front = last;
            }
            if offer.options.iter().all(|(known, _)| *known != label) {
                offer.options.push((label, text));
            }
        }
        let bare = plain(line);
        let asked = sentences(bare).find(|sentence| is_question(sentence)).or_else(|| {
            let is_opening = bare.trim_end_matches('*').ends_with(':') && wish_of(bare).is_some();
            is_opening.then(|| sentences(bare).last()).flatten()
        });
        last = asked.or(last);
    }
    // `Which one?` names nothing; the question that opened the matter does.
    let is_bare = |question: &&str| question.split_whitespace().count() < 7 && wish_of(question).is_none();
    let question = match (in_front, last) {
        (Some(front), Some(last)) if is_bare(&last) => Some(front),
        (_, last) => last,
    };
    offer.question = question.map(without_heading);
    offer
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['*', '_', ' ']).ends_with(['?', '？'])
}

/// A question without the words that only announce it.
fn without_heading(question: &str) -> &str {
    let question = question.trim_matches(['*', '_', ' ']);
    let rest = question.split_once(':').filter(|(head, rest)| {
        head.split_whitespace().count() <= 3
            && head.to_lowercase().contains("question")
            && !rest.trim().is_empty()
    });
    rest.map_or(question, |(_, rest)| rest).trim_matches(['*', '_', ' '])
}

/// The label and the name of what a line offers: `2. **Close it early** - less code`, `Option B: wait`,
/// `| **A. At once** | … |`.
fn labelled(line: &str) -> Option<(String, String)> {
    let line = line.trim().trim_start_matches(['|', '#', '-', '*', ' ']);
    let line = ["Option ", "Approach ", "Alternative ", "option "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line);
    let end = line.find(['.', ')', ':']).filter(|end| (1..=2).contains(end))?;
    let label = &line[..end];
    let is_label = label.bytes().all(|byte| byte.is_ascii_digit())
        || label.len() == 1 && label.bytes().all(|byte| (b'A'..=b'F').contains(&byte));
    let rest = &line[end + 1..];
    let rest = rest.trim_start_matches('*');
    if !is_label || !rest.starts_with([' ', '`']) {
        return None;
    }
    let text = rest.trim().replace("**", "").replace("(Recommended)", "");
    let end = [" — ", " – ", " - ", " |", ". ", ": "].iter().filter_map(|mark| text.find(mark)).min();
    let (head, rest) = text.split_at(end.unwrap_or(text.len()));
    // `Required: add a test` names how it is offered, not what.
    let is_name =
        2 <= head.split_whitespace().count() || head.contains(['`', '_']) || !rest.starts_with(": ");
    let text = if is_name { head } else { rest }.trim_matches(['*', ' ', ':', '.', '|', '-']);
    (!text.is_empty()).then(|| (label.to_owned(), shortened(text, LONGEST_OPTION)))
}

/// The options that a reply names, and the rest of it.
fn labels<'r>(reply: &'r str, options: &[(String, String)]) -> Option<(Vec<String>, &'r str)> {
    if options.len() < 2 {
        return None;
    }
    let (rest, is_named) = without_choosing(reply);
    let lower = rest.to_lowercase();
    for all in ["both", "all of them", "all three", "all"] {
        if let Some(after) = lower.strip_prefix(all)
            && ["", "please", "of them", "of these"].contains(&after.trim_matches([' ', ',', '.', '!']))
        {
            return Some((options.iter().map(|(_, text)| text.clone()).collect(), ""));
        }
    }
    let mut taken = Vec::new();
    let mut rest = rest;
    while let Some((label, after)) = first_label(rest, is_named || !taken.is_empty()) {
        let text = options.iter().find(|(known, _)| known.eq_ignore_ascii_case(label))?.1.clone();
        taken.push(text);
        let next = after.trim_start_matches([',', '&', '+', ' ']);
        let next = next.strip_prefix("and ").unwrap_or(next);
        rest = after;
        if next.len() == after.len() || first_label(next, true).is_none() {
            break;
        }
        rest = next;
    }
    if !taken.is_empty() {
        return Some((taken, rest));
    }
    // `keep it local` takes what is called so.
    let lower = reply.to_lowercase();
    let named = options.iter().find(|(_, text)| {
        let text = text.to_lowercase();
        (2..=6).contains(&text.split_whitespace().count()) && lower.contains(&text)
    })?;
    Some((vec![named.1.clone()], ""))
}

/// The label that `rest` begins with: `A`, `2.`, `B, nested`; `a nice one` is none.
fn first_label(rest: &str, is_named: bool) -> Option<(&str, &str)> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (label, after) = rest.split_at(end);
    let is_number = !label.is_empty() && label.len() <= 2 && label.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = label.len() == 1
        && label.bytes().all(|byte| {
            (b'A'..=b'F').contains(&byte) || (b'b'..=b'f').contains(&byte) || byte == b'a' && after.len() < 2
        });
    let next = after.trim_start();
    let ends = next.is_empty()
        || after.starts_with(['.', ',', ':', ';', '!', ')', '-', '–', '—', '&', '+'])
        || ["is ", "and ", "please", "seems", "sounds", "looks", "for ", "but ", "then ", "straight", "as "]
            .iter()
            .any(|word| next.starts_with(word))
        || is_named && !next.starts_with(|c: char| c.is_ascii_digit());
    let is_decimal =
        after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    ((is_number || is_letter) && ends && !is_decimal).then_some((label, after))
}

/// `reply` without what people say before they name what they choose, and whether they say that they choose.
fn without_choosing(reply: &str) -> (&str, bool) {
    const CHOOSING: [&str; 16] = [
        "let's do",
        "lets do",
        "let's go with",
        "lets go with",
        "let's go for",
        "let's take",
        "i'd go with",
        "i would go with",
        "go with",
        "go for",
        "i prefer",
        "implement",
        "do",
        "take",
        "use",
        "i'd take",
    ];
    const FILLERS: [&str; 12] = [
        "i think", "ok", "okay", "yes", "yeah", "hmm", "option", "number", "approach", "just", "maybe",
        "i like",
    ];
    let (mut rest, mut is_named) = (reply.trim(), false);
    'again: loop {
        for (word, names) in CHOOSING.iter().map(|w| (w, true)).chain(FILLERS.iter().map(|w| (w, false))) {
            let Some(head) = rest.get(..word.len()) else { continue };
            let after = &rest[word.len()..];
            if head.eq_ignore_ascii_case(word) && after.starts_with([' ', ',']) {
                rest = after.trim_start_matches([' ', ',']);
                is_named |= names || matches!(*word, "option" | "number" | "approach");
                continue 'again;
            }
        }
        return (rest, is_named);
    }
}

/// Whether a short reply agrees.
fn agreement(reply: &str) -> Option<bool> {
    const YES: [&str; 22] = [
        "yes",
        "yep",
        "yeah",
        "yup",
        "sure",
        "ok",
        "okay",
        "please do",
        "go ahead",
        "do it",
        "do that",
        "sounds good",
        "yes please",
        "let's do it",
        "lets do it",
        "absolutely",
        "definitely",
        "correct",
        "right",
        "agreed",
        "lgtm",
        "please",
    ];
    const NO: [&str; 5] = ["no", "nope", "no thanks", "no thank you", "not needed"];
    const MORE: [&str; 12] = [
        "please",
        "do it",
        "do that",
        "fix it",
        "go ahead",
        "sounds good",
        "thanks",
        "thank you",
        "implement it",
        "let's do it",
        "lets do it",
        "let's do that",
    ];
    let lower = reply.to_lowercase();
    let lower = lower.trim_end_matches(['.', '!', ' ', ':', ')']);
    let is = |words: &[&str]| {
        words.iter().any(|word| {
            lower.strip_prefix(word).is_some_and(|rest| {
                rest.is_empty()
                    || rest.starts_with([' ', ',', '.', '!'])
                        && MORE.contains(&rest.trim_matches([' ', ',', '.', '!']))
            })
        })
    };
    if is(&NO) { Some(false) } else { is(&YES).then_some(true) }
}

/// What an offer offers: `Would you like me to shorten it?` is to shorten it.
fn wish_of(question: &str) -> Option<String> {
    const OFFERS: [&str; 12] = [
        "would you like me to also ",
        "would you like me to ",
        "do you want me to ",
        "want me to ",
        "should i ",
        "shall i ",
        "should we ",
        "shall we ",
        "would you prefer ",
        "do you want to ",
        "do you want ",
        "can i ",
    ];
    let lower = question.to_ascii_lowercase();
    let (at, offer) = OFFERS.iter().find_map(|offer| Some((lower.find(offer)?, offer)))?;
    let what = question[at + offer.len()..].trim_end_matches(['?', '*', '_', ' ', ':']);
    let what = ["go ahead and ", "also ", "clean this up by "]
        .iter()
        .find_map(|head| what.strip_prefix(head))
        .unwrap_or(what);
    let is_open = what.to_lowercase().contains(" or ") || what.is_empty();
    let mut letters = what.chars();
    let first: String = letters.next()?.to_uppercase().collect();
    (!is_open).then(|| format!("{first}{}", letters.as_str()))
}

/// Whether what was agreed to says something, rather than to go on.
fn is_a_choice(wish: &str) -> bool {
    const GOING_ON: [&str; 20] = [
        "commit",
        "push",
        "proceed",
        "continue",
        "go ahead",
        "go on",
        "create a commit",
        "create the commit",
        "run",
        "start",
        "begin",
        "help",
        "show",
        "explain",
        "look",
        "check",
        "investigate",
        "move on",
        "create a pr",
        "open a pr",
    ];
    const POINTERS: [&str; 14] = [
        "it", "this", "that", "these", "them", "those", "fix", "changes", "one", "approach", "so", "plan",
        "any", "fixes",
    ];
    let words: Vec<String> = wish
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let is_empty = words.iter().skip(1).all(|word| {
        POINTERS.contains(&word.as_str())
            || matches!(word.as_str(), "the" | "a" | "of" | "for" | "you" | "now")
    });
    !is_empty && !GOING_ON.iter().any(|verb| begins(wish, verb))
}

fn begins(wish: &str, verb: &str) -> bool {
    let head = wish.get(..verb.len()).unwrap_or_default();
    head.eq_ignore_ascii_case(verb) && !wish[verb.len()..].starts_with(char::is_alphabetic)
}

/// Whether a reply answers rather than asks for something else.
fn is_an_answer(reply: &str) -> bool {
    const OTHER: [&str; 14] = [
        "can ", "could ", "would ", "do you", "yes", "yep", "yeah", "no,", "commit", "push", "fix ", "what ",
        "why ", "how ",
    ];
    let lower = reply.to_lowercase();
    !reply.contains('?')
        && 2 <= reply.split_whitespace().count()
        && !OTHER.iter().any(|start| lower.starts_with(start))
}

/// Whether a question asks for more than a yes.
fn wants_words(question: &str) -> bool {
    let lower = question.to_lowercase();
    if lower.contains("do you know") || lower.contains("anything else") {
        return false;
    }
    let asks = ["which", "what", "how ", "where", "when ", "who "];
    lower.contains(" or ")
        || asks.iter().any(|word| lower.starts_with(word) || lower.contains(&format!(", {word}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAYS: &str = "**Next question:** Where should the cache live?\n\n| Option | |\n|--|--|\n\
        | **A. In the pool (Recommended)** | near |\n| **B. In the client** | far |\n\nI recommend A:\n- less code\n\nWhich one?";
    const STEPS: &str = "Two things are left:\n\n1. **Required:** Close the pool early\n2. Add a test for `wait` - it is short\n\nDone.";

    fn check(said: &str, reply: &str, expected: Option<&str>) {
        let told = chosen(said, reply).map(|chosen| match chosen {
            Chosen::Offered(told) | Chosen::Answered(told) => told,
        });
        assert_eq!(told.as_deref(), expected, "{reply}");
    }

    #[test]
    fn a_letter_takes_what_bears_it() {
        check(WAYS, "A", Some("Where should the cache live? In the pool"));
        check(WAYS, "b.", Some("Where should the cache live? In the client"));
        check(
            WAYS,
            "I think B, it has to outlive the pool",
            Some("Where should the cache live? In the client (it has to outlive the pool)"),
        );
        check(WAYS, "let's go with option A", Some("Where should the cache live? In the pool"));
        check(WAYS, "put it next to the log", Some("Where should the cache live? put it next to the log"));
        check(WAYS, "keep it in the client please", Some("Where should the cache live? In the client"));
        check(STEPS, "do both please", Some("Do: Close the pool early; Add a test for `wait`"));
        check(STEPS, "1 and 2", Some("Close the pool early; Add a test for `wait`"));
        check(STEPS, "2", Some("Add a test for `wait`"));
    }

    #[test]
    fn a_yes_takes_what_was_offered() {
        check("It waits.\n\nShould I drop the old queue?", "yes please", Some("Drop the old queue"));
        check("It waits.\n\nShould I drop the old queue?", "no", Some("No: Drop the old queue"));
        check(
            "Two places are wrong:\n1. `pool.rs` - counts twice\n2. `queue.rs` - never counts\n\nWant me to go ahead and fix it?",
            "yes, fix it",
            Some("Fix it: `pool.rs`; `queue.rs`"),
        );
    }

    #[test]
    fn what_takes_nothing_decides_nothing() {
        check("Would you like me to commit these changes?", "yes", None);
        check("Does this look right?", "yes", None);
        check("Shall I proceed with it?", "go ahead", None);
        check("The pool is closed now.", "yes", None);
        check(WAYS, "a nice idea, but why not both?", None);
        check(WAYS, "can you run the tests", None);
        check(WAYS, "what does B cost?", None);
        check(STEPS, "3", None);
        check(STEPS, "2 more things are broken", None);
        check(STEPS, "1. always use x\n2. never use y", None);
        check("Do you know whether it ran at night or by day?", "at night", None);
        check("```\n1. a b\n2. c d\n```", "1", None);
    }
}
