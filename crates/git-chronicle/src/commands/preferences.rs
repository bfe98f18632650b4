use chronicle::Chronicle;
use chronicle_memory::learning::{FeedbackCommand, PreferencesCommand};
use chronicle_render as render;

use crate::{background, error::CommandError, ui::Ui};

/// Show your preferences, learned from your sessions
///
/// Learned from what you said (`I prefer pnpm over npm`, `never push without asking`), from how you
/// corrected agents, and from what was done again and again. Text from a file, a tool or a page
/// never counts.
#[derive(Debug, clap::Args)]
pub(crate) struct PreferencesArgs {
    /// Show the evidence for one of them
    #[arg(long, value_name = "ID", conflicts_with_all = ["confirm", "reject"])]
    why: Option<String>,

    /// Confirm one
    #[arg(long, value_name = "ID", conflicts_with = "reject")]
    confirm: Option<String>,

    /// Reject one: it is not shown again
    #[arg(long, value_name = "ID")]
    reject: Option<String>,

    /// As one project shows them: its name, or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Show the developer profile: languages and tools, what you said, and what you do again and again
    #[arg(long, conflicts_with_all = ["why", "confirm", "reject", "all"])]
    profile: bool,

    /// Include unsure, replaced and rejected ones
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: PreferencesArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.profile {
        let profile = chronicle.memory().learning().profile(args.project.as_deref())?;
        let text = render::profile(&profile, ui.format(), &ui.view(false));
        if profile.is_empty() {
            ui.tell("nothing was learned yet");
        }
        ui.answer(&text)?;
        return background::learn(chronicle, ui);
    }
    let judged = args.confirm.as_ref().map(|id| (id, true)).or(args.reject.as_ref().map(|id| (id, false)));
    if let Some((id, is_right)) = judged {
        chronicle.memory().learning().feedback(&FeedbackCommand { id: id.clone(), is_right, note: None })?;
    }
    let id = args.why.or(args.confirm).or(args.reject);
    let is_why = id.is_some();
    let found = chronicle.memory().learning().preferences(&PreferencesCommand {
        project: args.project,
        id,
        is_whole: args.all,
    })?;
    let text = render::preferences(&found, is_why, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("nothing was learned yet");
    }
    ui.answer(&text)?;
    background::learn(chronicle, ui)
}
