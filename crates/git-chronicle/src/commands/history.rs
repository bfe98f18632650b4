use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show how the thinking about a file changed, oldest first
///
/// `git log` shows what changed; this shows why, at each step.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// The file or directory
    path: PathBuf,

    /// Item of the file, such as `Pool::acquire`
    #[arg(value_name = "ANCHOR", conflicts_with = "anchor")]
    item: Option<String>,

    /// The same, for a name that begins with a dash
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true)]
    anchor: Option<String>,

    /// Only the newest N annotated commits
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: HistoryArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let timeline = chronicle.history(args.path, args.item.or(args.anchor).as_deref(), args.limit)?;
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
