//! Notes out of one repository and into another, byte for byte.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::TestRepo;

use crate::outcome::{Outcome, chronicle, chronicle_reading};

/// What notes may hold, whoever wrote them.
fn oddities() -> Vec<Vec<u8>> {
    let pretty = json!({ "schema": "chronicle/v3", "commit": "c", "timestamp": "2026-01-01T00:00:00Z",
        "summary": "pretty", "provenance": { "source": "live" } });
    vec![
        serde_json::to_vec_pretty(&pretty).expect("plain data"),
        pretty.to_string().into_bytes(),
        format!("{pretty}\n").into_bytes(),
        format!("{pretty}\n{pretty}\n").into_bytes(),
        b"{ \"schema\" :\t\"chronicle/v9\", \"n\": 1.0e+5, \"s\": \"\\u00e9\\/\" }\n".to_vec(),
        b"{\"a\":1,\"a\":2,\"annotation\":{\"x\":1},\"t\":\",\\\"annotation\\\":{\"}\n".to_vec(),
        b"{\"timestamp\":5}\n".to_vec(),
        b"<<<<<<< ours\r\n\x1b[31m".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        "{\"x\":\"\u{9b}31m \u{202e}\"}\n".as_bytes().to_vec(),
        [&vec![b'['; 5000][..], b"\n"].concat(),
        b"[1]\n".to_vec(),
        b"null\n".to_vec(),
    ]
}

/// A repository with one commit for each of `contents`, which is its note.
fn with_notes(contents: &[Vec<u8>]) -> (TestRepo, Vec<String>) {
    let repo = TestRepo::new();
    let mut commits = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        commits.push(repo.commit(&format!("commit {number}")));
        repo.put_note("chronicle", &commits[number], content);
    }
    (repo, commits)
}

fn bytes_of(repo: &TestRepo, commit: &str) -> Vec<u8> {
    let list = repo.git(&["notes", "--ref=chronicle", "list", commit]);
    repo.try_git(&["cat-file", "blob", &list]).stdout
}

fn export(repo: &TestRepo) -> String {
    chronicle(repo.path(), &["export"]).success().stdout
}

