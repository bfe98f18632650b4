use std::path::PathBuf;

use chronicle_serve::mcp::{self, Host};

use crate::{
    commands::{environment, may_use_index, ui_now},
    error::{CommandError, explain},
};

/// Serve what this command line knows to agents, over MCP
///
/// Speaks JSON-RPC on standard input and output, and ends when its client does. Works in the
/// project that the agent names, else in the current directory.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {}

/// Where agents say what project they work in.
const PROJECT: [&str; 3] = ["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "CURSOR_PROJECT_DIR"];

pub(crate) fn run(_args: &McpArgs, current: PathBuf, is_given: bool) -> Result<(), CommandError> {
    // Who names a directory by hand means that one.
    let named = || PROJECT.into_iter().filter_map(environment).map(PathBuf::from);
    let project = || named().find(|folder| folder.is_absolute() && folder.is_dir());
    let directory = if is_given { None } else { project() }.unwrap_or(current);
    let uses_index = may_use_index();
    Ok(mcp::serve(Host { directory, now: ui_now, uses_index, environment, explain })?)
}
