//! Vectors of a model that somebody chose, as a second signal for `find`; a vector here is the number of bytes and words.

use std::{collections::BTreeMap, fs, process::Command};

use serde_json::{Value, json};
use testkit::{Answer, Asked, ScriptedService};

use crate::{
    desk::Desk,
    outcome::{Outcome, run},
};

/// Equal to the words of a question for `pool`, and unlike for vectors: few bytes for its words, and many.
const SHORT: &str = "the pool aa bb cc";
const LONG: &str = "pool incomprehensibilities internationalization responsibilities";

struct Vectors {
    desk: Desk,
    service: ScriptedService,
}

impl Vectors {
    fn answering(answer: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self { desk: Desk::new(), service: ScriptedService::answering(answer) }
    }

    fn new() -> Self {
        Self::answering(|_, _| Answer::text(""))
    }

    /// A command of somebody who chose the model `embedder`.
    fn command(&self, embedder: &str, args: &[&str]) -> Command {
        let mut command = self.desk.command_in(self.desk.repo.path(), args);
        command
            .env("CHRONICLE_LLM_PROVIDER", "openai")
            .env("CHRONICLE_LLM_BASE_URL", format!("{}/v1", self.service.url()))
            .env("CHRONICLE_LLM_MODEL_EMBED", embedder)
            .env("CHRONICLE_LLM_TIMEOUT", "5")
            .env("CHRONICLE_SEARCH_VECTORS", "true");
        command
    }

    fn run(&self, embedder: &str, args: &[&str]) -> Outcome {
        run(&mut self.command(embedder, args)).success()
    }

    /// Lets the model give vectors.
    fn embed(&self, embedder: &str) {
        self.run(embedder, &EMBED);
    }

    fn tell(&self, session: &str, texts: &[&str]) {
        let rows = texts.iter().enumerate().map(|(number, text)| {
            let row = json!({"session": session, "id": format!("{session}-{number}"), "role": "user", "text": text,
                "time": "2026-03-09T10:00:00Z", "folder": self.desk.repo.path()});
            format!("{row}\n")
        });
        let path = self.desk.home.join(format!("{session}.jsonl"));
        fs::write(&path, rows.collect::<String>()).expect("it can be written");
        self.desk.run(&["session", "ingest", &path.to_string_lossy()]).success();
    }

    /// A session that a model would be asked about.
    fn work(&self, session: &str) {
        let talk =
            self.desk.talk(session).prompt("Make the pool wait").edit("src/pool.rs", "a", "b").said("Done.");
        self.desk.leave(&talk);
        self.desk.ingest();
    }

    /// What the service was asked to embed, one list for each call.
    fn sent(&self) -> Vec<Vec<String>> {
        let texts = |asked: Asked| serde_json::from_value(asked.json()["input"].clone()).expect("texts");
        self.service.asked().into_iter().map(texts).collect()
    }
}

fn found(outcome: &Outcome) -> Vec<String> {
    let answer = outcome.json();
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter().map(|hit| hit["snippet"].as_str().expect("text").to_owned()).collect()
}

const EMBED: [&str; 2] = ["consolidate", "--daily"];

const FIND: [&str; 3] = ["find", "pool", "--format=json"];

#[test]
fn of_turns_that_words_leave_equal_the_one_that_means_the_same_comes_first() {
    let vectors = Vectors::new();
    vectors.tell("s1", &[SHORT]);
    vectors.tell("s2", &[LONG]);
    assert_eq!(found(&vectors.run("one", &FIND)), [LONG, SHORT]);
    assert!(vectors.sent().is_empty());
    vectors.embed("one");
    assert_eq!(vectors.sent(), [[LONG, SHORT]]);
    assert_eq!(found(&vectors.run("one", &FIND)), [SHORT, LONG]);
    assert_eq!(vectors.sent()[1..], [["pool"]]);
    let ledger = fs::read_to_string(vectors.desk.memory().join("spending.jsonl")).expect("a ledger");
    assert!(ledger.contains("\"embed\""), "{ledger}");
    // Nothing is new.
    vectors.embed("one");
    assert_eq!(vectors.sent().len(), 2);
}

