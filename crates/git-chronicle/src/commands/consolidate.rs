use chronicle::{Chronicle, Span, render, sleep::ConsolidateCommand};

use crate::{error::CommandError, ui::Ui};

/// Consolidate session memory: digests of what is over, blocks brought up to date, transcripts kept
///
/// Each job is done by itself behind the first session after it fell due. Doing it again changes nothing; one that was
/// stopped is done again from where it was. Without options, all jobs are done.
#[derive(Debug, clap::Args)]
pub(crate) struct ConsolidateArgs {
    /// Digests of days; active projects, preferences, what is new in the profile
    #[arg(long)]
    daily: bool,

    /// Digests of weeks; patterns; transcripts of what is cited
    #[arg(long)]
    weekly: bool,

    /// Digests of months; the profile
    #[arg(long)]
    monthly: bool,

    /// Only what is due
    #[arg(long)]
    due: bool,

    /// Only show what would be done
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
    let done = chronicle.consolidate(&command)?;
    ui.answer(&render::consolidated(&done, ui.format(), &ui.view(false)))
}
