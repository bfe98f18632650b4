use chronicle::Chronicle;
use chronicle_memory::learning::ProjectsCommand;
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Show the projects in session memory, and the technologies of each
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectsArgs {
    /// Only those that use this language, tool or library
    #[arg(long, value_name = "TECHNOLOGY", conflicts_with = "similar_to")]
    using: Option<String>,

    /// Only those with the technologies of this project, the most similar first; `.` is the current one
    #[arg(long, value_name = "PROJECT")]
    similar_to: Option<String>,
}

pub(crate) fn run(args: ProjectsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let found = chronicle
        .memory()
        .learning()
        .projects(&ProjectsCommand { using: args.using, similar_to: args.similar_to })?;
    let text = render::projects(&found, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was found");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
