use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show one commit's whole annotation
///
/// Prints everything that is stored on the commit, as it was recorded: lines are those of that
/// commit. `read` shows where they are now.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The commit, any revision
    #[arg(default_value = "HEAD", allow_hyphen_values = true)]
    commit: String,

    /// Include what was removed or amended since
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(args: &ShowArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let shown = chronicle.show(&args.commit, args.verbose)?;
    ui.answer(&render::shown(&shown, ui.format(), &ui.view(args.verbose)))?;
    if shown.is_empty() && shown.warnings.is_empty() {
        ui.tell(&format!("nothing is stored on {}; `git chronicle annotate` stores something", shown.commit));
    }
    for warning in &shown.warnings {
        ui.warn(warning);
    }
    Ok(())
}
