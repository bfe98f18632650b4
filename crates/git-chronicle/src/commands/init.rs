use chronicle::{Chronicle, Setup};
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Set a repository up: hooks that attach remarks to commits
///
/// Git 2.54 and newer run hooks from the configuration, so they are added there. Otherwise a few
/// marked lines are added to the hooks that git, husky, lefthook or pre-commit run. They never stop
/// git, and do nothing if git-chronicle is not installed. `git chronicle uninstall` removes all of
/// it.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Also push notes after each push to a remote, if `sync enable` allows it
    #[arg(long)]
    pre_push: bool,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &InitArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    tell(&chronicle.init(args.pre_push, args.dry_run)?, "everything is set up already", ui)?;
    if args.dry_run {
        return Ok(());
    }
    let Some(remote) = chronicle.remotes().remote_to_enable() else { return Ok(()) };
    // Whose words count is decided by a person.
    if background::is_of_agent() || !ui.agrees(&format!("exchange notes with `{remote}`?")) {
        ui.tell(&format!("notes stay in this clone; `git chronicle sync enable {remote}` exchanges them"));
        return Ok(());
    }
    ui.answer(&render::sync(&chronicle.remotes().enable(Some(&remote))?, ui.format(), &ui.view(false)))
}

/// Writes what was changed, or that there was nothing to change.
pub(crate) fn tell(setup: &Setup, nothing: &str, ui: &mut Ui) -> Result<(), CommandError> {
    ui.answer(&render::setup(setup, ui.format(), &ui.view(false)))?;
    for warning in &setup.warnings {
        ui.warn(warning);
    }
    if setup.changes.is_empty() && setup.warnings.is_empty() {
        ui.tell(nothing);
    }
    Ok(())
}
