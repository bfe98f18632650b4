//! What is done while nobody works: once, whatever happens, and for as long as it holds.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use chronicle_search::Connection;
use serde_json::json;

use crate::{
    blocks::{desk_of, talk_on},
    desk::Desk,
    outcome::{Outcome, run},
    sessions::pool,
};

/// Every file below a folder but the store, its log and locks; and what the store says of blocks.
fn state(desk: &Desk, home: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is there").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(home).expect("it lies there").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.starts_with("chronicle.db") && !name.ends_with(".lock") {
                files.insert(name, fs::read(path).expect("it can be read"));
            }
        }
    }
    for block in ["developer_profile", "active_projects", "work_patterns", "preferences"] {
        let mut command = desk.command_in(desk.repo.path(), &["blocks", "history", block, "--format=json"]);
        files
            .insert(block.to_owned(), run(command.env("CHRONICLE_HOME", home)).success().stdout.into_bytes());
    }
    files
}

fn digests(desk: &Desk, span: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(desk.memory().join("digests").join(span)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn in_zone(desk: &Desk, zone: &str, now: &str, args: &[&str]) -> Outcome {
    run(desk.command_in(desk.repo.path(), args).env("TZ", zone).env("CHRONICLE_NOW", now))
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("it is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it can be copied");
        }
    }
}

