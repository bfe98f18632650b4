//! What is forgotten or purged is gone from every file, and does not come back.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chronicle_memory::sessions::TextPlace;
use serde_json::{Value, json};

use crate::{
    desk::{Desk, Talk},
    outcome::run_with_input,
};

const FORGOTTEN: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";
const OTHER: &str = "0ther111-aaaa-4aaa-8aaa-000000000002";

/// A conversation whose every part has a word that no other has.
fn talk(desk: &Desk) -> Talk {
    desk.talk(FORGOTTEN)
        .prompt("I prefer wombatprefer over pears. Make the wombatprompt wait.")
        .said("I will. Do you want the wombatquestion, too?")
        .todos(&[("Write the wombattodo", "pending")])
        .edit("src/wombatfile.rs", "fn wombatold() {}", "fn wombatnew() {}")
        .command("cargo test wombatcommand", "test wombatanswer ... FAILED\n1 failed")
        .command("git commit -qam 'wombatcommit'", "[wombatbranch 1a2b3c4] wombatcommit\n 1 file changed")
        .said("Done. Next: the wombatnext is still missing.")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files below `folder` that hold `word`, in small letters, compressed or not.
fn holding(folder: &Path, word: &str) -> Vec<String> {
    let holds = |path: &PathBuf| {
        let mut bytes = fs::read(path).expect("it can be read");
        if path.extension().is_some_and(|extension| extension == "zst") {
            bytes = zstd::decode_all(&bytes[..]).expect("it is whole");
        }
        String::from_utf8_lossy(&bytes).to_lowercase().contains(word)
    };
    let name = |path: PathBuf| path.strip_prefix(folder).expect("it is in there").display().to_string();
    let mut names: Vec<String> = files(folder).into_iter().filter(holds).map(name).collect();
    names.sort();
    names
}

fn hook(desk: &Desk, session: &str, event: &str, more: &[(&str, &str)]) {
    let mut payload = json!({"session_id": session, "cwd": desk.repo.path(), "hook_event_name": "x"});
    for (key, value) in more {
        payload[*key] = json!(value);
    }
    let mut command = desk.command_in(desk.repo.path(), &["hook", "claude", event]);
    run_with_input(&mut command, payload.to_string().as_bytes()).success();
}

#[test]
fn what_is_forgotten_is_in_no_file() {
    let desk = Desk::new();
    desk.leave(&talk(&desk));
    desk.leave(&desk.talk(OTHER).prompt("Make the quokkaprompt wait.").said("It waits."));
    desk.ingest();
    desk.run(&["consolidate"]).success();
    desk.run(&["preferences"]).success();
    hook(&desk, "briefed1-aaaa-4aaa-8aaa-000000000003", "session-start", &[("source", "startup")]);
    hook(
        &desk,
        OTHER,
        "user-prompt-submit",
        &[("prompt", "test wombatanswer ... FAILED in the wombatprompt")],
    );
    let memory = desk.memory();
    let before = holding(&memory, "wombat");
    for place in ["chronicle.db", "digests/", "injected/", "cold/"] {
        assert!(before.iter().any(|file| file.starts_with(place)), "nothing in {place}: {before:?}");
    }
    let uncovered =
        |file: &PathBuf| TextPlace::of(file.strip_prefix(&memory).expect("it is in there")).is_none();
    assert_eq!(files(&memory).into_iter().filter(uncovered).collect::<Vec<_>>(), Vec::<PathBuf>::new());

    desk.run(&["session", "forget", FORGOTTEN]).success();
    assert_eq!(holding(&memory, "wombat"), Vec::<String>::new());
    assert!(holding(&memory, "quokkaprompt").contains(&"chronicle.db".to_owned()));

    desk.ingest();
    desk.run(&["consolidate"]).success();
    assert_eq!(holding(&memory, "wombat"), Vec::<String>::new());
    assert!(holding(&memory, "quokkaprompt").iter().any(|file| file.starts_with("digests/")));
}

#[test]
fn remarks_on_what_only_a_forgotten_session_told_of_go_along() {
    let desk = Desk::new();
    let both = "I prefer pnpm over npm.";
    desk.leave(
        &desk
            .talk(FORGOTTEN)
            .prompt(&format!("{both} Always use tabs. TODO: write the retry tests."))
            .said("Done."),
    );
    desk.leave(&desk.talk(OTHER).prompt(&format!("{both} TODO: paint the shed.")).said("Done."));
    desk.ingest();
    let id = |answer: Value, list: &str, field: &str, word: &str| -> String {
        let found = answer[list].as_array().expect("a list").iter();
        let mut found = found.filter(|item| item[field].as_str().is_some_and(|text| text.contains(word)));
        found.next().expect("it is there")["id"].as_str().expect("an id").to_owned()
    };
    let open = |word| id(desk.ask(&["pending"]), "items", "summary", word);
    let preferred = |word| id(desk.ask(&["preferences", "--all"]), "preferences", "preference", word);
    desk.run(&["resolve", &open("retry"), "--note", "wombatresolved"]).success();
    desk.run(&["resolve", &open("shed"), "--note", "quokkaresolved"]).success();
    desk.run(&["feedback", &preferred("tabs"), "right", "--note", "wombatfeedback"]).success();
    desk.run(&["feedback", &preferred("pnpm"), "right", "--note", "quokkafeedback"]).success();
    let holds = |word| holding(&desk.memory(), word).contains(&"chronicle.db".to_owned());
    let words = ["wombatresolved", "wombatfeedback", "quokkaresolved", "quokkafeedback"];
    assert_eq!(words.map(holds), [true; 4]);
    desk.run(&["session", "forget", FORGOTTEN]).success();
    assert_eq!(words.map(holds), [false, false, true, true]);
}

#[test]
fn a_session_that_goes_on_from_a_forgotten_one_does_not_bring_its_turns_back() {
    let desk = Desk::new();
    let talk = talk(&desk);
    desk.leave(&talk);
    desk.ingest();
    desk.run(&["session", "forget", FORGOTTEN]).success();
    desk.leave(&talk.forked(OTHER).prompt("Now paint the quokkashed."));
    desk.ingest();
    desk.run(&["consolidate"]).success();
    // The agent's own transcript of the other session has the words, so it is not kept in ours.
    assert_eq!(holding(&desk.memory(), "wombat"), [""; 0]);
    assert!(holding(&desk.memory(), "quokkashed").iter().any(|file| file == "chronicle.db"));
}

#[test]
fn the_kept_transcript_of_a_session_that_goes_on_from_a_forgotten_one_goes_along() {
    let desk = Desk::new();
    let talk = talk(&desk);
    desk.leave(&talk);
    desk.leave(&talk.forked(OTHER).prompt("Now paint the quokkashed.").todos(&[("Paint it", "pending")]));
    desk.ingest();
    desk.run(&["consolidate"]).success();
    let kept = || holding(&desk.memory().join("cold"), "wombatprompt").len();
    assert_eq!(kept(), 2, "both are cited");
    desk.run(&["session", "forget", FORGOTTEN]).success();
    assert_eq!(holding(&desk.memory(), "wombatprompt"), [""; 0]);
    desk.run(&["consolidate"]).success();
    assert_eq!(kept(), 0);
}

#[test]
fn what_is_purged_is_in_no_file_but_gits_own() {
    let desk = Desk::new();
    let lesson = json!({
        "summary": "Wait for a free connection instead of failing",
        "wisdom": [{"category": "gotcha", "file": "src/pool.rs", "content": "The wombatcustomer has two pools."}],
    });
    desk.run(&["annotate", "--json", &lesson.to_string()]).success();
    desk.run(&["note", "The wombatcustomer has two pools."]).success();
    desk.run(&["read", "src/pool.rs"]).success();
    let edit = json!({"file_path": desk.repo.path().join("src/pool.rs"), "old_string": "fn acquire() {}", "new_string": ""});
    let payload = json!({
        "session_id": OTHER, "cwd": desk.repo.path(), "hook_event_name": "x", "tool_name": "Edit", "tool_input": edit,
    });
    let mut command = desk.command_in(desk.repo.path(), &["hook", "claude", "pre-tool-use"]);
    run_with_input(&mut command, payload.to_string().as_bytes()).success();
    let shown = desk.ask(&["show", "HEAD"]);
    let id = shown["annotation"]["wisdom"][0]["id"].as_str().expect("it has one").to_owned();
    let state = desk.repo.path().join(".git/chronicle");
    fs::create_dir_all(state.join("backup")).unwrap();
    fs::write(state.join("backup/notes-1.bundle"), "the wombatcustomer").unwrap();
    let logged = json!({"at": "2026-03-10T12:00:00Z", "commit": "1".repeat(40), "outcome": "nothing", "reason": "the wombatcustomer"});
    fs::write(state.join("agent.jsonl"), format!("{logged}\n")).unwrap();
    assert!(holding(&desk.memory(), "wombat").iter().any(|file| file.starts_with("injected/")));
    assert!(3 < holding(&state, "wombat").len(), "{:?}", holding(&state, "wombat"));

    desk.leave(&desk.talk(FORGOTTEN).prompt("Note that:").said("The wombatcustomer has two pools."));
    desk.ingest();
    let purged = desk.run(&["purge", &id]).success().stdout;
    // What was said in a session is the user's own to forget; purge names it.
    let forget = format!("git chronicle session forget {FORGOTTEN}");
    assert!(purged.contains(&forget), "{purged}");
    desk.run(&["session", "forget", FORGOTTEN]).success();
    assert_eq!(holding(&desk.memory(), "wombat"), Vec::<String>::new());
    assert_eq!(holding(&state, "wombat"), Vec::<String>::new());
    assert!(fs::read_to_string(state.join("agent.jsonl")).unwrap().contains(&"1".repeat(40)));
}
