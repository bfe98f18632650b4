//! The question that the agent asked last, when nobody answered.

use chronicle_core::thread::{Origin, ThreadKind};

use super::{Ending, LONGEST_SUMMARY};
use crate::journal::Journal;
use crate::journal::noted::Noted;
use crate::words::{plain, sentences, shortened};

/// How many files are named with what is to be committed.
const MOST_FILES: usize = 3;

/// How many options are named with the question.
const MOST_OPTIONS: usize = 4;

/// How long an option is told at most.
const LONGEST_OPTION: usize = 48;

/// Whether words in small letters ask for a decision.
fn asks(lower: &str) -> bool {
    const ASKING: [&str; 22] = [
        "would you like",
        "want me to",
        "do you want",
        "should i ",
        "shall i ",
        "should we ",
        "shall we ",
        "ready to ",
        "would you prefer",
        "do you prefer",
        "which approach",
        "which option",
        "which one",
        "which of",
        "how would you like",
        "what would you",
        "ok to ",
        "okay to ",
        "may i ",
        "can i ",
        "does this look",
        "does that look",
    ];
    const EMPTY: [&str; 8] = [
        "anything else",
        "other changes",
        "further help",
        "any questions",
        "something else",
        "any other",
        "need help",
        "more help",
    ];
    ASKING.iter().any(|words| lower.contains(words)) && !EMPTY.iter().any(|words| lower.contains(words))
}

/// The question with which `said` ends, or which stands before its last list.
pub(crate) fn question(said: &Noted) -> Option<Ending> {
    let (sentence, below) = last_question(&said.words)?;
    let bare = sentence.trim_matches(['*', '_', ' ']);
    let options = options(&said.words, &below);
    let told = decision(bare).unwrap_or_else(|| format!("Answer: {bare}"));
    let told = told.trim_end_matches([':', ' ']);
    let summary =
        if options.is_empty() { told.to_owned() } else { format!("{told}: {}", options.join("; ")) };
    let noted = Noted { words: bare.to_owned(), ..said.clone() };
    Some(Ending::new(ThreadKind::Question, Origin::Question, shortened(&summary, LONGEST_SUMMARY), &noted))
}

/// The same; `Ready to commit?` asks to commit the files that the session changed.
pub(super) fn question_of(journal: &Journal, said: &Noted) -> Option<Ending> {
    let mut ending = question(said)?;
    let is_bare = [
        "commit",
        "commit and push",
        "commit this",
        "commit it",
        "commit these changes",
        "commit the changes",
    ]
    .iter()
    .find(|verb| ending.summary == format!("Decide whether to {verb}"));
    if is_bare.is_some() && !journal.files.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for file in journal.files.iter().rev() {
            let name = file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path);
            if !names.contains(&name) && names.len() < MOST_FILES {
                names.push(name);
            }
        }
        let summary = format!("Decide whether to commit the changes to {}", names.join(", "));
        ending.summary = shortened(&summary, LONGEST_SUMMARY);
    }
    Some(ending)
}

/// The last sentence that asks, and the items of the list below it.
fn last_question(words: &str) -> Option<(&str, Vec<&str>)> {
    let lines: Vec<&str> = words.lines().filter(|line| line.chars().any(char::is_alphanumeric)).collect();
    let last = lines.last()?;
    let asked = |line: &'_ str| -> Option<usize> { sentences(plain(line)).position(is_asked) };
    if let Some(index) = asked(last) {
        return Some((sentences(plain(last)).nth(index)?, Vec::new()));
    }
    // `Would you like me to:` and a list below it, and a word on that.
    let at = lines.iter().rposition(|line| opens_list(plain(line)))?;
    let items: Vec<&str> =
        lines[at + 1..].iter().copied().take_while(|line| is_item(line)).map(plain).collect();
    let is_near_the_end = lines.len() - at - 1 - items.len() <= 2;
    (!items.is_empty() && is_near_the_end)
        .then(|| (sentences(plain(lines[at])).last().unwrap_or_default(), items))
}

