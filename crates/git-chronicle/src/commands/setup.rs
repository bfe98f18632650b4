use std::path::{Path, PathBuf};

use chronicle::Chronicle;
use chronicle_render::Format;
use chronicle_serve::{
    hooks::Host,
    setup::{Ground, Outcome, Scope, Wanted, write_plugin},
};
use chronicle_workplace::Error;
use clap::builder::PossibleValuesParser;

use super::init;
use crate::{
    background,
    error::{CommandError, LeftAloneSnafu, UsageSnafu},
    surroundings::environment,
    ui::Ui,
};

/// Days of sessions that are taken in where nothing else is said.
const DAYS: u32 = 30;

/// Set coding agents up: hooks, MCP server and skills
///
/// Without names, all agents that are found on this machine. At a terminal you are asked which,
/// what they may run unasked, and whether earlier sessions are imported. Other settings stay as
/// they are, and `git chronicle uninstall` restores every file. docs/agents.md lists what is
/// written where.
#[derive(Debug, clap::Args)]
pub(crate) struct SetupArgs {
    /// The agents
    #[arg(value_name = "AGENT", value_parser = PossibleValuesParser::new(names()))]
    agents: Vec<String>,

    /// For you in all projects, or for everyone in this repository
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = PossibleValuesParser::new(Scope::NAMES))]
    scope: String,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,

    /// Import the transcripts of the last N days, in the background; 0 for none
    #[arg(long, value_name = "DAYS")]
    backfill: Option<u32>,

    /// Only write the plugin of Claude Code into this folder, for `claude plugin marketplace add`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["backfill", "agents_md"])]
    plugin: Option<PathBuf>,

    /// Let agents read and write lessons unasked: `read`, `why`, `annotate` and the like, the MCP tools and
    /// skills; at a terminal you are asked
    #[arg(long, conflicts_with = "plugin")]
    permissions: bool,

    /// Also add a few lines on Chronicle to the repository's AGENTS.md
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
    // What an agent may do is decided by a person.
    let asks = !args.dry_run && ui.can_ask() && !background::is_of_agent();
    let agents = match args.agents.is_empty() && asks {
        true => asked_for(&ground, ui)?,
        false => chosen(&args.agents, &ground, ui),
    };
    if agents.is_empty() {
        return Ok(());
    }
    let asks_for_lines = asks && scope == Scope::Project && !args.agents_md;
    let agents_md = args.agents_md || asks_for_lines && ui.agrees("add to AGENTS.md how to use Chronicle?");
    let wanted = Wanted {
        only_server: false,
        agents_md,
        permissions: args.permissions || asks && permits(&agents, scope, &ground, ui),
    };
    let days = days(args.backfill, asks && ground.is_new(&agents, scope), ui);
    let outcome = ground.set_up(&agents, scope, wanted, args.dry_run)?;
    if args.dry_run || ui.format() == Format::Json {
        init::tell(&outcome.setup, NOTHING_TO_DO, ui)?;
    } else {
        tell(&outcome, &agents, scope, ui)?;
    }
    let is_changed = !outcome.setup.changes.is_empty();
    if !args.dry_run {
        backfill(days, is_changed, ui);
    }
    if !args.dry_run && is_changed {
        let titles: Vec<&str> = agents.iter().map(|agent| agent.title()).collect();
        ui.tell(&format!("Next: restart {}; in a repository: git chronicle init", titles.join(", ")));
    }
    left_alone(outcome.n_refused)
}

const NOTHING_TO_DO: &str = "everything is set up already";

/// The agents that the user names of those that are found; an empty line means all.
fn asked_for(ground: &Ground, ui: &mut Ui) -> Result<Vec<Host>, CommandError> {
    let found = chosen(&[], ground, ui);
    if found.len() < 2 {
        return Ok(found);
    }
    let known: Vec<&str> = found.iter().map(|agent| agent.name()).collect();
    loop {
        let question = format!("set up which agents? {} [all]", known.join(" "));
        let Some(answer) = ui.ask(&question) else { return Ok(Vec::new()) };
        let names: Vec<String> =
            answer.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if names.is_empty() || names == ["all"] {
            return Ok(found);
        }
        match names.iter().find(|name| !self::names().contains(&name.as_str())) {
            Some(other) => ui.tell(&format!("`{other}` isn't one of {}", self::names().join(", "))),
            None => return Ok(named(&names)),
        }
    }
}

/// Whether the user lets agents read and write lessons without being asked each time.
fn permits(agents: &[Host], scope: Scope, ground: &Ground, ui: &mut Ui) -> bool {
    let titles = ground.may_permit(agents, scope);
    if titles.is_empty() {
        return false;
    }
    ui.tell("rules that let an agent read and write lessons, and nothing else: `setup --permissions --dry-run` shows them");
    ui.agrees_by_default(&format!("write them for {}?", titles.join(", ")))
}

/// Says what each agent has now, and what to do next.
fn tell(outcome: &Outcome, agents: &[Host], scope: Scope, ui: &mut Ui) -> Result<(), CommandError> {
    let is_changed = !outcome.setup.changes.is_empty();
    let given = outcome.given.iter().filter(|given| is_changed && !given.parts.is_empty());
    let lines = given.map(|given| format!("{}: {}\n", given.agent.title(), given.parts.join(", ")));
    ui.answer(&lines.collect::<String>())?;
    for warning in &outcome.setup.warnings {
        ui.warn(warning);
    }
    if !is_changed {
        if outcome.setup.warnings.is_empty() {
            ui.tell(NOTHING_TO_DO);
        }
        return Ok(());
    }
    let n_files = outcome.setup.changes.len();
    let files = if n_files == 1 { "file was" } else { "files were" };
    let scope = match scope {
        Scope::User => "--scope user",
        Scope::Project => "--scope project",
    };
    ui.tell(&format!(
        "{n_files} {files} changed; `git chronicle uninstall {scope}` gives each back as it was"
    ));
    if agents.contains(&Host::Codex) {
        ui.tell(
            "Codex runs hooks only when they are trusted: type /hooks in Codex, and trust those of Chronicle",
        );
    }
    Ok(())
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

/// How many days of earlier sessions are wanted; none where nothing is said of it.
fn days(given: Option<u32>, asks: bool, ui: &mut Ui) -> Option<u32> {
    let question = format!("read the sessions that agents kept in the last {DAYS} days?");
    given.or_else(|| asks.then(|| if ui.agrees_by_default(&question) { DAYS } else { 0 }))
}

/// Takes in earlier sessions in the background, if that is wanted.
fn backfill(days: Option<u32>, is_changed: bool, ui: &mut Ui) {
    match days {
        Some(0) => {}
        Some(days) => {
            background::start(&["session", "ingest", "--days", &days.to_string()]);
            ui.tell(&format!("sessions of the last {days} days are read in the background"));
        }
        None if is_changed => {
            ui.tell(&format!("`git chronicle session ingest --days {DAYS}` reads earlier sessions"));
        }
        None => {}
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
    error.code() == chronicle_workplace::Code::NotARepository
}
