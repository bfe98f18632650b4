use chronicle::{Chronicle, render};

use crate::{
    error::{CommandError, UnwellSnafu},
    ui::Ui,
};

/// Look for what is wrong, and say how to mend it
///
/// The exit code is 1 when a problem is left.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(args: &DoctorArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let diagnosis = chronicle.doctor(args.fix)?;
    ui.answer(&render::diagnosis(&diagnosis, ui.format(), &ui.view(false)))?;
    match diagnosis.problems {
        0 => Ok(()),
        n_problems => UnwellSnafu { n_problems }.fail(),
    }
}
