//! Two machines of one user.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    desk::{Desk, NOW},
    outcome::{Outcome, program, run, run_with_input},
};

const FIRST: &str = "5e551011-aaaa-4aaa-8aaa-000000000001";
const SECOND: &str = "6e551011-aaaa-4aaa-8aaa-000000000002";

/// Two paired machines, each with a session, a thread and a line of a block, and a folder between them.
struct Two {
    one: Desk,
    other: Desk,
    folder: PathBuf,
}

impl Two {
    fn new() -> Self {
        let (one, other) = (Desk::new(), Desk::new());
        one.leave(
            &one.talk(FIRST)
                .prompt("Make the wombatpool wait")
                .todos(&[("Test the wombattimeout", "pending")])
                .said("The wombatpool waits now."),
        );
        other
            .leave(&other.talk(SECOND).prompt("Speed up the quokkaparser").said("The quokkaparser is fast."));
        for desk in [&one, &other] {
            desk.ingest();
        }
        set_block(&one, "I like wombattabs.");
        let code = one.run(&["memory", "pair"]).success().stdout;
        let mut join = other.command_in(other.repo.path(), &["memory", "pair", "--join"]);
        run_with_input(&mut join, code.as_bytes()).success();
        let folder = one.home.join("between");
        fs::create_dir(&folder).expect("it is made");
        Self { one, other, folder }
    }

    fn sync(&self, desk: &Desk) -> Value {
        desk.ask(&["memory", "sync", &self.folder.to_string_lossy()])
    }

    fn sync_all(&self) {
        for desk in [&self.one, &self.other, &self.one] {
            self.sync(desk);
        }
    }
}

fn set_block(desk: &Desk, text: &str) {
    let mut command = desk.command_in(desk.repo.path(), &["blocks", "set", "preferences", "-"]);
    run_with_input(&mut command, text.as_bytes()).success();
}

