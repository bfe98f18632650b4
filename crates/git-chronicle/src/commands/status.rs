use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show how much is annotated, and what work is waiting
///
/// Counts commits by directory and by author, and shows notes that are not pushed, not merged,
/// staged, or on unreachable commits. `doctor` shows problems.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Check this many of the newest commits
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

pub(crate) fn run(args: &StatusArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let status = chronicle.status(args.limit)?;
    ui.answer(&render::status(&status, ui.format(), &ui.view(false)))?;
    for warning in &status.warnings {
        ui.warn(warning);
    }
    Ok(())
}
