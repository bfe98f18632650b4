use chronicle::Chronicle;
use chronicle_render as render;
use snafu::ensure;

use crate::{
    background,
    error::{CommandError, NoPersonSnafu},
    ui::Ui,
};

/// Allow this repository to set what only you may set
///
/// A repository does not decide where code, keys and money go. This command shows such settings in
/// its configuration and all included files, and asks. Your answer is kept outside the repository
/// and covers exactly these values. It needs a person at a terminal: agents cannot run it.
#[derive(Debug, clap::Args)]
pub(crate) struct AllowArgs {
    /// List the repositories that you allowed, with their settings
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Withdraw your answer for this repository
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(args: &AllowArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let view = ui.view(false);
    if args.list {
        return ui.answer(&render::allowed(
            &chronicle.workplace().allowed_repositories()?,
            ui.format(),
            &view,
        ));
    }
    if args.revoke {
        let was_allowed = chronicle.workplace().disallow_repository()?;
        ui.tell(if was_allowed { "taken back" } else { "nothing was allowed here" });
        return Ok(());
    }
    let wanted = chronicle.workplace().wanted_by_repository()?;
    ui.answer(&render::allowance(&wanted, ui.format(), &view))?;
    if wanted.settings.is_empty() || wanted.is_allowed {
        return Ok(());
    }
    background::ensure_person()?;
    ensure!(ui.can_ask(), NoPersonSnafu { reason: "there is no terminal to ask at" });
    if ui.agrees("Let this repository set this?") {
        chronicle.workplace().allow_repository(&wanted)?;
        ui.tell("allowed; `git chronicle allow --revoke` takes it back");
    } else {
        ui.tell("nothing was allowed");
    }
    Ok(())
}
