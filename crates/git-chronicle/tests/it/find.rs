//! Finding what was said and done in sessions.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::desk::{Desk, Talk};

/// A conversation about a pool that must wait.
fn pool(desk: &Desk) -> Talk {
    desk.talk("5e551011-aaaa-4aaa-8aaa-000000000001")
        .prompt("Make a full pool wait for its connections instead of failing")
        .said("I will let acquire wait on a condition variable.")
        .command("ls src", "pool.rs")
        .tool("Bash", &json!({"command": "cargo test"}), "test pool::waits ... FAILED", true)
        .edit("src/pool.rs", "fn acquire() {}", "fn acquire() { wait() }")
        .edit("src/pool.rs", "wait()", "wait(TIMEOUT)")
        .command("cargo test", "test result: ok. 3 passed; 0 failed")
        .command("git commit -qam 'pool: wait'", "[main 1a2b3c4] pool: wait\n 1 file changed")
        .said("The pool waits now.")
}

/// One about something else, a week later, on another branch.
fn parser(desk: &Desk) -> Talk {
    let mut talk = desk.talk("5e551022-bbbb-4bbb-8bbb-000000000002");
    talk.branch = "lists".to_owned();
    talk.day = 10;
    talk.prompt("Teach the parser about trailing commas in lists")
        .said("The grammar has a rule for lists; it gets an optional comma.")
        .edit("src/parser.rs", "a", "b")
        .said("Done. The connection to the pool was not touched.")
}

fn both() -> Desk {
    let desk = Desk::new();
    desk.leave(&pool(&desk));
    desk.leave(&parser(&desk));
    desk.ingest();
    desk
}

fn turns(answer: &Value) -> Vec<(&str, &str)> {
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter()
        .map(|hit| (hit["kind"].as_str().expect("text"), hit["snippet"].as_str().expect("text")))
        .collect()
}

/// Writes turns in the form for any agent, and takes them in.
fn tell(desk: &Desk, folder: &Path, session: &str, texts: &[&str]) {
    let rows = texts.iter().enumerate().map(|(number, text)| {
        let role = ["user", "assistant"][number % 2];
        let row = json!({"session": session, "id": number.to_string(), "role": role, "text": text,
            "time": "2026-03-09T10:00:00Z", "folder": folder});
        format!("{row}\n")
    });
    let path = desk.home.join(format!("{session}.jsonl"));
    fs::write(&path, rows.collect::<String>()).expect("it can be written");
    desk.run(&["session", "ingest", &path.to_string_lossy()]).success();
}

