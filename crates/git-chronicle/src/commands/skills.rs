use chronicle::Chronicle;
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Show which technologies you use, and where
///
/// Counted from changed files, commands, imports and manifests; words in prose don't count.
#[derive(Debug, clap::Args)]
pub(crate) struct SkillsArgs {
    /// In one project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 30)]
    limit: usize,
}

pub(crate) fn run(args: &SkillsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let found = chronicle.memory().learning().skills(args.project.as_deref(), args.limit)?;
    let text = render::skills(&found, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was learned yet");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
