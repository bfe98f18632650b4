//! What is known already of the changes that the commits of a history made.

use std::collections::{HashMap, hash_map::Entry};

use gix::bstr::{BStr, BString};

use crate::{Changes, History};

/// Which files the commits of a [`History`] changed, as somebody saw it before: where none of the followed ones is
/// among them, no tree is looked into.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past {
    /// For each place of the history, whether it is known what its commit changed, and all commits before it.
    is_known: Vec<bool>,
    /// Every path that a known commit changed, in order.
    paths: Vec<BString>,
    /// For each path the places of the commits that changed it, and whether each left a file of that name.
    changed: Vec<Vec<(u32, bool)>>,
}

/// Bits that are spent on the paths that a walk asks about; beyond that it looks into trees.
const MAX_BITS: usize = 1 << 28;

impl History {
    /// The same history, where it is known what some of its commits changed. `number_then` tells which commit of
    /// `changes` the one at a place is; whoever is one of them has the same parents there as here.
    #[must_use]
    pub fn knowing(mut self, changes: Changes, number_then: impl Fn(&Self, u32) -> Option<u32>) -> Self {
        let n_commits = self.nodes().len();
        let mut past = Past {
            is_known: vec![false; n_commits],
            changed: vec![Vec::new(); changes.paths.len()],
            paths: changes.paths,
        };
        for place in from_oldest(&self) {
            let mut parents = self.node(place).parents.iter();
            if !parents.all(|parent| past.is_known[*parent as usize]) {
                continue;
            }
            let number = number_then(&self, place).map(|number| number as usize);
            let Some(commit) = number.and_then(|number| changes.commits.get(number)) else { continue };
            past.is_known[place as usize] = true;
            for one in commit {
                if let Some(changed) = past.changed.get_mut(one.path as usize) {
                    changed.push((place, one.is_there));
                }
            }
        }
        self.past = Some(past.into());
        self
    }
}

/// The paths that a walk through a history asks about, as far as the history is known.
pub(crate) struct Traces<'h> {
    history: &'h History,
    past: &'h Past,
    numbers: HashMap<BString, usize>,
    traces: Vec<Trace>,
}

/// One path in all commits of a history, a bit for each place.
struct Trace {
    is_changed: Vec<u64>,
    is_there: Vec<u64>,
}

impl<'h> Traces<'h> {
    /// `None` where nothing is known of the history.
    pub(crate) fn through(history: &'h History) -> Option<Self> {
        let past = history.past.as_deref()?;
        Some(Self { history, past, numbers: HashMap::new(), traces: Vec::new() })
    }

    /// The numbers by which to ask about `paths`; `None` where they are too many.
    pub(crate) fn numbers(&mut self, paths: Vec<BString>) -> Option<Vec<usize>> {
        let is_too_many = |n_traces: usize| MAX_BITS < n_traces * self.history.nodes().len();
        let mut numbers = Vec::with_capacity(paths.len());
        for path in paths {
            let next = self.traces.len();
            let number = match self.numbers.entry(path) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(_) if is_too_many(next) => return None,
                Entry::Vacant(new) => {
                    self.traces.push(Trace::of(new.key().as_ref(), self.past, self.history));
                    *new.insert(next)
                }
            };
            numbers.push(number);
        }
        Some(numbers)
    }

    /// Whether the commit at `place` is known to have changed none of these paths, nor to have brought one in beside what
    /// a later one of its parents has.
    pub(crate) fn rest(&self, place: u32, numbers: &[usize]) -> bool {
        let parents = &self.history.node(place).parents;
        let Some((_, others)) = parents.split_first().filter(|_| self.past.is_known[place as usize]) else {
            return false;
        };
        let mut traces = numbers.iter().map(|number| &self.traces[*number]);
        !traces.any(|trace| {
            let lacks = |parent: &u32| !has(&trace.is_there, *parent);
            has(&trace.is_changed, place) || has(&trace.is_there, place) && others.iter().any(lacks)
        })
    }
}

