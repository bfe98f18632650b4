//! Asks the library about a repository, with the facts that were kept and with none: both must say the same.

use std::{
    cell::RefCell,
    ffi::OsString,
    fmt::Debug,
    path::{Path, PathBuf},
    sync::Arc,
};

use chronicle::{
    AnnotateCommand, Chronicle, Given, LineRange, ReadCommand, Reading, UnitSummary, UnsavedText, WhyScope,
    WisdomItem,
};
use chronicle_workplace::Workplace;
use testkit::{DATE, TestRepo, user_data};

/// Two days and a bit after the commits of the test repositories.
const NOW: &str = "2026-03-03T18:00:00Z";

thread_local! {
    /// The home of the user whose turn it is in this thread.
    static HOME: RefCell<OsString> = RefCell::default();
}

fn home(name: &str) -> Option<OsString> {
    (name == "CHRONICLE_HOME").then(|| HOME.with_borrow(Clone::clone))
}

fn application(repo: &TestRepo, now: &str, keeps_facts: bool) -> Chronicle {
    HOME.set(user_data(repo.path()).into_os_string());
    let now = now.parse().expect("it is a time");
    Chronicle::new(Workplace::new(repo.path(), now, keeps_facts).with_environment(home))
}

/// An empty repository made by `git init INIT`, whose user has a name.
pub(crate) fn repository(init: &[&str]) -> TestRepo {
    let repo = TestRepo::with(init);
    repo.git(&["config", "user.name", "Ada"]);
    repo.git(&["config", "user.email", "ada@example.com"]);
    repo
}

/// Asks with kept facts and with new ones.
#[track_caller]
pub(crate) fn ask<T: Debug, E: Debug>(repo: &TestRepo, question: impl Fn(&Chronicle) -> Result<T, E>) -> T {
    let [kept, new] = [true, false].map(|keeps| {
        let answer = question(&application(repo, NOW, keeps)).expect("there is an answer");
        (format!("{answer:#?}"), answer)
    });
    assert_eq!(kept.0, new.0, "kept and new facts");
    kept.1
}

/// Annotates a commit at the time of the commits.
#[track_caller]
pub(crate) fn annotate(repo: &TestRepo, commit: &str, annotation: &serde_json::Value) {
    let command = AnnotateCommand {
        given: Given::Json(annotation.to_string().into_bytes()),
        commit: Some(commit.to_owned()),
        replace: Vec::new(),
        replace_summary: false,
    };
    at_work(repo, |chronicle| chronicle.annotate(command)).expect("it can be stored");
}

/// What is known about `path`, or about one item or some lines of it.
#[track_caller]
pub(crate) fn read(repo: &TestRepo, path: &str, anchor: Option<&str>, lines: Option<LineRange>) -> Reading {
    let command = ReadCommand {
        paths: vec![PathBuf::from(path)],
        anchor: anchor.map(str::to_owned),
        lines,
        max_regions: Some(100),
        ..ReadCommand::default()
    };
    ask(repo, |chronicle| chronicle.read(&command))
}

/// All that is known about the item `name` of `file`, and about its line `line`: each answer once, with the questions
/// that it answers.
#[track_caller]
pub(crate) fn known(repo: &TestRepo, file: &str, name: &str, line: Option<u32>) -> String {
    let mut answers = Answers::default();
    for (question, anchor) in [("item", Some(name)), ("file", None)] {
        let reading = read(repo, file, anchor, None);
        answers.add(question, lessons(&reading.wisdom));
        answers.warn(reading.warnings);
    }
    let history = ask(repo, |chronicle| chronicle.history(PathBuf::from(file), Some(name), None));
    history.moments.iter().for_each(|moment| answers.add("history", lessons(&moment.wisdom)));
    if let Some(line) = line {
        let lines = LineRange { start: line, end: line };
        answers.add("line", lessons(&read(repo, file, None, Some(lines)).wisdom));
        let why = ask(repo, |chronicle| chronicle.why(PathBuf::from(file), WhyScope::Lines(lines)));
        answers.add("why", lessons(&why.wisdom));
    }
    for (question, path, anchor) in [("summary", file, Some(name)), ("everywhere", ".", None)] {
        let summary = ask(repo, |chronicle| chronicle.summary(PathBuf::from(path), anchor));
        let units = summary.files.iter().flat_map(|file| {
            file.units.iter().map(|unit| in_short(&file.file, unit)).filter(|unit| !unit.is_empty())
        });
        answers.add(question, units.collect::<Vec<_>>().join("; "));
    }
    let deps = ask(repo, |chronicle| chronicle.deps(Path::new(file), Some(name), false));
    let dependents = deps.dependents.iter().map(|dependent| {
        let from = (dependent.from_file.as_deref(), dependent.from_anchor.as_deref());
        format!("{} {}: {}", from.0.unwrap_or_default(), from.1.unwrap_or_default(), dependent.nature)
    });
    answers.add("deps", dependents.collect::<Vec<_>>().join("; "));
    answers.in_words()
}

