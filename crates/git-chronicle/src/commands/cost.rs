use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show what models cost, by day, model and purpose
///
/// Days are in UTC. A call without a recorded end counts as the most that it can have cost.
#[derive(Debug, clap::Args)]
pub(crate) struct CostArgs {
    /// How many days to show, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    days: u32,
}

pub(crate) fn run(args: &CostArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let report = chronicle.workplace().cost(args.days)?;
    ui.answer(&render::cost(&report, ui.format(), &ui.view(false)))?;
    for warning in &report.warnings {
        ui.warn(warning);
    }
    if report.rows.is_empty() {
        ui.tell(&format!("no model was asked since {}", report.since));
    }
    Ok(())
}
