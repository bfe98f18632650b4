use chronicle::Chronicle;
use chronicle_memory::digest::DigestCommand;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show what was done in a day, a week, a month or any span of days
///
/// A session belongs to the day on which it ended, by the clock of this machine. Digests of past
/// days, weeks and months are also files in `digests/` in the folder of session memory.
#[derive(Debug, clap::Args)]
pub(crate) struct DigestArgs {
    /// `day`, `yesterday`, `monday`, `week`, `last-week`, `month`, `march`, `3-days-ago`, `last-7-days`, `2026-03-09`,
    /// `2026-W11`, `2026-03` or two of them: `2026-03-01..2026-03-09`
    #[arg(default_value = "day")]
    period: String,

    /// Of this project: its name, or its folder
    #[arg(long)]
    project: Option<String>,

    /// Of every project
    #[arg(long, conflicts_with = "project")]
    all: bool,
}

pub(crate) fn run(args: DigestArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let DigestArgs { period, project, all } = args;
    let digest = chronicle.memory().digest(&DigestCommand { period, project, all })?;
    ui.answer(&render::digest(&digest, ui.format(), &ui.view(false)))
}
