//! Who wrote each line of a committed file, kept because git has to walk through history for it.

use std::path::PathBuf;

use chronicle_core::{LineMap, LineRange, Lines, line_words};
use chronicle_git::{BStr, BlamedLine, LazyRepository, ObjectId, Repository};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{
    Index,
    error::Result,
    index::Blame,
    kept::{CachePlace, Kept},
};

/// Blames by the path that they are of and the commits that changed the file: another HEAD leaves most of them as
/// they are.
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

/// A commit that changed a file and the blob that it left, zeros for none.
type Step = (ObjectId, ObjectId);

/// How many changes of a file may have come since it was last asked about, for that answer to be of use still.
const MAX_NEWER: usize = 16;

/// A whole file's blame, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredBlame {
    /// The blob that was blamed.
    blob: Vec<u8>,
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
    /// The committed file is blamed and its lines are mapped: edits that are not committed show as such. What `index`,
    /// that of `commit`, knows of the file is answered by it; git is asked for what came since its table was made, or
    /// for all of it, and what that says is kept until another commit changes the file.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn written(
        &self,
        (lazy, index): (&LazyRepository, Option<&Index>),
        (commit, path): (ObjectId, &BStr),
        content: &[u8],
        lines: LineRange,
    ) -> Result<Option<Vec<Written>>> {
        let Some(common_dir) = self.common_dir.as_deref().filter(|_| self.kept.is_on()) else {
            return directly(lazy.get()?, (commit, path), content, lines);
        };
        if lazy.get()?.blames_otherwise() {
            return directly(lazy.get()?, (commit, path), content, lines);
        }
        let (mut steps, known) = index.map(|index| index.blame(lazy, path)).unwrap_or_default();
        if let Some(known) = known.as_ref().filter(|known| known.steps == steps)
            && let Some(written) = by_index(lazy.get()?, known, content, lines)?
        {
            return Ok(Some(written));
        }
        let frame = chronicle_git::frame_stamp(common_dir);
        if steps.is_empty() {
            steps.push((commit, commit.kind().null()));
        }
        let hash = hash(path, &frame, &steps);
        let blame = match self.kept(hash) {
            Some(blame) => blame,
            None => {
                let older = match self.older(path, &frame, &steps) {
                    None => indexed_older(lazy.get()?, known.as_ref(), &steps)?,
                    older => older,
                };
                let Some(blame) = whole(lazy.get()?, commit, path, older)? else { return Ok(None) };
                if let Ok(bytes) = postcard::to_allocvec(&blame) {
                    self.kept.put(hash, &bytes);
                }
                blame
            }
        };
        let now = line_words(content);
        let map = (now != blame.words).then(|| LineMap::between_words(&now, &blame.words));
        let author = |line: u32| {
            let then = line_in(map.as_ref(), line);
            let (number, line_then) = blame.lines.get(then? as usize - 1)?;
            let author = blame.authors.get(*number as usize)?;
            Some(Author { line_then: *line_then, ..author.clone() })
        };
        Ok(Some((lines.start..=lines.end).map(|line| (line, author(line))).collect()))
    }

    fn kept(&self, hash: u128) -> Option<StoredBlame> {
        postcard::from_bytes(&self.kept.get(hash)?).ok()
    }

    /// The blame of the file as an earlier one of the commits that changed it left it, and that commit.
    fn older(&self, path: &BStr, frame: &[u8], steps: &[Step]) -> Option<(ObjectId, StoredBlame)> {
        (1..steps.len()).take(MAX_NEWER).find_map(|n_newer| {
            let (commit, blob) = steps[n_newer];
            let blame = self.kept(hash(path, frame, &steps[n_newer..]))?;
            // Commits of branches that were merged may have left other blobs than the one that was blamed.
            (blame.blob == blob.as_slice()).then_some((commit, blame))
        })
    }
}

fn hash(path: &BStr, frame: &[u8], steps: &[Step]) -> u128 {
    let steps = steps.iter().flat_map(|(commit, blob)| [commit.as_slice(), blob.as_slice()]);
    XxHash3_128::oneshot(&steps.chain([path.as_ref(), frame]).collect::<Vec<_>>().concat())
}

/// Where a line is in the older version that `map` leads to; there is none where both are the same.
fn line_in(map: Option<&LineMap>, line: u32) -> Option<u32> {
    match map {
        None => Some(line),
        Some(map) => map.map(LineRange { start: line, end: line }).lines.map(|lines| lines.start),
    }
}

/// Who wrote `lines` of `content`, going by the blame of the index; `None` where that is damaged.
fn by_index(
    repository: &Repository,
    known: &Blame,
    content: &[u8],
    lines: LineRange,
) -> Result<Option<Vec<Written>>> {
    let map = known.map_from(content);
    let mut authors = Authors::default();
    let mut written = Vec::with_capacity(lines.len() as usize);
    for line in lines.start..=lines.end {
        let author = match line_in(map.as_ref(), line).map(|then| known.line(then)) {
            None => None,
            Some(None) => return Ok(None),
            Some(Some(blamed)) => Some(authors.of(repository, &blamed)?),
        };
        written.push((line, author));
    }
    Ok(Some(written))
}