#[test]
fn the_best_turns_come_with_their_session_and_the_commit_that_followed() {
    let desk = both();
    let found = desk.run(&["find", "waiting", "for", "connections", "--limit=3"]).success();
    insta::assert_snapshot!(found.stdout, @"
    ## 5e551011 Make a full pool wait for its connections instead of failing (main)
    The pool waits now. Committed 1a2b3c4 “pool: wait”, `cargo test` passed last.
    - prompt (line 1, 2026-03-09, 1 day ago, commit 1a2b3c4): Make a full pool wait for its connections instead of failing
    - said (line 15, 2026-03-09, 1 day ago): The pool waits now.
    - said (line 2, 2026-03-09, 1 day ago, commit 1a2b3c4): I will let acquire wait on a condition variable.
    ");
    let answer = desk.ask(&["find", "full pool", "--kind=prompt"]);
    assert_eq!(answer["schema"], "chronicle-find/v1");
    let best = &answer["hits"][0];
    assert_eq!(best["session"], "5e551011-aaaa-4aaa-8aaa-000000000001");
    assert_eq!((&best["commit"], &best["project"]), (&json!("1a2b3c4"), &json!("repo")));
    let later = desk.ask(&["find", "the pool waits now"]);
    assert_eq!((turns(&later)[0].1, &later["hits"][0]["commit"]), ("The pool waits now.", &Value::Null));
}

#[test]
fn lessons_with_the_words_come_first() {
    let desk = both();
    desk.repo.write("src/env.rs", "fn load() {\n    unsafe { std::env::set_var(\"A\", \"b\") }\n}\n");
    desk.repo.write("src/pool.rs", "fn acquire() { wait() }\n");
    let commit = desk.repo.commit("env: load");
    let lesson = |content: &str, rest: Value| {
        let mut lesson = json!({"category": "gotcha", "content": content});
        lesson.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        lesson
    };
    let at = |line: u32| json!({"file": "src/env.rs", "lines": {"start": line, "end": line}});
    let mut over = at(2);
    over["expires"] = json!("2026-03-01T00:00:00Z");
    let note = json!({"summary": "Variables come from a file.", "wisdom": [
        lesson("std::env::set_var is unsafe with threads", at(2)),
        lesson("set_var was safe before the edition", over),
        lesson("set_var twice is the same as once", at(2)),
        lesson("set_var without a place", json!({})),
        lesson("The pool is full at noon", json!({"file": "src/pool.rs"}))]});
    let stored = desk.ask(&["annotate", "--json", &note.to_string()]);
    let id = |content: &str| {
        let lessons = stored["stored"]["wisdom"].as_array().expect("it has lessons");
        let lesson = lessons.iter().find(|lesson| lesson["content"] == content).expect("it was stored");
        lesson["id"].as_str().expect("it has an id").to_owned()
    };
    let of_threads = id("std::env::set_var is unsafe with threads");
    let removed = id("set_var twice is the same as once");
    desk.run(&["correct", &removed, "--field", "content", "--remove", "set_var twice is the same as once"])
        .success();
    // The code moves on, and the lesson with it.
    desk.repo.write(
        "src/env.rs",
        "// Settings.\nfn load() {\n    unsafe { std::env::set_var(\"A\", \"b\") }\n}\n",
    );
    desk.repo.commit("env: say what it is");
    let short = &commit[..7];
    let first = format!(
        "## Lessons\n- gotcha (src/env.rs, lines 3-3, intact, moments, 1 commit since, {short}): std::env::set_var is unsafe with threads\n  - id: {of_threads}\n"
    );
    let found = desk.run(&["find", "set_var", "threads"]).success().stdout;
    assert!(found.starts_with(&first), "{found}");
    let asked = desk.run(&["ask", "why is set_var unsafe"]).success().stdout;
    assert!(asked.contains(&first) && !asked.contains("nothing is known"), "{asked}");
    let contents = |answer: &Value| -> Vec<String> {
        let lessons = answer["lessons"].as_array().expect("a list").iter();
        lessons.map(|lesson| lesson["content"].as_str().expect("text").to_owned()).collect()
    };
    let all = desk.ask(&["find", "set_var"]);
    let both = ["std::env::set_var is unsafe with threads", "set_var without a place"];
    assert_eq!(contents(&all), both);
    let asked = desk.ask(&["ask", "why is set_var unsafe"]);
    assert_eq!(contents(&asked), both);
    assert_eq!(asked["citations"][0]["commit"], json!(commit));
    // Lessons come before what sessions say of the same.
    let pool = desk.run(&["find", "full pool"]).success().stdout;
    assert!(
        pool.starts_with("## Lessons\n- gotcha (src/pool.rs, ") && pool.contains("\n\n## 5e551011 "),
        "{pool}"
    );
    let none: [String; 0] = [];
    for (args, expected) in [
        (&["find", "set_var", "--file=src/env.rs"][..], both[..1].to_vec()),
        (&["find", "set_var", "--file=src/pool.rs"], vec![]),
        (&["find", "set_var", "--project=repo"], both.to_vec()),
        (&["find", "set_var", "--kind=prompt"], vec![]),
        (&["find", "set_var", "--branch=main"], vec![]),
        (&["find", "set_var", "--since=2026-03-11"], vec![]),
        (&["find", "set_var", "--limit=1"], both[..1].to_vec()),
        (&["find", "quorum"], vec![]),
    ] {
        assert_eq!(contents(&desk.ask(args)), expected, "{args:?}");
    }
    // In a folder that is no repository there are none.
    let found = desk.run_in(&desk.home, &["find", "set_var", "--all", "--format=json"]).success().json();
    assert_eq!(contents(&found), none);
}

#[test]
fn what_was_said_differently_comes_first_and_changed_files_are_named() {
    let desk = both();
    desk.repo.write("src/pool.rs", "fn acquire() { wait(TIMEOUT) }\n");
    let commit = desk.repo.commit("pool: wait");
    desk.repo.write("src/pool.rs", "fn acquire() { spin() }\n");
    let made = format!("[main {}] pool: wait\n 1 file changed", &commit[..7]);
    let talk =
        desk.talk("c0331771-aaaa-4aaa-8aaa-000000000001").prompt("Let waiting for connections time out");
    let talk =
        talk.edit("src/pool.rs", "wait()", "wait(TIMEOUT)").command("git commit -qam 'pool: wait'", &made);
    desk.leave(&talk);
    desk.ingest();
    let waits = desk.ask(&["find", "waiting", "for", "connections"]);
    assert_eq!(waits["differing"], Value::Null);
    let since_of = |session: &str| {
        let hits = waits["hits"].as_array().unwrap().iter();
        let mut of = hits.filter(|hit| hit["session"].as_str().is_some_and(|name| name.starts_with(session)));
        of.next().expect("it is found")["changed_since"].clone()
    };
    assert_eq!(since_of("c0331771"), json!({"files": ["src/pool.rs"], "of": 1, "commit": commit}));
    // The commit that this one made isn't here.
    assert_eq!(since_of("5e551011"), Value::Null);
    let texts = ["The pool keeps 8 connections.", "Noted.", "Make the pool keep 12 connections.", "Done."];
    tell(&desk, desk.repo.path(), "sizes", &texts);
    let question = ["find", "how many connections does the pool keep?"];
    let statement = |turn: &str, line: u64, value: &str, text: &str| json!({"session": "sizes", "turn": turn, "line": line, "at": "2026-03-09T10:00:00Z", "value": value, "text": text});
    let statements = [statement("2", 3, "12", texts[2]), statement("0", 1, "8", texts[0])];
    let answer = desk.ask(&question);
    assert_eq!(answer["differing"], json!({"about": "connections", "statements": statements}));
    let text = desk.run(&question).success().stdout;
    assert_eq!(text.lines().next(), Some("## Said differently (connections), the newest first"), "{text}");
}

#[test]
fn a_question_can_be_narrowed() {
    let desk = both();
    let ask = |args: &[&str]| desk.ask(&[&["find", "pool connection"], args].concat());
    let all = |answer: &Value, name: &str, value: &str| {
        let hits = answer["hits"].as_array().unwrap();
        !hits.is_empty() && hits.iter().all(|hit| hit[name] == value)
    };
    assert!(all(&ask(&["--branch=lists"]), "branch", "lists"));
    assert!(all(&ask(&["--file=src/parser.rs"]), "branch", "lists"));
    assert!(all(&ask(&["--since=2026-03-10"]), "branch", "lists"));
    assert!(all(&ask(&["--since=1 day"]), "branch", "lists"));
    assert!(all(&ask(&["--kind=prompt"]), "kind", "prompt"));
    assert_eq!(turns(&ask(&["--kind=edit,commit"])).iter().filter(|(kind, _)| *kind == "commit").count(), 1);
    assert_eq!(ask(&["--limit=2"])["hits"].as_array().unwrap().len(), 2);
    assert_eq!(ask(&["--branch=none"])["hits"], json!([]));
}

#[test]
fn other_projects_are_not_searched_but_mentioned() {
    let desk = both();
    let other = desk.repo.beside("other");
    fs::create_dir(&other).unwrap();
    tell(&desk, &other, "elsewhere", &["the quorum was lost", "restart the quorum with three nodes"]);
    let here = desk.run(&["find", "quorum"]).success();
    insta::assert_snapshot!(here.stdout, @"nothing here; 2 hits in 1 other project (--all)");
    assert_eq!(desk.ask(&["find", "quorum"])["elsewhere"], json!({"hits": 2, "projects": 1}));
    assert_eq!(desk.ask(&["find", "quorum", "--all"])["hits"].as_array().unwrap().len(), 2);
    let named = desk.ask(&["find", "quorum", "--project=other"]);
    assert_eq!((&named["project"], named["hits"].as_array().unwrap().len()), (&json!("other"), 2));
    let nowhere = desk.repo.beside("nowhere");
    fs::create_dir(&nowhere).unwrap();
    assert!(
        desk.run_in(&nowhere, &["find", "quorum"]).success().stdout.contains("2 hits in 1 other project")
    );
    let nothing = desk.run(&["find", "xylophone"]).success();
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.trim()), ("", "nothing was found"));
}

