use std::path::PathBuf;

use chronicle::{Chronicle, render};

use crate::{error::CommandError, ui::Ui};

/// Show how the thinking about a file went, oldest first
///
/// `git log` says what changed; this says what was thought at each step.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// The file or directory
    path: PathBuf,

    /// Only the newest N annotated commits
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: HistoryArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let timeline = chronicle.history(args.path, args.limit)?;
    ui.answer(&render::timeline(&timeline, ui.format(), &ui.view(false)))?;
    for warning in &timeline.warnings {
        ui.warn(warning);
    }
    if timeline.moments.is_empty() {
        ui.tell("nothing is known about it");
    }
    if 0 < timeline.n_left_out {
        ui.tell(&format!("{} older annotated commits left out; raise --limit", timeline.n_left_out));
    }
    Ok(())
}
