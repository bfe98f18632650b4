//! `setup` and `uninstall`: agents are told of us, and every file is as before when they are told no more.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    desk::Desk,
    outcome::{Outcome, run},
};

const AGENTS: [&str; 6] = ["claude", "codex", "gemini", "copilot", "opencode", "cursor"];

/// The JSON files of the user that we put something into.
const JSON_FILES: [&str; 8] = [
    ".claude/settings.json",
    ".claude.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".copilot/mcp-config.json",
    ".config/opencode/opencode.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
];

/// What such files may hold when we come.
const STARTS: [(&str, &str); 14] = [
    ("empty", ""),
    ("blank", "\n\n"),
    ("nothing in it", "{}"),
    ("nothing on two lines", "{\n}\n"),
    ("only a comment", "// mine\n{\n  // nothing yet\n}\n"),
    ("one line", r#"{"model": "m-1", "hooks": {}, "mcpServers": {}}"#),
    ("no final newline", "{\n  \"model\": \"m-1\"\n}"),
    ("tabs", "{\n\t\"model\": \"m-1\",\n\t\"list\": [\n\t\t1,\n\t\t2\n\t]\n}\n"),
    ("four blanks", "{\n    \"env\": {\n        \"A\": \"b\"\n    }\n}\n"),
    ("CRLF", "{\r\n  \"model\": \"m-1\",\r\n  \"hooks\": {\r\n  }\r\n}\r\n"),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"m-1\"\n}\n"),
    (
        "comments and commas",
        "/* mine */\n{\n  \"model\": \"m-1\", // why\n  \"list\": [1, 2,], /* so */ // and so\n}\n// end\n",
    ),
    ("a comment behind the last", "{\n  \"model\": \"m-1\" // the best\n}\n"),
    (
        "hooks of others",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ],\n    \"stop\": [],\n    \"Other\": [{ \"command\": \"echo git-chronicle\" }]\n  },\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n  \"mcp\": { \"other\": { \"command\": [\"x\"] } },\n  \"statusLine\": { \"type\": \"command\", \"command\": \"mine\" }\n}\n",
    ),
];

/// The same for TOML.
const TOML_STARTS: [&str; 5] = [
    "",
    "model = \"m-1\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n",
    "model = \"m-1\"",
    "model = \"m-1\"\r\n\r\n[profiles.a]\r\nmodel = \"m-2\"\r\n",
    "[[things]]\nname = \"a\"\n\n\n",
];

fn command(desk: &Desk, directory: &Path, args: &[&str]) -> Command {
    let mut command = desk.command_in(directory, args);
    for name in ["XDG_CONFIG_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME"] {
        command.env_remove(name);
    }
    command.env("PATH", "/usr/bin:/bin");
    command
}

fn ask(desk: &Desk, args: &[&str]) -> Outcome {
    run(&mut command(desk, desk.repo.path(), args))
}

fn set_up(desk: &Desk) -> Outcome {
    ask(desk, &[&["setup"], &AGENTS[..]].concat())
}

fn take_out(desk: &Desk) -> Outcome {
    ask(desk, &["uninstall", "--scope", "user"])
}

/// Everything below a folder: what files hold, where links lead, and who may do what.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it can be listed").map(|entry| entry.expect("it is there"))
        {
            let (path, metadata) = (entry.path(), entry.metadata().expect("it is there"));
            let content = if metadata.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("it is a link").display())
            } else if metadata.is_dir() {
                // Times of git's own files differ, but not what is in the working tree.
                folders.extend((!path.ends_with(".git")).then(|| path.clone()));
                String::new()
            } else {
                String::from_utf8(fs::read(&path).expect("it can be read")).expect("it is text")
            };
            all.insert(path, (metadata.permissions().mode(), content));
        }
    }
    all
}

fn put(desk: &Desk, name: &str, content: &str) -> PathBuf {
    let path = desk.home.join(name);
    fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
    fs::write(&path, content).expect("it can be written");
    path
}

fn read(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.home.join(name)).unwrap_or_default()
}

fn parsed(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&read(desk, name)).expect("it is JSON")
}

#[test]
fn every_file_is_as_before_to_the_byte() {
    for (index, (what, start)) in STARTS.into_iter().enumerate() {
        let desk = Desk::new();
        for name in JSON_FILES {
            put(&desk, name, start);
        }
        put(&desk, ".codex/config.toml", TOML_STARTS[index % TOML_STARTS.len()]);
        let before = everything(&desk.home);

        let shown = ask(&desk, &[&["setup", "--dry-run"], &AGENTS[..]].concat()).success();
        assert!(shown.stdout.contains("+++"), "{what}: {shown:#?}");
        assert_eq!(everything(&desk.home), before, "{what}: a dry run changes nothing");

        set_up(&desk).success();
        let after = everything(&desk.home);
        for name in JSON_FILES {
            assert!(read(&desk, name).contains("git-chronicle"), "{what}: {name}");
        }
        let again = set_up(&desk).success();
        assert_eq!(again.stdout, "", "{what}");
        assert_eq!(everything(&desk.home), after, "{what}: once is enough");

        take_out(&desk).success();
        assert_eq!(everything(&desk.home), before, "{what}");
    }
}

