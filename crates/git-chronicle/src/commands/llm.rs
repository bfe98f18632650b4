use chronicle::Chronicle;
use chronicle_render as render;

use super::cost::{self, CostArgs};
use crate::{error::CommandError, ui::Ui};

/// Show which model is used for which purpose, and what models cost
///
/// Only commands that mention a model in their help ask one. Keys are read from the environment,
/// and are never stored or shown. `chronicle.llm.*` in git's configuration chooses another
/// provider, model or address. `docs/models.md` has examples.
#[derive(Debug, clap::Args)]
pub(crate) struct LlmArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the model, its address, price and limits for each purpose
    Check {
        /// Send the model for commits a short question, as a test
        #[arg(long)]
        call: bool,
    },
    Cost(CostArgs),
}

pub(crate) fn run(args: &LlmArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let call = match &args.action {
        Action::Check { call } => *call,
        Action::Cost(args) => return cost::run(args, chronicle, ui),
    };
    let check = chronicle.workplace().check_models(call)?;
    ui.answer(&render::models(&check, ui.format(), &ui.view(false)))?;
    for warning in &check.warnings {
        ui.warn(warning);
    }
    Ok(())
}
