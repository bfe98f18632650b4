use crate::{arguments::at_least_one, error::CommandError, ui::Ui};
use chronicle::{Chronicle, counted};
use chronicle_memory::threads::PendingCommand;
use chronicle_render as render;

/// List unfinished work, the most urgent first
///
/// Threads are what sessions with agents left undone, and what `thread add` adds. The repository's
/// lessons about unfinished work are listed, too. Threads without a mention for 30 days are left
/// out.
#[derive(Debug, clap::Args)]
pub(crate) struct PendingArgs {
    /// Another project, by its name or folder
    #[arg(long)]
    project: Option<String>,

    /// List open work in all projects
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Include threads without a mention for 30 days
    #[arg(long)]
    archived: bool,

    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: PendingArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let PendingArgs { project, all, archived, limit } = args;
    let pending = chronicle.memory().threads().pending(&PendingCommand { project, all, archived, limit })?;
    ui.answer(&render::pending(&pending, ui.format(), &ui.view(false)))?;
    for warning in &pending.warnings {
        ui.warn(warning);
    }
    if pending.items.is_empty() {
        let said = match (pending.n_more, pending.n_archived, pending.n_elsewhere) {
            (0, 0, 0) => "nothing is open".to_owned(),
            (0, 0, n) => format!("nothing is open here; {} in other projects (--all)", counted(n, "thread")),
            (0, n, _) => {
                format!("nothing is open; {} (--archived)", counted(n, "archived thread"))
            }
            (n, ..) => format!("{n} open"),
        };
        ui.tell(&said);
    }
    Ok(())
}