#[test]
fn every_worktree_asks_about_the_same_project() {
    let desk = both();
    let tree = desk.repo.beside("tree");
    desk.repo.git(&["worktree", "add", "-q", &tree.to_string_lossy()]);
    let there = desk.run_in(&tree, &["find", "pool wait"]).success().stdout;
    assert_eq!(there, desk.run(&["find", "pool wait"]).success().stdout);
    assert!(!there.is_empty());
}

#[test]
fn what_was_forgotten_is_not_found() {
    let desk = both();
    desk.run(&["session", "forget", "5e551011"]).success();
    let answer = desk.ask(&["find", "pool waits condition variable"]);
    assert!(answer["hits"].as_array().unwrap().iter().all(|hit| hit["branch"] == "lists"), "{answer:#}");
}

#[test]
fn a_session_that_grew_is_found_whole() {
    let desk = Desk::new();
    desk.leave(&pool(&desk));
    desk.ingest();
    desk.leave(&pool(&desk).prompt("Now the timeout must be a setting").said("It is called pool.patience."));
    desk.ingest();
    let answer = desk.ask(&["find", "patience setting"]);
    let best: Vec<&str> = turns(&answer).into_iter().take(2).map(|(_, text)| text).collect();
    assert!(best.contains(&"Now the timeout must be a setting"), "{best:?}");
    assert!(turns(&desk.ask(&["find", "condition variable"]))[0].1.contains("condition variable"));
}

