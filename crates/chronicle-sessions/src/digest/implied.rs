//! Items that were done without being ticked off.
//!
//! Agents work down their lists. Who goes on to the next item after some work
//! that succeeded, or ends with a last word after it, is done with the one
//! before. That only proposes: the agent's own word is better.

use crate::digest::endings::{broken_checks, question};
use crate::journal::Journal;
use crate::journal::todos::Item;
use crate::turn::TodoState;

/// An open item that looks done, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implied<'j> {
    /// The item.
    pub item: &'j Item,
    /// What shows it.
    pub words: String,
}

/// The open items that look done at the end of the journal.
#[must_use]
pub fn implied(journal: &Journal) -> Vec<Implied<'_>> {
    let items = journal.todos().items();
    let is_ended = ends_well(journal);
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let is_open = matches!(item.state, TodoState::Pending | TodoState::InProgress);
        if !is_open {
            continue;
        }
        let start = item.begun.unwrap_or(item.opened);
        let is_later = |other: usize| item.begun.is_some() || index < other;
        let next = items.iter().enumerate().filter(|(other, _)| is_later(*other)).find(|(_, other)| {
            other.begun.is_some_and(|begun| start < begun && journal.worked(start, begun))
        });
        let is_passed =
            || is_check(&item.text) && item.begun.is_some_and(|begun| journal.passed_after(begun));
        let words = if let Some((_, next)) = next {
            format!("work went on to “{}”", next.text)
        } else if is_passed() {
            "all checks passed after it was begun".to_owned()
        } else if is_ended && journal.worked(start, usize::MAX) {
            "the session ended with a last word after some work on it".to_owned()
        } else {
            continue;
        };
        found.push(Implied { item, words });
    }
    found
}

/// Whether the agent had the last word, asked nothing and left nothing broken.
fn ends_well(journal: &Journal) -> bool {
    let Some(said) = journal.last_said.as_ref().filter(|said| journal.is_last_word(said)) else {
        return false;
    };
    // Who asks whether to commit is done.
    let asks = question(said).is_some_and(|question| !question.summary.contains("commit"));
    !asks && broken_checks(journal).is_empty()
}

/// Whether an item is to run the checks.
fn is_check(text: &str) -> bool {
    let text = text.to_lowercase();
    text.starts_with("run ") && ["test", "lint", "check", "build"].iter().any(|word| text.contains(word))
}
