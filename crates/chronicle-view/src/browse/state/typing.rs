//! A line of text that the user types.

/// What a typed text is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Rows or lines are looked for.
    Search,
    /// Why a lesson is doubted.
    Flag { id: String },
    /// How a thread was closed.
    Close { id: String, is_done: bool },
}

/// A line of text that the user types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typing {
    pub(crate) purpose: Purpose,
    pub(crate) text: String,
}

impl Typing {
    pub(crate) fn label(&self) -> &'static str {
        match self.purpose {
            Purpose::Search => "find: ",
            Purpose::Flag { .. } => "flag, because: ",
            Purpose::Close { is_done: true, .. } => "done, note (may be empty): ",
            Purpose::Close { is_done: false, .. } => "won't do, because (may be empty): ",
        }
    }

    /// Adds what was typed or pasted; only letters, no keys.
    pub(crate) fn add(&mut self, text: &str) {
        const LONGEST: usize = 1_000;
        let room = LONGEST.saturating_sub(self.text.len());
        self.text.extend(text.chars().filter(|c| !c.is_control()).take(room));
    }
}
