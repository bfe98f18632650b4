//! Taking sessions in, looking at them, forgetting them.

use std::{fs, io::Write, path::Path, process::Stdio, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    desk::{Desk, Talk},
    mcp::fits,
    outcome::{run, skip},
};

const WAIT: &str = "Make a full pool wait for its connections instead of failing";

/// A conversation in which something was done, and something left.
pub(crate) fn pool(desk: &Desk, session: &str) -> Talk {
    desk.talk(session)
        .prompt(WAIT)
        .said("I will let acquire wait on a condition variable.")
        .todos(&[("Let acquire wait", "in_progress"), ("Write a test for the timeout", "pending")])
        .edit("src/pool.rs", "fn acquire() {}", "fn acquire() { wait() }")
        .command("cargo test", "test result: ok. 3 passed; 0 failed")
        .command("git commit -qam 'pool: wait'", "[main 1a2b3c4] pool: wait\n 1 file changed")
        .todos(&[("Let acquire wait", "completed"), ("Write a test for the timeout", "pending")])
        .said("The pool waits now.")
}

/// Everything in the files of session memory, as bytes.
fn stored(desk: &Desk) -> Vec<u8> {
    let mut all = Vec::new();
    for file in fs::read_dir(desk.memory()).expect("it is there").flatten() {
        if file.path().is_file() {
            all.extend(fs::read(file.path()).expect("it can be read"));
        }
    }
    all
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

pub(crate) fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} is no number: {value:#}"))
}

#[test]
fn a_session_is_taken_in_once_and_shown() {
    let desk = Desk::new();
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    let first = desk.ingest();
    assert_eq!((count(&first, "sessions"), count(&first, "unreadable_rows")), (1, 0));
    assert!(8 < count(&first, "new_turns"));
    let again = desk.ingest();
    assert_eq!((count(&again, "unchanged"), count(&again, "new_turns")), (1, 0));

    let list = desk.run(&["session", "list"]).success().stdout;
    insta::assert_snapshot!(list, @"
    # Sessions of repo

    - 5e551011 Make a full pool wait for its connections instead of failing (1 day ago, main, 1 prompt)
    ");
    let shown =
        desk.run(&["session", "show", "5e55"]).success().stdout.replace(&*desk.home.to_string_lossy(), "~");
    let shown = shown.replace(&*desk.repo.path().to_string_lossy(), "/repo");
    let shown: String = shown
        .lines()
        .filter(|line| !line.starts_with("transcript:"))
        .map(|line| format!("{line}\n"))
        .collect();
    insta::assert_snapshot!(shown, @"
    # Make a full pool wait for its connections instead of failing

    - session: 5e551011-aaaa-4aaa-8aaa-000000000001 (claude, importance 2)
    - project: repo in /repo
    - 1 day ago, main, 1 prompt
    - tokens: 20 read, 200 from the cache, 0 written to it; 10 or more in replies (2)
    - uses: Rust

    The pool waits now. 1 of 2 tasks done, still to do: Write a test for the timeout, committed 1a2b3c4 “pool: wait”, `cargo test` passed last.

    ## What was done
    - Committed 1a2b3c4: pool: wait
    - Let acquire wait

    ## Commits
    - 1a2b3c4 pool: wait

    ## Checks
    - `cargo test`: passed the last time of 1

    ## Files
    - src/pool.rs (1×)

    ## Threads
    - t-hcoa5vdrkzm4mdwp [pending] Write a test for the timeout
    - t-npsb7xvpfj47mjpn [resolved] Let acquire wait

    9 turns
    ");
    let turns = desk.ask(&["session", "show", "5e55", "--turns"]);
    let kinds: Vec<&str> =
        turns["turns"].as_array().unwrap().iter().map(|turn| turn["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "said", "todo", "edit", "command", "command", "commit", "todo", "said"]);
    assert_eq!(turns["turns"][0]["text"], WAIT);
    assert_eq!(turns["digest"]["commits"][0]["id"], "1a2b3c4");
    assert_eq!(turns["digest"]["usage"]["replies"], 2);
}

#[test]
fn a_session_that_grew_adds_what_is_new() {
    let desk = Desk::new();
    let talk = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001");
    desk.leave(&talk);
    desk.ingest();
    desk.leave(&talk.prompt("Now the timeout").said("Done, it gives up after a second."));
    let grown = desk.ingest();
    assert_eq!((count(&grown, "new_turns"), count(&grown, "changed_turns")), (2, 0));
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
    for round in 1..6 {
        // Written anew with the same content, it is read again and changes nothing.
        let path = desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000002"));
        let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_secs(round);
        fs::File::open(path).unwrap().set_modified(later).unwrap();
        desk.ingest();
    }
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(desk.ask(&["session", "show", "5e551011-aaaa-4aaa-8aaa-000000000002"])["turns_stored"], 9);
}

#[test]
fn a_large_session_is_read_on_where_it_ended_and_anew_where_it_was_rewritten() {
    let desk = Desk::new();
    let log = "a line of the log that the build printed\n".repeat(40_000);
    let talk = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001");
    let talk = talk.command("cargo build", &log).said("It is built.");
    let path = desk.leave(&talk);
    desk.ingest();
    let words = |wanted: &str| {
        let shown = desk.ask(&["session", "show", "5e551011", "--turns"]);
        shown["turns"].as_array().unwrap().iter().filter(|turn| turn["text"] == wanted).count()
    };
    let n_bytes = talk.text().len();
    let text = talk.prompt("Now the timeout").said("It gives up after a second.").text();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&text.as_bytes()[n_bytes..]).unwrap();
    let grown = desk.ingest();
    assert_eq!((count(&grown, "new_turns"), count(&grown, "changed_turns")), (2, 0));
    assert_eq!((words("It is built."), words("It gives up after a second.")), (1, 1));

    // In the same file, as a program that edits transcripts would do it.
    let text = fs::read_to_string(&path).unwrap().replace("It is built.", "It was built in a minute.");
    fs::write(&path, text).unwrap();
    desk.ingest();
    assert_eq!((words("It is built."), words("It was built in a minute.")), (0, 1));

    desk.run(&["session", "forget", "5e551011"]).success();
    assert!(!holds(&stored(&desk), "condition variable"));
}

#[test]
fn a_call_that_was_not_answered_yet_is_completed_later() {
    let desk = Desk::new();
    let talk = desk
        .talk("5e551011-aaaa-4aaa-8aaa-000000000001")
        .prompt(WAIT)
        .command("cargo test", "test result: FAILED");
    let text = talk.text();
    let path = desk.leave(&talk);
    let without_answer: Vec<&str> = text.lines().take(2).collect();
    fs::write(&path, without_answer.join("\n")).unwrap();
    assert_eq!(count(&desk.ingest(), "new_turns"), 2);
    fs::write(&path, &text).unwrap();
    let grown = desk.ingest();
    assert_eq!((count(&grown, "new_turns"), count(&grown, "changed_turns")), (0, 1));
}

#[test]
fn a_fork_does_not_double_what_it_repeats() {
    let desk = Desk::new();
    let talk = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001");
    desk.leave(&talk);
    let n_first = count(&desk.ingest(), "new_turns");
    let forked = talk.forked("f0rced00-aaaa-4aaa-8aaa-000000000002");
    desk.leave(&forked.prompt("What about a limit of waiters?").said("A limit of eight."));
    let taken = desk.ingest();
    assert_eq!(count(&taken, "new_turns"), 2, "of {n_first} that were there");
    let shown = desk.ask(&["session", "show", "f0rced00", "--turns"]);
    assert_eq!(shown["turns"].as_array().unwrap().len(), 2);
    assert_eq!(shown["title"], "What about a limit of waiters");
    assert_eq!(shown["digest"]["commits"], json!([]), "the commit is that of the first session");
}

#[test]
fn what_sub_agents_do_belongs_to_their_session() {
    let desk = Desk::new();
    let session = "5e551011-aaaa-4aaa-8aaa-000000000001";
    let path = desk.leave(&pool(&desk, session));
    let side = desk.talk(session).prompt("Look for other users of acquire").edit("src/other.rs", "a", "b");
    let commit = "git commit -am 'other: wait, too'";
    let side = side.command(commit, "[main 2b3c4d5] other: wait, too\n 1 file changed");
    let rows: Vec<String> = side
        .text()
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["isSidechain"] = json!(true);
            row["agentId"] = json!("ag17");
            row["uuid"] = json!(format!("5ide{}", row["uuid"].as_str().unwrap()));
            row.to_string()
        })
        .collect();
    let folder = path.with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("agent-ag17.jsonl"), rows.join("\n")).unwrap();
    desk.ingest();
    let shown = desk.ask(&["session", "show", "5e55"]);
    let files: Vec<&str> =
        shown["files"].as_array().unwrap().iter().map(|file| file[0].as_str().unwrap()).collect();
    assert_eq!(files, ["src/other.rs", "src/pool.rs"]);
    let commits = |shown: &Value| shown["digest"]["commits"].as_array().unwrap().len();
    let n_own = commits(&desk.ask(&["session", "show", &format!("{session}/ag17")]));
    assert_eq!((commits(&shown), n_own), (2, 1));
    assert!(shown["digest"]["commits"].to_string().contains("2b3c4d5"), "{shown:#}");
    assert_eq!(desk.ask(&["digest", "week"])["commits"], 2);
    // A session that goes on keeps them.
    desk.leave(&pool(&desk, session).said("That was all."));
    desk.ingest();
    assert_eq!(commits(&desk.ask(&["session", "show", session])), 2);
    assert_eq!(shown["sub_agents"], json!([format!("{session}/ag17")]));
    assert_eq!(
        desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len(),
        1,
        "only what a human led"
    );
    let side = desk.ask(&["session", "show", &format!("{session}/ag17")]);
    assert_eq!(side["parent"], session);
}

