//! One file for each command: arguments, one call to the application, one rendering.

pub(crate) mod about;
pub(crate) mod allow;
pub(crate) mod annotate;
pub(crate) mod ask;
pub(crate) mod backfill;
pub(crate) mod blocks;
pub(crate) mod brief;
pub(crate) mod browse;
pub(crate) mod catch_up;
pub(crate) mod check;
pub(crate) mod commit;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod consolidate;
pub(crate) mod context;
pub(crate) mod correct;
pub(crate) mod cost;
pub(crate) mod deps;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod expire;
pub(crate) mod export;
pub(crate) mod feedback;
pub(crate) mod find;
pub(crate) mod fix;
pub(crate) mod flag;
pub(crate) mod gc;
pub(crate) mod handoff;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod hook;
pub(crate) mod how;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod injected;
pub(crate) mod knowledge;
pub(crate) mod llm;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod note;
pub(crate) mod outline;
pub(crate) mod patterns;
pub(crate) mod pending;
pub(crate) mod preferences;
pub(crate) mod problems;
pub(crate) mod projects;
pub(crate) mod purge;
pub(crate) mod read;
pub(crate) mod reconcile;
pub(crate) mod resume;
pub(crate) mod said;
pub(crate) mod schema;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod skills;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod summary;
pub(crate) mod supersede;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod tour;
pub(crate) mod uninstall;
pub(crate) mod view;
pub(crate) mod why;

use std::{mem::ManuallyDrop, path::PathBuf};

use chronicle::{Chronicle, Patience};
use chronicle_render::Format;
use chronicle_workplace::{Setting, Workplace};
use snafu::ResultExt;

use crate::{
    arguments::OutputFormat,
    background,
    cli::{Cli, Command},
    error::{CommandError, DirectorySnafu, UsageSnafu},
    surroundings,
    ui::{self, Ui},
};

pub(crate) fn run(cli: Cli, ui: &mut Ui) -> Result<(), CommandError> {
    ui::begin();
    if cli.output.format == Some(OutputFormat::AgentTrace) && !matches!(cli.command, Command::Export(_)) {
        return UsageSnafu { reason: "only `export` writes the format `agent-trace`" }.fail();
    }
    if cli.output.format == Some(OutputFormat::Html) && !matches!(cli.command, Command::Share(_)) {
        return UsageSnafu { reason: "only `share` writes the format `html`; `view` writes a page" }.fail();
    }
    let is_export = matches!(&cli.command, Command::Session(args) if args.is_export());
    if cli.output.format == Some(OutputFormat::JsonLines) && !is_export {
        return UsageSnafu { reason: "only `session export` writes the format `jsonl`" }.fail();
    }
    if let Some(directory) = &cli.directory {
        std::env::set_current_dir(directory).context(DirectorySnafu { path: directory })?;
    }
    let directory = match std::env::current_dir() {
        // The folder that an agent works in may be gone, as when its worktree was removed: its hooks must not fail.
        Err(_) if matches!(cli.command, Command::Hook(_) | Command::Statusline(_)) => {
            std::env::set_current_dir("/").context(DirectorySnafu { path: "/" })?;
            PathBuf::from("/")
        }
        found => found.context(DirectorySnafu { path: "." })?,
    };
    let patience = match &cli.command {
        Command::Hook(args) if !args.is_in_background() => Patience::of_hooks(),
        _ => Patience { on_wait: ui::tell_of_wait, ..Patience::default() },
    };
    if matches!(cli.command, Command::Hook(_) | Command::Lsp(_) | Command::Mcp(_)) {
        background::nobody_attends();
    }
    let is_asked =
        !matches!(cli.command, Command::Hook(_) | Command::Lsp(_) | Command::Mcp(_) | Command::Statusline(_));
    let workplace = Workplace::new(&directory, surroundings::now(), surroundings::may_keep_facts(&directory))
        .with_patience(patience)
        .fetching(is_asked && surroundings::may_fetch())
        .with_environment(surroundings::environment)
        .with_behind(background::start_in);
    if ui.is_format_open() {
        let (format, _) = workplace.setting_of_few(Setting::find("format")?);
        ui.set_format(format.parse().unwrap_or(Format::Pretty));
    }
    // The process ends with it, and what it holds is given back all at once.
    let chronicle = ManuallyDrop::new(Chronicle::new(match ui.format() {
        Format::Json => workplace,
        _ => workplace.with_progress(ui::reading_progress),
    }));
    let done = answer(cli, &chronicle, directory, ui);
    if let Some(ignored) = chronicle.workplace().ignored_settings().filter(|_| !background::nobody_hears()) {
        ui.warn(ignored);
    }
    done
}

