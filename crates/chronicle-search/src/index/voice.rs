//! Who speaks in a turn, and whether the turn asks.
//!
//! A transcript names the roles. Where a speaker has a name of their own, people talk to people, whatever roles the
//! transcript gives them.

use crate::store::ids::TurnKind;

/// How close to its end a turn has to ask, in bytes: what follows is an afterthought.
const AT_THE_END: usize = 120;

/// Set next to the kind of a turn that asks.
const ASKS: u8 = 0x80;

/// Set next to the kind of a turn that a person with a name said.
const NAMED: u8 = 0x40;

/// Names of speakers that are roles.
const ROLES: [&str; 9] = ["user", "human", "assistant", "agent", "model", "ai", "bot", "system", "tool"];

/// Who or what a turn comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A human, to an agent.
    Human,
    /// An agent.
    Agent,
    /// A person with a name, to other people.
    Person,
    /// A command that an agent ran.
    Command,
    /// A change of a file.
    Edit,
    /// A call of another tool.
    Tool,
    /// Everything else: plans, summaries, commits, errors.
    Other,
}

impl Voice {
    /// Whether what it says after a question answers that. An agent that is asked does as it is told, and what the human
    /// said stays the better evidence.
    pub(crate) fn answers(self) -> bool {
        matches!(self, Self::Human | Self::Person)
    }
}

/// A turn's kind, voice and question, as the index holds them in one byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked {
    /// The number of the kind.
    pub kind: u8,
    pub voice: Voice,
    pub asks: bool,
}

impl Marked {
    /// What `byte` holds.
    pub(crate) fn of(byte: u8) -> Self {
        let kind = byte & !(ASKS | NAMED);
        let voice = match TurnKind::of_number(kind) {
            Some(TurnKind::Prompt | TurnKind::Said) if byte & NAMED != 0 => Voice::Person,
            Some(TurnKind::Prompt) => Voice::Human,
            Some(TurnKind::Said) => Voice::Agent,
            Some(TurnKind::Command) => Voice::Command,
            Some(TurnKind::Edit) => Voice::Edit,
            Some(TurnKind::Tool) => Voice::Tool,
            _ => Voice::Other,
        };
        Self { kind, voice, asks: byte & ASKS != 0 }
    }
}

/// The byte for a turn.
pub(super) fn marked(kind: u8, speaker: &str, text: &str) -> u8 {
    let is_speech = [TurnKind::Prompt, TurnKind::Said].iter().any(|speech| *speech as u8 == kind);
    if !is_speech {
        return kind;
    }
    let is_role = speaker.is_empty() || ROLES.iter().any(|role| speaker.eq_ignore_ascii_case(role));
    kind | if asks(text) { ASKS } else { 0 } | if is_role { 0 } else { NAMED }
}

/// Whether a text has a question at its end. A question mark within code or an address is none.
fn asks(text: &str) -> bool {
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(AT_THE_END))..];
    end.char_indices().any(|(at, mark)| match mark {
        '？' | '؟' => true,
        '?' => is_behind_word(&end[..at]) && is_before_space(&end[at + 1..]),
        _ => false,
    })
}

/// Some put a space before the mark.
fn is_behind_word(before: &str) -> bool {
    let between = |letter: &char| letter.is_whitespace() || ['"', '”', '’', '»'].contains(letter);
    before.chars().rev().take(3).find(|letter| !between(letter)).is_some_and(char::is_alphanumeric)
}

fn is_before_space(after: &str) -> bool {
    after.trim_start_matches(['?', '!']).chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_asks_where_a_question_stands_at_its_end() {
        for text in [
            "why does it wait?",
            "Why?! ",
            "Ça marche ?",
            "«Pourquoi» ?",
            "连接池为什么等待？",
            "Why does it wait? I saw it twice today.",
        ] {
            assert!(asks(text), "{text}");
        }
    }

    #[test]
    fn a_mark_in_code_or_far_from_the_end_asks_nothing() {
        let long = format!("Why? {}", "It waits. ".repeat(20));
        for text in ["", "It waits.", "let x = read()?;", "open()?", "https://a.test/b?c=d", "?", &long] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn a_byte_holds_who_speaks_and_whether_it_asks() {
        let check = |kind: TurnKind, speaker: &str, text: &str, voice: Voice, asks: bool| {
            let held = Marked::of(marked(kind as u8, speaker, text));
            assert_eq!((held.kind, held.voice, held.asks), (kind as u8, voice, asks), "{kind:?} {speaker}");
        };
        check(TurnKind::Prompt, "", "why?", Voice::Human, true);
        check(TurnKind::Prompt, "User", "it waits", Voice::Human, false);
        check(TurnKind::Said, "assistant", "it waits", Voice::Agent, false);
        check(TurnKind::Said, "Ada", "why?", Voice::Person, true);
        check(TurnKind::Prompt, "Ada", "it waits", Voice::Person, false);
        check(TurnKind::Command, "Ada", "ls why?", Voice::Command, false);
        check(TurnKind::Summary, "", "why?", Voice::Other, false);
    }
}
