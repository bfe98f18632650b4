use std::path::PathBuf;

use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show the newest summary of each item of a file or directory
///
/// For orientation: the reason for the last change of each item, constraints, risks, failed
/// attempts, and open work. `read` shows the rest.
#[derive(Debug, clap::Args)]
pub(crate) struct SummaryArgs {
    /// The file or directory
    path: PathBuf,

    /// Item of the file, such as `Pool::acquire`
    #[arg(value_name = "ANCHOR", conflicts_with = "anchor")]
    item: Option<String>,

    /// The same, for a name that begins with a dash
    #[arg(long, value_name = "ANCHOR", allow_hyphen_values = true)]
    anchor: Option<String>,
}

pub(crate) fn run(args: SummaryArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let anchor = args.item.or(args.anchor);
    let summary = chronicle.summary(args.path, anchor.as_deref())?;
    ui.answer(&render::summary(&summary, ui.format(), &ui.view(false)))?;
    for warning in &summary.warnings {
        ui.warn(warning);
    }
    if summary.files.is_empty() {
        ui.tell("nothing is known about it");
    }
    Ok(())
}
