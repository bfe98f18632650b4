//! The arguments.

use std::path::PathBuf;

use chronicle::render::Format;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    annotate::AnnotateArgs, check::CheckArgs, deps::DepsArgs, history::HistoryArgs, note::NoteArgs,
    outline::OutlineArgs, read::ReadArgs, schema::SchemaArgs, show::ShowArgs, summary::SummaryArgs,
    tour::TourArgs, why::WhyArgs,
};

/// Memory for a codebase and for the agents that work on it
///
/// Records why a change is the way it is, what was tried and failed and what traps lie in
/// the code, and shows it to whoever touches that code next, on the lines where it is now.
#[derive(Debug, Parser)]
#[command(name = "git-chronicle", bin_name = "git chronicle", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, also when nothing is known; 1 cannot; 2 wrong arguments; 70 a bug in Chronicle."
)]
pub(crate) struct Cli {
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How answers are written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OutputArgs {
    /// How to write the answer: markdown for models, json for programs, pretty for people
    #[arg(long, value_name = "FORMAT", global = true, default_value = "markdown", value_parser = clap::builder::ValueParser::new(|text: &str| text.parse::<Format>()))]
    pub(crate) format: Format,

    /// When to use colour in pretty answers
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorWhen,

    /// Write straight to the terminal, without a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
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
    Annotate(AnnotateArgs),
    Note(NoteArgs),
    Schema(SchemaArgs),
    Tour(TourArgs),
}