#[test]
fn every_note_comes_back_byte_for_byte() {
    let contents = oddities();
    let (repo, commits) = with_notes(&contents);
    let exported = export(&repo);
    assert_eq!(exported.lines().count(), contents.len());
    assert!(!exported.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{exported:?}");
    for line in exported.lines() {
        let value: Value = serde_json::from_str(line).expect("each line is JSON");
        assert!(value["commit_sha"].is_string() && value.get("timestamp").is_some(), "{line}");
    }
    repo.git(&["update-ref", "-d", "refs/notes/chronicle"]);
    let imported = chronicle_reading(repo.path(), &["import", "--format", "json"], exported.as_bytes());
    let reply = imported.success().json();
    assert_eq!((&reply["lines"], &reply["changed"]), (&json!(contents.len()), &json!(contents.len())));
    for (commit, content) in commits.iter().zip(&contents) {
        assert_eq!(&bytes_of(&repo, commit), content, "{:?}", String::from_utf8_lossy(content));
    }
    let again = chronicle_reading(repo.path(), &["import", "--format", "json"], exported.as_bytes());
    assert_eq!(again.success().json()["changed"], 0);
}

#[test]
fn an_import_adds_to_richer_notes_and_takes_nothing_away() {
    let repo = TestRepo::new();
    let commit = repo.commit("first");
    let annotate = |summary: &str, lesson: &str| {
        let given = json!({ "summary": summary, "wisdom": [{ "category": "gotcha", "content": lesson }] });
        chronicle(repo.path(), &["annotate", "--json", &given.to_string()]).success();
    };
    annotate("The first summary of them all", "The first lesson.");
    let poor = export(&repo);
    annotate("Another summary that came later", "The second lesson.");
    let rich = bytes_of(&repo, &commit);
    assert_eq!(import(&repo, &poor).success().stdout, "1 note read, 0 stored or enriched\n");
    assert_eq!(bytes_of(&repo, &commit), rich);
    let other = poor.replace("The first lesson.", "A lesson from elsewhere.");
    let other = other.replace(entry_id(&other).as_str(), "01JZZZZZZZZZZZZZZZZZZZZZZZ");
    import(&repo, &other).success();
    let united = String::from_utf8(bytes_of(&repo, &commit)).expect("it is text");
    for said in ["The first lesson.", "The second lesson.", "A lesson from elsewhere.", "came later"] {
        assert!(united.contains(said), "{said} {united}");
    }
}

fn entry_id(line: &str) -> String {
    let value: Value = serde_json::from_str(line).expect("it is JSON");
    value["annotation"]["wisdom"][0]["id"].as_str().expect("it has an id").to_owned()
}

fn import(repo: &TestRepo, lines: &str) -> Outcome {
    chronicle_reading(repo.path(), &["import"], lines.as_bytes())
}

#[test]
fn one_wrong_line_and_nothing_is_stored() {
    let repo = TestRepo::new();
    let commit = repo.commit("first");
    let good = format!(r#"{{"commit_sha":"{commit}","timestamp":null,"annotation":{{"schema":"x"}}}}"#);
    for (bad, words) in [
        ("no JSON".to_owned(), "line 2 cannot be imported: it isn't JSON: "),
        ("{}".to_owned(), "line 2"),
        (good.replace(&commit, "--upload-pack=x"), "`commit_sha` isn't the full id"),
        (good.replace(&commit, &commit[..10]), "`commit_sha` isn't the full id"),
        (good.replace(r#""timestamp":null"#, r#""ref":"refs/heads/main""#), "`ref` isn't one of Chronicle's"),
        (good.replace(r#""annotation":{"schema":"x"}"#, r#""raw":"!""#), "`raw` isn't base64"),
        (good.replace(r#""annotation":{"schema":"x"}"#, r#""annotation":"text""#), "neither"),
        (good.replace(r#"{"schema":"x"}"#, &"[".repeat(1_000)), "line 2"),
        (good.replace('x', &"x".repeat(9 << 20)), "more than 8 MB"),
        (" ".repeat(25 << 20), "too long"),
    ] {
        import(&repo, &format!("{good}\n{bad}\n")).refused(1, &[words]);
        assert_eq!(repo.git(&["for-each-ref", "refs/notes"]), "", "{words}");
    }
    let wrong = chronicle_reading(repo.path(), &["import", "--format", "json"], b"x");
    assert_eq!(wrong.json_error(), "invalid_line");
    chronicle(repo.path(), &["import", "nowhere.jsonl"]).refused(1, &["cannot read `nowhere.jsonl`"]);
}

#[test]
fn secrets_in_what_is_imported_are_replaced() {
    let repo = TestRepo::new();
    let commit = repo.commit("first");
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let line = format!(
        r#"{{"commit_sha":"{commit}","timestamp":null,"annotation":{{"schema":"x","t":"{token}"}}}}"#
    );
    import(&repo, &line).success().warns("github-token");
    assert_eq!(bytes_of(&repo, &commit), b"{\"schema\":\"x\",\"t\":\"[redacted:github-token]\"}\n");
    assert!(!repo.git(&["cat-file", "--batch-all-objects", "--batch"]).contains(&token));
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let (repo, _) = with_notes(&oddities()[..2]);
    let path = repo.beside("notes.jsonl");
    let outcome = chronicle(repo.path(), &["export", "--output", path.to_str().expect("UTF-8")]).success();
    assert_eq!(outcome.stdout, "");
    assert_eq!(fs::read_to_string(&path).expect("it was written"), export(&repo));
    chronicle(repo.path(), &["export", "--output", "nowhere/notes.jsonl"]).refused(1, &["cannot write"]);
    assert!(!Path::new("nowhere").exists());
    let empty = TestRepo::new();
    assert_eq!(chronicle(empty.path(), &["export"]).success().stdout, "");
}

#[test]
fn traces_for_other_tools() {
    let repo = TestRepo::new();
    repo.write("pool.rs", "fn acquire() {}\n");
    repo.commit("pool");
    let lesson = json!({ "category": "gotcha", "content": "Never block here.", "file": "pool.rs", "lines": { "start": 1, "end": 1 } });
    let hostile = json!({ "category": "gotcha", "content": "Out of here.", "file": "../../etc/passwd" });
    let given = json!({ "summary": "The UI thread calls this", "wisdom": [lesson, hostile] });
    chronicle(repo.path(), &["annotate", "--json", &given.to_string()]).success();
    let traces = chronicle(repo.path(), &["export", "--format", "agent-trace"]).success();
    let trace = traces.json();
    assert_eq!(trace["version"], "0.1.0");
    assert_eq!(trace["vcs"], json!({ "type": "git", "revision": repo.git(&["rev-parse", "HEAD"]) }));
    assert_eq!(
        trace["files"],
        json!([{ "path": "pool.rs", "conversations": [{ "contributor": { "type": "unknown" },
            "ranges": [{ "start_line": 1, "end_line": 1 }] }] }])
    );
    let id = trace["id"].as_str().expect("it has an id");
    assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    assert_eq!(chronicle(repo.path(), &["export", "--format", "agent-trace"]).stdout, traces.stdout);
    // What nobody here wrote says so, whoever it says wrote it.
    let mut strange: Value = chronicle(repo.path(), &["export"]).success().json()["annotation"].take();
    strange["summary"] = json!("Run this first");
    repo.write("other.rs", "fn b() {}\n");
    let other = repo.commit("other");
    repo.put_note("chronicle", &other, strange.to_string().as_bytes());
    let traces = chronicle(repo.path(), &["export", "--format", "agent-trace"]).success();
    let about = |trace: &str| -> Value {
        let trace: Value = serde_json::from_str(trace).expect("JSON");
        let about = &trace["metadata"]["chronicle"];
        json!([about["summary"], about["tier"], about["origin"]])
    };
    let mut said: Vec<Value> = traces.stdout.lines().map(about).collect();
    said.sort_by_key(Value::to_string);
    assert_eq!(
        said,
        [
            json!(["Run this first", "unknown", "refs/notes/chronicle"]),
            json!(["The UI thread calls this", null, null])
        ]
    );
    chronicle(repo.path(), &["show", "--format", "agent-trace"]).refused(2, &["only `export`"]);
    chronicle(repo.path(), &["export", "--format", "yaml"]);
}

#[test]
fn an_export_goes_into_a_pipe_and_replaces_it_by_no_file() {
    let repo = TestRepo::new();
    repo.write("a.rs", "fn a() {}\n");
    repo.commit("one");
    chronicle(repo.path(), &["annotate", "--summary", "A reason that is long enough"]).success();
    let pipe = repo.beside("pipe");
    assert!(testkit::command("mkfifo", repo.path()).arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    chronicle(repo.path(), &["export", "--output", &pipe.to_string_lossy()]).success();
    assert_eq!(reader.join().unwrap(), export(&repo));
    assert!(!pipe.is_file());
}
