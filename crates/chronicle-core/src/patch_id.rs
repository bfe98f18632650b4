//! A fingerprint of a change, to recognise it after a rewrite gave it another commit.

use std::collections::BTreeSet;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::{Lines, Sketch, line_map::hunks, lines::is_substantive};

/// XXH3-128 over a change's files, each with its path, removed and added lines, white space left out
/// (DESIGN section 3). Files must be added in order of path.
pub struct PatchId {
    /// Of a text that nobody has to hold: a change may be larger than the memory.
    hasher: XxHash3_128,
    line: Vec<u8>,
    is_empty: bool,
    wrote: BTreeSet<u32>,
}

impl Default for PatchId {
    fn default() -> Self {
        Self { hasher: XxHash3_128::new(), line: Vec::new(), is_empty: true, wrote: BTreeSet::new() }
    }
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
        self.is_empty
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
        self.line.clear();
        self.line.push(sign);
        self.line.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        self.line.push(b'\n');
        self.hasher.write(&self.line);
        self.is_empty = false;
    }

    /// The fingerprint, as 32 hex digits.
    #[must_use]
    pub fn finish(&self) -> String {
        format!("{:032x}", self.hasher.finish_128())
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

    #[test]
    fn the_fingerprint_is_that_of_the_whole_text() {
        let lines: Vec<String> = (0..500).map(|number| format!("line {number} of many")).collect();
        let text: String = lines.iter().map(|line| format!("+{}\n", line.replace(' ', ""))).collect();
        let whole = XxHash3_128::oneshot(format!("@a.rs\n{text}").as_bytes());
        assert_eq!(id("", &format!("{}\n", lines.join("\n"))), format!("{whole:032x}"));
    }
}
