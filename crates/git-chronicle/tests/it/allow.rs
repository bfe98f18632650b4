//! A repository decides nothing about where code, keys and money go, unless its user allows it.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use testkit::TestRepo;
use testkit::{Answer, ScriptedService};

use crate::{
    desk::Desk,
    outcome::{chronicle, run, run_with_input, skip},
};

const KEY: &str = "sk-ant-api03-T3stT3stT3stT3stT3st";
const SESSION: &str = "9b9b9b9b-0000-4000-8000-000000000009";
const CHECK: [&str; 3] = ["llm", "check", "--call"];

fn service() -> ScriptedService {
    ScriptedService::answering(|_, _| Answer::text("ok").costing(1_000, 20))
}

/// What a repository would set to have the key in `MY_KEY` sent to `service`.
fn theft(service: &ScriptedService) -> Vec<(&'static str, String)> {
    vec![
        ("llm.provider", "anthropic".to_owned()),
        ("llm.baseUrl", service.url()),
        ("llm.keyVariable", "MY_KEY".to_owned()),
        ("llm.model", "m".to_owned()),
    ]
}

fn as_file(settings: &[(&str, String)]) -> String {
    let lines = settings.iter().map(|(name, value)| {
        let (section, key) = name.rsplit_once('.').expect("all have one");
        format!("[chronicle \"{section}\"]\n\t{key} = {value}\n")
    });
    lines.collect()
}

fn with_key(desk: &Desk, args: &[&str]) -> Command {
    let mut command = desk.command_in(desk.repo.path(), args);
    command.env("MY_KEY", KEY);
    command
}

fn append(desk: &Desk, file: &str, text: &str) {
    let path = desk.repo.path().join(file);
    let before = fs::read_to_string(&path).unwrap_or_default();
    desk.repo.write(file, format!("{before}{text}"));
}

fn ignored(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let ignored = answer["ignored"].as_array().expect("a list").iter();
    ignored.map(|one| (text(&one["name"]), text(&one["origin"]["kind"]))).collect()
}

#[test]
fn what_a_repository_sets_in_any_of_its_files_sends_nothing_and_one_line_says_how_to_move_it() {
    let service = service();
    let text = as_file(&theft(&service));
    let check = |make: &dyn Fn(&Desk), kind: &str| {
        let desk = Desk::new();
        make(&desk);
        let outcome = run(&mut with_key(&desk, &CHECK)).refused(1, &["there is no model to ask"]);
        let warnings: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(warnings.len(), 1, "{outcome:#?}");
        for words in ["and 3 more are ignored", "git config --global chronicle.", "git chronicle allow"] {
            assert!(warnings[0].contains(words), "{outcome:#?}");
        }
        let listed = run(&mut with_key(&desk, &["config", "list", "--format=json"])).success().json();
        let names = ignored(&listed);
        let expected = ["llm.baseUrl", "llm.keyVariable", "llm.model", "llm.provider"];
        assert_eq!(names.len(), 4, "{listed:#}");
        for name in expected {
            assert!(names.contains(&(name.to_owned(), kind.to_owned())), "{name}: {listed:#}");
        }
        let shown = desk.run(&["config", "list"]).success().stdout;
        assert!(
            shown.contains("\nIgnored:\n- llm.provider = anthropic (local") || kind != "local",
            "{shown}"
        );
        // A command that asks no model says nothing of it.
        assert_eq!(desk.run(&["status"]).success().stderr, "");
    };
    check(&|desk| append(desk, ".git/config", &text), "local");
    let included = |desk: &Desk, include: &str| {
        desk.repo.write("settings.inc", &text);
        append(desk, ".git/config", include);
    };
    check(&|desk| included(desk, "[include]\n\tpath = ../settings.inc\n"), "local");
    check(&|desk| included(desk, "[includeIf \"gitdir:**\"]\n\tpath = ../settings.inc\n"), "local");
    check(
        &|desk| {
            append(desk, ".git/config", "[extensions]\n\tworktreeConfig = true\n");
            append(desk, ".git/config.worktree", &text);
        },
        "worktree",
    );
    assert_eq!(service.asked().len(), 0);
    // Moved to the user's file, it counts.
    let desk = Desk::new();
    fs::write(desk.home.join(".gitconfig"), &text).unwrap();
    run(&mut with_key(&desk, &CHECK)).success();
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn a_file_that_the_user_includes_is_the_users_wherever_it_is() {
    let (desk, service) = (Desk::new(), service());
    desk.repo.write("mine.inc", as_file(&theft(&service)));
    let path = desk.repo.path().join("mine.inc");
    fs::write(desk.home.join(".gitconfig"), format!("[include]\n\tpath = {}\n", path.display())).unwrap();
    run(&mut with_key(&desk, &CHECK)).success();
    let condition = format!("gitdir:{}/", desk.repo.path().display());
    let text = format!("[includeIf \"{condition}\"]\n\tpath = {}\n", path.display());
    fs::write(desk.home.join(".gitconfig"), text).unwrap();
    run(&mut with_key(&desk, &CHECK)).success();
    assert_eq!(service.asked().len(), 2);
}

/// Ends a session of the agent in a hook, whose environment holds `variables`.
fn end_session(desk: &Desk, variables: &[(&str, &str)]) {
    let transcript =
        desk.leave(&desk.talk(SESSION).prompt("Make the pool wait").said("Done. Next: the tests."));
    for event in ["stop", "session-end"] {
        let payload = json!({
            "session_id": SESSION, "transcript_path": transcript, "cwd": desk.repo.path(),
            "hook_event_name": event,
        });
        let mut command = with_key(desk, &["hook", "claude", event]);
        command.envs(variables.iter().copied());
        let outcome = run_with_input(&mut command, payload.to_string().as_bytes()).success();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""), "{variables:?}");
    }
}

