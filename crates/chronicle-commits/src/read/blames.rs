//! Who wrote each line of a committed file, kept because git has to walk through history for it.

use std::path::PathBuf;

use chronicle_core::{LineMap, LineRange, Lines, line_words};
use chronicle_git::{BStr, BlamedLine, LazyRepository, ObjectId, Repository};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{
    disk_cache::{CachePlace, Kept},
    error::Result,
};

/// Blames by the path and the commit that they are of.
#[derive(Debug)]
pub struct Blames {
    kept: Kept,
    common_dir: Option<PathBuf>,
}

/// One line as it is now, and who wrote it; nobody, when it is not committed.
pub type Written = (u32, Option<Author>);

/// The commit that wrote a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The commit.
    pub commit: String,
    /// The file's name in it.
    pub path: String,
    /// The number of the line in it.
    pub line_then: u32,
    /// Who wrote it.
    pub name: String,
    /// When it was committed.
    pub date: String,
    /// The first paragraph of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// A whole file's blame, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredBlame {
    /// The words of the committed lines.
    words: Vec<u32>,
    /// For each line, the number of its author and of the line there.
    lines: Vec<(u32, u32)>,
    authors: Vec<Author>,
}

impl Blames {
    /// Blames that are kept in the shared state directory of a repository, or not at all.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "blames"), common_dir: place.map(|place| place.common_dir.clone()) }
    }

    /// Who wrote each of `lines` of a file whose bytes are `content` now, and which `commit` has at `path`.
    /// `None` when it has no such file.
    ///
    /// The committed file is blamed by git, once for each commit, and its lines are mapped: edits that are not committed
    /// show as such.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn written(
        &self,
        lazy: &LazyRepository,
        commit: ObjectId,
        path: &BStr,
        content: &[u8],
        lines: LineRange,
    ) -> Result<Option<Vec<Written>>> {
        let Some(common_dir) = self.common_dir.as_deref().filter(|_| self.kept.is_on()) else {
            return directly(lazy.get()?, commit, path, content, lines);
        };
        if lazy.get()?.blames_otherwise() {
            return directly(lazy.get()?, commit, path, content, lines);
        }
        let hash = hash(path, &chronicle_git::frame_stamp(common_dir), commit);
        let blame = match self.kept(hash) {
            Some(blame) => blame,
            None => {
                let Some(blame) = whole(lazy.get()?, commit, path)? else { return Ok(None) };
                if let Ok(bytes) = postcard::to_allocvec(&blame) {
                    self.kept.put(hash, &bytes);
                }
                blame
            }
        };
        let now = line_words(content);
        let map = (now != blame.words).then(|| LineMap::between_words(&now, &blame.words));
        let written = (lines.start..=lines.end)
            .map(|line| (line, line_in(map.as_ref(), line).and_then(|then| blame.author(then))));
        Ok(Some(written.collect()))
    }

    fn kept(&self, hash: u128) -> Option<StoredBlame> {
        postcard::from_bytes(&self.kept.get(hash)?).ok()
    }
}

impl StoredBlame {
    /// Who wrote a line of the file that was blamed.
    fn author(&self, line: u32) -> Option<Author> {
        let (number, line_then) = self.lines.get(line as usize - 1)?;
        let author = self.authors.get(*number as usize)?;
        Some(Author { line_then: *line_then, ..author.clone() })
    }
}

fn hash(path: &BStr, frame: &[u8], commit: ObjectId) -> u128 {
    XxHash3_128::oneshot(&[commit.as_slice(), path.as_ref(), frame].concat())
}

/// Where a line is in the older version that `map` leads to; there is none where both are the same.
fn line_in(map: Option<&LineMap>, line: u32) -> Option<u32> {
    match map {
        None => Some(line),
        Some(map) => map.map(LineRange { start: line, end: line }).lines.map(|lines| lines.start),
    }
}

fn directly(
    repository: &Repository,
    commit: ObjectId,
    path: &BStr,
    content: &[u8],
    lines: LineRange,
) -> Result<Option<Vec<Written>>> {
    let Some(blob) = repository.blob_at(repository.commit_tree(commit)?, path)? else { return Ok(None) };
    let Some(committed) = repository.blob_if_here(blob)? else { return Ok(None) };
    let map = LineMap::between(&Lines::new(content), &Lines::new(&committed));
    let then: Vec<Option<u32>> = (lines.start..=lines.end).map(|line| line_in(Some(&map), line)).collect();
    let known = then.iter().copied().flatten();
    let mut written: Vec<Written> = (lines.start..=lines.end).map(|line| (line, None)).collect();
    if let (Some(start), Some(end)) = (known.clone().min(), known.max()) {
        let blamed = repository.blame((commit, path), Some(LineRange { start, end }), None)?;
        let mut authors = Authors::default();
        for ((_, author), then) in written.iter_mut().zip(&then) {
            let blamed = blamed.iter().find(|blamed| Some(blamed.line) == *then);
            *author = blamed.map(|blamed| authors.of(repository, blamed)).transpose()?;
        }
    }
    Ok(Some(written))
}

/// The blame of a whole file.
fn whole(repository: &Repository, commit: ObjectId, path: &BStr) -> Result<Option<StoredBlame>> {
    let Some(blob) = repository.blob_at(repository.commit_tree(commit)?, path)? else { return Ok(None) };
    let Some(content) = repository.blob_if_here(blob)? else { return Ok(None) };
    let words = line_words(&content);
    if words.is_empty() {
        return Ok(Some(StoredBlame { words, lines: Vec::new(), authors: Vec::new() }));
    }
    let (lines, authors) = numbered(repository, &repository.blame((commit, path), None, None)?)?;
    Ok(Some(StoredBlame { words, lines, authors }))
}

/// For each line the number of its author and of the line there, and the authors.
type Numbered = (Vec<(u32, u32)>, Vec<Author>);

fn numbered(repository: &Repository, blamed: &[BlamedLine]) -> Result<Numbered> {
    let mut authors = Authors::default();
    let mut lines = Vec::with_capacity(blamed.len());
    for blamed in blamed {
        lines.push((authors.number(repository, blamed)?, blamed.line_then));
    }
    Ok((lines, authors.all))
}

/// The commits that were met, each with the file's name in it.
#[derive(Default)]
struct Authors {
    all: Vec<Author>,
}

impl Authors {
    fn number(&mut self, repository: &Repository, blamed: &BlamedLine) -> Result<u32> {
        let (id, path) = (blamed.commit.to_string(), blamed.path.to_string());
        let known = self.all.iter().position(|known| known.commit == id && known.path == path);
        let number = match known {
            Some(number) => number,
            None => {
                let commit = repository.commit(blamed.commit)?;
                self.all.push(Author {
                    commit: id,
                    path,
                    line_then: 0,
                    name: commit.author.clone(),
                    date: commit.time.to_string(),
                    subject: commit.subject(),
                    body: commit.body().to_owned(),
                });
                self.all.len() - 1
            }
        };
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn of(&mut self, repository: &Repository, blamed: &BlamedLine) -> Result<Author> {
        let number = self.number(repository, blamed)? as usize;
        Ok(Author { line_then: blamed.line_then, ..self.all[number].clone() })
    }
}
