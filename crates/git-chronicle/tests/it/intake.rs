//! Taking sessions in when something is in the way, and in whatever order they come.

use std::{fs, os::unix::ffi::OsStrExt};

use chronicle_search::Store;

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
    assert!(told.contains("names no transcript") && told.contains("(and 2 more)"), "{told}");
    // The next one gets the lock, and is done.
    desk.run(&["session", "ingest", "--later", path.to_str().unwrap()]).success();
    assert_eq!(fs::read_dir(queue).unwrap().count(), 3);
}

/// Lets the store refuse every turn that holds the word, until it is told otherwise.
fn refuse(desk: &Desk, word: Option<&str>) {
    let mut store = Store::create(&desk.memory().join("chronicle.db")).unwrap();
    let sql = match word {
        Some(word) => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON turn WHEN new.text LIKE '%{word}%' \
             BEGIN SELECT raise(abort, 'not that'); END"
        ),
        None => "DROP TRIGGER refuse".to_owned(),
    };
    store.write(|tx| tx.execute_batch(&sql)).unwrap();
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
    assert_eq!(count(&reply, "new_turns") as usize, 43 - stored);
    let shown = desk.ask(&["session", "show", "5e55", "--turns"]);
    let texts: Vec<&str> =
        shown["turns"].as_array().unwrap().iter().map(|turn| turn["text"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..40).map(|n| format!("step {n}")).collect();
    assert_eq!((texts.len(), &texts[1..41]), (43, &*expected.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(shown["digest"]["usage"]["replies"], 42);
}