#[test]
fn in_hooks_no_variable_says_where_a_session_goes() {
    let service = service();
    let theft = theft(&service);
    let check = |variables: &dyn Fn(&Desk) -> Vec<(String, String)>| {
        let desk = Desk::new();
        let variables = variables(&desk);
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        end_session(&desk, &variables);
        assert_eq!(service.asked().len(), 0, "{variables:?}");
    };
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    check(&|_| {
        let variable =
            |name: &str| chronicle_workplace::Setting::find(name).expect("there is one").variable();
        theft.iter().map(|(name, value)| (variable(name), value.clone())).collect()
    });
    check(&|_| {
        let parameters: Vec<String> =
            theft.iter().map(|(name, value)| format!("'chronicle.{name}'='{value}'")).collect();
        owned(&[("GIT_CONFIG_PARAMETERS", &parameters.join(" "))])
    });
    check(&|_| {
        let mut variables = owned(&[("GIT_CONFIG_COUNT", "4")]);
        for (at, (name, value)) in theft.iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{at}"), format!("chronicle.{name}")));
            variables.push((format!("GIT_CONFIG_VALUE_{at}"), value.clone()));
        }
        variables
    });
    // Files of the repository, as if they were the user's.
    let text = as_file(&theft);
    for (variable, file, value) in [
        ("GIT_CONFIG_GLOBAL", "evil", "evil"),
        ("GIT_CONFIG_SYSTEM", "evil", "evil"),
        ("XDG_CONFIG_HOME", "evil/git/config", "evil"),
        ("HOME", ".gitconfig", ""),
    ] {
        check(&|desk| {
            desk.repo.write(file, &text);
            let path = desk.repo.path().join(value).to_string_lossy().into_owned();
            let mut variables = owned(&[(variable, &path)]);
            if variable == "GIT_CONFIG_SYSTEM" {
                variables.push(("GIT_CONFIG_NOSYSTEM".to_owned(), "0".to_owned()));
            }
            variables
        });
    }
    // What the user's file says counts in the very same hooks, with the key that the user has: an agent's settings may
    // name one of somebody who reads along.
    let desk = Desk::new();
    fs::write(desk.home.join(".gitconfig"), &text).unwrap();
    end_session(&desk, &[]);
    run(with_key(&desk, &CHECK).env("CLAUDECODE", "1")).refused(1, &["MY_KEY", "git chronicle llm check"]);
    assert_eq!(service.asked().len(), 0);
    run(&mut with_key(&desk, &["llm", "check"])).success();
    run(with_key(&desk, &CHECK).env("CLAUDECODE", "1").env("MY_KEY", "another")).refused(1, &["MY_KEY"]);
    assert_eq!(service.asked().len(), 0);
    end_session(&desk, &[]);
    assert!(!service.asked().is_empty());
    assert_eq!(service.asked()[0].header("x-api-key"), Some(KEY));
    let kept = fs::read_to_string(desk.memory().join("known-keys.json")).unwrap();
    assert!(kept.contains("MY_KEY") && !kept.contains(KEY), "{kept}");
}