#[test]
fn what_is_over_is_told_in_files() {
    let desk = desk_of(3);
    desk.leave(&pool(&desk, "5e551077-aaaa-4aaa-8aaa-000000000077"));
    desk.ingest();
    let done = desk.ask(&["consolidate"]);
    let jobs: Vec<&str> =
        done["jobs"].as_array().unwrap().iter().map(|job| job["job"].as_str().unwrap()).collect();
    assert_eq!(jobs, ["daily", "weekly", "monthly"]);
    assert_eq!(digests(&desk, "daily"), ["2026-03-01.md", "2026-03-02.md", "2026-03-03.md", "2026-03-09.md"]);
    // The week of the ninth and the month are not over.
    assert_eq!(digests(&desk, "weekly"), ["2026-W09.md", "2026-W10.md"]);
    assert_eq!(digests(&desk, "monthly"), [""; 0]);
    let day = fs::read_to_string(desk.memory().join("digests/daily/2026-03-09.md")).unwrap();
    insta::assert_snapshot!(day, @"
    # Digest of 2026-03-09

    1 session on 1 day, 1 prompt, 1 commit, 1 changed file

    ## repo

    - Make a full pool wait for its connections instead of failing (2026-03-09, main, session 5e551077)
      - The pool waits now. 1 of 2 tasks done, still to do: Write a test for the timeout, committed 1a2b3c4 “pool: wait”, `cargo test` passed last.

    ### Closed

    - t-npsb7xvpfj47mjpn Let acquire wait

    ### Left open

    - t-hcoa5vdrkzm4mdwp Write a test for the timeout

    ### Files

    - src/pool.rs

    Uses Rust.
    ");
    let asked = desk.run(&["digest", "2026-03-09"]).success().stdout;
    assert_eq!(asked, day);
    let week = desk.ask(&["digest", "2026-W10"]);
    assert_eq!((&week["sessions"], &week["days"], &week["commits"]), (&2.into(), &2.into(), &2.into()));
    assert_eq!(desk.ask(&["digest", "2026-03-01..2026-03-31", "--all"])["sessions"], 4);
    assert_eq!(desk.ask(&["digest"])["sessions"], 0);
}

#[test]
fn a_second_time_changes_nothing() {
    let desk = desk_of(8);
    desk.run(&["consolidate"]).success();
    let before = state(&desk, &desk.memory());
    for args in [&["consolidate"][..], &["consolidate", "--weekly"], &["consolidate", "--due"]] {
        let again = desk.ask(args);
        for job in again["jobs"].as_array().unwrap() {
            let changed = [&job["digests"], &job["blocks"], &job["gone"]];
            assert!(changed.iter().all(|list| **list == json!([])), "{args:?}: {job}");
            assert_eq!((&job["kept"], &job["let_go"], &job["used"]), (&0.into(), &0.into(), &0.into()));
        }
        assert_eq!(state(&desk, &desk.memory()), before, "{args:?}");
    }
    assert_eq!(desk.ask(&["consolidate", "--due"])["jobs"], json!([]));
}

#[test]
fn a_dry_run_changes_nothing() {
    let desk = desk_of(3);
    let before = state(&desk, &desk.memory());
    let shown = desk.ask(&["consolidate", "--dry-run"]);
    assert_eq!(shown["jobs"][0]["digests"].as_array().unwrap().len(), 3);
    assert!(shown["jobs"][0]["blocks"].as_array().unwrap().contains(&json!("developer_profile")));
    assert_eq!(state(&desk, &desk.memory()), before);
    assert_eq!(
        desk.ask(&["consolidate", "--due"])["jobs"].as_array().unwrap().len(),
        3,
        "all of it is due still"
    );
}

#[test]
fn who_is_killed_at_it_is_made_up_for() {
    let desk = desk_of(9);
    let start = desk.home.join("start");
    copied(&desk.memory(), &start);
    desk.run(&["consolidate"]).success();
    let whole = state(&desk, &desk.memory());
    let took = {
        let begun = std::time::Instant::now();
        desk.run(&["consolidate"]).success();
        begun.elapsed()
    };
    for round in 0..12_u32 {
        let home = desk.home.join(format!("killed-{round}"));
        copied(&start, &home);
        for attempt in 0..4_u32 {
            let mut command = desk.command_in(desk.repo.path(), &["consolidate"]);
            command.env("CHRONICLE_HOME", &home).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            // Spread over the time that it takes, and a little more.
            thread::sleep(took * (1 + (round * 7 + attempt * 5) % 24) / 16);
            let _gone = child.kill();
            child.wait().unwrap();
        }
        let mut command = desk.command_in(desk.repo.path(), &["consolidate"]);
        run(command.env("CHRONICLE_HOME", &home)).success();
        assert_eq!(state(&desk, &home), whole, "round {round}");
    }
}

#[test]
fn days_are_those_of_the_zone() {
    // At ten in the morning in Greenwich it is midnight of the next day in Kiritimati.
    let desk = desk_of(1);
    let now = "2026-03-10T12:00:00Z";
    in_zone(&desk, "Pacific/Kiritimati", now, &["consolidate"]).success();
    assert_eq!(digests(&desk, "daily"), ["2026-03-02.md"]);
    // Who moves finds the days of the new zone, and no others.
    in_zone(&desk, "America/New_York", now, &["consolidate"]).success();
    assert_eq!(digests(&desk, "daily"), ["2026-03-01.md"]);
    let told =
        in_zone(&desk, "America/New_York", now, &["digest", "2026-03-01", "--format=json"]).success().json();
    assert_eq!(told["sessions"], 1);
    // `since` a day means the same day.
    let since = |zone: &str, day: &str| {
        let args = ["catch-up", "--since", day, "--format=json"];
        in_zone(&desk, zone, now, &args).success().json()["sessions"].as_array().map(Vec::len)
    };
    assert_eq!(since("Pacific/Kiritimati", "2026-03-02"), Some(1));
    assert_eq!(since("America/New_York", "2026-03-02"), Some(0));
    assert_eq!(since("America/New_York", "sunday..monday"), Some(0));
    assert_eq!(since("America/New_York", "last 10 days"), Some(1));
}

#[test]
fn clocks_that_change_lose_no_session() {
    let desk = Desk::new();
    let rows = |session: &str, at: &str| {
        let talk = desk.talk(session).prompt("Bound the queue at eight entries").said("Done.");
        talk.text().replace("2026-03-09T10:00:0", at).replace("2026-03-09T10:01:0", at)
    };
    let folder = desk.home.join(".claude/projects/x");
    fs::create_dir_all(&folder).unwrap();
    // The night in which Berlin loses an hour, the night in which it gains one, and a clock that is ahead by years.
    let times = [
        ("a1", "2025-03-30T00:30:0"),
        ("a2", "2025-03-30T01:30:0"),
        ("a3", "2025-10-26T00:30:0"),
        ("a4", "2025-10-26T01:30:0"),
        ("a5", "2025-10-26T23:30:0"),
        ("a6", "2036-01-01T00:30:0"),
    ];
    for (number, at) in times {
        let session = format!("5e5510{number}-aaaa-4aaa-8aaa-0000000000{number}");
        fs::write(folder.join(format!("{session}.jsonl")), rows(&session, at)).unwrap();
    }
    desk.ingest();
    in_zone(&desk, "Europe/Berlin", "2026-03-10T12:00:00Z", &["consolidate"]).success();
    assert_eq!(digests(&desk, "daily"), ["2025-03-30.md", "2025-10-26.md", "2025-10-27.md"]);
    let count = |day: &str| {
        let told = in_zone(&desk, "Europe/Berlin", "2026-03-10T12:00:00Z", &["digest", day, "--format=json"]);
        told.success().json()["sessions"].as_u64().unwrap()
    };
    assert_eq!((count("2025-03-30"), count("2025-10-26"), count("2025-10-27")), (2, 2, 1));
    // A clock that goes back does it again, and finds nothing to change.
    let back =
        in_zone(&desk, "Europe/Berlin", "2026-02-10T12:00:00Z", &["consolidate", "--due", "--format=json"]);
    let jobs = back.success().json()["jobs"].clone();
    assert!(jobs.as_array().unwrap().iter().all(|job| job["digests"] == json!([])), "{jobs}");
}

#[test]
fn nothing_is_made_of_nothing() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["consolidate"]).success().stdout, "nothing is due\n");
    assert!(!desk.memory().join("chronicle.db").exists());
    assert_eq!(desk.ask(&["digest", "week"])["sessions"], 0);
    assert_eq!(desk.ask(&["memory", "status"])["warm"]["sessions"], 0);
    let wrong = desk.run(&["digest", "someday"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("`someday` isn't a period; use day"), "{}", wrong.stderr);
}

