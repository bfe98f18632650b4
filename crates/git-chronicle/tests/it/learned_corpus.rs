//! What is learned from real transcripts, against what a careful reader says of it.

#![expect(clippy::print_stdout, reason = "the figures are for whoever measures")]

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{
    desk::Desk,
    outcome::{run, skip},
};

/// The day after the last of the transcripts.
const AFTERWARDS: &str = "2026-02-16T12:00:00Z";

/// From here on, what is shown has to be right.
const SURE: f64 = 0.7;

/// A machine that took all of them in; none where they are not there.
fn desk() -> Option<Desk> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/transcripts");
    let Ok(listing) = fs::read_dir(&folder) else {
        skip("the transcripts are not beside the clone");
        return None;
    };
    let desk = Desk::new();
    let unpacked = desk.home.join("transcripts");
    fs::create_dir(&unpacked).expect("there is none yet");
    for entry in listing
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "gz"))
    {
        let target =
            fs::File::create(unpacked.join(entry.file_stem().expect("a name"))).expect("it can be made");
        let status = testkit::command("gzip", &folder).arg("-dc").arg(&entry).stdout(target).status();
        assert!(status.expect("gzip runs").success());
    }
    ask(&desk, &["session", "ingest", &unpacked.to_string_lossy()]);
    Some(desk)
}

fn ask(desk: &Desk, args: &[&str]) -> Value {
    let args = [args, &["--format=json"]].concat();
    let mut command = desk.command_in(desk.repo.path(), &args);
    run(command.env("CHRONICLE_NOW", AFTERWARDS).env("TZ", "UTC")).success().json()
}

/// The lines of each session on which a turn begins, looked up once.
#[derive(Default)]
struct Turns(BTreeMap<String, Vec<u64>>);

impl Turns {
    /// Whether the session opens, and has a turn on that line.
    fn has(&mut self, desk: &Desk, session: &str, line: Option<u64>) -> bool {
        let lines = self.0.entry(session.to_owned()).or_insert_with(|| {
            let shown = ask(desk, &["session", "show", session, "--turns"]);
            shown["turns"]
                .as_array()
                .expect("turns")
                .iter()
                .filter_map(|turn| turn["line"].as_u64())
                .collect()
        });
        line.is_none_or(|line| lines.contains(&line))
    }
}

#[test]
fn everything_learned_has_evidence_that_opens_and_what_is_sure_is_right() {
    let Some(desk) = desk() else { return };
    let labels = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labels/learned.tsv"));
    let labels = labels.expect("labels are part of the project");
    let labels: BTreeMap<&str, &str> = labels.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut turns = Turns::default();
    let (mut n_evidence, mut n_sure, mut n_right) = (0, 0, 0);
    for kind in ["preferences", "patterns"] {
        let answer = ask(&desk, &[kind, "--all"]);
        for item in answer[kind].as_array().expect("a list") {
            let evidence = item["evidence"].as_array().expect("a list");
            assert!(!evidence.is_empty(), "{}", item["id"]);
            for place in evidence {
                let session = place["session"].as_str().expect("a session");
                assert!(turns.has(&desk, session, place["line"].as_u64()), "{}: {place}", item["id"]);
                n_evidence += 1;
            }
            if SURE <= item["confidence"].as_f64().expect("a number") {
                n_sure += 1;
                // What nobody judged counts as wrong.
                n_right += usize::from(labels.get(item["id"].as_str().expect("an id")) == Some(&"right"));
            }
        }
    }
    println!("{n_evidence} pieces of evidence open; {n_right} of {n_sure} that are sure are right");
    assert!(0 < n_sure && 9 * n_sure <= 10 * n_right, "{n_right} of {n_sure}");
}

#[test]
fn everything_that_an_answer_cites_is_there() {
    let Some(desk) = desk() else { return };
    let mut turns = Turns::default();
    let mut n_cited = 0;
    let phrasings = [
        include_str!("../../../chronicle/src/ask/phrasings.tsv"),
        include_str!("../../../chronicle/src/ask/phrasings-last.tsv"),
    ]
    .concat();
    for question in phrasings.lines().filter_map(|line| line.split_once('\t')).map(|(_, question)| question) {
        let asked = ask(&desk, &["ask", "--all", question]);
        for citation in asked["citations"].as_array().expect("a list") {
            let commit = citation["commit"].as_str();
            n_cited += 1;
            let Some(session) = citation["session"].as_str() else {
                // The repository has commits of its own.
                desk.repo.git(&["cat-file", "-e", commit.expect("a session or a commit")]);
                continue;
            };
            assert!(turns.has(&desk, session, citation["line"].as_u64()), "{question}: {citation}");
            if let Some(commit) = commit {
                let shown = ask(&desk, &["session", "show", session]);
                assert!(shown["digest"]["commits"].to_string().contains(commit), "{question}: {citation}");
            }
        }
    }
    println!("{n_cited} citations of 150 questions are there");
    assert!(300 < n_cited, "{n_cited}");
}
