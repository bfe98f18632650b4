//! What a person can do at a place: note a lesson, doubt one, close what is done, open what is behind it. Nothing is
//! written before the person chooses an action.

use chronicle::{Category, LineRange, WisdomItem};
use gen_lsp_types::{CodeAction, CodeActionKind, Command};
use serde_json::{Value, json};

use crate::{
    documents::Document,
    known::Known,
    links::{Kind, ids},
    text::TextLines,
    whys::Written,
};

/// The kind of all actions, by which clients can ask for them alone.
const KIND: &str = "chronicle";

/// More actions of one sort hide the others.
const MOST: usize = 4;

/// As much of a lesson is in the title of an action.
const LONGEST_WORDS: usize = 60;

/// Whether actions of a client's choice may be ours.
pub(crate) fn are_wanted(context: &Value) -> bool {
    let only = context.get("only").and_then(Value::as_array).filter(|only| !only.is_empty());
    only.is_none_or(|only| only.iter().any(|kind| kind.as_str() == Some(KIND)))
}

/// What can be done at some lines.
pub(crate) struct Actions<'a> {
    document: &'a Document,
    lines: LineRange,
    found: Vec<Command>,
}

impl<'a> Actions<'a> {
    pub(crate) fn of(
        document: &'a Document,
        text: &TextLines<'_>,
        lines: LineRange,
        known: &Known,
        written: Option<&Written>,
    ) -> Vec<Command> {
        let mut actions = Self { document, lines, found: Vec::new() };
        actions.add(
            "Note a lesson here\u{2026}",
            "chronicle.noteHere",
            &json!({ "lines": [lines.start, lines.end] }),
        );
        let lessons = known.lessons_at(lines.start);
        for lesson in lessons.iter().take(MOST) {
            actions.on_lesson(lesson);
        }
        actions.on_ids(text);
        actions.opening(&lessons, written);
        if !lessons.is_empty() {
            let lines = json!({ "lines": [lines.start, lines.end] });
            actions.add("Copy lessons for an agent", "chronicle.copyForAgent", &lines);
            actions.add("Show lessons", "chronicle.show", &json!({ "line": actions.lines.start }));
        }
        actions.found
    }

    fn add(&mut self, title: &str, command: &str, arguments: &Value) {
        let mut arguments = arguments.clone();
        arguments["uri"] = json!(self.document.uri);
        self.found.push(Command {
            title: format!("Chronicle: {title}"),
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(vec![arguments]),
        });
    }

    fn on_lesson(&mut self, lesson: &WisdomItem) {
        let words = shortened(&lesson.content);
        let id = json!({ "id": lesson.standing.id.0 });
        self.add(&format!("Flag \u{201c}{words}\u{201d}\u{2026}"), "chronicle.flagLesson", &id);
        if lesson.category == Category::UnfinishedThread {
            self.add(&format!("Mark as done: \u{201c}{words}\u{201d}"), "chronicle.resolve", &id);
        }
    }

    /// Threads that the lines name.
    fn on_ids(&mut self, text: &TextLines<'_>) {
        let last = self.lines.end.min(self.lines.start.saturating_add(20));
        let mut threads: Vec<String> = Vec::new();
        for line in self.lines.start..=last {
            let named = ids(text.text_of(line)).filter(|(_, _, kind)| *kind == Kind::Thread);
            threads.extend(named.map(|(_, id, _)| id.to_owned()));
        }
        threads.dedup();
        for id in threads.iter().take(MOST) {
            self.add(&format!("Resolve thread {id}"), "chronicle.resolve", &json!({ "id": id }));
        }
    }

    /// The commits and sessions behind the lines.
    fn opening(&mut self, lessons: &[&WisdomItem], written: Option<&Written>) {
        let mut commits: Vec<&str> =
            written.iter().flat_map(|written| &written.commits).map(String::as_str).collect();
        commits.extend(lessons.iter().map(|lesson| lesson.standing.commit.as_str()));
        let mut seen: Vec<&str> = Vec::new();
        for commit in commits {
            if !seen.contains(&commit) && seen.len() < MOST {
                seen.push(commit);
                let short = commit.get(..7).unwrap_or(commit);
                self.add(&format!("Open commit {short}"), "chronicle.show", &json!({ "commit": commit }));
            }
        }
        for (session, title) in written.iter().flat_map(|written| &written.sessions).take(MOST) {
            let title = format!("Open session \u{201c}{}\u{201d}", shortened(title));
            self.add(&title, "chronicle.show", &json!({ "session": session }));
        }
    }
}

/// As clients that know more than commands take them.
pub(crate) fn as_actions(commands: Vec<Command>) -> Vec<CodeAction> {
    let action = |command: Command| CodeAction {
        title: command.title.clone(),
        kind: Some(CodeActionKind::Custom(KIND.into())),
        command: Some(command),
        ..CodeAction::default()
    };
    commands.into_iter().map(action).collect()
}

fn shortened(words: &str) -> String {
    let words = chronicle::plain(words).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= LONGEST_WORDS {
        return words;
    }
    let start: String = words.chars().take(LONGEST_WORDS - 1).collect();
    format!("{}\u{2026}", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_offered_unless_others_are_asked_for() {
        let check = |context: Value, expected| assert_eq!(are_wanted(&context), expected, "{context}");
        check(json!({ "diagnostics": [] }), true);
        check(json!({ "only": [] }), true);
        check(json!({ "only": ["chronicle"] }), true);
        check(json!({ "only": ["quickfix"] }), false);
        check(json!(7), true);
    }

    #[test]
    fn titles_are_short() {
        assert_eq!(shortened("a\n  b"), "a b");
        assert_eq!(shortened(&"word ".repeat(20)).chars().count(), LONGEST_WORDS);
    }
}
