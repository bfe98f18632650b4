//! Someone who works at random, changes branches and rewrites history.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::repository::{Tree, Written};

/// Numbers that are the same in every run (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("smaller than end")
    }

    pub(crate) fn one<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn lines(&mut self, n: usize) -> Vec<String> {
        (0..n)
            .map(|_| format!("let line_{} = read(source, {});", self.below(1_000_000), self.below(9)))
            .collect()
    }
}

/// A commit: its id, its parents by number, its files.
struct Made {
    id: String,
    parents: Vec<usize>,
    tree: Tree,
}

/// A repository at work.
pub(crate) struct Work {
    pub(crate) written: Written,
    pub(crate) random: Random,
    commits: Vec<Made>,
    branches: BTreeMap<String, usize>,
    head: String,
    n_branches: usize,
    /// Commits that a branch was at which was deleted.
    deleted: Vec<usize>,
    /// Lines that were cut out and are to be put somewhere else.
    cut: Vec<String>,
}

/// What a step wants to be stored as a note: the commit, and the input of `annotate`.
pub(crate) type Wanted = (String, Value);

impl Work {
    pub(crate) fn begin(seed: u64) -> Self {
        let mut work = Self {
            written: Written::new(),
            random: Random::new(seed),
            commits: Vec::new(),
            branches: BTreeMap::new(),
            head: "main".to_owned(),
            n_branches: 0,
            deleted: Vec::new(),
            cut: Vec::new(),
        };
        let mut tree = Tree::new();
        for n in 0..4 {
            let lines = work.random.lines(24);
            tree.insert(format!("d{}/f{n}.txt", n % 2), (lines.join("\n") + "\n", false));
        }
        work.commit(tree, Vec::new());
        work
    }

    fn at(&self) -> usize {
        self.branches[&self.head]
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.commits[self.at()].tree
    }

