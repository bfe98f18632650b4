//! What we put into a text of somebody else's, and how it is taken out again to the byte.
//!
//! Everything that is put in is a piece of text at a place; nothing is ever taken away or laid out
//! anew. So what was put in can be remembered without remembering a word of what was there.

use serde::{Deserialize, Serialize};

/// One piece of text that was put in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edit {
    /// Where, in bytes, in the text as it was then.
    pub(super) at: usize,
    /// What.
    pub(super) text: String,
}

/// A text, and what was put into it, in that order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) text: String,
    pub(super) edits: Vec<Edit>,
}

impl Edited {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), edits: Vec::new() }
    }

    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        let text = text.into();
        self.text.insert_str(at, &text);
        self.edits.push(Edit { at, text });
    }
}

/// `text` without `edits`, if all of them are where they were put.
pub(super) fn undone(text: &str, edits: &[Edit]) -> Option<String> {
    let mut rest = text.to_owned();
    for edit in edits.iter().rev() {
        if !rest.get(edit.at..)?.starts_with(&edit.text) {
            return None;
        }
        rest.replace_range(edit.at..edit.at + edit.text.len(), "");
    }
    Some(rest)
}

/// `text` without `edits`, wherever they are now, if each of them is there once.
///
/// What comes back need not hold together any more: somebody may have leant on what we put in.
pub(super) fn undone_anywhere(text: &str, edits: &[Edit]) -> Option<String> {
    let mut rest = text.to_owned();
    for edit in edits.iter().rev() {
        // A comma, say, may be anyone's: without its place it cannot be told from others.
        let at = match edit.text.contains(super::ours::SERVER_NAME) {
            true => rest.find(&edit.text)?,
            false => edit.at,
        };
        let behind = rest.get(at..)?.strip_prefix(edit.text.as_str())?;
        if at != edit.at && behind.contains(&edit.text) {
            return None;
        }
        rest.replace_range(at..at + edit.text.len(), "");
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_goes_and_nothing_else() {
        let mut edited = Edited::new("a\nc\n");
        edited.insert(2, "chronicle b\n");
        edited.insert(2, "chronicle a\n");
        assert_eq!(edited.text, "a\nchronicle a\nchronicle b\nc\n");
        assert_eq!(undone(&edited.text, &edited.edits).as_deref(), Some("a\nc\n"));
        let moved = format!("0\n{}", edited.text);
        assert_eq!(undone(&moved, &edited.edits), None);
        assert_eq!(undone_anywhere(&moved, &edited.edits).as_deref(), Some("0\na\nc\n"));
        let twice = format!("{moved}{}", edited.text);
        assert_eq!(undone_anywhere(&twice, &edited.edits), None);
    }
}