#[test]
fn what_may_run_unasked_is_written_only_when_it_was_asked_for_and_goes_to_the_byte() {
    let own = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(git chronicle read *)\",\n      \"Bash(ls)\"\n    ]\n  }\n}\n";
    let starts = STARTS.into_iter().chain([("rules of the user", own)]);
    for (what, start) in starts {
        let desk = Desk::new();
        put(&desk, ".claude/settings.json", start);
        let before = everything(&desk.home);
        let rules = || -> Vec<String> {
            let text = read(&desk, ".claude/settings.json");
            text.lines()
                .map(str::trim)
                .filter(|line| line.contains("chronicle "))
                .map(str::to_owned)
                .collect()
        };
        let n_before = rules().len();
        set_up(&desk).success();
        assert_eq!(
            rules().iter().filter(|line| line.contains("Bash(")).count(),
            n_before,
            "{what}: nobody agreed"
        );
        ask(&desk, &["setup", "claude", "--permissions"]).success();
        let after = everything(&desk.home);
        for rule in [
            "Bash(git chronicle why *)",
            "Bash(git chronicle annotate *)",
            "mcp__chronicle",
            "Skill(chronicle)",
        ] {
            assert_eq!(
                read(&desk, ".claude/settings.json").matches(&format!("\"{rule}\"")).count(),
                1,
                "{what}: {rule}"
            );
        }
        let read_rule = read(&desk, ".claude/settings.json").matches("Bash(git chronicle read *)").count();
        assert_eq!(read_rule, 1, "{what}");
        // Whoever sets up again keeps them.
        assert_eq!(set_up(&desk).success().stdout, "", "{what}");
        assert_eq!(everything(&desk.home), after, "{what}");
        take_out(&desk).success();
        assert_eq!(everything(&desk.home), before, "{what}");
    }
    // A file that somebody edited since loses our rules and nothing else.
    let desk = Desk::new();
    ask(&desk, &["setup", "claude", "--permissions"]).success();
    let settings = parsed(&desk, ".claude/settings.json");
    let mut edited = settings.clone();
    edited["permissions"]["allow"].as_array_mut().expect("a list").insert(3, json!("Bash(ls)"));
    edited["model"] = json!("m-1");
    put(&desk, ".claude/settings.json", &edited.to_string());
    take_out(&desk).success();
    assert_eq!(
        parsed(&desk, ".claude/settings.json"),
        json!({ "permissions": { "allow": ["Bash(ls)"] }, "model": "m-1" })
    );
}

#[test]
fn each_agent_gets_rules_in_its_own_form_and_gives_them_back() {
    let desk = Desk::new();
    let others = ["codex", "gemini", "copilot", "opencode"];
    put(&desk, ".codex/rules/default.rules", "prefix_rule(pattern = [\"ls\"], decision = \"allow\")\n");
    let before = everything(&desk.home);
    let setup =
        |more: &[&str]| ask(&desk, &[&["setup"], &others[..], &["--backfill", "0"], more].concat()).success();
    let hook = |command: &str| {
        let payload = json!({"hookName": "permissionRequest", "sessionId": "s", "toolName": "bash", "toolInput": {"command": command}});
        let mut hook = desk.command_in(desk.repo.path(), &["hook", "copilot", "permission-request"]);
        crate::outcome::run_with_input(&mut hook, payload.to_string().as_bytes()).success().stdout
    };
    setup(&[]);
    let without = everything(&desk.home);
    let has = |name: &str, words: &str| {
        fs::read_to_string(desk.home.join(name)).is_ok_and(|text| text.contains(words))
    };
    let rules = [
        (".codex/rules/chronicle.rules", "\"why\""),
        (".gemini/policies/chronicle.toml", "\"git chronicle why\""),
        (".copilot/hooks/chronicle.json", "hook copilot permission-request"),
        (".config/opencode/plugins/chronicle.js", "const permitted = [\"about\""),
    ];
    assert_eq!(rules.map(|(name, words)| has(name, words)), [false; 4], "nobody agreed");
    let done = setup(&["--permissions"]);
    assert_eq!(rules.map(|(name, words)| has(name, words)), [true; 4]);
    assert!(done.stdout.contains("Codex: hooks, tools (MCP), 4 skills, permissions\n"), "{}", done.stdout);
    // Not for any program of that name.
    let text = read(&desk, ".codex/rules/chronicle.rules");
    let git = text.split_once("paths = [\"").and_then(|(_, rest)| rest.split_once('"')).map(|(path, _)| path);
    assert!(git.is_some_and(|git| git.starts_with('/') && Path::new(git).is_file()), "{text}");
    // Whoever sets up again keeps them.
    let after = everything(&desk.home);
    assert_eq!(setup(&[]).stdout, "");
    assert_eq!(everything(&desk.home), after);
    assert_eq!(problems(&desk, &[]).iter().filter(|seen| !seen.contains("not trusted")).count(), 0);
    take_out(&desk).success();
    assert_eq!(everything(&desk.home), before);
    setup(&[]);
    assert_eq!(everything(&desk.home).len(), without.len());

    let allow = "{\"behavior\":\"allow\"}\n";
    assert_eq!(hook("git chronicle annotate --summary 'It waits; `x` > $Y'"), allow);
    for other in [
        "git chronicle purge x",
        "git chronicle read x; ls",
        "git chronicle annotate --commit HEAD --agent",
        "ls",
    ] {
        assert_eq!(hook(other), "", "{other}");
    }
    let tool = |name: &str| {
        let payload = json!({"sessionId": "s", "toolName": name, "toolInput": {}});
        let mut hook = desk.command_in(desk.repo.path(), &["hook", "copilot", "permission-request"]);
        crate::outcome::run_with_input(&mut hook, payload.to_string().as_bytes()).success().stdout
    };
    assert_eq!((tool("chronicle/chronicle_note").as_str(), tool("chronicle/rm").as_str()), (allow, ""));
    // A project's files are everybody's: only Claude Code has rules there.
    ask(&desk, &["setup", "codex", "gemini", "--scope", "project", "--permissions"]).success();
    assert!(
        !desk.repo.path().join(".codex/rules").exists()
            && !desk.repo.path().join(".gemini/policies").exists()
    );
}

