//! A fingerprint of a change, to recognise it after a rewrite gave it another commit.

use std::collections::BTreeSet;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::{
    Lines, Sketch,
    code::{line_map::hunks, lines::is_substantive},
};

/// XXH3-128 over a change's files, each with its path, removed and added lines, white space left out
/// (DESIGN section 3). Files must be added in order of path.
pub struct PatchId {
    /// Of a text that nobody has to hold: a change may be larger than the memory.
    hasher: XxHash3_128,
    line: Vec<u8>,
    is_empty: bool,
    /// The same as if the files were in other directories.
    moved: Vec<(Moved, XxHash3_128)>,
}

/// Another directory for all files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Moved {
    /// Below this one.
    Into(Vec<u8>),
    /// Out of this one, which all are in.
    OutOf(Vec<u8>),
}

impl Moved {
    fn path(&self, path: &[u8]) -> Vec<u8> {
        match self {
            Self::Into(directory) => [directory, &b"/"[..], path].concat(),
            Self::OutOf(directory) => path.get(directory.len() + 1..).unwrap_or(path).to_vec(),
        }
    }
}

impl Default for PatchId {
    fn default() -> Self {
        Self { hasher: XxHash3_128::new(), line: Vec::new(), is_empty: true, moved: Vec::new() }
    }
}

impl PatchId {
    /// A fingerprint, and those of the same change as if the files were elsewhere, too.
    #[must_use]
    pub fn with_moved(moved: impl IntoIterator<Item = Moved>) -> Self {
        let moved = moved.into_iter().map(|moved| (moved, XxHash3_128::new())).collect();
        Self { moved, ..Self::default() }
    }

    /// Adds the change of one file; `wrote` is given the lines it wrote that say something.
    pub fn add(&mut self, path: &[u8], old: &Lines<'_>, new: &Lines<'_>, mut wrote: impl FnMut(Written<'_>)) {
        self.is_empty = false;
        self.set_line(b'@', path);
        self.hasher.write(&self.line);
        for number in 0..self.moved.len() {
            let path = self.moved[number].0.path(path);
            self.set_line(b'@', &path);
            self.moved[number].1.write(&self.line);
        }
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
        self.set_line(sign, line);
        self.hasher.write(&self.line);
        self.moved.iter_mut().for_each(|(_, hasher)| hasher.write(&self.line));
    }

    fn set_line(&mut self, sign: u8, line: &[u8]) {
        self.line.clear();
        self.line.push(sign);
        self.line.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        self.line.push(b'\n');
    }

    /// The fingerprints of the change elsewhere, in the order in which the places were given.
    pub fn finish_moved(&self) -> impl Iterator<Item = String> {
        self.moved.iter().map(|(_, hasher)| format!("{:032x}", hasher.finish_128()))
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
    fn a_change_has_the_fingerprint_that_it_has_in_another_directory() {
        let (old, new) = (Lines::new(b"a\nb\n"), Lines::new(b"a\nc\n"));
        let id = |paths: [&[u8]; 2], moved: Vec<Moved>| {
            let mut id = PatchId::with_moved(moved);
            paths.into_iter().for_each(|path| id.add(path, &old, &new, |_| {}));
            (id.finish(), id.finish_moved().collect::<Vec<_>>())
        };
        let (above, _) = id([b"a.rs", b"x/b.rs"], Vec::new());
        let (below, _) = id([b"sub/a.rs", b"sub/x/b.rs"], Vec::new());
        assert_ne!(above, below);
        let into = Moved::Into(b"sub".to_vec());
        assert_eq!(id([b"a.rs", b"x/b.rs"], vec![into.clone(), into]).1, [below.clone(), below.clone()]);
        let out = Moved::OutOf(b"sub".to_vec());
        assert_eq!(id([b"sub/a.rs", b"sub/x/b.rs"], vec![out]), (below, vec![above]));
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
