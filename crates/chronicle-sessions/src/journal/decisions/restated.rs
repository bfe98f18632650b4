//! What the agent makes of a human's words: it mostly says cleanly what a question or a fragment decided.

use super::{LONGEST, LONGEST_REPLY};
use crate::words::particular::n_particular;
use crate::words::typed::typed;
use crate::words::{clause, imperative, sentences, shortened};
use serde::{Deserialize, Serialize};

/// How many sentences of a reply are looked at.
const MOST_SENTENCES: usize = 5;

/// How many replies are looked at: agents often look around before they answer.
const MOST_REPLIES: usize = 3;

/// How long the restated choice is at most.
const LONGEST_CHOICE: usize = 120;

/// A human's words that wait for what the agent makes of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Awaited {
    /// The human's words, as evidence.
    words: String,
    /// Whether they only ask, or point at something.
    is_question: bool,
    /// How many replies may still answer them.
    n_replies: usize,
}

/// What a reply of the agent makes of the decision that it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It says what was decided, with the human's words.
    Restated(String),
    /// It accepts nothing, and what was said was only a question.
    NotTaken,
    /// It says nothing of it.
    Silent,
}

impl Awaited {
    /// What a human's words wait for; none where they are no reply to anything.
    pub(crate) fn of(words: &str) -> Option<Self> {
        let all = typed(words);
        if LONGEST_REPLY < words.len() || all.is_empty() || 4 < all.len() {
            return None;
        }
        let words = all.iter().find(|sentence| 2 <= sentence.split_whitespace().count())?;
        let is_question = all.iter().any(|one| one.ends_with('?'));
        Some(Self { words: (*words).to_owned(), is_question, n_replies: MOST_REPLIES })
    }

    /// The same, after a reply that said nothing of it; none once there were enough.
    pub(crate) fn after_silence(self) -> Option<Self> {
        let n_replies = self.n_replies.checked_sub(1).filter(|n_replies| *n_replies != 0)?;
        Some(Self { n_replies, ..self })
    }

    /// Whether a decision quotes the words, rather than an option that they take.
    pub(crate) fn is_quoted(&self, decision: &str) -> bool {
        decision.starts_with(shortened(&self.words, 40).trim_end_matches('…'))
    }

    /// What the agent's reply makes of it. `is_decided` says whether the human's words decide something by themselves.
    pub(crate) fn answered(&self, said: &str, is_decided: bool) -> Reply {
        let acceptance = accepted(said);
        let rest = acceptance.map_or(said, |(_, rest)| rest);
        let is_plain = acceptance.is_some_and(|(is_plain, _)| is_plain);
        let is_meant =
            |what: &str| is_plain || is_decided && acceptance.is_some() || is_about(what, &self.words);
        // Where the human decided, the agent may go straight to it; a question has to be accepted in so many words.
        let is_first = self.n_replies == MOST_REPLIES;
        let is_awaited = match is_decided {
            true => !self.says_it() && (is_first || acceptance.is_some()),
            false => is_plain && self.is_question,
        };
        match announced(rest, is_meant).filter(|_| is_awaited) {
            Some(choice) => {
                let room = LONGEST.saturating_sub(choice.chars().count() + 5);
                Reply::Restated(format!("{choice} (“{}”)", shortened(&self.words, room)))
            }
            None if acceptance.is_none() && self.only_asks() => Reply::NotTaken,
            _ => Reply::Silent,
        }
    }

    /// Whether the words say by themselves what is to be.
    fn says_it(&self) -> bool {
        const POINTERS: [&str; 7] = ["it", "this", "that", "these", "those", "them", "something"];
        let points = self.words.split(|c: char| !c.is_alphanumeric()).any(|word| POINTERS.contains(&word));
        !self.is_question && !points && 3 <= n_particular(&self.words)
    }

    /// Whether the words ask for reasons rather than for something to be done.
    fn only_asks(&self) -> bool {
        const ASKING: [&str; 8] = [
            "why not",
            "why don't we",
            "what about",
            "how about",
            "should we",
            "shouldn't we",
            "shall we",
            "any chance",
        ];
        let lower = self.words.to_lowercase();
        lower.ends_with('?') && ASKING.iter().any(|start| lower.contains(start))
    }
}

/// What follows the words with which the agent accepts something, and whether they are plain: `Good idea - …`,
/// `You're right. …`. `Got it` may follow anything.
fn accepted(said: &str) -> Option<(bool, &str)> {
    const PLAIN: [&str; 13] = [
        "you're right",
        "you're absolutely right",
        "you are right",
        "you are absolutely right",
        "good idea",
        "great idea",
        "good point",
        "great point",
        "good call",
        "excellent point",
        "fair point",
        "agreed",
        "yes, we should",
    ];
    const OTHERS: [&str; 7] =
        ["good catch", "makes sense", "that makes sense", "got it", "understood", "perfect", "sure"];
    let (mut rest, mut accepted, mut is_plain) = (said.trim_start(), false, false);
    loop {
        let begins =
            |mark: &&&str| rest.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark));
        let plain = PLAIN.iter().find(begins);
        let Some(mark) = plain.or_else(|| OTHERS.iter().find(begins)) else { break };
        (accepted, is_plain) = (true, is_plain || plain.is_some());
        rest = rest[mark.len()..].trim_start_matches([' ', '-', '—', '–', ',', '.', '!', ':']);
    }
    accepted.then_some((is_plain, rest))
}

