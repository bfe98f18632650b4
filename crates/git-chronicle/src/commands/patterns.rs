use chronicle::Chronicle;
use chronicle_memory::learning::{PATTERN_KINDS, PatternsCommand};
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Show recurring patterns in how you work
///
/// Sequences of steps that come up in several sessions and more often than by chance, recurring
/// programs and times, new technologies. All of it is counted.
#[derive(Debug, clap::Args)]
pub(crate) struct PatternsArgs {
    /// Only of this kind
    #[arg(long, value_name = "KIND", value_parser = PATTERN_KINDS)]
    kind: Option<String>,

    /// Show the evidence for one of them
    #[arg(long, value_name = "ID")]
    why: Option<String>,

    /// Of one project: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Include unsure and rejected ones
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: PatternsArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let is_why = args.why.is_some();
    let command =
        PatternsCommand { project: args.project, kind: args.kind, id: args.why, is_whole: args.all };
    let found = chronicle.memory().learning().patterns(&command)?;
    let text = render::patterns(&found, is_why, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was learned yet");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
