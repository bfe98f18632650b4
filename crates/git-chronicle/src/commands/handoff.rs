use chronicle::Chronicle;
use chronicle_memory::handoff::{HandoffCommand, HandoffState};
use chronicle_render as render;
use clap::builder::PossibleValuesParser;

use crate::{error::CommandError, ui::Ui};

/// The longest text, in characters.
const BUDGET: usize = 6_000;

/// Hand the work of a session over to another agent
///
/// Prints what the other agent has to know: what was asked, done and decided, what is open, what was
/// tried and failed, and the files and commands that matter. Without an id, it is about the latest
/// session of this project. With `--to`, the next session of that agent in this project gets the text
/// from its hook. Any agent gets it by a prompt that names the id of the handoff. It expires after
/// seven days.
#[derive(Debug, clap::Args)]
pub(crate) struct HandoffArgs {
    /// The id of a session or a thread, or its beginning; or the id of a handoff, to show it again
    id: Option<String>,

    /// The agent that is to continue
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(chronicle_memory::handoff::agents()))]
    to: Option<String>,
}

pub(crate) fn run(args: HandoffArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let HandoffArgs { id, to } = args;
    let measure = render::characters_of_handoff(chronicle.workplace().now());
    let command = HandoffCommand { named: id, to, budget: BUDGET, measure: &measure };
    let handoff = chronicle.memory().hand_over(&command)?;
    ui.answer(&render::handoff(&handoff, ui.format(), &ui.view(false)))?;
    let id = &handoff.listed.id;
    match (handoff.listed.state, &handoff.listed.to) {
        (HandoffState::Open, Some(agent)) => ui.tell(&format!(
            "stored as {id} for seven days: the next session of {agent} in this project gets it, or any agent with the prompt `Go on with {id}`"
        )),
        (HandoffState::Open, None) => {
            ui.tell(&format!("stored as {id} for seven days: give any agent the prompt `Go on with {id}`"));
        }
        (HandoffState::Accepted, _) => ui.tell(&format!("{id} was accepted")),
        (HandoffState::Expired, _) => ui.tell(&format!("{id} has expired")),
    }
    Ok(())
}
