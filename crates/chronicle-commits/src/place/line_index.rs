//! Which of some files hold which lines of code.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chronicle_git::BStr;

use crate::{
    place::code_lines::{SHORTEST, hashes_of, may_hold, sketches_in},
    read::matching::{ReadContext, Side},
};

/// Of more files than this nobody waits to hear how many hold some code.
const MAX_FILES: usize = 20_000;
/// Code that more files than this came to hold since is in all of them by habit.
pub(crate) const MAX_HOLDERS: usize = 8;

/// Which of some files hold which lines.
#[derive(Debug, Default)]
pub(crate) struct LineIndex {
    /// A line's hash above the number of a version that holds it, in order: [`Self::version`].
    lines: Vec<u64>,
    n_files: usize,
    /// The numbers of files that have other bytes now.
    edited: BTreeSet<usize>,
}

/// What of a file holds lines.
#[derive(Clone, Copy)]
enum Version {
    /// Its bytes in the newest commit.
    Head,
    /// Those that it has now, where they are others.
    Now,
    /// The lines that it has now and had not in the newest commit.
    Brought,
}

impl LineIndex {
    /// The lines of each of the files in scope that was changed after the commit at place `oldest`.
    pub(crate) fn of(context: &ReadContext<'_>, oldest: u32) -> Self {
        let mut line_index = Self { n_files: context.paths.len(), ..Self::default() };
        for (number, file) in context.past.files().iter().enumerate() {
            let now = context.now(number);
            if now.is_some() || file.touches.first().is_none_or(|touch| touch.place < oldest) {
                let added = context
                    .with_content(number, |then| line_index.add_file(number, then, now.unwrap_or(then)));
                if added.is_none() {
                    line_index.add_file(number, b"", now.unwrap_or_default());
                }
            }
        }
        line_index.in_order()
    }

    /// The lines of all files of the newest commit.
    pub(crate) fn everywhere(context: &ReadContext<'_>) -> Self {
        let paths = context.repository.files_under(context.past.head().tree, BStr::new("")).ok();
        let paths = paths.filter(|paths| paths.len() <= MAX_FILES).unwrap_or_default();
        let mut line_index = Self { n_files: paths.len(), ..Self::default() };
        for (number, path) in paths.iter().enumerate() {
            let _is_there =
                context.with_other(path, Side::Head, |content| line_index.add_file(number, content, content));
        }
        line_index.in_order()
    }

    /// The file number `number`, whose bytes were `then` in the newest commit and are `now`.
    fn add_file(&mut self, number: usize, then: &[u8], now: &[u8]) {
        let lines_then = hashes_of(then);
        if then != now {
            self.edited.insert(number);
            let lines_now = hashes_of(now);
            let known: HashSet<u32> = lines_then.iter().copied().collect();
            self.add(
                number,
                Version::Brought,
                lines_now.iter().copied().filter(|line| !known.contains(line)),
            );
            self.add(number, Version::Now, lines_now.iter().copied());
        }
        self.add(number, Version::Head, lines_then.into_iter());
    }

    fn add(&mut self, number: usize, version: Version, lines: impl Iterator<Item = u32>) {
        let number = self.version(number, version) as u64;
        self.lines.extend(lines.map(|line| u64::from(line) << u32::BITS | number));
    }

    fn in_order(mut self) -> Self {
        self.lines.sort_unstable();
        self.lines.dedup();
        self
    }

    /// Whether the file number `number` has other bytes now than in the newest commit.
    pub(crate) fn is_edited(&self, number: usize) -> bool {
        self.edited.contains(&number)
    }

    /// The number of a version of the file number `number`.
    fn version(&self, number: usize, version: Version) -> usize {
        match version {
            Version::Head => number,
            Version::Now => self.n_files + number,
            Version::Brought => 2 * self.n_files + number,
        }
    }