#[test]
fn files_are_told_from_the_top_of_the_repository() {
    for start in ["", "/src"] {
        let desk = Desk::new();
        desk.repo.write("src/pool.rs", "fn acquire() {}\n");
        desk.repo.write("docs/pool.md", "Waits.\n");
        let mut talk = desk.talk("5e551011-aaaa-4aaa-8aaa-000000000001");
        let top = talk.folder.clone();
        let edit = |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "b"});
        talk.folder = format!("{top}{start}");
        talk = talk.prompt("Make the pool wait").tool(
            "Edit",
            &edit(&format!("{top}/docs/pool.md")),
            "done",
            false,
        );
        talk.folder = format!("{top}/src");
        talk = talk.tool("Edit", &edit(&format!("{top}/src/pool.rs")), "done", false);
        talk = talk.tool("Edit", &edit("./pool.rs"), "done", false);
        talk.folder = top;
        desk.leave(&talk.said("The pool waits."));
        desk.ingest();
        let shown = desk.ask(&["session", "show", "5e55"]);
        assert_eq!(shown["files"], json!([["src/pool.rs", 2], ["docs/pool.md", 1]]), "{start}");
        let files = shown["digest"]["files"].as_array().unwrap().iter();
        assert_eq!(files.map(|file| &file["path"]).collect::<Vec<_>>(), ["src/pool.rs", "docs/pool.md"]);
        let found = desk.ask(&["find", "--file", "src/pool.rs", "wait"]);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{found:#}");
    }
}