fn titles(desk: &Desk) -> Vec<String> {
    let list = desk.ask(&["session", "list", "--all"]);
    let mut titles: Vec<String> = list["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|session| session["title"].to_string())
        .collect();
    titles.sort();
    titles
}

/// What machines are to have alike.
fn state(desk: &Desk) -> (Vec<String>, Vec<String>, String) {
    let pending = desk.ask(&["pending", "--all"]);
    let open = pending["items"].as_array().expect("a list").iter();
    let mut open: Vec<String> = open.map(|item| item["summary"].to_string()).collect();
    open.sort();
    let block = desk.ask(&["blocks", "show", "preferences"]);
    let own = block["lines"].as_array().expect("a list").iter().filter(|line| line["by"] == "user");
    let own: Vec<String> = own.map(|line| line["text"].to_string()).collect();
    (titles(desk), open, own.join("\n"))
}

fn found(desk: &Desk, words: &str) -> Vec<String> {
    let answer = desk.ask(&["find", words, "--all"]);
    let hits = answer["sessions"].as_array().or(answer["hits"].as_array()).cloned().unwrap_or_default();
    let mut sessions: Vec<String> = hits.iter().map(|hit| hit["session"].to_string()).collect();
    sessions.dedup();
    sessions
}

fn holds(folder: &Path, word: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.into_iter().any(|path| {
        if path.is_dir() {
            return holds(&path, word);
        }
        String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(word)
    })
}

#[test]
fn two_machines_that_sync_in_any_order_end_equal() {
    let two = Two::new();
    let first = two.sync(&two.one);
    assert_eq!((&first["machines"], &first["ignored"]), (&json!([]), &json!([])));
    let second = two.sync(&two.other);
    assert!(0 < second["machines"][0]["new"].as_u64().unwrap(), "{second}");
    two.sync(&two.one);
    assert_eq!(state(&two.one), state(&two.other));
    let (titles, open, lines) = state(&two.other);
    assert_eq!((titles.len(), open.len(), &*lines), (2, 1, "\"I like wombattabs.\""), "{titles:?} {open:?}");
    for words in ["wombatpool", "quokkaparser"] {
        assert_eq!(
            (found(&two.one, words).len(), found(&two.other, words)),
            (1, found(&two.one, words)),
            "{words}"
        );
    }
    // Nothing is new, so nothing is written.
    let files = || {
        let mut names: Vec<_> =
            fs::read_dir(&two.folder).unwrap().flatten().map(|entry| entry.path()).collect();
        names.sort();
        names.iter().map(|path| fs::metadata(path).unwrap().modified().unwrap()).collect::<Vec<_>>()
    };
    let before = files();
    let again = two.sync(&two.one);
    assert_eq!((files(), &again["machines"][0]["new"], &again["removed"]), (before, &json!(0), &json!(0)));
    for entry in fs::read_dir(&two.folder).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn an_older_file_that_somebody_puts_back_changes_nothing() {
    let two = Two::new();
    two.sync(&two.one);
    let file = fs::read_dir(&two.folder).unwrap().flatten().next().expect("it was written").path();
    let old = fs::read(&file).unwrap();
    two.one.run(&["blocks", "set", "preferences", ""]).success();
    set_block(&two.one, "I like quokkatabs.");
    two.sync_all();
    let before = state(&two.other);
    assert_eq!((before.0.len(), &*before.2), (2, "\"I like quokkatabs.\""));
    let newest = fs::read(&file).unwrap();
    assert_ne!(old, newest);
    // A machine that reads it for the first time takes the newest of both.
    fs::write(two.folder.join("a.chronicle-sync"), &old).unwrap();
    let third = Desk::new();
    let code = two.one.run(&["memory", "pair"]).success().stdout;
    let mut join = third.command_in(third.repo.path(), &["memory", "pair", "--join"]);
    run_with_input(&mut join, code.as_bytes()).success();
    third.run(&["memory", "sync", &two.folder.to_string_lossy()]).success();
    assert_eq!(state(&third).2, before.2);
    fs::remove_file(two.folder.join("a.chronicle-sync")).unwrap();
    fs::write(&file, &old).unwrap();
    let told = two.sync(&two.other);
    let reason = told["ignored"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("older") && told["removed"] == json!(0), "{told}");
    assert_eq!(state(&two.other), before);
    two.sync_all();
    assert_eq!((state(&two.one), state(&two.other)), (before.clone(), before));
}

#[test]
fn what_is_forgotten_on_one_machine_is_gone_on_the_other() {
    for forgets_its_own in [true, false] {
        let two = Two::new();
        two.sync_all();
        let desk = if forgets_its_own { &two.one } else { &two.other };
        desk.run(&["session", "forget", FIRST]).success();
        set_block(desk, "");
        two.sync(desk);
        two.sync_all();
        for desk in [&two.one, &two.other] {
            let (titles, open, lines) = state(desk);
            assert_eq!(
                (titles.len(), open.len(), &*lines),
                (1, 0, ""),
                "{forgets_its_own}: {titles:?} {open:?}"
            );
            assert!(!holds(&desk.memory(), "wombatpool"), "{forgets_its_own}");
            assert!(holds(&desk.memory(), "quokkaparser"), "{forgets_its_own}");
        }
        assert!(!holds(&two.folder, "wombat") && holds(&two.folder, "quokkaparser"));
        // The transcript does not bring it back, either.
        two.one.ingest();
        two.sync_all();
        assert_eq!((titles(&two.one).len(), titles(&two.other).len()), (1, 1));
    }
}

#[test]
fn what_a_killed_sync_left_goes_with_the_next() {
    let two = Two::new();
    two.sync_all();
    let record: Value =
        serde_json::from_slice(&fs::read(two.one.memory().join("sync.json")).unwrap()).unwrap();
    let part = two.folder.join(format!(".{}.chronicle-part", record["machine_id"].as_str().unwrap()));
    // It is as if the process was killed before it gave the file its name.
    fs::write(&part, "the wombatpool was forgotten meanwhile").unwrap();
    let of_other = two.folder.join(".01m8kner6rmwe743efhq2s4tt9.chronicle-part");
    fs::write(&of_other, "another machine writes").unwrap();
    two.one.run(&["session", "forget", FIRST]).success();
    assert_eq!(two.sync(&two.one)["ignored"], json!([]));
    assert!(!part.exists() && of_other.exists());
    assert!(!holds(&two.folder, "wombatpool"));
}

#[test]
fn a_line_that_is_written_again_comes_back() {
    let two = Two::new();
    two.sync_all();
    set_block(&two.one, "");
    two.sync_all();
    assert_eq!(state(&two.other).2, "");
    set_block(&two.other, "I like wombattabs.");
    two.sync(&two.other);
    two.sync_all();
    two.sync(&two.other);
    assert_eq!(
        (state(&two.one).2, state(&two.other).2),
        ("\"I like wombattabs.\"".into(), "\"I like wombattabs.\"".into())
    );
}

#[test]
fn a_project_is_the_one_of_the_same_name_and_the_same_first_commit() {
    let here = |two: &Two| {
        let list = two.other.ask(&["session", "list"]);
        list["sessions"].as_array().expect("a list").len()
    };
    let brief = |two: &Two| two.other.run(&["brief"]).success().stdout;
    for is_clone in [true, false] {
        let two = Two::new();
        // Both begin with the same commit, made by the test kit.
        if !is_clone {
            two.other.repo.git(&["checkout", "--quiet", "--orphan", "stranger"]);
        }
        two.other.repo.write("b.rs", "fn b() {}\n");
        two.other.repo.commit("two");
        two.sync_all();
        let expected = if is_clone { 2 } else { 1 };
        assert_eq!(here(&two), expected);
        assert_eq!(brief(&two).contains("wombatpool"), is_clone, "{}", brief(&two));
        assert_eq!(titles(&two.other).len(), 2);
        let projects = two.other.ask(&["projects"]);
        let mut names: Vec<&str> = projects["projects"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|one| one["project"].as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names.len(), if is_clone { 1 } else { 2 }, "{names:?}");
        assert!(is_clone || names[1].starts_with("repo@"), "{names:?}");
        // The next sync changes nothing.
        two.sync_all();
        assert_eq!(here(&two), expected);
    }
}

#[test]
fn what_is_done_about_a_thread_elsewhere_counts_here() {
    let two = Two::new();
    two.sync_all();
    let id = two.other.ask(&["pending", "--all"])["items"][0]["id"].as_str().expect("an id").to_owned();
    two.other.run(&["resolve", &id]).success();
    two.sync(&two.other);
    two.sync(&two.one);
    assert_eq!(two.one.ask(&["pending", "--all"])["items"], json!([]));
}

#[test]
fn files_of_others_are_ignored_and_named() {
    let two = Two::new();
    two.sync_all();
    let stranger = Desk::new();
    stranger.leave(&stranger.talk(FIRST).prompt("Obey the stranger").said("No."));
    stranger.ingest();
    stranger.run(&["memory", "pair"]).success();
    stranger.run(&["memory", "sync", &two.folder.to_string_lossy()]).success();
    fs::write(
        two.folder.join("a.chronicle-sync"),
        "{\"schema\":\"chronicle-sync/v9\",\"machine\":\"x\",\"name\":\"x\",\"mac\":\"\"}\n",
    )
    .unwrap();
    fs::write(two.folder.join("b.chronicle-sync"), "").unwrap();
    fs::write(two.folder.join("notes.txt"), "anything").unwrap();
    symlink(&two.folder, two.folder.join("loop.chronicle-sync")).unwrap();
    let reply = two.sync(&two.one);
    let mut reasons: Vec<&str> = reply["ignored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ignored| ignored["reason"].as_str().unwrap())
        .collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "another version of Chronicle wrote it",
            "it is cut off",
            "the machine isn't paired with this one, or the file was changed",
        ]
    );
    assert_eq!(titles(&two.one).len(), 2);
    // A changed file is nobody's, and what came from its machine stays.
    let own = |desk: &Desk| {
        let record: Value =
            serde_json::from_slice(&fs::read(desk.memory().join("sync.json")).unwrap()).unwrap();
        two.folder.join(format!("{}.chronicle-sync", record["machine_id"].as_str().unwrap()))
    };
    let path = own(&two.other);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("quokkaparser", "quokkaworm")).unwrap();
    let reply = two.sync(&two.one);
    assert_eq!(reply["ignored"].as_array().unwrap().len(), 4, "{reply}");
    assert!(found(&two.one, "quokkaworm").is_empty() && found(&two.one, "quokkaparser").len() == 1);
}

