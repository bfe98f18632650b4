//! What is kept of a turn.

use std::borrow::Cow;

use chronicle_core::redaction::{Removed, for_storage};
use chronicle_search::TurnKind;
use serde::{Deserialize, Serialize};

use crate::commands::checks::Called;
use crate::rows::tools::cut;
use crate::signs::names_fault;
use crate::turn::{Event, Outcome, Synthetic, Todo, TodoItem, TodoState, Turn};

/// How much of what was said is kept of one turn, in bytes.
const LONGEST_WORDS: usize = 64 << 10;

/// How much of a command is kept.
const LONGEST_COMMAND: usize = 4 << 10;

/// How much of what came back from a call that failed is kept.
const LONGEST_ANSWER: usize = 1 << 10;

/// The words of a turn that are kept.
pub(crate) struct Kept<'t> {
    pub(crate) kind: TurnKind,
    pub(crate) text: Cow<'t, str>,
    pub(crate) is_ok: Option<bool>,
    pub(crate) answer: Option<String>,
}

/// What is kept of `turn`, which `called` that; none for what only repeats or tells nothing.
pub(crate) fn kept<'t>(
    turn: &'t Turn<'_>,
    called: &Called,
    tops: &Tops,
    removed: &mut Removed,
) -> Option<Kept<'t>> {
    let words = |kind, words: &'t str| Kept { kind, text: bounded(words), is_ok: None, answer: None };
    let call = |kind, text: Cow<'t, str>, outcome: &Outcome| Kept {
        kind,
        text,
        is_ok: outcome.is_ok,
        answer: (outcome.is_ok == Some(false) && !outcome.text.trim().is_empty())
            .then(|| telling_part(outcome.text.trim())),
    };
    let kept = match &turn.event {
        Event::Prompt(text) => words(TurnKind::Prompt, text),
        Event::Said(text) => words(TurnKind::Said, text),
        Event::Error(text) => words(TurnKind::Error, text),
        Event::Interruption(text) if text.is_empty() => words(TurnKind::Interruption, "interrupted"),
        Event::Interruption(text) => words(TurnKind::Interruption, text),
        Event::PullRequest(text) => words(TurnKind::PullRequest, text),
        Event::Synthetic(Synthetic::Summary, text) => words(TurnKind::Summary, text),
        Event::Synthetic(Synthetic::Plan, text) => words(TurnKind::Plan, text),
        // Told by a tool or put in by a program: nobody said it.
        Event::Synthetic(..) => return None,
        Event::Command(text, outcome) if outcome.is_refused => refused(text),
        Event::Edit(edit, outcome) if outcome.is_refused => refused(tops.within(&edit.path)),
        Event::Tool(tool, outcome) if outcome.is_refused => refused(&format!("{} {}", tool.name, tool.about)),
        Event::Plan(text, outcome) => call(TurnKind::Plan, bounded(text), outcome),
        Event::Command(text, outcome) => {
            let kept = call(TurnKind::Command, cut(text, LONGEST_COMMAND).into(), outcome);
            // A pipe hides how a check ended. What works was not cleaned: nobody was to keep what it printed.
            match called.has_failed() && kept.is_ok != Some(false) {
                true => Kept { is_ok: Some(false), answer: cleaned_part(&outcome.text, removed), ..kept },
                false => kept,
            }
        }
        Event::Edit(edit, outcome) => call(TurnKind::Edit, Cow::Borrowed(tops.within(&edit.path)), outcome),
        Event::Tool(tool, outcome) => {
            let about = tops.within(&tool.about);
            let text = if about.is_empty() { tool.name.clone() } else { format!("{} {about}", tool.name) };
            call(TurnKind::Tool, cut(&text, LONGEST_COMMAND).into(), outcome)
        }
        Event::Commit(commit) => {
            Kept { kind: TurnKind::Commit, text: commit.told().into(), is_ok: Some(true), answer: None }
        }
        Event::Todo(todo, outcome) => call(TurnKind::Todo, todo_text(todo)?.into(), outcome),
    };
    (!kept.text.trim().is_empty()).then_some(kept)
}

/// What tells most of an output that is not clean yet.
fn cleaned_part(text: &str, removed: &mut Removed) -> Option<String> {
    let clean = for_storage(text.trim(), removed);
    (!clean.is_empty()).then(|| telling_part(&clean))
}

