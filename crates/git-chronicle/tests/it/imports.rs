//! Memory of other programs.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use chronicle_search::Connection;
use serde_json::{Value, json};

use crate::{
    desk::{Desk, Talk},
    outcome::run,
};

fn states(answer: &Value) -> Vec<(String, String)> {
    let text = |item: &Value, name: &str| item[name].as_str().expect("text").to_owned();
    let items = answer["items"].as_array().expect("a list").iter();
    items.map(|item| (text(item, "title"), text(item, "state"))).collect()
}

fn check(answer: &Value, expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(title, state)| ((*title).to_owned(), (*state).to_owned())).collect();
    assert_eq!(states(answer), expected);
}

#[test]
fn texts_are_found_with_their_source_and_imported_once() {
    let desk = Desk::new();
    let slug = desk.repo.path().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let memory = desk.home.join(".claude/projects").join(slug).join("memory");
    fs::create_dir_all(&memory).expect("it is made");
    fs::write(
        memory.join("MEMORY.md"),
        "# Notes\nThe wombatpool has two locks.\n## Keys\npassword=hunter2hunter2\n",
    )
    .expect("it is written");
    let import = |args: &[&str]| desk.ask(&[&["import", "--from", "claude-memory"], args].concat());
    check(&import(&["--dry-run"]), &[("claude-memory: Notes", "new")]);
    assert!(desk.ask(&["find", "wombatpool"])["hits"].as_array().is_none_or(Vec::is_empty));
    check(&import(&[]), &[("claude-memory: Notes", "new")]);
    check(&import(&[]), &[("claude-memory: Notes", "unchanged")]);
    let found = desk.run(&["find", "wombatpool"]).success().stdout;
    assert!(found.contains("two locks") && found.contains("MEMORY-"), "{found}");
    let list = desk.ask(&["session", "list"]);
    assert_eq!(list["sessions"][0]["agent"], "claude-memory");
    let id = list["sessions"][0]["session"].as_str().expect("an id").to_owned();
    let turns = desk.run(&["session", "show", &id, "--turns"]).success().stdout;
    assert!(turns.contains("[redacted:password]") && !turns.contains("hunter2"), "{turns}");
    fs::write(memory.join("MEMORY.md"), "# Notes\nThe wombatpool has three locks.\n").expect("it is written");
    check(&import(&[]), &[("claude-memory: Notes", "changed")]);
    let found = desk.run(&["find", "wombatpool"]).success().stdout;
    assert!(found.contains("three locks") && !found.contains("two locks"), "{found}");
    // What is forgotten stays out.
    desk.run(&["session", "forget", &id]).success();
    check(&import(&[]), &[("claude-memory: Notes", "left_out")]);
    assert!(!desk.run(&["find", "wombatpool"]).stdout.contains("locks"));
}

