//! The texts of files as a model may see them: without secrets, without control characters, line by line.

use std::{cell::RefCell, rc::Rc};

use chronicle_core::{is_binary, redaction::cleaned_in_lines};
use chronicle_git::{ObjectId, Repository};
use chronicle_workplace::Error;

/// A larger version of a file is data, and named only.
pub(crate) const MOST_BYTES: u64 = 4 << 20;

/// Texts that are kept for the next look, in bytes.
const MOST_KEPT: usize = 16 << 20;

/// The text of one version of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    text: String,
    /// Where each line ends, its line end left out.
    ends: Vec<usize>,
}

impl Text {
    fn of(content: &[u8]) -> Self {
        let text = String::from_utf8_lossy(content);
        let text = cleaned_in_lines(&text).into_owned();
        let body = text.strip_suffix('\n').unwrap_or(&text).len();
        let mut ends: Vec<usize> = text[..body].match_indices('\n').map(|(at, _)| at).collect();
        if !text.is_empty() {
            ends.push(body);
        }
        Self { text, ends }
    }

    #[cfg(test)]
    pub(crate) fn for_test(content: &[u8]) -> Self {
        Self::of(content)
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// A line, counted from 1; empty where there is none.
    pub(crate) fn line(&self, number: u32) -> &str {
        let at = (number as usize).wrapping_sub(1);
        let Some(end) = self.ends.get(at) else { return "" };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..*end]
    }
}

/// The texts of a repository, the last ones kept.
pub(crate) struct Texts<'r> {
    repository: &'r Repository,
    known: RefCell<Vec<(ObjectId, Rc<Text>)>>,
}

impl<'r> Texts<'r> {
    pub(crate) fn new(repository: &'r Repository) -> Self {
        Self { repository, known: RefCell::default() }
    }

    /// Forgets what was kept.
    pub(crate) fn forget(&self) {
        self.known.borrow_mut().clear();
    }

    /// The text of a blob; `None` where it is none, is too large to be one, or is not here.
    pub(crate) fn of(&self, blob: ObjectId) -> Result<Option<Rc<Text>>, Error> {
        if let Some((_, text)) = self.known.borrow().iter().find(|(id, _)| *id == blob) {
            return Ok(Some(Rc::clone(text)));
        }
        if self.repository.size_if_here(blob)?.is_none_or(|size| MOST_BYTES < size) {
            return Ok(None);
        }
        let read =
            self.repository.with_blob(blob, |content| (!is_binary(content)).then(|| Text::of(content)))?;
        let Some(text) = read.flatten().map(Rc::new) else { return Ok(None) };
        let mut known = self.known.borrow_mut();
        known.push((blob, Rc::clone(&text)));
        let mut n_bytes: usize = known.iter().map(|(_, text)| text.text.len()).sum();
        while MOST_KEPT < n_bytes && 1 < known.len() {
            n_bytes -= known.remove(0).1.text.len();
        }
        Ok(Some(text))
    }

    /// The text of the older or newer version of a file; empty where there is no such version.
    pub(crate) fn version(&self, blob: Option<ObjectId>) -> Result<Rc<Text>, Error> {
        Ok(blob.map(|blob| self.of(blob)).transpose()?.flatten().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_several_lines_keeps_the_lines_behind_it_where_they_are() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq2hY7kJ3dLq9Zx\nq8v1s2t3u4v5w6x7y8z9A0B1C2D3E4F5\n-----END RSA PRIVATE KEY-----";
        let text = Text::of(format!("first\n{key}\nlast\n").as_bytes());
        assert_eq!((text.count(), text.line(1), text.line(6)), (6, "first", "last"));
        assert!(!text.text.contains("MIIEp"), "{text:?}");
        let empty = Text::of(b"");
        assert_eq!((empty.count(), empty.line(1), empty.line(0)), (0, "", ""));
    }
}
