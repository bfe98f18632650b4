use chronicle::{Chronicle, Span};
use chronicle_memory::sleep::ConsolidateCommand;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Consolidate session memory: digests of past days, current blocks, kept transcripts
///
/// Each job also runs by itself, in the background of the first session after it is due. Running it
/// again changes nothing. A job that was stopped continues where it stopped. Without options, all
/// jobs run.
#[derive(Debug, clap::Args)]
pub(crate) struct ConsolidateArgs {
    /// Digests of days; active projects, preferences, news in the profile
    #[arg(long)]
    daily: bool,

    /// Digests of weeks; patterns; transcripts of cited sessions
    #[arg(long)]
    weekly: bool,

    /// Digests of months; the profile
    #[arg(long)]
    monthly: bool,

    /// Only what is due
    #[arg(long)]
    due: bool,

    /// Only show the work
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &ConsolidateArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let wanted = [(args.daily, Span::Day), (args.weekly, Span::Week), (args.monthly, Span::Month)];
    let command = ConsolidateCommand {
        spans: wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, span)| span).collect(),
        due_only: args.due,
        is_dry_run: args.dry_run,
    };
    let done = chronicle.memory().consolidate(&command)?;
    ui.answer(&render::consolidated(&done, ui.format(), &ui.view(false)))
}