/// What was answered, in the order of the first question that had the answer.
#[derive(Default)]
struct Answers {
    answers: Vec<(Vec<&'static str>, String)>,
    warnings: Vec<String>,
}

impl Answers {
    fn add(&mut self, question: &'static str, answer: String) {
        match self.answers.iter_mut().find(|(_, other)| *other == answer) {
            Some((questions, _)) => questions.push(question),
            None if answer.is_empty() => {}
            None => self.answers.push((vec![question], answer)),
        }
    }

    fn warn(&mut self, warnings: Vec<String>) {
        let new = warnings.into_iter().filter(|warning| !self.warnings.contains(warning)).collect::<Vec<_>>();
        self.warnings.extend(new);
    }

    fn in_words(self) -> String {
        let answers =
            self.answers.into_iter().map(|(questions, answer)| format!("{}: {answer}", questions.join(", ")));
        answers
            .chain(self.warnings.iter().map(|warning| format!("warning: {warning}")))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Lessons in the order in which they are shown: kind, lines and state of each.
fn lessons(wisdom: &[WisdomItem]) -> String {
    let shown = wisdom.iter().map(|item| {
        let lines = item.standing.lines.map(|lines| format!(" {lines}")).unwrap_or_default();
        format!("{}{lines} {:?}", item.category, item.standing.state)
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A unit of a summary: its lines, and how many texts of each kind there are; empty for a commit's own summary.
fn in_short(file: &str, unit: &UnitSummary) -> String {
    let kinds = unit.kinds().into_iter().filter(|kind| !kind.texts.is_empty());
    let kinds: Vec<String> = kinds.map(|kind| format!("{} {}", kind.texts.len(), kind.label)).collect();
    let lines = unit.lines.map(|lines| lines.to_string());
    let parts = [Some(file.to_owned()), unit.anchor.clone(), lines, Some(kinds.join(", "))];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Asks while an editor holds `text` as the file `file`; with kept facts and with new ones.
#[track_caller]
pub(crate) fn in_editor<T: Debug, E: Debug>(
    repo: &TestRepo,
    (file, text): (&str, &str),
    question: impl Fn(&Chronicle) -> Result<T, E>,
) -> T {
    HOME.set(user_data(repo.path()).into_os_string());
    let [kept, new] = [true, false].map(|keeps| {
        let now = NOW.parse().expect("it is a time");
        let unsaved = UnsavedText::new(&repo.path().join(file), Arc::new(text.to_owned()));
        let workplace = Workplace::new(repo.path(), now, keeps).with_environment(home);
        let answer =
            question(&Chronicle::new(workplace.with_unsaved(Some(unsaved)))).expect("there is an answer");
        (format!("{answer:#?}"), answer)
    });
    assert_eq!(kept.0, new.0, "kept and new facts");
    kept.1
}

/// Does something at the time of the commits, with kept facts.
pub(crate) fn at_work<T>(repo: &TestRepo, work: impl FnOnce(&Chronicle) -> T) -> T {
    at(repo, DATE, true, work)
}

/// Does something at a time.
pub(crate) fn at<T>(repo: &TestRepo, now: &str, keeps_facts: bool, work: impl FnOnce(&Chronicle) -> T) -> T {
    work(&application(repo, now, keeps_facts))
}