/// What the agent says that it will do: `Let me update those functions to take a limit`.
fn announced(said: &str, is_meant: impl Fn(&str) -> bool) -> Option<String> {
    const MARKS: [&str; 9] = [
        "let me ",
        "i'll ",
        "i will ",
        "we should ",
        "we could ",
        "we can ",
        "we just need to ",
        "it should ",
        "should just ",
    ];
    let is_text = |line: &&str| !line.trim().is_empty();
    let mut is_code = false;
    let mut n_seen = 0;
    for line in said.lines().filter(is_text) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code {
            continue;
        }
        for sentence in sentences(line) {
            n_seen += 1;
            if MOST_SENTENCES < n_seen {
                return None;
            }
            let lower = sentence.to_ascii_lowercase();
            let found = MARKS.iter().filter_map(|mark| Some(lower.find(mark)? + mark.len())).min();
            let Some(what) = found.map(|at| sentence[at..].trim_start_matches("just ")) else { continue };
            if !is_vague(what) && 2 <= n_particular(what) && is_meant(what) {
                return Some(told(what));
            }
        }
    }
    None
}

fn told(choice: &str) -> String {
    clause(&imperative(choice.trim_end_matches([':', '.', '!']), usize::MAX), LONGEST_CHOICE)
}

/// Whether an announcement only looks, or does what every reply does.
fn is_vague(what: &str) -> bool {
    const VAGUE: [&str; 27] = [
        "map",
        "play",
        "clarify",
        "show",
        "try",
        "check",
        "look",
        "see",
        "read",
        "verify",
        "investigate",
        "explain",
        "think",
        "analyze",
        "review",
        "find",
        "search",
        "run",
        "start",
        "first",
        "examine",
        "explore",
        "understand",
        "trace",
        "get",
        "commit",
        "push",
    ];
    let first = what.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    VAGUE.contains(&first.as_str())
}

/// Whether both speak of the same thing, or the human only pointed at it.
fn is_about(what: &str, words: &str) -> bool {
    use chronicle_core::thread::Gist;
    let pointing = n_particular(words) < 3;
    pointing || Gist::of(what).n_words_of(&Gist::of(words)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_says_what_was_decided() {
        let check = |words: &str, said: &str, is_decided: bool, expected: &str| {
            let reply = Awaited::of(words).expect("it is a reply").answered(said, is_decided);
            assert_eq!(reply, Reply::Restated(expected.to_owned()), "{words}: {said}");
        };
        check(
            "can't those helpers take a Limit instead?",
            "Good idea - a type of its own is cleaner. Let me change those helpers to take a `Limit`:",
            true,
            "Change those helpers to take a `Limit` (“can't those helpers take a Limit instead?”)",
        );
        check(
            "why is the owner not set there?",
            "You're right. The owner is known at line 12:\n\n```go\nowner := x\n```\n\nWe should just set it in `checkLimits` when the pool is made. Let me do that.",
            false,
            "Set it in `checkLimits` when the pool is made (“why is the owner not set there?”)",
        );
        check(
            "let's keep it simple for now",
            "Got it. I'll leave the retry of the pool out and only raise the limit.",
            true,
            "Leave the retry of the pool out and only raise the limit (“let's keep it simple for now”)",
        );
    }

    #[test]
    fn a_question_that_is_not_accepted_decides_nothing() {
        let check = |words: &str, said: &str, is_decided: bool, expected: Reply| {
            let reply = Awaited::of(words).expect("it is a reply").answered(said, is_decided);
            assert_eq!(reply, expected, "{words}: {said}");
        };
        let explains = "The pool is older than the queue, so that isn't possible.";
        check("why not use the queue of the pool?", explains, true, Reply::NotTaken);
        check("does it fail at night?", explains, false, Reply::Silent);
        check("use the queue", explains, true, Reply::Silent);
        check("use the queue", "Let me check the queue of the pool first.", true, Reply::Silent);
        check(
            "do you have access to the tracker?",
            "Yes, I have access to it. Let me list its issues.",
            false,
            Reply::Silent,
        );
        check(
            "keep the limits of the pool in its settings",
            "Got it. I'll move them there.",
            true,
            Reply::Silent,
        );
        // Who accepts and says nothing of it leaves the human's words.
        check("use the queue", "Got it.", true, Reply::Silent);
        assert!(Awaited::of("yes").is_none());
        assert!(Awaited::of(&"a long text of its own. ".repeat(30)).is_none());
    }
}
