//! The plugin of Claude Code, in a folder that it takes for a marketplace.

use std::path::Path;

use chronicle::{Setup, SetupChange};
use chronicle_workplace::Error;
use serde_json::{Map, Value, json};

use super::{
    Outcome,
    files::Read,
    ours::{PROGRAM, SERVER_NAME},
    skills::SKILLS,
    wanted::{claude_hooks, written},
};
use crate::hooks::Host;

const DESCRIPTION: &str = "Remembers why code is the way it is, and shows it before the next edit";
const README: &str = include_str!("../../assets/plugin.md");

/// Writes the plugin below `folder`, which holds nothing else; what is there already stays as it is.
///
/// # Errors
/// When a file cannot be written.
pub fn write_plugin(folder: &Path, dry_run: bool) -> Result<Outcome, Error> {
    let mut outcome = Outcome { setup: Setup::begun(dry_run), n_refused: 0, given: Vec::new() };
    let is_ours =
        |text: &str| text.contains(PROGRAM) || text.contains("git chronicle") || text.contains(DESCRIPTION);
    for (name, text) in files() {
        let path = folder.join(name);
        let failed = |source| Error::WriteOutput { path: path.clone(), source };
        let read = Read::of(&path).map_err(|reason| failed(std::io::Error::other(reason)))?;
        if read.text.as_deref() == Some(&text) {
            continue;
        }
        if read.text.as_deref().is_some_and(|text| !is_ours(text)) {
            outcome.n_refused += 1;
            let shown = chronicle::plain(&path.to_string_lossy()).into_owned();
            outcome.setup.warnings.push(format!("`{shown}` was left alone: it is not ours"));
            continue;
        }
        if !dry_run {
            read.replace(Some(&text), false).map_err(failed)?;
        }
        let action = if read.text.is_some() { "edit" } else { "create" };
        let before = read.bytes(read.text.as_deref());
        outcome.setup.changes.push(SetupChange::new(action, &path, &before, text.as_bytes()));
    }
    Ok(outcome)
}

fn files() -> Vec<(String, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let owner = json!({"name": "Chronicle"});
    let marketplace = json!({
        "name": "chronicle", "owner": owner, "description": DESCRIPTION, "version": version,
        "plugins": [{
            "name": "chronicle", "source": "./chronicle", "description": DESCRIPTION,
            "category": "development",
        }],
    });
    let plugin = json!({
        "name": "chronicle", "displayName": "Chronicle", "version": version, "description": DESCRIPTION,
        "author": owner, "license": "MIT OR Apache-2.0", "keywords": ["memory", "git", "annotations"],
    });
    let mut events = Map::new();
    let hook = |event: &str, timeout: u32| {
        json!({
            "type": "command", "command": PROGRAM, "args": ["hook", Host::Claude.name(), event],
            "timeout": timeout,
        })
    };
    for (event, group) in claude_hooks(hook) {
        events.insert(event.to_owned(), Value::Array(vec![group]));
    }
    let hooks = json!({"description": DESCRIPTION, "hooks": events});
    let servers =
        json!({"mcpServers": {SERVER_NAME: {"type": "stdio", "command": PROGRAM, "args": ["mcp"]}}});
    let mut files = vec![
        (".claude-plugin/marketplace.json".to_owned(), written(&marketplace)),
        ("chronicle/.claude-plugin/plugin.json".to_owned(), written(&plugin)),
        ("chronicle/hooks/hooks.json".to_owned(), written(&hooks)),
        ("chronicle/.mcp.json".to_owned(), written(&servers)),
        ("chronicle/README.md".to_owned(), README.to_owned()),
    ];
    files.extend(SKILLS.map(|(name, text)| (format!("chronicle/skills/{name}/SKILL.md"), text.to_owned())));
    files
}