#[test]
fn issues_of_beads_become_threads() {
    let desk = Desk::new();
    let file = desk.repo.path().join(".beads/issues.jsonl");
    fs::create_dir_all(file.parent().expect("it has one")).expect("it is made");
    let issue = |id: &str, title: &str, more: Value| {
        let mut issue = json!({"id": id, "title": title, "description": "Why", "priority": 1, "issue_type": "task",
            "status": "open", "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-02T12:00:00Z"});
        issue.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        issue.to_string()
    };
    let link = json!({"dependencies": [{"issue_id": "b-2", "depends_on_id": "b-1", "type": "blocks"}]});
    let write = |status: &str| {
        let closed = json!({"status": status, "closed_at": "2026-03-03T12:00:00Z"});
        let lines = [issue("b-1", "Bound the pool", closed), issue("b-2", "Test the pool", link.clone())];
        fs::write(&file, lines.join("\n")).expect("it is written");
    };
    write("open");
    let import = || desk.ask(&["import", "--from", "beads"]);
    check(&import(), &[("Bound the pool", "new"), ("Test the pool", "new")]);
    check(&import(), &[("Bound the pool", "unchanged"), ("Test the pool", "unchanged")]);
    let open = || {
        let pending = desk.ask(&["pending"]);
        let items = pending["items"].as_array().expect("a list").iter();
        items
            .map(|item| (item["summary"].to_string(), item["waits_for"].as_array().map_or(0, Vec::len)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        open(),
        [("\"beads b-1: Bound the pool\"".to_owned(), 0), ("\"beads b-2: Test the pool\"".to_owned(), 1)]
    );
    write("closed");
    check(&import(), &[("Bound the pool", "changed"), ("Test the pool", "unchanged")]);
    assert_eq!(open(), [("\"beads b-2: Test the pool\"".to_owned(), 0)]);
    // What is rejected stays so.
    let id = desk.ask(&["pending"])["items"][0]["id"].as_str().expect("an id").to_owned();
    desk.run(&["feedback", &id, "wrong"]).success();
    check(&import(), &[("Bound the pool", "unchanged"), ("Test the pool", "left_out")]);
    assert_eq!(open(), []);
    fs::write(&file, "{\"id\":\"b-1\"}\n").expect("it is written");
    assert!(import()["unread"][0]["reason"].as_str().is_some_and(|reason| reason.starts_with("line 1: ")));
}

#[test]
fn an_issue_of_a_repository_changes_no_thread_of_the_users() {
    let desk = Desk::new();
    for words in ["Publish the release", "Rotate the keys"] {
        desk.run(&["thread", "add", words]).success();
    }
    let before = desk.ask(&["pending"]);
    let file = desk.repo.path().join(".beads/issues.jsonl");
    fs::create_dir_all(file.parent().expect("it has one")).expect("it is made");
    let issue = |id: &str, title: &str, status: &str| {
        json!({"id": id, "title": title, "description": "Send them to somebody", "status": status, "priority": 0,
            "created_at": "2026-03-01T12:00:00Z", "updated_at": "2027-03-01T12:00:00Z", "closed_at": "2027-03-01T12:00:00Z"})
        .to_string()
    };
    let lines = [issue("b-1", "Publish the release", "closed"), issue("b-2", "Rotate the keys", "open")];
    fs::write(&file, lines.join("\n")).expect("it is written");
    let taken = desk.ask(&["import", "--from", "beads"]);
    check(&taken, &[("Publish the release", "unchanged"), ("Rotate the keys", "unchanged")]);
    assert_eq!(desk.ask(&["pending"]), before);
}

#[test]
fn decision_records_are_found_and_a_folder_that_is_none_is_refused() {
    let desk = Desk::new();
    desk.repo
        .write("docs/adr/0001-use-a-queue.md", "# Use a queue\n\n## Decision\nThe quokkaqueue is bounded.\n");
    check(&desk.ask(&["import", "--from", "adr"]), &[("adr: Use a queue", "new")]);
    assert!(desk.run(&["find", "quokkaqueue"]).success().stdout.contains("is bounded"));
    desk.run(&["import", "--from", "adr", "nowhere"]).refused(1, &["cannot read"]);
    desk.run(&["import", "--dry-run"]).failed(2);
}

#[test]
fn links_of_a_repository_lead_an_import_nowhere() {
    let desk = Desk::new();
    let private = desk.home.join("private");
    fs::create_dir_all(&private).expect("it is made");
    fs::write(private.join("plan.md"), "# Plan\n\nThe quokkaplan is private.\n").expect("it is written");
    let issue = "{\"id\":\"b-1\",\"title\":\"Hide the quokkaplan\",\"status\":\"open\"}\n";
    fs::write(private.join("issues.jsonl"), issue).expect("it is written");
    fs::create_dir_all(desk.repo.path().join("docs")).expect("it is made");
    symlink(&private, desk.repo.path().join("docs/adr")).expect("it is made");
    symlink(&private, desk.repo.path().join(".beads")).expect("it is made");
    for source in ["adr", "beads"] {
        check(&desk.ask(&["import", "--from", source]), &[]);
    }
    fs::remove_file(desk.repo.path().join(".beads")).expect("it is removed");
    fs::create_dir(desk.repo.path().join(".beads")).expect("it is made");
    let link = desk.repo.path().join(".beads/issues.jsonl");
    symlink(private.join("issues.jsonl"), &link).expect("it is made");
    check(&desk.ask(&["import", "--from", "beads"]), &[]);
    fs::remove_file(&link).expect("it is removed");
    fs::write(&link, issue).expect("it is written");
    check(&desk.ask(&["import", "--from", "beads"]), &[("Hide the quokkaplan", "new")]);
}

#[test]
fn variables_of_an_agent_do_not_make_files_of_a_repository_the_users() {
    let desk = Desk::new();
    desk.repo.write("projects/x/memory/MEMORY.md", "# Planted\n\nThe quokkaplan is yours.\n");
    desk.repo.write("memories/MEMORY.md", "# Planted\n\nThe quokkaplan is yours.\n");
    for (source, variable) in [("claude-memory", "CLAUDE_CONFIG_DIR"), ("codex-memory", "CODEX_HOME")] {
        let mut command =
            desk.command_in(desk.repo.path(), &["import", "--from", source, "--format", "json"]);
        let answer = run(command.env(variable, ".").env("CLAUDECODE", "1")).success().stdout;
        check(&serde_json::from_str(&answer).expect("it is JSON"), &[]);
    }
}

/// What is read of the tables of claude-mem 13.
const CLAUDE_MEM: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT,
        platform_source TEXT, custom_title TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, text TEXT, type TEXT, title TEXT,
        subtitle TEXT, facts TEXT, narrative TEXT, files_modified TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, request TEXT, investigated TEXT,
        learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER, prompt_text TEXT, created_at_epoch INTEGER);";

/// The database of claude-mem in the home of a desk, with a session of `project`.
fn claude_mem(desk: &Desk, session: &str, project: &str) -> (PathBuf, Connection) {
    let path = desk.home.join(".claude-mem/claude-mem.db");
    fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
    let connection = Connection::open(&path).expect("it is made");
    let rows = format!(
        "INSERT INTO sdk_sessions VALUES (1, '{session}', 'm-1', '{project}', 'claude', NULL);
        INSERT INTO observations VALUES (1, 'm-1', NULL, 'bugfix', 'The wombatpool waits', NULL, '[]',
            'It has two locks. password=hunter2hunter2', '[]', 1772366400000);
        INSERT INTO session_summaries VALUES (1, 'm-1', 'Bound the wombatpool', NULL, NULL, 'Done', NULL, NULL, 1772366500000);
        INSERT INTO user_prompts VALUES (1, 1, 'I always prefer narrow limits.', 1772366300000);"
    );
    connection.execute_batch(&format!("{CLAUDE_MEM}{rows}")).expect("it is filled");
    (path, connection)
}

fn n_projects(desk: &Desk) -> i64 {
    let store = Connection::open(desk.memory().join("chronicle.db")).expect("it is opened");
    let count = store.query_row("SELECT count(*) FROM project", [], |row| row.get(0));
    count.expect("it is a store")
}

#[test]
fn what_claude_mem_wrote_is_found_and_is_nobodys_words() {
    let desk = Desk::new();
    let id = "5e551011-aaaa-4aaa-8aaa-000000000001";
    desk.leave(&desk.talk(id).prompt("Bound it, please."));
    let name = desk.repo.path().file_name().expect("it has one").to_string_lossy().into_owned();
    let (path, connection) = claude_mem(&desk, id, &name);
    let before = fs::read(&path).expect("it is read");
    let import = |args: &[&str]| desk.ask(&[&["import", "--from", "claude-mem"], args].concat());
    check(&import(&["--dry-run"]), &[("Bound the wombatpool", "new")]);
    assert_eq!(n_projects(&desk), 0, "a dry run makes no project");
    assert!(desk.ask(&["find", "wombatpool"])["hits"].as_array().is_none_or(Vec::is_empty));
    check(&import(&[]), &[("Bound the wombatpool", "new")]);
    check(&import(&[]), &[("Bound the wombatpool", "unchanged")]);
    // Once the transcript is here, its prompts need not be here twice; the session belongs where that one does.
    desk.ingest();
    check(&import(&[]), &[("Bound the wombatpool", "changed")]);
    check(&import(&[]), &[("Bound the wombatpool", "unchanged")]);
    let found = desk.run(&["find", "wombatpool locks"]).success().stdout;
    assert!(found.contains("mem_5e551011 Bound the wombatpool") && found.contains("two locks"), "{found}");
    let told = desk.run(&["session", "show", "mem_"]).success().stdout;
    assert!(told.contains("- project: repo\n"), "{told}");
    let shown = desk.ask(&["session", "show", "mem_", "--turns"]);
    let turns = shown["turns"].as_array().expect("a list");
    assert_eq!(turns.iter().map(|turn| &turn["kind"]).collect::<Vec<_>>(), ["summary", "summary"]);
    assert!(turns[0]["text"].as_str().is_some_and(|text| text.contains("[redacted:password]")), "{shown:#}");
    assert_eq!(desk.ask(&["preferences"])["preferences"].as_array().map(Vec::len), Some(0));
    assert_eq!(fs::read(&path).expect("it is read"), before);
    // What grew is taken in, what is forgotten stays out, whichever of the two is forgotten.
    connection
        .execute_batch("UPDATE observations SET title = 'The wombatpool fails'")
        .expect("it is written");
    check(&import(&[]), &[("Bound the wombatpool", "changed")]);
    desk.run(&["session", "forget", "mem_"]).success();
    check(&import(&[]), &[("Bound the wombatpool", "left_out")]);
    let other = Desk::new();
    other.leave(&other.talk(id).prompt("Bound it, please."));
    other.ingest();
    other.run(&["session", "forget", id]).success();
    claude_mem(&other, id, "shop");
    check(&other.ask(&["import", "--from", "claude-mem"]), &[("Bound the wombatpool", "left_out")]);
}

#[test]
fn a_database_of_claude_mem_that_is_none_is_named_and_an_agent_reads_none_of_a_repository() {
    let desk = Desk::new();
    check(&desk.ask(&["import", "--from", "claude-mem"]), &[]);
    desk.run(&["import", "--from", "claude-mem", "nowhere.db"]).refused(1, &["cannot read"]);
    desk.repo.write("claude-mem.db", "no database, whatever it is called");
    let unread = |answer: &Value| answer["unread"][0]["reason"].as_str().unwrap_or_default().to_owned();
    let import = ["import", "--from", "claude-mem", "claude-mem.db"];
    assert_eq!(unread(&desk.ask(&import)), "file is not a database");
    let (path, _open) = claude_mem(&desk, "5e551011", "shop");
    fs::copy(&path, desk.repo.path().join("claude-mem.db")).expect("it is copied");
    check(&desk.ask(&import), &[("Bound the wombatpool", "new")]);
    let mut command = desk.command_in(desk.repo.path(), &[&import[..], &["--format=json"]].concat());
    let answer = run(command.env("CLAUDECODE", "1")).success().json();
    check(&answer, &[]);
    assert!(unread(&answer).contains("only a person"), "{answer:#}");
}

#[test]
fn a_project_of_claude_mem_leaves_its_name_to_the_repository() {
    let desk = Desk::new();
    claude_mem(&desk, "5e551011", "cellar");
    let import = || desk.ask(&["import", "--from", "claude-mem"]);
    let project = || desk.ask(&["session", "show", "mem_"])["project"].clone();
    check(&import(), &[("Bound the wombatpool", "new")]);
    assert_eq!(project(), "cellar@claude-mem");
    let cellar = desk.home.join("cellar");
    fs::create_dir_all(&cellar).expect("it is made");
    let other = "0ther111-aaaa-4aaa-8aaa-000000000002";
    desk.leave(&Talk::new(other, &cellar.to_string_lossy()).prompt("Which limit is right?"));
    desk.ingest();
    check(&import(), &[("Bound the wombatpool", "changed")]);
    check(&import(), &[("Bound the wombatpool", "unchanged")]);
    assert_eq!(project(), "cellar");
}

#[test]
fn sessions_of_claude_mem_in_excluded_folders_stay_out() {
    let desk = Desk::new();
    let diary = desk.home.join("diary");
    fs::create_dir_all(&diary).expect("it is made");
    desk.run(&["session", "exclude", &diary.to_string_lossy()]).success();
    claude_mem(&desk, "5e551011", "diary");
    let import = || desk.ask(&["import", "--from", "claude-mem"]);
    check(&import(), &[("Bound the wombatpool", "left_out")]);
    desk.run(&["session", "exclude", &diary.to_string_lossy(), "--off"]).success();
    check(&import(), &[("Bound the wombatpool", "new")]);
}

/// A checkpoint on the branch of Entire, and a commit that names it.
fn checkpoint(desk: &Desk, session: &str) -> String {
    let repo = &desk.repo;
    repo.write("src/pool.rs", "fn acquire() { wait() }\n");
    let commit = repo.commit("pool: wait\n\nEntire-Checkpoint: a3b2c4d5e6f7");
    repo.git(&["checkout", "-q", "--orphan", "entire/checkpoints/v1"]);
    repo.git(&["rm", "-rfq", "--cached", "."]);
    let below = "a3/b2c4d5e6f7";
    let metadata = json!({"checkpoint_id": "a3b2c4d5e6f7", "session_id": session, "strategy": "manual-commit",
        "created_at": "2026-03-01T12:00:00Z", "agent": "Claude Code", "files_touched": ["src/pool.rs"],
        "summary": {"intent": "Bound the wombatpool", "outcome": "Done", "learnings": {"repo": null, "code": null, "workflow": null},
            "friction": null, "open_items": ["Test the wombatpool"]}});
    repo.write(format!("{below}/metadata.json"), json!({"checkpoint_id": "a3b2c4d5e6f7"}).to_string());
    repo.write(format!("{below}/0/metadata.json"), metadata.to_string());
    repo.write(format!("{below}/0/prompt.txt"), "I always prefer narrow limits.");
    let talk = desk
        .talk("5e551011-aaaa-4aaa-8aaa-000000000001")
        .prompt("I always prefer narrow limits in the wombatpool. password=hunter2hunter2")
        .command("git commit -qam 'pool: wait'", &format!("[main {}] pool: wait", &commit[..7]))
        .said("The wombatpool waits now.");
    repo.write(format!("{below}/0/full.jsonl"), talk.text());
    repo.write(format!("{below}/1/metadata.json"), "nonsense");
    // A link is no file, wherever it leads.
    fs::create_dir_all(repo.path().join(below).join("2")).expect("it is made");
    symlink("../0/metadata.json", repo.path().join(below).join("2/metadata.json")).expect("it is made");
    repo.git(&["add", "-A", "a3"]);
    repo.git(&["commit", "-qm", "Checkpoint: a3b2c4d5e6f7"]);
    repo.git(&["checkout", "-qf", "main"]);
    commit
}

#[test]
fn checkpoints_of_entire_are_found_and_are_a_strangers() {
    let desk = Desk::new();
    check(&desk.ask(&["import", "--from", "entire"]), &[]);
    let commit = checkpoint(&desk, "2026-03-01-5e551011-aaaa-4aaa-8aaa-000000000001");
    let title = format!("Unverified checkpoint a3b2c4d5e6f7 of {}", &commit[..7]);
    let import = |args: &[&str]| desk.ask(&[&["import", "--from", "entire"], args].concat());
    let dry = import(&["--dry-run"]);
    check(&dry, &[(&title, "new")]);
    assert_eq!(n_projects(&desk), 0, "a dry run makes no project");
    assert_eq!(dry["unread"].as_array().map(Vec::len), Some(1), "{dry:#}");
    assert_eq!(dry["unread"][0]["path"], "entire/checkpoints/v1:a3/b2c4d5e6f7/1/metadata.json");
    assert_eq!(dry["items"][0]["file"], "entire/checkpoints/v1:a3/b2c4d5e6f7/0");
    assert!(desk.ask(&["find", "wombatpool"])["hits"].as_array().is_none_or(Vec::is_empty));
    check(&import(&[]), &[(&title, "new")]);
    check(&import(&[]), &[(&title, "unchanged")]);
    let shown = desk.ask(&["session", "show", "entire_", "--turns"]);
    let turns: Vec<_> = shown["turns"].as_array().expect("a list").iter().collect();
    let texts: Vec<_> = turns.iter().map(|turn| turn["text"].as_str().expect("text")).collect();
    assert_eq!(
        texts,
        [
            &*format!(
                "Checkpoint a3b2c4d5e6f7 on the branch entire/checkpoints/v1, not verified. It names the agent Claude Code. \
                It is named by the commits {commit}."
            ),
            "Asked: Bound the wombatpool\nOutcome: Done\nOpen: Test the wombatpool",
            "Asked: I always prefer narrow limits in the wombatpool. password=[redacted:password]\n\nAnswered: The wombatpool \
            waits now.",
        ]
    );
    assert!(turns.iter().all(|turn| turn["kind"] == "summary"), "{shown:#}");
    // It is found, by the words and by the commit, and named as what it is.
    for question in ["wombatpool", &commit] {
        let found = desk.run(&["find", question]).success().stdout;
        assert!(found.contains(&format!("entire_5e551011 {title}")), "{found}");
    }
    let told = desk.run(&["session", "show", "entire_"]).success().stdout;
    assert!(told.contains(&format!("- project: repo in {}\n", desk.repo.path().display())), "{told}");
    // Nothing of it is the user's.
    assert_eq!(desk.ask(&["preferences"])["preferences"].as_array().map(Vec::len), Some(0));
    assert_eq!(desk.ask(&["pending"])["items"].as_array().map(Vec::len), Some(0));
    let why = desk.run(&["why", "src/pool.rs:1"]).success().stdout;
    assert!(why.contains(&commit[..7]) && !why.contains("wombatpool"), "{why}");
    let brief = desk.run(&["brief"]).success().stdout;
    assert!(!brief.contains("wombatpool") && !brief.contains("narrow"), "{brief}");
    desk.run(&["session", "forget", "entire_"]).success();
    check(&import(&[]), &[(&title, "left_out")]);
}

#[test]
fn a_checkpoint_of_a_session_that_is_here_changes_nothing_and_an_agent_imports_none() {
    let desk = Desk::new();
    let id = "5e551011-aaaa-4aaa-8aaa-000000000001";
    let commit = checkpoint(&desk, id);
    let title = format!("Unverified checkpoint a3b2c4d5e6f7 of {}", &commit[..7]);
    let import = ["import", "--from", "entire"];
    let mut command = desk.command_in(desk.repo.path(), &[&import[..], &["--format=json"]].concat());
    let answer = run(command.env("CLAUDECODE", "1")).success().json();
    check(&answer, &[]);
    assert!(answer["unread"][0]["reason"].as_str().is_some_and(|reason| reason.contains("only a person")));
    desk.run(&["import", "--from", "entire", "elsewhere"]).refused(1, &["cannot read `elsewhere`"]);
    desk.leave(&desk.talk(id).prompt("Bound it, please."));
    desk.ingest();
    check(&desk.ask(&import), &[(&title, "unchanged")]);
    desk.run(&["session", "forget", id]).success();
    check(&desk.ask(&import), &[(&title, "left_out")]);
    // A clone has the branch of its remote.
    let clone = Desk::new();
    let from = desk.repo.path().to_string_lossy().into_owned();
    clone.repo.git(&["remote", "add", "origin", &from]);
    clone.repo.git(&["fetch", "-q", "origin"]);
    let answer = clone.ask(&import);
    check(&answer, &[("Unverified checkpoint a3b2c4d5e6f7", "new")]);
    assert_eq!(answer["items"][0]["file"], "origin/entire/checkpoints/v1:a3/b2c4d5e6f7/0");
}
