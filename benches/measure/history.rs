//! A made history: the same in every run, since it comes from a fixed seed.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use super::random::{Random, WORDS};
use super::repository::{EMAIL, Repository};

const N_FILES: usize = 620;
pub(crate) const FIRST_TIMESTAMP: usize = 1_672_531_200;
pub(crate) const SECONDS_PER_COMMIT: usize = 9_000;
const DIRECTORIES: [&str; 16] = [
    "src",
    "src/net",
    "src/net/pool",
    "src/store",
    "src/store/index/pages",
    "src/render",
    "crates/core/src",
    "crates/core/src/parse",
    "crates/wire/src",
    "crates/wire/src/frames/v2",
    "crates/cli/src/commands",
    "crates/cli/tests",
    "web/app/src/components",
    "web/app/src/hooks",
    "tools/release",
    "docs/guide",
];

/// Makes a repository under `root` with a made history of `n_commits`, checked out nowhere yet.
pub(crate) fn make_repository(root: &Path, binary: &Path, n_commits: usize) -> (History, Repository) {
    let repo = Repository::new(root, binary);
    repo.git(&["init", "--quiet", "--initial-branch=main"]);
    repo.git(&["config", "gc.auto", "0"]);

    let marks = root.join("marks");
    let mut history = History::new();
    repo.fast_import(&[&format!("--export-marks={}", marks.display())], |stream| {
        history.write(n_commits, stream)
    });
    history.ids = read_marks(&fs::read_to_string(marks).expect("git fast-import writes the marks"));
    repo.git(&["update-ref", "-d", "refs/heads/side"]);
    (history, repo)
}

/// Commit ids by mark less one, which is the number of the commit.
fn read_marks(text: &str) -> Vec<String> {
    let mut marks: Vec<(usize, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix(':')?.split_once(' '))
        .map(|(mark, id)| (mark.parse().expect("a mark is a number"), id.to_owned()))
        .collect();
    marks.sort_unstable();
    marks.into_iter().map(|(_, id)| id).collect()
}

/// The made history, and what we know of it without asking git.
pub(crate) struct History {
    pub(crate) random: Random,
    pub(crate) files: Vec<File>,
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) commits: Vec<Commit>,
    pub(crate) ids: Vec<String>,
    pub(crate) n_merges: usize,
    /// Sums of the weights by which files are picked, coldest last.
    pub(crate) weights: Vec<usize>,
}

pub(crate) struct File {
    pub(crate) path: String,
    /// Empty before the file's first commit.
    pub(crate) lines: Vec<Line>,
    pub(crate) n_renames: usize,
    pub(crate) deleted: bool,
    /// Only the side branch edits it until the merge, which therefore has no conflicts.
    pub(crate) on_side: bool,
}

pub(crate) struct Line {
    pub(crate) text: String,
    /// The hunk that wrote it; lines of a file's first commit have none.
    pub(crate) hunk: Option<usize>,
}

/// Lines that a commit wrote, numbered as in that commit.
pub(crate) struct Hunk {
    pub(crate) commit: usize,
    pub(crate) path: String,
    pub(crate) lines: Range<usize>,
}

pub(crate) struct Commit {
    pub(crate) subject: String,
    pub(crate) hunks: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Brings half of the files.
    First,
    Main,
    Side,
    Merge,
}