#[test]
fn nothing_is_sent_that_nobody_chose_to_send() {
    let vectors = Vectors::new();
    vectors.tell("s1", &[SHORT]);
    let run_as = |args: &[&str], name: &str, value: &str| {
        run(vectors.command("one", args).env(name, value)).success();
    };
    for args in [&EMBED[..], &FIND] {
        run_as(args, "CHRONICLE_SEARCH_VECTORS", "false");
        run_as(args, "CHRONICLE_LLM_PROVIDER", "none");
    }
    vectors.run("one", &["consolidate", "--dry-run"]);
    assert!(vectors.sent().is_empty());
    vectors.embed("one");
    assert_eq!(vectors.sent(), [[SHORT]]);
}

#[test]
fn no_secret_leaves_the_machine() {
    let vectors = Vectors::new();
    let secret = "sk-ant-api03-T3stT3stT3stT3stT3stT3st";
    vectors.tell("s1", &[&format!("the pool takes {secret} now"), "<private>mine alone</private> the pool"]);
    vectors.embed("one");
    vectors.run("one", &["find", &format!("pool {secret}"), "--format=json"]);
    assert_eq!(vectors.sent().len(), 2);
    let sent = vectors.sent().concat().join("\n");
    assert!(
        sent.contains("the pool takes") && !sent.contains("T3st") && !sent.contains("mine alone"),
        "{sent}"
    );
}

#[test]
fn a_service_that_fails_leaves_what_words_find_and_one_warning() {
    let vectors = Vectors::answering(|n_before, _| match n_before {
        0 => Answer::text(""),
        _ => Answer::status(401, "no such key"),
    });
    vectors.tell("s1", &[SHORT]);
    vectors.tell("s2", &[LONG]);
    vectors.embed("one");
    let outcome = vectors.run("one", &FIND);
    assert_eq!(found(&outcome), [LONG, SHORT]);
    assert_eq!(outcome.json()["warnings"].as_array().map(Vec::len), Some(1));
    let outcome = vectors.run("one", &FIND[..2]).warns("found by words alone");
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(outcome.stdout.contains(LONG) && outcome.stdout.contains(SHORT), "{}", outcome.stdout);
}

#[test]
fn a_turn_without_a_word_of_the_question_is_found_by_its_meaning() {
    let vectors = Vectors::new();
    let long: Vec<String> = (0..7).map(|number| format!("{LONG} {}", "x".repeat(number + 2))).collect();
    vectors.tell("s1", &long.iter().map(String::as_str).collect::<Vec<_>>());
    vectors.tell("s2", &["aa b c d e"]);
    let find = ["find", "ox", "--format=json"];
    assert_eq!(found(&vectors.run("one", &find)), Vec::<String>::new());
    vectors.embed("one");
    assert_eq!(found(&vectors.run("one", &find)), ["aa b c d e"]);
    let since = ["find", "ox", "--format=json", "--since=2026-03-10"];
    assert_eq!(found(&vectors.run("one", &since)), Vec::<String>::new());
}

#[test]
fn what_was_interrupted_goes_on_where_it_was() {
    let vectors = Vectors::answering(|n_before, _| match n_before {
        1 => Answer::status(401, "no such key"),
        _ => Answer::text(""),
    });
    let texts: Vec<String> = (0..100).map(|number| format!("the pool has {number} connections")).collect();
    vectors.tell("s1", &texts.iter().map(String::as_str).collect::<Vec<_>>());
    vectors.embed("one");
    vectors.embed("one");
    vectors.embed("one");
    let sent = vectors.sent();
    assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [64, 36, 36]);
    let mut all = [sent[0].clone(), sent[2].clone()].concat();
    all.sort();
    let mut texts = texts;
    texts.sort();
    assert_eq!(all, texts);
}

