//! Sessions for tests, made turn by turn.

use crate::digest::endings::endings;
use crate::digest::{DigestOfSession, digest};
use crate::journal::Journal;
use crate::rows::outcome::commits;
use crate::rows::session::Session;
use crate::turn::{Edit, EditKind, Event, Outcome, Place, Replaced, Todo, TodoItem, TodoState, Tool, Turn};

/// A session that is being made.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) journal: Journal,
}

impl Made {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn event(mut self, event: Event<'_>) -> Self {
        self.journal.take(&Turn::new(Place::default(), None, event));
        self
    }

    pub(crate) fn prompt(self, words: &str) -> Self {
        self.event(Event::Prompt(words.into()))
    }

    pub(crate) fn said(self, words: &str) -> Self {
        self.event(Event::Said(words.into()))
    }

    pub(crate) fn edit(self, path: &str) -> Self {
        self.edited(path, EditKind::Edited, "has been updated")
    }

    /// A file that was not there before.
    pub(crate) fn create(self, path: &str) -> Self {
        self.edited(path, EditKind::Written, &format!("File created successfully at: {path}"))
    }

    fn edited(self, path: &str, kind: EditKind, text: &str) -> Self {
        let outcome = Outcome { is_ok: Some(true), text: text.to_owned(), ..Outcome::default() };
        self.event(Event::Edit(Edit { path: path.to_owned(), kind, ..Edit::default() }, outcome))
    }

    /// An edit that puts `new` in the place of `old`.
    pub(crate) fn replace(self, path: &str, old: &str, new: &str) -> Self {
        let replaced = vec![Replaced { old: old.to_owned(), new: new.to_owned() }];
        let outcome = Outcome { is_ok: Some(true), ..Outcome::default() };
        self.event(Event::Edit(Edit { path: path.to_owned(), replaced, ..Edit::default() }, outcome))
    }

    /// An edit that the human turned down with these words.
    pub(crate) fn refuse(self, path: &str, words: &str) -> Self {
        let outcome = Outcome { is_ok: Some(false), is_refused: true, ..Outcome::default() };
        let edit = Edit { path: path.to_owned(), ..Edit::default() };
        let made = self.event(Event::Edit(edit, outcome));
        if words.is_empty() { made } else { made.event(Event::Interruption(words.into())) }
    }

    /// A command that worked, with what it printed.
    pub(crate) fn run(self, command: &str, text: &str) -> Self {
        self.ran(command, true, text)
    }

    /// A command that failed.
    pub(crate) fn fail(self, command: &str, text: &str) -> Self {
        self.ran(command, false, text)
    }

    fn ran(mut self, command: &str, is_ok: bool, text: &str) -> Self {
        let outcome = Outcome { is_ok: Some(is_ok), text: text.to_owned(), ..Outcome::default() };
        self = self.event(Event::Command(command.to_owned(), outcome));
        for commit in commits(command, text) {
            self = self.event(Event::Commit(commit));
        }
        self
    }

    pub(crate) fn task(self, id: &str, text: &str, state: TodoState) -> Self {
        let item = TodoItem { id: Some(id.to_owned()), text: text.to_owned(), detail: String::new(), state };
        self.event(Event::Todo(Todo::Added(item), Outcome { is_ok: Some(true), ..Outcome::default() }))
    }

    pub(crate) fn tool(self, name: &str, about: &str, text: &str) -> Self {
        let tool = Tool { name: name.to_owned(), about: about.to_owned() };
        let outcome = Outcome { is_ok: Some(true), text: text.to_owned(), ..Outcome::default() };
        self.event(Event::Tool(tool, outcome))
    }

    pub(crate) fn digest(&self) -> DigestOfSession {
        digest(&self.journal, &Session::default())
    }

    /// What is left open, besides lists.
    pub(crate) fn open(&self) -> Vec<String> {
        endings(&self.journal).into_iter().map(|ending| ending.summary).collect()
    }
}
