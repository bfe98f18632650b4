//! What each agent is to find, and in which file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{
    Ground,
    agent::{Scope, either},
    json::{Entry, EntryKind},
    ours::{PROGRAM, SERVER_NAME, quoted},
    permissions,
    skills::{self, SKILLS},
    toml::Server,
};
use crate::hooks::Host;

/// One file, and what is to be in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) part: Part,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// Entries among those of others.
    Json(Vec<Entry>),
    /// A server among those of others.
    Toml(Server),
    /// The whole file.
    Whole(String),
    /// Lines between marks.
    Block(String),
}

/// What a piece is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Only hooks.
    Hooks,
    /// The server, and hooks where one file holds both.
    Server,
    /// Shared by several agents.
    Shared,
    /// What the agent may run unasked, in a file of its own.
    Permissions,
}

/// An event of an agent: its own name, ours, the tools that it is about, and how long we may take.
type Event = (&'static str, &'static str, Option<&'static str>, u32);

const CLAUDE: [Event; 8] = [
    ("SessionStart", "session-start", None, 10),
    ("UserPromptSubmit", "user-prompt-submit", None, 5),
    ("PreToolUse", "pre-tool-use", Some("Edit|MultiEdit|Write|NotebookEdit"), 5),
    ("PostToolUse", "post-tool-use", Some("Bash|Read|Grep"), 10),
    ("Stop", "stop", None, 10),
    ("SubagentStop", "subagent-stop", None, 10),
    ("PreCompact", "pre-compact", None, 10),
    // Without a time of its own it is stopped after one and a half seconds.
    ("SessionEnd", "session-end", None, 8),
];

const CODEX: [Event; 8] = [
    ("SessionStart", "session-start", None, 10),
    ("UserPromptSubmit", "user-prompt-submit", None, 5),
    ("PreToolUse", "pre-tool-use", Some("apply_patch|Edit|Write"), 5),
    ("PostToolUse", "post-tool-use", Some("Bash"), 10),
    ("Stop", "stop", None, 10),
    ("SubagentStop", "subagent-stop", None, 10),
    ("PreCompact", "pre-compact", None, 10),
    ("SessionEnd", "session-end", None, 3),
];

/// What is said before a tool is used does not reach the model here, nor in those below. Before it compresses,
/// Gemini CLI asks at every call of the model, whether it compresses or not.
const GEMINI: [Event; 5] = [
    ("SessionStart", "session-start", None, 10),
    ("BeforeAgent", "user-prompt-submit", None, 5),
    (
        "AfterTool",
        "post-tool-use",
        Some("run_shell_command|replace|write_file|edit|read_file|read_many_files"),
        10,
    ),
    ("AfterAgent", "stop", None, 10),
    ("SessionEnd", "session-end", None, 5),
];

/// What Copilot CLI asks before it asks its human; only where the user agreed to permissions.
const COPILOT_PERMISSION: Event = ("permissionRequest", "permission-request", None, 5);

const COPILOT: [Event; 7] = [
    ("sessionStart", "session-start", None, 10),
    ("userPromptSubmitted", "user-prompt-submit", None, 5),
    ("postToolUse", "post-tool-use", None, 10),
    ("agentStop", "stop", None, 10),
    ("subagentStop", "subagent-stop", None, 10),
    ("preCompact", "pre-compact", None, 10),
    ("sessionEnd", "session-end", None, 5),
];

const CURSOR: [Event; 7] = [
    ("sessionStart", "session-start", None, 10),
    ("beforeSubmitPrompt", "user-prompt-submit", None, 5),
    ("postToolUse", "post-tool-use", Some("Shell|Write|Edit|Read"), 10),
    ("stop", "stop", None, 10),
    ("subagentStop", "subagent-stop", None, 10),
    ("preCompact", "pre-compact", None, 10),
    ("sessionEnd", "session-end", None, 5),
];

/// How the binary is called: by its place where only this machine is meant, by its name for others.
pub(super) struct Caller<'g> {
    pub(super) program: &'g str,
    pub(super) scope: Scope,
}