#[test]
fn nothing_is_left_where_nothing_was() {
    let desk = Desk::new();
    let (home, repo) = (everything(&desk.home), everything(desk.repo.path()));
    set_up(&desk).success();
    ask(&desk, &[&["setup", "--scope", "project", "--agents-md"], &AGENTS[..]].concat()).success();
    assert!(desk.repo.path().join("AGENTS.md").is_file() && desk.repo.path().join(".mcp.json").is_file());
    let mode = |name: &str| fs::metadata(desk.home.join(name)).expect("it is there").permissions().mode();
    assert_eq!(mode(".claude.json") & 0o777, 0o600);
    let told = ask(&desk, &["uninstall"]).success();
    assert!(told.stderr.contains("uninstall --scope user"), "{told:#?}");
    assert_eq!(everything(desk.repo.path()), repo);
    take_out(&desk).success();
    assert_eq!(everything(&desk.home), home);
    assert!(take_out(&desk).success().stderr.contains("nothing is set up"));
    assert_eq!(everything(&desk.home), home, "who changes nothing leaves nothing");
}

#[test]
fn the_server_can_be_registered_alone() {
    let desk = Desk::new();
    put(&desk, ".claude.json", "{\n  // mine\n  \"mcpServers\": {}\n}\n");
    let before = (everything(&desk.home), everything(desk.repo.path()));
    let install = |more: &[&str]| ask(&desk, &[&["mcp", "install"], more].concat());
    assert!(install(&["--dry-run", "claude"]).success().stdout.contains("+++"));
    assert_eq!((everything(&desk.home), everything(desk.repo.path())), before, "a dry run changes nothing");

    install(&AGENTS).success();
    for name in [".claude.json", ".gemini/settings.json", ".copilot/mcp-config.json", ".cursor/mcp.json"] {
        let text = read(&desk, name);
        assert!(text.contains("\"mcp\"") && text.contains("git-chronicle"), "{name}: {text}");
        assert!(!text.contains("hook"), "{name}: {text}");
    }
    assert!(read(&desk, ".codex/config.toml").contains("[mcp_servers.chronicle]"));
    for name in
        [".claude/settings.json", ".codex/hooks.json", ".cursor/hooks.json", ".agents", ".claude/skills"]
    {
        assert!(!desk.home.join(name).exists(), "{name}");
    }
    assert!(install(&["gemini"]).success().stderr.contains("registered already"));
    let skipped = install(&["claude"]).success();
    assert!(!skipped.warns("PROBLEM: Claude Code skips all of").stderr.contains("registered already"));
    // What follows adds the rest, and all of it goes again.
    ask(&desk, &["setup", "claude", "--backfill", "0"]).success();
    take_out(&desk).success();
    assert_eq!(everything(&desk.home), before.0);

    install(&["--scope", "project", "claude", "copilot"]).success();
    assert!(desk.repo.path().join(".mcp.json").is_file());
    install(&["--scope", "project", "copilot"]).refused(2, &["has no servers for one project"]);
    ask(&desk, &["uninstall"]).success();
    assert_eq!(everything(desk.repo.path()), before.1);
}

#[test]
fn a_project_is_set_up_for_everyone() {
    let desk = Desk::new();
    desk.repo.write(".claude/settings.json", "{\n  // ours\n  \"model\": \"m-1\"\n}\n");
    desk.repo.write("AGENTS.md", "# How we work\r\n\r\nWith care.");
    let (home, before) = (everything(&desk.home), everything(desk.repo.path()));
    ask(&desk, &[&["setup", "--scope=project", "--agents-md"], &AGENTS[..]].concat()).success();
    assert_eq!(everything(&desk.home), home, "nothing of the user's own");
    let all = everything(desk.repo.path());
    for (path, (_, content)) in &all {
        let is_own = path.starts_with(desk.repo.path());
        assert!(
            is_own && !content.contains("/git-chronicle"),
            "no place of this machine: {}",
            path.display()
        );
    }
    let skills: Vec<_> = all.keys().filter(|path| path.ends_with("chronicle/SKILL.md")).collect();
    assert_eq!(skills.len(), 2, "{skills:?}");
    let again = ask(&desk, &[&["setup", "--scope=project", "--agents-md"], &AGENTS[..]].concat()).success();
    assert_eq!(again.stdout, "");
    ask(&desk, &["uninstall", "--scope", "project", "--dry-run"]).success();
    assert_eq!(everything(desk.repo.path()), all);
    ask(&desk, &["uninstall"]).success();
    assert_eq!(everything(desk.repo.path()), before);
}

#[test]
fn what_others_write_meanwhile_stays() {
    for (what, start) in STARTS {
        let desk = Desk::new();
        // Whoever writes settings anew understands what is in them.
        let Ok(mut value) = serde_json::from_str::<Value>(start) else { continue };
        let names = [".claude/settings.json", ".claude.json", ".gemini/settings.json", ".cursor/hooks.json"];
        for name in names {
            put(&desk, name, start);
        }
        set_up(&desk).success();
        for name in names {
            let mut now = parsed(&desk, name);
            now["startups"] = json!(7);
            put(&desk, name, &format!("{now:#}\n"));
        }
        assert_eq!(set_up(&desk).success().stdout, "", "{what}: all is there");
        take_out(&desk).success();
        value["startups"] = json!(7);
        for name in names {
            let mut left = parsed(&desk, name);
            // Members without anything in them say nothing; which of them were there is not known for sure.
            for value in [&mut left, &mut value] {
                let members = value.as_object_mut().expect("it is an object");
                members.retain(|name, value| name != "version" && *value != json!({}));
                if let Some(hooks) = members.get_mut("hooks").and_then(Value::as_object_mut) {
                    hooks.retain(|_, list| *list != json!([]));
                }
            }
            assert_eq!(left, value, "{what}: {name}");
        }
    }
}