    pub(crate) fn files(&self) -> Vec<String> {
        self.tree().keys().cloned().collect()
    }

    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(number) = pending.pop() {
            if reached.insert(number) {
                pending.extend(&self.commits[number].parents);
            }
        }
        reached
    }

    fn commit(&mut self, tree: Tree, parents: Vec<usize>) {
        let number = self.commits.len();
        // Now and then two are made in one second, or a clock is wrong.
        let time = match self.random.below(8) {
            0 => 1_772_000_000,
            n => 1_772_000_000 + 600 * i64::try_from(number).expect("few") + i64::try_from(n).expect("few"),
        };
        let ids: Vec<&str> = parents.iter().map(|parent| self.commits[*parent].id.as_str()).collect();
        let id = self.written.commit(&tree, &ids, time, &format!("commit {number}"));
        self.commits.push(Made { id, parents, tree });
        self.go_to(number);
    }

    /// Moves the branch that HEAD is on to the commit of that number.
    fn go_to(&mut self, number: usize) {
        self.branches.insert(self.head.clone(), number);
        self.written.set_branch(&self.head, Some(&self.commits[number].id));
        let tree = self.commits[number].tree.clone();
        self.written.check_out(&self.head, &tree);
    }

    fn commit_on_top(&mut self, tree: Tree) {
        let parent = self.at();
        self.commit(tree, vec![parent]);
    }

    fn lines_of(tree: &Tree, file: &str) -> Vec<String> {
        tree.get(file).map(|(text, _)| text.lines().map(str::to_owned).collect()).unwrap_or_default()
    }

    fn set_lines(tree: &mut Tree, file: &str, lines: &[String]) {
        let is_executable = tree.get(file).is_some_and(|file| file.1);
        tree.insert(file.to_owned(), (lines.join("\n") + "\n", is_executable));
    }

    pub(crate) fn edit(&mut self, tree: &mut Tree, file: &str) {
        let mut lines = Self::lines_of(tree, file);
        let at = self.random.below(lines.len() + 1);
        match self.random.below(4) {
            0 => drop(lines.splice(at..at, self.random.lines(3)).collect::<Vec<_>>()),
            1 if 8 < lines.len() => drop(lines.drain(at.min(lines.len() - 3)..at.min(lines.len() - 3) + 3)),
            2 if at < lines.len() => lines[at] = lines[at].replace("read(", "try_read("),
            _ => lines.extend(self.random.lines(1)),
        }
        Self::set_lines(tree, file, &lines);
    }

    /// Takes lines out of the file `from`, where they may stay.
    fn cut(&mut self, tree: &mut Tree, from: &str, stays: bool) {
        let mut lines = Self::lines_of(tree, from);
        let first = self.random.below(lines.len().saturating_sub(6).max(1));
        let end = (first + 4 + self.random.below(8)).min(lines.len());
        self.cut = lines[first..end].to_vec();
        if !stays {
            lines.drain(first..end);
            Self::set_lines(tree, from, &lines);
        }
    }

    /// Puts into the file `to` the lines that were cut last.
    fn paste(&mut self, tree: &mut Tree, to: &str) {
        let mut lines = Self::lines_of(tree, to);
        let at = self.random.below(lines.len() + 1);
        lines.splice(at..at, std::mem::take(&mut self.cut));
        Self::set_lines(tree, to, &lines);
    }

    /// Puts lines of the file `from` into the file `to`; they stay in the first one or do not.
    pub(crate) fn bring(&mut self, tree: &mut Tree, from: &str, to: &str, stays: bool) {
        let kept = std::mem::take(&mut self.cut);
        self.cut(tree, from, stays);
        self.paste(tree, to);
        self.cut = kept;
    }

    fn merged(&self, ours: usize, theirs: usize) -> Tree {
        let (reached, of_theirs) = (self.reached(ours), self.reached(theirs));
        let base = reached.intersection(&of_theirs).max();
        let none = Tree::new();
        let base = base.map_or(&none, |base| &self.commits[*base].tree);
        let (ours, theirs) = (&self.commits[ours].tree, &self.commits[theirs].tree);
        let mut merged = ours.clone();
        for path in base.keys().chain(theirs.keys()) {
            if ours.get(path) == base.get(path) {
                match theirs.get(path) {
                    Some(file) => drop(merged.insert(path.clone(), file.clone())),
                    None => drop(merged.remove(path)),
                }
            }
        }
        merged
    }

    /// One step; says what it was, and what it wants to be noted.
    pub(crate) fn step(&mut self) -> (String, Option<Wanted>) {
        let (files, mut tree) = (self.files(), self.tree().clone());
        let number = self.random.below(1000);
        let said = match self.random.below(26) {
            step if files.len() < 3 || step == 15 => {
                Self::set_lines(&mut tree, &format!("d0/n{}.txt", number % 40), &self.random.lines(16));
                self.commit_on_top(tree);
                "another file".to_owned()
            }
            0..=2 => {
                let file = self.random.one(&files);
                self.edit(&mut tree, &file);
                self.commit_on_top(tree);
                format!("edit {file}")
            }
            3 => {
                let (old, new) = (self.random.one(&files), format!("d{}/r{}.txt", number % 3, number % 50));
                if tree.contains_key(&new) {
                    return ("nothing".to_owned(), None);
                }
                let file = tree.remove(&old).expect("it is there");
                tree.insert(new.clone(), file);
                self.commit_on_top(tree);
                format!("rename {old} {new}")
            }
            4 => {
                let file = self.random.one(&files);
                if number.is_multiple_of(2) {
                    self.cut(&mut tree, &file, true);
                }
                tree.remove(&file);
                self.commit_on_top(tree);
                format!("remove {file}")
            }
            5 => {
                let at = self.at();
                self.head = self.new_branch(at);
                self.go_to(at);
                "branch".to_owned()
            }
            6 => {
                self.head = self.any_branch();
                self.go_to(self.at());
                format!("checkout {}", self.head)
            }
            7 => {
                let branch = self.any_branch();
                let (ours, theirs) = (self.at(), self.branches[&branch]);
                if self.reached(ours).contains(&theirs) {
                    return ("nothing to merge".to_owned(), None);
                }
                let merged = self.merged(ours, theirs);
                self.commit(merged, vec![ours, theirs]);
                format!("merge {theirs}")
            }
            8 => {
                let file = self.random.one(&files);
                self.edit(&mut tree, &file);
                let parents = self.commits[self.at()].parents.clone();
                self.commit(tree, parents);
                "amend".to_owned()
            }
            9 => match self.commits[self.at()].parents.first().copied() {
                Some(parent) => {
                    self.go_to(parent);
                    "reset".to_owned()
                }
                None => "nothing".to_owned(),
            },
            10 => match self.commits[self.at()].parents.first().copied() {
                Some(parent) => {
                    let before = self.commits[parent].tree.clone();
                    self.commit_on_top(before);
                    "revert".to_owned()
                }
                None => "nothing".to_owned(),
            },
            11 => {
                let branch = self.any_branch();
                if branch != self.head {
                    self.deleted.extend(self.branches.remove(&branch));
                    self.written.set_branch(&branch, None);
                }
                format!("delete {branch}")
            }
            12 if !self.deleted.is_empty() => {
                let commit = self.random.one(&self.deleted.clone());
                let branch = self.new_branch(commit);
                format!("{branch} again at {commit}")
            }
            13 => {
                let branch = self.any_branch();
                let (ours, theirs) = (self.at(), self.branches[&branch]);
                let merged = self.merged(ours, theirs);
                self.commit_on_top(merged);
                format!("squash {theirs}")
            }
            14 => {
                let file = self.random.one(&files);
                tree.get_mut(&file).expect("it is there").1 = number.is_multiple_of(2);
                self.commit_on_top(tree);
                format!("mode of {file}")
            }
            16 | 17 => {
                let (from, to) = (self.random.one(&files), self.random.one(&files));
                let stays = number.is_multiple_of(3);
                if from != to {
                    self.bring(&mut tree, &from, &to, stays);
                    self.commit_on_top(tree);
                }
                format!("bring lines of {from} into {to}, where they stay: {stays}")
            }
            18 | 19 => {
                let (file, is_cut) = (self.random.one(&files), !self.cut.is_empty());
                if is_cut {
                    self.paste(&mut tree, &file);
                } else {
                    self.cut(&mut tree, &file, false);
                }
                self.commit_on_top(tree);
                format!("{} {file}", if is_cut { "paste into" } else { "cut out of" })
            }
            _ => return self.annotate(),
        };
        (said, None)
    }

    fn any_branch(&mut self) -> String {
        let branches: Vec<String> = self.branches.keys().cloned().collect();
        self.random.one(&branches)
    }

    fn new_branch(&mut self, at: usize) -> String {
        self.n_branches += 1;
        let branch = format!("b{}", self.n_branches);
        self.branches.insert(branch.clone(), at);
        self.written.set_branch(&branch, Some(&self.commits[at].id));
        branch
    }

    fn annotate(&mut self) -> (String, Option<Wanted>) {
        let numbers: Vec<usize> = match self.random.below(4) {
            0 => (0..self.commits.len()).collect(),
            _ => self.reached(self.at()).into_iter().collect(),
        };
        let made = self.random.one(&numbers);
        let (commit, files) =
            (&self.commits[made].id, self.commits[made].tree.keys().cloned().collect::<Vec<_>>());
        let commit = commit.clone();
        let (file, other) = (self.random.one(&files), self.random.one(&files));
        // Perhaps there is to be such a file one day.
        let to_come = format!("d0/n{}.txt", self.random.below(40));
        let other = if self.random.below(3) == 0 { to_come } else { other };
        let start = 1 + self.random.below(10);
        let (text, end) = (self.random.below(1_000_000), start + self.random.below(6));
        let input = json!({ "summary": format!("why {text}"), "wisdom": [
            { "category": "gotcha", "content": format!("lines {text}"), "file": file, "lines": { "start": start, "end": end } },
            { "category": "insight", "content": format!("commit {text}, as {file} takes it"),
              "depends_on": [{ "file": other, "nature": "never empty" }] },
        ] });
        (format!("annotate {commit}"), Some((commit, input)))
    }
}
