//! The texts that are open in the editor.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use gen_lsp_types::TextDocumentContentChangeEvent as Change;

use crate::{
    text::{Encoding, TextLines},
    uri::{path_of, real},
};

/// A longer text is no code that anyone noted a lesson on. Reads of files have the same bound.
const MAX_BYTES: u64 = chronicle::files::MAX_BYTES;

/// More open texts than this are those of no editor.
const MAX_OPEN: usize = 10_000;

/// A text as it is in the editor. A copy of it shares the text.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// As the client names it.
    pub(crate) uri: String,
    /// Where the file is, or would be.
    pub(crate) path: PathBuf,
    pub(crate) version: i32,
    /// The text; empty where it is longer than what is looked at.
    pub(crate) text: Arc<String>,
    /// Whether nothing is answered of it.
    pub(crate) is_opaque: bool,
}

impl Document {
    pub(crate) fn lines(&self, encoding: Encoding) -> TextLines<'_> {
        TextLines::new(&self.text, encoding)
    }

    fn set(&mut self, text: String) {
        self.is_opaque = MAX_BYTES < text.len() as u64 || text.contains('\0');
        self.text = Arc::new(if self.is_opaque { String::new() } else { text });
    }
}

/// All open texts, by what the client calls them.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<String, Document>,
}

impl Documents {
    /// Takes in a text that was opened. What is no file is not looked at.
    pub(crate) fn open(&mut self, uri: String, version: i32, text: String) {
        let Some(path) = path_of(&uri) else { return };
        if MAX_OPEN <= self.open.len() && !self.open.contains_key(&uri) {
            return;
        }
        // A link is not the file that it leads to.
        let path = real(path);
        let mut document =
            Document { uri: uri.clone(), path, version, text: Arc::default(), is_opaque: false };
        document.set(text);
        self.open.insert(uri, document);
    }

    /// Changes a text; returns whether it is open.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<Change>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = self.open.get_mut(uri) else { return false };
        document.version = version;
        for change in changes {
            match change {
                Change::TextDocumentContentChangeWholeDocument(whole) => document.set(whole.text),
                // What was too long is known again once all of it is sent.
                Change::TextDocumentContentChangePartial(_) if document.is_opaque => {}
                Change::TextDocumentContentChangePartial(part) => {
                    let bytes = document.lines(encoding).bytes(part.range);
                    let text = Arc::make_mut(&mut document.text);
                    text.replace_range(bytes, &part.text);
                    if MAX_BYTES < text.len() as u64 || part.text.contains('\0') {
                        document.set("\0".to_owned());
                    }
                }
            }
        }
        true
    }

    /// Forgets a text.
    pub(crate) fn close(&mut self, uri: &str) {
        self.open.remove(uri);
    }

    pub(crate) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Document> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{
        Position, Range, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument,
    };

    use super::*;

    fn part(from: (u32, u32), to: (u32, u32), text: &str) -> Change {
        let position = |(line, character)| Position { line, character };
        let range = Range { start: position(from), end: position(to) };
        #[expect(deprecated, reason = "the field has to be given")]
        let part = TextDocumentContentChangePartial { range, range_length: None, text: text.to_owned() };
        Change::TextDocumentContentChangePartial(part)
    }

    fn whole(text: String) -> Change {
        Change::TextDocumentContentChangeWholeDocument(TextDocumentContentChangeWholeDocument { text })
    }

    fn changed(before: &str, changes: Vec<Change>) -> (String, bool) {
        let mut documents = Documents::default();
        documents.open("file:///a.rs".to_owned(), 1, before.to_owned());
        assert!(documents.change("file:///a.rs", 2, changes, Encoding::Utf16));
        let document = documents.get("file:///a.rs").expect("it is open");
        assert_eq!(document.version, 2);
        (document.text.to_string(), document.is_opaque)
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let check = |before: &str, changes: Vec<Change>, expected: &str| {
            assert_eq!(changed(before, changes), (expected.to_owned(), false));
        };
        check("one\ntwo\n", vec![part((0, 0), (0, 3), "1"), part((0, 1), (1, 0), "+")], "1+two\n");
        check("a\u{1f980}b", vec![part((0, 3), (0, 4), "c")], "a\u{1f980}c");
        check("a", vec![part((7, 7), (9, 9), "b")], "ab");
        check("a", vec![part((0, 0), (0, 1), "b"), whole("c".to_owned())], "c");
        check("", vec![part((0, 0), (0, 0), "x\ny")], "x\ny");
    }

    #[test]
    fn what_is_too_long_or_binary_is_not_kept() {
        let long = "x".repeat(usize::try_from(MAX_BYTES).expect("it fits") + 1);
        assert_eq!(changed("a", vec![whole(long.clone())]), (String::new(), true));
        assert_eq!(changed("a", vec![part((0, 0), (0, 0), &long)]), (String::new(), true));
        assert_eq!(changed("a", vec![part((0, 1), (0, 1), "\0")]), (String::new(), true));
        assert_eq!(changed("a\0", vec![part((0, 0), (0, 0), "b")]), (String::new(), true));
        assert_eq!(changed("a\0", vec![whole("b".to_owned())]), ("b".to_owned(), false));
    }

    #[test]
    fn what_is_no_file_or_not_open_is_passed_over() {
        let mut documents = Documents::default();
        for uri in ["untitled:Untitled-1", "git:/a.rs", "file://other/a.rs", "", "file:a"] {
            documents.open(uri.to_owned(), 1, String::new());
            assert!(documents.get(uri).is_none(), "{uri}");
        }
        assert!(!documents.change("file:///a.rs", 2, vec![whole(String::new())], Encoding::Utf8));
        documents.close("file:///a.rs");
        assert_eq!(documents.all().count(), 0);
    }
}