/// The blame of the index, where it is that of the file as an earlier one of the commits that changed it left it; and
/// that commit.
fn indexed_older(
    repository: &Repository,
    known: Option<&Blame>,
    steps: &[Step],
) -> Result<Option<(ObjectId, StoredBlame)>> {
    let is_older = |known: &&Blame| (1..=MAX_NEWER).any(|newer| steps.get(newer..) == Some(&known.steps[..]));
    let Some(known) = known.filter(is_older) else { return Ok(None) };
    let (Some((commit, blob)), Some(blamed)) = (known.steps.first(), known.lines()) else { return Ok(None) };
    let (lines, authors) = numbered(repository, &blamed)?;
    let blame = StoredBlame { blob: blob.as_slice().to_vec(), words: known.words(), lines, authors };
    Ok(Some((*commit, blame)))
}

fn directly(
    repository: &Repository,
    (commit, path): (ObjectId, &BStr),
    content: &[u8],
    lines: LineRange,
) -> Result<Option<Vec<Written>>> {
    let Some(blob) = repository.blob_at(repository.commit_tree(commit)?, path)? else { return Ok(None) };
    let Some(committed) = repository.blob_if_here(blob)? else { return Ok(None) };
    let map = LineMap::between(&Lines::new(content), &Lines::new(&committed));
    let at_commit = |line: u32| map.map(LineRange { start: line, end: line }).lines.map(|lines| lines.start);
    let mapped: Vec<(u32, Option<u32>)> =
        (lines.start..=lines.end).map(|line| (line, at_commit(line))).collect();
    let known = || mapped.iter().filter_map(|(_, line)| *line);
    let mut written: Vec<Written> = mapped.iter().map(|(line, _)| (*line, None)).collect();
    if let (Some(start), Some(end)) = (known().min(), known().max()) {
        let blamed = repository.blame((commit, path), Some(LineRange { start, end }), None)?;
        let mut authors = Authors::default();
        for ((_, author), (_, then)) in written.iter_mut().zip(&mapped) {
            let blamed = blamed.iter().find(|blamed| Some(blamed.line) == *then);
            *author = blamed.map(|blamed| authors.of(repository, blamed)).transpose()?;
        }
    }
    Ok(Some(written))
}

/// The blame of a whole file, with the help of that of an earlier commit if there is one.
fn whole(
    repository: &Repository,
    commit: ObjectId,
    path: &BStr,
    older: Option<(ObjectId, StoredBlame)>,
) -> Result<Option<StoredBlame>> {
    let Some(blob) = repository.blob_at(repository.commit_tree(commit)?, path)? else { return Ok(None) };
    let Some(content) = repository.blob_if_here(blob)? else { return Ok(None) };
    let words = line_words(&content);
    let blob = blob.as_slice().to_vec();
    if words.is_empty() {
        return Ok(Some(StoredBlame { blob, words, lines: Vec::new(), authors: Vec::new() }));
    }
    let blamed = |since| repository.blame((commit, path), None, since);
    let (lines, authors) = match older {
        Some((since, older)) => match joined(repository, &blamed(Some(since))?, (since, &older))? {
            Some(joined) => joined,
            None => numbered(repository, &blamed(None)?)?,
        },
        None => numbered(repository, &blamed(None)?)?,
    };
    Ok(Some(StoredBlame { blob, words, lines, authors }))
}

/// For each line the number of its author and of the line there, and the authors.
type Numbered = (Vec<(u32, u32)>, Vec<Author>);

fn numbered(repository: &Repository, blamed: &[BlamedLine]) -> Result<Numbered> {
    let mut authors = Authors::default();
    let number = |blamed: &BlamedLine| Ok((authors.number(repository, blamed)?, blamed.line_then));
    let lines = blamed.iter().map(number).collect::<Result<_>>()?;
    Ok((lines, authors.all))
}

/// The same, where `blamed` was searched back to `since` and `older` is the blame there; `None` where lines came by
/// another way.
fn joined(
    repository: &Repository,
    blamed: &[BlamedLine],
    (since, older): (ObjectId, &StoredBlame),
) -> Result<Option<Numbered>> {
    let mut authors = Authors::default();
    let mut lines = Vec::with_capacity(blamed.len());
    for blamed in blamed {
        if !blamed.is_boundary {
            lines.push((authors.number(repository, blamed)?, blamed.line_then));
            continue;
        }
        let known = older.lines.get(blamed.line_then as usize - 1).filter(|_| blamed.commit == since);
        let Some((author, line_then)) = known else { return Ok(None) };
        let Some(author) = older.authors.get(*author as usize) else { return Ok(None) };
        lines.push((authors.number_of(author), *line_then));
    }
    Ok(Some((lines, authors.all)))
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

    fn number_of(&mut self, author: &Author) -> u32 {
        let is_it = |known: &Author| known.commit == author.commit && known.path == author.path;
        let number = self.all.iter().position(is_it).unwrap_or_else(|| {
            self.all.push(author.clone());
            self.all.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    fn of(&mut self, repository: &Repository, blamed: &BlamedLine) -> Result<Author> {
        let number = self.number(repository, blamed)? as usize;
        Ok(Author { line_then: blamed.line_then, ..self.all[number].clone() })
    }
}
