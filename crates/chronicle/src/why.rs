//! Why a line is as it is: the commit that wrote it, what that commit says, and what is known of the line.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use chronicle_commits::{FileNow, Written};
use chronicle_core::{
    InvalidRange, LineRange, Lines, clipped,
    reading::{RegionItem, WisdomItem},
    redaction::gated,
    shown_path,
};
use chronicle_git::{ByteSlice, ObjectId};
use chronicle_workplace::{
    Error,
    error::{FileGoneSnafu, LinesPastEndSnafu, NotTrackedSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, Origin, ReadCommand, anchors, outline::OneFile};

/// The lines that are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyScope {
    /// Some lines of the file as it is now.
    Lines(LineRange),
    /// All lines of an item.
    Anchor(String),
}

impl WhyScope {
    /// `FILE:LINE` or `FILE:START-END` taken apart, also with a column or columns behind it, as compilers print
    /// places; `None` where no place stands behind the file.
    ///
    /// # Errors
    /// When what stands there names no lines: they count from 1, and a range does not end before it begins.
    #[must_use]
    pub fn behind_colon(given: &Path) -> Option<Result<(PathBuf, Self), InvalidRange>> {
        let is_place = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_digit())
                && text.chars().all(|character| character.is_ascii_digit() || character == '-')
        };
        let (rest, last) = given.to_str()?.rsplit_once(':').filter(|(_, last)| is_place(last))?;
        let (file, place) = match rest.rsplit_once(':') {
            Some((file, place)) if is_place(place) && !file.is_empty() => (file, place),
            _ => (rest, last),
        };
        let lines = || place.parse().map(Self::Lines);
        (!file.is_empty()).then(|| Ok((PathBuf::from(file), lines()?)))
    }
}

/// More of a line or a subject, in bytes, tells nobody why.
const LONGEST_LINE: usize = 240;
/// More of a message, in bytes, is better read in the commit.
const LONGEST_MESSAGE: usize = 4_000;
/// More of the commits that changed an item are better asked of `git log -L`.
const MOST_OF_ITEM: usize = 5;

/// Why some lines are as they are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Why {
    /// Always `chronicle-why/v1`.
    pub schema: &'static str,
    /// The file, as it is called now.
    pub file: String,
    /// The item, when one was asked for.
    pub anchor: Option<String>,
    /// The lines.
    pub lines: LineRange,
    /// What the line holds, when it is only one: at most 240 bytes of it.
    pub text: Option<String>,
    /// The commits that wrote the lines, in the order of their first line.
    pub commits: Vec<Wrote>,
    /// The item that holds the lines, and the commits that changed it; null where no item holds all of them.
    pub item: Option<ItemChanges>,
    /// The sessions with agents that wrote the lines, in the order of their first line.
    pub sessions: Vec<Origin>,
    /// Lines that are in no commit yet.
    pub uncommitted: Vec<LineRange>,
    /// Code units and summaries known of the lines; those of the commits that wrote them come first.
    pub regions: Vec<RegionItem>,
    /// Lessons known of the lines; those of the commits that wrote them come first.
    pub wisdom: Vec<WisdomItem>,
    /// Remarks about the answer.
    pub warnings: Vec<String>,
}

/// A commit that wrote some of the lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Wrote {
    /// The commit.
    pub commit: String,
    /// The lines it wrote, as they are now.
    pub lines: Vec<LineRange>,
    /// Who wrote it.
    pub author: String,
    /// When it was committed.
    pub date: String,
    /// The first paragraph of its message, at most 240 bytes of it.
    pub subject: String,
    /// The rest of its message, at most 4,000 bytes of it.
    pub body: String,
    /// The file's name in it.
    pub file_then: String,
    /// The number of the first of the lines in it.
    pub line_then: u32,
    /// Whether what is here of the history ends with it, as in a shallow clone: it wrote the lines, or one before it did.
    pub or_before: bool,
}

/// An item of the file, and the commits that changed it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ItemChanges {
    /// Its name.
    pub anchor: String,
    /// Its lines.
    pub lines: LineRange,
    /// The commits that changed it, newest first, as `git log -L` lists them: at most five.
    pub commits: Vec<ChangedItem>,
    /// Whether there are older ones, or may be.
    pub has_more: bool,
}

