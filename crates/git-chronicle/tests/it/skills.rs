//! What skills tell agents to run does run, as it is printed.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::{
    desk::Desk,
    outcome::{Outcome, run},
};

const SKILLS: [&str; 4] = ["chronicle", "chronicle-annotate", "chronicle-context", "chronicle-resume"];

const POOL: &str = "struct Pool {
    free: Vec<u32>,
}

impl Pool {
    fn acquire(&mut self) -> Option<u32> {
        self.free.pop()
    }
}
";

/// What is to be typed in: the lines of every block for a shell, and those after a `$` in the others; here-documents and
/// lines that go on in the next in one piece.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let (mut block, mut ends_with, mut goes_on): (Option<&str>, Option<String>, bool) = (None, None, false);
    for line in text.lines() {
        if goes_on || ends_with.is_some() {
            let command = commands.last_mut().expect("a line goes on from one before");
            command.push('\n');
            command.push_str(line);
            goes_on = ends_with.is_none() && line.ends_with('\\');
            ends_with = ends_with.filter(|end| end != line);
        } else if let Some(kind) = line.strip_prefix("```") {
            block = block.is_none().then_some(kind);
        } else if let Some(command) = match block {
            Some("sh") => Some(line),
            Some("console") => line.strip_prefix("$ "),
            _ => None,
        } {
            commands.push(command.to_owned());
            ends_with = line.split_once("<<'").and_then(|(_, end)| end.strip_suffix('\'')).map(str::to_owned);
            goes_on = line.ends_with('\\');
        }
    }
    commands
}

/// The first block of JSON.
pub(crate) fn json_block(text: &str) -> Option<&str> {
    Some(text.split_once("```json\n")?.1.split_once("```")?.0)
}

pub(crate) fn typed(desk: &Desk, directory: &Path, command: &str) -> Outcome {
    let chronicle = desk.command_in(directory, &[]);
    let mut shell = testkit::command("sh", directory);
    for (name, value) in chronicle.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let bin = Path::new(crate::outcome::program()).parent().expect("it lies in a folder");
    shell.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    run(shell.args(["-c", command]))
}

/// What the thread is called that skills take for an example.
const THREAD: &str = "t-6ugi";

/// A machine on which something is remembered, and something is open.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.repo.write("src/pool.rs", POOL);
    desk.repo.commit("pool: hand out ids");
    let talk =
        desk.talk("s1").prompt("Why are ids of the pool handed out oldest first?").said("It failed last.");
    desk.leave(&talk);
    desk.ingest();
    desk.run(&["thread", "add", "Test how the pool waits"]).success();
    let pending = desk.ask(&["pending"]);
    assert!(pending["items"][0]["id"].as_str().is_some_and(|id| id.starts_with(THREAD)), "{pending:#}");
    desk
}

#[test]
fn every_command_runs_as_it_is_printed() {
    let mut n_commands = 0;
    for skill in SKILLS {
        let desk = desk();
        desk.run(&["setup", "claude"]).success();
        let path = desk.home.join(".claude/skills").join(skill).join("SKILL.md");
        let text = fs::read_to_string(path).expect("the skill is there");
        if skill != "chronicle-annotate" {
            let lesson = json!({"summary": "The oldest first", "wisdom": [
                { "category": "gotcha", "content": "Ids may be stale.", "file": "src/pool.rs" }]});
            desk.run(&["annotate", "--json", &lesson.to_string()]).success();
        }
        if let Some(json) = json_block(&text) {
            desk.repo.write("why.json", json);
        }
        for command in commands(&text) {
            if command.starts_with("git chronicle commit") {
                desk.repo.write("src/pool.rs", format!("// Oldest first.\n{POOL}"));
            }
            assert!(!command.contains("<<"), "shells of agents refuse it: {command}");
            let outcome = typed(&desk, desk.repo.path(), &command).success();
            assert!(!outcome.stderr.contains("error"), "{skill}: {command}: {outcome:#?}");
            n_commands += 1;
        }
    }
    assert!(20 <= n_commands, "{n_commands}");
}

#[test]
fn every_command_of_the_table_is_one() {
    let desk = Desk::new();
    desk.run(&["setup", "claude", "--scope", "project", "--agents-md"]).success();
    let skill =
        fs::read_to_string(desk.repo.path().join(".claude/skills/chronicle/SKILL.md")).expect("it is there");
    let block = fs::read_to_string(desk.repo.path().join("AGENTS.md")).expect("it is there");
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut n_known = 0;
    for command in [quoted(&skill), quoted(&block)].concat() {
        let Some(rest) = command.strip_prefix("git chronicle ") else { continue };
        let name = rest.split(' ').next().expect("there is a word");
        let outcome = run(&mut desk.command_in(desk.repo.path(), &[name, "--help"]));
        assert_eq!(outcome.code, Some(0), "{command}");
        n_known += 1;
    }
    assert!(10 <= n_known, "{n_known}");
    assert!(block.lines().count() <= 10, "{block}");
}

#[test]
fn the_plugin_is_written_whole() {
    let desk = Desk::new();
    let folder = desk.home.join("market");
    let at = folder.to_str().expect("it is text");
    desk.run(&["setup", "codex", "--plugin", at]).refused(2, &["--plugin is for claude"]);
    desk.run(&["setup", "claude", "--plugin", at, "--dry-run"]).success();
    assert!(!folder.exists());
    desk.run(&["setup", "claude", "--plugin", at]).success();
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(folder.join(name)).expect("it is there");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let source = read(".claude-plugin/marketplace.json")["plugins"][0]["source"].clone();
    assert!(folder.join(source.as_str().expect("a folder")).join(".claude-plugin/plugin.json").is_file());
    let hooks = read("chronicle/hooks/hooks.json")["hooks"].clone();
    assert_eq!(hooks.as_object().map(serde_json::Map::len), Some(8));
    assert_eq!(read("chronicle/.mcp.json")["mcpServers"]["chronicle"]["args"], json!(["mcp"]));
    assert_eq!(desk.run(&["setup", "claude", "--plugin", at]).success().stdout, "");
    fs::write(folder.join("chronicle/README.md"), "mine\n").expect("it can be written");
    desk.run(&["setup", "claude", "--plugin", at]).warns("it is not ours");
}

/// The validator of Claude Code, where it is installed: nobody of ours wrote it.
#[test]
fn the_plugin_is_what_claude_takes_for_one() {
    #[expect(clippy::disallowed_methods, reason = "whoever has it installed says where")]
    let Some(claude) = std::env::var_os("CHRONICLE_CLAUDE") else {
        return crate::outcome::skip("CHRONICLE_CLAUDE names no Claude Code");
    };
    let desk = Desk::new();
    let folder = desk.home.join("market");
    desk.run(&["setup", "claude", "--plugin", folder.to_str().expect("it is text")]).success();
    for path in [folder.clone(), folder.join("chronicle")] {
        let mut validate: Command = testkit::command(&claude, desk.repo.path());
        let output =
            validate.env("HOME", &desk.home).args(["plugin", "validate", "--strict"]).arg(&path).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