#[test]
fn any_language_can_be_searched() {
    let desk = Desk::new();
    let texts = [
        "连接池满了的时候必须等待",
        "La réponse dépend du délai",
        "Пул должен ждать соединения",
        "コネクションを待つ",
    ];
    tell(&desk, desk.repo.path(), "tongues", &texts);
    for (question, number) in
        [("必须等待", 0), ("池", 0), ("REPONSE delai", 1), ("соединения", 2), ("コネクション", 3)]
    {
        assert_eq!(turns(&desk.ask(&["find", question]))[0].1, texts[number], "{question}");
    }
}

#[test]
fn a_question_that_asks_nothing_is_refused_in_one_line() {
    let desk = both();
    let long = "pool ".repeat(20_000);
    for (question, exit_code) in [
        ("", 2),
        ("  ", 2),
        ("--", 2),
        ("?!", 2),
        ("the of and", 2),
        ("\"pool", 0),
        ("pool* OR", 0),
        ("NEAR(pool wait)", 0),
        ("pool:wait -fail ^(", 0),
        ("' OR 1=1; --", 0),
        (long.as_str(), 0),
    ] {
        let asked = desk.run(&["find", "--", question]);
        assert_eq!(asked.code, Some(exit_code), "{question:.40}: {}", asked.stderr);
        assert!(
            asked.stderr.lines().filter(|line| line.starts_with("error: ")).count()
                == usize::from(exit_code == 2)
        );
    }
    let error = desk.run(&["find", "the", "--format=json"]);
    assert_eq!(error.json()["error"]["code"], "empty_question");
    for wrong in [["--kind=shout"], ["--since=tomorrowish"], ["--limit=many"], ["--limit=-1"]] {
        assert_eq!(desk.run(&[&["find", "pool"], &wrong[..]].concat()).code, Some(2), "{wrong:?}");
    }
    assert_eq!(desk.run(&["find", "pool", "--project=nowhere"]).code, Some(1));
    let empty = Desk::new();
    assert_eq!(empty.run(&["find", "pool"]).success().stdout, "");
    assert_eq!(empty.ask(&["find", "pool"])["hits"], json!([]));
}

#[test]
fn the_setting_of_a_model_that_ranked_again_is_named_as_gone() {
    let desk = both();
    let by_words = desk.ask(&["find", "connection pool"]);
    let file = desk.home.join(".gitconfig");
    desk.repo.git(&["config", "--file", &file.to_string_lossy(), "chronicle.searchModel", "/models/mini"]);
    assert_eq!(desk.ask(&["find", "connection pool"]), by_words);
    desk.run(&["config", "list"]).success().warns("`searchModel` in");
}