#[test]
fn the_first_session_of_a_day_consolidates_behind_itself() {
    let desk = desk_of(2);
    let start = |now: &str| {
        let mut command = desk.command_in(desk.repo.path(), &["hook", "claude", "session-start"]);
        let folder = desk.repo.path().to_string_lossy().into_owned();
        let payload = json!({"session_id": format!("ses-{now}"), "cwd": folder, "hook_event_name": "SessionStart", "source": "startup"});
        command.env("CHRONICLE_NOW", now);
        crate::outcome::run_with_input(&mut command, payload.to_string().as_bytes()).success();
    };
    start("2026-03-10T12:00:00Z");
    assert_eq!(digests(&desk, "daily"), ["2026-03-01.md", "2026-03-02.md"]);
    fs::remove_file(desk.memory().join("digests/daily/2026-03-01.md")).unwrap();
    start("2026-03-10T13:00:00Z");
    assert_eq!(digests(&desk, "daily"), ["2026-03-02.md"], "once a day");
    start("2026-03-11T13:00:00Z");
    assert_eq!(digests(&desk, "daily"), ["2026-03-01.md", "2026-03-02.md"]);
}

#[test]
fn one_session_or_thread_shows_where_it_is_from_and_how_it_ranks() {
    let desk = desk_of(2);
    let session = desk.ask(&["memory", "status", "5e551001"]);
    assert_eq!((&session["kind"], &session["source"]["project"]), (&"session".into(), &"repo".into()));
    assert_eq!(session["source"]["transcripts"][0][1], true);
    assert_eq!((&session["importance"]["of"], &session["shown"]), (&2.into(), &json!([])));
    assert_eq!(session["forget"], "git chronicle session forget 5e551001");
    desk.run(&["thread", "add", "Bound the pool"]).success();
    let id = desk.ask(&["pending"])["items"][0]["id"].as_str().unwrap().to_owned();
    let thread = desk.ask(&["memory", "status", &id]);
    assert_eq!((&thread["kind"], &thread["id"]), (&"thread".into(), &id.as_str().into()));
    let text = desk.run(&["memory", "status", &id]).success().stdout;
    assert!(
        text.contains("- from: project repo, added by hand") && text.contains("- shown to: no session"),
        "{text}"
    );
    assert_eq!(desk.run(&["memory", "status", "5e5599"]).code, Some(1));
}

fn kept(desk: &Desk) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(desk.memory().join("cold")) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn transcripts_of_what_is_cited_are_kept_without_secrets() {
    let desk = Desk::new();
    let talk = talk_on(&desk, 1, 2).command("echo", "password=hunter22 <private>diary</private>");
    let transcript = desk.leave(&talk);
    // Nothing refers to it.
    desk.leave(&desk.talk("5e5510d1-aaaa-4aaa-8aaa-0000000000d1").prompt("What is a mutex?").said("A lock."));
    desk.ingest();
    desk.run(&["consolidate", "--daily"]).success();
    for label in ["developer_profile", "active_projects"] {
        desk.run(&["blocks", "set", label, "Mine."]).success();
    }
    assert_eq!(desk.ask(&["consolidate", "--weekly"])["jobs"][0]["kept"], 1);
    assert_eq!(kept(&desk).len(), 1);
    fs::remove_file(&transcript).unwrap();
    let out = desk.run(&["memory", "transcript", "5e551001"]).success().stdout;
    assert_eq!(out.lines().count(), talk.text().lines().count());
    assert!(
        out.contains("[redacted:password]") && !out.contains("hunter22") && !out.contains("diary"),
        "{out}"
    );
    assert_eq!(desk.ask(&["consolidate", "--weekly"])["jobs"][0]["let_go"], 0);
    let status = desk.ask(&["memory", "status"]);
    assert_eq!((&status["cold"]["transcripts"], &status["cold"]["only_here"]), (&1.into(), &1.into()));
    assert_eq!(desk.run(&["memory", "transcript", "5e5510d1"]).code, Some(1));
    // What is forgotten is gone from there, too.
    desk.run(&["session", "forget", "5e551001"]).success();
    assert!(kept(&desk).is_empty());
}