    /// How many of the lines `telling` each version holds that holds any.
    fn held(&self, telling: &[u32]) -> Held<'_> {
        let mut by_version = BTreeMap::new();
        for line in telling {
            let first = self.lines.partition_point(|known| *known < u64::from(*line) << u32::BITS);
            let same =
                self.lines[first..].iter().take_while(|known| **known >> u32::BITS == u64::from(*line));
            for version in same {
                let number = usize::try_from(*version & u64::from(u32::MAX)).expect("a number of versions");
                *by_version.entry(number).or_default() += 1;
            }
        }
        Held { line_index: self, n_telling: telling.len(), by_version }
    }

    /// The files that may hold code with the lines `telling`, beside `own`.
    pub(crate) fn holding(&self, context: &ReadContext<'_>, telling: &[u32], own: &Own<'_>) -> Vec<Holding> {
        if telling.len() < SHORTEST || self.lines.is_empty() {
            return Vec::new();
        }
        let held = self.held(telling);
        if !held.is_any_enough() {
            return Vec::new();
        }
        let files = held.by_version.keys().map(|version| version % self.n_files);
        let others: BTreeSet<usize> = files.filter(|file| !own.files.contains(file)).collect();
        let mut holding = Vec::new();
        for side in [Side::Head, Side::Worktree] {
            let all = others.iter().map(|file| (*file, held.n_of(*file, side)));
            let all: Vec<(usize, usize)> =
                all.filter(|(_, n_held)| may_hold(*n_held, telling.len())).collect();
            let is_now = side == Side::Worktree;
            if !all.iter().any(|(file, _)| held.is_brought(*file) == is_now) {
                continue;
            }
            let n_own = match own.files {
                [] => context.n_noted(own.name, telling, side),
                files => files.iter().map(|file| held.n_of(*file, side)).max().unwrap_or_default(),
            };
            let is_in_many = MAX_HOLDERS < all.iter().filter(|(_, n_held)| n_own < *n_held).count();
            let meant = all.into_iter().filter(|(file, _)| held.is_brought(*file) == is_now);
            holding.extend(meant.map(|(file, n_held)| Holding {
                file,
                side,
                n_held,
                is_more: n_own < n_held && !is_in_many,
            }));
        }
        holding
    }

    /// Whether so few files came to hold the code that it is in them by no habit.
    pub(crate) fn are_few(&self, telling: &[u32], n_own: usize) -> bool {
        let held = self.held(telling).by_version.into_values();
        held.filter(|n_held| n_own < *n_held && may_hold(*n_held, telling.len())).count() <= MAX_HOLDERS
    }

    /// Whether any of the files may hold code with the lines `telling`.
    pub(crate) fn may_hold(&self, telling: &[u32]) -> bool {
        self.held(telling).is_any_enough()
    }

    /// Whether a file may hold what a note sketched, a note as it was written: a cheap look before that is parsed.
    pub(crate) fn of_any_in(&self, raw: &[u8]) -> bool {
        !self.lines.is_empty() && sketches_in(raw).any(|telling| self.may_hold(&telling))
    }
}

/// How many of some telling lines the versions hold.
struct Held<'h> {
    line_index: &'h LineIndex,
    n_telling: usize,
    by_version: BTreeMap<usize, usize>,
}

impl Held<'_> {
    /// Whether any version may have the code that the lines are of.
    fn is_any_enough(&self) -> bool {
        self.by_version.values().any(|n_held| may_hold(*n_held, self.n_telling))
    }

    fn n_in(&self, file: usize, version: Version) -> usize {
        self.by_version.get(&self.line_index.version(file, version)).copied().unwrap_or_default()
    }

    fn n_of(&self, file: usize, side: Side) -> usize {
        match side {
            Side::Worktree if self.line_index.is_edited(file) => self.n_in(file, Version::Now),
            _ => self.n_in(file, Version::Head),
        }
    }

    /// Whether an edit may have brought the code.
    fn is_brought(&self, file: usize) -> bool {
        may_hold(self.n_in(file, Version::Brought), self.n_telling)
    }
}

/// A file that may hold some code beside those that it was in when a note sketched it.
pub(crate) struct Holding {
    /// The number of the file.
    pub(crate) file: usize,
    pub(crate) side: Side,
    /// How many of the telling lines it holds.
    pub(crate) n_held: usize,
    /// Whether it holds more of them than those, as no more than [`MAX_HOLDERS`] do: the code may have come from there.
    pub(crate) is_more: bool,
}

/// The files that some code was in when a note sketched it.
pub(crate) struct Own<'o> {
    /// Their numbers, where they are in scope.
    pub(crate) files: &'o [usize],
    /// What the note calls them.
    pub(crate) name: &'o str,
}