#[test]
fn lines_that_others_add_stay_to_the_byte() {
    let desk = Desk::new();
    put(&desk, ".codex/config.toml", "model = \"m-1\" # mine\n");
    put(&desk, ".claude/settings.json", "{\n  \"model\": \"m-1\", // mine\n  \"a\": 1,\n}\n");
    set_up(&desk).success();
    let config = read(&desk, ".codex/config.toml");
    put(
        &desk,
        ".codex/config.toml",
        &format!("# first\n{config}\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"),
    );
    let settings = read(&desk, ".claude/settings.json");
    put(&desk, ".claude/settings.json", &settings.replacen("m-1", "a longer one", 1));
    take_out(&desk).success();
    assert_eq!(
        read(&desk, ".codex/config.toml"),
        "# first\nmodel = \"m-1\" # mine\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
    );
    assert_eq!(
        read(&desk, ".claude/settings.json"),
        "{\n  \"model\": \"a longer one\", // mine\n  \"a\": 1,\n}\n"
    );
}

#[test]
fn without_a_record_our_entries_are_known_by_what_they_run() {
    let desk = Desk::new();
    put(&desk, ".claude/settings.json", STARTS[13].1);
    let before = parsed(&desk, ".claude/settings.json");
    set_up(&desk).success();
    fs::remove_dir_all(desk.memory()).expect("it was written");
    assert_eq!(set_up(&desk).success().stdout, "");
    take_out(&desk).success();
    assert_eq!(parsed(&desk, ".claude/settings.json"), before);
    assert!(!read(&desk, ".codex/config.toml").contains("chronicle"));
    assert!(!desk.home.join(".agents/skills/chronicle/SKILL.md").exists());
}

#[test]
fn settings_that_their_agent_skips_are_reported() {
    let desk = Desk::new();
    let place = desk.home.join(".claude/settings.json");
    for (start, line) in [("{\n  // mine\n  \"model\": \"opus\"\n}\n", 2), ("{\"model\": \"opus\",}", 1)] {
        put(&desk, ".claude/settings.json", start);
        let fault = format!(
            "Claude Code skips all of `{}`: line {line} holds a comment or a comma too many, which it does not take",
            place.display()
        );
        let done = ask(&desk, &["setup", "claude", "--backfill", "0"]).success();
        done.warns(&format!("PROBLEM: {fault}"));
        let found = problems(&desk, &[]);
        assert!(found.iter().any(|seen| seen.contains(&fault)), "{found:?}");
        take_out(&desk).success();
        assert_eq!(read(&desk, ".claude/settings.json"), start);
    }
    // These take them.
    put(&desk, ".gemini/settings.json", "{\n  // mine\n}\n");
    put(&desk, ".config/opencode/opencode.json", "{\n  // mine\n}\n");
    put(&desk, ".claude/settings.json", "{}\n");
    let done = ask(&desk, &["setup", "claude", "gemini", "opencode", "--backfill", "0"]).success();
    assert!(!done.stderr.contains("PROBLEM"), "{}", done.stderr);
}

#[test]
fn a_binary_that_moved_is_called_where_it_is_now() {
    let desk = Desk::new();
    let start = STARTS[11].1;
    put(&desk, ".claude/settings.json", start);
    set_up(&desk).success();
    let program = crate::outcome::program();
    for name in [".claude/settings.json", ".codex/config.toml", ".copilot/hooks/chronicle.json"] {
        let old = read(&desk, name).replace(program, "/gone/git-chronicle");
        assert!(old.contains("/gone/git-chronicle"), "{name}: {old}");
        put(&desk, name, &old);
    }
    // An edited file of ours is somebody's work.
    let told = set_up(&desk);
    assert_eq!(told.code, Some(1));
    let what = told.warns("chronicle.json` was left alone").stdout.clone();
    assert!(what.contains("Claude Code: hooks, tools (MCP), 4 skills\n"), "{what}");
    assert!(!read(&desk, ".claude/settings.json").contains("/gone/"));
    assert!(!read(&desk, ".codex/config.toml").contains("/gone/"));
    take_out(&desk);
    assert_eq!(read(&desk, ".claude/settings.json"), start);
    assert!(!desk.home.join(".codex").exists());
}

#[test]
fn broken_files_are_left_alone_and_the_others_are_done() {
    let desk = Desk::new();
    let broken = [
        (".claude/settings.json", "{ \"hooks\": "),
        (".claude.json", "[1, 2]"),
        (".codex/config.toml", "model = \n"),
        (".codex/hooks.json", "{\"hooks\": {\"Stop\": {}}}"),
        (".gemini/settings.json", "{\"hooks\": 1}"),
        (".cursor/mcp.json", "{\"mcpServers\": {\"chronicle\": {\"command\": \"something else\"}}}"),
    ];
    for (name, content) in broken {
        put(&desk, name, content);
    }
    let latin = put(&desk, ".copilot/mcp-config.json", "");
    fs::write(&latin, b"{\"a\": \"\xff\"}").expect("it can be written");
    let told = set_up(&desk);
    assert_eq!(told.code, Some(1), "{told:#?}");
    let mut told = told;
    for (name, content) in broken {
        assert_eq!(read(&desk, name), content);
        told = told.warns(&format!("{name}` was left alone"));
    }
    told.warns("it is not UTF-8").warns("`mcpServers.chronicle` belongs to another program");
    assert!(read(&desk, ".cursor/hooks.json").contains("git-chronicle"));
    let answer = run(&mut command(&desk, desk.repo.path(), &["setup", "claude", "--format", "json"]));
    assert_eq!((answer.code, answer.json()["schema"].as_str()), (Some(1), Some("chronicle-setup/v1")));
    // They were never ours to clean up.
    take_out(&desk).success();
    for (name, content) in broken {
        assert_eq!(read(&desk, name), content);
    }
    assert!(!desk.home.join(".cursor/hooks.json").exists());
}

