use chronicle::{Chronicle, render};

use crate::{error::CommandError, ui::Ui};

/// Show which models would be asked for what
///
/// Models are only asked by commands that say so. Keys are read from the environment, and are
/// stored and shown nowhere; `chronicle.llm.*` in git's configuration chooses another provider,
/// model or address. `docs/models.md` has examples.
#[derive(Debug, clap::Args)]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the model, its address, price and limits for each purpose
    Check {
        /// Ask the model for commits something short, which proves that it answers
        #[arg(long)]
        call: bool,
    },
}

pub(crate) fn run(args: &LlmArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let Action::Check { call } = args.action;
    let check = chronicle.check_models(call)?;
    ui.answer(&render::models(&check, ui.format(), &ui.view(false)))?;
    for warning in &check.warnings {
        ui.warn(warning);
    }
    Ok(())
}
