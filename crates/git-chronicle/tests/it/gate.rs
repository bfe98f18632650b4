//! Every text passes one gate, whichever way it comes in and goes out.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::{
    desk::Desk,
    outcome::{binary, chronicle, contents, note, run},
};

/// What must be nowhere, in a span, and a password that no rule finds with what nobody sees in it.
const TEXT: &str = "The server <private>is PRIVATEFALCON</private> and pass\u{200b}word=hun\u{2060}ter22";
/// What is left of it.
const LEFT: &str = "The server [private] and password=[redacted:password]";

/// Everything that git and we keep in a repository, as bytes.
fn all_of(repo: &TestRepo) -> String {
    let objects = repo.git(&["cat-file", "--batch", "--batch-all-objects"]);
    objects + &files_in(&repo.path().join(".git/chronicle"))
}

fn files_in(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.push_str(&files_in(&path)),
            false => all.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap_or_default())),
        }
    }
    all
}

#[track_caller]
fn check(kept: &str) {
    for gone in ["PRIVATEFALCON", "hun\u{2060}ter", "hunter22", "\u{200b}"] {
        assert!(!kept.contains(gone), "{gone:?} is in {}", kept.chars().take(4_000).collect::<String>());
    }
    assert!(kept.contains(LEFT), "{}", kept.chars().take(4_000).collect::<String>());
}

#[test]
fn commit_memory_keeps_nothing_private_whichever_way_it_is_written() {
    let lesson = json!({ "summary": TEXT, "wisdom": [{ "category": "gotcha", "content": TEXT, "file": "src/pool.rs" }] });
    let ways: [&[&str]; 7] = [
        &["annotate", "--json", &lesson.to_string()],
        &["annotate", "--summary", TEXT],
        &["note", TEXT],
        &["context", "set", "--reasoning", TEXT],
        &["knowledge", "add", "--rule", TEXT],
        &["flag", "src/pool.rs", "--reason", TEXT],
        &["commit", "--allow-empty", "--quiet", "-m", "pool: more", "--reasoning", TEXT],
    ];
    for args in ways {
        let repo = TestRepo::new();
        repo.write("src/pool.rs", "fn acquire() {}\n");
        repo.commit("pool: begin");
        let first = json!({ "summary": "One pool for all", "wisdom": [{ "category": "gotcha", "content": "One pool", "file": "src/pool.rs" }] });
        chronicle(repo.path(), &["annotate", "--json", &first.to_string()]).success();
        chronicle(repo.path(), args).success();
        check(&all_of(&repo));
    }
    // The environment speaks for the commit that is being made.
    let repo = TestRepo::new();
    chronicle(repo.path(), &["init"]).success();
    let said = binary(repo.path(), &["commit", "--allow-empty", "--quiet", "-m", "begin"])
        .env("CHRONICLE_REASONING", TEXT)
        .output();
    assert!(said.expect("it runs").status.success());
    check(&all_of(&repo));
}

#[test]
fn session_memory_keeps_nothing_private_whichever_way_it_is_written() {
    let desk = Desk::new();
    desk.run(&["thread", "add", TEXT, "--context", TEXT]).success();
    check(&desk.run(&["pending", "--format=json"]).success().stdout);
    desk.run(&["blocks", "set", "preferences", TEXT]).success();
    check(&desk.run(&["blocks", "show", "preferences", "--format=json"]).success().stdout);
    desk.leave(
        &desk.talk("5e551011-aaaa-4aaa-8aaa-000000000001").prompt(TEXT).said(TEXT).command("ls", "done"),
    );
    desk.ingest();
    let kept = files_in(&desk.memory());
    check(&kept);
}

#[test]
fn a_span_over_the_blocks_of_a_message_is_private_as_a_whole() {
    let desk = Desk::new();
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let content = json!([
        text("Please look <private>our codename is"),
        image,
        text("PRIVATEFALCON"),
        text("PRIVATEPRICE</private> and mend the pool")
    ]);
    let row = json!({ "type": "user", "uuid": "a", "sessionId": "5e551011-aaaa-4aaa-8aaa-000000000001", "cwd": desk.repo.path(),
        "timestamp": "2026-06-09T10:00:00Z", "message": { "role": "user", "content": content } });
    let talk = desk.talk("5e551011-aaaa-4aaa-8aaa-000000000001").raw(&row.to_string()).said("Done.");
    desk.leave(&talk);
    assert_eq!(desk.ingest()["sessions"], 1);
    let kept = files_in(&desk.memory());
    assert!(!kept.contains("PRIVATEFALCON") && !kept.contains("PRIVATEPRICE"));
    assert!(kept.contains("Please look [private]") && kept.contains("and mend the pool"));
}

