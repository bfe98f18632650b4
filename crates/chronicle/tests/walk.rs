//! Facts change how fast an answer comes, never what it says.
//!
//! Somebody works at random in a repository. After each step the same questions are asked with the facts that were
//! kept so far and with none kept; the answers must be the same.
//!
//! `CHRONICLE_TEST_SEEDS=100:50` tries fifty seeds from 100 on.

#[path = "walk/repository.rs"]
mod repository;
#[path = "walk/work.rs"]
mod work;

use std::{
    cell::RefCell,
    ffi::OsString,
    fmt::Debug,
    path::{Path, PathBuf},
    thread,
};

use chronicle::{AnnotateCommand, Chronicle, Given, ReadCommand};
use chronicle_workplace::Workplace;
use jiff::Timestamp;

use crate::work::Work;

/// How many steps are made from one seed.
const STEPS: usize = 25;

/// How many seeds are always tried.
const SEEDS: u64 = 200;

thread_local! {
    /// The home of the user whose turn it is in this thread.
    static HOME: RefCell<OsString> = RefCell::default();
}

fn home(name: &str) -> Option<OsString> {
    (name == "CHRONICLE_HOME").then(|| HOME.with_borrow(Clone::clone))
}

/// The application, on what is kept, and on nothing.
fn applications(root: &Path) -> [(&'static str, Chronicle); 2] {
    let now: Timestamp = "2026-03-03T12:00:00Z".parse().expect("it is a time");
    let new = |keeps_facts| Chronicle::new(Workplace::new(root, now, keeps_facts).with_environment(home));
    [("kept facts", new(true)), ("new facts", new(false))]
}

/// Asks all of them; they must agree. Returns what they said.
fn same<T: Debug, E: Debug>(root: &Path, question: &str, ask: impl Fn(&Chronicle) -> Result<T, E>) -> String {
    let answers: Vec<(&str, String)> = applications(root)
        .iter()
        .map(|(name, chronicle)| (*name, format!("{:#?}", ask(chronicle))))
        .collect();
    for (name, answer) in &answers[1..] {
        let (first, kept) = &answers[0];
        if kept != answer {
            let differing = kept.lines().zip(answer.lines()).find(|(left, right)| left != right);
            panic!(
                "{question}: {first} and {name} differ: {differing:?}\n--- {first}\n{kept}\n--- {name}\n{answer}"
            );
        }
    }
    answers.into_iter().next().map(|(_, answer)| answer).unwrap_or_default()
}

/// Returns whether anything was known.
fn read(root: &Path, path: &str, what: &str) -> bool {
    let command =
        ReadCommand { paths: vec![PathBuf::from(path)], max_regions: Some(1000), ..ReadCommand::default() };
    same(root, &format!("read {path}, {what}"), |chronicle| chronicle.read(&command)).contains("WisdomItem")
}

/// Walks from one seed; returns how often a file was asked about of which something was known.
fn walk(seed: u64) -> usize {
    let user = tempfile::tempdir().expect("a folder can be made");
    HOME.set(user.path().as_os_str().to_owned());
    let mut work = Work::begin(seed);
    let root = work.written.root().to_owned();
    let (mut steps, mut n_known) = (Vec::new(), 0);
    for _ in 0..STEPS {
        let (step, wanted) = work.step();
        if let Some((commit, input)) = wanted {
            let [_, (_, chronicle)] = applications(&root);
            let given = Given::Json(input.to_string().into_bytes());
            let command =
                AnnotateCommand { given, commit: Some(commit), replace: Vec::new(), replace_summary: false };
            // Lines that the file does not have are refused.
            let _stored = chronicle.annotate(command);
        }
        steps.push(step);
        let what = format!("seed {seed} after {steps:?}");
        let files = work.files();
        if files.is_empty() {
            continue;
        }
        let file = work.random.one(&files);
        n_known += usize::from(read(&root, &file, &what));
        if work.random.below(3) == 0 {
            same(&root, &format!("deps {file}, {what}"), |chronicle| {
                chronicle.deps(Path::new(&file), None, false)
            });
        }
        if work.random.below(6) == 0 {
            read(&root, ".", &what);
            let mut edited = work.tree().clone();
            work.edit(&mut edited, &file);
            work.written.put(&edited);
            read(&root, &file, &format!("{file} edited, {what}"));
            let tree = work.tree().clone();
            work.written.put(&tree);
        }
        let other = work.random.one(&files);
        if work.random.below(5) == 0 && other != file {
            let (mut edited, stays) = (work.tree().clone(), work.random.below(3) == 0);
            work.bring(&mut edited, &file, &other, stays);
            if work.random.below(4) == 0 {
                edited.remove(&file);
            }
            work.written.put(&edited);
            for path in &files {
                read(&root, path, &format!("lines of {file} in {other}, stay: {stays}, {what}"));
            }
            let tree = work.tree().clone();
            work.written.put(&tree);
        }
    }
    n_known
}

#[expect(clippy::disallowed_methods, reason = "how much a test tries is set from outside")]
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("CHRONICLE_TEST_SEEDS").ok();
    let given = given.as_deref().and_then(|given| given.split_once(':'));
    let given = given.and_then(|(first, n)| Some((first.parse::<u64>().ok()?, n.parse::<u64>().ok()?)));
    let (first, n) = given.unwrap_or((1, SEEDS));
    first..first + n
}

#[test]
fn kept_facts_say_what_new_ones_say_whatever_happened_in_between() {
    let seeds: Vec<u64> = seeds().collect();
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    let n_known: usize = thread::scope(|scope| {
        let parts = seeds.chunks(seeds.len().div_ceil(n_threads).max(1));
        let walks = |part: &[u64]| part.iter().map(|seed| walk(*seed)).sum::<usize>();
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || walks(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("all agree")).sum()
    });
    assert!(seeds.len() <= n_known, "nearly nothing was known: {n_known}");
}
