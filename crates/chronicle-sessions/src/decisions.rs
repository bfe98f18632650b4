//! What was decided in a session: answers that humans gave, and sentences in which they say so.
//!
//! Everything is quoted. Narrow rules, as with threads: what nobody decided costs more trust than
//! what was missed.

use crate::journal::Noted;
use crate::typed::typed;
use crate::words::shortened;

/// The longest decision that is told.
const LONGEST: usize = 160;

/// How many decisions of a session are told, the last ones.
const MOST: usize = 6;

/// Whether a tool of that name asks the human something.
pub(crate) fn is_asking(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "ask_user" | "request_user_input")
}

/// The answers in what came back from a question: `"Which one?"="The first"`.
pub(crate) fn answers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
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

/// The sentences of a prompt, as far as its human typed them, in which something is decided.
pub(crate) fn decided(prompt: &str) -> Vec<String> {
    const MARKS: [&str; 11] = [
        "let's go with ",
        "lets go with ",
        "we'll go with ",
        "go with option ",
        "let's use ",
        "lets use ",
        "we'll use ",
        "i decided ",
        "we decided ",
        "i've decided ",
        "we've decided ",
    ];
    let is_one = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        !lower.ends_with('?') && !lower.starts_with("if ") && MARKS.iter().any(|mark| lower.contains(mark))
    };
    typed(prompt).into_iter().filter(is_one).map(|sentence| shortened(sentence, LONGEST)).collect()
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
        assert_eq!(answers(text), ["Which queue? The bounded one", "How long? 80"]);
        assert_eq!(answers("nothing was asked"), Vec::<String>::new());
        assert_eq!(answers("\"=\"\"=\""), Vec::<String>::new());
    }

    #[test]
    fn what_is_quoted_in_a_prompt_decides_nothing() {
        let said = "We decided to use x.";
        assert_eq!(decided(said), ["We decided to use x."]);
        for prompt in [
            format!("look at this:\n```\n{said}\n```"),
            format!("what about this?\n> {said}"),
            format!("<channel source=\"a\">\n{said}</channel>"),
            format!("Address this review comment:\n\"{said}\""),
        ] {
            assert_eq!(decided(&prompt), [] as [&str; 0], "{prompt}");
        }
    }

    #[test]
    fn a_decision_is_quoted_and_a_question_is_none() {
        assert_eq!(
            decided("Hm. Let's use the bounded queue. Then test it."),
            ["Let's use the bounded queue."]
        );
        assert_eq!(decided("Should we say let's use it?"), Vec::<String>::new());
        assert_eq!(decided("I use it instead of the other"), Vec::<String>::new());
    }
}