#[test]
fn links_stay_links() {
    let desk = Desk::new();
    let real = put(&desk, "dotfiles/settings.json", "{}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("it is ours");
    fs::create_dir(desk.home.join(".claude")).expect("there is none");
    symlink("../dotfiles/settings.json", desk.home.join(".claude/settings.json")).expect("there is none");
    symlink("nowhere", desk.home.join(".claude.json")).expect("there is none");
    let before = everything(&desk.home);
    let told = ask(&desk, &["setup", "claude"]);
    assert_eq!(told.code, Some(1));
    told.warns("it is a link to nothing");
    assert!(read(&desk, "dotfiles/settings.json").contains("git-chronicle"));
    let mode = fs::metadata(&real).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    ask(&desk, &["uninstall", "claude"]);
    assert_eq!(everything(&desk.home), before);
}

#[test]
fn what_is_shown_holds_no_keys() {
    let desk = Desk::new();
    let key = ["ghp_", "9f8e7d6c5b4a", "39281706f5e4d3c2b1a09z"].concat();
    put(&desk, ".claude/settings.json", &format!("{{\n  \"env\": {{ \"TOKEN\": \"{key}\" }}\n}}\n"));
    let shown = ask(&desk, &["setup", "claude", "--dry-run"]).success();
    assert!(shown.stdout.contains("TOKEN") && !shown.stdout.contains(&key), "{shown:#?}");
    ask(&desk, &["setup", "claude"]).success();
    assert!(!fs::read_to_string(desk.memory().join("setup.json")).expect("it is kept").contains(&key));
}

#[test]
fn a_read_only_file_is_not_written() {
    let desk = Desk::new();
    let path = put(&desk, ".claude/settings.json", "{}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("it is ours");
    let told = ask(&desk, &["setup", "claude"]);
    assert_eq!(told.code, Some(1));
    told.warns("settings.json` was left alone: it is read-only");
    assert_eq!(read(&desk, ".claude/settings.json"), "{}\n");
}

#[test]
fn what_two_agents_share_stays_until_both_are_gone() {
    let desk = Desk::new();
    let before = everything(&desk.home);
    ask(&desk, &["setup", "codex", "gemini"]).success();
    let skill = desk.home.join(".agents/skills/chronicle-context/SKILL.md");
    ask(&desk, &["uninstall", "codex"]).success();
    assert!(skill.is_file() && !desk.home.join(".codex").exists());
    ask(&desk, &["uninstall", "gemini"]).success();
    assert_eq!(everything(&desk.home), before);
}

#[test]
fn a_process_that_dies_in_the_middle_does_no_harm() {
    for milliseconds in 0..10 {
        let desk = Desk::new();
        for name in JSON_FILES {
            put(&desk, name, STARTS[11].1);
        }
        let before = everything(&desk.home);
        let dies = |args: &[&str]| {
            let mut command = command(&desk, desk.repo.path(), args);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
            std::thread::sleep(Duration::from_micros(3000 * milliseconds));
            child.kill().expect("it is ours");
            child.wait().expect("it was started");
        };
        dies(&[&["setup"], &AGENTS[..]].concat());
        dies(&["uninstall", "--scope", "user"]);
        dies(&[&["setup"], &AGENTS[..]].concat());
        set_up(&desk).success();
        for name in JSON_FILES {
            assert!(read(&desk, name).contains("git-chronicle"), "{milliseconds}: {name}");
        }
        take_out(&desk).success();
        let after = everything(&desk.home);
        let left = |path: &&PathBuf| !before.contains_key(*path);
        let left: Vec<_> = after.keys().filter(left).collect();
        assert_eq!(left, Vec::<&PathBuf>::new(), "{milliseconds}");
        assert_eq!(after, before, "{milliseconds}");
    }
}

#[test]
fn two_at_once_do_not_hinder_each_other() {
    let desk = Desk::new();
    put(&desk, ".claude/settings.json", STARTS[13].1);
    let before = everything(&desk.home);
    let start = || {
        let mut command = command(&desk, desk.repo.path(), &[&["setup"], &AGENTS[..]].concat());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for child in children {
        let output = child.wait_with_output().expect("it was started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let hooks = &parsed(&desk, ".claude/settings.json")["hooks"];
    assert_eq!(hooks["Stop"].as_array().map(Vec::len), Some(2), "{hooks:#}");
    take_out(&desk).success();
    assert_eq!(everything(&desk.home), before);
}

#[test]
fn folders_lie_where_the_environment_says() {
    let desk = Desk::new();
    let place = |name: &str| desk.home.join("moved").join(name);
    let mut moved = command(&desk, desk.repo.path(), &[&["setup"], &AGENTS[..]].concat());
    moved
        .env("CLAUDE_CONFIG_DIR", place("claude"))
        .env("CODEX_HOME", place("codex"))
        .env("GEMINI_CLI_HOME", place("gemini"))
        .env("COPILOT_HOME", place("copilot"))
        .env("XDG_CONFIG_HOME", place("config"));
    run(&mut moved).success();
    let files = [
        "claude/settings.json",
        "claude/.claude.json",
        "claude/skills/chronicle/SKILL.md",
        "codex/hooks.json",
        "codex/config.toml",
        "gemini/.gemini/settings.json",
        "copilot/hooks/chronicle.json",
        "config/opencode/opencode.json",
        "config/opencode/plugins/chronicle.js",
    ];
    for file in files {
        assert!(place(file).is_file(), "{file}");
    }
    assert!(!desk.home.join(".claude").exists() && !desk.home.join(".claude.json").exists());
}

#[test]
fn agents_that_are_here_are_found() {
    let desk = Desk::new();
    assert!(ask(&desk, &["setup"]).success().stderr.contains("no agent was found"));
    fs::create_dir(desk.home.join(".gemini")).expect("there is none");
    let bin = desk.home.join("bin");
    fs::create_dir(&bin).expect("there is none");
    fs::write(bin.join("opencode"), "").expect("it can be written");
    let mut found = command(&desk, desk.repo.path(), &["setup", "--dry-run", "--format=json"]);
    let answer = run(found.env("PATH", &bin)).success().json();
    let changes = answer["changes"].as_array().expect("a list").iter();
    let paths: Vec<_> = changes.map(|change| change["path"].as_str().expect("a path").to_owned()).collect();
    assert!(paths.iter().any(|path| path.ends_with(".gemini/settings.json")), "{paths:?}");
    assert!(paths.iter().any(|path| path.ends_with("opencode/opencode.json")), "{paths:?}");
    assert!(!paths.iter().any(|path| path.contains(".claude") || path.contains(".codex")), "{paths:?}");
}

#[test]
fn outside_of_a_repository_only_the_user_is_set_up() {
    let desk = Desk::new();
    let outside = desk.repo.beside("outside");
    fs::create_dir(&outside).expect("there is none");
    let before = everything(&desk.home);
    let ask = |args: &[&str]| run(&mut command(&desk, &outside, args));
    ask(&["setup", "codex"]).success();
    ask(&["setup", "codex", "--scope=project"]).refused(1, &["repository"]);
    ask(&["uninstall"]).refused(1, &["repository"]);
    ask(&["uninstall", "--scope=user"]).success();
    assert_eq!(everything(&desk.home), before);
    ask(&["setup", "emacs"]).code.filter(|code| *code == 2).expect("it is no agent");
    ask(&["setup", "codex", "--agents-md"]).refused(2, &["--scope project"]);
}

/// What each agent wants of a hook, as its makers document it.
#[test]
fn hooks_have_the_shape_that_each_agent_knows() {
    let desk = Desk::new();
    set_up(&desk).success();
    let program = crate::outcome::program();
    let groups = |name: &str| parsed(&desk, name)["hooks"].as_object().expect("an object").clone();
    let only = |list: &Value| match list.as_array().map(Vec::as_slice) {
        Some([one]) => one.clone(),
        _ => panic!("not one: {list:#}"),
    };
    for (event, list) in groups(".claude/settings.json") {
        let group = only(&list);
        let hook = only(&group["hooks"]);
        assert_eq!((&hook["type"], &hook["command"]), (&json!("command"), &json!(program)));
        assert_eq!((&hook["args"][0], &hook["args"][1]), (&json!("hook"), &json!("claude")));
        assert!(hook["timeout"].as_u64().is_some_and(|seconds| 2 < seconds && seconds <= 10), "{event}");
        assert_eq!(group["matcher"].is_string(), ["PreToolUse", "PostToolUse"].contains(&event.as_str()));
        assert_eq!(hook["if"], Value::Null, "a command may read files, whatever it begins with");
    }
    assert_eq!(groups(".claude/settings.json").len(), 8);
    for (event, list) in groups(".codex/hooks.json") {
        let hook = only(&only(&list)["hooks"]);
        let line = hook["command"].as_str().expect("a line for a shell");
        assert!(line.starts_with(&format!("{program} hook codex ")), "{line}");
        assert!(event != "SessionEnd" || hook["timeout"] == json!(3));
        let known = ["type", "command", "timeout", "statusMessage", "async", "commandWindows"];
        assert!(hook.as_object().expect("an object").keys().all(|key| known.contains(&key.as_str())));
    }
    for (event, list) in groups(".gemini/settings.json") {
        let known = ["SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "AfterTool"];
        assert!(known.contains(&event.as_str()), "{event}");
        let hook = only(&only(&list)["hooks"]);
        assert!(hook["timeout"].as_u64().is_some_and(|milliseconds| 1000 <= milliseconds), "{event}");
    }
    let copilot = parsed(&desk, ".copilot/hooks/chronicle.json");
    assert_eq!(copilot["version"], json!(1));
    for (event, list) in copilot["hooks"].as_object().expect("an object") {
        let hook = only(list);
        assert!(hook["bash"].is_string() && hook["timeoutSec"].is_u64(), "{event}");
    }
    let cursor = parsed(&desk, ".cursor/hooks.json");
    assert_eq!(cursor["version"], json!(1));
    for (event, list) in cursor["hooks"].as_object().expect("an object") {
        assert!(only(list)["command"].is_string(), "{event}");
    }
    let opencode = &parsed(&desk, ".config/opencode/opencode.json")["mcp"]["chronicle"];
    assert_eq!(*opencode, json!({"type": "local", "command": [program, "mcp"], "enabled": true}));
    let copilot = &parsed(&desk, ".copilot/mcp-config.json")["mcpServers"]["chronicle"];
    assert_eq!(*copilot, json!({"type": "local", "command": program, "args": ["mcp"], "tools": ["*"]}));
    let plugin = read(&desk, ".config/opencode/plugins/chronicle.js");
    assert!(plugin.contains(&format!("const program = \"{program}\";")), "{plugin}");
}

#[test]
fn earlier_sessions_are_taken_in_when_that_is_asked_for() {
    let desk = Desk::new();
    desk.leave(&desk.talk("s1").prompt("Where does the pool wait?").said("In acquire."));
    let told = ask(&desk, &["setup", "claude", "--backfill", "0"]).success();
    assert!(!told.stderr.contains("session"), "{told:#?}");
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().map(Vec::len), Some(0));
    ask(&desk, &["setup", "claude", "--backfill", "7"]).success();
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().map(Vec::len), Some(1));
    // What was remembered stays.
    ask(&desk, &["uninstall", "claude"]).success();
    assert_eq!(desk.ask(&["session", "list"])["sessions"].as_array().map(Vec::len), Some(1));
}

/// What `doctor` finds about agents.
fn found(desk: &Desk, args: &[&str]) -> Vec<Value> {
    let mut doctor = command(desk, desk.repo.path(), &[&["doctor", "--format=json"], args].concat());
    let program = Path::new(crate::outcome::program()).parent().expect("it lies in a folder");
    let answer = run(doctor.env("PATH", format!("{}:/usr/bin:/bin", program.display()))).json();
    let findings = answer["findings"].as_array().expect("a list").iter();
    findings.filter(|finding| finding["check"] == "agents").cloned().collect()
}

fn problems(desk: &Desk, args: &[&str]) -> Vec<String> {
    let problems = found(desk, args).into_iter().filter(|finding| finding["health"] == "problem");
    problems.map(|finding| finding["seen"].as_str().expect("it says what").to_owned()).collect()
}

#[test]
fn a_hook_that_works_is_seen_to_work() {
    let desk = Desk::new();
    assert_eq!(found(&desk, &[]), Vec::<Value>::new());
    fs::create_dir(desk.home.join(".cursor")).expect("there is none");
    assert!(found(&desk, &[])[0]["mend"].as_str().is_some_and(|mend| mend.contains("setup")));
    ask(&desk, &["setup", "claude", "gemini", "copilot", "opencode", "cursor"]).success();
    ask(&desk, &["setup", "claude", "--scope", "project"]).success();
    let before = everything(&desk.home);
    let findings = found(&desk, &[]);
    assert_eq!(findings.len(), 6, "{findings:#?}");
    for finding in findings {
        assert_eq!(finding["health"], "ok", "{finding:#}");
        assert!(finding["seen"].as_str().is_some_and(|seen| seen.contains("the hook works")), "{finding:#}");
    }
    assert_eq!(everything(&desk.home), before, "nothing is left of the trial");
}

#[test]
fn another_program_of_our_name_is_warned_of() {
    let desk = Desk::new();
    let folder = desk.home.join("older");
    fs::create_dir(&folder).expect("there is none");
    fs::write(folder.join("git-chronicle"), b"\x7fELF of another program").expect("it can be written");
    let own = Path::new(crate::outcome::program()).parent().expect("it is in a folder");
    let found = |path: String| {
        let mut doctor = command(&desk, desk.repo.path(), &["doctor", "--format=json"]);
        let answer = run(doctor.env("PATH", path)).json();
        let findings = answer["findings"].as_array().expect("a list").clone();
        findings.into_iter().filter(|finding| finding["check"] == "program").collect::<Vec<Value>>()
    };
    let (older, own) = (folder.display(), own.display());
    assert_eq!(found(format!("{own}:{older}:/usr/bin:/bin")), Vec::<Value>::new());
    let warned = found(format!("{older}:{own}:/usr/bin:/bin"));
    assert_eq!((warned.len(), &warned[0]["health"]), (1, &"note".into()), "{warned:#?}");
    let seen = warned[0]["seen"].as_str().expect("it says what");
    assert!(seen.contains(&format!("git and agents run `{older}/git-chronicle` instead")), "{seen}");
}

#[test]
fn a_hook_that_does_not_work_is_told_of() {
    let desk = Desk::new();
    ask(&desk, &["setup", "claude"]).success();
    let settings = read(&desk, ".claude/settings.json");
    let program = crate::outcome::program();

    put(&desk, ".claude/settings.json", &settings.replace(program, "/gone/git-chronicle"));
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("`/gone/git-chronicle` is not there")), "{seen:#?}");
    let mended = found(&desk, &["--fix"]);
    assert!(mended.iter().any(|finding| finding["health"] == "mended"), "{mended:#?}");
    assert_eq!(problems(&desk, &[]), Vec::<String>::new());

    let fake = put(&desk, "bin/git-chronicle", "#!/bin/sh\nexit 0\n");
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let faked = settings.replace(program, fake.to_str().expect("it is text"));
    put(&desk, ".claude/settings.json", &faked);
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("was NOT tried: `")), "{seen:#?}");
    // Had an earlier setup written it, it would be tried.
    let record = fs::read_to_string(desk.memory().join("setup.json")).expect("there is a record");
    let faked_record = record.replace(program, fake.to_str().expect("it is text"));
    fs::write(desk.memory().join("setup.json"), faked_record).expect("it can be written");
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("leaves no word of a session")), "{seen:#?}");
    fs::write(desk.memory().join("setup.json"), record).expect("it can be written");

    put(&desk, ".claude/settings.json", &settings.replacen('{', "{ \"disableAllHooks\": true,", 1));
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("disableAllHooks")), "{seen:#?}");

    put(&desk, ".claude/settings.json", &settings.replace("PreCompact", "PreCompactOld"));
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("missing, or not as it should be")), "{seen:#?}");
}

