use chronicle::{Chronicle, render};

use crate::{error::CommandError, ui::Ui};

/// Tidy away notes whose commits were rewritten
///
/// A note goes when nobody reaches its commit and all that it says stands on commits that are
/// reached. All notes as they were before are kept in a bundle.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Only tell what would go
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &GcArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let reply = chronicle.gc(args.dry_run)?;
    ui.answer(&render::gc(&reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    Ok(())
}
