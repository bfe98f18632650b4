use chronicle::{Chronicle, render};

use crate::{
    error::{CommandError, NotPurgedSnafu},
    ui::Ui,
};

/// Take words out of every version of the notes, as if they had never been said
///
/// Rewrites the history of the notes refs, drops staged remarks that say it and what is kept for later reads, and
/// leaves a mark that keeps other clones from bringing it back. Claims that hold a whole text of
/// it, of 12 or more bytes, go, too, but none of your own along with a stranger's: --dry-run lists all. Prints the push that takes it out of remotes, and says where
/// it may still be.
#[derive(Debug, clap::Args)]
pub(crate) struct PurgeArgs {
    /// Id of a lesson, a correction or an item of knowledge; or a commit, for all that is said on it
    #[arg(value_name = "ID|COMMIT", allow_hyphen_values = true)]
    target: String,

    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &PurgeArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
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