#[test]
fn hooks_that_codex_does_not_trust_are_told_of_loudly() {
    let desk = Desk::new();
    // Somebody else's hook that is trusted stays so.
    let others = "model = \"m\"\n\n[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"y\"\n";
    put(&desk, ".codex/config.toml", others);
    let before = everything(&desk.home);
    ask(&desk, &["setup", "codex"]).success();
    let seen = problems(&desk, &[]);
    assert!(
        seen.iter().any(|seen| seen.contains("SKIPS our hooks") && seen.contains("SessionStart")),
        "{seen:#?}"
    );
    let events = parsed(&desk, ".codex/hooks.json")["hooks"].as_object().expect("an object").clone();
    let mut config = read(&desk, ".codex/config.toml");
    let file = desk.home.join(".codex/hooks.json");
    for event in events.keys() {
        let snake: String = event
            .char_indices()
            .map(|(at, letter)| match letter.is_uppercase() && 0 < at {
                true => format!("_{}", letter.to_lowercase()),
                false => letter.to_lowercase().to_string(),
            })
            .collect();
        config += &format!("\n[hooks.state.\"{}:{snake}:0:0\"]\ntrusted_hash = \"x\"\n", file.display());
    }
    put(&desk, ".codex/config.toml", &config);
    assert_eq!(problems(&desk, &[]), Vec::<String>::new());
    // Who takes us out takes Codex's trust in us along.
    take_out(&desk).success();
    assert_eq!(everything(&desk.home), before);
}