/// A commit that changed an item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedItem {
    /// The commit.
    pub commit: String,
    /// Who wrote it.
    pub author: String,
    /// When it was committed.
    pub date: String,
    /// The first paragraph of its message, at most 240 bytes of it.
    pub subject: String,
    /// How many lessons its annotation holds; null where it has none.
    pub n_lessons: Option<usize>,
}

impl Chronicle {
    /// Why lines of the file at `path` are as they are.
    ///
    /// # Errors
    /// When the file is gone or in no commit, or the lines or the item do not exist.
    pub fn why(&self, path: PathBuf, scope: WhyScope) -> Result<Why, Error> {
        let mut one = self.one_file(&path)?;
        let file = one.file.path.to_string();
        let mut warnings = std::mem::take(&mut one.remarks);
        let Some(content) = one.content.as_deref() else { return FileGoneSnafu { path: file }.fail() };
        let present = Lines::new(content);
        let (lines, anchor) = match scope {
            WhyScope::Lines(lines) => (lines, None),
            WhyScope::Anchor(anchor) => {
                let anchored = self.anchored(&file, Some(content), &anchor);
                let item = (anchored.lines.first().copied(), anchored.names.first().cloned());
                warnings.extend(anchored.into_remarks(false)?);
                // Without an outline there are no lines to ask git about.
                let unknown = || Error::UnknownAnchor {
                    anchor: anchor.clone(),
                    path: file.clone(),
                    closest: Vec::new(),
                };
                (item.0.ok_or_else(unknown)?, item.1)
            }
        };
        let n_lines = present.count();
        snafu::ensure!(lines.end <= n_lines, LinesPastEndSnafu { lines, n_lines });
        if present.is_binary() {
            warnings.push(format!("`{file}` is binary; its lines say little"));
        }
        warnings.extend(self.ignored_revs_warning()?);
        let written = self.written(&one, lines)?;
        let mut names = vec![file.as_str()];
        names.extend(written.iter().filter_map(|(_, blamed)| Some(blamed.as_ref()?.path.as_str())));
        names.sort_unstable();
        names.dedup();
        // What is known of the lines does not hang on session memory.
        let sessions = self.origins(&names, content, &written).unwrap_or_else(|error| {
            warnings.push(format!("the sessions that wrote the lines cannot be shown: {error}"));
            Vec::new()
        });
        let mut commits: Vec<Wrote> = Vec::new();
        let mut uncommitted: Vec<u32> = Vec::new();
        let mut by_commit: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (line, blamed) in &written {
            let Some(blamed) = blamed else {
                uncommitted.push(*line);
                continue;
            };
            if !by_commit.contains_key(&blamed.commit) {
                commits.push(Wrote {
                    commit: blamed.commit.clone(),
                    lines: Vec::new(),
                    author: blamed.name.clone(),
                    date: blamed.date.clone(),
                    subject: clipped(&gated(&blamed.subject), LONGEST_LINE).into_owned(),
                    body: clipped(&gated(&blamed.body), LONGEST_MESSAGE).into_owned(),
                    file_then: blamed.path.clone(),
                    line_then: blamed.line_then,
                    or_before: self.is_edge(&blamed.commit)?,
                });
            }
            by_commit.entry(blamed.commit.clone()).or_default().push(*line);
        }
        for wrote in &mut commits {
            wrote.lines = runs(&by_commit[&wrote.commit]);
        }
        let command = ReadCommand { paths: vec![path], lines: Some(lines), ..ReadCommand::default() };
        let reading = self.read(&command)?;
        // What was said of the path is said already.
        warnings.extend(
            reading.warnings.into_iter().filter(|warning| !warning.starts_with(&format!("`{file}`"))),
        );
        warnings.dedup();
        let (mut regions, mut wisdom) = (reading.regions, reading.wisdom);
        regions.sort_by_key(|item| !by_commit.contains_key(&item.standing.commit));
        wisdom.sort_by_key(|item| !by_commit.contains_key(&item.standing.commit));
        let text = present.of(lines).first().filter(|_| lines.len() == 1);
        Ok(Why {
            schema: "chronicle-why/v1",
            file,
            anchor,
            lines,
            text: text.map(|text| clipped(&gated(&text.to_str_lossy()), LONGEST_LINE).into_owned()),
            commits,
            item: self.item_changes(&one, lines)?,
            sessions,
            uncommitted: runs(&uncommitted),
            regions,
            wisdom,
            warnings,
        })
    }