/// Puts what an earlier version left of fingerprints into the note of HEAD.
fn damage(repo: &TestRepo) -> Value {
    let whole = note(repo, "HEAD");
    let mut damaged = whole.clone();
    damaged["change"]["wrote"] = "1:[redacted:high-entropy]".into();
    assert!(damaged["wisdom"][0]["around"].is_string(), "{damaged}");
    damaged["wisdom"][0]["around"] = "1:[redacted:high-entropy]".into();
    repo.put_note("chronicle", "HEAD", damaged.to_string().as_bytes());
    whole
}

#[test]
fn fingerprints_are_pushed_as_they_are_and_damaged_ones_are_made_anew() {
    let repo = TestRepo::new();
    let functions: String = (1..30)
        .map(|n| format!("fn f{n}(x: u32) -> u32 {{\n    let a{n} = x + {n};\n    let b{n} = a{n} * {};\n    a{n} + b{n}\n}}\n\n", n + 7))
        .collect();
    repo.write("a.rs", functions);
    repo.commit("feature");
    let lesson = json!({ "summary": "Why it is done the way it is", "wisdom":
        [{ "category": "gotcha", "content": "f10 stays below 2^16", "file": "a.rs", "lines": { "start": 56, "end": 57 } }] });
    chronicle(repo.path(), &["annotate", "--json", &lesson.to_string()]).success();
    let whole = note(&repo, "HEAD");
    let remote = repo.beside("remote.git");
    let remote = remote.to_str().expect("temporary paths are UTF-8");
    repo.git(&["init", "--quiet", "--bare", remote]);
    repo.git(&["remote", "add", "origin", remote]);
    chronicle(repo.path(), &["sync", "push"]).success();
    assert_eq!(note(&repo, "HEAD"), whole);

    damage(&repo);
    let seen = chronicle(repo.path(), &["doctor"]);
    assert!(seen.stdout.contains("without fingerprints"), "{seen:#?}");
    chronicle(repo.path(), &["doctor", "--fix"]);
    assert_eq!(note(&repo, "HEAD"), whole);
    assert!(!chronicle(repo.path(), &["doctor"]).stdout.contains("without fingerprints"));

    // The next word on the commit mends it, too.
    damage(&repo);
    let more = json!({ "summary": "More", "wisdom": [{ "category": "insight", "content": "Two words" }] });
    chronicle(repo.path(), &["annotate", "--json", &more.to_string()]).success();
    let mended = note(&repo, "HEAD");
    assert_eq!(mended["change"], whole["change"]);
    assert_eq!(contents(&mended), ["Two words", "f10 stays below 2^16"]);
    assert_eq!(mended["wisdom"][0]["around"], whole["wisdom"][0]["around"]);

    // Of a damaged copy and a whole one, the whole one stays, whichever comes first.
    let whole = damage(&repo);
    let exported = chronicle(repo.path(), &["export"]).success().stdout;
    assert!(exported.contains("[redacted:high-entropy]"), "{exported}");
    repo.put_note("chronicle", "HEAD", whole.to_string().as_bytes());
    fs::write(repo.path().join("export.jsonl"), exported).expect("a test may do this");
    chronicle(repo.path(), &["import", "export.jsonl"]).success();
    assert_eq!(note(&repo, "HEAD"), whole);
}

#[test]
fn no_answer_gives_a_command_to_the_host_of_a_build_or_to_a_terminal() {
    let repo = TestRepo::new();
    let path = "src/po\u{202e}ol\n::error::x.rs";
    repo.write(path, "fn acquire() {}\n");
    repo.commit("pool: begin\n\n::set-output name=x::y");
    let words = "One pool\n::error file=a::b\n  ##vso[task.setvariable variable=x]y\n##teamcity[x]\nsection_start:1:x\u{1b}]0;t\u{7}";
    let document = json!({ "schema": "chronicle/v3", "commit": "HEAD", "timestamp": "2026-06-09T10:00:00Z", "summary": words,
        "wisdom": [{ "category": "gotcha", "content": words, "file": path }], "provenance": { "source": "live", "author": "A\u{1b}[31m\n::error::b" } });
    repo.put_note("chronicle", "HEAD", document.to_string().as_bytes());
    let commands: [&[&str]; 6] = [
        &["read", path],
        &["show", "HEAD"],
        &["history", path],
        &["summary", path],
        &["status"],
        &["read", path, "--format=pretty"],
    ];
    for args in commands {
        let answer = run(&mut binary(repo.path(), args));
        let all = format!("{}\n{}", answer.stdout, answer.stderr);
        let is_command = |line: &str| {
            let line = line.trim_start();
            ["::error", "##vso[", "##teamcity[", "section_start:", "::set-output"]
                .iter()
                .any(|mark| line.starts_with(mark))
        };
        assert!(!all.lines().any(is_command), "{args:?}\n{all}");
        assert!(!all.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}\n{all:?}");
    }
    let read = chronicle(repo.path(), &["read", path, "--format=json"]).success();
    assert!(!read.stdout.contains('\u{202e}'), "{read:#?}");
    assert!(read.json()["wisdom"][0]["file"] == path, "{read:#?}");
}
