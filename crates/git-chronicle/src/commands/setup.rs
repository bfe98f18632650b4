use std::path::{Path, PathBuf};

use chronicle::{Chronicle, Error};
use chronicle_serve::{
    hooks::Host,
    setup::{Ground, Scope, Wanted, write_plugin},
};
use clap::builder::PossibleValuesParser;

use super::{environment, init};
use crate::{
    background,
    error::{CommandError, LeftAloneSnafu, UsageSnafu},
    ui::Ui,
};

/// Days of sessions that are taken in where nothing else is said.
const DAYS: u32 = 30;

/// Set coding agents up: hooks, MCP server and skills
///
/// Without names, all agents that are found on this machine. Settings of others stay as they are, and
/// `git chronicle uninstall` gives back every file as it was. docs/agents.md says what is written where.
#[derive(Debug, clap::Args)]
pub(crate) struct SetupArgs {
    /// The agents
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(names()))]
    agents: Vec<String>,

    /// For you in all projects, or for everyone in this repository
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = PossibleValuesParser::new(Scope::NAMES))]
    scope: String,

    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Take in what agents kept of the last so many days, behind this command; 0 for nothing
    #[arg(long, value_name = "DAYS")]
    backfill: Option<u32>,

    /// Only write the plugin of Claude Code into this folder, to be given to `claude plugin marketplace add`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["backfill", "agents_md"])]
    plugin: Option<PathBuf>,

    /// Let Claude Code run what reads and writes lessons unasked: `read`, `why`, `annotate` and the like, our MCP tools and
    /// skills; at a terminal you are asked
    #[arg(long, conflicts_with = "plugin")]
    permissions: bool,

    /// Also say in the repository's AGENTS.md, in a few lines, how to use Chronicle
    #[arg(long)]
    agents_md: bool,
}

pub(crate) fn run(args: &SetupArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if let Some(folder) = &args.plugin {
        return plugin(folder, args, ui);
    }
    let ground = ground(chronicle)?;
    let scope = scope(Some(&args.scope), chronicle)?;
    if args.agents_md && scope == Scope::User {
        return UsageSnafu { reason: "--agents-md needs --scope project: the file is the repository's" }
            .fail();
    }
    let agents = chosen(&args.agents, &ground, ui);
    if agents.is_empty() {
        return Ok(());
    }
    let asks = scope == Scope::Project && !args.agents_md && !args.dry_run;
    let agents_md = args.agents_md || (asks && ui.agrees("say in AGENTS.md how to use Chronicle?"));
    let may_permit = !args.dry_run && !args.permissions && ground.may_permit(&agents, scope);
    let permissions = args.permissions
        || may_permit
            && ui.agrees("let Claude Code read and write lessons without asking each time (`setup --permissions --dry-run` shows the rules)?");
    let wanted = Wanted { only_server: false, agents_md, permissions };
    let outcome = ground.set_up(&agents, scope, wanted, args.dry_run)?;
    init::tell(&outcome.setup, "everything is set up already", ui)?;
    if args.dry_run {
        return left_alone(outcome.n_refused);
    }
    let is_changed = !outcome.setup.changes.is_empty();
    if is_changed && agents.contains(&Host::Codex) {
        ui.tell(
            "Codex runs hooks only when they are trusted: type /hooks in Codex, and trust those of Chronicle",
        );
    }
    backfill(args.backfill, is_changed, ui);
    left_alone(outcome.n_refused)
}

fn plugin(folder: &Path, args: &SetupArgs, ui: &mut Ui) -> Result<(), CommandError> {
    if named(&args.agents) != [Host::Claude] {
        return UsageSnafu { reason: "--plugin is for claude: `git chronicle setup claude --plugin DIR`" }
            .fail();
    }
    let outcome = write_plugin(folder, args.dry_run)?;
    init::tell(&outcome.setup, "the plugin is there already", ui)?;
    if !args.dry_run && outcome.n_refused == 0 {
        let folder = folder.display();
        ui.tell(&format!(
            "`claude plugin marketplace add {folder}` and `claude plugin install chronicle@chronicle` install it"
        ));
    }
    left_alone(outcome.n_refused)
}

/// Takes in earlier sessions, if that is wanted, while nobody waits for it.
fn backfill(days: Option<u32>, is_changed: bool, ui: &mut Ui) {
    let days = match days {
        Some(days) => days,
        None if !is_changed => 0,
        None if ui.agrees(&format!("take in sessions of the last {DAYS} days?")) => DAYS,
        None => {
            ui.tell(&format!("`git chronicle session ingest --days {DAYS}` takes in earlier sessions"));
            0
        }
    };
    if 0 < days {
        background::start(&["session", "ingest", "--days", &days.to_string()]);
        ui.tell(&format!("sessions of the last {days} days are taken in behind this command"));
    }
}

/// The machine that the binary runs on.
pub(crate) fn ground(chronicle: &Chronicle) -> Result<Ground, CommandError> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.unwrap_or_else(|_| "git-chronicle".into());
    Ok(Ground::new(chronicle, environment, &program)?)
}

/// The names of all agents.
pub(crate) fn names() -> [&'static str; 6] {
    Host::ALL.map(Host::name)
}

/// The agents of these names.
pub(crate) fn named(names: &[String]) -> Vec<Host> {
    Host::ALL.into_iter().filter(|agent| names.iter().any(|name| name == agent.name())).collect()
}

/// The agents of these names; without names, those that are found, or a word that there are none.
pub(crate) fn chosen(names_given: &[String], ground: &Ground, ui: &mut Ui) -> Vec<Host> {
    let agents = if names_given.is_empty() { ground.detected() } else { named(names_given) };
    if agents.is_empty() {
        ui.tell(&format!("no agent was found; name one of {}", names().join(", ")));
    }
    agents
}

/// The scope of that name; one of the project needs one.
pub(crate) fn scope(name: Option<&str>, chronicle: &Chronicle) -> Result<Scope, CommandError> {
    let scope = name.and_then(Scope::named).unwrap_or(Scope::Project);
    if scope == Scope::Project && chronicle.work_dir()?.is_none() {
        return UsageSnafu { reason: "a bare repository has no files for agents" }.fail();
    }
    Ok(scope)
}

/// Files that were left alone are a failure, when the others are done.
pub(crate) fn left_alone(n_files: usize) -> Result<(), CommandError> {
    match n_files {
        0 => Ok(()),
        n_files => LeftAloneSnafu { n_files }.fail(),
    }
}

/// Whether the directory is in no repository.
pub(crate) fn is_outside(error: &Error) -> bool {
    error.code() == "not_a_repository"
}
