use chronicle::Chronicle;
use chronicle_memory::brief::{BriefCommand, DEFAULT_BUDGET};
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Show what to know before continuing
///
/// For the current project and branch: the result of the last session and its files that have
/// changed since, open work, decisions, failures, the files edited most, and unfinished work of
/// others. Every line names its source.
#[derive(Debug, clap::Args)]
pub(crate) struct BriefArgs {
    /// The longest answer, in characters: the least important lines are left out
    #[arg(long, value_name = "CHARS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,

    /// Another project, by its name or folder
    #[arg(long)]
    project: Option<String>,

    /// Brief on all projects
    #[arg(long, conflicts_with = "project")]
    all: bool,
}

pub(crate) fn run(args: BriefArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let BriefArgs { budget, project, all } = args;
    let measure = render::characters_of_brief(ui.format(), chronicle.workplace().now());
    let command = BriefCommand { project, all, budget, compacted: None, measure: &measure };
    let brief = chronicle.memory().brief(&command)?;
    ui.answer(&render::brief(&brief, ui.format(), &ui.view(false)))?;
    if brief.is_empty() && brief.n_left_out == 0 {
        ui.tell(match brief.n_elsewhere {
            0 => "nothing is remembered; `git chronicle session ingest` reads the sessions of agents",
            _ => "nothing is remembered about this project; --all shows others",
        });
    }
    Ok(())
}
