//! Questions in plain words.

use serde_json::{Value, json};
use testkit::{Answer, ScriptedService};

use crate::{desk::Desk, outcome::run};

const FIRST: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.repo.write("src/pool.rs", "fn acquire() {\n    wait();\n}\n");
    desk.repo.commit("pool: wait for a connection");
    desk.run(&["annotate", "--json", &json!({"summary": "The pool waits.", "wisdom": [
        {"category": "gotcha", "content": "wait() holds the lock", "file": "src/pool.rs", "lines": {"start": 2, "end": 2}}]})
    .to_string()])
    .success();
    let talk = desk
        .talk(FIRST)
        .prompt("Make a full pool wait for its connections")
        .tool("Bash", &json!({"command": "cargo test"}), "test pool::waits ... FAILED", true)
        .edit("src/pool.rs", "fn acquire() {}", "fn acquire() {\n    wait();\n}")
        .command("cargo test", "test result: ok. 3 passed; 0 failed")
        .prompt("Let's use the bounded queue for the cache. I prefer pnpm over npm.")
        .said("The bounded queue it is, because the cache must not grow.");
    desk.leave(&talk);
    desk.ingest();
    desk
}

/// Whether everything cited is there.
fn resolve(desk: &Desk, asked: &Value) {
    for citation in asked["citations"].as_array().expect("a list") {
        if let Some(session) = citation["session"].as_str() {
            let shown = desk.ask(&["session", "show", session, "--turns"]);
            let is_there = |turn: &Value| turn["line"] == citation["line"];
            let turns = shown["turns"].as_array().expect("a list");
            assert!(citation["line"].is_null() || turns.iter().any(is_there), "{citation:#}");
        }
        if let Some(commit) = citation["commit"].as_str().filter(|commit| commit.len() == 40) {
            desk.repo.git(&["cat-file", "-e", commit]);
        }
    }
}

#[test]
fn a_question_goes_to_the_command_that_answers_it_and_says_so() {
    let desk = desk();
    for (question, route, words) in [
        ("what was I doing?", "brief", "full pool"),
        ("catch me up", "catch-up", "full pool"),
        ("what do I know about the pool?", "about", "full pool"),
        ("how do I usually test the pool?", "how", "cargo test"),
        ("which projects use Rust?", "projects", "repo"),
        ("what did we decide about the cache?", "decided", "bounded queue"),
        ("why is src/pool.rs:2 like this?", "why", "wait for a connection"),
        ("what should I know before editing src/pool.rs?", "read", "wait() holds the lock"),
        ("what do I prefer?", "preferences", "pnpm"),
        ("which technologies do I use?", "skills", "Rust"),
        ("what did I do yesterday?", "digest", "full pool"),
        ("bounded queue", "find", "bounded queue"),
    ] {
        let said = desk.run(&["ask", question]).success().stdout;
        assert!(
            said.starts_with(&format!("route: {route} (`git chronicle ")) && said.contains(words),
            "{question}: {said}"
        );
        let asked = desk.ask(&["ask", question]);
        assert_eq!((&asked["schema"], &asked["route"]), (&json!("chronicle-ask/v1"), &json!(route)));
        assert!(!asked["citations"].as_array().unwrap().is_empty(), "{asked:#}");
        resolve(&desk, &asked);
    }
}

#[test]
fn lists_numbers_and_states_are_answered_as_such() {
    let desk = desk();
    for (question, words) in [
        ("which projects did I work on yesterday?", "1 project in 1 session (2026-03-09)\n- repo (5e551011"),
        ("how many sessions per project", "1 project in 1 session\n- repo (5e551011"),
        ("which sessions ended without a commit?", "1 session that left changes uncommitted: 2 prompts"),
        ("which sessions ended with failing tests?", "nothing is known about this"),
        (
            "what errors did I get yesterday?",
            "1 failure in 1 session (2026-03-09)\n- cargo test → test pool::waits ... FAILED",
        ),
        ("which edits did I turn down?", "nothing is known about this"),
        ("how long did the bounded queue take?", "1 session about bounded queue: 2 prompts"),
        ("longest chat about the cache?", "- decided: Let's use the bounded queue"),
    ] {
        let said = desk.run(&["ask", question]).success().stdout;
        assert!(said.contains(words), "{question}: {said}");
    }
}

#[test]
fn the_name_of_a_project_is_no_topic() {
    let desk = desk();
    desk.run(&["thread", "add", "Document the queue"]).success();
    let asked = |question: &str| desk.run(&["ask", "--project", "repo", question]).success().stdout;
    assert!(asked("what is still open in repo").contains("Document the queue"));
    assert!(asked("which branches did I work on in repo").contains("in 1 session\n"));
}

