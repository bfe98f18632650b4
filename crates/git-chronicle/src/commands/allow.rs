use chronicle::{Chronicle, render};
use snafu::ensure;

use crate::{
    background,
    error::{CommandError, NoPersonSnafu},
    ui::Ui,
};

/// Let this repository set what only you may
///
/// A repository does not decide where code, keys and money go. This shows what its configuration sets of that kind, with
/// all files that it includes, and asks. Your answer is kept outside the repository and holds for exactly these values.
/// It takes a person at a terminal: agents cannot run it.
#[derive(Debug, clap::Args)]
pub(crate) struct AllowArgs {
    /// List the repositories that you allowed, and what
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Take it back for this repository
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(args: &AllowArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let view = ui.view(false);
    if args.list {
        return ui.answer(&render::allowed(&chronicle.allowed_repositories()?, ui.format(), &view));
    }
    if args.revoke {
        let was_allowed = chronicle.disallow_repository()?;
        ui.tell(if was_allowed { "taken back" } else { "nothing was allowed here" });
        return Ok(());
    }
    let wanted = chronicle.wanted_by_repository()?;
    ui.answer(&render::allowance(&wanted, ui.format(), &view))?;
    if wanted.settings.is_empty() || wanted.is_allowed {
        return Ok(());
    }
    background::ensure_person()?;
    ensure!(ui.can_ask(), NoPersonSnafu { reason: "there is no terminal to ask at" });
    if ui.agrees("Let this repository set this?") {
        chronicle.allow_repository(&wanted)?;
        ui.tell("allowed; `git chronicle allow --revoke` takes it back");
    } else {
        ui.tell("nothing was allowed");
    }
    Ok(())
}
