use chronicle::{Chronicle, render};

use crate::{background, error::CommandError, ui::Ui};

/// Show which technologies you use, and where
///
/// Counted of the files that were changed, the commands that ran, and what edits imported or wrote into
/// manifests; words in prose count for nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct SkillsArgs {
    /// In one project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 30)]
    limit: usize,
}

pub(crate) fn run(args: &SkillsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let found = chronicle.skills(args.project.as_deref(), args.limit)?;
    let text = render::skills(&found, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was learned yet");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