impl Caller<'_> {
    /// A hook as a line for a shell. Where the binary is missing, nothing is to come of it.
    fn hook_line(&self, agent: Host, event: &str) -> String {
        match self.scope {
            Scope::User => format!("{} hook {} {event}", quoted(self.program), agent.name()),
            Scope::Project => format!("{PROGRAM} hook {} {event} || :", agent.name()),
        }
    }

    fn program(&self) -> &str {
        match self.scope {
            Scope::User => self.program,
            Scope::Project => PROGRAM,
        }
    }

    fn server(&self) -> Server {
        let arguments = vec!["mcp".to_owned()];
        Server { command: self.program().to_owned(), arguments, trusted: Vec::new() }
    }

    /// A hook of Claude Code. In a project other agents run it too, who may not know of arguments apart.
    fn claude_hook(&self, event: &str, timeout: u32) -> Value {
        match self.scope {
            Scope::User => json!({
                "type": "command", "command": self.program,
                "args": ["hook", Host::Claude.name(), event], "timeout": timeout,
            }),
            Scope::Project => {
                json!({"type": "command", "command": self.hook_line(Host::Claude, event), "timeout": timeout})
            }
        }
    }
}

/// The hooks of Claude Code.
pub(super) fn claude_hooks(hook: impl Fn(&str, u32) -> Value) -> Vec<(&'static str, Value)> {
    let group = |(theirs, ours, matcher, timeout): Event| (theirs, grouped(matcher, &hook(ours, timeout)));
    CLAUDE.map(group).to_vec()
}

fn grouped(matcher: Option<&str>, hook: &Value) -> Value {
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
        None => json!({"hooks": [hook]}),
    }
}

fn element(event: &'static str, value: Value) -> Entry {
    Entry { at: vec!["hooks", event], value, kind: EntryKind::Element }
}

fn server_entry(servers: &'static str, value: Value) -> Entry {
    Entry { at: vec![servers, SERVER_NAME], value, kind: EntryKind::Member }
}

/// All that `agent` is to find; where it `permits`, also what it may run unasked.
pub(super) fn pieces(agent: Host, ground: &Ground, scope: Scope, root: &Path, permits: bool) -> Vec<Piece> {
    let caller = Caller { program: &ground.program, scope };
    let folder = match scope {
        Scope::User => agent.folder(ground),
        Scope::Project => root.join(match agent {
            Host::Claude => ".claude",
            Host::Codex => ".codex",
            Host::Gemini => ".gemini",
            Host::Copilot => ".github",
            Host::OpenCode => ".opencode",
            Host::Cursor => ".cursor",
        }),
    };
    let hooks = |path: PathBuf, entries| Piece { path, content: Content::Json(entries), part: Part::Hooks };
    let servers =
        |path: PathBuf, entries| Piece { path, content: Content::Json(entries), part: Part::Server };
    let server = caller.server();
    let plain_server = json!({"command": server.command, "args": server.arguments});
    let mut pieces = match agent {
        Host::Claude => {
            let groups = claude_hooks(|event, timeout| caller.claude_hook(event, timeout));
            let mut entries: Vec<Entry> =
                groups.into_iter().map(|(event, group)| element(event, group)).collect();
            if permits {
                entries.extend(permissions::of_claude());
            }
            if scope == Scope::User {
                let line = format!("{} statusline", quoted(&ground.program));
                let value = json!({"type": "command", "command": line, "padding": 0});
                entries.push(Entry { at: vec!["statusLine"], value, kind: EntryKind::MemberIfNone });
            }
            let servers_file = match scope {
                Scope::User => Host::state_file(ground),
                Scope::Project => root.join(".mcp.json"),
            };
            let value = json!({"type": "stdio", "command": server.command, "args": server.arguments});
            vec![
                hooks(folder.join("settings.json"), entries),
                servers(servers_file, vec![server_entry("mcpServers", value)]),
            ]
        }
        Host::Codex => {
            let group = |(theirs, ours, matcher, timeout): Event| {
                let hook = json!({
                    "type": "command", "command": caller.hook_line(agent, ours), "timeout": timeout,
                });
                element(theirs, grouped(matcher, &hook))
            };
            let table = Piece {
                path: folder.join("config.toml"),
                content: Content::Toml(server),
                part: Part::Server,
            };
            vec![hooks(folder.join("hooks.json"), CODEX.map(group).to_vec()), table]
        }
        Host::Gemini => {
            let group = |(theirs, ours, matcher, timeout): Event| {
                let hook = json!({
                    "type": "command", "name": "chronicle",
                    "command": caller.hook_line(agent, ours), "timeout": timeout * 1000,
                });
                element(theirs, grouped(matcher, &hook))
            };
            let mut entries = GEMINI.map(group).to_vec();
            entries.push(server_entry("mcpServers", plain_server));
            vec![servers(folder.join("settings.json"), entries)]
        }
        Host::Copilot => {
            let mut all = Map::new();
            let asked = permits.then_some(COPILOT_PERMISSION);
            for (theirs, ours, _, timeout) in COPILOT.into_iter().chain(asked) {
                let line = caller.hook_line(agent, ours);
                all.insert(
                    theirs.to_owned(),
                    json!([{"type": "command", "bash": line, "timeoutSec": timeout}]),
                );
            }
            let text = written(&json!({"version": 1, "hooks": all}));
            let path = folder.join("hooks/chronicle.json");
            let mut pieces = vec![Piece { path, content: Content::Whole(text), part: Part::Hooks }];
            // It knows no servers of a project.
            if scope == Scope::User {
                let value = json!({
                    "type": "local", "command": server.command, "args": server.arguments, "tools": ["*"],
                });
                pieces.push(servers(folder.join("mcp-config.json"), vec![server_entry("mcpServers", value)]));
            }
            pieces
        }
        Host::OpenCode => {
            let settings = if scope == Scope::User { &folder } else { root };
            let command = json!([server.command, "mcp"]);
            let value = json!({"type": "local", "command": command, "enabled": true});
            let plugin = skills::opencode_plugin(caller.program(), permits);
            vec![
                Piece {
                    path: folder.join("plugins/chronicle.js"),
                    content: Content::Whole(plugin),
                    part: Part::Hooks,
                },
                servers(
                    either(settings, "opencode.json", "opencode.jsonc"),
                    vec![server_entry("mcp", value)],
                ),
            ]
        }
        Host::Cursor => {
            let version = Entry { at: vec!["version"], value: json!(1), kind: EntryKind::MemberIfNone };
            let hook = |(theirs, ours, matcher, timeout): Event| {
                let mut hook = json!({"command": caller.hook_line(agent, ours), "timeout": timeout});
                if let Some(matcher) = matcher {
                    hook["matcher"] = json!(matcher);
                }
                element(theirs, hook)
            };
            let entries = [version].into_iter().chain(CURSOR.map(hook)).collect();
            vec![
                hooks(folder.join("hooks.json"), entries),
                servers(folder.join("mcp.json"), vec![server_entry("mcpServers", plain_server)]),
            ]
        }
    };
    pieces.extend(skill_pieces(agent, ground, scope, root));
    if permits {
        pieces.extend(permissions_piece(agent, ground, scope));
    }
    pieces
}

