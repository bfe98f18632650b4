//! A fingerprint of a change, to recognise it after a rewrite gave it another commit.

use std::collections::BTreeSet;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::{Lines, Sketch, line_map::hunks, lines::is_substantive};

/// XXH3-128 over a change's files, each with its path, removed and added lines, white space left out
/// (DESIGN section 3). Files must be added in order of path.
#[derive(Default)]
pub struct PatchId {
    text: Vec<u8>,
    wrote: BTreeSet<u32>,
}

/// Lines of a change that its sketch keeps.
const MAX_SKETCHED: usize = 16;

impl PatchId {
    /// Adds the change of one file.
    pub fn add(&mut self, path: &[u8], old: &Lines<'_>, new: &Lines<'_>) {
        self.push(b'@', path);
        let hunks = hunks(old.all(), new.all());
        for line in hunks.iter().flat_map(|(removed, _)| removed.clone()) {
            self.push(b'-', old.all()[line as usize]);
        }
        for line in hunks.iter().flat_map(|(_, added)| added.clone()) {
            let line = new.all()[line as usize];
            self.push(b'+', line);
            if is_substantive(line) {
                self.wrote.insert(written_word(path, line));
            }
        }
    }

    /// Whether no file was changed at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The words of the lines that the change wrote and that say something.
    #[must_use]
    pub fn wrote(&self) -> &BTreeSet<u32> {
        &self.wrote
    }

    /// A few of the words that the change wrote, always the same few; `None` when it wrote nothing.
    #[must_use]
    pub fn sketch(&self) -> Option<Sketch> {
        (!self.wrote.is_empty()).then(|| Sketch::of_words(self.wrote.iter().copied().take(MAX_SKETCHED)))
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

/// The word of a line that a change wrote, the same wherever its file was moved to.
fn written_word(path: &[u8], line: &[u8]) -> u32 {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let text = [name, b"\0", line.trim_ascii()].concat();
    u32::try_from(XxHash3_64::oneshot(&text) & u64::from(u32::MAX)).expect("masked to 32 bits")
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
