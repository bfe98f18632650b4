//! Which turns ask: what answers them stands in the turn that follows.

use crate::store::ids::TurnKind;

/// How close to its end a turn has to ask, in bytes: what follows is an afterthought.
const AT_THE_END: usize = 120;

/// Set beside the kind of a turn that asks.
pub(super) const ASKS: u8 = 0x80;

/// The kind of a turn, with a mark where it asks.
pub(super) fn marked(kind: u8, text: &str) -> u8 {
    let is_speech = [TurnKind::Prompt, TurnKind::Said].iter().any(|speech| *speech as u8 == kind);
    if is_speech && asks(text) { kind | ASKS } else { kind }
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
    fn only_what_is_spoken_asks() {
        assert_eq!(marked(TurnKind::Prompt as u8, "why?"), TurnKind::Prompt as u8 | ASKS);
        assert_eq!(marked(TurnKind::Command as u8, "ls why?"), TurnKind::Command as u8);
    }
}
