//! Turns of a session as a model is shown them: without secrets, in few words, within a budget.

use chronicle_core::{redaction::cleaned, tokens};
use chronicle_search::{StoredTurn, TurnKind};
use chronicle_sessions::shortened;

/// How much of one turn is shown, in letters.
const LONGEST_WORDS: usize = 700;
const LONGEST_COMMAND: usize = 240;
const LONGEST_ANSWER: usize = 400;

/// Tokens around a turn.
const PER_TURN: u64 = 8;

/// A text without secrets and without what acts on a terminal.
pub fn clean(text: &str) -> String {
    cleaned(text).0.into_owned()
}

/// Puts a text between marks that name `id`, of some kind, without secrets and without the marks themselves.
pub fn fenced(id: &str, kind: &str, text: &str) -> String {
    let mark = format!("data-{id}");
    let text = clean(text).replace(&mark, "data");
    format!("<{mark} kind=\"{kind}\">\n{}\n</{mark}>", text.trim_end_matches('\n'))
}

/// Whether a text says `quote`, however it is laid out.
pub fn says(text: &str, quote: &str) -> bool {
    let flat = |text: &str| clean(text).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let quote = flat(quote);
    let quote = quote.trim_matches(['"', '…', '.', '\'']);
    quote.is_empty() || flat(text).contains(quote)
}

/// Keeps, of numbered texts with their weights, the weightiest that fit into a budget, in their order; how many were left
/// out comes back.
pub fn keep_weightiest(texts: &mut Vec<(usize, u8, String)>, budget: u64) -> usize {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(texts[*at].1), *at));
    let mut left = budget;
    let mut is_kept = vec![false; texts.len()];
    for at in order {
        let cost = tokens::at_most(&texts[at].2) + PER_TURN;
        if cost <= left {
            left -= cost;
            is_kept[at] = true;
        }
    }
    let n_before = texts.len();
    let mut kept = is_kept.into_iter();
    texts.retain(|_| kept.next().unwrap_or(false));
    n_before - texts.len()
}

/// A turn in words, `with_answer` with what came back of calls that failed; none for what tells nothing.
pub fn told(turn: &StoredTurn, with_answer: bool) -> Option<String> {
    let words = |longest| shortened(&clean(&turn.text), longest);
    let answer = || {
        let answer = turn.answer.as_deref().filter(|_| with_answer).unwrap_or_default();
        let answer = shortened(&clean(answer), LONGEST_ANSWER);
        if answer.is_empty() { answer } else { format!(": {answer}") }
    };
    let has_failed = turn.is_ok == Some(false);
    let verb = if has_failed { " (failed)" } else { "" };
    Some(match turn.kind {
        TurnKind::Prompt => format!("human: {}", words(LONGEST_WORDS)),
        TurnKind::Said => format!("agent: {}", words(LONGEST_WORDS)),
        TurnKind::Command => format!("command{verb} `{}`{}", words(LONGEST_COMMAND), answer()),
        TurnKind::Edit => format!("edit{verb} {}{}", words(LONGEST_COMMAND), answer()),
        TurnKind::Tool if has_failed => format!("tool{verb} {}{}", words(LONGEST_COMMAND), answer()),
        TurnKind::Plan => format!("plan: {}", words(LONGEST_WORDS)),
        TurnKind::Error => format!("error: {}", words(LONGEST_COMMAND)),
        TurnKind::Interruption => format!("the human stopped the agent: {}", words(LONGEST_COMMAND)),
        TurnKind::Summary => format!("summary of what came before: {}", words(LONGEST_WORDS)),
        TurnKind::Todo => format!("to do: {}", words(LONGEST_COMMAND)),
        TurnKind::Tool | TurnKind::Commit | TurnKind::PullRequest | TurnKind::Synthetic => return None,
    })
}

/// A name in `text` that `shown` does not hold: code between backticks, an address, the id of a commit.
pub(crate) fn invented(text: &str, shown: &str) -> Option<String> {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let shown = flat(shown);
    let is_shown = |name: &str| shown.contains(&flat(name));
    let code = text.split('`').skip(1).step_by(2);
    let words = text.split(|letter: char| letter.is_whitespace() || "()<>[]\"“”,;`".contains(letter));
    let is_id = |word: &str| {
        7 <= word.len()
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let words = words.map(|word| word.trim_matches(['.', ':', '!', '?', '\'']));
    let named = words.filter(|word| word.contains("://") || word.starts_with("www.") || is_id(word));
    code.chain(named).find(|name| !name.trim().is_empty() && !is_shown(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_named_are_found() {
        let shown =
            "[turn 1] human: run `cargo test  -p pool` and see https://example.com/a; commit 0123abcd";
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(invented(text, shown).as_deref(), expected, "{text}");
        };
        check("Get `cargo test -p pool` to pass", None);
        check("Run `curl evil`", Some("curl evil"));
        check("As https://example.com/a says.", None);
        check("See (https://evil.example/x)", Some("https://evil.example/x"));
        check("Look at www.evil.example", Some("www.evil.example"));
        check("Undo 0123abcd, not defaced", None);
        check("Undo deadbeef01.", Some("deadbeef01"));
        check("An open ` mark", Some(" mark"));
    }
}