#[test]
fn a_folder_of_windows_is_the_project_that_wsl_has_there() {
    let desk = Desk::new();
    let windows = Talk::new("5e551021-aaaa-4aaa-8aaa-000000000001", r"C:\Users\Ann\src\wombatshop")
        .prompt("Let the pool wait.")
        .edit(r"src\pool.rs", "a", "b")
        .edit(r"src\lock.rs", "a", "b");
    let linux = Talk::new("5e551022-aaaa-4aaa-8aaa-000000000001", "/mnt/c/Users/Ann/src/wombatshop")
        .prompt("Let the queue wait.")
        .edit("src/queue.rs", "a", "b");
    desk.leave(&windows);
    desk.leave(&linux);
    desk.ingest();
    let projects = desk.ask(&["projects"]);
    let named: Vec<(&str, u64)> = (projects["projects"].as_array().expect("a list").iter())
        .map(|project| {
            (
                project["project"].as_str().unwrap_or_default(),
                project["sessions"].as_u64().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(named, [("wombatshop", 2)], "{projects:#}");
    let shown = desk.ask(&["session", "show", "5e551021"]);
    assert_eq!(shown["files"], json!([["src/lock.rs", 1], ["src/pool.rs", 1]]));
}

#[test]
fn what_is_forgotten_is_gone_and_stays_away() {
    let desk = Desk::new();
    let secret_plan = "zebrafish hatchery";
    let talk = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001").prompt(secret_plan);
    desk.leave(&talk);
    desk.leave(&pool(&desk, "0ther111-aaaa-4aaa-8aaa-000000000002"));
    desk.ingest();
    assert!(holds(&stored(&desk), secret_plan));
    let looked = desk.ask(&["session", "forget", "5e55", "--dry-run"]);
    assert_eq!(looked["forgotten"].as_array().unwrap().len(), 1);
    assert!(holds(&stored(&desk), secret_plan));
    let reply = desk.ask(&["session", "forget", "5e55"]);
    assert_eq!(reply["transcripts"].as_array().unwrap().len(), 1);
    assert!(!holds(&stored(&desk), secret_plan));
    assert!(!holds(&stored(&desk), "zebrafish"));
    desk.run(&["session", "show", "5e55"]).refused(1, &["5e55"]);
    desk.leave(&talk.prompt("more of it"));
    assert_eq!(count(&desk.ingest(), "left_out"), 1);
    desk.run(&["session", "show", "5e55"]).refused(1, &["5e55"]);
    desk.run(&["session", "forget", "--older-than", "1 day"]).success();
    assert_eq!(desk.ask(&["session", "list"])["sessions"], json!([]));
    desk.run(&["session", "forget", "--older-than", "soon"]).refused(2, &["soon"]);
    desk.run(&["session", "forget", "5e55"]).refused(1, &["5e55"]);
}

#[test]
fn folders_can_be_left_out() {
    let desk = Desk::new();
    let private = desk.repo.beside("diary");
    fs::create_dir_all(private.join("deep")).unwrap();
    desk.run(&["session", "exclude", private.to_str().unwrap()]).success();
    desk.leave(
        &Talk::new("d1a12345-aaaa-4aaa-8aaa-000000000001", private.join("deep").to_str().unwrap())
            .prompt("quagga"),
    );
    let taken = desk.ingest();
    assert_eq!((count(&taken, "left_out"), count(&taken, "new_turns")), (1, 0));
    // The same folder by other names.
    let link = desk.repo.beside("link");
    std::os::unix::fs::symlink(&private, &link).unwrap();
    for (number, folder) in
        [link.clone(), link.join("deep"), private.join("../diary")].into_iter().enumerate()
    {
        let session = format!("d1a12345-aaaa-4aaa-8aaa-00000000001{number}");
        desk.leave(&Talk::new(&session, folder.to_str().unwrap()).prompt("quagga"));
        assert_eq!(count(&desk.ingest(), "new_turns"), 0, "{folder:?}");
    }
    assert!(!holds(&stored(&desk), "quagga"));
    assert_eq!(desk.ask(&["session", "exclude"])["excluded"][0], json!(private));
    desk.run(&["session", "exclude", private.to_str().unwrap(), "--off"]).success();
    assert_eq!(desk.ask(&["session", "exclude"])["excluded"], json!([]));
}

#[test]
fn secrets_and_private_spans_are_never_stored() {
    let desk = Desk::new();
    let token = format!("ghp_{}", "x7Kq9ZtP2mWv4LsB8nRd5JcY1hGfT6uA0eDi");
    desk.leave(
        &desk
            .talk("5e551011-aaaa-4aaa-8aaa-000000000001")
            .prompt(&format!("Use {token} to push. <private>my neighbour the axolotl</private> Then stop."))
            .said(&format!("I will use {token}."))
            .command(&format!("curl -H 'Authorization: Bearer {token}' https://example.com"), "no")
            .todos(&[(&format!("Revoke {token}"), "pending")])
            .tool("Bash", &json!({"command": "env"}), &format!("Exit code 1\nTOKEN={token}"), true),
    );
    let taken = desk.ingest();
    assert!(4 <= count(&taken, "secrets"), "{taken:#}");
    assert_eq!(count(&taken, "private_spans"), 1);
    let bytes = stored(&desk);
    for words in [token.as_str(), "axolotl", "neighbour"] {
        assert!(!holds(&bytes, words), "{words}");
    }
    assert!(holds(&bytes, "Then stop."));
}

#[test]
fn a_project_stays_the_same_in_its_worktrees_and_when_it_moves() {
    let desk = Desk::new();
    let tree = desk.repo.beside("tree");
    desk.repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.leave(
        &Talk::new("7ree1111-aaaa-4aaa-8aaa-000000000002", tree.to_str().unwrap()).prompt("Look here too"),
    );
    desk.ingest();
    let sessions = |directory: &Path| {
        let list = desk.run_in(directory, &["session", "list", "--format=json"]).success().json();
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!(
        (sessions(desk.repo.path()), sessions(&tree), sessions(&desk.repo.path().join("src"))),
        (2, 2, 2)
    );
    let moved = desk.repo.beside("moved");
    fs::rename(desk.repo.path(), &moved).unwrap();
    assert_eq!(sessions(&moved), 2);
    desk.leave(
        &Talk::new("5e551011-aaaa-4aaa-8aaa-000000000003", moved.to_str().unwrap()).prompt("After the move"),
    );
    desk.run_in(&moved, &["session", "ingest", "--sweep"]).success();
    assert_eq!(sessions(&moved), 3);
}

#[test]
fn what_is_put_at_the_old_place_of_a_project_is_another_one() {
    let desk = Desk::new();
    let place = |name: &str| desk.repo.beside(name).join("shop");
    let (old, new) = (place("old"), place("new"));
    fs::create_dir_all(&old).unwrap();
    desk.repo.git(&["init", "--quiet", &old.to_string_lossy()]);
    let session = "0ne11111-aaaa-4aaa-8aaa-000000000001";
    desk.leave(&Talk::new(session, old.to_str().unwrap()).prompt("Sell something"));
    desk.ingest();
    let n_sessions = |folder: &Path| {
        let list = desk.run_in(folder, &["session", "list", "--format", "json"]).success().json();
        list["sessions"].as_array().unwrap().len()
    };
    // Made anew at the same place, it is the same project, though it lost its id.
    let kept = place("kept");
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    fs::rename(&old, &kept).unwrap();
    desk.repo.git(&["init", "--quiet", &old.to_string_lossy()]);
    assert_eq!(n_sessions(&old), 1);
    fs::remove_dir_all(&old).unwrap();
    fs::rename(&kept, &old).unwrap();
    fs::create_dir_all(new.parent().unwrap()).unwrap();
    fs::rename(&old, &new).unwrap();
    assert_eq!(n_sessions(&new), 1);
    let later = Talk::new("7w022222-aaaa-4aaa-8aaa-000000000002", new.to_str().unwrap());
    desk.leave(&later.prompt("Sell more"));
    desk.ingest();
    desk.repo.git(&["init", "--quiet", &old.to_string_lossy()]);
    assert_eq!((n_sessions(&old), n_sessions(&new)), (0, 2));
}

#[test]
fn a_repository_cloned_again_is_its_project_and_another_one_is_not() {
    let desk = Desk::new();
    let place = |name: &str| desk.repo.beside(name).join("shop");
    let git = |args: &[&str]| desk.repo.git(args);
    let path = |place: &Path| place.to_str().expect("a path of letters").to_owned();
    let (old, bare, other) = (place("old"), place("bare"), place("other"));
    for (folder, words) in [(&old, "shop"), (&other, "somebody else")] {
        git(&["init", "--quiet", &path(folder)]);
        git(&["-C", &path(folder), "commit", "--quiet", "--allow-empty", "-m", words]);
    }
    git(&["clone", "--quiet", "--bare", &path(&old), &path(&bare)]);
    let session = |id: &str| Talk::new(id, &path(&old)).prompt("Sell something");
    desk.leave(&session("0ne11111-aaaa-4aaa-8aaa-000000000001"));
    desk.ingest();
    let n_sessions = || {
        let list = desk.run_in(&old, &["session", "list", "--format", "json"]).success().json();
        list["sessions"].as_array().expect("a list").len()
    };
    let put = |from: &Path| {
        fs::remove_dir_all(&old).expect("it was there");
        git(&["clone", "--quiet", &path(from), &path(&old)]);
    };
    put(&other);
    assert_eq!(n_sessions(), 0);
    put(&bare);
    assert_eq!(n_sessions(), 1);
    desk.leave(&session("7w022222-aaaa-4aaa-8aaa-000000000002"));
    desk.ingest();
    assert_eq!(n_sessions(), 2);
    put(&other);
    desk.leave(&session("7h033333-aaaa-4aaa-8aaa-000000000003"));
    desk.ingest();
    assert_eq!(n_sessions(), 1);
}

#[test]
fn two_projects_of_one_name_are_told_apart() {
    let desk = Desk::new();
    for (place, session) in
        [("one", "0ne11111-aaaa-4aaa-8aaa-000000000001"), ("two", "7w022222-aaaa-4aaa-8aaa-000000000002")]
    {
        let folder = desk.repo.beside(place).join("shop");
        fs::create_dir_all(&folder).unwrap();
        desk.leave(&Talk::new(session, folder.to_str().unwrap()).prompt("Sell something"));
    }
    desk.ingest();
    let folder = desk.repo.beside("two").join("shop");
    for (project, session) in [
        ("shop", "0ne11111-aaaa-4aaa-8aaa-000000000001"),
        ("shop@two", "7w022222-aaaa-4aaa-8aaa-000000000002"),
        (folder.to_str().unwrap(), "7w022222-aaaa-4aaa-8aaa-000000000002"),
    ] {
        let list = desk.ask(&["session", "list", "--project", project]);
        let sessions = list["sessions"].as_array().unwrap();
        assert_eq!((sessions.len(), &sessions[0]["session"]), (1, &session.into()), "{project}");
    }
    desk.run(&["session", "list", "--project", "shopp"]).refused(1, &["shopp", "`shop`"]);
    assert_eq!(desk.ask(&["session", "list"])["elsewhere"], 2);
    assert_eq!(desk.ask(&["session", "list", "--all"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_folder_that_is_gone_still_has_its_sessions() {
    let desk = Desk::new();
    let folder = desk.repo.beside("gone").to_string_lossy().into_owned();
    let path = desk
        .leave(&Talk::new("90ne1111-aaaa-4aaa-8aaa-000000000001", &folder).prompt("Before it was deleted"));
    desk.ingest();
    fs::remove_file(path).unwrap();
    let list = desk.ask(&["session", "list", "--project", &folder]);
    assert_eq!(list["sessions"][0]["title"], "Before it was deleted");
    let shown = desk.ask(&["session", "show", "90ne"]);
    assert_eq!(shown["transcripts"][0][1], false);
    assert_eq!(shown["turns_stored"], 1);
}

#[test]
fn hooks_leave_word_and_it_is_taken_in_behind_them() {
    let desk = Desk::new();
    let path = desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    let outcome = desk.run(&["session", "ingest", "--later", path.to_str().unwrap()]).success();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
    // What is gone by then is passed over.
    desk.run(&["session", "ingest", "--later", "/nowhere/at-all.jsonl"]).success();
    assert_eq!(desk.ask(&["session", "ingest", "--queued"])["files"], 0);
    // Without a home there is nowhere to leave word, and no reason to fail.
    let mut homeless =
        desk.command_in(desk.repo.path(), &["session", "ingest", "--later", path.to_str().unwrap()]);
    run(homeless.env_remove("HOME").env_remove("CHRONICLE_HOME")).success().warns("home");
    let mut homeless = desk.command_in(desk.repo.path(), &["session", "list"]);
    run(homeless.env_remove("HOME").env_remove("CHRONICLE_HOME")).refused(1, &["home"]);
}

#[test]
fn twenty_sessions_that_end_at_once_are_taken_in_once_each() {
    let desk = Desk::new();
    let paths: Vec<_> = (0..20)
        .map(|n| {
            let mut talk = pool(&desk, &format!("5e55{n:04}-aaaa-4aaa-8aaa-000000000001"));
            for turn in 0..50 {
                talk = talk.said(&format!("Session {n} says {turn}."));
            }
            desk.leave(&talk)
        })
        .collect();
    for round in 0..4 {
        let children: Vec<_> = paths
            .iter()
            .map(|path| {
                let mut command =
                    desk.command_in(desk.repo.path(), &["session", "ingest", path.to_str().unwrap()]);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for (n, mut child) in children.into_iter().enumerate() {
            if round < 3 {
                thread::sleep(Duration::from_millis((n as u64 * 7 + round) % 13));
                let _gone = child.kill();
                let _status = child.wait();
            } else {
                assert!(child.wait().unwrap().success());
            }
        }
    }
    let list = desk.ask(&["session", "list", "--limit", "100"]);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 20);
    for session in list["sessions"].as_array().unwrap() {
        let shown = desk.ask(&["session", "show", session["session"].as_str().unwrap()]);
        assert_eq!(shown["turns_stored"], 59, "{shown:#}");
    }
    let doubled = desk.ingest();
    assert_eq!((count(&doubled, "unchanged"), count(&doubled, "new_turns")), (20, 0));
}

#[test]
fn files_that_are_no_transcripts_are_passed_over() {
    let desk = Desk::new();
    let folder = desk.home.join("odd");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("empty.jsonl", b"");
    write("binary.jsonl", &(0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    write("half.jsonl", br#"{"type":"user","uuid":"1","sess"#);
    write("list.json", b"[1,2,3]");
    let late = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001").text().replace("2026-03-09", "2999-01-01");
    write("future.jsonl", late.as_bytes());
    let run_together = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000002").text().replace('\n', "");
    write("together.jsonl", run_together.as_bytes());
    let reply = desk.ask(&["session", "ingest", folder.to_str().unwrap(), "/nowhere.jsonl"]);
    assert_eq!((count(&reply, "files"), count(&reply, "sessions")), (7, 2), "{reply:#}");
    assert_eq!(reply["unread"][0]["path"], "/nowhere.jsonl");
    assert_eq!(desk.ask(&["session", "show", "5e551011-aaaa-4aaa-8aaa-000000000002"])["turns_stored"], 9);
    let other = desk.home.join("other");
    fs::create_dir(&other).expect("it is made");
    fs::write(other.join("a.jsonl.gz"), "?").expect("it is written");
    let reply = desk.ask(&["session", "ingest", other.to_str().expect("a path of letters")]);
    let reason = reply["unread"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("no file in it is called like a transcript"), "{reply:#}");
    let pipe = desk.home.join("pipe.jsonl");
    let mut mkfifo = testkit::command("mkfifo", &desk.home);
    assert!(mkfifo.arg(&pipe).status().unwrap().success());
    let reply = desk.ask(&["session", "ingest", pipe.to_str().unwrap()]);
    assert!(reply["unread"][0]["reason"].as_str().unwrap().contains("regular file"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_breaks_off_while_it_is_read_leaves_the_others_as_they_are() {
    let names = ["5e551011-aaaa-4aaa-8aaa-000000000001", "5e551011-aaaa-4aaa-8aaa-000000000002"];
    let taken = |others: &[&str]| {
        let desk = Desk::new();
        let [first, last] = names.map(|name| {
            let path = desk.home.join(format!("{name}.jsonl"));
            fs::write(&path, pool(&desk, name).text()).unwrap();
            path.to_str().unwrap().to_owned()
        });
        let reply = desk.ask(&[&["session", "ingest", &first], others, &[&last]].concat());
        let again = desk.ask(&["session", "ingest", &first, &last]);
        assert_eq!(count(&again, "unchanged"), 2, "{again:#}");
        reply
    };
    let sound = taken(&[]);
    // It is a plain file that can be opened, and fails when it is read.
    let broken = taken(&["/proc/self/mem"]);
    assert_eq!(broken["unread"][0]["path"], "/proc/self/mem", "{broken:#}");
    assert_eq!(count(&broken, "sessions"), 2);
    for counted in ["new_turns", "changed_turns", "thread_events"] {
        assert_eq!(count(&broken, counted), count(&sound, counted), "{counted}");
    }
}

#[test]
fn a_store_that_cannot_be_used_is_told_and_left_alone() {
    let desk = Desk::new();
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.ingest();
    let file = desk.memory().join("chronicle.db");
    let sound = fs::read(&file).unwrap();
    // The version stands at byte 60, big-endian.
    let mut newer = sound.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    for (bytes, words, code) in [
        (newer, "newer version", "store_too_new"),
        (b"this is no database, but long enough to be taken for one".repeat(40), "damaged", "store_damaged"),
    ] {
        fs::write(&file, &bytes).unwrap();
        desk.run(&["session", "list"]).refused(1, &[words]);
        desk.run(&["session", "ingest", "--sweep"]).refused(1, &[words]);
        assert_eq!(desk.run(&["session", "list", "--format=json"]).json_error(), code);
        assert_eq!(fs::read(&file).unwrap(), bytes, "it was touched");
    }
    fs::write(&file, &sound).unwrap();
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_full_disk_loses_nothing() {
    let desk = Desk::new();
    let mut talk = pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001");
    desk.leave(&talk);
    for n in 0..400 {
        talk = talk.said(&format!("{n} {}", "of many words that need room ".repeat(60)));
    }
    let big = desk.home.join("big.jsonl");
    fs::write(&big, talk.text()).unwrap();
    let script = format!(
        r#"mount -t tmpfs -o size=700k tmpfs "$1" || exit 99
        export CHRONICLE_HOME="$1/memory"
        "$2" session ingest --sweep || exit 98
        "$2" session ingest "{big}"
        code=$?
        [ "$("$2" session ingest --later "{big}"; echo $?)" = 0 ] || exit 97
        "$2" session show 5e55 --format=json || exit 96
        exit $code"#,
        big = big.display()
    );
    let small = desk.repo.beside("small");
    fs::create_dir(&small).unwrap();
    let mut command = testkit::command("unshare", desk.repo.path());
    command.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"]).arg(&small);
    command.arg(crate::outcome::program()).env("HOME", &desk.home).env("CHRONICLE_NOW", crate::desk::NOW);
    let Ok(output) = command.output() else { return skip("there is no unshare") };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(1) => {
            assert!(stderr.contains("no room left"), "{stderr}");
            let shown: Value = serde_json::from_slice(
                output.stdout.split(|byte| *byte == b'\n').find(|line| line.starts_with(b"{")).unwrap(),
            )
            .unwrap();
            assert_eq!(shown["turns_stored"], 9);
        }
        Some(99) | None => skip("no file system can be mounted here"),
        code if stderr.contains("unshare") => skip(&format!("unshare is not allowed ({code:?})")),
        code => panic!("{code:?}: {stderr}"),
    }
}

#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.ingest();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&desk.memory()), 0o700);
    for file in fs::read_dir(desk.memory()).unwrap().flatten().filter(|file| file.path().is_file()) {
        assert_eq!(mode(&file.path()) & 0o077, 0, "{:?}", file.path());
    }
}

/// The generic form: several sessions in one file.
#[test]
fn the_form_for_other_agents_is_taken_in() {
    let desk = Desk::new();
    let path = desk.home.join("talks.jsonl");
    let mut file = fs::File::create(&path).unwrap();
    for session in ["a", "b", "a"] {
        for id in 0..3 {
            let row = json!({"session": session, "id": id, "time": "2026-03-09T10:00:00Z", "role": "user",
                "speaker": "Ann", "folder": desk.repo.path(), "text": format!("Word {id} of {session}.")});
            writeln!(file, "{row}").unwrap();
        }
    }
    drop(file);
    let reply = desk.ask(&["session", "ingest", path.to_str().unwrap()]);
    assert_eq!((count(&reply, "sessions"), count(&reply, "new_turns")), (2, 6));
    let shown = desk.ask(&["session", "show", "a", "--turns"]);
    assert_eq!((&shown["turns"][2]["speaker"], &shown["turns"][2]["turn"]), (&json!("Ann"), &json!("2")));
}

#[test]
fn everything_is_exported_as_files_and_taken_in_elsewhere() {
    let desk = Desk::new();
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.leave(&desk.talk("0ther111-aaaa-4aaa-8aaa-000000000002").prompt("Which limit is right?"));
    desk.ingest();
    let folder = desk.home.join("files");
    let folder = folder.to_str().unwrap();
    let done = desk.ask(&["session", "export", folder]);
    assert_eq!((count(&done, "sessions"), count(&done, "turns")), (2, 10));
    desk.run(&["session", "export", folder]).refused(1, &["files"]);
    assert!(desk.home.join("files/episodic/2026-03").is_dir());

    let other = desk.home.join("other");
    let elsewhere = |args: &[&str]| {
        let mut command = desk.command_in(desk.repo.path(), &[args, &["--format=json"]].concat());
        run(command.env("CHRONICLE_HOME", &other)).success().json()
    };
    let taken = elsewhere(&["session", "import", folder]);
    assert_eq!((count(&taken, "sessions"), count(&taken, "turns")), (2, 10));
    let ids = ["5e551011-aaaa-4aaa-8aaa-000000000001", "0ther111-aaaa-4aaa-8aaa-000000000002"];
    for id in ids {
        let mut here = desk.ask(&["session", "show", id, "--turns"]);
        let mut there = elsewhere(&["session", "show", id, "--turns"]);
        for shown in [&mut here, &mut there] {
            shown["transcripts"] = json!([]);
        }
        assert_eq!(here, there);
    }
    let again = elsewhere(&["session", "import", folder]);
    assert_eq!((count(&again, "turns"), count(&again, "threads")), (0, 0));
    // The transcripts, when they come, are nothing new.
    let mut sweep = desk.command_in(desk.repo.path(), &["session", "ingest", "--sweep", "--format=json"]);
    let swept = run(sweep.env("CHRONICLE_HOME", &other)).success().json();
    assert_eq!(
        (count(&swept, "new_turns"), count(&swept, "changed_turns"), count(&swept, "thread_events")),
        (0, 0, 0)
    );
}

/// Whether the members of a value, and of what is in it, are those of its schema: the ones that have to be there, and none
/// that it lacks.
fn has_members_of(value: &Value, schema: &Value, root: &Value) -> bool {
    let schema = match schema["$ref"].as_str() {
        Some(name) => root.pointer(name.trim_start_matches('#')).expect("it is defined"),
        None => schema,
    };
    match value {
        Value::Object(members) if schema["properties"].is_object() => {
            let required = schema["required"].as_array().into_iter().flatten();
            required.filter_map(Value::as_str).all(|name| members.contains_key(name))
                && members.iter().all(|(name, inner)| {
                    schema["properties"].get(name).is_some_and(|schema| has_members_of(inner, schema, root))
                })
        }
        Value::Object(_) => schema["anyOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| has_members_of(value, one, root))),
        Value::Array(elements) => {
            elements.iter().all(|element| has_members_of(element, &schema["items"], root))
        }
        _ => true,
    }
}

#[test]
fn all_sessions_are_lines_of_a_schema_and_are_taken_in_elsewhere() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["session", "export", "--format", "jsonl"]).success().stdout, "");
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.leave(&desk.talk("0ther111-aaaa-4aaa-8aaa-000000000002").prompt("Which limit is right?"));
    desk.ingest();
    let lines = desk.run(&["session", "export", "--format", "jsonl"]).success().stdout;
    let schema = desk.run(&["schema", "session"]).success().stdout;
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let sessions: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        assert!(fits(session, &schema, &schema), "{session:#}");
        assert!(has_members_of(session, &schema, &schema), "{session:#}");
    }
    let prompts = sessions.iter().flat_map(|session| session["turns"].as_array().expect("a list"));
    assert_eq!(prompts.filter(|turn| turn["kind"] == "prompt").count(), 2);
    // What is no session of that schema does not fit it.
    let mut other = sessions[0].clone();
    other["turns"][0]["kind"] = json!(1);
    assert!(!fits(&other, &schema, &schema));
    other["turns"][0].as_object_mut().expect("an object").remove("kind");
    assert!(!has_members_of(&other, &schema, &schema));

    let file = desk.home.join("sessions.jsonl");
    let file = file.to_str().expect("a plain path");
    let told = desk.run(&["session", "export", file, "--format", "jsonl"]).success();
    assert_eq!((&*told.stdout, told.stderr.trim_end()), ("", "exported: 2 sessions"));
    assert_eq!(fs::read_to_string(file).expect("it is there"), lines);
    // A line that is none is named, and costs the others nothing.
    let broken = lines.replacen('\n', "\n{\"schema\":\"chronicle-episode/v9\"}\n\nnonsense\n", 1);
    fs::write(file, broken).expect("it is written");
    let elsewhere = |args: &[&str]| {
        let mut command = desk.command_in(desk.repo.path(), &[args, &["--format=json"]].concat());
        run(command.env("CHRONICLE_HOME", desk.home.join("other"))).success().json()
    };
    let taken = elsewhere(&["session", "import", file]);
    assert_eq!((count(&taken, "sessions"), count(&taken, "turns")), (2, 10));
    let reasons = taken["unread"].as_array().expect("a list").iter().map(|unread| &unread["reason"]);
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        [
            &json!("line 2: it has another form: chronicle-episode/v9"),
            &json!("line 4: expected ident at line 1 column 2"),
        ]
    );
    for id in ["5e551011-aaaa-4aaa-8aaa-000000000001", "0ther111-aaaa-4aaa-8aaa-000000000002"] {
        let mut here = desk.ask(&["session", "show", id, "--turns"]);
        let mut there = elsewhere(&["session", "show", id, "--turns"]);
        for shown in [&mut here, &mut there] {
            // Threads are no part of a session's line.
            shown["threads"] = json!([]);
            shown["transcripts"] = json!([]);
        }
        assert_eq!(here, there);
    }
    assert_eq!(count(&elsewhere(&["session", "import", file]), "turns"), 0);
    desk.run(&["session", "export"]).refused(2, &["--format jsonl"]);
    desk.run(&["session", "list", "--format", "jsonl"]).refused(2, &["only `session export`"]);
}

#[test]
fn an_edited_export_changes_nothing_of_a_session_that_was_read_here() {
    let desk = Desk::new();
    let id = "0ther111-aaaa-4aaa-8aaa-000000000002";
    desk.leave(&desk.talk(id).prompt("Which limit is right, the narrow one?"));
    desk.ingest();
    let before = desk.ask(&["session", "show", id, "--turns"]);
    let folder = desk.home.join("files");
    desk.ask(&["session", "export", folder.to_str().unwrap()]);
    let mut files = Vec::new();
    for month in fs::read_dir(folder.join("episodic")).unwrap() {
        files.extend(fs::read_dir(month.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut edited: Value = serde_json::from_str(&text.replace("narrow", "wide")).unwrap();
        edited["ended"] = json!("2099-01-01T00:00:00Z");
        let mut more = edited["turns"][0].clone();
        (more["key"], more["text"]) = (json!(4242), json!("I prefer wide limits."));
        edited["turns"].as_array_mut().unwrap().push(more);
        fs::write(&file, edited.to_string()).unwrap();
    }
    let done = desk.ask(&["session", "import", folder.to_str().unwrap()]);
    assert_eq!(count(&done, "turns"), 0);
    assert_eq!(desk.ask(&["session", "show", id, "--turns"]), before);
    // Where it was not read, it is taken as it comes.
    let mut command =
        desk.command_in(desk.repo.path(), &["session", "import", folder.to_str().unwrap(), "--format=json"]);
    let done = run(command.env("CHRONICLE_HOME", desk.home.join("other"))).success().json();
    assert_eq!(count(&done, "turns"), 2);
}

#[test]
fn an_edited_export_changes_no_words_of_a_thread_that_is_known_here() {
    let desk = Desk::new();
    let folder = desk.home.join("files");
    desk.run(&["thread", "add", "Rotate the keys of the server"]).success();
    desk.ask(&["session", "export", folder.to_str().unwrap()]);
    for file in fs::read_dir(folder.join("threads")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("Rotate the keys", "Publish the keys")).unwrap();
    }
    let import = ["session", "import", folder.to_str().unwrap()];
    assert_eq!(count(&desk.ask(&import), "threads"), 0);
    assert_eq!(desk.ask(&["pending"])["items"][0]["summary"], "Rotate the keys of the server");
    // Where it is not known, it is taken as it comes.
    let other = Desk::new();
    other.ask(&import);
    let items = other.ask(&["pending", "--all"])["items"].clone();
    assert_eq!(items[0]["summary"], "Publish the keys of the server");
}

#[test]
fn an_older_kind_of_memory_is_taken_in() {
    let desk = Desk::new();
    let older = desk.home.join(".claude/chronicle");
    let write = |path: &str, text: &str| {
        let path = older.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let token = format!("ghp_{}", "x7Kq9ZtP2mWv4LsB8nRd5JcY1hGfT6uA0eDi");
    let digest = json!({"sessionId": "01d5e551-bbbb", "project": desk.repo.path(), "branch": "main",
        "summary": format!("Fixed the redirect loop. Used {token}."), "keyActions": ["Added a state parameter"],
        "filesModified": ["src/redirect.rs"], "technologiesUsed": ["Rust"], "openQuestions": [], "importance": 4});
    write("episodic/2026-02/2026-02-15-session-01d5e551.json", &digest.to_string());
    let thread = |summary: &str, status: &str| {
        json!({"id": "x", "sessionId": "01d5e551-bbbb", "project": desk.repo.path(), "branch": "main",
            "summary": summary, "context": "It was left out.", "priority": "high", "status": status,
            "createdAt": "2026-03-08T10:00:00Z", "lastMentioned": "2026-03-08T10:00:00Z"})
    };
    write(
        "threads/pending.jsonl",
        &format!(
            "{}\n{}\n",
            thread("Add tests for the state", "pending"),
            thread("Review errors", "in_progress")
        ),
    );
    write("threads/resolved.jsonl", &thread("Ship it", "resolved").to_string());
    write("threads/broken.json", "{\"summary\": ");
    let offered = desk.run(&["session", "ingest", "--sweep"]).success();
    assert!(offered.stderr.contains("session import"), "{offered:#?}");
    assert!(
        !desk.run(&["session", "ingest", "--sweep"]).success().stderr.contains("session import"),
        "it is offered once"
    );
    for round in 0..2 {
        let done = desk.ask(&["session", "import", older.to_str().unwrap()]);
        assert_eq!(count(&done, "threads"), if round == 0 { 5 } else { 0 }, "{done:#}");
        assert!(done["unread"][0]["path"].as_str().unwrap().ends_with("broken.json"));
    }
    let shown = desk.ask(&["session", "show", "01d5"]);
    assert_eq!(
        (&shown["title"], &shown["began"]),
        (&json!("Fixed the redirect loop"), &json!("2026-02-15T00:00:00Z"))
    );
    assert_eq!(shown["files"], json!([["src/redirect.rs", 1]]));
    let states: Vec<&str> = shown["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| thread["status"].as_str().unwrap())
        .collect();
    assert_eq!(states.len(), 3);
    assert!(["pending", "in_progress", "resolved"].iter().all(|state| states.contains(state)), "{states:?}");
    assert!(!holds(&stored(&desk), &token));
}

#[test]
fn the_doctor_looks_at_session_memory() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let look = |args: &[&str]| {
        let answer = desk.run(&[&["doctor", "--format=json"], args].concat()).json();
        let findings = answer["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["check"] == "sessions").unwrap()
    };
    assert_eq!(look(&[])["seen"], "no sessions are remembered yet");
    desk.leave(&pool(&desk, "5e551011-aaaa-4aaa-8aaa-000000000001"));
    desk.ingest();
    assert_eq!(look(&[])["seen"], "1 session of 1 project is remembered, 1 thread is open");
    let file = desk.memory().join("chronicle.db");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(look(&[])["health"], "problem");
    assert_eq!(look(&["--fix"])["health"], "mended");
    assert_eq!(look(&[])["health"], "ok");
    let mut bytes = fs::read(&file).unwrap();
    // The second page holds a table; nothing of it makes sense any more.
    bytes[4096..8192].fill(0x5a);
    fs::write(&file, bytes).unwrap();
    assert_eq!(look(&[])["health"], "problem");
}

#[test]
fn weak_passwords_of_command_lines_and_sentences_are_not_stored() {
    let desk = Desk::new();
    let talk = desk
        .talk("5e5512f1-aaaa-4aaa-8aaa-000000000001")
        .prompt("Dump the shop. The password for the database is Winter2024 and pw: Sommer2024 opens the archive.")
        .command("mysqldump -u root -psunshine shop > shop.sql && zip -P monkeys shop.zip shop.sql", "ok")
        .command("sshpass -p letmein scp shop.zip bob@host: ; curl -u bob:dragonfly https://example.com", "ok")
        .command("docker run -p 8080:80 web", "ok")
        .said("Fertig. Passwort: Herbst2024 bleibt, 密码：Fruehling24。");
    desk.leave(&talk);
    desk.ingest();
    let everything =
        desk.run(&["session", "show", "5e5512f1", "--turns", "--format", "json"]).success().stdout;
    for secret in [
        "Winter2024",
        "Sommer2024",
        "sunshine",
        "monkeys",
        "letmein",
        "dragonfly",
        "Herbst2024",
        "Fruehling24",
    ] {
        assert!(!everything.contains(secret), "{secret} in {everything}");
    }
    assert!(everything.contains("docker run -p 8080:80 web"), "{everything}");
}

#[test]
fn an_empty_answer_counts_all_that_others_have_and_none_cannot_be_asked_for() {
    let desk = Desk::new();
    for index in 0..23 {
        let talk = desk.talk(&format!("5e5514{index:02}-aaaa-4aaa-8aaa-000000000001"));
        desk.leave(&talk.prompt(WAIT).said("It waits."));
    }
    desk.ingest();
    let elsewhere = desk.home.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let told = desk.run_in(&elsewhere, &["session", "list"]).stdout;
    assert!(told.contains("23 in other projects"), "{told}");
    for args in [
        &["find", "pool", "--limit", "0"][..],
        &["about", "pool", "--limit", "0"],
        &["how", "pool", "--limit", "0"],
        &["catch-up", "0"],
        &["pending", "--limit", "0"],
        &["problems", "--limit", "0"],
        &["session", "list", "--limit", "0"],
    ] {
        let refused = desk.run(args);
        assert!(refused.code == Some(2) && refused.stderr.contains("0 is not in 1.."), "{refused:?}");
    }
}

#[test]
fn a_session_of_a_removed_worktree_belongs_to_its_repository() {
    let desk = Desk::new();
    let folder = |below: &str| desk.repo.path().join(below).to_string_lossy().into_owned();
    for (day, (session, below)) in (1..).zip([
        ("5e5510d1-aaaa-4aaa-8aaa-0000000000d1", ".worktrees/wait"),
        ("5e5510d2-aaaa-4aaa-8aaa-0000000000d2", ".claude/worktrees/wait"),
        // By now the repository is known: what lay in it is its own.
        ("5e5510d3-aaaa-4aaa-8aaa-0000000000d3", "gone/wait"),
    ]) {
        let mut talk = Talk::new(session, &folder(below));
        talk.day = day;
        desk.leave(&talk.prompt("Make a full pool wait for its connections").said("It waits."));
        desk.ingest();
    }
    let listed = desk.ask(&["session", "list"]);
    let mut names: Vec<&str> = listed["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|session| &session["session"].as_str().expect("a name")[..8])
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["5e5510d1", "5e5510d2", "5e5510d3"]);
    // Each has a title of its own.
    let titles: std::collections::BTreeSet<&str> = listed["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|session| session["title"].as_str().expect("a title"))
        .collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
}
