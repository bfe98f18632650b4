//! Which commit wrote each line of a file, worked out while a table is made.
//!
//! As `git blame` does it: from the newest version back, each line goes to a parent that has it, or stays with the
//! commit. Whoever makes a table has the commits that changed the file and reads their versions anyway, so it costs a
//! comparison of neighbours for each of them, where `git blame` has to search through history.

use std::{cell::OnceCell, ops::Range};

use chronicle_core::{LineMap, Neighbours, Stretch, divided, line_words};
use chronicle_git::{BString, BlamedLine, FileHistory, FirstParents, History, ObjectId, Repository};
use serde::{Deserialize, Serialize};

use crate::{error::Result, index::content_hash, present::Present};

/// Who wrote the lines of one version of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredBlame {
    /// Names that the file had in commits, where they are not its present one.
    names: Vec<(u32, String)>,
    runs: Vec<Run>,
}

/// Lines that one commit wrote together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    /// The number of the commit among those that changed the file.
    step: u32,
    /// The first of the lines there, zero-based.
    line: u32,
    len: u32,
}

/// The history that blames are worked out in.
pub(super) struct Blaming<'b> {
    pub(super) repository: &'b Repository,
    history: &'b History,
    first_parents: FirstParents,
    neighbours: Neighbours,
}

/// All versions of a file are held at once; one that changed so often that they are larger is left to git, in bytes.
const MAX_BYTES: u64 = 256 << 20;

impl<'b> Blaming<'b> {
    /// Whether the versions of a file can be held, the newest of which has so many bytes.
    pub(super) fn holds(file: &FileHistory, n_bytes: u64) -> bool {
        n_bytes.saturating_mul(file.touches.len() as u64) <= MAX_BYTES
    }

    pub(super) fn new(repository: &'b Repository, history: &'b History) -> Self {
        let first_parents = FirstParents::of(history);
        Self { repository, history, first_parents, neighbours: Neighbours::default() }
    }

    /// Reads all versions of a file, newest first: each has most of its lines from the one before.
    pub(super) fn read_versions(&self, file: &FileHistory, present: &Present<'_>) -> Result<()> {
        for version in file.touches.iter().filter_map(|touch| touch.new) {
            present.words(self.repository, version)?;
        }
        Ok(())
    }

    /// Who wrote the lines of `present`, whose blob is `head`; `None` where only git can tell, since versions are
    /// missing, line ends were changed, or what the walk found does not hold together.
    pub(super) fn blame(
        &mut self,
        file: &FileHistory,
        present: &Present<'_>,
        head: ObjectId,
    ) -> Result<Option<StoredBlame>> {
        let lineage = file.lineage(&self.first_parents);
        let newest = lineage.touch_at(0).filter(|touch| file.touches[*touch].new == Some(head));
        let (Some(newest), Some(lines)) = (newest, present.words(self.repository, head)?) else {
            return Ok(None);
        };
        let n_lines = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        // For each commit that changed the file, the lines of its version that are looked for, and where they are now.
        let mut wanted: Vec<Vec<Stretch>> = vec![Vec::new(); file.touches.len()];
        wanted[newest].push(Stretch { start: 0, len: n_lines, there: 0 });
        let mut found: Vec<(Stretch, u32)> = Vec::new();
        for number in newest..file.touches.len() {
            let mut left = std::mem::take(&mut wanted[number]);
            if left.is_empty() {
                continue;
            }
            left.sort_unstable_by_key(|stretch| (stretch.start, stretch.there));
            let touch = &file.touches[number];
            let Some(blob) = touch.new else { return Ok(None) };
            let node = self.history.node(touch.place);
            let mut parents: Vec<(usize, ObjectId)> = Vec::new();
            for parent in node.parents.iter().filter_map(|parent| lineage.touch_at(*parent)) {
                // Children come before their parents, but for a file with two names in one commit.
                if parent <= number {
                    return Ok(None);
                }
                parents.extend(file.touches[parent].new.map(|blob| (parent, blob)));
            }
            if let ([_], None) = (&node.parents[..], &touch.renamed_from)
                && parents.first().map(|(_, blob)| *blob) != touch.old
            {
                return Ok(None);
            }
            if let Some((same, _)) = parents.iter().find(|(_, theirs)| *theirs == blob) {
                wanted[*same].append(&mut left);
                continue;
            }
            let Some(own) = present.words(self.repository, blob)? else { return Ok(None) };
            for (parent, theirs) in parents {
                let Some(theirs) = present.words(self.repository, theirs)? else { return Ok(None) };
                let differs = present.differences(&mut self.neighbours, &theirs, &own);
                let (kept, added) = divided_each(&left, &differs);
                wanted[parent].extend(kept);
                left = added;
                if left.is_empty() {
                    break;
                }
            }
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            found.extend(left.into_iter().map(|stretch| (stretch, number)));
        }
        if !present.ends_alike() {
            return Ok(None);
        }
        found.sort_unstable_by_key(|(stretch, _)| stretch.there);
        Ok(stored(&found, n_lines, file, present))
    }
}