#[test]
fn places_that_are_none_are_refused() {
    let two = Two::new();
    let at = |place: &str| two.one.run(&["memory", "sync", "--", place]);
    at("-oProxyCommand=touch x").refused(1, &["can't begin with `-`"]);
    at("ssh:-oProxyCommand=touch x").refused(1, &["can't begin with `-`"]);
    at("ssh:").refused(2, &["needs the name of a host"]);
    at(&two.folder.join("gone").to_string_lossy()).refused(1, &["cannot read"]);
    let alone = Desk::new();
    alone.run(&["memory", "sync", &two.folder.to_string_lossy()]).refused(1, &["isn't paired"]);
    let mut join = alone.command_in(alone.repo.path(), &["memory", "pair", "--join"]);
    run_with_input(&mut join, b"chronicle-pair-1234\n").refused(1, &["isn't a code"]);
    let cloud = two.one.home.join("Dropbox");
    fs::create_dir(&cloud).unwrap();
    let told = two.one.run(&["memory", "sync", &cloud.to_string_lossy()]).success();
    assert!(told.stderr.contains("cloud service"), "{}", told.stderr);
}

/// Runs `memory sync ssh:laptop` on the first machine; a program called `ssh` stands for the way to the other one.
fn through_ssh(two: &Two, script: &str) -> Outcome {
    let bin = two.one.home.join("bin");
    fs::create_dir_all(&bin).expect("the folder can be written");
    fs::write(bin.join("ssh"), script).expect("the folder can be written");
    fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755))
        .expect("the folder can be written");
    let mut command = two.one.command_in(two.one.repo.path(), &["memory", "sync", "ssh:laptop"]);
    run(command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())))
}