/// The file of its own for what the agent may run unasked, of agents that have one.
pub(super) fn permissions_piece(agent: Host, ground: &Ground, scope: Scope) -> Option<Piece> {
    let folder = agent.folder(ground);
    let (path, text) = match (agent, scope) {
        (Host::Codex, Scope::User) => {
            (folder.join("rules/chronicle.rules"), permissions::of_codex(&ground.programs("git")))
        }
        (Host::Gemini, Scope::User) => (folder.join("policies/chronicle.toml"), permissions::of_gemini()),
        _ => return None,
    };
    Some(Piece { path, content: Content::Whole(text), part: Part::Permissions })
}

/// Claude Code looks for skills in its own folder, all others in one that they share.
fn skill_pieces(agent: Host, ground: &Ground, scope: Scope, root: &Path) -> Vec<Piece> {
    let top = match (agent, scope) {
        (Host::Claude, Scope::User) => agent.folder(ground),
        (Host::Claude, Scope::Project) => root.join(".claude"),
        (_, Scope::User) => ground.home.join(".agents"),
        (_, Scope::Project) => root.join(".agents"),
    };
    let piece = |(name, text): (&str, &str)| Piece {
        path: top.join("skills").join(name).join("SKILL.md"),
        content: Content::Whole(text.to_owned()),
        part: Part::Shared,
    };
    SKILLS.map(piece).to_vec()
}

/// The lines that tell agents of us in a file that all of them read.
pub(super) fn agents_md(root: &Path) -> Piece {
    Piece {
        path: root.join("AGENTS.md"),
        content: Content::Block(skills::AGENTS_MD.to_owned()),
        part: Part::Shared,
    }
}

/// JSON as people like to read it.
pub(super) fn written(value: &Value) -> String {
    format!("{value:#}\n")
}
