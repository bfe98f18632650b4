//! What was decided in a session: answers that humans gave, and sentences in which they say so.
//!
//! Everything is quoted: the human's words, or the agent's that say what it made of them, with the human's as evidence.
//! Narrow rules, as with threads: what nobody decided costs more trust than
//! what was missed.

use crate::journal::noted::Noted;
use crate::rows::tools::LONGEST_ABOUT;
use crate::words::typed::typed;
use crate::words::{first_sentence, is_substantive, shortened};
use offered::Chosen;

/// The longest decision that is told.
const LONGEST: usize = 200;

/// How long the matter of a decision is told at most.
const LONGEST_MATTER: usize = 80;

/// How many choices of a plan are told.
const MOST_PLANNED: usize = 2;

/// How many decisions of a session are told, the last ones.
const MOST: usize = 12;

/// A reply to the agent is not longer than this.
const LONGEST_REPLY: usize = 400;

mod offered;
mod restated;
mod stated;

pub(crate) use restated::{Awaited, Reply};

/// The answers in what came back from a question: `"Which one?"="The first"`. None where `asked` looks like an answer
/// itself, or may do so behind its end.
pub(crate) fn answers(text: &str, asked: &str) -> Vec<String> {
    let mut found = Vec::new();
    if asked.contains("\"=\"") || LONGEST_ABOUT <= asked.len() {
        return found;
    }
    let mut rest = text;
    while let Some((question, after)) = rest.split_once("\"=\"") {
        let question = question.rsplit_once("? ").map_or(question, |(_, last)| last);
        let question = question.rsplit('"').next().unwrap_or(question);
        let Some((answer, after)) = after.split_once('"') else { break };
        if !question.trim().is_empty() && !answer.trim().is_empty() {
            found
                .push(shortened(&format!("{} {}", shortened(question, 100), shortened(answer, 58)), LONGEST));
        }
        rest = after;
    }
    found
}

/// What a prompt decides: of what the agent offered in `before`, or by itself. `matter` is what was asked for before.
pub(crate) fn decided(prompt: &str, before: Option<&str>, matter: &str) -> Vec<String> {
    let stated = stated::decided(prompt);
    // What was asked last is what short words are about, not what was asked for before that.
    let asked = before.and_then(offered::question);
    let matter = asked.as_deref().unwrap_or(matter);
    let is_short = prompt.len() <= LONGEST_REPLY && !typed(prompt).is_empty();
    let chosen = match before.filter(|_| is_short).and_then(|said| offered::chosen(said, prompt)) {
        Some(Chosen::Offered(chosen)) => chosen,
        // A sentence that decides by itself needs no question.
        Some(Chosen::Answered(answered)) if stated.is_empty() => answered,
        _ => return stated.into_iter().map(|words| with_matter(words, matter)).collect(),
    };
    let is_new = |words: &String| !chosen.contains(words.trim_end_matches(['.', '!', '…']));
    let rest: Vec<String> = stated.into_iter().filter(is_new).collect();
    std::iter::once(with_matter(shortened(&chosen, LONGEST), matter)).chain(rest).collect()
}

/// `words`, with what they are about where they only point at it.
fn with_matter(words: String, matter: &str) -> String {
    const POINTERS: [&str; 8] = ["it", "this", "that", "these", "those", "them", "both", "something"];
    let mut all = words.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let points = all.clone().any(|word| POINTERS.contains(&word.to_lowercase().as_str()));
    let is_bare = all.by_ref().filter(|word| 3 < word.len()).count() < 4;
    let matter = first_sentence(matter);
    let room = LONGEST.saturating_sub(words.chars().count() + 7);
    if !(points || is_bare)
        || room < 24
        || matter.split_whitespace().count() < 4
        || !is_substantive(matter)
        || typed(matter).is_empty()
    {
        return words;
    }
    format!("{words} (on “{}”)", shortened(matter, room.min(LONGEST_MATTER)))
}

/// The choices in a plan that a human agreed to.
pub(crate) fn planned(plan: &str) -> Vec<String> {
    stated::planned(plan)
        .into_iter()
        .take(MOST_PLANNED)
        .map(|words| shortened(&format!("Plan: {words}"), LONGEST))
        .collect()
}

/// What a human decided who turned down `call` and said why.
pub(crate) fn turned_down(words: &str, call: Option<&str>) -> Vec<String> {
    let with_call = |told: String| match call {
        Some(call) if told.chars().count() + 20 < LONGEST => {
            shortened(&format!("{told} (on {call})"), LONGEST)
        }
        _ => told,
    };
    stated::instead(words).into_iter().take(1).map(with_call).collect()
}

/// The last of the decisions, each once.
pub(crate) fn told(decisions: &[Noted]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for decision in decisions.iter().rev() {
        if !told.contains(&decision.words) && told.len() < MOST {
            told.push(decision.words.clone());
        }
    }
    told.reverse();
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_with_their_question() {
        let text = "User has answered your questions: \"Which queue?\"=\"The bounded one\", \"How long?\"=\"80\". Go on.";
        assert_eq!(
            answers(text, "Which queue?\nHow long?"),
            ["Which queue? The bounded one", "How long? 80"]
        );
        assert_eq!(answers("nothing was asked", ""), Vec::<String>::new());
        assert_eq!(answers("\"=\"\"=\"", ""), Vec::<String>::new());
        let quoting =
            "Your questions have been answered: \"The file has \"auth\"=\"off\". Which?\"=\"The cache\".";
        assert_eq!(answers(quoting, "The file has \"auth\"=\"off\". Which?"), Vec::<String>::new());
    }

    #[test]
    fn what_is_quoted_in_a_prompt_decides_nothing() {
        let said = "We decided to use x.";
        assert_eq!(decided(said, None, ""), ["We decided to use x."]);
        for prompt in [
            format!("look at this:\n```\n{said}\n```"),
            format!("what about this?\n> {said}"),
            format!("<channel source=\"a\">\n{said}</channel>"),
            format!("Address this review comment:\n\"{said}\""),
        ] {
            assert_eq!(decided(&prompt, None, ""), [] as [&str; 0], "{prompt}");
        }
    }

    #[test]
    fn a_decision_is_quoted_and_a_question_is_none() {
        assert_eq!(
            decided("Hm. Let's use the bounded queue. Then test it.", None, ""),
            ["Let's use the bounded queue."]
        );
        assert_eq!(decided("Should we say let's use it?", None, ""), Vec::<String>::new());
        assert_eq!(decided("I use it instead of the other", None, ""), Vec::<String>::new());
    }
}