#[test]
fn a_question_that_no_rule_knows_is_searched_for_and_shows_what_came_of_the_closest_session() {
    let desk = desk();
    let outcome = desk.run(&["ask", "full pool - committed or still lying around"]).success();
    outcome.warns("no rule knows this question");
    let asked = desk.ask(&["ask", "full pool - committed or still lying around"]);
    assert_eq!((&asked["route"], &asked["closest"]["session"]), (&json!("find"), &json!(FIRST)));
    let said = desk.run(&["ask", "full pool - committed or still lying around"]).stdout;
    let card: Vec<&str> = said
        .lines()
        .skip_while(|line| !line.starts_with("## Closest"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(card[0].starts_with("## Closest session: 5e551011 "), "{said}");
    assert!(card.contains(&"- not committed: src/pool.rs"), "{said}");
    assert!(
        card.iter().any(|line| line.starts_with("- decided: ") && line.contains("bounded queue")),
        "{said}"
    );
    // A session that is named is the one, whatever the words are.
    let named = desk.ask(&["ask", "xylophones in 5e551011?"]);
    assert_eq!(named["closest"]["session"], FIRST);
    // Words to search for need no word on it.
    let words = desk.run(&["ask", "bounded queue"]).success();
    assert!(!words.stderr.contains("no rule"), "{}", words.stderr);
}

#[test]
fn a_question_without_an_answer_says_so() {
    let desk = desk();
    assert!(
        desk.run(&["ask", "what do I know about xylophones?"])
            .success()
            .stdout
            .contains("nothing is known about this")
    );
    desk.run(&["ask", "why is src/nowhere.rs:7 so?"]).success().warns("sessions were searched instead");
    desk.run(&["ask", " ?! "]).refused(2, &["the question is empty"]);
    let empty = Desk::new();
    for question in [
        "what was I doing?",
        "what patterns do you see?",
        "quorum",
        "which projects use Hono?",
        "what did we decide about it?",
    ] {
        empty.run(&["ask", question]).success();
    }
}

#[test]
fn odd_questions_are_answered_all_the_same() {
    let desk = desk();
    let long = format!("what do I know about the pool {}", "and the queue ".repeat(7_000));
    desk.run(&["ask", &long]).success().warns("only the first");
    let hostile = desk.run(&["ask", "find \u{1b}[31mthe pool\u{7} `rm -rf` '; --all"]).success().stdout;
    assert!(!hostile.contains('\u{1b}') && !hostile.contains('\u{7}'), "{hostile}");
    for question in ["où est le pool ?", "连接池为什么会等待", "--", "a\0b pool", "\u{202e}loop"] {
        if !question.contains('\0') {
            let asked =
                run(&mut desk.command_in(desk.repo.path(), &["ask", "--format=json", "--", question]));
            assert!(asked.stdout.starts_with('{'), "{question}: {asked:?}");
        }
    }
}

fn with_model(service: &ScriptedService) -> Desk {
    let desk = desk();
    for (name, value) in [
        ("llm.provider", "anthropic"),
        ("llm.baseUrl", service.url().as_str()),
        ("llm.keyVariable", "MY_KEY"),
        ("llm.model", "claude-sonnet-4-5"),
        ("llm.price.input", "3"),
        ("llm.price.output", "15"),
    ] {
        desk.run(&["config", "set", name, value]).success();
    }
    desk
}

fn ask(desk: &Desk, args: &[&str]) -> Value {
    let args = [&["ask", "--format=json"], args].concat();
    run(desk.command_in(desk.repo.path(), &args).env("MY_KEY", "sk-ant-api03-T3stT3stT3stT3stT3st"))
        .success()
        .json()
}

#[test]
fn a_model_words_what_was_found_in_one_call_and_nothing_else() {
    let good =
        json!({"answered": true, "answer": "The bounded queue \u{1b}[1mwas chosen [1].", "citations": [1]})
            .to_string();
    let invented = json!({"answered": true, "answer": "You chose Kafka.", "citations": [99]}).to_string();
    let service = ScriptedService::playing([
        Answer::text(&good).costing(500, 30),
        Answer::text(&invented).costing(500, 30),
        Answer::text("no JSON at all").costing(500, 30),
    ]);
    let desk = with_model(&service);
    let question = "what did we decide about the cache?";
    let first = ask(&desk, &[question]);
    assert_eq!(first["composed"]["is_answered"], true);
    assert_eq!(first["composed"]["text"], "The bounded queue [1mwas chosen [1].");
    let second = ask(&desk, &[question]);
    assert_eq!(
        (&second["composed"]["is_answered"], second["composed"]["text"].as_str().unwrap().contains("Kafka")),
        (&json!(false), false)
    );
    let third = ask(&desk, &[question]);
    assert_eq!((&third["composed"], &third["route"]), (&Value::Null, &json!("decided")));
    assert!(third["warnings"][0].as_str().unwrap().contains("no model worded this"), "{third:#}");
    let plain = ask(&desk, &[question, "--no-model"]);
    assert_eq!((&plain["composed"], &plain["warnings"]), (&Value::Null, &json!([])));
    assert_eq!(service.asked().len(), 3);
    assert_eq!(desk.ask(&["cost"])["rows"][0]["purpose"], "ask");
}
