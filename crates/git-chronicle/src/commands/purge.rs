use chronicle::Chronicle;
use chronicle_render as render;

use crate::{
    error::{CommandError, NotPurgedSnafu},
    ui::Ui,
};

/// Remove words from every version of the notes
///
/// Rewrites the history of the notes refs, drops staged remarks with these words and all caches of
/// them, and leaves a mark that keeps other clones from bringing the words back. Claims that
/// contain the whole text, if that has 12 or more bytes, are removed, too, but a stranger's text
/// never removes yours: --dry-run lists all. Prints the push that removes the words from remotes,
/// and where they may still be. At a terminal, it shows the list and asks first.
#[derive(Debug, clap::Args)]
pub(crate) struct PurgeArgs {
    /// Id of a lesson, a correction or an item of knowledge; or a commit, for its whole annotation
    #[arg(value_name = "ID|COMMIT", allow_hyphen_values = true)]
    target: String,

    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,

    /// Don't ask
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(crate) fn run(args: &PurgeArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if !args.dry_run && !args.yes && ui.can_ask() {
        let trial = chronicle.purge(&args.target, true)?;
        ui.answer(&render::purged(&trial, ui.format(), &ui.view(false)))?;
        if !ui.agrees("Remove this from all versions of the notes? It cannot be undone.") {
            ui.tell("nothing was removed");
            return Ok(());
        }
    }
    let reply = chronicle.purge(&args.target, args.dry_run)?;
    ui.answer(&render::purged(&reply, ui.format(), &ui.view(false)))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    match reply.left.is_empty() {
        true => Ok(()),
        false => NotPurgedSnafu { refs: reply.left.join(", ") }.fail(),
    }
}
