//! Taking sessions in when something is in the way, and in whatever order they come.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use chronicle_search::Store;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    desk::{Desk, Talk},
    sessions::{count, pool},
};

const SESSION: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";

#[test]
fn what_names_no_transcript_is_passed_over_in_the_queue() {
    let desk = Desk::new();
    let path = desk.leave(&pool(&desk, SESSION));
    let queue = desk.memory().join("queue");
    fs::create_dir_all(queue.join("a-folder")).unwrap();
    fs::create_dir_all(queue.join("a-folder.taken")).unwrap();
    fs::write(queue.join("no-text"), b"/\xff\xfe").unwrap();
    fs::write(queue.join("waits"), path.as_os_str().as_bytes()).unwrap();
    let reply = desk.ask(&["session", "ingest", "--queued"]);
    assert_eq!((count(&reply, "files"), count(&reply, "sessions")), (4, 1), "{reply:#}");
    let unread = reply["unread"].as_array().unwrap();
    assert_eq!(unread.len(), 3, "{reply:#}");
    assert!(queue.join("a-folder").is_dir() && !queue.join("waits").exists());
    let told = desk.run(&["doctor"]).stdout;
    assert!(told.contains(" (and 2 more) isn't a transcript, so nothing will be read"), "{told}");
    // The next one gets the lock, and is done.
    desk.run(&["session", "ingest", "--later", path.to_str().unwrap()]).success();
    assert_eq!(fs::read_dir(queue).unwrap().count(), 3);
}

/// Lets the store refuse every turn that holds the word, until it is told otherwise.
fn refuse(desk: &Desk, word: Option<&str>) {
    let sql = match word {
        Some(word) => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON turn WHEN new.text LIKE '%{word}%' \
             BEGIN SELECT raise(abort, 'not that'); END"
        ),
        None => "DROP TRIGGER refuse".to_owned(),
    };
    tamper(desk, &sql);
}

/// Does something to the store behind its back.
fn tamper(desk: &Desk, sql: &str) {
    let mut store = Store::create(&desk.memory().join("chronicle.db")).expect("it can be opened");
    store.write(|tx| tx.execute_batch(sql)).expect("it is SQL");
}

#[test]
fn a_file_that_the_store_refuses_takes_no_other_with_it() {
    let desk = Desk::new();
    refuse(&desk, Some("poison"));
    for n in 0..5 {
        let talk = pool(&desk, &format!("5e55101{n}-aaaa-4aaa-8aaa-000000000001"));
        desk.leave(&if n == 2 { talk.prompt("a poisoned word") } else { talk });
    }
    let reply = desk.ingest();
    assert_eq!((count(&reply, "files"), count(&reply, "sessions")), (5, 4), "{reply:#}");
    let unread = reply["unread"].as_array().unwrap();
    assert_eq!(unread.len(), 1, "{reply:#}");
    assert!(unread[0]["path"].as_str().unwrap().contains("5e551012"), "{reply:#}");
    assert!(unread[0]["reason"].as_str().unwrap().contains("not that"), "{reply:#}");
    // The queue does not stop at it either.
    let path = unread[0]["path"].as_str().unwrap();
    let queued = desk.run(&["session", "ingest", "--later", path]).success();
    assert_eq!(desk.ask(&["session", "ingest", "--queued"])["files"], 0, "{queued:#?}");
    refuse(&desk, None);
    let reply = desk.ingest();
    assert_eq!((count(&reply, "unchanged"), count(&reply, "sessions")), (4, 1), "{reply:#}");
}

/// A conversation whose file has some 40 MB, mostly of what is not kept, and `n_said` turns.
fn large(desk: &Desk, n_said: usize) -> Talk {
    let row = r#"{"type":"file-history-snapshot","messageId":"m","snapshot":"#;
    let padding = format!("{row}\"{}\"}}", "words ".repeat(40_000_000 / 6 / n_said));
    (0..n_said)
        .fold(desk.talk(SESSION).prompt("begin"), |talk, n| talk.said(&format!("step {n}")).raw(&padding))
}