#[test]
fn what_an_agent_runs_takes_no_address_from_its_environment_and_a_person_does() {
    let (desk, service) = (Desk::new(), service());
    let variables = || {
        let variable =
            |name: &str| chronicle_workplace::Setting::find(name).expect("there is one").variable();
        theft(&service).into_iter().map(move |(name, value)| (variable(name), value))
    };
    run(with_key(&desk, &CHECK).envs(variables()).env("CLAUDECODE", "1")).refused(1, &["a file of yours"]);
    assert_eq!(service.asked().len(), 0);
    run(with_key(&desk, &CHECK).envs(variables())).success();
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn a_user_allows_what_a_repository_sets_and_is_asked_again_when_it_changes() {
    let (desk, service) = (Desk::new(), service());
    append(&desk, ".git/config", &as_file(&theft(&service)));
    let call = || run(&mut with_key(&desk, &CHECK));
    let Some(refused) = desk.at_terminal("allow", "n", &[]) else { return };
    assert!(refused.success().stdout.contains("nothing was allowed"));
    call().failed(1);
    let agent = desk.at_terminal("allow", "y", &[("CLAUDECODE", "1")]).expect("there is one");
    assert!(agent.failed(1).stdout.contains("only a person at a terminal can allow this"));
    call().failed(1);
    let allowed = desk.at_terminal("allow", "y", &[]).expect("there is one").success();
    assert!(allowed.stdout.contains("• llm.keyVariable = MY_KEY"), "{allowed:#?}");
    assert_eq!(call().success().stderr, "");
    assert_eq!(service.asked().len(), 1);
    let record = desk.memory().join("allowed.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&record).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(desk.run(&["allow", "--list"]).success().stdout.contains("- llm.baseUrl = http://127.0.0.1"));
    assert_eq!(desk.ask(&["allow"])["is_allowed"], true);
    // Another value, of another file that is included.
    desk.repo.write("more.inc", "[chronicle \"llm\"]\n\tmodel = dear\n");
    append(&desk, ".git/config", "[include]\n\tpath = ../more.inc\n");
    call().failed(1);
    assert!(desk.ask(&["config", "list"])["ignored"].as_array().is_some_and(|ignored| ignored.len() == 5));
    desk.at_terminal("allow", "y", &[]).expect("there is one").success();
    call().success();
    assert_eq!(service.asked()[1].json()["model"], "dear");
    desk.run(&["allow", "--revoke"]).success();
    call().failed(1);
    assert_eq!((service.asked().len(), desk.run(&["allow", "--list"]).success().stdout.as_str()), (2, ""));
}

#[test]
fn nobody_but_a_person_at_a_terminal_allows() {
    let (desk, service) = (Desk::new(), service());
    assert!(desk.run(&["allow"]).success().stdout.contains("sets nothing that only you may set"));
    append(&desk, ".git/config", &as_file(&theft(&service)));
    let mut command = desk.command_in(desk.repo.path(), &["allow"]);
    let outcome = run_with_input(&mut command, b"y\n").failed(1);
    assert!(outcome.stderr.contains("there is no terminal to ask at"), "{outcome:#?}");
    assert!(outcome.stdout.contains("- llm.provider = anthropic"), "{outcome:#?}");
    let mut command = desk.command_in(desk.repo.path(), &["allow"]);
    let outcome = run_with_input(command.env("CODEX_SANDBOX", "seatbelt"), b"y\n").failed(1);
    assert!(outcome.stderr.contains("an agent runs it"), "{outcome:#?}");
    assert!(!desk.memory().join("allowed.json").exists());
    run(&mut with_key(&desk, &CHECK)).failed(1);
    assert_eq!(service.asked().len(), 0);
}

#[test]
fn settings_of_the_user_are_set_for_the_user_and_those_of_a_project_there() {
    let desk = Desk::new();
    desk.run(&["config", "set", "llm.provider", "gemini"]).success();
    desk.run(&["config", "set", "defaultMaxRegions", "7"]).success();
    let global = fs::read_to_string(desk.home.join(".gitconfig")).unwrap();
    assert!(global.contains("provider = gemini") && !global.contains("defaultMaxRegions"), "{global}");
    let local = fs::read_to_string(desk.repo.path().join(".git/config")).unwrap();
    assert!(local.contains("defaultMaxRegions = 7") && !local.contains("gemini"), "{local}");
}

fn value_of(desk: &Desk, name: &str) -> String {
    desk.run(&["config", "get", name]).success().stdout.trim().to_owned()
}

#[test]
fn a_project_only_narrows() {
    let desk = Desk::new();
    let user = |name: &str, value: &str| desk.run(&["config", "set", "--global", name, value]).success();
    let project = |name: &str, value: &str| desk.repo.git(&["config", &format!("chronicle.{name}"), value]);
    for (name, default, higher, lower) in [
        ("maxAgentTurns", "20", "21", "3"),
        ("llm.maxRequestsPerCommit", "100", "101", "7"),
        ("llm.maxTokensPerDay", "50000000", "50000001", "1000"),
    ] {
        project(name, higher);
        assert_eq!(value_of(&desk, name), default);
        project(name, lower);
        assert_eq!(value_of(&desk, name), lower);
        user(name, "2");
        assert_eq!(value_of(&desk, name), "2");
    }
    // What costs nothing is a project's as long as the user says nothing.
    project("defaultMaxRegions", "50");
    assert_eq!(value_of(&desk, "defaultMaxRegions"), "50");
    user("defaultMaxRegions", "30");
    assert_eq!(value_of(&desk, "defaultMaxRegions"), "30");
    desk.repo.write(".chronicle.toml", "[chronicle.agent]\nrecall = false\nmax_agent_turns = 1\n");
    assert_eq!(value_of(&desk, "recall"), "false");
    user("recall", "false");
    project("recall", "true");
    assert_eq!(value_of(&desk, "recall"), "false");
    let listed = desk.ask(&["config", "list"]);
    let reasons: Vec<&Value> =
        listed["ignored"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert!(reasons.contains(&&json!("the user turned it off")), "{listed:#}");
}

#[test]
fn session_memory_is_not_kept_where_a_repository_says() {
    let desk = Desk::new();
    let inside = desk.repo.path().join("memory");
    for home in [inside.to_str().unwrap(), "memory", "../repo/memory", ".git/memory"] {
        let mut command = desk.command_in(desk.repo.path(), &["session", "list"]);
        run(command.env("CHRONICLE_HOME", home)).refused(1, &["CHRONICLE_HOME names `", "in a repository"]);
    }
    // A repository in it, or around it, is one, too; and settings of agents know no path from the root.
    let nested = desk.repo.path().join("nested");
    fs::create_dir(&nested).unwrap();
    desk.repo.git(&["init", "--quiet", "nested"]);
    let beside = desk.repo.beside("memory");
    for (home, is_refused) in [
        (inside.as_path(), true),
        (Path::new("../../memory"), true),
        (Path::new("/proc/self/cwd/../../memory"), true),
        (&beside, false),
    ] {
        let mut command = desk.command_in(&nested, &["session", "list"]);
        let outcome = run(command.env("CHRONICLE_HOME", home).env("CLAUDECODE", "1"));
        assert_eq!(outcome.code, Some(i32::from(is_refused)), "{}: {outcome:#?}", home.display());
        let mut command = desk.command_in(&nested, &["session", "list"]);
        let outcome = run(command.env_remove("CHRONICLE_HOME").env("HOME", home).env("CLAUDECODE", "1"));
        assert_eq!(outcome.code, Some(i32::from(is_refused)), "{}: {outcome:#?}", home.display());
    }
    // A folder that is missing is made, and `..` leads elsewhere then.
    let through = format!("{}/../../dev/fd/../cwd/memory", desk.repo.beside("missing").display());
    let mut command = desk.command_in(&nested, &["session", "list"]);
    run(command.env("CHRONICLE_HOME", &through).env("CLAUDECODE", "1"))
        .refused(1, &["CHRONICLE_HOME names `"]);
    assert!(!desk.repo.beside("missing").exists());
    // Nor is it in a folder that was unpacked without a repository.
    let plain = desk.repo.beside("plain");
    fs::create_dir(&plain).unwrap();
    let mut command = desk.command_in(&plain, &["session", "list"]);
    run(command.env("CHRONICLE_HOME", plain.join("memory")).env("CLAUDECODE", "1"))
        .refused(1, &["CHRONICLE_HOME"]);
    end_session(&desk, &[("CHRONICLE_HOME", "memory")]);
    assert!(!inside.exists());
    end_session(&desk, &[]);
    assert!(desk.memory().join("chronicle.db").exists());
}

#[test]
fn where_an_agent_runs_us_no_variable_names_another_repository_or_time() {
    let desk = Desk::new();
    desk.run(&[
        "annotate",
        "-m",
        "The pool is empty since nobody asked yet",
        "--gotcha",
        "src/pool.rs:1 Never block.",
    ])
    .success();
    let evil = TestRepo::new();
    evil.write("src/pool.rs", "fn acquire() {}\n");
    evil.commit("one");
    let git_dir = desk.repo.path().join(".git");
    let payload = json!({"session_id": "5e551011-aaaa", "cwd": evil.path(), "tool_name": "Read",
        "tool_input": {"file_path": evil.path().join("src/pool.rs")}})
    .to_string();
    let told = |variables: &[(&str, &Path)]| {
        let mut hook = desk.command_in(evil.path(), &["hook", "claude", "post-tool-use"]);
        run_with_input(hook.envs(variables.iter().copied()), payload.as_bytes()).success().stdout
    };
    assert_eq!(told(&[("GIT_DIR", &git_dir)]), "");
    let read = |directory: &Path, variables: &[(&str, &Path)]| {
        let mut command = desk.command_in(directory, &["read", "src/pool.rs"]);
        run(command.env("CLAUDECODE", "1").envs(variables.iter().copied()))
    };
    read(evil.path(), &[("GIT_DIR", &git_dir)]).refused(1, &["GIT_DIR"]);
    read(desk.repo.path(), &[("GIT_WORK_TREE", &desk.home)]).refused(1, &["GIT_WORK_TREE"]);
    // Git's own hooks name the repository that they run in.
    assert!(
        read(desk.repo.path(), &[("GIT_DIR", Path::new(".git"))]).success().stdout.contains("Never block")
    );
    // Nothing grows old at once.
    let mut command = desk.command_in(desk.repo.path(), &["read", "src/pool.rs"]);
    let shown = run(command.env("CHRONICLE_NOW", "2199-01-01T00:00:00Z")).success().stdout;
    assert!(!shown.contains("years"), "{shown}");
}

#[cfg(unix)]
#[test]
fn session_memory_is_not_kept_in_a_folder_of_another_account() {
    let desk = Desk::new();
    let home = desk.repo.beside("foreign");
    fs::create_dir(&home).unwrap();
    let list = |home: &Path| {
        let mut command = desk.command_in(desk.repo.path(), &["session", "list"]);
        run(command.env("CHRONICLE_HOME", home))
    };
    list(&home).success();
    // Only root can give a folder away.
    if std::os::unix::fs::chown(&home, Some(4242), None).is_err() {
        skip("no folder can be given to another account here");
        return;
    }
    for home in [home.clone(), home.join("below")] {
        list(&home).refused(1, &["belongs to another account"]);
        let home = home.to_string_lossy().into_owned();
        end_session(&desk, &[("CHRONICLE_HOME", &home)]);
        assert!(!Path::new(&home).join("chronicle.db").exists());
    }
}

#[test]
fn a_key_that_was_used_goes_to_another_address_only_by_the_users_word() {
    let (desk, own, other) = (Desk::new(), service(), service());
    fs::write(desk.home.join(".gitconfig"), as_file(&theft(&own))).unwrap();
    run(&mut with_key(&desk, &CHECK)).success();
    let elsewhere = || {
        let mut command = with_key(&desk, &CHECK);
        command.env("CHRONICLE_LLM_BASE_URL", other.url());
        run(&mut command)
    };
    elsewhere().refused(1, &["the key in MY_KEY went to", "git chronicle config set llm.baseUrl"]);
    assert_eq!((own.asked().len(), other.asked().len()), (1, 0));
    desk.run(&["config", "set", "llm.baseUrl", &other.url()]).success();
    run(&mut with_key(&desk, &CHECK)).success();
    elsewhere().success();
    assert_eq!((own.asked().len(), other.asked().len()), (1, 2));
}

#[test]
fn a_day_has_a_ceiling_of_requests_and_tokens() {
    let (desk, service) = (Desk::new(), service());
    fs::write(desk.home.join(".gitconfig"), as_file(&theft(&service))).unwrap();
    desk.run(&["config", "set", "--global", "llm.maxRequestsPerDay", "1"]).success();
    run(&mut with_key(&desk, &CHECK)).success();
    run(&mut with_key(&desk, &CHECK)).refused(1, &["not asked", "all 1 requests for a day are used"]);
    desk.run(&["config", "set", "--global", "llm.maxRequestsPerDay", "10"]).success();
    // A project lowers, and raises nothing.
    desk.repo.git(&["config", "chronicle.llm.maxTokensPerDay", "1021"]);
    run(&mut with_key(&desk, &CHECK)).refused(1, &["not asked", "1020 of the 1021 for a day"]);
    desk.repo.git(&["config", "chronicle.llm.maxTokensPerDay", "100000000"]);
    run(&mut with_key(&desk, &CHECK)).success();
    assert_eq!(service.asked().len(), 2);
}

#[test]
fn outside_of_a_repository_the_users_settings_count() {
    let (desk, service) = (Desk::new(), service());
    fs::write(desk.home.join(".gitconfig"), as_file(&theft(&service))).unwrap();
    let elsewhere = desk.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut command = desk.command_in(&elsewhere, &CHECK);
    run(command.env("MY_KEY", KEY)).success();
    assert_eq!(service.asked().len(), 1);
    chronicle(&elsewhere, &["allow"]).failed(1);
}

#[test]
fn an_agent_turns_no_pages() {
    let desk = Desk::new();
    desk.repo.write("long.rs", "fn a() {}\n".repeat(60));
    desk.repo.commit("one");
    let summary = vec!["A line of a long summary"; 60].join("\n");
    desk.run(&["annotate", "--summary", &summary]).success();
    let ran = desk.repo.beside("ran");
    let pager = format!("touch '{}'; cat >/dev/null", ran.display());
    let variables = [("PAGER", &*pager), ("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "10")];
    let show = "--format pretty show";
    for of_agent in [("CLAUDECODE", "1"), ("CHRONICLE_UNATTENDED", "1")] {
        let Some(shown) = desk.at_terminal(show, "", &[&variables[..], &[of_agent]].concat()) else {
            return;
        };
        assert!(shown.success().stdout.contains("A line of a long summary"));
        assert!(!ran.exists(), "{of_agent:?}");
    }
    desk.at_terminal(show, "", &variables).expect("there is one").success();
    assert!(ran.exists(), "a person's pager runs");
}