/// A call that was turned down: neither work nor a failure, but a human may ask for it.
fn refused<'t>(what: &str) -> Kept<'t> {
    let text = Cow::Owned(format!("turned down: {}", cut(what.trim(), LONGEST_COMMAND)));
    Kept { kind: TurnKind::Tool, text, is_ok: None, answer: None }
}

/// What tells most of a long output: how it begins, the lines that name what is wrong, and how it ends.
fn telling_part(text: &str) -> String {
    if text.len() <= LONGEST_ANSWER {
        return text.to_owned();
    }
    let (begin, end) = (LONGEST_ANSWER / 6, LONGEST_ANSWER / 3);
    let head = cut(text, begin);
    let tail = &text[text.ceil_char_boundary(text.len() - end)..];
    let tail = tail.split_once('\n').map_or(tail, |(_, rest)| rest);
    let middle = &text[head.len().min(text.len())..text.len() - tail.len()];
    let mut room = LONGEST_ANSWER.saturating_sub(begin + end);
    let mut told: Vec<&str> = Vec::new();
    for line in middle.lines().map(str::trim_end).filter(|line| names_fault(line)) {
        if room <= line.len() {
            break;
        }
        if !told.contains(&line) {
            room -= line.len() + 1;
            told.push(line);
        }
    }
    [&[head.trim_end()][..], &told, &[tail]].concat().join("\n")
}

fn bounded(words: &str) -> Cow<'_, str> {
    let words = words.trim();
    if words.len() <= LONGEST_WORDS { Cow::Borrowed(words) } else { Cow::Owned(cut(words, LONGEST_WORDS)) }
}

/// The tops of the working trees that a session worked in.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tops(Vec<String>);

impl Tops {
    /// Whether `path` is one of them or lies in one.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.iter().any(|top| top == path) || self.within(path) != path
    }

    /// `path` from the innermost top that it lies in; none where it is in none of them.
    pub(crate) fn place<'p>(&self, path: &'p str) -> Option<&'p str> {
        let place = self.within(path);
        let is_elsewhere = place == path && path.starts_with(['/', '~']) && !self.0.is_empty();
        (!is_elsewhere).then_some(place)
    }

    /// `path` from the innermost top that it lies in.
    pub(crate) fn within<'p>(&self, path: &'p str) -> &'p str {
        let rest = |top: &String| path.strip_prefix(top.as_str())?.strip_prefix('/');
        self.0.iter().filter_map(rest).min_by_key(|rest| rest.len()).unwrap_or(path)
    }
}

impl Extend<String> for Tops {
    fn extend<T: IntoIterator<Item = String>>(&mut self, tops: T) {
        for top in tops {
            if !top.is_empty() && !self.0.contains(&top) {
                self.0.push(top);
            }
        }
    }
}

/// What a change of the list says; the list as a whole is told by what is being done.
fn todo_text(todo: &Todo) -> Option<String> {
    match todo {
        Todo::Added(item) => Some(item.text.clone()),
        Todo::Changed { text, .. } => text.clone(),
        Todo::List(items) => {
            let is = |state| move |item: &&TodoItem| item.state == state;
            let n_done = items.iter().filter(is(TodoState::Completed)).count();
            let now: Vec<&str> =
                items.iter().filter(is(TodoState::InProgress)).map(|item| item.text.as_str()).collect();
            Some(format!("{n_done} of {} done; now: {}", items.len(), now.join("; ")))
        }
    }
}

#[cfg(test)]
mod answers {
    use super::*;

    #[test]
    fn the_lines_that_tell_and_the_end_of_a_long_output_are_kept() {
        let noise = "compiling a part of the pool\n".repeat(200);
        let text = format!(
            "running 90 tests\n{noise}error: the pool is closed\n{noise}error: the pool is closed\nlast words"
        );
        let kept = telling_part(&text);
        assert!(kept.len() <= LONGEST_ANSWER + 8, "{}", kept.len());
        assert!(kept.starts_with("running 90 tests") && kept.ends_with("last words"), "{kept}");
        assert_eq!(
            kept.matches("error: the pool is closed").count(),
            2,
            "once from the middle, once from the end: {kept}"
        );
        assert_eq!(telling_part("short\nerror"), "short\nerror");
        let letters = "ä".repeat(4_000);
        assert!(telling_part(&letters).len() <= LONGEST_ANSWER + 8);
    }
}
