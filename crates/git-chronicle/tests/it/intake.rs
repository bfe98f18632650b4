//! Taking sessions in when something is in the way, and in whatever order they come.

use std::{fs, os::unix::ffi::OsStrExt};

use crate::{
    desk::Desk,
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
