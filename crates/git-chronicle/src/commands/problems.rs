use chronicle::Chronicle;
use chronicle_render as render;

use crate::{arguments::at_least_one, background, error::CommandError, ui::Ui};

/// Show failures that came up in several sessions, and how each was solved
///
/// The steps until the same call worked count as the solution.
#[derive(Debug, clap::Args)]
pub(crate) struct ProblemsArgs {
    /// In one project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one())]
    limit: usize,
}

pub(crate) fn run(args: &ProblemsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let found = chronicle.memory().learning().problems(args.project.as_deref(), args.limit)?;
    let text = render::problems(&found, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing came up more than once");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
