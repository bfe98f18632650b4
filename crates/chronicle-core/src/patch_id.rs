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
}

impl Default for PatchId {
    fn default() -> Self {
        Self { hasher: XxHash3_128::new(), line: Vec::new(), is_empty: true }
    }
}

impl PatchId {
    /// Adds the change of one file; `wrote` is given the lines it wrote that say something.
    pub fn add(&mut self, path: &[u8], old: &Lines<'_>, new: &Lines<'_>, mut wrote: impl FnMut(Written<'_>)) {
        self.push(b'@', path);
        let hunks = hunks(old.all(), new.all());
        for line in hunks.iter().flat_map(|(removed, _)| removed.clone()) {
            self.push(b'-', old.all()[line as usize]);
        }
        for index in hunks.iter().flat_map(|(_, added)| added.clone()) {
            let text = new.all()[index as usize];
            self.push(b'+', text);
            if is_substantive(text) {
                wrote(Written { path, number: index + 1, text });
            }
        }
    }

    /// Whether no file was changed at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_empty
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

/// A line that a change wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'a> {
    /// The file that it is in.
    pub path: &'a [u8],
    /// Its number there.
    pub number: u32,
    /// The line itself.
    pub text: &'a [u8],
}

impl Written<'_> {
    /// The word of the line, the same wherever its file was moved to.
    #[must_use]
    pub fn word(&self) -> u32 {
        let name = self.path.rsplit(|byte| *byte == b'/').next().unwrap_or(self.path);
        let text = [name, b"\0", self.text.trim_ascii()].concat();
        u32::try_from(XxHash3_64::oneshot(&text) & u64::from(u32::MAX)).expect("masked to 32 bits")
    }
}

/// A few of the words of lines that a change wrote: always the same few, in whatever order they come.
#[derive(Debug, Default)]
pub struct Wrote(BTreeSet<u32>);

/// Lines of a change that its sketch keeps.
const MAX_SKETCHED: usize = 16;

impl Wrote {
    /// Adds a word.
    pub fn add(&mut self, word: u32) {
        if self.0.len() == MAX_SKETCHED && self.0.last().is_some_and(|last| *last <= word) {
            return;
        }
        self.0.insert(word);
        if self.0.len() > MAX_SKETCHED {
            self.0.pop_last();
        }
    }

    /// The sketch of them; `None` of a change that wrote nothing.
    #[must_use]
    pub fn sketch(&self) -> Option<Sketch> {
        (!self.0.is_empty()).then(|| Sketch::of_words(self.0.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(old: &str, new: &str) -> String {
        let mut id = PatchId::default();
        id.add(b"a.rs", &Lines::new(old.as_bytes()), &Lines::new(new.as_bytes()), |_| {});
        id.finish()
    }

    #[test]
    fn the_same_change_elsewhere_in_the_file_has_the_same_fingerprint() {
        assert_eq!(id("a\nb\n", "a\nc\n"), id("x\ny\na\nb\n", "x\ny\na\n  c\n"));
        assert_ne!(id("a\nb\n", "a\nc\n"), id("a\nb\n", "a\nd\n"));
    }

    #[test]
    fn the_least_words_are_kept_once_each() {
        let sketch = |words: &mut dyn Iterator<Item = u32>| {
            let mut wrote = Wrote::default();
            words.for_each(|word| wrote.add(word));
            wrote.sketch()
        };
        let least = sketch(&mut (0..16));
        assert_eq!(sketch(&mut (0..1000).rev().chain(3..20)), least);
        assert_eq!(sketch(&mut (0..1000).chain(0..1000)), least);
        assert_eq!(sketch(&mut std::iter::empty()), None);
    }

    #[test]
    fn the_fingerprint_is_that_of_the_whole_text() {
        let lines: Vec<String> = (0..500).map(|number| format!("line {number} of many")).collect();
        let text: String = lines.iter().map(|line| format!("+{}\n", line.replace(' ', ""))).collect();
        let whole = XxHash3_128::oneshot(format!("@a.rs\n{text}").as_bytes());
        assert_eq!(id("", &format!("{}\n", lines.join("\n"))), format!("{whole:032x}"));
    }
}
