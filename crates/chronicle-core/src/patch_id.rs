//! A fingerprint of a change, to recognise it after a rewrite gave it another commit.

use twox_hash::XxHash3_128;

use crate::{Lines, line_map::hunks};

/// XXH3-128 over a change's files, each with its path, removed and added lines, white space left out
/// (DESIGN section 3). Files must be added in order of path.
#[derive(Default)]
pub struct PatchId {
    text: Vec<u8>,
}

impl PatchId {
    /// Adds the change of one file.
    pub fn add(&mut self, path: &[u8], old: &Lines<'_>, new: &Lines<'_>) {
        self.push(b'@', path);
        let hunks = hunks(old.all(), new.all());
        for line in hunks.iter().flat_map(|(removed, _)| removed.clone()) {
            self.push(b'-', old.all()[line as usize]);
        }
        for line in hunks.iter().flat_map(|(_, added)| added.clone()) {
            self.push(b'+', new.all()[line as usize]);
        }
    }

    fn push(&mut self, sign: u8, line: &[u8]) {
        self.text.push(sign);
        self.text.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        self.text.push(b'\n');
    }

    /// The fingerprint, as 32 hex digits.
    #[must_use]
    pub fn finish(&self) -> String {
        format!("{:032x}", XxHash3_128::oneshot(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(old: &str, new: &str) -> String {
        let mut id = PatchId::default();
        id.add(b"a.rs", &Lines::new(old.as_bytes()), &Lines::new(new.as_bytes()));
        id.finish()
    }

    #[test]
    fn the_same_change_elsewhere_in_the_file_has_the_same_fingerprint() {
        assert_eq!(id("a\nb\n", "a\nc\n"), id("x\ny\na\nb\n", "x\ny\na\n  c\n"));
        assert_ne!(id("a\nb\n", "a\nc\n"), id("a\nb\n", "a\nd\n"));
    }
}
