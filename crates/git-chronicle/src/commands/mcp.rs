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
pub(crate) struct McpArgs {
    /// Serve over HTTP instead, at this address of the loopback interface
    ///
    /// Clients send the token of `CHRONICLE_MCP_TOKEN`, or the one that is printed, as `Authorization: Bearer TOKEN`.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ADDRESS")]
    http: Option<std::net::SocketAddr>,
}

/// Where agents say what project they work in.
const PROJECT: [&str; 3] = ["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "CURSOR_PROJECT_DIR"];

#[cfg_attr(
    not(feature = "http"),
    expect(unused_variables, reason = "what there is to say is said over HTTP")
)]
pub(crate) fn run(args: &McpArgs, current: PathBuf, is_given: bool) -> Result<(), CommandError> {
    // Who names a directory by hand means that one.
    let named = || PROJECT.into_iter().filter_map(environment).map(PathBuf::from);
    let project = || named().find(|folder| folder.is_absolute() && folder.is_dir());
    let directory = if is_given { None } else { project() }.unwrap_or(current);
    let uses_index = may_use_index();
    let host = Host { directory, now: ui_now, uses_index, environment, explain };
    #[cfg(feature = "http")]
    if let Some(address) = args.http {
        return over_http(host, address);
    }
    Ok(mcp::serve(host)?)
}

#[cfg(feature = "http")]
fn over_http(host: Host, address: std::net::SocketAddr) -> Result<(), CommandError> {
    let given = environment("CHRONICLE_MCP_TOKEN").and_then(|token| token.into_string().ok());
    let given = given.filter(|token| !token.is_empty());
    let token = given.clone().map_or_else(mcp::new_token, Ok)?;
    let tell = |url: &str| {
        use std::io::Write as _;
        let secret = if given.is_none() { format!("\ntoken: {token}") } else { String::new() };
        // Nobody to tell is no reason to stop.
        let _written = writeln!(std::io::stderr(), "serving at {url}{secret}");
    };
    Ok(mcp::serve_http(host, address, &token, tell)?)
}