fn answer(cli: Cli, chronicle: &Chronicle, directory: PathBuf, ui: &mut Ui) -> Result<(), CommandError> {
    match cli.command {
        Command::Allow(args) => allow::run(&args, chronicle, ui),
        Command::Read(args) => read::run(args, chronicle, ui),
        Command::Show(args) => show::run(&args, chronicle, ui),
        Command::History(args) => history::run(args, chronicle, ui),
        Command::Summary(args) => summary::run(args, chronicle, ui),
        Command::Statusline(args) => statusline::run(&args, chronicle, ui),
        Command::Status(args) => status::run(&args, chronicle, ui),
        Command::Doctor(args) => doctor::run(&args, chronicle, ui),
        Command::Gc(args) => gc::run(&args, chronicle, ui),
        Command::Export(args) => export::run(&args, chronicle, ui),
        Command::Import(args) => import::run(&args, chronicle, ui),
        Command::Sync(args) => sync::run(&args, chronicle, ui),
        Command::Deps(args) => deps::run(&args, chronicle, ui),
        Command::Why(args) => why::run(args, chronicle, ui),
        Command::Check(args) => check::run(&args, chronicle, ui),
        Command::Outline(args) => outline::run(&args, chronicle, ui),
        Command::Annotate(args) => annotate::run(args, chronicle, ui),
        Command::Backfill(args) => backfill::run(args, chronicle, ui),
        Command::Note(args) => note::run(args, chronicle, ui),
        Command::Commit(args) => commit::run(args, chronicle, ui),
        Command::Context(args) => context::run(args, chronicle, ui),
        Command::Hook(args) => hook::run(&args, chronicle, ui),
        Command::Injected(args) => injected::run(&args, chronicle, ui),
        Command::Init(args) => init::run(&args, chronicle, ui),
        Command::Setup(args) => setup::run(&args, chronicle, ui),
        Command::Uninstall(args) => uninstall::run(&args, chronicle, ui),
        Command::Config(args) => config::run(args, chronicle, ui),
        Command::Flag(args) => flag::run(args, chronicle, ui),
        Command::Correct(args) => correct::run(args, chronicle, ui),
        Command::Supersede(args) => supersede::run(&args, chronicle, ui),
        Command::Expire(args) => expire::run(&args, chronicle, ui),
        Command::Reconcile(args) => reconcile::run(&args, chronicle, ui),
        Command::Blocks(args) => blocks::run(args, chronicle, ui),
        Command::Browse(args) => browse::run(&args, chronicle, ui),
        Command::Brief(args) => brief::run(args, chronicle, ui),
        Command::Consolidate(args) => consolidate::run(&args, chronicle, ui),
        Command::Digest(args) => digest::run(args, chronicle, ui),
        Command::Memory(args) => memory::run(args, chronicle, ui),
        Command::CatchUp(args) => catch_up::run(args, chronicle, ui),
        Command::Pending(args) => pending::run(args, chronicle, ui),
        Command::Thread(args) => thread::run(args, chronicle, ui),
        Command::Resolve(args) => thread::resolve(args, chronicle, ui),
        Command::Knowledge(args) => knowledge::run(args, chronicle, ui),
        Command::Purge(args) => purge::run(&args, chronicle, ui),
        Command::Handoff(args) => handoff::run(args, chronicle, ui),
        Command::Resume(args) => resume::run(&args, chronicle, ui),
        Command::Session(args) => session::run(args, chronicle, ui),
        Command::Share(args) => share::run(&args, chronicle, ui),
        Command::View(args) => view::run(&args, chronicle, ui),
        Command::Find(args) => find::run(args, chronicle, ui),
        Command::About(args) => about::run(args, chronicle, ui),
        Command::How(args) => how::run(args, chronicle, ui),
        Command::Fix(args) => fix::run(args, chronicle, ui),
        Command::Ask(args) => ask::run(args, chronicle, ui),
        Command::Preferences(args) => preferences::run(args, chronicle, ui),
        Command::Patterns(args) => patterns::run(args, chronicle, ui),
        Command::Skills(args) => skills::run(&args, chronicle, ui),
        Command::Projects(args) => projects::run(args, chronicle, ui),
        Command::Problems(args) => problems::run(&args, chronicle, ui),
        Command::Feedback(args) => feedback::run(args, chronicle, ui),
        Command::Llm(args) => llm::run(&args, chronicle, ui),
        Command::Cost(args) => cost::run(&args, chronicle, ui),
        Command::Mcp(args) => mcp::run(&args, chronicle, directory, cli.directory.is_some(), ui),
        Command::Lsp(args) => lsp::run(&args),
        Command::Schema(args) => schema::run(&args, ui),
        Command::Man(args) => man::run(&args, ui),
        Command::Completion(args) => completion::run(&args, ui),
        Command::Help(args) => help::run(&args, ui),
        Command::Tour(args) => tour::run(&args, ui),
    }
}