#[test]
fn a_check_runs_no_command_of_a_repository() {
    let desk = Desk::new();
    let mark = desk.repo.beside("ran");
    let fake = desk.repo.path().join("bin/git-chronicle");
    desk.repo.write("bin/git-chronicle", format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let touch = format!("touch '{}'", mark.display());
    type Settings = fn(&str) -> Value;
    let files: [(&str, &str, Settings); 4] = [
        (
            ".claude/settings.json",
            "claude",
            |line| json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}),
        ),
        (
            ".codex/hooks.json",
            "codex",
            |line| json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}),
        ),
        (
            ".gemini/settings.json",
            "gemini",
            |line| json!({"hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": line}]}]}}),
        ),
        (
            ".cursor/hooks.json",
            "cursor",
            |line| json!({"version": 1, "hooks": {"stop": [{"command": line}]}}),
        ),
    ];
    for (path, agent, settings) in files {
        let lines = [
            format!("{touch}; git-chronicle hook {agent} stop"),
            format!("git-chronicle hook {agent} stop; {touch}"),
            format!("{} hook {agent} stop", fake.display()),
            format!("bin/git-chronicle hook {agent} stop"),
        ];
        for line in lines {
            desk.repo.write(path, settings(&line).to_string());
            let seen = problems(&desk, &[]);
            assert!(seen.iter().any(|seen| seen.contains("NOT")), "{line}: {seen:#?}");
            assert!(!mark.exists(), "it ran: {line}");
        }
        fs::remove_file(desk.repo.path().join(path)).expect("it is there");
    }
    desk.repo.write(
        ".opencode/plugins/chronicle.js",
        format!("// git chronicle setup\nconst program = \"{}\";\n", fake.display()),
    );
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("NOT tried")), "{seen:#?}");
    desk.repo.write(".github/hooks/chronicle.json", json!({"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": format!("{touch}; git-chronicle hook copilot stop")}]}}).to_string());
    let seen = problems(&desk, &[]);
    assert!(seen.iter().any(|seen| seen.contains("Copilot") && seen.contains("NOT tried")), "{seen:#?}");
    assert!(!mark.exists());
}

