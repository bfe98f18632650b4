//! Blocks of memory: who writes them, what fits, and what was there before.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::{
    desk::{Desk, Talk},
    outcome::{Outcome, run},
    sessions::pool,
};

/// A conversation about a part of its own, on a day of March 2026.
pub(crate) fn talk_on(desk: &Desk, number: u8, day: u8) -> Talk {
    let session = format!("5e5510{number:02}-aaaa-4aaa-8aaa-0000000000{number:02}");
    let mut talk = desk.talk(&session);
    talk.day = day;
    let (path, commit) = (format!("src/part{number}.rs"), format!("{number:02}cafe1"));
    talk.prompt(&format!("Bound the queue of part {number} at eight entries"))
        .edit(&path, "a", "b")
        .command("cargo test", "test result: ok. 3 passed; 0 failed")
        .command(
            &format!("git commit -qam 'part {number}: bound the queue'"),
            &format!("[main {commit}] part {number}: bound the queue\n 1 file changed"),
        )
        .said("It is bounded.")
}

/// A desk with so many sessions, one on each day from the first on.
pub(crate) fn desk_of(n_sessions: u8) -> Desk {
    let desk = Desk::new();
    for number in 1..=n_sessions {
        desk.leave(&talk_on(&desk, number, number));
    }
    desk.ingest();
    desk
}

fn value(desk: &Desk, label: &str) -> String {
    desk.ask(&["blocks", "show", label])["value"].as_str().expect("a text").to_owned()
}

fn edit(desk: &Desk, label: &str, line: &str) -> Outcome {
    let editor = desk.editor(line);
    run(desk.command_in(desk.repo.path(), &["blocks", "edit", label]).env("GIT_EDITOR", editor))
}

#[test]
fn there_are_six_blocks_with_their_limits() {
    let desk = Desk::new();
    let blocks = desk.ask(&["blocks", "list"])["blocks"].clone();
    let told: Vec<(String, u64)> = blocks
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["label"].as_str().unwrap().to_owned(), block["limit"].as_u64().unwrap()))
        .collect();
    let limits = [
        ("developer_profile", 2_000),
        ("preferences", 1_500),
        ("recent_sessions", 3_000),
        ("active_projects", 2_000),
        ("work_patterns", 2_000),
        ("pending_threads", 1_500),
    ];
    assert_eq!(told, limits.map(|(label, limit)| (label.to_owned(), limit)));
    // Nothing was made by asking.
    assert!(!desk.memory().join("chronicle.db").exists());
}

