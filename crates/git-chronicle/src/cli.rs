//! The arguments.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue},
};

use crate::{
    arguments::{GLOBAL, OutputArgs},
    commands::{
        about::AboutArgs, allow::AllowArgs, annotate::AnnotateArgs, ask::AskArgs, backfill::BackfillArgs,
        blocks::BlocksArgs, brief::BriefArgs, browse::BrowseArgs, catch_up::CatchUpArgs, check::CheckArgs,
        commit, commit::CommitArgs, completion::CompletionArgs, config::ConfigArgs,
        consolidate::ConsolidateArgs, context::ContextArgs, correct::CorrectArgs, cost::CostArgs,
        deps::DepsArgs, digest::DigestArgs, doctor::DoctorArgs, expire::ExpireArgs, export::ExportArgs,
        feedback::FeedbackArgs, find::FindArgs, fix::FixArgs, flag::FlagArgs, gc::GcArgs,
        handoff::HandoffArgs, help::HelpArgs, history::HistoryArgs, hook::HookArgs, how::HowArgs,
        import::ImportArgs, init::InitArgs, injected::InjectedArgs, knowledge::KnowledgeArgs, llm::LlmArgs,
        lsp::LspArgs, man::ManArgs, mcp::McpArgs, memory::MemoryArgs, note::NoteArgs, outline::OutlineArgs,
        patterns::PatternsArgs, pending::PendingArgs, preferences::PreferencesArgs, problems::ProblemsArgs,
        projects::ProjectsArgs, purge::PurgeArgs, read::ReadArgs, reconcile::ReconcileArgs,
        resume::ResumeArgs, schema::SchemaArgs, session::SessionArgs, setup::SetupArgs, share::ShareArgs,
        show::ShowArgs, skills::SkillsArgs, status::StatusArgs, statusline::StatuslineArgs,
        summary::SummaryArgs, supersede::SupersedeArgs, sync::SyncArgs, thread::ResolveArgs,
        thread::ThreadArgs, tour::TourArgs, uninstall::UninstallArgs, view::ViewArgs, why::WhyArgs,
    },
    help,
};

/// The usual form of help, to which examples are added as they are typed: the form itself is never wrapped.
#[macro_export]
macro_rules! help {
    () => {
        "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}{after-help}"
    };
}

/// Memory for a codebase and for the agents that work on it
///
/// Records why a change is the way it is, what was tried and failed, and which traps are in the code.
/// Shows it to the next agent or person who changes that code, on the lines where it is now.
#[derive(Debug, Parser)]
// The name in brackets: an older program, another one, is called `git-chronicle` 0.1, too.
#[command(name = "git-chronicle", bin_name = "git chronicle", max_term_width = 100)]
#[command(version = concat!(env!("CARGO_PKG_VERSION"), " (chronicle)"))]
#[command(
    after_help = "Exit codes: 0 success, even if nothing is known; 1 failure; 2 wrong arguments; 70 a bug in Chronicle."
)]
struct Root {
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = GLOBAL)]
    directory: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// All arguments: those that every command takes, and the command.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) output: OutputArgs,
    pub(crate) command: Command,
}

/// Defines the arguments of one command.
type Define = fn(clap::Command) -> clap::Command;

/// The commands that hooks and agents run on every edit. Defining the arguments of all commands takes longer
/// than most answers, so these are defined alone when they come first on the command line.
const OFTEN: [(&str, Define); 11] = [
    ("brief", BriefArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("deps", DepsArgs::augment_args),
    ("find", FindArgs::augment_args),
    ("hook", HookArgs::augment_args),
    ("pending", PendingArgs::augment_args),
    ("read", ReadArgs::augment_args),
    ("session", SessionArgs::augment_args),
    ("statusline", StatuslineArgs::augment_args),
    ("summary", SummaryArgs::augment_args),
    ("why", WhyArgs::augment_args),
];

impl Cli {
    /// Takes the arguments apart; asked for help or the version, or wrong ones, the error says so.
    pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let arguments = with_help_last(commit::separated(arguments));
        let first = arguments.get(1).and_then(|argument| argument.to_str());
        let often = OFTEN.iter().find(|(name, _)| Some(*name) == first);
        let mut definition = match (often, first) {
            (Some((name, define)), _) => one(name, *define),
            // Said before a command is looked for.
            (None, Some("--version" | "-V")) => Root::command(),
            _ => all(),
        };
        let mut matches = definition.try_get_matches_from_mut(arguments).map_err(with_meant)?;
        let parsed = Root::from_arg_matches_mut(&mut matches).and_then(|root| {
            let command = Command::from_arg_matches_mut(&mut matches)?;
            Ok(Self { directory: root.directory, output: root.output, command })
        });
        parsed.map_err(|error| error.format(&mut definition))
    }
}

