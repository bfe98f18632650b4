//! How a session began, where only files next to its transcript tell it.
//!
//! Cline and its forks let a model write the words that a new task begins with. The task that it was in shows them, the new
//! one doesn't show whose they are.

use std::io::{self, Read};

use crate::rows::elements::{Element, Elements};
use crate::rows::json::{self, Raw};
use crate::rows::row::Row;
use crate::rows::source::Source;
use crate::turn::Place;

/// Who began a session, as far as its place or the files next to it tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Begun {
    /// A human, unless its rows say otherwise.
    #[default]
    ByHuman,
    /// A human, with words that a model wrote in another session.
    WithHandedWords,
    /// Another agent, which leads it.
    ByAgent,
}

/// What the messages of a task of Cline or its forks say about how tasks begin.
#[derive(Debug, Default)]
pub struct ClineTask {
    /// When it began, in milliseconds since 1970.
    pub began: Option<u64>,
    first: String,
    handed: Vec<(Begun, String)>,
    /// Whether it ended as only the task of another one does.
    is_subtask: bool,
}

/// Fewer letters may be in a prompt by chance.
const LEAST_HANDED: usize = 32;

impl ClineTask {
    /// What a file of messages says, as far as it can be read.
    pub fn read(file: impl Read) -> io::Result<Self> {
        let mut task = Self::default();
        let start = Place { line: 1, bytes: 0..0 };
        let mut elements = Elements::new(Source::new(file, &start));
        while let Some(element) = elements.next()? {
            if let Element::Message { bytes, place } = element {
                task.take(&Row::new(bytes, place));
            }
        }
        Ok(task)
    }

    fn take(&mut self, row: &Row<'_>) {
        let (mut at, mut name, mut text) = (None, None, None);
        // Of a broken message, nothing is known.
        let _length = json::first_object(row, |key, value| match key {
            "ts" => at = json::number(value),
            "say" | "ask" => name = json::text(value),
            "text" => text = json::text(value),
            _ => {}
        });
        self.began = self.began.or(at);
        let (name, text) = (name.unwrap_or_default(), text.unwrap_or_default());
        let inner = json::whole(&text).filter(|_| text.starts_with('{'));
        let within = |name: &str| inner.and_then(|inner: Raw<'_>| json::member_text(inner, name));
        match &*name {
            "text" | "task" if self.first.is_empty() => self.first = letters(&text),
            "new_task" => {
                let words =
                    ["context", "content", "text"].into_iter().find_map(within).unwrap_or(text.clone());
                self.handed.push((Begun::WithHandedWords, letters(&words)));
            }
            "tool" => match within("tool").as_deref() {
                Some("newTask") => {
                    let words = ["content", "message"].into_iter().find_map(within).unwrap_or_default();
                    self.handed.push((Begun::ByAgent, letters(&words)));
                }
                Some("finishTask") => self.is_subtask = true,
                _ => {}
            },
            _ => {}
        }
    }

    /// How it began, by its own messages and those of the tasks before it.
    #[must_use]
    pub fn begun(&self, others: &[Self]) -> Begun {
        if self.is_subtask {
            return Begun::ByAgent;
        }
        let is_it = |words: &str| {
            !words.is_empty()
                && (self.first == words || LEAST_HANDED <= words.len() && self.first.contains(words))
        };
        let mut handed = others.iter().flat_map(|other| &other.handed);
        handed.find(|(_, words)| is_it(words)).map_or(Begun::ByHuman, |(begun, _)| *begun)
    }
}

/// The letters and digits of words, which stay the same however they are sent.
fn letters(words: &str) -> String {
    words.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Session, read_to_end};
    use crate::turn::{Event, Turn};

    #[test]
    fn a_session_that_began_with_handed_words_goes_on_with_the_humans() {
        let told = |begun: Begun| {
            let file = r#"[{"ts":1,"type":"say","say":"task","text":"Use just."},{"ts":2,"type":"say","say":"user_feedback","text":"Thanks"}]"#;
            let mut is_prompt = Vec::new();
            let mut on_turn =
                |turn: &Turn<'_>, _: &Session| is_prompt.push(matches!(turn.event, Event::Prompt(_)));
            let source = Source::new(file.as_bytes(), &Place { line: 1, bytes: 0..0 });
            read_to_end(source, None, begun, &mut on_turn, &mut |_| {}).expect("bytes can be read");
            is_prompt
        };
        assert_eq!(told(Begun::ByHuman), [true, true]);
        assert_eq!(told(Begun::WithHandedWords), [false, true]);
        assert_eq!(told(Begun::ByAgent), [false, false]);
    }

    #[test]
    fn words_that_another_task_handed_over_begin_a_task() {
        let task = |messages: &str| ClineTask::read(messages.as_bytes()).expect("bytes can be read");
        let check = |own: &str, other: &str, expected: Begun| {
            assert_eq!(task(own).begun(&[task("[]"), task(other)]), expected, "{own} {other}");
        };
        let began = |words: &str| format!(r#"[{{"ts":7,"type":"say","say":"task","text":"{words}"}}]"#);
        let long = "1. Current work:\\nThe pool waits. Now use just in all of it.";
        let handed = |words: &str| format!(r#"[{{"ts":5,"type":"ask","ask":"new_task","text":"{words}"}}]"#);
        check(&began(long), &handed(long), Begun::WithHandedWords);
        check(&began(&format!("Go on.\\n{long} ")), &handed(long), Begun::WithHandedWords);
        check(&began("Use just. Now"), &handed("Use just."), Begun::ByHuman);
        check(&began("Use just."), &handed("Use just."), Begun::WithHandedWords);
        check(&began("Use just."), &handed(""), Begun::ByHuman);
        check(&began("Use just."), &handed("Use make."), Begun::ByHuman);
        check(&began("Use just."), &handed(r#"{\"context\":\"Use just.\"}"#), Begun::WithHandedWords);
        let subtask = r#"[{"ts":5,"type":"ask","ask":"tool","text":"{\"tool\":\"newTask\",\"mode\":\"code\",\"content\":\"Use just.\"}"}]"#;
        check(r#"[{"ts":7,"type":"say","say":"text","text":"Use just."}]"#, subtask, Begun::ByAgent);
        let finished = r#"[{"ts":7,"say":"text","text":"Use just."},{"ts":9,"ask":"tool","text":"{\"tool\":\"finishTask\"}"}]"#;
        check(finished, "[]", Begun::ByAgent);
        // Of one that is cut off, what is there counts.
        check(&began("Use just."), &handed("Use just.").replace(']', ",{\"ts\":"), Begun::WithHandedWords);
        assert_eq!(task(&began("x")).began, Some(7));
    }
}
