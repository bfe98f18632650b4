//! What the agent's last word leaves to do: lists of what remains, and steps that it hands to the human.

use chronicle_core::thread::{Origin, ThreadKind};

use super::{Ending, LONGEST_SUMMARY, MOST_ITEMS, is_vague};
use crate::journal::noted::Noted;
use crate::words::{imperative, plain, sentences};

/// The items of a list of what remains, in what the agent said last.
pub(super) fn listed(said: &Noted) -> Vec<Ending> {
    const STARTS: [&str; 22] = [
        "remaining",
        "still to do",
        "still todo",
        "left to do",
        "todo",
        "to do",
        "not done",
        "not yet",
        "open items",
        "outstanding",
        "follow-up",
        "follow up",
        "next steps",
        "what's left",
        "what is left",
        "known gaps",
        "still open",
        "still missing",
        "you still need",
        "you need to",
        "you'll need to",
        "before you merge",
    ];
    const PARTS: [&str; 7] = [
        "manual step",
        "manual setup",
        "required setup",
        "required action",
        "action required",
        "actions required",
        "steps for you",
    ];
    let mut found = Vec::new();
    let mut is_open = false;
    for line in said.words.lines() {
        let words = plain(line);
        let is_item = line.trim_start().starts_with(['-', '*', '•']) && !line.trim_start().starts_with("**")
            || line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let lower = words.to_lowercase();
        let is_heading = !is_item
            && words.len() < 80
            && (line.trim_start().starts_with('#') || lower.trim_end_matches('*').ends_with(':'));
        if is_heading {
            let is_named = STARTS.iter().any(|start| lower.starts_with(start))
                || PARTS.iter().any(|part| lower.contains(part));
            is_open = is_named && !lower.contains("none") && !is_vague(&lower);
        } else if is_item && is_open && found.len() < MOST_ITEMS {
            let is_done = line.contains("[x]") || line.contains('✅') || line.contains("~~");
            if !is_done && !is_vague(words) && 2 < words.split_whitespace().count() {
                let noted = Noted { words: words.to_owned(), ..said.clone() };
                let words = words.replace("**", "");
                let summary = imperative(sentences(&words).next().unwrap_or(&words), LONGEST_SUMMARY);
                found.push(Ending::new(ThreadKind::Todo, Origin::Statement, summary, &noted));
            }
        } else if !words.is_empty() {
            is_open = false;
        }
    }
    found
}

/// What the agent left for the human to do.
pub(super) fn for_the_human(said: &Noted) -> Vec<Ending> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in said.words.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || line.trim_start().starts_with(['>', '|']) {
            continue;
        }
        for sentence in sentences(plain(line)) {
            let Some(what) = handed(sentence) else { continue };
            let noted = Noted { words: sentence.to_owned(), ..said.clone() };
            let summary = imperative(&what.replace("**", ""), LONGEST_SUMMARY);
            found.push(Ending::new(ThreadKind::Todo, Origin::Statement, summary, &noted));
        }
    }
    found.truncate(MOST_ITEMS);
    found
}

/// What a sentence leaves to the human, from the verb on.
fn handed(sentence: &str) -> Option<&str> {
    const MARKS: [&str; 12] = [
        "you may want to ",
        "you'll need to ",
        "you will need to ",
        "you'll want to ",
        "you'll have to ",
        "you will have to ",
        "you still need to ",
        "you need to ",
        "you have to ",
        "don't forget to ",
        "remember to ",
        "ready for you to ",
    ];
    /// What a human only sees or may do.
    const SEEING: [&str; 12] = [
        "see",
        "be",
        "get",
        "have",
        "notice",
        "know",
        "say",
        "know",
        "understand",
        "worry",
        "choose",
        "decide",
    ];
    let lower = sentence.to_ascii_lowercase();
    let is_condition = ["if ", "when ", "once ", "unless ", "whenever ", "so that "]
        .iter()
        .any(|word| lower.starts_with(word));
    if is_condition || sentence.ends_with('?') || lower.contains(" if you want") {
        return None;
    }
    let marked = MARKS
        .iter()
        .find_map(|mark| Some((lower.find(mark)?, mark.len())))
        .map(|(at, n)| &sentence[at + n..]);
    let what = marked.or_else(|| ready(sentence, &lower))?;
    let first = what.split_whitespace().next()?.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    (!SEEING.contains(&first.as_str()) && 1 < what.split_whitespace().count()).then_some(what)
}

/// `The merge is ready to commit whenever you'd like` leaves it to the human to commit the merge.
fn ready<'s>(sentence: &'s str, lower: &str) -> Option<&'s str> {
    const WHEN: [&str; 5] =
        ["whenever you", "when you're ready", "when you are ready", "once you're ready", "when you like"];
    let is_left = WHEN.iter().any(|when| lower.contains(when));
    (is_left && lower.contains("ready to ")).then_some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, expected: &[&str]) {
        let noted = Noted { words: words.to_owned(), ..Noted::default() };
        let found: Vec<String> =
            listed(&noted).into_iter().chain(for_the_human(&noted)).map(|ending| ending.summary).collect();
        assert_eq!(found, expected, "{words}");
    }

    #[test]
    fn steps_for_the_human_are_open() {
        check("Both are there. You'll need to restart the daemon first.", &["Restart the daemon first"]);
        check(
            "**Manual steps:**\n1. Create the bucket by hand\n2. **Set** the key in the vault",
            &["Create the bucket by hand", "Set the key in the vault"],
        );
        check(
            "The rebase is staged and ready to push whenever you like.",
            &["The rebase is staged and ready to push whenever you like"],
        );
    }

    #[test]
    fn what_a_human_sees_or_may_want_is_not_open() {
        check("You'll have to be patient.", &[]);
        check("If you want more, you need to raise the limit.", &[]);
        check("To run it you need to know the port.", &[]);
        check("## Next steps\n- None", &[]);
        check("## Next steps\n- Maybe add a cache some day", &[]);
    }
}