#[test]
fn rules_write_what_sessions_show() {
    let desk = desk_of(6);
    desk.run(&["consolidate"]).success();
    insta::assert_snapshot!(value(&desk, "developer_profile"), @"
    Works with the agent claude: 6 sessions, last on 2026-03-06.
    Tests with `cargo test`: 6 sessions, last on 2026-03-06.
    Rust: 6 sessions, last on 2026-03-06.
    ");
    insta::assert_snapshot!(value(&desk, "active_projects"), @"repo: 6 sessions, last on 2026-03-06 on main: “Bound the queue of part 6 at eight entries”.");
    insta::assert_snapshot!(value(&desk, "work_patterns"), @"
    Commits in 6 of 6 sessions.
    A session takes 0 minutes in the median of 6.
    Mostly begins in the morning (6–12 h): 6 of 6 sessions.
    Runs `git commit`.
    Often: ask → change code → tests pass → commit.
    Runs `cargo test`.
    ");
    insta::assert_snapshot!(value(&desk, "recent_sessions"), @"
    Bound the queue of part 6 at eight entries (2026-03-06, main, 5e551006)
      Asked for “Bound the queue of part 6 at eight entries”. Committed 06cafe1 “part 6: bound the queue”, changed 1 file, `cargo test` passed last.
    Bound the queue of part 5 at eight entries (2026-03-05, main, 5e551005)
      Asked for “Bound the queue of part 5 at eight entries”. Committed 05cafe1 “part 5: bound the queue”, changed 1 file, `cargo test` passed last.
    Bound the queue of part 4 at eight entries (2026-03-04, main, 5e551004)
      Asked for “Bound the queue of part 4 at eight entries”. Committed 04cafe1 “part 4: bound the queue”, changed 1 file, `cargo test` passed last.
    Bound the queue of part 3 at eight entries (2026-03-03, main, 5e551003)
      Asked for “Bound the queue of part 3 at eight entries”. Committed 03cafe1 “part 3: bound the queue”, changed 1 file, `cargo test` passed last.
    Bound the queue of part 2 at eight entries (2026-03-02, main, 5e551002)
      Asked for “Bound the queue of part 2 at eight entries”. Committed 02cafe1 “part 2: bound the queue”, changed 1 file, `cargo test` passed last.
    Bound the queue of part 1 at eight entries (2026-03-01, main, 5e551001)
      Asked for “Bound the queue of part 1 at eight entries”. Committed 01cafe1 “part 1: bound the queue”, changed 1 file, `cargo test` passed last.
    ");
    let shown = desk.ask(&["blocks", "show", "developer_profile"]);
    assert_eq!((&shown["version"], &shown["author"]), (&1.into(), &"rule".into()));
    for line in shown["lines"].as_array().unwrap() {
        for session in line["evidence"].as_array().expect("what shows it") {
            desk.run(&["session", "show", session.as_str().unwrap()]).success();
        }
    }
}

#[test]
fn what_the_user_wrote_outlives_rules() {
    let desk = desk_of(3);
    desk.run(&["consolidate"]).success();
    let before = value(&desk, "developer_profile");
    let language = before.lines().find(|line| line.starts_with("Rust: ")).expect("a line").to_owned();
    // Without the tests, with a line of one's own, and another word on the agent.
    edit(&desk, "developer_profile", r#"sed -i -e '/^Tests/d' -e '1i Writes parsers by hand.' "$1""#)
        .success();
    let edited = value(&desk, "developer_profile");
    assert!(edited.starts_with("Writes parsers by hand.\n"), "{edited}");
    desk.leave(&talk_on(&desk, 7, 9));
    desk.ingest();
    desk.run(&["consolidate"]).success();
    let after = value(&desk, "developer_profile");
    assert!(after.starts_with("Writes parsers by hand.\n") && !after.contains("Tests with"), "{after}");
    assert!(!after.contains(&language) && after.contains("Rust: 4 sessions"), "renewed: {after}");
    let history = desk.ask(&["blocks", "history", "developer_profile"])["versions"].clone();
    let authors: Vec<&str> =
        history.as_array().unwrap().iter().map(|version| version["author"].as_str().unwrap()).collect();
    assert_eq!(authors, ["rule", "user", "rule"]);
    assert_eq!(history[1]["added"][0], "Writes parsers by hand.");
    // What was taken out comes back with the version that had it.
    desk.run(&["blocks", "revert", "developer_profile", "1"]).success();
    assert!(value(&desk, "developer_profile").contains("Tests with"));
    assert!(value(&desk, "developer_profile").contains(&language));
}

#[test]
fn a_text_over_the_limit_is_refused_and_kept() {
    let desk = desk_of(1);
    let refused = edit(&desk, "preferences", r#"yes 'No emoji, ever.' | head -200 > "$1""#);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("3199 characters, and `preferences` may have 1500"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("preferences.md"), "{}", refused.stderr);
    assert_eq!(value(&desk, "preferences"), "");
    // The next time it is there to be shortened.
    let again = edit(&desk, "preferences", r#"head -2 "$1" > "$1.short" && mv "$1.short" "$1""#).success();
    assert!(again.stderr.contains("not stored before"), "{}", again.stderr);
    assert_eq!(value(&desk, "preferences"), "No emoji, ever.\nNo emoji, ever.");
    assert!(!desk.memory().join("edited/preferences.md").exists());
    // The same is kept of what was set without an editor.
    let long = "No emoji, ever. ".repeat(200);
    let refused = desk.run(&["blocks", "set", "preferences", &long]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("preferences.md") && !refused.stderr.contains("nothing was stored"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(desk.memory().join("edited/preferences.md")).unwrap(), long);
    desk.run(&["blocks", "set", "preferences", "No emoji, ever."]).success();
    assert!(!desk.memory().join("edited/preferences.md").exists());
    assert_eq!(desk.run(&["blocks", "set", "no-such", &long]).code, Some(1));
    assert!(!desk.memory().join("edited/no-such.md").exists());
    desk.run(&["blocks", "set", "preferences", "No emoji, ever.\nNo emoji, ever."]).success();
    // An editor that fails changes nothing.
    let failed = edit(&desk, "preferences", r#"echo x > "$1"; exit 1"#);
    assert_eq!(failed.code, Some(1));
    assert_eq!(value(&desk, "preferences"), "No emoji, ever.\nNo emoji, ever.");
}

#[test]
fn blocks_of_ones_own_come_and_go() {
    let desk = Desk::new();
    desk.run(&["blocks", "create", "hausregeln", "--limit", "20", "--description", "Was hier gilt"])
        .success();
    desk.run(&["blocks", "set", "hausregeln", "先写测试。"]).success();
    assert_eq!(value(&desk, "hausregeln"), "先写测试。");
    let long = desk.run(&["blocks", "set", "hausregeln", "Écrire les tests d’abord"]);
    assert_eq!(long.code, Some(1));
    assert!(long.stderr.contains("24 characters, and `hausregeln` may have 20"), "{}", long.stderr);
    assert_eq!(desk.run(&["blocks", "create", "hausregeln"]).code, Some(1));
    assert_eq!(desk.run(&["blocks", "create", "preferences"]).code, Some(1));
    assert_eq!(desk.run(&["blocks", "create", "a b"]).code, Some(1));
    assert_eq!(desk.run(&["blocks", "create", "x", "--limit", "0"]).code, Some(1));
    assert_eq!(desk.run(&["blocks", "remove", "preferences"]).code, Some(1));
    desk.run(&["blocks", "remove", "hausregeln"]).success();
    assert_eq!(desk.run(&["blocks", "show", "hausregeln"]).code, Some(1));
    let unknown = desk.run(&["blocks", "show", "preference"]);
    assert!(unknown.stderr.contains("did you mean `preferences`?"), "{}", unknown.stderr);
}

#[test]
fn renderings_are_not_written() {
    let desk = Desk::new();
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.ingest();
    assert!(value(&desk, "pending_threads").contains("Write a test for the timeout"));
    for label in ["pending_threads", "recent_sessions"] {
        let refused = desk.run(&["blocks", "set", label, "x"]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("is a rendering of"), "{}", refused.stderr);
        assert_eq!(edit(&desk, label, "exit 0").code, Some(1));
        assert_eq!(desk.run(&["blocks", "history", label]).code, Some(1));
        assert_eq!(desk.run(&["blocks", "revert", label, "1"]).code, Some(1));
    }
    // What is done is not pending any more, without anything that is stored twice.
    let id = value(&desk, "pending_threads").split(' ').next().unwrap().to_owned();
    desk.run(&["resolve", &id]).success();
    assert_eq!(value(&desk, "pending_threads"), "");
}

#[test]
fn neither_secrets_nor_escapes_get_into_a_block() {
    let desk = Desk::new();
    let set = desk
        .run(&["blocks", "set", "preferences", "Use password=hunter22 \u{1b}[31mred\u{1b}[0m\u{7}"])
        .success();
    assert!(set.stderr.contains("secrets were replaced"), "{}", set.stderr);
    assert_eq!(value(&desk, "preferences"), "Use password=[redacted:password] red");
}

#[test]
fn an_edit_does_not_run_over_another() {
    let desk = Desk::new();
    desk.run(&["blocks", "set", "preferences", "First."]).success();
    let binary = PathBuf::from(crate::outcome::program());
    let line =
        format!("{} blocks set preferences Second. >/dev/null && echo Third. > \"$1\"", binary.display());
    let refused = edit(&desk, "preferences", &line);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("was changed by hand since"), "{}", refused.stderr);
    assert_eq!(value(&desk, "preferences"), "Second.");
    assert_eq!(fs::read_to_string(desk.memory().join("edited/preferences.md")).unwrap(), "Third.\n");
}

#[test]
fn an_export_carries_blocks_with_their_history() {
    let desk = desk_of(3);
    desk.run(&["consolidate"]).success();
    desk.run(&["blocks", "create", "rules"]).success();
    desk.run(&["blocks", "set", "rules", "One."]).success();
    desk.run(&["blocks", "set", "rules", "One.\nTwo."]).success();
    let folder = desk.home.join("export");
    desk.run(&["session", "export", &folder.to_string_lossy()]).success();
    let file: Value = serde_json::from_slice(&fs::read(folder.join("blocks/rules.json")).unwrap()).unwrap();
    assert_eq!(
        (&file["value"], &file["version"], &file["limit"]),
        (&"One.\nTwo.".into(), &2.into(), &2_000.into())
    );
    assert!(file["updatedAt"].is_string() && folder.join("digests/daily/2026-03-01.md").is_file());

    let other = Desk::new();
    other.run(&["blocks", "set", "developer_profile", "My own."]).success();
    for round in 0..2 {
        let done = other.ask(&["session", "import", &folder.to_string_lossy()]);
        assert_eq!(done["unread"], serde_json::json!([]));
        assert_eq!(done["block_versions"] == 0, round == 1, "{done}");
    }
    assert_eq!(value(&other, "rules"), "One.\nTwo.");
    assert_eq!(other.ask(&["blocks", "history", "rules"])["versions"].as_array().unwrap().len(), 2);
    let profile = value(&other, "developer_profile");
    assert!(profile.starts_with("My own.\n") || profile == "My own.", "{profile}");
}

#[test]
fn an_imported_block_is_called_as_one_that_is_made_here() {
    let desk = Desk::new();
    let folder = desk.home.join("export/blocks");
    fs::create_dir_all(&folder).unwrap();
    for (file, label) in [("a", "../../notes"), ("b", "-x"), ("c", "rules")] {
        let block =
            serde_json::json!({ "schema": "chronicle-block/v1", "label": label, "value": "Run the tests" });
        fs::write(folder.join(file).with_extension("json"), block.to_string()).unwrap();
    }
    let done = desk.ask(&["session", "import", &desk.home.join("export").to_string_lossy()]);
    let unread = done["unread"].as_array().expect("a list").iter();
    let reasons: Vec<&str> = unread.map(|file| file["reason"].as_str().expect("a text")).collect();
    let reason =
        |label: &str| format!("`{label}` isn't a block name: use at most 60 letters, digits, `_` and `-`");
    assert_eq!(reasons, [reason("../../notes"), reason("-x")]);
    assert_eq!(value(&desk, "rules"), "Run the tests");
}

#[test]
fn an_older_kind_of_block_is_taken_in_as_the_users_word() {
    let desk = Desk::new();
    let folder = desk.home.join("old/blocks");
    fs::create_dir_all(&folder).unwrap();
    let old = serde_json::json!({
        "label": "preferences", "description": "d", "value": "Minimal dependencies.\nNarrative code.",
        "limit": 1500, "updatedAt": "2025-12-30T10:00:00Z", "version": 7
    });
    fs::write(folder.join("preferences.json"), old.to_string()).unwrap();
    let threads = serde_json::json!({"label": "pending_threads", "value": "x"});
    fs::write(folder.join("pending_threads.json"), threads.to_string()).unwrap();
    desk.run(&["session", "import", &desk.home.join("old").to_string_lossy()]).success();
    assert_eq!(value(&desk, "preferences"), "Minimal dependencies.\nNarrative code.");
    assert_eq!(value(&desk, "pending_threads"), "");
}

#[test]
fn projects_that_are_called_alike_count_as_several() {
    let desk = Desk::new();
    for (folder, session) in [("a", "9d9d9d91"), ("b", "9d9d9d92")] {
        let folder = desk.repo.beside(folder).join("cli");
        fs::create_dir_all(&folder).unwrap();
        let session = format!("{session}-0000-4000-8000-00000000000c");
        let talk = Talk::new(&session, &folder.to_string_lossy());
        desk.leave(&talk.prompt("Make the pool wait").edit("src/pool.rs", "a", "b").said("Done."));
    }
    desk.ingest();
    desk.run(&["consolidate", "--daily"]).success();
    let profile = value(&desk, "developer_profile");
    assert!(profile.contains("Rust: 2 sessions in 2 projects"), "{profile}");
}
