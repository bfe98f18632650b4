//! The agent's own list of what is to do: structured, and therefore exact.

use jiff::Timestamp;

use chronicle_core::thread::Evidence;

use crate::journal::Noted;
use crate::turn::{Todo, TodoItem, TodoState};

/// How many items of one session are kept.
const MOST_ITEMS: usize = 2_000;

/// An item of the list, as its last change left it.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Whether the newest list still has it.
    pub is_listed: bool,
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
/// An item that a new list leaves out stays as it was: work that silently drops
/// off a list is the very work that gets forgotten.
#[derive(Debug, Clone, Default)]
pub struct Todos {
    items: Vec<Item>,
}

impl Todos {
    /// All items, in the order in which they came up.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Lets a change happen that worked; `by` names the turn.
    pub(crate) fn apply(&mut self, todo: &Todo, by: &Noted, session: Option<&str>) {
        let evidence = |words: &str, state: TodoState| Evidence {
            session: session.map(str::to_owned),
            source: by.source.clone(),
            words: format!("{} in the agent's list: {words}", state_word(state)),
        };
        match todo {
            Todo::List(items) => {
                for known in self.items.iter_mut().filter(|known| known.id.is_none()) {
                    known.is_listed = false;
                }
                for item in items {
                    let proof = evidence(&item.text, item.state);
                    match self
                        .items
                        .iter_mut()
                        .rev()
                        .find(|known| known.id.is_none() && known.text == item.text)
                    {
                        Some(known) => {
                            known.is_listed = true;
                            known.change(item.state, by, proof);
                        }
                        None => self.add(item, by, proof),
                    }
                }
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
            is_listed: true,
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
