use chronicle::Chronicle;
use chronicle_render as render;

use super::setup::ground;
use crate::{
    error::{CommandError, UnwellSnafu},
    ui::Ui,
};

/// Look for problems, and show how to fix them
///
/// Checks the repository, session memory and every agent that is set up: its hook is run with an
/// empty session. Outside a repository, only the latter two are checked. The exit code is 1 if a
/// problem remains.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Fix what can be fixed without loss
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