    /// The innermost item that holds `lines`, and the commits that changed it.
    fn item_changes(&self, one: &OneFile, lines: LineRange) -> Result<Option<ItemChanges>, Error> {
        let Some(content) = one.content.as_deref() else { return Ok(None) };
        let items = self.items(&one.file.path.to_string(), content, &mut Vec::new());
        let Some(item) = anchors::innermost(&items, lines) else { return Ok(None) };
        let now = FileNow { file: &one.file, content, head: one.head };
        let history = chronicle_commits::item_history(
            self.workplace.lazy(),
            self.workplace.caches(),
            &now,
            item.lines,
            MOST_OF_ITEM,
        )?;
        let mut commits = Vec::new();
        for changed in history.commits {
            let commit = self.workplace.repository()?.commit(changed.commit)?;
            commits.push(ChangedItem {
                commit: changed.commit.to_string(),
                date: commit.time.to_string(),
                subject: clipped(&gated(&commit.subject()), LONGEST_LINE).into_owned(),
                author: commit.author,
                n_lessons: changed.n_lessons,
            });
        }
        let (anchor, has_more) = (item.qualified.clone(), history.has_more);
        Ok(Some(ItemChanges { anchor, lines: item.lines, commits, has_more }))
    }

    /// What is said of a file of commits that blame should ignore, but git cannot read.
    pub(crate) fn ignored_revs_warning(&self) -> Result<Option<String>, Error> {
        let missing = self.workplace.repository()?.unreadable_ignore_revs();
        let names: Vec<String> = missing.iter().map(|name| format!("`{}`", shown_path(name))).collect();
        let warning = format!(
            "`blame.ignoreRevsFile` names {}, which git cannot read; it is ignored",
            names.join(", ")
        );
        Ok((!names.is_empty()).then_some(warning))
    }

    /// Whether the parents of a commit are left out of this clone.
    fn is_edge(&self, commit: &str) -> Result<bool, Error> {
        let repository = self.workplace.repository()?;
        Ok(ObjectId::from_hex(commit.as_bytes()).is_ok_and(|id| repository.is_shallow_edge(id)))
    }

    /// Who wrote each of `lines` of a file as it is now.
    pub(crate) fn written(&self, one: &OneFile, lines: LineRange) -> Result<Vec<Written>, Error> {
        let path = one.file.at_head.as_bstr();
        let content = one.content.as_deref().unwrap_or_default();
        let written =
            self.workplace.caches().blames.written(self.workplace.lazy(), one.head, path, content, lines)?;
        if let Some(written) = written {
            return Ok(written);
        }
        let is_staged = self.workplace.repository()?.is_staged(one.file.path.as_bstr());
        NotTrackedSnafu { path: one.file.path.to_string(), is_staged }.fail()
    }
}

/// Consecutive lines as ranges.
pub(crate) fn runs(lines: &[u32]) -> Vec<LineRange> {
    let chunks = lines.chunk_by(|left, right| left + 1 == *right);
    chunks.map(|run| LineRange { start: run[0], end: run[run.len() - 1] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_tools_print_them() {
        let check = |given: &str, expected: (&str, u32, u32)| {
            let (file, start, end) = expected;
            let lines = WhyScope::Lines(LineRange { start, end });
            let found = WhyScope::behind_colon(Path::new(given));
            assert_eq!(found, Some(Ok((PathBuf::from(file), lines))), "{given}");
        };
        check("src/pool.rs:12", ("src/pool.rs", 12, 12));
        check("src/pool.rs:12:5", ("src/pool.rs", 12, 12));
        check("src/pool.rs:12:5-9", ("src/pool.rs", 12, 12));
        check("src/pool.rs:5-7", ("src/pool.rs", 5, 7));
        check("src/pool.rs:5-7:1", ("src/pool.rs", 5, 7));
        check("a:b:3", ("a:b", 3, 3));
        for given in ["src/pool.rs", "pool.rs:", ":3", "pool.rs:x", "pool.rs:-3", "pool.rs:3x"] {
            assert_eq!(WhyScope::behind_colon(Path::new(given)), None, "{given}");
        }
        for given in ["pool.rs:0", "pool.rs:0:3", "pool.rs:7-5", "pool.rs:5-", "pool.rs:99999999999"] {
            let found = WhyScope::behind_colon(Path::new(given));
            assert!(matches!(found, Some(Err(_))), "{given}: {found:?}");
        }
    }
}
