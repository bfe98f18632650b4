//! What may go out to other machines. The store itself has a lane of its own: `tests/acceptance/share`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;

const SESSION: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";
const OTHER: &str = "5e551022-bbbb-4bbb-8bbb-000000000002";

/// A machine that shares by way of a store that is not there, with two sessions and a lesson.
fn sharing() -> Desk {
    let desk = Desk::new();
    for (session, wish) in [(SESSION, "Make the pool wait"), (OTHER, "Teach the parser about commas")] {
        desk.leave(&desk.talk(session).prompt(wish).said("Done."));
    }
    desk.ingest();
    let lesson = json!({ "summary": "pool: begin", "wisdom": [
        { "category": "gotcha", "content": "Whoever waits must not hold the lock.", "file": "src/pool.rs" } ] });
    let file = desk.home.join("lesson.json");
    fs::write(&file, lesson.to_string()).expect("it can be written");
    desk.run(&["annotate", "--commit", "HEAD", "--file", &file.to_string_lossy()]).success();
    write_record(&desk, &json!({}));
    desk
}

/// Puts a record where `memory share init` would.
fn write_record(desk: &Desk, more: &Value) {
    let mut record = json!({ "schema": "chronicle-sharing/v1", "url": "/nowhere", "identity": "I",
        "machineId": "M", "machine": "desk", "author": "Ada" });
    record.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    fs::write(desk.memory().join("share.json"), record.to_string()).expect("it can be written");
}