#[test]
fn one_exchange_through_ssh_brings_both_up_to_date() {
    let two = Two::new();
    let script = format!(
        "#!/bin/sh\necho \"$@\" > '{}/asked'\nHOME='{}' CHRONICLE_HOME='{}' CHRONICLE_NOW={NOW} exec {} memory sync --exchange\n",
        two.one.home.display(),
        two.other.home.display(),
        two.other.memory().display(),
        program(),
    );
    through_ssh(&two, &script).success();
    let asked = fs::read_to_string(two.one.home.join("asked")).unwrap();
    assert_eq!(asked, "-T -- laptop git-chronicle memory sync --exchange\n");
    assert_eq!(state(&two.one), state(&two.other));
    assert_eq!(titles(&two.one).len(), 2);
    two.other.run(&["session", "forget", FIRST]).success();
    through_ssh(&two, &script).success();
    assert_eq!((titles(&two.one).len(), titles(&two.other).len()), (1, 1));
    through_ssh(&two, "#!/bin/sh\ncat >/dev/null\nexit 255\n").refused(1, &["`laptop` didn't answer"]);
    through_ssh(&two, "#!/bin/sh\ncat >/dev/null\necho hello\n").refused(1, &["isn't the file of a machine"]);
    assert_eq!(titles(&two.one).len(), 1);
}

#[test]
fn an_agent_neither_pairs_machines_nor_sends_memory_anywhere() {
    let two = Two::new();
    let folder = two.folder.to_string_lossy().into_owned();
    for words in
        [&["memory", "pair"][..], &["memory", "sync", &folder], &["memory", "sync", "ssh:elsewhere.example"]]
    {
        let mut command = two.one.command_in(two.one.repo.path(), words);
        run(command.env("CLAUDECODE", "1")).refused(1, &["only a person", "an agent runs it"]);
    }
    assert_eq!(fs::read_dir(&two.folder).expect("it is there").count(), 0, "nothing was written");
    two.sync(&two.one);
    assert_eq!(fs::read_dir(&two.folder).expect("it is there").count(), 1);
}
