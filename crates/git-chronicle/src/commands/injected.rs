use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show what agents were shown without asking: when, why, and whether they used it
///
/// Agents' hooks show threads at the beginning of a session, and lessons before an edit. Used means
/// that the agent mentioned it afterwards: the id, the commit, or four of its words in a row.
#[derive(Debug, clap::Args)]
pub(crate) struct InjectedArgs {
    /// Only this session: its id, or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Only numbers, by week: how much was shown, how much was used, and the cost in tokens
    #[arg(long, conflicts_with = "verbose")]
    summary: bool,

    /// Show the full texts, too
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(args: &InjectedArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.summary {
        let summary = chronicle.memory().injected_summary(args.session.as_deref())?;
        ui.answer(&render::injected_summary(&summary, ui.format(), &ui.view(false)))?;
        if summary.weeks.is_empty() {
            ui.tell("nothing was shown to an agent here");
        }
        return Ok(());
    }
    let injected = chronicle.memory().injected(args.session.as_deref())?;
    ui.answer(&render::injected(&injected, ui.format(), &ui.view(args.verbose)))?;
    if injected.told.is_empty() {
        ui.tell("nothing was shown to an agent here");
    }
    Ok(())
}
