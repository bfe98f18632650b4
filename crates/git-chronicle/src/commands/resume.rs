use std::{os::unix::process::CommandExt, process::Command};

use chronicle::Chronicle;
use chronicle_render as render;
use chronicle_workplace::Error;
use snafu::{ResultExt, ensure};

use crate::{
    background,
    error::{CommandError, ProgramSnafu, UsageSnafu},
    ui::Ui,
};

/// Go on with a session: print the command of its agent, or run it
///
/// Prints a line for your shell that goes to the folder of the session and starts its agent with it: Claude Code,
/// Codex, Gemini CLI, Copilot CLI or OpenCode. Without an id, the latest session of this project.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The id of a session or of a thread, or the beginning of it
    id: Option<String>,

    /// Start the agent instead of printing its command
    #[arg(long)]
    run: bool,
}

pub(crate) fn run(args: &ResumeArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.run {
        return start(args.id.as_deref(), chronicle, ui);
    }
    let resumption = chronicle.memory().resumption(args.id.as_deref())?;
    ui.answer(&render::resumption(&resumption, ui.format(), &ui.view(false)))?;
    for warning in &resumption.warnings {
        ui.warn(warning);
    }
    Ok(())
}

/// Starts the agent with the session, for a person at a terminal.
pub(crate) fn start(id: Option<&str>, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    let resumption = chronicle.memory().resumption(id)?;
    background::ensure_person()?;
    ensure!(ui.can_ask(), UsageSnafu { reason: "`--run` starts an agent, which needs a terminal" });
    if let Some(reason) = resumption.warnings.first().cloned() {
        return Err(Error::NotResumable { reason }.into());
    }
    ui.tell(&format!("in {}: {}", resumption.folder, resumption.command.join(" ")));
    started(&resumption.command, &resumption.folder)
}

/// Becomes the agent, so that keys and signals are its own.
#[expect(
    clippy::disallowed_methods,
    reason = "the agent is the one whose session the user wants to go on with"
)]
fn started(command: &[String], folder: &str) -> Result<(), CommandError> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    Err(command.exec()).context(ProgramSnafu { program })
}
