//! One line for people: what is open, and whether the last commit says why it was made.

use std::fmt::Write;

use chronicle_git::NOTES_REF;
use chronicle_memory::Scope;

use crate::Chronicle;

/// What stands in an agent's status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusLine {
    /// How many threads are open: high, medium and low.
    pub open: [u32; 3],
    /// Whether HEAD carries no annotation, in a repository where others do.
    pub is_unannotated: bool,
}

impl Chronicle {
    /// What to know at a glance. What cannot be looked up is left out: agents ask for it all the time.
    #[must_use]
    pub fn status_line(&self) -> StatusLine {
        StatusLine { open: self.open_here().unwrap_or_default(), is_unannotated: self.is_unannotated() }
    }

    fn open_here(&self) -> Option<[u32; 3]> {
        let memory = self.memory().open().ok()??;
        let Scope::One(project) = self.memory().memory_scope(&memory, None, false).ok()? else { return None };
        memory.store.n_open_by_priority(project.id, self.workplace.now()).ok()
    }

    fn is_unannotated(&self) -> bool {
        let Some(glance) = self.workplace.glance().filter(|glance| !glance.notes.is_empty()) else {
            return false;
        };
        let note = self.workplace.repository().map(|repository| repository.note(NOTES_REF, glance.head));
        matches!(note, Ok(Ok(None)))
    }
}

impl StatusLine {
    /// The line; empty when there is nothing to say.
    #[must_use]
    pub fn text(&self) -> String {
        let mut line = String::new();
        let n_open: u32 = self.open.iter().sum();
        if 0 < n_open {
            let named = ["high", "medium", "low"].into_iter().zip(self.open).filter(|(_, n)| 0 < *n);
            let parts: Vec<String> = named.map(|(name, n)| format!("{n} {name}")).collect();
            let _ = write!(line, "chronicle: {n_open} open ({})", parts.join(", "));
        }
        if self.is_unannotated {
            let between = if line.is_empty() { "chronicle: " } else { " · " };
            let _ = write!(line, "{between}HEAD not annotated");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_there_is() {
        let line = |open, is_unannotated| StatusLine { open, is_unannotated }.text();
        assert_eq!(line([0, 0, 0], false), "");
        assert_eq!(line([0, 0, 0], true), "chronicle: HEAD not annotated");
        assert_eq!(line([2, 0, 1], true), "chronicle: 3 open (2 high, 1 low) · HEAD not annotated");
    }
}
