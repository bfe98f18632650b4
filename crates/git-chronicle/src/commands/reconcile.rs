use chronicle::{Chronicle, Effort};
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Find commits that replaced annotated ones, and copy their annotations
///
/// For rewrites without a hook: on a server, in another tool, in a clone without hooks. An
/// annotated commit that has become unreachable is matched by its change, its files or the lines
/// that it wrote, even after its objects are gone. Notes are copied, never moved.
#[derive(Debug, clap::Args)]
pub(crate) struct ReconcileArgs {
    /// Only show what would be copied, and why
    #[arg(long)]
    dry_run: bool,

    /// Only check the newest commits, and only if something changed since the last time
    #[arg(long)]
    lazy: bool,
}

pub(crate) fn run(args: &ReconcileArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let reply = chronicle.reconcile(if args.lazy { Effort::Bounded } else { Effort::Whole }, args.dry_run)?;
    ui.answer(&render::reconciled(&reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    match (reply.dry_run, reply.matches.is_empty()) {
        (_, true) => ui.tell("nothing to carry over"),
        (true, false) => ui.tell("nothing was stored; leave out --dry-run to carry them over"),
        (false, false) => ui.tell(&format!("lessons carried over: {}", reply.carried)),
    }
    Ok(())
}