impl Trace {
    fn of(path: &BStr, past: &Past, history: &History) -> Self {
        let nodes = history.nodes();
        let nothing = || vec![0; nodes.len().div_ceil(64)];
        let mut trace = Self { is_changed: nothing(), is_there: nothing() };
        let Ok(number) = past.paths.binary_search_by(|known| known.as_slice().cmp(path)) else {
            return trace;
        };
        for (place, is_there) in &past.changed[number] {
            set(&mut trace.is_changed, *place);
            if *is_there {
                set(&mut trace.is_there, *place);
            }
        }
        // What a commit leaves alone is there if its first parent has it.
        for place in from_oldest(history) {
            let node = history.node(place);
            if !has(&trace.is_changed, place)
                && node.parents.first().is_some_and(|parent| has(&trace.is_there, *parent))
            {
                set(&mut trace.is_there, place);
            }
        }
        trace
    }
}

/// The places of a history, parents before children.
fn from_oldest(history: &History) -> impl Iterator<Item = u32> + use<> {
    let n_commits = u32::try_from(history.nodes().len()).expect("places are u32");
    (0..n_commits).rev()
}

fn has(bits: &[u64], place: u32) -> bool {
    bits[place as usize / 64] >> (place % 64) & 1 != 0
}

fn set(bits: &mut [u64], place: u32) {
    bits[place as usize / 64] |= 1 << (place % 64);
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        io::{Read as _, Write as _},
        process::Stdio,
    };

    use proptest::prelude::*;
    use testkit::TestRepo;

    use crate::Repository;

    use super::*;

    const PATHS: [&str; 7] = ["a", "b", "d/a", "d/b", "d/e", "d/e/c", "f"];

    #[derive(Debug, Clone)]
    struct Step {
        /// How many commits there are between this one and each of its parents.
        parents: Vec<usize>,
        edits: Vec<(Edit, usize, usize)>,
    }

    #[derive(Debug, Clone, Copy)]
    enum Edit {
        Write,
        Change,
        Delete,
        Rename,
        MakeExecutable,
        TakeFromOtherParent,
        BeSubmodule,
    }

    /// The mode of a file, and its lines.
    type Files = BTreeMap<&'static str, (&'static str, Vec<String>)>;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let edit = prop::sample::select(vec![
            Edit::Write,
            Edit::Change,
            Edit::Change,
            Edit::Delete,
            Edit::Rename,
            Edit::Rename,
            Edit::MakeExecutable,
            Edit::TakeFromOtherParent,
            Edit::TakeFromOtherParent,
            Edit::BeSubmodule,
        ]);
        let edits = prop::collection::vec((edit, 0..PATHS.len(), 0..PATHS.len()), 0..4);
        let step = (prop::collection::vec(0..3_usize, 0..3), edits);
        prop::collection::vec(step.prop_map(|(parents, edits)| Step { parents, edits }), 4..24)
    }

    /// Makes a commit of each step; returns the last one.
    fn commit(repo: &TestRepo, steps: &[Step]) -> gix::ObjectId {
        let mut made: Vec<Files> = Vec::new();
        let mut stream = String::new();
        for (number, step) in steps.iter().enumerate() {
            let mut parents: Vec<usize> =
                step.parents.iter().filter_map(|between| number.checked_sub(between + 1)).collect();
            parents.dedup();
            let mut files = parents.first().map_or_else(Files::new, |first| made[*first].clone());
            for (edit, path, other) in &step.edits {
                let [path, other] = [PATHS[*path], PATHS[*other]];
                let lines = || (0..6).map(|line| format!("{number} of {path}, line {line}\n")).collect();
                match edit {
                    Edit::Write => drop(files.insert(path, ("100644", lines()))),
                    Edit::Change => {
                        if let Some((_, lines)) = files.get_mut(path).filter(|(mode, _)| *mode != "160000") {
                            lines[number % 6] = format!("changed by {number}\n");
                        }
                    }
                    Edit::Delete => drop(files.remove(path)),
                    Edit::Rename => {
                        if let Some(file) = files.remove(path) {
                            files.insert(other, file);
                        }
                    }
                    Edit::MakeExecutable => {
                        if let Some((mode, _)) = files.get_mut(path).filter(|(mode, _)| *mode != "160000") {
                            *mode = "100755";
                        }
                    }
                    Edit::TakeFromOtherParent => {
                        let theirs = parents.get(1).map(|other| made[*other].get(path).cloned());
                        match theirs {
                            Some(Some(file)) => drop(files.insert(path, file)),
                            Some(None) => drop(files.remove(path)),
                            None => {}
                        }
                    }
                    Edit::BeSubmodule => drop(files.insert(path, ("160000", Vec::new()))),
                }
            }
            let time = 1_700_000_000 + number;
            stream += &format!(
                "commit refs/heads/c{number}\nmark :{}\ncommitter T <t@example.org> {time} +0000\ndata 0\n",
                number + 1
            );
            for (parent, word) in parents.iter().zip(["from", "merge"]) {
                stream += &format!("{word} :{}\n", parent + 1);
            }
            stream += "deleteall\n";
            for (path, (mode, lines)) in &files {
                let content = lines.concat();
                stream += &match *mode {
                    "160000" => format!("M 160000 {:040} {path}\n", 1),
                    mode => format!("M {mode} inline {path}\ndata {}\n{content}\n", content.len()),
                };
            }
            made.push(files);
        }
        let mut import = testkit::command("git", repo.path());
        let mut import = import
            .args(["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git is installed");
        import.stdin.take().expect("it is piped").write_all(stream.as_bytes()).expect("git reads all");
        let mut said = String::new();
        import.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
        assert!(import.wait().expect("it runs").success(), "{said}\n{stream}");
        let tip = repo.git(&["rev-parse", &format!("refs/heads/c{}", steps.len() - 1)]);
        gix::ObjectId::from_hex(tip.as_bytes()).expect("it is an id")
    }

    /// Follows files through the history of `steps`, of which what the commits up to the one at `base` changed is known,
    /// and as if nothing were.
    fn follow_both_ways(steps: &[Step], base: usize, one: usize) {
        let repo = TestRepo::new();
        let tip = commit(&repo, steps);
        let now = testkit::DATE.parse().expect("it is a time");
        let repository = Repository::discover(repo.path(), now).expect("it is a repository");
        let history = repository.history(&[tip]).unwrap();
        let base = history.nodes()[base % history.nodes().len()].clone();
        let then = repository.history(&[base.id]).unwrap();
        let files_then = repository.files_under(base.tree, BStr::new("")).unwrap();
        let (_, changes) = repository.follow_all(&then, &files_then).unwrap();
        let known = history.clone().knowing(changes, |history, at| then.place(history.node(at).id));

        let paths = PATHS.map(BString::from);
        let many: Vec<BString> =
            (0..90).map(|n| format!("none/{n}").into()).chain(paths.iter().cloned()).collect();
        for paths in [&paths[..], &[paths[one].clone()], &many] {
            let [unknown, known] =
                [&history, &known].map(|history| format!("{:?}", repository.follow(history, paths).unwrap()));
            assert_eq!(unknown, known);
        }
        let tree = history.nodes()[0].tree;
        let is_gone = |path: &BString| repository.blob_at(tree, path.as_ref()).unwrap().is_none();
        let gone: Vec<BString> = paths.into_iter().filter(is_gone).collect();
        let [unknown, known] =
            [&history, &known].map(|history| repository.whereabouts(history, &gone).unwrap());
        assert_eq!(unknown, known);
    }

    #[test]
    fn a_file_that_another_parent_of_a_merge_calls_otherwise_is_followed_there() {
        let step = |parents: &[usize], edits: &[_]| Step { parents: parents.into(), edits: edits.into() };
        let renamed_here = [
            step(&[], &[(Edit::Write, 0, 0)]),
            step(&[0], &[(Edit::Rename, 0, 1)]),
            step(&[1], &[(Edit::Change, 0, 0)]),
            step(&[1, 0], &[]),
        ];
        let renamed_there = [
            step(&[], &[(Edit::Write, 0, 0)]),
            step(&[0], &[(Edit::Change, 0, 0)]),
            step(&[1], &[(Edit::Rename, 0, 1)]),
            step(&[1, 0], &[]),
        ];
        for steps in [renamed_here, renamed_there] {
            for base in 0..steps.len() {
                follow_both_ways(&steps, base, 0);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn files_are_followed_as_through_a_history_that_nobody_knows(
            steps in steps(),
            base in 0..24_usize,
            one in 0..PATHS.len(),
        ) {
            follow_both_ways(&steps, base, one);
        }
    }
}
