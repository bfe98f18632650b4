//! Remarks made while working, kept for the next annotation.

use std::path::PathBuf;

use chronicle_commits::{StagedRemark, Staging, input::wash};
use chronicle_core::{Category, LineRange, Lines, Sketch};
use chronicle_git::ByteSlice;
use chronicle_workplace::{
    Error,
    error::{EmptyRemarkSnafu, FileNotFoundSnafu, LinesNeedOneFileSnafu, LinesPastEndSnafu},
};

use crate::Chronicle;

/// A remark to keep.
#[derive(Debug, Clone)]
pub struct NoteCommand {
    /// The remark.
    pub text: String,
    /// What kind of lesson it is; an insight unless said otherwise.
    pub category: Option<Category>,
    /// The file it is about.
    pub file: Option<PathBuf>,
    /// Lines of the file as it is now.
    pub lines: Option<LineRange>,
}

impl Chronicle {
    /// Keeps a remark for the commit that is being worked on.
    ///
    /// Returns it as it was kept, and the kinds of secrets that were taken out.
    ///
    /// # Errors
    /// When it is empty, names what is not there, or cannot be written.
    pub fn note(&self, command: &NoteCommand) -> Result<(StagedRemark, Vec<String>), Error> {
        let (text, redacted) = wash(&command.text);
        let text = text.trim().to_owned();
        snafu::ensure!(!text.is_empty(), EmptyRemarkSnafu);
        let head = self.workplace.repository()?.head()?;
        let mut remark = StagedRemark {
            timestamp: self.workplace.now().to_string(),
            text,
            id: Some(chronicle_workplace::new_id()),
            head: head.map(|id| id.to_string()),
            category: command.category,
            file: None,
            lines: None,
            sketch: None,
        };
        match (&command.file, command.lines) {
            (Some(path), lines) => {
                let shown = || path.to_string_lossy().escape_debug().to_string();
                let candidates =
                    self.workplace.repository()?.root_relative(self.workplace.directory(), path)?;
                let mut found = None;
                self.workplace
                    .repository()?
                    .fetch_present(head, candidates.iter().map(|path| path.as_bstr()))?;
                for candidate in candidates {
                    if let Some(file) =
                        self.workplace.repository()?.present_file(head, candidate.as_bstr())?
                    {
                        found = Some((candidate, file));
                        break;
                    }
                }
                let Some((path, file)) = found else { return FileNotFoundSnafu { path: shown() }.fail() };
                let present = Lines::new(&file.content);
                if let Some(lines) = lines {
                    snafu::ensure!(present.has(lines), LinesPastEndSnafu { lines, n_lines: present.count() });
                    remark.sketch = Some(Sketch::of(&present, lines));
                }
                remark.file = Some(path.to_string());
                remark.lines = lines;
            }
            (None, Some(_)) => return LinesNeedOneFileSnafu.fail(),
            (None, None) => {}
        }
        Staging::open(self.workplace.repository()?)?.add(remark.clone())?;
        Ok((remark, redacted.into_iter().map(|kind| kind.name().to_owned()).collect()))
    }

    /// The remarks that wait for their commit, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn staged(&self) -> Result<Vec<StagedRemark>, Error> {
        Ok(Staging::peek(self.workplace.repository()?)?)
    }

    /// Drops the remarks that wait for their commit; returns how many there were.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn clear_staged(&self) -> Result<usize, Error> {
        let mut staging = Staging::open(self.workplace.repository()?)?;
        let n_remarks = staging.remarks().len();
        staging.retain(|_| false)?;
        Ok(n_remarks + staging.retain_strange(|_| false)?)
    }
}
