use chronicle::Chronicle;
use chronicle_memory::find::HowCommand;
use chronicle_render as render;

use crate::{arguments::at_least_one, error::CommandError, ui::Ui};

/// Show how a task was done before
///
/// For the most similar sessions: the request, the changes, the commands in their order, and the
/// result. Commands that only read something are left out. Where the task is the name of a program,
/// such as `cargo nextest`, the ways it was called come first, and how they ended.
#[derive(Debug, clap::Args)]
pub(crate) struct HowArgs {
    /// The task
    #[arg(required = true)]
    task: Vec<String>,

    /// In this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// In every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Show at most this many sessions
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: HowArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let how = chronicle.memory().how(&HowCommand {
        task: args.task.join(" "),
        project: args.project,
        is_all: args.all,
        limit: args.limit,
    })?;
    let text = render::how(&how, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was found");
    }
    ui.answer(&text)
}