fn record(desk: &Desk) -> Value {
    let text = fs::read_to_string(desk.memory().join("share.json")).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

fn may_go_out(desk: &Desk) -> (u64, u64) {
    let status = desk.ask(&["memory", "share", "status"]);
    (status["digests"].as_u64().expect("a number"), status["lessons"].as_u64().expect("a number"))
}

#[test]
fn nothing_is_shared_unasked() {
    let desk = Desk::new();
    let status = desk.ask(&["memory", "share", "status"]);
    assert_eq!((&status["url"], &status["digests"]), (&Value::Null, &json!(0)));
    for args in [
        &["memory", "share", "push"][..],
        &["memory", "share", "pull"],
        &["memory", "share", "add", "--project"],
        &["find", "--shared", "the pool"],
    ] {
        let failed = desk.run(args).failed(1);
        insta::allow_duplicates! {
            insta::assert_snapshot!(failed.stderr, @r"
            error: nothing is shared from this machine
            hint: `git chronicle memory share init FOLDER|s3://BUCKET/PREFIX` begins
            ");
        }
    }
    assert!(!desk.memory().join("share.json").exists());
}

#[test]
fn a_build_without_the_store_says_so() {
    let desk = Desk::new();
    if desk.ask(&["memory", "share", "status"])["built"] == true {
        return;
    }
    let failed = desk.run(&["memory", "share", "init", "store"]).failed(1);
    insta::assert_snapshot!(failed.stderr, @r"
    error: this build of Chronicle has no shared store
    hint: build it with `--features lance` (it takes `protoc`); docs/sharing.md says how
    ");
    assert!(!desk.memory().join("share.json").exists());
}

#[test]
fn what_is_no_place_is_refused() {
    let desk = Desk::new();
    for url in [
        "",
        "s3://",
        "s3://key:secret@bucket",
        "s3://bucket?region=x",
        "gs://bucket",
        "file://host/x",
        "a\nb",
    ] {
        let failed = desk.run(&["memory", "share", "init", url, "--format=json"]).failed(2);
        assert_eq!(failed.json()["error"]["code"], "invalid_share", "{url:?}");
    }
}

#[test]
fn a_question_to_what_is_shared_takes_no_branch() {
    let desk = Desk::new();
    for filter in [&["--branch", "main"][..], &["--file", "a"], &["--kind", "prompt"], &["--all"]] {
        desk.run(&[&["find", "--shared", "pool"][..], filter].concat()).failed(2);
    }
}

#[test]
fn only_what_is_named_may_go_out() {
    let desk = sharing();
    assert_eq!(may_go_out(&desk), (0, 0));
    desk.ask(&["memory", "share", "add", &SESSION[..8]]);
    assert_eq!(may_go_out(&desk), (1, 0));
    desk.ask(&["memory", "share", "add", "--project", "--only", "lesson"]);
    assert_eq!(may_go_out(&desk), (1, 1));
    desk.ask(&["memory", "share", "add", "--project"]);
    assert_eq!(may_go_out(&desk), (2, 1));
    desk.ask(&["memory", "share", "remove", OTHER]);
    assert_eq!(may_go_out(&desk), (1, 1));
    insta::assert_snapshot!(desk.run(&["memory", "share", "status"]).success().stdout, @r"
    # Shared at /nowhere

    - from here: as Ada on desk
    - rule: digests and lessons of repo
    - marked: 5e551011
    - held back: 5e551022
    - may go out: 1 digest, 1 lesson; pushed never
    - copy on this machine: 0 items; pulled never
    ");
    desk.ask(&["memory", "share", "remove", "--project", "--only", "digest"]);
    assert_eq!(may_go_out(&desk), (1, 1), "one is marked by hand");
    desk.ask(&["memory", "share", "remove", "--project"]);
    desk.ask(&["memory", "share", "remove", &SESSION[..8]]);
    assert_eq!(may_go_out(&desk), (0, 0));
}

#[test]
fn a_lesson_that_does_not_count_stays_here() {
    let desk = sharing();
    desk.ask(&["memory", "share", "add", "--project"]);
    assert_eq!(may_go_out(&desk), (2, 1));
    desk.run(&["flag", "src/pool.rs", "--reason", "it waits elsewhere now"]).success();
    assert_eq!(may_go_out(&desk), (2, 0));
}

#[test]
fn a_lesson_of_somebody_else_goes_out_by_name_only() {
    let desk = sharing();
    fs::remove_dir_all(desk.memory().join("trust/own")).expect("it is there");
    desk.ask(&["memory", "share", "add", "--project"]);
    assert_eq!(may_go_out(&desk), (2, 0));
    let shown = desk.ask(&["show", "HEAD"]);
    let id = shown["annotation"]["wisdom"][0]["id"].as_str().expect("it has an id");
    desk.ask(&["memory", "share", "add", id]);
    assert_eq!(may_go_out(&desk), (2, 1));
}

#[test]
fn who_names_nothing_is_told() {
    let desk = sharing();
    let before = record(&desk);
    let failed = desk.run(&["memory", "share", "add", "nothing-like-it"]).failed(1);
    insta::assert_snapshot!(failed.stderr, @r"
    error: `nothing-like-it` is neither a session of this machine nor a lesson of this repository
    hint: `git chronicle session list` lists sessions
    ");
    desk.run(&["memory", "share", "add"]).failed(2);
    desk.run(&["memory", "share", "add", SESSION, "--project"]).failed(2);
    desk.run(&["memory", "share", "remove", "--project"]).failed(1);
    assert_eq!(record(&desk), before);
}

#[test]
fn who_is_forgotten_is_to_be_taken_back() {
    let desk = sharing();
    desk.ask(&["memory", "share", "add", SESSION]);
    desk.run(&["session", "forget", SESSION]).success();
    let record = record(&desk);
    assert_eq!(record["marked"], json!([]));
    assert_eq!(record["forgotten"], json!([format!("claude/{SESSION}")]));
    assert_eq!(may_go_out(&desk), (0, 0));
}

#[test]
fn a_damaged_record_lets_nothing_out_and_stays_as_it_is() {
    let desk = sharing();
    let path = desk.memory().join("share.json");
    for text in ["", "{", "[]", "{\"schema\":\"chronicle-sharing/v9\"}", "{\"schema\":1}"] {
        fs::write(&path, text).expect("it can be written");
        for command in ["push", "pull", "status"] {
            let failed = desk.run(&["memory", "share", command, "--format=json"]).failed(1);
            assert_eq!(failed.json()["error"]["code"], "share_record_damaged", "{text}");
        }
        // What is to be taken back could not be noted.
        desk.run(&["session", "forget", SESSION]).failed(1);
        assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
    }
    desk.run(&["session", "show", SESSION]).success();
}
