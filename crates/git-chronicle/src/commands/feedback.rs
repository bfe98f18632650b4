use chronicle::Chronicle;
use chronicle_memory::learning::FeedbackCommand;
use chronicle_render as render;

use crate::{error::CommandError, ui::Ui};

/// Rate something that was shown as right or wrong
///
/// For a preference or a pattern, this changes its confidence. A session gets another title, a
/// thread is dismissed for good, and a lesson is left out of briefings and hooks on this machine;
/// its note stays unchanged. Without an id, lists the feedback given so far.
#[derive(Debug, clap::Args)]
pub(crate) struct FeedbackArgs {
    /// A preference, a pattern, a thread, a lesson, or a session for its title
    #[arg(requires = "verdict")]
    id: Option<String>,

    /// Whether it is right
    #[arg(value_name = "right|wrong", value_parser = ["right", "wrong"])]
    verdict: Option<String>,

    /// A remark
    #[arg(long, value_name = "TEXT", requires = "id")]
    note: Option<String>,
}

pub(crate) fn run(args: FeedbackArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let reply = match (args.id, args.verdict) {
        (Some(id), Some(verdict)) => chronicle.memory().learning().feedback(&FeedbackCommand {
            id,
            is_right: verdict == "right",
            note: args.note,
        })?,
        _ => chronicle.memory().learning().given_feedback()?,
    };
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    let text = render::feedback(&reply, ui.format(), &ui.view(false));
    if text.is_empty() {
        ui.tell("no feedback yet");
    }
    ui.answer(&text)
}
