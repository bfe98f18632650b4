use chronicle::Chronicle;
use chronicle_memory::catch_up::CatchUpCommand;
use chronicle_render as render;

use crate::{arguments::at_least_one, error::CommandError, ui::Ui};

/// Show what was done in the last sessions
///
/// Each with its summary, commits, checks, decisions, and the threads that it closed or left open.
#[derive(Debug, clap::Args)]
pub(crate) struct CatchUpArgs {
    /// How many sessions [default: 3]
    #[arg(value_name = "SESSIONS", value_parser = at_least_one())]
    sessions: Option<usize>,

    /// Since a date, or for a span of time such as `2 days`
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Another project, by its name or folder
    #[arg(long)]
    project: Option<String>,

    /// Catch up on all projects
    #[arg(long, conflicts_with = "project")]
    all: bool,
}

pub(crate) fn run(args: CatchUpArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let CatchUpArgs { sessions, since, project, all } = args;
    let answer = chronicle.memory().catch_up(&CatchUpCommand { sessions, since, project, all })?;
    ui.answer(&render::catch_up(&answer, ui.format(), &ui.view(false)))?;
    if answer.sessions.is_empty() {
        ui.tell(match answer.n_elsewhere {
            0 => "no sessions; `git chronicle session ingest` reads those of agents",
            _ => "no sessions here; --all shows those in other projects",
        });
    }
    Ok(())
}