#[test]
fn a_killed_process_loses_one_lot_at_most() {
    let vectors = Vectors::answering(|n_before, _| {
        if n_before == 1 {
            // Who asked is killed long before.
            std::thread::sleep(std::time::Duration::from_secs(5));
        }
        Answer::text("")
    });
    let texts: Vec<String> = (0..100).map(|number| format!("the pool has {number} connections")).collect();
    vectors.tell("s1", &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let mut command = vectors.command("one", &EMBED);
    let mut child = command.env("CHRONICLE_LLM_TIMEOUT", "60").spawn().expect("it runs");
    while vectors.sent().len() < 2 {
        std::thread::yield_now();
    }
    child.kill().expect("it is killed");
    child.wait().expect("it is over");
    vectors.embed("one");
    assert_eq!(vectors.sent().iter().map(Vec::len).collect::<Vec<_>>(), [64, 36, 36]);
}

#[test]
fn another_model_makes_all_vectors_anew_and_until_then_words_find() {
    let vectors = Vectors::new();
    vectors.tell("s1", &[SHORT]);
    vectors.tell("s2", &[LONG]);
    vectors.embed("one");
    // The other one's vectors do not compare: nobody is asked about the question.
    assert_eq!(found(&vectors.run("two", &FIND)), [LONG, SHORT]);
    assert_eq!(vectors.sent().len(), 1);
    vectors.tell("s3", &["another pool altogether"]);
    vectors.embed("two");
    let mut models = BTreeMap::new();
    for asked in vectors.service.asked() {
        let request: Value = asked.json();
        let n_texts = request["input"].as_array().map_or(0, Vec::len);
        *models.entry(request["model"].as_str().expect("a name").to_owned()).or_insert(0) += n_texts;
    }
    assert_eq!(models, BTreeMap::from([("one".to_owned(), 2), ("two".to_owned(), 3)]));
    // A turn that has none yet is found as well.
    vectors.tell("s4", &["the pool of tomorrow"]);
    let all = found(&vectors.run("two", &FIND));
    assert!(all.len() == 4 && all.contains(&"the pool of tomorrow".to_owned()), "{all:?}");
}

#[test]
fn a_hook_leaves_the_vectors_to_the_process_behind_it() {
    let vectors = Vectors::new();
    vectors.tell("s1", &[SHORT]);
    vectors.run("one", &["session", "ingest", "--queued"]);
    assert_eq!(vectors.sent(), [[SHORT]]);
}

#[test]
fn a_service_for_vectors_alone_is_asked_for_nothing_else_and_missed_by_nobody() {
    let vectors = Vectors::new();
    vectors.work("5e5e5e51-0000-4000-8000-000000000005");
    let done = vectors.run("one", &["consolidate", "--daily"]).stdout;
    assert!(!done.contains("in the words of"), "{done}");
    vectors.run("one", &["session", "ingest", "--queued"]);
    let asked = vectors.run("one", &["ask", "what about the pool?"]);
    assert!(!asked.stderr.contains("no model"), "{}", asked.stderr);
    assert!(vectors.service.asked().iter().all(|asked| asked.path.ends_with("/embeddings")));
    assert!(!vectors.sent().is_empty());
}

#[test]
fn a_service_that_lacks_the_name_of_its_model_is_told_of() {
    let vectors = Vectors::new();
    vectors.work("5e5e5e52-0000-4000-8000-000000000005");
    let mut command = vectors.command("one", &["consolidate", "--daily"]);
    command.env_remove("CHRONICLE_LLM_MODEL_EMBED").env("CHRONICLE_SEARCH_VECTORS", "false");
    let done = run(&mut command).success().stdout;
    let (_, told) = done.split_once("# in the words of a model\n\n").expect("it is told of");
    assert_eq!(told.trim(), "- not done: which model is to be asked there? Set chronicle.llm.model");
}
