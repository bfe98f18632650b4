use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_serve::{
    hooks::Host as Agent,
    mcp::{self, Choice, Host},
    setup::{Scope, Wanted},
};
use clap::{Subcommand, builder::PossibleValuesParser};

use crate::{
    background,
    commands::{
        init,
        setup::{chosen, ground, left_alone, names, scope},
    },
    error::{CommandError, UsageSnafu, explain},
    limits::is_fixed,
    surroundings::{environment, may_keep_facts, now},
    ui::Ui,
};

/// Serve the commands of this program to agents, over MCP
///
/// Speaks JSON-RPC on standard input and output, and ends when its client does. Works in the
/// project that the agent names, or in the current directory.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    what: Option<McpCommand>,

    /// Which tools: `core` (read, why, check, annotate, find, brief, pending, resolve), `all`, or their names
    ///
    /// Every tool takes room in each request of the agent. The command line can do everything that no tool does.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', default_value = "core")]
    tools: Vec<String>,

    /// Serve over HTTP instead, at this address of the loopback interface
    ///
    /// Clients send the token of `CHRONICLE_MCP_TOKEN`, or the one that is printed, as `Authorization: Bearer TOKEN`.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ADDRESS")]
    http: Option<std::net::SocketAddr>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Register the server with coding agents, without the hooks and skills that `setup` adds
    ///
    /// Without names, with all agents that are found on this machine. `git chronicle uninstall` removes it.
    Install(InstallArgs),
}

#[derive(Debug, clap::Args)]
struct InstallArgs {
    /// The agents
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(names()))]
    agents: Vec<String>,

    /// For you in all projects, or for everyone in this repository
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = PossibleValuesParser::new(Scope::NAMES))]
    scope: String,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

/// Where agents say what project they work in.
const PROJECT: [&str; 3] = ["CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR", "CURSOR_PROJECT_DIR"];

pub(crate) fn run(
    args: &McpArgs,
    chronicle: &Chronicle,
    current: PathBuf,
    is_given: bool,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    if let Some(McpCommand::Install(args)) = &args.what {
        return install(args, chronicle, ui);
    }
    // Who names a directory by hand means that one.
    let named = || PROJECT.into_iter().filter_map(environment).map(PathBuf::from);
    let project = || named().find(|folder| is_fixed(folder) && folder.is_dir());
    let directory = if is_given { None } else { project() }.unwrap_or(current);
    let keeps_facts = may_keep_facts(&directory);
    let tools = Choice::of(&args.tools).map_err(|name| {
        let reason = format!("there is no tool `{name}`; the tools are {}", Choice::names().join(", "));
        UsageSnafu { reason }.build()
    })?;
    let behind = background::start_in;
    let host = Host { directory, now, keeps_facts, tools, environment, behind, explain };
    #[cfg(feature = "http")]
    if let Some(address) = args.http {
        return over_http(host, address);
    }
    Ok(mcp::serve(host)?)
}

fn install(args: &InstallArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let ground = ground(chronicle)?;
    let scope = scope(Some(&args.scope), chronicle)?;
    let mut agents = chosen(&args.agents, &ground, ui);
    if agents.is_empty() {
        return Ok(());
    }
    if scope == Scope::Project {
        agents.retain(|agent| *agent != Agent::Copilot);
    }
    if agents.is_empty() {
        return UsageSnafu { reason: "Copilot CLI has no servers for one project; use --scope user" }.fail();
    }
    let wanted = Wanted { only_server: true, ..Wanted::default() };
    let outcome = ground.set_up(&agents, scope, wanted, args.dry_run)?;
    init::tell(&outcome.setup, "the server is registered already", ui)?;
    left_alone(outcome.n_refused)
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
