use chronicle::Chronicle;
use chronicle_memory::find::AboutCommand;
use chronicle_render as render;

use crate::{arguments::at_least_one, error::CommandError, ui::Ui};

/// Gather what sessions know about a topic
///
/// The sessions that dealt with it most, the decisions, the files and commits that resulted, and
/// the threads about it.
#[derive(Debug, clap::Args)]
pub(crate) struct AboutArgs {
    /// The topic
    #[arg(required = true)]
    topic: Vec<String>,

    /// In this project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// In every project
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// Show at most this many sessions
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: AboutArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let about = chronicle.memory().about(&AboutCommand {
        topic: args.topic.join(" "),
        project: args.project,
        is_all: args.all,
        limit: args.limit,
    })?;
    let text = render::about(&about, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was found");
    }
    ui.answer(&text)
}