#[test]
fn a_large_file_is_taken_in_by_and_by() {
    let desk = Desk::new();
    refuse(&desk, Some("poison"));
    let talk = large(&desk, 40);
    desk.leave(&talk.clone().said("and then some poison").said("the end"));
    let reply = desk.ingest();
    assert_eq!(reply["unread"].as_array().unwrap().len(), 1, "{reply:#}");
    // Others could write before the end was reached: what was read by then is there.
    let stored = desk.ask(&["session", "show", "5e55", "--turns"])["turns"].as_array().unwrap().len();
    assert!((20..41).contains(&stored), "{stored}");
    assert_eq!(
        desk.ask(&["find", "step", "--kind=said", "--limit=100"])["hits"].as_array().unwrap().len(),
        stored - 1
    );
    refuse(&desk, None);
    let reply = desk.ingest();
    assert_eq!(reply["new_turns"], 43 - stored);
    let shown = desk.ask(&["session", "show", "5e55", "--turns"]);
    let texts: Vec<&str> =
        shown["turns"].as_array().unwrap().iter().map(|turn| turn["text"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..40).map(|n| format!("step {n}")).collect();
    assert_eq!((texts.len(), &texts[1..41]), (43, &*expected.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(shown["digest"]["usage"]["replies"], 42);
}

const FORK: &str = "00f0rced-aaaa-4aaa-8aaa-000000000002";

/// A session, and what it is on a given desk.
type Told<'t> = (&'t str, &'t dyn Fn(&Desk) -> Talk);

/// Everything that is told of some talks after they were taken in, in this order.
fn told_after(talks: &[Told<'_>], order: &[usize]) -> Vec<Value> {
    let desk = Desk::new();
    for index in order {
        let path = desk.leave(&talks[*index].1(&desk));
        desk.run(&["session", "ingest", &path.to_string_lossy()]).success();
    }
    let mut told: Vec<Value> = talks
        .iter()
        .map(|(id, _)| desk.ask(&["session", "show", id, "--turns"]))
        .chain([desk.ask(&["pending"]), desk.ask(&["find", "pool"]), desk.ask(&["session", "list"])])
        .collect();
    let health = desk.ask(&["doctor"]);
    assert!(!health.to_string().contains("index differs"), "{health:#}");
    for value in &mut told {
        if let Some(transcripts) = value.get_mut("transcripts") {
            *transcripts = json!([]);
        }
        let text = value.to_string().replace(&*desk.repo.path().to_string_lossy(), "/repo");
        *value = serde_json::from_str(&text).expect("it was JSON");
    }
    told
}

#[test]
fn what_a_fork_repeats_belongs_to_the_session_it_comes_from_in_either_order() {
    let parent = |desk: &Desk| pool(desk, SESSION);
    let fork = |desk: &Desk| {
        let fork = pool(desk, SESSION).forked(FORK).prompt("What about a limit of waiters for the pool?");
        fork.said("A limit of eight.").todos(&[("Limit the waiters", "pending")])
    };
    let talks: [Told<'_>; 2] = [(SESSION, &parent), (FORK, &fork)];
    let told = told_after(&talks, &[0, 1]);
    assert_eq!(told, told_after(&talks, &[1, 0]));
    let (parent, fork) = (&told[0], &told[1]);
    assert_eq!((&parent["turns_stored"], &fork["turns_stored"]), (&json!(9), &json!(3)));
    assert_eq!(parent["digest"]["commits"][0]["id"], "1a2b3c4");
    assert_eq!(fork["digest"]["commits"], json!([]));
    // Each reply is paid for once.
    assert_eq!(
        (&parent["digest"]["usage"]["replies"], &parent["digest"]["usage"]["output"]),
        (&json!(2), &json!(10))
    );
    assert_eq!(
        (&fork["digest"]["usage"]["replies"], &fork["digest"]["usage"]["output"]),
        (&json!(1), &json!(5))
    );
    let threads = |told: &Value| told["threads"].as_array().unwrap().len();
    assert_eq!((threads(parent), threads(fork)), (2, 1));
}

#[test]
fn what_is_repeated_under_new_ids_counts_once_in_either_order() {
    let parent = |desk: &Desk| pool(desk, SESSION).with_milliseconds();
    let copy = |desk: &Desk| {
        let copy = parent(desk).copied(FORK).prompt("What about a limit of waiters for the pool?");
        copy.said("A limit of eight.").todos(&[("Limit the waiters", "pending")])
    };
    let talks: [Told<'_>; 2] = [(SESSION, &parent), (FORK, &copy)];
    let told = told_after(&talks, &[0, 1]);
    assert_eq!(told, told_after(&talks, &[1, 0]));
    assert_eq!((&told[0]["turns_stored"], &told[1]["turns_stored"]), (&json!(9), &json!(3)));
    assert_eq!(told[0]["digest"]["commits"][0]["id"], "1a2b3c4");
    assert_eq!(told[1]["digest"]["commits"], json!([]));
    assert_eq!(told[1]["digest"]["usage"]["replies"], 1);

    // The same words at another time are other work.
    let later = |desk: &Desk| {
        let told = pool(desk, FORK).text();
        let rows = told.lines().map(|row| row.replace("2026-03-09", "2026-03-10"));
        rows.fold(desk.talk(FORK), |talk, row| talk.raw(&row)).with_milliseconds()
    };
    let talks: [Told<'_>; 2] = [(SESSION, &parent), (FORK, &later)];
    let told = told_after(&talks, &[0, 1]);
    assert_eq!((&told[0]["turns_stored"], &told[1]["turns_stored"]), (&json!(9), &json!(9)));
}

#[test]
fn an_edited_copy_takes_no_turns_away() {
    let desk = Desk::new();
    desk.leave(&pool(&desk, SESSION));
    desk.ingest();
    let told = |desk: &Desk| {
        let mut told = desk.ask(&["session", "show", SESSION, "--turns"]);
        told["transcripts"] = json!([]);
        told
    };
    let before = told(&desk);
    let edited = pool(&desk, SESSION).forked(FORK).text().replace("condition variable", "prayer");
    let rows: Vec<&str> = edited.lines().take(2).collect();
    let path = desk.repo.beside("edited.jsonl");
    fs::write(&path, rows.join("\n") + "\n").unwrap();
    desk.run(&["session", "ingest", &path.to_string_lossy()]).success();
    assert_eq!(told(&desk), before);
}

#[test]
fn a_file_that_only_bears_the_id_of_a_session_does_not_take_its_place() {
    let desk = Desk::new();
    let talk = pool(&desk, SESSION);
    desk.leave(&talk);
    desk.ingest();
    let told = |desk: &Desk| {
        let mut told = desk.ask(&["session", "show", SESSION, "--turns"]);
        told["transcripts"] = json!([]);
        (told, desk.ask(&["session", "list"]), desk.ask(&["pending"]))
    };
    let before = told(&desk);
    let elsewhere = TempDir::new().unwrap();
    let mut strange = Talk::new(SESSION, &elsewhere.path().to_string_lossy());
    strange.day = 12;
    let strange = strange.raw(
        &json!({"type": "user", "uuid": "5tra4ge", "sessionId": SESSION, "cwd": elsewhere.path(),
            "timestamp": "2026-03-12T10:00:00.000Z", "message": {"role": "user", "content": "Strange words."}})
        .to_string(),
    );
    let path = elsewhere.path().join("strange.jsonl");
    fs::write(&path, strange.text()).unwrap();
    let shown = desk.run(&["session", "ingest", &path.to_string_lossy()]).success().stdout;
    assert!(shown.contains("1 session left out"), "{shown}");
    assert_eq!(told(&desk), before);
    // A copy that goes on is the session.
    fs::write(&path, talk.prompt("Now the timeout of the pool").text()).unwrap();
    desk.run(&["session", "ingest", &path.to_string_lossy()]).success();
    assert_eq!(told(&desk).0["turns_stored"], 10);
}

#[test]
fn what_was_forgotten_stays_so_in_a_copy_under_new_ids() {
    let desk = Desk::new();
    let talk = pool(&desk, SESSION).with_milliseconds();
    desk.leave(&talk);
    desk.ingest();
    desk.run(&["session", "forget", SESSION]).success();
    desk.leave(&talk.copied(FORK).prompt("Paint the shed."));
    desk.ingest();
    let turns = desk.ask(&["session", "show", FORK, "--turns"]);
    let texts: Vec<&Value> = turns["turns"].as_array().unwrap().iter().map(|turn| &turn["text"]).collect();
    assert_eq!(texts, [&json!("Paint the shed.")]);
}

#[test]
fn forks_of_forks_and_those_of_a_session_that_went_on_are_sorted_out_in_any_order() {
    const SECOND: &str = "10f0rced-aaaa-4aaa-8aaa-000000000003";
    let parent = |desk: &Desk| pool(desk, SESSION).prompt("Now the timeout of the pool").said("Done.");
    let fork = |desk: &Desk| {
        let mut fork = pool(desk, SESSION).forked(FORK);
        fork.day = 10;
        fork.prompt("What about a limit of waiters for the pool?").said("A limit of eight.")
    };
    let second = |desk: &Desk| {
        let mut second = fork(desk).forked(SECOND);
        second.day = 11;
        second.prompt("Rather twelve").said("Twelve it is.").command("git push", "done")
    };
    let talks: [Told<'_>; 3] = [(SESSION, &parent), (FORK, &fork), (SECOND, &second)];
    let told = told_after(&talks, &[0, 1, 2]);
    let stored: Vec<&Value> = told[..3].iter().map(|told| &told["turns_stored"]).collect();
    assert_eq!(stored, [&json!(11), &json!(2), &json!(3)]);
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(told, told_after(&talks, &order), "{order:?}");
    }
}

#[test]
fn a_fork_whose_transcript_is_gone_keeps_what_it_has() {
    let desk = Desk::new();
    let fork = desk.leave(&pool(&desk, SESSION).forked(FORK).prompt("What about a limit?"));
    desk.ingest();
    fs::remove_file(fork).unwrap();
    desk.leave(&pool(&desk, SESSION));
    desk.ingest();
    assert_eq!(desk.ask(&["session", "show", FORK])["turns_stored"], 10);
}

#[test]
fn colours_are_not_stored() {
    let desk = Desk::new();
    let output = "\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m: \x1b[31mpool\x1b[0m waits, [32mno[39m";
    let tests = "running\n\x1b[31mtest result: FAILED\x1b[0m. 1 failed; rate(x[5m])";
    desk.leave(
        &desk
            .talk(SESSION)
            .prompt("Why is it \x1b[31mred\x1b[0m?")
            .tool("Bash", &json!({"command": "cargo build"}), output, true)
            .tool("Bash", &json!({"command": "cargo test"}), tests, true)
            .command("git commit -m x", "\x1b[33m[main 1a2b3c4]\x1b[m pool: wait"),
    );
    desk.ingest();
    let shown = desk.ask(&["session", "show", "5e55", "--turns"]);
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns[0]["text"], "Why is it red?");
    assert_eq!(turns[1]["answer"], "error[E0308]: pool waits, no");
    assert_eq!(turns[2]["answer"], "running\ntest result: FAILED. 1 failed; rate(x[5m])");
    assert_eq!(shown["digest"]["commits"][0]["id"], "1a2b3c4");
    assert_eq!(desk.ask(&["find", "31mpool"])["hits"], json!([]));
}

#[test]
fn the_doctor_compares_the_turns_with_the_index() {
    let desk = Desk::new();
    for n in 1..4 {
        desk.leave(&pool(&desk, &format!("5e55101{n}-aaaa-4aaa-8aaa-000000000001")).said("The heron waits."));
    }
    desk.ingest();
    let hits = || {
        let hits = desk.ask(&["find", "heron", "--kind=said"])["hits"].as_array().unwrap().clone();
        let mut hits: Vec<_> = hits.iter().map(|hit| hit["session"].as_str().unwrap().to_owned()).collect();
        hits.sort();
        hits.dedup();
        hits
    };
    let all = hits();
    assert_eq!(all.len(), 3);
    // A turn that is lost, a session that the index has never heard of, and lists that are gone.
    for sql in [
        "DELETE FROM turn WHERE id = (SELECT max(id) FROM turn WHERE text LIKE '%heron%' AND session = 2)",
        "DELETE FROM indexed WHERE session = 1",
        "DELETE FROM posting; DELETE FROM segment",
    ] {
        tamper(&desk, sql);
        let seen = desk.run(&["doctor"]).stdout;
        assert!(seen.contains("the search index differs"), "{sql}: {seen}");
        let seen = desk.run(&["doctor", "--fix"]).stdout;
        assert!(seen.contains("the search index differs"), "{sql}: {seen}");
        let seen = desk.run(&["doctor"]).stdout;
        assert!(!seen.contains("the search index differs"), "{sql}: {seen}");
        assert_eq!(hits(), [all[0].clone(), all[2].clone()], "{sql}");
    }
}

#[test]
fn doctor_misses_the_tables_of_a_store_also_outside_a_repository() {
    let desk = Desk::new();
    desk.leave(&desk.talk("5e5515f1-aaaa-4aaa-8aaa-000000000001").prompt("What is a mutex?").said("A lock."));
    desk.ingest();
    let outside = desk.home.join("outside");
    fs::create_dir(&outside).unwrap();
    desk.run_in(&outside, &["doctor"]).success();
    tamper(&desk, "DROP TABLE learned; DROP TABLE vector");
    for folder in [outside.as_path(), desk.repo.path()] {
        let outcome = desk.run_in(folder, &["doctor"]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        for table in ["learned", "vector"] {
            assert!(outcome.stdout.contains(&format!("the table `{table}` is missing")), "{outcome:?}");
        }
        assert!(outcome.stdout.contains("session ingest --sweep"), "{outcome:?}");
    }
}

#[test]
fn what_a_fork_of_codex_repeats_is_paid_for_once() {
    const PARENT: &str = "01990000-0000-7000-8000-00000000000a";
    const OF_CODEX: &str = "01990000-0000-7000-8000-00000000000b";
    let row = |kind: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": "2026-03-09T10:00:00Z", "type": kind, "payload": payload}))
    };
    let later = |row: String| row.replace("10:00:00Z", "10:05:00Z");
    let said = |n: u8, role: &str, text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        row(
            "response_item",
            json!({"type": "message", "role": role, "id": format!("msg_0199f00d5afe4c0b9e1d00000000000{n}"), "content": content}),
        )
    };
    // The sum is told after the turns that it is for, and often twice.
    let sum = |input: u32| {
        let total = json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": input / 10});
        row("event_msg", json!({"type": "token_count", "info": {"total_token_usage": total}})).repeat(2)
    };
    let shared = [
        said(1, "user", "Bound the pool"),
        said(2, "assistant", "It is bounded."),
        sum(1000),
        said(3, "user", "And the queue"),
        said(4, "assistant", "That, too."),
        sum(2500),
    ];
    let own = [said(5, "user", "Now the cache"), said(6, "assistant", "Bounded."), sum(4000)].map(later);
    for own in [&own[..], &[]] {
        let desk = Desk::new();
        let folder = desk.home.join(".codex/sessions/2026/03/09");
        fs::create_dir_all(&folder).unwrap();
        for (id, parent, rows) in [(PARENT, None, &[][..]), (OF_CODEX, Some(PARENT), own)] {
            let meta = json!({"id": id, "cwd": desk.repo.path(), "forked_from_id": parent});
            let text = [&[row("session_meta", meta)][..], &shared[..], rows].concat().concat();
            fs::write(folder.join(format!("rollout-2026-03-09T10-00-00-{id}.jsonl")), text).unwrap();
        }
        desk.ingest();
        let input = |id: &str| desk.ask(&["session", "show", id])["digest"]["usage"]["input"].clone();
        assert_eq!(input(PARENT), json!(2500));
        if !own.is_empty() {
            assert_eq!(input(OF_CODEX), json!(1500));
        }
        // One that has no turn of its own is no session to list.
        let listed = desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len();
        assert_eq!(listed, if own.is_empty() { 1 } else { 2 });
    }
}

#[test]
fn folders_of_projects_that_are_links_are_followed_once() {
    let desk = Desk::new();
    let path = desk.leave(&pool(&desk, SESSION));
    let (folder, shared) = (path.parent().unwrap(), desk.home.join("shared"));
    fs::rename(folder, &shared).unwrap();
    let link = |target: &Path, name: &Path| std::os::unix::fs::symlink(target, name).unwrap();
    link(&shared, folder);
    link(&shared, &folder.with_file_name("another-worktree"));
    link(&desk.home, &folder.with_file_name("above"));
    let reply = desk.ingest();
    assert_eq!((count(&reply, "files"), count(&reply, "sessions")), (1, 1), "{reply:#}");
    assert_eq!(desk.ask(&["session", "list"])["sessions"][0]["session"], SESSION);
}

#[test]
fn rollouts_of_codex_are_found_where_it_archives_and_compresses_them() {
    let desk = Desk::new();
    let leave = |folder: &str, id: &str, is_packed: bool| {
        let rows = [
            json!({"type": "session_meta", "payload": {"id": id, "cwd": desk.repo.path()}}),
            json!({"type": "response_item", "payload": {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "Bound the pool"}]}}),
        ];
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let folder = desk.home.join(".codex").join(folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("rollout-2026-03-09T10-00-00-{id}.jsonl"));
        match is_packed {
            true => {
                fs::write(path.with_extension("jsonl.zst"), zstd::encode_all(text.as_bytes(), 3).unwrap())
            }
            false => fs::write(path, text),
        }
        .unwrap();
    };
    leave("archived_sessions", "0199-archived", false);
    leave("sessions/2026/03/09", "0199-packed", true);
    fs::write(desk.home.join(".codex/sessions/rollout-broken.jsonl.zst"), "no zstd").unwrap();
    let reply = desk.ingest();
    assert_eq!((count(&reply, "sessions"), reply["unread"].as_array().unwrap().len()), (2, 1), "{reply:#}");
    let listed = desk.ask(&["session", "list"]);
    let mut ids: Vec<&str> =
        listed["sessions"].as_array().unwrap().iter().filter_map(|one| one["session"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["0199-archived", "0199-packed"]);
}