/// [`divided`], of stretches that may lie over each other: two lines of a merge may both be one line of its parents.
fn divided_each(stretches: &[Stretch], differs: &[(Range<u32>, Range<u32>)]) -> (Vec<Stretch>, Vec<Stretch>) {
    let lies_apart = |pair: &[Stretch]| pair[0].start + pair[0].len <= pair[1].start;
    if stretches.windows(2).all(lies_apart) {
        return divided(stretches, differs);
    }
    let (mut kept, mut added) = (Vec::new(), Vec::new());
    for stretch in stretches {
        let (more_kept, more_added) = divided(std::slice::from_ref(stretch), differs);
        kept.extend(more_kept);
        added.extend(more_added);
    }
    (kept, added)
}

/// The form in which the lines that were `found`, in order, are kept; `None` where they are not all lines.
fn stored(
    found: &[(Stretch, u32)],
    n_lines: u32,
    file: &FileHistory,
    present: &Present<'_>,
) -> Option<StoredBlame> {
    let mut runs: Vec<Run> = Vec::new();
    let mut next = 0;
    for (stretch, step) in found {
        if stretch.there != next {
            return None;
        }
        next += stretch.len;
        match runs.last_mut() {
            Some(run) if run.step == *step && run.line + run.len == stretch.start => run.len += stretch.len,
            _ => runs.push(Run { step: *step, line: stretch.start, len: stretch.len }),
        }
    }
    let mut steps: Vec<u32> = runs.iter().map(|run| run.step).collect();
    steps.sort_unstable();
    steps.dedup();
    let name = |step: u32| Some(&file.touches.get(step as usize)?.name).filter(|name| **name != present.path);
    let names = steps.into_iter().filter_map(|step| Some((step, name(step)?.to_string()))).collect();
    (next == n_lines).then_some(StoredBlame { names, runs })
}

impl StoredBlame {
    /// The first line of each run, zero-based.
    fn starts(&self) -> Vec<u32> {
        let begin = |next: &mut u32, run: &Run| {
            let start = *next;
            *next = next.saturating_add(run.len);
            Some(start)
        };
        self.runs.iter().scan(0, begin).collect()
    }
}

/// Who wrote the lines of a file as a commit has it.
pub(crate) struct Blame {
    /// The commits that changed the file until then, newest first, each with the blob that it left.
    pub(crate) steps: Vec<(ObjectId, ObjectId)>,
    pub(super) content: u64,
    /// [`line_words`] of the lines, little-endian.
    pub(super) words: Vec<u8>,
    pub(super) path: BString,
    pub(super) blame: StoredBlame,
    /// Where each run begins, once it was asked for.
    pub(super) starts: OnceCell<Vec<u32>>,
}

impl Blame {
    /// Who wrote the line with this number, which counts from 1; `None` where there is no such line.
    pub(crate) fn line(&self, number: u32) -> Option<BlamedLine> {
        let at = number.checked_sub(1)?;
        let starts = self.starts.get_or_init(|| self.blame.starts());
        let found = starts.partition_point(|start| *start <= at).checked_sub(1)?;
        let (run, left) = (self.blame.runs.get(found)?, at - starts[found]);
        if run.len <= left {
            return None;
        }
        let (commit, _) = *self.steps.get(run.step as usize)?;
        let known = self.blame.names.binary_search_by_key(&run.step, |(step, _)| *step);
        let path =
            known.map_or_else(|_| self.path.clone(), |known| self.blame.names[known].1.as_str().into());
        let line_then = run.line.checked_add(left)?.checked_add(1)?;
        Some(BlamedLine { line: number, commit, path, line_then, is_boundary: false })
    }

    /// Who wrote each line; `None` where the table is damaged.
    pub(crate) fn lines(&self) -> Option<Vec<BlamedLine>> {
        let n_lines = u32::try_from(self.words.len() / 4).ok()?;
        (1..=n_lines).map(|number| self.line(number)).collect()
    }

    /// The words of the lines.
    pub(crate) fn words(&self) -> Vec<u32> {
        self.words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// Where each line of `content` is among them; `None` where they are the same.
    pub(crate) fn map_from(&self, content: &[u8]) -> Option<LineMap> {
        let is_same = content_hash(content) == self.content;
        (!is_same).then(|| LineMap::between_words(&line_words(content), &self.words()))
    }
}