#[test]
fn nothing_that_acts_on_a_terminal_comes_out() {
    let desk = Desk::new();
    tell(&desk, desk.repo.path(), "evil", &["pool \u{1b}[31mred\u{7} \u{202e}evil"]);
    for format in ["markdown", "json", "pretty"] {
        let out = desk.run(&["find", "pool", "--format", format]).success().stdout;
        assert!(out.contains("pool"), "{out}");
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{out:?}");
    }
    let painted = desk.run(&["find", "pool", "--format=pretty", "--color=always"]).success().stdout;
    assert!(painted.contains("\u{1b}[1mpool\u{1b}[22m"), "{painted:?}");
}

#[test]
fn a_topic_gathers_sessions_files_commits_and_threads() {
    let desk = Desk::new();
    let todos = [("Document how long the pool waits", "pending")];
    desk.leave(&pool(&desk).said("We decided that the pool waits rather than fails.").todos(&todos));
    desk.leave(&parser(&desk));
    desk.ingest();
    let about = desk.run(&["about", "the pool", "--limit=1"]).success().stdout;
    insta::assert_snapshot!(about, @"
    ## Sessions
    - 5e551011 Make a full pool wait for its connections instead of failing (2026-03-09, 1 day ago, main): Decided that the pool waits rather than fails. Still to do: Document how long the pool waits, committed 1a2b3c4 “pool: wait”, `cargo test` passed last.

    ## Said about it
    - said (5e551011, line 16): We decided that the pool waits rather than fails.
    - prompt (5e551011, line 1): Make a full pool wait for its connections instead of failing

    ## Files
    - src/pool.rs (1 session, 2×)

    ## Commits
    - 1a2b3c4 pool: wait (5e551011)

    ## Threads
    - t-ayeowogafe4ik2sx [pending] Document how long the pool waits
    ");
    let answer = desk.ask(&["about", "pool"]);
    assert_eq!(answer["commits"][0]["commit"], "1a2b3c4");
    assert_eq!(desk.run(&["about", "the"]).code, Some(2));
}

#[test]
fn a_task_is_told_step_by_step() {
    let desk = both();
    insta::assert_snapshot!(desk.run(&["how", "make the pool wait", "--limit=1"]).success().stdout, @"
    ## 5e551011 Make a full pool wait for its connections instead of failing (1 day ago, main)
    1. asked: Make a full pool wait for its connections instead of failing
    2. ran `cargo test` (failed)
    3. changed src/pool.rs (2×)
    4. ran `cargo test`
    5. ran `git commit -qam 'pool: wait'`
    6. committed 1a2b3c4 pool: wait
    Outcome: `cargo test` passed last; commit 1a2b3c4
    ");
    let answer = desk.ask(&["how", "trailing commas"]);
    assert_eq!(answer["procedures"][0]["session"], "5e551022-bbbb-4bbb-8bbb-000000000002");
    assert_eq!(desk.run(&["how", ""]).code, Some(2));
}

#[test]
fn a_test_in_a_command_that_failed_is_said_to_be_a_part_of_it() {
    let desk = Desk::new();
    let up = json!({"command": "./up.sh && cargo test ssh"});
    let talk = desk.talk("7e551011-cccc-4ccc-8ccc-000000000001").prompt("Write the ssh test");
    desk.leave(&talk.tool("Bash", &up, "Exit code 1\nno such host", true).said("The host is missing."));
    desk.ingest();
    insta::assert_snapshot!(desk.run(&["how", "write", "the", "ssh", "test"]).success().stdout, @"
    ## Calls
    - `cargo test ssh` (1×, part of a command that failed 1×; 1 day ago, session 7e551011)

    ## 7e551011 Write the ssh test (1 day ago, main)
    1. asked: Write the ssh test
    2. ran `./up.sh && cargo test ssh` (failed)
    ");
}

/// Two sessions in which one error came up: it was mended for good only in the second.
fn twice_broken() -> Desk {
    let desk = Desk::new();
    let error = "Exit code 2\nFAIL\tnet/pool [build failed]\nnet/pool.go:7:2: undefined: Waiter";
    let test = json!({"command": "go test ./..."});
    let mut first = desk.talk("6e551011-cccc-4ccc-8ccc-000000000001");
    first.day = 7;
    let first = first
        .prompt("Let callers of the pool wait for connections")
        .tool("Bash", &test, error, true)
        .command("rm net/pool.go", "")
        .command("go test ./...", "ok net/pool 0.1s");
    let second = desk
        .talk("6e551022-cccc-4ccc-8ccc-000000000002")
        .prompt("Bring the waiting pool back")
        .tool("Bash", &test, error, true)
        .edit("net/pool.go", "a", "b")
        .tool("Bash", &test, error, true)
        .said("The type was removed with its file. I add it again.")
        .edit("net/waiter.go", "", "type Waiter struct{}")
        .command("cd net && go generate ./...", "")
        .command("go test ./...", "ok net/pool 0.1s")
        .command("git commit -qam 'net: wait'", "[main 1a2b3c4] net: wait\n 1 file changed")
        .said("Done.");
    desk.leave(&first);
    desk.leave(&second);
    desk.ingest();
    desk
}

#[test]
fn an_error_comes_with_what_mended_it_for_good() {
    let desk = twice_broken();
    insta::assert_snapshot!(desk.run(&["fix", "undefined:", "Waiter"]).success().stdout, @"
    ## 6e551022 Bring the waiting pool back (1 day ago, main)
    Error: net/pool.go:7:2: undefined: Waiter (`go test ./...`, line 6, 2 times)
    Said: The type was removed with its file.
    1. changed net/waiter.go, line 9
    2. ran `cd net && go generate ./...`, line 11
    Outcome: solved: `go test ./...` worked at line 13, and it did not come up again; commit 1a2b3c4

    ## 6e551011 Let callers of the pool wait for connections (3 days ago, main)
    Error: net/pool.go:7:2: undefined: Waiter (`go test ./...`, line 2)
    1. ran `rm net/pool.go`, line 4
    Outcome: `go test ./...` worked at line 6; it came up again in session 6e551022
    ");
    let answer = desk.ask(&["fix", "undefined: Waiter", "--limit=1"]);
    assert_eq!(answer["fixes"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&answer["schema"], &answer["fixes"][0]["outcome"]),
        (&json!("chronicle-fix/v1"), &json!("held"))
    );
    let elsewhere = desk.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let there = desk.run_in(&elsewhere, &["fix", "undefined: Waiter"]).success();
    assert!(there.stdout.contains("other project"), "{there:#?}");
    for unknown in ["type Missing is not there", "--- FAIL: TestMissing (0.00s)"] {
        assert_eq!(desk.run(&["fix", "--", unknown]).success().stdout, "");
    }
    assert_eq!(desk.run(&["fix", ""]).code, Some(2));
}

#[test]
fn a_task_that_names_tests_comes_with_what_ran_them() {
    let calls = |task: &str| both().ask(&["how", task])["invocations"].clone();
    let ran = calls("run the tests");
    assert_eq!(ran.as_array().map(Vec::len), Some(1));
    // The first run failed, as the steps below show, and the second one worked.
    let went = ["command", "times", "worked", "failed", "unclear"].map(|key| ran[0][key].clone());
    assert_eq!(json!(went), json!(["cargo test", 2, 1, 1, 0]));
    assert_eq!(calls("make a full pool wait"), json!([]));
}

#[test]
fn a_program_comes_with_how_it_was_called() {
    let desk = twice_broken();
    let text = desk.run(&["how", "go", "test"]).success().stdout;
    let calls: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    insta::assert_snapshot!(calls.join("\n"), @"
    ## Calls
    - `go test ./...` (5×, failed 3× with 2: net/pool.go:7:2: undefined: Waiter; 1 day ago, session 6e551022, line 13)
    ");
    let answer = desk.ask(&["how", "go", "generate"]);
    assert_eq!(answer["invocations"][0]["command"], "go generate ./...");
    assert_eq!(desk.ask(&["how", "wait for connections"])["invocations"], json!([]));
}