fn is_asked(sentence: &str) -> bool {
    sentence.trim_end_matches(['*', '_']).ends_with('?') && asks(&sentence.to_lowercase())
}

fn opens_list(line: &str) -> bool {
    let last = sentences(line).last().unwrap_or_default().to_lowercase();
    last.trim_end_matches('*').ends_with([':', '?']) && asks(&last)
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['-', '*', '•']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// What may be chosen from: the items below the question, or what is called `Option 1` before it.
fn options(words: &str, below: &[&str]) -> Vec<String> {
    let short = |option: &str| {
        let end = [" — ", " – ", " - ", " ("]
            .iter()
            .filter_map(|mark| option.find(mark))
            .min()
            .unwrap_or(option.len());
        shortened(option[..end].trim_matches(['*', '.', ' ', ':']), LONGEST_OPTION)
    };
    if !below.is_empty() {
        return below.iter().take(MOST_OPTIONS).map(|item| short(&item.replace("**", ""))).collect();
    }
    let named = words.lines().filter_map(|line| option_named(plain(line)));
    named.take(MOST_OPTIONS).map(|option| short(&option)).collect()
}

/// What `Option 2: wait for it` offers.
fn option_named(line: &str) -> Option<String> {
    let line = line.replace("**", "");
    let rest = ["option ", "approach ", "alternative "]
        .iter()
        .find_map(|word| line.get(..word.len())?.eq_ignore_ascii_case(word).then(|| &line[word.len()..]))?;
    let (mark, what) = rest.split_once([':', ')'])?;
    (mark.trim().len() <= 2 && !what.trim().is_empty()).then(|| what.trim().to_owned())
}

/// `Want me to commit?` asks to decide whether to commit.
fn decision(question: &str) -> Option<String> {
    const OFFERS: [&str; 10] = [
        "would you like me to ",
        "do you want me to ",
        "want me to ",
        "should i ",
        "shall i ",
        "ready to ",
        "ok to ",
        "okay to ",
        "should we ",
        "shall we ",
    ];
    let lower = question.to_ascii_lowercase();
    let (at, offer) = OFFERS.iter().find_map(|offer| Some((lower.find(offer)?, offer)))?;
    let what = question[at + offer.len()..].trim_end_matches(['?', '*', ' ', ':']);
    (!what.contains(" or ") && !what.is_empty()).then(|| format!("Decide whether to {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &str) -> Option<String> {
        question(&Noted { words: words.to_owned(), ..Noted::default() }).map(|ending| ending.summary)
    }

    #[test]
    fn a_closing_question_is_open_with_what_it_offers() {
        let check =
            |words: &str, summary: &str| assert_eq!(asked(words).as_deref(), Some(summary), "{words}");
        check("The pool waits now.\n\nWant me to add a test?", "Decide whether to add a test");
        check(
            "Two ways:\n\n**Option 1: Close it early** (simple)\n- less code\n\n**Option 2: Count users**\n\nWhich option do you prefer?",
            "Answer: Which option do you prefer?: Close it early; Count users",
        );
        check(
            "The tests say the same twice.\n\nWould you like me to shorten them:\n1. Drop `a_test` entirely\n2. Keep **one** case - the rest is noise\n\nThis halves the file.",
            "Decide whether to shorten them: Drop `a_test` entirely; Keep one case",
        );
    }

    #[test]
    fn what_was_said_before_the_end_asks_nothing() {
        for words in [
            "Should I wait? No: the lock is free.\n\nThe pool is done.\n\nAll good.",
            "Is there anything else you want me to do?",
            "Would you like me to:\n- wait\n\n## Results\nIt waits.\nIt works.\nDone.",
        ] {
            assert_eq!(asked(words), None, "{words}");
        }
    }
}
