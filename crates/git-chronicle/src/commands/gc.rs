use chronicle::Chronicle;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Remove notes whose commits were rewritten
///
/// A note is removed when its commit is unreachable and all its content is also on reachable
/// commits. A bundle keeps all notes as they were before.
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Only show what would be removed
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
