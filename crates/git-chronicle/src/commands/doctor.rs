use chronicle::{Chronicle, render};

use super::setup::ground;
use crate::{
    error::{CommandError, UnwellSnafu},
    ui::Ui,
};

/// Look for what is wrong, and say how to mend it
///
/// Looks at the repository, at session memory and at every agent that is set up: its hook is run with a session
/// that is none. Outside a repository, only the latter two are looked at. The exit code is 1 when a problem is left.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(args: &DoctorArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let mut diagnosis = chronicle.doctor(args.fix)?;
    // Without a home no agent is set up.
    if let Ok(ground) = ground(chronicle) {
        diagnosis = diagnosis.and(ground.health(args.fix));
    }
    ui.answer(&render::diagnosis(&diagnosis, ui.format(), &ui.view(false)))?;
    match diagnosis.problems {
        0 => Ok(()),
        n_problems => UnwellSnafu { n_problems }.fail(),
    }
}