/// `help COMMAND` is `COMMAND --help`, and `help` alone `--help`.
fn with_help_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if arguments.get(1).is_some_and(|word| word == "help")
        && arguments.get(2).is_none_or(|word| !is_option(word))
    {
        let _help = arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

/// What other programs call a command of ours, and ours; none where there is nothing like it.
const MEANT: [(&str, &[&str]); 32] = [
    ("add", &["annotate", "note"]),
    ("blame", &["why"]),
    ("cat", &["read"]),
    ("delete", &["purge"]),
    ("edit", &["correct"]),
    ("enable", &["setup"]),
    ("explain", &["why"]),
    ("fetch", &["sync"]),
    ("get", &["read"]),
    ("grep", &["find"]),
    ("install", &["setup"]),
    ("list", &["read", "pending"]),
    ("log", &["history"]),
    ("pull", &["sync"]),
    ("push", &["sync"]),
    ("query", &["find"]),
    ("record", &["annotate"]),
    ("remember", &["note"]),
    ("remove", &["purge"]),
    ("rm", &["purge"]),
    ("search", &["find"]),
    ("sessions", &["session"]),
    ("settings", &["config"]),
    ("tasks", &["pending"]),
    ("todo", &["pending"]),
    ("todos", &["pending"]),
    ("tui", &["browse"]),
    ("ui", &["browse", "view"]),
    ("update", &[]),
    ("upgrade", &[]),
    ("web", &["view"]),
    ("who", &["why"]),
];

/// An unknown command with the one that is meant, where its letters suggest another.
fn with_meant(mut error: clap::Error) -> clap::Error {
    let meant = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => {
            MEANT.iter().find(|(known, _)| *known == name.to_lowercase()).map(|(_, meant)| *meant)
        }
        _ => None,
    };
    match meant {
        Some([]) => drop(error.remove(ContextKind::SuggestedSubcommand)),
        Some(meant) => {
            let meant = meant.iter().map(|name| (*name).to_owned()).collect();
            let _replaced = error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
        }
        None => {}
    }
    error
}

/// The definition of all commands. It takes more than 100 KB of the stack, and each page of them is touched on entry:
/// inlined, it would cost every command as much.
#[inline(never)]
pub(crate) fn all() -> clap::Command {
    let all = Command::augment_subcommands(Root::command())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true);
    let template = help::short(&all);
    all.help_template(template)
}

/// The definition of one command, as if there were no other.
fn one(name: &'static str, define: Define) -> clap::Command {
    Root::command()
        .subcommand(define(clap::Command::new(name)))
        .subcommand_required(true)
        .disable_help_subcommand(true)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Read(ReadArgs),
    Show(ShowArgs),
    History(HistoryArgs),
    Summary(SummaryArgs),
    Deps(DepsArgs),
    Why(WhyArgs),
    Check(CheckArgs),
    Outline(OutlineArgs),
    Browse(BrowseArgs),
    View(ViewArgs),
    Annotate(AnnotateArgs),
    Backfill(BackfillArgs),
    Note(NoteArgs),
    Flag(FlagArgs),
    Correct(CorrectArgs),
    #[command(hide = true)]
    Supersede(SupersedeArgs),
    #[command(hide = true)]
    Expire(ExpireArgs),
    Knowledge(KnowledgeArgs),
    Purge(PurgeArgs),
    Brief(BriefArgs),
    CatchUp(CatchUpArgs),
    Pending(PendingArgs),
    Resolve(ResolveArgs),
    #[command(alias = "threads")]
    Thread(ThreadArgs),
    Commit(CommitArgs),
    Context(ContextArgs),
    Session(SessionArgs),
    Resume(ResumeArgs),
    Handoff(HandoffArgs),
    Share(ShareArgs),
    Find(FindArgs),
    About(AboutArgs),
    How(HowArgs),
    Fix(FixArgs),
    Ask(AskArgs),
    Preferences(PreferencesArgs),
    Patterns(PatternsArgs),
    Skills(SkillsArgs),
    Projects(ProjectsArgs),
    Problems(ProblemsArgs),
    Feedback(FeedbackArgs),
    Injected(InjectedArgs),
    Blocks(BlocksArgs),
    Digest(DigestArgs),
    Consolidate(ConsolidateArgs),
    Memory(MemoryArgs),
    Init(InitArgs),
    Setup(SetupArgs),
    Uninstall(UninstallArgs),
    Config(ConfigArgs),
    Allow(AllowArgs),
    Llm(LlmArgs),
    #[command(hide = true)]
    Cost(CostArgs),
    #[command(hide = true)]
    Hook(HookArgs),
    Sync(SyncArgs),
    Reconcile(ReconcileArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Status(StatusArgs),
    #[command(hide = true)]
    Statusline(StatuslineArgs),
    Doctor(DoctorArgs),
    Gc(GcArgs),
    #[command(hide = true)]
    Schema(SchemaArgs),
    #[command(hide = true)]
    Mcp(McpArgs),
    Man(ManArgs),
    Completion(CompletionArgs),
    Help(HelpArgs),
    #[command(hide = true)]
    Lsp(LspArgs),
    Tour(TourArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_defined_alone_is_the_same_command() {
        let help = |mut root: clap::Command, name: &str| {
            root.build();
            root.find_subcommand_mut(name).expect("a command").render_long_help().to_string()
        };
        for (name, define) in OFTEN {
            assert_eq!(help(one(name, define), name), help(all(), name));
        }
    }

    #[test]
    fn a_command_is_suggested_by_what_is_meant() {
        let definition = all();
        let names: Vec<&str> = definition.get_subcommands().map(clap::Command::get_name).collect();
        for (name, meant) in MEANT {
            assert!(!names.contains(&name), "{name} is a command");
            assert!(meant.iter().all(|meant| names.contains(meant)), "{name}: {meant:?}");
        }
        let said = |name: &str| {
            let error =
                Cli::parse(vec!["git-chronicle".into(), name.into()]).expect_err("there is no such command");
            error.to_string().lines().find_map(|line| Some(line.trim().strip_prefix("tip: ")?.to_owned()))
        };
        let tip = |name: &str| Some(format!("a similar subcommand exists: '{name}'"));
        assert_eq!(said("install"), tip("setup"));
        assert_eq!(said("web"), tip("view"));
        assert_eq!(said("Search"), tip("find"));
        assert_eq!(said("log"), tip("history"));
        assert_eq!(said("blame"), tip("why"));
        assert_eq!(said("upgrade"), None);
        assert!(said("anotate").is_some_and(|tip| tip.contains("'annotate'")));
    }

    #[test]
    fn the_definitions_hold_together() {
        all().debug_assert();
    }
}
