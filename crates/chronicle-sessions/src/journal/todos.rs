//! The agent's own list of what is to do: structured, and therefore exact.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use chronicle_core::thread::{Evidence, is_alike};

use crate::journal::noted::Noted;
use crate::turn::{Todo, TodoItem, TodoState};

/// How many items of one list, and of one session, are kept: nobody works through more.
const MOST_ITEMS: usize = 200;

/// An item of the list, as its last change left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The id that the agent gave it, if any.
    pub id: Option<String>,
    /// What is to do.
    pub text: String,
    /// More words about it.
    pub detail: String,
    /// How far it is.
    pub state: TodoState,
    /// When it came up.
    pub created: Option<Timestamp>,
    /// When it changed last.
    pub changed: Option<Timestamp>,
    /// How many turns had gone by when it came up.
    pub(crate) opened: usize,
    /// How many turns had gone by when it was begun first.
    pub(crate) begun: Option<usize>,
    /// What shows that it came up.
    pub opened_by: Evidence,
    /// What shows its present state.
    pub changed_by: Evidence,
}

/// The list, through all its changes.
///
/// An item that a new list leaves out is taken off it, unless the new list only
/// has other words for it: what is open is what the newest list says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Todos {
    items: Vec<Item>,
    /// How many turns had gone by when the list was given last.
    last_list: usize,
    vanished: Vec<(String, Evidence)>,
}

impl Todos {
    /// All items, in the order in which they came up.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Items that were taken off the list without a word, though the rest of it went on.
    pub(crate) fn vanished(&self) -> &[(String, Evidence)] {
        &self.vanished
    }

    /// Lets a change happen that worked; `by` names the turn, `prompted` says when a human spoke last.
    pub(crate) fn apply(&mut self, todo: &Todo, by: &Noted, session: Option<&str>, prompted: usize) {
        let evidence = |words: &str, state: TodoState| Evidence {
            session: session.map(str::to_owned),
            source: by.source.clone(),
            words: format!("{} in the agent's list: {words}", state_word(state)),
        };
        match todo {
            Todo::List(items) => {
                let is_same_task = prompted < self.last_list;
                self.last_list = by.number;
                self.note_vanished(items, is_same_task, by, session);
                self.replace(items, by, evidence);
            }
            Todo::Added(item) => self.add(item, by, evidence(&item.text, item.state)),
            Todo::Changed { id, state, text } => {
                let found = self.items.iter_mut().rev().find(|known| known.id.as_deref() == Some(id));
                let Some(known) = found else { return };
                if let Some(text) = text {
                    known.text.clone_from(text);
                }
                if let Some(state) = state {
                    let proof = evidence(&known.text, *state);
                    known.change(*state, by, proof);
                }
            }
        }
    }

    /// Notes which pending items a new list leaves out, though it goes on with the others and no human spoke between.
    fn note_vanished(&mut self, items: &[TodoItem], is_same_task: bool, by: &Noted, session: Option<&str>) {
        let is_there = |text: &str| items.iter().any(|item| item.text == text || is_alike(&item.text, text));
        self.vanished.retain(|(text, _)| !is_there(text));
        let known = self.items.iter().filter(|item| item.id.is_none());
        let goes_on = known.clone().any(|item| is_there(&item.text));
        // A list that goes on, or has new items, was planned anew; one that is all done without them was cut.
        let is_all_done = items.iter().all(|item| item.state == TodoState::Completed);
        if !is_same_task || !goes_on || !is_all_done {
            return;
        }
        let gone: Vec<&Item> = known
            .filter(|item| item.state == TodoState::Pending && item.begun.is_none() && !is_there(&item.text))
            .collect();
        // What went earlier was seen to be needless on the way; what goes with the last list was left.
        if !gone.is_empty() {
            self.vanished.clear();
        }
        for item in gone {
            let words = format!("no longer in the agent's list: {}", item.text);
            let by = Evidence { session: session.map(str::to_owned), source: by.source.clone(), words };
            self.vanished.push((item.text.clone(), by));
        }
        self.vanished.truncate(MOST_ITEMS);
    }

    /// Takes a list that stands in the place of the one before.
    fn replace(&mut self, items: &[TodoItem], by: &Noted, evidence: impl Fn(&str, TodoState) -> Evidence) {
        let items = &items[..items.len().min(MOST_ITEMS)];
        let is_open = |state| matches!(state, TodoState::Pending | TodoState::InProgress);
        let is_listed = |text: &str| items.iter().any(|item| item.text == text);
        for item in items {
            // Of two that say the same, the open one is what is left to do.
            if !is_open(item.state)
                && items.iter().any(|other| other.text == item.text && is_open(other.state))
            {
                continue;
            }
            let proof = evidence(&item.text, item.state);
            let ours = || self.items.iter().enumerate().rev().filter(|(_, known)| known.id.is_none());
            let same = ours().find(|(_, known)| known.text == item.text);
            let reworded = || {
                ours().find(|(_, known)| {
                    is_open(known.state) && !is_listed(&known.text) && is_alike(&known.text, &item.text)
                })
            };
            match same.or_else(reworded).map(|(index, _)| index) {
                Some(index) => {
                    self.items[index].text.clone_from(&item.text);
                    self.items[index].change(item.state, by, proof);
                }
                None => self.add(item, by, proof),
            }
        }
        let dropped =
            |known: &&mut Item| known.id.is_none() && is_open(known.state) && !is_listed(&known.text);
        for known in self.items.iter_mut().filter(dropped) {
            let proof = evidence(&known.text, TodoState::Deleted);
            known.change(TodoState::Deleted, by, proof);
        }
    }