#[test]
fn a_budget_keeps_what_matters_most() {
    let desk = Desk::new();
    // Half a megabyte each, which does not get any smaller.
    for number in 1..=4_u8 {
        let mut noise = u64::from(number);
        let text: String = (0..500_000)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b' ' + u8::try_from(noise >> 58).unwrap())
            })
            .collect();
        desk.leave(&talk_on(&desk, number, number).command("cat noise", &text));
    }
    desk.ingest();
    let consolidate = |megabytes: &str| {
        let mut command = desk.command_in(desk.repo.path(), &["consolidate", "--weekly", "--format=json"]);
        let jobs =
            run(command.env("CHRONICLE_MEMORY_COLD_MEGABYTES", megabytes)).success().json()["jobs"].clone();
        jobs.as_array().and_then(|jobs| jobs.last()).expect("it was done").clone()
    };
    assert_eq!(consolidate("1")["kept"], 2);
    let size: u64 = kept(&desk).iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(size <= 1_000_000, "{size}");
    // The latest matter most.
    assert!(kept(&desk)[0].to_string_lossy().contains("5e551003"), "{:?}", kept(&desk));
    let again = consolidate("1");
    assert_eq!((&again["kept"], &again["let_go"]), (&0.into(), &0.into()));
    assert_eq!(consolidate("10")["kept"], 2);
    assert_eq!(consolidate("1")["let_go"], 2);
}

#[test]
fn what_is_forgotten_is_gone_from_blocks_and_digests() {
    let desk = desk_of(3);
    desk.run(&["consolidate"]).success();
    let all = |desk: &Desk| {
        let text: Vec<u8> = state(desk, &desk.memory()).into_values().flatten().collect();
        String::from_utf8_lossy(&text).into_owned()
    };
    assert!(all(&desk).contains("queue of part 3") && all(&desk).contains("queue of part 2"));
    desk.run(&["session", "forget", "5e551003"]).success();
    let left = all(&desk);
    assert!(!left.contains("part 3") && !left.contains("5e551003"), "{left}");
    desk.run(&["consolidate"]).success();
    let again = all(&desk);
    assert!(!again.contains("part 3") && again.contains("queue of part 2"), "{again}");
    assert_eq!(digests(&desk, "daily"), ["2026-03-01.md", "2026-03-02.md"]);
}

#[test]
fn an_older_store_is_brought_up_to_date() {
    let desk = desk_of(2);
    let store = desk.memory().join("chronicle.db");
    let connection = Connection::open(&store).unwrap();
    connection
        .execute_batch(
            "DROP TABLE own_block; DROP TABLE block_version; DROP TABLE job; DROP TABLE used; DROP TABLE kept; \
             DROP TABLE learned; DROP TABLE feedback; DROP TABLE vector; DROP TABLE embedder; \
             DROP TABLE forgotten_turn; DROP TABLE handoff; \
             DROP TABLE synced; DROP TABLE sync_known; DROP TABLE sync_gone; DROP TABLE checkpoint; \
             DROP TABLE root; DROP INDEX session_by_title; DROP INDEX session_by_first; DROP INDEX project_by_name; PRAGMA user_version = 3",
        )
        .unwrap();
    drop(connection);
    desk.run(&["consolidate"]).success();
    assert_eq!(digests(&desk, "daily").len(), 2);
}

#[test]
fn a_full_disk_or_a_read_only_folder_is_told() {
    let desk = desk_of(2);
    // A file is where the folder of digests should be.
    fs::write(desk.memory().join("digests"), "").unwrap();
    let failed = desk.run(&["consolidate"]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stderr.contains("cannot write"), "{}", failed.stderr);
    fs::remove_file(desk.memory().join("digests")).unwrap();
    desk.run(&["consolidate", "--due"]).success();
    assert_eq!(digests(&desk, "daily").len(), 2);
}

#[test]
fn who_sleeps_for_long_is_done_in_time() {
    let desk = desk_of(4);
    // Two at once: one does it, the other waits and finds it done.
    let spawn = || desk.command_in(desk.repo.path(), &["consolidate"]).stdout(Stdio::null()).spawn().unwrap();
    let mut both = [spawn(), spawn()];
    thread::sleep(Duration::from_millis(1));
    assert!(both.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(digests(&desk, "daily").len(), 4);
    let versions = desk.ask(&["blocks", "history", "developer_profile"])["versions"].clone();
    assert_eq!(versions.as_array().unwrap().len(), 1);
}
