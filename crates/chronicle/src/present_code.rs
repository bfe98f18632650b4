//! Lines of code as they are now, to be shown next to what is said of them.

use std::{cell::RefCell, collections::HashMap};

use chronicle_core::{
    LineRange, Lines,
    redaction::{cleaned_in_lines, gated},
};
use chronicle_git::ByteSlice;

use crate::Chronicle;

/// Shows lines of files as they are now; each file is read once.
pub struct PresentCode<'c> {
    chronicle: &'c Chronicle,
    files: RefCell<HashMap<String, Option<Vec<u8>>>>,
}

impl Chronicle {
    /// Lines of the files of this repository.
    #[must_use]
    pub fn present_code(&self) -> PresentCode<'_> {
        PresentCode { chronicle: self, files: RefCell::default() }
    }
}

impl PresentCode<'_> {
    /// The first of `lines` that has letters, with its number; none where the file or the lines are not there, or say
    /// nothing.
    #[must_use]
    pub fn line(&self, file: &str, lines: LineRange) -> Option<(u32, String)> {
        let mut files = self.files.borrow_mut();
        let content = files.entry(file.to_owned()).or_insert_with(|| self.content(file)).as_deref()?;
        let all = Lines::new(content);
        if all.is_binary() {
            return None;
        }
        let numbered = (lines.start..=lines.end).zip(all.of(lines));
        let has_letters = |line: &[u8]| line.iter().any(u8::is_ascii_alphanumeric) || !line.is_ascii();
        let mut telling = numbered.filter(|(_, line)| has_letters(line));
        telling.next().map(|(number, line)| (number, gated(&line.to_str_lossy())))
    }

    /// All lines of a file, for a person at a terminal; none where it is not there or no text.
    #[must_use]
    pub fn lines(&self, file: &str) -> Option<Vec<String>> {
        let mut files = self.files.borrow_mut();
        let content = files.entry(file.to_owned()).or_insert_with(|| self.content(file)).as_deref()?;
        if Lines::new(content).is_binary() {
            return None;
        }
        let text = content.to_str_lossy();
        let safe = cleaned_in_lines(&text);
        Some(safe.split_terminator('\n').map(str::to_owned).collect())
    }

    fn content(&self, file: &str) -> Option<Vec<u8>> {
        let repository = self.chronicle.workplace.repository().ok()?;
        let head = repository.head().ok()?;
        Some(repository.present_file(head, file.as_bytes().as_bstr()).ok()??.content)
    }
}
