//! Going on with a session.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::desk::Desk;

const FIRST: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";
const SECOND: &str = "6e551011-aaaa-4aaa-8aaa-000000000002";

/// A desk with two sessions in a folder whose name needs quotes; the first leaves a thread.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut first = desk.talk(FIRST).prompt("Let a full pool wait").todos(&[("Test the timeout", "pending")]);
    first.day = 8;
    desk.leave(&first.said("It waits."));
    desk.leave(&desk.talk(SECOND).prompt("Speed up the parser of the log").said("It is fast."));
    desk.ingest();
    desk
}

#[test]
fn a_session_is_gone_on_with_by_the_command_of_its_agent() {
    let desk = desk();
    let folder = desk.repo.path().display().to_string();
    let line = |session: &str| format!("cd {folder} && claude --resume {session}\n");
    let said = |args: &[&str]| desk.run(&[&["resume"], args].concat()).success();
    // Without an id the latest; else by the beginning of an id, or by a thread.
    assert_eq!((said(&[]).stdout, said(&[]).stderr), (line(SECOND), String::new()));
    assert_eq!(said(&["5e55"]).stdout, line(FIRST));
    let thread = desk.ask(&["pending"])["items"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(said(&[&thread]).stdout, line(FIRST));
    let answer = desk.ask(&["resume", "5e55"]);
    assert_eq!(
        answer,
        json!({
            "schema": "chronicle-resume/v1", "session": FIRST, "agent": "claude", "title": answer["title"],
            "ended": answer["ended"], "folder": folder, "command": ["claude", "--resume", FIRST], "warnings": [],
        })
    );
    desk.run(&["resume", "feed"]).refused(1, &["session memory has no session `feed`"]);
}

#[test]
fn a_transcript_that_is_gone_is_said() {
    let desk = desk();
    fs::remove_dir_all(desk.home.join(".claude/projects")).expect("it was there");
    let outcome = desk.run(&["resume", "5e55"]).success();
    assert_eq!(outcome.stderr, "warning: its transcript is gone; claude may not know the session any more\n");
    let Some(refused) = desk.at_terminal("resume 5e55 --run", "", &[]) else { return };
    assert!(refused.failed(1).stdout.contains("its transcript is gone"));
}

#[test]
fn the_agent_is_started_in_the_folder_of_the_session_by_a_person_only() {
    let desk = desk();
    let claude = desk.home.join("bin/claude");
    fs::create_dir_all(claude.parent().expect("it has one")).expect("it can be made");
    fs::write(&claude, "#!/bin/sh\necho \"$PWD|$*\" > \"$HOME/started\"\nexit 1\n")
        .expect("it can be written");
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).expect("it is there");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", desk.home.join("bin").display());
    desk.run(&["resume", "5e55", "--run"]).refused(2, &["which needs a terminal"]);
    let agent = [("PATH", &*path), ("CLAUDECODE", "1")];
    let Some(refused) = desk.at_terminal("resume 5e55 --run", "", &agent) else { return };
    refused.failed(1);
    assert!(!desk.home.join("started").exists());
    desk.at_terminal("resume 5e55 --run", "", &agent[..1]).expect("there is one").failed(1);
    let started = fs::read_to_string(desk.home.join("started")).expect("it was started");
    assert_eq!(started, format!("{}|--resume {FIRST}\n", desk.repo.path().display()));
}