    fn add(&mut self, item: &TodoItem, by: &Noted, proof: Evidence) {
        if MOST_ITEMS <= self.items.len() {
            return;
        }
        self.items.push(Item {
            id: item.id.clone(),
            text: item.text.clone(),
            detail: item.detail.clone(),
            state: item.state,
            created: by.at,
            changed: by.at,
            opened: by.number,
            begun: (item.state == TodoState::InProgress).then_some(by.number),
            opened_by: proof.clone(),
            changed_by: proof,
        });
    }
}

impl Item {
    fn change(&mut self, state: TodoState, by: &Noted, proof: Evidence) {
        if self.state == state {
            return;
        }
        self.state = state;
        self.changed = by.at;
        self.changed_by = proof;
        match state {
            TodoState::InProgress => self.begun = self.begun.or(Some(by.number)),
            // It comes up anew.
            TodoState::Pending => (self.opened, self.begun) = (by.number, None),
            TodoState::Completed | TodoState::Deleted => {}
        }
    }
}

fn state_word(state: TodoState) -> &'static str {
    match state {
        TodoState::Pending => "to do",
        TodoState::InProgress => "begun",
        TodoState::Completed => "done",
        TodoState::Deleted => "taken off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lists: &[&[(&str, TodoState)]]) -> Vec<(String, TodoState)> {
        let mut todos = Todos::default();
        for (number, list) in lists.iter().enumerate() {
            let item = |(text, state): &(&str, TodoState)| TodoItem {
                id: None,
                text: (*text).to_owned(),
                detail: String::new(),
                state: *state,
            };
            let list = Todo::List(list.iter().map(item).collect());
            todos.apply(&list, &Noted { number, ..Noted::default() }, None, usize::MAX);
        }
        todos.items().iter().map(|item| (item.text.clone(), item.state)).collect()
    }

    #[test]
    fn an_item_that_goes_missing_while_the_rest_goes_on_is_noted() {
        let vanished = |lists: &[&[(&str, TodoState)]], prompted: usize| {
            let mut todos = Todos::default();
            for (number, list) in (1..).zip(lists) {
                let item = |(text, state): &(&str, TodoState)| TodoItem {
                    id: None,
                    text: (*text).to_owned(),
                    detail: String::new(),
                    state: *state,
                };
                let list = Todo::List(list.iter().map(item).collect());
                todos.apply(&list, &Noted { number, ..Noted::default() }, None, prompted);
            }
            todos.vanished().iter().map(|(text, _)| text.clone()).collect::<Vec<_>>()
        };
        use TodoState::{Completed, Pending};
        let first = &[("Bound the queue", Pending), ("Measure the wait", Pending)];
        let without = &[("Bound the queue", Completed)];
        assert_eq!(vanished(&[first, without], 0), ["Measure the wait"]);
        let more =
            &[("Bound the queue", Pending), ("Measure the wait", Pending), ("Write the docs", Pending)];
        assert_eq!(vanished(&[more, first, without], 0), ["Measure the wait"]);
        // A human spoke between the lists, the list is another one, or it comes back.
        assert_eq!(vanished(&[first, without], 2), [] as [&str; 0]);
        assert_eq!(vanished(&[first, &[("Write a changelog", Pending)]], 0), [] as [&str; 0]);
        assert_eq!(
            vanished(
                &[first, without, &[("Bound the queue", Completed), ("Measure the wait", Completed)]],
                0
            ),
            [] as [&str; 0]
        );
    }

    #[test]
    fn the_newest_list_says_what_is_open() {
        use TodoState::{Completed, Deleted, InProgress, Pending};
        let check = |lists: &[&[(&str, TodoState)]], items: &[(&str, TodoState)]| {
            let items: Vec<_> = items.iter().map(|(text, state)| ((*text).to_owned(), *state)).collect();
            assert_eq!(after(lists), items, "{lists:?}");
        };
        let first =
            &[("Let acquire wait", Completed), ("Test the timeout", InProgress), ("Write docs", Pending)];
        let kept = ("Let acquire wait", Completed);
        check(&[first, &[]], &[kept, ("Test the timeout", Deleted), ("Write docs", Deleted)]);
        check(
            &[first, &[("Write docs", Completed)]],
            &[kept, ("Test the timeout", Deleted), ("Write docs", Completed)],
        );
        check(
            &[first, &[("Testing the timeouts", Pending), ("Write docs", Pending)]],
            &[kept, ("Testing the timeouts", Pending), ("Write docs", Pending)],
        );
        check(&[first, &[], first], first);
        check(
            &[&[("Run tests", Pending), ("Fix", Completed), ("Run tests", Completed)]],
            &[("Run tests", Pending), ("Fix", Completed)],
        );
        // Numbers tell items apart.
        check(
            &[&[("Do part 1", Pending)], &[("Do part 2", Pending)]],
            &[("Do part 1", Deleted), ("Do part 2", Pending)],
        );
    }
}