#[test]
fn the_record_of_a_project_is_written_through_no_link() {
    for link in ["setup.json", ""] {
        let desk = Desk::new();
        let target = match link {
            "" => desk.home.clone(),
            _ => put(&desk, ".bashrc", "alias ll='ls -l'\n"),
        };
        let before = everything(&desk.home);
        let own = desk.repo.path().join(".git/chronicle");
        fs::rename(&own, desk.repo.beside("own")).expect("it is there");
        if !link.is_empty() {
            fs::create_dir(&own).expect("there is none");
        }
        let place = if link.is_empty() { own } else { own.join(link) };
        symlink(&target, place).expect("there is none");
        for args in [
            &["setup", "claude", "--scope", "project"][..],
            &["mcp", "install", "claude", "--scope", "project"],
        ] {
            ask(&desk, args).refused(1, &["cannot write", "chronicle"]);
        }
        assert_eq!(everything(&desk.home), before, "{link}");
    }
}

#[test]
fn a_project_is_not_set_up_through_its_links() {
    let desk = Desk::new();
    let outside = desk.home.join("outside");
    fs::create_dir(&outside).expect("there is none");
    let profile = put(&desk, ".bashrc", "alias ll='ls -l'\n");
    put(&desk, "outside/settings.json", "{}\n");
    let top = desk.repo.path();
    symlink(&profile, top.join("AGENTS.md")).expect("there is none");
    symlink(&outside, top.join(".claude")).expect("there is none");
    symlink(top.join(".git/config"), top.join(".mcp.json")).expect("there is none");
    symlink(desk.home.join("new"), top.join(".agents")).expect("there is none");
    desk.repo.commit("links");
    let before = everything(&desk.home);
    let config = fs::read_to_string(top.join(".git/config")).expect("it is there");
    for dry_run in [true, false] {
        let mut args = vec!["setup", "claude", "gemini", "--scope", "project", "--agents-md"];
        args.extend(dry_run.then_some("--dry-run"));
        let told = ask(&desk, &args).failed(1);
        for link in ["AGENTS.md", ".claude", ".mcp.json", ".agents"] {
            assert!(told.stderr.contains(&format!("{link}` is a symbolic link")), "{told:#?}");
        }
    }
    assert_eq!(everything(&desk.home), before);
    assert_eq!(fs::read_to_string(top.join(".git/config")).expect("it is there"), config);
    assert!(top.join(".gemini/settings.json").is_file(), "the others are set up");
    ask(&desk, &["uninstall", "--scope", "project"]);
    ask(&desk, &["setup", "claude", "--scope", "project", "--format=json"]).failed(1);
    assert_eq!(everything(&desk.home), before);
}