impl History {
    pub(crate) fn new() -> Self {
        let mut random = Random(0x5eed_0c04_0a1c_1e00);
        let weights: Vec<usize> = (0..N_FILES)
            .scan(0, |sum, rank| {
                *sum += 1_000_000 / (rank + 4);
                Some(*sum)
            })
            .collect();
        let files = (0..N_FILES)
            .map(|slot| File {
                path: format!("{}/{}_{slot}.rs", random.pick(&DIRECTORIES), random.pick(&WORDS)),
                lines: Vec::new(),
                n_renames: 0,
                deleted: false,
                on_side: false,
            })
            .collect();
        let (hunks, commits, ids) = (Vec::new(), Vec::new(), Vec::new());
        Self { random, files, hunks, commits, ids, n_merges: 0, weights }
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_live())
    }

    /// Writes `n_commits` commits; of every forty, three are on a side branch and one merges it.
    pub(crate) fn write(&mut self, n_commits: usize, stream: &mut dyn Write) -> io::Result<()> {
        let (mut main_tip, mut side_tip) = (None, None);
        for number in 0..n_commits {
            let kind = match number % 40 {
                _ if number == 0 => Kind::First,
                21 | 23 | 26 if side_tip.is_some() => Kind::Side,
                30 if side_tip.is_some() => Kind::Merge,
                _ => Kind::Main,
            };
            let first_hunk = self.hunks.len();
            let changes = self.changes(kind, number, n_commits)?;
            let subject = format!("{}: {}", self.random.pick(&WORDS), self.random.sentence(4));
            let parents = match kind {
                Kind::First | Kind::Main => [main_tip, None],
                Kind::Side => [side_tip, None],
                Kind::Merge => [main_tip, side_tip.take()],
            };
            self.write_header(kind, number, &subject, parents, stream)?;
            stream.write_all(&changes)?;
            self.commits.push(Commit { subject, hunks: first_hunk..self.hunks.len() });
            *(if kind == Kind::Side { &mut side_tip } else { &mut main_tip }) = Some(number);
            if number % 40 == 20 && number + 10 < n_commits {
                side_tip = main_tip;
                self.fork();
            }
        }
        Ok(())
    }

    /// What a commit does to the files, as fast-import commands.
    fn changes(&mut self, kind: Kind, number: usize, n_commits: usize) -> io::Result<Vec<u8>> {
        let mut changes = Vec::new();
        match kind {
            Kind::First => {
                for _ in 0..N_FILES / 2 {
                    self.give_birth(&mut changes)?;
                }
            }
            Kind::Merge => {
                for file in self.files.iter_mut().filter(|file| file.on_side) {
                    file.on_side = false;
                    file.write(&mut changes)?;
                }
                self.n_merges += 1;
            }
            Kind::Main => {
                self.change_names(number, n_commits, &mut changes)?;
                self.edit_some(kind, number, &mut changes)?;
            }
            Kind::Side => self.edit_some(kind, number, &mut changes)?,
        }
        Ok(changes)
    }

    /// Leaves a few files to the side branch.
    fn fork(&mut self) {
        for _ in 0..5 {
            if let Some(slot) = self.pick_file(Kind::Main) {
                self.files[slot].on_side = true;
            }
        }
    }

    /// Edits one to three files, none twice: the second edit would move what the first recorded.
    fn edit_some(&mut self, kind: Kind, number: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        for _ in 0..[1, 1, 1, 2, 2, 3][self.random.below(6)] {
            let n_hunks = 1 + self.random.below(3);
            let Some(slot) = self.pick_file(kind) else { continue };
            let mut ours = self.hunks.iter().rev().take_while(|hunk| hunk.commit == number);
            if ours.all(|hunk| hunk.path != self.files[slot].path) {
                self.edit(slot, n_hunks, number);
                self.files[slot].write(changes)?;
            }
        }
        Ok(())
    }

    fn write_header(
        &mut self,
        kind: Kind,
        number: usize,
        subject: &str,
        parents: [Option<usize>; 2],
        stream: &mut dyn Write,
    ) -> io::Result<()> {
        let name = if kind == Kind::Side { "side" } else { "main" };
        writeln!(stream, "commit refs/heads/{name}\nmark :{}", number + 1)?;
        let timestamp = FIRST_TIMESTAMP + number * SECONDS_PER_COMMIT;
        writeln!(stream, "committer Bench <{EMAIL}> {timestamp} +0000")?;
        let message = format!("{subject}\n\n{}\n", self.random.sentence(20));
        writeln!(stream, "data {}\n{message}", message.len())?;
        for (keyword, parent) in ["from", "merge"].iter().zip(parents) {
            if let Some(parent) = parent {
                writeln!(stream, "{keyword} :{}", parent + 1)?;
            }
        }
        Ok(())
    }

    /// Now and then adds, renames or deletes a file.
    fn change_names(&mut self, number: usize, n_commits: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        let due = |n_times: usize| number % (n_commits / n_times).max(1) == (n_commits / n_times) / 2;
        if due(N_FILES) {
            self.give_birth(changes)?;
        }
        let n_times = usize::from(self.random.below(3) == 0);
        if due(48)
            && let Some(slot) = self.pick_any(|file| file.n_renames == n_times)
        {
            self.rename(slot, number, changes)?;
        }
        if due(25)
            && let Some(slot) = self.pick_any(|file| file.n_renames == 0)
        {
            self.files[slot].deleted = true;
            writeln!(changes, "D {}", self.files[slot].path)?;
        }
        Ok(())
    }

    /// Adds the next file that was never there, if one is left.
    fn give_birth(&mut self, changes: &mut Vec<u8>) -> io::Result<()> {
        let Some(slot) = self.files.iter().position(|file| file.lines.is_empty()) else { return Ok(()) };
        let n_lines = 60 + self.random.below(341);
        self.files[slot].lines =
            (0..n_lines).map(|_| Line { text: self.random.code(), hunk: None }).collect();
        self.files[slot].write(changes)
    }

    /// Moves a file to another directory; every second rename also edits it.
    fn rename(&mut self, slot: usize, number: usize, changes: &mut Vec<u8>) -> io::Result<()> {
        let word = self.random.pick(&WORDS);
        let file = &mut self.files[slot];
        file.n_renames += 1;
        let directory = DIRECTORIES[(slot + 5 * file.n_renames) % DIRECTORIES.len()];
        let path = format!("{directory}/{word}_{slot}_{}.rs", file.n_renames);
        writeln!(changes, "R {} {path}", file.path)?;
        file.path = path;
        if self.random.below(2) == 0 {
            self.edit(slot, 1, number);
            self.files[slot].write(changes)?;
        }
        Ok(())
    }

    /// A file by its weight: a few hot ones take most of the edits.
    pub(crate) fn pick_file(&mut self, kind: Kind) -> Option<usize> {
        (0..500).find_map(|_| {
            let at = self.random.below(self.weights[N_FILES - 1]);
            let slot = self.weights.partition_point(|sum| *sum <= at);
            let file = &self.files[slot];
            (file.is_live() && file.on_side == (kind == Kind::Side)).then_some(slot)
        })
    }

    /// Any file of the main line that `fits`, hot or cold.
    pub(crate) fn pick_any(&mut self, fits: impl Fn(&File) -> bool) -> Option<usize> {
        (0..500).find_map(|_| {
            let slot = self.random.below(N_FILES);
            let file = &self.files[slot];
            (file.is_live() && !file.on_side && fits(file)).then_some(slot)
        })
    }

    /// Replaces `n_hunks` runs of lines, one in each equal part of the file, and notes where.
    fn edit(&mut self, slot: usize, n_hunks: usize, commit: usize) {
        let file = &mut self.files[slot];
        let part = file.lines.len() / n_hunks;
        let (may_shrink, may_grow) = (80 < file.lines.len(), file.lines.len() < 380);
        let mut rest = std::mem::take(&mut file.lines).into_iter();
        for _ in 0..n_hunks {
            let n_before = self.random.below(part - 8);
            let n_removed = if may_shrink { self.random.below(7) } else { 0 };
            let n_added = 1 + self.random.below(if may_grow { 8 } else { 2 });
            file.lines.extend(rest.by_ref().take(n_before));
            rest.by_ref().take(n_removed).for_each(drop);
            let start = file.lines.len() + 1;
            let hunk = Some(self.hunks.len());
            // A brace or an empty line in front might match one that was removed: no hunk then.
            file.lines.push(Line { text: self.random.statement(), hunk });
            file.lines.extend((1..n_added).map(|_| Line { text: self.random.code(), hunk }));
            let lines = start..start + n_added;
            self.hunks.push(Hunk { commit, path: file.path.clone(), lines });
            file.lines.extend(rest.by_ref().take(part - n_before - n_removed));
        }
        file.lines.extend(rest);
    }
}

impl File {
    pub(crate) fn is_live(&self) -> bool {
        !self.deleted && !self.lines.is_empty()
    }

    pub(crate) fn write(&self, changes: &mut Vec<u8>) -> io::Result<()> {
        let n_bytes: usize = self.lines.iter().map(|line| line.text.len() + 1).sum();
        writeln!(changes, "M 100644 inline {}\ndata {n_bytes}", self.path)?;
        for line in &self.lines {
            writeln!(changes, "{}", line.text)?;
        }
        writeln!(changes)
    }
}
