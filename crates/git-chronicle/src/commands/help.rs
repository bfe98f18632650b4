use crate::{cli, error::CommandError, help, ui::Ui};

/// Show all commands, or the help of one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git chronicle help --all
  git chronicle help session ingest", help_template = crate::help!())]
pub(crate) struct HelpArgs {
    /// Show all commands
    #[arg(long, short, required = true)]
    all: bool,

    /// The command
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    command: Vec<String>,
}

/// Only `--all` comes here: help of one command is asked for in its own name ([`cli::Cli::parse`]).
pub(crate) fn run(_args: &HelpArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let is_coloured = ui.colour();
    ui.raw(&help::long(&cli::all(), is_coloured))
}
